"""The public ledger (13.1, 18.4): the events of steps with sequence numbers, ticks and revision numbers.

Records are made from events alone, without any rule, and contain no credential.  The same steps give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from evenhand.core.canonical import Json, canonical_text
from evenhand.model.conviction.exact import Amount, Surd, exact
from evenhand.model.conviction.step import ConvictionStep
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import Event, Tick


def _json(value: Any) -> Json:
    """An exact value as JSON: integers unchanged, fractions and members of Q(theta) as text."""
    match value:
        case Fraction():
            return str(exact(value))
        case Surd():
            return {"base": str(value.base), "form": [str(q) for q in value.form]}
        case Text():
            return {"title": value.title, "action": value.action, "rationale": value.rationale, **dict(value.more)}
        case tuple():
            return [_json(one) for one in value]  # pyright: ignore
        case _:
            return value


def _ticked(step: ConvictionStep) -> bool:
    return isinstance(step.action, Tick) and not step.shown.rejected


def records(steps: Iterable[ConvictionStep]) -> Iterator[dict[str, Json]]:
    """Yield one record per event, in order: sequence number, tick, kind and the fields of the event.

    A tick's own events belong to the tick that it begins; the first tick of a run is 1.
    """
    number = tick = 0
    for step in steps:
        tick += _ticked(step)
        for event in step.shown.events:
            yield {"sequence": number, "tick": tick, **_fields(event)}
            number += 1


def _fields(event: Event) -> dict[str, Json]:
    said: dict[str, Json] = {
        "agent": event.agent,
        "proposal": event.proposal,
        "reason": event.reason,
        "issue": event.issue,
    }
    found = {name: value for name, value in said.items() if value}
    if event.amount:
        found["amount"] = _json(event.amount)
    return {"kind": event.kind, **found, **{name: _json(value) for name, value in event.data}}


def proposal_records(steps: Iterable[ConvictionStep]) -> list[dict[str, Json]]:
    """The system-generated fields of every proposal (8.3) at the end, in order of creation.

    `current_stake` is the stake at the end of the run or, for a finalized Issue, just before its burn.
    """
    known: dict[tuple[str, str], dict[str, Any]] = {}
    tick = 0
    for step in steps:
        tick += _ticked(step)
        for event in step.shown.events:
            key = (event.issue, event.proposal)
            if event.kind == "ProposalCreated" and key not in known:
                known[key] = {
                    "proposal": event.proposal,
                    "author": event.get("author") or event.agent,
                    "parent_issue": event.issue,
                    "revision": 0,
                    "created_tick": tick,
                    "last_updated_tick": tick,
                    "current_stake": 0,
                }
            record = known.get(key)
            if record is None:
                continue
            if event.kind == "Revision":
                record["revision"] += 1
                record["last_updated_tick"] = tick
            if event.kind in ("Staked", "Moved"):
                _stake(record, event.amount)
            if event.kind == "Withdrawn":
                _stake(record, -event.amount)
            if event.kind == "Moved":
                _stake(known[event.issue, event.get("source")], -event.amount)
    return [{**record, "current_stake": _json(record["current_stake"])} for record in known.values()]


def _stake(record: dict[str, Any], amount: Amount) -> None:
    record["current_stake"] = exact(record["current_stake"] + amount)


def json_lines(found: Iterable[dict[str, Json]]) -> str:
    """The records as canonical JSON, one per line."""
    return "".join(f"{canonical_text(record)}\n" for record in found)
