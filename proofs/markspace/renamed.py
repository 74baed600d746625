"""Who an agent is decides nothing at the guard (6.1, 9.2), for any number of agents and intents under any renaming.

Two requests: the second is the first with every agent renamed.  Intents are shared, agents of the second have a sort of
their own; only the order of names, which a mutant goes by, is not carried over.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from evenhand.core.system import System
from evenhand.model.markspace.guard_vocabulary import Decision, GuardStep
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.proofs.markspace import deciding
from evenhand.proofs.markspace.deciding import PRE_ACTION, named_before
from evenhand.proofs.markspace.intents import AGENT, a, asker, author, claims, i, running
from evenhand.properties.markspace.deciding import Renaming, names_decide_nothing
from evenhand.smt.logic import Function, Sort, conjunction, exists, forall, iff, same
from evenhand.smt.preludes import Twice, first_of_twins, mutation
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom

AGENT2 = Sort("Agent2")
x = AGENT2("x")
to, back = Function("to", (AGENT,), AGENT2), Function("back", (AGENT2,), AGENT)

_MOVED = (author, asker, claims, running, named_before)
TWICE = Twice.apart(PRE_ACTION, *(one.name for one in _MOVED), sorts={AGENT: AGENT2})
RENAMED = TWICE.extended(
    "markspace_renamed",
    Axiom(
        "one_to_one",
        forall([a], same(back(to(a)), a)) & forall([x], same(to(back(x)), x)),
        "a renaming is a bijection",
    ),
    Axiom(
        "the_same_renamed",
        conjunction(
            [
                forall([i], same(TWICE.function(author)(i), to(author(i)))),
                same(TWICE.function(asker)(), to(asker())),
                *(forall([a], iff(TWICE.second(one.name, to(a)), one(a))) for one in (claims, running)),
            ]
        ),
        "the second request is the first under new names",
    ),
    functions=(to, back),
)


def _spoken_of(shown: Decision, to_: dict[str, str]) -> tuple[Any, ...]:
    """Return the part of an answer that the theory speaks of, renamed."""
    winner = None if shown.winner is None else to_.get(shown.winner.agent, shown.winner.agent)
    return shown.verdict, winner, to_.get(shown.claimed_by or "", shown.claimed_by)


def view(case: tuple[Renaming, GuardStep, GuardStep | None]) -> Structure | None:
    """Return a request and its renaming; None where the two differ in something that the theory does not cover."""
    renaming, step, other = case
    if other is None:
        return None
    one, two = deciding.view(step), deciding.view(other)
    names = dict(renaming)
    if one is None or two is None:
        return None
    alike = _spoken_of(step.shown, names) == _spoken_of(other.shown, {})
    if alike and not names_decide_nothing.agrees(renaming, step, other):
        return None
    moved = {f"intent:{names[name]}": f"intent:{name}" for name in step.config.agents}
    moved |= {name: f"2:{name}" for name in other.config.agents}
    if {moved[mark] for mark in two.universe["Intent"]} != set(one.universe["Intent"]):
        return None

    def rows(name: str) -> Rows:
        return frozenset(tuple(moved[part] for part in row) for row in two.relations[name])

    if rows("earlier") != one.relations["earlier"] or rows("asked_before") != one.relations["asked_before"]:
        return None
    shared = (*(symbol.name for symbol in PRE_ACTION.relations if symbol not in _MOVED),)
    copies = {f"{name}2": rows(name) for name in two.relations if name not in shared}
    doubled = {
        f"{symbol.name}2": {
            tuple(moved[part] for part in row): moved[value] for row, value in two.functions[symbol.name].items()
        }
        for symbol in (author, asker)
    }
    images: dict[tuple[str, ...], str] = {(name,): f"2:{names[name]}" for name in step.config.agents}
    maps: dict[str, dict[tuple[str, ...], str]] = {
        "to": images,
        "back": {(value,): row[0] for row, value in images.items()},
    }
    universe = {**one.universe, "Agent2": tuple(f"2:{name}" for name in other.config.agents)}
    return Structure(universe, {**one.relations, **copies}, {**one.functions, **doubled, **maps})


def samples(system: System[Any, Any, Any, Any, Any]) -> Iterator[GuardStep]:
    """Yield each eleventh request of the theorems about one request, by any variant."""
    yield from islice(deciding.samples(system), 0, None, 11)


_SAME = "it goes by what is renamed with the agents"

NAMES = Theorem(
    claim=names_decide_nothing,
    protocol="markspace",
    system="first_writer",
    theory=RENAMED,
    view=view,
    realise=first_of_twins(deciding.scene),
    samples=samples,
    scope="any number of agents and intents, requests under FIRST_WRITER",
    sentence="Rename the agents, and the answer to a request is the same: who wins, whose action is in the way.",
    variables=(i,),
    goal=conjunction([TWICE.alike(name) for name in ("found", "allowed", "refused")]) & TWICE.alike("wins", i),
    needs=("one_to_one", "the_same_renamed"),
    witness=exists([i], PRE_ACTION.word("wins", i)),
    mutants=TWICE.mutants(
        mutation(PRE_ACTION, faulty.name_wins, deciding.BY_NAME),
        mutation(PRE_ACTION, faulty.last_writer_wins, deciding.LAST, _SAME),
        mutation(PRE_ACTION, faulty.running_tools_claim, deciding.USED, _SAME),
        mutation(PRE_ACTION, faulty.claims_ignored, deciding.BLIND, _SAME),
    ),
)
"""The theorem about names."""
