"""The curves of a sweep: each quantity along each parameter, through complete points only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.core.canonical import Json
from evenhand.report.phrases import plural
from evenhand.studies.fitting import FEWEST, Fit, Law, fitted
from evenhand.studies.sweeping import Point

__all__ = ["QUANTITIES", "Curve", "curves"]

QUANTITIES = ("states", "transitions", "edges", "cpu", "memory")
"""The quantities with a curve; `cpu` in seconds, `memory` in bytes beyond what the process held before."""

SLIGHT: Mapping[str, float] = {"cpu": 0.02, "memory": 4 << 20}
"""Seconds and bytes below which a measurement is mostly that of the interpreter."""


@dataclass(frozen=True)
class Curve:
    """One quantity along one parameter, everything else fixed; `left_out` are the sizes of undecided points.

    `fits` has both laws, or `because` says why there are none; `better` is None where neither clearly fits better.
    """

    quantity: str
    parameter: str
    fixed: Mapping[str, int]
    points: tuple[tuple[int, float], ...]
    left_out: tuple[int, ...] = ()
    fits: tuple[Fit, ...] = ()
    better: Law | None = None
    because: str = ""

    @property
    def chosen(self) -> Fit | None:
        """The law that fits better, or None."""
        return next((fit for fit in self.fits if fit.law == self.better), None)

    def to_json(self) -> dict[str, Json]:
        """Return the points on the curve, the sizes left out, and the laws."""
        return {
            "quantity": self.quantity,
            "parameter": self.parameter,
            "fixed": dict(self.fixed),
            "points": [[size, float(f"{value:.6g}")] for size, value in self.points],
            "left_out": list(self.left_out),
            "fits": [fit.to_json() for fit in self.fits],
            "better": self.better,
            "because": self.because,
        }


def curves(over: Mapping[str, Sequence[int]], points: Sequence[Point]) -> tuple[Curve, ...]:
    """Return each quantity along each parameter of several sizes, for each combination of the other sizes."""
    made: list[Curve] = []
    for parameter in (name for name, sizes in over.items() if len(sizes) > 1):
        groups: dict[tuple[tuple[str, int], ...], list[Point]] = {}
        for point in points:
            groups.setdefault(tuple((n, s) for n, s in point.sizes.items() if n != parameter), []).append(point)
        for fixed, group in groups.items():
            made += [_curve(quantity, parameter, dict(fixed), group) for quantity in QUANTITIES]
    return tuple(made)


def _curve(quantity: str, parameter: str, fixed: Mapping[str, int], group: Sequence[Point]) -> Curve:
    done = sorted((one for one in group if one.complete), key=lambda one: one.sizes[parameter])
    values = tuple((one.sizes[parameter], float(getattr(one, quantity))) for one in done)
    left_out = tuple(sorted(one.sizes[parameter] for one in group if not one.complete))
    curve = Curve(quantity, parameter, fixed, values, left_out)
    least = SLIGHT.get(quantity, 0)
    used = tuple((size, value) for size, value in values if size > 0 and value > least)
    if len(used) < FEWEST:
        slight = f", {len(values) - len(used)} of them too slight to tell" if len(used) < len(values) else ""
        return replace(curve, because=f"{plural(len(values), 'complete point')}{slight}: a fit takes {FEWEST}")
    if len({value for _, value in used}) == 1:
        return replace(curve, points=used, because="it does not grow")
    power, exponential, better = fitted(used)
    return replace(curve, points=used, fits=(power, exponential), better=better)
