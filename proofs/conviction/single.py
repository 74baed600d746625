"""What theorems about single actions and ticks are made of: their common part, words, and small runs of few agents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.model.conviction.exact import exact
from evenhand.model.conviction.menus import TEXTS, agents_of
from evenhand.model.conviction.vocabulary import Config, Constants, Issue
from evenhand.smt.logic import Definition, Formula
from evenhand.smt.preludes import define, stating
from evenhand.smt.theorem import Theorem

theorem = stating(Theorem, protocol="conviction", system="issue")
"""A theorem about the actions and ticks of an Issue."""


def meaning(name: str, body: Formula, source: str) -> Definition:
    """What a truth comes to, in the reference or in a mutant."""
    return define(name, (), body, source)


def granted(*amounts: Any) -> tuple[Any, ...]:
    """Agents who begin with so much each."""
    exactly: list[Any] = [exact(amount) for amount in amounts]
    pairs = zip(agents_of(len(exactly)), exactly, strict=True)
    return tuple(replace(agent, granted=amount) for agent, amount in pairs)


def configuration(agents: tuple[Any, ...], constants: Constants, cycles: int = 1) -> Config:
    """One Issue for all of them."""
    return Config(agents, (Issue("issue_1", tuple(agent.uid for agent in agents), cycles),), constants, TEXTS)
