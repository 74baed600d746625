"""Theorems as jobs: proves them and turns what was proved into findings.

Solvers are loaded here and nowhere else, and only where a proof is asked for; without one the answer is
not known, which is a finding too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.fixtures import recorded
from evenhand.model.system import UnknownName
from evenhand.plan import Job
from evenhand.proofs.prove import Proved, prove
from evenhand.proofs.registry import theorems
from evenhand.proofs.theorem import Theorem
from evenhand.properties.registry import Bundle, Expectation
from evenhand.properties.verdict import Status
from evenhand.report.finding import Finding, finding
from evenhand.report.text import evidence_length, trace_lines

__all__ = ["finding_of", "prove_all", "proved", "theorem_named", "theorem_names"]

ENGINE = "prove"


def theorem_names(protocol: str) -> tuple[str, ...]:
    """The names of a protocol's theorems, in the order in which it states them."""
    return tuple(theorem.name for theorem in theorems(protocol))


def theorem_named(protocol: str, name: str) -> Theorem:
    """One theorem of a protocol.  Raises UnknownName."""
    known = {theorem.name: theorem for theorem in theorems(protocol)}
    if name not in known:
        raise UnknownName(f"theorem of {protocol}:", name, known)
    return known[name]


def proved(bundle: Bundle, job: Job) -> tuple[Finding, ...]:
    """The finding of one theorem's job.  Raises NoSolver when no solver is installed."""
    theorem = theorem_named(bundle.name, job.theorem)
    return (finding_of(bundle, prove(theorem, bundle=bundle), job.command),)


def prove_all(bundle: Bundle, stated: Sequence[Any]) -> tuple[Finding, ...]:
    """The findings of theorems that are handed over.  Raises TypeError for what is no theorem."""
    for theorem in stated:
        if not isinstance(theorem, Theorem):
            raise TypeError(f"{theorem!r} is no evenhand.proofs.theorem.Theorem")
    return tuple(finding_of(bundle, prove(theorem, bundle=bundle), "") for theorem in stated)


def finding_of(bundle: Bundle, result: Proved, command: str) -> Finding:
    """What a proof says, beside what was registered: for this claim and engine, else by the theorem itself."""
    theorem, verdict = result.theorem, result.verdict
    system = bundle.model.systems[theorem.system]
    claim = next(claim for claim in bundle.claims if claim.name == theorem.claim)
    evidence = verdict.evidence
    refuted = verdict.status is Status.REFUTED and evidence is not None
    registered = bundle.expectation(theorem.claim, theorem.system, ENGINE, {})
    if registered.engine != ENGINE:
        registered = Expectation(theorem.claim, theorem.expected, engine=ENGINE)
    return finding(
        bundle.name,
        claim.sentence,
        verdict,
        registered,
        trace=trace_lines(system, evidence) if refuted and evidence is not None else (),
        length=None if evidence is None else evidence_length(evidence),
        record=recorded(bundle, system, claim, verdict, command)[0] if refuted else None,
        command=command if verdict.status is not Status.HOLDS else "",
        evidence=evidence,
    )
