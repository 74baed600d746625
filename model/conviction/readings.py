"""The named readings of ambiguous sentences; the first value is the default.

The source holds two texts under the same section numbers, A and B.  `text` is a preset: `merged` leaves the other
readings unchanged; `A` and `B` fix those that only one of the two texts covers (see `settled`).
"""

from __future__ import annotations

from functools import lru_cache

from evenhand.core.records import dataclass, replace
from evenhand.core.system import reading


@dataclass(frozen=True, slots=True)
class Readings:
    """One legitimate interpretation of the text."""

    self_stake: str = reading(
        "at_submission",
        "at_stake_1",
        "both",
        sentence="B 6.2, A 12.1: self-stake upon submission; A 16.2: at the start of the first staking round",
    )
    substituted_no_action: str = reading(
        "self_stakes",
        "no_stake",
        sentence="9.3, A 6.2, B 6.2: whether a NoAction that the protocol assigned stakes for its agent",
    )
    revision_cost: str = reading(
        "burned",
        "deducted_only",
        sentence="14.1 deducts the cost; 18.3 subtracts burns alone",
    )
    stake_burn: str = reading(
        "is_burn_event",
        "separate_event",
        sentence="18.2 logs StakeBurned; 13.2 wants a Burn event whenever points are burned",
    )
    no_action: str = reading(
        "per_agent",
        "shared",
        sentence="6.1: the canonical NoAction is each agent's own, or one that belongs to nobody",
    )
    poor_proposer: str = reading(
        "stake_what_is_left",
        "no_stake",
        "reject",
        sentence="6.1, 6.2: every agent must propose and stakes ProposalSelfStake; silent on a smaller balance",
    )
    clock: str = reading(
        "free_running",
        "gated_by_9_1",
        sentence="9.4: an external scheduler emits ticks; 9.1: the tick advances once all are done or a timer is full",
    )
    phase_end: str = reading(
        "all_ready_or_timer",
        "never_stated",
        sentence="12.4: phases follow section 9, whose 9.1 advances ticks and never a phase",
    )
    timer_reset: str = reading(
        "per_phase",
        "global",
        sentence="9.1 stands twice, with and without the reset at the beginning of every phase",
    )
    penalty_floor: str = reading(
        "burn_what_is_left",
        "negative_balance",
        sentence="9.3: the inactive agent is debited KickOutPenalty; silent on a smaller balance",
    )
    rounding: str = reading(
        "exact",
        "floor",
        "ceil",
        sentence="14.1: ProposalSelfStake times a fraction, where section 5 has integers",
    )
    diff_ratio: str = reading(
        "replacements_over_max",
        "insertions_plus_deletions",
        sentence="14.1: changed tokens: whether a replaced token counts once or twice",
    )
    rounds_from: str = reading(
        "zero",
        "one",
        sentence="16.6: whether the round in which a stake is placed counts as held",
    )
    multiplier_cap: str = reading(
        "saturation_rounds",
        "uncapped",
        sentence="16.7 caps r at the saturation rounds; 16.6 counts every round",
    )
    last_stake_tick: str = reading(
        "adds_and_moves_in",
        "moves_out_too",
        "self_stake_too",
        sentence="17.3: most recent stake addition or move; which of them",
    )
    full_tie: str = reading(
        "no_winner",
        "lowest_proposal_id",
        sentence="17.3 is silent when LastStakeTick ties too",
    )
    never_staked: str = reading(
        "earliest",
        "latest",
        sentence="17.3: whose most recent stake addition or move occurred earliest; silent on a proposal that has none",
    )
    unique_proposal: str = reading(
        "one_each",
        "distinct_texts",
        sentence="6.1: agents who do not craft a unique proposal select NoAction: one of their own, or one that no "
        "other agent has proposed",
    )
    stake_rounds: int = reading(3, sentence="16.1: one or more STAKE rounds, no number")
    max_credit: str = reading(
        "unbounded",
        "clip",
        "reject",
        sentence="4.4: MaximumCredit is to be defined; silent on what happens to a grant beyond it",
    )
    move_takes: str = reading(
        "oldest_first",
        "youngest_first",
        sentence="16.3: any portion of existing stake: which entries",
    )
    tap_takes: str = reading(
        "oldest_first",
        "youngest_first",
        sentence="14.2: sufficient stake is withdrawn: from which entries",
    )
    add_makes: str = reading(
        "new_entry",
        "tops_up",
        sentence="16.6: every individual stake counts its rounds: whether an addition is a stake of its own",
    )
    completes: str = reading(
        "staking_action",
        "ready_only",
        "any_payload",
        sentence="9.1: submitted its required action or signalled READY; B 16.1.1: submitted staking actions or "
        "signalled READY: whether one optional action is enough, in a STAKE round, never, or in every phase",
    )
    ready_lasts: str = reading(
        "tick",
        "phase",
        sentence="9.1: READY for tick N; 9.2: confirms completion in a phase; B 16.1.1: a round advances when all have "
        "submitted staking actions or signalled READY: whether an agent is done for the tick or for the phase",
    )
    act_after_ready: str = reading(
        "rejected",
        "allowed",
        sentence="9.2: READY confirms completion; silent on acting after it",
    )
    feedback_on_no_action: str = reading(
        "rejected",
        "allowed",
        sentence="11.1: any proposal authored by another agent: whether the canonical NoAction is one",
    )
    silent_penalty: str = reading(
        "none_in_stake",
        "as_9_3",
        sentence="B 16.1.2: no penalty in a STAKE round; 9.3 knows no exception",
    )
    text: str = reading(
        "merged",
        "A",
        "B",
        sentence="the source holds two texts: A alone has 16.2 to 16.5, B alone 16.1.1 to 16.1.3; 6.2 differs",
    )

    @property
    def stakes_can_change(self) -> bool:
        """Whether the text offers Add Stake and Move Stake (A 16.3)."""
        return self.text != "B"


@lru_cache(maxsize=256)
def settled(readings: Readings) -> Readings:
    """The readings with the preset applied.

    A: 6.2 assigns a NoAction and stakes nothing for it, and no sentence exempts a STAKE round from penalties.
    B: 6.2 stakes upon every submission, 16.1.1 counts a staking action as input, and 16.1.2 exempts STAKE rounds.
    """
    match readings.text:
        case "A":
            return replace(readings, substituted_no_action="no_stake", silent_penalty="as_9_3")
        case "B":
            return replace(
                readings,
                self_stake="at_submission",
                substituted_no_action="self_stakes",
                completes="staking_action",
                silent_penalty="none_in_stake",
            )
        case _:
            return readings
