"""Find the readings of the text under which a kernel would have shown what the model shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from evenhand.conform.adapters.kernels import KernelResponse
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.divergence import Divergence, as_told
from evenhand.core.system import reading_values
from evenhand.core.trace import AnyScenario


def agreeing_readings(coder: Coder, divergence: Divergence) -> Iterator[tuple[str, str]]:
    """Yield NAME=VALUE of each other reading under which a run does not differ, and the sentence that it settles.

    One at a time.  The kernel is not asked again: its answers are compared with what the model shows so read.
    """
    scenario, said = divergence.scenario, divergence.said
    readings = getattr(scenario.config, "readings", None)
    if divergence.what != "differs" or said is None or not is_dataclass(readings):
        return
    about = {one.name: one.metadata.get("sentence", "") for one in fields(readings)}
    for name, values in reading_values(readings).items():
        for value in values:
            if value != getattr(readings, name) and _agrees(coder, scenario, said, {name: value}):
                yield f"{name}={value}", about[name]


def _agrees(coder: Coder, scenario: AnyScenario, said: KernelResponse, chosen: dict[str, Any]) -> bool:
    config = replace(scenario.config, readings=replace(scenario.config.readings, **chosen))
    try:
        return as_told(coder, coder.trace(replace(scenario, config=config)), said)
    except Exception:  # so read, the model may refuse the run
        return False
