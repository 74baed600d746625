"""The spikes' numbers, from second derivations that share no code with them.

markspace: the same guard with instants instead of ages, level by level.  conviction: a closed formula for
the graph, decimals of a hundred digits for the comparisons.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

SPIKES = Path(__file__).parents[2] / "docs" / "explanation" / "spikes"


@pytest.fixture(autouse=True)
def spikes_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The spikes are scripts: they find each other in their own folder."""
    monkeypatch.setattr(sys, "path", [str(SPIKES), *sys.path])


def spike(name: str) -> Any:
    """A spike's module."""
    return importlib.import_module(name)


# --- markspace: instants, ids that count up, nothing ever aged -------------------------------------------

Instants = tuple[int, tuple[tuple[int, int, int, int], ...], str, int, frozenset[int], int]
"""now, intents (id, agent, confidence, expires_at), phases as letters, holder or -1, needs, next id."""


def instants_after(world: Instants, policy: str, lease: str, lock: str, ttl: int) -> Iterator[Instants]:
    """Every world one operation later, two agents, confidences 0 and 1."""
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
    """What can matter of a world of instants: rank and remaining life of what is alive."""
    now, marks, phases, holder, needs, _ = world
    alive = tuple((who, confidence, expires - now) for _, who, confidence, expires in sorted(marks) if expires >= now)
    return alive, phases, holder, needs


def levels_by_instants(policy: str, lease: str, lock: str, ttl: int, depth: int) -> tuple[tuple[int, ...], int]:
    """How many normal forms are new at each depth, and how many worlds of instants that took."""
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
    """Level by level; and instants go on for ever where ages have closed."""
    guard, bare = spike("markspace_guard"), spike("bare_search")
    found = bare.search(guard.system.under(policy=policy, lease=lease, guard_atomicity=lock), guard.in_flight)
    levels, worlds = levels_by_instants(policy, lease, lock, ttl=1, depth=len(found.levels))
    assert levels == (*found.levels, 0)
    assert worlds > 3 * found.states  # instants never close: the same states come back with other numbers


def never(_config: object, _phase: object) -> bool:
    """A lease that nothing renews."""
    return False


def newest(_config: object, intents: Any) -> str:
    """An order turned round: the last to write wins."""
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


# --- conviction: a closed formula, and decimals ---------------------------------------------------------


