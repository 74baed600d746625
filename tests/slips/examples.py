"""The parts of most slips: the light of the README, working and breakable, a claim about it, and `check`."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.slips.kit import TooLong, evenhand


def turns_green(state: Any, action: Any) -> Any:
    """Take a step of the README's light, which nothing breaks."""
    return {"red": "green"}.get(state, "red")


def _next(_state: Any) -> list[str]:
    return ["next"]


def light(**changes: Any) -> Any:
    """Return the README's light in working order, or with the user's changes."""
    given: dict[str, Any] = {"initial": ["red"], "actions": _next, "step": turns_green, **changes}
    return evenhand.system(given.pop("name", "light"), **given)


@evenhand.always("The light is never dark.")
def never_dark(state: Any) -> bool:
    """The claim of the README about it."""
    return bool(state != "dark")


def breakable(**changes: Any) -> Any:
    """Return the README's light as written there: it goes dark when it is broken."""
    given = {"actions": lambda _state: ["next", "break"], "step": _turns_or_breaks, **changes}
    return light(**given)


def _turns_or_breaks(state: Any, action: Any) -> Any:
    return "dark" if action == "break" else turns_green(state, action)


def mirrored(**changes: Any) -> Any:
    """Return a claim about two runs, of which the second does the same as the first, with the user's changes."""
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
    """Run `evenhand.verify`, quiet and with few drawn runs by default, because hundreds of systems are verified."""
    return evenhand.verify(system, claims, **{"quiet": True, "examples": 8, **more})


def endless(item: Callable[[int], Any] = lambda number: number) -> Iterator[Any]:
    """Yield for ever; past a number far beyond any bound it counts as a hang."""
    for number in range(1_000_000):
        yield item(number)
    raise TooLong
