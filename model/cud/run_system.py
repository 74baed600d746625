"""The systems that run whole epochs: `run` (free agents over a menu) and the `universe`.

Both use `step` and differ in the configurations and the menus.  Where a configuration names strategies, the only
choice on offer is the strategy's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.records import replace
from evenhand.core.system import Joint, Scope, Step, System
from evenhand.model.cud.classify import conclude
from evenhand.model.cud.kernel import REFERENCE, Rules, is_unsettled, observe
from evenhand.model.cud.layouts import agent_names, every_layout, free_layout, key_names, start_world
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.renaming import RENAMING
from evenhand.model.cud.step import active, ended, initial, step
from evenhand.model.cud.strategies import chosen, covering, remember
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DONE,
    NO_CHOICE,
    OPERATIONS,
    READ,
    TYPES,
    WRITE,
    Authority,
    Choice,
    Config,
    Draft,
    Epoch,
    Request,
    Shown,
    State,
    allow,
    deny,
)

TAKEN = Atom("str", "taken")
"""The value that menus write."""

OTHER = Atom("str", "other")
"""Another value, to test independence of values."""

Menu = Callable[[Config, str], Iterable[Choice]]


def playing(menu: Menu) -> Joint[Config, State, Epoch, Choice]:
    """Return the joint action of the active agents: from the menu, or by their strategies."""

    @lru_cache(maxsize=256)
    def listed(config: Config, agent: str) -> tuple[Choice, ...]:
        return tuple(menu(config, agent))

    def agents(config: Config, state: State) -> tuple[str, ...]:
        return () if ended(config, state) else active(config, state)

    def choices(config: Config, _scope: Scope, state: State, agent: str) -> Iterable[Choice]:
        if not config.strategies:
            return listed(config, agent)
        seen = observe(config, state, agent, ())
        memory = remember(config, agent, seen, state.agents[config.agents.index(agent)].memory)
        return (chosen(config, agent, seen, memory),)

    return Joint(agents, choices, lambda _config, _state, picked: Epoch(picked), lambda action: action.choices)


def well_formed(config: Config, agent: str) -> Iterator[Request]:
    """Yield every READ and WRITE over a non-empty scope, each WRITE with any delta, citing all that covers it."""
    scopes = [scope for size in range(1, len(config.keys) + 1) for scope in itertools.combinations(config.keys, size)]
    deltas = [delta for size in range(len(config.keys) + 1) for delta in itertools.combinations(config.keys, size)]
    for scope in scopes:
        yield Request(READ, scope, (), covering(config.authorities, agent, scope, READ))
    for scope in scopes:
        cited = covering(config.authorities, agent, scope, WRITE)
        for delta in deltas:
            yield Request(WRITE, scope, tuple((key, TAKEN) for key in delta), cited)


def every_request(config: Config, agent: str) -> Iterator[Request]:
    """Yield `well_formed` under each citation: all held that cover, none, all that are foreign; equal ones once.

    Foreign is every artefact, ALLOW or DENY, that the agent does not hold.  All are cited, because to single one out
    prefers a name, and a menu that prefers names is not closed under renaming.
    """
    foreign = tuple(one.authority_id for one in config.authorities if one.holder_agent_id != agent)
    for request in well_formed(config, agent):
        for cited in dict.fromkeys((request.authorities_cited, (), foreign)):
            yield replace(request, authorities_cited=cited)


def malformed_requests(config: Config, agent: str, keys: tuple[str, ...] | None = None) -> dict[str, Request]:
    """Return one malformed request of each kind that the kernel names, otherwise as good as the agent can make it.

    They declare `keys`, by default the first one.
    """
    scope = keys or config.keys[:1]
    good = _write(config, agent, scope, scope)
    other = next((name for name in config.agents if name != agent), "nobody")
    others = covering(config.authorities, other, scope, WRITE)
    reading = covering(config.authorities, agent, scope, READ)
    return {
        "forged agent_id": replace(good, agent_id=other, authorities_cited=others),
        "forged action_id": replace(good, action_id="forged"),
        "unknown action_type": replace(good, action_type="DELETE"),
        "empty declared_scope": replace(good, declared_scope=()),
        "duplicate key in declared_scope": replace(good, declared_scope=tuple(sorted(scope * 2))),
        "unknown key in declared_scope": replace(good, declared_scope=("nowhere",)),
        "READ with a proposed_delta": replace(good, action_type=READ, authorities_cited=reading),
        "unknown key in proposed_delta": replace(good, proposed_delta=(("nowhere", TAKEN),)),
        "value that is no JSON primitive": replace(good, proposed_delta=tuple((key, Opaque("nan")) for key in scope)),
    }


def _universe_menu(config: Config, agent: str) -> Iterator[Choice]:
    """Yield a menu closed under renaming: its image is the menu of the renamed agent and layout."""
    yield NO_CHOICE
    for request in every_request(config, agent):
        yield Choice(request)
    for request in malformed_requests(config, agent, config.keys).values():
        yield Choice(request)
    yield Choice(exits=True)


def _universe_configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    agents, keys = agent_names(scope["agents"]), key_names(scope["keys"])
    for layout in every_layout(agents, keys):
        yield Config(agents, start_world(keys), layout, epochs=1, readings=readings)


def _run_menu(config: Config, agent: str) -> Iterator[Choice]:
    """Yield a few choices of each sort; equal ones once."""
    sorts = (_messages, _deeds) if config.communication else (_deeds, _odd_deeds)
    yield from dict.fromkeys((NO_CHOICE, *(choice for sort in sorts for choice in sort(config, agent))))
    yield Choice(exits=True)


def _write(config: Config, agent: str, scope: tuple[str, ...], delta: tuple[str, ...], value: Atom = TAKEN) -> Request:
    return Request(
        WRITE, scope, tuple((key, value) for key in delta), covering(config.authorities, agent, scope, WRITE)
    )


def _deeds(config: Config, agent: str) -> Iterator[Choice]:
    """Yield honest READ and WRITE of each key; with messages on, of the first key."""
    for key in config.keys[:1] if config.communication else config.keys:
        yield Choice(Request(READ, (key,), (), covering(config.authorities, agent, (key,), READ)))
        yield Choice(_write(config, agent, (key,), (key,)))


def _odd_deeds(config: Config, agent: str) -> Iterator[Choice]:
    """Yield another value, a wide scope, too narrow a scope, citations of all sorts, malformed requests."""
    first = config.keys[0]
    honest = _write(config, agent, (first,), (first,))
    yield Choice(_write(config, agent, (first,), (first,), OTHER))
    if len(config.keys) > 1:
        second = config.keys[1]
        yield Choice(_write(config, agent, (first, second), (second,)))
        yield Choice(_write(config, agent, (first,), (second,)))
    allows = [one for one in config.authorities if one.commitment == ALLOW]
    held = tuple(one.authority_id for one in allows if one.holder_agent_id == agent)
    others = tuple(one.authority_id for one in allows if one.holder_agent_id != agent)
    for cited in (held, others[:1]):
        yield Choice(replace(honest, authorities_cited=cited))
    malformed = malformed_requests(config, agent)
    for kind in ("empty declared_scope", "forged agent_id"):
        yield Choice(malformed[kind])


def _messages(config: Config, agent: str) -> Iterator[Choice]:
    """Yield a role, a role under another agent's name, and two invalid messages."""
    other = next((name for name in config.agents if name != agent), "nobody")
    for draft in (Draft('{"role":0}'), Draft('{"role":1}', other), Draft("[0]"), Draft(Opaque("function"))):
        yield Choice(draft=draft)


