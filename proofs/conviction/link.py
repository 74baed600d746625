"""The link between obligations and model: the same formulas, evaluated on the events of a step.

`chain` reads the events of a step one after the other as `EVENTS` and follows the numbers; what it ends with must be
the state after the step.  `ticked` reads a tick as the two numbers of the ranking function.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.model.conviction.vocabulary import Event, State
from evenhand.proofs.conviction.formulas import evaluate
from evenhand.proofs.conviction.obligations import EVENTS, OBLIGATIONS
from evenhand.properties.conviction.notions import ticking, ticks_left
from evenhand.properties.property import AnyStep

__all__ = ["broken", "ticked"]


def _numbers(state: State) -> dict[Any, Any]:
    """Balances by agent, stakes by (agent, proposal), burned and granted."""
    found: dict[Any, Any] = {seat.agent: seat.balance for seat in state.seats}
    for entry in state.entries:
        key = (entry.owner, entry.proposal)
        found[key] = found.get(key, 0) + entry.amount
    return {**found, "U": state.burned, "G": state.granted}


def _reading(event: Event) -> Iterator[tuple[str, Any]]:
    """The kinds of `EVENTS` that a logged event is, each with the proposal whose stake it is about."""
    match event.kind:
        case "Credit":
            yield "grant", ""
        case "Staked":
            yield "stake", event.proposal
        case "Withdrawn":
            yield "withdraw", event.proposal
        case "Moved":
            yield "leave", event.get("source")
            yield "arrive", event.proposal
        case "StakeBurned":
            yield "burn", event.proposal
        case "Burn" if event.reason != "Stake":
            yield "charge", ""
        case _:
            return


_CHANGES = {
    "grant": (1, 0, 0, 1),
    "stake": (-1, 1, 0, 0),
    "charge": (-1, 0, 1, 0),
    "withdraw": (1, -1, 0, 0),
    "leave": (0, -1, 0, 0),
    "burn": (0, -1, 1, 0),
    "arrive": (0, 1, 0, 0),
}
"""How often an event's amount is added to balance, stake, burned total and grants, as a clerk would book it."""


def broken(step: AnyStep) -> str:
    """Which event of a step is none of `EVENTS`, or that its numbers do not lead to the state after; else empty."""
    now = _numbers(step.before)
    for event in step.shown.events:
        for kind, proposal in _reading(event):
            keys = (event.agent, (event.agent, proposal), "U", "G")
            before = [now.get(key, 0) for key in keys]
            after = [old + sign * event.amount for old, sign in zip(before, _CHANGES[kind], strict=True)]
            values: dict[str, Any] = {"a": event.amount}
            for name, old, new in zip("bsUG", before, after, strict=True):
                values[name], values[f"{name}2"] = old, new
            if kind != "arrive" and not evaluate(EVENTS[kind], values):
                return f"{event} is no {kind}"
            now.update(zip(keys, after, strict=True))
    true = _numbers(step.after)
    differ = [key for key in {*now, *true} if now.get(key, 0) != true.get(key, 0)]
    return f"the events do not lead to the state after: {sorted(map(str, differ))}" if differ else ""


def ticked(step: AnyStep) -> bool | None:
    """Whether a tick inside a phase is what the obligation `rank` assumes; None for any other step."""
    if not ticking(step) or step.after.phase == "IDLE":
        return None
    rank = next(one for one in OBLIGATIONS if one.name == "rank")
    values: dict[str, Any] = {}
    for mark, state in (("", step.before), ("2", step.after)):
        inside = [seat for seat in state.seats if seat.assigned]
        spare = [step.config.constants.think_ticks - 1 - seat.timer for seat in inside]
        here = min((s for s, seat in zip(spare, inside, strict=True) if not seat.proposal), default=0)
        values[f"S{mark}"] = max(here, 0) if state.phase == "PROPOSE" else sum(max(one, 0) for one in spare)
        if state.phase == "FINALIZE":
            values[f"S{mark}"] = 0
        values[f"L{mark}"] = ticks_left(step.config, state) - 1 - values[f"S{mark}"]
    values["W"] = values["L"] - values["L2"]
    return bool(all(evaluate(part, values) for part in rank.assumes.values()))
