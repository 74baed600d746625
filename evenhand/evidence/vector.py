"""Vectors as data: runs with all their expected observations, for checking kernels.

A *suite* is a file of vectors of one kind (`orbits`, `covering`, `boundary`); the *manifest* freezes suites by the
digest of each file and vector, so that an expectation cannot follow a kernel or a model.  A vector holds all that
running it needs: system, scope, every reading, configuration, start, actions, and for each action the observation and
what observers read then.  Values are written by `evenhand.core.codec`; files are canonical JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.core.canonical import Json, canonical_bytes, digest
from evenhand.evidence.record import BadRecord, of_format
from evenhand.evidence.schemas import mistake

SUITE, MANIFEST = "evenhand/vectors", "evenhand/vector-manifest"
VERSION = 1

GENERATE = "Generate the vectors again, or restore the file from version control"


@dataclass(frozen=True)
class Vector:
    """One run and its expected outcome.

    `expected` has an entry for each action: `shown`, the encoded observation, and `read`, what observers read after it.
    `classes` names the class of the run where an observer has one.  `separates` lists the variants with another
    outcome: `kind`, `name`, (for a reading) `value`, `step` and `by`.  `about` says why the vector is there.
    """

    name: str
    system: str
    scope: Mapping[str, int]
    readings: Mapping[str, Json]
    run: Mapping[str, Json]
    expected: tuple[Mapping[str, Json], ...]
    classes: Mapping[str, str]
    separates: tuple[Mapping[str, Json], ...]
    about: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def to_json(self) -> dict[str, Json]:
        """Return the vector as JSON, with its hash."""
        content: dict[str, Json] = {
            "name": self.name,
            "system": self.system,
            "scope": dict(self.scope),
            "readings": dict(self.readings),
            "run": dict(self.run),
            "expected": [dict(one) for one in self.expected],
            "classes": dict(self.classes),
            "separates": [dict(one) for one in self.separates],
            "about": dict(self.about),
        }
        return {**content, "sha256": digest(content)}

    @property
    def sha256(self) -> str:
        """The digest of everything else in the vector."""
        return str(self.to_json()["sha256"])

    @staticmethod
    def from_json(data: Json, origin: str) -> Vector:
        """Return the vector that `to_json` wrote.  Raises BadRecord if its content is not what was hashed."""
        content = {key: value for key, value in data.items() if key != "sha256"}
        if digest(content) != data["sha256"]:
            raise BadRecord(f"{origin}, vector {data['name']}", "its content is not what was hashed", GENERATE)
        return Vector(
            name=data["name"],
            system=data["system"],
            scope=data["scope"],
            readings=data["readings"],
            run=data["run"],
            expected=tuple(data["expected"]),
            classes=data["classes"],
            separates=tuple(data["separates"]),
            about=data["about"],
        )


@dataclass(frozen=True)
class Suite:
    """Vectors of one kind of one protocol; `made` holds the facts found when they were made."""

    protocol: str
    suite: str
    seed: int
    vectors: tuple[Vector, ...]
    made: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def file_name(self) -> str:
        """The name of its file, such as `orbits.json`."""
        return f"{self.suite}.json"

    def to_json(self) -> dict[str, Json]:
        """Return the suite as JSON."""
        return {
            "format": SUITE,
            "version": VERSION,
            "protocol": self.protocol,
            "suite": self.suite,
            "seed": self.seed,
            "made": dict(self.made),
            "vectors": [one.to_json() for one in self.vectors],
        }

    def to_bytes(self) -> bytes:
        """Return the content of its file."""
        return canonical_bytes(self.to_json()) + b"\n"

    @staticmethod
    def from_json(data: Json, origin: str = "this suite") -> Suite:
        """Return the suite that `to_json` wrote.

        Raises BadRecord for another format or version, for content that the schema does not allow, for a changed vector
        and for two vectors of one name.
        """
        checked = _checked(data, SUITE, "vectors", origin)
        vectors = tuple(Vector.from_json(one, origin) for one in checked["vectors"])
        names = [one.name for one in vectors]
        if twice := next((name for name, count in Counter(names).items() if count > 1), None):
            raise BadRecord(origin, f"two of its vectors are called {twice!r}", GENERATE)
        return Suite(checked["protocol"], checked["suite"], checked["seed"], vectors, checked["made"])


@dataclass(frozen=True)
class Manifest:
    """The frozen suites of a protocol: file name → digest of the file, and (vector, digest) in order."""

    protocol: str
    suites: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]]

    def to_json(self) -> dict[str, Json]:
        """Return the manifest as JSON."""
        return {
            "format": MANIFEST,
            "version": VERSION,
            "protocol": self.protocol,
            "suites": [
                {
                    "file": file,
                    "sha256": whole,
                    "vectors": [{"name": name, "sha256": one} for name, one in vectors],
                }
                for file, (whole, vectors) in sorted(self.suites.items())
            ],
        }

    @staticmethod
    def from_json(data: Json, origin: str = "this manifest") -> Manifest:
        """Return the manifest that `to_json` wrote.  Raises BadRecord as `Suite.from_json` does."""
        checked = _checked(data, MANIFEST, "vector-manifest", origin)
        return Manifest(
            checked["protocol"],
            {
                one["file"]: (one["sha256"], tuple((entry["name"], entry["sha256"]) for entry in one["vectors"]))
                for one in checked["suites"]
            },
        )

    def complaints(self, suites: Mapping[str, Suite]) -> tuple[str, ...]:
        """Return the differences from what was frozen, by file and vector; empty if there are none."""
        found: list[str] = []
        for file in sorted(set(self.suites) | set(suites)):
            if file not in suites:
                found.append(f"{file} is missing")
            elif file not in self.suites:
                found.append(f"{file} is not frozen")
            else:
                whole, vectors = self.suites[file]
                now = {one.name: one.sha256 for one in suites[file].vectors}
                before = dict(vectors)
                for name in sorted(set(now) | set(before)):
                    if now.get(name) != before.get(name):
                        word = "missing" if name not in now else "new" if name not in before else "changed"
                        found.append(f"{file}: vector {name} is {word}")
                if digest(suites[file].to_json()) != whole and list(now) == list(before) and now == before:
                    found.append(f"{file}: its content beside the vectors changed")
        return tuple(found)


def frozen(protocol: str, suites: Mapping[str, Suite]) -> Manifest:
    """Return the manifest of these suites, by file name."""
    return Manifest(
        protocol,
        {
            file: (digest(suite.to_json()), tuple((one.name, one.sha256) for one in suite.vectors))
            for file, suite in suites.items()
        },
    )


def _checked(data: Json, format_: str, schema: str, origin: str) -> dict[str, Any]:
    made = of_format(data, format_, VERSION, origin, GENERATE)
    wrong = mistake(made, "evenhand.evidence", schema)
    if wrong is not None:
        raise BadRecord(origin, str(wrong), GENERATE)
    return made
