"""Faults in the answers to agents (FQ11, FQ21), and in the harness's count (FQ34)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from evenhand.core.system import Mutant, Scope
from evenhand.model.cud.kernel import (
    ADMITTED,
    LIVELOCK_EPOCHS,
    PASS_TWO,
    REFERENCE,
    SCOPE_VIOLATION,
    Finding,
    Happened,
    Rules,
)
from evenhand.model.cud.mutants.declare import ALONE, ALONE_TWICE, ONE, PAIR, TWICE, declare
from evenhand.model.cud.vocabulary import DONE, FAILURE, FAULT, Config, Draft, Message, Observation, State

__all__ = ["TOLD"]


def _tell(verdict: str, fault: bool, word: str) -> Callable[[Finding | None], str]:
    """Return `word` instead of the honest token for findings of this verdict, with or without a fault."""

    def token(finding: Finding | None) -> str:
        if finding is not None and finding.verdict == verdict and bool(finding.fault) == fault:
            return word
        return REFERENCE.token(finding)

    return token


def _faults_as_failures(finding: Finding | None) -> str:
    told = REFERENCE.token(finding)
    return FAILURE if told == FAULT else told


def _violation_as_executed(finding: Finding | None) -> str:
    return DONE if finding is not None and finding.fault == SCOPE_VIOLATION else REFERENCE.token(finding)


def _name_the_other(finding: Finding, findings: tuple[Finding, ...]) -> str:
    """A refused agent learns with whom it collided."""
    if finding.verdict != PASS_TWO:
        return ""
    return ",".join(
        other.bound.agent
        for other in findings
        if other.bound != finding.bound and REFERENCE.interfere(finding.bound.request, other.bound.request)
    )


def _name_the_pass(finding: Finding, _findings: tuple[Finding, ...]) -> str:
    """A refused agent learns in which pass."""
    return "" if finding.verdict == ADMITTED or finding.fault else finding.verdict


def _deliver_at_once(config: Config, state: State, agent: str, sent: tuple[Message, ...]) -> Observation:
    honest = REFERENCE.observe(config, state, agent, sent)
    return replace(honest, messages=tuple(message for message in sent if message.sender != agent))


def _echo_own_message(config: Config, state: State, agent: str, sent: tuple[Message, ...]) -> Observation:
    honest = REFERENCE.observe(config, state, agent, sent)
    before = None if state.epoch is None else state.epoch - 1
    return replace(honest, messages=tuple(Message(sender, before, content) for sender, content in state.mailbox))


def _other_agents_outcome(config: Config, state: State, agent: str, sent: tuple[Message, ...]) -> Observation:
    """Agents see the outcome of the next agent instead of their own."""
    other = state.agents[(config.agents.index(agent) + 1) % len(config.agents)]
    return replace(REFERENCE.observe(config, state, agent, sent), own_last_outcome=other.last)


def _forge_sender(config: Config, agent: str, draft: Draft) -> tuple[str, str]:
    """The kernel takes the sender from the message."""
    sender, why = REFERENCE.seal(config, agent, draft)
    return (draft.sender or agent, why) if sender else (sender, why)


def _no_size_limit(config: Config, agent: str, draft: Draft) -> tuple[str, str]:
    return REFERENCE.seal(replace(config, readings=replace(config.readings, message_limit=2**30)), agent, draft)


def _not_only_objects(config: Config, agent: str, draft: Draft) -> tuple[str, str]:
    sender, why = REFERENCE.seal(config, agent, draft)
    return (agent, "") if why == "not a JSON object" else (sender, why)


def _counted(before: int, stuck: bool) -> int:
    return min(LIVELOCK_EPOCHS, before + 1) if stuck else 0


def _never_reset(config: Config, before: int, happened: Happened) -> int:
    return max(before, REFERENCE.count(config, before, happened))


def _count_pass_one(config: Config, before: int, happened: Happened) -> int:
    """Pass-1 refusals count (against FQ36)."""
    return REFERENCE.count(config, before, replace(happened, collided=happened.collided or happened.refused))


def _count_silence(_config: Config, before: int, happened: Happened) -> int:
    """Any epoch without a change counts."""
    return _counted(before, not happened.changed)


def _count_despite_change(config: Config, before: int, happened: Happened) -> int:
    return REFERENCE.count(config, before, replace(happened, changed=False))


TOLD: tuple[Mutant[Rules], ...] = (
    declare(
        "token_tells_the_pass",
        "A collision has a token of its own.",
        "FQ11",
        "run",
        PAIR,
        token=_tell(PASS_TWO, False, "INTERFERENCE"),
    ),
    declare(
        "collision_told_as_fault",
        "A collision is told as a fault.",
        "FQ11",
        "run",
        PAIR,
        token=_tell(PASS_TWO, False, FAULT),
    ),
    declare(
        "collision_told_as_executed",
        "A refused request is told that it was executed.",
        "FQ11",
        "run",
        PAIR,
        token=_tell(PASS_TWO, False, DONE),
    ),
    declare(
        "fault_told_as_failure",
        "A fault is told as a mere refusal.",
        "A3, FQ33",
        "universe",
        ONE,
        token=_faults_as_failures,
    ),
    declare(
        "violation_told_as_executed",
        "A scope violation is told as executed.",
        "C10",
        "run",
        Scope(agents=1, keys=2, epochs=1),
        token=_violation_as_executed,
    ),
    declare(
        "executed_told_as_failure",
        "Whatever is executed is told as refused.",
        "A3",
        "universe",
        ONE,
        token=_tell(ADMITTED, False, FAILURE),
    ),
    declare(
        "refusing_agent_named",
        "The refused learn whom they collided with.",
        "FQ11",
        "run",
        PAIR,
        receipt=_name_the_other,
    ),
    declare(
        "receipt_names_the_pass",
        "The refused learn in which pass.",
        "FQ11",
        "universe",
        ONE,
        receipt=_name_the_pass,
    ),
    declare(
        "message_delivered_at_once",
        "Messages are delivered in the epoch they are sent in.",
        "FQ31",
        "run",
        PAIR,
        observe=_deliver_at_once,
    ),
    declare(
        "own_message_echoed",
        "Agents hear themselves.",
        "FQ21",
        "run",
        ALONE_TWICE,
        observe=_echo_own_message,
    ),
    declare(
        "other_agents_outcome_seen",
        "Agents see the last outcome of another.",
        "A3, FQ20",
        "run",
        TWICE,
        observe=_other_agents_outcome,
    ),
    declare(
        "forged_sender_accepted",
        "A message comes from whoever it says.",
        "FQ21",
        "run",
        ALONE,
        seal=_forge_sender,
    ),
    declare(
        "oversized_message_passes",
        "Messages of any size pass.",
        "FQ21",
        "run",
        ALONE,
        readings=(("message_limit", 4),),
        seal=_no_size_limit,
    ),
    declare(
        "any_text_is_a_message",
        "What is no JSON object passes for a message.",
        "FQ21",
        "run",
        ALONE,
        seal=_not_only_objects,
    ),
    declare(
        "livelock_never_resets",
        "The livelock counter never goes down.",
        "FQ34",
        "free",
        Scope(agents=2, keys=1, values=1),
        count=_never_reset,
    ),
    declare(
        "livelock_counts_pass_one",
        "Pass-1 refusals count towards a livelock.",
        "FQ36",
        "free",
        Scope(agents=2, keys=1, values=1),
        count=_count_pass_one,
    ),
    declare(
        "livelock_counts_silence",
        "Epochs in which nobody submits count towards a livelock.",
        "FQ34",
        "free",
        Scope(agents=2, keys=1, values=1),
        count=_count_silence,
    ),
    declare(
        "livelock_counts_despite_change",
        "A collision counts though the world changed.",
        "FQ34",
        "free",
        Scope(agents=3, keys=2, values=2),
        count=_count_despite_change,
    ),
)
"""Faults in the answers to agents (FQ11, FQ21), and in the harness's count (FQ34)."""
