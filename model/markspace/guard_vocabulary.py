"""The guard's vocabulary: requests, running actions, verdicts (§6, §9.2, §9.3).

No state holds an instant.  An intent carries its remaining seconds, and its place in the tuple of intents is its rank
by `(created_at, id)`: rank orders, life expires, and a renewed lease keeps its rank.  A claim is the agent whose
action mark stands on the resource.  So nothing counts up, and the graphs are finite.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from evenhand.core.freedom import free_field
from evenhand.core.records import dataclass
from evenhand.core.system import Step
from evenhand.model.markspace.readings import Readings


class Policy(Enum):
    """How conflicting intents are resolved (§7.1)."""

    FIRST_WRITER = "first_writer"
    HIGHEST_CONFIDENCE = "highest_confidence"
    YIELD_ALL = "yield_all"


class Verdict(Enum):
    """The guard's answers (§9.3)."""

    ALLOW = "allow"
    CONFLICT = "conflict"
    BLOCKED = "blocked"
    DENIED = "denied"


class Phase(Enum):
    """The state of an agent between two calls of the guard."""

    IDLE = "idle"
    ALLOWED = "allowed"
    RUNNING = "running"


class What(Enum):
    """The operations.  From WARN_CLAIM on: four marks that one agent writes about another's (§2.5, §10)."""

    PRE = "pre_action"
    CALL = "call the tool"
    ABANDON = "abandon"
    POST = "post_action"
    RELEASE = "release the claim"
    BOUNDARY = "resolve_deferred"
    PRINCIPAL = "principal names the winner"
    TICK = "a second passes"
    WARN_CLAIM = "warn about the action"
    WARN_INTENT = "warn about the intent"
    SUPERSEDE_CLAIM = "supersede the action"
    SUPERSEDE_INTENT = "supersede the intent"


@dataclass(frozen=True, slots=True)
class Config:
    """The constants of a run: `ttl` in seconds, `own` the most live intents of one agent on a resource.

    `agents` may write intents and actions in the scope; `strangers` may not (but may write elsewhere).  `meddling`
    offers warnings and supersession by other agents.  Warnings have a half-life of one second.
    """

    agents: tuple[str, ...]
    resources: tuple[str, ...]
    policy: Policy
    ttl: int
    readings: Readings
    deferred: bool = False
    meddling: bool = False
    strangers: tuple[str, ...] = ("stranger",)
    own: int = 2


@dataclass(frozen=True, slots=True)
class Intent:
    """A live intent mark; `life` is created_at + ttl - now, so 0 is its last second of strength (P4).

    `fresh`: written at this very instant (kept only where ids are adversarial).  `hidden`: a warning of full strength
    stands against it at this instant (§9.5).
    """

    agent: str
    resource: str
    confidence: int
    life: int
    fresh: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Doing:
    """The activity of an agent; an agent does one thing at a time, and keeps it when a boundary allows it again."""

    phase: Phase = Phase.IDLE
    resource: str = ""


IDLE = Doing()
"""Between two requests."""


@dataclass(frozen=True, order=True, slots=True)
class Need:
    """An unresolved need mark that the guard wrote for a blocked agent (§9.2 step 6)."""

    agent: str
    resource: str


@dataclass(frozen=True, slots=True)
class State:
    """Live intents by rank; each agent's activity; per resource its claimant and the agent that the principal named.

    `warned` are the resources whose claim a warning of full strength contests at this instant.
    """

    intents: tuple[Intent, ...]
    doing: tuple[Doing, ...]
    claims: tuple[str | None, ...]
    named: tuple[str | None, ...]
    warned: frozenset[str] = frozenset()
    needs: frozenset[Need] = frozenset()

    def on(self, resource: str) -> tuple[Intent, ...]:
        """Return the intents on a resource, by rank."""
        return tuple(intent for intent in self.intents if intent.resource == resource)


@dataclass(frozen=True, slots=True)
class Act:
    """One operation.  `confidence` is a level (0 lowest); `slip`: how many marks of this instant its id precedes.

    `target` is the agent whose intent is meant (WARN_INTENT, SUPERSEDE_INTENT) or that is named (PRINCIPAL).  An action
    is meant by its resource: there is one claim, and where its holder acted more than once, all that it did is meant.
    A CALL or POST without permission is `rejected` (§7.3, P37).
    """

    what: What
    agent: str = ""
    resource: str = ""
    confidence: int = 0
    failed: bool = False
    slip: int = 0
    target: str = ""

    def __str__(self) -> str:
        return " ".join(str(part) for part in (self.agent, self.what.name, self.resource) if part) + self._details()

    def _details(self) -> str:
        told = (
            f" of {self.target}" if self.target else "",
            f" at confidence {self.confidence}" if self.confidence else "",
            " (the call failed)" if self.failed else "",
            f" (its id precedes {self.slip} of this instant)" if self.slip else "",
        )
        return "".join(told)


@dataclass(frozen=True, slots=True)
class Decision:
    """The observation of a step: the verdict with the data of §9.3, or the reason for a rejection.

    `told` are the verdicts of a boundary by agent (CONFLICT where another's action claims the resource, P39),
    `considered` the intents it looked at, `claimed_by` whose action claims it, `notified` the agent whose action was
    superseded (§6.3), `need` whether a need mark was written.
    """

    what: What
    verdict: Verdict | None = None
    reason: str = free_field("texts", "", tells="label")
    winner: Intent | None = None
    claimed_by: str | None = None
    conflicting: tuple[Intent, ...] = free_field("orders", ())
    told: tuple[tuple[str, Verdict], ...] = free_field("orders", ())
    considered: tuple[Intent, ...] = free_field("orders", (), tells="record")
    notified: str | None = None
    need: bool = False
    rejected: str = free_field("texts", "")
    note: str = field(default="")


GuardStep = Step[Config, State, Act, Decision]
TYPES: tuple[type, ...] = (Config, Readings, Policy, Verdict, Phase, What, Intent, Doing, Need, State, Act, Decision)
