"""The adapter of `dict_functions`.

evenhand check apcm --adapter benchmarks.zoo.apcm.dict_functions.adapter:make
"""

from __future__ import annotations

from typing import Any

from benchmarks.zoo.apcm import adapting as zoo
from benchmarks.zoo.apcm.dict_functions import kernel
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
CONDITIONS = {"MVRA": "mvra", "ASB_NULL": "asb", "BYPASS": "bypass"}
NOT_READ = ("E_SCHEMA", "E_UNKNOWN_PREFERENCE")


class Adapter(zoo.Adapter):
    """One run, which is a dict."""

    conditions = tuple(CONDITIONS)

    def begin(self) -> None:
        self.condition = CONDITIONS[self.config["condition"]]
        steps = []
        for told in self.world():
            feasible, apcm = zoo.situation(told)
            if len(set(feasible)) < len(feasible):
                raise Unsupported("a feasible action twice")
            steps.append({"feasible": feasible, "apcm": apcm})
        world = {"preferences": self.config["preferences"], "actions": self.config["actions"], "steps": steps}
        self.run: dict[str, Any] = kernel.new_run(world, zoo.defects(), self.condition)
        if self.run["phase"] == "invalid" and not self.run["log"][0]["why"].startswith("step 0:"):
            raise Unsupported("a world that is bad in a later step, which is invalid at once")

    def records(self) -> list[Any]:
        """The records of the steps that have ended."""
        return [one for one in self.run["log"] if "step" in one]

    def submit(self, told: Json) -> Json:
        self.situation()
        if self.run["phase"] == "invalid":
            return zoo.INVALID
        if self.run["phase"] == "done":
            raise Unsupported("a step after the last one")
        if self.condition == "asb":
            return self.baseline()
        ended = len(self.records())
        bypassed = self.condition == "bypass"
        artifact = zoo.lazy(self.config["preferences"], None) if bypassed else zoo.artifact(told, self.cited(told))
        answer: Any = kernel.submit(self.run, artifact)
        if not answer["ok"] and "codes" not in answer:
            return zoo.REJECTED
        closed = len(self.records()) > ended
        record = self.records()[-1] if closed else self.run["record"]
        self.turn += closed
        permitted = [] if closed else self.run["permitted"]
        if bypassed:
            return zoo.shown(
                "submit", artifact=zoo.UNKNOWN, fields=zoo.UNKNOWN, mode=zoo.UNKNOWN, compile_ok=zoo.UNKNOWN,
                errors=zoo.UNKNOWN, forbidden=record["forbidden_actions"], permitted=permitted, offered=permitted,
                halt=record["halt"], gridlock=record["gridlock"], revision=zoo.UNKNOWN,
            )  # fmt: skip
        codes = answer.get("codes", [])
        read = not set(codes) & set(NOT_READ)
        told_fields = zoo.fields(record["AV"], record["RP"], record["conflict_attribution"])
        prose = record["why"].partition("not a last resort: ")[2]
        idle = prose.split(";")[0].split(", ") if zoo.GRATUITOUS in codes else None
        return zoo.shown(
            "submit", artifact=zoo.UNKNOWN, fields=told_fields if read else None, mode=record["mode"] or "",
            compile_ok=record["compile_ok"],
            errors=zoo.errors(codes, told, idle, alone=["E_DIGEST_MISMATCH", *NOT_READ]),
            forbidden=record["forbidden_actions"], permitted=permitted, offered=permitted,
            halt=record["halt"], gridlock=record["gridlock"], revision=record["revision_event"],
        )  # fmt: skip

    def baseline(self) -> Json:
        """A step without artefacts, which begins without being asked."""
        if self.asked:
            raise Unsupported("asked twice in a step that asks for nothing")
        if self.run["step"] > self.turn:
            record = self.records()[self.turn]
            self.turn += 1
            return zoo.shown("submit", gridlock=record["gridlock"], halt=record["halt"])
        self.asked = True
        return zoo.shown("submit", permitted=self.run["permitted"], offered=self.run["permitted"])

    def select(self, action: str) -> Json:
        if self.condition == "asb" and not self.asked:
            raise Unsupported("a selection in a step that was not begun")
        answer = kernel.select(self.run, action)
        if not answer["ok"]:
            return zoo.REJECTED
        self.turn, self.asked = self.turn + 1, False
        record = self.records()[self.turn - 1]
        violated = record.get("selected_action_violates", ["not told"])
        return zoo.shown("select", selected=answer["executed"], selected_violates=violated)

    def facts(self) -> Json:
        """What stands in the dict."""
        previous = self.run["previous"]
        if self.condition == "mvra":
            told = previous and zoo.fields(
                sorted(previous[zoo.SETS[0]]), sorted(previous[zoo.SETS[1]]),
                sorted(map(sorted, previous[zoo.SETS[2]])),
            )  # fmt: skip
        else:
            told = zoo.UNKNOWN
        ready = self.run["phase"] == "select" and (self.asked or self.condition != "asb")
        return self.told(self.turn, told, self.run["permitted"] if ready else (), self.run["phase"] == "invalid")


def make(initial: Initial) -> Adapter:
    """A fresh run."""
    return Adapter(initial)
