"""The data types of RSA-0: seven artefacts, the constitution's closed sets, the observation of a step.

The seven artefact types (3.2) are `Observation`, `Request`, `ScopeClaim`, `Justification`, `Warrant`, `Refusal` and
`Exit`; a `Candidate` bundles a request with its support.  External values may be of any type: texts and integers
stand for themselves, `Atom` and `Opaque` for the rest of JSON and for values that are no JSON.
"""

from __future__ import annotations

from typing import TypeAlias

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.freedom import free_field
from evenhand.core.records import dataclass

NOTIFY, READ_LOCAL, WRITE_LOCAL, LOG_APPEND, EXIT_TYPE = "Notify", "ReadLocal", "WriteLocal", "LogAppend", "Exit"
ACTION_TYPES = (NOTIFY, READ_LOCAL, WRITE_LOCAL, LOG_APPEND, EXIT_TYPE)
"""The closed action space (6): four that an executor dispatches, and Exit, which is dormant."""

USER_INPUT, TIMESTAMP, BUDGET, SYSTEM = "user_input", "timestamp", "budget", "system"
"""The closed set of observation kinds (7 A10)."""

USER, REFLECTION, KERNEL, HOST = "user", "reflection", "kernel", "host"
AUTHORS = (USER, REFLECTION, KERNEL, HOST)
"""The closed set of authors of an artefact."""

ACTION, REFUSE, EXIT = "ACTION", "REFUSE", "EXIT"
DECISIONS = (ACTION, REFUSE, EXIT)
"""The closed set of decisions (7 A9)."""

GATES = ("completeness", "authority_citation", "scope_claim", "constitution_compliance", "io_allowlist")
"""The five admission gates in order (6)."""

REQUIRED_OBSERVATIONS = "required_observations"
"""The `failed_gate` of a refusal before admission; none of the five gates (6)."""

MISSING_REQUIRED_OBSERVATION = "MISSING_REQUIRED_OBSERVATION"
BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
NO_ADMISSIBLE_ACTION = "NO_ADMISSIBLE_ACTION"
DUPLICATE_BUNDLE = "DUPLICATE_BUNDLE"
REASONS = (MISSING_REQUIRED_OBSERVATION, BUDGET_EXHAUSTED, NO_ADMISSIBLE_ACTION, DUPLICATE_BUNDLE)
"""The reasons to refuse a cycle; INTEGRITY_RISK is none since v0.1.1 (6).  The last one belongs to a reading."""

INTEGRITY_EVENTS = ("startup_integrity_fail", "citation_index_fail", "executor_integrity_fail")
"""Events of a system observation that end the agent."""

STREAMS = ("observations", "artifacts", "admission_trace", "selector_trace", "execution_trace")
"""The five log streams (3.2)."""

EXECUTORS = ("first", "second")
"""The executor, and a second one that an attacker starts."""

CYCLE = 2
"""Warrants are of this cycle (age 0) or of an earlier one (age 1, where ages are saturated)."""

Value: TypeAlias = str | int | Atom | Opaque | tuple[str | Atom | Opaque, ...]
Fields: TypeAlias = tuple[tuple[str, Value], ...]


def field(fields: Fields, name: str) -> Value | None:
    """Return the value of a field; None where there is none."""
    for key, value in fields:
        if key == name:
            return value
    return None


def text_of(fields: Fields, name: str) -> str:
    """Return a field as a text, of several lines as one."""
    value = field(fields, name)
    return "\n".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True)
