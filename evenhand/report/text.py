"""Values and traces as text that stays inert.

Names and values come from models, fixtures and other people's kernels; some are hostile on purpose.  All
text that reaches a terminal or a file goes through `inert`, which spells out what a terminal would obey
(escapes, control and bidirectional characters), and every value through `describe`, which writes sets and
mappings in a fixed order, so that the same value is the same text under any hash seed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, cast

from evenhand.model.system import Step, System
from evenhand.model.trace import Lasso, NotReplayable, Pair, Scenario, replay, replay_lasso
from evenhand.properties.verdict import Evidence

__all__ = ["changes", "describe", "evidence_length", "inert", "steps_of", "trace_lines"]

AnySystem = System[Any, Any, Any, Any, Any]

_OBEYED = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
MAX_TEXT = 400
"""Characters of one value that a trace shows; the file keeps all of it."""


def inert(text: str) -> str:
    r"""`text` with everything that a terminal or an editor would obey written as an escape.

    >>> inert("a\x1b[31mb\u202ec")
    'a\\u001b[31mb\\u202ec'
    """
    return "".join(_spelled(c) if unicodedata.category(c) in _OBEYED else c for c in text)


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def describe(value: Any, limit: int = MAX_TEXT) -> str:
    """One line for `value`: inert, in a fixed order, cut at `limit` characters.

    >>> describe(frozenset({"b", "a"}))
    "{'a', 'b'}"
    """
    text = inert(_plain(value))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _plain(value: Any) -> str:
    match value:
        case Enum():
            return value.name
        case str() | bytes() | bool() | int() | float() | None:
            return repr(value)
        case Mapping():
            pairs = cast("Mapping[Any, Any]", value)
            return "{" + ", ".join(sorted(f"{_plain(k)}: {_plain(v)}" for k, v in pairs.items())) + "}"
        case Set():
            members = cast("Set[Any]", value)
            return "{" + ", ".join(sorted(_plain(member) for member in members)) + "}" if members else "{}"
        case tuple():
            entries = cast("tuple[Any, ...]", value)
            names: tuple[str, ...] = getattr(entries, "_fields", ())
            if names:
                return _record(type(entries).__name__, zip(names, entries, strict=True))
            inside = ", ".join(_plain(entry) for entry in entries)
            return f"({inside},)" if len(entries) == 1 else f"({inside})"
        case list():
            return "[" + ", ".join(_plain(entry) for entry in cast("list[Any]", value)) + "]"
        case _ if is_dataclass(value) and not isinstance(value, type):
            if type(value).__str__ is not object.__str__:
                return str(value)
            return _record(type(value).__name__, ((f.name, getattr(value, f.name)) for f in fields(value)))
        case _:
            return str(value)


def _record(name: str, entries: Iterable[tuple[str, Any]]) -> str:
    return f"{name}({', '.join(f'{key}={_plain(entry)}' for key, entry in entries)})"


def changes(before: Any, after: Any) -> tuple[str, ...]:
    """What became of a state, one line for each field that changed; the whole state if it has no fields."""
    if before == after:
        return ("nothing changes",)
    if type(before) is type(after):
        if is_dataclass(before):
            names = [f.name for f in fields(before)]
            return tuple(line for name in names for line in _changed(name, getattr(before, name), getattr(after, name)))
        if isinstance(before, Mapping):
            old, new = cast("Mapping[Any, Any]", before), cast("Mapping[Any, Any]", after)
            keys = sorted({*old, *new}, key=_plain)
            return tuple(line for key in keys for line in _changed(describe(key), old.get(key), new.get(key)))
    return (f"{describe(before)} → {describe(after)}",)


def _changed(name: str, before: Any, after: Any) -> Iterator[str]:
    if before != after:
        yield f"{name}: {describe(before)} → {describe(after)}"


def steps_of(evidence: Evidence) -> tuple[Scenario[Any, Any, Any], ...]:
    """The finite runs in `evidence`: itself, a lasso unrolled once, both runs of a pair."""
    match evidence:
        case Scenario():
            return (evidence,)
        case Lasso():
            return (evidence.unrolled,)
        case Pair():
            return (evidence.left, evidence.right)


def evidence_length(evidence: Evidence) -> int:
    """How many actions `evidence` has in all."""
    return sum(len(scenario.actions) for scenario in steps_of(evidence))


def trace_lines(system: AnySystem, evidence: Evidence) -> tuple[str, ...]:
    """`evidence` step by step, replayed in `system`: the start, each action, what it showed, what changed."""
    match evidence:
        case Scenario():
            return tuple(_run(system, evidence))
        case Lasso():
            return tuple(_lasso(system, evidence))
        case Pair():
            return (
                f"two runs, related by {inert(evidence.relation) or 'the claim'}; the first:",
                *_run(system, evidence.left),
                "the second:",
                *_run(system, evidence.right),
            )


def _run(system: AnySystem, scenario: Scenario[Any, Any, Any]) -> Iterator[str]:
    yield from _start(scenario.config, scenario.start)
    for number, step in enumerate(replay(system, scenario).steps, start=1):
        yield from _step(number, step)


def _lasso(system: AnySystem, lasso: Lasso[Any, Any, Any]) -> Iterator[str]:
    yield from _start(lasso.config, lasso.start)
    try:
        trace, _ = replay_lasso(system, lasso)
    except NotReplayable as error:
        yield f"(no lasso: {inert(str(error))})"
        return
    for number, step in enumerate(trace.steps, start=1):
        if number == len(lasso.stem) + 1:
            yield "from here on, for ever:"
        yield from _step(number, step)
    yield f"and again from step {len(lasso.stem) + 1}"


def _start(config: Any, start: Any) -> Iterator[str]:
    if config is not None and config != ():
        yield f"with   {describe(config)}"
    yield f"start  {describe(start)}"


def _step(number: int, step: Step[Any, Any, Any, Any]) -> Iterator[str]:
    yield f"{number:>5}  {describe(step.action)}"
    if step.shown is not None:
        yield f"       shows {describe(step.shown)}"
    for line in changes(step.before, step.after):
        yield f"       {line}"
