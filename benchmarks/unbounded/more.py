"""More systems: locks of two, transactions, votes, and one that is not readable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NewType

import evenhand
from benchmarks.unbounded.known import Action, Known, put
from evenhand.core.system import AnySystem

Thread = NewType("Thread", int)
Thing = NewType("Thing", int)


@dataclass(frozen=True)
class Config:
    """Threads alone."""

    threads: tuple[Thread, ...]


@dataclass(frozen=True)
class Both:
    """Threads, and the things that they work on."""

    threads: tuple[Thread, ...]
    things: tuple[Thing, ...]


@dataclass(frozen=True)
class Peterson:
    """Peterson's lock (1981) between two sides, each taken by any one of the threads.

    `left` and `right` are who has the side; its line follows; `turn` is the side that goes first.
    """

    left: Thread | None
    right: Thread | None
    left_at: Literal["rest", "raised", "waiting", "inside"]
    right_at: Literal["rest", "raised", "waiting", "inside"]
    turn: Literal["left", "right"]


def peterson(faulty: bool) -> AnySystem:  # noqa: C901 - the guards of one protocol
    """Return the lock; a faulty side keeps the turn for itself."""

    def actions(config: Config, state: Peterson) -> Iterator[Action]:
        for who in config.threads:
            if state.left is None and who != state.right:
                yield ("take left", who)
            if state.right is None and who != state.left:
                yield ("take right", who)
        first = config.threads[0]
        if state.left is not None and (state.left_at != "waiting" or state.right_at == "rest" or state.turn == "left"):
            yield ("left", first)
        if state.right is not None and (
            state.right_at != "waiting" or state.left_at == "rest" or state.turn == "right"
        ):
            yield ("right", first)

    def left(state: Peterson) -> Peterson:
        match state.left_at:
            case "rest":
                return replace(state, left_at="raised")
            case "raised":
                return replace(state, left_at="waiting", turn="left" if faulty else "right")
            case "waiting":
                return replace(state, left_at="inside")
            case _:
                return replace(state, left_at="rest", left=None)

    def right(state: Peterson) -> Peterson:
        match state.right_at:
            case "rest":
                return replace(state, right_at="raised")
            case "raised":
                return replace(state, right_at="waiting", turn="right" if faulty else "left")
            case "waiting":
                return replace(state, right_at="inside")
            case _:
                return replace(state, right_at="rest", right=None)

    def step(config: Config, state: Peterson, action: Action) -> Peterson:
        match action:
            case ("take left", who):
                return replace(state, left=who)
            case ("take right", who):
                return replace(state, right=who)
            case ("left", _):
                return left(state)
            case _:
                return right(state)

    return evenhand.system(
        "peterson",
        config=Config,
        scope={"threads": 2},
        initial=lambda config: [Peterson(None, None, "rest", "rest", "left")],
        actions=actions,
        step=step,
        types=(Config, Peterson),
    )


@evenhand.always("The two sides are not both inside.", name="peterson_exclusion")
def one_side(state: Peterson) -> bool:
    """Mutual exclusion."""
    return not (state.left_at == "inside" and state.right_at == "inside")


@dataclass(frozen=True)
class Locking:
    """Two-phase locking (Eswaran et al. 1976): shared and exclusive locks, and who has begun to release."""

    shared: frozenset[tuple[Thread, Thing]]
    exclusive: frozenset[tuple[Thread, Thing]]
    shrinking: frozenset[Thread]


def two_phase_locking(faulty: bool) -> AnySystem:
    """Return the locks; the faulty table gives an exclusive lock beside shared ones."""

    def actions(config: Both, state: Locking) -> Iterator[Action]:
        for who in config.threads:
            for one in config.things:
                others = [other for other in config.threads if other != who]
                written = any((other, one) in state.exclusive for other in others)
                read = any((other, one) in state.shared for other in others)
                if who not in state.shrinking and not written:
                    yield ("read", who, one)
                    if faulty or not read:
                        yield ("write", who, one)
                if (who, one) in state.shared or (who, one) in state.exclusive:
                    yield ("release", who, one)

    def step(config: Both, state: Locking, action: Action) -> Locking:
        verb, who, one = action
        match verb:
            case "read":
                return replace(state, shared=state.shared | {(who, one)})
            case "write":
                return replace(state, exclusive=state.exclusive | {(who, one)})
            case _:
                return Locking(state.shared - {(who, one)}, state.exclusive - {(who, one)}, state.shrinking | {who})

    return evenhand.system(
        "two_phase_locking",
        config=Both,
        scope={"threads": 2, "things": 1},
        initial=lambda config: [Locking(frozenset(), frozenset(), frozenset())],
        actions=actions,
        step=step,
        types=(Both, Locking),
    )


@evenhand.always("Nobody else has a lock on what somebody writes.", name="locking_exclusive")
def no_conflict(config: Both, state: Locking) -> bool:
    """No two conflicting locks."""
    return not any(
        who != other and ((other, one) in state.shared or (other, one) in state.exclusive)
        for who, one in state.exclusive
        for other in config.threads
    )


@dataclass(frozen=True)
class Votes:
    """One vote for each voter: who has voted, and for what."""

    voted: frozenset[Thread]
    votes: frozenset[tuple[Thread, Thing]]


def voting(faulty: bool) -> AnySystem:
    """Return the ballot; the faulty one forgets who has voted."""

    def actions(config: Both, state: Votes) -> Iterator[Action]:
        yield from ((who, one) for who in config.threads for one in config.things if who not in state.voted)

    def step(config: Both, state: Votes, action: Action) -> Votes:
        who, one = action
        return Votes(state.voted if faulty else state.voted | {who}, state.votes | {(who, one)})

    return evenhand.system(
        "voting",
        config=Both,
        scope={"threads": 2, "things": 2},
        initial=lambda config: [Votes(frozenset(), frozenset())],
        actions=actions,
        step=step,
        types=(Both, Votes),
    )


@evenhand.always("Nobody votes for two things.", name="voting_once")
def votes_once(state: Votes) -> bool:
    """One vote for each."""
    return all(one == two for who, one in state.votes for other, two in state.votes if who == other)


@dataclass(frozen=True)
class ReadCopyUpdate:
    """Read-copy-update (McKenney and Slingwine 1998): the current version, old ones, freed ones, and who reads what."""

    current: Thing
    old: frozenset[Thing]
    freed: frozenset[Thing]
    reads: frozenset[tuple[Thread, Thing]]


def read_copy_update(faulty: bool) -> AnySystem:
    """Return the versions; the faulty one frees an old version at once."""

    def actions(config: Both, state: ReadCopyUpdate) -> Iterator[Action]:
        first = config.threads[0]
        for one in config.things:
            if one != state.current and one not in state.old and one not in state.freed:
                yield ("publish", first, one)
            if one in state.old and (faulty or not any((who, one) in state.reads for who in config.threads)):
                yield ("free", first, one)
        for who in config.threads:
            yield ("read", who, state.current)
            yield from (("done", who, one) for one in config.things if (who, one) in state.reads)

    def step(config: Both, state: ReadCopyUpdate, action: Action) -> ReadCopyUpdate:
        verb, who, one = action
        match verb:
            case "publish":
                return replace(state, current=one, old=state.old | {state.current})
            case "free":
                return replace(state, old=state.old - {one}, freed=state.freed | {one})
            case "read":
                return replace(state, reads=state.reads | {(who, one)})
            case _:
                return replace(state, reads=state.reads - {(who, one)})

    return evenhand.system(
        "read_copy_update",
        config=Both,
        scope={"threads": 2, "things": 3},
        initial=lambda config: [ReadCopyUpdate(config.things[0], frozenset(), frozenset(), frozenset())],
        actions=actions,
        step=step,
        types=(Both, ReadCopyUpdate),
    )


@evenhand.always("Nobody reads what is freed.", name="rcu_safe")
def none_freed(state: ReadCopyUpdate) -> bool:
    """No use after free."""
    return not any(one in state.freed for _, one in state.reads)


@dataclass(frozen=True)
class Slot:
    """A buffer of one place: what is in it, what was produced, and what was consumed."""

    holds: Thing | None
    produced: frozenset[Thing]
    consumed: frozenset[Thing]


def one_slot(faulty: bool) -> AnySystem:
    """Return the buffer; a faulty consumer leaves the thing there."""

    def actions(config: Both, state: Slot) -> Iterator[Action]:
        if state.holds is None:
            yield from (("produce", one) for one in config.things if one not in state.produced)
        else:
            yield ("consume", state.holds)

    def step(config: Both, state: Slot, action: Action) -> Slot:
        verb, one = action
        if verb == "produce":
            return replace(state, holds=one, produced=state.produced | {one})
        return replace(state, holds=one if faulty else None, consumed=state.consumed | {one})

    return evenhand.system(
        "one_slot",
        config=Both,
        scope={"threads": 1, "things": 3},
        initial=lambda config: [Slot(None, frozenset(), frozenset())],
        actions=actions,
        step=step,
        types=(Both, Slot),
    )


@evenhand.always("What is in the buffer was produced and not consumed.", name="one_slot_once")
def waits_once(state: Slot) -> bool:
    """Nothing is consumed twice."""
    return state.holds is None or (state.holds in state.produced and state.holds not in state.consumed)


@dataclass(frozen=True)
class Counters:
    """Dijkstra's ring of K states (1974): a counter for each place, below K = 4."""

    counter: tuple[int, ...]


