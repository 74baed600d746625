"""Compile a configuration of any system with declared domains into tables of rows.

The actions on offer in a state decide its *leaf*; a leaf has *columns*, each of which reads some fields only and maps
their values to a list of *rows*: clear these bits, set those, for so many actions.  Everything comes from running the
model's own functions on proxies, path by path.  If the step separates (memoised search), judgements are shared and rows
are made of verdicts; else they are made of actions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.processes.collector import uncollected
from evenhand.search.memo import Memo
from evenhand.search.rows.labels import Labeller
from evenhand.search.rows.proxies import Choices, Narrowed, TooWide, paths
from evenhand.search.rows.shape import OutsideDomain, Shape
from evenhand.search.rows.table import Column, Projection, Unit, columns_of
from evenhand.search.rows.watch import Watch

RUNS = 400_000
"""Runs on proxies that a configuration may take before it counts as too wide."""


BY_ROWS, NEVER = -1, -2
"""Special numbers of a leaf's actions: as many as its rows say; none, because the offer could not be determined."""


class Unfit(Exception):
    """Rows cannot stand for a system or decide a claim; names the culprit."""


@dataclass(frozen=True)
class Broken:
    """A path of the model that raised; it matters only if a reachable state takes it."""

    what: str


@dataclass
class Leaf:
    """States with the same offer: how many actions, and the columns with their effects."""

    offered: int
    columns: list[Column]
    menus: Any = None
    table: Any = None
    broken: str = ""


@dataclass
class Program:
    """A compiled configuration."""

    shape: Shape
    labeller: Labeller
    dispatch: Projection
    leaves: list[Leaf]
    starts: list[Any]
    runs: int = 0
    codes: int = 0
    notes: list[str] = field(default_factory=list[str])


