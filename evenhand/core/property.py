"""Claims: one English sentence, its source paragraph, a kind, a predicate.

The decorators make the records of `kinds`:

    @always("At most one process is in the critical section.", source="P1")
    def mutual_exclusion(config: Config, state: State) -> bool: ...

A predicate over a state may omit the configuration (`def f(state)`), for systems that have none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any, TypeVar

from evenhand.core.answers import called, kind_of, short
from evenhand.core.kinds import (
    BY_PLACE,
    STATE,
    Always,
    DeadlockFree,
    EachStep,
    Eventually,
    LeadsTo,
    LivelockFree,
    Liveness,
    Monitor,
    Property,
    Reachable,
    Safety,
    StateTest,
    StepTest,
    decorator,
)
from evenhand.core.relations import Commute, DeterminedBy, Relational, TwoRun
from evenhand.core.system import AnyStep, AnySystem, System

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
    "Liveness",
    "Monitor",
    "Property",
    "Reachable",
    "Relational",
    "Safety",
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

K = TypeVar("K", bound="Property")


_NAMED = ("when", "trigger", "wants", "attempts", "start", "update", "key", "pairs")
"""Arguments of decorators that are None if they were left out."""


def claim_of(kind: type[K], sentence: Any, main: str, function: Any, given: Mapping[str, Any]) -> K:
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
            raise TypeError(f"{what}: {decorator(kind)} takes no `{field_name}`{meant}")
    lacking = [n for n, e in known.items() if e.default is MISSING and n not in (*more, main, "name", "sentence")]
    if lacking:
        raise TypeError(f"{what}: {decorator(kind)} needs {', '.join(f'`{one}`' for one in lacking)} as well")
    if kind.CALLS.get(main) == STATE and _is_open(function):
        raise TypeError(f"{what}: {called(function)} takes any arguments; write (state) or (config, state)")
    made: dict[str, Any] = {"name": name, **more, "sentence": sentence, main: function}
    return kind(**made)


def _is_open(function: Any) -> bool:
    """Whether a function takes any number of positional arguments and names none."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.kind is one.VAR_POSITIONAL for one in given) and not any(one.kind in BY_PLACE for one in given)


def said(kind: str, sentence: Any) -> None:
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
    said("always", sentence)
    return lambda test: claim_of(Always, sentence, "check", test, {"when": when, **more})


def each_step(sentence: str, *, when: StepTest | None = None, **more: Any) -> Callable[[StepTest], EachStep]:
    """Make an `EachStep` from a predicate over a step; `when=` is its antecedent."""
    said("each_step", sentence)
    return lambda test: claim_of(EachStep, sentence, "check", test, {"when": when, **more})


def reachable(sentence: str, **more: Any) -> Callable[[StepTest], Reachable]:
    """Make a `Reachable` from its goal, a predicate over a step."""
    said("reachable", sentence)
    return lambda goal: claim_of(Reachable, sentence, "goal", goal, more)


def eventually(sentence: str, **more: Any) -> Callable[[StepTest], Eventually]:
    """Make an `Eventually` from its goal, a predicate over a step; `fairness=` names the assumptions."""
    said("eventually", sentence)
    return lambda goal: claim_of(Eventually, sentence, "goal", goal, more)


def leads_to(sentence: str, *, trigger: StepTest | None = None, **more: Any) -> Callable[[StepTest], LeadsTo]:
    """Make a `LeadsTo` from its goal; `trigger=` and `fairness=` complete it."""
    said("leads_to", sentence)
    return lambda goal: claim_of(LeadsTo, sentence, "goal", goal, {"trigger": trigger, **more})


def deadlock_free(
    sentence: str, *, wants: Callable[..., bool] | None = None, **more: Any
) -> Callable[[StepTest], DeadlockFree]:
    """Make a `DeadlockFree` from `completes`, a predicate over a step; `wants=` is one over states."""
    said("deadlock_free", sentence)
    return lambda completes: claim_of(DeadlockFree, sentence, "completes", completes, {"wants": wants, **more})


def livelock_free(
    sentence: str, *, attempts: StepTest | None = None, **more: Any
) -> Callable[[StepTest], LivelockFree]:
    """Make a `LivelockFree` from `progress`, a predicate over a step; `attempts=` is another."""
    said("livelock_free", sentence)
    return lambda progress: claim_of(LivelockFree, sentence, "progress", progress, {"attempts": attempts, **more})


def monitor(
    sentence: str,
    *,
    start: Callable[[Any], Any] | None = None,
    update: Callable[[Any, AnyStep], Any] | None = None,
    **more: Any,
) -> Callable[[StateTest], Monitor]:
    """Make a `Monitor` from `ok(config, value)`; `start=` and `update=` complete it."""
    said("monitor", sentence)
    return lambda ok: claim_of(Monitor, sentence, "ok", ok, {"start": start, "update": update, **more})


def determined_by(
    sentence: str, *, key: Callable[[AnyStep], Hashable] | None = None, **more: Any
) -> Callable[[Callable[[AnyStep], Hashable]], DeterminedBy]:
    """Make a `DeterminedBy` from `value(step)`; `key=` is what it may depend on."""
    said("determined_by", sentence)
    return lambda value: claim_of(DeterminedBy, sentence, "value", value, {"key": key, **more})


def commute(
    sentence: str,
    *,
    pairs: Callable[[Any, Any, tuple[Any, ...]], Iterable[tuple[Any, Any]]] | None = None,
    **more: Any,
) -> Callable[[Callable[[Any, AnyStep, AnyStep], bool]], Commute]:
    """Make a `Commute` from `same(config, one_order, other_order)`; `pairs=` completes it."""
    said("commute", sentence)
    return lambda same: claim_of(Commute, sentence, "same", same, {"pairs": pairs, **more})


def two_run(sentence: str, **more: Any) -> Callable[[Callable[[Any, AnyStep, AnyStep | None], bool]], TwoRun]:
    """Make a `TwoRun` from `agree(w, step, other)`; `twins`, `config`, `state`, `other` complete it."""
    said("two_run", sentence)
    return lambda agree: claim_of(TwoRun, sentence, "agree", agree, more)


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


def speaks_of(claim: Property, system: AnySystem) -> bool:
    """Return whether a claim is about a system: it names that system, or none."""
    return not claim.systems or system.name in claim.systems
