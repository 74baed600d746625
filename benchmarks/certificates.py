"""Certify every theorem and planned search as a user does, check the certificates, and tamper with them.

    python -m benchmarks.certificates [--json] [--out DIR] [--alterations N] [--seed N]
        [--theorems-only] [PROTOCOL …]

Seconds are those of the processor: of making, and of `evenhand-check` as a whole command.  What DIR has already is
kept, so a run that was interrupted goes on, and a run after it measures checking alone: each search is walked once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import evenhand_certificates
from evenhand.core.bundle import Bundle
from evenhand.core.registry import find, protocols
from evenhand.jobs.certifying_searches import asked_in, file_of, make_search, planned_searches
from evenhand.jobs.plan import Job
from evenhand_certificates.check import clauses_of
from tests.certificates.others import dratify_accepts, drup_accepts
from tests.certificates.tampering import OF_THEOREMS, queries_below, second, tamper, theorems_below
from tests.certificates.tampering_searches import tamper_searches

SMALL = 500
"""The most steps of a search whose certificate is tampered with."""


def timed(*words: str) -> tuple[str, float]:
    """Run a module of Python; return its output and its processor seconds with its children's."""
    before = spent()
    ran = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False)
    seconds = spent() - before
    if ran.returncode not in (0, 1, 3):
        raise RuntimeError(f"{' '.join(words)}: exit code {ran.returncode}: {ran.stderr[-2000:]}")
    return ran.stdout, seconds


def spent() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def row_of(protocol: str, folder: Path) -> dict[str, Any]:
    """Certify the theorems of one protocol and check what was written."""
    out, made = timed("evenhand", "certify", protocol, "--out", str(folder), "--json")
    listed = json.loads(out)["certificates"]
    files = theorems_in(folder, protocol)
    _, checked = timed("evenhand_certificates", *map(str, files))
    queries = [one for one in listed if not one["query"].endswith(".whole")]
    missing = {one["theorem"]: one["because"] for one in listed if not one["valid"]}
    theorems = {one["theorem"] for one in listed}
    return {
        "protocol": protocol,
        "theorems": len(theorems),
        "certified": len(theorems - set(missing)),
        "queries": len(queries),
        "certificates": sum(one["valid"] for one in queries),
        "put_together": sum(one["valid"] for one in listed) - sum(one["valid"] for one in queries),
        "without": missing,
        "bytes": sum(file.stat().st_size for file in files),
        "make_cpu_seconds": round(made, 1),
        "check_cpu_seconds": round(checked, 2),
    }


def theorems_in(folder: Path, protocol: str) -> list[Path]:
    """Return the files of a protocol's theorems."""
    return sorted(file for file in (folder / protocol).rglob("*.json") if file.parent.name != "searches")


def searches_in(folder: Path, protocol: str) -> list[Path]:
    """Return the files of a protocol's searches."""
    return sorted((folder / protocol / "searches").glob("*.json"))


def searches_of(protocol: str, folder: Path) -> dict[str, Any]:
    """Write the certificates of planned searches that are missing or stale, then check each once."""
    bundle = find(protocol)
    jobs, without = planned_searches(bundle), dict[str, str]()
    before = spent()
    for job in jobs:
        if not is_kept(bundle, job, folder) and (none := make_search(bundle, job, folder)) is not None:
            without[job.title] = none.because or "no claim holds in it"
    made = spent() - before
    files = {job.title: file_of(folder, job) for job in jobs if is_kept(bundle, job, folder)}
    out, checked = timed("evenhand_certificates", *map(str, files.values())) if files else ("", 0.0)
    valid = [file for file in files.values() if f"\nvalid    {file}: " in f"\n{out}"]
    without |= {title: "its certificate is invalid" for title, file in files.items() if file not in valid}
    listed = [json.loads(file.read_text("utf-8")) for file in valid]
    return {
        "protocol": protocol,
        "searches": len(jobs),
        "searches_certified": sum(len(one["claims"]) == one["about"]["holds"] for one in listed),
        "claims_that_hold": sum(one["about"]["holds"] for one in listed),
        "claims_certified": sum(len(one["claims"]) for one in listed),
        "states": sum(entry["states"] for one in listed for entry in one["configurations"]),
        "steps": sum(entry["steps"] for one in listed for entry in one["configurations"]),
        "without": without,
        "bytes": sum(file.stat().st_size for file in files.values()),
        "make_cpu_seconds": round(made, 1),
        "check_cpu_seconds": round(checked, 1),
    }


