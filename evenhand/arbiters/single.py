"""Questions about what a play itself shows: answers, holders, the past, progress, the declared order."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import replace
from random import Random
from typing import Any

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.plays import Play, Round, Shown, longer, look, perform, reached, without
from evenhand.arbiters.question import Question, Unable, Witness
from evenhand.arbiters.shares import Sample, Shares
from evenhand.arbiters.values import comparable
from evenhand.core.answers import error_text
from evenhand.core.text import describe


class Answered(Question):
    """Is every request answered, each once, and no other?"""

    name = "answers"
    sentence = "Every agent that asks gets one outcome, and no other agent gets any."
    after = ()
    unstarted = True

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Compare the agents asked with those answered, also where one agent is listed and asks for nothing."""
        found = self._answered(play, shown)
        for agent, _ in reversed(play.rounds[-1]) if found is None and len(play.rounds[-1]) > 1 else ():
            fewer = without(play, agent)
            also = perform(subject, fewer)
            found = found or (None if also.error else self._answered(fewer, also))
        return found

    def _answered(self, play: Play, shown: Shown) -> Witness | None:
        for number, (profile, one) in enumerate(zip(play.rounds, shown.rounds, strict=False), start=1):
            asked = [agent for agent, _ in profile]
            why = ""
            if one.error:
                why = f"round {number} raised {one.error}"
            elif not hasattr(one.outcomes, "keys"):
                why = f"round {number} gave {type(one.outcomes).__name__}, no outcome for each agent"
            elif lost := [str(agent) for agent in asked if agent not in one.outcomes]:
                why = f"round {number} gave no outcome to {', '.join(lost)}"
            elif extra := [str(agent) for agent, got in one.outcomes.items() if agent not in asked and got is not None]:
                why = f"round {number} gave an outcome to {', '.join(extra)}, which did not ask"
            elif one.twice:
                why = f"round {number} answered {', '.join(map(str, one.twice))} twice"
            if why:
                return Witness(play, shown, why)
        return None


class OwnRule(Question):
    """Does anybody get what the kernel's own rule forbids?"""

    name = "own rule"
    sentence = "No agent gets an outcome that the kernel's own rule forbids."
    needs = (("may",),)
    after = ()

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Ask the kernel as it was before the last round.  Raises Unable where `may` raises."""
        before, _ = reached(subject, replace(play, rounds=play.rounds[:-1]))
        outcomes: Any = shown.rounds[-1].outcomes if shown.rounds else None
        if shown.error or before is None or not hasattr(outcomes, "items"):
            return None
        for agent, outcome in outcomes.items():
            try:
                allowed = before.kernel.may(agent, dict(play.rounds[-1]), outcome)
            except Exception as error:
                raise Unable(f"may({agent!r}, …, {describe(outcome)}) raised {error_text(error)}") from error
            if not allowed:
                why = f"round {len(play.rounds)} gave {agent} {describe(outcome)}, which the kernel's own rule forbids"
                return Witness(play, shown, why)
        return None


class Restored(Question):
    """Does a restored kernel go on as it did before?"""

    name = "snapshot"
    sentence = "A kernel that is restored from a snapshot goes on as the kernel from which it was taken."
    needs = (("snapshot",),)
    rounds = 2

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Take a snapshot before the last of two rounds, and perform that round twice."""
        if len(play.rounds) != 2 or shown.error:
            return None
        seen: list[Round] = []
        try:
            session = play.start(subject)
            session.act(play.rounds[0])
            snapshot = session.kernel.snapshot()
            for _ in range(2):
                seen = [look(session, play.agents, session.act(play.rounds[1]))]
                session.kernel.restore(snapshot)
            seen = [look(session, play.agents, session.act(play.rounds[1]))]
        except Exception as error:
            seen = [Round(None, error=error_text(error))]
        also = Shown((shown.rounds[0], *seen))
        if also.compared() == shown.compared():
            return None
        why = "a restored kernel does not go on as the kernel from which the snapshot was taken"
        return Witness(play, shown, why, "round 2 is played, and again after the snapshot is restored", play, also)


