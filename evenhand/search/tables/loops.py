"""Loops over the elements of a set whose order does not matter: what they want of an element, before it is asked for.

`any`, `all`, `{…}` and their like run over a set in a comprehension.  Its source says which elements it passes over.
That is evaluated first, for each element that any state was seen to have, so that only what is wanted is looked for in
the set.  It must do nothing else: every name in the comprehension is a value that never changes, a class of records, or
a function of which the same is true.
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations
import __future__

import ast
import builtins
import copy
import dis
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import cache
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from evenhand.search.containers import parts_of, record_fields
from evenhand.search.tables.expressions import plain
from evenhand.search.tables.orders import all_alike, exactly_ordered
from evenhand.search.tables.proxies import Lazy, applied, decide_kind, real_within
from evenhand.search.tables.sources import aside, read_outside, source_of

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_UNORDERED = ("any", "all", "set", "frozenset", "sorted", "min", "max", "sum", "len")
"""Built-in functions whose result does not depend on the order of what they are given."""

_NODES = (
    *(ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.IfExp),
    *(ast.Attribute, ast.Subscript, ast.Slice, ast.Name, ast.Constant, ast.Tuple, ast.Set, ast.expr_context),
    *(ast.Call, ast.comprehension, *_COMPREHENSIONS),
)
"""What a comprehension may consist of."""

_METHODS = {"count", "endswith", "get", "index", "isdisjoint", "issubset", "issuperset", "startswith"}
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)

DEPTH = 5
"""Functions within functions that are looked at."""

_BUILT_IN = ("builtins", "decimal", "enum", "fractions")
"""Modules whose classes do nothing but what is known."""

_PURE: tuple[Any, ...] = (
    *(abs, all, any, bool, frozenset, int, isinstance, len, max, min, range, set, sorted, str, sum, tuple),
)


class Loop(NamedTuple):
    """A comprehension over a set: the names it reads, of these the variables, what takes its values, what it makes."""

    names: tuple[str, ...]
    given: tuple[str, ...]
    taker: str
    code: CodeType
    counts: bool
    distinct: bool
    kept: Callable[[Sequence[Any]], bool] | None


class Wanted(NamedTuple):
    """What a loop makes of an element; and whether no more than how many there are is asked, of lists or sets.

    `kept` says of what is made of all elements whether these may come in any order; without it they never may.
    """

    of: Callable[[Any], Sequence[Any]]
    counts: bool
    distinct: bool
    kept: Callable[[Sequence[Any]], bool] | None


_len, _getattr = builtins.len, builtins.getattr
_sum: Any = builtins.sum  # what it is given is any value of a model
_counted: list[tuple[CodeType, Any]] = []


def counted(frame: FrameType, count: Any) -> None:
    """Let `len` give this next, of the list or set that the comprehension makes which begins in a frame."""
    _counted.append((frame.f_code, count))


def _lazy_len(value: Any) -> Any:
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    if _counted and type(value) in (list, set) and frame.f_code is _counted[-1][0]:
        return _counted.pop()[1]
    return applied("len", _len, (value,)) if type(value) is Lazy else _len(value)


def _lazy_sum(values: Any, /, start: Any = 0) -> Any:
    if type(start) is Lazy:
        decide_kind(start)  # `sum` refuses texts, and does nothing with the first of no values
    return _sum(values, start)


@contextmanager
def lazy_builtins(got: Callable[..., Any]) -> Generator[None]:
    """Let `len` of a proxy be a proxy, and `sum` ask for the type of one that it begins with, while the model runs.

    `got` stands for `getattr`.
    """
    builtins.len, builtins.sum, builtins.getattr = _lazy_len, _lazy_sum, got
    _counted.clear()
    try:
        yield
    finally:
        builtins.len, builtins.sum, builtins.getattr = _len, _sum, _getattr


@aside
def wanted_of(frame: FrameType) -> Wanted | None:
    """Return what the loop that begins in a frame wants; None where it must have all, in the order of the set."""
    loop = _loop(frame.f_code, frame.f_lasti)
    if loop is None:
        return None
    every = {**frame.f_builtins, **frame.f_globals, **frame.f_locals}
    values = {name: every[name] for name in loop.names if name in every}
    if len(values) < len(loop.names) or not all(map(is_steady, values.values())):
        return None
    if loop.taker and values[loop.taker] is not getattr(builtins, loop.taker):
        return None
    function, given = FunctionType(loop.code, frame.f_globals), {name: values[name] for name in loop.given}
    return Wanted(
        lambda element: function((element,), **given),
        loop.counts and builtins.len is _lazy_len,
        loop.distinct,
        loop.kept,
    )


@cache
def _loop(code: CodeType, place: int) -> Loop | None:
    body = list(dis.get_instructions(code))
    begun = next(one for one in body if one.offset == place)
    tree = source_of(code) if begun.opname == "GET_ITER" else None
    for node in () if tree is None else ast.walk(tree):
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, _COMPREHENSIONS) and begun.positions == _span(inner):
                return _made(inner, node, _generator(inner, body, begun), code)
    return None


def _span(node: ast.expr) -> tuple[int | None, ...]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _generator(node: Any, body: list[dis.Instruction], begun: dis.Instruction) -> int:
    """The number of the `for` of a comprehension that begins here."""
    mine = [one for one in body if one.positions == begun.positions]
    begins = [one for one in mine if one.opname == "GET_ITER"]
    runs_here = any(one.opname == "FOR_ITER" for one in mine)  # else the comprehension has code of its own
    return begins.index(begun) + (runs_here and len(begins) < len(node.generators))


def _made(node: Any, around: ast.AST, place: int, code: CodeType) -> Loop | None:
    name = ""
    if isinstance(around, ast.Call) and around.args == [node] and isinstance(around.func, ast.Name):
        name = around.func.id
    if isinstance(node, ast.SetComp):
        name = name if name in _UNORDERED else ""
    else:
        if name not in _UNORDERED or any(one.arg != "default" for one in getattr(around, "keywords", ())):
            return None
        if name == "sum" and not isinstance(node.elt, ast.Constant):
            return None  # a sum of floats depends on the order
    inside = [one for one in ast.walk(node) if one is not node.generators[0].iter]
    methods = [one.func.attr for one in inside if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    if not all(isinstance(one, _NODES) for one in inside) or not _METHODS.issuperset(methods):
        return None
    mine = node.generators[place]
    tests, last = [*mine.ifs], mine is node.generators[-1]
    if name in ("any", "all") and last:
        tests.append(node.elt if name == "any" else ast.UnaryOp(ast.Not(), node.elt))
    each = ast.comprehension(mine.target, ast.Name("_evenhand_each", ast.Load()), tests, 0)
    counts = name == "len" and len(node.generators) == 1
    asked = ast.ListComp(node.elt if last else ast.Constant(1), [each])
    rest = copy.copy(node)
    rest.generators = [ast.comprehension(node.generators[0].target, each.iter, node.generators[0].ifs, 0)]
    rest.generators += node.generators[1:]
    both = ast.fix_missing_locations(ast.Expression(copy.deepcopy(ast.Tuple([asked, rest], ast.Load()))))
    read = read_outside(compile(both, code.co_filename, "eval", dont_inherit=True))
    names = tuple(sorted(read - {"_evenhand_each"} | {name} - {""}))
    given = tuple(one for one in names if one in {*code.co_varnames, *code.co_cellvars, *code.co_freevars})
    arguments = ast.arguments(
        posonlyargs=[ast.arg("_evenhand_each")],
        args=[],
        kwonlyargs=[ast.arg(one) for one in given],
        kw_defaults=[None] * len(given),
        defaults=[],
    )
    whole = ast.fix_missing_locations(ast.Expression(copy.deepcopy(ast.Lambda(arguments, asked))))
    made = compile(whole, code.co_filename, "eval", flags=code.co_flags & _FUTURE, dont_inherit=True)
    body = next(one for one in made.co_consts if isinstance(one, CodeType))
    distinct = isinstance(node, ast.SetComp)
    return Loop(
        names, given, name, body, counts, distinct, _kept(name, len(node.generators), distinct) if last else None
    )


def _kept(name: str, loops: int, distinct: bool) -> Callable[[Sequence[Any]], bool] | None:
    """What the values of the last `for` of a comprehension must be, lest the first of equal ones or an order counts.

    A `for` before it may come to one that raises, or to one that decides, and goes by the order of the set.
    """
    if name in ("max", "min", "sorted"):
        return exactly_ordered if loops == 1 else None
    return all_alike if distinct or name in ("set", "frozenset") else lambda _values: True


@cache
def _sets_outside(code: CodeType) -> bool:
    """Whether some code, with the functions in it, sets what is not its own, or imports."""
    inner = any(_sets_outside(one) for one in code.co_consts if isinstance(one, CodeType))
    mine = {"STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME", "STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR"}
    return inner or any(
        one.opname in mine or (one.opname in ("STORE_DEREF", "DELETE_DEREF") and one.argval in code.co_freevars)
        for one in dis.get_instructions(code)
    )


@aside
def is_steady(value: Any, depth: int = 0) -> bool:
    """Whether a value never changes, or is a function or class that changes nothing."""
    if value is builtins.len or value is builtins.sum or any(value is one for one in _PURE):
        return True
    if type(value) is FunctionType:
        if depth >= DEPTH or _sets_outside(value.__code__):
            return False
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        more = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        every = {**vars(builtins), **value.__globals__}
        read = [every[name] for name in read_outside(value.__code__) if name in every]
        return all(is_steady(one, depth + 1) for one in (*held, *more, *read) if one is not value)
    if isinstance(value, type):
        return _is_steady_class(value)
    return plain(real_within(value)) and is_steady_within(value)


def is_steady_within(value: Any) -> bool:
    """Whether the same is true of the classes of a value and of all its parts."""
    parts = parts_of(value)
    inner = value if type(value) is frozenset else parts[1] if parts else ()
    kind: Any = type(value)
    return _is_steady_class(kind) and all(map(is_steady_within, inner))


@cache
def _is_steady_class(kind: Any) -> bool:
    """Whether a class is built in, or one of records or an enum in which no function changes anything."""
    if kind is Lazy or kind.__module__ in _BUILT_IN:
        return True
    if not issubclass(kind, Enum) and record_fields(kind) is None:
        return False
    for base in kind.__mro__:
        file = getattr(sys.modules.get(base.__module__), "__file__", None)
        for one in () if base.__module__ in _BUILT_IN else vars(base).values():
            function = getattr(one, "__func__", getattr(one, "fget", getattr(one, "func", one)))
            own = type(function) is FunctionType and file in (None, function.__code__.co_filename)
            if own and not is_steady(function):
                return False
    made = ("__", "_field_defaults")  # by Python, for every class of records; what an enum has ends with a line
    kept = [one for name, one in vars(kind).items() if not name.startswith(made) and not name.endswith("_")]
    return not any(isinstance(one, list | dict | set) for one in kept)
