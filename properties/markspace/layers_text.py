"""What the text says about the layers (§9.7 to §9.12), written as functions of the world before an operation.

Nothing here calls the model: the claims of `layered` compare what an operation did with what these say.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from evenhand.core.records import replace
from evenhand.model.markspace.layers_vocabulary import (
    ANYWHERE,
    DIAGNOSTICS,
    PROBE,
    TOKEN,
    Dated,
    Envelope,
    Health,
    Layer,
    LayersConfig,
    LayersStep,
    Op,
    Watched,
)
from evenhand.model.markspace.marks import Kind
from evenhand.properties.markspace.layers_predicates import attempts, place_of, writes
from evenhand.properties.markspace.predicates import there

COUNTED = (Kind.OBSERVATION, Kind.NEED)
"""The types of marks that an agent may write and the envelope counts."""


def known(step: LayersStep) -> bool:
    """Whether the operation is by or about one of the agents."""
    return step.action.agent in step.config.agents


def by_principal(step: LayersStep) -> bool:
    """Whether the operation carries the principal's token."""
    return step.action.token == TOKEN


# What restricts a write or a tool call.


def restrictions(step: LayersStep) -> frozenset[Layer | str]:
    """Everything that forbids this write or tool call: layers, and the rules of §9.7 and P46 by name."""
    return step.once(_every_restriction)


def _every_restriction(step: LayersStep) -> frozenset[Layer | str]:
    return frozenset(_restrictions(step))


def _restrictions(step: LayersStep) -> Iterator[Layer | str]:
    act, before = step.action, step.before
    if writes(step) and act.kind not in COUNTED:
        yield "type"
    if not _authorised(step):
        yield "authority"
    if before.probing is not None and act.agent in before.probing.pending:
        yield Layer.PROBE
    if before.budget is not None and known(step) and step.config.readings.activation != "round" and used_up(step):
        yield Layer.BUDGET
    if before.barrier is not None and _barred(step):
        yield Layer.BARRIER
    if writes(step) and known(step):
        if before.rates is not None and _rate_used_up(step):
            yield Layer.RATE
        if before.envelope is not None and step.once(health_of) is Health.RESTRICTED:
            yield Layer.ENVELOPE


def _authorised(step: LayersStep) -> bool:
    """P46: the probe writes in the diagnostic scope alone and calls no tool; agents act in production scopes."""
    act = step.action
    if act.agent == PROBE:
        return writes(step) and act.scope == DIAGNOSTICS
    return known(step) and act.scope in step.config.scopes


def _barred(step: LayersStep) -> bool:
    """§9.8: the permission is revoked, here or anywhere; or a need must come first and none was written."""
    act, barrier = step.action, there(step.before.barrier)
    kind = act.kind if writes(step) else Kind.ACTION
    if any((act.agent, scope, kind) in barrier.revoked for scope in (act.scope, ANYWHERE)):
        return True
    first = any((act.agent, scope) in barrier.need_first for scope in (act.scope, ANYWHERE))
    return not writes(step) and first and not has_asked(step)


def has_asked(step: LayersStep) -> bool:
    """§9.8: the agent has written a need, under the reading `need_first` in the scope of the tool call, or lately."""
    barrier, act, oldest = step.before.barrier, step.action, 0
    if isinstance(barrier, Dated):  # each requirement asks for a need of its own time
        places = (act.scope, ANYWHERE)
        oldest = max((at for who, where, at in barrier.since if who == act.agent and where in places), default=0)
    needs = [scope for agent, scope, kind in step.before.stored[oldest:] if agent == act.agent and kind is Kind.NEED]
    return step.action.scope in needs if step.config.readings.need_first == "need_in_the_scope" else bool(needs)


def _rate_used_up(step: LayersStep) -> bool:
    """P64, P65: this window has as many writes in the scope as the agent, or all together, may write."""
    rates, (each, every) = there(step.before.rates), step.config.rate
    here = [who for who, where in (*rates.before, *rates.now) if where == step.action.scope]
    return (each is not None and here.count(step.action.agent) >= each) or (every is not None and len(here) >= every)


# The envelope (§9.7).


def with_attempt(step: LayersStep) -> Envelope:
    """The envelope with this write counted among the attempts of its agent."""
    place, watched = place_of(step), there(step.before.envelope).watched
    now = sorted((*watched[place].now, (step.action.scope, step.action.kind)), key=lambda one: (one[0], one[1].value))
    return Envelope(with_one(watched, place, replace(watched[place], now=tuple(now))))


def with_one(watched: tuple[Watched, ...], place: int, one: Watched) -> tuple[Watched, ...]:
    """The records with another one at this place."""
    return tuple(one if at == place else other for at, other in enumerate(watched))


def judged_by(step: LayersStep) -> Envelope:
    """The counts that a write is judged by, under the reading `envelope_records`."""
    early = writes(step) and step.config.readings.envelope_records == "before_the_check"
    return with_attempt(step) if early else there(step.before.envelope)


def health_of(step: LayersStep) -> Health:
    """The health of the step's agent by the counts that it is judged by."""
    return health(step.config, judged_by(step), step.action.agent)


