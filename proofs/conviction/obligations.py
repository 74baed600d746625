"""The obligations: what one event does to the actor's numbers and to ghost totals, and what follows by induction.

B, K, U, G are the sum of all balances, the sum of all stakes, what was burned, what was granted; b and s are the
balance and the stake of the one agent and proposal that an event is about; a second copy (B2 …) is after the event.
Every action of the protocol is a finite sequence of such events, so that an invariant that every event keeps is kept by
every action, for any number of agents, proposals and stakes.  A fault replaces one assumption; it must break the proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.proofs.conviction.formulas import Expression, both, either, implies, show, variables
from evenhand.proofs.smt.child import answer

__all__ = ["EVENTS", "OBLIGATIONS", "Obligation", "Said", "decide", "text"]


@dataclass(frozen=True)
class Obligation:
    """`assumes` (by name) imply `goal`, over the reals; `faults`: mutant → (assumption, what it becomes)."""

    name: str
    claim: str
    sentence: str
    source: str
    assumes: Mapping[str, Expression]
    goal: Expression
    faults: Mapping[str, tuple[str, Expression]] = field(default_factory=dict[str, tuple[str, Expression]])


@dataclass(frozen=True)
class Said:
    """What z3 and cvc5 say of one text."""

    z3: str
    cvc5: str

    @property
    def status(self) -> Literal["sat", "unsat", "unknown", "disagreement"]:
        """Their joint answer: both must say it."""
        if {self.z3, self.cvc5} == {"sat", "unsat"}:
            return "disagreement"
        if self.z3 == self.cvc5 and self.z3 in ("sat", "unsat"):
            return "sat" if self.z3 == "sat" else "unsat"
        return "unknown"


def text(assumes: Mapping[str, Expression], goal: Expression | None) -> str:
    """Assumptions and the negated goal (or the assumptions alone) as SMT-LIB 2 over the reals."""
    parts = [*assumes.values(), *(() if goal is None else (("not", goal),))]
    names = sorted(frozenset[str]().union(*map(variables, parts)))
    lines = ["(set-option :produce-models true)", "(set-option :produce-unsat-cores true)", "(set-logic QF_NRA)"]
    lines += [f"(declare-fun {name} () Real)" for name in names]
    lines += [f"(assert (! {show(part)} :named a{place}))" for place, part in enumerate(parts)]
    return "\n".join([*lines, "(check-sat)"]) + "\n"


def decide(assumes: Mapping[str, Expression], goal: Expression | None) -> Said:
    """Ask both solvers; resource limits, not seconds, cut them off."""
    question: dict[str, Any] = {
        "text": text(assumes, goal),
        "sorts": [],
        "functions": [],
        "relations": [],
        "options": {},
        "rlimit": 20_000_000,
    }
    return Said(*(str(answer(solver, question).get("status")) for solver in ("z3", "cvc5")))


def _becomes(**after: Expression) -> Expression:
    """b, s, U, G after an event; what is not named stays."""
    return both(*(("=", f"{name}2", after.get(name, name)) for name in ("b", "s", "U", "G")))


_MINIMUM: Expression = ("ite", ("<=", "p", "b"), "p", "b")
_ROOM: Expression = ("ite", ("<=", ("-", "M", "b"), 0), 0, ("-", "M", "b"))
_GRANT: Expression = ("ite", ("<=", "p", _ROOM), "p", _ROOM)

EVENTS: dict[str, Expression] = {
    "grant": both(("<=", 0, "a"), _becomes(b=("+", "b", "a"), G=("+", "G", "a"))),
    "stake": both(("<=", 0, "a"), ("<=", "a", "b"), _becomes(b=("-", "b", "a"), s=("+", "s", "a"))),
    "charge": both(("<=", 0, "a"), ("<=", "a", "b"), _becomes(b=("-", "b", "a"), U=("+", "U", "a"))),
    "withdraw": both(("<=", 0, "a"), ("<=", "a", "s"), _becomes(b=("+", "b", "a"), s=("-", "s", "a"))),
    "leave": both(("<=", 0, "a"), ("<=", "a", "s"), _becomes(s=("-", "s", "a"))),
    "burn": both(("<=", 0, "a"), ("<=", "a", "s"), _becomes(s=("-", "s", "a"), U=("+", "U", "a"))),
    "nothing": _becomes(),
}
"""What events do: grant (4.1), stake (6.2, A 16.3), charge (11.2, 9.3, 14.1), withdraw (14.2), burn (18.2).

