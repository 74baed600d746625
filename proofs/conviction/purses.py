"""Two actions of one tick do the same to every balance and stake in either order, for any number of agents.

A *pile* is what one owner has staked on one proposal, a *lot* the part of it that has been held for as many rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

from evenhand.core.relations import Fork
from evenhand.core.system import AnySystem
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.mutants import money, play
from evenhand.proofs.conviction.ledger import AGENT, affordable, most
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.walks import ends
from evenhand.properties.conviction import staking
from evenhand.properties.conviction.predicates import OPEN, RunStep, actor, events
from evenhand.smt.arithmetic import NUMBER, at_least, at_most, below, minus, number, plus
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import (
    TRUE,
    Definition,
    Formula,
    Function,
    Relation,
    Sort,
    Term,
    conjunction,
    differ,
    disjunction,
    exists,
    forall,
    ite,
    same,
    variables,
)
from evenhand.smt.preludes import Faults, define, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom, Theory

_Takes: TypeAlias = Callable[[str, str, Term], Formula]
"""What is taken from a lot, from one moment to another, if so much is wanted of its pile."""

PILE, LOT = Sort("Pile"), Sort("Lot")
a, b = variables(AGENT, "a b")
v, x = PILE("v"), LOT("x")

owner, part_of = Function("owner", (PILE,), AGENT), Function("part_of", (LOT,), PILE)
(young,) = relations("young", LOT)
"""It has been held for no round."""
MOMENTS = ("", "1", "2", "12", "21")
"""Before both actions; after one of them; after both in the one order and in the other."""
BALANCES = {end: numbers(f"balance{end}", AGENT)[0] for end in MOMENTS}
PILES = {end: numbers(f"pile{end}", PILE)[0] for end in MOMENTS}
LOTS = {end: numbers(f"lot{end}", LOT)[0] for end in MOMENTS}
AHEADS = {end: numbers(f"ahead{end}", LOT)[0] for end in MOMENTS}
"""The points in the older lots of its pile, which are taken first."""
balance = BALANCES[""]
_PARTS = ("by", "source", "onto", "asked")
KINDS = ("proposes", "comments", "revises", "adds", "moves")


class Purse:
    """The symbols of one of two actions: its actor, the piles that it draws on and adds to, and its amount or price.

    `lawful` says that no reason but a lack of points can refuse it; READY, an invitation and an enrolment are of no
    kind.
    """

    def __init__(self, ending: str) -> None:
        self.ending = ending
        named = zip(_PARTS, (AGENT, PILE, PILE, NUMBER), strict=True)
        self.functions = tuple(Function(f"{name}{ending}", (), sort) for name, sort in named)
        self.by, self.source, self.onto, self.asked = self.functions

    def is_(self, name: str) -> Formula:
        """Return that it is lawful, or of a kind."""
        return Relation(f"{name}{self.ending}", ())()


FIRST, SECOND = Purse(""), Purse("2")


def enough(act: Purse, start: str, adds: Formula | None = None) -> Formula:
    """Return that the action is accepted from a moment on; `adds` is what an addition must meet instead of 16.5."""
    by, source, _, asked = (function() for function in act.functions)
    have, pile = BALANCES[start](by), PILES[start](source)
    return conjunction(
        [
            act.is_("lawful"),
            act.is_("comments") >> at_most(asked, have),
            act.is_("adds") >> (at_most(asked, have) if adds is None else adds),
            act.is_("moves") >> at_most(asked, pile),
            act.is_("revises") >> at_most(asked, plus(have, pile)),
        ]
    )


def _taken(start: str, end: str, nearer: Term, wanted: Term) -> Formula:
    """Return that a lot loses its part of what is wanted of its pile, after the points that are `nearer`."""
    old, new = LOTS[start](x), LOTS[end](x)
    some = same(new, minus(plus(nearer, old), wanted))
    return ite(
        at_most(wanted, nearer), same(new, old), ite(at_most(plus(nearer, old), wanted), same(new, number(0)), some)
    )


def _oldest_taken(start: str, end: str, wanted: Term) -> Formula:
    return _taken(start, end, AHEADS[start](x), wanted)


def _youngest_taken(start: str, end: str, wanted: Term) -> Formula:
    return _taken(start, end, minus(PILES[start](part_of(x)), AHEADS[start](x), LOTS[start](x)), wanted)


_TEXT = "4.3, 6.2, 11, 14.2, A 16.3: an action spends its agent's own points, if it has them, the oldest stake first"


def effects(
    act: Purse, start: str, end: str, accepted: Formula, source_text: str = _TEXT, moved: _Takes = _oldest_taken
) -> tuple[Definition, ...]:
    """Return what an action makes of a balance, of a pile and of a lot, from one moment to another."""
    by, source, onto, asked = (function() for function in act.functions)
    before, after = BALANCES[start], BALANCES[end]
    full = act.is_("comments") | act.is_("adds")
    spends = ite(
        full,
        same(after(a), minus(before(a), asked)),
        ite(
            act.is_("revises"),
            most(after(a), number(0), minus(before(a), asked)),
            ite(
                act.is_("proposes"),
                affordable(minus(before(a), after(a)), asked, before(a)),
                same(after(a), before(a)),
            ),
        ),
    )
    old, new = PILES[start](v), PILES[end](v)
    drawn = ite(
        act.is_("moves"),
        same(new, minus(old, asked)),
        ite(act.is_("revises"), most(minus(old, new), number(0), minus(asked, before(by))), same(new, old)),
    )
    added = ite(act.is_("proposes"), same(new, plus(old, minus(before(by), after(by)))), same(new, plus(old, asked)))
    adds_to = act.is_("adds") | act.is_("moves") | act.is_("proposes")
    changes = ite(same(v, onto) & adds_to, added, ite(same(v, source), drawn, same(new, old)))
    kept = same(LOTS[end](x), LOTS[start](x))
    here = ite(
        same(part_of(x), onto) & adds_to,
        ite(young(x), _arrives(act, start, end), kept),
        ite(
            same(part_of(x), source) & act.is_("moves"),
            moved(start, end, asked),
            ite(
                same(part_of(x), source) & act.is_("revises") & below(before(by), asked),
                _oldest_taken(start, end, minus(asked, before(by))),
                kept,
            ),
        ),
    )
    return (
        define(f"balance_to_{end}", (a,), ite(same(a, by) & accepted, spends, same(after(a), before(a))), source_text),
        define(f"pile_to_{end}", (v,), ite(accepted, changes, same(new, old)), source_text),
        define(f"lot_to_{end}", (x,), ite(accepted, here, kept), source_text),
    )


def _arrives(act: Purse, start: str, end: str) -> Formula:
    """Return that a lot gains what the action adds to its pile."""
    by, asked = act.by(), act.asked()
    spent = minus(BALANCES[start](by), BALANCES[end](by))
    old, new = LOTS[start](x), LOTS[end](x)
    return ite(act.is_("proposes"), same(new, plus(old, spent)), same(new, plus(old, asked)))


_ORDERS = ((FIRST, "", "1"), (SECOND, "", "2"), (SECOND, "1", "12"), (FIRST, "2", "21"))


def of_all(
    accepted: Callable[[Purse, str], Formula], source: str = _TEXT, moved: _Takes = _oldest_taken
) -> tuple[Definition, ...]:
    """Return what both actions make of balances and stakes, in either order; `moved` says which lots a move takes."""
    said = (effects(act, start, end, accepted(act, start), source, moved) for act, start, end in _ORDERS)
    return tuple(word for words in said for word in words)


def if_all_have_as_much(act: Purse, start: str) -> Formula:
    return enough(act, start, forall([b], at_most(act.asked(), BALANCES[start](b))))


def on_credit(act: Purse, start: str) -> Formula:
    return enough(act, start, TRUE)


WORDS = of_all(enough)
_PHASES = (("proposes",), ("comments",), ("revises",), ("adds", "moves"))
ACTS = (FIRST, SECOND)


def _older_stay(act: Purse, end: str) -> Formula:
    """Return that the sums of older lots are those of the start where no lot of another agent changes."""
    others = differ(owner(part_of(x)), act.by())
    lots, sums = (forall([x], others >> same(now[end](x), now[""](x))) for now in (LOTS, AHEADS))
    return lots >> sums


_one_phase = disjunction(
    conjunction(~act.is_(kind) for act in ACTS for kind in KINDS if kind not in phase) for phase in _PHASES
)


def stated(words: Iterable[Definition]) -> Formula:
    """Return that these words are true of everything."""
    return conjunction(forall(word.variables, word.relation(*word.variables)) for word in words)


IN_TURN = Axiom("in_turn", stated(WORDS), "2.4: actions are handled one by one")
OWN_PILES = Axiom(
    "ones_own_piles",
    conjunction(same(owner(pile()), act.by()) for act in ACTS for pile in (act.source, act.onto)),
    "14.2, A 16.3: stake is added by its agent and taken from its own",
)
AMOUNTS = Axiom(
    "amounts",
    forall([a], at_least(balance(a), number(0))) & conjunction(at_least(act.asked(), number(0)) for act in ACTS),
    "4.2, A 16.3",
)

PURSES = Theory.of(
    "conviction_purses",
    axioms=(
        Axiom("two_agents", differ(FIRST.by(), SECOND.by()), "the pairs of the claim"),
        OWN_PILES,
        AMOUNTS,
        Axiom(
            "kinds",
            _one_phase & conjunction(~(act.is_("adds") & act.is_("moves")) for act in ACTS),
            "12: what a phase allows",
        ),
        IN_TURN,
        Axiom(
            "sums_of_what_stays",
            _older_stay(FIRST, "1") & _older_stay(SECOND, "2"),
            "a law of finite sums: what is older than a lot is as much as before where none of it changes",
        ),
    ),
    definitions=WORDS,
)


# Conformance.


def purses(states: Mapping[str, model.State], *named: str) -> tuple[Mapping[str, Iterable[str]], dict[str, Any]]:
    """Return agents, piles and lots with what they have at these moments; the `named` piles are among them."""
    agents = [seat.agent for seat in next(iter(states.values())).seats]
    parts = {end: {f"{e.owner}/{e.proposal}/{e.held}": e.amount for e in one.entries} for end, one in states.items()}
    every = {lot for found in parts.values() for lot in found}
    piles = sorted({*named, *(f"{uid}/{uid}" for uid in agents), *(_part_of(lot) for lot in every)})
    lots = sorted(every | {f"{pile}/0" for pile in piles})
    told: dict[str, Any] = {
        "owner": {pile: pile.partition("/")[0] for pile in piles},
        "part_of": {lot: _part_of(lot) for lot in lots},
        "young": {lot for lot in lots if not _held(lot)},
    }
    for end, have in parts.items():
        told |= {
            f"balance{end}": {seat.agent: seat.balance for seat in states[end].seats},
            f"pile{end}": {pile: sum(n for lot, n in have.items() if _part_of(lot) == pile) for pile in piles},
            f"lot{end}": {lot: have.get(lot, 0) for lot in lots},
            f"ahead{end}": {
                lot: sum(n for one, n in have.items() if _part_of(one) == _part_of(lot) and _held(one) > _held(lot))
                for lot in lots
            },
        }
    return {"Agent": agents, "Pile": piles, "Lot": lots}, told


def _part_of(lot: str) -> str:
    return lot.rpartition("/")[0]


def _held(lot: str) -> int:
    return int(lot.rpartition("/")[2])


def aimed(action: Any) -> tuple[str, str]:
    """Return the pile that an action draws on, and the one that it adds to or comments on; else the actor's own."""
    own = f"{actor(action)}/{actor(action)}"
    match action:
        case model.MoveStake():
            return f"{action.agent}/{action.source}", f"{action.agent}/{action.target}"
        case model.AddStake() | model.Feedback():
            return own, f"{action.agent}/{action.proposal}"
        case _:
            return own, own


