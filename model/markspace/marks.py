"""The vocabulary of marks and the space that holds them (§2, §7, §8).

No state holds an instant: a mark carries its age. Marks are listed in the order of writing; `(created_at, id)` orders
them as P32 says. Amounts are rationals; strengths computed at read time are exact `Amount`s.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from evenhand.core.freedom import free_field
from evenhand.core.records import dataclass
from evenhand.core.system import Step
from evenhand.model.markspace.exact import Amount
from evenhand.model.markspace.guard_vocabulary import Policy
from evenhand.model.markspace.readings import Readings

ONE, HALF = Fraction(1), Fraction(1, 2)
MIN_STRENGTH = Fraction(1, 100)
"""The threshold of strength below which `read` leaves marks out by default (§8.2)."""

PRINCIPAL = "principal"
CONTENT = "content"
"""The field that stands for result, content, reason and context.

A projection redacts it, and also a need's question, which is its `subject` (§7.4).
"""


class Kind(Enum):
    """The five mark types (§2)."""

    INTENT = "intent"
    ACTION = "action"
    OBSERVATION = "observation"
    WARNING = "warning"
    NEED = "need"


class Source(Enum):
    """The sources of an observation, most trusted first (§4.1)."""

    FLEET = "fleet"
    VERIFIED = "external_verified"
    UNVERIFIED = "external_unverified"


class Visibility(Enum):
    """The visibility of a scope's marks (§7.4)."""

    OPEN = "open"
    PROTECTED = "protected"
    CLASSIFIED = "classified"


@dataclass(frozen=True, slots=True)
class ScopeDef:
    """A scope (§7.1, §7.2): half-lives and TTL in seconds; `"*"` among the topics matches any topic."""

    name: str
    visibility: Visibility = Visibility.OPEN
    intent_verbs: tuple[str, ...] = ("book",)
    action_verbs: tuple[str, ...] = ("booked",)
    topics: tuple[str, ...] = ("*",)
    observation_half_life: int = 1
    warning_half_life: int = 1
    intent_ttl: int = 1
    policy: Policy = Policy.FIRST_WRITER


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent's permissions (§7.3, §11.1): scopes and kinds that it may write, scopes of which it may read the
    content.
    """

    name: str
    writes: frozenset[tuple[str, Kind]]
    reads: frozenset[str]


@dataclass(frozen=True, slots=True)
class SpaceConfig:
    """The constants of a run.

    `weights` are those of the sources in their order. `hooks` names post-write hooks; those called `failing` raise
    (§8.6). `capacity` bounds the number of marks and `horizon` their age in seconds.
    """

    agents: tuple[Agent, ...]
    scopes: tuple[ScopeDef, ...]
    readings: Readings
    weights: tuple[Fraction, Fraction, Fraction] = (ONE, Fraction(7, 10), Fraction(3, 10))
    hooks: tuple[str, ...] = ()
    capacity: int = 3
    horizon: int = 2


@dataclass(frozen=True, slots=True)
class Draft:
    """A mark as its writer submits it: all fields except those that the space stamps (§2.1 to §2.6).

    `subject` is the resource, topic or question; `verb` the (planned) action; `confidence` also a need's priority.  A
    kind has no other fields than its section names (§2.2 to §2.6), so the others mean nothing there: a kernel may show
    a mark without them, as an intent without `content`.
    """

    kind: Kind
    scope: str
    subject: str = "x"
    verb: str = ""
    strength: Fraction = ONE
    confidence: Fraction = ONE
    source: Source = Source.FLEET
    content: str = "secret"
    supersedes: int | None = None
    invalidates: int | None = None
    failed: bool = False
    blocking: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A stored mark: draft, author, id, age in seconds. Only the age changes (P30)."""

    id: int
    agent: str
    draft: Draft
    age: int = 0
    resolved_by: int | None = None


@dataclass(frozen=True, slots=True)
class Space:
    """The marks in the order of writing."""

    marks: tuple[Mark, ...] = ()

    def find(self, wanted: int) -> Mark | None:
        """Return the first mark with this id; None without one."""
        return next((mark for mark in self.marks if mark.id == wanted), None)


@dataclass(frozen=True, slots=True)
class Write:
    """`write(agent, mark)`; `id` is the id that the environment offers (the space may choose another)."""

    agent: str
    draft: Draft
    id: int


@dataclass(frozen=True, slots=True)
class Read:
    """`read(scope, reader=…)`; None is infrastructure."""

    reader: str | None
    scope: str


@dataclass(frozen=True, slots=True)
class Decide:
    """An agent resolves a conflict itself by reading the intents on a resource (§6)."""

    reader: str | None
    scope: str
    subject: str = "x"


@dataclass(frozen=True, slots=True)
class Ask:
    """The guard's answer to an agent that asks for a resource: which agent claims it, which intent won (§9.2, §9.3).

    Refused is who may not write intents there.  It is asked before the agent's own intent is written; without a claim
    all active intents are `candidates`.
    """

    agent: str
    scope: str
    subject: str = "x"


@dataclass(frozen=True, slots=True)
class Needs:
    """`aggregate_needs()` as an agent calls it; in the text it has no reader argument (§8.4)."""

    caller: str


@dataclass(frozen=True, slots=True)
class Resolve:
    """`resolve(need, action)`, by the principal (§8.3).

    No section says what it does to a need that is superseded or resolved; `check` ends the run before that.  Nor does
    one say whether it is a `write()`, after which hooks run (§8.6): a kernel where it is leaves `hooked` out.
    """

    need: int
    action: int
    id: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Some seconds pass."""

    seconds: int = 1


Act = Write | Read | Decide | Ask | Needs | Resolve | Tick


@dataclass(frozen=True, slots=True)
class Seen:
    """A mark as a read returns it: full, or projected with its content redacted; with its strength at this instant."""

    mark: Mark
    strength: Amount
    projected: bool = False


@dataclass(frozen=True, slots=True)
class Cluster:
    """The needs with one question in one scope (§8.4): highest priority, size, number of blocking needs, contexts.

    `priority` is without the logarithm of the size, which shows in the order of clusters alone.
    """

    scope: str
    question: str
    priority: Fraction
    size: int
    blocking: int
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The observation of a step.  `hooked`: the hooks that did not raise; `winner`: an id; `claimed_by`: an agent."""

    stored: int | None = None
    refused: str = free_field("texts", "")
    seen: tuple[Seen, ...] | None = None
    candidates: tuple[Mark, ...] = free_field("orders", ())
    winner: int | None = None
    claimed_by: str | None = None
    clusters: tuple[Cluster, ...] = ()
    hooked: tuple[str, ...] = free_field("orders", ())


SpaceStep = Step[SpaceConfig, Space, Act, Reply]
SEEN_TYPES: tuple[type, ...] = (Amount, Seen, Cluster, Reply)
TYPES: tuple[type, ...] = (
    SpaceConfig,
    Agent,
    ScopeDef,
    Readings,
    Policy,
    Kind,
    Source,
    Visibility,
    Draft,
    Mark,
    Space,
    Write,
    Read,
    Decide,
    Ask,
    Needs,
    Resolve,
    Tick,
    *SEEN_TYPES,
)
