"""What each operation of the layers does, and nothing else: one claim for each part of the world and of the answer.

Together they determine the step: `layers_text` says from the text what must follow, these claims that it does.
"""

from __future__ import annotations

from evenhand.core.property import each_step
from evenhand.core.records import replace
from evenhand.model.markspace.layers_vocabulary import (
    ANYWHERE,
    Barrier,
    Budget,
    Dated,
    Envelope,
    Health,
    Layer,
    LayersConfig,
    LayersStep,
    Op,
    Rates,
    Watched,
)
from evenhand.model.markspace.marks import Kind
from evenhand.properties.markspace.layers_predicates import (
    ONLY,
    attempts,
    having,
    limited,
    place_of,
    writes,
)
from evenhand.properties.markspace.layers_text import (
    counts,
    crossing,
    flagged,
    health,
    health_of,
    known,
    layer_of,
    misses,
    permitted,
    restrictions,
    with_attempt,
    with_one,
)
from evenhand.properties.markspace.predicates import there

# Who gets through, and what the answer says.


@each_step(
    "Every operation that nothing forbids is let through, and no other.",
    source="9.7 to 9.12, P44 to P46, P61 to P65",
    systems=ONLY,
)
def layers_admit_exactly_the_permitted(step: LayersStep) -> bool:
    """An idle barrier, probe, envelope, rate limit or budget stops nobody."""
    return step.shown.accepted == permitted(step)


@each_step(
    "Every refusal gives a reason and names the layer that refuses; an operation that is let through names none.",
    source="9.7 to 9.12, 16",
    systems=ONLY,
)
def layers_refuse_with_a_reason(step: LayersStep) -> bool:
    """A write or tool call that layers alone forbid is refused by one of them; the text gives no order."""
    by = step.shown.by
    if step.shown.accepted:
        return by is None
    if not step.shown.why:
        return False
    if not attempts(step):
        about = layer_of(step)
        return by is (about if known(step) and about is not None and step.config.has(about) else None)
    forbidding = restrictions(step)
    layers = frozenset(one for one in forbidding if isinstance(one, Layer))
    return by in layers or (by is None and len(layers) < len(forbidding))


@each_step(
    "Check, and a write that reaches the envelope, answer with the health that the counts give; nothing else does.",
    source="9.7: rate anomaly, type shift, concentration",
    systems=ONLY,
    applies=having(Layer.ENVELOPE),
)
def health_is_what_the_counts_say(step: LayersStep) -> bool:
    """A sticky restriction comes first, then the cold start, then the three checks."""
    asked = step.action.op is Op.CHECK and known(step)
    judged = writes(step) and known(step) and restrictions(step) <= {Layer.ENVELOPE}
    due: Health | None = step.once(health_of) if asked or judged else None
    return step.shown.health is due


@each_step(
    "The guard writes a need for each budget warning, each missed canary and each flag of the envelope, and no other.",
    source="9.7 step 4, 9.9, P60",
    systems=ONLY,
)
def needs_are_written_for_their_causes(step: LayersStep) -> bool:
    """Only the missed canary blocks."""
    agent = step.action.agent
    due: tuple[tuple[str, bool, str], ...] = ()
    if step.action.op is Op.ROUND and step.before.budget is not None and permitted(step):
        due = tuple((agent, False, name) for name in crossing(step))
    elif misses(step):
        due = ((agent, True, "probe"),)
    elif flagged(step):
        due = ((agent, False, "envelope"),)
    return step.shown.needs == due


@each_step(
    "Nothing but writes and tool calls emits an event, and without telemetry nothing does.",
    source="9.11, P57",
    systems=ONLY,
    when=lambda step: not attempts(step) or not step.config.has(Layer.TELEMETRY),
)
def no_other_events(step: LayersStep) -> bool:
    """The events themselves are P58."""
    return not step.shown.events


# What is remembered.


