"""Findings that are known already: a folder of records, or an earlier report, whose findings are not told again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from evenhand.conform.checking.finding import FORMAT, BadFinding, load_finding
from evenhand.evidence.known import BadBaseline, Known, KnownFindings, known_in

GIVE = "Give a folder of records or a report of `check --json`."
AGAIN = "Check the kernel again to record it anew."


@dataclass(frozen=True)
class Baseline:
    """Known findings: what each is, its claim, and the kinds of its differences."""

    known: KnownFindings = field(default_factory=KnownFindings)

    def knows(self, finding: Mapping[str, Any]) -> bool:
        """Return whether the same thing differs in a known finding of the same claim."""
        return self.known.has(_identity(finding))


def _identity(finding: Mapping[str, Any]) -> Known:
    return finding["protocol"] + " " + finding["what"], finding["claim"], frozenset(finding["kinds"])


def load_baseline(path: Path | None) -> Baseline:
    """Return the findings in a folder of records, in one record, or in what `evenhand check --json` printed.

    Raises BadFinding for anything else.
    """
    if path is None:
        return Baseline()
    files = [path]
    if path.is_dir():
        files = [record for record in sorted(path.rglob("*.json")) if not record.name.endswith(".itf.json")]
    try:
        return Baseline(known_in(files, _read, GIVE, AGAIN))
    except BadBaseline as error:
        raise BadFinding(str(error)) from error


def _read(path: Path, made: Mapping[str, Any]) -> Iterable[Known] | None:
    if made.get("format") == FORMAT:
        return [_identity(_record(load_finding(path)))]
    if made.get("format") != "evenhand/check" or not isinstance(made.get("findings"), list):
        return None
    return map(_identity, cast("list[Mapping[str, Any]]", made["findings"]))


def _record(finding: Any) -> Mapping[str, Any]:
    return {name: getattr(finding, name) for name in ("protocol", "what", "claim", "kinds")}
