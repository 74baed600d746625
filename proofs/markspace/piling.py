"""Deferred intents do not pile up, for any number of agents, resources and seconds (P16 as repaired).

While an intent stands, a boundary is on offer that is accepted and serves the claim.  So one fair assumption helps
everywhere, and every state has the same rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from evenhand.core.system import Scope, System
from evenhand.core.trace import Lasso
from evenhand.model.markspace.guard import initial
from evenhand.model.markspace.guard_systems import actions, agent_names
from evenhand.model.markspace.guard_vocabulary import Act, Config, GuardStep, Policy, State, Verdict, What
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.intents import INTENT, i
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.walks import walks
from evenhand.properties.markspace import contesting
from evenhand.smt.logic import FALSE, Function, Sort, exists, forall
from evenhand.smt.preludes import define, mutation, relations
from evenhand.smt.ranking import Ranking
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

RESOURCE = Sort("Resource")
r = RESOURCE("r")
on = Function("on", (INTENT,), RESOURCE)
lives, lives2 = relations("lives lives2", INTENT)
boundary, blocked = relations("boundary blocked")
"""The step is a boundary; it answers a request with BLOCKED."""
(offered2,) = relations("offered2", RESOURCE)
"""After the step a boundary on the resource is on offer."""

_FIRES = define("fires", (), boundary(), "6.2.1: a boundary is accepted while tools run, as read")
fires = _FIRES.relation
PILING = Theory.of(
    "markspace_piling",
    lives,
    blocked,
    axioms=(Axiom("what_stands_can_be_resolved", forall([i], lives2(i) >> offered2(on(i))), "6.2.1, 6.2.3"),),
    definitions=(_FIRES,),
)


def _stands(_config: Config, state: State) -> bool:
    return bool(state.intents)


def view(taken: GuardStep) -> Structure | None:
    """Return a step of a scope that defers, as a structure; None under other readings."""
    config = taken.config
    if config.readings != Readings() or not config.deferred:
        return None
    places = {f"intent:{agent}/{room}": room for agent in config.agents for room in config.resources}

    def intents(state: State) -> list[str]:
        return [f"intent:{one.agent}/{one.resource}" for one in state.intents]

    on_offer = (act for act in actions(config, Scope(levels=1), taken.after) if act.what is What.BOUNDARY)
    acts = taken.action.what is What.BOUNDARY
    told = {
        "lives": intents(taken.before),
        "lives2": intents(taken.after),
        "boundary": acts,
        "blocked": taken.action.what is What.PRE and taken.shown.verdict is Verdict.BLOCKED,
        "offered2": [act.resource for act in on_offer],
        "fires": acts and not taken.shown.rejected,
        "on": places,
    }
    return structure({"Intent": places, "Resource": config.resources}, told)


def scene(_structure: Structure) -> Lasso[Config, State, Act]:
    """Return a run in which an agent asks again each second, and a boundary is tried."""
    config = Config(agent_names(1), ("room_1",), Policy.HIGHEST_CONFIDENCE, 1, Readings(), deferred=True)
    asks = Act(What.PRE, config.agents[0], "room_1")
    return Lasso(config, initial(config)[0], (asks,), (Act(What.TICK), asks, Act(What.BOUNDARY, resource="room_1")))


def samples(system: System[Any, Any, Any, Any, Any]) -> Iterator[GuardStep]:
    """Return the steps of seeded walks of any variant."""
    draws = 4 if system.variant == "reference" else 2
    return chain.from_iterable(walks(system, "piling", 30, (1, 1, 1, draws), (2, 2, 1, draws), (3, 1, 2, draws)))


_owed = exists([i], lives(i))

PILED = theorem(
    claim=contesting.intents_do_not_pile_up,
    system="deferred",
    theory=PILING,
    ranking=Ranking(rank=lambda _config, _state: 0, owes=_stands, helps=lambda _config, _state: "boundaries fire"),
    assumes=(_owed | blocked()) & ~fires() & exists([i], lives2(i)),
    goal=exists([r], offered2(r)) & ~(_owed & boundary()),
    needs=("what_stands_can_be_resolved",),
    witness=_owed & exists([i], lives(i) & ~lives2(i)),
    view=view,
    realise=scene,
    samples=samples,
    scope="any number of agents, resources and seconds",
    mutants=(mutation(PILING, faulty.no_boundary_fires, {"fires": FALSE}),),
)
"""The theorem about deferred intents."""
