"""The spike's numbers, from a derivation that shares no code with it: instants for ages, level by level."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

SPIKES = Path(__file__).parents[2] / "docs" / "explanation" / "spikes"


@pytest.fixture(autouse=True)
def spikes_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The spikes are scripts that import each other from their own folder."""
    monkeypatch.setattr(sys, "path", [str(SPIKES), *sys.path])


def spike(name: str) -> Any:
    """A spike's module."""
    return importlib.import_module(name)


# --- markspace: instants, ids that count up, nothing ever aged -------------------------------------------

Instants = tuple[int, tuple[tuple[int, int, int, int], ...], str, int, frozenset[int], int]
"""now, intents (id, agent, confidence, expires_at), phases as letters, holder or -1, needs, next id."""


def instants_after(world: Instants, policy: str, lease: str, lock: str, ttl: int) -> Iterator[Instants]:
    """Return every world one operation later, two agents, confidences 0 and 1."""
    now, marks, phases, holder, needs, fresh = world
    for me in (0, 1):
        if phases[me] == "A":
            yield now, marks, put(phases, me, "R"), holder, needs, fresh
        if phases[me] == "R":
            without = tuple(m for m in marks if m[1] != me)
            yield now, without, put(phases, me, "I"), me, needs, fresh
            yield now, without, put(phases, me, "I"), holder, needs, fresh
        for confidence in (0, 1) if phases[me] == "I" else ():
            if (lock == "through_tool_call" and phases != "II") or holder == 1 - me:
                yield world
                continue
            mine = (fresh, me, confidence, now + ttl)
            rivals = [m for m in marks if m[1] != me and m[3] >= now]
            stay = (*(m for m in marks if m[1] != me), mine)
            if rivals and policy == "YIELD_ALL":
                yield now, stay, phases, holder, needs | {me}, fresh + 1
            elif rivals and (policy == "FIRST_WRITER" or rivals[0][2] >= confidence):
                yield now, stay, phases, holder, needs, fresh + 1
            else:
                yield now, stay, put(phases, me, "A"), holder, needs - {me}, fresh + 1
    kept = {"intent_ttl": "", "renewed_while_tool_runs": "R", "renewed_since_allow": "AR"}[lease]
    yield (
        now + 1,
        tuple((i, who, c, now + 1 + ttl if phases[who] in kept and t >= now else t) for i, who, c, t in marks),
        phases,
        holder,
        needs,
        fresh,
    )


def put(letters: str, place: int, letter: str) -> str:
    """`letters` with one replaced."""
    return letters[:place] + letter + letters[place + 1 :]


def normal(world: Instants) -> tuple[object, ...]:
    """Return the relevant part of a world of instants: rank and remaining life of live intents."""
    now, marks, phases, holder, needs, _ = world
    alive = tuple((who, confidence, expires - now) for _, who, confidence, expires in sorted(marks) if expires >= now)
    return alive, phases, holder, needs


def levels_by_instants(policy: str, lease: str, lock: str, ttl: int, depth: int) -> tuple[tuple[int, ...], int]:
    """Return the number of new normal forms at each depth, and of worlds of instants explored."""
    start: Instants = (0, (), "II", -1, frozenset(), 0)
    worlds, seen, levels = {start}, {normal(start)}, [1]
    layer = {start}
    for _ in range(depth):
        layer = {after for world in layer for after in instants_after(world, policy, lease, lock, ttl)} - worlds
        worlds |= layer
        forms = {normal(world) for world in layer} - seen
        seen |= forms
        levels.append(len(forms))
    return tuple(levels), len(worlds)


CASES = [
    ("FIRST_WRITER", "intent_ttl", "per_operation"),
    ("FIRST_WRITER", "renewed_since_allow", "per_operation"),
    ("FIRST_WRITER", "intent_ttl", "through_tool_call"),
    ("HIGHEST_CONFIDENCE", "renewed_while_tool_runs", "per_operation"),
    ("YIELD_ALL", "intent_ttl", "per_operation"),
]


@pytest.mark.parametrize(("policy", "lease", "lock"), CASES)
def test_ages_and_instants_reach_the_same_states_at_the_same_depth(policy: str, lease: str, lock: str) -> None:
    """Level by level; the graph of instants is infinite, the graph of ages is finite."""
    guard, bare = spike("markspace_guard"), spike("bare_search")
    found = bare.search(guard.system.under(policy=policy, lease=lease, guard_atomicity=lock), guard.in_flight)
    levels, worlds = levels_by_instants(policy, lease, lock, ttl=1, depth=len(found.levels))
    assert levels == (*found.levels, 0)
    assert worlds > 3 * found.states  # the graph of instants is infinite: the same states come back with other numbers


def never(_config: object, _phase: object) -> bool:
    """A lease that is never renewed."""
    return False


def newest(_config: object, intents: Any) -> str:
    """A reversed order: the last writer wins."""
    agent: str = intents[-1].agent
    return agent


def test_a_lease_that_loses_its_life_or_its_rank_is_seen() -> None:
    """Two seeded faults, and the shortest run that each one allows."""
    guard, bare = spike("markspace_guard"), spike("bare_search")
    system = guard.system.under(lease="renewed_since_allow")
    faulty = replace(system, rules=replace(system.rules, renews=never))
    assert bare.search(system, guard.in_flight).witness is None
    witness = bare.search(faulty, guard.in_flight).witness
    assert sorted(act.what for act in witness) == ["call", "call", "pre", "pre", "tick", "tick"]  # ttl + 1 ticks
    last = replace(system, rules=replace(system.rules, winner=newest))
    assert len(bare.search(last, guard.in_flight).witness) == 4
