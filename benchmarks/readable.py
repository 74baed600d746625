"""Count the functions of the protocols that the reader of `evenhand.source` reads: `python -m benchmarks.readable`.

Each function is read alone, with arguments of which nothing is known but their types: a text is one of those that the
functions name, or another one; a list has a place for each member.  The readings are the usual ones, rules the
reference's.  `--write` puts the table into `docs/explanation/readable.md`, `--all` prints each refusal.
"""

from __future__ import annotations

import collections.abc
import importlib
import re
import sys
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Literal, cast

from evenhand.core.atoms import Atom, Opaque
from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.logic import TRUE, Formula, Function, Relation, Sort, Term
from evenhand.source.frames import Frame
from evenhand.source.reading import source_of
from evenhand.source.refusal import Unreadable, refuse
from evenhand.source.rules import Orders
from evenhand.source.simplify import all_of, negation
from evenhand.source.statements import Translator
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Item,
    Leaf,
    Listing,
    Num,
    Places,
    Record,
    Truth,
    Value,
    Whole,
    Word,
    cases,
    gathered,
    known,
)

PAGE = Path("docs/explanation/readable.md")
BEGIN, END = "<!-- readable: lines of `python -m benchmarks.readable` -->\n", "<!-- end of readable -->\n"

MODULES: Mapping[str, tuple[str, ...]] = {
    "apcm": ("compiler", "step", "telemetry", "mutants.inputs_and_views", "mutants.rules"),
    "conviction": ("clock", "points", "refusals", "rules", "scoring", "step", "ticks", "mutants.money", "mutants.play"),
    "cud": (
        *("classify", "kernel", "step", "mutants.arbitration", "mutants.authority"),
        *("mutants.reporting", "mutants.validity"),
    ),
    "markspace": (
        *("barrier", "budget", "clocked", "composing", "envelope", "exact", "guard", "layers", "marks", "rate_limit"),
        *("scopes", "signals", "space", "strength", "mutants.guarding", "mutants.layers", "mutants.marks"),
    ),
    "sovereign": (
        *("artifacts", "constitution", "executor", "kernel", "metrics", "paths", "replaylog", "sessions", "step"),
        *("mutants.deciding", "mutants.executor_and_log", "mutants.gates", "mutants.strictness"),
    ),
}
"""Protocol → the modules of its kernel, its rules and its mutants."""

TEXT, VALUE = Sort("Text"), Sort("Value")


# What is known of an argument: its type.


class _Fields(Mapping[str, Value]):
    """The fields of a record, each made when it is looked at."""

    def __init__(self, make: Mapping[str, Callable[[], Value]]) -> None:
        self.make, self.made = make, dict[str, Value]()

    def __getitem__(self, name: str) -> Value:
        if name not in self.made:
            self.made[name] = self.make[name]()
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.make)

    def __len__(self) -> int:
        return len(self.make)


@dataclass(frozen=True)
class Arguments:
    """Makes arguments of a protocol's functions; `texts` are those that they name, `rules` what its Rules are."""

    texts: tuple[str, ...]
    rules: tuple[Any, ...]

    def made(self, written: Any, name: str, by: tuple[Term, ...] = ()) -> Value:
        """Return a value of a type; `by` are the places at which it stands.  Raises Unreadable."""
        origin, parts = typing.get_origin(written), typing.get_args(written)
        sorts = tuple(one.sort for one in by)
        if written is bool:
            return Truth(Relation(name, sorts)(*by))
        if written in (int, Fraction) or parts in ((int, Fraction), (Fraction, int)):
            return cases([(TRUE, Num(Function(name, sorts, NUMBER)(*by)))])
        if written is str:
            return self.choice(name, by, ("", *self.texts), Word(Function(name, sorts, TEXT)(*by)))
        if written is Atom or written is Opaque or (parts and all(one in (Atom, Opaque) for one in parts)):
            return cases([(TRUE, Elem(Function(name, sorts, VALUE)(*by)))])
        if isinstance(written, type) and issubclass(written, Enum):
            return self.choice(name, by, tuple(written), None)
        if origin is Literal:
            return self.choice(name, by, parts, None)
        if origin in (typing.Union, types.UnionType):
            return self.united(parts, name, by)
        if origin is tuple and parts[1:] != (Ellipsis,):
            return Fixed(tuple(self.made(one, f"{name}.{place}", by) for place, one in enumerate(parts)))
        if origin in (tuple, frozenset, collections.abc.Iterable, collections.abc.Sequence) and parts:
            return self.listed(parts[0], name, by, "set" if origin is frozenset else "list")
        if isinstance(written, type) and is_dataclass(written):
            return self.record(written, name, by)
        raise refuse(f"an argument of the type {getattr(written, '__name__', written)}", "declare a type of records")

    def choice(self, name: str, by: tuple[Term, ...], values: tuple[Any, ...], other: Leaf | None) -> Value:
        """Return one of some values, or another one."""
        sorts = tuple(one.sort for one in by)
        found: list[tuple[Formula, Leaf]] = [
            (Relation(f"{name}.is{place}", sorts)(*by), Const(value)) for place, value in enumerate(values)
        ]
        if other is not None:
            found.append((all_of(negation(guard) for guard, _ in found), other))
        return cases(found)

    def united(self, parts: tuple[Any, ...], name: str, by: tuple[Term, ...]) -> Value:
        """Return a value of one of several types.  Raises Unreadable for a truth that may be something else."""
        found: list[tuple[Formula, Leaf]] = []
        left: Formula = TRUE
        for place, part in enumerate(parts):
            last = place == len(parts) - 1
            is_it = TRUE if last else Relation(f"{name}.type{place}", tuple(one.sort for one in by))(*by)
            guard, left = all_of((left, is_it)), all_of((left, negation(is_it)))
            value = cases([(TRUE, Const(None))]) if part is type(None) else self.made(part, f"{name}.{place}", by)
            if isinstance(value, Truth):
                raise refuse("an argument that may be a truth or something else", "a Literal")
            leaves = value.parts if isinstance(value, Cases) else ((TRUE, Whole(value)),)
            found += [(all_of((guard, inner)), one) for inner, one in leaves]
        return cases(found)

    def listed(self, member: Any, name: str, by: tuple[Term, ...], kind: Literal["list", "set"]) -> Group:
        """Return a collection, of which a place says whether it is taken and what stands there."""
        place = Sort(f"{name}.place")
        there = Relation(f"{name}.has", (*(one.sort for one in by), place))

        def at(term: Term) -> Value:
            return self.made(member, f"{name}.member", (*by, term))

        def items() -> list[Item]:
            fresh = FRESH(place)
            return [Item((fresh,), there(*by, fresh), at(fresh))]

        start = Function(f"{name}.first", tuple(one.sort for one in by), place)(*by)
        repeats = Relation(f"{name}.repeats", tuple(one.sort for one in by))(*by)
        more = Listing(at(start), repeats=repeats, places=Places(place, lambda term: there(*by, term), at))
        return Group(kind, items, gathered(items, kind).has, more=more if kind == "list" else None)

    def record(self, cls: type, name: str, by: tuple[Term, ...]) -> Record:
        """Return a record of a class."""
        usual = {"Readings": cls, "Rules": lambda: next(one for one in self.rules if isinstance(one, cls))}
        if cls.__name__ in usual:
            found = known(usual[cls.__name__]())
            assert isinstance(found, Record)
            return found
        hints = typing.get_type_hints(cls)
        names = [one for one in cast("Any", cls).__dataclass_fields__ if one in hints]

        def maker(one: str) -> Callable[[], Value]:
            return lambda: self.made(hints[one], f"{name}.{one}", by)

        return Record(cls, _Fields({one: maker(one) for one in names}))


