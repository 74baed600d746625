"""The optional layers: envelope, barrier, probe, telemetry (P40 to P46, P57, P58, §16)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from evenhand.core.property import AnyStep, Property, always, each_step, reachable, two_run
from evenhand.model.markspace.layers_vocabulary import (
    ANYWHERE,
    DIAGNOSTICS,
    PROBE,
    TOKEN,
    Health,
    Layer,
    LayersConfig,
    Op,
    World,
)
from evenhand.model.markspace.marks import Kind

__all__ = ["LAYERS"]

ONLY = ("layers",)


def _with(*layers: Layer) -> Callable[[LayersConfig], bool]:
    def has(config: LayersConfig) -> bool:
        return config.has(*layers)

    return has


def _writes(step: AnyStep) -> bool:
    return step.action.op is Op.WRITE


def _attempts(step: AnyStep) -> bool:
    return step.action.op in (Op.WRITE, Op.EXECUTE)


def _limited(step: AnyStep) -> bool:
    layered = _writes(step) and step.action.agent in step.config.agents and step.action.scope in step.config.scopes
    return layered and step.action.kind not in (Kind.INTENT, Kind.ACTION)


def _by_principal(step: AnyStep) -> bool:
    return bool(step.action.token == TOKEN)


def _watched(step: AnyStep, world: World) -> Any:
    assert world.envelope is not None
    place: int = step.config.agents.index(step.action.agent)
    return world.envelope.watched[place]


# Envelope.


def _restricted(config: LayersConfig, world: World) -> frozenset[str]:
    if world.envelope is None:
        return frozenset()
    return frozenset(a for a, one in zip(config.agents, world.envelope.watched, strict=True) if one.restricted)


def _when_envelope_monotonicity_p40(step: AnyStep) -> bool:
    return bool(bool(_restricted(step.config, step.before)))


@each_step(
    "Who is RESTRICTED stays so until the principal resets it, and check says so.",
    source="P40",
    systems=ONLY,
    applies=_with(Layer.ENVELOPE),
    when=_when_envelope_monotonicity_p40,
)
def envelope_monotonicity_p40(step: AnyStep) -> bool:
    """Sticky."""
    before, after = _restricted(step.config, step.before), _restricted(step.config, step.after)
    freed = {step.action.agent} if step.action.op is Op.RESET and _by_principal(step) else set[str]()
    said = step.shown.health is Health.RESTRICTED
    return before - freed <= after and (step.action.op is not Op.CHECK or step.action.agent not in before or said)


def _cold(step: AnyStep) -> bool:
    if step.shown.health is None or step.config.baseline is not None:
        return False
    watched = _watched(step, step.before)
    return len(watched.past) < step.config.samples and not watched.restricted


@each_step(
    "An agent without enough completed windows, and without a declared baseline, is NORMAL.",
    source="P41",
    systems=ONLY,
    applies=_with(Layer.ENVELOPE),
    when=_cold,
)
def envelope_cold_start_safety_p41(step: AnyStep) -> bool:
    """Whatever it does in its first windows, whether it is checked or writes."""
    return step.shown.health is Health.NORMAL


@each_step(
    "A write or a tool call that is rejected stores nothing; one that is accepted stores exactly one mark.",
    source="P42",
    systems=ONLY,
    when=_attempts,
)
def write_mark_atomicity_p42(step: AnyStep) -> bool:
    """No partial writes."""
    act = step.action
    kind = Kind.ACTION if act.op is Op.EXECUTE else act.kind
    more = ((act.agent, act.scope, kind),) if step.shown.accepted else ()
    return bool(step.after.stored == step.before.stored + more)


def _when_escalation_boundedness_p43(step: AnyStep) -> bool:
    return bool(step.shown.by is Layer.ENVELOPE and _writes(step))


@each_step(
    "A flag of the envelope revokes permissions in at most one scope; needs before every action take as many flags as "
    "the threshold says.",
    source="P43",
    systems=ONLY,
    applies=_with(Layer.ENVELOPE, Layer.BARRIER),
    when=_when_escalation_boundedness_p43,
)
def escalation_boundedness_p43(step: AnyStep) -> bool:
    """One flag, one permission, in the scope that was flagged."""
    before, after = step.before.barrier, step.after.barrier
    new = after.revoked - before.revoked
    flags = after.flags[step.config.agents.index(step.action.agent)]
    globally = after.need_first - before.need_first
    narrow = new <= {(step.action.agent, step.action.scope, step.action.kind)}
    return bool(narrow and (not globally or flags >= step.config.threshold) and flags > 0)


def _refused_by_the_envelope(step: AnyStep) -> bool:
    return _when_escalation_boundedness_p43(step) and not _watched(step, step.before).restricted


@each_step(
    "The envelope refuses nobody who has tried nothing in this window and the last.",
    source="9.7 with 8.6: a write is checked, then counted",
    systems=ONLY,
    applies=_with(Layer.ENVELOPE),
    when=_refused_by_the_envelope,
)
def idle_agents_are_not_refused(step: AnyStep) -> bool:
    """What is about to be written is no reason; false where attempts count before the check."""
    watched = _watched(step, step.before)
    return bool(watched.now or watched.before)


def _first_flag(step: AnyStep) -> bool:
    place: int = step.config.agents.index(step.action.agent) if step.action.agent in step.config.agents else 0
    return _when_escalation_boundedness_p43(step) and step.before.barrier.flags[place] == 0


@each_step(
    "The first flag of the envelope restricts its agent in the flagged scope alone.",
    source="P43, its first sentence",
    systems=ONLY,
    applies=_with(Layer.ENVELOPE, Layer.BARRIER),
    when=_first_flag,
)
def first_flag_restricts_one_scope(step: AnyStep) -> bool:
    """False with a threshold below two, which the text nowhere excludes: one flag is then a global restriction."""
    return bool((step.action.agent, ANYWHERE) not in step.after.barrier.need_first - step.before.barrier.need_first)


def _two_flags_or_more(config: LayersConfig) -> bool:
    return config.has(Layer.ENVELOPE, Layer.BARRIER) and config.threshold >= 2


@each_step(
    "With a threshold of two or more the first flag restricts its agent in the flagged scope alone.",
    source="P43, its first sentence, repaired",
    systems=ONLY,
    applies=_two_flags_or_more,
    when=_first_flag,
)
def first_of_several_flags_restricts_one_scope(step: AnyStep) -> bool:
    """The constraint on the configuration that P43 needs."""
    return first_flag_restricts_one_scope.check(step)


def _when_write_mark_takes_no_intents(step: AnyStep) -> bool:
    return bool(_writes(step) and step.action.kind in (Kind.INTENT, Kind.ACTION))


@each_step(
    "write_mark refuses intents and actions.",
    source="9.7",
    systems=ONLY,
    when=_when_write_mark_takes_no_intents,
)
def write_mark_takes_no_intents(step: AnyStep) -> bool:
    """They flow through the guard's own operations."""
    return not step.shown.accepted and bool(step.shown.why)


