"""No deadlock at the guard, for any number of agents: whoever waits until the others' intents have expired is allowed.

Under every policy that resolves at once.  One agent helps: the one whose action claims the resource, else the first.
It ends what it does, waits while others' intents stand, and asks.  The rank is the number of seconds until the last of
those intents is gone, and one more while the agent is busy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

from evenhand.core.system import Scope, System
from evenhand.core.trace import Scenario
from evenhand.model.markspace.guard import initial
from evenhand.model.markspace.guard_systems import actions, agent_names
from evenhand.model.markspace.guard_vocabulary import Act, Config, GuardStep, Phase, Policy, State, What
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.intents import AGENT, INTENT, ROOM, a, author, b, called, claims, i
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.walks import walks
from evenhand.properties.markspace import contesting
from evenhand.properties.markspace.predicates import allowed_agents, doing_of
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus, zero
from evenhand.smt.logic import Formula, Function, Relation, differ, exists, forall, iff, same
from evenhand.smt.preludes import Faults, define, numbers, relations
from evenhand.smt.ranking import Ranking
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

# The strategy.

Finder: TypeAlias = Callable[[Config, State], str]
"""Names the agent that helps in a state."""


def _claimant_or_first(config: Config, state: State) -> str:
    return state.claims[0] or config.agents[0]


def _first(config: Config, _state: State) -> str:
    return config.agents[0]


def _rivals(config: Config, state: State, agent: str) -> list[int]:
    """Return the seconds that each intent of another agent on the first resource still lives."""
    return [one.life for one in state.on(config.resources[0]) if one.agent != agent]


def _helps(config: Config, state: State, agent: str) -> Act:
    """Return the act that helps: end what the agent does, wait for the others' intents, or ask."""
    doing = doing_of(config, state, agent)
    match doing.phase:
        case Phase.RUNNING:
            return Act(What.POST, agent, doing.resource, failed=True)
        case Phase.ALLOWED:
            return Act(What.ABANDON, agent, doing.resource)
        case Phase.IDLE:
            waits = bool(_rivals(config, state, agent))
            return Act(What.TICK) if waits else Act(What.PRE, agent, config.resources[0])


def _longest(config: Config, state: State, agent: str) -> int:
    return max((life + 1 for life in _rivals(config, state, agent)), default=0)


def _busy(config: Config, state: State, agent: str) -> bool:
    return doing_of(config, state, agent).phase is not Phase.IDLE


def _ranking(find: Finder) -> Ranking:
    """Return the ranking of the strategy of one agent."""

    def rank(config: Config, state: State) -> int:
        agent = find(config, state)
        return _longest(config, state, agent) + _busy(config, state, agent)

    return Ranking(rank=rank, helps=lambda config, state: _helps(config, state, find(config, state)))


# The theory: the intents on the first resource, one of each agent, and one agent that helps.

helper = Function("helper", (), AGENT)
lives, lives2 = relations("lives lives2", INTENT)
life, life2 = numbers("life life2", INTENT)
longest, longest2, busy, busy2 = numbers("longest longest2 busy busy2")
"""The seconds until no other agent's intent lives; 1 while the helper is busy, else 0; before and after the step."""
helps, offered, offered2, claimed2 = relations("helps offered offered2 claimed2")
"""The step is the one that helps; the one that helps is on offer before and after; an action claims the resource."""

_FOUND = define("found", (), exists([a], claims(a) & differ(a, helper())), "9.2 step 2")
_RIVAL = define("rival", (i,), lives(i) & differ(author(i), helper()), "9.2 step 5")
_RIVAL2 = define("rival2", (i,), lives2(i) & differ(author(i), helper()), "9.2 step 5")
_SURVIVES = define("survives", (i,), lives(i) & at_least(life(i), number(1)), "P4: until its last second is over")
_AGES = define("ages", (i,), same(life2(i), minus(life(i), number(1))), "P4: a second less")
found, rival, rival2, survives, ages = (one.relation for one in (_FOUND, _RIVAL, _RIVAL2, _SURVIVES, _AGES))
_idle, _idle2, _alone = zero(busy()), zero(busy2()), forall([i], ~rival(i))
_ALLOWED = define("allowed", (), _idle & _alone & helps() & ~found(), "6.1 step 2")
allowed = _ALLOWED.relation
_waits, _ends = helps() & _idle & ~_alone, helps() & ~_idle


