"""Who an agent is decides nothing at a tick (2.1, 9), for any number of agents under any renaming.

Two ticks inside a phase: before the second every agent has another name.  An agent and its image are one element, with
a timer and a balance in either; only the order of names, which a mutant goes by, is not carried over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any, TypeAlias

from evenhand.core.system import AnySystem, Step
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.mutants import money, play
from evenhand.model.conviction.renaming import Renaming
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.step import progress
from evenhand.proofs.conviction.rules import (
    AGENT,
    a,
    assigned,
    balance,
    burnt,
    done,
    kicked,
    put,
    ticked,
    timer_then,
)
from evenhand.proofs.conviction.rules import earlier_name as named_before
from evenhand.proofs.conviction.single import both, theorem
from evenhand.proofs.conviction.walks import ends
from evenhand.properties.conviction.predicates import done as is_done
from evenhand.properties.conviction.predicates import events, ticking
from evenhand.properties.conviction.winning import names_decide_nothing
from evenhand.smt.arithmetic import minus
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import conjunction, exists, forall, same, variables
from evenhand.smt.preludes import Twice, define, numbers, ordered, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, doubled, structure
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.rules import Faults

_READ = ticked(REFERENCE)
b, c = variables(AGENT, "b c")
(balance_then,) = numbers("balance_then", AGENT)
late, counts, stakes, burns, pays = relations("late counts stakes burns pays", AGENT)
_WORDS = (
    define("late", (a,), assigned(a) & ~done(a), "9.1: who has not completed the phase"),
    *(define(name, () if name == "ends" else (a,), body, "6.2, 9.1, 9.3, 12.4") for name, body in _READ.items()),
    define("pays", (a,), same(balance_then(a), minus(balance(a), put(a), burnt(a))), "4.3: and nothing else"),
)
TICKING = Theory.of(
    "conviction_ticking",
    axioms=(
        Axiom("names_are_ordered", ordered(named_before, a, b, c), "of texts: what a mutant uses"),
        Axiom(
            "as_stated",
            forall([a], conjunction(one(a) for one in (counts, stakes, burns, pays))),
            "9.1, 9.3: what a tick does",
        ),
    ),
    definitions=_WORDS,
)
_INPUTS = ("timer", "balance", "assigned", "done", "most", "wanted", "penalty", "proposing", "staking")
_AFTER = (timer_then, put, burnt, balance_then)
TWICE = Twice(TICKING, _INPUTS)
"""Two ticks, of which the second has other names."""


def view_tick(step: Step[model.Config, model.State, model.Act, model.Shown]) -> Structure | None:
    """Return a tick inside a phase as a structure; None for other steps."""
    before, constants = step.before, step.config.constants
    if not ticking(step):
        return None
    uids = [seat.agent for seat in before.seats]

    def sums(kind: str) -> dict[str, Any]:
        return {uid: sum(one.amount for one in events(step.shown, kind) if one.agent == uid) for uid in uids}

    def seated(state: model.State) -> dict[str, Any]:
        return {name: {one.agent: getattr(one, name) for one in state.seats} for name in ("timer", "balance")}

    return structure(
        {"Agent": uids},
        {
            "most": constants.think_ticks,
            "wanted": constants.self_stake,
            "penalty": constants.penalty,
            "put": sums("Staked"),
            "burnt": sums("Burn"),
            "assigned": {seat.agent for seat in before.seats if seat.assigned},
            "done": {seat.agent for seat in before.seats if is_done(step.config, before, seat)},
            "proposing": before.phase == model.PROPOSE,
            "staking": before.phase == model.STAKE,
            "kicked": {one.agent for one in events(step.shown, "KickOut")},
            "ends": progress(step),
            "named_before": names_of(uids),
            **{name: {*uids} for name in ("counts", "stakes", "burns", "pays")},
            **both(step, seated, "", "_then"),
        },
    )


def names_of(elements: Iterable[str]) -> Rows:
    """Return the order of names."""
    known = tuple(elements)
    return frozenset((one, two) for one in known for two in known if one < two)


_Pair: TypeAlias = tuple[Renaming, Step[Any, Any, Any, Any], Step[Any, Any, Any, Any] | None]


def renamed(
    view_one: Callable[[Any], Structure | None], shared: Collection[str], ends: Iterable[str]
) -> Callable[[_Pair], Structure | None]:
    """Return the view of a step and its renaming, whose inputs are `shared`.

    None where these differ, or the two steps differ in something that is none of the `ends`.
    """
    told = tuple(ends)

    def viewed(case: _Pair) -> Structure | None:
        renaming, step, other = case
        one, two = view_one(step), None if other is None else view_one(other)
        if one is None or two is None:
            return None
        names = {renaming(uid): uid for elements in one.universe.values() for uid in elements}

        def back(row: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(names.get(part, part) for part in row)

        relations = {name: frozenset(map(back, rows)) for name, rows in two.relations.items()}
        functions = {
            name: {back(row): back((value,))[0] for row, value in t.items()} for name, t in two.functions.items()
        }
        first: dict[str, Any] = {**one.relations, **one.functions}
        second: dict[str, Any] = {**relations, **functions}
        if any(first[name] != second[name] for name in shared):
            return None
        if all(first[name] == second[name] for name in told) and not names_decide_nothing.agrees(*case):
            return None
        return doubled(one, Structure(two.universe, relations, functions), shared)

    return viewed


view = renamed(view_tick, _INPUTS, (*(one.name for one in _AFTER), "kicked", "ends"))


@Ends
def ticks(system: AnySystem) -> Iterator[End]:
    """Yield every third tick inside a phase of walks, by any variant."""
    return islice(ends(system, ticking), 0, None, 3)


_FAULTS = Faults(TICKING, ticked)
NO_TICK: Theorem = theorem(
    claim=names_decide_nothing,
    name="names_decide_no_tick",
    sentence="Rename the agents, and a tick inside a phase kicks out the same ones, counts, stakes and burns as much "
    "for each, and ends the phase as before.",
    source="2.1, 9.1, 9.3, 9.5",
    theory=TWICE.extended("conviction_renamed_ticks"),
    view=view,
    samples=ticks,
    scope="any number of agents, at a tick inside a phase",
    variables=(a,),
    goal=conjunction(
        [TWICE.alike("kicked", a), TWICE.alike("ends"), *(same(TWICE.function(one)(a), one(a)) for one in _AFTER)]
    ),
    needs=("as_stated", "as_stated2"),
    witness=exists(
        [a, b], conjunction([named_before(a, b), TWICE.second("named_before", b, a), kicked(a), late(b), ~kicked(b)])
    ),
    mutants=TWICE.mutants(
        *_FAULTS.refuted(play.first_name_is_not_kicked_out),
        *(
            _FAULTS.unseen(mutant, "names do not enter")
            for mutant in (
                play.silent_agents_hang_a_phase,
                money.penalty_doubled,
                money.self_stake_on_credit,
                money.substituted_stakes_nothing,
                money.penalty_in_stake_rounds,
                play.timer_counts_the_ready,
                play.timer_not_reset,
                play.kicks_out_the_ready,
            )
        ),
    ),
)
"""The theorem about names at a tick."""
