"""The contract of a model that a search checks: values hash and compare, steps are functions, states never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, islice
from typing import Any

from evenhand.core.alike import alike, deep_copy, only_itself
from evenhand.core.answers import ModelError, caught, error_text, kind_of, short
from evenhand.core.system import AnySystem
from evenhand.search.steps import nth_action, stepped
from evenhand.search.walk import Walk


def initial_states(system: AnySystem, config: Any) -> list[Any]:
    """Return the initial states of a configuration.  Raises ModelError if `initial` raises or lists none."""
    try:
        given = system.initial(config)
        found = list(given)
    except caught() as error:
        raise ModelError(
            f"{system.label}: `initial` of configuration {short(config)} raised {error_text(error)}"
        ) from error
    if isinstance(given, str | bytes | Mapping) or not found:
        what = f"gives {short(given, 60)} ({kind_of(given)})" if found else "gives no state"
        raise ModelError(f"{system.label}: `initial` of configuration {short(config)} {what}; list at least one state")
    return found


def refuse_incomparable(system: AnySystem, state: Any) -> None:
    """Raise ModelError for a state that equals no other, such as one that holds a NaN."""
    if found := only_itself(state):
        raise ModelError(
            f"{system.label}: a state holds {found}. Such a state is equal to no other, so the search would never "
            "come back to it"
        )


def unhashable(system: AnySystem, state: Any, what: str, error: Exception) -> ModelError:
    return ModelError(
        f"{system.label}: {what} cannot be hashed and compared ({error_text(error)}): {short(state)}. "
        "States are frozen dataclasses over tuples, frozensets and atoms"
    )


def refuse_unrepeatable(system: AnySystem, config: Any, state: Any, taken: Sequence[tuple[int, Any, Any, Any]]) -> None:
    """Raise ModelError if the same actions, taken again in reverse order, are not on offer or lead elsewhere."""
    offered = list(islice(system.enabled(config, state), len(taken)))
    for number, action, after, shown in reversed(taken):
        once_more = offered[number] if number < len(offered) else nth_action(system, config, state, number)
        if once_more != action:
            raise ModelError(
                f"{system.label}: state {short(state)} offered action {short(action)}, and then {short(once_more)} in "
                "its place. What is on offer, and its order, is a function of configuration and state alone"
            )
        for what, value in (("action", once_more), ("shown value", shown)):
            try:
                hash(value)
            except Exception as error:
                raise ModelError(
                    f"{system.label}: {what} {short(value, 80)} in state {short(state, 80)} cannot be hashed "
                    f"({error_text(error)}); use tuples, frozensets or frozen dataclasses"
                ) from None
        again = stepped(system, config, state, once_more)
        if again != (after, shown) or not alike(again, (after, shown)):
            raise ModelError(
                f"{system.label}: the step of action {short(once_more)} in state {short(state)} gave "
                f"{short((after, shown))}, and then {short(again)}. A step is a function of rules, configuration, "
                "state and action alone"
            )


def refuse_change(system: AnySystem, walk: Walk, sid: int, kept: Any) -> None:
    """Raise ModelError if the model changed this state in place."""
    state = walk.states[sid]
    try:
        intact = walk.ids.get(state) == sid and (kept is None or kept[0] == state)
    except Exception as error:
        raise unhashable(system, state, "a state that was hashable before", error) from error
    if not intact:
        raise _mutated(system, walk, sid)


def _mutated(system: AnySystem, walk: Walk, sid: int) -> ModelError:
    """An error that names the action that changes its state in place, found by replay on fresh objects."""
    start, path = walk.path(sid)
    config = walk.config
    for choice in count():
        state = initial_states(system, config)[start]
        try:
            for number in path:
                state, _ = stepped(system, config, state, nth_action(system, config, state, number))
            action = nth_action(system, config, state, choice)
        except IndexError:
            break
        kept = deep_copy(state)
        stepped(system, config, state, action)
        if kept is not None and kept[0] != state:
            return ModelError(
                f"{system.label}: the step of action {short(action)} changes the state it is given; it was "
                f"{short(kept[0])}, it is now {short(state)}. A step is pure: return a new state"
            )
    return ModelError(
        f"{system.label}: `actions` or a claim changes a state in place, which no step out of it does: "
        f"{short(walk.states[sid])}. Work on a copy"
    )