def _bit(one: Function) -> Formula:
    return zero(one()) | same(one(), number(1))


def _lasts(of: Relation, each: Function, most: Function) -> Formula:
    """Return that `most` is the seconds until the last of these intents is gone, 0 without one."""
    until = plus(each(i), number(1))
    some = exists([i], of(i) & same(most(), until))
    return forall([i], of(i) >> at_most(until, most())) & (some | (forall([i], ~of(i)) & zero(most())))


WAITING = Theory.of(
    "markspace_waiting",
    axioms=(
        Axiom("one_claim", forall([a, b], (claims(a) & claims(b)) >> same(a, b)), "6.3"),
        Axiom("lives_are_not_over", forall([i], lives(i) >> at_least(life(i), number(0))), "P4"),
        Axiom("busy_is_one", _bit(busy) & _bit(busy2), "9.2"),
        Axiom(
            "the_last_intent", _lasts(rival, life, longest) & _lasts(rival2, life2, longest2), "P4, of finitely many"
        ),
        Axiom(
            "a_second_passes",
            _waits >> (forall([i], iff(lives2(i), survives(i)) & (lives2(i) >> ages(i))) & _idle2),
            "P4: while the helper waits",
        ),
        Axiom("waiting_claims_nothing", (_waits & claimed2()) >> exists([a], claims(a)), "2.3, 6.3"),
        Axiom(
            "others_keep_their_intents",
            _ends >> (_idle2 & forall([i], rival2(i) >> (rival(i) & same(life2(i), life(i))))),
            "6.3, 9.2: what the helper ends supersedes its own intents alone",
        ),
        Axiom("help_is_on_offer", offered() & offered2(), "9.2: an agent may ask, end its tool call, or wait"),
    ),
    definitions=(_FOUND, _RIVAL, _RIVAL2, _SURVIVES, _AGES, _ALLOWED),
)


# Conformance.


def view(find: Finder, taken: GuardStep) -> Structure | None:
    """Return a step as it concerns the agent that helps; None where the scope defers and under other readings."""
    config, before, later = taken.config, taken.before, taken.after
    if config.readings != Readings() or config.meddling or config.deferred:
        return None
    agent = find(config, before)
    help_ = _helps(config, before, agent)
    waits, asks = taken.action == help_ == Act(What.TICK), taken.action == help_ and help_.what is What.PRE
    room = config.resources[0]
    old, new = ({one.agent: one.life for one in state.on(room)} for state in (before, later))
    if len(old) < len(before.on(room)) or len(new) < len(later.on(room)):
        return None

    told = {
        "claims": [] if before.claims[0] is None else [before.claims[0]],
        "lives": map(called, old),
        "lives2": map(called, new),
        "helps": taken.action == help_,
        "offered": _on_offer(config, before, agent),
        "offered2": _on_offer(config, later, agent),
        "claimed2": later.claims[0] is not None,
        **({"survives": map(called, new)} if waits else {}),
        "allowed": asks and agent in allowed_agents(taken),
        "author": {called(name): name for name in config.agents},
        "helper": agent,
        "life": {called(name): old.get(name, 0) for name in config.agents},
        "life2": {called(name): new.get(name, 0) for name in config.agents},
        "longest": _longest(config, before, agent),
        "longest2": _longest(config, later, agent),
        "busy": int(_busy(config, before, agent)),
        "busy2": int(_busy(config, later, agent)),
    }
    return structure({"Agent": config.agents, "Intent": map(called, config.agents)}, told)


