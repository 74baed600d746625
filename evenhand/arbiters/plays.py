"""Plays: what is done with a fresh kernel, and what it shows.  Small plays come first: a first finding is smallest."""

# Outcomes have any type: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from evenhand.arbiters.kernels import NotExaminable, Profile, Session, Subject
from evenhand.arbiters.values import Names, comparable, renamed
from evenhand.core.answers import error_text
from evenhand.core.text import describe
from evenhand.processes.clock import OutOfTime

Sort = Callable[[Any], str]

MOST_AGENTS = 3
"""Agents of the largest population whose plays are enumerated."""

MOST_ROUNDS, WITH_SNAPSHOTS = 2, 3
"""Rounds of the longest play that is enumerated, and of a kernel that can be restored."""

MOST_SAVED = 20_000
"""Snapshots that are kept at a time."""


@dataclass(frozen=True)
class Play:
    """Agents in the order in which they are listed, and the choices of each round in the order of delivery.

    `seed` is set where the kernel takes one.  `names` leads from a kernel's own names to those in the play, for kernels
    whose agents are renamed.  `asked` are asked for their choices before each round, in this order.
    """

    agents: tuple[str, ...]
    rounds: tuple[Profile, ...]
    seed: int = 0
    names: tuple[tuple[str, str], ...] = ()
    asked: tuple[str, ...] = ()

    def called(self, names: Names) -> Play:
        """Return the same play with other names, in choices too."""
        made = self.changed(lambda choice: renamed(choice, names))
        rounds = tuple(tuple((names.get(agent, agent), choice) for agent, choice in one) for one in made.rounds)
        agents = tuple(names.get(agent, agent) for agent in self.agents)
        return replace(self, agents=agents, rounds=rounds, names=tuple(names.items()))

    def exchanged(self, names: Names) -> Play:
        """Return the play in which agents have exchanged their choices; listing and delivery stay.

        A choice that names an agent then names the agent exchanged with it.
        """
        rounds: list[Profile] = []
        for profile in self.rounds:
            moved = {names.get(agent, agent): renamed(choice, names) for agent, choice in profile}
            rounds.append(tuple((agent, moved[agent]) for agent, _ in profile if agent in moved))
        return replace(self, rounds=tuple(rounds))

    def delivered(self, order: Iterable[int]) -> Play:
        """Return the play whose choices are handed over in another order of their places."""
        places = tuple(order)
        return replace(self, rounds=tuple(tuple(one[n] for n in places if n < len(one)) for one in self.rounds))

    def changed(self, change: Callable[[Any], Any]) -> Play:
        """Return the play with every choice changed."""
        rounds = tuple(tuple((agent, change(choice)) for agent, choice in one) for one in self.rounds)
        return replace(self, rounds=rounds)

    def start(self, subject: Subject) -> Session:
        """Start a fresh kernel for this play."""
        return subject.start(self.agents, names=dict(self.names), seed=self.seed)


@dataclass(frozen=True)
class Round:
    """What one round showed: outcomes as the kernel gave them, its state, who holds what, and progress.

    `order` is the order of precedence that the kernel declared before the round, `twice` lists agents that were
    answered more than once, `told` is the text of outcomes that another process saw.
    """

    outcomes: Any
    observed: Any = None
    holds: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    progress: bool | None = None
    order: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    error: str = ""
    told: str = ""

    def compared(self, names: Names | None = None, *, loose: bool = False) -> Hashable:
        """Return what is compared of it, with names put in place of others.

        The state may list agents in the order in which they are listed; `loose` leaves the order of its lists aside.
        """
        if not names:
            return (comparable(self.outcomes), comparable(self.observed, loose=loose), self.error)
        outcomes = self.outcomes
        if isinstance(outcomes, Mapping):  # agents may be of any type; inside values only texts are renamed
            outcomes = {names.get(agent, agent): renamed(outcome, names) for agent, outcome in outcomes.items()}
        else:
            outcomes = renamed(outcomes, names)
        error = re.sub(r"\w+", lambda word: str(names.get(word[0], word[0])), self.error)
        return (comparable(outcomes), comparable(renamed(self.observed, names), loose=loose), error)

    @property
    def text(self) -> str:
        """The outcomes, or the exception, in one line."""
        return self.told or self.error or describe(self.outcomes)


@dataclass(frozen=True)
class Shown:
    """What a play showed, round by round; it ends with the first exception."""

    rounds: tuple[Round, ...]

    def compared(self, names: Names | None = None, *, loose: bool = False) -> Hashable:
        """Return what is compared of it; see `Round.compared`."""
        return tuple(one.compared(names, loose=loose) for one in self.rounds)

    @property
    def error(self) -> str:
        """The exception that ended it."""
        return self.rounds[-1].error if self.rounds else ""


def perform(subject: Subject, play: Play) -> Shown:
    """Perform a play with a fresh kernel.  An exception of the kernel becomes the last round's error.

    Raises OutOfTime.
    """
    if subject.left() <= 0:
        raise OutOfTime
    return Shown(reached(subject, play)[1])


