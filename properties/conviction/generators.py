"""The generators, coverage targets and events of this protocol's sampled runs.

Uniform drawing finalizes hardly any Issue and produces almost no tie.  So ticks and completion have rules of their own,
and so has each strategy of an agent: all-in, dust stakes, moving back and forth in the last round, many tiny revisions,
empty and equal texts; an agent that no rule picks is silent.  Hostile rules act before the first tick, after the last,
late by a tick, or under another's credential.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from evenhand.core.generator import Draw, Event, Generator, Rule, st
from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.conviction.menus import TEXTS, agents_of, hostile
from evenhand.model.conviction.readings import Readings
from evenhand.model.conviction.vocabulary import (
    ADMINISTRATOR,
    CLOSED,
    FEEDBACK,
    FINALIZE,
    IDLE,
    INVITED,
    PROPOSE,
    REVISE,
    STAKE,
    STRANGER,
    Act,
    AddStake,
    Agent,
    Config,
    Constants,
    Enrol,
    Feedback,
    Invite,
    Issue,
    MoveStake,
    Propose,
    Revise,
    Seat,
    SignalReady,
    State,
    Tick,
)
from evenhand.properties.conviction.predicates import OPEN, RunStep, accepted, done, events, finalizes, stakes_on
from evenhand.properties.conviction.winning import contested


@st.composite
def _made(draw: Any, scope: Scope, readings: Readings) -> Config:
    """Two to five agents, perhaps all of one name, one or two Issues, the constants of section 5 or small ones."""
    agents = agents_of(draw(st.integers(2, 5)))
    if draw(st.integers(0, 2)) == 0:
        agents = (*agents[:-1], replace(agents[-1], standing=STRANGER))
    small = draw(st.booleans())
    uids = tuple(agent.uid for agent in agents)
    count = draw(st.integers(1, scope["issues"]))
    issues = tuple(_issue(draw, number, uids, scope["cycles"]) for number in range(1, count + 1))
    c = Constants(
        think_ticks=draw(st.sampled_from((1, 1, 2, 3))),
        penalty=draw(st.sampled_from((0, 7, 70))),
        stake_rounds=draw(st.sampled_from((2, 3, 3, 5))),
        saturation=draw(st.sampled_from((1, 2, 3, 4, 5))),
        fraction=draw(st.sampled_from((Fraction(98, 100), Fraction(3, 4), Fraction(1, 2)))),
        greatest=draw(st.sampled_from((Fraction(2), Fraction(3), Fraction(1)))),
    )
    if small:
        c = replace(
            c,
            invite_payment=draw(st.sampled_from((12, 12, 7))),
            self_stake=5,
            feedback_stake=2,
            feedback_limit=1,
            feedback_length=3,
            penalty=1,
        )
    if draw(st.booleans()):
        agents = tuple(replace(agent, name=agents[0].name) for agent in agents)
    return Config(agents, issues, replace(c, maximum_credit=c.invite_payment - 1), TEXTS, (1, 2, 5), readings)


def _issue(draw: Any, number: int, uids: tuple[str, ...], cycles: int) -> Issue:
    assigned = uids if draw(st.booleans()) else uids[: max(2, len(uids) - 1)]
    problem = None if draw(st.integers(0, 19)) == 0 else "a decision is to be made"
    return Issue(f"issue_{number}", assigned, draw(st.integers(0, cycles)), problem)


# Rules.


def _inside(config: Config, state: State) -> list[Seat]:
    return [seat for seat in state.seats if seat.assigned and state.phase in OPEN]


def _active(config: Config, state: State) -> list[tuple[Agent, Seat]]:
    """The agents that may still act in this tick."""
    known = zip(config.agents, state.seats, strict=True)
    late = config.readings.act_after_ready == "allowed"
    return [(a, s) for a, s in known if s.assigned and state.phase in OPEN and (late or s.signal != "ready")]


def _one(draw: Draw, config: Config, state: State) -> tuple[Agent, Seat]:
    return draw(st.sampled_from(_active(config, state)))


def _tick(_draw: Draw, _config: Config, _scope: Scope, _state: State) -> Act:
    return Tick()


def _late(config: Config, state: State) -> list[Seat]:
    return [seat for seat in _inside(config, state) if not done(config, state, seat)]


def _complete(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    """The next agent that is not done takes the action that completes it."""
    seat = _late(config, state)[0]
    agent = config.agent(seat.agent)
    assert agent is not None
    if state.phase == PROPOSE:
        return Propose(agent.uid, agent.credential, draw(st.sampled_from((*config.texts, None))))
    return SignalReady(agent.uid, agent.credential)


def _propose(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, _ = _one(draw, config, state)
    return Propose(agent.uid, agent.credential, draw(st.sampled_from((*config.texts, None))))


def _feedback(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, _ = _one(draw, config, state)
    most = config.constants.feedback_length
    length = draw(st.sampled_from((0, 1, most, most + 1)))
    target = draw(st.sampled_from([one.uid for one in state.proposals]))
    return Feedback(agent.uid, agent.credential, target, "x" * length)


def _revise(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    """Any text; often one that differs a little from the last, or is equal to it."""
    agent, seat = _one(draw, config, state)
    own = state.proposal(seat.proposal)
    text = draw(st.sampled_from(config.texts))
    if own is not None and own.text is not None:
        match draw(st.sampled_from(("any", "same", "tiny"))):
            case "same":
                text = own.text
            case "tiny":
                text = replace(own.text, rationale=f"{own.text.rationale or ''} more"[-40:])
            case _:
                pass
    return Revise(agent.uid, agent.credential, text)


def _amount(draw: Draw, most: Any) -> Any:
    return draw(st.sampled_from((Fraction(1, 1_000), 1, Fraction(most, 2) or 1, most, most + 1)))


def _add(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, seat = _one(draw, config, state)
    target = draw(st.sampled_from([one.uid for one in state.proposals]))
    return AddStake(agent.uid, agent.credential, target, _amount(draw, seat.balance))


def _move(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    """Some of the stake, to anywhere; in the last round thereby often back and forth."""
    agent, _ = _one(draw, config, state)
    uids = [one.uid for one in state.proposals]
    mine = [(uid, amount) for (owner, uid), amount in sorted(stakes_on(state).items()) if owner == agent.uid]
    if not mine:
        return MoveStake(agent.uid, agent.credential, uids[0], uids[-1], 1)
    source, most = draw(st.sampled_from(mine))
    return MoveStake(agent.uid, agent.credential, source, draw(st.sampled_from(uids)), _amount(draw, most))


def _enter(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    pairs = zip(config.agents, state.seats, strict=True)
    agent, seat = draw(st.sampled_from([(a, s) for a, s in pairs if s.standing in (STRANGER, INVITED)]))
    return Invite(agent.uid, ADMINISTRATOR) if seat.standing == STRANGER else Enrol(agent.uid, agent.credential)


def _odd(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    return draw(st.sampled_from(tuple(hostile(config, state))))


def _stolen(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    agent, other = config.agents[0], config.agents[1]
    target = state.proposals[0].uid if state.proposals else agent.uid
    acts: tuple[Act, ...] = (
        SignalReady(agent.uid, other.credential),
        Propose(agent.uid, other.credential, None),
        AddStake(agent.uid, other.credential, target, 1),
        MoveStake(agent.uid, other.credential, target, other.uid, 1),
        Feedback(agent.uid, other.credential, target, "x"),
        Revise(agent.uid, other.credential, TEXTS[0]),
    )
    return draw(st.sampled_from(acts))


def _late_action(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    """An action of another phase: too early, too late, between two Issues or after the last."""
    agent = draw(st.sampled_from(config.agents))
    target = state.proposals[0].uid if state.proposals else agent.uid
    acts: tuple[Act, ...] = (
        SignalReady(agent.uid, agent.credential),
        Propose(agent.uid, agent.credential, TEXTS[0]),
        Feedback(agent.uid, agent.credential, target, "x"),
        Revise(agent.uid, agent.credential, TEXTS[1]),
        AddStake(agent.uid, agent.credential, target, 1),
    )
    return draw(st.sampled_from(acts))


def _unfriendly(draw: Draw, config: Config, scope: Scope, state: State) -> Act:
    """Any rejectable action, another's credential, or an action of another phase."""
    return draw(st.sampled_from((_odd, _odd, _stolen, _late_action)))(draw, config, scope, state)


