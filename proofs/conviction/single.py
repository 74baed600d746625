"""What theories about one agent's single action are made of: numbers, truths, words, and small runs of few agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evenhand.model.conviction.exact import exact
from evenhand.model.conviction.menus import TEXTS, agents_of
from evenhand.model.conviction.vocabulary import Config, Constants, Issue
from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.logic import Definition, Formula, Function, Relation
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Mutation

__all__ = ["as_structure", "configuration", "granted", "meaning", "quantity", "refuted", "truth"]


def quantity(name: str) -> Function:
    """A number of the action's: an amount, a length, a limit."""
    return Function(name, (), NUMBER)


def truth(name: str) -> Relation:
    """What is so or is not."""
    return Relation(name, ())


def meaning(name: str, body: Formula, source: str) -> Definition:
    """What a truth comes to, in the reference or in a mutant."""
    return Definition(truth(name), (), body, source)


def refuted(faults: Mapping[str, tuple[Definition, ...]]) -> tuple[Mutation, ...]:
    """Mutants by name, each of which a theorem must refute."""
    return tuple(Mutation(mutant=name, definitions=definitions) for name, definitions in faults.items())


def as_structure(universe: Any, truths: Mapping[str, bool], functions: Any) -> Structure:
    """What was seen of an action."""
    return Structure(universe, {name: frozenset([()] if true else []) for name, true in truths.items()}, functions)


def granted(*amounts: Any) -> tuple[Any, ...]:
    """Agents who begin with so much each."""
    exactly: list[Any] = [exact(amount) for amount in amounts]
    pairs = zip(agents_of(len(exactly)), exactly, strict=True)
    return tuple(replace(agent, granted=amount) for agent, amount in pairs)


def configuration(agents: tuple[Any, ...], constants: Constants) -> Config:
    """One Issue for all of them."""
    return Config(agents, (Issue("issue_1", tuple(agent.uid for agent in agents), 1),), constants, TEXTS)
