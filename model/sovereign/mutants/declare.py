"""The declaration of a faulty kernel, and where most of them show: a system, and a scope of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from evenhand.core.records import replace
from evenhand.core.system import Mutant, Scope
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.step import REFERENCE

Where: TypeAlias = tuple[str, Scope]

PLAIN = ("candidates", Scope(contexts=1))
SINGLE = ("lists", Scope(observations=2, candidates=1))
LISTS = ("lists", Scope(observations=2, candidates=2))
BUDGETS = ("lists", Scope(observations=3, candidates=1))
ALONE = ("agent", Scope(proposals=1, executors=1, forgeries=1, swaps=1))
SESSION = ("session", Scope(refusals=3, thousands=9))
TYPES = ("constitutions", Scope(types=1))


def declare(
    name: str, sentence: str, source: str, where: Where, functions: Mapping[str, Any], **more: Any
) -> Mutant[Rules]:
    """Return the mutant with these functions of the reference replaced; `more` are further arguments of `Mutant`."""
    return Mutant(name, sentence, source, replace(REFERENCE, **functions), *where, **more)


def fault(rule: str, source: str, where: Where, **more: Any) -> Callable[[Callable[..., Any]], Mutant[Rules]]:
    """Make a mutant of the function that replaces `rule`; its name and docstring are the mutant's name and sentence.

    `more` are further arguments of `Mutant`: readings, expected fate, reason.
    """
    return lambda function: declare(function.__name__, function.__doc__ or "", source, where, {rule: function}, **more)
