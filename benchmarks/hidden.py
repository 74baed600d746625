"""Check every listed mutant behind an adapter that hides its name: found, by what, how soon, in how many steps.

    python -m benchmarks.hidden [PROTOCOL …] [--json]

A check lasts ten seconds at most, shrinking included, and ends with the first batch of runs with a finding.  The first
check omits the stored runs, the second uses them, the third also reads the state.  The least length is that of a
breadth-first comparison of mutant and reference; if no step shows a difference, of the explorer's own refutation.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from evenhand.conform.adapters.kernels import adapter_source
from evenhand.conform.checking.loop import EXHAUSTIVE, MACHINE, SEPARATING, CheckEffort, check_system, scopes_of
from evenhand.core.registry import find
from evenhand.core.system import Mutant
from evenhand.evidence.story import evidence_length
from evenhand.jobs.fixtures import fixtures_of
from evenhand.search import explore
from evenhand.variants.separate import separate

SECONDS = 10.0


def hunted(protocol: str, mutant: Mutant[Any], *, stored: bool, state: bool = False) -> dict[str, Any]:
    """Return the result of checking one mutant; `stored`: with the stored runs, one of which was made for it."""
    bundle = find(protocol)
    system = bundle.model.systems[mutant.system].under(**dict(mutant.readings))
    os.environ["EVENHAND_HIDDEN"] = f"{protocol}:{mutant.name}:{'state' if state else ''}"
    source = adapter_source("benchmarks.hidden_kernel:factory")
    phases = (EXHAUSTIVE, MACHINE, *((SEPARATING,) if stored else ()))
    began = time.monotonic()
    try:
        found = check_system(
            protocol,
            scopes_of(bundle, system),
            bundle.claims,
            source,
            own=system,
            generator=next((one for one in bundle.generators if one.system == system.name), None),
            records=[record for _, record in fixtures_of(protocol)] if stored else (),
            effort=CheckEffort(None, examples=400, seconds=SECONDS, phases=phases, first=True),
        )
    finally:
        source.close()
    told = [one.divergence for one in found.defects if one.divergence.what in ("differs", "violates")]
    assert len(told) == len(found.defects), "a mutant answers; what it answers is wrong"
    best = min(told, key=lambda one: one.length, default=None)
    return {
        "mutant": mutant.name,
        "found": best is not None,
        "state": state,
        "claim": best.subject if best else "",
        "origin": best.origin if best else "",
        "length": best.length if best else None,
        "first": round(found.first[1], 2) if found.first else None,
        "runs_to_first": found.first[0] if found.first else None,
        "findings": len(found.defects),
        "seconds": round(time.monotonic() - began, 1),
    }


def minimal(protocol: str, mutant: Mutant[Any]) -> int | None:
    """Return the least number of steps that shows a mutant, at the scope it names; None where unknown."""
    bundle = find(protocol)
    variant = mutant.of(bundle.model.systems)
    base = bundle.model.systems[mutant.system].at(**dict(mutant.scope)).under(**dict(mutant.readings))
    return separate(base, variant, examples=0, max_states=5_000, max_steps=60_000).length


def shortest(protocol: str, mutant: Mutant[Any], claim: str) -> int | None:
    """Return the length of the explorer's refutation of a claim on the mutant, at its scope; None if none."""
    bundle = find(protocol)
    claims = [one for one in bundle.claims_of(mutant.system) if one.name == claim]
    found = explore(mutant.of(bundle.model.systems), claims, max_states=5_000).verdicts
    return next((evidence_length(one.evidence) for one in found if one.evidence is not None), None)


def row_of(protocol: str, mutant: Mutant[Any]) -> dict[str, Any]:
    """Return the row of one mutant: without the stored runs, then with them, then with its state reported."""
    row = hunted(protocol, mutant, stored=False)
    if not row["found"] and mutant.expected == "killed":
        row = hunted(protocol, mutant, stored=True)
    if not row["found"] and mutant.expected == "killed":
        row = hunted(protocol, mutant, stored=True, state=True)
    least = minimal(protocol, mutant)
    if least is None and row["found"]:  # no step shows it: a reported state and a claim about states found it
        least = shortest(protocol, mutant, row["claim"])
    return {**row, "protocol": protocol, "expected": mutant.expected, "minimal": least}


def line(row: dict[str, Any]) -> str:
    """Return one row of the table."""
    if not row["found"]:
        return f"{row['protocol']:6} {row['mutant']:42} not found, registered as {row['expected']}"
    by = f"{row['origin']}{', telling its state' if row['state'] else ''}"
    return (
        f"{row['protocol']:6} {row['mutant']:42} {row['first']:6.2f} s {row['runs_to_first']:6,} runs  "
        f"{row['length']} of {row['minimal']} steps  {by}: {row['claim']}"
    )


def main(words: list[str]) -> int:
    """Print the table of these protocols (else of `cud` and `apcm`) and its summary; --json: rows as JSON."""
    names = [word for word in words if not word.startswith("--")] or ["cud", "apcm"]
    rows: list[dict[str, Any]] = []
    for name in names:
        for mutant in find(name).model.mutants:
            rows.append(row_of(name, mutant))
            print(json.dumps(rows[-1]) if "--json" in words else line(rows[-1]), flush=True)
    told = [row for row in rows if row["found"]]
    longer = [row["mutant"] for row in told if row["length"] != row["minimal"]]
    missed = [row["mutant"] for row in rows if row["found"] != (row["expected"] == "killed")]
    first = sorted(row["first"] for row in told)
    print(
        f"{len(told)} of {len(rows)} found, the slowest after {first[-1]:.1f} s by the clock, half within "
        f"{first[len(first) // 2]:.1f} s; not as registered: {', '.join(missed) or 'none'}; not shrunk to the least "
        f"length known: {', '.join(longer) or 'none'}"
    )
    return 1 if missed or longer else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
