"""One lock from pre_action to post_action excludes: at most one tool call is in flight, for any number of agents.

The reading `guard_atomicity=through_tool_call`; under the default no lock is held between the three steps, and the
search refutes `mutual_exclusion`.  The lock is the guard's and covers every resource.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.core.trace import Scenario
from evenhand.model.markspace.guard import initial
from evenhand.model.markspace.guard_systems import agent_names, resource_names
from evenhand.model.markspace.guard_vocabulary import Act, Config, Doing, Phase, Policy, State, What
from evenhand.model.markspace.mutants import guarding
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.atomicity import ATOMIC
from evenhand.proofs.markspace.leases import LEASED
from evenhand.proofs.markspace.walks import in_phase, walk
from evenhand.properties.markspace import contesting
from evenhand.smt.logic import (
    TRUE,
    Definition,
    Formula,
    Function,
    Sort,
    conjunction,
    differ,
    exists,
    forall,
    iff,
    ite,
    same,
    variables,
)
from evenhand.smt.preludes import relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant, props
from evenhand.smt.theorem import Lemma, Mutation
from evenhand.smt.theory import Theory
from evenhand.smt.transitions.invariant import Invariant, Steps
from evenhand.smt.transitions.machine import Machine, after
from evenhand.smt.transitions.runs import Run

AGENT, RESOURCE = Sort("Agent"), Sort("Resource")
a, b = variables(AGENT, "a b")
r, s = variables(RESOURCE, "r s")

allowed, running = relations("allowed running", AGENT, RESOURCE)
"""The guard has allowed an agent its tool call on a resource; the call is in flight."""
enters, calls, leaves = relations("enters calls leaves")
by, at = Function("by", (), AGENT), Function("at", (), RESOURCE)
"""Who acts, and on what."""
(free,) = relations("free")
_FREE = Definition(free, (), forall([a, r], ~allowed(a, r) & ~running(a, r)), "6.1, 9.2: the guard's lock, as read")


def _becomes(let: Formula, go: Formula) -> Formula:
    """Return that these are allowed, and these run, after the step."""
    return forall([a, r], iff(after(allowed)(a, r), let) & iff(after(running)(a, r), go))


_mine = same(a, by()) & same(r, at())
_idle = forall([r], ~allowed(by(), r) & ~running(by(), r))
_others = differ(a, by())
LOCK = Machine(
    theory=Theory(
        name="markspace_lock",
        sorts=(AGENT, RESOURCE),
        functions=(by, at),
        relations=(allowed, running, enters, calls, leaves),
        definitions=(_FREE,),
    ),
    state=("allowed", "running"),
    inputs=("by", "at", "enters", "calls", "leaves"),
    init=forall([a, r], ~allowed(a, r) & ~running(a, r)),
    step=ite(
        enters(),
        conjunction([free(), _idle, _becomes(allowed(a, r) | _mine, running(a, r))]),
        ite(
            calls(),
            allowed(by(), at()) & _becomes(allowed(a, r) & _others, running(a, r) | _mine),
            ite(
                leaves(),
                _becomes(allowed(a, r) & _others, running(a, r) & _others),
                _becomes(allowed(a, r), running(a, r)),
            ),
        ),
    ),
)


def view(run: Steps, number: int) -> Structure:
    """Return step `number` of a run: which agent enters, calls its tool or leaves, and the phases around it."""
    step = run[number]
    config: Config = step.config
    pairs = zip(config.agents, step.before.doing, step.after.doing, strict=True)
    moved = [(agent, old, new) for agent, old, new in pairs if old != new] or [(config.agents[0], Doing(), Doing())]
    agent, old, new = moved[0]
    told = {
        "enters": new.phase is Phase.ALLOWED,
        "calls": new.phase is Phase.RUNNING,
        "leaves": new.phase is Phase.IDLE is not old.phase,
    }
    phases = {
        f"{name}{end}": in_phase(config, state, phase)
        for end, state in (("", step.before), (".after", step.after))
        for name, phase in (("allowed", Phase.ALLOWED), ("running", Phase.RUNNING))
    }
    place = new.resource or old.resource or config.resources[0]
    functions = {"by": constant(agent), "at": constant(place)}
    return Structure({"Agent": config.agents, "Resource": config.resources}, {**props(told), **phases}, functions)


def realise(run: Run) -> Scenario[Config, State, Act]:
    """Return requests, calls and abandoned or failed calls as the run says; intents last a second, so all are alone."""
    universe = run.states[0].universe
    agents, resources = (universe[sort] for sort in ("Agent", "Resource"))
    names = dict(zip(agents, agent_names(len(agents)), strict=True))
    names |= dict(zip(resources, resource_names(len(resources)), strict=True))
    readings = Readings(guard_atomicity="through_tool_call")
    config = Config(agent_names(len(agents)), resource_names(len(resources)), Policy.FIRST_WRITER, 0, readings)
    acts = list[Act]()
    for state in run.states[:-1]:
        who, what = names[state.functions["by"][()]], names[state.functions["at"][()]]
        if state.relations["enters"]:
            acts += [Act(What.TICK), Act(What.PRE, who, what)]
        elif state.relations["calls"]:
            acts.append(Act(What.CALL, who, what))
        elif state.relations["leaves"]:
            acts += [Act(What.ABANDON, who, what), Act(What.POST, who, what, failed=True)]
    return Scenario(config, initial(config)[0], tuple(acts))


def samples(system: Any) -> Iterator[Steps]:
    """Yield seeded walks of any variant: two or three agents, one or two resources, intents that soon run out."""
    for agents, resources, draws in ((2, 1, 6), (3, 2, 6), (2, 2, 4)):
        small = system.at(agents=agents, resources=resources, ttl=0)
        config = next(iter(small.all_configs()))
        for draw in range(draws):
            yield tuple(walk(small, config, f"lock {agents} {draw}", 40))


EXCLUSION = Invariant(
    claim=contesting.mutual_exclusion,
    name="mutual_exclusion_under_a_lock",
    sentence="Under one lock from pre_action to post_action no two tool calls are in flight on one resource.",
    protocol="markspace",
    system="first_writer",
    readings={"guard_atomicity": "through_tool_call"},
    machine=LOCK,
    always=forall([a, b, r], (running(a, r) & running(b, r)) >> same(a, b)),
    lemmas=(
        Lemma(
            "one_is_inside",
            forall(
                [a, b, r, s],
                ((allowed(a, r) | running(a, r)) & (allowed(b, s) | running(b, s))) >> same(a, b),
            ),
        ),
    ),
    witness=exists([a, r], running(a, r)),
    view=view,
    realise=realise,
    samples=samples,
    scope="any number of agents and resources",
    mutants=(
        Mutation(
            mutant=guarding.lock_not_held,
            definitions=(Definition(free, (), TRUE, "the lock ends with pre_action"),),
        ),
    ),
)

INVARIANTS = (EXCLUSION, LEASED, ATOMIC)
"""The invariants of the guard."""
