"""The systems of RSA-0: one kernel, six systems.

`agent`: decide, check, use, log, and the attacker between them.  `candidates`: every candidate in every context, once.
`lists`: all lists of observations and candidates over one representative of each class.  `session`: composed cycles
under the run conditions.  `constitutions`: composed cycles under every small constitution.
`live`: cycles on the texts of a language model, after its calibration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from typing import Any

from evenhand.core.records import replace
from evenhand.core.system import AnySystem, Fairness, Scope, System
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.conditions import CONDITIONS, menu
from evenhand.model.sovereign.conditions import LIVE as LIVE_CONDITIONS
from evenhand.model.sovereign.constitution import (
    REFERENCE_CONSTITUTION,
    REQUIREMENTS,
    ActionType,
    Constitution,
    IoPolicy,
    Limits,
    cite,
)
from evenhand.model.sovereign.executor import unsaid
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.live import (
    LIVE_TYPES,
    LiveAct,
    LiveShown,
    LiveState,
    begun,
    live_actions,
    live_configs,
    live_step,
)
from evenhand.model.sovereign.menus import (
    ESCAPES,
    TREE,
    at_time,
    budget,
    candidate,
    contexts,
    every_candidate,
    integrity_failure,
    renamed,
    said,
    usual,
)
from evenhand.model.sovereign.paths import dir_, link_
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.state import (
    EXITED,
    TYPES,
    Act,
    Check,
    Config,
    Cycle,
    Decide,
    Log,
    Mutate,
    Restart,
    Shown,
    State,
    Swap,
    Use,
)
from evenhand.model.sovereign.step import (
    REFERENCE,
    SovereignStep,
    agent_step,
    initial,
    judging_step,
    session_step,
    smaller,
)
from evenhand.model.sovereign.vocabulary import (
    ACTION,
    ACTION_TYPES,
    EXECUTORS,
    EXIT_TYPE,
    KERNEL,
    LOG_APPEND,
    NOTIFY,
    READ_LOCAL,
    WRITE_LOCAL,
    Candidate,
    Observation,
    Request,
    ScopeClaim,
    Warrant,
)

SovereignSystem = System[Config, State, Act, Shown, Rules]
D = ("repo", "workspace", "d")
LONG_TEXT = "m" * 9_900
"""A message whose own line still fits a log line, and whose candidate's line does not (10 000 characters)."""


# The agent and its attacker.


@lru_cache(maxsize=64)
def proposals(scope: Scope) -> tuple[Candidate, ...]:
    """Return the agent's proposals: a write, a notification, a climbing path, a read, kernel-only types."""
    seen = usual()
    many = (
        candidate(seen, WRITE_LOCAL, path="workspace/d/f"),
        candidate(seen, NOTIFY),
        candidate(seen, WRITE_LOCAL, path=ESCAPES[0]),
        candidate(seen, READ_LOCAL, path="workspace/d/f"),
        candidate(seen, LOG_APPEND, author=KERNEL),
        candidate(seen, NOTIFY, text=LONG_TEXT),
        candidate(seen, EXIT_TYPE),
    )
    return many[: scope["proposals"]]


@lru_cache(maxsize=64)
def _decisions(scope: Scope) -> tuple[Act, ...]:
    made = proposals(scope)
    lists = [(), *((one,) for one in made), made[:2]]
    found: list[Act] = [Decide(usual(), many) for many in lists]
    return (*found, Decide((said(),), made[:1]), Decide((*usual(), integrity_failure()), made[:1]))


@lru_cache(maxsize=64)
def _forgeries(scope: Scope) -> tuple[Warrant, ...]:
    """Return forged warrants: for a request that is never proposed, and for a type that is never proposed."""
    elsewhere = replace(_swapped(scope), author="")
    log = replace(candidate(usual(), LOG_APPEND).request, author="")
    made = tuple(Warrant(request, "0" * 64, "") for request in (elsewhere, log))
    return made[: scope["forgeries"]]


def _honest(scope: Scope, warrant: Warrant) -> Request:
    """Return the request of a warrant, as its author proposed it."""
    for one in proposals(scope):
        if replace(one.request, author=warrant.request.author, created_at="") == replace(
            warrant.request, created_at=""
        ):
            return one.request
    return warrant.request