def reached(subject: Subject, play: Play) -> tuple[Session | None, tuple[Round, ...]]:
    """Return a kernel after a play (None if it raised an exception), and what the rounds showed.

    Where snapshots are saved, the kernel is restored to the longest part of the play that is known.
    """
    rounds: tuple[Round, ...] = ()
    try:
        session, rounds = _restored(subject, play) or (play.start(subject), ())
    except Exception as error:
        return None, (Round(None, error=f"the start raised {error_text(error)}"),)
    for number, profile in enumerate(play.rounds[len(rounds) :], start=len(rounds) + 1):
        try:
            order = tuple(session.kernel.order()) if "order" in subject.abilities else ()
            for agent in play.asked:
                session.choices(agent)
            rounds += (look(session, play.agents, session.act(profile), order),)
            if subject.saved is not None:
                if len(subject.saved) >= MOST_SAVED:
                    subject.saved.clear()
                subject.saved[_key(play, number)] = session, session.kernel.snapshot(), rounds
        except Exception as error:
            return None, (*rounds, Round(None, error=error_text(error)))
    return session, rounds


def _key(play: Play, rounds: int) -> Hashable:
    return comparable((play.agents, play.rounds[:rounds], play.seed, play.names, play.asked))


def _restored(subject: Subject, play: Play) -> tuple[Session, tuple[Round, ...]] | None:
    for number in range(len(play.rounds), 0, -1) if subject.saved else ():
        if found := (subject.saved or {}).get(_key(play, number)):
            session, snapshot, rounds = found
            session.kernel.restore(snapshot)
            return session, rounds
    return None


def look(session: Session, agents: Iterable[str], given: Any, order: tuple[str, ...] = ()) -> Round:
    """Return what the kernel shows after it gave these outcomes."""
    kernel, abilities = session.kernel, session.subject.abilities
    outcomes, twice = _mapped(given)
    held = tuple((agent, tuple(kernel.holds(agent))) for agent in agents) if "holds" in abilities else ()
    progress = bool(kernel.progress()) if "progress" in abilities else None
    return Round(outcomes, session.observe(), held, progress, order, twice)


def _mapped(given: Any) -> tuple[Any, tuple[str, ...]]:
    """Return outcomes by agent, and who was answered twice; a kernel may give pairs of agent and outcome."""
    if not isinstance(given, list | tuple) or not all(isinstance(one, tuple) and len(one) == 2 for one in given):
        return given, ()
    counts = Counter(agent for agent, _ in given)
    return dict(given), tuple(agent for agent, count in counts.items() if count > 1)


def without(play: Play, agent: str, number: int = -1) -> Play:
    """Return the play in which an agent asks for nothing in that round."""
    rounds = list(play.rounds)
    rounds[number] = tuple(pair for pair in rounds[number] if pair[0] != agent)
    return replace(play, rounds=tuple(rounds))


def plays(subject: Subject, *, sort: Sort | None = None, least: int = 1, most: int = MOST_ROUNDS) -> Iterator[Play]:
    """Yield plays of `least` to `most` rounds of all agents, the fewest agents and rounds first; see `longer`."""
    sizes = range(2, MOST_AGENTS + 1) if "population" in subject.abilities else [len(subject.agents)]
    for rounds in range(least, most + 1):
        for size in sizes:
            yield from longer(subject, Play(subject.agents[:size], ()), rounds, sort)


def longer(subject: Subject, play: Play, rounds: int = 1, sort: Sort | None = None) -> Iterator[Play]:
    """Yield the plays that go on from `play` for that many rounds; choices may depend on what happened.

    Choices come in the order in which the kernel lists them, or sorted by `sort`.  A kernel that does not start is
    asked in one round in which nobody chooses.  Raises NotExaminable and OutOfTime.
    """
    if rounds == 0:
        yield play
        return
    offered = menus(subject, play)
    if not offered and not play.rounds:
        yield unstarted(play)
        return
    if not any(offered.values()):
        return
    able = {agent: sorted(menu, key=sort) if sort else menu for agent, menu in offered.items() if menu}
    for picked in itertools.product(*able.values()):
        profile = tuple(zip(able, picked, strict=True))
        yield from longer(subject, replace(play, rounds=(*play.rounds, profile)), rounds - 1, sort)


def unstarted(play: Play) -> Play:
    """Return the play that shows that the kernel does not start: in its only round nobody chooses."""
    return replace(play, rounds=((),))


def menus(subject: Subject, play: Play) -> Mapping[str, tuple[Any, ...]]:
    """Return each agent's choices after a play; none where the play ended with an exception of `act`.

    An agent without choices does not take part.  Raises NotExaminable where `choices` itself fails, and OutOfTime.
    """
    if subject.left() <= 0:
        raise OutOfTime
    session, _ = reached(subject, play)
    return {} if session is None else offers(session, play)


def offers(session: Session, play: Play) -> Mapping[str, tuple[Any, ...]]:
    """Return each agent's choices now, after this play.  Raises NotExaminable where the kernel fails to list them."""
    made: dict[str, tuple[Any, ...]] = {}
    for agent in play.agents:
        try:
            made[agent] = session.choices(agent)
        except NotExaminable:
            raise
        except Exception as error:
            past = "; ".join(", ".join(f"{one}: {describe(choice)}" for one, choice in row) for row in play.rounds)
            when = f"after {past}" if past else "at the start"
            raise NotExaminable(
                f"{session.subject.name}: choices({agent!r}) raised {error_text(error)} {when}; "
                "return an empty list for an agent that has nothing to choose"
            ) from error
    return made
