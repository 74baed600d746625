"""Tables of joint choices whose agents trade places: multisets of choices, each standing for all its orders.

The choices of a team are taken in one order.  The others lead to images of the same state if the step neither reads nor
keeps what belongs to the team: each group of joint choices is looked at, and where one does, or a claim reads it before
the step, the search begins again without that team.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from evenhand.core.alike import alike
from evenhand.core.kinds import Property
from evenhand.core.system import AnySystem
from evenhand.search.steps import stepped
from evenhand.search.symmetric.group import AnyQuotient, Group
from evenhand.search.symmetric.multisets import multisets
from evenhand.search.symmetric.teams import Team, teams_of
from evenhand.search.tables.choices import ChoiceTable, judged, known_as, merged
from evenhand.search.tables.classes import KEPT, Leaf, Part, Rows
from evenhand.search.tables.expressions import Expression
from evenhand.search.tables.joint import ALONE, JointLearner
from evenhand.search.tables.proxies import Run
from evenhand.search.tables.shape import Shape
from evenhand.search.tables.watching import Budget
from evenhand.search.witness import NotLearned

ONE_BY_ONE = 3_000_000
"""Joint choices of a state that are taken one after the other if no team can be formed."""


class Alone(Exception):
    """The names of these columns form no team: a step reads or keeps what belongs to them."""

    def __init__(self, columns: frozenset[int]) -> None:
        super().__init__(columns)
        self.columns = columns


class OrbitLearner(JointLearner):
    """The offers, classes and answers of one configuration under its group; columns `alone` are in no team."""

    def __init__(
        self,
        system: AnySystem,
        config: Any,
        shape: Shape,
        budget: Budget,
        quotient: AnyQuotient,
        group: Group,
        alone: frozenset[int],
    ) -> None:
        super().__init__(system, config, shape, budget)
        self.quotient, self.group, self.alone = quotient, group, alone
        self.claims: Sequence[Property] = ()
        self.teams: dict[int, tuple[Team, ...]] = {}
        self.fates: dict[Any, int] = {}
        self.fared: dict[Any, Any] = {}

    def teams_in(self, leaf: Leaf) -> tuple[Team, ...]:
        """Return the teams of a leaf."""
        return self.teams.get(id(leaf.table), ())

    def check(self) -> None:
        """Raise NotLearned or Alone where what was taken for granted turned out to be wrong."""
        for column in self.group.fixed:
            if len(self.shape.columns[column]) > 1:
                name = [name for name, _ in self.shape.named()][column]
                raise NotLearned(f"quotient {self.quotient.name!r} looks at {name}, which changes")
        looks = [one for asked in (*self.of_steps, *self.of_monitors) for one in asked.looks()]
        for leaf in self.leaves.values():
            for team in self.teams_in(leaf):
                for one in looks:
                    # What the offer decided is the same for all orders, see `_leaf`.
                    if team.columns & {*one.columns} and not self._is_decided(one, leaf):
                        raise Alone(team.columns)

    def _is_decided(self, look: Expression, leaf: Leaf) -> bool:
        """Whether what a claim decides about the columns before a step has one outcome in all states of a leaf."""
        same = self._image(look, range(self.size)) if max(look.columns) < self.size else None
        return same is not None and same.number in leaf.decided

    def _table(self, state: Any, key: Any, agents: tuple[str, ...], menus: tuple[tuple[Any, ...], ...]) -> ChoiceTable:
        """The joint choices of a state: of those of a team, one order."""
        table = ChoiceTable(agents, menus)
        size = math.prod(map(len, menus)) if agents else 0
        found = teams_of(self.system, self.quotient, self.config, self.group.classes, state, (agents, menus))
        teams = tuple(team for team in found if not team.columns & self.alone)
        if not teams:
            if size > ONE_BY_ONE:
                raise NotLearned(
                    f"a state offers {size:,} joint choices, and no agents trade places there: what a step does to an "
                    "agent depends on what the others have, or on its own past"
                )
            return super()._table(state, key, agents, menus)
        table.size = size
        groups: dict[Any, list[int]] = {}
        firsts: dict[Any, Any] = {}
        for verdict, number, weight in self._judged(state, key, table, teams):
            groups.setdefault(known_as(firsts, verdict), []).append(number)
            if weight > 1:
                table.orders[number] = weight
        table.groups = [
            (min(members), None if self.system.separated is None else verdict, sorted(members))
            for verdict, members in groups.items()
        ]
        self.teams[id(table)] = teams
        return table

    def _judged(
        self, state: Any, key: Any, table: ChoiceTable, teams: Sequence[Team]
    ) -> Iterator[tuple[Any, int, int]]:
        """The verdict, number and orders of each multiset; where nothing is judged apart, the number is the verdict."""
        system, config, strides = self.system, self.config, [stride for _, stride, _ in table.axes]
        every = None if system.separated is None else judged(system, config, key, table)
        fares = None if every is None else partial(self._fares, state, table)
        for count, (picked, weight) in enumerate(multisets(table.menus, teams, fares)):
            number = sum([x * stride for x, stride in zip(picked, strides, strict=True)])
            if every is not None:
                made = tuple([column[x] for column, x in zip(every, picked, strict=True)])
                yield merged(system, config, key, made), number, weight
            elif count < ALONE:
                yield number, number, weight
            else:
                raise NotLearned(f"more than {ALONE:,} joint choices of one state are taken one by one")

    def _fares(self, state: Any, table: ChoiceTable, team: Team, place: int) -> Any:
        """How each choice of a team's first member fares beside each choice of another agent, if all others take the
        first on their menus.  Menus that are equal share the answer, which only guides an order.
        """
        menus, first = (table.menus[team.places[0]], table.menus[place]), team.places[0]
        if menus not in self.fared:
            strides = [stride for _, stride, _ in table.axes]
            found = np.zeros((len(menus[0]), len(menus[1])), dtype=np.int64)
            for x, y in np.ndindex(found.shape):
                picked = table.picked(x * strides[first] + y * strides[place])
                action = self.joint.join(self.config, state, picked)
                leaves = self.shape.leaves(stepped(self.system, self.config, state, action)[0])
                own = tuple([leaves[column] for column in team.fields[0]])
                found[x, y] = self.fates.setdefault(own, len(self.fates))
            self.fared[menus] = found
        return self.fared[menus]

    def _leaf(self, number: int, table: ChoiceTable, run: Run) -> Leaf:
        """The leaf that a run has found.  Raises Alone if exchanging a team leads to states with another offer."""
        outcomes = {expression.number: outcome for _, expression, outcome in run.events}
        for team in self.teams.get(id(table), ()):
            for source in team.sources:
                for _, expression, outcome in run.events:
                    image = self._image(expression, source)
                    if image is None or image.number not in outcomes or outcomes[image.number] != outcome:
                        raise Alone(team.columns)
        return super()._leaf(number, table, run)

    def _image(self, expression: Expression, source: Sequence[int]) -> Expression | None:
        """The same expression over the columns that have taken the places of its own; None if it was never made."""
        known = self.expressions.known
        if expression.run is None:
            if expression.columns:
                return self.expressions.every[source[expression.columns[0]]]
            same = known.get((expression.key, ()))
            return same if same is not None and alike(same.outcomes.values[0], expression.outcomes.values[0]) else None
        args = [self._image(one, source) for one in expression.args]
        return known.get((expression.key, tuple([-1 if one is None else one.number for one in args])))

    def _rows(self, leaf: Leaf, of: Part, numbers: list[int]) -> Rows:
        made = super()._rows(leaf, of, numbers)
        for team in self.teams_in(leaf):
            own = team.columns - self.constant  # what is constant is the same for all members
            kept = any(after[column] == KEPT for after in made.after for column in own)
            if kept or team.columns & {*of.columns}:
                raise Alone(team.columns)
        return made
