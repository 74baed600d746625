"""Classification: every run ends in exactly one terminal class, and a correct kernel passes.

The classifier is the one part of the model that a claim may call, because the text defines the classes by it.  The
terminal class is computed here a second time, from the claims' own predicates; the two must agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from evenhand.core.property import Monitor
from evenhand.model.cud.classify import PASS, TERMINAL_CLASSES, Tally, breaches, finish, start, update
from evenhand.model.cud.vocabulary import FAILURE, Config
from evenhand.properties.cud.liveness import LIVELOCK_EPOCHS
from evenhand.properties.cud.predicates import RunStep, active_agents, facts, is_over, may_act, orphans


class Course(NamedTuple):
    """The run so far in the claims' own predicates, and the classifier's tally.

    `able` are the agents of which some request passed pass 1.  `pressed`: the last epoch had no admissible request and
    counts (an agent submitted, or silence counts); `present` are the agents in the run then.  `streak` counts epochs
    towards livelock, `livelocked` latches.  `over`: no epoch follows.
    """

    tally: Tally
    able: tuple[str, ...] = ()
    pressed: bool = False
    present: tuple[str, ...] = ()
    streak: int = 0
    livelocked: bool = False
    left: tuple[str, ...] = ()
    orphaned: bool = False
    executed: bool = False
    over: bool = False


def _follow(value: Course, step: RunStep) -> Course:
    config = step.config
    tally = update(value.tally, step)
    if is_over(config, step.before):
        return value._replace(tally=tally)
    known = facts(step)
    passing = [ask.agent for ask in known.asks if ask.standing.passes]
    unchanged = step.before.world == step.after.world or config.readings.livelock_rule == "collisions_alone"
    if config.readings.livelock_rule == "unchanged_state":
        counts = unchanged and bool(known.asks)
    else:
        counts = unchanged and any([known.tokens.get(agent) == FAILURE for agent in passing])
    streak = min(LIVELOCK_EPOCHS, value.streak + 1) if counts else 0
    return Course(
        tally=tally,
        able=tuple(sorted({*value.able, *passing})),
        pressed=not passing and (bool(known.asks) or config.readings.silent_epoch == "deadlock"),
        present=active_agents(config, step.before),
        streak=streak,
        livelocked=value.livelocked or streak >= LIVELOCK_EPOCHS,
        left=active_agents(config, step.after),
        orphaned=bool(orphans(config, step.after)),
        executed=value.executed or bool(known.done),
        over=is_over(config, step.after),
    )


def _deadlocked(config: Config, value: Course) -> bool:
    """Whether the last epoch was a deadlock; the run is over, so all its requests are known."""
    if not value.pressed:
        return False
    space = config.readings.deadlock_space
    if space == "this_epoch_only":
        return True
    if space == "strategies_of_run" and config.strategies:
        return not any(agent in value.able for agent in value.present)
    return not may_act(config, value.present)


def _terminal(config: Config, value: Course) -> str:
    """The terminal class by the text: the first that holds under the reading `terminal_precedence`."""
    holds = {
        "collapse": not value.left,
        "orphaning": value.orphaned,
        "deadlock": _deadlocked(config, value),
        "livelock": value.livelocked,
    }
    names = {
        "collapse": "COLLAPSE",
        "orphaning": "ORPHANING",
        "deadlock": "STATE_DEADLOCK",
        "livelock": "STATE_LIVELOCK",
    }
    for word in config.readings.terminal_precedence.split("_"):
        if holds[word]:
            return names[word]
    coordinated = value.executed and config.readings.end_at_max == "coordinated_if_any_executed"
    return "COORDINATED" if coordinated else "INVALID_RUN/NONTERMINATING_CONDITION"


def _one_class(config: Config, value: Course) -> bool:
    terminal = finish(config, value.tally).terminal
    return TERMINAL_CLASSES.count(terminal) == 1 and terminal == _terminal(config, value)


one_terminal_class = Monitor(
    name="one_terminal_class",
    sentence="Every run that ends has exactly one terminal class, the first by precedence of those that hold, and the "
    "classifier finds it.",
    source="F18, FQ28, FQ34, G21",
    systems=("run", "conditions"),
    start=lambda config: Course(start(config)),
    update=_follow,
    ok=_one_class,
    when=lambda _config, value: value.over,
)


kernel_passes = Monitor(
    name="kernel_passes",
    sentence=f"The kernel's class is {PASS}: no step shows a breach.",
    source="F17, FQ23",
    systems=("run", "conditions"),
    start=lambda _config: (),
    update=lambda value, step: value or step.once(breaches),
    ok=lambda _config, value: value == (),
)


def _static_streak(value: tuple[Any, int], step: RunStep) -> tuple[Any, int]:
    """The requests of the last epoch, and how often in a row they were submitted and all collided."""
    known = facts(step)
    requests = tuple((ask.agent, ask.request) for ask in known.asks)
    if not requests or len(known.contested) < len(requests):
        return (None, 0)
    streak = min(LIVELOCK_EPOCHS, value[1] + 1) if requests == value[0] else 1
    return (requests, streak)


static_colliders_are_classified = Monitor(
    name="static_colliders_are_classified",
    sentence="Agents that submit the same colliding requests in three epochs in a row are classified as livelock by "
    "the third.",
    source="FQ35, FQ38",
    systems=("conditions",),
    start=lambda config: (start(config), (None, 0)),
    update=lambda value, step: (update(value[0], step), _static_streak(value[1], step)),
    ok=lambda config, value: "STATE_LIVELOCK" in finish(config, value[0]).holding,
    when=lambda _config, value: value[1][1] >= LIVELOCK_EPOCHS,
)
