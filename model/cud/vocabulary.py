"""The data types of IX-2: requests, authorities, observations, log entries, configuration and state.

One action of the system is one epoch: the joint choice of all active agents, in the order in which the
kernel received them.  A choice carries no `action_id` and no `agent_id` of its own; the kernel stamps
both, and a forged one is an explicit value of a hostile choice.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.freedom import free, free_field
from evenhand.core.records import dataclass
from evenhand.model.cud.readings import Readings

READ, WRITE = "READ", "WRITE"
OPERATIONS = (READ, WRITE)
"""The two-action enum of FQ2."""

ALLOW, DENY = "ALLOW", "DENY"

DONE = "EXECUTED"
FAILURE = "JOINT_ADMISSIBILITY_FAILURE"
FAULT = "ACTION_FAULT"
IDLE = "NO_ACTION"
TOKENS = (DONE, FAILURE, FAULT, IDLE)
"""The outcome tokens, all that an agent learns of its own action (FQ5, FQ11)."""

Value: TypeAlias = Atom | Opaque
World: TypeAlias = tuple[tuple[str, Atom], ...]
"""The world state: key and JSON primitive, sorted by key (B5)."""


def target(key: str) -> str:
    """Return the canonical target of a state key (FQ6)."""
    return f"STATE:/{key}"


@dataclass(frozen=True, slots=True)
class Authority:
    """An authority artefact: pure data (FQ3, FQ15, FQ34).

    `scope` lists (target, operation) atoms.  ALLOW is a capability of `holder_agent_id`; DENY is a global
    veto, its holder provenance only.  `epoch` is when it was made; only epoch 0 is lawful (FQ26).
    """

    authority_id: str
    commitment: str
    holder_agent_id: str
    scope: tuple[tuple[str, str], ...]
    issuer_agent_id: str = "harness"
    epoch: int = 0

    def __str__(self) -> str:
        atoms = ", ".join(f"{operation} {goal.removeprefix(target(''))}" for goal, operation in self.scope)
        late = f" made in epoch {self.epoch}" if self.epoch else ""
        return f"{self.authority_id} {self.commitment} {atoms}, held by {self.holder_agent_id}{late}"

    def governs(self, key: str, operation: str) -> bool:
        """Return whether this artefact covers `operation` on `key`."""
        return (target(key), operation) in self.scope


def allow(number: int, holder: str, *pairs: tuple[str, str]) -> Authority:
    """Return ALLOW artefact `CUD-<number>` for `holder`, over (key, operation) pairs."""
    return Authority(f"CUD-{number:03d}", ALLOW, holder, tuple((target(key), op) for key, op in pairs))


def deny(number: int, *pairs: tuple[str, str], holder: str = "harness") -> Authority:
    """Return DENY artefact `CUD-<number>`, over (key, operation) pairs."""
    return Authority(f"CUD-{number:03d}", DENY, holder, tuple((target(key), op) for key, op in pairs))


@dataclass(frozen=True, slots=True)
class Request:
    """An action request (C8, FQ33).  The two ids are None unless a hostile agent forges them.

    The kernel's own id is `agent:epoch:0` (FQ1), with `*` for the epoch in a run without a frozen end.
    """

    action_type: str
    declared_scope: tuple[str, ...]
    proposed_delta: tuple[tuple[str, Value], ...] = free_field("orders", ())
    authorities_cited: tuple[str, ...] = ()
    agent_id: str | None = None
    action_id: str | None = None

    def __str__(self) -> str:
        delta = ", ".join(f"{key} := {value}" for key, value in self.proposed_delta)
        forged = [f"{name} {value!r}" for name, value in (("as", self.agent_id), ("id", self.action_id)) if value]
        parts = [
            f"{self.action_type} {', '.join(self.declared_scope) or 'nothing'}",
            *([f"with {delta}"] if delta else []),
            f"citing {', '.join(self.authorities_cited) or 'nothing'}",
            *forged,
        ]
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as an agent composes it: canonical JSON text, or something that is not JSON.

    `sender` is None unless a hostile agent forges one (FQ21).
    """

    content: str | Opaque
    sender: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One agent's choice in one epoch: exit, or at most one request and at most one message (FQ31)."""

    request: Request | None = None
    draft: Draft | None = None
    exits: bool = False

    def __str__(self) -> str:
        said = [] if self.draft is None else [f"says {self.draft}"]
        done = ["exits"] if self.exits else [str(self.request)] if self.request is not None else []
        return ", ".join(done + said) or "proposes nothing"


