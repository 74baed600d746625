"""Steering the machine: of several drawn actions, the one whose step was seen least is taken.

Nothing is drawn that the generator would not draw, and every run stays a run of the system from a start of its own:
what changes is only which of some drawn actions is taken.  So that it can be told which is rare, each is tried on the
model, which is pure; a step that is only looked at is no step of the run, no claim sees it and no event counts it.
What was seen is what was taken before, in this fuzzing: transitions, and changes of class, where the class of a step is
which of the generator's events it shows.  Some examples stay unguided, since always doing the rarest leads away from
what takes several common steps to reach.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from evenhand.core.generator import Event
from evenhand.core.property import AnyStep

__all__ = ["CANDIDATES", "GUIDED", "Guide"]

CANDIDATES = 4
"""Actions that are drawn where a guided example takes one."""

GUIDED = 4
"""Of so many examples, one stays unguided."""


@dataclass
class Guide:
    """How often each transition and each change of class was taken; `looked` counts the steps that were only tried."""

    events: Sequence[Event] = ()
    transitions: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    changes: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    looked: int = 0

    def rarity(self, before: Hashable, step: AnyStep) -> tuple[int, ...]:
        """What is least for the rarest step after one of class `before`.

        A transition never taken comes before all others; of several the rarest change of class, then the rarest
        transition.  In a large space nearly every transition is new and the class decides, in a small one the rest.
        """
        taken = self.transitions.get(_transition(step), 0)
        return min(taken, 1), self.changes.get((before, self.class_of(step)), 0), taken

    def took(self, before: Hashable, step: AnyStep) -> Hashable:
        """Count a step that was taken after one of class `before`; gives its own class."""
        now, transition = self.class_of(step), _transition(step)
        self.transitions[transition] = self.transitions.get(transition, 0) + 1
        self.changes[before, now] = self.changes.get((before, now), 0) + 1
        return now

    def class_of(self, step: AnyStep) -> Hashable:
        """Which events a step shows."""
        return tuple(bool(event.seen(step)) for event in self.events)


def _transition(step: AnyStep) -> Hashable:
    return step.config, step.before, step.after
