"""Which engine runs which system at which scope under which budget.

Searches cover two agents with every rejectable action, with a cycle, with late agents, with a tap, over two Issues, and
three agents without READY.  Each reading other than the default is searched alone where it matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evenhand.core.bundle import claims_in
from evenhand.core.plan import BUDGETS, Plan
from evenhand.core.property import Commute, TwoRun, names
from evenhand.core.relations import Paired
from evenhand.core.system import reading_values
from evenhand.model.conviction.readings import Readings
from evenhand.properties.conviction import (
    admitting,
    identity,
    logged,
    points,
    proposing,
    reach,
    staking,
    ticking,
    winning,
)

LONG = ("standard", "deep")
_ALL = claims_in(points, proposing, staking, winning, ticking, logged, admitting, identity)
_EVERYWHERE = names(*(claim for claim in claims_in(reach) if not claim.systems))
"""Reachability claims of every system, rejections aside."""
_REJECTIONS = names(*(claim for claim in reach.REJECTED if "run" in claim.systems))
_UNDER_A_READING = names(*(claim for claim in reach.REJECTED if "run" not in claim.systems))
_GRANTS = names(
    points.balances_stay_below_the_maximum,
    points.grants_respect_the_maximum,
    points.invitations_credit_the_payment,
    admitting.invitation_and_enrolment_succeed,
)
_TAP_FIRST = proposing.the_tap_is_tried_first.name
_REVISIONS = names(
    proposing.an_unchanged_text_costs_nothing,
    proposing.a_revision_costs_at_most_the_self_stake,
    proposing.a_revision_costs_its_share,
    proposing.the_tap_takes_the_deficit,
    proposing.the_tap_is_tried_first,
    proposing.revision_cost_is_monotone,
)
_WRITTEN = names(
    logged.events_say_what_was_done,
    logged.events_hold_what_was_submitted,
    logged.an_action_concerns_its_agent_alone,
    logged.an_action_changes_what_it_names,
    admitting.lawful_actions_are_accepted,
)
_FEEDBACK = names(proposing.feedback_is_lawful_and_paid, proposing.feedback_is_refused_for_cause)
_CYCLE = (*_FEEDBACK, *_REVISIONS)
"""The claims that need a cycle."""
_ROUNDS = names(staking.saturation_reaches_the_target)
"""The claims that need enough rounds to saturate."""
_ADDS = names(
    staking.added_stake_begins_at_zero,
    staking.add_and_move_commute_for_one_agent,
    staking.funded_add_and_move_commute,
    staking.added_points_can_be_moved_at_once,
)
_NO_MOVES = names(
    staking.stakes_change_from_round_two,
    staking.moved_stake_begins_at_zero,
    staking.moves_take_as_read,
    winning.outsiders_decide_nothing,
)
_STAKES = (*_ADDS, *_NO_MOVES, winning.stake_ticks_are_the_latest.name)
_HOSTILE = names(
    points.rejected_actions_change_nothing,
    points.accepted_actions_are_logged,
    identity.actions_need_the_credential,
    identity.no_record_holds_a_credential,
    identity.only_the_assigned_take_part,
    points.grants_respect_the_maximum,
    points.invitations_credit_the_payment,
    *logged.LOGGED,
    *admitting.ADMITTED,
    points.only_invitations_grant,
    staking.stakes_change_from_round_two,
    ticking.phases_come_in_order,
    points.supply_is_conserved,
    points.nothing_is_negative,
    ticking.nothing_is_accepted_after_ready,
    proposing.feedback_is_lawful_and_paid,
    proposing.feedback_is_refused_for_cause,
)
"""The claims searched with hostile actions."""
_LATE = names(winning.ticks_keep_the_order_of_stake_ticks)
"""The claims that need a phase longer than one tick."""
_LAGGARDS = names(ticking.timers_count_missed_ticks, ticking.laggards_alone_are_kicked_out, ticking.ready_lasts_as_read)
_GOES_ON = names(reach.a_phase_goes_on, reach.time_decides)
_TWICE = names(*(claim for claim in _ALL if isinstance(claim, Paired)))
"""The claims that compare two runs, and so cost a multiple."""
_ELSEWHERE = (proposing.revision_cost_is_monotone, winning.an_outsider_can_decide_any_tie)
_TWO_RUNS = names(*(one for one in _ALL if isinstance(one, TwoRun) and one not in _ELSEWHERE))
_ORDERS = names(*(claim for claim in _ALL if isinstance(claim, Commute)))
_OF_TRIO = names(
    points.supply_is_conserved,
    proposing.one_proposal_each,
    winning.the_highest_score_wins,
    winning.ties_go_to_the_earliest_stake,
    winning.roots_rank_as_sums_do,
    ticking.every_tick_comes_closer,
    ticking.every_issue_is_finalized,
)
_ENDLESS = names(*(claim for claim in _ALL if not claim.sampled))
_CLOCK = (
    *names(
        ticking.phases_end_as_9_1_says,
        ticking.every_tick_comes_closer,
        ticking.nothing_puts_the_end_off,
        ticking.no_tick_is_refused,
        ticking.an_issue_takes_at_most_so_many_ticks,
    ),
    *_ENDLESS,
)
_OUTSIDERS = winning.outsiders_decide_nothing.name
_DECIDERS = winning.an_outsider_can_decide_any_tie.name
"""The claim that needs three agents."""
_MAXIMUM = points.balances_stay_below_the_maximum.name
_LATER = ticking.nothing_is_accepted_after_ready.name
"""The claim that needs hostile actions, because no menu offers anything after READY."""

_WAITING = ticking.gated_ticks_wait.name
"""The claim about the one reading that refuses ticks."""


def _names(*, but: Iterable[str]) -> tuple[str, ...]:
    gone = {*but, _LATER, _WAITING, _DECIDERS}
    return tuple(claim.name for claim in _ALL if claim.name not in gone)


def plans() -> tuple[Plan, ...]:
    """The runs of this protocol."""
    return tuple(_plans())


def _plans() -> Iterator[Plan]:
    everything = {"hostile": 1, "strangers": 1, "agents": 1, "cycles": 1, "budget": 2, "stake": 1}
    yield Plan("issue", "explore", scope=everything, claims=(*_REJECTIONS, *_HOSTILE))
    taps = reach.a_revision_taps.name
    shown = tuple(name for name in _EVERYWHERE if name not in (taps, *_GOES_ON))
    cheap = (*_ROUNDS, *_LATE, *_GRANTS, *_TWICE, _TAP_FIRST)
    yield Plan("issue", "explore", LONG, scope={"cycles": 1}, claims=(*shown, *_names(but=cheap)))
    yield Plan(
        "issue", "explore", LONG, scope={"texts": 0}, claims=_names(but=(*_ROUNDS, *_LATE, *_GRANTS, *_CYCLE, *_TWICE))
    )
    one_point = {"texts": 0, "stake": 1, "budget": 1}
    yield Plan("issue", "explore", scope=one_point, claims=_TWO_RUNS)
    yield Plan("issue", "explore", LONG, scope={**one_point, "budget": 2}, claims=_ORDERS)
    tap = {"budget": 2, "texts": 2, "cycles": 1}
    paid = tuple(name for name in _REVISIONS if name != _TAP_FIRST)
    yield Plan("issue", "explore", LONG, scope=tap, claims=(*paid, taps, *shown))
    yield Plan("issue", "explore", scope={**tap, "rounds": 1, "texts": 3}, claims=(*_REVISIONS, *_WRITTEN, *_ENDLESS))
    part = {"agents": 1, "budget": 3, "texts": 3, "cycles": 1, "rounds": 1}
    yield Plan("issue", "explore", scope=part, claims=paid)  # a balance that pays a part of a revision
    late = {"think": 2, "texts": 0, "budget": 1, "stake": 1}
    yield Plan("issue", "explore", LONG, scope=late, claims=(*_LATE, *_CLOCK, *_GOES_ON, *_LAGGARDS))
    yield Plan("issue", "explore", LONG, scope={"rounds": 3, "texts": 0, "budget": 2}, claims=_ROUNDS)
    yield Plan("trio", "explore", claims=(_OUTSIDERS, _DECIDERS, *_OF_TRIO))
    yield Plan("series", "explore", LONG, claims=_names(but=(*_ROUNDS, *_LATE, *_GRANTS, *_CYCLE, *_TWICE)))
    yield from _small()
    yield from _readings()
    single = _names(but=(_OUTSIDERS, *_ENDLESS, *_ORDERS, _MAXIMUM))
    drawn = (*single, _LATER, *_EVERYWHERE, *_REJECTIONS)
    yield Plan("run", "fuzz", LONG, claims=drawn, examples=100, steps=70)
    # Comparing with other agents in every sampled state takes four fifths of the time of a run with all claims.
    cheap = tuple(name for name in drawn if name not in _TWICE)
    yield Plan("run", "fuzz", ("quick",), claims=cheap, examples=100, steps=70)
    # Trying every pair of actions in every sampled state takes three quarters of the time of a run with all claims.
    yield Plan("run", "fuzz", ("deep",), claims=_ORDERS, examples=60, steps=70)


_OWN_ADDITIONS = (
    staking.added_stake_begins_at_zero,
    staking.add_and_move_commute_for_one_agent,
    staking.added_points_can_be_moved_at_once,
)
"""The claims that need a point to add."""


def _small() -> Iterator[Plan]:
    """The smallest scopes that decide each claim, where a system or a budget has no larger one."""
    one = {"texts": 0, "budget": 1, "stake": 1}
    alone = {**one, "agents": 1}
    special: tuple[tuple[Mapping[str, int], tuple[str, ...]], ...] = (
        ({**one, "budget": 2}, names(*_OWN_ADDITIONS)),
        ({"cycles": 1, "rounds": 1, "texts": 2, "budget": 2, "stake": 1}, (*_CYCLE, reach.a_revision_taps.name)),
        ({**one, "think": 2}, _GOES_ON),
        ({**alone, "rounds": 3, "budget": 2}, _ROUNDS),
        (
            {**alone, "strangers": 1},
            names(
                points.grants_respect_the_maximum,
                points.invitations_credit_the_payment,
                admitting.invitation_and_enrolment_succeed,
            ),
        ),
        ({**alone, "rounds": 1, "hostile": 1, "ready": 1}, (_LATER,)),
    )
    elsewhere = {_MAXIMUM, *(name for _, shown in special for name in shown)}
    usual = tuple(name for name in (*_names(but=()), *_EVERYWHERE) if name not in elsewhere)
    for system, budgets in (("issue", ("quick",)), ("trio", BUDGETS), ("series", BUDGETS)):
        more = {"agents": 2, "outsiders": 1} if system == "trio" else {}
        for scope, shown in ((one, usual), *special):
            # Outsiders decide something in `trio`; this takes three agents.
            claims = tuple(name for name in shown if (system, name) != ("trio", _OUTSIDERS))
            yield Plan(system, "explore", budgets, {**more, **scope}, claims=claims)
    capped, clipped = _SCOPES["max_credit"], {"max_credit": "clip"}
    for system in ("trio", "series"):
        yield Plan(system, "explore", readings=clipped, scope=capped, claims=(_MAXIMUM,))
    last = {"texts": 0, "rounds": 1, "budget": 3, "agents": 1}
    lawful = admitting.accepted_actions_are_lawful.name
    exceeded, repeated, not_offered, refused = _UNDER_A_READING
    more = {"strangers": 1, "cap": 2}
    yield Plan("issue", "explore", scope={**last, **more}, readings={"max_credit": "reject"}, claims=(exceeded,))
    second = {**last, "rounds": 2, "hostile": 1}
    yield Plan("issue", "explore", scope=second, readings={"text": "B"}, claims=(not_offered, lawful))
    yield Plan("issue", "explore", scope=last, readings={"clock": "gated_by_9_1"}, claims=(refused, _WAITING))
    both = {"agents": 2, "texts": 1, "rounds": 1, "budget": 2}
    yield Plan("issue", "explore", scope=both, readings={"unique_proposal": "distinct_texts"}, claims=(repeated,))


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
    "never_staked": {"agents": 3, "texts": 0, "budget": 1, "stake": 1, "ready": 0},
    "unique_proposal": {**_NONE, "texts": 1},
    "stake_rounds": {**_NONE, "rounds": 0},
    "max_credit": {"agents": 1, "strangers": 1, "texts": 0, "budget": 3, "cap": 2},
    "move_takes": {**_ADD, "penalty": 0, "ready": 0},
    "tap_takes": {**_TALK, "budget": 2},
    "add_makes": _ADD,
    "completes": {**_TALK, "texts": 1, "think": 2},
    "completes=ready_only": {**_ADD, "think": 2},
    "ready_lasts": {**_ADD, "think": 2},
    "act_after_ready": _TALK,
    "feedback_on_no_action": _TALK,
    "silent_penalty": _ADD,
    "text": _TALK,
}
"""The scope in which each reading is searched, or each value that needs one of its own."""


def _scope(name: str, value: Any) -> Mapping[str, int]:
    return _SCOPES.get(f"{name}={value}", _SCOPES[name])


def _readings() -> Iterator[Plan]:
    """Every reading other than the default, where it can matter."""
    for name, values in reading_values(Readings()).items():
        for value in values[1:]:
            yield Plan("issue", "explore", LONG, _scope(name, value), {name: value}, _claims_under(name, value))


_OF_SEVERAL = names(
    winning.roots_rank_as_sums_do,
    winning.ties_go_to_the_earliest_stake,
    staking.moved_stake_begins_at_zero,
    staking.moves_take_as_read,
    winning.outsiders_decide_nothing,
)
"""The claims that need several agents."""
_SELF_STAKES = names(
    proposing.proposers_stake_at_once,
    proposing.everybody_has_staked_by_round_one,
    proposing.substitutes_stake_as_read,
)
_REJECTED = names(
    points.rejected_actions_change_nothing, logged.rejections_name_their_agent, admitting.rejections_have_their_cause
)
_QUIET: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("self_stake", "at_stake_1"): (*_REJECTED, proposing.proposers_stake_at_once.name),
    ("self_stake", "both"): (*_REJECTED, proposing.everybody_has_staked_by_round_one.name),
    ("substituted_no_action", "no_stake"): names(proposing.everybody_has_staked_by_round_one),
    ("stake_burn", "separate_event"): names(
        points.burns_are_recorded_in_full, points.both_records_of_a_burned_stake_agree
    ),
    ("poor_proposer", "no_stake"): _SELF_STAKES,
    ("poor_proposer", "reject"): (*_SELF_STAKES, *_NO_MOVES, logged.events_hold_what_was_submitted.name),
    ("clock", "gated_by_9_1"): names(ticking.penalties_are_as_stated, proposing.substitutes_stake_as_read),
    ("max_credit", "clip"): names(*_OWN_ADDITIONS),
    ("max_credit", "reject"): (
        *names(staking.added_stake_begins_at_zero, points.burns_are_recorded_in_full),
        points.invitations_credit_the_payment.name,
        admitting.invitation_and_enrolment_succeed.name,
        *_NO_MOVES,
    ),
    ("add_makes", "tops_up"): names(staking.added_stake_begins_at_zero, staking.actions_age_no_stake),
    ("text", "A"): names(proposing.everybody_has_staked_by_round_one),
}
"""The claims left out of a search under a reading: they do not apply, or its scope cannot decide them."""


def _claims_under(name: str, value: Any) -> tuple[str, ...]:
    scope = {"agents": 2, "cycles": 0, "rounds": 2, "budget": 3, "stake": 2, **_scope(name, value)}
    gone = {*_ROUNDS, *_LATE, *_GRANTS, *_TWICE}
    if name == "max_credit":
        gone -= set(_GRANTS)
    if name == "unique_proposal":
        return names(admitting.lawful_actions_are_accepted, admitting.rejections_have_their_cause)
    if name in ("full_tie", "never_staked"):
        return names(
            winning.names_decide_nothing, winning.ties_go_to_the_earliest_stake, winning.the_highest_score_wins
        )
    if name == "move_takes":
        return names(
            staking.moves_take_as_read,
            staking.moved_stake_begins_at_zero,
            staking.funded_add_and_move_commute,
            points.supply_is_conserved,
        )
    if not scope["cycles"]:
        gone |= set(_CYCLE)
    if scope["budget"] <= scope["stake"]:
        gone |= {*_FEEDBACK, *_ADDS, _TAP_FIRST}
    if scope["rounds"] == 1:
        gone |= set(_STAKES)
    if scope["agents"] == 1:
        gone |= set(_OF_SEVERAL)
    if name not in ("revision_cost", "rounding", "diff_ratio", "tap_takes", "act_after_ready"):
        gone |= {_TAP_FIRST}
    gone |= set(_QUIET.get((name, value), ()))
    if value == "never_stated":
        said = names(points.supply_is_conserved, ticking.ready_lasts_as_read)
        gone = {claim.name for claim in _ALL} - {*_CLOCK, *said}
    return (*_names(but=gone), *((_WAITING,) if value == "gated_by_9_1" else ()))
