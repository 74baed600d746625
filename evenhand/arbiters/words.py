"""A witness in words: both plays, side by side, as a story that every form of a report shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evenhand.arbiters.plays import Play, Shown
from evenhand.arbiters.question import Answer
from evenhand.arbiters.values import renamed
from evenhand.core.text import describe, inert
from evenhand.evidence.story import RunLines, StepLines, Story


def story(answer: Answer) -> Story | None:
    """Return the witness of an answer: the play, and the one beside it; None if there is no witness."""
    witness = answer.witness
    if witness is None:
        return None
    if witness.other is None or witness.also is None:
        return Story((_run(witness.play, witness.shown),))
    expected = ""
    if witness.names and witness.shown.rounds and not witness.shown.error:
        outcomes = renamed(witness.shown.rounds[-1].outcomes, dict(witness.names))
        expected = f"if it decided nothing, the last round would show {describe(outcomes)}"
    runs = (_run(witness.play, witness.shown), replace(_run(witness.other, witness.also), note=expected))
    return Story(runs, f"one change: {inert(witness.change)}")


def witness_lines(answer: Answer) -> list[str]:
    """Return the witness in lines of text: the agents, each round, the change, and each round after it."""
    made = story(answer)
    if made is None:
        return []
    first, *others = made.runs
    lines = [*first.config, *_rounds(first)]
    for run in others:
        lines += [f"changed: {inert(answer.witness.change) if answer.witness else ''}", *_rounds(run)]
        lines += [run.note] if run.note else []
    return lines


def _rounds(run: RunLines) -> Iterator[str]:
    for number, step in enumerate(run.steps, start=1):
        yield f"{number}. {step.action[0]} -> {step.shown[0][1][0]}"


def _run(play: Play, shown: Shown) -> RunLines:
    steps = tuple(
        StepLines(
            (", ".join(f"{inert(str(agent))}: {describe(choice)}" for agent, choice in profile),),
            (("", (one.text,)),),
            (),
        )
        for profile, one in zip(play.rounds, shown.rounds, strict=False)
    )
    seed = f", seed {play.seed}" if play.seed else ""
    return RunLines((f"agents {', '.join(inert(str(agent)) for agent in play.agents)}{seed}",), (), steps)
