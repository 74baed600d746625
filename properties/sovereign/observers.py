"""Observers: the last decision, and the type of a refusal (13.8), which `type_iii` changes and no step shows."""

from __future__ import annotations

from evenhand.core.observer import Observer
from evenhand.model.sovereign.vocabulary import REFUSE
from evenhand.properties.sovereign.predicates import DECIDING, KernelStep, decided, fed
from evenhand.properties.sovereign.stopping import deadlocked

INVALID_PROMPTS = ("C", "L-C")
"""Conditions whose prompts are invalid by design, so that every refusal is the user's (Type I)."""


def _type(_value: str | None, step: KernelStep) -> str | None:
    """None after any step but a refusal."""
    if not decided(step, REFUSE):
        return None
    config = step.config
    if config.condition in INVALID_PROMPTS:
        return "I"
    strict = config.readings.type_iii == "no_lawful_candidate"
    stuck = deadlocked(config) if strict else bool(fed(step)[1])
    return "III" if stuck else "II"


def _decision(value: str | None, step: KernelStep) -> str | None:
    decision = step.shown.decision
    if decision is None:
        return value
    gate = decision.refusal.failed_gate if decision.refusal is not None else ""
    return f"{decision.kind}/{gate}" if gate else decision.kind


OBSERVERS: tuple[Observer, ...] = (
    Observer(
        name="decision",
        sentence="The last decision: ACTION, EXIT, or REFUSE with the gate that failed.",
        update=_decision,
        label=str,
        source="3.2, 5.2, 6",
        systems=DECIDING,
    ),
    Observer(
        name="refusal_type",
        sentence="The last refusal is the user's (I), the proposal's (II) or the constitution's (III).",
        update=_type,
        systems=("session", "constitutions"),
    ),
)
