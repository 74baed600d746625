"""The winner, and what must not decide it: names, outsiders, square roots."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from evenhand.core.plan import refuted
from evenhand.core.property import Monitor, TwoRun, each_step
from evenhand.core.records import replace
from evenhand.model.conviction.exact import Surd
from evenhand.model.conviction.renaming import (
    Renaming,
    rename_action,
    rename_config,
    rename_shown,
    rename_state,
    same_events,
)
from evenhand.model.conviction.vocabulary import (
    FINALIZE,
    Act,
    AddStake,
    Config,
    Entry,
    Event,
    MoveStake,
    Proposal,
    State,
    Tick,
)
from evenhand.properties.conviction.predicates import (
    BESIDE,
    RunStep,
    events,
    finalizes,
    left_out,
    on_configs,
    ticking,
    total,
    weight,
)
from evenhand.properties.conviction.staking import scores_of, weight_of_one


def _finalize(step: RunStep) -> Event:
    return next(events(step.shown, "Finalize"))


def tied(step: RunStep) -> tuple[Proposal, ...]:
    """The proposals that share the highest score."""
    scores = scores_of(step)
    most = max(scores.values(), default=None)
    return tuple(one for one in step.before.proposals if scores.get(one.uid) == most)


def contested(step: RunStep) -> bool:
    """Whether an Issue is finalized with several proposals at the top."""
    return finalizes(step) and len(tied(step)) > 1


def _earliest(config: Config, top: tuple[Proposal, ...]) -> tuple[str, ...]:
    """Of tied proposals those with the earliest LastStakeTick; one without it counts as the earliest, or the latest."""
    never = tuple(one.uid for one in top if one.last is None)
    ranks = [one.last for one in top if one.last is not None]
    oldest = tuple(one.uid for one in top if ranks and one.last == max(ranks))
    return oldest or never if config.readings.never_staked == "latest" else never or oldest


@each_step(
    "The winner has the highest score, and a proposal with the highest score alone wins.",
    source="17.2",
    when=lambda step: finalizes(step) and bool(step.before.proposals),
)
def the_highest_score_wins(step: RunStep) -> bool:
    """This holds under every reading."""
    top, won = tied(step), _finalize(step).proposal
    return won == top[0].uid if len(top) == 1 else won == "" or won in [one.uid for one in top]


@each_step(
    "A tie is won by the proposal whose LastStakeTick is earliest; where that ties too, as the reading says.",
    source="17.3",
    when=contested,
)
def ties_go_to_the_earliest_stake(step: RunStep) -> bool:
    """The Finalize event says what decided."""
    event, first = _finalize(step), _earliest(step.config, tied(step))
    if len(first) == 1:
        return (event.proposal, event.get("tie")) == (first[0], "earliest LastStakeTick")
    if step.config.readings.full_tie == "no_winner":
        return (event.proposal, event.get("tie")) == ("", "full tie")
    return (event.proposal, event.get("tie")) == (min(first), "lowest proposal id")


@each_step(
    "A Finalize event names the winner, its score and what decided.",
    source="17.4",
    when=finalizes,
)
def finalize_is_recorded_in_full(step: RunStep) -> bool:
    """There is one Finalize event per Issue, and the ledger is published."""
    found = list(events(step.shown, "Finalize"))
    won = found[0].proposal
    return (
        len(found) == 1
        and bool(found[0].get("tie"))
        and found[0].get("score") == scores_of(step).get(won)
        and sum(event.kind == "Published" for event in step.shown.events) == 1
    )


@each_step(
    "An addition, and a move to a proposal, is its LastStakeTick from then on; nothing else is.",
    source="17.3",
    when=lambda step: not step.shown.rejected and not finalizes(step) and not ticking(step),
)
def stake_ticks_are_the_latest(step: RunStep) -> bool:
    """The latest addition or move counts, not the first."""
    reading = step.config.readings.last_stake_tick
    now: set[str] = set()
    for event in events(step.shown, "Staked", "Moved"):
        if event.reason != "SelfStake" or reading == "self_stake_too":
            now.add(event.proposal)
        if event.kind == "Moved" and reading == "moves_out_too":
            now.add(event.get("source"))
    if any(one.last != 0 for one in step.after.proposals if one.uid in now):
        return False
    before = {one.uid: one.last for one in step.before.proposals}
    pairs = [(before.get(one.uid), one.last) for one in step.after.proposals if one.uid not in now]
    if any((a is None, a == 0) != (b is None, b == 0) for a, b in pairs):
        return False
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return all((a < c) == (b < d) for a, b in known for c, d in known)


@each_step(
    "A tick makes every LastStakeTick older and keeps their order.",
    source="17.3",
    when=lambda step: ticking(step) and not finalizes(step),
    applies=on_configs(lambda config: config.readings.last_stake_tick != "self_stake_too"),
)
def ticks_keep_the_order_of_stake_ticks(step: RunStep) -> bool:
    """No LastStakeTick is in the running tick after a tick."""
    old = {one.uid: one.last for one in step.before.proposals}
    pairs = [(old[one.uid], one.last) for one in step.after.proposals if one.uid in old]
    if any((a is None) != (b is None) or b == 0 for a, b in pairs):
        return False
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return all((a < c) == (b < d) for a, b in known for c, d in known)


def _between(one: Surd, low: Surd, high: Surd) -> Fraction:
    """A rational q with low < q*q <= high: the witness that roots have the order of the sums."""
    floor, top = Fraction(0), Fraction(1)
    while one.times(top * top) <= high:
        top *= 2
    while not (low < one.times(floor * floor) <= high):
        middle = (floor + top) / 2
        floor, top = (middle, top) if one.times(middle * middle) <= high else (floor, middle)
    return floor


@each_step(
    "Ranking by the sum of effective stakes is ranking by its square root.",
    source="17.1",
    when=lambda step: finalizes(step) and len(step.before.proposals) > 1,
)
def roots_rank_as_sums_do(step: RunStep) -> bool:
    """A rational between the roots of winner and loser shows which is greater; no root exceeds the winner's."""
    scores, won = scores_of(step), _finalize(step).proposal
    one = weight_of_one(step.config)
    for uid, score in scores.items():
        if won and scores[won] != score:
            if scores[won] < score:
                return False
            q = _between(one, score, scores[won])
            if not (uid != won and score < one.times(q * q) <= scores[won]):
                return False
    return True


