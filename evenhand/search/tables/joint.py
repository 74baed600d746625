"""Tables of joint choices: what is on offer is learned, and the rest is evaluated once for equal values read.

Verdicts of one offer that read the same columns are a *part* of what happens, and states that agree in these columns
are one *class* of that part: a state has a class of each part.  In each class every verdict is applied once, to the
values read and to proxies of all other columns: a proxy that comes back unchanged is a column that the step keeps, and
one that is asked makes its column one that this verdict reads.  Claims about steps are evaluated in the same way, on
what they read; one that asks for the action is shown every joint action, once for equal values read.

A column that has had one value in all states so far is no proxy for a verdict: nothing is learned from what reads it.
If it gets a second value, the verdicts are forgotten, and the search begins again.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from evenhand.core.alike import alike
from evenhand.core.system import AnySystem
from evenhand.search.tables.acting import Acting
from evenhand.search.tables.action_independent import action_independent_step
from evenhand.search.tables.asking import Asked, MoreRead, Updated
from evenhand.search.tables.choices import ChoiceTable, by_verdict, known_as
from evenhand.search.tables.classes import KEPT, Effect, Job, Leaf, Part, Regrouped, Rows, same_rows
from evenhand.search.tables.expressions import Expressions, Spent, Values, plain
from evenhand.search.tables.learning import unwrapped
from evenhand.search.tables.proxies import EXPRESSION, Lazy, Run, settled_within
from evenhand.search.tables.questions import Question, Questions
from evenhand.search.tables.shape import Shape
from evenhand.search.tables.trees import Tree, once
from evenhand.search.tables.watch import Watch
from evenhand.search.tables.watching import Budget, Watching
from evenhand.search.witness import NotLearned

ALONE = 5_000
"""Joint choices of a state that are taken one by one, where the system has no `separated` step."""


WASTED = 300
"""Rows that may be made beyond the joint choices of the states; others are better taken one by one."""

FEW = 100
"""Groups of joint choices whose effects show most of the columns that change."""

APPLIED = 10
"""What applying one verdict to proxies costs, in calls of the model, beside the operations on them."""

LOOSE = 3
"""How often a column that was taken for constant may turn out to change; each time the search begins again."""


class JointLearner:
    """The offers, classes and answers of one configuration; `read` are the columns that claims about actions read."""

    def __init__(self, system: AnySystem, config: Any, shape: Shape, budget: Budget) -> None:
        self.system, self.config, self.shape, self.budget = system, config, shape, budget
        self.size = len(shape.columns)
        self.watching = Watching(budget)
        self.shown = Values(strict=False)
        self.expressions = Expressions([*shape.columns, *shape.columns], budget.spend)
        self.offer = Tree(self.expressions)
        self.leaves: dict[int, Leaf] = {}
        self.tables: dict[Hashable, tuple[int, ChoiceTable]] = {}
        self.offered: dict[Any, Any] = {}
        self.menus: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self.read: set[int] = set()
        self.rows: list[Rows] = []
        self.made = self.covered = self.loosened = 0
        self.constant: set[int] = set()  # the columns that were no proxies
        assert system.joint is not None
        self.joint = system.joint
        self.known: Any = None
        self.ask(Questions(system, config, ()))

    def ask(self, questions: Questions) -> None:
        """From now on answer these questions and no others; what is known of offers and steps is kept."""
        self.questions = questions
        self.watching.watch = Watch()  # what it found in one claim is not said of others
        columns, spend = self.shape.columns, self.budget.spend
        self.single = Expressions(columns, spend)
        self.pairs = Expressions([*columns, *columns, self.shown], spend)
        self.of_states = [Asked(one, self.single, self.shape.built, self.watching) for one in questions.states]
        self.of_steps = [Asked(one, self.pairs, self._pair, self.watching) for one in questions.steps]
        self.of_monitors = [self._monitored(one) for one in questions.monitors]
        self.acting = Acting(self)
        self.read.clear()
        for leaf in self.leaves.values():
            leaf.asked = [set() for _ in leaf.asked]
        self.more_read(set())

    def _pair(self, leaves: Sequence[Any]) -> Any:
        """The step of these leaves, without its action."""
        before, after = self.shape.built(leaves[: self.size]), self.shape.built(leaves[self.size : 2 * self.size])
        return action_independent_step(self.config, before, leaves[2 * self.size], after)

    def _monitored(self, question: Question) -> Updated:
        values = Values(strict=True)
        space = Expressions([*self.pairs.columns, values], self.budget.spend)
        return Updated(question, space, lambda leaves: (leaves[-1], self._pair(leaves)), self.watching)

    def asked_otherwise(self, place: int) -> None:
        """Let classes agree in what decides whether a question asks for the action.  Raises MoreRead, NotLearned."""
        columns = {c % self.size for c in self.of_steps[place].read if c < 2 * self.size}
        if columns <= self.read:
            raise NotLearned("whether a question asks for the action depends on what it does not read")
        raise MoreRead(columns)

    def more_read(self, columns: set[int]) -> None:
        """From now on classes agree in these columns as well."""
        self.read |= {column % self.size for column in columns}
        self.rows.clear()
        for leaf in self.leaves.values():
            leaf.parts.clear()
            leaf.divide(self.read)
        self.known = None

    def _loosen(self) -> None:
        """Forget all effects if a column that was taken for constant has had another value.  Raises MoreRead then."""
        columns = self.shape.columns
        if any(len(columns[c]) > 1 for c in self.constant):
            self.loosened += 1
            self.constant.clear()
            for memo in (memo for leaf in self.leaves.values() for memo in leaf.memo):
                memo.clear()
            self.watching.clear_caches()  # one may hold a proxy
            raise MoreRead(set())

    # What is on offer.

    def _offer(self, state: Any) -> Any:
        system, config = self.system, self.config
        agents = tuple(unwrapped(self.joint.agents)(config, state))
        key = None if system.separated is None else system.separated.reads(system.rules, config, state)
        choices = unwrapped(self.joint.choices)
        return key, agents, tuple([tuple(choices(config, system.scope, state, agent)) for agent in agents])

    def offers(self, state: Any, leaf: Leaf) -> bool:
        """Return whether a state offers what its leaf says."""
        known = self.tables.get(self._offer(state))
        return known is not None and known[1] is leaf.table

    def _learn_offer(self, numbers: Sequence[int]) -> None:
        state, found = self.shape.state(numbers), list[Any]()
        expected = self._offer(state)

        def look(run: Run) -> None:
            traced = self.shape.built(run.leaves[: self.size])
            found[:] = [settled_within(self.watching.run_on(self._offer, traced))]

        run = self.watching.learned(self.offer, [*numbers, *numbers], look)
        if found != [expected] or not alike(found[0], expected):
            raise NotLearned("what is on offer differs on proxies")
        if not plain(expected):  # equal ones might be told apart
            raise NotLearned("what is on offer holds more than its values, or what is no value")
        if known_as(self.offered, expected) not in self.tables:
            key, agents, menus = expected
            self.tables[expected] = len(self.tables), self._table(state, key, agents, tuple(map(self._kept, menus)))
        number, table = self.tables[expected]
        node = self.offer.insert(run.events, number)
        if node.number not in self.leaves:
            self.leaves[node.number] = self._leaf(node.number, table, run)

    def _kept(self, menu: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same menu as an earlier one: to compare what is identical needs no Python of the model."""
        known = self.menus.setdefault(menu, menu)
        return known if alike(known, menu) else menu

    def _leaf(self, number: int, table: ChoiceTable, run: Run) -> Leaf:
        """The leaf that a run has found."""
        decided = {expression.number for _, expression, _ in run.events}
        settled = {expression.number for _, expression, _ in run.events if expression.run is None}
        leaf = Leaf(number, table, decided, settled)
        leaf.divide(self.read)
        return leaf

    def _table(self, _state: Any, key: Any, agents: tuple[str, ...], menus: tuple[tuple[Any, ...], ...]) -> ChoiceTable:
        """The joint choices of an offer in groups: those with one verdict, or each by itself."""
        table = ChoiceTable(agents, menus)
        if self.system.separated is not None:
            by_verdict(self.system, self.config, key, table)
            return table
        table.size = math.prod(map(len, menus)) if agents else 0
        if table.size > ALONE:
            raise NotLearned(f"{table.size:,} joint choices of one state are taken one by one; declare `separated`")
        table.groups = [(number, None, (number,)) for number in range(table.size)]
        return table

    def _leaves_of(self, rows: Any) -> Any:
        """The number of the leaf of each state; those unseen are learned."""
        found = np.zeros(rows.shape[1], dtype=np.int64)
        every, learned = np.arange(rows.shape[1]), set[int]()
        while True:
            ended, stopped = self.offer.walk(rows, every)
            if not stopped:
                for node, group in ended:
                    found[group] = node.number
                return found
            for group in stopped:
                self._learn_offer(rows[:, once(group, learned)].tolist())

    def classified(self, rows: Any) -> tuple[Any, Any]:
        """Return how many classes each state has, and the numbers of all of them in the order of states.

        Evaluates the classes unseen.  Raises NotLearned or MoreRead.
        """
        self._loosen()
        leaves, size = self._leaves_of(rows), rows.shape[1]
        counts, found = np.zeros(size, dtype=np.int64), list[tuple[Any, Any]]()
        for number in np.unique(leaves).tolist():
            mine = np.flatnonzero(leaves == number)
            self.covered += len(mine) * self.leaves[number].table.size
            kinds = self._kinds(self.leaves[number], rows[:, mine])
            counts[mine] = len(kinds)
            found.append((np.repeat(mine, len(kinds)), kinds.T.ravel()))
        if not found:
            return counts, counts
        owners, kinds = (np.concatenate(column) for column in zip(*found, strict=True))
        return counts, kinds[np.argsort(owners, kind="stable")]

    def _kinds(self, leaf: Leaf, rows: Any) -> Any:
        """The class of each state of a leaf in each part."""
        while True:
            try:
                return np.stack([self._classes(leaf, part, rows) for part in leaf.parts])
            except Regrouped:
                continue

    def _classes(self, leaf: Leaf, part: Part, rows: Any) -> Any:
        """The class of each state of a leaf in one part."""
        first, where = same_rows(rows, part.columns, [len(column) for column in self.shape.columns])
        found = np.zeros(len(first), dtype=np.int64)
        for place, index in enumerate(first.tolist()):
            numbers = rows[:, index].tolist()
            key = tuple([numbers[c] for c in part.columns])
            known = part.classes.get(key)
            if known is None:
                made = self._rows(leaf, part, numbers)
                known = part.classes[key] = len(self.rows)
                self.rows.append(made)
                self.known = None
            found[place] = known
        return found[where]

    # The steps of a class.

    def _rows(self, leaf: Leaf, of: Part, numbers: list[int]) -> Rows:
        made = Rows(leaf, sum([leaf.whole[group].weight for group in of.groups]), numbers)
        effects = self._effects(leaf, of, numbers)
        places: dict[Hashable, int] = {}
        jobs = [Job(*effect, leaf.whole[group]) for group, effect in zip(of.groups, effects, strict=True)]
        for job, asks, part in self.acting.parted(made, jobs):
            place = places.setdefault((job.after, job.shown, part.label, asks), len(made.first))
            if place == len(made.first):
                made.add(job.after, job.shown, part.label, asks, int(part.taken.unit.members[0]))
            made.take(place, part.taken, part.counts)
        if sum(made.weight) != made.size:
            raise NotLearned("rows stand for another number of joint choices than are on offer")
        made.sort()
        self.made += len(made.first)
        if self.made > self.covered + WASTED:
            raise NotLearned(
                f"{self.made:,} rows were made for {self.covered:,} joint choices: steps read nearly everything"
            )
        return made

    def _effects(self, leaf: Leaf, part: Part, numbers: list[int]) -> list[Effect]:
        """What each group of a part does in a state; unknown effects are observed together.  Raises Regrouped."""
        key = tuple([numbers[c] for c in part.reads])
        missing = [group for group in part.groups if key not in leaf.memo[group]]
        if missing:
            self.budget.spend(APPLIED * len(missing))
            if not self.made and len(missing) > FEW:  # most columns that change do so soon
                self._taken(leaf, missing[:: len(missing) // FEW], part.reads, numbers)
                self._loosen()
                self.watching.clear_caches()
            found, grown = self._taken(leaf, missing, part.reads, numbers)
            self._loosen()
            if grown:
                self.watching.clear_caches()  # one may hold a proxy
                leaf.read_more(grown, {}, self.read)
            for group, effect in found.items():
                leaf.memo[group][key] = effect
            if grown:
                raise Regrouped
        return [leaf.memo[group][key] for group in part.groups]

    def _taken(
        self, leaf: Leaf, groups: Sequence[int], reads: tuple[int, ...], numbers: list[int]
    ) -> tuple[dict[int, Effect], dict[int, set[int]]]:
        """Apply every verdict, or take every joint action: the effects, and the columns that some turn out to read."""
        system, table = self.system, leaf.table
        apply: Any
        if system.separated is None:
            apply, shows = unwrapped(system.step), getattr(system.step, "__shows__", True)
            first = [table.groups[group][0] for group in groups]  # a team's groups are fewer than the joint choices
            self.join(leaf, numbers, first)
            acts = [leaf.actions[number] for number in first]
        else:
            apply, shows = system.separated.apply, True
            acts = [table.groups[group][1] for group in groups]
        bare = apply is not system.step and system.separated is None
        given: tuple[Any, ...] = () if bare else (system.rules, self.config)
        found: dict[int, Effect] = {}
        grown: dict[int, set[int]] = {}
        numbered: list[dict[int, int]] = [{} for _ in self.shape.columns]  # by identity, while `made` holds the values
        at = groups[0]

        def take_all(run: Run, state: Any) -> list[Any]:
            nonlocal at
            made = []
            for at, act in zip(groups, acts, strict=True):
                made.append(apply(*given, state, act))
                if run.events:
                    self._attributed(run, leaf, grown.setdefault(at, set()))
            return made

        def take(run: Run) -> None:
            nonlocal at
            made = self.watching.run_on(take_all, run, self._state(run, numbers, set(reads)))
            for at, one in zip(groups, made, strict=True):
                after, shown = one if shows else (one, None)
                try:
                    effect = self._effect(after, shown, numbered)
                except MoreRead as error:
                    grown.setdefault(at, set()).update(column % self.size for column in error.columns)
                else:
                    found[at] = effect
                if run.events:
                    self._attributed(run, leaf, grown.setdefault(at, set()))

        run = self.begun(leaf, numbers)
        try:
            self.watching.observed(run, take)
        except Spent:
            raise
        except NotLearned:
            run.expressions.trouble = ""
            if run.events:  # a value that is not read yet may be the cause
                self._attributed(run, leaf, grown.setdefault(at, set()))
            if not grown:
                raise
        return {group: effect for group, effect in found.items() if group not in grown}, grown

    def _effect(self, after: Any, shown: Any, numbered: list[dict[int, int]]) -> Effect:
        """The effect of a step.  Raises MoreRead."""
        row: list[int] = []
        for column, value in enumerate(self.shape.leaves(after)):
            number = numbered[column].get(id(value))
            if number is None:
                number = numbered[column][id(value)] = self._after(column, value)
            row.append(number)
        return tuple(row), self.shown.number(shown)

    def _attributed(self, run: Run, leaf: Leaf, grown: set[int]) -> None:
        """Add what a proxy was asked for to the columns that a group reads, and let the next group ask anew."""
        grown.update(column % self.size for _, expression, _ in run.events for column in expression.columns)
        run.events.clear()
        self.settle(run, leaf)

    def settle(self, run: Run, leaf: Leaf) -> None:
        """Let the outcomes of the leaf, and no others, be no news."""
        run.decided, run.settled = set(leaf.decided), set(leaf.settled)

    def begun(self, leaf: Leaf, numbers: Sequence[int]) -> Run:
        run = Run(self.expressions, [*numbers, *numbers])
        self.settle(run, leaf)
        return run

    def _after(self, column: int, value: Any) -> int:
        """The number of a column's value after a step, or KEPT.  Raises MoreRead."""
        if type(value) is not Lazy:
            number = self.shape.columns[column].number(value)
            return KEPT if not number and column in self.constant else number
        expression = EXPRESSION.__get__(value)
        if expression.columns != (column,) or expression.run is not None:
            raise MoreRead(set(expression.columns))
        return KEPT

    def _state(self, run: Run, numbers: Sequence[int], read: set[int]) -> Any:
        """The state of these numbers; columns that are not read, and not constant so far, are proxies."""
        columns = self.shape.columns
        if self.loosened < LOOSE:
            self.constant.update(c for c, column in enumerate(columns) if len(column) == 1)
        real = read | self.constant
        return self.shape.built(
            [columns[c].values[numbers[c]] if c in real else run.leaves[c] for c in range(self.size)]
        )

    # Joint actions.

    def join(self, leaf: Leaf, numbers: Sequence[int], wanted: Iterable[int]) -> None:
        """Make the joint actions of these numbers; what they are must not depend on the state."""
        known = leaf.actions
        missing = [number for number in wanted if number not in known]
        join, config = self.joint.join, self.config

        def join_all(state: Any) -> list[Any]:
            return [join(config, state, leaf.table.picked(number)) for number in missing]

        def act(run: Run) -> None:
            made = self.watching.run_on(join_all, self.shape.built(run.leaves[: self.size]))
            seen: dict[int, Any] = {}
            real = [settled_within(one, seen) for one in made]
            if run.events:
                raise NotLearned("what a joint action is depends on the state")
            known.update(zip(missing, real, strict=True))

        if missing:
            self.watching.observed(self.begun(leaf, numbers), act)
