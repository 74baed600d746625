"""The free-agent graph: agents without strategies over a small world, for liveness and for benchmarks.

The kernel is the same; the state is reduced to the value of each key, the last token of each agent (`NONE` before
the first epoch, `EXITED` for ever after exit), and the livelock counter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from evenhand.core.atoms import Atom
from evenhand.core.freedom import free
from evenhand.core.parts import part
from evenhand.core.records import dataclass, replace
from evenhand.core.system import Fairness, Joint, Quotient, Scope, Separated, Step, System
from evenhand.model.cud.kernel import (
    ADMITTED,
    PASS_ONE,
    PASS_TWO,
    REFERENCE,
    SCOPE_VIOLATION,
    Bound,
    Execution,
    Finding,
    Happened,
    Moment,
    Rules,
)
from evenhand.model.cud.layouts import agent_names, free_layout, key_names, start_world
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.renaming import Renaming, rename_action, rename_config, rename_world
from evenhand.model.cud.step import Judged, changes, judge, merge
from evenhand.model.cud.strategies import covering
from evenhand.model.cud.vocabulary import (
    DONE,
    NO_CHOICE,
    READ,
    TYPES,
    WRITE,
    AgentState,
    Authority,
    Choice,
    Config,
    Effect,
    Epoch,
    Request,
    State,
    World,
)

NONE, EXITED = "NONE", "EXITED"


@dataclass(frozen=True, slots=True)
class FreeState:
    """World, one mark per agent (`NONE`, a token, `EXITED`), livelock counter 0 to 3."""

    world: World = field(metadata=free("orders"))
    marks: tuple[str, ...]
    counter: int = 0


@dataclass(frozen=True, slots=True)
class FreeShown:
    """The observation of an epoch of free agents: tokens by agent, the structural diff, and the livelock facts.

    An agent in the run that is not among the choices gets NO_ACTION.
    """

    tokens: tuple[tuple[str, str], ...] = field(metadata=free("orders"))
    effects: tuple[Effect, ...] = field(metadata={**free("orders"), **part("effect")})
    happened: Happened = field(metadata=part("label"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """An adjudicated epoch, reduced so that equal verdicts have equal effects.

    `marks` are (agent, token) with exits as `EXITED`; `admitted` are the requests to execute, in the order of
    submission; the three flags are those of `Happened` that do not depend on the world.
    """

    marks: tuple[tuple[str, str], ...]
    admitted: tuple[Bound, ...]
    attempted: bool
    refused: bool
    collided: bool


def configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    """Yield the one configuration of the page: `free_layout`, every key 0, no end."""
    agents, keys = agent_names(scope["agents"]), key_names(scope["keys"])
    if scope["values"] < 1:
        raise ValueError("values must be 1 or more")
    yield Config(agents, start_world(keys, Atom("int", "0")), free_layout(agents, keys), readings=readings)


def initial(config: Config) -> tuple[FreeState, ...]:
    """Return the one initial state: all keys 0, all agents active, nothing seen yet."""
    return (FreeState(config.world, (NONE,) * len(config.agents)),)


def agents(config: Config, state: FreeState) -> tuple[str, ...]:
    """Return the agents that have not exited."""
    return tuple(name for name, mark in zip(config.agents, state.marks, strict=True) if mark != EXITED)


def choices(config: Config, scope: Scope, _state: FreeState, agent: str) -> Iterator[Choice]:
    """Yield NO_ACTION, READ(key), WRITE(key, value), EXIT; each request cites every ALLOW that covers it."""
    yield NO_CHOICE
    for key in config.keys:
        yield Choice(Request(READ, (key,), (), covering(config.authorities, agent, (key,), READ)))
    for key in config.keys:
        for value in range(scope["values"]):
            delta = ((key, Atom("int", str(value))),)
            yield Choice(Request(WRITE, (key,), delta, covering(config.authorities, agent, (key,), WRITE)))
    yield Choice(exits=True)


def join(_config: Config, _state: FreeState, picked: tuple[tuple[str, Choice], ...]) -> Epoch:
    """Return the joint action of these choices."""
    return Epoch(picked)


def split(action: Epoch) -> tuple[tuple[str, Choice], ...]:
    """Return the choices of a joint action."""
    return action.choices


def reads(rules: Rules, config: Config, state: FreeState) -> Moment:
    """Return the facts that adjudication may know: agents in the run, and the result of `Rules.history`."""
    here = agents(config, state)
    as_state = State(state.world, tuple(AgentState(mark != EXITED, mark) for mark in state.marks))
    return Moment(here, None, rules.history(config, as_state))


def verdict(rules: Rules, config: Config, now: Moment, made: tuple[tuple[str, Judged], ...]) -> Verdict:
    """Run pass 2, reduced to its effects."""
    judged = merge(rules, config, now, made).judged
    findings = [one.finding for _, one in judged if one.finding is not None]
    passed = [finding for finding in findings if finding.verdict in (ADMITTED, PASS_TWO) and not finding.fault]
    return Verdict(
        tuple([(agent, EXITED if one.exits else rules.token(one.finding)) for agent, one in judged]),
        tuple([finding.bound for finding in passed if finding.verdict == ADMITTED]),
        attempted=bool(findings),
        refused=any(finding.verdict == PASS_ONE for finding in findings),
        collided=any(finding.verdict == PASS_TWO for finding in passed),
    )


def apply(rules: Rules, config: Config, state: FreeState, found: Verdict) -> tuple[FreeState, FreeShown]:
    """Execute, and count; who changes what was not declared is told the fault, as in a whole epoch."""
    execution = rules.execute(config, state.world, found.admitted) if found.admitted else Execution(state.world)
    world = execution.world
    effects = changes(state.world, world) if found.admitted else ()
    happened = Happened(found.attempted, found.refused, found.collided, bool(effects))
    marks = dict(found.marks)
    if execution.violators:
        strayed = [bound for bound in found.admitted if bound.agent in execution.violators]
        marks |= {one.agent: rules.token(Finding(one, ADMITTED, SCOPE_VIOLATION)) for one in strayed}
    after = FreeState(
        world if effects else state.world,
        tuple([marks.get(name, mark) for name, mark in zip(config.agents, state.marks, strict=True)]),
        rules.count(config, state.counter, happened),
    )
    return after, FreeShown(tuple(sorted(marks.items())), effects, happened)


def step(rules: Rules, config: Config, state: FreeState, action: Epoch) -> tuple[FreeState, FreeShown]:
    """Run one epoch of the free agents; choices of agents that left are ignored, who makes none proposes None (FQ5)."""
    now = reads(rules, config, state)
    first: dict[str, Choice] = {}
    for agent, choice in (*action.choices, *((name, NO_CHOICE) for name in now.active)):
        if agent in now.active:
            first.setdefault(agent, choice)
    if not first:
        return state, FreeShown((), (), Happened(False, False, False, False))
    made = tuple((agent, judge(rules, config, now, agent, choice)) for agent, choice in first.items())
    return apply(rules, config, state, verdict(rules, config, now, made))


def fair(config: Config) -> Mapping[str, Fairness[FreeState, Epoch]]:
    """Return `<agent> submits` for each agent: while in the run it submits something again and again."""

    def submits(name: str) -> Fairness[FreeState, Epoch]:
        return Fairness(
            "weak",
            lambda _state, action: any(agent == name and choice.request for agent, choice in action.choices),
        )

    return {f"{name} submits": submits(name) for name in config.agents}


def wants(config: Config, state: FreeState) -> bool:
    """Return whether an agent is left that could act."""
    return bool(agents(config, state))


def progress(step: Step[Config, FreeState, Epoch, FreeShown]) -> bool:
    """Return whether something was executed."""
    return any(token == DONE for _, token in step.shown.tokens)


def allows(config: Config, state: FreeState, action: Epoch) -> bool:
    """Return whether every active agent, and no other, chooses once."""
    return tuple(agent for agent, _ in action.choices) == agents(config, state)


def smaller(config: Config, _start: FreeState) -> Iterable[tuple[Config, FreeState]]:
    """Yield one agent less, as long as there are two."""
    if len(config.agents) > 1:
        less = Config(
            config.agents[:-1],
            config.world,
            tuple(a for a in config.authorities if a.holder_agent_id != config.agents[-1]),
            readings=config.readings,
        )
        yield less, initial(less)[0]


def rename_free_state(w: Renaming, config: Config, state: FreeState) -> FreeState:
    """Return the state under new names; `config` is the one with the old names."""
    marks = dict(zip((w.agent(name) for name in config.agents), state.marks, strict=True))
    return FreeState(rename_world(w, state.world), tuple(marks[name] for name in sorted(marks)), state.counter)


def rename_free_shown(w: Renaming, shown: FreeShown) -> FreeShown:
    """Return the observation under new names, sorted again."""
    tokens = tuple(sorted((w.agent(name), token) for name, token in shown.tokens))
    effects = sorted((Effect(w.key(one.key), one.before, one.after) for one in shown.effects), key=lambda one: one.key)
    return FreeShown(tokens, tuple(effects), shown.happened)


def _rename_free_action(w: Renaming, _config: Config, action: Epoch) -> Epoch:
    """Return the joint action under new names, in the order in which it is on offer."""
    return Epoch(tuple(sorted(rename_action(w, action).choices, key=lambda made: made[0])))


def _rename_free_config(w: Renaming, config: Config) -> Config:
    """Return the configuration under new names, with each artefact's scope in the order of names, as in layouts."""
    image = rename_config(w, config)
    return replace(image, authorities=tuple(replace(one, scope=tuple(sorted(one.scope))) for one in image.authorities))