_TYPES = (model.Propose, model.Feedback, model.Revise, model.AddStake, model.MoveStake)


def kind_of(action: model.Act) -> str:
    """Return the kind of an action; empty for one of none."""
    return next((kind for kind, cls in zip(KINDS, _TYPES, strict=True) if isinstance(action, cls)), "")


def _asked(action: model.Act, tried: RunStep) -> Any:
    """Return what an action asks for, given the step that takes it after the other one; None for a refused revision."""
    match action:
        case model.Propose():
            return tried.config.constants.self_stake
        case model.Feedback():
            return tried.config.constants.feedback_stake
        case model.Revise():
            return next((event.get("cost") for event in events(tried.shown, "Revision")), None)
        case _:
            return getattr(action, "amount", None)


def view(case: tuple[Fork, RunStep, RunStep | None]) -> Structure | None:
    """Return two actions in either order as a structure.

    None for invitations, for actions of no agent, and where the ends differ in something else than points.
    """
    fork, left, right = case
    agents = [seat.agent for seat in fork.state.seats]
    if right is None or any(isinstance(act, model.Invite) or actor(act) not in agents for act in fork.left):
        return None
    states: dict[str, model.State] = dict(
        zip(MOMENTS, (fork.state, left.before, right.before, left.after, right.after), strict=True)
    )
    told: dict[str, Any] = {}
    for action, tried, alone, ending in zip(fork.left, (right, left), (left, right), ("", "2"), strict=True):
        asked, (source, onto) = _asked(action, tried), aimed(action)
        lacks = tried.shown.rejected in ("InsufficientCredit", "InsufficientStake")
        known = not tried.shown.rejected or lacks or alone.before != fork.state
        kind = kind_of(action) if known and asked is not None else ""
        own = f"{actor(action)}/{actor(action)}"
        parts = (actor(action), source, onto, asked) if kind else (actor(action), own, own, 0)
        told |= {f"{name}{ending}": one for name, one in zip(_PARTS, parts, strict=True)}
        told |= {f"lawful{ending}": bool(kind), **{f"{name}{ending}": name == kind for name in KINDS}}
    named = [told[f"{part}{ending}"] for part in ("source", "onto") for ending in ("", "2")]
    universe, have = purses(states, *named)
    ends = [[have[f"{what}{end}"] for what in ("balance", "lot")] for end in ("12", "21")]
    if left.after != right.after and ends[0] == ends[1]:
        return None
    whole = {"balance": universe["Agent"], "pile": universe["Pile"], "lot": universe["Lot"]}
    seen = {word.name: {*whole[word.name.partition("_")[0]]} for word in WORDS}
    return structure(universe, {**told, **have, **seen})