class Observation:
    """An observation of the host.  `payload` holds `text`, `iso8601_utc`, `llm_output_token_count` or `event`.

    Its id, which scope claims name, is SHA-256 in hexadecimal digits over canonical JSON (RFC 8785): an object with
    `type` (`Observation`), `kind`, `payload` as an object, and `author` and `created_at` where they are not empty.

    A count that is no whole number is refused as BUDGET_EXHAUSTED, and so are several budgets (`budget_count`); a
    timestamp that names no time is refused as a missing one.  Of several integrity events the least by name ends the
    agent, so that order decides nothing.
    """

    kind: str
    payload: Fields = ()
    author: str = HOST
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """An ActionRequest: `fields` holds `message`, `path`, `content`, `log_name` or `jsonl_lines`.

    It is complete with the fields of its type, declared or not, and no others, none of them an empty text; that an
    empty text is none is ours.  A kernel whose fields are an object raises Unsupported where a name comes twice, as in
    a payload.  A LogAppend that a constitution leaves to candidates needs the write path `./logs/`.

    A path begins at the repository; that an absolute one is refused is ours.  Gate 5 reads its text alone; an executor
    follows links.  One with `..` behind what is no directory is not compared if the shortened path is allowed.
    """

    action_type: str
    fields: tuple[tuple[str, Value], ...] = free_field("orders", ())
    author: str = REFLECTION
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class ScopeClaim:
    """The claim that a request lies within the scope of some observations, under a clause.

    It names one at least, and each is of the cycle; that an empty list is refused is ours.
    """

    observation_ids: tuple[str, ...]
    clause_ref: str
    claim: str = "in scope"
    author: str = REFLECTION
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Justification:
    """Natural language, on which no function may branch."""

    text: str
    author: str = REFLECTION
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bundle: a request, the claim that it is in scope, a justification, its citations.

    Its hash is SHA-256 over canonical JSON: an object with `action_request`, `scope_claim`, `justification` and
    `authority_citations`.  The first three are null or objects with their own fields and `type` (`ActionRequest`,
    `ScopeClaim`, `Justification`), without author and time unless the reading `bundle_hash_covers` says so.  A kernel
    with hashes of its own shows them as `$opaque`, and the warrant as `$chosen` where several candidates may win.

    A justification with an empty text is none; that is ours.  A kernel that takes it, or empty fields, raises
    Unsupported for them.  An Exit is logged and, but for the reading `exit_candidate`, not judged: no trace has it.
    """

    request: Request
    scope: ScopeClaim | None = None
    justification: Justification | None = None
    citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Warrant:
    """An ExecutionWarrant: for one request, in one cycle, once.

    `request` is the admitted request as far as the bundle hash covers it, `bundle` that hash, `created_at` the cycle's
    observed time, `age` 0 in the cycle that issued it and 1 in every later one.  One of another age was never issued; a
    kernel whose warrants do not say of which cycle they are raises Unsupported for it.
    """

    request: Request
    bundle: str
    created_at: str
    age: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """A RefusalRecord: reason, gate, and observed time (empty where no single one was observed)."""

    reason: str
    failed_gate: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Exit:
    """An ExitRecord: the integrity event and the observed time."""

    event: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The kernel's decision in one cycle.

    `trace` has for every candidate, in the order given, its bundle hash and the gate that rejected it (empty:
    admitted).  `refusal`, `exit` and `warrant` belong to REFUSE, EXIT and ACTION.
    """

    kind: str
    time: str
    trace: tuple[tuple[str, str], ...] = ()
    warrant: Warrant | None = None
    refusal: Refusal | None = None
    exit: Exit | None = None

    @property
    def admitted(self) -> frozenset[str]:
        """The hashes of admitted bundles."""
        return frozenset(bundle for bundle, gate in self.trace if not gate)

    @property
    def winner(self) -> str:
        """The bundle of the warrant; empty without one."""
        return self.warrant.bundle if self.warrant is not None else ""


@dataclass(frozen=True, slots=True)
class Effect:
    """An executor's effect on the world: the place it touched (a path from the root of the disk), and the text.

    That is the message, what was read or what was written: of a LogAppend its lines, with line breaks between them.
    """

    action_type: str
    place: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One log intent: a stream, the characters and bytes of its line, and the hash of what the line says.

    How many lines there are is ours: in `observations` one for each, in `artifacts` one for each candidate and one
    for the record of the decision, in `admission_trace` one for each candidate that is judged, in `selector_trace`
    one for a winner, in `execution_trace` one for an effect but for a LogAppend's.  A kernel that writes others
    leaves the lists out.  One whose lines say something else, such as a running number or its own winner, leaves
    out `digest`, and `lines` of a LogBundle.  Which lines are too long depends on their form, too: one that has
    longer or shorter lines raises Unsupported for limits between the two.
    """

    stream: str
    chars: int
    size: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class LogBundle:
    """A LogAppend that the kernel warranted: its stream, the hash of each of its lines, and the hash of the bundle.

    A line is named by its hash, so a hash of the bundle that covers these covers the lines.
    """

    stream: str
    lines: tuple[str, ...]
    bundle: str