def _in(*phases: str) -> Callable[[Config, State], bool]:
    """Whether an agent may act in one of these phases and there is something to act on."""

    def possible(config: Config, state: State) -> bool:
        there = bool(state.proposals) or state.phase == PROPOSE
        return state.phase in phases and there and bool(_active(config, state))

    return possible


def _in_round(config: Config, state: State) -> bool:
    return _in(STAKE)(config, state) and state.turn > 1


_RULES = (
    Rule("tick", _tick, lambda _config, state: state.phase != CLOSED),
    Rule("tick again", _tick, lambda _config, state: state.phase in (IDLE, FINALIZE)),
    Rule("tick when all are done", _tick, lambda config, state: state.phase in OPEN and not _late(config, state)),
    Rule("complete", _complete, lambda config, state: bool(_late(config, state))),
    Rule("complete too", _complete, lambda config, state: bool(_late(config, state)) and state.phase != STAKE),
    Rule("enter", _enter, lambda _config, state: any(s.standing in (STRANGER, INVITED) for s in state.seats)),
    Rule("propose", _propose, _in(PROPOSE)),
    Rule("give feedback", _feedback, _in(FEEDBACK)),
    Rule("revise", _revise, _in(REVISE)),
    Rule("add stake", _add, _in_round),
    Rule("move stake", _move, _in_round),
    Rule("move stake too", _move, _in_round),
    Rule("send what no agent would", _unfriendly, hostile=True),
)


