"""Which engine runs which system at which scope under which budget.

Two agents are searched with everything that can be rejected, with a cycle, with late agents, with a tap, over two
Issues; three agents without READY.  Each reading that is not the default is searched alone where it matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evenhand.core.plan import BUDGETS, Plan
from evenhand.core.property import Commute, DeadlockFree, LeadsTo, LivelockFree, Property, TwoRun
from evenhand.core.system import reading_values
from evenhand.model.conviction.readings import Readings
from evenhand.model.conviction.vocabulary import REJECTIONS
from evenhand.properties.conviction.identity import IDENTITY
from evenhand.properties.conviction.points import POINTS
from evenhand.properties.conviction.proposing import PROPOSING
from evenhand.properties.conviction.reach import EVERYWHERE, UNDER_A_READING, rejection_claim
from evenhand.properties.conviction.staking import STAKING
from evenhand.properties.conviction.ticking import TICKING
from evenhand.properties.conviction.winning import WINNING

__all__ = ["plans"]

LONG = ("standard", "deep")
_ALL: tuple[Property, ...] = (*POINTS, *PROPOSING, *STAKING, *WINNING, *TICKING, *IDENTITY)
_GRANTS = ("balances_stay_below_the_maximum", "grants_respect_the_maximum")
_REVISIONS = (
    "an_unchanged_text_costs_nothing",
    "a_revision_costs_at_most_the_self_stake",
    "a_revision_costs_its_share",
    "the_tap_takes_the_deficit",
    "the_tap_is_tried_first",
    "revision_cost_is_monotone",
)
_FEEDBACK = ("feedback_is_lawful_and_paid", "feedback_is_refused_for_cause")
_CYCLE = (*_FEEDBACK, *_REVISIONS)
"""What only a cycle shows."""
_ROUNDS = ("saturation_reaches_the_target",)
"""What needs as many rounds as saturate."""
_ADDS = ("added_stake_begins_at_zero", "add_and_move_commute_for_one_agent", "funded_add_and_move_commute")
_STAKES = (
    *_ADDS,
    "stakes_change_from_round_two",
    "moved_stake_begins_at_zero",
    "moves_take_as_read",
    "outsiders_decide_nothing",
    "stake_ticks_are_the_latest",
)
_HOSTILE = (
    "rejected_actions_change_nothing",
    "accepted_actions_are_logged",
    "actions_need_the_credential",
    "no_record_holds_a_credential",
    "only_the_assigned_take_part",
    "grants_respect_the_maximum",
    "only_invitations_grant",
    "stakes_change_from_round_two",
    "phases_come_in_order",
    "supply_is_conserved",
    "nothing_is_negative",
    "nothing_is_accepted_after_ready",
    *_FEEDBACK,
)
"""What hostile actions are tried against."""
_LATE = ("ticks_keep_the_order_of_stake_ticks",)
"""What needs a phase that outlasts a tick."""
_TWICE = tuple(claim.name for claim in _ALL if isinstance(claim, TwoRun | Commute))
"""What compares two runs, and so costs a multiple."""
_TWO_RUNS = tuple(claim.name for claim in _ALL if isinstance(claim, TwoRun) and claim.name not in _REVISIONS)
_ORDERS = tuple(claim.name for claim in _ALL if isinstance(claim, Commute))
_OF_TRIO = (
    "supply_is_conserved",
    "one_proposal_each",
    "the_highest_score_wins",
    "ties_go_to_the_earliest_stake",
    "roots_rank_as_sums_do",
    "every_tick_comes_closer",
    "every_issue_is_finalized",
)
_ENDLESS = tuple(claim.name for claim in _ALL if isinstance(claim, LeadsTo | LivelockFree | DeadlockFree))
_CLOCK = (
    "phases_end_as_9_1_says",
    "every_tick_comes_closer",
    "nothing_puts_the_end_off",
    "no_tick_is_refused",
    "an_issue_takes_at_most_so_many_ticks",
    *_ENDLESS,
)


_LATER = "nothing_is_accepted_after_ready"
"""What only hostile actions show: no menu offers anything after READY."""


def _names(*, but: Iterable[str]) -> tuple[str, ...]:
    gone = {*but, _LATER}
    return tuple(claim.name for claim in _ALL if claim.name not in gone)


def plans() -> tuple[Plan, ...]:
    """The runs of this protocol."""
    return tuple(_plans())


def _plans() -> Iterator[Plan]:
    everything = {"hostile": 1, "strangers": 1, "agents": 1, "cycles": 1, "budget": 2, "stake": 1}
    rejections = tuple(rejection_claim(name) for name in REJECTIONS if name not in UNDER_A_READING)
    yield Plan("issue", "explore", scope=everything, claims=(*rejections, *_HOSTILE))
    shown = tuple(name for name in EVERYWHERE if name not in ("time_decides", "a_revision_taps", "a_phase_goes_on"))
    cheap = (*_ROUNDS, *_LATE, *_GRANTS, *_TWICE, "the_tap_is_tried_first")
    yield Plan("issue", "explore", LONG, scope={"cycles": 1}, claims=(*shown, *_names(but=cheap)))
    yield Plan(
        "issue", "explore", LONG, scope={"texts": 0}, claims=_names(but=(*_ROUNDS, *_LATE, *_GRANTS, *_CYCLE, *_TWICE))
    )
    one_point = {"texts": 0, "stake": 1, "budget": 1}
    yield Plan("issue", "explore", scope=one_point, claims=_TWO_RUNS)
    yield Plan("issue", "explore", LONG, scope={**one_point, "budget": 2}, claims=_ORDERS)
    tap = {"budget": 2, "texts": 2, "cycles": 1}
    yield Plan(
        "issue", "explore", LONG, scope=tap, claims=(*_REVISIONS[:-2], _REVISIONS[-1], "a_revision_taps", *shown)
    )
    yield Plan("issue", "explore", scope={**tap, "rounds": 1, "texts": 3}, claims=(*_REVISIONS, *_ENDLESS))
    late = {"think": 2, "texts": 0, "budget": 1, "stake": 1}
    yield Plan(
        "issue",
        "explore",
        LONG,
        scope=late,
        claims=(*_LATE, *_CLOCK, "time_decides", "a_phase_goes_on", *_CLAIMS_OF_LATE),
    )
    yield Plan("issue", "explore", LONG, scope={"rounds": 3, "texts": 0, "budget": 2}, claims=_ROUNDS)
    yield Plan("trio", "explore", claims=("outsiders_decide_nothing", *_OF_TRIO))
    yield Plan("series", "explore", LONG, claims=_names(but=(*_ROUNDS, *_LATE, *_GRANTS, *_CYCLE, *_TWICE)))
    yield from _small()
    yield from _readings()
    single = _names(but=("outsiders_decide_nothing", *_ENDLESS, *_ORDERS, "balances_stay_below_the_maximum"))
    drawn = (*single, _LATER, *EVERYWHERE, *rejections)
    yield Plan("run", "fuzz", LONG, claims=drawn, examples=100, steps=70)
    # Other agents in every drawn state: four fifths of the time of a run with all claims.
    cheap = tuple(name for name in drawn if name not in _TWICE)
    yield Plan("run", "fuzz", ("quick",), claims=cheap, examples=100, steps=70)
    # Every pair of actions in every drawn state: three quarters of the time of a run with all claims.
    yield Plan("run", "fuzz", ("deep",), claims=_ORDERS, examples=60, steps=70)


def _small() -> Iterator[Plan]:
    """The smallest scopes that say something about each claim: in systems, or under a budget, without a larger one."""
    one = {"texts": 0, "budget": 1, "stake": 1}
    alone = {**one, "agents": 1}
    special: tuple[tuple[Mapping[str, int], tuple[str, ...]], ...] = (
        ({**one, "budget": 2}, ("added_stake_begins_at_zero", "add_and_move_commute_for_one_agent")),
        ({"cycles": 1, "rounds": 1, "texts": 2, "budget": 2, "stake": 1}, (*_CYCLE, "a_revision_taps")),
        ({**one, "think": 2}, ("a_phase_goes_on", "time_decides")),
        ({**alone, "rounds": 3, "budget": 2}, _ROUNDS),
        ({**alone, "strangers": 1}, ("grants_respect_the_maximum",)),
        ({**alone, "rounds": 1, "hostile": 1, "ready": 1}, (_LATER,)),
    )
    elsewhere = {"balances_stay_below_the_maximum", *(name for _, names in special for name in names)}
    usual = tuple(name for name in (*_names(but=()), *EVERYWHERE) if name not in elsewhere)
    for system, budgets in (("issue", ("quick",)), ("trio", BUDGETS), ("series", BUDGETS)):
        more = {"agents": 2, "outsiders": 1} if system == "trio" else {}
        for scope, names in ((one, usual), *special):
            # Outsiders decide something in `trio`, and it takes three agents to see it.
            names = tuple(name for name in names if (system, name) != ("trio", "outsiders_decide_nothing"))
            yield Plan(system, "explore", budgets, {**more, **scope}, claims=names)
    capped, clipped = _SCOPES["max_credit"], {"max_credit": "clip"}
    for system in ("trio", "series"):
        yield Plan(system, "explore", readings=clipped, scope=capped, claims=("balances_stay_below_the_maximum",))
    last = {"texts": 0, "rounds": 1, "budget": 3, "agents": 1}
    exceeded, not_offered, refused = (rejection_claim(name) for name in UNDER_A_READING)
    more = {"strangers": 1, "cap": 2}
    yield Plan("issue", "explore", scope={**last, **more}, readings={"max_credit": "reject"}, claims=(exceeded,))
    yield Plan("issue", "explore", scope={**last, "hostile": 1}, readings={"text": "B"}, claims=(not_offered,))
    yield Plan("issue", "explore", scope=last, readings={"clock": "gated_by_9_1"}, claims=(refused,))


_CLAIMS_OF_LATE = ("timers_count_missed_ticks", "laggards_alone_are_kicked_out", "ready_is_for_one_tick")

_NONE = {"texts": 0, "budget": 2}
"""No cycle, nothing left to add."""
_ADD = {"texts": 0, "budget": 2, "stake": 1}
"""No cycle, a point left to add."""
_TALK = {"cycles": 1, "rounds": 1, "texts": 2}
"""A cycle and a single round, with a point left for feedback."""

_SCOPES: Mapping[str, Mapping[str, int]] = {
    "self_stake": {"texts": 0, "budget": 4, "rounds": 1},
    "substituted_no_action": {**_NONE, "ready": 0},
    "revision_cost": _TALK,
    "stake_burn": {**_ADD, "budget": 1},
    "no_action": {"texts": 1, "budget": 2},
    "poor_proposer": {"texts": 1, "budget": 1, "issues": 1},
    "clock": {**_TALK, "texts": 1},
    "phase_end": {**_TALK, "texts": 1},
    "timer_reset": {**_TALK, "texts": 1, "think": 2},
    "penalty_floor": {**_TALK, "budget": 2},
    "rounding": {**_TALK, "texts": 3, "stake": 3, "ready": 0},
    "diff_ratio": {**_TALK, "texts": 3, "budget": 4, "ready": 0},
    "rounds_from": {**_ADD, "budget": 1},
    "multiplier_cap": {"agents": 1, "texts": 1, "budget": 2, "stake": 1, "rounds": 4},
    "last_stake_tick": _ADD,
    "full_tie": {**_ADD, "budget": 1},
    "stake_rounds": {**_NONE, "rounds": 0},
    "max_credit": {"agents": 1, "strangers": 1, "texts": 0, "budget": 3, "cap": 2},
    "move_takes": {**_ADD, "penalty": 0, "ready": 0},
    "tap_takes": {**_TALK, "budget": 2},
    "add_makes": _ADD,
    "completes": {**_TALK, "texts": 1, "think": 2},
    "act_after_ready": _TALK,
    "feedback_on_no_action": _TALK,
    "silent_penalty": _ADD,
    "text": _TALK,
}
"""Where a reading is looked at."""


def _readings() -> Iterator[Plan]:
    """Every reading that is not a default, where it can matter."""
    for name, values in reading_values(Readings()).items():
        for value in values[1:]:
            yield Plan("issue", "explore", LONG, _SCOPES[name], {name: value}, _claims_under(name, value))


_UNCLAIMED = ("proposers_stake_at_once", "everybody_has_staked_by_round_one")
_NO_MOVES = (
    "stakes_change_from_round_two",
    "moved_stake_begins_at_zero",
    "moves_take_as_read",
    "outsiders_decide_nothing",
)
_QUIET: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("self_stake", "at_stake_1"): ("rejected_actions_change_nothing", _UNCLAIMED[0]),
    ("self_stake", "both"): ("rejected_actions_change_nothing", _UNCLAIMED[1]),
    ("substituted_no_action", "no_stake"): (_UNCLAIMED[1],),
    ("stake_burn", "separate_event"): ("burns_are_recorded_in_full",),
    ("poor_proposer", "no_stake"): (*_UNCLAIMED, "substitutes_stake_as_read"),
    ("poor_proposer", "reject"): (*_UNCLAIMED, *_NO_MOVES, "substitutes_stake_as_read"),
    ("clock", "gated_by_9_1"): ("penalties_are_as_stated", "substitutes_stake_as_read"),
    ("max_credit", "clip"): ("added_stake_begins_at_zero", "add_and_move_commute_for_one_agent"),
    ("max_credit", "reject"): ("added_stake_begins_at_zero", "burns_are_recorded_in_full", *_NO_MOVES),
    ("add_makes", "tops_up"): ("added_stake_begins_at_zero",),
    ("text", "A"): (_UNCLAIMED[1],),
}
"""What a search under a reading says nothing about: not claimed there, or out of its scope's reach."""


