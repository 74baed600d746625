"""The plans of `apcm`: which engine runs which system at which scope in which budget.

Two actions and two preferences are searched with everything, hostile situations and artefacts included.  Three of each
are searched with the claims about single compiles: one configuration per orbit, under the licence that the theorem on
renaming gives, and all of them in the deep budget.  Each other reading is searched at the small scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evenhand.core.bundle import claims_in
from evenhand.core.plan import Plan
from evenhand.core.property import DeadlockFree, DeterminedBy, LivelockFree, Property, TwoRun, names
from evenhand.core.system import reading_values
from evenhand.model.apcm.readings import Readings
from evenhand.properties.apcm import blindness, compiling, conduct, deadlock, reach, refusing
from evenhand.properties.apcm.blindness import equivariance, precedent_matters_by_equality_alone
from evenhand.properties.apcm.conduct import every_step_moves_on_by_one, precedent_is_kept_as_read

LONG = ("standard", "deep")
NEEDS_HOSTILE: tuple[Property, ...] = (
    refusing.improper_apcm_ends_the_run,
    refusing.malformed_artifact_is_refused,
    refusing.malformed_groups_are_refused,
    refusing.empty_step_is_as_read,
    reach.invalid_run_happens,
    *reach.HOSTILE_CODES,
)
"""Claims that are vacuous in a scope without hostile input."""


def _about(
    system: str, claims: Iterable[Property], *, without: tuple[type[Property], ...] = (), but: tuple[Property, ...] = ()
) -> tuple[str, ...]:
    about = (one for one in claims if not one.systems or system in one.systems)
    return names(*(one for one in about if not isinstance(one, without) and one not in but))


def plans(claims: tuple[Property, ...]) -> tuple[Plan, ...]:
    """Return the plans of this protocol; `claims` are all its claims."""
    return tuple(_plans(claims))


def _plans(claims: tuple[Property, ...]) -> Iterator[Plan]:
    one_compile = claims_in(compiling, refusing, deadlock, reach)
    three = {"actions": 3, "preferences": 3, "hostile": 0}
    yield Plan("universe", "explore")
    for system in ("universe", "repaired"):
        chosen = _about(system, one_compile, but=NEEDS_HOSTILE)
        budgets = LONG if system == "universe" else ("deep",)
        yield Plan(system, "explore", budgets, scope=three, claims=chosen, quotient="renaming", max_states=1_000_000)
        yield Plan(system, "explore", ("deep",), scope=three, claims=chosen, max_states=1_000_000)
    yield Plan("repaired", "explore", scope={"hostile": 1})
    yield Plan("run", "explore")
    yield Plan("run", "explore", ("deep",), scope={"every": 1})
    yield Plan("agents", "explore")
    yield Plan("conditions", "explore")
    yield from _readings()
    undecidable = (DeadlockFree, LivelockFree)
    for system in ("universe", "run", "agents", "conditions"):
        chosen = _about(system, claims, without=undecidable if system == "universe" else ())
        if system == "run":
            chosen = _about(system, claims, but=(deadlock.some_artifact_permits_unless_blocked,))
        yield Plan(system, "fuzz", LONG, claims=chosen, examples=200, steps=20)


def _readings() -> Iterator[Plan]:
    """A plan for every reading that is not a default, where it can matter."""
    guarantees = claims_in(compiling, refusing)
    for name, values in reading_values(Readings()).items():
        for value in values[1:]:
            if name in ("after_halt", "first_step_mode", "previous"):
                where = _about("run", guarantees, but=NEEDS_HOSTILE)
                more = names(precedent_is_kept_as_read, precedent_matters_by_equality_alone, every_step_moves_on_by_one)
                yield Plan("run", "explore", LONG, readings={name: value}, claims=(*where, *more))
                continue
            if name == "digest":  # with links that chain a run without end has states without end
                where = _about("conditions", claims_in(compiling, refusing, conduct))
                yield Plan("conditions", "explore", LONG, readings={name: value}, claims=where)
                continue
            if name == "validated":
                chosen = _about("universe", guarantees, but=(refusing.malformed_artifact_is_refused,))
                yield Plan("universe", "explore", LONG, readings={name: value}, claims=chosen)
                continue
            if name in ("pair_order", "av_rp_overlap"):
                chosen = (*_about("universe", guarantees, but=NEEDS_HOSTILE), equivariance.name)
                yield Plan("universe", "explore", LONG, {"hostile": 0}, {name: value}, chosen)
                continue
            blind = _about("universe", claims_in(blindness), without=(TwoRun, DeterminedBy))
            chosen = _about("universe", claims_in(compiling, refusing, deadlock))
            yield Plan("universe", "explore", LONG, readings={name: value}, claims=(*chosen, *blind, equivariance.name))
