"""Bring the findings of all systems together: one finding for each cause, the most serious first.

Whether two findings have one cause is asked twice, as the claims that head them are known only when they are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, cast

from evenhand.conform.adapters.wire import Fault
from evenhand.conform.checking.comparing import words_of
from evenhand.conform.checking.duties import DISAGREES, SENTENCES, WAVERS
from evenhand.conform.checking.kinds import nested, parted, shown_side
from evenhand.conform.checking.ordering import Defect, places
from evenhand.core.canonical import Json
from evenhand.core.kinds import Monitor
from evenhand.core.parts import PARTS, Part, parts_of
from evenhand.core.verdict import Status
from evenhand.search.verdicts import changed_readings

if TYPE_CHECKING:
    from evenhand.conform.checking.claims import Violation
    from evenhand.conform.checking.comparing import Difference
    from evenhand.conform.checking.divergence import Divergence
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
_CONDUCT = ("mutates", *WAVERS)


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
    """One finding: the defect that shows it best, the system that it is in, and all systems that show it.

    `alike` names the mutants that look like that defect, or like one that differs in just the same elsewhere: a system
    has mutants of its own.
    """

    system: AnySystem
    defect: Defect
    systems: tuple[str, ...]
    claims: frozenset[str]
    seen: int
    headline: str
    alike: frozenset[str]

    @property
    def seriousness(self) -> Seriousness:
        """How grave it is."""
        return seriousness(self.system, self.defect.divergence)


def alone(system: AnySystem, defect: Defect) -> Cause:
    """Return the cause of one defect in one system."""
    return Cause(system, defect, (system.name,), _claims(defect), defect.count, defect.divergence.subject, defect.alike)


def causes(
    checked: Iterable[tuple[AnySystem, Sequence[Defect]]], usual: frozenset[str] = frozenset()
) -> tuple[Cause, ...]:
    """Return one cause for the defects of all systems that have it, the most serious and then the shortest first.

    What is `usual`, as most runs of a system show it, joins nothing that shows more.
    """
    made = _one_each((alone(system, one) for system, defects in checked for one in defects), usual)
    listed = Counter(claim for one in made for claim in one.claims)
    headed = sorted((_headed(one, listed, _explained(one, made)) for one in made), key=_order)
    joined = (_headed(one, listed, _explained(one, made), told=True) for one in _one_each(headed, usual))
    return tuple(sorted(joined, key=_order))


def _one_each(made: Iterable[Cause], usual: frozenset[str]) -> list[Cause]:
    """Join the causes that are one, of one system or several; with one that shows just the same, if there is one."""
    kept: list[Cause] = []
    for cause in made:
        kinds = cause.defect.divergence.kinds
        same = (at for at, known in enumerate(kept) if _one(known, cause, usual))
        place = min(same, key=lambda at: kept[at].defect.divergence.kinds != kinds, default=None)
        if place is None:
            kept.append(cause)
        else:
            kept[place] = _joined(kept[place], cause)
    return kept


def _one(known: Cause, new: Cause, usual: frozenset[str]) -> bool:
    """Whether two causes are forms of one fault.

    They are if the same differs, or if both lie behind other differences, in one place at least.  Then mutants say it:
    they are if those that look like one look like the other, and are not if none looks like both.  Else they are

    - if the kernel overlooks the same words of the protocol, as a reason, and in one nothing that the other sees;
    - if one claim heads both, and they have a difference in common;
    - if the kernel shows the same, whatever it should show;
    - or if it shows the same and more, and overlooks nothing.

    What is `usual`, as it shows in most runs, counts only where nothing else differs: it stands beside other faults.
    A kernel that remembers earlier runs also wavers, as other runs come before.
    """
    one, other = known.defect.divergence, new.defect.divergence
    if one.what in WAVERS and other.what in WAVERS:
        return True
    if one.what != other.what:
        return False
    if one.what == "mutates":
        return True
    if not one.kinds or not other.kinds:
        return False
    if one.kinds == other.kinds or (one.behind and other.behind and places(one.kinds) & places(other.kinds)):
        return True
    if known.alike and new.alike:
        if nested(known.alike, new.alike):
            return True
        if known.alike.isdisjoint(new.alike):
            return False
    kinds = [some.kinds - usual or some.kinds for some in (one, other)]
    unseen = [_unseen(some) for some in kinds]
    missed = [some & words_of(new.system.types) for some in unseen]
    if missed[0] and missed[0] == missed[1] and nested(*unseen):
        return True
    if known.headline == new.headline and known.headline not in SENTENCES and kinds[0] & kinds[1]:
        return True
    shown = [frozenset(map(shown_side, some)) for some in kinds]
    return shown[0] == shown[1] or (not any(missed) and nested(*shown))


def _unseen(kinds: frozenset[str]) -> frozenset[str]:
    """The words that the model shows and the kernel does not, whatever it shows instead."""
    expected = frozenset(word for kind in kinds for word in parted(kind).expected.split() if word[0].isalpha())
    return expected.difference(word for kind in kinds for word in parted(kind).got.split())


def _explained(cause: Cause, made: Sequence[Cause]) -> frozenset[str]:
    """The claims that are violated by another cause of which this one shows all and more."""
    smaller = [one.defect.divergence for one in made if one.defect.divergence.kinds < cause.defect.divergence.kinds]
    return frozenset(one.claim.name for other in smaller if other.what == "differs" for one in other.sure)


def _headed(cause: Cause, listed: Mapping[str, int], explained: frozenset[str], *, told: bool = False) -> Cause:
    """The cause under its most specific claim: on the surest basis the one that the fewest causes violate.

    Where it is `told`, a claim about one step comes before one about a run, which may be violated because of that step;
    causes are joined by either.  Claims that another cause explains come late, and claims that the protocol refutes
    last.  Where another explains all of them, or the protocol refutes all in this system, none heads a difference.
    """
    divergence = cause.defect.divergence
    if not divergence.sure:
        return cause
    doubt = {one.claim.name: (_doubt(one.claim, cause.system), one.claim.name in explained) for one in divergence.sure}

    def order(one: Violation) -> tuple[object, ...]:
        follows = told and isinstance(one.claim, Monitor)
        return doubt[one.claim.name], one.basis, follows, listed[one.claim.name], one.step

    best = min(divergence.sure, key=order)
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
    same = one.defect.divergence.kinds == other.defect.divergence.kinds
    claims, alike = one.claims | other.claims, one.alike | other.alike if same else best.alike
    return replace(best, systems=names, claims=claims, alike=alike, seen=one.seen + other.seen)


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
