"""What the adapters of this folder share: the checker's JSON in plain values, and plain values in the checker's JSON.

Every kernel here was written from the text alone.  Nothing in this module knows how a request is judged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from evenhand.conform.adapters import Initial, Unsupported

Json = Any

UNKNOWN: Json = {"$unknown": True}
ENDLESS = 10**6
"""The number of epochs of a run that has no last one."""
DEPTH = 50
"""The kernels leave out JSON that is nested deeper."""

ADMITTED = frozenset({"", "PASS_2", "SCOPE_VIOLATION"})
"""The log's codes of requests that passed pass 1."""
VERDICTS = {"PASS_1": "PASS_ONE", "PASS_2": "PASS_TWO", "": "ADMITTED", "SCOPE_VIOLATION": "ADMITTED"}
"""What the log's codes say about where a request ended; any other fault is one of structure."""

_HELD = {
    "scope_check": "snapshot_diff_only",
    "fault_precedence": "fault_first",
    "orphan_ends_run": "no",
}
_CONCLUDED = {
    "end_at_max": "coordinated_if_any_executed",
    "livelock_rule": "pass2_refusals",
    "orphan_scope": "writes_only",
    "terminal_precedence": "collapse_orphaning_deadlock_livelock",
}


def defects() -> frozenset[str]:
    """The planted defects that are switched on."""
    return frozenset(filter(None, os.environ.get("ZOO_DEFECTS", "").split(",")))


def supported(initial: Initial, systems: Sequence[str], plain_numbers: bool = False) -> Json:
    """The configuration, if the kernels of this folder implement it from its start.  Raises Unsupported."""
    config, start = initial["config"], initial["start"]
    if initial["system"] not in systems:
        raise Unsupported(f"no system {initial['system']}")
    for name, value in _HELD.items():
        if config["readings"][name] != value:
            raise Unsupported(f"reading {name}={config['readings'][name]}")
    if start["world"] != config["world"] or start.get("epoch", 0) or start.get("counter", 0):
        raise Unsupported("a start in the middle of a run")
    if any(mark != "NONE" for mark in start.get("marks", [])):
        raise Unsupported("a start in the middle of a run")
    if plain_numbers and any(atom["kind"] == "number" for _, atom in config["world"]):
        raise Unsupported("numbers that are not whole")
    return config


def conclusion(config: Json, deadlock_space: str, verdict: Any, admitted: bool, *, left: bool) -> Json:
    """Whether the run has ended, and how; a kernel has no verdict before the end.

    The class is told where the configuration has the kernel's own readings.  Which other actions count when a deadlock
    is looked for matters only if the last epoch `admitted` nothing in pass 1, and so does whether agents that `left` in
    this epoch still count, as in the model, or do not, as in these kernels.
    """
    readings = config["readings"]
    asked = all(readings[name] == value for name, value in _CONCLUDED.items())
    same = readings["deadlock_space"] == deadlock_space and not left
    alike = admitted or same or verdict in ("COLLAPSE", "ORPHANING")
    ended = verdict is not None
    return {"$": "Conclusion", "ended": ended, "terminal": "" if not ended else verdict if asked and alike else UNKNOWN}


def setup(config: Json) -> Json:
    """The configuration as the text has it; an artefact that comes later than epoch 0 cannot be handed in."""
    return {
        "agents": list(config["agents"]),
        "state": {key: plain(atom) for key, atom in config["world"]},
        "max_epochs": ENDLESS if config["epochs"] is None else config["epochs"],
        "communication": config["communication"],
        "message_limit": config["readings"]["message_limit"],
        "authorities": [
            {
                **{name: one[name] for name in ("authority_id", "commitment", "holder_agent_id", "issuer_agent_id")},
                "scope": [{"target": target, "operation": operation} for target, operation in one["scope"]],
            }
            for one in config["authorities"]
            if one["epoch"] == 0
        ],
    }


_OPAQUE: Mapping[str, Callable[[], Any]] = {
    "function": lambda: print,
    "bytes": lambda: b"bytes",
    "list": lambda: [1],
    "object": lambda: {"a": 1},
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
}
_JSON = ("list", "object")


