"""Ask every question of a kernel: all small plays first, then larger ones that Hypothesis draws and shrinks."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from hypothesis import Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, NoSuchExample

from evenhand.arbiters.apart import CHANGES, apart, repeats
from evenhand.arbiters.kernels import EVERY, POPULATION, SOME, Factory, Sampled, Subject
from evenhand.arbiters.loading import Origin, origin_of
from evenhand.arbiters.plays import MOST_ROUNDS, WITH_SNAPSHOTS, Play, Shown, offers, perform, plays, unstarted
from evenhand.arbiters.power import Power, power
from evenhand.arbiters.question import Answer, Question, Unable, Witness
from evenhand.arbiters.questions import questions
from evenhand.arbiters.subjects import subject_of
from evenhand.arbiters.variants import ORDERS
from evenhand.core.verdict import Status
from evenhand.processes.alarm import Hung, until
from evenhand.processes.clock import Clock, OutOfTime

T = TypeVar("T")

MOST_PLAYS = 3_000
"""Plays that are enumerated at most, unless the caller says otherwise."""

SECONDS, PACE = 60.0, 0.25
"""Limit in CPU seconds where the caller gives none; by the clock it is four times as long, for what only waits."""

SMALL, DRAWN, NAMED = 0.5, 0.65, 0.75
"""Parts of the time after which small plays, drawn plays and names for arbiters end; other processes have the rest."""

GRACE = 0.04
"""Part of the time after which a kernel that does not return is interrupted."""

LATE = "not every small play was tried in the time given"
INTERRUPTED = "interrupted before every small play was tried"
HUNG = "a call of the kernel did not return in the time given"

UNSTEADY = ("repetition", "identity", "snapshot")
"""Questions whose findings leave all others open, or forbid to restore kernels."""

HASHED = (*ORDERS[1:], "labels", "number of agents", "exchange")
"""Questions whose answers another hash seed may change."""


@dataclass
class _Asked:
    """A question while it is being asked; `unable` says why some plays could not be."""

    question: Question
    witness: Witness | None = None
    plays: int = 0
    drawn: int = 0
    unable: str = ""

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Ask it of one play.  Raises OutOfTime."""
        if not (any(play.rounds) or self.question.unstarted):
            return None
        try:
            found = self.question.ask(subject, play, shown)
        except Unable as error:
            self.unable = self.unable or str(error)
            return None
        self.plays += 1
        return found


@dataclass(frozen=True)
class Examined:
    """What a kernel is, the answer to each question in the order of the questions, and the powers of its agents."""

    subject: Subject
    answers: tuple[Answer, ...]
    power: Power | None
    interrupted: bool = False


def question_names() -> tuple[str, ...]:
    """Return the names of all questions, in the order of the answers."""
    return (*(one.name for one in questions()), *(change.name for change in CHANGES))


def answers(
    kernel: Factory,
    *,
    place: str = "",
    seconds: float | None = None,
    most: int = MOST_PLAYS,
    examples: int = 60,
    seed: int = 0,
) -> Examined:
    """Examine a kernel.

    `seconds` bounds the whole (None: `SECONDS` of CPU), `most` the enumerated plays, `examples` the drawn plays of each
    question.  Raises NotExaminable.
    """
    limit, spent = SECONDS if seconds is None else seconds, _spent(PACE if seconds is None else 1.0)
    subject, origin = subject_of(kernel), origin_of(kernel, place)
    able = [_Asked(one) for one in questions() if not one.missing(subject)]
    late = ""

    def bounded(part: float, work: Callable[[Subject], T]) -> T | None:
        nonlocal late

        def left() -> float:
            return limit * part - spent()

        try:
            with until(left, limit * GRACE):
                return None if late in (HUNG, INTERRUPTED) else work(replace(subject, left=left))
        except OutOfTime as error:
            late = HUNG if isinstance(error, Hung) else late or LATE
        except KeyboardInterrupt:
            late = INTERRUPTED
        return None

    def interrupted() -> bool:
        return late == INTERRUPTED

    tried = _Tried(most, f", with {SOME} values of each strategy" if "strategies" in subject.abilities else "")
    bounded(SMALL, lambda one: _enumerate(one, able, tried))
    tried.late = late
    bounded(DRAWN, lambda one: _draw(one, able, examples, seed))
    found = {one.question.name for one in able if one.witness is not None}

    def name(one: _Asked) -> str | None:
        return bounded(NAMED, lambda subject: _named(subject, one, origin))

    made = {one.question.name: _answer(one, tried, found, name) for one in able}
    unsteady = found & {"repetition", "identity"}
    powers = None if unsteady else bounded(NAMED, power)
    every = [made.get(one.name) or _unasked(one, subject) for one in questions()]
    around: list[Answer] = []
    try:
        for one in apart(subject, origin, lambda: 0.0 if interrupted() else limit - spent(), unsteady):
            around.append(one)
    except KeyboardInterrupt:
        late = INTERRUPTED
        around += [*apart(subject, origin, lambda: 0.0, unsteady)][len(around) :]
    if any(one.question == "hash seed" and one.status is Status.REFUTED for one in around):
        every, powers = [_left_to_the_hash_seed(one) for one in every], None
    return Examined(subject, (*every, *around), powers, interrupted=interrupted())


