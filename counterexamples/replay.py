"""Recording a run and replaying it: in the variant it was seen in, and in the reference.

A record stays green for one reason only: the variant it names still shows the same and is still refuted,
and the reference is not (or, for a run of the reference itself, the refutation is the registered one).
Anything else is reported, with what to do about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from evenhand.counterexamples.growth import completed, reduced, shape
from evenhand.counterexamples.provenance import provenance
from evenhand.counterexamples.record import AGAIN, BadRecord, Kind, Outcome, Record, decode_run, encode_run
from evenhand.model.canonical import Json, digest
from evenhand.model.codec import decode, encode
from evenhand.model.system import System, UnknownName
from evenhand.model.trace import Lasso, Pair, Scenario, replay
from evenhand.properties.property import Property, Reachable
from evenhand.properties.refutes import judge
from evenhand.properties.registry import Bundle, find
from evenhand.properties.verdict import Evidence, Status

__all__ = ["Replayed", "outcome_digest", "record_run", "renewed", "replay_record"]

AnySystem = System[Any, Any, Any, Any, Any]
REFERENCE = "reference"


@dataclass(frozen=True)
class Replayed:
    """What replaying gave: `ok`, one sentence per finding in `message`, and the evidence that was decoded.

    `refuted` says whether the named variant is still refuted (or the claim still witnessed there),
    `reference_refuted` the same of the reference, `same_shown` whether the run shows what was recorded.
    `filled` names the fields and readings that the model has been given since, which were filled with their defaults.
    """

    ok: bool
    message: str
    refuted: bool
    reference_refuted: bool
    same_shown: bool
    evidence: Evidence
    system: AnySystem
    claim: Property
    filled: tuple[str, ...] = ()


def record_run(
    bundle: Bundle,
    system: AnySystem,
    claim: Property,
    evidence: Evidence,
    *,
    engine: str,
    reproduce: str = "",
    libraries: Sequence[str] = (),
) -> Record:
    """The record of `evidence` against `claim`, seen in `system` by `engine`.

    `libraries` names distributions whose versions matter.  Raises ValueError when the evidence refutes
    nothing here (a record is never made of what does not replay), when the system's variant is neither the
    reference nor one of the protocol's mutants, and, naming the place, for values without an encoding.
    """
    judgement = judge(system, claim, evidence)
    if not judgement.refutes:
        raise ValueError(f"nothing to record about {claim.name} in {system.name}: {judgement.reason}")
    kind: Kind = "reference" if system.variant == REFERENCE else "mutant"
    if kind == "mutant":
        _rules_of(bundle, system.variant)
    run = encode_run(evidence)
    if decode_run(run, system.types) != evidence:
        raise ValueError(f"the run does not come back as it was; does `types` of {system.name} name every class?")
    outcome = _outcome(claim)
    return Record(
        protocol=bundle.name,
        system=system.name,
        scope=system.scope,
        readings=_readings(system),
        variant_kind=kind,
        variant=system.variant,
        claim=claim.name,
        claim_version=claim.version,
        sentence=claim.sentence,
        outcome=outcome,
        run=run,
        shown=outcome_digest(system, evidence, outcome),
        shape=shape([_shown(system, scenario) for scenario in _scenarios(evidence)]),
        reproduce=reproduce,
        provenance=provenance(system, engine, libraries),
    )


def outcome_digest(
    system: AnySystem, evidence: Evidence, outcome: Outcome, known: Mapping[str, list[str]] | None = None
) -> str:
    """The digest of what each step of `evidence` shows in `system`, and of the outcome.

    Of the classes that `known` lists, only the fields listed count.  Raises ValueError for something shown that has no
    encoding.
    """
    runs = [reduced(_shown(system, scenario), known or {}) for scenario in _scenarios(evidence)]
    return digest({"outcome": outcome, "runs": runs})


def replay_record(record: Record, bundle: Bundle | None = None, *, origin: str = "this record") -> Replayed:
    """Replay a record in the variant it names and in the reference.

    The protocol is found in the registry unless `bundle` is given; `origin` names the record in messages.
    Raises BadRecord for a protocol, system, scope, reading, mutant or claim that is not there, for a claim
    that changed its meaning, and for a run that this model cannot decode.
    """
    try:
        bundle = bundle or find(record.protocol)
        reference = _reference(bundle, record)
        variant = _variant(bundle, record, reference)
        claim = _claim(bundle, record)
        run, filled = completed(record.run, reference.types)
        evidence = decode_run(run, reference.types)
        later = [name for name in _values(reference) if name not in record.readings]
    except ValueError as error:
        if isinstance(error, BadRecord):
            raise
        raise BadRecord(origin, str(error), f"The model changed since. {_again(record)}") from error
    if claim.version != record.claim_version:
        raise BadRecord(
            origin,
            f"it is about version {record.claim_version} of {claim.name}, which is of version {claim.version} now",
            _again(record),
        )
    result = _judged(record, bundle, variant, reference, claim, evidence)
    return replace(result, filled=(*filled, *(f"reading {name}" for name in later)))


def renewed(record: Record, result: Replayed) -> Record:
    """The record of the same run as this version writes it, with every field and reading that the model has now.

    Raises ValueError for a record that does not replay: its digest is no longer known to be of the same outcome.
    """
    if not result.ok:
        raise ValueError(f"only what replays can be migrated: {result.message}")
    return replace(
        record,
        readings=_readings(result.system),
        run=encode_run(result.evidence),
        shown=outcome_digest(result.system, result.evidence, record.outcome),
        shape=shape([_shown(result.system, scenario) for scenario in _scenarios(result.evidence)]),
    )


def _judged(
    record: Record, bundle: Bundle, variant: AnySystem, reference: AnySystem, claim: Property, evidence: Evidence
) -> Replayed:
    outcome = _outcome(claim)
    verb, verbs = ("witness", "witnesses") if outcome == "WITNESSED" else ("refute", "refutes")
    there = judge(variant, claim, evidence)
    here = judge(reference, claim, evidence) if record.variant_kind == "mutant" else there
    same = outcome == record.outcome and outcome_digest(variant, evidence, outcome, record.shape) == record.shown
    wrong: list[str] = []
    if not there.refutes:
        wrong.append(f"the run no longer {verbs} {claim.name} in {record.variant}: {there.reason}. {_again(record)}.")
    if not same:
        wrong.append(f"the run shows something else in {record.variant} than was recorded. {_again(record)}.")
    if record.variant_kind == "mutant":
        if here.refutes:
            wrong.append(f"the run {verbs} {claim.name} in the reference too: {here.reason}.")
        elif not here.decided:
            wrong.append(f"whether the run {verbs} {claim.name} in the reference is not decided: {here.reason}.")
    elif there.refutes and (surprise := _surprise(record, bundle, reference, claim)):
        wrong.append(surprise)
    done = f"the run {verbs} {claim.name} in {record.variant}" + (
        f" and does not {verb} it in the reference." if record.variant_kind == "mutant" else ", as registered."
    )
    return Replayed(
        ok=not wrong,
        message="\n".join(wrong) or done,
        refuted=there.refutes,
        reference_refuted=here.refutes,
        same_shown=same,
        evidence=evidence,
        system=variant,
        claim=claim,
    )


def _surprise(record: Record, bundle: Bundle, reference: AnySystem, claim: Property) -> str:
    """Why a run of the reference is not what was registered; empty if it is."""
    usual = _values(bundle.model.systems[record.system])
    chosen = {name: value for name, value in _values(reference).items() if value != usual[name]}
    registered = bundle.expectation(claim.name, record.system, record.provenance["engine"], chosen)
    wanted = Status.HOLDS if isinstance(claim, Reachable) else Status.REFUTED
    if registered.expected is wanted:
        return ""
    return f"{claim.name} is registered as {registered.expected.value}, and the reference does this:\n{claim.sentence}"


def _reference(bundle: Bundle, record: Record) -> AnySystem:
    systems = bundle.model.systems
    if record.system not in systems:
        raise UnknownName("system", record.system, systems)
    base = systems[record.system].at(**dict(record.scope))
    return base.under(**{name: decode(value, *base.types) for name, value in record.readings.items()})


def _variant(bundle: Bundle, record: Record, reference: AnySystem) -> AnySystem:
    if record.variant_kind == "reference":
        return reference
    return replace(reference, rules=_rules_of(bundle, record.variant), variant=record.variant)


def _rules_of(bundle: Bundle, name: str) -> Any:
    mutants = {mutant.name: mutant for mutant in bundle.model.mutants}
    if name not in mutants:
        raise UnknownName("mutant", name, mutants)
    return mutants[name].rules


def _claim(bundle: Bundle, record: Record) -> Property:
    claims = {claim.name: claim for claim in bundle.claims_of(record.system)}
    if record.claim not in claims:
        raise UnknownName(f"claim about system {record.system!r}:", record.claim, claims)
    return claims[record.claim]


def _outcome(claim: Property) -> Outcome:
    return "WITNESSED" if isinstance(claim, Reachable) else "REFUTED"


def _values(system: AnySystem) -> dict[str, Any]:
    readings = system.readings
    return {entry.name: getattr(readings, entry.name) for entry in fields(readings)} if is_dataclass(readings) else {}


def _readings(system: AnySystem) -> dict[str, Json]:
    return {name: encode(value) for name, value in _values(system).items()}


def _scenarios(evidence: Evidence) -> tuple[Scenario[Any, Any, Any], ...]:
    match evidence:
        case Scenario():
            return (evidence,)
        case Lasso():
            return (evidence.unrolled,)
        case Pair():
            return (evidence.left, evidence.right)


def _shown(system: AnySystem, scenario: Scenario[Any, Any, Any]) -> list[Json]:
    return [encode(step.shown) for step in replay(system, scenario).steps]


def _again(record: Record) -> str:
    return f"Record it again: {record.reproduce}" if record.reproduce else AGAIN
