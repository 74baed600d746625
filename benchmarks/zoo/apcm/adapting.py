"""What the adapters of these kernels share: the checker's JSON in plain values, and plain values in the checker's JSON.

Nothing in this module knows how an artefact is judged.  The checker cites a previous artefact by its own digest, each
kernel by another: `cited` exchanges the one for the other.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.conform.adapters import Initial, Unsupported

Json = Any
UNKNOWN: Json = {"$unknown": True}
DEFAULTS = {
    "av_in_collision": "not_required", "av_rp_overlap": "allowed", "feasible_empty": "gridlock",
    "first_step_mode": "revise_only", "list_inputs": "coerced", "pair_arity": "two_distinct",
    "pair_order": "unordered", "previous": "last_compiled", "satisfies": "free",
}  # fmt: skip
STEPS = 40
"""How many steps of an endless run are handed to a kernel that takes its world at once."""

GRATUITOUS, FALSE, WITHOUT = "E_GRATUITOUS_VIOLATION", "E_FALSE_COLLISION", "E_AV_WITHOUT_COLLISION"
SETS = ("authorized_violations", "required_preservations", "conflict_attribution")


def defects() -> frozenset[str]:
    """The planted defects that are switched on."""
    return frozenset(filter(None, os.environ.get("ZOO_DEFECTS", "").split(",")))


def plain(value: Json, arrays: bool = False) -> Any:
    """A value as it arrives; with `arrays` sets and tuples are lists.  Raises Unsupported for what is no JSON then."""
    if isinstance(value, dict) and "$set" in value:
        members = [plain(one, arrays) for one in value["$set"]]
        return members if arrays else set(members)
    if isinstance(value, dict) and value["$"] == "Atom":
        return value["text"] if value["kind"] == "str" else json.loads(value["text"])
    if isinstance(value, dict):
        found = {"object": {"a": 1}, "list": [1]}.get(value["what"])
        if found is None and (arrays or value["what"] != "function"):
            raise Unsupported(f"a value that cannot be handed in: {value['what']}")
        return print if found is None else found
    return value


def ids(value: Json, arrays: bool = False) -> Any:
    """Where the checker has a set of ids.  Raises Unsupported for a list with one twice where lists stand for sets."""
    if not isinstance(value, list):
        return plain(value, arrays)
    members = [plain(one, arrays) for one in value]
    if arrays and any(one in members[:at] for at, one in enumerate(members)):
        raise Unsupported("a list that names something twice, where lists stand for sets")
    return members


def pairs(value: Json, arrays: bool = False) -> Any:
    """Where the checker has a set of pairs."""
    if not (isinstance(value, list) or (isinstance(value, dict) and "$set" in value)):
        return plain(value, arrays)
    members = value if isinstance(value, list) else value["$set"]
    found = [[plain(one, arrays) for one in pair] for pair in members]
    if arrays:
        named = [sorted(map(str, one)) for one in found]
        if any(one in named[:at] for at, one in enumerate(named)):  # a set may hold both orders of one pair
            raise Unsupported("a list that names something twice, where lists stand for sets")
        return found
    return [tuple(one) for one in found] if isinstance(value, list) else {tuple(one) for one in found}


def artifact(told: Json, cited: Any, arrays: bool = False) -> Any:
    """An artefact with the names of the text; what is None is left out."""
    if told is None:
        return None
    av, rp = (ids(told[name], arrays) for name in SETS[:2])
    found = {SETS[0]: av, SETS[1]: rp, SETS[2]: pairs(told[SETS[2]], arrays)}
    found["precedent_reference"] = plain(told["precedent_reference"], arrays)
    if told["mode"] is not None:
        mode = plain(told["mode"], arrays)
        found["conflict_resolution"] = {"mode": mode, "previous_artifact_digest": cited}
    return {name: value for name, value in found.items() if value is not None}


def lazy(preferences: Sequence[str], cited: Any) -> Any:
    """An artefact that authorises without a collision, for a step in which no artefact counts."""
    return {
        SETS[0]: list(preferences[:1]), SETS[1]: [], SETS[2]: [], "precedent_reference": "none",
        "conflict_resolution": {"mode": "REVISE", "previous_artifact_digest": cited},
    }  # fmt: skip


def situation(told: Json, arrays: bool = False, keys_are_feasible: bool = False) -> tuple[list[str], dict[str, Any]]:
    """The feasible actions and the APCM as a mapping.  Raises Unsupported for what a mapping cannot say."""
    feasible, listed = told["feasible"], [action for action, _ in told["apcm"]]
    if len(set(listed)) < len(listed):
        raise Unsupported("a mapping that names an action twice")
    if keys_are_feasible and sorted(feasible) != sorted(listed):
        raise Unsupported("feasible actions other than those of the mapping")
    apcm: dict[str, Any] = {}
    for action, entry in told["apcm"]:
        sides = {side: ids(entry[side], arrays) for side in ("violates", "satisfies")}
        apcm[action] = {side: value for side, value in sides.items() if value is not None or arrays}
    return list(feasible), apcm


def fields(av: Iterable[Any], rp: Iterable[Any], declared: Iterable[Iterable[Any]]) -> Json:
    """AV, RP and pairs in the order in which the kernel tells them."""
    return {"$": "Fields", "av": list(av), "rp": list(rp), "pairs": [list(pair) for pair in declared]}


def digest(told: Json) -> str:
    """The digest by which the checker cites these fields."""
    body = dict(zip(SETS, (told["av"], told["rp"], told["pairs"]), strict=True))
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return "blake2b128:" + hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def errors(codes: Sequence[str], told: Json, idle: Sequence[str] | None = None, alone: Sequence[str] = ()) -> Json:
    """The errors of a failed compile; the checker lists one for each preference and pair at fault.

    Not told, if the kernel does not say how many there are, or stops at one code of `alone`.
    """
    if not set(codes).isdisjoint(alone):
        return UNKNOWN
    if WITHOUT in codes and _members(told[SETS[2]]):  # where each must appear in a pair, the checker names each
        return UNKNOWN
    counts = dict.fromkeys(codes, 1)
    if FALSE in counts:
        counts[FALSE] = len(_members(told[SETS[2]])) or 1
    if GRATUITOUS in counts and idle is None:
        counts[GRATUITOUS] = len(_members(told[SETS[0]])) or 1
    if any(count > 1 for count in counts.values()):
        return UNKNOWN
    found: list[Json] = []
    for code in codes:
        culprits = [[one] for one in idle] if code == GRATUITOUS and idle else [UNKNOWN]
        found += [{"$": "Error", "code": code, "culprit": culprit} for culprit in culprits]
    return found


def _members(value: Json) -> list[Any]:
    found = value["$set"] if isinstance(value, dict) else value
    return [one for at, one in enumerate(found) if one not in found[:at]]


def shown(kind: str, **told: Json) -> Json:
    """An observation; what is not named is empty."""
    empty: dict[str, Json] = {
        "artifact": None, "fields": None, "mode": "", "compile_ok": None, "errors": [], "forbidden": [],
        "permitted": [], "offered": [], "halt": False, "gridlock": False, "revision": False, "selected": "",
        "selected_violates": [], "invalid": [], "rejected": "",
    }  # fmt: skip
    return {"$": "Shown", "kind": kind, **empty, **told}


REJECTED = shown("rejected", rejected="refused")
INVALID = shown("submit", invalid=UNKNOWN)


class Adapter:
    """One run; the subclass drives its kernel."""

    readings: Mapping[str, str] = {}
    conditions: tuple[str, ...] = ("MVRA",)
    one_submission = False
    """Whether the kernel can only be asked what it asks for, and a refused selection ends its step."""

    def __init__(self, initial: Initial) -> None:
        self.config: Json = initial["config"]
        self._check(initial)
        self.turn, self.asked, self.spent = 0, False, False
        self.digests: dict[str, Any] = {}
        self.begin()

    def _check(self, initial: Initial) -> None:
        config, start = self.config, initial["start"]
        if initial["system"] not in ("run", "universe", "conditions"):
            raise Unsupported(f"no system {initial['system']}")
        for name, value in {**DEFAULTS, **self.readings}.items():
            if config["readings"][name] != value:
                raise Unsupported(f"the reading {name}={config['readings'][name]}; give --reading {name}={value}")
        if config["condition"] not in self.conditions:
            raise Unsupported(f"no condition {config['condition']}")
        if config["condition"] == "MVRA" and config["generator"]:
            raise Unsupported(f"no generator {config['generator']}")
        if config["selector"] not in ("", "any"):
            raise Unsupported(f"no selector {config['selector']}")
        if start["place"] or start["previous"] or start["over"] or start["permitted"]:
            raise Unsupported("a start in the middle of a run")

    def situation(self) -> Json:
        """What the environment publishes in this step.  Raises Unsupported after the last one."""
        if self.config["steps"] is not None and self.turn >= self.config["steps"]:
            raise Unsupported("a step after the last one")
        return self.config["situations"][self.turn % len(self.config["situations"])]

    def world(self) -> list[Json]:
        """The situations of all steps, for a kernel that takes them at once."""
        listed = self.config["situations"]
        return [listed[at % len(listed)] for at in range(self.config["steps"] or STEPS)]

    def know(self, told: Json, own: Any) -> None:
        """Learn the kernel's own digest of the fields of an artefact."""
        self.digests[digest(told)] = own

    def cited(self, told: Json) -> Any:
        """What the artefact cites, by the kernel's own digest if it is one of an artefact of the run."""
        cited = None if told is None else plain(told["previous_artifact_digest"])
        if cited is not None and not isinstance(cited, str):
            raise Unsupported("a citation that is no text, which the text does not call malformed")
        return None if cited is None else self.digests.get(cited, cited)

    def step(self, action: Json) -> Json:
        """One action."""
        if self.spent:
            raise Unsupported("a step that ended with a refused selection")
        if self.one_submission and self.asked != (action["$"] == "Select"):
            raise Unsupported("an answer that was not asked for")
        if action["$"] == "Select":
            return self.select(action["action"])
        return self.submit(action["artifact"])

    def begin(self) -> None:
        """Make the kernel."""
        raise NotImplementedError

    def submit(self, told: Json) -> Json:
        """Hand in an artefact."""
        raise NotImplementedError

    def select(self, action: str) -> Json:
        """Select an action."""
        raise NotImplementedError

    def told(self, place: int, previous: Json, permitted: Iterable[str], over: bool) -> Json:
        """Facts; that a run of so many steps is done only the environment knows."""
        steps = self.config["steps"]
        done = steps is not None and place >= steps
        at = place if steps is not None else place % len(self.config["situations"])
        return {
            "place": UNKNOWN if over else at, "previous": previous, "permitted": sorted(permitted),
            "over": UNKNOWN if over or done else "",
        }  # fmt: skip
