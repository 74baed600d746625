"""Models that look at a part of their state in every way that Python has.

Each is followed by the tables or refused by them; the count is that of explicit search in either case.
"""

# Ways around types are the subject, and newcomers write none.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic, reportCallIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: B006, E721, F507, UP031
from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import json
import linecache
import operator
import pickle
import random
import re
import sys
import time
import weakref
from collections import Counter, deque, namedtuple
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from fractions import Fraction
from gc import is_tracked as gc_is_tracked
from marshal import dumps as marshal_dumps
from typing import Any, NamedTuple

import numpy as np

import evenhand
from evenhand.core.system import AnySystem

WAYS: dict[str, tuple[Callable[[], AnySystem], bool]] = {}
"""By name: what makes the system, and whether the tables follow it."""


class Kind(Enum):
    """Two members."""

    ONE = 1
    TWO = 2


class Level(IntEnum):
    """Two members that are numbers."""

    LOW = 0
    HIGH = 1


@dataclass(frozen=True)
class Pair:
    """A record of two parts."""

    x: Any
    y: Any

    @property
    def total(self):
        """Both."""
        return self.x + self.y

    @functools.cached_property
    def kept_total(self):
        """Both, kept."""
        return self.x + self.y


class Point(NamedTuple):
    """A named tuple."""

    x: Any
    y: Any


def turn(x: Any, y: Any, how: Any = True) -> Pair:
    """The ordinary way on: what was learned in some way decides how far `y` goes."""
    return Pair((x + 1) % 5, (y + (2 if how else 1)) % 7)


def numbers(step: Callable[[Any, Any], Any], start: Any = Pair(0, 0), actions: Any = (0, 1)) -> AnySystem:
    """A system of two small numbers."""
    offered: Any = actions if callable(actions) else lambda _state: list(actions)
    return evenhand.system("hostile", initial=[start], actions=offered, step=step, shows=False)


def parts(first: Iterable[Hashable], step: Callable[[Any, Any], Any]) -> AnySystem:
    """A system whose first part takes all of these values."""
    values = list(first)
    starts = [Pair(one, y) for one in values for y in range(3)]
    return evenhand.system(
        "hostile",
        initial=starts,
        actions=lambda _state: [0, 1],
        step=lambda s, a: replace(step(s, a), x=s.x),
        shows=False,
    )


def rarely(how: Callable[[Any], Any], one: Any = None) -> AnySystem:
    """A system in which one state of 2,000 takes the step otherwise: samples of states do not save the tables."""
    starts = [Pair(x, 0) for x in (*range(1000), one, *range(1000, 2000))]
    return evenhand.system(
        "hostile",
        initial=starts,
        actions=lambda s: [] if s.y else [0],
        step=lambda s, _a: replace(s, y=4 if how(s) else 1),
        shows=False,
    )


def way(*, followed: bool) -> Callable[[Callable[[], AnySystem]], Callable[[], AnySystem]]:
    """Register a system; `followed` says that the tables learn it."""

    def register(make: Callable[[], AnySystem]) -> Callable[[], AnySystem]:
        WAYS[make.__name__] = make, followed
        return make

    return register


def further(state: Pair, how: Any) -> Pair:
    """The second part goes on by two or one."""
    return replace(state, y=(state.y + (2 if how else 1)) % 7)


# identity and class


@way(followed=True)
def is_none():
    """`is None` on a part that may be None."""
    return parts((None, "a", "b"), lambda s, _a: further(s, s.x is None))


@way(followed=True)
def is_true():
    """`is True` on a part that may be a truth value."""
    return parts((True, False), lambda s, _a: further(s, s.x is True))


@way(followed=True)
def is_member():
    """`is` with a member of an enumeration."""
    return parts(Kind, lambda s, _a: further(s, s.x is Kind.ONE))


@way(followed=False)
def is_another_part():
    """`is` between two parts."""
    return numbers(lambda s, _a: turn(s.x, s.y, s.x is s.y))


@way(followed=False)
def is_a_text():
    """`is` with a constant, which happens to be true of interned texts."""
    text = "a"
    return parts(("a", "b"), lambda s, _a: further(s, s.x is text))


@way(followed=True)
def is_an_element():
    """`is` on an element of a part."""
    return parts((("a", None), ("a", "b")), lambda s, _a: further(s, s.x[1] is None))


@way(followed=True)
def is_an_entry():
    """`is` on entries of a dictionary."""

    def step(s, _a):
        held = {("x", 1): s.x, ("y", 1): s.y}
        return further(s, held["x", 1] is Kind.ONE or held["x", 1] is None)

    return parts((Kind.ONE, Kind.TWO, None), step)


@way(followed=False)
def is_an_entry_that_is_got():
    """`is` on what `get` gives."""
    return parts((Kind.ONE, None), lambda s, _a: further(s, {"x": s.x}.get("x") is None))


@way(followed=False)
def is_stored_on_the_way():
    """`:=` before `is`."""

    def step(s, _a):
        return further(s, (found := {0: None}.get(s.x, s.x)) is not None and found != "a")

    return parts((0, 1, None, "a"), step)


@way(followed=False)
def is_an_element_of_a_store():
    """`:=` stores another key after an element was taken by the one before."""

    def how(s):
        held: Any = {0: s.x, None: 0}
        key: Any = 0
        return held[key] is (key := None)

    return rarely(how)


@way(followed=False)
def is_an_entry_of_a_class():
    """A class of the model gives another element when it is asked again."""

    class Held:
        asked = 0

        def __init__(self, one):
            self.one = one

        def __getitem__(self, key):
            self.asked += 1
            return self.one if self.asked == 1 else key

    def how(s):
        held = Held(s.x)
        return held[0] is None

    return rarely(how)


@way(followed=False)
def is_an_entry_by_a_key_of_a_class():
    """A key of the model's own class is another one when it is asked again."""

    class Key(int):
        asked = 0

        def __hash__(self):
            return 0

        def __eq__(self, other):
            self.asked += 1
            return self.asked == 1

    def how(s):
        held, key = {0: s.x}, Key()
        return held.get(key, 1) is None

    return rarely(how)


@way(followed=False)
def is_before_a_far_jump():
    """What is stored on the way and compared before a jump over more than 255 instructions."""
    source = ["def how(s):", " if (found := s.x) is not None:", "  y = 0", *["  y = y + 1"] * 100, "  return False"]
    name = f"{__file__}:far_jump.py"
    made: dict[str, Any] = {}
    exec(compile("\n".join([*source, " return found is None"]), name, "exec"), made)
    return rarely(made["how"])


@way(followed=True)
def dictionaries_that_differ():
    """The values of two dictionaries decide after a mark, and nothing else does."""

    def actions(s):
        one = {0: 5}
        two = {0: 1}
        if s.y == 3:
            two[0] = 2
        if s.x == 9:
            yield 9
        yield two[0]
        yield one[0]

    return numbers(lambda s, a: turn(s.x, s.y, a == 2), actions=actions)


