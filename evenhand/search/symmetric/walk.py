"""Breadth-first search through picked states: one of each orbit, counted as many times as its orbit is large.

A row leads from a picked state to a state, whose picked state is looked up.  Steps are weighted by their joint choices
and their source's orbit; for edges (distinct pairs of states) a row has the weight of the orders of what it writes into
the team's columns.  Distances are those of the full space, because the group takes paths to paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from typing import Any

import numpy as np

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Monitor
from evenhand.search.bounds import Bounds
from evenhand.search.contract import initial_states
from evenhand.search.quotient import not_fixed
from evenhand.search.steps import nth_action, number_of
from evenhand.search.symmetric.group import orders, sorted_blocks
from evenhand.search.symmetric.learner import OrbitLearner
from evenhand.search.tables.asking import Learned, Updated
from evenhand.search.tables.classes import Leaf
from evenhand.search.tables.histories import Histories
from evenhand.search.tables.joint_walk import JointWalk, Portion
from evenhand.search.tables.visited import unique
from evenhand.search.tables.walk import Pairs
from evenhand.search.witness import Witness

ELEMENTS, IMAGES = 24, 1 << 17
"""Elements of the group under which claims are asked about images, and the images at a time, of states or steps."""


class OrbitWalk(JointWalk):
    """The search of one configuration through picked states.

    `sizes` are the sizes of their orbits; `transitions` and `edge_count` count the full space.  `doubts` says for some
    claims, by number, why the group does not fix them; `histories` has those of the monitors.
    """

    learner: OrbitLearner  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, learner: OrbitLearner, number: int, bounds: Bounds) -> None:
        super().__init__(learner, number, bounds)
        self.sizes: list[int] = []
        self.doubts: dict[int, str] = {}
        self.targets: tuple[Any, Any, Any] | None = None
        self.histories: dict[int, Histories] = {}

    def starts(self) -> list[tuple[int, Any]]:
        """Return the picked initial states, each with the place of one of its orbit in the list of the model.

        Raises ModelError unless images of initial states are initial: else picked ones do not stand for all.
        """
        system, group, shape = self.learner.system, self.learner.group, self.learner.shape
        states = list(initial_states(system, self.learner.config))
        numbers = np.asarray([shape.numbers(state) for state in states], dtype=np.int64).reshape(-1, len(shape.columns))
        known = set(map(tuple, numbers.tolist()))
        for move in group.generators:
            for place, image in enumerate(map(tuple, numbers[:, move.source].tolist())):
                if image not in known:
                    raise ModelError(
                        f"{system.label}: initial state {states[place]!r} has an image that is not initial, so the "
                        "quotient does not cover it; explore without it"
                    )
        places: dict[tuple[int, ...], int] = {}
        for place, picked in enumerate(map(tuple, group.picked(numbers).tolist())):
            places.setdefault(picked, place)
        return [(place, shape.state(picked)) for picked, place in places.items()]

    def numbers(self, sid: int) -> list[int]:
        """Return the numbers of the values of a picked state."""
        found: list[int] = self._rows(sid, sid + 1)[:, 0].tolist()
        return found

    def arrived_at(self, leaf: Leaf, after: Any) -> Any:
        """Return the columns after steps of a leaf, with those of its teams in the order of the picked state."""
        for team in self.learner.teams_in(leaf):
            after = sorted_blocks(after.T, team.fields).T
        return after

    def orbits_after(self, sid: int) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield the picked state after each row of a state, and the weight of the row."""
        rows = self._rows(sid, sid + 1)
        counts, kinds = self.learner.classified(rows)
        flat = self.flat()
        for portion in self.portions(rows, counts, kinds):
            words = self.words_after(sid, portion.row)
            picked = self.learner.group.picked(self.packing.unpacked(words).T)
            yield from zip(map(tuple, picked.tolist()), flat.weight[portion.row].tolist(), strict=True)

    def finding(self, sid: int, *more: int) -> Witness:
        """Return a shortest run of the unreduced model into that orbit, and images of the actions `more` after it."""
        start, path = self.path(sid)
        return unfolded(self, start, (*path, *more))

    def run_of(self, start: int, path: tuple[int, ...], loop: tuple[int, ...]) -> Witness:
        """Return the run of images of these actions, with the loop taken until it comes back to its first state."""
        return unfolded(self, int(self.actions[start]), path, loop)

    def _after_rows(self) -> Any:
        return self._targets()[1]

    def _targets(self) -> tuple[Any, Any, Any]:
        """The rows of all classes, what each makes of the columns in the order of the picked state, and its orders."""
        flat = self.flat()
        if self.targets is None or self.targets[0] is not flat:
            after, spread = flat.after.copy(), np.ones(flat.after.shape[1], dtype=np.int64)
            places: dict[int, list[Any]] = {}
            for made, start, end in zip(self.learner.rows, flat.starts.tolist(), flat.ends.tolist(), strict=True):
                places.setdefault(made.leaf.number, []).append(np.arange(start, end))
            for number, some in places.items():
                leaf, mine = self.learner.leaves[number], np.concatenate(some)
                after[:, mine] = self.arrived_at(leaf, after[:, mine])
                for team in self.learner.teams_in(leaf):
                    spread[mine] *= np.asarray(orders(after[:, mine].T, team.fields), dtype=np.int64)
            self.targets = flat, after, spread
        return self.targets

    def _enter(self, words: Any, parents: Any, actions: Any) -> None:
        super()._enter(words, parents, actions)
        if len(words):
            self.sizes += self.learner.group.sizes(self.packing.unpacked(words).T)

    def _ask_states(self, rows: Any) -> None:
        """Ask about states and their images: all under exchanges of neighbours, some under others."""
        super()._ask_states(rows)
        some, sources = self._spread(rows.shape[1])
        neighbours = [(move.source, slice(None)) for move in self.learner.group.generators]
        for asked, kept in zip(self.learner.of_states, self.state_answers, strict=True):
            for source, which in (*neighbours, *((source, some) for source in sources)):
                images = rows[list(source)][:, which]
                if (asked.answers(images, images.shape[1]) != kept[-1][which]).any():
                    self.doubt(asked.question.claim)

    def _answer(self, portion: Portion, source: Any, there: Any) -> None:
        """Answer claims about steps, and ask them about images."""
        super()._answer(portion, source, there)
        self._compare(self.learner.of_steps, portion)

    def updates(self, updated: Updated, portion: Portion, values: Any) -> Any:
        """Return the values of a monitor after steps, and ask it about their images."""
        self._compare([updated], portion, values)
        return super().updates(updated, portion, values)

    def _compare(self, every: Sequence[Learned], portion: Portion, *more: Any) -> None:
        """Note doubts of claims that tell steps from their images; what these show is not known here."""
        size, (some, sources) = self.learner.size, self._spread(len(portion.row))
        drawn = portion._replace(place=portion.place[some], row=portion.row[some], rank=portion.rank[some])
        pairs = drawn.pairs(self.flat().shown[drawn.row], *(one[some] for one in more))
        for asked in every if len(some) else ():
            answers = asked.answers(pairs, len(some))
            for source in sources if 2 * size not in asked.read else ():
                images = Pairs(size, partial(_of_image, pairs, source), pairs.more)
                differs = (asked.answers(images, len(some)) != answers).any()
                if differs and 2 * size not in asked.read:
                    for claim in self.learner.questions.asking(asked.question):
                        self.doubt(claim)

    def _spread(self, count: int) -> tuple[Any, list[tuple[int, ...]]]:
        """Return evenly spaced places below `count`, and elements of the group: all of both while they are few."""
        sources = self.learner.group.sources(ELEMENTS, Random(count))
        return np.arange(count)[:: max(1, count * len(sources) // IMAGES)], sources

    @property
    def size(self) -> int:
        """How many states the full space has."""
        return sum(self.sizes)

    def counted(self, marks: Any) -> int:
        """Return how many states of the full space stand behind the picked states that are marked."""
        return self.total(marks != 0, np.arange(self.states))

    def remember(self) -> None:
        """Follow the monitors through picked states.  Raises Unfollowed."""
        for place, claim in enumerate(self.learner.claims):
            if isinstance(claim, Monitor) and claim.applies(self.learner.config):
                updated = self.learner.of_monitors[self.learner.questions.place[place]]
                self.histories[place] = Histories(self, claim, updated)
                if self.open or not self.histories[place].search(self.bounds.max_states):
                    self.doubts[place] = "its histories are cut at a bound"

    def doubt(self, claim: int) -> None:
        """Note that a claim tells images apart."""
        self.doubts.setdefault(claim, not_fixed(self.learner.quotient, self.learner.claims[claim]))

    def _expand(self, low: int, high: int) -> None:
        """Take every step out of some states."""
        learner, rows = self.learner, self._rows(low, high)
        counts, kinds = learner.classified(rows)
        self._fit()
        self.kinds.append(kinds)
        self.counts_of.append(counts)
        flat, owners = self.flat(), np.repeat(np.arange(low, high), counts)
        self.transitions += self.total(flat.sizes[kinds], owners)
        for portion in self.portions(rows, counts, kinds):
            source = portion.place + low
            words = self.words_after(source, portion.row)
            once, which = unique(words)
            first = np.unique(source * len(once) + which, return_index=True)[1]
            self.edge_count += self.total(self._targets()[2][portion.row[first]], source[first])
            order = np.argsort(once)
            once = once[order]
            picked = self.packing.packed(learner.group.picked(self.packing.unpacked(words[once]).T).T)
            there = self._arrived(picked, source[once], flat.first[portion.row[once]])[0][np.argsort(order)[which]]
            if learner.of_monitors:
                self.there.append(there.astype(np.int32))
            self._answer(portion, source, there)
        learner.check()

    def total(self, numbers: Any, source: Any) -> int:
        """Return the sum in the full space."""
        if not len(source):
            return 0
        low = int(source.min())
        each = np.zeros(int(source.max()) - low + 1, dtype=np.int64)
        np.add.at(each, source - low, numbers)
        return sum([size * count for size, count in zip(self.sizes[low:], each.tolist(), strict=False)])


def _of_image(pairs: Pairs, source: Sequence[int], column: int) -> Any:
    """The column of the images of steps under an element."""
    before = column < pairs.size
    return pairs[source[column] if before else pairs.size + source[column - pairs.size]]


def unfolded(walk: OrbitWalk, place: int, path: Sequence[int], loop: Sequence[int] = ()) -> Witness:
    """Return the run from this initial state by images of actions that picked states offer under these numbers.

    An image of the loop need not end where it began, so it is taken until it does.  Raises ModelError if there is no
    such run.
    """
    learner = walk.learner
    system, config, group, shape = learner.system, learner.config, learner.group, learner.shape
    state = list(initial_states(system, config))[place]
    picked = shape.state(group.picked(np.asarray([shape.numbers(state)]))[0].tolist())
    # The elements that lead from the picked state to the state of the run, in turn.
    by = group.way(shape.numbers(state))
    taken: list[int] = []

    def take(numbers: Sequence[int]) -> None:
        nonlocal state, picked, by
        for number in numbers:
            action = nth_action(system, config, picked, number)
            after = system.take(config, picked, action).after
            for w in by:
                action = learner.quotient.action(w, config, action)
            taken.append(number_of(system, config, state, action))
            state = system.take(config, state, action).after
            here, there = group.picked(np.asarray([shape.numbers(one) for one in (state, after)])).tolist()
            if here != there:
                raise ModelError(
                    f"{system.label}: the image {action!r} of an action does not lead where the quotient says it "
                    "leads; the licence is wrong, explore without it"
                )
            picked, by = shape.state(there), (*group.way(shape.numbers(after)), *by)

    take(path)
    stem, first = len(taken), state
    take(loop)
    while loop and state != first:
        take(loop)
    return Witness(walk.number, place, tuple(taken[:stem]), tuple(taken[stem:]))
