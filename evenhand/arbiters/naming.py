"""Name the arbiter: ask the kernel variants of the witness, and say which rule fits all of them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.plays import Play, Round, perform
from evenhand.arbiters.questions import OTHERS, Question, Witness
from evenhand.arbiters.values import comparable
from evenhand.core.text import describe

RUNS = 200
"""Runs from which the shares of a random outcome are counted."""

Criterion = Callable[[Play], str]

CRITERIA: dict[str, dict[str, Criterion]] = {
    "listing order": {
        "the first in `agents`": lambda play: play.agents[0],
        "the last in `agents`": lambda play: play.agents[-1],
    },
    "delivery order": {
        "whoever is handed over first": lambda play: play.rounds[-1][0][0],
        "whoever is handed over last": lambda play: play.rounds[-1][-1][0],
    },
    "names": {
        "the smallest name": lambda play: min(play.agents),
        "the greatest name": lambda play: max(play.agents),
        "the shortest name": lambda play: _by_length(play)[0],
        "the longest name": lambda play: _by_length(play)[-1],
    },
}
"""Question → the rules that are tried, each with the agent that it favours."""


def arbiter(subject: Subject, question: Question, witness: Witness) -> str:
    """Return what decides in the witness, as far as variants of it show."""
    if question.name == "repetition":
        return _shares(subject, witness.play)
    if question.name not in CRITERIA:
        return witness.why
    for play in (_with_a_third(subject, witness.play), witness.play):
        runs = [(one, perform(subject, one).rounds[-1]) for one in _variants(subject, question, play)]
        runs = [(one, last) for one, last in runs if not last.error and _answers_all(one, last)]
        if not runs:
            return witness.why
        for words, favoured in CRITERIA[question.name].items():
            if prize := _prize([run for run in runs if favoured(run[0])], favoured):
                return f"{words} {prize}"
        if not all(_one_result(*run) for run in runs):
            break
    return f"{_NOUN[question.name]} decides; no simple rule fits all variants"


_NOUN = {
    "listing order": "the listing order",
    "delivery order": "the delivery order",
    "names": "something in the names",
}


def _variants(subject: Subject, question: Question, play: Play) -> Iterator[Play]:
    """Yield the play and variants of it that change what the question is about."""
    if question.name == "listing order":
        yield from (replace(play, agents=order) for order in itertools.permutations(play.agents))
    elif question.name == "delivery order":
        for order in itertools.permutations(range(len(play.agents))):
            yield replace(play, rounds=tuple(tuple(one[n] for n in order if n < len(one)) for one in play.rounds))
    else:
        longer = tuple(f"{agent}{'x' * 4 * (len(play.agents) - n)}" for n, agent in enumerate(play.agents))
        tables: list[Sequence[str]] = [play.agents, *itertools.permutations(OTHERS[: len(play.agents)]), longer]
        tables += [tuple(f"{agent}{'x' * 4 * n}" for n, agent in enumerate(play.agents))]
        for table in tables:
            names = dict(zip(play.agents, table, strict=True))
            if "population" in subject.abilities:
                yield play.under(names)
            else:
                yield replace(play.under(names), names=tuple(names.items()))


def _with_a_third(subject: Subject, play: Play) -> Play:
    """Return the play with a third agent that copies the first: of two, one wins exactly where the other loses."""
    if "population" not in subject.abilities or len(play.agents) != 2:
        return play
    third = subject.agents[2]
    rounds = tuple((*profile, (third, dict(profile).get(play.agents[0]))) for profile in play.rounds)
    wider = replace(play, agents=(*play.agents, third), rounds=rounds)
    return play if perform(subject, wider).rounds[-1].error else wider


def _one_result(play: Play, last: Round) -> bool:
    """Return whether all agents get the same outcome, as from a vote."""
    return len({comparable(last.outcomes[agent]) for agent, _ in play.rounds[-1]}) == 1


def _by_length(play: Play) -> tuple[str, ...]:
    """Return the names by length; empty texts where two are equally long."""
    lengths = {len(agent) for agent in play.agents}
    return tuple(sorted(play.agents, key=len)) if len(lengths) == len(play.agents) else ("",)


def _answers_all(play: Play, last: Round) -> bool:
    """Return whether the last round has an outcome for each agent that asked."""
    return hasattr(last.outcomes, "keys") and all(agent in last.outcomes for agent, _ in play.rounds[-1])


def _prize(runs: Sequence[tuple[Play, Round]], favoured: Criterion) -> str:
    """Return what the favoured agent gets in every run and nobody else does; empty if there is no such thing."""
    if len({favoured(play) for play, _ in runs}) < 2:
        return ""
    play, last = runs[0]
    if all(_one_result(*run) for run in runs):  # one result for all: a choice, or an agent
        results = [comparable(one.outcomes[play.agents[0]]) for play, one in runs]
        if results == [comparable(dict(one.rounds[-1])[favoured(one)]) for one, _ in runs]:
            return "has its choice taken"
        return "wins" if results == [comparable(favoured(one)) for one, _ in runs] else ""
    value = last.outcomes[favoured(play)]
    for one, found in runs:
        given = [agent for agent, _ in one.rounds[-1] if comparable(found.outcomes[agent]) == comparable(value)]
        if given != [favoured(one)]:
            return ""
    return f"gets {describe(value)}"


def _shares(subject: Subject, play: Play) -> str:
    """Return how often each outcome came in many runs of one play."""
    counts = Counter(perform(subject, play).compared() for _ in range(RUNS))
    shares = " : ".join(str(count) for _, count in counts.most_common(5))
    more = f" and {len(counts) - 5} more" if len(counts) > 5 else ""
    return f"random: {shares}{more} in {RUNS} runs"
