"""The adapter of `http_service`: serves it in this process and plays environment, generator and selector.

evenhand check apcm --adapter benchmarks.zoo.apcm.http_service.adapter:make --reading av_in_collision=required \
    --reading av_rp_overlap=error

The selector asks for the mask before the generator justifies, and waits.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
from http.server import ThreadingHTTPServer
from typing import Any, ClassVar

from benchmarks.zoo.apcm import adapting as zoo
from benchmarks.zoo.apcm.http_service.service import Service, handler
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
PATIENCE = 0.3
"""Seconds for which a selector waits after the artefact was answered."""
NOT_READ = ("E_ARTIFACT",)


class Server:
    """The service, begun when it is first asked."""

    port = 0

    @classmethod
    def ask(cls, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and body of an answer.  Raises RuntimeError if the service failed."""
        if not cls.port:
            service = Service(zoo.defects())
            threading.Thread(target=service.loop, daemon=True).start()
            server = ThreadingHTTPServer(("127.0.0.1", 0), handler(service))
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            cls.port = server.server_address[1]
        client = http.client.HTTPConnection("127.0.0.1", cls.port)
        try:
            client.request(method, path, json.dumps({} if body is None else body, allow_nan=False))
            answer = client.getresponse()
            status, found = answer.status, json.loads(answer.read())
        finally:
            client.close()
        if status >= 500:
            raise RuntimeError(f"{path}: {status} {found['error']}")
        return status, found


class Adapter(zoo.Adapter):
    """One run of the service."""

    readings: ClassVar[dict[str, str]] = {"av_in_collision": "required", "av_rp_overlap": "error"}

    def begin(self) -> None:
        lists = {"preferences": self.config["preferences"], "actions": self.config["actions"]}
        Server.ask("POST", "/begin", lists)
        self.look()
        self.mask: Any = None

    def look(self) -> None:
        """Where the run is."""
        state = Server.ask("GET", "/state")[1]
        self.phase, self.turn, self.executed = state["phase"], state["step"], state["executed"]

    def submit(self, told: Json) -> Json:
        if self.phase == "idle":
            feasible, apcm = zoo.situation(self.situation(), arrays=True)
            if Server.ask("POST", "/step", {"feasible": feasible, "apcm": apcm})[0] == 422:
                self.look()
                return zoo.INVALID
            self.look()
        if self.phase == "justify":
            self.learn()
        made = zoo.artifact(told, self.cited(told), arrays=True)
        if made is None:
            raise Unsupported("no artefact")
        selector = self.waiting()
        status, answer = Server.ask("POST", "/justify", made)
        if selector:
            selector.join(PATIENCE)
        if status == 409:
            return zoo.REJECTED
        self.look()
        codes = answer.get("codes", [])
        known: dict[str, Json] = {}
        if self.phase == "select":
            known = dict.fromkeys(("fields", "mode", "revision"), zoo.UNKNOWN)
            known["forbidden"] = answer["forbidden"]
        else:
            facts = self.line()
            read = not set(codes) & set(NOT_READ)
            known = dict.fromkeys(("fields", "mode", "revision"), zoo.UNKNOWN)
            if read:
                known["fields"] = zoo.fields(*map(names, (facts["AV"], facts["RP"])), groups(facts["pairs"]))
                known |= {"mode": facts["mode"].strip('"-'), "revision": facts["revision"] == "yes"}
            known |= {name: facts[name] == "yes" for name in ("gridlock", "halt")}
            known["halt"] &= self.mask is not None  # else the selector waits for ever
            known["forbidden"] = names(facts["forbidden"])
        return zoo.shown(
            "submit", artifact=zoo.UNKNOWN, compile_ok=answer["outcome"] != "halt", **known,
            errors=zoo.errors(codes, told, alone=["E_DIGEST_MISMATCH", *NOT_READ]),
            permitted=self.permitted(), offered=self.seen(),
        )  # fmt: skip

    def waiting(self) -> threading.Thread | None:
        """A selector that waits for the mask of a step that is open."""
        if self.phase != "justify":
            return None
        self.mask = None

        def wait() -> None:
            self.mask = Server.ask("GET", "/mask")[1]

        found = threading.Thread(target=wait, daemon=True)
        found.start()
        Server.ask("GET", "/state")  # so that the selector's question is there before the artefact
        return found

    def permitted(self) -> list[str]:
        """The actions permitted by the mask."""
        return self.mask.get("permitted", []) if self.mask else []

    def seen(self) -> list[str]:
        """The actions of which the mask tells."""
        found: set[str] = set()
        for told in (self.mask or {}).values():
            found.update(told if isinstance(told, (list, dict)) else ())
        return sorted(found)

    def learn(self) -> None:
        """Learn by what the previous artefact is to be cited."""
        previous = Server.ask("GET", "/briefing")[1]["previous"]
        if previous:
            self.know(zoo.fields(*(previous[name] for name in zoo.SETS)), previous["digest"])

    def line(self) -> dict[str, str]:
        """The last line of the log, taken apart."""
        last = Server.ask("GET", "/log")[1]["lines"][-1]
        return dict(re.findall(r'(\w+)=((?:"(?:[^"\\]|\\.)*"|[^" ])+)', last))

    def select(self, action: str) -> Json:
        before = self.executed
        status, answer = Server.ask("POST", "/select", {"action": action})
        self.look()
        if status >= 400:
            return zoo.REJECTED
        done = self.executed[len(before) :]
        violated = names(self.line()["violates"])
        return zoo.shown("select", selected=done[0] if done else answer["action"], selected_violates=violated)

    def facts(self) -> Json:
        """What the service tells."""
        permitted = self.permitted() if self.phase == "select" else []
        return self.told(self.turn, zoo.UNKNOWN, permitted, self.phase == "invalid")


def names(text: str) -> list[str]:
    """A set of the log, in its order."""
    return json.loads(f"[{text[1:-1]}]")


def groups(text: str) -> list[list[str]]:
    """A set of sets of the log, in its order."""
    return json.loads(text.replace("{", "[").replace("}", "]"))


def make(initial: Initial) -> Adapter:
    """A fresh run of the service."""
    return Adapter(initial)
