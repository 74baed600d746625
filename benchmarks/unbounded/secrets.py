"""Systems that must not tell: claims about two runs, which are proved with two copies of the system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NewType

import evenhand
from benchmarks.unbounded.known import Action, Known, each, put
from evenhand.core.system import AnySystem

Process = NewType("Process", int)


@dataclass(frozen=True)
class Config:
    """Processes alone."""

    processes: tuple[Process, ...]


@dataclass(frozen=True)
class Kernel:
    """A separation kernel (Rushby 1981): who has the processor, how many ticks there were, and who wants something."""

    turn: Process
    ticks: int
    busy: frozenset[Process]


def kernel(faulty: bool) -> AnySystem:
    """Return the kernel with a fixed order of turns; the faulty one passes over those that want nothing."""

    def actions(config: Config, state: Kernel) -> Iterator[Action]:
        yield ("tick",)
        if state.turn in state.busy:
            yield ("rest", state.turn)
        else:
            yield ("work", state.turn)

    def step(config: Config, state: Kernel, action: Action) -> Kernel:
        match action:
            case ("work", who):
                return replace(state, busy=state.busy | {who})
            case ("rest", who):
                return replace(state, busy=state.busy - {who})
            case _:
                after = config.processes[(state.turn + 1) % len(config.processes)]
                further = config.processes[(after + 1) % len(config.processes)]
                return replace(state, ticks=state.ticks + 1, turn=further if faulty and after in state.busy else after)

    return evenhand.system(
        "separation_kernel",
        config=Config,
        scope={"processes": 3},
        initial=lambda config: [Kernel(config.processes[0], 0, frozenset())],
        actions=actions,
        step=step,
        types=(Config, Kernel),
    )


@evenhand.determined_by(
    "Whose turn it is depends on the number of ticks alone.", key=lambda step: step.after.ticks, name="kernel_turns"
)
def turns(step: Any) -> Any:
    """No process can signal to another by its use of the processor."""
    return step.after.turn


@evenhand.always("The ticks are counted from 0.", name="kernel_counts")
def counts(state: Kernel) -> bool:
    """A hint."""
    return state.ticks >= 0


@dataclass(frozen=True)
class Levels:
    """Files of two levels (Bell and LaPadula 1973): who is cleared, what is in the low file and in the high one."""

    cleared: frozenset[Process]
    low: Literal["0", "1"]
    high: Literal["0", "1"]
    held: tuple[Literal["0", "1"], ...]


def levels(faulty: bool) -> AnySystem:
    """Return the files; a faulty low file takes what a cleared process has read."""

    def actions(config: Config, state: Levels) -> Iterator[Action]:
        for who in config.processes:
            if who in state.cleared:
                yield ("read high", who)
                yield ("write high", who)
                if faulty:
                    yield ("write low", who)
            else:
                yield ("read low", who)
                yield ("flip", who)
                yield ("write low", who)
                yield ("write high", who)

    def step(config: Config, state: Levels, action: Action) -> Levels:
        match action:
            case ("read high", who):
                return replace(state, held=put(state.held, who, state.high))
            case ("read low", who):
                return replace(state, held=put(state.held, who, state.low))
            case ("flip", who):
                return replace(state, held=put(state.held, who, "1" if state.held[who] == "0" else "0"))
            case ("write high", who):
                return replace(state, high=state.held[who])
            case (_, who):
                return replace(state, low=state.held[who])
            case _:
                return state

    def initial(config: Config) -> Iterator[Levels]:
        for who in config.processes:
            yield Levels(frozenset({who}), "0", "0", each("0", config.processes))

    return evenhand.system(
        "levels",
        config=Config,
        scope={"processes": 3},
        initial=initial,
        actions=actions,
        step=step,
        types=(Config, Levels),
    )


def _seen_before(step: Any) -> Any:
    who = step.action[1]
    return (
        step.action,
        step.before.low,
        who in step.before.cleared or step.before.held[who] == "0",
        step.before.cleared,
    )


@evenhand.determined_by(
    "What a step makes of the low file depends on what uncleared processes know.",
    key=_seen_before,
    name="levels_low",
)
def low_file(step: Any) -> Any:
    """The simple security property and the star property, as one claim about two runs."""
    return step.after.low


@dataclass(frozen=True)
class Auction:
    """A sealed-bid auction (Vickrey 1961): the bids, who has bid, whether all is opened, and what each is shown."""

    bids: tuple[Literal["none", "small", "big"], ...]
    opened: bool
    shown: tuple[Literal["nothing", "somebody bid", "a big bid"], ...]


def auction(faulty: bool) -> AnySystem:
    """Return the auction; the faulty one tells before it is opened that a big bid is in."""

    def told(state: Auction) -> Literal["nothing", "somebody bid", "a big bid"]:
        if faulty and any(one == "big" for one in state.bids):
            return "a big bid"
        return "somebody bid" if any(one != "none" for one in state.bids) else "nothing"

    def actions(config: Config, state: Auction) -> Iterator[Action]:
        for who in config.processes:
            if not state.opened and state.bids[who] == "none":
                yield ("small", who)
                yield ("big", who)
            yield ("look", who)
        if not state.opened:
            yield ("open", config.processes[0])

    def step(config: Config, state: Auction, action: Action) -> Auction:
        match action:
            case ("open", _):
                return replace(state, opened=True)
            case ("look", who):
                open_ = state.opened and any(one == "big" for one in state.bids)
                return replace(state, shown=put(state.shown, who, "a big bid" if open_ else told(state)))
            case ("small", who):
                return replace(state, bids=put(state.bids, who, "small"))
            case (_, who):
                return replace(state, bids=put(state.bids, who, "big"))
            case _:
                return state

    return evenhand.system(
        "auction",
        config=Config,
        scope={"processes": 3},
        initial=lambda config: [Auction(each("none", config.processes), False, each("nothing", config.processes))],
        actions=actions,
        step=step,
        types=(Config, Auction),
    )


def _who_bid(step: Any) -> Any:
    return (step.action, tuple(one == "none" for one in step.before.bids))


@evenhand.determined_by(
    "Before the opening a look shows what follows from who has bid, whatever they bid.",
    key=_who_bid,
    when=lambda step: step.action[0] == "look" and not step.before.opened,
    name="auction_sealed",
)
def sealed(step: Any) -> Any:
    """Bids are sealed."""
    return step.after.shown[step.action[1]]


@dataclass(frozen=True)
class Machine:
    """The machine of Goguen and Meseguer (1982): what high users wrote, what low ones did, the flag that these see."""

    high: frozenset[Process]
    low: frozenset[Process]
    flag: bool


def machine(faulty: bool) -> AnySystem:
    """Return the machine; the faulty one raises the low flag when a high user has written."""

    def actions(config: Config, state: Machine) -> Iterator[Action]:
        for who in config.processes:
            yield ("high", who)
            yield ("low", who)

    def step(config: Config, state: Machine, action: Action) -> Machine:
        match action:
            case ("high", who):
                return replace(state, high=state.high | {who}, flag=state.flag or faulty)
            case (_, who):
                return Machine(state.high, state.low | {who}, who in state.low)
            case _:
                return state

    return evenhand.system(
        "low_and_high",
        config=Config,
        scope={"processes": 2},
        initial=lambda config: [Machine(frozenset(), frozenset(), False)],
        actions=actions,
        step=step,
        types=(Config, Machine),
    )


def _one(config: Config, state: Machine, action: Action) -> Iterable[Any]:
    return ("purged",)


@evenhand.two_run(
    "The low users see the same if no high user ever did anything.",
    twins=_one,
    config=lambda w, config: config,
    state=lambda w, config, state: replace(state, high=frozenset()),
    other=lambda w, action: () if action[0] == "high" else (action,),
    name="purge",
)
def purge(w: Any, step: Any, other: Any) -> bool:
    """Noninterference, by unwinding."""
    seen = step.before if other is None else other.after
    return bool((step.after.low, step.after.flag) == (seen.low, seen.flag))


SYSTEMS = (
    Known("noninterference", "Goguen and Meseguer 1982", "high raises a low flag", machine, purge),
    Known("separation kernel", "Rushby 1981", "idle ones are passed over", kernel, turns, (counts,)),
    Known("files of two levels", "Bell and LaPadula 1973", "writes down", levels, low_file),
    Known("sealed bids", "Vickrey 1961", "tells of a big bid", auction, sealed),
)
