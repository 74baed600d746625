r"""The adapter of `node_lines`: one Node process, a line for each question; a new run begins with a `start`.

evenhand check cud --adapter benchmarks.zoo.cud.node_lines.adapter:make \
    [--reading deadlock_space=all_well_formed_actions]

Most endings of a run are compared only under that reading, which is the kernel's.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.zoo.cud import encoding as enc
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
SYSTEMS = ("run", "universe", "conditions", "free")
NAMES = {
    "agent_id": "as",
    "action_id": "id",
    "action_type": "op",
    "declared_scope": "scope",
    "proposed_delta": "delta",
    "authorities_cited": "cites",
}


class Program:
    """The kernel's process, begun when it is first asked."""

    process: subprocess.Popen[str] | None = None

    @classmethod
    def ask(cls, line: Any) -> Any:
        """The answer to one line.  Raises RuntimeError if the process has ended."""
        if cls.process is None or cls.process.poll() is not None:
            command = ["node", str(Path(__file__).with_name("kernel.mjs")), *sorted(enc.defects())]
            cls.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        assert cls.process.stdin is not None
        assert cls.process.stdout is not None
        cls.process.stdin.write(json.dumps(line, allow_nan=False) + "\n")
        cls.process.stdin.flush()
        answer = cls.process.stdout.readline()
        if not answer:
            raise RuntimeError("the program has ended")
        return json.loads(answer)


class Adapter:
    """One run of the program."""

    def __init__(self, initial: Initial) -> None:
        config = enc.supported(initial, SYSTEMS, plain_numbers=True)
        self.free = initial["system"] == "free"
        self.agents: list[str] = config["agents"]
        self.config, self.space = config, "all_well_formed_actions"
        self.left = False
        self.letters = enc.Letters(only_json=True)
        self.codes: dict[str, str] = {}
        self.active = list(self.agents)
        self.epoch, self.lines, self.ending = 0, 1, None
        given = enc.setup(config)
        self.world: dict[str, Any] = given["state"]
        rules = [
            {
                "id": paper["authority_id"],
                "says": paper["commitment"],
                "holder": paper["holder_agent_id"],
                "issuer": paper["issuer_agent_id"],
                "scope": [f"{atom['operation']} {atom['target']}" for atom in paper["scope"]],
            }
            for paper in given["authorities"]
        ]
        answer = Program.ask(
            {
                "do": "start",
                "agents": self.agents,
                "world": self.world,
                "epochs": given["max_epochs"],
                "talk": given["communication"],
                "limit": given["message_limit"],
                "rules": rules,
            }
        )
        if not answer["ok"]:
            raise Unsupported(answer["error"])

    def move(self, agent: str, choice: Json) -> Json:
        """A choice as the kernel takes it."""
        made: dict[str, Any] = {"agent": agent, "exit": choice["exits"]}
        if choice["draft"] is not None:
            made["say"] = self.letters.content(choice["draft"])
        if choice["request"] is not None:
            if any(value.get("kind") == "number" for _, value in choice["request"]["proposed_delta"]):
                raise Unsupported("1 apart from 1.0")
            asked = enc.request(choice["request"], agent, self.epoch, self.world, only_json=True)
            made["ask"] = {NAMES[name]: value for name, value in asked.items()}
        return made

    def step(self, action: Json) -> Json:
        """One epoch."""
        chosen = enc.choices(action)
        moves = [self.move(agent, choice) for agent, choice in chosen.items()]
        seen = [[agent, self.seen(agent)] for agent in self.active]
        try:
            answer = self.pass_on({"do": "epoch", "moves": moves})
        except Unsupported as error:
            raise RuntimeError(str(error)) from error
        if not answer["ok"]:
            return enc.closed(action, self.free)
        trace = Program.ask({"do": "trace"})["trace"]
        news, self.lines = trace[self.lines :], len(trace)
        before, self.world, epoch = self.world, answer["world"], self.epoch
        self.epoch, self.ending = answer["epoch"] + 1, answer["class"]
        exits = [one["agent"] for one in news if one["what"] == "exit"]
        self.left = bool(exits)
        self.active = [agent for agent in self.active if agent not in exits]
        requests = [one for one in news if one["what"] == "action" and one["ask"] is not None]
        self.codes = {one["agent"]: _code(one["code"]) for one in requests}
        tokens, changes = answer["outcomes"], enc.effects(before, self.world)
        if self.free:
            return enc.free_shown(enc.free_tokens(tokens, exits), changes, bool(requests), self.codes.values())
        letters = [one for one in news if one["what"] == "message"]
        return enc.shown(
            seen=seen,
            tokens=[list(pair) for pair in tokens.items()],
            log=[
                enc.entry(
                    one["agent"],
                    epoch,
                    self.codes[one["agent"]],
                    one["outcome"],
                    enc.logged(_ask(one["ask"]), chosen[one["agent"]]["request"], one["agent"], epoch),
                )
                for one in requests
            ],
            effects=changes,
            exits=exits,
            sent=self.letters.messages({**one, "sender": one["agent"]} for one in letters if one["dropped"] is None),
            dropped=[[one["agent"], enc.UNKNOWN] for one in letters if one["dropped"] is not None],
            rejected=enc.UNKNOWN,
        )

    def pass_on(self, line: Any) -> Any:
        """The answer to a line.  Raises Unsupported if the kernel refuses it, or another question is asked by it."""
        if isinstance(line, dict) and line.get("do") != "epoch":
            raise Unsupported("another question")
        answer = Program.ask(line)
        if not answer["ok"] and answer["error"] != "the run is over":
            raise Unsupported(answer["error"])
        return answer

    def seen(self, agent: str) -> Json:
        """What the agent sees; of a malformed request the kernel does not tell the scope again."""
        found = Program.ask({"do": "look", "agent": agent})
        told = {
            "epoch": found["epoch"],
            "world_state": found["world"],
            "own_last_outcome": found["lastOutcome"],
            "own_last_action_id": found["lastId"],
            "messages": found["messages"],
        }
        scope = enc.UNKNOWN if self.codes.get(agent) == "MALFORMED_REQUEST" else found["lastScope"]
        return enc.observation(told, scope, self.letters)

    def facts(self) -> Json:
        """The world and how the run ended."""
        if self.free:
            return {"world": enc.world(self.world)}
        told = {"epoch": self.epoch, "world": enc.world(self.world)}
        admitted = not enc.ADMITTED.isdisjoint(self.codes.values())
        told["conclusion"] = enc.conclusion(self.config, self.space, self.ending, admitted, left=self.left)
        return told


def _code(said: str) -> str:
    """The code of the trace in the words of the other kernels; the two refusals are told in sentences."""
    if said == "interference":
        return "PASS_2"
    return "PASS_1" if said.startswith(("veto on ", "no cited capability ")) else said


def _ask(kept: Any) -> Any:
    """A request of the trace with the text's names."""
    return {name: kept[short] for name, short in NAMES.items() if short in kept} if isinstance(kept, dict) else kept


def make(initial: Initial) -> Adapter:
    """A fresh run."""
    return Adapter(initial)
