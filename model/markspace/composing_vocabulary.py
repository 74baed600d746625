"""The vocabulary of composition and scheduling: watch patterns, manifests, subscriptions, schedules (§13, §14)."""

from __future__ import annotations

from evenhand.core.freedom import free_field
from evenhand.core.records import dataclass
from evenhand.core.system import Step
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.readings import Readings

LONGEST = 2
"""The longest interval on offer, in seconds; the time since an activation saturates there."""


@dataclass(frozen=True, order=True, slots=True)
class Pattern:
    """An agent's interest (§13.1): a scope and below; None and "" match anything."""

    scope: str
    kind: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """An agent's declaration (§13.2): inputs, outputs (scope, kind), what it may write, seconds between activations."""

    inputs: tuple[Pattern, ...] = ()
    outputs: tuple[tuple[str, Kind], ...] = ()
    permitted: tuple[tuple[str, Kind], ...] = ()
    interval: int | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A mark as subscribers get it.

    `number` identifies it, `classified` tells whether its scope is; `supersedes` is the number of the mark that it
    replaces, 0 for none (§10).
    """

    number: int
    agent: str
    scope: str
    kind: Kind
    subject: str = "x"
    classified: bool = False
    supersedes: int = 0


@dataclass(frozen=True, slots=True)
class ComposingConfig:
    """The constants of a run.

    Agents with their manifests (None: none), the classified scopes, the agents cleared for them, how many marks may be
    written.
    """

    agents: tuple[tuple[str, Manifest | None], ...]
    readings: Readings
    classified: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()
    capacity: int = 2

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the agents."""
        return tuple(name for name, _ in self.agents)


@dataclass(frozen=True, slots=True)
class ComposingState:
    """Marks in order of writing, and the agents' subscriptions and schedules.

    Per agent: patterns (None: not subscribed), queue, interval, seconds since it was activated (None: never;
    saturating at the interval).
    """

    marks: tuple[Written, ...]
    patterns: tuple[tuple[Pattern, ...] | None, ...]
    queues: tuple[tuple[int, ...], ...]
    intervals: tuple[int | None, ...]
    since: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Publish:
    """An agent writes a mark; `supersedes` is the number of an earlier one, or 0."""

    agent: str
    scope: str
    kind: Kind = Kind.OBSERVATION
    subject: str = "x"
    supersedes: int = 0


@dataclass(frozen=True, slots=True)
class Subscribe:
    """`subscribe(agent, patterns)`."""

    agent: str
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """`unsubscribe(agent)`."""

    agent: str


@dataclass(frozen=True, slots=True)
class Get:
    """`get_watched_marks(agent, clear)`."""

    agent: str
    clear: bool = True


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Composition validation of agents in sequence (§13.5)."""

    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Activate:
    """`tick_all()`: every agent that is due is activated."""


@dataclass(frozen=True, slots=True)
class Update:
    """`update(agent)` with another interval, or `register` for an agent without one."""

    agent: str
    interval: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """One second passes."""


@dataclass(frozen=True, slots=True)
class Composed:
    """Shown by a step: marks delivered, agents activated, whether pipelines connect, manifests that overpromise.

    `tick_all()` returns those that are due, in no order that the text names (§14.2); nor does a validation (§13.2).
    """

    delivered: tuple[Written, ...] | None = None
    activated: tuple[str, ...] = free_field("orders", ())
    connected: bool | None = None
    overpromised: tuple[str, ...] = free_field("orders", ())
    refused: str = free_field("texts", "")


ComposingAct = Publish | Subscribe | Unsubscribe | Get | Pipeline | Activate | Update | Wait
ComposingStep = Step[ComposingConfig, ComposingState, ComposingAct, Composed]
TYPES: tuple[type, ...] = (
    ComposingConfig,
    ComposingState,
    Manifest,
    Pattern,
    Written,
    Readings,
    Kind,
    Publish,
    Subscribe,
    Unsubscribe,
    Get,
    Pipeline,
    Activate,
    Update,
    Wait,
    Composed,
)
