"""The theory of one epoch of `cud`, for any number of agents, keys, authorities and requests.

Sorts run downhill, Act > Key > Auth > Agent (and Value, opaque data), so that most queries are decidable.  The
words of the kernel (`covered`, `vetoed`, `passes`, `interferes`, `collides`, `executed` …) are definitions, which
mutants replace; the words of the claims (`clash`, `lawful`, `able` …) are definitions as well, which no mutant may
touch: a kernel is not judged by its own notion.

Act: a request made in the epoch, if `submitted`.  Structure and deltas are opaque here: `formed` says that a
request is well formed, `overreaches` that what it would change lies outside its scope.
"""

from __future__ import annotations

from evenhand.proofs.smt.logic import (
    FALSE,
    Definition,
    Formula,
    Function,
    Relation,
    Sort,
    Var,
    conjunction,
    differ,
    exists,
    forall,
    ite,
    same,
    variables,
)
from evenhand.proofs.theory import Axiom, Theory

__all__ = [
    "ACT",
    "AGENT",
    "AUTH",
    "EPOCH",
    "KEY",
    "OBSERVED",
    "VALUE",
    "active",
    "ahead",
    "by",
    "cites",
    "cites_stranger",
    "early",
    "exits",
    "first_key",
    "forbids",
    "formed",
    "holder",
    "member",
    "over_read",
    "over_write",
    "overreaches",
    "permits",
    "puts",
    "reads",
    "scope",
    "submitted",
]

ACT, KEY, AUTH, AGENT, VALUE = Sort("Act"), Sort("Key"), Sort("Auth"), Sort("Agent"), Sort("Value")

by = Function("by", (ACT,), AGENT)
holder = Function("holder", (AUTH,), AGENT)
first_key = Function("first_key", (), KEY)
"""The key whose name comes first: nothing in the honest kernel looks at it."""

submitted = Relation("submitted", (ACT,))
formed = Relation("formed", (ACT,))
reads = Relation("reads", (ACT,))
scope = Relation("scope", (ACT, KEY))
cites = Relation("cites", (ACT, AUTH))
cites_stranger = Relation("cites_stranger", (ACT,))
overreaches = Relation("overreaches", (ACT,))
puts = Relation("puts", (ACT, KEY, VALUE))
"""The request's delta has this value for the key, and the key holds another."""

early = Relation("early", (AUTH,))
permits = Relation("permits", (AUTH,))
forbids = Relation("forbids", (AUTH,))
over_read = Relation("over_read", (AUTH, KEY))
over_write = Relation("over_write", (AUTH, KEY))
active = Relation("active", (AGENT,))
exits = Relation("exits", (AGENT,))
member = Relation("member", (AGENT,))
"""An agent of the run, in it or exited; others only hold or issue artefacts."""

ahead = Relation("ahead", (AGENT, AGENT))
"""One agent's name comes before another's: nothing in the honest kernel looks at it."""

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


