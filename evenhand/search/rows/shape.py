"""Map declared domains to bits: the place of each changing part of a state, and the way back.

A state is a tree of records and tuples.  The declaration is such a tree with `OneOf` leaves; each leaf is a field of a
few bits, no field straddles two words, and everything else is the same in every state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from evenhand.core.system import OneOf
from evenhand.search.rows.proxies import Proxy, demand, field_of

KEPT = -1
"""The number of a field that a run left as it was."""

WORD = 62
"""Bits of a word that are used; two are left so that no sum of words overflows."""

Words: TypeAlias = NDArray[np.int64]
"""States, one a row, of so many words each."""


class OutsideDomain(Exception):
    """A part of a state is outside its declared domain, or of another shape; says which."""


@dataclass(frozen=True)
class Field:
    """One changing part: its path in the state, its values, and the place of its bits."""

    path: str
    values: tuple[Hashable, ...]
    word: int
    shift: int
    mask: int

    def number(self, value: Any) -> int:
        """Return the number of a value.  Raises OutsideDomain for one that was not declared."""
        for number, known in enumerate(self.values):
            if type(known) is type(value) and known == value:
                return number
        raise OutsideDomain(f"{self.path} is {value!r}, which its declared domain {_short(self.values)} lacks")


class Shape:
    """The layout of one configuration's states.  Raises ValueError for a declaration that makes no sense."""

    def __init__(self, template: Any) -> None:
        found: list[tuple[str, OneOf]] = []
        _leaves(template, "state", found)
        if not found:
            raise ValueError("the declared domains have no `OneOf`: nothing in the state would ever change")
        self.fields: list[Field] = []
        word = shift = 0
        for path, leaf in found:
            _sensible(path, leaf)
            bits = max(1, (len(leaf.values) - 1).bit_length())
            if shift + bits > WORD:
                word, shift = word + 1, 0
            self.fields.append(Field(path, leaf.values, word, shift, ((1 << bits) - 1) << shift))
            shift += bits
        self.words = word + 1
        self.bits = shift if word == 0 else WORD * word + shift
        self.domains = [field.values for field in self.fields]
        self.open = tuple(tuple(range(len(domain))) for domain in self.domains)
        self._numbers = [{(type(v), v): n for n, v in enumerate(domain)} for domain in self.domains]
        self.build, _ = _builder(template, 0)
        self._read, _ = self._reader(template, "state", 0)

    def numbers(self, state: Any) -> list[int]:
        """Return the number of each field's value; `KEPT` for a proxy of that same field.

        Raises OutsideDomain for a value or shape that was not declared.
        """
        found: list[int] = []
        self._read(state, found)
        return found

    def encode(self, numbers: Sequence[int]) -> list[int]:
        """Return the words of a state."""
        words = [0] * self.words
        for field, number in zip(self.fields, numbers, strict=True):
            words[field.word] |= number << field.shift
        return words

    def decoded(self, words: Sequence[int]) -> list[int]:
        """Return the numbers back."""
        return [(words[field.word] & field.mask) >> field.shift for field in self.fields]

    def state(self, words: Sequence[int]) -> Any:
        """Return the state itself."""
        return self.build([d[n] for d, n in zip(self.domains, self.decoded(words), strict=True)])

    def _reader(self, template: Any, path: str, first: int) -> tuple[Callable[[Any, list[int]], None], int]:
        if isinstance(template, OneOf):
            return self._leaf(first), first + 1
        if not _varies(template):
            return _constant(template, path), first
        parts = _parts(template)
        readers: list[tuple[str | int, Callable[[Any, list[int]], None]]] = []
        for name, part in parts:
            reader, first = self._reader(part, f"{path}{_step(name)}", first)
            readers.append((name, reader))
        made, record, size = cast("type[Any]", type(template)), is_dataclass(template), len(parts)

        def read(value: Any, found: list[int]) -> None:
            if type(value) is not made:
                if type(value) is Proxy:
                    demand(value)
                raise OutsideDomain(f"{path} is {value!r}, which is no {made.__name__} as declared")
            if record:
                for name, reader in readers:
                    reader(getattr(value, str(name)), found)
                return
            if len(value) != size:
                raise OutsideDomain(f"{path} has {len(value)} parts where {size} were declared")
            for (_, reader), part in zip(readers, value, strict=True):
                reader(part, found)

        return read, first

    def _leaf(self, number: int) -> Callable[[Any, list[int]], None]:
        field, known = self.fields[number], self._numbers[number]

        def read(value: Any, found: list[int]) -> None:
            if type(value) is Proxy:
                if field_of(value) != number:
                    demand(value)
                found.append(KEPT)
                return
            try:
                found.append(known[type(value), value])
            except (KeyError, TypeError):
                field.number(value)
                raise OutsideDomain(f"{field.path} is {value!r}, which cannot be hashed") from None

        return read


