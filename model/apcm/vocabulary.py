"""The data types of RSA-PoC v1.0: situations and their APCM, justification artefacts, observations.

The system has two actions.  `Submit`: the environment has published the feasible actions and their APCM, and an
artefact arrives and is compiled to a mask.  `Select`: one of the permitted actions is executed; it is a choice,
because a deterministic step would pick by position.

External values (APCM entries, artefact fields) may be of any type: a frozenset stands for a set, a tuple for a
list, `Atom` and `Opaque` for anything else.  Values that were read are a `Fields` of sorted tuples.
"""

from __future__ import annotations

import hashlib
from dataclasses import field
from functools import lru_cache
from typing import Any, TypeAlias

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.freedom import free, free_field
from evenhand.core.parts import part
from evenhand.core.records import dataclass
from evenhand.model.apcm.readings import Readings

MAINTAIN, REVISE = "MAINTAIN", "REVISE"
MODES = (MAINTAIN, REVISE)
"""The two modes of conflict resolution (3.2)."""

ASB, MVRA, SCRAMBLE, BYPASS = "ASB_NULL", "MVRA", "SCRAMBLE", "BYPASS"
CONDITIONS = (ASB, MVRA, SCRAMBLE, BYPASS)
"""The four run conditions of section 10."""

DONE, INVALID_RUN, HALTED = "DONE", "INVALID_RUN", "HALTED"
"""How a run is over: its frozen number of steps is spent, or the environment published no proper APCM (2.2)."""

RANKED = (
    "E_DIGEST_MISMATCH",
    "E_AV_WITHOUT_COLLISION",
    "E_GRATUITOUS_VIOLATION",
    "E_AV_NOT_IN_COLLISION",
    "E_AV_RP_OVERLAP",
    "E_FALSE_COLLISION",
    "E_PRECEDENT_VIOLATION",
)
"""The failures of a well-formed artefact, in the order of report: the link, then Rules 1.5, 2 and 3.

The two codes of readings stand behind Rule 1.5's own, whose subject they share.
"""

NAMED_CODES = ("E_AV_WITHOUT_COLLISION", "E_GRATUITOUS_VIOLATION", "E_FALSE_COLLISION", "E_PRECEDENT_VIOLATION")
"""The codes of the text (5, 6); all others are ours."""

SCHEMA_CODES = ("E_SCHEMA_TYPE", "E_UNKNOWN_MODE", "E_UNKNOWN_PREFERENCE", "E_PAIR_ARITY")
"""The faults of a malformed artefact; no rule is then consulted."""

APCM_CODES = (
    "E_FEASIBLE_UNKNOWN",
    "E_FEASIBLE_REPEATED",
    "E_APCM_MISSING",
    "E_APCM_REPEATED",
    "E_APCM_NULL",
    "E_APCM_TYPE",
    "E_APCM_UNKNOWN_PREFERENCE",
    "E_APCM_SATISFIES",
)
"""The faults that end the run before any agent acts (2.2)."""

Id: TypeAlias = str | Atom | Opaque
RawSet: TypeAlias = frozenset[Id] | tuple[Id, ...] | Atom | Opaque | None
RawPairs: TypeAlias = frozenset[tuple[Id, ...]] | tuple[tuple[Id, ...], ...] | Atom | Opaque | None
Ids: TypeAlias = tuple[str, ...]
Pairs: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """The APCM of one action: the preferences it violates and satisfies (2.1), as published."""

    violates: RawSet
    satisfies: RawSet = frozenset()


@dataclass(frozen=True, slots=True)
class Situation:
    """The published data of one step: the feasible actions, and an APCM as (action, entry).

    It may be improper.  That an action is listed twice, or is not in the inventory, ends the run by a rule that is
    ours (2.2 is silent); a kernel whose APCM is an object cannot be asked about two entries of one action.
    """

    feasible: tuple[str, ...]
    apcm: tuple[tuple[str, Entry], ...]

    def violates(self, action: str) -> frozenset[str]:
        """Return the preferences that an action violates; none without an entry (no compiler sees such an action)."""
        for name, entry in self.apcm:
            if name == action:
                value: Any = entry.violates
                if isinstance(value, frozenset):
                    return value  # pyright: ignore
                return frozenset(value) if isinstance(value, tuple) else frozenset()  # pyright: ignore
        return frozenset()


@dataclass(frozen=True, slots=True)
class Artifact:
    """A justification artefact (3): fields as they arrive.

    `previous_artifact_digest` is None in a step without a previous artefact, else `blake2b128:` and the hexadecimal
    digits of blake2b with 16 bytes over canonical JSON: an object of the previous artefact's `authorized_violations`,
    `required_preservations` and `conflict_attribution`, as sorted arrays without repetition.  A kernel with another
    digest translates it.  `precedent_reference` is text that no rule reads.
    """

    authorized_violations: RawSet
    required_preservations: RawSet
    conflict_attribution: RawPairs
    mode: Id | None = REVISE
    previous_artifact_digest: Id | None = None
    precedent_reference: Id | None = ""


@dataclass(frozen=True, slots=True)
class Fields:
    """AV, RP and the declared pairs of a well-formed artefact, as Rule 3 compares them and the digest covers them."""

    av: Ids
    rp: Ids
    pairs: Pairs


@dataclass(frozen=True, slots=True)
class Whole(Fields):
    """All of a kept artefact, where a digest covers all of it: `link` is that of the artefact before."""

    mode: str
    link: str | None
    reference: str


EMPTY = Fields((), (), ())