def k_states(faulty: bool) -> AnySystem:
    """Return the ring, begun where only the first place has the privilege; the faulty first place steps at any time."""

    def actions(config: Config, state: Counters) -> Iterator[Action]:
        for who in config.threads:
            behind = state.counter[config.threads[(who - 1) % len(config.threads)]]
            first = who == config.threads[0]
            if (first and (faulty or state.counter[who] == behind)) or (not first and state.counter[who] != behind):
                yield (who, behind, first)

    def step(config: Config, state: Counters, action: Action) -> Counters:
        who, behind, first = action
        return Counters(put(state.counter, who, (state.counter[who] + 1) % 4 if first else behind))

    return evenhand.system(
        "k_states",
        config=Config,
        scope={"threads": 3},
        initial=lambda config: [Counters((0,) * len(config.threads))],
        actions=actions,
        step=step,
        types=(Config, Counters),
    )


@evenhand.always("No two places after the first differ from the one before them.", name="k_states_one_privilege")
def one_privilege(config: Config, state: Counters) -> bool:
    """At most one place but the first has the privilege."""
    return (
        len(
            {
                who
                for who in config.threads
                if who != config.threads[0]
                and state.counter[who] != state.counter[config.threads[(who - 1) % len(config.threads)]]
            }
        )
        <= 1
    )


@evenhand.always("Of three places in their order, two neighbours have the same counter.", name="k_states_one_border")
def one_border(config: Config, state: Counters) -> bool:
    """The hint: the counters change at one place at most."""
    return all(
        state.counter[x] == state.counter[y] or state.counter[y] == state.counter[z]
        for x in config.threads
        for y in config.threads
        for z in config.threads
        if x < y < z
    )


SYSTEMS = (
    Known("Peterson's lock", "Peterson 1981", "keeps the turn", peterson, one_side),
    Known("two-phase locking", "Eswaran et al. 1976", "writes beside readers", two_phase_locking, no_conflict),
    Known("voting", "one vote each", "forgets who voted", voting, votes_once),
    Known("read-copy-update", "McKenney and Slingwine 1998", "frees at once", read_copy_update, none_freed),
    Known("one-slot buffer", "textbook", "consumes and leaves", one_slot, waits_once),
    Known("K-state ring", "Dijkstra 1974", "the first steps at any time", k_states, one_privilege, (one_border,)),
)
