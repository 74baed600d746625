"""Who an agent is decides nothing at the guard (6.1, 9.2), for any number of agents and intents under any renaming.

Two requests: the second is the first with every agent renamed.  Intents are shared, agents of the second have a sort of
their own; only the order of names, which a mutant goes by, is not carried over.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from evenhand.core.system import AnySystem
from evenhand.model.markspace.guard_vocabulary import GuardStep
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.proofs.markspace import policies
from evenhand.proofs.markspace.intents import (
    AGENT,
    a,
    asker,
    author,
    by_confidence,
    claims,
    i,
    j,
    named_before,
    running,
    surer,
)
from evenhand.proofs.markspace.policies import PRE_ACTION
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace.deciding import Renaming, names_decide_nothing
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import Function, Sort, conjunction, exists, forall, iff, same
from evenhand.smt.preludes import Twice
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows
from evenhand.smt.theory import Axiom

AGENT2 = Sort("Agent2")
c, x = AGENT("c"), AGENT2("x")
to, back = Function("to", (AGENT,), AGENT2), Function("back", (AGENT2,), AGENT)

_MOVED = (author, asker, claims, running, named_before)
_ANSWERS = ("found", "allowed", "blocked", "refused")
_Case: TypeAlias = tuple[Renaming, GuardStep, GuardStep | None]


TWICE = Twice.apart(PRE_ACTION, *(one.name for one in _MOVED), sorts={AGENT: AGENT2})
RENAMED = TWICE.extended(
    "markspace_policies_renamed",
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


def _answered(structure: Structure) -> list[bool]:
    return [bool(structure.relations.get(name)) for name in _ANSWERS]


def view(case: _Case) -> Structure | None:
    """Return a request and its renaming; None where the two differ in something that the theory does not cover."""
    renaming, step, other = case
    one, two = policies.view(step), None if other is None else policies.view(other)
    if one is None or two is None or other is None:
        return None
    names = dict(renaming)
    marks = {f"intent:{names[name]}": f"intent:{name}" for name in step.config.agents}
    moved = marks | {name: f"2:{name}" for name in other.config.agents}
    if {moved[mark] for mark in two.universe["Intent"]} != set(one.universe["Intent"]):
        return None

    def rows(name: str) -> Rows:
        return frozenset(tuple(moved[part] for part in row) for row in two.relations[name])

    alike = _answered(one) == _answered(two) and rows("wins") == one.relations["wins"]
    if alike and not names_decide_nothing.agrees(renaming, step, other):
        return None
    shared = [symbol.name for symbol in PRE_ACTION.relations if symbol not in _MOVED]
    if any(rows(name) != one.relations[name] for name in shared):
        return None
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


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield every thirteenth request."""
    return islice(policies.samples.runs(system), 0, None, 13)


_SAME = "it goes by what is renamed with the agents"
NAMES = theorem(
    claim=names_decide_nothing,
    system="highest_confidence",
    theory=RENAMED,
    view=view,
    samples=samples,
    scope="any number of agents and intents, requests under every policy",
    sentence="Rename the agents, and the answer to a request is the same under every policy, immediate or deferred.",
    variables=(i,),
    goal=conjunction([TWICE.alike(name) for name in _ANSWERS]) & TWICE.alike("wins", i),
    needs=("one_to_one", "the_same_renamed"),
    witness=by_confidence() & exists([i, j], PRE_ACTION.word("wins", i) & surer(i, j)),
    mutants=TWICE.mutants(
        *policies.FAULTS.refuted(faulty.name_wins),
        policies.FAULTS.unseen(faulty.ties_to_the_latest, _SAME),
        policies.FAULTS.unseen(faulty.running_tools_claim, _SAME),
        policies.FAULTS.unseen(faulty.claims_ignored, _SAME),
    ),
)
