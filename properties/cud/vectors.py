"""The test vectors of `cud`: three epochs of two or three agents, and the orbits of one epoch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from evenhand.core.atoms import Atom
from evenhand.core.vector_plan import Orbits, Registered, VectorPlan, VectorScope
from evenhand.model.cud.conditions import conditions, play
from evenhand.model.cud.layouts import agent_names, key_names, layout_slots, start_world
from evenhand.model.cud.strategies import covering
from evenhand.model.cud.vocabulary import (
    NO_CHOICE,
    READ,
    WRITE,
    Authority,
    Choice,
    Config,
    Epoch,
    Plan,
    Request,
    Script,
    Value,
    allow,
    deny,
)

_TAKEN: Value = Atom("str", "taken")


def _shapes(keys: tuple[str, ...]) -> Iterator[Choice]:
    """Nothing, exit, READ of any scope, WRITE of any scope with any delta; citations are added later."""
    yield NO_CHOICE
    yield Choice(exits=True)
    scopes = [scope for size in range(1, len(keys) + 1) for scope in itertools.combinations(keys, size)]
    for scope in scopes:
        yield Choice(Request(READ, scope))
    for scope in scopes:
        for delta in (delta for size in range(len(keys) + 1) for delta in itertools.combinations(keys, size)):
            yield Choice(Request(WRITE, scope, tuple((key, _TAKEN) for key in delta)))


def _atoms(choice: Choice) -> tuple[tuple[str, str], ...]:
    asked = choice.request
    return () if asked is None else tuple((key, asked.action_type) for key in asked.declared_scope)


def _cited(authorities: tuple[Authority, ...], agent: str, choice: Choice) -> Choice:
    asked = choice.request
    if asked is None:
        return choice
    cited = covering(authorities, agent, asked.declared_scope, asked.action_type)
    return Choice(Request(asked.action_type, asked.declared_scope, asked.proposed_delta, cited))


def one_epoch_cases(agents: int = 2, keys: int = 2) -> Iterator[tuple[Config, Epoch]]:
    """Yield every joint choice of one epoch under every layout of artefacts about the requested pairs.

    An artefact about a (key, operation) that its holder does not declare (for a DENY: that no agent declares) decides
    nothing, so layouts differ only in artefacts that some request is about.
    """
    names, key_list = agent_names(agents), key_names(keys)
    shapes = tuple(_shapes(key_list))
    slots = tuple(enumerate(layout_slots(names, key_list), start=1))
    for joint in itertools.product(shapes, repeat=agents):
        asked = dict(zip(names, map(_atoms, joint), strict=True))
        anybody = {atom for atoms in asked.values() for atom in atoms}
        relevant = [
            (number, slot) for number, slot in slots if (slot[1], slot[2]) in (asked[slot[0]] if slot[0] else anybody)
        ]
        for size in range(len(relevant) + 1):
            for picked in itertools.combinations(relevant, size):
                layout = tuple(
                    allow(number, holder, (key, op)) if holder else deny(number, (key, op))
                    for number, (holder, key, op) in picked
                )
                chosen = ((name, _cited(layout, name, choice)) for name, choice in zip(names, joint, strict=True))
                yield Config(names, start_world(key_list), layout, epochs=1), Epoch(tuple(chosen))


def _scripted() -> Iterator[tuple[str, Config]]:
    """Runs in which two terminal classes hold at once, one pair each, so that their precedence decides.

    Livelock takes three epochs of collisions.  With orphaning: a third agent, its key's only writer, leaves at once.
    With collapse: the colliders leave in a fourth epoch.  With deadlock: they leave in a fourth, and in a fifth the
    third agent, which never cites the authority that it holds, is alone with a request that fails pass 1.
    """
    a, b = key_names(2)
    one, two, three = agent_names(3)
    collide, leave = Plan("WRITE", a), Plan("EXIT")
    colliders = (Script((collide,)), Script((collide,)))
    leavers = (Script((collide, collide, collide, leave)),) * 2
    uncited = Script((Plan("SUBMIT", request=Request(WRITE, (a,), ((a, _TAKEN),))),))
    on_a = (allow(1, one, (a, WRITE)), allow(2, two, (a, WRITE)))
    world = start_world((a, b))
    yield (
        "conditions",
        Config(
            (one, two, three), world, (*on_a, allow(3, three, (b, WRITE))), (*colliders, Script((leave,))), epochs=3
        ),
    )
    yield "conditions", Config((one, two), start_world((a,)), on_a, leavers, epochs=4)
    everybody = (*on_a, allow(3, three, (a, WRITE)))
    yield "conditions", Config((one, two, three), start_world((a,)), everybody, (*leavers, uncited), epochs=5)


def _registered() -> Iterator[Registered]:
    """Every case of every condition; the kernel of condition E is a mutant, so that case judges classifiers alone."""
    for one in conditions():
        other = "" if one.kernel == "reference" else f"its kernel is the mutant {one.kernel}, not the reference"
        for case in one.cases:
            name = "-".join((one.name, *(f"{reading}-{value}" for reading, value in case.readings)))
            run = play(one.under(case)).scenario
            yield Registered(name, one.title, ", ".join(one.source), "conditions", run, case.readings, other)


VECTORS = VectorPlan(
    places=(
        VectorScope("run", {"agents": 2, "keys": 2, "epochs": 3}),
        VectorScope("run", {"agents": 3, "keys": 2, "epochs": 3}),
        VectorScope("free", {"agents": 2, "keys": 2, "values": 2}),
        VectorScope("conditions"),
    ),
    runs=_scripted,
    orbits=Orbits(
        "universe",
        "Every joint choice of one epoch of two agents over two keys (nothing, exit, READ, WRITE of any scope with any "
        "delta, citing all that covers it) under every layout of artefacts about what is requested, up to renaming.",
        {"agents": 2, "keys": 2},
        one_epoch_cases,
        "FQ4, FQ10, FQ27, FQ31, FQ33",
    ),
    registered=_registered,
    readings={"message_limit": (4,)},
)
"""Three epochs, and scripted runs for pairs of classes that need more."""
