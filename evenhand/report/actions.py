"""The counts of a search by action, as a small table, as sentences and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from evenhand.core.canonical import Json
from evenhand.core.text import inert
from evenhand.report.phrases import some
from evenhand.report.table import titled
from evenhand.search import Exploration
from evenhand.search.actions import ActionCounts

NAMED = 12
"""Labels that a sentence names; `--json` has all."""


def action_table(counts: ActionCounts) -> Table:
    """Return a table with a row for each label: steps on offer, that changed the state, that found a new state."""
    made = titled("steps by action", "action")
    for name in ("on offer", "changed the state", "found a new state"):
        made.add_column(name, justify="right")
    for label, count in counts.labels.items():
        made.add_row(Text(inert(label)[:200]), *(f"{number:,}" for number in count))
    return made


def action_lines(counts: ActionCounts, *, complete: bool) -> Iterator[str]:
    """Yield the labels that never change anything."""
    idle = [label for label, count in counts.labels.items() if not count.changed]
    if idle:
        searched = "" if complete else " in what was searched"
        yield f"never changes anything{searched}: {some(idle, NAMED)}"


def actions_json(found: Exploration) -> dict[str, Json]:
    """Return the key `actions` of an exploration that should count, with the reason where its method cannot."""
    counts = found.actions
    if counts is None:
        why = f"{found.method} search takes many steps at once; --method explicit counts"
        return {"actions": {"counted": False, "because": why}}
    return {
        "actions": {
            "counted": True,
            "because": "",
            "labels": {label: dict(count._asdict()) for label, count in counts.labels.items()},
        }
    }
