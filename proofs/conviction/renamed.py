"""Who an agent is decides nothing at a tick and in its actions (1.2, 2.1, 9), for any number of agents.

Two steps: before the second every agent has another name.  An agent and its image are one element, and so are what they
stake and propose; only the order of names, which a mutant goes by, is not carried over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any, TypeAlias

from evenhand.core.system import AnySystem, Step
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.exact import is_amount
from evenhand.model.conviction.mutants import money, play
from evenhand.model.conviction.renaming import Renaming
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.step import progress
from evenhand.proofs.conviction.purses import (
    BALANCES,
    FIRST,
    KINDS,
    LOTS,
    PILE,
    PILES,
    aimed,
    effects,
    enough,
    if_all_have_as_much,
    kind_of,
    purses,
    stated,
    v,
    x,
)
from evenhand.proofs.conviction.rules import (
    AGENT,
    PROPOSAL,
    a,
    assigned,
    balance,
    burnt,
    done,
    kicked,
    p,
    proposing,
    put,
    ticked,
    timer_then,
)
from evenhand.proofs.conviction.rules import earlier_name as named_before
from evenhand.proofs.conviction.single import both, theorem
from evenhand.proofs.conviction.walks import ends
from evenhand.properties.conviction.predicates import OPEN, RunStep, actor, changed, events, ticking
from evenhand.properties.conviction.predicates import done as is_done
from evenhand.properties.conviction.winning import names_decide_nothing
from evenhand.smt.arithmetic import below, minus, number, plus
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import Function, conjunction, differ, disjunction, exists, forall, ite, same, variables
from evenhand.smt.preludes import Twice, define, mutation, numbers, ordered, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, called, doubled, structure
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.rules import Faults

_READ = ticked(REFERENCE)
b, c = variables(AGENT, "b c")
(balance_then,) = numbers("balance_then", AGENT)
late, counts, stakes, burns, pays = relations("late counts stakes burns pays", AGENT)
_WORDS = (
    define("late", (a,), assigned(a) & ~done(a), "9.1: who has not completed the phase"),
    *(define(name, () if name == "ends" else (a,), body, "6.2, 9.1, 9.3, 12.4") for name, body in _READ.items()),
    define("pays", (a,), same(balance_then(a), minus(balance(a), put(a), burnt(a))), "4.3: and nothing else"),
)
_NAMES_ARE_ORDERED = Axiom("names_are_ordered", ordered(named_before, a, b, c), "of texts: what a mutant uses")
TICKING = Theory.of(
    "conviction_ticking",
    axioms=(
        _NAMES_ARE_ORDERED,
        Axiom(
            "as_stated",
            forall([a], conjunction(one(a) for one in (counts, stakes, burns, pays))),
            "9.1, 9.3: what a tick does",
        ),
    ),
    definitions=_WORDS,
)
_INPUTS = ("timer", "balance", "assigned", "done", "most", "wanted", "penalty", "proposing", "staking")
_AFTER = (timer_then, put, burnt, balance_then)
TWICE = Twice(TICKING, _INPUTS)
"""Two ticks, of which the second has other names."""


def view_tick(step: RunStep) -> Structure | None:
    """Return a tick inside a phase as a structure; None for other steps."""
    before, constants = step.before, step.config.constants
    if not ticking(step):
        return None
    uids = [seat.agent for seat in before.seats]

    def sums(kind: str) -> dict[str, Any]:
        return {uid: sum(one.amount for one in events(step.shown, kind) if one.agent == uid) for uid in uids}

    def seated(state: model.State) -> dict[str, Any]:
        return {name: {one.agent: getattr(one, name) for one in state.seats} for name in ("timer", "balance")}

    return structure(
        {"Agent": uids},
        {
            "most": constants.think_ticks,
            "wanted": constants.self_stake,
            "penalty": constants.penalty,
            "put": sums("Staked"),
            "burnt": sums("Burn"),
            "assigned": {seat.agent for seat in before.seats if seat.assigned},
            "done": {seat.agent for seat in before.seats if is_done(step.config, before, seat)},
            "proposing": before.phase == model.PROPOSE,
            "staking": before.phase == model.STAKE,
            "kicked": {one.agent for one in events(step.shown, "KickOut")},
            "ends": progress(step),
            "named_before": names_of(uids),
            **{name: {*uids} for name in ("counts", "stakes", "burns", "pays")},
            **both(step, seated, "", "_then"),
        },
    )


def names_of(elements: Iterable[str]) -> Rows:
    """Return the order of names."""
    known = tuple(elements)
    return frozenset((one, two) for one in known for two in known if one < two)


_Pair: TypeAlias = tuple[Renaming, Step[Any, Any, Any, Any], Step[Any, Any, Any, Any] | None]


def renamed(
    view_one: Callable[[Any], Structure | None], shared: Collection[str], ends: Iterable[str]
) -> Callable[[_Pair], Structure | None]:
    """Return the view of a step and its renaming, whose inputs are `shared`.

    None where these differ, or the two steps differ in something that is none of the `ends`.
    """
    told = tuple(ends)

    def viewed(case: _Pair) -> Structure | None:
        renaming, step, other = case
        one, two = view_one(step), None if other is None else view_one(other)
        if one is None or two is None:
            return None
        names = {renaming(uid): uid for elements in one.universe.values() for uid in elements}

        two = called(two, lambda one: "/".join(names.get(part, part) for part in one.split("/")))
        first: dict[str, Any] = {**one.relations, **one.functions}
        second: dict[str, Any] = {**two.relations, **two.functions}
        if any(first[name] != second[name] for name in shared):
            return None
        if all(first[name] == second[name] for name in told) and not names_decide_nothing.agrees(*case):
            return None
        return doubled(one, two, shared)

    return viewed


view = renamed(view_tick, _INPUTS, (*(one.name for one in _AFTER), "kicked", "ends"))


@Ends
def ticks(system: AnySystem) -> Iterator[End]:
    """Yield every third tick inside a phase of walks, by any variant."""
    return islice(ends(system, ticking), 0, None, 3)


_FAULTS = Faults(TICKING, ticked)
NO_TICK: Theorem = theorem(
    claim=names_decide_nothing,
    name="names_decide_no_tick",
    sentence="Rename the agents, and a tick inside a phase kicks out the same ones, counts, stakes and burns as much "
    "for each, and ends the phase as before.",
    source="2.1, 9.1, 9.3, 9.5",
    theory=TWICE.extended("conviction_renamed_ticks"),
    view=view,
    samples=ticks,
    scope="any number of agents, at a tick inside a phase",
    variables=(a,),
    goal=conjunction(
        [TWICE.alike("kicked", a), TWICE.alike("ends"), *(same(TWICE.function(one)(a), one(a)) for one in _AFTER)]
    ),
    needs=("as_stated", "as_stated2"),
    witness=exists(
        [a, b], conjunction([named_before(a, b), TWICE.second("named_before", b, a), kicked(a), late(b), ~kicked(b)])
    ),
    mutants=TWICE.mutants(
        *_FAULTS.refuted(play.first_name_is_not_kicked_out),
        *(
            _FAULTS.unseen(mutant, "names do not enter")
            for mutant in (
                play.silent_agents_hang_a_phase,
                money.penalty_doubled,
                money.self_stake_on_credit,
                money.substituted_stakes_nothing,
                money.penalty_in_stake_rounds,
                play.timer_counts_the_ready,
                play.timer_not_reset,
                play.kicks_out_the_ready,
            )
        ),
    ),
)
"""The theorem about names at a tick."""

# Two actions of an agent: what is shown and what follows may differ in theory, and only the order of names really does.

on, own = Function("on", (PILE,), PROPOSAL), Function("own", (AGENT,), PROPOSAL)
(given, given_then), (limit,) = numbers("given given_then", AGENT), numbers("limit")
(signals,) = relations("signals")
talking, revising, in_rounds = relations("talking revising in_rounds")
"""FEEDBACK, REVISE, and STAKE from the second round on."""
right_key, open_, whole, short, positive = relations("right_key open whole short positive")
"""It comes with the actor's credential; agents may act in this phase; its text has all fields, its comment is within
the limit, its amount is one."""
enrolled, ready = relations("enrolled ready", AGENT)
there, written = relations("there written", PROPOSAL)

_by, _source, _onto = FIRST.by(), on(FIRST.source()), on(FIRST.onto())
_proposes, _comments, _revises, _adds, _moves = map(FIRST.is_, KINDS)
_mine, _unready = own(_by), ~ready(_by)
_heard = conjunction([right_key(), open_(), enrolled(_by), assigned(_by)])
_MAY = define("may", (), _heard & _unready, "1.2, 7.2, 9.2: who is heard")
_LAWFUL = disjunction(
    [
        signals() & (proposing() >> there(_mine)),
        conjunction([_proposes, proposing(), ~there(_mine), whole()]),
        conjunction(
            [
                _comments,
                talking(),
                short(),
                there(_onto),
                written(_onto),
                differ(_onto, _mine),
                below(given(_by), limit()),
            ]
        ),
        conjunction([_revises, revising(), whole(), there(_mine), written(_mine)]),
        conjunction([_adds, in_rounds(), positive(), there(_onto)]),
        conjunction([_moves, in_rounds(), positive(), there(_onto), there(_source), differ(_source, _onto)]),
    ]
)
_ACCEPTED = define("accepted", (), enough(FIRST, ""), "11, 14, A 16.3: what is lawful, and paid for")
_done = _ACCEPTED.relation()
_EFFECTS = (
    *effects(FIRST, "", "1", _done),
    define(
        "counts",
        (a,),
        ite(
            _done & _comments & same(a, _by),
            same(given_then(a), plus(given(a), number(1))),
            same(given_then(a), given(a)),
        ),
        "11.5: a comment counts",
    ),
)
ACTING = Theory.of(
    "conviction_acting",
    axioms=(_NAMES_ARE_ORDERED, Axiom("as_stated", stated(_EFFECTS), "4.3, 11.5, A 16.3: what an action does")),
    definitions=(
        _MAY,
        define("lawful", (), _MAY.relation() & _LAWFUL, "6.1, 9.2, 11, 14, A 16.3: no reason but a lack of points"),
        _ACCEPTED,
        *_EFFECTS,
        define("ready_then", (a,), ready(a) | (_done & signals() & same(a, _by)), "9.2: until the tick"),
        define("there_then", (p,), there(p) | (_done & _proposes & same(p, _mine)), "6.1: one's own"),
    ),
)
_CHANGES = ("balance1", "pile1", "lot1", "given_then")
ACTS = Twice.apart(ACTING, *_CHANGES, "named_before")
"""Two actions, of which the second has other names."""


def view_act(step: RunStep) -> Structure | None:
    """Return an action of an agent as a structure.

    None for ticks, invitations and enrolments, and for agents that do not exist.
    """
    before, act, c = step.before, step.action, step.config.constants
    if isinstance(act, model.Tick | model.Invite | model.Enrol) or before.seat(act.agent) is None:
        return None
    texts = {one.uid: one.text for one in before.proposals}
    if any((seat.agent in texts) != (seat.proposal == seat.agent) for seat in before.seats):
        return None
    source, onto = aimed(act)
    universe, have = purses({"": before, "1": step.after}, source, onto)
    agents, places = universe["Agent"], {pile: pile.partition("/")[2] for pile in universe["Pile"]}
    text = act.text if isinstance(act, model.Propose | model.Revise) else None
    known = {*texts, *places.values()}

    def at_rest(state: model.State) -> dict[str, Any]:
        return {
            "given": {seat.agent: seat.feedback for seat in state.seats},
            "ready": {seat.agent for seat in state.seats if seat.signal == model.READY},
            "there": {one.uid for one in state.proposals} & known,
        }

    return structure(
        {**universe, "Proposal": sorted(known)},
        {
            **have,
            **{"by": act.agent, "source": source, "onto": onto, "asked": _asked(step), "limit": c.feedback_limit},
            **{"on": places, "own": {uid: uid for uid in agents}, "named_before": names_of(agents)},
            "signals": isinstance(act, model.SignalReady),
            **{name: name == kind_of(act) for name in KINDS},
            "proposing": before.phase == model.PROPOSE,
            "talking": before.phase == model.FEEDBACK,
            "revising": before.phase == model.REVISE,
            "in_rounds": before.phase == model.STAKE and before.turn > 1,
            "right_key": act.credential == next(one.credential for one in step.config.agents if one.uid == act.agent),
            "open": before.phase in OPEN,
            "whole": text is None or not text.missing,
            "short": isinstance(act, model.Feedback) and len(act.comment) <= c.feedback_length,
            "positive": isinstance(act, model.AddStake | model.MoveStake) and is_amount(act.amount),
            "enrolled": {seat.agent for seat in before.seats if seat.standing == model.ENROLLED},
            "assigned": {seat.agent for seat in before.seats if seat.assigned},
            "written": {uid for uid, one in texts.items() if one is not None},
            "accepted": not step.shown.rejected,
            **{f"{sort.lower().replace('agent', 'balance')}_to_1": {*universe[sort]} for sort in universe},
            "counts": {*agents},
            **both(step, at_rest, "", "_then"),
        },
    )


def _asked(step: RunStep) -> Any:
    """Return the amount that an action names, if it is one, or its price."""
    act, c = step.action, step.config.constants
    match act:
        case model.Propose():
            return c.self_stake
        case model.Feedback():
            return c.feedback_stake
        case model.Revise():
            mine = step.before.proposal(act.agent)
            return 0 if mine is None or mine.text is None else c.self_stake * changed(step.config, mine.text, act.text)
        case _:
            amount = getattr(act, "amount", 0)
            return amount if is_amount(amount) else 0


@Ends
def acts(system: AnySystem) -> Iterator[End]:
    """Yield every third action of walks, those accepted but READY, and actions after READY, by any variant."""
    for place, (run, step) in enumerate(ends(system, lambda step: bool(actor(step.action)))):
        if ready := isinstance(step.action, model.SignalReady) and not step.shown.rejected:
            uid, key = step.action.agent, step.action.credential
            for act in (model.Propose(uid, key, None), model.AddStake(uid, key, uid, 1)):
                yield end_at(system, run, step.after, act)
        if place % 3 == 0 or not (ready or step.shown.rejected):
            yield run, step


NO_ACT: Theorem = theorem(
    claim=names_decide_nothing,
    name="names_decide_no_action",
    sentence="Rename the agents, and an action of one of them is accepted as before, and every balance, stake, count "
    "and READY, and what is proposed, is the same afterwards.",
    source="1.2, 2.1, 6.2, 9.2, 11, 14, A 16.3",
    theory=ACTS.extended("conviction_renamed_acts"),
    view=renamed(view_act, ACTS.shared, (*_CHANGES, "accepted", "ready_then", "there_then")),
    samples=acts,
    scope="any number of agents, proposals and points, at an action of an agent",
    variables=(a, v, x, p),
    goal=conjunction(
        [
            ACTS.alike("accepted"),
            ACTS.alike("ready_then", a),
            ACTS.alike("there_then", p),
            *(same(ACTS.function(one)(a), one(a)) for one in (BALANCES["1"], given_then)),
            same(ACTS.function(PILES["1"])(v), PILES["1"](v)),
            same(ACTS.function(LOTS["1"])(x), LOTS["1"](x)),
        ]
    ),
    needs=("as_stated", "as_stated2"),
    witness=conjunction([_done, _adds, exists([a], named_before(a, _by) & ACTS.second("named_before", _by, a))]),
    mutants=ACTS.mutants(
        mutation(
            ACTING,
            play.first_name_acts_after_ready,
            {"may": _heard & (_unready | (~signals() & ~exists([b], named_before(b, _by))))},
        ),
        mutation(
            ACTING, money.credit_of_the_poorest, {"accepted": if_all_have_as_much(FIRST, "")}, "names do not enter"
        ),
    ),
)
"""The theorem about names and actions."""
