"""Every mutant shows in its named scope, in no smaller one, and in the right kernel class."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest

from evenhand.core.atoms import Atom
from evenhand.core.lookup import UnknownName
from evenhand.core.system import AnySystem, Mutant, Step, reading_values
from evenhand.model.cud.classify import KERNEL_CLASSES, breaches
from evenhand.model.cud.kernel import REFERENCE, Rules
from evenhand.model.cud.mutants import MUTANTS, mutant
from evenhand.model.cud.protocol import CUD
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.run_system import RUN
from evenhand.model.cud.vocabulary import Choice, Epoch, Request
from tests.deep import rest_slow

PAGE = {
    "tie-break by agent name": "tie_break_by_name",
    "tie-break by submission order": "tie_break_by_submission_order",
    "tie-break by value": "tie_break_by_value",
    "tie-break by lowest action_id": "tie_break_by_action_id",
    "hidden priority": "hidden_priority",
    "most-refused wins": "most_refused_wins",
    "relax after epoch k": "relaxed_after_k",
    "resolver rewrites a request onto a free key": "resolver_rewrites",
    "reader beats writer": "reader_beats_writer",
    "last writer wins": "last_writer_wins",
    "one key exempt from interference": "one_key_exempt",
    "refuse all if any collide": "refuse_all_if_any_collides",
    "pass 2 over all submitted": "pass_two_over_all",
    "pass 1 skipped": "pass_one_skipped",
    "veto ignored": "veto_ignored",
    "open-world ALLOW": "open_world_allow",
    "foreign citation accepted": "foreign_citation_accepted",
    "exit frees authority": "exit_frees_authority",
    "exit transfers authority": "exit_transfers_authority",
    "orphan reclaimed": "orphan_reclaimed",
    "scope not checked": "scope_not_checked",
    "READ writes": "read_writes",
    "empty scope passes": "empty_scope_passes",
    "duplicate key collides with itself": "duplicate_key_collides_with_itself",
    "token tells pass 1 from pass 2": "token_tells_the_pass",
    "refusing agent named": "refusing_agent_named",
    "message delivered in the same epoch": "message_delivered_at_once",
    "forged sender accepted": "forged_sender_accepted",
    "livelock counter never resets": "livelock_never_resets",
    "livelock counted on pass 1": "livelock_counts_pass_one",
    "agent id taken from the request": "agent_id_from_request",
    "authority created after epoch 0 honoured": "late_authority_honoured",
}

ARBITRATION, THEFT, VETO, STRUCTURE = "IMPLICIT_ARBITRATION", "AUTHORITY_THEFT", "VETO_OVERRIDDEN", "STRUCTURE_BREACH"
SCOPE, REFUSAL, BLINDNESS, TOKEN = "SCOPE_BREACH", "OVER_REFUSAL", "BLINDNESS_BREACH", "TOKEN_BREACH"
CHANNEL, STATE = "CHANNEL_BREACH", "STATE_BREACH"

TABLE: dict[str, tuple[str, ...]] = {
    "tie_break_by_name": (ARBITRATION,),
    "tie_break_by_submission_order": (ARBITRATION,),
    "tie_break_by_value": (ARBITRATION,),
    "tie_break_by_action_id": (ARBITRATION,),
    "hidden_priority": (ARBITRATION,),
    "round_robin": (ARBITRATION,),
    "most_refused_wins": (ARBITRATION,),
    "narrowest_wins": (ARBITRATION,),
    "most_executions": (ARBITRATION,),
    "reader_beats_writer": (ARBITRATION,),
    "writer_beats_reader": (ARBITRATION,),
    "last_writer_wins": (ARBITRATION,),
    "reads_never_collide": (ARBITRATION,),
    "first_key_only_collides": (ARBITRATION,),
    "one_key_exempt": (ARBITRATION,),
    "relaxed_after_k": (ARBITRATION,),
    # The rewritten request affects an undeclared key, and not the declared one.
    "resolver_rewrites": (ARBITRATION, SCOPE, STATE),
    "pass_one_skipped": (THEFT, VETO),
    "veto_ignored": (VETO,),
    "deny_of_read_ignored": (VETO,),
    "deny_binds_its_holder": (VETO,),
    "veto_lapses_after_k": (VETO,),
    "open_world_allow": (THEFT,),
    "uncited_allow_suffices": (THEFT,),
    "any_key_suffices": (THEFT,),
    "any_held_allow_suffices": (THEFT,),
    # A foreign citation that still fails pass 1 is refused without the fault that it is.
    "foreign_citation_accepted": (THEFT, STRUCTURE, REFUSAL),
    "foreign_citation_no_fault": (STRUCTURE,),
    "exit_frees_authority": (VETO,),
    "exit_transfers_authority": (THEFT, STRUCTURE),
    "orphan_reclaimed": (THEFT,),
    "late_authority_honoured": (THEFT, STRUCTURE),
    "agent_id_from_request": (STRUCTURE,),
    "exit_lapses_allows": (),
    "empty_scope_passes": (STRUCTURE,),
    "duplicate_key_collides_with_itself": (STRUCTURE,),
    "unknown_key_passes": (STRUCTURE,),
    "unknown_type_passes": (STRUCTURE,),
    "opaque_value_passes": (STRUCTURE,),
    "forged_action_id_passes": (STRUCTURE,),
    "read_with_delta_writes": (STRUCTURE,),
    "read_writes": (STATE,),
    "scope_not_checked": (SCOPE,),
    "violation_stays": (SCOPE,),
    # The innocent is blamed, and its write is lost.
    "fault_spreads": (SCOPE, STATE),
    "lost_update": (STATE,),
    "refuse_all_if_any_collides": (REFUSAL,),
    "pass_two_over_all": (REFUSAL,),
    "readers_collide": (REFUSAL,),
    "exit_keeps_a_lock": (REFUSAL,),
    "deny_blocks_both_operations": (REFUSAL,),
    "token_tells_the_pass": (BLINDNESS,),
    "collision_told_as_fault": (BLINDNESS,),
    "collision_told_as_executed": (BLINDNESS,),
    "fault_told_as_failure": (TOKEN,),
    "violation_told_as_executed": (TOKEN,),
    "executed_told_as_failure": (TOKEN,),
    "refusing_agent_named": (BLINDNESS,),
    "receipt_names_the_pass": (BLINDNESS,),
    "message_delivered_at_once": (CHANNEL,),
    "own_message_echoed": (CHANNEL,),
    "other_agents_outcome_seen": (CHANNEL,),
    "forged_sender_accepted": (CHANNEL,),
    "oversized_message_passes": (CHANNEL,),
    "any_text_is_a_message": (CHANNEL,),
}
"""Mutant → every kernel class that its scope shows; the first one is the verdict.  Counters are in no trace."""


def walk(system: AnySystem) -> Iterator[Step[Any, Any, Any, Any]]:
    """Yield every step from every reachable state, breadth first."""
    for config in system.all_configs():
        states = dict.fromkeys(system.initial(config))
        queue = list(states)
        for state in queue:
            for action in system.enabled(config, state):
                taken = system.take(config, state, action)
                yield taken
                if taken.after not in states:
                    states[taken.after] = None
                    queue.append(taken.after)


def differs(one: Mutant[Rules], system: AnySystem) -> bool:
    """Return whether some reachable step of the mutant differs from the reference's."""
    honest = replace(system, rules=REFERENCE)
    broken = replace(system, rules=one.rules)
    return any(taken != honest.take(taken.config, taken.before, taken.action) for taken in walk(broken))


