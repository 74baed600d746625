"""What the further course of a suspended generator depends on.

That is the place in its code, the variables that are still read, the loops that are open, and the columns.  Runs with
the same continuation go on alike, whatever they did before.  A value whose content cannot be read is like no other, so
that such runs are told apart.
"""

from __future__ import annotations

import dis
import gc
import itertools
from decimal import Decimal
from enum import Enum
from functools import cache
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any, TypeAlias, cast

from evenhand.search.containers import SCALARS, fields_of
from evenhand.search.tables.proxies import EXPRESSION, Lazy, real_within
from evenhand.search.tables.sets import Members
from evenhand.search.tables.sources import SEGMENTS, aside

Seen: TypeAlias = dict[int, tuple[int, Any]]
"""The lists, dictionaries and sets that went into a key, by id: the number of each, and itself."""

_SAMPLES: tuple[Any, ...] = (
    (),
    [],
    range(0),
    range(1 << 70),
    "",
    "\u1234",
    b"",
    frozenset(),
    {},
    {}.values(),
    {}.items(),
)
_ITERATORS = {
    *(type(iter(one)) for one in _SAMPLES),
    *(enumerate, zip, map, filter, reversed),
    *(itertools.product, itertools.chain, itertools.combinations, itertools.permutations),
}
"""Iterators that tell what they have still to give, without giving it."""


_LASTING = {BuiltinFunctionType, ModuleType, type(str.join), type(object.__init__), float, complex, Decimal, Members}
"""Types of values that never change, and count by their identity."""


class _Plain:
    """An object of a class of this size is nothing but its attributes."""


class Continuations:
    """The keys of suspended generators; holds what it knows by identity alone, so that no id is used twice.

    `looked` counts the values that went into keys.
    """

    def __init__(self) -> None:
        self.held: dict[int, Any] = {}
        self.looked = self.unknown = 0

    @aside
    def key(self, generator: Any, root: Any) -> Any:
        """Return what the further course of a generator depends on; `root` is the state that it was given."""
        return self._generator(generator, root, {})

    def _generator(self, generator: Any, root: Any, seen: Seen) -> Any:
        code, frame = generator.gi_code, generator.gi_frame
        if frame is None:
            return ("ended",)
        values = frame.f_locals
        if code.co_name != SEGMENTS:
            # Of other generators everything counts, operands on the stack as well, but no copy made by `f_locals`.
            parts = (one for one in gc.get_referents(generator) if one is not frame and one is not values)
            whole = [self._frozen(one, root, seen) for one in parts if type(one) is not CodeType]
            return "generator", id(code), frame.f_lasti, tuple(whole)
        live = _live(code)[frame.f_lasti]
        names = tuple((name, self._frozen(values[name], root, seen)) for name in live if name in values)
        loops = tuple(
            self._frozen(one, root, seen)
            for one in gc.get_referents(generator)
            if hasattr(type(one), "__next__")  # by its type: a proxy must not be asked
        )
        return "segment", id(code), frame.f_lasti, names, loops

    def _frozen(self, value: Any, root: Any, seen: Seen) -> Any:
        kind: Any = type(value)
        self.looked += 1
        if value is root:
            return "root"
        if kind is Lazy:
            return "lazy", EXPRESSION.__get__(value).number
        if kind in SCALARS:
            return kind, value
        if kind is range:
            return kind, value.start, value.stop, value.step
        if kind is tuple:
            return "tuple", tuple([self._frozen(one, root, seen) for one in value])
        if kind is frozenset:
            return "frozenset", self._members(value, root, seen)
        if kind in (list, dict, set):
            return self._changeable(value, root, seen)
        if kind is GeneratorType:
            return self._generator(value, root, seen)
        if kind in _ITERATORS:
            return kind, self._frozen(value.__reduce__()[0:3], root, seen)
        return self._object(value, root, seen)

    def _changeable(self, value: Any, root: Any, seen: Seen) -> Any:
        """A list, dictionary or set: what it holds, and which of those met before it is."""
        if id(value) in seen:
            return "again", seen[id(value)][0]
        seen[id(value)] = len(seen), value  # held, as another may have the id of one that is gone
        if type(value) is set:
            return "set", self._members(value, root, seen)
        if type(value) is list:
            return list, tuple([self._frozen(one, root, seen) for one in value])
        return dict, self._members(value, root, seen), self._frozen([*value.values()], root, seen)

    def _object(self, value: Any, root: Any, seen: Seen) -> Any:
        """A cell, function or record by what it holds, and anything else by its identity."""
        kind: Any = type(value)
        if kind is CellType:
            try:
                return "cell", self._frozen(value.cell_contents, root, seen)
            except ValueError:
                return "cell", None
        if kind is MethodType:
            return "method", self._frozen(value.__func__, root, seen), self._frozen(value.__self__, root, seen)
        if kind is FunctionType:
            self.held[id(value.__code__)] = value
            parts = (value.__closure__ or (), value.__defaults__, list((value.__kwdefaults__ or {}).items()))
            return "function", id(value.__code__), id(value.__globals__), self._frozen(parts, root, seen)
        names = None if issubclass(kind, Enum) else fields_of(value)
        if names is not None:
            return kind, tuple([self._frozen(getattr(value, name), root, seen) for name in names])
        if kind in _LASTING or issubclass(kind, (type, Enum)):
            self.held[id(value)] = value
            return "id", id(value)
        if kind.__basicsize__ == _Plain.__basicsize__ and not kind.__itemsize__ and hasattr(value, "__dict__"):
            self.held[id(kind)] = kind
            return "object", id(kind), self._frozen(vars(value), root, seen)
        self.unknown += 1  # it may change between two marks, so that no two continuations with it are the same
        return "unknown", self.unknown

    def _members(self, value: Any, root: Any, seen: Seen) -> Any:
        # Their order counts as well: a loop over equal sets may take it differently.  So do kept hashes.
        return tuple([self._frozen(one, root, seen) for member in value for one in (member, real_within(member))])


@cache
def _live(code: CodeType) -> dict[int, tuple[str, ...]]:
    """The variables that are still read after each instruction, by its offset."""
    always = (*code.co_cellvars, *code.co_freevars)
    body = list(dis.get_instructions(code))
    place_of = {one.offset: place for place, one in enumerate(body)}
    fast = set(code.co_varnames)
    after: list[set[str]] = [set() for _ in body]
    before: list[set[str]] = [set() for _ in body]
    jumps = {*dis.hasjrel, *dis.hasjabs}
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(body))):
            one = body[place]
            ends = one.opname in ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "RETURN_CONST")
            only = ends or one.opname in ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
            found: set[str] = set() if only or place + 1 == len(body) else set(before[place + 1])
            if one.opcode in jumps:
                found |= before[place_of[one.argval]]
            if found != after[place]:
                after[place], changed = found, True
            entering = set(found)
            if one.opname == "STORE_FAST":
                entering.discard(cast("str", one.argval))
            else:
                named: Any = one.argval
                many = cast("tuple[Any, ...]", named) if isinstance(named, tuple) else (named,)
                entering |= {name for name in many if "FAST" in one.opname and name in fast}
            if entering != before[place]:
                before[place], changed = entering, True
    return {one.offset: (*sorted(after[place] - set(always)), *always) for place, one in enumerate(body)}