def health(config: LayersConfig, envelope: Envelope, agent: str) -> Health:
    """The answer of `check(agent)`: sticky restriction, cold start, rate anomaly, type shift, concentration."""
    mine = envelope.watched[config.agents.index(agent)]
    if mine.restricted:
        return Health.RESTRICTED
    if config.baseline is None and len(mine.past) < config.samples:
        return Health.NORMAL
    if any(_spikes(config, mine, place) for place in (0, 1)) or _shifts(config, mine):
        return Health.RESTRICTED
    topics = ({scope for scope, kind in mine.now if kind is Kind.OBSERVATION}) if mine.now else set[str]()
    for topic in topics:
        if sum((topic, Kind.OBSERVATION) in one.now for one in envelope.watched) >= 3:
            return Health.FLAGGED
    return Health.NORMAL


def counts(window: tuple[tuple[str, Kind], ...]) -> tuple[int, int]:
    """How many observations and needs a window has."""
    kinds = [kind for _, kind in window]
    return kinds.count(Kind.OBSERVATION), kinds.count(Kind.NEED)


def _spikes(config: LayersConfig, mine: Watched, place: int) -> bool:
    """`current > mean + k * stddev`, or `current + previous > 2 * threshold`; squared, so that no root is taken."""
    history = [Fraction(one[place]) for one in mine.past]
    if config.baseline is not None and place == 0:
        # Two synthetic samples with the declared mean and a deviation of half the mean.
        history += [Fraction(config.baseline, 2), Fraction(3 * config.baseline, 2)]
    if not history:
        return False
    mean = sum(history, Fraction(0)) / len(history)
    variance = sum(((one - mean) ** 2 for one in history), Fraction(0)) / len(history)
    current, previous = counts(mine.now)[place], counts(mine.before)[place]
    return any(
        excess > 0 and excess * excess > config.sigmas * config.sigmas * variance
        for excess in (current - mean, Fraction(current + previous, 2) - mean)
    )


def _shifts(config: LayersConfig, mine: Watched) -> bool:
    """The share of observations in this window is further from the historical one than the threshold."""
    observed, needed = counts(mine.now)
    past = [sum(one[place] for one in mine.past) for place in (0, 1)]
    if not observed + needed or not sum(past):
        return False
    return abs(Fraction(observed, observed + needed) - Fraction(past[0], sum(past))) > config.shift


# Budgets, probe, and who may do what.


def crossing(step: LayersStep) -> tuple[str, ...]:
    """The dimensions whose usage reaches the warning fraction with this round and had no warning before (P60)."""
    budget, place = there(step.before.budget), place_of(step)
    found: list[str] = []
    for dimension, name in enumerate(("input", "output")):
        ceiling = budget.ceiling[place][dimension]
        total = budget.used[place][dimension] + step.action.tokens[dimension]
        if ceiling is not None and total >= step.config.fraction * ceiling and not budget.warned[place][dimension]:
            found.append(name)
    return tuple(found)


def used_up(step: LayersStep) -> bool:
    """Whether usage has reached the total in some dimension (P61)."""
    budget, place = there(step.before.budget), place_of(step)
    pairs = zip(budget.used[place], budget.ceiling[place], strict=True)
    return any(ceiling is not None and used >= ceiling for used, ceiling in pairs)


def misses(step: LayersStep) -> bool:
    """Whether a round ends for an agent that was active and did not acknowledge its canary (§9.9)."""
    probing, agent = step.before.probing, step.action.agent
    return (
        step.action.op is Op.END_ROUND and probing is not None and agent in probing.pending and agent in probing.active
    )


def flagged(step: LayersStep) -> bool:
    """Whether the envelope, and nothing before it, refuses this write."""
    return writes(step) and restrictions(step) == frozenset[Layer | str]({Layer.ENVELOPE})


_OF: dict[Op, Layer] = {
    Op.NARROW: Layer.BARRIER,
    Op.NARROW_ALL: Layer.BARRIER,
    Op.REQUIRE_NEED: Layer.BARRIER,
    Op.RESTORE: Layer.BARRIER,
    Op.RESTORE_ALL: Layer.BARRIER,
    Op.CHECK: Layer.ENVELOPE,
    Op.RESET: Layer.ENVELOPE,
    Op.ROUND: Layer.BUDGET,
    Op.RAISE: Layer.BUDGET,
    Op.INJECT: Layer.PROBE,
    Op.ACKNOWLEDGE: Layer.PROBE,
    Op.END_ROUND: Layer.PROBE,
}
"""The layer that an operation is about."""

_PRINCIPALS = (Op.RESTORE, Op.RESTORE_ALL, Op.RESET, Op.RAISE)


def layer_of(step: LayersStep) -> Layer | None:
    """The layer that the operation is about; None for writes, tool calls and the clock."""
    return _OF.get(step.action.op)


def permitted(step: LayersStep) -> bool:
    """Whether the text lets this operation through."""
    act = step.action
    if attempts(step):
        return not restrictions(step)
    if act.op is Op.TICK:
        return True
    if not known(step):
        return False
    if not step.config.has(_OF[act.op]):
        return act.op is Op.ROUND  # P59: without a budget there is no enforcement
    if act.op in _PRINCIPALS and not by_principal(step):
        return False
    if act.op is Op.ACKNOWLEDGE:
        return act.right
    if act.op in (Op.ROUND, Op.RAISE):
        return min(act.tokens) >= 0 and (act.op is Op.RAISE or not used_up(step))
    return True