def whole(fields: Fields, artifact: Artifact | None) -> Fields:
    """Return all of a well-formed artefact; its fields alone where there is none."""
    if artifact is None:
        return fields
    link = artifact.previous_artifact_digest
    told = None if link is None else str(link)
    return Whole(fields.av, fields.rp, fields.pairs, str(artifact.mode), told, str(artifact.precedent_reference))


def parts_of(kept: Fields | None) -> Fields | None:
    """Return AV, RP and pairs of a kept artefact alone, as Rule 3 compares them."""
    return Fields(kept.av, kept.rp, kept.pairs) if isinstance(kept, Whole) else kept


@lru_cache(maxsize=65_536)
def digest_of(fields: Fields) -> str:
    """Return `blake2b128:` and 32 hexadecimal digits, over the canonical JSON of what is kept of an artefact (3.2)."""
    data: dict[str, Json] = {
        "authorized_violations": list(fields.av),
        "required_preservations": list(fields.rp),
        "conflict_attribution": [list(pair) for pair in fields.pairs],
    }
    if isinstance(fields, Whole):
        data["precedent_reference"] = fields.reference
        data["conflict_resolution"] = {"mode": fields.mode, "previous_artifact_digest": fields.link}
    return "blake2b128:" + hashlib.blake2b(canonical_bytes(data), digest_size=16).hexdigest()


@dataclass(frozen=True, order=True, slots=True)
class Error:
    """A code and its payload: the preference, pair, field or action at fault.  The payload decides nothing.

    A malformed artefact has all its faults and nothing else, because no rule reads it: one error for each field of a
    wrong type, one for each unknown name, one for each pair that is none.
    """

    code: str = field(metadata=free("codes", named=NAMED_CODES))
    culprit: tuple[str, ...] = field(default=(), metadata=free("codes", beside="code"))

    def __str__(self) -> str:
        return f"{self.code}({', '.join(self.culprit)})" if self.culprit else self.code


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of compiling an artefact: the fields (None if malformed), all errors, the mask; and the artefact."""

    fields: Fields | None
    mode: str
    errors: tuple[Error, ...]
    forbidden: tuple[str, ...]
    artifact: Artifact | None = None

    @property
    def ok(self) -> bool:
        """Whether it compiled."""
        return not self.errors


@dataclass(frozen=True, slots=True)
class Submit:
    """An artefact arrives; None where the configuration's generator makes it, or there is none."""

    artifact: Artifact | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """The selector picks an action."""

    action: str


Act: TypeAlias = Submit | Select


@dataclass(frozen=True, slots=True)
class Config:
    """The fixed part of a run.

    `actions` is the inventory, `preferences` the frozen registry.  The environment publishes `situations` in turn, for
    `steps` steps, or for ever if None.  `generator` names the writer of the artefacts, under BYPASS too (empty: they
    come from outside): `single_pair`, `complete` or `lazy`, of this project, as the text names none.  `selector`
    narrows the permitted actions to the `first` or `last` by name, or not (`any`).  `scramble` is how condition
    SCRAMBLE changes an artefact: `swap`, `turn`, `silence`, `unlink` or `garble`, of this project too.  A kernel with
    others raises Unsupported for these configurations.
    """

    actions: tuple[str, ...]
    preferences: tuple[str, ...]
    situations: tuple[Situation, ...]
    condition: str = MVRA
    generator: str = ""
    selector: str = "any"
    scramble: str = "swap"
    steps: int | None = None
    readings: Readings = Readings()

    def published(self, state: State) -> Situation:
        """Return the situation that the environment publishes in a state."""
        return self.situations[state.place % len(self.situations)]


@dataclass(frozen=True, slots=True)
class State:
    """The state between two actions of the system.

    `place` is the step (in a run without end, modulo the environment's period), `previous` the fields of the previous
    artefact (never its digest), `permitted` and `offered` the actions left by the mask and then the selector (empty
    while
    an artefact is awaited), `over` empty or how the run ended.
    """

    place: int = 0
    previous: Fields | Whole | None = None
    permitted: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    over: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """The observation of a step; lists are sorted by name, because the protocol orders nothing.

    `kind` is `submit`, `select` or `rejected`.  `artifact` is the one that reached the compiler, `compile_ok` None
    where no compiler ran, as under ASB_NULL.  BYPASS compiles as MVRA does and shows it all, but halts at no fault, and
    `forbidden`, the mask, is forced empty there.  `invalid` lists the faults of the APCM; `rejected` says why the
    action was rejected.
    """

    kind: str
    artifact: Artifact | None = None
    fields: Fields | None = None
    mode: str = ""
    compile_ok: bool | None = None
    errors: tuple[Error, ...] = field(default=(), metadata=part("label"))
    forbidden: tuple[str, ...] = free_field("orders", ())
    permitted: tuple[str, ...] = free_field("orders", ())
    offered: tuple[str, ...] = free_field("orders", ())
    halt: bool = False
    gridlock: bool = field(default=False, metadata=part("label"))
    revision: bool = field(default=False, metadata=part("label"))
    selected: str = field(default="", metadata=part("effect"))
    selected_violates: tuple[str, ...] = free_field("orders", (), tells="record")
    invalid: tuple[Error, ...] = field(default=(), metadata=part("label"))
    rejected: str = free_field("texts", "")

    @property
    def compile_error_code(self) -> str:
        """The first kind of error; empty if there is none (9.1)."""
        return self.errors[0].code if self.errors else ""


TYPES = (Artifact, Atom, Config, Entry, Error, Fields, Opaque, Readings, Select, Shown, Situation, State, Submit, Whole)
"""Every class that files of this protocol may hold."""
