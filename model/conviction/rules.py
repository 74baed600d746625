"""Every point of the protocol that a reading or a mutant may change, and the reference."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from evenhand.core.records import dataclass, replace
from evenhand.model.conviction import clock, points, refusals, scoring
from evenhand.model.conviction.exact import Amount, Surd
from evenhand.model.conviction.scoring import Scores
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import (
    AddStake,
    Agent,
    Config,
    Entry,
    Event,
    Feedback,
    MoveStake,
    Proposal,
    Propose,
    Revise,
    Seat,
    SignalReady,
    State,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules as functions; the reference function of the same purpose documents each.

    `authenticated` and `author` concern credentials (1.2, 8.3), the `refuse_…` say why an action is rejected, `closed`
    is the seat between two Issues, `rejected` the state after a rejection, `refund` the points a revision gives back,
    `pays` the balance after feedback, `burning` the entries that finalization burns, `logged` the events in the log.
    """

    authenticated: Callable[[Agent, str], bool]
    author: Callable[[Agent], str]
    credit: Callable[[Config, Amount, Amount], Amount | None]
    self_stake: Callable[[Config, Amount, bool], Amount | None]
    penalty: Callable[[Config, Seat], Amount]
    pays: Callable[[Config, Amount, Amount], Amount]
    delta: Callable[[Config, Text, Text], Fraction]
    cost: Callable[[Config, Fraction], Amount]
    tapped: Callable[[Config, State, Seat, Amount], tuple[tuple[Entry, ...], Amount] | None]
    refund: Callable[[Config, Text, Text], Amount]
    added: Callable[[Config, tuple[Entry, ...], str, str, Amount], tuple[Entry, ...]]
    moved: Callable[[Config, tuple[Entry, ...], str, str, str, Amount], tuple[Entry, ...]]
    aged: Callable[[Config, tuple[Entry, ...]], tuple[Entry, ...]]
    touched: Callable[[Config, tuple[Proposal, ...], str, str], tuple[Proposal, ...]]
    complete: Callable[[Config, State, Seat], bool]
    may_tick: Callable[[Config, State, bool], bool]
    lagged: Callable[[Config, Seat, bool], Seat]
    kicked: Callable[[Config, Seat, bool], bool]
    fined: Callable[[Config, State], bool]
    over: Callable[[Config, State, bool, bool], bool]
    signalled: Callable[[Config, Seat], str]
    fresh: Callable[[Config, Seat], Seat]
    following: Callable[[Config, State], tuple[str, int]]
    ranked: Callable[[tuple[Proposal, ...]], tuple[Proposal, ...]]
    closed: Callable[[Config, Seat], Seat]
    refuse_after_ready: Callable[[Config, State, Seat], str]
    refuse_ready: Callable[[Config, State, Seat, SignalReady], str]
    refuse_propose: Callable[[Config, State, Seat, Propose], str]
    refuse_feedback: Callable[[Config, State, Seat, Feedback], str]
    refuse_revise: Callable[[Config, State, Seat, Revise], str]
    refuse_add: Callable[[Config, State, Seat, AddStake], str]
    refuse_move: Callable[[Config, State, Seat, MoveStake], str]
    rejected: Callable[[Config, State, str, str], State]
    weight: Callable[[Config, int], Surd]
    score: Callable[[Config, str, tuple[tuple[Entry, Surd], ...]], Surd]
    winner: Callable[[Config, State, Scores], tuple[str, str]]
    burning: Callable[[Config, State, str], tuple[Entry, ...]]
    logged: Callable[[tuple[Event, ...]], tuple[Event, ...]]


def _authenticated(agent: Agent, credential: str) -> bool:
    """Whether the credential presented is the agent's own (1.2)."""
    return agent.credential == credential


def _author(agent: Agent) -> str:
    """The public record's author: the identifier, although 8.3 asks for the credential."""
    return agent.uid


def _pays(_config: Config, balance: Amount, price: Amount) -> Amount:
    """The balance after feedback, paid in full (11.2)."""
    return balance - price


def _no_refund(_config: Config, _old: Text, _new: Text) -> Amount:
    return 0


def _closed(_config: Config, seat: Seat) -> Seat:
    """The seat between two Issues: the balance persists (18.1), the rest is cleared."""
    return Seat(seat.agent, seat.standing, seat.balance)


def _unchanged(_config: Config, state: State, _agent: str, _reason: str) -> State:
    return state


def _burning(_config: Config, state: State, _winner: str) -> tuple[Entry, ...]:
    """All stakes, on winning and losing proposals (18.2)."""
    return state.entries


def _logged(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """All events (13.1)."""
    return events


REFERENCE = Rules(
    authenticated=_authenticated,
    author=_author,
    credit=points.credit,
    self_stake=points.self_stake,
    penalty=points.penalty,
    pays=_pays,
    delta=points.delta,
    cost=points.cost,
    tapped=points.tapped,
    refund=_no_refund,
    added=points.added,
    moved=points.moved,
    aged=points.aged,
    touched=points.touched,
    complete=clock.complete,
    may_tick=clock.may_tick,
    lagged=clock.lagged,
    kicked=clock.kicked,
    fined=clock.fined,
    over=clock.over,
    signalled=clock.signalled,
    fresh=clock.fresh,
    following=clock.following,
    ranked=clock.ranked,
    closed=_closed,
    refuse_after_ready=refusals.after_ready,
    refuse_ready=refusals.ready,
    refuse_propose=refusals.propose,
    refuse_feedback=refusals.feedback,
    refuse_revise=refusals.revise,
    refuse_add=refusals.add,
    refuse_move=refusals.move,
    rejected=_unchanged,
    weight=scoring.weight,
    score=scoring.score,
    winner=scoring.winner,
    burning=_burning,
    logged=_logged,
)
"""The rules of the text, under each reading."""


def changed(**functions: object) -> Rules:
    """The reference with some functions replaced."""
    return replace(REFERENCE, **functions)  # type: ignore[arg-type]
