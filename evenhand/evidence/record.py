"""A counterexample as data: the shrunk run, the claim it refutes, and where it was seen.

A record holds all that replay needs and nothing specific to one machine: protocol, system, scope, readings, variant,
claim and its version, and the run itself, encoded by `evenhand.core.codec`.  `shown` is the digest of the observations
and of the verdict; a model that now shows something else fails loudly.  `provenance` and `reproduce` say where the
record came from and are never compared.

On disk it is canonical JSON whose first key is `format`, so that readers (pytest, say) know it by its first bytes;
`sha256` seals the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from evenhand.core.canonical import Json, canonical_bytes, digest
from evenhand.core.codec import decode, encode
from evenhand.core.system import Scope
from evenhand.core.trace import AnyScenario, Lasso, Pair, Scenario
from evenhand.core.verdict import Evidence
from evenhand.evidence.schemas import mistake

FORMAT = "evenhand/counterexample"
VERSION = 2

AGAIN = "Record it again, or restore the file from version control"
"""The next step for most faults of a record."""

Kind = Literal["mutant", "reference"]
Outcome = Literal["REFUTED", "WITNESSED"]
"""The effect of the run: it witnesses a claim that something can happen, and refutes any other."""


class BadRecord(ValueError):
    """A record that cannot be used: `culprit` (a file), `cause`, and the `next_step` that mends it."""

    def __init__(self, culprit: str, cause: str, next_step: str) -> None:
        super().__init__(f"{culprit}: {cause}. {next_step}.")
        self.culprit, self.cause, self.next_step = culprit, cause, next_step


def of_format(data: Json, known: str, version: int, origin: str, next_step: str = AGAIN) -> dict[str, Json]:
    """Return `data` if it is an object of the format `known` and of this version.  Raises BadRecord for any other."""
    top: dict[str, Any] = cast("Any", data) if isinstance(data, dict) else {}
    named, found = top.get("format"), top.get("version")
    if named != known:
        formatted = f"its format is {named!r:.60}" if named is not None else "it names no format"
        raise BadRecord(origin, f"{formatted}, not {known!r}", "Give a file that `evenhand` recorded")
    if type(found) is not int or found != version:  # True == 1
        raise BadRecord(origin, f"it is of version {found!r:.60}, and this evenhand reads version {version}", next_step)
    return top


@dataclass(frozen=True)
class Own:
    """A user's own system in a record: where it lives, and whether all actions of the run were on offer.

    `file` is the path of a Python file relative to the record's own, with forward slashes, and `name` the system's
    among its globals; both are empty if others cannot find it.
    """

    offered: bool
    file: str = ""
    name: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the fields by name."""
        return {"offered": self.offered, "file": self.file, "name": self.name}