@lru_cache(maxsize=64)
def _swapped(scope: Scope) -> Request:
    """Return a request that has no warrant: a write elsewhere."""
    return Request(WRITE_LOCAL, (("content", "m"), ("path", "workspace/e")))


def _agent_actions(_config: Config, scope: Scope, state: State) -> Iterator[Act]:
    if state.over:
        return
    yield from _decisions(scope)
    yield Log()
    executors = EXECUTORS[: scope["executors"]]
    issued = sorted(state.issued, key=lambda one: (one.bundle, one.age))
    for executor, held in zip(executors, state.held, strict=False):
        if held is not None:
            yield Use(executor)
            yield Mutate(executor, _swapped(scope))
            continue
        for warrant in (*issued, *_forgeries(scope)):
            yield Check(executor, warrant, _honest(scope, warrant))
        for warrant in issued:
            yield Check(executor, warrant, _swapped(scope))
    for who in (*executors, "host"):
        yield Restart(who)
    if scope["swaps"]:
        yield Swap(D, link_("../../etc"))
        yield Swap(D, dir_())


def _allows_anything(_config: Config, state: State, action: Act) -> bool:
    """Return whether the agent runs; an attacker may then do anything, but whole cycles belong to sessions."""
    return not state.over and not isinstance(action, Cycle)


def _agent_configs(_scope: Scope, readings: Readings) -> Iterator[Config]:
    yield Config(tree=TREE, readings=readings)


# Candidates and lists.


@lru_cache(maxsize=32)
def _decisions_in(seen: tuple[Observation, ...]) -> tuple[Act, ...]:
    return tuple(Decide(seen, (one,)) for one in every_candidate(seen))


def _candidate_actions(_config: Config, scope: Scope, state: State) -> Iterator[Act]:
    for seen in () if state.over else contexts(scope["contexts"]):
        yield from _decisions_in(seen)


def _only_decisions(_config: Config, state: State, action: Act) -> bool:
    return not state.over and isinstance(action, Decide)


_OBSERVED: tuple[Observation, ...] = (
    at_time(),
    said(),
    budget(6000),
    integrity_failure(),
    at_time("2026-02-12T12:00:01Z"),
    budget(6001),
    budget(-1),
    budget("6"),
)
"""One observation of each class: two times, words, budgets within, beyond and absurd, an integrity failure."""


def _representatives(seen: tuple[Observation, ...]) -> tuple[Candidate, ...]:
    """Return one candidate of each class in a context: admitted ones first, then one for each way to fail."""
    good = candidate(seen)
    assert good.scope is not None
    return (
        good,
        candidate(seen, WRITE_LOCAL),
        renamed(good, "user", "2026-02-12T11:00:00Z"),
        replace(good, citations=()),
        replace(good, citations=(*good.citations, cite(REFERENCE_CONSTITUTION, "NO-SUCH-CLAUSE"))),
        replace(good, scope=ScopeClaim((), good.scope.clause_ref)),
        candidate(seen, "Shell"),
        candidate(seen, READ_LOCAL, path=ESCAPES[0]),
        candidate(seen, LOG_APPEND, author=KERNEL),
        candidate(seen, EXIT_TYPE),
        replace(good, scope=replace(good.scope, observation_ids=tuple(artifact_id(one) for one in seen))),
        renamed(good, "nobody", ""),
        replace(good, scope=replace(good.scope, observation_ids=(*good.scope.observation_ids, "0" * 64))),
        candidate(seen, READ_LOCAL, path="./logs/x"),
        candidate(seen, text="n", why="because, said at length"),
    )


@lru_cache(maxsize=1_024)
def _lists_in(seen: tuple[Observation, ...], candidates: int) -> tuple[Act, ...]:
    made = _representatives(seen)
    return tuple(Decide(seen, many) for size in range(candidates + 1) for many in product(made, repeat=size))


def _list_actions(_config: Config, scope: Scope, state: State) -> Iterator[Act]:
    for length in range(0 if state.over else scope["observations"] + 1):
        for seen in product(_OBSERVED, repeat=length):
            yield from _lists_in(seen, scope["candidates"])


