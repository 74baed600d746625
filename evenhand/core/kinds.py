"""The kinds of claims about one run: what each says of states, steps or whole runs.

A kind is a frozen record that carries its meaning; engines, judge and pages ask it and know families alone: `Safety`
(an automaton that reads a run), `Reachable` (a goal), `Liveness` (what is raised is served), `DeadlockFree`, and those
of `relations`, which compare runs.  A new kind of `Safety`, `Liveness` or `relations.Paired` is one class.

A claim may read the configuration (and its readings), never a system's `rules`, or a mutant would be judged by its own
rules.  `when` is the antecedent: the steps (or states) the claim is about.  A claim whose antecedent is never met, or
that was never near being false, shows nothing; engines count both.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, TypeAlias, cast

from evenhand.core.answers import Gives, checked_call, kind_of, short
from evenhand.core.plan import Expectation
from evenhand.core.system import AnyStep

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
STATE: tuple[Gives, tuple[str, ...]] = ("answer", ("config", "state"))
STEP: tuple[Gives, tuple[str, ...]] = ("answer", ("step",))
_PROVED: Calls = {"rank": ("value", ("config", "state")), "helps": ("answer", ("config", "state", "agent"))}


@dataclass(frozen=True, kw_only=True, repr=False)
class Property:
    """The fields of every kind of claim.

    `name` is snake_case; `sentence` is the claim in English; `source` the paragraph it comes from; `version` goes up
    when the meaning changes, so that old fixtures fail loudly.  `systems` names the systems it is about (empty: every
    system of its protocol).  `applies` says under which configurations (readings) it is claimed.  `expected` are the
    verdicts registered before any run, where they are not HOLDS.
    """

    name: str
    sentence: str
    source: str = ""
    version: int = 1
    systems: tuple[str, ...] = ()
    applies: Callable[[Any], bool] = field(default=lambda _config: True)
    expected: tuple[Expectation, ...] = ()

    CALLS: ClassVar[Calls] = {}
    """The functions of a kind: what each gives and takes.  Engines call them through `answers.checked_call`."""
    existential: ClassVar[bool] = False
    """Whether evidence witnesses the claim instead of refuting it."""
    sampled: ClassVar[bool] = True
    """Whether drawn runs can establish the claim."""

    def __post_init__(self) -> None:
        """Check the fields and wrap the functions, so that only True and False count as answers."""
        defaults = {entry.name: entry.default for entry in fields(self)}
        for name, (gives, takes) in {"applies": _APPLIES, **self.CALLS}.items():
            function = getattr(self, name)
            if function is not defaults[name]:
                try:
                    # A function that claims may share is named by its role alone, so that one wrapper serves them all.
                    role = f"`{name}`" if name in _SHARED and "value" not in takes else self._role(name)
                    object.__setattr__(self, name, checked_call(with_config(function, takes), gives, takes, role))
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
    def across_configurations(self) -> bool:
        """Whether runs of different configurations are compared."""
        return False

    @property
    def kind(self) -> str:
        """The kind in snake_case, as reports print it."""
        return decorator(type(self)).removeprefix("@")


@dataclass(frozen=True, kw_only=True, repr=False)
class Safety(Property):
    """A claim that a finite run refutes.  A deterministic automaton reads the run.

    It starts with `memory(config)` (hashable); `follow(memory, step)` is its memory after a step, and
    `answer(config, memory)` says whether the claim is kept there, or None where it says nothing.  A kind that needs no
    memory says in `reads` that it looks at states or steps alone, and gives `tests` instead.
    """

    reads: ClassVar[Literal["states", "steps", "histories"]] = "histories"

    @property
    def tests(self) -> tuple[Callable[..., bool], Callable[..., bool]]:
        """The predicates `(when, check)`: over (config, state) for a kind that reads states, else over a step."""
        raise NotImplementedError

    def memory(self, config: Any) -> Any:
        """Return the memory at the start of a run."""
        return None

    def follow(self, memory: Any, step: AnyStep) -> Any:
        """Return the memory after a step."""
        return memory

    def at_start(self, config: Any, state: Any) -> bool | None:
        """Return the answer at an initial state."""
        if self.reads != "states":
            return None
        when, check = self.tests
        return check(config, state) if when(config, state) else None

    def answer(self, config: Any, memory: Any) -> bool | None:
        """Return the answer that a memory gives."""
        raise NotImplementedError

    def at(self, config: Any, memory: Any, step: AnyStep) -> bool | None:
        """Return the answer after a step, given the memory after it."""
        if self.reads == "histories":
            return self.answer(config, memory)
        if self.reads == "states":
            return self.at_start(config, step.after)
        when, check = self.tests
        return check(step) if when(step) else None

    def why(self, config: Any, start: Any, steps: Sequence[AnyStep]) -> str:
        """Say more about a run after whose last step the claim is false; empty: nothing."""
        return ""

    def answers(self, config: Any, start: Any, steps: Iterable[AnyStep]) -> Iterator[bool | None]:
        """Yield the answer at the start of a run and after each of its steps."""
        yield self.at_start(config, start)
        memory = self.memory(config)
        for step in steps:
            memory = self.follow(memory, step)
            yield self.at(config, memory, step)


@dataclass(frozen=True, kw_only=True, repr=False)
class Always(Safety):
    """An invariant: `check(config, state)` in every reachable state, wherever `when(config, state)`."""

    check: StateTest
    when: StateTest = every_state

    CALLS: ClassVar[Calls] = {"check": STATE, "when": STATE}
    reads = "states"

    @property
    def tests(self) -> tuple[StateTest, StateTest]:
        """The antecedent and the check."""
        return self.when, self.check


@dataclass(frozen=True, kw_only=True, repr=False)
class EachStep(Safety):
    """`check(step)` on every step from a reachable state, wherever `when(step)`."""

    check: StepTest
    when: StepTest = every_step

    CALLS: ClassVar[Calls] = {"check": STEP, "when": STEP}
    reads = "steps"

    @property
    def tests(self) -> tuple[StepTest, StepTest]:
        """The antecedent and the check."""
        return self.when, self.check


@dataclass(frozen=True, kw_only=True, repr=False)
class Monitor(Safety):
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

    def memory(self, config: Any) -> Any:
        """Return the monitor's first value."""
        return self.start(config)

    def follow(self, memory: Any, step: AnyStep) -> Any:
        """Return the monitor's next value."""
        return self.update(memory, step)

    def answer(self, config: Any, memory: Any) -> bool | None:
        """Return whether the value is as claimed."""
        return self.ok(config, memory) if self.when(config, memory) else None


