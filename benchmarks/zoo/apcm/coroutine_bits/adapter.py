"""The adapter of `coroutine_bits`, which can only be answered what it asks.

evenhand check apcm --adapter benchmarks.zoo.apcm.coroutine_bits.adapter:make
"""

from __future__ import annotations

from typing import Any

from benchmarks.zoo.apcm import adapting as zoo
from benchmarks.zoo.apcm.coroutine_bits import kernel
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
CONDITIONS = {"MVRA": "mvra", "ASB_NULL": "asb", "BYPASS": "bypass"}


class Adapter(zoo.Adapter):
    """One coroutine."""

    conditions = tuple(CONDITIONS)
    one_submission = True

    def begin(self) -> None:
        self.condition = CONDITIONS[self.config["condition"]]
        steps = []
        for told in self.world():
            feasible, apcm = zoo.situation(told, keys_are_feasible=True)
            if len(set(feasible)) < len(feasible):
                raise Unsupported("a feasible action twice")
            steps.append(apcm)
        world = {"preferences": self.config["preferences"], "actions": self.config["actions"], "steps": steps}
        self.log: list[Any] = []
        self.run = kernel.machine(world, self.log, self.condition, 0, zoo.defects())
        self.wants: tuple[str, Any] = ("", None)
        self.answer(None)
        if self.invalid() and len(self.config["situations"]) > 1:
            raise Unsupported("a world that is bad somewhere, which is invalid at once")

    def answer(self, value: Any) -> None:
        """Answer what the coroutine asked."""
        try:
            self.wants = self.run.send(value)
        except StopIteration:
            self.wants = ("", None)

    def invalid(self) -> bool:
        """Whether the world was refused."""
        return bool(self.log) and "invalid" in self.log[0]

    def record(self) -> Any:
        """The record of this step, or None."""
        return next((one for one in self.log if one["step"] == self.turn), None)

    def submit(self, told: Json) -> Json:
        self.situation()
        if self.invalid():
            return zoo.INVALID
        if self.condition == "asb":
            return self.waiting() if self.record() is None else self.ended(told)
        if self.wants[0] != "justify":
            raise Unsupported("a step after the last one")
        previous = self.wants[1]["previous"]
        if previous:
            listed = previous["AV"], previous["RP"], previous["conflict_attribution"]
            self.know(zoo.fields(*listed), self.wants[1]["previous_digest"])
        if self.condition == "bypass":
            self.answer(zoo.lazy(self.config["preferences"], self.wants[1]["previous_digest"]))
        else:
            self.answer(zoo.artifact(told, self.cited(told)))
        if self.wants[0] == "select":
            return self.waiting()
        if self.record() is None:  # it asks again
            return zoo.shown("submit", artifact=zoo.UNKNOWN, fields=zoo.UNKNOWN, mode=zoo.UNKNOWN,
                             compile_ok=zoo.UNKNOWN, errors=zoo.UNKNOWN, revision=zoo.UNKNOWN)  # fmt: skip
        return self.ended(told)

    def waiting(self) -> Json:
        """A step that waits for a selection; its record comes afterwards."""
        self.asked, permitted = True, sorted(self.wants[1])
        if self.condition == "asb":
            return zoo.shown("submit", permitted=permitted, offered=permitted)
        return zoo.shown(
            "submit", artifact=zoo.UNKNOWN, fields=zoo.UNKNOWN, mode=zoo.UNKNOWN, compile_ok=zoo.UNKNOWN,
            errors=zoo.UNKNOWN, forbidden=zoo.UNKNOWN, permitted=permitted, offered=permitted, revision=zoo.UNKNOWN,
        )  # fmt: skip

    def ended(self, told: Json) -> Json:
        """A step that ended without a selection."""
        record = self.record()
        self.turn += 1
        parts = [one.split(":") for one in record["compile_errors"]]
        codes = [code for code, *_ in parts]
        idle = next((named for code, *named in parts if code == zoo.GRATUITOUS), None)
        told_fields = zoo.fields(record["AV"], record["RP"], record["conflict_attribution"])
        known: dict[str, Json] = dict.fromkeys(
            ("artifact", "fields", "mode", "compile_ok", "errors", "revision"), zoo.UNKNOWN
        )
        if self.condition == "mvra":
            known |= {
                "fields": None if "E_SCHEMA" in codes else told_fields, "mode": record["mode"] or "",
                "compile_ok": record["compile_ok"], "revision": record["revision_event"],
                "errors": zoo.errors(codes, told, idle, alone=["E_PREVIOUS_DIGEST", "E_SCHEMA"]),
            }  # fmt: skip
        elif self.condition == "asb":
            known = {}
        return zoo.shown("submit", **known, forbidden=record["forbidden_actions"], gridlock=record["gridlock"],
                         halt=record["halt"])  # fmt: skip

    def select(self, action: str) -> Json:
        permitted = self.wants[1]
        self.answer(action)
        record, self.asked = self.record(), False
        self.turn += 1
        if record["selected_action"] is None and action not in permitted:
            self.spent = True
            return zoo.REJECTED
        selected = record["selected_action"] or ""
        return zoo.shown("select", selected=selected, selected_violates=record["selected_action_violates"])

    def facts(self) -> Json:
        """What the coroutine asks for tells where it is."""
        if self.spent:
            return {}
        permitted = self.wants[1] if self.asked else ()
        told: Json = zoo.UNKNOWN
        if self.condition == "mvra" and self.wants[0] == "justify":
            previous = self.wants[1]["previous"]
            told = previous and zoo.fields(previous["AV"], previous["RP"], previous["conflict_attribution"])
        return self.told(self.turn, told, permitted, self.invalid())


def make(initial: Initial) -> Adapter:
    """A fresh coroutine."""
    return Adapter(initial)
