"""Compile a configuration of a separated system with declared domains into tables of rows.

The joint choices on offer in a state decide its *leaf*; a leaf has *columns*, each of which reads some fields only and
maps their values to a list of *rows*: clear these bits, set those, for so many joint choices.  Everything comes from
running the model's own functions on proxies, path by path, once for each verdict.
"""

from __future__ import annotations

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


NEVER = -2
"""The number of a leaf's actions where the offer could not be determined."""


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
        assert system.domains is not None and system.separated is not None and system.joint is not None
        self.system, self.config = system, config
        self.joint, self.separated = system.joint, system.separated
        self.memo = Memo(system)
        self.memo.begin(config, 0)
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
        shape = self.shape
        ways = self.paths(self._menus, shape.open)
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
        leaves: list[Leaf] = []
        for (narrowed, offer), hull in zip(offers, hulls, strict=True):
            start = tuple(tuple(sorted(values)) for values in hull)
            leaves.append(self.leaf(len(leaves), narrowed, offer, start))
        return leaves, self.dispatch

    def _menus(self, choices: Choices) -> Any:
        return self.watch.watched(self._menus_in, self.shape.build(choices.made))

    def _menus_in(self, state: Any) -> Hashable:
        system, config, joint = self.system, self.config, self.joint
        agents = tuple(joint.agents(config, state))
        key = self.separated.reads(system.rules, config, state)
        offer = (key, agents, tuple(tuple(joint.choices(config, system.scope, state, agent)) for agent in agents))
        hash(offer)  # calls the run off if a part of it is still open
        return offer

    def leaf(self, _number: int, narrowed: Narrowed, offer: Any, start: Narrowed) -> Leaf:
        """Return the leaf of that number: the effects of joint choices in the states with this offer."""
        if isinstance(offer, Broken):
            return Leaf(NEVER, [], broken=offer.what)
        _, agents, menus = offer
        if not agents:
            return Leaf(0, [], (agents, menus))
        representative = self.shape.build([d[n[0]] for d, n in zip(self.shape.domains, narrowed, strict=True)])
        table = self.memo.table_of(self.config, representative)
        if (table.agents, table.menus) != (agents, menus):
            raise Unfit(f"{self.system.label}: `separated.reads` gives one key to states with different choices")
        units = [
            self.verdict_unit(members[0], len(members), verdict, table.picked(first), start)
            for first, verdict, members in table.groups
        ]
        return Leaf(table.size, columns_of(self.shape, start, units), (agents, menus))

    def verdict_unit(
        self, first: int, weight: int, verdict: Any, picked: tuple[tuple[str, Any], ...], start: Narrowed
    ) -> Unit:
        """Return the effect of a verdict on every path; it stands for `weight` joint choices, the first is `picked`."""
        system, config, shape, labeller = self.system, self.config, self.shape, self.labeller
        apply, join, watched = self.separated.apply, self.joint.join, self.watch.watched
        labels = bool(labeller)

        def run(state: Any) -> tuple[Any, Any, Any]:
            after, shown = apply(system.rules, config, state, verdict)
            return ((join(config, state, picked),) if weight == 1 else None), after, shown

        def whole(choices: Choices) -> Any:
            state = shape.build(choices.made)
            action, after, shown = watched(run, state)
            label = watched(labeller.label, config, state, action, shown, after) if labels else 0
            return tuple(shape.numbers(after)), label

        return Unit(first, weight, self.paths(whole, start))


def _source(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return "unknown place" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def _place(system: AnySystem) -> str:
    return f"`step` of {system.label}, {_source(system.step)}"
