"""Cycles on which theory and model are compared: lawful ones, and slightly wrong variants."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

from evenhand.model.sovereign.constitution import REFERENCE_CONSTITUTION, cite
from evenhand.model.sovereign.menus import ESCAPES, TREE, at_time, budget, candidate, integrity_failure, said, usual
from evenhand.model.sovereign.state import Act, Config, Decide, State
from evenhand.model.sovereign.step import initial
from evenhand.model.sovereign.vocabulary import KERNEL, LOG_APPEND, READ_LOCAL, WRITE_LOCAL, Candidate
from evenhand.smt.ends import single


def _kinds(seen: tuple[Any, ...]) -> tuple[Candidate, ...]:
    """Return one candidate of each kind, and some with two faults."""
    good = candidate(seen)
    scope = good.scope
    assert scope is not None
    bad = cite(REFERENCE_CONSTITUTION, "NO-SUCH-CLAUSE")
    unbound = replace(scope, observation_ids=())
    return (
        good,
        candidate(seen, WRITE_LOCAL),
        candidate(seen, READ_LOCAL),
        replace(good, citations=()),
        replace(good, citations=(*good.citations, bad)),
        replace(good, citations=(bad,)),
        replace(good, scope=unbound),
        candidate(seen, "Shell"),
        candidate(seen, READ_LOCAL, path=ESCAPES[0]),
        candidate(seen, LOG_APPEND, author=KERNEL),
        replace(good, request=replace(good.request, author="nobody")),
        replace(good, citations=(bad,), scope=unbound),
        replace(candidate(seen, WRITE_LOCAL, path=ESCAPES[0]), scope=unbound),
        replace(candidate(seen, WRITE_LOCAL, path=ESCAPES[0]), citations=()),
        replace(good, request=replace(good.request, author="user")),
    )


@cache
def _starts() -> tuple[tuple[Config, State, Act], ...]:
    config = Config(tree=TREE)
    (start,) = initial(config)
    found: list[Act] = [Decide(usual(), (one,)) for one in _kinds(usual())]
    some = _kinds(usual())
    found += [Decide(usual(), pair) for pair in product((*some[:2], some[4], some[9], some[14]), repeat=2)]
    found += [Decide(usual(), (*some[:3], some[6])), Decide(usual(), (some[8], *some[2::-1]))]
    for seen in (
        (said(),),
        (),
        (at_time(), at_time()),
        (at_time(""), said()),
        (*usual(), integrity_failure()),
        (said(), integrity_failure()),
        (*usual(), budget(6000)),
        (*usual(), budget(5000)),
        (*usual(), budget(6001)),
        (*usual(), budget("x")),
        (*usual(), budget(-1)),
        (*usual(), budget(1), budget(2)),
        (*usual(), budget(6001), integrity_failure()),
        (said(), budget(6001)),
    ):
        found += [Decide(seen), Decide(seen, (candidate(seen),))]
    return tuple((config, start, action) for action in found)


samples = single(_starts)
"""The samples, as steps of any variant of the system."""


@cache
def _few() -> tuple[tuple[Config, State, Act], ...]:
    config = Config(tree=TREE)
    (start,) = initial(config)
    many = _kinds(usual())
    found = [Decide(usual(), pair) for pair in product((many[0], many[1], many[3], many[8]), repeat=2)]
    found += [Decide(usual(), (many[0], many[4])), Decide(usual(), (*many[:3], many[6])), Decide(usual(), many[:1])]
    found += [Decide(usual(), (many[place], many[0])) for place in (7, 9, 10)]
    found += [Decide((*usual(), budget(count))) for count in (0, 5000, 6000, 6001)]
    for one in (budget(5000), budget(6001), budget("x")):
        seen = (*usual(), one)
        found.append(Decide(seen, (candidate(seen), candidate(seen, WRITE_LOCAL, path=ESCAPES[0]))))
    stopped = (*usual(), integrity_failure())
    found.append(Decide(stopped, (candidate(stopped),)))
    found.append(Decide((*usual(), budget(6001), integrity_failure())))
    return tuple((config, start, action) for action in found)


samples_of_pairs = single(_few)
"""Fewer samples, for claims that compare each with several other cycles."""
