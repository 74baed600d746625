r"""The adapter of `one_call`, which has neither log nor messages: what it does not tell is left out.

evenhand check cud --adapter benchmarks.zoo.cud.one_call.adapter:make \
    [--reading deadlock_space=all_well_formed_actions]

Most endings of a run are compared only under that reading, which is the kernel's.

An ALLOW for both operations is two passes here, one of each kind; who cites it shows both.
"""

from __future__ import annotations

from typing import Any

from benchmarks.zoo.cud import encoding as enc
from benchmarks.zoo.cud.one_call.kernel import Table
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
SYSTEMS = ("run", "universe", "conditions", "free")
KINDS = {"READ": "look", "WRITE": "put"}
RESULTS = {
    "done": "EXECUTED",
    "blocked": "JOINT_ADMISSIBILITY_FAILURE",
    "invalid": "ACTION_FAULT",
    "idle": "NO_ACTION",
    None: None,
}
ENDINGS = {
    "coordinated": "COORDINATED",
    "stuck": "STATE_DEADLOCK",
    "spinning": "STATE_LIVELOCK",
    "abandoned": "COLLAPSE",
    "orphaned": "ORPHANING",
    "unfinished": "INVALID_RUN/NONTERMINATING_CONDITION",
}


class Adapter:
    """One table."""

    def __init__(self, initial: Initial) -> None:
        config = enc.supported(initial, SYSTEMS)
        self.free = initial["system"] == "free"
        self.talks = config["communication"]
        self.config, self.space = config, "all_well_formed_actions"
        self.left = False
        given = enc.setup(config)
        papers = given["authorities"]
        if len({paper["authority_id"] for paper in papers}) < len(papers):
            raise Unsupported("two authorities carry the same id")
        self.passes = {
            paper["authority_id"]: [f"{paper['authority_id']} {kind}" for kind in KINDS.values()]
            for paper in papers
            if paper["commitment"] == "ALLOW"
        }
        self.bans = {paper["authority_id"]: paper["holder_agent_id"] for paper in papers} if papers else {}
        self.bans = {name: holder for name, holder in self.bans.items() if name not in self.passes}
        split = [
            {
                "passId": f"{paper['authority_id']} {kind}",
                "says": paper["commitment"],
                "holder": paper["holder_agent_id"],
                "kind": kind,
                "slots": [
                    atom["target"].removeprefix("STATE:/")
                    for atom in paper["scope"]
                    if atom["operation"] == operation and atom["target"].startswith("STATE:/")
                ],
            }
            for paper in papers
            for operation, kind in KINDS.items()
        ]
        self.done = False
        self.table = Table(
            {
                "seats": given["agents"],
                "slots": given["state"],
                "maxRounds": given["max_epochs"],
                "passes": [one for one in split if one["says"] == "ALLOW"],
                "bans": [one for one in split if one["says"] == "DENY"],
            },
            enc.defects(),
        )

    def move(self, agent: str, choice: Json) -> Any:
        """A choice as the table takes it."""
        if choice["draft"] is not None and self.talks:
            raise Unsupported("messages")
        if choice["exits"]:
            return "leave"
        if choice["request"] is None:
            return None
        asked = enc.request(choice["request"], agent, self.table.round, self.table.slots)
        if any(self.bans.get(name) == agent for name in asked["authorities_cited"]):
            raise Unsupported("a DENY that its holder cites")
        return {
            "player": asked["agent_id"],
            "tag": asked["action_id"],
            "kind": KINDS.get(asked["action_type"], asked["action_type"]),
            "touches": asked["declared_scope"],
            "puts": asked["proposed_delta"],
            "shows": [one for name in asked["authorities_cited"] for one in self.passes.get(name, [name])],
        }

    def step(self, action: Json) -> Json:
        """One round."""
        chosen = enc.choices(action)
        moves = {agent: self.move(agent, choice) for agent, choice in chosen.items()}
        present = list(self.table.present)
        seen = [[agent, self.seen(agent)] for agent in present]
        before = dict(self.table.slots)
        try:
            told = self.pass_on(moves)
        except RuntimeError as error:
            if str(error) != "the table is closed":
                raise
            return enc.closed(action, self.free)
        exits = [agent for agent in present if agent not in self.table.present]
        self.left = bool(exits)
        tokens = {agent: RESULTS[result] for agent, result in told["results"].items()}
        self.done = "done" in told["results"].values()
        changes = enc.effects(before, told["slots"])
        if self.free:
            results = set(told["results"].values())
            codes = None if "blocked" in results else []
            return enc.free_shown(enc.free_tokens(tokens, exits), changes, bool(results - {"idle"}), codes)
        return enc.shown(
            seen=seen,
            tokens=[list(pair) for pair in tokens.items()],
            log=enc.UNKNOWN,
            effects=changes,
            exits=exits,
            dropped=enc.UNKNOWN,
            rejected=enc.UNKNOWN,
        )

    def pass_on(self, moves: Any) -> Any:
        """Play one round; the seats may hand in anything."""
        enc.objects(moves)
        return self.table.playRound(moves)

    def seen(self, seat: str) -> Json:
        """What the seat sees; messages do not exist."""
        found = self.table.look(seat)
        return {
            "$": "Observation",
            "epoch": found["round"],
            "world_state": enc.world(found["slots"]),
            "own_last_outcome": RESULTS[found["lastResult"]],
            "messages": [],
        }

    def facts(self) -> Json:
        """What the table counts and how it ended."""
        table = self.table
        if self.free:
            return {"world": enc.world(table.slots), "counter": min(table.spins, 3)}
        told = {
            "epoch": table.round,
            "world": enc.world(table.slots),
            "agents": [{"$": "AgentState", "active": seat in table.present} for seat in table.seats],
        }
        admitted = self.done
        told["conclusion"] = enc.conclusion(
            self.config, self.space, ENDINGS.get(table.ending()), admitted, left=self.left
        )
        return told


def make(initial: Initial) -> Adapter:
    """A fresh table."""
    return Adapter(initial)
