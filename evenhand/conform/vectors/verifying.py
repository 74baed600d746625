"""Compare vectors with the model, and with a kernel.

The files are untrusted and first compared with the manifest: a vector that changed since it was frozen is no
expectation.  Then the reference must still give the recorded outcome, each listed variant another one, and a kernel
what is expected (in its own states too, if it tells them).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse, Source
from evenhand.conform.adapters.wire import initial_text, text
from evenhand.conform.checking.comparing import differences, normal
from evenhand.conform.vectors.targets import Candidate, Target, outcome_of, separated, targets_of
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.codec import decode, encode
from evenhand.core.lookup import named
from evenhand.core.observer import readout
from evenhand.core.system import Step
from evenhand.core.trace import Scenario
from evenhand.evidence.growth import read_run
from evenhand.evidence.record import BadRecord
from evenhand.evidence.store import read_json
from evenhand.evidence.vector import Expected, Manifest, Suite, Vector, VectorRun

MANIFEST_FILE = "manifest.json"
SCHEMA_FILE = "schema.json"
"""The JSON Schema of the values in a folder of vectors, which is no suite."""

AGAIN = "Generate the vectors again and freeze them"


@dataclass(frozen=True)
class Failure:
    """A vector whose outcome is not the expected one: in which step, and how."""

    vector: str
    step: int
    how: str


def load_suites(folder: Path) -> dict[str, Suite]:
    """Return every suite in a folder, by file name.  Raises BadRecord for an unusable file."""
    paths = sorted(path for path in folder.glob("*.json") if path.name not in (MANIFEST_FILE, SCHEMA_FILE))
    return {path.name: Suite.from_json(read_json(path), str(path)) for path in paths}


def load_frozen(folder: Path, protocol: str) -> tuple[Manifest, dict[str, Suite]]:
    """Return the manifest of a folder and its suites, unchanged since they were frozen.

    Raises BadRecord if they changed, naming files and vectors, and for vectors of another protocol.
    """
    path = folder / MANIFEST_FILE
    manifest = Manifest.from_json(read_json(path), str(path))
    suites = load_suites(folder)
    if wrong := manifest.complaints(suites):
        raise BadRecord(str(folder), "not as frozen: " + "; ".join(wrong[:10]), "Restore the files, or freeze again")
    about = {path.name: manifest.protocol, **{name: one.protocol for name, one in suites.items()}}
    for name, other in about.items():
        if other != protocol:
            raise BadRecord(str(folder / name), f"it is about {other}, not {protocol}", "Give another folder")
    return manifest, suites


def against_model(bundle: Bundle, vectors: Sequence[Vector]) -> Iterator[Failure]:
    """Yield where the reference no longer gives the recorded outcome, and where a listed variant no longer differs.

    Raises BadRecord for a vector that this model cannot run.
    """
    known = {(one.kind, one.name, text(encode(one.value))): one for one in targets_of(bundle)}
    for vector in vectors:
        candidate = candidate_of(bundle, vector)
        outcome = outcome_of(bundle, candidate.reference(bundle), candidate.scenario)
        for number, (seen, wanted) in enumerate(zip(outcome, vector.expected, strict=True), start=1):
            got = to_builtins(Expected.of(seen.shown, seen.read))
            if text(got) != text(to_builtins(wanted)):
                yield Failure(vector.name, number, _how(to_builtins(wanted), got))
                break
        listed: list[Target] = []
        for one in vector.separates:
            target = known.get((one.kind, one.name, text(one.value)))
            if target is None:
                yield Failure(vector.name, one.step, f"there is no {one.kind} {one.name} any more")
            else:
                listed.append(target)
        found = {one.target.title: one for one in separated(bundle, candidate, listed, outcome)}
        for target in listed:
            if target.title not in found:
                yield Failure(vector.name, len(vector.expected), f"{target.title} comes to the same now")


def candidate_of(bundle: Bundle, vector: Vector) -> Candidate:
    """Return the run of a vector; a reading that is newer than it has its default.

    Raises BadRecord if this model lacks its system, scope, reading or value.
    """
    try:
        base = named("system", vector.system, bundle.model.systems).at(**dict(vector.scope))
        usual = base.readings
        chosen = {name: decode(value, *base.types) for name, value in vector.readings.items()}
        base.under(**chosen)
        run, _ = read_run(vector.run, base.types)
    except ValueError as error:
        raise BadRecord(f"vector {vector.name}", str(error), f"The model changed since. {AGAIN}") from error
    assert isinstance(run, Scenario)
    if len(run.actions) != len(vector.expected):
        raise BadRecord(f"vector {vector.name}", "it does not expect one outcome for each action", AGAIN)
    differing = tuple(sorted((name, value) for name, value in chosen.items() if getattr(usual, name) != value))
    return Candidate(vector.system, base.scope, differing, run, "read from a file")


def against_kernel(bundle: Bundle, vectors: Sequence[Vector], source: Source) -> Iterator[Failure | str]:
    """Yield the failures of a kernel, and a text for each vector that it does not implement.

    Raises NoKernel as the source does, and BadRecord for a vector that this model cannot run.
    """
    asked = [_asked(bundle, vector) for vector in vectors]
    for vector, response in zip(vectors, source.ask(asked), strict=True):
        if response.unsupported:
            yield f"{vector.name}: {response.unsupported}"
            continue
        failure = _failure(vector, response) or _misread(bundle, vector, response)
        if failure is not None:
            yield failure


def _asked(bundle: Bundle, vector: Vector) -> KernelRequest:
    run = VectorRun.of(candidate_of(bundle, vector).scenario)
    return KernelRequest(
        initial_text(bundle.name, vector.system, run.config, run.start),
        tuple(text(action).encode("utf-8", "surrogatepass") for action in run.actions),
        tuple(text(one.shown).encode("utf-8", "surrogatepass") for one in vector.expected),
    )


def _failure(vector: Vector, response: KernelResponse) -> Failure | None:
    for number, (shown, wanted) in enumerate(zip(response.shown, vector.expected, strict=False), start=1):
        if shown is not None and text(normal(shown)) != text(normal(wanted.shown)):
            return Failure(vector.name, number, _how(wanted.shown, shown))
    if response.fault is not None:
        return Failure(vector.name, len(response.shown) + 1, f"{response.fault.value}: {response.why}")
    if response.mutated:
        return Failure(vector.name, response.changed_at, f"it wrote to {response.mutated}")
    return None


def _misread(bundle: Bundle, vector: Vector, response: KernelResponse) -> Failure | None:
    """If a kernel tells its state: compare the values that observers read of it with the expected ones."""
    if len(response.states) != len(vector.expected):
        return None
    candidate = candidate_of(bundle, vector)
    system = candidate.reference(bundle)
    observers = bundle.observers_of(system.name)
    scenario = candidate.scenario
    before, steps = scenario.start, list[Any]()
    for number, (action, state) in enumerate(zip(scenario.actions, response.states, strict=True), start=1):
        try:
            after = decode(state, *system.types)
            shown = decode(vector.expected[number - 1].shown, *system.types)
            steps.append(Step(scenario.config, before, action, shown, after))
            read = {name: encode(value) for name, value in readout(observers, scenario.config, steps).items()}
        except Exception as error:  # an observer may fail on a malformed state
            return Failure(vector.name, number, f"its state is none: {error!s:.200}")
        wanted = {name: value for name, value in vector.expected[number - 1].read.items() if name in read}
        if text(read) != text(wanted):
            return Failure(vector.name, number, _how(wanted, read))
        before = after
    return None


def _how(wanted: Json, got: Json) -> str:
    """The first few differences of two outcomes."""
    found = [str(one) for one in differences(wanted, got)]
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")
