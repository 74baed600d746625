"""Adapter of the Node program."""

from __future__ import annotations

import json
import select
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.zoo.markspace import words
from benchmarks.zoo.markspace.adapting import Adapter, Unsupported
from benchmarks.zoo.markspace.words import GUARDS, ROOM, enum

Json = Any
TOKEN = "7"
"""The principal's token; a forged one is the number of the same spelling."""
PATIENCE = 1.0
"""Seconds after which the program is taken to be silent."""
TYPES = {"intent": "intent", "action": "action", "observation": "obs", "warning": "warn", "need": "need"}
FIELDS = {
    "mark_type": "t", "scope": "in", "initial_strength": "power", "supersedes": "over", "resource": "on",
    "action": "verb", "confidence": "sure", "result": "body", "content": "body", "context": "body", "topic": "about",
    "source": "src", "reason": "why", "severity": "level", "invalidates": "hits", "question": "ask",
    "priority": "prio", "blocking": "block", "failed": "failed",
}  # fmt: skip
SOURCES = {"fleet": "fleet", "external_verified": "verified", "external_unverified": "unverified"}
SIGHTS = {"open": "open", "protected": "shadow", "classified": "secret"}
RULES = {"first_writer": "first", "highest_confidence": "surest", "yield_all": "boss"}
BODIES = {"action": "result", "observation": "content", "need": "context"}


class Program:
    """The kernel's process, begun when it is first asked."""

    process: subprocess.Popen[str] | None = None

    @classmethod
    def ask(cls, do: str, **message: Any) -> Any:
        """The answer to a question."""
        return cls.answer({"do": do, **message})

    @classmethod
    def answer(cls, line: Any) -> Any:
        """The answer to one line.  Raises RuntimeError if the process has ended, TimeoutError if it is silent."""
        if cls.process is None or cls.process.poll() is not None:
            command = ["node", str(Path(__file__).with_name("kernel.mjs")), *sorted(words.defects())]
            cls.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert cls.process.stdin is not None
        assert cls.process.stdout is not None
        cls.process.stdin.write(json.dumps(line) + "\n")
        cls.process.stdin.flush()
        if not select.select([cls.process.stdout], [], [], PATIENCE)[0]:
            cls.process.kill()
            cls.process.wait()
            raise TimeoutError("no answer")
        answer = cls.process.stdout.readline()
        if not answer:
            raise RuntimeError("the program has ended")
        return json.loads(answer)