def plain(value: Json, only_json: bool = False) -> Any:
    """A value as agents and kernels have it.  Raises Unsupported for what the kernel cannot be handed."""
    if value["$"] == "Opaque":
        what = value["what"]
        if what not in _OPAQUE or (only_json and what not in _JSON):
            raise Unsupported(f"a value that cannot be handed in: {what}")
        return _OPAQUE[what]()
    kind, text = value["kind"], value["text"]
    if kind == "str":
        return text
    if kind == "number":
        return float(text)
    return json.loads(text)


def atom(value: Any) -> Json:
    """A plain value in the checker's JSON."""
    if isinstance(value, str):
        return {"$": "Atom", "kind": "str", "text": value}
    if value is None or isinstance(value, bool):
        return {"$": "Atom", "kind": "null" if value is None else "bool", "text": json.dumps(value)}
    if isinstance(value, int):
        return {"$": "Atom", "kind": "int", "text": str(value)}
    if isinstance(value, float):
        return {"$": "Atom", "kind": "number", "text": f"{value:g}"}
    return UNKNOWN


def world(cells: Mapping[str, Any]) -> Json:
    """The cells in any order."""
    return {"$bag": [[key, atom(value)] for key, value in cells.items()]}


def effects(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """Which cells are another value than before."""
    pairs = [(key, atom(before.get(key)), atom(after.get(key))) for key in {**before, **after}]
    return {
        "$bag": [
            {"$": "Effect", "key": key, "before": old, "after": new}
            for key, old, new in pairs
            if old != new or (key in before) != (key in after)
        ]
    }


def request(asked: Json, agent: str, epoch: int, known: Container[str], only_json: bool = False) -> Json:
    """A request as the text has it.  Who says neither name nor id in the checker's JSON means the due ones."""
    delta = asked["proposed_delta"]
    if len({key for key, _ in delta}) < len(delta):
        raise Unsupported("an object that names a key twice")
    if any(key not in known and key not in asked["declared_scope"] for key, _ in delta):
        raise Unsupported("an undeclared change of a key that is not there, which the text does not call malformed")
    return {
        "agent_id": agent if asked["agent_id"] is None else asked["agent_id"],
        "action_id": f"{agent}:{epoch}:0" if asked["action_id"] is None else asked["action_id"],
        "action_type": asked["action_type"],
        "declared_scope": list(asked["declared_scope"]),
        "proposed_delta": {key: plain(value, only_json) for key, value in delta},
        "authorities_cited": list(asked["authorities_cited"]),
    }


def logged(kept: Any, asked: Json, agent: str, epoch: int) -> Json:
    """A request that the log has, as far as it has it; what `request` filled in is left out again."""
    if not isinstance(kept, dict):
        return UNKNOWN
    due = {"agent_id": agent, "action_id": f"{agent}:{epoch}:0"}
    told: dict[str, Json] = {"$": "Request"}
    for name in ("agent_id", "action_id"):
        filled = asked[name] is None and kept.get(name) == due[name]
        told[name] = None if filled else kept.get(name, "")
    told["action_type"] = kept.get("action_type", "")
    told["declared_scope"] = kept.get("declared_scope", [])
    told["authorities_cited"] = kept.get("authorities_cited", [])
    delta = kept.get("proposed_delta")
    told["proposed_delta"] = (
        {"$bag": [[key, atom(value)] for key, value in delta.items()]} if isinstance(delta, dict) else []
    )
    return told


class Letters:
    """Messages are texts for the checker and JSON values for the kernels: which text became which value."""

    def __init__(self, only_json: bool = False) -> None:
        self._texts: dict[str, str] = {}
        self._only_json = only_json

    def content(self, draft: Json) -> Any:
        """The value of a message; a text that is no JSON is handed in as it is.  Raises Unsupported."""
        text = draft["content"]
        if not isinstance(text, str):
            return plain(text, self._only_json)
        try:
            value = json.loads(text, object_pairs_hook=_once)
        except (ValueError, RecursionError):
            return text
        if value is None:
            raise Unsupported("null as a message, which means none to these kernels")
        if _depth(value) > DEPTH:
            raise Unsupported(f"JSON nested deeper than {DEPTH}")
        if self._only_json and not _is_json(value):
            raise Unsupported("NaN and infinities, which cannot be sent")
        if self._texts.setdefault(_key(value), text) != text:
            raise Unsupported("two texts of one JSON value, which these kernels cannot tell apart")
        return value

    def messages(self, letters: Iterable[Mapping[str, Any]]) -> Json:
        """Messages that the kernel shows, in any order."""
        return {
            "$bag": [
                {
                    "$": "Message",
                    "sender": one["sender"],
                    "epoch": one["epoch"],
                    "content": self._texts.get(_key(one["content"]), _key(one["content"])),
                }
                for one in letters
            ]
        }


def _once(pairs: list[tuple[str, Any]]) -> Any:
    if len(dict(pairs)) < len(pairs):
        raise Unsupported("an object that names a key twice")
    return dict(pairs)


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _is_json(value: Any) -> bool:
    try:
        return bool(json.dumps(value, allow_nan=False))
    except ValueError:
        return False


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def objects(*messages: Any) -> None:
    """Raise Unsupported unless these are objects: they are the host's, and only what is in them an agent's."""
    if not all(isinstance(one, dict) for one in messages):
        raise Unsupported("the call itself is the host's")


def choices(action: Json) -> dict[str, Json]:
    """What each agent chose, for kernels that take one choice of each.  Raises Unsupported."""
    pairs = action["choices"]
    if len({agent for agent, _ in pairs}) < len(pairs):
        raise Unsupported("two choices of one agent")
    return dict(pairs)


def observation(seen: Mapping[str, Any], last_scope: Json, letters: Letters) -> Json:
    """An observation with the fields of the text."""
    return {
        "$": "Observation",
        "epoch": seen["epoch"],
        "world_state": world(seen["world_state"]),
        "own_last_outcome": seen["own_last_outcome"],
        "own_last_action_id": seen["own_last_action_id"],
        "own_last_declared_scope": last_scope,
        "messages": letters.messages(seen["messages"]),
    }


def entry(agent: str, epoch: int, code: str, outcome: Any, kept: Json) -> Json:
    """An entry of the log whose codes are those of `VERDICTS`."""
    return {
        "$": "Entry",
        "agent_id": agent,
        "action_id": f"{agent}:{epoch}:0",
        "request": kept,
        "verdict": VERDICTS.get(code, "STRUCTURE"),
        "fault": "" if code in ("PASS_1", "PASS_2") else code,
        "outcome": outcome,
    }


def shown(**parts: Json) -> Json:
    """The observable of an epoch; what is not named is empty, and none of these kernels hands out receipts."""
    names = ("seen", "tokens", "receipts", "log", "effects", "exits", "sent", "dropped", "rejected")
    return {"$": "Shown", **{name: parts.get(name, []) for name in names}}


def closed(action: Json, free: bool) -> Json:
    """What is shown of an epoch after the last one: that nothing was taken."""
    if free:
        return free_shown([], {"$bag": []}, False, [])
    return shown(rejected={"$bag": [[agent, UNKNOWN] for agent, _ in action["choices"]]})


def free_tokens(tokens: Mapping[str, Any], exits: Iterable[str]) -> Json:
    """The tokens; to leave has a word of its own there."""
    told: dict[str, Any] = {**tokens, **dict.fromkeys(exits, "EXITED")}
    return [[agent, told[agent]] for agent in sorted(told)]


def free_shown(tokens: Json, changes: Json, attempted: bool, codes: Iterable[str] | None) -> Json:
    """The observable of the system of free agents; without codes the two refusals cannot be told apart."""
    found = None if codes is None else set(codes)
    return {
        "$": "FreeShown",
        "tokens": tokens,
        "effects": changes,
        "happened": {
            "$": "Happened",
            "attempted": attempted,
            "refused": UNKNOWN if found is None else "PASS_1" in found,
            "collided": UNKNOWN if found is None else "PASS_2" in found,
            "changed": bool(changes["$bag"]),
        },
    }
