"""Read recorded runs of a production kernel: JSON Lines, the initial data first, then an event for each step.

    {"format": "evenhand/log", "version": 1, "protocol": "cud", "system": "run", "config": …, "start": …}
    {"action": …, "shown": …}

Values are encoded as on the wire.  A value may be left out: a key of an event, the configuration, a field of a record;
in an array `{"$unknown": true}` takes its place.  The other markers of `words` are allowed, too.  `schema/log.json` is
the published form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

from msgspec import Struct, field

from evenhand.conform.adapters.wire import UNKNOWN
from evenhand.core.canonical import Json, canonical_bytes, parse
from evenhand.core.files import Unreadable, content_of
from evenhand.evidence.schemas import Mistake, Name, Natural, shaped

FORMAT: Final = "evenhand/log"
VERSION: Final = 1
T = TypeVar("T", bound=Struct)

MAX_BYTES = 64 * 2**20
MAX_LINE = 8 * 2**20


class BadLog(ValueError):
    """A file that is no log; the message says which line, why, and what to do."""


def _missing() -> Json:
    return UNKNOWN


class LogHead(Struct, frozen=True, kw_only=True):
    """The first line: what was recorded; other keys are ignored, unless one is nearly one of these that is absent."""

    format: Literal["evenhand/log"] = FORMAT
    version: Literal[1] = VERSION
    protocol: Name
    system: Name
    scope: dict[str, Natural] = {}
    config: Json = field(default_factory=_missing)
    """The encoded configuration."""

    start: Json = field(default_factory=_missing)
    """The encoded initial state; by default those of the configuration."""


class LogEvent(Struct, frozen=True):
    """Any other line: one step; keys as in the first line, but `format` is refused."""

    action: Json = field(default_factory=_missing)
    """The encoded action."""

    shown: Json = field(default_factory=_missing)
    """The encoded observable."""


class Event(LogEvent, frozen=True, kw_only=True):
    """One step as recorded; `line` is its line in the file, from 1."""

    line: int


@dataclass(frozen=True)
class Log:
    """A recorded run; values that were not recorded are UNKNOWN."""

    head: LogHead
    events: tuple[Event, ...]


def load_log(path: Path) -> Log:
    """Return the log in a file.  Raises BadLog for anything else."""
    try:
        lines = content_of(path, MAX_BYTES).split(b"\n")
    except Unreadable as error:
        raise BadLog(str(error)) from error
    read = _lines(path, lines)
    number, head = next(read, (0, None))
    if head is None:
        raise BadLog(f"{path}: there is nothing in it. The first line names format, protocol and system.")
    return Log(_shaped(path, number, head, LogHead), tuple(_events(path, read)))


def _lines(path: Path, lines: list[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(line) > MAX_LINE:
            raise BadLog(f"{path}, line {number}: longer than {MAX_LINE // 2**20} MiB.")
        try:
            data = parse(line)
            canonical_bytes(data)  # refuses what no report could repeat: lone surrogates, numbers that readers round
        except ValueError as error:
            raise BadLog(f"{path}, line {number}: {error!s:.120}. Each line is one JSON object.") from error
        if not isinstance(data, dict):
            raise BadLog(f"{path}, line {number}: no JSON object.")
        yield number, cast("dict[str, Any]", data)


def _events(path: Path, read: Iterator[tuple[int, dict[str, Any]]]) -> Iterator[Event]:
    for number, data in read:
        if "format" in data:
            raise BadLog(f"{path}, line {number}: only the first line names a `format`.")
        step = _shaped(path, number, data, LogEvent)
        yield Event(step.action, step.shown, line=number)


def _shaped(path: Path, number: int, data: dict[str, Any], kind: type[T]) -> T:
    for name in kind.__struct_fields__:
        near = get_close_matches(name, data, n=1, cutoff=0.85) if name not in data else []
        if near:  # else it would be taken for not recorded, and any run would explain it
            raise BadLog(f"{path}, line {number}: unknown key {near[0]!r}; did you mean {name!r}?")
    try:
        return shaped(data, kind)
    except Mistake as error:
        raise BadLog(f"{path}, line {number}: {error}.") from error