@each_step(
    "Operations other than writes and tool calls store no mark, and only the clock moves the window.",
    source="9.7, 9.12",
    systems=ONLY,
)
def only_attempts_store_and_only_the_clock_moves(step: LayersStep) -> bool:
    """What is stored by writes and tool calls is P42."""
    ticks = step.action.op is Op.TICK
    stays = attempts(step) or step.after.stored == step.before.stored
    return stays and step.after.half == (1 - step.before.half if ticks else step.before.half)


def _barrier(step: LayersStep) -> Barrier:
    """The barrier that the text wants after this operation."""
    act, barrier = step.action, there(step.before.barrier)
    if flagged(step):
        return _escalated(step, barrier)
    if misses(step):
        kinds = (Kind.OBSERVATION, Kind.WARNING, Kind.INTENT, Kind.ACTION)
        return replace(barrier, revoked=barrier.revoked | {(act.agent, ANYWHERE, kind) for kind in kinds})
    if not permitted(step):
        return barrier
    match act.op:
        case Op.NARROW | Op.NARROW_ALL:
            scope = act.scope if act.op is Op.NARROW else ANYWHERE
            return replace(barrier, revoked=barrier.revoked | {(act.agent, scope, act.kind)})
        case Op.REQUIRE_NEED:
            return replace(barrier, need_first=barrier.need_first | {(act.agent, act.scope)})
        case Op.RESTORE:
            return replace(barrier, revoked=barrier.revoked - {(act.agent, act.scope, act.kind)})
        case Op.RESTORE_ALL:
            return replace(
                barrier,
                revoked=frozenset(one for one in barrier.revoked if one[0] != act.agent),
                need_first=frozenset(one for one in barrier.need_first if one[0] != act.agent),
            )
        case _:
            return barrier


def _escalated(step: LayersStep, barrier: Barrier) -> Barrier:
    """9.7, escalation policy: the triggering type in that scope; from the threshold on a need before any action."""
    act, place = step.action, place_of(step)
    total = barrier.flags[place] + 1
    flags = tuple(min(total, max(step.config.threshold, 1)) if at == place else n for at, n in enumerate(barrier.flags))
    everywhere = {(act.agent, ANYWHERE)} if total >= step.config.threshold else set[tuple[str, str]]()
    revoked = barrier.revoked | {(act.agent, act.scope, act.kind)}
    return replace(barrier, revoked=revoked, need_first=barrier.need_first | everywhere, flags=flags)


def _dated(step: LayersStep, due: Barrier) -> Barrier:
    """The same where needs are dated: what is newly required counts the marks that are older."""
    if not isinstance(due, Dated):
        return due
    kept = {(agent, scope, at) for agent, scope, at in due.since if (agent, scope) in due.need_first}
    old = there(step.before.barrier).need_first
    new = {(agent, scope, len(step.before.stored)) for agent, scope in due.need_first if (agent, scope) not in old}
    return replace(due, since=frozenset(kept | new))


@each_step(
    "The barrier revokes and grants exactly what the operation names, and escalates as the policy says.",
    source="9.8, 9.7 escalation policy, 9.9",
    systems=ONLY,
    applies=having(Layer.BARRIER),
)
def barrier_does_what_it_is_told(step: LayersStep) -> bool:
    """Every other operation leaves it alone."""
    return step.after.barrier == _dated(step, _barrier(step))


@each_step(
    "A canary is pending from its injection until its right id is given or the round ends, and activity is noticed.",
    source="9.9",
    systems=ONLY,
    applies=having(Layer.PROBE),
)
def canaries_wait_for_their_id(step: LayersStep) -> bool:
    """A wrong id acknowledges nothing."""
    act, before, after = step.action, there(step.before.probing), there(step.after.probing)
    pending, active = before.pending, before.active
    own = frozenset({act.agent})
    if act.op is Op.INJECT and known(step):
        pending, active = pending | own, active - own
    elif (act.op is Op.ACKNOWLEDGE and act.right) or act.op is Op.END_ROUND:
        pending, active = pending - own, active - own
    elif step.shown.by is Layer.PROBE:
        active = active | own
    return after.pending == pending and after.active & pending == active & pending


