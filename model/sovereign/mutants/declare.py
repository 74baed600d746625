"""The declaration of a faulty kernel, and the scopes that show most of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from evenhand.core.system import Mutant, Scope
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.step import REFERENCE

__all__ = ["ALONE", "LISTS", "PLAIN", "SESSION", "SINGLE", "TYPES", "declare"]

PLAIN = Scope(contexts=1)
SINGLE = Scope(observations=2, candidates=1)
LISTS = Scope(observations=2, candidates=2)
ALONE = Scope(proposals=1, executors=1, forgeries=1, swaps=1)
SESSION = Scope(refusals=3, thousands=9)
TYPES = Scope(types=1)


def declare(
    name: str,
    sentence: str,
    source: str,
    system: str,
    scope: Scope,
    *,
    readings: tuple[tuple[str, Any], ...] = (),
    expected: Literal["killed", "equivalent", "open_gap"] = "killed",
    reason: str = "",
    **functions: Any,
) -> Mutant[Rules]:
    """Return the mutant with these functions of the reference replaced; the other arguments are those of `Mutant`."""
    return Mutant(name, sentence, source, replace(REFERENCE, **functions), system, scope, readings, expected, reason)
