"""A constitution-bound kernel as functions on plain dicts, with files and logs in memory."""

import hashlib
import json
import posixpath
import re

DEFECTS = (
    "prefix_paths",
    "exactly_full_refused",
    "budget_before_integrity",
    "first_timestamp_counts",
    "late_clock",
    "first_come",
    "last_failing_gate",
    "one_citation_resolves",
    "warrant_unspent",
    "replay_renumbers",
)
CONSTITUTION = json.dumps(
    {
        "version": "v0.1.1",
        "clauses": [
            {"id": "INV-NO-SIDE-EFFECTS-WITHOUT-WARRANT", "text": "Nothing happens without a warrant."},
            {"id": "INV-EXPLICIT-AUTHORITY", "text": "Whoever asks names the clause."},
            {"id": "INV-NON-PRIVILEGED-REFLECTION", "text": "Reflection proposes, the kernel decides."},
            {"id": "INV-REPLAY-DETERMINISM", "text": "The log tells the whole story."},
        ],
        "action_space": {
            "Notify": {"kernel_only": False},
            "ReadLocal": {"kernel_only": False},
            "WriteLocal": {"kernel_only": False},
            "LogAppend": {"kernel_only": True},
            "Exit": {"kernel_only": False},
        },
        "io_policy": {"read": ["./artifacts/", "./workspace/"], "write": ["./workspace/", "./logs/"], "network": False},
        "limits": {
            "max_total_tokens_per_cycle": 6000,
            "max_lines_per_warrant": 50,
            "max_chars_per_line": 10000,
            "max_bytes_per_warrant": 256000,
        },
    },
    indent=1,
)
DIGEST = hashlib.sha256(CONSTITUTION.encode()).hexdigest()
FIELDS = {"Notify": {"message"}, "ReadLocal": {"path"}, "WriteLocal": {"path", "content"}, "Exit": set()}
STREAMS = ("observations", "artifacts", "admission_trace", "selector_trace", "execution_trace")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", re.ASCII)


def canonical(value, depth=40):
    """RFC 8785 for strings, whole numbers, lists and dicts; ValueError for the rest."""
    if depth == 0:
        raise ValueError("nested too deep")
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int) and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, str):
        value.encode()
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item, depth - 1) for item in value) + "]"
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key], depth - 1) for key in keys) + "}"
    raise ValueError("not plain data")


def plain(value):
    try:
        return json.loads(canonical(value))
    except ValueError:
        return None


def short_id(prefix, value):
    """A 64-bit FNV-1a hash."""
    number = 0xCBF29CE484222325
    for byte in canonical(value).encode():
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return f"{prefix}-{number:016x}"


def new_kernel(text=CONSTITUTION, digest=DIGEST, files=None, defects=frozenset()):
    k = {"defects": frozenset(defects), "files": dict(files or {}), "screen": [], "cycle": 0, "last": None, "number": 0}
    k.update(pending=[], issued={}, spent=set(), open=None, ended=False, clock="", logs={name: [] for name in STREAMS})
    k["sound"] = hashlib.sha256(text.encode()).hexdigest() == digest
    k["law"] = json.loads(text if k["sound"] else CONSTITUTION)
    return k


def observe(k, kind, payload, at):
    """The host notes something for the next cycle; returns the id that scope claims name."""
    checks = {
        "user_input": lambda p: isinstance(p, str),
        "timestamp": lambda p: isinstance(p, str) and TIME.fullmatch(p) is not None,
        "budget": lambda p: type(p) is int and p >= 0,
        "system": lambda p: p in ("startup_integrity_ok", "startup_integrity_fail"),
    }
    if kind not in checks or not checks[kind](payload):
        raise ValueError(f"no observation: {kind!r}")
    record = {"kind": kind, "payload": payload, "author": "host", "created_at": at}
    if plain(record) is None:
        raise ValueError("not plain data")
    k["number"] += 1
    record["id"] = f"o{k['number']:04d}-{short_id('x', record)[-8:]}"
    k["pending"].append(record)
    return record["id"]


