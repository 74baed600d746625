"""Random small systems: tables drawn from a seed, with random predicates for claims about them.

Two shapes.  `table_system` draws a plain graph with a few actions per state, some of them missing, so that
runs may end.  `joint_system` draws two agents whose choices are judged by a table each, merged and applied,
so that `separated` has something to share; it has several configurations and a renaming of its agents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import Any

from evenhand.core.system import Fairness, Joint, Quotient, Scope, Separated, System

Test = Callable[[Any], bool]


@dataclass(frozen=True)
class Table:
    """A graph: `moves[state]` lists (action, target, shown)."""

    moves: tuple[tuple[tuple[str, int, int], ...], ...]
    starts: tuple[int, ...]

    @property
    def edges(self) -> tuple[tuple[int, str, int, int], ...]:
        """Return (source, action, target, shown), all of them."""
        return tuple((source, *move) for source, moves in enumerate(self.moves) for move in moves)


def drawn_table(random: Random, states: int, *, dense: bool) -> Table:
    """Return a table of so many states, with 0 to 3 actions in each (if `dense`, 2 to 4)."""
    counts = (2, 3, 3, 4) if dense else (0, 1, 1, 2, 2, 3)
    moves = tuple(
        tuple((action, random.randrange(states), random.randrange(3)) for action in "abcd"[: random.choice(counts)])
        for _ in range(states)
    )
    return Table(moves, tuple(sorted(random.sample(range(states), random.choice((1, 1, 2))))))


def table_step(_rules: None, config: Table, state: int, action: str) -> tuple[int, int]:
    """Return the move of that action; a missing one is refused."""
    for name, target, shown in config.moves[state]:
        if name == action:
            return target, shown
    return state, -1


def _among(chosen: frozenset[tuple[int, str]]) -> Callable[[int, str], bool]:
    return lambda state, action: (state, action) in chosen


def table_system(
    seed: int, states: int = 5, tables: int = 1, *, dense: bool = False
) -> System[Table, int, str, int, None]:
    """Return a random system of small graphs; its fairness assumptions are random sets of actions."""
    random = Random(seed)
    configs = tuple(drawn_table(random, states, dense=dense) for _ in range(tables))
    fair: dict[str, Fairness[int, str]] = {}
    for number in range(3):
        chosen = frozenset((state, action) for state in range(states) for action in "abcd" if random.random() < 0.35)
        fair[f"f{number}"] = Fairness("weak" if random.random() < 0.5 else "strong", _among(chosen))

    def actions(config: Table, _scope: Scope, state: int) -> Iterator[str]:
        return (name for name, _, _ in config.moves[state])

    def assumed(_config: Table) -> Mapping[str, Fairness[int, str]]:
        return fair

    return System(
        name=f"table_{seed}",
        rules=None,
        configs=lambda _scope, _readings: configs,
        initial=lambda config: config.starts,
        step=table_step,
        actions=actions,
        fair=assumed,
    )


def step_test(random: Random, chance: float) -> Test:
    """Return a random predicate over steps, by state before, action and state after."""
    seed = random.random()
    return lambda step: luck(f"{seed} {step.before} {step.action} {step.after}") < chance


def state_test(random: Random, chance: float) -> Callable[[Any, Any], bool]:
    """Return a random predicate over states."""
    seed = random.random()
    return lambda _config, state: luck(f"{seed} {state}") < chance


def luck(text: str) -> float:
    """Return a number in [0, 1) that depends on the text alone."""
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") / 2**32


@dataclass(frozen=True)
class Kernel:
    """The constants of a configuration of `joint_system`: the weight of each agent's choices."""

    worth: tuple[tuple[str, tuple[int, ...]], ...]
    limit: int


@dataclass(frozen=True)
class Pair:
    """The units that each agent holds."""

    held: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return "".join(f"{agent}{amount}" for agent, amount in self.held)


def _judge(_rules: None, config: Kernel, _key: object, agent: str, choice: int) -> int:
    worth = dict(config.worth)[agent]
    return worth[choice] if 0 <= choice < len(worth) else 0


def _merge(
    _rules: None, config: Kernel, _key: object, made: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    total = sum(worth for _, worth in made)
    return made if total <= config.limit else tuple((agent, 0) for agent, _ in made)


def _apply(_rules: None, config: Kernel, state: Pair, found: tuple[tuple[str, int], ...]) -> tuple[Pair, str]:
    gained = dict(found)
    held = tuple((agent, (had + gained.get(agent, 0)) % (config.limit + 1)) for agent, had in state.held)
    return Pair(held), "moved" if Pair(held) != state else "still"


def joint_system(
    seed: int, kernels: int = 2, choices: int = 4, *, variant: str = "reference"
) -> System[Kernel, Pair, Any, str, None]:
    """Return two agents that choose at the same time; agent `y` is missing while `x` holds nothing."""
    random = Random(seed)
    drawn = [
        Kernel(
            tuple((agent, tuple(random.randrange(3) for _ in range(choices))) for agent in "xy"), random.choice((2, 3))
        )
        for _ in range(kernels)
    ]
    # Closed under exchanging the agents, so that `swap` is a quotient.
    configs = tuple(dict.fromkeys(kernel for one in drawn for kernel in (one, swapped_kernel(one))))

    def step(_rules: None, config: Kernel, state: Pair, action: Any) -> tuple[Pair, str]:
        made = tuple((agent, _judge(None, config, None, agent, choice)) for agent, choice in action)
        return _apply(None, config, state, _merge(None, config, None, made))

    joint = Joint[Kernel, Pair, Any, int](
        agents=lambda _config, state: tuple(agent for agent, _ in state.held),
        choices=lambda _config, _scope, _state, _agent: range(choices),
        join=lambda _config, _state, picked: picked,
        split=lambda action: action,
    )
    return System(
        name=f"joint_{seed}",
        rules=None,
        configs=lambda _scope, _readings: configs,
        initial=lambda _config: (Pair((("x", 0), ("y", 0))),),
        step=step,
        joint=joint,
        separated=Separated(
            reads=lambda _rules, _config, state: len(state.held), judge=_judge, merge=_merge, apply=_apply
        ),
        fair=lambda _config: {
            "x_moves": Fairness("weak", lambda _state, action: dict(action)["x"] == 1),
            "y_moves": Fairness("strong", lambda state, action: dict(action)["y"] == 2 and state.held[0][1] > 0),
        },
        quotients=(SWAP,),
        variant=variant,
    )


def _other(agent: str) -> str:
    return {"x": "y", "y": "x"}[agent]


def swapped_kernel(config: Kernel) -> Kernel:
    """Return the configuration with the agents exchanged."""
    worth = dict(config.worth)
    return Kernel(tuple((agent, worth[_other(agent)]) for agent, _ in config.worth), config.limit)


def _swapped(entries: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    values = dict(entries)
    return tuple((agent, values[_other(agent)]) for agent, _ in entries)


SWAP: Quotient[Kernel, Pair, Any, bool] = Quotient(
    name="swap",
    elements=lambda _config: (False, True),
    config=lambda w, config: swapped_kernel(config) if w else config,
    state=lambda w, _config, state: Pair(_swapped(state.held)) if w else state,
    action=lambda w, _config, action: _swapped(action) if w else action,
)
