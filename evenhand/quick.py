"""A system in a few lines, for a team's own test file: no configuration, no rules, nothing to subclass.

lock = evenhand.system(
    "lock",
    initial=[("idle", "idle")],
    actions=lambda state: [...],
    step=lambda state, action: ...,
)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from evenhand.model.system import Fairness, Step, System

__all__ = ["system"]


def _no_fairness() -> dict[str, Fairness[Any, Any]]:
    return {}


def system(
    name: str,
    *,
    initial: Iterable[Hashable],
    actions: Callable[[Any], Iterable[Hashable]],
    step: Callable[[Any, Any], Any],
    shows: bool | None = None,
    fair: Mapping[str, Fairness[Any, Any]] | None = None,
    progress: Callable[[Step[Any, Any, Any, Any]], bool] | None = None,
    types: tuple[type, ...] = (),
) -> System[None, Any, Any, Any, None]:
    """A system without configuration, readings or rules.

    `initial` lists the start states, `actions(state)` what may happen (simplest first), and
    `step(state, action)` returns the new state, or `(new state, what it shows)`.  States, actions and what
    is shown must be hashable.  A result that is a plain two-element tuple is read as state and shown,
    unless some initial state is a plain tuple itself; `shows=True` or `False` settles it.  `types` names
    your dataclasses and enums, so that counterexamples can be saved and read back.

    Raises ValueError when there is no initial state, TypeError for a value that is not hashable.
    """
    starts = tuple(initial)
    if not starts:
        raise ValueError(f"system {name!r} has no initial state; `initial` lists at least one")
    for start in starts:
        _hashable(name, "initial state", start)
    paired = shows if shows is not None else not any(type(start) is tuple for start in starts)
    fairness = dict(fair) if fair else _no_fairness()

    def take(_rules: None, _config: None, state: Any, action: Any) -> tuple[Any, Any]:
        made = step(state, action)
        after, shown = made if _is_pair(made, paired, shows) else (made, None)
        return _hashable(name, "state", after), _hashable(name, "shown value", shown)

    def offered(_config: None, _scope: Any, state: Any) -> Iterable[Any]:
        return (_hashable(name, "action", action) for action in actions(state))

    return System(
        name=name,
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: starts,
        step=take,
        actions=offered,
        fair=lambda _config: fairness,
        progress=progress,
        types=types,
    )


def _is_pair(made: Any, paired: bool, shows: bool | None) -> bool:
    if not paired:
        return False
    if type(made) is tuple and len(made) == 2:  # pyright: ignore[reportUnknownArgumentType]
        return True
    if shows:
        raise TypeError(f"shows=True, so `step` must return (new state, shown), not {made!r}")
    return False


def _hashable(system_name: str, what: str, value: Any) -> Any:
    try:
        hash(value)
    except TypeError as error:
        raise TypeError(
            f"{what} {value!r} of system {system_name!r} is not hashable ({error}); "
            "use tuples, frozensets or frozen dataclasses"
        ) from error
    return value
