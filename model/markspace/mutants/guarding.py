"""Faulty guards: each forgets or bends one sentence of §6 or §9."""

from __future__ import annotations

from typing import Any

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.markspace.guard import REFERENCE
from evenhand.model.markspace.guard_vocabulary import Act, Config, Doing, Intent, Need, Phase, Policy, State, Verdict
from evenhand.model.markspace.mutants.declare import Faults

GUARD = Faults(REFERENCE, "first_writer", Scope(levels=1))
BRIEF = Scope(levels=1, ttl=0)
"""Intents live for one second."""


def _always(*_arguments: Any) -> bool:
    return True


def _never(*_arguments: Any) -> bool:
    return False


def _first(_config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    return intents[0]


@GUARD.fault("resolve", "6.1")
def last_writer_wins(config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    """The latest intent wins."""
    if len({intent.agent for intent in intents}) > 1 and config.policy is Policy.YIELD_ALL:
        return None
    return intents[-1]


@GUARD.fault("resolve", "6.1")
def name_wins(_config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    """The first agent by name wins."""
    return min(intents, key=lambda intent: intent.agent)


@GUARD.fault("resolve", "6.1", Scope(), system="deferred")
def least_confident_wins(_config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    """The lowest confidence wins."""
    return min(intents, key=lambda intent: intent.confidence)


@GUARD.fault("resolve", "6.1", system="highest_confidence")
def ties_to_the_latest(_config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    """Ties of confidence go to the latest intent."""
    return max(reversed(intents), key=lambda intent: intent.confidence)


confidence_ignored = GUARD.declare(
    "confidence_ignored", "HIGHEST_CONFIDENCE resolves by time.", "P15", Scope(), system="deferred", resolve=_first
)
yield_all_allows = GUARD.declare(
    "yield_all_allows", "Under YIELD_ALL the first wins.", "6.1", system="yield_all", resolve=_first
)


@GUARD.fault("claimant", "P39")
def claims_ignored(_config: Config, _state: State, _resource: str) -> str | None:
    """Actions are not looked for."""
    return None


@GUARD.fault("claimant", "P39")
def claims_hidden_by_intents(config: Config, state: State, resource: str) -> str | None:
    """Actions are looked for only where there is no intent."""
    return None if state.on(resource) else state.claims[config.resources.index(resource)]


@GUARD.fault("claimant", "9.2 step 2")
def holders_kept_out(config: Config, state: State, resource: str) -> str | None:
    """An agent's own action keeps it out."""
    return None if state.claims[config.resources.index(resource)] is None else "somebody"


@GUARD.fault("claimant", "P36")
def running_tools_claim(config: Config, state: State, resource: str) -> str | None:
    """A tool that runs claims the resource, unseen in the marks."""
    runs = (Phase.RUNNING, resource)
    using = [agent for agent, one in zip(config.agents, state.doing, strict=True) if (one.phase, one.resource) == runs]
    return using[0] if using else REFERENCE.claimant(config, state, resource)


@GUARD.fault("names", "P38")
def winner_withheld(_winner: Intent) -> Intent | None:
    """A CONFLICT does not name the intent that won."""
    return None


@GUARD.fault("written", "9.2 step 3")
def intent_not_written(_config: Config, state: State, _act: Act) -> tuple[Intent, ...]:
    """No intent is written on behalf of the agent."""
    return state.intents


@GUARD.fault("written", "P32")
def replacement_keeps_its_place(config: Config, state: State, act: Act) -> tuple[Intent, ...]:
    """A replaced intent keeps its rank."""
    new = Intent(act.agent, act.resource, act.confidence, config.ttl)
    mine = [i for i in state.intents if (i.agent, i.resource) == (act.agent, act.resource)]
    if not mine:
        return (*state.intents, new)
    return tuple(new if intent in mine else intent for intent in state.intents)


@GUARD.fault("active", "P14, P18", system="deferred")
def batch_of_one(_config: Config, intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
    """The batch looks at the first intent alone."""
    return tuple(intent for intent in intents if not intent.hidden)[:1]


@GUARD.fault("active", "P14", system="deferred")
def last_second_left_out(_config: Config, intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
    """An intent in its last second does not compete."""
    return tuple(intent for intent in intents if intent.life > 0 and not intent.hidden)


no_boundary_fires = GUARD.declare(
    "no_boundary_fires",
    "Boundaries wait for ever.",
    "6.2.1, P16",
    system="deferred",
    boundary_waits=_always,
)


@GUARD.fault("expired", "P4")
def expires_early(_config: Config, intent: Intent) -> bool:
    """Intents expire with their last second."""
    return intent.life <= 0


def _ageless(_config: Config, intent: Intent) -> Intent:
    return replace(intent, hidden=False, fresh=False)


never_expires = GUARD.declare(
    "never_expires",
    "Intents never expire.",
    "P4, P13",
    expired=_never,
    aged=_ageless,
)


@GUARD.fault("claims", "2.3")
def failures_claim(_config: Config, _failed: bool) -> bool:
    """A failed action claims the resource."""
    return True


@GUARD.fault("successor", "6.3", BRIEF)
def earlier_action_stands(_config: Config, before: str | None, agent: str) -> str | None:
    """The earlier of two actions stands."""
    return before or agent


@GUARD.fault("successor", "P39")
def actions_claim_nothing(_config: Config, before: str | None, _agent: str) -> str | None:
    """Actions claim nothing."""
    return before


@GUARD.fault("superseded", "9.2")
def intent_survives_its_action(_config: Config, _state: State, _agent: str, _resource: str) -> tuple[Intent, ...]:
    """An action supersedes no intent."""
    return ()


@GUARD.fault("superseded", "9.2")
def action_clears_the_resource(_config: Config, state: State, _agent: str, resource: str) -> tuple[Intent, ...]:
    """An action removes everybody's intents."""
    return state.on(resource)


@GUARD.fault("told_of", "6.3", BRIEF)
def loser_not_notified(_before: str | None, _agent: str) -> str | None:
    """Nobody is told of a superseded action."""
    return None


@GUARD.fault("needs", "9.2 step 6", system="yield_all")
def no_need_written(_config: Config, state: State, _act: Act) -> frozenset[Need]:
    """A blocked agent's need is not written."""
    return state.needs


@GUARD.fault("may_call", "P37")
def tools_run_unasked(config: Config, state: State, act: Act) -> bool:
    """The tool is called without ALLOW."""
    return state.doing[config.agents.index(act.agent)].phase in (Phase.ALLOWED, Phase.IDLE)


@GUARD.fault("losers_hear", "P17", system="deferred")
def everybody_is_allowed(_config: Config) -> Verdict:
    """Losers of a batch hear ALLOW."""
    return Verdict.ALLOW


strangers_may_write = GUARD.declare(
    "strangers_may_write", "Authorisation is not checked.", "P19, 9.2 step 1", authorised=_always
)


@GUARD.fault("renews", "P4")
def lease_renewed_on_allow(_config: Config, doing: Doing) -> bool:
    """An allowed intent is renewed before its tool runs."""
    return doing.phase is Phase.ALLOWED


lock_not_held = GUARD.declare(
    "lock_not_held",
    "The lock ends with pre_action.",
    "6.2",
    BRIEF,
    readings={"guard_atomicity": "through_tool_call"},
    locked=_never,
)
anybody_refers = GUARD.declare(
    "anybody_refers",
    "Authority over the mark is not checked.",
    "10",
    system="meddled",
    readings={"reference_authority": "same_agent_or_principal"},
    may_refer=_always,
)
