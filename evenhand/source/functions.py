"""Read a system's own functions: where it starts, what is on offer, and what each step gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.smt.logic import FALSE, TRUE, Formula, Var
from evenhand.source.constants import known
from evenhand.source.frames import Closure, Frame
from evenhand.source.reading import parameters, plain, source_of
from evenhand.source.refusal import refuse
from evenhand.source.simplify import all_of, any_of
from evenhand.source.statements import Translator
from evenhand.source.values import Cases, Const, Fixed, Item, Record, Value, Whole, as_group, named, wholes
from evenhand.source.world import World


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
class _Step:
    """The fields of a step, for claims about steps."""

    config: Any
    before: Any
    action: Any
    shown: Any
    after: Any


class Functions:
    """Reads the functions of one system, of which `state` is the state that they are asked about."""

    def __init__(self, system: AnySystem, world: World, state: Record) -> None:
        self.system, self.world, self.state = system, world, state
        self.rules = known_rules(system.rules)

    def value(self, function: Any, names: dict[str, Value]) -> tuple[Value, Formula]:
        """Return what a function gives for values by role, and where it raises."""
        function = plain(function)
        translator = Translator(self.world)
        if isinstance(function, Closure):  # of a fairness assumption of each agent: it takes all of them
            value = translator.invoked(function, list(names.values()), {}, function.frame)
        else:
            value = translator.invoked(function, self._roles(function, names), {}, Frame(source_of(function), {}))
        return value, any_of(translator.errors.found)

    def _roles(self, function: Any, names: dict[str, Value]) -> list[Value]:
        """The values that a function takes: those that it has no default for, the last of the roles."""
        takes = parameters(source_of(function).function)
        values = list(names.values())
        if len(takes) > len(values):
            raise refuse(f"{function.__name__} takes {', '.join(takes)}", f"let it take {', '.join(names)}")
        return values[len(values) - len(takes) :]

    def starts(self) -> tuple[tuple[Start, ...], Formula]:
        """Return the initial states, and where `initial` raises."""
        self.world.choosing = True
        value, raises = self.value(self.system.initial, {"config": self.world.config})
        found = tuple(
            Start(one.variables, one.guard, self.a_state(one.value, "an initial state"))
            for one in as_group(value).items()
            if one.guard != FALSE
        )
        self.world.choosing = False
        return found, raises

    def a_state(self, value: Value, what: str) -> Record:
        """Return a value that must be a state.  Raises Unreadable for another."""
        if not isinstance(value, Record) or value.cls is not self.state.cls:
            raise refuse(f"{what} is {named(value)}", f"let it be a {self.state.cls.__name__}")
        return value

    def moves(self) -> tuple[tuple[Move, ...], Formula]:
        """Return the actions on offer with their steps, and where `actions` raises."""
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
            after, shown, raises = self.taken(self.state, action)
            yield Move(_title(action), one.variables, whole, action, after, shown, raises)

    def taken(self, state: Value, action: Value) -> tuple[Record, Value, Formula]:
        """Return the state after an action, what it shows, and where it raises."""
        step = self.system.step
        own = getattr(step, "__plain__", None) is not None
        names = {"config": self.world.config, "state": state, "action": action}
        if not own:
            names = {"rules": self.rules, **names}
        value, raises = self.value(step, names)
        pair = not own or bool(getattr(step, "__shows__", False))
        after, shown = self._pair(value) if pair else (value, known(None))
        return self.a_state(after, "a step gives"), shown, raises

    def step_of(self, state: Value, move: Move) -> Record:
        """Return the step of a move as a value."""
        return self.record_of(state, move.action, move.shown, move.after)

    def record_of(self, state: Value, action: Value, shown: Value, after: Value) -> Record:
        """Return a step as a value."""
        fields = {"config": self.world.config, "before": state, "action": action, "shown": shown, "after": after}
        return Record(_Step, fields)

    def _pair(self, value: Value) -> tuple[Value, Value]:
        if not isinstance(value, Fixed) or len(value.parts) != 2:
            raise refuse(f"a step gives {named(value)}", "return (state, shown)")
        return value.parts[0], value.parts[1]


def known_rules(rules: Any) -> Value:
    """Return the rules of a system as a value: functions and numbers that are known."""
    return known(rules)


def alternatives(value: Value) -> Iterator[tuple[Formula, Value]]:
    """Yield a value once for each combination of its known parts (texts, members of an Enum), with its condition."""
    match value:
        case Cases(parts):
            consts = [(guard, one) for guard, one in parts if isinstance(one, Const)]
            others = [(guard, one) for guard, one in parts if not isinstance(one, Const | Whole)]
            yield from ((guard, Cases(((TRUE, one),))) for guard, one in consts)
            for guard, whole in wholes(value):
                yield from ((all_of((guard, inner)), one) for inner, one in alternatives(whole))
            if others:
                yield any_of(guard for guard, _ in others), value if len(others) == len(parts) else Cases(tuple(others))
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
