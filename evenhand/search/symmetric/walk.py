"""Breadth-first search through picked states: one of each orbit, counted as many times as its orbit is large.

A row leads from a picked state to a state, whose picked state is looked up.  Steps are weighted by their joint choices
and their source's orbit; for edges (distinct pairs of states) a row has the weight of the orders of what it writes into
the team's fields.  Distances are those of the full space, because the group takes paths to paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from evenhand.core.answers import ModelError
from evenhand.core.system import AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.csr import Ints
from evenhand.search.memory import resident
from evenhand.search.rows.flat import Flat
from evenhand.search.rows.plain import CHUNK, lists_of
from evenhand.search.rows.shape import Shape, Words
from evenhand.search.steps import nth_action, number_of
from evenhand.search.symmetric.compiler import Folded
from evenhand.search.symmetric.group import arrangements
from evenhand.search.symmetric.moves import AnyQuotient
from evenhand.search.witness import Progress, Witness


@dataclass
class FoldedWalk:
    """The result of a search through picked states.

    `words` are the picked states, `sizes` their orbits' sizes; `parents` the number of the state before each (for an
    initial one, -1 minus its place in the list of `initial`); `levels[d]` is the number of the first state at distance
    `d`.  `states`, `transitions` and `edges` count the full space; `label_counts` are its steps by label, `label_seen`
    the first state and row of each.  `doubts` says for some claims, by name, why the group does not fix them.
    """

    system: AnySystem
    config: Any
    number: int
    flat: Flat
    words: Words
    parents: list[int]
    quotient: AnyQuotient
    folded: Folded
    sizes: list[int]
    levels: list[int] = field(default_factory=list[int])
    states: int = 0
    transitions: int = 0
    edges: int = 0
    open: bool = False
    label_counts: list[int] = field(default_factory=list[int])
    label_seen: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    doubts: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def shape(self) -> Shape:
        """The layout of states."""
        return self.folded.program.shape

    def state(self, sid: int) -> Any:
        """Return the state of that number, as the model knows it."""
        return self.shape.state(self.words[sid].tolist())

    def ancestors(self, sid: int) -> list[int]:
        """Return the states on the way to a state from an initial one, both included."""
        states = [sid]
        while self.parents[states[-1]] >= 0:
            states.append(int(self.parents[states[-1]]))
        return states[::-1]

    def finding(self, sid: int, row: int | None = None) -> Witness:
        """Return a shortest run of the unreduced model into that orbit, and an image of the row's action after it."""
        return unfolded(self, self.ancestors(sid), row)

    def refused(self, sid: int, culprit: int) -> ModelError:
        """Return the error of a state that takes a path where the model raised, or a leaf with a fault."""
        about = f"{self.system.label}: in state {self.state(sid)!r}"
        if culprit >= 0:
            return ModelError(f"{about}: {self.flat.reasons[culprit]}")
        leaf = self.folded.program.leaves[-1 - culprit]
        if leaf.broken:
            return ModelError(f"{about}: {leaf.broken}")
        return ModelError(f"{about} {leaf.offered} actions are on offer, and rows for another number")

    def orbit_of(self, numbers: Sequence[int]) -> list[int]:
        """Return the words of the state that is picked for this state's orbit."""
        return self.shape.encode(self.folded.group.picked(np.asarray([numbers], dtype=np.int64))[0].tolist())


def decoded(shape: Shape, words: Words) -> Ints:
    """Return states as the numbers of their fields' values."""
    return np.stack([(words[:, one.word] & one.mask) >> one.shift for one in shape.fields], axis=1)


def encoded(shape: Shape, numbers: Ints) -> Words:
    """Return the words of states."""
    words = np.zeros((len(numbers), shape.words), dtype=np.int64)
    for place, one in enumerate(shape.fields):
        words[:, one.word] |= numbers[:, place] << one.shift
    return words


def successors_in(flat: Flat, words: Any) -> Iterator[tuple[int, int, list[int]]]:
    """Yield (number of the first action, row, words after) of every row that applies in a state given by its words."""
    rows = flat.rows
    columns = len(rows.list_base)

    def index(column: int) -> int:
        found = 0
        for word, shift, mask, offset in rows.looks[rows.look_from[column] : rows.look_from[column + 1]].tolist():
            found += int(rows.classes[offset + (int(words[word]) >> shift & mask)])
        return found

    leaf = int(rows.dispatch[index(columns)])
    for place in range(int(rows.leaf_from[leaf]), int(rows.leaf_from[leaf + 1])):
        column = int(rows.leaf_columns[place])
        entry = int(rows.list_base[column]) + index(column)
        for row in range(int(rows.row_from[entry]), int(rows.row_to[entry])):
            after = (words & rows.keep[row] | rows.value[row]).tolist()
            yield int(flat.first[row]), row, after


