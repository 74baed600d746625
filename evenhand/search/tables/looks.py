"""Where code looks past proxies, by `is`, `type()` or a pattern for sequences: at what, as the bytecode says.

That is known where it is a name, an attribute or an element.  Real values are left to Python.  What `is` finds of a
proxy decides the path; where Python would find something else of it, the variable from which it comes is *lent* a value
that leads to the real one, while that is loaded.
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import ast
import builtins
import dis
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, MemberDescriptorType, ModuleType
from typing import Any, NamedTuple, TypeAlias

from evenhand.core.system import Step
from evenhand.search.containers import parts_of, record_fields
from evenhand.search.tables.expressions import plain
from evenhand.search.tables.proxies import (
    VALUE,
    Lazy,
    is_single,
    is_that,
    real_within,
)
from evenhand.search.tables.sources import source_of

_LOADS = {
    *("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_GLOBAL"),
    *("LOAD_NAME", "LOAD_CONST"),
}
"""Instructions that load a variable or a constant."""

Operand: TypeAlias = tuple[str, Any, tuple[str, ...]]
"""How an operand is loaded: opcode; name, constant or operands that it is computed from; and attributes taken of it."""

_SILENT = {"CACHE", "RESUME", "PRECALL", "EXTENDED_ARG", "NOP", "COPY_FREE_VARS", "PUSH_NULL", "NOT_TAKEN"}


class Instruction(NamedTuple):
    """An instruction that does something; its event comes at this offset.  A jump may end right before it."""

    opname: str
    arg: int | None
    argval: Any
    offset: int
    positions: Any
    is_jump_target: bool


Body: TypeAlias = Sequence[Instruction]

Names: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]
"""The variables of a frame, and those of its module."""

_NONE: Operand = ("CONSTANT", None, ())
_UNSEEN, BLIND = object(), object()
"""A value that does not matter, as the look will raise, and one that may matter and is not known."""


class Look(NamedTuple):
    """A look at operands: what is loaded first and used at these offsets; it begins at -1 where nothing can be lent."""

    kind: str
    operands: tuple[Operand, ...]
    begin: int
    end: int

    def lent(self, names: Names) -> tuple[str, Any] | None:
        """Decide whether a proxy is what `is` compares it with; if so, return a variable and what to lend it."""
        if self.kind != "is":
            return None
        operands = (*self.operands, _NONE)[:2]
        values = [value_of(names, one, fields=True) for one in operands]
        every = [name for one in operands for name in _names(one)]
        for lazy, other, operand in zip(values, values[::-1], operands, strict=True):
            root = _root(operand)
            if type(lazy) is Lazy and root is not None and every.count(root[0]) == 1:
                return (root[0], _leading(root[1], other)) if is_single(other) and is_that(lazy, other) else None
        return None

    def sees(self, names: Names) -> bool:
        """Return whether `type()` looks at a proxy or a pattern at what may hold one, or at what is not known."""
        values = [value_of(names, one, fields=True) for one in self.operands]
        if self.kind == "match":
            return not all(one is _UNSEEN or plain(one) for one in values)
        return any(one is BLIND or type(one) is Lazy for one in values)

    def compared(self, names: Names) -> tuple[Any, Any]:
        """Return what `is` compares, a proxy first; BLIND first where that may matter and is not known."""
        operands = (*self.operands, _NONE)[:2]
        one, other = (value_of(names, operand) for operand in operands)
        if type(other) is Lazy:
            one, other = other, one
        return (BLIND if other is BLIND or _is_unsteady(operands, one, other) else one), other


class _Lent:
    """What leads to a value by an attribute or an element."""

    __slots__ = ("next",)

    def __getattribute__(self, _name: str) -> Any:
        return _NEXT.__get__(self)

    def __getitem__(self, _key: Any) -> Any:
        return _NEXT.__get__(self)


_NEXT: Any = _Lent.__dict__["next"]


def _leading(steps: int, value: Any) -> Any:
    """What leads to a value by so many attributes and elements."""
    for _ in range(steps):
        lent = object.__new__(_Lent)
        _NEXT.__set__(lent, value)
        value = lent
    return value


def _root(operand: Operand) -> tuple[str, int] | None:
    """The variable from which an operand comes, and how many attributes and elements lead there."""
    kind, name, attributes = operand
    if kind == "BINARY_SUBSCR":
        held = _root(name[0])
        return None if held is None else (held[0], held[1] + 1 + len(attributes))
    return (name, len(attributes)) if kind.startswith("LOAD_FAST") or kind == "LOAD_DEREF" else None


def _names(operand: Operand) -> Iterator[str]:
    kind, name, _ = operand
    if kind in ("BINARY_SUBSCR", "TYPE"):
        for one in name:
            yield from _names(one)
    elif kind != "CONSTANT":
        yield name


def value_of(names: Names, operand: Operand, *, fields: bool = False) -> Any:
    """Return what an operand is right now; only `fields` of records run no code of the model."""
    kind, name, attributes = operand
    value = name
    if kind == "BINARY_SUBSCR":
        value = _element(*(value_of(names, part, fields=fields) for part in name))
    elif kind == "TYPE":
        return BLIND if "type" in names[1] else _UNSEEN
    elif kind == "CONSTANT":
        return name
    elif kind not in ("LOAD_GLOBAL", "LOAD_NAME") or name in names[0]:
        value = names[0].get(name, _UNSEEN)
    else:
        value = names[1].get(name, getattr(builtins, name, _UNSEEN))
    for attribute in attributes:
        if value is BLIND:
            return value
        if attribute == "__class__":
            return _UNSEEN
        if not _may_ask(value, attribute, fields=fields):
            return BLIND
        try:
            value = getattr(value, attribute)
        except Exception:  # the look, if it is reached, will raise the same
            return _UNSEEN
    return value


def _may_ask(value: Any, attribute: str, *, fields: bool) -> bool:
    """Whether to ask for an attribute once more gives the same; with `fields`, and runs no code of the model."""
    real = VALUE.__get__(value) if type(value) is Lazy else value
    home: Any = type(real)
    if isinstance(real, type) or attribute in (record_fields(home) or ()):
        return True
    if isinstance(real, Step) and attribute in vars(real):  # no action where a step has none
        return True
    if fields or plain(real_within(value)):
        return not fields
    if home.__getattribute__ not in (object.__getattribute__, ModuleType.__getattribute__):
        return False
    shared = next((vars(base)[attribute] for base in home.__mro__ if attribute in vars(base)), None)
    if attribute in getattr(real, "__dict__", ()):
        return not hasattr(type(shared), "__set__")
    return type(shared) is MemberDescriptorType or (shared is not None and not hasattr(type(shared), "__get__"))


def _element(held: Any, key: Any) -> Any:
    """The element of a tuple, list or dictionary, where to ask for it runs no code of the model."""
    kept = held if type(held) is dict else ()
    if type(held) not in (tuple, list, dict, Lazy) or not all(plain(real_within(one)) for one in (key, *kept)):
        return BLIND
    try:
        return held[key]
    except Exception:
        return BLIND


def _is_unsteady(operands: Sequence[Operand], *values: Any) -> bool:
    """Whether a tuple or record is compared: it is another object in each run, and in explicit search perhaps the same.

    It never is a constant, nor a single value.
    """
    if any(kind == "CONSTANT" for kind, _, _ in operands) or any(map(is_single, values)):
        return False
    return any(parts_of(value) is not None for value in values)


def instructions(code: CodeType) -> Body:
    """Return what some code does; of an instruction with prefixes the event comes at the first, and so do jumps."""
    body: list[Instruction] = []
    begin, target = -1, False
    for one in dis.get_instructions(code):
        begin, target = one.offset if begin < 0 else begin, target or one.is_jump_target
        if one.opname not in _SILENT:
            body.append(Instruction(one.opname, one.arg, one.argval, begin, one.positions, target))
            target = False
        begin = begin if one.opname == "EXTENDED_ARG" else -1
    return body


def look_at(code: CodeType, body: Body, place: int) -> Look | None:
    """Return what is looked at by an instruction that looks past proxies; None if that is not known."""
    one = body[place]
    if one.opname in ("MATCH_SEQUENCE", "MATCH_MAPPING"):
        return _matched(code, body, one)
    if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
        used = next((after for after in range(place + 1, len(body)) if body[after].opname == "CALL"), 0)
        typed = _operand(body, used - 1) if used and body[used].arg == 1 else None
        # If a jump ends in the midst of it, another function may be called.
        if typed is None or typed[1] != place or any(inner.is_jump_target for inner in body[place + 1 : used + 1]):
            return None
        return Look("type", (typed[0],), body[place + 1].offset, body[used].offset)
    if one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return _attribute(body, place)
    found: list[Operand] = []
    last, stored = place, False
    place -= 1
    while len(found) < (2 if one.opname == "IS_OP" else 1):
        # `:=` may only be what is computed first: it may change what the other operand was.
        stored = body[place].opname == "STORE_FAST"
        first = len(found) == (1 if one.opname == "IS_OP" else 0)
        operand = _operand(body, place, stored=first)
        if operand is None:
            return None
        found.append(operand[0])
        place = operand[1]
    # If a jump ends in the midst of it, an operand is one of several values.
    if any(inner.is_jump_target for inner in body[place + 2 : last + 1]):
        return None
    return Look("is", tuple(found), -1 if stored else body[place + 1].offset, one.offset)


def _attribute(body: Body, place: int) -> Look | None:
    """The look at an attribute of what is loaded before; None if that is not known, or is a class's class."""
    held = _operand(body, place - 1, stored=True)
    if held is None or "__class__" in held[0][2] or held[0][0] == "TYPE":
        return None
    if any(inner.is_jump_target for inner in body[held[1] + 2 : place + 1]):
        return None
    name: Operand = ("CONSTANT", body[place].argval, ())
    return Look("attribute", (held[0], name), -1, body[place].offset)


