"""Two variants side by side: separated by the smallest scenario, proved equal in scope, or not known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import strategies as st

from evenhand.core.generator import Draw, Event, Generator, Rule
from evenhand.core.system import AnyStep, Scope, System, reading
from evenhand.core.trace import Scenario, replay
from evenhand.variants.separate import Separation, lockstep, separate
from tests.models import counter, lock, naive

MUTANTS = {
    "careless": (lock.CARELESS, 4),
    "favours_first": (lock.FAVOURS_FIRST, 4),
    "jams": (lock.JAMS, 4),
    "seals": (lock.SEALS, 4),
}


def differ(found: Separation, reference: Any, variant: Any) -> list[bool]:
    """Replay the variants separately; return whether their observations differ, step by step."""
    assert isinstance(found.scenario, Scenario)
    ours, theirs = replay(reference, found.scenario), replay(variant, found.scenario)
    return [one.shown != two.shown for one, two in zip(ours.steps, theirs.steps, strict=True)]


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_separated_by_a_shortest_scenario(name: str) -> None:
    """The last step differs, no earlier one does, and no shorter run of the lock separates them."""
    rules, least = MUTANTS[name]
    reference, variant = lock.lock(3), lock.lock(3, rules, name)
    found = separate(reference, variant)
    assert found.separated and not found.equal
    assert differ(found, reference, variant) == [False] * (least - 1) + [True]
    assert (found.reference, found.variant, found.length) == ("reference", name, least)

    def apart(steps: list[AnyStep]) -> bool:
        scenario = Scenario(steps[0].config, steps[0].before, tuple(step.action for step in steps)) if steps else None
        return scenario is not None and [s.shown for s in replay(variant, scenario).steps] != [s.shown for s in steps]

    assert naive.shortest_failing(reference, apart, least) == least


def test_joint_actions_are_lowered_and_the_configuration_is_the_simplest() -> None:
    """Two agents, one unit in total, one each: the smallest form of the arbitration."""
    found = separate(counter.counter(3, 4), counter.counter(3, 4, rules=counter.FIRST_COME, variant="first_come"))
    assert found.scenario is not None
    assert (len(found.scenario.config.agents), found.scenario.config.budget, found.length) == (2, 1, 1)
    assert found.shown is not None
    assert (found.shown[0], len(found.shown[1])) == ((), 1)


def test_equal_means_that_all_pairs_of_states_were_visited() -> None:
    """As many as the reference has states, if the two never differ."""
    found = separate(lock.lock(3), lock.lock(3, replace(lock.REFERENCE), "copy"))
    assert found.equal and not found.separated
    assert found.states == len(naive.reachable_states(lock.lock(3)))
    assert "equal in scope processes=3" in found.because


@pytest.mark.parametrize("bounds", [{"max_states": 19}, {"max_steps": 119}])
def test_a_bound_that_was_hit_is_never_equality(bounds: dict[str, int]) -> None:
    """There are 20 states and 120 steps; with one less of either the result is unknown."""
    copy = lock.lock(3, replace(lock.REFERENCE), "copy")
    assert separate(lock.lock(3), copy, max_states=20, max_steps=120).equal
    short: Any = bounds
    found = separate(lock.lock(3), copy, examples=0, **short)
    assert not found.equal and not found.separated
    assert "the scope has more" in found.because


def test_what_the_variant_alone_offers_is_compared_though_the_reference_would_take_it() -> None:
    """A door that stays open offers "enter"; one that shuts offers nothing and accepts any knock silently."""

    def step(stays: bool, _config: str, state: str, action: str) -> tuple[str, str]:
        if action == "push":
            return ("open" if stays else "shut"), ""
        return state, "entered" if state == "open" else ""

    def door(stays: bool, variant: str) -> System[str, str, str, str, bool]:
        return System(
            name="door",
            rules=stays,
            configs=lambda _scope, _readings: ("door",),
            initial=lambda _config: ("ajar",),
            step=step,
            actions=lambda _config, _scope, state: {"ajar": ("push",), "open": ("enter",)}.get(state, ()),
            allows=lambda _config, _state, _action: True,
            scope=Scope(),
            readings=None,
            variant=variant,
        )

    found = separate(door(False, "reference"), door(True, "stays"), examples=0)
    assert found.scenario is not None and found.scenario.actions == ("push", "enter")


def test_no_configuration_is_no_equality() -> None:
    """Nothing is compared, so the result is unknown."""
    assert not separate(lock.lock(3), lock.lock(3), configs=(), examples=0).equal


@pytest.mark.slow
def test_drawing_goes_on_where_the_search_stops() -> None:
    """Three states are not enough to search; drawn runs find the difference and shrink it to its minimum."""
    reference, variant = lock.lock(3), lock.lock(3, lock.CARELESS, "careless")
    assert not separate(reference, variant, max_states=3, examples=0).separated
    found = separate(reference, variant, max_states=3)
    assert found.length == 4 and not found.complete
    assert differ(found, reference, variant)[-1]
    assert separate(reference, variant, max_states=3) == found, "same seed, same scenario"


def test_a_generator_draws_for_the_reference_s_state() -> None:
    """A rule that only flies finds actions that menus do not offer."""

    def flying(config: lock.Config, state: lock.State, process: str) -> bool:
        return lock.nobody_inside(config, state, process)

    def step(rules: lock.Rules, config: lock.Config, state: lock.State, act: lock.Act) -> tuple[lock.State, str]:
        return (state, "flies") if act.verb == "fly" else lock.step(rules, config, state, act)

    def fly(draw: Draw, config: lock.Config, _scope: Scope, state: lock.State) -> lock.Act:
        assert isinstance(state, lock.State)
        return lock.Act("fly", draw(st.sampled_from(config.processes)))

    def configs(_scope: Scope, _readings: Any) -> Any:
        return st.just(next(iter(lock.lock(2).all_configs())))

    generator = Generator(
        "lock", configs, (Rule("fly", fly, hostile=True),), (Event("never", lambda _step: False, floor=10**9),)
    )
    variant = replace(lock.lock(2, replace(lock.REFERENCE, may_enter=flying), "flying"), step=step)
    assert separate(lock.lock(2), variant).equal, "no menu offers flying"
    found = separate(lock.lock(2), variant, max_states=2, generator=generator)
    assert found.length == 1
    assert found.shown == ("refused", "flies")


@dataclass(frozen=True)
class Readings:
    """Whether waiting is shown."""

    quiet: bool = reading(False, True, sentence="The text does not say.")


@dataclass(frozen=True)
class Config:
    """A configuration with its readings."""

    name: str
    readings: Readings


def blinker() -> System[Config, int, str, str, None]:
    """Return a light that goes on at the second push; under the quiet reading the push itself is not shown."""

    def step(_rules: None, config: Config, state: int, action: str) -> tuple[int, str]:
        shown = "on" if state == 1 else "" if config.readings.quiet else action
        return min(2, state + 1), shown

    return System(
        "blinker",
        None,
        lambda _scope, readings: [Config("only", readings)],
        lambda _config: (0,),
        step,
        actions=lambda _config, _scope, state: ("push",) if state < 2 else (),
        readings=Readings(),
    )


def test_a_reading_is_told_apart_in_the_reference_s_configuration() -> None:
    """The variant's configuration is the same with its own readings; the scenario keeps the reference's."""
    found = separate(blinker(), blinker().under(quiet=True))
    assert found.length == 1 and found.scenario is not None
    assert found.scenario.config == Config("only", Readings())
    assert found.shown == ("push", "")
    assert (found.reference, found.variant) == ("reference quiet=False", "reference quiet=True")
    assert separate(blinker(), blinker()).equal


def test_two_systems_are_no_variants() -> None:
    """The error says so."""
    with pytest.raises(ValueError, match="two systems"):
        separate(lock.lock(), counter.counter())


def test_lockstep_offers_what_either_offers_once_states_differ() -> None:
    """After a jammed leave, the reference may ask and the variant may not; both actions are offered."""
    both = lockstep(lock.lock(1), lock.lock(1, lock.JAMS, "jams"))
    config = next(iter(both.all_configs()))
    start = next(iter(both.initial(config)))
    left = start[0].moved("p0", "waiting")
    verbs = [act.verb for act in both.enabled(config, (start[0], left))]
    assert verbs == ["idle", "ask", "enter"]
    assert both.is_enabled(config, (start[0], left), lock.Act("enter", "p0"))
    assert not both.is_enabled(config, start, lock.Act("enter", "p0"))