# Events.


def _rejected(name: str) -> Callable[[RunStep], bool]:
    return lambda step: step.shown.rejected == name


_SEEN = (
    Event("an Issue is finalized", finalizes, 60),
    Event("two proposals tie", contested, 20),
    Event("a revision taps", lambda step: any(events(step.shown, "Withdrawn")), 5),
    Event("stake is moved", lambda step: accepted(step, MoveStake), 100),
    Event("stake is added", lambda step: accepted(step, AddStake), 60),
    Event("somebody is kicked out", lambda step: any(events(step.shown, "KickOut")), 200),
    Event("an agent is invited", lambda step: accepted(step, Invite), 10),
    *(
        Event(name, _rejected(name), floor)
        for name, floor in (
            ("InvalidCredential", 60),
            ("UnknownAgent", 5),
            ("AlreadyInvited", 3),
            ("AlreadyEnrolled", 20),
            ("NotEnrolled", 5),
            ("NoOpenIssue", 50),
            ("NotAssigned", 5),
            ("WrongPhase", 100),
            ("AlreadyReady", 20),
            ("PayloadRequired", 2),
            ("SecondProposal", 10),
            ("MissingField", 2),
            ("UnknownProposal", 5),
            ("OwnProposal", 10),
            ("CanonicalProposal", 10),
            ("FeedbackTooLong", 5),
            ("FeedbackLimitReached", 2),
            ("InsufficientCredit", 20),
            ("InvalidAmount", 5),
            ("SameProposal", 20),
            ("InsufficientStake", 20),
        )
    ),
)

GENERATORS: tuple[Generator, ...] = (Generator("run", _made, _RULES, _SEEN),)
"""Only `run` is sampled; the small systems are searched."""
