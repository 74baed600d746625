"""Check strangers' kernels as a user does: which planted defects are told, in how many findings, at what cost.

    python -m benchmarks.zoo [PROTOCOL | PROTOCOL/KERNEL …] [--seconds N] [--rounds N] [--json]
    python -m benchmarks.zoo --markdown FILE.json …        (the table of earlier runs with --json)

Each kernel that has an adapter is checked twice by `evenhand check` with its defaults, as whole processes: honest, and
with all its defects at once.  Each finding is repeated on the kernel with each defect alone and on the honest one; no
name is compared.  A defect *shows* in a finding if the kernel with this defect alone differs in the same way.  A
finding tells one defect: `told` counts a largest assignment of defects to findings in which they show.  A finding is
false if the honest kernel shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.zoo.table import markdown
from evenhand.conform.checking.finding import load_finding, recheck

HERE = Path(__file__).parent
VARIABLE = "ZOO_DEFECTS"
SUMS = ("planted", "told", "false_findings", "findings", "sightings", "explained", "cpu_seconds")


def kernels(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield protocol and name of each kernel that has an adapter."""
    for path in sorted(HERE.glob("*/*/adapter.py")):
        protocol, kernel = path.parts[-3:-1]
        if not names or protocol in names or f"{protocol}/{kernel}" in names:
            yield protocol, kernel


def adapter_of(protocol: str, kernel: str) -> str:
    """Return the name of a kernel's adapter."""
    return f"benchmarks.zoo.{protocol}.{kernel}.adapter:make"


def defects_of(protocol: str, kernel: str) -> list[dict[str, Any]]:
    """Return what was planted, as it was listed before any check."""
    return [one for one in _listed(protocol)["defect"] if one["kernel"] == kernel]


def _listed(protocol: str) -> dict[str, Any]:
    return tomllib.loads((HERE / protocol / "defects.toml").read_text("utf-8"))


def checked(protocol: str, kernel: str, defects: list[str], seconds: float | None, out: Path) -> dict[str, Any]:
    """Return the report of `evenhand check`, with its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    adapter = adapter_of(protocol, kernel)
    readings = _listed(protocol).get("readings", {}).get(kernel, [])
    command = ["-m", "evenhand", "check", protocol, "--adapter", adapter, *(f"--reading={one}" for one in readings)]
    limit = [] if seconds is None else ["--seconds", str(seconds)]
    done = subprocess.run(
        [sys.executable, *command, *limit, "--json", "--out", str(out)],
        env={**os.environ, VARIABLE: ",".join(defects)},
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{adapter}: {done.stderr.strip()}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**json.loads(done.stdout), "cpu_seconds": spent}


def shows(record: Path, adapter: str, defect: str) -> bool:
    """Return whether the kernel with one defect alone, or none, differs as the finding says."""
    os.environ[VARIABLE] = defect
    try:
        again = recheck(record, adapter)
    finally:
        os.environ[VARIABLE] = ""
    return not again.skipped and bool(again.kinds.intersection(load_finding(record).kinds))


def assigned(shown: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Return a largest assignment of defects to the findings in which they show, each finding to one defect."""
    holder: dict[int, str] = {}

    def place(name: str, tried: set[int]) -> bool:
        for rank in shown[name]:
            if rank not in tried:
                tried.add(rank)
                if rank not in holder or place(holder[rank], tried):
                    holder[rank] = name
                    return True
        return False

    for name in shown:
        place(name, set())
    return {name: rank for rank, name in holder.items()}


def judged(protocol: str, kernel: str, planted: list[str], seconds: float | None) -> dict[str, Any]:
    """Return the report of a kernel with these defects: in which findings each shows alone, and which are false."""
    adapter = adapter_of(protocol, kernel)
    shown: dict[str, list[int]] = {name: [] for name in planted}
    false: list[str] = []
    unassigned: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        report = checked(protocol, kernel, planted, seconds, Path(folder))
        for rank, finding in enumerate(report["findings"], start=1):
            record = Path(folder, finding["fixture"])
            if shows(record, adapter, ""):
                false.append(finding["claim"])
                continue
            alone = [name for name in planted if shows(record, adapter, name)]
            for name in alone:
                shown[name].append(rank)
            if not alone:
                unassigned.append(f"{rank} {finding['claim']}: {'; '.join(finding['kinds'])}")
    return {**report, "shown": shown, "told": assigned(shown), "false": false, "unassigned": unassigned}


