"""Who wins among intents, by whoever resolves the conflict, and what supersession hides (P11, P47, §6.1, §10).

Any number of intents of any number of agents, under each policy, ties included; they may be listed in any order that
follows the instants of writing.  Any number of marks, superseding each other in any way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from evenhand.model.markspace.guard_words import Policy
from evenhand.model.markspace.marks import (
    Act,
    Agent,
    Decide,
    Draft,
    Kind,
    Mark,
    Read,
    ScopeDef,
    Space,
    SpaceConfig,
    SpaceStep,
    Tick,
    Write,
)
from evenhand.model.markspace.readings import Readings
from evenhand.model.system import System
from evenhand.model.trace import Pair, Scenario
from evenhand.proofs.markspace.strength_link import props
from evenhand.proofs.markspace.strength_words import define, mutation, word
from evenhand.proofs.smt.logic import (
    Definition,
    Formula,
    Function,
    Relation,
    Sort,
    differ,
    exists,
    forall,
    iff,
    ite,
    same,
    variables,
)
from evenhand.proofs.smt.structure import Structure
from evenhand.proofs.theorem import Mutation, Theorem
from evenhand.proofs.theory import Axiom, Theory

__all__ = ["RESOLUTIONS", "ordered"]

AGENT, INTENT, MARK = Sort("Agent"), Sort("Intent"), Sort("Mark")
i, j, k = variables(INTENT, "i j k")
m, n, o = variables(MARK, "m n o")
Scene = Scenario[SpaceConfig, Space, Act]


def ordered(relation: Relation, one: Any, two: Any, three: Any) -> Formula:
    """A strict total order."""
    return (
        forall([one, two], relation(one, two) >> ~relation(two, one))
        & forall([one, two, three], (relation(one, two) & relation(two, three)) >> relation(one, three))
        & forall([one, two], same(one, two) | relation(one, two) | relation(two, one))
    )


def _ranked(relation: Relation) -> Formula:
    """A strict order in which what is not told apart is alike."""
    return (
        forall([i, j], relation(i, j) >> ~relation(j, i))
        & forall([i, j, k], (relation(i, j) & relation(j, k)) >> relation(i, k))
        & forall([i, j, k], relation(i, k) >> (relation(i, j) | relation(j, k)))
    )


author = Function("author", (INTENT,), AGENT)
older, surer, numbered_before, listed_before = (
    Relation(name, (INTENT, INTENT)) for name in ("older", "surer", "numbered_before", "listed_before")
)
best = Function("best", (), INTENT)
"""The one that the policy puts first, before anybody asks whether it wins."""
by_confidence, yields = Relation("by_confidence", ()), Relation("yields", ())


def _earlier(one: Any, two: Any) -> Formula:
    """By (created_at, id)."""
    return older(one, two) | (~older(two, one) & numbered_before(one, two))


def _ahead(one: Any, two: Any) -> Formula:
    """As the policy has it; ties of confidence go to the earliest."""
    sure = surer(one, two) | (~surer(two, one) & _earlier(one, two))
    return ite(by_confidence(), sure, _earlier(one, two))


def _first(before: Any) -> Formula:
    return forall([j], same(i, j) | before(i, j))


_several = exists([i, j], differ(author(i), author(j)))
_decided = ~(yields() & _several)

RESOLUTION = Theory(
    name="markspace_resolution",
    sorts=(AGENT, INTENT),
    functions=(author, best),
    relations=(older, surer, numbered_before, listed_before, by_confidence, yields),
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
_BASE = mutation(RESOLUTION, "first_listed_wins", _LISTED)

# The same intents, listed twice.

_SHARED = tuple(name for name in RESOLUTION.symbols if name != listed_before.name)
TWICE = RESOLUTION.twice("2", shared=_SHARED)


def _both(one: Mutation) -> Mutation:
    """The mutant in both copies."""
    doubled = RESOLUTION.redefined(one.definitions).twice("2", shared=_SHARED)
    wanted = {name for changed in one.definitions for name in (changed.name, f"{changed.name}2")}
    definitions: tuple[Definition, ...] = tuple(d for d in doubled.definitions if d.name in wanted)
    return Mutation(mutant=one.mutant, definitions=definitions, expected=one.expected, because=one.because)


# Supersession.

supersedes, written_before, alike = (Relation(name, (MARK, MARK)) for name in ("supersedes", "written_before", "alike"))
eligible = Relation("eligible", (MARK,))


def _over(one: Any, other: Any) -> Formula:
    """`one` supersedes `other`, which was there before."""
    return written_before(other, one) & supersedes(one, other)


def _seen(gone: Formula) -> dict[str, Formula]:
    return {"seen": eligible(m) & ~gone}


SUPERSESSION = Theory(
    name="markspace_supersession",
    sorts=(MARK,),
    functions=(),
    relations=(supersedes, written_before, alike, eligible),
    axioms=(
        Axiom("writes_are_ordered", ordered(written_before, m, n, o), "P32"),
        Axiom("one_is_named", forall([m, n, o], (supersedes(m, n) & supersedes(m, o)) >> same(n, o)), "2.1, 10"),
        Axiom("alike_itself", forall([m], alike(m, m)), "2"),
        Axiom("alike_both_ways", forall([m, n], alike(m, n) >> alike(n, m)), "2"),
        Axiom("alike_all_along", forall([m, n, o], (alike(m, n) & alike(n, o)) >> alike(m, o)), "2"),
    ),
    definitions=(define("seen", (m,), _seen(exists([n], _over(n, m)))["seen"], "8.2, 10"),),
)
_RESURFACES = _seen(exists([n], _over(n, m) & ~exists([o], _over(o, n))))
_OF_ONE_KIND = _seen(exists([n], _over(n, m) & alike(n, m)))

# The link: resolution.

POLICIES = tuple(Policy)
TTL = 9


def _config(agents: Sequence[str], policy: Policy) -> SpaceConfig:
    writers = tuple(Agent(name, frozenset(("a", kind) for kind in Kind), frozenset({"a"})) for name in agents)
    return SpaceConfig(writers, (ScopeDef("a", intent_ttl=TTL, policy=policy),), Readings(), capacity=9)


def _pairs(marks: Sequence[Mark], told: Any) -> frozenset[tuple[str, str]]:
    return frozenset((f"intent:{x.id}", f"intent:{y.id}") for x in marks for y in marks if told(x, y))


def view_resolution(step: SpaceStep) -> Structure | None:
    """A conflict that is resolved by reading."""
    act, marks = step.action, step.shown.candidates
    if not isinstance(act, Decide) or not marks or step.config.readings != Readings():
        return None
    (scope,) = step.config.scopes if len(step.config.scopes) == 1 else (None,)
    if scope is None or act.scope != scope.name or len({mark.id for mark in marks}) < len(marks):
        return None
    place = {mark.id: number for number, mark in enumerate(marks)}
    relations: dict[str, frozenset[tuple[str, ...]]] = {
        "older": _pairs(marks, lambda x, y: x.age > y.age),
        "surer": _pairs(marks, lambda x, y: x.draft.confidence > y.draft.confidence),
        "numbered_before": _pairs(marks, lambda x, y: x.id < y.id),
        "listed_before": _pairs(marks, lambda x, y: place[x.id] < place[y.id]),
        "by_confidence": props(scope.policy is Policy.HIGHEST_CONFIDENCE),
        "yields": props(scope.policy is Policy.YIELD_ALL),
        "wins": frozenset() if step.shown.winner is None else frozenset([(f"intent:{step.shown.winner}",)]),
    }
    names = tuple(sorted({mark.agent for mark in marks}))
    authors = {(f"intent:{mark.id}",): mark.agent for mark in marks}
    universe = {"Agent": names, "Intent": tuple(f"intent:{number}" for number in sorted(place))}
    return Structure(universe, relations, {"author": authors, "best": {(): f"intent:{_best(scope.policy, marks)}"}})


def _best(policy: Policy, marks: Sequence[Mark]) -> int:
    """By the policy, then by instant and id."""
    sure = policy is Policy.HIGHEST_CONFIDENCE
    return sorted((-mark.draft.confidence if sure else 0, -mark.age, mark.id) for mark in marks)[0][2]


def view_listed_twice(case: tuple[SpaceStep, SpaceStep]) -> Structure | None:
    """Two resolutions of one set of intents."""
    one, two = map(view_resolution, case)
    if one is None or two is None or one.functions != two.functions:
        return None
    other = {f"{name}2": rows for name, rows in two.relations.items() if name in ("listed_before", "wins")}
    return Structure(one.universe, {**one.relations, **other}, one.functions)


def _ranks(structure: Structure, relation: str) -> dict[str, int]:
    """How many stand before each intent."""
    rows = structure.relations[relation]
    return {one: sum(row[1] == one for row in rows) for one in structure.universe["Intent"]}


def _listing(structure: Structure, listed: str) -> Scene:
    """The intents written in the order of listing, a second between instants, with the structure's ids."""
    old, sure, ids = (_ranks(structure, name) for name in ("older", "surer", "numbered_before"))
    agents = {name: f"agent_{number}" for number, name in enumerate(structure.universe["Agent"], start=1)}
    by = structure.functions["author"]
    policy = Policy.FIRST_WRITER
    if structure.relations["by_confidence"]:
        policy = Policy.HIGHEST_CONFIDENCE
    elif structure.relations["yields"]:
        policy = Policy.YIELD_ALL
    acts: list[Act] = []
    now = 0
    rank = _ranks(structure, listed)
    for one in sorted(structure.universe["Intent"], key=rank.__getitem__):
        if old[one] > now:
            acts.append(Tick())
            now = old[one]
        draft = Draft(Kind.INTENT, "a", verb="book", confidence=Fraction(1, 1 + sure[one]))
        acts.append(Write(agents[by[(one,)]], draft, ids[one] + 1))
    return Scenario(_config(tuple(agents.values()), policy), Space(), (*acts, Decide(None, "a")))


