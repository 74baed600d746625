"""Where a function is being read: its names so far, the conditions that led here, and what would raise."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.smt.logic import FALSE, TRUE, Formula, Var
from evenhand.source.reading import Source
from evenhand.source.simplify import all_of, some
from evenhand.source.values import Cases, Const, Value, kept


@dataclass(frozen=True)
class Frame:
    """Names bound in a function; `path` is the condition under which a place is reached; `depth` counts calls."""

    source: Source
    names: Mapping[str, Value]
    path: Formula = TRUE
    depth: int = 0

    def binding(self, names: Mapping[str, Value]) -> Frame:
        """Return this frame with more names.  Raises Unreadable for a generator."""
        return replace(self, names={**self.names, **{name: kept(one) for name, one in names.items()}})

    def under(self, test: Formula) -> Frame:
        """Return this frame under one more condition."""
        return replace(self, path=all_of((self.path, test)))


@dataclass(frozen=True, eq=False)
class Closure:
    """A function defined inside another, with the names it sees there."""

    tree: ast.FunctionDef | ast.Lambda
    frame: Frame
    defaults: Mapping[str, Value]


class Errors:
    """Conditions under which the Python function would raise."""

    def __init__(self) -> None:
        self.found: list[Formula] = []

    def add(self, path: Formula, condition: Formula = TRUE) -> None:
        """Note that a place raises under a condition."""
        found = all_of((path, condition))
        if found != FALSE:
            self.found.append(found)

    def close(self, since: int, variables: Sequence[Var]) -> None:
        """Say of what was found since then that it is so for some values of the variables."""
        self.found[since:] = [some(variables, one) for one in self.found[since:]]


def only(value: Value) -> Any:
    """Return the one known Python value that this is; None if it is no such value."""
    if isinstance(value, Cases) and len(value.parts) == 1 and isinstance(value.parts[0][1], Const):
        return value.parts[0][1].value
    return None


def written_in(nodes: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...]) -> bool:
    """Return whether a construct stands in these, outside functions that they define."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, kinds):
            return True
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.GeneratorExp):
            waiting.extend(ast.iter_child_nodes(node))
    return False
