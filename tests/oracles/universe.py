"""How many joint requests there are over 2 agents x 2 keys, one epoch, over every authority layout.

Nothing of the project is imported.  A layout: any subset of the 8 ALLOW slots (agent, key, operation) and of
the 4 DENY slots (key, operation), 4,096 in all.  What an agent may submit: nothing; exit; READ with a non-empty
scope (3); WRITE with a non-empty scope and any subset of the keys as delta (12); each of those 15 citing all
held ALLOWs that cover (some key of the scope, the operation), or none, or one foreign artefact, equal requests
counted once; and one malformed request of each of M kinds (`MALFORMED`: the nine that the model names; the
first seven are those that the text lists).

The text leaves open whose the DENY artefacts are, hence to whom they are foreign:

* held by the harness (the default): foreign to both agents;
* held by one agent: foreign to the other one only.

The closed form.  Let an agent hold h, any of 16 sets of ALLOWs, r of them READs and w WRITEs.  Citing what
covers differs from citing none in g(r) of the 3 scopes of READ, g(0, 1, 2) = (0, 2, 3), and in g(w) of those of
WRITE, four deltas each.  So a menu has

    base(h) = 2 + M + 15 + g(r) + 4 g(w)   requests, M kinds malformed, and 15 more if something is foreign.

g sums to 0 + 2 + 2 + 3 = 7 over the sets of READs, so base(h) sums to B = 16 e + 4*7 + 4*4*7 = 16 e + 140, with
e = base(empty) = 17 + M; over the other 15 sets to B - e.  Something is foreign when the other agent holds an
ALLOW or a DENY exists that is foreign.  With t = 15 * 15 more over the non-empty sets, C = B - e + t:

    no DENY:                        C**2 + 2 (e + 15)(B - e) + e**2             once
    DENY foreign to both:           (C + e + 15)**2                             15 times (harness)
    DENY foreign to one:            C (C + e + 15) + (e + 15) B                 15 times (one agent's)

With the harness holding the DENYs and M = 9 that is 10,118,401, the universe of the model; with M = 7 it is
9,320,641.  With one agent holding them and M = 7 it is 9,180,241: that number was given without its reading, and
this is the one that gives it among some hundred thousand tried, so it is a fit and no derivation.

Run it:  python tests/oracles/universe.py
"""

from __future__ import annotations

import itertools
from typing import Literal

DenyHolder = Literal["harness", "one_agent"]

MALFORMED = (
    "agent id of another",
    "action id not the deterministic one",
    "empty scope",
    "key twice in scope",
    "unknown key",
    "READ with a delta",
    "value no JSON primitive",
    "unknown action type",
    "unknown key in delta",
)
"""The structural checks before pass 1, one request each; an id that is not held is the foreign citation."""

Artefact = tuple[str, int | None, str, str]
"""(holder, the agent it allows or None for a DENY, key, operation), placed in id order."""
Request = tuple[object, ...]

SLOTS: tuple[tuple[int | None, str, str], ...] = (
    *itertools.product((0, 1), "AB", ("READ", "WRITE")),
    *((None, key, operation) for key, operation in itertools.product("AB", ("READ", "WRITE"))),
)


def layouts(deny_holder: DenyHolder) -> list[list[Artefact]]:
    """All 4,096 subsets of the slots, as artefacts with their holders."""
    denier = "agent_0" if deny_holder == "one_agent" else "harness"
    return [
        [
            (denier if who is None else f"agent_{who}", who, key, operation)
            for kept, (who, key, operation) in zip(mask, SLOTS, strict=True)
            if kept
        ]
        for mask in itertools.product((False, True), repeat=len(SLOTS))
    ]


def requests(layout: list[Artefact], agent: int, malformed: int = len(MALFORMED)) -> set[Request]:
    """Every request that one agent may submit under a layout; citations are places in the layout."""
    found: set[Request] = {("none",), ("exit",), *(("malformed", kind) for kind in range(malformed))}
    foreign = [place for place, artefact in enumerate(layout) if artefact[0] != f"agent_{agent}"][:1]
    for operation, scope in itertools.product(("READ", "WRITE"), (("A",), ("B",), ("A", "B"))):
        covering = [
            place
            for place, (_, who, key, allowed) in enumerate(layout)
            if who == agent and key in scope and allowed == operation
        ]
        for delta in ((), ("A",), ("B",), ("A", "B")) if operation == "WRITE" else ((),):
            for cited in (covering, [], foreign):
                found.add((operation, scope, delta, tuple(cited)))
    return found


def enumerated(deny_holder: DenyHolder, malformed: int = len(MALFORMED)) -> int:
    """The number of joint requests, every request of every layout built and put into a set."""
    return sum(
        len(requests(layout, 0, malformed)) * len(requests(layout, 1, malformed)) for layout in layouts(deny_holder)
    )


def closed_form(deny_holder: DenyHolder, malformed: int = len(MALFORMED)) -> int:
    """The same number from the formula above."""
    empty = 17 + malformed
    base = 16 * empty + 140
    held = base - empty + 15 * 15
    without = held**2 + 2 * (empty + 15) * (base - empty) + empty**2
    everywhere = held + empty + 15
    under_deny = everywhere**2 if deny_holder == "harness" else held * everywhere + (empty + 15) * base
    return without + 15 * under_deny


if __name__ == "__main__":
    shown: tuple[tuple[DenyHolder, int], ...] = (("harness", 9), ("harness", 7), ("one_agent", 7))
    for holder, kinds in shown:
        print(f"DENY held by {holder}, {kinds} kinds malformed:", enumerated(holder, kinds), closed_form(holder, kinds))
