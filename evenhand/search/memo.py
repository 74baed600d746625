"""Memoised search: do equal work once.

It serves systems with a `separated` step: a choice is judged once per configuration and key, each combination of
judgements is merged once, and `apply` runs once per state and verdict.  Joint choices with the same verdict form a
*group*; its members are numbered as `enabled` would list them, so that the graph is that of explicit search, in the
same order.

Every search compares its steps with `step` itself, at growing distances and at random.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Hashable, Iterator, Sequence
from random import Random
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.system import AnySystem, Joint, Separated
from evenhand.search.steps import Learns, Method, Row, stepped

WHOLE = 4_096
"""Joint actions of one table up to which the cross-check compares all; of larger tables it takes a sample."""

SAMPLE = 8
"""Groups of joint actions that a sample of the cross-check compares, on average."""

OTHERS = 256
"""Other configurations that are remembered at a time, for claims about pairs of runs."""


class ChoiceTable:
    """The joint choices of one configuration and key: menus, and the groups of equal verdicts.

    `orders` says of some how many joint choices they stand for; the others stand for themselves.
    """

    def __init__(self, agents: tuple[str, ...], menus: tuple[tuple[Any, ...], ...]) -> None:
        self.agents = agents
        self.menus = menus
        self.pairs = [tuple((agent, x) for x in menu) for agent, menu in zip(agents, menus, strict=True)]
        self.groups: list[tuple[int, Any, Sequence[int]]] = []
        self.orders: dict[int, int] = {}
        self.size = 0
        self.uses = 0
        self.axes: list[tuple[tuple[tuple[str, Any], ...], int, int]] = []
        stride = 1
        for pairs in reversed(self.pairs):
            self.axes.insert(0, (pairs, stride, len(pairs)))
            stride *= len(pairs)

    def weight(self, members: Sequence[int]) -> int:
        """Return how many joint choices some stand for."""
        return sum([self.orders.get(number, 1) for number in members]) if self.orders else len(members)

    def picked(self, number: int) -> tuple[tuple[str, Any], ...]:
        """The choices of the joint action of that number in the product."""
        return tuple([pairs[number // stride % size] for pairs, stride, size in self.axes])


class _Page:
    """The memo of one configuration and key.

    Judgements are numbered, equal ones of an agent alike, so that a combination is a few small numbers.
    """

    def __init__(self) -> None:
        self.table: ChoiceTable | None = None
        self.judged: dict[Hashable, int] = {}
        self.made: list[tuple[str, Any]] = []
        self.numbers: dict[tuple[str, Any], int] = {}
        self.merged: dict[tuple[int, ...], Any] = {}


class Memo(Method):
    """Memoised search: judge, merge and apply, each once per argument; compared with `step` on samples."""

    name = "memoised"

    def __init__(self, system: AnySystem, *, learns: Learns = "") -> None:
        assert system.separated is not None and system.joint is not None
        super().__init__(system, learns=learns)
        self.parts: Separated[Any, Any, Any, Any, Any, Any] = system.separated
        self.joint: Joint[Any, Any, Any, Any] = system.joint
        self.begin(None, 0)

    def begin(self, config: Any, number: int) -> None:
        """Start a configuration: clear the memo, and draw the samples by its number alone."""
        self.config, self.number_of_config = config, number
        self.pages: dict[Hashable, _Page] = {}
        self.others: dict[Any, dict[Hashable, _Page]] = {}
        self.random = Random(number)
        self.taken = 0
        self.state: Any = None
        self.table: ChoiceTable | None = None

    def rows(self, config: Any, state: Any) -> Iterator[Row]:
        """Yield one row for each group of joint choices with the same verdict."""
        table = self.table_of(config, state)
        table.uses += 1
        if _due(table.uses) or self.random.random() < 1 / 64:
            self._compare(config, state, table)
        rules, apply = self.system.rules, self.parts.apply
        for first, verdict, members in table.groups:
            try:
                after, shown = apply(rules, config, state, verdict)
            except Exception as error:
                raise self._broken("apply", config, state, table.picked(first), error) from error
            yield first, None, members, after, shown

    def action(self, config: Any, state: Any, number: int) -> Any:
        """Return the joint action of that number, made of its choices.  Raises IndexError when there are fewer."""
        table = self.table if state is self.state and self.table is not None else self.table_of(config, state)
        if number >= table.size:
            raise IndexError(f"{self.system.label}: state {state!r} offers no action number {number}")
        return self.joint.join(config, state, table.picked(number))

    def step(self, rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        """Return the step of any action, hostile ones too, of this configuration or another."""
        if len(self.others) > OTHERS:
            self.others.clear()
        pages = self.pages if config is self.config else self.others.setdefault(config, {})
        key = self.parts.reads(rules, config, state)
        page = pages.setdefault(key, _Page())
        combination = tuple(self._judge(page, config, key, *pair) for pair in self.joint.split(action))
        found: tuple[Any, Any] = self.parts.apply(rules, config, state, self._merge(page, config, key, combination))
        self.taken += 1
        if _due(self.taken) or self.random.random() < 1 / 512:
            self._same(config, state, action, found)
        return found

    def table_of(self, config: Any, state: Any) -> ChoiceTable:
        """Return the table of a state; for a new key it judges and merges everything."""
        try:
            key = self.parts.reads(self.system.rules, config, state)
            page = self.pages.setdefault(key, _Page())
        except Exception as error:
            raise self._broken("reads", config, state, (), error) from error
        if page.table is None:
            page.table = self._made(config, state, key, page)
        self.state, self.table = state, page.table
        return page.table

    def _made(self, config: Any, state: Any, key: Hashable, page: _Page) -> ChoiceTable:
        """Judge every choice, then merge every combination of judgements once."""
        table = ChoiceTable(*self._menus(config, state))
        if not table.agents:
            return table
        try:
            judged = [[self._judge(page, config, key, *pair) for pair in pairs] for pairs in table.pairs]
            known: dict[tuple[int, ...], array[int]] = {}
            groups: dict[Hashable, array[int]] = {}
            for combination in itertools.product(*judged):
                members = known.get(combination)
                if members is None:
                    verdict = self._merge(page, config, key, combination)
                    members = known[combination] = groups.setdefault(verdict, array("q"))
                members.append(table.size)
                table.size += 1
        except Exception as error:
            raise self._broken("judge or merge", config, state, (), error) from error
        table.groups = [(members[0], verdict, members) for verdict, members in groups.items()]
        return table

    def _menus(self, config: Any, state: Any) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
        agents = tuple(self.joint.agents(config, state))
        return agents, tuple(tuple(self.joint.choices(config, self.system.scope, state, agent)) for agent in agents)

    def _judge(self, page: _Page, config: Any, key: Any, agent: str, choice: Any) -> int:
        name = (agent, choice)
        known = page.judged.get(name)
        if known is None:
            made = (agent, self.parts.judge(self.system.rules, config, key, agent, choice))
            known = page.judged[name] = page.numbers.setdefault(made, len(page.made))
            if known == len(page.made):
                page.made.append(made)
        return known

    def _merge(self, page: _Page, config: Any, key: Any, combination: tuple[int, ...]) -> Any:
        if combination not in page.merged:
            made = tuple([page.made[number] for number in combination])
            page.merged[combination] = self.parts.merge(self.system.rules, config, key, made)
        return page.merged[combination]

    def _compare(self, config: Any, state: Any, table: ChoiceTable) -> None:
        """Compare the menus of this state, and some of its joint actions, with the model."""
        if (table.agents, table.menus) != self._menus(config, state):
            raise ModelError(
                f"{self.system.label}: `separated.reads` gives one key to states with different choices; "
                f"state {state!r} is one of them. Let the key tell them apart, or explore with explicit search"
            )
        first_use = table.uses == 1 and _due(self.number_of_config) and _due(len(self.pages))
        whole = first_use and table.size <= WHOLE
        chance = SAMPLE / max(1, len(table.groups))
        for first, verdict, members in table.groups:
            if not whole and self.random.random() >= chance:
                continue
            found = self.parts.apply(self.system.rules, config, state, verdict)
            for number in members if whole else {first: 0, self.random.choice(members): 0}:
                action = self.joint.join(config, state, table.picked(number))
                self._same(config, state, action, found)

    def _same(self, config: Any, state: Any, action: Any, found: tuple[Any, Any]) -> None:
        expected = stepped(self.system, config, state, action)
        if expected != found:
            raise ModelError(
                f"{self.system.label}: `separated` and `step` differ for action {action!r} in state {state!r}: "
                f"step gives {expected!r}, judge, merge and apply give {found!r}. "
                "Correct `separated`, or explore with explicit search"
            )

    def _broken(
        self, part: str, config: Any, state: Any, picked: tuple[tuple[str, Any], ...], error: Exception
    ) -> ModelError:
        action = f" of {picked!r}" if picked else ""
        return ModelError(
            f"{self.system.label}: `separated.{part}`{action} in state {state!r} (configuration {config!r}) "
            f"raised {type(error).__name__}: {error}. Correct it, or explore with explicit search"
        )


def _due(count: int) -> bool:
    """Whether `count` is a power of two: often at first, then ever more rarely."""
    return count & (count - 1) == 0
