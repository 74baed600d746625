"""Certify every theorem as a user does, check the certificates, and tamper with them.

    python -m benchmarks.certificates [--json] [--out DIR] [--alterations N] [--seed N] [PROTOCOL …]

Seconds are those of the processor, of whole commands with their children: `evenhand prove` beside `evenhand-check`.
Certificates that are in DIR already and valid are kept, so a second run measures checking alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import evenhand_certificates
from evenhand.core.registry import protocols
from tests.certificates.tampering import second, tamper


def timed(*words: str) -> tuple[str, float]:
    """Run a module of Python; return its output and its processor seconds with its children's."""
    before = os.times()
    ran = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False)
    after = os.times()
    if ran.returncode not in (0, 1, 3):
        raise RuntimeError(f"{' '.join(words)}: exit code {ran.returncode}: {ran.stderr[-2000:]}")
    return ran.stdout, after.children_user + after.children_system - before.children_user - before.children_system


def row_of(protocol: str, folder: Path) -> dict[str, Any]:
    """Certify one protocol and check what was written."""
    out, made = timed("evenhand", "certify", protocol, "--out", str(folder), "--json")
    listed = json.loads(out)["certificates"]
    files = sorted((folder / protocol).rglob("*.json"))
    _, checked = timed("evenhand_certificates", str(folder / protocol))
    missing = {one["theorem"]: one["because"] for one in listed if not one["valid"]}
    theorems = {one["theorem"] for one in listed}
    return {
        "protocol": protocol,
        "theorems": len(theorems),
        "certified": len(theorems - set(missing)),
        "queries": len(listed),
        "certificates": sum(one["valid"] for one in listed),
        "without": missing,
        "bytes": sum(file.stat().st_size for file in files),
        "make_cpu_seconds": round(made, 1),
        "check_cpu_seconds": round(checked, 2),
    }


def main() -> int:
    """Print the table, or the summary as JSON; 1 if the checkers disagree or a theorem has no certificate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificates", description=__doc__)
    parser.add_argument("protocols", nargs="*", metavar="PROTOCOL")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--alterations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.out or Path(scratch)
        names = given.protocols or [bundle.name for bundle in protocols()]
        rows = [row_of(name, folder) for name in names]
        texts = [file.read_text("utf-8") for name in names for file in sorted((folder / name).rglob("*.json"))]
    tally = tamper([json.loads(text) for text in texts], given.alterations, given.seed)
    sources = Path(evenhand_certificates.__path__[0]).glob("*.py")
    summary = {
        "theorems": sum(row["theorems"] for row in rows),
        "certified": sum(row["certified"] for row in rows),
        "certificates": sum(row["certificates"] for row in rows),
        "accepted_by_the_second_checker": second(texts).count("valid"),
        "bytes": sum(row["bytes"] for row in rows),
        "check_cpu_seconds": round(sum(row["check_cpu_seconds"] for row in rows), 2),
        "checker_lines": sum(len(file.read_text("utf-8").splitlines()) for file in sources),
        "tampered": sum(tally.tried.values()),
        "rejected": sum(tally.rejected.values()),
        "accepted_by_both": sum(tally.accepted.values()),
        "accepted_wrongly": len(tally.wrong),
        "protocols": rows,
        "alterations": {
            kind: [tally.tried[kind], tally.rejected[kind], tally.accepted[kind]] for kind in sorted(tally.tried)
        },
    }
    if given.json:
        print(json.dumps(summary, indent=2))
    else:
        for row in rows:
            print("  ".join(f"{key}={value}" for key, value in row.items() if key != "without"), row["without"] or "")
        print("  ".join(f"{key}={value}" for key, value in summary.items() if not isinstance(value, list | dict)))
    return 1 if tally.wrong or summary["theorems"] != summary["certified"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
