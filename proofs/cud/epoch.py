"""The theory of one epoch of `cud`, for any number of agents, keys, authorities and requests.

The words of the kernel (`formed`, `covered`, `vetoed`, `passes`, `interferes`, `collides`, `executed` …) are
definitions, which mutants and readings replace; the words of the claims (`proper`, `clash`, `lawful`, `able` …) are
definitions as well, which no mutant may touch: a kernel is not judged by its own notion.
"""

from __future__ import annotations

from evenhand.proofs.cud.vocabulary import (
    ACT,
    AGENT,
    AUTH,
    AXIOMS,
    FUNCTIONS,
    KEY,
    RELATIONS,
    VALUE,
    active,
    by,
    cites,
    cites_stranger,
    doubled,
    early,
    exits,
    forbids,
    forged_agent,
    forged_id,
    held,
    holder,
    known,
    member,
    misshapen,
    odd_type,
    odd_value,
    over_read,
    over_write,
    permits,
    reads,
    scope,
    submitted,
    wants,
)
from evenhand.smt.logic import (
    FALSE,
    Definition,
    Formula,
    Relation,
    Var,
    conjunction,
    differ,
    exists,
    forall,
    ite,
    same,
    variables,
)
from evenhand.smt.theory import Theory

__all__ = ["BEFORE_EXECUTION", "EPOCH", "FAILURE_FIRST", "OBSERVED"]

r, s = variables(ACT, "r s")
k = KEY("k")
a, b = variables(AUTH, "a b")
v, w = variables(VALUE, "v w")
x, y, z = variables(AGENT, "x y z")

_defined: list[Definition] = []


def _define(name: str, bound: tuple[Var, ...], body: Formula, source: str) -> Relation:
    relation = Relation(name, tuple(v.sort for v in bound))
    _defined.append(Definition(relation, bound, body, source))
    return relation


def _well_formed() -> Formula:
    """Said twice, for the kernel and for the claims."""
    return conjunction(
        [
            ~(forged_agent(r) | forged_id(r) | odd_type(r) | doubled(r) | odd_value(r) | misshapen(r)),
            exists([k], scope(r, k)),
            forall([k], scope(r, k) >> known(k)),
            ~(reads(r) & exists([k, v], wants(r, k, v))),
        ]
    )


