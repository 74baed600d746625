"""A kernel of `cud`, written from the protocol's text as a team would write theirs, and its adapter.

    evenhand check cud --adapter honest_kernel:factory --system run

The kernel is `Kernel`; everything it knows of evenhand is the shape of the JSON that goes in and out.
"""

from __future__ import annotations

import json
from typing import Any

from evenhand.conform.adapters import Initial, Unsupported

__all__ = ["Kernel", "factory"]

Json = Any


class Kernel:
    """Two passes over each epoch's requests: authority first, then mechanical interference; nobody wins."""

    def __init__(self, config: Json) -> None:
        self.agents: list[str] = config["agents"]
        self.world: dict[str, Json] = dict(config["world"])
        self.authorities = [one for one in config["authorities"] if one["epoch"] == 0]
        self.talks: bool = config["communication"]
        self.epochs: int | None = config["epochs"]
        self.limit: int = config["readings"]["message_limit"]
        self.epoch: int | None = None if self.epochs is None else 0
        self.active = list(self.agents)
        self.last: dict[str, str | None] = dict.fromkeys(self.agents)
        self.scopes: dict[str, list[str] | None] = dict.fromkeys(self.agents)
        self.mail: list[tuple[str, str]] = []

    def step(self, action: Json) -> Json:
        """One epoch."""
        choices, rejected = self.heard(action["choices"])
        if self.over():
            return shown(rejected=sorted([agent, "the run is over"] for agent, _ in action["choices"]))
        here = list(self.active)
        exits = [agent for agent in here if choices.get(agent, {}).get("exits")]
        requests = {
            agent: choices[agent]["request"]
            for agent in here
            if agent in choices and agent not in exits and choices[agent]["request"] is not None
        }
        verdicts = {agent: self.examined(agent, request) for agent, request in requests.items()}
        contending = [agent for agent, (verdict, _) in verdicts.items() if verdict == "ADMITTED"]
        for agent in contending:
            if any(self.interfere(requests[agent], requests[other]) for other in contending if other != agent):
                verdicts[agent] = ("PASS_TWO", "")
        seen = [[agent, self.observed(agent)] for agent in here]
        sent, dropped = self.letters(
            {agent: choices[agent]["draft"] for agent in here if agent in choices and agent not in exits}
        )
        effects = self.execute(requests, verdicts)
        tokens = {agent: self.token(verdicts.get(agent)) for agent in here if agent not in exits}
        log = [
            {
                "$": "Entry",
                "agent_id": agent,
                "action_id": self.action_id(agent, self.epoch),
                "request": requests[agent],
                "verdict": verdicts[agent][0],
                "fault": verdicts[agent][1],
                "outcome": tokens[agent],
            }
            for agent in here
            if agent in requests
        ]
        for agent in here:
            self.last[agent] = tokens.get(agent, self.last[agent])
            self.scopes[agent] = requests[agent]["declared_scope"] if agent in requests else None
        self.active = [agent for agent in here if agent not in exits]
        self.mail = [(one["sender"], one["content"]) for one in sent]
        self.epoch = None if self.epoch is None else self.epoch + 1
        return shown(
            seen=seen,
            tokens=[list(pair) for pair in tokens.items()],
            log=log,
            effects=effects,
            exits=exits,
            sent=sent,
            dropped=dropped,
            rejected=rejected,
        )

    def over(self) -> bool:
        """Nobody is left, or the epochs are spent."""
        return not self.active or (self.epochs is not None and self.epoch is not None and self.epoch >= self.epochs)

    def heard(self, pairs: list[tuple[str, Json]]) -> tuple[dict[str, Json], list[list[str]]]:
        """The first choice of each agent in the run, and why the others are none."""
        choices: dict[str, Json] = {}
        rejected: list[list[str]] = []
        known: set[str] = set()
        for agent, choice in pairs:
            if agent in known:
                rejected.append([agent, "chose twice in one epoch"])
            elif agent not in self.active:
                rejected.append([agent, "not in the run" if agent in self.agents else "unknown agent"])
            else:
                choices[agent] = choice
            known.add(agent)
        return choices, sorted(rejected)

    def action_id(self, agent: str, epoch: int | None) -> str:
        """The kernel names actions, agents do not."""
        return f"{agent}:{'*' if epoch is None else epoch}:0"

    def observed(self, agent: str) -> Json:
        """What an agent sees as the epoch begins."""
        before = None if self.epoch is None else self.epoch - 1
        scope = self.scopes[agent]
        return {
            "$": "Observation",
            "epoch": self.epoch,
            "world_state": [list(pair) for pair in self.world.items()],
            "own_last_outcome": self.last[agent],
            "own_last_action_id": None if scope is None else self.action_id(agent, before),
            "own_last_declared_scope": scope,
            "messages": [
                {"$": "Message", "sender": sender, "epoch": before, "content": content}
                for sender, content in self.delivered(agent)
            ],
        }

    def delivered(self, agent: str) -> list[tuple[str, str]]:
        """The messages of the last epoch, one's own left out."""
        return [letter for letter in self.mail if letter[0] != agent]

    def examined(self, agent: str, request: Json) -> tuple[str, str]:
        """Structure and pass 1: where the request ends, and its fault."""
        if self.malformed(agent, request):
            return "STRUCTURE", "MALFORMED_REQUEST"
        held = {one["authority_id"] for one in self.authorities if one["holder_agent_id"] == agent}
        if any(cited not in held for cited in request["authorities_cited"]):
            return "STRUCTURE", "INVALID_CAPABILITY_CLAIM"
        if not self.covered(agent, request) or self.vetoed(request):
            return "PASS_ONE", ""
        return "ADMITTED", ""

    def malformed(self, agent: str, request: Json) -> bool:
        """Whether a request is no well-formed one."""
        scope, delta = request["declared_scope"], request["proposed_delta"]
        return (
            request["agent_id"] not in (None, agent)
            or request["action_id"] not in (None, self.action_id(agent, self.epoch))
            or request["action_type"] not in ("READ", "WRITE")
            or not scope
            or len(set(scope)) != len(scope)
            or any(key not in self.world for key in scope)
            or (request["action_type"] == "READ" and bool(delta))
            or any(key not in self.world for key, _ in delta)
            or len({key for key, _ in delta}) != len(delta)
            or any(value["$"] == "Opaque" for _, value in delta)
        )

    def governs(self, authority: Json, key: str, operation: str) -> bool:
        """Whether an authority speaks of an operation on a key."""
        return [f"STATE:/{key}", operation] in authority["scope"]

    def covered(self, agent: str, request: Json) -> bool:
        """Whether every declared key has an ALLOW that is held and cited."""
        mine = [
            one
            for one in self.authorities
            if one["commitment"] == "ALLOW"
            and one["holder_agent_id"] == agent
            and one["authority_id"] in request["authorities_cited"]
        ]
        return all(
            any(self.governs(one, key, request["action_type"]) for one in mine) for key in request["declared_scope"]
        )

    def vetoed(self, request: Json) -> bool:
        """Whether any DENY governs some declared key."""
        return any(
            one["commitment"] == "DENY" and self.governs(one, key, request["action_type"])
            for one in self.authorities
            for key in request["declared_scope"]
        )

    def interfere(self, one: Json, other: Json) -> bool:
        """Two requests for one key, unless both read."""
        if one["action_type"] == other["action_type"] == "READ":
            return False
        return any(key in other["declared_scope"] for key in one["declared_scope"])

    def execute(self, requests: dict[str, Json], verdicts: dict[str, tuple[str, str]]) -> list[Json]:
        """Apply what was admitted, all at once; a change outside the declared scope is a fault and undone."""
        after = dict(self.world)
        for agent, (verdict, _) in list(verdicts.items()):
            if verdict != "ADMITTED":
                continue
            changed = {key: value for key, value in requests[agent]["proposed_delta"] if self.world[key] != value}
            if any(key not in requests[agent]["declared_scope"] for key in changed):
                verdicts[agent] = ("ADMITTED", "SCOPE_VIOLATION")
            else:
                after.update(changed)
        effects = [
            {"$": "Effect", "key": key, "before": old, "after": after[key]}
            for key, old in self.world.items()
            if old != after[key]
        ]
        self.world = after
        return effects

    def token(self, verdict: tuple[str, str] | None) -> str:
        """All that an agent learns; the two passes refuse in the same words."""
        if verdict is None:
            return "NO_ACTION"
        if verdict[1]:
            return "ACTION_FAULT"
        return "EXECUTED" if verdict[0] == "ADMITTED" else "JOINT_ADMISSIBILITY_FAILURE"

    def letters(self, drafts: dict[str, Json]) -> tuple[list[Json], list[list[str]]]:
        """What is sent, under the sender's true name, and what is dropped and why."""
        sent: list[Json] = []
        dropped: list[list[str]] = []
        for agent, draft in drafts.items():
            if draft is None:
                continue
            fault = self.unsendable(draft["content"])
            if fault:
                dropped.append([agent, fault])
            else:
                sent.append({"$": "Message", "sender": agent, "epoch": self.epoch, "content": draft["content"]})
        return sorted(sent, key=lambda one: (one["sender"], one["content"])), dropped

    def unsendable(self, content: Json) -> str:
        """Why a message is none; empty if it is one."""
        if not self.talks:
            return "communication is off"
        if not isinstance(content, str):
            return "not JSON"
        if len(content.encode("utf-8", "surrogatepass")) > self.limit:
            return "over the size limit"
        try:
            message = json.loads(content, parse_constant=refused, object_pairs_hook=unique)
            if depth(message) > 64:
                return "not JSON"
            return "" if isinstance(message, dict) else "not a JSON object"
        except ValueError:
            return "not JSON"


