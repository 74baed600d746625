"""The questions: what must not decide.  Each changes one thing about a play and says what must stay the same."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.plays import Play, Shown, longer, perform
from evenhand.arbiters.values import Names, comparable

T = TypeVar("T")

OTHERS = ("zoe", "yan", "xia", "wim", "vic", "una")
"""Names whose order is the reverse of the usual one."""

TIMES = 8
"""Repetitions of a play that must give the same each time."""


@dataclass(frozen=True)
class Witness:
    """A play that answers a question with yes, the play beside it (None: one run is enough), and what each showed.

    `names` leads from the first play's names to the second's; `change` says in words what differs between the plays,
    `why` what is wrong.
    """

    play: Play
    shown: Shown
    why: str
    change: str = ""
    other: Play | None = None
    also: Shown | None = None
    names: tuple[tuple[str, str], ...] = ()


def orders(things: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Yield other orders: all of up to three things, of more the exchange of two neighbours and the reverse."""
    if len(things) <= 3:
        yield from itertools.islice(itertools.permutations(things), 1, None)
        return
    yield things[::-1]
    for n in range(len(things) - 1):
        yield (*things[:n], things[n + 1], things[n], *things[n + 2 :])


class Question(ABC):
    """One question about a kernel.

    `name` is its name in reports and exceptions, `sentence` the claim that a clean kernel satisfies, `needs` the
    abilities without which it cannot be asked: one of each group.
    """

    name: ClassVar[str]
    sentence: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    after: ClassVar[tuple[str, ...]] = ("repetition",)
    """Questions whose findings explain one of this, so that it is asked only where they found none."""

    def missing(self, subject: Subject) -> str:
        """Return what the kernel would have to offer; empty if the question can be asked."""
        return (
            "" if not self.needs or any(need in subject.abilities for need in self.needs) else " or ".join(self.needs)
        )

    @abstractmethod
    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Return the witness that this play gives, None if it gives none."""


class _Varied(Question):
    """A question that compares a play with variants of it."""

    @abstractmethod
    def variants(self, subject: Subject, play: Play) -> Iterator[tuple[Play, Names, str]]:
        """Yield variants, each with the names (or labels) that lead to it, and the change in words."""

    why = "the outcomes differ"

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Return the first variant whose outcomes differ."""
        for other, names, change in self.variants(subject, play):
            also = perform(subject, other)
            if shown.compared(names) != also.compared():
                return Witness(play, shown, self.why, change, other, also, tuple(names.items()))
        return None


class Seats(_Varied):
    """Does the order in which agents are listed decide?"""

    name = "listing order"
    sentence = "The order in which the agents are listed decides nothing."
    needs = ("population",)

    def variants(self, subject: Subject, play: Play) -> Iterator[tuple[Play, Names, str]]:
        """The same choices, the agents listed otherwise."""
        for listed in orders(play.agents):
            yield replace(play, agents=listed), {}, f"the agents are listed as {', '.join(listed)}"


class Delivery(_Varied):
    """Does the order in which choices are handed over decide?"""

    name = "delivery order"
    sentence = "The order in which one round's choices are handed over decides nothing."

    def variants(self, subject: Subject, play: Play) -> Iterator[tuple[Play, Names, str]]:
        """The same choices, handed over in another order."""
        for order in orders(tuple(range(len(play.agents)))):
            rounds = tuple(tuple(one[place] for place in order if place < len(one)) for one in play.rounds)
            agents = ", ".join(agent for agent, _ in rounds[0]) if rounds else ""
            yield replace(play, rounds=rounds), {}, f"the choices are handed over in the order {agents}"


class AgentNames(_Varied):
    """Do names decide?"""

    name = "names"
    sentence = "The names of the agents decide nothing: renaming them renames the outcomes."
    needs = ("population", "rename")

    def variants(self, subject: Subject, play: Play) -> Iterator[tuple[Play, Names, str]]:
        """Other names: in another order of the alphabet, longer, in capitals, with the old ones exchanged."""
        tables: list[tuple[str, ...]] = [OTHERS[: len(play.agents)], tuple(reversed(play.agents))]
        tables += [tuple(f"{agent}{'x' * (4 * n)}" for n, agent in enumerate(play.agents))]
        tables += [tuple(agent.upper() if n == 0 else agent for n, agent in enumerate(play.agents))]
        for table in tables:
            names = dict(zip(play.agents, table, strict=True))
            if "population" in subject.abilities:
                yield play.under(names), names, f"the agents are called {', '.join(table)}"
            else:
                other = replace(play.under(names), agents=play.agents, names=tuple(names.items()))
                yield other, names, f"the agents are called {', '.join(table)}"


class Exchange(_Varied):
    """Does it matter who makes which choice?"""

    name = "exchange"
    sentence = "Agents that exchange their choices exchange their outcomes."
    after = ("listing order", "delivery order", "names", "repetition")

    def variants(self, subject: Subject, play: Play) -> Iterator[tuple[Play, Names, str]]:
        """The same choices, made by others."""
        for order in orders(play.agents):
            names = dict(zip(play.agents, order, strict=True))
            yield play.exchanged(names), names, f"{', '.join(play.agents)} make the choices of {', '.join(order)}"


