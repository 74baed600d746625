"""Claims that one system refines another: every step is one that the other allows, or changes nothing there.

    @refines("Two-phase commit is transaction commit.", abstract=transaction_commit)
    def as_commit(state):
        return state.rms

The decorated function maps a state to one of the other system, of which the first must be initial.  That is safety,
with stuttering; whether what must happen there happens here is not claimed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from evenhand.core.answers import short
from evenhand.core.kinds import BY_PLACE, Calls, Safety
from evenhand.core.property import claim_of, said
from evenhand.core.system import AnyStep, AnySystem

_TAKES = (("state",), ("state", "past"), ("config", "state", "past"))


def _nothing(_config: Any) -> None:
    """The history of a mapping that needs none."""


def _unchanged(past: Any, _step: AnyStep) -> Any:
    return past


@dataclass(frozen=True, kw_only=True, repr=False)
class Refines(Safety):
    """Each step leads from `mapping(config, state, past)` to itself or to what one step of `abstract` leads to.

    `past` is a hidden variable that only history determines: it begins with `start(config)`, and `update(past, step)`
    is its value after a step.  `abstract` has one configuration.  A step that changes nothing there says nothing.
    """

    abstract: AnySystem
    mapping: Callable[[Any, Any, Any], Any]
    start: Callable[[Any], Any] = _nothing
    update: Callable[[Any, AnyStep], Any] = _unchanged

    CALLS: ClassVar[Calls] = {
        "mapping": ("value", ("config", "state", "past")),
        "start": ("value", ("config",)),
        "update": ("value", ("past", "step")),
    }

    def __post_init__(self) -> None:
        """Check the other system.  Raises TypeError for anything else, ValueError for several configurations."""
        super().__post_init__()
        if not hasattr(self.abstract, "all_configs"):
            raise TypeError(f"claim {self.name!r}: `abstract` is a system, not {short(self.abstract)}")
        configs = list(self.abstract.all_configs())
        if len(configs) != 1:
            raise ValueError(
                f"claim {self.name!r}: {self.abstract.label} has {len(configs)} configurations; "
                "a claim refines a system of one, so choose its scope with `at`"
            )
        object.__setattr__(self, "_config", configs[0])
        object.__setattr__(self, "_after", {})

    def memory(self, config: Any) -> tuple[Any, bool | None]:
        """Return the history, and the answer to the last step."""
        return self.start(config), None

    def follow(self, memory: Any, step: AnyStep) -> tuple[Any, bool | None]:
        """Return the history after a step, and whether the other system allows that step."""
        after, before, image = self._images(memory, step)
        return after, None if before == image else image in self._successors(before)

    def at_start(self, config: Any, state: Any) -> bool | None:
        """Return False if the image of an initial state is not initial."""
        image = self.mapping(config, state, self.start(config))
        return None if image in set(self.abstract.initial(self._other)) else False

    def answer(self, config: Any, memory: Any) -> bool | None:
        """Return the answer to the last step."""
        kept: bool | None = memory[1]
        return kept

    def why(self, config: Any, start: Any, steps: Sequence[AnyStep]) -> str:
        """Name the image that has no answer."""
        if not steps:
            return (
                f"the image {short(self.mapping(config, start, self.start(config)))} is no initial state of the other"
            )
        memory: Any = self.memory(config)
        for step in steps[:-1]:
            memory = self.follow(memory, step)
        _, before, image = self._images(memory, steps[-1])
        return f"{self.abstract.name} has no step from {short(before)} to {short(image)}"

    @property
    def _other(self) -> Any:
        """The configuration of the other system."""
        return vars(self)["_config"]

    def _images(self, memory: Any, step: AnyStep) -> tuple[Any, Any, Any]:
        """The history after a step, and the images of its states."""
        past = memory[0]
        after = self.update(past, step)
        return after, self.mapping(step.config, step.before, past), self.mapping(step.config, step.after, after)

    def _successors(self, image: Any) -> frozenset[Any]:
        known: dict[Any, frozenset[Any]] = vars(self)["_after"]
        if image not in known:
            actions = self.abstract.enabled(self._other, image)
            known[image] = frozenset(self.abstract.take(self._other, image, action).after for action in actions)
        return known[image]


def refines(
    sentence: str,
    *,
    abstract: AnySystem,
    start: Callable[[Any], Any] = _nothing,
    update: Callable[[Any, AnyStep], Any] = _unchanged,
    **more: Any,
) -> Callable[[Callable[..., Any]], Refines]:
    """Make a `Refines` from a mapping over (state), (state, past) or (config, state, past)."""
    said("refines", sentence)
    given = {"abstract": abstract, "start": start, "update": update, **more}
    return lambda mapping: claim_of(Refines, sentence, "mapping", _of_three(mapping), given)


def _of_three(mapping: Any) -> Any:
    """A mapping as one over (config, state, past).  A built-in or a class takes the state."""
    if not callable(mapping):
        return mapping
    takes = 1
    if inspect.isfunction(mapping):
        takes = sum(one.kind in BY_PLACE for one in inspect.signature(mapping).parameters.values())
    if takes not in map(len, _TAKES):
        ways = ", ".join(f"({', '.join(one)})" for one in _TAKES)
        raise TypeError(f"the mapping {getattr(mapping, '__name__', short(mapping))} takes one of: {ways}")
    if takes == 3:
        return mapping

    def with_all(_config: Any, state: Any, past: Any) -> Any:
        return mapping(state) if takes == 1 else mapping(state, past)

    with_all.__name__ = with_all.__qualname__ = getattr(mapping, "__name__", "")
    with_all.__wrapped__ = mapping  # type: ignore[attr-defined]
    return with_all


__all__ = ["Refines", "refines"]
