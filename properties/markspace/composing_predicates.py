"""The predicates of the claims about composition: fitting a pattern, publishing and polling."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

from evenhand.core.system import Step
from evenhand.model.markspace.composing_vocabulary import (
    Composed,
    ComposingConfig,
    ComposingState,
    ComposingStep,
    Get,
    Pattern,
    Publish,
    Written,
)
from evenhand.properties.markspace.predicates import there

ONLY = ("composing",)

GetStep: TypeAlias = Step[ComposingConfig, ComposingState, Get, Composed]
PublishStep: TypeAlias = Step[ComposingConfig, ComposingState, Publish, Composed]


def under(parent: str, scope: str) -> bool:
    """Whether a scope is the parent or lies below it."""
    return (scope + "/").startswith(parent + "/")


def fits(pattern: Pattern, mark: Written) -> bool:
    """Whether a pattern matches a mark."""
    return (
        under(pattern.scope, mark.scope)
        and pattern.kind in ("", mark.kind.value)
        and pattern.subject in ("", mark.subject)
    )


def reaches(config: ComposingConfig, agent: str, patterns: tuple[Pattern, ...] | None, mark: Written) -> bool:
    """Whether a mark is queued for an agent with these patterns: never its own, a classified one as it is read."""
    withheld = config.readings.classified_in_queue == "left_out" and mark.classified and agent not in config.cleared
    return mark.agent != agent and not withheld and any(fits(pattern, mark) for pattern in patterns or ())


def polls(step: ComposingStep) -> TypeGuard[GetStep]:
    """Whether an agent of the system asks for the marks queued for it; nobody else has a queue."""
    return isinstance(step.action, Get) and step.action.agent in step.config.names


def publishes(step: ComposingStep) -> TypeGuard[PublishStep]:
    """Whether an agent writes a mark and it is stored."""
    return isinstance(step.action, Publish) and not step.shown.refused


def delivered(step: GetStep) -> tuple[Written, ...]:
    """The marks that a poll returns."""
    return there(step.shown.delivered)
