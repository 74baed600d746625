"""The optional layers: envelope, barrier, probe, telemetry (P40 to P46, P57, P58, §16)."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.plan import refuted
from evenhand.core.property import always, each_step, reachable, two_run
from evenhand.core.records import replace
from evenhand.model.markspace.layers_vocabulary import (
    ANYWHERE,
    DIAGNOSTICS,
    PROBE,
    TOKEN,
    Barrier,
    Health,
    Layer,
    LayersConfig,
    LayersStep,
    Op,
    Operation,
    World,
)
from evenhand.model.markspace.marks import Kind
from evenhand.properties.markspace.layers_predicates import (
    ONLY,
    attempts,
    having,
    limited,
    place_of,
    watched,
    writes,
)
from evenhand.properties.markspace.layers_text import has_asked
from evenhand.properties.markspace.predicates import same_action, same_state, there


def _by_principal(step: LayersStep) -> bool:
    return step.action.token == TOKEN


# Envelope.


def _restricted(config: LayersConfig, world: World) -> frozenset[str]:
    if world.envelope is None:
        return frozenset()
    return frozenset(a for a, one in zip(config.agents, world.envelope.watched, strict=True) if one.restricted)


@each_step(
    "Who is RESTRICTED stays so until the principal resets it, and check says so.",
    source="P40",
    systems=ONLY,
    applies=having(Layer.ENVELOPE),
    when=lambda step: bool(_restricted(step.config, step.before)),
)
def envelope_monotonicity_p40(step: LayersStep) -> bool:
    """A restriction is sticky."""
    before, after = _restricted(step.config, step.before), _restricted(step.config, step.after)
    freed = {step.action.agent} if step.action.op is Op.RESET and _by_principal(step) else set[str]()
    said = step.shown.health is Health.RESTRICTED
    return before - freed <= after and (step.action.op is not Op.CHECK or step.action.agent not in before or said)


def _cold(step: LayersStep) -> bool:
    if step.shown.health is None or step.config.baseline is not None:
        return False
    kept = watched(step, step.before)
    return len(kept.past) < step.config.samples and not kept.restricted


@each_step(
    "An agent without enough completed windows, and without a declared baseline, is NORMAL.",
    source="P41",
    systems=ONLY,
    applies=having(Layer.ENVELOPE),
    when=_cold,
)
def envelope_cold_start_safety_p41(step: LayersStep) -> bool:
    """This holds whatever it does in its first windows, when it is checked and when it writes."""
    return step.shown.health is Health.NORMAL


@each_step(
    "A write or a tool call that is rejected stores nothing; one that is accepted stores exactly one mark.",
    source="P42",
    systems=ONLY,
    when=attempts,
)
def write_mark_atomicity_p42(step: LayersStep) -> bool:
    """There are no partial writes."""
    act = step.action
    kind = Kind.ACTION if act.op is Op.EXECUTE else act.kind
    more = ((act.agent, act.scope, kind),) if step.shown.accepted else ()
    return step.after.stored == step.before.stored + more


def _is_flagged(step: LayersStep) -> bool:
    return step.shown.by is Layer.ENVELOPE and writes(step)


@each_step(
    "A flag of the envelope revokes permissions in at most one scope; needs before every action take as many flags as "
    "the threshold says.",
    source="P43",
    systems=ONLY,
    applies=having(Layer.ENVELOPE, Layer.BARRIER),
    when=_is_flagged,
)
def escalation_boundedness_p43(step: LayersStep) -> bool:
    """One flag revokes at most one permission, in the flagged scope."""
    before, after = there(step.before.barrier), there(step.after.barrier)
    new = after.revoked - before.revoked
    flags = after.flags[place_of(step)]
    globally = after.need_first - before.need_first
    narrow = new <= {(step.action.agent, step.action.scope, step.action.kind)}
    return narrow and (not globally or flags >= step.config.threshold) and flags > 0


@each_step(
    "The envelope refuses nobody who has tried nothing in this window and the last.",
    source="9.7 with 8.6: a write is checked, then counted",
    systems=ONLY,
    applies=having(Layer.ENVELOPE),
    when=lambda step: _is_flagged(step) and not watched(step, step.before).restricted,
    expected=(
        refuted(
            "a write that counts in its own judgement can be the spike",
            system="layers",
            envelope_records="before_the_check",
        ),
    ),
)
def idle_agents_are_not_refused(step: LayersStep) -> bool:
    """The mark to be written is no reason; false where attempts count before the check."""
    kept = watched(step, step.before)
    return bool(kept.now or kept.before)


def _first_flag(step: LayersStep) -> bool:
    return _is_flagged(step) and there(step.before.barrier).flags[place_of(step)] == 0


@each_step(
    "The first flag of the envelope restricts its agent in the flagged scope alone.",
    source="P43, its first sentence",
    systems=ONLY,
    applies=having(Layer.ENVELOPE, Layer.BARRIER),
    when=_first_flag,
    expected=(refuted("9.7: with a threshold of 0 or 1 the first flag is global", system="layers"),),
)
def first_flag_restricts_one_scope(step: LayersStep) -> bool:
    """False with a threshold below two, which the text permits: one flag then restricts globally."""
    new = there(step.after.barrier).need_first - there(step.before.barrier).need_first
    return (step.action.agent, ANYWHERE) not in new


def _two_flags_or_more(config: LayersConfig) -> bool:
    return config.has(Layer.ENVELOPE, Layer.BARRIER) and config.threshold >= 2


@each_step(
    "With a threshold of two or more the first flag restricts its agent in the flagged scope alone.",
    source="P43, its first sentence, repaired",
    systems=ONLY,
    applies=_two_flags_or_more,
    when=_first_flag,
)
def first_of_several_flags_restricts_one_scope(step: LayersStep) -> bool:
    """P43 with the constraint on the configuration that it needs."""
    return first_flag_restricts_one_scope.check(step)


@each_step(
    "write_mark refuses intents and actions.",
    source="9.7",
    systems=ONLY,
    when=lambda step: writes(step) and step.action.kind in (Kind.INTENT, Kind.ACTION),
)
def write_mark_takes_no_intents(step: LayersStep) -> bool:
    """Intents and actions go through the guard's own operations."""
    return not step.shown.accepted and bool(step.shown.why)


