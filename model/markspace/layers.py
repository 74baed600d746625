"""`write_mark`, tool calls and the principal's acts, with the layers of a deployment (§9.7 to §9.12).

A write passes these checks in order: no intent or action, the canary's gate, authorisation, barrier, rate limit,
envelope; then it is stored.  The envelope counts stored writes, and those that the rate limit refused (P64); under the
reading `envelope_records` a write may count in its own judgement.
"""

from __future__ import annotations

from collections.abc import Callable

from evenhand.core.records import dataclass, replace
from evenhand.model.markspace import barrier, budget, envelope, rate_limit
from evenhand.model.markspace.layers_vocabulary import (
    ANYWHERE,
    DIAGNOSTICS,
    PROBE,
    TOKEN,
    Barrier,
    Budget,
    Dated,
    Envelope,
    Health,
    Layer,
    LayersConfig,
    Op,
    Operation,
    Outcome,
    Probing,
    Rates,
    Watched,
    World,
)
from evenhand.model.markspace.marks import Kind


@dataclass(frozen=True)
class Rules:
    """The functions that a mutant may change, layer by layer; see the modules of the layers."""

    authorised: Callable[[LayersConfig, str, str], bool]
    writable: Callable[[Kind], bool]
    allows: Callable[[Barrier, str, str, Kind], bool]
    needs_first: Callable[[Barrier, str, str], bool]
    narrowed: Callable[[Barrier, str, str, Kind], Barrier]
    escalated: Callable[[LayersConfig, Barrier, str, str, Kind], Barrier]
    restored: Callable[[Barrier, str, str, Kind], Barrier]
    restored_all: Callable[[Barrier, str], Barrier]
    token_fits: Callable[[str], bool]
    check: Callable[[LayersConfig, Envelope, str], Health]
    attempted: Callable[[LayersConfig, Envelope, str, str, Kind], Envelope]
    judged: Callable[[LayersConfig, Envelope, Envelope], Envelope]
    rotated: Callable[[LayersConfig, Envelope], Envelope]
    exceeded: Callable[[LayersConfig, Rates, str, str], bool]
    rated: Callable[[Rates, str, str, bool], Rates]
    moved_on: Callable[[LayersConfig, Rates, int], Rates]
    stopped: Callable[[tuple[int, int], tuple[int | None, int | None]], bool]
    spent: Callable[[LayersConfig, Budget, str, tuple[int, int]], tuple[Budget, tuple[int, ...]]]
    raised: Callable[[LayersConfig, Budget, str, tuple[int, int]], Budget]
    emits: Callable[[LayersConfig, Op, bool], bool]
    kept_on_refusal: Callable[[World, World], World]
    compromised: Callable[[Probing, str], bool]
    blocking_warning: Callable[[], bool]


def _authorised(config: LayersConfig, agent: str, scope: str) -> bool:
    """Return whether the agent may write there: the probe in the diagnostic scope, agents in production (P46)."""
    return scope == DIAGNOSTICS if agent == PROBE else agent in config.agents and scope in config.scopes


def _writable(kind: Kind) -> bool:
    return kind not in (Kind.INTENT, Kind.ACTION)


def _token_fits(token: str) -> bool:
    return token == TOKEN


def _emits(config: LayersConfig, op: Op, _accepted: bool) -> bool:
    return config.has(Layer.TELEMETRY) and config.sink == "memory" and op in (Op.WRITE, Op.EXECUTE)


def _kept_on_refusal(before: World, after: World) -> World:
    """Return the world after a refusal: no mark is stored; the layers keep what they learned from the attempt."""
    return replace(after, stored=before.stored)


def _compromised(probing: Probing, agent: str) -> bool:
    return agent in probing.pending and agent in probing.active


def _blocking_warning() -> bool:
    return False


