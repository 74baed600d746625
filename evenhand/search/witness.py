"""The results of a search of one configuration: counts, and findings made of numbers alone.

A finding names its run by numbers (configuration, initial state, action among those on offer in each state), so it is
small, can be sent between processes, and cannot hold a run that the model lacks: `evidence` replays it through
`enabled` and `step`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Called at intervals with the states and steps so far."""


class LicenceMissing(ValueError):
    """A quotient was requested without a licence that covers this system, variant and quotient."""


class NotLearned(Exception):
    """The tables cannot be trusted, or do not pay, for this model; says why."""


class StepNumber(NamedTuple):
    """A step by numbers: configuration, state (in order of discovery), action (in order of `enabled`), depth."""

    config: int
    state: int
    action: int
    depth: int


@dataclass(frozen=True)
class Witness:
    """A run by numbers: from initial state `start` the actions `path`, then (a lasso) `loop` for ever.

    `places` are the two steps that a `DeterminedBy` claim compares; its path is empty.
    """

    config: int
    start: int
    path: tuple[int, ...]
    loop: tuple[int, ...] = ()
    places: tuple[StepNumber, ...] = ()

    @property
    def length(self) -> int:
        """The number of actions; for a pair of places those of both runs."""
        return len(self.path) + len(self.loop) + sum(place.depth + 1 for place in self.places)


def shorter(one: Witness | None, other: Witness | None) -> Witness | None:
    """Return the shorter finding; of equally long ones that of the earlier configuration, else `one`."""
    if one is None or other is None:
        return one or other
    return other if (other.length, other.config) < (one.length, one.config) else one


Seen: TypeAlias = tuple[tuple[Hashable, StepNumber], ...]
"""The values of a `DeterminedBy` claim under one key, in order of discovery, and where each was first seen."""


@dataclass(frozen=True)
class Tally:
    """The result of one claim in one configuration, or added up over many.

    `configs` counts the configurations it applies to; `total` the states, steps, pairs or histories checked, `met`
    those that the antecedent admits, `violations` those that violate it (for `Reachable`: that meet the goal).
    `doubts` are reasons why it cannot hold here although nothing violates it.  `table` serves `DeterminedBy`.
    """

    configs: int = 0
    total: int = 0
    met: int = 0
    violations: int = 0
    finding: Witness | None = None
    doubts: tuple[str, ...] = ()
    more: dict[str, int] = field(default_factory=dict[str, int])
    table: dict[Hashable, Seen] = field(default_factory=dict[Hashable, Seen])

    def times(self, weight: int) -> Tally:
        """Return the tally of an orbit of `weight` configurations."""
        return replace(
            self,
            configs=self.configs * weight,
            total=self.total * weight,
            met=self.met * weight,
            violations=self.violations * weight,
            more={name: count * weight for name, count in self.more.items()},
        )

    def plus(self, later: Tally) -> Tally:
        """Return the sum with a tally of later configurations.  May take over this tally's own table."""
        table = self.table or dict(later.table)
        if table is self.table:
            for key, seen in later.table.items():
                table[key] = _joined(table[key], seen) if key in table else seen
        names = dict.fromkeys((*self.more, *later.more))
        return Tally(
            configs=self.configs + later.configs,
            total=self.total + later.total,
            met=self.met + later.met,
            violations=self.violations + later.violations,
            finding=shorter(self.finding, later.finding),
            doubts=tuple(dict.fromkeys((*self.doubts, *later.doubts))),
            more={name: self.more.get(name, 0) + later.more.get(name, 0) for name in names},
            table=table,
        )


def _joined(seen: Seen, later: Seen) -> Seen:
    known = {value for value, _ in seen}
    return (*seen, *(entry for entry in later if entry[0] not in known))
