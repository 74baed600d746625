"""Adapter of the fleet of generators.

Each agent's program yields what the checker asks next, and has the reply in its next turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from benchmarks.zoo.markspace import words
from benchmarks.zoo.markspace.adapting import Adapter, Unsupported
from benchmarks.zoo.markspace.generators.kernel import Fleet, Refused
from benchmarks.zoo.markspace.words import GUARDS, ROOM, enum

STOPPED = "rejected: the token budget is used up"
"""What the fleet says of an activation that it rejects."""


class Generators(Adapter):
    """Lets the agents take turns."""

    systems: ClassVar[tuple[str, ...]] = (*GUARDS, "space", "signals", "layers")

    def begin(self, start: Any) -> None:
        if self.system != "layers":
            super().begin(start)
            return
        if [one["name"] for one in self.config["layers"]["$set"]] != ["BUDGET"]:
            raise Unsupported("layers other than the budget")
        if start["stored"] or any(any(used) for used in start["budget"]["used"]):
            raise Unsupported("a start in the middle of a run")
        self.ceiling = {name: list(self.config["budget"]) for name in self.config["agents"]}
        budget = self.budget_of(*self.config["budget"])
        kinds = ["observation", "need"]
        rows = [{"scope": name, "mark_types": kinds} for name in self.config["scopes"]]
        agents = [
            {"id": name, "read_scopes": [], "permissions": rows, "budget": budget} for name in self.config["agents"]
        ]
        self.make([words.scope_of(name) for name in self.config["scopes"]], agents, "pat")

    def budget_of(self, spent: int | None, said: int | None) -> dict[str, Any]:
        """A budget in the text's words."""
        found = {"max_input_tokens_total": spent, "max_output_tokens_total": said}
        return {"warning_fraction": words.number(self.config["fraction"]), **found}

    def make(self, scopes: list[Any], agents: list[Any], principal: str) -> None:
        self.next: dict[str, Any] = {}
        programs = {one["id"]: self.program(one["id"]) for one in agents}
        self.k = Fleet({"scopes": scopes, "agents": agents, "principal": principal}, programs, words.defects())

    def program(self, name: str) -> Iterator[Any]:
        """An agent: it yields what is asked of it."""
        while True:
            yield self.next.pop(name, {"do": "nothing"})

    def ask(self, agent: str, **request: Any) -> Any:
        """The reply to a request, made in a turn of the agent; None for one who takes no turns."""
        if agent not in self.k.programs:
            return None
        self.next[agent] = request
        known = len(self.k.history)
        self.k.step(agent)
        return self.k.history[-1][3] if len(self.k.history) > known else None

    def said(self, reply: Any) -> tuple[str | None, str]:
        if not isinstance(reply, dict):
            return None, reply or "nobody of the fleet"
        return reply.get("id"), reply.get("error", "")

    def write(self, agent: str, mark: dict[str, Any]) -> tuple[str | None, str]:
        return self.said(self.ask(agent, do="write", mark=mark))

    def pre(self, agent: str, resource: str, confidence: float) -> dict[str, Any]:
        if agent not in self.k.programs:
            raise Unsupported("somebody who takes no turns")
        request = {"scope": ROOM, "resource": resource, "action": "book", "confidence": confidence}
        return self.ask(agent, do="pre", **request)

    def post(self, agent: str, resource: str, intent: str, *, failed: bool) -> tuple[str | None, str]:
        mark = {"scope": ROOM, "resource": resource, "action": "booked", "result": {}, "failed": failed}
        return self.said(self.ask(agent, do="post", intent_id=intent, mark=mark))

    def boundary(self, resource: str) -> dict[str, dict[str, Any]]:
        return self.k.boundary(ROOM, resource)

    def pass_time(self, seconds: int) -> None:
        if self.config.get("deferred"):
            self.k.marks.now += seconds
            return
        for _ in range(seconds):
            self.k.end_round()

    def read(self, scope: str, reader: str | None, least: float = 0.01) -> list[dict[str, Any]]:
        return self.k.marks.read(scope, reader, least)

    def needs(self) -> list[dict[str, Any]]:
        return self.k.aggregate_needs()

    def resolve(self, need: str, action: str) -> tuple[str | None, str]:
        try:
            return self.k.resolve(need, action), ""
        except Refused as error:
            return None, str(error)

    # the budget

    def on_operation(self, a: Any) -> Any:
        """An operation under a budget of tokens."""
        op, agent, sides = a["op"]["name"], a["agent"], ("input", "output")
        known = {one["id"] for row in self.needs() for one in row["needs"]}
        if op == "ROUND":
            reply = self.ask(agent, do="spend", **dict(zip(sides, a["tokens"], strict=True)))
            refused = reply if isinstance(reply, str) else reply.get("error", "")
        elif op == "RAISE":
            if a["token"] != "principal's token":
                raise Unsupported("only the principal's own program raises a budget")
            both = zip(self.ceiling[agent], a["tokens"], strict=True)
            self.ceiling[agent] = [None if old is None else old + more for old, more in both]
            self.k.set_budget(agent, self.budget_of(*self.ceiling[agent]))
            refused = ""
        elif op == "WRITE":
            kind = a["kind"]["name"].lower()
            if kind not in ("observation", "need"):
                raise Unsupported("intents and actions go through the guard")
            mark = {"mark_type": kind, "scope": a["scope"]}
            mark |= {"topic": "x", "content": {}, "confidence": 1.0, "source": "fleet"} if kind == "observation" else {
                "question": "why", "context": {}, "priority": 0.5, "blocking": False}  # fmt: skip
            written, refused = self.write(agent, mark)
            if refused == STOPPED:
                raise Unsupported("an agent that is not activated has no turn to write in")
            known.add(written or "")
        else:
            raise Unsupported(f"no {op}")
        new = [one for row in self.needs() for one in row["needs"] if one["id"] not in known]
        told = [[agent, one["blocking"], "input" if "input" in one["question"] else "output"] for one in new]
        by = enum("Layer", "BUDGET") if op == "ROUND" and refused else None
        return {"$": "Outcome", "accepted": not refused, "why": refused, "by": by, "needs": {"$bag": told}}


def make(initial: Any) -> Generators:
    """Return the kernel of one scenario."""
    return Generators(initial)
