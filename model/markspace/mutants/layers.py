"""Faulty layers, subscriptions and schedulers: §9.7 to §9.12, §13, §14."""

from __future__ import annotations

from typing import Any

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.markspace import barrier, budget, clocked, composing, rate_limit
from evenhand.model.markspace import envelope as detector
from evenhand.model.markspace.composing_vocabulary import ComposingConfig, ComposingState, Manifest, Pattern, Written
from evenhand.model.markspace.layers import REFERENCE
from evenhand.model.markspace.layers_vocabulary import (
    ANYWHERE,
    Barrier,
    Budget,
    Envelope,
    Health,
    LayersConfig,
    Op,
    Probing,
    Rates,
    World,
)
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.mutants.declare import Faults

LAYERS = Faults(REFERENCE, "layers")
COMPOSED = Faults(composing.REFERENCE, "composing")
CLOCK = Faults(clocked.REFERENCE, "clock")
LEFT_OUT = {"superseded_in_queue": "left_out"}
"""Polls leave superseded marks out."""
OWNED = {"reference_authority": "same_agent_or_principal"}


def _only(deployment: int, marks: int = 2) -> Scope:
    return Scope(only=deployment, marks=marks)


def _yes(*_arguments: Any) -> bool:
    return True


def _no(*_arguments: Any) -> bool:
    return False


@LAYERS.fault("check", "P40", _only(7))
def restriction_forgotten(config: LayersConfig, envelope: Envelope, agent: str) -> Health:
    """The sticky flag is not looked at."""
    place = config.agents.index(agent)
    fresh = replace(envelope.watched[place], restricted=False)
    watched = (*envelope.watched[:place], fresh, *envelope.watched[place + 1 :])
    return detector.check(config, Envelope(watched), agent)


@LAYERS.fault("check", "P41", _only(7))
def cold_start_flags(config: LayersConfig, envelope: Envelope, agent: str) -> Health:
    """A new agent is restricted at once."""  # as soon as it does something, before its baseline stands
    watched = envelope.watched[config.agents.index(agent)]
    cold = not detector.ready(config, watched) and bool(watched.now)
    return Health.RESTRICTED if cold else detector.check(config, envelope, agent)


@LAYERS.fault("check", "9.7", _only(7, 1))
def detector_blind(_config: LayersConfig, _envelope: Envelope, _agent: str) -> Health:
    """Nothing is ever anomalous."""
    return Health.NORMAL


@LAYERS.fault("attempted", "P64", _only(10))
def attempts_uncounted(_config: LayersConfig, envelope: Envelope, _agent: str, _scope: str, _kind: Kind) -> Envelope:
    """The envelope sees nothing."""
    return envelope


@LAYERS.fault("judged", "9.7, 8.6", _only(7))
def judged_by_its_own_write(_config: LayersConfig, _before: Envelope, counted: Envelope) -> Envelope:
    """A write counts in its own judgement."""
    return counted


@LAYERS.fault("escalated", "P43", _only(7))
def escalates_everywhere(config: LayersConfig, state: Barrier, agent: str, scope: str, kind: Kind) -> Barrier:
    """A flag revokes in all scopes."""
    return barrier.narrowed(barrier.escalated(config, state, agent, scope, kind), agent, ANYWHERE, kind)


@LAYERS.fault("escalated", "P43", _only(7))
def escalates_at_once(config: LayersConfig, state: Barrier, agent: str, scope: str, kind: Kind) -> Barrier:
    """The first flag is global."""
    return barrier.with_need_first(barrier.escalated(config, state, agent, scope, kind), agent, ANYWHERE)


@LAYERS.fault("narrowed", "P44", _only(2))
def narrowing_forgives(state: Barrier, agent: str, scope: str, kind: Kind) -> Barrier:
    """Narrowing gives other permissions back."""
    return replace(state, revoked=frozenset({(agent, scope, kind)}))


@LAYERS.fault("allows", "9.8", _only(2))
def wildcard_ignored(state: Barrier, agent: str, scope: str, kind: Kind) -> bool:
    """Wildcard revocations are not looked at."""
    return (agent, scope, kind) not in state.revoked


@LAYERS.fault("restored", "P44", _only(2))
def restores_too_much(state: Barrier, agent: str, _scope: str, _kind: Kind) -> Barrier:
    """Restoring one permission restores all."""
    return barrier.restored_all(state, agent)


any_token_will_do = LAYERS.declare("any_token_will_do", "The token is not compared.", "P45", _only(2), token_fits=_yes)
needs_not_required = LAYERS.declare(
    "needs_not_required", "Required needs are not waited for.", "9.8", _only(2), needs_first=_no
)


@LAYERS.fault("kept_on_refusal", "P42", _only(3))
def partial_writes(_before: World, after: World) -> World:
    """What is rejected late is stored all the same."""
    return after


intents_by_write_mark = LAYERS.declare(
    "intents_by_write_mark", "write_mark takes intents.", "9.7", _only(1), writable=_yes
)


@LAYERS.fault("writable", "9.7", _only(1))
def actions_by_write_mark(kind: Kind) -> bool:
    """write_mark takes actions, and refuses intents."""
    return kind is not Kind.INTENT


