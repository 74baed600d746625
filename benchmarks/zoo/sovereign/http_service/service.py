"""A constitution-bound agent behind HTTP on the loopback. The log is text lines of its own format."""

import argparse
import hashlib
import json
import os
import posixpath
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEFECTS = (
    "waits_for_candidates",
    "anyone_reports",
    "raw_lines",
    "secret_words",
    "kept_candidates",
    "wall_clock",
    "fifty_one",
    "assumes_object",
    "trusts_body",
)
VERSION = "constitution:v0.1.1"
CLAUSES = (
    "INV-NO-SIDE-EFFECTS-WITHOUT-WARRANT",
    "INV-EXPLICIT-AUTHORITY",
    "INV-NON-PRIVILEGED-REFLECTION",
    "INV-REPLAY-DETERMINISM",
)
SHAPES = {"Notify": ["message"], "ReadLocal": ["path"], "WriteLocal": ["content", "path"]}
TYPES = (*SHAPES, "LogAppend", "Exit")
READ, WRITE = ("artifacts/", "workspace/"), ("workspace/", "logs/")
MAX_TOKENS, MAX_LINES, MAX_CHARS, MAX_BYTES = 6000, 50, 10000, 256000
LAW = {"version": "v0.1.1", "clauses": [{"id": name} for name in CLAUSES], "action_types": list(TYPES)}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", re.ASCII)


class Bad(Exception):
    """A request that changes nothing, with the HTTP status to answer."""


def canonical(value, depth=40):
    if value is None or type(value) is bool or (type(value) is int and abs(value) < 2**53):
        return json.dumps(value)
    if type(value) is str:
        return json.dumps(value.encode().decode(), ensure_ascii=False)
    if type(value) is list and depth:
        return "[" + ",".join(canonical(item, depth - 1) for item in value) + "]"
    if type(value) is dict and depth:
        order = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key], depth - 1) for key in order) + "}"
    raise ValueError("fractions, half characters and deep nesting have no place here")