@way(followed=False)
def is_what_a_function_gives():
    """`is` on what a call of the model gives."""
    return parts((Kind.ONE, None), lambda s, _a: further(s, turn(s.x, s.y, s.y == 1) is None))


@way(followed=True)
def hash_kept_across_a_mark():
    """A dictionary and a set keep the hash of a part, and are asked about it by a later statement of `actions`."""

    def actions(s):
        held, some = {s.x: 1}, {s.y, "none"}
        if 3 in held:
            yield 1
        if 4 in some:
            yield 2
        yield 0

    return numbers(lambda s, a: turn(s.x, s.y, a) if a < 2 else replace(s, y=0), actions=actions)


@way(followed=True)
def is_none_of_an_attribute():
    """`is None` on an attribute of a part."""
    return parts((Point(1, None), Point(1, 2), Kind.ONE), lambda s, _a: further(s, s.x is Kind.ONE or s.x.y is None))


@way(followed=True)
def is_none_of_a_result():
    """`is None` on what an operation gave."""

    def step(s, _a):
        found = {0: None}.get(s.x, s.y)
        other = s.x[0] if isinstance(s.x, tuple) else s.x
        return further(s, found is None or other is None)

    return parts((0, 1, (None,), (3,), None), step)


@way(followed=True)
def is_none_again_and_again():
    """`is None` in each round of a loop, and in each segment of the offers."""

    def offered(s):
        for place in range(3):
            if s.x is None and s.y != place:
                yield place
        if s.x is not None:
            yield 3

    def step(s, a):
        return Pair(None if s.x and s.x > 2 else (s.x or 0) + a % 2, (s.y + a) % 4)

    return numbers(step, Pair(None, 0), offered)


@way(followed=True)
def is_none_or_false():
    """Which of two single values it is decides further."""
    return parts((None, False, True, 2), lambda s, _a: further(s, s.x is None or (s.x is not True and s.y == 2)))


@way(followed=True)
def is_none_beside_the_kept_value():
    """What was None stays so, or is set to None anew."""
    return numbers(lambda s, a: Pair(s.x if s.x is None and a else (None if s.y == 3 else 1), (s.y + 1) % 5))


@way(followed=True)
def is_none_swallowed():
    """The comparison is in a handler of everything, which gives the run another way on."""

    def step(s, _a):
        try:
            how = s.x is None
        except BaseException:
            how = len("".join([s.x])) > 0
        return further(s, how)

    return parts((None, "a"), step)


@way(followed=True)
def is_none_swallowed_like_any_error():
    """A handler that gives the answer that Python would have given for a proxy."""

    def step(s, _a):
        try:
            how = s.x is None
        except Exception:
            how = False
        return further(s, how)

    return parts((None, "a"), step)


class Holder:
    """Something that a call, or an operator of its own, changes."""

    x: Any = 3

    def __lshift__(self, value):
        return _put(self, value)


_later: Any = 3


def _put(holder, value):
    holder.x = value
    return True


def _put_globally(value):
    globals()["_later"] = value
    return True


@way(followed=False)
def is_none_after_a_call():
    """A call before the comparison, on its line, changes what is compared."""

    def step(s, _a):
        holder = Holder()
        return further(s, _put(holder, s.x) and holder.x is None)

    return parts((None, "a"), step)


@way(followed=False)
def is_none_after_a_store():
    """A loop stores the attribute that is compared on its line."""

    def step(s, _a):
        holder = Holder()
        return further(s, next(holder.x is None for holder.x in (s.x,)))

    return parts((None, "a"), step)


@way(followed=False)
def is_none_after_an_operator():
    """An operator of a class of the model, before the comparison on its line, changes what is compared."""

    def step(s, _a):
        holder = Holder()
        return further(s, holder << s.x and holder.x is None)

    return parts((None, "a"), step)


@way(followed=True)
def is_none_of_an_outer_variable():
    """A variable of the function around, read again after each comparison."""
    return parts((None, "a"), lambda s, _a: further(s, any(s.x is None and s.y < 3 for _ in range(2)) or s.x == "a"))


@way(followed=False)
def is_none_of_a_global():
    """A call before the comparison, on its line, sets a global."""
    return parts((None, "a"), lambda s, _a: further(s, _put_globally(s.x) and _later is None))


@way(followed=True)
def is_no_name():
    """A name that is nowhere, in a line that never comes to it: behind an operator each opcode is watched."""
    return parts((None, "a"), lambda s, _a: further(s, s.y >= 0 or s.x is _nowhere))  # type: ignore[name-defined] # pyright: ignore # noqa: F821


@way(followed=False)
def is_by_operator():
    """`operator.is_`, which no bytecode shows as an `is`."""
    return parts((None, "a"), lambda s, _a: further(s, operator.is_(s.x, None)))


@way(followed=False)
def identity_number():
    """`id`."""
    return parts(("a", "b"), lambda s, _a: further(s, id(s.x) == id("a")))


@way(followed=False)
def exact_class():
    """`type(…) is`."""
    return parts((1, "a"), lambda s, _a: further(s, type(s.x) is str))


_class_of = type


@way(followed=False)
def exact_class_by_another_name():
    """`type` under another name."""
    return parts((1, "a"), lambda s, _a: further(s, _class_of(s.x) == str))


@way(followed=False)
def exact_class_in_a_closure():
    """`type` that a closure holds."""
    ask = type
    return parts((1, "a"), lambda s, _a: further(s, ask(s.x) == str))


@way(followed=True)
def class_attribute():
    """`__class__`."""
    return parts((1, "a"), lambda s, _a: further(s, s.x.__class__ is str))


@way(followed=True)
def instance_of():
    """`isinstance`."""
    return parts((1, "a"), lambda s, _a: further(s, isinstance(s.x, str)))


@way(followed=True)
def instance_of_an_abstract_class():
    """`isinstance` with a class that asks for methods, all of which a proxy has."""
    return parts((1, "a"), lambda s, _a: further(s, isinstance(s.x, Iterable)))


@way(followed=False)
def callable_or_not():
    """`callable`, which looks at the class."""
    return parts((1, "a"), lambda s, _a: further(s, callable(s.x)))


@way(followed=False)
def match_sequence():
    """A sequence pattern reads a flag of the class."""

    def step(s, _a):
        match s.x:
            case [_, _]:
                return further(s, True)
            case _:
                return further(s, False)

    return parts(((1, 2), "ab", 3), step)


@way(followed=True)
def match_values():
    """Value patterns compare."""

    def step(s, _a):
        match s.x:
            case 1 | "a":
                return further(s, True)
            case _:
                return further(s, False)

    return parts((1, 2, "a"), step)


@way(followed=True)
def match_classes():
    """Class patterns ask for the class."""

    def step(s, _a):
        match s:
            case Pair(x=int(), y=0 | 1):
                return further(s, True)
            case Pair(str() as name):
                return further(s, name == "a")
            case _:
                return further(s, False)

    return parts((1, 2, "a", "b"), step)