def _following(config: Config, plain: Renaming) -> Renaming:
    """Return the renaming with new ids for the artefacts whose image is an artefact too."""

    def content(one: Authority) -> tuple[object, ...]:
        return one.commitment, one.holder_agent_id, one.scope, one.issuer_agent_id, one.epoch

    ids = {content(one): one.authority_id for one in _rename_free_config(_SAME, config).authorities}
    alone = (replace(config, authorities=(one,)) for one in config.authorities)
    images = (_rename_free_config(plain, one).authorities[0] for one in alone)
    return replace(
        plain, authorities=tuple((one.authority_id, ids.get(content(one), one.authority_id)) for one in images)
    )


def _swap(config: Config, one: str, other: str) -> Renaming:
    pairs = ((one, other), (other, one))
    return _following(config, Renaming(pairs, ()) if one in config.agents else Renaming((), pairs))


def _renamings(config: Config) -> Iterator[Renaming]:
    """Yield every permutation of agents times every permutation of keys, the identity first."""
    for agents in itertools.permutations(config.agents):
        for keys in itertools.permutations(config.keys):
            plain = Renaming(tuple(zip(config.agents, agents, strict=True)), tuple(zip(config.keys, keys, strict=True)))
            yield _following(config, plain)


_SAME = Renaming((), ())

FREE_RENAMING: Quotient[Config, FreeState, Epoch, Renaming] = Quotient(
    "renaming",
    _renamings,
    _rename_free_config,
    rename_free_state,
    _rename_free_action,
    families=lambda config: (config.agents, config.keys),
    swap=_swap,
)
"""Agents and keys renamed; only agents and keys that the layout treats alike leave the configuration as it is."""

FREE: System[Config, FreeState, Epoch, FreeShown, Rules] = System(
    name="free",
    rules=REFERENCE,
    configs=configs,
    initial=initial,
    step=step,
    joint=Joint(agents, choices, join, split),
    scope=Scope(agents=2, keys=2, values=2),
    readings=Readings(),
    separated=Separated(reads, judge, verdict, apply),
    fair=fair,
    wants=wants,
    progress=progress,
    smaller=smaller,
    allows=allows,
    quotients=(FREE_RENAMING,),
    types=(*TYPES, FreeState, FreeShown, Happened),
)
"""Agents without strategies in runs without end: their tokens, the world, and the counter of livelocked epochs."""
