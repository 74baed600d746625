"""Renaming agents and keys: the group under which an epoch without arbitration is equivariant.

Values and message contents are opaque data and stay as they are; authority ids are names too, and change where a
renaming lists them.  Scopes, deltas and citations are sets that are written as lists: an image writes them in the
order of the new names, as menus do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from evenhand.core.records import dataclass, replace
from evenhand.core.system import Quotient
from evenhand.model.cud.layouts import layout_slots
from evenhand.model.cud.vocabulary import (
    Authority,
    Choice,
    Config,
    Effect,
    Entry,
    Epoch,
    Message,
    Observation,
    Request,
    Shown,
    State,
    World,
    target,
)


@dataclass(frozen=True, slots=True)
class Renaming:
    """Bijections as (old, new) pairs; a name that is not listed stays."""

    agents: tuple[tuple[str, str], ...]
    keys: tuple[tuple[str, str], ...]
    authorities: tuple[tuple[str, str], ...] = ()

    def agent(self, name: str) -> str:
        """Return the new name of an agent."""
        return _renamed(self.agents, name)

    def key(self, name: str) -> str:
        """Return the new name of a key."""
        return _renamed(self.keys, name)

    def authority(self, name: str) -> str:
        """Return the new id of an authority."""
        return _renamed(self.authorities, name)


def _renamed(names: tuple[tuple[str, str], ...], name: str) -> str:
    for old, new in names:
        if old == name:
            return new
    return name


def every_renaming(config: Config) -> Iterator[Renaming]:
    """Yield every permutation of agents times every permutation of keys, the identity first.

    Authority ids follow their slot in `layout_slots`, so that the image of a layout of the universe is a
    layout of the universe; other ids stay.
    """
    slots = layout_slots(config.agents, config.keys)
    place = {slot: f"CUD-{number:03d}" for number, slot in enumerate(slots, start=1)}
    for agents in itertools.permutations(config.agents):
        for keys in itertools.permutations(config.keys):
            plain = Renaming(tuple(zip(config.agents, agents, strict=True)), tuple(zip(config.keys, keys, strict=True)))
            ids = tuple((place[slot], place[(plain.agent(slot[0]), plain.key(slot[1]), slot[2])]) for slot in slots)
            yield replace(plain, authorities=ids)


def rename_config(w: Renaming, config: Config) -> Config:
    """Return the configuration under new names; strategies are renamed with their agents."""
    strategies = dict(zip((w.agent(name) for name in config.agents), config.strategies, strict=False))
    agents = tuple(sorted(w.agent(name) for name in config.agents))
    return replace(
        config,
        agents=agents,
        world=rename_world(w, config.world),
        authorities=tuple(sorted((_authority(w, one) for one in config.authorities), key=lambda one: one.authority_id)),
        strategies=tuple(strategies[name] for name in agents) if config.strategies else (),
    )


def rename_state(w: Renaming, config: Config, state: State) -> State:
    """Return the state under new names; `config` is the one with the old names."""
    by_name = dict(zip((w.agent(name) for name in config.agents), state.agents, strict=True))
    return State(
        rename_world(w, state.world),
        tuple(replace(by_name[name], last_scope=_scope(w, by_name[name].last_scope)) for name in sorted(by_name)),
        tuple(sorted((w.agent(sender), content) for sender, content in state.mailbox)),
        state.epoch,
    )


def rename_action(w: Renaming, action: Epoch) -> Epoch:
    """Return the joint action under new names, in the same order of submission."""
    return Epoch(tuple((w.agent(agent), _choice(w, choice)) for agent, choice in action.choices))


def rename_shown(w: Renaming, shown: Shown) -> Shown:
    """Return the observation under new names, sorted again."""
    return Shown(
        seen=tuple(sorted(((w.agent(a), _observation(w, seen)) for a, seen in shown.seen), key=lambda p: p[0])),
        tokens=tuple(sorted((w.agent(a), token) for a, token in shown.tokens)),
        receipts=tuple(sorted((w.agent(a), receipt) for a, receipt in shown.receipts)),
        log=tuple(sorted((_entry(w, entry) for entry in shown.log), key=lambda entry: entry.agent_id)),
        effects=tuple(sorted((Effect(w.key(e.key), e.before, e.after) for e in shown.effects), key=lambda e: e.key)),
        exits=tuple(sorted(w.agent(a) for a in shown.exits)),
        sent=_messages(w, shown.sent),
        dropped=tuple(sorted((w.agent(a), why) for a, why in shown.dropped)),
        rejected=tuple(sorted((w.agent(a), why) for a, why in shown.rejected)),
    )


def rename_world(w: Renaming, world: World) -> World:
    """Return the world under new names of its keys."""
    return tuple(sorted((w.key(key), value) for key, value in world))


def _authority(w: Renaming, one: Authority) -> Authority:
    prefix = target("")
    return replace(
        one,
        authority_id=w.authority(one.authority_id),
        holder_agent_id=w.agent(one.holder_agent_id),
        scope=tuple((target(w.key(goal.removeprefix(prefix))), operation) for goal, operation in one.scope),
    )


def _scope(w: Renaming, scope: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if scope is None else tuple(sorted(w.key(key) for key in scope))


def _request(w: Renaming, request: Request) -> Request:
    return Request(
        request.action_type,
        tuple(sorted(w.key(key) for key in request.declared_scope)),
        tuple(sorted(((w.key(key), value) for key, value in request.proposed_delta), key=lambda entry: entry[0])),
        tuple(sorted(w.authority(cited) for cited in request.authorities_cited)),
        None if request.agent_id is None else w.agent(request.agent_id),
        None if request.action_id is None else _stamp(w, request.action_id),
    )


def _choice(w: Renaming, choice: Choice) -> Choice:
    draft = choice.draft
    if draft is not None and draft.sender is not None:
        draft = replace(draft, sender=w.agent(draft.sender))
    return Choice(None if choice.request is None else _request(w, choice.request), draft, choice.exits)


def _stamp(w: Renaming, action_id: str) -> str:
    agent, colon, rest = action_id.partition(":")
    return w.agent(agent) + colon + rest


def _entry(w: Renaming, entry: Entry) -> Entry:
    return replace(
        entry,
        agent_id=w.agent(entry.agent_id),
        action_id=_stamp(w, entry.action_id),
        request=_request(w, entry.request),
    )


def _messages(w: Renaming, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    renamed = (replace(message, sender=w.agent(message.sender)) for message in messages)
    return tuple(sorted(renamed, key=lambda message: (message.sender, message.content)))


def _observation(w: Renaming, seen: Observation) -> Observation:
    return replace(
        seen,
        world_state=rename_world(w, seen.world_state),
        own_last_action_id=None if seen.own_last_action_id is None else _stamp(w, seen.own_last_action_id),
        own_last_declared_scope=_scope(w, seen.own_last_declared_scope),
        messages=_messages(w, seen.messages),
    )


RENAMING: Quotient[Config, State, Epoch, Renaming] = Quotient(
    "renaming", every_renaming, rename_config, rename_state, lambda w, _config, action: rename_action(w, action)
)
"""Agents and keys renamed; lawful only under a proof of equivariance."""