def _operand(body: Body, place: int, *, stored: bool = False) -> tuple[Operand, int] | None:
    """The operand that ends here, and the place before it."""
    attributes: list[str] = []
    while place >= 0 and body[place].opname == "LOAD_ATTR":
        attributes.insert(0, str(body[place].argval))
        place -= 1
    if place < 0:
        return None
    one, taken = body[place], tuple(attributes)
    if one.opname == "LOAD_CONST":
        return ("CONSTANT", one.argval, taken), place - 1
    if stored and one.opname == "STORE_FAST" and body[place - 1].opname == "COPY":
        return ("LOAD_FAST", str(one.argval), taken), place - 2
    if one.opname == "CALL" and one.arg == 1:
        typed = _operand(body, place - 1)
        is_type = typed is not None and body[typed[1]].opname == "LOAD_GLOBAL" and body[typed[1]].argval == "type"
        return (("TYPE", (typed[0],), taken), typed[1] - 1) if typed is not None and is_type else None
    if one.opname != "BINARY_SUBSCR":
        return ((one.opname, str(one.argval), taken), place - 1) if one.opname in _LOADS else None
    key = _operand(body, place - 1)
    held = None if key is None else _operand(body, key[1])
    return None if key is None or held is None else ((one.opname, (held[0], key[0]), taken), held[1])