@Ends
def moments(system: AnySystem) -> Iterator[End]:
    """Yield every seventh step of the phases in which agents act, by any variant."""
    yield from islice(ends(system, lambda step: step.before.phase in OPEN), 0, None, 7)


FAULTS = Faults(
    (play.move_takes_the_youngest, *of_all(enough, "a move takes the youngest first", _youngest_taken)),
    (money.credit_of_the_poorest, *of_all(if_all_have_as_much, "every balance must cover an addition")),
    (money.add_on_credit, *of_all(on_credit, "an addition is never refused for lack of points")),
)


def _leaves_others(act: Purse, end: str) -> Formula:
    """Return that an action, from the start, leaves the points of all other agents as they are."""
    here = forall([a], differ(a, act.by()) >> same(BALANCES[end](a), balance(a)))
    piles = forall([v], differ(owner(v), act.by()) >> same(PILES[end](v), PILES[""](v)))
    return conjunction(
        [here, piles, forall([x], differ(owner(part_of(x)), act.by()) >> same(LOTS[end](x), LOTS[""](x)))]
    )


def _neither(one: Term) -> Formula:
    return conjunction(differ(one, act.by()) for act in ACTS)


SAME_BALANCES = same(BALANCES["12"](a), BALANCES["21"](a))
SAME_PILES = same(PILES["12"](v), PILES["21"](v))
SAME_LOTS = same(LOTS["12"](x), LOTS["21"](x))
_ALONE = ("first_alone", "second_alone")

