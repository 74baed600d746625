"""Adapter of the service; give --reading own_intents=compete.

One server in this process serves all scenarios, each with a space of its own.
"""

from __future__ import annotations

import http.client
import json
import threading
from http.server import ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from benchmarks.zoo.markspace import words
from benchmarks.zoo.markspace.adapting import Adapter, Unsupported
from benchmarks.zoo.markspace.http_service import service
from benchmarks.zoo.markspace.words import ROOM, enum, scope_of


class Server:
    """The server, begun when it is first asked."""

    server: Any = None

    @classmethod
    def ask(cls, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request, or `{"error": …}`."""
        if cls.server is None:
            service.DEFECTS.update(words.defects())
            cls.server = ThreadingHTTPServer(("127.0.0.1", 0), service.Handler)
            cls.server.daemon_threads, cls.server.spaces = True, {}
            threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        connection = http.client.HTTPConnection("127.0.0.1", cls.server.server_port)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


class Service(Adapter):
    """Sends requests."""

    systems: ClassVar[tuple[str, ...]] = ("first_writer", "yield_all", "deferred", "meddled", "space", "signals",
                                          "composing")  # fmt: skip
    readings: ClassVar[dict[str, str]] = {"own_intents": "compete"}

    def begin(self, start: Any) -> None:
        if self.system != "composing":
            super().begin(start)
            return
        if start["marks"] or any(one is not None for one in start["patterns"]) or any(start["queues"]):
            raise Unsupported("a start in the middle of a run")
        secret = self.config["classified"]
        names = sorted({*secret, "a", "ab", "c"})
        scopes = [scope_of(one, visibility="classified" if one in secret else "open") for one in names]
        kinds = list(words.SUBJECT)
        self.make(scopes, [
            {"id": name, "read_scopes": secret if name in self.config["cleared"] else [],
             "permissions": [{"scope": scope, "mark_types": kinds} for scope in names]}
            for name, _ in self.config["agents"]
        ], "pat")  # fmt: skip
        self.numbers: dict[str, int] = {}
        self.queued: set[str] = set()
        self.secrets = False

    def policy_of(self, policy: str) -> str:
        return "first_writer" if policy == "highest_confidence" else policy

    def make(self, scopes: list[Any], agents: list[Any], principal: str) -> None:
        answer = Server.ask("POST", "/spaces", {"scopes": scopes, "agents": agents, "principal": principal})
        self.space = "/spaces/" + answer["space"]

    def ask(self, method: str, path: str, **body: Any) -> Any:
        if path in ("marks", "pre", "post") and method == "POST":
            return self.pass_on(body, path)
        return Server.ask(method, f"{self.space}/{path}", body if method == "POST" else None)

    def pass_on(self, body: Any, path: str) -> Any:
        """The answer to a request of an agent, whose body may be anything."""
        return Server.ask("POST", f"{self.space}/{path}", body)

    def said(self, answer: Any) -> tuple[str | None, str]:
        return answer.get("id"), answer.get("error", "")

    def write(self, agent: str, mark: dict[str, Any]) -> tuple[str | None, str]:
        return self.said(self.ask("POST", "marks", agent=agent, mark=mark))

    def pre(self, agent: str, resource: str, confidence: float) -> dict[str, Any]:
        fields = {"scope": ROOM, "resource": resource, "action": "book", "confidence": confidence}
        return self.ask("POST", "pre", agent=agent, **fields)

    def post(self, agent: str, resource: str, intent: str, *, failed: bool) -> tuple[str | None, str]:
        mark = {"scope": ROOM, "resource": resource, "action": "booked", "result": {}, "failed": failed}
        return self.said(self.ask("POST", "post", agent=agent, intent_id=intent, mark=mark))

    def boundary(self, resource: str) -> dict[str, dict[str, Any]]:
        found = self.ask("POST", "boundary", scope=ROOM, resource=resource)
        place = urlencode({"scope": ROOM, "resource": resource, "wait": 0})
        made = {}
        for agent, verdict in found.items():
            told = self.ask("GET", f"agents/{quote(agent)}/verdict?{place}")
            nothing = {"intent_id": None, "conflicting_intents": [], "verdict": "DENIED"}
            made[agent] = {**nothing, **told, "given": verdict}
        return made

    def pass_time(self, seconds: int) -> None:
        self.ask("POST", "clock", advance=seconds)

    def read(self, scope: str, reader: str | None, least: float = 0.01) -> list[dict[str, Any]]:
        query = {"scope": scope, "min": least, **({} if reader is None else {"reader": reader})}
        found = self.ask("GET", "marks?" + urlencode(query))
        return [self.full(one) for one in found]

    def full(self, mark: dict[str, Any]) -> dict[str, Any]:
        return {"failed": False, **mark} if mark["mark_type"] == "action" else mark

    def needs(self) -> list[dict[str, Any]]:
        return self.ask("GET", "needs")

    def resolve(self, need: str, action: str) -> tuple[str | None, str]:
        return self.said(self.ask("POST", "resolve", need_id=need, action_id=action))

    # subscriptions

    def composed(self, **fields: Any) -> Any:
        return {"$": "Composed", "refused": "", **fields}

    def on_subscribe(self, a: Any) -> Any:
        """An agent's patterns."""
        if a["agent"] in self.queued:
            raise Unsupported("a new subscription empties the queue here")
        patterns = []
        for one in a["patterns"]:
            pattern = {"scope": one["scope"], **({"mark_type": one["kind"]} if one["kind"] else {})}
            if one["subject"]:
                raise Unsupported("a pattern for resource, topic or question at once")
            patterns.append(pattern)
        answer = self.ask("POST", f"agents/{quote(a['agent'])}/subscribe", patterns=patterns)
        return self.composed(refused=(answer or {}).get("error", ""))

    def on_unsubscribe(self, a: Any) -> Any:
        """No more patterns."""
        self.ask("DELETE", f"agents/{quote(a['agent'])}/subscribe")
        self.queued.discard(a["agent"])
        return self.composed()

    def on_publish(self, a: Any) -> Any:
        """A mark is written; the numbers follow the order of writing."""
        if a["scope"] not in ("a", "ab", "c", *self.config["classified"]):
            raise Unsupported("a scope of which nothing is known")
        numbers = {number: mark for mark, number in self.numbers.items()}
        draft = {"kind": a["kind"], "scope": a["scope"], "subject": a["subject"], "strength": 1, "confidence": 1,
                 "source": {"name": "FLEET"}, "failed": False, "blocking": False, "content": "", "invalidates": None,
                 "supersedes": None, "verb": "book" if a["kind"]["name"] == "INTENT" else "booked"}  # fmt: skip
        mark = self.draft(draft)
        if a["supersedes"]:
            mark["supersedes"] = numbers.get(a["supersedes"], "no such mark")
        made, why = self.write(a["agent"], mark)
        if made is not None:
            self.numbers[made] = len(self.numbers) + 1
            self.secrets |= a["scope"] in self.config["classified"]
            self.queued |= {name for name, _ in self.config["agents"]}
        return self.composed(refused=why)

    def on_get(self, a: Any) -> Any:
        """The marks that were queued."""
        if a["agent"] not in self.config["cleared"] and self.secrets:
            raise Unsupported("a poll that withholds what the agent is not cleared for")
        clear = "true" if a["clear"] else "false"
        found = self.ask("GET", f"agents/{quote(a['agent'])}/watched?clear={clear}")
        if a["clear"]:
            self.queued.discard(a["agent"])
        return self.composed(delivered=[
            {"$": "Written", "number": self.numbers.get(one["id"], 0), "agent": one["agent_id"], "scope": one["scope"],
             "kind": enum("Kind", one["mark_type"].upper()), "subject": one[words.SUBJECT[one["mark_type"]]],
             "supersedes": self.numbers.get(one["supersedes"], 0)} for one in found
        ])  # fmt: skip


def make(initial: Any) -> Service:
    """Return the kernel of one scenario."""
    return Service(initial)
