"""The adapter of `plain_dicts`.

evenhand check sovereign --adapter benchmarks.zoo.sovereign.plain_dicts.adapter:make --reading budget_count=sum \
    --reading path_rule=normal_form
"""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.zoo.sovereign import adapting as zoo
from benchmarks.zoo.sovereign.plain_dicts import kernel
from evenhand.conform.adapters import Initial, Unsupported

Json = Any


class Adapter(zoo.Adapter):
    """One kernel, which is a dict."""

    readings: ClassVar[dict[str, str]] = {"budget_count": "sum"}
    limits_at = "/limits"
    takes_no_ids = whole_exits = True

    def begin(self) -> None:
        self.k: dict[str, Any] = kernel.new_kernel(files=zoo.files_of(self.config["tree"]), defects=zoo.defects())
        self.k["files"] = zoo.Files(self.k["files"])

    def decide(self, told: Json, candidates: Json) -> dict[str, Any]:
        self.finish()
        for one in told:
            payload = self.payload(one)
            self.ids[zoo.observation_id(one)] = kernel.observe(self.k, one["kind"], payload, one["created_at"])
        try:
            answer = self.pass_on([self.bundle(one) for one in candidates])
        except RuntimeError as error:
            raise Unsupported(str(error)) from error
        warrant = answer.get("warrant")
        found = {"kind": answer["decision"], "reason": answer.get("code"), "gate": answer.get("failed_gate")}
        found["time"] = warrant["created_at"] if warrant else answer["created_at"]
        if warrant:
            asked = answer["bundle"]["action_request"]
            found |= {"own": warrant, "at": warrant["created_at"]}
            found["request"] = zoo.request(asked["action_type"], asked["fields"])
        return found

    def pass_on(self, bundles: Any) -> Any:
        """The decision about some candidates, which may be anything."""
        return kernel.decide_cycle(self.k, zoo.many(bundles))

    def carry_out(self, own: Any) -> list[Json] | None:
        before = len(self.k["screen"])
        self.k["files"].written.clear()
        answer = kernel.execute(self.k, own)
        if not answer["done"]:
            return None
        return zoo.done(answer.get("content"), self.k["screen"][before:], self.k["files"].written)

    def finish(self) -> None:
        if self.k["open"]:
            kernel.finish_cycle(self.k)

    def forge(self) -> Any:
        return {"id": "w-forged", "cycle": self.k["cycle"], "single_use": True}


def make(initial: Initial) -> Adapter:
    """A fresh kernel."""
    return Adapter(initial)