def sha(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def resolves(citation):
    if not isinstance(citation, str) or not citation.startswith((VERSION + "#", VERSION + "@/")):
        return False
    if citation.startswith(VERSION + "#"):
        return citation[len(VERSION) + 1 :] in CLAUSES
    place = LAW
    for step in citation[len(VERSION) + 2 :].split("/"):
        if isinstance(place, list) and re.fullmatch("0|[1-9][0-9]?", step) and int(step) < len(place):
            place = place[int(step)]
        elif isinstance(place, dict) and step in place:  # no name of the law has ~ or / in it
            place = place[step]
        else:
            return False
    return True


def clean(path):
    odd = not path or path.startswith("/") or "\\" in path or "\0" in path
    return None if odd else posixpath.normpath(path)


class Agent:
    def __init__(self, defects=frozenset()):
        self.defects = frozenset(defects)
        self.lock, self.arrived = threading.Lock(), threading.Condition()
        self.seen, self.candidates, self.issued, self.spent = [], [], {}, set()
        self.screen, self.files, self.log = [], {"artifacts/law": "be kind"}, []
        self.cycle, self.number, self.ended = -1, 0, False

    # what comes in

    def observe(self, kind, payload):
        self.number += 1
        self.seen.append({"id": f"o{self.number}", "kind": kind, "payload": payload})
        return self.seen[-1]["id"]

    def say(self, body, _key):
        text = body.get("text")
        if not isinstance(text, str) or len(canonical(text)) > 5000:
            raise Bad(400, "text")
        return {"observation": self.observe("user_input", text)}

    def propose(self, body, _key):
        offered = body.get("candidates")
        if not isinstance(offered, list):
            raise Bad(400, "candidates")
        self.candidates.extend(offered)
        with self.arrived:
            self.arrived.notify_all()
        return {"pending": len(self.candidates)}

    def report(self, body, key):
        if key != "host" and "anyone_reports" not in self.defects:
            raise Bad(403, "host only")
        if body.get("event") not in ("startup_integrity_ok", "startup_integrity_fail"):
            raise Bad(400, "event")
        return {"observation": self.observe("system", body["event"])}

    def run_cycle(self, body, key):
        """The host closes the observations of a cycle and has the kernel decide."""
        times, tokens = body.get("times"), body.get("tokens")
        if key != "host":
            raise Bad(403, "host only")
        if self.ended:
            raise Bad(410, "the agent has exited")
        if not isinstance(times, list) or not all(isinstance(t, str) and TIME.fullmatch(t) for t in times):
            raise Bad(400, "times")
        if tokens is not None and (type(tokens) is not int or not 0 <= tokens < 2**53):
            raise Bad(400, "tokens")
        while not self.candidates and "waits_for_candidates" in self.defects:
            with self.arrived:
                self.arrived.wait()
        for stamp in times:
            self.observe("timestamp", stamp)
        if tokens is not None:
            self.observe("budget", tokens)
        self.cycle += 1
        candidates = [one for one in map(self.copy, self.candidates) if not self.is_exit(one)]
        decision, winner = self.decide(candidates)
        self.write_log(candidates, decision)
        left = [one for one in candidates if one != winner]
        self.seen, self.candidates = [], left if "kept_candidates" in self.defects else []
        self.ended = decision["decision"] == "EXIT"
        return {"cycle": self.cycle, **decision}

    def copy(self, candidate):
        try:
            return json.loads(canonical(candidate))
        except (ValueError, RecursionError):
            return None

    def is_exit(self, one):
        request = one.get("action_request") if isinstance(one, dict) or "assumes_object" in self.defects else None
        return isinstance(request, dict) and request.get("action_type") == "Exit"

    # the kernel

    def payloads(self, kind):
        return [one["payload"] for one in self.seen if one["kind"] == kind]

    def decide(self, candidates):
        times = self.payloads("timestamp")
        if len(times) != 1:
            return self.refuse("MISSING_REQUIRED_OBSERVATION", "required_observations", ""), None
        if "startup_integrity_fail" in self.payloads("system"):
            return {"decision": "EXIT", "created_at": times[0]}, None
        if sum(self.payloads("budget")) > MAX_TOKENS:
            return self.refuse("BUDGET_EXHAUSTED", "", times[0]), None
        gates = [self.failed_gate(one) for one in candidates]
        admitted = [one for one, gate in zip(candidates, gates, strict=True) if gate == ""]
        if not admitted:
            return self.refuse("NO_ADMISSIBLE_ACTION", gates[0] if gates else "", times[0]), None
        winner = min(admitted, key=sha)
        return {"decision": "ACTION", "warrant": self.issue(winner, times[0])}, winner

    def refuse(self, code, gate, created_at):
        return {"decision": "REFUSE", "code": code, "failed_gate": gate, "created_at": created_at}

    def issue(self, bundle, created_at):
        if "wall_clock" in self.defects:
            created_at = f"{time.time():.6f}"
        body = {"request": sha(bundle["action_request"]), "bundle": sha(bundle), "cycle": self.cycle}
        warrant = {"id": sha({**body, "at": created_at}), **body, "created_at": created_at}
        self.issued[warrant["id"]] = (warrant, bundle)
        return warrant

    def failed_gate(self, one, by_kernel=False):
        if not self.complete(one, by_kernel):
            return "completeness"
        if not all(map(resolves, one["authority_citations"])):
            return "authority_citation"
        request, scope = one["action_request"], one.get("scope_claim")
        known = [seen["id"] for seen in self.seen]
        if not by_kernel and not (resolves(scope["clause_ref"]) and all(i in known for i in scope["observation_ids"])):
            return "scope_claim"
        if request["action_type"] not in TYPES:
            return "constitution_compliance"
        if request["action_type"] not in ("ReadLocal", "WriteLocal"):
            return ""
        path = clean(request["fields"]["path"])
        roots = READ if request["action_type"] == "ReadLocal" else WRITE
        return "" if path is not None and path.startswith(roots) else "io_allowlist"

    def complete(self, one, by_kernel):
        request = one.get("action_request") if isinstance(one, dict) else None
        if not isinstance(request, dict) or not isinstance(request.get("fields"), dict):
            return False
        kind, fields, cited = request.get("action_type"), request["fields"], one.get("authority_citations")
        if not isinstance(kind, str) or not isinstance(cited, list) or not cited:
            return False
        if kind == "LogAppend":
            return by_kernel and self.short(fields["lines"])
        scope, why = one.get("scope_claim"), one.get("justification")
        if not isinstance(scope, dict) or not isinstance(why, dict) or not isinstance(why.get("text"), str):
            return False
        if not isinstance(scope.get("observation_ids"), list) or not isinstance(scope.get("claim"), str):
            return False
        if not isinstance(scope.get("clause_ref"), str) or not all(isinstance(f, str) for f in fields.values()):
            return False
        return sorted(fields) == SHAPES.get(kind, sorted(fields))

    def short(self, lines):
        most = MAX_LINES + 1 if "fifty_one" in self.defects else MAX_LINES
        size = sum(len(line.encode()) + 1 for line in lines)
        return len(lines) <= most and all(len(line) <= MAX_CHARS for line in lines) and size <= MAX_BYTES

    # what goes out

    def execute(self, body, key):
        warrant = body.get("warrant")
        if key != "host" or not isinstance(warrant, dict) or not isinstance(warrant.get("id"), str):
            raise Bad(403, "no warrant")
        own, bundle = self.issued.get(warrant["id"], (None, None))
        if own is None and "trusts_body" in self.defects:
            same = [pair for pair in self.issued.values() if pair[0]["request"] == warrant.get("request")]
            own, bundle = (warrant, same[0][1]) if same else (None, None)
        if own != warrant or own.get("cycle") != self.cycle or own["id"] in self.spent:
            raise Bad(409, "no warrant of this cycle that is unused")
        result = self.carry_out(own, bundle)
        self.append([self.line("EXECUTED", warrant=own["id"], result=result)], own["created_at"])
        return {"result": result}

    def carry_out(self, warrant, bundle):
        self.spent.add(warrant["id"])
        kind, fields = bundle["action_request"]["action_type"], bundle["action_request"]["fields"]
        if kind == "Notify":
            self.screen.append(fields["message"])
        elif kind == "WriteLocal":
            self.files[clean(fields["path"])] = fields["content"]
        elif kind == "LogAppend":
            self.log.extend(f"w{warrant['id'][:8]} {line}" for line in fields["lines"])
        else:
            return self.files.get(clean(fields["path"]), "no such file")
        return "done"

    def line(self, word, **fields):
        show = str if "raw_lines" in self.defects else canonical
        return f"c{self.cycle} {word} " + " ".join(f"{name}={show(value)}" for name, value in fields.items())

    def write_log(self, candidates, decision):
        lines = [
            self.line("OBSERVED", **one)
            for one in self.seen
            if "secret_words" not in self.defects or "password" not in str(one["payload"])
        ]
        lines += [self.line("PROPOSED", place=i, candidate=one) for i, one in enumerate(candidates)]
        created_at = decision.get("created_at") or decision.get("warrant", {}).get("created_at", "")
        self.append([*lines, self.line("DECIDED", **decision)], created_at)

    def append(self, lines, created_at):
        """Log lines go out under warrants that the kernel issues for as many lines as one may carry."""
        lines = [line if len(line) <= MAX_CHARS else f"c{self.cycle} TOO_LONG sha256={sha(line)}" for line in lines]
        while lines:
            many = next(n for n in range(min(len(lines), MAX_LINES + 1), 0, -1) if self.short(lines[:n]))
            request = {"action_type": "LogAppend", "fields": {"lines": lines[:many], "from": len(self.log)}}
            bundle = {"action_request": request, "authority_citations": [f"{VERSION}#INV-REPLAY-DETERMINISM"]}
            if self.failed_gate(bundle, by_kernel=True) == "":
                self.carry_out(self.issue(bundle, created_at), bundle)
            lines = lines[many:]

    def look(self, _body, _key):
        return {"cycle": self.cycle, "screen": self.screen, "files": self.files, "log": "\n".join(self.log)}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        agent = self.server.agent
        routes = {"/say": agent.say, "/propose": agent.propose, "/report": agent.report}
        routes |= {"/cycle": agent.run_cycle, "/execute": agent.execute, "/look": agent.look}
        length = self.headers.get("Content-Length", "")
        data = self.rfile.read(int(length)) if re.fullmatch("[0-9]{1,7}", length) else b""
        agent.lock.acquire()
        try:
            body = json.loads(data)
            if self.path not in routes or not isinstance(body, dict):
                raise Bad(404, "no such thing")
            status, answer = 200, routes[self.path](body, self.headers.get("X-Key"))
        except Bad as bad:
            status, answer = bad.args[0], {"error": bad.args[1]}
        except (ValueError, RecursionError):
            status, answer = 400, {"error": "malformed"}
        agent.lock.release()
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--defects", default=os.environ.get("SOVEREIGN_DEFECTS", ""))
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    server.agent = Agent(frozenset(filter(None, options.defects.split(","))))
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
