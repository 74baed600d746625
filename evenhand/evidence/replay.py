"""Record a run, and replay it in the variant it was seen in and in the reference.

A record passes only if its variant still shows the same and is still refuted, and the reference is not (or, for a run
of the reference itself, the refutation is the registered one).  Anything else is reported, with what to do about it.

A user's own system has no separate reference: its refutation is a regression test, which fails as long as the run
refutes the claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final

from msgspec import UNSET

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, digest
from evenhand.core.codec import decode, encode
from evenhand.core.ending import of_this
from evenhand.core.lookup import named
from evenhand.core.property import Property
from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyScenario, replay
from evenhand.core.verdict import Evidence, Status, runs
from evenhand.evidence.growth import read_run, reduced, shape
from evenhand.evidence.home import bundle_of
from evenhand.evidence.judge import judge, own_runs
from evenhand.evidence.provenance import provenance
from evenhand.evidence.record import (
    AGAIN,
    BadRecord,
    Claim,
    MutantVariant,
    Outcome,
    Own,
    Record,
    ReferenceVariant,
    decode_run,
    encode_run,
)

REFERENCE: Final = "reference"


@dataclass(frozen=True)
class Replayed:
    """The result of replaying: `ok`, one sentence per finding in `message`, and the decoded evidence.

    `refuted` says whether the named variant is still refuted (or the claim still witnessed there), `reference_refuted`
    the same of the reference, `same_shown` whether the run shows what was recorded.  `filled` names the fields and
    readings that the model has gained since, filled with their defaults.  `regression` marks a regression test of a
    user's own system, where the claim is to hold.
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
    regression: bool = False


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
    """Return the record of `evidence` against `claim`, seen in `system` by `engine`.

    `libraries` names distributions whose versions matter.  Raises ValueError if the evidence refutes nothing here (only
    runs that replay are recorded), if the variant is neither the reference nor a mutant of the protocol, and, naming
    the place, for values without an encoding.
    """
    judgement = judge(system, claim, evidence)
    if not judgement.refutes:
        raise ValueError(f"nothing to record about {claim.name} in {system.name}: {judgement.reason}")
    if system.variant != REFERENCE:
        _rules_of(bundle, system.variant)
    run = encode_run(evidence)
    if decode_run(run, system.types) != evidence:
        raise ValueError(f"the run does not come back as it was; does `types` of {system.name} name every class?")
    outcome = _outcome(claim)
    return Record(
        protocol=bundle.model.name,
        system=system.name,
        scope=dict(system.scope),
        readings=encoded_readings(system),
        variant=ReferenceVariant(REFERENCE) if system.variant == REFERENCE else MutantVariant(system.variant),
        claim=Claim(claim.name, claim.version, claim.sentence),
        outcome=outcome,
        run=run,
        shown=outcome_digest(system, evidence, outcome),
        shape=shape([_shown(system, scenario) for scenario in runs(evidence)]),
        reproduce=reproduce,
        provenance=provenance(system, engine, libraries),
        own=Own(not _departure(system, claim, evidence), "", "") if bundle.own else UNSET,
    )


def outcome_digest(
    system: AnySystem, evidence: Evidence, outcome: Outcome, known: Mapping[str, list[str]] | None = None
) -> str:
    """Return the digest of the observations of `evidence` in `system`, and of the outcome.

    Of the classes in `known`, only the listed fields count.  Raises ValueError for an observation without an encoding.
    """
    shown = [reduced(_shown(system, scenario), known or {}) for scenario in runs(evidence)]
    return digest({"outcome": outcome, "runs": shown})


def replay_record(
    record: Record, bundle: Bundle | None = None, *, origin: str = "this record", file: Path | None = None
) -> Replayed:
    """Replay a record in the variant it names and in the reference.

    Unless `bundle` is given, the protocol comes from the registry or, for a user's own system, from a place relative to
    `file`, which the record was read from; `origin` names the record in messages.  Raises BadRecord for an unknown
    protocol, system, scope, reading, mutant or claim, for a claim that changed its meaning, and for a run that this
    model cannot decode.
    """
    try:
        bundle = bundle or bundle_of(record, file, origin)
        reference = _reference(bundle, record)
        variant = _variant(bundle, record, reference)
        (claim,) = of_this(reference, [_claim(bundle, record)])
        evidence, filled = read_run(record.run, reference.types)
        later = [name for name in _values(reference) if name not in record.readings]
    except ValueError as error:
        if isinstance(error, BadRecord):
            raise
        raise BadRecord(origin, str(error), f"The model changed since. {_again(record)}") from error
    if claim.version != record.claim.version:
        raise BadRecord(
            origin,
            f"it is about version {record.claim.version} of {claim.name}, which is of version {claim.version} now",
            _again(record),
        )
    try:
        if _is_regression(record, bundle, reference, claim):
            result = _regressed(record, reference, claim, evidence)
        else:
            result = _judged(record, bundle, variant, reference, claim, evidence)
    except Exception as error:  # a sealed record may hold values of the wrong class, and a model may fail on them
        next_step = "Mend the system" if bundle.own else _again(record)
        cause = f"the system raised {type(error).__name__} along the run: {error!s:.400}"
        raise BadRecord(origin, cause, next_step) from error
    return replace(result, filled=(*filled, *(f"reading {name}" for name in later)))


