"""Seeded alterations of certificates of searches, and whether one that is accepted says what the search does not."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from evenhand.core.registry import protocols, registered
from evenhand.search import explore
from evenhand_certificates import Invalid
from evenhand_certificates.searches import check_search
from evenhand_certificates.searches.check import claims_named, planned
from tests.certificates.tampering import HOSTILE, Tally, leaf, other, shifted

Alter = Callable[[random.Random, dict[str, Any]], None]
LARGE: tuple[Any, ...] = ("x" * 100_000, [[]] * 50_000, {str(number): number for number in range(50_000)})
LONGEST = 1_000
"""The most characters of an answer; a longer one repeats what a file says."""


def _entry(rng: random.Random, made: dict[str, Any]) -> dict[str, Any]:
    return rng.choice(made["configurations"])


def _ranks(rng: random.Random, made: dict[str, Any]) -> list[Any]:
    """Some list of ranks.  Raises LookupError where there is none."""
    every = [given for entry in made["configurations"] for given in entry["ranks"].values()]
    lists = [given if isinstance(given, list) else given["ranks"] for given in every]
    return rng.choice([one for one in lists if one])  # IndexError is a LookupError


def _quiet(rng: random.Random, made: dict[str, Any]) -> dict[str, Any]:
    every = [given for entry in made["configurations"] for given in entry["ranks"].values()]
    return rng.choice([given["quiet"] for given in every if isinstance(given, dict) and given["quiet"]])


def _state_removed(rng: random.Random, made: dict[str, Any]) -> None:
    entry = _entry(rng, made)
    entry["states"] -= 1
    for given in entry["ranks"].values():
        del (given if isinstance(given, list) else given["ranks"])[-1:]


def _rank(change: Callable[[random.Random, Any], Any]) -> Alter:
    def alter(rng: random.Random, made: dict[str, Any]) -> None:
        ranks = _ranks(rng, made)
        place = rng.randrange(len(ranks))
        ranks[place] = change(rng, ranks[place])

    return alter


def _exchanged(rng: random.Random, made: dict[str, Any]) -> None:
    ranks = _ranks(rng, made)
    one, two = (rng.randrange(len(ranks)) for _ in range(2))
    ranks[one], ranks[two] = ranks[two], ranks[one]


def _count(key: str) -> Alter:
    def alter(rng: random.Random, made: dict[str, Any]) -> None:
        _entry(rng, made)[key] += rng.choice((-1, 1, 10**9))

    return alter


def _forged(rng: random.Random, made: dict[str, Any]) -> None:
    entry = _entry(rng, made)
    place = rng.randrange(7, len(entry["graph"]))
    entry["graph"] = entry["graph"][:place] + rng.choice("0123456789abcdef") + entry["graph"][place + 1 :]


def _claims(made: dict[str, Any]) -> list[str]:
    """All claims of the protocol, about other systems too."""
    return [claim.name for one in protocols() if one.name == made["protocol"] for claim in one.claims]


def _claim(rng: random.Random, made: dict[str, Any]) -> None:
    """Another claim in the place of one, with its ranks."""
    place, new = rng.randrange(len(made["claims"])), rng.choice(_claims(made))
    old = made["claims"][place]
    made["claims"][place] = new
    for entry in made["configurations"]:
        if old in entry["ranks"]:
            entry["ranks"][new] = entry["ranks"].pop(old)


def _claim_added(rng: random.Random, made: dict[str, Any]) -> None:
    made["claims"].append(rng.choice(_claims(made)))


def _assumption(rng: random.Random, made: dict[str, Any]) -> None:
    quiet = _quiet(rng, made)
    names = [name for name in HOSTILE if isinstance(name, str)] + [one["assumption"] for one in quiet.values()]
    quiet[rng.choice(sorted(quiet))]["assumption"] = rng.choice([*names, "time passes", "agent_2 submits"])


def _quiet_dropped(rng: random.Random, made: dict[str, Any]) -> None:
    quiet = _quiet(rng, made)
    del quiet[rng.choice(sorted(quiet))]


def _place(rng: random.Random, made: dict[str, Any]) -> None:
    """The sizes, readings or system of another search of some protocol, or sizes that nothing plans."""
    one = rng.choice(protocols())
    plan = rng.choice([plan for plan in one.plans if plan.engine == "explore"])
    key = rng.choice(("protocol", "system", "scope", "readings", "unplanned"))
    if key == "unplanned":
        made["scope"] = {**made["scope"], rng.choice(["agents", "marks", "x"]): rng.choice((2, 9, 10**12))}
    else:
        made[key] = {"protocol": one.name, "system": plan.system, "scope": dict(plan.scope), "readings": {}}[key]


def _hostile_place(rng: random.Random, made: dict[str, Any]) -> None:
    made[rng.choice(("protocol", "system", "scope", "readings"))] = copy.deepcopy(
        rng.choice(rng.choice((HOSTILE, LARGE)))
    )


def _configurations(rng: random.Random, made: dict[str, Any]) -> None:
    listed = made["configurations"]
    if rng.random() < 0.5:
        del listed[rng.randrange(len(listed))]
    else:
        listed.insert(0, copy.deepcopy(rng.choice(listed)))


def _deep(rng: random.Random, made: dict[str, Any]) -> None:
    nested: Any = {"ranks": [0], "quiet": {}}
    for _ in range(rng.choice((50, 400))):
        nested = {"ranks": [0] * 9, "quiet": {"0": {"assumption": "ticks", **nested}}}
    entry = _entry(rng, made)
    entry["ranks"] = {name: nested for name in [*entry["ranks"], "x"]}


KINDS: dict[str, Alter] = {
    "state removed": _state_removed,
    "rank raised": _rank(lambda rng, rank: (rank or 0) + rng.choice((1, 2, 10**6))),
    "rank lowered": _rank(lambda rng, rank: (rank or 0) - rng.choice((1, 2, 10**6))),
    "rank dropped": _rank(lambda rng, rank: None if rank is not None else 0),
    "ranks exchanged": _exchanged,
    "count of states changed": _count("states"),
    "count of steps changed": _count("steps"),
    "digest forged": _forged,
    "claim exchanged": _claim,
    "claim added": _claim_added,
    "assumption exchanged": _assumption,
    "reason dropped": _quiet_dropped,
    "place changed": _place,
    "configuration dropped or doubled": _configurations,
    "leaf changed": leaf("configurations", shifted),
    "leaf exchanged": leaf("configurations", other),
    "hostile value": leaf("configurations", lambda rng, old, alike: copy.deepcopy(rng.choice(HOSTILE))),
    "hostile place": _hostile_place,
    "hostile claim": leaf("claims", lambda rng, old, alike: copy.deepcopy(rng.choice(HOSTILE))),
    "nested deeply": _deep,
    "version changed": lambda rng, made: made.update(version=rng.choice((0, 2, "1", None))),
}


def altered(certificates: Sequence[dict[str, Any]], count: int, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield `count` alterations that differ from their originals, each with its kind."""
    rng = random.Random(seed)
    kinds, made = list(KINDS), 0
    while made < count:
        kind = kinds[made % len(kinds)]
        changed = original = rng.choice(certificates)
        while changed == original:
            original = rng.choice(certificates)
            changed = copy.deepcopy(original)
            with suppress(LookupError):  # nothing of this kind is in it
                KINDS[kind](rng, changed)
        made += 1
        yield kind, changed


