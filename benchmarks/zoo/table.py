"""The zoo's table as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def markdown(rows: Sequence[Mapping[str, Any]], sums: Mapping[str, Any]) -> str:
    """Return the table of kernels, with their sums, and the table of defects."""
    return "\n".join([*_kernels(rows, sums), "", *_defects(rows)])


def _kernels(rows: Sequence[Mapping[str, Any]], sums: Mapping[str, Any]) -> Iterator[str]:
    names = list(sums)
    yield "| kernel | " + " | ".join(f"`{name}`" for name in names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    for one in rows:
        yield f"| {one['kernel']} | " + " | ".join(f"{one[name]:,}" for name in names) + " |"
    yield "| all | " + " | ".join(f"{sums[name]:,}" for name in names) + " |"


def _defects(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "| kernel | defect | finding | rank | seconds |"
    yield "|---|---|---|---|---|"
    for one in rows:
        check = {name: number for number, names in enumerate(one.get("later", ()), start=2) for name in names}
        for name, rank in one["ranks"].items():
            finding = f"`{one['claims'][rank - 1]}`" if rank else _missed(one["shown"][name], check.get(name))
            yield f"| {one['kernel']} | `{name}` | {finding} | {rank or ''} | {one['check_seconds']} |"


def _missed(others: Sequence[int], check: int | None) -> str:
    shows = f"not told; shows in {', '.join(map(str, others))} of another" if others else "not told"
    return shows if check is None else f"{shows}; told by check {check}"
