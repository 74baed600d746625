"""The log alone rebuilds the run (I24): folding the observations of each epoch over the start gives every state.

This uses no rule of the kernel, so a run of any kernel can be rebuilt, and an incomplete log cannot.  A written log
is JSON Lines in canonical JSON: the configuration first, then one epoch a line; the same run is the same bytes
whatever the hash seed.
"""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.core.canonical import canonical_text, parse
from evenhand.core.codec import decode, encode
from evenhand.model.cud.step import active, initial
from evenhand.model.cud.strategies import remember
from evenhand.model.cud.vocabulary import (
    TYPES,
    AgentState,
    Config,
    Shown,
    State,
)

FORMAT = "evenhand/cud-log"


class LogBroken(ValueError):
    """A log that does not fit its run; the message says in which epoch and why."""


def after(config: Config, state: State, shown: Shown) -> State:
    """Return the state after an epoch, from the state before it and its observation.

    A step after the end of a run shows no observation and leaves everything.  Raises LogBroken where the log
    names other agents than those in the run, or changes a value that was not there.
    """
    here = active(config, state)
    seen = dict(shown.seen)
    if not seen:
        return state
    tokens = dict(shown.tokens)
    if tuple(seen) != here or sorted((*tokens, *shown.exits)) != sorted(here):
        raise LogBroken("the log does not say of every agent in the run what it saw, and how it fared or that it left")
    world = dict(state.world)
    for effect in shown.effects:
        if world.get(effect.key) != effect.before:
            raise LogBroken(f"the log changes {effect.key} from {effect.before}, which it was not")
        world[effect.key] = effect.after
    scopes = {entry.agent_id: entry.request.declared_scope for entry in shown.log}
    agents: list[AgentState] = []
    for name, agent in zip(config.agents, state.agents, strict=True):
        if name not in seen:
            agents.append(agent)
            continue
        memory = remember(config, name, seen[name], agent.memory)
        if name in tokens:
            agents.append(AgentState(True, tokens[name], scopes.get(name), memory))
        else:
            agents.append(AgentState(False, agent.last, agent.last_scope, memory))
    return State(
        tuple(world.items()),
        tuple(agents),
        tuple((message.sender, message.content) for message in shown.sent),
        None if state.epoch is None else state.epoch + 1,
    )


def rebuild(config: Config, log: Iterable[Shown]) -> tuple[State, ...]:
    """Return every state of the run, the start first.  Raises LogBroken with the number of the epoch."""
    states = [initial(config)[0]]
    for number, shown in enumerate(log):
        try:
            states.append(after(config, states[-1], shown))
        except LogBroken as error:
            raise LogBroken(f"epoch {number}: {error}") from error
    return tuple(states)


def write_log(config: Config, log: Iterable[Shown]) -> str:
    """Return the log as JSON Lines: format and configuration, then one epoch a line."""
    header = {"format": FORMAT, "version": 1, "config": encode(config)}
    return "".join(f"{canonical_text(line)}\n" for line in (header, *(encode(shown) for shown in log)))


def read_log(text: str) -> tuple[Config, tuple[Shown, ...]]:
    """Return the configuration and epochs of a written log.  Raises LogBroken with the number of the bad line."""
    lines = text.splitlines()
    try:
        header = parse(lines[0]) if lines else None
        if not isinstance(header, dict) or {**header, "config": None} != {
            "format": FORMAT,
            "version": 1,
            "config": None,
        }:
            raise LogBroken(f"line 1 is no header of {FORMAT} version 1")
        config = decode(header["config"], *TYPES)
    except ValueError as error:
        raise LogBroken(f"line 1: {error}") from error
    if not isinstance(config, Config):
        raise LogBroken("line 1: the header holds no configuration")
    log: list[Shown] = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            shown = decode(parse(line), *TYPES)
        except ValueError as error:
            raise LogBroken(f"line {number}: {error}") from error
        if not isinstance(shown, Shown):
            raise LogBroken(f"line {number}: no epoch")
        log.append(shown)
    return config, tuple(log)
