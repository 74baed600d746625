"""Compare samples of a search from tables with the plain functions: offers, steps and answers.

States are drawn by the paths that they take, those of rarely used paths first, and at random.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from evenhand.core.alike import alike, deep_copy
from evenhand.core.answers import ModelError, short
from evenhand.core.system import Step
from evenhand.search.contract import initial_states
from evenhand.search.steps import stepped
from evenhand.search.tables.expressions import Unfollowed
from evenhand.search.tables.learning import CHANGED
from evenhand.search.tables.questions import Question
from evenhand.search.tables.walk import TableWalk
from evenhand.search.witness import NotLearned

RARE, DRAWN = 160, 60
"""States that are compared: for the least used paths, one each; and others, at random."""

STEPS = 48
"""Steps of a state that are compared, beside the one it was chosen for."""


def audit(walk: TableWalk, expanded: int) -> None:
    """Raise NotLearned for a sample, of the states expanded so far, in which tables and model differ."""
    random = Random(walk.number)
    compare_starts(walk)
    steps = walk.learner.steps
    paths = sorted(walk.examples, key=lambda path: (steps[path[0]].ends[path[1]].uses, path))
    chosen = {walk.examples[path]: path[0] for path in reversed(paths[:RARE]) if walk.examples[path] < expanded}
    expanded = max(1, expanded)
    for sid in (0, expanded - 1, *(random.randrange(expanded) for _ in range(DRAWN))):
        chosen.setdefault(max(0, sid), -1)
    numbers = sorted(chosen)
    rows = walk.packing.unpacked(walk.words[np.asarray(numbers)])
    found: dict[tuple[int, int], tuple[int, list[int], list[int]]] = {}
    made = walk.steps_of(rows)
    if made is not None:
        there = walk.visited.numbers(made.words)
        kept = there >= 0
        if (not walk.beyond and not kept.all()) or (walk.words[there[kept]] != made.words[kept]).any():
            raise NotLearned("a step leads to a state that was lost, or taken for another")
        after = walk.packing.unpacked(made.words).T.tolist()
        for at, key in enumerate(zip(made.source.tolist(), made.number.tolist(), strict=True)):
            found[key] = int(made.label[at]), after[at], made.answers[:, at].tolist()
    for index, sid in enumerate(numbers):
        _compare_state(walk, sid, index, found, chosen[sid], random)


def compare_starts(walk: TableWalk) -> None:
    """The first level has every initial state, and no other."""
    starts = set(initial_states(walk.learner.system, walk.learner.config))
    found = {walk.state(sid) for sid in range(walk.levels[1] if len(walk.levels) > 1 else walk.states)}
    if starts != found:
        raise NotLearned("the search did not begin in the initial states")


def _compare_state(
    walk: TableWalk,
    sid: int,
    index: int,
    found: dict[tuple[int, int], tuple[int, list[int], list[int]]],
    wanted: int,
    random: Random,
) -> None:
    learner = walk.learner
    state = walk.state(sid)
    kept_state = deep_copy(state)
    offered = list(learner.system.enabled(learner.config, state))
    known = [found.get((index, place)) for place in range(len(offered))]
    if (index, len(offered)) in found or None in known:
        raise NotLearned(f"state {short(state)} offers other actions than its tables")
    every = [one for one in known if one is not None]
    drawn = set(random.sample(range(len(every)), min(STEPS, len(every))))
    for place, (action, (number, after, answers)) in enumerate(zip(offered, every, strict=True)):
        real = learner.actions.values[number]
        if not (real == action and alike(real, action)):
            raise NotLearned(f"state {short(state)} offers {short(action)} where its tables say {short(real)}")
        if place in drawn or number == wanted:
            _compare_step(walk, state, action, learner.shape.state(after), answers)
    compare_answers(walk, sid, state, kept_state)


def _compare_step(walk: TableWalk, state: Any, action: Any, after: Any, answers: list[int]) -> None:
    learner = walk.learner
    real, shown = stepped(learner.system, learner.config, state, action)
    if not (real == after and alike(real, after)):
        raise NotLearned(f"`step` of {short(action)} in state {short(state)} goes elsewhere than its tables")
    step: Step[Any, Any, Any, Any] = Step(learner.config, state, action, shown, real)
    for question, answer in zip(learner.questions.steps, answers, strict=True):
        if question.plain(step) != answer:
            raise NotLearned(f"{question.name} answers otherwise on {short(action)} in state {short(state)}")


def compare_answers(walk: TableWalk, sid: int, state: Any, before: Any) -> None:
    """Compare what claims say of a state, which must still be as it was `before`."""
    for question, kept in zip(walk.learner.questions.states, walk.state_answers, strict=True):
        if plain_answer(question, state) != int(np.concatenate(kept)[sid]):
            raise NotLearned(f"{question.name} answers otherwise in state {short(state)}")
    if before is not None and before[0] != state:
        raise NotLearned(CHANGED)


def plain_answer(question: Question, about: Any) -> Any:
    """Return the plain answer; a claim that raises is left to the search below, which will say so."""
    try:
        return question.plain(about)
    except ModelError as error:
        raise Unfollowed(question.claim, str(error)) from error
