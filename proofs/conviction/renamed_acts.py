"""Who an agent is decides nothing about its actions (1.2, 2.1), for any number of agents and proposals.

Two actions of an agent: before the second every agent has another name.  An agent and its image are one element, and so
are a proposal and its image; what is shown and what follows may differ in theory, and only the order of names, which
a mutant goes by, really is another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.core.system import AnySystem, Step
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.exact import is_amount
from evenhand.model.conviction.mutants import money, play
from evenhand.proofs.conviction.ledger import AGENT, affordable
from evenhand.proofs.conviction.ledger import most as greatest
from evenhand.proofs.conviction.renamed_ticks import names_of, renamed
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.walks import ends
from evenhand.properties.conviction.predicates import OPEN, actor, changed, stakes_on
from evenhand.properties.conviction.winning import names_decide_nothing
from evenhand.smt.arithmetic import NUMBER, at_most, below, element, minus, number, plus
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import Sort, conjunction, differ, disjunction, exists, forall, ite, same, variables
from evenhand.smt.preludes import Declarations, Twice, mutation, ordered
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Table, constant, ones, props
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom

PROPOSAL = Sort("Proposal")
a, b, c = variables(AGENT, "a b c")
p = PROPOSAL("p")
_said = Declarations()

by = _said.function("by", AGENT)()
onto, source = (_said.function(name, PROPOSAL)() for name in ("onto", "source"))
"""The actor, the proposal that it names, and the one that a move takes from."""
own = _said.function("own", AGENT, PROPOSAL)
balance, balance_then, given, given_then = (
    _said.function(name, AGENT, NUMBER) for name in ("balance", "balance_then", "given", "given_then")
)
staked, staked_then = (_said.function(name, AGENT, PROPOSAL, NUMBER) for name in ("staked", "staked_then"))
asked, wanted, price, limit = (_said.function(name, NUMBER)() for name in ("asked", "wanted", "price", "limit"))
"""The amount, or what a revision costs; ProposalSelfStake, FeedbackStake, MaxFeedbackPerAgent."""
_KINDS = ("signals", "proposes", "comments", "revises", "adds", "moves")
signals, proposes, comments, revises, adds, moves = (_said.relation(name)() for name in _KINDS)
_PHASES = ("proposing", "talking", "revising", "staking")
proposing, talking, revising, staking = (_said.relation(name)() for name in _PHASES)
"""PROPOSE, FEEDBACK, REVISE, and STAKE from the second round on."""
right_key, open_, whole, short, positive = (
    _said.relation(name)() for name in ("right_key", "open", "whole", "short", "positive")
)
"""It comes with the actor's credential; agents may act in this phase; its text has all fields, its comment is within
the limit, its amount is one."""
enrolled, assigned, ready = (_said.relation(name, AGENT) for name in ("enrolled", "assigned", "ready"))
there, written = (_said.relation(name, PROPOSAL) for name in ("there", "written"))
_SYMBOLS = (*(one.name for one in _said.functions), *(one.name for one in _said.relations))
_INPUTS = tuple(name for name in _SYMBOLS if not name.endswith("_then"))
named_before = _said.relation("named_before", AGENT, AGENT)

_mine = own(by)
_UNREADY = ~ready(by)
may = _said.word(
    "may", (), conjunction([right_key, open_, enrolled(by), assigned(by), _UNREADY]), "1.2, 7.2, 9.2: who is heard"
)
_LAWFUL = disjunction(
    [
        conjunction([signals, proposing >> there(_mine)]),
        conjunction([proposes, proposing, ~there(_mine), whole]),
        conjunction(
            [
                comments & talking & short,
                there(onto) & written(onto) & differ(onto, _mine),
                below(given(by), limit) & at_most(price, balance(by)),
            ]
        ),
        conjunction(
            [
                revises & revising & whole,
                there(_mine) & written(_mine),
                at_most(asked, plus(balance(by), staked(by, _mine))),
            ]
        ),
        conjunction([adds & staking & positive, there(onto), at_most(asked, balance(by))]),
        conjunction(
            [
                moves & staking & positive,
                there(onto) & there(source) & differ(source, onto),
                at_most(asked, staked(by, source)),
            ]
        ),
    ]
)
accepted = _said.word("accepted", (), may() & _LAWFUL, "6.1, 9.2, 11, 14, A 16.3: what is not rejected")
_spent = minus(balance(a), balance_then(a))
pays = _said.word(
    "pays",
    (a,),
    ite(
        accepted() & same(a, by) & ~moves & ~signals,
        conjunction(
            [
                comments >> same(_spent, price),
                adds >> same(_spent, asked),
                revises >> greatest(balance_then(a), number(0), minus(balance(a), asked)),
                proposes >> affordable(_spent, wanted, balance(a)),
            ]
        ),
        same(balance_then(a), balance(a)),
    ),
    "6.2, 11.2, 14.1, A 16.3: the actor pays, nobody else",
)
_more = minus(staked_then(a, p), staked(a, p))
stakes = _said.word(
    "stakes",
    (a, p),
    ite(
        accepted() & same(a, by),
        ite(
            disjunction(
                [(adds | moves) & same(p, onto), moves & same(p, source), (proposes | revises) & same(p, _mine)]
            ),
            conjunction(
                [
                    adds >> same(_more, asked),
                    moves
                    >> ite(same(p, onto), same(_more, asked), same(minus(staked(a, p), staked_then(a, p)), asked)),
                    proposes >> same(_more, _spent),
                    revises >> greatest(minus(staked(a, p), staked_then(a, p)), number(0), minus(asked, balance(a))),
                ]
            ),
            same(staked_then(a, p), staked(a, p)),
        ),
        same(staked_then(a, p), staked(a, p)),
    ),
    "6.2, 14.2, A 16.3: the actor's stake changes, nobody else's",
)
counts = _said.word(
    "counts",
    (a,),
    ite(
        accepted() & comments & same(a, by),
        same(given_then(a), plus(given(a), number(1))),
        same(given_then(a), given(a)),
    ),
    "11.5: a comment counts",
)
ready_then = _said.word("ready_then", (a,), ready(a) | (accepted() & signals & same(a, by)), "9.2: until the tick")
there_then = _said.word("there_then", (p,), there(p) | (accepted() & proposes & same(p, _mine)), "6.1: one's own")

_acts = (signals, proposes, comments, revises, adds, moves)
ACTING = _said.theory(
    "conviction_acting",
    AGENT,
    PROPOSAL,
    axioms=(
        Axiom("names_are_ordered", ordered(named_before, a, b, c), "of texts: what a mutant uses"),
        Axiom("one_kind", conjunction(~(one & two) for n, one in enumerate(_acts) for two in _acts[:n]), "13.1"),
        Axiom(
            "as_stated",
            forall([a], pays(a) & counts(a)) & forall([a, p], stakes(a, p)),
            "4.3, 11.5, A 16.3: what an action does",
        ),
    ),
)
TWICE = Twice(ACTING, _INPUTS)
"""Two actions, of which the second has other names."""


def view_act(step: Step[model.Config, model.State, model.Act, model.Shown]) -> Structure | None:
    """Return an action of an agent as a structure.

    None for ticks, invitations and enrolments, and for agents that do not exist.
    """
    before, then, act = step.before, step.after, step.action
    if isinstance(act, model.Tick | model.Invite | model.Enrol) or before.seat(act.agent) is None:
        return None
    texts = {one.uid: one.text for one in before.proposals}
    seats = {seat.agent: seat for seat in before.seats}
    if any((uid in texts) != (seat.proposal == uid) for uid, seat in seats.items()):
        return None
    key = next(agent.credential for agent in step.config.agents if agent.uid == act.agent)
    onto_, source_ = _named(act)
    uids = sorted({*seats, *texts, onto_, source_})
    text = act.text if isinstance(act, model.Propose | model.Revise) else None
    constants, moment = step.config.constants, (before.phase, before.turn > 1)
    truths = {
        **{name: isinstance(act, kind) for name, kind in zip(_KINDS, _TYPES, strict=True)},
        "proposing": before.phase == model.PROPOSE,
        "talking": before.phase == model.FEEDBACK,
        "revising": before.phase == model.REVISE,
        "staking": moment == (model.STAKE, True),
        "right_key": act.credential == key,
        "open": before.phase in OPEN,
        "whole": text is None or not text.missing,
        "short": isinstance(act, model.Feedback) and len(act.comment) <= constants.feedback_length,
        "positive": isinstance(act, model.AddStake | model.MoveStake) and is_amount(act.amount),
        "accepted": not step.shown.rejected,
    }
    agents, places = {uid: f"agent:{uid}" for uid in seats}, {uid: f"proposal:{uid}" for uid in uids}
    whole_, pairs = ones(agents.values()), frozenset((x, y) for x in agents.values() for y in places.values())
    functions = _numbers(step, agents, places)
    known = {one.uid for one in then.proposals} & set(places)
    return Structure(
        {"Agent": tuple(agents.values()), "Proposal": tuple(places.values())},
        {
            **props(truths),
            "enrolled": ones(agents[uid] for uid, seat in seats.items() if seat.standing == model.ENROLLED),
            "assigned": ones(agents[uid] for uid, seat in seats.items() if seat.assigned),
            "ready": ones(agents[uid] for uid, seat in seats.items() if seat.signal == model.READY),
            "there": ones(places[uid] for uid in texts),
            "written": ones(places[uid] for uid, one in texts.items() if one is not None),
            "ready_then": ones(agents[seat.agent] for seat in then.seats if seat.signal == model.READY),
            "there_then": ones(places[uid] for uid in known),
            "pays": whole_,
            "counts": whole_,
            "stakes": pairs,
            "named_before": names_of(agents.values()),
        },
        functions,
    )


def _numbers(step: Any, agents: dict[str, str], places: dict[str, str]) -> dict[str, Table]:
    """Return the functions of an action's structure, given the elements of agents and proposals."""
    act, constants = step.action, step.config.constants
    onto_, source_ = _named(act)
    functions: dict[str, Table] = {
        "by": constant(agents[act.agent]),
        "onto": constant(places[onto_]),
        "source": constant(places[source_]),
        "own": {(agents[uid],): places[uid] for uid in agents},
        "asked": constant(element(_asked(step))),
        "wanted": constant(element(constants.self_stake)),
        "price": constant(element(constants.feedback_stake)),
        "limit": constant(constants.feedback_limit),
    }
    for end, state in (("", step.before), ("_then", step.after)):
        functions[f"balance{end}"] = {(agents[seat.agent],): element(seat.balance) for seat in state.seats}
        functions[f"given{end}"] = {(agents[seat.agent],): element(seat.feedback) for seat in state.seats}
        held = dict(stakes_on(state))
        functions[f"staked{end}"] = {
            (agents[uid], places[one]): element(held.get((uid, one), 0)) for uid in agents for one in places
        }
    return functions


