"""The faults of mutant kernels as definitions that replace the kernel's.

FAULTS has every mutant that the theory of an epoch can express.  Most are read from the mutant's own functions; those
in BY_HAND state the sentence that describes the fault.  Conformance is checked on steps of the mutant and on the
countermodels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand.core.system import Mutant
from evenhand.model.cud.kernel import REFERENCE, Rules
from evenhand.model.cud.mutants import MUTANTS, arbitration, authority, reporting, validity
from evenhand.proofs.cud import rules
from evenhand.proofs.cud.epoch import EPOCH, KERNEL
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
    early,
    forbids,
    held,
    holder,
    later,
    locked,
    mark,
    member,
    narrower,
    reads,
    scope,
    sooner,
    submitted,
    turn,
    wants,
)
from evenhand.smt.logic import (
    Definition,
    Formula,
    Var,
    conjunction,
    differ,
    exists,
    forall,
    same,
    variables,
)
from evenhand.source.values import Group

r, s, t = variables(ACT, "r s t")
k = KEY("k")
a, b = variables(AUTH, "a b")
v, w = variables(VALUE, "v w")
x, y = variables(AGENT, "x y")


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

word, _means = EPOCH.word, EPOCH.means

_rival = word("contends", s) & differ(r, s) & word("interferes", r, s)
_honest = EPOCH.meanings["collides"].body


def _beaten_unless(wins: Formula, source: str) -> tuple[Definition, ...]:
    """Return that, of the requests that interfere, r is refused unless it `wins` against each."""
    return (_means("collides", word("contends", r) & exists([s], _rival & ~wins), source),)


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


def _counting(in_force: Callable[[Var, Var], Formula], source: str) -> tuple[Definition, ...]:
    """Return that the artefacts which count are these, each held by these agents."""
    return _read(REFERENCE, source, in_force=rules.holding(in_force))


def _passed_on(auth: Var, who: Var) -> Formula:
    gone = member(holder(auth)) & ~active(holder(auth))
    first = active(who) & forall([y], active(y) >> (same(who, y) | ahead(who, y)))
    return conjunction([early(auth), (~gone & same(who, holder(auth))) | (gone & first)])


def _read(kernel: Rules, source: str, *, in_force: Group | None = None) -> tuple[Definition, ...]:
    """Return the words that these rules give another meaning."""
    meanings = rules.read(kernel, in_force=in_force)
    told, usual = rules.told(kernel), rules.told(REFERENCE)
    changed = {name: body for name, body in meanings.items() if body != KERNEL[name]}
    changed |= {name: body for name, body in told.items() if body != usual[name]}
    return tuple(_means(name, body, source) for name, body in changed.items())


BY_HAND: Mapping[Mutant[Any], tuple[Definition, ...]] = {
    # The winner of a collision.
    arbitration.tie_break_by_value: _beaten_unless(below(r, s), "F17: the smallest value is written"),
    arbitration.hidden_priority: _beaten_unless(ahead(by(s), by(r)), "F17: a rank of agents, the last one first"),
    arbitration.round_robin: _beaten_unless(turn(by(r), by(s)), "F17: in turns"),
    arbitration.most_refused_wins: _beaten_unless(balked(by(r)) & ~balked(by(s)), "F17: whoever was refused last time"),
    arbitration.narrowest_wins: _beaten_unless(narrower(r, s), "D12: the fewest declared keys"),
    arbitration.relaxed_after_k: (
        _means("collides", ~later() & _honest, "F17: after the first epoch nobody is refused"),
        _last_change(),
    ),
    validity.exit_keeps_a_lock: (
        _means(
            "collides",
            _honest | (word("contends", r) & exists([k], scope(r, k) & locked(k))),
            "what an exited agent declared last stays locked",
        ),
    ),
    # Rights.
    authority.veto_lapses_after_k: _counting(
        lambda auth, who: early(auth) & ~(later() & forbids(auth)) & same(who, holder(auth)),
        "no DENY is in force after the first epoch",
    ),
    authority.exit_transfers_authority: _counting(
        _passed_on, "FQ28: what an agent held passes to the first agent left when it exits"
    ),
    # Well-formedness and execution.
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
"""Mutant kernel → the definitions that it replaces, where its functions are not readable, or change the world."""

MISSED = (
    arbitration.last_writer_wins,
    arbitration.reads_never_collide,
    arbitration.first_key_only_collides,
    arbitration.one_key_exempt,
)
"""Mutants under which two requests that change one key are both executed."""


def _fault(mutant: Mutant[Any]) -> tuple[Definition, ...]:
    """Return the definitions that a mutant replaces.  Raises Unreadable, and ValueError if there are none."""
    found = BY_HAND.get(mutant) or _read(mutant.rules, mutant.source)
    if not found:
        raise ValueError(f"{mutant.name} changes no word of the theory")
    return (*found, _last_change()) if mutant in MISSED else found


FAULTS: Mapping[Mutant[Any], tuple[Definition, ...]] = {one: _fault(one) for one in MUTANTS if one not in OUTSIDE}
"""Mutant kernel → the definitions that it replaces."""
