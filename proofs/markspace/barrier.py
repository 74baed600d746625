"""The absorbing barrier, for any number of agents, scopes and revocations (P44, P45, §9.8).

A denial is a revoked permission or a need that must come first.  One operation adds the denial it names, restores it,
or restores everything of an agent; the token says whether the principal acts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product

from evenhand.core.system import AnySystem
from evenhand.model.markspace.layers import initial
from evenhand.model.markspace.layers_vocabulary import (
    ANYWHERE,
    TOKEN,
    Barrier,
    Layer,
    LayersConfig,
    LayersStep,
    Op,
    Operation,
)
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.mutants import layers as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace import layers
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.logic import Formula, Sort, exists, forall, iff, ite, same, variables
from evenhand.smt.preludes import define, mutation, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Mutation
from evenhand.smt.theory import Axiom, Theory

DENIAL = Sort("Denial")
d, e = variables(DENIAL, "d e")

denied, added, mine, named, about_need = relations("denied added mine named about_need", DENIAL)
narrows, restores, restores_all, principal = relations("narrows restores restores_all principal")


def _kept(lawful: Formula, restored: Formula, narrowed: Formula) -> Formula:
    """Return the later denials, given who may restore, what restoring one leaves and what narrowing leaves."""
    return ite(
        restores_all(),
        denied(d) & ~(lawful & mine(d)),
        ite(restores(), denied(d) & ~(lawful & restored), ite(narrows(), narrowed, denied(d) | added(d))),
    )


_grown = denied(d) | added(d)
_either = restores() | restores_all()
BARRIER = Theory.of(
    "markspace_barrier",
    axioms=(
        Axiom("one_operation", ~(narrows() & _either) & ~(restores() & restores_all()), "9.8"),
        Axiom("one_permission_is_named", forall([d, e], (named(d) & named(e)) >> same(d, e)), "9.8"),
        Axiom("what_is_named_is_a_permission_of_the_agent", forall([d], named(d) >> (mine(d) & ~about_need(d))), "9.8"),
        Axiom("one_denial_is_added", forall([d, e], (added(d) & added(e)) >> same(d, e)), "9.8"),
        Axiom("what_is_added_is_of_the_agent", forall([d], added(d) >> mine(d)), "9.8"),
        Axiom("narrowing_revokes", forall([d], (narrows() & added(d)) >> ~about_need(d)), "9.8"),
        Axiom("restoring_adds_nothing", _either >> forall([d], ~added(d)), "9.8"),
    ),
    definitions=(
        define("kept", (d,), _kept(principal(), named(d), _grown), "9.8"),
        define("granted", (), _either & principal(), "9.8: principal-only"),
    ),
)

_FORGES: Mutation = mutation(
    BARRIER, faulty.any_token_will_do, {"kept": _kept(_either, named(d), _grown), "granted": _either}
)
_FORGIVES: dict[str, Formula] = {"kept": _kept(principal(), named(d), added(d) | (denied(d) & about_need(d)))}
_TOO_MUCH: dict[str, Formula] = {"kept": _kept(principal(), mine(d), _grown)}

# Conformance.

CONFIG = LayersConfig(frozenset({Layer.BARRIER}), ("alice", "bob"), Readings(), capacity=2)
FORGED = "forged"


def _denials(barrier: Barrier) -> set[tuple[str, ...]]:
    revoked = {(agent, scope, kind.value) for agent, scope, kind in barrier.revoked}
    return revoked | {(agent, scope) for agent, scope in barrier.need_first}


def _adds(act: Operation) -> set[tuple[str, ...]]:
    match act.op:
        case Op.NARROW:
            return {(act.agent, act.scope, act.kind.value)}
        case Op.NARROW_ALL:
            return {(act.agent, ANYWHERE, act.kind.value)}
        case Op.REQUIRE_NEED:
            return {(act.agent, act.scope)}
        case _:
            return set()


def view(step: LayersStep) -> Structure | None:
    """Return a step of a deployment whose only layer is the barrier, as a structure."""
    act, before, after = step.action, step.before.barrier, step.after.barrier
    if step.config.layers != CONFIG.layers or before is None or after is None or act.agent not in step.config.agents:
        return None
    one = {(act.agent, act.scope, act.kind.value)} if act.op is Op.RESTORE else set[tuple[str, ...]]()
    adds = _adds(act)
    known = sorted(_denials(before) | _denials(after) | adds | one)

    def those(members: Iterable[tuple[str, ...]]) -> list[str]:
        return ["/".join(one) for one in members]

    return structure(
        {"Denial": those(known)},
        {
            "denied": those(_denials(before)),
            "added": those(adds),
            "mine": those(one for one in known if one[0] == act.agent),
            "named": those(one),
            "about_need": those(one for one in known if len(one) == 2),
            "narrows": act.op in (Op.NARROW, Op.NARROW_ALL),
            "restores": act.op is Op.RESTORE,
            "restores_all": act.op is Op.RESTORE_ALL,
            "principal": act.token == TOKEN,
            "kept": those(_denials(after)),
            "granted": act.op in (Op.RESTORE, Op.RESTORE_ALL) and step.shown.accepted,
        },
    )


def _menu() -> Iterator[Operation]:
    for agent in CONFIG.agents:
        yield Operation(Op.NARROW, agent, "a")
        yield Operation(Op.NARROW, agent, "c", Kind.ACTION)
        yield Operation(Op.NARROW_ALL, agent, kind=Kind.OBSERVATION)
        yield Operation(Op.REQUIRE_NEED, agent, "a")
        for token in (TOKEN, FORGED):
            yield Operation(Op.RESTORE, agent, "a", Kind.OBSERVATION, token)
            yield Operation(Op.RESTORE_ALL, agent, token=token)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield every run of two operations, each followed by a third operation, by any variant."""
    menu = tuple(_menu())
    for first, second in product(menu, repeat=2):
        third = menu[(menu.index(first) + menu.index(second)) % len(menu)]
        yield from ends_along(system, CONFIG, initial(CONFIG)[0], first, second, third)


_theorem = partial(
    theorem,
    system="layers",
    theory=BARRIER,
    view=view,
    samples=samples,
    scope="any number of agents, scopes and revocations",
)

MONOTONE = _theorem(
    claim=layers.barrier_monotonicity_p44,
    variables=(d,),
    assumes=denied(d) & ~BARRIER.word("kept", d),
    goal=principal() & ((restores_all() & mine(d)) | (restores() & named(d))),
    witness=exists([d], BARRIER.word("kept", d)),
    mutants=(
        _FORGES,
        mutation(BARRIER, faulty.narrowing_forgives, _FORGIVES),
        mutation(BARRIER, faulty.restores_too_much, _TOO_MUCH),
    ),
)

EXCLUSIVE = _theorem(
    claim=layers.barrier_principal_exclusivity_p45,
    sentence="Without the principal's token nothing is restored, and nothing changes.",
    source="P45",
    assumes=_either & ~principal(),
    goal=~BARRIER.word("granted") & forall([d], iff(BARRIER.word("kept", d), denied(d))),
    mutants=(
        _FORGES,
        mutation(BARRIER, faulty.narrowing_forgives, _FORGIVES, "it narrows, and restores nothing"),
        mutation(BARRIER, faulty.restores_too_much, _TOO_MUCH, "without the token it restores nothing either"),
    ),
)
