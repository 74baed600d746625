"""Fit a law to a few measured sizes: a power of the size, or a factor for each unit of it.

Both are lines in logarithms, fitted by least squares; the residual is the factor by which points typically lie off. Few
points settle no law, so each fit also gives the factor by which the line through all other points misses the last one:
the error of an extrapolation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.core.canonical import Json

__all__ = ["FEWEST", "Fit", "Law", "fitted"]

FEWEST = 3
"""Least number of points for a fit, because a line passes through any two."""

CLEARLY = 1.5
"""How many times larger the other law's residual must be for one to be better."""

EXACT = 1e-9
"""Residuals (of natural logarithms) below this are rounding errors."""

Law = Literal["power", "exponential"]


@dataclass(frozen=True)
class Fit:
    """One law through the points: `y = scale * x ** rate` (power) or `y = scale * rate ** x` (exponential).

    `off` is the factor by which points typically lie off it (1.0: none does), with two degrees of freedom less for the
    fitted numbers.  `misses` is the last point divided by the prediction from all others; None if these are too few.
    """

    law: Law
    scale: float
    rate: float
    off: float
    misses: float | None

    def at(self, size: float) -> float:
        """Return the value of the law at a size."""
        return self.scale * (math.pow(size, self.rate) if self.law == "power" else math.pow(self.rate, size))

    def to_json(self) -> dict[str, Json]:
        """Return its numbers to six digits; more would depend on the machine's arithmetic."""
        return {
            "law": self.law,
            "scale": _digits(self.scale),
            "rate": _digits(self.rate),
            "off": _digits(self.off),
            "misses": None if self.misses is None else _digits(self.misses),
        }


def fitted(points: Sequence[tuple[int, float]]) -> tuple[Fit, Fit, Law | None]:
    """Return both laws through (size, value) points in order of size, and the clearly better one (None: neither).

    Raises ValueError for fewer than three points, repeated sizes, and values or sizes without a logarithm.
    """
    if len(points) < FEWEST:
        raise ValueError(f"{len(points)} points are too few for a fit; it takes {FEWEST}")
    if len({size for size, _ in points}) < len(points):
        raise ValueError("a size comes twice: a curve has one value for each size")
    if any(size <= 0 or value <= 0 for size, value in points):
        raise ValueError("a size or value of 0 has no logarithm")
    power, exponential = _fit("power", points), _fit("exponential", points)
    return power, exponential, _better(math.log(power.off), math.log(exponential.off))


def _better(power: float, exponential: float) -> Law | None:
    if max(power, exponential) < EXACT:
        return None
    if max(exponential, EXACT) >= CLEARLY * max(power, EXACT):
        return "power"
    return "exponential" if max(power, EXACT) >= CLEARLY * max(exponential, EXACT) else None


def _fit(law: Law, points: Sequence[tuple[int, float]]) -> Fit:
    slope, start, spread = _line(law, points)
    misses = None
    if len(points) > FEWEST:
        size, value = points[-1]
        before, origin, _ = _line(law, points[:-1])
        misses = math.exp(math.log(value) - (origin + before * _across(law, size)))
    rate = slope if law == "power" else math.exp(slope)
    return Fit(law, math.exp(start), rate, math.exp(spread), misses)


def _line(law: Law, points: Sequence[tuple[int, float]]) -> tuple[float, float, float]:
    """Slope, intercept and standard error of the line through the logarithms."""
    across = np.array([_across(law, size) for size, _ in points])
    up = np.log(np.array([value for _, value in points], dtype=np.float64))
    slope, start = (float(number) for number in np.polyfit(across, up, 1))
    rest = up - (start + slope * across)
    return slope, start, math.sqrt(float(rest @ rest) / (len(points) - 2))


def _across(law: Law, size: float) -> float:
    return math.log(size) if law == "power" else size


def _digits(number: float) -> float:
    return float(f"{number:.6g}")
