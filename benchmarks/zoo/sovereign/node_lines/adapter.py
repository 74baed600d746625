"""The adapter of `node_lines`: one Node process; the caller's candidates come in as the text of a model's reply.

evenhand check sovereign --adapter benchmarks.zoo.sovereign.node_lines.adapter:make \
    --reading unknown_author=treat_as_reflection --reading path_rule=normal_form \
    --reading session_budget=reached
"""

from __future__ import annotations

import json
import select
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.zoo.sovereign import adapting as zoo
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
CONDITIONS = ("L-A", "L-B", "L-C", "L-D", "L-E")
PATIENCE = 1.0
"""Seconds after which the program is taken to be silent."""
WITHOUT_END = 2**53 - 1
"""The tokens of a session without a budget: the program has one of its own if none is given."""


class Program:
    """The kernel's process, begun when it is first asked."""

    process: subprocess.Popen[str] | None = None

    @classmethod
    def ask(cls, op: str, **line: Any) -> Any:
        """The answer to one line.  Raises RuntimeError if the process has ended, TimeoutError if it is silent."""
        if cls.process is None or cls.process.poll() is not None:
            program = str(Path(__file__).with_name("kernel.mjs"))
            command = ["node", program, "--defects=" + ",".join(sorted(zoo.defects()))]
            cls.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        assert cls.process.stdin is not None
        assert cls.process.stdout is not None
        cls.process.stdin.write(json.dumps({"op": op, **line}, allow_nan=False) + "\n")
        cls.process.stdin.flush()
        if not select.select([cls.process.stdout], [], [], PATIENCE)[0]:
            cls.process.kill()
            cls.process.wait()
            raise TimeoutError(f"no answer to {op}")
        answer = cls.process.stdout.readline()
        if not answer:
            raise RuntimeError("the program has ended")
        return json.loads(answer)


class Adapter(zoo.Adapter):
    """One session."""

    readings: ClassVar[dict[str, str]] = {"session_budget": "reached", "unknown_author": "treat_as_reflection"}
    systems = ("candidates", "lists", "session")
    limits_at = "/b1"
    takes_no_ids = at_once = clauses_by_name = True
    authors = None

    def begin(self) -> None:
        condition, budget = self.config["condition"], self.config["session_budget"]
        if condition and condition not in CONDITIONS:
            raise Unsupported(f"no condition {condition}")
        if condition and self.config["most_refusals"] != 25:
            raise Unsupported("another number of refusals")
        self.condition = condition or "L-A"
        files = zoo.files_of(self.config["tree"])
        Program.ask("start", files=files, b2=WITHOUT_END if budget is None else budget)
        self.world = Program.ask("report")["world"]

    def decide(self, told: Json, candidates: Json) -> dict[str, Any]:
        given: dict[str, list[Any]] = {kind: [] for kind in ("user_input", "timestamp", "budget", "system")}
        for one in told:
            if one["kind"] not in given:
                raise Unsupported("an observation of a kind that nobody knows")
            given[one["kind"]].append(self.payload(one))
        counts = {kind: len(found) for kind, found in given.items()}
        if counts["user_input"] != 1 or counts["budget"] != 1 or max(counts.values()) > 1:
            raise Unsupported("a cycle in which the user does not speak once, or nobody counts")
        tokens = given["budget"][0]
        if type(tokens) is not int or tokens < 0:
            raise Unsupported("tokens that are no number")
        known = [zoo.observation_id(one) for one in told]
        if any(name not in known for one in candidates if one["scope"] for name in one["scope"]["observation_ids"]):
            raise Unsupported("observations that the harness binds otherwise")
        line: dict[str, Any] = {"condition": self.condition, "say": given["user_input"][0],
                                "completion": tokens // 3, "prompt": tokens - tokens // 3}  # fmt: skip
        if given["timestamp"]:
            line["at"] = given["timestamp"][0]
        if given["system"]:
            line["system"] = given["system"][0]
        answer = self.pass_on({"candidates": [self.bundle(one) for one in candidates]}, line)
        if not answer["ok"]:
            if answer["why"] in ("malformed", "EXIT"):
                raise Unsupported(answer["why"])
            return {"kind": None}
        found = {"kind": answer["decision"], "time": answer["created_at"] or "", "reason": answer.get("reason")}
        found["gate"] = answer.get("failed_gate")
        if answer["decision"] == "ACTION":
            asked = answer["bundle"]["action_request"]
            found |= {"at": answer["warrant"]["created_at"]}
            found["request"] = zoo.request(asked["action_type"], asked["fields"])
            found["effects"] = self.effects(asked["action_type"], answer["result"])
        return found

    def pass_on(self, reply: Any, line: Any) -> Any:
        """The answer to a reply of the model, which may be anything."""
        return Program.ask("cycle", **line, reply=json.dumps(reply))

    def effects(self, kind: str, result: Any) -> Json:
        """What is new in the world; a file that was written as it was cannot be seen."""
        before, self.world = self.world, Program.ask("report")["world"]
        news = self.world["screen"][len(before["screen"]) :]
        written = {name: text for name, text in self.world["files"].items() if before["files"].get(name) != text}
        if kind == "WriteLocal" and result == "done" and not written:
            return zoo.UNKNOWN
        return zoo.done(result["content"] if isinstance(result, dict) else None, news, written)


def make(initial: Initial) -> Adapter:
    """A fresh session."""
    return Adapter(initial)