def tamper_searches(certificates: Sequence[dict[str, Any]], count: int, seed: int) -> Tally:
    """Alter certificates of searches and check them.

    Ranks are no part of what is stated, so others may do as well, and another claim may be true too.  `wrong` lists an
    accepted alteration where the search finds other counts, or a claim that does not hold, and one that breaks the
    checker or is answered at length.
    """
    tally = Tally()
    for kind, changed in altered(certificates, count, seed):
        tally.tried[kind] += 1
        try:
            check_search(changed)
        except Invalid as error:
            tally.rejected[kind] += 1
            if len(str(error)) > LONGEST:
                tally.wrong.append(f"{kind}: an answer of {len(str(error))} characters")
            continue
        except Exception as error:
            tally.wrong.append(f"{kind}: {type(error).__name__}: {error}")
            continue
        tally.accepted[kind] += 1
        if not _is_true(changed):
            tally.wrong.append(f"{kind}: accepted {changed['protocol']} {changed['claims']}"[:300])
    return tally


def _is_true(made: dict[str, Any]) -> bool:
    """Whether the search agrees with what a certificate states."""
    bundle = registered(made["protocol"])
    system = planned(bundle, made)
    found = explore(system, claims_named(bundle, system, made["claims"]))
    counts = [sum(entry[key] for entry in made["configurations"]) for key in ("states", "steps")]
    return found.holds and counts == [found.states, found.transitions]
