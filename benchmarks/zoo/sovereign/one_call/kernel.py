"""A steward bound by a charter. One call judges the wishes of a turn and carries the best one out."""

import hashlib
import json
import re

DEFECTS = (
    "exitByUser",
    "afterExit",
    "kernelWish",
    "clauseByPrefix",
    "anyAdmitted",
    "firstWishOnly",
    "readWhatYouWrite",
    "tokensAddUp",
    "pointerCrash",
    "oldSightings",
)
CHARTER = {
    "version": "v0.1.1",
    "clauses": [
        {"id": "INV-NO-SIDE-EFFECTS-WITHOUT-WARRANT"},
        {"id": "INV-EXPLICIT-AUTHORITY"},
        {"id": "INV-NON-PRIVILEGED-REFLECTION"},
        {"id": "INV-REPLAY-DETERMINISM"},
    ],
    "deeds": ["Notify", "ReadLocal", "WriteLocal", "LogAppend", "Exit"],
    "readPaths": ["./artifacts/", "./workspace/"],
    "writePaths": ["./workspace/", "./logs/"],
    "maxTokens": 6000,
}
NEEDS = {"Notify": {"message"}, "ReadLocal": {"path"}, "WriteLocal": {"path", "content"}}
KINDS = {"user_input": str, "timestamp": str, "budget": int, "system": str}


def toText(value, depth=30):
    """Canonical JSON (RFC 8785) without fractions; ValueError where there is none."""
    if value is None or type(value) is bool or (type(value) is int and abs(value) < 2**53):
        return json.dumps(value)
    if type(value) is str:
        return json.dumps(value.encode().decode(), ensure_ascii=False)
    if type(value) is list and depth:
        return f"[{','.join(toText(item, depth - 1) for item in value)}]"
    if type(value) is dict and depth and all(type(key) is str for key in value):
        order = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{toText(key)}:{toText(value[key], depth - 1)}" for key in order) + "}"
    raise ValueError("no canonical text")


def sha(value):
    return hashlib.sha256(toText(value).encode()).hexdigest()


