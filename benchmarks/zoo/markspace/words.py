"""The text's words and numbers, in the checker's JSON and in that of these kernels: what all adapters use."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

Json = Any
UNKNOWN: Json = {"$unknown": True}
GUARDS = ("first_writer", "highest_confidence", "yield_all", "deferred", "meddled")
SOURCES = {"FLEET": "fleet", "VERIFIED": "external_verified", "UNVERIFIED": "external_unverified"}
SUBJECT = {"intent": "resource", "action": "resource", "observation": "topic", "warning": "topic", "need": "question"}
OWN = {
    "intent": ("action", "confidence"), "action": ("action", "failed", "result"), "warning": ("severity", "reason"),
    "observation": ("confidence", "source", "content"), "need": ("priority", "blocking", "context"),
}  # fmt: skip
"""The fields that marks of one kind have."""
DEFAULTS = {
    "id_order": "sequence", "own_intents": "replaced_by_newest", "reference_authority": "anyone",
    "failed_action": "never_claims", "active_threshold": "above_zero", "claim_release": "none",
    "lease": "intent_ttl", "guard_atomicity": "per_operation", "deferred_loser": "blocked",
    "boundary_while_running": "allowed", "need_log_base": "e", "principal_decision": "none",
    "hierarchy_reads": "exact_scope", "zero_strength": "allowed", "warning_trust": "none",
    "scope_grammar": "segments_nonempty", "action_immunity": "reducible",
}  # fmt: skip
ROOM, ELSEWHERE = "rooms", "elsewhere"


def defects() -> frozenset[str]:
    """The planted defects that are switched on."""
    return frozenset(filter(None, os.environ.get("ZOO_DEFECTS", "").split(",")))


def enum(kind: str, name: str) -> Json:
    """A member of an enumeration in the checker's JSON."""
    return {"$enum": kind, "name": name}


def number(value: Json) -> float:
    """A number of the checker's."""
    return float(Fraction(value["$fraction"])) if isinstance(value, dict) else value


def near(value: float) -> Json:
    """A number of the kernel's."""
    return {"$near": value, "within": 1e-9}


def scope_of(name: str, **more: Any) -> dict[str, Any]:
    """A scope in the text's words."""
    return {
        "name": name, "allowed_intent_verbs": ["book"], "allowed_action_verbs": ["booked"], "observation_topics": ["*"],
        "warning_topics": ["*"], "conflict_policy": "first_writer", "deferred": False, "visibility": "open",
        "decay": {"observation_half_life": 1, "warning_half_life": 1, "intent_ttl": 1}, **more,
    }  # fmt: skip
