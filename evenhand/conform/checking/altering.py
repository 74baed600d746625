"""Alter runs of the model: hostile values wherever a type takes them, actions again and elsewhere, other names.

An action's value is exchanged for another that its type allows: a text for one that is spelled otherwise, forged, or
odd to some language; a number for one around a limit of the configuration; a list for a shorter or longer one; a part
for that of another action.  The rest of the run follows.  A run in which the model shows something new, after what it
showed before, is altered further.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import is_dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import islice
from typing import Any, TypeVar, cast

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.spelling import (
    ATOMS,
    CONFUSED,
    ODD,
    VALUES,
    Place,
    Words,
    atoms_of,
    exchanged,
    items_of,
    limited,
    numberless,
    places,
    renamed,
    rewritten,
    spellings,
)
from evenhand.core.atoms import Atom
from evenhand.core.codec import decode, encode, fits
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyScenario, AnyTrace

T = TypeVar("T")

STACKED = 3
"""Alterations of one run at most."""

TIMES = 4
"""Altered runs that are tried for each one that shows something new or is sent nevertheless, at most 1 in `TIMES`."""

MOST_ACTIONS = 48
"""Actions of an altered run at most."""

VALUED = 10
"""One in so many altered runs has two other values throughout, if no hostile ones are asked for."""

OFFERED = 2_000
"""Actions on offer, the first ones, among which one is looked for that differs in numbers alone."""


class Altering:
    """Alters runs of one system; equal seed and runs give equal alterations.

    If not `hostile`, actions are only repeated, moved, and given parts of others, and left out where the protocol does
    not offer them.  Values are exchanged only where the model shows the same of the others.
    """

    def __init__(self, coder: Coder, bases: Sequence[AnyTrace], seed: int = 0, *, hostile: bool = True) -> None:
        self.coder, self.system, self.bases = coder, coder.system, [one for one in bases if one.steps]
        self.random, self.hostile = random.Random(seed), hostile
        offered = [self._again, self._moved]
        milder = [*offered, *[self._crossed] * 2, self._without]
        self.alterations = [*[self._value] * 3, *offered, self._named] if hostile else milder
        self.novel: list[AnyTrace] = []
        self._known = set[int]()
        self._taken: dict[Any, list[Any]] = {}
        self._words: dict[Any, Words] = {}
        for base in self.bases:
            self._is_new(base)
            for action in dict.fromkeys(base.scenario.actions):
                self._taken.setdefault(_sort(base.scenario.config, action), []).append(action)

    def runs(self, count: int) -> Iterator[AnyTrace]:
        """Yield at most `count` altered runs."""
        made_before = set[AnyScenario]()
        for tried in range(TIMES * TIMES * count if self.bases else 0):
            made = self.altered(self.random.choice(self.novel if self.novel and tried % 2 else self.bases))
            if made is None or made.scenario in made_before:
                continue
            made_before.add(made.scenario)
            new = self._is_new(made)
            if new:
                self.novel.append(made)
            if new or not self.random.randrange(TIMES):
                yield made
                count -= 1
                if not count:
                    return

    def altered(self, base: AnyTrace) -> AnyTrace | None:
        """Return a run with one to `STACKED` alterations; None if that is no other run, or none of this model."""
        scenario = base.scenario
        for _ in range(self.random.randint(1, STACKED)):
            alter = self.random.choice(self.alterations)
            scenario = (alter(scenario) if scenario.actions else None) or scenario
        if scenario == base.scenario or len(scenario.actions) > MOST_ACTIONS or not scenario.actions:
            return None
        try:
            if not self.hostile:
                scenario = self._valued(base) if not self.random.randrange(VALUED) else self._offered(scenario)
            made = self.coder.trace(scenario)
            usual = scenario == base.scenario or not scenario.actions
            return made if not usual and all(are_asked(self.system, step) for step in made.steps) else None
        except Exception:  # the model has no step for this, so nothing is to be expected of a kernel
            return None

    def _offered(self, scenario: AnyScenario) -> AnyScenario:
        """The run without what is not on offer where it is taken, unless the source lets the run be over there.

        An action on offer that differs from it in whole numbers alone, such as the ids of a run, takes its place.
        """
        config, state = scenario.config, scenario.start
        kept: list[Any] = []
        for action in scenario.actions:
            taken: Any = action
            if not self.system.has_answer(config, state, action):
                offered = () if self.system.joint else islice(self.system.enabled(config, state), OFFERED)
                like = numberless(action)
                near = [one for one in offered if type(one) is type(action) and numberless(one) == like]
                if not near:
                    continue
                taken = self.random.choice(near)
            kept.append(taken)
            state = self.system.take(config, state, taken).after
        return replace(scenario, actions=tuple(kept))

    def _is_new(self, trace: AnyTrace) -> bool:
        """Whether the model shows here, after what it showed before, something new but for names and numbers."""
        words = self._word(trace.scenario.config)
        new, before = False, ""
        for step in trace.steps:
            shown = words.without(self.coder.shown(step).decode())
            key = hash((before, type(step.action).__name__, shown))
            new = new or key not in self._known
            self._known.add(key)
            before = shown
        return new

    def _word(self, config: Any) -> Words:
        if config not in self._words:
            self._words[config] = Words(config, self.system.readings)
        return self._words[config]

    # alterations of a scenario; None if there is nothing to alter

    def _value(self, scenario: AnyScenario) -> AnyScenario | None:
        """Another value in one action."""
        at = self.random.randrange(len(scenario.actions))
        action = scenario.actions[at]
        place = self.random.choice(list(places(action, type(action), lambda new: new)))
        try:
            value = self._another(place, scenario)
        except LookupError:
            return None
        return self._with(scenario, at, place, value)

    def _crossed(self, scenario: AnyScenario) -> AnyScenario | None:
        """A part of one action in another of its class, or lists of both together: two conditions meet.

        Half of the parts come from the same run: what held there once need not hold any more.  Half of the actions are
        done as they were, too: what was there before may count again.
        """
        at = self.random.randrange(len(scenario.actions))
        action = scenario.actions[at]
        here = [one for one in scenario.actions if type(one) is type(action) and one != action]
        taken = here if here and self.random.randrange(2) else self._taken.get(_sort(scenario.config, action))
        other = self.random.choice(taken or [action])
        place = self.random.choice(_parts(action))
        values = [one.value for one in _parts(other) if one.path == place.path] or [place.value]
        value = self.random.choice(values)
        if type(value) is type(place.value) and not self.random.randrange(2):
            value = self.random.choice(_together(place.value, value))
        if self.random.randrange(2):
            scenario = replace(scenario, actions=(*scenario.actions[:at], action, *scenario.actions[at:]))
            at += 1
        return self._with(scenario, at, place, value)

    def _without(self, scenario: AnyScenario) -> AnyScenario | None:
        """An action without a part that may be absent."""
        optional = [
            (at, place)
            for at, action in enumerate(scenario.actions)
            for place in _parts(action)
            if place.value is not None and place.hint is not Any and fits(None, place.hint)
        ]
        return self._with(scenario, *self.random.choice(optional), None) if optional else None

    def _with(self, scenario: AnyScenario, at: int, place: Place, value: Any) -> AnyScenario | None:
        """The scenario with another value at a place of an action; None if its class refuses it."""
        action = scenario.actions[at]
        try:
            made = place.put(value)
            if decode(encode(made), *self.system.types) != made or type(made) is not type(action):
                return None
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return None
        return replace(scenario, actions=(*scenario.actions[:at], made, *scenario.actions[at + 1 :]))

    def _another(self, place: Place, scenario: AnyScenario) -> Any:
        """Another value for a place.  Raises LookupError if its type allows none."""
        value, words = place.value, self._word(scenario.config)
        kinds: list[list[Any]] = [[*VALUES], [*ATOMS] if isinstance(value, Atom) else []]
        if isinstance(value, str):
            kinds += [words.texts, list(spellings(value)), list(limited(words))]
        elif isinstance(value, Enum):
            kinds.append(list(type(value)))
        elif isinstance(value, int | Fraction) and not isinstance(value, bool):
            near = (value + 1, value - 1, 2 * value, -value, Fraction(value) / 2)
            limits = (number + more for number in words.numbers for more in (-1, 0, 1))
            kinds += [[_shortest(one, place.hint) for one in some] for some in (near, limits)]
        elif isinstance(value, tuple | frozenset):
            kinds.append(list(self._lists(value, words)))
        kinds = [[one for one in kind if fits(one, place.hint) and not _same(one, value)] for kind in kinds]
        fitting = [kind for kind in kinds if kind]
        if not fitting:
            raise LookupError
        return self.random.choice(self.random.choice(fitting))

    def _lists(self, value: Any, words: Words) -> Iterator[Any]:
        """Yield a tuple or set with an entry less, twice or more, and reversed."""
        items = items_of(value)
        kind: Callable[[Iterable[Any]], Any] = frozenset if isinstance(value, frozenset) else tuple
        yield kind(())
        for at in range(min(len(items), STACKED)):
            yield kind((*items[:at], *items[at + 1 :]))
            yield kind((*items, items[at]))
        yield kind(items[::-1])
        more = self.random.choice((*words.texts, *ODD) if not items or isinstance(items[0], str) else VALUES)
        yield kind((*items, more))

    def _again(self, scenario: AnyScenario) -> AnyScenario | None:
        """An action again: at once, more often than a limit allows, or later; or some in their order, or all.

        What a kernel should have forgotten in between shows where the same comes again.
        """
        actions, pick = scenario.actions, self.random
        at = pick.randrange(len(actions))
        limits = [int(one) for one in self._word(scenario.config).numbers if 0 < one <= MOST_ACTIONS // 4]
        times, end = pick.choice((1, 2, *limits)), at + 1
        if pick.randrange(2):
            at, end = pick.choice(((0, len(actions)), (at, pick.randint(at + 1, len(actions)))))
            times = 1
        later = pick.choice((end, pick.randint(end, len(actions))))
        return replace(scenario, actions=(*actions[:later], *actions[at:end] * times, *actions[later:]))

    def _moved(self, scenario: AnyScenario) -> AnyScenario | None:
        """Without an action, with one elsewhere, or with one of another run of the same configuration."""
        actions, pick = list(scenario.actions), self.random
        action = actions.pop(pick.randrange(len(actions)))
        what = pick.randrange(3)
        if what == 1:
            actions.insert(pick.randint(0, len(actions)), action)
        elif what == 2:
            others = [one for one in pick.choices(self.bases, k=8) if one.scenario.config == scenario.config]
            rest = [action] if not others else list(pick.choice(others).scenario.actions)
            where = pick.randrange(len(rest))
            actions += rest[where:] if pick.randrange(2) else [rest[where]]
        return replace(scenario, actions=tuple(actions))

    def _named(self, scenario: AnyScenario) -> AnyScenario | None:
        """Another name throughout for something that configuration and actions name."""
        said = json.dumps([encode(action) for action in scenario.actions])
        named = [one for one in self._word(scenario.config).texts if f'"{one}"' in said]
        if not named:
            return None
        old, other = self._two(named)
        new = self.random.choice([one for one in (*ODD[1:], *spellings(other)) if one])
        return rewritten(self.system, scenario, lambda one: renamed(one, old, new))

    def _two(self, named: Sequence[str]) -> tuple[str, str]:
        """A name and, if there is one, another."""
        old = self.random.choice(named)
        return old, self.random.choice([one for one in named if one != old] or named)

    def _valued(self, base: AnyTrace) -> AnyScenario:
        """A run with two values that some language takes for equal in place of two; the same if the model differs."""
        held = atoms_of(encode(base.scenario.config))
        found = atoms_of([*held, *map(encode, base.scenario.actions)])
        if not held or len(found) < 2:
            return base.scenario
        old, new = self.random.sample(found, 2), self.random.choice(CONFUSED)
        made = rewritten(self.system, base.scenario, lambda one: exchanged(one, old, new))
        if made is None:
            return base.scenario
        here = [exchanged(encode(step.shown), old, new) for step in base.steps]
        return made if here == [encode(step.shown) for step in self.coder.trace(made).steps] else base.scenario


def are_asked(system: AnySystem, step: AnyStep) -> bool:
    """Return whether those choose in a joint action whom the protocol asks; who that is, is no agent's choice.

    Nor are kernels asked what no section tells.
    """
    if system.is_unsaid(step.config, step.before, step.action):
        return False
    joint = system.joint
    if joint is None:
        return True
    return tuple(agent for agent, _ in joint.split(step.action)) == tuple(joint.agents(step.config, step.before))


def _sort(config: Any, action: Any) -> Any:
    """What two actions share that may exchange parts."""
    return config, action.__class__


def _parts(action: Any) -> list[Place]:
    """Its fields and records; not the entries of plain tuples, which may be keys of an object."""
    found = places(action, type(action), lambda new: new)
    return [one for one in found if one.hint is not Any or is_dataclass(one.value)]


def _together(one: Any, other: Any) -> tuple[Any, ...]:
    """Two lists in one, in either order, and without what both have, or two sets; other values are no lists."""
    if isinstance(one, frozenset):
        return (cast("frozenset[Any]", one) | other,)
    if not isinstance(one, tuple):
        return (other,)
    first = cast("tuple[Any, ...]", one)
    return first + other, other + first, first + tuple(item for item in other if item not in first)


def _shortest(number: int | Fraction, hint: Any) -> int | Fraction:
    """A whole number as such, if the annotation allows it."""
    return int(number) if number.denominator == 1 and fits(int(number), hint) else number


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other
