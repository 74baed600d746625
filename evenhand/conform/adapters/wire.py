"""Write requests and read answers, the lines on the pipe; answers are untrusted.

One JSON object per line, one answer to each request, in order, with the request's `id`.  Requests may be sent ahead; a
kernel that answers line by line does not notice.  `schema/wire.json` is the published form.
"""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert, to_builtins

from evenhand.core.canonical import MAX_DEPTH, Json, canonical_bytes, check_depth, finite, no_constant
from evenhand.evidence.schemas import Natural, Positive, Shape

VERSION = 1

DEEPEST = MAX_DEPTH // 2 - 4
"""Levels of an answer: ITF has two for each, and a record stands around it."""

UNKNOWN: Json = {"$unknown": True}
"""A value that was not shown or recorded."""

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))

_fast = msgspec.json.Encoder(order="sorted")
"""Writes the same, ten times as fast, but for floats, which it writes in other digits."""

_FLOAT = re.compile(r"\d[.e]")
"""What stands in the text of every float."""

_SUSPICIOUS = re.compile(rb"[\0\\\xed]|\d{16}")
"""What stands in every line whose values have no canonical form, and in few others."""


class Fault(Enum):
    """How a kernel can fail to answer; the value is the verb of the report's sentence."""

    RAISED = "raised"
    HUNG = "did not answer in time"
    EXITED = "ended its process"
    GARBAGE = "gave an invalid answer"
    TWICE = "answered twice"
    TOO_LONG = "gave an answer without end"
    MEMORY = "used more memory than allowed"
    PROCESSES = "started more processes than allowed"
    ILLEGAL = "showed a value unknown to the protocol"


Id: TypeAlias = Annotated[int, Meta(extra_json_schema={"minimum": 1})]


class StartRequest(Shape, frozen=True, tag_field="do", tag="start"):
    """Forget everything; a scenario begins."""

    id: Id
    wire: Literal[1]
    protocol: str
    system: str
    config: Json
    """The encoded configuration: fixed during the run, readings included."""

    start: Json
    """The encoded initial state."""


class RawValue(Shape, frozen=True):
    """One message of a step, the `message`-th that the kernel gets, with another JSON value in one place."""

    message: Natural
    at: list[str | int]
    """The keys and indices on the way to the value; empty for the whole message."""

    text: str | UnsetType = UNSET
    """The JSON text of the value in its place; absent if the key is left out."""


class ChangedMessage(Shape, frozen=True):
    """A message of one step of a run in which a value was changed, and how its place is called."""

    step: Positive
    place: str
    change: RawValue


class StepRequest(Shape, frozen=True, tag_field="do", tag="step"):
    """Take one action and show what it shows."""

    id: Id
    action: Json
    raw: RawValue | UnsetType | None = UNSET
    """What no type admits: change this message, and send it as it was if the kernel refuses what it became.

    null asks for the messages of the step.  A kernel may overlook all this.
    """


class EndRequest(Shape, frozen=True, tag_field="do", tag="end"):
    """Nothing more is asked of this scenario for now."""

    id: Id


class KernelAnswer(Struct, frozen=True):
    """The answer to the request of the same `id`; other keys are ignored."""

    id: Id
    shown: Json = None
    """To a step: the encoded observable. Sets may have their members in any order.

    A record may lack fields, and a marker may stand for any value: {"$unknown": true}, {"$opaque": TOKEN},
    {"$near": NUMBER, "within": NUMBER}, {"$bag": [...]}, {"$chosen": VALUE, "of": FIELD}.
    """

    state: Json | UnsetType = UNSET
    """To a step, optional: the encoded state after it; claims are then judged on it."""

    facts: Json | UnsetType = UNSET
    """To a step, optional: some fields of the encoded state after it, with the same markers; they are compared."""

    raw: Json | UnsetType = UNSET
    """To a step with `raw`: `messages`, or whether the changed message was `taken`."""

    error: str = ""
    """Instead of `shown`: the kernel failed. A finding."""

    unsupported: str = ""
    """To a start: the kernel does not implement this. To a step: it cannot take this action. No finding."""

    mutated: str = ""
    """Written by the host of Python adapters."""

    no_kernel: str = ""
    """Written by the host of Python adapters, to a start: what the factory returned instead. No finding."""


class Misanswer(ValueError):
    """A line that is no answer; `fault` says in which way."""

    def __init__(self, fault: Fault, why: str) -> None:
        super().__init__(why)
        self.fault = fault


def text(value: Json) -> str:
    """Return `value` on one line, keys sorted: equal values have equal texts.

    NaN, infinities and what is no JSON are refused where they enter (`read_answer`, `canonical_bytes`), not here.
    """
    try:
        said = _fast.encode(value).decode()
    except UnicodeEncodeError:  # half a surrogate pair
        return _encoder.encode(value)
    return _encoder.encode(value) if _FLOAT.search(said) else said


def initial_text(protocol: str, system: str, config: Json, start: Json) -> bytes:
    """Return the constant part of a start request: everything but its id."""
    content = {"protocol": protocol, "system": system, "config": config, "start": start, "wire": VERSION}
    return text(content)[1:].encode()


def start(number: int, initial: bytes, *, fresh: bool = False) -> bytes:
    """Return the request for a new kernel; `fresh`: of our host, in a process of its own."""
    return b'{"do":"%s","id":%d,%s\n' % (b"fresh" if fresh else b"start", number, initial)


def step(number: int, action: bytes) -> bytes:
    """Return the request to take one action."""
    return b'{"do":"step","id":%d,"action":%s}\n' % (number, action)


def with_raw(action: bytes, raw: RawValue | None) -> bytes:
    """Return the text of an action followed by the change of a message."""
    return b'%s,"raw":%s' % (action, text(to_builtins(raw)).encode())


def end(number: int) -> bytes:
    """Return the request that ends the current kernel."""
    return b'{"do":"end","id":%d}\n' % number


def read_answer(line: bytes, expected: int) -> KernelAnswer:
    """Return the answer in `line` to request `expected`.  Raises Misanswer for anything else.

    What no record could repeat is no answer: half a surrogate pair, whole numbers beyond 2**53, nesting beyond
    `DEEPEST`.
    """
    try:
        data: Any = json.loads(line, parse_constant=no_constant, parse_float=finite)
        if line.count(b"[") + line.count(b"{") > DEEPEST:
            check_depth(data, DEEPEST)
        if _SUSPICIOUS.search(line):
            canonical_bytes(data)
    except (ValueError, RecursionError) as error:
        raise Misanswer(Fault.GARBAGE, f"{_excerpt(line)} is no JSON: {error!s:.120}") from error
    try:
        answer = convert(data, KernelAnswer)
    except ValidationError as error:
        raise Misanswer(Fault.GARBAGE, f"{_excerpt(line)} is no answer: {error!s:.120}") from error
    if answer.id < expected:
        raise Misanswer(Fault.TWICE, f"request {answer.id} was answered before; the second answer is {_excerpt(line)}")
    if answer.id > expected:
        raise Misanswer(Fault.GARBAGE, f"request {expected} was left out; {_excerpt(line)} answers {answer.id}")
    return answer


def _excerpt(line: bytes) -> str:
    return repr(line[:80].decode("utf-8", "replace")) + ("…" if len(line) > 80 else "")
