"""Questions about steps that ask for the action: each is shown every joint action, once for equal values read.

What is read is learned for each group of joint choices.  Its actions are shown with the values of these columns and
proxies of all others, so that a question that reads more is noticed.  A column that the step keeps has one proxy before
and after: to compare the two reads nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from evenhand.search.steps import make_step
from evenhand.search.tables.asking import Asked
from evenhand.search.tables.classes import KEPT, Job, Leaf, Regrouped, Rows, Taken, Unit
from evenhand.search.tables.expressions import Spent, Unfollowed, Values
from evenhand.search.tables.proxies import Run
from evenhand.search.tables.questions import ACTS, MET, VIOLATED, Questions
from evenhand.search.tables.shape import Shape
from evenhand.search.tables.watching import Watching
from evenhand.search.witness import NotLearned


class Learner(Protocol):
    """What is used of the tables of one configuration, see `joint`."""

    size: int
    config: Any
    read: set[int]
    shape: Shape
    questions: Questions
    shown: Values
    of_steps: list[Asked]
    watching: Watching

    def begun(self, leaf: Leaf, numbers: Sequence[int]) -> Run:
        """Return a run on proxies in which the outcomes of the leaf are no news."""
        ...

    def settle(self, run: Run, leaf: Leaf) -> None:
        """Let the outcomes of the leaf, and no others, be no news."""
        ...

    def join(self, leaf: Leaf, numbers: Sequence[int], wanted: Iterable[int]) -> None:
        """Make the joint actions of these numbers."""
        ...


class Reader:
    """Some questions, asked together: what they read of the steps of each group, and their answers for these values.

    `reads` has the columns before a step and those after it, by leaf and group.  A group begins with those of the last
    group that did the same to find its effects, `likely`.
    """

    def __init__(self, asks: int) -> None:
        self.questions = [place for place in range(asks.bit_length()) if asks >> place & 1]
        self.reads: dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self.likely: dict[tuple[int, ...], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self.memo: dict[Hashable, tuple[bytes, ...]] = {}

    def of(self, unit: Unit) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return what is read of the steps of a group."""
        likely = self.likely.get(unit.leaf.reads[unit.group], ((), ()))
        return self.reads.setdefault((unit.leaf.number, unit.group), likely)

    def grows(self, unit: Unit, before: set[int], after: set[int]) -> bool:
        """Read these columns too; return whether any is new."""
        old = self.of(unit)
        new = tuple(sorted({*old[0], *before})), tuple(sorted({*old[1], *after}))
        self.reads[unit.leaf.number, unit.group] = self.likely[unit.leaf.reads[unit.group]] = new
        return new != old

    def key(self, numbers: Sequence[int], job: Job) -> Hashable:
        """Return what the answers depend on: the values read, and which columns the step keeps."""
        before, after = self.of(job.unit)
        there = job.after
        return (
            job.unit,
            job.shown,
            tuple([number == KEPT for number in there]),
            tuple([numbers[c] for c in before]),
            tuple([there[c] for c in after]),
        )


class Parted(NamedTuple):
    """Actions with the same answers to predicates: the bits of these, the actions, and the counts of each claim.

    Of the actions of a claim: how many it is met in, how many violate it, the number of the first of these or -1.
    """

    label: int
    taken: Taken
    counts: dict[int, tuple[int, int, int]]


