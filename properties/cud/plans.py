"""Which engine looks at what, under which budget.

The readings that change an answer get a run of their own, with the claims that they touch: an expectation that
nobody checks is worth nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.plan import Plan
from evenhand.core.property import Property
from evenhand.core.system import reading_values
from evenhand.model.cud.readings import Readings
from evenhand.properties.cud.safety import SAFETY

__all__ = ["plans"]

_STANDARD = ("standard", "deep")

FLOORED = 200
"""Examples of a standard run, for which the floors of rare events were set; with fewer, every verdict is UNDECIDED."""

_TOUCHED = {
    "scope_check": (
        "order_independence",
        "final_world_is_a_function_of_the_requests",
        "only_own_scope_changes",
        "non_executed_changes_nothing",
        "executed_writes_take_effect",
        "orphaned_key_keeps_its_value",
        "changed_key_reveals_pass_one",
        "scope_violation_is_a_fault",
        "value_independence",
        "passes_ignore_values",
    ),
    "deadlock_space": ("deadlock_is_stable", "deadlock_xor_livelock", "one_terminal_class"),
    "livelock_rule": ("deadlock_xor_livelock", "one_terminal_class"),
    "silent_epoch": ("deadlock_is_stable", "deadlock_xor_livelock", "one_terminal_class"),
    "orphan_scope": ("orphaning_is_permanent", "one_terminal_class"),
    "orphan_ends_run": (
        "exit_is_harmless",
        "exit_ends_no_run",
        "orphaning_is_permanent",
        "orphaned_key_keeps_its_value",
        "epochs_are_counted",
    ),
    "fault_precedence": ("foreign_citation_is_a_fault", "log_names_the_true_pass"),
}
"""Reading → claims whose answer it could change."""


def _single_steps(claims: tuple[Property, ...]) -> tuple[str, ...]:
    """The claims about single steps that the whole universe is asked about."""
    more = ("no_winner", "no_over_refusal", "bare_tokens", "orphaning_is_permanent", "changed_key_reveals_pass_one")
    names = [claim.name for claim in claims]
    return (*(claim.name for claim in SAFETY), *(name for name in more if name in names))


_ALONE = ("scope_violation_is_a_fault", "scope_violation_happens", "orphaned_key_keeps_its_value")
_TWO_KEYS = (*_ALONE, "passes_ignore_values")
"""Claims that one key says nothing about; `_ALONE` are those that one agent shows."""


def _named(claims: tuple[Property, ...], system: str, *, kinds: tuple[str, ...] = (), keys: int = 2) -> tuple[str, ...]:
    """The claims of a system: of these kinds (none: of all), and without those that a single key leaves empty."""
    return tuple(
        claim.name
        for claim in claims
        if system in claim.systems and (not kinds or claim.kind in kinds) and (keys > 1 or claim.name not in _TWO_KEYS)
    )


_ASKING = ("only_own_scope_changes", "executed_writes_take_effect", "outcomes_are_those_of_the_text")
"""Claims that look at what was submitted: of the free-agent graph they must be asked about every joint choice."""


def plans(claims: tuple[Property, ...]) -> tuple[Plan, ...]:
    """Every run of this protocol; `claims` are all there are."""
    whole = _single_steps(claims)
    # What a free epoch does is settled with two agents and theorems; more agents are there for what epochs add up to.
    adding_up = tuple(name for name in _named(claims, "free") if name not in _ASKING)
    quick = _named(claims, "run", kinds=("each_step", "reachable"))
    one_key = _named(claims, "universe", keys=1)
    proved = {claim.name for claim in claims if claim.proved}
    few = tuple(name for name in one_key if name in whole or name not in proved)
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
        # Most of these claims are theorems as well; the whole of it is for those who have the time.
        Plan("universe", "explore", ("standard",), {}, claims=whole, quotient="renaming", part="1/4"),
        Plan("universe", "explore", ("deep",), {}, claims=whole),
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
    """Each value that is not the default: the conditions, and where it matters the runs of free agents."""
    for name, values in reading_values(Readings()).items():
        for value in values[1:]:
            budgets = ("deep",) if name == "terminal_precedence" else _STANDARD
            yield Plan("conditions", "explore", budgets, readings={name: value})
            if name in _TOUCHED:
                yield Plan("run", "explore", _STANDARD, readings={name: value}, claims=_TOUCHED[name])
            if name == "scope_check":
                yield Plan("run", "fuzz", ("deep",), readings={name: value})
