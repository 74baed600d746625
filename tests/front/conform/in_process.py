"""A source that calls a factory in this process, so that a test starts no other process; for trusted kernels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.conform.adapters import wire
from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse
from evenhand.conform.adapters.wire import Fault
from evenhand.core.canonical import Json
from evenhand.core.kernel import Unsupported


@dataclass
class InProcess:
    """A trusted factory, called in this process without limits; an exception is a fault, as elsewhere."""

    factory: Callable[[Any], Any]
    name: str = "in this process"
    alone: bool = False

    def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        """Iterate over the results of the scenarios."""
        return map(self._run, scenarios)

    together = ask

    def renew(self) -> None:
        """Do nothing: there is no process."""

    def close(self) -> None:
        """Do nothing: there is no process."""

    def _run(self, asked: KernelRequest) -> KernelResponse:
        shown: list[Json] = []
        states: list[Json] = []
        facts: dict[int, Json] = {}
        plain = True
        kernel: Any = None
        try:
            kernel = self.factory(json.loads(b"{" + asked.initial))
            tell, state_facts = getattr(kernel, "state", None), getattr(kernel, "facts", None)
            for action, expected in zip(asked.actions, asked.expected, strict=True):
                answer = kernel.step(json.loads(action))
                same = wire.text(answer).encode() == expected
                plain = plain and same and tell is None and state_facts is None
                shown.append(None if same else answer)
                if tell is not None:
                    states.append(json.loads(wire.text(tell())))
                if state_facts is not None:
                    facts[len(shown) - 1] = json.loads(wire.text(state_facts()))
        except Unsupported as error:
            return KernelResponse(
                tuple(shown), tuple(states), unsupported=str(error), refused=kernel is not None, facts=facts
            )
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            return KernelResponse(tuple(shown), tuple(states), Fault.RAISED, why, at_start=kernel is None)
        return KernelResponse(tuple(shown), tuple(states), as_expected=plain, facts=facts)
