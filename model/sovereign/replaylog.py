"""The log of a session, and its replay to the same decisions, bit by bit (4 INV-4, 8.D).

One canonical JSON line for each cycle: observations, proposals, the decision, the lines owed to the logs.  Each line
names the digest of the line before it.  Replay uses only the lines and the constitution whose hash they name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from evenhand.core.canonical import Json, canonical_text, digest, parse
from evenhand.core.codec import decode, encode
from evenhand.core.records import dataclass
from evenhand.model.sovereign.constitution import constitution_hash
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.state import TYPES, Config, Cycle, State
from evenhand.model.sovereign.step import REFERENCE, SovereignStep, initial, session_step


class Diverged(ValueError):
    """A log that does not replay; the message says at which line and in what."""


@dataclass(frozen=True)
class Replayed:
    """The result of replay: cycles, the final state, the digest of everything shown."""

    cycles: int
    final: State
    digest: str


def log_lines(config: Config, steps: Iterable[SovereignStep]) -> Iterator[str]:
    """Yield the log of a session: a head, then one line for each cycle."""
    head: Json = {"format": "evenhand/sovereign-log", "version": 1, "config": encode(config)}
    head["constitution"] = constitution_hash(config.constitution)
    last = digest(head)
    yield canonical_text(head)
    for step in steps:
        line: Json = {"after": last, "cycle": encode(step.action), "shown": encode(step.shown)}
        last = digest(line)
        yield canonical_text(line)


def replay_log(lines: Iterable[str], *, rules: Rules = REFERENCE) -> Replayed:
    """Decide every cycle anew from the log alone.

    Raises Diverged where a line is no line of such a log, is not chained to the one before it, or shows something else
    than what is decided now.
    """
    many = iter(lines)
    head = _read(next(many, ""), 1)
    if head.get("format") != "evenhand/sovereign-log" or head.get("version") != 1:
        raise Diverged("line 1: this is no sovereign log of version 1")
    config: Config = _value(head.get("config"), 1)
    if not isinstance(config, Config) or head.get("constitution") != constitution_hash(config.constitution):
        raise Diverged("line 1: the constitution is not the one whose hash is named")
    last = digest(head)
    (state,) = initial(config)
    shown_so_far: list[Json] = []
    for number, text in enumerate(many, start=2):
        line = _read(text, number)
        if line.get("after") != last:
            raise Diverged(f"line {number}: does not follow the line before it; lines are missing or changed")
        action = _value(line.get("cycle"), number)
        if not isinstance(action, Cycle):
            raise Diverged(f"line {number}: holds no cycle")
        state, shown = session_step(rules, config, state, action)
        if encode(shown) != line.get("shown"):
            raise Diverged(f"line {number}: what is decided now is not what was logged")
        shown_so_far.append(line["shown"])
        last = digest(line)
    return Replayed(len(shown_so_far), state, last)


def _read(text: str, number: int) -> dict[str, Any]:
    try:
        value = parse(text)
    except ValueError as error:
        raise Diverged(f"line {number}: no JSON: {error}") from error
    if not isinstance(value, dict):
        raise Diverged(f"line {number}: no JSON object")
    told: dict[str, Any] = cast(Any, value)
    return told


def _value(data: Json, number: int) -> Any:
    try:
        return decode(data, *TYPES)
    except (ValueError, TypeError) as error:
        raise Diverged(f"line {number}: {error}") from error
