"""The parts of a protocol's model.

A *system* is a few pure functions over frozen, hashable values: the configurations of a scope, the initial states of a
configuration, the actions on offer, and a total `step`.  Every engine reads this record and nothing else; whatever a
reading or a mutant may change is a callable field of `rules`.

Letters: C configuration, S state, A action, O observation, R rules, X one agent's choice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Generic, Literal, NoReturn, TypeAlias, TypeVar, cast

from evenhand.core.answers import ModelError, caught, checked_call, error_text, kind_of, located, short
from evenhand.core.lookup import UnknownName, named

C = TypeVar("C")
S = TypeVar("S")
A = TypeVar("A")
O = TypeVar("O")  # noqa: E741 - the letter of the design, for what a step shows
R = TypeVar("R")
X = TypeVar("X")
W = TypeVar("W")
T = TypeVar("T")


class Scope(Mapping[str, int]):
    """The sizes of a run (agents, keys, values, depth …): a frozen mapping from names to integers."""

    __slots__ = ("_items",)
    _items: tuple[tuple[str, int], ...]

    def __init__(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> None:
        given = {**(sizes or {}), **more}
        for name, size in given.items():
            if type(size) is not int:
                raise TypeError(f"scope field {name!r} must be an integer, not {short(size)}")
        self._items = tuple(sorted(given.items()))

    def __getitem__(self, name: str) -> int:
        for key, value in self._items:
            if key == name:
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and self._items == other._items

    def __str__(self) -> str:
        return ",".join(f"{key}={value}" for key, value in self._items) or "-"

    def __repr__(self) -> str:
        return f"Scope({self})"

    def updated(self, sizes: Mapping[str, int]) -> Scope:
        """Return this scope with some sizes changed.

        Raises UnknownName for a name this scope lacks, ValueError for a size that is no integer >= 0.
        """
        for name, size in sizes.items():
            named("scope field", name, self)
            if isinstance(size, bool) or not isinstance(size, int) or size < 0:
                raise ValueError(f"scope field {name!r} must be an integer >= 0, not {size!r}")
        return Scope({**dict(self), **sizes})


@dataclass(frozen=True)
class Step(Generic[C, S, A, O]):
    """One action taken in one state: state before, action, observation, state after."""

    config: C
    before: S
    action: A
    shown: O
    after: S

    def once(self, function: Callable[[Step[C, S, A, O]], T]) -> T:
        """Return `function(self)`, computed once for this step; claims that share an analysis of it take it so."""
        known: dict[Any, Any] = self.__dict__.setdefault("_once", {})
        if function not in known:
            known[function] = function(self)
        return cast("T", known[function])


AnyStep: TypeAlias = Step[Any, Any, Any, Any]


@dataclass(frozen=True)
class Joint(Generic[C, S, A, X]):
    """A joint action as a product of choices, one for each agent that may act.

    `agents` are those that choose in a state; `choices` lists what one may choose, simplest first; `join` makes the
    action, `split` takes any action apart, hostile ones too, in the order of `agents` (`join(split(a)) == a` for
    enabled actions).
    """

    agents: Callable[[C, S], tuple[str, ...]]
    choices: Callable[[C, Scope, S, str], Iterable[X]]
    join: Callable[[C, S, tuple[tuple[str, X], ...]], A]
    split: Callable[[A], tuple[tuple[str, X], ...]]


@dataclass(frozen=True)
class Separated(Generic[C, S, A, O, R, X]):
    """`step` in three parts, so that tables of joint choices take one step for all choices with one verdict.

    With `key = reads(rules, config, state)`, and for every joint action `made = tuple((agent, judge(rules, config, key,
    agent, x)) for agent, x in joint.split(action))`, the step equals `apply(rules, config, state, merge(rules, config,
    key, made))`.  `judge` and `merge` read nothing of the state but the key, and the agents that choose and their
    choices depend on it alone.  The search compares samples with `step`, and does without tables where they differ.

    Worth its while for many joint choices: of `cud`'s free agents at agents=4, keys=3, values=2 (14,641 in a state) the
    search takes 2.8 CPU seconds with it, and 56 if tables take each joint choice by itself, which they refuse beyond
    5,000 in a state.  With 512 in a state it is 0.6 and 3.1.
    """

    reads: Callable[[R, C, S], Hashable]
    judge: Callable[[R, C, Any, str, X], Hashable]
    merge: Callable[[R, C, Any, tuple[tuple[str, Any], ...]], Hashable]
    apply: Callable[[R, C, S, Any], tuple[S, O]]


@dataclass(frozen=True)
class Fairness(Generic[S, A]):
    """A scheduling assumption: `taken(state, action)` says that a step serves it.

    Weak: a run in which some serving action is enabled from some point on serves it infinitely often.  Strong: a run in
    which one is enabled infinitely often does.
    """

    kind: Literal["weak", "strong"]
    taken: Callable[[S, A], bool]

    def __post_init__(self) -> None:
        """Refuse an unknown kind, which would silently mean one of the two.  Raises UnknownName or TypeError."""
        if self.kind not in ("weak", "strong"):
            given = self.kind if isinstance(self.kind, str) else repr(self.kind)
            raise UnknownName("kind of fairness", given, ("weak", "strong"))
        taken = checked_call(self.taken, "answer", ("state", "action"), "`taken` of a Fairness")
        object.__setattr__(self, "taken", taken)


@dataclass(frozen=True)
class Quotient(Generic[C, S, A, W]):
    """A group acting on configurations, states and actions.

    `elements(config)` lists the group, identity included; the images are those of one element.  That the step commutes
    with it is a theorem, never assumed: engines use a quotient only under a licence.

    If the group exchanges names, `families(config)` gives the exchangeable names, such as one tuple for agents and one
    for keys, and `swap(config, one, other)` the element that exchanges two names of a family.  The group itself, which
    grows with the factorial, then need not be listed.
    """

    name: str
    elements: Callable[[C], Iterable[W]]
    config: Callable[[W, C], C]
    state: Callable[[W, C, S], S]
    action: Callable[[W, C, A], A]
    families: Callable[[C], tuple[tuple[str, ...], ...]] = lambda _config: ()
    swap: Callable[[C, str, str], W] | None = None


@dataclass(frozen=True)
class Abstraction(Generic[C, S]):
    """A map that takes each state to a representative: instants counted from now, ages up to a cap.

    `state(config, state)` is the representative, which maps to itself.  Unlike a `Quotient` it is no group: an unknown
    number of states may share an image.  That a state and its image offer the same actions in the same order, show the
    same, serve the same fairness and lead to states with one image is a theorem, never assumed: engines use an
    abstraction only under a licence.

    `alike(config, state)` gives some other states with the same image, near and far (a clock that shows a second more,
    and one a million more), reachable or not; none if the state is alone.  Claims are evaluated on them as well,
    because no explored run gets so far, and a claim that reads what the map forgets must not pass.
    """

    name: str
    state: Callable[[C, S], S]
    alike: Callable[[C, S], Iterable[S]]


def is_list(listed: Any) -> bool:
    """Return whether `listed` may be a list of values; texts and mappings are none, though iterable."""
    return hasattr(listed, "__iter__") and not isinstance(listed, str | bytes | Mapping)


def everywhere(_config: Any, _state: Any) -> bool:
    """Return true of every state; engines know it and do not ask."""
    return True


def nowhere(_config: Any, _state: Any) -> bool:
    """Return false of every state."""
    return False


def _no_fairness(_config: Any) -> Mapping[str, Fairness[Any, Any]]:
    return {}


def _nothing_smaller(_config: Any, _start: Any) -> Iterable[tuple[Any, Any]]:
    return ()


_QUESTIONS = {
    "wants": ("config", "state"),
    "may_end": ("config", "state"),
    "progress": ("step",),
    "allows": ("config", "state", "action"),
    "constraint": ("config", "state"),
    "action_constraint": ("step",),
    "over": ("config", "state", "action"),
    "unsaid": ("config", "state", "action"),
}
"""The functions of a system that return True or False, with their arguments."""


@dataclass(frozen=True, repr=False)
class System(Generic[C, S, A, O, R]):
    """An executable model: its configurations, initial states, actions on offer, and step.

    `step` is total and pure: a disabled or hostile action gives a shown rejection and leaves the state.  Either
    `actions` (ordered, lazy) or `joint` gives the actions on offer.  Variants are compared only on what `step` shows.
    `wants` says that an agent would act if allowed, `progress` that a step completed something; both serve the deadlock
    and livelock searches.  `smaller(config, start)` offers simpler initial data to the shrinker, simplest first.
    `allows` says whether an action is on offer (by default: it is among `enabled`).  `actor` names the agent of an
    action where actions are no product ("" for none: a clock); wait-for graphs need it.  `readings` is the record that
    the configurations carry.  `separated`, `quotients`, `abstractions` and `fair` are for the exhaustive search.
    `types` names the classes that `codec` may need to decode.  `conclusion(steps)` is what a run so far amounts to
    where no state says so, such as its terminal class; kernels may tell it.  `may_end` says where a run may end, which
    is where no action is on offer; None where nobody said.  `constraint` and `action_constraint` bound the
    runs: a state outside, or one reached by a step outside, is checked, but no run goes on from there.  `over` says
    where the source lets a run be over for good, so that an action changes nothing: kernels are asked nevertheless.
    `unsaid` says of which actions no section tells what follows: kernels are compared up to there.
    """

    name: str
    rules: R
    configs: Callable[[Scope, Any], Iterable[C]]
    initial: Callable[[C], Iterable[S]]
    step: Callable[[R, C, S, A], tuple[S, O]]
    actions: Callable[[C, Scope, S], Iterable[A]] | None = None
    joint: Joint[C, S, A, Any] | None = None
    scope: Scope = field(default_factory=Scope)
    readings: Any = None
    separated: Separated[C, S, A, O, R, Any] | None = None
    fair: Callable[[C], Mapping[str, Fairness[S, A]]] = _no_fairness
    wants: Callable[[C, S], bool] = everywhere
    progress: Callable[[Step[C, S, A, O]], bool] | None = None
    smaller: Callable[[C, S], Iterable[tuple[C, S]]] = _nothing_smaller
    allows: Callable[[C, S, A], bool] | None = None
    quotients: tuple[Quotient[C, S, A, Any], ...] = ()
    types: tuple[type, ...] = ()
    variant: str = "reference"
    actor: Callable[[A], str] | None = None
    abstractions: tuple[Abstraction[C, S], ...] = ()
    conclusion: Callable[[Sequence[Step[C, S, A, O]]], Any] | None = None
    may_end: Callable[[C, S], bool] | None = None
    views: Mapping[str, Callable[[C, S], Hashable]] = field(default_factory=dict[str, Any])
    constraint: Callable[[C, S], bool] | None = None
    action_constraint: Callable[[Step[C, S, A, O]], bool] | None = None
    over: Callable[[C, S, A], bool] | None = None
    unsaid: Callable[[C, S, A], bool] | None = None

    def __post_init__(self) -> None:
        if (self.actions is None) == (self.joint is None):
            raise ValueError(f"system {self.name!r} needs exactly one of `actions` and `joint`")
        if not isinstance(self.scope, Scope):
            raise TypeError(f"{self.label}: `scope` is a Scope, not {short(self.scope)}; write Scope(agents=2)")
        for name, takes in _QUESTIONS.items():
            function = getattr(self, name)
            if function is not None and function is not everywhere:
                object.__setattr__(self, name, checked_call(function, "answer", takes, f"`{name}`"))

    def __repr__(self) -> str:
        """One line, because the functions of a system say nothing in a failing assertion."""
        return f"<{self.label.capitalize()}{f', {self.scope}' if self.scope else ''}>"

    @property
    def label(self) -> str:
        """The name of this system in messages."""
        return f"system {self.name!r}" + (f" ({self.variant})" if self.variant != "reference" else "")

    def all_configs(self) -> Iterable[C]:
        """Return the configurations of this scope under these readings, in a fixed order."""
        return self.configs(self.scope, self.readings)

    def enabled(self, config: C, state: S) -> Iterator[A]:
        """Return the actions on offer in `state`, in a fixed order, lazily.  Raises ModelError as `take` does."""
        listed: Any = ()
        try:
            if self.actions is not None:
                listed = self._listed("actions", self.actions(config, self.scope, state), state)
        except caught() as error:
            self._blame_offer(state, error)
        if self.joint is None and type(listed) in (tuple, list):
            return iter(listed)  # which cannot raise; a generator would cost as much as a short step
        return self._yielded(config, state, listed)

    def _yielded(self, config: C, state: S, listed: Iterable[A]) -> Iterator[A]:
        try:
            yield from listed if self.joint is None else self._joined(self.joint, config, state)
        except caught() as error:
            self._blame_offer(state, error)

    def _blame_offer(self, state: S, error: BaseException) -> NoReturn:
        if isinstance(error, ModelError):
            raise located(self.label, error) from error.__cause__
        what = "`actions`" if self.joint is None else "`joint`"
        raise ModelError(f"{self.label}: {what} of state {short(state)} raised {error_text(error)}") from error

    def _joined(self, joint: Joint[C, S, A, Any], config: C, state: S) -> Iterator[A]:
        """Every combination of one choice for each agent."""
        agents = self._listed("agents", joint.agents(config, state), state)
        if not agents:
            return
        menus = [tuple(self._listed("choices", joint.choices(config, self.scope, state, a), state)) for a in agents]
        for picked in itertools.product(*menus):
            yield joint.join(config, state, tuple(zip(agents, picked, strict=True)))

    def _listed(self, what: str, listed: T, state: S) -> T:
        """`listed`, if it is a list of values, no text and no mapping.  Raises ModelError."""
        kind = type(listed)
        if kind is tuple or kind is list or is_list(listed):
            return listed
        got = f"{short(listed, 60)} ({kind_of(listed)})"
        mend = "is a `return` missing?" if listed is None else f"write [{short(listed, 60)}]"
        raise ModelError(f"{self.label}: `{what}` of state {short(state)} returned {got}, which is no list; {mend}")

    def is_enabled(self, config: C, state: S, action: A) -> bool:
        """Return whether `action` is on offer in `state`."""
        if self.allows is not None:
            return self.allows(config, state, action)
        if self.joint is not None:
            joint = self.joint
            chosen = joint.split(action)
            return (
                bool(chosen)
                and tuple(agent for agent, _ in chosen) == joint.agents(config, state)
                and all(
                    any(choice == offered for offered in joint.choices(config, self.scope, state, agent))
                    for agent, choice in chosen
                )
                and joint.join(config, state, chosen) == action
            )
        return any(action == offered for offered in self.enabled(config, state))

    def is_unsaid(self, config: C, state: S, action: A) -> bool:
        """Return whether no section tells what follows, so that no kernel is compared from there on."""
        return self.unsaid is not None and self.unsaid(config, state, action)

    def has_answer(self, config: C, state: S, action: A) -> bool:
        """Return whether the source says what follows: the action is on offer, or the run is over for good."""
        is_over = self.over is not None and self.over(config, state, action)
        return (is_over or self.is_enabled(config, state, action)) and not self.is_unsaid(config, state, action)

    def take(self, config: C, state: S, action: A) -> Step[C, S, A, O]:
        """Return the step that `action` makes from `state`.  Raises ModelError if `step` raises or gives no pair."""
        try:
            made = self.step(self.rules, config, state, action)
        except caught() as error:
            self.blame_step(state, action, error)
        after, shown = self.pair_of(made, state, action)
        return Step(config, state, action, shown, after)

    def pair_of(self, made: Any, state: S, action: A) -> tuple[S, O]:
        """Return the result of `step` if it is a pair of state and observation.  Raises ModelError."""
        if not isinstance(made, tuple) or len(cast("tuple[Any, ...]", made)) != 2:
            what = f"returned {short(made, 80)} ({kind_of(made)}), no pair (state, shown)"
            raise ModelError(f"{self.label}: the step of action {short(action)} in state {short(state)} {what}")
        return cast("tuple[S, O]", made)

    def blame_step(self, state: S, action: A, error: BaseException) -> NoReturn:
        """Raise the ModelError that says which step raised, and what to write instead."""
        if isinstance(error, ModelError):
            raise located(self.label, error) from error.__cause__
        raise ModelError(
            f"{self.label}: the step of action {short(action)} in state {short(state)} raised {error_text(error)}. "
            "A step is total and returns (state, shown): show a rejection and leave the state instead"
        ) from error

    @property
    def constrained(self) -> bool:
        """Whether a constraint bounds what is searched."""
        return self.constraint is not None or self.action_constraint is not None

    def inside(self, config: C, state: S) -> bool:
        """Return whether a run may go on from `state`.  Raises ModelError if the constraint raises."""
        return self.constraint is None or self.constraint(config, state)

    def stays(self, step: Step[C, S, A, O]) -> bool:
        """Return whether a run may go on after `step`.  Raises ModelError if a constraint raises."""
        return self.inside(step.config, step.after) and (self.action_constraint is None or self.action_constraint(step))

    def at(self, **sizes: int) -> System[C, S, A, O, R]:
        """Return this system at other sizes.  Raises UnknownName or ValueError as `Scope.updated` does."""
        return replace(self, scope=self.scope.updated(sizes))

    def under(self, **chosen: Any) -> System[C, S, A, O, R]:
        """Return this system under other readings.  Raises UnknownName for a reading or value it lacks."""
        known = reading_values(self.readings)
        for name, value in chosen.items():
            legal = named("reading", name, known)
            if legal and value not in legal:
                raise UnknownName(f"value of reading {name}:", str(value), map(str, legal))
        return replace(self, readings=replace(self.readings, **chosen)) if chosen else self


AnySystem: TypeAlias = System[Any, Any, Any, Any, Any]
"""A system of any types: engines do not know a user's classes."""


