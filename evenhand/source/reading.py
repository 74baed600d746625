"""Find the source of a function: its tree, its file and line, and what its names mean outside it."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from evenhand.core.kinds import with_config
from evenhand.source.refusal import Unreadable, refuse

MISSING = object()


@dataclass(frozen=True)
class Source:
    """A function with its tree."""

    function: Any
    tree: ast.FunctionDef | ast.Lambda

    @property
    def file(self) -> str:
        """The name of its file, without folders."""
        return Path(self.function.__code__.co_filename).name

    @cached_property
    def binds(self) -> frozenset[str]:
        """The names that get a value inside the function, or inside one that it defines."""
        return otherwise_bound(self.tree) | {
            one.id for one in ast.walk(self.tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        }

    def outside(self, name: str) -> Any:
        """Return what a name means outside the function; MISSING if nothing, or if it is a name of the inside."""
        if name in self.binds:
            return MISSING
        code = self.function.__code__
        if name in code.co_freevars and self.function.__closure__ is not None:
            try:
                return self.function.__closure__[code.co_freevars.index(name)].cell_contents
            except ValueError:
                return MISSING
        outside: dict[str, Any] = self.function.__globals__
        return outside.get(name, getattr(builtins, name, MISSING))

    def refused(self, node: ast.AST, why: str, instead: str) -> Unreadable:
        """Return the refusal of a construct of this function."""
        return refuse(why, instead).at(self.file, getattr(node, "lineno", 0), shown(node))


def otherwise_bound(tree: ast.AST) -> frozenset[str]:
    """Return the names that get a value otherwise than by assignment: as arguments, functions, parts of patterns."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.arg(name) | ast.FunctionDef(name) | ast.MatchAs(_, str(name)) if node is not tree:
                found.add(name)
            case _:
                pass
    return frozenset(found)


def shown(node: ast.AST) -> str:
    """Return a construct on one line of at most 60 characters."""
    try:
        text = " ".join(ast.unparse(node).split())
    except (AttributeError, ValueError, RecursionError):
        text = type(node).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def source_of(function: Any) -> Source:
    """Return the source of a Python function.  Raises Unreadable for one that has none, or is a coroutine."""
    if not isinstance(function, FunctionType):
        name = getattr(function, "__name__", type(function).__name__)
        raise refuse(f"{name} is no function written in Python", "write one with `def`")
    code = function.__code__
    found = [node for node in _functions(code.co_filename) if _fits(node, code)]
    if len(found) != 1:
        why = "its source is not found" if not found else "several functions stand on one line"
        raise refuse(f"{function.__name__}: {why}", "write it with `def` in a file")
    return Source(function, found[0])


def _fits(node: ast.FunctionDef | ast.Lambda, code: CodeType) -> bool:
    arguments = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    count = code.co_argcount + code.co_kwonlyargcount
    if arguments != list(code.co_varnames[:count]):
        return False
    if isinstance(node, ast.FunctionDef):
        lines = {node.lineno, *(one.lineno for one in node.decorator_list[:1])}
        return node.name == code.co_name and code.co_firstlineno in lines
    if code.co_name != "<lambda>":
        return False
    body = node.body
    places = [p for p in code.co_positions() if p[0] is not None and p[2] is not None and p[2] != p[3]]
    inside = [
        ((body.lineno, body.col_offset) <= (p[0], p[2])) and ((p[1], p[3]) <= (body.end_lineno, body.end_col_offset))
        for p in places
    ]
    whole = any((p[0], p[2]) == (body.lineno, body.col_offset) for p in places)
    return bool(inside) and all(inside) and (whole or code.co_firstlineno == node.lineno)


@lru_cache(maxsize=256)
def _tree(text: str) -> tuple[ast.FunctionDef | ast.Lambda, ...]:
    return tuple(_within(ast.parse(text)))


def _within(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.Lambda]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            yield node


def _functions(file: str) -> tuple[ast.FunctionDef | ast.Lambda, ...]:
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file))
    try:
        return _tree(text)
    except SyntaxError:
        return ()


def plain(function: Any) -> Any:
    """Return the function that a user wrote, without the workbench's own wrappers; a user's wrappers stay."""
    while True:
        inner = getattr(function, "__plain__", None)
        if inner is None and (getattr(function, "__asked__", None) is function or _ours(function)):
            inner = getattr(function, "__wrapped__", None)
        if inner is None:
            return function
        function = inner


def _ours(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and code.co_filename == with_config.__code__.co_filename


def parameters(function: Any) -> tuple[str, ...]:
    """Return the names of the arguments that have no default."""
    listed = inspect.signature(function).parameters.values()
    return tuple(one.name for one in listed if one.default is inspect.Parameter.empty)
