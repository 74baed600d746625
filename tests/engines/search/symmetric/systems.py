"""Random small systems with interchangeable agents; their construction makes the quotient sound without a proof.

A step counts the agents' actions without reading names. The weight of an agent depends on its kind, which the
configuration gives, so only agents of one kind are interchangeable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from evenhand.core.licence import Licence
from evenhand.core.system import Joint, Quotient, Separated, System

NAMES = "xyz"
GONE = 2


@dataclass(frozen=True)
class Hall:
    """A mark for each agent, a shared number, and a second mark each."""

    marks: tuple[int, ...]
    shared: int = 0
    held: tuple[int, ...] = ()


@dataclass(frozen=True)
class Crew:
    """The kind of each agent, and the tables that decide."""

    kinds: tuple[str, ...]
    table: tuple[int, ...]
    two: bool = False


def _look(config: Crew, *numbers: int) -> int:
    found = 7
    for number in numbers:
        found = (found * 31 + number) % len(config.table)
    return config.table[found]


def _place(name: str) -> int:
    return NAMES.index(name)


Swap = tuple[str, str]


def _renamed(w: Swap, name: str) -> str:
    return {w[0]: w[1], w[1]: w[0]}.get(name, name)


def _permuted(w: Swap, values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(values[_place(_renamed(w, name))] for name in NAMES[: len(values)])


def _state(w: Swap, _config: Crew, state: Hall) -> Hall:
    return Hall(_permuted(w, state.marks), state.shared, _permuted(w, state.held))


def _act(w: Swap, _config: Crew, action: Any) -> Any:
    return tuple(sorted((_renamed(w, name), choice) for name, choice in action))


def _pairs(config: Crew) -> Iterator[Swap]:
    names = NAMES[: len(config.kinds)]
    yield ("x", "x")
    yield from ((one, other) for one in names for other in names if one < other)


TRADE: Quotient[Crew, Hall, Any, Swap] = Quotient(
    name="trade",
    elements=_pairs,
    config=lambda w, config: replace(config, kinds=_permuted(w, config.kinds)),
    state=_state,
    action=_act,
    families=lambda config: (tuple(NAMES[: len(config.kinds)]),),
    swap=lambda _config, one, other: (one, other),
)


def licence_of(system: System[Any, Any, Any, Any, Any]) -> Licence:
    """Return the licence that a theorem would give."""
    return Licence("trade", system.name, system.variant, "by construction", "sha256:00", system.readings)


def _crew(random: Random) -> Crew:
    agents = random.choice((2, 3, 3))
    kinds = tuple(random.choice("aab") for _ in range(agents))
    return Crew(kinds, tuple(random.randrange(12) for _ in range(97)), random.random() < 0.4)


def _start(config: Crew) -> Hall:
    return Hall((0,) * len(config.kinds), 0, (0,) * len(config.kinds) if config.two else ())


def joint_hall(seed: int, *, keeps: bool = False) -> System[Crew, Hall, Any, Any, None]:
    """Return a system in which all remaining agents choose at a time; `keeps`: the next mark depends on the old one."""
    random = Random(f"hall {seed}")
    config = _crew(random)

    def here(config: Crew, state: Hall) -> tuple[str, ...]:
        return tuple(name for name, mark in zip(NAMES, state.marks, strict=False) if mark != GONE)

    def judge(_rules: None, config: Crew, _key: Any, agent: str, choice: int) -> int:
        return _look(config, choice, ord(config.kinds[_place(agent)])) % 3

    def merge(_rules: None, config: Crew, _key: Any, made: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        counts = [sum(worth == one for _, worth in made) for one in range(3)]
        return tuple((agent, _look(config, worth, *counts) % 3) for agent, worth in made)

    def apply(_rules: None, config: Crew, state: Hall, found: tuple[tuple[str, int], ...]) -> tuple[Hall, Any]:
        new = dict(found)
        total = sum(mark == 1 for mark in new.values()) + (state.shared if len(new) > 1 else 0)
        marks = tuple(
            (_look(config, new[name], old) % 3 if keeps else new[name]) if name in new else old
            for name, old in zip(NAMES, state.marks, strict=False)
        )
        held = tuple(
            (new.get(name, 0) + state.shared) % 2 if name in new else old
            for name, old in zip(NAMES, state.held, strict=False)
        )
        return Hall(marks, total % 2, held), (total % 2, len(new))

    def step(_rules: None, config: Crew, state: Hall, action: Any) -> tuple[Hall, Any]:
        key = here(config, state)
        made = tuple((agent, judge(None, config, key, agent, x)) for agent, x in action)
        return apply(None, config, state, merge(None, config, key, made))

    return System(
        name=f"joint_hall_{seed}",
        rules=None,
        configs=lambda _scope, _readings: (config,),
        initial=lambda config: (_start(config),),
        step=step,
        joint=Joint(here, lambda _c, _s, _state, _a: range(2), lambda _c, _s, picked: picked, lambda action: action),
        separated=Separated(lambda _r, c, s: here(c, s), judge, merge, apply),
        quotients=(TRADE,),
    )
