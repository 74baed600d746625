"""Read a whole system: its states, where it starts, what is on offer, what each step gives, and its claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from evenhand.core.ending import NAME
from evenhand.core.kinds import Always, EachStep, Property, every_state, every_step
from evenhand.core.system import AnySystem
from evenhand.smt.logic import FALSE, TRUE, Formula, Function, Var
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.frames import Frame
from evenhand.source.reading import parameters, plain, source_of
from evenhand.source.refusal import Unreadable, refuse
from evenhand.source.shapes import Parts, Vocabulary, record_shape
from evenhand.source.simplify import all_of, any_of, implication, some
from evenhand.source.statements import Translator
from evenhand.source.values import Cases, Const, Fixed, Item, Record, Value, as_group, known, named, truth
from evenhand.source.world import World, world_of

STATE = "s"
"""The name under which a state's symbols are declared."""


@dataclass(frozen=True)
class Start:
    """Initial states: `state` for all values of the variables that pass `guard`."""

    variables: tuple[Var, ...]
    guard: Formula
    state: Record


@dataclass(frozen=True)
class Move:
    """Actions of one kind, for all values of the variables that pass `guard`, with what they lead to.

    `raises` says where `step` would raise; `shown` is what it shows, None where it shows nothing.
    """

    name: str
    variables: tuple[Var, ...]
    guard: Formula
    action: Value
    after: Record
    shown: Value
    raises: Formula


@dataclass(frozen=True)
class Stated:
    """A claim that was read: the formula of a state, or of a step, with where it would raise.

    `here` is a formula of reachable states that is not asked of the state after a step: some action is on offer.
    """

    claim: Property
    of_state: Callable[[Value], tuple[Formula, Formula]] | None = None
    of_step: Callable[[Value, Move], tuple[Formula, Formula]] | None = None
    here: Formula | None = None


@dataclass
class Family:
    """A system of any size, read from its source.

    `raises` says in which states `actions` would raise.  `unread` are claims with the reason why they are not read.
    """

    system: AnySystem
    world: World
    shape: Parts
    vocabulary: Vocabulary
    state: Record
    starts: tuple[Start, ...]
    moves: tuple[Move, ...]
    raises: Formula
    start_raises: Formula
    chosen: tuple[tuple[Function, Axiom | None], ...]
    claims: dict[str, Stated] = field(default_factory=dict[str, Stated])
    unread: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def theory(self) -> Theory:
        """The symbols of a state, of the agents' order, and of initial choices, with their axioms."""
        functions, relations, axioms = self.world.symbols()
        return Theory(
            self.system.name.replace(" ", "_") or "system",
            self.vocabulary.sorts,
            (*self.vocabulary.functions, *functions, *(one for one, _ in self.chosen)),
            (*self.vocabulary.relations, *relations),
            (*self.vocabulary.axioms, *axioms, *(one for _, one in self.chosen if one is not None)),
        )


def family_of(system: AnySystem, claims: tuple[Property, ...]) -> Family:
    """Return a system and its claims as formulas.  Raises Unreadable for a system that cannot be read."""
    config = next(iter(system.all_configs()), None)
    world = world_of(config)
    if system.joint is not None or system.actions is None:
        raise refuse("joint actions", "give the system `actions`")
    if system.constrained:
        raise refuse("a constraint bounds the runs", "prove it without the constraint")
    start = next(iter(system.initial(config)))
    cls: Any = start.__class__
    shape = record_shape(cls, world.types)
    vocabulary = Vocabulary(tuple(world.sorts.values()))
    state = cast("Record", vocabulary.symbolic(shape, STATE))
    reader = _Reader(system, world, state)
    starts, start_raises = reader.starts()
    moves, raises = reader.moves()
    found = Family(system, world, shape, vocabulary, state, starts, moves, raises, start_raises, tuple(world.chosen))
    for claim in claims:
        try:
            found.claims[claim.name] = reader.stated(claim, found)
        except Unreadable as error:
            found.unread[claim.name] = str(error)
    return found


