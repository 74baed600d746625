"""Format values as text that stays inert.

Names and values come from models, fixtures and other people's kernels; some are hostile on purpose.  All text for a
terminal or a file goes through `inert`, which escapes the characters that a terminal obeys (escapes, control and
bidirectional characters).  `describe` writes sets and mappings in a fixed order, so that a value has the same text
under any hash seed.
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, cast

from evenhand.core.answers import short

_MARKED = re.compile(r"[\\`*_{}\[\]<>#|!&@]|(?<=\w):(?=//)|(?<=www)\.", re.IGNORECASE)
"""What means something in Markdown; an address is a link there without any mark."""

_OBEYED = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
MAX_TEXT = 400
"""Characters of one line of a value; the file keeps the whole value."""

WHOLE = 10 * MAX_TEXT
"""Characters of a value of which the end may be what matters."""

WIDTH = 150
"""Characters that a value may take before it is laid out as a tree."""

SHORT = 60
"""Characters of a change that is shown as before and after; of a longer one only what came and what went is shown."""


def inert(text: str) -> str:
    r"""Return `text` with every character that a terminal or an editor would obey written as an escape.

    >>> inert("a\x1b[31mb\u202ec")
    'a\\u001b[31mb\\u202ec'
    """
    return "".join(_spelled(c) if unicodedata.category(c) in _OBEYED else c for c in text)


def in_markdown(text: str) -> str:
    r"""Return `text`, inert, of which Markdown makes no format, tag, cell or link.

    >>> print(in_markdown("a|<b> https://c"))
    a\|\<b\> https\://c
    """
    return _MARKED.sub(r"\\\g<0>", inert(text))


def as_code(text: str) -> str:
    """Return `text`, inert, as code in Markdown."""
    return "`" + inert(text).replace("`", "'") + "`"


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def describe(value: Any, limit: int = MAX_TEXT) -> str:
    """Return one line for `value`: inert, in a fixed order, cut at `limit` characters.

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
        case _ if _is_record(value):
            return _record(type(value).__name__, _fields(value))
        case _:
            try:
                return str(value)
            except Exception:
                return short(value)


def _record(name: str, entries: Iterable[tuple[str, Any]]) -> str:
    return f"{name}({', '.join(f'{key}={_plain(entry)}' for key, entry in entries)})"