def _envelope(step: LayersStep) -> tuple[Envelope, ...]:
    """The envelopes that the text permits after this operation."""
    act, config, envelope = step.action, step.config, there(step.before.envelope)
    if act.op is Op.TICK:
        return (Envelope(tuple(_rolled(config, one) for one in envelope.watched)) if step.before.half else envelope,)
    if not known(step):
        return (envelope,)
    place = place_of(step)
    mine = envelope.watched[place]
    if act.op is Op.RESET and permitted(step):
        return (Envelope(with_one(envelope.watched, place, Watched(past=mine.past))),)
    if act.op is Op.CHECK:
        restricted = health(config, envelope, act.agent) is Health.RESTRICTED
        return (Envelope(with_one(envelope.watched, place, replace(mine, restricted=restricted))),)
    if not writes(step) or restrictions(step) - {Layer.RATE, Layer.ENVELOPE}:
        return (envelope,)
    counted = with_attempt(step)
    if not flagged(step):
        return (counted,)
    # The text does not say whether a write that the envelope refuses counts as well.
    return tuple(
        Envelope(with_one(one.watched, place, replace(one.watched[place], restricted=True)))
        for one in (envelope, counted)
    )


def _rolled(config: LayersConfig, one: Watched) -> Watched:
    """An agent's record at the end of a window; as many completed windows are kept as the bound says."""
    past = (*one.past, counts(one.now))
    return Watched((), one.now, past[len(past) - min(len(past), config.windows) :], one.restricted)


@each_step(
    "The envelope counts every write that authority, canary and barrier let through, rolls its windows, and forgets "
    "only what the principal resets.",
    source="9.7, P64",
    systems=ONLY,
    applies=having(Layer.ENVELOPE),
)
def envelope_counts_attempts(step: LayersStep) -> bool:
    """A write that the rate limit refuses counts; tool calls do not."""
    return step.after.envelope in _envelope(step)


def _budget(step: LayersStep) -> Budget:
    """The budget that the text wants after this operation."""
    act, budget = step.action, there(step.before.budget)
    if act.op not in (Op.ROUND, Op.RAISE) or not permitted(step):
        return budget
    place = place_of(step)
    used, warned, ceiling = list(budget.used), list(budget.warned), list(budget.ceiling)
    if act.op is Op.RAISE:
        first, second = ceiling[place]
        more = act.tokens
        ceiling[place] = (None if first is None else first + more[0], None if second is None else second + more[1])
    else:
        new = crossing(step)
        used[place] = (used[place][0] + act.tokens[0], used[place][1] + act.tokens[1])
        warned[place] = (warned[place][0] or "input" in new, warned[place][1] or "output" in new)
    return Budget(tuple(used), tuple(warned), tuple(ceiling))


@each_step(
    "A round adds its tokens and remembers its warnings, and the principal raises the ceilings by what is named.",
    source="9.10, P60, P62, P63",
    systems=ONLY,
    applies=having(Layer.BUDGET),
)
def budgets_add_up(step: LayersStep) -> bool:
    """Of the agent that it is about; every other operation leaves budgets alone."""
    return step.after.budget == _budget(step)


@each_step(
    "The rate limit counts exactly the stored writes of agents, and its window moves with the clock.",
    source="9.12, P66",
    systems=ONLY,
    applies=having(Layer.RATE),
)
def rates_count_stored_writes(step: LayersStep) -> bool:
    """A tumbling window empties at its end; a sliding one drops a half."""
    rates, act = there(step.before.rates), step.action
    if act.op is Op.TICK:
        keeps = step.config.readings.rate_window == "sliding" or step.before.half == 0
        return step.after.rates == Rates((), rates.now if keeps else ())
    counted = limited(step) and step.shown.accepted
    now = tuple(sorted((*rates.now, (act.agent, act.scope)))) if counted else rates.now
    return step.after.rates == Rates(now, rates.before)
