"""Breadth-first search over the columns, a level at a time; only what was never observed goes to Python.

States have the numbers that explicit search gives them: in the order of the states before, then of the actions on
offer.  A state is kept as packed words; its columns are unpacked again when it is expanded.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from evenhand.search.actions import LABELS, NOTHING, OTHERS, ActionsWatch, Counted, label_of
from evenhand.search.bounds import Bounds
from evenhand.search.csr import Flags
from evenhand.search.lasso import Edges
from evenhand.search.memory import MemoryBudget
from evenhand.search.tables.learning import Learner
from evenhand.search.tables.questions import MET, VIOLATED
from evenhand.search.tables.trees import Tree
from evenhand.search.tables.visited import DIRECT, WORD, Visited, different
from evenhand.search.totals import Result
from evenhand.search.walk import Paths
from evenhand.search.witness import NotLearned, Progress, Tally

CHUNK = 1 << 15
"""States that are expanded at a time."""

FIRST_AUDIT = 4_000
"""States after which samples are compared for the first time."""


class Packing:
    """The places of the columns in the words of a state; a column gets room for twice the values it has.

    It gets none where few bits are enough for all: a place in a table for each state is worth packing again.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.bits = [max(1, (size - 1).bit_length()) for size in sizes]
        if sum(self.bits) > DIRECT:
            self.bits = [max(1, (2 * size - 1).bit_length()) for size in sizes]
        self.places: list[tuple[int, int]] = []
        word = shift = 0
        for bits in self.bits:
            if shift + bits > WORD:
                word, shift = word + 1, 0
            self.places.append((word, shift))
            shift += bits
        self.width = word + 1

    def fits(self, sizes: Sequence[int]) -> bool:
        """Return whether every value still has a number in its column's bits."""
        return all(size <= 1 << bits for size, bits in zip(sizes, self.bits, strict=True))

    def packed(self, rows: Any) -> Any:
        """Return the words of states given by their columns."""
        words = np.zeros((rows.shape[1], self.width), dtype=np.int64)
        for column, row in enumerate(rows):
            self.put(words, column, row)
        return words

    def put(self, words: Any, column: int, row: Any) -> None:
        """Set one column of these states, to numbers or to one number."""
        (word, shift), bits = self.places[column], self.bits[column]
        row = np.asarray(row, dtype=np.int64)
        if row.size and (row.max() >> bits or row.min() < 0):
            raise NotLearned("a value has no room in its column")  # never, since `fits` comes first
        words[:, word] &= ~((1 << bits) - 1 << shift)
        words[:, word] |= row << shift

    def column(self, words: Any, column: int) -> Any:
        """Return one column of states given by their words."""
        (word, shift), bits = self.places[column], self.bits[column]
        return (words[:, word] >> shift & (1 << bits) - 1).astype(np.int32)

    def unpacked(self, words: Any) -> Any:
        """Return the columns of states given by their words."""
        rows = np.empty((len(self.bits), len(words)), dtype=np.int32)
        for place in range(len(rows)):
            rows[place] = self.column(words, place)
        return rows


class StepArrays(NamedTuple):
    """Steps: the state, the number of the action on offer, the action, the words of the state after, the answers."""

    source: Any
    number: Any
    label: Any
    words: Any
    answers: Any


class Pairs(Sequence[Any]):
    """So many columns before a step, those after it, and `more`; each is made when asked for: most never are."""

    def __init__(self, size: int, make: Callable[[int], Any], more: Sequence[Any]) -> None:
        self.size, self.make, self.more = size, make, more
        self.known: dict[int, Any] = {}

    def __len__(self) -> int:
        return 2 * self.size + len(self.more)

    def __getitem__(self, column: Any) -> Any:
        if column >= 2 * self.size:
            return self.more[column - 2 * self.size]
        if column not in self.known:
            self.known[column] = self.make(column)
        return self.known[column]


