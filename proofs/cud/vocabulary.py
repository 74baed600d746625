"""What an epoch of `cud` is made of, for the theory: sorts, symbols, and what is always true of them.

Sorts run downhill, Act > Key > Auth > Agent (and Value, opaque data), so that most queries are decidable.  Act: a
request made in the epoch, if `submitted`.

Nothing in the honest kernel looks at the symbols of HIDDEN: names, the order of submission, the epoch, what happened
before, how values or scopes compare.  They are here for faulty kernels to look at.
"""

from __future__ import annotations

from evenhand.smt.logic import (
    Formula,
    Function,
    Relation,
    Sort,
    Var,
    conjunction,
    exists,
    forall,
    iff,
    same,
    variables,
)
from evenhand.smt.theory import Axiom

__all__ = [
    "ACT",
    "AGENT",
    "AUTH",
    "AXIOMS",
    "FUNCTIONS",
    "HIDDEN",
    "KEY",
    "RELATIONS",
    "VALUE",
    "active",
    "ahead",
    "balked",
    "below",
    "by",
    "cites",
    "cites_stranger",
    "doubled",
    "early",
    "exits",
    "first_key",
    "forbids",
    "forged_agent",
    "forged_id",
    "head",
    "held",
    "holder",
    "known",
    "later",
    "locked",
    "mark",
    "member",
    "misshapen",
    "narrower",
    "odd_type",
    "odd_value",
    "over_read",
    "over_write",
    "permits",
    "reads",
    "scope",
    "sooner",
    "submitted",
    "turn",
    "wants",
]

ACT, KEY, AUTH, AGENT, VALUE = Sort("Act"), Sort("Key"), Sort("Auth"), Sort("Agent"), Sort("Value")

by = Function("by", (ACT,), AGENT)
holder = Function("holder", (AUTH,), AGENT)
first_key = Function("first_key", (), KEY)
"""The key whose name comes first."""

mark = Function("mark", (), VALUE)
"""The value that the mutant `read_writes` stamps."""

submitted = Relation("submitted", (ACT,))
forged_agent = Relation("forged_agent", (ACT,))
forged_id = Relation("forged_id", (ACT,))
odd_type = Relation("odd_type", (ACT,))
doubled = Relation("doubled", (ACT,))
"""Some key stands twice in the declared scope."""

odd_value = Relation("odd_value", (ACT,))
"""Some value of the delta is no JSON primitive."""

misshapen = Relation("misshapen", (ACT,))
"""The delta names an unknown key, or a key twice: what no mutant forgives."""

reads = Relation("reads", (ACT,))
scope = Relation("scope", (ACT, KEY))
wants = Relation("wants", (ACT, KEY, VALUE))
"""The request's delta has this value for the key."""

cites = Relation("cites", (ACT, AUTH))
cites_stranger = Relation("cites_stranger", (ACT,))
known = Relation("known", (KEY,))
"""A key of the world; others are only declared."""

held = Relation("held", (KEY, VALUE))
"""The key has this value before the epoch."""

early = Relation("early", (AUTH,))
"""Made at epoch 0."""

permits = Relation("permits", (AUTH,))
forbids = Relation("forbids", (AUTH,))
over_read = Relation("over_read", (AUTH, KEY))
over_write = Relation("over_write", (AUTH, KEY))
active = Relation("active", (AGENT,))
exits = Relation("exits", (AGENT,))
member = Relation("member", (AGENT,))
"""An agent of the run, in it or exited; others only hold or issue artefacts."""

ahead = Relation("ahead", (AGENT, AGENT))
"""One agent's name comes before another's."""

sooner = Relation("sooner", (ACT, ACT))
"""One request was submitted before another."""

turn = Relation("turn", (AGENT, AGENT))
"""One agent comes before another in a rotation that moves on by one with each epoch."""

later = Relation("later", ())
"""This is not the first epoch."""

balked = Relation("balked", (AGENT,))
"""The agent was refused in the epoch before."""

locked = Relation("locked", (KEY,))
"""An agent that exited declared this key in its last request."""

below = Relation("below", (ACT, ACT))
"""The values of one request's delta come before those of another's."""

narrower = Relation("narrower", (ACT, ACT))
"""One request declares fewer keys than another."""

head = Function("head", (ACT,), KEY)
"""The first declared key of a request."""

HIDDEN = ("ahead", "sooner", "turn", "later", "balked", "locked", "below", "narrower", "head", "first_key", "mark")
"""Symbols that the honest kernel does not look at."""

