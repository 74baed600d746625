"""The adapter of `classes`: each agent is a puppet that does what the action says.

evenhand check cud --adapter benchmarks.zoo.cud.classes.adapter:make

The puppets are hostile: they write into what they are shown, and into their requests when the epoch is over.
"""

from __future__ import annotations

import copy
from typing import Any

from benchmarks.zoo.cud import encoding as enc
from benchmarks.zoo.cud.classes.kernel import Arena
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
SYSTEMS = ("run", "universe", "conditions", "free")


class Puppet:
    """An agent of the arena."""

    def __init__(self) -> None:
        self.exits = False
        self.message: Any = None
        self.request: Any = None
        self.seen: Any = None

    def observe(self, seen: Any) -> None:
        """Keep what is shown, then write into it."""
        self.seen = copy.deepcopy(seen)
        for key in seen.world_state:
            seen.world_state[key] = "written by an observer"
        seen.messages.clear()
        if seen.own_last_declared_scope is not None:
            seen.own_last_declared_scope.clear()

    def compose_message(self) -> Any:
        return self.message

    def wants_to_exit(self) -> bool:
        return self.exits

    def propose_action(self) -> Any:
        return self.request


class Adapter:
    """One run in an arena."""

    def __init__(self, initial: Initial) -> None:
        config = enc.supported(initial, SYSTEMS)
        self.free = initial["system"] == "free"
        self.talks = config["communication"]
        self.config, self.space = config, "requests_of_run"
        self.left = False
        self.letters = enc.Letters()
        self.agents: list[str] = config["agents"]
        self.puppets = {agent: Puppet() for agent in self.agents}
        self.gone: set[str] = set()
        self.codes: dict[str, Any] = {}
        try:
            self.arena = Arena(enc.setup(config), self.puppets, enc.defects())
        except ValueError as error:
            raise Unsupported(str(error)) from error

    def step(self, action: Json) -> Json:
        """One epoch."""
        chosen = enc.choices(action)
        before, epoch = self.arena.state, self.arena.epoch
        offers: dict[str, Any] = {}
        for agent, puppet in self.puppets.items():
            choice = chosen.get(agent) or {"exits": False, "draft": None, "request": None}
            draft, asked = choice["draft"], choice["request"]
            puppet.exits, puppet.seen = choice["exits"], None
            offers[agent] = {
                "message": None if draft is None else self.letters.content(draft),
                "request": None if asked is None else enc.request(asked, agent, epoch, before),
            }
        if self.arena.over():
            return enc.closed(action, self.free)
        self.pass_on(offers)
        for puppet in self.puppets.values():
            if puppet.request is not None:
                puppet.request["proposed_delta"]["edited"] = "afterwards"
        moves = self.arena.log[-1]["moves"]
        seen = [[agent, self.seen(agent)] for agent in moves]
        self.codes = {agent: move["code"] for agent, move in moves.items() if move.get("code") is not None}
        exits = [agent for agent, move in moves.items() if move["exit"]]
        self.left = bool(exits)
        self.gone.update(exits)
        tokens = {agent: move["outcome"] for agent, move in moves.items() if "outcome" in move}
        changes = enc.effects(before, self.arena.state)
        if self.free:
            return enc.free_shown(enc.free_tokens(tokens, exits), changes, bool(self.codes), self.codes.values())
        sent = [
            {"sender": agent, "epoch": epoch, "content": move["message"]}
            for agent, move in moves.items()
            if "message" in move and move["message_dropped"] is None
        ]
        return enc.shown(
            seen=seen,
            tokens=[list(pair) for pair in tokens.items()],
            log=[
                enc.entry(
                    agent,
                    epoch,
                    code,
                    tokens[agent],
                    self.kept(moves[agent]["request"], chosen[agent]["request"], agent, epoch),
                )
                for agent, code in self.codes.items()
            ],
            effects=changes,
            exits=exits,
            sent=self.letters.messages(sent),
            dropped=[[agent, enc.UNKNOWN] for agent, move in moves.items() if move.get("message_dropped")]
            if self.talks
            else enc.UNKNOWN,
            rejected=enc.UNKNOWN,
        )

    def pass_on(self, offers: Any) -> None:
        """Play one epoch; the agents may hand in anything."""
        enc.objects(offers)
        for agent, puppet in self.puppets.items():
            enc.objects(offers.get(agent))
            puppet.message, puppet.request = offers[agent].get("message"), offers[agent].get("request")
        self.arena.play_epoch()

    def kept(self, request: Json, asked: Json, agent: str, epoch: int) -> Json:
        """A request of the ledger, which keeps no copy of one that is not JSON."""
        return enc.UNKNOWN if "not_json" in request else enc.logged(request, asked, agent, epoch)

    def seen(self, agent: str) -> Json:
        """What the agent saw; of a malformed request the kernel does not tell the scope again."""
        found = vars(self.puppets[agent].seen)
        scope = found["own_last_declared_scope"]
        if self.codes.get(agent) == "MALFORMED_REQUEST":
            scope = enc.UNKNOWN
        letters = [vars(letter) for letter in found["messages"]]
        return enc.observation({**found, "messages": letters}, scope, self.letters)

    def facts(self) -> Json:
        """The cells, and how the run ended."""
        if self.free:
            return {"world": enc.world(self.arena.state)}
        told = {"epoch": self.arena.epoch, "world": enc.world(self.arena.state)}
        admitted = not enc.ADMITTED.isdisjoint(self.codes.values())
        told["conclusion"] = enc.conclusion(self.config, self.space, self.arena.verdict(), admitted, left=self.left)
        return told


def make(initial: Initial) -> Adapter:
    """A fresh arena."""
    return Adapter(initial)
