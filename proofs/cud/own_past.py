"""An agent observes nothing but what is public, its own past and the messages to it (A3, FQ11, FQ20), over histories.

Two epochs: in the second there is no authority, every other agent is gone, and had another past.  What an agent
observes and what is kept of its past are the same in both, so by induction they are in whole histories.
"""

from __future__ import annotations

from typing import Any

from evenhand.model.cud.mutants import reporting
from evenhand.proofs.cud.encoding import CudStep
from evenhand.proofs.cud.mail import DATED, FAULTS, POST, SENDING, active, f, m, theorem, x, y
from evenhand.properties.cud.blindness import only_ones_own_is_ever_observed
from evenhand.smt.logic import conjunction, exists, forall
from evenhand.smt.preludes import Twice
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows

_OBSERVED = ("sees", "hears", "recalls")
TWICE = Twice.apart(POST, "active", "own", "drafted", "names", "earned")


def view(case: tuple[str, CudStep, CudStep | None]) -> Any:
    """Return both epochs, seen by one agent; None where they differ in something that the theory does not cover."""
    agent, step, other = case
    one, two = DATED(step), None if other is None else DATED(other)
    if one is None or two is None or not {*two.universe["Agent"]} <= {*one.universe["Agent"]}:
        return None
    universe = {sort: tuple(dict.fromkeys((*one.universe[sort], *two.universe[sort]))) for sort in one.universe}
    told: dict[str, Rows] = dict(one.relations)
    for name in ("odd", "oversize", "shapeless", "token"):
        told[name] |= two.relations[name]
    shown = {name: {row for row in one.relations[name] ^ two.relations[name] if row[0] == agent} for name in _OBSERVED}
    if not any(shown.values()) and not only_ones_own_is_ever_observed.agrees(agent, step, other):
        return None
    known = {*TWICE.theory.symbols, *TWICE.theory.meanings}
    doubled = {f"{name}2": rows for name, rows in two.relations.items() if f"{name}2" in known}
    elsewhere = {*one.universe["Agent"]}.difference(two.universe["Agent"])
    doubled["own2"] |= frozenset((name, "last None") for name in elsewhere)
    return Structure(universe, {**told, **doubled}, one.functions)


_earned_alike = forall([f], TWICE.alike("earned", x, f))

LEARNED = theorem(
    claim=only_ones_own_is_ever_observed,
    sentence="Two epochs in which an agent has the same past and the same messages wait, in the same world, show it "
    "the same, whatever the authorities and whoever else is there, with whatever past; and if it makes the same choice "
    "and gets the same token in both, the same is kept of its past. So it is with two histories.",
    theory=TWICE.extended("cud_own_past"),
    variables=(x, m, y, f),
    view=view,
    assumes=conjunction([active(x), TWICE.second("active", x), forall([f], TWICE.alike("own", x, f))]),
    goal=conjunction(
        [
            TWICE.alike("sees", x, f),
            TWICE.alike("hears", x, m, y),
            _earned_alike >> TWICE.alike("recalls", x, f),
        ]
    ),
    witness=exists(
        [x, y, f], conjunction([active(x), active(y), ~TWICE.second("active", y), ~TWICE.alike("own", y, f)])
    ),
    mutants=TWICE.mutants(
        *FAULTS.refuted(reporting.message_delivered_at_once, reporting.other_agents_outcome_seen),
        FAULTS.unseen(reporting.own_message_echoed, "its own message is of its own past"),
        FAULTS.unseen(reporting.forged_sender_accepted, SENDING),
    ),
)
"""The theorem about whole histories."""
