"""Find what in an action a kernel overlooks: where one other value there makes the model show what the kernel showed.

A kernel that takes a forged id and one that takes a forged name both execute what the model refuses: the same differs.
But the one shows what the model shows of the same request with the due id, the other with the due name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import Names, differences, normal, words_of
from evenhand.conform.checking.spelling import Place, items_of, places, texts_of
from evenhand.core.codec import encode, fits
from evenhand.core.trace import AnyScenario

if TYPE_CHECKING:
    from evenhand.conform.checking.divergence import Divergence

_Key: TypeAlias = tuple[AnyScenario, frozenset[str]]

_TOP = re.compile(r"\w+(?=[.\[:])")

VALUES = 8
"""Other values that are tried at one place."""

PLACES = 80
"""Places of one action that are tried."""

KEPT = 500
"""Runs of which it is kept what their places explain."""


@dataclass
class Culprits:
    """The places of the last action of a run, by their fields, that explain what a kernel of one system showed."""

    coder: Coder
    _known: dict[_Key, frozenset[str]] = field(default_factory=dict[Any, frozenset[str]])
    _apart: dict[tuple[_Key, frozenset[str]], bool] = field(default_factory=dict[Any, bool])
    _searches: dict[_Key, _Search] = field(default_factory=dict[Any, "_Search"])

    def of(self, divergence: Divergence, beside: frozenset[str] = frozenset()) -> frozenset[str]:
        """Return the fields; none where the last step is not the first that differs, or differs in the state alone.

        What stands `beside` it is another fault's.
        """
        key = _key(divergence, beside)
        if key is None:
            return frozenset()
        if key not in self._known:
            self._known[key] = frozenset(self._found(key, lambda _: True))
        return self._known[key]

    def apart(self, divergence: Divergence, beside: frozenset[str], fields: frozenset[str]) -> bool:
        """Return whether some field explains a divergence, but none of these `fields`; those are tried first."""
        key = _key(divergence, beside)
        if key is None or not fields:
            return False
        among = partial(_among, fields)
        if key in self._known:
            return bool(self._known[key]) and not any(map(among, self._known[key]))
        if (key, fields) not in self._apart:
            named = any(self._found(key, among))
            self._apart[key, fields] = not named and any(self._found(key, lambda path: not among(path)))
        return self._apart[key, fields]

    def _found(self, key: _Key, tried: Callable[[str], bool]) -> Iterator[str]:
        """The fields among those `tried`, as they are found."""
        if key not in self._searches:
            if len(self._searches) >= KEPT:
                self._searches.clear()
            self._searches[key] = _Search(self.coder, *key)
        search, found = self._searches[key], set[str]()
        for at, place in enumerate(search.places):
            if place.path not in found and tried(place.path) and search.explains(at):
                found.add(place.path)
                yield place.path


class _Search:
    """The places of the last action of a run, each tried once."""

    def __init__(self, coder: Coder, run: AnyScenario, kinds: frozenset[str]) -> None:
        self.coder, self.kinds, self.step = coder, kinds, coder.trace(run).steps[-1]
        config, action = encode(run.config), self.step.action
        self.names = Names(config, map(encode, run.actions), words_of(coder.system.types))
        self.expected, self.texts = normal(encode(self.step.shown)), texts_of(config)
        self.tops = {match[0] for kind in kinds if (match := _TOP.match(kind))}
        self.places = tuple(islice(places(action, type(action), lambda new: new), PLACES))
        self._shown: dict[Any, bool] = {self.step.shown: False}
        self._explains: dict[int, bool] = {}

    def explains(self, at: int) -> bool:
        """Whether another value at a place makes the model show the kinds."""
        if at not in self._explains:
            values = islice(_others(self.places[at], self.texts), VALUES)
            self._explains[at] = any(self._shows(self.places[at], value) for value in values)
        return self._explains[at]

    def _shows(self, place: Place, value: Any) -> bool:
        step, known = self.step, self._shown
        try:
            shown = self.coder.system.take(step.config, step.before, place.put(value)).shown
            if shown not in known:  # a kernel need not show all
                known[shown] = _may_differ(step.shown, shown, self.tops) and (
                    self.kinds <= self.names.kinds(differences(self.expected, normal(encode(shown))))
                )
        except Exception:  # its class or the model refuses the value
            return False
        return known[shown]


def _among(fields: frozenset[str], path: str) -> bool:
    """Whether a field is one of `fields`, by its name alone where these are of an action of another class."""
    kind, name = path.split(".")[1:2], path.rpartition(".")[2]
    return path in fields or any(one.split(".")[1:2] != kind and one.rpartition(".")[2] == name for one in fields)


def _key(divergence: Divergence, beside: frozenset[str]) -> _Key | None:
    """The run, and what of a divergence is to be explained; None where that is nothing."""
    kinds = _shown(divergence.kinds) - beside or _shown(divergence.kinds)
    if divergence.what != "differs" or divergence.behind or not kinds or not divergence.scenario.actions:
        return None
    return divergence.scenario, kinds


def _may_differ(one: Any, other: Any, tops: Iterable[str]) -> bool:
    """Whether two observations differ in each of these fields, where they are of one class that has them."""
    return type(one) is not type(other) or all(
        not hasattr(one, top) or getattr(one, top) != getattr(other, top) for top in tops
    )


def _shown(kinds: frozenset[str]) -> frozenset[str]:
    return frozenset(one for one in kinds if not one.startswith("facts."))


def _others(place: Place, texts: list[str]) -> Iterator[Any]:
    """Yield other values for a field: nothing, fewer entries, other words of its sort."""
    value = place.value
    found: list[Any] = [None]
    if isinstance(value, tuple | frozenset):
        items: tuple[Any, ...] = items_of(value)
        kind: Any = frozenset if isinstance(value, frozenset) else tuple
        found += [kind((*items[:at], *items[at + 1 :])) for at in range(len(items))]
    elif isinstance(value, Enum):
        found += list(type(value))
    elif isinstance(value, bool):
        found.append(not value)
    elif isinstance(value, str):
        found += dict.fromkeys(texts)
    for one in found:
        if one != value and fits(one, place.hint):
            yield one
