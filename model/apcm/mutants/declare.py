"""The declaration of a faulty compiler, and the scopes that show most of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from evenhand.core.records import replace
from evenhand.core.system import Mutant, Scope
from evenhand.model.apcm.compiler import REFERENCE, Rules

PLAIN = Scope(actions=2, preferences=2, hostile=0)
HOSTILE = Scope(actions=2, preferences=2, hostile=1)
CHAIN = Scope(actions=1, preferences=1, hostile=0, every=0)
PAIRED = Scope(actions=1, preferences=2, hostile=0, every=0)
STEPS = Scope(steps=8)


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
    return Mutant(name, sentence, source, replace(REFERENCE, **functions), system, scope, readings, expected, reason)


def fault(
    rule: str, source: str, system: str, scope: Scope, **more: Any
) -> Callable[[Callable[..., Any]], Mutant[Rules]]:
    """Make a mutant of the function that replaces `rule`: its name, and its docstring as the sentence.

    The other arguments are those of `declare`.
    """

    def made(function: Callable[..., Any]) -> Mutant[Rules]:
        functions: dict[str, Any] = {rule: function}
        return declare(function.__name__, function.__doc__ or "", source, system, scope, **more, **functions)

    return made
