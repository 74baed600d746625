"""Adapter of the objects; give --reading own_intents=compete.

The caller is careless: it changes what it handed over or was handed, and one of its hooks adds another hook.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

from benchmarks.zoo.markspace import words
from benchmarks.zoo.markspace.adapting import Adapter, Unsupported
from benchmarks.zoo.markspace.classes import kernel
from benchmarks.zoo.markspace.words import GUARDS, ROOM

MARKS = {
    "intent": kernel.Intent, "action": kernel.Action, "observation": kernel.Observation, "warning": kernel.Warning,
    "need": kernel.Need,
}  # fmt: skip
FIRED: list[str] = []
"""The hooks that fired since the last write."""


class Objects(Adapter):
    """Calls the methods."""

    systems: ClassVar[tuple[str, ...]] = (*GUARDS, "space", "signals", "scheduling", "clock")
    readings: ClassVar[dict[str, str]] = {"own_intents": "compete"}

    def begin(self, start: Any) -> None:
        if self.system not in ("scheduling", "clock"):
            super().begin(start)
            return
        last = start["last"] if self.system == "clock" else start["since"]
        if any(one is not None for one in last):
            raise Unsupported("a start in the middle of a run")
        self.clock = kernel.Clock()
        self.scheduler = kernel.Scheduler(self.clock, words.defects())
        self.registered: set[str] = set()
        for (name, _), interval in zip(self.config["agents"], start["intervals"], strict=True):
            if interval is not None:
                self.scheduler.register(kernel.Agent(name=name, schedule_interval=float(interval)))
                self.registered.add(name)

    def make(self, scopes: list[Any], agents: list[Any], principal: str) -> None:
        self.clock, found = kernel.Clock(), words.defects()
        listed = ("allowed_intent_verbs", "allowed_action_verbs", "observation_topics", "warning_topics")
        made = []
        for one in scopes:
            fields = {name: tuple(value) if name in listed else value for name, value in one.items() if name != "decay"}
            made.append(kernel.Scope(**fields, **{name: float(value) for name, value in one["decay"].items()}))
        self.space = kernel.MarkSpace(made, self.clock, principal, found)
        self.guard = kernel.Guard(self.space)
        self.agents = {}
        for one in agents:
            scopes_of: dict[str, list[str]] = {}
            for row in one["permissions"]:
                scopes_of.setdefault(row["scope"], []).extend(row["mark_types"])
            self.agents[one["id"]] = kernel.Agent(
                name=one["id"], scopes=scopes_of, read_scopes=tuple(one["read_scopes"])
            )
        self.late: list[str] = []
        for name in self.config.get("hooks", []):
            self.space.add_write_hook(self.hook(name))

    def hook(self, name: str) -> Any:
        """A hook of this name; `failing` raises, the others add one more hook."""

        def called(_agent: Any, _mark: Any) -> None:
            if name == "failing":
                raise RuntimeError("this hook fails")
            FIRED.append(name)
            self.late.append(self.space.add_write_hook(lambda *_: FIRED.append("late")))

        return called

    def who(self, agent: str) -> Any:
        return self.agents.get(agent) or kernel.Agent(name=agent)

    def said(self, call: Any, *args: Any) -> tuple[str | None, str]:
        try:
            return call(*args), ""
        except kernel.Refused as error:
            return None, str(error)

    def write(self, agent: str, mark: dict[str, Any]) -> tuple[str | None, str]:
        FIRED.clear()
        fields = {name: value for name, value in mark.items() if name != "mark_type"}
        found = self.said(self.space.write, self.who(agent), MARKS[mark["mark_type"]](**fields))
        for handle in self.late:
            self.space.remove_write_hook(handle)
        self.late.clear()
        for value in mark.values():
            if isinstance(value, dict):
                value["text"] = "changed by its writer"
        return found

    def fired(self) -> dict[str, Any]:
        return {"hooked": list(FIRED)}

    def plain(self, mark: Any) -> Any:
        return mark and {**asdict(mark), "mark_type": mark.kind, "created_at": int(mark.created_at)}

    def decided(self, found: Any) -> dict[str, Any]:
        others = [self.plain(one) for one in found.conflicting_intents]
        return {"verdict": found.verdict, "reason": found.reason, "intent_id": found.intent_id,
                "winning_intent": self.plain(found.winning_intent), "conflicting_intents": others}  # fmt: skip

    def pre(self, agent: str, resource: str, confidence: float) -> dict[str, Any]:
        return self.decided(self.guard.pre_action(self.who(agent), ROOM, resource, "book", confidence))

    def post(self, agent: str, resource: str, intent: str, *, failed: bool) -> tuple[str | None, str]:
        mark = kernel.Action(scope=ROOM, resource=resource, action="booked", result={}, failed=failed)
        return self.said(self.guard.post_action, self.who(agent), mark, intent)

    def boundary(self, resource: str) -> dict[str, dict[str, Any]]:
        found = self.guard.resolve_deferred(ROOM, resource)
        return {agent: self.decided(one) for agent, one in found.items()}

    def pass_time(self, seconds: int) -> None:
        self.clock.advance(float(seconds))

    def read(self, scope: str, reader: str | None, least: float = 0.01) -> list[dict[str, Any]]:
        found = self.space.read(scope, min_strength=least, reader=None if reader is None else self.who(reader))
        made = [{**self.plain(one), "effective_strength": self.space.strength(one.id)} for one in found]
        for one in found:
            for name in ("result", "content", "context"):
                if isinstance(getattr(one, name, None), dict):
                    getattr(one, name)["text"] = "changed by a reader"
        return made

    def needs(self) -> list[dict[str, Any]]:
        rows = self.space.aggregate_needs()
        return [{**row, "needs": [self.plain(one) for one in row["needs"]]} for row in rows]

    def resolve(self, need: str, action: str) -> tuple[str | None, str]:
        FIRED.clear()
        found = self.said(self.space.resolve, need, action)
        for handle in self.late:
            self.space.remove_write_hook(handle)
        self.late.clear()
        return found

    def together(self, strengths: list[float]) -> float:
        return kernel.MarkSpace.reinforce(strengths)

    # the scheduler

    def composed(self, **fields: Any) -> Any:
        return {"$": "Composed", "refused": "", "activated": [], **fields}

    def on_update(self, a: Any) -> Any:
        """Another interval; an agent without one is registered."""
        interval = a["interval"]
        try:
            agent = kernel.Agent(name=a["agent"], schedule_interval=None if interval is None else float(interval))
        except ValueError as error:
            return self.composed(refused=str(error))
        if a["agent"] in self.registered:
            self.scheduler.update(agent)
        else:
            self.scheduler.register(agent)
        (self.registered.discard if interval is None else self.registered.add)(a["agent"])
        return self.composed()

    def on_wait(self, _: Any) -> Any:
        """A second passes."""
        self.clock.advance(1.0)
        return self.composed()

    def on_activate(self, _: Any) -> Any:
        """All that are due are activated."""
        return self.composed(activated=sorted(agent.name for agent in self.scheduler.tick_all()))


def make(initial: Any) -> Objects:
    """Return the kernel of one scenario."""
    return Objects(initial)
