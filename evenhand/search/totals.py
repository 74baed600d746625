"""The numbers that a search gives, added up over configurations, within a process or as JSON between several.

The table of a `DeterminedBy` claim across configurations holds values of the model, so a total with one has no JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from evenhand.core.answers import Signal
from evenhand.core.canonical import Json
from evenhand.search.actions import NOTHING, Counted
from evenhand.search.witness import StepNumber, Tally, Witness


@dataclass(frozen=True)
class Result:
    """The result of the search of one configuration: numbers alone, so that processes can exchange it.

    `spilled` counts the states on disk, without the weights of orbits.  `counted` holds the counts by action, if
    requested, and `how` the methods that were used where they were chosen during the search, each with the reason; both
    are no part of the JSON.  `outside` states were checked, and a constraint let no run go on from them.
    """

    states: int
    transitions: int
    edges: int
    depth: int
    open: bool
    tallies: tuple[Tally, ...]
    spilled: int = 0
    counted: Counted = NOTHING
    how: tuple[tuple[str, str], ...] = ()
    outside: int = 0

    def times(self, weight: int) -> Result:
        """Return the result for an orbit of `weight` configurations."""
        if weight == 1:
            return self
        return replace(
            self,
            states=self.states * weight,
            transitions=self.transitions * weight,
            edges=self.edges * weight,
            tallies=tuple(tally.times(weight) for tally in self.tallies),
            counted=NOTHING.plus(self.counted, weight),
            outside=self.outside * weight,
        )

    def plus(self, later: Result) -> Result:
        """Return the sum with the result of other configurations."""
        return Result(
            self.states + later.states,
            self.transitions + later.transitions,
            self.edges + later.edges,
            max(self.depth, later.depth),
            self.open or later.open,
            tuple(one.plus(other) for one, other in zip(self.tallies, later.tallies, strict=True)),
            self.spilled + later.spilled,
            self.counted.plus(later.counted) if later.counted.configs else self.counted,
            tuple(dict.fromkeys((*self.how, *later.how))),
            self.outside + later.outside,
        )

    def to_json(self) -> dict[str, Json]:
        """Return this result as JSON for `from_json`.  Raises ValueError where a tally holds a table."""
        tallies: list[Json] = [_tally(tally) for tally in self.tallies]
        return {**_written(self, _SIZES), "open": bool(self.open), "tallies": tallies}

    @staticmethod
    def from_json(made: Mapping[str, Any]) -> Result:
        """Return the result that `to_json` wrote.  Raises KeyError, TypeError or ValueError for anything else."""
        return Result(**_read(made, _SIZES), open=made["open"], tallies=tuple(map(_read_tally, made["tallies"])))


def nothing(claims: int) -> Result:
    """Return the result of no configuration."""
    return Result(0, 0, 0, 0, False, (Tally(),) * claims)


_SIZES = ("states", "transitions", "edges", "depth", "outside")
_COUNTS = ("configs", "total", "met", "violations")


def _written(found: Any, names: Sequence[str]) -> dict[str, Json]:
    """Some numbers as text, whatever their integer type: JSON readers disagree about large ones."""
    return {name: str(int(getattr(found, name))) for name in names}


def _read(made: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: int(made[name]) for name in names}


def _tally(tally: Tally) -> dict[str, Json]:
    if tally.table:
        raise ValueError("a table of values that were compared across configurations has no JSON")
    found, finding = tally.finding, None
    if found is not None:
        rows = ((found.config, found.start), found.path, found.loop, *found.places)
        finding = [[str(int(number)) for number in row] for row in rows]
    more = {name: str(int(count)) for name, count in tally.more.items()}
    return {**_written(tally, _COUNTS), "doubts": [*tally.doubts], "more": {**more}, "finding": cast("Json", finding)}


def _read_tally(made: Mapping[str, Any]) -> Tally:
    finding = None
    if made["finding"] is not None:
        (config, start), path, loop, *places = (tuple(map(int, row)) for row in made["finding"])
        finding = Witness(config, start, path, loop, tuple(StepNumber(*place) for place in places))
    more = {name: int(count) for name, count in made["more"].items()}
    return Tally(**_read(made, _COUNTS), doubts=tuple(made["doubts"]), more=more, finding=finding)


class Finished(Signal):
    """A search from tables has ended, and this is its result; the claims `aside`, by number, are left to another."""

    def __init__(self, result: Result, aside: Mapping[int, str]) -> None:
        super().__init__()
        self.result, self.aside = result, aside
