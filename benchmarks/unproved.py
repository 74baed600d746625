"""Count the claims with a theorem of any size, and the others by kind: `python -m benchmarks.unproved`.

A theorem counts if its scope says *any*; no proof is run.
"""

from __future__ import annotations

from collections import Counter

from evenhand.core.bundle import Bundle
from evenhand.core.property import DeadlockFree, Liveness, Property, Reachable, Safety
from evenhand.core.registry import protocols
from evenhand.smt.registry import stated

KINDS = ("steps, states, pairs", "histories", "deadlock, livelock, leads to", "goals")


def kind(claim: Property) -> str:
    """Return the subject of a claim, one of `KINDS`."""
    if isinstance(claim, Safety) and claim.reads == "histories":
        return KINDS[1]
    if isinstance(claim, DeadlockFree | Liveness):
        return KINDS[2]
    return KINDS[3] if isinstance(claim, Reachable) else KINDS[0]


def row(bundle: Bundle) -> list[int]:
    """Return the number of claims of a protocol, of those with a theorem of any size, and of the others by kind."""
    proved = {theorem.claim.name for theorem in stated(bundle.name) if "any" in theorem.scope.split()}
    others = Counter(kind(claim) for claim in bundle.claims if claim.name not in proved)
    return [len(bundle.claims), len(bundle.claims) - others.total(), *(others[one] for one in KINDS)]


def main() -> None:
    """Print the table."""
    print(f"| protocol | claims | with a theorem of any size | without: about {' | '.join(KINDS)} |")
    print("|---" * (3 + len(KINDS)) + "|")
    for bundle in protocols():
        print(f"| {bundle.name} | {' | '.join(map(str, row(bundle)))} |")


if __name__ == "__main__":
    main()
