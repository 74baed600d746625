"""What faulty kernels do, in the theory's words: the definitions that mutants put in place of the kernel's.

Each states the sentence that describes the fault, not the mutant's code; that the two say the same is checked on
steps of the mutant (`agreement`) and on the countermodels.
"""

from __future__ import annotations

from evenhand.proofs.cud.epoch import (
    ACT,
    AGENT,
    AUTH,
    EPOCH,
    KEY,
    active,
    ahead,
    by,
    cites,
    first_key,
    holder,
    member,
    permits,
    reads,
    scope,
    submitted,
)
from evenhand.proofs.smt.logic import (
    FALSE,
    TRUE,
    Definition,
    Formula,
    Holds,
    Term,
    differ,
    exists,
    forall,
    same,
    variables,
)

__all__ = [
    "ANY_HELD_ALLOW",
    "COLLISION_AS_FAULT",
    "DENY_BINDS_HOLDER",
    "EXIT_TRANSFERS",
    "FIRST_NAME_WINS",
    "FOREIGN_ACCEPTED",
    "KEY_EXEMPT",
    "LATE_HONOURED",
    "NAMES_THE_OTHER",
    "NEED_NOT_CITE",
    "NO_CAPABILITY",
    "NO_COLLISION",
    "ONE_KEY_SUFFICES",
    "ONE_REFUSES_ALL",
    "PASS_ONE_SKIPPED",
    "READERS_COLLIDE",
    "READER_BEATS_WRITER",
    "READS_HARMLESS",
    "RECEIPT_NAMES_THE_PASS",
    "TOLD_THE_PASS",
    "VETO_IGNORED",
    "WRITER_BEATS_READER",
    "WRITES_HARMLESS",
    "word",
]

r, s, t = variables(ACT, "r s t")
k = KEY("k")
a = AUTH("a")
x, y = variables(AGENT, "x y")


def word(name: str, *arguments: Term) -> Holds:
    """A defined word of the theory, of these things."""
    return EPOCH.meanings[name].relation(*arguments)


def _means(name: str, body: Formula, source: str) -> Definition:
    """Another meaning of a word, over the same variables."""
    return Definition(EPOCH.meanings[name].relation, EPOCH.meanings[name].variables, body, source)


_rival = word("contends", s) & differ(r, s) & word("interferes", r, s)
_common = exists([k], scope(r, k) & scope(s, k))

FIRST_NAME_WINS = _means(
    "collides",
    word("contends", r) & exists([s], _rival & ~ahead(by(r), by(s))),
    "F17: of those that interfere the first by name is executed",
)
READER_BEATS_WRITER = _means(
    "collides",
    word("contends", r) & exists([s], _rival & ~(reads(r) & ~reads(s))),
    "FQ10: a READ is executed and the WRITE it collides with refused",
)
WRITER_BEATS_READER = _means(
    "collides",
    word("contends", r) & exists([s], _rival & ~(~reads(r) & reads(s))),
    "FQ10: a WRITE is executed and the READ it collides with refused",
)
ONE_REFUSES_ALL = _means(
    "collides",
    word("contends", r)
    & exists([s, t], word("contends", s) & word("contends", t) & differ(s, t) & word("interferes", s, t)),
    "one collision refuses every request of the epoch",
)
NO_COLLISION = _means("collides", FALSE, "interference refuses nobody")
READS_HARMLESS = _means("interferes", ~reads(r) & ~reads(s) & _common, "a READ never interferes")
WRITES_HARMLESS = _means(
    "interferes", ((reads(r) & ~reads(s)) | (~reads(r) & reads(s))) & _common, "two WRITEs never interfere"
)
READERS_COLLIDE = _means("interferes", _common, "two READs of one key interfere")
KEY_EXEMPT = _means(
    "interferes",
    (~reads(r) | ~reads(s)) & exists([k], differ(k, first_key()) & scope(r, k) & scope(s, k)),
    "the first key takes no part in interference",
)
PASS_ONE_SKIPPED = (
    _means("covered", TRUE, "neither capability"),
    _means("vetoed", FALSE, "nor veto is looked at"),
)
NO_CAPABILITY = _means("covered", TRUE, "no ALLOW is needed: an open world")
ONE_KEY_SUFFICES = _means(
    "covered",
    exists([k], scope(r, k) & exists([a], word("capability", r, a) & word("governs", a, r, k))),
    "a capability for one of the declared keys suffices",
)
ANY_HELD_ALLOW = _means("covered", exists([a], word("capability", r, a)), "any ALLOW covers everything")
VETO_IGNORED = _means("vetoed", FALSE, "a DENY stops nobody")
DENY_BINDS_HOLDER = _means(
    "vetoed",
    exists(
        [a, k],
        word("in_force", a) & ~permits(a) & word("held_by", a, by(r)) & scope(r, k) & word("governs", a, r, k),
    ),
    "a DENY stops nobody but its holder",
)
LATE_HONOURED = _means("in_force", TRUE, "authorities count whenever they were made")
FOREIGN_ACCEPTED = (
    _means("stray", FALSE, "a citation of what the submitter does not hold is no fault"),
    _means("capability", word("in_force", a) & permits(a) & cites(r, a), "and counts, whoever holds it"),
)
NEED_NOT_CITE = _means(
    "capability", word("in_force", a) & permits(a) & word("held_by", a, by(r)), "holding an ALLOW is enough"
)
_gone = member(holder(a)) & ~active(holder(a))
_heir = active(x) & forall([y], active(y) >> (same(x, y) | ahead(x, y)))
EXIT_TRANSFERS = _means(
    "held_by",
    (same(holder(a), x) & ~_gone) | (_gone & _heir),
    "FQ28: what an agent held passes to the first agent left when it exits",
)
TOLD_THE_PASS = (
    _means("gets_failure", word("refused", r) & ~word("collides", r), "a collision is no common failure"),
    _means("gets_more", word("collides", r), "a collision has a token of its own"),
)
COLLISION_AS_FAULT = (
    _means("gets_failure", word("refused", r) & ~word("collides", r), "a collision is no common failure"),
    _means("gets_fault", word("faulty", r) | word("collides", r), "a collision is told as a fault"),
)
RECEIPT_NAMES_THE_PASS = (
    _means("gets_more", word("refused", r), "whoever is refused gets a receipt"),
    _means("tells_two", word("collides", r), "which names the pass"),
)
NAMES_THE_OTHER = (
    _means("gets_more", word("collides", r), "whoever collides gets a receipt"),
    _means(
        "hears_of",
        word("collides", r) & exists([s], submitted(s) & differ(r, s) & same(by(s), x) & word("clash", r, s)),
        "which names those it collided with",
    ),
)
