"""A second origin for the counts: the rules on bit masks, written from the text and independent of the model.

A situation is a tuple of masks, one per feasible action: bit p set if the action violates preference p.  An artefact is
a mask AV, a mask RP and a tuple of masks, one per declared pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from math import factorial, prod


def pair_masks(preferences: int, *, repeat: bool = False) -> tuple[int, ...]:
    """Return the pairs that may be declared, as masks."""
    pairs = [1 << p | 1 << q for p, q in combinations(range(preferences), 2)]
    return tuple(pairs + [1 << p for p in range(preferences)] * repeat)


def compiles(rows: Sequence[int], av: int, rp: int, pairs: Sequence[int]) -> bool:
    """Return whether the artefact compiles (6.2 and 6.4 on masks)."""
    if av and not pairs:
        return False
    if any(not row & pair for pair in pairs for row in rows):
        return False
    return all(row & rp or row & av == av for row in rows)


def permits(rows: Sequence[int], av: int, rp: int) -> tuple[int, ...]:
    """Return the places of the rows that the mask leaves (6.1)."""
    return tuple(place for place, row in enumerate(rows) if not row & rp and not row & ~av)


def artifacts(preferences: int) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Yield every AV, RP and set of pairs."""
    pairs = pair_masks(preferences)
    every = [chosen for size in range(len(pairs) + 1) for chosen in combinations(pairs, size)]
    yield from product(range(1 << preferences), range(1 << preferences), every)


def families(actions: int, preferences: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the situations up to the order of actions, each with the number of orders."""
    for rows in combinations_with_replacement(range(1 << preferences), actions):
        yield rows, factorial(actions) // prod(factorial(rows.count(row)) for row in set(rows))


@dataclass(frozen=True)
class Counts:
    """The numbers of submissions in all, that compile, permit something, gridlock, and authorise with an empty A_ok."""

    submissions: int
    compiled: int
    permitting: int
    gridlocked: int
    vacuous: int


def counts(actions: int, preferences: int) -> Counts:
    """Count every APCM with all actions feasible, and every REVISE artefact."""
    every = tuple(artifacts(preferences))
    submissions = compiled = permitting = vacuous = 0
    for rows, weight in families(actions, preferences):
        submissions += weight * len(every)
        for av, rp, pairs in every:
            if compiles(rows, av, rp, pairs):
                compiled += weight
                permitting += weight * bool(permits(rows, av, rp))
                vacuous += weight * (av != 0 and all(row & rp for row in rows))
    return Counts(submissions, compiled, permitting, compiled - permitting, vacuous)


def blocked(rows: Sequence[int], preferences: int, *, repeat: bool = False, required: bool = False) -> bool:
    """Return whether no artefact compiles and permits a row, by trying every AV and RP.

    All truthful pairs are declared: Rule 2 allows no other pairs, and the other rules only demand more of them.
    """
    truthful = [pair for pair in pair_masks(preferences, repeat=repeat) if all(row & pair for row in rows)]
    named = 0
    for pair in truthful:
        named |= pair
    for av, rp in product(range(1 << preferences), repeat=2):
        declared = truthful if av else ()
        if required and av & ~named:
            continue
        if compiles(rows, av, rp, declared) and permits(rows, av, rp):
            return False
    return True


def blocked_in_groups(rows: Sequence[int], preferences: int, most: int) -> bool:
    """Return the same if a collision may have up to `most` members."""
    groups = [group for group in range(1, 1 << preferences) if group.bit_count() <= most]
    truthful = [group for group in groups if all(row & group for row in rows)]
    return not any(
        compiles(rows, av, rp, truthful if av else ()) and permits(rows, av, rp)
        for av, rp in product(range(1 << preferences), repeat=2)
    )


def single_pair(rows: Sequence[int], preferences: int) -> bool:
    """Return whether some AV = {p}, RP = {q}, pair {p, q}, or the empty artefact, compiles and permits a row."""
    if permits(rows, 0, 0):
        return True
    return any(
        compiles(rows, 1 << p, 1 << q, (1 << p | 1 << q,)) and permits(rows, 1 << p, 1 << q)
        for p, q in product(range(preferences), repeat=2)
        if p != q
    )


def scrambled(
    kind: str, av: int, rp: int, pairs: tuple[int, ...], preferences: int
) -> tuple[int, int, tuple[int, ...]]:
    """Return AV for RP; AV moved on by one preference; no pairs."""
    match kind:
        case "swap":
            return rp, av, pairs
        case "turn":
            return (av << 1 | av >> preferences - 1) & (1 << preferences) - 1, rp, pairs
        case _:
            return av, rp, ()
