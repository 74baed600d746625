"""Faults planted in the tables: the comparison with the plain functions finds each, and the search is explicit."""

# pyright: reportPrivateUsage=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from evenhand.core.property import Property
from evenhand.core.system import AnySystem
from evenhand.search.tables.asking import Asked
from evenhand.search.tables.continuations import Continuations
from evenhand.search.tables.expressions import Expressions, Values
from evenhand.search.tables.learning import Learner
from evenhand.search.tables.proxies import Run
from evenhand.search.tables.trees import Node, Tree
from evenhand.search.tables.visited import Visited
from evenhand.search.tables.walk import TableWalk
from tests.engines.search.tables.forced import explicitly, searched
from tests.engines.search.tables.hostile import WAYS, Pair, numbers
from tests.known import alternating_bit, gallery
from tests.models.two_phase_commit import CLAIMS, two_phase_commit

Planted = Callable[[], AbstractContextManager[Any]]


def sets_and_tuples() -> AnySystem:
    """A part is a set, then the tuple of its members."""

    def step(state: Any, action: int) -> Any:
        turned = tuple(sorted(state.x)) if type(state.x) is frozenset and action else frozenset(state.x)
        return Pair(turned, (state.y + (1 if state.x == (1, 2) else 2)) % 5)

    return numbers(step, Pair(frozenset({1, 2}), 0))


def none_at_last() -> AnySystem:
    """A part is None in the end, and was something else for long."""
    return numbers(lambda s, a: Pair(None if s.y == 5 else s.x, (s.y + 1 + a * (s.x is None)) % 7), Pair(1, 0))


def every_value() -> AnySystem:
    """A part runs through many values, and each leads elsewhere."""
    return numbers(lambda state, action: Pair((state.x * 2 + action) % 37, (state.y + state.x) % 3))


MODELS: tuple[tuple[AnySystem, Sequence[Property]], ...] = (
    (two_phase_commit(3), CLAIMS),
    (gallery.SYSTEMS["chang_roberts"].chang_roberts, gallery.claims_of("chang_roberts")),
    (gallery.SYSTEMS["lamport_mutex"].lamport_mutex, gallery.claims_of("lamport_mutex")),
    (alternating_bit.KNOWN.system, alternating_bit.KNOWN.true),
    (every_value(), ()),
    (none_at_last(), ()),
    *((WAYS[name][0](), ()) for name in ("is_none", "is_none_again_and_again", "is_none_of_a_result")),
)


def leaf_not_recorded() -> AbstractContextManager[Any]:
    """What is read of one column decides nothing."""
    real = Run.decide

    def decide(self: Run, expression: Any, outcome: Any) -> None:
        if expression.columns != (1,):
            real(self, expression, outcome)

    return patch.object(Run, "decide", decide)


def identity_not_recorded() -> AbstractContextManager[Any]:
    """What a part is compared with by `is` decides nothing, nor is it made real."""
    made = ExitStack()
    made.enter_context(patch("evenhand.search.tables.looks.is_that", lambda *_given: False))
    made.enter_context(patch("evenhand.search.tables.watch.decide_identity", lambda *_given: None))
    return made


def other_value_not_recorded() -> AbstractContextManager[Any]:
    """That a part is not what it is compared with by `is` decides nothing."""
    real = Run.decide

    def decide(self: Run, expression: Any, outcome: Any) -> None:
        if expression.key != "is":
            real(self, expression, outcome)

    return patch.object(Run, "decide", decide)


def stale_path() -> AbstractContextManager[Any]:
    """An outcome that was never seen takes the path of another."""
    real = Node.to

    def to(self: Node, outcome: int, node: Node | None) -> Node:
        if len(self.after) == 1 and node is None and self.after[0].kind != 0:
            return real(self, outcome, self.after[0])
        return real(self, outcome, node)

    return patch.object(Node, "to", to)


def wrong_column() -> AbstractContextManager[Any]:
    """A change lands in the column beside."""
    real = Learner._effect

    def effect(self: Learner, *given: Any) -> Any:
        last = len(self.shape.columns) - 1
        return tuple((min(last, column + 1), number) for column, number in real(self, *given))

    return patch.object(Learner, "_effect", effect)


def lost_value() -> AbstractContextManager[Any]:
    """A new value of a column gets the number of another."""
    real = Values.number

    def number(self: Values, value: Any) -> int:
        if self.strict and len(self.values) >= 2 and value not in self.numbers:
            return len(self.values) - 1
        return real(self, value)

    return patch.object(Values, "number", number)


