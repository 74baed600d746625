"""The mutants that each theorem refutes, registered before any run, and their encoding in a theorem's theory.

KILLED: theorem → mutants that it must refute.  SPARED: theorem → mutants it is tried on and cannot refute, with the
reason.  `evenhand prove cud --matrix` makes the whole matrix, every theorem against every mutant that the theory can
express; it must agree with these tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from types import ModuleType
from typing import Any

from evenhand.core.property import Property
from evenhand.core.system import Mutant
from evenhand.model.cud.kernel import REFERENCE
from evenhand.model.cud.mutants import arbitration, authority, reporting, validity
from evenhand.proofs.cud.definitions import FAULTS, MISSED
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.vocabulary import AGENT, KEY
from evenhand.smt.logic import Definition, Sort
from evenhand.smt.preludes import Twice
from evenhand.smt.rewriting import symbols
from evenhand.smt.theorem import Mutation, Theorem
from evenhand.smt.theory import Axiom, Theory


def _of(module: ModuleType) -> tuple[Mutant[Any], ...]:
    """Return the mutants of a module that the theory can express."""
    return tuple(one for one in FAULTS if vars(module).get(one.name) is one)


def _changing(rule: str) -> tuple[Mutant[Any], ...]:
    """Return the mutants that change a rule of the kernel and that the theory can express."""
    return tuple(one for one in FAULTS if getattr(one.rules, rule) is not getattr(REFERENCE, rule))


_MISSED = (*MISSED, arbitration.relaxed_after_k)
_RECEIPTS = (reporting.token_tells_the_pass, reporting.receipt_names_the_pass, reporting.refusing_agent_named)
_MISTOLD = (
    reporting.collision_told_as_fault,
    reporting.collision_told_as_executed,
    reporting.token_tells_the_pass,
)

KILLED: Mapping[str, tuple[Mutant[Any], ...]] = {
    "executed_never_interfere": (*_MISSED, reporting.collision_told_as_executed),
    "executed_has_capability": (
        *_changing("covers"),
        authority.exit_transfers_authority,
        authority.orphan_reclaimed,
        authority.late_authority_honoured,
    ),
    "no_veto_overridden": (
        authority.pass_one_skipped,
        authority.veto_ignored,
        authority.deny_of_read_ignored,
        authority.deny_binds_its_holder,
        authority.veto_lapses_after_k,
        authority.exit_frees_authority,
    ),
    "only_own_scope_changes": (
        validity.read_writes,
        validity.scope_not_checked,
        validity.violation_stays,
        reporting.executed_told_as_failure,
    ),
    "non_executed_changes_nothing": (
        validity.read_writes,
        validity.violation_stays,
        reporting.executed_told_as_failure,
    ),
    "no_winner": (*_of(arbitration), *_MISTOLD),
    "no_over_refusal": (
        validity.refuse_all_if_any_collides,
        validity.readers_collide,
        validity.exit_keeps_a_lock,
        validity.pass_two_over_all,
        validity.fault_spreads,
        reporting.executed_told_as_failure,
        validity.deny_blocks_both_operations,
    ),
    "bare_tokens": _RECEIPTS,
    "deadlock_is_stable": (
        authority.veto_ignored,
        authority.open_world_allow,
        authority.late_authority_honoured,
        authority.exit_transfers_authority,
    ),
    "collisions_need_rivals": (
        authority.veto_ignored,
        authority.open_world_allow,
        validity.readers_collide,
        validity.exit_keeps_a_lock,
        validity.pass_two_over_all,
    ),
    "deadlock_xor_livelock": (authority.open_world_allow, authority.veto_ignored, authority.late_authority_honoured),
    "orphaning_is_permanent": (
        authority.orphan_reclaimed,
        authority.exit_transfers_authority,
        authority.open_world_allow,
        authority.pass_one_skipped,
    ),
    "changed_key_reveals_pass_one": (validity.violation_stays, arbitration.tie_break_by_name),
    "malformed_is_a_fault": (*_changing("malformed"), reporting.fault_told_as_failure),
    "foreign_citation_is_a_fault": (
        authority.foreign_citation_no_fault,
        authority.foreign_citation_accepted,
        reporting.fault_told_as_failure,
    ),
    "outcomes_are_those_of_the_text": (
        reporting.receipt_names_the_pass,
        reporting.violation_told_as_executed,
        validity.scope_not_checked,
        validity.lost_update,
    ),
    "equivariance": (
        arbitration.tie_break_by_name,
        arbitration.one_key_exempt,
        arbitration.hidden_priority,
        authority.exit_transfers_authority,
    ),
    "order_independence": (arbitration.tie_break_by_submission_order,),
    "epoch_independence": (arbitration.relaxed_after_k, authority.veto_lapses_after_k),
    "history_independence": (arbitration.most_refused_wins, validity.exit_keeps_a_lock),
    "final_world_is_a_function_of_the_requests": (arbitration.tie_break_by_submission_order,),
    # Corrected: an exit that lifts a veto lets an agent in that then collides with a third.
    "exit_is_harmless": (validity.exit_keeps_a_lock, authority.exit_frees_authority),
    # Corrected: a fault spreads only from a request that passed both passes.
    "pass_one_refusals_are_inert": (
        validity.pass_two_over_all,
        reporting.refusing_agent_named,
        authority.open_world_allow,
    ),
    "token_blindness": (*_RECEIPTS[::-1], *_MISTOLD[:2], arbitration.tie_break_by_name, arbitration.last_writer_wins),
    "whoever_may_act_completes_alone": (
        validity.deny_blocks_both_operations,
        validity.exit_keeps_a_lock,
        reporting.executed_told_as_failure,
    ),
    # Corrected: plain requests declare one key each, so none is narrower and the first key is the common one.
    "rivals_collide_for_ever": (
        *(
            one
            for one in _of(arbitration)
            if one not in (arbitration.narrowest_wins, arbitration.first_key_only_collides)
        ),
        *_MISTOLD,
    ),
}
"""Theorem → the mutants that it refutes."""

_NO_PAST = "without a look at the past, the order or the epoch every variant of it is decided alike"
SPARED: Mapping[str, Mapping[Mutant[Any], str]] = {
    "executed_never_interfere": {
        arbitration.tie_break_by_name: "the winner is executed alone",
        authority.veto_ignored: "a veto decides who passes, not who collides",
    },
    "executed_has_capability": {
        authority.veto_ignored: "the capability is there all the same",
        authority.exit_lapses_allows: "it takes rights away: an equivalent mutant",
    },
    "no_veto_overridden": {authority.open_world_allow: "a veto holds against everybody"},
    "no_winner": {
        validity.refuse_all_if_any_collides: "refusing more leaves no winner either",
        validity.readers_collide: "refusing readers too leaves no winner either",
    },
    "no_over_refusal": {arbitration.tie_break_by_name: "it refuses fewer, not more"},
    "collisions_need_rivals": {
        arbitration.tie_break_by_name: "the loser has a rival all the same",
        validity.refuse_all_if_any_collides: "some request collides, and its rivals are there",
    },
    "whoever_may_act_completes_alone": {
        validity.refuse_all_if_any_collides: "a request alone collides with none",
        authority.veto_ignored: "it is executed all the same",
    },
    "rivals_collide_for_ever": {
        validity.refuse_all_if_any_collides: "both are refused all the same",
        authority.open_world_allow: "rights decide who passes, and both have them",
        arbitration.narrowest_wins: "both declare one key",
        arbitration.first_key_only_collides: "the first declared key is the common one",
    },
    "equivariance": {
        arbitration.reader_beats_writer: "who wins by operation wins under every name: equivariance is not enough",
        reporting.receipt_names_the_pass: "the receipt says too much, but the same under every name",
    },
    "pass_one_refusals_are_inert": {
        arbitration.tie_break_by_name: "whoever fails pass 1 neither wins nor loses",
        validity.refuse_all_if_any_collides: "whoever fails pass 1 collides with nobody",
        reporting.receipt_names_the_pass: "the receipt says too much, but the same with and without",
        validity.fault_spreads: "a fault spreads only from a request that passed both passes",
    },
    "order_independence": {arbitration.tie_break_by_name: "names do not depend on the order"},
    "epoch_independence": {arbitration.tie_break_by_name: _NO_PAST},
    "history_independence": {arbitration.tie_break_by_name: _NO_PAST},
}
"""Theorem → mutants it is tried on and spares, with the reason."""


_AT_LEAST = 2


def said(theory: Theory, base: Theory, definitions: Sequence[Definition]) -> tuple[Definition, ...]:
    """Return a mutant's definitions in a theory made of `base`: in both copies, where there are two."""
    shared = [name for name in base.symbols if f"{name}2" not in theory.symbols]
    if len(shared) == len(base.symbols):
        return tuple(definitions)
    sorts = {sort: Sort(f"{sort.name}2") for sort in (KEY, AGENT) if Sort(f"{sort.name}2") in theory.sorts}
    return Twice(base, shared, sorts).said(definitions)


