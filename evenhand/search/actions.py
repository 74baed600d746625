"""How often each action was on offer in a search, how often it changed the state, and how often it found a new one.

Counted by label, since actions may carry values without end: a text is its own label, a tuple that begins with a text
has that one, a member of an enumeration its name, anything else its class.  The actions of a declared `menu` are
counted one by one as well, so that one which never happens can be named.  A search is shown every step anyway where a
claim looks at steps; this watcher is one more of those, and is there only when asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, cast

from evenhand.core.system import Step
from evenhand.search.graph import Watcher
from evenhand.search.witness import AnySystem

__all__ = [
    "LABELS",
    "MENU",
    "NOTHING",
    "OTHERS",
    "ActionCounts",
    "ActionsWatch",
    "Count",
    "Counted",
    "label_of",
    "numbered_menu",
]

LABELS = 200
"""Labels that are told apart in one configuration; the steps of further ones are counted together."""

MENU = 2_000
"""Actions of a menu that are counted one by one; those of a longer one are not."""

OTHERS = "…"
"""What stands for the labels beyond `LABELS`."""


class Count(NamedTuple):
    """Steps: all that were on offer, those that changed the state, those that led to a state not met before."""

    offered: int = 0
    changed: int = 0
    new: int = 0

    def plus(self, later: Count, weight: int = 1) -> Count:
        """Both together; `later` counts so many times."""
        return Count(*(one + weight * other for one, other in zip(self, later, strict=True)))


Tallied = Mapping[Any, Count]


@dataclass(frozen=True)
class Counted:
    """What was counted in some configurations: by label, and by the number of an action of the menu.

    `configs` is how many they were, so that nobody takes some for all.
    """

    configs: int = 0
    labels: Mapping[str, Count] = field(default_factory=dict[str, Count])
    menu: Mapping[int, Count] = field(default_factory=dict[int, Count])

    def plus(self, later: Counted, weight: int = 1) -> Counted:
        """Both together; `later` stands for so many configurations alike."""
        return Counted(
            self.configs + weight * later.configs,
            _joined(self.labels, later.labels, weight),
            _joined(self.menu, later.menu, weight),
        )


NOTHING = Counted()
"""Where nothing was counted."""


def _joined(one: Tallied, other: Tallied, weight: int) -> dict[Any, Count]:
    made = dict(one)
    for key, count in other.items():
        made[key] = made.get(key, Count()).plus(count, weight)
    return made


@dataclass(frozen=True)
class ActionCounts:
    """What an exploration counted: by label, and of the menu the actions that were never on offer or changed nothing.

    `menu` is how many actions the menu has; None where none was declared, or one too long to be counted.
    """

    labels: Mapping[str, Count]
    menu: int | None = None
    never_taken: tuple[Any, ...] = ()
    never_changes: tuple[Any, ...] = ()

    @staticmethod
    def of(counted: Counted, menu: Mapping[Any, int] | None) -> ActionCounts:
        """The counts, with the actions of the menu that say something."""
        known = {action: counted.menu.get(number, Count()) for action, number in (menu or {}).items()}
        return ActionCounts(
            counted.labels,
            None if menu is None else len(menu),
            tuple(action for action, count in known.items() if not count.offered),
            tuple(action for action, count in known.items() if count.offered and not count.changed),
        )


def numbered_menu(system: AnySystem, configs: Iterable[Any]) -> dict[Any, int] | None:
    """Every action that the menus of these configurations declare, by number; None without a menu or for a long one."""
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
    """The name under which an action is counted.

    >>> label_of("go"), label_of(("go", 3)), label_of((3, "go"))
    ('go', 'go', 'tuple')
    """
    kind = cast("type[object]", type(action))
    if kind is tuple and action and isinstance(action[0], str):
        return action[0]
    if isinstance(action, Enum):
        return action.name
    return action if isinstance(action, str) else kind.__name__


class ActionsWatch(Watcher):
    """Counts the steps of one configuration."""

    name = "the count of actions"

    def __init__(self, menu: Mapping[Any, int] | None) -> None:
        self.menu = menu or {}
        self.known = 0
        self.labels: dict[str, list[int]] = {}
        self.numbers: dict[int, list[int]] = {}

    def arrive(self, sid: int, _state: Any, /) -> None:
        """The states of a level arrive before any of them is expanded, the initial ones first."""
        self.known = max(self.known, sid + 1)

    def look(self, step: Step[Any, Any, Any, Any], weight: int, _action: int, there: int, /) -> None:
        """Count one step; states are numbered as they are found, so a new one has a number beyond all before."""
        action = step.action
        label = label_of(action)
        if label not in self.labels and len(self.labels) >= LABELS:
            label = OTHERS
        counts = [self.labels.setdefault(label, [0, 0, 0])]
        if self.menu and (number := self.menu.get(action)) is not None:
            counts.append(self.numbers.setdefault(number, [0, 0, 0]))
        changed = weight if step.after != step.before else 0
        new = there >= self.known
        if new:
            self.known = there + 1
        for count in counts:
            count[0] += weight
            count[1] += changed
            count[2] += new

    def counted(self) -> Counted:
        """What it came to in this configuration."""
        return Counted(
            1,
            {label: Count(*count) for label, count in self.labels.items()},
            {number: Count(*count) for number, count in self.numbers.items()},
        )
