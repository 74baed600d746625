"""Single actions: feedback is lawful and paid for, moved stake begins at zero.

Both are one agent's affair, so nothing but numbers is in the way: of any balance, price, length, limit and stake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evenhand.model.conviction.exact import exact
from evenhand.model.conviction.menus import TEXTS, agents_of
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import (
    FEEDBACK,
    STAKE,
    Act,
    Config,
    Constants,
    Feedback,
    Issue,
    MoveStake,
    Propose,
    Shown,
    State,
)
from evenhand.model.system import Step, System
from evenhand.model.trace import Scenario
from evenhand.proofs.conviction.plays import Player
from evenhand.proofs.conviction.walks import walks
from evenhand.proofs.smt.arithmetic import (
    NUMBER,
    at_least,
    at_most,
    below,
    element,
    number,
    value_of,
    zero,
)
from evenhand.proofs.smt.logic import (
    FALSE,
    TRUE,
    Definition,
    Formula,
    Function,
    Relation,
    Sort,
    conjunction,
    differ,
    same,
)
from evenhand.proofs.smt.structure import Structure
from evenhand.proofs.theorem import Mutation, Theorem
from evenhand.proofs.theory import Axiom, Theory
from evenhand.properties.conviction.notions import accepted, events, owned, seat_of

__all__ = ["ACTS"]


def _number(name: str) -> Function:
    return Function(name, (), NUMBER)


def _said(name: str) -> Relation:
    return Relation(name, ())


def _word(name: str, body: Formula, source: str) -> Definition:
    return Definition(_said(name), (), body, source)


def _as_declared(
    faults: Mapping[str, tuple[Definition, ...]], names: tuple[str, ...], unseen: Mapping[str, str]
) -> tuple[Mutation, ...]:
    return (
        *(Mutation(mutant=name, definitions=faults[name]) for name in names),
        *(
            Mutation(mutant=name, definitions=faults[name], expected="proved", because=because)
            for name, because in unseen.items()
        ),
    )


# Feedback (11)

length, most_length, given, limit, have, price = (
    _number(name) for name in ("length", "most_length", "given", "limit", "have", "price")
)
"""Characters of a comment, FeedbackCharLimit; entries so far, MaxFeedbackPerAgent; balance, FeedbackStake."""
there, in_feedback, own_proposal = _said("there"), _said("in_feedback"), _said("own_proposal")
_WORDS = (
    _word("too_long", below(most_length(), length()), "11.6: FeedbackTooLong"),
    _word("too_many", at_least(given(), limit()), "11.5: FeedbackLimitReached"),
    _word("too_dear", below(have(), price()), "11.4: InsufficientCredit"),
    _word("own", own_proposal(), "11.1: a proposal authored by another agent"),
    _word(
        "admitted",
        conjunction(
            [there(), in_feedback(), *(~_said(name)() for name in ("too_long", "too_many", "too_dear", "own"))]
        ),
        "11: what is not rejected",
    ),
    _word("charged", _said("admitted")(), "11.2: FeedbackStake is deducted in full"),
    _word("counted", _said("admitted")(), "11.5: and the entry counts"),
    _word("burned", _said("admitted")(), "11.2, 13.2: and burned, which the log says"),
)
_MEANS = {word.name: word for word in _WORDS}
admitted, charged, counted, burned = (_said(name) for name in ("admitted", "charged", "counted", "burned"))

COMMENTING = Theory(
    name="conviction_feedback",
    sorts=(),
    functions=(length, most_length, given, limit, have, price),
    relations=(there, in_feedback, own_proposal),
    axioms=(Axiom("fees_are_amounts", at_least(price(), number(0)), "5: FeedbackStake is a number of points"),),
    definitions=_WORDS,
)


def view_feedback(step: Step[Config, State, Act, Shown]) -> Structure | None:
    """A comment as a structure; None for other actions, and for agents that there are not."""
    act, before = step.action, step.before
    seat = before.seat(act.agent) if isinstance(act, Feedback) else None
    if not isinstance(act, Feedback) or seat is None or (step.shown.rejected and not _of_section_11(step)):
        return None
    c, after = step.config.constants, seat_of(step.after, act.agent)
    target = before.proposal(act.proposal)
    done = accepted(step, Feedback)
    burns = [(one.agent, one.amount, one.reason) for one in events(step.shown, "Burn")]
    numbers = {
        "length": len(act.comment),
        "most_length": c.feedback_length,
        "given": seat.feedback,
        "limit": c.feedback_limit,
        "have": seat.balance,
        "price": c.feedback_stake,
    }
    truths = {
        "there": target is not None,
        "in_feedback": before.phase == FEEDBACK,
        "own_proposal": target is not None and (target.author == act.agent or seat.proposal == target.uid),
        "admitted": done,
        "charged": done and seat.balance - after.balance == c.feedback_stake,
        "counted": done and after.feedback == seat.feedback + 1,
        "burned": done and (not c.feedback_stake or burns == [(act.agent, c.feedback_stake, "FeedbackStake")]),
    }
    return _structure({}, truths, {name: {(): element(value)} for name, value in numbers.items()})


def _structure(universe: Any, truths: Mapping[str, bool], functions: Any) -> Structure:
    return Structure(universe, {name: frozenset([()] if true else []) for name, true in truths.items()}, functions)


_REASONS = ("", "WrongPhase", "UnknownProposal", "OwnProposal", "FeedbackTooLong", "FeedbackLimitReached")


def _of_section_11(step: Any) -> bool:
    """Rejected for something that section 11 asks; credentials, READY and NoAction are asked elsewhere."""
    return step.shown.rejected in (*_REASONS, "InsufficientCredit")


def _agents(*granted: Any) -> tuple[Any, ...]:
    amounts: list[Any] = [exact(amount) for amount in granted]
    pairs = zip(agents_of(len(granted)), amounts, strict=True)
    return tuple(replace(agent, granted=amount) for agent, amount in pairs)


def _config(agents: tuple[Any, ...], constants: Constants) -> Config:
    return Config(agents, (Issue("issue_1", tuple(agent.uid for agent in agents), 1),), constants, TEXTS)


def scene_feedback(structure: Structure) -> Scenario[Config, State, Act] | None:
    """Two agents with proposals, one of whom comments; None where the comment would come outside FEEDBACK."""
    said, numbers = structure.relations, {name: value_of(table[()]) for name, table in structure.functions.items()}
    if not said["in_feedback"] or not said["there"] or numbers["have"] < 0 or numbers["price"] < 0:
        return None
    price_: Any = exact(numbers["price"])
    constants = Constants(
        self_stake=0,
        think_ticks=1,
        feedback_stake=price_,
        feedback_limit=0 if numbers["given"] >= numbers["limit"] else 1,
        feedback_length=0 if numbers["length"] > numbers["most_length"] else 1,
    )
    player = Player(_config(_agents(numbers["have"], 0), constants))
    player.until("PROPOSE")
    for agent in player.config.agents:
        player.act(Propose(agent.uid, agent.credential, Text("a")))
    player.until(FEEDBACK)
    player.act(Feedback("agent_1", "key 1", "agent_1" if said["own_proposal"] else "agent_2", "x"))
    return Scenario(player.config, player.start, tuple(player.actions))


def _instead(name: str, body: Formula, source: str) -> Definition:
    return Definition(_said(name), (), body, source)


_LONG, _MANY, _DEAR = (_MEANS[name].body for name in ("too_long", "too_many", "too_dear"))


def _forgiven(reason: Formula, **later: Formula) -> tuple[Definition, ...]:
    """What is looked at after a reason to reject is not looked at where that one is forgiven."""
    return tuple(_instead(name, body & ~reason, "not looked at") for name, body in later.items())


_COMMENTS = {
    "feedback_of_any_length": (
        _instead("too_long", FALSE, "FeedbackCharLimit is ignored"),
        *_forgiven(_LONG, too_many=_MANY, too_dear=_DEAR),
    ),
    "feedback_without_limit": (
        _instead("too_many", FALSE, "MaxFeedbackPerAgent is ignored"),
        *_forgiven(_MANY, too_dear=_DEAR),
    ),
    "feedback_on_credit": (_instead("too_dear", FALSE, "whatever the balance"),),
    "feedback_on_own_proposal": (
        _instead("own", FALSE, "one may comment on oneself"),
        *_forgiven(own_proposal(), too_long=_LONG, too_many=_MANY, too_dear=_DEAR),
    ),
    "feedback_free": (_instead("charged", admitted() & zero(price()), "burned and not charged"),),
}

_CYCLES = (
    {"cycles": 1, "budget": 4, "texts": 2, "hostile": 1},
    {"cycles": 1, "budget": 3, "texts": 1, "stake": 1, "hostile": 1},
    {"cycles": 2, "budget": 2, "texts": 1, "agents": 3},
)


def comments(system: System[Any, Any, Any, Any, Any]) -> Iterator[Any]:
    """After every step of walks into FEEDBACK, every comment that may be tried there."""
    for run in walks(system, _CYCLES):
        for step in run:
            if step.before.phase == FEEDBACK:
                yield from _tried(system, step)


def _tried(system: Any, step: Any) -> Iterator[Any]:
    for agent in step.config.agents:
        for target in (*(one.uid for one in step.before.proposals), "nothing"):
            for comment in ("x", "xx"):
                act = Feedback(agent.uid, agent.credential, target, comment)
                yield system.take(step.config, step.before, act)


LAWFUL = Theorem(
    name="feedback_is_lawful_and_paid",
    claim="feedback_is_lawful_and_paid",
    sentence="Feedback is on somebody else's proposal, within length and number, and is paid for in full.",
    source="11",
    protocol="conviction",
    system="issue",
    theory=COMMENTING,
    assumes=admitted(),
    goal=conjunction(
        [
            there() & in_feedback() & ~own_proposal(),
            at_most(length(), most_length()),
            below(given(), limit()),
            at_most(price(), have()),
            charged() & counted() & burned(),
        ]
    ),
    witness=below(number(0), price()),
    view=view_feedback,
    realise=scene_feedback,
    samples=comments,
    scope="any amounts, lengths and limits",
    mutants=_as_declared(_COMMENTS, tuple(_COMMENTS), {}),
)


# Moves (A 16.3)

AGE = Sort("Age")
h = AGE("h")
young, oldest = Function("young", (), AGE), Function("oldest", (), AGE)
"""No rounds; the rounds of the oldest stake at the source."""
amount, stock = _number("amount"), _number("stock")
"""What is to be moved, and all the agent has at the source."""
same_proposal = _said("same_proposal")


def _of_age(name: str, body: Formula, because: str) -> Definition:
    return Definition(Relation(name, (AGE,)), (h,), body, because)


_arrives = Relation("arrives", (AGE,))
_MOVES = (
    _word("positive", below(number(0), amount()), "A 16.3: an amount of points"),
    _word("enough", at_most(amount(), stock()), "A 16.3: existing stake, or InsufficientStake"),
    _word("elsewhere", ~same_proposal(), "A 16.3: to another proposal"),
    _word(
        "moved",
        conjunction(_said(name)() for name in ("positive", "enough", "elsewhere")),
        "A 16.3: what is not rejected",
    ),
    _word("balanced", at_most(amount(), stock()), "4.3: the source loses as much, for it has as much"),
    _of_age("arrives", same(h, young()), "A 16.3: all of it arrives as young stake: the multiplier is reset"),
    _of_age("untouched", ~_arrives(h), "A 16.3: stake of other ages at the target stays as it was"),
)
moved, balanced, elsewhere = _said("moved"), _said("balanced"), _said("elsewhere")
untouched = Relation("untouched", (AGE,))

MOVING = Theory(
    name="conviction_moves",
    sorts=(AGE,),
    functions=(young, oldest, amount, stock),
    relations=(same_proposal,),
    definitions=_MOVES,
)


def view_move(step: Step[Config, State, Act, Shown]) -> Structure | None:
    """A move as a structure; None for other actions, and where it is rejected for what is no move's affair."""
    act = step.action
    usual = ("", "InvalidAmount", "SameProposal", "InsufficientStake")
    if not isinstance(act, MoveStake) or step.shown.rejected not in usual or step.before.seat(act.agent) is None:
        return None
    if step.before.proposal(act.source) is None or step.before.proposal(act.target) is None:
        return None
    source, left = owned(step.before, act.agent, act.source), owned(step.after, act.agent, act.source)
    target, new = owned(step.before, act.agent, act.target), owned(step.after, act.agent, act.target)
    ages = sorted({0, *source, *left, *target, *new})
    have, rest = (sum(map(Fraction, one.values()), Fraction(0)) for one in (source, left))

    def some(test: Callable[[int], bool]) -> frozenset[tuple[str, ...]]:
        return frozenset((f"age:{age}",) for age in ages if test(age))

    done = not step.shown.rejected
    truths = {"same_proposal": act.source == act.target, "moved": done}
    found = _structure(
        {"Age": tuple(f"age:{age}" for age in ages)},
        {**truths, **({"balanced": have - rest == act.amount} if done and act.source != act.target else {})},
        {
            "young": {(): "age:0"},
            "oldest": {(): f"age:{max(source, default=0)}"},
            "amount": {(): element(act.amount)},
            "stock": {(): element(have)},
        },
    )
    if not done or act.source == act.target:
        return found
    by_age = {
        "arrives": some(lambda age: new.get(age, 0) == target.get(age, 0) + act.amount),
        "untouched": some(lambda age: new.get(age, 0) == target.get(age, 0)),
    }
    return Structure(found.universe, {**found.relations, **by_age}, found.functions)


