"""A kernel's author can make the ids and hashes of `sovereign` from its page, without the model."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from evenhand.core.codec import encode
from evenhand.core.registry import find
from evenhand.model.sovereign.state import Decide
from evenhand.report.vocabulary import example_steps

PAGE = Path("docs/reference/protocols/sovereign.md")


def sha(value: Any) -> str:
    """SHA-256 over canonical JSON."""
    said = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()


def artefact(record: dict[str, Any] | None, kind: str, *without: str) -> Any:
    """An artefact as the page says, of a record as it stands in an action."""
    if record is None:
        return None
    told = {name: value for name, value in record.items() if name not in ("$", *without)}
    told = {name: dict(value) if name in ("payload", "fields") else value for name, value in told.items()}
    return {
        "type": kind,
        **{name: value for name, value in told.items() if value or name not in ("author", "created_at")},
    }


def test_ids_and_hashes_are_made_as_the_page_says() -> None:
    """Each observation is owed under its id, and each candidate stands in the trace under its hash."""
    stamps = ("author", "created_at")
    bundles = 0
    for step in example_steps(find("sovereign").model.systems["lists"]):
        if not isinstance(step.action, Decide) or "Atom" in json.dumps(encode(step.action)):
            continue
        action: Any = encode(step.action)
        owed = {one.digest for one in step.shown.intents}
        assert {sha(artefact(one, "Observation")) for one in action["observations"]} <= owed
        trace = {digest for digest, _ in step.shown.decision.trace if step.shown.decision}
        made = {
            sha(
                {
                    "action_request": artefact(one["request"], "ActionRequest", *stamps),
                    "scope_claim": artefact(one["scope"], "ScopeClaim", *stamps),
                    "justification": artefact(one["justification"], "Justification", *stamps),
                    "authority_citations": one["citations"],
                }
            )
            for one in action["candidates"]
        }
        assert trace <= made
        bundles += len(trace)
    assert bundles
    assert "SHA-256" in PAGE.read_text("utf-8")
