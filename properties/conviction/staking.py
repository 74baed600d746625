"""Stakes in the rounds: the effects of an addition, a move and a round, and the weights at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from evenhand.core.plan import refuted
from evenhand.core.property import Commute, each_step
from evenhand.model.conviction.exact import Amount, Surd, is_amount
from evenhand.model.conviction.vocabulary import STAKE, Act, AddStake, Config, Entry, MoveStake, State, Tick
from evenhand.properties.conviction.predicates import (
    RunStep,
    accepted,
    act,
    actor,
    events,
    finalizes,
    left_out,
    on_configs,
    owned,
    ticking,
    total,
    weight,
)

_PAIRS = left_out("every pair of actions in every drawn state costs a multiple: drawn under the deep budget")


@each_step(
    "Stake is added and moved from the second round on, where the text offers it, and not otherwise.",
    source="A 16.3",
    when=lambda step: accepted(step, AddStake, MoveStake),
)
def stakes_change_from_round_two(step: RunStep) -> bool:
    """STAKE 1 is reserved for the self-stake."""
    return step.before.phase == STAKE and step.before.turn >= 2 and step.config.readings.text != "B"


@each_step(
    "Added stake is taken from the liquid balance in full and counts its rounds from zero.",
    source="A 16.3, 16.5, 16.6",
    when=lambda step: accepted(step, AddStake),
    applies=on_configs(lambda config: config.readings.add_makes == "new_entry"),
)
def added_stake_begins_at_zero(step: RunStep) -> bool:
    """No other entry of the agent on that proposal changes."""
    a = act(step, AddStake)
    before, after = owned(step.before, a.agent, a.proposal), owned(step.after, a.agent, a.proposal)
    return a.amount > 0 and after == {**before, 0: before.get(0, 0) + a.amount}


@each_step(
    "Moved stake begins at zero: the multiplier is reset to 1.",
    source="A 16.3",
    when=lambda step: accepted(step, MoveStake),
)
def moved_stake_begins_at_zero(step: RunStep) -> bool:
    """As much arrives as leaves, with zero rounds held."""
    a = act(step, MoveStake)
    target, new = owned(step.before, a.agent, a.target), owned(step.after, a.agent, a.target)
    source, left = owned(step.before, a.agent, a.source), owned(step.after, a.agent, a.source)
    return (
        a.amount > 0
        and a.source != a.target
        and new == {**target, 0: target.get(0, 0) + a.amount}
        and total(source.values()) - total(left.values()) == a.amount
        and all(left[held] <= source.get(held, 0) for held in left)
    )


@each_step(
    "A move takes the oldest stake first, or the youngest, as read.",
    source="A 16.3",
    when=lambda step: accepted(step, MoveStake),
)
def moves_take_as_read(step: RunStep) -> bool:
    """No entry is reduced while one that precedes it in the order remains."""
    a = act(step, MoveStake)
    return _taken_in_order(
        owned(step.before, a.agent, a.source),
        owned(step.after, a.agent, a.source),
        step.config.readings.move_takes == "oldest_first",
    )


def _taken_in_order(before: dict[int, Amount], after: dict[int, Amount], oldest_first: bool) -> bool:
    """Whether the amount was taken from a prefix of the order, all but its last entry wholly."""
    order = sorted(before, reverse=oldest_first)
    left = [Fraction(after.get(held, 0)) for held in order]
    whole = [Fraction(before[held]) for held in order]
    cut = next((place for place, amount in enumerate(left) if amount), len(order))
    return all(one == all_ for one, all_ in zip(left[cut + 1 :], whole[cut + 1 :], strict=True))


@each_step(
    "Nobody's stake but the actor's changes between two ticks.",
    source="1.2",
    when=lambda step: not isinstance(step.action, Tick),
)
def only_the_actor_moves_its_stake(step: RunStep) -> bool:
    """Compared entry by entry."""
    who = actor(step.action)
    return [e for e in step.before.entries if e.owner != who] == [e for e in step.after.entries if e.owner != who]


@each_step(
    "From one STAKE round to the next every stake is held for one round more; nothing else ages it.",
    source="16.6",
    when=lambda step: ticking(step) or finalizes(step),
)
def stakes_age_by_rounds(step: RunStep) -> bool:
    """Neither a tick inside a round nor the tick that finalizes counts."""
    before, after = step.before, step.after
    if after.phase == STAKE and before.phase == STAKE and after.turn == before.turn + 1:
        cap = step.config.readings.multiplier_cap == "saturation_rounds"
        most = step.config.constants.saturation
        older: dict[tuple[str, str, int], Amount] = {}
        for entry in before.entries:
            held = min(entry.held + 1, most) if cap else entry.held + 1
            key = (entry.owner, entry.proposal, held)
            older[key] = older.get(key, 0) + entry.amount
        return older == {(one.owner, one.proposal, one.held): one.amount for one in after.entries}
    if finalizes(step):
        return True
    return {(e.owner, e.proposal, e.held, e.amount) for e in before.entries if e.held} == {
        (e.owner, e.proposal, e.held, e.amount) for e in after.entries if e.held
    }


@each_step(
    "No action ages a stake: whatever an agent does, new stake has been held for no round.",
    source="16.6",
    when=lambda step: not isinstance(step.action, Tick),
    applies=on_configs(lambda config: config.readings.add_makes == "new_entry"),
)
def actions_age_no_stake(step: RunStep) -> bool:
    """A proposal's first stake and an addition are new; old stake can only become less."""
    before = {(e.owner, e.proposal, e.held): e.amount for e in step.before.entries}
    return all(not e.held or e.amount <= before.get((e.owner, e.proposal, e.held), 0) for e in step.after.entries)


