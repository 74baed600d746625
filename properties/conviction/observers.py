"""Observer of a run of the consensus: the phase that it has reached, or why its last action was rejected."""

from __future__ import annotations

from evenhand.core.observer import Observer
from evenhand.properties.conviction.predicates import RunStep


def _stage(_value: str | None, step: RunStep) -> str:
    return f"REJECTED/{step.shown.rejected}" if step.shown.rejected else str(step.after.phase)


OBSERVERS: tuple[Observer, ...] = (
    Observer(
        name="stage",
        sentence="The phase after the last action, or the reason for its rejection.",
        start=lambda _config: None,
        update=_stage,
        read=lambda _config, value: value,
        label=lambda stage: str(stage).partition("/")[0],
        source="12, 13.2",
    ),
)
