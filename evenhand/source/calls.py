"""Read calls: the user's functions are unfolded, and of Python's own those that have a counterpart in logic."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import typing
from collections.abc import Hashable, Sequence
from dataclasses import replace
from enum import Enum
from types import FunctionType
from typing import Any, NewType, cast

from evenhand.core import records
from evenhand.smt.logic import FALSE, TRUE, Formula, Term
from evenhand.source.choosing import settled
from evenhand.source.classes import bound, default, is_named_tuple, is_record, names_of
from evenhand.source.comprehensions import as_list, everywhere, places_of, whole_row
from evenhand.source.constants import Lookup, known
from evenhand.source.frames import Closure, Frame, only
from evenhand.source.operators import joined, less
from evenhand.source.picks import Picks
from evenhand.source.reading import plain, source_of
from evenhand.source.refusal import refuse
from evenhand.source.simplify import all_of, any_of, every, implication, negation, some
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Item,
    Kept,
    Listing,
    Places,
    Record,
    Table,
    Truth,
    Value,
    Whole,
    Word,
    as_group,
    element,
    equals,
    gathered,
    kept,
    leaf,
    listed,
    merged,
    named,
    truth,
    within,
)

DEEPEST = 30
"""Calls inside one another, beyond which a function is taken to call itself."""


_INSTEAD = {
    "enumerate": "write `xs = list(row)`, which takes `xs[agent] = entry`, or go through a tuple by agent",
    "range": "write the numbers: `for n in (1, 2, 3)`",
}
"""What to write in place of some of Python's own functions."""


_REMEMBERED = type(functools.cache(lambda: None))


