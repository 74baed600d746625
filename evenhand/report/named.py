"""The closed sets of words and the named types of a protocol, from the modules that define its records."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast


def named(types: Iterable[type]) -> Iterator[str]:
    """Yield the lines of a page: each closed set of words with what it is for, then each named type.

    A set of words is a constant that has a sentence beneath it; what has none is a part of another.
    """
    words, kinds = list[str](), list[str]()
    for module in dict.fromkeys(kind.__module__ for kind in types):
        there = vars(sys.modules[module])
        body = ast.parse(inspect.getsource(sys.modules[module])).body
        for node, below in zip(body, [*body[1:], None], strict=True):
            said = _sentence(below)
            match node:
                case ast.Assign(targets=[target]) if said and (told := _texts(target, there)):
                    words.append(f"| {', '.join(f'`{one}`' for one in told)} | {said} |")
                case ast.AnnAssign(target=ast.Name(name), annotation=ast.Name("TypeAlias"), value=ast.expr() as value):
                    kinds.append(f"| `{name}` | `{_cell(ast.unparse(value))}` | {said} |")
                case _:
                    pass
    if words:
        yield from ("## Words", "", "| words | |", "|---|---|", *words, "")
    if kinds:
        yield from ("## Named types", "", "| type | is | |", "|---|---|---|", *kinds, "")


def _texts(target: ast.expr, there: dict[str, Any]) -> tuple[str, ...]:
    """The texts of a constant, or of several that are assigned at once; none where they are something else."""
    match target:
        case ast.Name(name) if name.isupper():
            found = there[name]
        case ast.Tuple(elts):
            found = tuple(there.get(one.id) for one in elts if isinstance(one, ast.Name) and one.id.isupper())
        case _:
            return ()
    entries = cast("Sequence[object]", found) if isinstance(found, tuple) else ()
    texts = tuple(one for one in entries if isinstance(one, str) and one)
    return texts if len(texts) == len(entries) else ()


def _sentence(node: ast.stmt | None) -> str:
    """The text that stands alone beneath a constant, on one line."""
    match node:
        case ast.Expr(ast.Constant(str() as said)):
            return _cell(" ".join(said.split()))
        case _:
            return ""


def _cell(said: str) -> str:
    return said.replace("|", "\\|")
