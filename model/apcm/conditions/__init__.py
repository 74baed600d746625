"""The run conditions of section 10 as preregistered data: environment, generator, expected observations per step.

The expectations were worked out by hand.  `manifest.json` freezes the files: one whose canonical SHA-256 is not the
registered one is refused, so that an expectation cannot follow the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from evenhand.core.canonical import Json
from evenhand.core.lookup import UnknownName
from evenhand.core.records import dataclass, replace
from evenhand.core.registered import VectorBroken, as_registered, shipped
from evenhand.core.system import Step, reading_values
from evenhand.model.apcm.compiler import REFERENCE, SCRAMBLES, Rules
from evenhand.model.apcm.generators import GENERATORS
from evenhand.model.apcm.load import raw_situation
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.step import ApcmStep, initial, step
from evenhand.model.apcm.telemetry import run_record, step_records
from evenhand.model.apcm.vocabulary import CONDITIONS, Act, Config, Select, Submit

__all__ = ["FIELDS", "Condition", "VectorBroken", "condition", "conditions", "load", "observed", "play"]

FIELDS = (
    "actions",
    "condition",
    "expected",
    "format",
    "generator",
    "name",
    "preferences",
    "readings",
    "scramble",
    "selector",
    "situations",
    "source",
    "steps",
    "title",
    "version",
)
"""The fields of a condition's file, all required."""


@dataclass(frozen=True)
class Condition:
    """One preregistered condition: its configuration, and the telemetry expected of each step and of the run."""

    name: str
    title: str
    source: tuple[str, ...]
    config: Config
    steps: tuple[Mapping[str, Json], ...]
    run: Mapping[str, Json]


def load(texts: Mapping[str, str], manifest: str) -> tuple[Condition, ...]:
    """Return the conditions of these files (name without `.json` -> text), checked against their manifest, in order.

    Raises VectorBroken: a file that the manifest lacks, or the reverse; a file that is not the registered one; a
    file of another shape.
    """
    found = as_registered(texts, manifest, "evenhand/apcm-condition-manifest")
    return tuple(_condition(name, value) for name, value in found.items())


def _condition(name: str, value: dict[str, Json]) -> Condition:
    if tuple(sorted(value)) != FIELDS:
        raise VectorBroken(f"{name}.json: the fields must be {', '.join(FIELDS)}")
    if (value["format"], value["version"], value["name"]) != ("evenhand/apcm-condition", 1, name):
        raise VectorBroken(f"{name}.json is not evenhand/apcm-condition version 1 called {name!r}")
    known = {"condition": CONDITIONS, "generator": tuple(GENERATORS), "scramble": tuple(SCRAMBLES)}
    for field, legal in known.items():
        if value[field] not in legal:
            raise VectorBroken(f"{name}.json: {field} {value[field]!r}; there is: {', '.join(legal)}")
    readings: dict[str, Any] = value["readings"]
    for reading, chosen in readings.items():
        if chosen not in reading_values(Readings()).get(reading, ()):
            raise VectorBroken(f"{name}.json: {chosen!r} is no value of a reading {reading!r}")
    try:
        situations = tuple(raw_situation(one) for one in value["situations"])
        expected = value["expected"]
        steps, run = tuple(expected["steps"]), expected["run"]
    except (ValueError, KeyError, TypeError) as error:
        raise VectorBroken(f"{name}.json: {error}") from error
    config = Config(
        tuple(value["actions"]),
        tuple(value["preferences"]),
        situations,
        condition=value["condition"],
        generator=value["generator"],
        selector=value["selector"],
        scramble=value["scramble"],
        steps=value["steps"],
        readings=replace(Readings(), **readings),
    )
    return Condition(name, value["title"], tuple(value["source"]), config, steps, run)


@cache
def conditions() -> tuple[Condition, ...]:
    """Return the registered conditions.  Raises VectorBroken when a file was changed."""
    return load(*shipped(__name__))


def condition(name: str) -> Condition:
    """Return the condition called `name`.  Raises UnknownName."""
    known = {one.name: one for one in conditions()}
    if name not in known:
        raise UnknownName("condition", name, known)
    return known[name]


def play(config: Config, rules: Rules = REFERENCE) -> tuple[ApcmStep, ...]:
    """Return the run of a configuration without choices.  Raises ValueError where the selector leaves a choice."""
    state = initial(config)[0]
    taken: list[ApcmStep] = []
    while not state.over:
        if len(state.offered) > 1:
            raise ValueError(f"selector {config.selector!r} leaves a choice between {', '.join(state.offered)}")
        action: Act = Select(state.offered[0]) if state.offered else Submit()
        after, shown = step(rules, config, state, action)
        taken.append(Step(config, state, action, shown, after))
        state = after
    return tuple(taken)


def observed(one: Condition, rules: Rules = REFERENCE) -> tuple[Sequence[Mapping[str, Json]], Mapping[str, Json]]:
    """Return the telemetry of a run of the condition, in the fields of its expectation."""
    records = tuple(step_records(play(one.config, rules)))
    steps = [
        {name: record[name] for name in expected} for record, expected in zip(records, one.steps, strict=False)
    ] + [dict(record) for record in records[len(one.steps) :]]
    run = run_record(one.config, records)
    return steps, {name: run[name] for name in one.run}
