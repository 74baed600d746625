"""What the adapters of these kernels share: the checker's questions asked in the text's words, and back.

An adapter fills in the methods that raise NotImplementedError.  Marks are dictionaries with the text's field names
(`mark_type`, `scope`, `resource`, `initial_strength`, …), decisions have `verdict`, `reason`, `intent_id`,
`winning_intent` and `conflicting_intents`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any, ClassVar

from benchmarks.zoo.markspace.words import (
    DEFAULTS,
    ELSEWHERE,
    GUARDS,
    OWN,
    ROOM,
    SOURCES,
    SUBJECT,
    UNKNOWN,
    Json,
    enum,
    near,
    number,
    scope_of,
)
from evenhand.conform.adapters import Unsupported

SEVERAL = "several"
"""Instead of the intent of an agent that has several."""


class Adapter:
    """One run; the subclass drives its kernel."""

    systems: ClassVar[tuple[str, ...]] = (*GUARDS, "space", "signals")
    readings: ClassVar[Mapping[str, str]] = {}
    atomic = False
    """Whether nothing happens between the guard's answer and the end of the tool's work."""

    def __init__(self, initial: Any) -> None:
        self.system, self.config = initial["system"], initial["config"]
        if self.system not in self.systems:
            raise Unsupported(f"no system {self.system}")
        for name, value in self.config["readings"].items():
            wanted = {**DEFAULTS, **self.readings}.get(name, value)
            if value != wanted:
                raise Unsupported(f"the reading {name}={value}; give --reading {name}={wanted}")
        self.now = 0
        self.ids: dict[int, str] = {}
        self.written: dict[int, tuple[str, Any]] = {}
        self.allowed: dict[str, tuple[str, str]] = {}
        self.running: dict[str, tuple[str, str]] = {}
        self.intents: dict[str, str] = {}
        self.newest: dict[tuple[str, str], str] = {}
        self.claims: dict[str, str] = {}
        self.until: dict[str, int] = {}
        self.places: dict[str, str] = {}
        self.warned: set[str] = set()
        self.begin(initial["start"])

    def begin(self, start: Any) -> None:
        """Make the kernel for this system.  Raises Unsupported."""
        if self.system in GUARDS:
            self._guarded(start)
        elif self.system == "space":
            self._spaced(start)

    def _guarded(self, start: Any) -> None:
        config = self.config
        begun = [one for one in start["doing"] if one["phase"]["name"] != "IDLE"]
        self.begins(start["intents"], start["needs"]["$set"], *start["claims"], *start["named"], begun)
        if config["ttl"] <= 0:
            raise Unsupported("intents that are over at once, which the text does not ask for")
        decay = {"observation_half_life": 1, "warning_half_life": 1, "intent_ttl": config["ttl"]}
        policy = config["policy"]["name"].lower()
        room = scope_of(ROOM, conflict_policy=policy, deferred=config["deferred"], decay=decay)
        every = [{"scope": ELSEWHERE, "mark_types": ["warning"]}]
        mine = [{"scope": ROOM, "mark_types": ["intent", "action"]}, *every]
        agents = [{"id": name, "read_scopes": [], "permissions": mine} for name in config["agents"]]
        agents += [{"id": name, "read_scopes": [], "permissions": every} for name in config["strangers"]]
        self.make([room, scope_of(ELSEWHERE)], agents, "pat")

    def _spaced(self, start: Any) -> None:
        self.begins(start["marks"])
        self.trusts()
        scopes = [
            scope_of(
                one["name"], visibility=one["visibility"]["name"].lower(), allowed_intent_verbs=one["intent_verbs"],
                allowed_action_verbs=one["action_verbs"], observation_topics=one["topics"],
                warning_topics=one["topics"], conflict_policy=self.policy_of(one["policy"]["name"].lower()),
                decay={name: one[name] for name in ("observation_half_life", "warning_half_life", "intent_ttl")},
            )
            for one in self.config["scopes"]
        ]  # fmt: skip
        agents = []
        for one in self.config["agents"]:
            rows = [{"scope": scope, "mark_types": [kind["name"].lower()]} for scope, kind in one["writes"]["$set"]]
            agents.append({"id": one["name"], "read_scopes": one["reads"]["$set"], "permissions": rows})
        self.make(scopes, agents, "principal")

    def begins(self, *there: Any) -> None:
        """Raise Unsupported if something is there already."""
        if any(there):
            raise Unsupported("a start in the middle of a run")

    def trusts(self) -> None:
        """Raise Unsupported for other weights of trust than the text's."""
        if self.config["weights"] != [{"$fraction": "1"}, {"$fraction": "7/10"}, {"$fraction": "3/10"}]:
            raise Unsupported("other weights of trust")

    def policy_of(self, policy: str) -> str:
        """The policy of a scope in which the guard is not asked."""
        return policy

    # what the kernel does

    def make(self, scopes: list[Any], agents: list[Any], principal: str) -> None:
        """Make the kernel."""
        raise NotImplementedError

    def write(self, agent: str, mark: dict[str, Any]) -> tuple[str | None, str]:
        """Write a mark; return its id, or None and why not."""
        raise NotImplementedError

    def pre(self, agent: str, resource: str, confidence: float) -> dict[str, Any]:
        """The guard's decision."""
        raise NotImplementedError

    def post(self, agent: str, resource: str, intent: str, *, failed: bool) -> tuple[str | None, str]:
        """Write the action mark; return its id, or None and why not."""
        raise NotImplementedError

    def boundary(self, resource: str) -> dict[str, dict[str, Any]]:
        """The decisions of a boundary."""
        raise NotImplementedError

    def pass_time(self, seconds: int) -> None:
        """Let time pass."""
        raise NotImplementedError

    def read(self, scope: str, reader: str | None, least: float = 0.01) -> list[dict[str, Any]]:
        """The marks of a scope as this reader sees them, with `effective_strength`."""
        raise NotImplementedError

    def needs(self) -> list[dict[str, Any]]:
        """The clusters of needs."""
        raise NotImplementedError

    def resolve(self, need: str, action: str) -> tuple[str | None, str]:
        """Resolve a need; return the new mark's id, or None and why not."""
        raise NotImplementedError

    def together(self, strengths: list[float]) -> float:
        """The reinforced strength.  Raises Unsupported."""
        raise Unsupported("reinforcement")

    # what the checker asks

    def step(self, action: Any) -> Any:
        """Take one action and show what the kernel shows."""
        name = action["what"]["name"] if action["$"] == "Act" else action["$"]
        handler = getattr(self, f"on_{name.lower()}", None)
        if handler is None:
            raise Unsupported(f"no {name}")
        if action["$"] == "Act" and name not in ("PRE", "TICK", "BOUNDARY"):
            served = self.config["agents"] + (self.config["strangers"] if "_" in name else [])
            if action["agent"] not in served:
                raise Unsupported("somebody whom the harness does not serve")
        return (
            handler(action) if self.is_known(action, name) else self.decision(action, "no such resource", verdict=None)
        )

    def is_known(self, action: Any, name: str) -> bool:
        """Whether an act at the guard is about a resource that there is, or is denied whatever it is about."""
        stranger = name == "PRE" and action["agent"] not in self.config["agents"]
        return action["$"] != "Act" or name == "TICK" or stranger or action["resource"] in self.config["resources"]

    # the guard

    def intent(self, mark: Any) -> Json:
        """An intent as the guard's model shows it."""
        if mark is None:
            return None
        return {
            "$": "Intent", "agent": mark["agent_id"], "resource": mark["resource"],
            "confidence": round((mark["confidence"] - 0.51) / 0.03),
            "life": mark["created_at"] + self.config["ttl"] - self.now,
        }  # fmt: skip

    def asked(self) -> int:
        """How many needs the guard has written."""
        return sum(len(row["needs"]) for row in self.needs())

    def on_pre(self, a: Any) -> Any:
        """The guard is asked."""
        agent, resource = a["agent"], a["resource"]
        if a["slip"]:
            raise Unsupported("ids that do not follow the order of writing")
        if self.atomic and (self.allowed or self.running):
            raise Unsupported("nothing happens while a tool works")
        if agent in self.allowed or agent in self.running:
            return self.decision(a, "the agent is busy", verdict=None)
        if self.intents.get(agent) in self.warned:
            raise Unsupported("an intent that was warned about and asked for again comes back when the warning fades")
        before = self.asked()
        found = self.pre(agent, resource, 0.51 + 0.03 * a["confidence"])
        verdict, winner = found["verdict"], found["winning_intent"]
        if verdict == "ALLOW":
            self.allowed[agent] = (resource, found["intent_id"])
        if found["intent_id"] is not None:
            several = self.readings.get("own_intents") == "compete" and agent in self.intents
            self.intents[agent] = SEVERAL if several else found["intent_id"]
            self.newest[agent, resource] = found["intent_id"]
            self.until[found["intent_id"]] = self.now + self.config["ttl"]
            self.places[found["intent_id"]] = resource
        taken = verdict == "CONFLICT" and found["intent_id"] is None
        rivals = {"$bag": [self.intent(one) for one in found["conflicting_intents"]]}
        return {
            "$": "Decision", "what": a["what"], "verdict": enum("Verdict", verdict), "rejected": "",
            "reason": UNKNOWN if verdict == "ALLOW" else found["reason"],
            "winner": UNKNOWN if verdict == "ALLOW" else None if taken else self.intent(winner),
            "claimed_by": winner and winner["agent_id"] if taken else None,
            "conflicting": [] if taken else UNKNOWN if self.config["deferred"] else rivals,
            "need": self.asked() > before,
        }  # fmt: skip

    def decision(self, a: Any, rejected: str = "", **more: Any) -> Any:
        """What is shown of anything else at the guard."""
        return {"$": "Decision", "what": a["what"], "rejected": rejected, **more}

    def on_call(self, a: Any) -> Any:
        """The tool is called; the caller keeps to what the guard allows."""
        if self.allowed.get(a["agent"], ("", ""))[0] != a["resource"]:
            return self.decision(a, "the guard has not allowed it")
        self.running[a["agent"]] = self.allowed.pop(a["agent"])
        return self.decision(a)

    def on_abandon(self, a: Any) -> Any:
        """The caller thinks better of it."""
        if self.atomic:
            raise Unsupported("what is asked for is done at once")
        if self.allowed.get(a["agent"], ("", ""))[0] != a["resource"]:
            return self.decision(a, "nothing was allowed")
        del self.allowed[a["agent"]]
        return self.decision(a)

    def on_post(self, a: Any) -> Any:
        """The tool has worked."""
        agent, resource = a["agent"], a["resource"]
        if self.running.get(agent, ("", ""))[0] != resource:
            raise Unsupported("nothing runs there")
        _, intent = self.running.pop(agent)
        before = {one["id"] for one in self.notices()}
        mark, why = self.post(agent, resource, intent, failed=a["failed"])
        if mark is not None and self.intents.get(agent) == intent:
            del self.intents[agent]
        if mark is not None and self.newest.get((agent, resource)) == intent:
            del self.newest[agent, resource]
        if mark is not None and not a["failed"]:
            self.claims[resource] = mark
        lost = [one["reason"] for one in self.notices() if one["id"] not in before]
        return self.decision(a, why, notified=UNKNOWN if lost else None)

    def notices(self) -> list[dict[str, Any]]:
        """The warnings that stand in the room."""
        return [one for one in self.read(ROOM, None, 0.0) if one["mark_type"] == "warning"]

    def on_boundary(self, a: Any) -> Any:
        """A boundary of a deferred scope."""
        if not self.config["deferred"]:
            return self.decision(a, "the scope does not defer")
        before = self.asked()
        found = self.boundary(a["resource"])
        verdicts = {one["verdict"] for one in found.values()}
        if len(found) > 1 and "CONFLICT" in verdicts and "ALLOW" not in verdicts:
            raise Unsupported("a boundary at which the best intent is in the way of another's claim")
        known: dict[str, Any] = {}
        for one in (mark for decision in found.values() for mark in decision["conflicting_intents"]):
            known[one["id"]] = one
        for agent, decision in found.items():
            if decision["verdict"] == "ALLOW" and agent not in self.allowed and agent not in self.running:
                asked = self.newest.get((agent, a["resource"]), decision["intent_id"])
                self.allowed[agent] = (a["resource"], asked)
        told = sorted((agent, decision["verdict"]) for agent, decision in found.items())
        won = [
            known[one["intent_id"]] for one in found.values() if one["verdict"] == "ALLOW" and one["intent_id"] in known
        ]
        return self.decision(
            a, told=[[agent, enum("Verdict", verdict)] for agent, verdict in told], need=self.asked() > before,
            winner=self.intent(won[0]) if len(won) == 1 else UNKNOWN,
        )  # fmt: skip

    def on_tick(self, a: Any) -> Any:
        """Time passes."""
        seconds = a["seconds"] if a["$"] == "Tick" else 1
        self.pass_time(seconds)
        self.now += seconds
        return self.reply() if a["$"] == "Tick" else self.decision(a)

    def meddle(self, a: Any, **fields: Any) -> Any:
        """A mark that one agent writes about another's, in a scope where it may."""
        mark = {"mark_type": "warning", "scope": ELSEWHERE, "topic": "x", "reason": "so", "severity": "info", **fields}
        _, why = self.write(a["agent"], mark)
        return self.decision(a, why)

    def about(self, a: Any, marks: Mapping[str, str], key: str) -> str:
        """The mark that is meant."""
        if not self.config["meddling"]:
            raise Unsupported("a guard with marks about others' marks")
        mark = marks.get(a[key], SEVERAL)
        elsewhere = self.places.get(mark, a["resource"]) != a["resource"]
        if mark == SEVERAL or elsewhere or self.until.get(mark, self.now) < self.now:
            raise Unsupported("a mark that there is not, or one of several intents")
        return mark

    def on_warn_intent(self, a: Any) -> Any:
        """A warning against an intent."""
        intent = self.about(a, self.intents, "target")
        if intent in self.warned:
            raise Unsupported("two warnings outlast their instant together")
        self.warned.add(intent)
        return self.meddle(a, invalidates=intent)

    def on_supersede_claim(self, a: Any) -> Any:
        """A mark that supersedes a claim."""
        claim = self.about(a, self.claims, "resource")
        del self.claims[a["resource"]]
        return self.meddle(a, supersedes=claim)

    def on_supersede_intent(self, a: Any) -> Any:
        """A mark that supersedes an intent."""
        intent = self.about(a, self.intents, "target")
        del self.intents[a["target"]]
        return self.meddle(a, supersedes=intent)

    # the space

    def reply(self, **fields: Any) -> Any:
        """What is shown at the space."""
        return {"$": "Reply", "refused": "", **fields}

    def draft(self, draft: Any) -> dict[str, Any]:
        """A mark in the text's words."""
        kind, text, sure = draft["kind"]["name"].lower(), draft["content"], number(draft["confidence"])
        values: dict[str, Any] = {
            "action": draft["verb"], "confidence": sure, "priority": sure, "source": SOURCES[draft["source"]["name"]],
            "failed": draft["failed"], "blocking": draft["blocking"], "severity": "info", "reason": text,
        }  # fmt: skip
        mark = {"mark_type": kind, "scope": draft["scope"], SUBJECT[kind]: draft["subject"]}
        mark["initial_strength"] = number(draft["strength"])
        mark |= {name: values.get(name, {"text": text}) for name in OWN[kind]}
        for name in ("supersedes", "invalidates"):
            if draft[name] is not None and (name == "supersedes" or kind == "warning"):
                mark[name] = self.ids.get(draft[name], f"no mark {draft[name]}")
        return mark

    def on_write(self, a: Any) -> Any:
        """A mark is written."""
        mark, why = self.write(a["agent"], self.draft(a["draft"]))
        if mark is not None:
            self.ids[a["id"]] = mark
            self.written[a["id"]] = (a["agent"], a["draft"])
        return self.reply(refused=why, stored=None if mark is None else {"$opaque": mark}, **self.fired())

    def fired(self) -> dict[str, Any]:
        """The hooks that fired, for kernels that have hooks."""
        return {}

    def mark(self, mark: Mapping[str, Any]) -> Json:
        """A mark as the space's model shows it, with the fields that its type has."""
        kind = mark["mark_type"]
        draft: dict[str, Any] = {
            "$": "Draft", "kind": enum("Kind", kind.upper()), "scope": mark["scope"],
            "subject": "" if mark.get(SUBJECT[kind]) is None else mark[SUBJECT[kind]],
            "strength": near(mark["initial_strength"]), "supersedes": self.opaque(mark["supersedes"]),
        }  # fmt: skip
        for name in OWN[kind]:
            if name in ("confidence", "priority"):
                draft["confidence"] = near(mark[name])
            elif name in ("failed", "blocking"):
                draft[name] = mark[name]
            elif name == "action":
                draft["verb"] = mark[name]
            elif name not in ("source", "severity"):
                draft["content"] = "" if mark[name] is None else mark[name] if name == "reason" else mark[name]["text"]
        if kind == "need" and mark["question"] is None:
            draft["subject"] = UNKNOWN
        if kind == "warning":
            draft["invalidates"] = self.opaque(mark.get("invalidates"))
        return {
            "$": "Mark", "id": self.opaque(mark["id"]), "agent": mark["agent_id"], "draft": draft,
            "age": self.now - mark["created_at"], "resolved_by": self.opaque(mark.get("resolved_by")),
        }  # fmt: skip

    def opaque(self, mark: Any) -> Json:
        """An id of the kernel's."""
        return None if mark is None else {"$opaque": mark}

    def on_read(self, a: Any) -> Any:
        """A scope is read."""
        seen = [
            {"$": "Seen", "mark": self.mark(one), "strength": near(one["effective_strength"]),
             "projected": one["projected"]} for one in self.read(a["scope"], a["reader"])
        ]  # fmt: skip
        return self.reply(seen=seen)

    def on_decide(self, a: Any) -> Any:
        """The intents that an agent reads; it is not the kernel that decides then."""
        found = [one for one in self.read(a["scope"], a["reader"]) if one["mark_type"] == "intent"]
        found = [one for one in found if one["resource"] == a["subject"]]
        return self.reply(candidates={"$bag": [self.mark(one) for one in found]})

    def on_needs(self, _: Any) -> Any:
        """The clusters of needs."""
        rows = [
            {
                "$": "Cluster", "scope": row["scope"], "question": row["needs"][0]["question"],
                "priority": near(row["effective_priority"] - log(len(row["needs"])) * 0.1),
                "size": len(row["needs"]), "blocking": row["blocking_count"],
                "contexts": {"$bag": [one["text"] for one in row["contexts"]]},
            }
            for row in self.needs()
        ]  # fmt: skip
        return self.reply(clusters={"$bag": rows})

    def on_resolve(self, a: Any) -> Any:
        """A need is resolved, here only an open one by an action of the principal in its scope."""
        need, action = self.written.get(a["need"]), self.written.get(a["action"])
        replaced = [draft["supersedes"] for _, draft in self.written.values()]
        if need and action and (action[0] != "principal" or need[1]["scope"] != action[1]["scope"]):
            raise Unsupported("an action of another scope, or not of the principal")
        if a["need"] in replaced:
            raise Unsupported("a need that was superseded")
        names = [self.ids.get(a[name], f"no mark {a[name]}") for name in ("need", "action")]
        mark, why = self.resolve(*names)
        if mark is not None:
            self.ids[a["id"]] = mark
        return self.reply(refused=why, stored=self.opaque(mark))

    # strengths

    def on_measure(self, a: Any) -> Any:
        """The strength of one mark at two instants."""
        if any(one["age"] > a["age"] for one in a["warnings"]) or a["resolved"]:
            raise Unsupported("a warning that is older than its mark, or a resolved need")
        self.trusts()
        kinds = list(SUBJECT)
        agent = {"id": "ann", "read_scopes": [], "permissions": [{"scope": ROOM, "mark_types": kinds}]}
        lives = {name: value for name, value in self.config["lives"].items() if name != "$"}
        self.make([scope_of(ROOM, decay=lives)], [agent], "pat")
        kind = a["kind"]["name"]
        common = {"subject": "x", "content": "", "confidence": 1, "failed": False, "blocking": False, "scope": ROOM}
        common |= {"supersedes": None, "invalidates": None, "verb": "book" if kind == "INTENT" else "booked"}
        mark = self.draft({**common, "kind": {"name": kind}, "strength": a["strength"], "source": a["source"]})
        made, why = self.write("ann", mark)
        if made is None:
            return {"$": "Measured", "refused": why}
        now, self.ids = a["age"], {1: made}
        for one in sorted(a["warnings"], key=lambda one: -one["age"]):
            self._until(now - one["age"])
            now = one["age"]
            against = {**common, "kind": {"name": "WARNING"}, "strength": one["strength"], "source": one["source"]}
            self.write("ann", self.draft({**against, "invalidates": 1}))
        self._until(now)
        first = self.strength(made)
        self._until(a["later"])
        return {"$": "Measured", "refused": "", "reduced": [near(first), near(self.strength(made))]}

    def _until(self, seconds: int) -> None:
        if seconds:
            self.pass_time(seconds)

    def strength(self, mark: str) -> float:
        """The strength of a mark, warnings subtracted."""
        return next((one["effective_strength"] for one in self.read(ROOM, None, 0.0) if one["id"] == mark), 0.0)

    def on_combine(self, a: Any) -> Any:
        """The aggregate of strengths, and of one more."""
        if number(self.config["factor"]) != 0.3 or number(self.config["cap"]) != 2:
            raise Unsupported("another factor or cap of reinforcement")
        strengths = [number(one) for one in a["strengths"]]
        if any(max(some, default=1) != 1 for some in (strengths, [*strengths, number(a["more"])])):
            raise Unsupported("a cap that is no multiple of the strongest")
        both: Sequence[float] = (self.together(strengths), self.together([*strengths, number(a["more"])]))
        return {"$": "Measured", "refused": "", "aggregate": [near(one) for one in both]}