# Barrier.


def _denied(world: World) -> frozenset[Any]:
    if world.barrier is None:
        return frozenset()
    denied: frozenset[Any] = world.barrier.revoked
    return denied.union(world.barrier.need_first)


def _when_barrier_monotonicity_p44(step: AnyStep) -> bool:
    return bool(bool(_denied(step.before)))


@each_step(
    "A permission that is revoked stays so until the principal grants it again.",
    source="P44",
    systems=ONLY,
    applies=_with(Layer.BARRIER),
    when=_when_barrier_monotonicity_p44,
)
def barrier_monotonicity_p44(step: AnyStep) -> bool:
    """What was denied before is denied after, but for what the principal restored."""
    lost = _denied(step.before) - _denied(step.after)
    act = step.action
    if act.op is Op.RESTORE_ALL and _by_principal(step):
        return all(one[0] == act.agent for one in lost)
    if act.op is Op.RESTORE and _by_principal(step):
        return bool(lost <= {(act.agent, act.scope, act.kind)})
    return not lost


def _when_barrier_principal_exclusivity_p45(step: AnyStep) -> bool:
    return bool(step.action.op in (Op.RESTORE, Op.RESTORE_ALL, Op.RESET, Op.RAISE) and not _by_principal(step))


@each_step(
    "Nobody restores or resets without the principal's token.",
    source="P45, 9.7",
    systems=ONLY,
    when=_when_barrier_principal_exclusivity_p45,
)
def barrier_principal_exclusivity_p45(step: AnyStep) -> bool:
    """Any other token is rejected and changes nothing."""
    return not step.shown.accepted and bool(step.after == step.before)