_of_two = partial(theorem, view=view, samples=moments, scope="any number of agents, proposals and points")
SAME_POINTS: Theorem = _of_two(
    claim=staking.actions_of_two_agents_commute,
    name="balances_and_stakes_are_the_same_in_either_order",
    sentence="Two agents' actions of one tick leave every balance, and every agent's stake on every proposal, the same "
    "in either order, and so the ages of its parts.",
    source="2.4, 4.3, 6.2, 11, 14.2, A 16.3",
    theory=PURSES,
    variables=(a, v, x),
    goal=conjunction([SAME_BALANCES, SAME_PILES, SAME_LOTS]),
    lemmas=(
        Lemma("first_alone", _leaves_others(FIRST, "1")),
        Lemma("second_alone", _leaves_others(SECOND, "2")),
        *(
            Lemma(f"{name}_of_{whose}", forall([bound], acts >> claim), _ALONE)
            for name, bound, of, claim in (
                ("balance", a, a, SAME_BALANCES),
                ("piles", v, owner(v), SAME_PILES),
                ("lots", x, owner(part_of(x)), SAME_LOTS),
            )
            for whose, acts in (
                ("first", same(of, FIRST.by())),
                ("second", same(of, SECOND.by())),
                ("others", _neither(of)),
            )
        ),
    ),
    opaque=tuple(word.name for word in WORDS),
    needs=("two_agents", "ones_own_piles", "in_turn", "sums_of_what_stays"),
    witness=conjunction(below(BALANCES["12"](act.by()), balance(act.by())) for act in ACTS)
    & exists([v], below(PILES[""](v), PILES["12"](v))),
    mutants=(
        *FAULTS.refuted(money.credit_of_the_poorest),
        FAULTS.unseen(money.add_on_credit, "the points that it spends are still its own"),
    ),
)
"""The theorem about balances and stakes."""

