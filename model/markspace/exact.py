"""Sums of decayed strengths, kept exact and compared exactly (§3.1).

A strength is `c * 2**-h` with rational `c` and `h` (age over half-life); a sum of them is an `Amount`.  Whole halvings
go into the coefficient, so that the rest of `h` lies in [0, 1).  The numbers `2**-h` for different rational `h` in [0,
1) are linearly independent over the rationals (x**n - 2 is irreducible), so an amount is zero exactly if no term is
left.  The sign of any other amount is found by narrowing rational bounds, which always ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from evenhand.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    """The sum of `coefficient * 2**-halvings` over its terms: sorted, halvings in [0, 1), no coefficient zero.

    A kernel that keeps floats shows `{"$near": 0.7071, "within": 1e-4}` in place of the record.
    """

    terms: tuple[tuple[Fraction, Fraction], ...] = ()

    def __add__(self, other: Amount) -> Amount:
        return total((self, other))

    def __sub__(self, other: Amount) -> Amount:
        return total((self, Amount(tuple([(h, -c) for h, c in other.terms]))))

    def scaled(self, factor: Fraction) -> Amount:
        """Return this amount times a rational number."""
        return Amount(tuple((h, c * factor) for h, c in self.terms) if factor else ())

    @property
    def sign(self) -> int:
        """Return the exact sign: -1, 0 or 1."""
        if len(self.terms) > 1:
            return _sign(self)
        return sum((c > 0) - (c < 0) for _, c in self.terms)

    @property
    def rational(self) -> Fraction | None:
        """Return the value as a fraction; None where it is irrational."""
        if not self.terms:
            return Fraction(0)
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] == 0 else None

    def compared_with(self, number: Fraction) -> int:
        """Return the sign of the difference to a rational number."""
        return (self - plain(number)).sign

    def __lt__(self, other: Amount) -> bool:
        return self != other and (self - other).sign < 0

    def __le__(self, other: Amount) -> bool:
        return self == other or (self - other).sign <= 0

    def __str__(self) -> str:
        return " + ".join(f"{c}" if h == 0 else f"{c}*2^-{h}" for h, c in self.terms) or "0"


ZERO = Amount()
"""No strength."""

_NONE = Fraction(0)


def plain(value: Fraction | int) -> Amount:
    """Return a rational number as an amount."""
    return Amount(((_NONE, Fraction(value)),)) if value else ZERO


def decayed(initial: Fraction, age: int, half_life: int) -> Amount:
    """Return `initial * 0.5**(age / half_life)`, both in seconds.  Raises ValueError if half_life <= 0."""
    if half_life <= 0:
        raise ValueError(f"a half-life must be positive, not {half_life}")
    whole, rest = divmod(age, half_life)
    left = initial / 2**whole if whole >= 0 else initial * 2**-whole
    return Amount(((Fraction(rest, half_life) if rest else _NONE, left),)) if left else ZERO


def total(amounts: Iterable[Amount]) -> Amount:
    """Return the sum."""
    terms = [term for amount in amounts for term in amount.terms]
    if len(terms) < 2:
        return Amount(tuple(terms))
    found: dict[Fraction, Fraction] = {}
    for halvings, coefficient in terms:
        known = found.get(halvings)
        found[halvings] = coefficient if known is None else known + coefficient
    return Amount(tuple(sorted([(h, c) for h, c in found.items() if c])))


@lru_cache(maxsize=4_096)
def _sign(amount: Amount) -> int:
    # What a kernel shows may be in another form, in which terms that cancel would be narrowed for ever.
    terms = total(Amount(((h % 1, c / Fraction(2) ** (h // 1)),)) for h, c in amount.terms).terms
    if len({c > 0 for _, c in terms}) < 2:
        return Amount(terms[:1]).sign
    bits = 32
    while True:
        low = high = Fraction(0)
        for halvings, coefficient in terms:
            below, above = _power_bounds(halvings, bits)
            low += coefficient * (below if coefficient > 0 else above)
            high += coefficient * (above if coefficient > 0 else below)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        bits *= 2


@lru_cache(maxsize=4_096)
def _power_bounds(halvings: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return rational bounds of 2**-halvings for halvings in [0, 1), at most 2**-bits apart."""
    if halvings == 0:
        return Fraction(1), Fraction(1)
    p, q = halvings.numerator, halvings.denominator
    root = _integer_root(2 ** (bits * q - p), q)
    return Fraction(root, 2**bits), Fraction(root + 1, 2**bits)


def _integer_root(value: int, degree: int) -> int:
    """Return the largest integer whose power does not exceed `value`, by bisection."""
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**degree <= value:
            low = middle
        else:
            high = middle - 1
    return low


@lru_cache(maxsize=1_024)
def ln_bounds(value: Fraction, terms: int) -> tuple[Fraction, Fraction]:
    """Return rational bounds of the natural logarithm of a positive number, from `terms` terms of the artanh series.

    Raises ValueError for a number that is not positive.
    """
    if value <= 0:
        raise ValueError(f"no logarithm of {value}")
    if value < 1:
        low, high = ln_bounds(1 / value, terms)
        return -high, -low
    x = (value - 1) / (value + 1)
    power, found = x, Fraction(0)
    for k in range(terms):
        found += power / (2 * k + 1)
        power *= x * x
    rest = power / ((2 * terms + 1) * (1 - x * x))
    return 2 * found, 2 * (found + rest)
