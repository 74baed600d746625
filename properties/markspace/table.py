"""The sixty-six properties of the text, one row each: claim, kind, and expectations registered for it.

Each property has one claim, whose name ends with the number.  The row names the systems in which it is searched, those
where it is registered as refuted, and the theorem for any number of things or the reason why there is none.  The
results of a run are in that run's report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evenhand.core.property import Property, names
from evenhand.core.verdict import Status
from evenhand.properties.markspace import contesting, guarding, signals, space

COUNT = 66

REPAIRS: dict[int, str] = {
    6: signals.trust_orders_what_has_strength.name,
    8: signals.sublinear_where_there_is_strength.name,
    16: contesting.intents_do_not_pile_up.name,
    17: contesting.one_winner_per_boundary.name,
    35: signals.marks_recover_if_their_warnings_lose_more.name,
    38: guarding.refusals_name_their_cause.name,
    39: guarding.unwarned_action_takes_precedence.name,
}
"""For a property that is false as written: the claim that adds the weakest assumption found."""


BESIDE: dict[int, tuple[str, ...]] = {
    3: names(signals.transient_marks_halve),
    11: names(
        space.resolution_is_a_function_of_the_intents, space.winners_come_first, guarding.policy_decides_as_written
    ),
    35: names(signals.constant_marks_recover),
}
"""Claims under other names that theorems about a property state."""

_PARTS = {3: "that halving without end leaves less than any bound is an induction over the half-lives, not first-order"}
"""Properties of which a theorem states only a part, and the reason."""
_ONLY = {number: "of the policies that resolve at once; `deferred` and `meddled` are searched" for number in (12, 13)}
_ONLY[20] = "of agents' reads; those of infrastructure, which needs no clearance, are searched"
"""Properties whose theorem leaves out a system, or a reader."""
_ONLY[18] = "of the verdicts; that losing intents stay is searched"
_ONLY[56] = "of the scheduler with a clock, and intervals up to the longest on offer; `scheduling` is searched"
_ONLY[32] = "where ids follow the order of writing, which is the default reading"
_WHY: dict[int, str] = {
    14: "which intents a batch looks at is one word of the theory of a boundary: every active one; what follows "
    "from it for any number of intents is P15 and P18, and a batch that looks at one intent alone breaks both",
    24: "a projection is made of one mark alone, and copies or blanks each of its fields: the claim names no "
    "number that could be raised",
    27: "its parts have theorems, P1 to P7 on what is left of a strength, P20 to P22 on who sees, P34 and P47 on "
    "what warnings and later marks take away; that a read lists exactly the marks that pass all of them, "
    "strongest first, is a sort, which is searched",
    28: "a query gives back the space that it was given, and no rule has a say in it: a theory would repeat the "
    "claim as its definition",
    30: "an operation adds a mark behind all others or adds none, and a second changes the age of each mark by "
    "itself: a theory would repeat the claim as its definition",
    33: "which hooks ran stands in the reply alone, for which the state has no place; that every hook runs that "
    "does not fail is said of one list, searched with two hooks",
    57: "no rule reads the sink but the one that emits, and what it gives stands in the events of the answer "
    "alone, for which the state has no place",
    59: "without a budget the state has no place for usage, and a round gives back the world that it was given: a "
    "theory would repeat the claim as its definition",
}
"""For each property without a theorem: the reason."""


def unproved(number: int) -> str:
    """The reason why no theorem is stated of a property.  Raises ValueError for one that has no reason either."""
    if number not in _WHY:
        raise ValueError(f"P{number} has no theorem, and no reason why not; state one of them")
    return f"none, because: {_WHY[number]}"


@dataclass(frozen=True)
class Row:
    """One property; no cell is empty.

    `status`: proved (for any number), searched (in a stated scope) or false as written; `theorems` holds the names, a
    refuted one with that word, or the reason why there is none.
    """

    number: int
    claim: str
    sentence: str
    kind: str
    systems: str
    status: str
    theorems: str
    registered: str
    repair: str


def rows(claims: Iterable[Property], theorems: Mapping[str, str]) -> tuple[Row, ...]:
    """The rows in order; `theorems` maps a claim to the status of its theorem: `proved` or `refuted`.

    Raises ValueError for a number without exactly one claim.
    """
    listed = tuple(claims)
    return tuple(_row(number, listed, theorems) for number in range(1, COUNT + 1))


def _row(number: int, claims: tuple[Property, ...], theorems: Mapping[str, str]) -> Row:
    found = [claim for claim in claims if claim.name.endswith(f"_p{number}")]
    if len(found) != 1:
        raise ValueError(f"P{number} has {len(found)} claims; give exactly one claim a name that ends with _p{number}")
    claim = found[0]
    against = [one for one in claim.expected if one.expected is Status.REFUTED and one.readings is None]
    where = sorted({one.system for one in against})
    registered = f"false as written in {', '.join(where)}: {against[0].because}" if against else "holds"
    repair = REPAIRS.get(number, "none found") if against else "none needed"
    told = [one for one in (claim.name, *BESIDE.get(number, ()), repair) if one in theorems]
    stated = ", ".join(f"{one} ({theorems[one]})" for one in told)
    limit = _PARTS.get(number, _ONLY.get(number))
    if limit and stated:
        stated += f"; {limit}"
    proved = "its step proved" if number in _PARTS else "proved in part" if number in _ONLY else "proved"
    status = "false as written" if against else proved if told else "searched"
    return Row(
        number,
        claim.name,
        claim.sentence,
        claim.kind,
        ", ".join(claim.systems),
        status,
        stated or unproved(number),
        registered,
        repair,
    )


def markdown(table: Iterable[Row]) -> str:
    """The table as Markdown."""
    head = "| P | claim | kind | systems | status | theorems | registered | repaired by |\n" + "| --- " * 8 + "|\n"
    lines = (
        f"| P{row.number} | {row.sentence} | {row.kind} | {row.systems} | {row.status} | {row.theorems} "
        f"| {row.registered} | {row.repair} |\n"
        for row in table
    )
    return head + "".join(lines)
