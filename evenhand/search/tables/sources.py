"""The source of code that runs, where it compiles to that very code; and how to look at it unseen by the watch."""

# Constants of code have any type: pyright calls them partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import ast
import dis
import linecache
import sys
from collections.abc import Callable, Iterator
from functools import cache, wraps
from types import CodeType
from typing import Any, TypeVar, cast

SEGMENTS = "_evenhand_segments"
"""The name of generators that were compiled once more, with marks, from a source that was compared."""

F = TypeVar("F", bound=Callable[..., Any])


def aside(work: F) -> F:
    """Let a function of ours run without the watch on the model, for it runs no part of the model."""

    @wraps(work)
    def unwatched(*given: Any) -> Any:
        watch = sys.gettrace()
        sys.settrace(None)
        try:
            return work(*given)
        finally:
            sys.settrace(watch)

    return cast("F", unwatched)


@cache
def source_of(code: CodeType) -> ast.Module | None:
    """Return the source of the file of some code; None where the file no longer says what runs."""
    tree, known = _module(code.co_filename)
    if code.co_name == SEGMENTS:
        return tree
    twins = [one for one in known if one.co_firstlineno == code.co_firstlineno and one.co_qualname == code.co_qualname]
    return tree if any(_same_code(one, code) for one in twins) and len(twins) == 1 else None


@cache
def _module(name: str) -> tuple[ast.Module | None, tuple[CodeType, ...]]:
    """The source of a file, and every code object in it."""
    lines = linecache.getlines(name)
    if not lines or not name.endswith(".py"):
        return None, ()
    try:
        tree = ast.parse("".join(lines))
        code = compile(tree, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None, ()

    def within(one: CodeType) -> Iterator[CodeType]:
        yield one
        for inner in one.co_consts:
            if isinstance(inner, CodeType):
                yield from within(inner)

    return tree, tuple(within(code))


def _same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same."""
    names = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_argcount")
    if any(getattr(one, name) != getattr(other, name) for name in names):
        return False
    pairs = list(zip(one.co_consts, other.co_consts, strict=False))
    return len(one.co_consts) == len(other.co_consts) and all(
        _same_code(a, b) if isinstance(a, CodeType) and isinstance(b, CodeType) else type(a) is type(b) and a == b
        for a, b in pairs
    )


@cache
def read_outside(code: CodeType) -> frozenset[str]:
    """Return the names that some code, with the functions in it, takes from the module or from the built-in ones."""
    inner = [read_outside(one) for one in code.co_consts if isinstance(one, CodeType)]
    body = dis.get_instructions(code)
    return frozenset({one.argval for one in body if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}.union(*inner))
