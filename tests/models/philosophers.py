"""Dining philosophers: the textbook's circular wait.

Philosopher `n` eats with forks `n` and `n + 1`, takes one fork at a time and puts both down when it has eaten.  All
take the fork of their own number first; where one is `contrary`, the last takes it second, and no circle closes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.core.system import Scope, System


@dataclass(frozen=True)
class Rules:
    """Whether the last philosopher takes its forks the other way round."""

    contrary: bool = False


@dataclass(frozen=True)
class Table:
    """The holder of each fork; '' if none."""

    forks: tuple[str, ...]


@dataclass(frozen=True)
class Act:
    """A philosopher takes a fork, or eats with both and puts them down (fork -1)."""

    who: str
    fork: int


def forks_of(rules: Rules, names: tuple[str, ...], who: str) -> tuple[int, int]:
    """Return its forks, in the order in which it takes them."""
    place = names.index(who)
    own, next_ = place, (place + 1) % len(names)
    return (next_, own) if rules.contrary and place == len(names) - 1 else (own, next_)


def _actions(names: tuple[str, ...], rules: Rules, table: Table) -> Iterator[Act]:
    for who in names:
        held = [fork for fork in forks_of(rules, names, who) if table.forks[fork] == who]
        if len(held) == 2:
            yield Act(who, -1)
            continue
        fork = forks_of(rules, names, who)[len(held)]
        if not table.forks[fork]:
            yield Act(who, fork)


def _step(rules: Rules, names: tuple[str, ...], table: Table, act: Act) -> tuple[Table, str]:
    if act not in set(_actions(names, rules, table)):
        return table, "rejected"
    if act.fork < 0:
        return Table(tuple("" if holder == act.who else holder for holder in table.forks)), "eats"
    return Table(tuple(act.who if fork == act.fork else held for fork, held in enumerate(table.forks))), "takes"


def philosophers(count: int, *, contrary: bool = False) -> System[tuple[str, ...], Table, Act, str, Rules]:
    """Return the system with so many of them."""
    rules = Rules(contrary)
    names = tuple(f"philosopher_{number}" for number in range(count))
    return System(
        name="philosophers",
        rules=rules,
        configs=lambda _scope, _readings: (names,),
        initial=lambda config: (Table(("",) * len(config)),),
        step=_step,
        actions=lambda config, _scope, table: _actions(config, rules, table),
        scope=Scope(philosophers=count),
        progress=lambda step: step.shown == "eats",
        types=(Table, Act),
        variant="contrary" if contrary else "reference",
        actor=lambda act: act.who,
    )


def waits_by_hand(table: Table) -> set[tuple[str, str]]:
    """Return the wait-for pairs of the textbook: each waits for the holder of a fork that it needs."""
    count = len(table.forks)
    found: set[tuple[str, str]] = set()
    for place in range(count):
        me = f"philosopher_{place}"
        found |= {(me, held) for held in (table.forks[place], table.forks[(place + 1) % count]) if held not in ("", me)}
    return found