@way(followed=True)
def match_none():
    """`case None` is an `is`."""

    def step(s, _a):
        match s.x:
            case None:
                return further(s, True)
            case _:
                return further(s, False)

    return parts((None, 1), step)


# hashing and containers


@way(followed=True)
def dictionary_key():
    """A part is looked up in a dictionary."""
    table = {0: 1, 1: 3, 2: 0, 3: 4, 4: 2}
    return numbers(lambda s, _a: Pair(table[s.x], (s.y + table[s.x]) % 7))


@way(followed=True)
def set_member():
    """A part is looked up in a set."""
    return numbers(lambda s, _a: turn(s.x, s.y, s.x in {0, 3}))


@way(followed=True)
def set_of_parts():
    """A set is made of parts."""
    return numbers(lambda s, a: turn(s.x, s.y, len({s.x, s.y, a}) == 2))


@way(followed=True)
def hash_of_parts():
    """The hash of a tuple of parts decides."""
    return numbers(lambda s, _a: turn(s.x, s.y, hash((s.x, s.y)) % 2 == hash((0, 0)) % 2))


@way(followed=True)
def counted_parts():
    """`Counter`, which counts in C."""
    return numbers(lambda s, _a: turn(s.x, s.y, Counter((s.x, s.y, 1))[1] > 1))


@way(followed=True)
def membership_in_a_part():
    """`in` a set that is a part."""
    sets = [frozenset(), frozenset({0}), frozenset({1}), frozenset({0, 1})]
    return parts(sets, lambda s, a: further(s, a in s.x))


@way(followed=True)
def growing_set():
    """A set grows by the action, and another is taken away."""
    start = Pair(frozenset(), frozenset({0, 1, 2}))
    return numbers(lambda s, a: Pair(s.x | {a}, s.y - {a}), start, (0, 1, 2))


@way(followed=True)
def set_as_a_tuple():
    """A set and a tuple with the same members are two states."""
    return parts((frozenset({1, 2}), (1, 2)), lambda s, _a: further(s, s.x == (1, 2)))


@way(followed=True)
def loop_over_a_set():
    """A loop over a set that is a part, in sorted order."""
    sets = [frozenset({2, 9}), frozenset({1}), frozenset()]
    return parts(sets, lambda s, _a: replace(s, y=(s.y + sum(sorted(s.x))) % 7))


@way(followed=True)
def queue_of_messages():
    """A tuple of changing length: first in, first out."""

    def step(s, a):
        if a == "send":
            return Pair((*s.x, s.y), (s.y + 1) % 3)
        return Pair(s.x[1:], s.x[0])

    def actions(s):
        if len(s.x) < 3:
            yield "send"
        if s.x:
            yield "take"

    return numbers(step, Pair((), 0), actions)


@way(followed=True)
def changing_shape():
    """A record becomes a text and back."""
    return numbers(lambda s, a: Pair("none" if a else Point(1, 2), s.y if a else (s.y + 1) % 3), Pair(Point(1, 2), 0))


@way(followed=True)
def variable_depth():
    """A part nests deeper up to a bound."""
    return numbers(lambda s, _a: Pair((s.x,) if s.y < 3 else 0, (s.y + 1) % 4))


# texts and numbers


@way(followed=True)
def formatted():
    """A part in a formatted text."""
    return numbers(lambda s, _a: turn(s.x, s.y, f"{s.x}-{s.y:02d}" in ("1-03", "2-02")))


@way(followed=True)
def percent_formatted():
    """A part in an old formatted text."""
    return numbers(lambda s, _a: turn(s.x, s.y, "%d/%s" % (s.x, s.y) in ("1/3", "2/2")))


@way(followed=True)
def printed():
    """`str` and `repr`."""
    return numbers(lambda s, _a: turn(s.x, s.y, str(s.x) + repr(s.y) in ("13", "22")))


@way(followed=False)
def joined_text():
    """`str.join`, which wants real texts."""
    return parts(("a", "b"), lambda s, _a: further(s, "-".join([s.x, "z"]) == "a-z"))


@way(followed=True)
def methods_of_texts():
    """Methods of a text that is a part."""
    return parts(("ab", "ba", ""), lambda s, _a: further(s, s.x.startswith("a") or s.x.upper() == "BA"))


@way(followed=False)
def regular_expression():
    """`re`, whose C code wants a text, and which keeps what it compiled."""
    return parts(("ab", "ba"), lambda s, _a: further(s, re.match("a", s.x)))


@way(followed=True)
def methods_of_numbers():
    """Methods and operators of whole numbers."""
    return numbers(lambda s, _a: turn(s.x, s.y, s.x.bit_length() == 2 or divmod(s.y, 3)[1] == 2 or -s.x == ~s.y))


@way(followed=True)
def exact_numbers():
    """Fractions, which Python code would make of proxies."""
    return numbers(lambda s, _a: Pair((s.x + Fraction(1, 3)) % 1, (s.y + 1) % 4), Pair(Fraction(0), 0))


@way(followed=True)
def inexact_numbers():
    """Floating-point numbers."""
    return numbers(lambda s, _a: Pair((s.x + 0.5) % 2, (s.y + int(s.x * 2)) % 4), Pair(0.0, 0))


@way(followed=True)
def indices():
    """Parts index, slice and count."""
    row = (3, 1, 4, 1, 5, 9)
    return numbers(lambda s, _a: Pair(row[s.x] % 5, (s.y + len(row[s.x :]) + sum(range(s.y))) % 7))


@way(followed=True)
def compared_and_chosen():
    """`sorted`, `max`, `min`, `any`, `all`, and comparisons in a chain."""

    def step(s, _a):
        low, high = sorted((s.x, s.y))
        fine = all(one < 4 for one in (s.x, s.y)) or any(one == 6 for one in (s.x, s.y))
        return turn(max(low, 1) - min(high, 1), s.y, fine and 0 <= low < high <= 5)

    return numbers(step)


@way(followed=True)
def truth():
    """`not`, `and`, `or` give parts back."""
    return numbers(lambda s, _a: Pair((not s.x) + (s.x and 1), ((s.y or 3) + (s.x or 1)) % 7))


@way(followed=True)
def numbers_with_names():
    """Members of an IntEnum, compared and added."""
    return parts(Level, lambda s, _a: further(s, s.x > Level.LOW or s.x + 1 == 2))


@way(followed=True)
def members_by_value():
    """Members of an enumeration, their names and values."""
    return parts(Kind, lambda s, _a: further(s, Kind(s.x.value) == Kind.TWO or s.x.name == "NONE"))


@way(followed=False)
def true_for_one():
    """1 and True in one place: explicit search refuses them when they meet."""
    return numbers(lambda s, a: Pair(s.x == 1 if a else (s.x + 1) % 3, s.y))


# records


@way(followed=True)
def replaced():
    """`dataclasses.replace`, `asdict` and `astuple`."""

    def step(s, _a):
        return replace(turn(s.x, s.y, dataclasses.astuple(s) == (1, 3)), x=(dataclasses.asdict(s)["x"] + 2) % 5)

    return numbers(step)


