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
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

from evenhand.core.answers import Gives, called, checked_call, kind_of, short
from evenhand.core.system import Step, System

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
    "checked_claims",
    "commute",
    "deadlock_free",
    "determined_by",
    "each_step",
    "eventually",
    "leads_to",
    "livelock_free",
    "monitor",
    "reachable",
    "speaks_of",
    "two_run",
]

AnyStep: TypeAlias = Step[Any, Any, Any, Any]
StepTest: TypeAlias = Callable[[AnyStep], bool]
StateTest: TypeAlias = Callable[[Any, Any], bool]
Calls: TypeAlias = Mapping[str, tuple[Gives, tuple[str, ...]]]


def every_step(_step: AnyStep) -> bool:
    """The antecedent of a claim about every step."""
    return True


def every_state(_config: Any, _state: Any) -> bool:
    """The antecedent of a claim about every state."""
    return True


_SHARED = {"when", "trigger", "goal", "attempts", "progress", "completes"}
_APPLIES: tuple[Gives, tuple[str, ...]] = ("answer", ("config",))
_STATE: tuple[Gives, tuple[str, ...]] = ("answer", ("config", "state"))
_STEP: tuple[Gives, tuple[str, ...]] = ("answer", ("step",))
_OF_STEP: tuple[Gives, tuple[str, ...]] = ("value", ("step",))


@dataclass(frozen=True, kw_only=True, repr=False)
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

    CALLS: ClassVar[Calls] = {}
    """The functions of a kind: what each gives and takes.  Every engine asks them through `answers.checked_call`."""

    def __post_init__(self) -> None:
        """Check the functions, so that nothing but True and False is taken for an answer.  Raises TypeError."""
        defaults = {entry.name: entry.default for entry in fields(self)}
        for name, (gives, takes) in {"applies": _APPLIES, **self.CALLS}.items():
            function = getattr(self, name)
            if function is not defaults[name]:
                try:
                    # What claims may share is named by its role alone, so that it is asked once for all of them.
                    role = f"`{name}`" if name in _SHARED and not isinstance(self, Monitor) else self._role(name)
                    object.__setattr__(self, name, checked_call(_with_config(function, takes), gives, takes, role))
                except TypeError as error:
                    raise TypeError(f"claim {self.name!r}: {error}") from None
        for text in ("name", "sentence", "source"):
            if not isinstance(value := getattr(self, text), str):
                mend = 'write @kind("sentence")'
                raise TypeError(f"claim {self.name!r}: its {text} is a text, not {short(value)}; {mend}")
        if not self.name.strip():
            raise ValueError("a claim has no name; verdicts and counterexamples go by it")
        for listing in ("systems", "fairness"):
            given: Any = getattr(self, listing, cast("Any", ()))
            kind = kind_of(given)
            if kind == "list":
                given = tuple(given)
                object.__setattr__(self, listing, given)
            if not isinstance(given, tuple) or not all(isinstance(one, str) for one in cast("tuple[Any, ...]", given)):
                mend = f"write {listing}=({given!r},)" if isinstance(given, str) else "name each as a text"
                raise TypeError(f"claim {self.name!r}: `{listing}` is a tuple of names, no {kind}; {mend}")

    def _role(self, name: str) -> str:
        return "" if name == "check" else f"`{name}` of claim {self.name!r}"

    def __repr__(self) -> str:
        """One line: the functions of a claim say nothing in a failing assertion."""
        return f"<{self.kind} {self.name}: {self.sentence}>"

    @property
    def kind(self) -> str:
        """The kind in snake_case, as reports print it."""
        return _decorator(type(self)).removeprefix("@")


@dataclass(frozen=True, kw_only=True, repr=False)
class Always(Property):
    """`check(config, state)` in every reachable state (an invariant)."""

    check: StateTest
    when: StateTest = every_state

    CALLS: ClassVar[Calls] = {"check": _STATE, "when": _STATE}


