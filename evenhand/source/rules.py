"""Read single rules of a protocol, without a system around.

Its theory says what the arguments are in logic: `each` is a list with one value for each element of a sort, `one_of` a
value by cases.  A `Reader` unfolds a function for such arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.core.system import Mutant
from evenhand.smt import preludes
from evenhand.smt.logic import FALSE, Definition, Formula, Sort, Term, Var
from evenhand.smt.theory import Theory
from evenhand.source.expressions import Given
from evenhand.source.frames import Frame
from evenhand.source.reading import source_of
from evenhand.source.refusal import refuse
from evenhand.source.statements import Translator
from evenhand.source.values import FRESH, Cases, Const, Group, Item, Listing, Value, gathered
from evenhand.source.world import World


class Orders(World):
    """A world of which only the orders are known, each by its sort."""

    def __init__(self, orders: Mapping[Sort, Callable[[Term, Term], Formula]]) -> None:
        super().__init__(object, {}, {})
        self.orders = orders

    def before(self, one: Term, other: Term) -> Formula:
        """Return that an element comes before another.  Raises Unreadable for a sort without an order."""
        if one.sort != other.sort or one.sort not in self.orders:
            ordered = " and ".join(sort.name for sort in self.orders) or "nothing"
            raise refuse("an order of things that have none", f"order {ordered}")
        return self.orders[one.sort](one, other)


@dataclass(frozen=True)
class Reader:
    """Unfolds functions; those `given` are not unfolded, and `settled` shortens formulas by what the axioms say."""

    world: World
    given: Mapping[Any, Given] = field(default_factory=dict[Any, Given])
    settled: Callable[[Formula], Formula] = lambda formula: formula

    def __call__(self, function: Any, *arguments: Value, instead: Mapping[Any, Given] | None = None) -> Value:
        """Return what a function gives for these arguments; `instead` are more given functions.

        Raises Unreadable, also for one that may raise.
        """
        translator = Translator(self.world, {**self.given, **(instead or {})})
        found = translator.invoked(function, arguments, {}, Frame(source_of(each), {}))
        if any(self.settled(one) != FALSE for one in translator.errors.found):
            raise refuse(f"{function.__name__} may raise", "let it return something")
        return found


def each(sort: Sort, make: Callable[[Var], tuple[Formula, Value]], **more: Any) -> Group:
    """Return the list of one value for each element of a sort, where its guard is true; `more` is for its Listing."""

    def items() -> list[Item]:
        fresh = FRESH(sort)
        return [Item((fresh,), *make(fresh))]

    return Group("list", items, gathered(items, "list").has, more=Listing(**more) if more else None)


def giving(value: Value) -> Given:
    """Return what gives this value, whatever the arguments."""
    return lambda _given: value


def unchanged(given: Sequence[Value]) -> Value:
    """Return the last argument: for a function that changes nothing of which a theory speaks."""
    return given[-1]


def one_of(*parts: tuple[Formula, Any]) -> Value:
    """Return one of several known values, each under its condition; the conditions exclude each other."""
    return Cases(tuple((guard, Const(value)) for guard, value in parts))


class Other:
    """A value of which only is known that it is none of these; asked about another one it refuses to answer."""

    def __init__(self, *these: Any) -> None:
        self.these = these

    def __eq__(self, other: object) -> bool:
        if other is self or any(other is one for one in self.these) or isinstance(other, Other):
            return other is self
        if any(type(other) is type(one) and other == one for one in self.these):
            return False
        raise refuse(f"whether an unknown value is {other!r}", "compare it with values that the rules know")

    def __hash__(self) -> int:
        return id(self) >> 4

    def __bool__(self) -> bool:
        raise refuse("the truth of an unknown value", "compare it")


class Faults(preludes.Faults):
    """The meanings that mutants give to words of a theory, `read` from a mutant's own rules when asked for."""

    def __init__(self, theory: Theory, read: Callable[[Any], Mapping[str, Formula]]) -> None:
        super().__init__()
        self.theory, self.read = theory, read

    def __missing__(self, mutant: Mutant[Any]) -> tuple[Definition, ...]:
        """Return the words that change.  Raises Unreadable, and ValueError if none does."""
        said, usual = self.read(mutant.rules), self.theory.meanings
        changed = [name for name, body in said.items() if body != usual[name].body]
        found = tuple(self.theory.means(name, said[name], mutant.source) for name in changed)
        if not found:
            raise ValueError(f"{mutant.name} changes no word of the theory")
        return self.setdefault(mutant, found)