def resolves(law, citation):
    head = f"constitution:{law['version']}"
    if not isinstance(citation, str) or not citation.startswith(head):
        return False
    mark, rest = citation[len(head) : len(head) + 1], citation[len(head) + 1 :]
    if mark == "#":
        return any(clause["id"] == rest for clause in law["clauses"])
    if mark != "@" or not rest.startswith("/") or re.search("~(?![01])", rest):
        return False
    place = law
    for step in rest[1:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, list) and re.fullmatch("0|[1-9][0-9]{0,6}", step) and int(step) < len(place):
            place = place[int(step)]
        elif isinstance(place, dict) and step in place:
            place = place[step]
        else:
            return False
    return True


def resolved(path):
    if not isinstance(path, str) or not path or path.startswith("/") or "\\" in path or "\0" in path:
        return None
    return posixpath.normpath(path)


def under(roots, path, defects):
    if "prefix_paths" in defects:
        return isinstance(path, str) and path.startswith(tuple(roots))
    clean = resolved(path)
    return clean is not None and any(clean.startswith(posixpath.normpath(root) + "/") for root in roots)


def lines_within(limits, lines):
    return (
        isinstance(lines, list)
        and all(isinstance(line, str) and "\n" not in line for line in lines)
        and 0 < len(lines) <= limits["max_lines_per_warrant"]
        and all(len(line) <= limits["max_chars_per_line"] for line in lines)
        and sum(len(line.encode()) + 1 for line in lines) <= limits["max_bytes_per_warrant"]
    )


def complete(law, bundle, by_kernel=False):
    request = bundle.get("action_request") if isinstance(bundle, dict) else None
    if not isinstance(request, dict) or not isinstance(request.get("action_type"), str):
        return False
    kind, fields, citations = request["action_type"], request.get("fields"), bundle.get("authority_citations")
    if not isinstance(fields, dict) or not isinstance(citations, list) or not citations:
        return False
    if law["action_space"].get(kind, {}).get("kernel_only"):
        name, lines = fields.get("log_name"), fields.get("jsonl_lines")
        return by_kernel and name in STREAMS and lines_within(law["limits"], lines)
    if bundle.get("author") not in ("reflection", "host"):
        return False
    scope, reason = bundle.get("scope_claim"), bundle.get("justification")
    return (
        isinstance(scope, dict)
        and isinstance(scope.get("claim"), str)
        and isinstance(scope.get("observation_ids"), list)
        and isinstance(scope.get("clause_ref"), str)
        and isinstance(reason, dict)
        and isinstance(reason.get("text"), str)
        and (kind not in FIELDS or set(fields) == FIELDS[kind])
        and all(isinstance(value, str) for value in fields.values())
    )


def authority(law, bundle, defects):
    judge = any if "one_citation_resolves" in defects else all
    return judge(resolves(law, citation) for citation in bundle["authority_citations"])


def scoped(law, bundle, known):
    if known is None:
        return True
    scope = bundle["scope_claim"]
    return resolves(law, scope["clause_ref"]) and all(i in known for i in scope["observation_ids"])


def io_allowed(law, bundle, defects):
    kind, fields = bundle["action_request"]["action_type"], bundle["action_request"]["fields"]
    if kind == "LogAppend":
        return under(law["io_policy"]["write"], f"./logs/{fields['log_name']}.jsonl", defects)
    if kind in ("ReadLocal", "WriteLocal"):
        return under(law["io_policy"]["read" if kind == "ReadLocal" else "write"], fields["path"], defects)
    return True


def failed_gate(law, bundle, known, defects):
    """The name of the gate that stops the bundle, or None. Without known ids it is the kernel's own."""
    whole = complete(law, bundle, by_kernel=known is None)
    gates = [
        ("completeness", lambda: whole),
        ("authority_citation", lambda: authority(law, bundle, defects)),
        ("scope_claim", lambda: scoped(law, bundle, known)),
        ("constitution_compliance", lambda: bundle["action_request"]["action_type"] in law["action_space"]),
        ("io_allowlist", lambda: io_allowed(law, bundle, defects)),
    ]
    if "last_failing_gate" in defects and whole:
        gates.reverse()
    return next((name for name, passes in gates if not passes()), None)


