"""The theorems about one epoch, each for any number of agents, keys and authorities.

The theory admits every state, reachable or not; so a theorem about one epoch holds of each epoch of a run of any
length.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from evenhand.core.property import Property
from evenhand.core.verdict import Status
from evenhand.model.cud.readings import Readings
from evenhand.proofs.cud.concretisation import scene
from evenhand.proofs.cud.definitions import word
from evenhand.proofs.cud.encoding import view_step
from evenhand.proofs.cud.epoch import BEFORE_EXECUTION, EPOCH
from evenhand.proofs.cud.faults import lean, mutations
from evenhand.proofs.cud.samples import FEWER, WORLDS
from evenhand.proofs.cud.vocabulary import ACT, AGENT, KEY, VALUE, active, by, exits, reads, scope, submitted, wants
from evenhand.properties.cud import arbitration, blindness, history, liveness, safety
from evenhand.smt.logic import Formula, conjunction, differ, exists, forall, iff, same, variables
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Theory

r, s, t = variables(ACT, "r s t")
h, k = variables(KEY, "h k")
v = VALUE("v")
x, y = variables(AGENT, "x y")


def _about_epochs(claim: Property, *, theory: Theory = EPOCH, **more: Any) -> Theorem:
    given: dict[str, Any] = {
        "protocol": "cud",
        "system": "universe",
        "view": view_step,
        "realise": partial(scene, readings=Readings(**more.get("readings", {}))),
        "samples": FEWER if more.get("readings") else WORLDS,
    }
    if "mutants" not in more:
        given["mutants"] = mutations(claim, theory, base=theory)
    return lean(Theorem(claim=claim, theory=theory, **{**given, **more}))


EXECUTED_NEVER_INTERFERE = _about_epochs(
    safety.executed_never_interfere,
    variables=(r, s),
    assumes=word("gets_done", r) & word("gets_done", s) & differ(r, s),
    goal=~word("clash", r, s),
    witness=exists([r, s], word("passes", r) & word("collides", s) & differ(r, s)),
)

EXECUTED_HAS_CAPABILITY = _about_epochs(
    safety.executed_has_capability,
    variables=(r, k),
    assumes=word("gets_done", r) & scope(r, k),
    goal=word("entitled", r, k),
)

NO_VETO_OVERRIDDEN = _about_epochs(
    safety.no_veto_overridden,
    variables=(r, k),
    assumes=word("gets_done", r) & scope(r, k),
    goal=~word("barred", r, k),
    witness=exists([r, k], word("barred", r, k) & scope(r, k)),
)

_authored = exists([r], word("gets_done", r) & ~reads(r) & scope(r, k) & wants(r, k, v))


_BEFORE: dict[str, Any] = {
    "theory": BEFORE_EXECUTION,
    "readings": {"scope_check": "before_execution"},
    "mutants": mutations(safety.non_executed_changes_nothing, BEFORE_EXECUTION, base=BEFORE_EXECUTION),
}


def _own_scope(**more: Any) -> Theorem:
    return _about_epochs(
        safety.only_own_scope_changes,
        variables=(k, v),
        assumes=word("becomes", k, v),
        goal=_authored,
        **more,
    )


OWN_SCOPE = (_own_scope(), _own_scope(name="only_own_scope_changes_before_execution", **_BEFORE))


def _nothing_changes(**more: Any) -> Theorem:
    return _about_epochs(
        safety.non_executed_changes_nothing,
        variables=(k, v),
        assumes=~exists([r], word("gets_done", r) & ~reads(r)),
        goal=~word("becomes", k, v),
        witness=exists([r], word("gets_done", r) & reads(r)),
        **more,
    )


NOTHING_CHANGES = (
    _nothing_changes(),
    _nothing_changes(name="non_executed_changes_nothing_before_execution", **_BEFORE),
)

NO_OUTCOME_UNASKED = _about_epochs(
    safety.no_outcome_unasked,
    sentence="Everyone in the run who does not exit gets a token, NO_ACTION exactly if it submitted nothing; nobody "
    "else gets one, and the log has one entry for each request and no other.",
    goal=conjunction(
        [
            forall([x], iff(word("answered", x), active(x) & ~exits(x))),
            forall([x], iff(word("gets_none", x), active(x) & ~exits(x) & ~exists([r], submitted(r) & same(by(r), x)))),
            forall([r], iff(word("logged", r), submitted(r))),
        ]
    ),
    witness=exists([x], word("gets_none", x)),
)

NO_WINNER = _about_epochs(
    arbitration.no_winner,
    variables=(r,),
    assumes=word("contested", r),
    goal=word("gets_failure", r),
)

NO_OVER_REFUSAL = _about_epochs(
    arbitration.no_over_refusal,
    variables=(r,),
    assumes=word("lawful", r) & ~word("contested", r),
    goal=word("gets_done", r) | (word("gets_fault", r) & word("trespasses", r)),
)

BARE_TOKENS = _about_epochs(
    blindness.bare_tokens,
    sentence="Nobody is handed anything but one of the four bare tokens.",
    variables=(r,),
    assumes=submitted(r),
    goal=~word("gets_more", r),
)


# The claim is a monitor over a run; `dead` is its memory, and this is the step of its induction.
DEADLOCK_IS_STABLE = _about_epochs(
    liveness.deadlock_is_stable,
    system="run",
    sentence="Where no active agent has an admissible action nothing passes pass 1, and so it is one epoch later.",
    source="FQ34, FQ26",
    assumes=word("dead"),
    goal=word("dead_next") & forall([r], ~word("passes", r)),
    needs=("only_active_submit",),
    witness=exists([x], word("stays", x)),
)


COLLISIONS_NEED_RIVALS = _about_epochs(
    liveness.collisions_need_rivals,
    variables=(r,),
    assumes=word("collides", r),
    goal=exists(
        [x, y, k],
        differ(x, y)
        & active(x)
        & active(y)
        & word("may_write", x, k)
        & (word("may_write", y, k) | word("may_read", y, k)),
    ),
    needs=("only_active_submit", "one_request_each"),
)


WHOEVER_MAY_ACT = _about_epochs(
    liveness.whoever_may_act_completes_alone,
    variables=(r, k),
    assumes=word("plainly", r, k) & forall([s], submitted(s) >> same(s, r)),
    goal=word("gets_done", r),
)

_rivals_stay = exists(
    [x, y],
    differ(x, y)
    & word("stays", x)
    & word("stays", y)
    & word("may_write", x, k)
    & (word("may_write", y, k) | word("may_read", y, k)),
)
RIVALS_COLLIDE = _about_epochs(
    liveness.rivals_collide_for_ever,
    variables=(r, s, k),
    assumes=conjunction(
        [
            word("plainly", r, k) & word("plainly", s, k) & differ(r, s),
            ~(reads(r) & reads(s)),
            forall([t], submitted(t) >> (same(t, r) | same(t, s))),
        ]
    ),
    goal=conjunction(
        [
            word("gets_failure", r) & word("gets_failure", s),
            forall([h, v], ~word("becomes", h, v)),
            _rivals_stay,
        ]
    ),
    needs=("one_request_each", "only_active_submit", "exits_submit_nothing"),
    witness=exists([r], submitted(r) & reads(r)),
)


_DEADLOCKED = exists([r], submitted(r)) & forall([r], ~word("lawful", r)) & word("dead")
"""FQ34: something was submitted, nothing passes pass 1, and nothing else would."""


def _stuck(*, any_attempt: bool) -> Formula:
    """Return that the epoch counts towards livelock (FQ34, G20)."""
    same_world = forall([k, v], ~word("becomes", k, v))
    tried = exists([r], submitted(r) if any_attempt else word("collides", r))
    return tried & same_world


DEADLOCK_XOR_LIVELOCK = _about_epochs(
    liveness.deadlock_xor_livelock,
    system="run",
    assumes=_DEADLOCKED,
    goal=~_stuck(any_attempt=False),
)
DEADLOCK_AND_LIVELOCK = _about_epochs(
    liveness.deadlock_xor_livelock,
    name="deadlock_xor_livelock_unchanged_state",
    system="run",
    readings={"livelock_rule": "unchanged_state"},
    sentence="Where any attempt without a change counts, a deadlocked epoch counts towards livelock as well.",
    source="G20, FQ36",
    expected=Status.REFUTED,
    assumes=_DEADLOCKED,
    goal=~_stuck(any_attempt=True),
    mutants=(),
)


def _orphans(*, reading: bool) -> Formula:
    """Return that orphans stay orphans, and that no request that declares one passes pass 1."""

    def kept(kind: str, operation: Formula) -> Formula:
        stays = forall([k], word(f"orphan_{kind}", k) >> word(f"orphan_{kind}_next", k))
        return stays & forall([r, k], (word(f"orphan_{kind}", k) & operation & scope(r, k)) >> ~word("passes", r))

    writes = kept("write", ~reads(r))
    return writes & kept("read", reads(r)) if reading else writes


def _orphaning(*, reading: bool, **more: Any) -> Theorem:
    return _about_epochs(
        history.orphaning_is_permanent,
        goal=_orphans(reading=reading),
        needs=("only_active_submit",),
        witness=exists([k, r], word("orphan_write", k) & scope(r, k) & submitted(r)),
        **more,
    )


ORPHANING = (
    _orphaning(reading=False),
    _orphaning(
        reading=True,
        name="orphaning_is_permanent_any_held_pair",
        readings={"orphan_scope": "any_held_pair"},
        mutants=(),
    ),
)

MALFORMED = _about_epochs(
    safety.malformed_is_a_fault,
    variables=(r,),
    assumes=submitted(r),
    goal=iff(word("formed", r), word("proper", r)) & (word("proper", r) | word("gets_fault", r)),
)

FOREIGN = _about_epochs(
    safety.foreign_citation_is_a_fault,
    sentence="A well-formed request is struck for its citations exactly if it cites what its submitter does not hold.",
    variables=(r,),
    assumes=submitted(r),
    goal=iff(word("struck", r) & word("formed", r), word("astray", r)) & (word("astray", r) >> word("gets_fault", r)),
)

CHANGED_KEY = _about_epochs(
    blindness.changed_key_reveals_pass_one,
    variables=(r, k, v),
    assumes=word("gets_failure", r) & scope(r, k) & word("becomes", k, v),
    goal=~word("passes", r) & ~word("struck", r) & word("logged", r),
)
