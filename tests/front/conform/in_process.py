"""A source that calls a factory in this process, so that a test starts no other process; for trusted kernels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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
        """Run one scenario; if a step raises, go on and tell what follows as well."""
        shown: list[Json] = []
        states: list[Json] = []
        facts: dict[int, Json] = {}
        plain = True
        kernel: Any = None
        failed: KernelResponse | None = None
        try:
            kernel = self.factory(json.loads(b"{" + asked.initial))
        except Unsupported as error:
            return KernelResponse(unsupported=str(error))
        except Exception as error:
            return KernelResponse(fault=Fault.RAISED, why=_said(error), at_start=True)
        tell, state_facts = getattr(kernel, "state", None), getattr(kernel, "facts", None)
        for action, expected in zip(asked.actions, asked.expected, strict=True):
            try:
                answer = kernel.step(json.loads(action))
                told = [json.loads(wire.text(tell()))] if tell else []
                facts |= {len(shown): json.loads(wire.text(state_facts()))} if state_facts else {}
            except Unsupported as error:
                ended = KernelResponse(
                    tuple(shown), tuple(states), unsupported=str(error), refused=True, facts=dict(facts)
                )
                return replace(failed, on=ended) if failed else ended
            except Exception as error:
                before = KernelResponse(tuple(shown), tuple(states), Fault.RAISED, _said(error), facts=dict(facts))
                failed, answer, told = failed or before, wire.UNKNOWN, [wire.UNKNOWN] if tell else []
            same = wire.text(answer).encode() == expected
            plain = plain and same and tell is None and state_facts is None
            shown.append(None if same else answer)
            states += told
        made = KernelResponse(tuple(shown), tuple(states), as_expected=plain, facts=facts)
        return replace(failed, on=made) if failed else made


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