def _on_offer(config: Config, state: State, agent: str) -> bool:
    wanted = _helps(config, state, agent)
    return any(act == wanted for act in actions(config, Scope(levels=1), state))


def scene(structure: Structure) -> Scenario[Config, State, Act]:
    """Return a run after which two agents have intents, or a third holds the resource."""
    config = Config(agent_names(2), (ROOM,), Policy.FIRST_WRITER, 1, Readings())
    one, other = config.agents
    acts = [Act(What.PRE, one, ROOM), Act(What.ABANDON, one, ROOM), Act(What.PRE, other, ROOM)]
    if structure.relations["claims"]:
        acts[1:] = [Act(What.CALL, one, ROOM), Act(What.POST, one, ROOM)]
    return Scenario(config, initial(config)[0], tuple(acts))


_WALKS = ((2, 1, 0, 2), (2, 1, 1, 2), (3, 1, 2, 2), (3, 2, 1, 1))
"""Agents, resources, seconds that an intent lives, and walks for each policy."""


def samples(find: Finder, system: System[Any, Any, Any, Any, Any]) -> Iterator[GuardStep]:
    """Yield seeded walks, of the reference under each policy, with the step that helps from every state."""
    reference = system.variant == "reference"
    for policy in Policy if reference else (Policy.FIRST_WRITER,):
        cases = [(agents, places, ttl, draws if reference else 1) for agents, places, ttl, draws in _WALKS]
        for step in chain.from_iterable(walks(system, "waiting", 24, *cases, policy=policy)):
            who = find(step.config, step.before)
            yield system.take(step.config, step.before, _helps(step.config, step.before, who))
            yield step


# The theorems.

_lower = below(plus(longest2(), busy2()), plus(longest(), busy()))
_FAULTS = Faults.of(
    WAITING,
    {
        faulty.never_expires: {"survives": lives(i), "ages": same(life2(i), life(i))},
        faulty.holders_kept_out: {"found": exists([a], claims(a))},
        faulty.expires_early: {"survives": lives(i) & at_least(life(i), number(2))},
    },
)
_NEEDS = ("the_last_intent", "a_second_passes", "help_is_on_offer")
_theorem = partial(
    theorem,
    system="first_writer",
    theory=WAITING,
    realise=scene,
    needs=_NEEDS,
    witness=_waits & exists([i], rival(i) & ~survives(i)),
    scope="any number of agents, resources and seconds, under every policy that resolves at once",
)
_EARLY = _FAULTS.unseen(faulty.expires_early, "what expires early is not waited for as long")

PROGRESS = _theorem(
    claim=contesting.progress_p12,
    view=partial(view, _claimant_or_first),
    samples=partial(samples, _claimant_or_first),
    ranking=_ranking(_claimant_or_first),
    assumes=exists([a], claims(a)) >> claims(helper()),
    goal=offered() & offered2() & (helps() >> (allowed() | _lower)),
    needs=(*_NEEDS, "one_claim", "others_keep_their_intents"),
    mutants=(*_FAULTS.refuted(faulty.never_expires, faulty.holders_kept_out), _EARLY),
)

_free, _free2 = forall([a], ~claims(a)), ~claimed2()

RECOVERY = _theorem(
    claim=contesting.yield_recovery_p13,
    view=partial(view, _first),
    samples=partial(samples, _first),
    ranking=_ranking(_first),
    assumes=_idle & _free,
    goal=offered() & offered2() & (helps() >> (allowed() | (_idle2 & _free2 & _lower))),
    needs=(*_NEEDS, "waiting_claims_nothing"),
    mutants=(
        *_FAULTS.refuted(faulty.never_expires),
        _FAULTS.unseen(faulty.holders_kept_out, "no action claims the resource"),
        _EARLY,
    ),
)
