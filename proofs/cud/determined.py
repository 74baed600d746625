"""The claims that determine the kernel: a kernel that satisfies them answers every request as the reference.

Here a kernel consists of its answers and its changes: the predicates `gets_done`, `gets_failure`, `gets_fault`,
`gets_more` and `becomes`, left undefined (`KERNEL`).  CLAIMS are the claims of the page as closed formulas over these
predicates.  If the claims imply OUTCOME, the outcome that the text gives, then any two kernels that satisfy them are
the same function.

python -m evenhand.proofs.cud determined
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.model.cud.mutants import reporting
from evenhand.model.cud.readings import Readings
from evenhand.proofs.cud.concretisation import scene
from evenhand.proofs.cud.definitions import word
from evenhand.proofs.cud.encoding import view_step
from evenhand.proofs.cud.epoch import BEFORE_EXECUTION, EPOCH, FAILURE_FIRST
from evenhand.proofs.cud.faults import lean, mutations
from evenhand.proofs.cud.samples import FEWER, WORLDS
from evenhand.proofs.cud.vocabulary import ACT, KEY, VALUE, held, reads, scope, submitted, wants
from evenhand.properties.cud import whole_epoch
from evenhand.smt.logic import And, Forall, Formula, Iff, Not, conjunction, differ, exists, forall, iff, variables
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.solvers import CVC5, CVC5_FINITE, SolverLimits
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Theory

r, s = variables(ACT, "r s")
k = KEY("k")
v = VALUE("v")

KERNEL = ("gets_done", "gets_failure", "gets_fault", "gets_more", "becomes")
"""The predicates that a kernel is free to choose."""

_done, _failed, _faulted = word("gets_done", r), word("gets_failure", r), word("gets_fault", r)
_lawful, _contested, _trespasses = word("lawful", r), word("contested", r), word("trespasses", r)
_astray, _proper = word("astray", r), word("proper", r)
_violation = _lawful & ~_contested & _trespasses
_unfit = submitted(r) & (~_proper | _astray)
_authored = exists([r], _done & ~reads(r) & scope(r, k) & wants(r, k, v))

CLAIMS: Mapping[str, Formula] = {
    "executed_never_interfere": forall([r, s], (_done & word("gets_done", s) & differ(r, s)) >> ~word("clash", r, s)),
    "executed_has_capability": forall([r, k], (_done & scope(r, k)) >> word("entitled", r, k)),
    "no_veto_overridden": forall([r, k], (_done & scope(r, k)) >> ~word("barred", r, k)),
    "no_winner": forall([r], _contested >> _failed),
    "no_over_refusal": forall([r], (_lawful & ~_contested) >> (_done | (_faulted & _trespasses))),
    "malformed_is_a_fault": forall([r], (submitted(r) & ~_proper) >> _faulted),
    "foreign_citation_is_a_fault": forall([r], (submitted(r) & _astray) >> _faulted),
    "scope_violation_is_a_fault": forall([r], _violation >> _faulted),
    "faults_have_a_reason": forall([r], _faulted >> (_unfit | _violation)),
    "no_outcome_unasked": forall([r], (_done | _failed | _faulted) >> submitted(r))
    & forall([r], submitted(r) >> (_done | _failed | _faulted | word("gets_more", r))),
    "one_token": forall([r], ~((_done & _failed) | (_done & _faulted) | (_failed & _faulted))),
    "bare_tokens": forall([r], ~word("gets_more", r)),
    "only_own_scope_changes": forall([k, v], word("becomes", k, v) >> (_authored & ~held(k, v))),
    "executed_writes_take_effect": forall(
        [r, k, v], (_done & ~reads(r) & scope(r, k) & wants(r, k, v) & ~held(k, v)) >> word("becomes", k, v)
    ),
    "non_executed_changes_nothing": forall([k, v], ~exists([r], _done & ~reads(r)) >> ~word("becomes", k, v)),
}
"""Claims of the page by name, for any kernel."""

_goes = _lawful & ~_contested & ~_trespasses
OUTCOME = conjunction(
    [
        forall([r], iff(_done, _goes)),
        forall([r], iff(_faulted, _unfit | _violation)),
        forall([r], iff(_failed, submitted(r) & ~_goes & ~_unfit & ~_violation)),
        forall([r], ~word("gets_more", r)),
        forall(
            [k, v],
            iff(word("becomes", k, v), exists([r], _goes & ~reads(r) & scope(r, k) & wants(r, k, v) & ~held(k, v))),
        ),
    ]
)
"""All tokens and all changes, as the text gives them."""


def _directions(part: Formula) -> tuple[Formula, ...]:
    if isinstance(part, Forall) and isinstance(part.body, Iff):
        one, other = part.body.left, part.body.right
        return forall(part.variables, one >> other), forall(part.variables, other >> one)
    return (part,)


def _parts(outcome: Formula) -> tuple[Formula, ...]:
    whole = outcome.parts if isinstance(outcome, And) else (outcome,)
    return tuple(side for part in whole for side in _directions(part))


_PARTS = _parts(OUTCOME)
"""OUTCOME, split into the two directions of its parts."""

_OPAQUE = (*KERNEL, "entitled", "barred", "proper", "foreign", "trespasses", "clash")
"""Definitions that the proof that the claims determine the outcome keeps opaque."""

_PASSES = ("formed", "stray", "covered", "vetoed", "collides")
_UNSEEN: Mapping[str, tuple[str, ...]] = {
    "no_outcome_unasked": _PASSES,
    "one_token": (*_PASSES, "overreaches"),
    "only_own_scope_changes": _PASSES[1:],
    "executed_writes_take_effect": _PASSES[1:],
    "non_executed_changes_nothing": _PASSES[1:],
}
"""Definitions kept opaque in proofs that the reference satisfies a claim: these claims do not depend on who passes.

