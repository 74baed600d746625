"""Invariants of the consensus: supply, signs, the maximum, for any number of agents and actions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from evenhand.core.system import AnySystem
from evenhand.core.trace import Scenario, replay
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.mutants import money
from evenhand.model.conviction.step import initial
from evenhand.model.conviction.texts import Text
from evenhand.proofs.conviction import ledger, single
from evenhand.proofs.conviction.books import view
from evenhand.proofs.conviction.ledger import FAULTS
from evenhand.proofs.conviction.walks import walks
from evenhand.properties.conviction import points as about_points
from evenhand.smt.arithmetic import at_least, at_most, below, number, plus
from evenhand.smt.logic import conjunction, forall, same
from evenhand.smt.transitions.invariant import Invariant, Steps

a, lot = ledger.AGENT("a"), ledger.LOT("l")
balances, stakes, burned, granted = (one() for one in ledger.TOTALS)


_tap = ledger.revises() & below(number(0), ledger.returned(ledger.by()))


def _spending() -> Scenario[model.Config, model.State, model.Act]:
    """Return a run that pays for comments, taps its stake for a revision, and asks for more than it has."""
    constants = model.Constants(self_stake=2, think_ticks=1, feedback_stake=3, saturation=2, stake_rounds=3)
    config = single.configuration(single.granted(6, 6), constants)
    one, other = ((agent.uid, agent.credential) for agent in config.agents)
    ready = (model.SignalReady(*one), model.SignalReady(*other), model.Tick())
    acts: tuple[model.Act, ...] = (
        model.Tick(),
        *(model.Propose(*agent, Text("a")) for agent in (one, other)),
        model.Tick(),
        *[model.Feedback(*one, other[0], "x")] * 2,
        *ready,
        *(model.Revise(*one, Text(text)) for text in "bc"),
        *ready * 2,
        model.MoveStake(*one, one[0], other[0], 9),
        model.AddStake(*other, other[0], -1),
    )
    return Scenario(config, initial(config)[0], acts)


def samples(system: AnySystem) -> tuple[Steps, ...]:
    """Return walks of any variant, and a run that spends more than it has."""
    run = _spending()
    config = replace(run.config, readings=system.readings)
    return (*walks(system), tuple(replay(system, replace(run, config=config, start=initial(config)[0])).steps))


_invariant = partial(
    Invariant,
    protocol="conviction",
    system="issue",
    machine=ledger.BOOKS,
    witness=_tap,
    view=view,
    samples=samples,
    scope="any number of agents, proposals, stakes, Issues, actions and ticks",
    reach=3,
)

SUPPLY = _invariant(
    claim=about_points.supply_is_conserved,
    always=same(plus(balances, stakes, burned), granted),
    mutants=(
        *FAULTS.refuted(
            money.tap_mints, money.tap_forgives, money.move_on_credit, money.feedback_free, money.balances_confiscated
        ),
        FAULTS.unseen(money.add_on_credit, "what is staked on credit is owed: the balance is below zero by as much"),
        FAULTS.unseen(money.stake_not_burned, "what is not burned is still there"),
    ),
)

SIGNS = _invariant(
    claim=about_points.nothing_is_negative,
    source="4.2, 9.3, 11.4, 14.2, 16.5",
    always=conjunction(
        [
            forall([a], at_least(ledger.balance(a), number(0))),
            at_least(burned, number(0)),
            forall([lot], at_least(ledger.points(lot), number(0))),
        ]
    ),
    mutants=(
        *FAULTS.refuted(
            money.add_on_credit, money.feedback_on_credit, money.self_stake_on_credit, money.negative_amount_accepted
        ),
        FAULTS.unseen(money.penalty_doubled, "it is burned as far as there is balance"),
    ),
)

MAXIMUM = _invariant(
    claim=about_points.balances_stay_below_the_maximum,
    machine=ledger.CAPPED,
    readings={"max_credit": "clip"},
    always=forall([a], at_most(ledger.balance(a), ledger.maximum())),
    mutants=(
        *FAULTS.refuted(money.maximum_credit_ignored),
        FAULTS.unseen(money.stake_not_burned, "what is not burned is not returned"),
    ),
)
