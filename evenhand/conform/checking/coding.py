"""Encode scenarios of a model for the wire, with the reference's observation after each action."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from evenhand.conform.adapters import wire
from evenhand.conform.adapters.kernels import KernelRequest
from evenhand.conform.checking.comparing import normal
from evenhand.conform.checking.words import Dictionary, Reader
from evenhand.core.canonical import Json
from evenhand.core.codec import decode, encode
from evenhand.core.freedom import Free
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyScenario, AnyTrace, Trace, replay

T = TypeVar("T")

KEPT = 50_000
"""Encoded values of one kind that are cached; a full cache is cleared."""


@dataclass
class Coder:
    """Encodes the values of one system; equal values are encoded once."""

    protocol: str
    system: AnySystem
    compare: frozenset[Free] = frozenset()
    """The free fields on which kernels are compared nevertheless."""

    _actions: dict[Any, bytes] = field(default_factory=dict[Any, bytes], init=False, repr=False)
    _shown: dict[Any, bytes] = field(default_factory=dict[Any, bytes], init=False, repr=False)
    _starts: dict[Any, bytes] = field(default_factory=dict[Any, bytes], init=False, repr=False)
    _states: dict[Any, Json] = field(default_factory=dict[Any, Json], init=False, repr=False)
    _decoded: dict[str, Any] = field(default_factory=dict[str, Any], init=False, repr=False)

    def __post_init__(self) -> None:
        self.reader = Reader(self.system.types, self.compare)
        self.choices = Reader(self.system.types, self.compare, choices=True)

    def facts(self, steps: Sequence[AnyStep]) -> Json:
        """Return all that a kernel may tell after some steps: the state and, if there is one, the conclusion."""
        made = self._kept(self._states, steps[-1].after, encode)
        if self.system.conclusion is None or not isinstance(made, dict):
            return made
        return {**cast("dict[str, Json]", made), "conclusion": encode(self.system.conclusion(steps))}

    def decoded(self, data: Json) -> Any:
        """Return the value that a kernel tells, with its sets in any order.  Raises ValueError for none."""
        return self._kept(
            self._decoded, wire.text(data), lambda told: decode(normal(json.loads(told)), *self.system.types)
        )

    def told(self, state: Json, expected: Any) -> Any:
        """Return the state that a kernel tells, in the model's order where it is free.  Raises ValueError for none."""
        known = self._kept(self._states, expected, encode)
        if state != known:
            state = self.reader.reading(state, known, Dictionary()).told
        return self.decoded(state)

    def trace(self, scenario: AnyScenario) -> AnyTrace:
        """Return the run of the scenario in the reference."""
        return replay(self.system, scenario)

    def said(self, trace: AnyTrace) -> AnyTrace:
        """Return the run without actions of which no section tells what follows, up to one that changes the state."""
        kept = list[AnyStep]()
        for one in trace.steps:
            if not self.system.is_unsaid(one.config, one.before, one.action):
                kept.append(one)
            elif one.after != one.before:
                break
        if len(kept) == len(trace.steps):
            return trace
        return Trace(replace(trace.scenario, actions=tuple(one.action for one in kept)), tuple(kept))

    def request(self, trace: AnyTrace) -> KernelRequest:
        """Return the request to a kernel, with the answers of the reference."""
        scenario = trace.scenario
        return KernelRequest(
            self._kept(self._starts, (scenario.config, scenario.start), self._start),
            tuple(self.action(step) for step in trace.steps),
            tuple(self.shown(step) for step in trace.steps),
        )

    def action(self, step: AnyStep) -> bytes:
        """Return the action of a step as text."""
        return self._kept(self._actions, step.action, _text)

    def shown(self, step: AnyStep) -> bytes:
        """Return the observation of a step as text."""
        return self._kept(self._shown, step.shown, _text)

    def _start(self, start: tuple[Any, Any]) -> bytes:
        return wire.initial_text(self.protocol, self.system.name, encode(start[0]), encode(start[1]))

    @staticmethod
    def _kept(known: dict[Any, T], value: Any, made: Callable[[Any], T]) -> T:
        found = known.get(value)
        if found is None:
            if len(known) >= KEPT:
                known.clear()
            found = known[value] = made(value)
        return found


def _text(value: Any) -> bytes:
    return wire.text(encode(value)).encode()
