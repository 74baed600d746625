"""Sets whose elements have columns: every way to look at one gives what explicit search gives, or is refused."""

# Ways around types are the subject, and newcomers write none.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-any-generics, allow-incomplete-defs
# mypy: disable-error-code="func-returns-value"
# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

import evenhand
from evenhand.core.system import AnySystem
from evenhand.search.tables import shape
from evenhand.search.tables.loops import Wanted, is_steady
from evenhand.search.tables.sets import Members
from tests.deep import rest_slow
from tests.engines.search.tables.forced import explicitly, searched
from tests.engines.search.tables.hostile import Pair
from tests.models import message_sets as models

EVERY = [(kind, number) for kind in "ab" for number in range(3)]


@contextmanager
def divided() -> Generator[None]:
    """Let elements have columns as soon as a set has had three values."""
    with patch.object(shape, "CROWD", 3), patch.object(shape, "OTHERS", 3):
        yield


def counting(how: Callable[[Any, int], Any], elements: Any = EVERY, actions: Any = None) -> AnySystem:
    """A set grows and shrinks by one element at a time; what is found out about it decides how a number goes on."""

    def step(state, action):
        there = state.x - {action} if state.y == 3 else state.x | {action}
        return Pair(there, (state.y + 1 + (1 if how(there, state.y) else 0)) % 5)

    return evenhand.system(
        "sets", initial=[Pair(frozenset(), 0)], actions=actions or (lambda _s: list(elements)), step=step, shows=False
    )


def marks_what_it_has_seen(s, _y):
    seen = set()
    return len([m for m in s if not (m[1] in seen or seen.add(m[1]))]) == 2


def calls_what_marks(s, _y):
    seen = []

    def new(m):
        seen.append(m)
        return len(seen) < 3

    return any(new(m) and m[0] == "b" for m in s)


def shadows_any(s, _y):
    def any(given):
        return len(list(given)) % 2 == 1

    return any(m[0] == "a" for m in s)


def shadows_len(s, _y):
    def len(given):
        return 3 if given else 0

    return len([m for m in s if m[0] == "a"]) == 3


def stores_on_the_way(s, _y):
    return any((last := m)[0] == "b" for m in s) and last[0] == "b"