REFERENCE = Rules(
    authorised=_authorised,
    writable=_writable,
    allows=barrier.allows,
    needs_first=barrier.needs_first,
    narrowed=barrier.narrowed,
    escalated=barrier.escalated,
    restored=barrier.restored,
    restored_all=barrier.restored_all,
    token_fits=_token_fits,
    check=envelope.check,
    attempted=envelope.attempted,
    judged=envelope.judged,
    rotated=envelope.rotated,
    exceeded=rate_limit.exceeded,
    rated=rate_limit.rated,
    moved_on=rate_limit.moved_on,
    stopped=budget.stopped,
    spent=budget.spent,
    raised=budget.raised,
    emits=_emits,
    kept_on_refusal=_kept_on_refusal,
    compromised=_compromised,
    blocking_warning=_blocking_warning,
)
"""The layers of the text."""


def initial(config: LayersConfig) -> tuple[World, ...]:
    """Return the initial world: no marks; each layer of the deployment begins empty."""
    kind = Dated if config.readings.need_first == "later_need" else Barrier
    return (
        World(
            barrier=kind(flags=(0,) * len(config.agents)) if config.has(Layer.BARRIER) else None,
            envelope=envelope.empty(config) if config.has(Layer.ENVELOPE) else None,
            rates=Rates() if config.has(Layer.RATE) else None,
            budget=budget.empty(config) if config.has(Layer.BUDGET) else None,
            probing=Probing() if config.has(Layer.PROBE) else None,
        ),
    )


def step(rules: Rules, config: LayersConfig, world: World, act: Operation) -> tuple[World, Outcome]:
    """Return the world after one operation, and its outcome."""
    after, shown = _taken(rules, config, world, act)
    if config.readings.need_first == "later_need":
        after = replace(after, barrier=barrier.dated(world.barrier, after.barrier, len(world.stored)))
    return after, shown


def _taken(rules: Rules, config: LayersConfig, world: World, act: Operation) -> tuple[World, Outcome]:
    if act.op in (Op.WRITE, Op.EXECUTE):
        after, shown = (_write if act.op is Op.WRITE else _execute)(rules, config, world, act)
        if not shown.accepted:
            after = rules.kept_on_refusal(world, after)
        verdict = "accepted" if shown.accepted else "rejected"
        if rules.emits(config, act.op, shown.accepted):
            shown = replace(shown, events=((act.op.value, act.agent, verdict),))
        return after, shown
    if act.op is Op.TICK:
        return _tick(rules, config, world), Outcome(accepted=True)
    if act.agent not in config.agents:
        return world, Outcome(why="no such agent")
    match act.op:
        case Op.NARROW | Op.NARROW_ALL | Op.REQUIRE_NEED | Op.RESTORE | Op.RESTORE_ALL:
            return _permissions(rules, world, act)
        case Op.CHECK | Op.RESET:
            return _envelope(rules, config, world, act)
        case Op.ROUND | Op.RAISE:
            return _budget(rules, config, world, act)
        case _:
            return _probe(rules, world, act)


def _refused(world: World, why: str, by: Layer | None = None) -> tuple[World, Outcome]:
    return world, Outcome(why=why, by=by)


def _gated(world: World, agent: str) -> bool:
    return world.probing is not None and agent in world.probing.pending


def _noticed(world: World, agent: str) -> World:
    """Return the world after an agent with an unacknowledged canary tried another operation."""
    assert world.probing is not None
    return replace(world, probing=replace(world.probing, active=world.probing.active | {agent}))


