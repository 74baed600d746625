"""For every tie an agent that has no part in it can decide it (17.3), for any number of tied proposals.

Two finalizations: in the second that agent has moved its stake to each tied proposal but the chosen one, and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.core.system import Step
from evenhand.core.trace import Scenario
from evenhand.model.conviction.mutants import play
from evenhand.model.conviction.vocabulary import Act, Config, Shown, State
from evenhand.proofs.conviction import winners
from evenhand.proofs.conviction.renamed import NAMED, view_named
from evenhand.proofs.conviction.rules import PROPOSAL, age, never, p, score, top
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.winners import ties, with_touches
from evenhand.properties.conviction.winning import Late, an_outsider_can_decide_any_tie
from evenhand.smt.arithmetic import at_most, below
from evenhand.smt.logic import Function, conjunction, differ, exists, forall, iff, same
from evenhand.smt.preludes import Twice, first_of_twins
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom

chosen, home = (Function(name, (), PROPOSAL) for name in ("chosen", "home"))
"""The tied proposal that is to win; the one that the agent has staked on, which is not tied."""

TWICE = Twice(NAMED, ("named_before",))
_SCORE2, _AGE2 = TWICE.function(score), TWICE.function(age)
MOVED_ABOUT = TWICE.extended(
    "conviction_outsiders",
    Axiom(
        "there_and_back",
        forall([p], differ(p, home()) >> same(_SCORE2(p), score(p))) & at_most(_SCORE2(home()), score(home())),
        "A 16.3, 16.6: each point is where it was, and what was moved counts its rounds anew",
    ),
    Axiom(
        "the_others_are_the_latest",
        forall(
            [p],
            (top(p) & differ(p, chosen())) >> (~TWICE.second("never", p) & below(_AGE2(p), _AGE2(chosen()))),
        )
        & iff(TWICE.second("never", chosen()), never(chosen())),
        "17.3: a move to a proposal is its LastStakeTick",
    ),
    functions=(chosen, home),
)


def view(case: tuple[Late, Step[Config, State, Act, Shown], Step[Config, State, Act, Shown] | None]) -> Any:
    """Return both finalizations; None where the two differ in something that the theory does not cover."""
    (wanted, _, staked), step, other = case
    one, two = view_named(step), None if other is None else view_named(other)
    if one is None or two is None:
        return None
    decided = two.relations["wins"] == frozenset([(f"proposal:{wanted}",)]) and two.relations["by_tick"]
    if decided and not an_outsider_can_decide_any_tie.agrees(case[0], step, other):
        return None
    functions: dict[str, Mapping[tuple[str, ...], str]] = {
        **one.functions,
        **{f"{name}2": table for name, table in two.functions.items()},
        "chosen": constant(f"proposal:{wanted}"),
        "home": constant(f"proposal:{staked}"),
    }
    second = {f"{name}2": rows for name, rows in two.relations.items() if name not in TWICE.shared}
    return Structure(one.universe, {**one.relations, **second}, functions)


def _scene(_structure: Structure) -> Scenario[Config, State, Act]:
    """Return a tie of two proposals, staked on one after the other, beside a third that was staked on last."""
    return with_touches((4, 4, 1), (0, 1))


_TIED = conjunction([top(chosen()), ~top(home()), exists([p], top(p) & differ(p, chosen()))])
DECIDED: Theorem = theorem(
    system="trio",
    claim=an_outsider_can_decide_any_tie,
    sentence="Of tied proposals any one wins if all other tied ones have been staked on since, by an agent that moved "
    "its stake to each of them and back to one that is not tied.",
    source="A 16.3, 16.6, 17.2, 17.3",
    theory=MOVED_ABOUT,
    view=view,
    realise=first_of_twins(_scene),
    samples=ties,
    scope="any number of agents and proposals",
    assumes=_TIED,
    lemmas=(
        Lemma("still_tied", forall([p], _TIED >> TWICE.alike("top", p))),
        Lemma(
            "chosen_is_the_earliest",
            forall([p], _TIED >> iff(TWICE.second("first", p), same(p, chosen()))),
            ("still_tied",),
            ("top", "top2"),
        ),
    ),
    opaque=("top", "top2", "first", "first2"),
    goal=TWICE.second("wins", chosen()) & TWICE.second("by_tick"),
    needs=("there_and_back", "the_others_are_the_latest"),
    witness=exists([p], conjunction([top(p), differ(p, chosen()), below(_SCORE2(home()), score(home()))])),
    mutants=TWICE.mutants(
        *winners.FAULTS.refuted(
            play.ties_have_no_winner,
            play.latest_stake_wins_a_tie,
            play.lowest_score_wins,
            play.first_name_wins_a_tie,
        )
    ),
)
"""The theorem about outsiders."""
