"""Faults by rule in the syntax tree of a function: what may be changed in it, and the function so changed.

A change is named by its kind and its place among those of that kind (`drop_guard_2`: the second guard from the top), so
that any process can make it again from the same source.  Types are read from annotations (see `typing_of`): two
arguments, fields or parameters are exchanged only if they are annotated alike, so that few faults merely raise.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from types import CodeType
from typing import Any

from evenhand.variants.annotated import Annotated

Function = ast.FunctionDef
Edit = Callable[[Any], ast.AST | None]
"""Changes a copied node in place or returns another one; None leaves a statement out."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_OTHER_CALL = {"all": "any", "any": "all", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Change:
    """One change of a function: its name, the number of the node it changes, and the edit."""

    name: str
    number: int
    edit: Edit


@dataclass
class _Local:
    """What is known of the names inside one function."""

    types: Annotated
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    returns: str = ""
    first: dict[str, int] = field(default_factory=dict[str, int])
    stale: dict[str, str] = field(default_factory=dict[str, str])


def changes(function: Function, types: Annotated) -> tuple[Change, ...]:
    """Return every change of a function, in the order of its syntax tree."""
    known = _local(function, types)
    counts: dict[str, int] = {}
    found: list[Change] = []
    for number, node in enumerate(_nodes(function)):
        edits = _whole(function, known) if node is function else _edits(node, known)
        for kind, edit in edits:
            counts[kind] = counts.get(kind, 0) + 1
            found.append(Change(f"{kind}_{counts[kind]}", number, edit))
    return tuple(found)


def changed(function: Function, one: Change) -> tuple[Function, str]:
    """Return a copy of the function with one change, and the change in words: `line 7: a < b -> a <= b`."""
    made = copy.deepcopy(function)
    place = list(_nodes(made))[one.number]
    before, line = _text(place), getattr(place, "lineno", function.lineno)
    if place is made:
        new = one.edit(made)
        assert isinstance(new, ast.FunctionDef)
        return ast.fix_missing_locations(new), f"line {function.lineno}: {function.name} -> {_text(new.body[-1])}"
    now: list[str] = []

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            if node is not place:
                return self.generic_visit(node)
            put = one.edit(node)
            now.append("" if put is None else _text(put))
            return put or ([] if isinstance(node, ast.match_case) else ast.Pass())

    Put().visit(made)
    return ast.fix_missing_locations(made), f"line {line}: {before} -> {now[0] or 'left out'}"


def code_in(module: CodeType, qualname: str) -> CodeType | None:
    """Return the code of the function with this qualified name in the code of its module."""
    for constant in module.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == qualname:
                return constant
            if qualname.startswith(f"{constant.co_qualname}.") and (inner := code_in(constant, qualname)):
                return inner
    return None


def _nodes(function: Function) -> Iterator[ast.AST]:
    """The function and the nodes of its body; neither decorators nor annotations nor the docstring."""
    yield function
    for statement in function.body:
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            yield from ast.walk(statement)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.match_case):
        return f"case {ast.unparse(node.pattern)}"
    if isinstance(node, ast.comprehension):
        return " if ".join(map(ast.unparse, (node.target, *node.ifs)))
    text = ast.unparse(node)
    first = text.splitlines()[0] if text else ""
    return first if len(first) <= 100 else f"{first[:97]}..."


def _local(function: Function, types: Annotated) -> _Local:
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    parameters = {one.arg: ast.unparse(one.annotation) for one in arguments if one.annotation is not None}
    known = _Local(types, parameters, ast.unparse(function.returns) if function.returns is not None else "")
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.first.setdefault(node.id, node.lineno)
            known.first[node.id] = min(known.first[node.id], node.lineno)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                kept = _kept(call, types)
                if isinstance(kept, ast.Name) and kept.id != name:
                    known.stale[name] = kept.id
            case _:
                pass
    return known


def _kept(call: ast.Call, types: Annotated) -> ast.expr | None:
    """The argument that a call returns changed: of `replace`, and of a function from one type to the same."""
    if not call.args or isinstance(call.args[0], ast.Starred):
        return None
    if isinstance(call.func, ast.Name) and call.func.id == "replace":
        return call.args[0]
    takes, returns = types.signature(call.func)
    if not returns or returns in ("str", "int", "bool"):
        return None
    places = [place for place, one in enumerate(takes[: len(call.args)]) if one == returns]
    return call.args[places[0]] if len(places) == 1 else None


