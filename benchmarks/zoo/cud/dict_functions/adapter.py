r"""The adapter of `dict_functions`.

evenhand check cud --adapter benchmarks.zoo.cud.dict_functions.adapter:make \
    [--reading deadlock_space=all_well_formed_actions]

Most endings of a run are compared only under that reading, which is the kernel's.
"""

from __future__ import annotations

from typing import Any

from benchmarks.zoo.cud import encoding as enc
from benchmarks.zoo.cud.dict_functions.kernel import new_run, observation, play, verdict
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
SYSTEMS = ("run", "universe", "conditions", "free")


class Adapter:
    """One run; `moves` are handed in as the kernel takes them, and what is new in its log is shown."""

    def __init__(self, initial: Initial) -> None:
        config = enc.supported(initial, SYSTEMS)
        self.free = initial["system"] == "free"
        self.config, self.space = config, "all_well_formed_actions"
        self.left = False
        self.letters = enc.Letters()
        self.codes: dict[str, str] = {}
        try:
            self.run = new_run(enc.setup(config), enc.defects())
        except ValueError as error:
            raise Unsupported(str(error)) from error

    def move(self, agent: str, choice: Json) -> Json:
        """A choice as the kernel takes it."""
        made: dict[str, Any] = {"exit": choice["exits"]}
        if choice["draft"] is not None:
            made["message"] = self.letters.content(choice["draft"])
        if choice["request"] is not None:
            made["request"] = enc.request(choice["request"], agent, self.run["epoch"], self.run["world"])
        return made

    def step(self, action: Json) -> Json:
        """One epoch."""
        chosen = enc.choices(action)
        moves = {agent: self.move(agent, choice) for agent, choice in chosen.items()}
        seen = [[agent, self.seen(agent)] for agent in self.run["active"]]
        here, before, epoch = len(self.run["log"]), self.run["world"], self.run["epoch"]
        try:
            self.run = self.pass_on(moves)
        except ValueError as error:
            if str(error) != "the run is over":
                raise
            return enc.closed(action, self.free)
        news = self.run["log"][here:]
        requests = [one for one in news if one["kind"] == "request"]
        self.codes = {one["agent"]: one["code"] for one in requests}
        tokens = {one["agent"]: one["outcome"] for one in news if one["kind"] in ("request", "idle")}
        exits = [one["agent"] for one in news if one["kind"] == "exit"]
        self.left = bool(exits)
        changes = enc.effects(before, self.run["world"])
        if self.free:
            return enc.free_shown(enc.free_tokens(tokens, exits), changes, bool(requests), self.codes.values())
        return enc.shown(
            seen=seen,
            tokens=[list(pair) for pair in tokens.items()],
            log=[
                enc.entry(
                    one["agent"],
                    epoch,
                    one["code"],
                    one["outcome"],
                    enc.logged(one["request"], chosen[one["agent"]]["request"], one["agent"], epoch),
                )
                for one in requests
            ],
            effects=changes,
            exits=exits,
            sent=self.letters.messages(self.run["mail"]),
            dropped=[
                [one["agent"], enc.UNKNOWN]
                for one in news
                if one["kind"] == "message" and one["why"].startswith("Dropped")
            ],
            rejected=enc.UNKNOWN,
        )

    def pass_on(self, moves: Any) -> Any:
        """Play one epoch; the agents may hand in anything."""
        enc.objects(moves)
        enc.objects(*moves.values())
        return play(self.run, moves)

    def seen(self, agent: str) -> Json:
        """What the agent sees; of a malformed request the kernel does not tell the scope again."""
        found = observation(self.run, agent)
        scope = found["own_last_declared_scope"]
        if self.codes.get(agent) == "MALFORMED_REQUEST":
            scope = enc.UNKNOWN
        return enc.observation(found, scope, self.letters)

    def facts(self) -> Json:
        """What the kernel counts and how the run ended."""
        run = self.run
        if self.free:
            return {"world": enc.world(run["world"]), "counter": min(run["stall"], 3)}
        told = {
            "epoch": run["epoch"],
            "world": enc.world(run["world"]),
            "agents": [{"$": "AgentState", "active": agent in run["active"]} for agent in run["setup"]["agents"]],
        }
        admitted = not enc.ADMITTED.isdisjoint(self.codes.values())
        told["conclusion"] = enc.conclusion(self.config, self.space, verdict(run), admitted, left=self.left)
        return told


def make(initial: Initial) -> Adapter:
    """A fresh run."""
    return Adapter(initial)
