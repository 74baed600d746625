"""The expectations of this protocol: claim x system x engine x reading -> verdict, registered before any run.

What is not listed is expected to hold.  An unexpected verdict is a finding: report it, never edit the expectation to
fit.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.plan import Expectation
from evenhand.core.verdict import Status

__all__ = ["EXPECTED"]


def _refuted(claim: str, because: str, *, system: str = "", engine: str = "", **readings: Any) -> Expectation:
    return Expectation(claim, Status.REFUTED, system=system, engine=engine, readings=readings or None, because=because)


def _left_out(claim: str, because: str) -> Expectation:
    return Expectation(claim, Status.UNDECIDED, system="run", engine="plan", because=because)


_GATED = "9.1: the tick waits for a full timer, and timers count ticks: one silent agent stops everything"
_NEVER = "12.4, 9.1: ticks advance, and no sentence ends a phase"

_WIDE = "section 5 is too wide to be searched, and drawn runs are finite"
_PAIRS = "every pair of actions in every drawn state costs a multiple: drawn under the deep budget"
_BESIDE = "another run beside every drawn one costs a multiple: drawn under the standard and the deep budget"

_LEFT_OUT = (
    *(_left_out(n, _WIDE) for n in ("every_issue_is_finalized", "no_phase_goes_on_for_ever")),
    _left_out("an_issue_can_be_finalized", _WIDE),
    *(_left_out(n, _PAIRS) for n in ("actions_of_two_agents_commute", "add_and_move_commute_for_one_agent")),
    _left_out("funded_add_and_move_commute", _PAIRS),
    *(_left_out(n, _BESIDE) for n in ("names_decide_nothing", "steps_are_functions", "revision_cost_is_monotone")),
    _left_out("outsiders_decide_nothing", "`trio` refutes it; whether a drawn run does is chance"),
    _left_out("balances_stay_below_the_maximum", "said under other readings; `run` is drawn under the default"),
)
"""What no plan looks at in `run` under some budget."""

EXPECTED: tuple[Expectation, ...] = (
    *_LEFT_OUT,
    _refuted(
        "add_and_move_commute_for_one_agent",
        "A 16.4: a point that is added can be moved at once, one that is not there cannot",
    ),
    _refuted(
        "funded_add_and_move_commute",
        "A 16.3: the youngest entry is the one just added, if it is added first",
        move_takes="youngest_first",
    ),
    _refuted(
        "funded_add_and_move_commute",
        "drawn moves may be of more than there is before the addition",
        engine="fuzz",
    ),
    _refuted(
        "outsiders_decide_nothing",
        "17.3: a point moved to a tied proposal and away again is its most recent move",
        system="trio",
    ),
    _refuted("supply_is_conserved", "14.1 deducts, and no burn says where to", revision_cost="deducted_only"),
    _refuted("burn_events_reconcile_the_supply", "14.1 deducts without a Burn event", revision_cost="deducted_only"),
    _refuted(
        "burn_events_reconcile_the_supply", "18.2 logs StakeBurned, 18.3 sums Burn events", stake_burn="separate_event"
    ),
    _refuted("no_tick_is_refused", _GATED, clock="gated_by_9_1"),
    _refuted("every_tick_comes_closer", _GATED, clock="gated_by_9_1"),
    _refuted("every_issue_is_finalized", _GATED, clock="gated_by_9_1"),
    _refuted("no_phase_goes_on_for_ever", _GATED, clock="gated_by_9_1"),
    _refuted("every_tick_comes_closer", _NEVER, phase_end="never_stated"),
    _refuted("every_issue_is_finalized", _NEVER, phase_end="never_stated"),
    _refuted("no_phase_goes_on_for_ever", _NEVER, phase_end="never_stated"),
    _refuted("an_issue_can_be_finalized", _NEVER, phase_end="never_stated"),
    _refuted("an_issue_takes_at_most_so_many_ticks", _NEVER, phase_end="never_stated"),
    _refuted("nothing_is_negative", "9.3 debits whatever the balance", penalty_floor="negative_balance"),
    _refuted(
        "an_unchanged_text_costs_nothing",
        "14.2: a negative balance is less than a cost of 0, so the tap covers the deficit out of the stake",
        penalty_floor="negative_balance",
    ),
    _refuted(
        "a_revision_costs_at_most_the_self_stake",
        "14.1: insertions and deletions together may be more than the longer text, so the ratio exceeds 1",
        diff_ratio="insertions_plus_deletions",
    ),
    _refuted("names_decide_nothing", "the lowest name wins a full tie", full_tie="lowest_proposal_id"),
)
"""What was registered."""
