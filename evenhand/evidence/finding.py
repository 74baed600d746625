"""One line of a report: an engine's verdict on a claim, beside the expectation registered before the run.

A finding is plain data (text, integers, lists), so that it can cross a process boundary, be written to a file and be
read back.  Model values are described as text, and a refutation is carried as the record that replays it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from msgspec import to_builtins

from evenhand.core.canonical import Json
from evenhand.core.plan import Expectation
from evenhand.core.text import describe
from evenhand.core.verdict import Evidence, Status, Verdict
from evenhand.evidence.schemas import fields_of
from evenhand.evidence.story import Story, evidence_length, story_lines

STOPPED = "an error stopped"
"""The beginning of the reason where an engine or a model raised."""

LARGEST = 2**53
"""JSON readers disagree about larger integers, so they are written as text."""


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Finding:
    """A verdict as a report prints it.

    `expected` was registered before the run, `stated` is the reason given there; `expected_of` names the engine it is
    about (empty: any one engine is enough).  `sizes` is the part of `scope` that sizes the model.  `beyond` says that
    the engine cannot establish the claim (sampling can refute that something always happens, never establish it), so
    that its UNDECIDED is unexpected only if no other engine decides.  `story` is the evidence step by step, `length`
    its number of actions, `record` the file that replays it (None if the values cannot be encoded), `fixture` that
    file's name once written, `command` how to reproduce it.  `evidence` holds the model's own values; it stays in this
    process and out of the JSON.
    """

    protocol: str
    claim: str
    sentence: str
    engine: str
    system: str
    variant: str
    status: Status
    expected: Status
    expected_of: str = ""
    stated: str = ""
    because: str = ""
    scope: Mapping[str, Json] = field(default_factory=_nothing)
    sizes: Mapping[str, int] = field(default_factory=_nothing)
    beyond: bool = False
    readings: Mapping[str, Json] = field(default_factory=_nothing)
    coverage: Mapping[str, int] = field(default_factory=_nothing)
    trusted_base: tuple[str, ...] = ()
    story: Story | None = None
    length: int | None = None
    record: Json = None
    fixture: str = ""
    command: str = ""
    evidence: Evidence | None = field(default=None, compare=False, repr=False)

    def __bool__(self) -> bool:
        """Return whether it is HOLDS, as for a verdict."""
        return self.status is Status.HOLDS

    @property
    def about(self) -> tuple[str, str, str, str]:
        """Protocol, system, variant and claim, whatever engine made the finding and in which scope."""
        return (self.protocol, self.system, self.variant, self.claim)

    @property
    def group(self) -> tuple[str, ...]:
        """The key of findings that one expectation is about; they answer it together."""
        readings = tuple(f"{name}={value}" for name, value in sorted(self.readings.items()))
        file = str(self.scope.get("fixture", ""))
        return (*self.about, self.expected_of, file, *readings)

    @property
    def trace(self) -> tuple[str, ...]:
        """The story in lines of text; parts of an observation longer than a line are only named."""
        return story_lines(self.story) if self.story is not None else ()

    def to_json(self) -> dict[str, Json]:
        """Return this finding as JSON; `from_json` reads it back."""
        made: dict[str, Json] = to_builtins(replace(self, evidence=None), enc_hook=dict)  # of mappings
        del made["evidence"]
        return made

    @staticmethod
    def from_json(made: Mapping[str, Json]) -> Finding:
        """Return the finding that `to_json` wrote.  Raises Mistake for anything else."""
        return Finding(**fields_of(made, Finding, ("evidence",)))


def plain(value: Any) -> Json:
    """Return `value` as JSON: primitives stay (large integers as text), containers convert, the rest is described."""
    if isinstance(value, int) and abs(value) > LARGEST:
        return str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in cast("Mapping[Any, Any]", value).items()}
    if type(value) in (list, tuple):
        return [plain(entry) for entry in cast("tuple[Any, ...]", value)]
    return describe(value)


def finding(protocol: str, sentence: str, verdict: Verdict, expectation: Expectation) -> Finding:
    """Return the finding of `verdict` beside its expectation, without story, record and command."""
    evidence = verdict.evidence
    return Finding(
        protocol=protocol,
        claim=verdict.claim,
        sentence=sentence,
        engine=verdict.engine,
        system=verdict.system,
        variant=verdict.variant,
        status=verdict.status,
        expected=expectation.expected,
        expected_of=expectation.engine,
        stated=expectation.because,
        because=verdict.because,
        scope=plain(verdict.scope),
        readings=plain(verdict.readings),
        coverage=dict(verdict.coverage),
        trusted_base=verdict.trusted_base,
        length=None if evidence is None else evidence_length(evidence),
        evidence=evidence,
    )


def sizes_of(finding: Finding, between: str = ", ") -> str:
    """Return the sizes of a finding, `a=1, b=2`."""
    return between.join(f"{name}={size}" for name, size in finding.sizes.items())


def readings_of(finding: Finding) -> str:
    """Return the readings of a finding that are not the default, `a=x, b=y`."""
    return ", ".join(f"{name}={value}" for name, value in sorted(finding.readings.items()))
