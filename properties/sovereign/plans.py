"""The plans of `sovereign`: which engine runs which system at which scope in which budget.

Every system is searched at its own scope.  Two-run claims are checked on lists, where they compare something, and not
on the hundred thousand single candidates.  Each other reading is searched where it can matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evenhand.core.plan import Plan
from evenhand.core.property import DeadlockFree, DeterminedBy, LivelockFree, Property, Reachable, TwoRun, names
from evenhand.core.system import reading_values
from evenhand.model.sovereign.readings import Readings
from evenhand.properties.sovereign.deciding import exit_is_terminal_without_a_warrant
from evenhand.properties.sovereign.operating import failed_uses_spend_their_warrant
from evenhand.properties.sovereign.reach import a_candidate_can_write_the_logs
from evenhand.properties.sovereign.selecting import (
    justifications_decide_nothing,
    order_of_candidates_changes_no_record,
    order_of_candidates_decides_nothing,
    order_of_observations_decides_nothing,
    selection_depends_on_the_set,
    system_and_budget_observations_cause_no_action,
)

LONG = ("standard", "deep")


def _names(
    claims: Iterable[Property], system: str, *, without: tuple[type[Property], ...] = (), but: tuple[Property, ...] = ()
) -> tuple[str, ...]:
    asked = (claim for claim in claims if not isinstance(claim, without) and claim not in but)
    return names(*(claim for claim in asked if not claim.systems or system in claim.systems))


def plans(claims: tuple[Property, ...]) -> tuple[Plan, ...]:
    """Return the plans of this protocol; `claims` are all its claims."""
    return tuple(_plans(claims))


_OUT_OF_REACH = (a_candidate_can_write_the_logs,)
"""Reached by sampling only: no proposal in the searched scope of `agent` does it."""


def _plans(claims: tuple[Property, ...]) -> Iterator[Plan]:
    yield Plan("agent", "explore", LONG, claims=_names(claims, "agent", but=_OUT_OF_REACH))
    yield Plan("agent", "explore", ("quick",), scope={"executors": 1})
    yield Plan("agent", "explore", ("deep",), scope={"proposals": 4}, claims=_names(claims, "agent", but=_OUT_OF_REACH))
    single = _names(claims, "candidates", without=(TwoRun,))
    yield Plan("candidates", "explore", LONG, claims=single)
    yield Plan("candidates", "explore", ("quick",), scope={"contexts": 6}, claims=single)
    yield Plan("lists", "explore")
    yield Plan("lists", "explore", ("deep",), scope={"observations": 3, "candidates": 2})
    yield Plan("lists", "explore", ("deep",), scope={"observations": 2, "candidates": 3})
    yield Plan("session", "explore")
    yield Plan("constitutions", "explore")
    yield Plan("live", "explore")
    yield Plan("constitutions", "explore", ("deep",), scope={"types": 2})
    yield from _readings(claims)
    live = (DeadlockFree, LivelockFree)
    yield Plan("agent", "fuzz", LONG, claims=_names(claims, "agent", without=live), examples=200, steps=20)
    several = _names(claims, "lists", without=live, but=(selection_depends_on_the_set,))
    yield Plan("lists", "fuzz", LONG, claims=several, examples=150, steps=12)


_BUDGETS = {"observations": 3, "candidates": 1}
_SHORT = {"observations": 2, "candidates": 1}
_PAIRS = {"observations": 1, "candidates": 2}
WHERE: dict[str, tuple[str, dict[str, int]]] = {
    "duplicate_bundle": ("lists", _PAIRS),
    "budget_count": ("lists", _BUDGETS),
    "exit_precedence": ("lists", _SHORT),
    "exit_candidate": ("lists", _PAIRS),
    "type_iii": ("session", {"refusals": 3}),
    "budget_absent": ("lists", _SHORT),
    "spent_memory": ("agent", {"proposals": 1}),
    "bundle_hash_covers": ("lists", _PAIRS),
    "reported_gate": ("lists", _PAIRS),
    "path_rule": ("agent", {"executors": 1, "proposals": 3}),
    "unknown_author": ("lists", _PAIRS),
    "negative_budget": ("lists", _SHORT),
    "session_budget": ("session", {"refusals": 3, "thousands": 9}),
}
"""The system and scope in which each reading is searched: the smallest that can tell it from its default."""


ONE_CANDIDATE = (
    order_of_candidates_decides_nothing,
    order_of_candidates_changes_no_record,
    justifications_decide_nothing,
)
ONE_OBSERVATION = (
    exit_is_terminal_without_a_warrant,
    order_of_observations_decides_nothing,
    system_and_budget_observations_cause_no_action,
)
"""Claims that are vacuous where one candidate alone is proposed, or one observation made."""


UNMET_UNDER: dict[str, tuple[Property, ...]] = {"path_rule": (failed_uses_spend_their_warrant,)}
"""Claims that are vacuous under a reading in its scope: by the text of a path, no plain one on offer is let through."""


def _unmet(scope: dict[str, int]) -> tuple[Property, ...]:
    few: tuple[Property, ...] = ONE_CANDIDATE if scope.get("candidates") == 1 else ()
    return (*few, *(ONE_OBSERVATION if scope.get("observations") == 1 else ()))


def _readings(claims: tuple[Property, ...]) -> Iterator[Plan]:
    """A plan for every reading that is not a default, where it can matter; two that lift a limit only together."""
    for name, values in reading_values(Readings()).items():
        system, scope = WHERE[name]
        kinds: tuple[type[Property], ...] = (Reachable,) if system == "lists" else (Reachable, TwoRun, DeterminedBy)
        asked = _names(claims, system, without=kinds, but=(*_unmet(scope), *UNMET_UNDER.get(name, ())))
        for value in values[1:]:
            yield Plan(system, "explore", LONG, scope, {name: value}, asked)
    both = {"budget_count": "sum", "negative_budget": "accept"}
    yield Plan(
        "lists", "explore", LONG, _SHORT, both, _names(claims, "lists", without=(Reachable,), but=_unmet(_SHORT))
    )
