"""The mutants that each theorem refutes, registered before any run, and their encoding in a theorem's theory.

KILLED: theorem → mutants that it must refute.  SPARED: theorem → mutants it is tried on and cannot refute, with the
reason.  `evenhand prove cud --matrix` makes the whole matrix, every theorem against every mutant that the theory can
express; it must agree with these tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenhand.proofs.cud.definitions import FAULTS
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.vocabulary import AGENT, KEY
from evenhand.smt.logic import Definition
from evenhand.smt.rewriting import symbols
from evenhand.smt.theorem import Mutation, Theorem
from evenhand.smt.theory import Theory

_WINS = (
    "tie_break_by_name",
    "tie_break_by_submission_order",
    "tie_break_by_value",
    "tie_break_by_action_id",
    "hidden_priority",
    "round_robin",
    "most_refused_wins",
    "narrowest_wins",
    "reader_beats_writer",
    "writer_beats_reader",
)
_MISSED = ("last_writer_wins", "reads_never_collide", "first_key_only_collides", "one_key_exempt", "relaxed_after_k")
_UNENTITLED = (
    "pass_one_skipped",
    "open_world_allow",
    "uncited_allow_suffices",
    "any_key_suffices",
    "any_held_allow_suffices",
    "foreign_citation_accepted",
    "exit_transfers_authority",
    "orphan_reclaimed",
    "late_authority_honoured",
)
_UNVETOED = (
    "pass_one_skipped",
    "veto_ignored",
    "deny_of_read_ignored",
    "deny_binds_its_holder",
    "veto_lapses_after_k",
    "exit_frees_authority",
)
_OVER_REFUSING = ("refuse_all_if_any_collides", "readers_collide", "exit_keeps_a_lock", "pass_two_over_all")
_RECEIPTS = ("token_tells_the_pass", "receipt_names_the_pass", "refusing_agent_named")

KILLED: Mapping[str, tuple[str, ...]] = {
    "executed_never_interfere": (*_MISSED, "collision_told_as_executed"),
    "executed_has_capability": _UNENTITLED,
    "no_veto_overridden": _UNVETOED,
    "only_own_scope_changes": ("read_writes", "scope_not_checked", "violation_stays", "executed_told_as_failure"),
    "non_executed_changes_nothing": ("read_writes", "violation_stays", "executed_told_as_failure"),
    "no_outcome_unasked": (),
    "no_winner": (*_WINS, *_MISSED, "collision_told_as_fault", "collision_told_as_executed", "token_tells_the_pass"),
    "no_over_refusal": (*_OVER_REFUSING, "fault_spreads", "executed_told_as_failure", "deny_blocks_both_operations"),
    "bare_tokens": _RECEIPTS,
    "deadlock_is_stable": ("veto_ignored", "open_world_allow", "late_authority_honoured", "exit_transfers_authority"),
    "deadlock_xor_livelock": ("open_world_allow", "veto_ignored", "late_authority_honoured"),
    "orphaning_is_permanent": ("orphan_reclaimed", "exit_transfers_authority", "open_world_allow", "pass_one_skipped"),
    "changed_key_reveals_pass_one": ("violation_stays", "tie_break_by_name"),
    "malformed_is_a_fault": (
        "empty_scope_passes",
        "duplicate_key_collides_with_itself",
        "unknown_key_passes",
        "unknown_type_passes",
        "opaque_value_passes",
        "forged_action_id_passes",
        "read_with_delta_writes",
        "fault_told_as_failure",
    ),
    "foreign_citation_is_a_fault": ("foreign_citation_no_fault", "foreign_citation_accepted", "fault_told_as_failure"),
    "outcomes_are_those_of_the_text": (
        "receipt_names_the_pass",
        "violation_told_as_executed",
        "scope_not_checked",
        "lost_update",
    ),
    "equivariance": ("tie_break_by_name", "one_key_exempt", "hidden_priority", "exit_transfers_authority"),
    "order_independence": ("tie_break_by_submission_order",),
    "epoch_independence": ("relaxed_after_k", "veto_lapses_after_k"),
    "history_independence": ("most_refused_wins", "exit_keeps_a_lock"),
    # At registration no countermodel of tie_break_by_value replayed; one does now, and the matrix has it.
    "value_independence": (),
    "value_independence_before_execution": (),
    "passes_ignore_values": (),
    # Registered when no pair of runs could be made of a structure; the matrix has the later kills.
    "verdict_determined": (),
    "verdict_determined_before_execution": (),
    "final_world_is_a_function_of_the_requests": ("tie_break_by_submission_order",),
    "final_world_is_a_function_of_the_requests_before_execution": (),
    # Corrected: an exit that lifts a veto lets an agent in that then collides with a third.
    "exit_is_harmless": ("exit_keeps_a_lock", "exit_frees_authority"),
    "token_blindness": (
        "refusing_agent_named",
        "receipt_names_the_pass",
        "token_tells_the_pass",
        "collision_told_as_fault",
        "collision_told_as_executed",
        "tie_break_by_name",
        "last_writer_wins",
    ),
}
"""Theorem → the mutants that it refutes."""

_NO_PAST = "without a look at the past, the order or the epoch every variant of it is decided alike"
SPARED: Mapping[str, Mapping[str, str]] = {
    "executed_never_interfere": {
        "tie_break_by_name": "the winner is executed alone",
        "veto_ignored": "a veto decides who passes, not who collides",
    },
    "executed_has_capability": {
        "veto_ignored": "the capability is there all the same",
        "exit_lapses_allows": "it takes rights away: an equivalent mutant",
    },
    "no_veto_overridden": {"open_world_allow": "a veto holds against everybody"},
    "no_winner": {
        "refuse_all_if_any_collides": "refusing more leaves no winner either",
        "readers_collide": "refusing readers too leaves no winner either",
    },
    "no_over_refusal": {"tie_break_by_name": "it refuses fewer, not more"},
    "equivariance": {
        "reader_beats_writer": "who wins by operation wins under every name: equivariance is not enough",
        "receipt_names_the_pass": "the receipt says too much, but the same under every name",
    },
    "order_independence": {"tie_break_by_name": "names do not depend on the order"},
    "epoch_independence": {"tie_break_by_name": _NO_PAST},
    "history_independence": {"tie_break_by_name": _NO_PAST},
}
"""Theorem → mutants it is tried on and spares, with the reason."""


_AT_LEAST = 2


def said(theory: Theory, base: Theory, definitions: Sequence[Definition]) -> tuple[Definition, ...]:
    """Return a mutant's definitions in a theory made of `base`: in both copies, where there are two."""
    symbols = theory.symbols
    shared = [name for name in base.symbols if f"{name}2" not in symbols]
    here = {definition.name: definition for definition in definitions}
    if f"{definitions[0].name}2" not in theory.meanings:
        return tuple(here.values())
    by_name = {sort.name: sort for sort in theory.sorts}
    sorts = {sort: by_name[f"{sort.name}2"] for sort in (KEY, AGENT) if f"{sort.name}2" in by_name}
    twice = base.redefined(definitions).twice("2", shared=shared, sorts=sorts)
    wanted = {*here, *(f"{name}2" for name in here)}
    return tuple(one for one in twice.definitions if one.name in wanted)


