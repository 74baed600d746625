"""Several reports as one: each of other protocols, as runs on several machines make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from evenhand.core.canonical import Json
from evenhand.core.lookup import Refused
from evenhand.report.report import Report


class Apart(Refused, ValueError):
    """Reports that cannot be merged: two contain the same protocol, or different versions made them."""


def merged(reports: Sequence[Report]) -> Report:
    """Return the findings of all reports, in the order given; a single report stays as it is.

    Settings that differ (`budget`, say) are listed value by value; the result is interrupted if any report is.
    Raises Apart for reports that share a protocol or were made by different versions of anything.
    """
    if len(reports) == 1:
        return reports[0]
    seen: set[str] = set()
    for report in reports:
        own = {finding.protocol for finding in report.findings}
        if twice := sorted(own & seen):
            raise Apart(f"two reports are about {', '.join(twice)}; name reports that go together")
        seen |= own
        for name, version in report.versions.items():
            other = reports[0].versions.get(name)
            if other != version:
                raise Apart(f"one was made with {name} {other}, another with {version}; name reports that go together")
    return Report(
        findings=tuple(finding for report in reports for finding in report.findings),
        settings=_together([report.settings for report in reports]),
        versions=reports[0].versions,
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
        interrupted=any(report.interrupted for report in reports),
        unfinished=tuple(title for report in reports for title in report.unfinished),
        timing=_added([report.timing for report in reports]),
        claims=tuple(dict.fromkeys(claim for report in reports for claim in report.claims)),
        mutants={name: count for report in reports for name, count in report.mutants.items()},
    )


def _together(settings: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return one value where all agree, else a list of the different ones; of lists the union."""
    found: dict[str, Json] = {}
    for name in dict.fromkeys(name for one in settings for name in one):
        values = [one[name] for one in settings if name in one]
        if all(isinstance(value, list) for value in values):
            parts = [part for value in values for part in cast("list[Json]", value)]
            found[name] = [part for number, part in enumerate(parts) if part not in parts[:number]]
        elif name == "strict":
            found[name] = any(values)
        else:
            different = [value for number, value in enumerate(values) if value not in values[:number]]
            found[name] = different[0] if len(different) == 1 else different
    return found


def _added(timings: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {
        name: sum(one.get(name, 0.0) for one in timings) for name in dict.fromkeys(n for one in timings for n in one)
    }