NO_CHOICE = Choice()
"""Proposing None (FQ5)."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """A joint action: (agent, choice) in the order of submission, which must decide nothing."""

    choices: tuple[tuple[str, Choice], ...]

    def __str__(self) -> str:
        return "; ".join(f"{agent}: {choice}" for agent, choice in self.choices) or "nobody chooses"


@dataclass(frozen=True, slots=True)
class Message:
    """A delivered message (FQ21); `epoch` is None in a run without a frozen end."""

    sender: str
    epoch: int | None
    content: str


@dataclass(frozen=True, slots=True)
class Observation:
    """All that an agent learns at the start of an epoch (FQ20)."""

    epoch: int | None
    world_state: World = field(metadata=free("orders"))
    own_last_outcome: str | None
    own_last_action_id: str | None
    own_last_declared_scope: tuple[str, ...] | None
    messages: tuple[Message, ...] = field(metadata=free("orders"))


@dataclass(frozen=True, slots=True)
class Effect:
    """One changed key: an entry of the epoch's structural diff (C10)."""

    key: str
    before: Atom
    after: Atom

    def __str__(self) -> str:
        return f"{self.key}: {self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class Entry:
    """The log's line for one submitted request, sorted by agent; no agent ever sees it.

    `verdict` says where the request ended (`ADMITTED`, `PASS_ONE`, `PASS_TWO`), `fault` is the sub-code of
    a fault (`MALFORMED_REQUEST`, `INVALID_CAPABILITY_CLAIM`, `SCOPE_VIOLATION`) or empty.
    """

    agent_id: str
    action_id: str
    request: Request
    verdict: str
    fault: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Shown:
    """The observation of an epoch: what each agent saw before it, its token, and the log.

    Everything is sorted by agent or key: the protocol orders nothing within an epoch.  An agent in the run that is not
    among the choices gets NO_ACTION.  `receipts` is anything else that an agent got with its token; an honest kernel
    hands out nothing.
    """

    seen: tuple[tuple[str, Observation], ...] = free_field("orders", (), tells="record")
    tokens: tuple[tuple[str, str], ...] = free_field("orders", ())
    receipts: tuple[tuple[str, str], ...] = free_field("orders", (), tells="record")
    log: tuple[Entry, ...] = free_field("orders", (), tells="record")
    effects: tuple[Effect, ...] = free_field("orders", (), tells="effect")
    exits: tuple[str, ...] = free_field("orders", ())
    sent: tuple[Message, ...] = free_field("orders", ())
    dropped: tuple[tuple[str, str], ...] = free_field("texts", ())
    rejected: tuple[tuple[str, str], ...] = free_field("texts", (), tells="label")


@dataclass(frozen=True, slots=True)
class Plan:
    """One line of a static strategy: `WRITE` or `READ` a key, `NONE`, `EXIT`, or `SUBMIT` the given request."""

    do: Literal["WRITE", "READ", "NONE", "EXIT", "SUBMIT"]
    key: str = ""
    request: Request | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A static strategy (A4): line t in epoch t, the last line for ever after."""

    plans: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class Partition:
    """The adaptive strategy of I.b (FQ30, FQ37): collide and send roles, then write the role's key.

    `peers` are the agents of the protocol, common knowledge, this one included.
    """

    peers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Config:
    """The fixed part of a run.

    `agents` and `world` are sorted by name, but for a run that `check` repeats under another name.  `strategies` is
    empty where the agents are free, else one per agent.  `epochs` is the frozen number of epochs, None where the run
    has no end of its own; only then is the epoch absent from the state.
    """

    agents: tuple[str, ...]
    world: World
    authorities: tuple[Authority, ...]
    strategies: tuple[Script | Partition, ...] = ()
    communication: bool = False
    epochs: int | None = None
    readings: Readings = Readings()

    @property
    def keys(self) -> tuple[str, ...]:
        """The state keys, sorted."""
        return tuple([key for key, _ in self.world])


@dataclass(frozen=True, slots=True)
class AgentState:
    """One agent: in the run or exited, its last token and scope, and its strategy's memory."""

    active: bool = True
    last: str | None = None
    last_scope: tuple[str, ...] | None = None
    memory: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """The state between two epochs; `agents` in the order of the configuration's agents.

    `mailbox` holds (sender, content) of the last epoch's messages, sorted by sender.
    """

    world: World = field(metadata=free("orders"))
    agents: tuple[AgentState, ...]
    mailbox: tuple[tuple[str, str], ...] = free_field("orders", ())
    epoch: int | None = None


TYPES = (
    AgentState,
    Atom,
    Authority,
    Choice,
    Config,
    Draft,
    Effect,
    Entry,
    Epoch,
    Message,
    Observation,
    Opaque,
    Partition,
    Plan,
    Readings,
    Request,
    Script,
    Shown,
    State,
)
"""Every class that files of this protocol may hold."""
