"""The declaration of a mutant kernel, and the scopes that show most of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from evenhand.core.records import replace
from evenhand.core.system import Mutant, Scope
from evenhand.model.cud.kernel import REFERENCE, Rules
from evenhand.model.cud.vocabulary import Request

RELAXED_FROM = 1
"""k of F17's time-based relaxation: the first epoch in which a faulty kernel relaxes."""

ALONE = Scope(agents=1, keys=1, epochs=1)
ALONE_TWICE = Scope(agents=1, keys=1, epochs=2)
PAIR = Scope(agents=2, keys=1, epochs=1)
TWICE = Scope(agents=2, keys=1, epochs=2)
THRICE = Scope(agents=2, keys=1, epochs=3)
KEYS = Scope(agents=2, keys=2, epochs=1)
THREE = Scope(agents=3, keys=2, epochs=1)
ONE = Scope(agents=1, keys=1)


def declare(
    name: str,
    sentence: str,
    source: str,
    system: str,
    scope: Scope,
    *,
    readings: tuple[tuple[str, Any], ...] = (),
    expected: Literal["killed", "equivalent", "open_gap"] = "killed",
    reason: str = "",
    **functions: Any,
) -> Mutant[Rules]:
    """Return the mutant with these functions of the reference replaced; the other arguments are those of `Mutant`."""
    rules = replace(REFERENCE, **functions)
    return Mutant(name, sentence, source, rules, system, scope, readings, expected, reason)


def fault(
    rule: str,
    source: str,
    system: str,
    scope: Scope,
    *,
    readings: tuple[tuple[str, Any], ...] = (),
    expected: Literal["killed", "equivalent", "open_gap"] = "killed",
    reason: str = "",
) -> Callable[[Callable[..., Any]], Mutant[Rules]]:
    """Make a mutant of the decorated function, which replaces this rule; its docstring is the mutant's sentence."""

    def made(function: Callable[..., Any]) -> Mutant[Rules]:
        sentence = function.__doc__ or ""
        return declare(
            function.__name__,
            sentence,
            source,
            system,
            scope,
            readings=readings,
            expected=expected,
            reason=reason,
            **{rule: function},
        )

    return made


def share_a_key(one: Request, other: Request) -> bool:
    """Return whether the two requests declare a common key, whatever they do with it."""
    return any(key in other.declared_scope for key in one.declared_scope)