def _matched(code: CodeType, body: Body, one: Instruction) -> Look | None:
    """What the `match` looks at of which a pattern is tried here."""
    tree = source_of(code)
    for node in () if tree is None else ast.walk(tree):
        patterns = [case.pattern for case in node.cases] if isinstance(node, ast.Match) else []
        if isinstance(node, ast.Match) and any(_span(p) == one.positions for case in patterns for p in ast.walk(case)):
            return None if any(map(_may_ask_a_property, patterns)) else _look_of(body, node.subject)
    return None


def _may_ask_a_property(pattern: ast.pattern) -> bool:
    """Whether sequences or mappings are looked for in attributes, any of which may be a property."""
    classes = [one for one in ast.walk(pattern) if isinstance(one, ast.MatchClass)]
    return any(isinstance(part, ast.MatchSequence | ast.MatchMapping) for one in classes for part in ast.walk(one))


def _look_of(body: Body, subject: ast.expr) -> Look | None:
    """A look at the subject of a `match`."""
    line, last_line, column, last_column = _span(subject)
    places = [
        place
        for place, (begin, end, start, stop) in enumerate(one.positions or (None,) * 4 for one in body)
        if None not in (begin, end, start, stop)
        and (line, column) <= (begin, start)
        and (end, stop) <= (last_line, last_column)
    ]
    if not places or places[-1] + 1 == len(body):
        return None
    last, found = places[-1], list[Operand]()
    tupled = body[last].opname == "BUILD_TUPLE"
    at = last - tupled
    for _ in range(body[last].arg or 0 if tupled else 1):
        operand = _operand(body, at)
        if operand is None:
            return None
        found.insert(0, operand[0])
        at = operand[1]
    if at + 1 != places[0]:
        return None
    return Look("match", tuple(found), body[places[0]].offset, body[last + 1].offset)


def _span(node: Any) -> tuple[int, int, int, int]:
    if not hasattr(node, "lineno"):
        return (0, 0, 0, 0)
    return (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