def _left_to_the_hash_seed(one: Answer) -> Answer:
    """Leave what names seem to decide to the hash seed: in another process they would decide otherwise."""
    if one.question not in HASHED or one.because.startswith("not asked"):
        return one
    return Answer(one.question, one.sentence, Status.UNDECIDED, "explained by: hash seed")


@dataclass
class _Tried:
    """The small plays that were tried, of `most` at most; `late` says why not all were, for lack of time.

    `values` says of which choices, where not of all.

    `whole` maps a number of agents to the number of rounds up to which all their plays were tried.
    """

    most: int
    values: str = ""
    late: str = ""
    complete: bool = False
    whole: dict[int, int] = field(default_factory=dict[int, int])
    _last: tuple[int, int] | None = None

    def begin(self, play: Play) -> None:
        """Begin a play; one of another size or length ends those before it."""
        size = len(play.agents), len(play.rounds)
        if size != self._last:
            self.end()
        self._last = size

    def end(self) -> None:
        """End the plays of one size and length: all were tried."""
        if self._last is not None:
            self.whole[self._last[0]] = self._last[1]

    def lacking(self, question: Question) -> str:
        """Return why a question is undecided: no play with the rounds that it needs is among those all tried."""
        if self.late or self.complete or question.rounds <= max(self.whole.values(), default=0):
            return self.late
        return f"there are more than {self.most:,} plays of {_rounds(question.rounds)}; raise the limit of plays"

    @property
    def scope(self) -> str:
        """Return what HOLDS is about."""
        by_rounds = {rounds: max(n for n in self.whole if self.whole[n] >= rounds) for rounds in self.whole.values()}
        parts = [f"up to {_rounds(rounds)} with up to {agents} agents" for rounds, agents in sorted(by_rounds.items())]
        return f"all plays of {' and of '.join(parts)}{self.values}"


def _rounds(count: int) -> str:
    return "one round" if count == 1 else f"{count} rounds"


def _spent(pace: float) -> Callable[[], float]:
    """Return a clock of CPU seconds; seconds of the other clock count by their `pace`, where that is more."""
    cpu, began = Clock(by_clock=False), time.monotonic()
    return lambda: max(cpu.spent(), pace * (time.monotonic() - began))


def _enumerate(subject: Subject, able: list[_Asked], tried: _Tried) -> None:
    """Ask every question of every small play, up to a number.  Raises OutOfTime."""
    number = itertools.count(1)

    def all_tried(subject: Subject, some: Iterable[Play], without: Collection[str] = ()) -> bool:
        for play in some:
            tried.begin(play)
            if next(number) > tried.most:
                return False
            shown = perform(subject, play)
            for one in _open(able):
                if one.question.name not in without:
                    one.witness = one.ask(subject, play, shown)
        tried.end()
        return True

    if not all_tried(subject, plays(subject)):
        return
    tried.complete = "strategies" not in subject.abilities
    if "snapshot" in subject.abilities and not any(one.witness for one in able if one.question.name in UNSTEADY):
        restoring = replace(subject, saved={})  # a restored kernel would tell nothing of what is unsteady
        all_tried(restoring, plays(restoring, least=MOST_ROUNDS + 1, most=WITH_SNAPSHOTS), UNSTEADY)


