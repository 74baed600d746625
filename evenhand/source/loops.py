"""Read loops over what there may be any number of: a search that returns, and one that fills a dictionary."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from evenhand.smt.logic import FALSE, TRUE, Formula, Term
from evenhand.source.calls import Calls
from evenhand.source.choosing import dictionary, member
from evenhand.source.constants import Lookup
from evenhand.source.frames import Errors, Frame, only, written_in
from evenhand.source.reading import otherwise_bound
from evenhand.source.simplify import all_of, any_of, negation, some
from evenhand.source.values import FRESH, Value, merged

_ELSEWHERE = (ast.Break, ast.Match, ast.Raise, ast.Assert, ast.While, ast.FunctionDef, ast.Lambda)
"""What leads out of a loop in another way, or has a `return` of its own."""


class Loops(Calls):
    """Reads loops."""

    def returned(self, statements: Sequence[ast.stmt], frame: Frame) -> Value:
        """Return what statements return."""
        raise NotImplementedError

    def stepped(self, node: ast.stmt, frame: Frame) -> Frame:
        """Return the frame after a statement that neither returns nor branches."""
        raise NotImplementedError

    def searched(self, node: ast.For, rest: Sequence[ast.stmt], frame: Frame) -> Value:
        """A loop that returns where it finds something; what depends on what it finds is that of the first."""
        returns = {ast.dump(one): one.value for one in ast.walk(node) if isinstance(one, ast.Return)}
        names = assigned_in([node])
        apart = not names & set(frame.names) and not node.orelse
        plain = apart and len(returns) == 1
        value = next(iter(returns.values())) if plain and not written_in([node], _ELSEWHERE) else None
        if value is not None and not names & {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}:
            found = self._gets_there([node], frame)
            return merged(
                found, self.read(value, frame.under(found)), self.returned(rest, frame.under(negation(found)))
            )
        match node.body:
            case [ast.If(test, [ast.Return(value)], [])] if apart and value is not None:
                found = self._gets_there([node], frame)
                then = self._of_first(node, test, value, frame)
                if then is not None:
                    return merged(found, then, self.returned(rest, frame.under(negation(found))))
            case _:
                pass
        raise frame.source.refused(
            node, "a loop whose result depends on the order of its steps", "write it with any, all or a comprehension"
        )

    def _gets_there(self, statements: Sequence[ast.stmt], frame: Frame) -> Formula:
        """Whether statements, of which each loop is a search, get to a `return`."""
        parts: list[Formula] = []
        for place, one in enumerate(statements):
            rest = statements[place + 1 :]
            match one:
                case ast.Return():
                    return any_of((*parts, TRUE))
                case ast.Continue():
                    return any_of(parts)
                case ast.If(test, then, other):
                    asked = self.test(test, frame)
                    yes = self._gets_there([*then, *rest], frame.under(asked)) if asked != FALSE else FALSE
                    no = self._gets_there([*other, *rest], frame.under(negation(asked))) if asked != TRUE else FALSE
                    return any_of((*parts, all_of((asked, yes)), all_of((negation(asked), no))))
                case ast.For(target, source, body, []):
                    for item in self.iterated(source, frame):
                        since = len(self.errors.found)
                        here = self.assigned(target, item.value, frame.under(item.guard))
                        parts.append(some(item.variables, all_of((item.guard, self._gets_there(body, here)))))
                        self.errors.close(since, item.variables)
                case _:
                    frame = self.stepped(one, frame)
        return any_of(parts)

    def _of_first(self, node: ast.For, test: ast.expr, value: ast.expr, frame: Frame) -> Value | None:
        """What a search returns where it finds something; None if the first that it finds is not known."""
        generator = ast.comprehension(node.target, node.iter, [test], 0)
        searched = ast.fix_missing_locations(ast.copy_location(ast.GeneratorExp(value, [generator]), node))
        over = self.made_places(searched, frame)
        return None if over is None else member(self.world, over)

    def filled(self, node: ast.For, frame: Frame) -> Frame | None:
        """`for x in xs: ...; d[key] = value`, which fills an empty dictionary; None for another loop.

        Of the members with one key the last decides.
        """
        match node.body:
            case [*before, ast.Assign([ast.Subscript(ast.Name(name), key)], value)] if not node.orelse:
                pass
            case _:
                return None
        empty = only(frame.names[name]) if name in frame.names else None
        if not isinstance(empty, Lookup) or empty.entries or not all(isinstance(one, _NAMING) for one in before):
            return None
        if not _begun(frame.source.tree, name, node):
            raise frame.source.refused(node, f"{name} may have another name", f"begin it by `{name} = {{}}` here")
        over = self.rows(node.iter, frame)
        if over is None:
            return None
        if (assigned_in([node]) - {name}) & set(frame.names) or [one.id for one in _names(node)].count(name) > 1:
            raise frame.source.refused(node, "a loop that changes a name from turn to turn", "name what is new")

        def entry(term: Term) -> tuple[Value, Value]:
            here = self.assigned(node.target, over.at(term), frame.under(over.there(term)))
            for one in before:
                here = self.stepped(one, here)
            return self.read(key, here), self.read(value, here)

        x = FRESH(over.sort)
        since = len(self.errors.found)
        entry(x)
        self.errors.close(since, [x])
        return frame.binding({name: dictionary(self.world, over, partial(self._quiet_entry, entry))})

    def _quiet_entry(self, entry: Callable[[Term], tuple[Value, Value]], term: Term) -> tuple[Value, Value]:
        noted, self.errors = self.errors, Errors()
        try:
            return entry(term)
        finally:
            self.errors = noted


_NAMING = (ast.Assign, ast.AnnAssign)
"""What stands before the entry in a loop that fills a dictionary."""


def _begun(tree: ast.AST, name: str, loop: ast.For) -> bool:
    """Whether a function assigns `{}` to a name, nothing else, and does not look at it before the loop."""
    named_here = [one for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id == name]
    stored = [one for one in named_here if isinstance(one.ctx, ast.Store)]
    begun = any(
        isinstance(one, _NAMING) and isinstance(one.value, ast.Dict) and stored[0] in ast.walk(one)
        for one in ast.walk(tree)
        if stored
    )
    used = any(isinstance(one.ctx, ast.Load) and one.lineno < loop.lineno for one in named_here)
    return begun and len(stored) == 1 and name not in otherwise_bound(tree) and not used


def _names(node: ast.For) -> list[ast.Name]:
    """Return the names that a loop reads."""
    return [one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]


def assigned_in(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements assign, those of their own loops and comprehensions too."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    parts = [one.value for one in nodes if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    found = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return found | {one.id for one in parts if isinstance(one, ast.Name)}