_SLOW = {
    ("executed_has_capability", authority.orphan_reclaimed),
    ("only_own_scope_changes", validity.scope_not_checked),
}
"""Cells that z3 does not decide and cvc5 refutes at once: left to another theorem and to the matrix."""


def _tried(name: str) -> tuple[Mutant[Any], ...]:
    """Return which of its killed mutants a theorem is tried on: the first two, and those no earlier theorem tries."""
    before = takewhile(lambda other: other != name, KILLED)
    earlier = {one for other in before for one in KILLED[other] if (other, one) not in _SLOW}
    wanted = [one for one in KILLED.get(name, ()) if (name, one) not in _SLOW]
    return tuple(one for place, one in enumerate(wanted) if place < _AT_LEAST or one not in earlier)


def mutations(claim: Property, theory: Theory, *, base: Theory = EPOCH) -> tuple[Mutation, ...]:
    """Return the mutants that theorems about a claim are tried on at every run; the matrix tries all."""
    killed = tuple(Mutation(mutant=one, definitions=said(theory, base, FAULTS[one])) for one in _tried(claim.name))
    spared = tuple(
        Mutation(mutant=one, definitions=said(theory, base, FAULTS[one]), expected="proved", because=why)
        for one, why in SPARED.get(claim.name, {}).items()
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

_WHOLE: dict[int, tuple[Theory, tuple[Axiom, ...]]] = {}
"""Theories from which axioms were left out, by identity, each with all its axioms: several theories have one name."""


def lean(theorem: Theorem) -> Theorem:
    """Return the theorem with just the axioms about symbols that it or its mutants use.

    A proof from fewer axioms holds under all of them, and solvers are quicker with fewer.
    """
    _, whole = _WHOLE.get(id(theorem.theory), (theorem.theory, theorem.theory.axioms))
    theorem = replace(theorem, theory=replace(theorem.theory, axioms=whole))
    spoken = _spoken(theorem)
    axioms = tuple(
        axiom
        for axiom in whole
        if axiom.name.removesuffix("2") not in _ORDERS
        or spoken & {f"{name}{copy}" for name in _ORDERS[axiom.name.removesuffix("2")] for copy in ("", "2")}
    )
    theory = replace(theorem.theory, axioms=axioms)
    _WHOLE[id(theory)] = theory, whole
    return replace(theorem, theory=theory)


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
