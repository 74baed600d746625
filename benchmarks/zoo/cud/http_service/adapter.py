r"""The adapter of `http_service`: starts the service once and plays each run's agents as clients, one after the other.

evenhand check cud --adapter benchmarks.zoo.cud.http_service.adapter:make \
    [--reading deadlock_space=all_well_formed_actions]

Most endings of a run are compared only under that reading, which is the kernel's.

Each agent looks and then hands in its turn, in the order of the action.
"""

from __future__ import annotations

import atexit
import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.zoo.cud import encoding as enc
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
SYSTEMS = ("run", "universe", "conditions", "free")
REFUSALS = {"veto": "PASS_1", "no capability": "PASS_1", "interference": "PASS_2", "-": ""}


class Service:
    """The service's process, begun when it is first asked."""

    process: subprocess.Popen[str] | None = None
    port = 0

    @classmethod
    def ask(cls, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and body of an answer; the log is text."""
        if cls.process is None or cls.process.poll() is not None:
            command = [sys.executable, str(Path(__file__).with_name("service.py")), *sorted(enc.defects())]
            cls.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            atexit.register(cls.process.kill)
            assert cls.process.stdout is not None
            cls.port = int(cls.process.stdout.readline().rsplit(":", 1)[1])
        client = http.client.HTTPConnection("127.0.0.1", cls.port)
        try:
            client.request(method, path, None if body is None else json.dumps(body))
            answer = client.getresponse()
            raw = answer.read().decode()
            return answer.status, raw if answer.getheader("Content-Type") == "text/plain" else json.loads(raw)
        finally:
            client.close()


class Adapter:
    """One run of the service."""

    def __init__(self, initial: Initial) -> None:
        config = enc.supported(initial, SYSTEMS)
        self.free = initial["system"] == "free"
        self.agents: list[str] = config["agents"]
        self.config, self.space = config, "all_well_formed_actions"
        self.left = False
        self.letters = enc.Letters(only_json=True)
        self.codes: dict[str, str] = {}
        status, answer = Service.ask("POST", "/runs", enc.setup(config))
        if status != 201:
            raise Unsupported(answer["error"])
        self.path = f"/runs/{answer['run']}"
        self.lines = 1
        self.status = self.now()

    def now(self) -> Json:
        """What the harness may see."""
        return Service.ask("GET", self.path)[1]

    def turn(self, agent: str, choice: Json) -> Json:
        """A choice as the service takes it."""
        asked, draft, epoch = choice["request"], choice["draft"], self.status["epoch"]
        return {
            "epoch": epoch,
            "exit": choice["exits"],
            "message": None if draft is None else self.letters.content(draft),
            "action": None if asked is None else enc.request(asked, agent, epoch, self.status["state"], only_json=True),
        }

    def step(self, action: Json) -> Json:
        """One epoch; an agent without a choice hands in an empty turn after the others."""
        turns = [(agent, self.turn(agent, choice)) for agent, choice in action["choices"]]
        chosen = [agent for agent, _ in turns]
        before = self.status
        if before["over"] and all(Service.ask("POST", self.of(agent, "turn"), one)[0] >= 400 for agent, one in turns):
            return enc.closed(action, self.free)
        turns += [(agent, {"epoch": before["epoch"]}) for agent in before["active"] if agent not in chosen]
        seen: dict[str, Json] = {}
        rejected = []
        for agent, turn in turns:
            if agent in before["active"] and agent not in seen:
                seen[agent] = self.seen(agent, before["epoch"])
            try:
                self.pass_on(turn, agent)
            except Unsupported:
                rejected.append([agent, enc.UNKNOWN])
        self.status = self.now()
        return self.told(action, before, seen, {"$bag": rejected})

    def pass_on(self, turn: Any, agent: str) -> None:
        """Hand in a turn.  Raises Unsupported if the service refuses it."""
        status, answer = Service.ask("POST", self.of(agent, "turn"), turn)
        if status >= 400:
            raise Unsupported(answer["error"])

    def told(self, action: Json, before: Json, seen: Json, rejected: Json) -> Json:
        """What the service tells after an epoch."""
        epoch, active = before["epoch"], before["active"]
        closed = self.status["epoch"] > epoch
        here = [agent for agent in active if agent in self.status["active"]] if closed else []
        tokens = {agent: self.look(agent, self.status["epoch"])["own_last_outcome"] for agent in here}
        events = list(self.events())
        exits = [facts["who"] for event, facts in events if event == "exit"]
        self.left = bool(exits)
        requests = [facts for event, facts in events if event == "action" and facts["request"] is not None]
        self.codes = {one["who"]: REFUSALS.get(one["code"], one["code"]) for one in requests}
        changes = enc.effects(before["state"], self.status["state"])
        chosen: dict[str, Json] = {}
        for agent, choice in action["choices"]:
            chosen.setdefault(agent, choice)
        if self.free:
            return enc.free_shown(enc.free_tokens(tokens, exits), changes, bool(requests), self.codes.values())
        letters = [facts for event, facts in events if event == "message"]
        return enc.shown(
            seen=[[agent, seen[agent]] for agent in active],
            tokens=[list(pair) for pair in tokens.items()],
            log=[
                enc.entry(
                    one["who"],
                    epoch,
                    self.codes[one["who"]],
                    one["outcome"],
                    self.kept(one, chosen, epoch),
                )
                for one in requests
            ],
            effects=changes,
            exits=exits,
            sent=self.letters.messages(
                {"sender": one["who"], "epoch": epoch, "content": one["content"]} for one in letters if one["taken"]
            ),
            dropped=[[one["who"], enc.UNKNOWN] for one in letters if not one["taken"]],
            rejected=rejected,
        )

    def kept(self, one: Json, chosen: Json, epoch: int) -> Json:
        """The request of a log line."""
        asked = chosen.get(one["who"], {}).get("request")
        return enc.UNKNOWN if asked is None else enc.logged(one["request"], asked, one["who"], epoch)

    def of(self, agent: str, what: str) -> str:
        """The path of an agent's resource."""
        return f"{self.path}/agents/{quote(agent, safe='')}/{what}"

    def look(self, agent: str, epoch: int) -> Json:
        """What the agent may see.  Raises RuntimeError if the service refuses."""
        status, answer = Service.ask("GET", self.of(agent, "observation") + f"?epoch={epoch}")
        if status != 200:
            raise RuntimeError(f"{status}: {answer['error']}")
        return answer

    def seen(self, agent: str, epoch: int) -> Json:
        """What the agent sees; of a malformed request the kernel does not tell the scope again."""
        found = self.look(agent, epoch)
        scope = found["own_last_declared_scope"]
        if self.codes.get(agent) == "MALFORMED_REQUEST":
            scope = enc.UNKNOWN
        return enc.observation(found, scope, self.letters)

    def events(self) -> Iterator[tuple[str, Json]]:
        """The new lines of the log, taken apart; a line that cannot be read is no event."""
        lines = Service.ask("GET", f"{self.path}/log")[1].rstrip("\n").split("\n")
        news, self.lines = lines[self.lines :], len(lines)
        for line in news:
            head = re.match(r"epoch=\d+ (\w+)", line)
            facts: dict[str, Any] = {}
            rest = line[head.end() :] if head else ""
            try:
                while rest:
                    name, _, rest = rest.lstrip().partition("=")
                    facts[name], end = json.JSONDecoder().raw_decode(rest)
                    rest = rest[end:]
            except ValueError:
                continue
            if head:
                yield head.group(1), facts

    def facts(self) -> Json:
        """What the harness may see."""
        world = enc.world(self.status["state"])
        if self.free:
            return {"world": world}
        told = {
            "epoch": self.status["epoch"],
            "world": world,
            "agents": [{"$": "AgentState", "active": agent in self.status["active"]} for agent in self.agents],
        }
        admitted = not enc.ADMITTED.isdisjoint(self.codes.values())
        told["conclusion"] = enc.conclusion(self.config, self.space, self.status["verdict"], admitted, left=self.left)
        return told


def make(initial: Initial) -> Adapter:
    """A fresh run of the service."""
    return Adapter(initial)