class Labels(_Varied):
    """Do the choices' own labels decide?"""

    name = "labels"
    sentence = "The labels of the choices decide nothing: relabelling them relabels the outcomes."
    needs = ("labels",)

    def variants(self, subject: Subject, play: Play) -> Iterator[tuple[Play, Names, str]]:
        """The labels exchanged in choices and outcomes."""
        for order in orders(subject.labels):
            labels = dict(zip(subject.labels, order, strict=True))
            yield play.relabelled(labels), labels, f"the labels {', '.join(subject.labels)} become {', '.join(order)}"


class Repetition(_Varied):
    """Does hidden randomness (or something else that cannot be seen) decide?"""

    name = "repetition"
    sentence = "The same play gives the same outcomes each time."
    after = ()
    why = "the same play gave other outcomes"

    def variants(self, subject: Subject, play: Play) -> Iterator[tuple[Play, Names, str]]:
        """The same play again."""
        for _ in range(TIMES):
            yield play, {}, "nothing; the same play was repeated with a fresh kernel"


class Answered(Question):
    """Is every request answered, each once, and no other?"""

    name = "answers"
    sentence = "Every agent that asks gets one outcome, and no other agent gets any."
    after = ()

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Compare the agents asked with those answered."""
        for number, (profile, one) in enumerate(zip(play.rounds, shown.rounds, strict=False), start=1):
            asked = [agent for agent, _ in profile]
            why = ""
            if one.error:
                why = f"round {number} raised {one.error}"
            elif not hasattr(one.outcomes, "keys"):
                why = f"round {number} gave {type(one.outcomes).__name__}, no outcome for each agent"
            else:
                lost = [agent for agent in asked if agent not in one.outcomes]
                extra = [str(agent) for agent in one.outcomes if agent not in asked]
                why = f"round {number} gave no outcome to {', '.join(lost)}" if lost else ""
                why = f"round {number} gave an outcome to {', '.join(extra)}, which asked for nothing" if extra else why
            if why:
                return Witness(play, shown, why)
        return None


class Exclusion(Question):
    """Do two agents hold what only one may hold?"""

    name = "exclusion"
    sentence = "No two agents hold the same thing at the same time."
    needs = ("holds",)
    after = ()

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Look for two holders of one thing after each round."""
        for number, one in enumerate(shown.rounds, start=1):
            for (first, mine), (second, theirs) in itertools.combinations(one.holds, 2):
                both = {comparable(thing): thing for thing in mine}.keys() & {comparable(thing) for thing in theirs}
                if both:
                    thing = next(thing for thing in mine if comparable(thing) in both)
                    return Witness(play, shown, f"after round {number} {first} and {second} both hold {thing!r}")
        return None


class Participation(Question):
    """Is an agent better off when it does not ask?"""

    name = "participation"
    sentence = "No agent is worse off because it asks."
    needs = ("worth",)

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Leave one agent out of the last round, and compare what it is worth to the others and to itself.

        An agent that does not ask gets no outcome, whose worth is `worth(None)`.
        """
        if not shown.rounds or shown.rounds[-1].error or len(shown.rounds) != len(play.rounds):
            return None
        worth = subject.start(play.agents).kernel.worth
        for agent, _ in play.rounds[-1]:
            mine, nothing = worth(shown.rounds[-1].outcomes.get(agent)), worth(None)
            if mine < nothing:
                last = tuple(pair for pair in play.rounds[-1] if pair[0] != agent)
                other = replace(play, rounds=(*play.rounds[:-1], last))
                why = f"{agent} gets what is worth {mine}, and {nothing} when it does not ask"
                return Witness(play, shown, why, f"{agent} does not ask", other, perform(subject, other))
        return None


class History(Question):
    """Does the past decide where the present is the same?"""

    name = "history"
    sentence = "After equal observations, equal choices have equal outcomes, whatever happened before."
    needs = ("observe",)

    def __init__(self) -> None:
        self._known: dict[object, tuple[Play, Shown]] = {}

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Compare the last round with earlier plays that had come to the same observation."""
        if len(play.rounds) < 2 or len(shown.rounds) < len(play.rounds):
            return None
        before, last = shown.rounds[-2], shown.rounds[-1]
        key = (play.agents, comparable(before.observed), comparable(play.rounds[-1]))
        earlier = self._known.setdefault(key, (play, shown))
        if earlier[1].rounds[-1].compared() != last.compared():
            change = "the rounds before the last, after which the kernel shows the same state"
            return Witness(*earlier, "the last round has other outcomes", change, play, shown)
        return None


class Stuck(Question):
    """Can it get stuck, so that nothing that is chosen achieves anything any more?"""

    name = "progress"
    sentence = "After every play some choices make progress."
    needs = ("progress",)

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Look for an observation that no choice leads out of, and none of whose choices makes progress."""
        if not shown.rounds or shown.rounds[-1].error:
            return None
        here = comparable(shown.rounds[-1].observed)
        for further in longer(subject, play):
            after = perform(subject, further)
            last = after.rounds[-1]
            if last.error or last.progress or comparable(last.observed) != here:
                return None
        return Witness(play, shown, "no choice makes progress or changes anything from here on")


def questions() -> tuple[Question, ...]:
    """Return every question, in the order in which they are asked."""
    return (
        Answered(),
        Repetition(),
        Delivery(),
        Seats(),
        AgentNames(),
        Labels(),
        History(),
        Exclusion(),
        Participation(),
        Stuck(),
        Exchange(),
    )
