"""Say whether divergences of one system are one defect: by mutants, by words and by claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import (
    nested,
    one_reason,
    same_side,
    touch,
    worded,
    words_of,
)
from evenhand.conform.checking.divergence import Divergence
from evenhand.conform.checking.duties import SENTENCES
from evenhand.conform.checking.lookalikes import Lookalikes
from evenhand.conform.checking.ordering import Defect
from evenhand.conform.checking.sameness import lacking, one_cause, other_reason, overlooked, too_much

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
        if one.what in ("non-deterministic", "remembers"):
            return True
        if known.alike and new.alike:
            return nested(known.alike, new.alike)
        if self._plainly_one(known, new):
            return True
        if one.what == "differs" and (
            overlooked(one, other) or any(one_reason(form, other.kinds) for form in known.forms)
        ):
            return True
        kinds = self._own(one), self._own(other)
        if kinds != (one.kinds, other.kinds) and nested(*kinds) and not all(map(self.everywhere.issuperset, kinds)):
            return True  # a claim may object to what shows in most runs
        within = kinds[0] == kinds[1] or (one.taken == other.taken and nested(*kinds))
        claimed = one.subject not in SENTENCES and touch(*kinds) and not other_reason(*kinds)
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
        return alike or one_cause(one, other, words_of(self.coder.system.types))
