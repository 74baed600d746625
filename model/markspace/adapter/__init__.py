"""The published package `markspace` as an implementation to check; install it with the extra `evenhand[markspace]`.

    evenhand check markspace --adapter evenhand.model.markspace.adapter:published

One module for each of the protocol's systems: `guard`, `space`, `signals`, `layers`, `composing`. The package makes its
own decisions. The adapter plays the harness around it, which the protocol leaves open: it chooses the agent whose turn
it is, moves the clock and assigns the next id. The results are in `docs/explanation/markspace.md`.
"""

from __future__ import annotations

import importlib.util

from evenhand.core.canonical import Json
from evenhand.core.codec import decode
from evenhand.core.kernel import Initial, Kernel, Unsupported
from evenhand.model.markspace import (
    composing_vocabulary,
    guard_vocabulary,
    layers_vocabulary,
    marks,
    signals_vocabulary,
)
from evenhand.model.markspace.adapter.composing import PublishedComposing
from evenhand.model.markspace.adapter.guard import PublishedGuard
from evenhand.model.markspace.adapter.layers import PublishedLayers
from evenhand.model.markspace.adapter.signals import PublishedSignals
from evenhand.model.markspace.adapter.space import PublishedSpace
from evenhand.model.markspace.composing import initial as composing_begins
from evenhand.model.markspace.guard import initial as guard_begins
from evenhand.model.markspace.layers import initial as layers_begins

if importlib.util.find_spec("markspace") is None:  # raised on import; later, every scenario would count as a finding
    raise ModuleNotFoundError("the package markspace is not installed; `pip install evenhand[markspace]` brings it")

__all__ = ["published"]

_GUARDS = ("first_writer", "highest_confidence", "yield_all", "deferred", "meddled")


def published(initial: Initial) -> Kernel:
    """Return the package's guard, space, functions of strength, layers, or subscriptions and scheduler.

    Raises Unsupported for systems, readings and parameters that the package does not have.
    """

    def part(types: tuple[type, ...], data: Json) -> object:
        return decode(data, *types)

    system = initial["system"]
    if initial["protocol"] != "markspace":
        raise Unsupported(f"the package implements markspace, not {initial['protocol']}")
    if system in _GUARDS:
        config = decode(initial["config"], *guard_vocabulary.TYPES)
        _from_nothing(part(guard_vocabulary.TYPES, initial["start"]), guard_begins(config))
        return PublishedGuard(config)
    if system == "space":
        config = decode(initial["config"], *marks.TYPES)
        _from_nothing(part(marks.TYPES, initial["start"]), (marks.Space(),))
        return PublishedSpace(config)
    if system == "signals":
        return PublishedSignals(decode(initial["config"], *signals_vocabulary.TYPES))
    if system == "layers":
        config = decode(initial["config"], *layers_vocabulary.TYPES)
        _from_nothing(part(layers_vocabulary.TYPES, initial["start"]), layers_begins(config))
        return PublishedLayers(config)
    if system in ("composing", "scheduling"):
        config = decode(initial["config"], *composing_vocabulary.TYPES)
        _from_nothing(part(composing_vocabulary.TYPES, initial["start"]), composing_begins(config))
        return PublishedComposing(config)
    raise Unsupported(f"the package has nothing like the system {system}")


def _from_nothing(start: object, starts: tuple[object, ...]) -> None:
    """Raise Unsupported unless the run begins in an initial state: the package begins with an empty space."""
    if start not in starts:
        raise Unsupported("the package begins with an empty space")
