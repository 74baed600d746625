"""What decides nothing, and what does: two cycles that differ in one thing, compared (2-safety)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from evenhand.core.property import AnyStep, Property, TwoRun, determined_by
from evenhand.model.sovereign.state import Config, Decide, State
from evenhand.model.sovereign.vocabulary import ACTION, REFUSE, Candidate, Observation
from evenhand.properties.sovereign.predicates import admissible, decides, fed, offered

__all__ = ["SELECTING_CLAIMS"]

LONGEST = 4
"""So many candidates or observations are permuted, doubled or added to."""


def _decides(_config: Config, _state: State, action: Any) -> bool:
    return isinstance(action, Decide) and len(action.candidates) <= LONGEST and len(action.observations) <= LONGEST


def _outcome(step: AnyStep) -> Any:
    """Kind and winner: what a selection is."""
    one = step.shown.decision
    return None if one is None else (one.kind, one.warrant)


def _same_outcome(_w: Any, step: AnyStep, other: AnyStep | None) -> bool:
    return other is not None and _outcome(step) == _outcome(other)


def _twin(
    name: str, sentence: str, source: str, twins: Callable[[Config, State, Any], Iterator[Any]], **more: Any
) -> TwoRun:
    """A claim that a cycle and the cycle that `twins` makes of it agree; `w` is the other action itself."""
    usual: dict[str, Any] = {"agree": _same_outcome, "systems": ("lists",), **more}
    return TwoRun(
        name=name,
        sentence=sentence,
        source=source,
        twins=lambda config, state, action: twins(config, state, action) if _decides(config, state, action) else (),
        config=lambda _w, config: config,
        state=lambda _w, _config, state: state,
        other=lambda w, _action: (w,),
        **usual,
    )


def _swapped(things: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Neighbours exchanged, which generates every order; and all of them turned round."""
    for place in range(len(things) - 1):
        one, two = things[place], things[place + 1]
        if one != two:
            yield (*things[:place], two, one, *things[place + 2 :])
    if len(things) > 2 and things != things[::-1]:
        yield things[::-1]


