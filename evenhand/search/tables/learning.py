"""Observe the model: run its functions on proxies of one state, and add what was seen to the trees.

Each run is made a second time with plain values and compared.  The results of `step` become *effects*: for each column
that changes, an expression over the columns before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.core.alike import alike, deep_copy
from evenhand.core.system import AnySystem, Step
from evenhand.search.steps import stepped
from evenhand.search.tables.asking import Asked
from evenhand.search.tables.continuations import Continuations
from evenhand.search.tables.expressions import Expressions, Values
from evenhand.search.tables.proxies import Run, real_within, settled_within
from evenhand.search.tables.questions import Questions
from evenhand.search.tables.segments import MARK, segmented_call
from evenhand.search.tables.shape import Shape
from evenhand.search.tables.trees import Node, Tree
from evenhand.search.tables.watching import Budget, Watching
from evenhand.search.witness import NotLearned

Effect = tuple[tuple[int, int], ...]
"""For each column that changes: the column, and the number of the expression of its new value.

The column after the last is the observation, if there are questions about steps.
"""

CHANGED = "the model changes the state that it is given"


class Learner:
    """The trees of one configuration, and the runs that fill them."""

    def __init__(self, system: AnySystem, config: Any, shape: Shape, questions: Questions, budget: Budget) -> None:
        self.system, self.config, self.shape, self.questions, self.budget = system, config, shape, questions, budget
        self.watching = Watching(budget)
        self.expressions = Expressions(shape.columns, budget.spend)
        self.actions, self.shown = Values(strict=False), Values(strict=False)
        self.offer = Tree(self.expressions)
        self.steps: list[Tree] = []
        self.continuations = Continuations()
        self.pairs = Expressions([*shape.columns, *shape.columns, self.actions, self.shown], budget.spend)
        self.of_states = [Asked(one, self.expressions, shape.built, self.watching) for one in questions.states]
        self.of_steps = [Asked(one, self.pairs, self._pair, self.watching) for one in questions.steps]
        self.raw_actions = unwrapped(system.actions)
        self.raw_step = unwrapped(system.step)
        self.shows = getattr(system.step, "__shows__", True)

    def _pair(self, leaves: Sequence[Any]) -> Step[Any, Any, Any, Any]:
        """The step of these leaves: before, after, action, observation."""
        size = len(self.shape.columns)
        before, after = self.shape.built(leaves[:size]), self.shape.built(leaves[size : 2 * size])
        return Step(self.config, before, leaves[-2], leaves[-1], after)

    def learn_offer(self, numbers: Sequence[int]) -> None:
        """Observe which actions a state offers.  Raises NotLearned."""
        state = self.shape.state(numbers)
        expected = list(self.system.enabled(self.config, state))
        found: list[Any] = []
        whole, begun, rows = False, 0, np.asarray(numbers, dtype=np.int32)[:, None]

        def offer(run: Run) -> None:
            nonlocal whole, begun
            found.clear()
            at: Node | None = self.offer.root
            whole, begun = False, 0
            given = self._given(self.system.actions, self.config, self.system.scope)
            traced = self.shape.built(run.leaves)
            listed = self.watching.run_on(segmented_call, self.raw_actions, (*given, traced))
            while (action := self.watching.run_on(next, listed, run)) is not run:
                if type(action) is str and action == MARK:
                    before = self.continuations.looked
                    key = self.continuations.key(listed, traced)
                    at = None if at is None else self.offer.followed(at, run.events[begun:])
                    begun = len(run.events) + 1  # what decides in each segment comes after the mark
                    run.mark(key)
                    self.watching.budget.spend((self.continuations.looked - before) // 3)
                    if at is None:  # what came before this mark is new
                        at = self.offer.segments.get(key)
                        if at is not None and self.offer.leads_on(at, rows):
                            return
                    continue
                real = settled_within(action)
                found.append(real)
                run.events.append(("yield", self.actions.number(real), None))
            whole = True

        run = self.watching.learned(self.offer, numbers, offer)
        if not _same(found, expected if whole else expected[: len(found)]):
            raise NotLearned(f"`actions` lists {len(expected)} actions and shows others on proxies")
        self.offer.insert(run.events if whole else run.events[:begun], (), ended=whole)

    def learn_step(self, numbers: Sequence[int], action_number: int) -> None:
        """Observe a step, and the answers about it.  Raises NotLearned or Reshaped."""
        state, action = self.shape.state(numbers), self.actions.values[action_number]
        kept = deep_copy(state)
        after, shown = stepped(self.system, self.config, state, action)
        if kept is not None and kept[0] != state:
            raise NotLearned(CHANGED)
        while len(self.steps) <= action_number:
            self.steps.append(Tree(self.expressions))

        def take(run: Run) -> None:
            traced = self.shape.built(run.leaves)
            given = self._given(self.system.step, self.system.rules, self.config)
            made = self.watching.run_on(self.raw_step, *given, traced, action)
            pair = (made[0], made[1]) if self.shows else (made, None)
            leaves = self.shape.leaves(pair[0])
            effect = self._effect(run, leaves, pair[1])
            real = self.shape.built([real_within(one) for one in leaves])
            if not (real == after and alike(real, after) and _equal(real_within(pair[1]), shown)):
                raise NotLearned(f"`step` of {action!r} goes elsewhere on proxies")
            self.steps[action_number].insert(run.events, effect)

        self.watching.learned(self.steps[action_number], numbers, take)

    def _effect(self, run: Run, leaves: Sequence[Any], shown: Any) -> Effect:
        changes: list[tuple[int, int]] = []
        for column, value in enumerate(leaves):
            expression = run.expression(value)
            if expression.run is not None or expression.columns != (column,):
                changes.append((column, expression.number))
        if self.questions.steps:
            changes.append((len(leaves), run.expression(shown).number))
        return tuple(changes)

    def _given(self, function: Any, *whole: Any) -> tuple[Any, ...]:
        """What a function of the model gets before the state: the `whole`, or what a user's own asks for."""
        if not hasattr(function, "__plain__"):
            return whole
        return (self.config,) if getattr(function, "__sized__", False) else ()


def unwrapped(function: Any) -> Any:
    """Return the user's function below evenhand's checks."""
    return getattr(function, "__plain__", function)


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(map(_equal, one, other))


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other) and alike(one, other)