class Compiler:
    """A compiler of one configuration of a system."""

    def __init__(self, system: AnySystem, config: Any, claims: Sequence[Any]) -> None:
        assert system.domains is not None
        self.system, self.config = system, config
        self.where = _place(system)
        try:
            self.shape = Shape(system.domains(config, system.scope))
        except ValueError as error:
            raise Unfit(f"{system.label}: {error} (`domains` in {_source(system.domains)})") from error
        domains = self.shape.domains
        held = {value for domain in domains for value in domain if isinstance(value, bool | None)}
        self.watch = Watch(tuple(held), any(isinstance(v, tuple | dict | list) for domain in domains for v in domain))
        self.labeller = Labeller(claims, config)
        self.runs = 0

    def spent(self) -> None:
        """Count one more run on proxies.  Raises TooWide or Evades."""
        self.watch.speak()
        self.runs += 1
        if self.runs > RUNS:
            raise TooWide(f"its steps take more than {RUNS} paths through the declared domains")

    def paths(self, run: Callable[[Choices], Any], start: Narrowed) -> list[tuple[Narrowed, Any]]:
        """Return every path of a run; one that raised gives `Broken`."""
        found: list[tuple[Narrowed, Any]] = []
        for narrowed, result in paths(
            run, self.shape.domains, start, self.spent, self.watch.swallowed, (OutsideDomain,)
        ):
            found.append((narrowed, self._broken(result) if isinstance(result, Exception) else result))
        self.watch.speak()
        return found

    def _broken(self, error: Exception) -> Broken:
        if isinstance(error, Unfit):
            raise error
        return Broken(f"{self.where}: {type(error).__name__}: {error}")

    def program(self) -> Program:
        """Return the whole program.

        The garbage collector is paused, also because scanning for cycles takes a tenth of the time, although objects
        are kept, or freed by their count.
        """
        starts = [self.shape.encode(self.shape.numbers(state)) for state in self._initial()]
        with uncollected():
            leaves, dispatch = self._leaves()
        return Program(self.shape, self.labeller, dispatch, leaves, starts, self.runs, self.watch.codes)

    def _initial(self) -> list[Any]:
        found: list[Any] = []
        for state in self.system.initial(self.config):
            try:
                self.shape.numbers(state)
            except OutsideDomain as error:
                raise Unfit(f"{self.system.label}: initial {error} ({_source(self.system.initial)})") from error
            found.append(state)
        return found

    def _leaves(self) -> tuple[list[Leaf], Projection]:
        system, config, shape = self.system, self.config, self.shape
        if system.joint is not None:
            ways = self.paths(self._menus, shape.open)
        elif system.menu is not None and system.allows is not None:
            ways = [(shape.open, ("menu", None, tuple(system.menu(config, system.scope))))]
        else:
            ways = self.paths(self._enabled, shape.open)
        numbers: dict[Hashable, int] = {}
        hulls: list[list[set[int]]] = []
        offers: list[Any] = []
        marked: list[tuple[Narrowed, int]] = []
        for narrowed, offer in ways:
            number = numbers.setdefault(offer, len(numbers))
            if number == len(hulls):
                hulls.append([set(values) for values in narrowed])
                offers.append((narrowed, offer))
            else:
                for known, values in zip(hulls[number], narrowed, strict=True):
                    known.update(values)
            marked.append((narrowed, number))
        self.dispatch = Projection(shape, shape.open, marked)
        memo = self._memo()
        leaves: list[Leaf] = []
        for (narrowed, offer), hull in zip(offers, hulls, strict=True):
            start = tuple(tuple(sorted(values)) for values in hull)
            leaves.append(self.leaf(len(leaves), narrowed, offer, start, memo))
        return leaves, self.dispatch

    def _memo(self) -> Memo | None:
        if self.system.separated is None or self.system.joint is None:
            return None
        memo = Memo(self.system)
        memo.begin(self.config, 0)
        return memo

    def _menus(self, choices: Choices) -> Any:
        return self.watch.watched(self._menus_in, self.shape.build(choices.made))

    def _menus_in(self, state: Any) -> Hashable:
        system, config = self.system, self.config
        assert system.joint is not None
        joint = system.joint
        agents = tuple(joint.agents(config, state))
        key = None if system.separated is None else system.separated.reads(system.rules, config, state)
        offer = (key, agents, tuple(tuple(joint.choices(config, system.scope, state, agent)) for agent in agents))
        hash(offer)  # calls the run off if a part of it is still open
        return offer

    def _enabled(self, choices: Choices) -> Any:
        return self.watch.watched(self._enabled_in, self.shape.build(choices.made))

    def _enabled_in(self, state: Any) -> Hashable:
        offer = ("enabled", None, tuple(self.system.enabled(self.config, state)))
        hash(offer)
        return offer

    def leaf(self, _number: int, narrowed: Narrowed, offer: Any, start: Narrowed, memo: Memo | None) -> Leaf:
        """Return the leaf of that number: the effects of actions in the states with this offer."""
        if isinstance(offer, Broken):
            return Leaf(NEVER, [], broken=offer.what)
        key, agents, menus = offer
        if self.system.joint is None:
            units = [self._action_unit(number, action, start, key == "menu") for number, action in enumerate(menus)]
            offered = BY_ROWS if key == "menu" else len(menus)
            return Leaf(offered, columns_of(self.shape, start, units), menus)
        if not agents:
            return Leaf(0, [], (agents, menus))
        if memo is not None:
            representative = self.shape.build([d[n[0]] for d, n in zip(self.shape.domains, narrowed, strict=True)])
            table = memo.table_of(self.config, representative)
            if (table.agents, table.menus) != (agents, menus):
                raise Unfit(f"{self.system.label}: `separated.reads` gives one key to states with different choices")
            units = [self._verdict_unit(table, *group, start) for group in table.groups]
            return Leaf(table.size, columns_of(self.shape, start, units), (agents, menus), table)
        units = [
            self._joint_unit(number, tuple(zip(agents, picked, strict=True)), start)
            for number, picked in enumerate(itertools.product(*menus))
        ]
        return Leaf(math.prod(map(len, menus)), columns_of(self.shape, start, units), (agents, menus))

    def unit(self, run: Callable[[Any], tuple[Any, Any, Any]], first: int, weight: int, start: Narrowed) -> Unit:
        """Return the effect of `run` on every path; it gives (action,) or None, (after,) and the observation."""
        shape, labeller, config, watched = self.shape, self.labeller, self.config, self.watch.watched
        labels = bool(labeller)

        def whole(choices: Choices) -> Any:
            state = shape.build(choices.made)
            action, after, shown = watched(run, state)
            if after is None:
                return None
            label = watched(labeller.label, config, state, action, shown, after[0]) if labels else 0
            return tuple(shape.numbers(after[0])), label

        return Unit(first, weight, self.paths(whole, start))

    def _action_unit(self, number: int, action: Any, start: Narrowed, ask: bool) -> Unit:
        system, config = self.system, self.config
        step, rules, allows = system.step, system.rules, system.allows

        def run(state: Any) -> tuple[Any, Any, Any]:
            if ask and allows is not None and not allows(config, state, action):
                return action, None, None
            after, shown = step(rules, config, state, action)
            return (action,), (after,), shown

        return self.unit(run, number, 1, start)

    def _joint_unit(self, number: int, picked: tuple[tuple[str, Any], ...], start: Narrowed) -> Unit:
        system, config = self.system, self.config
        assert system.joint is not None
        join, step, rules = system.joint.join, system.step, system.rules

        def run(state: Any) -> tuple[Any, Any, Any]:
            action = join(config, state, picked)
            after, shown = step(rules, config, state, action)
            return (action,), (after,), shown

        return self.unit(run, number, 1, start)

    def _verdict_unit(self, table: Any, first: int, verdict: Any, members: Sequence[int], start: Narrowed) -> Unit:
        system, config = self.system, self.config
        assert system.separated is not None and system.joint is not None
        apply, join, rules, alone = system.separated.apply, system.joint.join, system.rules, len(members) == 1

        def run(state: Any) -> tuple[Any, Any, Any]:
            after, shown = apply(rules, config, state, verdict)
            return ((join(config, state, table.picked(first)),) if alone else None), (after,), shown

        return self.unit(run, first, len(members), start)


def _source(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return "unknown place" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def _place(system: AnySystem) -> str:
    return f"`step` of {system.label}, {_source(system.step)}"
