"""A counterexample as data: the shrunk run, the claim it refutes, and where it was seen.

A record holds all that replay needs and nothing specific to one machine: protocol, system, scope, readings, variant,
claim and its version, and the run itself, encoded by `evenhand.core.codec`.  `shown` is the digest of the observations
and of the verdict; a model that now shows something else fails loudly.  `provenance` and `reproduce` say where the
record came from and are never compared.

On disk it is canonical JSON whose first key is `format`, so that readers (pytest, say) know it by its first bytes;
`sha256` seals the rest.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias, cast

from msgspec import UNSET, Meta, UnsetType, convert, field, to_builtins

from evenhand.core.canonical import Json, canonical_bytes, digest
from evenhand.core.codec import decode, encode
from evenhand.core.files import Unreadable
from evenhand.core.names import as_name
from evenhand.core.trace import AnyScenario, Lasso, Pair, Scenario
from evenhand.core.verdict import Evidence
from evenhand.evidence.schemas import Digest, Name, Positive, Shape, Size, is_sealed, sealed, shaped, unsealed

FORMAT: Final = "evenhand/counterexample"
VERSION: Final = 2

AGAIN = "Record it again, or restore the file from version control"
"""The next step for most faults of a record."""

Outcome = Literal["REFUTED", "WITNESSED"]
"""The effect of the run: it witnesses a claim that something can happen, and refutes any other."""


class BadRecord(Unreadable):
    """A record that cannot be used: `culprit` (a file), `cause`, and the `next_step` that mends it."""


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


class MutantVariant(Shape, frozen=True, tag_field="kind", tag="mutant"):
    """The run was seen in a mutant of the protocol."""

    name: Name


class ReferenceVariant(Shape, frozen=True, tag_field="kind", tag="reference"):
    """The run was seen in the reference."""

    name: Literal["reference"]


class Claim(Shape, frozen=True):
    """The claim; `version` goes up when its meaning changes, `sentence` is its wording then."""

    name: Name
    version: Positive
    sentence: str


class Values(Shape, frozen=True):
    """Configuration, start and actions, as `evenhand.core.codec` writes them."""

    config: Json
    start: Json
    actions: list[Json]


class ScenarioRun(Values, frozen=True, tag_field="kind", tag="scenario"):
    """A run."""


class LassoRun(Shape, frozen=True, tag_field="kind", tag="lasso"):
    """A run whose last actions repeat for ever."""

    config: Json
    start: Json
    stem: list[Json]
    loop: Annotated[list[Json], Meta(min_length=1)]


class PairRun(Shape, frozen=True, tag_field="kind", tag="pair"):
    """Two runs that violate a claim together."""

    left: Values
    right: Values
    relation: str


Run: TypeAlias = ScenarioRun | LassoRun | PairRun
"""The evidence: values of the model as `evenhand.core.codec` writes them."""


class Provenance(Shape, frozen=True):
    """Where a record came from; never compared."""

    engine: str
    """The engine that found it."""

    source: Annotated[str, Meta(pattern="^(sha256:[0-9a-f]{64})?$")]
    """The digest of the model's source; empty if there is none to read."""

    versions: dict[str, str]


class Own(Shape, frozen=True):
    """A user's own system: where it lives, and whether all actions of the run were on offer.

    `file` is the path of a Python file in the project, relative to the record's own, with forward slashes, and `name`
    the system's among its globals; both are empty if others cannot find it.
    """

    offered: bool
    file: Annotated[str, Meta(max_length=1000, pattern=r"^([^/\\:\x00-\x1f][^\\:\x00-\x1f]*\.py)?$")]
    name: Annotated[str, Meta(max_length=200, pattern=r"^\w*$")]


