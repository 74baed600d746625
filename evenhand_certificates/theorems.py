"""Check that certificates add up to a theorem, or to an invariant of a machine.

A theorem is a JSON object of the format `evenhand/theorem`, version 1:

    sorts, functions, relations   the symbols, as `formulas.Bank` takes them
    nodes                         formulas and terms, each made of earlier ones
    definitions                   [relation, [sort, …], place]: the relation, and the formula that it stands for
    axioms                        [name, place]
    lines                         [file, place, [relation, …]]: what is proved, in order
    says                          the place of the theorem
    machine                       null or {"state": [symbol, …], "inputs": [symbol, …], "init": place, "step": place}

A file is a certificate beside this one.  Its assertions may be axioms, earlier lines, and the denial of its own line,
with every definition expanded but those of the relations listed.  The last line is the theorem.

With a machine the lines are those of an induction on one formula, which is `says` or has it as a conjunct.  At moment
i of a run a symbol of the state is called `symbol.i`, after the step from there `symbol.after`.  All lines but the last
say that no run from `init` breaks the formula at moment 0, 1, …; the last, that no run breaks it after so many moments
at which it was true.
"""

# SPDX-License-Identifier: MIT
# What is read may be anything, so its parts have no known type until they are looked at.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from evenhand_certificates.check import check
from evenhand_certificates.errors import Invalid
from evenhand_certificates.formulas import Bank, read_nodes

FORMAT = "evenhand/theorem"
VERSION = 1
AFTER = ".after"


def check_theorem(told: Any, read: Callable[[str], Any]) -> tuple[int, int]:
    """Check a theorem read from JSON; `read` returns the certificate in a file.  Raises Invalid.

    Returns how many axioms it has, and how many lines prove it.
    """
    if not isinstance(told, dict) or (told.get("format"), told.get("version")) != (FORMAT, VERSION):
        raise Invalid(f"it is not of the format {FORMAT}, version {VERSION}")
    for key in ("nodes", "definitions", "axioms", "lines"):
        if not isinstance(told.get(key), list):
            raise Invalid(f"it has no list called {key!r}")
    stated = _Induction(told) if told.get("machine") is not None else _Theorem(told)
    for number, (file, _, _) in enumerate(stated.lines):
        certificate = read(file)
        check(certificate)
        stated.same_symbols(certificate, file)
        places, allowed = read_nodes(stated.bank, certificate["nodes"]), set(stated.allowed(number))
        for name, place in certificate["assertions"]:
            if places[place] not in allowed:
                raise Invalid(f"{file} assumes {name!r}, which line {number} may not")
    return len(stated.axioms), len(stated.lines)


class _Theorem:
    """A theorem as it is told, its formulas checked for sorts."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.bank = Bank(told.get("sorts"), told.get("functions"), told.get("relations"))
        self.machine(told)
        self.places = read_nodes(self.bank, told["nodes"])
        self.definitions: dict[str, int] = {}
        self._expanded: dict[tuple[int, frozenset[str]], int] = {}
        for entry in told["definitions"]:
            match entry:
                case [name, sorts, body]:
                    domain = self.bank.domain(sorts)
                    meaning = self.formula(body, domain)  # of what was declared before, so none leads back to itself
                    self.bank.relations[self.bank.symbol(name)] = domain
                    self.definitions[name] = meaning
                case _:
                    raise Invalid("a definition is not [relation, sorts, place]")
        self.axioms = [self.formula(place) for _, place in _rows(told["axioms"], 2, "axiom")]
        self.lines: list[tuple[str, int, frozenset[str]]] = []
        for file, place, opaque in _rows(told["lines"], 3, "line"):
            if not isinstance(opaque, list) or any(type(name) is not str for name in opaque):
                raise Invalid("a line is not [file, place, names]")
            self.lines.append((file, self.formula(place), frozenset(opaque)))
        self.says = self.formula(told.get("says"))
        if not self.lines:
            raise Invalid("it has no line")
        self.check_end()

    def machine(self, told: dict[str, Any]) -> None:
        """Read the machine, if there is one."""

    def check_end(self) -> None:
        """Check that the lines are what they should be, and end in the theorem.  Raises Invalid."""
        if self.lines[-1][1] != self.says:
            raise Invalid("its last line is not what it says")

    def formula(self, place: Any, bound: tuple[str, ...] = ()) -> int:
        """Return the formula at a place, under binders of these sorts.  Raises Invalid."""
        if type(place) is not int or not 0 <= place < len(self.places):
            raise Invalid(f"{place!r:.20} is no place of a formula")
        self.bank.check_formula(self.places[place], bound)
        return self.places[place]

    def allowed(self, number: int) -> Iterator[int]:
        """Yield the formulas that a line's certificate may assume."""
        _, denied, opaque = self.lines[number]
        for formula in (*self.axioms, *(earlier for _, earlier, _ in self.lines[:number])):
            yield self.expanded(formula, opaque)
        yield self.bank.add(("not", self.expanded(denied, opaque)))

    def expanded(self, number: int, opaque: frozenset[str] = frozenset()) -> int:
        """Return a formula without defined relations but those of these names."""
        found = self._expanded.get((number, opaque))
        if found is None:
            node = self.bank.nodes[number]
            if node[0] == "rel" and node[1] in self.definitions and node[1] not in opaque:
                found = self.bank.put(self.expanded(self.definitions[node[1]], opaque), node[2:])
            elif node[0] in ("rel", "="):
                found = number
            else:
                first = 2 if node[0] in ("all", "some") else 1
                found = self.bank.add((*node[:first], *(self.expanded(part, opaque) for part in node[first:])))
            self._expanded[number, opaque] = found
        return found

    def same_symbols(self, certificate: Any, file: str) -> None:
        """Check that a certificate's symbols are this theorem's.  Raises Invalid."""
        for name, domain, sort in certificate["functions"]:
            if self.bank.functions.get(self.base(name)) != (tuple(domain), sort):
                raise Invalid(f"{file} has another function {name!r}")
        for name, domain in certificate["relations"]:
            if self.bank.relations.get(self.base(name)) != tuple(domain):
                raise Invalid(f"{file} has another relation {name!r}")

    def base(self, name: str) -> str:
        """Return the theorem's name of a certificate's symbol."""
        return name


