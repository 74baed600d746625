"""Which differences decide and which do not: two cycles that differ in one thing, compared (2-safety)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypeAlias

from evenhand.core.plan import holds, refuted
from evenhand.core.property import TwoRun, determined_by
from evenhand.core.records import replace
from evenhand.model.sovereign.state import Act, Config, Decide, State
from evenhand.model.sovereign.vocabulary import (
    ACTION,
    AUTHORS,
    BUDGET_EXHAUSTED,
    REFUSE,
    Candidate,
    Observation,
    Refusal,
    Warrant,
)
from evenhand.properties.sovereign.predicates import (
    KernelStep,
    admissible,
    decided,
    decides,
    decision_of,
    fed,
    offered,
)

LONGEST = 4
"""Longest lists of candidates or observations of which other cycles are made."""

Twins: TypeAlias = Callable[[Config, State, Decide], Iterable[Decide]]
Agree: TypeAlias = Callable[[Decide, KernelStep, KernelStep | None], bool]

_A_COPY = refuted("a copy stops the action", duplicate_bundle="error")


def _outcome(step: KernelStep) -> tuple[str, Warrant | None] | None:
    one = step.shown.decision
    return None if one is None else (one.kind, one.warrant)


def _same_outcome(_w: Decide, step: KernelStep, other: KernelStep | None) -> bool:
    return other is not None and _outcome(step) == _outcome(other)


def _twins(sentence: str, *, source: str, agree: Agree = _same_outcome, **more: Any) -> Callable[[Twins], TwoRun]:
    """Make the claim that a cycle agrees with each cycle that the function makes of it; `w` is the other action."""

    def claim(twins: Twins) -> TwoRun:
        @wraps(twins)
        def few(config: Config, state: State, action: Act) -> Iterable[Decide]:
            if not isinstance(action, Decide) or max(len(action.candidates), len(action.observations)) > LONGEST:
                return ()
            return twins(config, state, action)

        return TwoRun(
            name=twins.__name__,
            sentence=sentence,
            source=source,
            systems=("lists",),
            twins=few,
            config=lambda _w, config: config,
            state=lambda _w, _config, state: state,
            other=lambda w, _action: (w,),
            agree=agree,
            **more,
        )

    return claim


@determined_by(
    "Kind of decision and winner are a function of the observations and of the set of candidates.",
    source="7 A4, 13.6 step 6",
    systems=("lists",),
    key=lambda step: (step.config, fed(step)[0], frozenset(fed(step)[1])),
    when=decides,
    expected=(_A_COPY,),
)
def selection_depends_on_the_set(step: KernelStep) -> tuple[str, Warrant | None] | None:
    """Kind and winner, independent of order and duplicates."""
    return _outcome(step)


def _swapped(things: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Exchanges of neighbours, which generate every order, and the reverse."""
    for place in range(len(things) - 1):
        one, two = things[place], things[place + 1]
        if one != two:
            yield (*things[:place], two, one, *things[place + 2 :])
    if len(things) > 2 and things != things[::-1]:
        yield things[::-1]


def _reordered(action: Decide) -> Iterator[Decide]:
    return (replace(action, candidates=many) for many in _swapped(action.candidates))


