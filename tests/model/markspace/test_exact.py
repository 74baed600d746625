"""Amounts are exact: compared with decimals of sixty digits, and with doubles where doubles are wrong."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.model.markspace.exact import ZERO, Amount, decayed, ln_bounds, plain, total
from evenhand.model.markspace.marks import Kind, Source
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.signals import SIGNALS, WEIGHTS
from evenhand.model.markspace.signals_vocabulary import Against, Combine, Measure, SignalConfig, Still
from evenhand.model.markspace.strength import STRENGTH, Lives

terms = st.lists(st.tuples(st.fractions(-3, 3, max_denominator=9), st.integers(0, 30), st.integers(1, 9)), max_size=4)


def _decimal(parts: list[tuple[Fraction, int, int]]) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        found = Decimal(0)
        for c, age, half in parts:
            power = Decimal(2) ** (-Decimal(age) / Decimal(half))
            found += Decimal(c.numerator) / Decimal(c.denominator) * power
        return found


@given(terms)
def test_signs_agree_with_sixty_digits(parts: list[tuple[Fraction, int, int]]) -> None:
    """An amount is zero exactly where the digits vanish."""
    amount = total(decayed(c, age, half) for c, age, half in parts)
    value = _decimal(parts)
    expected = 0 if abs(value) < Decimal(10) ** -45 else 1 if value > 0 else -1
    assert amount.sign == expected


def test_equal_sums_are_equal_values() -> None:
    """Two halves of the square root of two are one of it; cancelled terms leave nothing."""
    root = decayed(Fraction(2), 1, 2)
    assert decayed(Fraction(1), 1, 2) + decayed(Fraction(1), 3, 6) == root
    assert root - root == ZERO
    assert root.rational is None and decayed(Fraction(1), 3, 1).rational == Fraction(1, 8)
    assert plain(Fraction(14142, 10000)) < root < plain(Fraction(14143, 10000))


def test_other_forms_of_an_amount_have_the_same_sign() -> None:
    """A kernel may show 1 as two halves, or a term that is zero; narrowing bounds would never end."""
    halves = Amount(((Fraction(1), Fraction(2)),))
    assert halves <= plain(1) <= halves and not halves < plain(1)
    assert Amount(((Fraction(0), Fraction(1)), (Fraction(1), Fraction(-2)))).sign == 0
    assert Amount(((Fraction(0), Fraction(0)),)).sign == 0


def test_no_half_life_is_an_error() -> None:
    """§7.2: half-lives are positive."""
    with pytest.raises(ValueError, match="half-life must be positive"):
        decayed(Fraction(1), 1, 0)


@given(st.fractions(Fraction(1, 50), 50, max_denominator=50))
def test_logarithms_are_bounded(value: Fraction) -> None:
    """From below and above."""
    with localcontext() as context:
        context.prec = 40
        exact = (Decimal(value.numerator) / Decimal(value.denominator)).ln()
        low, high = ln_bounds(value, 60)
        slack = Decimal(10) ** -30
        assert Decimal(low.numerator) / Decimal(low.denominator) <= exact + slack
        assert Decimal(high.numerator) / Decimal(high.denominator) >= exact - slack


# True over the reals, false in doubles.


def _config() -> SignalConfig:
    return SignalConfig(WEIGHTS, Fraction(9, 10), Fraction(2), Lives(1, 1, 1), Readings())


def _shown(act: Measure | Combine) -> tuple[Amount, Amount]:
    shown = SIGNALS.step(STRENGTH, _config(), Still(), act)[1]
    return shown.aggregate if isinstance(act, Combine) else shown.reduced


def test_recovery_is_strict_over_the_reals_and_not_in_doubles() -> None:
    """P35 on a constant mark: 1 - 2**-60 < 1 - 2**-61, which are equal as doubles."""
    before, after = _shown(Measure(Kind.ACTION, later=1, warnings=(Against(Fraction(1), age=60),)))
    assert before < after
    assert not 1.0 - 0.5**60 < 1.0 - 0.5**61


def test_trust_orders_old_observations_over_the_reals_and_not_in_doubles() -> None:
    """P6 after 1,100 half-lives: strength is positive, and 0.0 as a double."""
    shown = SIGNALS.step(STRENGTH, _config(), Still(), Measure(Kind.OBSERVATION, age=1100))[1]
    fleet, verified, unverified = shown.by_source
    assert unverified < verified < fleet and len(Source) == 3
    assert not 0.5**1100 * 0.3 < 0.5**1100 * 0.7


def test_aggregates_are_sublinear_over_the_reals_and_not_in_doubles() -> None:
    """P8 at factor 9/10: two marks of the smallest positive double aggregate to twice one."""
    tiny = 5e-324
    one = Fraction(tiny)
    assert _shown(Combine((one,), one))[1] < plain(2 * one)
    assert not tiny + tiny * 0.9 < 2 * tiny
