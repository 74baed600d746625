"""Two-phase commit, after Lamport's TLA+ specification `TwoPhase`: a system of known size.

A transaction manager asks resource managers whether they can commit; messages, once sent, stay.  Without symmetry
reduction there are 288 reachable states for three resource managers and 8,832 for five (model checkers that ship this
example report both).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from evenhand.core.property import Always, DeadlockFree, EachStep, Reachable
from evenhand.core.system import Scope, System

KNOWN_SIZES = {3: 288, 5: 8_832}
"""Reachable states by number of resource managers, as published with the example."""


@dataclass(frozen=True)
class State:
    """State of each resource manager and of the manager, those that it knows to be prepared, the messages sent."""

    rms: tuple[str, ...]
    tm: str = "init"
    prepared: frozenset[int] = frozenset()
    sent: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Rules:
    """The function that a mutant may change: when the manager commits."""

    may_commit: Callable[[State], bool]


Act = tuple[str, int]
REFERENCE = Rules(lambda state: len(state.prepared) == len(state.rms))
HASTY = Rules(lambda state: len(state.prepared) >= len(state.rms) - 1)


def possible(rules: Rules, state: State, act: Act) -> bool:
    """Return whether the specification enables the action."""
    verb, rm = act
    match verb:
        case "commit":
            return state.tm == "init" and rules.may_commit(state)
        case "abort":
            return state.tm == "init"
        case "hear":
            return state.tm == "init" and f"prepared {rm}" in state.sent
        case "prepare" | "give_up":
            return state.rms[rm] == "working"
        case "obey_commit":
            return "commit" in state.sent
        case _:
            return "abort" in state.sent


def step(rules: Rules, _config: None, state: State, act: Act) -> tuple[State, str]:
    """Take one action of the specification; an action that is not enabled is refused."""
    if not possible(rules, state, act):
        return state, "refused"
    verb, rm = act

    def turned(how: str) -> tuple[str, ...]:
        return (*state.rms[:rm], how, *state.rms[rm + 1 :])

    match verb:
        case "commit" | "abort":
            after = replace(state, tm="committed" if verb == "commit" else "aborted", sent=state.sent | {verb})
        case "hear":
            after = replace(state, prepared=state.prepared | {rm})
        case "prepare":
            after = replace(state, rms=turned("prepared"), sent=state.sent | {f"prepared {rm}"})
        case "obey_commit":
            after = replace(state, rms=turned("committed"))
        case _:
            after = replace(state, rms=turned("aborted"))
    return after, verb


def two_phase_commit(
    managers: int = 3, rules: Rules = REFERENCE, variant: str = "reference"
) -> System[None, State, Act, str, Rules]:
    """Return the system with so many resource managers; only enabled actions are on offer."""

    def actions(_config: None, scope: Scope, state: State) -> Iterator[Act]:
        verbs = ("hear", "prepare", "give_up", "obey_commit", "obey_abort")
        acts = [("commit", 0), ("abort", 0), *((verb, rm) for rm in range(scope["managers"]) for verb in verbs)]
        return (act for act in acts if possible(rules, state, act))

    return System(
        name="two_phase_commit",
        rules=rules,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (State(("working",) * managers),),
        step=step,
        actions=actions,
        scope=Scope(managers=managers),
        types=(State,),
        variant=variant,
    )


CONSISTENT = Always(
    name="consistent",
    sentence="No two resource managers decide differently.",
    check=lambda _config, state: not {"committed", "aborted"} <= set(state.rms),
)
DECISIONS_STAY = EachStep(
    name="decisions_stay",
    sentence="A decision of the manager is final.",
    when=lambda step: step.before.tm != "init",
    check=lambda step: step.before.tm == step.after.tm,
)
ALL_COMMIT = Reachable(
    name="all_commit",
    sentence="All can commit.",
    goal=lambda step: set(step.after.rms) == {"committed"},
)
CAN_DECIDE = DeadlockFree(
    name="can_decide",
    sentence="Whoever is prepared can still decide, some way.",
    wants=lambda _config, state: "prepared" in state.rms,
    completes=lambda step: step.shown.startswith("obey") and step.before != step.after,
)
CLAIMS = (CONSISTENT, DECISIONS_STAY, ALL_COMMIT, CAN_DECIDE)