@_twins(
    "Two orders of the same candidates give the same kind of decision and the same winner.",
    source="13.6 step 6, 5.3",
)
def order_of_candidates_decides_nothing(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """The candidates in other orders."""
    return _reordered(action)


@_twins(
    "Two orders of the same observations give the same decision.",
    source="6",
    expected=(refuted("the last budget counts", budget_count="last"),),
)
def order_of_observations_decides_nothing(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """The observations in other orders."""
    return (replace(action, observations=many) for many in _swapped(action.observations))


@_twins(
    "A candidate proposed once more changes neither the kind of decision nor the winner.",
    source="7 A4",
    expected=(_A_COPY,),
)
def duplicates_decide_nothing(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """Each of the candidates repeated at the end."""
    for one in dict.fromkeys(action.candidates):
        yield replace(action, candidates=(*action.candidates, one))


def _added(action: Decide) -> Iterator[tuple[Candidate, Decide]]:
    """Each candidate with the cycle without it, so that the step itself has one candidate more."""
    many = action.candidates
    for place, gone in enumerate(many):
        yield gone, replace(action, candidates=many[:place] + many[place + 1 :])


@_twins(
    "An inadmissible candidate more changes neither the kind of decision nor the winner.",
    source="6",
    expected=(refuted("two equal refused ones stop it", duplicate_bundle="error"),),
)
def inadmissible_candidates_decide_nothing(config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """Each candidate that is inadmissible, or not offered, left out."""
    seen = action.observations
    for one, fewer in _added(action):
        if one not in offered(config, (one,)) or not admissible(config, seen, one):
            yield fewer


def _never_stops(_w: Decide, step: KernelStep, other: KernelStep | None) -> bool:
    """The step has one candidate more than the other run."""
    return other is not None and decides(other) and (not decided(other, ACTION) or decided(step, ACTION))


@_twins(
    "A candidate more never turns ACTION into something else.",
    source="6",
    agree=_never_stops,
    expected=(_A_COPY,),
)
def more_candidates_never_stop_an_action(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """Each of the candidates left out."""
    return (fewer for _, fewer in _added(action))


@_twins(
    "The same contents, proposed by another known author at another time, give the same decision.",
    source="7 A4",
    expected=(refuted("they are hashed", bundle_hash_covers="content_and_author_and_time"),),
)
def author_and_time_decide_nothing(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """Every candidate by another known author, at another time."""

    def stamped(part: Any) -> Any:
        return None if part is None else replace(part, author="user", created_at="1999-01-01T00:00:00Z")

    made = tuple(
        Candidate(stamped(one.request), stamped(one.scope), stamped(one.justification), one.citations)
        for one in action.candidates
    )
    known = all(
        part is None or part.author in AUTHORS
        for one in action.candidates
        for part in (one.request, one.scope, one.justification)
    )
    if known and made != action.candidates:
        yield replace(action, candidates=made)


_LETTERS = {1: "z", 2: "\u00e8", 3: "\u20ac", 4: "\U0001f600"}
"""A letter for each number of bytes in UTF-8."""


def _reworded(action: Decide) -> Iterator[Decide]:
    """The action with another text of as many characters and bytes in every justification."""

    def said(one: Candidate) -> Candidate:
        why = one.justification
        if why is None:
            return one
        text = "".join(_LETTERS[len(letter.encode("utf-8", "surrogatepass"))] for letter in why.text)
        return replace(one, justification=replace(why, text=text))

    made = tuple(said(one) for one in action.candidates)
    if made != action.candidates:
        yield replace(action, candidates=made)


def _same_request(_w: Decide, step: KernelStep, other: KernelStep | None) -> bool:
    if other is None or not decides(other):
        return False
    one, two = decision_of(step).warrant, decision_of(other).warrant
    return two is None if one is None else two is not None and one.request == two.request


@_twins(
    "The same requests with other justifications give the same request a warrant.  (Stated to be refuted.)",
    source="2.2, 7 A4",
    agree=_same_request,
    expected=(refuted("7 A4: the hash covers the justification, so words choose the winner"),),
)
def justifications_decide_nothing(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """The candidates with other justifications."""
    return _reworded(action)


def _same_telemetry(_w: Decide, step: KernelStep, other: KernelStep | None) -> bool:
    def sizes(of: KernelStep) -> list[tuple[str, int, int]]:
        return [(line.stream, line.chars, line.size) for line in of.shown.intents]

    return other is not None and sizes(step) == sizes(other)


@_twins(
    "Cycles of equal structure owe the logs lines of equal number and size, whatever their texts say.",
    source="2.2",
    agree=_same_telemetry,
)
def telemetry_ignores_natural_language(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """The candidates with other justifications."""
    return _reworded(action)


_STOPPERS = (
    Observation("system", (("event", "startup_integrity_ok"),)),
    Observation("system", (("event", "executor_integrity_fail"),)),
    Observation("budget", (("llm_output_token_count", 1),)),
    Observation("budget", (("llm_output_token_count", -9000),)),
    Observation("budget", (("llm_output_token_count", 9000),)),
)


def _causes_nothing(_w: Decide, step: KernelStep, other: KernelStep | None) -> bool:
    """The other run has one observation more."""
    return other is not None and decides(other) and (not decided(other, ACTION) or _outcome(step) == _outcome(other))


@_twins(
    "A system or budget observation that no candidate names can stop an action, and never causes one or another.",
    source="8.B",
    agree=_causes_nothing,
    expected=(
        refuted("a smaller budget after a larger one", budget_count="last"),
        refuted("a budget lifts the refusal", budget_absent="refuse"),
        refuted("9000 less", budget_count="sum", negative_budget="accept"),
    ),
)
def unnamed_observations_cause_no_action(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """One system or budget observation more, which no scope claim names."""
    return (replace(action, observations=(*action.observations, one)) for one in _STOPPERS)


_STRANGE = Observation(
    "rumour",
    (("event", "startup_integrity_fail"), ("iso8601_utc", "2026-02-12T12:00:00Z"), ("llm_output_token_count", 9000)),
)
"""An observation of no kind of the closed set, with what each kind is read for."""


@_twins(
    "An observation of a kind outside the closed set, which no candidate names, decides nothing.",
    source="7 A10",
)
def other_kinds_decide_nothing(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """One observation more, which would be a time, a budget and an integrity failure if its kind were not read.

    It stops nothing either: the closed set of reasons has none to refuse such a cycle by (6).
    """
    yield replace(action, observations=(*action.observations, _STRANGE))


def _caused_nothing(w: Decide, step: KernelStep, other: KernelStep | None) -> bool:
    """The step has one observation more."""
    return not decided(step, ACTION) or _same_outcome(w, step, other)


@_twins(
    "The same of observations that a candidate's scope claim may name.  (Stated to be refuted.)",
    source="8.B",
    agree=_caused_nothing,
    expected=(
        refuted("8.B against gate 3: a scope claim may name a system or budget observation, which then makes it valid"),
    ),
)
def system_and_budget_observations_cause_no_action(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """One system or budget observation fewer, even if a scope claim names it."""
    seen = action.observations
    for place, one in enumerate(seen):
        if one.kind in ("system", "budget") and seen.count(one) == 1:
            yield replace(action, observations=seen[:place] + seen[place + 1 :])


def _stays_refused(_w: Decide, step: KernelStep, other: KernelStep | None) -> bool:
    if other is None or not decides(other):
        return False
    one, two = decision_of(step).refusal, decision_of(other).refusal
    return one is None or one.reason != BUDGET_EXHAUSTED or (two is not None and two.reason == one.reason)


@_twins(
    "What is refused for its budget stays refused when more tokens are reported.",
    source="7 A49",
    agree=_stays_refused,
)
def more_tokens_never_help(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """One reported count larger by 1 or by 6000; absurd counts stay."""
    for place, one in enumerate(action.observations):
        told = dict(one.payload).get("llm_output_token_count")
        if one.kind == "budget" and type(told) is int and told >= 0:
            for more in (1, 6000):
                grown = replace(one, payload=(("llm_output_token_count", told + more),))
                seen = (*action.observations[:place], grown, *action.observations[place + 1 :])
                yield replace(action, observations=seen)


def _refusal(step: KernelStep) -> Refusal | None:
    return decision_of(step).refusal if decided(step, REFUSE) else None


def _same_refusal(_w: Decide, step: KernelStep, other: KernelStep | None) -> bool:
    return other is not None and _refusal(step) == _refusal(other)


@_twins(
    "Two orders of the same candidates give the same refusal record.  (Stated to be refuted.)",
    source="6",
    agree=_same_refusal,
    expected=(
        refuted("reading reported_gate: the first candidate's gate is reported"),
        holds("the furthest gate is that of a set", reported_gate="furthest"),
    ),
)
def order_of_candidates_changes_no_record(_config: Config, _state: State, action: Decide) -> Iterator[Decide]:
    """The candidates in other orders."""
    return _reordered(action)