class _Induction(_Theorem):
    """An invariant of a machine."""

    def machine(self, told: dict[str, Any]) -> None:
        self.told = told["machine"]
        known = self.bank.functions | self.bank.relations
        found: list[frozenset[str]] = []
        for key in ("state", "inputs"):
            names = self.told.get(key) if isinstance(self.told, dict) else None
            if not isinstance(names, list) or any(type(name) is not str or name not in known for name in names):
                raise Invalid(f"a machine's {key} is a list of symbols")
            found.append(frozenset(names))
        self.state, self.inputs = found
        if self.state & self.inputs:
            raise Invalid("a symbol is of the state, or an input")
        bank = self.bank
        bank.functions |= {name + AFTER: bank.functions[name] for name in self.state if name in bank.functions}
        bank.relations |= {name + AFTER: bank.relations[name] for name in self.state if name in bank.relations}

    def check_end(self) -> None:
        known = self.bank.functions | self.bank.relations
        if any("." in name and not self.told_after(name) for name in known):
            raise Invalid("a symbol beside a machine has no '.' in its name")
        goal = self.lines[0][1]
        parts = self.bank.nodes[goal][1:] if self.bank.nodes[goal][0] == "and" else ()
        if len(self.lines) < 2 or any(line[1:] != (goal, frozenset()) for line in self.lines):
            raise Invalid("the lines of an induction are about one formula, with every definition expanded")
        if self.says != goal and self.says not in parts:
            raise Invalid("its lines are not about what it says")
        if self.span(self.init):
            raise Invalid("init is about more than a state")

    @cached_property
    def init(self) -> int:
        """What is true of the first state."""
        return self.formula(self.told.get("init"))

    @cached_property
    def step(self) -> int:
        """What is true of each step."""
        return self.formula(self.told.get("step"))

    def allowed(self, number: int) -> Iterator[int]:
        goal, depth = self.lines[0][1], len(self.lines) - 1
        steps = number + self.span(goal)
        for axiom in self.axioms:
            for moment in range(max(1, steps)):
                if steps or not self.span(axiom):
                    yield self.at(axiom, moment)
        yield from (self.at(self.step, moment) for moment in range(steps))
        if number < depth:
            yield self.at(self.init, 0)
        else:
            yield from (self.at(goal, moment) for moment in range(depth))
        yield self.bank.add(("not", self.at(goal, number)))

    def span(self, formula: int) -> int:
        """Return 1 for a formula about a step, 0 for one about a state."""
        waiting, seen = [self.expanded(formula)], set[int]()
        while waiting:
            node = self.bank.nodes[waiting.pop()]
            if node[0] in ("app", "rel") and (node[1] in self.inputs or self.told_after(node[1])):
                return 1
            first = {"var": 2, "any": 2, "app": 2, "rel": 2, "all": 2, "some": 2}.get(node[0], 1)
            waiting += {*node[first:]} - seen
            seen.update(node[first:])
        return 0

    def told_after(self, name: str) -> bool:
        """Return whether a symbol is one of the state after a step."""
        return name.endswith(AFTER) and name.removesuffix(AFTER) in self.state

    def at(self, formula: int, moment: int) -> int:
        """Return a formula at a moment of a run."""
        done: dict[int, int] = {}

        def named(name: str) -> str:
            if self.told_after(name):
                return f"{name.removesuffix(AFTER)}.{moment + 1}"
            return f"{name}.{moment}" if name in self.state | self.inputs else name

        def renamed(number: int) -> int:
            if number not in done:
                node = self.bank.nodes[number]
                first = 2 if node[0] in ("var", "any", "app", "rel", "all", "some") else 1
                head = (node[0], named(node[1])) if node[0] in ("app", "rel") else node[:first]
                done[number] = self.bank.add((*head, *(renamed(part) for part in node[first:])))
            return done[number]

        return renamed(self.expanded(formula))

    def base(self, name: str) -> str:
        found, dot, moment = name.rpartition(".")
        return found if dot and found in self.state | self.inputs and moment.isdecimal() else name


def _rows(given: list[Any], width: int, what: str) -> list[list[Any]]:
    if any(not isinstance(row, list) or len(row) != width or not isinstance(row[0], str) for row in given):
        raise Invalid(f"a {what} is a list of {width} items that begins with a name")
    return given
