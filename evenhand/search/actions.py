"""Count how often each action was on offer in a search, changed the state, and found a new state.

Actions may carry unboundedly many values, so they are counted by label: a text is its own label, a tuple that begins
with a text has that one, a member of an enumeration its name, anything else its class.  The watcher runs only on
request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, cast

from evenhand.core.trace import AnyScenario
from evenhand.search.graph import Watcher
from evenhand.search.walk import Paths
from evenhand.search.witness import Witness, shorter

LABELS = 200
"""Labels kept apart in one configuration; steps with further labels are counted together."""

OTHERS = "…"
"""The label of steps beyond `LABELS` labels."""


class Count(NamedTuple):
    """Numbers of steps: on offer, that changed the state, that led to a new state."""

    offered: int = 0
    changed: int = 0
    new: int = 0

    def plus(self, later: Count, weight: int = 1) -> Count:
        """Return the sum, with `later` counted `weight` times."""
        return Count(*(one + weight * other for one, other in zip(self, later, strict=True)))


@dataclass(frozen=True)
class Counted:
    """The counts of some configurations, by label.

    `configs` is how many there are, to detect configurations that were not counted; `end` is a shortest run to a state
    that offers no action.
    """

    configs: int = 0
    labels: Mapping[str, Count] = field(default_factory=dict[str, Count])
    end: Witness | None = None

    def plus(self, later: Counted, weight: int = 1) -> Counted:
        """Return the sum, with `later` standing for `weight` configurations."""
        made = dict(self.labels)
        for label, count in later.labels.items():
            made[label] = made.get(label, Count()).plus(count, weight)
        return Counted(self.configs + weight * later.configs, made, shorter(self.end, later.end))


NOTHING = Counted()
"""The counts of no configuration."""


@dataclass(frozen=True)
class ActionCounts:
    """The counts of an exploration by label; `end` is a shortest run to a state that offers no action."""

    labels: Mapping[str, Count]
    end: AnyScenario | None = None


def label_of(action: Any) -> str:
    """Return the label under which an action is counted.

    >>> label_of("go"), label_of(("go", 3)), label_of((3, "go")), label_of((3, 4))
    ('go', 'go', 'go', 'tuple')
    """
    kind = cast("type[object]", type(action))
    if kind is tuple and (texts := [part for part in action if isinstance(part, str)]):
        return texts[0]
    if isinstance(action, Enum):
        return action.name
    return action if isinstance(action, str) else kind.__name__


class ActionsWatch(Watcher):
    """A watcher that counts the steps of one configuration."""

    name = "the count of actions"

    def __init__(self) -> None:
        self.known = 0
        self.end: int | None = None  # the first state that offers no action
        self.labels: dict[str, list[int]] = {}

    def arrive(self, sid: int, _state: Any, /) -> None:
        """Note a known state; a level arrives before any of its states is expanded, initial states first."""
        self.known = max(self.known, sid + 1)

    def note(self, sid: int, steps: Sequence[tuple[Any, int, bool]], /) -> None:
        """Count some steps; a new state has a number beyond all before: states are numbered as found."""
        if not steps and self.end is None:
            self.end = sid
        for action, there, changed in steps:
            kind = type(action)
            label = action if kind is str else action[0] if kind is tuple and action else None
            count = self.labels.get(label) if type(label) is str else None
            if count is None:
                label = label_of(action)
                label = label if label in self.labels or len(self.labels) < LABELS else OTHERS
                count = self.labels.setdefault(label, [0, 0, 0])
            new = there >= self.known
            if new:
                self.known = there + 1
            count[0] += 1
            count[1] += changed
            count[2] += new

    def counted(self, walk: Paths) -> Counted:
        """Return the counts of this configuration."""
        labels = {label: Count(*count) for label, count in self.labels.items()}
        return Counted(1, labels, None if self.end is None else walk.finding(self.end))
