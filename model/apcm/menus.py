"""All names, situations and artefacts at given sizes, hostile ones included; simplest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, combinations, product

from evenhand.core.atoms import Atom, Opaque
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.vocabulary import MAINTAIN, Artifact, Entry, Fields, Pairs, Situation, digest_of

MOST = 9
"""Names up to which alphabetical order is the order of their numbers."""


def _names(letter: str, count: int) -> tuple[str, ...]:
    if not 0 <= count <= MOST:
        raise ValueError(f"there are names for 0 to {MOST} of each kind, not for {count}")
    return tuple(f"{letter}{number}" for number in range(1, count + 1))


def action_names(count: int) -> tuple[str, ...]:
    """Return `a1`, `a2`, … in order.  Raises ValueError beyond `MOST`."""
    return _names("a", count)


def preference_names(count: int) -> tuple[str, ...]:
    """Return `P1`, `P2`, … in order.  Raises ValueError beyond `MOST`."""
    return _names("P", count)


def subsets(things: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return every subset, smallest first, in the order of the things."""
    return tuple(chain.from_iterable(combinations(things, size) for size in range(len(things) + 1)))


def entry(preferences: Iterable[str], violates: Iterable[str]) -> Entry:
    """Return an entry that violates these and satisfies the rest, which every reading of `satisfies` allows."""
    bad = frozenset(violates)
    return Entry(bad, frozenset(preferences) - bad)


def situation(preferences: tuple[str, ...], **violates: str) -> Situation:
    """Return a situation from `action="P1 P2"` texts; every action named is feasible."""
    return Situation(
        tuple(sorted(violates)),
        tuple((action, entry(preferences, violates[action].split())) for action in sorted(violates)),
    )


_TWO, _THREE = preference_names(2), preference_names(3)
CLEAN = situation(_TWO, a1="", a2="P1")
"""No conflict: a1 violates nothing."""

SHARED = situation(_TWO, a1="P1", a2="P1 P2")
"""No conflict either: every action violates P1, and P2 can be kept."""

SOPHIE = situation(_TWO, a1="P1", a2="P2")
"""The forced choice of section 8."""

THREE_WAY = situation(_THREE, a1="P1", a2="P2", a3="P3")
"""The smallest situation in which no artefact permits anything: three laws, each action breaks another one."""


def every_situation(
    actions: tuple[str, ...], preferences: tuple[str, ...], *, infeasible: bool = False
) -> Iterator[Situation]:
    """Yield every APCM over these, all actions feasible; `infeasible`: over every set of feasible actions too."""
    sets: list[tuple[str, ...] | None] = [*subsets(preferences), *([None] if infeasible else [])]
    for picked in product(sets, repeat=len(actions)):
        chosen = [(action, violates) for action, violates in zip(actions, picked, strict=True) if violates is not None]
        yield Situation(
            tuple(action for action, _ in chosen),
            tuple((action, entry(preferences, violates)) for action, violates in chosen),
        )


def typical_situations(
    actions: tuple[str, ...], preferences: tuple[str, ...]
) -> tuple[Situation, Situation, Situation]:
    """Return three: with a clean action; each action breaks a law of its own; all break the first.

    Raises ValueError without an action or a preference.
    """
    if not actions or not preferences:
        raise ValueError(f"a situation needs an action and a preference, not {len(actions)} and {len(preferences)}")

    def made(*violates: Iterable[str]) -> Situation:
        return Situation(actions, tuple((a, entry(preferences, bad)) for a, bad in zip(actions, violates, strict=True)))

    rest = len(actions) - 1
    clean = made((), *[preferences[:1]] * rest)
    forced = made(*(preferences[place % len(preferences) :][:1] for place in range(len(actions))))
    return clean, forced, made(*[preferences[:1]] * rest, preferences)


def hostile_situations(actions: tuple[str, ...], preferences: tuple[str, ...]) -> Iterator[Situation]:
    """Yield situations that no proper environment publishes (2.2), and two odd ones that are proper."""
    good = entry(preferences, preferences[:1])
    rest = tuple((action, good) for action in actions[1:])
    first = actions[0]
    every = frozenset(preferences)
    for bad in (
        Entry(None, every),
        Entry(every, None),
        Entry(Atom("str", "P1"), frozenset()),
        Entry(Opaque("object"), frozenset()),
        Entry(frozenset(("P_unknown",)), frozenset()),
        Entry(frozenset(), frozenset((*preferences, "P_unknown"))),
        Entry(frozenset((Atom("int", "1"),)), every),
        Entry(every, every),
        Entry(every, frozenset(preferences[:1])),
        Entry(frozenset(), frozenset()),
        Entry(tuple(preferences), ()),
    ):
        yield Situation(actions, ((first, bad), *rest))
    yield Situation(actions, rest)
    yield Situation((*actions, first), ((first, good), *rest))
    yield Situation((*actions, "a_unknown"), ((first, good), *rest, ("a_unknown", good)))
    yield Situation(actions, ((first, good), (first, entry(preferences, ())), *rest))
    yield Situation((), ())
    yield Situation(actions[:1], ((first, good), *rest))


