"""Vocabulary of an epoch of `cud`: sorts, symbols, and the axioms about them.

Sorts are ordered, Act > Key > Auth > Agent (and Value, opaque data), and functions go downwards, so that most queries
are decidable.  Act: a request made in the epoch, if `submitted`.

The honest kernel ignores the symbols of HIDDEN: names, the order of submission, the epoch, earlier events, the order
of values or scopes.  They are here for faulty kernels to read.
"""

from __future__ import annotations

from evenhand.smt.logic import Sort, exists, forall, iff, same, variables
from evenhand.smt.preludes import Declarations, ordered, ranked
from evenhand.smt.theory import Axiom

ACT, KEY, AUTH, AGENT, VALUE = Sort("Act"), Sort("Key"), Sort("Auth"), Sort("Agent"), Sort("Value")

SAID = Declarations()

by = SAID.function("by", ACT, AGENT)
holder = SAID.function("holder", AUTH, AGENT)
head = SAID.function("head", ACT, KEY)
"""The first declared key of a request."""

first_key = SAID.function("first_key", KEY)
"""The key whose name comes first."""

mark = SAID.function("mark", VALUE)
"""The value that the mutant `read_writes` stamps."""

submitted = SAID.relation("submitted", ACT)
forged_agent = SAID.relation("forged_agent", ACT)
forged_id = SAID.relation("forged_id", ACT)
odd_type = SAID.relation("odd_type", ACT)
doubled = SAID.relation("doubled", ACT)
"""Some key stands twice in the declared scope."""

odd_value = SAID.relation("odd_value", ACT)
"""Some value of the delta is no JSON primitive."""

misshapen = SAID.relation("misshapen", ACT)
"""The delta names an unknown key, or a key twice: no mutant accepts this."""

reads = SAID.relation("reads", ACT)
scope = SAID.relation("scope", ACT, KEY)
wants = SAID.relation("wants", ACT, KEY, VALUE)
"""The request's delta has this value for the key."""

cites = SAID.relation("cites", ACT, AUTH)
cites_stranger = SAID.relation("cites_stranger", ACT)
known = SAID.relation("known", KEY)
"""A key of the world; other keys are only declared."""

held = SAID.relation("held", KEY, VALUE)
"""The key has this value before the epoch."""

early = SAID.relation("early", AUTH)
"""Made at epoch 0."""

permits = SAID.relation("permits", AUTH)
forbids = SAID.relation("forbids", AUTH)
over_read = SAID.relation("over_read", AUTH, KEY)
over_write = SAID.relation("over_write", AUTH, KEY)
active = SAID.relation("active", AGENT)
exits = SAID.relation("exits", AGENT)
member = SAID.relation("member", AGENT)
"""An agent of the run, in it or exited; others only hold or issue artefacts."""

ahead = SAID.relation("ahead", AGENT, AGENT)
"""The first agent's name comes before the second's."""

sooner = SAID.relation("sooner", ACT, ACT)
"""The first request was submitted before the second."""

turn = SAID.relation("turn", AGENT, AGENT)
"""The first agent comes before the second in a rotation that moves on by one with each epoch."""

later = SAID.relation("later")
"""This is not the first epoch."""

balked = SAID.relation("balked", AGENT)
"""The agent was refused in the epoch before."""

locked = SAID.relation("locked", KEY)
"""An agent that exited declared this key in its last request."""

below = SAID.relation("below", ACT, ACT)
"""The first request's delta has values that come before the second's."""

narrower = SAID.relation("narrower", ACT, ACT)
"""The first request declares fewer keys than the second."""

HIDDEN = ("ahead", "sooner", "turn", "later", "balked", "locked", "below", "narrower", "head", "first_key", "mark")
"""Symbols that the honest kernel ignores."""

r, s, t = variables(ACT, "r s t")
k = KEY("k")
a = AUTH("a")
v, w = variables(VALUE, "v w")
x, y, z = variables(AGENT, "x y z")


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
    Axiom("names_are_ordered", ordered(ahead, x, y, z), _TEXTS),
    Axiom("submissions_are_ordered", ordered(sooner, r, s, t), "FQ31: requests arrive in some order"),
    Axiom(
        "turns_are_ordered",
        ordered(turn, x, y, z) & (~later() >> forall([x, y], (member(x) & member(y)) >> iff(turn(x, y), ahead(x, y)))),
        "of a mutant's rotation: it starts with the first name",
    ),
    Axiom(
        "values_are_ranked",
        ranked(below, r, s, t)
        & forall([r, s], below(r, s) >> (exists([k, v], wants(s, k, v)) | odd_value(s) | misshapen(s))),
        "of texts: whoever writes nothing comes after nobody",
    ),
    Axiom(
        "scopes_are_ranked",
        ranked(narrower, r, s, t) & forall([r, s], narrower(r, s) >> exists([k], scope(s, k) & ~scope(r, k))),
        "of numbers: fewer keys cannot cover more",
    ),
    Axiom(
        "one_key_heads", forall([r, k], scope(r, k) >> scope(r, head(r))), "C8: declared_scope is a list, and begins"
    ),
)