def _swaps(config: Config, _state: State, _action: Act) -> Iterator[Renaming]:
    """Yield swaps of neighbours, and fresh names in the opposite order."""
    names = [agent.uid for agent in config.agents]
    for one, other in pairwise(names):
        yield Renaming(((one, other), (other, one)))
    yield Renaming(tuple((old, f"somebody_{len(names) - place}") for place, old in enumerate(names)))


def _renamed(w: Renaming, step: RunStep, other: RunStep | None) -> bool:
    if other is None:
        return False
    return same_events(rename_shown(w, step.shown), other.shown) and (
        rename_state(w, step.config, step.after) == other.after
    )


names_decide_nothing = TwoRun(
    name="names_decide_nothing",
    sentence="Rename the agents everywhere: the same happens under the new names, and the same proposal wins.",
    source="2.1, 9.5",
    twins=_swaps,
    config=rename_config,
    state=rename_state,
    other=lambda w, action: (rename_action(w, action),),
    agree=_renamed,
    expected=(BESIDE, refuted("the lowest name wins a full tie", full_tie="lowest_proposal_id")),
)

steps_are_functions = TwoRun(
    name="steps_are_functions",
    sentence="The same action in the same state appends the same events and leads to the same state.",
    source="2.1, 9.5, 13.1",
    twins=lambda _config, _state, _action: ("again",),
    config=lambda _w, config: config,
    state=lambda _w, _config, state: state,
    other=lambda _w, action: (action,),
    agree=lambda _w, step, other: other is not None and (other.shown, other.after) == (step.shown, step.after),
    expected=(BESIDE,),
)

_Hands: TypeAlias = tuple[tuple[tuple[str, str], ...], bool]
"""The agent that last staked on each proposal, and whether an outsider has decided."""


def _watched(value: _Hands, step: RunStep) -> _Hands:
    hands, decided, action = dict(value[0]), value[1], step.action
    if isinstance(action, AddStake) and not step.shown.rejected:
        hands[action.proposal] = action.agent
    elif isinstance(action, MoveStake) and not step.shown.rejected:
        hands[action.target] = action.agent
        if step.config.readings.last_stake_tick == "moves_out_too":
            hands[action.source] = action.agent
    elif finalizes(step):
        decided = decided or _by_outsider(hands, step)
        hands = {}
    return tuple(sorted(hands.items())), decided


