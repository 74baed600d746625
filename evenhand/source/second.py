"""Read claims about a run and a second one that is computed from it: both steps as formulas of the first state.

The second run needs no symbols of its own: its state is a function of the first one's, and its step is the system's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evenhand.core.relations import TwoRun
from evenhand.smt.logic import FALSE, Formula
from evenhand.source.constants import known
from evenhand.source.functions import Functions, Move, Start, alternatives
from evenhand.source.refusal import refuse
from evenhand.source.simplify import all_of, any_of, every, implication, negation, some
from evenhand.source.values import Group, Item, Record, Value, as_group, equals, truth


class Second:
    """Reads one claim of this kind."""

    def __init__(self, functions: Functions, claim: TwoRun) -> None:
        self.functions, self.claim = functions, claim

    def agrees(self, state: Value, move: Move) -> tuple[Formula, Formula]:
        """Return that a step agrees with each of its twins, and where a function raises.  Raises Unreadable."""
        parts: list[Formula] = []
        raises: list[Formula] = []
        twins, raised = self._twins(state, move)
        raises.append(raised)
        step = self.functions.step_of(state, move)
        for one in twins:
            begun = self._begun(one.value, state, raises, one)
            others = list(as_group(self._asked(self.claim.other, [one.value, move.action], raises, one)).items())
            if any(other.variables for other in others):
                raise refuse("a second run of any number of actions", "let `other` give one action, or none")
            for place, other in enumerate(others):
                guard = all_of((one.guard, other.guard))
                raises += [_some(one, all_of((guard, more.guard))) for more in others[place + 1 :]]
                for case, action in alternatives(other.value):
                    after, shown, wrong = self.functions.taken(begun, action)
                    taken = self.functions.record_of(begun, action, shown, after)
                    where = all_of((guard, case))
                    said = self._asked(self.claim.agree, [one.value, step, taken], raises, one)
                    parts.append(every(one.variables, implication(where, truth(said))))
                    raises.append(_some(one, all_of((where, wrong))))
            purged = all_of((one.guard, *(negation(other.guard) for other in others)))
            if purged != FALSE:
                said = self._asked(self.claim.agree, [one.value, step, known(None)], raises, one)
                parts.append(every(one.variables, implication(purged, truth(said))))
        return all_of(parts), any_of(raises)

    def starts(self, starts: Sequence[Start], moves: Iterable[Move], chosen: Sequence[Any]) -> Formula:
        """Return that the twin of a state is initial, for each twin of a step from it.  Raises Unreadable."""
        if chosen:
            raise refuse("initial states that choose an order, with twins", "say `starts=False`, or list the states")
        parts: list[Formula] = []
        state = self.functions.state
        for move in moves:
            raises: list[Formula] = []
            for one in self._twins(state, move)[0]:
                begun = self._begun(one.value, state, raises, one)
                initial = any_of(
                    some(start.variables, all_of((start.guard, equals(begun, start.state)))) for start in starts
                )
                parts.append(
                    every((*move.variables, *one.variables), implication(all_of((move.guard, one.guard)), initial))
                )
        return all_of(parts)

    def _twins(self, state: Value, move: Move) -> tuple[list[Item], Formula]:
        names = {"config": self.functions.world.config, "state": state, "action": move.action}
        value, raises = self.functions.value(self.claim.twins, names)
        return list(as_group(value).items()), raises

    def _begun(self, way: Value, state: Value, raises: list[Formula], one: Item) -> Record:
        """The state of the second run, which must be in the same configuration."""
        config = self.functions.world.config
        found = self._asked(self.claim.config, [way, config], raises, one)
        if not _same_config(found, config):
            raise refuse("a second run in another configuration", "let `config` return the configuration it is given")
        begun = self._asked(self.claim.state, [way, config, state], raises, one)
        return self.functions.a_state(begun, "the second run begins in")

    def _asked(self, function: Any, given: Sequence[Value], raises: list[Formula], one: Item) -> Value:
        names = {str(place): value for place, value in enumerate(given)}
        value, raised = self.functions.value(function, names)
        raises.append(_some(one, all_of((one.guard, raised))))
        return value


def _some(one: Item, formula: Formula) -> Formula:
    return some(one.variables, formula)


def _same_config(found: Value, config: Value) -> bool:
    if not isinstance(found, Record) or not isinstance(config, Record) or found.cls is not config.cls:
        return False
    pairs = [(found.fields[name], config.fields[name]) for name in config.fields]
    return all(
        isinstance(one, Group) and isinstance(other, Group) and one.kind == "agents" and one.sort == other.sort
        for one, other in pairs
    )
