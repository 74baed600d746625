"""The ways in which a run is at fault, the duties of every kernel under any protocol, and how a finding is marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

FORMAT: Final = "evenhand/kernel-finding"
"""What a file with a finding about a kernel says of itself."""

What = Literal["differs", "fails", "violates", "mutates", "non-deterministic", "remembers", "relates", "liveness"]
"""The fault of a run.

In this order: it shows something else; it does not answer; it violates a claim although it shows the same, or is not
compared; it wrote to its input; it is non-deterministic; it answers by what earlier runs of its process did; two runs
together violate a claim; it violates a liveness claim.
"""

WAVERS = ("non-deterministic", "remembers")
"""Faults of a kernel that does not answer by the run alone."""

DISAGREES = "kernel_agrees_with_model"
SENTENCES: Mapping[str, str] = {
    DISAGREES: "The kernel shows in every step what the model shows.",
    "kernel_answers": "The kernel answers every action, once and in time, in the protocol's own words.",
    "kernel_keeps_its_input": "The kernel changes nothing in the data that it is handed.",
    "kernel_is_deterministic": "The kernel answers the same actions from the same start in the same way.",
    "kernel_forgets_earlier_runs": "What a kernel answers depends on no earlier run of its process.",
}
"""The duties of every kernel under any protocol."""

SUBJECTS: Mapping[What, str] = {
    "differs": DISAGREES,
    "violates": DISAGREES,
    "fails": "kernel_answers",
    "mutates": "kernel_keeps_its_input",
    "non-deterministic": "kernel_is_deterministic",
    "remembers": "kernel_forgets_earlier_runs",
    "relates": DISAGREES,
    "liveness": DISAGREES,
}