def scene_of_resolution(structure: Structure) -> Scene:
    """The intents are written and resolved."""
    return _listing(structure, "listed_before")


def scene_of_listings(structure: Structure) -> Pair[SpaceConfig, Space, Act]:
    """The same intents, written in two orders."""
    return Pair(_listing(structure, "listed_before"), _listing(structure, "listed_before2"), "listed twice")


def _spaces() -> Iterator[tuple[Mark, ...]]:
    """Two and three intents of each pattern of instants, ids, authors and confidences."""
    levels = (Fraction(1), Fraction(1, 2))
    for ages, ids in product(((1, 0), (0, 0)), ((1, 2), (2, 1))):
        for confidences in ((levels[0], levels[0]), levels, levels[::-1]):
            for authors in (("x", "y"), ("y", "x"), ("x", "x")):
                yield _marks(ids, authors, confidences, ages)
    for ids in ((1, 2, 3), (3, 1, 2), (2, 3, 1)):
        for confidences in ((levels[1], levels[0], levels[0]), (levels[0],) * 3):
            yield _marks(ids, ("x", "y", "z"), confidences, (1, 0, 0))


def _marks(
    ids: Sequence[int], authors: Sequence[str], confidences: Sequence[Fraction], ages: Sequence[int]
) -> tuple[Mark, ...]:
    drafts = (Draft(Kind.INTENT, "a", verb="book", confidence=one) for one in confidences)
    return tuple(map(Mark, ids, authors, drafts, ages))


