"""A run with a language model: calibration, lost answers, rejected texts, bound ids, recorded tokens."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeAlias

from evenhand.core.canonical import canonical_bytes
from evenhand.core.property import each_step
from evenhand.core.records import replace
from evenhand.core.system import Step
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.live import Calibrate, LiveAct, LiveShown, LiveState, Turn
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.vocabulary import Candidate, Observation, field

LiveStep: TypeAlias = Step[Config, LiveState, LiveAct, LiveShown]

LIVE_RUN = ("live",)
DRIFT, LOST = "MODEL_DRIFT_DETECTED", "TRANSPORT_FAILURE"


def _objects(text: str) -> list[Any]:
    """The outermost objects of a text, each parsed, None for one that is no JSON.

    Where a reader of JSON gets no object from a brace, the object ends where its braces balance outside of quotes.
    """
    found: list[Any] = []
    place = text.find("{")
    while place >= 0:
        try:
            value, end = json.JSONDecoder().raw_decode(text, place)
        except ValueError:
            value, end = None, _balanced(text, place)
            if end < 0:
                break
        found.append(value)
        place = text.find("{", end)
    return found


def _balanced(text: str, place: int) -> int:
    """Where the braces that open at a place are closed; -1 if they are not."""
    open_, quoted, at = 0, False, place
    while at < len(text):
        letter = text[at]
        if quoted and letter == "\\":
            at += 1
        elif letter == '"':
            quoted = not quoted
        elif not quoted and letter in "{}":
            open_ += 1 if letter == "{" else -1
            if open_ == 0:
                return at + 1
        at += 1
    return -1


def _object(answer: str | None) -> Any:
    """The one object of an answer; None where it has none, or several, or no JSON."""
    found = _objects(answer) if answer is not None else []
    return found[0] if len(found) == 1 else None


def _starts(step: LiveStep) -> bool:
    return isinstance(step.action, Calibrate) and not step.before.calibrated and not step.before.session.over


def _answered(step: LiveStep) -> bool:
    return step.shown.cycle is not None


def _turn(step: LiveStep) -> Turn:
    assert isinstance(step.action, Turn)
    return step.action


@each_step(
    "A run begins exactly where all answers of its calibration are the same object; others, if they came, are a drift "
    "that aborts it.",
    source="13.4 Q22",
    systems=LIVE_RUN,
    when=_starts,
)
def drift_ends_the_run(step: LiveStep) -> bool:
    """An answer with no single object has no canonical form, so that none can be identical."""
    assert isinstance(step.action, Calibrate)
    if None in step.action.answers:
        return not step.after.calibrated
    objects = [_object(one) for one in step.action.answers]
    same = objects[0] is not None and all(one == objects[0] for one in objects)
    return step.after.calibrated == same and step.after.session.over == ("" if same else DRIFT)


@each_step(
    "An answer that does not come, in calibration or in a turn, makes the run invalid: nothing is decided, and nothing "
    "else has that end.",
    source="13.10 Q40",
    systems=LIVE_RUN,
    when=lambda step: not step.before.session.over,
)
def a_lost_answer_invalidates_the_run(step: LiveStep) -> bool:
    """A calibration that asks no further is lost where answers that came differ already: it waits for all three."""
    action = step.action
    lost = action.answer is None if isinstance(action, Turn) else None in action.answers
    in_place = isinstance(action, Turn) == step.before.calibrated
    return (step.after.session.over == LOST) == (lost and in_place)


@each_step(
    "A cycle runs exactly where an answer comes, after the calibration and before the end of the run.",
    source="13.4, 13.10, 1",
    systems=LIVE_RUN,
)
def answers_alone_begin_a_cycle(step: LiveStep) -> bool:
    """Whatever the text is: a rejected one too."""
    ready = step.before.calibrated and not step.before.session.over
    answered = isinstance(step.action, Turn) and step.action.answer is not None
    return _answered(step) == (ready and answered)


@each_step(
    "Without a cycle nothing changes but whether the run has begun, by a calibration, and whether it is over.",
    source="13.4, 13.10",
    systems=LIVE_RUN,
    when=lambda step: not _answered(step),
)
def no_cycle_changes_no_session(step: LiveStep) -> bool:
    """And nothing is recorded but what kind of step it was."""
    before, after = step.before.session, step.after.session
    kept = replace(after, over=before.over) == before and (not before.over or after == before)
    begins = step.after.calibrated == step.before.calibrated or _starts(step)
    lost = isinstance(step.action, Turn) and step.before.calibrated and not before.over
    kind = "calibrate" if _starts(step) else "lost" if lost else "rejected"
    return kept and begins and step.shown == LiveShown(kind)


@each_step(
    "A text without an object is rejected as NO_JSON, one with several as AMBIGUOUS_MULTI_BLOCK, one whose only block "
    "is no JSON as PARSE_ERROR, and no other.",
    source="13.3 Q53",
    systems=LIVE_RUN,
    when=_answered,
)
def rejections_count_the_blocks(step: LiveStep) -> bool:
    """A brace that is never closed opens no block.  Of the object that remains the run records the hash (7 A5)."""
    found = _objects(_turn(step).answer or "")
    one = found[0] if len(found) == 1 else None
    if step.shown.canonical_hash != (hashlib.sha256(canonical_bytes(one)).hexdigest() if one is not None else ""):
        return False
    if len(found) == 1:
        return step.shown.rejection == ("PARSE_ERROR" if one is None else "")
    return step.shown.rejection == ("AMBIGUOUS_MULTI_BLOCK" if found else "NO_JSON")


def _written(one: Candidate) -> dict[str, Any]:
    """A candidate as a proposer writes it."""
    told: dict[str, Any] = {
        "action_request": {"action_type": one.request.action_type, "fields": dict(one.request.fields)},
        "authority_citations": list(one.citations),
    }
    if one.justification is not None:
        told["justification"] = {"text": one.justification.text}
    if one.scope is not None:
        told["scope_claim"] = {"claim": one.scope.claim, "clause_ref": one.scope.clause_ref}
    return told


def _unbound(told: dict[str, Any]) -> dict[str, Any]:
    """What a proposer wrote, without the observation ids, which it cannot know."""
    scope = {name: value for name, value in told.get("scope_claim", {}).items() if name != "observation_ids"}
    return {**told, "scope_claim": scope} if "scope_claim" in told else told


@each_step(
    "The kernel gets the candidates that the text proposes, with the ids of observed inputs in their scope claims and "
    "nothing else altered; of a rejected text none.",
    source="13.1, 13.2, 13.12",
    systems=LIVE_RUN,
    when=_answered,
)
def ids_alone_are_bound(step: LiveStep) -> bool:
    """An object that is no proposal proposes nothing."""
    value = _object(_turn(step).answer)
    told: dict[str, Any] = value if value is not None else {}
    many: list[dict[str, Any]] = told.get("candidates", [told])
    wanted = [_unbound(one) for one in many if "action_request" in one]
    inputs = {artifact_id(one) for one in step.shown.observations if one.kind == "user_input"}
    bound = all(set(one.scope.observation_ids) == inputs for one in step.shown.candidates if one.scope is not None)
    return [_written(one) for one in step.shown.candidates] == wanted and bound


def _count(seen: tuple[Observation, ...]) -> list[object]:
    return [field(one.payload, "llm_output_token_count") for one in seen if one.kind == "budget"]


@each_step(
    "The kernel is told the tokens of prompt and completion together, and the run records each of both.",
    source="13.1 Q48a, 13.7, 13.11",
    systems=LIVE_RUN,
    when=_answered,
)
def tokens_of_prompt_and_completion_count(step: LiveStep) -> bool:
    """So that a report can sum prompts and completions, and say how much of a context window prompts fill."""
    turn = _turn(step)
    recorded = (step.shown.prompt_tokens, step.shown.completion_tokens) == (turn.prompt_tokens, turn.completion_tokens)
    return recorded and _count(step.shown.observations) == [turn.prompt_tokens + turn.completion_tokens]


@each_step(
    "The decision of a turn is on what was observed and proposed in it: without a candidate it is no ACTION, and "
    "beyond the limit of tokens a refusal.",
    source="1, 13.1, 13.7",
    systems=LIVE_RUN,
    when=_answered,
)
def the_kernel_decides_every_turn(step: LiveStep) -> bool:
    """What it decides otherwise is claimed of sessions."""
    cycle = step.shown.cycle
    assert cycle is not None
    if cycle.decision is None or not step.after.calibrated or step.shown.kind != "turn":
        return False
    turn = _turn(step)
    spent = turn.prompt_tokens + turn.completion_tokens > step.config.constitution.limits.max_total_tokens_per_cycle
    refused = cycle.decision.kind == "REFUSE"
    return (refused or bool(step.shown.candidates)) and (not spent or refused)
