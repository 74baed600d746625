"""Count how often each action was on offer in a search, changed the state, and found a new state.

Actions may carry unboundedly many values, so they are counted by label: a text is its own label, a tuple that begins
with a text has that one, a member of an enumeration its name, anything else its class.  Actions of a declared `menu`
are also counted one by one, so that one which never happens can be named.  The watcher runs only on request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, cast

from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyScenario
from evenhand.search.graph import Watcher
from evenhand.search.walk import Paths
from evenhand.search.witness import Witness, shorter

LABELS = 200
"""Labels kept apart in one configuration; steps with further labels are counted together."""

MENU = 2_000
"""Actions up to which a menu is counted one by one."""

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


Tallied = Mapping[Any, Count]


@dataclass(frozen=True)
class Counted:
    """The counts of some configurations: by label, and by the number of an action on the menu.

    `configs` is how many there are, to detect configurations that were not counted; `end` is a shortest run to a state
    that offers no action.
    """

    configs: int = 0
    labels: Mapping[str, Count] = field(default_factory=dict[str, Count])
    menu: Mapping[int, Count] = field(default_factory=dict[int, Count])
    end: Witness | None = None

    def plus(self, later: Counted, weight: int = 1) -> Counted:
        """Return the sum, with `later` standing for `weight` configurations."""
        return Counted(
            self.configs + weight * later.configs,
            _joined(self.labels, later.labels, weight),
            _joined(self.menu, later.menu, weight),
            shorter(self.end, later.end),
        )


NOTHING = Counted()
"""The counts of no configuration."""


def _joined(one: Tallied, other: Tallied, weight: int) -> dict[Any, Count]:
    made = dict(one)
    for key, count in other.items():
        made[key] = made.get(key, Count()).plus(count, weight)
    return made


@dataclass(frozen=True)
class ActionCounts:
    """The counts of an exploration: by label, and the menu's actions that were never on offer or changed nothing.

    `menu` is its number of actions; None where none was declared, or one too long to be counted.  `end` is a shortest
    run to a state that offers no action.
    """

    labels: Mapping[str, Count]
    menu: int | None = None
    never_taken: tuple[Any, ...] = ()
    never_changes: tuple[Any, ...] = ()
    end: AnyScenario | None = None

    @staticmethod
    def of(counted: Counted, menu: Mapping[Any, int] | None, end: AnyScenario | None = None) -> ActionCounts:
        """Return the counts, and the actions of the menu that never occur or never change the state."""
        known = {action: counted.menu.get(number, Count()) for action, number in (menu or {}).items()}
        return ActionCounts(
            counted.labels,
            None if menu is None else len(menu),
            tuple(action for action, count in known.items() if not count.offered),
            tuple(action for action, count in known.items() if count.offered and not count.changed),
            end,
        )


def numbered_menu(system: AnySystem, configs: Iterable[Any]) -> dict[Any, int] | None:
    """Return every action on the menus of these configurations, by number; None without a menu or for a long one."""
    if system.menu is None:
        return None
    found: dict[Any, int] = {}
    for config in configs:
        for action in system.menu(config, system.scope):
            found.setdefault(action, len(found))
            if len(found) > MENU:
                return None
    return found


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

    def __init__(self, menu: Mapping[Any, int] | None) -> None:
        self.menu = menu or {}
        self.known = 0
        self.end: int | None = None  # the first state that offers no action
        self.labels: dict[str, list[int]] = {}
        self.numbers: dict[int, list[int]] = {}

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
            counts = [count]
            if self.menu and (number := self.menu.get(action)) is not None:
                counts.append(self.numbers.setdefault(number, [0, 0, 0]))
            for one in counts:
                one[0] += 1
                one[1] += changed
                one[2] += new

    def counted(self, walk: Paths) -> Counted:
        """Return the counts of this configuration."""
        return Counted(
            1,
            {label: Count(*count) for label, count in self.labels.items()},
            {number: Count(*count) for number, count in self.numbers.items()},
            None if self.end is None else walk.finding(self.end),
        )
