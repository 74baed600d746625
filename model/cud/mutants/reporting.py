"""Faults in the answers to agents (FQ11, FQ21), and in the harness's count (FQ34)."""

from __future__ import annotations

from collections.abc import Callable

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.cud.kernel import (
    ADMITTED,
    LIVELOCK_EPOCHS,
    PASS_TWO,
    REFERENCE,
    SCOPE_VIOLATION,
    Finding,
    Happened,
)
from evenhand.model.cud.mutants.declare import ALONE, ALONE_TWICE, ONE, PAIR, TWICE, declare, fault
from evenhand.model.cud.vocabulary import DONE, FAILURE, FAULT, Config, Draft, Message, Observation, State


def _tell(verdict: str, word: str) -> Callable[[Finding | None], str]:
    """Return `word` instead of the honest token for findings of this verdict without a fault."""

    def token(finding: Finding | None) -> str:
        if finding is not None and finding.verdict == verdict and not finding.fault:
            return word
        return REFERENCE.token(finding)

    return token


token_tells_the_pass, collision_told_as_fault, collision_told_as_executed = (
    declare(name, sentence, "FQ11", "run", PAIR, token=_tell(PASS_TWO, word))
    for name, sentence, word in (
        ("token_tells_the_pass", "A collision has a token of its own.", "INTERFERENCE"),
        ("collision_told_as_fault", "A collision is told as a fault.", FAULT),
        ("collision_told_as_executed", "A refused request is told that it was executed.", DONE),
    )
)
"""Kernels that tell a collision by another token."""


@fault("token", "A3, FQ33", "universe", ONE)
def fault_told_as_failure(finding: Finding | None) -> str:
    """A fault is told as a mere refusal."""
    told = REFERENCE.token(finding)
    return FAILURE if told == FAULT else told


@fault("token", "C10", "run", Scope(agents=1, keys=2, epochs=1))
def violation_told_as_executed(finding: Finding | None) -> str:
    """A scope violation is told as executed."""
    return DONE if finding is not None and finding.fault == SCOPE_VIOLATION else REFERENCE.token(finding)


executed_told_as_failure = declare(
    "executed_told_as_failure",
    "Whatever is executed is told as refused.",
    "A3",
    "universe",
    ONE,
    token=_tell(ADMITTED, FAILURE),
)


@fault("receipt", "FQ11", "run", PAIR)
def refusing_agent_named(finding: Finding, findings: tuple[Finding, ...]) -> str:
    """The refused learn whom they collided with."""
    if finding.verdict != PASS_TWO:
        return ""
    return ",".join(
        other.bound.agent
        for other in findings
        if other.bound != finding.bound and REFERENCE.interfere(finding.bound.request, other.bound.request)
    )


@fault("receipt", "FQ11", "universe", ONE)
def receipt_names_the_pass(finding: Finding, _findings: tuple[Finding, ...]) -> str:
    """The refused learn in which pass."""
    return "" if finding.verdict == ADMITTED or finding.fault else finding.verdict


@fault("observe", "FQ31", "run", PAIR)
def message_delivered_at_once(config: Config, state: State, agent: str, sent: tuple[Message, ...]) -> Observation:
    """Messages are delivered in the epoch they are sent in."""
    honest = REFERENCE.observe(config, state, agent, sent)
    return replace(honest, messages=tuple(message for message in sent if message.sender != agent))


@fault("observe", "FQ21", "run", ALONE_TWICE)
def own_message_echoed(config: Config, state: State, agent: str, sent: tuple[Message, ...]) -> Observation:
    """Agents hear themselves."""
    honest = REFERENCE.observe(config, state, agent, sent)
    before = None if state.epoch is None else state.epoch - 1
    return replace(honest, messages=tuple(Message(sender, before, content) for sender, content in state.mailbox))


@fault("observe", "A3, FQ20", "run", TWICE)
def other_agents_outcome_seen(config: Config, state: State, agent: str, sent: tuple[Message, ...]) -> Observation:
    """Agents see the last outcome of another."""
    other = state.agents[(config.agents.index(agent) + 1) % len(config.agents)]
    return replace(REFERENCE.observe(config, state, agent, sent), own_last_outcome=other.last)


@fault("seal", "FQ21", "run", ALONE)
def forged_sender_accepted(config: Config, agent: str, draft: Draft) -> tuple[str, str]:
    """A message comes from whoever it says."""
    sender, why = REFERENCE.seal(config, agent, draft)
    return (draft.sender or agent, why) if sender else (sender, why)


@fault("seal", "FQ21", "run", ALONE, readings=(("message_limit", 4),))
def oversized_message_passes(config: Config, agent: str, draft: Draft) -> tuple[str, str]:
    """Messages of any size pass."""
    return REFERENCE.seal(replace(config, readings=replace(config.readings, message_limit=2**30)), agent, draft)


@fault("seal", "FQ21", "run", ALONE)
def any_text_is_a_message(config: Config, agent: str, draft: Draft) -> tuple[str, str]:
    """What is no JSON object passes for a message."""
    sender, why = REFERENCE.seal(config, agent, draft)
    return (agent, "") if why == "not a JSON object" else (sender, why)


@fault("count", "FQ34", "free", Scope(agents=2, keys=1, values=1))
def livelock_never_resets(config: Config, before: int, happened: Happened) -> int:
    """The livelock counter never goes down."""
    return max(before, REFERENCE.count(config, before, happened))


@fault("count", "FQ36", "free", Scope(agents=2, keys=1, values=1))
def livelock_counts_pass_one(config: Config, before: int, happened: Happened) -> int:
    """Pass-1 refusals count towards a livelock."""
    return REFERENCE.count(config, before, replace(happened, collided=happened.collided or happened.refused))


@fault("count", "FQ34", "free", Scope(agents=2, keys=1, values=1))
def livelock_counts_silence(_config: Config, before: int, happened: Happened) -> int:
    """Epochs in which nobody submits count towards a livelock."""
    return 0 if happened.changed else min(LIVELOCK_EPOCHS, before + 1)


@fault("count", "FQ34", "free", Scope(agents=3, keys=2, values=2))
def livelock_counts_despite_change(config: Config, before: int, happened: Happened) -> int:
    """A collision counts though the world changed."""
    return REFERENCE.count(config, before, replace(happened, changed=False))