# Weights


def scores_of(step: RunStep) -> dict[str, Surd]:
    """The score of each proposal in a Finalize event, as a sum before the root."""
    return dict(next(events(step.shown, "Finalize")).get("scores"))


def _weighed(step: RunStep) -> Iterator[tuple[str, Surd, Amount]]:
    """Yield each proposal with its score and the points staked on it."""
    for uid, score in scores_of(step).items():
        yield uid, score, total(one.amount for one in step.before.entries if one.proposal == uid)


@each_step(
    "The score of a proposal is the sum of its stakes, each times the multiplier of 16.7.",
    source="16.6, 16.7, 17.1",
    when=finalizes,
)
def scores_are_sums_of_weights(step: RunStep) -> bool:
    """Compared in exact arithmetic."""
    for uid, score, _ in _weighed(step):
        own = weight(step.config, 0).times(0)
        for entry in step.before.entries:
            if entry.proposal == uid:
                own += weight(step.config, entry.held).times(entry.amount)
        if own != score:
            return False
    return len(scores_of(step)) == len(step.before.proposals)


@each_step(
    "A point weighs at least 1 and at most MaxConvictionMultiplier.",
    source="16.7",
    when=finalizes,
)
def multipliers_are_bounded(step: RunStep) -> bool:
    """Checked on the scores of proposals."""
    one = weight(step.config, 0).times(0) + weight_of_one(step.config)
    most = one.times(step.config.constants.greatest)
    return all(one.times(points) <= score <= most.times(points) for _, score, points in _weighed(step))


def weight_of_one(config: Config) -> Surd:
    """The number 1 in the field of the configuration."""
    zero = weight(config, 0).times(0)
    return Surd(zero.base, (Fraction(1), *zero.form[1:]))


@each_step(
    "After ConvictionSaturationRounds a point weighs at least ConvictionTargetFraction x MaxConvictionMultiplier, and "
    "in fact exactly 1 + (Max - 1) x ConvictionTargetFraction; before, it weighs less than that.",
    source="16.7",
    when=lambda step: finalizes(step) and _capped(step),
)
def saturation_reaches_the_target(step: RunStep) -> bool:
    """The weight is 1.98 by default; the 1.96 of the example is a lower bound, never reached exactly."""
    c, one = step.config.constants, weight_of_one(step.config)
    for uid, score, points in _weighed(step):
        reached = one.times(points * (1 + (c.greatest - 1) * c.fraction))
        old = all(_counted(step, e) >= c.saturation for e in step.before.entries if e.proposal == uid)
        if old and (score != reached or score < one.times(points * c.fraction * c.greatest)):
            return False
        if not old and c.greatest > 1 and not score < reached:
            return False
    return True


def _counted(step: RunStep, entry: Entry) -> int:
    """The rounds that a stake counts, as read."""
    return entry.held + (step.config.readings.rounds_from == "one")


def _capped(step: RunStep) -> bool:
    return step.config.readings.multiplier_cap == "saturation_rounds" and bool(step.before.entries)


# Orders inside a tick