@dataclass(frozen=True, kw_only=True, repr=False)
class EachStep(Property):
    """`check(step)` on every step from a reachable state, wherever `when(step)`."""

    check: StepTest
    when: StepTest = every_step

    CALLS: ClassVar[Calls] = {"check": _STEP, "when": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class Reachable(Property):
    """Some reachable step satisfies `goal`: guards against models that are safe because they are dead.

    HOLDS carries the shortest run as its evidence; REFUTED needs a complete search.
    """

    goal: StepTest

    CALLS: ClassVar[Calls] = {"goal": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class LeadsTo(Property):
    """Every step satisfying `trigger` is followed, then or later, by one satisfying `goal`.

    Under the named fairness assumptions of the system (`fairness`, keys of `System.fair`), on every
    infinite run and on every run that ends.  Decided on closed graphs only; refuted by a lasso, or by a
    run that ends without the goal.
    """

    trigger: StepTest
    goal: StepTest
    fairness: tuple[str, ...] = ()

    CALLS: ClassVar[Calls] = {"trigger": _STEP, "goal": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class Eventually(Property):
    """Every run satisfies `goal` at some step, under the named fairness assumptions."""

    goal: StepTest
    fairness: tuple[str, ...] = ()

    CALLS: ClassVar[Calls] = {"goal": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class DeadlockFree(Property):
    """From every reachable state in which somebody wants to act, some continuation completes.

    `wants(config, state)` and `completes(step)` say so; a deadlock is a reachable state that wants and
    from which no step satisfying `completes` is reachable (not EF completes).
    """

    wants: StateTest
    completes: StepTest

    CALLS: ClassVar[Calls] = {"wants": _STATE, "completes": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class LivelockFree(Property):
    """No fair infinite run keeps attempting and never progresses.

    A livelock is a loop with some `attempts(step)`, no `progress(step)`, that is fair in every named way.
    """

    attempts: StepTest
    progress: StepTest
    fairness: tuple[str, ...] = ()

    CALLS: ClassVar[Calls] = {"attempts": _STEP, "progress": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class Monitor(Property):
    """A claim about a history: a deterministic observer runs along, `ok` must hold after every step.

    `start(config)` gives its first value (hashable), `update(value, step)` the next; `ok(config, value)`.
    `when(config, value)` is the antecedent.
    """

    start: Callable[[Any], Any]
    update: Callable[[Any, AnyStep], Any]
    ok: StateTest
    when: StateTest = every_state

    CALLS: ClassVar[Calls] = {
        "start": ("value", ("config",)),
        "update": ("value", ("value", "step")),
        "ok": ("answer", ("config", "value")),
        "when": ("answer", ("config", "value")),
    }


@dataclass(frozen=True, kw_only=True, repr=False)
class DeterminedBy(Property):
    """Steps with equal `key` have equal `value`: the value depends on nothing but the key.

    Decided in one hash pass over the steps of one configuration, or across all of them if `across`.
    Refuted by the pair of runs that end in the two steps.
    """

    key: Callable[[AnyStep], Hashable]
    value: Callable[[AnyStep], Hashable]
    when: StepTest = every_step
    across: bool = True

    CALLS: ClassVar[Calls] = {"key": _OF_STEP, "value": _OF_STEP, "when": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class Commute(Property):
    """From a reachable state, two actions in either order lead to what `same` calls the same.

    `pairs(config, state, enabled)` picks the pairs; `same(config, first_then_second, second_then_first)`
    compares the two final steps.
    """

    pairs: Callable[[Any, Any, tuple[Any, ...]], Iterable[tuple[Any, Any]]]
    same: Callable[[Any, AnyStep, AnyStep], bool]

    CALLS: ClassVar[Calls] = {
        "pairs": ("values", ("config", "state", "enabled")),
        "same": ("answer", ("config", "first", "second")),
    }


@dataclass(frozen=True, kw_only=True, repr=False)
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

    CALLS: ClassVar[Calls] = {
        "twins": ("values", ("config", "state", "action")),
        "config": ("value", ("w", "config")),
        "state": ("value", ("w", "config", "state")),
        "other": ("values", ("w", "action")),
        "agree": ("answer", ("w", "step", "other")),
    }


def _with_config(test: Callable[..., Any], takes: tuple[str, ...]) -> Callable[..., Any]:
    """A predicate that may leave the configuration out, (state) for (config, state), with both arguments."""
    if takes != ("config", "state") or not callable(test) or getattr(test, "__asked__", None) is test:
        return test
    try:
        given = [one for one in inspect.signature(test).parameters.values() if one.kind in _BY_PLACE]
    except (TypeError, ValueError):  # some built-in functions have none
        given = []
    if inspect.isbuiltin(test) or inspect.isclass(test):
        raise TypeError(f"{short(test)} is a built-in, no predicate over states; write a function with `def`")
    needed = [one for one in given if one.default is inspect.Parameter.empty]
    if len(needed or given) != 1:
        return test

    def without(_config: Any, state: Any) -> Any:
        return test(state)

    return functools.update_wrapper(without, test, updated=())  # reports look for where it is written


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

K = TypeVar("K", bound="Property")


_NAMED = ("when", "trigger", "wants", "attempts", "start", "update", "key", "pairs")
"""The arguments of decorators that are None where they were left out."""


def _claim(kind: type[K], sentence: Any, main: str, function: Any, given: Mapping[str, Any]) -> K:
    """The claim of that kind whose function `main` was decorated.  Raises TypeError or ValueError that names it."""
    more: dict[str, Any] = {name: value for name, value in given.items() if value is not None or name not in _NAMED}
    name = more.get("name", getattr(function, "__name__", ""))
    what = f"claim {name!r}" if name else "a claim"
    if not callable(function):
        raise TypeError(f"{short(function)} is no function; decorate a predicate with the kind and a sentence")
    if not name:
        raise TypeError(f"{short(function)} has no name; write a function with `def`, or give name=…")
    if not isinstance(name, str) or any(c in name for c in "/\\\n\r"):
        raise ValueError(f"{name!r} is no name for a claim: it stands on one line, without slashes")
    known = {entry.name: entry for entry in fields(kind)}
    for field_name in more:
        if field_name not in known or field_name in (main, "sentence"):
            there = sorted(set(known) - {main, "sentence"})
            near = get_close_matches(field_name, there, n=1, cutoff=0.6)
            meant = f"; did you mean `{near[0]}`?" if near else f"; there is: {', '.join(there)}"
            raise TypeError(f"{what}: {_decorator(kind)} takes no `{field_name}`{meant}")
    lacking = [n for n, e in known.items() if e.default is MISSING and n not in (*more, main, "name", "sentence")]
    if lacking:
        raise TypeError(f"{what}: {_decorator(kind)} needs {', '.join(f'`{one}`' for one in lacking)} as well")
    if kind is Always and _is_open(function):
        raise TypeError(f"{what}: {called(function)} takes any arguments; write (state) or (config, state)")
    made: dict[str, Any] = {"name": name, **more, "sentence": sentence, main: function}
    return kind(**made)


def _decorator(kind: type[Property]) -> str:
    return "@" + "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(kind.__name__))


def _is_open(function: Any) -> bool:
    """Whether a function says nothing of how many arguments it takes by place."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.kind is one.VAR_POSITIONAL for one in given) and not any(one.kind in _BY_PLACE for one in given)


def _said(kind: str, sentence: Any) -> None:
    """Raise TypeError or ValueError for what is no sentence: the decorator was put without its call, say."""
    if not isinstance(sentence, str):
        name = getattr(sentence, "__name__", short(sentence))
        raise TypeError(f'@{kind} is called with a sentence first, a text, not {name}; write @{kind}("At most one …")')
    if not sentence.strip():
        raise ValueError(f"@{kind}: the sentence of a claim is empty; say in English what is claimed")


def always(
    sentence: str, *, when: Callable[..., bool] | None = None, **more: Any
) -> Callable[[Callable[..., bool]], Always]:
    """Make an `Always` from a predicate over (config, state) or (state); `when=` is its antecedent."""
    _said("always", sentence)
    return lambda test: _claim(Always, sentence, "check", test, {"when": when, **more})


def each_step(sentence: str, *, when: StepTest | None = None, **more: Any) -> Callable[[StepTest], EachStep]:
    """Make an `EachStep` from a predicate over a step; `when=` is its antecedent."""
    _said("each_step", sentence)
    return lambda test: _claim(EachStep, sentence, "check", test, {"when": when, **more})


def reachable(sentence: str, **more: Any) -> Callable[[StepTest], Reachable]:
    """Make a `Reachable` from its goal, a predicate over a step."""
    _said("reachable", sentence)
    return lambda goal: _claim(Reachable, sentence, "goal", goal, more)


def eventually(sentence: str, **more: Any) -> Callable[[StepTest], Eventually]:
    """Make an `Eventually` from its goal, a predicate over a step; `fairness=` names what is assumed."""
    _said("eventually", sentence)
    return lambda goal: _claim(Eventually, sentence, "goal", goal, more)


def leads_to(sentence: str, *, trigger: StepTest | None = None, **more: Any) -> Callable[[StepTest], LeadsTo]:
    """Make a `LeadsTo` from its goal; `trigger=` and `fairness=` complete it."""
    _said("leads_to", sentence)
    return lambda goal: _claim(LeadsTo, sentence, "goal", goal, {"trigger": trigger, **more})


def deadlock_free(
    sentence: str, *, wants: Callable[..., bool] | None = None, **more: Any
) -> Callable[[StepTest], DeadlockFree]:
    """Make a `DeadlockFree` from `completes`, a predicate over a step; `wants=` is over states."""
    _said("deadlock_free", sentence)
    return lambda completes: _claim(DeadlockFree, sentence, "completes", completes, {"wants": wants, **more})


def livelock_free(
    sentence: str, *, attempts: StepTest | None = None, **more: Any
) -> Callable[[StepTest], LivelockFree]:
    """Make a `LivelockFree` from `progress`, a predicate over a step; `attempts=` is one too."""
    _said("livelock_free", sentence)
    return lambda progress: _claim(LivelockFree, sentence, "progress", progress, {"attempts": attempts, **more})


def monitor(
    sentence: str,
    *,
    start: Callable[[Any], Any] | None = None,
    update: Callable[[Any, AnyStep], Any] | None = None,
    **more: Any,
) -> Callable[[StateTest], Monitor]:
    """Make a `Monitor` from `ok(config, value)`; `start=` and `update=` complete it."""
    _said("monitor", sentence)
    return lambda ok: _claim(Monitor, sentence, "ok", ok, {"start": start, "update": update, **more})


def determined_by(
    sentence: str, *, key: Callable[[AnyStep], Hashable] | None = None, **more: Any
) -> Callable[[Callable[[AnyStep], Hashable]], DeterminedBy]:
    """Make a `DeterminedBy` from `value(step)`; `key=` is what it may depend on."""
    _said("determined_by", sentence)
    return lambda value: _claim(DeterminedBy, sentence, "value", value, {"key": key, **more})


def commute(
    sentence: str,
    *,
    pairs: Callable[[Any, Any, tuple[Any, ...]], Iterable[tuple[Any, Any]]] | None = None,
    **more: Any,
) -> Callable[[Callable[[Any, AnyStep, AnyStep], bool]], Commute]:
    """Make a `Commute` from `same(config, one_order, other_order)`; `pairs=` completes it."""
    _said("commute", sentence)
    return lambda same: _claim(Commute, sentence, "same", same, {"pairs": pairs, **more})


def two_run(sentence: str, **more: Any) -> Callable[[Callable[[Any, AnyStep, AnyStep | None], bool]], TwoRun]:
    """Make a `TwoRun` from `agree(w, step, other)`; `twins`, `config`, `state`, `other` complete it."""
    _said("two_run", sentence)
    return lambda agree: _claim(TwoRun, sentence, "agree", agree, more)


def checked_claims(system: Any, claims: Any) -> tuple[Property, ...]:
    """`claims`, one or a list of them, if they are claims, and `system` is one.  Raises TypeError or ValueError."""
    if not isinstance(system, System):
        made = f"{short(system)} ({type(system).__name__})"
        raise TypeError(f"{made} is no system; make one with evenhand.system(name, initial=…, actions=…, step=…)")
    if isinstance(claims, Property):
        return checked_claims(system, (claims,))
    if isinstance(claims, str | Mapping) or not hasattr(claims, "__iter__"):
        kind = kind_of(claims)
        raise TypeError(f"{system.label}: `claims` is a claim or a list of claims, not {short(claims, 80)} ({kind})")
    found = tuple(claims)
    for claim in found:
        if not isinstance(claim, Property):
            mend = "decorate a predicate, as in `@evenhand.always('At most one …')`"
            mend = "name claims one by one, without a list inside the list" if isinstance(claim, list | tuple) else mend
            raise TypeError(f"{system.label}: {short(claim, 80)} is no claim; {mend}")
    names = [claim.name for claim in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{system.label}: two claims are called {name!r}; verdicts go by the name")
    return found


def speaks_of(claim: Property, system: System[Any, Any, Any, Any, Any]) -> bool:
    """Whether a claim is about a system: it names that, or none."""
    return not claim.systems or system.name in claim.systems