def _write(rules: Rules, config: LayersConfig, world: World, act: Operation) -> tuple[World, Outcome]:
    if not rules.writable(act.kind):
        return _refused(world, "intents and actions go through the guard's own operations")
    if _gated(world, act.agent):
        return _refused(_noticed(world, act.agent), "the canary is not acknowledged", Layer.PROBE)
    if not rules.authorised(config, act.agent, act.scope):
        return _refused(world, "not authorised")
    if _used_up(rules, config, world, act.agent):
        return _refused(world, "the budget is used up", Layer.BUDGET)
    if world.barrier is not None and not rules.allows(world.barrier, act.agent, act.scope, act.kind):
        return _refused(world, "revoked", Layer.BARRIER)
    watched = act.agent in config.agents
    counted = world.envelope
    if counted is not None and watched:
        counted = rules.attempted(config, counted, act.agent, act.scope, act.kind)
    stored = replace(world, stored=(*world.stored, (act.agent, act.scope, act.kind)), envelope=counted)
    if world.rates is not None and watched:
        if rules.exceeded(config, world.rates, act.agent, act.scope):
            return _refused(stored, "too many writes in this window", Layer.RATE)
        stored = replace(stored, rates=rules.rated(world.rates, act.agent, act.scope, True))
    if world.envelope is None or counted is None or not watched:
        return stored, Outcome(accepted=True)
    judged = rules.judged(config, world.envelope, counted)
    health = rules.check(config, judged, act.agent)
    if health is not Health.RESTRICTED:
        return stored, Outcome(accepted=True, health=health)
    rates = None if world.rates is None else rules.rated(world.rates, act.agent, act.scope, False)
    flagged = replace(stored, envelope=envelope.with_restricted(config, judged, act.agent, True), rates=rates)
    if flagged.barrier is not None:
        flagged = replace(flagged, barrier=rules.escalated(config, flagged.barrier, act.agent, act.scope, act.kind))
    audit = ((act.agent, False, "envelope"),)  # 9.7: for the principal to read; the text does not say that it blocks
    return flagged, Outcome(why="anomalous", by=Layer.ENVELOPE, health=health, needs=audit)


def _used_up(rules: Rules, config: LayersConfig, world: World, agent: str) -> bool:
    """Return whether writes and tool calls count as activations (P61), and the agent's budget is used up."""
    if world.budget is None or agent not in config.agents or config.readings.activation == "round":
        return False
    place = config.agents.index(agent)
    return rules.stopped(world.budget.used[place], world.budget.ceiling[place])


def asked(config: LayersConfig, world: World, act: Operation) -> bool:
    """Return whether the agent has written a need: at all, or by the reading in this scope, or since it is required."""
    near = config.readings.need_first == "need_in_the_scope"
    return any(
        agent == act.agent and kind is Kind.NEED and (not near or scope == act.scope)
        for agent, scope, kind in world.stored[barrier.required_at(world.barrier, act.agent, act.scope) :]
    )


def _execute(rules: Rules, config: LayersConfig, world: World, act: Operation) -> tuple[World, Outcome]:
    """Return the result of an uncontested tool call."""
    if _gated(world, act.agent):
        return _refused(_noticed(world, act.agent), "the canary is not acknowledged", Layer.PROBE)
    if act.agent == PROBE or not rules.authorised(config, act.agent, act.scope):
        return _refused(world, "not authorised")
    if _used_up(rules, config, world, act.agent):
        return _refused(world, "the budget is used up", Layer.BUDGET)
    if world.barrier is not None:
        if not rules.allows(world.barrier, act.agent, act.scope, Kind.ACTION):
            return _refused(world, "revoked", Layer.BARRIER)
        if rules.needs_first(world.barrier, act.agent, act.scope) and not asked(config, world, act):
            return _refused(world, "a need must come first", Layer.BARRIER)
    return replace(world, stored=(*world.stored, (act.agent, act.scope, Kind.ACTION))), Outcome(accepted=True)


def _tick(rules: Rules, config: LayersConfig, world: World) -> World:
    after = replace(world, half=1 - world.half)
    if world.rates is not None:
        after = replace(after, rates=rules.moved_on(config, world.rates, world.half))
    if world.envelope is not None and world.half == 1:
        after = replace(after, envelope=rules.rotated(config, world.envelope))
    return after


