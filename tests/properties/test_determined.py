"""Whether the claims leave a field of answer or state open: whether any other value that occurs refutes one of them.

Each field of `shown` and `after` is exchanged, one at a time, for other values that it takes in steps of the same
configuration.  A field that is not named here is determined in the steps that are looked at.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any, cast

import pytest

from evenhand.core.freedom import freedom_of
from evenhand.core.kinds import Safety
from evenhand.core.registry import find
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
    """The fields of a record whose content the text determines, if not its order; none of what is no record."""
    if not is_dataclass(part):
        return ()
    free = {name for name, freedom in freedom_of(cast("Any", type(part))).items() if freedom.free != "orders"}
    return tuple(entry.name for entry in fields(part) if entry.name not in free)


def content(part: Any, name: str, value: Any) -> Any:
    """What of a field's value the text determines: how often each entry occurs where their order is free."""
    return Counter[Any](value) if name in freedom_of(cast("Any", type(part))) else value


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
                if not hasattr(usual, name):
                    continue
                own = content(usual, name, getattr(usual, name))
                others = [value for value in seen[part, name] if content(usual, name, value) != own]
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


ONE_POINT = {"budget": 1, "stake": 1, "texts": 0}
DETERMINED: Sequence[tuple[str, str, Mapping[str, int]]] = (
    ("markspace", "first_writer", {}),
    ("markspace", "highest_confidence", {}),
    ("markspace", "yield_all", {}),
    ("markspace", "deferred", {}),
    ("markspace", "meddled", {}),
    ("markspace", "scheduling", {}),
    ("conviction", "issue", {"budget": 2, "cycles": 1, "rounds": 1, "texts": 2, "stake": 1}),
    ("conviction", "trio", {**ONE_POINT, "agents": 2, "outsiders": 1}),
)
GAPS: Sequence[tuple[str, str, Mapping[str, int], set[str]]] = (
    # Several layers may forbid a write, and the text gives no order; activity without a canary shows nowhere.
    ("markspace", "layers", {"marks": 2}, {"shown.by", "after.probing"}),
    ("markspace", "composing", {}, {"shown.connected", "shown.overpromised"}),
    ("conviction", "series", ONE_POINT, {"after.proposals"}),
)


def of(protocol: str, name: str, sizes: Mapping[str, int], *but: str) -> set[str]:
    """What the claims of a system leave open there."""
    bundle = find(protocol)
    claims = [one for one in bundle.claims_of(name) if isinstance(one, Safety) and one.name not in but]
    return left_open(bundle.model.systems[name].at(**sizes), claims)


@pytest.mark.parametrize(("protocol", "name", "sizes"), DETERMINED)
def test_no_other_value_satisfies_every_claim(protocol: str, name: str, sizes: Mapping[str, int]) -> None:
    """Answer and state afterwards are determined, one field at a time, among the values that occur."""
    assert of(protocol, name, sizes) == set()


@pytest.mark.parametrize(("protocol", "name", "sizes", "gaps"), GAPS)
def test_what_is_left_open_is_listed(protocol: str, name: str, sizes: Mapping[str, int], gaps: set[str]) -> None:
    """A claim that closes a gap takes it from the list."""
    assert of(protocol, name, sizes) == gaps


def test_without_the_claim_on_it_a_field_is_open() -> None:
    """Activities and the clock are each claimed once."""
    assert of("markspace", "first_writer", {}, "activities_follow_the_answers") == {"after.doing"}
    assert "after.turn" in of("conviction", "issue", ONE_POINT, "the_clock_moves_as_stated")
