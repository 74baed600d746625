"""Observers that name the class of a run: the last verdict of the guard, the last answer of layers and space."""

from __future__ import annotations

from evenhand.core.observer import Observer
from evenhand.model.markspace.guard_vocabulary import GuardStep
from evenhand.model.markspace.layers_vocabulary import LayersStep
from evenhand.model.markspace.marks import SpaceStep, Write
from evenhand.properties.markspace.predicates import GUARDED


def _verdict(value: str | None, step: GuardStep) -> str | None:
    shown = step.shown
    if shown.told:
        return ", ".join(sorted({verdict.name for _, verdict in shown.told}))
    return value if shown.verdict is None else shown.verdict.name


def _layer(_value: str | None, step: LayersStep) -> str | None:
    shown = step.shown
    if shown.accepted:
        return "ACCEPTED"
    return "REFUSED" if shown.by is None else f"REFUSED/{shown.by.name}"


def _written(value: str | None, step: SpaceStep) -> str | None:
    if not isinstance(step.action, Write):
        return value
    return "REFUSED" if step.shown.refused else "STORED"


OBSERVERS: tuple[Observer, ...] = (
    Observer(
        name="verdict",
        sentence="The last verdict of the guard; after a boundary, all that it told.",
        systems=GUARDED,
        update=_verdict,
        label=str,
        source="9.2, 9.3",
    ),
    Observer(
        name="layer",
        sentence="Whether the last operation was accepted, and the layer that refused it.",
        systems=("layers",),
        update=_layer,
        label=str,
        source="9.7, 9.8, 9.9, 9.10, 9.12",
    ),
    Observer(
        name="written",
        sentence="Whether the last write was stored.",
        systems=("space",),
        update=_written,
        label=str,
        source="7.3, 8.1",
    ),
)