@LAYERS.fault("exceeded", "P64", _only(3))
def fleet_cap_alone(config: LayersConfig, rates: Rates, _agent: str, scope: str) -> bool:
    """Agents have no limit of their own."""
    here = [who for who, where in (*rates.before, *rates.now) if where == scope]
    return config.rate[1] is not None and len(here) >= config.rate[1]


@LAYERS.fault("exceeded", "P65", _only(12))
def no_fleet_cap(config: LayersConfig, rates: Rates, agent: str, scope: str) -> bool:
    """The fleet has no limit."""
    here = [who for who, where in (*rates.before, *rates.now) if where == scope]
    return config.rate[0] is not None and here.count(agent) >= config.rate[0]


@LAYERS.fault("exceeded", "P66", _only(3))
def rate_limit_too_eager(config: LayersConfig, rates: Rates, agent: str, scope: str) -> bool:
    """One write by anybody fills the window."""
    return rate_limit.exceeded(config, rates, agent, scope) or bool(rates.now)


@LAYERS.fault("moved_on", "9.12", _only(3))
def window_of_half_the_length(_config: LayersConfig, _rates: Rates, _half: int) -> Rates:
    """Every half window starts anew."""
    return Rates()


@LAYERS.fault("rated", "9.12, P66", _only(10))
def refusals_fill_the_window(rates: Rates, agent: str, scope: str, _accepted: bool) -> Rates:
    """What the envelope refuses counts as written for the rate limit."""
    return rate_limit.rated(rates, agent, scope, True)


@LAYERS.fault("stopped", "P61", _only(4))
def stops_beyond_the_limit(used: tuple[int, int], ceiling: tuple[int | None, int | None]) -> bool:
    """The budget stops only beyond its total."""
    return any(limit is not None and tokens > limit for tokens, limit in zip(used, ceiling, strict=True))


@LAYERS.fault("stopped", "P61", _only(5))
def output_unlimited(used: tuple[int, int], ceiling: tuple[int | None, int | None]) -> bool:
    """Only input tokens stop an agent."""
    return ceiling[0] is not None and used[0] >= ceiling[0]


never_resumes = LAYERS.declare(
    "never_resumes", "An agent is stopped whatever its budget.", "P62", _only(4), stopped=_yes
)


@LAYERS.fault("spent", "P60", _only(4))
def warns_every_round(
    config: LayersConfig, state: Budget, agent: str, tokens: tuple[int, int]
) -> tuple[Budget, tuple[int, ...]]:
    """The warning is repeated."""
    after, new = budget.spent(config, state, agent, tokens)
    return replace(after, warned=state.warned), new


@LAYERS.fault("spent", "P60", _only(4))
def no_warning_when_jumping(
    config: LayersConfig, state: Budget, agent: str, tokens: tuple[int, int]
) -> tuple[Budget, tuple[int, ...]]:
    """No warning where the total is reached at once."""
    after, new = budget.spent(config, state, agent, tokens)
    place = config.agents.index(agent)
    return after, () if budget.stopped(after.used[place], after.ceiling[place]) else new


@LAYERS.fault("raised", "P63", _only(4))
def raising_resets_usage(config: LayersConfig, state: Budget, agent: str, more: tuple[int, int]) -> Budget:
    """Raising the ceiling clears what was used."""
    place = config.agents.index(agent)
    raised = budget.raised(config, state, agent, more)
    return replace(raised, used=(*raised.used[:place], (0, 0), *raised.used[place + 1 :]))


budget_warning_blocks = LAYERS.declare(
    "budget_warning_blocks", "Budget warnings are blocking.", "P60", _only(4), blocking_warning=_yes
)


@LAYERS.fault("emits", "P58", _only(10))
def rejections_unlogged(config: LayersConfig, op: Op, accepted: bool) -> bool:
    """Only what is accepted is logged."""
    return accepted and REFERENCE.emits(config, op, accepted)


@LAYERS.fault("emits", "P58", _only(10))
def tool_calls_unlogged(config: LayersConfig, op: Op, accepted: bool) -> bool:
    """Only writes are logged."""
    return op is Op.WRITE and REFERENCE.emits(config, op, accepted)


@LAYERS.fault("authorised", "P46", _only(6))
def probe_writes_anywhere(config: LayersConfig, agent: str, _scope: str) -> bool:
    """The probe may write in production scopes."""
    return agent in (*config.agents, "probe")


@LAYERS.fault("compromised", "9.9", _only(6))
def missed_canary_ignored(_probing: Probing, _agent: str) -> bool:
    """A missed canary has no consequence."""
    return False


@COMPOSED.fault("matches", "13.1")
def patterns_match_text(pattern: Pattern, mark: Written) -> bool:
    """Patterns match by the beginning of the scope's name."""
    return mark.scope.startswith(pattern.scope) and pattern.kind in ("", mark.kind.value)


@COMPOSED.fault("matches", "P55")
def matcher_counts(pattern: Pattern, mark: Written) -> bool:
    """A pattern matches the first mark alone."""
    return mark.number == 1 and composing.REFERENCE.matches(pattern, mark)


