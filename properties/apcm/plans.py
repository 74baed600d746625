"""Which engine runs which system at which scope under which budget.

Two actions and two preferences are searched with everything, hostile situations and artefacts included; three of
each with the claims about single compiles, one configuration per orbit under the licence that the theorem on renaming
gives, and all of them in the deep budget.  Each other reading is searched at the small scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evenhand.core.plan import Plan
from evenhand.core.property import DeadlockFree, DeterminedBy, LivelockFree, Property, TwoRun
from evenhand.core.system import reading_values
from evenhand.model.apcm.readings import Readings
from evenhand.properties.apcm.blindness import BLINDNESS
from evenhand.properties.apcm.compiling import COMPILING
from evenhand.properties.apcm.deadlock import DEADLOCK
from evenhand.properties.apcm.reach import REACH
from evenhand.properties.apcm.refusing import REFUSING

__all__ = ["plans"]

ALL = ("quick", "standard", "deep")
LONG = ("standard", "deep")
NEEDS_HOSTILE = (
    "improper_apcm_ends_the_run",
    "malformed_artifact_is_refused",
    "empty_step_is_as_read",
    "invalid_run_happens",
    "e_schema_type_occurs",
    "e_unknown_mode_occurs",
    "e_unknown_preference_occurs",
    "e_pair_arity_occurs",
    "e_digest_mismatch_occurs",
)
"""Claims that nothing in a scope without hostile input is about."""


def _names(
    claims: Iterable[Property], system: str, *, without: tuple[type[Property], ...] = (), but: tuple[str, ...] = ()
) -> tuple[str, ...]:
    return tuple(
        claim.name
        for claim in claims
        if (not claim.systems or system in claim.systems) and not isinstance(claim, without) and claim.name not in but
    )


def plans(claims: tuple[Property, ...]) -> tuple[Plan, ...]:
    """The runs of this protocol, whose claims these are."""
    return tuple(_plans(claims))


def _plans(claims: tuple[Property, ...]) -> Iterator[Plan]:
    one_compile = (*COMPILING, *REFUSING, *DEADLOCK, *REACH)
    three = {"actions": 3, "preferences": 3, "hostile": 0}
    yield Plan("universe", "explore")
    for system in ("universe", "repaired"):
        names = _names(one_compile, system, but=NEEDS_HOSTILE)
        budgets = LONG if system == "universe" else ("deep",)
        yield Plan(system, "explore", budgets, scope=three, claims=names, quotient="renaming", max_states=1_000_000)
        yield Plan(system, "explore", ("deep",), scope=three, claims=names, max_states=1_000_000)
    yield Plan("repaired", "explore", scope={"hostile": 1})
    yield Plan("run", "explore")
    yield Plan("run", "explore", ("deep",), scope={"every": 1})
    yield Plan("agents", "explore")
    yield Plan("conditions", "explore")
    yield from _readings()
    undecidable = (DeadlockFree, LivelockFree)
    for system in ("universe", "run", "agents", "conditions"):
        names = _names(claims, system, without=undecidable if system == "universe" else ())
        if system == "run":
            names = _names(claims, system, but=("some_artifact_permits_unless_blocked",))
        yield Plan(system, "fuzz", LONG, claims=names, examples=200, steps=20)


def _readings() -> Iterator[Plan]:
    """Every reading that is not a default, where it can matter."""
    for name, values in reading_values(Readings()).items():
        for value in values[1:]:
            if name in ("first_step_mode", "previous"):
                where = _names((*COMPILING, *REFUSING), "run", but=NEEDS_HOSTILE)
                more = ("precedent_is_kept_as_read", "precedent_matters_by_equality_alone")
                yield Plan("run", "explore", LONG, readings={name: value}, claims=(*where, *more))
                continue
            if name in ("pair_order", "av_rp_overlap"):
                names = _names((*COMPILING, *REFUSING), "universe", but=NEEDS_HOSTILE)
                yield Plan("universe", "explore", LONG, {"hostile": 0}, {name: value}, (*names, "equivariance"))
                continue
            blind = _names(BLINDNESS, "universe", without=(TwoRun, DeterminedBy))
            names = _names((*COMPILING, *REFUSING, *DEADLOCK), "universe")
            yield Plan("universe", "explore", LONG, readings={name: value}, claims=(*names, *blind, "equivariance"))