FUNCTIONS = (by, holder, head, first_key, mark)
RELATIONS = (
    submitted,
    forged_agent,
    forged_id,
    odd_type,
    doubled,
    odd_value,
    misshapen,
    reads,
    scope,
    wants,
    cites,
    cites_stranger,
    known,
    held,
    early,
    permits,
    forbids,
    over_read,
    over_write,
    active,
    exits,
    member,
    ahead,
    sooner,
    turn,
    later,
    balked,
    locked,
    below,
    narrower,
)

r, s, t = variables(ACT, "r s t")
k = KEY("k")
a = AUTH("a")
v, w = variables(VALUE, "v w")
x, y, z = variables(AGENT, "x y z")


def _line(before: Relation, one: Var, two: Var, three: Var) -> Formula:
    """A strict total order."""
    return conjunction([_ranks(before, one, two, three), forall([one, two], _comparable(before, one, two))])


def _ranks(before: Relation, one: Var, two: Var, three: Var) -> Formula:
    return conjunction(
        [
            forall([one, two], before(one, two) >> ~before(two, one)),
            forall([one, two, three], (before(one, two) & before(two, three)) >> before(one, three)),
        ]
    )


def _comparable(before: Relation, one: Var, two: Var) -> Formula:
    return same(one, two) | before(one, two) | before(two, one)


_TEXTS = "of texts, not of the protocol: what a mutant may break ties by"

AXIOMS = (
    Axiom(
        "one_request_each",
        forall([r, s], (submitted(r) & submitted(s) & same(by(r), by(s))) >> same(r, s)),
        "FQ5, FQ31: at most one action per agent and epoch",
    ),
    Axiom("only_active_submit", forall([r], submitted(r) >> active(by(r))), "FQ24: who has exited takes no part"),
    Axiom("exits_submit_nothing", forall([r], submitted(r) >> ~exits(by(r))), "FQ24: exit instead of an action"),
    Axiom("only_members_act", forall([x], active(x) >> member(x)), "FQ24, FQ31: the agents of the run"),
    Axiom("only_active_exit", forall([x], exits(x) >> active(x)), "FQ24"),
    Axiom("all_start_active", ~later() >> forall([x], member(x) >> active(x)), "FQ24, FQ31: whoever left, left before"),
    Axiom("allow_or_deny", forall([a], ~(permits(a) & forbids(a)) & (permits(a) | forbids(a))), "C7: commitments"),
    Axiom("one_type", forall([r], reads(r) >> ~odd_type(r)), "FQ2: a READ is of the enum"),
    Axiom(
        "one_value_per_key",
        forall([r, k, v, w], (wants(r, k, v) & wants(r, k, w)) >> same(v, w))
        & forall([k, v, w], (held(k, v) & held(k, w)) >> same(v, w)),
        "B5, C8: world state and proposed_delta are maps",
    ),
    Axiom(
        "the_world_is_known",
        known(first_key())
        & forall([r, k, v], wants(r, k, v) >> known(k))
        & forall([k], locked(k) >> (later() & known(k))),
        "FQ7: keys that are written, or were declared well, are keys of the world",
    ),
    Axiom("refusals_are_remembered", forall([x], balked(x) >> (active(x) & later())), "FQ20: own_last_outcome"),
    Axiom(
        "locks_are_left_behind",
        forall([k], locked(k) >> exists([x], member(x) & ~active(x))),
        "FQ24: what an exited agent did last",
    ),
    Axiom("names_are_ordered", _line(ahead, x, y, z), _TEXTS),
    Axiom("submissions_are_ordered", _line(sooner, r, s, t), "FQ31: requests arrive in some order"),
    Axiom(
        "turns_are_ordered",
        _line(turn, x, y, z) & (~later() >> forall([x, y], (member(x) & member(y)) >> iff(turn(x, y), ahead(x, y)))),
        "of a mutant's rotation: it starts with the first name",
    ),
    Axiom(
        "values_are_ranked",
        _ranks(below, r, s, t)
        & forall([r, s], below(r, s) >> (exists([k, v], wants(s, k, v)) | odd_value(s) | misshapen(s))),
        "of texts: whoever writes nothing comes after nobody",
    ),
    Axiom(
        "scopes_are_ranked",
        _ranks(narrower, r, s, t) & forall([r, s], narrower(r, s) >> exists([k], scope(s, k) & ~scope(r, k))),
        "of numbers: fewer keys cannot cover more",
    ),
    Axiom(
        "one_key_heads",
        forall([r, k], scope(r, k) >> scope(r, head(r))),
        "C8: declared_scope is a list, and begins",
    ),
)