def shown_classes(one: Mutant[Rules], system: AnySystem) -> tuple[str, ...]:
    """Return every kernel class that some step of the mutant shows, in their order."""
    found = {kind for taken in walk(replace(system, rules=one.rules)) for kind in breaches(taken)}
    return tuple(kind.removeprefix("IX2_FAIL/") for kind in KERNEL_CLASSES if kind in found)


def test_names_are_unique_and_the_page_is_covered() -> None:
    """Every mutant in the requirements exists, and each has a line in the table."""
    names = [one.name for one in MUTANTS]
    assert len(set(names)) == len(names)
    assert [name for name in PAGE.values() if name not in names] == []
    assert set(TABLE) == {one.name for one in MUTANTS if one.system != "free"}


@pytest.mark.parametrize("one", MUTANTS, ids=lambda one: one.name)
def test_it_is_another_kernel_under_legal_readings(one: Mutant[Rules]) -> None:
    """One or two functions are replaced, and the readings exist."""
    changed = [
        entry.name for entry in fields(Rules) if getattr(one.rules, entry.name) != getattr(REFERENCE, entry.name)
    ]
    assert 1 <= len(changed) <= 2
    known = reading_values(Readings())
    assert all(name in known and (not known[name] or value in known[name]) for name, value in one.readings)
    assert bool(one.reason) == (one.expected != "killed")


