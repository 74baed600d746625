"""A value as a table of its parts, with what changed since an earlier value.

A record and a mapping have a row for each field or key; several records of one class have a row each and a column for
each field.  What all of them have in common is named once below the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, cast

from evenhand.core.text import branches, describe, inert

LONGEST = 300
"""Characters of one cell; the fixture has the whole value."""


@dataclass(frozen=True)
class Cell:
    """A value in words, or as a table of its own; `was` is what stood there before, None if it is unchanged."""

    now: str
    was: str | None = None
    inner: Table | None = None

    @property
    def changed(self) -> bool:
        """Whether something changed in it."""
        return self.was is not None or (self.inner is not None and self.inner.changed)


@dataclass(frozen=True)
class Row:
    """A row with its name; `mark` is `new`, `gone`, `changed` or empty."""

    name: str
    cells: tuple[Cell, ...]
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """Rows, under `columns` where there are several; `common` is what every row has and no column shows."""

    rows: tuple[Row, ...]
    columns: tuple[str, ...] = ()
    common: str = ""

    @property
    def changed(self) -> bool:
        """Whether some row changed."""
        return any(row.mark for row in self.rows)


def shown_table(value: Any) -> Table | None:
    """Return a value as a table without the parts that are empty."""
    made = table(value, value)
    if made is None or made.columns:
        return made
    rows = [row for row in made.rows if row.cells[0].inner or row.cells[0].now not in (*_EMPTY, "0")]
    return Table(tuple(rows)) if rows else None


def table(now: Any, before: Any) -> Table | None:
    """Return `now` as a table with what changed since `before`; None for a value without parts."""
    if (several := _records(now, before)) is not None:
        return _grid(*several)
    new, old = _named(now), _named(before)
    if new is None:
        return None
    if type(now) is not type(before) or old is None:
        old = {}
    rows = [_row(name, value, old, not old) for name, value in new.items()]
    rows += [Row(name, (Cell(in_words(value)),), "gone") for name, value in old.items() if name not in new]
    return Table(tuple(rows))


def _row(name: str, value: Any, old: Mapping[str, Any], foreign: bool) -> Row:
    if name in old:
        cell = _cell(value, old[name])
        return Row(name, (cell,), "changed" if cell.changed else "")
    return Row(name, (_cell(value, value),), "" if foreign else "new")


def _cell(now: Any, before: Any) -> Cell:
    same = _equal(now, before)
    inner = table(now, before)
    if inner is not None and (same or inner.changed):
        return Cell("", None, inner)
    return Cell(in_words(now), None if same else in_words(before))


def _equal(now: Any, before: Any) -> bool:
    return now == before and type(now) is type(before)


def _named(value: Any) -> dict[str, Any] | None:
    """The parts of a value that have names; None if it is shown as a whole."""
    if _is_plain_record(value):
        return {entry.name: getattr(value, entry.name) for entry in fields(value)}
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value)
        return {in_words(key): pairs[key] for key in sorted(pairs, key=in_words)} or None
    if not isinstance(value, tuple | list):
        return None
    entries = cast("tuple[Any, ...]", value)
    if not all(type(entry) is tuple and len(entry) == 2 for entry in entries):
        return None
    named = {in_words(key): part for key, part in entries}
    texts = all(isinstance(key, str) or _is_plain_record(part) for key, part in entries)
    return named if texts and len(named) == len(entries) > 0 else None


def _records(now: Any, before: Any) -> tuple[Keyed, Keyed] | None:
    """Two collections of records of one class, by name or place; None for anything else, or if both are empty."""
    new, old = _keyed(now), _keyed(before)
    if new is None or not (new or old):
        return None
    every = [*new.values(), *(old or {}).values()]
    if any(type(one) is not type(every[0]) for one in every) or not _is_plain_record(every[0]):
        return None
    named = isinstance(now, Mapping) or _named(now) is not None
    return (new, old or {}) if named else (_by_first_field(new, old or {}))


Keyed = dict[str, Any]
"""Records by their name."""


def _keyed(value: Any) -> Keyed | None:
    """The entries of a collection, by name or by their place from 1 on; None for anything else."""
    if _is_plain_record(value):
        return None
    if isinstance(value, Mapping) or _named(value) is not None:
        return _named(value) or {}
    if isinstance(value, Set):
        value = sorted(cast("Set[Any]", value), key=in_words)
    elif not isinstance(value, tuple | list):
        return None
    return {str(place): entry for place, entry in enumerate(cast("Sequence[Any]", value), start=1)}


def _by_first_field(now: Keyed, before: Keyed) -> tuple[Keyed, Keyed]:
    """The records by their first field, where it tells them apart; else as they are."""
    name = fields((*now.values(), *before.values())[0])[0].name
    sides = [[(in_words(getattr(one, name)), one) for one in side.values()] for side in (now, before)]
    new, old = (dict(side) for side in sides)
    return (new, old) if (len(new), len(old)) == (len(now), len(before)) else (now, before)


def _is_plain_record(value: Any) -> bool:
    """Whether a value is a dataclass with fields and without a `__str__` of its own."""
    if not is_dataclass(value) or isinstance(value, type) or not fields(value):
        return False
    return type(value).__str__ is object.__str__


def _grid(now: Keyed, before: Keyed) -> Table:
    every = (*now.values(), *before.values())
    names = [entry.name for entry in fields(every[0])]
    texts = {name: {in_words(getattr(one, name)) for one in every} for name in names}
    same = {name: next(iter(some)) for name, some in texts.items() if len(some) == 1}
    if len(every) < 3:  # too few for `all`
        same = {name: text for name, text in same.items() if text in _EMPTY}
    columns = [name for name in names if name not in same] or names[:1]
    gone = [name for name in before if name not in now]
    rows = [_grid_row(name, now.get(name), before.get(name), columns) for name in (*now, *gone)]
    if all(row.name == row.cells[0].now for row in rows if row.mark != "gone"):  # the first column names the rows
        rows = [Row("", row.cells, row.mark) for row in rows]
    common = ", ".join(f"{name} {text}" for name, text in same.items() if name not in columns and text not in _EMPTY)
    return Table(tuple(rows), tuple(columns), common)


def _grid_row(name: str, now: Any, before: Any, columns: Sequence[str]) -> Row:
    shown = now if now is not None else before
    cells: list[Cell] = []
    for column in columns:
        value = getattr(shown, column)
        was = getattr(before, column) if now is not None and before is not None else value
        cells.append(Cell(in_words(value), None if _equal(value, was) else in_words(was)))
    mark = (
        "gone" if now is None else "new" if before is None else "changed" if any(one.changed for one in cells) else ""
    )
    return Row(name, tuple(cells), mark)


_EMPTY = ("", "none", "empty", "no")
"""The words of values that say that nothing is there."""


_ODD = re.compile(r"\s+|yes|-?[0-9]+(\.[0-9]+)?")
"""Texts that another value looks like; they keep their quotes, as do those of `_EMPTY`."""

_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,}\b")


def in_words(value: Any, limit: int = LONGEST) -> str:
    """Return a value in one line for people: no quotes, no class names where the parts have names, digests cut."""
    text = inert(_DIGEST.sub(r"\1…", _words(value)))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def label(action: Any, limit: int = LONGEST) -> str:
    """Return an action in one line: its class, then its parts."""
    if not _is_plain_record(action):
        return in_words(action, limit)
    inside = in_words(action, limit)
    name = type(action).__name__
    return name if inside == name else f"{name}: {inside}"[:limit]


def differences(before: Any, now: Any) -> tuple[str, ...]:
    """Return a line for each part that changed; for a value without parts, one."""
    if _equal(now, before):
        return ("nothing changes",)
    made = table(now, before)
    if made is None or not made.changed:
        return (f"{in_words(before) or 'none'} → {in_words(now) or 'none'}",)
    return tuple(_lines("", made))


def _lines(path: str, made: Table) -> Iterator[str]:
    for row in filter(lambda one: one.mark, made.rows):
        name = row.name or row.cells[0].was or row.cells[0].now
        here = f"{path} {name}".strip()
        if row.mark != "changed":
            yield f"{here} is {row.mark}"
            continue
        for column, cell in zip(made.columns or ("",), row.cells, strict=True):
            if cell.inner is not None:
                yield from _lines(here, cell.inner)
            elif cell.was is not None:
                yield f"{f'{here} {column}'.strip()}: {cell.was or 'none'} → {cell.now or 'none'}"


def _words(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case str():
            return repr(value) if value in _EMPTY[1:] or _ODD.fullmatch(value) else value
        case Enum():
            return value.name
        case Mapping() | Set() | tuple() | list():
            return _several(cast("Any", value)) or "empty"
        case _ if _is_plain_record(value):
            named = [f"{name} {_within(part)}" for name, part in branches(value)]
            return ", ".join(named) or type(value).__name__
        case _:
            return describe(value)


def _several(value: Any) -> str:
    named = [f"{name.strip(chr(39))}: {_within(part)}" if name else _within(part) for name, part in branches(value)]
    return ", ".join(named)


def _within(value: Any) -> str:
    """The words of a part; in brackets if they have commas themselves."""
    text = _words(value)
    return f"({text})" if ", " in text and not isinstance(value, str) else text or "''"
