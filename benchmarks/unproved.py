"""Count the claims with a theorem of any size, and the others by kind: `python -m benchmarks.unproved`.

A theorem counts if its scope says *any*; no proof is run.  Of the others, a claim with a kept run of the reference that
refutes it under the default readings is answered for every size; the tests replay each kept run.  `--write` puts the
table into `docs/explanation/scale.md`.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from benchmarks.marked import put
from evenhand.core.bundle import Bundle
from evenhand.core.property import DeadlockFree, Liveness, Property, Reachable, Safety
from evenhand.core.registry import protocols
from evenhand.evidence.record import ReferenceVariant
from evenhand.evidence.replay import encoded_readings
from evenhand.jobs.fixtures import fixtures_of
from evenhand.smt.registry import stated

PAGE = Path("docs/explanation/scale.md")
BEGIN, END = "<!-- unproved: lines of `python -m benchmarks.unproved` -->\n", "<!-- end of unproved -->\n"
REFUTED = "refuted by a kept run"
KINDS = ("steps, states, pairs", "histories", "deadlock, livelock, leads to", "goals")


def kind(claim: Property) -> str:
    """Return the subject of a claim, one of `KINDS`."""
    if isinstance(claim, Safety) and claim.reads == "histories":
        return KINDS[1]
    if isinstance(claim, DeadlockFree | Liveness):
        return KINDS[2]
    return KINDS[3] if isinstance(claim, Reachable) else KINDS[0]


def refuted(bundle: Bundle) -> set[str]:
    """Return the claims that a kept run of the reference refutes under the default readings.

    A record may be older than a reading, which then had its default.
    """
    return {
        record.claim.name
        for _, record in fixtures_of(bundle.name)
        if isinstance(record.variant, ReferenceVariant)
        and record.outcome == "REFUTED"
        and encoded_readings(bundle.model.systems[record.system]).items() >= record.readings.items()
    }


def row(bundle: Bundle) -> list[int]:
    """Return the number of claims of a protocol, of those with a theorem of any size, and of the others by kind."""
    proved = {theorem.claim.name for theorem in stated(bundle.name) if "any" in theorem.scope.split()}
    wrong = refuted(bundle)
    others = Counter(
        REFUTED if claim.name in wrong else kind(claim) for claim in bundle.claims if claim.name not in proved
    )
    counts = (others[one] for one in (REFUTED, *KINDS))
    return [len(bundle.claims), len(bundle.claims) - others.total(), *counts]


def table() -> str:
    """Return the table, one row for each protocol."""
    first, *others = KINDS
    head = ("protocol", "claims", "with a theorem of any size", f"without: {REFUTED}", f"open: about {first}", *others)
    rows = [(bundle.name, *map(str, row(bundle))) for bundle in protocols()]
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Print the table; with `--write` put it between the marks of the page."""
    found = table()
    print(found, end="")
    if "--write" in sys.argv[1:]:
        put(PAGE, BEGIN, found, END)


if __name__ == "__main__":
    main()
