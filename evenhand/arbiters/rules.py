"""A rule as a kernel: one function of a profile (votes, bids, requests) with one result for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hypothesis.strategies import SearchStrategy

from evenhand.arbiters.kernels import Factory
from evenhand.arbiters.kernels import listed as in_order


def rule(
    function: Callable[..., Any],
    choices: Iterable[Any] | SearchStrategy[Any],
    *,
    listed: bool = False,
    labels: Iterable[Any] = (),
) -> Factory:
    """Return a factory for a rule: one function of a profile (votes, bids, requests) with one result for all.

    A play of a rule has one round, because a function has no past: what it keeps shows when the play is repeated.
    `function` takes {agent: choice}, or the list of choices if `listed`.  `labels` are values (candidates) whose names
    should not matter.
    """
    menu = choices if isinstance(choices, SearchStrategy) else in_order(choices)
    values = in_order(labels)

    class Rule:
        __rule__ = (function, menu, listed, values)
        labels = values

        def __init__(self, agents: list[str]) -> None:
            self.agents = agents
            self.done = False

        def choices(self, agent: str) -> tuple[Any, ...] | SearchStrategy[Any]:
            del agent
            return () if self.done else menu

        def act(self, profile: dict[str, Any]) -> dict[str, Any]:
            self.done = True
            given: Any = [profile[agent] for agent in self.agents if agent in profile] if listed else dict(profile)
            return dict.fromkeys(profile, function(given))

    Rule.__name__ = str(getattr(function, "__name__", "rule"))
    return Rule
