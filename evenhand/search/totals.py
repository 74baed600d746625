"""The numbers that a search gives, added up over configurations, within a process or as JSON between several.

The table of a `DeterminedBy` claim across configurations holds values of the model, so a total with one has no JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
        return {
            "states": _written(self.states),
            "transitions": _written(self.transitions),
            "edges": _written(self.edges),
            "depth": int(self.depth),
            "open": bool(self.open),
            "outside": _written(self.outside),
            "tallies": [_tally(tally) for tally in self.tallies],
        }

    @staticmethod
    def from_json(made: Mapping[str, Any]) -> Result:
        """Return the result that `to_json` wrote.  Raises KeyError, TypeError or ValueError for anything else."""
        return Result(
            states=int(made["states"]),
            transitions=int(made["transitions"]),
            edges=int(made["edges"]),
            depth=made["depth"],
            open=made["open"],
            tallies=tuple(map(_read_tally, made["tallies"])),
            outside=int(made.get("outside", 0)),
        )


def nothing(claims: int) -> Result:
    """Return the result of no configuration."""
    return Result(0, 0, 0, 0, False, (Tally(),) * claims)


def _written(number: int) -> str:
    """A number as text, whatever its integer type: JSON readers disagree about large ones."""
    return str(int(number))


def _tally(tally: Tally) -> dict[str, Json]:
    if tally.table:
        raise ValueError("a table of values that were compared across configurations has no JSON")
    return {
        "configs": _written(tally.configs),
        "total": _written(tally.total),
        "met": _written(tally.met),
        "violations": _written(tally.violations),
        "finding": None if tally.finding is None else _finding(tally.finding),
        "doubts": list(tally.doubts),
        "more": {name: _written(count) for name, count in tally.more.items()},
    }


def _read_tally(made: Mapping[str, Any]) -> Tally:
    return Tally(
        configs=int(made["configs"]),
        total=int(made["total"]),
        met=int(made["met"]),
        violations=int(made["violations"]),
        finding=None if made["finding"] is None else _read_finding(made["finding"]),
        doubts=tuple(made["doubts"]),
        more={name: int(count) for name, count in made["more"].items()},
    )


def _finding(finding: Witness) -> dict[str, Json]:
    return {
        "config": int(finding.config),
        "start": int(finding.start),
        "path": [_written(number) for number in finding.path],
        "loop": [_written(number) for number in finding.loop],
        "places": [[_written(number) for number in place] for place in finding.places],
    }


def _read_finding(made: Mapping[str, Any]) -> Witness:
    def numbers(name: str) -> Sequence[int]:
        return tuple(map(int, made[name]))

    return Witness(
        config=int(made["config"]),
        start=int(made["start"]),
        path=tuple(numbers("path")),
        loop=tuple(numbers("loop")),
        places=tuple(StepNumber(*map(int, place)) for place in made["places"]),
    )
