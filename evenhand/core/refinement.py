"""Claims that one system refines another: every step is one that the other allows, or changes nothing there.

    @refines("Two-phase commit is transaction commit.", abstract=transaction_commit)
    def as_commit(state):
        return state.rms

The decorated function maps a state to one of the other system, of which the first must be initial.  That is safety,
with stuttering; `keeps_fairness` adds what must happen there.

A mapping may need what the state does not hold.  What the past determines is a history variable: `start` and `update`.
What the future will be is a prophecy variable: it has one of finitely many `values`, and `foretell(step, later)` is its
value before a step, given the one after it.  As every value after a step has one before it, each run has its
prophecies, so that a claim which holds says of every run that the other system allows its image.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from evenhand.core import ltl
from evenhand.core.answers import short
from evenhand.core.kinds import BY_PLACE, Calls, Safety
from evenhand.core.property import claim_of, said
from evenhand.core.system import AnyStep, AnySystem, Fairness
from evenhand.core.temporal import Temporal, temporal

_TAKES = (("state",), ("state", "past"), ("config", "state", "past"), ("config", "state", "past", "future"))


def _nothing(_config: Any) -> None:
    """The history of a mapping that needs none."""


def _unchanged(past: Any, _step: AnyStep) -> Any:
    return past


def _no_other(_step: AnyStep, later: Any) -> Any:
    return later


Memory: TypeAlias = tuple[Any, bool | None, frozenset[Any] | None]
"""The history, the answer to the last step, and the prophecies that do so far; None before the first step."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Refines(Safety):
    """Each step leads from `mapping(config, state, past, future)` to itself or to what a step of `abstract` leads to.

    `past` begins with `start(config)`, and `update(past, step)` is its value after a step.  `future` is one of
    `values`: `foretell(step, later)` before a step and `later` after it; some choice of it must do for the whole run.
    `abstract` has one configuration.  A step that changes nothing there says nothing.
    """

    abstract: AnySystem
    mapping: Callable[[Any, Any, Any, Any], Any]
    start: Callable[[Any], Any] = _nothing
    update: Callable[[Any, AnyStep], Any] = _unchanged
    values: tuple[Any, ...] = (None,)
    foretell: Callable[[AnyStep, Any], Any] = _no_other

    CALLS: ClassVar[Calls] = {
        "mapping": ("value", ("config", "state", "past", "future")),
        "start": ("value", ("config",)),
        "update": ("value", ("past", "step")),
        "foretell": ("value", ("step", "later")),
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
        object.__setattr__(self, "_served", {})
        values: Any = self.values
        if isinstance(values, str) or not hasattr(values, "__iter__") or not (listed := tuple(values)):
            raise TypeError(f"claim {self.name!r}: `values` lists what may come, not {short(values)}")
        object.__setattr__(self, "values", listed)

    def memory(self, config: Any) -> Memory:
        """Return the history, no answer yet, and every prophecy."""
        return self.start(config), None, None

    def follow(self, memory: Memory, step: AnyStep) -> Memory:
        """Return the history after a step, whether the other system allows that step, and the prophecies that do."""
        past, _, live = memory
        after = self.update(past, step)
        if live is None:
            live = self._initial(step.config, step.before, past)
        doing: list[Any] = []
        moved = False
        for later in self.values:
            before = self._image(step.config, step.before, past, value := self.foretell(step, later))
            image = self._image(step.config, step.after, after, later)
            if value in live and (before == image or image in self._successors(before)):
                doing.append(later)
                moved = moved or before != image
        return after, (None if doing and not moved else bool(doing)), frozenset(doing)

    def at_start(self, config: Any, state: Any) -> bool | None:
        """Return False if the image of an initial state is not initial."""
        return None if self._initial(config, state, self.start(config)) else False

    def answer(self, config: Any, memory: Memory) -> bool | None:
        """Return the answer to the last step."""
        return memory[1]

    def why(self, config: Any, start: Any, steps: Sequence[AnyStep]) -> str:
        """Name the image that has no answer."""
        past = self.start(config)
        if not steps:
            return (
                f"the image {short(self._image(config, start, past, self.values[0]))} is no initial state of the other"
            )
        memory = self.memory(config)
        for step in steps[:-1]:
            memory = self.follow(memory, step)
        step, later = steps[-1], self.values[0]
        before = self._image(config, step.before, memory[0], self.foretell(step, later))
        image = self._image(config, step.after, self.update(memory[0], step), later)
        told = "" if len(self.values) == 1 else f" (where {short(later)} comes later, and no other of the values does)"
        return f"{self.abstract.name} has no step from {short(before)} to {short(image)}{told}"

    @property
    def _other(self) -> Any:
        """The configuration of the other system."""
        return vars(self)["_config"]

    def _image(self, config: Any, state: Any, past: Any, future: Any) -> Any:
        return self.mapping(config, state, past, future)

    def _initial(self, config: Any, state: Any, past: Any) -> frozenset[Any]:
        """The prophecies under which the image of an initial state is initial."""
        starts = set(self.abstract.initial(self._other))
        return frozenset(value for value in self.values if self._image(config, state, past, value) in starts)

    def enables(self, config: Any, state: Any, fairness: Fairness[Any, Any]) -> bool:
        """Return whether a step that changes the image of a state would serve an assumption of the other system."""
        return bool(self._serving(self._plain_image(config, state), fairness))

    def serves(self, step: AnyStep, fairness: Fairness[Any, Any]) -> bool:
        """Return whether a step's image changes by a step that serves an assumption of the other system."""
        before, image = (self._plain_image(step.config, state) for state in (step.before, step.after))
        return image in self._serving(before, fairness)

    def _plain_image(self, config: Any, state: Any) -> Any:
        return self._image(config, state, self.start(config), self.values[0])

    def _serving(self, image: Any, fairness: Fairness[Any, Any]) -> frozenset[Any]:
        """The other images to which serving steps lead."""
        known: dict[Any, frozenset[Any]] = vars(self)["_served"]
        key = (fairness, image)
        if key not in known:
            actions = [one for one in self.abstract.enabled(self._other, image) if fairness.taken(image, one)]
            known[key] = frozenset(self.abstract.take(self._other, image, one).after for one in actions) - {image}
        return known[key]

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
    values: Iterable[Any] = (None,),
    foretell: Callable[[AnyStep, Any], Any] = _no_other,
    **more: Any,
) -> Callable[[Callable[..., Any]], Refines]:
    """Make a `Refines` from a mapping over (state), (state, past) or (config, state, past[, future])."""
    said("refines", sentence)
    given = {
        "abstract": abstract,
        "start": start,
        "update": update,
        "values": values,
        "foretell": foretell,
        **more,
    }
    return lambda mapping: claim_of(Refines, sentence, "mapping", _of_four(mapping), given)


