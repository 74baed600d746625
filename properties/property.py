"""Claims: one English sentence, its source paragraph, a kind, a predicate.

Every kind is a frozen record; the engines look at the kind and at nothing else.  A claim may look at the
configuration (and the readings in it), never at a system's `rules`, or a mutant would be judged by its own
notion.  `when` is the claim's antecedent: the steps (or states) it says something about.  A claim whose
antecedent is never met, or that was never near being false, proves nothing; engines count both.

The decorators below make the records:

    @always("At most one process is in the critical section.", source="P1")
    def mutual_exclusion(config: Config, state: State) -> bool: ...

A predicate over a state may leave the configuration out (`def f(state)`), for systems that have none.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

from evenhand.model.system import Step

__all__ = [
    "Always",
    "AnyStep",
    "Commute",
    "DeadlockFree",
    "DeterminedBy",
    "EachStep",
    "Eventually",
    "LeadsTo",
    "LivelockFree",
    "Monitor",
    "Property",
    "Reachable",
    "TwoRun",
    "always",
    "commute",
    "deadlock_free",
    "determined_by",
    "each_step",
    "eventually",
    "leads_to",
    "livelock_free",
    "monitor",
    "reachable",
    "two_run",
]

AnyStep: TypeAlias = Step[Any, Any, Any, Any]
StepTest: TypeAlias = Callable[[AnyStep], bool]
StateTest: TypeAlias = Callable[[Any, Any], bool]
F = TypeVar("F", bound=Callable[..., Any])


def every_step(_step: AnyStep) -> bool:
    """The antecedent of a claim about every step."""
    return True


def every_state(_config: Any, _state: Any) -> bool:
    """The antecedent of a claim about every state."""
    return True


@dataclass(frozen=True, kw_only=True)
class Property:
    """What every kind has.

    `name` is snake_case and says the claim; `sentence` is the claim in English; `source` the paragraph it
    comes from; `version` goes up when the meaning changes, so that old fixtures fail loudly.  `systems`
    names the systems it speaks of (empty: every system of its protocol).  `applies` says under which
    configurations (readings) it is claimed at all.  `proved` marks a claim that is also to be proved.
    """

    name: str
    sentence: str
    source: str = ""
    version: int = 1
    systems: tuple[str, ...] = ()
    applies: Callable[[Any], bool] = field(default=lambda _config: True)
    proved: bool = False

    @property
    def kind(self) -> str:
        """The kind in snake_case, as reports print it."""
        name = type(self).__name__
        return "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(name))


@dataclass(frozen=True, kw_only=True)
class Always(Property):
    """`check(config, state)` in every reachable state (an invariant)."""

    check: StateTest
    when: StateTest = every_state


@dataclass(frozen=True, kw_only=True)
class EachStep(Property):
    """`check(step)` on every step from a reachable state, wherever `when(step)`."""

    check: StepTest
    when: StepTest = every_step


@dataclass(frozen=True, kw_only=True)
class Reachable(Property):
    """Some reachable step satisfies `goal`: guards against models that are safe because they are dead.

    HOLDS carries the shortest run as its evidence; REFUTED needs a complete search.
    """

    goal: StepTest


@dataclass(frozen=True, kw_only=True)
class LeadsTo(Property):
    """Every step satisfying `trigger` is followed, then or later, by one satisfying `goal`.

    Under the named fairness assumptions of the system (`fairness`, keys of `System.fair`), on every
    infinite run and on every run that ends.  Decided on closed graphs only; refuted by a lasso, or by a
    run that ends without the goal.
    """

    trigger: StepTest
    goal: StepTest
    fairness: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Eventually(Property):
    """Every run satisfies `goal` at some step, under the named fairness assumptions."""

    goal: StepTest
    fairness: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DeadlockFree(Property):
    """From every reachable state in which somebody wants to act, some continuation completes.

    `wants(config, state)` and `completes(step)` say so; a deadlock is a reachable state that wants and
    from which no step satisfying `completes` is reachable (not EF completes).
    """

    wants: StateTest
    completes: StepTest


@dataclass(frozen=True, kw_only=True)
class LivelockFree(Property):
    """No fair infinite run keeps attempting and never progresses.

    A livelock is a loop with some `attempts(step)`, no `progress(step)`, that is fair in every named way.
    """

    attempts: StepTest
    progress: StepTest
    fairness: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Monitor(Property):
    """A claim about a history: a deterministic observer runs along, `ok` must hold after every step.

    `start(config)` gives its first value (hashable), `update(value, step)` the next; `ok(config, value)`.
    `when(config, value)` is the antecedent.
    """

    start: Callable[[Any], Any]
    update: Callable[[Any, AnyStep], Any]
    ok: StateTest
    when: StateTest = every_state


@dataclass(frozen=True, kw_only=True)
class DeterminedBy(Property):
    """Steps with equal `key` have equal `value`: the value depends on nothing but the key.

    Decided in one hash pass over the steps of one configuration, or across all of them if `across`.
    Refuted by the pair of runs that end in the two steps.
    """

    key: Callable[[AnyStep], Hashable]
    value: Callable[[AnyStep], Hashable]
    when: StepTest = every_step
    across: bool = True


@dataclass(frozen=True, kw_only=True)
class Commute(Property):
    """From a reachable state, two actions in either order lead to what `same` calls the same.

    `pairs(config, state, enabled)` picks the pairs; `same(config, first_then_second, second_then_first)`
    compares the two final steps.
    """

    pairs: Callable[[Any, Any, tuple[Any, ...]], Iterable[tuple[Any, Any]]]
    same: Callable[[Any, AnyStep, AnyStep], bool]


@dataclass(frozen=True, kw_only=True)
class TwoRun(Property):
    """2-safety by unwinding: the second run is computed from the first, step by step.

    For a step from a reachable state and each `w` in `twins(config, state, action)`: the other run has
    configuration `config(w, c)`, starts in `state(w, c, s)` and takes `other(w, action)` (one action, or
    none where the action is purged).  `agree(w, step, other_step_or_None)` says that the two ends relate.
    Initial states must relate as well: `state(w, c, s0)` must be initial for the other configuration,
    which the engines check (`starts` may waive it for claims about single steps).
    """

    twins: Callable[[Any, Any, Any], Iterable[Any]]
    config: Callable[[Any, Any], Any]
    state: Callable[[Any, Any, Any], Any]
    other: Callable[[Any, Any], tuple[Any, ...]]
    agree: Callable[[Any, AnyStep, AnyStep | None], bool]
    starts: bool = True


def _about_states(test: Callable[..., bool]) -> StateTest:
    """A state predicate, whether or not it takes the configuration."""
    count = len(inspect.signature(test).parameters)
    if count == 2:
        return test
    if count == 1:

        def of_state(_config: Any, state: Any) -> bool:
            return test(state)

        return cast("StateTest", functools.update_wrapper(of_state, test))  # reports look for where it is written
    raise TypeError(f"{_name(test)} takes {count} arguments; a claim about states takes (config, state) or (state)")


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


def always(sentence: str, **more: Any) -> Callable[[Callable[..., bool]], Always]:
    """Make an `Always` from a predicate over (config, state) or (state)."""
    return lambda test: Always(name=_name(test), sentence=sentence, check=_about_states(test), **more)


def each_step(sentence: str, **more: Any) -> Callable[[StepTest], EachStep]:
    """Make an `EachStep` from a predicate over a step; `when=` is its antecedent."""
    return lambda test: EachStep(name=_name(test), sentence=sentence, check=test, **more)


def reachable(sentence: str, **more: Any) -> Callable[[StepTest], Reachable]:
    """Make a `Reachable` from its goal, a predicate over a step."""
    return lambda goal: Reachable(name=_name(goal), sentence=sentence, goal=goal, **more)


def eventually(sentence: str, **more: Any) -> Callable[[StepTest], Eventually]:
    """Make an `Eventually` from its goal, a predicate over a step."""
    return lambda goal: Eventually(name=_name(goal), sentence=sentence, goal=goal, **more)


def leads_to(sentence: str, *, trigger: StepTest, **more: Any) -> Callable[[StepTest], LeadsTo]:
    """Make a `LeadsTo` from its goal; `trigger=` and `fairness=` complete it."""
    return lambda goal: LeadsTo(name=_name(goal), sentence=sentence, trigger=trigger, goal=goal, **more)


def deadlock_free(sentence: str, *, wants: Callable[..., bool], **more: Any) -> Callable[[StepTest], DeadlockFree]:
    """Make a `DeadlockFree` from `completes`, a predicate over a step; `wants=` is over states."""
    return lambda completes: DeadlockFree(
        name=_name(completes), sentence=sentence, wants=_about_states(wants), completes=completes, **more
    )


def livelock_free(sentence: str, *, attempts: StepTest, **more: Any) -> Callable[[StepTest], LivelockFree]:
    """Make a `LivelockFree` from `progress`, a predicate over a step; `attempts=` is one too."""
    return lambda progress: LivelockFree(
        name=_name(progress), sentence=sentence, attempts=attempts, progress=progress, **more
    )


def monitor(
    sentence: str, *, start: Callable[[Any], Any], update: Callable[[Any, AnyStep], Any], **more: Any
) -> Callable[[StateTest], Monitor]:
    """Make a `Monitor` from `ok(config, value)`."""
    return lambda ok: Monitor(name=_name(ok), sentence=sentence, start=start, update=update, ok=ok, **more)


def determined_by(
    sentence: str, *, key: Callable[[AnyStep], Hashable], **more: Any
) -> Callable[[Callable[[AnyStep], Hashable]], DeterminedBy]:
    """Make a `DeterminedBy` from `value(step)`; `key=` is what it may depend on."""
    return lambda value: DeterminedBy(name=_name(value), sentence=sentence, key=key, value=value, **more)


def commute(
    sentence: str, *, pairs: Callable[[Any, Any, tuple[Any, ...]], Iterable[tuple[Any, Any]]], **more: Any
) -> Callable[[Callable[[Any, AnyStep, AnyStep], bool]], Commute]:
    """Make a `Commute` from `same(config, one_order, other_order)`."""
    return lambda same: Commute(name=_name(same), sentence=sentence, pairs=pairs, same=same, **more)


def two_run(sentence: str, **more: Any) -> Callable[[Callable[[Any, AnyStep, AnyStep | None], bool]], TwoRun]:
    """Make a `TwoRun` from `agree(w, step, other)`; `twins`, `config`, `state`, `other` complete it."""
    return lambda agree: TwoRun(name=_name(agree), sentence=sentence, agree=agree, **more)
