"""Constructive rules of the machine for `run`: each aims at one rare event.

A rule draws one joint action.  It reads the scene first, and is possible only where its event can happen.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from evenhand.core.generator import Draw, Rule, st
from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DONE,
    FAILURE,
    NO_CHOICE,
    OPERATIONS,
    READ,
    WRITE,
    Choice,
    Config,
    Draft,
    Epoch,
    Request,
    State,
)
from evenhand.properties.cud.predicates import EpochState, true_id
from evenhand.properties.cud.scenes import (
    MESSAGES,
    VALUES,
    assemble,
    cited,
    coin,
    one_of,
    reading,
    scene,
    some_of,
    writing,
)


def goes_on(config: Config, state: EpochState) -> bool:
    """Return whether the run goes on."""
    return not scene(config, state).over


def any_value(draw: Draw) -> Any:
    """Draw one of the values that are written."""
    return one_of(draw, VALUES)


def someone(draw: Draw, config: Config, state: State) -> str:
    """Draw one of the agents in the run."""
    return one_of(draw, scene(config, state).here)


def best(draw: Draw, config: Config, state: State) -> tuple[str, Request]:
    """Draw a WRITE of one key, by an agent that may write it if there is one; hostile rules then spoil it."""
    able = [(agent, key) for key, agents in scene(config, state).may[WRITE].items() for agent in agents]
    agent, key = one_of(draw, able) if able else (someone(draw, config, state), one_of(draw, config.keys))
    delta = ((key, any_value(draw)),)
    return agent, Request(WRITE, (key,), delta, cited(config, agent, (key,), WRITE))


# Constructive rules.


def disjoint(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """Several agents write, each a key of its own."""
    offered = scene(config, state)
    chosen: dict[str, Choice] = {}
    used: list[str] = []
    for agent in draw(st.permutations(offered.here)):
        keys = [key for key, who in offered.may[WRITE].items() if agent in who and key not in used]
        if keys:
            key = one_of(draw, keys)
            used.append(key)
            chosen[agent] = writing(config, agent, (key, any_value(draw)))
    return assemble(draw, config, state, chosen, away_from=used)


def some_writer(config: Config, state: State) -> bool:
    offered = scene(config, state)
    return not offered.over and any(offered.may[WRITE].values())


def _collision(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    keys = [(key, writers) for key, writers, _ in scene(config, state).contested() if len(writers) > 1]
    key, writers = one_of(draw, keys)
    chosen = {agent: writing(config, agent, (key, any_value(draw))) for agent in some_of(draw, writers, 2)}
    return assemble(draw, config, state, chosen, away_from=(key,))


def _two_writers(config: Config, state: State) -> bool:
    offered = scene(config, state)
    return not offered.over and any(len(agents) > 1 for agents in offered.may[WRITE].values())


def _read_write(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    pairs = _readers_and_writers(config, state)
    key, reader, writer = one_of(draw, pairs)
    chosen = {reader: reading(config, reader, key), writer: writing(config, writer, (key, any_value(draw)))}
    return assemble(draw, config, state, chosen, away_from=(key,))


def _readers_and_writers(config: Config, state: State) -> list[tuple[str, str, str]]:
    may = scene(config, state).may
    return [
        (key, reader, writer)
        for key, writers in may[WRITE].items()
        for writer in writers
        for reader in may[READ][key]
        if reader != writer
    ]


def _three_way(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """Three or more agents on one key, at least one writing."""
    key, writers, users = one_of(draw, scene(config, state).contested(3))
    first = one_of(draw, writers)
    others = some_of(draw, [agent for agent in users if agent != first], 2)
    chosen = {first: writing(config, first, (key, any_value(draw)))}
    for agent in others:
        writes = agent in writers and coin(draw)
        readers = scene(config, state).may[READ][key]
        chosen[agent] = (
            writing(config, agent, (key, any_value(draw)))
            if writes or agent not in readers
            else reading(config, agent, key)
        )
    return assemble(draw, config, state, chosen, away_from=(key,))


def _beside(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    one, other, key, third, free = one_of(draw, _besides(config, state))
    chosen = {
        one: writing(config, one, (key, any_value(draw))),
        other: writing(config, other, (key, any_value(draw))),
        third: writing(config, third, (free, one_of(draw, [v for v in VALUES if v != dict(state.world)[free]]))),
    }
    return assemble(draw, config, state, chosen, away_from=(key, free))


def _besides(config: Config, state: State) -> list[tuple[str, str, str, str, str]]:
    may = scene(config, state).may[WRITE]
    return [
        (one, other, key, third, free)
        for key, agents in may.items()
        for free, thirds in may.items()
        if free != key
        for one, other in itertools.combinations(agents, 2)
        for third in thirds
        if third not in (one, other)
    ]


def _chain(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """One request over two keys collides on each with one other request; these two do not collide."""
    wide, one, other, first, second = one_of(draw, _chains(config, state))
    chosen = {
        wide: writing(config, wide, (first, any_value(draw)), (second, any_value(draw))),
        one: writing(config, one, (first, any_value(draw))),
        other: writing(config, other, (second, any_value(draw))),
    }
    return assemble(draw, config, state, chosen, away_from=(first, second))


def _chains(config: Config, state: State) -> list[tuple[str, str, str, str, str]]:
    may = scene(config, state).may[WRITE]
    return [
        (wide, one, other, first, second)
        for first, agents in may.items()
        for second, others in may.items()
        if first < second
        for wide in agents
        if wide in others
        for one in agents
        for other in others
        if len({wide, one, other}) == 3
    ]


def _again(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """Agents write a key on which a request was refused in the epoch before."""
    key, agents = one_of(draw, _refused_on(config, state))
    chosen = {agent: writing(config, agent, (key, any_value(draw))) for agent in some_of(draw, agents, 2)}
    return assemble(draw, config, state, chosen, away_from=(key,))


def _refused_on(config: Config, state: State) -> list[tuple[str, tuple[str, ...]]]:
    refused = {
        one.last_scope[0]
        for one in state.agents
        if one.active and one.last == FAILURE and one.last_scope is not None and len(one.last_scope) == 1
    }
    may = scene(config, state).may[WRITE]
    return [(key, agents) for key, agents in may.items() if key in refused and len(agents) > 1]


def _dethrone(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """An agent that was executed on a key repeats it, and another collides with it."""
    key, agent, rivals = one_of(draw, _executed_on(config, state))
    chosen = {agent: writing(config, agent, (key, any_value(draw)))}
    for rival in some_of(draw, rivals, 1):
        chosen[rival] = writing(config, rival, (key, any_value(draw)))
    return assemble(draw, config, state, chosen, away_from=(key,))


def _executed_on(config: Config, state: State) -> list[tuple[str, str, tuple[str, ...]]]:
    may = scene(config, state).may[WRITE]
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for name, one in zip(config.agents, state.agents, strict=True):
        if one.active and one.last == DONE and one.last_scope is not None and len(one.last_scope) == 1:
            key = one.last_scope[0]
            rivals = tuple(agent for agent in may[key] if agent != name)
            if name in may[key] and rivals:
                found.append((key, name, rivals))
    return found


def _shared_reading(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    key, readers = one_of(draw, _shared(config, state))
    chosen = {agent: reading(config, agent, key) for agent in some_of(draw, readers, 2)}
    return assemble(draw, config, state, chosen)


def _shared(config: Config, state: State) -> list[tuple[str, tuple[str, ...]]]:
    return [(key, agents) for key, agents in scene(config, state).may[READ].items() if len(agents) > 1]


def _denied(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """Only a DENY stops the agent."""
    agent, key, operation = one_of(draw, scene(config, state).vetoed)
    choice = writing(config, agent, (key, any_value(draw))) if operation == WRITE else reading(config, agent, key)
    return assemble(draw, config, state, {agent: choice})


def _incapable(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """An agent lacks the capability; one that has it may want the same key and must be unaffected."""
    offered = scene(config, state)
    agent, key, operation = one_of(draw, offered.lacking)
    choice = writing(config, agent, (key, any_value(draw))) if operation == WRITE else reading(config, agent, key)
    chosen = {agent: choice}
    able = [name for name in offered.may[WRITE][key] if name != agent]
    if able and coin(draw):
        name = one_of(draw, able)
        chosen[name] = writing(config, name, (key, any_value(draw)))
    return assemble(draw, config, state, chosen, away_from=(key,))


def _hopeless(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """No request could pass pass 1: a deadlocked epoch, if no alternative would either."""
    offered = scene(config, state)
    chosen: dict[str, Choice] = {agent: NO_CHOICE for agent in offered.here}
    hopeless = (*offered.lacking, *offered.vetoed)
    for agent in some_of(draw, offered.here, 1):
        mine = [(key, operation) for name, key, operation in hopeless if name == agent]
        if mine:
            key, operation = one_of(draw, mine)
            chosen[agent] = (
                writing(config, agent, (key, any_value(draw))) if operation == WRITE else reading(config, agent, key)
            )
    return assemble(draw, config, state, chosen)


def _some_hopeless(config: Config, state: State) -> bool:
    offered = scene(config, state)
    return not offered.over and bool(offered.lacking or offered.vetoed)


def _under_declared(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """A WRITE reaches beyond its scope, as a change or as a no-op; perhaps the key's owners write it too."""
    agent, request = best(draw, config, state)
    others = [key for key in config.keys if key not in request.declared_scope]
    lost = [key for key in _orphaned_keys(config, state) if key in others]
    other = one_of(draw, lost or others)
    now = dict(state.world)[other]
    value = now if coin(draw) else one_of(draw, [value for value in VALUES if value != now])
    chosen = {agent: Choice(replace(request, proposed_delta=(*request.proposed_delta, (other, value))))}
    owners = [name for name in scene(config, state).may[WRITE][other] if name != agent]
    if owners and coin(draw):
        for owner in some_of(draw, owners, 1, 2):
            chosen[owner] = writing(config, owner, (other, value if coin(draw) else any_value(draw)))
    return assemble(draw, config, state, chosen, away_from=(*request.declared_scope, other))


