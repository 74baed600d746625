"""The systems of `docs/examples/systems`, found in their folder, with the counts that their docstrings publish."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import evenhand
from evenhand.core.loading import module_at
from evenhand.core.property import Property
from tests.known.known import Known

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "systems"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.py"))}
SYSTEMS: dict[str, Any] = {name: module_at(path) for name, path in FILES.items()}
"""The module of each file, by its name."""


def published(name: str) -> tuple[int | None, int | None]:
    """Return the published numbers of distinct and of generated states; None where none is at hand."""
    found = re.search(r"^Published: ([\d,]+) distinct(?: and ([\d,]+) generated)? states", SYSTEMS[name].__doc__, re.M)
    distinct, generated = found.groups() if found else (None, None)
    return _number(distinct), _number(generated)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text.replace(",", ""))


def systems_of(name: str) -> list[evenhand.System[Any, Any, Any, Any, Any]]:
    """Return the systems of a file: the one of its name, then its faulty or mended twin."""
    globals_: dict[str, Any] = SYSTEMS[name].__dict__
    there: list[Any] = [value for value in globals_.values() if isinstance(value, evenhand.System)]
    return sorted(there, key=lambda system: system.name != name)


def claims_of(name: str) -> list[Property]:
    """Return the claims of a file."""
    globals_: dict[str, Any] = SYSTEMS[name].__dict__
    return [value for value in globals_.values() if isinstance(value, Property)]


STEPS = {
    "transaction_commit": {"all_commit": 2 * 3},  # each prepares, and commits
    "two_phase": {"all_commit": 3 * 3 + 1},  # each prepares, is heard and obeys; the manager commits once
    "die_hard": {"never_four": 6},  # published
    "ewd840": {"detects": 3},  # the probe starts, and each of the two others passes the token
    "chang_roberts": {"elects": 6},  # all begin, and the one candidate's number is taken three times
    "paxos": {"can_choose": 6},  # 1a; two answer; 2a; two vote
    "readers_writers": {"together": 2 * 3},  # each asks, and enters
}
"""Lengths of shortest runs, published or worked out by hand."""


def known(name: str) -> Known:
    """Return the record of a system with a published count."""
    distinct, _ = published(name)
    assert distinct is not None
    system, steps = systems_of(name)[0], STEPS.get(name, {})
    if name == "lamport_mutex":
        system = SYSTEMS[name].mutex(name, 3, 6)
    lengths = [(claim, steps.get(claim.name)) for claim in claims_of(name)]
    true = tuple(claim for claim, length in lengths if length is None)
    shown = [(claim, length) for claim, length in lengths if length is not None]
    return Known(
        system,
        distinct,
        true,
        reached=tuple(pair for pair in shown if pair[0].existential),
        false=tuple(pair for pair in shown if not pair[0].existential),
    )
