"""Make faults in the source of a rule: a guard dropped or negated, ALL for ANY, off by one.

A rewriting is named by its kind and its place among those of that kind (`drop_guard_2`: the second guard from the top),
so that any process can make it again from the same source.  The rewritten rule uses the globals of its own module and
its own defaults; closures, and rules without source, are not rewritten.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

Function = Callable[..., Any]
Change = Callable[[ast.AST], ast.AST | None]

_SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
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


class Rewriting:
    """A change of one node of a rule's source: its name, the node's number, and the change."""

    def __init__(self, name: str, number: int, change: Change) -> None:
        self.name, self.number, self.change = name, number, change


def rewritings(rule: Function) -> tuple[str, ...]:
    """Return the names of all rewritings of a rule, in the order of its syntax tree."""
    tree = _tree(rule)
    return () if tree is None else tuple(one.name for one in _found(tree))


def rewritten(rule: Function, name: str) -> Function:
    """Return the rule with the rewriting `name`.  Raises KeyError for one it does not have."""
    tree = _tree(rule)
    for one in _found(tree) if tree is not None else ():
        if one.name == name:
            return _made(rule, _applied(tree, one))
    raise KeyError(name)


def _tree(rule: Function) -> ast.FunctionDef | None:
    """The definition of a plain function; None for lambdas, closures and what has no source."""
    if not isinstance(rule, FunctionType) or rule.__closure__ or rule.__name__ == "<lambda>":
        return None
    try:
        module = ast.parse(textwrap.dedent(inspect.getsource(rule)))
    except (OSError, SyntaxError):
        return None
    first = module.body[0]
    if not isinstance(first, ast.FunctionDef):
        return None
    # Decorators, annotations and defaults are not rewritten.
    first.decorator_list, first.returns = [], None
    first.args.defaults, first.args.kw_defaults = [], [None] * len(first.args.kwonlyargs)
    for argument in (*first.args.posonlyargs, *first.args.args, *first.args.kwonlyargs):
        argument.annotation = None
    return first


def _found(tree: ast.FunctionDef) -> Iterator[Rewriting]:
    counts: dict[str, int] = {}
    for number, node in enumerate(ast.walk(tree)):
        for kind, change in _changes(node):
            counts[kind] = counts.get(kind, 0) + 1
            yield Rewriting(f"{kind}_{counts[kind]}", number, change)


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """The kinds of rewritings of a node, each with its change; a change to None leaves the statement out."""
    match node:
        case ast.If(body=[only], orelse=[]) if isinstance(only, _LEAVES):
            yield "drop_guard", lambda _node: None
            yield "negate_guard", _negated
        case ast.If() | ast.IfExp():
            yield "negate_guard", _negated
        case ast.comprehension(ifs=[_, *_]):
            yield "drop_filter", _unfiltered
        case ast.BoolOp(values=values):
            yield "swap_and_or", _other_operator
            for place in range(len(values)):
                yield "drop_operand", _without(place)
        case ast.UnaryOp(op=ast.Not()):
            yield "drop_not", lambda found: found.operand  # type: ignore[attr-defined]
        case ast.Compare(ops=[op]) if type(op) in _SWAPPED:
            yield "other_comparison", _other_comparison
        case ast.Call(func=ast.Name(id="all" | "any")):
            yield "swap_all_any", _other_quantifier
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            yield "off_by_one", lambda _node: ast.Constant(number + 1)
        case _:
            return


def _negated(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.If | ast.IfExp)
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return node


def _unfiltered(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.comprehension)
    node.ifs = node.ifs[1:]
    return node


def _other_operator(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return node


def _without(place: int) -> Change:
    def change(node: ast.AST) -> ast.AST:
        assert isinstance(node, ast.BoolOp)
        kept = [*node.values[:place], *node.values[place + 1 :]]
        return ast.BoolOp(node.op, kept) if len(kept) > 1 else kept[0]

    return change


def _other_comparison(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    node.ops = [_SWAPPED[type(node.ops[0])]()]
    return node


def _other_quantifier(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    node.func = ast.Name("any" if node.func.id == "all" else "all", ast.Load())
    return node


def _applied(tree: ast.FunctionDef | None, one: Rewriting) -> ast.FunctionDef:
    """A copy of the definition in which one node is changed."""
    made = copy.deepcopy(tree)
    assert made is not None
    place = next(node for number, node in enumerate(ast.walk(made)) if number == one.number)

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            if node is place:
                new = one.change(node)
                return ast.Pass() if new is None else new
            return self.generic_visit(node)

    Put().visit(made)
    return ast.fix_missing_locations(made)


def _made(rule: Function, tree: ast.FunctionDef) -> Function:
    """A function of this definition with the rule's globals; its code is extracted from a module that is never run."""
    assert isinstance(rule, FunctionType)
    whole = compile(ast.Module([tree], []), f"<rewritten {rule.__name__}>", "exec", dont_inherit=True)
    code = next(one for one in whole.co_consts if isinstance(one, CodeType))
    made = FunctionType(code, rule.__globals__, rule.__name__, rule.__defaults__)
    made.__kwdefaults__ = rule.__kwdefaults__
    made.__module__ = rule.__module__
    return made
