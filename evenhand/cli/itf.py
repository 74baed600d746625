"""`evenhand validate --trace`: a trace of Apalache or Quint beside the model: a run of it, and what the claims say."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evenhand.cli.console import BadUse, emit, terminal, usage
from evenhand.cli.output import folder_for
from evenhand.core.bundle import Bundle
from evenhand.core.ending import of_this
from evenhand.core.loading import module_at
from evenhand.core.lookup import UnknownName
from evenhand.core.own_file import file_and_name
from evenhand.core.system import AnySystem
from evenhand.core.text import inert
from evenhand.core.trace import AnyLasso, AnyScenario, NotReplayable, Scenario
from evenhand.core.verdict import Status
from evenhand.core.versions import versions
from evenhand.evidence.home import placed
from evenhand.evidence.itf_run import run_from_itf
from evenhand.evidence.judge import judge
from evenhand.evidence.record import Record
from evenhand.evidence.replay import record_run
from evenhand.evidence.store import save
from evenhand.evidence.story import trace_lines
from evenhand.jobs.fixtures import LIBRARIES, place_named
from evenhand.report.phrases import plural
from evenhand.report.table import print_lines

Seen = Callable[[Any], Mapping[str, Any]]


def validate_trace(
    bundle: Bundle, system: AnySystem, trace: Path, seen: str, out: Path | None, readings: dict[str, Any], as_json: bool
) -> int:
    """Find the run that a trace tells, judge it by every claim, and write what it refutes to `out`."""
    folder = folder_for(out)
    refuted: list[dict[str, Any]] = []
    stated: list[str] = []
    lines: list[str] = []
    failed = ""
    with usage():
        look = _seen(bundle, seen) if seen else None
        try:
            run = run_from_itf(system, trace, look)
        except NotReplayable as error:
            failed = str(error)
        else:
            lines = [f"{trace}: {_told(run)} of {system.name}", *trace_lines(system, run)]
            again = ["evenhand", "validate", bundle.name, "--trace", str(trace), *(["--seen", seen] if seen else [])]
            for claim in of_this(system, bundle.claims_of(system.name)):
                if not judge(system, claim, run):
                    continue
                if bundle.expectation(claim.name, system.name, "", readings).expected is Status.REFUTED:
                    stated.append(claim.name)
                outcome = "WITNESSED" if claim.existential else "REFUTED"
                entry = {"claim": claim.name, "sentence": claim.sentence, "outcome": outcome, "file": ""}
                if folder is not None:
                    record = record_run(
                        bundle, system, claim, run, engine="itf", reproduce=shlex.join(again), libraries=LIBRARIES
                    )
                    entry["file"] = str(_saved(bundle, record, folder))
                refuted.append(entry)
    if as_json:
        found = {"explained": not failed, "failed": failed, "claims": refuted, "stated": stated}
        head = {"format": "evenhand/trace-validation", "version": 1, "protocol": bundle.name, "system": system.name}
        emit({**head, "trace": str(trace), **found, "versions": dict(versions())})
    else:
        lines += [f"no run of {system.name}: {failed}"] if failed else []
        for one in refuted:
            lines.append(f"{one['outcome']}  {one['claim']}: {one['sentence']}")
            lines += [f"  written: {one['file']}; evenhand show {shlex.quote(one['file'])}"] if one["file"] else []
        lines += [f"refuted as expected: {', '.join(stated)}"] if stated else []
        print_lines(terminal(), map(inert, lines))
    bad = [one for one in refuted if one["outcome"] == "REFUTED" and one["claim"] not in stated]
    return 1 if failed or bad else 0


def _told(run: AnyScenario | AnyLasso) -> str:
    if isinstance(run, Scenario):
        return f"a run of {plural(len(run.actions), 'action')}"
    return f"a run of {plural(len(run.stem), 'action')} and a loop of {plural(len(run.loop), 'action')}"


def _seen(bundle: Bundle, name: str) -> Seen:
    """Return the function of that name beside the user's system.  Raises BadUse, or UnknownName."""
    if not bundle.own or place_named(bundle.name) is None:
        raise BadUse(f"--seen {name} names a function beside a system of your own; {bundle.name} is a protocol")
    file, _ = file_and_name(bundle.name)
    names = vars(module_at(Path(file)))
    if name not in names or not callable(names[name]):
        raise UnknownName(f"function of {file}:", name, [one for one, value in names.items() if callable(value)])
    found: Seen = names[name]
    return found


def _saved(bundle: Bundle, record: Record, folder: Path) -> Path:
    home = folder / record.folder_name
    return save(placed(record, home, place_named(bundle.name)), home)
