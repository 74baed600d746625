"""What is stored: ids, and the order of writing, for any number of marks (P31, P32, §8.1); whose marks are where (P46).

A space is written mark by mark; which id is offered is the environment's choice.  Of P46 the machine is a deployment
with a probe, which stores a mark only if its author is authorised for the scope.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

from evenhand.model.markspace.guard_vocabulary import Policy
from evenhand.model.markspace.layers_vocabulary import DIAGNOSTICS, PROBE, Layer, LayersConfig, Op, Operation, World
from evenhand.model.markspace.marks import Act, Draft, Kind, Read, Space, Tick, Write
from evenhand.model.markspace.mutants import layers as faulty_layers
from evenhand.model.markspace.mutants import marks as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.resolving import config_of
from evenhand.proofs.markspace.stating import invariant
from evenhand.properties.markspace import layers, space
from evenhand.smt.arithmetic import at_most, below, number, plus
from evenhand.smt.ends import drawn_runs
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    Formula,
    Function,
    Sort,
    Term,
    differ,
    exists,
    forall,
    iff,
    ite,
    same,
    variables,
)
from evenhand.smt.preludes import define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import line, structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Axiom
from evenhand.smt.transitions.invariant import Steps, around
from evenhand.smt.transitions.machine import Machine, Turn

MARK = Sort("Mark")
m, n = variables(MARK, "m n")
new = Function("new", (), MARK)
(stored,) = relations("stored", MARK)
(sooner,) = relations("sooner", MARK, MARK)
"""Both marks are stored, the first was written first."""
age, ident = numbers("age ident", MARK)
wanted, seconds = numbers("wanted seconds")
"""The id that is offered; how much time passes."""
writes, passes = relations("writes passes")
_WORDS = (
    define("free", (), forall([m], stored(m) >> ~same(ident(m), wanted())), "P31: nobody has that id"),
    define("repeats", (), FALSE, "P31: every mark gets the same id"),
)
free, repeats = (word.relation for word in _WORDS)


def _chosen(then: Term) -> Formula:
    """Return that this is the id of the new mark."""
    later = forall([n], stored(n) >> below(ident(n), then))
    return ite(repeats(), same(then, number(1)), ite(free(), same(then, wanted()), later))


def _store(name: str, *axioms: Axiom) -> Machine:
    return Machine.of(
        name,
        (stored(m), sooner(m, n), age(m), ident(m)),
        Turn(
            writes(),
            {
                stored: stored(m) | same(m, new()),
                sooner: sooner(m, n) | (stored(m) & same(n, new())),
                age: (same(m, new()), number(0)),
                ident: (same(m, new()), _chosen),
            },
            ~stored(new()),
        ),
        Turn(passes(), {age: (stored(m), plus(age(m), seconds()))}),
        init=forall([m], ~stored(m)) & forall([m, n], ~sooner(m, n)),
        axioms=(Axiom("time_does_not_go_back", at_most(number(0), seconds()), "3"), *axioms),
        definitions=_WORDS,
    )


STORE = _store("markspace_store")
IN_SEQUENCE = _store(
    "markspace_store_in_sequence",
    Axiom("ids_follow_the_order_of_writing", forall([m], stored(m) >> below(ident(m), wanted())), "id_order"),
)

# Conformance.


def _called(many: int) -> list[str]:
    return [f"mark:{place}" for place in range(many)]


def view(run: Steps, number: int) -> Structure:
    """Return step `number` of a run of the space: the marks of the whole run, by their places."""
    step = run[number]
    act = step.action
    names = _called(len(run[-1].after.marks) + 1)

    def told(state: Space) -> dict[str, Any]:
        there = names[: len(state.marks)]
        ages, ids = (dict.fromkeys(names, 0) for _ in range(2))
        ages |= zip(there, (mark.age for mark in state.marks), strict=True)
        ids |= zip(there, (mark.id for mark in state.marks), strict=True)
        return {"stored": there, "sooner": line(there), "age": ages, "ident": ids}

    happens = {
        "writes": len(step.after.marks) > len(step.before.marks),
        "passes": isinstance(act, Tick) and act.seconds > 0,
        "new": names[len(step.before.marks)],
        "wanted": act.id if isinstance(act, Write) else len(names),
        "seconds": max(act.seconds, 0) if isinstance(act, Tick) else 0,
    }
    return structure({"Mark": names}, {**happens, **around(run, number, told)})


_CONFIG = config_of(("x",), Policy.FIRST_WRITER)


def _drawn(choose: random.Random, ident: int) -> Act:
    """Return a write with this id, a tick or a read."""
    written = Write("x", Draft(Kind.OBSERVATION, "a"), ident)
    acts: list[Act] = [written, written, Tick(1), Tick(2), Read("x", "a")]
    return choose.choice(acts)


def samples(system: Any) -> Iterator[Steps]:
    """Return seeded runs in which any of four ids is offered, by any variant."""
    return drawn_runs(system, _CONFIG, "store", 8, 6, lambda choose, _: _drawn(choose, choose.randint(1, 4)))


def samples_in_sequence(system: Any) -> Iterator[Steps]:
    """Return seeded runs in which ids follow the order of writing, by any variant."""
    return drawn_runs(system, _CONFIG, "store", 8, 6, lambda choose, state: _drawn(choose, len(state.marks) + 1))


_both = stored(m) & stored(n)
_stated = partial(invariant, system="space", view=view, scope="any number of marks")

UNIQUE = _stated(
    claim=space.mark_id_uniqueness_p31,
    sentence="No two stored marks have one id, whatever ids are offered.",
    machine=STORE,
    always=forall([m, n], (_both & same(ident(m), ident(n))) >> same(m, n)),
    witness=exists([m, n], _both & differ(m, n)),
    samples=samples,
    mutants=(mutation(STORE.theory, faulty.ids_repeat, {"repeats": TRUE}),),
)
ORDERED = _stated(
    claim=space.total_write_ordering_p32,
    sentence="Of two marks the one that was written first is older, or as old and of the smaller id, where ids follow "
    "the order of writing.",
    machine=IN_SEQUENCE,
    always=forall([m, n], sooner(m, n) >> (below(age(n), age(m)) | (same(age(m), age(n)) & below(ident(m), ident(n))))),
    lemmas=(
        Lemma("ids_ascend", forall([m, n], sooner(m, n) >> below(ident(m), ident(n)))),
        Lemma("what_is_ordered_is_stored", forall([m, n], sooner(m, n) >> _both)),
        Lemma("all_are_ordered", forall([m, n], _both >> (same(m, n) | sooner(m, n) | sooner(n, m)))),
        Lemma("ages_are_no_less_than_0", forall([m], stored(m) >> at_most(number(0), age(m)))),
    ),
    needs=("ids_follow_the_order_of_writing",),
    witness=exists([m, n], sooner(m, n) & below(age(n), age(m))),
    samples=samples_in_sequence,
    mutants=(mutation(IN_SEQUENCE.theory, faulty.ids_repeat, {"repeats": TRUE}),),
)

# P46.

probes, diagnostic = relations("probes diagnostic", MARK)
"""The mark is the probe's; it is in the diagnostic scope."""
stores, known, production = relations("stores known production")
"""A mark is stored; its author is one of the agents; its scope is one of theirs."""
_AUTHORISED = define("authorised", (), ite(probes(new()), diagnostic(new()), known() & production()), "P46, 9.9")
PROBED = Machine.of(
    "markspace_probe",
    (stored(m),),
    Turn(stores(), {stored: stored(m) | same(m, new())}, _AUTHORISED.relation() & ~stored(new())),
    init=forall([m], ~stored(m)),
    fixed=(probes, diagnostic),
    axioms=(
        Axiom("the_probe_is_no_agent", known() >> ~probes(new()), "9.9"),
        Axiom("scopes_are_apart", production() >> ~diagnostic(new()), "9.9"),
    ),
    definitions=(_AUTHORISED,),
)
_PROBING = LayersConfig(frozenset({Layer.PROBE}), ("alice",), Readings(), capacity=9)