_TYPES = (model.SignalReady, model.Propose, model.Feedback, model.Revise, model.AddStake, model.MoveStake)


def _named(act: Any) -> tuple[str, str]:
    """Return the proposal that an action names, and the one that it takes from; the actor's own where it names none."""
    match act:
        case model.MoveStake():
            return act.target, act.source
        case model.AddStake() | model.Feedback():
            return act.proposal, act.agent
        case _:
            return act.agent, act.agent


def _asked(step: Step[model.Config, model.State, model.Act, model.Shown]) -> Any:
    """Return the amount that an action names, if it is one, or what a revision costs."""
    act = step.action
    if isinstance(act, model.Revise):
        written_ = step.before.proposal(act.agent)
        if written_ is None or written_.text is None:
            return 0
        return step.config.constants.self_stake * changed(step.config, written_.text, act.text)
    return act.amount if isinstance(act, model.AddStake | model.MoveStake) and is_amount(act.amount) else 0


_AFTER = ("balance_then", "given_then", "staked_then")
_TOLD = ("accepted", "ready_then", "there_then")
view = renamed(view_act, _INPUTS, (*_AFTER, *_TOLD))


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


_SAME = "names do not enter"
NO_ACT: Theorem = theorem(
    claim=names_decide_nothing,
    name="names_decide_no_action",
    sentence="Rename the agents, and an action of one of them is accepted as before, and every balance, stake, count "
    "and READY, and what is proposed, is the same afterwards.",
    source="1.2, 2.1, 6.2, 9.2, 11, 14, A 16.3",
    theory=TWICE.extended("conviction_renamed_acts"),
    view=view,
    samples=acts,
    scope="any number of agents, proposals and points, at an action of an agent",
    variables=(a, p),
    goal=conjunction(
        [
            TWICE.alike("accepted"),
            TWICE.alike("ready_then", a),
            TWICE.alike("there_then", p),
            *(same(TWICE.function(one)(a), one(a)) for one in (balance_then, given_then)),
            same(TWICE.function(staked_then)(a, p), staked_then(a, p)),
        ]
    ),
    needs=("as_stated", "as_stated2"),
    witness=conjunction([accepted(), adds, exists([a], named_before(a, by) & TWICE.second("named_before", by, a))]),
    mutants=TWICE.mutants(
        mutation(
            ACTING,
            play.first_name_acts_after_ready,
            {
                "may": conjunction(
                    [
                        right_key & open_ & enrolled(by) & assigned(by),
                        _UNREADY | (~signals & ~exists([b], named_before(b, by))),
                    ]
                )
            },
        ),
        mutation(
            ACTING,
            money.credit_of_the_poorest,
            {"accepted": may() & _LAWFUL & (adds >> forall([b], at_most(asked, balance(b))))},
            _SAME,
        ),
    ),
)
"""The theorem about names and actions."""
