"""The table of an attack: for each kind what was tried, what survived, and under which seed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.attack.running import Arena

KEPT = 10
"""Faults of a row that are told; the others are counted."""


@dataclass
class Row:
    """What was tried of one kind, and the faults found."""

    part: str
    kind: str
    seed: int
    tried: int = 0
    faulty: int = 0
    faults: list[str] = field(default_factory=list[str])
    seconds: float = 0.0
    left_out: str = ""

    @property
    def survived(self) -> int:
        """Trials without a fault."""
        return self.tried - self.faulty

    def count(self, what: str, faults: Iterable[str], trials: int = 1) -> None:
        """Count trials, and the faults that they showed."""
        found = list(faults)
        self.tried += trials
        self.faulty += bool(found)
        if found and len(self.faults) < KEPT:
            self.faults.append(f"{'; '.join(found)} -- {what}")

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON."""
        return {
            "part": self.part, "kind": self.kind, "seed": self.seed, "tried": self.tried, "survived": self.survived,
            "faults": self.faults, "seconds": round(self.seconds, 1), "left_out": self.left_out,
        }  # fmt: skip


@dataclass(frozen=True)
class Attack:
    """One kind of attack: `whole` trials in the whole run, `few` in the default tests.

    `make` does so many trials and counts each in the row.  `lacks` says why it cannot run here; empty: it can.
    """

    part: str
    kind: str
    whole: int
    few: int
    make: Callable[[Arena, Row, Random, int], None]
    lacks: Callable[[], str] = lambda: ""

    def run(self, arena: Arena, seed: int, trials: int) -> Row:
        """Do so many trials."""
        row = Row(self.part, self.kind, seed, left_out=self.lacks())
        began = time.monotonic()
        if not row.left_out and trials:
            self.make(arena, row, Random(f"{self.part} {self.kind} {seed}"), trials)
        row.seconds = time.monotonic() - began
        return row


def printed(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a Markdown table, then the faults."""
    yield "| part | kind | seed | tried | survived | seconds |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        tried = row.left_out or f"{row.tried:,}"
        yield f"| {row.part} | {row.kind} | {row.seed} | {tried} | {row.survived:,} | {row.seconds:.0f} |"
    yield f"| all | | | {sum(row.tried for row in rows):,} | {sum(row.survived for row in rows):,} | |"
    for row in rows:
        yield from (f"FAULT {row.part} {row.kind} (seed {row.seed}): {fault}" for fault in row.faults)