class _Search:
    def __init__(self, walk: FoldedWalk, bounds: Bounds) -> None:
        self.walk, self.bounds = walk, bounds
        self.rows = walk.flat.rows
        self.known: dict[bytes, int] = {row.tobytes(): sid for sid, row in enumerate(walk.words)}
        self.spread = _spreads(walk)
        self.full = False

    def expand(self, low: int, high: int) -> None:
        """Expand the states of one level, some at a time."""
        while low < high:
            source, lists, culprit = lists_of(self.rows, self.walk.words[low:high], low)
            if culprit is not None:
                raise self.walk.refused(*culprit)
            lengths = self.rows.row_to[lists] - self.rows.row_from[lists]
            last = high
            if lengths.sum() > CHUNK:
                last = max(low + 1, int(source[np.searchsorted(np.cumsum(lengths), CHUNK)]))
                some = source < last
                source, lists, lengths = source[some], lists[some], lengths[some]
            self._take(source, lists, lengths)
            low = last

    def _take(self, source: Ints, lists: Ints, lengths: Ints) -> None:
        walk, rows = self.walk, self.rows
        steps = np.zeros(len(walk.words), dtype=np.int64)
        np.add.at(steps, source, rows.list_weight[lists])
        for sid in cast("list[int]", np.unique(source).tolist()):
            walk.transitions += walk.sizes[sid] * int(steps[sid])
        total = int(lengths.sum())
        if not total:
            return
        row = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        row += np.repeat(rows.row_from[lists], lengths)
        origin = np.repeat(source, lengths)
        target = walk.words[origin] & rows.keep[row] | rows.value[row]
        self._count(origin, row, target)
        self._new(origin, target)

    def _count(self, origin: Ints, row: Ints, target: Words) -> None:
        """Count edges and labels in the full space."""
        walk = self.walk
        _, first = np.unique(np.column_stack([origin, target]), axis=0, return_index=True)
        pairs = np.zeros(len(walk.words), dtype=np.int64)
        np.add.at(pairs, origin[first], self.spread[row[first]])
        for sid in cast("list[int]", np.unique(origin).tolist()):
            walk.edges += walk.sizes[sid] * int(pairs[sid])
        if len(walk.label_counts) < 2:
            return
        label = self.rows.label[row]
        keys, first, inverse = np.unique(label * len(walk.words) + origin, return_index=True, return_inverse=True)
        weights = np.zeros(len(keys), dtype=np.int64)
        np.add.at(weights, inverse, self.rows.weight[row])
        for key, place, weight in zip(keys.tolist(), first.tolist(), weights.tolist(), strict=True):
            one, sid = divmod(key, len(walk.words))
            walk.label_counts[one] += walk.sizes[sid] * weight
            seen = (sid, int(row[place]))
            walk.label_seen[one] = min(walk.label_seen.get(one, seen), seen)

    def _new(self, origin: Ints, target: Words) -> None:
        walk = self.walk
        _, first = np.unique(target, axis=0, return_index=True)
        first.sort()
        group, shape = walk.folded.group, walk.shape
        picked = encoded(shape, group.picked(decoded(shape, target[first])))
        added: list[int] = []
        for place, row in enumerate(picked):
            key = row.tobytes()
            if key in self.known:
                continue
            if self.full or self._is_full(len(walk.words) + len(added)):
                self.full = walk.open = True
                continue
            self.known[key] = len(walk.words) + len(added)
            added.append(place)
        if added:
            fresh = picked[added]
            walk.words = np.concatenate([walk.words, fresh])
            walk.parents += [int(origin[first[place]]) for place in added]
            sizes = group.sizes(decoded(shape, fresh))
            walk.sizes += sizes
            walk.states += sum(sizes)

    def _is_full(self, count: int) -> bool:
        bounds = self.bounds
        if bounds.max_states is not None and count >= bounds.max_states:
            return True
        return bounds.max_memory is not None and count & 127 == 0 and resident() > bounds.max_memory


def _spreads(walk: FoldedWalk) -> Ints:
    """For each row, the number of orders of what it writes into the fields of its leaf's teams."""
    rows, shape = walk.flat.rows, walk.shape
    found = np.ones(len(rows.weight), dtype=np.int64)
    columns = [leaf for leaf, one in enumerate(walk.folded.program.leaves) for _ in one.columns]
    sizes = [column.projection.size for leaf in walk.folded.program.leaves for column in leaf.columns]
    written: Ints | None = None
    for number, leaf in enumerate(columns):
        lists = range(int(rows.list_base[number]), int(rows.list_base[number]) + sizes[number])
        if not walk.folded.teams[leaf] or not len(lists):
            continue
        low, high = int(rows.row_from[lists[0]]), int(rows.row_to[lists[-1]])
        written = decoded(shape, rows.value) if written is None else written
        for team in walk.folded.teams[leaf]:
            parts = written[low:high][:, [place for fields in team.fields for place in fields]]
            kinds, which = np.unique(parts, axis=0, return_inverse=True)
            width = len(team.fields[0])
            orders = [
                arrangements([tuple(kind[at : at + width]) for at in range(0, len(kind), width)])
                for kind in kinds.tolist()
            ]
            found[low:high] *= np.asarray(orders, dtype=np.int64)[which.reshape(-1)]
    return found


