"""Abstraction of the ledger: runs of the model as runs of the machine `ledger`.

Changes of balances and stakes are read from the states before and after a step; payments, stakes, taps and burns from
its events.  So a step whose states do not match its log is no step of the machine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from evenhand.model.conviction import vocabulary as model
from evenhand.proofs.conviction.ledger import BY_AGENT, FLOWS, KINDS
from evenhand.properties.conviction.predicates import RunStep, actor, events
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.transitions.invariant import Steps, around

_KIND: dict[type, str] = {
    **{model.Invite: "invites", model.Propose: "proposes", model.Feedback: "comments"},
    **{model.Revise: "revises", model.AddStake: "adds", model.MoveStake: "moves"},
}


def _lot(owner: str, proposal: str, held: int = 0) -> str:
    return f"{owner}/{proposal}/{held}"


def _lots(state: model.State) -> dict[str, Fraction]:
    found: defaultdict[str, Fraction] = defaultdict(Fraction)
    for one in state.entries:
        found[_lot(one.owner, one.proposal, one.held)] += Fraction(one.amount)
    return found


def _kind(step: RunStep) -> str:
    if step.shown.rejected or not isinstance(step.action, model.Tick):
        return "" if step.shown.rejected else _KIND.get(type(step.action), "")
    return {model.IDLE: "", model.FINALIZE: "finalizes"}.get(step.before.phase, "ticks")


def _flows(told: Iterable[model.Event]) -> dict[str, defaultdict[str, Fraction]]:
    """Return the flows that the log tells, by agent and lot; the moved lots come from the states."""
    found = {name: defaultdict[str, Fraction](Fraction) for name in FLOWS}
    for event in told:
        uid, lot, amount = event.agent, _lot(event.agent, event.proposal), Fraction(event.amount)
        match event.kind:
            case "Credit":
                found["credit"][uid] += amount
            case "Staked":
                found["staked"][uid] += amount
                found["put"][lot] += amount
            case "Withdrawn":
                found["returned"][uid] += amount
                found["tapped"][lot] += amount
            case "Burn" if event.reason != "Stake":
                found["paid"][uid] += amount
            case _:
                pass
    return found


def view(run: Steps, number: int) -> Structure | None:
    """Return step `number` of a run as a structure; None where its readings differ from the theory's."""
    step = run[number]
    before, later = _lots(step.before), _lots(step.after)
    kind, flows = _kind(step), _flows(step.shown.events)
    agents = [agent.uid for agent in step.config.agents]
    by = uid if (uid := actor(step.action)) in agents else agents[0]
    at = _lot(by, by)
    if kind in ("adds", "moves"):
        at = _lot(by, step.action.proposal if kind == "adds" else step.action.target)
    named = {*before, *later, *flows["put"], *flows["tapped"], at, *(_lot(uid, uid) for uid in agents)}
    lots = sorted(lot for lot in named if lot.partition("/")[0] in agents)
    if kind == "finalizes":
        said = {_lot(e.agent, e.proposal) for e in events(step.shown, "StakeBurned")}
        burnt = {lot: have for lot, have in before.items() if f"{lot.rpartition('/')[0]}/0" in said}
        flows["burnt"].update(burnt)
    elif kind in ("moves", "ticks"):
        for lot in lots:
            more = later.get(lot, 0) - before.get(lot, 0) - flows["put"].get(lot, 0)
            flows["come" if more > 0 else "gone"][lot] = abs(Fraction(more))
    c = step.config.constants

    def at_rest(state: model.State) -> dict[str, Any]:
        have, texts = _lots(state), {one.uid for one in state.proposals if one.text is not None}
        return {
            "balance": {seat.agent: seat.balance for seat in state.seats},
            "points": {lot: have.get(lot, 0) for lot in lots},
            "balances": sum(seat.balance for seat in state.seats),
            "stakes": sum(have.values()),
            "burned": state.burned,
            "granted": state.granted,
            "talking": state.phase in (model.FEEDBACK, model.REVISE),
            "rounds": state.phase in (model.STAKE, model.FINALIZE),
            "invited": {seat.agent for seat in state.seats if seat.standing != model.STRANGER},
            "written": {seat.agent for seat in state.seats if seat.proposal in texts and seat.proposal == seat.agent},
        }

    parts = {
        name: {key: told.get(key, 0) for key in (agents if name in BY_AGENT else lots)} for name, told in flows.items()
    }
    return structure(
        {"Agent": agents, "Lot": lots},
        {
            **{"own": {uid: _lot(uid, uid) for uid in agents}, "by": by, "at": at, "amount": _amount(step, kind)},
            **{
                "self_stake": c.self_stake,
                "price": c.feedback_stake,
                "penalty": c.penalty,
                "maximum": c.maximum_credit,
            },
            "kicked": {event.agent for event in events(step.shown, "KickOut")} & {*agents},
            **{name: name == kind for name in KINDS},
            **{f"all_{name}": sum(told.values()) for name, told in flows.items()},
            **parts,
            **around(run, number, at_rest),
        },
    )


def _amount(step: Any, kind: str) -> Any:
    match kind:
        case "adds" | "moves":
            return step.action.amount
        case "revises":
            return next(events(step.shown, "Revision")).get("cost")
        case "invites":
            agent = step.config.agent(step.action.agent)
            granted = None if agent is None else agent.granted
            return step.config.constants.invite_payment if granted is None else granted
        case _:
            return 0