class Steward:
    def __init__(self, files=None, charter=CHARTER, seal=None, defects=frozenset()):
        self.defects = frozenset(defects)
        self.sealBroken = seal is not None and sha(charter) != seal
        self.charter = json.loads(toText(CHARTER if self.sealBroken else charter))
        self.files = dict(files or {})
        self.shown = []
        self.turn = 0
        self.ended = False
        self.tokensBefore = 0
        self.seenBefore = set()

    def act(self, sightings, wishes):
        """One turn: what the host saw and what is wished for; answers with the decision and what came of it."""
        if self.ended and "afterExit" not in self.defects:
            return {"turn": self.turn, "decision": None, "why": "ended"}
        sightings = self.checkSightings(sightings)
        answer = {"turn": self.turn, **self.decide(sightings, wishes)}
        self.turn += 1
        self.seenBefore.update(name for name, _, _ in sightings)
        self.ended = self.ended or answer["decision"] == "EXIT"
        return answer

    def checkSightings(self, sightings):
        found = []
        for sighting in sightings:
            name, kind, what = sighting["id"], sighting["kind"], sighting["what"]
            bad = type(name) is not str or kind not in KINDS or type(what) is not KINDS[kind]
            if bad or name in [one[0] for one in found]:
                raise ValueError("sighting")
            if kind == "timestamp" and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", what, re.ASCII):
                raise ValueError("timestamp")
            found.append((name, kind, what))
        return found

    def decide(self, sightings, wishes):
        times = [what for _, kind, what in sightings if kind == "timestamp"]
        if len(times) != 1:
            return self.refuse("MISSING_REQUIRED_OBSERVATION", "", "required_observations")
        alarms = ("system", "user_input") if "exitByUser" in self.defects else ("system",)
        alarm = any(kind in alarms and what == "startup_integrity_fail" for _, kind, what in sightings)
        if (alarm or self.sealBroken) and not self.ended:
            return {"decision": "EXIT", "at": times[0]}
        budgets = [what for _, kind, what in sightings if kind == "budget"]
        tokens = sum(budgets) + self.tokensBefore
        if "tokensAddUp" in self.defects:
            self.tokensBefore = tokens
        if tokens > self.charter["maxTokens"]:
            return self.refuse("BUDGET_EXHAUSTED", times[0])
        known = {name for name, _, _ in sightings}
        if "oldSightings" in self.defects:
            known |= self.seenBefore
        return self.choose(wishes, known, times[0])

    def choose(self, wishes, known, time):
        wishes = [self.copyOf(wish) for wish in wishes]
        wishes = [
            w for w in wishes if not (type(w) is dict and type(w.get("do")) is dict and w["do"].get("deed") == "Exit")
        ]
        if "firstWishOnly" in self.defects:
            wishes = wishes[:1]
        gates = [self.failedGate(wish, known) for wish in wishes]
        admitted = [wish for wish, gate in zip(wishes, gates, strict=True) if not gate]
        if not admitted:
            return self.refuse("NOTHING_ADMITTED", time, gates[0] if gates else "")
        best = admitted[-1] if "anyAdmitted" in self.defects else min(admitted, key=sha)
        warrant = {"do": sha(best["do"]), "wish": sha(best), "turn": self.turn, "at": time}
        return {
            "decision": "ACTION",
            "at": time,
            "warrant": sha(warrant),
            "wish": best,
            "result": self.perform(best["do"]),
        }

    def refuse(self, code, time, gate=""):
        return {"decision": "REFUSE", "at": time, "code": code, "failedGate": gate}

    def copyOf(self, wish):
        try:
            return json.loads(toText(wish))
        except (ValueError, RecursionError):
            return None

    def failedGate(self, wish, known):
        if not self.isComplete(wish):
            return "completeness"
        if not all(self.resolves(citation) for citation in wish["cites"]):
            return "authority_citation"
        scope = wish.get("scope")
        if scope and not (self.resolves(scope["clause"]) and all(name in known for name in scope["seen"])):
            return "scope_claim"
        if wish["do"]["deed"] not in self.charter["deeds"]:
            return "constitution_compliance"
        return "" if self.pathIsOpen(wish["do"]) else "io_allowlist"

    def isComplete(self, wish):
        if type(wish) is not dict or type(wish.get("do")) is not dict or type(wish.get("cites")) is not list:
            return False
        deed, rest = wish["do"].get("deed"), {key: what for key, what in wish["do"].items() if key != "deed"}
        if type(deed) is not str or not wish["cites"]:
            return False
        if deed == "LogAppend":
            return "kernelWish" in self.defects and wish.get("by") == "kernel"
        scope = wish.get("scope")
        if type(scope) is not dict or type(scope.get("clause")) is not str or type(scope.get("claim")) is not str:
            return False
        if type(scope.get("seen")) is not list or not scope["seen"] or type(wish.get("because")) is not str:
            return False
        if wish.get("by") not in ("reflection", "host") or not all(type(name) is str for name in scope["seen"]):
            return False
        return deed not in NEEDS or (set(rest) == NEEDS[deed] and all(type(what) is str for what in rest.values()))

    def resolves(self, citation):
        head = f"constitution:{self.charter['version']}"
        if type(citation) is not str or not citation.startswith((head + "#", head + "@/")):
            return False
        rest = citation[len(head) + 1 :]
        if citation[len(head)] == "#":
            ids = [clause["id"] for clause in self.charter["clauses"]]
            return any(name.startswith(rest) for name in ids) if "clauseByPrefix" in self.defects else rest in ids
        return self.pointsAt(rest[1:].split("/"))

    def pointsAt(self, steps):
        place = self.charter
        for step in steps:
            if re.search("~(?![01])", step):
                return False
            step = step.replace("~1", "/").replace("~0", "~")
            if type(place) is list:
                if "pointerCrash" not in self.defects and not re.fullmatch("0|[1-9][0-9]{0,5}", step):
                    return False
                place = dict(enumerate(place)).get(int(step))
            else:
                place = place.get(step) if type(place) is dict else None
            if place is None:
                return False
        return True

    def clean(self, path):
        """The path as steps below the root, or None."""
        if path == "" or path[0] == "/" or "\\" in path or "\0" in path:
            return None
        steps = []
        for step in path.split("/"):
            if step == "..":
                if not steps:
                    return None
                steps.pop()
            elif step not in ("", "."):
                steps.append(step)
        return "/".join(steps)

    def pathIsOpen(self, do):
        if "path" not in do:
            return True
        if do["deed"] not in ("ReadLocal", "WriteLocal"):
            return True
        roots = self.charter["writePaths" if do["deed"] == "WriteLocal" else "readPaths"]
        if do["deed"] == "ReadLocal" and "readWhatYouWrite" in self.defects:
            roots = [*roots, *self.charter["writePaths"]]
        path = self.clean(do["path"])
        return path is not None and any(path.startswith(root.removeprefix("./")) for root in roots)

    def perform(self, do):
        if do["deed"] == "Notify":
            self.shown.append(do["message"])
            return "shown"
        if do["deed"] == "WriteLocal":
            self.files[self.clean(do["path"])] = do["content"]
            return "written"
        if do["deed"] == "ReadLocal":
            return self.files.get(self.clean(do["path"]))
        name = f"logs/{do.get('log')}.jsonl"
        self.files[name] = self.files.get(name, "") + "".join(f"{line}\n" for line in do.get("lines", []))
        return "logged"
