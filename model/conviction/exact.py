"""Exact numbers: amounts of points, and the multipliers of 16.7 in the field Q(theta).

With g = 1 - ConvictionTargetFraction and S = ConvictionSaturationRounds, 16.7 reads

    multiplier(r) = 1 + (Max - 1) * (1 - theta**r)      theta = g**(1/S)

theta is irrational in general.  Let d be the largest divisor of S for which g is a perfect d-th power, g = c**d, and
n = S/d.  Then theta**n = c and x**n - c is irreducible (c > 0 is no p-th power for any prime p that divides n): every
element has exactly one form q0 + q1*theta + ... + q(n-1)*theta**(n-1).  Numbers are equal if their forms are equal.  To
order two unequal numbers, an interval around theta is halved until it excludes zero; this ends because only the zero
form has the value zero.  No float is used.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, total_ordering
from typing import TypeAlias

from evenhand.core.records import dataclass

Amount: TypeAlias = int | Fraction
"""Points: an integer where they are whole, otherwise a fraction in lowest terms."""


def exact(value: Amount) -> Amount:
    """The canonical form of an amount: whole numbers are integers."""
    return int(value) if value.denominator == 1 else value


def is_amount(value: object) -> bool:
    """Whether `value` can be staked: exact and positive.  A float or a truth value cannot."""
    return isinstance(value, int | Fraction) and not isinstance(value, bool) and value > 0


def _root(value: Fraction, degree: int) -> Fraction | None:
    """The exact root of a positive rational, or None.

    The root of a reduced fraction is rational only if numerator and denominator both have whole roots.
    """

    def whole(number: int) -> int | None:
        low, high = 0, number + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if middle**degree <= number else (low, middle)
        return low if low**degree == number else None

    above, below = whole(value.numerator), whole(value.denominator)
    return None if above is None or below is None else Fraction(above, below)


@total_ordering
@dataclass(frozen=True, eq=True, slots=True)
class Surd:
    """q0 + q1*t + ..., t the positive root of t**n = base, n the number of coefficients, x**n - base irreducible."""

    base: Fraction
    form: tuple[Fraction, ...]

    def __add__(self, other: Surd) -> Surd:
        if (self.base, len(self.form)) != (other.base, len(other.form)):
            raise ValueError("sums stay in one field: the parameters of one Issue")
        return Surd(self.base, tuple(a + b for a, b in zip(self.form, other.form, strict=True)))

    def times(self, factor: Amount) -> Surd:
        """Return this number times a rational, the only product that sums of stakes need."""
        return Surd(self.base, tuple(a * factor for a in self.form))

    def sign(self) -> int:
        """Return -1, 0 or 1, by halving an interval around the root until it excludes zero."""
        if not any(self.form):
            return 0
        low, high = Fraction(0), max(self.base, Fraction(1))
        while True:
            least = sum((a * (low if a > 0 else high) ** i for i, a in enumerate(self.form)), Fraction(0))
            most = sum((a * (high if a > 0 else low) ** i for i, a in enumerate(self.form)), Fraction(0))
            if least > 0 or most < 0:
                return 1 if least > 0 else -1
            middle = (low + high) / 2
            low, high = (middle, high) if middle ** len(self.form) <= self.base else (low, middle)

    def compared_with(self, number: Fraction) -> int:
        """Return the sign of the difference to a rational number."""
        return Surd(self.base, (self.form[0] - number, *self.form[1:])).sign()

    def __lt__(self, other: Surd) -> bool:
        return self != other and (self + other.times(-1)).sign() < 0


@lru_cache(maxsize=1_024)
def theta(remainder: Fraction, rounds: int, power: int) -> Surd:
    """Return theta**power in normal form, where theta = remainder**(1/rounds)."""
    divisors = (d for d in range(rounds, 0, -1) if rounds % d == 0)
    base, degree = next((c, rounds // d) for d in divisors if (c := _root(remainder, d)) is not None)
    turns, place = divmod(power, degree)
    return Surd(base, tuple(base**turns if i == place else Fraction(0) for i in range(degree)))


@lru_cache(maxsize=1_024)
def multiplier(greatest: Fraction, fraction: Fraction, saturation: int, held: int) -> Surd:
    """Return 16.7 after `held` rounds, uncapped: greatest + (1 - greatest) * theta**held."""
    one = theta(1 - fraction, saturation, 0)
    return one.times(greatest) + theta(1 - fraction, saturation, held).times(1 - greatest)