# Barrier.


def _denied(world: World) -> frozenset[tuple[str, str] | tuple[str, str, Kind]]:
    barrier = world.barrier or Barrier()
    return frozenset((*barrier.revoked, *barrier.need_first))


@each_step(
    "A permission that is revoked stays so until the principal grants it again.",
    source="P44",
    systems=ONLY,
    applies=having(Layer.BARRIER),
    when=lambda step: bool(_denied(step.before)),
)
def barrier_monotonicity_p44(step: LayersStep) -> bool:
    """Denials stay, except those that the principal lifts."""
    lost = _denied(step.before) - _denied(step.after)
    act = step.action
    if act.op is Op.RESTORE_ALL and _by_principal(step):
        return all(one[0] == act.agent for one in lost)
    if act.op is Op.RESTORE and _by_principal(step):
        return lost <= {(act.agent, act.scope, act.kind)}
    return not lost


@each_step(
    "Nobody restores or resets without the principal's token.",
    source="P45, 9.7",
    systems=ONLY,
    when=lambda step: step.action.op in (Op.RESTORE, Op.RESTORE_ALL, Op.RESET, Op.RAISE) and not _by_principal(step),
)
def barrier_principal_exclusivity_p45(step: LayersStep) -> bool:
    """Any other token is rejected and changes nothing."""
    return not step.shown.accepted and step.after == step.before


@each_step(
    "What is revoked, in the scope or everywhere, is refused; tool calls wait for a need where one must come first.",
    source="9.8",
    systems=ONLY,
    applies=having(Layer.BARRIER),
    when=lambda step: attempts(step) and step.action.agent in step.config.agents and step.shown.accepted,
)
def barrier_is_enforced(step: LayersStep) -> bool:
    """Every accepted attempt was permitted."""
    act, barrier = step.action, there(step.before.barrier)
    kind = Kind.ACTION if act.op is Op.EXECUTE else act.kind
    if {(act.agent, act.scope, kind), (act.agent, ANYWHERE, kind)} & barrier.revoked:
        return False
    first = {(act.agent, act.scope), (act.agent, ANYWHERE)} & barrier.need_first
    return act.op is not Op.EXECUTE or not first or has_asked(step)


# Probe.


def _probed(_config: LayersConfig, world: World) -> bool:
    return any(agent == PROBE for agent, _, _ in world.stored)


