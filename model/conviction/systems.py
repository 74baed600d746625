"""The systems: one step function, bounded in several ways.

`run`: the constants of section 5, three agents and a fourth invited during the run, two Issues: too large to search,
so it is sampled.  `issue`: small numbers, so that searches finish: two agents unless a plan says otherwise.  `trio`:
three agents without READY, for outsiders and ties.  `series`: two Issues in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evenhand.core.records import replace
from evenhand.core.system import Fairness, Scope, System
from evenhand.model.conviction.menus import TEXTS, agents_of, hostile, offers
from evenhand.model.conviction.readings import Readings
from evenhand.model.conviction.refusals import feedback
from evenhand.model.conviction.rules import REFERENCE, Rules
from evenhand.model.conviction.step import initial, progress, smaller, step, wants
from evenhand.model.conviction.vocabulary import (
    CLOSED,
    IDLE,
    STRANGER,
    TYPES,
    Act,
    Config,
    Constants,
    Enrol,
    Feedback,
    Invite,
    Issue,
    Shown,
    State,
    Tick,
)

ConvictionSystem = System[Config, State, Act, Shown, Rules]


def _small(scope: Scope, readings: Readings) -> Iterator[Config]:
    """Yield one configuration of small numbers: feedback costs 1, at most one entry, saturation after 2 rounds.

    After the `agents` come `strangers`, not invited yet, and `outsiders`, assigned to no Issue.  `rounds` 0 means the
    number of the reading, `cap` 0 a maximum credit of 100.
    """
    agents = agents_of(scope["agents"] + scope["outsiders"] + scope["strangers"], granted=scope["budget"])
    inside = scope["agents"] + scope["strangers"]
    known = tuple(
        replace(agent, standing=STRANGER) if scope["agents"] <= place < inside else agent
        for place, agent in enumerate(agents)
    )
    assigned = tuple(agent.uid for agent in known[:inside])
    issues = tuple(Issue(f"issue_{n}", assigned, scope["cycles"]) for n in range(1, scope["issues"] + 1))
    constants = Constants(
        invite_payment=scope["budget"],
        maximum_credit=scope["cap"] or 100,
        self_stake=scope["stake"],
        think_ticks=scope["think"],
        penalty=scope["penalty"],
        feedback_stake=1,
        feedback_limit=1,
        feedback_length=1,
        saturation=2,
        stake_rounds=scope["rounds"],
    )
    yield Config(known, issues, constants, TEXTS[: scope["texts"]], readings=readings)


def _real(scope: Scope, readings: Readings) -> Iterator[Config]:
    """Yield the constants of section 5; the last agent is invited during the run, for the Issues after the first."""
    agents = agents_of(scope["agents"])
    late = replace(agents_of(scope["agents"] + 1)[-1], standing=STRANGER)
    early = tuple(agent.uid for agent in agents)
    issues = tuple(
        Issue(f"issue_{n}", (*early, late.uid) if n > 1 else early, scope["cycles"])
        for n in range(1, scope["issues"] + 1)
    )
    yield Config((*agents, late), issues, texts=TEXTS, amounts=(1, 25), readings=readings)


def _menu(config: Config, scope: Scope, state: State) -> Iterator[Act]:
    yield from offers(config, state, ready=bool(scope["ready"]))
    if scope["hostile"]:
        yield from hostile(config, state)


def _anything(_config: Config, _state: State, _action: Act) -> bool:
    """Any action may be submitted at any time."""
    return True


def _unsaid(config: Config, state: State, action: Act) -> bool:
    """No section says what opening an Issue without a field does (3.2).

    Nor does one say whether an agent takes part in an open Issue that names it if it enrols after that began (7.2), nor
    which of two reasons is given for refusing feedback to which both apply (11.4 to 11.6).
    """
    if state.phase == CLOSED:
        return False
    issue = config.issues[state.issue]
    if state.phase == IDLE:
        return ticks(state, action) and None in (issue.problem, issue.background)
    if isinstance(action, Feedback):
        return _refused_twice(config, state, action)
    late = isinstance(action, Enrol) and action.agent in issue.assigned
    return late and not step(REFERENCE, config, state, action)[1].rejected


def _refused_twice(config: Config, state: State, action: Feedback) -> bool:
    """Whether feedback that is too long, or beyond the limit, would be refused without that too."""
    reason, seat = step(REFERENCE, config, state, action)[1].rejected, state.seat(action.agent)
    if seat is None or reason not in ("FeedbackTooLong", "FeedbackLimitReached"):
        return False
    if reason == "FeedbackTooLong":
        return bool(feedback(config, state, seat, replace(action, comment="")))
    return bool(feedback(config, state, replace(seat, feedback=-1), action))


def _actor(action: Act) -> str:
    """The agent or administrator that acts; empty for a tick, which no agent causes."""
    match action:
        case Tick():
            return ""
        case Invite():
            return "administrator"
        case _:
            return action.agent


def ticks(_state: State, action: Act) -> bool:
    """Whether the action is a tick of the scheduler."""
    return isinstance(action, Tick) and action == Tick()


def _fair(_config: Config) -> dict[str, Fairness[State, Act]]:
    return {"ticks": Fairness("weak", ticks)}


def _system(
    name: str, configs: Callable[[Scope, Readings], Iterator[Config]], sizes: dict[str, int]
) -> ConvictionSystem:
    """A system of this protocol: the same start, step and vocabulary, other sizes."""
    return System(
        name=name,
        rules=REFERENCE,
        configs=configs,
        initial=initial,
        step=step,
        actions=_menu,
        scope=Scope(sizes),
        readings=Readings(),
        fair=_fair,
        wants=wants,
        progress=progress,
        smaller=smaller,
        allows=_anything,
        unsaid=_unsaid,
        types=TYPES,
        actor=_actor,
    )


_SIZES = {
    "agents": 2,
    "outsiders": 0,
    "strangers": 0,
    "issues": 1,
    "think": 1,
    "cycles": 0,
    "rounds": 2,
    "texts": 1,
    "budget": 3,
    "stake": 2,
    "cap": 0,
    "penalty": 1,
    "ready": 1,
    "hostile": 0,
}

RUN = _system("run", _real, {"agents": 3, "issues": 2, "cycles": 2, "ready": 1, "hostile": 0})
"""The constants of section 5."""

ISSUE = _system("issue", _small, _SIZES)
"""One Issue of small numbers."""

TRIO = _system("trio", _small, {**_SIZES, "agents": 3, "ready": 0, "texts": 0, "stake": 1, "budget": 1})
"""Three agents without READY."""

SERIES = _system("series", _small, {**_SIZES, "issues": 2, "budget": 3, "ready": 0})
"""Two Issues in a row, with shared balances."""

SYSTEMS = {system.name: system for system in (RUN, ISSUE, TRIO, SERIES)}
"""Every system by name, the main one first."""
