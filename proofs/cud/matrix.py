"""The kill matrix of `cud`: every theorem against every mutant kernel that the theory of an epoch can express.

The expectations are those of `faults`, for all theorems and all mutants, not only those tried at every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant
from evenhand.model.cud.mutants import arbitration, authority, reporting
from evenhand.proofs.cud.definitions import FAULTS
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.faults import KILLED, SPARED, lean, said
from evenhand.proofs.cud.mail import FAULTS as OF_MAIL
from evenhand.proofs.cud.mail import POSTED
from evenhand.proofs.cud.theorems import UNTRIMMED
from evenhand.smt.matrix import Attempt, Registered
from evenhand.smt.theorem import Mutation

_MESSAGES = "it is about messages or observations: the theory `cud_mail` has it"
_COUNTER = "the counter is the harness's: the theory `cud_livelock_counter` has it"
OUTSIDE: Mapping[Mutant[Any], str] = {
    arbitration.most_executions: "the largest set without interference compares numbers, which is not first-order",
    arbitration.resolver_rewrites: "a rewritten request is another request; the theory has those that were submitted",
    authority.agent_id_from_request: "the kernel's idea of who submitted would be a second author of each request",
    reporting.message_delivered_at_once: _MESSAGES,
    reporting.own_message_echoed: _MESSAGES,
    reporting.other_agents_outcome_seen: _MESSAGES,
    reporting.forged_sender_accepted: _MESSAGES,
    reporting.oversized_message_passes: _MESSAGES,
    reporting.any_text_is_a_message: _MESSAGES,
    reporting.livelock_never_resets: _COUNTER,
    reporting.livelock_counts_pass_one: _COUNTER,
    reporting.livelock_counts_silence: _COUNTER,
    reporting.livelock_counts_despite_change: _COUNTER,
}
"""Mutant kernel → the reason why the theory of an epoch cannot express it."""


def attempts() -> Iterator[Attempt]:
    """Yield the cells of all theorems about the default readings."""
    for theorem in UNTRIMMED:
        if theorem.readings:
            continue
        for mutant, changed in FAULTS.items():
            definitions = said(theorem.theory, EPOCH, changed)
            registered: Registered = ""
            if mutant in KILLED.get(theorem.name, ()):
                registered = "killed"
            elif mutant in SPARED.get(theorem.name, {}):
                registered = "survives"
            tried = lean(replace(theorem, mutants=(Mutation(mutant=mutant, definitions=definitions),)))
            yield Attempt(tried, mutant, definitions, registered)
    for theorem in POSTED:
        declared = {one.mutant: one.expected for one in theorem.mutants}
        for mutant, changed in OF_MAIL.items():
            expected = declared.get(mutant)
            found: Registered = "killed" if expected == "refuted" else "survives" if expected else ""
            tried = replace(theorem, mutants=(Mutation(mutant=mutant, definitions=changed),))
            yield Attempt(tried, mutant, changed, found)
