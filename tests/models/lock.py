"""A lock that several processes want: the smallest system with safety, fairness, deadlock and symmetry.

A process is `out`, `waiting` or `in`.  A waiting process may enter while none is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from evenhand.core.property import (
    Always,
    Commute,
    DeadlockFree,
    DeterminedBy,
    EachStep,
    Eventually,
    LeadsTo,
    LivelockFree,
    Monitor,
    Reachable,
    TwoRun,
)
from evenhand.core.system import Fairness, Scope, System


@dataclass(frozen=True)
class Config:
    """The processes."""

    processes: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """The place of each process, by name."""

    at: tuple[tuple[str, str], ...]

    def of(self, process: str) -> str:
        """Return the place of `process`; `nowhere` if there is no such process."""
        return dict(self.at).get(process, "nowhere")

    def moved(self, process: str, place: str) -> State:
        """Return this state with `process` in another place."""
        return State(tuple((name, place if name == process else old) for name, old in self.at))

    def inside(self) -> tuple[str, ...]:
        """Return the processes in the critical section."""
        return tuple(name for name, place in self.at if place == "in")


@dataclass(frozen=True)
class Act:
    """One process does one thing: `ask`, `enter`, `leave`, `idle`."""

    verb: str
    process: str


@dataclass(frozen=True)
class Rules:
    """The functions that a mutant may change: may a process enter, and the effect of leaving."""

    may_enter: Callable[[Config, State, str], bool]
    left: Callable[[State, str], State]


LockSystem = System[Config, State, Act, str, Rules]

FROM = {"ask": "out", "enter": "waiting", "leave": "in"}


def nobody_inside(_config: Config, state: State, _process: str) -> bool:
    """The reference: enter while no process is in."""
    return not state.inside()


def goes_out(state: State, process: str) -> State:
    """The reference: a process that leaves is out."""
    return state.moved(process, "out")


REFERENCE = Rules(nobody_inside, goes_out)


def step(rules: Rules, config: Config, state: State, act: Act) -> tuple[State, str]:
    """Take an action. Total: an impossible one is shown as `refused`."""
    if act.verb == "idle":
        return state, "idle"
    if state.of(act.process) != FROM.get(act.verb):
        return state, "refused"
    if act.verb == "ask":
        return state.moved(act.process, "waiting"), "waiting"
    if act.verb == "enter":
        if not rules.may_enter(config, state, act.process):
            return state, "refused"
        return state.moved(act.process, "in"), "in"
    return rules.left(state, act.process), "out"


def actions(config: Config, _scope: Scope, state: State) -> Iterator[Act]:
    """Yield the actions that each process may try: its next verb, and idling."""
    for process in config.processes:
        yield Act("idle", process)
        for verb, place in FROM.items():
            if state.of(process) == place:
                yield Act(verb, process)


def configs(scope: Scope, _readings: object) -> Iterable[Config]:
    """Yield one configuration: `p0` … for as many processes as the scope says."""
    return (Config(tuple(f"p{i}" for i in range(scope["processes"]))),)


def initial(config: Config) -> Iterable[State]:
    """Return the state with all processes out."""
    return (State(tuple((name, "out") for name in config.processes)),)


def smaller(config: Config, start: State) -> Iterator[tuple[Config, State]]:
    """Yield the same with one process less."""
    for gone in config.processes if len(config.processes) > 1 else ():
        rest = tuple(name for name in config.processes if name != gone)
        yield Config(rest), State(tuple(entry for entry in start.at if entry[0] != gone))


def fair(config: Config) -> Mapping[str, Fairness[State, Act]]:
    """Return weak and strong fairness for entering, per process; entering is on offer where it would succeed."""

    def entering(process: str) -> Callable[[State, Act], bool]:
        return lambda state, act: act == Act("enter", process) and not state.inside()

    def leaving(_state: State, act: Act) -> bool:
        return act.verb == "leave"

    weak = {f"weak_{p}": Fairness[State, Act]("weak", entering(p)) for p in config.processes}
    strong = {f"strong_{p}": Fairness[State, Act]("strong", entering(p)) for p in config.processes}
    return {**weak, **strong, "leave": Fairness[State, Act]("weak", leaving)}


def lock(processes: int = 2, rules: Rules = REFERENCE, variant: str = "reference") -> LockSystem:
    """Return the system at a size, under some rules."""
    return System(
        "lock",
        rules,
        configs,
        initial,
        step,
        actions=actions,
        scope=Scope(processes=processes),
        fair=fair,
        smaller=smaller,
        types=(Config, State, Act),
        variant=variant,
    )


def anyone(_config: Config, _state: State, _process: str) -> bool:
    """A mutant: enter at any time."""
    return True


def p0_first(_config: Config, state: State, process: str) -> bool:
    """A mutant: p0 enters at any time."""
    return not state.inside() or process == "p0"


def not_after_anybody(_config: Config, state: State, _process: str) -> bool:
    """A mutant: only while no process has ever left."""
    return all(place in ("out", "waiting") for _, place in state.at)


def jams(state: State, process: str) -> State:
    """A mutant: a process that leaves never comes back."""
    return state.moved(process, "jammed")


CARELESS = replace(REFERENCE, may_enter=anyone)
FAVOURS_FIRST = replace(REFERENCE, may_enter=p0_first)
JAMS = replace(REFERENCE, left=jams)
SEALS = replace(REFERENCE, may_enter=not_after_anybody, left=jams)

MUTUAL_EXCLUSION = Always(
    name="mutual_exclusion",
    sentence="At most one process is inside.",
    check=lambda _config, state: len(state.inside()) <= 1,
)
REFUSALS_CHANGE_NOTHING = EachStep(
    name="refusals_change_nothing",
    sentence="A refused act leaves the state.",
    when=lambda step: step.shown == "refused",
    check=lambda step: step.before == step.after,
)
SOMEBODY_ENTERS = Reachable(
    name="somebody_enters", sentence="A process can enter.", goal=lambda step: step.shown == "in"
)
NOBODY_FLIES = Reachable(name="nobody_flies", sentence="A process can fly.", goal=lambda step: step.shown == "fly")
AT_MOST_TWO_ENTRIES = Monitor(
    name="at_most_two_entries",
    sentence="Nobody enters a third time (false on purpose: three entries are easy).",
    start=lambda _config: 0,
    update=lambda count, step: min(3, count + (step.shown == "in")),
    ok=lambda _config, count: count < 3,
)
BY_PLACE = DeterminedBy(
    name="by_place",
    sentence="What is shown depends on the verb, the process's own place, and whether somebody is inside.",
    key=lambda step: (step.action.verb, step.before.of(step.action.process), bool(step.before.inside())),
    value=lambda step: step.shown,
)


def swapped(process: str) -> str:
    """Return a name with p0 and p1 exchanged."""
    return {"p0": "p1", "p1": "p0"}.get(process, process)


def swap(state: State) -> State:
    """Return the state with p0 and p1 exchanged, in the order of the configuration."""
    return State(tuple((name, state.of(swapped(name))) for name, _ in state.at))


ANONYMOUS = TwoRun(
    name="anonymous",
    sentence="Exchanging p0 and p1 changes nothing but their names.",
    twins=lambda config, _state, _action: ("swap",) if {"p0", "p1"} <= set(config.processes) else (),
    config=lambda _w, config: config,
    state=lambda _w, _config, state: swap(state),
    other=lambda _w, act: (Act(act.verb, swapped(act.process)),),
    agree=lambda _w, step, other: other is not None and other.shown == step.shown and other.after == swap(step.after),
)
ASKS_COMMUTE = Commute(
    name="asks_commute",
    sentence="Two processes may ask in either order.",
    pairs=lambda _config, _state, enabled: (
        (one, two) for one in enabled for two in enabled if one.verb == two.verb == "ask" and one.process < two.process
    ),
    same=lambda _config, one, two: one.after == two.after,
)
ENTRIES_COMMUTE = Commute(
    name="entries_commute",
    sentence="Two processes may enter in either order (false: the first one wins).",
    pairs=lambda _config, _state, enabled: (
        (one, two)
        for one in enabled
        for two in enabled
        if one.verb == two.verb == "enter" and one.process < two.process
    ),
    same=lambda _config, one, two: one.after == two.after,
)


def enters(*fairness: str) -> LeadsTo:
    """p0 enters some time after it asked, under fairness."""
    return LeadsTo(
        name="p0_enters",
        sentence="Whoever asks enters.",
        trigger=lambda step: step.action == Act("ask", "p0"),
        goal=lambda step: step.action.process == "p0" and step.shown == "in",
        fairness=fairness,
    )


def somebody_in(*fairness: str) -> Eventually:
    """Some process enters at some time, under fairness."""
    return Eventually(
        name="somebody_in", sentence="Somebody enters.", goal=lambda step: step.shown == "in", fairness=fairness
    )


def no_livelock(*fairness: str) -> LivelockFree:
    """Acting for ever lets processes in for ever."""
    return LivelockFree(
        name="no_livelock",
        sentence="Nobody is refused for ever while nobody enters.",
        attempts=lambda step: step.action.verb == "enter",
        progress=lambda step: step.shown == "in",
        fairness=fairness,
    )


NO_DEADLOCK = DeadlockFree(
    name="no_deadlock",
    sentence="Whoever waits can get in, some way.",
    wants=lambda _config, state: any(place == "waiting" for _, place in state.at),
    completes=lambda step: step.shown == "in",
)
