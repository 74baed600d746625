"""Say whether divergences of one system are one defect: by mutants, by words and by claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import words_of
from evenhand.conform.checking.divergence import Divergence
from evenhand.conform.checking.duties import SENTENCES, WAVERS
from evenhand.conform.checking.kinds import nested, one_reason, parted, same_side, same_words, touch, worded
from evenhand.conform.checking.lookalikes import Lookalikes
from evenhand.conform.checking.ordering import Defect, places

if TYPE_CHECKING:
    from evenhand.core.system import Mutant


@dataclass
class Likeness:
    """Compares divergences with each other and with the defects `made` so far.

    `over` says whether the time is up; then no mutants are asked.  `everywhere` are the kinds that show
    in most runs.
    """

    coder: Coder
    mutants: Iterable[Mutant[Any]]
    made: Sequence[Defect]
    over: Callable[[], bool]
    everywhere: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.lookalikes = Lookalikes(self.coder, self.mutants)

    def _own(self, divergence: Divergence) -> frozenset[str]:
        """The kinds of a divergence but for those that show in most runs; for one with no others, these."""
        usual = {kind: {one for one in self.everywhere if same_side(kind, one)} for kind in divergence.kinds}
        own = frozenset(kind for kind, ones in usual.items() if not ones)
        return own or frozenset[str]().union(*usual.values())

    def telling(self, divergence: Divergence) -> frozenset[str]:
        """The kinds of a divergence that say words of the protocol; all, if none does, or beside what hides most runs.

        Lists that are longer, texts and the told state follow from what is said beside them, or show alone elsewhere.
        """
        if self.everywhere & divergence.kinds:
            return divergence.kinds
        return worded(divergence.kinds, words_of(self.coder.system.types)) or divergence.kinds

    def missing(self, divergence: Divergence) -> frozenset[str]:
        """The telling kinds of a divergence that no known defect shows, of those that show nothing else."""
        told = self.telling(divergence)
        known = (self.telling(one.divergence) for one in self.made if one.divergence.what == divergence.what)
        return told - frozenset[str]().union(*(kinds for kinds in known if kinds <= told))

    def alike(self, divergence: Divergence) -> frozenset[str]:
        """The mutants that show the same, or what is not shown beside it; none where there is no time to ask."""
        return frozenset() if self.over() else self.lookalikes.of(divergence, self._beside(divergence))

    def _beside(self, divergence: Divergence) -> frozenset[str]:
        """What stands in a divergence and is a known defect's alone: the rest may look like one fault."""
        smaller = (one.divergence for one in self.made if one.divergence.what == divergence.what)
        return frozenset[str]().union(*(one.kinds for one in smaller if one.kinds < divergence.kinds))

    def recognised(self, one: Defect) -> int | None:
        """The place of the known defect that all of a divergence is plainly one with, however long its run is."""
        return next((place for place, known in enumerate(self.made) if self._plainly_one(known, one)), None)

    def one_defect(self, known: Defect, new: Defect) -> bool:
        """Whether two shrunk defects are one: both waver, the same mutants look like both, or their kinds agree.

        What shows in actions of two kinds is one defect only if just the same differs.
        """
        one, other = known.divergence, new.divergence
        if one.what != other.what:
            return False
        if one.what in WAVERS:
            return True
        if known.alike and new.alike:
            return nested(known.alike, new.alike)
        if self._plainly_one(known, new):
            return True
        if one.what == "differs" and (
            same_reason(one, other) or any(one_reason(form, other.kinds) for form in known.forms)
        ):
            return True
        kinds = self._own(one), self._own(other)
        if kinds != (one.kinds, other.kinds) and nested(*kinds) and not all(map(self.everywhere.issuperset, kinds)):
            return True  # a claim may object to what shows in most runs
        within = kinds[0] == kinds[1] or (one.taken == other.taken and nested(*kinds))
        claimed = one.subject not in SENTENCES and touch(*kinds)
        return one.subject == other.subject and (within or claimed)

    def _plainly_one(self, known: Defect, new: Defect) -> bool:
        """Whether all that two runs show is one fault's, by mutants or words."""
        one, other = known.divergence, new.divergence
        if one.what != "differs" or other.what != "differs":
            return False
        if known.alike and new.alike:
            return nested(known.alike, new.alike)
        kinds = self._own(one), self._own(other)
        if kinds != (one.kinds, other.kinds) and not nested(*kinds):
            return False  # what shows beside a fault of most runs is another
        alike = too_much(one, other) or lacking(one, other)
        return alike or same_told(one, other, words_of(self.coder.system.types))


def same_reason(one: Divergence, other: Divergence) -> bool:
    """Return whether two divergences show one reason, and the same claims object to both: others would tell them apart.

    Whatever claims object, what just the same reason does not prevent is one.
    """
    return one_reason(one.kinds, other.kinds, same=_objecting(one) != _objecting(other))


def same_told(one: Divergence, other: Divergence, words: frozenset[str]) -> bool:
    """Return whether two divergences differ alike in `words` of the protocol, and a claim objects to both, or none."""
    claims = _objecting(one), _objecting(other)
    return (claims[0] == claims[1] or bool(claims[0] & claims[1])) and same_words(one.kinds, other.kinds, words)


def _objecting(one: Divergence) -> set[str]:
    return {violation.claim.name for violation in one.violations}


def lacking(one: Divergence, other: Divergence) -> bool:
    """Return whether entries of one list are missing in both, and nothing else differs, whatever they would say.

    What is decided otherwise differs in other places too; these entries were lost, or hidden.
    """
    lost = all(map(_is_lost, one.kinds | other.kinds))
    lists = places(one.kinds)
    return lost and lists == places(other.kinds) and len(lists) == 1 and all(place.endswith("[]") for place in lists)


def too_much(one: Divergence, other: Divergence) -> bool:
    """Return whether just the same is too much in both; what is missing beside it depends on what was asked.

    A kernel that refuses whatever comes lacks now an effect, now a line of the log.  Where nothing else differs in one
    of the two, it is what leads to the rest in the other: a claim that is not over, and what is decided by it.
    """
    sides = [{kind for kind in found.kinds if not kind.startswith("facts.")} for found in (one, other)]
    more = [{kind for kind in kinds if parted(kind).expected == "nothing"} for kinds in sides]
    rests = [kinds - some for kinds, some in zip(sides, more, strict=True)]
    lacks = all(_is_lost(kind) for rest in rests for kind in rest)
    return bool(more[0]) and more[0] == more[1] and (lacks or not all(rests))


def _is_lost(kind: str) -> bool:
    return parted(kind).got == "nothing"
