"""Ask every question of a kernel: all small plays first, then larger ones that Hypothesis draws and shrinks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import cast

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from evenhand.arbiters.answer import Answer
from evenhand.arbiters.apart import CHANGES, apart
from evenhand.arbiters.kernels import POPULATION, Factory, NotExaminable, Subject, subject_of
from evenhand.arbiters.loading import place_of
from evenhand.arbiters.naming import arbiter
from evenhand.arbiters.plays import Play, perform, plays
from evenhand.arbiters.questions import Question, Witness, questions
from evenhand.core.verdict import Status

MOST_PLAYS = 3_000
"""Plays that are enumerated at most."""

APART = 40
"""Plays that are repeated in other processes."""


@dataclass
class _Asked:
    """A question while it is being asked."""

    question: Question
    witness: Witness | None = None
    plays: int = 0
    drawn: int = 0
    problems: list[str] = field(default_factory=list[str])


def question_names() -> tuple[str, ...]:
    """Return the names of all questions, in the order of the answers."""
    return (*(one.name for one in questions()), *(change.name for change in CHANGES))


def answers(
    kernel: Factory, *, name: str = "", place: str = "", seconds: float = 60.0, examples: int = 60, seed: int = 0
) -> tuple[Subject, tuple[Answer, ...]]:
    """Examine a kernel; return what it is and the answer to each question, in the order of the questions.

    `seconds` bounds the whole, `examples` the drawn plays of each question.  Raises NotExaminable.
    """
    subject = subject_of(kernel, name)
    began = time.monotonic()
    able = [_Asked(one) for one in questions() if not one.missing(subject)]
    complete = _enumerate(subject, able, began + seconds / 2)
    _draw(subject, able, began + seconds * 0.7, examples, seed)
    found = {one.question.name for one in able if one.witness is not None}
    made = {one.question.name: _answer(subject, one, complete, found) for one in able}
    every = [made.get(one.name) or _unasked(one, subject) for one in questions()]
    around = tuple(apart(subject, place or place_of(kernel), began + seconds, random="repetition" in found))
    hashed = any(one.question == "hash seed" and one.status is Status.REFUTED for one in around)
    return subject, (*map(_explained, every), *around) if hashed else (*every, *around)


def _explained(one: Answer) -> Answer:
    """Leave what names seem to decide to the hash seed: in another process they would decide otherwise."""
    if one.question not in ("names", "exchange") or one.status is not Status.REFUTED:
        return one
    return Answer(one.question, one.sentence, Status.UNDECIDED, "explained by: hash seed", plays=one.plays)


def _enumerate(subject: Subject, able: list[_Asked], until: float) -> bool:
    """Ask every question of every small play; return whether all were tried."""
    for number, play in enumerate(plays(subject)):
        if number >= MOST_PLAYS or time.monotonic() > until:
            return False
        shown = perform(subject, play)
        for one in _open(able):
            one.witness = one.question.ask(subject, play, shown)
            one.plays += 1
    return True


def _open(able: Iterable[_Asked]) -> Iterator[_Asked]:
    """Yield the questions without an answer that no finding of another explains."""
    every = list(able)
    for one in every:
        found = {other.question.name for other in every if other.witness is not None}
        if one.witness is None and not found & set(one.question.after):
            yield one


def _draw(subject: Subject, able: list[_Asked], until: float, examples: int, seed: int) -> None:
    """Draw larger plays for the questions that are still open; Hypothesis shrinks what it finds."""
    most = len(POPULATION) if "population" in subject.abilities else len(subject.agents)
    drawn = st.tuples(
        st.integers(2, most),
        st.lists(st.lists(st.integers(0, 7), min_size=most, max_size=most), min_size=1, max_size=5),
    )
    for one in list(_open(able)):

        def answered(plan: tuple[int, list[list[int]]], one: _Asked = one) -> bool:
            if time.monotonic() > until:
                return False
            play = _built(subject, *plan)
            one.drawn += 1
            one.plays += 1
            return one.question.ask(subject, play, perform(subject, play)) is not None

        try:
            plan = find(
                drawn,
                answered,
                settings=settings(
                    max_examples=examples,
                    database=None,
                    deadline=None,
                    phases=(Phase.generate, Phase.shrink),
                    suppress_health_check=tuple(cast("Iterable[HealthCheck]", HealthCheck)),
                ),
                random=Random(seed),
            )
        except NoSuchExample:
            continue
        play = _built(subject, *plan)
        one.witness = one.question.ask(subject, play, perform(subject, play))


def _built(subject: Subject, size: int, picks: list[list[int]]) -> Play:
    """Return the play that numbers pick among the choices at each moment."""
    agents = POPULATION[:size] if "population" in subject.abilities else subject.agents
    play, session = Play(tuple(agents), ()), subject.start(agents)
    for row in picks:
        try:
            menus = [session.choices(agent) for agent in agents]
            if not all(menus):
                break
            profile = tuple((a, menu[n % len(menu)]) for a, menu, n in zip(agents, menus, row, strict=False))
            play = replace(play, rounds=(*play.rounds, profile))
            session.act(profile)
        except NotExaminable:
            raise
        except Exception:
            break
    return play


def _answer(subject: Subject, one: _Asked, complete: bool, found: set[str]) -> Answer:
    question, explained = one.question, found & set(one.question.after)
    if one.witness is not None:
        named = arbiter(subject, question, one.witness)
        return Answer(question.name, question.sentence, Status.REFUTED, one.witness.why, named, one.witness, one.plays)
    if explained:
        because = f"explained by: {', '.join(sorted(explained))}"
        return Answer(question.name, question.sentence, Status.UNDECIDED, because, plays=one.plays)
    status = Status.HOLDS if complete and one.plays else Status.UNDECIDED
    because = "" if complete else "not every small play was tried in the time given"
    because = because if one.plays else "no play could be made"
    return Answer(
        question.name, question.sentence, status, because, plays=one.plays, drawn=one.drawn, complete=complete
    )


def _unasked(question: Question, subject: Subject) -> Answer:
    because = f"not asked: the kernel offers no {question.missing(subject)}"
    return Answer(question.name, question.sentence, Status.UNDECIDED, because)