def closed_form(rounds: int) -> int:
    """States before the end, two agents with one point staked and one in hand, saturation beyond the rounds.

    In round r a point moved or added before may lie on 2 proposals with r - 1 ages: t = 2(r - 1) places.  The
    staked point is where it was or in one of them, the other in hand or in one of them, and points merge:
    1 + t + t + t(t + 1)/2 positions of one agent, squared for two, summed over the rounds.
    """
    return sum((1 + 2 * t + t * (t + 1) // 2) ** 2 for t in (2 * r for r in range(rounds)))


def decimal_weight(fraction: Fraction, saturation: int, greatest: Fraction, held: int) -> Decimal:
    """16.7 as it is printed, with e and ln, to the context's digits."""
    rest = Decimal((1 - fraction).numerator) / Decimal((1 - fraction).denominator)
    k = -rest.ln() / saturation
    room = Decimal((greatest - 1).numerator) / Decimal((greatest - 1).denominator)
    return 1 + room * (1 - (-k * min(held, saturation)).exp())


def final_states(rounds: int) -> int:
    """Distinct (hands, winner) at the end, by placing every point and weighing with decimals."""
    tables = [decimal_weight(Fraction(98, 100), 5, Fraction(2), held) for held in range(rounds)]
    moved = [(p, held) for p in (0, 1) for held in range(rounds - 1)]
    ends = set[tuple[bool, bool, int | None]]()
    staked: list[list[tuple[int, int] | None]] = [[(who, rounds - 1), *moved] for who in (0, 1)]
    places = [staked[0], [None, *moved], staked[1], [None, *moved]]
    for a, b, c, d in itertools.product(*places):
        totals = [sum((tables[x[1]] for x in (a, b, c, d) if x and x[0] == p), Decimal(0)) for p in (0, 1)]
        tie = abs(totals[0] - totals[1]) < Decimal("1e-60")
        ends.add((b is None, d is None, None if tie else int(totals[1] > totals[0])))
    return len(ends)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_the_stake_graph_has_the_size_of_the_formula(rounds: int) -> None:
    """Positions of one agent, squared, over the rounds; the ends placed and weighed apart."""
    spiked, bare = spike("conviction_multiplier"), spike("bare_search")
    with localcontext() as context:
        context.prec = 100
        expected = closed_form(rounds) + final_states(rounds)
    assert bare.search(spiked.system.at(rounds=rounds), spiked.outvoted).states == expected


@pytest.mark.parametrize(("fraction", "saturation"), [("98/100", 5), ("3/4", 4), ("7/8", 6), ("3/4", 2), ("1/2", 3)])
def test_exact_order_agrees_with_a_hundred_digits(fraction: str, saturation: int) -> None:
    """Every pair of small sums: equality by form, order by intervals, against decimals."""
    spiked = spike("conviction_multiplier")
    config = spiked.Config(fraction=Fraction(fraction), saturation=saturation)
    counts = [c for c in itertools.product(range(3), repeat=min(saturation, 4) + 1) if 0 < sum(c) <= 3]
    zero = spiked.multiplier(config, 0).times(0)
    exact = [sum((spiked.multiplier(config, r).times(n) for r, n in enumerate(c)), zero) for c in counts]
    with localcontext() as context:
        context.prec = 100
        table = [decimal_weight(config.fraction, saturation, config.greatest, r) for r in range(saturation + 1)]
        rough = [sum((table[r] * n for r, n in enumerate(c)), Decimal(0)) for c in counts]
        for (left, a), (right, b) in itertools.combinations(zip(exact, rough, strict=True), 2):
            same = abs(a - b) < Decimal("1e-80")
            assert (left == right) is same
            assert (left < right) is (not same and a < b)


def test_a_reducible_polynomial_needs_the_smaller_degree(monkeypatch: pytest.MonkeyPatch) -> None:
    """And with the root left out (the seeded fault) two forms of one number stay unequal."""
    spiked = spike("conviction_multiplier")
    theta = spiked.theta
    assert len(theta(Fraction(1, 50), 5, 1).form) == 5
    squared = theta(Fraction(1, 4), 4, 2)  # theta**2 = 1/2 although x**4 - 1/4 has degree 4
    assert squared == theta(Fraction(1, 4), 4, 0).times(Fraction(1, 2))

    def lazy(value: Fraction, degree: int) -> Fraction | None:
        return value if degree == 1 else None

    monkeypatch.setattr(spiked, "_root", lazy)
    assert theta(Fraction(1, 4), 4, 2) != theta(Fraction(1, 4), 4, 0).times(Fraction(1, 2))


def test_floats_break_ties_that_exact_numbers_keep() -> None:
    """The same three stakes in two orders: two floats, one exact number."""
    spiked = spike("conviction_multiplier")
    floats = [float(decimal_weight(Fraction(98, 100), 5, Fraction(2), held)) for held in range(6)]
    parted = [
        rounds
        for rounds in itertools.product(range(6), repeat=3)
        if sum(floats[r] for r in rounds) != sum(floats[r] for r in reversed(rounds))
    ]
    assert parted, "some order of three stakes should matter to floats"
    config = spiked.Config()
    weights = [spiked.multiplier(config, r) for r in parted[0]]
    assert weights[0] + weights[1] + weights[2] == weights[2] + weights[1] + weights[0]


def test_multiplier_at_saturation_is_above_the_example_of_16_7() -> None:
    """It reaches 1.98 where the example promises at least 1.96, grows on the way, and stops."""
    spiked = spike("conviction_multiplier")
    full = spiked.multiplier(spiked.Config(), 5)
    assert full.form == (Fraction(198, 100), 0, 0, 0, 0)  # 1 + (2 - 1) * 0.98: more than the 1.96 promised
    assert spiked.multiplier(spiked.Config(), 9) == full
    assert all(spiked.multiplier(spiked.Config(), r) < spiked.multiplier(spiked.Config(), r + 1) for r in range(5))
