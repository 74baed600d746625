"""Two agents' actions of one tick do the same to every balance and stake in either order, for any number of agents.

A *pile* is what one owner has staked on one proposal, a *lot* the part of it that has been held
for equally many rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from evenhand.core.relations import Fork
from evenhand.core.system import AnySystem, Step
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.mutants import money
from evenhand.proofs.conviction.ledger import AGENT, affordable, most
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.walks import ends
from evenhand.properties.conviction import staking
from evenhand.properties.conviction.predicates import OPEN, actor, events, stakes_on
from evenhand.smt.arithmetic import NUMBER, at_least, at_most, below, element, minus, number, plus
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
from evenhand.smt.tables import Rows, Table, constant, ones, props
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom, Theory

RunStep: TypeAlias = Step[model.Config, model.State, model.Act, model.Shown]
_Pile: TypeAlias = tuple[str, str]
_Lot: TypeAlias = tuple[str, str, int]
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


@dataclass(frozen=True)
class Purse:
    """The symbols of one of two actions; `lawful` says that no reason but a lack of points can refuse it."""

    ending: str

    @property
    def functions(self) -> tuple[Function, ...]:
        """The actor, the pile that it draws on, the pile that it adds to, and the amount or price."""
        named = zip(_PARTS, (AGENT, PILE, PILE, NUMBER), strict=True)
        return tuple(Function(f"{name}{self.ending}", (), sort) for name, sort in named)

    @property
    def by(self) -> Function:
        """The actor."""
        return self.functions[0]

    @property
    def asked(self) -> Function:
        """The amount or price."""
        return self.functions[3]

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Whether it is lawful, and its kind; READY, an invitation and an enrolment have none of these."""
        return relations(" ".join(f"{name}{self.ending}" for name in ("lawful", *KINDS)))

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