@always(
    "The probe's marks are in the diagnostic scope, and nobody else's are.",
    source="P46",
    systems=ONLY,
    applies=having(Layer.PROBE),
    when=_probed,
)
def probe_mark_isolation_p46(world: World) -> bool:
    """Isolation in both directions."""
    return all((agent == PROBE) == (scope == DIAGNOSTICS) for agent, scope, _ in world.stored)


def _misses(step: LayersStep) -> bool:
    probing = step.before.probing
    if step.action.op is not Op.END_ROUND or probing is None:
        return False
    return step.action.agent in probing.pending and step.action.agent in probing.active


@each_step(
    "One missed canary locks: a blocking need is written, and nothing but needs can be written until the principal "
    "restores.",
    source="9.9",
    systems=ONLY,
    applies=having(Layer.PROBE, Layer.BARRIER),
    when=_misses,
)
def one_missed_canary_locks(step: LayersStep) -> bool:
    """There is no grace period."""
    agent, revoked = step.action.agent, there(step.after.barrier).revoked
    locked = all((agent, ANYWHERE, kind) in revoked for kind in (Kind.OBSERVATION, Kind.ACTION))
    return locked and (agent, ANYWHERE, Kind.NEED) not in revoked and (agent, True, "probe") in step.shown.needs


@each_step(
    "With a canary to acknowledge nothing else is let through.",
    source="9.9",
    systems=ONLY,
    applies=having(Layer.PROBE),
    when=lambda step: attempts(step) and step.action.agent in step.before.probing.pending,
)
def canaries_gate_tool_calls(step: LayersStep) -> bool:
    """The agent takes no action in that round."""
    return not step.shown.accepted


# Telemetry.


def _sinks(config: LayersConfig, _world: World, act: Operation) -> Iterator[str]:
    if act.op in (Op.WRITE, Op.EXECUTE):
        yield from (sink for sink in ("null", "failing", "memory") if sink != config.sink)


def _with_sink(sink: str, config: LayersConfig) -> LayersConfig:
    return replace(config, sink=sink)


@two_run(
    "Telemetry changes nothing: with another sink, or one that fails, the same is stored and answered.",
    source="P57",
    systems=ONLY,
    applies=having(Layer.TELEMETRY),
    twins=_sinks,
    config=_with_sink,
    state=same_state,
    other=same_action,
)
def telemetry_non_interference_p57(_sink: str, step: LayersStep, other: LayersStep | None) -> bool:
    """Everything is compared except the events themselves."""
    assert other is not None
    return step.after == other.after and replace(step.shown, events=()) == replace(other.shown, events=())


@each_step(
    "Every write_mark and execute emits one event, accepted or rejected.",
    source="P58",
    systems=ONLY,
    applies=having(Layer.TELEMETRY),
    when=attempts,
)
def telemetry_completeness_p58(step: LayersStep) -> bool:
    """The event names the agent and the verdict."""
    verdict = "accepted" if step.shown.accepted else "rejected"
    return step.shown.events == ((step.action.op.value, step.action.agent, verdict),)


# Conformance and reachability.


def _without_layers(config: LayersConfig) -> bool:
    return not config.layers


@each_step(
    "A layer that is absent is never consulted: without any, whoever is authorised writes.",
    source="16",
    systems=ONLY,
    applies=_without_layers,
    when=limited,
)
def absent_layers_refuse_nothing(step: LayersStep) -> bool:
    """An absent layer is no failure."""
    return step.shown.accepted


@reachable("An agent can be restricted.", source="9.7", systems=ONLY, applies=having(Layer.ENVELOPE))
def restriction_happens(step: LayersStep) -> bool:
    """The detector can fire."""
    return step.shown.health is Health.RESTRICTED


@reachable("Three agents in one scope can be flagged.", source="9.7", systems=ONLY, applies=having(Layer.ENVELOPE))
def concentration_happens(step: LayersStep) -> bool:
    """Patterns across agents are detected."""
    return step.shown.health is Health.FLAGGED


@reachable(
    "Flags can add up to needs before any action.",
    source="9.7",
    systems=ONLY,
    applies=having(Layer.ENVELOPE, Layer.BARRIER),
)
def global_escalation_happens(step: LayersStep) -> bool:
    """The threshold can be reached."""
    return any(scope == ANYWHERE for _, scope in there(step.after.barrier).need_first)