def refused(name: str) -> Json:
    """NaN and the infinities are no JSON, although Python reads them; `evenhand check` found that out."""
    raise ValueError(name)


def unique(pairs: list[tuple[str, Json]]) -> Json:
    """An object names each key once."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def depth(value: Json) -> int:
    """How deep a message is nested; the model reads 64 levels."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inside), default=0)


def shown(**parts: Json) -> Json:
    """The observable of an epoch; what is not named is empty."""
    names = ("seen", "tokens", "receipts", "log", "effects", "exits", "sent", "dropped", "rejected")
    return {"$": "Shown", **{name: parts.get(name, []) for name in names}}


def supported(initial: Initial) -> Json:
    """The configuration, if a kernel of this kind implements it.  Raises Unsupported."""
    if initial["system"] not in ("run", "universe", "conditions"):
        raise Unsupported(f"no system {initial['system']}")
    readings = initial["config"]["readings"]
    wanted = {"scope_check": "snapshot_diff_only", "orphan_ends_run": "no", "fault_precedence": "fault_first"}
    for name, value in wanted.items():
        if readings[name] != value:
            raise Unsupported(f"reading {name}={readings[name]}")
    return initial["config"]


def factory(initial: Initial) -> Kernel:
    """The adapter: a fresh kernel for each scenario."""
    return Kernel(supported(initial))
