"""The faults of mutant kernels as definitions that replace the kernel's.

Each states the sentence that describes the fault, not the mutant's code; conformance of the two is checked on steps of
the mutant and on the countermodels.  FAULTS has every mutant that the theory of an epoch can express.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.core.system import Mutant
from evenhand.model.cud.mutants import arbitration, authority, reporting, validity
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.vocabulary import (
    ACT,
    AGENT,
    AUTH,
    KEY,
    VALUE,
    active,
    ahead,
    balked,
    below,
    by,
    cites,
    doubled,
    early,
    first_key,
    forbids,
    forged_agent,
    forged_id,
    head,
    held,
    holder,
    known,
    later,
    locked,
    mark,
    member,
    misshapen,
    narrower,
    odd_type,
    odd_value,
    over_read,
    over_write,
    permits,
    reads,
    scope,
    sooner,
    submitted,
    turn,
    wants,
)
from evenhand.smt.logic import FALSE, TRUE, Definition, Formula, conjunction, differ, exists, forall, same, variables

r, s, t = variables(ACT, "r s t")
k = KEY("k")
a, b = variables(AUTH, "a b")
v, w = variables(VALUE, "v w")
x, y = variables(AGENT, "x y")


word, _means = EPOCH.word, EPOCH.means

_rival = word("contends", s) & differ(r, s) & word("interferes", r, s)
_common = exists([k], scope(r, k) & scope(s, k))
_honest = EPOCH.meanings["collides"].body
_gone = member(holder(a)) & ~active(holder(a))
_kept = member(holder(b)) & ~active(holder(b))


def _beaten_unless(wins: Formula, source: str) -> tuple[Definition, ...]:
    """Return that, of the requests that interfere, r is refused unless it `wins` against each."""
    return (_means("collides", word("contends", r) & exists([s], _rival & ~wins), source),)


def _forgiven(*parts: Formula, source: str) -> Definition:
    """Return the action grammar with these parts."""
    return _means("formed", conjunction([submitted(r), *parts]), source)


_PLAIN = ~(forged_agent(r) | forged_id(r) | odd_type(r) | doubled(r) | odd_value(r) | misshapen(r))
_NOT_EMPTY = exists([k], scope(r, k))
_KNOWN = forall([k], scope(r, k) >> known(k))
_QUIET_READ = ~(reads(r) & exists([k, v], wants(r, k, v)))


def _plain_but(*kept: Formula) -> Formula:
    return conjunction([~one for one in kept])


def _last_write(who: str) -> Formula:
    """Return that the last submitted of the `who` with a value for k has v, and k held another."""
    mine = word(who, r) & wants(r, k, v)
    others = forall([s], (word(who, s) & differ(r, s) & exists([w], wants(s, k, w))) >> sooner(s, r))
    return ~held(k, v) & exists([r], mine & others)


def _last_change() -> Definition:
    """Return that the last submitted of the executed requests that change k sets its value."""
    others = forall([s], (word("executed", s) & differ(r, s) & exists([w], word("puts", s, k, w))) >> sooner(s, r))
    body = exists([r], word("executed", r) & word("puts", r, k, v) & others)
    return _means("becomes", body, "B6: one after the other, in the order of submission")


FAULTS: Mapping[Mutant[Any], tuple[Definition, ...]] = {
    # The winner of a collision.
    arbitration.tie_break_by_name: _beaten_unless(ahead(by(r), by(s)), "F17: the first by name is executed"),
    arbitration.tie_break_by_submission_order: _beaten_unless(sooner(r, s), "F17: the first submitted is executed"),
    arbitration.tie_break_by_value: _beaten_unless(below(r, s), "F17: the smallest value is written"),
    arbitration.tie_break_by_action_id: _beaten_unless(ahead(by(r), by(s)), "FQ23: ids begin with the agent's name"),
    arbitration.hidden_priority: _beaten_unless(ahead(by(s), by(r)), "F17: a rank of agents, the last one first"),
    arbitration.round_robin: _beaten_unless(turn(by(r), by(s)), "F17: in turns"),
    arbitration.most_refused_wins: _beaten_unless(balked(by(r)) & ~balked(by(s)), "F17: whoever was refused last time"),
    arbitration.narrowest_wins: _beaten_unless(narrower(r, s), "D12: the fewest declared keys"),
    arbitration.reader_beats_writer: _beaten_unless(
        reads(r) & ~reads(s), "FQ10: a READ is executed, the WRITE refused"
    ),
    arbitration.writer_beats_reader: _beaten_unless(
        ~reads(r) & reads(s), "FQ10: a WRITE is executed, the READ refused"
    ),
    arbitration.last_writer_wins: (
        _means("interferes", ((reads(r) & ~reads(s)) | (~reads(r) & reads(s))) & _common, "WRITEs do not interfere"),
        _last_change(),
    ),
    arbitration.reads_never_collide: (
        _means("interferes", ~reads(r) & ~reads(s) & _common, "a READ never interferes"),
    ),
    arbitration.first_key_only_collides: (
        _means(
            "interferes",
            (~reads(r) | ~reads(s)) & same(head(r), head(s)) & scope(r, head(r)) & scope(s, head(s)),
            "only the first declared keys are compared",
        ),
        _last_change(),
    ),
    arbitration.one_key_exempt: (
        _means(
            "interferes",
            (~reads(r) | ~reads(s)) & exists([k], differ(k, first_key()) & scope(r, k) & scope(s, k)),
            "the first key takes no part in interference",
        ),
        _last_change(),
    ),
    arbitration.relaxed_after_k: (
        _means("collides", ~later() & _honest, "F17: after the first epoch nobody is refused"),
        _last_change(),
    ),
    validity.refuse_all_if_any_collides: (
        _means(
            "collides",
            word("contends", r)
            & exists([s, t], word("contends", s) & word("contends", t) & differ(s, t) & word("interferes", s, t)),
            "one collision refuses every request of the epoch",
        ),
    ),
    validity.readers_collide: (_means("interferes", _common, "two READs of one key interfere"),),
    validity.exit_keeps_a_lock: (
        _means(
            "collides",
            _honest | (word("contends", r) & exists([k], scope(r, k) & locked(k))),
            "what an exited agent declared last stays locked",
        ),
    ),
    validity.pass_two_over_all: (
        _means("contends", submitted(r), "FQ4: whatever was submitted takes part in pass 2"),
        _means("collides", word("passes", r) & exists([s], _rival), "and refuses those that passed pass 1"),
    ),
    # Rights.
    authority.pass_one_skipped: (
        _means("covered", TRUE, "neither capability"),
        _means("vetoed", FALSE, "nor veto is looked at"),
    ),
    authority.veto_ignored: (_means("vetoed", FALSE, "a DENY stops nobody"),),
    authority.deny_of_read_ignored: (
        _means("vetoed", ~reads(r) & EPOCH.meanings["vetoed"].body, "a DENY stops WRITEs only"),
    ),
    authority.deny_binds_its_holder: (
        _means(
            "vetoed",
            exists(
                [a, k],
                word("in_force", a) & forbids(a) & word("held_by", a, by(r)) & scope(r, k) & word("governs", a, r, k),
            ),
            "a DENY stops nobody but its holder",
        ),
    ),
    validity.deny_blocks_both_operations: (
        _means(
            "vetoed",
            exists([a, k], word("in_force", a) & forbids(a) & scope(r, k) & (over_read(a, k) | over_write(a, k))),
            "a DENY of one operation stops the other too",
        ),
    ),
    authority.veto_lapses_after_k: (
        _means("in_force", early(a) & ~(later() & forbids(a)), "no DENY is in force after the first epoch"),
    ),
    authority.open_world_allow: (_means("covered", TRUE, "no ALLOW is needed"),),
    authority.uncited_allow_suffices: (
        _means(
            "capability", word("in_force", a) & permits(a) & word("held_by", a, by(r)), "holding an ALLOW is enough"
        ),
    ),
    authority.any_key_suffices: (
        _means(
            "covered",
            exists([k], scope(r, k) & exists([a], word("capability", r, a) & word("governs", a, r, k))),
            "a capability for one of the declared keys suffices",
        ),
    ),
    authority.any_held_allow_suffices: (
        _means("covered", exists([a], word("capability", r, a)), "any ALLOW covers everything"),
    ),
    authority.foreign_citation_accepted: (
        _means("stray", FALSE, "a citation of what the submitter does not hold is no fault"),
        _means("capability", word("in_force", a) & permits(a) & cites(r, a), "and counts, whoever holds it"),
    ),
    authority.foreign_citation_no_fault: (_means("stray", FALSE, "a foreign citation is no fault of its own"),),
    authority.exit_frees_authority: (
        _means("in_force", early(a) & ~_gone, "FQ28: every artefact of an agent lapses when it exits"),
    ),
    authority.exit_lapses_allows: (
        _means("in_force", early(a) & ~(permits(a) & _gone), "FQ28: an agent's ALLOWs lapse when it exits"),
    ),
    authority.exit_transfers_authority: (
        _means(
            "held_by",
            (same(holder(a), x) & ~_gone) | (_gone & active(x) & forall([y], active(y) >> (same(x, y) | ahead(x, y)))),
            "FQ28: what an agent held passes to the first agent left when it exits",
        ),
    ),
    authority.orphan_reclaimed: (
        _means(
            "held_by",
            same(holder(a), x)
            | (
                permits(a)
                & _gone
                & active(x)
                & ~exists(
                    [b, k],
                    word("in_force", b)
                    & permits(b)
                    & ~_kept
                    & ((over_read(a, k) & over_read(b, k)) | (over_write(a, k) & over_write(b, k))),
                )
            ),
            "FQ28: an ALLOW over what nobody left holds is everybody's",
        ),
    ),
    authority.late_authority_honoured: (_means("in_force", TRUE, "authorities count whenever they were made"),),
    # Well-formedness and execution.
    validity.empty_scope_passes: (_forgiven(_PLAIN, _KNOWN, _QUIET_READ, source="FQ13: no key need be declared"),),
    validity.duplicate_key_collides_with_itself: (
        _forgiven(
            _plain_but(forged_agent(r), forged_id(r), odd_type(r), odd_value(r), misshapen(r)),
            _NOT_EMPTY,
            _KNOWN,
            _QUIET_READ,
            source="FQ13: a key may be declared twice",
        ),
        _means("collides", _honest | (word("contends", r) & doubled(r)), "but then collides with itself"),
    ),
    validity.unknown_key_passes: (
        _forgiven(_PLAIN, _NOT_EMPTY, _QUIET_READ, source="FQ7: a declared key need not exist"),
    ),
    validity.unknown_type_passes: (
        _forgiven(
            _plain_but(forged_agent(r), forged_id(r), doubled(r), odd_value(r), misshapen(r)),
            _NOT_EMPTY,
            _KNOWN,
            _QUIET_READ,
            source="FQ2: any action type is well formed",
        ),
    ),
    validity.opaque_value_passes: (
        _forgiven(
            _plain_but(forged_agent(r), forged_id(r), odd_type(r), doubled(r), misshapen(r), reads(r) & odd_value(r)),
            _NOT_EMPTY,
            _KNOWN,
            _QUIET_READ,
            source="B5: any value is well formed",
        ),
    ),
    validity.forged_action_id_passes: (
        _forgiven(
            _plain_but(forged_agent(r), odd_type(r), doubled(r), odd_value(r), misshapen(r)),
            _NOT_EMPTY,
            _KNOWN,
            _QUIET_READ,
            source="FQ1: a request may name an action_id of its own",
        ),
    ),
    validity.read_with_delta_writes: (_forgiven(_PLAIN, _NOT_EMPTY, _KNOWN, source="FQ12: a READ may carry a delta"),),
    validity.read_writes: (
        _means(
            "becomes",
            (exists([r], word("executed", r) & word("puts", r, k, v)))
            | (exists([r], word("executed", r) & reads(r) & scope(r, k)) & same(v, mark()) & ~held(k, v)),
            "FQ12: a READ stamps the keys it reads",
        ),
    ),
    validity.scope_not_checked: (
        _means("executed", word("admitted", r), "C10: what it changes is not compared with its scope"),
        _means("faulty", submitted(r) & (~word("formed", r) | word("stray", r)), "nor told"),
        _means("becomes", _last_write("executed"), "and stays, the last one on top"),
    ),
    validity.violation_stays: (_means("becomes", _last_write("admitted"), "C10: a violation is told, and stays"),),
    validity.fault_spreads: (
        _means(
            "executed",
            word("admitted", r) & ~exists([s], word("admitted", s) & word("overreaches", s)),
            "C10: one violation undoes every request",
        ),
        _means(
            "faulty",
            submitted(r)
            & (
                ~word("formed", r)
                | word("stray", r)
                | (word("admitted", r) & exists([s], word("admitted", s) & word("overreaches", s)))
            ),
            "and blames every request",
        ),
    ),
    validity.lost_update: (
        _means(
            "becomes",
            exists(
                [r],
                word("executed", r)
                & word("puts", r, k, v)
                & forall([s], (word("admitted", s) & differ(r, s)) >> sooner(s, r)),
            ),
            "B7: the last copy of the world is kept",
        ),
    ),
    # Answers.
    reporting.token_tells_the_pass: (
        _means("gets_failure", word("refused", r) & ~word("collides", r), "a collision is no common failure"),
        _means("gets_more", word("collides", r), "a collision has a token of its own"),
    ),
    reporting.collision_told_as_fault: (
        _means("gets_failure", word("refused", r) & ~word("collides", r), "a collision is no common failure"),
        _means("gets_fault", word("faulty", r) | word("collides", r), "a collision is told as a fault"),
    ),
    reporting.collision_told_as_executed: (
        _means("gets_failure", word("refused", r) & ~word("collides", r), "a collision is no common failure"),
        _means("gets_done", word("executed", r) | word("collides", r), "a collision is told as executed"),
    ),
    reporting.fault_told_as_failure: (
        _means("gets_failure", word("refused", r) | word("faulty", r), "a fault is told as a mere refusal"),
        _means("gets_fault", FALSE, "and never as a fault"),
    ),
    reporting.violation_told_as_executed: (
        _means("gets_done", word("admitted", r), "a violation is told as executed"),
        _means("gets_fault", submitted(r) & (~word("formed", r) | word("stray", r)), "and not as a fault"),
    ),
    reporting.executed_told_as_failure: (
        _means("gets_failure", word("refused", r) | word("executed", r), "an execution is told as a refusal"),
        _means("gets_done", FALSE, "and never as done"),
    ),
    reporting.receipt_names_the_pass: (
        _means("gets_more", word("refused", r), "whoever is refused gets a receipt"),
        _means("tells_two", word("collides", r), "which names the pass"),
    ),
    reporting.refusing_agent_named: (
        _means("gets_more", word("collides", r), "whoever collides gets a receipt"),
        _means(
            "hears_of",
            word("collides", r) & exists([s], submitted(s) & differ(r, s) & same(by(s), x) & word("clash", r, s)),
            "which names those it collided with",
        ),
    ),
}
"""Mutant kernel → the definitions that it replaces."""