def _permissions(rules: Rules, world: World, act: Operation) -> tuple[World, Outcome]:
    if world.barrier is None:
        return _refused(world, "no such layer")
    match act.op:
        case Op.NARROW:
            changed = rules.narrowed(world.barrier, act.agent, act.scope, act.kind)
        case Op.NARROW_ALL:
            changed = rules.narrowed(world.barrier, act.agent, ANYWHERE, act.kind)
        case Op.REQUIRE_NEED:
            changed = barrier.with_need_first(world.barrier, act.agent, act.scope)
        case _ if not rules.token_fits(act.token):
            return _refused(world, "not the principal", Layer.BARRIER)
        case Op.RESTORE:
            changed = rules.restored(world.barrier, act.agent, act.scope, act.kind)
        case _:
            changed = rules.restored_all(world.barrier, act.agent)
    return replace(world, barrier=changed), Outcome(accepted=True)


def _envelope(rules: Rules, config: LayersConfig, world: World, act: Operation) -> tuple[World, Outcome]:
    if world.envelope is None:
        return _refused(world, "no such layer")
    if act.op is Op.CHECK:
        health = rules.check(config, world.envelope, act.agent)
        restricted = health is Health.RESTRICTED
        after = (
            envelope.with_restricted(config, world.envelope, act.agent, restricted) if restricted else world.envelope
        )
        return replace(world, envelope=after), Outcome(accepted=True, health=health)
    if not rules.token_fits(act.token):
        return _refused(world, "not the principal", Layer.ENVELOPE)
    place = config.agents.index(act.agent)
    fresh = replace(Watched(), past=world.envelope.watched[place].past)
    watched = (*world.envelope.watched[:place], fresh, *world.envelope.watched[place + 1 :])
    return replace(world, envelope=Envelope(watched)), Outcome(accepted=True)


def _budget(rules: Rules, config: LayersConfig, world: World, act: Operation) -> tuple[World, Outcome]:
    if world.budget is None:  # P59: no budget, no enforcement, no tracking
        return (world, Outcome(accepted=True)) if act.op is Op.ROUND else _refused(world, "no such layer")
    if min(act.tokens) < 0:
        return _refused(world, "tokens are not taken back", Layer.BUDGET)
    place = config.agents.index(act.agent)
    if act.op is Op.RAISE:
        if not rules.token_fits(act.token):
            return _refused(world, "not the principal", Layer.BUDGET)
        return replace(world, budget=rules.raised(config, world.budget, act.agent, act.tokens)), Outcome(accepted=True)
    if rules.stopped(world.budget.used[place], world.budget.ceiling[place]):
        return _refused(world, "the budget is used up", Layer.BUDGET)
    after, new = rules.spent(config, world.budget, act.agent, act.tokens)
    needs = tuple((act.agent, rules.blocking_warning(), ("input", "output")[dimension]) for dimension in new)
    return replace(world, budget=after), Outcome(accepted=True, needs=needs)


def _probe(rules: Rules, world: World, act: Operation) -> tuple[World, Outcome]:
    probing = world.probing
    if probing is None:
        return _refused(world, "no such layer")
    match act.op:
        case Op.INJECT:
            changed = Probing(probing.pending | {act.agent}, probing.active - {act.agent})
            return replace(world, probing=changed), Outcome(accepted=True)
        case Op.ACKNOWLEDGE:
            if not act.right:
                return _refused(_noticed(world, act.agent), "not the canary's id", Layer.PROBE)
            changed = Probing(probing.pending - {act.agent}, probing.active - {act.agent})
            return replace(world, probing=changed), Outcome(accepted=True)
        case _:
            missed = rules.compromised(probing, act.agent)
            after = replace(world, probing=Probing(probing.pending - {act.agent}, probing.active - {act.agent}))
            if not missed:
                return after, Outcome(accepted=True)
            if after.barrier is not None:
                locked = after.barrier
                for kind in (Kind.OBSERVATION, Kind.WARNING, Kind.INTENT, Kind.ACTION):
                    locked = rules.narrowed(locked, act.agent, ANYWHERE, kind)
                after = replace(after, barrier=locked)
            return after, Outcome(accepted=True, why="compromised", needs=((act.agent, True, "probe"),))
