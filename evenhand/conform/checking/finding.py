"""Record a finding about a kernel, and repeat it.

The record holds all that a repetition needs (the run, what the model shows, the violated claims) and nothing of the
machine.  It is valid as long as the model shows the same; a changed model makes it stale, which is reported and is no
verdict about the kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast
from unittest import SkipTest

from msgspec import UNSET, UnsetType, field, to_builtins

from evenhand.conform.adapters.kernels import (
    KernelRequest,
    KernelResponse,
    NoKernel,
    Source,
    adapter_source,
    command_source,
)
from evenhand.conform.adapters.limits import KernelLimits
from evenhand.conform.adapters.wire import ChangedMessage, text
from evenhand.conform.checking.causes import Cause, gravest_first
from evenhand.conform.checking.claims import Judge, Words, judged_kinds
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.defects import STUBBORN
from evenhand.conform.checking.divergence import Examiner
from evenhand.conform.checking.duties import FORMAT, SENTENCES, What
from evenhand.conform.checking.multi_run import still_broken, still_related
from evenhand.conform.checking.raw import judged, with_change
from evenhand.conform.checking.remembering import answers_by
from evenhand.conform.checking.rereading import agreeing_readings
from evenhand.conform.checking.two_safety import Pairing
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.codec import decode, encode
from evenhand.core.freedom import Free
from evenhand.core.property import Property
from evenhand.core.quotes import quoted
from evenhand.core.system import Mutant
from evenhand.core.text import describe, layout
from evenhand.core.trace import AnyScenario, AnyTrace, Scenario
from evenhand.core.versions import versions
from evenhand.evidence.growth import read_run
from evenhand.evidence.home import found_within
from evenhand.evidence.record import BadRecord, of_format
from evenhand.evidence.replay import encoded_readings
from evenhand.evidence.schemas import Digest, Mistake, Name, Natural, Positive, Shape, is_sealed, sealed, shaped
from evenhand.evidence.store import read_json
from evenhand.evidence.vector import VectorRun

VERSION: Final = 1
AGAIN = "Check the kernel again to record it anew"
RENEWED = 4
"""Processes that repeat the run of a kernel that answered it differently."""


@dataclass(frozen=True)
class Rechecked:
    """The result of repeating a finding: `ok`, or a message that says what is wrong.

    `skipped`: the kernel does not take an action of the run, so nothing is known.  `kinds`: what differs now, as in
    the record.
    """

    ok: bool
    message: str
    skipped: bool = False
    kinds: frozenset[str] = frozenset()

    def raise_if_found(self) -> None:
        """Raise AssertionError with the message if the kernel still does it, SkipTest if it does not take the run."""
        __tracebackhide__ = True
        if self.skipped:
            raise SkipTest(self.message)
        if not self.ok:
            raise AssertionError(self.message)


class ViolatedClaim(Shape, frozen=True):
    """A claim that the run violates, on which basis, and in which step."""

    claim: Name
    basis: Words
    step: Positive


class SecondRun(Shape, frozen=True):
    """The second of two runs that violate a claim together, or the earlier run that changes an answer."""

    run: VectorRun
    expected: list[Json]
    got: list[Json]


class KernelFinding(Shape, frozen=True, kw_only=True):
    """The smallest run found on which a kernel differs from the model, violates a claim, or does not answer."""

    format: Literal["evenhand/kernel-finding"] = FORMAT
    version: Literal[1] = VERSION
    protocol: Name
    system: Name
    scope: dict[str, Natural]
    readings: dict[str, Json]
    judged_by: Literal["model", "claims"]
    """Whether the kernel must show what the model shows."""

    compare: list[Free] = field(default_factory=list["Free"])
    """The free fields that were compared: texts, codes, orders."""

    kernel: str
    """How the kernel was named when it was found."""

    claim: Name
    """The claim that is violated on the surest basis, or a duty of every kernel."""

    sentence: str
    source: str
    quotes: list[str] = field(default_factory=list[str])
    """Sentences of the source that the claim stands for, each with its section."""

    what: What
    violations: list[ViolatedClaim]
    remarks: list[Name]
    """Claims that would be violated if the model's state after the step were the kernel's: no accusation."""

    also: list[Name]
    """Claims that were violated in longer runs of this defect."""

    alike: list[str]
    """What registered mutants that show the same in this run do, and the section that they ignore."""

    under: dict[str, str] = field(default_factory=dict[str, str])
    """Other readings (NAME=VALUE) under which the model shows what the kernel showed, and the sentences they settle."""

    systems: list[Name]
    """All systems in which it was found."""

    behind: Natural
    """How many earlier steps of the run differ too."""

    rank: str
    """How serious it is, in words."""

    fault: str
    why: str
    differences: list[str]
    kinds: list[str]
    """What differs, without names and numbers: a finding with the same kinds is the same."""

    length: Natural
    seen: Positive
    """The number of runs that showed it."""

    origin: Literal["exhaustive", "machine", "altered", "separating", "again", "pairs", "liveness", "raw"]
    run: VectorRun
    beside: SecondRun | UnsetType = UNSET
    loop: Positive | UnsetType = UNSET
    """The number of last actions that repeat for ever."""

    raw: ChangedMessage | UnsetType = UNSET
    """The message that the kernel got with a value that no type admits."""

    expected: list[Json]
    """What the model shows, step by step."""

    own: Natural | UnsetType = UNSET
    """After how many steps the model went on from what the kernel told of its state; absent if it never did."""

    got: list[Json]
    """What the kernel showed, as far as it answered."""

    again: list[Json]
    """What it showed when asked again, where that differs."""

    versions: dict[str, str]


class KernelFindingFile(KernelFinding, frozen=True, kw_only=True):
    """The smallest run found on which a kernel differs from the model, violates a claim, or does not answer.

    Canonical JSON (RFC 8785).
    """

    sha256: Digest
    """The digest of the canonical bytes of everything else here."""


def finding_json(
    protocol: str,
    cause: Cause,
    claims: Sequence[Property],
    mutants: Sequence[Mutant[Any]] = (),
    *,
    claims_only: bool,
    kernel: str,
    compare: Collection[Free] = (),
) -> dict[str, Json]:
    """Return the record of a finding, sealed by its digest."""
    divergence, system = cause.defect.divergence, cause.system
    by_name = {claim.name: claim for claim in claims}
    sure = divergence.sure
    unsure = {one.claim.name for one in divergence.violations} - {one.claim.name for one in sure}
    claim = by_name.get(cause.headline)
    beside = divergence.beside
    finding = KernelFinding(
        protocol=protocol,
        system=system.name,
        scope=dict(system.scope),
        readings=encoded_readings(system),
        judged_by="claims" if claims_only else "model",
        kernel=kernel,
        compare=sorted(compare),
        claim=cause.headline,
        sentence=claim.sentence if claim else SENTENCES[cause.headline],
        source=claim.source if claim else "",
        quotes=quoted(protocol, cause.headline),
        what=divergence.what,
        violations=[ViolatedClaim(one.claim.name, one.basis.words, one.step) for one in sure],
        remarks=sorted(unsure),
        also=sorted(cause.claims - unsure - {one.claim.name for one in sure} - {cause.headline} - {*SENTENCES}),
        alike=[f"{one.sentence} ({one.source})" for one in mutants if one.name in cause.defect.alike],
        under=dict(agreeing_readings(Coder(protocol, system, frozenset(compare)), divergence)),
        systems=list(cause.systems),
        behind=divergence.behind,
        rank=cause.seriousness.words,
        fault=divergence.fault.value if divergence.fault else "",
        why=divergence.why,
        differences=[str(one) for one in gravest_first(system, divergence)],
        kinds=sorted(divergence.kinds),
        length=divergence.length,
        seen=cause.seen,
        origin=cast("Any", divergence.origin),
        run=VectorRun.of(divergence.scenario),
        expected=list(divergence.expected),
        own=UNSET if divergence.own is None else divergence.own,
        got=list(divergence.got),
        again=list(divergence.again),
        versions=dict(versions()),
        beside=SecondRun(VectorRun.of(beside.scenario), list(beside.expected), list(beside.got)) if beside else UNSET,
        loop=divergence.loop or UNSET,
        raw=divergence.raw or UNSET,
    )
    return sealed(finding)


def load_finding(path: Path) -> KernelFinding:
    """Return the finding in a file.  Raises BadRecord for anything else."""
    made = of_format(read_json(path), FORMAT, VERSION, str(path), AGAIN)
    try:
        finding = shaped(made, KernelFindingFile)
    except Mistake as error:
        raise BadRecord(str(path), str(error), AGAIN) from error
    if not is_sealed(made):
        raise BadRecord(str(path), "its content is not what was recorded (sha256 differs)", AGAIN)
    return finding


def finding_in_words(path: Path) -> dict[str, Any]:
    """Return the finding in a file with its actions in words.

    Raises BadRecord for anything else, and for a finding of another model.
    """
    data = load_finding(path)
    try:
        types = found_within(data.protocol).model.systems[data.system].types
        runs = {"trace": data.run, **({"trace_beside": data.beside.run} if data.beside else {})}
        read = {name: cast("AnyScenario", read_run(run, types)[0]) for name, run in runs.items()}
        words = {name: [describe(action) for action in run.actions] for name, run in read.items()}
    except (KeyError, ValueError) as error:
        raise BadRecord(str(path), f"the model has changed since ({error})", AGAIN) from error
    made = cast("dict[str, Any]", to_builtins(data))
    return {**made, "under": data.under, "trace_config": layout(read["trace"].config), **words, "fixture": None}


def source_named(kernel: str, limits: KernelLimits | None = None) -> Source:
    """Return the kernel that `kernel` names: `package.module:factory`, or `command: ./kernel --option`."""
    word, colon, rest = kernel.partition(":")
    if colon and word == "command":
        return command_source(rest.strip(), limits)
    return adapter_source(kernel, limits)


def recheck(path: Path | str, kernel: str | Source, *, limits: KernelLimits | None = None) -> Rechecked:
    """Repeat a recorded finding on `kernel`, in a supervised process.

    `kernel` is a source, or a name as for `source_named`.  Raises BadRecord for a file that is no finding or does not
    fit the model, NoKernel without a kernel.
    """
    path = Path(path)
    data = load_finding(path)
    source = source_named(kernel, limits) if isinstance(kernel, str) else kernel
    try:
        return _rechecked(path, data, source)
    except NoKernel as error:
        raise NoKernel(str(error)) from None  # the way to it says nothing to who runs the test
    finally:
        source.close()


def _rechecked(path: Path, data: KernelFinding, source: Source) -> Rechecked:
    try:
        bundle = found_within(data.protocol)
        base = bundle.model.systems[data.system].at(**data.scope)
        system = base.under(**{name: decode(value, *base.types) for name, value in data.readings.items()})
        scenario, _ = read_run(data.run, system.types)
    except (KeyError, ValueError) as error:
        raise BadRecord(str(path), f"the model has changed since ({error})", AGAIN) from error
    assert isinstance(scenario, Scenario)
    coder = Coder(bundle.name, system, frozenset(data.compare))
    if data.what in ("relates", "liveness"):
        return _again(path, data, Examiner(coder, Judge(())), bundle, scenario, source)
    trace = coder.trace(scenario)
    shown = [encode(step.shown) for step in trace.steps]
    own = len(shown) if isinstance(data.own, UnsetType) else data.own
    if len(shown) != len(data.expected) or text(shown[:own]) != text(data.expected[:own]):
        raise BadRecord(str(path), "the model shows something else now than was recorded", AGAIN)
    claims, _ = judged_kinds(bundle.claims, system.name)
    objecting = {one.claim for one in data.violations} | {data.claim}
    claims_only = data.judged_by == "claims"
    judge = Judge([claim for claim in claims if claim.name in objecting] if claims_only else claims)
    examiner = Examiner(coder, judge, claims_only)
    request = coder.request(trace)
    if data.what == "remembers":
        return _remembered(path, data, examiner, scenario, source)
    if data.raw:
        return _changed(path, data, data.raw, examiner, trace, source)
    answers: set[str] = set()
    found: Rechecked | None = None
    wavers = data.what == "non-deterministic"
    for response in _repeated(source, request, wavers=wavers):
        if response.unsupported:
            return Rechecked(False, f"{path.name} was not repeated: {response.unsupported}", skipped=True)
        answers.add(text(list(examiner.answers(trace, request, response))))
        divergence = examiner.examine(trace, request, response, data.origin)
        if found is None and divergence is not None:
            details = "; ".join(map(str, gravest_first(system, divergence))) or divergence.why
            names = ", ".join(one.claim.name for one in divergence.violations)
            behind = examiner.later(trace, request, response, data.origin, judged=False) if data.behind else ()
            found = Rechecked(
                False,
                f"{data.claim}: {data.sentence}\nin step {divergence.length} of {path.name}: {details}"
                + (f"\nclaims violated: {names}" if names else ""),
                kinds=divergence.kinds.union(*(one.kinds for one in behind)),
            )
        if found is not None and not wavers:
            return found
    if len(answers) > 1:
        message = f"{data.claim}: {data.sentence}\nthe same run was answered differently"
        return Rechecked(False, message, kinds=frozenset(data.kinds))
    return found or _told(path, data, still=False)


def _repeated(source: Source, request: KernelRequest, *, wavers: bool) -> Iterator[KernelResponse]:
    """Yield answers to one run, some of them of processes with other hash seeds if a kernel `wavers`."""
    if not wavers:
        yield from source.ask([request] * 2)
        return
    for _ in range(RENEWED):
        source.renew()
        yield from source.ask([request] * (STUBBORN // RENEWED))


def _remembered(path: Path, data: KernelFinding, examiner: Examiner, run: AnyScenario, source: Source) -> Rechecked:
    """Repeat a finding that a kernel answers by what an earlier run of its process did."""
    if not data.beside:
        return Rechecked(False, f"{path.name} was not repeated: it takes several earlier runs", skipped=True)
    earlier, _ = read_run(data.beside.run, examiner.coder.system.types)
    assert isinstance(earlier, Scenario)
    return _told(path, data, still=answers_by(examiner, source, run, earlier))


def _told(path: Path, data: KernelFinding, *, still: bool) -> Rechecked:
    if still:
        message = f"{data.claim}: {data.sentence}\nin the runs of {path.name}: {data.why}"
        return Rechecked(False, message, kinds=frozenset(data.kinds))
    return Rechecked(True, f"the kernel no longer does what {path.name} shows")


def _changed(
    path: Path, data: KernelFinding, raw: ChangedMessage, examiner: Examiner, trace: AnyTrace, source: Source
) -> Rechecked:
    """Repeat a finding about a value that no type admits."""
    plain = examiner.coder.request(trace)
    (response,) = source.ask([with_change(plain, raw)])
    found = judged(raw, examiner, trace, plain, response)
    if found is not None:
        return Rechecked(False, f"{data.claim}: {data.sentence}\nin {path.name}: {found.why}", kinds=found.kinds)
    if response.unsupported or not response.raw:
        return Rechecked(False, f"{path.name} was not repeated: the adapter does not pass it on", skipped=True)
    return _told(path, data, still=False)


def _again(
    path: Path, data: KernelFinding, examiner: Examiner, bundle: Bundle, run: AnyScenario, source: Source
) -> Rechecked:
    """Repeat a finding about several runs."""
    claim = next((one for one in bundle.claims if one.name == data.claim), None)
    if claim is None:
        raise BadRecord(str(path), f"{bundle.name} has no claim {data.claim!r:.80} any more", AGAIN)
    pairing = Pairing(examiner, source, guess=data.judged_by == "model")
    system = examiner.coder.system
    if data.what == "relates":
        other = read_run(data.beside.run, system.types)[0] if data.beside else None
        assert other is None or isinstance(other, Scenario)
        still = still_related(pairing, claim, run, other)
    else:
        still = still_broken(pairing, claim, system, run, data.loop or 0)
    return _told(path, data, still=still)
