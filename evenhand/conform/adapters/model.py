"""The executable model behind an adapter: a faultless kernel, and each mutant as a black box.

`evenhand check PROTOCOL --adapter evenhand.conform.adapters.model:reference` must find nothing; a mutant behind the
same adapter is a kernel with a known fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from evenhand.core.canonical import Json
from evenhand.core.codec import decode, encode
from evenhand.core.kernel import Initial, Kernel, Unsupported
from evenhand.core.registry import find
from evenhand.core.system import AnySystem


class ModelKernel:
    """A kernel that takes a system's own steps."""

    def __init__(self, system: AnySystem, config: Any, start: Any) -> None:
        self._system, self._config, self._state = system, config, start

    def step(self, action: Json, /) -> Json:
        """Take the system's step and return what it shows.  Raises ValueError for an action that does not decode."""
        made = decode(action, *self._system.types)
        self._state, shown = self._system.step(self._system.rules, self._config, self._state, made)
        return encode(shown)


class OpenModelKernel(ModelKernel):
    """A `ModelKernel` that tells its state after every step."""

    def state(self) -> Json:
        """Return the encoded state."""
        return encode(self._state)


def factory_of(system: AnySystem, *, tells_state: bool = False) -> Callable[[Initial], Kernel]:
    """Return the factory of kernels of this system; it raises Unsupported for other systems."""
    kind = OpenModelKernel if tells_state else ModelKernel

    def factory(initial: Initial) -> Kernel:
        if initial["system"] != system.name:
            raise Unsupported(f"this kernel implements {system.name}, not {initial['system']}")
        return kind(system, decode(initial["config"], *system.types), decode(initial["start"], *system.types))

    return factory


def reference(initial: Initial) -> Kernel:
    """Return the reference of the protocol and system that the scenario names.

    Raises Unsupported if there is none.
    """
    try:
        system = find(initial["protocol"]).model.systems[initial["system"]]
    except (ValueError, KeyError) as error:
        raise Unsupported(str(error)) from error
    return factory_of(system)(initial)


def variant(protocol: str, name: str, *, tells_state: bool = False) -> Callable[[Initial], Kernel]:
    """Return the factory of a protocol's mutant, in every system with the mutated rules.

    Raises UnknownName for an unknown protocol or mutant.
    """
    bundle = find(protocol)
    mutant = bundle.mutant(name)
    kind = cast("type[Any]", type(mutant.rules))

    def factory(initial: Initial) -> Kernel:
        system = bundle.model.systems.get(initial["system"])
        if initial["protocol"] != protocol or system is None or type(system.rules) is not kind:
            raise Unsupported(f"{name} is no fault of {initial['protocol']} {initial['system']}")
        return factory_of(replace(system, rules=mutant.rules, variant=name), tells_state=tells_state)(initial)

    return factory
