"""The kernel's side: the abilities that an author offers, and one form for all kinds of kernels.

A *kernel* is any object with `act({agent: choice}) -> {agent: outcome}`.  It names its agents (`agents`, or the factory
takes them) and their choices (`choices(agent)`, a mapping or a list).  Everything else is optional; each ability opens
more questions (`ABILITIES`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from evenhand.core.answers import error_text

Factory: TypeAlias = Callable[..., Any]
Profile: TypeAlias = tuple[tuple[str, Any], ...]
"""The choices of one round, in the order in which they are handed over."""

ABILITIES: Mapping[str, str] = {
    "population": "the factory takes `agents`, so that the list of agents can be varied",
    "rename": "`rename(mapping)` renames the agents of a fresh kernel",
    "seed": "`reset(seed)` sets the seed of every random choice",
    "observe": "`observe()` shows the state that later outcomes may depend on",
    "holds": "`holds(agent)` lists what the agent holds exclusively",
    "progress": "`progress()` says whether the last round achieved anything",
    "worth": "`worth(outcome)` is how good an outcome is for the agent that gets it",
    "labels": "`labels` lists the values in choices and outcomes whose names should not matter",
}
"""Name of an ability → what the kernel offers."""

POPULATION = ("ann", "bob", "cid", "dan", "eve", "flo")
"""Names for a factory that takes agents."""


class NotExaminable(ValueError):
    """A kernel without the least that is needed; the message says what is missing."""


@dataclass(frozen=True)
class Subject:
    """A kernel to examine: how to start it afresh, its agents, and what it offers."""

    name: str
    factory: Factory
    agents: tuple[str, ...]
    abilities: frozenset[str]
    labels: tuple[Any, ...] = ()

    def start(self, agents: Sequence[str], *, names: Mapping[str, str] | None = None, seed: int = 0) -> Session:
        """Start a fresh kernel for these agents; `names` renames them, `seed` is used where the kernel takes one."""
        kernel = self.factory(agents=list(agents)) if "population" in self.abilities else self.factory()
        if names and "rename" in self.abilities:
            kernel.rename(dict(names))
        if "seed" in self.abilities:
            kernel.reset(seed)
        return Session(kernel, self)


@dataclass(frozen=True)
class Session:
    """One kernel between its start and its end."""

    kernel: Any
    subject: Subject

    def choices(self, agent: str) -> tuple[Any, ...]:
        """Return the choices of an agent now.  Raises NotExaminable where there is no list."""
        return _choices(self.kernel, agent)

    def act(self, profile: Profile) -> Any:
        """Hand over one round of choices, in this order."""
        return self.kernel.act(dict(profile))

    def observe(self) -> Any:
        """Return the kernel's state; None where it shows none."""
        return self.kernel.observe() if "observe" in self.subject.abilities else None


def subject_of(kernel: Factory, name: str = "") -> Subject:
    """Return the subject for a factory of kernels, a multi-agent environment, or an instance that can be copied.

    Raises NotExaminable with what is missing.
    """
    if not callable(kernel):
        raise NotExaminable(
            f"{kernel!r} is no factory: give a class or a function that returns a fresh kernel with `act({{agent: "
            "choice}) -> {agent: outcome}`"
        )
    title = name or str(getattr(kernel, "__name__", type(kernel).__name__))
    takes_agents = _takes(kernel, "agents")
    try:
        first = kernel(agents=list(POPULATION[:3])) if takes_agents else kernel()
    except Exception as error:
        raise NotExaminable(f"{title}: making a kernel raised {error_text(error)}") from error
    factory: Factory = kernel
    if not hasattr(first, "act") and hasattr(first, "possible_agents"):
        factory, takes_agents = _environments(kernel), False
        first = factory()
    if not callable(getattr(first, "act", None)):
        raise NotExaminable(f"{title} returns {type(first).__name__}, which has no method `act`")
    agents = POPULATION[:3] if takes_agents else tuple(cast("Iterable[str]", _value(first, "agents", ())))
    if len(agents) < 2:
        raise NotExaminable(f"{title} names fewer than two agents; list them in `agents`, or let the factory take them")
    for agent in agents:
        _choices(first, agent)
    offered = {ability for ability in ("rename", "observe", "holds", "progress", "worth") if hasattr(first, ability)}
    offered |= {"seed"} if hasattr(first, "reset") and _takes(first.reset, "seed") else set()
    offered |= {"population"} if takes_agents else set()
    labels = tuple(_value(first, "labels", ()))
    return Subject(title, factory, tuple(agents), frozenset(offered | ({"labels"} if labels else set())), labels)


def rule(
    function: Callable[..., Any],
    choices: Iterable[Any],
    *,
    listed: bool = False,
    labels: Iterable[Any] = (),
) -> Factory:
    """Return a factory for a rule: one function of a profile (votes, bids, requests) with one result for all.

    `function` takes {agent: choice}, or the list of choices if `listed`.  `labels` are values (candidates) whose names
    should not matter.
    """
    menu, values = tuple(choices), tuple(labels)

    class Rule:
        labels = values

        def __init__(self, agents: list[str]) -> None:
            self.agents = agents
            self.choices = menu

        def act(self, profile: dict[str, Any]) -> dict[str, Any]:
            given: Any = [profile[agent] for agent in self.agents if agent in profile] if listed else dict(profile)
            return dict.fromkeys(profile, function(given))

    Rule.__name__ = str(getattr(function, "__name__", "rule"))
    return Rule


def _environments(make: Factory) -> Factory:
    """Wrap environments with PettingZoo's parallel interface."""

    class Environment:
        def __init__(self) -> None:
            self.env = make()
            self.env.reset(seed=0)
            self.agents = list(self.env.possible_agents)

        def choices(self, agent: str) -> tuple[Any, ...]:
            space = self.env.action_space(agent)
            return tuple(range(int(getattr(space, "start", 0)), int(getattr(space, "start", 0)) + int(space.n)))

        def reset(self, seed: int) -> None:
            self.env.reset(seed=seed)

        def act(self, profile: dict[str, Any]) -> dict[str, Any]:
            seen, rewards, ended, cut, _ = self.env.step(profile)
            return {agent: (seen.get(agent), rewards.get(agent), ended.get(agent), cut.get(agent)) for agent in profile}

    return Environment


def _choices(kernel: Any, agent: str) -> tuple[Any, ...]:
    found = getattr(kernel, "choices", None)
    if callable(found):
        found = found(agent)
    elif isinstance(found, Mapping):
        found = cast("Mapping[str, Any]", found).get(agent)
    if found is None or isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise NotExaminable(f"the kernel lists no choices for agent {agent!r}; give it `choices(agent)`, or a list")
    return tuple(cast("Iterable[Any]", found))


def _value(kernel: Any, name: str, default: Any) -> Any:
    found = getattr(kernel, name, default)
    return found() if callable(found) else found


def _takes(function: Any, name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
