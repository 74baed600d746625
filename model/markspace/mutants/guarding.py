"""Faulty guards: each forgets or bends one sentence of §6 or §9."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant, Scope
from evenhand.model.markspace.guard import REFERENCE, Rules
from evenhand.model.markspace.guard_vocabulary import (
    Act,
    Config,
    Doing,
    Intent,
    Phase,
    Policy,
    State,
    Verdict,
)

__all__ = ["GUARDING"]


def _mutant(name: str, sentence: str, source: str, system: str = "first_writer", **more: Any) -> Mutant[Rules]:
    scope = Scope(more.pop("scope", {"levels": 1}))
    readings = tuple(more.pop("readings", {}).items())
    expected, reason = more.pop("expected", "killed"), more.pop("reason", "")
    rules = replace(REFERENCE, **more)
    return Mutant(name, sentence, source, rules, system, scope, readings, expected, reason)


def _last_wins(config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    if len({intent.agent for intent in intents}) > 1 and config.policy is Policy.YIELD_ALL:
        return None
    return intents[-1]


def _least_confident(config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    return min(intents, key=lambda intent: intent.confidence)


def _ties_to_the_latest(config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    return max(reversed(intents), key=lambda intent: intent.confidence)


def _by_name(_config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    return min(intents, key=lambda intent: intent.agent)


def _somebody_wins(config: Config, intents: tuple[Intent, ...]) -> Intent | None:
    return intents[0]


def _no_claim(_config: Config, _state: State, _resource: str) -> str | None:
    return None


def _somebody(config: Config, state: State, resource: str) -> str | None:
    return None if state.claims[config.resources.index(resource)] is None else "somebody"


def _forgotten_when_needed(config: Config, state: State, resource: str) -> str | None:
    """An intent of anybody makes the guard look no further."""
    return None if state.on(resource) else state.claims[config.resources.index(resource)]


def _runner(config: Config, state: State, resource: str) -> str | None:
    """Who uses the resource holds it as if by an action."""
    doing = zip(config.agents, state.doing, strict=True)
    using = [agent for agent, one in doing if (one.phase, one.resource) == (Phase.RUNNING, resource)]
    return using[0] if using else REFERENCE.claimant(config, state, resource)


def _unnamed(_winner: Intent) -> Intent | None:
    return None


def _unwritten(_config: Config, state: State, _act: Act) -> tuple[Intent, ...]:
    return state.intents


def _keeps_its_place(config: Config, state: State, act: Act) -> tuple[Intent, ...]:
    """An intent that replaces another takes over its rank."""
    new = Intent(act.agent, act.resource, act.confidence, config.ttl)
    mine = [i for i in state.intents if (i.agent, i.resource) == (act.agent, act.resource)]
    if not mine:
        return (*state.intents, new)
    return tuple(new if intent in mine else intent for intent in state.intents)


def _only_the_first_two(_config: Config, intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
    return tuple(intent for intent in intents if not intent.hidden)[:1]


def _expiring_left_out(_config: Config, intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
    return tuple(intent for intent in intents if intent.life > 0 and not intent.hidden)


def _one_second_less(_config: Config, intent: Intent) -> bool:
    return intent.life <= 0


def _never(*_arguments: Any) -> bool:
    return False


def _always(*_arguments: Any) -> bool:
    return True


def _anything_claims(_config: Config, _failed: bool) -> bool:
    return True


def _earlier_stands(_config: Config, before: str | None, agent: str) -> str | None:
    return before or agent


def _no_claim_at_all(_config: Config, before: str | None, _agent: str) -> str | None:
    return before


def _intent_stays(_config: Config, _state: State, _agent: str, _resource: str) -> tuple[Intent, ...]:
    return ()


def _everybodys_intents(_config: Config, state: State, _agent: str, resource: str) -> tuple[Intent, ...]:
    return state.on(resource)


def _nobody_told(_before: str | None, _agent: str) -> str | None:
    return None


def _no_needs(_config: Config, state: State, _act: Act) -> Any:
    return state.needs


def _anybody_calls(config: Config, state: State, act: Act) -> bool:
    return state.doing[config.agents.index(act.agent)].phase in (Phase.ALLOWED, Phase.IDLE)


def _losers_allowed(_config: Config) -> Verdict:
    return Verdict.ALLOW


def _does_not_age(_config: Config, intent: Intent) -> Intent:
    return replace(intent, hidden=False, fresh=False)


def _renewed_when_allowed(_config: Config, doing: Doing) -> bool:
    return doing.phase is Phase.ALLOWED


GUARDING: tuple[Mutant[Rules], ...] = (
    _mutant("last_writer_wins", "The latest intent wins.", "6.1", resolve=_last_wins),
    _mutant("name_wins", "The first agent by name wins.", "6.1", resolve=_by_name),
    _mutant(
        "least_confident_wins", "The lowest confidence wins.", "6.1", "deferred", scope={}, resolve=_least_confident
    ),
    _mutant(
        "ties_to_the_latest",
        "Ties of confidence go to the latest intent.",
        "6.1",
        "highest_confidence",
        resolve=_ties_to_the_latest,
    ),
    _mutant(
        "confidence_ignored",
        "HIGHEST_CONFIDENCE resolves by time.",
        "P15",
        "deferred",
        scope={},
        resolve=_somebody_wins,
    ),
    _mutant("yield_all_allows", "Under YIELD_ALL the first wins.", "6.1", "yield_all", resolve=_somebody_wins),
    _mutant("claims_ignored", "Actions are not looked for.", "P39", claimant=_no_claim),
    _mutant(
        "claims_hidden_by_intents",
        "Actions are looked for only where there is no intent.",
        "P39",
        claimant=_forgotten_when_needed,
    ),
    _mutant("holders_kept_out", "An agent's own action keeps it out.", "9.2 step 2", claimant=_somebody),
    _mutant(
        "running_tools_claim", "A tool that runs claims the resource, unseen in the marks.", "P36", claimant=_runner
    ),
    _mutant("winner_withheld", "A CONFLICT does not name the intent that won.", "P38", names=_unnamed),
    _mutant("intent_not_written", "No intent is written on behalf of the agent.", "9.2 step 3", written=_unwritten),
    _mutant(
        "replacement_keeps_its_place",
        "A replaced intent keeps its rank.",
        "P32",
        written=_keeps_its_place,
    ),
    _mutant(
        "batch_of_one", "The batch looks at the first intent alone.", "P14, P18", "deferred", active=_only_the_first_two
    ),
    _mutant(
        "last_second_left_out",
        "An intent in its last second does not compete.",
        "P14",
        "deferred",
        active=_expiring_left_out,
    ),
    _mutant("expires_early", "Intents expire with their last second.", "P4", expired=_one_second_less),
    _mutant("never_expires", "Intents never expire.", "P4, P13", expired=_never, aged=_does_not_age),
    _mutant("failures_claim", "A failed action claims the resource.", "2.3", claims=_anything_claims),
    _mutant(
        "earlier_action_stands",
        "The earlier of two actions stands.",
        "6.3",
        successor=_earlier_stands,
        scope={"levels": 1, "ttl": 0},
    ),
    _mutant("actions_claim_nothing", "Actions claim nothing.", "P39", successor=_no_claim_at_all),
    _mutant("intent_survives_its_action", "An action supersedes no intent.", "9.2", superseded=_intent_stays),
    _mutant(
        "action_clears_the_resource",
        "An action removes everybody's intents.",
        "9.2",
        superseded=_everybodys_intents,
    ),
    _mutant(
        "loser_not_notified",
        "Nobody is told of a superseded action.",
        "6.3",
        told_of=_nobody_told,
        scope={"levels": 1, "ttl": 0},
    ),
    _mutant("no_need_written", "A blocked agent's need is not written.", "9.2 step 6", "yield_all", needs=_no_needs),
    _mutant("tools_run_unasked", "The tool is called without ALLOW.", "P37", may_call=_anybody_calls),
    _mutant("everybody_is_allowed", "Losers of a batch hear ALLOW.", "P17", "deferred", losers_hear=_losers_allowed),
    _mutant("strangers_may_write", "Authorisation is not checked.", "P19, 9.2 step 1", authorised=_always),
    _mutant(
        "lease_renewed_on_allow",
        "An allowed intent is renewed before its tool runs.",
        "P4",
        renews=_renewed_when_allowed,
    ),
    _mutant(
        "lock_not_held",
        "The lock ends with pre_action.",
        "6.2",
        readings={"guard_atomicity": "through_tool_call"},
        locked=_never,
        scope={"levels": 1, "ttl": 0},
    ),
    _mutant(
        "anybody_refers",
        "Authority over the mark is not checked.",
        "10",
        "meddled",
        readings={"reference_authority": "same_agent_or_principal"},
        may_refer=_always,
    ),
)
"""The faulty guards."""
