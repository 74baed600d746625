"""What stakes do to LastStakeTicks (17.3), for any number of proposals: one stake, and two of one tick in either order.

The ranks of LastStakeTicks are an order here: `older` says whose tick is earlier, `fresh` whose is the running tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

from evenhand.core.relations import Fork
from evenhand.core.system import AnySystem
from evenhand.model.conviction.mutants import play
from evenhand.model.conviction.vocabulary import STAKE, Act, AddStake, MoveStake, State, Tick
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.walks import ends
from evenhand.properties.conviction import staking, winning
from evenhand.properties.conviction.predicates import RunStep, events, finalizes, ticking
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import Definition, Formula, Sort, Var, conjunction, exists, forall, iff, ite, same, variables
from evenhand.smt.preludes import Faults, define, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

PROPOSAL = Sort("Proposal")
p, q, r = variables(PROPOSAL, "p q r")
never, fresh = relations("never fresh", PROPOSAL)
"""The proposal has no LastStakeTick; its LastStakeTick is the running tick."""
(older,) = relations("older", PROPOSAL, PROPOSAL)
"""The first's LastStakeTick is earlier than the second's, or it has none and the second has one."""
target, target2, self_staked = relations("target target2 self_staked", PROPOSAL)
"""What the action, and the second one of two, adds to or moves to; what an automatic self-stake is placed on."""
moves, moves2 = relations("moves moves2")
"""The action is a move, and the second one is."""


@dataclass(frozen=True)
class _Ticks:
    """The LastStakeTicks of a moment, as formulas."""

    never: Callable[[Var], Formula]
    fresh: Callable[[Var], Formula]
    older: Callable[[Var, Var], Formula]


_Touches: TypeAlias = Callable[[_Ticks, Var], Formula]
"""Whether an action sets the LastStakeTick of a proposal."""


def _later(now: _Ticks, touches: _Touches) -> _Ticks:
    """Return the LastStakeTicks after an action, by 17.3."""
    touched = partial(touches, now)
    return _Ticks(
        lambda one: now.never(one) & ~touched(one),
        lambda one: now.fresh(one) | touched(one),
        lambda one, two: ~touched(one) & ite(touched(two), ~now.fresh(one), now.older(one, two)),
    )


def _in_turn(now: _Ticks, touches: _Touches) -> _Ticks:
    """Return them where a stake on what was not staked on in this tick makes all others older."""
    touched = partial(touches, now)
    moved_on = exists([r], touched(r) & ~now.fresh(r))
    return _Ticks(
        lambda one: now.never(one) & ~touched(one),
        lambda one: touched(one) | (now.fresh(one) & ~moved_on),
        lambda one, two: ~touched(one) & ite(touched(two), ~now.fresh(one) | ~now.fresh(two), now.older(one, two)),
    )


_BEFORE = _Ticks(never, fresh, older)
_Words: TypeAlias = tuple[Definition, ...]


def _said(
    source: str, first: _Touches, second: _Touches, after: Callable[[_Ticks, _Touches], _Ticks] = _later
) -> tuple[_Words, _Words]:
    """Return the words on the first action alone, and those on both in either order."""
    then, other = after(_BEFORE, first), after(_BEFORE, second)
    alone = (
        define("never_then", (p,), then.never(p), source),
        define("fresh_then", (p,), then.fresh(p), source),
        define("older_then", (p, q), then.older(p, q), source),
    )
    both = tuple(
        word
        for name, end in (("12", after(then, second)), ("21", after(other, first)))
        for word in (
            define(f"fresh{name}", (p,), end.fresh(p), source),
            define(f"older{name}", (p, q), end.older(p, q), source),
        )
    )
    return alone, both


def _target(_now: _Ticks, one: Var) -> Formula:
    return target(one)


def _target2(_now: _Ticks, one: Var) -> Formula:
    return target2(one)


_ALONE, _BOTH = _said("17.3: the tick of the most recent addition or move to it", _target, _target2)
_ONE_TARGET = Axiom(
    "one_target", forall([p, q], (target(p) & target(q)) >> same(p, q)), "A 16.3: Add and Move name one target"
)
_ORDERED = Axiom(
    "ticks_are_ordered",
    conjunction(
        [
            forall([p, q], older(p, q) >> ~older(q, p)),
            forall([p, q, r], older(p, q) >> (older(p, r) | older(r, q))),
            forall([p, q], fresh(q) >> iff(older(p, q), ~fresh(p))),
            forall([p], fresh(p) >> ~never(p)),
            forall([p, q], never(p) >> iff(older(p, q), ~never(q))),
        ]
    ),
    "17.3: ticks are numbers, the running one is the latest, and none counts as the earliest",
)

ONE = Theory.of(
    "conviction_stake_ticks",
    self_staked,
    moves,
    axioms=(_ORDERED, _ONE_TARGET),
    definitions=_ALONE,
)
TWO = Theory.of(
    "conviction_two_stakes",
    moves,
    moves2,
    axioms=(
        _ORDERED,
        _ONE_TARGET,
        Axiom("one_target2", forall([p, q], (target2(p) & target2(q)) >> same(p, q)), "A 16.3: of the second as well"),
    ),
    definitions=_BOTH,
)


# Conformance.


def _aimed(action: Act) -> str:
    match action:
        case AddStake():
            return action.proposal
        case MoveStake():
            return action.target
        case _:
            return ""


def _ranks(state: State, uids: list[str], ending: str = "") -> dict[str, Any]:
    """Return the LastStakeTicks of these proposals; one that is not there yet has none."""
    last = {uid: None if (one := state.proposal(uid)) is None else one.last for uid in uids}

    def earlier(one: str, two: str) -> bool:
        mine, other = last[one], last[two]
        return other is not None and (mine is None or mine > other)

    return {
        f"never{ending}": {uid for uid in uids if last[uid] is None},
        f"fresh{ending}": {uid for uid in uids if last[uid] == 0},
        f"older{ending}": {(one, two) for one in uids for two in uids if earlier(one, two)},
    }


def view_one(step: RunStep) -> Structure | None:
    """Return an accepted action as a structure; None for a tick or finalization, and before there are proposals."""
    uids = [one.uid for one in step.after.proposals]
    if step.shown.rejected or finalizes(step) or ticking(step) or isinstance(step.action, Tick) or not uids:
        return None
    return structure(
        {"Proposal": uids},
        {
            **_ranks(step.before, uids),
            **_ranks(step.after, uids, "_then"),
            "target": {_aimed(step.action)} & {*uids},
            "self_staked": {event.proposal for event in events(step.shown, "Staked") if event.reason == "SelfStake"},
            "moves": isinstance(step.action, MoveStake),
        },
    )


def view_two(case: tuple[Fork, RunStep, RunStep | None]) -> Structure | None:
    """Return two actions in either order as a structure.

    None without proposals, where one order changes the set of them, and where the ends differ in more than ranks.
    """
    fork, left, right = case
    before: State = fork.state
    uids = [one.uid for one in before.proposals]
    if right is None or not uids or {one.uid for one in left.after.proposals} != set(uids):
        return None
    first, second = (_ranks(end.after, uids, name) for end, name in ((left, "12"), (right, "21")))
    if left.after != right.after and [*first.values()] == [*second.values()]:
        return None
    told: dict[str, Any] = {}
    for action, alone, ending in zip(fork.left, (left.before, right.before), ("", "2"), strict=True):
        # An action that is accepted changes the state.
        told[f"target{ending}"] = {_aimed(action)} & {*uids} if alone != before else set[str]()
        told[f"moves{ending}"] = isinstance(action, MoveStake)
    return structure({"Proposal": uids}, {**_ranks(before, uids), **told, **first, **second})


_PLACES = (
    {"rounds": 3, "texts": 0, "stake": 1, "budget": 4, "agents": 3, "ready": 0, "think": 2},
    {"rounds": 2, "texts": 0, "stake": 1, "budget": 3, "think": 3},
)


@Ends
def steps(system: AnySystem) -> Iterator[End]:
    """Yield the steps of walks through rounds of several ticks, and second stakes in a tick, by any variant."""
    for run, step in ends(system, lambda _step: True, _PLACES):
        yield run, step
        act = step.action
        if isinstance(act, AddStake | MoveStake) and not step.shown.rejected:
            for one in step.after.proposals:
                yield end_at(system, run, step.after, AddStake(act.agent, act.credential, one.uid, 1))


@Ends
def moments(system: AnySystem) -> Iterator[End]:
    """Yield every sixth step in the rounds of these walks: the actions on offer before it are compared in pairs."""
    found = ends(system, lambda step: step.before.phase == STAKE and step.before.turn > 1, _PLACES)
    return islice(found, 0, None, 6)


# Faults.


def _if_first(touches: _Touches) -> _Touches:
    return lambda now, one: touches(now, one) & now.never(one)


def _if_added(touches: _Touches, moving: Formula) -> _Touches:
    return lambda now, one: touches(now, one) & ~moving


def _or_self(now: _Ticks, one: Var) -> Formula:
    return _target(now, one) | self_staked(one)


_FAULTS = {
    play.first_stake_tick: _said("the first stake counts", _if_first(_target), _if_first(_target2)),
    play.moves_count_not_in_a_tie: _said("moves count not", _if_added(_target, moves()), _if_added(_target2, moves2())),
    play.self_stake_counts_in_a_tie: _said("the self-stake counts", _or_self, _target2),
    play.order_inside_a_tick_decides: _said("whoever is heard last is last", _target, _target2, _in_turn),
}
ONE_FAULTS, TWO_FAULTS = (Faults(*((one, *words[place]) for one, words in _FAULTS.items())) for place in (0, 1))

_untouched = ~target(p) & ~target(q)
LATEST = theorem(
    claim=winning.stake_ticks_are_the_latest,
    sentence="An addition or a move makes its target's LastStakeTick the latest and keeps the order of all others: so "
    "of two tied proposals one becomes the later by a stake, even of a point that is moved away again, unless the "
    "other was staked on in the same tick.",
    theory=ONE,
    variables=(p, q),
    goal=conjunction(
        [
            target(p) >> (ONE.word("fresh_then", p) & ~ONE.word("never_then", p) & ~ONE.word("older_then", p, q)),
            (target(q) & ~target(p) & ~fresh(p)) >> ONE.word("older_then", p, q),
            ~target(p) >> (iff(ONE.word("fresh_then", p), fresh(p)) & iff(ONE.word("never_then", p), never(p))),
            _untouched >> iff(ONE.word("older_then", p, q), older(p, q)),
        ]
    ),
    witness=exists([p, q], target(q) & never(p)),
    view=view_one,
    samples=steps,
    scope="any number of proposals",
    mutants=ONE_FAULTS.refuted(*ONE_FAULTS),
)

_HEARD = "the same stakes count in either order"
COMMUTE = theorem(
    claim=staking.actions_of_two_agents_commute,
    sentence="Two agents' actions of one tick leave the same LastStakeTicks in either order.",
    source="2.4, 17.3",
    theory=TWO,
    variables=(p, q),
    goal=iff(TWO.word("fresh12", p), TWO.word("fresh21", p))
    & iff(TWO.word("older12", p, q), TWO.word("older21", p, q)),
    witness=exists([p, q], target(p) & target2(q) & ~same(p, q)),
    view=view_two,
    samples=moments,
    scope="any number of proposals",
    mutants=(
        *TWO_FAULTS.refuted(play.order_inside_a_tick_decides),
        TWO_FAULTS.unseen(play.first_stake_tick, _HEARD),
        TWO_FAULTS.unseen(play.moves_count_not_in_a_tie, _HEARD),
    ),
)
