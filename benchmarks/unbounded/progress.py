"""Systems that must get somewhere: claims about whole runs, which are proved by a rank that fair steps lower."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NewType

import evenhand
from benchmarks.unbounded.known import Action, Known, each, put
from evenhand.core.system import AnySystem

Node = NewType("Node", int)


@dataclass(frozen=True)
class Config:
    """Nodes alone."""

    nodes: tuple[Node, ...]


def _any_action(state: Any, action: Action) -> bool:
    return bool(action[0] != "idle")


GOES = {"somebody goes on": evenhand.Fairness("weak", _any_action)}


@dataclass(frozen=True)
class Round:
    """A token on its way along the nodes (Le Lann 1977): where it is, and whether its round is over."""

    at: Node
    over: bool


def token_round(faulty: bool) -> AnySystem:
    """Return the round; the last node may keep the token if it is faulty."""

    def actions(config: Config, state: Round) -> Iterator[Action]:
        yield ("idle",)
        if not state.over:
            yield ("pass",)

    def step(config: Config, state: Round, action: Action) -> Round:
        match action:
            case ("pass",):
                after = config.nodes[(state.at + 1) % len(config.nodes)]
                return Round(after, after == config.nodes[0] and not faulty)
            case _:
                return state

    return evenhand.system(
        "token_round",
        config=Config,
        scope={"nodes": 3},
        initial=lambda config: [Round(config.nodes[0], False)],
        actions=actions,
        step=step,
        fair=GOES,
        types=(Config, Round),
    )


@evenhand.eventually("The token comes round.", fairness=("somebody goes on",), name="token_comes_round")
def comes_round(step: Any) -> bool:
    """The round ends."""
    return bool(step.after.over)


@dataclass(frozen=True)
class Barrier:
    """A barrier: who has arrived, and whether it is open."""

    arrived: frozenset[Node]
    opened: bool


def barrier(faulty: bool) -> AnySystem:
    """Return the barrier; who is faulty may leave again."""

    def actions(config: Config, state: Barrier) -> Iterator[Action]:
        yield ("idle", config.nodes[0])
        for node in config.nodes:
            if node not in state.arrived:
                yield ("arrive", node)
            elif faulty and not state.opened:
                yield ("leave", node)
        if not state.opened and all(node in state.arrived for node in config.nodes):
            yield ("open", config.nodes[0])

    def step(config: Config, state: Barrier, action: Action) -> Barrier:
        match action:
            case ("arrive", node):
                return replace(state, arrived=state.arrived | {node})
            case ("leave", node):
                return replace(state, arrived=state.arrived - {node})
            case ("open", _):
                return replace(state, opened=True)
            case _:
                return state

    return evenhand.system(
        "barrier_opens",
        config=Config,
        scope={"nodes": 3},
        initial=lambda config: [Barrier(frozenset(), False)],
        actions=actions,
        step=step,
        fair=GOES,
        types=(Config, Barrier),
    )


@evenhand.eventually("The barrier opens.", fairness=("somebody goes on",), name="barrier_opens")
def opens(step: Any) -> bool:
    """It opens."""
    return bool(step.after.opened)


Vote = Literal["none", "yes", "no"]


@dataclass(frozen=True)
class Commit:
    """Two-phase commit (Gray 1978): the votes, and what was decided."""

    votes: tuple[Vote, ...]
    begun: bool
    decided: Literal["open", "commit", "abort"]


def two_phase(faulty: bool) -> AnySystem:
    """Return the protocol; the faulty coordinator decides nothing where somebody voted no."""

    def actions(config: Config, state: Commit) -> Iterator[Action]:
        if not state.begun:
            yield ("begin", config.nodes[0])
            yield ("idle", config.nodes[0])
        for node in config.nodes:
            if state.begun and state.votes[node] == "none":
                yield ("yes", node)
                yield ("no", node)
        voted = state.decided == "open" and state.begun and all(one != "none" for one in state.votes)
        if voted and (not faulty or all(one == "yes" for one in state.votes)):
            yield ("decide", config.nodes[0])

    def step(config: Config, state: Commit, action: Action) -> Commit:
        match action:
            case ("begin", _):
                return replace(state, begun=True)
            case ("yes", node):
                return replace(state, votes=put(state.votes, node, "yes"))
            case ("no", node):
                return replace(state, votes=put(state.votes, node, "no"))
            case ("decide", _):
                return replace(state, decided="commit" if all(one == "yes" for one in state.votes) else "abort")
            case _:
                return state

    return evenhand.system(
        "two_phase_commit_decides",
        config=Config,
        scope={"nodes": 3},
        initial=lambda config: [Commit(each("none", config.nodes), False, "open")],
        actions=actions,
        step=step,
        fair=GOES,
        types=(Config, Commit),
    )


@evenhand.leads_to(
    "What is begun is decided.",
    trigger=lambda step: step.action[0] == "begin",
    fairness=("somebody goes on",),
    name="two_phase_commit_decides",
)
def decides(step: Any) -> bool:
    """It decides."""
    return bool(step.after.decided != "open")


@dataclass(frozen=True)
class Waiting:
    """Who waits for the lock, and who has it."""

    waiting: frozenset[Node]
    holder: Node | None


def handed_on(faulty: bool) -> AnySystem:
    """Return a lock whose clients give up after one turn; a faulty one asks again at once."""

    def actions(config: Config, state: Waiting) -> Iterator[Action]:
        for node in config.nodes:
            if state.holder is None and node in state.waiting:
                yield ("enter", node)
            if state.holder == node:
                yield ("leave", node)

    def step(config: Config, state: Waiting, action: Action) -> Waiting:
        match action:
            case ("enter", node):
                return Waiting(state.waiting - {node}, node)
            case (_, node):
                return Waiting(state.waiting | {node} if faulty else state.waiting, None)
            case _:
                return state

    return evenhand.system(
        "handed_on",
        config=Config,
        scope={"nodes": 3},
        initial=lambda config: [Waiting(frozenset(config.nodes), None)],
        actions=actions,
        step=step,
        types=(Config, Waiting),
    )


@evenhand.eventually("The last client leaves.", name="last_leaves")
def last_leaves(step: Any) -> bool:
    """All are served once."""
    return bool(step.after.holder is None and not step.after.waiting)


SYSTEMS = (
    Known("barrier that opens", "folklore", "who arrived may leave", barrier, opens),
    Known("two-phase commit that decides", "Gray 1978", "no decision on a no", two_phase, decides),
    Known("lock that empties", "Lamport 1974", "asks again at once", handed_on, last_leaves),
    Known("token round", "Le Lann 1977", "the round never ends", token_round, comes_round),
)
