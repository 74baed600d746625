"""Check a certificate that claims hold in every reachable state of a planned search.

A certificate is a JSON object of the format `evenhand/search-certificate`, version 1:

    protocol, system, scope, readings   a search that the protocol itself plans
    claims                              names of claims that hold in it
    configurations                      one for each configuration, in the order of the system:
        states, steps                   how many there are
        graph                           the digest of the successors of each state
        ranks                           for each claim about whole runs what `ranks` says; nothing for other claims

States are numbered as a breadth-first walk meets them, initial ones first, actions in the order in which they are on
offer.  They are not written down: the walk starts at the initial states, takes every step and ends when no state is
new, so what it visited is closed.  Claims are asked on the way, in `watches`.
"""

# SPDX-License-Identifier: MIT
# What is read may be anything, so its parts have no known type until they are looked at.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from evenhand.core.alike import refuse_merge
from evenhand.core.answers import ModelError
from evenhand.core.bundle import Bundle
from evenhand.core.kinds import DeadlockFree, Liveness, Property
from evenhand.core.registry import registered
from evenhand.core.system import AnySystem
from evenhand_certificates.errors import Invalid, Work
from evenhand_certificates.searches.watches import Watch, watch_of

FORMAT = "evenhand/search-certificate"
VERSION = 1

MOST_STEPS = 1_000_000
"""The most steps of a search that is certified."""


@dataclass(frozen=True)
class Searched:
    """What was checked: where, which claims, and on how many states and steps."""

    place: str
    claims: tuple[str, ...]
    states: int
    steps: int


def check_search(certificate: Any) -> Searched:
    """Check a certificate read from JSON.  Raises Invalid with the place and the reason."""
    given = certificate if isinstance(certificate, Mapping) else {}
    if (given.get("format"), given.get("version")) != (FORMAT, VERSION):
        raise Invalid(f"it is not of the format {FORMAT}, version {VERSION}")
    if not isinstance(name := given.get("protocol"), str) or len(name) > 100:
        raise Invalid("it names no protocol")
    try:
        bundle = registered(name)
        system = planned(bundle, certificate)
        claims = claims_named(bundle, system, certificate.get("claims"))
        states, steps = check_configurations(system, claims, certificate.get("configurations"))
    except Invalid:
        raise
    except (ModelError, ValueError, RecursionError) as error:
        raise Invalid(str(error)) from error
    place = " ".join(filter(None, (bundle.name, system.name, str(system.scope))))
    return Searched(place, tuple(claim.name for claim in claims), states, steps)


def planned(bundle: Bundle, certificate: Mapping[str, Any]) -> AnySystem:
    """Return the system of a search that a protocol plans, so that no file can ask for an endless one.

    Raises Invalid for any other.
    """
    name, scope, readings = (certificate.get(key) for key in ("system", "scope", "readings"))
    for entry in bundle.plans:
        written = {key: str(value.value if isinstance(value, Enum) else value) for key, value in entry.readings.items()}
        if (entry.engine, entry.system, dict(entry.scope), written) == ("explore", name, scope, readings):
            return bundle.model.systems[entry.system].at(**entry.scope).under(**entry.readings)
    if isinstance(name, str) and name in bundle.model.systems and scope == {} and readings == {}:
        return bundle.model.systems[name]
    raise Invalid(f"{bundle.name} plans no search of this system, scope and readings")


def claims_named(bundle: Bundle, system: AnySystem, names: Any) -> list[Property]:
    """Return the claims of these names about a system.  Raises Invalid."""
    known = {claim.name: claim for claim in bundle.claims_of(system.name)}
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise Invalid("it names no claims")
    for name in names:
        if name not in known or names.count(name) > 1:
            raise Invalid(f"{name!r:.80} names no claim about {system.name}, or stands twice")
    return [known[name] for name in names]


def check_configurations(system: AnySystem, claims: Sequence[Property], entries: Any) -> tuple[int, int]:
    """Check what is said of every configuration; return the states and steps of all.

    Raises Invalid where something is false, and ModelError for a model that breaks its contract.
    """
    if not isinstance(entries, list):
        raise Invalid("it lists no configurations")
    if system.constrained:
        raise Invalid("a constraint bounds its runs, so its claims are not about all")
    work, total, steps = Work(10 * MOST_STEPS), 0, 0
    met, shared = dict.fromkeys((claim.name for claim in claims), 0), dict[str, Any]()
    count = 0
    for count, config in enumerate(system.all_configs(), start=1):
        entry = entries[count - 1] if count <= len(entries) else None
        if not isinstance(entry, Mapping) or not isinstance(entry.get("ranks"), Mapping):
            raise Invalid(f"configuration {count - 1} is missing, or has no ranks")
        asked = [claim for claim in claims if claim.applies(config)]
        if set(entry["ranks"]) != {claim.name for claim in asked if isinstance(claim, DeadlockFree | Liveness)}:
            raise Invalid(f"configuration {count - 1} has not the ranks of its claims about whole runs, and no others")
        watches = [watch_of(claim, system, config, entry["ranks"].get(claim.name), shared) for claim in asked]
        found = walk(system, config, watches, work, MOST_STEPS - steps)
        if [entry.get(key) for key in ("states", "steps", "graph")] != [*found]:
            raise Invalid(f"configuration {count - 1} has other states, steps or successors: {found}")
        total, steps = total + found[0], steps + found[1]
        for watch in watches:
            watch.close()
            met[watch.name] += watch.met
    if count != len(entries):
        raise Invalid(f"the system has {count} configurations, not {len(entries)}")
    never = [name for name, times in met.items() if not times]
    if never:
        raise Invalid(f"claim {never[0]} says nothing here: what it is about never occurs")
    return total, steps


def walk(system: AnySystem, config: Any, watches: Sequence[Watch], work: Work, most: int) -> tuple[int, int, str]:
    """Walk the graph of one configuration: its states, its steps, the digest of its successors.

    Raises Invalid where a watch objects, or beyond `most` steps.
    """
    known: dict[Any, int] = {}
    states: list[Any] = []
    waiting: OrderedDict[int, None] = OrderedDict()  # a queue in which no state stands twice
    digest = hashlib.sha256()

    def number(state: Any, *, initial: bool = False) -> int:
        place = known.get(state)
        if place is not None:
            if states[place] is not state:
                refuse_merge(states[place], state)
            return place
        place = known[state] = len(states)
        states.append(state)
        waiting[place] = None
        for watch in watches:
            watch.arrive(place, state, initial)
        return place

    for start in system.initial(config):
        number(start, initial=True)
    if not states:
        raise Invalid("a configuration has no initial state")
    visited = steps = 0
    lookers = [watch for watch in watches if watch.looks]
    while waiting:
        place, _ = waiting.popitem(last=False)
        first = place == visited  # else the state is visited again, for what a history has still to see
        visited += first
        asked = lookers if first else [watch for watch in lookers if watch.waits(place)]
        state = states[place]
        actions = tuple(system.enabled(config, state))
        for watch in asked:
            watch.visit(place, state, actions)
        targets: set[int] = set()
        for action in actions:
            step = system.take(config, state, action)
            there = number(step.after)
            targets.add(there)
            work.spend()
            for watch in asked:
                if watch.look(step, there) and there < visited:
                    waiting[there] = None
        for watch in asked:
            watch.leave()
        if first:
            steps += len(actions)
            digest.update(f"{sorted(targets)}\n".encode())
            if steps > most:
                raise Invalid(f"it has more than {MOST_STEPS:,} steps")
    return len(states), steps, f"sha256:{digest.hexdigest()}"
