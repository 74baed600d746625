"""Points: supply, bounds, agreement with the log, and the burn of stakes at the end."""

from __future__ import annotations

from evenhand.core.plan import refuted
from evenhand.core.property import always, each_step
from evenhand.model.conviction.exact import Amount
from evenhand.model.conviction.vocabulary import FINALIZE, REJECTIONS, Config, Feedback, Invite, Revise, State, Tick
from evenhand.properties.conviction.predicates import (
    RunStep,
    accepted,
    act,
    balance,
    events,
    finalizes,
    left_out,
    on_configs,
    stakes_on,
    total,
)


@always(
    "Balances, stakes and what was burned add up to what was ever allocated, after every action.",
    source="4.3, 13.3, 18.3",
    expected=(refuted("14.1 deducts, and no burn says where to", revision_cost="deducted_only"),),
)
def supply_is_conserved(_config: Config, state: State) -> bool:
    """No points appear or vanish."""
    held = total(seat.balance for seat in state.seats) + total(entry.amount for entry in state.entries)
    return held + state.burned == state.granted


@always(
    "No balance, stake or burn is ever negative.",
    source="4.2",
    expected=(refuted("9.3 debits whatever the balance", penalty_floor="negative_balance"),),
)
def nothing_is_negative(_config: Config, state: State) -> bool:
    """Each amount is checked by itself."""
    low = min((seat.balance for seat in state.seats), default=0)
    return low >= 0 and state.burned >= 0 and all(entry.amount > 0 for entry in state.entries)


@always(
    "No balance exceeds MaximumCredit, where there is one.",
    source="4.4",
    applies=on_configs(lambda config: config.readings.max_credit != "unbounded"),
    expected=(left_out("said under other readings; `run` is drawn under the default"),),
)
def balances_stay_below_the_maximum(config: Config, state: State) -> bool:
    """Checked after every action, not only after grants."""
    return all(seat.balance <= config.constants.maximum_credit for seat in state.seats)


@each_step(
    "A grant respects MaximumCredit: the balance after it is not above, and a refused grant leaves the agent out.",
    source="4.1, 4.4",
    when=lambda step: isinstance(step.action, Invite),
)
def grants_respect_the_maximum(step: RunStep) -> bool:
    """An invitation credits at most once, and the supply grows by exactly that amount."""
    config, uid = step.config, act(step, Invite).agent
    credits = list(events(step.shown, "Credit"))
    gained = total(event.amount for event in credits)
    if step.after.granted - step.before.granted != gained or len(credits) > 1:
        return False
    if not credits:
        return step.after == step.before
    return config.readings.max_credit == "unbounded" or balance(step.after, uid) <= config.constants.maximum_credit


@each_step(
    "An accepted invitation credits InvitePayment, or what MaximumCredit leaves of it where grants are clipped.",
    source="4.1, 4.4",
    when=lambda step: accepted(step, Invite),
)
def invitations_credit_the_payment(step: RunStep) -> bool:
    """An agent may have a grant of its own in place of the payment."""
    c, uid = step.config.constants, act(step, Invite).agent
    agent, before = step.config.agent(uid), balance(step.before, uid)
    payment = c.invite_payment if agent is None or agent.granted is None else agent.granted
    room = max(c.maximum_credit - before, 0)
    due = min(payment, room) if step.config.readings.max_credit == "clip" else payment
    return balance(step.after, uid) - before == due == total(event.amount for event in events(step.shown, "Credit"))


@each_step("Points are granted by invitation alone.", source="4.1")
def only_invitations_grant(step: RunStep) -> bool:
    """No other action raises the allocated total."""
    return step.after.granted == step.before.granted or isinstance(step.action, Invite)


def _flows(step: RunStep) -> tuple[dict[str, Amount], dict[tuple[str, str], Amount], Amount]:
    """The changes of balances, stakes and the burned total according to the events."""
    liquid: dict[str, Amount] = {}
    stakes: dict[tuple[str, str], Amount] = {}
    burned: Amount = 0

    def put(agent: str, amount: Amount) -> None:
        liquid[agent] = liquid.get(agent, 0) + amount

    def stake(agent: str, proposal: str, amount: Amount) -> None:
        stakes[agent, proposal] = stakes.get((agent, proposal), 0) + amount

    for event in step.shown.events:
        amount = event.amount
        match event.kind:
            case "Credit":
                put(event.agent, amount)
            case "Staked":
                put(event.agent, -amount)
                stake(event.agent, event.proposal, amount)
            case "Withdrawn":
                put(event.agent, amount)
                stake(event.agent, event.proposal, -amount)
            case "Moved":
                stake(event.agent, event.get("source"), -amount)
                stake(event.agent, event.proposal, amount)
            case "Deducted":
                put(event.agent, -amount)
            case "StakeBurned":
                stake(event.agent, event.proposal, -amount)
                burned += amount
            case "Burn" if event.reason != "Stake":
                put(event.agent, -amount)
                burned += amount
            case _:
                pass
    return liquid, stakes, burned