def keeps_fairness(claim: Refines, *, fairness: Sequence[str] = (), stutter: bool = False, **more: Any) -> Temporal:
    """Return the claim that under `fairness` the images of whole runs are fair in the system that `claim` refines.

    Each assumption of the other system is one of TLA+: over steps that change its state.  With `claim` itself, every
    liveness of the other system then holds of the images.

    Raises ValueError for another system without assumptions, and for a mapping with a history or a prophecy, whose
    values no state holds: put them into the state.
    """
    if not isinstance(claim, Refines):
        raise TypeError(f"keeps_fairness takes a claim that `refines` made, not {short(claim)}")
    named = dict(claim.abstract.fair(vars(claim)["_config"]))
    if not named:
        raise ValueError(f"claim {claim.name!r}: {claim.abstract.label} assumes no fairness; give it `fair`")
    if claim.start is not _nothing or claim.update is not _unchanged or len(claim.values) > 1:
        raise ValueError(f"claim {claim.name!r} maps with a history or a prophecy; put it into the state")

    def kept(one: Fairness[Any, Any]) -> ltl.Formula:
        def is_enabled(config: Any, state: Any) -> bool:
            return claim.enables(config, state, one)

        def is_served(step: AnyStep) -> bool:
            return claim.serves(step, one)

        enabled, served = ltl.state(is_enabled), ltl.step(is_served)
        if one.kind == "weak":
            return ltl.G(ltl.F(~enabled | served))
        return ~ltl.G(ltl.F(enabled)) | ltl.G(ltl.F(served))

    made = ltl.every(*map(kept, named.values()))

    def formula(_config: Any) -> ltl.Formula:
        return made

    given = {"name": f"{claim.name}_keeps_fairness", "systems": claim.systems, **more}
    sentence = f"Fair runs are fair as {claim.abstract.name} assumes: {', '.join(named)}."
    return temporal(sentence, fairness=fairness, stutter=stutter, **given)(formula)


def _of_four(mapping: Any) -> Any:
    """A mapping as one over (config, state, past, future).  A built-in or a class takes the state."""
    if not callable(mapping):
        return mapping
    takes = 1
    if inspect.isfunction(mapping):
        takes = sum(one.kind in BY_PLACE for one in inspect.signature(mapping).parameters.values())
    if takes not in map(len, _TAKES):
        ways = ", ".join(f"({', '.join(one)})" for one in _TAKES)
        raise TypeError(f"the mapping {getattr(mapping, '__name__', short(mapping))} takes one of: {ways}")
    if takes == 4:
        return mapping

    def with_all(config: Any, state: Any, past: Any, _future: Any) -> Any:
        return mapping(state) if takes == 1 else mapping(state, past) if takes == 2 else mapping(config, state, past)

    with_all.__name__ = with_all.__qualname__ = getattr(mapping, "__name__", "")
    with_all.__wrapped__ = mapping  # type: ignore[attr-defined]
    return with_all


__all__ = ["Refines", "keeps_fairness", "refines"]
