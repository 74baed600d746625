"""The named readings of sentences that the markspace specification leaves unclear; the first value is the default."""

from __future__ import annotations

from evenhand.core.records import dataclass
from evenhand.core.system import reading


@dataclass(frozen=True, slots=True)
class Readings:
    """One legitimate interpretation of the text."""

    id_order: str = reading(
        "sequence",
        "adversarial",
        sentence="P32: id breaks ties of created_at; silent on whether ids follow the order of writing",
    )
    own_intents: str = reading(
        "replaced_by_newest",
        "compete",
        sentence="9.2 steps 3 to 6: what becomes of an agent's earlier intent on the resource it asks for again",
    )
    reference_authority: str = reading(
        "anyone",
        "same_scope_writer",
        "same_agent_or_principal",
        sentence="2.5, 6.3, 10 set no limit on who may supersede or invalidate whose mark",
    )
    action_immunity: str = reading(
        "reducible",
        "immune_to_warnings",
        sentence="9.5: warnings may target actions; P39: a claimed resource stays claimed",
    )
    failed_action: str = reading(
        "never_claims",
        "claims",
        sentence="2.3: failed actions claim nothing; P39: any action mark claims",
    )
    active_threshold: str = reading(
        "above_zero",
        "min_strength",
        sentence="6.1, P14: intents of strength > 0 compete; 8.2: reads leave out what is below 0.01",
    )
    claim_release: str = reading(
        "none",
        "superseding_action_of_holder",
        sentence="P39 against P13: is a claim ever given back",
    )
    lease: str = reading(
        "intent_ttl",
        "renewed_while_tool_runs",
        sentence="P4 with 9.1: whether an intent that was allowed can expire under a running tool",
    )
    guard_atomicity: str = reading(
        "per_operation",
        "through_tool_call",
        sentence="6.1, 6.3, 9.2: whether the guard's lock spans pre_action alone or the tool call as well",
    )
    deferred_loser: str = reading(
        "blocked",
        "conflict_with_winner",
        sentence="P17 and 6.2.1 tell losers BLOCKED; 9.2 step 6 tells them CONFLICT with the winning intent",
    )
    boundary_while_running: str = reading(
        "allowed",
        "waits",
        sentence="P17 is per boundary: may one fire while a tool that an earlier one allowed still runs",
    )
    need_log_base: str = reading("e", "2", "10", sentence="8.4: log without a base")
    principal_decision: str = reading(
        "none",
        "names_winner",
        sentence="P12, 6.1 under YIELD_ALL: what a principal's answer does",
    )
    hierarchy_reads: str = reading(
        "exact_scope",
        "subtree",
        sentence="8.2: marks `in the given scope`; 7.5: whether that takes in the scopes below",
    )
    child_visibility: str = reading(
        "as_defined",
        "no_more_open",
        sentence="P26: a scope without its own definition inherits; silent on one defined more open than its parent",
    )
    zero_strength: str = reading(
        "allowed",
        "excluded",
        sentence="2.1: initial_strength may be 0; P6 and P8 are strict",
    )
    warning_trust: str = reading(
        "none",
        "source_capped",
        sentence="2.5 gives a warning no source, 4.2 lists what has weight 1.0 without it",
    )
    rate_window: str = reading("tumbling", "sliding", sentence="9.12: max writes per window `until the window rotates`")
    scope_grammar: str = reading(
        "segments_nonempty",
        "free_text",
        sentence="7.5: `/` separates levels; silent on empty levels (`a//b`, `a/`)",
    )
    envelope_records: str = reading(
        "after_the_write",
        "before_the_check",
        sentence="9.7, 8.6: the envelope is checked before a write and records after it; P64: attempts are visible",
    )
    superseded_in_queue: str = reading(
        "delivered",
        "left_out",
        sentence="13.4: a poll returns what was written since the last; 10: a superseded mark becomes invisible",
    )
    classified_in_queue: str = reading(
        "delivered",
        "left_out",
        sentence="13.4: a poll returns what matches the patterns; 7.4, P22: of a classified scope a reader without "
        "authorisation sees nothing",
    )
    activation: str = reading(
        "round",
        "every_operation",
        sentence="P61: the guard rejects all further activations: whether a write or tool call in a round is one",
    )
    resolver: str = reading(
        "any_action",
        "action_of_the_principal",
        sentence="2.6: resolved when the principal writes an action mark scoped to the need; 8.3 takes the id of an "
        "action mark, whose and where it says not",
    )
    need_first: str = reading(
        "any_need",
        "need_in_the_scope",
        "later_need",
        sentence="9.8: require_need(scope) forces needs before actions in scope; silent on where it must lie, and "
        "on one that is older than what requires it",
    )