def _open(able: Iterable[_Asked]) -> Iterator[_Asked]:
    """Yield the questions without an answer that no finding of another explains."""
    every = list(able)
    for one in every:
        found = {other.question.name for other in every if other.witness is not None}
        if one.witness is None and not found & set(one.question.after):
            yield one


def _draw(subject: Subject, able: list[_Asked], examples: int, seed: int) -> None:
    """Draw larger plays for the questions that are still open; Hypothesis shrinks what it finds.  Raises OutOfTime.

    Findings of plays with values of a strategy are drawn again, to shrink the values.
    """
    for one in (*_open(able), *(one for one in able if one.witness and "strategies" in subject.abilities)):
        found: list[Witness] = []  # shrinking ends with the smallest

        def answered(play: Play, one: _Asked = one, found: list[Witness] = found) -> bool:
            if not play.rounds:  # no agent had a choice
                return False
            one.drawn += 1
            witness = one.ask(subject, play, perform(subject, play))
            found += [] if witness is None else [witness]
            return witness is not None

        with suppress(NoSuchExample, Flaky):
            find(
                _drawn(subject),
                answered,
                settings=settings(
                    max_examples=examples,
                    database=None,
                    deadline=None,
                    phases=(Phase.generate, Phase.shrink),
                    suppress_health_check=EVERY,
                ),
                random=Random(seed),
            )
        one.witness = found[-1] if found else one.witness


@st.composite
def _drawn(draw: st.DrawFn, subject: Subject) -> Play:
    """Draw a play: a choice of each agent at each moment; it ends where `act` raises.

    Of a strategy, a value that was drawn before is drawn again as often as a new one, because ties are rare otherwise.
    """
    every = POPULATION if "population" in subject.abilities else subject.agents
    agents = every[: draw(st.integers(2, len(every)))] if "population" in subject.abilities else every
    play = Play(agents, (), draw(st.integers(0, 9)) if "seed" in subject.abilities else 0)
    before = dict[str, list[Any]]()
    try:
        session = play.start(subject)
    except Exception:  # `perform` tells it as the play's only round
        return unstarted(play)

    def picked(menu: tuple[Any, ...]) -> Any:
        if not isinstance(menu, Sampled):
            return draw(st.sampled_from(menu))
        values = before.setdefault(repr(menu.strategy), [])
        values.append(draw(menu.strategy | st.sampled_from(values) if values else menu.strategy))
        return values[-1]

    for _ in range(draw(st.integers(1, 5))):
        profile = tuple((agent, picked(menu)) for agent, menu in offers(session, play).items() if menu)
        if not profile:
            break
        play = replace(play, rounds=(*play.rounds, profile))
        try:
            session.act(profile)
        except Exception:  # `perform` tells it as the play's last round
            break
    return play


def _named(subject: Subject, one: _Asked, origin: Origin | None) -> str:
    assert one.witness is not None
    if one.question.name == "repetition" and origin and repeats(origin, one.witness.play, subject.left):
        return "earlier runs in the same process decide"
    return one.question.named(subject, one.witness)


def _answer(one: _Asked, tried: _Tried, found: set[str], name: Callable[[_Asked], str | None]) -> Answer:
    question, explained = one.question, found & set(one.question.after)
    if one.witness is not None:
        named = name(one) or one.witness.why
        return Answer(question.name, question.sentence, Status.REFUTED, one.witness.why, named, one.witness, one.plays)
    if explained:
        because = f"explained by: {', '.join(sorted(explained))}"
        return Answer(question.name, question.sentence, Status.UNDECIDED, because, plays=one.plays)
    because = left_open = tried.lacking(question)
    if one.unable and not because:
        because = f"not asked{' of some plays' if one.plays else ''}: {one.unable}"
    elif not one.plays and not because:
        because = "not asked: no play could be made, because no agent has a choice"
    return Answer(
        question.name,
        question.sentence,
        Status.UNDECIDED if because else Status.HOLDS,
        because or tried.scope,
        plays=one.plays,
        drawn=one.drawn,
        complete=tried.complete,
        open=bool(left_open),
    )


def _unasked(question: Question, subject: Subject) -> Answer:
    because = f"not asked: the kernel offers no {question.missing(subject)}"
    return Answer(question.name, question.sentence, Status.UNDECIDED, because)