def _run_configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    """Yield the layouts of `run`; each shows something that the others cannot.

    The free-agent layout; everything to every agent, with messages; all of it to the last agent alone, so that its exit
    orphans; WRITE to every agent under a veto that the last agent holds, and two artefacts made too late.
    """
    agents, keys = agent_names(scope["agents"]), key_names(scope["keys"])
    pairs = tuple((key, operation) for key in keys for operation in OPERATIONS)
    world = start_world(keys)
    epochs = scope["epochs"]
    yield Config(agents, world, free_layout(agents, keys), epochs=epochs, readings=readings)
    everyone = tuple(allow(number, agent, *pairs) for number, agent in enumerate(agents, start=1))
    yield Config(agents, world, everyone, communication=True, epochs=epochs, readings=readings)
    yield Config(agents, world, (allow(1, agents[-1], *pairs),), epochs=epochs, readings=readings)
    yield Config(agents, world, _vetoed_layout(agents, keys), epochs=epochs, readings=readings)


def _vetoed_layout(agents: tuple[str, ...], keys: tuple[str, ...]) -> tuple[Authority, ...]:
    """Return WRITE for every agent, a DENY of it on the first key held by the last agent, a late ALLOW and DENY."""
    writes = tuple((key, WRITE) for key in keys)
    count = len(agents)
    return (
        *(allow(number, agent, *writes) for number, agent in enumerate(agents, start=1)),
        deny(count + 1, (keys[0], WRITE), holder=agents[-1]),
        replace(allow(count + 2, agents[0], (keys[0], READ)), epoch=1),
        replace(deny(count + 3, (keys[-1], WRITE)), epoch=1),
    )


