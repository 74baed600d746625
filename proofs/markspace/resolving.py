"""The winner among intents does not depend on which agent resolves the conflict (P11, §6.1).

Any number of intents of any number of agents, under each policy, ties included; they may be listed in any order that
respects creation times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.core.trace import Scenario
from evenhand.model.markspace.guard_vocabulary import Policy
from evenhand.model.markspace.marks import (
    Act,
    Agent,
    Decide,
    Draft,
    Kind,
    Mark,
    ScopeDef,
    Space,
    SpaceConfig,
    SpaceStep,
)
from evenhand.model.markspace.mutants import marks as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.intents import INTENT, author, best, by_confidence, i, j, k, surer, yields
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.walks import written
from evenhand.properties.markspace import space
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import Formula, Relation, differ, exists, forall, iff, ite, same
from evenhand.smt.preludes import Twice, define, mutation, ordered, ranked, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import beside, line, structure
from evenhand.smt.theory import Axiom, Theory

Scene = Scenario[SpaceConfig, Space, Act]
"""A run of a space."""


def _ranked(relation: Relation) -> Formula:
    """Return that the relation is a strict weak order."""
    return ranked(relation, i, j, k) & forall([i, j, k], relation(i, k) >> (relation(i, j) | relation(j, k)))


older, numbered_before, listed_before = relations("older numbered_before listed_before", INTENT, INTENT)


def _earlier(one: Any, two: Any) -> Formula:
    """Return that `one` precedes `two` by (created_at, id)."""
    return older(one, two) | (~older(two, one) & numbered_before(one, two))


def _ahead(one: Any, two: Any) -> Formula:
    """Return that the policy prefers `one`; ties of confidence go to the earliest."""
    sure = surer(one, two) | (~surer(two, one) & _earlier(one, two))
    return ite(by_confidence(), sure, _earlier(one, two))


def _first(before: Any) -> Formula:
    return forall([j], same(i, j) | before(i, j))


_several = exists([i, j], differ(author(i), author(j)))
_decided = ~(yields() & _several)

RESOLUTION = Theory.of(
    "markspace_resolution",
    axioms=(
        Axiom("instants_are_ranked", _ranked(older), "P32"),
        Axiom("confidences_are_ranked", _ranked(surer), "6.1"),
        Axiom("ids_are_ordered", ordered(numbered_before, i, j, k), "P31, P32"),
        Axiom("listed_in_some_order", ordered(listed_before, i, j, k), "what a mutant goes by"),
        Axiom("listed_as_written", forall([i, j], older(i, j) >> listed_before(i, j)), "P32"),
        Axiom(
            "finitely_many",
            forall([j], same(best(), j) | _ahead(best(), j)) & exists([i], _first(listed_before)),
            "some intent is ahead of all others",
        ),
        Axiom("one_policy", ~(by_confidence() & yields()), "7.2"),
    ),
    definitions=(define("wins", (i,), _decided & _first(_ahead), "6.1"),),
)
_LISTED: dict[str, Formula] = {"wins": _decided & _first(listed_before)}
_BASE = mutation(RESOLUTION, faulty.first_listed_wins, _LISTED)

# The same intents, listed twice.

TWICE = Twice.apart(RESOLUTION, listed_before.name)

# Conformance: resolution.

POLICIES = tuple(Policy)
TTL = 9


def config_of(agents: Sequence[str], policy: Policy) -> SpaceConfig:
    """Return agents that may write everything in the one scope `a`, whose conflicts the policy resolves."""
    writers = tuple(Agent(name, frozenset(("a", kind) for kind in Kind), frozenset({"a"})) for name in agents)
    return SpaceConfig(writers, (ScopeDef("a", intent_ttl=TTL, policy=policy),), Readings(), capacity=9)


def view_resolution(step: SpaceStep) -> Structure | None:
    """Return a conflict that is resolved by reading, as a structure."""
    act, marks = step.action, step.shown.candidates
    if not isinstance(act, Decide) or not marks or step.config.readings != Readings():
        return None
    (scope,) = step.config.scopes if len(step.config.scopes) == 1 else (None,)
    if scope is None or act.scope != scope.name or len({mark.id for mark in marks}) < len(marks):
        return None
    names = {mark.id: f"intent:{mark.id}" for mark in sorted(marks, key=lambda mark: mark.id)}

    def pairs(told: Callable[[Mark, Mark], bool]) -> list[tuple[str, str]]:
        return [(names[x.id], names[y.id]) for x in marks for y in marks if told(x, y)]

    told = {
        "older": pairs(lambda x, y: x.age > y.age),
        "surer": pairs(lambda x, y: x.draft.confidence > y.draft.confidence),
        "numbered_before": line(list(names.values())),
        "listed_before": line([names[mark.id] for mark in marks]),
        "by_confidence": scope.policy is Policy.HIGHEST_CONFIDENCE,
        "yields": scope.policy is Policy.YIELD_ALL,
        "wins": [] if step.shown.winner is None else [names[step.shown.winner]],
        "author": {names[mark.id]: mark.agent for mark in marks},
        "best": names[_best(scope.policy, marks)],
    }
    return structure({"Agent": sorted({mark.agent for mark in marks}), "Intent": names.values()}, told)


def _best(policy: Policy, marks: Sequence[Mark]) -> int:
    """Return the best intent by the policy, then by instant and id."""
    sure = policy is Policy.HIGHEST_CONFIDENCE
    return sorted((-mark.draft.confidence if sure else 0, -mark.age, mark.id) for mark in marks)[0][2]


view_listed_twice = beside(view_resolution, "listed_before", "wins")
"""Two resolutions of one set of intents."""


def _spaces() -> Iterator[tuple[Mark, ...]]:
    """Yield two and three intents of each pattern of instants, ids, authors and confidences."""
    levels = (Fraction(1), Fraction(1, 2))
    for ages, ids in product(((1, 0), (0, 0)), ((1, 2), (2, 1))):
        for confidences in ((levels[0], levels[0]), levels, levels[::-1]):
            for authors in (("x", "y"), ("y", "x"), ("x", "x")):
                yield _marks(ids, authors, confidences, ages)
    for three in ((1, 2, 3), (3, 1, 2), (2, 3, 1)):
        for sure in ((levels[1], levels[0], levels[0]), (levels[0],) * 3):
            yield _marks(three, ("x", "y", "z"), sure, (1, 0, 0))


def _marks(
    ids: Sequence[int], authors: Sequence[str], confidences: Sequence[Fraction], ages: Sequence[int]
) -> tuple[Mark, ...]:
    drafts = (Draft(Kind.INTENT, "a", verb="book", confidence=one) for one in confidences)
    return tuple(map(Mark, ids, authors, drafts, ages))


@Ends
def samples_of_resolution(system: AnySystem) -> Iterator[End]:
    """Yield conflicts of two and three intents under every policy, listed in the order of ids and in others."""
    for policy in POLICIES:
        config = config_of(("x", "y", "z"), policy)
        for marks in _spaces():
            yield written(system, config, marks, Decide(None, "a"))


_theorem = partial(
    theorem,
    system="space",
    theory=RESOLUTION,
    view=view_resolution,
    samples=samples_of_resolution,
    scope="any number of agents and intents, under every policy",
)
_wins = RESOLUTION.meanings["wins"].relation

FIRST = _theorem(
    claim=space.winners_come_first,
    sentence="One intent wins, and no other is ahead of it by policy, instant and id; where all yield, none does.",
    source="6.1, P11, P32",
    variables=(i,),
    goal=ite(_decided, iff(_wins(i), same(i, best())), ~_wins(i)),
    needs=("finitely_many", "ids_are_ordered"),
    witness=_several & by_confidence() & exists([i, j], differ(i, j) & ~surer(i, j) & ~surer(j, i)),
    mutants=(_BASE,),
)

PURE = _theorem(
    claim=space.resolution_is_a_function_of_the_intents,
    sentence="Whoever resolves a set of intents, and in whatever order they are listed, the same one wins.",
    theory=TWICE.theory,
    view=view_listed_twice,
    variables=(i,),
    goal=TWICE.alike("wins", i),
    witness=_several & exists([i, j], listed_before(i, j) & ~TWICE.second("listed_before", i, j)),
    mutants=TWICE.mutants(_BASE),
)