class Exclusion(Question):
    """Do two agents hold what only one may hold?"""

    name = "exclusion"
    sentence = "No two agents hold the same thing at the same time."
    needs = (("holds",),)
    after = ()

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Look for two holders of one thing after each round."""
        for number, one in enumerate(shown.rounds, start=1):
            for (first, mine), (second, theirs) in itertools.combinations(one.holds, 2):
                both = {comparable(thing) for thing in theirs}
                for thing in mine:
                    if comparable(thing) in both:
                        why = f"after round {number} {first} and {second} both hold {thing!r}"
                        return Witness(play, shown, why)
        return None


class History(Question):
    """Does the past decide where the present is the same?"""

    name = "history"
    sentence = "After equal observations, equal choices have equal outcomes, whatever happened before."
    needs = (("observe",),)
    rounds = 2

    def __init__(self) -> None:
        self._known: dict[object, tuple[Play, Shown]] = {}
        self._shares = Shares()

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Compare the last round with earlier plays that had come to the same observation."""
        if len(play.rounds) < 2 or len(shown.rounds) < len(play.rounds):
            return None
        before = comparable(shown.rounds[-2].observed)
        earlier = self._known.setdefault((play.agents, before, comparable(play.rounds[-1])), (play, shown))
        if _last(earlier[1]) == _last(shown):
            return None

        def seen(one: Shown) -> Hashable:
            same = len(one.rounds) > 1 and comparable(one.rounds[-2].observed) == before
            return _last(one) if same else None

        if "seed" in subject.abilities and self._shares.alike(
            subject, Sample(earlier[0], seen, before), Sample(play, seen, before)
        ):
            return None
        change = "the rounds before the last, after which the kernel shows the same state"
        return Witness(*earlier, "the last round has other outcomes", change, play, shown)

    def again(self, witness: Witness) -> tuple[Play, ...]:
        """Return both plays, because the second is compared with the first."""
        return (witness.play,) if witness.other is None else (witness.play, witness.other)

    def named(self, subject: Subject, witness: Witness) -> str:
        """Return whose past decides for whom: put one agent's past in the place of its other past at a time."""
        play, other = witness.play, witness.other
        if other is None or len(play.rounds) != len(other.rounds):
            return "the past decides"
        found: list[str] = []
        for agent in play.agents:
            mixed = tuple(
                tuple((one, dict(theirs).get(one, choice) if one == agent else choice) for one, choice in mine)
                for mine, theirs in zip(play.rounds[:-1], other.rounds[:-1], strict=True)
            )
            shown = perform(subject, replace(play, rounds=(*mixed, play.rounds[-1])))
            if len(shown.rounds) == len(play.rounds):
                gets = _changed(play, shown, witness.shown)
                found += [f"the past of {agent} decides what {', '.join(gets)} gets"] if gets else []
        return " and ".join(found) or "the past decides"


def _last(shown: Shown) -> Hashable:
    return shown.rounds[-1].compared()


def _changed(play: Play, shown: Shown, other: Shown) -> list[str]:
    """Return the agents whose last outcomes differ."""
    one, two = shown.rounds[-1].outcomes, other.rounds[-1].outcomes
    if not hasattr(one, "get") or not hasattr(two, "get"):
        return []
    return [agent for agent in play.agents if comparable(one.get(agent)) != comparable(two.get(agent))]


class Progress(Question):
    """Can it get stuck, or run on for ever, so that nothing that is chosen achieves anything any more?"""

    name = "progress"
    sentence = "After every play some choices lead to progress."
    needs = (("progress",), ("observe",))
    most = 60
    """States without progress that are looked at from one play."""

    def __init__(self) -> None:
        self._alive: set[Hashable] = set()

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Look for states that no choice leads out of, and in which none makes progress.  Raises Unable."""
        if not shown.rounds or shown.error:
            return None
        here = (play.agents, comparable(shown.rounds[-1].observed))
        if here in self._alive:
            return None
        states, open_ = {here[1]}, [play]
        while open_:
            further = [(one, perform(subject, one)) for one in longer(subject, open_.pop())]
            if not further or any(after.error or after.rounds[-1].progress for _, after in further):
                self._alive.add(here)
                return None
            for one, after in further:
                state = comparable(after.rounds[-1].observed)
                if state not in states:
                    states.add(state)
                    open_.append(one)
            if len(states) > self.most:
                raise Unable(f"more than {self.most} states are reached without progress")
        if self._moves_on(subject, play):
            raise Unable("`observe` does not show all that progress depends on")
        if len(states) == 1:
            return Witness(play, shown, "no choice makes progress or changes anything from here on")
        why = f"it runs on for ever: whatever is chosen, it stays among {len(states)} states and makes no progress"
        return Witness(play, shown, why)

    def _moves_on(self, subject: Subject, play: Play) -> bool:
        """Return whether longer drawn plays make progress after all."""
        draw = Random(0)
        for _ in range(10):
            one = play
            for _ in range(8):
                further = list(longer(subject, one))
                if not further:
                    return True
                one = draw.choice(further)
            if any(later.progress for later in perform(subject, one).rounds[len(play.rounds) :]):
                return True
        return False


class Turns(Question):
    """Does an agent stay first in the order of precedence that the kernel declares?"""

    name = "turns"
    sentence = "In the declared order of precedence every agent comes first at some time."
    needs = (("order",),)

    def __init__(self) -> None:
        self._asked: set[tuple[str, ...]] = set()

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Repeat each round many times; one in which every agent comes first at some time is enough."""
        if len(play.rounds) != 1 or play.agents in self._asked:
            return None
        self._asked.add(play.agents)
        times = 2 * len(play.agents)
        last: list[str] = []
        for one in longer(subject, replace(play, rounds=())):
            again = perform(subject, replace(one, rounds=one.rounds * times))
            first = {row.order[0] for row in again.rounds if row.order}
            last = [str(agent) for agent in play.agents if agent not in first]
            if not last:
                return None
        shortest = replace(play, rounds=play.rounds * 2)
        why = f"{', '.join(last)} never comes first in {times} rounds of the same choices"
        return Witness(shortest, perform(subject, shortest), why)

    def again(self, witness: Witness) -> tuple[Play, ...]:
        """Return the first round, which is repeated here."""
        return (replace(witness.play, rounds=witness.play.rounds[:1]),)
