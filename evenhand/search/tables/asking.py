"""Questions about states and steps, answered from a tree or, where that grows, once for equal values read.

A step is asked about as a pair of states: the columns before, those after, the action and the observation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.alike import alike
from evenhand.core.answers import ModelError
from evenhand.core.system import Step
from evenhand.search.tables.action_independent import ActionNeeded, was_touched
from evenhand.search.tables.expressions import Expression, Expressions, Ids, Spent, Unfollowed, Values, Wide
from evenhand.search.tables.proxies import Identical, Run, real_within
from evenhand.search.tables.questions import ACTS, Question
from evenhand.search.tables.trees import Node, Tree
from evenhand.search.tables.watching import Watching
from evenhand.search.witness import NotLearned

PATHS, SEEN = 40, 4
"""Paths up to which a question is followed decision by decision, and askings for each path that allow more paths."""

ALONE = 1_000
"""Evaluations on the values read from which these may be found to teach nothing."""

READ = 5
"""What one evaluation on the values read costs, in calls of the model."""


def told(function: Callable[[Any], Any], about: Any) -> Any:
    """Return the answer, or ACTS if it asks for the action of a step that has none.  Raises NotLearned."""
    try:
        answer = function(about)
    except ActionNeeded:
        return ACTS
    if isinstance(about, Step) and was_touched(about):
        raise NotLearned("it swallows every exception, so that it cannot be told whether it asks for the action")
    return answer


def updated(function: Callable[[Any], Any], about: Any) -> Any:
    """Return the next value of a monitor, given its value and a step.  Raises NotLearned if it asks for the action."""
    value = None
    with suppress(ActionNeeded):
        value = function(about)
    if was_touched(about[1]):
        raise NotLearned("a monitor asks for the action")
    return value


class Grown(Exception):
    """A question takes so many paths that it is evaluated on the values read from now on."""


class MoreRead(NotLearned):
    """An evaluation read columns that none before had read."""

    def __init__(self, columns: set[int]) -> None:
        super().__init__("more was read")
        self.columns = columns


@dataclass(eq=False)
class Learned:
    """One question, and what is known of its answers; `read` are the columns that they depend on.

    `about` makes what the question is about from the leaves.
    """

    question: Question
    expressions: Expressions
    about: Callable[[Sequence[Any]], Any]
    watching: Watching

    def __post_init__(self) -> None:
        self.tree = Tree(self.expressions)
        self.read: set[int] = set()
        self.decides: set[Expression] = set()

    def looks(self) -> set[Expression]:
        """Return the expressions that its answers depend on."""
        return self.decides

    def answers(self, rows: Ids | Sequence[Any], count: int) -> Any:
        """Return the answer for each of `count` states or steps.  Raises Unfollowed."""
        try:
            return self._answers(rows, count)
        except (Spent, Unfollowed):
            raise
        except (NotLearned, ModelError) as error:
            raise Unfollowed(self.question.claim, str(error)) from error

    def _answers(self, rows: Ids | Sequence[Any], count: int) -> Any:
        raise NotImplementedError

    def _learn(self, numbers: Sequence[int]) -> None:
        """Observe one answer.  Raises NotLearned where the plain function answers otherwise."""
        raise NotImplementedError

    def _ended(self, rows: Ids | Sequence[Any], count: int) -> list[tuple[Node, Any]]:
        """The states or steps that reach each end of the tree; where one is missing, it is learned."""
        return self.tree.through(rows, np.arange(count), lambda i: self._learn([int(row[i]) for row in rows]))[0]

    def _depends(self, some: Iterable[Expression]) -> None:
        for one in some:
            self.decides.add(one)
            self.read.update(one.columns)

    def real(self, numbers: Sequence[int]) -> Any:
        """Return what is asked about, with real values."""
        return self.about([c.values[n] for c, n in zip(self.expressions.columns, numbers, strict=True)])


@dataclass(eq=False)
class Asked(Learned):
    """A question with one of a few answers; `memo` answers by the columns `read`, once the tree has grown."""

    memo: Expression | None = None
    asked: int = 0
    evaluated: int = 0
    each: bool = False

    def looks(self) -> set[Expression]:
        """Return the expressions that its answers depend on; whole columns once the tree has grown."""
        whole = self.memo is not None
        return {self.expressions.every[column] for column in self.read} if whole else super().looks()

    def _answers(self, rows: Ids | Sequence[Any], count: int) -> Any:
        self.asked += count
        found = np.zeros(count, dtype=np.int8)
        every = np.arange(count)
        if self.memo is None:
            with suppress(Grown):
                for node, group in self._ended(rows, count):
                    found[group] = node.result
                return found
        while not self.each:
            assert self.memo is not None  # since the tree has grown
            try:
                outcomes = self.expressions.looked_up(self.memo, rows, every)
            except Wide:
                self.each = True
                self.read |= {*range(len(self.expressions.columns))}
            except MoreRead as error:
                if error.columns <= self.read and not self.each:
                    raise NotLearned(f"{self.question.name} reads what it is not given") from error
                self.read |= error.columns
                self._remember()
            else:
                return np.asarray(self.memo.outcomes.values, dtype=np.int8)[outcomes]
        return self._asked_each(rows, count)

    def _asked_each(self, rows: Ids | Sequence[Any], count: int) -> Any:
        """Ask about each state or step by itself, on its own values and under one watch."""
        columns = [
            [column.values[number] for number in rows[place].tolist()]
            for place, column in enumerate(self.expressions.columns)
        ]
        leaves = zip(*columns, strict=True) if columns else ((),) * count
        every, traced = [self.about(one) for one in leaves], self.question.traced
        found = self.watching.run_on(lambda: [told(traced, about) for about in every])
        self.watching.watch.speak()
        return np.asarray(found, dtype=np.int8)

    def _learn(self, numbers: Sequence[int]) -> None:
        expected, answers = told(self.question.plain, self.real(numbers)), list[int]()
        traced = self.question.traced
        run = self.watching.learned(
            self.tree,
            numbers,
            lambda run: answers.append(self.watching.run_on(told, traced, self.about(run.leaves))),
        )
        if answers[-1] != expected:
            raise NotLearned(f"{self.question.name} answers otherwise on proxies")
        self.tree.insert(run.events, expected)
        self._depends(expression for what, expression, _ in run.events if what == "decide")
        if len(self.tree.ends) > max(PATHS, self.asked // SEEN):
            self._remember()
            raise Grown

    def _remember(self) -> None:
        """From now on evaluate the question for each combination of the values read."""
        expressions, read = self.expressions, sorted(self.read)
        run = Run(expressions, [0] * len(expressions.columns))

        def answer(*values: Any) -> int:
            expressions.spend(READ)
            self.evaluated += 1
            if self.evaluated >= ALONE and 2 * self.evaluated > self.asked:  # half of what is asked about is read anew
                self.each = True
                raise MoreRead({*range(len(expressions.columns))})
            leaves = [*run.leaves]
            for column, value in zip(read, values, strict=True):
                leaves[column] = value
            found = ACTS
            try:
                found = self.watching.run_on(told, self.question.traced, self.about(leaves))
            except Identical:  # which more is read for
                expressions.trouble = ""
            if run.events or expressions.trouble:
                if expressions.trouble:
                    raise NotLearned(expressions.trouble)
                more = {column for _, expression, _ in run.events for column in expression.columns}
                run.events.clear()
                run.decided.clear()
                run.settled.clear()
                self.watching.clear_caches()  # one may hold a proxy
                raise MoreRead(more)
            self.watching.watch.speak()
            return found

        self.memo = expressions.made(
            ("values read", self, *read), answer, [expressions.every[column] for column in read]
        )


class Updated(Learned):
    """The next value of a monitor, for each value and step; the value is the last column of `expressions`."""

    @property
    def values(self) -> Values:
        """The values of the monitor; an answer is the number of one."""
        return self.expressions.columns[-1]

    def _answers(self, rows: Ids | Sequence[Any], count: int) -> Any:
        found, place = np.zeros(count, dtype=np.int64), len(self.expressions.columns) - 1
        for node, group in self._ended(rows, count) if count else ():
            expression = self.expressions.every[node.result]
            if expression.columns:
                found[group] = self.expressions.numbers_in(expression, place, self.values, rows, group)
            else:
                found[group] = self.values.number(expression.outcomes.values[0])
        return found

    def _learn(self, numbers: Sequence[int]) -> None:
        expected, results = updated(self.question.plain, self.real(numbers)), list[Any]()

        def update(run: Run) -> None:
            found = self.watching.run_on(updated, self.question.traced, self.about(run.leaves))
            real = real_within(found)
            if not (real == expected and alike(real, expected)):
                raise NotLearned("a monitor has another value on proxies")
            expression = run.expression(found)
            results.append(expression.number)

        run = self.watching.learned(self.tree, numbers, update)
        self._depends(expression for what, expression, _ in run.events if what == "decide")
        self._depends([self.expressions.every[results[-1]]])
        self.tree.insert(run.events, results[-1])
        if len(self.tree.ends) > PATHS * PATHS:
            raise NotLearned("a monitor takes more paths than pay")