_SLOW = {("executed_has_capability", "orphan_reclaimed"), ("only_own_scope_changes", "scope_not_checked")}
"""Cells that z3 does not decide and cvc5 refutes at once: left to another theorem and to the matrix."""


def _tried(name: str) -> tuple[str, ...]:
    """Return which of its killed mutants a theorem is tried on: the first two, and those no earlier theorem tries."""
    names = list(KILLED)
    earlier = {one for other in names[: names.index(name)] for one in KILLED[other] if (other, one) not in _SLOW}
    wanted = [one for one in KILLED[name] if (name, one) not in _SLOW]
    return tuple(one for place, one in enumerate(wanted) if place < _AT_LEAST or one not in earlier)


def mutations(name: str, theory: Theory, *, base: Theory = EPOCH) -> tuple[Mutation, ...]:
    """Return the mutants that the theorem of this name is tried on at every run; the matrix tries all."""
    killed = tuple(Mutation(mutant=one, definitions=said(theory, base, FAULTS[one])) for one in _tried(name))
    spared = tuple(
        Mutation(mutant=one, definitions=said(theory, base, FAULTS[one]), expected="proved", because=why)
        for one, why in SPARED.get(name, {}).items()
    )
    return (*killed, *spared)


_ORDERS = {
    "names_are_ordered": ("ahead", "turn"),
    "submissions_are_ordered": ("sooner",),
    "turns_are_ordered": ("turn",),
    "values_are_ranked": ("below",),
    "scopes_are_ranked": ("narrower",),
    "one_key_heads": ("head",),
    "refusals_are_remembered": ("balked", "locked"),
    "locks_are_left_behind": ("locked",),
}
"""Axioms about symbols that the honest kernel ignores; each is needed only where one of the listed symbols occurs."""


def lean(theorem: Theorem) -> Theorem:
    """Return the theorem without axioms about symbols that neither it nor its mutants use.

    A proof from fewer axioms holds under all of them, and solvers are quicker with fewer.
    """
    spoken = _spoken(theorem)
    axioms = tuple(
        axiom
        for axiom in theorem.theory.axioms
        if axiom.name.removesuffix("2") not in _ORDERS
        or spoken & {f"{name}{copy}" for name in _ORDERS[axiom.name.removesuffix("2")] for copy in ("", "2")}
    )
    return replace(theorem, theory=replace(theorem.theory, axioms=axioms))


def _spoken(theorem: Theorem) -> set[str]:
    """Return the symbols of the theorem's formulas, own axioms and mutants, directly or through definitions."""
    changed = [definition for mutation in theorem.mutants for definition in mutation.definitions]
    own = [axiom.formula for axiom in theorem.theory.axioms if axiom.name.removesuffix("2") not in _ORDERS]
    waiting = [theorem.formula, theorem.antecedent, *own, *(definition.body for definition in changed)]
    found = set[str]()
    while waiting:
        for name in sorted(symbols(waiting.pop())):
            if name not in found:
                found.add(name)
                if name in theorem.theory.meanings:
                    waiting.append(theorem.theory.meanings[name].body)
    return found
