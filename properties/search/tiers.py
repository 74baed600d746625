"""Two ways to get the steps out of a state: run `step` on every action, or do equal work once.

Tier 0 is the reference: it calls `step` for each action on offer.  Tier 1 serves systems that say how their
step separates (`System.separated`): what a choice is worth is judged once per configuration and key, what
the judgements come to is merged once per combination, and `apply` runs once per state and verdict.  Joint
choices with the same verdict form a *group*; its members are numbered as `enabled` would list them, so
that both tiers find the same graph, in the same order, with the same multiplicities.

Tier 1 is never believed: on a growing distance and at random it is compared with `step` itself, every time.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Hashable, Iterator, Sequence
from random import Random
from typing import Any, Protocol

from evenhand.model.system import Joint, Separated
from evenhand.properties.search.found import AnySystem, ModelError, named

__all__ = ["Memo", "Plain", "Row", "Tier", "made_key", "nth_action", "stepped", "tier_for"]

Row = tuple[int, Any, "Sequence[int] | None", Any, Any]
"""One row of a state: number of the (first) action, the action or None, the group's members or None, after, shown."""

WHOLE = 4_096
"""Joint actions of one table that the cross-check compares in full; of larger ones it takes a sample."""

SAMPLE = 8
"""Joint actions that the cross-check compares each time it looks at a state."""

OTHERS = 256
"""Other configurations that tier 1 remembers at a time, for claims about pairs of runs."""