@pytest.mark.parametrize("one", MUTANTS, ids=lambda one: one.name)
def test_it_can_be_seen_where_it_says(one: Mutant[Rules]) -> None:
    """Some reachable step differs from the reference; none does for an equivalent mutant."""
    assert differs(one, one.of(CUD.systems)) == (one.expected == "killed")


@pytest.mark.parametrize("one", [one for one in MUTANTS if one.expected == "killed"], ids=lambda one: one.name)
def test_nothing_smaller_shows_its_class(one: Mutant[Rules]) -> None:
    """In a free-agent graph, which no kernel class covers, no smaller scope shows any difference.

    The claims about that graph need two agents, so there is no smaller scope with one.
    """
    system = one.of(CUD.systems)
    for name, size in system.scope.items():
        if size > (2 if (one.system, name) == ("free", "agents") else 1):
            less = system.at(**{name: size - 1})
            seen = differs(one, less) if one.system == "free" else TABLE[one.name][0] in shown_classes(one, less)
            assert not seen, f"{name}={size - 1} is enough"


@pytest.mark.parametrize("name", rest_slow(TABLE, 15))
def test_its_kernel_class(name: str) -> None:
    """The classes worked out by hand are those that the classifier finds in the traces."""
    assert shown_classes(mutant(name), mutant(name).of(CUD.systems)) == TABLE[name]


def test_every_kernel_class_but_the_last_is_met() -> None:
    """Only the catch-all has no mutant."""
    met = {f"IX2_FAIL/{kind}" for kinds in TABLE.values() for kind in kinds}
    assert [kind for kind in KERNEL_CLASSES if kind not in met] == ["IX2_FAIL/DRIFT"]


@cache
def _one_epoch() -> AnySystem:
    return RUN.at(epochs=1)


@pytest.mark.parametrize(
    "check",
    [
        "snapshot_diff_only",
        *(pytest.param(one, marks=pytest.mark.deep) for one in reading_values(Readings())["scope_check"][1:]),
    ],
)
def test_step_stays_total_under_every_mutant_and_scope_check(check: str) -> None:
    """No mutant raises on any action of the menus."""
    system = _one_epoch().under(scope_check=check)
    for one in MUTANTS:
        assert sum(1 for _ in walk(replace(system, rules=one.rules))) > 0


@pytest.mark.parametrize("one", MUTANTS, ids=[one.name for one in MUTANTS])
def test_whoever_forgives_one_fault_still_sees_the_others(one: Mutant[Rules]) -> None:
    """On a request that is wrong in two ways at once no mutant raises."""
    system = replace(_one_epoch(), rules=one.rules)
    config = next(iter(system.all_configs()))
    (start,) = system.initial(config)
    key = config.keys[0]
    deltas = [(), (("nowhere", Atom("int", "1")),), ((key, Atom("int", "1")), (key, Atom("int", "2")))]
    for operation, scope, delta, forged in itertools.product(
        ("READ", "WRITE", "SHOUT"), ((), (key, key), ("nowhere",)), deltas, (None, "somebody")
    ):
        asked = Request(operation, scope, delta, action_id=forged)
        shown = system.take(config, start, Epoch(((config.agents[0], Choice(asked)),))).shown
        assert len(shown.tokens) == len(config.agents)


def test_an_unknown_mutant_is_refused_by_name() -> None:
    """The message names the mutant."""
    with pytest.raises(UnknownName, match="'coin_toss'"):
        mutant("coin_toss")