@way(followed=True)
def named_tuples():
    """A named tuple, unpacked and replaced."""

    def step(s, a):
        x, y = s
        return s._replace(x=(y + a) % 4, y=(x + 1) % 3)

    return numbers(step, Point(0, 0))


@way(followed=True)
def properties_of_records():
    """A property of the state's class, one of them kept."""
    return numbers(lambda s, _a: turn(s.x, s.y, s.total == 4 or s.kept_total == 5))


@dataclass(frozen=True)
class Marked:
    """A record that rarely holds more than its fields."""

    x: Any
    y: Any
    mark = 0

    def __post_init__(self) -> None:
        if self.x == 3333 and self.y == 4:
            object.__setattr__(self, "mark", 1)


@way(followed=False)
def what_a_record_holds_beside_its_fields():
    """One state of 2,000 has a mark in the end, and goes on."""
    starts = [Marked(x, 0) for x in (*range(1000), 3333, *range(1000, 2000))]
    return evenhand.system(
        "hostile",
        initial=starts,
        actions=lambda s: [0] if s.y < 4 or s.mark else [],
        step=lambda s, _a: Marked(s.x, s.y + 1),
        shows=False,
    )


@dataclass(frozen=True)
class Checked:
    """A record that checks what it is given."""

    x: int
    y: int

    def __post_init__(self):
        if self.x > 3:
            object.__setattr__(self, "x", 0)


@way(followed=True)
def checked_on_the_way():
    """`__post_init__` changes a part."""
    return numbers(lambda s, a: Checked(s.x + 1, (s.y + s.x + a) % 5), Checked(0, 0))


@dataclass(frozen=True)
class Half:
    """A record whose equality ignores a field."""

    x: int
    y: int = field(compare=False, default=0)


@way(followed=False)
def uncompared_field():
    """A part of a class that ignores a field; explicit search refuses it where it matters."""
    return numbers(lambda s, _a: Pair(Half((s.x.x + 1) % 3), (s.y + 1) % 2), Pair(Half(0), 0))


class Odd:
    """A class with an equality of its own."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return isinstance(other, Odd) and self.n == other.n

    def __hash__(self):
        return hash(self.n)


@way(followed=False)
def class_of_the_users():
    """A part of a class that does anything."""
    return numbers(lambda s, _a: Pair(Odd((s.x.n + 1) % 3), (s.y + 1) % 2), Pair(Odd(0), 0))


@way(followed=True)
def messages_that_are_records():
    """A queue of records, whose fields are read."""
    message = namedtuple("message", "kind number")

    def step(s, a):
        if s.x and s.x[0].kind == "go":
            return Pair(s.x[1:], (s.y + s.x[0].number) % 5)
        return Pair((message("go" if a else "stop", a + 1),), s.y)

    return numbers(step, Pair((), 0))


@way(followed=True)
def attributes_by_name():
    """`getattr`, `attrgetter` and `itemgetter`."""
    return numbers(
        lambda s, a: turn(operator.attrgetter("x")(s), s.y, getattr(s, "xy"[a]) == operator.itemgetter(0)((s.y,)))
    )


@way(followed=True)
def copied():
    """`copy` and `deepcopy`."""
    return numbers(lambda s, _a: copy.deepcopy(turn(copy.copy(s.x), s.y, s.x == 2)))


@way(followed=False)
def pickled():
    """A state goes through `pickle`."""
    return numbers(lambda s, _a: turn(*pickle.loads(pickle.dumps((s.x, s.y)))))


@way(followed=False)
def as_json():
    """A state goes through `json`, whose C code asks for exact classes."""
    return numbers(lambda s, _a: turn(s.x, s.y, json.dumps([s.x, s.y]) == "[1, 3]"))


@way(followed=False)
def size_in_memory():
    """The size of a part decides."""
    return parts(("a", "aaaaaaaaaaaaaaaaaaaaaa"), lambda s, _a: further(s, sys.getsizeof(s.x) > 60))


@way(followed=False)
def weak_reference():
    """A weak reference asks what can be referred to."""

    def step(s, _a):
        try:
            weakref.ref(s.x)
        except TypeError:
            return further(s, True)
        return further(s, False)

    return parts((1, frozenset()), step)


@way(followed=True)
def array_of_parts():
    """numpy makes an array of parts."""
    return numbers(lambda s, _a: turn(s.x, s.y, bool(np.array([s.x, s.y]).sum() == 4)))


# memory, chance, exceptions


@way(followed=False)
def cached_function():
    """`lru_cache` keeps what it was given."""

    @functools.lru_cache
    def far(x):
        return (x + 1) % 5

    return numbers(lambda s, _a: Pair(far(s.x), (s.y + far(s.x)) % 7))


_kept: dict[Any, Any] = {}


@way(followed=True)
def cached_function_of_no_part():
    """`lru_cache` on what is no part of the state, and on settled parts."""

    @functools.lru_cache(maxsize=2)
    def far(by, *more):
        return [(one + by) % 5 for one in range(5 + len(more))]

    return numbers(lambda s, a: Pair(far(a + 1)[s.x], far(2, int(s.y) % 2)[s.y % 5]))


@way(followed=True)
def cached_function_that_keeps_a_part():
    """`lru_cache` keeps a part in what it returns, and is cleared before it gives that again."""

    def step(s, _a):
        far.cache_clear()
        held.append(s.x)
        return turn(far(1)[0], s.y)

    held: list[Any] = []

    @functools.cache
    def far(_by):
        return [held.pop()]

    return numbers(step)


@way(followed=True)
def cache_of_the_users():
    """A dictionary of the module keeps what it was given."""
    _kept.clear()

    def far(x):
        if x not in _kept:
            _kept[x] = (x + 1) % 5
        return _kept[x]

    return numbers(lambda s, _a: Pair(far(s.x), (s.y + far(s.x)) % 7))


@way(followed=True)
def default_that_remembers():
    """A default argument remembers parts."""

    def far(x, kept={}):
        return kept.setdefault(x, (x + 1) % 5)

    return numbers(lambda s, _a: Pair(far(s.x), (s.y + far(s.x)) % 7))


@way(followed=False)
def chance():
    """Chance that always falls the same way."""
    return numbers(lambda s, _a: turn(s.x, s.y, random.random() < 2))


@way(followed=False)
def clock():
    """A clock that has started."""
    return numbers(lambda s, _a: turn(s.x, s.y, time.time() > 0))


@way(followed=False)
def swallowed_type_error():
    """A TypeError that a proxy may have caused is handled."""

    def step(s, _a):
        try:
            how = "".join([s.x]) == "a"
        except TypeError:
            how = False
        return further(s, how)

    return parts(("a", "b"), step)


@way(followed=False)
def suppressed_type_error():
    """The same by `contextlib`."""

    def step(s, _a):
        how = False
        with contextlib.suppress(TypeError):
            how = "".join([s.x]) == "a"
        return further(s, how)

    return parts(("a", "b"), step)


@way(followed=True)
def index_error():
    """An IndexError of the model's own is handled."""

    def step(s, a):
        try:
            how = s.x[a] == 1
        except IndexError:
            how = True
        return further(s, how)

    return parts(((), (1,), (2, 1)), step)


