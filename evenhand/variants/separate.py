"""Compare two systems in lockstep: find the smallest scenario on which they show something different.

A reading, a mutant and a real implementation are *variants*: other rules, or another reading in the configuration,
under one vocabulary.  Variant and reference take the same actions, each in its own state; they are compared on `shown`
and on what the given observers read, because other state is private.  The pair is a system too, so search, machine,
shrinker and judge work on it.  Differences of hidden state are recorded, because a claim may depend on them.

Not separated has two meanings: every reachable pair of states was visited (`complete`: equal in this scope), or the
bound was reached and drawing found nothing (not known).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, TypedDict, Unpack, cast

from evenhand.core.answers import known_names
from evenhand.core.generator import Draw, Generator, Rule
from evenhand.core.observer import ObservedState, Observer, Seen, observing
from evenhand.core.property import EachStep
from evenhand.core.system import AnyStep, AnySystem, Joint, Scope, System
from evenhand.core.trace import AnyScenario, Scenario, replay
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import first_refuted_step, refutes
from evenhand.evidence.shrink import shrink
from evenhand.machine import fuzz


@dataclass(frozen=True)
class Separation:
    """The result of comparing two systems.

    `scenario` is the smallest one found on which they differ, in its last step, or None.  `complete`: every reachable
    pair of states was visited, and some step compared, so that None means equal in what is shown and read.
    `same_state`: no compared step led to different states; with `complete`, no claim of any kind distinguishes the two.
    `minimal`: every shorter scenario of the scope was compared.  `shown` is what reference and variant show in the last
    step, `read` what observers read where they differ in that.  `states` counts the pairs of states, `steps` the steps
    compared.
    """

    reference: str
    variant: str
    scenario: AnyScenario | None
    shown: tuple[Any, Any] | None
    complete: bool
    states: int
    steps: int
    because: str
    same_state: bool = False
    minimal: bool = False
    read: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None

    @property
    def by(self) -> Literal["shown", "observed", ""]:
        """Return the separating part: observations, else the values that observers read."""
        if self.shown is None:
            return ""
        return "shown" if self.shown[0] != self.shown[1] else "observed"

    @property
    def separated(self) -> bool:
        """Whether a scenario separates the two."""
        return self.scenario is not None

    @property
    def equal(self) -> bool:
        """Whether the whole scope was visited and nothing separates the two."""
        return self.complete and self.scenario is None

    @property
    def length(self) -> int | None:
        """The number of actions of the scenario; None without one."""
        return None if self.scenario is None else len(self.scenario.actions)


class SeparateOptions(TypedDict, total=False):
    """The bounds: `max_states` pairs and `max_steps` of the search, then `examples` drawn runs of `steps` actions."""

    max_states: int
    max_steps: int
    examples: int
    steps: int
    seed: int
    generator: Generator | None


def separate(
    reference: AnySystem,
    variant: AnySystem,
    *,
    observers: Sequence[Observer] = (),
    forced: bool = False,
    configs: Iterable[Any] | None = None,
    **effort: Unpack[SeparateOptions],
) -> Separation:
    """Find the smallest scenario on which `reference` and `variant` show, or observers read, something different.

    Breadth-first over pairs of states, from every configuration (or from `configs`), up to `max_states` (50,000) and
    `max_steps` (1,000,000); where that does not finish, `examples` (200; 0: none) drawn runs as `fuzz` draws them, with
    `generator` if given.  With `forced`, a different action where both have exactly one action on offer separates as
    well.  The scenario found is shrunk.  Raises ValueError for systems of different names.
    """
    known_names("separate", effort, SeparateOptions)
    if reference.name != variant.name:
        raise ValueError(f"{reference.name!r} and {variant.name!r} are two systems, not two variants of one")
    watched = observing(reference, observers, forced=forced), observing(variant, observers, forced=forced)
    both = lockstep(*watched)
    most = effort.get("max_states", 50_000), effort.get("max_steps", 1_000_000)
    search = _Search(both, _menu(*watched), *most)
    scenario = search.run(both.all_configs() if configs is None else configs)
    states, taken, minimal = len(search.parents), search.steps, scenario is not None
    complete = search.complete and scenario is None and search.steps > 0
    examples = effort.get("examples", 200)
    if scenario is None and not complete and examples:
        generator, steps, seed = _lifted(effort.get("generator")), effort.get("steps", 20), effort.get("seed", 0)
        drawn = fuzz(both, (_AGREE,), generator, examples=examples, steps=steps, seed=seed)
        taken += drawn.steps
        evidence = drawn.verdicts[0].evidence
        scenario = evidence if isinstance(evidence, Scenario) else None
    found = Separation(
        _label(reference, variant),
        _label(variant, reference),
        None,
        None,
        complete,
        states,
        taken,
        f"not separated by {taken} steps from {states} pairs of states; the scope has more",
        search.same_state,
    )
    if complete:
        hidden = "" if search.same_state else "; states differ in unobserved parts, which a claim may read"
        because = f"equal in scope {reference.scope}: all {states} pairs of states were visited{hidden}"
        found = replace(found, because=because)
    return found if scenario is None else _with_difference(both, scenario, found, minimal)


def _with_difference(both: AnySystem, scenario: AnyScenario, found: Separation, minimal: bool) -> Separation:
    """`found` with the separating scenario, shrunk, and its difference; `minimal`: it is a shortest one."""
    scenario = _smallest(both, scenario)
    one, two = cast("tuple[Seen, Seen]", replay(both, scenario).steps[-1].shown)
    ours, theirs = dict(one.read), dict(two.read)
    names = [name for name in ours if ours[name] != theirs[name]]
    length = len(scenario.actions)
    if one.shown != two.shown:
        because = f"after {length} actions the one shows {one.shown!r}, the other {two.shown!r}"
    else:
        formatted = "; ".join(f"{name} is {ours[name]!r} for the one, {theirs[name]!r} for the other" for name in names)
        because = f"after {length} actions both show the same, but {formatted}"
    return replace(
        found,
        scenario=replace(scenario, start=scenario.start[0].state),
        shown=(one.shown, two.shown),
        because=because,
        minimal=minimal,
        read=({name: ours[name] for name in names}, {name: theirs[name] for name in names}) if names else None,
    )


def _label(system: AnySystem, other: AnySystem) -> str:
    """The variant's name, with the readings in which it differs from the other."""
    record = system.readings
    if not is_dataclass(record) or isinstance(record, type) or type(record) is not type(other.readings):
        return system.variant
    names = [
        entry.name for entry in fields(record) if getattr(record, entry.name) != getattr(other.readings, entry.name)
    ]
    return " ".join((system.variant, *(f"{name}={getattr(record, name)}" for name in names)))


