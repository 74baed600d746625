"""A sweep as tables for the terminal and as a picture (SVG): values on a logarithmic scale, fitted laws as lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from evenhand.core.text import inert

if TYPE_CHECKING:
    from evenhand.report.curves import Curve
    from evenhand.studies.fitting import Fit
    from evenhand.studies.sweeping import Point, Sweep

__all__ = ["curve_table", "curves_svg", "law", "point_table"]

_COUNTS = ("configs", "states", "transitions", "edges", "depth")
_STYLE = {"HOLDS": "green", "REFUTED": "red", "UNDECIDED": "yellow"}


def point_table(sweep: Sweep, what: str) -> Table:
    """Return a row for each point: what was found, its cost, and the reason if it is undecided."""
    made = Table(title=Text(f"sweep of {inert(what)}"), title_justify="left")
    claims = list(dict.fromkeys(finding.claim for point in sweep.points for finding in point.findings))
    for name in (*sweep.over, *_COUNTS, "CPU s", "MB", "method"):
        made.add_column(name, justify="right")
    for name in claims:
        made.add_column(inert(name), overflow="fold")
    made.add_column("result", overflow="fold")
    for point in sweep.points:
        counts = (f"{getattr(point, name):,}" if point.complete or name in _TOLD else "" for name in _COUNTS)
        cost = (f"{point.cpu:.2f}", f"{point.memory / 2**20:,.0f}") if point.method is not None else ("", "")
        sizes = (str(point.sizes[name]) for name in sweep.over)
        method = "" if point.method is None else str(point.method)
        ends = [_verdict(point, name) for name in claims]
        result = Text("complete") if point.complete else Text(f"UNDECIDED: {inert(point.because)}", style="yellow")
        made.add_row(*sizes, *counts, *cost, method, *ends, result)
    return made


_TOLD = ("states", "transitions")


def _verdict(point: Point, claim: str) -> Text:
    word = next((one.status.value for one in point.findings if one.claim == claim), "")
    return Text(word, style=_STYLE.get(word, ""))


def law(fit: Fit, parameter: str) -> str:
    """Return a law as a formula: `~ agents^5.03` or `~ 4.75^agents`."""
    return f"~ {parameter}^{fit.rate:.2f}" if fit.law == "power" else f"~ {fit.rate:.2f}^{parameter}"


def curve_table(curves: Sequence[Curve]) -> Table:
    """Return a row for each curve: both laws, how far the points and the last point are off, the better law."""
    made = Table(title=Text("growth, over complete points only"), title_justify="left")
    for name in ("quantity", "along", "with", "points", "log-log", "log-linear", "fits better"):
        made.add_column(name, overflow="fold")
    for curve in curves:
        if curve.fits:
            better = {"power": "log-log", "exponential": "log-linear", None: "neither"}[curve.better]
            fits = (_fit_text(fit, curve.parameter) for fit in curve.fits)
            row = (curve.quantity, curve.parameter, _named(curve.fixed), _through(curve), *fits, better)
            made.add_row(*(Text(inert(word)) for word in row))
    for (parameter, because), without in _unfitted(curves).items():
        quantities = ", ".join(dict.fromkeys(one.quantity for one in without))
        fixed = "; ".join(dict.fromkeys(_named(one.fixed) for one in without))
        row = (quantities, parameter, fixed, "", because, "", "")
        made.add_row(*(Text(inert(word), style="dim") for word in row))
    return made


def _through(curve: Curve) -> str:
    points = ", ".join(str(size) for size, _ in curve.points)
    return points + (f" (left out: {', '.join(map(str, curve.left_out))})" if curve.left_out else "")


def _unfitted(curves: Sequence[Curve]) -> dict[tuple[str, str], list[Curve]]:
    found: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        if not curve.fits:
            found.setdefault((curve.parameter, curve.because), []).append(curve)
    return found


def _fit_text(fit: Fit, parameter: str) -> str:
    misses = "" if fit.misses is None else f"; last point {fit.misses:.2f} of what the others say"
    return f"{law(fit, parameter)} (points off by {fit.off:.2f}x{misses})"


_WIDE, _HIGH, _LEFT, _TOP, _GAP = 260, 200, 64, 40, 60
_COLOURS = ("#2563a8", "#a01322", "#14632f", "#7a4a00", "#6b3fa0", "#0f6a6a")


def curves_svg(sweep: Sweep, curves: Sequence[Curve], what: str) -> str:
    """Return a panel for each quantity and parameter; undecided points are named below and never drawn."""
    panels: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        if curve.points:
            panels.setdefault((curve.parameter, curve.quantity), []).append(curve)
    across = max(1, min(3, len(panels)))
    down = -(-max(1, len(panels)) // across)
    width, height = _LEFT + across * (_WIDE + _GAP), _TOP + down * (_HIGH + _GAP) + 40
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Growth curves" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="11" fill="currentColor">',
        f'<text x="8" y="20" font-size="15" font-weight="600">{escape(inert(what))}</text>',
    ]
    for number, ((parameter, quantity), group) in enumerate(panels.items()):
        x, y = _LEFT + (number % across) * (_WIDE + _GAP), _TOP + (number // across) * (_HIGH + _GAP)
        lines += [f'<g transform="translate({x} {y})">', *_panel(parameter, quantity, group), "</g>"]
    undecided = [point for point in sweep.points if not point.complete]
    if undecided or sweep.unfinished:
        sizes = [point.sizes for point in undecided] + list(sweep.unfinished)
        formatted = "; ".join(",".join(f"{n}={one[n]}" for n in sweep.over) for one in sizes)
        lines.append(
            f'<text x="8" y="{height - 12}">not drawn, for they are undecided: {escape(inert(formatted))}</text>'
        )
    return "\n".join([*lines, "</svg>"])


def _panel(parameter: str, quantity: str, group: Sequence[Curve]) -> Iterator[str]:
    values = [value for curve in group for _, value in curve.points if value > 0]
    sizes = [size for curve in group for size, _ in curve.points]
    low, high = math.floor(math.log10(min(values, default=1))), math.ceil(math.log10(max(values, default=1)))
    high = max(high, low + 1)
    first, last = min(sizes), max(sizes)

    def place(size: float, value: float) -> tuple[float, float]:
        x = _WIDE * (size - first) / max(1, last - first)
        return round(x, 1), round(_HIGH - _HIGH * (math.log10(value) - low) / (high - low), 1)

    unit = {"cpu": "CPU seconds", "memory": "bytes"}.get(quantity, quantity)
    yield f'<text x="0" y="-6" font-weight="600">{escape(inert(unit))} by {escape(inert(parameter))}</text>'
    yield f'<path d="M0 0V{_HIGH}H{_WIDE}" fill="none" stroke="currentColor" stroke-opacity=".5"/>'
    for power in range(low, high + 1, -(-(high - low) // 6)):
        y = place(first, 10.0**power)[1]
        yield f'<path d="M0 {y}H{_WIDE}" stroke="currentColor" stroke-opacity=".12"/>'
        yield f'<text x="-6" y="{y + 4}" text-anchor="end">1e{power}</text>'
    for size in sorted(set(sizes)):
        yield f'<text x="{place(size, 10.0**low)[0]}" y="{_HIGH + 16}" text-anchor="middle">{size}</text>'
    for number, curve in enumerate(group):
        yield from _drawn(curve, place, _COLOURS[number % len(_COLOURS)], _named(curve.fixed), number)


def _named(fixed: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in fixed.items())


def _drawn(
    curve: Curve, place: Callable[[float, float], tuple[float, float]], colour: str, name: str, number: int
) -> Iterator[str]:
    fit = curve.chosen
    if fit is not None:
        first, last = curve.points[0][0], curve.points[-1][0]
        steps = [first + (last - first) * one / 24 for one in range(25)]
        path = " ".join(f"{'ML'[one > 0]}{x} {y}" for one, (x, y) in enumerate(place(s, fit.at(s)) for s in steps))
        yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-opacity=".6"/>'
    for size, value in curve.points:
        if value > 0:
            x, y = place(size, value)
            formatted = escape(inert(f"{curve.parameter}={size}{', ' + name if name else ''}: {value:,.6g}"))
            yield f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"><title>{formatted}</title></circle>'
    words = " ".join(word for word in (name, law(fit, curve.parameter) if fit is not None else "") if word)
    yield f'<text x="8" y="{12 + 14 * number}" fill="{colour}">{escape(inert(words))}</text>'
