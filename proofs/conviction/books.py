"""Abstraction of the ledger: runs of the model as runs of the machine `ledger`.

Changes of balances and stakes are read from the states before and after a step; payments, stakes, taps and burns from
its events.  So a step whose states do not match its log is no step of the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from evenhand.model.conviction import vocabulary as model
from evenhand.proofs.conviction.ledger import FLOWS, KINDS
from evenhand.smt.arithmetic import element
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Table, constant, ones, prop, props
from evenhand.smt.transitions.invariant import Steps

Lot: TypeAlias = tuple[str, str, int]
"""Owner, proposal, rounds held."""


def _agent(uid: str) -> str:
    return f"agent:{uid}"


def _lot(lot: Lot) -> str:
    return f"lot:{lot[0]}/{lot[1]}/{lot[2]}"


def _lots(state: model.State) -> dict[Lot, Fraction]:
    found: dict[Lot, Fraction] = {}
    for one in state.entries:
        key = (one.owner, one.proposal, one.held)
        found[key] = found.get(key, Fraction(0)) + Fraction(one.amount)
    return found


def _kind(step: Any) -> str:
    if step.shown.rejected:
        return ""
    match step.action:
        case model.Tick():
            return {model.IDLE: "", model.FINALIZE: "finalizes"}.get(step.before.phase, "ticks")
        case model.Invite():
            return "invites"
        case model.Propose():
            return "proposes"
        case model.Feedback():
            return "comments"
        case model.Revise():
            return "revises"
        case model.AddStake():
            return "adds"
        case model.MoveStake():
            return "moves"
        case _:
            return ""


def _flows(events: Iterable[model.Event]) -> dict[str, dict[Any, Fraction]]:
    """Return the flows that the log tells, by agent and lot; the moved lots come from the states."""
    found: dict[str, dict[Any, Fraction]] = {name: {} for name in FLOWS}

    def flow(name: str, key: Any, amount: Any) -> None:
        found[name][key] = found[name].get(key, Fraction(0)) + Fraction(amount)

    for event in events:
        uid, amount = event.agent, event.amount
        match event.kind:
            case "Credit":
                flow("credit", uid, amount)
            case "Staked":
                flow("staked", uid, amount)
                flow("put", (uid, event.proposal, 0), amount)
            case "Withdrawn":
                flow("returned", uid, amount)
                flow("tapped", (uid, event.proposal, 0), amount)
            case "Burn" if event.reason != "Stake":
                flow("paid", uid, amount)
            case _:
                pass
    return found


def view(run: Steps, number: int) -> Structure | None:
    """Return step `number` of a run as a structure; None where its readings differ from the theory's."""
    step = run[number]
    config: model.Config = step.config
    before, later = _lots(step.before), _lots(step.after)
    kind, flows = _kind(step), _flows(step.shown.events)
    agents = [agent.uid for agent in config.agents]
    named = {*before, *later, *flows["put"], *flows["tapped"], *((uid, uid, 0) for uid in agents)}
    lots = sorted(lot for lot in named if lot[0] in agents)
    if kind == "finalizes":
        said = {(e.agent, e.proposal) for e in step.shown.events if e.kind == "StakeBurned"}
        flows["burnt"] = {lot: have for lot, have in before.items() if lot[:2] in said}
    elif kind in ("moves", "ticks"):
        for lot in lots:
            more = later.get(lot, Fraction(0)) - before.get(lot, Fraction(0)) - flows["put"].get(lot, Fraction(0))
            flows["come" if more > 0 else "gone"][lot] = abs(more)
    actor = getattr(step.action, "agent", agents[0])
    by = actor if actor in agents else agents[0]
    at: Lot = (by, by, 0)
    if isinstance(step.action, model.AddStake | model.MoveStake) and kind:
        at = (by, step.action.proposal if isinstance(step.action, model.AddStake) else step.action.target, 0)
        lots = sorted({*lots, at})
    return _structure(step, agents, lots, kind, flows, by, at)


def _structure(
    step: Any,
    agents: Sequence[str],
    lots: Sequence[Lot],
    kind: str,
    flows: Mapping[str, Mapping[Any, Fraction]],
    by: str,
    at: Lot,
) -> Structure:
    c = step.config.constants
    functions: dict[str, Table] = {
        "own": {(_agent(uid),): _lot((uid, uid, 0)) for uid in agents},
        "by": constant(_agent(by)),
        "at": constant(_lot(at)),
        "amount": constant(element(_amount(step, kind))),
        "self_stake": constant(element(c.self_stake)),
        "price": constant(element(c.feedback_stake)),
        "penalty": constant(element(c.penalty)),
        "maximum": constant(element(c.maximum_credit)),
    }
    for end, state in (("", step.before), (".after", step.after)):
        held = _lots(state)
        functions[f"balance{end}"] = {(_agent(seat.agent),): element(seat.balance) for seat in state.seats}
        functions[f"points{end}"] = {(_lot(lot),): element(held.get(lot, 0)) for lot in lots}
        sums = sum(Fraction(seat.balance) for seat in state.seats), sum(held.values(), Fraction(0))
        for name, value in zip(
            ("balances", "stakes", "burned", "granted"), (*sums, state.burned, state.granted), strict=True
        ):
            functions[f"{name}{end}"] = constant(element(value))
    for name in FLOWS:
        parts = flows[name]
        by_agent = name in ("credit", "staked", "returned", "paid")
        keys: Sequence[Any] = agents if by_agent else lots
        written = _agent if by_agent else _lot
        functions[name] = {(written(key),): element(parts.get(key, 0)) for key in keys}
        functions[f"all_{name}"] = {(): element(sum(parts.values(), Fraction(0)))}
    relations = props({name: name == kind for name in KINDS})
    relations["kicked"] = ones(
        _agent(event.agent) for event in step.shown.events if event.kind == "KickOut" and event.agent in agents
    )
    for end, state in (("", step.before), (".after", step.after)):
        relations[f"talking{end}"] = prop(state.phase in (model.FEEDBACK, model.REVISE))
        relations[f"rounds{end}"] = prop(state.phase in (model.STAKE, model.FINALIZE))
        relations[f"invited{end}"] = ones(_agent(seat.agent) for seat in state.seats if seat.standing != model.STRANGER)
        texts = {one.uid for one in state.proposals if one.text is not None}
        relations[f"written{end}"] = ones(
            _agent(seat.agent) for seat in state.seats if seat.proposal in texts and seat.proposal == seat.agent
        )
    return Structure({"Agent": tuple(map(_agent, agents)), "Lot": tuple(map(_lot, lots))}, relations, functions)


def _amount(step: Any, kind: str) -> Any:
    match kind:
        case "adds" | "moves":
            return step.action.amount
        case "revises":
            return next(e.get("cost") for e in step.shown.events if e.kind == "Revision")
        case "invites":
            agent = step.config.agent(step.action.agent)
            granted = None if agent is None else agent.granted
            return step.config.constants.invite_payment if granted is None else granted
        case _:
            return 0