# Sessions.


@lru_cache(maxsize=32)
def _cycles(condition: str) -> tuple[Act, ...]:
    return tuple(Cycle(one.observations, one.candidates) for _, one in menu(condition))


def _session_configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    for condition in CONDITIONS:
        bound = scope["thousands"] * 1000 if condition in LIVE_CONDITIONS else None
        yield Config(
            tree=TREE,
            condition=condition,
            session_budget=bound,
            most_refusals=scope["refusals"],
            readings=readings,
        )


def _session_actions(config: Config, _scope: Scope, state: State) -> Iterable[Act]:
    return () if state.over else _cycles(config.condition)


def _only_cycles(_config: Config, state: State, action: Act) -> bool:
    return not state.over and isinstance(action, Cycle)


# Small constitutions.

_NO_IO = IoPolicy((), ())
_ALL_IO = IoPolicy()


def small_constitutions(types: int) -> Iterator[Constitution]:
    """Yield constitutions with up to `types` action types, smallest first: flags, requirements, paths, limits vary.

    The size of a constitution is the number of its action types, then of its clauses, requirements and paths.
    """
    names = (NOTIFY, READ_LOCAL, WRITE_LOCAL, LOG_APPEND, EXIT_TYPE)
    requires = ((), REQUIREMENTS)
    found: list[Constitution] = []
    for count in range(types + 1):
        for chosen in _choose(names, count):
            flags = product((False, True), requires)
            for told in product(tuple(flags), repeat=count):
                kinds = tuple(
                    ActionType(name, "low", kernel_only=only, requires=asked)
                    for name, (only, asked) in zip(chosen, told, strict=True)
                )
                for clauses, io, limits in product(((), ("C",)), (_NO_IO, _ALL_IO), _SMALL_LIMITS):
                    found.append(Constitution("1", clauses, kinds, io, limits))
    yield from sorted(found, key=_size)


_SMALL_LIMITS = (
    Limits(),
    Limits(max_total_tokens_per_cycle=0),
    Limits(max_chars_per_line=400),
    Limits(max_chars_per_field=0),
    Limits(max_lines_per_warrant=1),
)


def _choose(names: tuple[str, ...], count: int) -> Iterator[tuple[str, ...]]:
    for picked in product(names, repeat=count):
        if list(picked) == sorted(set(picked), key=names.index):
            yield picked


def _size(one: Constitution) -> tuple[int, ...]:
    asked = sum(len(kind.requires) for kind in one.action_types)
    only = sum(kind.kernel_only for kind in one.action_types)
    return (
        len(one.action_types),
        len(one.clauses),
        asked,
        only,
        len(one.io.read_paths) + len(one.io.write_paths),
        _SMALL_LIMITS.index(one.limits) if one.limits in _SMALL_LIMITS else 0,
    )


def lawful(constitution: Constitution) -> tuple[Candidate, ...]:
    """Return the best candidate for each declared type: every part there, an allowed path if any is."""
    seen = _plain_context()
    found: list[Candidate] = []
    for kind in constitution.action_types:
        paths = constitution.io.read_paths if kind.name == READ_LOCAL else constitution.io.write_paths
        path = f"{paths[0].rstrip('/')}/x" if paths else "./x"
        found.append(candidate(seen, kind.name, constitution=constitution, path=path))
    return tuple(found)


def _plain_context() -> tuple[Observation, ...]:
    return (*usual(), budget(0))


@lru_cache(maxsize=4_096)
def _constitution_cycles(constitution: Constitution) -> tuple[Act, ...]:
    seen = _plain_context()
    made = lawful(constitution)
    long = [
        candidate(seen, kind.name, constitution=constitution, text="m" * constitution.limits.max_chars_per_line)
        for kind in constitution.action_types
        if kind.name == NOTIFY and 0 < constitution.limits.max_chars_per_line <= 100_000
    ]
    single: list[Act] = [Cycle(seen, (one,)) for one in (*made, *long)]
    return (*single, Cycle(seen, ()), Cycle((said(), budget(0)), made[:1]), Cycle((*seen[:2], budget(1)), made[:1]))


