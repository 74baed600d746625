"""The closed sets of words, the named types and the sentences of a protocol, from the modules of its model."""

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
        for node, said in _body(module):
            match node:
                case ast.Assign(targets=[target]) if said and (told := _texts(target, there)):
                    words.append(f"| {', '.join(f'`{one}`' for one in told)} | {said} |")
                case ast.AnnAssign(
                    target=ast.Name(name), annotation=ast.Name("TypeAlias"), value=ast.expr() as value
                ) if not name.startswith("_"):
                    kinds.append(f"| `{name}` | `{_cell(ast.unparse(value))}` | {said} |")
                case _:
                    pass
    if words:
        yield from ("## Words", "", "| words | |", "|---|---|", *words, "")
    if kinds:
        yield from ("## Named types", "", "| type | is | |", "|---|---|---|", *kinds, "")


def sentence_of(value: object, package: str) -> str:
    """Return the sentence beneath the constant of a package that is this very value; empty where there is none."""
    for module in sorted(name for name in sys.modules if name.startswith(f"{package}.")):
        names = {name for name, kept in vars(sys.modules[module]).items() if kept is value}
        for node, said in _body(module) if names else ():
            match node:
                case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)) if said:
                    if name in names:
                        return said
                case _:
                    pass
    return ""


def _body(module: str) -> Iterator[tuple[ast.stmt, str]]:
    """Each statement of a module, with the sentence beneath it."""
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    for node, below in zip(body, [*body[1:], None], strict=True):
        yield node, _sentence(below)


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
