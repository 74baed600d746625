"""The things of which there may be any number: their sorts, their order, and the ring that they form.

Elements are numbered from 0, so that rules may compare them and step round (`(me + 1) % len(config.nodes)`).  Each of
these is described by axioms that are true of any number of elements, and only where a rule looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NewType, cast, get_args, get_origin, get_type_hints

from evenhand.smt.logic import TRUE, Formula, Function, Relation, Sort, Term, Var, forall, same
from evenhand.smt.theory import Axiom
from evenhand.source.counts import Totals, fixed
from evenhand.source.described import closed, described
from evenhand.source.refusal import refuse
from evenhand.source.shapes import order, order_axioms
from evenhand.source.simplify import all_of, any_of, negation
from evenhand.source.values import FRESH, Cases, Elem, Group, Item, Record, Value, equals, leaf


@dataclass
class World:
    """The class of the config, and the sort that each of its fields lists; `looked_at` is what rules ask of them."""

    cls: type
    sorts: Mapping[str, Sort]
    types: Mapping[Any, Sort]
    looked_at: set[tuple[str, Sort]] = field(default_factory=set[tuple[str, Sort]])
    chosen: list[tuple[Function, Axiom | None]] = field(default_factory=list[tuple[Function, Axiom | None]])
    choosing: bool = False
    totals: Totals = field(default_factory=Totals)
    counting: bool = True
    firsts: list[Formula] = field(default_factory=list[Formula])
    """That lists with a member have a first one, which is true because they are finite: what no solver knows."""

    @property
    def config(self) -> Value:
        """The configuration as a value."""
        return Record(self.cls, {name: agents(sort) for name, sort in self.sorts.items()})

    def before(self, one: Term, other: Term) -> Formula:
        """Return that an element comes before another of its sort.  Raises Unreadable for two sorts."""
        if one.sort != other.sort:
            raise refuse("things of two types have no common order", "compare things of one type")
        self.looked_at.add(("order", one.sort))
        return order(one.sort)(one, other)

    def special(self, what: str, sort: Sort, *of: Term) -> Term:
        """Return the first or last element of a sort, or the next or previous one of an element in the ring."""
        self.looked_at |= {("order", sort), (what, sort)}
        return symbol(what, sort)(*of)

    def choose(self, sort: Sort, codomain: Sort, *, distinct: bool) -> Function:
        """Return a function that stands for any (or any injective) one: the choice that an initial state leaves."""
        if not self.choosing:
            raise refuse("a choice among all orders", "only initial states may choose")
        made = Function(f"chosen.{len(self.chosen)}", (sort,), codomain)
        x, y = Var("x", sort), Var("y", sort)
        axiom = None
        if distinct:
            formula = forall([x, y], any_of((same(x, y), negation(same(made(x), made(y))))))
            axiom = Axiom(f"{made.name}.distinct", formula)
        self.chosen.append((made, axiom))
        return made

    def total(self, variables: Sequence[Var], parts: Iterable[tuple[Formula, Term]]) -> Term:
        """Return the sum of what is true over all values of the variables, as a number.  Raises Unreadable."""
        if not self.counting or not self.sorts:
            why = "a length or a sum (len, sum) in rules alone, or in a claim about two runs or whole runs"
            raise refuse(why, "write a comparison with a number up to 2")
        said = tuple((closed(guard), term) for guard, term in parts)
        if any(described(term) for _, term in said):
            raise refuse("a sum of numbers of the first or least of a list", "write a field that counts along")
        if self.choosing and not fixed(said):
            raise refuse("a count in an initial state", "write the number itself")
        return self.totals.of(variables, said)

    def symbols(self) -> tuple[list[Function], list[Relation], list[Axiom]]:
        """Return what was looked at: functions, relations and their axioms."""
        functions: list[Function] = []
        relations: list[Relation] = []
        axioms: list[Axiom] = []
        for what, sort in sorted(self.looked_at, key=lambda pair: (pair[1].name, pair[0] != "order", pair[0])):
            if what == "order":
                relations.append(order(sort))
                axioms += order_axioms(sort)
            else:
                functions.append(symbol(what, sort))
                axioms.append(Axiom(f"{sort.name}.{what}.means", _meaning(what, sort)))
        functions += [one.function for one in self.totals]
        axioms += self.totals.axioms()
        return functions, relations, axioms


def symbol(what: str, sort: Sort) -> Function:
    """Return the function or constant of a special element."""
    return Function(f"{sort.name}.{what}", () if what in ("first", "last") else (sort,), sort)


def _meaning(what: str, sort: Sort) -> Formula:
    before, x, y, z = order(sort), Var("x", sort), Var("y", sort), Var("z", sort)
    if what in ("first", "last"):
        end = symbol(what, sort)()
        return forall([x], any_of((same(x, end), before(end, x) if what == "first" else before(x, end))))
    near = symbol(what, sort)(x)

    def earlier(one: Term, other: Term) -> Formula:
        return before(one, other) if what == "next" else before(other, one)

    steps = all_of((earlier(x, near), forall([z], negation(all_of((earlier(x, z), earlier(z, near)))))))
    wraps = all_of((forall([y], negation(earlier(x, y))), forall([y], negation(earlier(y, near)))))
    return forall([x], any_of((steps, wraps)))


def agents(sort: Sort) -> Group:
    """Return all elements of a sort, in their order."""

    def has(value: Value) -> Formula:
        if isinstance(value, Cases):
            parts = [(guard, one) for guard, one in value.parts]
            if all(isinstance(one, Elem) and one.term.sort == sort for _, one in parts):
                return TRUE
        x = FRESH(sort)
        found = equals(leaf(Elem(x)), value)
        raise refuse(f"whether {found} is among all", "ask this of agents")

    return Group("agents", lambda: [Item((x := FRESH(sort),), TRUE, leaf(Elem(x)))], has, sort)


def world_of(config: Any) -> World:
    """Return the world of a configuration: a frozen dataclass of which every field is a `tuple[Agent, ...]`.

    `Agent` is a NewType of int, and the field holds 0, 1, 2 …  Raises Unreadable for another configuration.
    """
    cls: Any = config.__class__
    name = str(cls.__name__)
    mend = "write a frozen dataclass with fields like agents: tuple[Agent, ...], where Agent = NewType('Agent', int)"
    if not is_dataclass(cls) or not cast("Any", cls).__dataclass_params__.frozen:
        raise refuse(f"the config is a {name}", mend)
    hints = get_type_hints(cls)
    sorts: dict[str, Sort] = {}
    types: dict[Any, Sort] = {}
    for one in fields(cls):
        written = hints[one.name]
        arguments = get_args(written)
        listed = get_origin(written) is tuple and arguments[1:] == (Ellipsis,)
        kind = arguments[0] if listed else None
        if not isinstance(kind, NewType) or cast("Any", kind).__supertype__ is not int or kind in types:
            raise refuse(f"{name}.{one.name} lists no things of a type of their own", mend)
        value = getattr(config, one.name)
        if value != tuple(range(len(value))) or not value:
            raise refuse(f"{name}.{one.name} is {value!r}", "let it be (0, 1, 2, ...), as tuple(range(n)) is")
        sorts[one.name] = types[kind] = Sort(kind.__name__)
    if not sorts:
        raise refuse("the config lists nothing", mend)
    return World(cast("type", cls), sorts, types)
