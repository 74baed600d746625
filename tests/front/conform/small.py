"""A system of a few lines, for tests of the check itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from evenhand.core.system import Scope, System

Small = System[Any, Any, Any, Any, Any]


def small(
    name: str,
    configs: Callable[[Scope], Iterator[Any]],
    start: Any,
    menu: Callable[[Any, Any], Iterator[Any]],
    step: Callable[[Any, Any, Any, Any], tuple[Any, Any]],
    types: tuple[type, ...],
    *,
    rules: Any = None,
    scope: Scope | None = None,
) -> Small:
    """Return a system without readings that begins in one state; `menu` says what is on offer in a configuration."""
    return System(
        name=name,
        rules=rules,
        readings=None,
        configs=lambda scope, _readings: configs(scope),
        initial=lambda _config: (start,),
        actions=lambda config, _scope, state: menu(config, state),
        step=step,
        types=types,
        scope=scope or Scope(),
    )
