"""Reachability: a kernel that refuses everything keeps every safety claim, so each event must be seen to occur."""

from __future__ import annotations

from evenhand.core.plan import refuted
from evenhand.core.property import Property, Reachable, reachable
from evenhand.model.sovereign.state import Check, Use
from evenhand.model.sovereign.vocabulary import ACTION, EXIT, GATES, REASONS, REFUSE, REQUIRED_OBSERVATIONS
from evenhand.properties.sovereign.predicates import (
    EXECUTING,
    FEEDABLE,
    KernelStep,
    decided,
    decides,
    decision_of,
    refusal_of,
)


@reachable("Something can be decided, warranted and done.", source="10", systems=EXECUTING)
def an_effect_happens(step: KernelStep) -> bool:
    """At least one admitted action."""
    return bool(step.shown.effects)


@reachable("The agent can exit.", source="6", systems=("agent", *FEEDABLE))
def exit_happens(step: KernelStep) -> bool:
    """Without a warrant."""
    return decided(step, EXIT)


@reachable("A candidate can win that stands behind another admitted one.", source="7 A4", systems=("lists",))
def a_later_candidate_wins(step: KernelStep) -> bool:
    """Content decides, not position."""
    one = step.shown.decision
    if one is None or one.kind != ACTION:
        return False
    first = next(bundle for bundle, gate in one.trace if not gate)
    return first != one.winner


@reachable(
    "A candidate can act on the log's own directory by WriteLocal.",
    source="6",
    systems=("candidates", "agent"),
    expected=tuple(
        refuted("nobody proposes it in this scope", system=system, engine="explore")
        for system in ("agent", "candidates")
    ),
)
def a_candidate_can_write_the_logs(step: KernelStep) -> bool:
    """`./logs/` is among the write paths, and WriteLocal is not kernel-only: the record can be overwritten."""
    warrant = step.shown.decision.warrant if step.shown.decision is not None else None
    if warrant is None or warrant.request.action_type != "WriteLocal":
        return False
    return str(dict(warrant.request.fields)["path"]).removeprefix("./").startswith("logs/")


@reachable("A warrant can be checked whose path then leads elsewhere.", source="6", systems=("agent",))
def a_link_is_swapped_in_between(step: KernelStep) -> bool:
    """The use is refused."""
    return isinstance(step.action, Use) and "outside" in step.shown.rejected


@reachable("Equal bundles can be proposed in one cycle.", source="7 A4", systems=("lists",))
def duplicates_are_proposed(step: KernelStep) -> bool:
    """Two entries with one hash."""
    if not decides(step):
        return False
    hashes = [bundle for bundle, _ in decision_of(step).trace]
    return len(set(hashes)) < len(hashes)


def _rejects(name: str, words: str) -> Property:
    @reachable(f"An executor can reject a warrant: {words}.", name=name, source="4 INV-1", systems=("agent",))
    def rejected(step: KernelStep) -> bool:
        return isinstance(step.action, Check) and words in step.shown.rejected

    return rejected


def _fails(gate: str) -> Property:
    return Reachable(
        name=f"refused_at_{gate}",
        sentence=f"A refusal can name {gate}.",
        source="6",
        systems=FEEDABLE if gate != REQUIRED_OBSERVATIONS else ("agent", *FEEDABLE),
        goal=lambda step: decided(step, REFUSE) and refusal_of(step).failed_gate == gate,
    )


def _says(reason: str) -> Property:
    return Reachable(
        name=f"{reason.lower()}_occurs",
        sentence=f"{reason} can be the reason of a refusal.",
        source="6",
        systems=("lists",),
        goal=lambda step: decided(step, REFUSE) and refusal_of(step).reason == reason,
    )


REJECTIONS = (
    _rejects("a_forged_warrant_is_rejected", "issued no such warrant"),
    _rejects("a_stale_warrant_is_rejected", "earlier cycle"),
    _rejects("a_spent_warrant_is_rejected", "is spent"),
    _rejects("another_request_is_rejected", "another request"),
)
REFUSALS = (
    *(_fails(gate) for gate in (REQUIRED_OBSERVATIONS, *GATES)),
    *(_says(reason) for reason in REASONS if reason != "DUPLICATE_BUNDLE"),
)
