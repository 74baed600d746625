"""Questions that compare a play with variants of it: what must not decide is changed, and nothing may follow."""

from __future__ import annotations

import itertools
import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

from evenhand.arbiters.kernels import POPULATION, Subject
from evenhand.arbiters.naming import Criterion, rule_that_fits
from evenhand.arbiters.plays import Play, Shown, menus, perform
from evenhand.arbiters.question import Question, Unable, Witness
from evenhand.arbiters.shares import Sample, Shares
from evenhand.arbiters.values import Labelling, Names, comparable, renamed
from evenhand.core.text import describe

T = TypeVar("T")

OTHERS = ("zoe", "yan", "xia", "wim", "vic", "una")
"""Names whose order is the reverse of the usual one."""

TIMES, MANY_TIMES, MANY_PLAYS = 8, 200, 24
"""Repetitions of a play that must give the same each time, and of the first plays, which are the smallest."""

AT_MOST = 0.1
"""CPU seconds after which a play is repeated no more than `TIMES`."""

ORDERS = ("repetition", "identity", "listing order", "delivery order", "asking order", "names")


def orders(things: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Yield other orders: all of up to three things, of more the exchange of two neighbours and the reverse."""
    if len(things) <= 3:
        yield from itertools.islice(itertools.permutations(things), 1, None)
        return
    yield things[::-1]
    for n in range(len(things) - 1):
        yield (*things[:n], things[n + 1], things[n], *things[n + 2 :])


@dataclass(frozen=True)
class Variant:
    """A play beside another: what differs, in words, and the names (or labels) that lead to it."""

    play: Play
    change: str
    names: Names = field(default_factory=dict[str, str])


class Varied(Question):
    """A question that compares a play with variants of it."""

    why: ClassVar[str] = "the outcomes differ"
    decides: ClassVar[str]
    """What decides where a variant differs."""
    criteria: ClassVar[Mapping[str, Criterion]] = {}
    """Rules that are tried to name the arbiter, each with the agent that it favours."""
    loose: ClassVar[bool] = False
    """Whether the order of lists in the kernel's state may differ, because it may list the agents."""

    def __init__(self) -> None:
        self._shares = Shares()

    @abstractmethod
    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """Yield the variants.  Raises Unable."""

    def wider(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """Yield the variants, and others if need be, by which rules are told apart."""
        return self.variants(subject, play)

    def seen(self, play: Play, shown: Shown, names: Names) -> Hashable:
        """Return what is compared of a play, with these names put in place of others."""
        del play
        return shown.compared(names, loose=self.loose)

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Return the first variant whose outcomes differ, and do so over all seeds."""
        for variant in self.variants(subject, play):
            also = perform(subject, variant.play)
            if self._differ(subject, (play, shown), variant, also):
                names = tuple(variant.names.items())
                return Witness(play, shown, self.why, variant.change, variant.play, also, names)
        return None

    def _differ(self, subject: Subject, base: tuple[Play, Shown], variant: Variant, also: Shown) -> bool:
        (play, shown), names = base, variant.names
        if "order" in subject.abilities and _declared(shown, names) != _declared(also, {}):
            return False  # the declared order of precedence is another, and explains it
        if "seed" not in subject.abilities:
            return self.seen(play, shown, names) != self.seen(play, also, {})
        left = Sample(play, lambda one: self.seen(play, one, names), comparable(names))
        return not self._shares.alike(subject, left, Sample(variant.play, lambda one: self.seen(play, one, {})))

    def named(self, subject: Subject, witness: Witness) -> str:
        """Return the rules that fit all variants; else what decides, without a rule."""

        def variants(play: Play) -> Iterator[Play]:
            return (one.play for one in self.wider(subject, play))

        def differ(play: Play) -> bool:
            return self.ask(subject, play, perform(subject, play)) is not None

        found = rule_that_fits(subject, witness.play, variants, self.criteria, differ=differ)
        simple = "; no simple rule fits all variants" if self.criteria else ""
        return found or f"{self.decides}{simple}"


def _declared(shown: Shown, names: Names) -> Hashable:
    return comparable([[names.get(agent, agent) for agent in one.order] for one in shown.rounds])


class Repetition(Varied):
    """Does hidden randomness (or something else that cannot be seen) decide?"""

    name = "repetition"
    sentence = "The same play gives the same outcomes each time."
    after = ()
    why = "the same play gave other outcomes"
    decides = "random"

    def __init__(self) -> None:
        super().__init__()
        self._plays = 0

    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """The same play again."""
        self._plays += 1
        began = time.process_time()
        for number in range(MANY_TIMES if self._plays <= MANY_PLAYS else TIMES):
            if number >= TIMES and time.process_time() > began + AT_MOST:
                return
            yield Variant(play, "nothing; the same play was repeated with a fresh kernel")

    def _differ(self, subject: Subject, base: tuple[Play, Shown], variant: Variant, also: Shown) -> bool:
        return base[1].compared() != also.compared()  # under one seed, the same each time

    def named(self, subject: Subject, witness: Witness) -> str:
        """Return how often each outcome came in many runs of the play."""
        counts = Counter(perform(subject, witness.play).compared() for _ in range(MANY_TIMES))
        shares = " : ".join(str(count) for _, count in counts.most_common(5))
        more = f" and {len(counts) - 5} more" if len(counts) > 5 else ""
        return f"random: {shares}{more} in {MANY_TIMES} runs"


class Seats(Varied):
    """Does the order in which agents are listed decide?"""

    name = "listing order"
    sentence = "The order in which the agents are listed decides nothing."
    needs = (("population",),)
    decides = "the listing order decides"
    loose = True
    criteria: ClassVar[Mapping[str, Criterion]] = {
        "the first in `agents`": lambda play: play.agents[0],
        "the last in `agents`": lambda play: play.agents[-1],
        "the middle one in `agents`": lambda play: play.agents[1] if len(play.agents) == 3 else "",
    }

    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """The same choices, the agents listed otherwise."""
        for listed in orders(play.agents):
            yield Variant(replace(play, agents=listed), f"the agents are listed as {', '.join(listed)}")


class Delivery(Varied):
    """Does the order in which choices are handed over decide?"""

    name = "delivery order"
    sentence = "The order in which one round's choices are handed over decides nothing."
    decides = "the delivery order decides"
    criteria: ClassVar[Mapping[str, Criterion]] = {
        "whoever is handed over first": lambda play: play.rounds[-1][0][0],
        "whoever is handed over last": lambda play: play.rounds[-1][-1][0],
    }

    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """The same choices, handed over in another order."""
        for order in orders(tuple(range(len(play.agents)))):
            other = play.delivered(order)
            if other.rounds != play.rounds:
                first = next(now for now, then in zip(other.rounds, play.rounds, strict=True) if now != then)
                agents = ", ".join(str(agent) for agent, _ in first)
                yield Variant(other, f"the choices are handed over in the order {agents}")


class Asking(Varied):
    """Does the order in which agents are asked for their choices decide?"""

    name = "asking order"
    sentence = "The order in which agents are asked for their choices decides nothing."
    needs = (("choices(agent)",),)
    decides = "the asking order decides"
    criteria: ClassVar[Mapping[str, Criterion]] = {
        "whoever is asked first": lambda play: play.asked[0],
        "whoever is asked last": lambda play: play.asked[-1],
    }

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Compare with the order of the list."""
        base = replace(play, asked=play.agents)
        return super().ask(subject, base, perform(subject, base))

    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """The same choices, the agents asked in another order."""
        for asked in orders(play.agents):
            yield Variant(replace(play, asked=asked), f"the agents are asked in the order {', '.join(map(str, asked))}")


class AgentNames(Varied):
    """Do names decide?"""

    name = "names"
    sentence = "The names of the agents decide nothing: renaming them renames the outcomes."
    needs = (("population", "rename"),)
    after = ("repetition", "identity")
    decides = "something in the names decides"
    criteria: ClassVar[Mapping[str, Criterion]] = {
        "the smallest name": lambda play: min(play.agents),
        "the greatest name": lambda play: max(play.agents),
        "the shortest name": lambda play: extreme(play.agents, -1) or "",
        "the longest name": lambda play: extreme(play.agents, 1) or "",
    }

    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """Other names: in other orders of the alphabet, longer and shorter, in capitals, with one beginning."""
        agents, size = play.agents, len(play.agents)
        if not all(isinstance(agent, str) for agent in agents):
            raise Unable("the names of the agents are no texts")
        tables = [OTHERS[:size], tuple(reversed(agents))]
        tables += [tuple(f"{agent}{'x' * (4 * n)}" for n, agent in enumerate(agents))]
        tables += [tuple(f"{agent}{'x' * (4 * (size - n))}" for n, agent in enumerate(agents))]
        tables += [tuple(agent.upper() if n == 0 else agent for n, agent in enumerate(agents))]
        tables += [tuple(f"agent {agent}" for agent in agents)]
        yield from self._called(play, tables)

    def wider(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """Further orders of the alphabet tell rules apart."""
        yield from self.variants(subject, play)
        yield from self._called(play, orders(OTHERS[: len(play.agents)]))

    def _called(self, play: Play, tables: Iterable[tuple[str, ...]]) -> Iterator[Variant]:
        for table in tables:
            names = dict(zip(play.agents, table, strict=True))
            yield Variant(play.called(names), f"the agents are called {', '.join(table)}", names)


def extreme(words: Sequence[T], sign: int) -> T | None:
    """Return the longest of names or labels (the shortest for -1); None where two are as long."""
    sizes = [sign * len(str(one)) for one in words]
    longest = [one for one, size in zip(words, sizes, strict=True) if size == max(sizes)]
    return longest[0] if len(longest) == 1 else None


class Exchange(Varied):
    """Does it matter who makes which choice?"""

    name = "exchange"
    sentence = (
        "Agents that exchange their choices exchange their outcomes; a choice that names one names the other then."
    )
    after = ORDERS
    decides = "who makes a choice decides"
    loose = True

    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """The same choices, made by others that have them too."""
        for order in orders(play.agents):
            names = dict(zip(play.agents, order, strict=True))
            other = play.exchanged(names)
            if _offered(subject, other):
                moved = (
                    f"{', '.join(map(str, play.agents))} make the choices of {', '.join(map(str, _back(names, play)))}"
                )
                yield Variant(other, moved, names)

    def named(self, subject: Subject, witness: Witness) -> str:
        """Return which agent is favoured whoever makes which choice."""
        criteria: dict[str, Criterion] = {str(agent): lambda _, a=agent: a for agent in witness.play.agents}  # type: ignore[misc]
        runs = [one.play for one in self.variants(subject, witness.play)]
        found = rule_that_fits(subject, witness.play, lambda _: runs, criteria, constant=True, third=False)
        return f"{found}, whoever makes which choice" if found else self.decides


def _back(names: Names, play: Play) -> tuple[str, ...]:
    """Return whose choice each agent makes."""
    source = {new: old for old, new in names.items()}
    return tuple(source[agent] for agent in play.agents)


def _offered(subject: Subject, play: Play) -> bool:
    """Return whether every choice of a play is offered to the agent that makes it."""
    for number, profile in enumerate(play.rounds):
        offered = menus(subject, replace(play, rounds=play.rounds[:number]))
        if not all(comparable(choice) in map(comparable, offered.get(agent, ())) for agent, choice in profile):
            return False
    return True


class Labels(Varied):
    """Do the choices' own labels decide?"""

    name = "labels"
    sentence = "The labels of the choices decide nothing: relabelling them relabels the outcomes."
    needs = (("labels",),)
    decides = "the labels decide"

    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """The labels exchanged in choices and outcomes."""
        for order in orders(subject.labels):
            labels = Labelling(zip(subject.labels, order, strict=True))
            change = f"the labels {', '.join(map(str, subject.labels))} become {', '.join(map(str, order))}"
            yield Variant(play.changed(partial(renamed, names=labels)), change, labels)

    def named(self, subject: Subject, witness: Witness) -> str:
        """Return which of the labels that are chosen is favoured, where all agents get one result."""
        runs = [witness.play, *(one.play for one in self.variants(subject, witness.play))]
        results = [_result(perform(subject, play)) for play in runs]
        chosen = [[one for one in subject.labels if one in dict(play.rounds[-1]).values()] for play in runs]
        rules: dict[str, list[Any]] = {
            "the smallest label chosen": [min(some, key=str, default=None) for some in chosen],
            "the greatest label chosen": [max(some, key=str, default=None) for some in chosen],
            "the shortest label chosen": [extreme(some, -1) for some in chosen],
            "the longest label chosen": [extreme(some, 1) for some in chosen],
            "the first in `labels` of those chosen": [some[0] if some else None for some in chosen],
            "the last in `labels` of those chosen": [some[-1] if some else None for some in chosen],
        }
        rules |= {f"the label {describe(one)}": [one] * len(runs) for one in subject.labels}
        fitting = [words for words, labels in rules.items() if list(map(comparable, labels)) == results]
        return f"{' or '.join(fitting)} wins" if fitting else f"{self.decides}; no simple rule fits all variants"


def _result(shown: Shown) -> Hashable:
    """Return the one result that all agents get in the last round; None if they get several."""
    outcomes: Any = shown.rounds[-1].outcomes
    results: set[Hashable] = {comparable(one) for one in outcomes.values()} if hasattr(outcomes, "values") else set()
    return results.pop() if len(results) == 1 else None


class Number(Varied):
    """Does the number of agents decide, where the others ask for nothing?"""

    name = "number of agents"
    sentence = "An agent that is listed and asks for nothing changes nothing for the others."
    needs = (("population",),)
    after = ORDERS
    decides = "the number of agents decides"

    def seen(self, play: Play, shown: Shown, names: Names) -> Hashable:
        """Compare the outcomes of those that ask; the state may list the others."""
        rounds = zip(play.rounds, (one.outcomes for one in shown.rounds), strict=False)
        return tuple(
            comparable({agent: given.get(agent) for agent, _ in profile} if hasattr(given, "get") else given)
            for profile, given in rounds
        )

    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """One, two and three more agents, listed last; then one listed first."""
        more = [agent for agent in (*POPULATION, *OTHERS) if agent not in play.agents]
        for agents in (*((*play.agents, *more[:number]) for number in (1, 2, 3)), (more[0], *play.agents)):
            other = replace(play, agents=agents)
            if perform(subject, other).error and not perform(subject, play).error:
                raise Unable("the kernel wants a choice of every agent that is listed")
            yield Variant(other, f"the agents are {', '.join(agents)}; those added ask for nothing")
