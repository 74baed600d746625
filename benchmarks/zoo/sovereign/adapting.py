"""What the adapters of these kernels share: the checker's questions asked in one way, the answers told in one way.

Nothing in this module knows how a candidate is judged.  The kernels have a constitution of their own, which names one
clause otherwise, and compare bundles by hashes of their own: which one wins among several is not compared.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from evenhand.conform.adapters import Initial, Unsupported

Json = Any
UNKNOWN: Json = {"$unknown": True}
DEFAULTS = {
    "budget_absent": "pass", "budget_count": "exactly_one", "bundle_hash_covers": "content", "duplicate_bundle": "one",
    "exit_candidate": "host_never_offers", "exit_precedence": "timestamp_first", "negative_budget": "refuse",
    "path_rule": "normal_form", "reported_gate": "first_candidate", "session_budget": "exceeded",
    "unknown_author": "refuse",
}  # fmt: skip
PARTS = ["authority_citations", "scope_claim", "justification"]
TYPES = [
    ("Notify", False, PARTS), ("ReadLocal", False, PARTS), ("WriteLocal", False, PARTS),
    ("LogAppend", True, PARTS[:1]), ("Exit", False, PARTS),
]  # fmt: skip
CLAUSES = [
    "INV-NO-SIDE-EFFECTS-WITHOUT-WARRANT", "INV-AUTHORITY-CITED", "INV-NON-PRIVILEGED-REFLECTION",
    "INV-REPLAY-DETERMINISM",
]  # fmt: skip
OTHERWISE = {"INV-AUTHORITY-CITED": "INV-EXPLICIT-AUTHORITY"}
LIMITS = (6000, 50, 10000, 256000, None)
HEAD = "constitution:v0.1.1"
MADE = re.compile("(?!0+$)[0-9a-f]{64}")
"""A hash that the checker may have made of a bundle; these kernels make others, so more is not known of it."""
LONG = 3000
"""Texts longer than this may make lines that some of the logs leave out."""


def defects() -> frozenset[str]:
    """The planted defects that are switched on."""
    return frozenset(filter(None, os.environ.get("ZOO_DEFECTS", "").split(",")))


def plain(value: Json) -> Any:
    """A value as it arrives.  Raises Unsupported for what is no JSON."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value["$"] == "Atom":
        return value["text"] if value["kind"] == "str" else json.loads(value["text"])
    found = {"object": {"a": 1}, "list": [1]}.get(value["what"])
    if found is None:
        raise Unsupported(f"a value that cannot be handed in: {value['what']}")
    return found


def many(candidates: Any) -> list[Any]:
    """The candidates as they come.  Raises Unsupported if they are no list: their number is the host's."""
    if not isinstance(candidates, list):
        raise Unsupported("the call itself is the host's")
    return candidates


def record(pairs: Json) -> dict[str, Any]:
    """An object from its pairs.  Raises Unsupported if a name is there twice."""
    found = {name: plain(value) for name, value in pairs}
    if len(found) < len(pairs):
        raise Unsupported("an object that names a key twice")
    return found


def observation_id(told: Json) -> str:
    """The id by which the checker names an observation."""
    payload = record(told["payload"])
    body = {"type": "Observation", "author": told["author"], "kind": told["kind"], "payload": payload}
    if told["created_at"]:
        body["created_at"] = told["created_at"]
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def request(kind: str, fields: Mapping[str, Any]) -> Json:
    """An action request that the kernel tells."""
    return {"$": "Request", "action_type": kind, "fields": [[name, fields[name]] for name in sorted(fields)]}


def effect(kind: str, place: Json, text: str) -> Json:
    """An effect on the world."""
    return {"$": "Effect", "action_type": kind, "place": place, "text": text}


def shown(kind: str, **told: Json) -> Json:
    """An observation; each kernel has a log of its own."""
    apart = dict.fromkeys(("intents", "logged", "lost", "log_warrants"), UNKNOWN)
    return {"$": "Shown", "kind": kind, "decision": None, "effects": [], "rejected": "", **apart, **told}


def files_of(tree: Json) -> dict[str, str]:
    """The files of the repository, for a kernel that has no directories and links."""
    nodes = {tuple(place): node for place, node in tree}
    if any(node["kind"] == "link" for node in nodes.values()):
        raise Unsupported("a link")
    if ("repo", "workspace") not in nodes or ("repo", "artifacts") not in nodes:
        raise Unsupported("a repository without its directories")
    return {"/".join(place[1:]): node["text"] for place, node in nodes.items()
            if node["kind"] == "file" and place[0] == "repo"}  # fmt: skip


