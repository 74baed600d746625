"""Every listed mutant behind an adapter that hides which one it is: found, by what, in how many steps.

`python -m tests.evenhand.adapters.test_hidden_mutants cud` prints the table that the explanation of limits quotes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import pytest

from evenhand.adapters.kernels import adapter_source
from evenhand.checking.loop import EXHAUSTIVE, MACHINE, SEPARATING, Effort, check_system, scopes_of
from evenhand.fixtures import fixtures_of
from evenhand.model.system import Mutant
from evenhand.properties.registry import find
from evenhand.properties.variants import separate

__all__ = ["hunted"]

SECONDS = 10.0
PROTOCOLS = ("cud", "apcm")


def hunted(protocol: str, mutant: Mutant[Any], *, stored: bool, state: bool = False) -> dict[str, Any]:
    """What checking one mutant gives; `stored`: with the runs of the store, one of which was made for it."""
    bundle = find(protocol)
    system = bundle.model.systems[mutant.system].under(**dict(mutant.readings))
    os.environ["EVENHAND_HIDDEN"] = f"{protocol}:{mutant.name}:{'state' if state else ''}"
    source = adapter_source("tests.evenhand.adapters.hidden:factory")
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
            effort=Effort(None, examples=400, seconds=SECONDS, phases=phases, first=True),
        )
    finally:
        source.close()
    told = [one.sighting for one in found.defects if one.sighting.what in ("differs", "objects")]
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
    """The least number of steps that tells a mutant by what is shown, at the scope it names; None where not known."""
    bundle = find(protocol)
    variant = mutant.of(bundle.model.systems)
    base = bundle.model.systems[mutant.system].at(**dict(mutant.scope)).under(**dict(mutant.readings))
    return separate(base, variant, examples=0, max_states=5_000, max_steps=60_000).length


def row_of(protocol: str, mutant: Mutant[Any]) -> dict[str, Any]:
    """One mutant: first without the stored runs, then with them, then telling its state."""
    row = hunted(protocol, mutant, stored=False)
    if not row["found"] and mutant.expected == "killed":
        row = hunted(protocol, mutant, stored=True)
    if not row["found"] and mutant.expected == "killed":
        row = hunted(protocol, mutant, stored=True, state=True)
    return {**row, "expected": mutant.expected, "minimal": minimal(protocol, mutant)}


def listed() -> list[Any]:
    """Every mutant of the protocols, as parameters that name it."""
    return [
        pytest.param(protocol, mutant, id=f"{protocol}-{mutant.name}")
        for protocol in PROTOCOLS
        for mutant in find(protocol).model.mutants
    ]


@pytest.mark.deep
@pytest.mark.parametrize(("protocol", "mutant"), listed())
def test_a_hidden_mutant_is_found(protocol: str, mutant: Mutant[Any]) -> None:
    """What is registered as killed is found, what is equivalent is not; nothing shrinks above or below the minimum."""
    row = row_of(protocol, mutant)
    print(json.dumps(row))
    assert row["found"] == (row["expected"] == "killed")
    assert row["minimal"] is None or row["length"] in (None, row["minimal"])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for one in find(name).model.mutants:
            print(json.dumps(row_of(name, one)), flush=True)