def _when_barrier_is_enforced(step: AnyStep) -> bool:
    return bool(_attempts(step) and step.action.agent in step.config.agents and step.shown.accepted)


@each_step(
    "What is revoked, in the scope or everywhere, is refused; tool calls wait for a need where one must come first.",
    source="9.8",
    systems=ONLY,
    applies=_with(Layer.BARRIER),
    when=_when_barrier_is_enforced,
)
def barrier_is_enforced(step: AnyStep) -> bool:
    """Whatever is accepted was allowed."""
    act, barrier = step.action, step.before.barrier
    kind = Kind.ACTION if act.op is Op.EXECUTE else act.kind
    if {(act.agent, act.scope, kind), (act.agent, ANYWHERE, kind)} & barrier.revoked:
        return False
    first = {(act.agent, act.scope), (act.agent, ANYWHERE)} & barrier.need_first
    asked = any(agent == act.agent and written is Kind.NEED for agent, _, written in step.before.stored)
    return act.op is not Op.EXECUTE or not first or asked


# Probe.


def _when_probe_mark_isolation_p46(_config: Any, world: Any) -> bool:
    return bool(any(agent == PROBE for agent, _, _ in world.stored))


@always(
    "The probe's marks are in the diagnostic scope, and nobody else's are.",
    source="P46",
    systems=ONLY,
    applies=_with(Layer.PROBE),
    when=_when_probe_mark_isolation_p46,
)
def probe_mark_isolation_p46(world: World) -> bool:
    """Isolation in both directions."""
    return all((agent == PROBE) == (scope == DIAGNOSTICS) for agent, scope, _ in world.stored)


def _misses(step: AnyStep) -> bool:
    probing = step.before.probing
    if step.action.op is not Op.END_ROUND or probing is None:
        return False
    return step.action.agent in probing.pending and step.action.agent in probing.active


@each_step(
    "One missed canary locks: a blocking need is written, and nothing but needs can be written until the principal "
    "restores.",
    source="9.9",
    systems=ONLY,
    applies=_with(Layer.PROBE, Layer.BARRIER),
    when=_misses,
)
def one_missed_canary_locks(step: AnyStep) -> bool:
    """No grace period."""
    agent = step.action.agent
    locked = all((agent, ANYWHERE, kind) in step.after.barrier.revoked for kind in (Kind.OBSERVATION, Kind.ACTION))
    return (
        locked
        and (agent, ANYWHERE, Kind.NEED) not in step.after.barrier.revoked
        and ((agent, True, "probe") in step.shown.needs)
    )


def _when_canaries_gate_tool_calls(step: AnyStep) -> bool:
    return bool(_attempts(step) and step.action.agent in step.before.probing.pending)


@each_step(
    "With a canary to acknowledge nothing else is let through.",
    source="9.9",
    systems=ONLY,
    applies=_with(Layer.PROBE),
    when=_when_canaries_gate_tool_calls,
)
def canaries_gate_tool_calls(step: AnyStep) -> bool:
    """Zero actions that round."""
    return not step.shown.accepted


