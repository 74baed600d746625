"""Concretisation of a run of the machine: a scenario in which agents act as the run says, each in its turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evenhand.core.trace import Scenario
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.exact import exact
from evenhand.model.conviction.menus import TEXTS, agents_of
from evenhand.model.conviction.readings import Readings
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.step import initial, step
from evenhand.model.conviction.texts import Text
from evenhand.proofs.conviction.ledger import KINDS
from evenhand.smt.arithmetic import value_of
from evenhand.smt.structure import Structure
from evenhand.smt.transitions.runs import Run

HELPER = "helper"
"""The agent whose proposal receives comments and moved stake: it has no points and no run mentions it."""
_TOKENS = 60


class Player:
    """A player of a run on the reference, which reaches phases by real steps and keeps every action."""

    def __init__(self, config: model.Config) -> None:
        self.config, self.state = config, initial(config)[0]
        self.start, self.actions = self.state, list[model.Act]()

    def act(self, action: model.Act) -> None:
        """Play one action, accepted or not."""
        self.actions.append(action)
        self.state, _ = step(REFERENCE, self.config, self.state, action)

    def tick(self, kicked: Iterable[str]) -> None:
        """Play a tick at which all agents but `kicked` are ready."""
        late = frozenset(kicked)
        for agent in self.config.agents:
            seat = self.state.seat(agent.uid)
            if (
                seat is None
                or not seat.assigned
                or agent.uid in late
                or self.state.phase in (model.IDLE, model.FINALIZE)
            ):
                continue
            if self.state.phase == model.PROPOSE and not seat.proposal:
                self.act(model.Propose(agent.uid, agent.credential, Text("x") if agent.uid == HELPER else None))
            elif self.state.phase != model.PROPOSE:
                self.act(model.SignalReady(agent.uid, agent.credential))
        self.act(model.Tick())

    def until(self, *phases: str, turn: int = 0) -> bool:
        """Tick until one of these phases, in their order; return whether it was reached."""
        for _ in range(40):
            if self.state.phase in phases and self.state.turn >= turn:
                return True
            self.tick(())
        return False


def realise_under(**readings: Any) -> Callable[[Run], Scenario[model.Config, model.State, model.Act] | None]:
    """Return `realise` under other readings."""

    def realised(run: Run) -> Scenario[model.Config, model.State, model.Act] | None:
        return realise(run, Readings(**readings))

    return realised


def realise(run: Run, readings: Readings | None = None) -> Scenario[model.Config, model.State, model.Act] | None:
    """Return agents that act as a run says, beside a helper without points; None where no text costs as much."""
    first = run.states[0]
    # Section 5 has whole points; a solver may choose fractions, which the model accepts as well.
    numbers: dict[str, Any] = {
        name: exact(value_of(first.functions[name][()])) for name in ("self_stake", "price", "penalty", "maximum")
    }
    names = {element_: f"agent_{n}" for n, element_ in enumerate(first.universe["Agent"], start=1)}
    inputs = run.states[:-1]
    strangers = {state.functions["by"][()] for state in inputs if state.relations["invites"]}
    known: list[Any] = []
    for agent, shape in zip(first.universe["Agent"], agents_of(len(names)), strict=True):
        at_first = value_of(first.functions["balance"][(agent,)])
        have: Any = exact(_first_amount(inputs, agent) if agent in strangers else at_first)
        known.append(replace(shape, granted=have, standing=model.STRANGER if agent in strangers else shape.standing))
    helper = replace(agents_of(1)[0], uid=HELPER, name=HELPER, credential="key 0", granted=0)
    agents = (*known, helper)
    constants = model.Constants(
        invite_payment=0,
        maximum_credit=numbers["maximum"],
        self_stake=numbers["self_stake"],
        think_ticks=1,
        penalty=numbers["penalty"],
        feedback_stake=numbers["price"],
        feedback_limit=9,
        saturation=2,
        stake_rounds=4,
    )
    issue = model.Issue("issue_1", tuple(agent.uid for agent in agents), cycles=2)
    player = Player(model.Config(agents, (issue,), constants, TEXTS, readings=readings or Readings()))
    written = {name: 0 for name in names.values()}
    for state in inputs:
        if not _played(player, state, names, written, numbers["self_stake"]):
            return None
    return Scenario(player.config, player.start, tuple(player.actions))


def _first_amount(inputs: Sequence[Structure], agent: str) -> Fraction:
    return next(
        value_of(state.functions["amount"][()])
        for state in inputs
        if state.relations["invites"] and state.functions["by"][()] == agent
    )


def _played(
    player: Player, state: Structure, names: Mapping[str, str], written: dict[str, int], whole: Fraction
) -> bool:
    """Play one step of the machine; return whether it was possible."""
    kind = next((name for name in KINDS if state.relations[name]), "")
    uid = names[state.functions["by"][()]]
    agent = player.config.agent(uid)
    assert agent is not None
    key, amount = agent.credential, value_of(state.functions["amount"][()])
    match kind:
        case "invites":
            player.act(model.Invite(uid, model.ADMINISTRATOR))
            player.act(model.Enrol(uid, key))
            return True
        case "proposes":
            there = player.until(model.PROPOSE)
            player.act(model.Propose(uid, key, _text(0, 0)))
            return there
        case "comments":
            there = player.until(model.FEEDBACK)
            player.act(model.Feedback(uid, key, HELPER, "x"))
            return there
        case "revises":
            share = amount / whole if whole else Fraction(0)
            if not player.until(model.REVISE) or share > 1 or _TOKENS % share.denominator:
                return False
            written[uid] += 1
            player.act(model.Revise(uid, key, _text(written[uid], int(share * _TOKENS))))
            return True
        case "adds":
            there = player.until(model.STAKE, turn=2)
            player.act(model.AddStake(uid, key, uid, amount))
            return there
        case "moves":
            there = player.until(model.STAKE, turn=2)
            # An inflow without an outflow has no source in the run, so it comes from an empty stake.
            more = value_of(state.functions["all_come"][()]) > value_of(state.functions["all_gone"][()])
            player.act(model.MoveStake(uid, key, *((HELPER, uid) if more else (uid, HELPER)), amount))
            return there
        case "finalizes":
            there = player.until(model.FINALIZE)
            player.act(model.Tick())
            return there
        case "ticks":
            kicked = [names[row[0]] for row in state.relations["kicked"]]
            if kicked and not player.until(model.PROPOSE, model.FEEDBACK, model.REVISE, model.STAKE):
                return False
            if kicked:
                player.tick(kicked)
            return True
        case _:
            return True


def _text(number: int, changed: int) -> Text:
    """Return sixty tokens, `changed` of which occur in no other text."""
    words = [f"r{number}w{place}" if place < changed else f"w{place}" for place in range(_TOKENS)]
    return Text(words[0], " ".join(words[1:]))
