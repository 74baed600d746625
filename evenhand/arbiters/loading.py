"""Find a kernel by its place, and say where another process finds one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenhand.arbiters.kernels import Factory, NotExaminable
from evenhand.arbiters.programs import program
from evenhand.arbiters.rules import rule
from evenhand.core.loading import NotLoaded, value_at


@dataclass(frozen=True)
class Origin:
    """What another process needs to make the same kernel: the place of a factory, or of a rule and its options.

    `command` starts a program instead.
    """

    place: str = ""
    choices: list[Any] | None = None
    listed: bool = False
    labels: list[Any] | None = None
    command: str = ""

    def factory(self) -> Factory:
        """Import the factory.  Raises NotExaminable."""
        if self.command:
            return program(self.command)
        found = factory_at(self.place)
        if self.choices is None:
            return found
        return rule(found, _tuples(self.choices), listed=self.listed, labels=_tuples(self.labels or []))


def origin_of(factory: Factory, place: str = "") -> Origin | None:
    """Return the origin of a factory: at `place`, or where its own name leads; None where another process finds none.

    A rule is made again from its function (at `place`) and its choices, where JSON can hold these.
    """
    if command := getattr(factory, "__command__", ""):
        return Origin(command=command)
    made: tuple[Factory, tuple[Any, ...], bool, tuple[Any, ...]] | None = getattr(factory, "__rule__", None)
    if made is None or (place and hasattr(factory_at(place), "__rule__")):
        own = place or place_of(factory)
        return Origin(own) if own else None
    function, choices, listed, labels = made
    own = place or place_of(function)
    plain = isinstance(choices, tuple) and all(map(_plain, (*choices, *labels)))
    return Origin(own, _lists(choices), listed, _lists(labels)) if own and plain else None


def _plain(value: Any) -> bool:
    """Return whether JSON holds the value, tuples told as lists."""
    if isinstance(value, tuple):
        return all(map(_plain, value))  # pyright: ignore[reportUnknownArgumentType]
    return type(value) in (str, int, bool, float, type(None))


def _lists(values: Any) -> Any:
    return [_lists(one) if isinstance(one, tuple) else one for one in values]


def _tuples(values: Any) -> Any:
    return tuple(_tuples(one) if isinstance(one, list) else one for one in values)


def factory_at(place: str) -> Factory:
    """Return the factory at `package.module:name` or `FILE.py:name`.  Raises NotExaminable with the cause."""
    try:
        factory: Factory = value_at(place)
    except NotLoaded as error:
        raise NotExaminable(str(error)) from error
    return factory


def place_of(factory: Factory) -> str:
    """Return the place of a factory that another process can import; empty if there is none."""
    module, name = getattr(factory, "__module__", ""), getattr(factory, "__qualname__", "")
    if not module or module == "__main__" or "<" in name:
        return ""
    try:
        return f"{module}:{name}" if factory_at(f"{module}:{name}") is factory else ""
    except NotExaminable:
        return ""
