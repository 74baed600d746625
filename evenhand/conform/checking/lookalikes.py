"""Find the known faults that would show the same: the registered mutants that answer a run as the kernel did.

Two runs in which a kernel differs in the same place may have two causes.  The mutants that agree with the kernel tell
them apart, and say in words what the kernel may be doing.  What the kernel does not show, or says in words of its own,
is compared with a mutant as it is with the model: not at all, or as a token.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.divergence import as_told

if TYPE_CHECKING:
    from evenhand.conform.adapters.kernels import KernelResponse
    from evenhand.conform.checking.divergence import Divergence
    from evenhand.core.system import AnyStep, Mutant
    from evenhand.core.trace import AnyScenario


@dataclass
class Lookalikes:
    """The mutants of the rules of one system, which `coder` encodes."""

    coder: Coder
    mutants: Iterable[Mutant[Any]] = ()

    def __post_init__(self) -> None:
        system = self.coder.system
        self._coders = {
            one.name: replace(self.coder, system=replace(system, rules=one.rules, variant=one.name))
            for one in self.mutants
            if type(one.rules) is type(system.rules)
        }
        self._known: dict[tuple[AnyScenario, frozenset[str], frozenset[str]], frozenset[str]] = {}

    def of(self, divergence: Divergence, beside: frozenset[str] = frozenset()) -> frozenset[str]:
        """Return the names of the mutants that show, in every step of this run, what the kernel showed.

        If none does, those that show it but for what stands `beside` it, which is another fault's.
        """
        key = divergence.scenario, divergence.kinds, beside
        if key not in self._known:
            self._known[key] = self._found(divergence, frozenset()) or self._found(divergence, beside)
        return self._known[key]

    def _found(self, divergence: Divergence, beside: frozenset[str]) -> frozenset[str]:
        said = divergence.said
        if divergence.what != "differs" or divergence.behind or said is None:
            return frozenset()
        if any(not one.path.startswith("facts.") for one in divergence.differences):
            said = replace(said, facts={})  # counters and conclusions add up what other faults did
        run, last = divergence.scenario, self.coder.trace(divergence.scenario).steps[-1]
        return frozenset(name for name, coder in self._coders.items() if _shows(coder, run, said, last, beside))


def _shows(coder: Coder, run: AnyScenario, said: KernelResponse, last: AnyStep, beside: frozenset[str]) -> bool:
    """Whether a mutant shows what the kernel said, which is not what the model shows in the `last` step."""
    try:
        trace = coder.trace(run)
        mine = trace.steps[-1]
        return (mine.shown != last.shown or mine.after != last.after) and as_told(coder, trace, said, beside)
    except Exception:  # a mutant may fail on what no run of it makes
        return False