def _turns_at_nothing(path: Any, tree: Json) -> bool:
    """Whether `..` follows a name that is no directory at the start; no section says whether it may."""
    known = {tuple(place) for place, node in tree if node["kind"] != "file"}
    here: tuple[str, ...] = ("repo",)
    for name in path.split("/") if isinstance(path, str) else ():
        if name == ".." and len(here) > 1 and here not in known:
            return True
        here = here if name in (".", "") else here[:-1] if name == ".." else (*here, name)
    return False


def tokens_of(observations: Json) -> int:
    """The tokens that a cycle reports."""
    entries = [one for told in observations if told["kind"] == "budget" for one in told["payload"]]
    counts = [value for name, value in entries if name == "llm_output_token_count" and type(value) is int and value > 0]
    return sum(counts)


class Adapter:
    """One run; the subclass drives its kernel."""

    readings: Mapping[str, str] = {}
    systems: tuple[str, ...] = ("candidates", "lists", "session", "agent")
    limits_at = "/clauses/0"
    """Where this kernel's constitution has something, for a pointer to the limits."""
    takes_no_ids = whole_exits = False
    """Whether a scope claim without observations passes; whether only whole Exit bundles are dropped."""
    authors: tuple[str, ...] | None = ("reflection", "host", "nobody", "kernel")
    """The authors that this kernel and the checker judge alike; None, if it does not look at them."""
    clauses_by_name = False
    """Whether the clauses of its constitution are no list."""
    at_once = False
    """Whether one call decides and executes."""

    def __init__(self, initial: Initial) -> None:
        self.config: Json = initial["config"]
        self._check(initial)
        self.ids: dict[str, str] = {}
        self.issued: list[tuple[list[Json], str, str, Any, int]] = []
        self.held: dict[str, Any] = {}
        self.count, self.tokens, self.refusals, self.choice = 0, 0, 0, False
        self.begin()

    def _check(self, initial: Initial) -> None:
        config, start = self.config, initial["start"]
        if initial["system"] not in self.systems:
            raise Unsupported(f"no system {initial['system']}")
        for name, value in {**DEFAULTS, **self.readings}.items():
            if config["readings"][name] != value:
                raise Unsupported(f"the reading {name}={config['readings'][name]}; give --reading {name}={value}")
        law = config["constitution"]
        types = [(one["name"], one["kernel_only"], one["requires"]) for one in law["action_types"]]
        limits = ("max_total_tokens_per_cycle", "max_lines_per_warrant", "max_chars_per_line", "max_bytes_per_warrant",
                  "max_chars_per_field")  # fmt: skip
        same = types == TYPES and law["clauses"] == CLAUSES and law["version"] == "0.1.1"
        same &= tuple(law["limits"][name] for name in limits) == LIMITS
        same &= law["io"]["read_paths"] == ["./artifacts/", "./workspace/"]
        if not same or law["io"]["write_paths"] != ["./workspace/", "./logs/"]:
            raise Unsupported("another constitution")
        if start["issued"]["$set"] or start["spent"]["$set"] or start["owed"] or start["over"] or start["refusals"]:
            raise Unsupported("a start in the middle of a run")

    # what is asked

    def step(self, action: Json) -> Json:
        """One action."""
        kind = action["$"]
        if kind in ("Decide", "Cycle"):
            return self._decided(kind, action)
        if self.at_once:
            raise Unsupported("a warrant in the caller's hands")
        if kind == "Log":
            return UNKNOWN
        if kind == "Check":
            return self._handed(action)
        if kind == "Use":
            return self._used(action["executor"])
        if kind == "Swap":
            self.swap(action["place"], action["node"])
            return shown("swap")
        if kind == "Restart":
            self.restart(action["who"])
            self.held.pop(action["who"], None)
            return UNKNOWN
        raise Unsupported(f"no action {kind}")

    def _decided(self, kind: str, action: Json) -> Json:
        told, candidates = action["observations"], action["candidates"]
        self._plausible(told, candidates)
        if self.config["session_budget"] is not None and self.tokens > self.config["session_budget"]:
            raise Unsupported("a cycle after the session's budget: these kernels know none")
        if 0 < self.config["most_refusals"] <= self.refusals:
            raise Unsupported("a cycle after the last refusal permitted: these kernels count none")
        self.tokens += tokens_of(told)
        self.count += 1
        try:
            answer = self.decide(told, candidates)
        except ValueError as error:
            raise Unsupported(f"what this kernel refuses to take: {error}") from error
        several = len({json.dumps(one, sort_keys=True) for one in candidates}) > 1
        acts = answer["kind"] == "ACTION"
        self.refusals = self.refusals + 1 if answer["kind"] == "REFUSE" else 0
        if acts and answer.get("own") is not None:
            offered = [one["request"] for one in candidates]
            won = [answer["request"]] if "request" in answer and not several else offered
            self.issued.append((won, answer.get("author", ""), answer["time"], answer["own"], self.count))
            self.choice |= several
        effects: Json = answer.get("effects", [])
        if kind == "Cycle" and acts and not self.at_once:
            effects = self.carry_out(answer["own"])
            effects = [] if effects is None else effects
        if (acts and several) or (kind == "Decide" and self.at_once):
            effects = UNKNOWN
        if kind == "Cycle":
            self.finish()
        long = any(len(json.dumps(one)) > LONG for one in (*told, *candidates))
        lost = UNKNOWN if long else answer.get("lost", UNKNOWN)
        return shown(kind.lower(), decision=self._told(answer, several), effects=effects, lost=lost)

    def _plausible(self, told: Json, candidates: Json) -> None:
        for one in told:
            if one["kind"] == "system" and record(one["payload"]).get("event") == "executor_integrity_fail":
                raise Unsupported("an event of the executor")
        for one in candidates:
            if self.takes_no_ids and one["scope"] and not one["scope"]["observation_ids"]:
                raise Unsupported("a scope claim without observations")
            asked = one["request"]
            if asked["action_type"] not in [name for name, _, _ in TYPES] and asked["fields"]:
                raise Unsupported("fields of an action type that nobody knows")
            whole = one["scope"] and one["justification"] and one["citations"] and not asked["fields"]
            if self.whole_exits and asked["action_type"] == "Exit" and not whole:
                raise Unsupported("half of an Exit bundle")
            paths = [plain(value) for name, value in asked["fields"] if name == "path"]
            if "" in paths:
                raise Unsupported("an empty path, which these kernels take for one outside")
            if any(_turns_at_nothing(one, self.config["tree"]) for one in paths):
                raise Unsupported("`..` behind what is no directory: a disk refuses that, a shortened text does not")
            if one["justification"] and not one["justification"]["text"]:
                raise Unsupported("an empty justification")

    def _told(self, answer: Json, several: bool) -> Json:
        if answer["kind"] is None:  # it does not decide
            return None
        told: dict[str, Json] = {"$": "Decision", "kind": answer["kind"], "time": answer["time"], "warrant": None}
        told |= {"refusal": None, "exit": None}
        if answer["kind"] == "REFUSE":
            told["refusal"] = {"$": "Refusal", "reason": answer["reason"], "failed_gate": answer["gate"] or "",
                               "created_at": answer["time"]}  # fmt: skip
        elif answer["kind"] == "EXIT":
            told["exit"] = {"$": "Exit", "created_at": answer["time"]}
        else:
            what, bundle = answer.get("request", UNKNOWN), UNKNOWN
            if several and "request" in answer:
                what, bundle = ({"$chosen": one, "of": "candidates"} for one in (what, bundle))
            at = answer.get("at", UNKNOWN)
            told["warrant"] = {"$": "Warrant", "request": what, "bundle": bundle, "created_at": at, "age": 0}
        return told

    def _handed(self, action: Json) -> Json:
        warrant = action["warrant"]
        asked = {name: action["request"][name] for name in ("action_type", "fields")}
        if asked != {name: warrant["request"][name] for name in asked}:
            raise Unsupported("a request beside its warrant")
        own = self._own(warrant)
        if self.held.setdefault(action["executor"], own) != own:
            raise Unsupported("another warrant in the same hands: whoever refuses it still holds the first one")
        return UNKNOWN

    def _own(self, told: Json) -> Any:
        """The kernel's own warrant that the checker means, or a forged one."""
        asked = told["request"]["action_type"], told["request"]["fields"]
        for won, author, time, own, count in reversed(self.issued):
            alike = any((one["action_type"], one["fields"]) == asked for one in won)
            alike &= author == told["request"]["author"]  # empty where the hash does not cover it
            alike &= MADE.fullmatch(told["bundle"]) is not None
            if alike and time == told["created_at"] and (count == self.count) == (told["age"] == 0):
                if len(won) > 1:
                    raise Unsupported("a warrant of one of several admitted, of which this kernel may pick another")
                return own
        if self.choice:
            raise Unsupported("a warrant of a choice by another hash")
        return self.forge()

    def _used(self, executor: str) -> Json:
        if executor not in self.held:
            return shown("rejected", rejected="nothing is held")
        effects = self.carry_out(self.held.pop(executor))
        return shown(UNKNOWN, effects=effects or [], rejected="" if effects is not None else "refused")

    # in the kernel's words

    def known(self, name: str) -> str:
        """The kernel's own id of an observation."""
        return self.ids.get(name, name)

    def cited(self, text: Any) -> Any:
        """A citation of the kernel's own constitution."""
        if self.clauses_by_name and text.startswith(HEAD + "@/clauses"):
            raise Unsupported("a pointer to a clause by its place")
        if text == HEAD + "@":
            raise Unsupported("a pointer at the whole constitution, which resolves for none of these kernels")
        if text == HEAD + "@/limits":
            return HEAD + "@" + self.limits_at
        head, mark, name = text.partition("#")
        return head + mark + OTHERWISE.get(name, name) if mark else text

    def bundle(self, told: Json) -> dict[str, Any]:
        """A candidate with the names of the text; what is not there is left out."""
        scope, reason, asked = told["scope"], told["justification"], told["request"]
        authors = {one["author"] for one in (scope, reason, asked) if one}
        if self.authors is None and "kernel" in authors:
            raise Unsupported("a bundle by the kernel, for a kernel that does not look at authors")
        if self.authors is not None and (len(authors) > 1 or not authors <= set(self.authors)):
            raise Unsupported("a bundle by several authors, or by the user")
        found: dict[str, Any] = {
            "author": asked["author"],
            "action_request": {"action_type": asked["action_type"], "fields": record(asked["fields"])},
            "authority_citations": [self.cited(one) for one in told["citations"]],
        }
        if scope:
            found["scope_claim"] = {
                "claim": scope["claim"], "clause_ref": self.cited(scope["clause_ref"]),
                "observation_ids": [self.known(one) for one in scope["observation_ids"]],
            }  # fmt: skip
        if reason:
            found["justification"] = {"text": reason["text"]}
        return found

    def payload(self, told: Json) -> Any:
        """What was observed.  Raises Unsupported for an object of another form."""
        if len(told["payload"]) != 1 or told["author"] != "host":
            raise Unsupported("an observation of another form")
        return plain(told["payload"][0][1])

    def begin(self) -> None:
        """Make the kernel."""
        raise NotImplementedError

    def decide(self, told: Json, candidates: Json) -> dict[str, Any]:
        """Have the kernel decide: kind, time, reason, gate, request, at (of the warrant), own (the warrant itself)."""
        raise NotImplementedError

    def carry_out(self, own: Any) -> list[Json] | None:
        """Have the kernel execute a warrant; returns the effects, None if it refuses."""
        raise NotImplementedError

    def finish(self) -> None:
        """The cycle is over."""

    def forge(self) -> Any:
        """A warrant that the kernel has not issued."""
        raise Unsupported("a forged warrant")

    def swap(self, place: list[str], node: Json) -> None:
        """Somebody puts a node at a place."""
        raise Unsupported("no directories and links")

    def restart(self, who: str) -> None:
        """Somebody restarts."""
        raise Unsupported("a restart")


class Files(dict[str, str]):
    """Files in memory that note what is written, even if it is the same as before."""

    def __init__(self, files: Mapping[str, str]) -> None:
        super().__init__(files)
        self.written: dict[str, str] = {}

    def __setitem__(self, name: str, text: str) -> None:
        super().__setitem__(name, text)
        self.written[name] = text


def done(content: Any, news: list[str], written: Mapping[str, str]) -> list[Json]:
    """The effects of one execution: what was read, what is new on the screen, which files were written."""
    found = [effect("Notify", [], text) for text in news]
    found += [effect("WriteLocal", ["repo", *name.split("/")], text) for name, text in written.items()]
    if content is not None:
        found.append(effect("ReadLocal", UNKNOWN, content))
    return found
