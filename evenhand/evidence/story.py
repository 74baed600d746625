"""Format evidence step by step: as data that each form of a report presents in its own way, and as lines of text.

A story is made by replaying, so that it shows what the system does and not what an engine reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec import convert, to_builtins

from evenhand.core.bundle import Phases
from evenhand.core.canonical import Json
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.text import WIDTH, branches, changes, describe, inert, layout
from evenhand.core.trace import (
    AnyLasso,
    AnyScenario,
    AnyTrace,
    Lasso,
    NotReplayable,
    Pair,
    Scenario,
    replay,
    replay_lasso,
)
from evenhand.core.verdict import Evidence, runs

Lines: TypeAlias = tuple[str, ...]
Parts: TypeAlias = tuple[tuple[str, Lines], ...]

FEW = 6
"""Lines that a part of an observation may take where the whole story is not asked for."""


@dataclass(frozen=True)
class StepLines:
    """One step in lines: the action, the observation (by part; nameless if it has no parts) and the changes.

    `phases` formats it in the protocol's own words, if it has some.
    """

    action: Lines
    shown: Parts
    changed: Lines
    phases: Parts = ()


@dataclass(frozen=True)
class RunLines:
    """One finite run: its configuration, its start, its steps; the last `loop` steps repeat for ever.

    `note` says what is wrong with it, if anything is.
    """

    config: Lines
    start: Lines
    steps: tuple[StepLines, ...]
    loop: int = 0
    note: str = ""


@dataclass(frozen=True)
class Story:
    """One run, or two that `relation` relates."""

    runs: tuple[RunLines, ...]
    relation: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the story as JSON; `from_json` reads it back."""
        return dict(to_builtins(self))

    @staticmethod
    def from_json(made: Json) -> Story:
        """Return the story that `to_json` wrote.  Raises ValueError for anything else."""
        return convert(made, Story)


def evidence_length(evidence: Evidence) -> int:
    """Return the number of actions in `evidence`, over all its runs."""
    return sum(len(scenario.actions) for scenario in runs(evidence))


def story_of(system: AnySystem, evidence: Evidence, phases: Phases | None = None) -> Story:
    """Return `evidence` replayed in `system`: the start, each action, its observation and the changes.

    `phases` formats a step in the protocol's own words.
    """
    match evidence:
        case Scenario():
            return Story((_run(system, evidence, phases),))
        case Lasso():
            return Story((_lasso(system, evidence, phases),))
        case Pair():
            runs = (_run(system, evidence.left, phases), _run(system, evidence.right, phases))
            return Story(runs, inert(evidence.relation) or "the claim")


def story_of_trace(trace: AnyTrace, phases: Phases | None = None) -> Story:
    """Return the story of a trace that is already replayed, formatted as by `story_of`."""
    scenario = trace.scenario
    steps = tuple(_step_lines(step, phases) for step in trace.steps)
    return Story((RunLines(_config(scenario.config), tuple(layout(scenario.start)), steps),))


def _run(system: AnySystem, scenario: AnyScenario, phases: Phases | None) -> RunLines:
    steps = tuple(_step_lines(step, phases) for step in replay(system, scenario).steps)
    return RunLines(_config(scenario.config), tuple(layout(scenario.start)), steps)


def _lasso(system: AnySystem, lasso: AnyLasso, phases: Phases | None) -> RunLines:
    config, start = _config(lasso.config), tuple(layout(lasso.start))
    try:
        trace, _ = replay_lasso(system, lasso)
    except NotReplayable as error:
        return RunLines(config, start, (), note=f"no lasso: {inert(str(error))}")
    return RunLines(config, start, tuple(_step_lines(step, phases) for step in trace.steps), loop=len(lasso.loop))


def _config(config: Any) -> Lines:
    return tuple(layout(config)) if config is not None and config != () else ()


def _step_lines(step: AnyStep, phases: Phases | None) -> StepLines:
    formatted = () if phases is None else phases(step)
    return StepLines(
        tuple(layout(step.action)),
        tuple(_shown(step.shown)),
        changes(step.before, step.after),
        tuple((inert(name), tuple(map(inert, lines))) for name, lines in formatted),
    )


def _shown(value: Any) -> Iterator[tuple[str, Lines]]:
    """An observation in one piece if it fits on a line, else by its parts."""
    if value is None:
        return
    whole = layout(value)
    parts = list(branches(value)) if len(whole) > 1 else []
    if not parts:
        yield "", tuple(whole)
    elif not all(name for name, _ in parts):
        yield from (("", (describe(part),)) for _, part in parts)
    else:
        yield from ((name, tuple(layout(part))) for name, part in parts)


def trace_lines(system: AnySystem, evidence: Evidence, *, full: bool = False) -> Lines:
    """Return `evidence` step by step in lines of text; see `story_lines`."""
    return story_lines(story_of(system, evidence), full=full)


def story_lines(story: Story, *, full: bool = False) -> Lines:
    """Return a story in lines of text.

    Parts of an observation that take more than a few lines are only named, unless `full`.
    """
    if len(story.runs) == 1:
        return tuple(_run_lines(story.runs[0], full))
    first, second = story.runs
    return (
        f"two runs, related by {story.relation}; the first:",
        *_run_lines(first, full),
        "the second:",
        *_run_lines(second, full),
    )


def _run_lines(run: RunLines, full: bool) -> Iterator[str]:
    yield from _beside("with  ", run.config)
    yield from _beside("start ", run.start)
    if run.note:
        yield f"({run.note})"
    stem = len(run.steps) - run.loop
    for number, step in enumerate(run.steps, start=1):
        if run.loop and number == stem + 1:
            yield "from here on, for ever:"
        yield from _beside(f"{number:>5} ", step.action)
        yield from _beside("       shows", _shown_lines(step.shown, full))
        yield from (f"       {line}" for line in step.changed)
    if run.loop:
        yield f"and again from step {stem + 1}"


def _shown_lines(shown: Iterable[tuple[str, Lines]], full: bool) -> Iterator[str]:
    """Parts that fit on a line, beside their name; of the others a few lines, or all if `full`, else only the names."""
    long: list[str] = []
    for name, lines in shown:
        if len(lines) == 1 and len(name) + len(lines[0]) + 2 <= WIDTH:
            yield f"{name}: {lines[0]}" if name else lines[0]
        elif full or len(lines) <= FEW:
            yield from (f"{name}:", *(f"  {line}" for line in lines)) if name else lines
        else:
            long.append(name or "an entry")
    if long:
        yield f"(and {', '.join(long)})"


def _beside(label: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines after a label, all but the first below each other."""
    for number, line in enumerate(lines):
        yield f"{label if number == 0 else ' ' * len(label)} {line}"
