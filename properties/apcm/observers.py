"""What became of a run of the justification compiler: the class of its last submission."""

from __future__ import annotations

from evenhand.core.observer import Observer
from evenhand.core.property import AnyStep
from evenhand.model.apcm.vocabulary import Config, Shown

__all__ = ["OBSERVERS"]


def _fate(value: str | None, step: AnyStep) -> str | None:
    """How the last submission ended; a selection changes nothing about it."""
    shown: Shown = step.shown
    if shown.kind != "submit":
        return value
    if shown.invalid:
        return f"INVALID_RUN/{shown.invalid[0].code}"
    if shown.halt:
        return f"HALT/{shown.compile_error_code or 'GRIDLOCK'}"
    return "GRIDLOCK" if shown.gridlock else "PERMITS"


def _read(_config: Config, value: str | None) -> str | None:
    return value


OBSERVERS: tuple[Observer, ...] = (
    Observer(
        name="fate",
        sentence="How the last submission ended: a permission, a gridlock, a halt and its code, or the end of the run.",
        start=lambda _config: None,
        update=_fate,
        read=_read,
        label=str,
    ),
)
"""Every observer of this protocol."""
