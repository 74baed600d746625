"""Examine every listed kernel as a user does, in a process of its own: `python -m benchmarks.arbiters`.

    python -m benchmarks.arbiters [--json] [NAME …]

A planted arbiter counts as found if the question that the list expects refutes it, as named if the answer has the words
of the list.  Seconds are those of the processor, of the whole command with its children.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from typing import Any

from benchmarks.arbiters.listed import LOOKS, OPTIONS, PLANTED


def examined(place: str) -> tuple[list[dict[str, Any]], float]:
    """Return the findings of `evenhand examine`, and its processor seconds.  Raises RuntimeError for other exits."""
    words = [sys.executable, "-m", "evenhand", "examine", place, "--json"]
    words += OPTIONS.get(place, ())
    before = os.times()
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    after = os.times()
    if made.returncode not in (0, 1, 3):
        raise RuntimeError(f"{place}: exit code {made.returncode}: {made.stderr[-2000:]}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return json.loads(made.stdout)["verdicts"], used


def row_of(name: str, place: str, question: str, words: str) -> dict[str, Any]:
    """Return the row of one kernel; an honest one has no question that is expected."""
    findings, used = examined(place)
    refuted = {one["claim"].replace("_", " "): one for one in findings if one["status"] == "REFUTED"}
    late = [one["claim"].replace("_", " ") for one in findings if one["status"] == "UNDECIDED"]
    hit = refuted.get(question) or next(iter(refuted.values()), None)
    answer = hit["because"] if hit else f"undecided: {', '.join(late)}" if late else "nothing decides"
    agents = hit["story"]["runs"][0]["config"][0] if hit and hit["story"] else ""
    return {
        "kernel": name,
        "question": hit["claim"].replace("_", " ") if hit else "",
        "expected": question,
        "answer": answer,
        "found": question in refuted,
        "named": question in refuted and re.search(words, answer) is not None,
        "all": sorted(refuted),
        "length": hit["length"] if hit else None,
        "agents": len(agents.split(",")) if agents else None,
        "seconds": round(used, 1),
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the counts and the rows."""
    planted = [row for row in rows if row["expected"]]
    honest = [row for row in rows if not row["expected"]]
    return {
        "planted": len(planted),
        "found": sum(row["found"] for row in planted),
        "named": sum(row["named"] for row in planted),
        "honest": len(honest),
        "false_findings": sum(len(row["all"]) for row in honest),
        "rows": rows,
    }


def line(row: dict[str, Any]) -> str:
    """Return one row of the table."""
    missed = "" if row["named"] or not row["expected"] else " (found, not so named)" if row["found"] else " (not found)"
    cells = (row["kernel"], row["question"] or row["expected"], row["answer"] + missed, row["length"], row["agents"])
    return f"| {' | '.join('' if one is None else str(one) for one in cells)} | {row['seconds']} |"


def main() -> int:
    """Print a row for each kernel, then the counts.  Exit code 1: something is not found, not named, or falsely so."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arbiters", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these kernels")
    parser.add_argument("--json", action="store_true", help="one JSON object at the end")
    given = parser.parse_args()
    listed = [(one.name, one.place, one.question, one.words) for one in PLANTED]
    listed += [(place.partition(":")[2], place, "", "") for place in LOOKS]
    if unknown := sorted(set(given.names) - {name for name, *_ in listed}):
        parser.error(f"no kernel {unknown[0]!r} is listed in benchmarks/arbiters/listed.py")
    rows: list[dict[str, Any]] = []
    if not given.json:
        print("| kernel | question | answer | steps | agents | CPU seconds |\n|---|---|---|---|---|---|")
    for one in listed:
        if not given.names or one[0] in given.names:
            rows.append(row_of(*one))
            if not given.json:
                print(line(rows[-1]), flush=True)
    made = summary(rows)
    counts = {key: value for key, value in made.items() if key != "rows"}
    print(json.dumps(made, indent=1) if given.json else "\n" + ", ".join(f"{k} {v}" for k, v in counts.items()))
    return int(made["named"] < made["planted"] or made["false_findings"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
