"""The conditions A to I.b, and our own that separate readings, as preregistered data.

A condition is a file: authorities, strategies, number of epochs, kernel, and one case per choice of readings with
the outcome that the text demands of it, worked out by hand.  `manifest.json` freezes them: a file whose canonical
SHA-256 is not the registered one is refused, so that an expectation cannot follow the model.

The kernel of condition E is the mutant that its file names.  The classifier of the run does not know it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from evenhand.core.canonical import Json
from evenhand.core.lookup import UnknownName
from evenhand.core.records import dataclass, replace
from evenhand.core.registered import VectorBroken, as_registered, shipped
from evenhand.core.system import Scope, System
from evenhand.core.trace import Scenario, Trace, replay
from evenhand.model.cud.classify import classify
from evenhand.model.cud.conditions.shape import read_condition
from evenhand.model.cud.kernel import REFERENCE, Rules
from evenhand.model.cud.mutants import mutant
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.run_system import RUN, playing
from evenhand.model.cud.step import initial
from evenhand.model.cud.vocabulary import Config, Epoch, Shown, State

__all__ = [
    "CONDITIONS",
    "THE_TEN",
    "Case",
    "Condition",
    "EpochOutcome",
    "Outcome",
    "VectorBroken",
    "condition",
    "conditions",
    "load",
    "observed",
    "play",
    "separations",
]

THE_TEN = ("A", "B", "C", "D", "E", "F", "G", "H", "I.a", "I.b")
"""The conditions of the text; the others separate readings that these do not."""

RunTrace = Trace[Config, State, Epoch, Shown]


@dataclass(frozen=True)
class EpochOutcome:
    """One epoch: tokens, fault sub-codes, messages and reasons for dropping one, each (agent, text), by agent."""

    outcomes: tuple[tuple[str, str], ...]
    exits: tuple[str, ...] = ()
    faults: tuple[tuple[str, str], ...] = ()
    messages: tuple[tuple[str, str], ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A whole run; `since` as in `Classification`."""

    epochs: tuple[EpochOutcome, ...]
    final_state: tuple[tuple[str, Any], ...]
    terminal: str
    kernel: str
    deadlocked: tuple[bool, ...]
    since: int | None


@dataclass(frozen=True)
class Case:
    """A choice of readings (those that are not default), and the outcome expected under it."""

    readings: tuple[tuple[str, Any], ...]
    expected: Outcome


@dataclass(frozen=True)
class Condition:
    """One preregistered condition; `config` has the default readings, `kernel` is `reference` or a mutant's name."""

    name: str
    title: str
    source: tuple[str, ...]
    config: Config
    kernel: str
    cases: tuple[Case, ...]

    @property
    def rules(self) -> Rules:
        """The kernel that runs this condition."""
        return REFERENCE if self.kernel == "reference" else mutant(self.kernel).rules

    def under(self, case: Case) -> Config:
        """Return the configuration of a case."""
        return replace(self.config, readings=replace(Readings(), **dict(case.readings)))


def load(texts: Mapping[str, str], manifest: str) -> tuple[Condition, ...]:
    """Return the conditions of these files (name without `.json` → text), checked against their manifest, in order.

    Raises VectorBroken: a file that the manifest lacks, or the reverse; a file that is not the registered
    one; a file of another shape.
    """
    found: list[Condition] = []
    for name, value in as_registered(texts, manifest, "evenhand/condition-manifest").items():
        raw = read_condition(value, f"{name}.json")
        if raw.name != name:
            raise VectorBroken(f"{name}.json calls itself {raw.name!r}")
        found.append(Condition(raw.name, raw.title, raw.source, raw.config, raw.kernel, _cases(raw.cases)))
    return tuple(found)


def _cases(raw: list[Json]) -> tuple[Case, ...]:
    return tuple(Case(tuple(sorted(case["readings"].items())), _outcome(case["expected"])) for case in raw)


def _outcome(raw: Json) -> Outcome:
    return Outcome(
        tuple(
            EpochOutcome(
                tuple(sorted(epoch["outcomes"].items())),
                tuple(epoch["exits"]),
                tuple(sorted(epoch["faults"].items())),
                tuple(sorted(epoch["messages"].items())),
                tuple(sorted(epoch["dropped"].items())),
            )
            for epoch in raw["epochs"]
        ),
        tuple(sorted(raw["final_state"].items())),
        raw["terminal"],
        raw["kernel"],
        tuple(raw["deadlocked"]),
        raw["since"],
    )


@cache
def conditions() -> tuple[Condition, ...]:
    """Return every condition, the ten of the text first.  Raises VectorBroken as `load` does."""
    texts, manifest = shipped(__name__)
    texts.pop("schema", None)
    return load(texts, manifest)


def condition(name: str) -> Condition:
    """Return the condition called `name`.  Raises UnknownName."""
    by_name = {one.name: one for one in conditions()}
    if name not in by_name:
        raise UnknownName("condition", name, by_name)
    return by_name[name]


def play(config: Config, rules: Rules = REFERENCE) -> RunTrace:
    """Return the one run of a configuration in which every agent has a strategy."""
    system = replace(CONDITIONS, rules=rules)
    actions: list[Epoch] = []
    state = initial(config)[0]
    while (action := next(system.enabled(config, state), None)) is not None:
        actions.append(action)
        state = system.take(config, state, action).after
    return replay(system, Scenario(config, initial(config)[0], tuple(actions)))


def observed(trace: RunTrace) -> Outcome:
    """Return the outcome of a run, in the form of a condition's expectation."""
    found = classify(trace.scenario.config, trace.steps)
    return Outcome(
        tuple(
            EpochOutcome(
                step.shown.tokens,
                step.shown.exits,
                tuple((entry.agent_id, entry.fault) for entry in step.shown.log if entry.fault),
                tuple((message.sender, message.content) for message in step.shown.sent),
                step.shown.dropped,
            )
            for step in trace.steps
        ),
        tuple((key, value.value) for key, value in trace.final.world),
        found.terminal,
        found.kernel,
        found.deadlocked,
        found.since,
    )


def separations() -> tuple[tuple[str, Any, Any, str], ...]:
    """Return (reading, value, other value, condition) where two cases differ in that reading alone and in outcome."""
    found: list[tuple[str, Any, Any, str]] = []
    for one in conditions():
        for i, left in enumerate(one.cases):
            for right in one.cases[i + 1 :]:
                names = {name for name, _ in set(left.readings) ^ set(right.readings)}
                if len(names) == 1 and left.expected != right.expected:
                    (name,) = names
                    values = (getattr(one.under(case).readings, name) for case in (left, right))
                    found.append((name, *values, one.name))
    return tuple(found)


def _configs(_scope: Scope, readings: Readings) -> Iterator[Config]:
    yield from dict.fromkeys(replace(one.config, readings=readings) for one in conditions())


CONDITIONS: System[Config, State, Epoch, Shown, Rules] = replace(
    RUN, name="conditions", configs=_configs, joint=playing(lambda _config, _agent: ()), scope=Scope(), allows=None
)
"""The conditions A to I with their strategies, each a graph with one path; under a mutant, all under that mutant."""