@lru_cache(maxsize=64)
def all_fields(preferences: tuple[str, ...], readings: Readings, groups: bool = False) -> tuple[Fields, ...]:
    """Return every AV, RP and set of declared pairs, smallest first.

    With `groups`, at most one collision is declared, of any size: several are the conjunction of each, which keeps
    the repaired rules' menu as large as the pairs' one.
    """
    return tuple(each_fields(preferences, readings, groups))


def each_fields(preferences: tuple[str, ...], readings: Readings, groups: bool = False) -> Iterator[Fields]:
    """Yield the same one by one, because there are many and most runs need the first ones only."""
    sets = subsets(preferences)
    of_size = [tuple(one for one in sets if len(one) == size) for size in range(len(preferences) + 1)]
    largest = sum(len(pair) for pair in _declarable(preferences, readings, groups))
    for size in range(largest + 2 * len(preferences) + 1):
        for pairs in _attributions(preferences, readings, groups):
            taken = sum(len(pair) for pair in pairs)
            if taken > size:
                break
            for av in sets:
                left = size - taken - len(av)
                if 0 <= left <= len(preferences):
                    yield from (Fields(av, rp, pairs) for rp in of_size[left])


def _attributions(preferences: tuple[str, ...], readings: Readings, groups: bool) -> Iterator[Pairs]:
    """Yield what may be declared, smallest first and one by one: nine preferences have 2 to the 36th sets of pairs."""
    if groups:
        yield from ((group,) if group else () for group in subsets(preferences))
        return
    pairs = _declarable(preferences, readings, groups)
    yield from chain.from_iterable(combinations(pairs, size) for size in range(len(pairs) + 1))


def _declarable(preferences: tuple[str, ...], readings: Readings, groups: bool) -> Pairs:
    """All pairs in order; with `groups` the largest group alone."""
    if groups:
        return (preferences,)
    pairs = list(combinations(preferences, 2))
    if readings.pair_order == "ordered":
        pairs += [(q, p) for p, q in pairs]
    if readings.pair_arity == "may_repeat":
        pairs += [(p, p) for p in preferences]
    return tuple(sorted(pairs))


def hostile_artifacts(preferences: tuple[str, ...], previous: Fields | None) -> Iterator[Artifact | None]:
    """Yield artefacts that no honest generator sends: each field of a wrong type, unknown names, a wrong link."""
    link = None if previous is None else digest_of(previous)
    none: frozenset[str] = frozenset()
    first = frozenset(preferences[:1])
    pair = frozenset((tuple(preferences[:2]),))
    wrong = "blake2b128:" + "0" * 32
    yield None
    for bad in (None, Opaque("object"), Atom("str", "P1"), frozenset((Atom("int", "1"),))):
        yield Artifact(bad, none, frozenset(), previous_artifact_digest=link)
        yield Artifact(none, bad, frozenset(), previous_artifact_digest=link)
    for pairs in (None, Opaque("object"), frozenset((("P1", Atom("int", "1")),))):
        yield Artifact(none, none, pairs, previous_artifact_digest=link)
    yield Artifact(frozenset(("P_unknown",)), none, frozenset(), previous_artifact_digest=link)
    yield Artifact(none, frozenset(("P_unknown",)), frozenset(), previous_artifact_digest=link)
    yield Artifact(none, none, frozenset((("P1", "P_unknown"),)), previous_artifact_digest=link)
    for odd in (("P1",), ("P1", "P1"), (), tuple(preferences[:3])):
        yield Artifact(none, none, frozenset((odd,)), previous_artifact_digest=link)
    yield Artifact(none, none, frozenset((tuple(preferences[1::-1]),)), previous_artifact_digest=link)
    yield Artifact(tuple(preferences[:1] * 2), (), tuple(pair), previous_artifact_digest=link)
    yield Artifact((), tuple(preferences), (), previous_artifact_digest=link)
    for mode in ("AMEND", "", None, Atom("bool", "true")):
        yield Artifact(none, none, frozenset(), mode, link)
    yield Artifact(none, none, frozenset(), previous_artifact_digest=wrong)
    yield Artifact(none, none, frozenset(), previous_artifact_digest=Atom("int", "0"))
    yield Artifact(first, none, pair, previous_artifact_digest=wrong)
    yield Artifact(none, none, frozenset(), previous_artifact_digest=link, precedent_reference=Opaque("list"))
    yield Artifact(none, none, frozenset(), previous_artifact_digest=link, precedent_reference=None)
    yield Artifact(first, first, frozenset(), MAINTAIN, wrong)
    if previous is None:
        yield artifact_of(Fields((), (), ()), None, MAINTAIN)
        yield artifact_of(Fields((), tuple(preferences), ()), None, MAINTAIN)
        yield Artifact(first, none, pair, MAINTAIN, wrong)