formed = _define("formed", (r,), submitted(r) & _well_formed(), "C8, FQ1, FQ2, FQ12, FQ13: the action grammar")
puts = _define("puts", (r, k, v), wants(r, k, v) & ~held(k, v), "C10: what the request would change")
overreaches = _define(
    "overreaches",
    (r,),
    exists([k, v], puts(r, k, v) & ~scope(r, k)),
    "C10, reading snapshot_diff_only: its own diff leaves its scope",
)
governs = _define(
    "governs",
    (a, r, k),
    ~odd_type(r) & ite(reads(r), over_read(a, k), over_write(a, k)),
    "FQ6: a scope atom is target and operation",
)
in_force = _define("in_force", (a,), early(a), "FQ26: authorities exist from epoch 0 or not at all")
held_by = _define("held_by", (a, x), same(holder(a), x), "FQ26: authorities are never transferred")
capability = _define(
    "capability",
    (r, a),
    in_force(a) & permits(a) & cites(r, a) & held_by(a, by(r)),
    "FQ33: an ALLOW that is cited and held",
)
stray = _define(
    "stray",
    (r,),
    cites_stranger(r) | exists([a], cites(r, a) & ~(in_force(a) & held_by(a, by(r)))),
    "FQ33: a cited id that the submitter does not hold",
)
covered = _define(
    "covered",
    (r,),
    forall([k], scope(r, k) >> exists([a], capability(r, a) & governs(a, r, k))),
    "FQ27: every declared key and operation has a capability",
)
vetoed = _define(
    "vetoed",
    (r,),
    exists([a, k], in_force(a) & forbids(a) & scope(r, k) & governs(a, r, k)),
    "FQ27, FQ34: a DENY vetoes whoever holds it",
)
sound = _define("sound", (r,), submitted(r) & formed(r) & ~stray(r), "FQ33: structural validation precedes pass 1")
passes = _define("passes", (r,), sound(r) & covered(r) & ~vetoed(r), "FQ4, FQ27: pass 1")
contends = _define("contends", (r,), passes(r), "FQ4: pass 2 is over the requests that passed pass 1")
interferes = _define(
    "interferes",
    (r, s),
    (~reads(r) | ~reads(s)) & exists([k], scope(r, k) & scope(s, k)),
    "FQ4, FQ10: WW and RW on a common declared key",
)
collides = _define(
    "collides",
    (r,),
    contends(r) & exists([s], differ(r, s) & contends(s) & interferes(r, s)),
    "D13, FQ4: whoever interferes with another is refused",
)
admitted = _define("admitted", (r,), passes(r) & ~collides(r), "FQ4: what both passes leave")
executed = _define("executed", (r,), admitted(r) & ~overreaches(r), "FQ4, C10: admitted and within its own scope")
struck = _define("struck", (r,), submitted(r) & (~formed(r) | stray(r)), "FQ33: malformed, or a foreign citation")
refused = _define("refused", (r,), sound(r) & ~admitted(r), "FQ5, FQ11: refused in either pass")
faulty = _define("faulty", (r,), struck(r) | (admitted(r) & overreaches(r)), "FQ5, FQ33: struck, or a scope violation")
becomes = _define(
    "becomes", (k, v), exists([r], executed(r) & puts(r, k, v)), "B6, C10: what is executed changes the world"
)
logged = _define("logged", (r,), submitted(r), "I24: one line of the log for each request")
gets_done = _define("gets_done", (r,), executed(r), "FQ5: the token EXECUTED")
gets_failure = _define("gets_failure", (r,), refused(r), "FQ5: the token JOINT_ADMISSIBILITY_FAILURE")
gets_fault = _define("gets_fault", (r,), faulty(r), "FQ5: the token ACTION_FAULT")
gets_more = _define("gets_more", (r,), FALSE, "FQ11: a receipt or a token of another kind; there is none")
tells_two = _define("tells_two", (r,), FALSE, "FQ11: a receipt that names pass 2; there is none")
hears_of = _define("hears_of", (r, x), FALSE, "FQ11: an agent named to the submitter; nobody is")
gets_none = _define(
    "gets_none",
    (x,),
    active(x) & ~exits(x) & ~exists([r], submitted(r) & same(by(r), x)),
    "FQ5: the token NO_ACTION",
)
answered = _define("answered", (x,), active(x) & ~exits(x), "FQ5: gets a token, whichever")
proper = _define("proper", (r,), _well_formed(), "C8: the action grammar, for the claims")
trespasses = _define(
    "trespasses",
    (r,),
    exists([k, v], wants(r, k, v) & ~held(k, v) & ~scope(r, k)),
    "C10: changes what it does not declare, for the claims",
)
clash = _define(
    "clash",
    (r, s),
    (~reads(r) | ~reads(s)) & exists([k], scope(r, k) & scope(s, k)),
    "FQ10: what interference is, for the claims",
)
concerns = _define(
    "concerns",
    (a, r, k),
    ~odd_type(r) & ite(reads(r), over_read(a, k), over_write(a, k)),
    "FQ6: a scope atom is target and operation, for the claims",
)
entitled = _define(
    "entitled",
    (r, k),
    exists([a], early(a) & permits(a) & cites(r, a) & same(holder(a), by(r)) & concerns(a, r, k)),
    "FQ27, FQ33: an ALLOW of epoch 0 that is cited and held, for the claims",
)
barred = _define(
    "barred", (r, k), exists([a], early(a) & forbids(a) & concerns(a, r, k)), "FQ34: a DENY of epoch 0, for the claims"
)
foreign = _define(
    "foreign",
    (r,),
    cites_stranger(r) | exists([a], cites(r, a) & ~(early(a) & same(holder(a), by(r)))),
    "FQ33: cites what the submitter does not hold, for the claims",
)
lawful = _define(
    "lawful",
    (r,),
    conjunction(
        [
            submitted(r) & proper(r) & ~foreign(r),
            forall([k], scope(r, k) >> (entitled(r, k) & ~barred(r, k))),
        ]
    ),
    "FQ27, FQ33: what passing pass 1 is, for the claims",
)
_fails = exists([k], scope(r, k) & (~entitled(r, k) | barred(r, k)))
astray = _define("astray", (r,), proper(r) & foreign(r), "FQ33: a citation that is a fault, for the claims")
contested = _define(
    "contested",
    (r,),
    lawful(r) & exists([s], differ(r, s) & lawful(s) & clash(r, s)),
    "FQ4: passes pass 1 and interferes with another that does, for the claims",
)


