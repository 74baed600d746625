"""Vectors as data: runs with all their expected observations, for checking kernels.

A *suite* is a file of vectors of one kind (`conditions`, `orbits`, `covering`, `boundary`); the *manifest* freezes
suites by the digest of each file and vector, so that an expectation cannot follow a kernel or a model.  A vector holds
all that running it needs: system, scope, every reading, configuration, start, actions, and for each action the
observation and what observers read then.  Values are written by `evenhand.core.codec`; files are canonical JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from msgspec import Meta, Struct, convert, to_builtins

from evenhand.core.canonical import Json, canonical_bytes, digest
from evenhand.core.codec import encode
from evenhand.core.trace import AnyScenario
from evenhand.evidence.record import BadRecord, Values, of_format
from evenhand.evidence.schemas import (
    Digest,
    Mistake,
    Name,
    Natural,
    Positive,
    Shape,
    Size,
    is_sealed,
    sealed,
    shaped,
    unsealed,
)

SUITE: Final = "evenhand/vectors"
MANIFEST: Final = "evenhand/vector-manifest"
VERSION: Final = 2
MANIFEST_VERSION: Final = 1
SuiteKind: TypeAlias = Literal["conditions", "orbits", "covering", "boundary"]
T = TypeVar("T", bound=Struct)

GENERATE = "Generate the vectors again, or restore the file from version control"


class Expected(Shape, frozen=True):
    """What one action shows, and what observers read after it."""

    shown: Json
    """Normative."""

    read: dict[str, Json]
    """Normative for a kernel that reports its state, and for nobody else."""

    @staticmethod
    def of(shown: Any, read: Iterable[tuple[str, Any]]) -> Expected:
        """Return these values, encoded."""
        return Expected(encode(shown), {name: encode(value) for name, value in read})


class Separated(Shape, frozen=True):
    """A variant with another outcome, the number of actions after which, and in what."""

    kind: Literal["mutant", "reading"]
    name: Name
    value: Json
    """The value of a reading."""

    step: Positive
    by: Literal["shown", "observed", "raised"]


class VectorRun(Values, frozen=True):
    """Configuration, start and actions, as `evenhand.core.codec` writes them."""

    kind: Literal["scenario"]

    @staticmethod
    def of(run: AnyScenario) -> VectorRun:
        """Return a run, encoded."""
        return VectorRun(encode(run.config), encode(run.start), encode(run.actions), "scenario")


class Vector(Shape, frozen=True, kw_only=True):
    """One run and its expected outcome."""

    name: Name
    title: Name
    """What the run is about."""

    source: Annotated[str, Meta(min_length=1)]
    """The paragraphs of the source text that it is about."""

    system: Name
    """One of the protocol's systems."""

    scope: dict[Name, Size]
    """The sizes of the system."""

    readings: dict[str, Json]
    """Every reading of the system, with its encoded value.  Normative: the outcome is expected under these readings."""

    depends: tuple[Name, ...] | None
    """The readings of which another value gives another outcome.

    Empty: the outcome is normative under every value of every single reading.  Null: this was not looked at.
    """

    run: VectorRun
    """Normative: the configuration, the start and the actions that are put to a kernel."""

    expected: tuple[Expected, ...]
    """One entry for each action."""

    classes: dict[str, str]
    """The class of the whole run, by the observer that names it."""

    separates: tuple[Separated, ...]
    """The variants with another outcome.  Informative."""

    about: dict[str, Json]
    """Why the vector is there: its origin, its orbit, what it is short of.  Informative."""

    @property
    def digest(self) -> str:
        """The digest of the vector, which is its `sha256` in a file."""
        return str(sealed(self)["sha256"])


class VectorFile(Vector, frozen=True, kw_only=True):
    """One run and its expected outcome."""

    sha256: Digest
    """The digest of the canonical bytes of everything else in the vector."""