def is_kept(bundle: Bundle, job: Job, folder: Path) -> bool:
    """Whether a folder has a certificate of a search, valid or not, that names the claims it asks today."""
    file = file_of(folder, job)
    return file.exists() and json.loads(file.read_text("utf-8"))["about"].get("asked") == asked_in(bundle, job)


def small_searches(folder: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return certificates of searches that are walked in a moment, because each alteration is walked again."""
    found = [json.loads(file.read_text("utf-8")) for name in names for file in searches_in(folder, name)]
    return [one for one in found if one["about"]["steps"] <= SMALL]


def others(texts: Sequence[str]) -> dict[str, int]:
    """Return how many refutations other programs accept."""
    found = {"dratify": 0, "drup": 0}
    for made in map(json.loads, texts):
        clauses, proof = clauses_of(made)[1], [clause for clause, _ in made["refutation"]]
        found["dratify"] += dratify_accepts(clauses, proof)
        found["drup"] += drup_accepts(clauses, proof)
    return found


def lines_in(folder: Path) -> int:
    """Return the lines of Python in a folder that are not blank."""
    return sum(len(list(filter(str.strip, file.read_text("utf-8").splitlines()))) for file in folder.glob("*.py"))


def main() -> int:
    """Print the table, or the summary as JSON; 1 if the checkers disagree or a theorem has no certificate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificates", description=__doc__)
    parser.add_argument("protocols", nargs="*", metavar="PROTOCOL")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--alterations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--theorems-only", action="store_true", help="leave the searches out, which take minutes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.out or Path(scratch)
        names = given.protocols or [bundle.name for bundle in protocols()]
        rows = [row_of(name, folder) for name in names]
        texts = [file.read_text("utf-8") for name in names for file in queries_below(folder / name)]
        wholes = [one for name in names for one in theorems_below(folder / name)]
        walked = [] if given.theorems_only else [searches_of(name, folder) for name in names]
        small = small_searches(folder, names)
    tally = tamper([json.loads(text) for text in texts], given.alterations, given.seed)
    of_theorems = tamper(wholes, given.alterations // 10, given.seed, OF_THEOREMS)
    of_searches = tamper_searches(small, given.alterations // 10 if small and walked else 0, given.seed)
    tallies = {"": tally, "theorem: ": of_theorems, "search: ": of_searches}
    wrong = sum(len(one.wrong) for one in tallies.values())
    checker = Path(evenhand_certificates.__path__[0])
    summary = {
        "theorems": sum(row["theorems"] for row in rows),
        "certified": sum(row["certified"] for row in rows),
        "certificates": sum(row["certificates"] for row in rows),
        "put_together": sum(row["put_together"] for row in rows),
        "accepted_by_the_second_checker": second([*texts, *map(json.dumps, wholes)]).count("valid"),
        **{f"accepted_by_{name}": count for name, count in others(texts).items()},
        "bytes": sum(row["bytes"] for row in rows),
        "searches": sum(row["searches"] for row in walked),
        "searches_certified": sum(row["searches_certified"] for row in walked),
        "claims_certified": sum(row["claims_certified"] for row in walked),
        "check_cpu_seconds": round(sum(row["check_cpu_seconds"] for row in (*rows, *walked)), 2),
        "check_cpu_seconds_of_theorems": round(sum(row["check_cpu_seconds"] for row in rows), 2),
        "checker_lines": lines_in(checker),
        "checker_lines_for_searches": lines_in(checker / "searches"),
        "tampered": sum(sum(one.tried.values()) for one in tallies.values()),
        "rejected": sum(sum(one.rejected.values()) for one in tallies.values()),
        "accepted_by_both": sum(sum(one.accepted.values()) for one in (tally, of_theorems)),
        "searches_accepted_and_true": sum(of_searches.accepted.values()) - len(of_searches.wrong),
        "accepted_wrongly": wrong,
        "protocols": rows,
        "searched": walked,
        "alterations": {
            about + kind: [one.tried[kind], one.rejected[kind], one.accepted[kind]]
            for about, one in tallies.items()
            for kind in sorted(one.tried)
        },
    }
    if given.json:
        print(json.dumps(summary, indent=2))
    else:
        for row in (*rows, *walked):
            print("  ".join(f"{key}={value}" for key, value in row.items() if key != "without"), row["without"] or "")
        print("  ".join(f"{key}={value}" for key, value in summary.items() if not isinstance(value, list | dict)))
    return 1 if wrong or summary["theorems"] != summary["certified"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
