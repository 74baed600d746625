"""Find what in an action a kernel overlooks: where one other value there makes the model show what the kernel showed.

A kernel that takes a forged id and one that takes a forged name both execute what the model refuses: the same differs.
But the one shows what the model shows of the same request with the due id, the other with the due name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any

from evenhand.conform.adapters.wire import text
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import Names, differences, normal, words_of
from evenhand.conform.checking.spelling import Place, items_of, places, texts_of
from evenhand.core.codec import encode, fits
from evenhand.core.trace import AnyScenario

if TYPE_CHECKING:
    from evenhand.conform.checking.divergence import Divergence

VALUES = 8
"""Other values that are tried at one place."""

PLACES = 80
"""Places of one action that are tried."""


@dataclass
class Culprits:
    """The places of the last action of a run, by their fields, that explain what a kernel of one system showed."""

    coder: Coder
    _known: dict[tuple[AnyScenario, frozenset[str]], frozenset[str]] = field(default_factory=dict[Any, frozenset[str]])

    def of(self, divergence: Divergence, beside: frozenset[str] = frozenset()) -> frozenset[str]:
        """Return the fields; none where the last step is not the first that differs, or differs in the state alone.

        What stands `beside` it is another fault's.
        """
        kinds = _shown(divergence.kinds) - beside or _shown(divergence.kinds)
        if divergence.what != "differs" or divergence.behind or not kinds or not divergence.scenario.actions:
            return frozenset()
        key = divergence.scenario, kinds
        if key not in self._known:
            self._known[key] = frozenset(self._found(divergence.scenario, kinds))
        return self._known[key]

    def _found(self, run: AnyScenario, kinds: frozenset[str]) -> Iterator[str]:
        step = self.coder.trace(run).steps[-1]
        names = Names(encode(run.config), map(encode, run.actions), words_of(self.coder.system.types))
        expected, found, texts = normal(encode(step.shown)), set[str](), texts_of(encode(run.config))
        known = {text(encode(step.shown)): False}
        for place in islice(places(step.action, type(step.action), lambda new: new), PLACES):
            if place.path in found:
                continue
            for value in islice(_others(place, texts), VALUES):
                try:
                    shown = encode(self.coder.system.take(step.config, step.before, place.put(value)).shown)
                except Exception:  # its class or the model refuses the value
                    continue
                told = text(shown)
                if told not in known:  # a kernel need not show all
                    known[told] = kinds <= names.kinds(differences(expected, normal(shown)))
                if known[told]:
                    found.add(place.path)
                    yield place.path
                    break


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
