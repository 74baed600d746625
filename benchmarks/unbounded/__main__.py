"""Prove systems of the literature for any number of agents: `python -m benchmarks.unbounded [--json] [NAME ...]`.

Each system is proved, and its planted fault refuted by a run that replays.  `decided` counts the systems that are
proved, `decided_with_hints` those among them that have claims beside theirs which say why.  `wrong` are verdicts that
contradict the literature, `slowest_cpu_seconds` is the CPU time of the slowest of all runs, solvers included.  Exit
code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from typing import Any

from benchmarks.unbounded import counting, fairly, locks, messages, more, progress, rings, secrets, stores, strangers
from benchmarks.unbounded.known import Known
from evenhand.core.verdict import Status
from evenhand.smt.portfolio import Portfolio
from evenhand.source.unbounded import prove_any_size

SYSTEMS: tuple[Known, ...] = (
    *locks.SYSTEMS,
    *messages.SYSTEMS,
    *rings.SYSTEMS,
    *stores.SYSTEMS,
    *more.SYSTEMS,
    *secrets.SYSTEMS,
    *progress.SYSTEMS,
    *fairly.SYSTEMS,
    *strangers.SYSTEMS,
    *counting.SYSTEMS,
)


def cpu() -> float:
    """The CPU seconds of this process and of those that it started and that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def tried(known: Known, *, faulty: bool) -> dict[str, Any]:
    """Prove one system, or its fault, with solvers of its own."""
    began = cpu()
    with Portfolio() as portfolio:
        found = prove_any_size(known.make(faulty), [known.claim, *known.hints], portfolio=portfolio)
    verdict = found.verdicts[0]
    return {
        "verdict": verdict.status.value,
        "because": verdict.because,
        "hints": len(known.hints),
        "invariants": verdict.coverage.get("invariants", 0),
        "compared": found.validation.sentence if found.validation is not None else "",
        "cpu_seconds": round(cpu() - began, 1),
    }


def main(arguments: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="systems; all if none is named")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args(arguments)
    chosen = [one for one in SYSTEMS if not given.names or one.name in given.names]
    if not chosen:
        parser.error(f"there is: {', '.join(one.name for one in SYSTEMS)}")
    rows: list[dict[str, Any]] = []
    for known in chosen:
        row: dict[str, Any] = {"system": known.name, "source": known.source, "fault": known.fault}
        row |= {"whole": tried(known, faulty=False), "faulty": tried(known, faulty=True)}
        rows.append(row)
        if not given.json:
            whole, faulty = row["whole"], row["faulty"]
            print(
                f"{known.name:28} {whole['verdict']:10} {whole['invariants']:3} invariants "
                f"{whole['cpu_seconds']:5} s   {known.fault}: {faulty['verdict']} {faulty['cpu_seconds']} s",
                flush=True,
            )
    wrong = sum(row["whole"]["verdict"] == Status.REFUTED for row in rows)
    wrong += sum(row["faulty"]["verdict"] == Status.HOLDS for row in rows)
    summary: dict[str, Any] = {
        "systems": len(rows),
        "decided": sum(row["whole"]["verdict"] == Status.HOLDS for row in rows),
        "decided_with_hints": sum(
            row["whole"]["verdict"] == Status.HOLDS and row["whole"]["hints"] > 0 for row in rows
        ),
        "faults_found": sum(row["faulty"]["verdict"] == Status.REFUTED for row in rows),
        "wrong": wrong,
        "slowest_cpu_seconds": max(row[kind]["cpu_seconds"] for row in rows for kind in ("whole", "faulty")),
    }
    print(json.dumps({**summary, "table": rows} if given.json else summary, indent=2 if given.json else None))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
