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
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.walks import ends
from evenhand.properties.conviction.predicates import done as is_done
from evenhand.properties.conviction.predicates import events, ticking
from evenhand.properties.conviction.winning import names_decide_nothing
from evenhand.smt.arithmetic import element, minus
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import conjunction, exists, forall, same, variables
from evenhand.smt.preludes import Twice, define, numbers, ordered, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, Table, constant, ones, prop
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
    before, then, constants = step.before, step.after, step.config.constants
    if not ticking(step):
        return None
    names = {seat.agent: f"agent:{seat.agent}" for seat in before.seats}
    functions: dict[str, Table] = {
        "most": constant(constants.think_ticks),
        "wanted": constant(element(constants.self_stake)),
        "penalty": constant(element(constants.penalty)),
    }
    for end, state in (("", before), ("_then", then)):
        functions[f"timer{end}"] = {(names[seat.agent],): element(seat.timer) for seat in state.seats}
        functions[f"balance{end}"] = {(names[seat.agent],): element(seat.balance) for seat in state.seats}
    for name, kind in (("put", "Staked"), ("burnt", "Burn")):
        told = [(one.agent, one.amount) for one in events(step.shown, kind)]
        sums = {uid: sum(amount for agent, amount in told if agent == uid) for uid in names}
        functions[name] = {(names[uid],): element(amount) for uid, amount in sums.items()}
    whole = ones(names.values())
    return Structure(
        {"Agent": tuple(names.values())},
        {
            "assigned": ones(names[seat.agent] for seat in before.seats if seat.assigned),
            "done": ones(names[seat.agent] for seat in before.seats if is_done(step.config, before, seat)),
            "proposing": prop(before.phase == model.PROPOSE),
            "staking": prop(before.phase == model.STAKE),
            "kicked": ones(names[one.agent] for one in events(step.shown, "KickOut")),
            "ends": prop(progress(step)),
            "named_before": names_of(names.values()),
            **dict.fromkeys(("counts", "stakes", "burns", "pays"), whole),
        },
        functions,
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
        back = {
            f"{sort}:{renaming(uid)}": f"{sort}:{uid}"
            for elements in one.universe.values()
            for sort, _, uid in (element_.partition(":") for element_ in elements)
        }
        rows = {
            name: frozenset(tuple(back[part] for part in row) for row in found) for name, found in two.relations.items()
        }
        tables = {
            name: {tuple(back[part] for part in row): back.get(value, value) for row, value in table.items()}
            for name, table in two.functions.items()
        }
        first: dict[str, Any] = {**one.relations, **one.functions}
        second: dict[str, Any] = {**rows, **tables}
        if any(first[name] != second[name] for name in shared):
            return None
        if all(first[name] == second[name] for name in told) and not names_decide_nothing.agrees(*case):
            return None
        return Structure(
            one.universe,
            {**one.relations, **{f"{name}2": found for name, found in rows.items() if name not in shared}},
            {**one.functions, **{f"{name}2": table for name, table in tables.items() if name not in shared}},
        )

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
