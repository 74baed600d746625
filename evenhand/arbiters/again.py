"""Ask one question of a recorded play again: what the regression file of a finding does.

    from evenhand.arbiters.again import Origin, recheck

    recheck(Origin("desk.py:Desk"), "listing order", [{"agents": ["ann", "bob"], "rounds": [[("ann", "ask")]]}])

A file needs no protocol: only evenhand and the kernel.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pprint import pformat
from textwrap import indent
from typing import Any

from evenhand.arbiters.apart import CHANGES, apart
from evenhand.arbiters.kernels import Left, NotExaminable, Subject
from evenhand.arbiters.loading import Origin
from evenhand.arbiters.plays import Play, menus, perform
from evenhand.arbiters.question import Answer, Question, Unable
from evenhand.arbiters.questions import questions
from evenhand.arbiters.subjects import subject_of
from evenhand.arbiters.words import witness_lines
from evenhand.core.names import as_name
from evenhand.core.text import describe, inert
from evenhand.core.verdict import Status

SECONDS = 60.0
"""Time limit of one file."""


@dataclass(frozen=True)
class Offered:
    """A choice that cannot be written as Python's literals: the one that the kernel offers and describes so."""

    text: str


class Found(AssertionError):
    """The kernel still does what the finding says; the message shows it."""


def recheck(origin: Origin, question: str, plays: Iterable[Mapping[str, Any]], *, seconds: float = SECONDS) -> None:
    """Ask a question of these plays alone, and raise Found if they still answer it with a finding.

    Raises NotExaminable where the kernel is missing, or the question can no longer be asked.
    """
    end = time.monotonic() + seconds

    def left() -> float:
        return end - time.monotonic()

    if question in {change.name for change in CHANGES}:
        _apart(origin, question, left)
        return
    subject = replace(subject_of(origin.factory()), left=left)
    asked = next((one for one in questions() if one.name == question), None)
    if asked is None or asked.missing(subject):
        why = f"the kernel offers no {asked.missing(subject)}" if asked else "this evenhand has no such question"
        raise NotExaminable(f"{question!r} cannot be asked: {why}")
    for one in plays:
        play = _play(subject, one)
        try:
            witness = asked.ask(subject, play, perform(subject, play))
        except Unable as error:
            raise NotExaminable(f"{question!r} cannot be asked of this play: {error}") from error
        if witness is not None:
            answer = Answer(question, asked.sentence, Status.REFUTED, witness.why, witness=witness)
            raise Found("\n".join([f"{question}: {witness.why}", *witness_lines(answer)]))


def _apart(origin: Origin, question: str, left: Left) -> None:
    answers = apart(subject_of(origin.factory()), origin, left, ())
    answer = next(one for one in answers if one.question == question or one.status is Status.REFUTED)
    if answer.status is Status.REFUTED:
        raise Found("\n".join([f"{answer.question}: {answer.named}", *witness_lines(answer)]))
    if answer.status is Status.UNDECIDED:
        raise NotExaminable(f"{question!r} is undecided: {answer.because}")


def _play(subject: Subject, made: Mapping[str, Any]) -> Play:
    """Return the play that a file writes.  Raises NotExaminable for a choice that the kernel no longer offers."""
    play = Play(tuple(made["agents"]), (), made.get("seed", 0), tuple(made.get("names", {}).items()))
    for row in made["rounds"]:
        special = any(isinstance(choice, Offered) for _, choice in row)
        offered: Mapping[str, tuple[Any, ...]] = menus(subject, play) if special else {}
        profile = tuple((agent, _choice(agent, choice, offered.get(agent, ()))) for agent, choice in row)
        play = replace(play, rounds=(*play.rounds, profile))
    return play


def _choice(agent: str, choice: Any, menu: Sequence[Any]) -> Any:
    if not isinstance(choice, Offered):
        return choice
    for one in menu:
        if describe(one) == choice.text:
            return one
    raise NotExaminable(f"the kernel no longer offers {agent} the choice {choice.text}; examine it again")


def regressions(origin: Origin, kernel: str, answers: Iterable[Answer]) -> dict[str, bytes]:
    """Return a pytest file by its name for each answer that refutes and is not allowed.

    A file fails while the kernel behaves as in the finding, and passes once it is mended.
    """
    by_name: dict[str, Question] = {one.name: one for one in questions()}
    made: dict[str, bytes] = {}
    for one in answers:
        if one.status is Status.REFUTED and not one.allowed and one.witness is not None:
            question = by_name.get(one.question)
            plays = question.again(one.witness) if question is not None else ()
            name = as_name(f"{kernel}_{one.question}").replace("-", "_").lower()
            made[f"test_{name}.py"] = _file(origin, kernel, one, plays).encode()
    return made


def _file(origin: Origin, kernel: str, answer: Answer, plays: Iterable[Play]) -> str:
    words = [f"{inert(kernel)}: {answer.question}: {inert(answer.named)}", "", *map(inert, witness_lines(answer))]
    told = "\n".join(words).replace("\\", "\\\\").replace('"', "'")
    written = [_written(one) for one in plays]
    names = ", ".join(["Offered"] * any("Offered(" in one for one in written) + ["Origin", "recheck"])
    listed = "".join(f"\n{indent(one, '    ')}," for one in written)
    return f'''"""{told}

Written by `evenhand examine`.  It fails while the kernel does this, and passes once the kernel is mended.
"""

from evenhand.arbiters.again import {names}

KERNEL = {_origin(origin)}
PLAYS: list[dict[str, object]] = [{listed}{chr(10) if written else ""}]


def test_{as_name(answer.question).replace("-", "_")}() -> None:
    """{inert(answer.sentence)}"""
    recheck(KERNEL, {answer.question!a}, PLAYS)
'''


def _origin(origin: Origin) -> str:
    given = [entry.name for entry in fields(origin) if getattr(origin, entry.name) != entry.default]
    return f"Origin({', '.join(f'{name}={getattr(origin, name)!a}' for name in given)})"


def _written(play: Play) -> str:
    made: dict[str, Any] = {
        "agents": list(play.agents),
        "rounds": [[(agent, _literal(choice)) for agent, choice in profile] for profile in play.rounds],
    }
    made |= {"seed": play.seed} if play.seed else {}
    made |= {"names": dict(play.names)} if play.names else {}
    return pformat(made, width=100, sort_dicts=False)


def _literal(choice: Any) -> Any:
    """Return the choice itself if Python's literals write it, else how it is described."""
    try:
        read = ast.literal_eval(repr(choice))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return Offered(describe(choice))
    return choice if type(read) is type(choice) and read == choice else Offered(describe(choice))