def lockstep(reference: AnySystem, variant: AnySystem) -> AnySystem:
    """Return the system that runs both: its states and what it shows are pairs, reference first.

    Configurations and actions are the reference's; the variant's configuration is the same with its own readings.  On
    offer are the reference's actions and, where the two states differ, the variant's.
    """
    theirs = counterpart(reference, variant)
    offered = _menu(reference, variant)

    def step(_rules: Any, config: Any, state: tuple[Any, Any], action: Any) -> tuple[Any, Any]:
        after, shown = reference.step(reference.rules, config, state[0], action)
        beside, formatted = variant.step(variant.rules, theirs(config), state[1], action)
        return (after, beside), (shown, formatted)

    def allows(config: Any, state: tuple[Any, Any], action: Any) -> bool:
        return reference.is_enabled(config, state[0], action) or (
            state[0] != state[1] and variant.is_enabled(theirs(config), state[1], action)
        )

    def smaller(config: Any, start: tuple[Any, Any]) -> Iterator[tuple[Any, tuple[Any, Any]]]:
        for simpler, first in reference.smaller(config, start[0]):
            yield simpler, (first, first)

    joint = reference.joint
    return System(
        name=reference.name,
        rules=None,
        configs=reference.configs,
        initial=lambda config: ((start, start) for start in reference.initial(config)),
        step=step,
        actions=(lambda config, _scope, state: offered(config, state)) if joint is None else None,
        joint=None
        if joint is None
        else Joint(
            lambda config, state: joint.agents(config, state[0]),
            lambda config, scope, state, agent: joint.choices(config, scope, state[0], agent),
            lambda config, state, made: joint.join(config, state[0], made),
            joint.split,
        ),
        scope=reference.scope,
        readings=reference.readings,
        smaller=smaller,
        allows=allows,
        variant=f"{reference.variant}+{variant.variant}",
    )


