"""The theorems about one epoch, each for any number of agents, keys and authorities.

Every state of a run, reachable or not, fits the theory; so what holds of one epoch holds of each epoch of a run
of any length.
"""

from __future__ import annotations

from typing import Any

from evenhand.proofs.cud import words
from evenhand.proofs.cud.epoch import ACT, AGENT, EPOCH, KEY, scope
from evenhand.proofs.cud.link import scene, view_step
from evenhand.proofs.cud.samples import samples
from evenhand.proofs.cud.twins import EQUIVARIANCE, TOKEN_BLINDNESS, unseen, usual
from evenhand.proofs.cud.words import word
from evenhand.proofs.smt.logic import differ, exists, forall, variables
from evenhand.proofs.theorem import Theorem

__all__ = ["THEOREMS"]

r, s = variables(ACT, "r s")
k = KEY("k")
x = AGENT("x")


def _about_epochs(*, system: str = "universe", **more: Any) -> Theorem:
    return Theorem(protocol="cud", system=system, theory=EPOCH, view=view_step, realise=scene, samples=samples, **more)


EXECUTED_NEVER_INTERFERE = _about_epochs(
    name="executed_never_interfere",
    claim="executed_never_interfere",
    sentence="No two executed requests of one epoch interfere.",
    source="D13, FQ4, FQ10",
    variables=(r, s),
    assumes=word("executed", r) & word("executed", s) & differ(r, s),
    goal=~word("clash", r, s),
    witness=exists([r, s], word("passes", r) & word("collides", s) & differ(r, s)),
    mutants=(
        usual("last_writer_wins", words.WRITES_HARMLESS),
        usual("reads_never_collide", words.READS_HARMLESS),
        usual("one_key_exempt", words.KEY_EXEMPT),
        unseen("tie_break_by_name", words.FIRST_NAME_WINS, because="the winner is executed alone"),
        unseen("veto_ignored", words.VETO_IGNORED, because="a veto decides who passes, not who collides"),
    ),
)

EXECUTED_HAS_CAPABILITY = _about_epochs(
    name="executed_has_capability",
    claim="executed_has_capability",
    sentence="Whatever is executed cites and holds an ALLOW for every declared key.",
    source="FQ27, FQ33, FQ34",
    variables=(r, k),
    assumes=word("executed", r) & scope(r, k),
    goal=word("entitled", r, k),
    mutants=(
        usual("open_world_allow", words.NO_CAPABILITY),
        usual("pass_one_skipped", *words.PASS_ONE_SKIPPED),
        usual("late_authority_honoured", words.LATE_HONOURED),
        usual("uncited_allow_suffices", words.NEED_NOT_CITE),
        usual("any_key_suffices", words.ONE_KEY_SUFFICES),
        usual("any_held_allow_suffices", words.ANY_HELD_ALLOW),
        usual("foreign_citation_accepted", *words.FOREIGN_ACCEPTED),
        usual("exit_transfers_authority", words.EXIT_TRANSFERS),
        unseen("veto_ignored", words.VETO_IGNORED, because="the capability is there all the same"),
        unseen("tie_break_by_name", words.FIRST_NAME_WINS, because="whoever wins has passed pass 1"),
    ),
)

NO_VETO_OVERRIDDEN = _about_epochs(
    name="no_veto_overridden",
    claim="no_veto_overridden",
    sentence="Nothing is executed on a key and operation that a DENY governs, whoever holds the DENY.",
    source="FQ27, FQ34",
    variables=(r, k),
    assumes=word("executed", r) & scope(r, k),
    goal=~word("barred", r, k),
    witness=exists([r, k], word("barred", r, k) & scope(r, k)),
    mutants=(
        usual("veto_ignored", words.VETO_IGNORED),
        usual("pass_one_skipped", *words.PASS_ONE_SKIPPED),
        usual("deny_binds_its_holder", words.DENY_BINDS_HOLDER),
        unseen("open_world_allow", words.NO_CAPABILITY, because="a veto holds against everybody"),
    ),
)

NO_WINNER = _about_epochs(
    name="no_winner",
    claim="no_winner",
    sentence="Nobody wins: of requests that pass pass 1 and interfere, each is refused.",
    source="D13, FQ4, F17",
    variables=(r,),
    assumes=word("contested", r),
    goal=word("gets_failure", r),
    mutants=(
        usual("tie_break_by_name", words.FIRST_NAME_WINS),
        usual("reader_beats_writer", words.READER_BEATS_WRITER),
        usual("writer_beats_reader", words.WRITER_BEATS_READER),
        usual("one_key_exempt", words.KEY_EXEMPT),
        usual("last_writer_wins", words.WRITES_HARMLESS),
        unseen("refuse_all_if_any_collides", words.ONE_REFUSES_ALL, because="refusing more leaves no winner either"),
        unseen("readers_collide", words.READERS_COLLIDE, because="refusing readers too leaves no winner either"),
    ),
)

DEADLOCK_IS_STABLE = _about_epochs(
    name="deadlock_is_stable",
    claim="deadlock_is_stable",
    system="run",
    # The claim is a monitor over a run; `dead` is what it remembers, and this is the step of its induction.
    sentence="Where no active agent has an admissible action nothing passes pass 1, and so it is one epoch later.",
    source="FQ34, FQ26",
    assumes=word("dead"),
    goal=word("dead_next") & forall([r], ~word("passes", r)),
    needs=("only_active_submit", "scope_not_empty"),
    witness=exists([x], word("stays", x)),
    mutants=(
        usual("veto_ignored", words.VETO_IGNORED),
        usual("open_world_allow", words.NO_CAPABILITY),
        usual("late_authority_honoured", words.LATE_HONOURED),
        usual("exit_transfers_authority", words.EXIT_TRANSFERS),
        unseen("tie_break_by_name", words.FIRST_NAME_WINS, because="there is nothing left to win"),
    ),
)

THEOREMS = (
    EXECUTED_NEVER_INTERFERE,
    EXECUTED_HAS_CAPABILITY,
    NO_VETO_OVERRIDDEN,
    NO_WINNER,
    EQUIVARIANCE,
    TOKEN_BLINDNESS,
    DEADLOCK_IS_STABLE,
)
"""What `cud` is proved to do; the first six of the protocol's page, one of them in two parts."""
