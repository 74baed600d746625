"""The vocabulary of the conviction-staking consensus: constants, Issues, actions, state, events.

An action is one submission of one agent under a credential, or one tick of the external scheduler.  The state holds no
unbounded counter: `ledger` stamps sequence numbers, absolute ticks and revision numbers by folding the events.  Only
the order of LastStakeTick matters, so a proposal keeps its rank: 0 for the running tick, then 1, 2, … for earlier ticks
that are still the last of some proposal, None for never.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import Any, TypeAlias

from evenhand.core.freedom import free, free_field
from evenhand.core.parts import part
from evenhand.core.records import dataclass
from evenhand.core.text import describe
from evenhand.model.conviction.exact import Amount, Surd
from evenhand.model.conviction.readings import Readings
from evenhand.model.conviction.texts import Text

IDLE, PROPOSE, FEEDBACK, REVISE = "IDLE", "PROPOSE", "FEEDBACK", "REVISE"
STAKE, FINALIZE, CLOSED = "STAKE", "FINALIZE", "CLOSED"
BURNS = ("FeedbackStake", "KickOutPenalty", "AutoStakeTap")
"""The reasons that the text gives for the loss of points (13.2, 14.2)."""

PHASES = (IDLE, PROPOSE, FEEDBACK, REVISE, STAKE, FINALIZE, CLOSED)
"""The phases (12): IDLE awaits the tick that opens the next Issue, CLOSED is the end of the last one.

FINALIZE lasts for a tick, in which the Issue is decided; neither that tick nor the one that opens an Issue logs a Tick.
A kernel that decides at the end of the last round keeps what it shows of that for the next tick.
"""

STRANGER, INVITED, ENROLLED = "stranger", "invited", "enrolled"
"""The standing of an agent (1.1, 7.1)."""

ACTED, READY = "acted", "ready"
"""The signal of an agent in the running tick; the empty text is none.  ACTED is kept only where it counts."""

NO_ACTION = "NoAction"
"""The identifier of the canonical proposal where it is shared."""

ADMINISTRATOR, SCHEDULER = "key of the administrator", "key of the scheduler"
"""The credentials of the two actors that are not agents."""

REJECTIONS = (
    "InvalidCredential",
    "UnknownAgent",
    "AlreadyInvited",
    "MaximumCreditExceeded",
    "AlreadyEnrolled",
    "NotEnrolled",
    "NoOpenIssue",
    "NotAssigned",
    "WrongPhase",
    "AlreadyReady",
    "PayloadRequired",
    "SecondProposal",
    "MissingField",
    "NotUnique",
    "UnknownProposal",
    "OwnProposal",
    "CanonicalProposal",
    "FeedbackTooLong",
    "FeedbackLimitReached",
    "InsufficientCredit",
    "NotOffered",
    "InvalidAmount",
    "SameProposal",
    "InsufficientStake",
    "TickRefused",
)
"""Every reason to reject an action, by the name of its event."""

NAMED = ("InsufficientCredit", "FeedbackLimitReached", "FeedbackTooLong")
"""The reasons that the text names (11.4 to 11.6, 14.2); the names of the others, and which comes first, are ours."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Section 5 and the numbers for readings of 4.4 and 16.1; amounts in points, times in ticks or rounds.

    `stake_rounds` is 0 where the reading of that name gives the number.
    """

    invite_payment: int = 100
    maximum_credit: int = 100
    self_stake: int = 50
    think_ticks: int = 3
    penalty: int = 0
    feedback_stake: int = 5
    feedback_limit: int = 3
    feedback_length: int = 500
    greatest: Fraction = Fraction(2)
    fraction: Fraction = Fraction(98, 100)
    saturation: int = 5
    stake_rounds: int = 0


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent's record (10.1), its initial standing and its grant at that time (None: the payment)."""

    uid: str
    name: str
    credential: str
    standing: str = ENROLLED
    granted: int | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """An Issue (3.2, 3.3), its assigned agents (7.2) and its number of (FEEDBACK, REVISE) cycles (12.3)."""

    uid: str
    assigned: tuple[str, ...]
    cycles: int = 2
    problem: str | None = "a decision is to be made"
    background: str | None = "facts and constraints"
    context: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """The constants of a run; searches choose from `texts` and `amounts`."""

    agents: tuple[Agent, ...]
    issues: tuple[Issue, ...]
    constants: Constants = Constants()
    texts: tuple[Text, ...] = ()
    amounts: tuple[Amount, ...] = (1,)
    readings: Readings = Readings()

    @property
    def rounds(self) -> int:
        """The number of STAKE rounds of an Issue (16.1)."""
        return self.constants.stake_rounds or self.readings.stake_rounds

    def agent(self, uid: str) -> Agent | None:
        """The agent of this identifier; None if there is none."""
        return next((agent for agent in self.agents if agent.uid == uid), None)


