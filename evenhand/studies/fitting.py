"""What law a few measured sizes follow: a power of the size, or a factor for each unit of it.

Both are straight lines after taking logarithms, fitted by least squares; the residual says by what factor a point
typically lies off the line.  A handful of points settles no law, so each fit also says by what factor the line
through all points but the last misses the last one: what extrapolating would have been worth.
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
"""Points below which there is no fit: two points lie on every line."""

CLEARLY = 1.5
"""How many times larger the other law's residual must be before one is called the better."""

EXACT = 1e-9
"""Residuals (of natural logarithms) below this are rounding."""

Law = Literal["power", "exponential"]


@dataclass(frozen=True)
class Fit:
    """One law through the points: `y = scale * x ** rate` (power) or `y = scale * rate ** x` (exponential).

    `off` is the factor by which points typically lie off it (1.0: none does), with the two fitted numbers taken off
    the degrees of freedom.  `misses` is the factor between the last point and what the law through all others says
    of it, above 1 where the last point is larger; None where the others are too few.
    """

    law: Law
    scale: float
    rate: float
    off: float
    misses: float | None

    def at(self, size: float) -> float:
        """What the law says at a size."""
        return self.scale * (math.pow(size, self.rate) if self.law == "power" else math.pow(self.rate, size))

    def to_json(self) -> dict[str, Json]:
        """Its numbers, to six digits: more would be those of the machine's arithmetic."""
        return {
            "law": self.law,
            "scale": _digits(self.scale),
            "rate": _digits(self.rate),
            "off": _digits(self.off),
            "misses": None if self.misses is None else _digits(self.misses),
        }


def fitted(points: Sequence[tuple[int, float]]) -> tuple[Fit, Fit, Law | None]:
    """Both laws through (size, value) points in order of size, and which fits better; None where neither clearly does.

    Raises ValueError for fewer than three points, sizes that come twice, and values or sizes that have no logarithm.
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