# Telemetry.


def _sinks(config: LayersConfig, _world: World, act: Any) -> Iterator[str]:
    if act.op in (Op.WRITE, Op.EXECUTE):
        yield from (sink for sink in ("null", "failing", "memory") if sink != config.sink)


def _config_telemetry_non_interference_p57(sink: Any, config: Any) -> Any:
    return replace(config, sink=sink)


def _state_telemetry_non_interference_p57(_sink: Any, _config: Any, world: Any) -> Any:
    return world


def _other_telemetry_non_interference_p57(_sink: Any, act: Any) -> Any:
    return (act,)


@two_run(
    "Telemetry changes nothing: with another sink, or one that fails, the same is stored and answered.",
    source="P57",
    systems=ONLY,
    applies=_with(Layer.TELEMETRY),
    twins=_sinks,
    config=_config_telemetry_non_interference_p57,
    state=_state_telemetry_non_interference_p57,
    other=_other_telemetry_non_interference_p57,
)
def telemetry_non_interference_p57(_sink: str, step: AnyStep, other: AnyStep | None) -> bool:
    """Everything but the events themselves."""
    assert other is not None
    return bool(step.after == other.after and replace(step.shown, events=()) == replace(other.shown, events=()))


@each_step(
    "Every write_mark and execute emits one event, accepted or rejected.",
    source="P58",
    systems=ONLY,
    applies=_with(Layer.TELEMETRY),
    when=_attempts,
)
def telemetry_completeness_p58(step: AnyStep) -> bool:
    """With the agent and the verdict."""
    verdict = "accepted" if step.shown.accepted else "rejected"
    return bool(step.shown.events == ((step.action.op.value, step.action.agent, verdict),))


# Conformance, and what can happen.


def _applies_absent_layers_refuse_nothing(config: Any) -> bool:
    return bool(not config.layers)


@each_step(
    "A layer that is absent is never consulted: without any, whoever is authorised writes.",
    source="16",
    systems=ONLY,
    applies=_applies_absent_layers_refuse_nothing,
    when=_limited,
)
def absent_layers_refuse_nothing(step: AnyStep) -> bool:
    """Absence is no failure."""
    return bool(step.shown.accepted)


@reachable("An agent can be restricted.", source="9.7", systems=ONLY, applies=_with(Layer.ENVELOPE))
def restriction_happens(step: AnyStep) -> bool:
    """The detector is not blind."""
    return step.shown.health is Health.RESTRICTED


@reachable("Three agents in one scope can be flagged.", source="9.7", systems=ONLY, applies=_with(Layer.ENVELOPE))
def concentration_happens(step: AnyStep) -> bool:
    """Cross-agent patterns."""
    return step.shown.health is Health.FLAGGED


@reachable(
    "Flags can add up to needs before any action.",
    source="9.7",
    systems=ONLY,
    applies=_with(Layer.ENVELOPE, Layer.BARRIER),
)
def global_escalation_happens(step: AnyStep) -> bool:
    """The threshold can be reached."""
    return any(scope == ANYWHERE for _, scope in step.after.barrier.need_first)


LAYERS: tuple[Property, ...] = (
    envelope_monotonicity_p40,
    envelope_cold_start_safety_p41,
    write_mark_atomicity_p42,
    escalation_boundedness_p43,
    idle_agents_are_not_refused,
    first_flag_restricts_one_scope,
    first_of_several_flags_restricts_one_scope,
    write_mark_takes_no_intents,
    barrier_monotonicity_p44,
    barrier_principal_exclusivity_p45,
    barrier_is_enforced,
    probe_mark_isolation_p46,
    one_missed_canary_locks,
    canaries_gate_tool_calls,
    telemetry_non_interference_p57,
    telemetry_completeness_p58,
    absent_layers_refuse_nothing,
    restriction_happens,
    concentration_happens,
    global_escalation_happens,
)
"""The claims of this module."""
