"""Compare the formulas of two copies with the functions: on pairs of states, with every action of both."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from evenhand.core.relations import DeterminedBy
from evenhand.core.system import AnyStep
from evenhand.smt.logic import FALSE, Formula, Var
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.small_models import small_model
from evenhand.smt.structure import Structure
from evenhand.source.family import OTHER, STATE
from evenhand.source.functions import Move
from evenhand.source.instances import decode, how_many, nth
from evenhand.source.pairs import Pairs, beside, conclusion
from evenhand.source.simplify import all_of, negation, some
from evenhand.source.validation import Comparison, Mistranslated, assignments, spread
from evenhand.source.values import equals

ABOUT = 6
"""States of each kind that are paired, each with each."""


@dataclass(frozen=True)
class Taken:
    """A step as Python takes it, with the move and the values that stand for it in formulas."""

    place: int
    values: dict[Var, str]
    step: AnyStep


def compare_pairs(
    comparison: Comparison, pairs: Pairs, reached: Iterable[tuple[Any, list[Any]]], portfolio: Portfolio
) -> int:
    """Compare on pairs of states; return how many answers were compared.  Raises Mistranslated.

    Paired are states that runs of one configuration reach, states with two of each sort, and states of three that a
    solver makes, so that each two kinds of steps are seen with equal keys, and with equal and different values.
    """
    family = pairs.family
    sorts = family.world.sorts
    two = family.system.at(**dict.fromkeys(sorts, 2))
    config = next(iter(two.all_configs()))
    sizes = comparison.sizes(config)
    total = how_many(family.shape, sizes)
    listed = [nth(family.shape, sizes, place) for place in spread(total, ABOUT)]
    compared = 0
    for at, states in [(config, listed), *reached]:
        few = [states[place] for place in spread(len(states), ABOUT)]
        for one, other in itertools.product(few, repeat=2):
            compared += _pair(comparison, pairs, at, one, other)
    three = next(iter(family.system.at(**dict.fromkeys(sorts, 3)).all_configs()))
    for one, other in _made(pairs, portfolio):
        compared += _pair(comparison, pairs, three, one, other)
    return compared


def _made(pairs: Pairs, portfolio: Portfolio) -> Iterator[tuple[Any, Any]]:
    family, twin = pairs.family, pairs.twin
    for name, sides in twin.sides.items():
        mine = family.claims[name].sides
        for i, j in itertools.combinations_with_replacement(range(len(sides)), 2):
            one, other = mine[i], sides[j]
            left, right = family.moves[i], twin.moves[j]
            asked = all_of((left.guard, right.guard, one.when, other.when, equals(one.key, other.key)))
            same = equals(one.value, other.value)
            for wanted in (all_of((asked, same)), all_of((asked, negation(same)))):
                formula = some((*left.variables, *right.variables), wanted)
                found = None if wanted == FALSE else small_model(pairs.theory, formula, portfolio, elements=3)[0]
                if found is not None:
                    try:
                        yield decode(family.shape, STATE, found), decode(family.shape, OTHER, found)
                    except ValueError:  # a number that is not whole is no state
                        continue


def _pair(comparison: Comparison, pairs: Pairs, config: Any, one: Any, other: Any) -> int:
    family, twin = pairs.family, pairs.twin
    structure = beside(comparison.encoded(config, one), comparison.encoded(config, other))
    left = _taken(comparison, family.raises, family.moves, structure, config, one)
    right = _taken(comparison, twin.raises, twin.moves, structure, config, other)
    compared = 0
    for name, others in twin.sides.items():
        claim, sides = family.claims[name].claim, family.claims[name].sides
        assert isinstance(claim, DeterminedBy)
        for here, there in itertools.product(left, right):
            formula = conclusion(sides[here.place], others[there.place])
            values = {**here.values, **there.values}
            if any(
                comparison.reader.holds(side.raises, structure, values)
                for side in (sides[here.place], others[there.place])
            ):
                continue
            expected = _kept(claim, here.step, there.step)
            if comparison.reader.holds(formula, structure, values) != expected:
                raise Mistranslated(
                    f"claim {name} of {here.step.action!r} in {one!r} beside {there.step.action!r} in {other!r}: "
                    f"the functions say {expected}, the formula does not"
                )
            compared += 1
    return compared


def _kept(claim: DeterminedBy, one: AnyStep, other: AnyStep) -> bool:
    """What the claim's functions say of two steps."""
    asked = claim.when(one) and claim.when(other) and claim.key(one) == claim.key(other)
    return not asked or claim.value(one) == claim.value(other)


def _taken(
    comparison: Comparison, raises: Formula, moves: tuple[Move, ...], structure: Structure, config: Any, state: Any
) -> list[Taken]:
    """The steps on offer in one state of a pair, as both the functions and the formulas of its copy have them."""
    if comparison.reader.holds(raises, structure):
        return []
    system = comparison.family.system
    found: list[Taken] = []
    made: list[Any] = []
    for place, move in enumerate(moves):
        for values in assignments(move.variables, structure):
            if comparison.reader.holds(move.guard, structure, values):
                action = comparison.python(move.action, structure, values)
                made.append(action)
                if not comparison.reader.holds(move.raises, structure, values):
                    found.append(Taken(place, values, system.take(config, state, action)))
    assert system.actions is not None
    offered = list(system.actions(config, system.scope, state))
    if any(one not in offered for one in made) or any(one not in made for one in offered):
        raise Mistranslated(f"actions of {state!r}: the function offers {offered!r}, a formula of two copies {made!r}")
    return found
