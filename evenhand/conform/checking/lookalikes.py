"""Find the known faults that would show the same: the registered mutants that answer a run as the kernel did.

Two runs in which a kernel differs in the same place may have two causes.  The mutants that agree with the kernel tell
them apart, and say in words what the kernel may be doing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.conform.checking.comparing import normal
from evenhand.core.codec import decode
from evenhand.core.trace import stepping

if TYPE_CHECKING:
    from evenhand.conform.checking.divergence import Divergence
    from evenhand.core.system import AnySystem, Mutant


@dataclass
class Lookalikes:
    """The mutants of one system's rules."""

    system: AnySystem
    mutants: Iterable[Mutant[Any]] = ()

    def __post_init__(self) -> None:
        self._systems = {
            one.name: replace(self.system, rules=one.rules, variant=one.name)
            for one in self.mutants
            if type(one.rules) is type(self.system.rules)
        }

    def of(self, divergence: Divergence) -> frozenset[str]:
        """Return the names of the mutants that show, in every step of this run, what the kernel showed."""
        if divergence.what != "differs" or any(one.path.startswith("facts.") for one in divergence.differences):
            return frozenset()
        try:
            got = [decode(normal(one), *self.system.types) for one in divergence.got]
        except ValueError:
            return frozenset()
        return frozenset(name for name, system in self._systems.items() if _shows(system, divergence, got))


def _shows(system: AnySystem, divergence: Divergence, got: list[Any]) -> bool:
    try:
        steps = stepping(system, divergence.scenario)
        return all(step.shown == shown for step, shown in zip(steps, got, strict=True))
    except Exception:  # a mutant may fail on what no run of it makes
        return False
