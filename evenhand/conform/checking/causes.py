"""Bring the findings of all systems together: one finding for each cause, the most serious first.

Two defects of two systems are one cause if the same claim objects to differences in one place that are not opposite, or
the same thing differs, or the same registered mutant shows what the kernel showed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, cast

from evenhand.conform.adapters.wire import Fault
from evenhand.conform.checking.comparing import nested, one_reason, words_of
from evenhand.conform.checking.duties import DISAGREES, SENTENCES
from evenhand.conform.checking.sameness import lacking, one_cause, other_reason, too_much
from evenhand.core.canonical import Json
from evenhand.core.parts import PARTS, Part, parts_of
from evenhand.core.verdict import Status
from evenhand.search.verdicts import changed_readings

if TYPE_CHECKING:
    from evenhand.conform.checking.comparing import Difference
    from evenhand.conform.checking.divergence import Divergence
    from evenhand.conform.checking.ordering import Defect
    from evenhand.core.kinds import Property
    from evenhand.core.system import AnySystem


class Seriousness(IntEnum):
    """How grave a finding is, the gravest first."""

    OUTSIDE = 0
    UNWARRANTED = 1
    DECISION = 2
    CRASH = 3
    HANG = 4
    CONDUCT = 5
    RECORD = 6
    LABEL = 7
    BEHIND = 8

    @property
    def words(self) -> str:
        """The words of a report."""
        return (
            "an effect outside what was allowed",
            "an effect that nothing warrants",
            "a wrong decision",
            "no answer",
            "a hang",
            "not fit to be checked alone",
            "a wrong record",
            "a wrong label",
            "wrong behind another finding",
        )[self]


_HANGS = (Fault.HUNG, Fault.MEMORY, Fault.TOO_LONG)
_WAVERS = ("non-deterministic", "remembers")
_CONDUCT = ("mutates", *_WAVERS)


def seriousness(system: AnySystem, divergence: Divergence) -> Seriousness:
    """Return how grave a divergence is, by what its differences tell of (`core.parts`).

    An effect too much or another one is outside what was allowed if every decision is right, else unwarranted.
    """
    if divergence.behind:
        return Seriousness.BEHIND
    if divergence.what == "fails":
        return Seriousness.HANG if divergence.fault in _HANGS else Seriousness.CRASH
    if divergence.what in _CONDUCT:
        return Seriousness.CONDUCT
    told = [(_part(system, divergence, one), one) for one in divergence.differences]
    decides = any(what == "decision" for what, _ in told)
    if any(what == "effect" and one.got is not None for what, one in told):
        return Seriousness.UNWARRANTED if decides else Seriousness.OUTSIDE
    if decides or not told or any(what == "effect" for what, _ in told):
        return Seriousness.DECISION
    return Seriousness.RECORD if any(what == "record" for what, _ in told) else Seriousness.LABEL


def gravest_first(system: AnySystem, divergence: Divergence) -> list[Difference]:
    """Return the differences of a divergence, those first that make it as serious as it is."""
    return sorted(divergence.differences, key=lambda one: PARTS.index(_part(system, divergence, one)))


def _part(system: AnySystem, divergence: Divergence, one: Difference) -> Part:
    """What the field tells of in which a difference lies; of the state, a record, and of the end of a run, a label."""
    first, *more = re.findall(r"\w+", one.path)
    if first == "facts" and more:
        return "label" if more[0] == "conclusion" else "record"
    shown: Any = divergence.expected[-1]
    name = cast("dict[str, Json]", shown).get("$") if isinstance(shown, dict) else ""
    kind = next((kind for kind in system.types if kind.__name__ == name and is_dataclass(kind)), None)
    return "decision" if kind is None else parts_of(kind).get(first, "decision")


@dataclass(frozen=True)
class Cause:
    """One finding: the defect that shows it best, the system that it is in, and all systems that show it."""

    system: AnySystem
    defect: Defect
    systems: tuple[str, ...]
    claims: frozenset[str]
    seen: int
    headline: str

    @property
    def seriousness(self) -> Seriousness:
        """How grave it is."""
        return seriousness(self.system, self.defect.divergence)


def alone(system: AnySystem, defect: Defect) -> Cause:
    """Return the cause of one defect in one system."""
    return Cause(system, defect, (system.name,), _claims(defect), defect.count, defect.divergence.subject)


def causes(checked: Iterable[tuple[AnySystem, Sequence[Defect]]]) -> tuple[Cause, ...]:
    """Return one cause for the defects of all systems that have it, the most serious and then the shortest first."""
    made: list[Cause] = []
    for system, defects in checked:
        joins = _joins(made, defects)
        made = [
            _joined(one, alone(system, defects[joins[place]])) if place in joins else one
            for place, one in enumerate(made)
        ]
        made += [alone(system, one) for number, one in enumerate(defects) if number not in joins.values()]
    made = _one_each(made, _one_form)
    listed = Counter(claim for one in made for claim in one.claims)
    headed = sorted((_headed(one, listed, _explained(one, made)) for one in made), key=_order)
    return tuple(sorted(_one_each(headed, _two_forms), key=_order))


def _joins(made: Sequence[Cause], defects: Sequence[Defect]) -> dict[int, int]:
    """The causes that defects of one further system have, at most one each, those first that differ most alike.

    Two defects of one system are two causes.  Where both could be one of another system, the one that shows just the
    same is, or shows it with more or less beside it.
    """
    pairs = sorted(
        (_unlike(cause, defect), number, place)
        for number, defect in enumerate(defects)
        for place, cause in enumerate(made)
        if _same(cause, defect)
    )
    found = dict[int, int]()
    for _, number, place in pairs:
        if place not in found and number not in found.values():
            found[place] = number
    return found


def _one_each(made: Sequence[Cause], one_cause: Callable[[Cause, Cause], bool]) -> list[Cause]:
    """Join the causes that are one."""
    kept: list[Cause] = []
    for cause in made:
        place = next((at for at, known in enumerate(kept) if one_cause(known, cause)), None)
        if place is None:
            kept.append(cause)
        else:
            kept[place] = _joined(kept[place], cause)
    return kept


def _one_form(cause: Cause, another: Cause) -> bool:
    """Whether the same mutants explain two causes: where the time ended, two forms of one stand beside each other.

    A kernel that remembers earlier runs also wavers, as other runs come before.
    """
    one, other = cause.defect, another.defect
    if one.divergence.what in _WAVERS and other.divergence.what in _WAVERS:
        return True
    if one.divergence.what != "differs" or other.divergence.what != "differs":
        return False
    return bool(one.alike and other.alike) and nested(one.alike, other.alike)


def _two_forms(cause: Cause, another: Cause) -> bool:
    """Whether two causes are forms of one, though mutants, or other words, told them apart in a system.

    So it is if the same differs, or under one claim the same but for the told state, or under none, in actions of one
    kind, the same and more.  Under one claim a word may change, but no overlooked reason, if another is the same and no
    place is new.  What stands behind others in one place may be the consequence of one.
    """
    one, other = cause.defect.divergence, another.defect.divergence
    if one.what != "differs" or other.what != "differs":
        return False
    if one.kinds == other.kinds:
        return True
    if one.behind and other.behind:
        return bool(_places(one.kinds) & _places(other.kinds))
    shown = [frozenset(kind for kind in some.kinds if not kind.startswith("facts.")) for some in (one, other)]
    if cause.headline != another.headline:
        return False
    if cause.headline in SENTENCES:
        within = one.taken == other.taken and nested(one.kinds, other.kinds)
        return within or (shown[0] == shown[1] and bool(shown[0]))
    return _places(shown[0]) == _places(shown[1]) and bool(shown[0] & shown[1]) and not other_reason(*shown)


def _places(kinds: frozenset[str]) -> set[str]:
    return {kind.partition(": ")[0] for kind in kinds}


def _unlike(cause: Cause, defect: Defect) -> int:
    """How far what a defect shows is from a cause: the same, the same and more, less than that."""
    one, other = cause.defect.divergence.kinds, defect.divergence.kinds
    return 0 if one == other else 1 if nested(one, other) else 2


def _explained(cause: Cause, made: Sequence[Cause]) -> frozenset[str]:
    """The claims that are violated by another cause of which this one shows all and more."""
    smaller = [one.defect.divergence for one in made if one.defect.divergence.kinds < cause.defect.divergence.kinds]
    return frozenset(one.claim.name for other in smaller if other.what == "differs" for one in other.sure)


def _headed(cause: Cause, listed: Mapping[str, int], explained: frozenset[str]) -> Cause:
    """The cause under its most specific claim: on the surest basis the one that the fewest causes violate.

    Claims that another cause explains come late, and claims that the protocol refutes last.  Where another explains
    all of them, or the protocol refutes all in this system, none heads a difference.
    """
    divergence = cause.defect.divergence
    if not divergence.sure:
        return cause
    doubt = {one.claim.name: (_doubt(one.claim, cause.system), one.claim.name in explained) for one in divergence.sure}
    best = min(divergence.sure, key=lambda one: (doubt[one.claim.name], one.basis, listed[one.claim.name], one.step))
    own = divergence.what == "differs" and (doubt[best.claim.name][0] > 1 or doubt[best.claim.name][1])
    return replace(cause, headline=DISAGREES if own else best.claim.name)


def _doubt(claim: Property, system: AnySystem) -> int:
    """Where the protocol itself refutes a claim under these readings: 2: in this system, 1: in another, 0: nowhere."""
    readings = changed_readings(system)
    false = [one for one in claim.expected if one.expected is Status.REFUTED]
    where = {one.system for one in false if one.speaks_of(claim.name, one.system, one.engine, readings)}
    return 2 if where & {"", system.name} else min(1, len(where))


def _claims(defect: Defect) -> frozenset[str]:
    divergence = defect.divergence
    return defect.claims | {one.claim.name for one in divergence.violations} | {divergence.subject}


def _joined(one: Cause, other: Cause) -> Cause:
    best = min((one, other), key=_clear)
    names = tuple(dict.fromkeys((*one.systems, *other.systems)))
    return replace(best, systems=names, claims=one.claims | other.claims, seen=one.seen + other.seen)


def _clear(cause: Cause) -> tuple[object, ...]:
    """The order in which runs tell of a cause, graver ones first: one that no mutant explains may show two."""
    wavers = cause.defect.divergence.what == "non-deterministic"
    return cause.seriousness, cause.defect.divergence.behind, wavers, not cause.defect.alike, _order(cause)


def _order(cause: Cause) -> tuple[object, ...]:
    divergence = cause.defect.divergence
    basis = min((one.basis for one in divergence.violations), default=0)
    unclaimed = cause.headline in SENTENCES
    return (
        cause.seriousness,
        divergence.behind,
        unclaimed,
        basis,
        divergence.length,
        cause.headline,
        cause.system.name,
    )


def _same(cause: Cause, defect: Defect) -> bool:
    one, other = cause.defect.divergence, defect.divergence
    if one.what != other.what:
        return False
    if one.what in _CONDUCT:
        return True
    if one.kinds and one.kinds == other.kinds:
        return True
    claimed = one.subject == other.subject and one.subject not in SENTENCES
    some, others = cause.defect.alike, defect.alike
    if some and others:
        return nested(some, others) or (claimed and bool(one.kinds & other.kinds) and bool(some & others))
    if claimed and _meet(one.kinds, other.kinds) and not other_reason(one.kinds, other.kinds):
        return True
    if one.what == "differs" and (
        one_reason(one.kinds, other.kinds)
        or too_much(one, other)
        or lacking(one, other)
        or one_cause(one, other, words_of(cause.system.types))
    ):
        return True
    return bool(one.kinds) and one.taken == other.taken and nested(one.kinds, other.kinds)


def _meet(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two differences lie in one place at least, and are not opposite there; some are told without places."""
    both = (
        (first.partition(": "), second.partition(": "))
        for first in one
        for second in other
        if first.partition(": ")[0] == second.partition(": ")[0]
    )
    return not one or not other or any(not _opposite(first[2], second[2]) for first, second in both)


def _opposite(one: str, other: str) -> bool:
    """Whether what is shown in one case is what should be in the other: accepting is no cause of refusing."""
    (expected, slash, got), (expects, _, gets) = one.partition(" / "), other.partition(" / ")
    return bool(slash) and (expected == gets or got == expects)