def effect_twice() -> AbstractContextManager[Any]:
    """A change is made to what it has already changed."""
    real = TableWalk._after

    def after(self: TableWalk, effect: Any, rows: Any, group: Any) -> Any:
        once, _ = real(self, effect, rows, group)
        changed = rows.copy()
        for column, after_it in once.items():
            changed[column, group] = after_it
        return real(self, effect, changed, group)

    return patch.object(TableWalk, "_after", after)


def one_continuation() -> AbstractContextManager[Any]:
    """Every place of `actions` is taken for the same, variables apart."""
    real = Continuations.key
    return patch.object(Continuations, "key", lambda self, *given: real(self, *given)[:3])


def lost_offer() -> AbstractContextManager[Any]:
    """The third action on offer is lost."""
    real = Tree.insert

    def insert(self: Tree, events: Sequence[Any], result: Any, **more: bool) -> Node:
        offers = [event for event in events if event[0] == "yield"]
        return real(self, [one for one in events if len(offers) < 3 or one is not offers[2]], result, **more)

    return patch.object(Tree, "insert", insert)


def lost_state() -> AbstractContextManager[Any]:
    """Of several new states the last is lost."""
    real = Visited.entered

    def entered(self: Visited, words: Any, most: int | None = None) -> Any:
        new = len({row.tobytes() for row in words[self.numbers(words) < 0]})
        return real(self, words, most if new < 2 else self.count + new - 1)

    return patch.object(Visited, "entered", entered)


def lost_start() -> AbstractContextManager[Any]:
    """The search begins in one initial state."""
    real = TableWalk.run
    return patch.object(TableWalk, "run", lambda self, starts, *more: real(self, starts[:1], *more))


def no_room() -> AbstractContextManager[Any]:
    """A column that outgrows its bits is not packed anew."""
    return patch.object(TableWalk, "_fit", lambda self: None)


def wrong_answer() -> AbstractContextManager[Any]:
    """A question's answers are those of the state before, in order."""
    real = Asked.answers

    def answers(self: Asked, rows: Any, count: int) -> Any:
        found = real(self, rows, count)
        return found if count < 2 else found[[0, *range(count - 1)]]

    return patch.object(Asked, "answers", answers)


def read_too_little() -> AbstractContextManager[Any]:
    """An evaluation on the values read forgets what it read."""

    def remember(self: Asked) -> None:
        self.read.clear()
        self.memo = self.expressions.made("forgetful", lambda _value: 1, [self.expressions.every[0]])

    return patch.object(Asked, "_remember", remember)


FAULTS: dict[str, Planted] = {
    fault.__name__: fault
    for fault in (
        leaf_not_recorded,
        identity_not_recorded,
        other_value_not_recorded,
        stale_path,
        wrong_column,
        lost_value,
        effect_twice,
        one_continuation,
        lost_offer,
        lost_state,
        lost_start,
        no_room,
        wrong_answer,
        read_too_little,
    )
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault(fault: str) -> None:
    """No count is wrong, and some search says that its tables were given up."""
    given_up = 0
    for system, claims in MODELS:
        expected = explicitly(system, claims)
        with FAULTS[fault]():
            if fault == "read_too_little":
                with patch.multiple("evenhand.search.tables.asking", PATHS=2, SEEN=1 << 30):
                    found, method, why = searched(system, claims)
            else:
                found, method, why = searched(system, claims)
        assert found == expected, (system.name, why)
        given_up += method == "explicit"
    assert given_up


def test_a_set_seen_as_a_tuple() -> None:
    """Values that are numbered by their members alone."""
    real = Values.number

    def number(self: Values, value: Any) -> int:
        return real(self, tuple(sorted(value)) if type(value) is frozenset else value)

    system = sets_and_tuples()
    expected = explicitly(system)
    with patch.object(Values, "number", number):
        found, method, why = searched(system)
    assert found == expected
    assert method == "explicit", why


def test_without_a_fault() -> None:
    """All these models are searched from tables."""
    for system, claims in MODELS:
        found, method, why = searched(system, claims)
        assert method == "compiled", why
        assert found == explicitly(system, claims)


@pytest.mark.parametrize("seen", range(1, 9))
def test_what_was_never_seen_is_not_taken_for_the_last_that_was(seen: int) -> None:
    """Numbers of values beyond those on the paths of a tree lead nowhere, however many there were."""
    column = Values(strict=True)
    expressions, numbers = Expressions([column], lambda _cost: None), [column.number(value) for value in range(12)]
    tree = Tree(expressions)
    for value in range(seen):
        tree.insert([("decide", expressions.every[0], value)], value)
    ended, stopped = tree.walk([np.asarray(numbers, dtype=np.int32)], np.arange(len(numbers)))
    assert sorted((node.result, group.tolist()) for node, group in ended) == [(n, [n]) for n in range(seen)]
    assert sorted(int(one) for group in stopped for one in group) == numbers[seen:]
