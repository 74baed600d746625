"""Elements that are described: the one of which a formula is true, the first of a list that passes a test, say.

There is exactly one wherever it is asked for.  What is said of it is said of whatever fits the description, so no
formula that leaves the reader mentions it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from evenhand.smt.logic import Formula, Sort, Term, Var, free
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
    """The element of which `means` is true."""

    means: Callable[[Term], Formula] = field(compare=False, repr=False)

    __hash__ = Var.__hash__


def chosen(sort: Sort, means: Callable[[Term], Formula]) -> Chosen:
    """Return the element of a sort of which this is true, and of no other."""
    return Chosen(_CHOSEN(sort).name, sort, means)


def _made(one: Chosen) -> int:
    """When an element was described: earlier ones have smaller numbers, whatever was described before them."""
    return int(one.name[1:].partition(".")[0])


def described(term: Term) -> bool:
    """Return whether a term speaks of an element that is described."""
    return isinstance(term, Chosen) if isinstance(term, Var) else any(map(described, term.arguments))


def closed(formula: Formula) -> Formula:
    """Return the formula with its descriptions in place of the elements described."""
    names = sorted((one for one in free(formula) if isinstance(one, Chosen)), key=_made)
    for one in names:
        it = _BOUND(one.sort)
        formula = some([it], all_of((one.means(it), replaced(formula, {one: it}))))
    return closed(formula) if names else formula