class Tier(Protocol):
    """A way to get the steps out of a state."""

    number: int

    def begin(self, config: Any, number: int) -> None:
        """Start on a configuration, the one of that number."""
        ...

    def rows(self, config: Any, state: Any) -> Iterator[Row]:
        """The steps on offer, in the order of `enabled` by first member."""
        ...

    def action(self, config: Any, state: Any, number: int) -> Any:
        """The action of that number among those on offer."""
        ...

    def step(self, rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        """The system's step, by this tier's means, for any action."""
        ...


def stepped(system: AnySystem, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
    """`step`, with what a model may do wrong turned into a ModelError that names the action."""
    try:
        after, shown = system.step(system.rules, config, state, action)
    except Exception as error:
        raise ModelError(
            f"{named(system)}: the step of action {action!r} in state {state!r} raised "
            f"{type(error).__name__}: {error}. A step is total and returns (state, shown): "
            "show a rejection and leave the state instead"
        ) from error
    return after, shown


def nth_action(system: AnySystem, config: Any, state: Any, number: int) -> Any:
    """The action of that number among those on offer in `state`.  Raises IndexError when there are fewer."""
    for action in itertools.islice(system.enabled(config, state), number, None):
        return action
    raise IndexError(f"{named(system)}: state {state!r} offers no action number {number}")


def tier_for(system: AnySystem, wanted: int | None) -> tuple[Tier, str]:
    """The tier to use and the reason for it.  Raises ValueError for a tier that the system does not allow."""
    able = system.separated is not None and system.joint is not None
    if wanted not in (None, 0, 1):
        raise ValueError(
            f"tier {wanted!r} is unknown; there is 0 (every action is run) and 1 (equal work is done once)"
        )
    if wanted == 1 and not able:
        raise ValueError(f"{named(system)} has no `separated` step, so tier 1 cannot run it; leave the tier out")
    if wanted == 0:
        return Plain(system), "tier 0 was asked for"
    if not able:
        return Plain(system), "the system does not separate judging from applying"
    return Memo(system), "the step separates: judgements are shared, equal verdicts are applied once"


class Plain:
    """Tier 0: run `step` on every action."""

    number = 0

    def __init__(self, system: AnySystem) -> None:
        self.system = system

    def begin(self, config: Any, number: int) -> None:
        """Nothing is remembered."""

    def rows(self, config: Any, state: Any) -> Iterator[Row]:
        """One row for each action."""
        system = self.system
        step, rules = system.step, system.rules
        for number, action in enumerate(system.enabled(config, state)):
            try:
                after, shown = step(rules, config, state, action)
            except Exception:
                after, shown = stepped(system, config, state, action)
            yield number, action, None, after, shown

    def action(self, config: Any, state: Any, number: int) -> Any:
        """The action of that number."""
        return nth_action(self.system, config, state, number)

    def step(self, rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        """The system's own step."""
        return self.system.step(rules, config, state, action)


class _Table:
    """The joint choices of one configuration and key: menus, and the groups of equal verdicts."""

    def __init__(self, agents: tuple[str, ...], menus: tuple[tuple[Any, ...], ...]) -> None:
        self.agents = agents
        self.menus = menus
        self.pairs = [tuple((agent, x) for x in menu) for agent, menu in zip(agents, menus, strict=True)]
        self.groups: list[tuple[int, Any, Sequence[int]]] = []
        self.size = 0
        self.uses = 0
        self.axes: list[tuple[tuple[tuple[str, Any], ...], int, int]] = []
        stride = 1
        for pairs in reversed(self.pairs):
            self.axes.insert(0, (pairs, stride, len(pairs)))
            stride *= len(pairs)

    def picked(self, number: int) -> tuple[tuple[str, Any], ...]:
        """The choices of the joint action of that number in the product."""
        return tuple([pairs[number // stride % size] for pairs, stride, size in self.axes])


class _Book:
    """Everything tier 1 remembers about one configuration."""

    def __init__(self) -> None:
        self.tables: dict[Hashable, _Table] = {}
        self.judged: dict[Hashable, Any] = {}
        self.merged: dict[Hashable, Any] = {}


def made_key(key: Any, agent: str, choice: Any) -> Hashable:
    """What a judgement is remembered by, within one configuration."""
    return (key, agent, choice)


class Memo:
    """Tier 1: judge, merge and apply, each once per argument; compared with `step` on samples."""

    number = 1

    def __init__(self, system: AnySystem) -> None:
        assert system.separated is not None and system.joint is not None
        self.system = system
        self.parts: Separated[Any, Any, Any, Any, Any, Any] = system.separated
        self.joint: Joint[Any, Any, Any, Any] = system.joint
        self.config: Any = None
        self.book = _Book()
        self.others: dict[Any, _Book] = {}
        self.random = Random(0)
        self.number_of_config = 0
        self.taken = 0

    def begin(self, config: Any, number: int) -> None:
        """Start a configuration: forget the last one, and draw the samples by its number alone."""
        self.config, self.book, self.others = config, _Book(), {}
        self.random = Random(number)
        self.number_of_config = number
        self.taken = 0

    def rows(self, config: Any, state: Any) -> Iterator[Row]:
        """One row for each group of joint choices with the same verdict."""
        table = self._table(config, state)
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
        """The joint action of that number, joined from its choices."""
        return self.joint.join(config, state, self._table(config, state).picked(number))

    def step(self, rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        """The step of any action, hostile ones too, of this configuration or of another one."""
        if len(self.others) > OTHERS:
            self.others.clear()
        book = self.book if config is self.config else self.others.setdefault(config, _Book())
        key = self.parts.reads(rules, config, state)
        choices = self.joint.split(action)
        verdict = self._verdict(book, config, key, [self._judge(book, config, key, *choice) for choice in choices])
        found: tuple[Any, Any] = self.parts.apply(rules, config, state, verdict)
        self.taken += 1
        if _due(self.taken) or self.random.random() < 1 / 512:
            self._same(config, state, action, found)
        return found

    def _table(self, config: Any, state: Any) -> _Table:
        try:
            key = self.parts.reads(self.system.rules, config, state)
            table = self.book.tables.get(key)
        except Exception as error:
            raise self._broken("reads", config, state, (), error) from error
        if table is None:
            table = self.book.tables[key] = self._made(config, state, key)
        return table

    def _made(self, config: Any, state: Any, key: Hashable) -> _Table:
        """Judge every choice, then merge every combination of judgements once."""
        agents, menus = self._menus(config, state)
        table = _Table(agents, menus)
        if not agents:
            return table
        try:
            judged = [[self._judge(self.book, config, key, *pair) for pair in pairs] for pairs in table.pairs]
            known: dict[tuple[int, ...], array[int]] = {}
            groups: dict[Hashable, array[int]] = {}
            # Small numbers for equal judgements make the inner loop one look-up per joint choice.
            ranks = [_ranked(row) for row in judged]
            for number, combination in enumerate(itertools.product(*ranks)):
                members = known.get(combination)
                if members is None:
                    made = [row[rank.index(r)] for row, rank, r in zip(judged, ranks, combination, strict=True)]
                    verdict = self._verdict(self.book, config, key, made)
                    members = known[combination] = groups.setdefault(verdict, array("q"))
                members.append(number)
                table.size += 1
        except Exception as error:
            raise self._broken("judge or merge", config, state, (), error) from error
        table.groups = [(members[0], verdict, members) for verdict, members in groups.items()]
        return table

    def _menus(self, config: Any, state: Any) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
        agents = self.joint.agents(config, state)
        return agents, tuple(tuple(self.joint.choices(config, self.system.scope, state, agent)) for agent in agents)

    def _judge(self, book: _Book, config: Any, key: Any, agent: str, choice: Any) -> tuple[str, Any]:
        name = made_key(key, agent, choice)
        if name not in book.judged:
            book.judged[name] = self.parts.judge(self.system.rules, config, key, agent, choice)
        return agent, book.judged[name]

    def _verdict(self, book: _Book, config: Any, key: Any, made: Sequence[tuple[str, Any]]) -> Any:
        name = (key, tuple(made))
        if name not in book.merged:
            book.merged[name] = self.parts.merge(self.system.rules, config, key, tuple(made))
        return book.merged[name]

    def _compare(self, config: Any, state: Any, table: _Table) -> None:
        """The cross-check: the menus of this state, and some of its joint actions against `step`."""
        if (table.agents, table.menus) != self._menus(config, state):
            raise ModelError(
                f"{named(self.system)}: `separated.reads` gives one key to states with different choices; "
                f"state {state!r} is one of them. Let the key tell them apart, or explore with tier 0"
            )
        first_use = table.uses == 1 and _due(self.number_of_config) and _due(len(self.book.tables))
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
                f"{named(self.system)}: `separated` and `step` differ for action {action!r} in state {state!r}: "
                f"step gives {expected!r}, judge, merge and apply give {found!r}. "
                "Correct `separated`, or explore with tier 0"
            )

    def _broken(
        self, part: str, config: Any, state: Any, picked: tuple[tuple[str, Any], ...], error: Exception
    ) -> ModelError:
        action = f" of {picked!r}" if picked else ""
        return ModelError(
            f"{named(self.system)}: `separated.{part}`{action} in state {state!r} (configuration {config!r}) "
            f"raised {type(error).__name__}: {error}. Correct it, or explore with tier 0"
        )


def _ranked(row: list[tuple[str, Any]]) -> list[int]:
    """Each judgement's number among the distinct ones of its agent."""
    ranks: dict[Any, int] = {}
    return [ranks.setdefault(judgement, len(ranks)) for judgement in row]


def _due(count: int) -> bool:
    """Whether `count` is a power of two: often at first, then ever more rarely."""
    return count & (count - 1) == 0