def later(protocol: str, kernel: str, left: list[str], seconds: float | None, rounds: int) -> Iterator[list[str]]:
    """Yield what each further check tells, where its author has mended all that the checks before told."""
    while left and rounds:
        told = judged(protocol, kernel, left, seconds)["told"]
        if not told:
            return
        yield sorted(told)
        left = [name for name in left if name not in told]
        rounds -= 1


def row(protocol: str, kernel: str, seconds: float | None, rounds: int) -> dict[str, Any]:
    """Return the figures of one kernel."""
    planted = [one["name"] for one in defects_of(protocol, kernel)]
    with tempfile.TemporaryDirectory() as folder:
        honest = checked(protocol, kernel, [], seconds, Path(folder))
    report = judged(protocol, kernel, planted, seconds)
    told = report["told"]
    left = [name for name in planted if name not in told]
    return {
        "kernel": f"{protocol}/{kernel}",
        "planted": len(planted),
        "told": len(told),
        "false_findings": len(honest["findings"]) + len(report["false"]),
        "findings": len(report["findings"]),
        "sightings": report["sightings"],
        "explained": report["explained"],
        "cpu_seconds": round(honest["cpu_seconds"] + report["cpu_seconds"], 1),
        "check_seconds": round(report["cpu_seconds"], 1),
        "ranks": {name: told.get(name) for name in planted},
        "later": list(later(protocol, kernel, left, seconds, rounds - 1)),
        "shown": report["shown"],
        "claims": [one["claim"] for one in report["findings"]],
        "kinds": ["; ".join(one["kinds"]) for one in report["findings"]],
        "seriousness": [one["rank"] for one in report["findings"]],
        "false": [*(one["claim"] for one in honest["findings"]), *report["false"]],
        "honest_kinds": ["; ".join(one["kinds"]) for one in honest["findings"]],
        "unassigned": report["unassigned"],
        "sentences": {one["name"]: one["sentence"] for one in defects_of(protocol, kernel)},
    }


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo")
    parser.add_argument("names", nargs="*", metavar="PROTOCOL[/KERNEL] | FILE")
    parser.add_argument("--seconds", type=float, help="instead of the default limit of a check")
    parser.add_argument("--rounds", type=int, default=1, help="check again with what was told mended, so often at most")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="print the table of files that --json wrote")
    asked = parser.parse_args()
    if asked.markdown:
        reports = [json.loads(Path(name).read_text("utf-8")) for name in asked.names]
        read: list[dict[str, Any]] = [one for report in reports for one in report["kernels"]]
        read.sort(key=lambda one: one["kernel"])
        print(markdown(read, total(read)))
        return
    rows: list[dict[str, Any]] = []
    for protocol, kernel in kernels(asked.names):
        rows.append(row(protocol, kernel, asked.seconds, asked.rounds))
        if not asked.json:
            _print(rows[-1])
    sums = total(rows)
    if asked.json:
        print(json.dumps({**sums, "seconds": asked.seconds, "kernels": rows}, indent=1, sort_keys=True))
    else:
        print(f"all: told {sums['told']} of {sums['planted']}, {sums['findings']} findings, ", end="")
        print(f"{sums['false_findings']} false, {sums['cpu_seconds']:.0f} CPU seconds")
        for number in range(2, asked.rounds + 1):
            more = sum(len(names) for one in rows for names in one["later"][: number - 1])
            print(f"all: told by {number} checks {sums['told'] + more}")


def total(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums of all kernels."""
    return {name: round(sum(one[name] for one in rows), 1) for name in SUMS}


def _print(one: dict[str, Any]) -> None:
    print(f"{one['kernel']}: told {one['told']} of {one['planted']} in {one['findings']} findings, ", end="")
    print(f"{one['false_findings']} false, {one['sightings']} sightings, {one['cpu_seconds']} CPU seconds")
    for name, rank in one["ranks"].items():
        where = f"{rank} {one['claims'][rank - 1]}" if rank else "NOT TOLD"
        print(f"    {name}: {where} {one['shown'][name] if not rank else ''}")
    for number, names in enumerate(one["later"], start=2):
        print(f"    told by check {number}: {', '.join(names)}")
    for claim in one["false"]:
        print(f"    false: {claim}")
    for claim in one["unassigned"]:
        print(f"    shows with no defect alone: {claim}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