def _across(_config: Config, _state: State, enabled: tuple[Act, ...]) -> Iterable[tuple[Act, Act]]:
    acts = [action for action in enabled if actor(action)]
    return ((one, other) for one in acts for other in acts if actor(one) < actor(other))


def _same(_config: Config, one: RunStep, other: RunStep) -> bool:
    return one.after == other.after


actions_of_two_agents_commute = Commute(
    name="actions_of_two_agents_commute",
    sentence="Inside a tick, actions of two agents in either order lead to the same state: so the winner does not "
    "depend on the order in which agents are heard.",
    source="2.4, 17.3",
    pairs=_across,
    same=_same,
    expected=(_PAIRS,),
)


def _own_pairs(enabled: tuple[Act, ...]) -> Iterable[tuple[AddStake, MoveStake]]:
    """An addition and a move of one agent."""
    adds = [action for action in enabled if isinstance(action, AddStake)]
    moves = [action for action in enabled if isinstance(action, MoveStake)]
    return ((one, other) for one in adds for other in moves if one.agent == other.agent)


def _alone(_config: Config, state: State, enabled: tuple[Act, ...]) -> Iterable[tuple[Act, Act]]:
    """The same pairs, and moves of the very points that are added."""
    yield from _own_pairs(enabled)
    for one in enabled:
        if isinstance(one, AddStake):
            for target in state.proposals:
                if target.uid != one.proposal:
                    yield one, MoveStake(one.agent, one.credential, one.proposal, target.uid, one.amount)


def _apart(config: Config, state: State, enabled: tuple[Act, ...]) -> Iterable[tuple[Act, Act]]:
    """The same pairs but those in which the move takes some of the points that are added."""
    for one, other in _alone(config, state, enabled):
        if isinstance(one, AddStake) and isinstance(other, MoveStake) and not _takes_added(state, one, other):
            yield one, other


def _takes_added(state: State, one: AddStake, other: MoveStake) -> bool:
    """Whether an addition that its agent can pay brings what a move lacks."""
    seat = state.seat(one.agent)
    if seat is None or not is_amount(one.amount) or not is_amount(other.amount) or one.proposal != other.source:
        return False
    staked = total(e.amount for e in state.entries if (e.owner, e.proposal) == (other.agent, other.source))
    return one.amount <= seat.balance and staked < other.amount <= staked + one.amount


add_and_move_commute_for_one_agent = Commute(
    name="add_and_move_commute_for_one_agent",
    sentence="An agent's Add Stake and Move Stake in one round lead to the same, whichever comes first.  (Stated to be "
    "refuted: what is added can be moved, what is not yet there cannot.)",
    source="A 16.4",
    pairs=_alone,
    same=_same,
    expected=(
        _PAIRS,
        refuted("A 16.4: a point that is added can be moved at once, one that is not there cannot"),
    ),
)

funded_add_and_move_commute = Commute(
    name="funded_add_and_move_commute",
    sentence="An agent's Add Stake and Move Stake in one round lead to the same, whichever comes first, unless the "
    "move takes some of the points that are added.",
    source="A 16.4",
    pairs=_apart,
    same=_same,
    expected=(
        _PAIRS,
        refuted("A 16.3: the youngest entry is the one just added, if it is added first", move_takes="youngest_first"),
    ),
)


def _of_added(config: Config, state: State, _enabled: tuple[Act, ...]) -> Iterable[tuple[Act, Act]]:
    """Additions of all that an agent has left, and moves of everything that is then there."""
    if state.phase != STAKE or state.turn < 2 or not config.readings.stakes_can_change:
        return
    keys = {agent.uid: agent.credential for agent in config.agents}
    for seat in state.seats:
        if seat.assigned and not seat.signal and is_amount(seat.balance):
            for one in state.proposals:
                staked = total(e.amount for e in state.entries if (e.owner, e.proposal) == (seat.agent, one.uid))
                key = keys[seat.agent]
                for other in state.proposals:
                    if other != one:
                        yield (
                            AddStake(seat.agent, key, one.uid, seat.balance),
                            MoveStake(seat.agent, key, one.uid, other.uid, staked + seat.balance),
                        )


added_points_can_be_moved_at_once = Commute(
    name="added_points_can_be_moved_at_once",
    sentence="Where a move takes points that the same agent adds in that round, the order decides: the addition first, "
    "and they are moved; the move first, and they are not.",
    source="A 16.4",
    pairs=_of_added,
    same=lambda _config, one, other: not one.shown.rejected and one.after != other.after,
    expected=(_PAIRS,),
)