def _candidates_swapped(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    return (replace(action, candidates=many) for many in _swapped(action.candidates))


def _observations_swapped(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    return (replace(action, observations=many) for many in _swapped(action.observations))


def _doubled(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    for one in dict.fromkeys(action.candidates):
        yield replace(action, candidates=(*action.candidates, one))


def _added(action: Decide) -> Iterator[tuple[Candidate, Decide]]:
    """The cycle with each of its candidates left out, so that the other run has one more: seen the other way."""
    many = action.candidates
    for place, gone in enumerate(many):
        yield gone, replace(action, candidates=many[:place] + many[place + 1 :])


def _inadmissible_removed(config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    seen = action.observations
    for one, fewer in _added(action):
        if one not in offered(config, (one,)) or not admissible(config, seen, one):
            yield fewer


def _one_removed(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    return (fewer for _, fewer in _added(action))


def _never_stops(_w: Any, step: AnyStep, other: AnyStep | None) -> bool:
    """The step has a candidate more than the other one."""
    if other is None or other.shown.decision is None:
        return False
    return bool(other.shown.decision.kind != ACTION or step.shown.decision.kind == ACTION)


def _restamped(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """Every candidate by another known author, at another time."""

    def stamped(part: Any) -> Any:
        return None if part is None else replace(part, author="user", created_at="1999-01-01T00:00:00Z")

    made = tuple(
        Candidate(stamped(one.request), stamped(one.scope), stamped(one.justification), one.citations)
        for one in action.candidates
    )
    known = all(
        part is None or part.author in ("user", "reflection", "kernel", "host")
        for one in action.candidates
        for part in (one.request, one.scope, one.justification)
    )
    if known and made != action.candidates:
        yield replace(action, candidates=made)


def _reworded(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """Every justification says something else of the same length."""

    def said(one: Candidate) -> Candidate:
        why = one.justification
        return one if why is None else replace(one, justification=replace(why, text="z" * len(why.text)))

    made = tuple(said(one) for one in action.candidates)
    if made != action.candidates:
        yield replace(action, candidates=made)


def _same_telemetry(_w: Any, step: AnyStep, other: AnyStep | None) -> bool:
    return other is not None and step.shown.intents == other.shown.intents


def _same_request(_w: Any, step: AnyStep, other: AnyStep | None) -> bool:
    """The same request wins, or nothing does."""
    if other is None or other.shown.decision is None:
        return False
    one, two = step.shown.decision.warrant, other.shown.decision.warrant
    return (one is None) == (two is None) and (one is None or (one.request == two.request))


_STOPPERS = (
    Observation("system", (("event", "startup_integrity_ok"),)),
    Observation("system", (("event", "executor_integrity_fail"),)),
    Observation("budget", (("llm_output_token_count", 1),)),
    Observation("budget", (("llm_output_token_count", -9000),)),
    Observation("budget", (("llm_output_token_count", 9000),)),
)


def _more_observed(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """A system or budget observation more, which nobody's scope claim names."""
    return (replace(action, observations=(*action.observations, one)) for one in _STOPPERS)


def _stoppers_removed(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """A system or budget observation fewer, whoever names it."""
    seen = action.observations
    for place, one in enumerate(seen):
        if one.kind in ("system", "budget") and seen.count(one) == 1:
            yield replace(action, observations=seen[:place] + seen[place + 1 :])


def _causes_nothing(_w: Any, step: AnyStep, other: AnyStep | None) -> bool:
    """The other run has an observation more: it acts only where this one does, on the same."""
    if other is None or other.shown.decision is None:
        return False
    return bool(other.shown.decision.kind != ACTION or _outcome(step) == _outcome(other))


def _caused_nothing(_w: Any, step: AnyStep, other: AnyStep | None) -> bool:
    """The step has an observation more than the other run."""
    return step.shown.decision is None or step.shown.decision.kind != ACTION or _same_outcome(_w, step, other)


def _spent_more(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """One of the reported counts is larger by one, or by much; absurd ones stay."""
    for place, one in enumerate(action.observations):
        told = dict(one.payload).get("llm_output_token_count")
        if one.kind == "budget" and type(told) is int and told >= 0:
            for more in (1, 6000):
                grown = replace(one, payload=(("llm_output_token_count", told + more),))
                seen = (*action.observations[:place], grown, *action.observations[place + 1 :])
                yield replace(action, observations=seen)


def _stays_refused(_w: Any, step: AnyStep, other: AnyStep | None) -> bool:
    """What was refused for its budget stays so when more is reported."""
    if other is None or other.shown.decision is None:
        return False
    one, two = step.shown.decision.refusal, other.shown.decision.refusal
    return one is None or one.reason != "BUDGET_EXHAUSTED" or (two is not None and two.reason == one.reason)


def _refusal(step: AnyStep) -> Any:
    one = step.shown.decision
    return None if one is None or one.kind != REFUSE else one.refusal


def _same_refusal(_w: Any, step: AnyStep, other: AnyStep | None) -> bool:
    return other is not None and _refusal(step) == _refusal(other)


@determined_by(
    "Kind of decision and winner are a function of the observations and of the set of candidates.",
    source="7 A4, 13.6 step 6",
    systems=("lists",),
    key=lambda step: (step.config, fed(step)[0], frozenset(fed(step)[1])),
    when=decides,
)
def selection_depends_on_the_set(step: AnyStep) -> Any:
    """Order and duplicates in one pass."""
    return _outcome(step)


SELECTING_CLAIMS: tuple[Property, ...] = (
    selection_depends_on_the_set,
    _twin(
        "order_of_candidates_decides_nothing",
        "Two orders of the same candidates give the same kind of decision and the same winner.",
        "13.6 step 6, 5.3",
        _candidates_swapped,
        proved=True,
    ),
    _twin(
        "order_of_observations_decides_nothing",
        "Two orders of the same observations give the same decision.",
        "6",
        _observations_swapped,
    ),
    _twin(
        "duplicates_decide_nothing",
        "A candidate proposed once more changes neither the kind of decision nor the winner.",
        "7 A4",
        _doubled,
        proved=True,
    ),
    _twin(
        "inadmissible_candidates_decide_nothing",
        "An inadmissible candidate more changes neither the kind of decision nor the winner.",
        "6",
        _inadmissible_removed,
        proved=True,
    ),
    _twin(
        "more_candidates_never_stop_an_action",
        "A candidate more never turns ACTION into something else.",
        "6",
        _one_removed,
        agree=_never_stops,
        proved=True,
    ),
    _twin(
        "author_and_time_decide_nothing",
        "The same contents, proposed by another known author at another time, give the same decision.",
        "7 A4",
        _restamped,
    ),
    _twin(
        "justifications_decide_nothing",
        "The same requests with other justifications give the same request a warrant.  (Stated to be refuted.)",
        "2.2, 7 A4",
        _reworded,
        agree=_same_request,
        systems=("lists",),
    ),
    _twin(
        "telemetry_ignores_natural_language",
        "Cycles of equal structure owe the logs lines of equal number and size, whatever their texts say.",
        "2.2",
        _reworded,
        agree=_same_telemetry,
    ),
    _twin(
        "unnamed_observations_cause_no_action",
        "A system or budget observation that no candidate names can stop an action, and never causes one or another.",
        "8.B",
        _more_observed,
        agree=_causes_nothing,
    ),
    _twin(
        "system_and_budget_observations_cause_no_action",
        "The same of observations that a candidate's scope claim may name.  (Stated to be refuted.)",
        "8.B",
        _stoppers_removed,
        agree=_caused_nothing,
        systems=("lists",),
    ),
    _twin(
        "more_tokens_never_help",
        "What is refused for its budget stays refused when more tokens are reported.",
        "7 A49",
        _spent_more,
        agree=_stays_refused,
        proved=True,
    ),
    _twin(
        "order_of_candidates_changes_no_record",
        "Two orders of the same candidates give the same refusal record.  (Stated to be refuted.)",
        "6",
        _candidates_swapped,
        agree=_same_refusal,
        systems=("lists",),
    ),
)
"""The claims of this module."""