def _constant(template: Any, path: str) -> Callable[[Any, list[int]], None]:
    def read(value: Any, _found: list[int]) -> None:
        if value is not template and not (value == template and type(value) is type(template)):
            raise OutsideDomain(f"{path} is {value!r}, but was declared never to change from {template!r}")

    return read


def _parts(template: Any) -> list[tuple[str | int, Any]]:
    if isinstance(template, tuple):
        return list(enumerate(cast("tuple[Any, ...]", template)))
    return [(entry.name, getattr(template, entry.name)) for entry in fields(template)]


def _splits(template: Any) -> bool:
    return isinstance(template, tuple) or (is_dataclass(template) and not isinstance(template, type | OneOf))


def _varies(template: Any) -> bool:
    if isinstance(template, OneOf):
        return True
    return _splits(template) and any(_varies(part) for _, part in _parts(template))


def _leaves(template: Any, path: str, found: list[tuple[str, OneOf]]) -> None:
    if isinstance(template, OneOf):
        found.append((path, template))
    elif _splits(template):
        for name, part in _parts(template):
            _leaves(part, f"{path}{_step(name)}", found)


def _step(name: str | int) -> str:
    return f".{name}" if isinstance(name, str) else f"[{name}]"


def _builder(template: Any, first: int) -> tuple[Callable[[Sequence[Any]], Any], int]:
    """A function that builds the state of these field values; parts that never vary are shared."""
    if isinstance(template, OneOf):
        return (lambda values: values[first]), first + 1
    if not _varies(template):
        return (lambda _values: template), first
    parts: list[tuple[str | int, Callable[[Sequence[Any]], Any]]] = []
    for name, part in _parts(template):
        made, first = _builder(part, first)
        parts.append((name, made))
    kind = cast("type[Any]", type(template))
    if kind is tuple:
        return (lambda values: tuple([made(values) for _, made in parts])), first
    if isinstance(template, tuple):
        return (lambda values: kind(*[made(values) for _, made in parts])), first

    named = [(str(name), made) for name, made in parts]
    new: Callable[[Any], Any] = object.__new__
    put = object.__setattr__

    def record(values: Sequence[Any]) -> Any:
        state = new(kind)
        for name, made in named:
            put(state, name, made(values))
        return state

    return record, first


def _sensible(path: str, leaf: OneOf) -> None:
    if not leaf.values:
        raise ValueError(f"the declared domain of {path} is empty")
    seen: set[tuple[type, Hashable]] = set()
    for value in leaf.values:
        try:
            known = (type(value), value) in seen
        except TypeError as error:
            raise ValueError(f"the declared domain of {path} has {value!r}, which cannot be hashed") from error
        if known or value != value:
            raise ValueError(f"the declared domain of {path} has {value!r} twice, or it is not equal to itself")
        seen.add((type(value), value))


def _short(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:6])
    return f"({shown}{', …' if len(values) > 6 else ''})"