def _words(
    act: Purse, start: str, end: str, accepted: Formula, source_text: str, moved: _Takes
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
                oldest_taken(start, end, minus(asked, before(by))),
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


def oldest_taken(start: str, end: str, wanted: Term) -> Formula:
    """Return that a lot loses its part of what is wanted of its pile, the oldest lots first."""
    old, new, ahead = LOTS[start](x), LOTS[end](x), AHEADS[start](x)
    some = same(new, minus(plus(ahead, old), wanted))
    return ite(
        at_most(wanted, ahead),
        same(new, old),
        ite(at_most(plus(ahead, old), wanted), same(new, number(0)), some),
    )


_ORDERS = ((FIRST, "", "1"), (SECOND, "", "2"), (SECOND, "1", "12"), (FIRST, "2", "21"))
_TEXT = "4.3, 6.2, 11, 14.2, A 16.3: an action spends its agent's own points, if it has them, the oldest stake first"


def of_all(
    accepted: Callable[[Purse, str], Formula], source: str, moved: _Takes = oldest_taken
) -> tuple[Definition, ...]:
    """Return what both actions make of balances and stakes, in either order; `moved` says which lots a move takes."""
    said = (_words(act, start, end, accepted(act, start), source, moved) for act, start, end in _ORDERS)
    return tuple(word for words in said for word in words)


def if_all_have_as_much(act: Purse, start: str) -> Formula:
    return enough(act, start, forall([b], at_most(act.asked(), BALANCES[start](b))))


def on_credit(act: Purse, start: str) -> Formula:
    return enough(act, start, TRUE)


WORDS = of_all(enough, _TEXT)
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

IN_TURN = Axiom(
    "in_turn",
    conjunction(
        [
            *(forall([a], word.relation(a)) for word in WORDS if word.name.startswith("balance")),
            *(forall([v], word.relation(v)) for word in WORDS if word.name.startswith("pile")),
            *(forall([x], word.relation(x)) for word in WORDS if word.name.startswith("lot")),
        ]
    ),
    "2.4: actions are handled one by one",
)
OWN_PILES = Axiom(
    "ones_own_piles",
    conjunction(same(owner(pile()), act.by()) for act in ACTS for pile in act.functions[1:3]),
    "14.2, A 16.3: stake is added by its agent and taken from its own",
)
AMOUNTS = Axiom(
    "amounts",
    forall([a], at_least(balance(a), number(0))) & conjunction(at_least(act.asked(), number(0)) for act in ACTS),
    "4.2, A 16.3",
)

PURSES = Theory(
    name="conviction_purses",
    sorts=(AGENT, PILE, LOT),
    functions=(
        owner,
        part_of,
        *(one for numbers_ in (BALANCES, PILES, LOTS, AHEADS) for one in numbers_.values()),
        *(one for act in ACTS for one in act.functions),
    ),
    relations=(young, *(one for act in ACTS for one in act.relations)),
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


def _stakes(state: model.State) -> dict[_Pile, Any]:
    return dict(stakes_on(state))


def _told(action: model.Act, config: model.Config, tried: RunStep, *, done: bool) -> tuple[str, _Pile, _Pile, Any]:
    """Return kind, source, target and amount of an action that is lawful; the empty kind for any other.

    `tried` is the step that takes it after the other action; `done` says that it is accepted before it.
    """
    uid = actor(action)
    own, lacks = (uid, uid), tried.shown.rejected in ("InsufficientCredit", "InsufficientStake")
    if tried.shown.rejected and not done and not lacks:
        return "", own, own, 0
    match action:
        case model.Propose():
            return "proposes", own, own, config.constants.self_stake
        case model.Feedback():
            return "comments", own, own, config.constants.feedback_stake
        case model.Revise():
            found = next(iter(events(tried.shown, "Revision")), None)
            return ("", own, own, 0) if found is None else ("revises", own, own, found.get("cost"))
        case model.AddStake():
            return "adds", own, (uid, action.proposal), action.amount
        case model.MoveStake():
            return "moves", (uid, action.source), (uid, action.target), action.amount
        case _:
            return "", own, own, 0


def view(case: tuple[Fork, RunStep, RunStep | None]) -> Structure | None:
    """Return two actions in either order as a structure.

    None for invitations, for actions of no agent, and where the ends differ in something else than points.
    """
    fork, left, right = case
    agents = [seat.agent for seat in fork.state.seats]
    if right is None or any(isinstance(act, model.Invite) or actor(act) not in agents for act in fork.left):
        return None
    states = dict(zip(MOMENTS, (fork.state, left.before, right.before, left.after, right.after), strict=True))
    balances = {end: {seat.agent: seat.balance for seat in state.seats} for end, state in states.items()}
    stakes = {end: _stakes(state) for end, state in states.items()}
    parts = {end: {(e.owner, e.proposal, e.held): e.amount for e in state.entries} for end, state in states.items()}
    if left.after != right.after and (balances["12"], parts["12"]) == (balances["21"], parts["21"]):
        return None
    functions: dict[str, Table] = {}
    truths: dict[str, bool] = {}
    piles: set[_Pile] = {(uid, uid) for uid in agents}
    for action, tried, alone, ending in zip(fork.left, (right, left), (left, right), ("", "2"), strict=True):
        kind, source, onto, asked = _told(action, left.config, tried, done=alone.before != fork.state)
        piles |= {source, onto}
        truths |= {f"lawful{ending}": bool(kind), **{f"{name}{ending}": name == kind for name in KINDS}}
        named = (f"agent:{actor(action)}", _name(source), _name(onto), element(asked))
        functions |= {f"{name}{ending}": constant(one) for name, one in zip(_PARTS, named, strict=True)}
    piles |= {pile for found in stakes.values() for pile in found}
    lots: set[_Lot] = {lot for found in parts.values() for lot in found} | {(*pile, 0) for pile in piles}
    functions["owner"] = {(_name(pile),): f"agent:{pile[0]}" for pile in sorted(piles)}
    for end in MOMENTS:
        functions[f"balance{end}"] = {(f"agent:{uid}",): element(have) for uid, have in balances[end].items()}
        functions[f"pile{end}"] = {(_name(pile),): element(stakes[end].get(pile, 0)) for pile in sorted(piles)}
        functions |= _aged(parts[end], lots, end)
    functions["part_of"] = {(_lot(lot),): _name(lot[:2]) for lot in sorted(lots)}
    universe = {
        "Agent": tuple(f"agent:{uid}" for uid in agents),
        "Pile": tuple(map(_name, sorted(piles))),
        "Lot": tuple(map(_lot, sorted(lots))),
    }
    whole: dict[str, Rows] = {name.lower(): ones(known) for name, known in universe.items()}
    whole["balance"] = whole["agent"]
    seen = {word.name: whole[word.name.partition("_")[0]] for word in WORDS}
    new = ones(_lot(lot) for lot in lots if lot[2] == 0)
    return Structure(universe, {**props(truths), **seen, "young": new}, functions)


def _aged(have: Mapping[_Lot, Any], lots: Iterable[_Lot], end: str) -> dict[str, Table]:
    """Return the points of each lot at a moment, and those in the older lots of its pile."""
    older = {lot: sum((n for one, n in have.items() if one[:2] == lot[:2] and one[2] > lot[2]), 0) for lot in lots}
    return {
        f"lot{end}": {(_lot(lot),): element(have.get(lot, 0)) for lot in sorted(older)},
        f"ahead{end}": {(_lot(lot),): element(older[lot]) for lot in sorted(older)},
    }


def _name(pile: _Pile) -> str:
    return f"pile:{pile[0]}/{pile[1]}"


def _lot(lot: _Lot) -> str:
    return f"lot:{lot[0]}/{lot[1]}/{lot[2]}"


@Ends
def moments(system: AnySystem) -> Iterator[End]:
    """Yield every seventh step of the phases in which agents act, by any variant."""
    yield from islice(ends(system, lambda step: step.before.phase in OPEN), 0, None, 7)


FAULTS = Faults(
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

SAME_POINTS: Theorem = theorem(
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
    view=view,
    samples=moments,
    scope="any number of agents, proposals and points",
    mutants=(
        *FAULTS.refuted(money.credit_of_the_poorest),
        FAULTS.unseen(money.add_on_credit, "the points that it spends are still its own"),
    ),
)
"""The theorem about balances and stakes."""
