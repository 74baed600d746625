"""Read comprehensions: their members, and what is known of the order in which these stand."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from evenhand.smt.logic import FALSE, TRUE, Formula, Term
from evenhand.source.frames import Errors, Frame
from evenhand.source.lengths import Lengths, each_once
from evenhand.source.refusal import Unreadable
from evenhand.source.simplify import all_of
from evenhand.source.values import Group, Item, Listing, Places, Table, Value, as_group, order_of, thing


def everywhere(_term: Term) -> Formula:
    """Return that a tuple by agent has an entry for every one."""
    return TRUE


def places_of(value: Value) -> Places | None:
    """Return the places of a list or of a tuple by agent; None if they are not known."""
    if isinstance(value, Table):
        return Places(value.sort, everywhere, value.at)
    if isinstance(value, Group) and value.kind == "agents" and value.sort is not None:
        return Places(value.sort, everywhere, thing)
    return value.more.places if isinstance(value, Group) and value.more is not None else None


def as_list(value: Value) -> Group:
    """Return `list(value)`, with its places where it is a tuple by agent, the agents, or a list."""
    group = as_group(value)
    if isinstance(value, Group) and value.kind == "list":
        return value
    ordered = isinstance(value, Table) or group.kind == "agents"
    return replace(
        group, kind="list", sort=None, of=None, more=Listing(places=places_of(value), apart=True) if ordered else None
    )


def whole_row(value: Value) -> Table | None:
    """Return a list that has a place for each agent as a tuple by agent; None for another value."""
    over = places_of(value) if isinstance(value, Group) and value.kind == "list" else None
    if over is None or not over.whole or over.turned or over.there is not everywhere:
        return None
    return Table(over.sort, over.at)


class Comprehensions(Lengths):
    """Reads comprehensions."""

    def test(self, node: ast.expr, frame: Frame) -> Formula:
        """Return whether an expression counts as true."""
        raise NotImplementedError

    def assigned(self, target: ast.expr, value: Value, frame: Frame) -> Frame:
        """Return the frame in which names have a value."""
        raise NotImplementedError

    def _listing(self, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> Listing | None:
        """What is known of a list made member by member of another."""
        generator = node.generators[0]
        if len(node.generators) > 1:
            return None
        source = None if isinstance(generator.iter, ast.Call) else self.read(generator.iter, frame)
        agents = isinstance(source, Table) or (isinstance(source, Group) and source.kind == "agents")
        apart = isinstance(source, Group) and ((source.more is not None and source.more.apart) or each_once(source))
        if agents or apart:
            found = self._known(node, source, frame)
            return replace(found or Listing(), apart=True)
        return self._known(node, source, frame)

    def _known(self, node: ast.ListComp | ast.GeneratorExp, source: Value | None, frame: Frame) -> Listing | None:
        generator = node.generators[0]
        part = self._part(node.elt, generator.target, source)
        more = source.more if isinstance(source, Group) else None
        first = None
        if part is None and not generator.ifs and more is not None and more.first is not None:
            first = self._quietly_made(node, more.first, frame)
        if part is not None and not generator.ifs and part.rising is None:
            part = None
        places = self.made_places(node, frame)
        if part is None and first is None and places is None:
            return None
        return replace(part or Listing(first), places=places)

    def _quietly_made(self, node: ast.ListComp | ast.GeneratorExp, value: Value, frame: Frame) -> Value:
        """What a comprehension makes of one member; what raises is noted elsewhere."""
        noted, self.errors = self.errors, Errors()
        try:
            frame = self.assigned(node.generators[0].target, value, frame)
            for condition in node.generators[0].ifs:
                frame = frame.under(self.test(condition, frame))
            return self.read(node.elt, frame)
        finally:
            self.errors = noted

    def made_places(self, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> Places | None:
        """Return the places of what a comprehension makes of a list with places; None if they are not known."""
        generator = node.generators[0]
        over = self.rows(generator.iter, frame) if len(node.generators) == 1 else None
        if over is None:
            return None
        there = over.there

        def passes(term: Term) -> Formula:
            noted, self.errors = self.errors, Errors()
            try:
                here = self.assigned(generator.target, over.at(term), frame.under(there(term)))
                tests: list[Formula] = []
                for condition in generator.ifs:
                    tests.append(self.test(condition, here))
                    here = here.under(tests[-1])
                return all_of((there(term), *tests))
            finally:
                self.errors = noted

        def made(term: Term) -> Value:
            return self._quietly_made(node, over.at(term), frame)

        whole = over.whole and not generator.ifs
        return replace(over, there=passes if generator.ifs else there, at=made, whole=whole)

    def _part(self, made: ast.expr, target: ast.expr, source: Value | None) -> Listing | None:
        """What is known of a list of some members of another, or of a set: its order, if none stands twice."""
        match made, target:
            case ast.Name(one), ast.Name(other) if one == other and isinstance(source, Group):
                if source.kind == "agents":
                    return Listing(repeats=FALSE, rising=self.world.before)
                once = source.kind == "set" or (source.more is not None and source.more.repeats == FALSE)
                return Listing(repeats=FALSE, rising=order_of(source)) if once else None
            case _:
                return None

    def rows(self, node: ast.expr, frame: Frame) -> Places | None:
        """Return the places through which a loop goes in their order, with what stands there; None if not known."""
        raise NotImplementedError

    def _again(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> list[Item]:
        """The members of a comprehension under fresh variables; what raises was noted before."""
        noted, self.errors = self.errors, Errors()
        try:
            return self.comprehended(node, frame)
        finally:
            self.errors = noted

    def comprehended(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> list[Item]:
        """Return the members of a comprehension."""
        return self._generators(list(node.generators), node.elt, frame)

    def _generators(self, generators: list[ast.comprehension], element: ast.expr, frame: Frame) -> list[Item]:
        if not generators:
            return [Item((), TRUE, self.read(element, frame))]
        first, rest = generators[0], generators[1:]
        found: list[Item] = []
        for one in self.iterated(first.iter, frame):
            since = len(self.errors.found)
            here = self.assigned(first.target, one.value, frame.under(one.guard))
            tests: list[Formula] = []
            for condition in first.ifs:
                asked = self.test(condition, here)
                tests.append(asked)
                here = here.under(asked)
            guard = all_of((one.guard, *tests))
            if guard != FALSE:
                for inner in self._generators(rest, element, here):
                    variables = (*one.variables, *inner.variables)
                    found.append(Item(variables, all_of((guard, inner.guard)), inner.value))
            self.errors.close(since, one.variables)
        return found

    def iterated(self, node: ast.expr, frame: Frame) -> Sequence[Item]:
        """Return what a loop goes through."""
        try:
            return as_group(self.present(self.read(node, frame), frame)).items()
        except Unreadable as error:
            raise error.at(frame.source.file, node.lineno, ast.unparse(node)) from None