class Calls(Picks):
    """Reads calls."""

    def body(self, tree: ast.FunctionDef | ast.Lambda, frame: Frame) -> Value:
        """Return what a function returns."""
        raise NotImplementedError

    def call(self, node: ast.Call, frame: Frame) -> Value:
        """Return what a call gives.  Raises Unreadable."""
        if isinstance(node.func, ast.Attribute):
            found = self._method(node.func, node, frame)
            if found is not None:
                return found
        function = only(self.read(node.func, frame))
        if function is None:
            raise refuse("a function that is not known", "call a function by its name")
        for read in (self._quantified, self.first_of, self.least_of):
            found = read(function, node, frame)
            if found is not None:
                return found
        if function in (tuple, list) and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            made = self._by_agent(node.args[0], frame)
            if made is not None:
                return as_list(made) if function is list else made
        return self.invoked(function, self._by_place(node, frame), self._by_name(node, frame), frame)

    def _by_place(self, node: ast.Call, frame: Frame) -> list[Value]:
        """The arguments that a call gives by their places; of a tuple of known length also all at once."""
        found: list[Value] = []
        for one in node.args:
            value = self.read(one.value if isinstance(one, ast.Starred) else one, frame)
            if isinstance(one, ast.Starred) and not isinstance(value, Fixed):
                raise refuse("arguments out of a collection", "write the arguments one by one")
            found += value.parts if isinstance(one, ast.Starred) and isinstance(value, Fixed) else [value]
        return found

    def _by_name(self, node: ast.Call, frame: Frame) -> dict[str, Value]:
        """The arguments that a call gives by name; of a dictionary of known keys also all at once."""
        found: dict[str, Value] = {}
        for one in node.keywords:
            value = self.read(one.value, frame)
            entries = [(one.arg, value)] if one.arg is not None else _entries(value)
            for name, given in entries:
                if name in found:
                    raise refuse(f"the argument {name} twice", "give it once")
                found[name] = given
        return found

    def _quantified(self, function: Any, node: ast.Call, frame: Frame) -> Value | None:
        """`any` is there is, `all` is for every; None for another function."""
        if function not in (any, all) or len(node.args) != 1 or node.keywords:
            return None
        argument = node.args[0]
        if isinstance(argument, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            # Each member is a test, as in `if`: its denial is a truth whatever it is.
            denied = ast.copy_location(ast.UnaryOp(ast.Not(), argument.elt), argument.elt)
            tested = ast.copy_location(ast.GeneratorExp(denied, argument.generators), argument)
            found = self.comprehended(tested, frame)
            items = [(one.variables, one.guard, negation(truth(one.value))) for one in found]
        else:
            items = [(one.variables, one.guard, truth(one.value)) for one in self.iterated(argument, frame)]
        if function is any:
            return Truth(any_of(some(variables, all_of((guard, asked))) for variables, guard, asked in items))
        return Truth(all_of(every(variables, implication(guard, asked)) for variables, guard, asked in items))

    def _by_agent(self, node: ast.GeneratorExp, frame: Frame) -> Value | None:
        """`tuple(... for a in config.agents)`: an entry for each agent; None if it is no such tuple."""
        if len(node.generators) != 1 or node.generators[0].ifs:
            return None
        generator = node.generators[0]
        over = self.rows(generator.iter, frame)
        if over is None or over.there is not everywhere or over.turned:
            return None
        x = FRESH(over.sort)
        since = len(self.errors.found)
        self.read(node.elt, self.assigned(generator.target, over.at(x), frame))
        self.errors.close(since, [x])

        def at(term: Term) -> Value:
            noted = len(self.errors.found)
            value = self.read(node.elt, self.assigned(generator.target, over.at(term), frame))
            del self.errors.found[noted:]
            return value

        return Table(over.sort, at)

    def rows(self, node: ast.expr, frame: Frame) -> Places | None:
        function = self._pairing(node, frame)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and (function or not node.keywords):
            rows = [one for one in (self.rows(one, frame) for one in node.args) if one is not None]
            alike = len({(one.sort, one.there, one.turned) for one in rows}) == 1 and len(rows) == len(node.args)
            if function is None or not alike:
                return None
            if function is reversed:
                return replace(rows[0], turned=not rows[0].turned, whole=False) if len(rows) == 1 else None
            if not all(one.whole for one in rows):
                return None
            if function is enumerate and len(rows) > 1:
                return None
            first = rows[0]

            def numbered(term: Term) -> Value:
                return Fixed((leaf(Elem(term)), first.at(term)))

            def beside(term: Term) -> Value:
                return Fixed(tuple(row.at(term) for row in rows))

            return replace(first, at=numbered if function is enumerate else beside)
        return places_of(self.present(self.read(node, frame), frame))

    def _pairing(self, node: ast.expr, frame: Frame) -> Any:
        """`enumerate`, `reversed` or `zip` (perhaps strictly), where an expression calls one of them; else None."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        function = only(self.read(node.func, frame))
        plain_ = not node.keywords or (function is zip and [one.arg for one in node.keywords] == ["strict"])
        return function if function in (enumerate, reversed, zip) and plain_ else None

    def unrolled(self, node: ast.expr, frame: Frame) -> tuple[Value, ...] | None:
        """Return what a loop goes through, one by one, where it is a tuple of known length; None where it is not."""
        function = self._pairing(node, frame)
        if function is None:
            value = self.present(self.read(node, frame), frame)
            return value.parts if isinstance(value, Fixed) else None
        assert isinstance(node, ast.Call)
        rows = [one for one in (self.unrolled(one, frame) for one in node.args) if one is not None]
        if len(rows) < len(node.args) or not rows:
            return None
        if function in (enumerate, reversed) and len(rows) > 1:
            return None
        if function is reversed:
            return rows[0][::-1]
        if function is enumerate:
            return tuple(Fixed((known(place), one)) for place, one in enumerate(rows[0]))
        if node.keywords and len({len(one) for one in rows}) > 1:
            return None
        return tuple(map(Fixed, zip(*rows, strict=False)))

    def iterated(self, node: ast.expr, frame: Frame) -> Sequence[Item]:
        """Return what a loop goes through; `enumerate` and `zip` of tuples by agent are read too."""
        if self._pairing(node, frame) is not None:
            rows = self.rows(node, frame)
            if rows is None:
                parts = self.unrolled(node, frame)
                if parts is not None:
                    return [Item((), TRUE, one) for one in parts]
                raise frame.source.refused(
                    node, "numbers or pairs of what has no order", "go through agents, or tuples by agent"
                )
            x = FRESH(rows.sort)
            return [Item((x,), rows.there(x), rows.at(x))]
        return super().iterated(node, frame)

    def _method(self, node: ast.Attribute, call: ast.Call, frame: Frame) -> Value | None:
        """A method of a record or a set; None if it is neither."""
        value = self.present(self.read(node.value, frame), frame)
        given = self._by_place(call, frame)
        if isinstance(value, Record) and node.attr == "_replace" and is_named_tuple(value.cls) and not given:
            return _replaced(value, self._by_name(call, frame))
        if isinstance(value, Record) and node.attr not in value.fields:
            function = inspect.getattr_static(value.cls, node.attr, None)
            if isinstance(function, staticmethod):
                function = cast("Any", function).__func__
            elif isinstance(function, FunctionType):
                given = [value, *given]
            else:
                raise refuse(f"{value.cls.__name__}.{node.attr} is no plain method", "write it with `def`")
            return self.invoked(function, given, self._by_name(call, frame), frame)
        if isinstance(value, Cases) and len(value.parts) == 1 and isinstance(one := value.parts[0][1], Kept):
            return self.invoked(getattr(one.cls, node.attr), [value, *given], self._by_name(call, frame), frame)
        if isinstance(value, Group) and value.kind == "set" and len(given) == 1 and not call.keywords:
            return _set_method(node.attr, value, as_group(given[0]))
        if isinstance(value, Group) and value.kind == "keys" and node.attr == "items" and not call.args:
            return None if value.more is None else value.more.pairs
        if isinstance(value, Table) and node.attr == "count" and len(given) == 1 and not call.keywords:
            x = FRESH(value.sort)
            return self.summed([Item((x,), TRUE, Truth(equals(value.at(x), given[0])))])
        if node.attr == "index" and len(given) == 1 and not call.keywords:
            return self.place(value, given[0], frame)
        return None

    def invoked(self, function: Any, given: Sequence[Value], named_given: dict[str, Value], frame: Frame) -> Value:
        """Return what a known function gives for values.  Raises Unreadable."""
        if isinstance(function, Closure):
            return self._unfolded(function, given, named_given, frame)
        # A name, and what is built in, has no signature.
        formal = function if isinstance(function, FunctionType) or dataclasses.is_dataclass(function) else None
        if isinstance(function, Hashable) and function in self.given and (formal or not named_given):
            values = given
            if formal:
                called: Any = formal
                fitted = _fitted(inspect.signature(called), called.__name__, given, named_given)
                values = [*fitted.args, *fitted.kwargs.values()]
            said = self.given[function](values)
            return settled(said) if isinstance(said, Truth | Cases) else said
        if isinstance(function, NewType) or function is typing.cast:
            return given[-1]
        if function is getattr and len(given) == 2 and type(only(given[1])) is str and not named_given:
            return self.attribute(given[0], only(given[1]), frame)
        if function is isinstance and len(given) == 2 and not named_given:
            return Truth(_is_of(given[0], given[1]))
        if function in (dataclasses.replace, records.replace):
            record = self.present(given[0], frame) if len(given) == 1 else Fixed(())
            if not isinstance(record, Record) or is_named_tuple(record.cls):
                raise refuse(f"`replace` of {named(record)}", "replace fields of a frozen dataclass")
            return _replaced(record, named_given)
        if is_record(function):
            return self._constructed(function, given, named_given)
        made = self._builtin(function, given) if not named_given else None
        if made is not None:
            return made
        function = plain(function)
        if isinstance(function, _REMEMBERED):  # what is remembered is what it gives
            function = cast("Any", function).__wrapped__
        if not isinstance(function, FunctionType):
            name = getattr(function, "__name__", type(function).__name__)
            instead = _INSTEAD.get(name, "write a function of any, all, in, if and replace")
            raise refuse(f"{name} has no counterpart in logic", instead)
        source = source_of(function)
        bound = self._bound(inspect.signature(function, follow_wrapped=False), function.__name__, given, named_given)
        return self.body(source.tree, self._inner(Frame(source, bound, frame.path, frame.depth + 1)))

    def _unfolded(self, one: Closure, given: Sequence[Value], more: dict[str, Value], frame: Frame) -> Value:
        arguments = one.tree.args
        if arguments.vararg or arguments.kwarg:
            raise refuse("a function of any number of arguments", "name its arguments")
        by_place = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        every_name = [*by_place, *(a.arg for a in arguments.kwonlyargs)]
        if len(given) > len(by_place) or set(more) - set(every_name):
            raise refuse("a call with other arguments than the function has", "call it with its arguments")
        bound = {**one.defaults, **dict(zip(by_place, map(kept, given), strict=False)), **more}
        if set(every_name) - set(bound):
            raise refuse("a call with fewer arguments than the function has", "call it with its arguments")
        if frame.source is one.frame.source:
            changed = {name for name, value in one.frame.names.items() if frame.names.get(name) is not value}
            body = [one.tree.body] if isinstance(one.tree, ast.Lambda) else one.tree.body
            sees = {part.id for node in body for part in ast.walk(node) if isinstance(part, ast.Name)}
            if changed & sees - set(every_name):
                raise refuse("a function that sees a name change", "give it what it needs as an argument")
        names = {**one.frame.names, **bound}
        return self.body(one.tree, self._inner(Frame(one.frame.source, names, frame.path, frame.depth + 1)))

    def _inner(self, frame: Frame) -> Frame:
        if frame.depth > DEEPEST:
            raise refuse("a function that calls itself", "write it without recursion")
        return frame

    def _bound(
        self, signature: inspect.Signature, name: str, given: Sequence[Value], more: dict[str, Value]
    ) -> dict[str, Value]:
        arguments = _fitted(signature, name, given, more).arguments
        found: dict[str, Value] = {}
        for one in signature.parameters.values():
            value: Any = arguments.get(one.name)
            if one.kind is one.VAR_POSITIONAL:
                found[one.name] = Fixed(tuple(map(kept, cast("tuple[Value, ...]", value or ()))))
            elif one.kind is one.VAR_KEYWORD:
                entries = cast("dict[str, Value]", value or {}).items()
                found[one.name] = leaf(Const(Lookup(tuple((key, kept(inner)) for key, inner in entries))))
            elif one.name in arguments:
                found[one.name] = kept(value)
            else:
                found[one.name] = known(one.default)
        return found

    def _constructed(self, cls: Any, given: Sequence[Value], more: dict[str, Value]) -> Value:
        arguments = bound(cls, tuple(given), more)
        given_or = {name: arguments[name] if name in arguments else known(default(cls, name)) for name in names_of(cls)}
        return Record(cls, {name: kept(one) for name, one in given_or.items()})

    def known_class(self, node: ast.expr, frame: Frame) -> Any:
        """Return the class that an expression names.  Raises Unreadable."""
        found = only(self.read(node, frame))
        if not isinstance(found, type):
            raise frame.source.refused(node, "this names no class", "name a class")
        return found

    def _builtin(self, function: Any, given: Sequence[Value]) -> Value | None:
        if function is bool and len(given) == 1:
            return Truth(truth(given[0]))
        if function in (len, sum) and len(given) == 1:
            return self.size(given[0]) if function is len else self.summed(self.addends(given[0]))
        given = [replace(one, once=False) if isinstance(one, Group) else one for one in given]
        if function in (set, frozenset, tuple, list) and not given:
            return listed([], "set" if function in (set, frozenset) else "list") if function is not tuple else Fixed(())
        if function in (set, frozenset) and len(given) == 1:
            return replace(as_group(given[0]), kind="set", sort=None, more=None, of=None)
        if function is tuple and len(given) == 1 and isinstance(members := only(given[0]), type(Enum)):
            return Fixed(tuple(map(known, members)))
        if function is list and len(given) == 1:
            return as_list(given[0])
        if function is sorted and len(given) == 1:
            return replace(as_group(given[0]), kind="list", sort=None, more=self._rising(as_group(given[0])), of=None)
        if function is tuple and len(given) == 1:
            whole = isinstance(given[0], Table | Fixed) or (isinstance(given[0], Group) and given[0].kind == "agents")
            return given[0] if whole else whole_row(given[0]) or replace(as_group(given[0]), kind="list")
        if function == dict.fromkeys and len(given) == 1:
            group = as_group(given[0])
            more = group.more or Listing()
            if more.repeats != FALSE:  # keys are fewer than the members
                more = Listing(more.first)
            return replace(group, kind="keys", sort=None, more=replace(more, repeats=FALSE, twice=None, pairs=None))
        if function in (min, max) and len(given) == 2:
            smaller = less(self.world, given[1], given[0])  # Python keeps the first of equals
            bigger = less(self.world, given[0], given[1])
            return merged(smaller if function is min else bigger, given[1], given[0])
        if function is itertools.product and given:
            return self._product(given)
        if function is itertools.permutations and len(given) == 1:
            over = given[0]
            if isinstance(over, Group) and over.kind == "agents" and over.sort is not None:
                chosen = self.world.choose(over.sort, over.sort, distinct=True)
                table = Table(over.sort, lambda term: leaf(Elem(chosen(term))))
                return replace(gathered(lambda: [Item((), TRUE, table)], "list"), once=True)
        return None

    def _rising(self, group: Group) -> Listing | None:
        """What is known of the members in their order: that they rise, if they are elements and none stands twice."""
        leaves = [part for one in group.items() if isinstance(one.value, Cases) for _, part in one.value.parts]
        if any(isinstance(part, Const) and part.value is None for part in leaves):
            raise refuse("the order of what may be None", "leave None out before")
        once = group.kind != "list" or (group.more is not None and group.more.repeats == FALSE)
        if once and all(element(one.value) is not None for one in group.items()):
            return Listing(repeats=FALSE, rising=self.world.before)
        return None

    def _product(self, given: Sequence[Value]) -> Value:
        def items() -> list[Item]:
            found = [Item((), TRUE, Fixed(()))]
            for value in given:
                found = [
                    Item((*a.variables, *b.variables), all_of((a.guard, b.guard)), Fixed((*_parts(a.value), b.value)))
                    for a in found
                    for b in as_group(value).items()
                ]
            return found

        return replace(gathered(items, "list"), once=True)


def _entries(value: Value) -> list[tuple[str, Value]]:
    """The entries of a dictionary of known names.  Raises Unreadable for another value."""
    held = only(value)
    if not isinstance(held, Lookup) or not all(isinstance(key, str) for key, _ in held.entries):
        raise refuse("arguments out of a collection", "write the arguments one by one")
    return list(held.entries)


def _parts(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, Fixed)
    return value.parts


def _set_method(name: str, left: Group, right: Group) -> Value:
    other = Group("set", right.items, right.has, None)
    match name:
        case "union":
            return joined([left, other], "set")
        case "issubset":
            return Truth(within(left, other))
        case "issuperset":
            return Truth(within(other, left))
        case "isdisjoint":
            return Truth(
                all_of(every(i.variables, implication(i.guard, negation(other.has(i.value)))) for i in left.items())
            )
        case _:
            raise refuse(f"the method {name} of a set", "write |, &, -, <= and in")


def _is_of(value: Value, classes: Value) -> Formula:
    """Return `isinstance`, which is read of records, None, texts and members of an Enum, and of classes of these."""
    parts = classes.parts if isinstance(classes, Fixed) else (classes,)
    wanted = tuple(only(one) for one in parts)
    if not wanted or not all(isinstance(one, type) and one is not object for one in wanted):
        raise refuse("isinstance of unknown classes", "name the classes")
    match value:
        case Record():
            return TRUE if issubclass(value.cls, wanted) else FALSE
        case Cases(leaves):
            return any_of(all_of((guard, _leaf_is_of(one, wanted))) for guard, one in leaves)
        case _:
            raise refuse(f"isinstance of {named(value)}", "ask it of records")


def _leaf_is_of(one: object, wanted: tuple[type, ...]) -> Formula:
    match one:
        case Whole(inner) if isinstance(inner, Record):
            return TRUE if issubclass(inner.cls, wanted) else FALSE
        case Word():
            return TRUE if str in wanted else FALSE
        case Const(value) if value is None or isinstance(value, str | Enum):
            return TRUE if isinstance(value, wanted) else FALSE
        case _:
            raise refuse("isinstance of a value without a known class", "ask it of records")


def _fitted(
    signature: inspect.Signature, name: str, given: Sequence[Value], more: dict[str, Value]
) -> inspect.BoundArguments:
    try:
        return signature.bind(*given, **more)
    except TypeError as error:
        raise refuse(f"{name}: {error}", "call it with its arguments") from None


def _replaced(record: Record, more: dict[str, Value]) -> Value:
    unknown = set(more) - set(record.fields)
    if unknown:
        raise refuse(f"{record.cls.__name__} has no field {min(unknown)}", "replace its fields")
    if hasattr(record.cls, "__post_init__"):
        raise refuse(f"{record.cls.__name__} does more when it is made", "make it a plain frozen dataclass")
    return Record(record.cls, {**record.fields, **{name: kept(one) for name, one in more.items()}})
