"""No arbitration: only this epoch's requests and the authorities decide, and no agent wins.

No single claim says this.  If a reader beats a writer, the kernel is equivariant and independent of any order, but
`no_winner` is refuted; if every request is refused, `no_over_refusal` is.  A tie-break by name breaks equivariance, one
by submission order breaks order independence, one by value breaks value independence; a relaxation after epoch k breaks
epoch independence, and a memory of past refusals breaks history independence.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from evenhand.core.atoms import Atom
from evenhand.core.plan import holds, refuted
from evenhand.core.property import TwoRun, determined_by, each_step
from evenhand.core.records import replace
from evenhand.model.cud.vocabulary import (
    DONE,
    FAILURE,
    FAULT,
    AgentState,
    Choice,
    Config,
    Epoch,
    Request,
    Shown,
    State,
    World,
)
from evenhand.properties.cud import symmetry
from evenhand.properties.cud.predicates import (
    EPOCHS,
    SCOPE_VIOLATION,
    RunStep,
    active_agents,
    asked,
    facts,
    some_asked,
    true_id,
    undeclared,
    violates,
)

_ALL_ORDERS = 3

_ONE_VALUE = "the menu writes one value, so it does not matter which write stays"
_HIDDEN = "an undeclared write that another's scope hides and a declared write of another value: the later one stays"
_ONE_VALUE_IN_SCOPE = tuple(
    holds(_ONE_VALUE, system=system, engine="explore", scope_check="joint_diff") for system in ("run", "universe")
)


def _some_unopposed(step: RunStep) -> bool:
    known = facts(step)
    return any([ask.standing.passes and ask.agent not in known.contested for ask in known.asks])


@each_step(
    "Nobody wins: whoever passes pass 1 and interferes with another who does is refused.",
    source="D13, FQ4, FQ10",
    systems=EPOCHS,
    when=lambda step: bool(facts(step).contested),
)
def no_winner(step: RunStep) -> bool:
    """Whether every contested agent gets the failure token."""
    known = facts(step)
    return all([known.tokens.get(agent) == FAILURE for agent in known.contested])


@each_step(
    "No over-refusal: a request that passes pass 1 and interferes with none is executed, unless it is out of scope.",
    source="FQ4, FQ27",
    systems=EPOCHS,
    when=_some_unopposed,
)
def no_over_refusal(step: RunStep) -> bool:
    """Whether each uncontested request that passes is executed, or is a fault because it writes undeclared keys."""
    known = facts(step)
    for ask in known.asks:
        if not ask.standing.passes or ask.agent in known.contested:
            continue
        token = known.tokens.get(ask.agent)
        if token != DONE and not (
            token == FAULT and violates(step.config, step.before, ask.request, known) is not False
        ):
            return False
    return True


equivariance = symmetry.equivariance
"""Bound here so that `claims_in` gathers it at this place."""


def reordered(_config: Any, _state: Any, action: Epoch) -> Iterator[tuple[int, ...]]:
    """Yield other orders of submission that keep each agent's own choices in their order.

    Of up to three choices every order; of more, every exchange of neighbours, and the reverse.
    """
    agents = [agent for agent, _ in action.choices]
    places = tuple(range(len(agents)))
    if len(places) <= _ALL_ORDERS:
        orders: list[tuple[int, ...]] = list(itertools.permutations(places))[1:]
    else:
        orders = [(*places[:i], i + 1, i, *places[i + 2 :]) for i in places[:-1]] + [places[::-1]]
    for order in orders:
        own: dict[str, int] = {}
        if all(own.get(agents[place], -1) < place and not own.update({agents[place]: place}) for place in order):
            yield order


def _in_order(order: tuple[int, ...], action: Epoch) -> tuple[Epoch]:
    return (Epoch(tuple(action.choices[place] for place in order)),)


order_independence = TwoRun(
    name="order_independence",
    sentence="The order of submission decides nothing: not what is shown, not a token, not the state that follows.",
    source="FQ4, FQ11, FQ23",
    systems=("run", "universe"),
    twins=reordered,
    config=lambda _w, config: config,
    state=lambda _w, _config, state: state,
    other=_in_order,
    agree=lambda _w, step, other: other is not None and step.shown == other.shown and step.after == other.after,
    expected=(
        refuted(
            "C10 after execution, one after the other: whether an under-declared write is a change depends on who "
            "ran before",
            scope_check="after_rollback",
        ),
        refuted("as under after_rollback", scope_check="after_keep"),
        refuted(_HIDDEN, scope_check="joint_diff"),
        *_ONE_VALUE_IN_SCOPE,
    ),
)


def _reordered_writes(config: Config, state: State, action: Epoch) -> Iterator[tuple[int, ...]]:
    """Other orders where at least two requests pass pass 1, because only such requests can reach the world."""
    if len([ask for ask in asked(config, state, action) if ask.standing.passes]) > 1:
        yield from reordered(config, state, action)


final_world_is_a_function_of_the_requests = TwoRun(
    name="final_world_is_a_function_of_the_requests",
    sentence="The world after an epoch is a function of the world before it and of the set of requests.",
    source="C10, FQ4",
    systems=("run", "universe"),
    twins=_reordered_writes,
    config=lambda _w, config: config,
    state=lambda _w, _config, state: state,
    other=_in_order,
    agree=lambda _w, step, other: other is not None and step.after.world == other.after.world,
    expected=(
        refuted(
            "an under-declarer that runs after a writer of the same value keeps its own write, before it loses it",
            scope_check="after_rollback",
        ),
        holds(
            "the menu's one under-declarer writes no declared key, so it has nothing to lose in this scope",
            system="run",
            engine="explore",
            scope_check="after_rollback",
        ),
        refuted(
            "a kept violation and a declared write of another value to one key: the later one stays",
            scope_check="after_keep",
        ),
        holds(_ONE_VALUE, system="run", engine="explore", scope_check="after_keep"),
        holds(_ONE_VALUE, system="universe", engine="explore", scope_check="after_keep"),
        refuted(_HIDDEN, scope_check="joint_diff"),
        *_ONE_VALUE_IN_SCOPE,
    ),
)


def _same_answers(_w: Any, step: RunStep, other: RunStep | None) -> bool:
    return (
        other is not None
        and step.shown.tokens == other.shown.tokens
        and step.shown.receipts == other.shown.receipts
        and [(entry.agent_id, entry.verdict, entry.fault) for entry in step.shown.log]
        == [(entry.agent_id, entry.verdict, entry.fault) for entry in other.shown.log]
    )


def _same_answers_and_effects(w: Any, step: RunStep, other: RunStep | None) -> bool:
    return _same_answers(w, step, other) and other is not None and step.shown.effects == other.shown.effects


def _forgetful(_w: str, _config: Config, state: State) -> State:
    """The state with the same epoch, world and membership, without past outcomes, memories and messages."""
    return replace(state, agents=tuple(AgentState(active=one.active) for one in state.agents), mailbox=())


def _remembers(config: Config, state: State, action: Epoch) -> tuple[str, ...]:
    return ("forget",) if asked(config, state, action) and _forgetful("", config, state) != state else ()


history_independence = TwoRun(
    name="history_independence",
    sentence="What was asked, refused, executed or said before decides nothing: without that past, the same requests "
    "get the same answers and have the same effects.",
    source="D11, FQ3",
    systems=("run", "conditions"),
    twins=_remembers,
    config=lambda _w, config: config,
    state=_forgetful,
    other=lambda _w, action: (action,),
    agree=_same_answers_and_effects,
)


def _with_ids(action: Epoch, ids: dict[str, str]) -> Epoch:
    def stamped(choice: Choice) -> Choice:
        request = choice.request
        if request is None or request.action_id is None:
            return choice
        return replace(choice, request=replace(request, action_id=ids.get(request.action_id, request.action_id)))

    return Epoch(tuple((agent, stamped(choice)) for agent, choice in action.choices))


def _first_epoch(config: Config, state: State, action: Epoch) -> Iterator[int]:
    if state.epoch and state.epoch != config.epochs and asked(config, state, action):
        yield state.epoch


def _restamped(epoch: int, action: Epoch) -> tuple[Epoch]:
    """The same requests in epoch 0; an action id that is right in one of the two epochs is right in the other."""
    ids: dict[str, str] = {}
    for agent, _ in action.choices:
        ids[true_id(agent, epoch)], ids[true_id(agent, 0)] = true_id(agent, 0), true_id(agent, epoch)
    return (_with_ids(action, ids),)


epoch_independence = TwoRun(
    name="epoch_independence",
    sentence="The epoch decides nothing: in epoch 0 the same requests get the same answers and have the same effects.",
    source="F17, FQ3",
    systems=("run", "conditions"),
    applies=lambda config: config.epochs is not None and config.epochs > 1,
    twins=_first_epoch,
    config=lambda _w, config: config,
    state=lambda _w, _config, state: replace(state, epoch=0),
    other=_restamped,
    agree=_same_answers_and_effects,
)

issuer_independence = TwoRun(
    name="issuer_independence",
    sentence="Who issued an authority decides nothing: had the first agent issued all of them, everything were the "
    "same.",
    source="FQ34",
    systems=("run", "conditions"),
    applies=lambda config: bool(config.authorities),
    twins=lambda config, state, action: ("issued",) if asked(config, state, action) else (),
    config=lambda _w, config: replace(
        config, authorities=tuple(replace(one, issuer_agent_id=config.agents[0]) for one in config.authorities)
    ),
    state=lambda _w, _config, state: state,
    other=lambda _w, action: (action,),
    agree=lambda _w, step, other: other is not None and step.shown == other.shown and step.after == other.after,
)

_OLD, _NEW = Atom("int", "0"), Atom("int", "1")


def _valued(config: Config, state: State, action: Epoch) -> tuple[str, ...]:
    """Other values: "unchanged" (no write is a change), "mixed" (every other write is); none where values may decide.

    An out-of-scope write is a violation or not depending on the present value (except under `before_execution`), as C10
    says; there only the passes can be claimed to ignore values (`passes_ignore_values`).
    """
    asks = asked(config, state, action)
    if not asks:
        return ()
    if config.readings.scope_check != "before_execution" and any(undeclared(ask.request) for ask in asks):
        return ()
    return ("unchanged", "mixed")


def _plain_world(world: World) -> World:
    return tuple((key, _OLD) for key, _ in world)


def _revalued(w: str, action: Epoch) -> tuple[Epoch]:
    """The action with other values; a value that is no JSON primitive stays."""
    written = itertools.count()

    def other(value: Any) -> Any:
        if not isinstance(value, Atom):
            return value
        return _NEW if w == "mixed" and next(written) % 2 == 0 else _OLD

    def revalued(choice: Choice) -> Choice:
        request = choice.request
        if request is None or not request.proposed_delta:
            return choice
        return replace(
            choice, request=replace(request, proposed_delta=tuple((k, other(v)) for k, v in request.proposed_delta))
        )

    return (Epoch(tuple((agent, revalued(choice)) for agent, choice in action.choices)),)


def _plain_config(_w: str, config: Config) -> Config:
    return replace(config, world=_plain_world(config.world))


def _plain_state(_w: str, _config: Config, state: State) -> State:
    return replace(state, world=_plain_world(state.world))


value_independence = TwoRun(
    name="value_independence",
    sentence="Values decide nothing: with other values in the world and in the requests the answers are the same, as "
    "long as every request keeps to its declared keys (under `before_execution`: always).",
    source="FQ3, FQ28",
    systems=("run", "universe"),
    twins=_valued,
    config=_plain_config,
    state=_plain_state,
    other=_revalued,
    agree=_same_answers,
)


def _same_passes(_w: str, step: RunStep, other: RunStep | None) -> bool:
    if other is None:
        return False

    def passes(shown: Shown) -> list[tuple[str, str, str]]:
        return [
            (entry.agent_id, entry.verdict, "" if entry.fault == SCOPE_VIOLATION else entry.fault)
            for entry in shown.log
        ]

    return passes(step.shown) == passes(other.shown)


def _loose(config: Config, state: State, action: Epoch) -> tuple[str, ...]:
    """Other values where some request under-declares; elsewhere `value_independence` claims more."""
    return ("unchanged", "mixed") if any([undeclared(ask.request) for ask in asked(config, state, action)]) else ()


passes_ignore_values = TwoRun(
    name="passes_ignore_values",
    sentence="Structure, pass 1 and pass 2 never look at a value: with other values every request ends in the same "
    "pass, in epochs with under-declared writes too.",
    source="FQ3, FQ28",
    systems=("run", "universe"),
    twins=_loose,
    config=_plain_config,
    state=_plain_state,
    other=_revalued,
    agree=_same_passes,
)


def _inert(config: Config, state: State, action: Epoch) -> tuple[str, ...]:
    """The agents that fail pass 1 beside another that passes: only there could their requests matter."""
    asks = asked(config, state, action)
    if len(asks) < 2 or not any([ask.standing.passes for ask in asks]):
        return ()
    return tuple(ask.agent for ask in asks if not ask.standing.passes)


def _silenced(w: str, action: Epoch) -> tuple[Epoch]:
    return (
        Epoch(
            tuple((agent, replace(choice, request=None) if agent == w else choice) for agent, choice in action.choices)
        ),
    )


def _others_alike(w: str, step: RunStep, other: RunStep | None) -> bool:
    if other is None:
        return False

    def rest(shown: Shown) -> tuple[Any, ...]:
        return (
            [pair for pair in shown.tokens if pair[0] != w],
            [pair for pair in shown.receipts if pair[0] != w],
            [entry for entry in shown.log if entry.agent_id != w],
            shown.effects,
        )

    return rest(step.shown) == rest(other.shown)


pass_one_refusals_are_inert = TwoRun(
    name="pass_one_refusals_are_inert",
    sentence="A request that does not pass pass 1 is as good as none for everybody else.",
    source="FQ4",
    systems=("run", "universe", "conditions"),
    twins=_inert,
    config=lambda _w, config: config,
    state=lambda _w, _config, state: state,
    other=_silenced,
    agree=_others_alike,
)


def _deciding(step: RunStep) -> Any:
    """All that a verdict may depend on: authorities, the agents in the run, the requests.

    Where some request writes undeclared keys (and the reading is not `before_execution`), the world belongs to it too,
    and under `after_*` also the order of submission, because there the text lets values decide.
    """
    config, before = step.config, step.before
    asks = facts(step).asks
    requests = tuple((ask.agent, _without_epoch(ask.request, true_id(ask.agent, before.epoch))) for ask in asks)
    check = config.readings.scope_check
    loose = check != "before_execution" and any(undeclared(ask.request) for ask in asks)
    if not (loose and check.startswith("after")):
        requests = tuple(sorted(requests, key=lambda pair: pair[0]))
    silent = tuple(
        (agent, agent in step.shown.exits)
        for agent in active_agents(config, before)
        if not any(ask.agent == agent for ask in asks)
    )
    return (config.authorities, config.keys, config.readings, requests, silent, before.world if loose else None)


def _without_epoch(request: Request, own: str) -> Request:
    """The request with its stated action id reduced to whether that id is the right one."""
    return request if request.action_id is None else replace(request, action_id=str(request.action_id == own))


@determined_by(
    "No drift: every verdict is a function of this epoch's requests and the authorities, over a whole run and from "
    "run to run.",
    source="D11, FQ3, FQ27",
    systems=("run", "conditions"),
    key=_deciding,
    when=some_asked,
)
def verdict_determined(step: RunStep) -> Any:
    """Tokens, receipts and the log's verdicts and faults."""
    return (
        step.shown.tokens,
        step.shown.receipts,
        tuple((entry.agent_id, entry.verdict, entry.fault) for entry in step.shown.log),
    )
