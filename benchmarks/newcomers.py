"""Six systems as newcomers write them: records, dictionaries, channels, bit masks, sets of messages; no declarations.

`SYSTEMS` has each system by its name, `CLAIMS` the claim about each, which holds.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators

from collections import namedtuple
from dataclasses import dataclass, replace
from enum import Enum, IntEnum, auto
from itertools import pairwise
from typing import Any

import evenhand

# --- Peterson's filter lock: records, an enumeration, `match`
PROCESSES = 6


class Pc(Enum):
    OUT = "out"
    SET = "set"
    WAIT = "wait"
    CS = "cs"


@dataclass(frozen=True)
class Process:
    pc: Pc = Pc.OUT
    level: int = 0


@dataclass(frozen=True)
class Lock:
    procs: Any
    last: Any

    def others_at_least(self, me, level):
        return any(p.level >= level for k, p in enumerate(self.procs) if k != me)

    def with_proc(self, i, **changes):
        return replace(self, procs=(*self.procs[:i], replace(self.procs[i], **changes), *self.procs[i + 1 :]))


@dataclass(frozen=True)
class Move:
    who: int


def lock_actions(state):
    acts = []
    for i, p in enumerate(state.procs):
        if p.pc is Pc.WAIT and state.last[p.level] == i and state.others_at_least(i, p.level):
            continue
        acts.append(Move(i))
    return acts


def lock_step(state, action):
    i = action.who
    p = state.procs[i]
    match p.pc:
        case Pc.OUT:
            return state.with_proc(i, pc=Pc.SET, level=1)
        case Pc.SET:
            last = list(state.last)
            last[p.level] = i
            return replace(state.with_proc(i, pc=Pc.WAIT), last=tuple(last))
        case Pc.WAIT:
            if p.level == PROCESSES - 1:
                return state.with_proc(i, pc=Pc.CS)
            return state.with_proc(i, pc=Pc.SET, level=p.level + 1)
        case Pc.CS:
            return state.with_proc(i, pc=Pc.OUT, level=0)


@evenhand.always("one inside")
def mutex(state):
    return len([p for p in state.procs if p.pc is Pc.CS]) <= 1


# --- Dining philosophers: a dictionary turned into a sorted tuple
PHILOSOPHERS = [f"p{i}" for i in range(10)]
LEFT = {p: f"f{i}" for i, p in enumerate(PHILOSOPHERS)}
RIGHT = {p: f"f{(i + 1) % len(PHILOSOPHERS)}" for i, p in enumerate(PHILOSOPHERS)}


DINERS = tuple(sorted({**dict.fromkeys(PHILOSOPHERS, "thinking"), **dict.fromkeys(LEFT.values())}.items()))


def dining_actions(state):
    d = dict(state)
    out: list[Any] = []
    for p in PHILOSOPHERS:
        if d[p] == "thinking":
            out.append((p, "hungry"))
        if d[p] == "hungry":
            first, second = (LEFT[p], RIGHT[p]) if p != PHILOSOPHERS[-1] else (RIGHT[p], LEFT[p])
            if d[first] is None:
                out.append((p, "take", first))
            elif d[first] == p and d[second] is None:
                out.append((p, "take", second))
        if d[LEFT[p]] == p and d[RIGHT[p]] == p:
            out.append((p, "done"))
    return out


def dining_step(state, action):
    d = dict(state)
    p = action[0]
    if action[1] == "hungry":
        d[p] = "hungry"
    elif action[1] == "take":
        d[action[2]] = p
        if d[LEFT[p]] == d[RIGHT[p]]:
            d[p] = "eating"
    else:
        d[p] = "thinking"
        d[LEFT[p]] = d[RIGHT[p]] = None
    return tuple(sorted(d.items()))


@evenhand.always("neighbours do not eat together")
def neighbours_do_not_eat(state):
    d = dict(state)
    return not any(d[p] == "eating" and d[q] == "eating" for p, q in pairwise([*PHILOSOPHERS, "p0"]))


# --- The alternating bit protocol: a named tuple, lossy channels of bounded length
CHANNEL = 20
Bits = namedtuple("Bits", "sbit cur todo rbit got data acks")

bits_actions = lambda s: (  # noqa: E731
    ([("new", d) for d in "abc"] if s.cur is None and s.todo > 0 else [])
    + ([("send",)] if s.cur is not None and len(s.data) < CHANNEL else [])
    + ([("recv",), ("lose-data",)] if s.data else [])
    + ([("ack",)] if len(s.acks) < CHANNEL else [])
    + ([("got-ack",), ("lose-ack",)] if s.acks else [])
)


def bits_step(s, a):
    op = a[0]
    if op == "new":
        return s._replace(cur=a[1], todo=s.todo - 1)
    if op == "send":
        return s._replace(data=(*s.data, (s.sbit, s.cur)))
    if op == "lose-data":
        return s._replace(data=s.data[1:])
    if op == "lose-ack":
        return s._replace(acks=s.acks[1:])
    if op == "recv":
        (bit, d), *rest = s.data
        new = {"rbit": bit, "got": d} if bit != s.rbit else {}
        return s._replace(data=tuple(rest), **new)
    if op == "ack":
        return s._replace(acks=(*s.acks, s.rbit))
    first, rest = s.acks[0], s.acks[1:]
    if s.cur is not None and first == s.sbit:
        return s._replace(acks=rest, sbit=1 - s.sbit, cur=None)
    return s._replace(acks=rest)


@evenhand.always("acknowledged means received")
def acknowledged_means_received(s):
    return not (s.cur is None and s.todo < 4) or s.rbit == 1 - s.sbit


# --- A token ring whose nodes crash and recover: bit masks
NODES = 8


def bit(mask, i):
    return mask >> i & 1


def next_alive(alive, i):
    k = (i + 1) % NODES
    while not bit(alive, k):
        k = (k + 1) % NODES
    return k


def ring_actions(s):
    alive, want, incs, tokens, budget = s
    acts = []
    for i in range(NODES):
        if not bit(alive, i):
            acts.append(("recover", i))
            continue
        if not bit(want, i):
            acts.append(("want", i))
        if bit(tokens, i):
            if bit(want, i) and not bit(incs, i):
                acts.append(("enter", i))
            if not bit(incs, i):
                acts.append(("pass", i))
        if bit(incs, i):
            acts.append(("leave", i))
        if budget and alive & ~(1 << i):
            acts.append(("crash", i))
    if not tokens:
        acts.append(("regenerate", -1))
    return acts


def ring_step(s, a):
    alive, want, incs, tokens, budget = s
    op, i = a
    b = 1 << max(i, 0)
    if op == "recover":
        return alive | b, want, incs, tokens, budget
    if op == "want":
        return alive, want | b, incs, tokens, budget
    if op == "enter":
        return alive, want & ~b, incs | b, tokens, budget
    if op == "leave":
        return alive, want, incs & ~b, tokens, budget
    if op == "pass":
        return alive, want, incs, tokens & ~b | 1 << next_alive(alive, i), budget
    if op == "crash":
        return alive & ~b, want & ~b, incs & ~b, tokens & ~b, budget - 1
    return alive, want, incs, alive & -alive, budget


@evenhand.always("one inside")
def one_inside(s):
    return bin(s[2]).count("1") <= 1


# --- Needham-Schroeder-Lowe: sets of messages and of what the intruder knows


@dataclass(frozen=True)
class Party:
    pc: int = 0
    partner: str = ""
    nonce: str = ""


@dataclass(frozen=True)
class Run:
    inits: Any
    resps: Any
    know: Any
    msgs: Any = frozenset()


NA, NB = ("Na0", "Na1", "Na2", "Na3"), ("Nb0", "Nb1")
NONCES = ("Ni", *NA, *NB)


def available(r, msg):
    return msg in r.msgs or all(x in r.know or x in ("A", "B", "I") for x in msg[2:])


def nonce_actions(r):
    out: list[Any] = []
    for i, a in enumerate(r.inits):
        if a.pc == 0:
            out += [("start", i, p) for p in ("B", "I")]
        if a.pc == 1:
            for nb in NONCES:
                if available(r, ("2", "A", NA[i], nb, a.partner)):
                    out.append(("reply", i, nb))
    for j, b in enumerate(r.resps):
        if b.pc == 0:
            for p in ("A", "I"):
                for n in NONCES:
                    if available(r, ("1", "B", n, p)):
                        out.append(("respond", j, p, n))
        if b.pc == 1 and available(r, ("3", "B", NB[j])):
            out.append(("finish", j))
    return out


def nonce_step(r, a):
    match a:
        case ("start", i, p):
            return put(r, ("1", p, NA[i], "A"), inits=with_one(r.inits, i, Party(1, p)))
        case ("reply", i, nb):
            p = r.inits[i].partner
            return put(r, ("3", p, nb), inits=with_one(r.inits, i, replace(r.inits[i], pc=2, nonce=nb)))
        case ("respond", j, p, n):
            return put(r, ("2", p, n, NB[j], "B"), resps=with_one(r.resps, j, Party(1, p, n)))
        case ("finish", j):
            return replace(r, resps=with_one(r.resps, j, replace(r.resps[j], pc=2)))


def put(r, m, **changes):
    know = r.know | {x for x in m[2:] if x in NONCES} if m[1] == "I" else r.know
    return replace(r, know=know, msgs=r.msgs | {m}, **changes)


def with_one(t, i, v):
    return tuple(v if k == i else x for k, x in enumerate(t))


@evenhand.always("authentic")
def authentic(r):
    meant = any(a.partner == "B" for a in r.inits)
    return all(not (b.pc == 2 and b.partner == "A") or meant for b in r.resps)


# --- An elevator: sets of calls, enumerations, properties
FLOORS = 5


class Dir(IntEnum):
    DOWN = -1
    STOP = 0
    UP = 1


class Door(Enum):
    OPEN = auto()
    CLOSED = auto()


@dataclass(frozen=True)
class Lift:
    floor: int = 0
    dir: Dir = Dir.STOP
    door: Door = Door.CLOSED
    up: Any = frozenset()
    down: Any = frozenset()
    inside: Any = frozenset()

    @property
    def calls(self):
        return self.up | self.down | self.inside

    @property
    def above(self):
        return {f for f in self.calls if f > self.floor}

    @property
    def below(self):
        return {f for f in self.calls if f < self.floor}

    @property
    def stops_here(self):
        if self.floor in self.inside:
            return True
        match self.dir:
            case Dir.UP:
                return self.floor in self.up or (not self.above and self.floor in self.down)
            case Dir.DOWN:
                return self.floor in self.down or (not self.below and self.floor in self.up)
            case _:
                return self.floor in self.calls


def lift_actions(lift):
    acts: list[Any] = [("up", f) for f in range(FLOORS - 1) if f not in lift.up]
    acts += [("down", f) for f in range(1, FLOORS) if f not in lift.down]
    acts += [("go", f) for f in range(FLOORS) if f not in lift.inside and lift.door is Door.OPEN]
    return acts + [("move",)]  # noqa: RUF005


def lift_step(lift, a):
    match a:
        case ("up", f):
            return replace(lift, up=lift.up | {f})
        case ("down", f):
            return replace(lift, down=lift.down | {f})
        case ("go", f):
            return replace(lift, inside=lift.inside | frozenset([f]))
    if lift.door == Door.OPEN:
        return replace(lift, door=Door.CLOSED)
    if lift.stops_here:
        here = {lift.floor}
        return replace(lift, door=Door.OPEN, up=lift.up - here, down=lift.down - here, inside=lift.inside - here)
    if lift.above and (lift.dir >= 0 or not lift.below):
        return replace(lift, dir=Dir.UP, floor=lift.floor + 1)
    if lift.below:
        return replace(lift, dir=Dir.DOWN, floor=lift.floor - 1)
    return replace(lift, dir=Dir.STOP)


@evenhand.each_step("moves with shut doors")
def shut(step):
    return step.before.floor == step.after.floor or step.before.door is Door.CLOSED


STARTS: dict[str, Any] = {
    "filter lock": (Lock((Process(),) * PROCESSES, (0,) * PROCESSES), lock_actions, lock_step),
    "dining philosophers": (DINERS, dining_actions, dining_step),
    "alternating bit": (Bits(0, None, 4, 1, None, (), ()), bits_actions, bits_step),
    "token ring": ((255, 0, 0, 1, 3), ring_actions, ring_step),
    "Needham-Schroeder-Lowe": (
        Run((Party(),) * len(NA), (Party(),) * len(NB), frozenset({"Ni"})),
        nonce_actions,
        nonce_step,
    ),
    "elevator": (Lift(), lift_actions, lift_step),
}
CLAIMS: dict[str, Any] = dict(
    zip(STARTS, (mutex, neighbours_do_not_eat, acknowledged_means_received, one_inside, authentic, shut), strict=True)
)
SYSTEMS: dict[str, Any] = {
    name: evenhand.system(name, initial=[start], actions=actions, step=step)
    for name, (start, actions, step) in STARTS.items()
}