@COMPOSED.fault("matches", "13.1")
def patterns_match_exact_scope(pattern: Pattern, mark: Written) -> bool:
    """Patterns do not reach below."""
    return pattern.scope == mark.scope and composing.REFERENCE.matches(pattern, mark)


@COMPOSED.fault("hears", "13.4")
def own_writes_queued(_agent: str, _mark: Written) -> bool:
    """Agents hear of their own writes."""
    return True


@COMPOSED.fault("subscribed", "P49")
def retroactive_subscription(
    state: ComposingState, queue: tuple[int, ...], patterns: tuple[Pattern, ...]
) -> tuple[int, ...]:
    """Subscribing delivers the past."""
    more = [m.number for m in state.marks if any(composing.REFERENCE.matches(p, m) for p in patterns)]
    return tuple(sorted({*queue, *more}))


@COMPOSED.fault("replaced", "P48")
def subscriptions_pile_up(old: tuple[Pattern, ...] | None, new: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Subscribing adds patterns."""
    return tuple(dict.fromkeys((*(old or ()), *new)))


@COMPOSED.fault("order", "P52")
def latest_first(marks: tuple[Written, ...]) -> tuple[Written, ...]:
    """Marks are delivered latest first."""
    return tuple(reversed(marks))


@COMPOSED.fault("emptied", "P51")
def delivered_again(queue: tuple[int, ...], _clear: bool) -> tuple[int, ...]:
    """Clearing does not clear."""
    return queue


@COMPOSED.fault("left_out", "13.4")
def superseded_marks_are_lost(config: ComposingConfig, state: ComposingState, mark: Written) -> bool:
    """Polls leave superseded marks out."""
    hides = replace(config, readings=replace(config.readings, superseded_in_queue="left_out"))
    return composing.REFERENCE.left_out(hides, state, mark)


@COMPOSED.fault("announces", "P50")
def old_watchers_are_told(state: ComposingState, mark: Written) -> tuple[Written, ...]:
    """Who watched a superseded mark hears of the new one, whatever its patterns."""
    return (mark, *(other for other in state.marks if other.number == mark.supersedes))


@COMPOSED.fault("announces", "13.4, 10")
def supersession_is_quiet(_state: ComposingState, mark: Written) -> tuple[Written, ...]:
    """What supersedes is queued for nobody."""
    return () if mark.supersedes else (mark,)


superseded_marks_linger = COMPOSED.declare(
    "superseded_marks_linger", "Polls deliver superseded marks.", "10", readings=LEFT_OUT, left_out=_no
)


@COMPOSED.fault("left_out", "10, 2.5", readings=LEFT_OUT | OWNED)
def anybody_empties_queues(_config: ComposingConfig, state: ComposingState, mark: Written) -> bool:
    """Whoever names a mark as superseded takes it out of queues."""
    return any(other.supersedes == mark.number for other in state.marks)


@COMPOSED.fault("emptied", "13.4")
def peeking_consumes(_queue: tuple[int, ...], _clear: bool) -> tuple[int, ...]:
    """A poll without clear empties the queue."""
    return ()


@COMPOSED.fault("connects", "P53")
def pipelines_need_marks(one: Manifest, other: Manifest, state: ComposingState) -> bool:
    """Pipelines connect once something is written."""
    return bool(state.marks) and composing.REFERENCE.connects(one, other, state)


@COMPOSED.fault("connects", "13.5")
def pipelines_connect_anyhow(one: Manifest, other: Manifest, _state: ComposingState) -> bool:
    """Any outputs feed any inputs."""
    return bool(one.outputs and other.inputs)


@COMPOSED.fault("permits", "P54")
def kinds_not_compared(manifest: Manifest, output: tuple[str, Kind]) -> bool:
    """Permissions are compared by scope."""
    return any(output[0].startswith(scope) for scope, _ in manifest.permitted)


@COMPOSED.fault("due", "14.2", system="scheduling")
def never_activated_is_not_due(since: int | None, interval: int | None) -> bool:
    """Who was never activated is not due."""
    return interval is not None and since is not None and since >= interval


@COMPOSED.fault("due", "P56", system="scheduling")
def a_second_early(since: int | None, interval: int | None) -> bool:
    """Agents are due a second early."""
    return interval is not None and (since is None or since + 1 >= interval)


@COMPOSED.fault("kept", "14.2", system="scheduling")
def update_forgets(_since: int | None, _interval: int | None) -> int | None:
    """An update forgets the last activation."""
    return None


@CLOCK.fault("due", "14.2", Scope(horizon=2))
def due_on_the_second_alone(now: int, last: int | None, interval: int | None) -> bool:
    """Who was not looked at when it was due is due no more."""
    return interval is not None and (last is None or now - last == interval)


@CLOCK.fault("due", "14.2", Scope(horizon=1))
def due_by_the_time(now: int, last: int | None, interval: int | None) -> bool:
    """The time is taken for the seconds since the last activation."""
    return interval is not None and (last is None or now >= interval)
