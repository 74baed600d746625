"""The joint choices of one offer, in groups of which each has one verdict.

A system with a `separated` step is asked for verdicts: each choice is judged once, each combination of judgements is
merged once.  The search compares samples with `step`.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Hashable, Sequence
from typing import Any

from evenhand.core.alike import alike
from evenhand.core.answers import error_text, short
from evenhand.core.system import AnySystem
from evenhand.search.witness import NotLearned


class ChoiceTable:
    """The joint choices of one offer: menus, and the groups of equal verdicts.

    A group has the number of its first joint choice, the verdict, and the numbers of all.  `orders` says of some how
    many joint choices they stand for; the others stand for themselves.
    """

    def __init__(self, agents: tuple[str, ...], menus: tuple[tuple[Any, ...], ...]) -> None:
        self.agents = agents
        self.menus = menus
        self.groups: list[tuple[int, Any, Sequence[int]]] = []
        self.orders: dict[int, int] = {}
        self.size = 0
        self.axes: list[tuple[tuple[tuple[str, Any], ...], int, int]] = []
        stride = 1
        for agent, menu in zip(reversed(agents), reversed(menus), strict=True):
            self.axes.insert(0, (tuple((agent, x) for x in menu), stride, len(menu)))
            stride *= len(menu)

    def weight(self, members: Sequence[int]) -> int:
        """Return how many joint choices some stand for."""
        return sum([self.orders.get(number, 1) for number in members]) if self.orders else len(members)

    def picked(self, number: int) -> tuple[tuple[str, Any], ...]:
        """The choices of the joint action of that number in the product."""
        return tuple([pairs[number // stride % size] for pairs, stride, size in self.axes])


def judged(system: AnySystem, config: Any, key: Any, table: ChoiceTable) -> list[list[tuple[str, Any]]]:
    """Return the judgement of each choice on each menu.  Raises NotLearned."""
    assert system.separated is not None
    judge = system.separated.judge
    try:
        return [
            [(agent, judge(system.rules, config, key, agent, choice)) for choice in menu]
            for agent, menu in zip(table.agents, table.menus, strict=True)
        ]
    except Exception as error:
        raise NotLearned(f"`separated.judge` raised {error_text(error)}") from error


def merged(system: AnySystem, config: Any, key: Any, made: tuple[tuple[str, Any], ...]) -> Any:
    """Return the verdict on these judgements.  Raises NotLearned."""
    assert system.separated is not None
    try:
        return system.separated.merge(system.rules, config, key, made)
    except Exception as error:
        raise NotLearned(f"`separated.merge` raised {error_text(error)}") from error


def known_as(known: dict[Any, Any], value: Any) -> Any:
    """Return the equal value that came first.  Raises NotLearned where the two can be told apart."""
    first = known.setdefault(value, value)
    if first is not value and not alike(first, value):
        raise NotLearned(f"{short(first, 60)} and {short(value, 60)} are equal and not alike")
    return first


def by_verdict(system: AnySystem, config: Any, key: Any, table: ChoiceTable) -> None:
    """Number all joint choices of a table, and put those with one verdict into one group.  Raises NotLearned."""
    if not table.agents:
        return
    numbers: dict[tuple[str, Any], int] = {}
    judgements, verdicts = dict[Any, Any](), dict[Any, Any]()
    every = [
        [numbers.setdefault(known_as(judgements, one), len(numbers)) for one in column]
        for column in judged(system, config, key, table)
    ]
    made = list(numbers)
    known: dict[tuple[int, ...], array[int]] = {}
    groups: dict[Hashable, array[int]] = {}
    for combination in itertools.product(*every):
        members = known.get(combination)
        if members is None:
            verdict = merged(system, config, key, tuple([made[number] for number in combination]))
            members = known[combination] = groups.setdefault(known_as(verdicts, verdict), array("q"))
        members.append(table.size)
        table.size += 1
    table.groups = [(members[0], verdict, members) for verdict, members in groups.items()]