@dataclass(frozen=True, slots=True)
class Seat:
    """One agent in a state.

    `assigned` concerns the open Issue, as do `timer` (ticks of the phase without completion), `signal`, `feedback`
    (entries submitted) and `proposal` (identifier; empty for none).
    """

    agent: str
    standing: str
    balance: Amount
    assigned: bool = False
    timer: int = 0
    signal: str = ""
    feedback: int = 0
    proposal: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal of the open Issue: `text` is None for NoAction, `author` is empty for a shared one.

    `uid` is the author's, so the same in each Issue: tokens that count on from one Issue to the next do not fit it.
    `substituted` is true if the protocol assigned it (9.3); `last` is the rank of its LastStakeTick.
    """

    uid: str
    author: str
    text: Text | None
    substituted: bool = False
    last: int | None = None


@dataclass(frozen=True, order=True, slots=True)
class Entry:
    """Stake of one owner on one proposal, all held for the same number of rounds."""

    owner: str
    proposal: str
    held: int
    amount: Amount


@dataclass(frozen=True, slots=True)
class State:
    """The state between two actions: `issue` is the index of the open Issue (in IDLE, of the next).

    `turn` is the number of the cycle in FEEDBACK and REVISE, of the round in STAKE, else 0.  `proposals` and
    `entries` are sorted.  `burned` and `granted` are bounded by the points ever allocated.
    """

    issue: int
    phase: str
    turn: int
    seats: tuple[Seat, ...]
    proposals: tuple[Proposal, ...] = ()
    entries: tuple[Entry, ...] = ()
    burned: Amount = 0
    granted: Amount = 0

    def seat(self, agent: str) -> Seat | None:
        """The seat of an agent; None if there is none."""
        return next((seat for seat in self.seats if seat.agent == agent), None)

    def proposal(self, uid: str) -> Proposal | None:
        """The proposal of this identifier; None if there is none."""
        return next((one for one in self.proposals if one.uid == uid), None)


@dataclass(frozen=True, slots=True)
class Invite:
    """The administrator invites an agent (1.1)."""

    agent: str
    credential: str

    def __str__(self) -> str:
        return f"invite {self.agent}, by {self.credential}"


@dataclass(frozen=True, slots=True)
class Enrol:
    """An agent accepts its invitation and authenticates (7.1)."""

    agent: str
    credential: str

    def __str__(self) -> str:
        return f"{self.agent} enrols, by {self.credential}"


@dataclass(frozen=True, slots=True)
class Propose:
    """An agent submits a proposal, or the canonical NoAction if `text` is None (6.1)."""

    agent: str
    credential: str
    text: Text | None

    def __str__(self) -> str:
        return f"{self.agent} proposes {describe(self.text) if self.text else NO_ACTION}, by {self.credential}"


@dataclass(frozen=True, slots=True)
class SignalReady:
    """An agent signals READY for the running tick (9.2)."""

    agent: str
    credential: str

    def __str__(self) -> str:
        return f"{self.agent} is ready, by {self.credential}"


@dataclass(frozen=True, slots=True)
class Feedback:
    """An agent comments on a proposal (11)."""

    agent: str
    credential: str
    proposal: str
    comment: str

    def __str__(self) -> str:
        return f"{self.agent} comments {self.comment!r} on {self.proposal}, by {self.credential}"


@dataclass(frozen=True, slots=True)
class Revise:
    """An agent replaces the text of its own proposal (14)."""

    agent: str
    credential: str
    text: Text

    def __str__(self) -> str:
        return f"{self.agent} revises its proposal to {describe(self.text)}, by {self.credential}"


@dataclass(frozen=True, slots=True)
class AddStake:
    """An agent stakes liquid points on a proposal (A 16.3)."""

    agent: str
    credential: str
    proposal: str
    amount: Amount

    def __str__(self) -> str:
        return f"{self.agent} stakes {self.amount} on {self.proposal}, by {self.credential}"


@dataclass(frozen=True, slots=True)
class MoveStake:
    """An agent moves staked points to another proposal (A 16.3)."""

    agent: str
    credential: str
    source: str
    target: str
    amount: Amount

    def __str__(self) -> str:
        return f"{self.agent} moves {self.amount} from {self.source} to {self.target}, by {self.credential}"


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of the external scheduler (9.4).

    No section says what it does where the next Issue lacks a problem or background; `check` ends the run before that.
    """

    credential: str = SCHEDULER

    def __str__(self) -> str:
        return "tick" if self.credential == SCHEDULER else f"tick, by {self.credential}"


Act: TypeAlias = Invite | Enrol | Propose | SignalReady | Feedback | Revise | AddStake | MoveStake | Tick


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the log (13.1), before `ledger` stamps sequence number and tick.

    `reason` says why points were burned or an action was rejected; `data` holds the fields that only this kind has.
    A Burn names a proposal only for stake at the end of an Issue (13.2 lists no proposal); leave it out elsewhere.
    What moves no points, such as a self-stake of 0, is no state-changing action (13.1): it has no Staked and no Burn.

    `score` and `scores` of a Finalize are the sums under the root of 17.1.  A PhaseBegan has a `turn`, in FINALIZE 0,
    in PROPOSE none.  What a kernel does not tell of `data` stands there as `["turn", {"$unknown": true}]`.
    """

    kind: str
    agent: str = ""
    proposal: str = ""
    amount: Amount = 0
    reason: str = free_field("codes", "", named=(*NAMED, *BURNS, *PHASES))
    issue: str = ""
    data: tuple[tuple[str, Any], ...] = free_field("orders", ())

    def get(self, name: str) -> Any:
        """A field of `data`; None if there is none."""
        return next((value for key, value in self.data if key == name), None)


@dataclass(frozen=True, slots=True)
class Shown:
    """The observation of a step: the events it logs, and why the action was rejected (empty: accepted).

    Of several events of one step, such as the burns at the end of an Issue, no section says which comes first.
    """

    events: tuple[Event, ...] = field(metadata={**free("orders"), **part("effect")})
    rejected: str = free_field("codes", "", named=NAMED)


TYPES = (
    AddStake,
    Agent,
    Config,
    Constants,
    Enrol,
    Entry,
    Event,
    Feedback,
    Invite,
    Issue,
    MoveStake,
    Proposal,
    Propose,
    Readings,
    Revise,
    Seat,
    Shown,
    SignalReady,
    State,
    Surd,
    Text,
    Tick,
)
"""Every class that files of this protocol may contain."""
