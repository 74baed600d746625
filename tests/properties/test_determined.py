"""Whether the claims leave a field of answer or state open: whether any other value that occurs refutes one of them.

Each field of `shown` and `after` is exchanged, one at a time, for other values that it takes in steps of the same
configuration.  A field that is not named here is determined in the steps that are looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any

from evenhand.core.freedom import freedom_of
from evenhand.core.kinds import Safety
from evenhand.core.system import AnyStep, AnySystem

STEPS, VALUES = 30, 6
"""Steps of a configuration that are looked at, evenly spread over its first thousand; other values of each field."""

CONFIGS = 13
"""Configurations of a system that are looked at."""


def first_steps(system: AnySystem, config: Any) -> list[AnyStep]:
    """The first thousand steps of one configuration, breadth first."""
    states = list(system.initial(config))
    known, found = set(states), list[AnyStep]()
    for state in states:
        for action in islice(system.enabled(config, state), 1_000 - len(found)):
            found.append(system.take(config, state, action))
            if found[-1].after not in known:
                known.add(found[-1].after)
                states.append(found[-1].after)
    return found


def names_of(part: Any) -> tuple[str, ...]:
    """The fields of a record whose content the text determines; none of what is no record."""
    kind: Any = type(part)
    if not is_dataclass(part):
        return ()
    return tuple(entry.name for entry in fields(kind) if entry.name not in freedom_of(kind))


def left_open(system: AnySystem, claims: Sequence[Safety]) -> set[str]:
    """The fields of `shown` and `after` that may have another value which occurs, for all the claims."""
    found: set[str] = set()
    for config in islice(system.all_configs(), CONFIGS):
        steps = first_steps(system, config)
        asked = [claim for claim in claims if claim.reads != "histories" and claim.applies(config)]
        seen: dict[tuple[str, str], dict[Any, None]] = defaultdict(dict)
        for step in steps:
            for part in ("shown", "after"):
                for name in names_of(getattr(step, part)):
                    seen[part, name][getattr(getattr(step, part), name)] = None
        for step in steps[:: max(1, len(steps) // STEPS)]:
            holding = [claim for claim in asked if claim.at(config, None, step) is not False]
            for part, name in seen:
                usual = getattr(step, part)
                others = [value for value in seen[part, name] if value != getattr(usual, name, value)]
                for value in others[:: max(1, len(others) // VALUES)]:
                    other = replace(step, **{part: replace(usual, **{name: value})})
                    if not any(refuted(claim, other) for claim in holding):
                        found.add(f"{part}.{name}")
    return found


def refuted(claim: Safety, step: AnyStep) -> bool:
    """Whether the claim is false of the step; a claim that cannot be evaluated there tells the step apart as well."""
    try:
        return claim.at(step.config, None, step) is False
    except Exception:  # of a value that does not fit the others
        return True


OPEN: Sequence[tuple[str, str, Mapping[str, int], set[str]]] = (
    ("markspace", "layers", {"marks": 2}, {"shown.by", "after.probing"}),
    ("markspace", "composing", {}, set()),
    ("markspace", "scheduling", {}, set()),
)
