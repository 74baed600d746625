"""Actions that a kernel cannot take, and what they have in common: others of the same sort need not be tried.

Each refused action costs a run.  A value that stood in many refused actions and in none that was taken is taken for the
reason: actions with it are left out, but for a few, as chance may have put it beside the reason.  So it is with what a
kernel should have shown where it took long and answered wrongly, each of which costs as much as a hundred others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, cast

from evenhand.conform.checking.spelling import places
from evenhand.core.atoms import Atom

ENOUGH = 12
"""Refused actions with one value, and with no other known reason, after which it is taken for the reason."""

SURE = 36
"""As many, where another value stood in as many."""

SOON = 4
"""Slow answers, and at least as many as quick ones, after which a value in what was due is taken for the reason."""

SPARED = 16
"""One in so many actions that would be left out is tried nevertheless, for each reason."""

Mark: TypeAlias = tuple[str, str, Any]
"""A value at a place: the fields on the way to it, its class, and the value, or the length of a list."""


@lru_cache(maxsize=8_192)
def marks(action: Any) -> tuple[Mark, ...]:
    """Return the plain values in an action, and how long its lists are, in a fixed order."""
    found = set[Mark]()
    for place in places(action, type(action), lambda new: new):
        value = place.value
        if isinstance(value, tuple | frozenset):
            found.add((place.path, "length", len(cast("Sized", value))))
        elif value is None or isinstance(value, str | int | Enum | Atom):
            found.add((place.path, type(value).__name__, value))
    return tuple(sorted(found, key=repr))


@dataclass
class Refusals:
    """Pairs of configuration and action that the kernel refused, and values that all actions it took lack."""

    exact: set[tuple[Any, Any]] = field(default_factory=set[tuple[Any, Any]])
    reasons: dict[Mark, int] = field(default_factory=dict[Mark, int])
    _took: dict[Any, set[Any]] = field(default_factory=dict[Any, set[Any]])
    _taken: set[Mark] = field(default_factory=set[Mark])
    _seen: set[Any] = field(default_factory=set[Any])
    _open: list[frozenset[Mark]] = field(default_factory=list[frozenset[Mark]])
    _judged: dict[Any, tuple[Mark, bool]] = field(default_factory=dict[Any, tuple[Mark, bool]])

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return bool(self.exact or self.reasons)

    def __contains__(self, pair: object) -> bool:
        """Whether an action is left out in a configuration."""
        if pair in self.exact:
            return True
        if not self.reasons or not isinstance(pair, tuple):
            return False
        action = cast("tuple[Any, Any]", pair)[1]
        if action in self._seen:
            return False
        if action not in self._judged:
            reason = next((one for one in marks(action) if one in self.reasons), None)
            if reason is None:
                return False
            self.reasons[reason] += 1
            self._judged[action] = reason, self.reasons[reason] % SPARED != 0
        reason, out = self._judged[action]
        return out and reason in self.reasons

    def take(self, config: Any, actions: Iterable[Any]) -> None:
        """The kernel took actions: nothing in them is a reason."""
        known = self._took.setdefault(config, set())
        for action in set(actions) - known:
            known.add(action)
            self.exact.discard((config, action))
            if action not in self._seen:
                self._seen.add(action)
                new = frozenset(marks(action)) - self._taken
                self._taken |= new
                self._open = [one - new for one in self._open]
                for mark in new:
                    self.reasons.pop(mark, None)

    def refuse(self, config: Any, action: Any) -> None:
        """The kernel refused an action; one that it took elsewhere in this configuration tells nothing."""
        if (config, action) in self.exact or action in self._took.get(config, ()):
            return
        self.exact.add((config, action))
        left = frozenset(marks(action)) - self._taken
        if not left or any(mark in self.reasons for mark in left):
            return
        self._open.append(left)
        counts = Counter(mark for one in self._open for mark in sorted(one, key=repr)).most_common(2)
        often = [count for _, count in counts]
        if often[0] >= ENOUGH and (often[0] > often[-1] or len(often) == 1 or often[0] >= SURE):
            reason = counts[0][0]
            self.reasons[reason] = 0
            self._open = [one for one in self._open if reason not in one]


@dataclass
class Slowness:
    """Values in what was due where a kernel took long and answered wrongly, and in what it was quick to answer."""

    slow: list[frozenset[Mark]] = field(default_factory=list[frozenset[Mark]])
    quick: Counter[Mark] = field(default_factory=Counter[Mark])
    reasons: frozenset[Mark] = frozenset()
    _seen: set[Any] = field(default_factory=set[Any])
    _judged: dict[Any, bool] = field(default_factory=dict[Any, bool])

    def __bool__(self) -> bool:
        """Whether anything was slow."""
        return bool(self.slow)

    def __contains__(self, due: object) -> bool:
        """Whether an observation is rather not asked for; one in `SPARED` is."""
        if due in self._seen or self.reasons.isdisjoint(marks(due)):
            return False
        return self._judged.setdefault(due, (len(self._judged) + 1) % SPARED != 0)

    def answered(self, due: Any) -> None:
        """The answer was quick."""
        if due not in self._seen:
            self._seen.add(due)
            self.quick.update(marks(due))
            if not self.reasons.isdisjoint(marks(due)):
                self.reasons = frozenset(self._reasons())

    def waited(self, due: Any) -> bool:
        """The answer was slow; return whether that tells a reason."""
        self._judged[due] = True
        self.slow.append(frozenset(marks(due)))
        before, self.reasons = self.reasons, frozenset(self._reasons())
        return not self.reasons <= before

    def _reasons(self) -> Iterator[Mark]:
        """The value with which most answers are slow, that of the slow ones without it, and so on."""
        left = self.slow
        while counts := Counter(mark for one in left for mark in sorted(one, key=repr)):
            able = [mark for mark, slow in counts.items() if slow >= max(SOON, self.quick[mark])]
            if not able:
                return
            best = max(able, key=lambda mark: (Fraction(counts[mark], counts[mark] + self.quick[mark]), counts[mark]))
            yield best
            left = [one for one in left if best not in one]
