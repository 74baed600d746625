"""The answer of pre_action, for any number of agents and intents (6.1 FIRST_WRITER, P38, P39, §9.2).

The intents are those on the resource once the request is written, by rank.  Predicates of the claims (`claimed`,
`first`) are definitions of their own, which no mutant may replace.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from evenhand.core.system import System
from evenhand.core.trace import Pair, Scenario
from evenhand.core.verdict import Status
from evenhand.model.markspace.guard import initial
from evenhand.model.markspace.guard_systems import agent_names
from evenhand.model.markspace.guard_vocabulary import IDLE, Act, Config, GuardStep, Phase, Policy, State, Verdict, What
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.intents import (
    AGENT,
    INTENT,
    a,
    after,
    asker,
    author,
    b,
    claims,
    earlier,
    i,
    j,
    k,
    new,
    running,
)
from evenhand.properties.markspace import guarding
from evenhand.smt.logic import FALSE, Formula, differ, exists, forall, iff, same
from evenhand.smt.preludes import Twice, define, mutation, ordered, relations
from evenhand.smt.samples import first_states
from evenhand.smt.structure import Structure
from evenhand.smt.tables import beside, constant, in_order, line, prop
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom, Theory

(named_before,) = relations("named_before", AGENT, AGENT)
(asked_before,) = relations("asked_before")
"""The asker had an intent there already, which this one replaces."""


c = AGENT("c")
_claim = exists([a], claims(a) & differ(a, asker()))
_first = forall([j], ~earlier(j, i))
_found, _contested = relations("found contested")
(_wins,) = relations("wins", INTENT)

PRE_ACTION = Theory(
    name="markspace_pre_action",
    sorts=(AGENT, INTENT),
    functions=(author, asker, new),
    relations=(claims, earlier, named_before, asked_before, running),
    axioms=(
        Axiom("intents_are_ranked", ordered(earlier, i, j, k), "P32"),
        Axiom("finitely_many", exists([i], forall([j], ~earlier(j, i))), "some intent is the first"),
        Axiom("agents_are_named", ordered(named_before, a, b, c), "what a mutant goes by"),
        Axiom("some_name_is_first", exists([i], forall([j], ~named_before(author(j), author(i)))), "a mutant's"),
        Axiom("the_new_one_is_the_askers", same(author(new()), asker()), "9.2 step 3"),
        Axiom("the_new_one_is_last", forall([i], differ(i, new()) >> earlier(i, new())), "P32: id_order, own_intents"),
        Axiom("one_intent_each", forall([i, j], same(author(i), author(j)) >> same(i, j)), "own_intents"),
        Axiom("the_asker_is_idle", ~running(asker()), "9.2"),
        Axiom("one_claim", forall([a, b], (claims(a) & claims(b)) >> same(a, b)), "6.3"),
    ),
    definitions=(
        define("claimed", (), _claim, "9.2 step 2, for the claims"),
        define("first", (i,), _first, "6.1 FIRST_WRITER, for the claims"),
        define("found", (), _claim, "9.2 step 2"),
        define("contested", (), exists([i], differ(author(i), asker())), "9.2 step 5"),
        define("wins", (i,), ~_found() & _contested() & _first, "6.1 FIRST_WRITER"),
        define("allowed", (), ~_found() & (~_contested() | _wins(new())), "9.2 steps 5, 6"),
        define("refused", (), _found() | (_contested() & ~_wins(new())), "9.2 steps 2, 6"),
    ),
)
LAST: dict[str, Formula] = {"wins": ~_found() & _contested() & forall([j], ~earlier(i, j))}
BY_NAME: dict[str, Formula] = {"wins": ~_found() & _contested() & forall([j], ~named_before(author(j), author(i)))}
BLIND: dict[str, Formula] = {"found": FALSE}
_DISTRACTED: dict[str, Formula] = {"found": _claim & ~asked_before() & forall([i], same(i, new()))}
_KEPT_OUT: dict[str, Formula] = {"found": exists([a], claims(a))}
USED: dict[str, Formula] = {"found": _claim | exists([a], running(a))}
_SILENT: dict[str, Formula] = {"wins": ~_found() & _contested() & _first & same(i, new())}
_NOTHING = "no action is in the way"

# Conformance.


def view(step: GuardStep) -> Structure | None:
    """Return a request for the one resource by an idle agent of the system; None for any other step."""
    act, config, before, after = step.action, step.config, step.before, step.after
    if act.what is not What.PRE or act.agent not in config.agents or step.shown.rejected or step.shown.verdict is None:
        return None
    if config.readings != Readings() or config.policy is not Policy.FIRST_WRITER or config.meddling or config.deferred:
        return None
    (resource,) = config.resources if len(config.resources) == 1 else ("",)
    if act.resource != resource:
        return None
    refused = step.shown.claimed_by is not None
    others = [one.agent for one in before.on(resource) if one.agent != act.agent]
    ranked = [*others, act.agent] if refused else [one.agent for one in after.on(resource)]
    if sorted(ranked) != sorted([*others, act.agent]):
        return None
    marks = [f"intent:{name}" for name in ranked]
    holder = before.claims[0]
    winner = step.shown.winner

    relations: dict[str, frozenset[tuple[str, ...]]] = {
        "claims": frozenset() if holder is None else frozenset([(holder,)]),
        "earlier": line(marks),
        "named_before": frozenset((x, y) for x in config.agents for y in config.agents if x < y),
        "running": frozenset(
            (agent,) for agent, one in zip(config.agents, before.doing, strict=True) if one.phase is Phase.RUNNING
        ),
        "asked_before": prop(any(one.agent == act.agent for one in before.on(resource))),
        "found": prop(refused),
        "wins": frozenset() if winner is None else frozenset([(f"intent:{winner.agent}",)]),
        "allowed": prop(step.shown.verdict is Verdict.ALLOW),
        "refused": prop(step.shown.verdict is Verdict.CONFLICT),
    }
    functions: dict[str, dict[tuple[str, ...], str]] = {
        "author": {(f"intent:{name}",): name for name in ranked},
        "asker": constant(act.agent),
        "new": constant(f"intent:{act.agent}"),
    }
    return Structure({"Agent": config.agents, "Intent": tuple(marks)}, relations, functions)


def scene(structure: Structure) -> Scenario[Config, State, Act] | None:
    """Return a run: the holder claims first; the others ask in their order meanwhile; then the asker."""
    told = structure.relations
    elements = structure.universe["Agent"]
    order = in_order(told["named_before"], elements)
    names = dict(zip(order, agent_names(len(order)), strict=True))
    marks = structure.universe["Intent"]
    ranked = in_order(told["earlier"], marks)
    who = names[structure.functions["asker"][()]]
    others = [names[structure.functions["author"][(one,)]] for one in ranked]
    holders = [names[row[0]] for row in sorted(told["claims"])]
    room = "room_1"
    acts: list[Act] = []
    if holders:
        acts = [Act(What.PRE, holders[0], room), Act(What.CALL, holders[0], room)]
    acts += [Act(What.PRE, one, room) for one in others if one not in (who, *holders)]
    if told["asked_before"] and who not in holders:
        acts.append(Act(What.PRE, who, room))
    if holders:
        acts.append(Act(What.POST, holders[0], room))
    acts.append(Act(What.PRE, who, room))
    config = _config(len(order))
    return Scenario(config, initial(config)[0], tuple(acts))


def _config(agents: int) -> Config:
    return Config(agent_names(agents), ("room_1",), Policy.FIRST_WRITER, 1, Readings())


MOST = 60
"""The number of states from which each idle agent asks."""


@cache
def _states(config: Config) -> list[State]:
    """Return the first states of the reference with three agents, breadth first."""

    def acts(state: State) -> Iterator[Act]:
        for agent, doing in zip(config.agents, state.doing, strict=True):
            menu = (What.PRE,) if doing == IDLE else (What.CALL, What.ABANDON, What.POST)
            yield from (*(Act(what, agent, "room_1") for what in menu), Act(What.TICK))

    return first_states(list(initial(config)), acts, partial(after, config), MOST)


def samples(system: System[Any, Any, Any, Any, Any]) -> Iterator[GuardStep]:
    """Yield requests from many states of two and three agents, by any variant."""
    for agents in (2, 3):
        config = _config(agents)
        for state in _states(config):
            for agent in config.agents:
                yield system.take(config, state, Act(What.PRE, agent, "room_1"))


_theorem = partial(
    Theorem,
    protocol="markspace",
    system="first_writer",
    theory=PRE_ACTION,
    view=view,
    realise=scene,
    samples=samples,
    scope="any number of agents and intents",
)

_claimed, _allowed, _refused = map(PRE_ACTION.word, ("claimed", "allowed", "refused"))
_LATEST = mutation(PRE_ACTION, faulty.last_writer_wins, LAST)
_NAMED = mutation(PRE_ACTION, faulty.name_wins, BY_NAME)

PRECEDENCE = _theorem(
    claim=guarding.action_precedence_p39,
    sentence="Where another agent's action stands on the resource, pre_action answers CONFLICT.",
    source="P39, 9.2 step 2",
    assumes=_claimed,
    goal=_refused & ~_allowed,
    mutants=(
        mutation(PRE_ACTION, faulty.claims_ignored, BLIND),
        mutation(PRE_ACTION, faulty.claims_hidden_by_intents, _DISTRACTED),
        mutation(PRE_ACTION, faulty.last_writer_wins, LAST, "no intent is looked at"),
    ),
)

UNCONTESTED = _theorem(
    claim=guarding.uncontested_is_allowed,
    source="6.1 step 2",
    assumes=~_claimed & forall([i], same(author(i), asker())),
    goal=_allowed,
    mutants=(
        mutation(PRE_ACTION, faulty.holders_kept_out, _KEPT_OUT),
        mutation(PRE_ACTION, faulty.last_writer_wins, LAST, "no intent is in the way"),
    ),
)

POLICY = _theorem(
    claim=guarding.policy_decides_as_written,
    sentence="Among several the earliest intent wins, it alone, and its agent alone is allowed.",
    source="6.1 FIRST_WRITER, P11",
    variables=(i, j),
    assumes=~PRE_ACTION.word("found") & exists([k], differ(author(k), asker())),
    goal=iff(PRE_ACTION.word("wins", i), PRE_ACTION.word("first", i))
    & ((PRE_ACTION.word("wins", i) & PRE_ACTION.word("wins", j)) >> same(i, j))
    & iff(_allowed, PRE_ACTION.word("first", new()))
    & iff(_refused, ~_allowed),
    needs=("intents_are_ranked",),
    mutants=(_LATEST, _NAMED, mutation(PRE_ACTION, faulty.claims_ignored, BLIND, _NOTHING)),
)

TRANSPARENT = _theorem(
    claim=guarding.guard_transparency_p38,
    sentence="Every CONFLICT names the intent that won: false where an action claims the resource.",
    assumes=_refused,
    goal=exists([i], PRE_ACTION.word("wins", i)),
    expected=Status.REFUTED,
)

CAUSED = _theorem(
    claim=guarding.refusals_name_their_cause,
    sentence="Every CONFLICT names the intent that won or the agent whose action claims the resource.",
    source="P38 with 9.2 step 2, repaired",
    assumes=_refused,
    goal=PRE_ACTION.word("found") | exists([i], PRE_ACTION.word("wins", i)),
    needs=("finitely_many",),
    witness=exists([i], PRE_ACTION.word("wins", i)),
    mutants=(
        mutation(PRE_ACTION, faulty.winner_withheld, _SILENT),
        mutation(PRE_ACTION, faulty.claims_ignored, BLIND, "an intent is named instead"),
    ),
)

# Two requests in states with the same marks.

TWICE = Twice(PRE_ACTION, (name for name in PRE_ACTION.symbols if name != running.name))
view_twice = beside(view, "running", "found", "wins", "allowed", "refused")
"""Two requests of one agent, with the same marks on the resource."""


def scene_twice(structure: Structure) -> Pair[Config, State, Act]:
    """Return two runs: one agent is allowed, and in one of them it calls its tool before the asker asks."""
    config = _config(2)
    other, asker_name = config.agents
    room = config.resources[0]

    def run(*middle: Act) -> Scenario[Config, State, Act]:
        acts = (Act(What.PRE, other, room), *middle, Act(What.PRE, asker_name, room))
        return Scenario(config, initial(config)[0], acts)

    calls = (Act(What.CALL, other, room),)
    left, right = (calls if structure.relations[name] else () for name in ("running", "running2"))
    return Pair(run(*left), run(*right), "the same marks")


DETERMINED = _theorem(
    claim=guarding.guard_determinism_p36,
    sentence="The same marks and the same request, the same answer: whatever tools run meanwhile.",
    source="P36",
    theory=TWICE.theory,
    view=view_twice,
    realise=scene_twice,
    variables=(i,),
    goal=TWICE.alike("allowed") & TWICE.alike("refused") & TWICE.alike("found") & TWICE.alike("wins", i),
    witness=exists([a], running(a)) & ~exists([a], TWICE.second("running", a)),
    mutants=TWICE.mutants(
        mutation(PRE_ACTION, faulty.running_tools_claim, USED),
        mutation(PRE_ACTION, faulty.last_writer_wins, LAST, "the latest is the same for the same marks"),
    ),
)

DECISIONS: tuple[Theorem, ...] = (PRECEDENCE, UNCONTESTED, POLICY, TRANSPARENT, CAUSED, DETERMINED)
"""The theorems about pre_action."""
