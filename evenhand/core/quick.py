"""Make a system in a few lines, for a team's own test file: no rules, no subclass.

lock = evenhand.system(
    "lock",
    initial=[("idle", "idle")],
    actions=lambda state: [...],
    step=lambda state, action: ...,
)
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any, TypeAlias, TypedDict, Unpack

from evenhand.core.alike import only_itself
from evenhand.core.answers import MOST, ModelError, called, caught, error_text, kind_of, known_names, short
from evenhand.core.symmetry import MOST_AGENTS, Rename, orbit_of, renamed
from evenhand.core.system import AnyStep, Fairness, Scope, System, everywhere, is_list, nowhere


class SystemOptions(TypedDict, total=False):
    """The optional arguments of `system`.

    `shows=True` says that `step` returns `(new state, observation)`, `shows=False` that a pair is a state.  `fair`
    names fairness assumptions for claims about whole runs, `wants(state)` says whether an agent wants to act,
    `progress(step)` whether a step completes something.  `types` names your dataclasses and enums, so that
    counterexamples can be saved and read back.  `ends` says whether a run may reach a state that offers no action, or
    in which states it may: `verify` refutes any other end, and warns of ends where nothing is said.
    `constraint(state)` and `action_constraint(step)` bound the runs: a state outside is checked, but no run goes on
    from there, nor after a step outside.  `view(state)` names what of a state counts, and `symmetry` the agents that
    are alike, for `explore(..., quotient="view")` or `"symmetry"` under a licence.  Names in the state are exchanged
    by themselves; for numbers and places give `rename(state, to)`, where agent `a` takes the place of agent `to[a]`.
    `config` is a frozen dataclass that lists the agents (`agents: tuple[Agent, ...]`, with `Agent = NewType("Agent",
    int)`), and `scope` says how many: `{"agents": 3}` makes them 0, 1 and 2.  The functions then take the config first:
    `initial(config)`, `actions(config, state)`, `step(config, state, action)`, and `fair` may be a function of it;
    `verify` tries to prove such a system's claims for any number of agents too.
    """

    config: type | None
    scope: Mapping[str, int] | None

    shows: bool | None
    fair: Mapping[str, Fairness[Any, Any]] | Callable[[Any], Mapping[str, Fairness[Any, Any]]] | None
    wants: Callable[[Any], bool] | None
    progress: Callable[[AnyStep], bool] | None
    types: tuple[type, ...]
    ends: bool | Callable[[Any], bool] | None
    constraint: Callable[[Any], bool] | None
    action_constraint: Callable[[AnyStep], bool] | None
    view: Callable[[Any], Hashable] | None
    symmetry: Iterable[Hashable] | None
    rename: Rename | None


def system(
    name: str,
    *,
    initial: Iterable[Hashable] | Callable[[Any], Iterable[Hashable]],
    actions: Callable[[Any], Iterable[Hashable]] | Callable[[Any, Any], Iterable[Hashable]],
    step: Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any],
    **options: Unpack[SystemOptions],
) -> System[Any, Any, Any, Any, None]:
    """Return a system without readings or rules, and without configuration unless `config` is given.

    `initial` lists the start states, `actions(state)` the actions on offer (simplest first), and `step(state, action)`
    returns the new state.  A pair that could be a state or a state with its observation is refused until `shows`
    decides.  States, actions and observations must be hashable.  `SystemOptions` describes `config`, `scope`, `shows`,
    `fair`, `wants`, `progress`, `types`, `ends`, `constraint`, `action_constraint`, `view`, `symmetry` and `rename`.

    Raises TypeError or ValueError for invalid arguments (no initial state, a text for a list, an unhashable value);
    functions that misbehave later end a run with ModelError.
    """
    if not isinstance(name, str) or not name.strip():
        raise TypeError(f"a system's name is a text, not {short(name)}")
    label = f"system {name!r}"
    known_names("system", options, SystemOptions)
    progress, shows, types = options.get("progress"), options.get("shows"), options.get("types", ())
    _fit_to_be(label, progress, shows, types)
    sized = options.get("config") is not None or options.get("scope") is not None
    first = ("config",) if sized else ()
    configs, initials = _sized(label, initial, options) if sized else _alone(label, initial)
    starts = () if sized else initials(None)
    _function(label, "actions", actions, (*first, "state"))
    _function(label, "step", step, (*first, "state", "action"))
    made: System[Any, Any, Any, Any, None] = System(
        name=name,
        rules=None,
        configs=configs,
        initial=initials,
        step=_taking(label, step, bool(shows) if sized else shows, starts, sized=sized),
        actions=_offering(label, actions, sized=sized),
        scope=Scope(options.get("scope") or {}),
        fair=_assuming(label, options.get("fair"), sized=sized),
        progress=progress,
        types=types,
    )
    wants, ends = options.get("wants"), options.get("ends")
    if isinstance(ends, bool):
        made = replace(made, may_end=everywhere if ends else nowhere)
    elif ends is not None:
        _function(label, "ends", ends, ("state",))
        made = replace(made, may_end=_of_state(ends))
    if wants is not None:
        made = replace(made, wants=_of_state(wants))
    made = replace(made, views=_views(label, options))
    return _constrained(label, made, options.get("constraint"), options.get("action_constraint"))


def _fit_to_be(label: str, progress: Any, shows: Any, types: Any) -> None:
    """Refuse a `progress`, `shows` or `types` that is none.  Raises TypeError."""
    if progress is not None and not callable(progress):
        raise TypeError(f"{label}: `progress` is a function progress(step), not {short(progress)}")
    if shows is not None and not isinstance(shows, bool):
        raise TypeError(f"{label}: `shows` is True or False, not {short(shows)}")
    for kind in types if isinstance(types, tuple) else (types,):
        if not isinstance(kind, type) or not isinstance(types, tuple):
            raise TypeError(f"{label}: `types` is a tuple of classes; write types=(State, Action)")


Initials: TypeAlias = Callable[[Any], tuple[Any, ...]]
Configs: TypeAlias = Callable[[Scope, Any], Iterable[Any]]


def _alone(label: str, initial: Any) -> tuple[Configs, Initials]:
    """The single configuration None, and the initial states."""
    starts = _starts(label, initial)
    return (lambda _scope, _readings: (None,)), (lambda _config: starts)


def _sized(label: str, initial: Any, options: SystemOptions) -> tuple[Configs, Initials]:
    """The configuration of each scope, and its initial states.  Raises TypeError or ValueError."""
    config, scope = options.get("config"), options.get("scope")
    if not isinstance(config, type) or not is_dataclass(config) or not isinstance(scope, Mapping):
        mend = 'config=Config, a frozen dataclass with agents: tuple[Agent, ...], and scope={"agents": 3}'
        raise TypeError(f"{label}: `config` and `scope` go together; write {mend}")
    listed = [one.name for one in fields(config)]
    if sorted(listed) != sorted(scope):
        raise ValueError(
            f"{label}: `scope` gives the size of each field of {config.__name__} ({', '.join(listed)}), "
            f"not of {', '.join(scope) or 'nothing'}"
        )
    _function(label, "initial", initial, ("config",))
    known: dict[Any, tuple[Any, ...]] = {}

    def initials(given: Any) -> tuple[Any, ...]:
        if given not in known:
            try:
                listed = initial(given)
            except caught() as error:
                raise _raised(label, "initial", initial, error, short(given)) from error
            known[given] = _starts(label, listed)
        return known[given]

    initials.__plain__ = initial  # type: ignore[attr-defined]
    return (lambda at, _readings: (config(**{name: tuple(range(at[name])) for name in listed}),)), initials


def _views(label: str, options: SystemOptions) -> dict[str, Callable[[Any, Any], Hashable]]:
    made: dict[str, Callable[[Any, Any], Hashable]] = {}
    view, agents, rename = options.get("view"), options.get("symmetry"), options.get("rename")
    if view is not None:
        _function(label, "view", view, ("state",))
        made["view"] = _of_state(view)
    if agents is None:
        if rename is not None:
            raise TypeError(f"{label}: `rename` exchanges the agents that `symmetry` lists; give both")
        return made
    if isinstance(agents, str) or not hasattr(agents, "__iter__"):
        raise TypeError(f"{label}: `symmetry` lists the agents that are alike, not {short(agents)}")
    listed = tuple(agents)
    if len(set(listed)) < len(listed) or not 2 <= len(listed) <= MOST_AGENTS:
        raise ValueError(f"{label}: `symmetry` lists from 2 to {MOST_AGENTS} different agents, not {short(listed)}")
    if rename is not None:
        _function(label, "rename", rename, ("state", "to"))
    elif not all(isinstance(agent, str) for agent in listed):
        raise TypeError(
            f"{label}: `symmetry` of agents that are no names needs `rename(state, to)`, which exchanges them"
        )
    made["symmetry"] = orbit_of(listed, rename or renamed)
    return made


def _constrained(
    label: str, made: System[Any, Any, Any, Any, None], states: Any, steps: Any
) -> System[Any, Any, Any, Any, None]:
    if states is not None:
        _function(label, "constraint", states, ("state",))
        made = replace(made, constraint=_of_state(states))
    if steps is not None:
        _function(label, "action_constraint", steps, ("step",))
        made = replace(made, action_constraint=steps)
    return made


def _of_state(test: Callable[[Any], Any]) -> Callable[[None, Any], Any]:
    return lambda _config, state: test(state)


def _taking(label: str, step: Any, shows: bool | None, starts: tuple[Any, ...], *, sized: bool) -> Any:
    """`step` with its result checked."""
    harmless: set[type] = set()  # types of states that passed the check
    sure: set[type] = set()  # those whose values, except pairs, need not be looked at again
    lengths = {len(start) for start in starts if type(start) is tuple}

    def take(_rules: None, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        try:
            made = step(config, state, action) if sized else step(state, action)
        except caught() as error:
            raise _raised(label, "step", step, error, f"action {short(action)} in state {short(state)}") from error
        kind, shown = type(made), None
        # A pair is certainly a state where states are plain tuples, and its first half has none of their lengths.
        pair = (
            shows is None
            and kind is tuple
            and len(made) == 2
            and (not lengths or (type(made[0]) is tuple and len(made[0]) in lengths))
        )
        if shows or pair or kind not in harmless:
            made, shown = _result(label, made, shows, starts, pair, state, action)
            harmless.add(type(made))
            if not (shows or sized or (kind is tuple and len(made) == 2)):  # pairs would be made twice
                sure.add(kind)
        try:
            hash(made)
            if shown is not None:
                hash(shown)
        except Exception:
            where = f"`step` of action {short(action, 80)} in state {short(state, 80)}"
            _refuse_unhashable(label, (("state", made), ("shown value", shown)), where)
        return made, shown

    # Engines that observe what the user's function reads call it without these checks, and its source is read.
    take.__plain__, take.__shows__, take.__sized__ = step, bool(shows), sized  # type: ignore[attr-defined]
    take.__sure__ = sure  # type: ignore[attr-defined]
    return take


def _offering(label: str, actions: Any, *, sized: bool) -> Any:
    """`actions` with its result checked."""

    def offered(config: Any, _scope: Any, state: Any) -> Any:
        try:
            listed = actions(config, state) if sized else actions(state)
            if type(listed) is not list and type(listed) is not tuple:
                if not is_list(listed):
                    return listed  # the system raises and says why
                listed = tuple(islice(listed, MOST + 1))
        except caught() as error:
            raise _raised(label, "actions", actions, error, f"state {short(state)}") from error
        if len(listed) > MOST:
            raise ModelError(
                f"{label}: `actions` offers more than {MOST:,} actions in state {short(state)} and may have no "
                "end; offer finitely many, a few of each kind"
            )
        try:
            hash(tuple(listed))
        except Exception:
            _refuse_unhashable(label, (("action", one) for one in listed), f"`actions` of state {short(state, 80)}")
        return listed

    offered.__plain__, offered.__sized__ = actions, sized  # type: ignore[attr-defined]
    return offered


def _starts(label: str, initial: Any) -> tuple[Any, ...]:
    """The initial states.  Refuses a value that could be one state as well as a list of states."""
    as_list = f"write initial=[{short(initial, 60)}]"
    named = isinstance(initial, tuple) and type(initial) is not tuple
    if named or isinstance(initial, str | bytes | Mapping) or not hasattr(initial, "__iter__"):
        what = f"{short(initial, 60)} ({kind_of(initial)})"
        raise TypeError(f"{label}: `initial` lists the initial states, and {what} is no list; {as_list}")
    try:
        starts = tuple(islice(initial, MOST + 1))
    except Exception as error:
        raise ModelError(f"{label}: listing `initial` raised {error_text(error)}") from error
    if not starts:
        raise ValueError(f"{label} has no initial state; `initial` lists at least one")
    if len(starts) > MOST:
        raise ValueError(f"{label}: `initial` lists more than {MOST:,} states and may have no end; list a few")
    for start in starts:
        _hashable(label, "initial state", start)
        if found := only_itself(start):
            raise TypeError(f"{label}: the initial state holds {found}; it is equal to no other state")
    if len(set(starts)) < len(starts):
        twice = next(start for place, start in enumerate(starts) if start in starts[:place])
        one = f"; {as_list} if all of it is one state" if type(initial) is tuple else ""
        raise ValueError(f"{label}: `initial` lists {short(twice, 60)} twice{one}")
    return starts


def _assuming(label: str, fair: Any, *, sized: bool) -> Callable[[Any], Mapping[str, Fairness[Any, Any]]]:
    """The assumptions of a configuration: the same of each, or what a function of the configuration gives."""
    given: Any = fair
    if not (sized and callable(fair)):
        fairness = _fairness(label, given)
        return lambda _config: fairness
    _function(label, "fair", fair, ("config",))

    def fair_in(config: Any) -> Mapping[str, Fairness[Any, Any]]:
        try:
            return _fairness(label, given(config))
        except caught() as error:
            raise _raised(label, "fair", fair, error, f"config {short(config)}") from error

    fair_in.__plain__ = fair  # type: ignore[attr-defined]
    return fair_in


def _fairness(label: str, fair: Mapping[str, Fairness[Any, Any]] | None) -> dict[str, Fairness[Any, Any]]:
    if fair is None:
        return {}
    if not isinstance(fair, Mapping) or not all(isinstance(one, Fairness) for one in fair.values()):
        raise TypeError(
            f"{label}: `fair` maps names to assumptions, as in "
            'fair={"served": evenhand.Fairness("weak", lambda state, action: action == "serve")}, not '
            f"{short(fair, 80)}"
        )
    return dict(fair)


def _function(label: str, what: str, function: Any, takes: tuple[str, ...]) -> None:
    """Refuse a value that cannot be such a function.  Raises TypeError."""
    call = f"{what}({', '.join(takes)})"
    if not callable(function):
        raise TypeError(f"{label}: `{what}` is a function {call}, not {short(function, 80)}")
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{label}: {called(function)} is a coroutine function; write `def` in place of `async def`")
    if what == "step" and inspect.isgeneratorfunction(function):
        why = "has a `yield`, so that it returns an iterator; `step` returns the one state that follows"
        raise TypeError(f"{label}: {called(function)} {why}")
    try:
        inspect.signature(function).bind(*takes)
    except TypeError as error:
        raise TypeError(f"{label}: {called(function)} is called as {call}: {error}") from None
    except ValueError:  # some built-in functions have no signature
        return


def _raised(label: str, what: str, function: Any, error: BaseException, where: str) -> BaseException:
    if isinstance(error, ModelError | MemoryError):
        return error
    total = "; `step` is total: return the state as it was where nothing happens" if what == "step" else ""
    return ModelError(f"{label}: {called(function, f'`{what}`')} raised {error_text(error)} on {where}{total}")


def _result(
    label: str, made: Any, shows: bool | None, starts: tuple[Any, ...], unclear: bool, state: Any, action: Any
) -> tuple[Any, Any]:
    """State and observation from the result of `step`."""
    pair = type(made) is tuple and len(made) == 2
    if shows:
        if pair:
            return made[0], made[1]
        wrong = f"and shows=True, so it must return (new state, what it shows), not {short(made, 80)}"
    elif unclear:
        wrong = (
            f"returned the pair {short(made, 80)}; say shows=True to `evenhand.system` if that is (new state, what it "
            "shows), and shows=False if the pair is the state"
        )
    elif made is None and None not in starts:
        wrong = "returned None; is a `return` missing?"
    elif inspect.iscoroutine(made):
        made.close()
        wrong = "returned a coroutine; write `def` in place of `async def`"
    elif isinstance(made, Iterator):
        wrong = f"returned {short(made, 80)}, an iterator; return the one state that follows"
    else:
        return made, None
    raise ModelError(f"{label}: `step` of action {short(action, 80)} in state {short(state, 80)} {wrong}")


def _refuse_unhashable(label: str, values: Iterable[tuple[str, Any]], where: str) -> None:
    """Raise ModelError for the first unhashable value; says what it is and where it comes from."""
    for what, value in values:
        try:
            hash(value)
        except Exception as error:
            raise ModelError(f"{label}: {_unhashable(what, value, error)}; it comes from {where}") from None


def _hashable(label: str, what: str, value: Any) -> None:
    try:
        hash(value)
    except Exception as error:
        raise TypeError(f"{label}: {_unhashable(what, value, error)}") from None


def _unhashable(what: str, value: Any, error: Exception) -> str:
    return (
        f"{what} {short(value, 80)} is not hashable ({error_text(error)}); use tuples, frozensets or frozen dataclasses"
    )
