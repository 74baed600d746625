"""Multi-agent environments with PettingZoo's parallel interface, as kernels: by duck typing, without the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from evenhand.arbiters.kernels import Factory, NotExaminable


def is_environment(kernel: Any) -> bool:
    """Return whether it has no `act`, and names its agents as environments do."""
    return not hasattr(kernel, "act") and hasattr(kernel, "possible_agents")


def environments(make: Factory) -> Factory:
    """Return a factory of kernels for a factory of environments.

    An outcome is observation, reward, end and cut of an agent.  An agent that has left the environment has no choices,
    nor has one whose actions are masked.  The state is what the environment lets its agents see.
    """

    class Environment:
        def __init__(self) -> None:
            self.env = make()
            if hasattr(self.env, "agent_iter"):
                raise NotExaminable(
                    "the environment lets one agent act after another (PettingZoo's AEC interface); "
                    "give its parallel form, such as pettingzoo.utils.aec_to_parallel(env)"
                )
            self.agents = list(self.env.possible_agents)
            self.seen: Mapping[Any, Any] = {}
            self.reset(0)

        def reset(self, seed: int) -> None:
            started = self.env.reset(seed=seed)
            self.seen = cast("Mapping[Any, Any]", started[0] if isinstance(started, tuple) else started)

        def choices(self, agent: Any) -> tuple[Any, ...]:
            if agent not in self.env.agents:
                return ()
            space: Any = self.env.action_space(agent)
            if not hasattr(space, "n"):
                raise NotExaminable(
                    f"the actions of agent {agent!r} are {space}, no finite list; wrap it in a kernel with "
                    "`choices(agent)` that lists some"
                )
            start = int(getattr(space, "start", 0))
            allowed = self._mask(agent)
            return tuple(start + n for n in range(int(space.n)) if allowed is None or allowed[n])

        def act(self, profile: dict[Any, Any]) -> dict[Any, Any]:
            self.seen, rewards, ended, cut, _ = self.env.step(profile)
            parts = (self.seen, rewards, ended, cut)
            return {agent: tuple(part.get(agent) for part in parts) for agent in profile}

        def _mask(self, agent: Any) -> Any:
            seen: Any = self.seen.get(agent)
            return cast("Mapping[str, Any]", seen).get("action_mask") if isinstance(seen, Mapping) else None

    Environment.__name__ = str(getattr(make, "__name__", "Environment"))
    return Environment
