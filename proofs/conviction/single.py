"""Shared parts of theorems about single actions and ticks: definitions, and small configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from evenhand.core.system import AnyStep
from evenhand.model.conviction.exact import exact
from evenhand.model.conviction.menus import TEXTS, agents_of
from evenhand.model.conviction.vocabulary import Config, Constants, Issue
from evenhand.smt.theorem import Theorem

theorem = partial(Theorem, protocol="conviction", system="issue")
"""A theorem about the actions and ticks of an Issue."""


def both(step: AnyStep, read: Callable[[Any], Mapping[str, Any]], *ends: str) -> dict[str, Any]:
    """Return what is read of the states before and after a step, each name with the ending of its state."""
    states = zip(ends, (step.before, step.after), strict=True)
    return {f"{name}{end}": value for end, state in states for name, value in read(state).items()}


def granted(*amounts: Any) -> tuple[Any, ...]:
    """Return agents that begin with these amounts."""
    exactly: list[Any] = [exact(amount) for amount in amounts]
    pairs = zip(agents_of(len(exactly)), exactly, strict=True)
    return tuple(replace(agent, granted=amount) for agent, amount in pairs)


def configuration(agents: tuple[Any, ...], constants: Constants, cycles: int = 1) -> Config:
    """Return the configuration of one Issue for all of these agents."""
    return Config(agents, (Issue("issue_1", tuple(agent.uid for agent in agents), cycles),), constants, TEXTS)
