"""Exact sizes, each with a second origin: the bit-mask oracle, and a closed form for the size of the space."""

from __future__ import annotations

from math import comb

import pytest

from evenhand.core.bundle import claims_in
from evenhand.model.apcm.compiler import REFERENCE, SCRAMBLES, compiled
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.menus import all_fields
from evenhand.model.apcm.systems import AGENTS, UNIVERSE
from evenhand.properties.apcm import deadlock
from evenhand.properties.apcm.reach import compile_happens, gridlock_happens, vacuous_necessity_happens
from evenhand.search import explore
from tests.model.apcm.oracle import (
    Counts,
    blocked,
    blocked_in_groups,
    counts,
    families,
    permits,
    scrambled,
    single_pair,
)
from tests.model.apcm.oracle import artifacts as masks
from tests.model.apcm.oracle import compiles as oracle_compiles

PINNED = {
    (2, 2): Counts(submissions=512, compiled=170, permitting=45, gridlocked=125, vacuous=51),
    (3, 3): Counts(submissions=262_144, compiled=50_486, permitting=4_839, gridlocked=45_647, vacuous=31_633),
}
"""(actions, preferences) -> counts, over every APCM and every REVISE artefact."""

GOALS = (compile_happens, gridlock_happens, vacuous_necessity_happens)


def engine(actions: int, preferences: int) -> Counts:
    """Return the same numbers from the search of the model."""
    found = explore(UNIVERSE.at(actions=actions, preferences=preferences, hostile=0), GOALS)
    assert found.complete
    compiled, gridlocked, vacuous = (verdict.coverage["witnesses"] for verdict in found.verdicts)
    selections = 0
    for config in UNIVERSE.at(actions=actions, preferences=preferences, hostile=0).all_configs():
        start = next(iter(UNIVERSE.initial(config)))
        selections += sum(1 for _ in UNIVERSE.at(hostile=0).enabled(config, start))
    return Counts(selections, compiled, compiled - gridlocked, gridlocked, vacuous)


def size(actions: int, preferences: int) -> int:
    """Return the number of violation matrices, AV, RP and sets of pairs."""
    return int(2 ** (actions * preferences) * 4**preferences * 2 ** comb(preferences, 2))


def test_two_by_two_from_model_and_oracle() -> None:
    """Both give the pinned numbers, and the closed form gives the first."""
    assert engine(2, 2) == counts(2, 2) == PINNED[2, 2]
    assert size(2, 2) == PINNED[2, 2].submissions


def test_three_by_three_from_the_oracle() -> None:
    """All 262,144 submissions, up to the order of actions."""
    assert counts(3, 3) == PINNED[3, 3]
    assert size(3, 3) == PINNED[3, 3].submissions


@pytest.mark.deep
def test_three_by_three_from_the_model() -> None:
    """All 262,144 submissions through the model's own step."""
    assert engine(3, 3) == PINNED[3, 3]


BLOCKED = {
    (3, 4): (60, 60),
    (4, 3): (132, 132),
    (3, 5): (390, 390),
    (4, 4): (2_976, 2_976),
    (4, 5): (42_780, 45_660),
}
"""(actions, preferences) -> blocked APCMs where AV need not, and where it must, occur in a collision."""


def closed_form(rows: tuple[int, ...], preferences: int, *, repeat: bool, required: bool) -> bool:
    """Return the page's closed form on masks: no clean row, and no pair (or no named minimal row) to cover them."""
    pairs = [1 << p | 1 << q for p in range(preferences) for q in range(p)]
    pairs += [1 << p for p in range(preferences)] if repeat else []
    truthful = [pair for pair in pairs if all(row & pair for row in rows)]
    if 0 in rows:
        return False
    if not required:
        return not truthful
    named = 0
    for pair in truthful:
        named |= pair
    least = [row for row in rows if not any(other & row == other and other != row for other in rows)]
    return all(row & ~named for row in least)


def check_closed_form(actions: int, preferences: int) -> dict[tuple[bool, bool], int]:
    """Compare with every AV and RP on every situation; return the number of blocked ones by reading."""
    found: dict[tuple[bool, bool], int] = {}
    for repeat in (False, True):
        for required in (False, True):
            total = 0
            for rows, weight in families(actions, preferences):
                stuck = blocked(rows, preferences, repeat=repeat, required=required)
                assert stuck == closed_form(rows, preferences, repeat=repeat, required=required), rows
                total += weight * stuck
            found[repeat, required] = total
    return found


@pytest.mark.parametrize(("actions", "preferences"), [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3)])
def test_closed_form_of_deadlock(actions: int, preferences: int) -> None:
    """Small registries, every reading; registries below three by three block a lone preference at most."""
    found = check_closed_form(actions, preferences)
    if (actions, preferences) == (3, 3):
        assert found == {(False, False): 6, (False, True): 6, (True, False): 6, (True, True): 6}
    elif preferences == 1:
        assert found == {(False, False): 1, (False, True): 1, (True, False): 0, (True, True): 0}
    else:
        assert set(found.values()) == {0}


def test_smallest_blocked_situation() -> None:
    """Three actions, each of which violates another one of three laws, in any order."""
    found = [rows for rows, _ in families(3, 3) if blocked(rows, 3)]
    assert found == [(0b001, 0b010, 0b100)]


