"""Whether the claims leave a field of answer or state open: whether any other value that occurs refutes one of them.

Each field of `shown` and `after` is exchanged, one at a time, for other values that it takes in steps of the same
configuration.  A field that is not named here is determined in the steps that are looked at.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import islice
from typing import Any, cast

import pytest

from evenhand.core.freedom import freedom_of
from evenhand.core.kinds import Property, Safety
from evenhand.core.property import each_step
from evenhand.core.registry import find
from evenhand.core.system import AnyStep, AnySystem, Step
from tests.properties.determining import Rival, determined

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


# Every combination of values, and the least set of claims that leaves none but the reference's.

COMPILER = {
    "empty_step_is_as_read",
    "errors_are_exactly_the_broken_rules",
    "every_step_moves_on_by_one",
    "executions_record_what_they_violate",
    "failed_compile_halts",
    "fields_are_as_written",
    "gridlock_iff_all_forbidden",
    "halt_and_gridlock_are_distinct",
    "malformed_artifact_is_refused",
    "mask_forbids_exactly_rule_1",
    "masks_wait_for_a_selection",
    "only_malformed_artifacts_go_unread",
    "permitted_is_feasible_minus_forbidden",
    "precedent_is_kept_as_read",
    "revisions_are_logged",
    "selectors_choose_as_named",
    "steps_show_their_kind",
    "submissions_arrive_unchanged",
    "submissions_execute_nothing",
}
"""The claims that determine every step of `apcm`'s universe, as docs/explanation/apcm.md has them."""


def searched(every: int, places: Sequence[int]) -> tuple[int, set[str]]:
    """Return how many steps of these situations of the universe were looked at, and the claims that are needed.

    Nothing may be open.
    """
    bundle = find("apcm")
    universe, claims = bundle.model.systems["universe"], bundle.claims_of("universe")
    few = [claim for claim in claims if claim.name in COMPILER]
    looked, needed = 0, set[str]()
    configs = list(universe.all_configs())
    for config in [configs[place] for place in places]:
        steps = first_steps(universe, config)
        found = determined(claims, steps, every)
        alone = determined(few, steps, every, needs=False)
        assert found.left_open == alone.left_open == ()
        for name, rival in found.needed.items():
            assert false_of(completed(rival, steps), claims) == {name}
        looked += alone.steps
        needed |= set(found.needed)
    return looked, needed


def completed(rival: Rival, steps: Sequence[AnyStep]) -> AnyStep:
    """The rival as a plain step: fields that no claim read are the reference's."""
    at = rival.step
    (own,) = (one for one in steps if (one.before, one.action) == (at.before, at.action))
    parts: dict[str, Any] = {"shown": own.shown, "after": own.after}
    for (part, name), value in rival.chosen:
        parts[part] = replace(parts[part], **{name: value})
    return replace(own, **parts)


def false_of(step: AnyStep, claims: Sequence[Property]) -> set[str]:
    """The claims about one step that it refutes."""
    asked = [one for one in claims if isinstance(one, Safety) and one.reads != "histories"]
    return {one.name for one in asked if one.applies(step.config) and refuted(one, step)}


def test_nineteen_claims_determine_the_compiler_and_each_is_needed() -> None:
    """Each is alone in telling some rival apart, and together they tell all: no other set is as small."""
    looked, needed = searched(3, (0, 24, 31))
    assert looked > 30 and needed == COMPILER


@pytest.mark.deep
def test_they_determine_every_step_of_the_universe() -> None:
    """All situations of the standard scope, every artefact, hostile ones included."""
    bundle, looked = find("apcm"), 0
    universe = bundle.model.systems["universe"]
    few = [claim for claim in bundle.claims_of("universe") if claim.name in COMPILER]
    for config in universe.all_configs():
        found = determined(few, first_steps(universe, config), needs=False)
        assert found.left_open == ()
        looked += found.steps
    assert looked == 2824


@pytest.mark.parametrize(("name", "apart"), [("run", 3), ("agents", 100)])
def test_no_combination_of_values_satisfies_every_claim(name: str, apart: int) -> None:
    """Runs with a previous artefact, and agents that write artefacts themselves."""
    bundle = find("apcm")
    system = bundle.model.systems[name]
    for config in islice(system.all_configs(), 0, None, apart):
        steps = first_steps(system, config)
        found = determined(bundle.claims_of(name), steps, max(1, len(steps) // 8), needs=False)
        assert found.steps and found.left_open == ()


@dataclass(frozen=True)
class Two:
    """Two numbers."""

    left: int = 0
    right: int = 0


TWO: list[AnyStep] = [Step(None, 0, None, Two(one, one), one) for one in range(3)]


@each_step("The left one is what follows.")
def left(step: Step[None, int, int, Two]) -> bool:
    """Reads one field and the state."""
    return step.shown.left == step.after


@each_step("Both are alike.")
def alike(step: Step[None, int, int, Two]) -> bool:
    """Reads two fields."""
    return step.shown.left == step.shown.right


@each_step("Nothing is what follows.")
def zero(step: Step[None, int, int, Two]) -> bool:
    """Reads a state that is no record."""
    return step.after == 0


@each_step("Both are what follows.")
def whole(step: Step[None, int, int, Two]) -> bool:
    """Compares a whole record."""
    return step.shown == Two(step.after, step.after)


@pytest.mark.parametrize(
    ("claims", "open_", "needed"),
    [
        ((left, alike, zero), (), 3),
        ((whole, zero), (), 2),
        ((whole, zero, left), (), 2),
        ((left, zero), ("shown.right",), 2),
        ((whole,), ("after", "shown.left", "shown.right"), 1),
    ],
)
def test_what_two_numbers_leave_open(claims: Sequence[Safety], open_: tuple[str, ...], needed: int) -> None:
    """By hand, of the step to zero: a claim that follows from another is not needed."""
    found = determined(claims, TWO, 3)
    assert (found.left_open, len(found.needed)) == (open_, needed)


def test_without_a_needed_claim_some_rival_is_left() -> None:
    """Nothing else says that what is compiled was submitted."""
    bundle = find("apcm")
    universe = bundle.model.systems["universe"]
    steps = first_steps(universe, next(iter(universe.all_configs())))
    claims = [one for one in bundle.claims_of("universe") if one.name != "submissions_arrive_unchanged"]
    assert "shown.artifact" in determined(claims, steps, len(steps), needs=False).left_open