def _by_outsider(hands: dict[str, str], step: RunStep) -> bool:
    """Whether a tied proposal lost by the LastStakeTick of an agent without stake on any tied proposal."""
    if _finalize(step).get("tie") != "earliest LastStakeTick":
        return False
    top = {one.uid for one in tied(step)}
    inside = {e.owner for e in step.before.entries if e.proposal in top} | {
        seat.agent for seat in step.before.seats if seat.proposal in top
    }
    return any(hands.get(uid, "") not in ("", *inside) for uid in top - {_finalize(step).proposal})


outsiders_decide_nothing = Monitor(
    name="outsiders_decide_nothing",
    sentence="Nobody decides between two proposals of others without stake left on either.  (Stated to be refuted "
    "among three: a point moved to a tied proposal and away again makes its LastStakeTick the later one.)",
    source="17.3",
    start=lambda _config: ((), False),
    update=_watched,
    ok=lambda _config, value: not value[1],
    when=lambda _config, value: bool(value[0]) or value[1],
    expected=(
        left_out("`trio` refutes it; whether a drawn run does is chance"),
        refuted("17.3: a point moved to a tied proposal and away again is its most recent move", system="trio"),
    ),
)

Late: TypeAlias = tuple[str, str, str]
"""A tied proposal, an agent that has no part in the tie, and an untied proposal that it has staked on."""


def _leading(config: Config, state: State) -> set[str]:
    """The proposals that share the highest score."""
    scores = {one.uid: weight(config, 0).times(0) for one in state.proposals}
    for entry in state.entries:
        scores[entry.proposal] += weight(config, entry.held).times(entry.amount)
    most = max(scores.values(), default=None)
    return {uid for uid, score in scores.items() if score == most}


def _outsiders(config: Config, state: State, action: Act) -> Iterator[Late]:
    """Yield, before a tie is finalized, each tied proposal with each agent that could decide for it."""
    top = _leading(config, state) if isinstance(action, Tick) and state.phase == FINALIZE else set[str]()
    if len(top) < 2:
        return
    inside = {e.owner for e in state.entries if e.proposal in top} | {
        seat.agent for seat in state.seats if seat.proposal in top
    }
    homes = dict.fromkeys((e.owner, e.proposal) for e in state.entries if e.owner not in inside)
    yield from ((chosen, *one) for chosen in sorted(top) for one in homes)


def moved_about(late: Late, config: Config, state: State) -> State:
    """The state if that agent had moved its stake to each other tied proposal in turn, and back, in a tick of its own.

    Its stake is as new; the other tied proposals, and the one that it came back to, have the latest LastStakeTick.
    """
    chosen, agent, home = late
    touched = (_leading(config, state) | {home}) - {chosen}
    ranks = {one.uid: 1 if one.uid in touched else one.last and one.last + 1 for one in state.proposals}
    order = sorted({rank for rank in ranks.values() if rank is not None})
    place = {rank: number for number, rank in enumerate(order, start=1)}
    here = [e for e in state.entries if (e.owner, e.proposal) == (agent, home)]
    back = Entry(agent, home, 0, total(e.amount for e in here))
    return replace(
        state,
        proposals=tuple(
            replace(one, last=None if (rank := ranks[one.uid]) is None else place[rank]) for one in state.proposals
        ),
        entries=tuple(
            sorted((*(e for e in state.entries if e not in here), back), key=lambda e: (e.owner, e.proposal, e.held))
        ),
    )


def _chosen(late: Late, step: RunStep, other: RunStep | None) -> bool:
    """Whether the chosen one wins in the second run by its LastStakeTick, and the ends are the same."""
    if other is None:
        return False
    event = next(events(other.shown, "Finalize"), None)
    won = event is not None and (event.proposal, event.get("tie")) == (late[0], "earliest LastStakeTick")
    return won and other.after == step.after


an_outsider_can_decide_any_tie = TwoRun(
    name="an_outsider_can_decide_any_tie",
    sentence="Of tied proposals any one wins if an agent that has no part in the tie has since moved its stake to each "
    "other one and back: and at the end nobody has a point more or less.",
    source="17.3",
    twins=_outsiders,
    config=lambda _late, config: config,
    state=moved_about,
    other=lambda _late, action: (action,),
    agree=_chosen,
    starts=False,
    applies=on_configs(lambda config: config.readings.text != "B"),
    systems=("trio",),
)
