"""When tables of joint choices are tried, what they give, and the samples that are compared with plain functions."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from evenhand.core.alike import alike, deep_copy
from evenhand.core.answers import short
from evenhand.core.kinds import Monitor, Property
from evenhand.core.system import AnySystem
from evenhand.search import tables
from evenhand.search.steps import joint_choices, make_step, nth_action, stepped
from evenhand.search.tables.asking import MoreRead
from evenhand.search.tables.audit import compare_answers, compare_starts, plain_answer
from evenhand.search.tables.classes import Rows
from evenhand.search.tables.expressions import Unfollowed
from evenhand.search.tables.histories import Histories
from evenhand.search.tables.joint import LOOSE, JointLearner
from evenhand.search.tables.joint_walk import JointWalk
from evenhand.search.tables.learning import CHANGED
from evenhand.search.tables.method import RESTARTS, Attempt
from evenhand.search.tables.questions import ACTS, Questions
from evenhand.search.tables.shape import Shape
from evenhand.search.tables.watching import Budget
from evenhand.search.totals import Result
from evenhand.search.walk import Walk
from evenhand.search.witness import NotLearned, Tally

STATES, ROWS, MEMBERS = 60, 6, 2
"""States that are compared, and as many classes in their last states; rows of each, joint actions of each row."""

LATER = 4
"""How many times as many steps there are before the next attempt."""

WAITING = 64
"""States of those that wait to be expanded whose joint choices are counted."""


class JointAttempt(Attempt):
    """One attempt to go on from tables of joint choices."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.size = tables.NEVER
        self.budget = Budget(tables.JOINT_SHARE)
        self.ahead = 0

    def __call__(self, walk: Walk) -> None:
        """Search from tables if states wait whose choices they would save.  Raises what `Attempt` raises."""
        self.steps, self.ahead = tables.NEVER, _ahead(walk, self.system, self.config)
        if self.ahead or self.only:
            super().__call__(walk)
        else:
            self._later(walk)

    def _later(self, walk: Walk) -> None:
        """Begin again when explicit search has cost several times as much."""
        self.steps = max(1, LATER * walk.transitions)

    def _result(self, walk: Walk) -> Result:
        if self.counting is not None:
            raise NotLearned("actions are counted one by one")
        return super()._result(walk)

    def _calls(self, walk: Walk) -> int:
        return walk.transitions + self.ahead

    def _searched(self, states: Sequence[Any], starts: Sequence[Any]) -> Result:
        shape = Shape(states, self.opaque)
        learner = JointLearner(self.system, self.config, shape, self.budget)
        # No claim is worth a look where the steps alone teach nothing.
        rows = np.asarray([shape.numbers(state) for state in states], dtype=np.int32).T
        while learner.loosened <= LOOSE:
            try:
                learner.classified(rows)
                break
            except MoreRead as error:
                learner.more_read(error.columns)
        questions: Questions | None = None
        for _ in range(RESTARTS):
            asked = [number for number in range(len(self.claims)) if number not in self.aside]
            if self.aside and not asked:
                raise NotLearned("; ".join(self.aside.values()))
            self.served = [self.claims[number] for number in asked]
            try:
                if questions is None:
                    questions = Questions(self.system, self.config, self.served)
                    if questions.monitors and self.bounds.depth is not None:
                        raise Unfollowed(questions.monitors[0].claim, "its histories are cut at a bound")
                    learner.ask(questions)
                return self._joint(learner, asked, starts)
            except MoreRead as error:
                learner.more_read(error.columns)
            except Unfollowed as error:
                name = self.claims[asked[error.claim]].name
                self.aside[asked[error.claim]] = f"claim {name!r} was left to explicit search, for {error}"
                questions = None
        raise NotLearned("too much is read that was not read before")

    def _joint(self, learner: JointLearner, asked: list[int], starts: Any) -> Result:
        walk = JointWalk(learner, self.number, self.bounds)
        walk.run(starts, self.tick, _before_the_end, self.had)
        tallies = {place: self._decided(walk, number, self.claims[place]) for number, place in enumerate(asked)}
        if learner.of_monitors:
            audit_joint(walk, walk.states)  # now that their values are known
        actions = sum(one.size for one in learner.rows)
        why = (
            f"{len(learner.rows):,} classes of {walk.states:,} states, with {actions:,} joint choices, were evaluated "
            f"on what is read, {self.budget.runs:,} runs on proxies; samples were compared with the step"
        )
        every = (tallies.get(place, Tally()) for place in range(len(self.claims)))
        return walk.result(every, (("compiled", "; ".join((why, *self.aside.values()))),))

    def _decided(self, walk: JointWalk, number: int, claim: Property) -> Tally:
        if isinstance(claim, Monitor) and claim.applies(self.config):
            found = Histories(walk, claim, walk.learner.of_monitors[walk.learner.questions.place[number]])
            if walk.open or not found.search(self.bounds.max_states):
                raise Unfollowed(number, "its histories are cut at a bound")
            return found.tally()
        return self._tally(walk, number, claim)


