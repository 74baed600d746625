"""Claims: one English sentence, its source paragraph, a kind, a predicate.

Every kind is a frozen record; engines look only at the kind.  A claim may read the configuration (and its readings),
never a system's `rules`, or a mutant would be judged by its own rules.  `when` is the antecedent: the steps (or states)
the claim is about.  A claim whose antecedent is never met, or that was never near being false, shows nothing; engines
count both.

The decorators below make the records:

    @always("At most one process is in the critical section.", source="P1")
    def mutual_exclusion(config: Config, state: State) -> bool: ...

A predicate over a state may omit the configuration (`def f(state)`), for systems that have none.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

from evenhand.core.answers import Gives, called, checked_call, kind_of, short
from evenhand.core.plan import Expectation
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
    "names",
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
    """The fields of every kind of claim.

    `name` is snake_case; `sentence` is the claim in English; `source` the paragraph it comes from; `version` goes up
    when the meaning changes, so that old fixtures fail loudly.  `systems` names the systems it is about (empty: every
    system of its protocol).  `applies` says under which configurations (readings) it is claimed.  `proved` marks a
    claim that is also to be proved.  `expected` are the verdicts registered before any run, where they are not HOLDS.
    """

    name: str
    sentence: str
    source: str = ""
    version: int = 1
    systems: tuple[str, ...] = ()
    applies: Callable[[Any], bool] = field(default=lambda _config: True)
    proved: bool = False
    expected: tuple[Expectation, ...] = ()

    CALLS: ClassVar[Calls] = {}
    """The functions of a kind: what each gives and takes.  Engines call them through `answers.checked_call`."""

    def __post_init__(self) -> None:
        """Check the fields and wrap the functions, so that only True and False count as answers."""
        defaults = {entry.name: entry.default for entry in fields(self)}
        for name, (gives, takes) in {"applies": _APPLIES, **self.CALLS}.items():
            function = getattr(self, name)
            if function is not defaults[name]:
                try:
                    # A function that claims may share is named by its role alone, so that one wrapper serves them all.
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

        object.__setattr__(self, "expected", tuple(replace(one, claim=self.name) for one in self.expected))

    def _role(self, name: str) -> str:
        return "" if name == "check" else f"`{name}` of claim {self.name!r}"

    def __repr__(self) -> str:
        """One line, because the functions of a claim say nothing in a failing assertion."""
        return f"<{self.kind} {self.name}: {self.sentence}>"

    @property
    def kind(self) -> str:
        """The kind in snake_case, as reports print it."""
        return _decorator(type(self)).removeprefix("@")


@dataclass(frozen=True, kw_only=True, repr=False)
class Always(Property):
    """An invariant: `check(config, state)` in every reachable state, wherever `when(config, state)`."""

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
    """Some reachable step satisfies `goal`: guards against models that are safe because nothing happens.

    HOLDS carries the shortest run as evidence; REFUTED needs a complete search.
    """

    goal: StepTest

    CALLS: ClassVar[Calls] = {"goal": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class LeadsTo(Property):
    """Every step that satisfies `trigger` is followed, then or later, by one that satisfies `goal`.

    Claimed of infinite runs under the named fairness assumptions (`fairness`, keys of `System.fair`), and of every run
    that ends.  Decided on closed graphs only; refuted by a lasso, or by a run that ends without the goal.
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
    """From every reachable state in which an agent wants to act, some continuation completes.

    A deadlock is a reachable state with `wants(config, state)` from which no step with `completes(step)` is reachable
    (not EF completes).
    """

    wants: StateTest
    completes: StepTest

    CALLS: ClassVar[Calls] = {"wants": _STATE, "completes": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class LivelockFree(Property):
    """No fair infinite run keeps attempting and never progresses.

    A livelock is a loop with some `attempts(step)`, no `progress(step)`, that meets every named fairness assumption.
    """

    attempts: StepTest
    progress: StepTest
    fairness: tuple[str, ...] = ()

    CALLS: ClassVar[Calls] = {"attempts": _STEP, "progress": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class Monitor(Property):
    """A claim about a history: a deterministic monitor runs along, and `ok` must hold after every step.

    `start(config)` is its first value (hashable), `update(value, step)` the next; `ok(config, value)` is the check,
    `when(config, value)` the antecedent.
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
    """Steps with equal `key` have equal `value`: the value depends only on the key.

    Decided in one hash pass over the steps of one configuration, or across all of them if `across`.  Refuted by the
    pair of runs that end in the two steps.
    """

    key: Callable[[AnyStep], Hashable]
    value: Callable[[AnyStep], Hashable]
    when: StepTest = every_step
    across: bool = True

    CALLS: ClassVar[Calls] = {"key": _OF_STEP, "value": _OF_STEP, "when": _STEP}


@dataclass(frozen=True, kw_only=True, repr=False)
class Commute(Property):
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


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoRun(Property):
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


def _with_config(test: Callable[..., Any], takes: tuple[str, ...]) -> Callable[..., Any]:
    """Let a predicate over (state) take (config, state).  Raises TypeError for a built-in."""
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

    return functools.update_wrapper(without, test, updated=())  # reports name where it is written


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

K = TypeVar("K", bound="Property")


_NAMED = ("when", "trigger", "wants", "attempts", "start", "update", "key", "pairs")
"""Arguments of decorators that are None if they were left out."""


def _claim(kind: type[K], sentence: Any, main: str, function: Any, given: Mapping[str, Any]) -> K:
    """The claim whose function `main` was decorated.  Raises TypeError or ValueError that names it."""
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
    """Whether a function takes any number of positional arguments and names none."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.kind is one.VAR_POSITIONAL for one in given) and not any(one.kind in _BY_PLACE for one in given)


def _said(kind: str, sentence: Any) -> None:
    """Raise TypeError or ValueError for a missing sentence, such as a decorator used without its call."""
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
    """Make an `Eventually` from its goal, a predicate over a step; `fairness=` names the assumptions."""
    _said("eventually", sentence)
    return lambda goal: _claim(Eventually, sentence, "goal", goal, more)


def leads_to(sentence: str, *, trigger: StepTest | None = None, **more: Any) -> Callable[[StepTest], LeadsTo]:
    """Make a `LeadsTo` from its goal; `trigger=` and `fairness=` complete it."""
    _said("leads_to", sentence)
    return lambda goal: _claim(LeadsTo, sentence, "goal", goal, {"trigger": trigger, **more})


def deadlock_free(
    sentence: str, *, wants: Callable[..., bool] | None = None, **more: Any
) -> Callable[[StepTest], DeadlockFree]:
    """Make a `DeadlockFree` from `completes`, a predicate over a step; `wants=` is one over states."""
    _said("deadlock_free", sentence)
    return lambda completes: _claim(DeadlockFree, sentence, "completes", completes, {"wants": wants, **more})


def livelock_free(
    sentence: str, *, attempts: StepTest | None = None, **more: Any
) -> Callable[[StepTest], LivelockFree]:
    """Make a `LivelockFree` from `progress`, a predicate over a step; `attempts=` is another."""
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
    """Return the claims of a system as a tuple.  Raises TypeError or ValueError for anything else."""
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


def names(*claims: Property) -> tuple[str, ...]:
    """Return the names of claims, as plans and theorems take them."""
    return tuple(claim.name for claim in claims)


def speaks_of(claim: Property, system: System[Any, Any, Any, Any, Any]) -> bool:
    """Return whether a claim is about a system: it names that system, or none."""
    return not claim.systems or system.name in claim.systems
