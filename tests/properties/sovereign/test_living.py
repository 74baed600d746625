"""Each claim about a run with a language model holds of it, and is false of the fault that it was written for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.verdict import Status
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.canonicalizer import canonicalize
from evenhand.model.sovereign.live import TEXTS, Calibrate, LiveShown, LiveState, Turn, live_step
from evenhand.model.sovereign.proposals import candidates_from
from evenhand.model.sovereign.state import Config, State
from evenhand.search import explore
from tests.properties.sovereign.bundle import BUNDLE

LIVE = BUNDLE.model.systems["live"].at(refusals=2, thousands=2)
CLAIMS = {one.name: one for one in BUNDLE.claims_of("live")}

Taken = tuple[LiveState, LiveShown]


def _drift_is_ignored(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """Whatever three texts come, the run begins."""
    after, shown = live_step(rules, config, state, action)
    if isinstance(action, Calibrate) and not state.calibrated and None not in action.answers:
        after = LiveState(True, state.session)
    return after, shown


def _two_rounds(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """The third answer of a calibration is not looked at."""
    short = replace(action, answers=action.answers[:2]) if isinstance(action, Calibrate) else action
    return live_step(rules, config, state, short)


def _lost_is_empty(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """An answer that does not come counts as an empty one."""
    given = replace(action, answer="") if isinstance(action, Turn) and action.answer is None else action
    return live_step(rules, config, state, given)


def _uncalibrated(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """Cycles before the calibration."""
    begun = replace(state, calibrated=True) if isinstance(action, Turn) else state
    return live_step(rules, config, begun, action)


def _rejected_are_skipped(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """A rejected text never reaches the kernel."""
    after, shown = live_step(rules, config, state, action)
    return (state, LiveShown("rejected", shown.rejection)) if shown.rejection else (after, shown)


def _lost_turns_cost(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """A lost turn spends a token."""
    after, shown = live_step(rules, config, state, action)
    if shown.kind == "lost":
        after = replace(after, session=replace(after.session, tokens=after.session.tokens + 1))
    return after, shown


def _unfinished_blocks(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """A brace that is never closed opens a block."""
    after, shown = live_step(rules, config, state, action)
    if shown.cycle is not None:
        shown = replace(shown, rejection=canonicalize(action.answer, unfinished="a_block").rejection)
    return after, shown


def _unbound(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """The kernel gets the placeholders of the text."""
    after, shown = live_step(rules, config, state, action)
    if shown.candidates:
        shown = replace(shown, candidates=candidates_from(canonicalize(action.answer).value))
    return after, shown


def _bound_to_all(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """Scope claims name every observation."""
    after, shown = live_step(rules, config, state, action)
    every = tuple(map(artifact_id, shown.observations))
    return after, replace(
        shown,
        candidates=tuple(
            one if one.scope is None else replace(one, scope=replace(one.scope, observation_ids=every))
            for one in shown.candidates
        ),
    )


def _claims_are_worded_anew(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """Binding alters what a scope claim says."""
    after, shown = live_step(rules, config, state, action)
    return after, replace(
        shown,
        candidates=tuple(
            one if one.scope is None else replace(one, scope=replace(one.scope, claim="in scope"))
            for one in shown.candidates
        ),
    )


def _prompts_are_free(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """The kernel is told the completion alone."""
    if not isinstance(action, Turn):
        return live_step(rules, config, state, action)
    after, shown = live_step(rules, config, state, replace(action, prompt_tokens=0))
    return after, replace(shown, prompt_tokens=action.prompt_tokens if shown.cycle is not None else 0)


def _prompts_are_not_recorded(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """No report can say how much of a context window prompts fill."""
    after, shown = live_step(rules, config, state, action)
    return after, replace(shown, prompt_tokens=0)


def _overspending_acts(rules: Any, config: Config, state: LiveState, action: Any) -> Taken:
    """The kernel is asked with fewer tokens than are reported."""
    if not isinstance(action, Turn) or action.prompt_tokens + action.completion_tokens <= 6_000:
        return live_step(rules, config, state, action)
    _, told = live_step(rules, config, state, action)
    after, shown = live_step(rules, config, state, replace(action, completion_tokens=1))
    return after, replace(told, cycle=shown.cycle)


@pytest.mark.parametrize(
    ("claim", "fault"),
    [
        ("drift_ends_the_run", _drift_is_ignored),
        ("drift_ends_the_run", _two_rounds),
        ("a_lost_answer_invalidates_the_run", _lost_is_empty),
        ("a_lost_answer_invalidates_the_run", _two_rounds),
        ("answers_alone_begin_a_cycle", _uncalibrated),
        ("answers_alone_begin_a_cycle", _rejected_are_skipped),
        ("no_cycle_changes_no_session", _lost_turns_cost),
        ("rejections_count_the_blocks", _unfinished_blocks),
        ("ids_alone_are_bound", _unbound),
        ("ids_alone_are_bound", _bound_to_all),
        ("ids_alone_are_bound", _claims_are_worded_anew),
        ("tokens_of_prompt_and_completion_count", _prompts_are_free),
        ("tokens_of_prompt_and_completion_count", _prompts_are_not_recorded),
        ("the_kernel_decides_every_turn", _overspending_acts),
    ],
)
def test_a_claim_is_false_of_its_fault(claim: str, fault: Callable[..., Taken]) -> None:
    """13.1, 13.3, 13.4, 13.10, 13.11."""
    assert explore(LIVE, [CLAIMS[claim]]).verdicts[0].status is Status.HOLDS
    assert explore(replace(LIVE, step=fault), [CLAIMS[claim]]).verdicts[0].status is Status.REFUTED


def test_every_text_is_of_another_class() -> None:
    """Lawful, no block, two blocks, no JSON, a block without its end, several candidates, a foreign object."""
    config = next(iter(LIVE.all_configs()))
    begun = LiveState(True, State(tree=config.tree))
    told = [live_step(LIVE.rules, config, begun, Turn(text))[1] for text in TEXTS]
    assert [(one.rejection, len(one.candidates)) for one in told] == [
        ("", 1),
        ("NO_JSON", 0),
        ("AMBIGUOUS_MULTI_BLOCK", 0),
        ("PARSE_ERROR", 0),
        ("NO_JSON", 0),
        ("", 2),
        ("", 0),
    ]
