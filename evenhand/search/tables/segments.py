"""Cut `actions` into segments, so that independent conditions are not multiplied.

The model's function is compiled once more from its own source, with a `yield` of a mark before each of its statements;
nothing else changes.  At a mark the generator is suspended, and `continuations` says what its further course depends
on.  A list comprehension that is returned is run as the loop that it abbreviates, and a call that is returned as
`yield from` that call, so that the function called is cut as well.  What is put into a list that is returned, and not
looked at, is yielded there.

A source whose bytecode differs from that of the function is not used, nor one with `with`, `try` or `await`.
"""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from types import CellType, CodeType, FunctionType, GeneratorType, MethodType
from typing import Any

from evenhand.search.tables.proxies import members_of
from evenhand.search.tables.sources import SEGMENTS, aside, read_outside, source_of

MARK = "\0mark of a segment"
"""What a segmented generator yields between two statements."""

_INNER = "_evenhand_segmented"
_SORTED, _HELD = "sorted", "held"
_TROUBLE = (ast.With, ast.Try, ast.TryStar, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Global, ast.Nonlocal)


_READS_VARIABLES = {"locals", "vars", "dir", "eval", "exec", "globals"}
"""Functions that may read a variable of which the bytecode shows no use."""


def segmented_call(function: Any, given: tuple[Any, ...]) -> Iterator[Any]:
    """Call a function that lists values, and iterate over them, with marks where that is possible."""
    if type(function) is MethodType:
        return segmented_call(function.__func__, (function.__self__, *given))
    if type(function) is FunctionType:
        code = _cut(function.__code__)
        if code is not None and not function.__code__.co_flags & inspect.CO_GENERATOR:
            names = _bound(function, given)
            if names is not None:
                cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
                return _started(code, function.__globals__, names, cells)
    return segmented(function(*given))


@aside
def _bound(function: Any, given: tuple[Any, ...]) -> dict[str, Any] | None:
    try:
        bound = inspect.signature(function, follow_wrapped=False).bind(*given)
    except (TypeError, ValueError):
        return None
    bound.apply_defaults()
    return dict(bound.arguments)


def _delegated(function: Any, *given: Any, **named: Any) -> Any:
    """Call a function of the model in the place of `yield from` or in a loop; without one, the values are given."""
    if function == MARK:
        return type(given[0]) is str and given[0] == MARK
    if function == _SORTED:
        function, one = given
        divided = members_of(one) if function is sorted else None
        return iter(function(one, **named)) if divided is None else divided.in_order(one, MARK, **named)
    if function == _HELD and type(given[0]) is GeneratorType:
        return given[0]  # another may go on with it, before the loop ends or after
    if function == _HELD:
        return segmented(*given)
    return segmented(*given) if function is None else segmented_call(function, given)


def segmented(listed: Any) -> Iterator[Any]:
    """Return a generator of the same values, with marks where that is possible."""
    if type(listed) is GeneratorType and listed.gi_frame is not None and not listed.gi_running and _is_new(listed):
        code = _cut(listed.gi_code)
        values = {**listed.gi_frame.f_locals}
        if code is not None and set(listed.gi_code.co_freevars) <= values.keys():
            cells = {name: CellType(values[name]) for name in listed.gi_code.co_freevars}
            names = [name for name in listed.gi_code.co_varnames if name in values]
            given = {name.replace(".0", "_0"): values[name] for name in names}
            made = _started(code, listed.gi_frame.f_globals, given, cells)
            listed.close()
            return made
    return iter(listed)


@aside
def _is_new(generator: Any) -> bool:
    return inspect.getgeneratorstate(generator) == inspect.GEN_CREATED


def _started(code: CodeType, names: dict[str, Any], given: dict[str, Any], cells: dict[str, CellType]) -> Iterator[Any]:
    closure = tuple(CellType(_delegated) if name == _INNER else cells[name] for name in code.co_freevars)
    made: Iterator[Any] = FunctionType(code, names, code.co_name, None, closure)(**given)
    return made


@aside
@cache
def _cut(code: CodeType) -> CodeType | None:
    """The code of a generator with marks, from the source of this code; None where there is none."""
    tree = None if code.co_name == "<listcomp>" or _READS_VARIABLES & read_outside(code) else source_of(code)
    if tree is None:
        return None
    nodes = [node for node in ast.walk(tree) if _is_of(node, code)]
    return _compiled(nodes[0], code) if len(nodes) == 1 else None


def _is_of(node: ast.AST, code: CodeType) -> bool:
    """Whether a node of the source is what a code object was compiled from."""
    match node:
        case ast.FunctionDef():
            line = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            return node.name == code.co_name and line == code.co_firstlineno
        case ast.Lambda():
            return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
        case ast.GeneratorExp():
            return code.co_name == "<genexpr>" and node.lineno == code.co_firstlineno
        case _:
            return False


