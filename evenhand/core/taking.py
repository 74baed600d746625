"""Take the steps of variants; run a mutant only where a rule that it changes answers differently.

A step is a pure function of rules, configuration, state and action.  The reference's step is run once and its calls of
rules are kept.  A mutant's step can differ only if a kept call of a changed rule has another answer; only then it is
run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

from evenhand.core.alike import alike
from evenhand.core.answers import caught
from evenhand.core.system import AnyStep, AnySystem, Step

_CHANGEABLE = (list, dict, set, bytearray)
"""Arguments that a step may change after a call, so that the call cannot be repeated."""


class Recorded:
    """A step of the reference with its calls of rules; `repeatable` is False where a call cannot be repeated."""

    __slots__ = ("_calls", "_recording", "_rules", "repeatable", "step")

    def __init__(self, system: AnySystem, config: Any, state: Any, action: Any) -> None:
        self._rules, self._recording = system.rules, True
        self._calls: dict[str, list[tuple[tuple[Any, ...], dict[str, Any], Any]]] = {}
        self.repeatable = is_dataclass(system.rules)
        if self.repeatable:
            # Rules of its own for each step: what the model caches by its rules is not shared with another step.
            heard = {name: partial(self._called, name) for name in _names(system.rules)}
            try:
                made = system.step(replace(system.rules, **heard), config, state, action)
                after, shown = system.pair_of(made, state, action)
                self.step: AnyStep = Step(config, state, action, shown, after)
            except caught():
                self.repeatable = False
        if not self.repeatable:
            self.step = system.take(config, state, action)
        self._recording = False

    def _called(self, name: str, *arguments: Any, **named: Any) -> Any:
        answer: Any = getattr(self._rules, name)(*arguments, **named)
        if self._recording:
            values = (*arguments, *named.values())
            used_up = any(hasattr(one, "__next__") for one in (answer, *values))
            if used_up or any(isinstance(one, _CHANGEABLE) for one in values):
                self.repeatable = False
            self._calls.setdefault(name, []).append((arguments, named, answer))
        return answer

    def same_under(self, rules: Any, changed: Collection[str]) -> bool:
        """Return whether every kept call of the `changed` rules has the same answer under `rules`."""
        if not self.repeatable:
            return False
        before, self._rules = self._rules, rules  # rules that are arguments, or called by these, are the mutant's too
        try:
            for name in changed:
                for arguments, named, answer in self._calls.get(name, ()):
                    again = getattr(rules, name)(*arguments, **named)
                    if again is not answer and (again != answer or not alike(again, answer)):
                        return False
        except caught():
            return False
        finally:
            self._rules = before
        return True


def _names(rules: Any) -> list[str]:
    return [one.name for one in fields(rules) if callable(getattr(rules, one.name))]


def changed_rules(reference: Any, rules: Any) -> tuple[str, ...] | None:
    """Return the rules in which two records of rules differ; None if they differ in more than functions."""
    if type(rules) is not type(reference) or not is_dataclass(rules) or isinstance(rules, type):
        return None
    apart = [one.name for one in fields(rules) if getattr(rules, one.name) is not getattr(reference, one.name)]
    return tuple(apart) if all(callable(getattr(reference, name)) for name in apart) else None


class Taker:
    """The recorded steps of a reference and the steps of its variants, by the identity of their situations."""

    def __init__(self, reference: AnySystem) -> None:
        self.reference = reference
        self._runs: dict[tuple[int, int, int], Recorded] = {}
        self._taken: dict[tuple[int, int, int, int], tuple[Any, AnyStep]] = {}

    def recorded(self, config: Any, state: Any, action: Any) -> Recorded:
        """Return the reference's step in a situation."""
        place = id(config), id(state), id(action)
        found = self._runs.get(place)
        if found is None:  # its step keeps the three, so that their ids are not reused
            found = self._runs[place] = Recorded(self.reference, config, state, action)
        return found

    def same_run(self, rules: Any, changed: Collection[str], config: Any, state: Any, actions: Iterable[Any]) -> bool:
        """Return whether the steps of these actions, one after the other, are known to be the same under `rules`."""
        for action in actions:
            own = self.recorded(config, state, action)
            if not own.same_under(rules, changed):
                return False
            state = own.step.after
        return True

    def taken(
        self, variant: AnySystem, changed: Collection[str] | None, config: Any, state: Any, action: Any
    ) -> AnyStep:
        """Return a variant's step; it is the reference's own object where the two are known to be equal."""
        place = id(variant.rules), id(config), id(state), id(action)
        known = self._taken.get(place)
        if known is None:  # rules are kept, and the recorded run keeps the situation: no id is reused
            known = self._taken[place] = variant.rules, self._step(variant, changed, config, state, action)
        return known[1]

    def _step(
        self, variant: AnySystem, changed: Collection[str] | None, config: Any, state: Any, action: Any
    ) -> AnyStep:
        own = self.recorded(config, state, action)
        if changed is not None and own.same_under(variant.rules, changed):
            return own.step
        step = variant.take(config, state, action)
        return own.step if step.shown == own.step.shown and step.after == own.step.after else step
