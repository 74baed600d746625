"""Points: grants, self-stake, feedback and revision costs, and how stake entries are withdrawn from and aged."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from evenhand.core.records import replace
from evenhand.model.conviction.exact import Amount, exact
from evenhand.model.conviction.readings import settled
from evenhand.model.conviction.texts import Text, common, ratio, tokens
from evenhand.model.conviction.vocabulary import Config, Entry, Proposal, Seat, State


def credit(config: Config, balance: Amount, payment: Amount) -> Amount | None:
    """The points that a grant of `payment` adds to `balance` (4.1, 4.4); None if it is refused."""
    room = config.constants.maximum_credit - balance
    match config.readings.max_credit:
        case "clip":
            return exact(min(payment, max(room, 0)))
        case "reject":
            return payment if payment <= room else None
        case _:
            return payment


def self_stake(config: Config, balance: Amount, substituted: bool) -> Amount | None:
    """The self-stake of a proposer with this balance (6.2); None where the proposal is refused."""
    wanted = config.constants.self_stake
    if substituted and settled(config.readings).substituted_no_action == "no_stake":
        return 0
    if balance >= wanted:
        return wanted
    match config.readings.poor_proposer:
        case "stake_what_is_left":
            return max(balance, 0)
        case "reject" if not substituted:
            return None
        case _:
            return 0


def penalty(config: Config, seat: Seat) -> Amount:
    """The points that a kick-out burns (9.3)."""
    wanted = config.constants.penalty
    return wanted if config.readings.penalty_floor == "negative_balance" else min(wanted, max(seat.balance, 0))


def changed_tokens(config: Config, old: Text, new: Text) -> int:
    """The longer length minus the LCS, or insertions plus deletions (14.1)."""
    before, after = tokens(old), tokens(new)
    kept = common(before, after)
    if config.readings.diff_ratio == "insertions_plus_deletions":
        return len(before) + len(after) - 2 * kept
    return max(len(before), len(after)) - kept


def delta(config: Config, old: Text, new: Text) -> Fraction:
    """The token-level diff ratio of 14.1; 0 for two empty texts."""
    return ratio(changed_tokens(config, old, new), tokens(old), tokens(new))


def cost(config: Config, change: Fraction) -> Amount:
    """Return RevisionCost (14.1), rounded as the reading says."""
    full = config.constants.self_stake * change
    match config.readings.rounding:
        case "floor":
            return math.floor(full)
        case "ceil":
            return math.ceil(full)
        case _:
            return exact(full)


# Stake entries: one per owner, proposal and number of rounds held; amounts add up.


def joined(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries sorted, those of equal age added up, those without amount left out."""
    sums: dict[tuple[str, str, int], Amount] = {}
    for entry in entries:
        key = (entry.owner, entry.proposal, entry.held)
        sums[key] = sums.get(key, 0) + entry.amount
    return tuple(Entry(*key, amount=exact(amount)) for key, amount in sorted(sums.items()) if amount)


def staked(state: State, owner: str, proposal: str) -> Amount:
    """An owner's stake on a proposal."""
    mine = (one.amount for one in state.entries if (one.owner, one.proposal) == (owner, proposal))
    return exact(sum(mine, 0))


def taken(
    entries: tuple[Entry, ...], owner: str, proposal: str, amount: Amount, order: str
) -> tuple[tuple[Entry, ...], Amount]:
    """The entries without `amount` of an owner's stake, oldest or youngest first, and the shortfall."""
    mine = [entry for entry in entries if (entry.owner, entry.proposal) == (owner, proposal)]
    kept = [entry for entry in entries if (entry.owner, entry.proposal) != (owner, proposal)]
    left = amount
    for entry in sorted(mine, key=lambda one: one.held, reverse=order == "oldest_first"):
        part = min(left, entry.amount)
        left = exact(left - part)
        kept.append(Entry(owner, proposal, entry.held, exact(entry.amount - part)))
    return joined(kept), left


def tapped(config: Config, state: State, seat: Seat, needed: Amount) -> tuple[tuple[Entry, ...], Amount] | None:
    """The entries after 14.2 withdrew the deficit from the own proposal, and it; None if stake is short."""
    deficit = exact(max(needed - seat.balance, 0))
    entries, lacking = taken(state.entries, seat.agent, seat.proposal, deficit, config.readings.tap_takes)
    return None if lacking else (entries, deficit)


def added(config: Config, entries: tuple[Entry, ...], owner: str, proposal: str, amount: Amount) -> tuple[Entry, ...]:
    """The entries with stake added (16.3): a new entry, or on top of the oldest one there."""
    held = 0
    if config.readings.add_makes == "tops_up":
        held = max((one.held for one in entries if (one.owner, one.proposal) == (owner, proposal)), default=0)
    return joined((*entries, Entry(owner, proposal, held, amount)))


def moved(
    config: Config, entries: tuple[Entry, ...], owner: str, source: str, target: str, amount: Amount
) -> tuple[Entry, ...]:
    """The entries with stake moved (16.3), its rounds counted from zero."""
    left, _ = taken(entries, owner, source, amount, config.readings.move_takes)
    return joined((*left, Entry(owner, target, 0, amount)))


def aged(config: Config, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The entries one STAKE round later; ages saturate where 16.7 no longer tells them apart."""
    most = config.constants.saturation
    cap = config.readings.multiplier_cap == "saturation_rounds"
    return joined(
        Entry(one.owner, one.proposal, min(one.held + 1, most) if cap else one.held + 1, one.amount) for one in entries
    )


def touched(config: Config, proposals: tuple[Proposal, ...], what: str, uid: str) -> tuple[Proposal, ...]:
    """The proposals after stake was placed on or taken from `uid`, with its LastStakeTick (17.3).

    `what` is `self`, `add`, `in` or `out`.
    """
    reading = config.readings.last_stake_tick
    counts = what in ("add", "in") or (what, reading) in (("out", "moves_out_too"), ("self", "self_stake_too"))
    if not counts:
        return proposals
    older = {one.last for one in proposals if one.uid != uid and one.last}
    rank = {last: place for place, last in enumerate(sorted(older), start=1)}
    return tuple(
        replace(one, last=0 if one.uid == uid else rank.get(one.last, one.last) if one.last else one.last)
        for one in proposals
    )
