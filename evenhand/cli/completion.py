"""Complete names for the shell: protocols, systems, claims, goals, theorems, mutants, readings.

Nothing is loaded until the user presses Tab, and then only the parts that list names: no engine, no solver.  A mistake
on the line so far offers nothing; the command itself reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evenhand.conform.vectors.settings import SUITES
from evenhand.core.bundle import ProtocolBroken
from evenhand.core.registry import find
from evenhand.core.registry import protocols as every
from evenhand.core.system import reading_values
from evenhand.jobs.plan import theorems_of, written_value

if TYPE_CHECKING:
    from evenhand.core.bundle import Bundle

Names = Callable[[typer.Context, str], list[str]]


def _offered(list_names: Callable[[Bundle, str], Iterator[str]]) -> Names:
    """Return a completion of listed names, for the protocol and system on the line so far (empty: none)."""

    def offer(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            bundle = find(_one(ctx.params.get("protocol") or ctx.args))
            system = _one(ctx.params.get("system"))
            if system and system not in bundle.model.systems:
                return []
            return [name for name in dict.fromkeys(list_names(bundle, system)) if name.startswith(incomplete)]
        except (ValueError, ProtocolBroken):
            return []

    offer.__doc__ = list_names.__doc__
    return offer


def _one(named: Any) -> str:
    """Return the name among the parsed words: an option without a value yet leaves arguments in a list."""
    return named if isinstance(named, str) else str(next(iter(named or ()), ""))


def protocols(incomplete: str) -> list[str]:
    """The protocols."""
    try:
        names = [bundle.name for bundle in every() if bundle.name.startswith(incomplete)]
    except ProtocolBroken:
        names = []
    return names or _files(incomplete)


def _files(incomplete: str) -> list[str]:
    """Return Python files and folders with this prefix, for a system of one's own, without an import."""
    head, slash, tail = incomplete.rpartition("/")
    folder = Path(f"{head}{slash}")
    if not (head or tail) or not folder.is_dir():
        return []
    found = sorted(path for path in folder.iterdir() if path.name.startswith(tail))
    shown = (f"{head}{slash}{path.name}" + ("/" if path.is_dir() else "") for path in found)
    return [name for name in shown if name.endswith((".py", "/"))]


@_offered
def systems(bundle: Bundle, _system: str) -> Iterator[str]:
    """The systems of the protocol."""
    yield from bundle.model.systems


@_offered
def claims(bundle: Bundle, system: str) -> Iterator[str]:
    """The claims about the system, or about any."""
    yield from (claim.name for claim in (bundle.claims_of(system) if system else bundle.claims))


@_offered
def goals(bundle: Bundle, system: str) -> Iterator[str]:
    """The goals of the system, or of any."""
    there = bundle.claims_of(system) if system else bundle.claims
    yield from (claim.name for claim in there if claim.existential)


@_offered
def theorems(bundle: Bundle, _system: str) -> Iterator[str]:
    """The theorems and invariants of the protocol."""
    yield from (one.name for one in theorems_of(bundle))


@_offered
def mutants(bundle: Bundle, system: str) -> Iterator[str]:
    """The mutants of the system, or of any."""
    yield from (mutant.name for mutant in bundle.model.mutants if system in ("", mutant.system))


@_offered
def quotients(bundle: Bundle, system: str) -> Iterator[str]:
    """The quotients of the system, or of any."""
    for name, one in bundle.model.systems.items():
        if system in ("", name):
            yield from (group.name for group in one.quotients)
            yield from (each.name for each in one.abstractions)


@_offered
def readings(bundle: Bundle, system: str) -> Iterator[str]:
    """Every reading with every value that can be listed."""
    for name, one in bundle.model.systems.items():
        if system in ("", name):
            for reading, values in reading_values(one.readings).items():
                yield from (f"{reading}={written_value(value)}" for value in values)


def suites(incomplete: str) -> list[str]:
    """The suites of vectors."""
    return [name for name in SUITES if name.startswith(incomplete)]
