"""Findings that are known already: a folder of records, or an earlier report, whose findings are not told again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evenhand.conform.checking.finding import FORMAT, BadFinding, load_finding
from evenhand.core.canonical import Json, parse
from evenhand.core.files import Unreadable, content_of

Known = tuple[str, str, frozenset[str]]


@dataclass(frozen=True)
class Baseline:
    """Known findings: what each is, its claim, and the kinds of its differences."""

    known: tuple[Known, ...] = ()

    def knows(self, finding: Mapping[str, Any]) -> bool:
        """Return whether the same thing differs in a known finding of the same claim."""
        what, claim, kinds = _identity(finding)
        return any(
            what == one and claim == other and (kinds <= these or these <= kinds) for one, other, these in self.known
        )


def _identity(finding: Mapping[str, Any]) -> Known:
    return finding["protocol"] + " " + finding["what"], finding["claim"], frozenset(finding["kinds"])


def load_baseline(path: Path | None) -> Baseline:
    """Return the findings in a folder of records, in one record, or in what `evenhand check --json` printed.

    Raises BadFinding for anything else.
    """
    if path is None:
        return Baseline()
    try:
        return Baseline(tuple(_identity(one) for one in _read(path)))
    except (KeyError, TypeError) as error:
        raise BadFinding(f"{path}: a finding lacks {error}. Check the kernel again to record it anew.") from error


def _read(path: Path) -> Iterator[Mapping[str, Any]]:
    if path.is_dir():
        for record in sorted(path.rglob("*.json")):
            if not record.name.endswith(".itf.json"):
                yield _record(load_finding(record))
        return
    try:
        data = parse(content_of(path))
    except Unreadable as error:
        raise BadFinding(str(error)) from error
    except ValueError as error:
        raise BadFinding(f"{path}: {error!s:.200}. Give a folder of records or a report of `check --json`.") from error
    made = cast("dict[str, Json]", data) if isinstance(data, dict) else {}
    if made.get("format") == FORMAT:
        yield _record(load_finding(path))
        return
    if made.get("format") != "evenhand/check" or not isinstance(made.get("findings"), list):
        raise BadFinding(f"{path}: it holds no findings. Give a folder of records or a report of `check --json`.")
    yield from cast("list[Mapping[str, Any]]", made["findings"])


def _record(finding: Any) -> Mapping[str, Any]:
    return {name: getattr(finding, name) for name in ("protocol", "what", "claim", "kinds")}