class Suite(Shape, frozen=True, kw_only=True):
    """Runs with all their expected observations, for checking kernels."""

    format: Literal["evenhand/vectors"] = SUITE
    version: Literal[2] = VERSION
    protocol: Name
    """As the registry has it."""

    suite: SuiteKind
    seed: Natural
    """The seed of all random choices."""

    made: dict[str, Json]
    """What was found out when the suite was made; nothing that replaying needs."""

    vectors: tuple[Vector, ...]

    @property
    def file_name(self) -> str:
        """The name of its file, such as `orbits.json`."""
        return f"{self.suite}.json"

    def to_json(self) -> dict[str, Json]:
        """Return the suite as JSON, each vector sealed."""
        return {**to_builtins(self), "vectors": [sealed(one) for one in self.vectors]}

    def to_bytes(self) -> bytes:
        """Return the content of its file."""
        return canonical_bytes(self.to_json()) + b"\n"

    @staticmethod
    def from_json(data: Json, origin: str = "this suite") -> Suite:
        """Return the suite that `to_json` wrote.

        Raises BadRecord for another format or version, for content that is not of its shape, for a changed vector and
        for two vectors of one name.
        """
        data = of_format(data, SUITE, VERSION, origin, GENERATE)
        _shaped(data, SuiteFile, origin)
        for one in data["vectors"]:
            if not is_sealed(one):
                raise BadRecord(f"{origin}, vector {one['name']}", "its content is not what was hashed", GENERATE)
        suite = convert({**data, "vectors": [unsealed(one) for one in data["vectors"]]}, Suite)
        names = Counter(one.name for one in suite.vectors)
        if twice := [name for name, count in names.items() if count > 1]:
            raise BadRecord(origin, f"two of its vectors are called {twice[0]!r}", GENERATE)
        return suite


class SuiteFile(Suite, frozen=True, kw_only=True):
    """Runs with all their expected observations, for checking kernels. Canonical JSON (RFC 8785)."""

    vectors: tuple[VectorFile, ...]


class FrozenVector(Shape, frozen=True):
    """A vector and the digest of its content."""

    name: Annotated[str, Meta(min_length=1)]
    sha256: Digest


class FrozenSuite(Shape, frozen=True):
    """A suite, the digest of its file, and its vectors in order."""

    file: Annotated[str, Meta(pattern=r"^[a-z]+\.json$")]
    sha256: Digest
    vectors: tuple[FrozenVector, ...]


class Manifest(Shape, frozen=True, kw_only=True):
    """The digest of every suite of a protocol and of every vector in it, frozen. Canonical JSON (RFC 8785)."""

    format: Literal["evenhand/vector-manifest"] = MANIFEST
    version: Literal[1] = MANIFEST_VERSION
    protocol: Name
    suites: tuple[FrozenSuite, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the manifest as JSON."""
        return dict(to_builtins(self))

    @staticmethod
    def from_json(data: Json, origin: str = "this manifest") -> Manifest:
        """Return the manifest that `to_json` wrote.  Raises BadRecord as `Suite.from_json` does."""
        return _shaped(of_format(data, MANIFEST, MANIFEST_VERSION, origin, GENERATE), Manifest, origin)

    def complaints(self, suites: Mapping[str, Suite]) -> tuple[str, ...]:
        """Return the differences from what was frozen, by file and vector; empty if there are none."""
        found: list[str] = []
        known = {one.file: one for one in self.suites}
        for file in sorted(set(known) | set(suites)):
            if file not in suites:
                found.append(f"{file} is missing")
            elif file not in known:
                found.append(f"{file} is not frozen")
            else:
                now = {one.name: one.digest for one in suites[file].vectors}
                before = {one.name: one.sha256 for one in known[file].vectors}
                for name in sorted(set(now) | set(before)):
                    if now.get(name) != before.get(name):
                        word = "missing" if name not in now else "new" if name not in before else "changed"
                        found.append(f"{file}: vector {name} is {word}")
                if digest(suites[file].to_json()) != known[file].sha256 and list(now) == list(before) and now == before:
                    found.append(f"{file}: its content beside the vectors changed")
        return tuple(found)


def frozen(protocol: str, suites: Mapping[str, Suite]) -> Manifest:
    """Return the manifest of these suites, by file name."""
    return Manifest(
        protocol=protocol,
        suites=tuple(
            FrozenSuite(
                file, digest(suite.to_json()), tuple(FrozenVector(one.name, one.digest) for one in suite.vectors)
            )
            for file, suite in sorted(suites.items())
        ),
    )


def _shaped(data: Json, kind: type[T], origin: str) -> T:
    try:
        return shaped(data, kind)
    except Mistake as error:
        raise BadRecord(origin, str(error), GENERATE) from error
