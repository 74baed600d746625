"""Find the known faults that would show the same: the registered mutants that answer a run as the kernel did.

Two runs in which a kernel differs in the same place may have two causes.  The mutants that agree with the kernel tell
them apart, and say in words what the kernel may be doing.  What the kernel does not show, or says in words of its own,
is compared with a mutant as it is with the model: not at all, or as a token.

Few mutants do anything else in one step.  A mutant whose rules answer each call of the model's step as the model's do
takes the same step; only the others are run.  What they do is kept for each state and action.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.divergence import as_told
from evenhand.conform.checking.words import Dictionary, Malformed
from evenhand.core.taking import Recorded, changed_rules
from evenhand.core.trace import AnyScenario, Trace

if TYPE_CHECKING:
    from evenhand.conform.adapters.kernels import KernelResponse
    from evenhand.conform.checking.divergence import Divergence
    from evenhand.core.system import AnyStep, AnySystem, Mutant

KEPT = 20_000
"""Steps of the model of which it is kept what the mutants do in them; then they are forgotten."""


@dataclass
class Lookalikes:
    """The mutants of the rules of one system, which `coder` encodes."""

    coder: Coder
    mutants: Iterable[Mutant[Any]] = ()

    def __post_init__(self) -> None:
        self._moves = Moves(self.coder.system, self.mutants)
        self._known: dict[tuple[AnyScenario, frozenset[str], frozenset[str]], frozenset[str]] = {}

    def of(self, divergence: Divergence, beside: frozenset[str] = frozenset()) -> frozenset[str]:
        """Return the names of the mutants that show, in every step of this run, what the kernel showed.

        If none does, those that show it but for what stands `beside` it, which is another fault's.
        """
        key = divergence.scenario, divergence.kinds, beside
        if key not in self._known:
            self._known[key] = self._found(divergence, beside)
        return self._known[key]

    def _found(self, divergence: Divergence, beside: frozenset[str]) -> frozenset[str]:
        said = divergence.said
        if divergence.what != "differs" or divergence.behind or said is None:
            return frozenset()
        if any(not one.path.startswith("facts.") for one in divergence.differences):
            said = replace(said, facts={})  # counters and conclusions add up what other faults did
        run, steps = divergence.scenario, self.coder.trace(divergence.scenario).steps
        own = self._own(steps, said)
        mine = {name: Trace(run, tuple(some.get(at, one) for at, one in enumerate(steps))) for name, some in own}
        shows = frozenset(name for name, trace in mine.items() if self._told(trace, said, frozenset()))
        return shows or frozenset(name for name, trace in mine.items() if beside and self._told(trace, said, beside))

    def _own(self, steps: tuple[AnyStep, ...], said: KernelResponse) -> list[tuple[str, Mapping[int, AnyStep]]]:
        """The mutants that do something else in the last step, each with its own steps, by their places.

        One is left out as soon as it shows what the kernel did not, or fails, as it may on what no run of it makes.
        """
        own: dict[str, dict[int, AnyStep]] = {}
        strayed, out, last = dict[str, Any](), set[str](), len(steps) - 1
        for place, step in enumerate(steps):
            moved = self._moves.other(step)
            for name in {**strayed, **moved}:
                if name in out:
                    continue
                mine = self._moves.step(name, step, strayed[name]) if name in strayed else moved[name]
                astray = place < last and mine is not None and mine.shown != step.shown
                if mine is None or (astray and not self._may_show(mine, said, place)):
                    out.add(name)
                    continue
                own.setdefault(name, {})[place] = mine
                strayed.pop(name, None)
                if mine.after != step.after:
                    strayed[name] = mine.after
        return [(name, some) for name, some in own.items() if name not in out and _differs(some.get(last), steps[last])]

    def _may_show(self, mine: AnyStep, said: KernelResponse, place: int) -> bool:
        """Whether a kernel may mean by its answer what a mutant shows, if nothing is known of its tokens."""
        try:
            return self.coder.reader.known_reading(said.shown[place], self.coder.shown(mine), Dictionary()).agrees
        except (Malformed, RecursionError):
            return False

    def _told(self, trace: Trace[Any, Any, Any, Any], said: KernelResponse, beside: frozenset[str]) -> bool:
        try:
            return as_told(self.coder, trace, said, beside)
        except Exception:  # what a mutant shows may have no encoding
            return False


def _differs(mine: AnyStep | None, step: AnyStep) -> bool:
    return mine is not None and (mine.shown != step.shown or mine.after != step.after)


class Moves:
    """What each mutant of the rules of one system does otherwise in a step of the model."""

    def __init__(self, system: AnySystem, mutants: Iterable[Mutant[Any]]) -> None:
        self._system = system
        same = [one for one in mutants if type(one.rules) is type(system.rules)]
        self._systems = {one.name: replace(system, rules=one.rules, variant=one.name) for one in same}
        self._changed = {one.name: changed_rules(system.rules, one.rules) for one in same}
        self._known: dict[tuple[int, int, Any], tuple[AnyStep, dict[str, AnyStep | None]]] = {}

    def step(self, name: str, step: AnyStep, state: Any) -> AnyStep | None:
        """Return the step of a mutant from another state; None if it fails."""
        try:
            return self._systems[name].take(step.config, state, step.action)
        except Exception:  # as it may on what no run of it makes
            return None

    def other(self, step: AnyStep) -> Mapping[str, AnyStep | None]:
        """Return the mutants that show something else in this step or end in another state; None for one that fails."""
        key = id(step.config), id(step.before), step.action
        if key not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[key] = step, dict(self._found(step))  # while the step is kept, its parts keep their ids
        return self._known[key][1]

    def _found(self, step: AnyStep) -> Iterator[tuple[str, AnyStep | None]]:
        own = Recorded(self._system, step.config, step.before, step.action)
        for name, system in self._systems.items():
            changed = self._changed[name]
            if changed is not None and own.same_under(system.rules, changed):
                continue
            mine = self.step(name, step, step.before)
            if mine is None or _differs(mine, step):
                yield name, mine
