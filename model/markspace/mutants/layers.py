"""Faulty layers, subscriptions and schedulers: §9.7 to §9.12, §13, §14."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant, Scope
from evenhand.model.markspace import barrier, budget, clocked, composing, rate_limit
from evenhand.model.markspace import envelope as detector
from evenhand.model.markspace.composing_vocabulary import ComposingConfig, ComposingState, Manifest, Pattern, Written
from evenhand.model.markspace.layers import REFERENCE, Rules
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

__all__ = ["LAYERED"]


def _layer(name: str, sentence: str, source: str, only: int, marks: int = 2, **rules: Any) -> Mutant[Rules]:
    return Mutant(name, sentence, source, replace(REFERENCE, **rules), "layers", Scope(only=only, marks=marks))


def _composed(name: str, sentence: str, source: str, system: str = "composing", **rules: Any) -> Mutant[Any]:
    return Mutant(name, sentence, source, replace(composing.REFERENCE, **rules), system)


def _queue(name: str, sentence: str, source: str, *, owned: bool = False, **rules: Any) -> Mutant[Any]:
    """A fault under the reading that polls leave superseded marks out."""
    readings = {"superseded_in_queue": "left_out"}
    if owned:
        readings["reference_authority"] = "same_agent_or_principal"
    made = _composed(name, sentence, source, **rules)
    return replace(made, readings=tuple(readings.items()))


def _clock(name: str, sentence: str, horizon: int, due: Any) -> Mutant[Any]:
    rules = replace(clocked.REFERENCE, due=due)
    return Mutant(name, sentence, "14.2", rules, "clock", Scope(horizon=horizon))


def _on_the_second(now: int, last: int | None, interval: int | None) -> bool:
    return interval is not None and (last is None or now - last == interval)


def _by_the_time(now: int, last: int | None, interval: int | None) -> bool:
    return interval is not None and (last is None or now >= interval)


def _yes(*_arguments: Any) -> bool:
    return True


def _no(*_arguments: Any) -> bool:
    return False


def _forgets(config: LayersConfig, envelope: Envelope, agent: str) -> Health:
    """The flag is not looked at."""
    place = config.agents.index(agent)
    fresh = replace(envelope.watched[place], restricted=False)
    watched = (*envelope.watched[:place], fresh, *envelope.watched[place + 1 :])
    return detector.check(config, Envelope(watched), agent)


def _impatient(config: LayersConfig, envelope: Envelope, agent: str) -> Health:
    """Whoever has done something before the baseline stands is restricted."""
    watched = envelope.watched[config.agents.index(agent)]
    cold = not detector.ready(config, watched) and bool(watched.now)
    return Health.RESTRICTED if cold else detector.check(config, envelope, agent)


def _blind(_config: LayersConfig, _envelope: Envelope, _agent: str) -> Health:
    return Health.NORMAL


def _uncounted(_config: LayersConfig, envelope: Envelope, _agent: str, _scope: str, _kind: Kind) -> Envelope:
    return envelope


def _everywhere(config: LayersConfig, state: Barrier, agent: str, scope: str, kind: Kind) -> Barrier:
    return barrier.narrowed(barrier.escalated(config, state, agent, scope, kind), agent, ANYWHERE, kind)


def _at_once(config: LayersConfig, state: Barrier, agent: str, scope: str, kind: Kind) -> Barrier:
    return barrier.with_need_first(barrier.escalated(config, state, agent, scope, kind), agent, ANYWHERE)


def _forgiving(state: Barrier, agent: str, scope: str, kind: Kind) -> Barrier:
    """Narrowing one permission gives back the others."""
    return replace(state, revoked=frozenset({(agent, scope, kind)}))


def _exact_only(state: Barrier, agent: str, scope: str, kind: Kind) -> bool:
    return (agent, scope, kind) not in state.revoked


def _restores_everything(state: Barrier, agent: str, _scope: str, _kind: Kind) -> Barrier:
    return barrier.restored_all(state, agent)


def _partial(_before: World, after: World) -> World:
    return after


def _fleet_only(config: LayersConfig, rates: Rates, _agent: str, scope: str) -> bool:
    here = [who for who, where in (*rates.before, *rates.now) if where == scope]
    return config.rate[1] is not None and len(here) >= config.rate[1]


def _agents_only(config: LayersConfig, rates: Rates, agent: str, scope: str) -> bool:
    here = [who for who, where in (*rates.before, *rates.now) if where == scope]
    return config.rate[0] is not None and here.count(agent) >= config.rate[0]


def _one_too_early(config: LayersConfig, rates: Rates, agent: str, scope: str) -> bool:
    return rate_limit.exceeded(config, rates, agent, scope) or bool(rates.now)


def _each_half(_config: LayersConfig, _rates: Rates, _half: int) -> Rates:
    return Rates()


def _beyond(used: tuple[int, int], ceiling: tuple[int | None, int | None]) -> bool:
    return any(limit is not None and tokens > limit for tokens, limit in zip(used, ceiling, strict=True))


def _input_only(used: tuple[int, int], ceiling: tuple[int | None, int | None]) -> bool:
    return ceiling[0] is not None and used[0] >= ceiling[0]


def _warns_again(
    config: LayersConfig, state: Budget, agent: str, tokens: tuple[int, int]
) -> tuple[Budget, tuple[int, ...]]:
    after, new = budget.spent(config, state, agent, tokens)
    return replace(after, warned=state.warned), new


def _warns_below_the_limit(
    config: LayersConfig, state: Budget, agent: str, tokens: tuple[int, int]
) -> tuple[Budget, tuple[int, ...]]:
    """Whoever jumps over the whole stretch is not warned."""
    after, new = budget.spent(config, state, agent, tokens)
    place = config.agents.index(agent)
    return after, () if budget.stopped(after.used[place], after.ceiling[place]) else new


def _reset(config: LayersConfig, state: Budget, agent: str, more: tuple[int, int]) -> Budget:
    place = config.agents.index(agent)
    raised = budget.raised(config, state, agent, more)
    return replace(raised, used=(*raised.used[:place], (0, 0), *raised.used[place + 1 :]))


def _accepted_only(config: LayersConfig, op: Op, accepted: bool) -> bool:
    return accepted and REFERENCE.emits(config, op, accepted)


def _writes_only(config: LayersConfig, op: Op, accepted: bool) -> bool:
    return op is Op.WRITE and REFERENCE.emits(config, op, accepted)


def _anywhere_at_all(config: LayersConfig, agent: str, _scope: str) -> bool:
    return agent in (*config.agents, "probe")


def _never_compromised(_probing: Probing, _agent: str) -> bool:
    return False


# Composition.


def _by_text(pattern: Pattern, mark: Written) -> bool:
    return mark.scope.startswith(pattern.scope) and pattern.kind in ("", mark.kind.value)


def _first_mark_alone(pattern: Pattern, mark: Written) -> bool:
    return mark.number == 1 and composing.REFERENCE.matches(pattern, mark)


def _exact_scope(pattern: Pattern, mark: Written) -> bool:
    return pattern.scope == mark.scope and composing.REFERENCE.matches(pattern, mark)


def _hears_itself(_agent: str, _mark: Written) -> bool:
    return True


def _retroactive(state: ComposingState, queue: tuple[int, ...], patterns: tuple[Pattern, ...]) -> tuple[int, ...]:
    more = [m.number for m in state.marks if any(composing.REFERENCE.matches(p, m) for p in patterns)]
    return tuple(sorted({*queue, *more}))


def _accumulated(old: tuple[Pattern, ...] | None, new: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    return tuple(dict.fromkeys((*(old or ()), *new)))


def _latest_first(marks: tuple[Written, ...]) -> tuple[Written, ...]:
    return tuple(reversed(marks))


def _kept_queue(queue: tuple[int, ...], _clear: bool) -> tuple[int, ...]:
    return queue


def _always_emptied(_queue: tuple[int, ...], _clear: bool) -> tuple[int, ...]:
    return ()


def _always_left_out(config: ComposingConfig, state: ComposingState, mark: Written) -> bool:
    hides = replace(config, readings=replace(config.readings, superseded_in_queue="left_out"))
    return composing.REFERENCE.left_out(hides, state, mark)


def _whoever_supersedes(_config: ComposingConfig, state: ComposingState, mark: Written) -> bool:
    return any(other.supersedes == mark.number for other in state.marks)


def _to_old_watchers(state: ComposingState, mark: Written) -> tuple[Written, ...]:
    """Whoever watched the superseded mark is told as well, whatever its patterns say of the new one."""
    return (mark, *(other for other in state.marks if other.number == mark.supersedes))


def _quietly(_state: ComposingState, mark: Written) -> tuple[Written, ...]:
    return () if mark.supersedes else (mark,)


def _with_the_write(_config: LayersConfig, _before: Envelope, counted: Envelope) -> Envelope:
    return counted


def _whatever_becomes_of_it(rates: Rates, agent: str, scope: str, _accepted: bool) -> Rates:
    return rate_limit.rated(rates, agent, scope, True)


def _connects_once_written(one: Manifest, other: Manifest, state: ComposingState) -> bool:
    return bool(state.marks) and composing.REFERENCE.connects(one, other, state)


def _connects_anyhow(one: Manifest, other: Manifest, _state: ComposingState) -> bool:
    return bool(one.outputs and other.inputs)


def _permits_by_scope(manifest: Manifest, output: tuple[str, Kind]) -> bool:
    return any(output[0].startswith(scope) for scope, _ in manifest.permitted)


def _late(since: int | None, interval: int | None) -> bool:
    return interval is not None and since is not None and since >= interval


def _early(since: int | None, interval: int | None) -> bool:
    return interval is not None and (since is None or since + 1 >= interval)


def _forgotten(_since: int | None, _interval: int | None) -> int | None:
    return None


LAYERED: tuple[Mutant[Any], ...] = (
    _layer("restriction_forgotten", "The sticky flag is not looked at.", "P40", 7, check=_forgets),
    _layer("cold_start_flags", "A new agent is restricted at once.", "P41", 7, check=_impatient),
    _layer("detector_blind", "Nothing is ever anomalous.", "9.7", 7, 1, check=_blind),
    _layer("attempts_uncounted", "The envelope sees nothing.", "P64", 10, attempted=_uncounted),
    _layer("judged_by_its_own_write", "A write counts in its own judgement.", "9.7, 8.6", 7, judged=_with_the_write),
    _layer("escalates_everywhere", "A flag revokes in all scopes.", "P43", 7, escalated=_everywhere),
    _layer("escalates_at_once", "The first flag is global.", "P43", 7, escalated=_at_once),
    _layer("narrowing_forgives", "Narrowing gives other permissions back.", "P44", 2, narrowed=_forgiving),
    _layer("wildcard_ignored", "Wildcard revocations are not looked at.", "9.8", 2, allows=_exact_only),
    _layer("restores_too_much", "Restoring one permission restores all.", "P44", 2, restored=_restores_everything),
    _layer("any_token_will_do", "The token is not compared.", "P45", 2, token_fits=_yes),
    _layer("needs_not_required", "Required needs are not waited for.", "9.8", 2, needs_first=_no),
    _layer("partial_writes", "What is rejected late is stored all the same.", "P42", 3, kept_on_refusal=_partial),
    _layer("intents_by_write_mark", "write_mark takes intents.", "9.7", 1, writable=_yes),
    _layer("fleet_cap_alone", "Agents have no limit of their own.", "P64", 3, exceeded=_fleet_only),
    _layer("no_fleet_cap", "The fleet has no limit.", "P65", 12, exceeded=_agents_only),
    _layer("rate_limit_too_eager", "One write by anybody fills the window.", "P66", 3, exceeded=_one_too_early),
    _layer("window_of_half_the_length", "Every half window starts anew.", "9.12", 3, moved_on=_each_half),
    _layer(
        "refusals_fill_the_window",
        "What the envelope refuses counts as written for the rate limit.",
        "9.12, P66",
        10,
        rated=_whatever_becomes_of_it,
    ),
    _layer("stops_beyond_the_limit", "The budget stops only beyond its total.", "P61", 4, stopped=_beyond),
    _layer("output_unlimited", "Only input tokens stop an agent.", "P61", 5, stopped=_input_only),
    _layer("never_resumes", "An agent is stopped whatever its budget.", "P62", 4, stopped=_yes),
    _layer("warns_every_round", "The warning is repeated.", "P60", 4, spent=_warns_again),
    _layer(
        "no_warning_when_jumping",
        "No warning where the total is reached at once.",
        "P60",
        4,
        spent=_warns_below_the_limit,
    ),
    _layer("raising_resets_usage", "Raising the ceiling clears what was used.", "P63", 4, raised=_reset),
    _layer("budget_warning_blocks", "Budget warnings are blocking.", "P60", 4, blocking_warning=_yes),
    _layer("rejections_unlogged", "Only what is accepted is logged.", "P58", 10, emits=_accepted_only),
    _layer("tool_calls_unlogged", "Only writes are logged.", "P58", 10, emits=_writes_only),
    _layer("probe_writes_anywhere", "The probe may write in production scopes.", "P46", 6, authorised=_anywhere_at_all),
    _layer("missed_canary_ignored", "A missed canary has no consequence.", "9.9", 6, compromised=_never_compromised),
    _composed("patterns_match_text", "Patterns match by the beginning of the scope's name.", "13.1", matches=_by_text),
    _composed("matcher_counts", "A pattern matches the first mark alone.", "P55", matches=_first_mark_alone),
    _composed("patterns_match_exact_scope", "Patterns do not reach below.", "13.1", matches=_exact_scope),
    _composed("own_writes_queued", "Agents hear of their own writes.", "13.4", hears=_hears_itself),
    _composed("retroactive_subscription", "Subscribing delivers the past.", "P49", subscribed=_retroactive),
    _composed("subscriptions_pile_up", "Subscribing adds patterns.", "P48", replaced=_accumulated),
    _composed("latest_first", "Marks are delivered latest first.", "P52", order=_latest_first),
    _composed("delivered_again", "Clearing does not clear.", "P51", emptied=_kept_queue),
    _composed("superseded_marks_are_lost", "Polls leave superseded marks out.", "13.4", left_out=_always_left_out),
    _composed(
        "old_watchers_are_told",
        "Who watched a superseded mark hears of the new one, whatever its patterns.",
        "P50",
        announces=_to_old_watchers,
    ),
    _composed("supersession_is_quiet", "What supersedes is queued for nobody.", "13.4, 10", announces=_quietly),
    _queue("superseded_marks_linger", "Polls deliver superseded marks.", "10", left_out=_no),
    _queue(
        "anybody_empties_queues",
        "Whoever names a mark as superseded takes it out of queues.",
        "10, 2.5",
        owned=True,
        left_out=_whoever_supersedes,
    ),
    _composed("peeking_consumes", "A poll without clear empties the queue.", "13.4", emptied=_always_emptied),
    _composed(
        "pipelines_need_marks", "Pipelines connect once something is written.", "P53", connects=_connects_once_written
    ),
    _composed("pipelines_connect_anyhow", "Any outputs feed any inputs.", "13.5", connects=_connects_anyhow),
    _composed("kinds_not_compared", "Permissions are compared by scope.", "P54", permits=_permits_by_scope),
    _composed("never_activated_is_not_due", "Who was never activated is not due.", "14.2", "scheduling", due=_late),
    _composed("a_second_early", "Agents are due a second early.", "P56", "scheduling", due=_early),
    _composed("update_forgets", "An update forgets the last activation.", "14.2", "scheduling", kept=_forgotten),
    _clock("due_on_the_second_alone", "Who was not looked at when it was due is due no more.", 2, _on_the_second),
    _clock("due_by_the_time", "The time is taken for the seconds since the last activation.", 1, _by_the_time),
)
"""The faulty layers."""
