"""Claims in linear temporal logic.

    @temporal("Whoever waits is served.", fairness=("scheduler",))
    def served():
        return G(state(waits) >> F(state(works)))

The decorated function takes the configuration, or nothing, and returns a formula of `ltl`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from evenhand.core.answers import ModelError, short
from evenhand.core.kinds import Calls, DeadlockFree, Liveness, Property
from evenhand.core.ltl import Atom, Formula, Implies, Negation, atoms_of, truths
from evenhand.core.property import claim_of, said
from evenhand.core.system import AnyStep

AboutRuns: TypeAlias = DeadlockFree | Liveness
"""The kinds of claim about whole runs that are decided on the graph alone."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Temporal(Property):
    """Every fair run satisfies `formula(config)`.

    With `stutter` a run may stop in any state for ever, unless the fairness it assumes demands a step (TLA+); without,
    it stops only where nothing is on offer.  `fairness` names assumptions of `System.fair`.
    """

    formula: Callable[[Any], Formula]
    fairness: tuple[str, ...] = ()
    stutter: bool = False

    CALLS: ClassVar[Calls] = {"formula": ("value", ("config",))}
    sampled = False

    def says(self, config: Any) -> Formula:
        """Return the formula under a configuration.  Raises ModelError for anything else."""
        made: Any = self.formula(config)
        if not isinstance(made, Formula):
            raise ModelError(
                f"claim {self.name!r} returned {short(made)}, which is no formula; return one that is made with "
                "state(…), step(…) and the operators of evenhand.core.ltl"
            )
        try:
            hash(made)
        except RecursionError:
            raise ModelError(f"claim {self.name!r}: its formula is nested too deeply to be read") from None
        return made


def temporal(
    sentence: str, *, fairness: Sequence[str] = (), stutter: bool = False, **more: Any
) -> Callable[[Callable[..., Formula]], Temporal]:
    """Make a `Temporal` from a function that takes the configuration, or nothing, and returns a formula."""
    said("temporal", sentence)
    given = {"fairness": fairness, "stutter": stutter, **more}
    return lambda formula: claim_of(Temporal, sentence, "formula", _of_config(formula), given)


def _of_config(function: Any) -> Any:
    """A function without arguments as one of the configuration."""
    if not callable(function) or len(inspect.signature(function).parameters) != 0:
        return function

    def formula(_config: Any) -> Any:
        return function()

    formula.__name__ = formula.__qualname__ = getattr(function, "__name__", "")
    formula.__wrapped__ = function  # type: ignore[attr-defined]
    return formula


def word_of(formula: Formula, config: Any, states: Sequence[Any], steps: Sequence[AnyStep]) -> dict[Atom, list[bool]]:
    """Return where each predicate is true: at each of `states`, of which all but a last one are left by a step."""
    rest = [False] * (len(states) - len(steps))
    return {
        atom: [atom.test(config, state) for state in states]
        if atom.of == "state"
        else [*(atom.test(step) for step in steps), *rest]
        for atom in atoms_of(formula)
    }


def is_kept(formula: Formula, config: Any, steps: Sequence[AnyStep], end: Any, loop: int) -> bool:
    """Return whether a run keeps a formula: its last `loop` steps are repeated for ever, or it stays in `end` if 0."""
    states = [*(step.before for step in steps), *(() if loop else (end,))]
    return truths(formula, word_of(formula, config, states, steps), len(states), len(states) - (loop or 1))[0]


def without_consequences(formula: Formula, *, positive: bool = True) -> Formula | None:
    """Return a formula with each implication replaced by the denial of its antecedent; None if it has none.

    If that holds too, no antecedent was ever met where it counts.  An implication that is denied stays.
    """
    if isinstance(formula, Implies) and positive:
        return Negation(formula.one)
    changed = dict[str, Formula]()
    for name, part in vars(formula).items():
        if isinstance(part, Formula):
            same = not (isinstance(formula, Negation) or (isinstance(formula, Implies) and name == "one"))
            made = without_consequences(part, positive=positive is same)
            if made is not None:
                changed[name] = made
    return type(formula)(**{**vars(formula), **changed}) if changed else None


__all__ = ["Temporal", "is_kept", "temporal", "without_consequences", "word_of"]


def fairness_of(claim: Property) -> tuple[str, ...]:
    """Return the assumptions that a claim names."""
    return claim.fairness if isinstance(claim, Liveness | Temporal) else ()