@way(followed=True)
def unused_exception():
    """An operation is done only to see whether it raises; its value is dropped."""

    def step(s, a):
        try:
            s.x[a]
        except IndexError:
            return further(s, True)
        return further(s, False)

    return parts(((), (1,), (2, 1)), step)


@way(followed=True)
def key_error():
    """A KeyError of the model's own is handled."""
    table = {0: 1, 2: 1}

    def step(s, _a):
        try:
            return turn(s.x, s.y, table[s.x])
        except KeyError:
            return turn(s.x, s.y, 0)

    return numbers(step)


@way(followed=True)
def division_by_zero():
    """A division that fails for one value alone."""

    def step(s, _a):
        try:
            return turn(s.x, s.y, 12 // (s.x - 2) > 3)
        except ZeroDivisionError:
            return Pair(0, s.y)

    return numbers(step)


@way(followed=True)
def bare_except():
    """A handler for everything, over code that raises what is the model's own."""

    def step(s, a):
        try:
            how = s.x[a]
        except:  # noqa: E722
            how = True
        return further(s, how)

    return parts(((), (0,), (0, 1)), step)


# functions


@way(followed=True)
def by_function_tools():
    """`partial` and `reduce`."""
    add = functools.partial(operator.add, 1)
    return numbers(lambda s, _a: turn(functools.reduce(operator.sub, (s.x, s.y), 7) % 5, add(s.y) % 7, s.x == 2))


@functools.singledispatch
def shown(_value):
    """Whatever it is."""
    return False


@shown.register
def _(value: int) -> bool:
    return value > 1


@way(followed=True)
def by_single_dispatch():
    """`singledispatch`, which keeps in a cache what class has what function."""
    return parts((1, 2, "a"), lambda s, _a: further(s, shown(s.x)))


@way(followed=True)
def nested_functions():
    """A function in the step that reads a part of the enclosing call."""

    def step(s, a):
        def far(by):
            return (s.x + by) % 5

        return Pair(far(a), (s.y + far(1)) % 3)

    return numbers(step)


# actions


@way(followed=True)
def actions_with_parts():
    """Actions that hold parts of the state."""
    return numbers(
        lambda s, a: Pair((a[1] + 1) % 3, (a[2] + 1) % 4), actions=lambda s: [("go", s.x, s.y), ("stay", s.x, 0)]
    )


@way(followed=True)
def one_action_twice():
    """An action that is listed twice counts twice."""
    return numbers(lambda s, a: turn(s.x, s.y, a), actions=lambda s: [0, 1, 0] if s.x == 1 else [1, 1])


@way(followed=True)
def loops_with_everything():
    """A generator with `while`, `break`, `continue` and `else`."""

    def actions(s):
        n = 0
        while n < 6:
            n += 1
            if n == s.x:
                continue
            if n > s.y:
                break
            yield n
        else:
            yield 10
        for m in range(3):
            if m == s.y:
                break
        else:
            yield 11

    return numbers(lambda s, a: Pair((s.x + a) % 4, (s.y + 1) % 7), actions=actions)


@way(followed=True)
def earlier_answers_are_kept():
    """What an earlier statement found decides later, by a variable."""

    def actions(s):
        seen = 0
        for n in range(3):
            if s.x == n:
                seen += 1
                yield n
        if seen and s.y < 3:
            yield 5
        last = n
        if last + s.x == 4:
            yield 6

    return numbers(lambda s, a: Pair((s.x + a) % 5, (s.y + 1) % 5), actions=actions)


@way(followed=True)
def delegated():
    """`yield from` a generator that yields from another."""

    def inner(s, n):
        if s.x == n:
            yield n
        if s.y == n:
            yield 10 + n

    def middle(s):
        for n in range(4):
            yield from inner(s, n)

    def actions(s):
        yield 7
        yield from middle(s)

    return numbers(lambda s, a: Pair((s.x + a) % 5, (s.y + 1) % 5), actions=actions)


@way(followed=True)
def comprehension():
    """A list comprehension with two loops and conditions."""
    return numbers(
        lambda s, a: Pair((s.x + a[0]) % 5, (s.y + a[1]) % 5),
        actions=lambda s: [(m, n) for m in range(3) if m != s.x for n in range(3) if n != s.y and m + n < s.x + 3],
    )


@way(followed=True)
def changing_list():
    """A generator keeps a list, and changes it."""

    def actions(s):
        row = [0, 0]
        for n in range(3):
            if s.x > n:
                row[n % 2] += 1
            if row[0] > s.y:
                yield n
        yield tuple(row)

    return numbers(lambda s, a: Pair((s.x + (a if a in (1, 2) else 3)) % 5, (s.y + 1) % 4), actions=actions)


@way(followed=True)
def finally_in_actions():
    """A generator with `try` and `finally`, which is not cut."""

    def actions(s):
        try:
            if s.x:
                yield 1
        finally:
            yield 2

    return numbers(lambda s, a: Pair((s.x + a) % 5, (s.y + s.x) % 4), actions=actions)


@way(followed=True)
def memory_of_the_actions():
    """What is on offer depends on an object that outlives the call."""
    seen: list[Any] = []

    def actions(s):
        if len(seen) < 100_000:
            seen.append(s.x)
        return [0, 1] if seen[-1] == s.x else [0]

    return numbers(lambda s, a: turn(s.x, s.y, a), actions=actions)


@way(followed=True)
def queue_in_the_actions():
    """A loop takes from an object that is changed and looks the same at every turn."""

    def actions(s):
        waiting = deque([0, 1, 2, 3])
        while waiting:
            n = waiting.popleft()
            if s.x == n or s.y == n:
                yield n

    return numbers(lambda s, a: Pair((s.x + a + 1) % 5, (s.y + 1) % 4), actions=actions)


class Turns:
    """An object that counts."""

    def __init__(self):
        self.n = 0

    def next(self):
        """The next number."""
        self.n += 1
        return self.n


@way(followed=True)
def counter_in_the_actions():
    """An object of the user's changes between two statements."""

    def actions(s):
        turns = Turns()
        while turns.next() < 4:
            if turns.n == s.x:
                yield turns.n
            if turns.n > s.y:
                yield -turns.n

    return numbers(lambda s, a: Pair((s.x + a) % 5, (s.y + 1) % 4), actions=actions)


@way(followed=True)
def variables_by_name():
    """`locals` reads a variable that nothing else reads."""

    def actions(s):
        seen = 0
        for n in range(2):
            if s.x == n:
                seen = n + 5
            if s.y == n:
                yield n
        yield locals()["seen"]

    return numbers(lambda s, a: Pair((s.x + a) % 5, (s.y + 1) % 4), actions=actions)


@way(followed=False)
def is_the_same_record():
    """`is` between records, which the search may share."""

    def step(s, a):
        other = s if a else Pair(s.x, s.y)
        return turn(s.x, s.y, other is s)

    return numbers(step)


@way(followed=True)
def exact_class_of_an_element():
    """`type` of what is no part: an element of a set, and of the action."""
    start = Pair(frozenset({1, "a"}), 0)

    def step(s, a):
        found = [one for one in sorted(s.x, key=str) if type(one) is int]
        return Pair(s.x | {a}, (s.y + len(found) + (type(a) is str)) % 5)

    return numbers(step, start, (0, 2, "b"))


@way(followed=False)
def exact_class_by_a_function_of_that_name():
    """`type` is a function of the model, which gives a part."""
    made: dict[str, Any] = {"type": lambda value: value}
    exec("def how(s):\n return type(s.x) is None", made)
    return parts((None, "a"), lambda s, _a: further(s, made["how"](s)))


@way(followed=True)
def match_the_action():
    """Patterns for sequences of what is no part; one takes the name of what is matched, and fails by its guard."""

    def step(s, a):
        match a:
            case (_, int() as a) if s.y == 3:
                return turn(s.x, a)
            case ("add", [x, *more]):
                return turn(s.x + x, s.y, len(more) == s.x)
            case (_, _):
                return turn(s.y, s.x)
            case _:
                return turn(s.x, s.y, False)

    return numbers(step, actions=(("add", (1,)), ("add", (2, 3)), ("add", 2), ("put", 0), "no"))


@way(followed=False)
def match_a_part_and_the_action():
    """A tuple of a part and the action is matched."""

    def step(s, a):
        match s.x, a:
            case (0 | 1, ("go", n)):
                return turn(s.x, n)
            case (x, (_, 2)):
                return turn(x, s.y, False)
            case _:
                return turn(s.x, s.y)

    return numbers(step, actions=(("go", 1), ("go", 2), ("no", 2), 3))


@way(followed=False)
def match_a_part_within():
    """A pattern for a sequence looks at a part within a tuple."""

    def step(s, a):
        match s.x, a:
            case ((_, _), 1):
                return further(s, True)
            case _:
                return further(s, False)

    return parts(((1, 2), "ab", 3), step)


@way(followed=False)
def match_two_parts_within():
    """Patterns for sequences look at two parts within a tuple."""

    def step(s, _a):
        match s.x, s.y:
            case ((_, _), [_]) | (_, (_, _)):
                return Pair(s.y, s.x)
            case _:
                return Pair(s.x, (s.x, s.y) if s.x in (3, "ab") else 4)

    return numbers(step, Pair((1, 2), (1,)))


@way(followed=True)
def is_a_member_of_each():
    """`is` in a loop of the actions, of one part after another; the variable is what it was afterwards."""

    def actions(s):
        for place, one in enumerate((s, Pair(s.y, s.x))):
            if one.x is None or one.x is Kind.ONE or one == Pair(0, 1):
                yield place
            yield one.x

    return numbers(lambda s, a: Pair(s.y, a if a in (0, None) else Kind.ONE if s.x == 0 else None), actions=actions)


@way(followed=True)
def lists_in_a_sum():
    """What is on offer is a sum of lists, some on conditions; a comprehension has a variable of an outer name."""
    actions: Any = lambda s, i=3: (  # noqa: E731
        [i for i in range(s.x)] + ([i] if s.y > 1 else []) + [*(i + j for j in (s.y, 1) if j), *[s.x]]
    )
    return numbers(lambda s, a: Pair((s.x + a) % 4, (s.y + 1) % 3), actions=actions)


@way(followed=True)
def lists_that_end_early():
    """What is on offer is returned before the end, or what was put into the list is dropped."""

    def actions(s):
        if s.x == 2:
            return [1]
        found = [0]
        for n in range(3):
            if s.y == n:
                return found + [n + 1]  # noqa: RUF005
            found.append(n)
        if s.y == 4:
            return [5]
        return found

    return numbers(lambda s, a: Pair((s.x + a) % 5, (s.y + 1) % 6), actions=actions)


class Menu:
    """Offers by methods, and counts in an attribute."""

    def __init__(self):
        self.asked, self.most = 0, 3

    def one(self, s):
        """A list of its own for each number."""
        self.asked += 1
        if s.x == self.asked:
            yield self.asked
        yield from [9] if s.y == self.asked else []

    def actions(self, s):
        """What is on offer."""
        self.asked = 0
        while self.asked < self.most:
            yield from self.one(s)
        yield self.most


@way(followed=True)
def methods_of_an_object():
    """What is on offer comes from methods of an object that changes between two statements."""
    return numbers(lambda s, a: Pair((s.x + a) % 5, (s.y + 1) % 4), actions=Menu().actions)


def _compiled(*lines):
    """The function `how` of a source of its own."""
    name, source = f"{__file__}:{len(linecache.cache)}.py", "\n".join(["def how(s):", *lines])
    linecache.cache[name] = len(source), None, [f"{line}\n" for line in source.split("\n")], name
    made: dict[str, Any] = {"chosen": lambda value: value}
    exec(compile(source, name, "exec", dont_inherit=True), made)
    return made["how"]


_MANY = [f" v{n} = {n}" for n in range(300)]
"""Variables beyond 255, whose instructions have prefixes."""


@way(followed=False)
def exact_class_of_a_late_variable():
    """`type` of the 302nd variable."""
    return rarely(_compiled(*_MANY, " x = s.x", " return type(x) is str"), "a")


@way(followed=False)
def match_a_late_variable():
    """A pattern for sequences looks at the 302nd variable."""
    return rarely(_compiled(*_MANY, " x = s.x", " match x:", "  case [_, _]: return True", " return False"), (1, 2))


@way(followed=False)
def is_a_choice_before_a_far_jump():
    """One of two values is compared before a jump over more than 255 instructions."""
    lines = [" y, b = 0, 1", " if (s.x if s.y == 0 else b) is not None:", *["  y = y + 1"] * 100]
    return rarely(_compiled(*lines, "  return False", " return True"))


@way(followed=False)
def exact_class_or_another_function():
    """What is called is `type` or a function of the model, which gives a part."""
    return rarely(_compiled(" x = s.x", " return (chosen if s.y == 0 else type)(x) == 3333"), 3333)


@way(followed=False)
def exact_class_by_other_built_in_functions():
    """`type` is no built-in function of the frame."""
    made: dict[str, Any] = {"__builtins__": {"type": lambda value: value}}
    exec("def how(s):\n x = s.x\n return type(x) == 3333", made)
    return rarely(made["how"], 3333)


@way(followed=False)
def match_more_than_there_are():
    """A pattern looks for more parts than the tuple has, and the model handles any error."""

    def how(s):
        try:
            match s.x, s.y:
                case (*_, [_], [_], [_]):
                    return True
                case _:
                    return s.x == "a"
        except IndexError:
            return False

    return rarely(how, "a")


@way(followed=False)
def match_beside_a_class():
    """The class of something is asked for before the part that is matched."""

    def how(s):
        x, one = s.x, 1
        match type(one), x:
            case (_, [_, _]):
                return True
        return False

    return rarely(how, (1, 2))


class Box(Enum):
    """A member with a property that gives what is held now."""

    ONE = 1

    @property
    def held(self):
        """Any value."""
        return _boxed[0]


_boxed: list[Any] = [None]


@way(followed=False)
def match_a_property():
    """A pattern for sequences looks at a property of a member."""

    def how(s):
        _boxed[0], one = s.x, Box.ONE
        match one:
            case Box(held=[_, _]):
                found = True
            case _:
                found = False
        _boxed[0] = None
        return found

    return rarely(how, (1, 2))


class Once:
    """Gives what it holds once, by a property and by `__getattr__`."""

    def __init__(self, one):
        self.one, self.asked = one, 0

    @property
    def held(self):
        """The value, then 0."""
        self.asked += 1
        return self.one if self.asked == 1 else 0

    def __getattr__(self, name):
        return self.held


@way(followed=False)
def is_a_property_that_changes():
    """A property gives something else when it is asked again."""

    def how(s):
        one = Once(s.x)
        return one.held is None

    return rarely(how)


@way(followed=False)
def is_an_attribute_that_changes():
    """`__getattr__` gives something else when it is asked again."""

    def how(s):
        one = Once(s.x)
        return one.any is None

    return rarely(how)


@way(followed=False)
def match_beside_what_raises():
    """A pattern is tried on a part and on a property, which raises."""

    class Raises:
        @property
        def it(self):
            raise KeyError

    def step(s, _a):
        x, one = s.x, Raises()
        try:
            match x, one.it:
                case ([_, _], _):
                    return s
                case _:
                    return s
        except KeyError:
            return Pair((x + 1) % 5, (s.y + x) % 3)

    return numbers(step)


@way(followed=False)
def class_by_a_default():
    """`type` is the default of a parameter."""

    def how(s: Any, asked: Any = type) -> bool:
        return bool(asked(s.x).__name__ == "NoneType")

    return rarely(how)


@way(followed=False)
def identity_by_a_default():
    """`id` is the default of a parameter."""

    def how(s: Any, asked: Any = id) -> bool:
        return bool(asked(s.x) == asked(None))

    return rarely(how)


class Asking:
    """Keeps `type` as an attribute."""

    def __init__(self):
        self.asked = type


class Holding:
    """Keeps what keeps `type`."""

    def __init__(self):
        self.held = Asking()


ASKING, HOLDING = Asking(), Holding()


@way(followed=False)
def class_by_an_attribute():
    """`type` is an attribute."""
    return rarely(lambda s: ASKING.asked(s.x) == type(None))


@way(followed=False)
def class_by_an_attribute_of_an_attribute():
    """`type` is handed on from an attribute of an attribute."""
    return rarely(lambda s: [*map(HOLDING.held.asked, [s.x])] == [type(None)])


@way(followed=False)
def identity_of_a_result_in_text():
    """`is` on a computed value, in code that stands in no file."""
    made: dict[str, Any] = {"get": lambda known, key: known.get(key)}
    exec("def how(s):\n return get({'k': s.x}, 'k') is None", made)
    return rarely(made["how"])


LOOKS = {"is": operator.is_, "==": operator.eq}
IS_NONE = functools.partial(operator.is_, None)
EQUALS = (3333).__eq__
ASKS = type
LEN: Any = len


class Asks:
    """Calls what it keeps."""

    def __init__(self, ask):
        self.kept = ask

    def ask(self, x):
        """What is kept says."""
        return self.kept(x)


def calling(ask):
    """A function that calls another."""
    return lambda x: ask(x)


HOWS = [calling(ask) for ask in (str, type)]
AS_TEXT, AS_CLASS = Asks(str), Asks(type)


@dataclass(frozen=True)
class Indexed:
    """A record with elements, whatever is asked for."""

    x: Any

    def __getitem__(self, key):
        return key


def seldom(how: Callable[[Any], Any], one: Any, others: Callable[[int], Any]) -> AnySystem:
    """A system like `rarely`, with other values than numbers."""
    starts = [Pair(x, 0) for x in (*map(others, range(1000)), one, *map(others, range(1000, 2000)))]
    return evenhand.system(
        "hostile",
        initial=starts,
        actions=lambda s: [] if s.y else [0],
        step=lambda s, _a: replace(s, y=4 if how(s) else 1),
        shows=False,
    )


def raises(error: type[Exception], run: Callable[[], Any]) -> bool:
    """Whether something raises this."""
    try:
        run()
    except error:
        return True
    return False


def class_of_a_variable(s: Any) -> bool:
    """The class of a class that a variable holds."""
    kind: Any = "".__class__
    return bool(kind.__class__(s.x).__name__ == "NoneType")


def class_of_what_is_given(kind: Any, x: Any) -> Any:
    """The class of a value, or of a class: which, another call may not say."""
    return kind.__class__(x)


def class_of_a_loop(s: Any) -> bool:
    """The class of a class that a loop comes to last."""
    made: Any = None
    for kind in (1, Pair):
        made = kind.__class__
    return bool(made(s.x).__name__ == "NoneType")


EQUALITY, EQUALITIES, IDENTITY = "__eq__", ("__eq__",), "is_"
BY_IDENTITY, BY_IDENTITY_CALLED = operator.attrgetter("is_"), operator.methodcaller("is_", None, None)
BY_NAME, ADDS, ADDING, ADDER = getattr, {"all": sum}, sum, functools.partial(sum)


class Keeps(NamedTuple):
    """A named tuple that holds a class."""

    kind: Any


KEPT = Keeps(Pair)


def suppressed(x: Any) -> bool:
    """Whether a sum of nothing may begin with this."""
    with contextlib.suppress(TypeError):
        ADDING([], x)
        return False
    return True


def is_in_a_module(module: Any, x: Any) -> Any:
    """What a module, or something else, says of a part and None."""
    return module.is_(x, None)


class Says:
    """A function by the name of another."""

    def is_(self, _x, _y):
        """Says no."""
        return False

    def concat(self, number):
        """One more."""
        return number + 1


SAYS, WORDS = Says(), {"is_not": operator.ne, "is_": operator.eq}


@way(followed=True)
def functions_by_the_names_of_others():
    """A model's own method `concat`, and texts such as "is_not", look past nothing."""
    return numbers(lambda s, _a: turn(s.x, s.y, WORDS["is_not"](SAYS.concat(s.x), 3) or WORDS["is_"](s.y, 1)))


MORE: dict[str, Callable[[], AnySystem]] = {
    "`__eq__` by a name put together": lambda: rarely(
        lambda s: getattr(3333, "".join(["__", "eq", "__"]))(s.x) == True,  # noqa: E712
        3333,
    ),
    "`__eq__` by a formatted name": lambda: rarely(
        lambda s: getattr(3333, f"__{s.y == 0 and 'eq'}__")(s.x) == True,  # noqa: E712
        3333,
    ),
    "`__eq__` by a global name": lambda: rarely(lambda s: getattr(3333, EQUALITY)(s.x) == True, 3333),  # noqa: E712
    "`__eq__` by a name in a tuple": lambda: rarely(
        lambda s: getattr(3333, EQUALITIES[0])(s.x) == True,  # noqa: E712
        3333,
    ),
    "`__eq__` by one of several names": lambda: rarely(
        lambda s: [getattr(3333, n)(s.x) for n in ("__eq__", "__ne__")][0] == True,  # noqa: E712, RUF015
        3333,
    ),
    "`__eq__` by `getattr` under another name": lambda: rarely(
        lambda s: BY_NAME(3333, EQUALITY)(s.x) == True,  # noqa: E712
        3333,
    ),
    "`is` by a global name": lambda: rarely(lambda s: getattr(operator, IDENTITY)(s.x, None)),
    "`is` by `attrgetter`": lambda: rarely(lambda s: BY_IDENTITY(operator)(s.x, None)),
    "`is` by a `methodcaller` that is kept": lambda: rarely(lambda s: s.x == None and BY_IDENTITY_CALLED(operator)),  # noqa: E711
    "`is` of what was no module before": lambda: rarely(
        lambda s: is_in_a_module(SAYS, 1) or is_in_a_module(operator, s.x)
    ),
    "`sum` in a partial function": lambda: seldom(lambda s: raises(TypeError, lambda: ADDER([], s.x)), "a", int),
    "`sum` in a dictionary": lambda: seldom(lambda s: raises(TypeError, lambda: ADDS["all"]([], s.x)), "a", int),
    "`sum` under another name": lambda: seldom(lambda s: raises(TypeError, lambda: ADDING([], s.x)), "a", int),
    "`sum` whose error is suppressed": lambda: seldom(lambda s: suppressed(s.x), "a", int),
    "the class of a class by a name put together": lambda: rarely(
        lambda s: getattr(Pair, "".join(["__cla", "ss__"]))(s.x).__name__ == "NoneType"
    ),
    "the class of a module's class": lambda: rarely(lambda s: re.Pattern.__class__(s.x).__name__ == "NoneType"),
    "the class of an element": lambda: rarely(lambda s: KEPT[0].__class__(s.x).__name__ == "NoneType"),
    "the class of an attribute": lambda: rarely(lambda s: KEPT.kind.__class__(s.x).__name__ == "NoneType"),
    "the class of a result": lambda: rarely(lambda s: (lambda: Pair)().__class__(s.x).__name__ == "NoneType"),
    "the class of what `:=` stores": lambda: rarely(lambda s: (_k := Pair).__class__(s.x).__name__ == "NoneType"),
    "the class of what a loop comes to": lambda: rarely(class_of_a_loop),
    "the class of what is given later": lambda: rarely(
        lambda s: class_of_what_is_given(1, 2) == 2 and class_of_what_is_given(Pair, s.x).__name__ == "NoneType"
    ),
    "the class of an attribute, handed on": lambda: rarely(
        lambda s: [*map(KEPT.kind.__class__, [s.x])] == [type(None)]
    ),
    "`is` kept in a dictionary": lambda: rarely(lambda s: LOOKS["is"](s.x, None)),
    "`is` kept by a partial function": lambda: rarely(lambda s: IS_NONE(s.x)),
    "`is` by `getattr`": lambda: rarely(lambda s: getattr(operator, "is_")(s.x, None)),  # noqa: B009
    "`is` by `methodcaller`": lambda: rarely(lambda s: operator.methodcaller("is_", s.x, None)(operator)),
    "`type` in a function like one that was called before": lambda: rarely(
        lambda s: HOWS[0](1) == "1" and HOWS[1](s.x).__name__ == "NoneType"
    ),
    "`type` kept by an object like one that was asked before": lambda: rarely(
        lambda s: AS_TEXT.ask(1) == "1" and AS_CLASS.ask(s.x).__name__ == "NoneType"
    ),
    "`type` by `globals`": lambda: rarely(lambda s: globals()["ASKS"](s.x).__name__ == "NoneType"),
    "`type` by `__import__`": lambda: rarely(lambda s: __import__("builtins").type(s.x).__name__ == "NoneType"),
    "`type` by `__self__`": lambda: rarely(lambda s: LEN.__self__.type(s.x).__name__ == "NoneType"),
    "the class of a built-in class": lambda: rarely(lambda s: object.__class__(s.x).__name__ == "NoneType"),
    "the class of a class": lambda: rarely(lambda s: Pair.__class__(s.x).__name__ == "NoneType"),
    "the class of the class of a text": lambda: rarely(lambda s: "".__class__.__class__(s.x).__name__ == "NoneType"),
    "the class of a class that a variable holds": lambda: rarely(class_of_a_variable),
    "an attribute by `object`": lambda: rarely(
        lambda s: object.__getattribute__(s.x, "__class__").__name__ == "NoneType"
    ),
    "`__eq__` of None": lambda: rarely(lambda s: None.__eq__(s.x) == True),  # noqa: E712
    "`__eq__` of a number": lambda: rarely(lambda s: (3333).__eq__(s.x) == True, 3333),  # noqa: E712
    "`__eq__` that is kept": lambda: rarely(lambda s: EQUALS(s.x) == True, 3333),  # noqa: E712
    "`__eq__` of a member": lambda: rarely(lambda s: Kind.ONE.__eq__(s.x) == True, Kind.ONE),  # noqa: E712
    "`__lt__` of a number, by `map`": lambda: rarely(lambda s: [*map((3000).__lt__, [s.x])] == [True], 3333),
    "`__sub__` of a number": lambda: rarely(lambda s: (3333).__sub__(s.x) == 0, 3333),
    "what JSON does not know": lambda: rarely(lambda s: json.dumps([s.x], default=lambda _: 1) == "[null]"),
    "what the collector follows": lambda: seldom(
        lambda s: not gc_is_tracked(s.x), None, lambda n: frozenset({n, n + 1})
    ),
    "what `marshal` writes": lambda: seldom(
        lambda s: not raises(ValueError, lambda: marshal_dumps(s.x)), None, lambda n: Point(n, Kind.ONE)
    ),
    "`sum` from a text": lambda: rarely(lambda s: raises(TypeError, lambda: sum([], s.x)), "a"),
    "sequences put together": lambda: seldom(lambda s: raises(TypeError, lambda: operator.concat(s.x, s.x)), 5, str),
    "a text formatted with something that has elements": lambda: seldom(
        lambda s: raises(TypeError, lambda: "a" % s.x), 5, Indexed
    ),
}
"""Further ways to look past a part, none of them followed."""
WAYS |= {name: (make, False) for name, make in MORE.items()}