governs = _define(
    "governs", (a, r, k), ite(reads(r), over_read(a, k), over_write(a, k)), "FQ6: a scope atom is target and operation"
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
refused = _define("refused", (r,), sound(r) & ~admitted(r), "FQ5, FQ11: refused in either pass")
faulty = _define(
    "faulty",
    (r,),
    submitted(r) & (~formed(r) | stray(r) | (admitted(r) & overreaches(r))),
    "FQ5, FQ33: malformed, a foreign citation, or a scope violation",
)
becomes = _define(
    "becomes", (k, v), exists([r], executed(r) & puts(r, k, v)), "B6, C10: what is executed changes the world"
)
gets_done = _define("gets_done", (r,), executed(r), "FQ5: the token EXECUTED")
gets_failure = _define("gets_failure", (r,), refused(r), "FQ5: the token JOINT_ADMISSIBILITY_FAILURE")
gets_fault = _define("gets_fault", (r,), faulty(r), "FQ5: the token ACTION_FAULT")
gets_more = _define("gets_more", (r,), FALSE, "FQ11: a receipt or a token of another kind; there is none")
tells_two = _define("tells_two", (r,), FALSE, "FQ11: a receipt that names pass 2; there is none")
hears_of = _define("hears_of", (r, x), FALSE, "FQ11: an agent named to the submitter; nobody is")
clash = _define(
    "clash",
    (r, s),
    (~reads(r) | ~reads(s)) & exists([k], scope(r, k) & scope(s, k)),
    "FQ10: what interference is, for the claims",
)
entitled = _define(
    "entitled",
    (r, k),
    exists([a], early(a) & permits(a) & cites(r, a) & same(holder(a), by(r)) & governs(a, r, k)),
    "FQ27, FQ33: an ALLOW of epoch 0 that is cited and held, for the claims",
)
barred = _define(
    "barred", (r, k), exists([a], early(a) & forbids(a) & governs(a, r, k)), "FQ34: a DENY of epoch 0, for the claims"
)
lawful = _define(
    "lawful",
    (r,),
    conjunction(
        [
            submitted(r) & formed(r) & ~cites_stranger(r),
            forall([a], cites(r, a) >> (early(a) & same(holder(a), by(r)))),
            forall([k], scope(r, k) >> (entitled(r, k) & ~barred(r, k))),
        ]
    ),
    "FQ27, FQ33: what passing pass 1 is, for the claims",
)
contested = _define(
    "contested",
    (r,),
    lawful(r) & exists([s], differ(r, s) & lawful(s) & clash(r, s)),
    "FQ4: passes pass 1 and interferes with another that does, for the claims",
)


def _may(over: Relation) -> Formula:
    """Agent x has an ALLOW for the operation on key k, and nobody forbids it."""
    held = exists([a], early(a) & permits(a) & same(holder(a), x) & over(a, k))
    return held & ~exists([b], early(b) & forbids(b) & over(b, k))


able = _define(
    "able", (x,), exists([k], _may(over_read) | _may(over_write)), "FQ34: some well-formed action is admissible"
)
dead = _define("dead", (), forall([x], active(x) >> ~able(x)), "FQ34: no active agent has an admissible action")
stays = _define("stays", (x,), active(x) & ~exits(x), "FQ24: exit is irrevocable")
dead_next = _define("dead_next", (), forall([x], stays(x) >> ~able(x)), "FQ34, one epoch later: authorities stay")

OBSERVED = (
    "passes",
    "collides",
    "executed",
    "becomes",
    "gets_done",
    "gets_failure",
    "gets_fault",
    "gets_more",
    "tells_two",
    "hears_of",
    "stays",
)
"""The defined words of whose truth a step of the executable model tells."""

EPOCH = Theory(
    name="cud_epoch",
    sorts=(ACT, KEY, AUTH, AGENT, VALUE),
    functions=(by, holder, first_key),
    relations=(
        submitted,
        formed,
        reads,
        scope,
        cites,
        cites_stranger,
        overreaches,
        puts,
        early,
        permits,
        forbids,
        over_read,
        over_write,
        active,
        exits,
        member,
        ahead,
    ),
    axioms=(
        Axiom(
            "one_request_each",
            forall([r, s], (submitted(r) & submitted(s) & same(by(r), by(s))) >> same(r, s)),
            "FQ5, FQ31: at most one action per agent and epoch",
        ),
        Axiom("only_active_submit", forall([r], submitted(r) >> active(by(r))), "FQ24: who has exited takes no part"),
        Axiom("exits_submit_nothing", forall([r], submitted(r) >> ~exits(by(r))), "FQ24: exit instead of an action"),
        Axiom("only_members_act", forall([x], active(x) >> member(x)), "FQ24, FQ31: the agents of the run"),
        Axiom("only_active_exit", forall([x], exits(x) >> active(x)), "FQ24"),
        Axiom("scope_not_empty", forall([r], formed(r) >> exists([k], scope(r, k))), "C8: declared_scope is not empty"),
        Axiom("allow_or_deny", forall([a], ~(permits(a) & forbids(a)) & (permits(a) | forbids(a))), "C7: commitments"),
        Axiom(
            "readers_change_nothing",
            forall([r, k, v], (formed(r) & reads(r)) >> (~overreaches(r) & ~puts(r, k, v))),
            "FQ2: a READ has an empty delta",
        ),
        Axiom(
            "one_value_per_key",
            forall([r, k, v, w], (puts(r, k, v) & puts(r, k, w)) >> same(v, w)),
            "C8: proposed_delta is a map",
        ),
        Axiom(
            "beyond_scope_overreaches",
            forall([r, k, v], (puts(r, k, v) & ~scope(r, k)) >> overreaches(r)),
            "C10: a diff outside the declared scope is a violation",
        ),
        Axiom(
            "names_are_ordered",
            conjunction(
                [
                    forall([x, y], ahead(x, y) >> ~ahead(y, x)),
                    forall([x, y, z], (ahead(x, y) & ahead(y, z)) >> ahead(x, z)),
                    forall([x, y], same(x, y) | ahead(x, y) | ahead(y, x)),
                ]
            ),
            "of texts, not of the protocol: what a mutant may break ties by",
        ),
    ),
    definitions=tuple(_defined),
)