def _fields(record: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass that differ from their default in value or type."""
    for entry in fields(record):
        value = getattr(record, entry.name)
        default = entry.default if entry.default_factory is MISSING else entry.default_factory()
        if default is MISSING or value != default or type(value) is not type(default):
            yield entry.name, value


def layout(value: Any, width: int = WIDTH) -> list[str]:
    """Return `value` on one line if it fits, else as a tree: a line for each part, deeper ones indented."""
    text = describe(value, WHOLE)
    if len(text) <= width:
        return [text]
    parts = list(branches(value))
    if not parts:
        return [describe(value)]
    if len(parts) == 1 and parts[0][0]:
        return layout(parts[0][1], width)  # a single part needs no name
    lines: list[str] = []
    for name, branch in parts:
        if len(name) + len(one := describe(branch, WHOLE)) + 2 <= width:
            lines.append(f"{name}: {one}" if name else f"- {one}")
        else:
            lines.append(f"{name}:" if name else "-")
            lines += [f"  {line}" for line in layout(branch, width - 2)]
    return lines


def _is_record(value: Any) -> bool:
    """Whether a value is a dataclass without a `__str__` of its own."""
    return is_dataclass(value) and not isinstance(value, type) and type(value).__str__ is object.__str__


def branches(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a value: fields, entries of a mapping or of named pairs by name, others nameless."""
    match value:
        case Mapping():
            pairs = cast("Mapping[Any, Any]", value)
            yield from ((describe(key), pairs[key]) for key in sorted(pairs, key=_plain))
        case tuple() | list():
            entries = cast("tuple[Any, ...]", value)
            named = _are_named(entries)
            yield from ((_name(entry[0]), entry[1]) if named else ("", entry) for entry in entries)
        case Set():
            yield from (("", member) for member in sorted(cast("Set[Any]", value), key=_plain))
        case _ if _is_record(value):
            yield from _fields(value)
        case _:
            return


def changes(before: Any, after: Any) -> tuple[str, ...]:
    """Return a line for each innermost part of a state that changed, or one for a state without parts."""
    if before == after and type(before) is type(after):
        return ("nothing changes",)
    return tuple(_changed("", before, after))


def _changed(path: str, before: Any, after: Any) -> Iterator[str]:
    """The differences below `path`: by name where parts have names, else what came (`+`) and what went (`-`)."""
    if before == after and type(before) is type(after):
        return
    old, new = _parts(before, after), _parts(after, before)
    if old and new and (list(old) == list(new) or _same_order(before, after, old, new)):
        for name in dict.fromkeys((*old, *new)):
            dot = "." if path and not name.startswith("[") else ""
            here = f"{path}{dot}{name}"
            if name in old and name in new:
                yield from _changed(here, old[name], new[name])
            else:
                yield f"{here}: - {describe(old[name])}" if name in old else f"{here}: + {describe(new[name])}"
        return
    whole = f"{describe(before)} → {describe(after)}"
    alike = type(before) is type(after) is tuple and len(before) == len(after)
    if alike and len(whole) > SHORT and not _are_named(before):
        for place, (old_part, new_part) in enumerate(zip(before, after, strict=True)):
            yield from _changed(f"{path}[{place}]", old_part, new_part)
        return
    moved = list(_moved(before, after)) if len(whole) > SHORT else []
    yield from (f"{path}: {line}" if path else line for line in moved or [whole])


def _same_order(before: Any, after: Any, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether both are mappings, or tuples of named pairs in one order: a part of one side alone keeps its name."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return True
    tuples = type(before) is tuple and type(after) is tuple and _are_named(before) and _are_named(after)
    return tuples and [name for name in old if name in new] == [name for name in new if name in old]


def _moved(before: Any, after: Any) -> Iterator[str]:
    """What a set or a tuple lost and what it got, where most of it stayed or one of both is empty."""
    if isinstance(before, Set) and isinstance(after, Set):
        gone, came = sorted(before - after, key=_plain), sorted(after - before, key=_plain)
    elif type(before) is tuple and type(after) is tuple and not hasattr(before, "_fields"):
        same = _common(before, after)
        tail = _common(before[same:][::-1], after[same:][::-1])
        gone, came = list(before[same : len(before) - tail]), list(after[same : len(after) - tail])
    else:
        return
    yield from (f"- {describe(member)}" for member in gone)
    yield from (f"+ {describe(member)}" for member in came)


def _common(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
    """The number of entries that both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b or type(a) is not type(b)), min(len(one), len(other)))


def _parts(value: Any, other: Any) -> dict[str, Any] | None:
    """The parts of a value that keep their names from state to state; None if it is compared with `other` as a whole.

    The entries of a tuple of records go by their places, unless their number changes.
    """
    if _is_record(value):
        return {entry.name: getattr(value, entry.name) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {f"[{describe(key)}]": entry for key, entry in cast("Mapping[Any, Any]", value).items()}
    if type(value) is not tuple:
        return None
    entries = cast("tuple[Any, ...]", value)
    if _are_named(entries):
        return {f"[{_name(entry[0])}]": entry[1] for entry in entries}
    if type(other) is tuple and len(other) == len(entries) and any(map(_is_record, (*entries, *other))):
        return {f"[{place}]": entry for place, entry in enumerate(entries)}
    return None


def _are_named(entries: Iterable[Any]) -> bool:
    """Whether every entry is a pair of a name of its own and a value: a name is a text, or a path of texts."""
    names = [_name(entry[0]) if type(entry) is tuple and len(entry) == 2 else "" for entry in entries]
    return all(names) and len(set(names)) == len(names)


def _name(key: Any) -> str:
    """A text, or a path of texts, as a name; empty for anything else."""
    if isinstance(key, str):
        return inert(key)
    if type(key) is tuple and key and all(isinstance(part, str) for part in key):
        return inert("/".join(key))
    return ""