class Record(Shape, frozen=True, kw_only=True):
    """A run of an executable model that refutes a claim, or witnesses one about what can happen."""

    format: Literal["evenhand/counterexample"] = FORMAT
    version: Literal[2] = VERSION
    protocol: Name
    """As the registry has it."""

    system: Name
    """One of the protocol's systems."""

    scope: dict[Name, Size]
    """The sizes of the run."""

    readings: dict[Name, Json]
    """Every reading of the system, with its encoded value."""

    variant: MutantVariant | ReferenceVariant
    """The reference, or one of the protocol's mutants."""

    claim: Claim = field(name="property")
    outcome: Outcome
    run: Run
    shown: Digest
    """The digest of what the run shows, step by step, and of the outcome."""

    shape: dict[Name, list[Name]]
    """The fields of each class in what the run shows, as they were then; empty where not known."""

    reproduce: str
    """The command that finds it again."""

    provenance: Provenance
    own: Own | UnsetType = UNSET
    """Only of a user's own system."""

    @property
    def identity(self) -> str:
        """The digest of what is replayed: equal for two records of one run, from any engine and time."""
        content: dict[str, Any] = to_builtins(self)
        content["version"] = 1  # the names of files do not change with the format
        for name in ("provenance", "reproduce", "shape", "own"):
            content.pop(name, None)
        del content["property"]["sentence"]
        return digest(content)

    @property
    def file_name(self) -> str:
        """`claim--variant--` and eight digits of the identity, as a name that every file system takes."""
        parts = (as_name(part) for part in (self.claim.name, self.variant.name))
        return f"{'--'.join(parts)}--{self.identity.removeprefix('sha256:')[:8]}.json"

    @property
    def folder_name(self) -> str:
        """The name of the protocol, as the name of a folder for its records."""
        return as_name(self.protocol)

    def to_json(self) -> dict[str, Json]:
        """Return the record as JSON, sealed; `from_json` reads it back."""
        return sealed(self)

    def to_bytes(self) -> bytes:
        """Return the content of its file: the canonical bytes and one line feed."""
        return canonical_bytes(self.to_json()) + b"\n"

    @staticmethod
    def from_json(data: Json, origin: str = "this record") -> Record:
        """Return the record that `to_json` wrote; `origin` names it in messages.

        Raises BadRecord for another format or version, for content that is not of its shape, and for content that
        differs from what was sealed.
        """
        data = of_format(data, FORMAT, VERSION, origin)
        try:
            shaped(data, RecordFile)
            intact = is_sealed(data)
        except ValueError as error:
            raise BadRecord(origin, str(error), AGAIN) from error
        if not intact:
            raise BadRecord(origin, "its content is not what was recorded (sha256 differs)", AGAIN)
        return convert(unsealed(data), Record)


class RecordFile(Record, frozen=True, kw_only=True):
    """A run of an executable model that refutes a claim, or witnesses one about what can happen.

    Canonical JSON (RFC 8785), so that `format` comes first.
    """

    sha256: Digest
    """The digest of the canonical bytes of everything else here."""


def encode_run(evidence: Evidence) -> Run:
    """Return evidence as data.  Raises ValueError that names the place for a value without an encoding."""
    match evidence:
        case Scenario(config, start, actions):
            return ScenarioRun(config=encode(config), start=encode(start), actions=encode(actions))
        case Lasso(config, start, stem, loop):
            return LassoRun(config=encode(config), start=encode(start), stem=encode(stem), loop=encode(loop))
        case Pair(left, right, relation):
            return PairRun(left=_values(left), right=_values(right), relation=relation)


def decode_run(run: Values | LassoRun | PairRun, types: tuple[type, ...]) -> Evidence:
    """Return the evidence that `encode_run` wrote, building only classes in `types`.

    Raises ValueError that names the place for any other encoding.
    """

    def read(value: Json) -> Any:
        return decode(value, *types)

    def scenario(of: Values) -> AnyScenario:
        return Scenario(read(of.config), read(of.start), read(of.actions))

    match run:
        case Values():
            return scenario(run)
        case LassoRun():
            return Lasso(read(run.config), read(run.start), read(run.stem), read(run.loop))
        case PairRun():
            return Pair(scenario(run.left), scenario(run.right), run.relation)


def _values(scenario: AnyScenario) -> Values:
    return Values(config=encode(scenario.config), start=encode(scenario.start), actions=encode(scenario.actions))
