"""Peterson's lock: two processes, a flag each, and whose turn it is.  Run it: `python docs/examples/peterson.py`.

Nothing here knows of `cud`: a frozen dataclass, a pure step, and claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import evenhand
from evenhand.core.system import Fairness, Scope, System


@dataclass(frozen=True)
class State:
    """Where each process is, whose flag is up, and whose turn it is."""

    at: tuple[str, str] = ("resting", "resting")
    flag: tuple[bool, bool] = (False, False)
    turn: int = 0


@dataclass(frozen=True)
class Rules:
    """What can be got wrong: whether a process gives the turn away."""

    polite: bool = True


def put(pair: tuple[Any, Any], process: int, value: Any) -> tuple[Any, Any]:
    """A pair with one entry changed."""
    return (value, pair[1]) if process == 0 else (pair[0], value)


def step(rules: Rules, _config: None, state: State, process: int) -> tuple[State, str]:
    """The next line of one process."""
    other = 1 - process
    match state.at[process]:
        case "resting":
            flag = put(state.flag, process, True)
            return replace(state, at=put(state.at, process, "flag raised"), flag=flag), "raises its flag"
        case "flag raised":
            turn = other if rules.polite else process
            return replace(state, at=put(state.at, process, "waiting"), turn=turn), "sets the turn"
        case "waiting":
            if state.flag[other] and state.turn != process:
                return state, "waits"
            return replace(state, at=put(state.at, process, "critical")), "enters"
        case _:
            flag = put(state.flag, process, False)
            return replace(state, at=put(state.at, process, "resting"), flag=flag), "leaves"


def both(_config: None, _scope: Scope, _state: State) -> Iterator[int]:
    """Either process may run its next line."""
    yield from (0, 1)


def runs(process: int) -> Fairness[State, int]:
    """A process away from rest is not left alone for ever."""
    return Fairness("weak", lambda state, chosen: chosen == process and state.at[process] != "resting")


def lock(rules: Rules, variant: str) -> System[None, State, int, str, Rules]:
    """The system under some rules."""
    return System(
        name="peterson",
        rules=rules,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (State(), State(turn=1)),
        step=step,
        actions=both,
        fair=lambda _config: {"first": runs(0), "second": runs(1)},
        types=(State,),
        actor=lambda process: ("first", "second")[process],
        variant=variant,
    )


PETERSON = lock(Rules(), "reference")
SELFISH = lock(Rules(polite=False), "selfish")


@evenhand.always("The two are never in the critical section together.")
def exclusion(state: State) -> bool:
    """Safety."""
    return state.at != ("critical", "critical")


@evenhand.reachable("The second process can enter.")
def second_enters(step: Any) -> bool:
    """The lock is not safe because it is shut."""
    return bool(step.action == 1 and step.shown == "enters")


def _raised(step: Any) -> bool:
    return bool(step.action == 0 and step.shown == "raises its flag")


@evenhand.leads_to("Who raises its flag enters.", trigger=_raised, fairness=("first", "second"))
def served(step: Any) -> bool:
    """Liveness, if both keep running."""
    return bool(step.action == 0 and step.shown == "enters")


def main() -> None:
    """Explore both."""
    for system in (PETERSON, SELFISH):
        safe = evenhand.explore(system, [exclusion, second_enters])
        live = evenhand.explore(system, [served])
        print(f"{system.variant}: {safe.states} states, {safe.transitions} steps, depth {safe.depth} ({safe.method})")
        for verdict in (*safe.verdicts, *live.verdicts):
            length = "" if verdict.evidence is None else f" ({verdict.because})"
            print(f"  {verdict.status.value:9} {verdict.claim}{length}")


if __name__ == "__main__":
    main()
