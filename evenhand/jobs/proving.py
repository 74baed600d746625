"""Theorems as jobs: prove them and turn the results into findings.

Solvers are needed only where a proof is asked for; without one the finding is UNDECIDED.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.licence import Licence
from evenhand.core.lookup import named
from evenhand.core.plan import Expectation
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding, finding
from evenhand.evidence.story import story_of
from evenhand.jobs.certifying import recalled_for
from evenhand.jobs.fixtures import recorded
from evenhand.jobs.plan import Job
from evenhand.jobs.proof_cache import certificates, once
from evenhand.smt.countermodel import Induction
from evenhand.smt.licence import NotLicensed, licence
from evenhand.smt.prove import prove
from evenhand.smt.proved import Proved
from evenhand.smt.registry import stated, theorems
from evenhand.smt.theorem import Stated

ENGINE = "prove"


def theorem_names(protocol: str, *, mutants: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of a protocol's theorems and invariants, in its order.

    With `mutants`, only those that state something of one of them.
    """
    return tuple(
        one.name
        for one in stated(protocol)
        if not mutants or any(tried.mutant.name in mutants for tried in one.mutants)
    )


def theorem_named(protocol: str, name: str) -> Stated:
    """Return one theorem or invariant of a protocol.  Raises UnknownName."""
    return named(f"theorem of {protocol}:", name, {one.name: one for one in stated(protocol)})


def proved(bundle: Bundle, job: Job) -> tuple[Finding, ...]:
    """Return the findings of one theorem's job.  Raises NoSolver when no solver is installed."""
    if job.variant == "*":
        result = _prove(bundle, theorem_named(bundle.name, job.theorem))
        command = _alone(bundle, job.theorem)
        return (finding_of(bundle, result, command), *_of_mutants(bundle, result, command))
    return (Finding.from_json(_shared(bundle, theorem_named(bundle.name, job.theorem))["finding"]),)


def _prove(bundle: Bundle, theorem: Stated) -> Proved:
    """The result of a theorem; valid certificates of the run answer in place of the solvers."""
    folder = certificates()
    return prove(theorem, bundle=bundle, portfolio=None if folder is None else recalled_for(theorem, folder))


def _alone(bundle: Bundle, theorem: str) -> str:
    """The command that proves one theorem."""
    return Job(bundle.name, "prove", theorem=theorem).command


def _shared(bundle: Bundle, theorem: Stated) -> dict[str, Any]:
    """The result of a theorem, proved once per run: its `finding`, and what is `licensed` or why it is `refused`.

    A licence crosses processes without its readings, which the theorem defines.
    """

    def make() -> dict[str, Json]:
        result = _prove(bundle, theorem)
        found: dict[str, Json] = {"finding": finding_of(bundle, result, _alone(bundle, theorem.name)).to_json()}
        try:
            given = licence(result, _readings(bundle, theorem))
        except NotLicensed as error:
            return {**found, "refused": str(error)}
        return {**found, "licensed": [given.quotient, given.system, given.variant, given.theorem, given.record]}

    return once(f"{bundle.name} {theorem.name}", make)


def _readings(bundle: Bundle, theorem: Stated) -> Any:
    """The readings on which a theorem is compared with its claim."""
    return bundle.model.systems[theorem.system].under(**theorem.readings).readings


def _of_mutants(bundle: Bundle, result: Proved, command: str) -> Iterator[Finding]:
    """The finding of each mutant of a theorem: REFUTED by a run that replays in the executable mutant, or not."""
    theorem = result.theorem
    base = bundle.model.systems[theorem.system].under(**theorem.readings)
    claim = theorem.claim
    for killed in result.mutants:
        verdict, mutant = killed.verdict, killed.mutation.mutant
        system = replace(base, rules=mutant.rules, variant=mutant.name)
        refuted = verdict.status is Status.REFUTED and verdict.evidence is not None
        expected = Status.REFUTED if killed.mutation.expected == "refuted" else Status.HOLDS
        registered = Expectation(claim.name, expected, engine=ENGINE, because=killed.mutation.because)
        yield replace(
            finding(bundle.name, claim.sentence, verdict, registered),
            record=recorded(bundle, system, claim, verdict, command)[0] if refuted else None,
        )


def prove_all(bundle: Bundle, given: Sequence[Any]) -> tuple[Finding, ...]:
    """Return the findings of the given theorems and invariants.  Raises TypeError for other values."""
    for one in given:
        if not isinstance(one, Stated):
            raise TypeError(f"{one!r} is no evenhand.smt.theorem.Theorem")
    return tuple(finding_of(bundle, prove(one, bundle=bundle), "") for one in given)


def licence_for(bundle: Bundle, system: str, quotient: str = "") -> Licence:
    """Return the licence to explore a quotient of `system`, from a theorem that is proved in this run.

    Without a name it is for a symmetry group, not an abstraction.  Raises NotLicensed when no theorem licenses one (of
    that name), or when the theorem does not hold.
    """
    maps = {one.name for one in bundle.model.systems[system].abstractions}
    for theorem in theorems(bundle.name):
        asked = theorem.quotient == quotient if quotient else theorem.quotient not in maps
        if theorem.quotient and theorem.system == system and asked:
            found = _shared(bundle, theorem)
            if "refused" in found:
                raise NotLicensed(found["refused"])
            given, of, variant, name, record = found["licensed"]
            return Licence(given, of, variant, name, record, _readings(bundle, theorem))
    raise NotLicensed(
        f"no theorem of {bundle.name} licenses a quotient {quotient!r} of system {system!r}".replace(" ''", "")
    )


def finding_of(bundle: Bundle, result: Proved, command: str) -> Finding:
    """Return the finding of a proof, with the expected status of this claim and engine, else of the theorem itself."""
    theorem, verdict = result.theorem, result.verdict
    system = bundle.model.systems[theorem.system].under(**theorem.readings)
    claim, evidence = theorem.claim, verdict.evidence
    refuted = verdict.status is Status.REFUTED and evidence is not None
    # A counterexample to induction refutes nothing, but its two states are shown.
    shown = evidence if refuted else result.outcome.evidence if isinstance(result.outcome, Induction) else None
    registered = bundle.expectation(claim.name, theorem.system, ENGINE, theorem.readings)
    if registered.engine != ENGINE:
        registered = Expectation(claim.name, theorem.expected, engine=ENGINE)
    return replace(
        finding(bundle.name, claim.sentence, verdict, registered),
        story=story_of(system, shown, bundle.phases) if shown is not None else None,
        record=recorded(bundle, system, claim, verdict, command)[0] if refuted else None,
        command=command if verdict.status is not Status.HOLDS else "",
    )