def raises_for_others(s, _y):
    return any(10 // m[1] > 4 for m in s if m[1] > 0) and not any(10 // (m[1] - 9) == 0 for m in s if m[0] == "a")


def raises_for_some(s, _y):
    try:
        return len([m for m in s if 6 // m[1] > 2]) == 1
    except ZeroDivisionError:
        return False


class Odd:
    """Equal to every pair that begins with a."""

    def __eq__(self, other):
        return other[0] == "a"

    def __hash__(self):
        return hash(("a", 1))


def taken_out(s, _y):
    for m in sorted(s):
        if m[0] == "b":
            return m[1] == 2
    return False


WAYS: dict[str, Callable[[Any, int], Any]] = {
    "in": lambda s, y: ("a", y % 4) in s,
    "in, never met": lambda s, y: ("c", y) in s or (1, 2) in s,
    "in, an odd equal": lambda s, _y: Odd() in s,
    "in, a set": lambda s, _y: {1} in s,
    "len": lambda s, _y: len(s) > 3,
    "truth": lambda s, _y: not s,
    "hash": lambda s, _y: hash(s) == hash(frozenset({("a", 0)})),
    "key of a dictionary": lambda s, _y: {frozenset({("a", 1)}): 1}.get(s, 0),
    "within a tuple": lambda s, y: (s, y) == (frozenset({("b", 1)}), 2),
    "within a set": lambda s, _y: s in {frozenset(), frozenset({("b", 2)})},
    "format": lambda s, _y: len(f"{s}") > 40,
    "frozenset": lambda s, _y: frozenset(s) == s and len(frozenset(s)) == 2,
    "sorted": lambda s, _y: sorted(s)[:1] == [("a", 1)],
    "list": lambda s, _y: len(list(s)) == 3,
    "unpacked": lambda s, _y: len([*s, *s]) == 4,
    "set.union": lambda s, _y: len(set.union(set(), s)) == 2,
    "frozenset.union": lambda s, _y: len(frozenset.union(frozenset(), s)) == 2,
    "union": lambda s, y: len(s.union([("a", 9)], [("b", y)])) > 4,
    "union of a generator": lambda s, y: ("a", y) in s.union(("a", n) for n in range(3)),
    "difference": lambda s, _y: not s.difference({("a", 1), ("b", 1), ("z", 0)}),
    "intersection": lambda s, _y: len(s.intersection(EVERY[:3])) == 2,
    "symmetric difference": lambda s, _y: len(s ^ {("a", 0), ("b", 7)}) == 2,
    "from the left": lambda s, _y: len({("a", 1)} | s) + len(frozenset({("a", 1)}) & s) == 3,
    "with itself": lambda s, _y: s == s and s <= s and not s - s and s | s == s and len(s & s) == 2,
    "equal": lambda s, _y: s == {("a", 1), ("b", 1)} or s != frozenset(EVERY[2:]),
    "equal to none": lambda s, _y: s == 3 or s is None,
    "subset": lambda s, _y: s <= {("a", 0), ("a", 1), ("b", 2)} or s < frozenset(EVERY),
    "superset": lambda s, _y: s >= {("a", 0)} and s > {("b", 0)},
    "issubset": lambda s, _y: s.issubset([("a", 0), ("a", 1)]),
    "issuperset": lambda s, y: s.issuperset({("a", y)}),
    "isdisjoint": lambda s, _y: s.isdisjoint([("a", 0), ("b", 1)]),
    "copy": lambda s, _y: len(s.copy()) == 2,
    "any": lambda s, y: any(m[0] == "a" and m[1] == y for m in s),
    "all": lambda s, y: all(m[1] < y + 2 for m in s if m[0] == "b"),
    "comprehensions in one another": lambda s, _y: any(sum(1 for n in s if n[1] == m[1]) == 2 for m in s),
    "two loops": lambda s, _y: all(m[1] <= n[1] for m in s if m[0] == "a" for n in s if n[0] == "b"),
    "how many": lambda s, y: len({m[1] for m in s if m[0] == "a" or m[1] == y}) >= 2,
    "how many of a list": lambda s, _y: len([m[1] for m in s if m[0] == "a"]) >= 2,
    "max": lambda s, _y: max((m[1] for m in s if m[0] == "b"), default=-1) == 2,
    "a loop": lambda s, _y: [m for m in sorted(s) if m[1]][:1] == [("a", 2)],
    "the first": lambda s, _y: next(iter(sorted(s)), None) == ("a", 3),
    "type": lambda s, _y: type(s) is frozenset and len(s) == 2,
    "isinstance": lambda s, _y: isinstance(s, frozenset) and ("a", 1) in s,
    **{
        one.__name__: one
        for one in (
            *(marks_what_it_has_seen, calls_what_marks, shadows_any, shadows_len, stores_on_the_way),
            *(raises_for_others, raises_for_some, taken_out),
        )
    },
}

ORDERED = {"marks_what_it_has_seen", "calls_what_marks"}
"""Ways that depend on the order of a set: of two equal ones that were made otherwise it may be another."""

LEFT = {"type", *ORDERED}
"""Ways that tables may refuse."""


@pytest.mark.parametrize("name", WAYS)
def test_way(name: str) -> None:
    """Counts and numbers are those of explicit search."""
    system = counting(WAYS[name])
    expected = explicitly(system)
    with divided():
        found, method, why = searched(system)
    if name in ORDERED:  # which of two equal states explicit search met first decides how deep the others lie
        found = replace(found, depth=expected.depth, counted=expected.counted)
    assert found == expected, why
    assert method == "compiled" or name in LEFT, why


@pytest.mark.parametrize("elements", [(1, True, 2, 3), (0.0, -0.0, 1, 2), (("a", 1), ("a", True), 2, 3)])
def test_equal_elements_that_differ(elements: Any) -> None:
    """1 is not True: the tables are given up, or explicit search says what is wrong."""
    system = counting(lambda s, _y: any(type(m) is bool for m in s), elements)
    try:
        expected: Any = explicitly(system)
    except evenhand.ModelError:
        expected = None
    with divided():
        if expected is None:
            with pytest.raises(evenhand.ModelError):
                searched(system)
        else:
            found, method, why = searched(system)
            assert (found, method) == (expected, "explicit"), why


def last_first(m):
    return m[1], m[0]


def by_sorted(state):
    yield from EVERY[:3]
    for m in sorted(state.x):
        if m[1] == state.y:
            yield m


def by_key(state):
    yield from EVERY[:3]
    for m in sorted(state.x, key=last_first, reverse=True):
        if m[0] == "a" or state.y:
            yield m


def by_equal_keys(state):
    yield from EVERY[:3]
    for m in sorted(state.x, key=lambda m: m[1]):
        if m[0] == "a":
            yield m


def until_the_first(state):
    yield from EVERY[4:]
    for m in sorted(state.x):
        if m[1] == 1:
            break
        yield m
    else:
        yield EVERY[0]


@pytest.mark.parametrize("actions", [by_sorted, by_key, by_equal_keys, until_the_first])
def test_loops_that_make_actions(actions: Any) -> None:
    """A loop over a sorted set is cut into pieces, and offers the same in the same order."""
    system = counting(lambda s, y: ("a", y) in s, actions=actions)
    expected = explicitly(system)
    with divided():
        found, method, why = searched(system)
    assert (found, method) == (expected, "compiled"), why


def as_it_comes(state):
    yield NUMBERS[state.y % 3]
    for m in state.x:
        if m != state.y + 8:
            yield 19 - m if m > 3 else m


@evenhand.always("No set has three elements.")
def few(state) -> bool:
    return len(state.x) < 3


def test_a_loop_in_the_order_of_the_set() -> None:
    """It reads the set whole, so that counts and the run that is found are those of explicit search."""
    system = counting(lambda s, _y: 3 in s, NUMBERS, as_it_comes)
    expected = explicitly(system, [few])
    with divided():
        found, method, why = searched(system, [few])
    assert (found, method) == (expected, "compiled"), why


NUMBERS = (3, 9, 10)
"""Python takes 9 before 10 before 3 from a set, which is not how they are sorted."""


def the_first_of_a_set(state):
    yield NUMBERS[state.y % 3]
    for m in state.x:
        yield m
        break


def what_was_last(state):
    yield NUMBERS[state.y % 3]
    last = None
    for m in state.x:
        if last == 9:
            yield 3 if m == 10 else 9
        last = m


def after_the_loop(state):
    yield NUMBERS[state.y % 3]
    m = 3
    for m in state.x:  # noqa: B007 (it is read below)
        pass
    yield m


def what_was_seen(state):
    yield NUMBERS[state.y % 3]
    seen: list[Any] = []
    for m in state.x:
        if not seen or seen[0] == 10:
            seen.append(m)
            yield m


def each(state):
    yield from sorted(state.x)


def the_rest_of_a_generator(state):
    yield NUMBERS[state.y % 3]
    rest = each(state)
    for m in rest:
        yield m
        break
    for m in rest:
        yield 3 if m == 9 else 9


def all_pairs(state):
    yield NUMBERS[state.y % 3]
    for m in state.x:
        for n in state.x:
            if m < n:
                yield m if state.y else n


def by_no_order(state):
    yield NUMBERS[state.y % 3]
    for m in sorted(state.x, key=lambda m: frozenset({m})):
        yield m
        break


LOOPS = (
    by_no_order,
    the_first_of_a_set,
    what_was_last,
    after_the_loop,
    what_was_seen,
    the_rest_of_a_generator,
    all_pairs,
)


@pytest.mark.parametrize("actions", LOOPS)
def test_what_a_loop_knows_of_other_elements(actions: Any) -> None:
    """Counts are right without a comparison of samples, where an element decides about the next ones."""
    system = counting(lambda s, _y: 3 in s, NUMBERS, actions)
    expected = explicitly(system)
    with divided(), patch("evenhand.search.tables.method.audit", lambda *_: None):
        found, method, why = searched(system)
    assert (found, method) == (expected, "compiled"), why


def one_and_true(state):
    yield NUMBERS[state.y % 3]
    for m in state.x:  # noqa: UP028 (a loop is what is cut)
        yield m
    if len(state.x) == 3:
        yield 1
        yield True


def test_equal_actions_that_differ() -> None:
    """The run that is found takes True, and not 1 which is on offer before it."""

    def step(state, action):
        if action == 1:
            return Pair(state.x, 7 if action is True else 0)
        return Pair(state.x | {action}, (state.y + 1) % 5)

    @evenhand.always("Seven is never reached.")
    def no_seven(state) -> bool:
        return bool(state.y != 7)

    system = evenhand.system("one", initial=[Pair(frozenset(), 0)], actions=one_and_true, step=step, shows=False)
    expected = explicitly(system, [no_seven])
    with divided():
        found, method, why = searched(system, [no_seven])
    assert method == "compiled", why
    assert (found.states, found.transitions) == (expected.states, expected.transitions)
    (tally,), (other,) = found.tallies, expected.tallies
    assert tally.finding is not None and other.finding is not None
    assert tally.finding.path[-1] == other.finding.path[-1] == 5


NUMBER = 99


def of_two_variables(s, y):
    NUMBER = y
    return any(m[1] == NUMBER and all(NUMBER >= 0 for NUMBER in m[1:]) for m in s)


def of_nine_first(s, _y):
    try:
        return all(1 // (m - 3) != 0 for m in s)
    except ZeroDivisionError:
        return True


def of_nine_in_two_loops(s, _y):
    try:
        return any(1 // (m - 3) >= 0 for m in s for _n in s)
    except ZeroDivisionError:
        return False


def of_sets_in_no_order(s, _y):
    return max((frozenset({m}) for m in s), default=None) == frozenset({9})


def of_equal_values(s, _y):
    return any(isinstance(m, bool) for m in {m == 3 if m == 3 else 1 for m in s})


LOG: list[Any] = []


class Noting(NamedTuple):
    """A record with a property and an operator that keep a log."""

    number: int

    @property
    def noted(self):
        LOG.append(self.number)
        return len(LOG) > 1

    def __add__(self, other):
        LOG.append(other)
        return len(LOG)


class Listing(NamedTuple):
    """A record whose class holds a list."""

    number: int


Listing._log = []  # type: ignore[attr-defined]


def of_a_property(s, _y):
    LOG.clear()
    return len({m.noted for m in s}) == 2


def of_an_operator(s, _y):
    LOG.clear()
    return len({m + 1 > 1 for m in s}) == 2


def of_a_class(s, _y):
    Listing._log.clear()  # type: ignore[attr-defined]
    return len({note(m) > 1 for m in s}) == 2


def note(m):
    Listing._log.append(m)  # type: ignore[attr-defined]
    return len(Listing._log)  # type: ignore[attr-defined]


def of_a_function(s, _y):
    marked.count = 0  # type: ignore[attr-defined]
    return len({marked(m) > 1 for m in s}) == 2


def marked(_m):
    marked.count += 1  # type: ignore[attr-defined]
    return marked.count  # type: ignore[attr-defined]


WITHOUT_SAMPLES = (
    *((how, [kind(n) for n in NUMBERS]) for how, kind in ((of_a_property, Noting), (of_an_operator, Noting))),
    *((how, NUMBERS) for how in (of_a_class, of_a_function)),
    (of_two_variables, EVERY),
    *((how, NUMBERS) for how in (of_nine_first, of_nine_in_two_loops, of_sets_in_no_order, of_equal_values)),
)


@pytest.mark.parametrize(("how", "elements"), WITHOUT_SAMPLES)
def test_comprehension_without_samples(how: Any, elements: Any) -> None:
    """What is wanted is asked of the variables of the loop; an element that raises, in the order of the set."""
    system = counting(how, elements)
    expected = explicitly(system)
    with divided(), patch("evenhand.search.tables.method.audit", lambda *_: None):
        found, method, why = searched(system)
    assert (found, method) == (expected, "compiled"), why


def test_functions_that_set_variables() -> None:
    """A function that sets a variable of another is not steady, nor one that reads what changes."""
    count = 0

    def counts(_m):
        nonlocal count
        count += 1
        return count < 3

    assert is_steady(last_first)
    assert not is_steady(counts)
    assert not is_steady(lambda m: kept.append(m))


kept: list[Any] = []

MODELS = (
    (models.two_phase(3), models.consistent),
    (models.paxos(2, 2, 1), models.one_value),
    (models.election(4), models.one_leader),
    (models.broadcast(4, 1), models.was_sent),
    (models.lock_server(2, 2), models.one_holder),
)


@cache
def searched_explicitly(place: int) -> Any:
    """The result for one of the models, searched once."""
    system, claim = MODELS[place]
    return explicitly(system, [claim])


@pytest.mark.parametrize("place", range(len(MODELS)), ids=[system.name for system, _ in MODELS])
def test_protocols_with_messages(place: int) -> None:
    """Protocols of the literature, with all their messages in one set."""
    system, claim = MODELS[place]
    expected = searched_explicitly(place)
    with divided():
        found, method, why = searched(system, [claim])
    assert (found, method) == (expected, "compiled"), why


def lost_element():
    """The last element is taken for absent."""
    real = Members.parts
    return patch.object(Members, "parts", lambda self, value: [*(p := real(self, value))[:-2], False, p[-1]])


def stale_presence():
    """An element that is taken out stays."""
    from evenhand.search.tables import sets

    return patch.dict(sets.BOTH, {"__sub__": lambda one, _other: one})


def wrong_element():
    """Elements change places."""
    real = Members.whole
    return patch.object(Members, "whole", lambda self, *parts: real(self, *parts[1:-1], parts[0], parts[-1]))


def wanted_too_little():
    """A loop wants nothing."""
    real = Members._wanted
    return patch.object(
        Members,
        "_wanted",
        lambda self, lazy, _wanted: real(self, lazy, Wanted(lambda _e: (), False, False, lambda _: True)),
    )


def counted_twice():
    """An element counts twice."""
    from evenhand.search.tables import sets

    return patch.object(sets, "_count", lambda *parts: 2 * sum(map(bool, parts[:-1])) + len(parts[-1]))


def others_forgotten():
    """Elements without a column are lost."""
    real = Members.parts
    return patch.object(Members, "parts", lambda self, value: [*real(self, value)[:-1], frozenset()])


def iterated_in_the_wrong_order():
    """Sorted sets are taken from behind."""
    real = Members._in_turn
    return patch.object(Members, "_in_turn", lambda self, lazy, mark, order: real(self, lazy, mark, [*order][::-1]))


FAULTS = (
    *(lost_element, stale_presence, wrong_element, wanted_too_little, counted_twice, others_forgotten),
    iterated_in_the_wrong_order,
)


@pytest.mark.parametrize("fault", rest_slow(FAULTS, 3), ids=[fault.__name__ for fault in FAULTS])
def test_planted_fault(fault: Any) -> None:
    """No count is wrong, and some search says that its tables were given up."""
    given_up = 0
    for place, (system, claim) in enumerate(MODELS):
        expected = searched_explicitly(place)
        with divided(), fault():
            found, method, why = searched(system, [claim])
        assert found == expected, (system.name, why)
        given_up += method == "explicit"
    assert given_up
