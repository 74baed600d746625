"""Observer of a run of the justification compiler: the class of its last submission."""

from __future__ import annotations

from evenhand.core.observer import Observer
from evenhand.properties.apcm.predicates import ApcmStep


def _fate(value: str | None, step: ApcmStep) -> str | None:
    shown = step.shown
    if shown.kind != "submit":
        return value
    if shown.invalid:
        return f"INVALID_RUN/{shown.invalid[0].code}"
    if shown.halt:
        return f"HALT/{shown.compile_error_code or 'GRIDLOCK'}"
    return "GRIDLOCK" if shown.gridlock else "PERMITS"


OBSERVERS: tuple[Observer, ...] = (
    Observer(
        name="fate",
        sentence="How the last submission ended: a permission, a gridlock, a halt and its code, or the end of the run.",
        update=_fate,
        label=str,
        source="6.4, 7, 11.1",
    ),
)
