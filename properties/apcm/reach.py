"""Reachability: a compiler that refuses everything keeps every safety claim, so each event must be seen to occur."""

from __future__ import annotations

from evenhand.core.property import Reachable, reachable
from evenhand.model.apcm.vocabulary import MAINTAIN, RANKED, SCHEMA_CODES
from evenhand.properties.apcm.predicates import (
    ARTIFICIAL,
    FREE,
    ONE_STEP,
    ApcmStep,
    compiles,
    facts,
    published,
    said,
    submits,
)


@reachable("An artefact can compile.", source="6", systems=ARTIFICIAL)
def compile_happens(step: ApcmStep) -> bool:
    """Rules 1.5, 2 and 3 all pass."""
    return compiles(step)


@reachable("A violation can be authorised, permitted and so be chosen.", source="11.5", systems=ARTIFICIAL)
def necessary_violation_is_permitted(step: ApcmStep) -> bool:
    """Sophie's Choice."""
    return compiles(step) and bool(said(step).av) and bool(step.shown.permitted)


@reachable("An action that violates something can be executed.", source="0", systems=ARTIFICIAL)
def violation_happens(step: ApcmStep) -> bool:
    """The machine declares the violation, and acts."""
    return bool(step.shown.selected_violates)


@reachable("Several actions can be permitted at once.", source="7", systems=ONE_STEP)
def several_are_permitted(step: ApcmStep) -> bool:
    """The mask does not choose."""
    return len(step.shown.permitted) > 1


@reachable("A compile can gridlock.", source="7", systems=FREE)
def gridlock_happens(step: ApcmStep) -> bool:
    """Every feasible action is forbidden."""
    return compiles(step) and step.shown.gridlock and bool(published(step).feasible)


@reachable(
    "Authorised violations can be necessary only because no feasible action keeps the required preservations.",
    source="6.4",
    systems=FREE,
)
def vacuous_necessity_happens(step: ApcmStep) -> bool:
    """A_ok is empty and AV is not."""
    known = facts(step) if compiles(step) else None
    return known is not None and bool(known.av) and bool(published(step).feasible) and not known.keepers


@reachable(
    "A collision can be declared with a preference that no feasible action violates: Rule 2 asks only for a cover.",
    source="6.2",
    systems=ONE_STEP,
)
def collision_with_the_unviolated_compiles(step: ApcmStep) -> bool:
    """So a declared collision need not be a conflict."""
    known = facts(step) if compiles(step) else None
    if known is None or not known.violates:
        return False
    harmed = frozenset(p for bad in known.violates.values() for p in bad)
    return any(set(pair) - harmed for pair in known.pairs)


@reachable("A precedent can be maintained.", source="6.3", systems=("run", "conditions"))
def maintaining_happens(step: ApcmStep) -> bool:
    """MAINTAIN compiles."""
    return compiles(step) and step.shown.mode == MAINTAIN and said(step).previous is not None


@reachable("A run can end because its environment published no proper APCM.", source="2.2", systems=("universe",))
def invalid_run_happens(step: ApcmStep) -> bool:
    """An APCM out of the protocol's scope ends the run."""
    return bool(step.shown.invalid)


@reachable("Several rules can fail at once.", source="6", systems=("run", "universe", "conditions"))
def several_rules_fail_at_once(step: ApcmStep) -> bool:
    """Two or more kinds of errors."""
    return len({error.code for error in step.shown.errors}) > 1 and step.shown.fields is not None


def _occurs(code: str) -> Reachable:
    systems = ("run",) if code == "E_PRECEDENT_VIOLATION" else ("universe",)
    return Reachable(
        name=f"{code.lower()}_occurs",
        sentence=f"{code} can be reported.",
        source="6" if code in RANKED else "3",
        systems=systems,
        goal=lambda step: submits(step) and any(error.code == code for error in step.shown.errors),
    )


READ = ("E_AV_NOT_IN_COLLISION", "E_AV_RP_OVERLAP")
"""Codes reported only under readings that are not the default; tests reach them there."""

HOSTILE_CODES = tuple(_occurs(code) for code in (*SCHEMA_CODES, "E_DIGEST_MISMATCH"))
"""Reachability of the codes that only hostile artefacts cause."""

CODES = tuple(_occurs(code) for code in RANKED if code not in (*READ, "E_DIGEST_MISMATCH"))