def samples_of_resolution(system: System[Any, Any, Any, Any, Any]) -> Iterator[SpaceStep]:
    """Conflicts of two and three intents under every policy, listed as the ids go and otherwise."""
    for policy in POLICIES:
        config = _config(("x", "y", "z"), policy)
        for marks in _spaces():
            yield system.take(config, Space(marks), Decide(None, "a"))


# The link: supersession.

KINDS = (Kind.OBSERVATION, Kind.NEED, Kind.WARNING)


def view_supersession(step: SpaceStep) -> Structure | None:
    """A read by infrastructure of fresh marks that no warning touches."""
    act, marks = step.action, step.before.marks
    if not isinstance(act, Read) or act.reader is not None or step.shown.seen is None or not marks:
        return None
    if step.config.readings != Readings() or any(mark.age or mark.draft.invalidates for mark in marks):
        return None
    if any(mark.draft.strength != 1 or mark.draft.scope != act.scope or mark.resolved_by for mark in marks):
        return None
    names = {mark.id: f"mark:{mark.id}" for mark in marks}
    places = tuple(enumerate(marks))

    def rows(told: Any) -> frozenset[tuple[str, ...]]:
        return frozenset((names[x.id], names[y.id]) for a, x in places for b, y in places if told(a, x, b, y))

    relations = {
        "supersedes": rows(lambda _a, x, _b, y: x.draft.supersedes == y.id),
        "written_before": rows(lambda a, _x, b, _y: a < b),
        "alike": rows(lambda _a, x, _b, y: x.draft.kind is y.draft.kind),
        "eligible": frozenset((name,) for name in names.values()),
        "seen": frozenset((names[seen.mark.id],) for seen in step.shown.seen),
    }
    return Structure({"Mark": tuple(names.values())}, relations)


