"""Compare every formula with the function that it was read from, on small structures; nothing is believed.

Compared are the initial states, the actions on offer, the state after each of them, and the claims, with all functions
that they call: on all states with two agents (two of each sort), or, where these are too many, on a stated number of
them spread evenly; on states that runs reach with up to three; and on states of three that solvers make, so that each
action is once on offer and each claim once true and once false.  Where a function raises, its formula must have said
that it may.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from hashlib import sha256
from typing import Any

from evenhand.core.fairness import OF, assumed
from evenhand.core.kinds import EachStep, Liveness, Property, Safety
from evenhand.core.relations import TwoRun
from evenhand.core.system import AnyStep, AnySystem, Step
from evenhand.evidence.second_runs import at_step, compared
from evenhand.smt.arithmetic import NUMBER, calculated, element
from evenhand.smt.logic import FALSE, TRUE, Formula, Term, Var
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.small_models import small_model
from evenhand.smt.structure import Reader, Structure
from evenhand.source.assumptions import smaller
from evenhand.source.counts import PREFIX, Total
from evenhand.source.described import Chosen, closed
from evenhand.source.family import STATE, Course, Family, Stated
from evenhand.source.instances import Tables, decode, how_many, nth
from evenhand.source.probes import Meaning, Meanings, meanings
from evenhand.source.refusal import Unreadable
from evenhand.source.shapes import none_name
from evenhand.source.simplify import all_of, negation, some
from evenhand.source.values import FRESH, Cases, Const, Elem, Fixed, Record, Truth, Value, Whole

MOST = 512
"""States with two of each sort that are compared; where there are more, this many of them."""

REACHED = 120
"""States that runs reach, compared at each size."""


class Mistranslated(Exception):
    """A formula and the function it was read from disagree."""


@dataclass
class Validation:
    """How much was compared: `total` states with two of each sort, of which `listed`; `reached` and `made` ones."""

    total: int = 0
    listed: int = 0
    reached: int = 0
    made: int = 0
    steps: int = 0
    claims: int = 0
    raised: int = 0
    pairs: int = 0

    @property
    def sentence(self) -> str:
        """The counts as a sentence."""
        share = f"all {self.total}" if self.listed == self.total else f"{self.listed} of {self.total}"
        answers = f"{self.claims} answers" + (f" and {self.pairs} about pairs of steps" if self.pairs else "")
        return (
            f"formulas and functions agree on {share} states with two of each, {self.reached} reached with up to "
            f"three, {self.made} made by a solver with three; {self.steps} steps and {answers} compared"
        )


@dataclass
class Comparison:
    """Compares one family; each formula is compiled once."""

    family: Family
    reader: Reader = field(default_factory=Reader)
    done: Validation = field(default_factory=Validation)

    def __post_init__(self) -> None:
        family = self.family
        self.after: list[Meanings] = [meanings(family.shape, move.after, STATE) for move in family.moves]
        self.start: list[Meanings] = [meanings(family.shape, one.state, STATE) for one in family.starts]
        self.of_states = {n: s.of_state(family.state) for n, s in family.claims.items() if s.of_state is not None}
        self.of_starts = {n: s.of_start for n, s in family.claims.items() if s.of_start != TRUE}
        self.here = {n: s.here for n, s in family.claims.items() if s.here is not None}
        self.of_steps = {
            (n, i): s.of_step(family.state, move)
            for n, s in family.claims.items()
            if s.of_step is not None
            for i, move in enumerate(family.moves)
        }

    def all(self, portfolio: Portfolio, reached: Iterable[tuple[Any, Any]]) -> Validation:
        """Compare on all kinds of states.  Raises Mistranslated."""
        family, sorts = self.family, self.family.world.sorts
        for size in (1, 2, 3):
            self._starts(family.system.at(**dict.fromkeys(sorts, size)))
        two = family.system.at(**dict.fromkeys(sorts, 2))
        config, sizes = next(iter(two.all_configs())), {sort.name: 2 for sort in sorts.values()}
        self.done.total = how_many(family.shape, sizes)
        for place in spread(self.done.total, MOST):
            self.done.listed += 1
            self.state(two, config, nth(family.shape, sizes, place))
        for config, state in reached:
            self.done.reached += 1
            self.state(family.system, config, state)
        three = family.system.at(**dict.fromkeys(sorts, 3))
        config = next(iter(three.all_configs()))
        for state in self._made(portfolio):
            self.done.made += 1
            self.state(three, config, state)
        return self.done

    def _made(self, portfolio: Portfolio) -> Iterator[Any]:
        """States of three that a solver makes."""
        family = self.family
        wanted = [some(move.variables, move.guard) for move in family.moves]
        for formula, _ in self.of_states.values():
            wanted += [formula, negation(formula)]
        for (_, place), (formula, _) in self.of_steps.items():
            move = family.moves[place]
            wanted.append(some(move.variables, all_of((move.guard, negation(formula)))))
        theory = family.theory
        for formula in wanted:
            if formula in (TRUE, FALSE):
                continue
            found, _ = small_model(theory, formula, portfolio, elements=3)
            if found is not None:
                try:
                    yield decode(family.shape, STATE, found)
                except ValueError:  # a number that is not whole is no state
                    continue

    def _starts(self, system: AnySystem) -> None:
        """The initial states of a size: the same from the function and from the formulas."""
        family = self.family
        config = next(iter(system.all_configs()))
        sizes = self.sizes(config)
        try:
            listed = list(system.initial(config))
        except Exception as error:
            raise Mistranslated(f"`initial` of {config} raised {error!r}") from error
        actual = [_key(self.encoded(config, state)) for state in listed]
        made: list[Any] = []
        for structure in self._chosen(sizes):
            if self.reader.holds(family.start_raises, structure):
                raise Mistranslated(f"`initial` of {config} does not raise, as its formula says")
            for start, means in zip(family.starts, self.start, strict=True):
                for values in assignments(start.variables, structure):
                    if self.reader.holds(start.guard, structure, values):
                        made.append(_key(self.tables(means, structure, values)))
        for one, other, whose in ((actual, made, "the function"), (made, actual, "the formula")):
            missing = next((key for key in one if key not in other), None)
            if missing is not None:
                raise Mistranslated(f"initial states of {config}: only {whose} gives {missing}")

    def _chosen(self, sizes: Mapping[str, int]) -> Iterator[Structure]:
        """The structures of a size for all initial choices."""
        bare = Tables(sizes).structure()
        options: list[list[tuple[str, dict[tuple[str, ...], str]]]] = []
        for function, _ in self.family.chosen:
            places = list(itertools.product(*(bare.universe[sort.name] for sort in function.domain)))
            rows = itertools.product(bare.universe[function.codomain.name], repeat=len(places))
            options.append([(function.name, dict(zip(places, row, strict=True))) for row in rows])
        for chosen in itertools.product(*options):
            structure = Structure(bare.universe, bare.relations, {**bare.functions, **dict(chosen)})
            structure = self.counted(structure, [one for one in self.family.world.totals if one.fixed])
            axioms = [axiom.formula for _, axiom in self.family.chosen if axiom is not None]
            if all(self.reader.holds(axiom, structure) for axiom in axioms):
                yield structure

    def sizes(self, config: Any) -> dict[str, int]:
        """The number of elements of each sort in a configuration."""
        return {sort.name: len(getattr(config, name)) for name, sort in self.family.world.sorts.items()}

    def encoded(self, config: Any, state: Any) -> Structure:
        """A state as a structure.  Raises Unreadable for one that is not of its type."""
        tables = Tables(self.sizes(config))
        tables.encode(self.family.shape, STATE, state)
        return self.counted(tables.structure(), self.family.world.totals)

    def counted(self, structure: Structure, totals: Iterable[Total]) -> Structure:
        """Return the structure with the values of counts and totals."""
        functions = dict(structure.functions)
        for one in totals:
            structure = Structure(structure.universe, structure.relations, functions)
            functions[one.function.name] = {
                tuple(row[name] for name in one.parameters): element(self._sum(one, structure, row))
                for row in assignments(one.parameters, structure)
            }
        return Structure(structure.universe, structure.relations, functions)

    def _sum(self, one: Total, structure: Structure, values: Mapping[Var, str]) -> Fraction:
        found = Fraction(0)
        for row in assignments(one.variables, structure):
            both = {**values, **row}
            found += sum(
                Fraction(self.term(term, structure, both))
                for guard, term in one.parts
                if self.reader.holds(guard, structure, both)
            )
        return found

    def state(self, system: AnySystem, config: Any, state: Any) -> None:
        """Compare everything in one state.  Raises Mistranslated."""
        family = self.family
        structure = self.encoded(config, state)
        for name, (formula, raises) in self.of_states.items():
            claim = family.claims[name].claim
            assert isinstance(claim, Safety)
            if not self.reader.holds(raises, structure):
                expected = self._ran(lambda claim=claim: claim.at_start(config, state), f"claim {name}", state)
                self._same(expected is not False, self.reader.holds(formula, structure), f"claim {name}", state)
                self.done.claims += 1
        if self.reader.holds(family.raises, structure):
            self.done.raised += 1
            return
        assert system.actions is not None
        actions = system.actions
        offered = self._ran(lambda: list(actions(config, system.scope, state)), "`actions`", state)
        found: list[tuple[int, dict[Var, str], Any]] = []
        for place, move in enumerate(family.moves):
            for values in assignments(move.variables, structure):
                if self.reader.holds(move.guard, structure, values):
                    found.append((place, values, self.python(move.action, structure, values)))
        for name, formula in self.here.items():
            self._same(bool(offered), self.reader.holds(formula, structure), f"claim {name}", state)
        for name, stated in family.claims.items():
            for formula in stated.firsts:
                self._same(True, self.reader.holds(formula, structure), f"a first member, for claim {name}", state)
        for name, formula in self.of_starts.items():
            begins = self._ran(
                lambda name=name: self._twins_begin(name, config, state, offered), f"claim {name}", state
            )
            self._same(begins, self.reader.holds(formula, structure), f"the start of claim {name}", state)
        made = [action for _, _, action in found]
        for one, other, whose in ((offered, made, "the function"), (made, offered, "the formula")):
            missing = next((action for action in one if action not in other), None)
            if missing is not None:
                raise Mistranslated(f"actions of {state!r}: only {whose} offers {missing!r}")
        for place, picked, action in found:
            self._step(system, config, state, structure, place, picked, action)

    def _step(
        self,
        system: AnySystem,
        config: Any,
        state: Any,
        structure: Structure,
        place: int,
        values: Mapping[Var, str],
        action: Any,
    ) -> None:
        move = self.family.moves[place]
        if self.reader.holds(move.raises, structure, values):
            self.done.raised += 1
            return
        what = f"the step of {action!r}"
        after, shown = self._ran(lambda: system.step(system.rules, config, state, action), what, state)
        actual, expected = _key(self.encoded(config, after)), _key(self.tables(self.after[place], structure, values))
        if actual != expected:
            raise Mistranslated(f"{what} in {state!r}: the function gives {actual}, the formula {expected}")
        self._same(shown, self.python(move.shown, structure, values), f"what is shown by {what}", state)
        self.done.steps += 1
        self._courses(Step(config, state, action, shown, after), place, structure, values)
        for (name, at), (formula, raises) in self.of_steps.items():
            claim = self.family.claims[name].claim
            if at == place and not self.reader.holds(raises, structure, values):
                taken = Step(config, state, action, shown, after)
                said = self._ran(lambda claim=claim, taken=taken: kept(system, claim, taken), f"claim {name}", state)
                self._same(said, self.reader.holds(formula, structure, values), f"claim {name}", state)
                self.done.claims += 1

    def _courses(self, step: AnyStep, place: int, structure: Structure, values: Mapping[Var, str]) -> None:
        """Compare what claims about whole runs ask of a step, of its rank, and of the assumptions that it serves."""
        for name, stated in self.family.claims.items():
            if not stated.courses or self.reader.holds(stated.courses[place].raises, structure, values):
                continue
            claim, course = stated.claim, stated.courses[place]
            assert isinstance(claim, Liveness)
            asked: list[tuple[Callable[[], Any], Formula]] = [
                (partial(test, step), formula)
                for test, formula in zip(claim.tests, (course.raised, course.served), strict=True)
            ]
            if claim.rank is not None and course.ranked is not None:
                rank, what = claim.rank, f"the rank of claim {name}"
                before, after = (
                    self._ran(partial(rank, step.config, one), what, one) for one in (step.before, step.after)
                )
                asked += [
                    (partial(smaller, after, before), course.ranked[0]),
                    (partial(_level, after, before), course.ranked[1]),
                ]
            for call, formula in asked:
                said = self._ran(call, f"claim {name}", step.before)
                self._same(said, self.reader.holds(formula, structure, values), f"claim {name}", step.before)
                self.done.claims += 1
            self._fair(step, claim, stated, course, structure, values)

    def _fair(
        self,
        step: AnyStep,
        claim: Liveness,
        stated: Stated,
        course: Course,
        structure: Structure,
        values: Mapping[Var, str],
    ) -> None:
        """Compare the assumptions of a claim: their names, their kinds, whether a step serves them, where they help."""
        left = dict(assumed(self.family.system.fair(step.config), claim.fairness))
        for name, one in stated.fair.items():
            for row in assignments(one.variables, structure):
                agents = [int(value.rpartition(".")[2]) for value in row.values()]
                member = left.pop(f"{name}{OF}{agents[0]}" if agents else name, None)
                what = f"assumption {name} of claim {claim.name}"
                if member is None or member.kind != one.kind:
                    raise Mistranslated(f"{what}: the function gives {member} where the formula has {one.kind}")
                said = self._ran(partial(member.taken, step.before, step.action), what, step.before)
                self._same(said, self.reader.holds(course.fair[name], structure, {**values, **row}), what, step.before)
                if agents and claim.helps is not None and stated.helps is not None:
                    said = self._ran(partial(claim.helps, step.config, step.before, agents[0]), what, step.before)
                    self._same(said, self.reader.holds(stated.helps[name], structure, row), what, step.before)
                self.done.claims += 1
        if left:
            raise Mistranslated(f"claim {claim.name}: only the function assumes {', '.join(left)}")

    def _twins_begin(self, name: str, config: Any, state: Any, offered: Iterable[Any]) -> bool:
        """Whether the twins of all steps from a state begin in initial states."""
        claim = self.family.claims[name].claim
        assert isinstance(claim, TwoRun)
        starts = list(self.family.system.initial(config))
        return all(
            claim.state(way, config, state) in starts
            for action in offered
            for way in claim.twins(config, state, action)
        )

    def _ran(self, call: Any, what: str, state: Any) -> Any:
        try:
            return call()
        except Exception as error:
            raise Mistranslated(f"{what} in {state!r} raised {error!r}, and its formula does not say so") from error

    def _same(self, actual: Any, expected: Any, what: str, state: Any) -> None:
        if actual != expected or type(actual) is not type(expected):
            raise Mistranslated(f"{what} in {state!r}: the function says {actual!r}, the formula {expected!r}")

    def tables(self, means: Meanings, structure: Structure, values: Mapping[Var, str]) -> Structure:
        """The state that meanings describe, as a structure."""
        relations: dict[str, set[tuple[str, ...]]] = {}
        functions: dict[str, dict[tuple[str, ...], str]] = {}
        for name, meaning in means.items():
            if meaning.formula is not None:
                rows = relations[name] = set()
                for row in assignments(meaning.variables, structure):
                    if self.reader.holds(meaning.formula, structure, {**values, **row}):
                        rows.add(tuple(row[one] for one in meaning.variables))
        for name, meaning in means.items():
            if meaning.formula is None:
                parts = name.split(".")
                inside = [none_name(".".join(parts[: size + 1])) for size in range(len(parts))]
                none = [relations[one] for one in (f"{name}.none", *inside) if one in relations]
                functions[name] = self._function(name, meaning, structure, values, none)
        return Structure(structure.universe, {n: frozenset(r) for n, r in relations.items()}, functions)

    def _function(
        self,
        name: str,
        meaning: Meaning,
        structure: Structure,
        values: Mapping[Var, str],
        none: Sequence[set[tuple[str, ...]]],
    ) -> dict[tuple[str, ...], str]:
        """The values of a function; where there is none, the first element stands, as in `instances`."""
        found: dict[tuple[str, ...], str] = {}
        for row in assignments(meaning.variables, structure):
            both, place = {**values, **row}, tuple(row[one] for one in meaning.variables)
            sort = meaning.cases[0][1].sort
            if sort != NUMBER and any(place[:size] in rows for rows in none for size in range(len(place) + 1)):
                found[place] = f"{sort.name}.0"
                continue
            here = {self.term(t, structure, both) for g, t in meaning.cases if self.reader.holds(g, structure, both)}
            if len(here) != 1:
                raise Mistranslated(f"{name} at {place} has {len(here)} values")
            found[place] = here.pop()
        return found

    def term(self, term: Term, structure: Structure, values: Mapping[Var, str]) -> str:
        """The value of a term."""
        if isinstance(term, Chosen):
            x = FRESH(term.sort)
            fits, universe = closed(term.means(x)), structure.universe[term.sort.name]
            found = [one for one in universe if self.reader.holds(fits, structure, {**values, x: one})]
            if len(found) != 1:
                raise Mistranslated(f"{len(found)} elements fit the description of one {term.sort.name}")
            return found[0]
        if isinstance(term, Var):
            return values[term]
        inner = [self.term(one, structure, values) for one in term.arguments]
        act = calculated(term.function.name)
        return act(inner) if act is not None else structure.functions[term.function.name][tuple(inner)]

    def python(self, value: Value, structure: Structure, values: Mapping[Var, str]) -> Any:
        """The Python value of an action or an observation.  Raises Unreadable for a collection."""
        match value:
            case Truth(formula):
                return self.reader.holds(formula, structure, values)
            case Cases(parts):
                found = [one for guard, one in parts if self.reader.holds(guard, structure, values)]
                if len(found) != 1:
                    raise Mistranslated(f"a value has {len(found)} cases at once")
                if isinstance(found[0], Const):
                    return found[0].value
                if isinstance(found[0], Whole):
                    return self.python(found[0].value, structure, values)
                name = self.term(found[0].term, structure, values)
                return int(name.rpartition(".")[2]) if isinstance(found[0], Elem) else int(Fraction(name))
            case Fixed(parts):
                return tuple(self.python(one, structure, values) for one in parts)
            case Record(cls, inner):
                return cls(**{name: self.python(one, structure, values) for name, one in inner.items()})
            case _:
                raise Unreadable("a collection in an action", "actions hold agents and known values", "name one agent")


def _level(after: Any, before: Any) -> bool:
    return bool(after == before) or smaller(after, before)


def kept(system: AnySystem, claim: Property, step: AnyStep) -> bool:
    """Return whether a step keeps a claim about steps, or about twins of steps."""
    if isinstance(claim, TwoRun):
        return not any(one.why for one in compared(system, claim, at_step(step, first=False)))
    assert isinstance(claim, EachStep)
    return claim.at(step.config, None, step) is not False


def assignments(variables: tuple[Var, ...], structure: Structure) -> Iterator[dict[Var, str]]:
    """Yield all values of variables in a structure."""
    for row in itertools.product(*(structure.universe[one.sort.name] for one in variables)):
        yield dict(zip(variables, row, strict=True))


def spread(total: int, most: int) -> Iterator[int]:
    """Yield the numbers below `total`, or about `most` of them, drawn alike in every run and without a pattern."""
    if total <= most:
        yield from range(total)
        return
    seen: set[int] = set()
    for place in range(most):
        number = int.from_bytes(sha256(str(place).encode()).digest()) % total
        if number not in seen:
            seen.add(number)
            yield number


def _key(structure: Structure) -> tuple[Any, ...]:
    """What of a structure is a state: all but the order of the agents and its special elements."""
    special = {
        f"{sort}.{what}" for sort in structure.universe for what in ("before", "first", "last", "next", "previous")
    }
    relations = sorted((n, tuple(sorted(r))) for n, r in structure.relations.items() if n not in special)
    held = ((n, t) for n, t in structure.functions.items() if n not in special and not n.startswith(PREFIX))
    functions = sorted((n, tuple(sorted(t.items()))) for n, t in held)
    return (tuple(relations), tuple(functions))
