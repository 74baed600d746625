"""Steps with the eyes shut: one look for a whole group of joint actions.

Joint actions with one verdict differ in nothing but the action itself.  A claim that never looks at
`step.action` says the same of all of them, so it is asked once, with a step whose action raises when it is
touched.  A claim that does look is asked about every real action.  Nobody declares anything, and nobody can
forget to: the claim's own look decides, step by step.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.system import Step

__all__ = ["ActionNeeded", "action_independent_step", "make_step", "was_touched"]

_new = object.__new__
_STEP: type[Step[Any, Any, Any, Any]] = Step


class ActionNeeded(BaseException):
    """A claim looked at the action of a blind step.  Not an Exception, so that no claim swallows it by habit."""


class _ActionIndependent(Step[Any, Any, Any, Any]):
    """A step that stands for a group of joint actions."""

    @property
    def action(self) -> Any:
        """Raises ActionNeeded, and remembers that it was asked."""
        self.__dict__["touched"] = True
        raise ActionNeeded


def make_step(config: Any, before: Any, action: Any, shown: Any, after: Any) -> Step[Any, Any, Any, Any]:
    """`Step(…)`, without the price that a frozen dataclass's constructor asks for each field."""
    step: Step[Any, Any, Any, Any] = _new(_STEP)
    step.__dict__.update(config=config, before=before, action=action, shown=shown, after=after)
    return step


def action_independent_step(config: Any, before: Any, shown: Any, after: Any) -> Step[Any, Any, Any, Any]:
    """A step without an action: touching it raises ActionNeeded."""
    step = _new(_ActionIndependent)
    step.__dict__.update(config=config, before=before, shown=shown, after=after)
    return step


def was_touched(step: Step[Any, Any, Any, Any]) -> bool:
    """Whether somebody asked a blind step for its action (and perhaps swallowed what was raised)."""
    return "touched" in step.__dict__
