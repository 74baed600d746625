"""The adapter of `node_lines`: one Node process, a line for each question; a new run begins with a `world`.

evenhand check apcm --adapter benchmarks.zoo.apcm.node_lines.adapter:make --reading previous=last_submitted \
    --reading first_step_mode=maintain_means_empty --reading pair_arity=may_repeat
"""

from __future__ import annotations

import json
import select
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.zoo.apcm import adapting as zoo
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
NAMES = dict(zip(zoo.SETS, ("av", "rp", "pairs"), strict=True))
NOT_READ = ("E_SHAPE", "E_UNKNOWN_PREFERENCE")
PATIENCE = 1.0
"""Seconds after which the program is taken to be silent."""


class Program:
    """The kernel's process, begun when it is first asked."""

    process: subprocess.Popen[str] | None = None

    @classmethod
    def ask(cls, op: str, **line: Any) -> Any:
        """The answer to one line, empty if there is none.  Raises RuntimeError if the process has ended."""
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
            return {}
        answer = cls.process.stdout.readline()
        if not answer:
            raise RuntimeError("the program has ended")
        return json.loads(answer)


class Adapter(zoo.Adapter):
    """One run of the program."""

    readings: ClassVar[dict[str, str]] = {
        "previous": "last_submitted", "first_step_mode": "maintain_means_empty", "pair_arity": "may_repeat",
    }  # fmt: skip

    def begin(self) -> None:
        Program.ask("world", prefs=self.config["preferences"], actions=self.config["actions"])
        self.phase, self.permitted, self.previous = "step", list[str](), None

    def submit(self, told: Json) -> Json:
        if self.phase == "step" and (refused := self.publish()):
            return refused
        if self.phase == "justify":
            self.learn()
        made = zoo.artifact(told, self.cited(told), arrays=True)
        if made is None:
            raise Unsupported("no artefact")
        line = {NAMES[name]: made[name] for name in zoo.SETS if name in made}
        if "precedent_reference" in made:
            line["ref"] = made["precedent_reference"]
        if "conflict_resolution" in made:
            resolution = made["conflict_resolution"]
            line |= {"mode": resolution["mode"], "prev": resolution["previous_artifact_digest"]}
        answer = Program.ask("justify", **line)
        if answer.get("no") == "not now":
            return zoo.REJECTED
        self.look()
        self.permitted = answer.get("permitted", [])
        known: dict[str, Json] = {}
        codes = answer.get("codes", [])
        if self.phase == "select":
            known = dict.fromkeys(("fields", "mode", "forbidden", "revision"), zoo.UNKNOWN)
        else:
            record = Program.ask("log")["log"][-1]
            read = not set(codes) & set(NOT_READ)
            known = {
                "fields": zoo.fields(record["av"], record["rp"], groups(record["pairs"])) if read else None,
                "mode": record["mode"] or "", "forbidden": record["forbidden"], "revision": record["revision"],
                "gridlock": record["gridlock"] and bool(answer), "halt": record["halt"],
            }  # fmt: skip
        return zoo.shown(
            "submit", artifact=zoo.UNKNOWN, compile_ok=answer.get("ok", zoo.UNKNOWN),
            permitted=self.permitted, offered=self.permitted,
            errors=zoo.errors(codes, told, answer.get("idle"), alone=["E_PREVIOUS", *NOT_READ]), **known,
        )  # fmt: skip

    def publish(self) -> Json:
        """The next step; returns what is shown if it is refused."""
        feasible, apcm = zoo.situation(self.situation(), arrays=True, keys_are_feasible=True)
        if len(set(feasible)) < len(feasible):
            raise Unsupported("a feasible action twice")
        names = {"violates": "against", "satisfies": "for"}
        facts = {action: {names[side]: value for side, value in entry.items()} for action, entry in apcm.items()}
        answer = Program.ask("step", feasible=facts)
        self.look()
        return None if answer["ok"] else zoo.INVALID

    def look(self) -> None:
        """Where the run is."""
        state = Program.ask("state")
        self.phase, self.turn = state["phase"], state["step"]

    def learn(self) -> None:
        """Learn by what the previous artefact is to be cited."""
        self.previous = Program.ask("brief")["previous"]
        if self.previous:
            told = zoo.fields(self.previous["av"], self.previous["rp"], groups(self.previous["pairs"]))
            self.know(told, self.previous["digest"])

    def select(self, action: str) -> Json:
        answer = Program.ask("select", action=action)
        if not answer["ok"]:
            return zoo.REJECTED
        self.look()
        record = Program.ask("log")["log"][-1]
        return zoo.shown("select", selected=answer["executed"], selected_violates=record["violates"])

    def facts(self) -> Json:
        """What the program tells."""
        permitted = self.permitted if self.phase == "select" else []
        return self.told(self.turn, zoo.UNKNOWN, permitted, self.phase == "invalid")


def groups(told: list[list[str]]) -> list[list[str]]:
    """The pairs, which the program keeps as sets: one member stands for a preference named twice."""
    return sorted(one * 2 if len(one) == 1 else one for one in told)


def make(initial: Initial) -> Adapter:
    """A fresh run."""
    return Adapter(initial)