def _whole(function: Function, known: _Local) -> Iterator[tuple[str, Edit]]:
    """Changes of the function as a whole: an operation that does nothing, a condition that is constant."""
    if known.returns == "bool":
        yield "always", _returning(ast.Constant(True))
        yield "never", _returning(ast.Constant(False))
    elif known.returns not in ("str", "int", "None", ""):
        same = [name for name, annotated in known.parameters.items() if annotated == known.returns]
        if same:
            yield "do_nothing", _returning(ast.Name(same[0], ast.Load()))
        if known.returns.startswith("tuple[") and known.returns.endswith("...]"):
            yield "return_empty", _returning(ast.Tuple([], ast.Load()))


def _returning(value: ast.expr) -> Edit:
    return _with("body", lambda _body: [ast.Return(value)])


def _edits(node: ast.AST, known: _Local) -> Iterator[tuple[str, Edit]]:
    """The changes of one node."""
    match node:
        case ast.stmt() | ast.match_case():
            yield from _statement(node, known)
        case ast.Call():
            yield from _call(node, known)
        case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
            yield from _read(node, known)
        case ast.comprehension(ifs=conditions):
            for place in range(len(conditions)):
                yield "drop_filter", _less("ifs", place)
        case ast.Slice(upper=ast.expr() as upper) if not isinstance(upper, ast.Constant):
            yield "bound_plus_one", _with("upper", lambda bound: ast.BinOp(bound, ast.Add(), ast.Constant(1)))
        case ast.Tuple() | ast.List() | ast.Set() if any(isinstance(one, ast.Starred) for one in node.elts):
            for place in range(len(node.elts)):
                yield "drop_element", _less("elts", place)
        case _:
            yield from _value(node)


def _statement(node: ast.stmt | ast.match_case, known: _Local) -> Iterator[tuple[str, Edit]]:
    match node:
        case ast.If(body=body, orelse=rest):
            if not rest:
                guard = len(body) == 1 and isinstance(body[0], _LEAVES)
                yield "drop_guard" if guard else "drop_statement", _nothing
            yield from _condition("test")
        case ast.While():
            yield "negate", _with("test", _denied)
        case ast.For() | ast.AugAssign() | ast.Expr():
            yield "drop_statement", _nothing
        case ast.Assign(targets=[ast.Name(id=name)]):
            if name in known.parameters or known.first[name] < node.lineno:
                yield "drop_statement", _nothing
        case ast.Return(value=ast.Compare() | ast.BoolOp()):
            yield "always", _with("value", lambda _value: ast.Constant(True))
            yield "never", _with("value", lambda _value: ast.Constant(False))
        case ast.match_case(pattern=pattern):
            if not isinstance(pattern, ast.MatchAs) or pattern.pattern is not None:
                yield "drop_case", _nothing
        case _:
            return


def _condition(name: str) -> Iterator[tuple[str, Edit]]:
    yield "negate", _with(name, _denied)
    yield "always", _with(name, lambda _test: ast.Constant(True))
    yield "never", _with(name, lambda _test: ast.Constant(False))


def _call(node: ast.Call, known: _Local) -> Iterator[tuple[str, Edit]]:
    function, types = node.func, known.types
    if (kept := _kept(node, types)) is not None:
        place = node.args.index(kept)
        yield "drop_update", lambda call: call.args[place]
    if isinstance(function, ast.Name):
        if function.id in _OTHER_CALL:
            yield "other_call", _with("func", lambda name: ast.Name(_OTHER_CALL[name.id], ast.Load()))
        if function.id == "replace" or function.id in types.records:
            for place, keyword in enumerate(node.keywords):
                if keyword.arg and (function.id == "replace" or (function.id, keyword.arg) in types.defaults):
                    yield "drop_field", _less("keywords", place)
            for one, other in _alike_keywords(node, function.id, types):
                yield "swap_fields", _exchanging_keywords(one, other)
    takes, _ = types.signature(function)
    for place, (left, right) in enumerate(pairwise(node.args)):
        alike = takes[place : place + 2]
        if len(alike) == 2 and alike[0] == alike[1] and ast.dump(left) != ast.dump(right):
            yield "swap_arguments", _exchanging(place)
    for place, argument in enumerate(node.args):
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and argument.value:
            yield "blank_text", _blank_argument(place)


