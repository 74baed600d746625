"""The adapter of `http_service`: serves it in this process and plays user, reflection and host.

evenhand check sovereign --adapter benchmarks.zoo.sovereign.http_service.adapter:make \
    --reading unknown_author=treat_as_reflection --reading path_rule=normal_form

The user is hostile: who says something also reports an integrity failure, as only the host may.  What
the log does not tell of a cycle counts as lost.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
from contextlib import suppress
from http.server import ThreadingHTTPServer
from typing import Any, ClassVar

from benchmarks.zoo.sovereign import adapting as zoo
from benchmarks.zoo.sovereign.http_service.service import Agent, Handler
from evenhand.conform.adapters import Initial, Unsupported

Json = Any


class Server:
    """The service, begun when it is first asked."""

    server: Any = None

    @classmethod
    def begin(cls, files: dict[str, str]) -> None:
        """An agent that nobody has asked anything yet, with these files."""
        if cls.server is None:
            cls.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            cls.server.daemon_threads = True
            threading.Thread(target=cls.server.serve_forever, args=(0.05,), daemon=True).start()
        cls.server.agent = Agent(zoo.defects())
        cls.server.agent.files = files

    @classmethod
    def ask(cls, path: str, body: Any, host: bool = True) -> tuple[int, Any]:
        """Status and body of an answer."""
        client = http.client.HTTPConnection("127.0.0.1", cls.server.server_port)
        try:
            client.request("POST", path, json.dumps(body), {"X-Key": "host"} if host else {})
            answer = client.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            client.close()


class Adapter(zoo.Adapter):
    """One run of the service."""

    readings: ClassVar[dict[str, str]] = {"unknown_author": "treat_as_reflection"}
    takes_no_ids = True
    authors = None

    def begin(self) -> None:
        self.files = zoo.Files(zoo.files_of(self.config["tree"]))
        Server.begin(self.files)
        self.lines = 0

    def decide(self, told: Json, candidates: Json) -> dict[str, Any]:
        given: dict[str, list[Any]] = {kind: [] for kind in ("user_input", "timestamp", "budget", "system")}
        for one in told:
            if one["kind"] not in given:
                raise Unsupported("an observation of a kind that nobody knows")
            given[one["kind"]].append((one, self.payload(one)))
        if len(given["budget"]) > 1:
            raise Unsupported("two budgets")
        if any(type(tokens) is not int or tokens < 0 for _, tokens in given["budget"]):
            raise Unsupported("tokens that are no number")
        for one, text in given["user_input"]:
            self.said(one, Server.ask("/say", {"text": text}, host=False))
            Server.ask("/report", {"event": "startup_integrity_fail"}, host=False)
        for one, event in given["system"]:
            self.said(one, Server.ask("/report", {"event": event}))
        hidden = {zoo.observation_id(one) for kind in ("timestamp", "budget") for one, _ in given[kind]}
        if any(name in hidden for one in candidates if one["scope"] for name in one["scope"]["observation_ids"]):
            raise Unsupported("an observation whose id nobody knows before the cycle")
        if candidates:
            bundles = [self.bundle(one) for one in candidates]
            with suppress(Unsupported):
                self.pass_on({"candidates": bundles})
        tokens = given["budget"][0][1] if given["budget"] else None
        cycle = {"times": [at for _, at in given["timestamp"]], "tokens": tokens}
        status, answer = self.pass_on(None, cycle)
        if status != 200:
            raise Unsupported(answer["error"])
        return self.logged(answer, len(told))

    def pass_on(self, body: Any, cycle: Any = None) -> Any:
        """Propose something, which may be anything, or run a cycle.  Raises Unsupported if a proposal is refused."""
        if cycle is not None:
            return Server.ask("/cycle", cycle)
        status, answer = Server.ask("/propose", body, host=False)
        if status >= 400:
            raise Unsupported(answer["error"])
        return status, answer

    def said(self, one: Json, answer: tuple[int, Any]) -> None:
        """Note the id of an observation."""
        if answer[0] != 200:
            raise Unsupported(answer[1]["error"])
        self.ids[zoo.observation_id(one)] = answer[1]["observation"]

    def logged(self, answer: Any, many: int) -> dict[str, Any]:
        """The answer, and what of it the log does not tell, or not so that it can be read."""
        lines = [line.partition(" ")[2] for line in Server.ask("/look", {})[1]["log"].split("\n")]
        news, self.lines = lines[self.lines :], len(lines)
        seen = sum(bool(re.match(r"c\d+ OBSERVED ", line)) for line in news)
        lost = [{"$": "Record", "stream": "observations"}] * max(0, many - seen)
        if not any(re.match(r"c\d+ DECIDED ", line) and read(line) for line in news):
            lost.append({"$": "Record", "stream": "artifacts"})
        warrant = answer.get("warrant")
        found = {"kind": answer["decision"], "reason": answer.get("code"), "gate": answer.get("failed_gate")}
        found |= {"lost": lost, "time": warrant["created_at"] if warrant else answer["created_at"]}
        if warrant:
            found |= {"own": warrant, "at": warrant["created_at"]}
        return found

    def carry_out(self, own: Any) -> list[Json] | None:
        screen = Server.ask("/look", {})[1]["screen"]
        self.files.written.clear()
        status, answer = Server.ask("/execute", {"warrant": own})
        if status != 200:
            return None
        news = Server.ask("/look", {})[1]["screen"][len(screen) :]
        written = self.files.written
        content = answer["result"] if not news and not written and answer["result"] != "no such file" else None
        return zoo.done(content, news, written)

    def forge(self) -> Any:
        if not self.issued:
            return {"id": "0" * 64}
        return {**self.issued[-1][3], "id": "f" * 64}


def read(line: str) -> dict[str, Any] | None:
    """The fields of a line of the log, or None if a value is no JSON."""
    rest, found = re.sub(r"^c\d+ \w+ ", "", line), dict[str, Any]()
    try:
        while rest:
            name, _, rest = rest.lstrip().partition("=")
            found[name], end = json.JSONDecoder().raw_decode(rest)
            rest = rest[end:]
    except ValueError:
        return None
    return found


def make(initial: Initial) -> Adapter:
    """A fresh agent."""
    return Adapter(initial)