@dataclass(frozen=True)
class Record:
    """One counterexample.

    `variant` is `reference` or the name of a mutant, as `variant_kind` says.  `readings` maps every reading of the
    system to its encoded value.  `run` is the encoded evidence (`decode_run` reads it), `shown` the digest of its
    observations, and `shape` the fields of the classes in them (see `growth`; empty: as they are now).  `sentence` is
    the claim in English as worded then.  `own` is set for a user's own system.
    """

    protocol: str
    system: str
    scope: Scope
    readings: Mapping[str, Json]
    variant_kind: Kind
    variant: str
    claim: str
    claim_version: int
    sentence: str
    outcome: Outcome
    run: Mapping[str, Json]
    shown: str
    reproduce: str = ""
    provenance: Mapping[str, Json] = field(default_factory=dict[str, Json])
    shape: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    own: Own | None = None

    @property
    def identity(self) -> str:
        """The digest of what is replayed: equal for two records of one run, from any engine and time."""
        content = {**self._content(), "version": 1}  # the names of files do not change with the format
        del content["provenance"], content["reproduce"], content["shape"]
        content.pop("own", None)
        content["property"] = {"name": self.claim, "version": self.claim_version}
        return digest(content)

    @property
    def file_name(self) -> str:
        """`claim--variant--` and eight digits of the identity, as a name that every file system takes."""
        parts = (plain(part) for part in (self.claim, self.variant))
        return f"{'--'.join(parts)}--{self.identity.removeprefix('sha256:')[:8]}.json"

    @property
    def folder_name(self) -> str:
        """The name of the protocol, as the name of a folder for its records."""
        return plain(self.protocol)

    def to_json(self) -> dict[str, Json]:
        """Return the record as JSON, sealed; `from_json` reads it back."""
        content = self._content()
        return {**content, "sha256": digest(content)}

    def to_bytes(self) -> bytes:
        """Return the content of its file: the canonical bytes and one line feed."""
        return canonical_bytes(self.to_json()) + b"\n"

    def _content(self) -> dict[str, Json]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "protocol": self.protocol,
            "system": self.system,
            "scope": dict(self.scope),
            "readings": dict(self.readings),
            "variant": {"kind": self.variant_kind, "name": self.variant},
            "property": {"name": self.claim, "version": self.claim_version, "sentence": self.sentence},
            "outcome": self.outcome,
            "run": dict(self.run),
            "shown": self.shown,
            "shape": {name: list(names) for name, names in self.shape.items()},
            "reproduce": self.reproduce,
            "provenance": dict(self.provenance),
            **({} if self.own is None else {"own": self.own.to_json()}),
        }

    @staticmethod
    def from_json(data: Json, origin: str = "this record") -> Record:
        """Return the record that `to_json` wrote; `origin` names it in messages.

        Raises BadRecord for another format or version, for content that the schema does not allow, and for content that
        differs from what was sealed.
        """
        data = of_format(data, FORMAT, VERSION, origin)
        wrong = mistake(data, "evenhand.evidence", "counterexample")
        if wrong is not None:
            raise BadRecord(origin, str(wrong), AGAIN)
        content = {key: value for key, value in data.items() if key != "sha256"}
        try:
            sealed = digest(content)
        except ValueError as error:
            raise BadRecord(origin, str(error), AGAIN) from error
        if data["sha256"] != sealed:
            raise BadRecord(origin, "its content is not what was recorded (sha256 differs)", AGAIN)
        return Record(
            protocol=data["protocol"],
            system=data["system"],
            scope=Scope(data["scope"]),
            readings=data["readings"],
            variant_kind=data["variant"]["kind"],
            variant=data["variant"]["name"],
            claim=data["property"]["name"],
            claim_version=data["property"]["version"],
            sentence=data["property"]["sentence"],
            outcome=data["outcome"],
            run=data["run"],
            shown=data["shown"],
            reproduce=data["reproduce"],
            provenance=data["provenance"],
            shape=data["shape"],
            own=Own(**data["own"]) if "own" in data else None,
        )


def plain(name: str) -> str:
    """Return a name that every file system takes, without slashes and dots."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:60]


def encode_run(evidence: Evidence) -> dict[str, Json]:
    """Return evidence as JSON.  Raises ValueError that names the place for a value without an encoding."""
    match evidence:
        case Scenario():
            return {"kind": "scenario", **_scenario_json(evidence)}
        case Lasso():
            return {
                "kind": "lasso",
                "config": encode(evidence.config),
                "start": encode(evidence.start),
                "stem": encode(evidence.stem),
                "loop": encode(evidence.loop),
            }
        case Pair():
            return {
                "kind": "pair",
                "left": _scenario_json(evidence.left),
                "right": _scenario_json(evidence.right),
                "relation": evidence.relation,
            }


def decode_run(run: Mapping[str, Json], types: tuple[type, ...]) -> Evidence:
    """Return the evidence that `encode_run` wrote, building only classes in `types`.

    Raises ValueError that names the place for any other encoding.
    """

    def part(of: Mapping[str, Json], name: str) -> Any:
        return decode(of[name], *types)

    def scenario(of: Mapping[str, Json]) -> AnyScenario:
        return Scenario(part(of, "config"), part(of, "start"), part(of, "actions"))

    match run["kind"]:
        case "scenario":
            return scenario(run)
        case "lasso":
            return Lasso(part(run, "config"), part(run, "start"), part(run, "stem"), part(run, "loop"))
        case "pair":
            return Pair(scenario(run["left"]), scenario(run["right"]), run["relation"])
        case other:
            raise ValueError(f"a run is a scenario, a lasso or a pair, not {other!r:.60}")


def _scenario_json(scenario: AnyScenario) -> dict[str, Json]:
    return {
        "config": encode(scenario.config),
        "start": encode(scenario.start),
        "actions": encode(scenario.actions),
    }
