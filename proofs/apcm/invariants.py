"""The mask between compiling and executing, for runs of any length with any number of actions.

The compiler's results enter as inputs: whether an artefact compiled, and the actions it forbids.  The machine is the
rest of a step: the mask leaves actions, the selector offers some of them, one of those is executed, and the
environment publishes the next feasible actions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from evenhand.core.system import System
from evenhand.model.apcm.compiler import REFERENCE, Rules
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.menus import action_names, entry, preference_names
from evenhand.model.apcm.mutants import inputs_and_views as views
from evenhand.model.apcm.vocabulary import Act, Artifact, Config, Fields, Select, Situation, State, Submit
from evenhand.proofs.apcm.compiling import ACT, Compiler, feasible, result
from evenhand.properties.apcm import refusing
from evenhand.smt import logic as fol
from evenhand.smt.preludes import relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Axiom
from evenhand.smt.transitions.invariant import Invariant, Steps, around
from evenhand.smt.transitions.machine import Machine, Turn
from evenhand.source.rules import Faults
from evenhand.source.simplify import numbered

a, b = fol.variables(ACT, "a b")
inventory, permitted, offered = relations("inventory permitted offered", ACT)
(over,) = relations("over")
"""The state: the feasible actions of the present place, those left by the mask and then by the selector, the end of the
run."""

submits, compiled, invalid = relations("submits compiled invalid")
masked, published, leaves, offers = relations("masked published leaves offers", ACT)
pick = fol.Function("pick", (), ACT)
"""A step either submits an artefact, which compiles or not, with the actions its mask forbids, or picks an action;
`published` are the feasible actions of the next place; `invalid`: the APCM of this place is not proper."""


def _read(rules: Rules) -> Mapping[str, fol.Formula]:
    """Return what the mask leaves and what the selector offers, under these rules."""
    compiler, made = Compiler(rules, inventory=inventory), result(compiled(), masked)
    found = {"leaves": compiler.permitted(made), "offers": compiler.offered(made, leaves)}
    return {name: numbered(formula) for name, formula in found.items()}


_KERNEL = _read(REFERENCE)
_LEAVES = fol.Definition(leaves, (a,), _KERNEL["leaves"], "7: feasible minus forbidden, after a compile")
_OFFERS = fol.Definition(offers, (a,), _KERNEL["offers"], "11.6: the selector that leaves every choice open")

PIPELINE = Machine.of(
    "apcm_pipeline",
    (feasible(a), permitted(a), offered(a), over()),
    Turn(over() | (submits() & fol.exists([a], offered(a))), {}),
    Turn(submits() & invalid(), {over: fol.TRUE}),
    Turn(submits() & fol.exists([b], offers(b)), {permitted: leaves(a), offered: offers(a)}),
    Turn(submits() | offered(pick()), {permitted: fol.FALSE, offered: fol.FALSE, feasible: published(a)}),
    init=fol.conjunction([~over(), fol.forall([a], ~permitted(a) & ~offered(a))]),
    fixed=(inventory,),
    axioms=(
        Axiom(
            "feasible_is_known",
            fol.forall([a], feasible(a) >> inventory(a)),
            "2.2: feasible actions are in the inventory",
        ),
    ),
    definitions=(_LEAVES, _OFFERS),
)


def view(run: Steps, number: int) -> Structure | None:
    """Return step `number` of a run as a structure; None where it picks an action outside the inventory."""
    step = run[number]
    config: Config = step.config
    picked = step.action.action if isinstance(step.action, Select) else config.actions[0]
    if picked not in config.actions:
        return None

    def placed(state: State) -> dict[str, Any]:
        feasible_ = {*config.published(state).feasible}
        return {
            "feasible": feasible_,
            "permitted": {*state.permitted},
            "offered": {*state.offered},
            "over": bool(state.over),
        }

    return structure(
        {"Act": config.actions},
        {
            "inventory": {*config.actions},
            "submits": isinstance(step.action, Submit),
            "compiled": bool(step.shown.compile_ok),
            "invalid": bool(step.shown.invalid),
            "masked": {*step.shown.forbidden},
            "published": {*config.published(step.after).feasible},
            "pick": picked,
            **around(run, number, placed),
        },
    )


_ARTEFACTS = (
    Fields((), (), ()),
    Fields((), ("P1",), ()),
    Fields(("P1",), (), ()),
    Fields(("P1",), (), (("P1", "P2"),)),
)
RUNS, LONG = 60, 6


@cache
def _worlds() -> tuple[tuple[Config, int], ...]:
    """Return environments that publish three places in turn, each with a seed for the steps."""
    draw = random.Random("apcm pipeline")
    found: list[tuple[Config, int]] = []
    preferences = preference_names(2)
    for number in range(RUNS):
        inventory_ = action_names(draw.choice((2, 3)))
        situations: list[Situation] = []
        for _ in range(3):
            possible = tuple(sorted(draw.sample(inventory_, draw.randint(0, len(inventory_)))))
            entries = tuple((name, entry(preferences, draw.choice(((), ("P1",), ("P2",))))) for name in possible)
            situations.append(Situation(possible, entries if draw.random() < 0.95 else entries[1:]))
        found.append((Config(inventory_, preferences, tuple(situations)), number))
    return tuple(found)


def samples(system: System[Any, Any, Any, Any, Any]) -> Iterator[Steps]:
    """Yield runs of any variant: artefacts of four kinds, mostly when due; picks, mostly of offered actions."""
    for config, number in _worlds():
        draw = random.Random(number)
        state, run = next(iter(system.initial(config))), list[Any]()
        for _ in range(LONG):
            act: Act = Submit(artifact_of(draw.choice(_ARTEFACTS), state.previous))
            if state.offered and draw.random() < 0.8:
                act = Select(draw.choice(state.offered))
            elif draw.random() < 0.1:
                act = draw.choice((Select(draw.choice(config.actions)), Submit(Artifact(None, None, None))))
            run.append(system.take(config, state, act))
            state = run[-1].after
        yield tuple(run)


_FAULTS = Faults(PIPELINE.theory, _read)

MASKED = Invariant(
    claim=refusing.only_permitted_actions_execute,
    protocol="apcm",
    system="run",
    machine=PIPELINE,
    always=(~over() & ~submits() & offered(pick())) >> (permitted(pick()) & feasible(pick())),
    lemmas=(Lemma("offered_is_permitted", fol.forall([a], offered(a) >> (permitted(a) & feasible(a)))),),
    witness=~over() & ~submits() & offered(pick()),
    view=view,
    samples=samples,
    scope="any number of actions, preferences, steps",
    mutants=(
        *_FAULTS.refuted(views.selector_ignores_the_mask, views.mask_of_the_inventory),
        _FAULTS.unseen(
            views.best_effort_bypass, "what is permitted without a compile is permitted all the same, and feasible"
        ),
    ),
)
