"""Spike: markspace's guard, its three steps interleaved, with time kept as ages.

One resource in one scope.  An agent asks (`pre`), calls its tool (`call`: in flight until the end),
and reports (`post`); the other agents and the clock act in between.  No state holds an instant: an
intent carries the seconds it has left, and its place in the tuple of intents is its write rank
(`created_at`, ties included: whoever writes first stands first).  Rank orders, life expires; renewing
a lease sets the life and leaves the rank.  So nothing counts up, and the graph closes.

Run it:  python docs/explanation/spikes/markspace_guard.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, TypeAlias

from bare_search import search

from evenhand.core.system import Scope, Step, System, reading

__all__ = ["Act", "Config", "Guard", "Intent", "Phase", "Readings", "State", "in_flight", "system"]

Policy: TypeAlias = Literal["FIRST_WRITER", "HIGHEST_CONFIDENCE", "YIELD_ALL"]
POLICIES: tuple[Policy, ...] = ("FIRST_WRITER", "HIGHEST_CONFIDENCE", "YIELD_ALL")


@dataclass(frozen=True)
class Readings:
    """The unclear sentences that this spike meets."""

    policy: Policy = "FIRST_WRITER"  # no reading but a choice of the scope: see the README, lesson 1
    lease: str = reading(
        "intent_ttl", "renewed_while_tool_runs", "renewed_since_allow", sentence="P4 with 9.1: how long an ALLOW holds"
    )
    guard_atomicity: str = reading("per_operation", "through_tool_call", sentence="6.1, 6.2, 9.2")


class Phase(Enum):
    """Where an agent stands between two calls of the guard."""

    IDLE = "idle"
    ALLOWED = "allowed"
    RUNNING = "running"


@dataclass(frozen=True)
class Config:
    """What a run cannot change.  `ttl` in whole seconds: strength is 0 for t > created_at + ttl (P4)."""

    agents: tuple[str, ...]
    ttl: int
    readings: Readings


@dataclass(frozen=True)
class Intent:
    """An active intent mark; `life` is created_at + ttl - now, so 0 is its last second of strength."""

    agent: str
    confidence: int
    life: int


@dataclass(frozen=True)
class State:
    """Intents in write order, a phase per agent, who holds the claim (P39), who waits for the principal."""

    intents: tuple[Intent, ...]
    phases: tuple[Phase, ...]
    holder: str | None = None
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Act:
    """One operation: `pre` (with a confidence), `call`, `post` (the tool may have failed), or a `tick`."""

    what: Literal["pre", "call", "post", "tick"]
    agent: str = ""
    confidence: int = 0
    failed: bool = False


@dataclass(frozen=True)
class Guard:
    """The rules, one field for each point that a reading or a mutant may change."""

    winner: Callable[[Config, tuple[Intent, ...]], str | None]
    renews: Callable[[Config, Phase], bool]
    claims: Callable[[bool], bool]


def _winner(config: Config, intents: tuple[Intent, ...]) -> str | None:
    """6.1 on intents in write order; None: the principal decides."""
    if len(intents) == 1 or config.readings.policy == "FIRST_WRITER":
        return intents[0].agent
    if config.readings.policy == "YIELD_ALL":
        return None
    return max(intents, key=lambda intent: intent.confidence).agent  # max keeps the first: ties to the earliest


def _renews(config: Config, phase: Phase) -> bool:
    kept = {"renewed_while_tool_runs": (Phase.RUNNING,), "renewed_since_allow": (Phase.ALLOWED, Phase.RUNNING)}
    return phase in kept.get(config.readings.lease, ())


GUARD = Guard(winner=_winner, renews=_renews, claims=lambda failed: not failed)


def step(rules: Guard, config: Config, state: State, act: Act) -> tuple[State, str]:
    """One operation of one agent, or one second; shows the verdict.  What is not on offer is refused."""
    if act.what == "tick":
        aged = (
            replace(intent, life=config.ttl)
            if rules.renews(config, state.phases[config.agents.index(intent.agent)])
            else replace(intent, life=intent.life - 1)
            for intent in state.intents
        )
        return replace(state, intents=tuple(intent for intent in aged if intent.life >= 0)), "tick"
    if act.agent not in config.agents:
        return state, "DENIED"
    index = config.agents.index(act.agent)
    phase = state.phases[index]
    due = {"pre": Phase.IDLE, "call": Phase.ALLOWED, "post": Phase.RUNNING}[act.what]
    if phase is not due:
        return state, "refused"

    def moved(to: Phase) -> State:
        return replace(state, phases=(*state.phases[:index], to, *state.phases[index + 1 :]))

    others = tuple(intent for intent in state.intents if intent.agent != act.agent)
    if act.what == "call":
        return moved(Phase.RUNNING), "tool called"
    if act.what == "post":  # the action supersedes its intent; a later action supersedes an earlier one (6.3)
        holder = act.agent if rules.claims(act.failed) else state.holder
        return replace(moved(Phase.IDLE), intents=others, holder=holder), "failed" if act.failed else "done"
    if config.readings.guard_atomicity == "through_tool_call" and any(p is not Phase.IDLE for p in state.phases):
        return state, "locked"
    if state.holder not in (None, act.agent):
        return state, "CONFLICT"
    intents = (*others, Intent(act.agent, act.confidence, config.ttl))  # own intents: replaced by the newest
    winner = rules.winner(config, intents)
    if winner == act.agent:
        return replace(moved(Phase.ALLOWED), intents=intents, needs=state.needs - {act.agent}), "ALLOW"
    if winner is None:
        return replace(state, intents=intents, needs=state.needs | {act.agent}), "BLOCKED"
    return replace(state, intents=intents), "CONFLICT"


def actions(config: Config, scope: Scope, state: State) -> Iterable[Act]:
    """What each agent's phase lets it do, then the clock."""
    for agent, phase in zip(config.agents, state.phases, strict=True):
        if phase is Phase.IDLE:
            yield from (Act("pre", agent, confidence) for confidence in range(scope["confidences"]))
        elif phase is Phase.ALLOWED:
            yield Act("call", agent)
        else:
            yield from (Act("post", agent, failed=failed) for failed in (False, True))
    yield Act("tick")


def in_flight(_config: Config, state: State) -> bool:
    """The bad states of mutual exclusion: two tool calls in flight on the one resource."""
    return state.phases.count(Phase.RUNNING) >= 2


def _progress(taken: Step[Config, State, Act, str]) -> bool:
    return taken.shown == "done"


system: System[Config, State, Act, str, Guard] = System(
    "markspace.guard",
    rules=GUARD,
    configs=lambda scope, readings: [
        Config(tuple(f"agent_{i + 1}" for i in range(scope["agents"])), scope["ttl"], readings)
    ],
    initial=lambda config: [State((), (Phase.IDLE,) * len(config.agents))],
    step=step,
    actions=actions,
    scope=Scope(agents=2, ttl=1, confidences=2),
    readings=Readings(),
    wants=lambda _config, state: state.holder is None,
    progress=_progress,
    types=(Config, Readings, Intent, State, Act, Phase),
)

if __name__ == "__main__":
    for policy in POLICIES:
        for lease in ("intent_ttl", "renewed_while_tool_runs", "renewed_since_allow"):
            for lock in ("per_operation", "through_tool_call"):
                found = search(system.under(policy=policy, lease=lease, guard_atomicity=lock), in_flight)
                run = "never" if found.witness is None else f"after {len(found.witness)} steps"
                print(f"{policy:18} {lease:23} {lock:17} {found.states:5} states, two tools in flight: {run}")
