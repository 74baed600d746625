"""The choices of strategies: static scripts that ignore history, and the adaptive partition of I.b.

A strategy is data in the configuration; its choice is a function of the state alone, its memory part of
the state, so that a condition is a graph with one path (A4, FQ30, FQ37).
"""

from __future__ import annotations

import hashlib

from evenhand.core.atoms import Atom
from evenhand.core.canonical import canonical_text, parse
from evenhand.model.cud.vocabulary import (
    ALLOW,
    NO_CHOICE,
    WRITE,
    Authority,
    Choice,
    Config,
    Draft,
    Observation,
    Partition,
    Request,
    Script,
)

_SUFFIXES = 64
"""Suffixes that `suffix_until_different` tries; names that need more do not occur."""


def lock(config: Config, agent: str, key: str, action_type: str = WRITE) -> Request:
    """Return the request of the conditions: W k writes `locked_by_<agent>`, citing every held covering ALLOW."""
    cited = covering(config.authorities, agent, (key,), action_type)
    delta = ((key, Atom("str", f"locked_by_{agent}")),) if action_type == WRITE else ()
    return Request(action_type, (key,), delta, cited)


def covering(
    authorities: tuple[Authority, ...], agent: str, keys: tuple[str, ...], action_type: str
) -> tuple[str, ...]:
    """Return the ids of every ALLOW that `agent` holds over some of these (key, op), in id order."""
    return tuple(
        sorted(
            authority.authority_id
            for authority in authorities
            if authority.commitment == ALLOW
            and authority.holder_agent_id == agent
            and any(authority.governs(key, action_type) for key in keys)
        )
    )


def chosen(config: Config, agent: str, seen: Observation, memory: str) -> Choice:
    """Return the one choice of `agent`'s strategy, given its observation and its memory after it."""
    strategy = config.strategies[config.agents.index(agent)]
    if isinstance(strategy, Script):
        plan = strategy.plans[min(seen.epoch or 0, len(strategy.plans) - 1)]
        if plan.do == "EXIT":
            return Choice(exits=True)
        if plan.do == "SUBMIT":
            return Choice(plan.request)
        return NO_CHOICE if plan.do == "NONE" else Choice(lock(config, agent, plan.key, plan.do))
    if memory == "start":
        role = roles(strategy.peers, config.readings.role_fallback)[agent]
        return Choice(lock(config, agent, config.keys[0]), Draft(canonical_text({"role": role})))
    key = assigned_key(config, strategy, agent) if memory == "agreed" else None
    return NO_CHOICE if key is None else Choice(lock(config, agent, key))


def remember(config: Config, agent: str, seen: Observation, memory: str) -> str:
    """Return the memory of `agent`'s strategy after an observation.

    The partition strategy goes from `` to `start` (collide and send the role), then to `agreed` when every
    other agent's one message names the role it expects of it, else to `failed`, for ever.
    """
    if not config.strategies:
        return memory
    strategy = config.strategies[config.agents.index(agent)]
    if isinstance(strategy, Script) or memory in ("agreed", "failed"):
        return memory
    if memory == "":
        return "start"
    expected = roles(strategy.peers, config.readings.role_fallback)
    heard = sorted((message.sender, message.content) for message in seen.messages if message.sender != agent)
    wanted = sorted((peer, role) for peer, role in expected.items() if peer != agent)
    agreed = len(heard) == len(wanted) and all(
        sender == peer and parse(content) == {"role": role}
        for (sender, content), (peer, role) in zip(heard, wanted, strict=True)
    )
    return "agreed" if agreed else "failed"


def roles(peers: tuple[str, ...], fallback: str) -> dict[str, int]:
    """Return each peer's role under the reading `role_fallback` (FQ30, FQ37).

    `suffix_until_different` hashes `id`, then `id:1`, `id:2`, … for all peers at once until not all roles are
    equal; `single_suffix` tries `id:1` only; `none` takes sha256(id) mod 2 as it is.
    """
    tries = {"suffix_until_different": _SUFFIXES, "single_suffix": 1, "none": 0}[fallback]
    found = {peer: _bit(peer) for peer in peers}
    for suffix in range(1, tries + 1):
        if len(set(found.values())) > 1 or len(peers) < 2:
            break
        found = {peer: _bit(f"{peer}:{suffix}") for peer in peers}
    return found


def assigned_key(config: Config, strategy: Partition, agent: str) -> str | None:
    """Return the key of `agent`'s role under the reading `role_target`; None where there is none (FQ19)."""
    role = roles(strategy.peers, config.readings.role_fallback)[agent]
    if config.readings.role_target == "index_in_key_list":
        return config.keys[role] if role < len(config.keys) else None
    return next((key for key in config.keys if _bit(key) == role), None)


def _bit(text: str) -> int:
    """Return sha256 of a text, read as a big-endian integer, mod 2."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % 2
