"""Steps without an action: one evaluation for all joint actions with one effect.

Joint actions with one verdict differ only in the action itself.  A claim that never reads `step.action` has one answer
for all of them, so it is evaluated once, on a step whose action raises when it is read.  A claim that reads it is
evaluated on every real action.  No declaration is needed: each evaluation shows whether the claim reads the action.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.answers import Signal
from evenhand.core.system import AnyStep

_new = object.__new__


class ActionNeeded(Signal):
    """A claim read the action of an action-independent step.  A BaseException: no `except Exception` hides it."""


class _ActionIndependent(AnyStep):
    """A step that stands for a group of joint actions."""

    @property
    def action(self) -> Any:
        """Raises ActionNeeded, and records that it was read."""
        self.__dict__["touched"] = True
        raise ActionNeeded


def action_independent_step(config: Any, before: Any, shown: Any, after: Any) -> AnyStep:
    """Return a step without an action: reading it raises ActionNeeded."""
    step = _new(_ActionIndependent)
    step.__dict__.update(config=config, before=before, shown=shown, after=after)
    return step


def was_touched(step: AnyStep) -> bool:
    """Return whether the action of an action-independent step was read, even if the exception was swallowed."""
    return "touched" in step.__dict__