def _wants(config: Config, state: State) -> bool:
    return not ended(config, state)


def _progress(step: Step[Config, State, Epoch, Shown]) -> bool:
    return any(token == DONE for _, token in step.shown.tokens)


def _smaller(config: Config, start: State) -> Iterator[tuple[Config, State]]:
    """Yield one agent, key, artefact or epoch less, from the start state."""
    if start != initial(config)[0]:
        return
    if len(config.agents) > 1 and not config.strategies:
        yield from _started(replace(config, agents=config.agents[:-1]))
    if len(config.world) > 1:
        gone = config.keys[-1]
        kept = tuple(one for one in config.authorities if not any(one.governs(gone, op) for op in OPERATIONS))
        yield from _started(replace(config, world=config.world[:-1], authorities=kept))
    for one in config.authorities:
        yield from _started(replace(config, authorities=tuple(a for a in config.authorities if a != one)))
    if config.epochs is not None and config.epochs > 1:
        yield from _started(replace(config, epochs=config.epochs - 1))


def _started(config: Config) -> Iterator[tuple[Config, State]]:
    yield config, initial(config)[0]


def _allows(config: Config, state: State, action: Epoch) -> bool:
    """Return whether every agent in the run, and no other, chooses exactly once, while the run goes on.

    Any choice is allowed: a hostile request is on offer too.
    """
    return not ended(config, state) and sorted(agent for agent, _ in action.choices) == list(active(config, state))


def _unsaid(config: Config, _state: State, action: Epoch) -> bool:
    """No section says whether a message is JSON that repeats a key, nests deeply, or holds a number beyond all floats.

    FQ21 asks for JSON, and readers of JSON differ there.
    """
    drafts = (choice.draft for _, choice in action.choices if choice.draft is not None)
    said = (draft.content for draft in drafts if isinstance(draft.content, str))
    return config.communication and any(is_unsettled(one, config.readings.message_limit) for one in said)


RUN: System[Config, State, Epoch, Shown, Rules] = System(
    name="run",
    rules=REFERENCE,
    configs=_run_configs,
    initial=initial,
    step=step,
    joint=playing(_run_menu),
    scope=Scope(agents=2, keys=2, epochs=2),
    readings=Readings(),
    wants=_wants,
    progress=_progress,
    smaller=_smaller,
    allows=_allows,
    unsaid=_unsaid,
    types=TYPES,
    conclusion=conclude,
)
"""Free agents over a few epochs: four layouts, a menu with something of each sort."""

UNIVERSE: System[Config, State, Epoch, Shown, Rules] = replace(
    RUN,
    name="universe",
    configs=_universe_configs,
    joint=playing(_universe_menu),
    scope=Scope(agents=2, keys=2),
    quotients=(RENAMING,),
)
"""Every authority layout times every joint request, one epoch."""
