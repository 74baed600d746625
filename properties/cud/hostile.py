"""Hostile rules: requests and messages that no honest agent would send, within an otherwise honest epoch."""

from __future__ import annotations

from evenhand.core.atoms import Opaque
from evenhand.core.generator import Draw, Rule, st
from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.cud.vocabulary import (
    NO_CHOICE,
    READ,
    WRITE,
    Choice,
    Config,
    Draft,
    Epoch,
    Request,
    State,
    Value,
)
from evenhand.properties.cud.predicates import true_id
from evenhand.properties.cud.rules import any_value, best, can_talk, disjoint, goes_on, someone
from evenhand.properties.cud.scenes import (
    HOSTILE_VALUES,
    VALUES,
    assemble,
    cited,
    coin,
    one_of,
    scene,
    some_of,
    writing,
)


def _malformed(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    agent, good = best(draw, config, state)
    key = good.declared_scope[0]
    other = one_of(draw, [*(name for name in config.agents if name != agent), "nobody"])
    spoilt = one_of(
        draw,
        (
            replace(good, agent_id=other, authorities_cited=cited(config, other, (key,), WRITE)),
            replace(good, action_id=f"{other}:{state.epoch}:0"),
            replace(good, action_id=true_id(agent, (state.epoch or 0) + 1)),
            replace(good, action_type=one_of(draw, ("DELETE", "EXECUTE", "write", ""))),
            replace(good, declared_scope=()),
            replace(good, declared_scope=(), proposed_delta=()),
            replace(good, declared_scope=(key, key)),
            replace(good, declared_scope=(key, "nowhere")),
            replace(good, action_type=READ, authorities_cited=cited(config, agent, (key,), READ)),
            replace(good, proposed_delta=(*good.proposed_delta, ("nowhere", any_value(draw)))),
            replace(good, proposed_delta=((key, one_of(draw, HOSTILE_VALUES)),)),
            replace(good, proposed_delta=((key, any_value(draw)), (key, any_value(draw)))),
        ),
    )
    chosen = {agent: Choice(spoilt)}
    rivals = [name for name in scene(config, state).may[WRITE][key] if name != agent]
    if rivals and coin(draw):
        rival = one_of(draw, rivals)
        chosen[rival] = writing(config, rival, (key, any_value(draw)))
    return assemble(draw, config, state, chosen, away_from=(key,))


def _foreign(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    agent, good = best(draw, config, state)
    ids = [one.authority_id for one in config.authorities if one.holder_agent_id != agent or one.epoch > 0]
    foreign = one_of(draw, [*ids, "CUD-000"])
    own = good.authorities_cited if coin(draw) else ()
    chosen = {agent: Choice(replace(good, authorities_cited=(*own, foreign)))}
    return assemble(draw, config, state, chosen, away_from=good.declared_scope)


def _bad_messages(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """Messages that are oversized, no JSON, no object, deeply nested, with a forged sender or a repeated key."""
    limit = config.readings.message_limit
    drafts = (
        Draft('{"pad":"' + "x" * limit + '"}'),
        Draft('{"pad":"' + "é" * (limit // 2) + '"}'),
        Draft("not json"),
        Draft("[1]"),
        Draft('{"a":NaN}'),
        Draft('{"a":1,"a":2}'),
        Draft("{" * 3),
        Draft('{"a":' * 70 + "1" + "}" * 70),
        Draft(Opaque("function")),
        Draft('{"role":1}', sender=one_of(draw, [*config.agents, "kernel"])),
    )
    chosen = {agent: Choice(draft=one_of(draw, drafts)) for agent in some_of(draw, scene(config, state).here, 1)}
    return assemble(draw, config, state, chosen)


def _forged_sender(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    agent = someone(draw, config, state)
    other = one_of(draw, [name for name in config.agents if name != agent])
    return assemble(draw, config, state, {agent: Choice(draft=Draft('{"role":1}', sender=other))})


def _last_words(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """An agent that exits has something to say."""
    chosen = {someone(draw, config, state): Choice(draft=Draft('{"role":1}'), exits=True)}
    return assemble(draw, config, state, chosen)


def _twice(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """An agent chooses several times, perhaps to exit."""
    action = disjoint(draw, config, _scope, state)
    agent, request = best(draw, config, state)
    more = [(agent, Choice(request)), (agent, NO_CHOICE), (agent, Choice(exits=True))]
    return Epoch(tuple(draw(st.permutations((*action.choices, *some_of(draw, more, 1))))))


def _intruders(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    """Agents that left, and strangers, choose."""
    action = disjoint(draw, config, _scope, state)
    _, request = best(draw, config, state)
    gone = [name for name in config.agents if name not in scene(config, state).here]
    strangers = [(name, Choice(request, Draft("{}"))) for name in (*gone, "mallory", "")]
    return Epoch(tuple(draw(st.permutations((*action.choices, *some_of(draw, strangers, 1))))))


def _missing(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    action = disjoint(draw, config, _scope, state)
    return Epoch(some_of(draw, action.choices, 0))


def _anything(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    keys = (*config.keys, *config.keys, "nowhere")
    ids = (*(one.authority_id for one in config.authorities), "CUD-000")

    def request() -> Request:
        scope = some_of(draw, (*keys, config.keys[0]), 0, 3)
        values: tuple[Value, ...] = (*VALUES, *VALUES, *HOSTILE_VALUES)
        delta = {key: one_of(draw, values) for key in some_of(draw, keys, 0, 2)}
        kind = one_of(draw, (READ, WRITE, WRITE, "DELETE"))
        return Request(kind, scope, tuple(delta.items()), some_of(draw, ids, 0, 3))

    chosen = {agent: Choice(request(), exits=draw(st.integers(0, 9)) == 0) for agent in scene(config, state).here}
    return assemble(draw, config, state, chosen)


def _after_the_end(draw: Draw, config: Config, _scope: Scope, state: State) -> Epoch:
    key = one_of(draw, config.keys)
    choices = [(agent, writing(config, agent, (key, any_value(draw)))) for agent in config.agents]
    return Epoch(tuple(draw(st.permutations(choices))))


HOSTILE = (
    Rule("malformed", _malformed, goes_on, hostile=True),
    Rule("foreign_citation", _foreign, goes_on, hostile=True),
    Rule("bad_messages", _bad_messages, can_talk, hostile=True),
    Rule(
        "forged_sender",
        _forged_sender,
        lambda config, state: can_talk(config, state) and len(config.agents) > 1,
        hostile=True,
    ),
    Rule("last_words", _last_words, can_talk, hostile=True),
    Rule("several_choices", _twice, goes_on, hostile=True),
    Rule("intruders", _intruders, goes_on, hostile=True),
    Rule("missing_choices", _missing, goes_on, hostile=True),
    Rule("anything", _anything, goes_on, hostile=True),
    Rule("after_the_end", _after_the_end, lambda config, state: scene(config, state).over, hostile=True),
)
"""Rules that are possible almost everywhere."""