def view_probed(run: Steps, number: int) -> Structure:
    """Return step `number` of a run of a deployment with a probe: the marks of the whole run, by their places."""
    step = run[number]
    config: LayersConfig = step.config
    act: Operation = step.action
    there = len(step.before.stored)
    # The mark that a write would store stands in the place of the next one, which it may never take.
    written = [*list(run[-1].after.stored), (act.agent, act.scope, act.kind)]
    written[there] = (act.agent, act.scope, act.kind)
    names = _called(len(written))
    happens = {
        "probes": [name for name, (who, _, _) in zip(names, written, strict=True) if who == PROBE],
        "diagnostic": [name for name, (_, where, _) in zip(names, written, strict=True) if where == DIAGNOSTICS],
        "stores": len(step.after.stored) > there,
        "known": act.agent in config.agents,
        "production": act.scope in config.scopes,
        "new": names[there],
    }

    def told(state: World) -> dict[str, list[str]]:
        return {"stored": names[: len(state.stored)]}

    return structure({"Mark": names}, {**happens, **around(run, number, told)})


def samples_probed(system: Any) -> Iterator[Steps]:
    """Return seeded runs of writes and tool calls by the probe, an agent and a stranger, by any variant."""

    def pick(choose: random.Random, _state: World) -> Operation:
        who, where = choose.choice(["alice", PROBE, PROBE, "stranger"]), choose.choice(["a", DIAGNOSTICS])
        return Operation(choose.choice([Op.WRITE, Op.EXECUTE]), who, where)

    return drawn_runs(system, _PROBING, "probe", 8, 6, pick)


ISOLATED = invariant(
    claim=layers.probe_mark_isolation_p46,
    system="layers",
    machine=PROBED,
    always=forall([m, n], (_both & probes(n)) >> iff(probes(m), diagnostic(m))),
    lemmas=(Lemma("isolated_without_the_probe_too", forall([m], stored(m) >> iff(probes(m), diagnostic(m)))),),
    witness=exists([m, n], _both & probes(m) & ~probes(n)),
    view=view_probed,
    samples=samples_probed,
    scope="any number of marks",
    mutants=(mutation(PROBED.theory, faulty_layers.probe_writes_anywhere, {"authorised": probes(new()) | known()}),),
)