def _alike_keywords(node: ast.Call, record: str, types: Annotated) -> Iterator[tuple[int, int]]:
    """Neighbouring keywords of a record whose fields are annotated alike."""
    named = [(place, one) for place, one in enumerate(node.keywords) if one.arg]
    for (place, one), (further, other) in pairwise(named):
        alike = types.annotation(one.arg or "", record) & types.annotation(other.arg or "", record)
        if alike and ast.dump(one.value) != ast.dump(other.value):
            yield place, further


def _read(node: ast.Name | ast.Attribute, known: _Local) -> Iterator[tuple[str, Edit]]:
    """Another value where one is read: an older one, another parameter, field or member."""
    if isinstance(node, ast.Name):
        if node.id in known.stale:
            yield "stale", _named(known.stale[node.id])
        annotated = known.parameters.get(node.id)
        others = [name for name, one in known.parameters.items() if one == annotated and name != node.id]
        if annotated and others:
            yield "other_parameter", _named(others[0])
        return
    if isinstance(node.value, ast.Name) and (member := known.types.other_member(node.value.id, node.attr)):
        yield "other_member", _attribute(member)
        return
    owner = known.parameters.get(node.value.id, "") if isinstance(node.value, ast.Name) else ""
    if other := known.types.other_field(node.attr, owner):
        yield "other_field", _attribute(other)


def _value(node: ast.AST) -> Iterator[tuple[str, Edit]]:
    match node:
        case ast.IfExp():
            yield from _condition("test")
        case ast.BoolOp(values=values):
            yield "swap_and_or", _with("op", lambda op: ast.Or() if isinstance(op, ast.And) else ast.And())
            for place in range(len(values)):
                yield "drop_condition", _without(place)
        case ast.UnaryOp(op=ast.Not()):
            yield "drop_not", lambda found: found.operand
        case ast.Compare(ops=[op]) if type(op) in _COMPARISONS:
            yield "other_comparison", _with("ops", lambda ops: [_COMPARISONS[type(ops[0])]()])
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.BitOr() | ast.BitAnd() | ast.Mult() as op):
            yield "drop_operand", lambda found: found.left
            if isinstance(op, ast.Add | ast.Sub):
                yield "other_sign", _with("op", lambda op: ast.Sub() if isinstance(op, ast.Add) else ast.Add())
        case ast.Constant(value=bool()):
            yield "flip", lambda found: ast.Constant(not found.value)
        case ast.Constant(value=int()):
            yield "plus_one", lambda found: ast.Constant(found.value + 1)
            yield "minus_one", lambda found: ast.Constant(found.value - 1)
        case _:
            return


def _nothing(_node: ast.AST) -> None:
    return None


def _denied(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _with(name: str, change: Callable[[Any], Any]) -> Edit:
    """Put something else in the place of a field of the node."""

    def edit(node: ast.AST) -> ast.AST:
        setattr(node, name, change(getattr(node, name)))
        return node

    return edit


def _less(name: str, place: int) -> Edit:
    def edit(node: ast.AST) -> ast.AST:
        listed: list[Any] = getattr(node, name)
        setattr(node, name, [*listed[:place], *listed[place + 1 :]])
        empty = isinstance(node, ast.Set) and not node.elts
        return ast.Call(ast.Name("set", ast.Load()), [], []) if empty else node

    return edit


def _exchanging(place: int) -> Edit:
    return _with("args", lambda args: [*args[:place], args[place + 1], args[place], *args[place + 2 :]])


def _exchanging_keywords(one: int, other: int) -> Edit:
    def edit(call: ast.Call) -> ast.AST:
        left, right = call.keywords[one], call.keywords[other]
        left.value, right.value = right.value, left.value
        return call

    return edit


def _blank_argument(place: int) -> Edit:
    return _with("args", lambda args: [*args[:place], ast.Constant(""), *args[place + 1 :]])


def _named(name: str) -> Edit:
    return lambda _node: ast.Name(name, ast.Load())


def _attribute(name: str) -> Edit:
    return _with("attr", lambda _attr: name)


def _without(place: int) -> Edit:
    def edit(node: ast.BoolOp) -> ast.AST:
        kept = [*node.values[:place], *node.values[place + 1 :]]
        return ast.BoolOp(node.op, kept) if len(kept) > 1 else kept[0]

    return edit