def scene_move(structure: Structure) -> Scenario[Config, State, Act] | None:
    """An agent with all its stake on its own proposal, young or a round old, moves some; None where it has none."""
    numbers = {name: value_of(structure.functions[name][()]) for name in ("amount", "stock")}
    if numbers["stock"] < 0:
        return None
    wanted: Any = exact(numbers["amount"])
    stock_: Any = exact(numbers["stock"])
    constants = Constants(self_stake=stock_, think_ticks=1, saturation=2, stake_rounds=2)
    player = Player(_config(_agents(stock_, stock_), constants))
    player.until("PROPOSE")
    for agent in player.config.agents:
        player.act(Propose(agent.uid, agent.credential, Text("a")))
    player.until(STAKE, turn=2)
    target = "agent_1" if structure.relations["same_proposal"] else "agent_2"
    player.act(MoveStake("agent_1", "key 1", "agent_1", target, wanted))
    return Scenario(player.config, player.start, tuple(player.actions))


_FAULTY_MOVES = {
    "move_keeps_multiplier": (
        Definition(_arrives, (h,), same(h, oldest()), "what is moved keeps the rounds of the oldest"),
    ),
    "move_to_the_same": (
        _instead("elsewhere", TRUE, "to where it is"),
        *(_instead(word.name, word.body | same_proposal(), "not looked at") for word in _MOVES[:2]),
    ),
    "move_on_credit": (_instead("enough", TRUE, "more is moved than is there"),),
}