A move is a `leave` followed by an `arrive`, which ghost totals see as `nothing`; `leave` alone is a fault.
"""

_TOTALS = both(("=", "B2", ("+", "B", ("-", "b2", "b"))), ("=", "K2", ("+", "K", ("-", "s2", "s"))))


def _some(**instead: Expression) -> Expression:
    """One of the events, some of them replaced by a faulty one."""
    known = {**{name: body for name, body in EVENTS.items() if name != "leave"}, **instead}
    return either(*known.values())


_SUPPLY = Obligation(
    "supply",
    "supply_is_conserved",
    "B + K + U = G is kept by every event: balances, stakes and burns add up to what was allocated.",
    "4.3, 13.3, 18.3",
    {"invariant": ("=", ("+", "B", "K", "U"), "G"), "event": _some(), "totals": _TOTALS},
    ("=", ("+", "B2", "K2", "U2"), "G2"),
    {
        "tap_mints": ("event", _some(withdraw=both(("<", 0, "a"), _becomes(b=("+", "b", "a"))))),
        "stake_not_burned, yet counted": ("event", _some(burn=both(("<", 0, "a"), _becomes(U=("+", "U", "a"))))),
        "revision_cost=deducted_only": ("event", _some(charge=both(("<", 0, "a"), _becomes(b=("-", "b", "a"))))),
        "a move that does not arrive": ("event", _some(leave=both(("<", 0, "a"), EVENTS["leave"]))),
    },
)

_SIGNS = Obligation(
    "signs",
    "nothing_is_negative",
    "Balance, stake and burned total stay at or above zero, whatever happens to whom.",
    "4.2, 9.3, 11.4, 14.2, 16.5",
    {"invariant": both(("<=", 0, "b"), ("<=", 0, "s"), ("<=", 0, "U"), ("<=", 0, "G")), "event": _some()},
    both(("<=", 0, "b2"), ("<=", 0, "s2"), ("<=", 0, "U2"), ("<=", 0, "G2")),
    {
        "add_on_credit": ("event", _some(stake=both(("<=", 0, "a"), _becomes(b=("-", "b", "a"), s=("+", "s", "a"))))),
        "move_on_credit": ("event", _some(burn=both(("<=", 0, "a"), _becomes(s=("-", "s", "a"), U=("+", "U", "a"))))),
        "penalty_floor=negative_balance": (
            "event",
            _some(charge=both(("<=", 0, "a"), _becomes(b=("-", "b", "a"), U=("+", "U", "a")))),
        ),
    },
)

_REVISION = Obligation(
    "revision",
    "the_tap_takes_the_deficit",
    "A revision that is accepted pays its cost out of the balance and a tap of the deficit, leaving neither below 0.",
    "14.2",
    {
        "signs": both(("<=", 0, "b"), ("<=", 0, "s"), ("<=", 0, "c")),
        "tap": ("=", "w", ("ite", ("<", "b", "c"), ("-", "c", "b"), 0)),
        "accepted": ("<=", "w", "s"),
        "after": both(("=", "b2", ("-", ("+", "b", "w"), "c")), ("=", "s2", ("-", "s", "w"))),
    },
    both(("<=", 0, "b2"), ("<=", 0, "s2"), ("<=", "b2", "b"), ("=", ("+", "b2", "s2", "c"), ("+", "b", "s"))),
    {
        "tap_forgives": ("accepted", ("<=", 0, "w")),
        "tap_mints": ("after", both(("=", "b2", ("-", ("+", "b", "w"), "c")), ("=", "s2", "s"))),
    },
)

_MAXIMUM = Obligation(
    "maximum",
    "balances_stay_below_the_maximum",
    "No balance exceeds MaximumCredit: a grant is clipped, a tap pays no more than is charged, else balances fall.",
    "4.4",
    {
        "invariant": both(("<=", "b", "M"), ("<=", 0, "M"), ("<=", 0, "p")),
        "grant": ("=", "g", _GRANT),
        "event": either(
            ("=", "b2", ("+", "b", "g")),
            both(("<=", 0, "a"), ("=", "b2", ("-", "b", "a"))),
            both(
                ("<=", 0, "c"),
                ("=", "b2", ("-", ("+", "b", ("ite", ("<", "b", "c"), ("-", "c", "b"), 0)), "c")),
                ("<=", 0, "b"),
            ),
        ),
    },
    ("<=", "b2", "M"),
    {"maximum_credit_ignored": ("grant", ("=", "g", "p"))},
)

_PENALTY = Obligation(
    "penalty",
    "penalties_are_as_stated",
    "A penalty that is burned as far as there is balance leaves a balance at or above zero.",
    "9.3",
    {"signs": both(("<=", 0, "b"), ("<=", 0, "p")), "paid": ("=", "b2", ("-", "b", _MINIMUM))},
    both(("<=", 0, "b2"), ("<=", "b2", "b")),
    {"penalty_floor=negative_balance": ("paid", ("=", "b2", ("-", "b", "p")))},
)

_SAME_PHASE = both(("=", "L2", "L"), ("<=", "S2", ("-", "S", 1)), ("<=", 0, "S2"))
"""A tick that ends no phase: somebody was late, and his timer is not full: one of the spare ticks is gone."""
_NEXT_PHASE = both(("=", ("+", "L2", "W"), "L"), ("<=", 0, "S2"), ("<=", ("+", "S2", 1), "W"))
"""A tick that ends a phase: the next one, of at most W ticks, is no longer ahead."""

_RANK = Obligation(
    "rank",
    "every_tick_comes_closer",
    "L + 1 + S falls with every tick and stays at or above zero: L ticks for the phases ahead, S spare ticks of all "
    "agents in this one; so there is no infinite run of ticks, and a phase takes at most S + 1 of them.",
    "9.1, 12, 16.1",
    {
        "bounds": both(("<=", 0, "L"), ("<=", 0, "S"), ("<=", 0, "L2")),
        "tick": either(_SAME_PHASE, _NEXT_PHASE),
    },
    both(("<", ("+", "L2", 1, "S2"), ("+", "L", 1, "S")), ("<=", 0, ("+", "L2", 1, "S2"))),
    {
        "silent_agents_hang_a_phase": ("tick", either(both(("=", "L2", "L"), ("=", "S2", "S")), _NEXT_PHASE)),
        "clock=gated_by_9_1": ("tick", either(both(("=", "L2", "L"), ("=", "S2", "S")), _SAME_PHASE, _NEXT_PHASE)),
    },
)

_LATE = Obligation(
    "late",
    "timers_count_missed_ticks",
    "Where nobody's timer becomes full and somebody is late, the spare ticks of all agents together are one fewer "
    "at least: x is the late one's timer, R the spare ticks of the others.",
    "9.1",
    {
        "timer": both(("<=", 0, "x"), ("<=", ("+", "x", 2), "T"), ("=", "x2", ("+", "x", 1))),
        "others": both(("<=", 0, "R2"), ("<=", "R2", "R")),
        "spare": both(("=", "S", ("+", "R", ("-", "T", 1, "x"))), ("=", "S2", ("+", "R2", ("-", "T", 1, "x2")))),
    },
    both(("<=", "S2", ("-", "S", 1)), ("<=", 0, "S2")),
    {"timers that stand still": ("timer", both(("<=", 0, "x"), ("<=", ("+", "x", 2), "T"), ("=", "x2", "x")))},
)

_LEGAL = both(("<=", 1, "M"), ("<", 0, "t"), ("<", "t", 1), ("<", 0, "q"), ("<=", "q", 1))
"""M is the greatest multiplier, t is theta, q = t**r."""
_MULTIPLIER: Expression = ("+", 1, ("*", ("-", "M", 1), ("-", 1, "q")))
_NEXT: Expression = ("+", 1, ("*", ("-", "M", 1), ("-", 1, ("*", "q", "t"))))

_WEIGHT = Obligation(
    "multiplier",
    "multipliers_are_bounded",
    "The multiplier begins at 1, never falls from round to round, and lies between 1 and the maximum.",
    "16.7",
    {"legal": _LEGAL, "now": ("=", "m", _MULTIPLIER), "next": ("=", "m2", _NEXT)},
    both(("<=", 1, "m"), ("<=", "m", "m2"), ("<=", "m2", "M"), implies(("=", "q", 1), ("=", "m", 1))),
    {
        "maximum below one": (
            "legal",
            both(("<", "M", 1), ("<", 0, "t"), ("<", "t", 1), ("<", 0, "q"), ("<=", "q", 1)),
        ),
        "a fraction above one": ("legal", both(("<=", 1, "M"), ("<", 0, "t"), ("<", "t", 1), ("<", "q", 0))),
    },
)

_TARGET = Obligation(
    "target",
    "saturation_reaches_the_target",
    "At saturation the multiplier is 1 + (M - 1) f, which is more than f M for every fraction f below 1.",
    "16.7",
    {
        "legal": both(("<=", 1, "M"), ("<", 0, "f"), ("<", "f", 1)),
        "saturated": ("=", "m", ("+", 1, ("*", ("-", "M", 1), "f"))),
    },
    both(("<=", ("*", "f", "M"), "m"), ("not", ("=", ("*", "f", "M"), "m"))),
    {"a fraction above one": ("legal", both(("<=", 1, "M"), ("<", 1, "f")))},
)

_ROOTS = Obligation(
    "roots",
    "roots_rank_as_sums_do",
    "Of two sums of effective stakes the greater has the greater root, and equal sums have equal roots.",
    "17.1",
    {"roots": both(("<=", 0, "x"), ("<=", 0, "y"), ("=", "v", ("*", "x", "x")), ("=", "z", ("*", "y", "y")))},
    both(implies(("<", "v", "z"), ("<", "x", "y")), implies(("<", "x", "y"), ("<", "v", "z"))),
    {"negative roots": ("roots", both(("=", "v", ("*", "x", "x")), ("=", "z", ("*", "y", "y"))))},
)

_ACROSS = Obligation(
    "across",
    "actions_of_two_agents_commute",
    "Events of two agents, in either order, leave the same balances, stakes and totals: each reads and changes its own "
    "numbers and adds to the burned total.",
    "2.4",
    {
        "one then other": both(
            ("=", "b2", ("+", "b", "d")), ("=", "h2", ("+", "h", "e")), ("=", "U2", ("+", ("+", "U", "m"), "n"))
        ),
        "other then one": both(
            ("=", "h3", ("+", "h", "e")), ("=", "b3", ("+", "b", "d")), ("=", "U3", ("+", ("+", "U", "n"), "m"))
        ),
    },
    both(("=", "b2", "b3"), ("=", "h2", "h3"), ("=", "U2", "U3")),
    {
        "an event that reads another's balance": (
            "other then one",
            both(
                ("=", "h3", ("+", "h", "e", "b")),
                ("=", "b3", ("+", "b", "d")),
                ("=", "U3", ("+", ("+", "U", "n"), "m")),
            ),
        )
    },
)

OBLIGATIONS: tuple[Obligation, ...] = (
    _SUPPLY,
    _SIGNS,
    _REVISION,
    _MAXIMUM,
    _PENALTY,
    _RANK,
    _LATE,
    _WEIGHT,
    _TARGET,
    _ROOTS,
    _ACROSS,
)
"""Everything that is proved."""
