"""The plans of `cud`: which engine checks which claims of which system, in which budget.

The readings that change an answer get a run of their own with the claims that they touch, so that every expectation is
checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.bundle import claims_in
from evenhand.core.plan import Plan
from evenhand.core.property import Property, names
from evenhand.core.system import reading_values
from evenhand.model.cud.readings import Readings
from evenhand.properties.cud import (
    arbitration,
    blindness,
    classes,
    history,
    liveness,
    reach,
    safety,
    symmetry,
    whole_epoch,
)

_STANDARD = ("standard", "deep")

FLOORED = 200
"""Examples of a standard run, for which the floors were set; with fewer, a claim without evidence is UNDECIDED."""

_TOUCHED = {
    "scope_check": names(
        arbitration.order_independence,
        arbitration.final_world_is_a_function_of_the_requests,
        safety.only_own_scope_changes,
        safety.non_executed_changes_nothing,
        safety.executed_writes_take_effect,
        history.orphaned_key_keeps_its_value,
        blindness.changed_key_reveals_pass_one,
        safety.scope_violation_is_a_fault,
        arbitration.value_independence,
        arbitration.passes_ignore_values,
    ),
    "deadlock_space": names(liveness.deadlock_is_stable, liveness.deadlock_xor_livelock, classes.one_terminal_class),
    "livelock_rule": names(liveness.deadlock_xor_livelock, classes.one_terminal_class),
    "broadcast": names(history.messages_one_epoch_later, blindness.observation_is_own_only),
    "silent_epoch": names(liveness.deadlock_is_stable, liveness.deadlock_xor_livelock, classes.one_terminal_class),
    "orphan_scope": names(history.orphaning_is_permanent, classes.one_terminal_class),
    "orphan_ends_run": names(
        history.exit_is_harmless,
        history.exit_ends_no_run,
        history.orphaning_is_permanent,
        history.orphaned_key_keeps_its_value,
        history.epochs_are_counted,
    ),
    "fault_precedence": names(safety.foreign_citation_is_a_fault, safety.log_names_the_true_pass),
}
"""Reading → claims whose answer it could change."""

_WHOLE = names(
    *claims_in(safety),
    arbitration.no_winner,
    arbitration.no_over_refusal,
    blindness.bare_tokens,
    history.orphaning_is_permanent,
    blindness.changed_key_reveals_pass_one,
)
"""The claims about single steps that are checked in the whole universe."""

LEFT_TO_PROOFS = names(
    symmetry.equivariance,
    arbitration.order_independence,
    arbitration.value_independence,
    blindness.token_blindness,
    history.exit_is_harmless,
    whole_epoch.outcomes_are_those_of_the_text,
)
"""Claims that the quick budget does not check in the universe, because theorems state them."""

_ALONE = names(safety.scope_violation_is_a_fault, reach.scope_violation_happens, history.orphaned_key_keeps_its_value)
_TWO_KEYS = (*_ALONE, arbitration.passes_ignore_values.name)
"""Claims that one key leaves vacuous; one agent is enough for those in `_ALONE`."""


def _named(claims: tuple[Property, ...], system: str, *, kinds: tuple[str, ...] = (), keys: int = 2) -> tuple[str, ...]:
    """The claims of a system, of these kinds (none: all kinds), without those that a single key leaves vacuous."""
    return tuple(
        claim.name
        for claim in claims
        if system in claim.systems and (not kinds or claim.kind in kinds) and (keys > 1 or claim.name not in _TWO_KEYS)
    )


_ASKING = names(
    safety.only_own_scope_changes,
    safety.executed_writes_take_effect,
    whole_epoch.outcomes_are_those_of_the_text,
    whole_epoch.livelock_is_counted_from_what_happened,
)
"""Claims that read what was submitted, so that the free-agent graph must check them for every joint choice."""


def plans(claims: tuple[Property, ...]) -> tuple[Plan, ...]:
    """Return every plan of this protocol; `claims` are all its claims."""
    # Two agents and theorems settle a single free epoch; plans with more agents check what several epochs lead to.
    adding_up = tuple(name for name in _named(claims, "free") if name not in _ASKING)
    quick = _named(claims, "run", kinds=("each_step", "reachable"))
    one_key = _named(claims, "universe", keys=1)
    few = tuple(name for name in one_key if name not in LEFT_TO_PROOFS)
    return (
        Plan("conditions", "explore"),
        Plan("run", "explore", ("quick",), claims=quick),
        Plan("run", "explore", _STANDARD),
        Plan("run", "explore", ("deep",), {"agents": 3, "keys": 1}, claims=_named(claims, "run", keys=1)),
        Plan("run", "fuzz", ("quick",), examples=FLOORED),
        Plan("run", "fuzz", _STANDARD),
        Plan("universe", "explore", ("quick",), {"keys": 1}, claims=few),
        Plan("universe", "explore", _STANDARD, {"keys": 1}, claims=one_key),
        Plan("universe", "explore", scope={"agents": 1}, claims=_ALONE),
        # Most of these claims are theorems as well, so the whole universe is searched in the deep budget only.
        Plan("universe", "explore", ("standard",), {}, claims=_WHOLE, quotient="renaming", part="1/4"),
        Plan("universe", "explore", ("deep",), {}, claims=_WHOLE),
        Plan("free", "explore"),
        Plan("free", "explore", _STANDARD, {"agents": 3}, claims=adding_up),
        Plan("free", "explore", _STANDARD, {"agents": 3, "keys": 3}, claims=adding_up),
        Plan("free", "explore", ("deep",), {"agents": 4}, claims=adding_up),
        Plan("free", "explore", ("deep",), {"agents": 4, "keys": 3}, claims=adding_up),
        Plan("free", "fuzz", ("quick",), examples=FLOORED),
        Plan("free", "fuzz", _STANDARD),
        *_under_readings(),
    )


def _under_readings() -> Iterator[Plan]:
    """A plan for each value that is not the default: the conditions, and the runs of free agents where it matters."""
    for name, values in reading_values(Readings()).items():
        for value in values[1:]:
            budgets = ("deep",) if name == "terminal_precedence" else _STANDARD
            yield Plan("conditions", "explore", budgets, readings={name: value})
            if name in _TOUCHED:
                yield Plan("run", "explore", _STANDARD, readings={name: value}, claims=_TOUCHED[name])
            if value == "collisions_alone":  # two agents have no third whose writes could count
                counted = names(liveness.livelock_counter_is_faithful)
                yield Plan("free", "explore", _STANDARD, {"agents": 3}, {name: value}, claims=counted)
            if name == "scope_check":
                yield Plan("run", "fuzz", ("deep",), readings={name: value})
