"""The adapter of `one_call`, which checks and carries out in one call.

evenhand check apcm --adapter benchmarks.zoo.apcm.one_call.adapter:make --reading previous=last_submitted

A copy of the engine is asked first, with a `pick` that only looks; the engine itself is asked when a selection comes.
What was carried out is what `carryOut` was called with.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from benchmarks.zoo.apcm import adapting as zoo
from benchmarks.zoo.apcm.one_call.kernel import Engine, fingerprint
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
NAMES = dict(zip(zoo.SETS, ("waive", "keep", "clashes"), strict=True))
NOT_READ = ("badPlea", "unknownNorm")


class Looked(Exception):
    """A pick that only looks."""


class Adapter(zoo.Adapter):
    """One engine."""

    readings: ClassVar[dict[str, str]] = {"previous": "last_submitted"}
    one_submission = True

    def begin(self) -> None:
        self.engine = Engine(self.config["preferences"], self.config["actions"], defects=zoo.defects())
        self.open: list[str] = []
        self.request: Any = None

    def submit(self, told: Json) -> Json:
        feasible, apcm = zoo.situation(self.situation(), keys_are_feasible=True)
        if len(set(feasible)) < len(feasible):
            raise Unsupported("a feasible action twice")
        names = {"violates": "breaks", "satisfies": "meets"}
        world = {action: {names[side]: value for side, value in entry.items()} for action, entry in apcm.items()}
        self.learn()
        made = zoo.artifact(told, self.cited(told))
        self.request = {"world": world, "plea": self.plea(made)}
        trial = copy.deepcopy(self.engine)

        def look(permitted: Any) -> Any:
            self.open = sorted(permitted)
            raise Looked

        trial.pick = look
        try:
            answer = trial.takeStep(self.request)
        except Looked:
            self.asked = True
            revised = made["conflict_resolution"]["mode"] == "REVISE"
            return zoo.shown(
                "submit", artifact=zoo.UNKNOWN, fields=zoo.UNKNOWN, mode=zoo.UNKNOWN, compile_ok=True,
                forbidden=sorted(set(world) - set(self.open)), permitted=self.open, offered=self.open,
                revision=revised,
            )  # fmt: skip
        self.engine, self.open = trial, []
        if "invalid" in answer:
            return zoo.INVALID
        self.turn += 1
        read = answer.get("halted") not in NOT_READ
        halted = "halted" in answer
        return zoo.shown(
            "submit", artifact=zoo.UNKNOWN, fields=zoo.UNKNOWN if read else None, mode=zoo.UNKNOWN if read else "",
            compile_ok=not halted, errors=zoo.UNKNOWN if halted else [], halt=halted,
            forbidden=zoo.UNKNOWN if not halted else [], gridlock="gridlock" in answer,
            revision=answer.get("revised", zoo.UNKNOWN),
        )  # fmt: skip

    def learn(self) -> None:
        """Learn by what the last plea is to be cited."""
        if self.engine.last:
            av, rp, pairs = self.engine.last
            try:
                self.know(zoo.fields(sorted(av), sorted(rp), sorted(map(sorted, pairs))), fingerprint(av, rp, pairs))
            except TypeError:
                return

    def plea(self, made: Any) -> Any:
        """A plea; what is missing stays missing."""
        if made is None:
            return None
        found = {NAMES[name]: made[name] for name in zoo.SETS if name in made}
        if "precedent_reference" in made:
            found["precedent"] = made["precedent_reference"]
        if "conflict_resolution" in made:
            resolution = made["conflict_resolution"]
            found |= {"stance": resolution["mode"], "since": resolution["previous_artifact_digest"]}
        return found

    def select(self, action: str) -> Json:
        done: list[str] = []
        self.engine.pick = lambda permitted: action
        self.engine.carryOut = done.append
        answer = self.engine.takeStep(self.request)
        self.engine.pick, self.engine.carryOut = min, print
        self.turn, self.asked, self.open = self.turn + 1, False, []
        if "refused" in answer and not done:
            self.spent = True
            return zoo.REJECTED
        return zoo.shown("select", selected=done[0] if done else "", selected_violates=answer.get("broke", []))

    def facts(self) -> Json:
        """What the engine tells; a plea that waits has not reached it yet."""
        if self.spent:
            return {}
        told: Json = zoo.UNKNOWN
        if not self.asked:
            last = self.engine.last
            told = last and zoo.fields(*map(sorted, last[:2]), sorted(map(sorted, last[2])))
        return self.told(self.engine.look()["step"], told, self.open, bool(self.engine.over))


def make(initial: Initial) -> Adapter:
    """A fresh engine."""
    return Adapter(initial)
