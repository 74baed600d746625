"""The named readings of sentences that IX-2 leaves unclear; the first value is the default."""

from __future__ import annotations

import itertools

from evenhand.core.records import dataclass
from evenhand.core.system import reading

_CLASSES = ("collapse", "orphaning", "deadlock", "livelock")
PRECEDENCES = tuple("_".join(order) for order in itertools.permutations(_CLASSES))
"""Every order of the four terminal classes; the default comes first."""


@dataclass(frozen=True, slots=True)
class Readings:
    """One legitimate interpretation of the text."""

    scope_check: str = reading(
        "snapshot_diff_only",
        "after_rollback",
        "after_keep",
        "before_execution",
        "joint_diff",
        sentence="C10, FQ3: the diff is computed after execution; silent on whether there is one for each action or "
        "one for the epoch, what is compared, and if the write stays",
    )
    livelock_rule: str = reading(
        "pass2_refusals",
        "unchanged_state",
        "collisions_alone",
        sentence="FQ34 counts pass-2 refusals without a state change, G20, FQ17 and FQ22 any attempt without one; "
        "whether a change by an agent that has no part in the collision counts, and hides a livelock for ever",
    )
    deadlock_space: str = reading(
        "strategies_of_run",
        "all_well_formed_actions",
        "this_epoch_only",
        sentence="FQ34: no alternative admissible action under preregistered action space assumptions",
    )
    terminal_precedence: str = reading(*PRECEDENCES, sentence="silent: which terminal class is named when several fit")
    end_at_max: str = reading(
        "coordinated_if_any_executed",
        "invalid_run",
        sentence="G21: exceeding the maximum without a class is an invalid run; conditions A, C and I.b end so",
    )
    silent_epoch: str = reading(
        "neutral",
        "deadlock",
        sentence="FQ34: an epoch in which nobody submits has no submitted action that is admissible",
    )
    orphan_scope: str = reading(
        "writes_only",
        "any_held_pair",
        sentence="FQ28: the only ALLOW required to write it is held by an agent who exits",
    )
    orphan_ends_run: str = reading(
        "no", "only_if_nothing_left", "at_once", sentence="silent: whether an orphaned key ends the run"
    )
    fault_precedence: str = reading(
        "fault_first",
        "failure_first",
        sentence="FQ33: a request that both cites an authority not held and fails pass 1",
    )
    role_fallback: str = reading(
        "suffix_until_different",
        "single_suffix",
        "none",
        sentence="FQ30 repeats with a suffix until roles differ; FQ37 takes sha256(agent_id) mod 2 as bound",
    )
    role_target: str = reading(
        "index_in_key_list",
        "hash_bucket",
        sentence="FQ19, FQ30: a role takes the keys of its hash bucket; FQ37: its assigned key",
    )
    broadcast: str = reading(
        "to_the_others",
        "to_everybody",
        sentence="E15, FQ16: messages are broadcast to all agents: whether the sender is one of them",
    )
    message_limit: int = reading(4096, sentence="FQ21: a size bound is preregistered, in bytes; the text gives none")
