"""Name the arbiter: compare variants of the witness with the rules that might decide, and say which fit them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.plays import Play, Round, Shown, perform
from evenhand.arbiters.values import comparable
from evenhand.core.grouping import grouped
from evenhand.core.text import describe

Criterion = Callable[[Play], str]
"""From a play to the agent that a rule favours in it; empty if it favours nobody."""

Variants = Callable[[Play], Iterable[Play]]
Show = Callable[[Subject, Play], Shown]


def rule_that_fits(
    subject: Subject,
    play: Play,
    variants: Variants,
    criteria: Mapping[str, Criterion],
    *,
    constant: bool = False,
    third: bool = True,
    show: Show = perform,
    differ: Callable[[Play], bool] = lambda _: False,
) -> str:
    """Return the rules that fit the play and all its variants, each with what the favoured agent gets; empty if none.

    A `third` agent that copies another tells rules apart, where the population can be varied: of two, one wins exactly
    where the other loses, and then the first rule that fits is told.  Where variants of a play of three `differ` and no
    rule fits them, none is told, unless the kernel draws.  A rule that favours the same agent in all variants counts
    only if `constant`.
    """
    for one in (*_with_a_third(subject, play), play) if third else (play,):
        runs = [(other, show(subject, other)) for other in (one, *variants(one))]
        last = [(other, shown.rounds[-1]) for other, shown in runs if not shown.error and shown.rounds]
        last = [run for run in last if _answers_all(*run)]
        prizes = {words: prize for words, rule in criteria.items() if (prize := _fits(last, rule, constant))}
        fitting = [f"{words} {prize}" for words, prize in prizes.items()]
        if fitting and constant:  # each of these is true: who is favoured does not depend on the variant
            return " and ".join(fitting)
        if fitting and len(one.agents) > 2:  # of a whole ranking, the first of its rules is told
            same = next(iter(prizes.values()))
            return " or ".join(f"{words} {prize}" for words, prize in prizes.items() if prize == same)
        if fitting:
            return fitting[0]
        drawn = "seed" in subject.abilities  # of three under one seed chance may hide the rule that fits two
        if len(one.agents) > len(play.agents) and not drawn and differ(one):
            return ""
    return ""


def _with_a_third(subject: Subject, play: Play) -> Iterator[Play]:
    """Yield the play with a third agent that copies the first, and with one that copies the second."""
    if "population" not in subject.abilities or len(play.agents) != 2:
        return
    third = subject.agents[2]
    if third in play.agents or any(len(profile) < 2 for profile in play.rounds):
        return
    for copied in play.agents:
        rounds = tuple((*profile, (third, dict(profile)[copied])) for profile in play.rounds)
        wider = replace(play, agents=(*play.agents, third), rounds=rounds)
        if not perform(subject, wider).error:
            yield wider


def _answers_all(play: Play, last: Round) -> bool:
    """Return whether the last round has an outcome for each agent that asked."""
    return hasattr(last.outcomes, "keys") and all(agent in last.outcomes for agent, _ in play.rounds[-1])


def _one_result(play: Play, last: Round) -> bool:
    """Return whether all agents get the same outcome, as from a vote."""
    return len({comparable(last.outcomes[agent]) for agent, _ in play.rounds[-1]}) == 1


def _fits(runs: Sequence[tuple[Play, Round]], favoured: Criterion, constant: bool) -> str:
    """Return what the favoured agent gets wherever there is one, and nobody else; empty if there is no such thing."""
    nobody = [run for run in runs if not favoured(run[0])]
    runs = [run for run in runs if favoured(run[0]) in dict(run[0].rounds[-1])]
    if not runs or (len({favoured(play) for play, _ in runs}) < 2 and not constant):
        return ""
    play, last = runs[0]
    if all(_one_result(*run) for run in runs):  # one result for all: a choice, or an agent
        if nobody:
            return ""  # there is a result, and the rule does not say which
        results = [comparable(one.outcomes[play.rounds[-1][0][0]]) for play, one in runs]
        if results == [comparable(dict(one.rounds[-1])[favoured(one)]) for one, _ in runs]:
            return "has its choice taken"
        return "wins" if results == [comparable(favoured(one)) for one, _ in runs] else ""
    value = last.outcomes[favoured(play)]
    if any(comparable(value) in map(comparable, found.outcomes.values()) for _, found in nobody):
        return ""
    for one, found in runs:
        given = [agent for agent, _ in one.rounds[-1] if comparable(found.outcomes[agent]) == comparable(value)]
        if given != [favoured(one)]:
            return "" if nobody else _dictates(runs, favoured)
    return f"gets {describe(value)}"


def _dictates(runs: Sequence[tuple[Play, Round]], favoured: Criterion) -> str:
    """Return that the favoured agent's choice decides what all get, if it does in several runs of one choice."""
    seen = grouped(
        (comparable(dict(play.rounds[-1])[favoured(play)]), comparable(last.outcomes)) for play, last in runs
    )
    steady = all(len(set(outcomes)) == 1 for outcomes in seen.values())
    told_apart = len(seen) > 1 and len({outcomes[0] for outcomes in seen.values()}) > 1
    return "decides by its choice what all get" if steady and told_apart and len(runs) > len(seen) else ""
