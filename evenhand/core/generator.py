"""How a protocol drives the state machine: rules that draw actions, and rare events with floors.

Uniform drawing rarely reaches the states that matter.  So each rare event gets a rule that aims at it, and a floor
below which verdicts are UNDECIDED.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from typing import Protocol as Interface

from evenhand.core.system import AnyStep, Scope

__all__ = ["Draw", "Event", "Generator", "Rule", "st"]

T = TypeVar("T")

if TYPE_CHECKING:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
else:

    class _Strategies:
        """`hypothesis.strategies`, imported when something is drawn: it takes 0.1 s, and most commands draw nothing."""

        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module("hypothesis.strategies"), name)

        def composite(self, function: Callable[..., T]) -> Callable[..., SearchStrategy[T]]:
            """Return what Hypothesis makes of a function, when it is first called."""
            made = functools.cache(lambda: self.__getattr__("composite")(function))
            return functools.wraps(function)(lambda *args, **named: made()(*args, **named))

    st = _Strategies()


class Draw(Interface):
    """Hypothesis' draw function, as a rule sees it."""

    def __call__(self, strategy: SearchStrategy[T], /) -> T:
        """Draw one value."""
        ...


def _anywhere(_config: Any, _state: Any) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """One way to draw an action: `draw(draw, config, scope, state)`, where `possible(config, state)`.

    `hostile` rules draw actions that no honest client would send; the others are constructive.
    """

    name: str
    draw: Callable[[Draw, Any, Scope, Any], Any]
    possible: Callable[[Any, Any], bool] = _anywhere
    hostile: bool = False

    def __post_init__(self) -> None:
        """Refuse a `draw` that does not take these arguments.  Raises TypeError."""
        try:
            inspect.signature(self.draw).bind("draw", "config", "scope", "state")
        except TypeError as error:
            raise TypeError(f"rule {self.name!r}: it is called as draw(draw, config, scope, state): {error}") from None
        except ValueError:  # some built-in functions have no signature
            return


@dataclass(frozen=True)
class Event:
    """An event that a run must reach: counted on every step, `floor` times in a standard run."""

    name: str
    seen: Callable[[AnyStep], bool]
    floor: int


@dataclass(frozen=True)
class Generator:
    """What the machine draws for one system (configurations, then actions by rule), and the events it counts."""

    system: str
    configs: Callable[[Scope, Any], SearchStrategy[Any]]
    rules: tuple[Rule, ...]
    events: tuple[Event, ...] = ()