class _Reader:
    """Reads the functions of one system."""

    def __init__(self, system: AnySystem, world: World, state: Record) -> None:
        self.system, self.world, self.state = system, world, state
        self.rules = known_rules(system.rules)

    def value(self, function: Any, names: dict[str, Value]) -> tuple[Value, Formula]:
        """Return what a function gives for values by role, and where it raises."""
        function = plain(function)
        given = self._roles(function, names)
        translator = Translator(self.world)
        value = translator.invoked(function, given, {}, _outside(function))
        return value, any_of(translator.errors.found)

    def _roles(self, function: Any, names: dict[str, Value]) -> list[Value]:
        """The values that a function takes: those that it has no default for, the last of the roles."""
        takes = parameters(source_of(function).function)
        values = list(names.values())
        if len(takes) > len(values):
            raise refuse(f"{function.__name__} takes {', '.join(takes)}", f"let it take {', '.join(names)}")
        return values[len(values) - len(takes) :]

    def starts(self) -> tuple[tuple[Start, ...], Formula]:
        self.world.choosing = True
        value, raises = self.value(self.system.initial, {"config": self.world.config})
        found = tuple(
            Start(one.variables, one.guard, self._a_state(one.value, "an initial state"))
            for one in as_group(value).items()
            if one.guard != FALSE
        )
        self.world.choosing = False
        return found, raises

    def _a_state(self, value: Value, what: str) -> Record:
        if not isinstance(value, Record) or value.cls is not self.state.cls:
            raise refuse(f"{what} is {named(value)}", f"let it be a {self.state.cls.__name__}")
        return value

    def moves(self) -> tuple[tuple[Move, ...], Formula]:
        own = getattr(self.system.actions, "__plain__", None) is not None
        names = {"config": self.world.config, "state": self.state}
        if not own:
            names = {"config": self.world.config, "scope": known("scope"), "state": self.state}
        value, raises = self.value(self.system.actions, names)
        found = [move for one in as_group(value).items() if one.guard != FALSE for move in self._moves(one)]
        return tuple(found), raises

    def _moves(self, one: Item) -> Iterator[Move]:
        """The step of each kind of action; an action that is one of several is taken apart first."""
        for guard, action in alternatives(one.value):
            whole = all_of((one.guard, guard))
            if whole == FALSE:
                continue
            step = self.system.step
            own = getattr(step, "__plain__", None) is not None
            names = {"config": self.world.config, "state": self.state, "action": action}
            if not own:
                names = {"rules": self.rules, **names}
            value, raises = self.value(step, names)
            pair = not own or bool(getattr(step, "__shows__", False))
            after, shown = self._pair(value) if pair else (value, known(None))
            yield Move(
                _title(action), one.variables, whole, action, self._a_state(after, "a step gives"), shown, raises
            )

    def _pair(self, value: Value) -> tuple[Value, Value]:
        if not isinstance(value, Fixed) or len(value.parts) != 2:
            raise refuse(f"a step gives {named(value)}", "return (state, shown)")
        return value.parts[0], value.parts[1]

    def stated(self, claim: Property, family: Family) -> Stated:
        """Return a claim as a formula.  Raises Unreadable for one that cannot be read, or is of another kind."""
        if claim.name == NAME and self.system.may_end is not None:
            return self._ending(claim, family)
        match claim:
            case Always():
                return self._of_states(claim)
            case EachStep():
                return self._of_steps(claim, family.moves)
            case _:
                kind = claim.kind
                raise refuse(f"a claim of kind {kind}", "only `always` and `each_step` are proved for any number")

    def _of_states(self, claim: Always) -> Stated:
        def of_state(state: Value) -> tuple[Formula, Formula]:
            names = {"config": self.world.config, "state": state}
            return self._implied(claim.when, claim.check, names, every_state)

        of_state(self.state)  # raises here what it does not read
        return Stated(claim, of_state=of_state)

    def _of_steps(self, claim: EachStep, moves: Iterable[Move]) -> Stated:
        def of_step(state: Value, move: Move) -> tuple[Formula, Formula]:
            fields: dict[str, Value] = {
                "config": self.world.config,
                "before": state,
                "action": move.action,
                "shown": move.shown,
                "after": move.after,
            }
            return self._implied(claim.when, claim.check, {"step": Record(_Step, fields)}, every_step)

        for move in moves:
            of_step(self.state, move)  # raises here what it does not read
        return Stated(claim, of_step=of_step)

    def _implied(self, when: Any, check: Any, names: dict[str, Value], always: Any) -> tuple[Formula, Formula]:
        found, raises = self.value(check, names)
        if not when_given(when, always):
            return truth(found), raises
        asked, unasked = self.value(when, names)
        test = truth(asked)
        return implication(test, truth(found)), any_of((unasked, all_of((test, raises))))

    def _ending(self, claim: Property, family: Family) -> Stated:
        """The claim that a run ends only where it may: elsewhere some action is on offer."""
        offered = any_of(some(move.variables, move.guard) for move in family.moves)
        may_end = self.system.may_end
        known_end = may_end is not None and getattr(may_end, "__name__", "") == "nowhere"
        if not known_end:
            raise refuse("a function that says where runs may end", "say `ends=False`, or claim it by `always`")

        return Stated(claim, here=offered)


@dataclass(frozen=True)
class _Step:
    """The fields of a step, for claims about steps."""

    config: Any
    before: Any
    action: Any
    shown: Any
    after: Any


def when_given(when: Any, always: Any) -> bool:
    """Return whether a claim has an antecedent of its own."""
    return plain(when) is not always


def known_rules(rules: Any) -> Value:
    """Return the rules of a system as a value: functions and numbers that are known."""
    return known(rules)


def alternatives(value: Value) -> Iterator[tuple[Formula, Value]]:
    """Yield a value once for each combination of its known parts (texts, members of an Enum), with its condition."""
    match value:
        case Cases(parts):
            consts = [(guard, one) for guard, one in parts if isinstance(one, Const)]
            others = [(guard, one) for guard, one in parts if not isinstance(one, Const)]
            yield from ((guard, Cases(((TRUE, one),))) for guard, one in consts)
            if others:
                yield any_of(guard for guard, _ in others), value if not consts else Cases(tuple(others))
        case Fixed(parts):
            for guard, found in _each(list(parts)):
                yield guard, Fixed(tuple(found))
        case Record(cls, fields):
            for guard, found in _each(list(fields.values())):
                yield guard, Record(cls, dict(zip(fields, found, strict=True)))
        case _:
            yield TRUE, value


def _each(values: list[Value]) -> Iterator[tuple[Formula, list[Value]]]:
    if not values:
        yield TRUE, []
        return
    for guard, first in alternatives(values[0]):
        for other, rest in _each(values[1:]):
            yield all_of((guard, other)), [first, *rest]


def _title(action: Value) -> str:
    """The known parts of an action, as its name."""
    words: list[str] = []

    def collect(value: Value) -> None:
        match value:
            case Cases(((_, Const(one)),)):
                words.append(str(getattr(one, "name", one)))
            case Fixed(parts):
                for part in parts:
                    collect(part)
            case Record(cls, fields):
                words.append(cls.__name__)
                for part in fields.values():
                    collect(part)
            case _:
                pass

    collect(action)
    return " ".join(words) or "action"


def _outside(function: Any) -> Frame:
    return Frame(source_of(function), {})