class TableWalk(Paths):
    """The search of one configuration from tables."""

    def __init__(self, learner: Learner, number: int, bounds: Bounds, counting: ActionsWatch | None) -> None:
        self.learner, self.number, self.bounds, self.counting = learner, number, bounds, counting
        self.columns = learner.shape.columns
        self.packing = Packing([len(column) for column in self.columns])
        self.parents, self.actions = array("q"), array("q")
        self.transitions = self.edge_count = self.covered = 0
        self.levels: list[int] = []
        self.open = self.beyond = False
        self.most = bounds.max_states
        self.visited = Visited(self.packing.width, sum(self.packing.bits))
        questions = learner.questions
        self.state_answers: list[list[Any]] = [[] for _ in questions.states]
        self.counts = np.zeros((len(questions.steps), 4), dtype=np.int64)
        self.first: list[tuple[int, int] | None] = [None] * len(questions.steps)
        self.kept_edges: list[tuple[Any, Any, Any, Any]] = []
        self.examples: dict[tuple[int, int], int] = {}

    def run(
        self,
        starts: Sequence[tuple[int, Any]],
        tick: Progress | None,
        audit: Callable[[TableWalk, int], None],
        least: int = 0,
    ) -> None:
        """Search from the initial states, each with its place in the list.  Raises NotLearned or Reshaped.

        `audit(walk, expanded)` compares samples at the end, and before whenever there are twice as many states: wrong
        tables may have no end.  Where memory ends, the search goes on with the states that it has, if they are at
        `least` so many.
        """
        budget = MemoryBudget(self.bounds.max_memory)
        if self.most is not None:
            self.most = max(self.most, len(starts))  # initial states are never left out
        numbers = [self.learner.shape.numbers(state) for _, state in starts]
        rows = np.asarray(numbers, dtype=np.int32).reshape(-1, len(self.columns)).T
        self._fit()
        first = self.packing.packed(rows)
        self._arrived(first, np.full(len(first), -1), np.asarray([place for place, _ in starts]))
        low, high, due = 0, self.states, FIRST_AUDIT
        while low < high:
            self.levels.append(low)
            if low and high >= due:
                audit(self, low)
                due = 2 * high
            for start in range(low, high, CHUNK):
                self._ask_states(self._rows(start, min(high, start + CHUNK)))
            if self.bounds.depth is not None and len(self.levels) > self.bounds.depth:
                self.open = self.open or self._any_offer(low, high)
                break
            for start in range(low, high, CHUNK):
                self._expand(start, min(high, start + CHUNK))
                if budget.spent():
                    budget = self._memory_ends(least)
                if tick is not None:
                    tick(self.states, self.transitions)
            low, high = high, self.states
        audit(self, low)

    def _memory_ends(self, least: int) -> MemoryBudget:
        """Keep no new states, and expand only known ones, unless another search gets further."""
        if self.bounds.spill is not None or self.states < least:
            raise NotLearned("the bound on memory was reached")
        self.most = self.states
        return MemoryBudget(None)

    @property
    def states(self) -> int:
        """How many states were found, or picked."""
        return self.visited.count

    @property
    def words(self) -> Any:
        """The packed states by their numbers, and room for more."""
        return self.visited.words

    @property
    def size(self) -> int:
        """How many states were found."""
        return self.states

    def counted(self, marks: Any) -> int:
        """Return how many states are marked by anything but 0."""
        return int(np.count_nonzero(marks))

    def result(
        self, tallies: Iterable[Tally], how: tuple[tuple[str, str], ...] = (), counted: Counted = NOTHING
    ) -> Result:
        """Return the result of this search, with these tallies."""
        depth, every = max(0, len(self.levels) - 1), tuple(tallies)
        return Result(self.size, self.transitions, self.edge_count, depth, self.open, every, counted=counted, how=how)

    def state(self, sid: int) -> Any:
        """Return a state as the model knows it."""
        return self.learner.shape.state(self.packing.unpacked(self.words[sid : sid + 1])[:, 0].tolist())

    def _rows(self, low: int, high: int) -> Any:
        return self.packing.unpacked(self.words[low:high])

    def _fit(self) -> None:
        """Pack all states anew where a column has outgrown its bits.  Raises Reshaped."""
        self.learner.shape.crowded()
        sizes = [len(column) for column in self.columns]
        if self.packing.fits(sizes):
            return
        old, self.packing = self.packing, Packing(sizes)
        words, self.visited = self.words[: self.states], Visited(self.packing.width, sum(self.packing.bits))
        for low in range(0, len(words), CHUNK):
            self.visited.entered(self.packing.packed(old.unpacked(words[low : low + CHUNK])))

    def _enter(self, _words: Any, parents: Any, actions: Any) -> None:
        """Note how new states were reached."""
        self.parents.frombytes(np.ascontiguousarray(parents, dtype=np.int64).tobytes())
        self.actions.frombytes(np.ascontiguousarray(actions, dtype=np.int64).tobytes())

    def _ask_states(self, rows: Any) -> None:
        for asked, kept in zip(self.learner.of_states, self.state_answers, strict=True):
            kept.append(asked.answers(rows, rows.shape[1]))

    def _offers(self, rows: Any) -> tuple[Any, dict[int, tuple[Any, Any]]]:
        """How much each state offers; for each action the states that offer it, and its number among those on offer."""
        learner, found = self.learner, dict[int, list[tuple[Any, Any]]]()
        count, every = np.zeros(rows.shape[1], dtype=np.int64), np.arange(rows.shape[1])
        _, offered = learner.offer.through(rows, every, lambda i: learner.learn_offer(rows[:, i].tolist()))
        for action, group in offered:
            found.setdefault(action, []).append((group, count[group]))
            count[group] += 1
        return count, {
            action: (np.concatenate([g for g, _ in parts]), np.concatenate([n for _, n in parts]))
            for action, parts in found.items()
        }

    def _any_offer(self, low: int, high: int) -> bool:
        return any(bool(self._offers(self._rows(s, min(high, s + CHUNK)))[1]) for s in range(low, high, CHUNK))

    def steps_of(self, rows: Any, base: int = 0) -> StepArrays | None:
        """Return every step out of these states, in the order of states and of actions on offer; None if there is none.

        States are numbered by their places in `rows`; `base` is the number of the first in the search.
        """
        learner, found = self.learner, list[tuple[Any, Any, Any]]()
        count, offers = self._offers(rows)
        ends = np.cumsum(count)
        if not len(ends) or not ends[-1]:
            return None
        source = np.repeat(np.arange(len(count)), count)
        number = np.arange(len(source)) - (ends - count)[source]
        label, shown = np.full(len(source), -1, dtype=np.int64), np.zeros(len(source), dtype=np.int32)
        place = np.zeros(len(count), dtype=np.int64)
        for action, (sources, numbers) in offers.items():
            while len(learner.steps) <= action:
                learner.steps.append(Tree(learner.expressions))

            def learn(index: int, action: int = action) -> None:
                learner.learn_step(rows[:, index].tolist(), action)

            order = np.argsort(sources, kind="stable")
            sources = sources[order]
            steps = (ends - count)[sources] + numbers[order]
            once = sources[np.diff(sources, prepend=-1) > 0]  # `np.unique` would hash them
            place[sources] = steps
            for node, group in learner.steps[action].through(rows, once, learn)[0]:
                self.examples[action, node.number] = base + int(group[-1])
                some = place[group]
                if len(once) != len(sources):  # an action is listed twice
                    left: Any = np.searchsorted(sources, group)
                    right: Any = np.searchsorted(sources, group, side="right")
                    group = np.repeat(group, right - left)
                    some = np.concatenate([steps[low:high] for low, high in zip(left, right, strict=True)])
                changes, shown[some] = self._after(node.result, rows, group)
                label[some] = action
                found.append((group, some, changes))
        if label.min() < 0:
            raise NotLearned("an action on offer has no step")
        self._fit()
        words = self._words_after(self.packing.packed(rows), found, len(source))
        if not learner.of_steps:
            return StepArrays(source, number, label, words, np.zeros((0, len(source)), dtype=np.int8))

        def column(one: int) -> Any:
            return rows[one][source] if one < len(rows) else self.packing.column(words, one - len(rows))

        pairs = Pairs(len(rows), column, (label, shown))
        answers = np.stack([asked.answers(pairs, len(source)) for asked in learner.of_steps])
        return StepArrays(source, number, label, words, answers)

    def _words_after(self, before: Any, found: Sequence[tuple[Any, Any, Any]], count: int) -> Any:
        """The words after steps: for some states of `before` the places of their steps, and the columns that change."""
        words = np.empty((count, self.packing.width), dtype=np.int64)
        for group, some, changes in found:
            made = np.take(before, group, axis=0)
            for column, numbers in changes.items():
                self.packing.put(made, column, numbers)
            words[some] = made
        return words

    def _after(self, effect: Any, rows: Any, group: Any) -> tuple[dict[int, Any], Any]:
        """The columns that a step of this effect sets, and the observation."""
        expressions, changes = self.learner.expressions, dict[int, Any]()
        for column, number in effect:
            expression = expressions.every[number]
            target = self.learner.shown if column == len(rows) else self.columns[column]
            if expression.columns:
                changes[column] = expressions.numbers_in(expression, column, target, rows, group)
            else:
                changes[column] = target.number(expression.outcomes.values[0])
        return changes, changes.pop(len(rows), 0)

    def _expand(self, low: int, high: int) -> None:
        """Take every step out of some states."""
        steps = self.steps_of(self._rows(low, high), low)
        self.covered += high - low + (0 if steps is None else len(steps.source))
        if self.counting is not None and self.counting.end is None:
            ends = np.ones(high - low, dtype=np.bool_)
            ends[[] if steps is None else steps.source] = False
            self.counting.end = low + int(ends.argmax()) if ends.any() else None
        self.learner.watching.budget.calls = max(self.learner.watching.budget.calls, self.covered)
        if steps is None:
            return
        source, number, label, answers = steps.source + low, steps.number, steps.label, steps.answers
        there, fresh_rows = self._arrived(steps.words, source, number)
        self.transitions += len(source)
        self.edge_count += different(source * (self.states + 1) + there, int(number.max()) + 1)
        if self.counting is not None:
            self._count(label, there != source, fresh_rows)
        self._tally(answers, source, number)
        if self.learner.questions.tests:
            first = self.learner.questions.first_test
            label = np.zeros(len(source), dtype=np.int64)
            for place, row in enumerate(answers[first:]):
                label |= (row & MET).astype(np.int64) << place
            self._keep(source, there, number, label)

    def _arrived(self, words: Any, source: Any, number: Any) -> tuple[Any, Any]:
        """Number the states of these words, -1 beyond a bound; return also the places of those that are new."""
        there, fresh = self.visited.entered(words, self.most)
        if len(there) and there.min() < 0:
            if self.most is None:
                raise NotLearned("a state was lost")
            self.open = self.beyond = True
        self._enter(words[fresh], source[fresh], number[fresh])
        return there, fresh

    def _tally(self, answers: Any, source: Any, number: Any) -> None:
        for place, row in enumerate(answers):
            self.counts[place] += np.bincount(row, minlength=4)
            if self.first[place] is None:
                bad = np.flatnonzero(row & VIOLATED)
                if len(bad):
                    self.first[place] = int(source[bad[0]]), int(number[bad[0]])

    def _keep(self, source: Any, there: Any, number: Any, label: Any) -> None:
        """Keep the edges, given in order: the first action of each source, target and set of predicates."""
        pair = source * (self.states + 1) + there
        order = np.lexsort((label, pair))
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (np.diff(pair[order]) != 0) | (np.diff(label[order]) != 0)
        kept = np.sort(order[new])
        self.kept_edges.append((source[kept], there[kept], label[kept], number[kept]))

    def edges(self) -> tuple[Edges, Any]:
        """Return the whole graph as arrays, and the label of each edge."""
        empty = np.zeros(0, dtype=np.int64)
        kept = self.kept_edges or [(empty,) * 4]
        source, target, label, action = (np.concatenate(column) for column in zip(*kept, strict=True))
        initials = self.levels[1] if len(self.levels) > 1 else self.states
        return Edges(self.states, initials, source, target, action), label

    def where(self, test: Callable[[Any], bool]) -> Flags:
        """Return the edges that satisfy a predicate."""
        found: Flags = (self.edges()[1] >> self.learner.questions.tests[test] & 1).astype(np.bool_)
        return found

    def _count(self, label: Any, changed: Any, fresh: Any) -> None:
        """Count the actions as a watcher of explicit search does."""
        assert self.counting is not None
        size = len(self.learner.actions)
        offered = np.bincount(label, minlength=size)
        moved = np.bincount(label[changed], minlength=size)
        new = np.bincount(label[fresh], minlength=size)
        first = np.zeros(size, dtype=np.int64)
        first[label[::-1]] = np.arange(len(label))[::-1]
        for place in sorted(np.flatnonzero(offered).tolist(), key=first.__getitem__):  # in the order in which they come
            name = label_of(self.learner.actions.values[place])
            if name not in self.counting.labels and len(self.counting.labels) >= LABELS:
                raise NotLearned(f"more than {LABELS} labels of actions, of which the first are named, not {OTHERS!r}")
            count = self.counting.labels.setdefault(name, [0, 0, 0])
            count[0] += int(offered[place])
            count[1] += int(moved[place])
            count[2] += int(new[place])
