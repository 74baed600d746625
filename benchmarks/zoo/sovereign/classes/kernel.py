"""A constitution-bound agent as objects: it reads and writes real files below one folder and profiles itself."""

import copy
import hashlib
import json
import math
import os
import posixpath
import re
from collections import Counter
from dataclasses import asdict, dataclass

DEFECTS = (
    "follows_links",
    "live_bundle",
    "shared_spent",
    "live_trace",
    "any_cycle",
    "rounded_budget",
    "entropy_in_nats",
    "step_zero_as_gate_one",
    "remembered_time",
    "unhashable_type",
)
GATES = ("completeness", "authority_citation", "scope_claim", "constitution_compliance", "io_allowlist")
FIELDS = {"Notify": ["message"], "ReadLocal": ["path"], "WriteLocal": ["content", "path"], "Exit": []}
STREAMS = ("observations", "artifacts", "admission_trace", "selector_trace", "execution_trace")
TEXT = """{
  "version": "v0.1.1",
  "clauses": [
    {"id": "INV-NO-SIDE-EFFECTS-WITHOUT-WARRANT"},
    {"id": "INV-EXPLICIT-AUTHORITY"},
    {"id": "INV-NON-PRIVILEGED-REFLECTION"},
    {"id": "INV-REPLAY-DETERMINISM"}
  ],
  "action_types": ["Notify", "ReadLocal", "WriteLocal", "LogAppend", "Exit"],
  "kernel_only": ["LogAppend"],
  "read_paths": ["./artifacts/", "./workspace/"],
  "write_paths": ["./workspace/", "./logs/"],
  "max_total_tokens_per_cycle": 6000,
  "max_lines_per_warrant": 50,
  "max_chars_per_line": 10000,
  "max_bytes_per_warrant": 256000
}
"""
DIGEST = hashlib.sha256(TEXT.encode()).hexdigest()
_SPENT_EVERYWHERE = set()


class Terminated(Exception):
    """The agent has exited; no further cycle."""


class NotPlain(ValueError):
    """Not JSON of strings and whole numbers."""


def canonical(value, level=0):
    if level > 40:
        raise NotPlain("nested too deep")
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < 2**53):
        return json.dumps(value)
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise NotPlain("half a character") from error
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item, level + 1) for item in value) + "]"
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        pairs = [(key.encode("utf-16-be", "surrogatepass"), canonical(key) + ":", value[key]) for key in value]
        return "{" + ",".join(head + canonical(item, level + 1) for _, head, item in sorted(pairs, key=_first)) + "}"
    raise NotPlain(f"no place in JSON for {type(value).__name__}")


def _first(pair):
    return pair[0]


