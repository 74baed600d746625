"""Proposal texts, their tokens, and the share of tokens that a revision changes (14.1)."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from evenhand.core.records import dataclass


@dataclass(frozen=True, order=True, slots=True)
class Text:
    """The mandatory fields of a proposal (8.1); None: not supplied.  An empty text counts as supplied.

    `more` holds optional fields (8.2) as (name, text); they are recorded and no rule reads them.
    """

    title: str | None = ""
    action: str | None = ""
    rationale: str | None = ""
    more: tuple[tuple[str, str], ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The mandatory fields that are not supplied."""
        fields = (("title", self.title), ("action", self.action), ("rationale", self.rationale))
        return tuple(name for name, value in fields if value is None)


def tokens(text: Text) -> tuple[str, ...]:
    """Return title, action and rationale, split at white space."""
    return tuple(token for part in (text.title, text.action, text.rationale) for token in (part or "").split())


@lru_cache(maxsize=4_096)
def common(old: tuple[str, ...], new: tuple[str, ...]) -> int:
    """The length of a longest common subsequence of two token lists, in O(len(old) * len(new)) time."""
    row = [0] * (len(new) + 1)
    for token in old:
        before = row
        row = [0]
        for place, other in enumerate(new):
            row.append(before[place] + 1 if token == other else max(before[place + 1], row[place]))
    return row[-1]


def ratio(changed: int, old: tuple[str, ...], new: tuple[str, ...]) -> Fraction:
    """Return changed / max(len(old), len(new)); 0 for two empty texts."""
    longest = max(len(old), len(new))
    return Fraction(changed, longest) if longest else Fraction(0)