def _menu(reference: AnySystem, variant: AnySystem) -> Callable[[Any, Any], Iterator[Any]]:
    """The function from (config, pair of states) to the actions of `lockstep`, joint actions included."""
    theirs = counterpart(reference, variant)

    def offered(config: Any, state: tuple[Any, Any]) -> Iterator[Any]:
        if state[0] == state[1]:
            yield from reference.enabled(config, state[0])
            return
        # By the listed actions, not by `is_enabled`: a system may allow more than it puts on offer.
        listed = dict.fromkeys(reference.enabled(config, state[0]))
        yield from listed
        yield from (action for action in variant.enabled(theirs(config), state[1]) if action not in listed)

    return offered


def counterpart(reference: AnySystem, variant: AnySystem) -> Callable[[Any], Any]:
    """Return the function from a configuration of the reference to the same one with the variant's readings."""
    if reference.readings == variant.readings:
        return lambda config: config
    kind = cast("type[Any]", type(reference.readings))

    def theirs(config: Any) -> Any:
        if not is_dataclass(config) or isinstance(config, type):
            return config
        held = [entry.name for entry in fields(config) if isinstance(getattr(config, entry.name), kind)]
        return replace(config, **dict.fromkeys(held, variant.readings))

    return theirs


def _agree(step: AnyStep) -> bool:
    return bool(step.shown[0] == step.shown[1])


_AGREE = EachStep(name="shows_the_same", sentence="Both variants show the same in every step.", check=_agree)
"""The claim that a separating scenario refutes, about the steps of `lockstep`."""


@dataclass
class _Search:
    """A breadth-first search of all configurations at once, so that the first difference found is a nearest one."""

    both: AnySystem
    offered: Callable[[Any, Any], Iterator[Any]]
    max_states: int
    max_steps: int
    complete: bool = True
    same_state: bool = True
    steps: int = 0
    cases: list[Any] = field(default_factory=list[Any])
    parents: dict[tuple[int, Any], tuple[tuple[int, Any], Any] | None] = field(
        default_factory=dict[tuple[int, Any], tuple[tuple[int, Any], Any] | None]
    )

    def run(self, configs: Iterable[Any]) -> AnyScenario | None:
        """Return a shortest separating scenario; None if there is none, or none within the bounds."""
        queue = deque(self._starts(configs))
        while queue:
            here = queue.popleft()
            config = self.cases[here[0]]
            for action in self.offered(config, here[1]):
                if self.steps >= self.max_steps:
                    self.complete = False
                    return None
                step = self.both.take(config, here[1], action)
                self.steps += 1
                ours, theirs = cast("tuple[ObservedState, ObservedState]", step.after)
                self.same_state = self.same_state and ours.state == theirs.state
                if not _AGREE.check(step):
                    return self._path(here, action)
                there = (here[0], step.after)
                if there not in self.parents and self._room():
                    self.parents[there] = (here, action)
                    queue.append(there)
        return None

    def _starts(self, configs: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        for number, config in enumerate(configs):
            self.cases.append(config)
            for start in self.both.initial(config):
                if (number, start) not in self.parents:
                    if not self._room():
                        return
                    self.parents[number, start] = None
                    yield number, start

    def _room(self) -> bool:
        self.complete = self.complete and len(self.parents) < self.max_states
        return len(self.parents) < self.max_states

    def _path(self, here: tuple[int, Any], action: Any) -> AnyScenario:
        """The path from an initial state to `here`, and one action more."""
        actions, place = [action], here
        while (came := self.parents[place]) is not None:
            place = came[0]
            actions.append(came[1])
        return Scenario(self.cases[place[0]], place[1], tuple(reversed(actions)))


def _smallest(both: AnySystem, scenario: AnyScenario) -> AnyScenario:
    """The scenario shrunk, and cut where the two first differ."""

    def differs(evidence: Evidence) -> bool:
        return refutes(both, _AGREE, evidence)

    small = shrink(both, scenario, differs)
    assert isinstance(small, Scenario)
    return replace(small, actions=small.actions[: first_refuted_step(both, _AGREE, small)])


def _lifted(generator: Generator | None) -> Generator | None:
    """The generator for pairs of observed states: it sees the reference's state."""
    if generator is None:
        return None

    def lift(rule: Rule) -> Rule:
        def draw(drawn: Draw, config: Any, scope: Scope, state: Any) -> Any:
            return rule.draw(drawn, config, scope, state[0].state)

        def possible(config: Any, state: Any) -> bool:
            return rule.possible(config, state[0].state)

        return replace(rule, draw=draw, possible=possible)

    return replace(generator, rules=tuple(map(lift, generator.rules)), events=())
