"""Write requests and read answers, the lines on the pipe; answers are untrusted.

One JSON object per line, one answer to each request, in order, with the request's `id`.  Requests may be sent ahead; a
kernel that answers line by line does not notice.  `schema/wire.json` is the published form.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from evenhand.core.canonical import Json

VERSION = 1

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


class Fault(Enum):
    """How a kernel can fail to answer; the value is the verb of the report's sentence."""

    RAISED = "raised"
    HUNG = "did not answer in time"
    EXITED = "ended its process"
    GARBAGE = "gave an invalid answer"
    TWICE = "answered twice"
    TOO_LONG = "gave an answer without end"
    MEMORY = "used more memory than allowed"
    ILLEGAL = "showed a value unknown to the protocol"


@dataclass(frozen=True)
class KernelAnswer:
    """One answer: `shown` (None after a start), `state` if the kernel tells it, `error`, or `unsupported`."""

    number: int
    shown: Json = None
    state: Json = None
    told: bool = False
    error: str = ""
    unsupported: str = ""
    mutated: str = ""


class Misanswer(ValueError):
    """A line that is no answer; `fault` says in which way."""

    def __init__(self, fault: Fault, why: str) -> None:
        super().__init__(why)
        self.fault = fault


def text(value: Json) -> str:
    """Return `value` on one line, keys sorted: equal values have equal texts."""
    return _encoder.encode(value)


def initial_text(protocol: str, system: str, config: Json, start: Json) -> bytes:
    """Return the constant part of a start request: everything but its id."""
    content = {"protocol": protocol, "system": system, "config": config, "start": start, "wire": VERSION}
    return text(content)[1:].encode()


def start(number: int, initial: bytes) -> bytes:
    """Return the request for a new kernel."""
    return b'{"do":"start","id":%d,%s\n' % (number, initial)


def step(number: int, action: bytes) -> bytes:
    """Return the request to take one action."""
    return b'{"do":"step","id":%d,"action":%s}\n' % (number, action)


def end(number: int) -> bytes:
    """Return the request that ends the current kernel."""
    return b'{"do":"end","id":%d}\n' % number


def read_answer(line: bytes, expected: int) -> KernelAnswer:
    """Return the answer in `line` to request `expected`.  Raises Misanswer for anything else."""
    try:
        data: Any = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Misanswer(Fault.GARBAGE, f"{_excerpt(line)} is no JSON: {error!s:.120}") from error
    if not isinstance(data, dict):
        raise Misanswer(Fault.GARBAGE, f"{_excerpt(line)} is no JSON object")
    made = cast("dict[str, Any]", data)
    number = made.get("id")
    if type(number) is not int:
        raise Misanswer(Fault.GARBAGE, f"{_excerpt(line)} has no integer `id`")
    if number < expected:
        raise Misanswer(Fault.TWICE, f"request {number} was answered before; the second answer is {_excerpt(line)}")
    if number > expected:
        raise Misanswer(Fault.GARBAGE, f"request {expected} was left out; {_excerpt(line)} answers {number}")
    for name in ("error", "unsupported", "mutated"):
        if not isinstance(made.get(name, ""), str):
            raise Misanswer(Fault.GARBAGE, f"{_excerpt(line)}: `{name}` is no text")
    return KernelAnswer(
        number,
        made.get("shown"),
        made.get("state"),
        "state" in made,
        made.get("error", ""),
        made.get("unsupported", ""),
        made.get("mutated", ""),
    )


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _excerpt(line: bytes) -> str:
    return repr(line[:80].decode("utf-8", "replace")) + ("…" if len(line) > 80 else "")