`formed` says that a READ writes nothing, so it is unfolded in the claims about the world.
"""

_FATE = (*_OPAQUE, "lawful", "contested", "astray")
_CHANGES = (
    Lemma("changes_1", (CLAIMS["only_own_scope_changes"] & _PARTS[0]) >> _PARTS[-2], (), _FATE),
    Lemma("changes_2", (CLAIMS["executed_writes_take_effect"] & _PARTS[1]) >> _PARTS[-1], (), _FATE),
)
"""For any kernel: the done tokens determine the changes, whatever determines the tokens."""

_LIMITS = SolverLimits(rlimit=1_000_000, timeout_ms=30_000)


def determine(names: Sequence[str], portfolio: Portfolio) -> bool:
    """Return whether these claims determine the outcome.  Raises RuntimeError when no solver says."""
    claims = [(name, CLAIMS[name]) for name in names]
    for part in _PARTS:
        query = replace(EPOCH, axioms=()).query(*claims, ("goal", Not(part)), opaque=_OPAQUE)
        status = portfolio.ask(query, expected="sat", limits=_LIMITS).status
        if status not in ("sat", "unsat"):
            raise RuntimeError(f"whether {', '.join(names)} determine the kernel: {status}")
        if status == "sat":
            return False
    return True


def least_set() -> tuple[str, ...]:
    """Return the least set of claims that determines the kernel: those that no set can spare.

    Raises RuntimeError if they do not suffice, or when no solver says.
    """
    portfolio = Portfolio((CVC5, CVC5_FINITE))
    try:
        core = tuple(one for one in CLAIMS if not determine([name for name in CLAIMS if name != one], portfolio))
        if not determine(core, portfolio):
            raise RuntimeError("several sets of claims determine the kernel, and none of them is the least")
        return core
    finally:
        portfolio.close()


def _determined(name: str = "", theory: Theory = EPOCH, **readings: Any) -> Theorem:
    record = Readings(**readings)
    given: dict[str, Any] = {"readings": readings} if readings else {}
    tried = mutations(whole_epoch.outcomes_are_those_of_the_text, theory, base=theory)
    theorem = Theorem(
        name=name,
        claim=whole_epoch.outcomes_are_those_of_the_text,
        sentence="Everybody is told what the text says, and the world changes as it says; and so it is with whatever "
        "kernel satisfies the claims, for they determine it.",
        protocol="cud",
        system="universe",
        theory=theory,
        goal=OUTCOME,
        lemmas=(
            *(Lemma(f"claim_{one}", formula, (), _UNSEEN.get(one, ())) for one, formula in CLAIMS.items()),
            *(
                Lemma(f"any_kernel_{number}", conjunction(CLAIMS.values()) >> part, (), _OPAQUE)
                for number, part in enumerate(_PARTS[:-2], start=1)
            ),
            *_CHANGES,
        ),
        opaque=_FATE,
        view=view_step,
        realise=lambda structure: scene(structure, record),
        samples=FEWER if readings else WORLDS,
        # Only a kernel that answers with more than a token shows the conformance test both values of `gets_more`.
        mutants=tuple(one for one in tried if not readings or one.mutant == reporting.receipt_names_the_pass),
        **given,
    )
    return lean(theorem)


DETERMINED = (
    _determined(),
    _determined("outcomes_are_those_of_the_text_before_execution", BEFORE_EXECUTION, scope_check="before_execution"),
    _determined("outcomes_are_those_of_the_text_failure_first", FAILURE_FIRST, fault_precedence="failure_first"),
)
"""One theorem for each reading that affects the tokens."""
