"""Elements that are described: the one of which a formula is true, the first of a list that passes a test, say.

There is exactly one wherever it is asked for.  What is said of it is said of whatever fits the description, so no
formula that leaves the reader mentions it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evenhand.smt.logic import Equal, Formula, Sort, Term, Var, free
from evenhand.source.simplify import all_of, replaced, some


class Fresh:
    """Makes variables of names that no other has; each maker has a `letter` of its own."""

    def __init__(self, letter: str) -> None:
        self._letter, self._made = letter, 0

    def __call__(self, sort: Sort) -> Var:
        self._made += 1
        return Var(f"{self._letter}{self._made}.{sort.name}", sort)


_BOUND, _CHOSEN = Fresh("b"), Fresh("c")


@dataclass(frozen=True)
class Chosen(Var):
    """The element of which `means` is true; `equals` is a shorter way to say what is equal to a term of it."""

    means: Callable[[Term], Formula] = field(compare=False, repr=False)
    equals: Callable[[Term, Term], Formula | None] = field(compare=False, repr=False, default=lambda _one, _other: None)

    __hash__ = Var.__hash__


def chosen(sort: Sort, means: Callable[[Term], Formula], **more: Any) -> Chosen:
    """Return the element of a sort of which this is true, and of no other."""
    return Chosen(_CHOSEN(sort).name, sort, means, **more)


def _made(one: Chosen) -> int:
    """When an element was described: earlier ones have smaller numbers, whatever was described before them."""
    return int(one.name[1:].partition(".")[0])


def described(term: Term) -> bool:
    """Return whether a term speaks of an element that is described."""
    return isinstance(term, Chosen) if isinstance(term, Var) else any(map(described, term.arguments))


def closed(formula: Formula) -> Formula:
    """Return the formula with its descriptions in place of the elements described."""
    names = sorted((one for one in free(formula) if isinstance(one, Chosen)), key=_made)
    if len(names) == 1 and isinstance(formula, Equal):
        sides = ((formula.left, formula.right), (formula.right, formula.left))
        short = (names[0].equals(left, right) for left, right in sides if not described(left))
        found = next((one for one in short if one is not None), None)
        if found is not None:
            return closed(found)
    for one in names:
        it = _BOUND(one.sort)
        formula = some([it], all_of((one.means(it), replaced(formula, {one: it}))))
    return closed(formula) if names else formula
