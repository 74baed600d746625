"""A second run beside the walked one: the same actions in another variant, or the second run of a 2-safety claim."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from evenhand.core.kinds import Property
from evenhand.core.lookup import UnknownName
from evenhand.core.observer import Seen, observing
from evenhand.core.relations import Paired
from evenhand.core.system import AnySystem, reading_values
from evenhand.core.text import changes, describe
from evenhand.core.trace import AnyTrace, Pair, Scenario, Trace, replay
from evenhand.evidence.second_runs import at_step, compared
from evenhand.evidence.story import Story, story_of_trace
from evenhand.jobs.plan import chosen_readings, written_value
from evenhand.variants.separate import counterpart, separate
from evenhand.web.position import Position

MOST_STEPS = 20_000
"""Steps compared in search of a run that separates two variants."""

TWINS = 200
"""Second steps of a 2-safety claim that are looked at."""


@dataclass(frozen=True)
class StepDifference:
    """The difference of two steps with the same number: in observations (and readouts), and in the state after."""

    shown: tuple[str, ...]
    state: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether they differ at all."""
        return bool(self.shown or self.state)


@dataclass(frozen=True)
class SideBySide:
    """Two runs side by side, with their differences step by step."""

    left_name: str
    right_name: str
    left: Story
    right: Story
    differences: tuple[StepDifference, ...]
    note: str

    @property
    def first(self) -> int | None:
        """The number of the first step that shows something else, or None."""
        return next((number for number, one in enumerate(self.differences, 1) if one.shown), None)


def variants(place: Position) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the mutants, and every other value of each reading whose values can be listed."""
    mutants = tuple(
        f"mutant:{one.name}"
        for one in place.bundle.model.mutants
        if one.system == place.system.name and one.name != place.system.variant
    )
    reference = () if place.system.variant == "reference" else ("mutant:reference",)
    readings = tuple(
        f"reading:{name}={written_value(value)}"
        for name, values in reading_values(place.system.readings).items()
        for value in values
        if value != place.readings[name]
    )
    return (("mutants", (*reference, *mutants)), ("readings", readings))


def other_system(place: Position, name: str) -> AnySystem:
    """Return the compared system: `mutant:NAME`, or `reading:NAME=VALUE`.  Raises UnknownName, ValueError."""
    kind, _, note = name.partition(":")
    if kind == "reading":
        return place.system.under(**dict(chosen_readings(place.system, (note,))))
    if kind != "mutant":
        raise ValueError(f"{name!r} is neither mutant:NAME nor reading:NAME=VALUE")
    known = {one.name: one.rules for one in place.bundle.model.mutants if one.system == place.system.name}
    known["reference"] = place.bundle.model.systems[place.system.name].rules
    if note not in known:
        raise UnknownName(f"mutant of {place.system.name}:", note, known)
    return replace(place.system, rules=known[note], variant=note)


def variant_beside(place: Position, at: int, name: str) -> SideBySide:
    """Return the first `at` actions of the run, in the position's system and in a variant of it."""
    other = other_system(place, name)
    here = _shortened(place.scenario, at)
    there = replace(here, config=counterpart(place.system, other)(here.config))
    observers = place.bundle.observers_of(place.system.name)
    left, right = replay(place.system, here), replay(other, there)
    seen = [_seen(observing(system, observers), one) for system, one in ((place.system, here), (other, there))]
    differences = tuple(
        StepDifference(_changed(one, two), _changed(mine.after, theirs.after))
        for one, two, mine, theirs in zip(*seen, left.steps, right.steps, strict=True)
    )
    first = next((n for n, one in enumerate(differences, 1) if one.shown), None)
    hidden = any(one.state for one in differences)
    note = (
        f"they first show something else in step {first}"
        if first
        else "both show the same in every step so far" + ("; their states differ" if hidden else "")
    )
    phases = place.bundle.phases
    return SideBySide(
        place.system.variant,
        name.partition(":")[2],
        story_of_trace(left, phases),
        story_of_trace(right, phases),
        differences,
        note,
    )


def _shortened(scenario: Scenario[Any, Any, Any], at: int) -> Scenario[Any, Any, Any]:
    return replace(scenario, actions=scenario.actions[:at])


def _seen(system: AnySystem, scenario: Scenario[Any, Any, Any]) -> list[Seen]:
    """Return for each step its observation and the values that observers read then."""
    starts = [state for state in system.initial(scenario.config) if state.state == scenario.start]
    if not starts:  # a start that is not initial has no observers
        return [Seen(None, ()) for _ in scenario.actions]
    return [step.shown for step in replay(system, replace(scenario, start=starts[0])).steps]


def _changed(one: Any, two: Any) -> tuple[str, ...]:
    return () if one == two else changes(one, two)


def separated(place: Position, name: str) -> tuple[Scenario[Any, Any, Any] | None, str]:
    """Return the smallest run from this configuration that separates system and variant, or None; and a note."""
    found = separate(
        place.system,
        other_system(place, name),
        observers=place.bundle.observers_of(place.system.name),
        configs=(place.scenario.config,),
        max_steps=MOST_STEPS,
        examples=0,
    )
    if found.scenario is not None:
        return found.scenario, f"a run of {len(found.scenario.actions)} steps tells them apart"
    return None, found.because


def pair_of(place: Position, claim: Property, at: int) -> SideBySide | str:
    """Return the two runs that a claim about pairs relates, as far as walked, or why there are not two."""
    if isinstance(place.evidence, Pair):
        whole = at >= place.steps
        first = _shortened(place.evidence.left, at)
        second = place.evidence.right if whole else _shortened(place.evidence.right, at)
        note = f"related by {place.evidence.relation}" + ("" if whole else "; walk to the end to see both whole")
        return _two(place, replay(place.system, first), replay(place.system, second), note)
    if not isinstance(claim, Paired) or claim.reads != "steps":
        return "Let the claim choose: a claim of this kind compares two runs of the search, not a run with its twin."
    trace = replay(place.system, _shortened(place.scenario, at))
    if not trace.steps:
        return "Take a step: the second run is computed from the first, step by step."
    last = trace.steps[-1]
    every = tuple(islice(compared(place.system, claim, at_step(last, first=len(trace.steps) == 1)), TWINS))
    if not every:
        return "The last step has no twin under this claim."
    made = next((one for one in every if one.why), every[0])
    relation, other = describe(made.way, 160), made.right
    note = made.why or f"this twin agrees, and so do all {len(every)}"
    if other is None:
        return f"{note} ({relation}): the action is purged, and the second run takes no step."
    right = Trace(Scenario(other.config, other.before, (other.action,)), (other,))
    left = Trace(Scenario(last.config, last.before, (last.action,)), (last,))
    return _two(place, left, right, f"{note} ({relation})")


def _two(place: Position, left: AnyTrace, right: AnyTrace, note: str) -> SideBySide:
    phases = place.bundle.phases
    differences = tuple(
        StepDifference(_changed(mine.shown, theirs.shown), _changed(mine.after, theirs.after))
        for mine, theirs in zip(left.steps, right.steps, strict=False)
    )
    return SideBySide("first", "second", story_of_trace(left, phases), story_of_trace(right, phases), differences, note)