@each_step(
    "The log replays to the state: balances, stakes and the burned total change by what its events say, nothing else.",
    source="13.1, 18.2",
)
def log_replays_to_the_state(step: RunStep) -> bool:
    """Compared agent by agent and proposal by proposal."""
    liquid, stakes, burned = _flows(step)
    if step.after.burned - step.before.burned != burned:
        return False
    agents = {seat.agent for seat in step.before.seats}
    if any(balance(step.after, a) - balance(step.before, a) != liquid.get(a, 0) for a in agents):
        return False
    old, new = stakes_on(step.before), stakes_on(step.after)
    return (
        all(new.get(k, 0) - old.get(k, 0) == stakes.get(k, 0) for k in {*old, *new, *stakes}) and set(liquid) <= agents
    )


@each_step(
    "What is in circulation falls by exactly what Burn events record: 18.3's TotalSupply is right.",
    source="13.2, 13.3, 18.3",
    expected=(
        refuted("14.1 deducts without a Burn event", revision_cost="deducted_only"),
        refuted("18.2 logs StakeBurned, 18.3 sums Burn events", stake_burn="separate_event"),
    ),
)
def burn_events_reconcile_the_supply(step: RunStep) -> bool:
    """Every burn is logged as a Burn event."""

    def circulating(state: State) -> Amount:
        return total(seat.balance for seat in state.seats) + total(entry.amount for entry in state.entries)

    recorded = total(event.amount for event in events(step.shown, "Burn"))
    granted = step.after.granted - step.before.granted
    return circulating(step.before) + granted - circulating(step.after) == recorded


@each_step(
    "At the end of an Issue every stake is burned, and a StakeBurned event per agent and proposal says so.",
    source="18.2",
    when=finalizes,
)
def every_stake_is_burned(step: RunStep) -> bool:
    """This covers winning and losing proposals."""
    said = [((event.agent, event.proposal), event.amount) for event in events(step.shown, "StakeBurned")]
    return not step.after.entries and len(said) == len(dict(said)) and dict(said) == stakes_on(step.before)


@each_step(
    "Where the burn of a stake is a Burn event too, it names owner, proposal and amount as StakeBurned does.",
    source="13.2, 18.2",
    when=finalizes,
    applies=on_configs(lambda config: config.readings.stake_burn == "is_burn_event"),
)
def both_records_of_a_burned_stake_agree(step: RunStep) -> bool:
    """Neither is left out."""
    said = [[(e.agent, e.proposal, e.amount) for e in events(step.shown, kind)] for kind in ("StakeBurned", "Burn")]
    return said[0] == said[1]


@each_step("Balances persist when an Issue is finalized.", source="18.1", when=finalizes)
def balances_persist(step: RunStep) -> bool:
    """Liquid points are neither burned nor paid out."""
    return all(balance(step.after, seat.agent) == seat.balance for seat in step.before.seats)


@each_step(
    "A rejected action leaves its named event and changes nothing else.",
    source="11.4, 14.2, 16.5",
    when=lambda step: bool(step.shown.rejected),
)
def rejected_actions_change_nothing(step: RunStep) -> bool:
    """One event is logged, with a known reason."""
    events_ = step.shown.events
    named = len(events_) == 1 and events_[0].kind == "Rejected" and events_[0].reason == step.shown.rejected
    return step.after == step.before and named and step.shown.rejected in REJECTIONS


@each_step("An accepted action is in the log.", source="13.1", when=lambda step: not step.shown.rejected)
def accepted_actions_are_logged(step: RunStep) -> bool:
    """Every accepted action logs at least one event, and none is a rejection."""
    return bool(step.shown.events) and not any(events(step.shown, "Rejected"))


def _why_burned(step: RunStep) -> str:
    """The reason for which this step may burn points."""
    match step.action:
        case Feedback():
            return "FeedbackStake"
        case Revise():
            return "RevisionCost"
        case Tick():
            return "Stake" if step.before.phase == FINALIZE else "KickOutPenalty"
        case _:
            return ""


@each_step(
    "Every burn names agent, amount and Issue, and as its reason what burned the points.",
    source="13.2",
    when=lambda step: any(events(step.shown, "Burn")),
    version=2,
)
def burns_are_recorded_in_full(step: RunStep) -> bool:
    """`ledger` stamps the tick."""
    why = _why_burned(step)
    return all(e.agent and e.amount > 0 and e.reason == why != "" and e.issue for e in events(step.shown, "Burn"))