def _claims_under(name: str, value: Any) -> tuple[str, ...]:
    """The claims that a search under this reading is about."""
    scope = {"agents": 2, "cycles": 0, "rounds": 2, "budget": 3, "stake": 2, **_SCOPES[name]}
    gone = {*_ROUNDS, *_LATE, *_GRANTS, *_TWICE}
    if name == "max_credit":
        gone -= set(_GRANTS)
    if name == "full_tie":
        return ("names_decide_nothing", "ties_go_to_the_earliest_stake", "the_highest_score_wins")
    if name == "move_takes":
        return (
            "moves_take_as_read",
            "moved_stake_begins_at_zero",
            "funded_add_and_move_commute",
            "supply_is_conserved",
        )
    if not scope["cycles"]:
        gone |= set(_CYCLE)
    if scope["budget"] <= scope["stake"]:
        gone |= {*_FEEDBACK, *_ADDS, "the_tap_is_tried_first"}
    if scope["rounds"] == 1:
        gone |= set(_STAKES)
    if scope["agents"] == 1:
        gone |= {"roots_rank_as_sums_do", "ties_go_to_the_earliest_stake", "moved_stake_begins_at_zero"}
        gone |= {"moves_take_as_read", "outsiders_decide_nothing"}
    if name not in ("revision_cost", "rounding", "diff_ratio", "tap_takes", "act_after_ready"):
        gone |= {"the_tap_is_tried_first"}
    gone |= set(_QUIET.get((name, value), ()))
    if value == "never_stated":
        gone = {claim.name for claim in _ALL} - {*_CLOCK, "supply_is_conserved", "ready_is_for_one_tick"}
    return _names(but=gone)
