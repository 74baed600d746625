"""The generators, coverage targets and events of sampled runs, beyond every scope that is searched.

Guards get up to four agents, two resources and a TTL of two seconds; the space up to eight marks and odd ages;
strengths ages that lie off the grid, so that decays are irrational.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from evenhand.core.generator import Draw, Event, Generator, Rule, st
from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.markspace.guard_vocabulary import Act, Config, GuardStep, Phase, Policy, State, Verdict, What
from evenhand.model.markspace.marks import (
    PRINCIPAL,
    Agent,
    Ask,
    Decide,
    Draft,
    Kind,
    Needs,
    Read,
    Resolve,
    ScopeDef,
    Source,
    Space,
    SpaceConfig,
    SpaceStep,
    Tick,
    Visibility,
    Write,
)
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.signals_vocabulary import Against, Combine, Measure, SignalConfig, Still
from evenhand.model.markspace.strength import Lives
from evenhand.properties.markspace.predicates import allowed_agents, running_on


def _guards(policy: Policy, *, deferred: bool = False) -> Any:
    def configs(_scope: Scope, readings: Readings) -> st.SearchStrategy[Config]:
        def config(agents: int, resources: int, ttl: int) -> Config:
            people = tuple(f"agent_{n}" for n in range(1, agents + 1))
            rooms = tuple(f"room_{n}" for n in range(1, resources + 1))
            return Config(people, rooms, policy, ttl, readings, deferred=deferred)

        return st.builds(config, st.integers(2, 4), st.integers(1, 2), st.integers(1, 2))

    return configs


def _in(phase: Phase) -> Any:
    def some(_config: Config, state: State) -> bool:
        return any(doing.phase is phase for doing in state.doing)

    return some


def _some(draw: Draw, config: Config, state: State, phase: Phase) -> tuple[str, str]:
    pairs = zip(config.agents, state.doing, strict=True)
    return draw(st.sampled_from([(agent, doing.resource) for agent, doing in pairs if doing.phase is phase]))


def _ask(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, _ = _some(draw, config, state, Phase.IDLE)
    level = draw(st.integers(0, 1))
    return Act(What.PRE, agent, draw(st.sampled_from(config.resources)), level)


def _contest(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    """Ask for a resource that another agent wants already."""
    agent, _ = _some(draw, config, state, Phase.IDLE)
    wanted = [intent.resource for intent in state.intents if intent.agent != agent] or list(config.resources)
    return Act(What.PRE, agent, draw(st.sampled_from(wanted)), draw(st.integers(0, 1)))


def _beside(_config: Config, state: State) -> bool:
    phases = {doing.phase for doing in state.doing}
    return {Phase.IDLE, Phase.RUNNING} <= phases


def _ask_beside(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, _ = _some(draw, config, state, Phase.IDLE)
    _, resource = _some(draw, config, state, Phase.RUNNING)
    return Act(What.PRE, agent, resource, draw(st.integers(0, 1)))


def _claimed(config: Config, state: State) -> bool:
    return any(state.claims) and any(doing.phase is Phase.IDLE for doing in state.doing)


def _ask_claimed(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, _ = _some(draw, config, state, Phase.IDLE)
    pairs = zip(config.resources, state.claims, strict=True)
    return Act(What.PRE, agent, draw(st.sampled_from([resource for resource, claim in pairs if claim])))


def _call(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, resource = _some(draw, config, state, Phase.ALLOWED)
    return Act(What.CALL, agent, resource)


def _abandon(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, resource = _some(draw, config, state, Phase.ALLOWED)
    return Act(What.ABANDON, agent, resource)


def _post(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, resource = _some(draw, config, state, Phase.RUNNING)
    return Act(What.POST, agent, resource, failed=draw(st.booleans()))


def _record(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    """Record a tool call that succeeded, which claims a resource."""
    agent, resource = _some(draw, config, state, Phase.RUNNING)
    return Act(What.POST, agent, resource)


def _boundary(draw: Draw, _config: Config, _scope: Scope, state: State) -> Act:
    return Act(What.BOUNDARY, resource=draw(st.sampled_from([intent.resource for intent in state.intents])))


def _second(_draw: Draw, _config: Config, _scope: Scope, _state: State) -> Act:
    return Act(What.TICK)


def _out_of_turn(draw: Draw, config: Config, _scope: Scope, _state: State) -> Act:
    """A stranger's request, or a call or report that nothing allowed.

    No section says which resources there are, or what a busy agent may ask.
    """
    who = draw(st.sampled_from((*config.agents, "stranger", "nobody")))
    what = draw(st.sampled_from((What.CALL, What.ABANDON, What.POST))) if who in config.agents else What.PRE
    return Act(what, who, draw(st.sampled_from(config.resources)), draw(st.integers(0, 1)), failed=draw(st.booleans()))


_GUARD_RULES = (
    Rule("ask", _ask, _in(Phase.IDLE)),
    Rule("contest", _contest, _in(Phase.IDLE)),
    Rule("call", _call, _in(Phase.ALLOWED)),
    Rule("abandon", _abandon, _in(Phase.ALLOWED)),
    Rule("report", _post, _in(Phase.RUNNING)),
    Rule("a second", _second),
    Rule("a second under a running tool", _second, _in(Phase.RUNNING)),
    Rule("ask while a tool runs", _ask_beside, _beside),
    Rule("ask for what is claimed", _ask_claimed, _claimed),
    Rule("out of turn", _out_of_turn, hostile=True),
)
_BATCHES = (
    Rule("boundary", _boundary, lambda config, state: config.deferred and bool(state.intents)),
    Rule("record", _record, _in(Phase.RUNNING)),
    Rule("call at once", _call, _in(Phase.ALLOWED)),
)
"""Extra rules under deferral, where runs to a claim are longer because only boundaries allow."""


def _overlap(step: GuardStep) -> bool:
    config = step.config
    return any(len(running_on(config, step.after, resource)) > 1 for resource in config.resources)


_GUARD_EVENTS = (
    Event("a request is allowed", lambda step: bool(allowed_agents(step)), 100),
    Event("a request is in conflict", lambda step: step.shown.verdict is Verdict.CONFLICT, 40),
    Event("an action is recorded", lambda step: step.shown.note == "done", 20),
    Event("two tools run on one resource", _overlap, 5),
)

_BATCH_EVENTS = (
    Event("a batch is resolved", lambda step: len(step.shown.told) > 1, 40),
    Event("a batch has a winner", lambda step: bool(allowed_agents(step)), 100),
    Event("a request meets a claim", lambda step: step.shown.verdict is Verdict.CONFLICT, 40),
    Event("an action is recorded", lambda step: step.shown.note == "done", 20),
    Event("two tools run on one resource", _overlap, 5),
)


# The space.


def _organisations(_scope: Scope, readings: Readings) -> st.SearchStrategy[SpaceConfig]:
    every = tuple(Kind)

    def build(a: Visibility, child: Visibility | None, policy: Policy, halves: tuple[int, int, int]) -> SpaceConfig:
        def scope(name: str, visibility: Visibility, topics: tuple[str, ...] = ("*",)) -> ScopeDef:
            first, second, ttl = halves
            usual = ScopeDef(name, visibility, topics=topics, policy=policy)
            return replace(usual, observation_half_life=first, warning_half_life=second, intent_ttl=ttl)

        scopes = [scope("a", a), scope("c", Visibility.OPEN, ("x", "y"))]
        if child is not None:
            scopes.append(scope("a/b", child))
        agents = (
            Agent("alice", frozenset(("a", kind) for kind in every), frozenset({"a"})),
            Agent("bob", frozenset(("c", kind) for kind in every), frozenset({"c"})),
            Agent("carol", frozenset(("a/b", kind) for kind in every), frozenset()),
            Agent(PRINCIPAL, frozenset((scope, kind) for scope in ("a", "c") for kind in every), frozenset({"a", "c"})),
        )
        return SpaceConfig(agents, tuple(scopes), readings, hooks=("count", "failing"), capacity=8, horizon=9)

    return st.builds(
        build,
        st.sampled_from(Visibility),
        st.sampled_from((None, *Visibility)),
        st.sampled_from(Policy),
        st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
    )


WRITERS = (("alice", "a"), ("alice", "a/b"), ("bob", "c"), ("carol", "a/b"))
_VERBS = {Kind.INTENT: "book", Kind.ACTION: "booked"}


def _next(space: Space) -> int:
    return max((mark.id for mark in space.marks), default=0) + 1


def _room(config: SpaceConfig, space: Space) -> bool:
    return len(space.marks) < config.capacity


def _plain_mark(draw: Draw, _config: SpaceConfig, _scope: Scope, space: Space) -> Write:
    agent, scope = draw(st.sampled_from(WRITERS))
    kind = draw(st.sampled_from(tuple(Kind)))
    strength = draw(st.sampled_from((Fraction(1), Fraction(1, 3), Fraction(1, 50), Fraction(5, 2))))
    return Write(
        agent,
        Draft(
            kind,
            scope,
            draw(st.sampled_from(("x", "y"))),
            _VERBS.get(kind, ""),
            strength,
            draw(st.sampled_from((Fraction(0), Fraction(1, 2), Fraction(1)))),
            draw(st.sampled_from(tuple(Source))),
            failed=draw(st.booleans()),
            blocking=draw(st.booleans()),
        ),
        _next(space),
    )


def _reference(draw: Draw, _config: SpaceConfig, _scope: Scope, space: Space) -> Write:
    agent, scope = draw(st.sampled_from(WRITERS))
    target = draw(st.sampled_from(space.marks)).id
    if draw(st.booleans()):
        return Write(agent, Draft(Kind.WARNING, scope, "y", invalidates=target), _next(space))
    return Write(agent, Draft(Kind.OBSERVATION, scope, "y", supersedes=target), _next(space))


def _outlaw(draw: Draw, _config: SpaceConfig, _scope: Scope, space: Space) -> Write:
    who = draw(st.sampled_from(("alice", "bob", "carol", "nobody")))
    where = draw(st.sampled_from(("a", "a/b", "a/b/d", "c", "ab", "a//b", "", "unheard/of")))
    strength = draw(st.sampled_from((Fraction(1), Fraction(0), Fraction(-1))))
    confidence = draw(st.sampled_from((Fraction(1), Fraction(2), Fraction(-1))))
    kind = draw(st.sampled_from(tuple(Kind)))
    return Write(who, Draft(kind, where, "z", "book", strength, confidence), _next(space))


def _contend(draw: Draw, _config: SpaceConfig, _scope: Scope, space: Space) -> Write:
    """An intent of either of two agents on one resource."""
    agent = draw(st.sampled_from(("alice", "carol")))
    confidence = draw(st.sampled_from((Fraction(1, 2), Fraction(1))))
    return Write(agent, Draft(Kind.INTENT, "a/b", verb="book", confidence=confidence), _next(space))


def _conclude(draw: Draw, _config: SpaceConfig, _scope: Scope, _space: Space) -> Decide:
    return Decide(draw(st.sampled_from((None, "alice", "bob", "carol"))), "a/b")


def _contended(_config: SpaceConfig, space: Space) -> bool:
    return sum(mark.draft.kind is Kind.INTENT and mark.draft.scope == "a/b" for mark in space.marks) > 1


def _look(draw: Draw, _config: SpaceConfig, _scope: Scope, _space: Space) -> Any:
    reader = draw(st.sampled_from((None, "alice", "bob", "carol", "nobody")))
    place = draw(st.sampled_from(("a", "a/b", "c")))
    match draw(st.integers(0, 5)):
        case 0:
            return Decide(reader, place)
        case 1:
            return Ask(reader or "alice", place)
        case 2:
            return Needs(reader or "bob")
        case _:
            return Read(reader, place)


def _answer(draw: Draw, _config: SpaceConfig, _scope: Scope, space: Space) -> Resolve:
    needs = [mark.id for mark in space.marks if mark.draft.kind is Kind.NEED]
    acts = [mark.id for mark in space.marks if mark.draft.kind is Kind.ACTION]
    return Resolve(draw(st.sampled_from(needs)), draw(st.sampled_from(acts)), _next(space))


def _answerable(config: SpaceConfig, space: Space) -> bool:
    kinds = {mark.draft.kind for mark in space.marks}
    return _room(config, space) and {Kind.NEED, Kind.ACTION} <= kinds


def _pass(draw: Draw, _config: SpaceConfig, _scope: Scope, _space: Space) -> Tick:
    return Tick(draw(st.integers(1, 3)))


_SPACE_RULES = (
    Rule("write", _plain_mark, _room),
    Rule("refer", _reference, lambda config, space: _room(config, space) and bool(space.marks)),
    Rule("contend", _contend, _room),
    Rule("conclude", _conclude, _contended),
    Rule("look", _look),
    Rule("look again", _look, lambda _config, space: bool(space.marks)),
    Rule("answer a need", _answer, _answerable),
    Rule("seconds", _pass),
    Rule("against the law", _outlaw, _room, hostile=True),
)


def _chained(step: SpaceStep) -> bool:
    """Whether a write leaves a mark that supersedes a superseding one."""
    marks = {mark.id: mark for mark in step.after.marks}
    over = [m.draft.supersedes for m in step.after.marks]
    return isinstance(step.action, Write) and any(
        one is not None and one in marks and marks[one].draft.supersedes in marks for one in over
    )


_SPACE_EVENTS = (
    Event("a mark is stored", lambda step: step.shown.stored is not None, 200),
    Event("a write is refused", lambda step: isinstance(step.action, Write) and bool(step.shown.refused), 40),
    Event("a projection is read", lambda step: any(seen.projected for seen in step.shown.seen or ()), 10),
    Event("a need is resolved", lambda step: isinstance(step.action, Resolve) and not step.shown.refused, 5),
    Event("marks are superseded in a chain", _chained, 3),
    Event(
        "a strength is irrational",
        lambda step: any(seen.strength.rational is None for seen in step.shown.seen or ()),
        20,
    ),
)


# Strengths.


def _deployments(_scope: Scope, readings: Readings) -> st.SearchStrategy[SignalConfig]:
    third = st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10)
    weights = st.tuples(st.integers(1, 4), st.integers(1, 4)).map(
        lambda gaps: (Fraction(1), Fraction(10 - gaps[0], 10), Fraction(10 - gaps[0] - gaps[1], 10))
    )
    caps = st.fractions(Fraction(1, 2), Fraction(4), max_denominator=4)
    lives = st.builds(Lives, st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))

    def config(w: tuple[Fraction, Fraction, Fraction], factor: Fraction, cap: Fraction, life: Lives) -> SignalConfig:
        return SignalConfig(w, factor, cap, life, readings)

    return st.builds(config, weights, third, caps, lives)


def _strengths() -> st.SearchStrategy[Fraction]:
    return st.fractions(Fraction(0), Fraction(3), max_denominator=7)


def _measure(draw: Draw, _config: SignalConfig, _scope: Scope, _state: Still) -> Measure:
    ages, source = st.integers(0, 40), st.sampled_from(tuple(Source))
    against = st.builds(Against, _strengths(), ages, source)
    return Measure(
        draw(st.sampled_from(tuple(Kind))),
        draw(_strengths()),
        draw(source),
        draw(ages),
        draw(ages),
        draw(st.booleans()),
        tuple(draw(st.lists(against, max_size=3))),
    )


def _combine(draw: Draw, _config: SignalConfig, _scope: Scope, _state: Still) -> Combine:
    if draw(st.booleans()):
        one = draw(_strengths())
        return Combine((one,) * draw(st.integers(1, 5)), one)
    return Combine(tuple(draw(st.lists(_strengths(), max_size=5))), draw(_strengths()))


GENERATORS: tuple[Generator, ...] = (
    Generator("first_writer", _guards(Policy.FIRST_WRITER), _GUARD_RULES, _GUARD_EVENTS),
    Generator(
        "deferred",
        _guards(Policy.HIGHEST_CONFIDENCE, deferred=True),
        (*_GUARD_RULES, *_BATCHES),
        _BATCH_EVENTS,
    ),
    Generator("space", _organisations, _SPACE_RULES, _SPACE_EVENTS),
    Generator(
        "signals",
        _deployments,
        (Rule("measure", _measure), Rule("combine", _combine)),
        (
            Event(
                "a strength is irrational",
                lambda step: isinstance(step.action, Measure) and step.shown.reduced[0].rational is None,
                100,
            ),
            Event("an aggregate is capped", lambda step: step.shown.aggregate[1].rational == step.config.cap, 20),
        ),
    ),
)
"""One generator for each sampled system."""