def _ahead(walk: Walk, system: AnySystem, config: Any) -> int:
    """About how many joint choices are sure to come: those of the known states that wait to be expanded.

    Before the first step, those of some states beyond count too.  0 where counting raises, or nothing lies beyond.
    """
    count = len(walk.states)
    first: int = walk.parents[count - 1] + 1  # states found later have later parents
    apart = max(1, (count - first) // WAITING)
    try:
        offered: list[int] = [joint_choices(system, config, walk.states[sid]) for sid in range(first, count, apart)]
        beyond = _beyond(walk.states[:WAITING], system, config) if walk.transitions == 0 else 0
    except Exception:  # explicit search meets it too, unless that is beyond its bounds
        return 0
    # One wide state teaches more than its own steps are worth; runs of a single step have nothing beyond it.
    return apart * sum(offered) + beyond if beyond or walk.transitions else 0


def _beyond(starts: Sequence[Any], system: AnySystem, config: Any) -> int:
    """How many joint choices some of the states offer that lie one step beyond others."""
    found: set[Any] = set()
    for state in starts:
        offered = joint_choices(system, config, state)
        taken = (nth_action(system, config, state, at) for at in range(0, offered, offered // WAITING + 1))
        found.update(stepped(system, config, state, action)[0] for action in taken)
    return sum(joint_choices(system, config, state) for state in found.difference(starts))


def _before_the_end(walk: Any, expanded: int) -> None:
    """Compare samples, but not at the end if they are compared with the values of monitors then."""
    if expanded < walk.states or not walk.learner.of_monitors:
        audit_joint(walk, expanded)


def audit_joint(walk: Any, expanded: int) -> None:
    """Raise NotLearned for a sample, of the states expanded so far, in which tables and model differ."""
    compare_starts(walk)
    compare_classes(walk, expanded)


def compare_classes(walk: JointWalk, expanded: int) -> None:
    """Raise NotLearned where states, or classes of them, differ from the model."""
    learner, random = walk.learner, Random(walk.number)
    if not walk.kinds:
        return
    counts, kinds = np.concatenate(walk.counts_of)[:expanded], np.concatenate(walk.kinds)
    if not len(counts):
        return
    ends = np.cumsum(counts)
    kinds, owners = kinds[: int(ends[-1])], np.repeat(np.arange(len(counts)), counts)
    # The last state of a class is not the one from which its rows were made, unless there is no other.
    _, back = np.unique(kinds[::-1], return_index=True)
    last = random.sample((len(kinds) - 1 - back).tolist(), min(STATES, len(back)))
    for place in last:
        _compare_rows(walk, learner, int(owners[place]), [int(kinds[place])], random)
    for sid in sorted({0, len(counts) - 1, *(random.randrange(len(counts)) for _ in range(STATES))}):
        mine = kinds[int(ends[sid] - counts[sid]) : int(ends[sid])].tolist()
        _compare_state(walk, learner, sid, mine)
        _compare_rows(walk, learner, sid, random.sample(mine, min(ROWS, len(mine))), random)


def _compare_state(walk: JointWalk, learner: JointLearner, sid: int, kinds: Sequence[int]) -> None:
    """Compare how much a state offers, and what claims say of it."""
    state, leaf = walk.state(sid), learner.rows[kinds[0]].leaf
    kept_state = deep_copy(state)
    if sum(learner.rows[kind].size for kind in kinds) != leaf.table.size:
        raise NotLearned("rows stand for another number of joint choices than are on offer")
    compare_answers(walk, sid, state, kept_state)


def _compare_rows(walk: JointWalk, learner: JointLearner, sid: int, kinds: Sequence[int], random: Random) -> None:
    """Compare what a state offers, and some rows of some of its classes, with the model."""
    state, flat, leaf = walk.state(sid), walk.flat(), learner.rows[kinds[0]].leaf
    kept = deep_copy(state)
    numbers = walk.packing.unpacked(walk.words[sid : sid + 1])
    (portion,) = walk.portions(numbers, np.asarray([len(kinds)]), np.asarray(kinds))
    columns = np.stack(portion.pairs())
    there = walk.packing.unpacked(walk.words_after(sid, portion.row))
    if not learner.offers(state, leaf) or not np.array_equal(there, walk.arrived_at(leaf, columns[learner.size :])):
        raise NotLearned(f"state {short(state)} offers other actions than its tables, or they lead elsewhere")
    drawn: list[tuple[int, int]] = []
    for kind in kinds:
        mine = np.flatnonzero((portion.row >= flat.starts[kind]) & (portion.row < flat.ends[kind])).tolist()
        drawn += [(kind, at) for at in random.sample(mine, min(ROWS // len(kinds), len(mine)))]
    places = [at for _, at in drawn]
    pairs = [*columns[:, places], flat.shown[portion.row[places]]]
    every = [asked.answers(pairs, len(places)).tolist() for asked in learner.of_steps if places]
    for index, (kind, at) in enumerate(drawn):
        made, place = learner.rows[kind], int(portion.row[at] - flat.starts[kind])
        after = learner.shape.state(columns[learner.size :, at].tolist())
        answers = [one[index] for one in every]
        for unit in random.sample(range(len(made.units[place])), min(MEMBERS, len(made.units[place]))):
            member = random.randrange(len(made.units[place][unit].unit.members))
            pair = [row[index : index + 1] for row in pairs]
            _compare_action(learner, state, after, (made, place, unit, member), answers, pair, random)
            if kept is not None and kept[0] != state:
                raise NotLearned(CHANGED)


def _compare_action(
    learner: JointLearner,
    state: Any,
    after: Any,
    of: tuple[Rows, int, int, int],
    answers: Sequence[int],
    pair: Sequence[Any],
    random: Random,
) -> None:
    """Compare one joint action of a row, and what claims say of it."""
    made, place, unit, member = of
    shown, number = learner.shown.values[made.shown[place]], made.units[place][unit].unit.members[member]
    action = learner.joint.join(learner.config, state, made.leaf.table.picked(number))
    real, seen = _stepped(learner, state, action)
    if not (real == after and alike(real, after) and seen == shown and alike(seen, shown)):
        raise NotLearned(f"`step` of {short(action)} in state {short(state)} goes elsewhere than its tables")
    step = make_step(learner.config, state, action, shown, after)
    for asked, (question, answer) in enumerate(zip(learner.questions.steps, answers, strict=True)):
        if answer == ACTS:
            answer = learner.acting.answer(asked, made, place, unit, member)
        if plain_answer(question, step) != answer:
            raise NotLearned(f"{question.name} answers otherwise on {short(action)} in state {short(state)}")
    for question, updated in zip(learner.questions.monitors, learner.of_monitors, strict=True):
        values = updated.values.values
        value = random.randrange(len(values)) if values else -1
        if value >= 0:
            known = values[int(updated.answers([*pair, np.asarray([value])], 1)[0])]
            real_value = plain_answer(question, (values[value], step))
            if not (known == real_value and alike(known, real_value)):
                raise NotLearned(f"{question.name} goes on otherwise after {short(action)}")


def _stepped(learner: JointLearner, state: Any, action: Any) -> tuple[Any, Any]:
    """The step, taken twice.  Raises NotLearned where it is no function of its arguments."""
    found = stepped(learner.system, learner.config, state, action)
    if stepped(learner.system, learner.config, state, action) != found:
        raise NotLearned("`step` is no function of its arguments")
    return found
