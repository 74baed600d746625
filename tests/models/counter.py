"""Agents that draw from one budget at the same time: the smallest system with joint actions.

Each round every agent asks for some units, or returns all of its own (`-1`).  The reference admits a round only as a
whole: if the requests exceed the rest of the budget, no agent gets any unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from evenhand.core.property import Always, EachStep, Reachable
from evenhand.core.system import Joint, Scope, System

Round = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Config:
    """The agents and their budget."""

    agents: tuple[str, ...]
    budget: int


@dataclass(frozen=True)
class State:
    """The units that each agent holds."""

    held: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """Return the units that all of them hold."""
        return sum(amount for _, amount in self.held)


@dataclass(frozen=True)
class Rules:
    """The function that a mutant may change: the agents that a round admits."""

    admitted: Callable[[Config, State, Round], tuple[str, ...]]


CounterSystem = System[Config, State, Round, tuple[str, ...], Rules]


def all_or_nobody(config: Config, state: State, asked: Round) -> tuple[str, ...]:
    """The reference: all agents if all requests fit, else none."""
    wanted = sum(amount for _, amount in asked if amount > 0)
    return tuple(agent for agent, amount in asked if amount > 0) if state.total + wanted <= config.budget else ()


def each_alone(config: Config, state: State, asked: Round) -> tuple[str, ...]:
    """The mutant: each request is checked alone."""
    return tuple(agent for agent, amount in asked if 0 < amount <= config.budget - state.total)


def first_come(config: Config, state: State, asked: Round) -> tuple[str, ...]:
    """The mutant: as many as fit, in the order of names (arbitration)."""
    left, in_time = config.budget - state.total, list[str]()
    for agent, amount in sorted(asked):
        if 0 < amount <= left:
            left -= amount
            in_time.append(agent)
    return tuple(in_time)


REFERENCE = Rules(all_or_nobody)
EACH_ALONE = Rules(each_alone)
FIRST_COME = Rules(first_come)


def step(rules: Rules, config: Config, state: State, asked: Round) -> tuple[State, tuple[str, ...]]:
    """Run a round. Total: unknown agents and senseless requests are ignored."""
    heard = tuple((agent, amount) for agent, amount in asked if agent in config.agents and amount >= -1)
    lucky = rules.admitted(config, state, heard)
    wish = dict(heard)
    held = tuple(
        (agent, 0 if wish.get(agent) == -1 else amount + (wish[agent] if agent in lucky else 0))
        for agent, amount in state.held
    )
    return State(held), lucky


def choices(config: Config, scope: Scope, _state: State, _agent: str) -> Iterator[int]:
    """Yield nothing, returning, one unit, two units … as many as the scope says."""
    yield from (0, -1, *range(1, scope["most"] + 1))


def smaller(config: Config, start: State) -> Iterator[tuple[Config, State]]:
    """Yield one agent less; one unit less."""
    for gone in config.agents if len(config.agents) > 1 else ():
        rest = tuple(agent for agent in config.agents if agent != gone)
        yield replace(config, agents=rest), State(tuple(entry for entry in start.held if entry[0] != gone))
    if config.budget > 1:
        yield replace(config, budget=config.budget - 1), start


def configs(scope: Scope, _readings: object) -> Iterable[Config]:
    """Yield one configuration."""
    return (Config(tuple(f"a{i}" for i in range(scope["agents"])), scope["budget"]),)


def initial(config: Config) -> Iterable[State]:
    """Return the state in which no agent holds a unit."""
    return (State(tuple((agent, 0) for agent in config.agents)),)


def counter(
    agents: int = 2, budget: int = 3, most: int = 3, rules: Rules = REFERENCE, variant: str = "reference"
) -> CounterSystem:
    """Return the system at a size, under some rules."""
    return System(
        "counter",
        rules,
        configs,
        initial,
        step,
        joint=Joint(lambda config, _state: config.agents, choices, lambda _c, _s, made: made, lambda made: made),
        scope=Scope(agents=agents, budget=budget, most=most),
        smaller=smaller,
        types=(Config, State),
        variant=variant,
    )


WITHIN_BUDGET = Always(
    name="within_budget",
    sentence="All agents together never hold more than the budget.",
    check=lambda config, state: state.total <= config.budget,
)
NO_WINNER = EachStep(
    name="no_winner",
    sentence="A round that does not fit admits nobody.",
    when=lambda step: step.before.total + sum(n for _, n in step.action if n > 0) > step.config.budget,
    check=lambda step: step.shown == (),
)
CAN_FILL = Reachable(
    name="can_fill", sentence="The budget can be used up.", goal=lambda step: step.after.total == step.config.budget
)
