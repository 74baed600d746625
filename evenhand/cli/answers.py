"""What a command found, as one answer that a program cannot misread; the command runs whole, under a time limit."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from evenhand.core.canonical import parse
from evenhand.exits import BAD, INTERRUPTED
from evenhand.processes.group import kill, start

GRACE = 10.0
"""An interrupted command has so many seconds to tell what it found."""

MEANINGS = {
    "holds": "proved, or true in every scope searched whole; the claim is known to catch a fault",
    "refuted": "a run shows that the claim is false",
    "happens": "a run shows that what the claim asks for can happen",
    "not_established": "no fault was met, but that decides nothing here; `because` says why",
    "undecided": "no engine decides it",
    "limit_reached": "the time was over before an answer; what was found until then is in `details`",
    "found": "something is wrong with the kernel",
    "nothing_found": "nothing was found; this proves nothing beyond the runs in `details`",
    "reproduced": "the run fails as recorded",
    "not_reproduced": "the run no longer fails as recorded",
    "shown": "the run is in `details`",
    "listed": "the list is in `details`",
    "bad_use": "a mistake in what was asked: `because` names it",
    "failed": "a fault of evenhand, or no answer: `because` has its last words",
}
"""Every answer, and what it means."""


@dataclass(frozen=True)
class ToolAnswer:
    """One of `MEANINGS`, why, the command that gives the same, and what it found, for a reader of JSON."""

    answer: str
    because: str
    command: str
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    format: str = "evenhand/answer"
    version: int = 1


Judged: TypeAlias = tuple[str, str, Mapping[str, Any]]
"""An answer, why, and the details."""


def answered(words: Sequence[str], seconds: float, judge: Callable[[int, Mapping[str, Any]], Judged]) -> ToolAnswer:
    """Return what a command of evenhand answers within `seconds`; `judge` reads its exit code and JSON.

    A command whose time is over is interrupted and may still tell what it found.
    """
    shown = " ".join(["evenhand", *words])
    code, out, err, late = _ran([sys.executable, "-m", "evenhand", *words], seconds)
    last = err.strip().splitlines()[-1] if err.strip() else ""
    if code == BAD:
        return ToolAnswer("bad_use", last.removeprefix("evenhand: "), shown)
    try:
        read = parse(out)
    except ValueError:
        read = None
    if late and not isinstance(read, dict):
        return ToolAnswer("limit_reached", f"{seconds:g} seconds were over", shown)
    if not isinstance(read, dict):
        return ToolAnswer("failed", f"exit code {code}: {last or 'nothing was printed'}", shown)
    found = cast("dict[str, Any]", read)
    answer, because, details = judge(code, found)
    if (late or code == INTERRUPTED) and answer not in ("refuted", "found", "happens"):
        answer, because = "limit_reached", f"{seconds:g} seconds were over"
    return ToolAnswer(answer, because, shown, dict(details))


def _ran(command: Sequence[str], seconds: float) -> tuple[int, str, str, bool]:
    late = False
    with start(command) as process:
        try:
            try:
                out, err = process.communicate(b"", timeout=seconds)
            except subprocess.TimeoutExpired:
                late = True
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            out = err = b""
        finally:
            kill(process)
    return process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), late


def of_claim(_code: int, report: Mapping[str, Any]) -> Judged:
    """Judge `verify --claim`: it holds if an engine decides so and some fault is known that the claim catches."""
    none: Mapping[str, Any] = {"groups": {}, "caught": 0}
    digest: Mapping[str, Any] = next(iter(report["digest"]), none)
    group = next((name for name, claims in digest["groups"].items() if claims), "open")
    own = [one for one in report["verdicts"] if one["variant"] == "reference" and one["engine"] != "replay"]
    usual = [one for one in own if not one["readings"]]
    refuting = next((one for one in usual if one["word"] == "REFUTED"), None)
    keys = ("word", "engine", "system", "scope", "readings", "because", "command")
    details: dict[str, Any] = {
        "sentence": own[0]["sentence"] if own else "",
        "faults_caught": digest["caught"],
        "verdicts": [{key: one[key] for key in keys} for one in own],
        "run": refuting["trace"] if refuting is not None else [],
    }
    if group == "refuted":
        return "refuted", refuting["because"] if refuting is not None else "", details
    if group == "happens":
        return "happens", "", details
    if group == "sampled":
        return "not_established", "only random runs looked at it", details
    if group in ("proved", "searched"):
        if digest["caught"]:
            return "holds", _reach(group, usual), details
        return "not_established", "no kept counterexample of a mutant shows that this claim catches a fault", details
    return "undecided", next((one["because"] for one in usual if one["because"]), ""), details


def _reach(group: str, usual: Sequence[Mapping[str, Any]]) -> str:
    if group == "proved":
        return "proved for any size, within the assumptions of the theorem"
    where = dict.fromkeys(one["system"] for one in usual if one["word"] == "HOLDS" and one["engine"] == "explore")
    return f"searched whole in {', '.join(where)}; the sizes are in the verdicts"


def of_examination(code: int, report: Mapping[str, Any]) -> Judged:
    """Judge `examine`: questions that had no time leave the answer open."""
    against = [one for one in report["verdicts"] if one["word"] == "REFUTED"]
    details = {
        "findings": [{key: one[key] for key in ("claim", "sentence", "because", "trace")} for one in against],
        "asked": [one["claim"] for one in report["verdicts"]],
        "notes": report["notes"],
    }
    if against:
        return "found", f"{len(against)} of {len(report['verdicts'])} questions", details
    if code == 0:
        return "nothing_found", "", details
    return "limit_reached", "some questions had no time", details


def of_check(code: int, found: Mapping[str, Any]) -> Judged:
    """Judge `check`."""
    return ("nothing_found" if code == 0 else "found"), "", found


def of_replay(code: int, report: Mapping[str, Any]) -> Judged:
    """Judge `replay`."""
    replays = report["replays"]
    because = "; ".join(one["message"] for one in replays)
    return ("reproduced" if code == 0 else "not_reproduced"), because, {"replays": replays}


def of_show(_code: int, shown: Mapping[str, Any]) -> Judged:
    """Judge `show`."""
    return "shown", shown["message"], {"trace": shown["trace"]}
