"""Write a run as a vector: its title and paragraphs, its expected outcome, the readings on which that depends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from evenhand.conform.vectors.boundary import Boundary, class_of
from evenhand.conform.vectors.targets import Candidate, Outcome, SeparatedTarget, Target, depends_on
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.text import inert
from evenhand.evidence.replay import encoded_readings
from evenhand.evidence.vector import Expected, Separated, Vector, VectorRun

TITLE = 200
"""Characters of the longest title."""


@dataclass(frozen=True)
class Heading:
    """What a vector is called and is about; `source` are paragraphs, by default those of what it separates."""

    name: str
    title: str
    source: str = ""
    about: Mapping[str, Json] = field(default_factory=dict[str, Json])


def vector_of(
    bundle: Bundle,
    heading: Heading,
    candidate: Candidate,
    known: Outcome,
    found: Sequence[SeparatedTarget],
    *,
    depends: bool = True,
) -> Vector:
    """Return a run with its outcome `known` as a vector; without `depends`, its readings are not looked at."""
    system = candidate.reference(bundle)
    observers = bundle.observers_of(system.name)
    label = class_of(observers, system, candidate.scenario)
    naming = next((one.name for one in observers if one.label is not None), "")
    return Vector(
        name=heading.name,
        title=_line(heading.title),
        source=heading.source or sources_of(bundle, [one.target for one in found]),
        system=system.name,
        scope=dict(system.scope),
        readings=encoded_readings(system),
        depends=depends_on(bundle, candidate, known) if depends else None,
        run=VectorRun.of(candidate.scenario),
        expected=tuple(Expected.of(seen.shown, seen.read) for seen in known),
        classes={} if label is None else {naming: label},
        separates=tuple(
            Separated(one.target.kind, one.target.name, encode(one.target.value), one.step, one.by) for one in found
        ),
        about=dict(heading.about),
    )


def covering_heading(bundle: Bundle, name: str, own: Sequence[Target], origin: str) -> Heading:
    """Head a vector of a cover by the variants that no other vector of the cover separates."""
    first, *more = own
    said = f"{_sentence_of(bundle, first)}" + (f" (and {len(more)} more)" if more else "")
    return Heading(name, f"Against {first.title}: {said}", sources_of(bundle, own), {"origin": origin})


def boundary_heading(bundle: Bundle, name: str, found: Boundary) -> Heading:
    """Head a boundary case by its two classes and the change between them."""
    about: dict[str, Json] = {
        "class": found.here,
        "short_of": found.there,
        "by": found.by,
        "origin": found.candidate.origin,
    }
    observers = bundle.observers_of(found.candidate.system)
    source = next((one.source for one in observers if one.label is not None), "")
    return Heading(name, f"{found.here}, one {found.kind} short of {found.there}", source, about)


def sources_of(bundle: Bundle, targets: Sequence[Target]) -> str:
    """Return the paragraphs of some variants, each once; those of the protocol if there are none."""
    cited = (_source_of(bundle, one) for one in targets)
    return ", ".join(dict.fromkeys(part.strip() for text in cited for part in text.split(","))) or bundle.model.source


def _source_of(bundle: Bundle, target: Target) -> str:
    """The source of a mutant; for a reading, whatever stands before the colon of its sentence."""
    if target.mutant is not None:
        return target.mutant.source
    head, colon, _ = _sentence_of(bundle, target).partition(":")
    return head if colon and any(letter.isdigit() for letter in head) else bundle.model.source


def _sentence_of(bundle: Bundle, target: Target) -> str:
    if target.mutant is not None:
        return target.mutant.sentence
    return next(
        (str(one.metadata.get("sentence", "")) for one in fields(bundle.model.readings) if one.name == target.name), ""
    )


def _line(text: str) -> str:
    flat = inert(" ".join(text.split()))
    return flat if len(flat) <= TITLE else f"{flat[: TITLE - 1]}…"