def scene_of_supersession(structure: Structure) -> Scene | None:
    """The marks written in their order, each naming what it supersedes; then infrastructure reads."""
    told, marks = structure.relations, structure.universe["Mark"]
    rank = {one: sum(row[1] == one for row in told["written_before"]) for one in marks}
    classes = sorted({min(row[1] for row in told["alike"] if row[0] == one) for one in marks})
    if len(classes) > len(KINDS):
        return None
    acts: list[Act] = []
    for one in sorted(marks, key=rank.__getitem__):
        kind = KINDS[classes.index(min(row[1] for row in told["alike"] if row[0] == one))]
        target = next((rank[row[1]] + 1 for row in sorted(told["supersedes"]) if row[0] == one), None)
        acts.append(Write("x", Draft(kind, "a", supersedes=target), rank[one] + 1))
    return Scenario(_config(("x",), Policy.FIRST_WRITER), Space(), (*acts, Read(None, "a")))


def samples_of_supersession(system: System[Any, Any, Any, Any, Any]) -> Iterator[SpaceStep]:
    """Every way in which three marks of two kinds can supersede each other, by any variant."""
    config = _config(("x",), Policy.FIRST_WRITER)
    for kinds in product(KINDS[:2], repeat=3):
        for targets in product((None, 2), (None, 1, 3), (None, 1, 2)):
            drafts = [Draft(kind, "a", supersedes=target) for kind, target in zip(kinds, targets, strict=True)]
            marks = tuple(Mark(number, "x", draft) for number, draft in enumerate(drafts, start=1))
            yield system.take(config, Space(marks), Read(None, "a"))


def _theorem(**more: Any) -> Theorem:
    usual: dict[str, Any] = {
        "scope": "any number of agents and intents, under every policy",
        "theory": RESOLUTION,
        "view": view_resolution,
        "realise": scene_of_resolution,
        "samples": samples_of_resolution,
        "claim": more["name"],
    }
    return Theorem(protocol="markspace", system="space", **{**usual, **more})


_wins = RESOLUTION.meanings["wins"].relation

FIRST = _theorem(
    name="winners_come_first",
    sentence="One intent wins, and no other is ahead of it by policy, instant and id; where all yield, none does.",
    source="6.1, P11, P32",
    variables=(i,),
    goal=ite(_decided, iff(_wins(i), same(i, best())), ~_wins(i)),
    needs=("finitely_many", "ids_are_ordered"),
    witness=_several & by_confidence() & exists([i, j], differ(i, j) & ~surer(i, j) & ~surer(j, i)),
    mutants=(_BASE,),
)

PURE = _theorem(
    name="resolution_is_a_function_of_the_intents",
    sentence="Whoever resolves a set of intents, and in whatever order they are listed, the same one wins.",
    source="P11, 6.1",
    theory=TWICE,
    view=view_listed_twice,
    realise=scene_of_listings,
    variables=(i,),
    goal=iff(_wins(i), TWICE.meanings["wins2"].relation(i)),
    witness=_several & exists([i, j], listed_before(i, j) & ~TWICE.relations[-1](i, j)),
    mutants=(_both(_BASE),),
)

HIDDEN = _theorem(
    name="supersession_transitivity_p47",
    sentence="No superseded mark is seen, whatever becomes of the one that supersedes it: of a chain the last at most.",
    source="P47, 10",
    scope="any number of marks",
    theory=SUPERSESSION,
    view=view_supersession,
    realise=scene_of_supersession,
    samples=samples_of_supersession,
    variables=(m, n, o),
    assumes=_over(n, m),
    goal=~word(SUPERSESSION, "seen", m) & (_over(o, n) >> ~word(SUPERSESSION, "seen", n)),
    witness=exists([m, n, o], _over(n, m) & _over(o, n) & word(SUPERSESSION, "seen", o)),
    mutants=(
        mutation(SUPERSESSION, "chains_resurface", _RESURFACES),
        mutation(SUPERSESSION, "superseding_keeps_the_kind", _OF_ONE_KIND),
    ),
)

RESOLUTIONS: tuple[Theorem, ...] = (FIRST, PURE, HIDDEN)
"""The theorems about who wins and what is hidden."""
