"""Peterson's mutual exclusion for two processes: safety, starvation and the assumptions of each.

A process rests, raises its flag, gives the turn away, waits until the other's flag is down or the turn is its own, and
is in the critical section.  Textbook facts: mutual exclusion holds; no process starves if both are weakly fair (away
from rest), and either may starve if they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from evenhand.core.property import Always, DeadlockFree, LeadsTo, LivelockFree, Monitor
from evenhand.core.system import Fairness, Scope, System


@dataclass(frozen=True)
class State:
    """The place of each process, and the process whose turn it is."""

    at: tuple[str, str] = ("rest", "rest")
    turn: int = 0

    def moved(self, process: int, place: str) -> State:
        """Return this state with one process in another place."""
        one, two = self.at
        return replace(self, at=(place, two) if process == 0 else (one, place))


@dataclass(frozen=True)
class Rules:
    """The functions that a mutant may change: which process gets the turn, and which may go in."""

    gives: Callable[[int], int]
    may_enter: Callable[[State, int], bool]


def lets(state: State, process: int) -> bool:
    """The reference: the other's flag is down, or the turn is mine."""
    return state.at[1 - process] == "rest" or state.turn == process


REFERENCE = Rules(lambda process: 1 - process, lets)
SELFISH = Rules(lambda process: process, lets)
STUBBORN = Rules(REFERENCE.gives, lambda state, process: state.at[1 - process] == "rest")

NEXT = {"rest": "raised", "raised": "waiting", "waiting": "critical", "critical": "rest"}


def step(rules: Rules, _config: None, state: State, process: int) -> tuple[State, str]:
    """Run the next line of one process; a blocked one is shown as such."""
    place = state.at[process]
    if place == "waiting" and not rules.may_enter(state, process):
        return state, "blocked"
    after = state.moved(process, NEXT[place])
    if place == "raised":
        after = replace(after, turn=rules.gives(process))
    return after, NEXT[place]


def fair(_config: None) -> Mapping[str, Fairness[State, int]]:
    """Return weak fairness for each process away from rest, where its next line can be run."""

    def runs(process: int) -> Callable[[State, int], bool]:
        return lambda state, chosen: chosen == process and state.at[process] != "rest"

    return {f"weak_{process}": Fairness("weak", runs(process)) for process in (0, 1)}


def peterson(
    rules: Rules = REFERENCE, variant: str = "reference", *, spins: bool = False
) -> System[None, State, int, str, Rules]:
    """Return the system; a blocked process has no action on offer, unless it `spins`."""

    def actions(_config: None, _scope: Scope, state: State) -> Iterator[int]:
        for process in (0, 1):
            if spins or state.at[process] != "waiting" or rules.may_enter(state, process):
                yield process

    return System(
        name="peterson",
        rules=rules,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (State(), State(turn=1)),
        step=step,
        actions=actions,
        fair=fair,
        types=(State,),
        variant=variant,
    )


EXCLUSION = Always(
    name="exclusion",
    sentence="The processes are not both in the critical section.",
    check=lambda _config, state: state.at != ("critical", "critical"),
)
NO_STUCK = DeadlockFree(
    name="no_stuck",
    sentence="Whoever waits can be followed by somebody entering.",
    wants=lambda _config, state: "waiting" in state.at,
    completes=lambda step: step.shown == "critical",
)
NO_OVERTAKING_TWICE = Monitor(
    name="no_overtaking_twice",
    sentence="While process 0 waits, process 1 enters at most once.",
    start=lambda _config: 0,
    update=lambda count, step: (
        0 if step.after.at[0] != "waiting" else min(2, count + (step.action == 1 and step.shown == "critical"))
    ),
    ok=lambda _config, count: count < 2,
    when=lambda _config, count: count > 0,
)


def enters(*fairness: str) -> LeadsTo:
    """Process 0 enters once it has raised its flag, under fairness."""
    return LeadsTo(
        name="enters",
        sentence="Process 0 enters once it has raised its flag.",
        trigger=lambda step: step.action == 0 and step.shown == "raised",
        goal=lambda step: step.action == 0 and step.shown == "critical",
        fairness=fairness,
    )


def waits_in_vain(*fairness: str) -> LivelockFree:
    """No process spins for ever while no process enters."""
    return LivelockFree(
        name="waits_in_vain",
        sentence="Nobody spins for ever while nobody enters.",
        attempts=lambda step: step.shown == "blocked",
        progress=lambda step: step.shown == "critical",
        fairness=fairness,
    )
