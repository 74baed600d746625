"""One claim about a whole epoch: every token and every change, computed from the text alone."""

from __future__ import annotations

from evenhand.core.plan import undecided
from evenhand.core.property import each_step
from evenhand.model.cud.vocabulary import DONE, FAILURE, FAULT, IDLE, WRITE, Config, Shown, Value
from evenhand.properties.cud.predicates import EpochStep, facts, some_asked, violates


def _says_which(config: Config) -> bool:
    """Whether outcomes are a function of the requests: under `after_*` a violation depends on the order too."""
    return not config.readings.scope_check.startswith("after_")


def _told(step: EpochStep, tokens: dict[str, str]) -> bool:
    """Whether exactly these tokens are handed out.

    An epoch lists the agents that exit apart from the tokens; the free-agent graph marks them EXITED among the tokens.
    """
    known, shown = facts(step).tokens, step.shown
    if isinstance(shown, Shown):
        told = {agent: token for agent, token in tokens.items() if agent not in shown.exits}
        return known == told and not shown.receipts
    leaves: dict[str, bool] = {}
    for agent, choice in step.action.choices:
        leaves.setdefault(agent, choice.exits)
    return known == {agent: "EXITED" if leaves.get(agent) else token for agent, token in tokens.items()}


@each_step(
    "Everybody is told what the text says, and the world changes as it says: an epoch's outcome is a function of its "
    "requests, the authorities and the world.",
    source="FQ4, FQ5, FQ11, FQ27, FQ33, C10",
    systems=("run", "universe", "free"),
    applies=_says_which,
    when=some_asked,
    expected=(
        undecided(
            "not claimed there: whether a write is a violation depends on who ran before, so no function of the "
            "requests says it",
            scope_check="after_rollback",
        ),
        undecided("as under after_rollback", scope_check="after_keep"),
    ),
)
def outcomes_are_those_of_the_text(step: EpochStep) -> bool:
    """Whether every token and every value is the one computed here, without the kernel."""
    known = facts(step)
    failure_first = step.config.readings.fault_precedence == "failure_first"
    tokens = dict.fromkeys(known.here, IDLE)
    before: dict[str, Value] = dict(step.before.world)
    world = dict(before)
    for ask in known.asks:
        stands = ask.standing
        fails = not stands.covered or stands.vetoed
        if stands.malformed or (stands.foreign and not (failure_first and fails)):
            tokens[ask.agent] = FAULT
        elif not stands.passes or ask.agent in known.contested:
            tokens[ask.agent] = FAILURE
        elif violates(step.config, step.before, ask.request, known):
            tokens[ask.agent] = FAULT
        else:
            tokens[ask.agent] = DONE
            if ask.request.action_type == WRITE:
                # An unchanged value is no write, and must not undo the write of an agent that declared the key.
                world.update((key, value) for key, value in ask.request.proposed_delta if before.get(key) != value)
    if known.over:
        return not known.tokens and step.after.world == step.before.world
    return _told(step, tokens) and step.after.world == tuple(world.items())


@each_step(
    "What an epoch of free agents records for livelock is so: whether anybody asked, a request failed pass 1, one that "
    "passed it was refused in pass 2, and the world changed.",
    source="FQ34, FQ36",
    systems=("free",),
)
def livelock_is_counted_from_what_happened(step: EpochStep) -> bool:
    """Refusals of pass 1 are told apart from those of pass 2, which alone make a livelock."""
    known = facts(step)
    if isinstance(step.shown, Shown):
        return True  # epochs of a run record no such facts
    happened = step.shown.happened
    refused = any(not ask.standing.passes and known.tokens.get(ask.agent) == FAILURE for ask in known.asks)
    collided = bool(known.contested)
    changed = step.after.world != step.before.world
    due = (bool(known.asks), refused, collided, changed)
    return (happened.attempted, happened.refused, happened.collided, happened.changed) == due
