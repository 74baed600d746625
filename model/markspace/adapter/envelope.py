"""The package's statistical envelope (§9.7) with its own detector, configured like the deployment.

The detector is configured to track observations and needs, which the protocol's windows count, and to be ready after as
many windows as the deployment says. Mean, deviation and all verdicts come from the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markspace.core import MarkType
from markspace.envelope import (
    EnvelopeConfig,
    EnvelopeVerdict,
    StatisticalEnvelope,
    WelfordConfig,
    WelfordDetector,
)

from evenhand.model.markspace.layers_vocabulary import Health, LayersConfig

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable, Iterable

WINDOW = 2.0
"""Seconds: two halves of one second each."""
TRACKED = frozenset({MarkType.OBSERVATION, MarkType.NEED})


class Overheard(StatisticalEnvelope):
    """The package's envelope; `health` is its latest answer to any caller, or None."""

    health: Health | None = None

    def check(self, agent_id: uuid.UUID) -> EnvelopeVerdict:
        """Return the package's answer, and keep it in `health`."""
        verdict = super().check(agent_id)
        self.health = Health(verdict.value)
        return verdict

    def asked(self, agent_id: uuid.UUID) -> Health:
        """Return the answer in the protocol's words."""
        return Health(self.check(agent_id).value)


def watching(config: LayersConfig, clock: Callable[[], float], agents: Iterable[uuid.UUID]) -> Overheard:
    """Return an envelope for these agents, each with the declared baseline if there is one."""

    def detector(_agent: uuid.UUID) -> WelfordDetector:
        return WelfordDetector(
            WelfordConfig(
                k_sigma=float(config.sigmas),
                min_samples=config.samples,
                type_shift_threshold=float(config.shift),
                tracked_types=TRACKED,
            )
        )

    settings = EnvelopeConfig(
        window_seconds=WINDOW,
        detector_factory=detector,
        tracked_types=TRACKED,
        global_escalation_threshold=config.threshold,
    )
    envelope = Overheard(settings, clock)
    if config.baseline is not None:
        for agent in agents:
            envelope.seed_baseline(agent, {MarkType.OBSERVATION: config.baseline * 3600.0 / WINDOW})
    return envelope
