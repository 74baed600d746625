"""The kinds of claims that compare runs; a pair of runs refutes them.

There are two families: `DeterminedBy` compares any two steps with one key, and `Paired` a run with a second one that is
computed from it.  A new kind of `Paired` is one class.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from evenhand.core.answers import Gives, ModelError
from evenhand.core.kinds import STEP, Calls, Property, StepTest, every_step
from evenhand.core.system import AnyStep

_OF_STEP: tuple[Gives, tuple[str, ...]] = ("value", ("step",))


@dataclass(frozen=True, kw_only=True, repr=False)
class Relational(Property):
    """A claim that compares two runs; a pair of runs refutes it."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DeterminedBy(Relational):
    """Steps with equal `key` have equal `value`: the value depends only on the key.

    Decided in one hash pass over the steps of one configuration, or across all of them if `across`.  Refuted by the
    pair of runs that end in the two steps.
    """

    key: Callable[[AnyStep], Hashable]
    value: Callable[[AnyStep], Hashable]
    when: StepTest = every_step
    across: bool = True

    CALLS: ClassVar[Calls] = {"key": _OF_STEP, "value": _OF_STEP, "when": STEP}

    @property
    def across_configurations(self) -> bool:
        """Whether steps of different configurations are compared."""
        return self.across


class Fork(NamedTuple):
    """Two runs to compare: the first takes `left` where it is, the second `right` from `state` of `config`."""

    left: tuple[Any, ...]
    right: tuple[Any, ...]
    config: Any
    state: Any


@dataclass(frozen=True, kw_only=True, repr=False)
class Paired(Relational):
    """A claim about a run and a second one that is computed from it.

    At a state that the first run reaches, each `way` of `ways(config, state, actions)` makes a `fork`: what each run
    takes from where.  `agrees` says whether the last steps of both relate.  `reads` says what `actions` are: the action
    of any one step, on offer or not, where the second run may be anywhere (and is no evidence of its own); or all that
    the state offers, where both runs go on from it.
    """

    reads: ClassVar[Literal["steps", "states"]]
    taken: ClassVar[int] = 1
    """How many actions the first run takes in a fork."""
    early: ClassVar[str] = "is about more actions than are taken yet"
    silent: ClassVar[str] = "the claim compares no two runs here"
    alike: ClassVar[str] = "the two runs agree after the last step"
    differ: ClassVar[str] = "the two runs do not agree after the last step"

    @property
    def starts_too(self) -> bool:
        """Whether the second run of an initial state must begin in one."""
        return False

    def ways(self, config: Any, state: Any, actions: tuple[Any, ...]) -> Iterable[Any]:
        """Return what relates the first run, at this state, to second runs."""
        raise NotImplementedError

    def fork(self, way: Any, config: Any, state: Any, actions: tuple[Any, ...]) -> Fork:
        """Return the two runs that a way relates."""
        raise NotImplementedError

    def agrees(self, way: Any, left: AnyStep, right: AnyStep | None) -> bool:
        """Return whether the last step of the first run and that of the second (None: it takes none) relate."""
        raise NotImplementedError

    def whole(self, way: Any, config: Any, start: Any, actions: tuple[Any, ...]) -> Fork | None:
        """Return the second run of a whole first run, if the kind can tell it."""
        return None


@dataclass(frozen=True, kw_only=True, repr=False)
class Commute(Paired):
    """From a reachable state, two actions in either order lead to ends that `same` calls the same.

    `pairs(config, state, enabled)` picks the pairs; `same(config, first_then_second, second_then_first)` compares the
    two final steps.
    """

    pairs: Callable[[Any, Any, tuple[Any, ...]], Iterable[tuple[Any, Any]]]
    same: Callable[[Any, AnyStep, AnyStep], bool]

    CALLS: ClassVar[Calls] = {
        "pairs": ("values", ("config", "state", "enabled")),
        "same": ("answer", ("config", "first", "second")),
    }
    reads = "states"
    taken = 2
    early = "is about two actions; fewer are taken yet"
    silent = "the claim is not about these two actions in this state"
    alike = "both orders lead to the same"
    differ = "the two orders lead to different ends"

    def ways(self, config: Any, state: Any, actions: tuple[Any, ...]) -> Iterable[Any]:
        """Return the pairs of actions that the claim picks."""
        return self.pairs(config, state, actions)

    def fork(self, way: Any, config: Any, state: Any, actions: tuple[Any, ...]) -> Fork:
        """Return both orders of a pair."""
        one, two = way
        return Fork((one, two), (two, one), config, state)

    def agrees(self, way: Any, left: AnyStep, right: AnyStep | None) -> bool:
        """Return whether both orders end the same; the order that was picked comes first."""
        return right is not None and self.same(left.config, left, right)


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoRun(Paired):
    """A 2-safety claim by unwinding: the second trace is computed from the first, step by step.

    For a step from a reachable state and each `w` in `twins(config, state, action)`, the second trace has configuration
    `config(w, c)`, starts in `state(w, c, s)` and takes `other(w, action)` (one action, or none if purged).  `agree(w,
    step, other_step_or_None)` says that the two ends relate.  Engines check that initial states relate as well:
    `state(w, c, s0)` must be initial for the other configuration (`starts=False` waives it for claims about single
    steps).
    """

    twins: Callable[[Any, Any, Any], Iterable[Any]]
    config: Callable[[Any, Any], Any]
    state: Callable[[Any, Any, Any], Any]
    other: Callable[[Any, Any], tuple[Any, ...]]
    agree: Callable[[Any, AnyStep, AnyStep | None], bool]
    starts: bool = True

    CALLS: ClassVar[Calls] = {
        "twins": ("values", ("config", "state", "action")),
        "config": ("value", ("w", "config")),
        "state": ("value", ("w", "config", "state")),
        "other": ("values", ("w", "action")),
        "agree": ("answer", ("w", "step", "other")),
    }
    reads = "steps"
    early = "is about steps; none is taken yet"
    silent = "the last step has no twin"
    alike = "every twin of the last step agrees with it"

    @property
    def starts_too(self) -> bool:
        """Whether the image of an initial state must be initial."""
        return self.starts

    def ways(self, config: Any, state: Any, actions: tuple[Any, ...]) -> Iterable[Any]:
        """Return every `w` at this step."""
        return self.twins(config, state, *actions)

    def begun(self, way: Any, config: Any, state: Any) -> tuple[Any, Any]:
        """Return the configuration and the state of the second trace, which depend on these three alone."""
        return self.config(way, config), self.state(way, config, state)

    def fork(self, way: Any, config: Any, state: Any, actions: tuple[Any, ...], begun: Any = None) -> Fork:
        """Return the step's action, and the second trace's; `begun` is what the method of that name returns.

        Raises ModelError where `other` gives several.
        """
        there, begin = begun or self.begun(way, config, state)
        others = tuple(self.other(way, *actions))
        if len(others) > 1:
            raise ModelError(
                f"claim {self.name!r}: `other` gives {len(others)} actions for one; one, or none, is meant"
            )
        return Fork(actions, others, there, begin)

    def agrees(self, way: Any, left: AnyStep, right: AnyStep | None) -> bool:
        """Return whether the two ends relate."""
        return self.agree(way, left, right)

    def whole(self, way: Any, config: Any, start: Any, actions: tuple[Any, ...]) -> Fork | None:
        """Return the second trace of a whole first one."""
        others = tuple(other for action in actions for other in self.other(way, action)[:1])
        return Fork(actions, others, self.config(way, config), self.state(way, config, start))