def _may(over: Relation) -> Formula:
    """Agent x has an ALLOW for the operation on key k, and nobody forbids it."""
    allowed = exists([a], early(a) & permits(a) & same(holder(a), x) & over(a, k))
    return known(k) & allowed & ~exists([b], early(b) & forbids(b) & over(b, k))


able = _define(
    "able", (x,), exists([k], _may(over_read) | _may(over_write)), "FQ34: some well-formed action is admissible"
)
dead = _define("dead", (), forall([x], active(x) >> ~able(x)), "FQ34: no active agent has an admissible action")
stays = _define("stays", (x,), active(x) & ~exits(x), "FQ24: exit is irrevocable")
dead_next = _define("dead_next", (), forall([x], stays(x) >> ~able(x)), "FQ34, one epoch later: authorities stay")


def _owned(over: Relation, *, gone: bool) -> Formula:
    """Some member holds an ALLOW for the operation on key k, and every one that does has exited."""
    mine = early(a) & permits(a) & over(a, k) & member(holder(a))
    left = forall([a], mine >> (~active(holder(a)) | (exits(holder(a)) if gone else FALSE)))
    return known(k) & exists([a], mine) & left


orphan_write = _define("orphan_write", (k,), _owned(over_write, gone=False), "FQ28: every holder has exited")
orphan_read = _define("orphan_read", (k,), _owned(over_read, gone=False), "FQ28, reading any_held_pair")
orphan_write_next = _define("orphan_write_next", (k,), _owned(over_write, gone=True), "FQ28, one epoch later")
orphan_read_next = _define("orphan_read_next", (k,), _owned(over_read, gone=True), "FQ28, one epoch later")

OBSERVED = (
    "formed",
    "struck",
    "passes",
    "collides",
    "executed",
    "becomes",
    "logged",
    "gets_done",
    "gets_failure",
    "gets_fault",
    "gets_more",
    "tells_two",
    "hears_of",
    "gets_none",
    "answered",
    "stays",
)
"""The defined words of whose truth a step of the executable model tells."""

EPOCH = Theory(
    name="cud_epoch",
    sorts=(ACT, KEY, AUTH, AGENT, VALUE),
    functions=FUNCTIONS,
    relations=RELATIONS,
    axioms=AXIOMS,
    definitions=tuple(_defined),
)

BEFORE_EXECUTION = EPOCH.redefined(
    [
        Definition(
            overreaches,
            (r,),
            exists([k, v], wants(r, k, v) & ~scope(r, k)),
            "C10, reading before_execution: the delta itself leaves its scope",
        ),
        Definition(
            trespasses,
            (r,),
            exists([k, v], wants(r, k, v) & ~scope(r, k)),
            "C10, reading before_execution, for the claims",
        ),
    ]
)
"""The theory under the reading `scope_check=before_execution`."""

_refused_first = ~covered(r) | vetoed(r)
FAILURE_FIRST = EPOCH.redefined(
    [
        Definition(
            struck,
            (r,),
            submitted(r) & (~formed(r) | (stray(r) & ~_refused_first)),
            "FQ33, reading failure_first: a foreign citation is a fault only where pass 1 would let it pass",
        ),
        Definition(
            refused, (r,), submitted(r) & formed(r) & ~struck(r) & ~admitted(r), "FQ33, reading failure_first: refused"
        ),
        Definition(astray, (r,), proper(r) & foreign(r) & ~_fails, "FQ33, reading failure_first, for the claims"),
    ]
)
"""The theory under the reading `fault_precedence=failure_first`."""