class Acting:
    """What one configuration's questions about single actions answer."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.readers: dict[int, Reader] = {}
        self.parts: dict[Hashable, list[Parted]] = {}

    def parted(self, made: Rows, jobs: Sequence[Job]) -> Iterator[tuple[Job, int, Parted]]:
        """Yield the parts of each group with the same answers to predicates, and which questions ask for its actions.

        Raises Regrouped where more is read than was known, and Unfollowed.
        """
        splits = self._splits(made, jobs)
        found: dict[int, Iterator[tuple[bytes, ...]]] = {}
        for asks in sorted(set(splits) - {0}):
            mine = [job for job, one in zip(jobs, splits, strict=True) if one == asks]
            found[asks] = iter(self._answered(self.readers.setdefault(asks, Reader(asks)), made, mine))
        for job, asks in zip(jobs, splits, strict=True):
            answers = next(found[asks]) if asks else ()
            key = job.unit, asks, answers
            if key not in self.parts:
                first = self.learner.questions.first_test
                self.parts[key] = _parted(job.unit, self.readers[asks].questions if asks else (), answers, first)
            for part in self.parts[key]:
                yield job, asks, part

    def answer(self, place: int, made: Rows, row: int, unit: int, member: int) -> int:
        """Return what a question that asks for the action answers for one action of a row."""
        return made.units[row][unit].answers[self.readers[made.asks[row]].questions.index(place)][member]

    def _splits(self, made: Rows, jobs: Sequence[Job]) -> list[int]:
        """For each group the bits of those questions that ask for its actions."""
        learner, found = self.learner, np.zeros(len(jobs), dtype=np.int64)
        if learner.of_steps and jobs:
            numbers = np.asarray(made.numbers, dtype=np.int32)[:, None]
            after = np.asarray([job.after for job in jobs], dtype=np.int32).T
            before = np.repeat(numbers, len(jobs), axis=1)
            shown = np.asarray([job.shown for job in jobs], dtype=np.int32)
            pairs = [*before, *np.where(after == KEPT, before, after), shown]
            for bit, asked in enumerate(learner.of_steps):
                found |= (asked.answers(pairs, len(jobs)) == ACTS).astype(np.int64) << bit
        return found.tolist()

    def _answered(self, reader: Reader, made: Rows, jobs: Sequence[Job]) -> list[tuple[bytes, ...]]:
        """The answers to each question about the actions of each job, evaluated once for equal values read."""
        leaf, more = made.leaf, dict[int, set[int]]()
        while True:
            keys = [reader.key(made.numbers, job) for job in jobs]
            missing = {key: job for key, job in zip(keys, jobs, strict=True) if key not in reader.memo}
            if not missing:
                break
            found, grown = self._evaluated(reader, made, [*missing.values()])
            reader.memo.update((key, one) for key, one in zip(missing, found, strict=True) if one is not None)
            self._read(reader, made, grown)
            if grown:
                self.learner.watching.clear_caches()  # one may hold a proxy
        for unit in {job.unit.group: job.unit for job in jobs}.values():
            before = {*reader.of(unit)[0]} - leaf.settled
            if not before <= leaf.asked[unit.group] | self.learner.read:
                more[unit.group] = before
        if more:
            leaf.read_more({}, more, self.learner.read)
            raise Regrouped
        return [reader.memo[key] for key in keys]

    def _read(self, reader: Reader, made: Rows, grown: dict[int, set[int]]) -> None:
        """From now on more columns are read of the steps of these groups.  Raises Unfollowed if none is new."""
        size = self.learner.size
        for group, columns in grown.items():
            before, after = {c for c in columns if c < size}, {c - size for c in columns if c >= size}
            if not reader.grows(made.leaf.whole[group], before, after):
                question = self.learner.questions.steps[reader.questions[0]]
                raise Unfollowed(question.claim, "it reads what it is not given")

    def _evaluated(
        self, reader: Reader, made: Rows, jobs: Sequence[Job]
    ) -> tuple[list[tuple[bytes, ...] | None], dict[int, set[int]]]:
        """Answer about each action; what a group turns out to read beside, for which there are no answers yet.

        Raises Unfollowed.
        """
        learner, numbers, leaf = self.learner, made.numbers, made.leaf
        learner.join(leaf, numbers, (number for job in jobs for number in job.unit.members))
        found: list[tuple[bytes, ...] | None] = [None] * len(jobs)
        grown: dict[int, set[int]] = {}
        asked = [learner.questions.steps[place] for place in reader.questions]
        at, question = 0, asked[0]

        def heard(run: Run) -> None:
            columns = {column for _, expression, _ in run.events for column in expression.columns}
            grown.setdefault(jobs[at].unit.group, set()).update(columns)
            run.events.clear()
            learner.settle(run, leaf)

        def ask_all(run: Run, every: Sequence[Sequence[Any]]) -> None:
            nonlocal at, question
            for at, steps in enumerate(every):
                answers: list[list[int]] = [[] for _ in asked]
                for step in steps:
                    for question, into in zip(asked, answers, strict=True):
                        into.append(question.traced(step))
                    if run.events:
                        break
                if run.events:
                    heard(run)
                else:
                    found[at] = tuple(map(bytes, answers))

        def ask(run: Run) -> None:
            learner.watching.run_on(ask_all, run, list(self._steps(run, reader, made, jobs)))

        run = learner.begun(leaf, numbers)
        try:
            learner.watching.observed(run, ask)
        except Spent:
            raise
        except NotLearned as error:
            run.expressions.trouble = ""
            if run.events:  # a value that is not read yet may be the cause
                heard(run)
            if not grown:
                raise Unfollowed(question.claim, str(error)) from error
        return found, grown

    def _steps(self, run: Run, reader: Reader, made: Rows, jobs: Sequence[Job]) -> Iterator[list[Any]]:
        """The steps of each job: columns that are not read are proxies."""
        learner, numbers, actions, known = self.learner, made.numbers, made.leaf.actions, dict[Hashable, Any]()
        columns, size = learner.shape.columns, learner.size
        for job in jobs:
            reads = before, after = reader.of(job.unit)
            if (reads, job.after) not in known:
                here = [columns[c].values[numbers[c]] if c in before else run.leaves[c] for c in range(size)]
                there = [
                    here[c] if number == KEPT else columns[c].values[number] if c in after else run.leaves[size + c]
                    for c, number in enumerate(job.after)
                ]
                known[reads, job.after] = learner.shape.built(here), learner.shape.built(there)
            (state, later), seen = known[reads, job.after], learner.shown.values[job.shown]
            yield [make_step(learner.config, state, actions[n], seen, later) for n in job.unit.members]


def _parted(unit: Unit, questions: Sequence[int], answers: tuple[bytes, ...], first_test: int) -> list[Parted]:
    """The parts of a unit with the same answers to predicates, which are the questions from `first_test` on."""
    parts: dict[int, list[int]] = {0: [*range(len(unit.members))]}
    if predicates := [place for place in questions if place >= first_test]:
        parts.clear()
        of_predicates = answers[len(questions) - len(predicates) :]
        for index, bits in enumerate(zip(*of_predicates, strict=True)):
            label = sum([(one & MET) << place - first_test for place, one in zip(predicates, bits, strict=True)])
            parts.setdefault(label, []).append(index)
    found: list[Parted] = []
    weight = unit.leaf.table.weight
    for label, indices in parts.items():
        members = [unit.members[index] for index in indices]
        mine = tuple([bytes([one[index] for index in indices]) for one in answers])
        counts: dict[int, tuple[int, int, int]] = {}
        for place, each in zip(questions[: len(questions) - len(predicates)], mine, strict=False):
            met, bad = ([n for n, one in zip(members, each, strict=True) if one & bit] for bit in (MET, VIOLATED))
            counts[place] = weight(met), weight(bad), min(bad, default=-1)
        whole = len(members) == len(unit.members)
        found.append(Parted(label, Taken(unit if whole else Unit(unit.leaf, unit.group, members), mine), counts))
    return found
