"""Decide whether a query lies in the decidable fragment, and say why.

A many-sorted query is *stratified* if its sorts have no cycle: draw an arrow from sort A to sort B for every function
from A to B, and for every "there is a B" under a "for every A" (after negations are pushed inwards).  Without a cycle
only finitely many ground terms exist, and the solvers must end with an answer; where terms end in numbers, what remains
is real arithmetic without quantifiers, which is decidable too.  A solver may also decide a query outside the fragment,
without a guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from evenhand.smt.arithmetic import numeric
from evenhand.smt.logic import And, Equal, Exists, Forall, Formula, Holds, Iff, Implies, Ite, Not, Or, Sort
from evenhand.smt.memo import Cache
from evenhand.smt.smtlib import Query


@dataclass(frozen=True)
class Fragment:
    """Whether a query is stratified, with an order of its sorts or a cycle as the reason."""

    decidable: bool
    because: str

    def __str__(self) -> str:
        return f"decidable fragment: {'yes' if self.decidable else 'no'}, because {self.because}"


def fragment(query: Query) -> Fragment:
    """Return the stratification of a query, whose definitions must be expanded already."""
    arrows: dict[tuple[str, str], str] = {}
    for function in query.functions:
        for sort in function.domain:
            arrows.setdefault((sort.name, function.codomain.name), f"function {function.name}")
    for name, formula in query.assertions:
        for arrow in _ARROWS.get((formula,), partial(_own, formula)):
            arrows.setdefault(arrow, f"a 'there is' under a 'for every' in {name}")
    order: list[str] = []
    names = [sort.name for sort in query.sorts]
    while len(order) < len(names):
        free = [n for n in names if n not in order and not any(b == n and a not in order for a, b in arrows)]
        if not free:
            cycle = _cycle([n for n in names if n not in order], arrows)
            steps = [f"{a} -> {b} by {arrows[a, b]}" for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
            return Fragment(False, "a sort feeds itself: " + ", ".join(steps))
        order += free
    kind = numeric(query.functions, (formula for _, formula in query.assertions))
    return Fragment(True, "terms only run down " + " > ".join(order) + _NUMBERS[kind[:1]])


_NUMBERS = {
    "": "",
    "L": ", and nothing quantifies over the numbers they end in (linear real arithmetic)",
    "N": ", and nothing quantifies over the numbers they end in (real arithmetic with products)",
}


def _cycle(stuck: list[str], arrows: dict[tuple[str, str], str]) -> list[str]:
    """A cycle among sorts, each of which has an arrow from one of them."""
    path = [stuck[0]]
    while True:
        back = next(a for a in stuck if (a, path[-1]) in arrows)
        if back in path:
            return list(reversed(path[path.index(back) :]))
        path.append(back)


_ARROWS: Cache[tuple[tuple[str, str], ...]] = Cache()


def _own(formula: Formula) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    _arrows(formula, True, (), found)
    return tuple(found)


def _arrows(formula: Formula, positive: bool, above: tuple[Sort, ...], arrows: dict[tuple[str, str], None]) -> None:
    """Collect arrows from the universally bound sorts `above` to existentially bound ones, by polarity."""
    match formula:
        case Holds() | Equal():
            return
        case Not(body):
            _arrows(body, not positive, above, arrows)
        case And(parts) | Or(parts):
            for part in parts:
                _arrows(part, positive, above, arrows)
        case Implies(left, right):
            _arrows(left, not positive, above, arrows)
            _arrows(right, positive, above, arrows)
        case Iff(left, right):
            for part in (left, right):
                _arrows(part, True, above, arrows)
                _arrows(part, False, above, arrows)
        case Ite(test, then, other):
            _arrows(test, True, above, arrows)
            _arrows(test, False, above, arrows)
            _arrows(then, positive, above, arrows)
            _arrows(other, positive, above, arrows)
        case Forall(bound, body) | Exists(bound, body):
            sorts = tuple(variable.sort for variable in bound)
            if isinstance(formula, Forall) == positive:
                _arrows(body, positive, (*above, *sorts), arrows)
                return
            for outer in above:
                for inner in sorts:
                    arrows.setdefault((outer.name, inner.name))
            _arrows(body, positive, above, arrows)
