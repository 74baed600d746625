"""Check strangers' kernels as a user does: which planted defects are told, in how many findings, at what cost.

    python -m benchmarks.zoo [PROTOCOL | PROTOCOL/KERNEL …] [--seconds N] [--json]

Each kernel that has an adapter is checked twice by `evenhand check`, as whole processes: honest, where every finding is
false, and with all its defects at once.  A defect is *told* if one of the findings also shows on the kernel with this
defect alone and not on the honest one: each finding is repeated on each of them, so no name is compared.  `seconds`
limits one check, all systems together.
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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.conform.checking.finding import recheck

HERE = Path(__file__).parent
SECONDS = 60.0
VARIABLE = "ZOO_DEFECTS"


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


def checked(protocol: str, kernel: str, defects: list[str], seconds: float, out: Path) -> dict[str, Any]:
    """Return the report of `evenhand check`, with its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    adapter = adapter_of(protocol, kernel)
    readings = _listed(protocol).get("readings", {}).get(kernel, [])
    command = ["-m", "evenhand", "check", protocol, "--adapter", adapter, *(f"--reading={one}" for one in readings)]
    done = subprocess.run(
        [sys.executable, *command, "--seconds", str(seconds), "--json", "--out", str(out)],
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
    """Return whether a finding shows on the kernel with one defect alone."""
    os.environ[VARIABLE] = defect
    try:
        again = recheck(record, adapter)
    finally:
        os.environ[VARIABLE] = ""
    return not again.ok and not again.skipped


def row(protocol: str, kernel: str, seconds: float) -> dict[str, Any]:
    """Return the figures of one kernel."""
    adapter = adapter_of(protocol, kernel)
    planted = [one["name"] for one in defects_of(protocol, kernel)]
    with tempfile.TemporaryDirectory() as folder:
        honest = checked(protocol, kernel, [], seconds, Path(folder, "honest"))
        report = checked(protocol, kernel, planted, seconds, Path(folder, "all"))
        told: dict[str, list[int]] = {name: [] for name in planted}
        for rank, finding in enumerate(report["findings"], start=1):
            record = Path(folder, "all", finding["fixture"])
            if not shows(record, adapter, ""):  # else it tells of no defect
                for name in (one for one in planted if shows(record, adapter, one)):
                    told[name].append(rank)
    return {
        "kernel": f"{protocol}/{kernel}",
        "planted": len(planted),
        "told": sum(map(bool, told.values())),
        "false_findings": len(honest["findings"]),
        "findings": len(report["findings"]),
        "sightings": report["sightings"],
        "explained": report["explained"],
        "cpu_seconds": round(honest["cpu_seconds"] + report["cpu_seconds"], 1),
        "ranks": told,
        "claims": [one["claim"] for one in report["findings"]],
        "false": [one["claim"] for one in honest["findings"]],
    }


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo")
    parser.add_argument("names", nargs="*", metavar="PROTOCOL[/KERNEL]")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for protocol, kernel in kernels(asked.names):
        rows.append(row(protocol, kernel, asked.seconds))
        if not asked.json:
            _print(rows[-1])
    sums = ("planted", "told", "false_findings", "findings", "sightings", "explained", "cpu_seconds")
    total = {name: sum(one[name] for one in rows) for name in sums}
    if asked.json:
        print(json.dumps({**total, "seconds": asked.seconds, "kernels": rows}, indent=1, sort_keys=True))
    else:
        print(f"all: told {total['told']} of {total['planted']}, {total['findings']} findings, ", end="")
        print(f"{total['false_findings']} false, {total['cpu_seconds']:.0f} CPU seconds")


def _print(one: dict[str, Any]) -> None:
    print(f"{one['kernel']}: told {one['told']} of {one['planted']} in {one['findings']} findings, ", end="")
    print(f"{one['false_findings']} false, {one['sightings']} sightings, {one['cpu_seconds']} CPU seconds")
    for name, ranks in one["ranks"].items():
        where = ", ".join(f"{rank} {one['claims'][rank - 1]}" for rank in ranks) or "NOT TOLD"
        print(f"    {name}: {where}")
    for claim in one["false"]:
        print(f"    false: {claim}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