def _judged(
    record: Record, bundle: Bundle, variant: AnySystem, reference: AnySystem, claim: Property, evidence: Evidence
) -> Replayed:
    outcome = _outcome(claim)
    verb, verbs = ("witness", "witnesses") if outcome == "WITNESSED" else ("refute", "refutes")
    there = judge(variant, claim, evidence)
    here = judge(reference, claim, evidence) if isinstance(record.variant, MutantVariant) else there
    same = outcome == record.outcome and outcome_digest(variant, evidence, outcome, record.shape) == record.shown
    wrong: list[str] = []
    if not there.refutes:
        wrong.append(
            f"the run no longer {verbs} {claim.name} in {record.variant.name}: {there.reason}. {_again(record)}."
        )
    if not same:
        wrong.append(f"the run shows something else in {record.variant.name} than was recorded. {_again(record)}.")
    if isinstance(record.variant, MutantVariant):
        if here.refutes:
            wrong.append(f"the run {verbs} {claim.name} in the reference too: {here.reason}.")
        elif not here.decided:
            wrong.append(f"whether the run {verbs} {claim.name} in the reference is not decided: {here.reason}.")
    elif there.refutes and (surprise := _unexpected(record, bundle, reference, claim)):
        wrong.append(surprise)
    done = f"the run {verbs} {claim.name} in {record.variant.name}" + (
        f" and does not {verb} it in the reference."
        if isinstance(record.variant, MutantVariant)
        else ", as registered."
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


def _is_regression(record: Record, bundle: Bundle, reference: AnySystem, claim: Property) -> bool:
    """Whether a record is a refutation of a user's own system that is not registered as one."""
    if not bundle.own or isinstance(record.variant, MutantVariant) or _outcome(claim) != "REFUTED":
        return False
    return _registered(record, bundle, reference, claim) is not Status.REFUTED


def _regressed(record: Record, system: AnySystem, claim: Property, evidence: Evidence) -> Replayed:
    """Replay a refutation of a user's own system.

    Its actions were on offer when it was recorded (unless the record says otherwise), so a run with an action no longer
    on offer is no run of the system, however `step` would answer.
    """
    gone = _departure(system, claim, evidence) if record.own and record.own.offered else ""
    there = judge(system, claim, evidence) if not gone else None
    same = there is not None and there.refutes
    same = same and outcome_digest(system, evidence, "REFUTED", record.shape) == record.shown
    refuted, decided = (there.refutes, there.decided) if there is not None else (False, True)
    why = gone if there is None else there.reason
    if refuted:
        message = f"still refuted: {why}: {claim.sentence}"
    elif not decided:
        message = f"whether the run still refutes {claim.name} in {system.name} is not decided: {why}."
    else:
        message = (
            f"mended: the run no longer refutes {claim.name} in {system.name} ({why}); keep the file as a regression "
            "test or delete it"
        )
    return Replayed(
        ok=decided and not refuted,
        message=message,
        refuted=refuted,
        reference_refuted=refuted,
        same_shown=same,
        evidence=evidence,
        system=system,
        claim=claim,
        regression=True,
    )


def _departure(system: AnySystem, claim: Property, evidence: Evidence) -> str:
    """Where the system does not offer this run; empty if it does.  The second trace of a 2-safety claim is exempt."""
    for scenario in own_runs(claim, evidence):
        state = scenario.start
        if not any(state == start for start in system.initial(scenario.config)):
            return "it does not begin in an initial state"
        for number, action in enumerate(scenario.actions, start=1):
            if not system.is_enabled(scenario.config, state, action):
                return f"action {number} of it, {action!r:.200}, is not on offer there"
            state = system.take(scenario.config, state, action).after
    return ""


def _unexpected(record: Record, bundle: Bundle, reference: AnySystem, claim: Property) -> str:
    """Why a run of the reference is not as registered; empty if it is."""
    registered = _registered(record, bundle, reference, claim)
    wanted = Status.HOLDS if claim.existential else Status.REFUTED
    if registered is wanted:
        return ""
    return f"{claim.name} is registered as {registered.value}, and the reference does this:\n{claim.sentence}"


def _registered(record: Record, bundle: Bundle, reference: AnySystem, claim: Property) -> Status:
    """The verdict registered for the claim under the readings of a record."""
    usual = _values(bundle.model.systems[record.system])
    chosen = {name: value for name, value in _values(reference).items() if value != usual[name]}
    return bundle.expectation(claim.name, record.system, record.provenance.engine, chosen).expected


def _reference(bundle: Bundle, record: Record) -> AnySystem:
    base = named("system", record.system, bundle.model.systems).at(**dict(record.scope))
    return base.under(**{name: decode(value, *base.types) for name, value in record.readings.items()})


def _variant(bundle: Bundle, record: Record, reference: AnySystem) -> AnySystem:
    if isinstance(record.variant, ReferenceVariant):
        return reference
    return replace(reference, rules=_rules_of(bundle, record.variant.name), variant=record.variant.name)


def _rules_of(bundle: Bundle, name: str) -> Any:
    return named("mutant", name, {mutant.name: mutant for mutant in bundle.model.mutants}).rules


def _claim(bundle: Bundle, record: Record) -> Property:
    claims = {claim.name: claim for claim in bundle.claims_of(record.system)}
    return named(f"claim about system {record.system!r}:", record.claim.name, claims)


def _outcome(claim: Property) -> Outcome:
    return "WITNESSED" if claim.existential else "REFUTED"


def _values(system: AnySystem) -> dict[str, Any]:
    readings = system.readings
    return {entry.name: getattr(readings, entry.name) for entry in fields(readings)} if is_dataclass(readings) else {}


def encoded_readings(system: AnySystem) -> dict[str, Json]:
    """Return every reading of a system with its value, as a record has them."""
    return {name: encode(value) for name, value in _values(system).items()}


def _shown(system: AnySystem, scenario: AnyScenario) -> list[Json]:
    return [encode(step.shown) for step in replay(system, scenario).steps]


def _again(record: Record) -> str:
    return f"Record it again: {record.reproduce}" if record.reproduce else AGAIN
