"""The adapter of `sqlite_rules`; the database is a file, which a restarted host opens again.

evenhand check sovereign --adapter benchmarks.zoo.sovereign.sqlite_rules.adapter:make --reading budget_count=last \
    --reading reported_gate=furthest --reading path_rule=normal_form
"""

from __future__ import annotations

import json
import os
import sqlite3
from functools import partial
from typing import Any, ClassVar

from benchmarks.zoo.sovereign import adapting as zoo
from benchmarks.zoo.sovereign.sqlite_rules.kernel import Kernel
from evenhand.conform.adapters import Initial, Unsupported

Json = Any
NAMES = {"jsonl_lines": "lines", "log_name": "stream"}


class Opened(Kernel):
    """A kernel on a database with an address."""

    def __init__(self, path: str, files: Any = None, defects: frozenset[str] = frozenset()) -> None:
        self.written: list[Any] = []
        connect = sqlite3.connect
        try:
            sqlite3.connect = partial(connect, uri=True)
            super().__init__(path, files, defects)
        finally:
            sqlite3.connect = connect

    def rows(self, query: str, *values: Any) -> Any:
        if query.startswith("INSERT OR REPLACE INTO file"):
            self.written.append(values)
        return super().rows(query, *values)


class Adapter(zoo.Adapter):
    """One kernel on one database."""

    readings: ClassVar[dict[str, str]] = {"budget_count": "last", "reported_gate": "furthest"}
    takes_no_ids = True
    number: ClassVar[int] = 0

    def begin(self) -> None:
        Adapter.number += 1  # a database in memory that lives as long as somebody has it open
        self.path = f"/run{os.getpid()}-{Adapter.number}?vfs=memdb"
        files = zoo.files_of(self.config["tree"])
        self.kernel = Opened(f"file:{self.path}", files=files, defects=zoo.defects())

    def decide(self, told: Json, candidates: Json) -> dict[str, Any]:
        payloads = [self.payload(one) for one in told]
        for one, payload in zip(told, payloads, strict=True):
            self.ids[zoo.observation_id(one)] = self.kernel.observe(one["kind"], payload)
        bundles = [self.bundle(one) for one in candidates]
        for one in bundles:
            fields = one["action_request"]["fields"]
            one["action_request"]["fields"] = {NAMES.get(name, name): value for name, value in fields.items()}
        try:
            answer = self.pass_on(bundles)
        except RuntimeError as error:
            raise Unsupported(str(error)) from error
        found = {"kind": answer["decision"], "time": answer["at"], "reason": answer["code"]}
        found["gate"] = answer["failed_gate"]
        if answer["warrant"]:
            body = json.loads(self.kernel.one("SELECT body FROM warrant WHERE id = ?", answer["warrant"]))
            asked = body["action_request"]
            found |= {"own": answer["warrant"], "at": answer["at"]}
            found["request"] = zoo.request(asked["action_type"], asked["fields"])
        logged = [json.loads(line) for line in self.kernel.log("artifacts")[-1:]]
        known = logged and logged[0][0] == answer["cycle"] and logged[0][1] == "decision"
        found["lost"] = [] if known else [{"$": "Record", "stream": "artifacts"}]
        return found

    def pass_on(self, bundles: Any) -> Any:
        """The decision about some candidates, which may be anything."""
        return self.kernel.decide(zoo.many(bundles))

    def carry_out(self, own: Any) -> list[Json] | None:
        before = len(self.kernel.notices())
        self.kernel.written.clear()
        answer = self.kernel.execute(own)
        if not answer["done"]:
            return None
        effects = zoo.done(answer.get("content"), self.kernel.notices()[before:], dict(self.kernel.written))
        return effects or None  # it reads nothing where no file is, and calls that done

    def forge(self) -> Any:
        return "f" * 64

    def restart(self, who: str) -> None:
        """Another kernel on the same database."""
        self.kernel = Opened(f"file:{self.path}", defects=zoo.defects())


def make(initial: Initial) -> Adapter:
    """A fresh database."""
    return Adapter(initial)
