"""Order divergences before they are reduced to defects: simple ones first, those that are wrong in many ways as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.conform.checking.kinds import parted, shown_side

if TYPE_CHECKING:
    from evenhand.conform.checking.divergence import Divergence

MANY_WAYS = 4
"""Ways in which one field is wrong, from which on they are one defect."""

NOTHING = "null"
"""What stands in a field where nothing is to tell, as no reason; an empty text may stand beside another reason."""


@dataclass(frozen=True)
class Defect:
    """One distinct defect: its smallest divergence, how many runs showed it, and all claims that they violate.

    `alike` names the registered mutants that show the same in its run, `forms` the kinds of the other runs that were
    found to be one with it.
    """

    divergence: Divergence
    count: int
    claims: frozenset[str] = frozenset()
    alike: frozenset[str] = frozenset()
    forms: frozenset[frozenset[str]] = frozenset()


def places(kinds: frozenset[str]) -> frozenset[str]:
    """Return the places of which kinds tell."""
    return frozenset(parted(kind).place for kind in kinds)


def ever_present(found: Iterable[Defect], runs: float) -> frozenset[str]:
    """Return the kinds that show in at least `runs` runs.

    In so many runs the kernel shows the same words in one place, or nothing there, whatever it should show.
    """
    found, seen = tuple(found), Counter[str]()
    for one in found:
        seen.update(dict.fromkeys(map(shown_side, one.divergence.kinds), one.count))
    kinds = frozenset[str]().union(*(one.divergence.kinds for one in found))
    return frozenset(kind for kind in kinds if seen[shown_side(kind)] >= runs)


def simple(one: Defect) -> tuple[object, ...]:
    """The order in which divergences are reduced: few kinds first, then those that violate a claim, then short ones."""
    divergence = one.divergence
    few = (len(divergence.kinds), divergence.what, not divergence.violations, divergence.length)
    return (*few, sorted(divergence.kinds), divergence.subject, divergence.shape)


def telling(one: Defect, *, within: bool) -> tuple[int, ...]:
    """The order in which runs tell of one defect: short ones first, then those that violate many claims.

    Unless one is `within` the other, little comes first: a run of two defects violates more claims, but shows both.
    """
    last = -len(one.divergence.sure), len(one.divergence.kinds)
    return one.divergence.length, *(last if within else last[::-1])


def broad(seen: Iterable[Defect]) -> Iterator[Defect]:
    """Yield the divergences; of those in which a field is wrong in many ways, one for each way of the other fields."""
    groups: dict[tuple[object, ...], list[Defect]] = {}
    for one in seen:
        fields = frozenset(map(_field, one.divergence.kinds))
        groups.setdefault((one.divergence.what, one.divergence.subject, fields), []).append(one)
    for group in groups.values():
        ways = Counter(map(_field, frozenset[str]().union(*(one.divergence.kinds for one in group))))
        forms: dict[frozenset[str], list[Defect]] = {}
        for one in group:
            kinds = {kind: _field(kind) for kind in one.divergence.kinds}
            form = frozenset(path if ways[path] >= MANY_WAYS else kind for kind, path in kinds.items())
            forms.setdefault(form, []).append(one)
        for form, some in forms.items():
            if form == some[0].divergence.kinds:
                yield from some
            else:
                claims = frozenset[str]().union(*(one.claims for one in some))
                yield replace(min(some, key=simple), count=sum(one.count for one in some), claims=claims)


def _field(kind: str) -> str:
    """The field of which a kind tells, and whether nothing should stand there; some are told by their words.

    These are entries too much or too few, and what is not there: each reason that a kernel overlooks is one of its own,
    while it may give any in place of none.
    """
    path, expected, got = parted(kind)
    if path.endswith("[]") or got == NOTHING:
        return kind
    return f"{path}: nothing" if expected == NOTHING else path
