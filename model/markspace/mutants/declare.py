"""How a fault is declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Generic, TypeVar

from evenhand.core.records import dataclass, replace
from evenhand.core.system import Mutant, Scope

R = TypeVar("R")


@dataclass(frozen=True)
class Faults(Generic[R]):
    """Faults of one reference. The default system and scope are those given here; the scope shows most faults."""

    reference: R
    system: str
    scope: Scope = field(default_factory=Scope)

    def declare(
        self,
        name: str,
        sentence: str,
        source: str,
        scope: Scope | None = None,
        *,
        system: str = "",
        readings: dict[str, Any] | None = None,
        **functions: Any,
    ) -> Mutant[R]:
        """Return the mutant with these functions of the reference replaced; the other arguments are as of `Mutant`."""
        reference: Any = self.reference  # rules are a dataclass, which no bound on R can say
        rules: R = replace(reference, **functions)
        at = self.scope if scope is None else scope
        return Mutant(name, sentence, source, rules, system or self.system, at, tuple((readings or {}).items()))

    def fault(
        self, rule: str, source: str, scope: Scope | None = None, **more: Any
    ) -> Callable[[Callable[..., Any]], Mutant[R]]:
        """Make a mutant of the function that replaces `rule`: its name, and its docstring as the sentence.

        The other arguments are those of `declare`.
        """

        def made(wrong: Callable[..., Any]) -> Mutant[R]:
            functions: dict[str, Any] = {rule: wrong}
            return self.declare(wrong.__name__, wrong.__doc__ or "", source, scope, **more, **functions)

        return made