def digest(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()


class Observation:
    def __init__(self, kind, payload, created_at="", author="host"):
        good = {
            "user_input": isinstance(payload, str),
            "timestamp": isinstance(payload, str)
            and re.fullmatch(r"(?a:\d{4}(-\d\d){2}T\d\d(:\d\d){2}(\.\d+)?Z)", payload),
            "budget": type(payload) is int and 0 <= payload < 2**53,
            "system": payload in ("startup_integrity_ok", "startup_integrity_fail"),
        }
        if not good.get(kind):
            raise ValueError(f"no observation of kind {kind!r}: {payload!r}")
        self.kind, self.payload, self.created_at, self.author = kind, payload, created_at, author
        self.id = digest(self.body())

    def body(self):
        return {"kind": self.kind, "payload": self.payload, "created_at": self.created_at, "author": self.author}


class Bundle:
    """What reflection or the host proposes. `fields` and `scope` are dicts, `citations` a list."""

    def __init__(
        self, kind, fields, scope=None, justification=None, citations=None, created_at="", author="reflection"
    ):
        self.kind, self.fields, self.scope, self.justification = kind, fields, scope, justification
        self.citations, self.created_at, self.author = citations, created_at, author

    def hash(self):
        return bytes.fromhex(digest(vars(self)))


@dataclass(frozen=True)
class Warrant:
    id: str
    request: str
    cycle: int
    created_at: str


@dataclass(frozen=True)
class Decision:
    kind: str
    created_at: str
    reason: str = ""
    failed_gate: str = ""
    warrant: Warrant | None = None


class Constitution:
    def __init__(self, text):
        self.data = json.loads(text)
        self.ids = {clause["id"] for clause in self.data["clauses"]}

    def __getitem__(self, name):
        return self.data[name]

    def resolves(self, citation):
        match = re.fullmatch(r"constitution:v0\.1\.1([#@])(.+)", citation) if isinstance(citation, str) else None
        if not match:
            return False
        return match[2] in self.ids if match[1] == "#" else self._points(match[2])

    def _points(self, pointer):
        if not pointer.startswith("/"):
            return False
        place = self.data
        for step in pointer.split("/")[1:]:
            if re.search("~(?![01])", step):
                return False
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(place, dict) and step in place:
                place = place[step]
            elif isinstance(place, list) and step in [str(number) for number in range(len(place))]:
                place = place[int(step)]
            else:
                return False
        return True

    def allows(self, path, folders):
        if not path or path.startswith("/") or "\\" in path or "\0" in path:
            return False
        return any(posixpath.normpath(path).startswith(posixpath.normpath(folder) + "/") for folder in self[folders])


class Gatekeeper:
    def __init__(self, constitution, defects):
        self.constitution, self.defects = constitution, defects

    def failed(self, bundle, known, by_kernel=False):
        """The place of the first gate that fails, or None."""
        if bundle is None or not self._complete(bundle, by_kernel):
            return 0
        if not all(map(self.constitution.resolves, bundle.citations)):
            return 1
        if not by_kernel and not self._in_scope(bundle.scope, known):
            return 2
        if bundle.kind not in self.constitution["action_types"]:
            return 3
        folders = {"ReadLocal": "read_paths", "WriteLocal": "write_paths"}.get(bundle.kind)
        return 4 if folders and not self.constitution.allows(bundle.fields["path"], folders) else None

    def _complete(self, bundle, by_kernel):
        cited = isinstance(bundle.citations, list) and bundle.citations
        if "unhashable_type" in self.defects and bundle.kind in frozenset(self.constitution["kernel_only"]):
            return by_kernel and cited and self._short_enough(bundle.fields)
        if not isinstance(bundle.kind, str) or not isinstance(bundle.fields, dict) or not cited:
            return False
        if bundle.kind in self.constitution["kernel_only"]:
            return by_kernel and self._short_enough(bundle.fields)
        if not isinstance(bundle.scope, dict) or not isinstance(bundle.justification, str) or not bundle.justification:
            return False
        if sorted(bundle.scope) != ["claim", "clause_ref", "observation_ids"]:
            return False
        if not isinstance(bundle.scope["observation_ids"], list) or not isinstance(bundle.scope["claim"], str):
            return False
        texts = all(isinstance(value, str) for value in bundle.fields.values())
        return texts and sorted(bundle.fields) == FIELDS.get(bundle.kind, sorted(bundle.fields))

    def _in_scope(self, scope, known):
        ids = scope["observation_ids"]
        return self.constitution.resolves(scope["clause_ref"]) and bool(ids) and all(name in known for name in ids)

    def _short_enough(self, fields):
        lines, law = fields["jsonl_lines"], self.constitution
        return (
            fields["log_name"] in STREAMS
            and len(lines) <= law["max_lines_per_warrant"]
            and all(len(line) <= law["max_chars_per_line"] for line in lines)
            and sum(len(line.encode()) + 1 for line in lines) <= law["max_bytes_per_warrant"]
        )


class Executor:
    """Carries out warrants of the running cycle, each once, below its root folder."""

    def __init__(self, root, constitution, defects):
        self.root, self.constitution, self.defects = os.path.realpath(root), constitution, defects
        self.spent = _SPENT_EVERYWHERE if "shared_spent" in defects else set()
        self.screen = []

    def run(self, warrant, bundle, cycle):
        if warrant.cycle != cycle and "any_cycle" not in self.defects:
            return {"done": False, "why": "another cycle"}
        if warrant.id in self.spent:
            return {"done": False, "why": "spent"}
        self.spent.add(warrant.id)
        try:
            return {"done": True, **(getattr(self, "_" + bundle.kind)(**bundle.fields) or {})}
        except (OSError, ValueError) as error:
            return {"done": False, "why": type(error).__name__}

    def _place(self, path, folders):
        place = os.path.join(self.root, posixpath.normpath(path))
        if "follows_links" not in self.defects:
            place = os.path.realpath(place)
            homes = [
                os.path.join(self.root, posixpath.normpath(folder)) + os.sep for folder in self.constitution[folders]
            ]
            if not place.startswith(tuple(homes)):
                raise PermissionError(path)
        if os.path.lexists(place) and not os.path.isfile(place):
            raise PermissionError(path)
        return place

    def _Notify(self, message):
        self.screen.append(message)

    def _ReadLocal(self, path):
        with open(self._place(path, "read_paths"), encoding="utf-8", newline="") as file:
            return {"content": file.read()}

    def _WriteLocal(self, path, content):
        with open(self._place(path, "write_paths"), "w", encoding="utf-8", newline="") as file:
            file.write(content)

    def _LogAppend(self, log_name, jsonl_lines):
        with open(self._place(f"logs/{log_name}.jsonl", "write_paths"), "a", encoding="utf-8", newline="") as file:
            file.writelines(line + "\n" for line in jsonl_lines)


class Profile:
    def __init__(self, defects):
        self.defects, self.decisions, self.gates, self.reasons, self.clauses = (
            defects,
            [],
            Counter(),
            Counter(),
            Counter(),
        )

    def note(self, decision, bundle):
        self.decisions.append(decision.kind)
        if decision.kind == "REFUSE":
            self.reasons[decision.reason] += 1
            if decision.failed_gate:
                self.gates[decision.failed_gate] += 1
        if bundle is not None:
            self.clauses.update(bundle.citations)

    def report(self):
        counts, many = Counter(self.decisions), len(self.decisions)
        refusals = [i for i, kind in enumerate(self.decisions) if kind == "REFUSE"]
        recovered = sum(self.decisions[i + 1 : i + 2] == ["ACTION"] for i in refusals)
        return {
            "counts": {kind: counts[kind] for kind in ("ACTION", "REFUSE", "EXIT")},
            "rates": {kind: counts[kind] / many if many else 0.0 for kind in ("ACTION", "REFUSE", "EXIT")},
            "failed_gate_histogram": dict(self.gates),
            "reason_code_distribution": dict(self.reasons),
            "authority_entropy": self._entropy(),
            "recovery_ratio": recovered / len(refusals) if refusals else 0.0,
        }

    def _entropy(self):
        total = sum(self.clauses.values())
        log = math.log if "entropy_in_nats" in self.defects else math.log2
        return sum(n / total * log(total / n) for n in self.clauses.values())


class Kernel:
    def __init__(self, root, text=TEXT, expected=DIGEST, defects=frozenset()):
        self.defects = frozenset(defects)
        self.sound = hashlib.sha256(text.encode()).hexdigest() == expected
        self.constitution = Constitution(text if self.sound else TEXT)
        self.gatekeeper = Gatekeeper(self.constitution, self.defects)
        self.executor = Executor(root, self.constitution, self.defects)
        self.profile = Profile(self.defects)
        self.cycle, self.last_decision, self._time = 0, None, ""
        self._issued, self._trace, self._open = {}, [], None
        for folder in ("artifacts", "workspace", "logs"):
            os.makedirs(os.path.join(self.executor.root, folder), exist_ok=True)

    def decide(self, observations, bundles):
        """Opens a cycle. The decision of an ACTION holds the warrant to hand to `execute`."""
        if self.last_decision == "EXIT":
            raise Terminated
        if self._open:
            raise RuntimeError("the running cycle is not finished")
        observations = list(observations)
        if not self.sound and not any(o.payload == "startup_integrity_fail" for o in observations):
            observations.append(Observation("system", "startup_integrity_fail"))
        offered = [self._own_copy(bundle) for bundle in bundles]
        offered = [b for b in offered if b is None or b.kind != "Exit"]
        decision, winner = self._judge(observations, offered)
        self.profile.note(decision, winner)
        self._open = (observations, offered, decision, [])
        return decision

    def _own_copy(self, bundle):
        if not isinstance(bundle, Bundle):
            return None
        try:
            bundle.hash()
        except ValueError:
            return None
        return bundle if "live_bundle" in self.defects else copy.deepcopy(bundle)

    def _judge(self, observations, bundles):
        times = [o.payload for o in observations if o.kind == "timestamp"]
        if not times and self._time and "remembered_time" in self.defects:
            times = [self._time]
        if len(times) != 1:
            step = "completeness" if "step_zero_as_gate_one" in self.defects else "required_observations"
            return Decision("REFUSE", "", "MISSING_REQUIRED_OBSERVATION", step), None
        self._time = time = times[0]
        if any(o.kind == "system" and o.payload == "startup_integrity_fail" for o in observations):
            return Decision("EXIT", time, "integrity risk"), None
        tokens = [float(o.payload) for o in observations if o.kind == "budget"][-1:]
        load, limit = sum(tokens) / 1000, self.constitution["max_total_tokens_per_cycle"] / 1000
        if "rounded_budget" in self.defects:
            load = round(load, 2)
        if load > limit:
            return Decision("REFUSE", time, "BUDGET_EXHAUSTED"), None
        known = [o.id for o in observations]
        failed = [self.gatekeeper.failed(bundle, known) for bundle in bundles]
        admitted = [bundle for bundle, gate in zip(bundles, failed, strict=True) if gate is None]
        if not admitted:
            gate = GATES[max(failed)] if failed else ""
            return Decision("REFUSE", time, "NO_ADMISSIBLE_ACTION", gate), None
        winner = min(admitted, key=Bundle.hash)
        return Decision("ACTION", time, warrant=self._issue(winner, time)), winner

    def _issue(self, bundle, time):
        request = digest({"kind": bundle.kind, "fields": bundle.fields})
        body = {"request": request, "bundle": bundle.hash().hex(), "cycle": self.cycle, "created_at": time}
        warrant = Warrant(digest(body), request, self.cycle, time)
        self._issued[warrant.id] = (warrant, bundle)
        return warrant

    def execute(self, warrant):
        mine, bundle = self._issued.get(getattr(warrant, "id", None), (None, None))
        if mine is None or mine != warrant:
            return {"done": False, "why": "not issued here"}
        result = self.executor.run(mine, bundle, self.cycle)
        if self._open:
            self._open[3].append({"warrant": mine.id, **result})
        return result

    def issue_log_append_warrants(self, stream, records, time):
        lines = [canonical(record) for record in records]
        lines = [line for line in lines if len(line) <= self.constitution["max_chars_per_line"]]
        size = min(self.constitution["max_lines_per_warrant"], 6)  # six lines of 10,000 four-byte letters always fit
        cite = ["constitution:v0.1.1#INV-REPLAY-DETERMINISM"]
        parts = [lines[at : at + size] for at in range(0, len(lines), size)]
        bundles = [Bundle("LogAppend", {"log_name": stream, "jsonl_lines": part}, citations=cite) for part in parts]
        return [self._issue(b, time) for b in bundles if self.gatekeeper.failed(b, (), by_kernel=True) is None]

    def finish(self):
        """Closes the cycle: the log is written under warrants of the kernel's own."""
        observations, offered, decision, results = self._open
        self._open, head = None, {"cycle": self.cycle}
        hashes = [bundle and bundle.hash().hex() for bundle in offered]
        records = {
            "observations": [{**head, "id": o.id, **o.body()} for o in observations],
            "artifacts": [
                *({**head, "place": i, "candidate": bundle and vars(bundle)} for i, bundle in enumerate(offered)),
                {**head, "decision": asdict(decision)},
            ],
            "admission_trace": [{**head, "candidates": len(offered), "failed_gate": decision.failed_gate}],
            "selector_trace": [{**head, "place": i, "hash": name} for i, name in enumerate(hashes)],
            "execution_trace": [{**head, "place": i, **result} for i, result in enumerate(results)],
        }
        for stream, lines in records.items():
            warrants = self.issue_log_append_warrants(stream, lines, decision.created_at)
            done = [self.executor.run(w, self._issued[w.id][1], self.cycle)["done"] for w in warrants]
            self._trace.append({**head, "log_commit_summary": stream, "lines": len(lines), "warrants": sum(done)})
        self._trace.extend({**head, **result} for result in results)
        self.cycle, self.last_decision = self.cycle + 1, decision.kind

    def run_cycle(self, observations, bundles):
        decision = self.decide(observations, bundles)
        result = self.execute(decision.warrant) if decision.warrant else None
        self.finish()
        return decision, result

    def trace(self):
        return self._trace if "live_trace" in self.defects else copy.deepcopy(self._trace)