# When an addition and a move of one agent do the same in either order (A 16.4): exactly where the move takes none of
# the points that are added, for what is not there yet cannot be moved.

_ahead, _lot = AHEADS[""], LOTS[""]
_only = (
    conjunction(~act.is_(kind) for kind in KINDS if kind != name) for act, name in ((FIRST, "adds"), (SECOND, "moves"))
)
ONE_PURSE = replace(
    PURSES,
    name="conviction_one_purse",
    axioms=(
        Axiom("one_agent", same(FIRST.by(), SECOND.by()), "the pairs of the claim"),
        OWN_PILES,
        AMOUNTS,
        Axiom("an_addition_and_a_move", conjunction(_only), "A 16.4"),
        IN_TURN,
        Axiom(
            "sums_of_older_stake",
            forall([x], ~young(x) >> same(LOTS["1"](x), _lot(x))) >> forall([x], same(AHEADS["1"](x), _ahead(x))),
            "a law of finite sums: what is older than a lot is as much as before where no old lot changes",
        ),
        Axiom(
            "young_stake_is_the_rest",
            forall([x], young(x) >> same(PILES[""](part_of(x)), plus(_ahead(x), _lot(x)))),
            "16.6: of a pile all is older than its young stake, or young",
        ),
    ),
)
_, _source, _onto, _added = (function() for function in FIRST.functions)
_, _from, _to, _moved = (function() for function in SECOND.functions)
_there = PILES[""](_from)
_TAKES = conjunction(
    [
        FIRST.is_("adds") & SECOND.is_("moves") & same(_onto, _from),
        at_most(_added, BALANCES[""](FIRST.by())),
        below(_there, _moved) & at_most(_moved, plus(_there, _added)),
    ]
)
"""The addition brings what the move lacks."""


_PILES_ALONE = ("one_agent", "ones_own_piles", "amounts", "an_addition_and_a_move", "in_turn")
APART: Theorem = _of_two(
    claim=staking.funded_add_and_move_commute,
    theory=ONE_PURSE,
    variables=(a, v, x),
    assumes=~_TAKES,
    goal=conjunction([SAME_BALANCES, SAME_PILES, SAME_LOTS]),
    needs=("in_turn", "sums_of_older_stake", "young_stake_is_the_rest"),
    witness=conjunction(
        [
            same(_onto, _from),
            exists([x], conjunction([young(x), same(part_of(x), _from), below(_lot(x), LOTS["12"](x))])),
            exists([x], conjunction([~young(x), same(part_of(x), _from), below(LOTS["12"](x), _lot(x))])),
        ]
    ),
    mutants=FAULTS.refuted(play.move_takes_the_youngest, money.add_on_credit),
)
BY_ORDER: Theorem = _of_two(
    claim=staking.added_points_can_be_moved_at_once,
    theory=replace(ONE_PURSE, axioms=tuple(one for one in ONE_PURSE.axioms if one.name in _PILES_ALONE)),
    assumes=conjunction(
        [_TAKES, FIRST.is_("lawful"), SECOND.is_("lawful"), differ(_to, _from), below(number(0), _moved)]
    ),
    goal=differ(PILES["12"](_from), PILES["21"](_from)),
    needs=("in_turn",),
    witness=below(number(0), _there),
    mutants=(
        *FAULTS.refuted(money.credit_of_the_poorest),
        FAULTS.unseen(play.move_takes_the_youngest, "it takes as much"),
    ),
)