def bundle_hash(bundle):
    content = {key: value for key, value in bundle.items() if key != "author"}
    return hashlib.sha256(canonical(content).encode()).digest()


def warrant_for(bundle, cycle, time):
    request = bundle["action_request"]
    body = {"action": short_id("act", request), "bundle": bundle_hash(bundle).hex(), "cycle": cycle, "created_at": time}
    return {"id": short_id("w", body), **body, "single_use": True}


def refusal(code, gate, why, time):
    return {"decision": "REFUSE", "code": code, "failed_gate": gate, "why": why, "created_at": time}


def decide(law, cycle, observations, bundles, defects=frozenset(), clock=None):
    """The pure decision: no files, no clock, no memory."""
    times = [o["payload"] for o in observations if o["kind"] == "timestamp"]
    if len(times) != 1 and not (times and "first_timestamp_counts" in defects):
        why = f"I need exactly one timestamp and saw {len(times)}."
        return refusal("MISSING_REQUIRED_OBSERVATION", "required_observations", why, "")
    time = clock or times[0]
    tokens = sum(o["payload"] for o in observations if o["kind"] == "budget")
    limit = law["limits"]["max_total_tokens_per_cycle"]
    spent = tokens >= limit if "exactly_full_refused" in defects else tokens > limit
    broke = refusal("BUDGET_EXHAUSTED", "", f"{tokens} tokens are more than {limit}.", time)
    if spent and "budget_before_integrity" in defects:
        return broke
    if any(o["kind"] == "system" and o["payload"] == "startup_integrity_fail" for o in observations):
        return {"decision": "EXIT", "why": "The host reports that its integrity is broken.", "created_at": time}
    if spent:
        return broke
    known = [o["id"] for o in observations]
    gates = [failed_gate(law, bundle, known, defects) for bundle in bundles]
    admitted = [bundle for bundle, gate in zip(bundles, gates, strict=True) if gate is None]
    if not admitted:
        why = f"None of {len(bundles)} candidates may be carried out."
        return {**refusal("NO_ADMISSIBLE_ACTION", gates[0] if gates else "", why, time), "gates": gates}
    winner = admitted[0] if "first_come" in defects else min(admitted, key=bundle_hash)
    return {"decision": "ACTION", "warrant": warrant_for(winner, cycle, time), "bundle": winner, "gates": gates}


def issue_log_append_warrants(k, bundles, time):
    """Only the kernel warrants log lines, and it judges its own bundles by the same gates."""
    issued = []
    for bundle in bundles:
        if failed_gate(k["law"], bundle, None, k["defects"]) is None:
            warrant = warrant_for(bundle, k["cycle"], time)
            k["issued"][warrant["id"]] = (warrant, bundle)
            issued.append(warrant)
    return issued


def execute(k, warrant):
    """Carries out a warrant of this cycle once."""
    name = warrant.get("id") if isinstance(warrant, dict) else None
    own, bundle = k["issued"].get(name, (None, None)) if isinstance(name, str) else (None, None)
    if own is None or own != warrant:
        return {"done": False, "why": "I never issued that warrant."}
    if own["cycle"] != k["cycle"]:
        return {"done": False, "why": "That warrant belongs to another cycle."}
    if name in k["spent"]:
        return {"done": False, "why": "That warrant is spent."}
    if "warrant_unspent" not in k["defects"]:
        k["spent"].add(name)
    request = bundle["action_request"]
    kind, fields = request["action_type"], request["fields"]
    if not io_allowed(k["law"], bundle, k["defects"]):
        return {"done": False, "why": "That path is not open to me."}
    if kind == "Notify":
        k["screen"].append(fields["message"])
    elif kind == "WriteLocal":
        k["files"][resolved(fields["path"])] = fields["content"]
    elif kind == "ReadLocal":
        if resolved(fields["path"]) not in k["files"]:
            return {"done": False, "why": "There is no such file."}
        return {"done": True, "content": k["files"][resolved(fields["path"])]}
    elif kind == "LogAppend":
        k["logs"][fields["log_name"]].extend(fields["jsonl_lines"])
    return {"done": True}