def _compiled(node: ast.AST, code: CodeType) -> CodeType | None:
    match node:
        case ast.FunctionDef():
            body = _as_generator(node.body) if not code.co_flags & inspect.CO_GENERATOR else node.body
        case ast.Lambda():
            body = _as_generator([ast.Return(node.body)])
        case ast.GeneratorExp():
            body = _loops(node, first=ast.Name("_0", ast.Load()))
        case _:
            body = None
    if body is None or "__class__" in code.co_freevars:
        return None
    if any(isinstance(inner, _TROUBLE) for statement in body for inner in ast.walk(statement)):
        return None
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    names = [name.replace(".0", "_0") for name in code.co_varnames[:count]]
    marked = _marked(_Delegation().all_of(body))
    inner = _function(SEGMENTS, [], names, marked)
    outer = _function("outer", [*code.co_freevars, _INNER], [], [inner])
    module = ast.fix_missing_locations(ast.Module([outer], []))
    future = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
    flags = code.co_flags & future
    made = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    return next(c for c in _inner(_inner(made)[0]) if c.co_name == SEGMENTS)


def _function(name: str, args: list[str], keywords: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(one) for one in args],
        kwonlyargs=[ast.arg(one) for one in keywords],
        kw_defaults=[None] * len(keywords),
        defaults=[],
    )
    return ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[], lineno=1, col_offset=0)


def _inner(code: CodeType) -> list[CodeType]:
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def _copied(body: list[ast.stmt]) -> list[ast.stmt]:
    return copy.deepcopy(body)


def _as_generator(body: list[ast.stmt]) -> list[ast.stmt] | None:
    """The body of a function that returns lists, as that of a generator of the same values."""
    returned = [one for one in _own(body) if isinstance(one, ast.Return)]
    names = {first.id for one in returned if isinstance(first := _leftmost(one.value), ast.Name)}
    if not returned or len(names) > 1:
        return None
    if not names:
        return _Returns("").all_of(body)
    listing = _Listing(names.pop())
    begun = next((place for place, one in enumerate(body) if listing.begins(one)), len(body))
    later = [one for one in _own(body[begun:]) if isinstance(one, ast.Return)]
    if not all(isinstance(_leftmost(one.value), ast.Name) for one in later):
        return None  # which drops what was put into the list
    return listing.yielded(_Returns(listing.name).all_of(body))


def _own(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    for one in body:
        yield one
        if not isinstance(one, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own(ast.iter_child_nodes(one))


def _leftmost(value: ast.expr | None) -> ast.expr | None:
    """What begins a sum of lists."""
    return _leftmost(value.left) if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) else value


def _yields(value: ast.expr | None, name: str = "") -> list[ast.stmt]:
    """Statements that yield the values of a list one by one; those of the list of that name are yielded elsewhere."""
    match value:
        case None:
            return []
        case ast.Name(id=known) if known == name:
            return []
        case ast.BinOp(op=ast.Add()):
            return _yields(value.left, name) + _yields(value.right)
        case ast.IfExp():
            return [ast.If(value.test, _yields(value.body) or [ast.Pass()], _yields(value.orelse))]
        case ast.List() | ast.Tuple():
            return [
                one
                for each in value.elts
                for one in (_yields(each.value) if isinstance(each, ast.Starred) else [ast.Expr(ast.Yield(each))])
            ]
        case ast.ListComp() | ast.GeneratorExp():
            return _loops(value)
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[one], keywords=[]):
            return _yields(one)
        case _:
            return [ast.Expr(ast.YieldFrom(value))]


class _Rewriter(ast.NodeTransformer):
    """A rewriter of statements that leaves functions within the function as they are."""

    def all_of(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements rewritten."""
        made: ast.Module = self.visit(ast.Module(_copied(body), []))
        return made.body

    def _leave(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_Lambda = visit_ClassDef = visit_GeneratorExp = visit_ListComp = _leave


class _Returns(_Rewriter):
    """Statements that return a list yield its values, but for those in the list of a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Return(self, node: ast.Return) -> Any:
        """Rewrite one statement."""
        return [*_yields(node.value, self.name), ast.Return(None)]


class _Listing(_Rewriter):
    """Statements that put values into a list yield these instead."""

    def __init__(self, name: str) -> None:
        self.name, self.begun = name, 0

    def yielded(self, body: list[ast.stmt]) -> list[ast.stmt] | None:
        """Return the body without the list; None where the list is used in another way."""
        begins = any(map(self.begins, body))
        made = self.all_of(body)
        names = [node.id for one in made for node in ast.walk(one) if isinstance(node, ast.Name)]
        return made if begins and self.begun == 1 and self.name not in names else None

    def begins(self, node: ast.stmt) -> bool:
        """Return whether a statement assigns to the list."""
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        target = node.target if isinstance(node, ast.AnnAssign) else target
        return isinstance(target, ast.Name) and target.id == self.name

    def visit_Assign(self, node: Any) -> Any:
        """The list begins, with some values perhaps."""
        if not self.begins(node) or not isinstance(node.value, ast.List | ast.ListComp):
            return node
        self.begun += 1
        return _yields(node.value) or ast.Pass()

    visit_AnnAssign = visit_Assign

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """`values += …`, which puts several in."""
        mine = isinstance(node.target, ast.Name) and node.target.id == self.name and isinstance(node.op, ast.Add)
        return (_yields(node.value) or ast.Pass()) if mine else node

    def visit_Expr(self, node: ast.Expr) -> Any:
        """`values.append(…)` and `values.extend(…)`."""
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=self.name), attr="append"), args=[one], keywords=[]):
                return ast.Expr(ast.Yield(one))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=self.name), attr="extend"), args=[one], keywords=[]):
                return _yields(one) or ast.Pass()
            case _:
                return node