def test_where_a_collision_must_name_what_is_authorised_more_is_blocked() -> None:
    """The smallest situation that the reading `av_in_collision` decides: four actions, five preferences."""
    p, q, r, t, u = (1 << place for place in range(5))
    rows = (p | r, p | t, q | r, q | u)
    assert not blocked(rows, 5) and blocked(rows, 5, required=True)


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_no_bound_on_collisions_is_enough(most: int) -> None:
    """With collisions of up to k members, k + 1 laws and as many actions, each violating its own, are blocked."""
    laws = tuple(1 << law for law in range(most + 1))
    assert blocked_in_groups(laws, most + 1, most)
    assert not blocked_in_groups(laws, most + 1, most + 1)
    assert not blocked_in_groups(laws[:-1], most + 1, most)


@pytest.mark.parametrize(("actions", "preferences"), [(2, 2), (3, 2), (2, 3), (3, 3), (4, 3), (3, 4)])
def test_collisions_of_any_size_block_nothing(actions: int, preferences: int) -> None:
    """The repaired rules, on every situation."""
    assert not any(blocked_in_groups(rows, preferences, preferences) for rows, _ in families(actions, preferences))


@pytest.mark.deep
@pytest.mark.parametrize(("actions", "preferences"), BLOCKED)
def test_closed_form_of_deadlock_goes_further(actions: int, preferences: int) -> None:
    """Up to four actions and five preferences, every reading with an effect."""
    found = check_closed_form(actions, preferences)
    free, required = BLOCKED[actions, preferences]
    assert found == {(False, False): free, (False, True): required, (True, False): free, (True, True): required}


QUESTION_2 = {(2, 2): (24, 24, 21), (2, 3): (80, 80, 56), (3, 3): (728, 722, 598)}
"""(actions, preferences) -> situations with something feasible; opened by some artefact; opened by single_pair."""


@pytest.mark.parametrize(("actions", "preferences"), QUESTION_2)
def test_how_often_each_generator_permits(actions: int, preferences: int) -> None:
    """Every set of feasible actions; both generators in the model against all artefacts of the oracle."""
    situations = opened = single = 0
    for feasible in range(1, actions + 1):
        for rows, weight in families(feasible, preferences):
            ways = weight * comb(actions, feasible)
            situations += ways
            opened += ways * (not blocked(rows, preferences))
            single += ways * single_pair(rows, preferences)
    assert (situations, opened, single) == QUESTION_2[actions, preferences]
    system = AGENTS.at(actions=actions, preferences=preferences)
    permitting = {"complete": 0, "single_pair": 0}
    for config in system.all_configs():
        start = next(iter(system.initial(config)))
        step = system.take(config, start, next(iter(system.enabled(config, start))))
        permitting[config.generator] += bool(step.shown.permitted)
    assert permitting == {"complete": opened, "single_pair": single}


SCRAMBLED = {
    "swap": (1_363, 3_307, 169),
    "turn": (3_480, 0, 1_359),
    "silence": (3_487, 0, 1_352),
}
"""Kind -> number of artefacts (of those that compile and permit, 3 by 3) that then halt, diverge, keep the mask."""


@pytest.mark.parametrize("kind", SCRAMBLED)
def test_what_scrambling_does(kind: str) -> None:
    """On masks: a failed compile halts, another permitted set diverges."""
    halts = diverges = keeps = 0
    for rows, weight in families(3, 3):
        for av, rp, pairs in masks(3):
            if not oracle_compiles(rows, av, rp, pairs) or not permits(rows, av, rp):
                continue
            other = scrambled(kind, av, rp, pairs, 3)
            if not oracle_compiles(rows, *other):
                halts += weight
            elif permits(rows, *other[:2]) != permits(rows, av, rp):
                diverges += weight
            else:
                keeps += weight
    assert (halts, diverges, keeps) == SCRAMBLED[kind]


@pytest.mark.deep
def test_what_scrambling_does_to_the_model() -> None:
    """The same by the model's own scrambling; a wrong digest or a garbled field halts each of them."""
    found = {kind: [0, 0, 0] for kind in SCRAMBLES}
    for config in UNIVERSE.at(actions=3, preferences=3, hostile=0).all_configs():
        situation = config.situations[0]
        for fields in all_fields(config.preferences, config.readings):
            artifact = artifact_of(fields, None)
            plain = compiled(REFERENCE, config, situation, None, artifact)
            if not plain.ok or len(plain.forbidden) == len(situation.feasible):
                continue
            for kind, scramble in SCRAMBLES.items():
                other = compiled(REFERENCE, config, situation, None, scramble(config, artifact))
                found[kind][0 if not other.ok else 1 if other.forbidden != plain.forbidden else 2] += 1
    permitting = PINNED[3, 3].permitting
    halted = {kind: [permitting, 0, 0] for kind in ("unlink", "garble")}
    assert found == {**{kind: list(pinned) for kind, pinned in SCRAMBLED.items()}, **halted}


def test_deadlock_claims_are_named() -> None:
    """The claims that the page quotes exist."""
    names = {claim.name for claim in claims_in(deadlock)}
    assert {"every_situation_can_be_justified", "some_artifact_permits_unless_blocked"} <= names
