"""Exact multipliers against the printed formula of 16.7, with e and ln, to a hundred digits."""

from __future__ import annotations

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from evenhand.model.conviction import exact
from evenhand.model.conviction.exact import multiplier, theta


def decimal_weight(fraction: Fraction, saturation: int, greatest: Fraction, held: int) -> Decimal:
    """Return the printed formula of 16.7, to the context's digits."""
    rest = Decimal((1 - fraction).numerator) / Decimal((1 - fraction).denominator)
    k = -rest.ln() / saturation
    room = Decimal((greatest - 1).numerator) / Decimal((greatest - 1).denominator)
    return 1 + room * (1 - (-k * held).exp())


@pytest.mark.parametrize(("fraction", "saturation"), [("98/100", 5), ("3/4", 4), ("7/8", 6), ("3/4", 2), ("1/2", 3)])
def test_exact_order_agrees_with_a_hundred_digits(fraction: str, saturation: int) -> None:
    """Every pair of small sums: equality by form, order by intervals, against decimals."""
    part, two = Fraction(fraction), Fraction(2)
    counts = [c for c in itertools.product(range(3), repeat=min(saturation, 4) + 1) if 0 < sum(c) <= 3]
    weights = [multiplier(two, part, saturation, r) for r in range(saturation + 1)]
    zero = weights[0].times(0)
    sums = [sum((weights[r].times(n) for r, n in enumerate(c)), zero) for c in counts]
    with localcontext() as context:
        context.prec = 100
        table = [decimal_weight(part, saturation, two, r) for r in range(saturation + 1)]
        rough = [sum((table[r] * n for r, n in enumerate(c)), Decimal(0)) for c in counts]
        for (left, a), (right, b) in itertools.combinations(zip(sums, rough, strict=True), 2):
            same = abs(a - b) < Decimal("1e-80")
            assert (left == right) is same
            assert (left < right) is (not same and a < b)


def test_a_reducible_polynomial_needs_the_smaller_degree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the root (the seeded fault) two forms of one number stay unequal."""
    half = theta(Fraction(1, 4), 4, 0).times(Fraction(1, 2))
    assert theta(Fraction(1, 4), 4, 2) == half  # theta**2 = 1/2 although x**4 - 1/4 has degree 4

    def lazy(value: Fraction, degree: int) -> Fraction | None:
        return value if degree == 1 else None

    monkeypatch.setattr(exact, "_root", lazy)
    theta.cache_clear()
    try:
        assert theta(Fraction(1, 4), 4, 2) != half
    finally:
        theta.cache_clear()


def test_floats_break_ties_that_exact_numbers_keep() -> None:
    """The same three stakes in two orders: two floats, one exact number."""
    floats = [float(decimal_weight(Fraction(98, 100), 5, Fraction(2), held)) for held in range(6)]
    parted = [
        rounds
        for rounds in itertools.product(range(6), repeat=3)
        if sum(floats[r] for r in rounds) != sum(floats[r] for r in reversed(rounds))
    ]
    assert parted, "some order of three stakes should matter to floats"
    weights = [multiplier(Fraction(2), Fraction(98, 100), 5, r) for r in parted[0]]
    assert weights[0] + weights[1] + weights[2] == weights[2] + weights[1] + weights[0]