_ROUNDS = (
    {"rounds": 3, "texts": 0, "stake": 2, "budget": 3, "hostile": 1},
    {"rounds": 2, "texts": 0, "stake": 1, "budget": 2},
    {"rounds": 4, "texts": 0, "stake": 2, "budget": 2, "agents": 3, "ready": 0},
)


def moves(system: System[Any, Any, Any, Any, Any]) -> Iterator[Any]:
    """Before every step of walks into the rounds, every move of one point or three that may be tried there."""
    for run in walks(system, _ROUNDS):
        for step in run:
            if step.before.phase == STAKE and step.before.turn > 1:
                yield from _moved_there(system, step)


def _moved_there(system: Any, step: Any) -> Iterator[Any]:
    agent = step.config.agents[0]
    uids = [one.uid for one in step.before.proposals]
    for source in uids:
        for target in uids:
            for points in (1, 3):
                act = MoveStake(agent.uid, agent.credential, source, target, points)
                yield system.take(step.config, step.before, act)


MOVED = Theorem(
    name="moved_stake_begins_at_zero",
    claim="moved_stake_begins_at_zero",
    sentence="Moved stake begins at zero, the source loses what arrives, and nothing else at the target changes.",
    source="A 16.3, 16.6",
    protocol="conviction",
    system="issue",
    theory=MOVING,
    variables=(h,),
    assumes=moved(),
    goal=conjunction(
        [
            below(number(0), amount()) & ~same_proposal() & balanced(),
            _arrives(young()) & (differ(h, young()) >> untouched(h)),
        ]
    ),
    witness=differ(young(), oldest()),
    view=view_move,
    realise=scene_move,
    samples=moves,
    scope="any number of ages, any amounts",
    mutants=_as_declared(_FAULTY_MOVES, tuple(_FAULTY_MOVES), {}),
)

ACTS: tuple[Theorem, ...] = (LAWFUL, MOVED)
"""The theorems about single actions."""
