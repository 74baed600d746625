"""The sixty-six properties of the text, one row each: claim, kind, and what is registered about it.

A property is stated once; its claim's name ends with its number.  The row says in which systems it is searched and
where it is registered as refuted; what a run found stands in that run's report.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evenhand.properties.property import Property
from evenhand.properties.registry import Expectation
from evenhand.properties.verdict import Status

__all__ = ["COUNT", "REPAIRS", "Row", "markdown", "rows"]

COUNT = 66

REPAIRS: dict[int, str] = {
    6: "trust_orders_what_has_strength",
    8: "sublinear_where_there_is_strength",
    16: "intents_do_not_pile_up",
    17: "one_winner_per_boundary",
    35: "constant_marks_recover",
    38: "refusals_name_their_cause",
    39: "unwarned_action_takes_precedence",
}
"""For a property that is false as written: the claim that adds the weakest assumption found."""


@dataclass(frozen=True)
class Row:
    """One property; no cell is empty."""

    number: int
    claim: str
    sentence: str
    kind: str
    systems: str
    registered: str
    repair: str


def rows(claims: Iterable[Property], expected: Iterable[Expectation]) -> tuple[Row, ...]:
    """The rows in order.  Raises ValueError for a number without exactly one claim."""
    listed, wanted = tuple(claims), tuple(expected)
    return tuple(_row(number, listed, wanted) for number in range(1, COUNT + 1))


def _row(number: int, claims: tuple[Property, ...], expected: tuple[Expectation, ...]) -> Row:
    found = [claim for claim in claims if claim.name.endswith(f"_p{number}")]
    if len(found) != 1:
        raise ValueError(f"P{number} has {len(found)} claims; give exactly one claim a name that ends with _p{number}")
    claim = found[0]
    against = [
        one for one in expected if one.claim == claim.name and one.expected is Status.REFUTED and one.readings is None
    ]
    where = sorted({one.system for one in against})
    registered = f"false as written in {', '.join(where)}: {against[0].because}" if against else "holds"
    repair = REPAIRS.get(number, "none found") if against else "none needed"
    return Row(number, claim.name, claim.sentence, claim.kind, ", ".join(claim.systems), registered, repair)


def markdown(table: Iterable[Row]) -> str:
    """The table as Markdown."""
    head = "| P | claim | kind | systems | registered | repaired by |\n| --- | --- | --- | --- | --- | --- |\n"
    lines = (
        f"| P{row.number} | {row.sentence} | {row.kind} | {row.systems} | {row.registered} | {row.repair} |\n"
        for row in table
    )
    return head + "".join(lines)