def portions(records, limits):
    """Lines in bunches that one warrant may carry."""
    bunch = []
    for line in map(canonical, records):
        if bunch and not lines_within(limits, [*bunch, line]):
            yield bunch
            bunch = []
        bunch.append(line)
    if bunch:
        yield bunch


def write_log(k, stream, records, time):
    """Appends records under the kernel's warrants; a line above the limits stays out and is counted."""
    cite = [f"constitution:{k['law']['version']}#INV-REPLAY-DETERMINISM"]
    bundles = []
    for lines in portions(records, k["law"]["limits"]):
        request = {"action_type": "LogAppend", "fields": {"log_name": stream, "jsonl_lines": lines}}
        bundles.append({"author": "kernel", "action_request": request, "authority_citations": cite})
    warrants = issue_log_append_warrants(k, bundles, time)
    done = sum(execute(k, warrant)["done"] for warrant in warrants)
    return {"log": stream, "warrants": done, "refused": len(bundles) - done}


def decide_cycle(k, bundles=()):
    """The first half of a turn: decides on what was observed since the last one and issues the warrant."""
    if k["ended"]:
        raise RuntimeError("the agent has exited")
    if k["open"] is not None:
        raise RuntimeError("the last turn is not finished")
    if not k["sound"]:
        observe(k, "system", "startup_integrity_fail", "")
    seen, k["pending"] = k["pending"], []
    bundles = [plain(bundle) for bundle in bundles]
    bundles = [b for b in bundles if not (complete(k["law"], b) and b["action_request"]["action_type"] == "Exit")]
    decision = decide(k["law"], k["cycle"], seen, bundles, k["defects"], "late_clock" in k["defects"] and k["clock"])
    k["clock"] = next((o["payload"] for o in seen if o["kind"] == "timestamp"), k["clock"])
    if decision["decision"] == "ACTION":
        k["issued"][decision["warrant"]["id"]] = (decision["warrant"], decision["bundle"])
    k["open"] = (seen, bundles, decision)
    return plain(decision)


def finish_cycle(k, result=None):
    """The second half: writes the log and goes on to the next cycle."""
    (seen, bundles, decision), k["open"] = k["open"], None
    n, time = k["cycle"], decision.get("created_at") or decision.get("warrant", {}).get("created_at", "")
    proposed = [{"cycle": n, "place": place, "candidate": bundle} for place, bundle in enumerate(bundles)]
    summary = [
        write_log(k, "observations", [{"cycle": n, **o} for o in seen], time),
        write_log(k, "artifacts", [*proposed, {"cycle": n, "decision": decision}], time),
        write_log(k, "admission_trace", [{"cycle": n, "gates": decision.get("gates", [])}], time),
        write_log(k, "selector_trace", [{"cycle": n, "winner": decision.get("warrant", {}).get("bundle")}], time),
    ]
    write_log(k, "execution_trace", [{"cycle": n, "result": result, "log_commit_summary": summary}], time)
    k["cycle"], k["last"], k["ended"] = n + 1, decision["decision"], decision["decision"] == "EXIT"


def cycle(k, bundles=()):
    """One turn: decide, carry out, log."""
    decision = decide_cycle(k, bundles)
    result = execute(k, decision["warrant"]) if decision["decision"] == "ACTION" else None
    finish_cycle(k, result)
    return {**decision, "result": result}


def replay(k):
    """Decides every logged cycle again and returns the numbers of those that come out otherwise."""
    seen, bundles, logged = {}, {}, {}
    for line in map(json.loads, k["logs"]["observations"]):
        seen.setdefault(line.pop("cycle"), []).append(line)
    for line in map(json.loads, k["logs"]["artifacts"]):
        if "decision" in line:
            logged[line["cycle"]] = line["decision"]
        else:
            bundles.setdefault(line["cycle"], []).append(line["candidate"])
    if "replay_renumbers" in k["defects"]:
        seen = {n: [{**o, "id": f"r{i}"} for i, o in enumerate(batch)] for n, batch in seen.items()}
    diverged = []
    for n in range(k["cycle"]):
        again = decide(k["law"], n, seen.get(n, []), bundles.get(n, []), k["defects"])
        if n not in logged or canonical(again) != canonical(logged[n]):
            diverged.append(n)
    return diverged
