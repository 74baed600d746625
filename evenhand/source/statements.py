"""Read the statements of a function: what it returns, or what it yields.

`if` and `match` are distinctions of cases, each followed by the rest of the function; an assignment names a value; a
loop over agents is read where it searches (`for ... : if ...: return False`) or yields.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Literal, cast

from evenhand.smt.logic import FALSE, TRUE, Formula
from evenhand.source.changing import collecting, its_own
from evenhand.source.classes import frozen
from evenhand.source.comprehensions import as_list, whole_row
from evenhand.source.constants import known
from evenhand.source.frames import Closure, Frame, written_in
from evenhand.source.loops import Loops, assigned_in
from evenhand.source.operators import identical
from evenhand.source.refusal import Unreadable
from evenhand.source.simplify import all_of, any_of, negation
from evenhand.source.values import (
    Cases,
    Const,
    Fixed,
    Item,
    Record,
    Value,
    Whole,
    as_group,
    as_tuple,
    equals,
    gathered,
    kept,
    leaf,
    merged,
    named,
    wholes,
)

NOTHING = known(None)


class _Next(ast.stmt):
    """The end of a turn of a loop through a tuple of known length; `left` are the members of later turns."""

    def __init__(self, loop: ast.For, left: tuple[Value, ...]) -> None:
        super().__init__()
        self.loop, self.left = loop, left


class Translator(Loops):
    """Reads functions: calls are unfolded, and every path ends in a value."""

    def body(self, tree: ast.FunctionDef | ast.Lambda, frame: Frame) -> Value:
        """Return what a function returns, or the collection of what it yields."""
        if isinstance(tree, ast.Lambda):
            return self.read(tree.body, frame)
        if written_in(tree.body, (ast.Yield, ast.YieldFrom)):
            return self._collected("list", tree, frame)
        collects = collecting(frame.source, tree)
        return self.returned(tree.body, frame) if collects is None else self._collected(*collects, frame)

    def _collected(self, kind: Literal["set", "list"], tree: ast.FunctionDef, frame: Frame) -> Value:
        """What a function yields, as a collection."""
        self._yielded(tree.body, frame)  # notes what raises
        return gathered(lambda: self._quietly(tree.body, frame), kind)

    def _quietly(self, statements: list[ast.stmt], frame: Frame) -> list[Item]:
        since = len(self.errors.found)
        found = self._yielded(statements, frame)
        del self.errors.found[since:]
        return found

    def returned(self, statements: Sequence[ast.stmt], frame: Frame) -> Value:
        if not statements:
            return NOTHING
        first, rest = statements[0], statements[1:]
        match first:
            case ast.Return(None):
                return NOTHING
            case ast.Return(value):
                assert value is not None
                return self.read(value, frame)
            case ast.If(test, then, other):
                test, frame = self._named(test, frame)
                asked = self.test(test, frame)
                return self._branched(first, asked, (then, frame), (other, frame), rest, frame)
            case ast.Match():
                return self._matched(first, rest, frame)
            case ast.For():
                return self._looped(first, rest, frame)
            case _Next():
                return self._turn(first.loop, first.left, rest, frame)
            case ast.Continue() | ast.Break():
                after = next(place for place, one in enumerate(rest) if isinstance(one, _Next))
                return self.returned(rest[after + isinstance(first, ast.Break) :], frame)
            case ast.Raise():
                self.errors.add(frame.path)
                return NOTHING
            case ast.Assert(test, _):
                asked = self.test(test, frame)
                self.errors.add(frame.path, negation(asked))
                return self.returned(rest, frame.under(asked))
            case _:
                return self.returned(rest, self.stepped(first, frame))

    def _branched(
        self,
        node: ast.stmt,
        asked: Formula,
        then: tuple[Sequence[ast.stmt], Frame],
        other: tuple[Sequence[ast.stmt], Frame],
        rest: Sequence[ast.stmt],
        frame: Frame,
    ) -> Value:
        """Both branches with what follows; a branch that only raises leaves the value to the other."""
        if asked == TRUE:
            return self.returned([*then[0], *rest], then[1])
        if asked == FALSE:
            return self.returned([*other[0], *rest], other[1])
        for branch, guard, stays in ((then, asked, other), (other, negation(asked), then)):
            if branch[0] and isinstance(branch[0][0], ast.Raise):
                self.errors.add(frame.path, guard)
                return self.returned([*stays[0], *rest], stays[1].under(negation(guard)))
        yes = self.returned([*then[0], *rest], then[1].under(asked))
        no = self.returned([*other[0], *rest], other[1].under(negation(asked)))
        try:
            return merged(asked, yes, no)
        except Unreadable as error:
            raise frame.source.refused(node, error.why, error.instead) from None

    def stepped(self, node: ast.stmt, frame: Frame) -> Frame:
        """The frame after a statement that neither returns nor branches."""
        match node:
            case ast.AnnAssign(ast.Name(name), _, value) if value is not None:
                return frame.binding({name: self._stored(value, frame)})
            case ast.Assign([ast.Subscript(ast.Name(name), key)], value):
                return self._changed(node, name, key, value, frame)
            case ast.AugAssign(ast.Subscript(ast.Name(name), key) as entry, op, value):
                read = ast.Subscript(ast.Name(name, ast.Load()), key, ast.Load())
                made = ast.copy_location(ast.BinOp(read, op, value), entry)
                return self._changed(node, name, key, ast.fix_missing_locations(made), frame)
            case ast.Assign([target], value):
                return self.assigned(target, self._stored(value, frame), frame)
            case ast.AugAssign(ast.Name(name), op, value):
                made = ast.copy_location(ast.BinOp(ast.Name(name, ast.Load()), op, value), node)
                ast.fix_missing_locations(made)
                return frame.binding({name: self.read(made, frame)})
            case ast.FunctionDef(name):
                if node.decorator_list or written_in(node.body, (ast.Nonlocal, ast.Global)):
                    raise frame.source.refused(node, "a decorated or assigning inner function", "write it plainly")
                return frame.binding({name: leaf(Const(Closure(node, frame, self.defaults(node, frame))))})
            case ast.Expr(ast.Constant()) | ast.Pass():
                return frame
            case _:
                raise frame.source.refused(
                    node,
                    f"{type(node).__name__} changes or repeats something",
                    "assign names, return, and go through collections by any, all and comprehensions",
                )

    def _changed(self, node: ast.stmt, name: str, key: ast.expr, value: ast.expr, frame: Frame) -> Frame:
        """`xs[agent] = entry`, where a function made the list, and nobody else holds it."""
        row = whole_row(frame.names[name]) if name in frame.names else None
        if row is None or not its_own(frame.source, name):
            why = f"{name} may be no list of an entry for each agent, or have another name that changes with it"
            mend = f"begin by `{name} = list(row)`, end by `tuple({name})`, and look at entries `{name}[agent]` alone"
            raise frame.source.refused(node, why, mend)
        entry = kept(self.read(value, frame))
        try:
            made = self.entered(row, self.read(key, frame), entry, frame)
        except Unreadable as error:
            raise frame.source.refused(node, error.why, error.instead) if not error.file else error from None
        return frame.binding({name: as_list(made)})

    def _stored(self, node: ast.expr, frame: Frame) -> Value:
        """Read a value that gets a name."""
        value = self.read(node, frame)
        try:
            return kept(value)
        except Unreadable as error:
            raise frame.source.refused(node, error.why, error.instead) from None

    def _named(self, test: ast.expr, frame: Frame) -> tuple[ast.expr, Frame]:
        """A test without the name that it gives to its first value (`if x := f():`), and the frame with the name."""
        match test:
            case ast.NamedExpr(ast.Name(name), value):
                bound = frame.binding({name: self._stored(value, frame)})
                return ast.copy_location(ast.Name(name, ast.Load()), test), bound
            case ast.Compare(ast.NamedExpr(), ops, others):
                left, bound = self._named(test.left, frame)
                return ast.copy_location(ast.Compare(left, ops, others), test), bound
            case _:
                return test, frame

    def _looped(self, node: ast.For, rest: Sequence[ast.stmt], frame: Frame) -> Value:
        """A loop: through a tuple of known length it is turn after turn, and else a search."""
        parts = None if node.orelse or isinstance(node.iter, _MADE) else self.unrolled(node.iter, frame)
        if parts is not None:
            return self._turn(node, parts, rest, frame)
        filled = self.filled(node, frame)
        if filled is not None:
            return self.returned(rest, filled)
        return self.searched(node, rest, frame)

    def _turn(self, node: ast.For, left: tuple[Value, ...], rest: Sequence[ast.stmt], frame: Frame) -> Value:
        if not left:
            return self.returned(rest, frame)
        here = self.assigned(node.target, left[0], frame)
        return self.returned([*node.body, _Next(node, left[1:]), *rest], here)

    def _matched(self, node: ast.Match, rest: Sequence[ast.stmt], frame: Frame) -> Value:
        found: list[tuple[Formula, Value]] = []
        here = frame
        for guard, inner, case in self._cases(node, frame):
            found.append((guard, self.returned([*case.body, *rest], inner)))
            here = here.under(negation(guard))
            if guard == TRUE:
                break
        whole = bool(found) and found[-1][0] == TRUE
        value = found.pop()[1] if whole or self._covered(node, frame) else self.returned(rest, here)
        try:
            for guard, one in reversed(found):
                value = merged(guard, one, value)
        except Unreadable as error:
            raise frame.source.refused(node, error.why, error.instead) from None
        return value

    def _covered(self, node: ast.Match, frame: Frame) -> bool:
        """Whether the cases name every value that the subject can have, so that none is left over."""
        subject = self.read(node.subject, frame)
        if not isinstance(subject, Cases) or any(case.guard is not None for case in node.cases):
            return False
        patterns = [case.pattern for case in node.cases]
        return all(
            any(self._fits(pattern, leaf(one), frame)[0] == TRUE for pattern in patterns) for _, one in subject.parts
        )

    def _cases(self, node: ast.Match, frame: Frame) -> list[tuple[Formula, Frame, ast.match_case]]:
        """Each case that may be taken: its condition (where those before are not), its frame, and the case itself."""
        subject = self.read(node.subject, frame)
        found: list[tuple[Formula, Frame, ast.match_case]] = []
        here = frame
        for case in node.cases:
            fits, bound = self._fits(case.pattern, subject, here)
            if fits == FALSE:
                continue
            inner = here.binding(bound).under(fits)
            if case.guard is not None:
                if set(bound) & set(here.names):
                    why = "a pattern that changes a name, though its case may be left"
                    raise frame.source.refused(case.pattern, why, "take a new name")
                asked = self.test(case.guard, inner)
                fits, inner = all_of((fits, asked)), inner.under(asked)
            found.append((fits, inner, case))
            here = here.under(negation(fits))
        return found

    def _fits(self, pattern: ast.pattern, value: Value, frame: Frame) -> tuple[Formula, dict[str, Value]]:
        """Whether a value fits a pattern, and the names that it binds."""
        match pattern:
            case ast.MatchValue(written):
                return equals(value, self.read(written, frame)), {}
            case ast.MatchSingleton(one):
                return (identical(value, known(one)) if one is None else equals(value, known(one))), {}
            case ast.MatchAs(None, name):
                return TRUE, {} if name is None else {name: value}
            case ast.MatchAs(inner, name) if inner is not None:
                fits, bound = self._fits(inner, value, frame)
                return fits, bound if name is None else {**bound, name: value}
            case ast.MatchOr(patterns):
                both = [self._fits(one, value, frame) for one in patterns]
                if any(bound for _, bound in both):
                    raise frame.source.refused(pattern, "alternatives that bind names", "write a case for each")
                return any_of(fits for fits, _ in both), {}
            case ast.MatchSequence() | ast.MatchClass() if isinstance(value, Cases) and wholes(value):
                return self._one_fits(pattern, value, frame)
            case ast.MatchSequence(patterns):
                value = as_tuple(value)
                if not isinstance(value, Fixed) or any(isinstance(one, ast.MatchStar) for one in patterns):
                    raise frame.source.refused(
                        pattern, f"{named(value)} matched in parts", "match tuples of known length"
                    )
                return self._all_fit(patterns, value.parts, frame) if len(patterns) == len(value.parts) else (FALSE, {})
            case ast.MatchClass():
                return self._of_class(pattern, value, frame)
            case _:
                raise frame.source.refused(pattern, "this pattern", "match values, classes and tuples")

    def _one_fits(self, pattern: ast.pattern, value: Cases, frame: Frame) -> tuple[Formula, dict[str, Value]]:
        """Whether the one of several values that it is fits a pattern; what is no record or tuple does not."""
        found: list[tuple[Formula, dict[str, Value]]] = []
        for guard, one in value.parts:
            if isinstance(one, Whole):
                fits, bound = self._fits(pattern, one.value, frame.under(guard))
                if fits != FALSE:
                    found.append((all_of((guard, fits)), bound))
            elif not isinstance(one, Const) or not (one.value is None or isinstance(one.value, str)):
                raise frame.source.refused(pattern, f"{named(value)} matched", "match records, or None")
        if not found:
            return FALSE, {}
        bound = found[-1][1]
        for guard, names in reversed(found[:-1]):
            bound = {name: merged(guard, one, bound[name]) for name, one in names.items()}
        return any_of(guard for guard, _ in found), bound

    def _all_fit(
        self, patterns: Sequence[ast.pattern], values: Sequence[Value], frame: Frame
    ) -> tuple[Formula, dict[str, Value]]:
        fits: list[Formula] = []
        bound: dict[str, Value] = {}
        for pattern, value in zip(patterns, values, strict=True):
            one, names = self._fits(pattern, value, frame)
            fits.append(one)
            bound |= names
        return all_of(fits), bound

    def _of_class(self, pattern: ast.MatchClass, value: Value, frame: Frame) -> tuple[Formula, dict[str, Value]]:
        cls: Any = self.known_class(pattern.cls, frame)
        if not isinstance(cls, type) or not frozen(cls) or not isinstance(value, Record):
            raise frame.source.refused(pattern, f"{named(value)} matched by class", "match records by their class")
        wanted: type = cls
        if wanted not in value.cls.__mro__:
            return FALSE, {}
        names = [*cast("Any", cls).__match_args__[: len(pattern.patterns)], *pattern.kwd_attrs]
        values = [self.attribute(value, name, frame) for name in names]
        return self._all_fit([*pattern.patterns, *pattern.kwd_patterns], values, frame)

    def _yielded(self, statements: Sequence[ast.stmt], frame: Frame) -> list[Item]:
        """What statements yield, each with the condition under which it does."""
        if not statements:
            return []
        first, rest = statements[0], statements[1:]
        match first:
            case ast.Return(None) | ast.Continue():
                return []
            case ast.Expr(ast.Yield(value)) if value is not None:
                return [Item((), TRUE, self.read(value, frame)), *self._yielded(rest, frame)]
            case ast.Expr(ast.YieldFrom(value)):
                return [*self._members(value, frame), *self._yielded(rest, frame)]
            case ast.If(test, then, other):
                asked = self.test(test, frame)
                ends = written_in([first], _ENDING)
                after: Sequence[ast.stmt] = rest if ends else ()
                branches = ((asked, then), (negation(asked), other))
                found = [
                    _under(guard, one)
                    for guard, body in branches
                    if guard != FALSE
                    for one in self._yielded([*body, *after], frame.under(guard))
                ]
                return found if ends else [*found, *self._yielded(rest, frame)]
            case ast.Match():
                return self._yielded_cases(first, rest, frame)
            case ast.For(target, source, body, []):
                if written_in(body, (ast.Return, ast.Break)):
                    raise frame.source.refused(first, "a loop that is left early", "yield under a condition")
                if assigned_in([first]) & set(frame.names):
                    why = "a loop that changes a name from turn to turn"
                    raise frame.source.refused(first, why, "count in a field")
                found = list[Item]()
                for one in self.iterated(source, frame):
                    since = len(self.errors.found)
                    here = self.assigned(target, one.value, frame.under(one.guard))
                    for inner in self._yielded(body, here):
                        variables = (*one.variables, *inner.variables)
                        found.append(Item(variables, all_of((one.guard, inner.guard)), inner.value))
                    self.errors.close(since, one.variables)
                return [*found, *self._yielded(rest, frame)]
            case _:
                return self._yielded(rest, self.stepped(first, frame))

    def _members(self, node: ast.expr, frame: Frame) -> list[Item]:
        try:
            return list(as_group(self.read(node, frame)).items())
        except Unreadable as error:
            raise frame.source.refused(node, error.why, error.instead) if not error.file else error from None

    def _yielded_cases(self, node: ast.Match, rest: Sequence[ast.stmt], frame: Frame) -> list[Item]:
        found: list[Item] = []
        before: list[Formula] = []
        for guard, inner, case in self._cases(node, frame):
            again = any(inner.names[name] is not one for name, one in frame.names.items())
            if again or written_in(case.body, _ENDING):
                raise frame.source.refused(case.pattern, "a case that ends or assigns among yields", "yield alone")
            taken = all_of((guard, *map(negation, before)))
            found += [_under(taken, one) for one in self._yielded(case.body, inner)]
            before.append(guard)
        return [*found, *self._yielded(rest, frame)]


_MADE = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
"""What a loop may go through that is no tuple of known length."""


_ENDING = (ast.Return, ast.Continue, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.FunctionDef)
"""What ends a function or a turn, or gives a name a value, so that what follows depends on whether it was reached."""


def _under(guard: Formula, one: Item) -> Item:
    return Item(one.variables, all_of((guard, one.guard)), one.value)