@dataclass(frozen=True)
class Mutant(Generic[R]):
    """A deliberate fault: other rules, and where it can be seen.

    `system` and `scope` name the smallest place that can kill it, `readings` those under which it is a fault.
    `expected` is registered before any run: `killed`, or `equivalent` or `open_gap` with a reason.
    """

    name: str
    sentence: str
    source: str
    rules: R
    system: str
    scope: Scope = field(default_factory=Scope)
    readings: tuple[tuple[str, Any], ...] = ()
    expected: Literal["killed", "equivalent", "open_gap"] = "killed"
    reason: str = ""

    def __hash__(self) -> int:
        """The name's hash, because rules may hold what has none."""
        return hash(self.name)

    def of(self, systems: Mapping[str, System[Any, Any, Any, Any, R]]) -> System[Any, Any, Any, Any, R]:
        """Return the mutated system, at the scope and under the readings that the mutant names."""
        base = systems[self.system].at(**dict(self.scope)).under(**dict(self.readings))
        return replace(base, rules=self.rules, variant=self.name)


@dataclass(frozen=True)
class Protocol:
    """The model side of a protocol: the `PROTOCOL` that the registry finds in a module of `evenhand.model`.

    `systems` come with the main one first; `readings` is the default record (or None).
    """

    name: str
    title: str
    source: str
    systems: Mapping[str, System[Any, Any, Any, Any, Any]]
    readings: Any = None
    mutants: tuple[Mutant[Any], ...] = ()


def reading(*values: Any, sentence: str) -> Any:
    """Return a field of a `Readings` record: its legal values, default first, and the sentence it settles.

    With a single value (such as a number in the text) any value of that type is legal.
    """
    return field(default=values[0], metadata={"values": values[1:] and values, "sentence": sentence})


def reading_values(record: Any) -> dict[str, tuple[Any, ...]]:
    """Return the legal values of every reading of a record, default first; empty for None.

    An empty tuple means that any value of the default's type is legal.
    """
    if record is None or not is_dataclass(record):
        return {}
    return {entry.name: tuple(entry.metadata.get("values", ())) for entry in fields(record)}
