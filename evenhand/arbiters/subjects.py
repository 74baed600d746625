"""From what an author hands over to a subject: find out what a kernel offers, and refuse what is none."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, cast

from evenhand.arbiters.environments import environments, is_environment
from evenhand.arbiters.kernels import POPULATION, Factory, NotExaminable, Sampled, Subject, choices_of, listed
from evenhand.core.answers import error_text


def subject_of(kernel: Factory) -> Subject:
    """Return the subject for a factory of kernels or of multi-agent environments.

    Raises NotExaminable with what is missing.
    """
    if not callable(kernel):
        raise NotExaminable(
            f"{kernel!r} is no factory: give a class or a function that returns a fresh kernel with `act({{agent: "
            "choice}) -> {agent: outcome}`"
        )
    title = str(getattr(kernel, "__name__", type(kernel).__name__))
    takes_agents = _takes(kernel, "agents")
    first = _made(title, kernel, POPULATION[:3] if takes_agents else ())
    factory: Factory = kernel
    if is_environment(first):
        factory, takes_agents = environments(kernel), False
        first = _made(title, factory)
    if not callable(getattr(first, "act", None)):
        raise NotExaminable(f"{title} returns {type(first).__name__}, which has no method `act`")
    agents = POPULATION[:3] if takes_agents else tuple(cast("Iterable[str]", _value(first, "agents", ())))
    if len(agents) < 2:
        raise NotExaminable(f"{title} names fewer than two agents; list them in `agents`, or let the factory take them")
    if len(set(agents)) < len(agents):
        raise NotExaminable(f"{title} lists an agent twice in `agents`: {', '.join(map(str, agents))}")
    menus: list[tuple[Any, ...]] = []
    for agent in agents:
        try:
            menus.append(choices_of(first, agent))
        except NotExaminable:
            raise
        except Exception as error:
            raise NotExaminable(f"{title}: choices({agent!r}) raised {error_text(error)}") from error
    named = ("rename", "observe", "holds", "progress", "order", "worth", "more", "may")
    methods = {name for name in (*named, "snapshot", "restore", "choices") if callable(getattr(first, name, None))}
    labels = listed(_value(first, "labels", ()))
    offered = {
        **dict.fromkeys(methods.intersection(named), True),
        "threads": getattr(first, "threads", False) is True,
        "seed": hasattr(first, "reset") and _takes(first.reset, "seed"),
        "population": takes_agents,
        "snapshot": methods >= {"snapshot", "restore"},
        "choices(agent)": "choices" in methods and not hasattr(kernel, "__rule__"),
        "strategies": any(isinstance(menu, Sampled) for menu in menus),
        "labels": bool(labels),
    }
    abilities = frozenset(ability for ability, there in offered.items() if there)
    return Subject(title, factory, tuple(agents), abilities, labels)


def _made(title: str, factory: Factory, agents: Sequence[str] = ()) -> Any:
    try:
        return factory(agents=list(agents)) if agents else factory()
    except NotExaminable:
        raise
    except Exception as error:
        raise NotExaminable(f"{title}: making a kernel raised {error_text(error)}") from error


def _value(kernel: Any, name: str, default: Any) -> Any:
    found = getattr(kernel, name, default)
    return found() if callable(found) else found


def _takes(function: Any, name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
