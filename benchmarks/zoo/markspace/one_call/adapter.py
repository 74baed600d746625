"""Adapter of the notice board.

`perform` asks and works in one call, so nothing else happens between the guard's answer and the end of the work.  The
work of whom it has confidence 0 in fails.
"""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.zoo.markspace import words
from benchmarks.zoo.markspace.adapting import Adapter, Unsupported
from benchmarks.zoo.markspace.one_call.kernel import Board
from benchmarks.zoo.markspace.words import ROOM

KINDS = {"intent": "plan", "action": "deed", "observation": "sighting", "warning": "alarm", "need": "question"}
FIELDS = {
    "resource": "thing", "action": "verb", "confidence": "sureness", "result": "outcome", "content": "details",
    "source": "origin", "reason": "because", "severity": "level", "context": "background", "priority": "urgency",
    "blocking": "waiting", "initial_strength": "weight", "supersedes": "replaces", "invalidates": "refutes",
}  # fmt: skip
NEED = {**FIELDS, "question": "text"}
ORIGINS = {"fleet": "own", "external_verified": "checked", "external_unverified": "rumour"}
SIGHTS = {"open": "open", "protected": "veiled", "classified": "secret"}
RULES = {"first_writer": "first", "highest_confidence": "surest", "yield_all": "askBoss"}
ANSWERS = {"go": "ALLOW", "taken": "CONFLICT", "wait": "BLOCKED", "no": "DENIED"}


class Notices(Adapter):
    """Calls the board."""

    systems: ClassVar[tuple[str, ...]] = ("first_writer", "yield_all", "deferred", "meddled", "space", "signals")
    atomic = True

    def begin(self, start: Any) -> None:
        super().begin(start)
        if self.system == "signals":
            self.make([words.scope_of(ROOM)], [], "pat")

    def policy_of(self, policy: str) -> str:
        return "first_writer" if policy == "highest_confidence" else policy

    def make(self, scopes: list[Any], agents: list[Any], principal: str) -> None:
        areas = {
            one["name"]: {
                "plans": one["allowed_intent_verbs"], "deeds": one["allowed_action_verbs"],
                "sightings": one["observation_topics"], "alarms": one["warning_topics"],
                "planLife": one["decay"]["intent_ttl"], "sightingHalf": one["decay"]["observation_half_life"],
                "alarmHalf": one["decay"]["warning_half_life"], "rule": RULES[one["conflict_policy"]],
                "batch": one["deferred"], "sight": SIGHTS[one["visibility"]],
            } for one in scopes
        }  # fmt: skip
        members: dict[str, Any] = {}
        for one in agents:
            may: dict[str, list[str]] = {}
            for row in one["permissions"]:
                may.setdefault(row["scope"], []).extend(KINDS[kind] for kind in row["mark_types"])
            members[one["id"]] = {"may": may, "sees": one["read_scopes"]}
        self.board = Board({"boss": principal, "members": members, "areas": areas}, words.defects())
        self.worked: list[tuple[str, bool]] = []

    def plain(self, note: Any) -> Any:
        """A note in the text's words."""
        if note is None:
            return None
        kind = next(kind for kind, name in KINDS.items() if name == note["kind"])
        found = {name: note[own] for name, own in (NEED if kind == "need" else FIELDS).items() if own in note}
        found |= {name: note[name] for name in ("topic", "failed") if name in note}
        if "now" in note:
            found["effective_strength"] = note["now"]
        if kind == "action":
            found.setdefault("failed", False)
        return {"id": note["noteId"], "mark_type": kind, "scope": note["area"], "agent_id": note["by"],
                "created_at": note["since"], "projected": note["veiled"], "resolved_by": note.get("answer"),
                "supersedes": None, **found}  # fmt: skip

    def said(self, call: Any, *args: Any, **fields: Any) -> tuple[str | None, str]:
        try:
            return call(*args, **fields), ""
        except ValueError as error:
            return None, str(error)

    def write(self, agent: str, mark: dict[str, Any]) -> tuple[str | None, str]:
        names = NEED if mark["mark_type"] == "need" else FIELDS
        fields = {names.get(name, name): value for name, value in mark.items() if name not in ("mark_type", "scope")}
        if "origin" in fields:
            fields["origin"] = ORIGINS[fields["origin"]]
        return self.said(self.board.post, agent, KINDS[mark["mark_type"]], mark["scope"], **fields)

    def tool(self, agent: str, *, fails: bool) -> Any:
        """A tool that notes that it has worked."""

        def work() -> Any:
            self.worked.append((agent, fails))
            if fails:
                raise RuntimeError("this tool fails")
            return {"text": ""}

        return work

    def decided(self, found: Any) -> dict[str, Any]:
        others = [self.plain(one) for one in found["others"]]
        return {"verdict": ANSWERS[found["answer"]], "reason": found["why"], "intent_id": found["plan"],
                "winning_intent": self.plain(found["winner"]), "conflicting_intents": others}  # fmt: skip

    def pre(self, agent: str, resource: str, confidence: float) -> dict[str, Any]:
        tool = self.tool(agent, fails=confidence < 0.52)
        return self.decided(self.pass_on([resource, confidence], agent, tool))

    def pass_on(self, asked: Any, agent: str, tool: Any) -> Any:
        """The answer to an agent that asks for a thing with a sureness, which may be anything."""
        if not isinstance(asked, list) or len(asked) != 2:
            raise Unsupported("the call itself is the host's")
        return self.board.perform(agent, ROOM, asked[0], ("book", "booked"), asked[1], tool)

    def post(self, agent: str, resource: str, intent: str, *, failed: bool) -> tuple[str | None, str]:
        if (agent, failed) not in self.worked:
            raise Unsupported("the tool has ended otherwise")
        self.worked.clear()
        deeds = [note for note in self.board.look(ROOM, least=0, kind="deed") if note["by"] == agent]
        return (max(note["noteId"] for note in deeds), "") if deeds else ("", "")

    def boundary(self, resource: str) -> dict[str, dict[str, Any]]:
        if self.allowed or self.running:
            raise Unsupported("nothing happens while a tool works")
        return {agent: self.decided(one) for agent, one in self.board.settle(ROOM, resource).items()}

    def pass_time(self, seconds: int) -> None:
        if self.allowed or self.running:
            raise Unsupported("nothing happens while a tool works")
        self.board.wait(seconds)

    def read(self, scope: str, reader: str | None, least: float = 0.01) -> list[dict[str, Any]]:
        return [self.plain(note) for note in self.board.look(scope, reader, least)]

    def needs(self) -> list[dict[str, Any]]:
        return [
            {"scope": row["area"], "needs": [self.plain(one) for one in row["questions"]],
             "effective_priority": row["urgency"], "blocking_count": row["waiting"], "contexts": row["backgrounds"]}
            for row in self.board.openQuestions()
        ]  # fmt: skip

    def resolve(self, need: str, action: str) -> tuple[str | None, str]:
        return self.said(self.board.answerQuestion, need, action)

    def strength(self, mark: str) -> float:
        return self.board.weigh(mark)

    def together(self, strengths: list[float]) -> float:
        return self.board.together(strengths)


def make(initial: Any) -> Notices:
    """Return the kernel of one scenario."""
    return Notices(initial)
