"""Count the functions of the protocols that the reader of `evenhand.source` reads: `python -m benchmarks.readable`.

Each function is read alone, with arguments of which nothing is known but their types: a text is one of those that the
functions name, or another one; a list has a place for each member.  The readings are the usual ones, rules the
reference's.  `--write` puts the table into `docs/explanation/readable.md`, `--all` prints each refusal.
"""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import re
import sys
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Literal, cast

from benchmarks.marked import put
from evenhand.core.atoms import Atom, Opaque
from evenhand.core.registry import protocols
from evenhand.core.system import Mutant
from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.logic import TRUE, Formula, Function, Relation, Sort, Term
from evenhand.source.constants import known
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
        raise refuse(f"an argument of the type {_title(written)}", "declare a type of records")

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
        places = Places(place, lambda term: there(*by, term), at)
        more = Listing(at(start), repeats=repeats, places=places, apart=True)
        return Group(kind, items, gathered(items, kind).has, more=more if kind == "list" else None)

    def record(self, cls: type, name: str, by: tuple[Term, ...]) -> Record:
        """Return a record of a class."""
        if cls.__name__ in ("Readings", "Rules"):
            usual = cls() if cls.__name__ == "Readings" else next(one for one in self.rules if isinstance(one, cls))
            found = known(usual)
            assert isinstance(found, Record)
            return found
        hints = typing.get_type_hints(cls)
        names = [one for one in cast("Any", cls).__dataclass_fields__ if one in hints]

        def maker(one: str) -> Callable[[], Value]:
            return lambda: self.made(hints[one], f"{name}.{one}", by)

        return Record(cls, _Fields({one: maker(one) for one in names}))


def _title(written: Any) -> str:
    return str(getattr(written, "__name__", written))


def collect_texts(function: Any, known_texts: dict[str, None], seen: set[Any]) -> None:
    """Collect the texts that a function, and those it calls, name."""
    seen.add(function)
    waiting: list[CodeType] = [function.__code__]
    while waiting:
        code = waiting.pop()
        named: list[Any] = [*code.co_consts[1:], *(function.__globals__.get(name) for name in code.co_names)]
        for one in named:
            if isinstance(one, CodeType):
                waiting.append(one)
            elif isinstance(one, str):
                known_texts[one] = None
            elif isinstance(one, tuple | frozenset):
                known_texts.update((text, None) for text in cast("Any", one) if isinstance(text, str))
            inner: Any = inspect.unwrap(cast("Any", one)) if callable(cast("Any", one)) else None
            if isinstance(inner, FunctionType) and inner not in seen and inner.__module__.startswith("evenhand.model"):
                collect_texts(inner, known_texts, seen)


# Reading.


class _Ordered(Orders):
    """A world in which texts and the places of each list are ordered."""

    def before(self, one: Term, other: Term) -> Formula:
        """Return that a text, or a place of a list, comes before another.  Raises Unreadable for other things."""
        if one.sort == other.sort and one.sort.name.endswith(".place"):
            return Relation(f"{one.sort.name}.before", (one.sort, one.sort))(one, other)
        return super().before(one, other)


def functions_of(protocol: str) -> Iterator[Any]:
    """Yield the functions of a protocol's kernel, rules and mutants, each once."""
    modules = [importlib.import_module(f"evenhand.model.{protocol}.{name}") for name in MODULES[protocol]]
    found: dict[Any, None] = {}
    for module in modules:
        for one in vars(module).values():
            for value in _rules_of(one) if isinstance(one, Mutant) else (one,):
                inner: Any = inspect.unwrap(value) if callable(value) else None
                if isinstance(inner, FunctionType) and inner.__module__ == module.__name__:
                    found[inner] = None
    yield from found


def _rules_of(mutant: Any) -> list[Any]:
    rules = mutant.rules
    return [getattr(rules, one.name) for one in fields(rules)] if is_dataclass(rules) else []


def attempt(function: Any, rules: tuple[Any, ...]) -> Unreadable | None:
    """Read a function for any arguments; return its refusal, None if it is readable."""
    found: dict[str, None] = {}
    collect_texts(function, found, set())
    arguments = Arguments(tuple(one for one in found if one), rules)
    code = function.__code__
    try:
        source, hints = source_of(function), typing.get_type_hints(function)
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        given = {name: arguments.made(hints.get(name, object), f"the.{name}") for name in names}
        orders = _Ordered({TEXT: Relation("before", (TEXT, TEXT))})
        Translator(orders).invoked(function, (), given, Frame(source, {}))
    except Unreadable as error:
        told = error.at(function.__module__.rpartition(".")[2], code.co_firstlineno, function.__name__)
        # A new one: what was raised holds the frames that it passed, and all formulas in them.
        return Unreadable(told.construct, told.why, told.instead, file=told.file, line=told.line)
    return None


def refusals(protocol: str) -> tuple[int, list[tuple[str, Unreadable]]]:
    """Return how many functions a protocol has, and the refusals, each with its function."""
    bundle = next(one for one in protocols() if one.name == protocol)
    rules = tuple(one.rules for one in bundle.model.systems.values())
    functions = tuple(functions_of(protocol))
    refused = [(one.__name__, error) for one in functions if (error := attempt(one, rules)) is not None]
    return len(functions), refused


CONSTRUCTS: Mapping[str, str] = {
    "a loop over a list": r"a loop |changes or repeats",
    "the place or the first of what passes a test": r"attribute index|^next |^entry |the entry of|numbers or pairs",
    "lengths, slices, equality of lists": r"^len |length|a slice|a list compared|attribute count",
    "the least, the greatest, an order of texts": r"^min |^max |^sorted |^reversed |in an order|the order of",
    "texts made or taken apart": r"JoinedStr|startswith|split|rstrip|isascii|encode|of a str or a text|^str ",
    "dictionaries made by a loop": r"DictComp|^dict |fromkeys|^Counter |attribute get|a key that",
    "fractions, sums, products": r"Fraction|denominator|^sum |^a sum |^\* of|Pow|Div |^float |bit_length",
    "arguments of another type": r"an argument |takes any number of arguments|isinstance|matched by class",
}
"""What stops the reader, each with a pattern of its reasons."""
OTHERS = "something else"


def construct(error: Unreadable) -> str:
    """Return the construct that a refusal is about."""
    return next((name for name, pattern in CONSTRUCTS.items() if re.search(pattern, error.why)), OTHERS)


def table(measured: Mapping[str, tuple[int, list[tuple[str, Unreadable]]]]) -> str:
    """Return the table: a row for each count, a column for each protocol."""
    found = {name: Counter(construct(error) for _, error in refused) for name, (_, refused) in measured.items()}
    rows = [
        ("functions", [count for count, _ in measured.values()]),
        ("read", [count - len(refused) for count, refused in measured.values()]),
        *((f"refused: {name}", [found[one][name] for one in measured]) for name in (*CONSTRUCTS, OTHERS)),
    ]
    lines = [["", *measured, "all"], ["---"] * (len(measured) + 2)]
    lines += [[name, *map(str, counts), str(sum(counts))] for name, counts in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Print the table; `--all` prints each refusal too, and `--write` puts the table into the page."""
    measured = {name: refusals(name) for name in MODULES}
    if "--all" in sys.argv[1:]:
        for protocol, (_, refused) in measured.items():
            print(*(f"{protocol} {name}: {construct(error)}: {error}" for name, error in refused), sep="\n")
    found = table(measured)
    print(found, end="")
    if "--write" in sys.argv[1:]:
        put(PAGE, BEGIN, found, END)


if __name__ == "__main__":
    main()
