"""Configurations, states, actions and observations of every system of RSA-0.

A state holds no counter that only grows: the cycle of a warrant is its age, a log is the lines still owed to it.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.freedom import free_field
from evenhand.core.parts import part
from evenhand.core.records import dataclass
from evenhand.model.sovereign.constitution import (
    REFERENCE_CONSTITUTION,
    ActionType,
    Constitution,
    IoPolicy,
    Limits,
)
from evenhand.model.sovereign.paths import Node, Place, Tree
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.vocabulary import (
    Candidate,
    Decision,
    Effect,
    Exit,
    Justification,
    LogBundle,
    Observation,
    Record,
    Refusal,
    Request,
    ScopeClaim,
    Warrant,
)

EXITED, ABORTED, SESSION_BUDGET_EXHAUSTED = "EXITED", "ABORTED", "SESSION_BUDGET_EXHAUSTED"
"""How an agent or a session is over: an EXIT decision, 25 refusals in a row, the session's tokens (13.10)."""


@dataclass(frozen=True, slots=True)
class Config:
    """The fixed part of a run: the constitution, the initial tree, in a session the condition and B2.

    `most_refusals` in a row end a session; 0 lets it go on.  A `Cycle` counts refusals and tokens, a `Decide` neither.
    """

    constitution: Constitution = REFERENCE_CONSTITUTION
    tree: Tree = ()
    condition: str = ""
    session_budget: int | None = None
    most_refusals: int = 25
    readings: Readings = Readings()


@dataclass(frozen=True, slots=True)
class Held:
    """A warrant and request that an executor has checked and not yet used, and the place of the path at the check."""

    warrant: Warrant
    request: Request
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """A used warrant; `executor` names the executor that remembers it, empty for memory that all share."""

    warrant: Warrant
    executor: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """The state between two actions.

    `issued` are the warrants that the kernel issued, which the attacker has seen too.  `held` belongs to the first
    and second executor.  `owed` are log intents not yet logged.  `refusals` and `tokens` belong to a session: refusals
    in a row, and tokens spent, both bounded by where the session ends, and 0 where they end none.
    """

    tree: Tree = ()
    issued: frozenset[Warrant] = frozenset()
    spent: frozenset[Spent] = frozenset()
    held: tuple[Held | None, Held | None] = (None, None)
    owed: tuple[Record, ...] = ()
    refusals: int = 0
    tokens: int = 0
    over: str = ""


@dataclass(frozen=True, slots=True)
class Decide:
    """A cycle begins with these observations and these candidates, in this order."""

    observations: tuple[Observation, ...]
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """An executor is handed a warrant and a request.  If they are refused, it still holds what it held.

    A path is resolved at the check, too: one that leads outside, or through what is no directory, is refused there.
    That is ours; a kernel that looks at the use alone raises Unsupported for such a check.
    """

    executor: str
    warrant: Warrant
    request: Request


@dataclass(frozen=True, slots=True)
class Use:
    """An executor acts on the request that it has checked; whatever comes of it, it then holds none.

    The warrant is spent even if the disk then lets nothing be read or written, such as a file that is not there; that
    is ours.
    """

    executor: str


@dataclass(frozen=True, slots=True)
class Log:
    """The owed lines are written, under LogAppend warrants, or lost.

    The gates judge a LogAppend as they judge a candidate; it cites the first clause and claims no scope.  So all lines
    are lost where the constitution declares no LogAppend, requires more of it than a citation, has no clause for one,
    or no write path `./logs/`.

    Owed are the lines of the last decision and of what was done since; those of an earlier cycle are owed no more.
    """


@dataclass(frozen=True, slots=True)
class Mutate:
    """The attacker changes the request that an executor has checked."""

    executor: str
    request: Request


@dataclass(frozen=True, slots=True)
class Swap:
    """The attacker puts a node at a place, such as a link where a directory was; what is below stays where it is."""

    place: Place
    node: Node


@dataclass(frozen=True, slots=True)
class Restart:
    """An executor, or the host, restarts."""

    who: str


@dataclass(frozen=True, slots=True)
class Cycle:
    """A whole cycle, Observe to Log, without an attacker in between."""

    observations: tuple[Observation, ...]
    candidates: tuple[Candidate, ...] = ()


Act: TypeAlias = Decide | Check | Use | Log | Mutate | Swap | Restart | Cycle


@dataclass(frozen=True, slots=True)
class Shown:
    """The observation of a step.

    `kind` names the action, or is `rejected` where it is impossible: a use or a mutation where nothing is held, and
    whatever comes when the run is over.  `rejected` is the reason, also of a check or use that is refused.  `intents`
    are log intents of this step, `logged` and `lost` those that were written or could not be.  `effects` are the
    effects on the world, `log_warrants` the number of LogAppend warrants that the kernel issued, `log_bundles` what
    they are for.
    """

    kind: str
    decision: Decision | None = None
    effects: tuple[Effect, ...] = field(default=(), metadata=part("effect"))
    intents: tuple[Record, ...] = field(default=(), metadata=part("record"))
    logged: tuple[Record, ...] = field(default=(), metadata=part("record"))
    lost: tuple[Record, ...] = field(default=(), metadata=part("record"))
    log_warrants: int = 0
    log_bundles: tuple[LogBundle, ...] = field(default=(), metadata=part("record"))
    rejected: str = free_field("texts", "")


TYPES = (
    ActionType,
    Atom,
    Candidate,
    Check,
    Config,
    Constitution,
    Cycle,
    Decide,
    Decision,
    Effect,
    Exit,
    Held,
    IoPolicy,
    Justification,
    Limits,
    Log,
    LogBundle,
    Mutate,
    Node,
    Observation,
    Opaque,
    Readings,
    Record,
    Refusal,
    Request,
    Restart,
    ScopeClaim,
    Shown,
    Spent,
    State,
    Swap,
    Use,
    Warrant,
)
"""Every class that files of this protocol may hold."""
