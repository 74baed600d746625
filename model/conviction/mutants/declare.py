"""How a fault is declared, and the scopes at which most can be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from evenhand.core.system import Mutant, Scope
from evenhand.model.conviction.rules import REFERENCE, Rules, changed
from evenhand.model.conviction.vocabulary import Config, Seat, State

_BASE = {"texts": 0, "budget": 2}
PLAIN = Scope(_BASE, stake=1)
"""Two agents, two rounds, a point to add."""
CYCLE = Scope(_BASE, stake=1, cycles=1, rounds=1, texts=1, hostile=0)
TAP = Scope(_BASE, cycles=1, rounds=1, texts=3)
LATE = Scope(_BASE, think=2, rounds=1)
HOSTILE = Scope(_BASE, stake=1, hostile=1)
ROUNDS = Scope(_BASE, rounds=4)
SERIES = Scope(texts=0, rounds=1, budget=3)
TIMED = Scope(_BASE, think=2, stake=1, penalty=0, ready=0)
"""Stakes at different ticks of one round."""


def declare(
    name: str,
    sentence: str,
    source: str,
    scope: Scope = PLAIN,
    *,
    system: str = "issue",
    readings: tuple[tuple[str, Any], ...] = (),
    expected: Literal["killed", "equivalent", "open_gap"] = "killed",
    reason: str = "",
    **functions: Any,
) -> Mutant[Rules]:
    """The mutant with these functions of the reference replaced; the other arguments are those of `Mutant`."""
    return Mutant(name, sentence, source, changed(**functions), system, scope, readings, expected, reason)


def fault(rule: str, source: str, scope: Scope = PLAIN, **more: Any) -> Callable[[Callable[..., Any]], Mutant[Rules]]:
    """Make a mutant of the function that replaces `rule`: its name, and its docstring as the sentence.

    The other arguments are those of `declare`.
    """

    def made(wrong: Callable[..., Any]) -> Mutant[Rules]:
        functions: dict[str, Any] = {rule: wrong}
        return declare(wrong.__name__, wrong.__doc__ or "", source, scope, **more, **functions)

    return made


def forgiving(rule: str, *reasons: str) -> dict[str, Any]:
    """The rule that refuses, except that it lets these reasons pass: for `declare`."""
    usual = getattr(REFERENCE, rule)

    def refuse(config: Config, state: State, seat: Seat, action: Any) -> str:
        reason = usual(config, state, seat, action)
        return "" if reason in reasons else reason

    return {rule: refuse}
