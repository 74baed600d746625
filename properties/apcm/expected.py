"""The expectations of this protocol: claim x system x engine x reading -> verdict, registered before any run.

What is not listed is expected to hold.  An unexpected verdict is a finding: report it, never edit the expectation to
fit.
"""

from __future__ import annotations

from evenhand.core.plan import Expectation
from evenhand.core.verdict import Status

__all__ = ["EXPECTED"]


def _refuted(claim: str, because: str, *, system: str = "", engine: str = "") -> Expectation:
    return Expectation(claim, Status.REFUTED, system=system, engine=engine, because=because)


EXPECTED: tuple[Expectation, ...] = (
    _refuted(
        "more_preservations_never_permit_more_than_a_failure",
        "6.4: necessity is relative to RP; Sophie's artefact fails with RP empty and permits with RP = {P2}",
    ),
    _refuted(
        "every_situation_can_be_justified",
        "6.2, 6.4: three laws, each of three actions breaks another one; no pair covers all three, so whatever "
        "authorises fails and whatever does not gridlocks",
        system="universe",
    ),
    _refuted(
        "every_situation_can_be_justified",
        "as in the universe, met by drawing; the situations that are searched here have two preferences, which cover",
        system="run",
        engine="fuzz",
    ),
    _refuted("revising_for_ever_brings_news", "6.3: REVISE may repeat the previous fields for ever, logged each time"),
    _refuted("precedents_never_oscillate", "6.3: REVISE may go back and forth; only telemetry calls it incoherent"),
    _refuted(
        "single_pair_permits_whenever_possible",
        "12.1: it authorises one preference, and every action may violate two",
        system="agents",
    ),
    _refuted(
        "single_pair_permits_whenever_possible",
        "as among the agents, met by drawing; the environment that is searched has no such situation",
        system="conditions",
        engine="fuzz",
    ),
)
"""What was registered."""
