"""Fits of made-up growth whose law is known beforehand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evenhand.studies.fitting import Fit, fitted


def of(law: Callable[[int], float], sizes: range) -> tuple[Fit, Fit, str | None]:
    """Both fits of a law, seen at these sizes."""
    return fitted([(size, law(size)) for size in sizes])


@pytest.mark.parametrize("exponent", [1, 2, 3.5])
def test_a_power_is_found(exponent: float) -> None:
    """Its exponent and scale; no point lies off it; through all but the last it says the last."""
    power, exponential, better = of(lambda size: 7 * size**exponent, range(2, 8))
    assert (power.rate, power.scale, power.off, power.misses) == pytest.approx((exponent, 7, 1, 1))
    assert better == "power" and exponential.off > 1.05
    assert exponential.misses is not None and exponential.misses < 0.9  # it grows slower than any factor per unit


@pytest.mark.parametrize("factor", [1.5, 2, 30])
def test_a_factor_is_found(factor: float) -> None:
    """The same the other way round."""
    power, exponential, better = of(lambda size: 3 * factor**size, range(2, 7))
    assert (exponential.rate, exponential.scale, exponential.off) == pytest.approx((factor, 3, 1))
    assert exponential.misses == pytest.approx(1) and exponential.at(9) == pytest.approx(3 * factor**9)
    assert better == "exponential" and power.misses is not None and power.misses > 1.1


def test_the_residual_is_that_of_the_line_with_its_two_numbers_taken_off() -> None:
    """Four points, each a factor of 1.1 off an exact doubling, in turn up, down, down, up: no line does better."""
    turns = {1: 1.1, 2: 1 / 1.1, 3: 1 / 1.1, 4: 1.1}
    _, exponential, _ = of(lambda size: 2**size * turns[size], range(1, 5))
    assert exponential.rate == pytest.approx(2)
    assert exponential.off == pytest.approx(1.1 ** (2**0.5))  # sqrt of 4 / (4 - 2), in logarithms


def test_where_both_fit_alike_neither_is_better() -> None:
    """A constant is a power of 0 and a factor of 1."""
    assert of(lambda _: 5.0, range(2, 6))[2] is None
    noisy = {2: 4.0, 3: 11.0, 4: 13.0, 5: 31.0}
    assert of(lambda size: noisy[size], range(2, 6))[2] is None


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([(1, 1.0), (2, 2.0)], "2 points are too few for a fit; it takes 3"),
        ([(1, 1.0), (1, 2.0), (2, 2.0)], "comes twice"),
        ([(0, 1.0), (1, 2.0), (2, 2.0)], "no logarithm"),
        ([(1, 0.0), (2, 2.0), (3, 2.0)], "no logarithm"),
    ],
)
def test_what_has_no_fit_says_so(points: list[tuple[int, float]], said: str) -> None:
    """Two points lie on every line; others have no logarithm."""
    with pytest.raises(ValueError, match=said):
        fitted(points)


def test_three_points_say_nothing_of_the_last() -> None:
    """Two points would be left."""
    assert [fit.misses for fit in of(lambda size: float(size), range(1, 4))[:2]] == [None, None]