def search_folded(
    system: AnySystem,
    quotient: AnyQuotient,
    config: Any,
    number: int,
    made: tuple[Folded, Flat],
    bounds: Bounds,
    tick: Progress | None = None,
) -> FoldedWalk:
    """Search one configuration.  Raises ModelError if a reachable state takes a path on which the model raised."""
    folded, flat = made
    shape, group = folded.program.shape, folded.group
    starts = np.asarray([shape.encode(shape.numbers(state)) for state in system.initial(config)], dtype=np.int64)
    _closed(system, shape, folded, starts)
    picked = encoded(shape, group.picked(decoded(shape, starts)))
    _, first = np.unique(picked, axis=0, return_index=True)
    first.sort()
    sizes = group.sizes(decoded(shape, picked[first]))
    parents = [-1 - int(place) for place in first]
    walk = FoldedWalk(system, config, number, flat, picked[first], parents, quotient, folded, sizes)
    walk.states = sum(sizes)
    walk.label_counts = [0] * len(folded.program.labeller.sets)
    if any(leaf.offered > 0 and leaf.offered.bit_length() > 62 for leaf in folded.program.leaves):
        raise ModelError(f"{system.label}: a state offers more joint choices than are counted here")
    engine = _Search(walk, bounds)
    low, high = 0, len(walk.words)
    while low < high:
        walk.levels.append(low)
        if bounds.depth is not None and len(walk.levels) > bounds.depth:
            lists = lists_of(engine.rows, walk.words[low:high], low)
            walk.open = walk.open or lists[2] is not None or bool(len(lists[1]))
            break
        engine.expand(low, high)
        low, high = high, len(walk.words)
        if tick is not None:
            tick(walk.states, walk.transitions)
    return walk


def _closed(system: AnySystem, shape: Shape, folded: Folded, starts: Words) -> None:
    """Raise ModelError unless images of initial states are initial: else picked ones do not stand for all."""
    known = {tuple(start) for start in starts.tolist()}
    numbers = decoded(shape, starts)
    for move in folded.group.generators:
        for place, image in enumerate(encoded(shape, move.images(numbers)).tolist()):
            if tuple(image) not in known:
                raise ModelError(
                    f"{system.label}: initial state {shape.state(starts[place].tolist())!r} has an image that is not "
                    "initial, so the quotient does not cover it; explore without it"
                )


def unfolded(walk: FoldedWalk, chain: Sequence[int], row: int | None) -> Witness:
    """Return the run through these picked states, and the row's action.  Raises ModelError if it does not exist."""
    system, config = walk.system, walk.config
    place = -1 - walk.parents[chain[0]]
    state = list(system.initial(config))[place]
    # The elements that lead from the picked state to the state of the run, in turn.
    by = walk.folded.group.way(walk.shape.numbers(state))
    taken: list[int] = []
    for here, there in zip(chain, [*chain[1:], None], strict=True):
        if there is None and row is None:
            break
        picked = walk.state(here)
        first = int(walk.flat.first[row]) if there is None and row is not None else _first(walk, here, int(there or 0))
        action = nth_action(system, config, picked, first)
        after = system.take(config, picked, action).after
        image = acted(walk, by, action)
        taken.append(number_of(system, config, state, image))
        state = system.take(config, state, image).after
        if there is None:
            break
        if any(walk.orbit_of(walk.shape.numbers(one)) != walk.words[there].tolist() for one in (state, after)):
            raise ModelError(
                f"{system.label}: the image {image!r} of an action does not lead where the quotient says it leads; "
                "the licence is wrong, explore without it"
            )
        by = (*walk.folded.group.way(walk.shape.numbers(after)), *by)
    return Witness(walk.number, place, tuple(taken))


def acted(walk: FoldedWalk, by: Sequence[Any], action: Any) -> Any:
    """Return the image of an action under elements, one after the other."""
    for w in by:
        action = walk.quotient.action(w, walk.config, action)
    return action


def _first(walk: FoldedWalk, here: int, there: int) -> int:
    """The number of the first action that leads from one picked state into the orbit of another."""
    target = walk.words[there].tolist()
    return min(
        first
        for first, _, words in successors_in(walk.flat, walk.words[here])
        if walk.orbit_of(walk.shape.decoded(words)) == target
    )