def _loops(value: ast.ListComp | ast.GeneratorExp, first: ast.expr | None = None) -> list[ast.stmt]:
    """A comprehension as loops, whose variables are no others of the function."""
    names = {one.id for each in value.generators for one in ast.walk(each.target) if isinstance(one, ast.Name)}
    if any(isinstance(one, ast.arg) and one.arg in names for one in ast.walk(value)):
        return [ast.Expr(ast.YieldFrom(value))]
    first = value.generators[0].iter if first is None else first
    value = copy.deepcopy(value)
    for one in ast.walk(value):
        if isinstance(one, ast.Name) and one.id in names:
            one.id += f"_in_{value.lineno}_{value.col_offset}"
    body: list[ast.stmt] = [ast.Expr(ast.Yield(value.elt))]
    for place, one in reversed(list(enumerate(value.generators))):
        for test in reversed(one.ifs):
            body = [ast.If(test, body, [])]
        source = first if place == 0 else one.iter
        body = [ast.For(target=one.target, iter=source, body=body, orelse=[], lineno=1, col_offset=0)]
    return body


class _Delegation(_Rewriter):
    """`yield from …` as a statement becomes a loop over a segmented iterator."""

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Rewrite one statement."""
        if not isinstance(node.value, ast.YieldFrom):
            return self.generic_visit(node)
        name = "_evenhand_each"
        value = node.value.value
        call = [value.func, *value.args] if isinstance(value, ast.Call) and not value.keywords else None
        source = ast.Call(ast.Name(_INNER, ast.Load()), call or [ast.Constant(None), value], [])
        body: list[ast.stmt] = [ast.Expr(ast.Yield(ast.Name(name, ast.Load())))]
        return ast.For(target=ast.Name(name, ast.Store()), iter=source, body=body, orelse=[], lineno=1, col_offset=0)


def _marked(body: list[ast.stmt]) -> list[ast.stmt]:
    """The same statements with a mark before each, in loops as well."""
    made: list[ast.stmt] = []
    for one in body:
        if (
            isinstance(one, ast.For)
            and not _is_delegated(one.iter)
            and (_is_sorted(one.iter) or not _may_end_early(one))
        ):
            made += [ast.Expr(ast.Yield(ast.Constant(MARK))), _marked_loop(one)]
            continue
        if isinstance(one, ast.For | ast.While):
            one.body, one.orelse = _marked(one.body), _marked(one.orelse) if one.orelse else []
        elif isinstance(one, ast.If):
            one.body, one.orelse = _marked_branch(one.body), _marked_branch(one.orelse)
        made += [ast.Expr(ast.Yield(ast.Constant(MARK))), one]
    return made


def _marked_branch(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a condition with marks, if they have loops, or conditions beside others."""
    apart = any(map(_loops_in, body)) or (len(body) > 1 and any(isinstance(one, ast.If) for one in body))
    return _marked(body) if apart else body


def _is_delegated(source: ast.expr) -> bool:
    return isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == _INNER


def _marked_loop(loop: ast.For) -> ast.For:
    """A loop with marks; over a set that has columns, also before each element that may be in it."""
    call: Any = loop.iter
    name = "_evenhand_one"
    given: list[ast.expr] = [ast.Constant(None if isinstance(call, ast.Call) else _HELD), call]
    named = list[ast.keyword]()
    if _is_sorted(call):
        given, named = [ast.Constant(_SORTED), call.func, *call.args], call.keywords
    here = ast.Name(name, ast.Load())
    only_mark: list[ast.stmt] = [ast.Expr(ast.Yield(ast.Constant(MARK))), ast.Continue()]
    is_mark = ast.Call(ast.Name(_INNER, ast.Load()), [ast.Constant(MARK), here], [])
    first = [ast.If(is_mark, only_mark, []), ast.Assign([loop.target], here)]
    return ast.For(
        target=ast.Name(name, ast.Store()),
        iter=ast.Call(ast.Name(_INNER, ast.Load()), given, named),
        body=[*first, *_marked(loop.body)],
        orelse=_marked(loop.orelse) if loop.orelse else [],
    )


def _is_sorted(source: ast.expr) -> bool:
    match source:
        case ast.Call(func=ast.Name(id="sorted"), args=[one]):
            return not isinstance(one, ast.Starred)
        case _:
            return False


def _may_end_early(loop: ast.For) -> bool:
    """Whether a loop may end before its last element: which elements it has had then depends on their order."""
    return any(isinstance(inner, ast.Break | ast.Return) for one in loop.body for inner in ast.walk(one))


def _loops_in(statement: ast.stmt) -> bool:
    return any(isinstance(one, ast.For | ast.While) for one in ast.walk(statement))
