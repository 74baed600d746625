"""The adapter of `one_call`, which judges and carries out in one call.

evenhand check sovereign --adapter benchmarks.zoo.sovereign.one_call.adapter:make --reading budget_count=sum \
    --reading negative_budget=accept --reading path_rule=normal_form
"""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.zoo.sovereign import adapting as zoo
from benchmarks.zoo.sovereign.one_call.kernel import Steward
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
REASONS = {"NOTHING_ADMITTED": "NO_ADMISSIBLE_ACTION"}


class Adapter(zoo.Adapter):
    """One steward."""

    readings: ClassVar[dict[str, str]] = {"budget_count": "sum", "negative_budget": "accept"}
    systems = ("candidates", "lists", "session")
    limits_at = "/maxTokens"
    takes_no_ids = True
    at_once = True

    def begin(self) -> None:
        self.steward = Steward(defects=zoo.defects())
        self.files = self.steward.files = zoo.Files(zoo.files_of(self.config["tree"]))

    def decide(self, told: Json, candidates: Json) -> dict[str, Any]:
        sightings = [{"id": zoo.observation_id(one), "kind": one["kind"], "what": self.payload(one)} for one in told]
        before = len(self.steward.shown)
        self.files.written.clear()
        answer = self.pass_on([self.wish(one) for one in candidates], sightings)
        if answer["decision"] is None:
            raise Unsupported(answer["why"])
        found = {"kind": answer["decision"], "time": answer["at"], "gate": answer.get("failedGate")}
        found["reason"] = REASONS.get(answer.get("code"), answer.get("code"))
        if answer["decision"] == "ACTION":
            do = dict(answer["wish"]["do"])
            deed = do.pop("deed")
            content = answer["result"] if deed == "ReadLocal" else None
            found |= {"request": zoo.request(deed, do), "at": answer["at"]}
            found["effects"] = zoo.done(content, self.steward.shown[before:], self.files.written)
        return found

    def pass_on(self, wishes: Any, sightings: Any) -> Any:
        """The answer to some wishes, which may be anything."""
        return self.steward.act(sightings, zoo.many(wishes))

    def wish(self, told: Json) -> Any:
        """A candidate in the steward's words."""
        bundle = self.bundle(told)
        asked, scope = bundle["action_request"], bundle.get("scope_claim")
        found = {"by": bundle["author"], "do": {"deed": asked["action_type"], **asked["fields"]},
                 "cites": bundle["authority_citations"]}  # fmt: skip
        if scope:
            found["scope"] = {"claim": scope["claim"], "clause": scope["clause_ref"], "seen": scope["observation_ids"]}
        if "justification" in bundle:
            found["because"] = bundle["justification"]["text"]
        return found


def make(initial: Initial) -> Adapter:
    """A fresh steward."""
    return Adapter(initial)
