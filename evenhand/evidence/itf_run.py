"""Read a trace in ITF, the JSON of Apalache and Quint, as a run of a system of one's own.

A trace says what the variables of a specification are in each state, and not which action was taken.  `seen(state)`
gives these variables for a state of the system; the run is found by following every action that leads to a state that
looks like the next one.  Two states of the trace that look alike may be one (stuttering).
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from evenhand.core.answers import ModelError, caught, error_text, short
from evenhand.core.canonical import Json
from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyLasso, AnyScenario, Lasso, NotReplayable, Scenario
from evenhand.evidence.store import read_json

MOST = 10_000
"""States of the system that may look like one state of a trace."""

Layer = dict[Any, tuple[Any, Any]]
"""The states that look like one state of the trace, each with the state before and the action; () for none."""


def run_from_itf(
    system: AnySystem, file: str | os.PathLike[str], seen: Callable[[Any], Mapping[str, Any]] | None = None
) -> AnyScenario | AnyLasso:
    """Return the run of `system` that the trace in `file` tells: a scenario, or a lasso if the trace says `loop`.

    `seen(state)` maps names of variables of the trace to plain values (numbers, texts, tuples, frozen sets, mappings,
    dataclasses for records); variables that it leaves out are not compared.  Without it the variables are the fields of
    the state, which is a dataclass or a named tuple.

    Raises NotReplayable for a trace that is no run of the system, with the first state that no action leads to;
    ValueError for a file that is no ITF trace or a variable that it lacks, ModelError if `seen` raises.
    """
    told, loop = _read(file)
    trace = _Trace(system, str(file), told, fields_of if seen is None else seen)
    config, first = trace.start()
    layers = [first]
    closing = [] if loop is None or trace.told_at(loop) == trace.told_at(len(told) - 1) else [loop]
    for index in [*range(1, len(told)), *closing]:
        layers.append(trace.next(config, layers[-1], index))
    if loop is None:
        return _back(config, layers, next(iter(layers[-1])))[0]
    for end in layers[-1]:
        run, states, taken = _back(config, layers, end)
        if states[loop] == end and taken[-1] > taken[loop]:
            return Lasso(config, run.start, run.actions[: taken[loop]], run.actions[taken[loop] :])
    raise NotReplayable(f"{file}: {system.label} does not come back to the state in which the loop begins, {loop}")


def fields_of(state: Any) -> Mapping[str, Any]:
    """Return the fields of a state by name.  Raises TypeError for a state that has none."""
    names = [one.name for one in fields(state)] if is_dataclass(state) else getattr(state, "_fields", ())
    if not names:
        raise TypeError(f"a state of type {type(state).__name__} has no fields; say with `seen` what a trace has of it")
    return {name: getattr(state, name) for name in names}


class _Trace:
    """A trace beside the system that it is a run of."""

    def __init__(
        self,
        system: AnySystem,
        file: str,
        told: Sequence[Mapping[str, Any]],
        seen: Callable[[Any], Mapping[str, Any]],
    ) -> None:
        self.system, self.file, self.told, self.seen = system, file, told, seen
        self.known: dict[Any, Hashable] = {}
        self.names: tuple[str, ...] = ()

    def looks(self, state: Any) -> Hashable:
        """Return what is seen of a state.  Raises ModelError."""
        if state not in self.known:
            try:
                given = dict(self.seen(state))
                self.known[state] = _plain(given)
            except caught() as error:
                raise ModelError(
                    f"{self.system.label}: `seen` of state {short(state)} raised {error_text(error)}; it maps names of "
                    "variables to plain values"
                ) from error
            self.names = tuple(given)
        return self.known[state]

    def told_at(self, index: int) -> Hashable:
        """Return what the trace tells of the variables that are seen.  Raises ValueError for one that it lacks."""
        for name in self.names:
            if name not in self.told[index]:
                there = ", ".join(self.told[index])
                raise ValueError(f"{self.file}: state {index} has no variable {name!r}; there is: {there}")
        return _plain({name: self.told[index][name] for name in self.names})

    def start(self) -> tuple[Any, Layer]:
        """Return the configuration, and its initial states that look like the first one.  Raises NotReplayable."""
        for config in self.system.all_configs():
            looks = [(state, self.looks(state)) for state in self.system.initial(config)]
            if layer := {state: (None, ()) for state, look in looks if look == self.told_at(0)}:
                return config, layer
        raise NotReplayable(
            f"{self.file}: no initial state of {self.system.label} looks like state 0, {short(self.told[0], 200)}"
        )

    def next(self, config: Any, layer: Layer, index: int) -> Layer:
        """Return the states that look like the next one, after no action or one.  Raises NotReplayable."""
        wanted = self.told_at(index)
        found: Layer = {state: (state, ()) for state in layer if self.looks(state) == wanted}
        for state in layer:
            for action in self.system.enabled(config, state):
                after = self.system.take(config, state, action).after
                if self.looks(after) == wanted:
                    found.setdefault(after, (state, (action,)))
        if not found:
            raise NotReplayable(
                f"{self.file}: {self.system.label} has no step to state {index}, {short(self.told[index], 200)}, from "
                f"{short(next(iter(layer)), 200)}"
            )
        if len(found) > MOST:
            raise ValueError(f"{self.file}: more than {MOST:,} states look like state {index}; let `seen` tell more")
        return found


def _back(config: Any, layers: Sequence[Layer], end: Any) -> tuple[AnyScenario, list[Any], list[int]]:
    """The run to a state of the last layer, its state at each layer, and the actions taken until then."""
    states, actions = [end], list[tuple[Any, ...]]()
    for layer in reversed(layers[1:]):
        before, taken = layer[states[-1]]
        states.append(before)
        actions.append(taken)
    states.reverse()
    actions.reverse()
    counts = [sum(map(len, actions[:place])) for place in range(len(states))]
    return Scenario(config, states[0], tuple(action for some in actions for action in some)), states, counts


def _read(file: str | os.PathLike[str]) -> tuple[list[dict[str, Any]], int | None]:
    """The states of a trace, and where it loops.  Raises ValueError."""
    data: Any = read_json(file)
    states = data.get("states") if isinstance(data, Mapping) else None
    if not isinstance(states, Sequence) or not states or not all(isinstance(one, Mapping) for one in states):
        raise ValueError(f"{file}: no ITF trace: it is an object with a list of `states`, each an object of variables")
    loop = data.get("loop")
    if loop is not None and (isinstance(loop, bool) or not isinstance(loop, int) or not 0 <= loop < len(states)):
        raise ValueError(f"{file}: `loop` is the number of a state, not {short(loop)}")
    try:
        return [{name: _value(value) for name, value in one.items() if name != "#meta"} for one in states], loop
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file}: no ITF trace: {error_text(error)}") from error


def _value(data: Json) -> Any:
    """A value of a trace: `#bigint`, `#set`, `#tup`, `#map`, records, and plain JSON.  Raises ValueError."""
    if isinstance(data, list):
        return tuple(map(_value, data))
    if not isinstance(data, dict):
        return data
    entries: dict[str, Any] = data
    match list(entries):
        case ["#bigint"]:
            return int(entries["#bigint"])
        case ["#tup"]:
            return tuple(map(_value, entries["#tup"]))
        case ["#set"]:
            return frozenset(_plain(_value(part)) for part in entries["#set"])
        case ["#map"]:
            return {_plain(_value(key)): _value(value) for key, value in entries["#map"]}
        case ["#unserializable"]:
            raise ValueError(f"the value {short(entries['#unserializable'], 80)} was not written by the checker")
        case _:
            return {name: _value(value) for name, value in entries.items()}


def _plain(value: Any) -> Hashable:
    """A value in the one form that is compared: sequences as tuples, records and maps as sets of pairs."""
    if isinstance(value, bool):
        return ("bool", value)  # which Python takes for 0 or 1
    if is_dataclass(value) and not isinstance(value, type):
        value = fields_of(value)
    if isinstance(value, Mapping):
        return frozenset((_plain(key), _plain(part)) for key, part in value.items())
    if isinstance(value, set | frozenset):
        return frozenset(map(_plain, value))
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    plain: Hashable = value
    hash(plain)
    return plain
