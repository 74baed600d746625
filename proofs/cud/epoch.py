"""The theory of one epoch of `cud`, for any number of agents, keys, authorities and requests.

The words of the two passes (`formed`, `covered`, `vetoed`, `passes`, `interferes`, `collides` …) are read from the
functions of `model/cud`; those about what is executed and told are written here.  Mutants and readings replace them.
The predicates of the claims (`proper`, `clash`, `lawful`, `able` …) are definitions that no mutant may replace, so
a kernel is never judged by its own definition.
"""

from __future__ import annotations

from evenhand.model.cud.kernel import REFERENCE
from evenhand.model.cud.readings import Readings
from evenhand.proofs.cud import rules
from evenhand.proofs.cud.vocabulary import (
    ACT,
    AGENT,
    AUTH,
    AXIOMS,
    KEY,
    SAID,
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
from evenhand.smt.logic import FALSE, Formula, Relation, Var, conjunction, differ, exists, forall, ite, same, variables

r, s = variables(ACT, "r s")
h, k = variables(KEY, "h k")
a, b = variables(AUTH, "a b")
v, w = variables(VALUE, "v w")
x, y, z = variables(AGENT, "x y z")


KERNEL = rules.read(REFERENCE)
"""The words that `model/cud` itself defines."""


def read(name: str, *bound: Var, source: str) -> Relation:
    """Declare a word whose meaning is read from the kernel."""
    return SAID.word(name, bound, KERNEL[name], source)


formed = read("formed", r, source="C8, FQ1, FQ2, FQ12, FQ13: the action grammar")
puts = SAID.word("puts", (r, k, v), wants(r, k, v) & ~held(k, v), "C10: what the request would change")
overreaches = SAID.word(
    "overreaches",
    (r,),
    exists([k, v], puts(r, k, v) & ~scope(r, k)),
    "C10, reading snapshot_diff_only: its own diff leaves its scope",
)
stray = read("stray", r, source="FQ33: a cited id that the submitter does not hold")
covered = read("covered", r, source="FQ27: every declared key and operation has a capability")
vetoed = read("vetoed", r, source="FQ27, FQ34: a DENY vetoes whoever holds it")
passes = read("passes", r, source="FQ4, FQ27: pass 1")
struck = read("struck", r, source="FQ33: malformed, or a foreign citation")
contends = read("contends", r, source="FQ4: pass 2 is over the requests that passed pass 1")
interferes = read("interferes", r, s, source="FQ4, FQ10: WW and RW on a common declared key")
collides = read("collides", r, source="D13, FQ4: whoever interferes with another is refused")
admitted = SAID.word("admitted", (r,), passes(r) & ~collides(r), "FQ4: what both passes leave")
executed = SAID.word("executed", (r,), admitted(r) & ~overreaches(r), "FQ4, C10: admitted and within its own scope")
refused = SAID.word("refused", (r,), submitted(r) & ~struck(r) & ~admitted(r), "FQ5, FQ11: refused in either pass")
faulty = SAID.word(
    "faulty", (r,), struck(r) | (admitted(r) & overreaches(r)), "FQ5, FQ33: struck, or a scope violation"
)
becomes = SAID.word(
    "becomes", (k, v), exists([r], executed(r) & puts(r, k, v)), "B6, C10: what is executed changes the world"
)
logged = SAID.word("logged", (r,), submitted(r), "I24: one line of the log for each request")
gets_done = SAID.word("gets_done", (r,), executed(r), "FQ5: the token EXECUTED")
gets_failure = SAID.word("gets_failure", (r,), refused(r), "FQ5: the token JOINT_ADMISSIBILITY_FAILURE")
gets_fault = SAID.word("gets_fault", (r,), faulty(r), "FQ5: the token ACTION_FAULT")
gets_more = SAID.word("gets_more", (r,), FALSE, "FQ11: a receipt or a token of another kind; there is none")
tells_two = SAID.word("tells_two", (r,), FALSE, "FQ11: a receipt that names pass 2; there is none")
hears_of = SAID.word("hears_of", (r, x), FALSE, "FQ11: an agent named to the submitter; nobody is")
gets_none = SAID.word(
    "gets_none", (x,), active(x) & ~exits(x) & ~exists([r], submitted(r) & same(by(r), x)), "FQ5: the token NO_ACTION"
)
answered = SAID.word("answered", (x,), active(x) & ~exits(x), "FQ5: gets a token, whichever")
proper = SAID.word(
    "proper",
    (r,),
    conjunction(
        [
            ~(forged_agent(r) | forged_id(r) | odd_type(r) | doubled(r) | odd_value(r) | misshapen(r)),
            exists([k], scope(r, k)),
            forall([k], scope(r, k) >> known(k)),
            ~(reads(r) & exists([k, v], wants(r, k, v))),
        ]
    ),
    "C8: the action grammar, for the claims",
)
trespasses = SAID.word(
    "trespasses",
    (r,),
    exists([k, v], wants(r, k, v) & ~held(k, v) & ~scope(r, k)),
    "C10: changes what it does not declare, for the claims",
)
clash = SAID.word(
    "clash",
    (r, s),
    (~reads(r) | ~reads(s)) & exists([k], scope(r, k) & scope(s, k)),
    "FQ10: what interference is, for the claims",
)
concerns = SAID.word(
    "concerns",
    (a, r, k),
    ~odd_type(r) & ite(reads(r), over_read(a, k), over_write(a, k)),
    "FQ6: a scope atom is target and operation, for the claims",
)
entitled = SAID.word(
    "entitled",
    (r, k),
    exists([a], early(a) & permits(a) & cites(r, a) & same(holder(a), by(r)) & concerns(a, r, k)),
    "FQ27, FQ33: an ALLOW of epoch 0 that is cited and held, for the claims",
)
barred = SAID.word(
    "barred", (r, k), exists([a], early(a) & forbids(a) & concerns(a, r, k)), "FQ34: a DENY of epoch 0, for the claims"
)
foreign = SAID.word(
    "foreign",
    (r,),
    cites_stranger(r) | exists([a], cites(r, a) & ~(early(a) & same(holder(a), by(r)))),
    "FQ33: cites what the submitter does not hold, for the claims",
)
lawful = SAID.word(
    "lawful",
    (r,),
    conjunction([submitted(r) & proper(r) & ~foreign(r), forall([k], scope(r, k) >> (entitled(r, k) & ~barred(r, k)))]),
    "FQ27, FQ33: what passing pass 1 is, for the claims",
)
_fails = exists([k], scope(r, k) & (~entitled(r, k) | barred(r, k)))
astray = SAID.word("astray", (r,), proper(r) & foreign(r), "FQ33: a citation that is a fault, for the claims")
contested = SAID.word(
    "contested",
    (r,),
    lawful(r) & exists([s], differ(r, s) & lawful(s) & clash(r, s)),
    "FQ4: passes pass 1 and interferes with another that does, for the claims",
)


def _may(over: Relation) -> Formula:
    """Return that agent x has an ALLOW for the operation on key k, and no DENY forbids it."""
    allowed = exists([a], early(a) & permits(a) & same(holder(a), x) & over(a, k))
    return known(k) & allowed & ~exists([b], early(b) & forbids(b) & over(b, k))


may_read = SAID.word("may_read", (x, k), _may(over_read), "FQ34: some READ of this key is admissible")
may_write = SAID.word("may_write", (x, k), _may(over_write), "FQ34: some WRITE of this key is admissible")
able = SAID.word(
    "able", (x,), exists([k], _may(over_read) | _may(over_write)), "FQ34: some well-formed action is admissible"
)
_own = early(a) & permits(a) & same(holder(a), by(r)) & concerns(a, r, k)
plainly = SAID.word(
    "plainly",
    (r, k),
    conjunction(
        [
            submitted(r) & proper(r) & ~foreign(r) & scope(r, k),
            forall([h], scope(r, h) >> same(h, k)),
            forall([h, v], wants(r, h, v) >> same(h, k)),
            forall([a], _own >> cites(r, a)),
            ite(reads(r), may_read(by(r), k), may_write(by(r), k)),
        ]
    ),
    "FQ34: the plain request for a key that its agent may act on",
)
dead = SAID.word("dead", (), forall([x], active(x) >> ~able(x)), "FQ34: no active agent has an admissible action")
stays = SAID.word("stays", (x,), active(x) & ~exits(x), "FQ24: exit is irrevocable")
dead_next = SAID.word("dead_next", (), forall([x], stays(x) >> ~able(x)), "FQ34, one epoch later: authorities stay")


def _owned(over: Relation, *, gone: bool) -> Formula:
    """Return that some member holds an ALLOW for the operation on key k, and every one that does has exited."""
    mine = early(a) & permits(a) & over(a, k) & member(holder(a))
    left = forall([a], mine >> (~active(holder(a)) | (exits(holder(a)) if gone else FALSE)))
    return known(k) & exists([a], mine) & left


orphan_write = SAID.word("orphan_write", (k,), _owned(over_write, gone=False), "FQ28: every holder has exited")
orphan_read = SAID.word("orphan_read", (k,), _owned(over_read, gone=False), "FQ28, reading any_held_pair")
orphan_write_next = SAID.word("orphan_write_next", (k,), _owned(over_write, gone=True), "FQ28, one epoch later")
orphan_read_next = SAID.word("orphan_read_next", (k,), _owned(over_read, gone=True), "FQ28, one epoch later")

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
"""The defined predicates whose values a step of the executable model shows."""

EPOCH = SAID.theory("cud_epoch", ACT, KEY, AUTH, AGENT, VALUE, axioms=AXIOMS)

_strays = exists([k, v], wants(r, k, v) & ~scope(r, k))
BEFORE_EXECUTION = EPOCH.redefined(
    [
        EPOCH.means("overreaches", _strays, "C10, reading before_execution: the delta itself leaves its scope"),
        EPOCH.means("trespasses", _strays, "C10, reading before_execution, for the claims"),
    ]
)
"""The theory under the reading `scope_check=before_execution`."""

_FAILURE_FIRST = rules.read(REFERENCE, Readings(fault_precedence="failure_first"))
FAILURE_FIRST = EPOCH.redefined(
    [
        *(
            EPOCH.means(name, body, "FQ33, reading failure_first: a foreign citation counts where pass 1 lets pass")
            for name, body in _FAILURE_FIRST.items()
            if body != KERNEL[name]
        ),
        EPOCH.means("astray", proper(r) & foreign(r) & ~_fails, "FQ33, reading failure_first, for the claims"),
    ]
)
"""The theory under the reading `fault_precedence=failure_first`."""