@dataclass(frozen=True, kw_only=True, repr=False)
class Reachable(Property):
    """Some reachable step satisfies `goal`: guards against models that are safe because nothing happens.

    HOLDS carries the shortest run as evidence; REFUTED needs a complete search.
    """

    goal: StepTest

    CALLS: ClassVar[Calls] = {"goal": STEP}
    existential = True
    sampled = False


@dataclass(frozen=True, kw_only=True, repr=False)
class Liveness(Property):
    """A claim about whole runs: what is raised is served, then or later, on every fair run.

    `tests` are the two predicates over steps, `(raises, serves)`.  `begins` says where a run owes something: from its
    start on (and for good once served), from a step that raises it on, or in a loop that raises it.  A lasso refutes
    the claim; a run that ends refutes it too, unless only loops count.  `fairness` names assumptions of `System.fair`.
    Decided on closed graphs only.

    `rank(config, state)` and `helps(config, state, agent)` are for the proof for any number of agents, which checks
    them: what falls until the claim is met, and of which agents the assumption for each of them makes it fall.
    """

    fairness: tuple[str, ...] = ()
    rank: Callable[[Any, Any], Any] | None = None
    helps: Callable[[Any, Any, Any], bool] | None = None

    begins: ClassVar[Literal["start", "step", "loop"]]
    sampled = False

    @property
    def tests(self) -> tuple[StepTest, StepTest]:
        """The predicates `(raises, serves)`."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True, repr=False)
class LeadsTo(Liveness):
    """Every step that satisfies `trigger` is followed, then or later, by one that satisfies `goal`."""

    trigger: StepTest
    goal: StepTest

    CALLS: ClassVar[Calls] = {"trigger": STEP, "goal": STEP, **_PROVED}
    begins = "step"

    @property
    def tests(self) -> tuple[StepTest, StepTest]:
        """The trigger and the goal."""
        return self.trigger, self.goal


@dataclass(frozen=True, kw_only=True, repr=False)
class Eventually(Liveness):
    """Every run satisfies `goal` at some step, under the named fairness assumptions."""

    goal: StepTest

    CALLS: ClassVar[Calls] = {"goal": STEP, **_PROVED}
    begins = "start"

    @property
    def tests(self) -> tuple[StepTest, StepTest]:
        """Every step, and the goal."""
        return every_step, self.goal


@dataclass(frozen=True, kw_only=True, repr=False)
class LivelockFree(Liveness):
    """No fair infinite run keeps attempting and never progresses.

    A livelock is a loop with some `attempts(step)`, no `progress(step)`, that meets every named fairness assumption.
    """

    attempts: StepTest
    progress: StepTest

    CALLS: ClassVar[Calls] = {"attempts": STEP, "progress": STEP, **_PROVED}
    begins = "loop"

    @property
    def tests(self) -> tuple[StepTest, StepTest]:
        """An attempt, and progress."""
        return self.attempts, self.progress


@dataclass(frozen=True, kw_only=True, repr=False)
class DeadlockFree(Property):
    """From every reachable state in which an agent wants to act, some continuation completes.

    A deadlock is a reachable state with `wants(config, state)` from which no step with `completes(step)` is reachable
    (not EF completes).
    """

    wants: StateTest
    completes: StepTest

    CALLS: ClassVar[Calls] = {"wants": STATE, "completes": STEP}
    sampled = False


def with_config(test: Callable[..., Any], takes: tuple[str, ...]) -> Callable[..., Any]:
    """Return a predicate over (state) as one over (config, state).  Raises TypeError for a built-in."""
    if takes != ("config", "state") or not callable(test) or getattr(test, "__asked__", None) is test:
        return test
    try:
        given = [one for one in inspect.signature(test).parameters.values() if one.kind in BY_PLACE]
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


BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def decorator(kind: type[Property]) -> str:
    return "@" + "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(kind.__name__))