def _reach_into_a_collision(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    one, other, key, third, free = one_of(draw, _besides(config, state))
    changed = one_of(draw, [value for value in VALUES if value != dict(state.world)[key]])
    honest = Request(WRITE, (free,), ((free, any_value(draw)),), cited(config, third, (free,), WRITE))
    chosen = {
        one: writing(config, one, (key, any_value(draw))),
        other: writing(config, other, (key, any_value(draw))),
        third: Choice(replace(honest, proposed_delta=(*honest.proposed_delta, (key, changed)))),
    }
    return assemble(draw, config, state, chosen, away_from=(key, free))


def _sole_holder_exits(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    return assemble(draw, config, state, {one_of(draw, scene(config, state).soles): Choice(exits=True)})


def _orphaned(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """Agents request a key that no agent in the run may write any more, citing every ALLOW on it or none."""
    offered = scene(config, state)
    key = one_of(draw, _orphaned_keys(config, state))
    chosen: dict[str, Choice] = {}
    for agent in some_of(draw, offered.here, 1, 2):
        held = tuple(
            one.authority_id
            for one in config.authorities
            if one.commitment == ALLOW and any(one.governs(key, operation) for operation in OPERATIONS)
        )
        request = Request(WRITE, (key,), ((key, any_value(draw)),), held if coin(draw) else ())
        chosen[agent] = Choice(request)
    return assemble(draw, config, state, chosen, away_from=(key,))


def _orphaned_keys(config: Config, state: State) -> list[str]:
    gone = len(state.agents) > len(scene(config, state).here)
    return [key for key, agents in scene(config, state).may[WRITE].items() if gone and not agents]


def _one_exits(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    offered = scene(config, state)
    leaver = someone(draw, config, state)
    chosen = {leaver: Choice(exits=True)}
    for key, agents in offered.may[WRITE].items():
        for agent in agents:
            if agent not in chosen and coin(draw):
                chosen[agent] = writing(config, agent, (key, any_value(draw)))
    return assemble(draw, config, state, chosen)


def _all_exit(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    return assemble(draw, config, state, {agent: Choice(exits=True) for agent in scene(config, state).here})


def _late(config: Config, state: State) -> bool:
    """Late in a run, or with few agents left, so that runs do not collapse before anything happens."""
    return goes_on(config, state) and (len(scene(config, state).here) < 3 or (state.epoch or 0) > 1)


def _messages(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    chosen = {
        agent: Choice(draft=Draft(one_of(draw, MESSAGES))) for agent in some_of(draw, scene(config, state).here, 1)
    }
    return assemble(draw, config, state, chosen)


def can_talk(config: Config, state: State) -> bool:
    """Return whether messages are on and the run goes on."""
    return config.communication and goes_on(config, state)


def _honestly_named(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """Correctly stated ids are no fault."""
    agent, good = best(draw, config, state)
    named = replace(good, agent_id=agent, action_id=true_id(agent, state.epoch))
    return assemble(draw, config, state, {agent: Choice(named)}, away_from=good.declared_scope)


def _with(found: Callable[[Config, State], Sequence[Any]]) -> Callable[[Config, State], bool]:
    """A condition: the run goes on, and `found` returns at least one target."""
    return lambda config, state: goes_on(config, state) and len(found(config, state)) > 0


CONSTRUCTIVE = (
    Rule("disjoint_executions", disjoint, some_writer),
    Rule("write_write_collision", _collision, _two_writers),
    Rule("read_write_collision", _read_write, _with(_readers_and_writers)),
    Rule("three_way_collision", _three_way, _with(lambda config, state: scene(config, state).contested(3))),
    Rule("chain_of_collisions", _chain, _with(_chains)),
    Rule("collision_beside_execution", _beside, _with(_besides)),
    Rule("collide_again", _again, _with(_refused_on)),
    Rule("collide_after_success", _dethrone, _with(_executed_on)),
    Rule("shared_reading", _shared_reading, _with(_shared)),
    Rule("veto", _denied, _with(lambda config, state: scene(config, state).vetoed)),
    Rule("missing_capability", _incapable, _with(lambda config, state: scene(config, state).lacking)),
    Rule("hopeless_epoch", _hopeless, _some_hopeless),
    Rule(
        "under_declared_write",
        _under_declared,
        lambda config, state: len(config.keys) > 1 and some_writer(config, state),
    ),
    Rule("reach_into_a_collision", _reach_into_a_collision, _with(_besides)),
    Rule("sole_holder_exits", _sole_holder_exits, _with(lambda config, state: scene(config, state).soles)),
    Rule("want_what_is_orphaned", _orphaned, _with(_orphaned_keys)),
    Rule("somebody_exits", _one_exits, _late),
    Rule("everybody_exits", _all_exit, lambda config, state: _late(config, state) and (state.epoch or 0) > 1),
    Rule("messages", _messages, can_talk),
    Rule("rightly_named", _honestly_named, goes_on),
)
"""One rule for each rare event that honest agents can cause."""
