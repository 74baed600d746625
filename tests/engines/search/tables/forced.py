"""Search from tables at once, however small the system, and compare the result with explicit search."""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from evenhand.core.property import Property
from evenhand.core.system import AnySystem
from evenhand.search import tables
from evenhand.search.actions import ActionsWatch
from evenhand.search.bounds import Bounds
from evenhand.search.configuration import search_one
from evenhand.search.steps import Method
from evenhand.search.tables import method
from evenhand.search.totals import Result


@contextmanager
def at_once(share: float = 1e6) -> Generator[None]:
    """Try tables as soon as one state is known, and let them cost what they cost."""
    with patch.object(tables, "ENOUGH", 1), patch.object(method, "SHARE", share):
        yield


def searched(
    system: AnySystem, claims: Sequence[Property] = (), bounds: Bounds | None = None, *, share: float = 1e6
) -> tuple[Result, str, str]:
    """Search the first configuration from tables; return the result, the method that was used, and why."""
    config = next(iter(system.all_configs()))
    with at_once(share):
        found = search_one(
            Method(system, learns="perhaps"), config, 0, claims, bounds or Bounds(), None, ActionsWatch()
        )
    name, why = found.how[0]
    return replace(found, how=()), name, why


def explicitly(system: AnySystem, claims: Sequence[Property] = (), bounds: Bounds | None = None) -> Result:
    """Search the first configuration explicitly."""
    config = next(iter(system.all_configs()))
    return search_one(Method(system), config, 0, claims, bounds or Bounds(), None, ActionsWatch())
