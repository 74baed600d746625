"""Observer of a run of the consensus: the phase that it has reached."""

from __future__ import annotations

from evenhand.core.observer import Observer
from evenhand.properties.conviction.predicates import RunStep


def _phase(_value: str | None, step: RunStep) -> str:
    return str(step.after.phase)


OBSERVERS: tuple[Observer, ...] = (
    Observer(
        name="phase",
        sentence="The phase that the open Issue has reached.",
        update=_phase,
        label=str,
        source="12, 16.1",
    ),
)
"""A function of the state: a search that runs it along meets no more states than without it."""
