"""Guide the machine: of several drawn actions, take the one whose step was seen least.

The generator draws the same actions, and every run is a run of the system from an initial state: guiding only chooses
among drawn actions.  To compare them, each is tried on the model, which is pure; a step that is only tried is not part
of the run, and no claim or event counts it.  Seen are the transitions taken before in this fuzzing, and changes of
class, where the class of a step is the set of the generator's events that it shows.  Some examples stay unguided,
because always taking the rarest action avoids states behind several common steps.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from evenhand.core.generator import Event
from evenhand.core.property import AnyStep

__all__ = ["CANDIDATES", "GUIDED", "Guide"]

CANDIDATES = 4
"""Actions drawn for each step of a guided example."""

GUIDED = 4
"""One of so many examples stays unguided."""


@dataclass
class Guide:
    """Counts of transitions and changes of class taken; `looked` counts the steps that were only tried."""

    events: Sequence[Event] = ()
    transitions: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    changes: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    looked: int = 0

    def rarity(self, before: Hashable, step: AnyStep) -> tuple[int, ...]:
        """Return a key that is least for the rarest step after one of class `before`.

        A transition never taken comes first; then the rarest change of class, then the rarest transition.  In a large
        space nearly every transition is new and the class decides, in a small one the transition.
        """
        taken = self.transitions.get(_transition(step), 0)
        return min(taken, 1), self.changes.get((before, self.class_of(step)), 0), taken

    def took(self, before: Hashable, step: AnyStep) -> Hashable:
        """Count a step taken after one of class `before`; return its own class."""
        now, transition = self.class_of(step), _transition(step)
        self.transitions[transition] = self.transitions.get(transition, 0) + 1
        self.changes[before, now] = self.changes.get((before, now), 0) + 1
        return now

    def class_of(self, step: AnyStep) -> Hashable:
        """Return which events a step shows."""
        return tuple(bool(event.seen(step)) for event in self.events)


def _transition(step: AnyStep) -> Hashable:
    return step.config, step.before, step.after
