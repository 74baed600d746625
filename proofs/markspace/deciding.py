"""The answer of pre_action, for any number of agents and intents (6.1 FIRST_WRITER, P38, P39, §9.2).

The intents are those on the resource once the request is written, by rank: the theory of `policies`, under one of them.
"""

from __future__ import annotations

from functools import partial

from evenhand.core.verdict import Status
from evenhand.model.markspace.guard import REFERENCE
from evenhand.model.markspace.guard_vocabulary import GuardStep, Policy
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.proofs.markspace import policies
from evenhand.proofs.markspace.intents import (
    AGENT,
    INTENT,
    a,
    asked_before,
    asker,
    author,
    claims,
    earlier,
    i,
    j,
    k,
    named_before,
    new,
    running,
)
from evenhand.proofs.markspace.policies import CLAIMED, REQUESTED, by_name, ends, leads, read
from evenhand.proofs.markspace.rules import answered
from evenhand.properties.markspace import guarding
from evenhand.smt.ends import Ends
from evenhand.smt.logic import differ, exists, forall, iff, same
from evenhand.smt.preludes import Twice, define
from evenhand.smt.structure import Structure
from evenhand.smt.tables import beside
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Theory
from evenhand.source.rules import Faults

PRE_ACTION = Theory(
    name="markspace_pre_action",
    sorts=(AGENT, INTENT),
    functions=(author, asker, new),
    relations=(claims, earlier, named_before, asked_before, running),
    axioms=(*REQUESTED, *ends(earlier, by_name)),
    definitions=(
        CLAIMED,
        define("first", (i,), leads(earlier), "6.1 FIRST_WRITER, for the claims"),
        *read(answered(REFERENCE, first_writer=True)),
    ),
)
FAULTS = Faults(PRE_ACTION, partial(answered, first_writer=True))
_NOTHING = "no action is in the way"

# Conformance.


def view(taken: GuardStep) -> Structure | None:
    """Return a request under FIRST_WRITER, resolved at once, by an idle agent; None for any other step."""
    found = policies.view(taken)
    if found is None or taken.config.policy is not Policy.FIRST_WRITER or taken.config.deferred:
        return None
    names = {*PRE_ACTION.symbols, *PRE_ACTION.meanings}
    relations = {name: rows for name, rows in found.relations.items() if name in names}
    functions = {name: table for name, table in found.functions.items() if name in names}
    return Structure({sort.name: found.universe[sort.name] for sort in PRE_ACTION.sorts}, relations, functions)


_theorem = partial(
    Theorem,
    protocol="markspace",
    system="first_writer",
    theory=PRE_ACTION,
    view=view,
    samples=Ends(partial(policies.requests, places=((Policy.FIRST_WRITER, False),))),
    scope="any number of agents and intents",
)

_claimed, _allowed, _refused = map(PRE_ACTION.word, ("claimed", "allowed", "refused"))

PRECEDENCE = _theorem(
    claim=guarding.action_precedence_p39,
    assumes=_claimed,
    goal=_refused & ~_allowed,
    mutants=(
        *FAULTS.refuted(faulty.claims_ignored),
        *FAULTS.refuted(faulty.claims_hidden_by_intents),
        FAULTS.unseen(faulty.last_writer_wins, "no intent is looked at"),
    ),
)

UNCONTESTED = _theorem(
    claim=guarding.uncontested_is_allowed,
    source="6.1 step 2",
    assumes=~_claimed & forall([i], same(author(i), asker())),
    goal=_allowed,
    mutants=(
        *FAULTS.refuted(faulty.holders_kept_out),
        FAULTS.unseen(faulty.last_writer_wins, "no intent is in the way"),
    ),
)

POLICY = _theorem(
    claim=guarding.policy_decides_as_written,
    sentence="Among several the earliest intent wins, it alone, and its agent alone is allowed.",
    source="6.1 FIRST_WRITER, P11",
    variables=(i, j),
    assumes=~PRE_ACTION.word("found") & exists([k], differ(author(k), asker())),
    goal=iff(PRE_ACTION.word("wins", i), PRE_ACTION.word("first", i))
    & ((PRE_ACTION.word("wins", i) & PRE_ACTION.word("wins", j)) >> same(i, j))
    & iff(_allowed, PRE_ACTION.word("first", new()))
    & iff(_refused, ~_allowed),
    needs=("intents_are_ranked",),
    mutants=(
        *FAULTS.refuted(faulty.last_writer_wins, faulty.name_wins),
        FAULTS.unseen(faulty.claims_ignored, _NOTHING),
    ),
)

TRANSPARENT = _theorem(
    claim=guarding.guard_transparency_p38,
    sentence="Every CONFLICT names the intent that won: false where an action claims the resource.",
    assumes=_refused,
    goal=exists([i], PRE_ACTION.word("wins", i)),
    expected=Status.REFUTED,
)

CAUSED = _theorem(
    claim=guarding.refusals_name_their_cause,
    sentence="Every CONFLICT names the intent that won or the agent whose action claims the resource.",
    source="P38 with 9.2 step 2, repaired",
    assumes=_refused,
    goal=PRE_ACTION.word("found") | exists([i], PRE_ACTION.word("wins", i)),
    needs=("finitely_many",),
    witness=exists([i], PRE_ACTION.word("wins", i)),
    mutants=(
        *FAULTS.refuted(faulty.winner_withheld),
        FAULTS.unseen(faulty.claims_ignored, "an intent is named instead"),
    ),
)

# Two requests in states with the same marks.

TWICE = Twice(PRE_ACTION, (name for name in PRE_ACTION.symbols if name != running.name))
view_twice = beside(view, "running", "found", "wins", "allowed", "refused")
"""Two requests of one agent, with the same marks on the resource."""

DETERMINED = _theorem(
    claim=guarding.guard_determinism_p36,
    theory=TWICE.theory,
    view=view_twice,
    variables=(i,),
    goal=TWICE.alike("allowed") & TWICE.alike("refused") & TWICE.alike("found") & TWICE.alike("wins", i),
    witness=exists([a], running(a)) & ~exists([a], TWICE.second("running", a)),
    mutants=TWICE.mutants(
        *FAULTS.refuted(faulty.running_tools_claim),
        FAULTS.unseen(faulty.last_writer_wins, "the latest is the same for the same marks"),
    ),
)
