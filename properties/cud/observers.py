"""Observers of a run: its classes, and the livelock counter of the harness."""

from __future__ import annotations

from typing import Any

from evenhand.core.observer import Observer
from evenhand.model.cud.classify import Tally, finish, start, update
from evenhand.model.cud.vocabulary import Config
from evenhand.properties.cud.predicates import is_over


def _classes(config: Config, value: tuple[Tally, bool]) -> tuple[tuple[str, Any], ...] | None:
    tally, over = value
    if not over:
        return None
    found = finish(config, tally)
    return (
        ("terminal", found.terminal),
        ("since", found.since),
        ("deadlocked", found.deadlocked),
        ("kernel", found.kernel),
    )


CLASSES = Observer(
    name="classes",
    sentence="The terminal class of a finished run, since when it holds, the deadlocked epochs, the kernel's class.",
    systems=("run", "conditions"),
    start=lambda config: (start(config), False),
    update=lambda value, step: (update(value[0], step), is_over(step.config, step.after)),
    read=_classes,
    label=lambda read: str(dict(read)["terminal"]),
    source="F18, FQ28, FQ34, G21",
)

COUNTER = Observer(
    name="livelock_counter",
    sentence="The livelock counter that the harness of the free-agent graph keeps.",
    systems=("free",),
    start=lambda _config: 0,
    update=lambda _value, step: int(step.after.counter),
    read=lambda _config, value: int(value),
)

OBSERVERS: tuple[Observer, ...] = (CLASSES, COUNTER)
