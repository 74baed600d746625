"""Observe the model: run its functions on proxies of one state, and add what was seen to the trees.

Each run is made a second time with plain values and compared.  The results of `step` become *effects*: for each column
that changes, an expression over the columns before.
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from evenhand.core.alike import alike
from evenhand.core.answers import error_text
from evenhand.core.system import AnySystem, Step
from evenhand.search.compiled.watch import Evades
from evenhand.search.steps import stepped
from evenhand.search.tables.expressions import Expressions, NotLearned, Spent, Values
from evenhand.search.tables.proxies import Run, Unknown, lazy_builtins, real_within, settled_within
from evenhand.search.tables.questions import Question, Questions
from evenhand.search.tables.segments import MARK, Continuations, segmented_call
from evenhand.search.tables.shape import Reshaped, Shape
from evenhand.search.tables.trees import Node, Tree
from evenhand.search.tables.watch import LazyWatch

RUN = 25
"""What a run on proxies costs, in calls of the model; its comparison, and one operation of a table, cost one."""

Effect = tuple[tuple[int, int], ...]
"""For each column that changes: the column, and the number of the expression of its new value."""


class Budget:
    """What learning may cost: a share of the calls that the states found so far took, or would take."""

    def __init__(self, share: float, calls: int) -> None:
        self.share = share
        self.calls = calls
        self.spent = 0
        self.runs = 0

    def spend(self, calls: int) -> None:
        """Count some calls of the model.  Raises Spent."""
        self.spent += calls
        if self.spent > self.share * self.calls:
            raise Spent(
                f"{self.runs} runs on proxies and {self.spent - RUN * self.runs} single operations taught too little: "
                "the same was seldom seen twice"
            )


class Learner:
    """The trees of one configuration, and the runs that fill them."""

    def __init__(self, system: AnySystem, config: Any, shape: Shape, questions: Questions, budget: Budget) -> None:
        self.system, self.config, self.shape, self.questions, self.budget = system, config, shape, questions, budget
        self.expressions = Expressions(shape.columns, budget.spend)
        self.actions = Values(strict=False)
        self.offer = Tree(self.expressions)
        self.of_states = [Tree(self.expressions) for _ in questions.states]
        self.steps: list[Tree] = []
        self.of_steps: dict[tuple[int, int], list[Tree]] = {}
        self.continuations = Continuations()
        self.watch = LazyWatch()
        self.raw_actions = unwrapped(system.actions)
        self.raw_step = unwrapped(system.step)
        self.shows = getattr(system.step, "__shows__", True)
        self.caches: list[Any] | None = None

    def learn_offer(self, numbers: Sequence[int]) -> None:
        """Observe which actions a state offers.  Raises NotLearned."""
        state = self.shape.state(numbers)
        expected = list(self.system.enabled(self.config, state))
        found: list[Any] = []

        def offer(run: Run, traced: Any) -> None:
            listed = self.watch.watched(segmented_call, self.raw_actions, (*self._given(), traced))
            while (action := self.watch.watched(next, listed, run)) is not run:
                if type(action) is str and action == MARK:
                    run.mark(self.continuations.key(listed, traced))
                    continue
                real = settled_within(action)
                found.append(real)
                run.events.append(("yield", self._action(real), None))

        run = self._observed(numbers, offer)
        if not _same(found, expected):
            raise NotLearned(f"`actions` lists {len(expected)} actions and shows others on proxies")
        self.offer.insert(run.events, ())

    def learn_state(self, numbers: Sequence[int]) -> None:
        """Observe the answers about a state.  Raises NotLearned."""
        state = self.shape.state(numbers)
        for question, tree in zip(self.questions.states, self.of_states, strict=True):
            answers: list[int] = []
            run = self._observed(numbers, lambda _run, traced, q=question, a=answers: a.append(self._asked(q, traced)))
            if answers != [question.plain(state)]:
                raise NotLearned(f"{question.name} answers otherwise on proxies")
            tree.insert(run.events, answers[0])

    def learn_step(self, numbers: Sequence[int], action_number: int) -> None:
        """Observe a step, and the answers about it.  Raises NotLearned or Reshaped."""
        state, action = self.shape.state(numbers), self.actions.values[action_number]
        after, shown = stepped(self.system, self.config, state, action)
        end: list[Node] = []

        def take(run: Run, traced: Any) -> tuple[Any, Any]:
            made = self.watch.watched(self.raw_step, *self._given_step(), traced, action)
            pair = (made[0], made[1]) if self.shows else (made, None)
            leaves = self.shape.leaves(pair[0])
            effect = self._effect(run, leaves)
            real = self.shape.built([real_within(one) for one in leaves])
            if not (real == after and alike(real, after) and _equal(real_within(pair[1]), shown)):
                raise NotLearned(f"`step` of {action!r} goes elsewhere on proxies")
            if not end:
                while len(self.steps) <= action_number:
                    self.steps.append(Tree(self.expressions))
                end.append(self.steps[action_number].insert(run.events, effect))
            return pair

        if not self.questions.steps:
            self._observed(numbers, take)
            return
        step: Step[Any, Any, Any, Any] = Step(self.config, state, action, shown, after)

        def asked(run: Run, traced: Any) -> None:
            made, seen = take(run, traced)
            traced_step: Any = Step(self.config, traced, action, seen, made)
            trees = self.of_steps.get((action_number, end[0].number))
            if trees is None:
                trees = [Tree(self.expressions) for _ in self.questions.steps]
                self.of_steps[action_number, end[0].number] = trees
            decided, settled = run.decided, run.settled
            for question, tree in zip(self.questions.steps, trees, strict=True):
                run.decided, run.settled, run.events = {*decided}, {*settled}, []  # the step's path is known here
                answer = self._asked(question, traced_step)
                if answer != question.plain(step):
                    raise NotLearned(f"{question.name} answers otherwise on proxies")
                tree.insert(run.events, answer)

        self._observed(numbers, asked)

    def _effect(self, run: Run, leaves: Sequence[Any]) -> Effect:
        changes: list[tuple[int, int]] = []
        for column, value in enumerate(leaves):
            expression = run.expression(value)
            if expression.run is None and expression.columns == (column,):
                continue
            changes.append((column, expression.number))
        return tuple(changes)

    def _observed(self, numbers: Sequence[int], act: Callable[[Run, Any], Any]) -> Run:
        """Run the model on proxies of a state, under watch."""
        self.budget.runs += 1
        self.budget.spend(RUN)
        run = Run(self.expressions, numbers)
        traced = self.shape.built(run.leaves)
        with lazy_builtins(), self._no_cache():
            try:
                act(run, traced)
            except (NotLearned, Reshaped):
                raise
            except Unknown as error:
                raise NotLearned(f"a result holds {error}") from error
            except Exception as error:
                self._spoken(run)
                raise NotLearned(f"{error_text(error)} was raised on proxies") from error
            finally:
                run.alive = False
        self._spoken(run)
        return run

    def _spoken(self, run: Run) -> None:
        """Raise NotLearned for what the watch or the proxies found."""
        try:
            self.watch.speak()
        except Evades as error:
            raise NotLearned(str(error)) from error
        if run.trouble:
            raise NotLearned(run.trouble)

    def _asked(self, question: Question, about: Any) -> int:
        answer: int = self.watch.watched(question.traced, about)
        return answer

    @contextmanager
    def _no_cache(self) -> Iterator[None]:
        """Refuse a model that caches results: a cache would mix proxies and values."""
        if self.caches is None:
            kind: Any = type(functools.lru_cache(lambda: None))
            # The garbage collector knows all caches, but lists none that were frozen.
            gc.unfreeze()
            self.caches = [one for one in gc.get_objects() if type(one) is kind]
            gc.freeze()
        before = [one.cache_info() for one in self.caches]
        yield
        used = [one for one, info in zip(self.caches, before, strict=True) if one.cache_info() != info and not _ours(one)]
        for one in used:
            one.cache_clear()
        if used:
            raise NotLearned(f"{getattr(used[0], '__qualname__', 'a function')} keeps its results in a cache")

    def _given(self) -> tuple[Any, ...]:
        return () if hasattr(self.system.actions, "__plain__") else (self.config, self.system.scope)

    def _given_step(self) -> tuple[Any, ...]:
        return () if hasattr(self.system.step, "__plain__") else (self.system.rules, self.config)

    def _action(self, action: Any) -> int:
        return self.actions.number(action)


def unwrapped(function: Any) -> Any:
    """Return the user's function below evenhand's checks."""
    return getattr(function, "__plain__", function)


def _ours(cached: Any) -> bool:
    return str(getattr(cached, "__module__", "")).startswith(("evenhand.search", "evenhand.core"))


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(map(_equal, one, other))


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other) and alike(one, other)