def _constitution_configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    for one in small_constitutions(scope["types"]):
        yield Config(one, TREE, most_refusals=0, readings=readings)


def _constitution_actions(config: Config, _scope: Scope, state: State) -> Iterable[Act]:
    return () if state.over else _constitution_cycles(config.constitution)


def _proposed(config: Config, name: str) -> Fairness[State, Act]:
    """Return the fairness by which a type's best proposal recurs; every action serves an undeclared type."""
    plain = _plain_context()
    made = [one for one in lawful(config.constitution) if one.request.action_type == name]

    def taken(_state: State, action: Act) -> bool:
        return not made or (
            isinstance(action, Cycle) and action.observations == plain and action.candidates == (made[0],)
        )

    return Fairness("weak", taken)


def _fair(config: Config) -> dict[str, Fairness[State, Act]]:
    return {f"{name} is proposed": _proposed(config, name) for name in ACTION_TYPES}


def progress(step: SovereignStep) -> bool:
    """Return whether an ACTION was decided."""
    return step.shown.decision is not None and step.shown.decision.kind == ACTION


def _wants(config: Config, state: State) -> bool:
    return not state.over and bool(config.constitution.action_types)


def _is_over(_config: Config, state: State, action: Act) -> bool:
    """Return whether a cycle comes after an EXIT, which is terminal (6); a session is ended by the harness (13.10)."""
    return state.over == EXITED and isinstance(action, Decide | Cycle)


def _actor(action: Act) -> str:
    """Return the agent of an action: host, executor or attacker; a restart belongs to the one that restarts."""
    match action:
        case Check() | Use():
            return action.executor
        case Mutate() | Swap():
            return "attacker"
        case Restart():
            return action.who
        case _:
            return "host"


def _system(name: str, configs: Any, actions: Any, step: Any, scope: Scope, **more: Any) -> SovereignSystem:
    return System(
        name=name,
        rules=REFERENCE,
        configs=configs,
        initial=initial,
        step=step,
        actions=actions,
        scope=scope,
        readings=Readings(),
        wants=_wants,
        progress=progress,
        smaller=smaller,
        types=TYPES,
        actor=_actor,
        over=_is_over,
        unsaid=unsaid,
        **more,
    )


AGENT = _system(
    "agent",
    _agent_configs,
    _agent_actions,
    agent_step,
    Scope(proposals=2, executors=2, forgeries=1, swaps=1),
    allows=_allows_anything,
)
"""The agent with its attacker."""

CANDIDATES = _system(
    "candidates", _agent_configs, _candidate_actions, judging_step, Scope(contexts=19), allows=_only_decisions
)
"""Every candidate in every context, once."""

LISTS = _system(
    "lists", _agent_configs, _list_actions, judging_step, Scope(observations=2, candidates=2), allows=_only_decisions
)
"""All lists over one representative per class."""

SESSION = _system(
    "session",
    _session_configs,
    _session_actions,
    session_step,
    Scope(refusals=25, thousands=23),
    allows=_only_cycles,
)
"""Composed cycles under each condition, until something ends them."""

CONSTITUTIONS = _system(
    "constitutions",
    _constitution_configs,
    _constitution_actions,
    session_step,
    Scope(types=1),
    allows=_only_cycles,
    fair=_fair,
)
"""Composed cycles under every small constitution."""

LIVE: System[Config, LiveState, LiveAct, LiveShown, Rules] = System(
    name="live",
    rules=REFERENCE,
    configs=live_configs,
    initial=begun,
    step=live_step,
    actions=live_actions,
    scope=Scope(refusals=3, thousands=7),
    readings=Readings(),
    types=(*TYPES, *LIVE_TYPES),
    allows=lambda _config, state, _action: not state.session.over,
    actor=lambda _action: "model",
)
"""A run with a language model, from its calibration on."""

SYSTEMS: dict[str, AnySystem] = {
    system.name: system for system in (AGENT, CANDIDATES, LISTS, SESSION, CONSTITUTIONS, LIVE)
}
"""Every system by name, the main one first."""
