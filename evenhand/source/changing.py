"""Lists that a function makes and changes: which of them nobody else holds, and what a function collects in one.

What has another name changes with a list, so a change is read only where the source shows that there is none.
"""

from __future__ import annotations

import ast
import builtins
import copy
from typing import Literal

from evenhand.source.reading import Source, otherwise_bound

Kind = Literal["set", "list"]

_COPIES: dict[str, Kind] = {"tuple": "list", "list": "list", "set": "set", "frozenset": "set"}


def its_own(source: Source, name: str) -> bool:
    """Return whether a function makes each list that it calls by a name, and looks at its entries and copies alone."""
    tree = source.tree
    uses, inner = _uses(tree, name)
    if inner or name in otherwise_bound(tree):
        return False
    harmless: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ast.Name() as one, key) if not isinstance(key, ast.Slice):
                harmless.add(id(one))
            case ast.Call(ast.Name(copies), [ast.Name() as one], []) if _builtin(source, copies, (*_COPIES, "len")):
                harmless.add(id(one))
            case ast.Assign([ast.Name() as one], value) | ast.AnnAssign(ast.Name() as one, _, value):
                harmless |= {id(one)} if _made(source, value) else set()
            case ast.Assign([ast.Tuple(several)], ast.Tuple(values)) if len(several) == len(values):
                harmless |= {id(one) for one, value in zip(several, values, strict=True) if _made(source, value)}
            case _:
                pass
    return all(id(one) in harmless for one in uses)


def _made(source: Source, value: ast.expr | None) -> bool:
    """Whether an expression makes a list: `list(...)`, `[... for ...]`, `[x] * n`."""
    match value:
        case ast.ListComp() | ast.BinOp(ast.List(), ast.Mult(), _):
            return True
        case ast.Call(ast.Name(name)):
            return _builtin(source, name, ("list",))
        case _:
            return False


def _builtin(source: Source, name: str, among: tuple[str, ...]) -> bool:
    """Whether a name means the builtin of that name, which is one of these."""
    return name in among and source.outside(name) is getattr(builtins, name)


def _uses(tree: ast.AST, name: str) -> tuple[list[ast.Name], bool]:
    """The places where a name stands, and whether a function defined inside, or `global`, has it too."""
    nodes = list(ast.walk(tree))
    inside = (one for one in nodes if isinstance(one, ast.FunctionDef | ast.Lambda) and one is not tree)
    inner = any(isinstance(one, ast.Name) and one.id == name for part in inside for one in ast.walk(part))
    shared = any(isinstance(one, ast.Global | ast.Nonlocal) and name in one.names for one in nodes)
    return [one for one in nodes if isinstance(one, ast.Name) and one.id == name], inner or shared


def collecting(source: Source, function: ast.FunctionDef) -> tuple[Kind, ast.FunctionDef] | None:
    """Return a function that collects members in a list or a set of its own as one that yields them, with the kind.

    None for another function: each `return` must give the collection, or a copy of it.
    """
    begun = _begun(source, function)
    if begun is None or not isinstance(function.body[-1], ast.Return):
        return None
    tree = copy.deepcopy(function)
    place, name, kind = begun
    made = _Yields(source, name, kind)
    tree.body = [made.visit(one) for at, one in enumerate(tree.body) if at != place]
    uses, inner = _uses(tree, name)
    if uses or inner or name in otherwise_bound(tree) or made.others or not made.yields or len(made.kinds) != 1:
        return None
    return made.kinds.pop(), ast.fix_missing_locations(tree)


def _begun(source: Source, tree: ast.FunctionDef) -> tuple[int, str, Kind] | None:
    """Where a function begins an empty list or set, its name and kind; None if it begins none."""
    for place, one in enumerate(tree.body):
        match one:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, value):
                if isinstance(value, ast.List) and not value.elts:
                    return place, name, "list"
                if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and not value.args:
                    called = value.func.id
                    if _builtin(source, called, ("list", "set")):
                        return place, name, _COPIES[called]
            case _:
                pass
    return None


class _Yields(ast.NodeTransformer):
    """Yields what is added to a collection; `kinds` are what is returned, `others` whether something else is."""

    def __init__(self, source: Source, name: str, kind: Kind) -> None:
        self.source, self.name = source, name
        self.kind: Kind = kind
        self.kinds: set[Kind] = set()
        self.others = self.yields = False
        listed = kind == "list"
        self.one, self.many = ("append", "extend") if listed else ("add", "update")
        self.sign: type[ast.operator] = ast.Add if listed else ast.BitOr

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function inside returns for itself."""
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """`found.append(x)` yields x, `found.extend(xs)` its members."""
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(self.name), how), [given], []) if how in (self.one, self.many):
                return self._yielding(node, given, how == self.many)
            case _:
                self.others = self.others or isinstance(node.value, ast.Yield | ast.YieldFrom)
                return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`found += xs` adds the members of xs."""
        if isinstance(node.target, ast.Name) and node.target.id == self.name and isinstance(node.op, self.sign):
            return self._yielding(node, node.value, True)
        return node

    def _yielding(self, node: ast.stmt, given: ast.expr, many: bool) -> ast.AST:
        self.yields = True
        return ast.copy_location(ast.Expr(ast.YieldFrom(given) if many else ast.Yield(given)), node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """The collection, or a copy of it, is what was yielded."""
        match node.value:
            case ast.Name(self.name):
                self.kinds.add(self.kind)
            case ast.Call(ast.Name(copies), [ast.Name(self.name)], []) if _builtin(self.source, copies, (*_COPIES,)):
                self.kinds.add(_COPIES[copies])
            case _:
                self.others = True
        return ast.copy_location(ast.Return(None), node)
