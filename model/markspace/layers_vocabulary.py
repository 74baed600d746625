"""The vocabulary of the optional layers around `write_mark` and tool calls (§9.7 to §9.12).

A deployment has some of six layers; the memory of a layer is a separate part of the state, and an absent layer
remembers and refuses nothing.  The clock moves by half windows: two make a window of the envelope and of the rate
limit.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from evenhand.core.freedom import free_field
from evenhand.core.records import dataclass
from evenhand.core.system import Step
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.readings import Readings

ANYWHERE = "*"
DIAGNOSTICS = "diagnostics"
PROBE = "probe"
TOKEN = "principal's token"


class Layer(Enum):
    """The optional layers (§16)."""

    BARRIER = "barrier"
    ENVELOPE = "envelope"
    RATE = "rate limit"
    BUDGET = "budget"
    TELEMETRY = "telemetry"
    PROBE = "probe"


class Health(Enum):
    """The answers of `check(agent)` (§9.7)."""

    NORMAL = "normal"
    FLAGGED = "flagged"
    RESTRICTED = "restricted"


class Op(Enum):
    """The operations."""

    WRITE = "write_mark"
    EXECUTE = "execute"
    CHECK = "check"
    TICK = "half a window passes"
    NARROW = "narrow"
    NARROW_ALL = "narrow_all"
    REQUIRE_NEED = "require_need"
    RESTORE = "restore"
    RESTORE_ALL = "restore_all"
    RESET = "reset"
    ROUND = "record_round_tokens"
    RAISE = "the principal raises the budget"
    INJECT = "inject a canary"
    ACKNOWLEDGE = "acknowledge_canary"
    END_ROUND = "end of the round"


@dataclass(frozen=True, slots=True)
class LayersConfig:
    """The constants of a run.

    `scopes` are the production scopes that `agents` may write in; `probe` writes in `diagnostics` alone.
    `rate` is (per agent, in total) per window, `budget` the total of tokens (input, output) with None for no limit,
    `baseline` an expected number of observations per window, `samples` how many windows make the detector ready,
    `sigmas` its k, `threshold` the flags after which escalation is global; `sink` is null, memory or failing;
    `capacity` bounds stored marks, `windows` completed ones.
    """

    layers: frozenset[Layer]
    agents: tuple[str, ...]
    readings: Readings
    scopes: tuple[str, ...] = ("a", "c")
    rate: tuple[int | None, int | None] = (1, 2)
    budget: tuple[int | None, int | None] = (5, None)
    fraction: Fraction = Fraction(4, 5)
    baseline: int | None = None
    samples: int = 1
    sigmas: Fraction = Fraction(7, 2)
    shift: Fraction = Fraction(1, 2)
    threshold: int = 2
    sink: str = "memory"
    capacity: int = 3
    windows: int = 1

    def has(self, *layers: Layer) -> bool:
        """Return whether the deployment has these layers."""
        return self.layers.issuperset(layers)


@dataclass(frozen=True, slots=True)
class Watched:
    """The envelope's record of an agent.

    Attempts of this window (scope, kind) and of the window before; per completed window how many observations and
    needs; whether it is restricted.
    """

    now: tuple[tuple[str, Kind], ...] = ()
    before: tuple[tuple[str, Kind], ...] = ()
    past: tuple[tuple[int, int], ...] = ()
    restricted: bool = False


@dataclass(frozen=True, slots=True)
class Envelope:
    """§9.7: one record per agent, in their order."""

    watched: tuple[Watched, ...]


@dataclass(frozen=True, slots=True)
class Barrier:
    """§9.8: the revocations per agent, where a need must come first, the number of flags by the envelope."""

    revoked: frozenset[tuple[str, str, Kind]] = frozenset()
    need_first: frozenset[tuple[str, str]] = frozenset()
    flags: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Dated(Barrier):
    """A barrier that knows how many marks there were when a need was required (reading `need_first=later_need`)."""

    since: frozenset[tuple[str, str, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Rates:
    """§9.12: the author and scope of each write in this half window and in the one before (with repetition)."""

    now: tuple[tuple[str, str], ...] = ()
    before: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """§9.10, per agent: tokens used (input, output), the dimensions with a warning, the ceilings."""

    used: tuple[tuple[int, int], ...]
    warned: tuple[tuple[bool, bool], ...]
    ceiling: tuple[tuple[int | None, int | None], ...]


@dataclass(frozen=True, slots=True)
class Probing:
    """§9.9: agents with a canary to acknowledge, and those of them that tried another operation, or a wrong id."""

    pending: frozenset[str] = frozenset()
    active: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class World:
    """Stored marks (agent, scope, kind) in order of writing, the half of the window, the layers' memories."""

    stored: tuple[tuple[str, str, Kind], ...] = ()
    half: int = 0
    barrier: Barrier | Dated | None = None
    envelope: Envelope | None = None
    rates: Rates | None = None
    budget: Budget | None = None
    probing: Probing | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation by or about an agent; `right` tells whether the canary's id was right.

    `tokens` (input, output) are those of a round, or those that RAISE adds to the ceilings.
    """

    op: Op
    agent: str = ""
    scope: str = ""
    kind: Kind = Kind.OBSERVATION
    token: str = ""
    tokens: tuple[int, int] = (0, 0)
    right: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """The observation of a step.

    Whether it was accepted, else the reason and the refusing layer; the answer of `check`; needs that the guard wrote
    (agent, blocking, `input`, `output`, `probe` or `envelope`); telemetry events (operation, agent, `accepted` or
    `rejected`).  The end of a round is accepted; its `why` is not empty if the agent was compromised (§9.9).
    """

    accepted: bool = False
    why: str = free_field("texts", "", tells="label")
    by: Layer | None = None
    health: Health | None = None
    needs: tuple[tuple[str, bool, str], ...] = ()
    events: tuple[tuple[str, str, str], ...] = ()


LayersStep = Step[LayersConfig, World, Operation, Outcome]
TYPES: tuple[type, ...] = (
    LayersConfig,
    Layer,
    Readings,
    Health,
    Op,
    Kind,
    Watched,
    Envelope,
    Barrier,
    Dated,
    Rates,
    Budget,
    Probing,
    World,
    Operation,
    Outcome,
)