def texts_of(function: Any, known_texts: dict[str, None], seen: set[Any]) -> None:
    """Collect the texts that a function, and those it calls, name."""
    seen.add(function)
    waiting: list[CodeType] = [function.__code__]
    while waiting:
        code = waiting.pop()
        for one in (*code.co_consts[1:], *(function.__globals__.get(name) for name in code.co_names)):
            if isinstance(one, CodeType):
                waiting.append(one)
            elif isinstance(one, str):
                known_texts[one] = None
            elif isinstance(one, tuple | frozenset):
                known_texts.update((text, None) for text in cast("Any", one) if isinstance(text, str))
            inner = getattr(one, "__wrapped__", one)
            if isinstance(inner, FunctionType) and inner not in seen and inner.__module__.startswith("evenhand.model"):
                texts_of(inner, known_texts, seen)


# Reading.


def functions_of(protocol: str) -> Iterator[tuple[str, Any]]:
    """Yield the functions of a protocol's kernel, rules and mutants, with the modules that they stand in."""
    from evenhand.core.system import Mutant

    for name in MODULES[protocol]:
        module = importlib.import_module(f"evenhand.model.{protocol}.{name}")
        for one in vars(module).values():
            if isinstance(one, Mutant):
                rules: Any = cast("Any", one).rules
                for each in vars_of(rules):
                    if isinstance(each, FunctionType) and each.__module__ == module.__name__:
                        yield name, each
            else:
                inner = getattr(one, "__wrapped__", one)
                if isinstance(inner, FunctionType) and inner.__module__ == module.__name__:
                    yield name, inner


def vars_of(record: Any) -> Iterator[Any]:
    """Yield the fields of a record."""
    for name in getattr(record, "__dataclass_fields__", ()):
        yield getattr(record, name)


def attempt(function: Any, rules: tuple[Any, ...]) -> Unreadable | None:
    """Read a function for any arguments; return its refusal, None if it is readable."""
    found: dict[str, None] = {}
    texts_of(function, found, set())
    arguments = Arguments(tuple(one for one in found if one), rules)
    order = Relation("before", (TEXT, TEXT))
    try:
        source = source_of(function)
        hints = typing.get_type_hints(function)
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        given = {name: arguments.made(hints.get(name, object), f"the.{name}") for name in names}
        Translator(Orders({TEXT: order})).invoked(function, (), given, Frame(source, {}))
    except Unreadable as error:
        return error.at(function.__module__.rpartition(".")[2], function.__code__.co_firstlineno, function.__name__)
    return None


def measured(protocol: str) -> tuple[int, list[tuple[str, Unreadable]]]:
    """Return how many functions a protocol has, and the refusals, each with its function."""
    from evenhand.core.registry import protocols

    bundle = next(one for one in protocols() if one.name == protocol)
    rules = tuple(one.rules for one in bundle.model.systems.values())
    all_of_them = dict.fromkeys(one for _, one in functions_of(protocol))
    refused = [(one.__name__, error) for one in all_of_them if (error := attempt(one, rules)) is not None]
    return len(all_of_them), refused


def main() -> None:
    for protocol in MODULES:
        count, refused = measured(protocol)
        print(protocol, count, count - len(refused))
        if "--all" in sys.argv:
            for name, error in refused:
                print("   ", name, "|", error)
        for why, n in Counter(e.why for _, e in refused).most_common():
            print("  ", n, why)


if __name__ == "__main__":
    main()
