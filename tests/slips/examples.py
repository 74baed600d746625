"""What most slips start from: the light of the README, in order and breakable, a claim about it, and `check`."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.slips.kit import TooLong, evenhand


def turns_green(state: Any, action: Any) -> Any:
    """The step of the README's light, with nothing that breaks it."""
    return {"red": "green"}.get(state, "red")


def _next(_state: Any) -> list[str]:
    return ["next"]


def light(**changes: Any) -> Any:
    """The README's light in working order, or with what the user wrote instead."""
    given: dict[str, Any] = {"initial": ["red"], "actions": _next, "step": turns_green, **changes}
    return evenhand.system(given.pop("name", "light"), **given)


@evenhand.always("The light is never dark.")
def never_dark(state: Any) -> bool:
    """The claim that goes with it."""
    return bool(state != "dark")


def breakable(**changes: Any) -> Any:
    """The README's light as it stands there: it goes dark when somebody breaks it."""
    given = {"actions": lambda _state: ["next", "break"], "step": _turns_or_breaks, **changes}
    return light(**given)


def _turns_or_breaks(state: Any, action: Any) -> Any:
    return "dark" if action == "break" else turns_green(state, action)


def mirrored(**changes: Any) -> Any:
    """A claim about two runs, the second of which does what the first does, with what the user wrote instead."""
    given: dict[str, Any] = {
        "twins": lambda _config, _state, _action: ["mirror"],
        "config": lambda _w, config: config,
        "state": lambda _w, _config, state: state,
        "other": lambda _w, action: (action,),
        **changes,
    }

    @evenhand.two_run("Twins agree.", **given)
    def twins_agree(_w: Any, step: Any, other: Any) -> bool:
        return bool(step.after == other.after)

    return twins_agree


def check(system: Any, claims: Any, **more: Any) -> Any:
    """`evenhand.verify`, quiet and with few drawn runs unless told otherwise: hundreds of systems are verified."""
    return evenhand.verify(system, claims, **{"quiet": True, "examples": 8, **more})


def endless(item: Callable[[int], Any] = lambda number: number) -> Iterator[Any]:
    """What never stops giving, until somebody has asked for far more than any bound: then it counts as a hang."""
    for number in range(1_000_000):
        yield item(number)
    raise TooLong