class Lines(Adapter):
    """Sends lines."""

    systems: ClassVar[tuple[str, ...]] = (*GUARDS, "space", "signals", "layers")

    def begin(self, start: Any) -> None:
        if self.system != "layers":
            super().begin(start)
            return
        names = {one["name"] for one in self.config["layers"]["$set"]}
        if not names or not names <= {"BARRIER", "PROBE"}:
            raise Unsupported("layers other than barrier and probe")
        barrier, probing = start["barrier"], start["probing"]
        if start["stored"] or (probing and probing["pending"]["$set"]) or (barrier and barrier["revoked"]["$set"]):
            raise Unsupported("a start in the middle of a run")
        self.layers = names
        kinds = ["intent", "action", "observation", "need"]
        rows = [{"scope": name, "mark_types": kinds} for name in self.config["scopes"]]
        agents = [{"id": name, "read_scopes": [], "permissions": rows} for name in self.config["agents"]]
        self.make([words.scope_of(name) for name in self.config["scopes"]], agents, "pat")
        self.canaries: dict[str, str] = {}
        self.inactive: set[str] = set()

    def make(self, scopes: list[Any], agents: list[Any], principal: str) -> None:
        made = [
            {"name": one["name"], "plans": one["allowed_intent_verbs"], "deeds": one["allowed_action_verbs"],
             "topics": one["observation_topics"], "alerts": one["warning_topics"],
             "rule": RULES[one["conflict_policy"]], "sight": SIGHTS[one["visibility"]], "deferred": one["deferred"],
             "life": {"obs": one["decay"]["observation_half_life"], "warn": one["decay"]["warning_half_life"],
                      "intent": one["decay"]["intent_ttl"]}} for one in scopes
        ]  # fmt: skip
        people = [
            {"id": one["id"], "sees": one["read_scopes"],
             "may": [[row["scope"], [TYPES[kind] for kind in row["mark_types"]]] for row in one["permissions"]]}
            for one in agents
        ]  # fmt: skip
        answer = Program.ask("open", scopes=made, agents=people, boss=principal, token=TOKEN)
        if not answer["ok"]:
            raise Unsupported(answer["error"])

    def own(self, mark: dict[str, Any]) -> dict[str, Any]:
        """A mark in the kernel's words."""
        made = {FIELDS[name]: value for name, value in mark.items()}
        made["t"] = TYPES[mark["mark_type"]]
        if "src" in made:
            made["src"] = SOURCES[made["src"]]
        return made

    def plain(self, mark: Any) -> Any:
        """A mark of the kernel's in the text's words."""
        if mark is None:
            return None
        kind = next(kind for kind, own in TYPES.items() if own == mark["t"])
        found = {name: mark[own] for name, own in FIELDS.items() if own in mark and own != "body"}
        if "body" in mark:
            found[BODIES[kind]] = mark["body"]
        if kind == "action":
            found.setdefault("failed", False)
        if "now" in mark:
            found["effective_strength"] = mark["now"]
        return {**found, "mark_type": kind, "id": mark["id"], "agent_id": mark["who"], "created_at": mark["at"],
                "projected": mark.get("shadow", False), "resolved_by": mark.get("resolvedBy")}  # fmt: skip

    def said(self, answer: Any) -> tuple[str | None, str]:
        return (answer.get("id", ""), "") if answer["ok"] else (None, answer["error"])

    def write(self, agent: str, mark: dict[str, Any]) -> tuple[str | None, str]:
        return self.said(self.pass_on({"do": "put", "who": agent, "mark": self.own(mark)}))

    def pass_on(self, line: Any) -> Any:
        """The answer to a line of an agent, which may be anything."""
        return Program.answer(line)

    def decided(self, found: Any) -> dict[str, Any]:
        others = [self.plain(one) for one in found["others"]]
        return {"verdict": found["verdict"], "reason": found["reason"], "intent_id": found["intent"],
                "winning_intent": self.plain(found["winner"]), "conflicting_intents": others}  # fmt: skip

    def pre(self, agent: str, resource: str, confidence: float) -> dict[str, Any]:
        line = {"do": "pre", "who": agent, "in": ROOM, "on": resource, "verb": "book", "sure": confidence}
        return self.decided(self.pass_on(line))

    def post(self, agent: str, resource: str, intent: str, *, failed: bool) -> tuple[str | None, str]:
        mark = {"in": ROOM, "on": resource, "verb": "booked", "body": {}, "failed": failed}
        return self.said(self.pass_on({"do": "post", "who": agent, "intent": intent, "mark": mark}))

    def boundary(self, resource: str) -> dict[str, dict[str, Any]]:
        answer = Program.ask("boundary", **{"in": ROOM, "on": resource})
        return {agent: self.decided(found) for agent, found in answer["verdicts"]}

    def pass_time(self, seconds: int) -> None:
        Program.ask("tick", seconds=seconds)

    def read(self, scope: str, reader: str | None, least: float = 0.01) -> list[dict[str, Any]]:
        asked = {"in": scope, "least": least, **({} if reader is None else {"reader": reader})}
        return [self.plain(one) for one in Program.ask("read", **asked)["marks"]]

    def needs(self) -> list[dict[str, Any]]:
        return [
            {"scope": row["in"], "needs": [self.plain(one) for one in row["needs"]], "effective_priority": row["prio"],
             "blocking_count": row["blocking"], "contexts": row["contexts"]}
            for row in Program.ask("needs")["clusters"]
        ]  # fmt: skip

    def resolve(self, need: str, action: str) -> tuple[str | None, str]:
        return self.said(Program.ask("resolve", need=need, action=action))

    def strength(self, mark: str) -> float:
        return Program.ask("power", id=mark)["now"]

    # barrier and probe

    def on_operation(self, a: Any) -> Any:
        """An operation under barrier and probe."""
        op, agent, kind = a["op"]["name"], a["agent"], TYPES[a["kind"]["name"].lower()]
        place = {"who": agent, "in": a["scope"], "t": kind}
        token = TOKEN if a["token"] == "principal's token" else int(TOKEN)
        by, why, told = None, "", ""
        known = {one["id"] for row in self.needs() for one in row["needs"]}
        if agent == "probe":
            raise Unsupported("the agent `probe` is the kernel's own")
        if agent in self.inactive and op in ("WRITE", "ACKNOWLEDGE", "END_ROUND"):
            raise Unsupported("whether a canary outlives a round in which its agent did nothing, no text says")
        if op == "WRITE":
            if kind in ("intent", "action"):
                raise Unsupported("intents and actions are not told apart from other marks")
            mark = {"mark_type": a["kind"]["name"].lower(), "scope": a["scope"]}
            topic = "probe-canary" if a["scope"] == "diagnostics" else "x"
            mark |= {"topic": topic, "content": {}, "confidence": 1.0, "source": "fleet"} if kind == "obs" else {
                "question": "why", "context": {}, "priority": 0.5, "blocking": False}  # fmt: skip
            written, why = self.write(agent, mark)
            known.add(written or "")
        elif op == "NARROW":
            why = self.said(Program.ask("narrow", **place))[1]
        elif op == "NARROW_ALL":
            why = self.said(Program.ask("narrow", **{**place, "in": "*"}))[1]
        elif op == "RESTORE":
            why = self.said(Program.ask("restore", **place, token=token))[1]
        elif op == "RESTORE_ALL":
            why = self.said(Program.ask("restore", who=agent, token=token))[1]
        elif op == "INJECT":
            found, why = self.said(Program.ask("canary", who=agent))
            self.canaries[agent] = found or ""
            self.inactive.discard(agent)
        elif op == "ACKNOWLEDGE":
            if a["right"] and agent not in self.canaries:
                raise Unsupported("how one acknowledges the right canary while there is none, no text says")
            name = self.canaries[agent] if a["right"] else "another"
            right = Program.ask("ack", who=agent, id=name)["right"]
            why = "" if right else "another canary"
            if right:
                del self.canaries[agent]
        elif op == "END_ROUND":
            told = Program.ask("probe", who=agent)["health"]
            self.canaries.pop(agent, None)
            if told == "INACTIVE":
                self.inactive.add(agent)
        else:
            raise Unsupported(f"no {op}")
        layer = {"barrier": "BARRIER", "canary": "PROBE", "token": "BARRIER"}
        by = next((enum("Layer", name) for word, name in layer.items() if word in why), None)
        new = [one for row in self.needs() for one in row["needs"] if one["id"] not in known]
        return {"$": "Outcome", "accepted": not why, "why": "compromised" if told == "COMPROMISED" else why, "by": by,
                "needs": {"$bag": [[agent, one["blocking"], "probe"] for one in new]}}  # fmt: skip


def make(initial: Any) -> Lines:
    """Return the kernel of one scenario."""
    return Lines(initial)
