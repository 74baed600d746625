"""Mutants made automatically from a protocol's own functions, so that the faults are not hand-picked.

The reference runs for a while with its rules watched; every rule then yields faults that fit its arguments and results:
a truth value negated, a result frozen, an argument ignored, a tuple reversed, cut short or emptied, a count off by one;
and faults in its source (`rewriting`): a guard dropped or negated, ALL for ANY.  A mutant is named by system, rule and
operator, so that any process can make it again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import wraps
from itertools import islice
from typing import Any, cast

from evenhand.core.bundle import Bundle
from evenhand.core.system import AnySystem, UnknownName
from evenhand.variants.rewriting import rewritings, rewritten

Function = Callable[..., Any]
Operator = Callable[[Function], Function]

PREFIX = "auto:"
"""The prefix of the variant name of an automatic mutant."""

MENU = 400
CONFIGS, STATES, ACTIONS = 40, 12, 50
"""How many of the first `MENU` configurations, of the states of each, and of the actions in each are watched."""


@dataclass
class Watched:
    """The observed calls of one rule: its distinct results, and each argument's distinct values."""

    results: list[Any] = field(default_factory=list[Any])
    arguments: list[list[Any]] = field(default_factory=list[list[Any]])

    def saw(self, arguments: tuple[Any, ...], result: Any) -> None:
        """Record a call; only the first few distinct values are kept."""
        _add(self.results, result)
        for place, argument in enumerate(arguments):
            if place == len(self.arguments):
                self.arguments.append([])
            _add(self.arguments[place], argument)


def _add(known: list[Any], value: Any) -> None:
    if len(known) < 8 and value not in known:
        known.append(value)


def watched(system: AnySystem) -> Mapping[str, Watched]:
    """Return every rule of a system by name, with its calls on a short walk from the initial states."""
    if not is_dataclass(system.rules):
        return {}
    seen: dict[str, Watched] = {}
    rules: dict[str, Function] = {}
    for entry in fields(system.rules):
        function = getattr(system.rules, entry.name)
        if callable(function):
            seen[entry.name] = Watched()
            rules[entry.name] = _watching(function, seen[entry.name])
    under_watch = replace(system, rules=replace(cast("Any", system.rules), **rules), separated=None)
    for config in _spread(system.all_configs(), CONFIGS):
        _walk(under_watch, config)
    return seen


def _spread(values: Iterable[Any], count: int) -> list[Any]:
    """At most `count` of the first `MENU` values, spread evenly."""
    listed = list(islice(values, MENU))
    return listed[:: -(-len(listed) // count) or 1]


def _watching(function: Function, seen: Watched) -> Function:
    @wraps(function)
    def called(*arguments: Any) -> Any:
        result = function(*arguments)
        seen.saw(arguments, result)
        return result

    return called


def _walk(system: AnySystem, config: Any) -> None:
    states = list(dict.fromkeys(system.initial(config)))[:STATES]
    for state in states:
        for action in _spread(system.enabled(config, state), ACTIONS):
            after = system.take(config, state, action).after
            if len(states) < STATES and after not in states:
                states.append(after)


def faults(seen: Watched) -> Iterator[tuple[str, Operator]]:
    """Yield the operators that fit a rule's arguments and results: name, and function from rule to faulty rule."""
    results = seen.results
    if results and all(isinstance(result, bool) for result in results):
        yield "negated", _then(lambda result: not result)
    elif results and all(isinstance(result, int) for result in results):
        yield "plus_one", _then(lambda result: result + 1)
        yield "minus_one", _then(lambda result: result - 1)
    if len(results) > 1:
        for number, result in enumerate(results[:2], start=1):
            yield f"frozen_{number}", _frozen(result)
    if any(type(result) is tuple and result for result in results):
        yield "emptied", _then(lambda result: result[:0])
    if any(type(result) is tuple and len(result) > 1 for result in results):
        yield "first_only", _then(lambda result: result[:1])
        yield "reversed", _then(lambda result: result[::-1])
    for place, values in enumerate(seen.arguments):
        if len(values) > 1 and not any(callable(value) for value in values):
            yield f"ignoring_{place + 1}", _ignoring(place, values[0])


def _then(change: Callable[[Any], Any]) -> Operator:
    return lambda rule: lambda *arguments: change(rule(*arguments))


def _frozen(result: Any) -> Operator:
    return lambda _rule: lambda *_arguments: result


def _ignoring(place: int, value: Any) -> Operator:
    return lambda rule: lambda *arguments: rule(*arguments[:place], value, *arguments[place + 1 :])


def automatic_names(bundle: Bundle, count: int, seed: int) -> tuple[tuple[str, str], ...]:
    """Return up to `count` automatic mutants, as pairs of system and variant name, drawn by `seed` from all."""
    if count < 1:
        return ()
    every = [
        (name, f"{PREFIX}{rule}:{fault}")
        for name, system in bundle.model.systems.items()
        for rule, seen in watched(system).items()
        for fault in (*(name for name, _ in faults(seen)), *rewritings(getattr(system.rules, rule)))
    ]
    return tuple(sorted(random.Random(seed).sample(every, min(count, len(every)))))


def mutated(system: AnySystem, variant: str) -> AnySystem:
    """Return the system with the fault that `variant` names.  Raises UnknownName for a rule or operator it lacks."""
    rule, _, fault = variant.removeprefix(PREFIX).partition(":")
    seen = watched(system)
    if rule not in seen:
        raise UnknownName("rule", rule, seen)
    known, original = dict(faults(seen[rule])), getattr(system.rules, rule)
    in_source = rewritings(original)
    if fault not in known and fault not in in_source:
        raise UnknownName(f"fault of rule {rule}:", fault, (*known, *in_source))
    function = known[fault](original) if fault in known else rewritten(original, fault)
    return replace(system, rules=replace(system.rules, **{rule: function}), variant=variant)
