"""A justification service: HTTP threads queue requests, one loop handles them in turn."""

import argparse
import hashlib
import json
import os
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEFECTS = (
    "old_mask",
    "executes_twice",
    "halt_wakes_nobody",
    "reasons_in_mask",
    "set_order_log",
    "assumes_object",
    "revision_only_if_changed",
    "validates_first_step",
    "invalid_step_only",
    "records_outlive_run",
)


class Problem(Exception):
    def __init__(self, status, error, **more):
        super().__init__(error)
        self.status, self.body = status, {"error": error, **more}


def ids(value, known):
    """A set from a JSON array of distinct registered ids; None if it is anything else."""
    if not isinstance(value, list) or not all(isinstance(p, str) for p in value):
        return None
    found = frozenset(value)
    return found if len(found) == len(value) and found <= known else None


def canonical(av, rp, pairs):
    return json.dumps([sorted(av), sorted(rp), sorted(sorted(p) for p in pairs)], separators=(",", ":"))


def digest(*fields):
    return "blake2b128:" + hashlib.blake2b(canonical(*fields).encode(), digest_size=16).hexdigest()


def brief_digest(thing):
    return hashlib.blake2b(json.dumps(thing).encode(), digest_size=6).hexdigest()


class Service:
    def __init__(self, defects=()):
        self.defects = frozenset(defects)
        self.events = queue.Queue()
        self.records = []
        self.phase = "idle"
        self.waiting = []
        self.begin({"preferences": [], "actions": []})

    def loop(self):
        while True:
            path, body, reply = self.events.get()
            try:
                answer = getattr(self, path.replace("-", "_"))(body)
                if answer is None:
                    self.waiting.append(reply)
                else:
                    reply.put((200, answer))
            except Problem as problem:
                reply.put((problem.status, problem.body))
            except Exception as error:
                reply.put((500, {"error": type(error).__name__}))

    def expect(self, *phases):
        if self.phase not in phases:
            raise Problem(409, f"not now: {self.phase}")

    def wake(self, answer):
        for reply in self.waiting:
            reply.put((200, answer))
        self.waiting = []

    # --- the environment -----------------------------------------------------------------------

    def begin(self, body):
        lists = [body.get("preferences"), body.get("actions")]
        if not all(isinstance(names, list) and all(isinstance(n, str) for n in names) for names in lists):
            raise Problem(400, "preferences and actions are arrays of strings")
        self.wake({"outcome": "ended"})
        self.preferences, self.actions = map(frozenset, lists)
        self.phase, self.number, self.previous, self.permitted = "idle", 0, None, []
        self.executed, self.lines = [], []
        if "records_outlive_run" not in self.defects:
            self.records = []
        return {"begun": True}

    def step(self, body):
        self.expect("idle")
        feasible, apcm = body.get("feasible"), body.get("apcm")
        if self.number == 0 or "validates_first_step" not in self.defects:
            why = self.invalid(feasible, apcm)
            if why:
                self.lines.append(f"step={self.number} INVALID {json.dumps(why)}")
                if "invalid_step_only" not in self.defects:
                    self.phase = "invalid"
                raise Problem(422, "invalid", why=why)
        self.feasible = sorted(feasible)
        self.apcm = {a: {k: frozenset(apcm[a][k]) for k in ("violates", "satisfies")} for a in feasible}
        facts = [[a, sorted(self.apcm[a]["violates"]), sorted(self.apcm[a]["satisfies"])] for a in self.feasible]
        self.record = {
            "step": self.number,
            "feasible": f"{len(feasible)}:{brief_digest(self.feasible)}",
            "apcm": brief_digest(facts),
            "AV": (),
            "RP": (),
            "pairs": (),
            "mode": "-",
            "compile": "failed",
            "errors": (),
            "forbidden": (),
            "nontrivial": 0,
            "gridlock": False,
            "halt": False,
            "revision": False,
            "selected": None,
            "violates": (),
        }
        self.phase = "justify"
        return {"step": self.number}

    def invalid(self, feasible, apcm):
        if ids(feasible, self.actions) is None or not isinstance(apcm, dict):
            return "feasible is no array of distinct actions, or apcm no object"
        for action in feasible:
            entry = apcm.get(action)
            for key in ("violates", "satisfies"):
                if not isinstance(entry, dict) or ids(entry.get(key), self.preferences) is None:
                    return f"{key} of {action} is missing, no array of distinct ids, or names an unknown one"
        return None

    # --- the generator -------------------------------------------------------------------------

    def briefing(self, _):
        self.expect("justify")
        previous = None
        if self.previous:
            av, rp, pairs = self.previous
            previous = {
                "authorized_violations": sorted(av),
                "required_preservations": sorted(rp),
                "conflict_attribution": sorted(sorted(p) for p in pairs),
                "digest": digest(*self.previous),
            }
        return {
            "preferences": sorted(self.preferences),
            "feasible": self.feasible,
            "previous": previous,
            "apcm": {a: {k: sorted(v) for k, v in self.apcm[a].items()} for a in self.feasible},
        }

    def justify(self, artifact):
        self.expect("justify")
        errors = ["E_ARTIFACT"]
        parsed = self.parse(artifact)
        if parsed:
            fields, mode, cited = parsed
            self.record.update(zip(("AV", "RP", "pairs"), fields, strict=False), mode=mode)
            changed = fields != self.previous
            self.record["revision"] = mode == "REVISE" and (changed or "revision_only_if_changed" not in self.defects)
            errors = self.errors(*fields, mode, cited)
        if errors:
            self.permitted = []
            self.record.update(errors=errors, halt=True)
            self.close()
            if "halt_wakes_nobody" not in self.defects:
                self.wake({"outcome": "halt"})
            return {"outcome": "halt", "codes": errors}
        self.previous = fields
        av, rp, _ = fields
        breaks = {a: self.apcm[a]["violates"] for a in self.feasible}
        forbidden = {a for a in self.feasible if breaks[a] & rp or breaks[a] - av}
        self.record.update(compile="ok", forbidden=forbidden, nontrivial=len(forbidden))
        self.permitted = [a for a in self.feasible if a not in forbidden]
        if not self.permitted:
            self.record["gridlock"] = True
            self.close()
            self.wake({"outcome": "gridlock"})
            return {"outcome": "gridlock"}
        self.phase = "select"
        self.wake(self.mask(None))
        return {"outcome": "compiled", "forbidden": sorted(forbidden)}

    def parse(self, artifact):
        av = ids(artifact.get("authorized_violations"), self.preferences)
        rp = ids(artifact.get("required_preservations"), self.preferences)
        pairs = artifact.get("conflict_attribution")
        resolution = artifact.get("conflict_resolution")
        if "assumes_object" not in self.defects and not isinstance(resolution, dict):
            return None
        mode, cited = resolution.get("mode"), resolution.get("previous_artifact_digest")
        if mode not in ("MAINTAIN", "REVISE") or not isinstance(artifact.get("precedent_reference"), str):
            return None
        if av is None or rp is None or av & rp or not isinstance(pairs, list):
            return None
        pairs = [ids(pair, self.preferences) for pair in pairs]
        if any(pair is None or len(pair) != 2 for pair in pairs) or len(set(pairs)) != len(pairs):
            return None
        return (av, rp, frozenset(pairs)), mode, cited

    def errors(self, av, rp, pairs, mode, cited):
        if cited != (self.previous and digest(*self.previous)):
            return ["E_DIGEST_MISMATCH"]
        breaks = [self.apcm[a]["violates"] for a in self.feasible]
        keeping = [b for b in breaks if not b & rp]
        failing = {
            "E_AV_WITHOUT_COLLISION": not av <= frozenset().union(*pairs),
            "E_GRATUITOUS_VIOLATION": any(not av <= b for b in keeping),
            "E_FALSE_COLLISION": any(not pair & b for pair in pairs for b in breaks),
            "E_PRECEDENT_VIOLATION": mode == "MAINTAIN" and (av, rp, pairs) != self.previous,
        }
        return [code for code, fails in failing.items() if fails]

    # --- the selector --------------------------------------------------------------------------

    def mask(self, _):
        self.expect("justify", "select")
        if self.phase == "justify":
            return None
        answer = {"outcome": "compiled", "permitted": list(self.permitted)}
        if "reasons_in_mask" in self.defects:
            answer["forbidden"] = {a: sorted(self.apcm[a]["violates"]) for a in self.record["forbidden"]}
        return answer

    def select(self, body):
        phases = {"select"}
        if "old_mask" in self.defects and self.permitted:
            phases.add("justify")
        if "executes_twice" in self.defects and self.permitted:
            phases.add("idle")
        self.expect(*phases)
        action = body.get("action")
        if action not in self.permitted:
            raise Problem(403, "not permitted")
        self.executed.append(action)
        if self.phase != "idle":
            broken = self.apcm[action]["violates"] if action in self.apcm else ()
            self.record.update(selected=action, violates=broken)
            self.close()
        return {"outcome": "executed", "action": action}

    # --- the record ----------------------------------------------------------------------------

    def close(self):
        self.records.append(self.record)
        self.lines.append(" ".join(f"{key}={self.show(value)}" for key, value in self.record.items()))
        self.number += 1
        self.phase = "idle"

    def show(self, value):
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, (set, frozenset)):
            items = [self.show(item) if isinstance(item, frozenset) else json.dumps(item) for item in value]
            return "{" + ",".join(items if "set_order_log" in self.defects else sorted(items)) + "}"
        if isinstance(value, (tuple, list)):
            return "{" + ",".join(value) + "}"
        if value is None:
            return "-"
        return json.dumps(value) if isinstance(value, str) and value != "-" else str(value)

    def log(self, _):
        return {"lines": list(self.lines)}

    def state(self, _):
        return {"phase": self.phase, "step": self.number, "executed": list(self.executed)}

    def metrics(self, _):
        rows = self.records
        done = [r for r in rows if r["selected"] is not None]

        def share(hits, of):
            return sum(hits) / len(of) if of else 0.0

        held = [(r["AV"], r["RP"]) for r in rows if r["mode"] != "-"]
        return {
            "steps": len(rows),
            "compile_failure_rate": share([r["halt"] for r in rows], rows),
            "gridlock_rate": share([r["gridlock"] for r in rows], rows),
            "revision_frequency": share([r["revision"] for r in rows], rows),
            "oscillations": sum(a == c != b for a, b, c in zip(held, held[1:], held[2:], strict=False)),
            "violation_rates": {p: share([p in r["violates"] for r in done], done) for p in sorted(self.preferences)},
            "prevented_gratuitous_authorizations": sum("E_GRATUITOUS_VIOLATION" in r["errors"][:1] for r in rows),
            "false_collision_attempts": sum("E_FALSE_COLLISION" in r["errors"] for r in rows),
        }


POST = {"begin", "step", "justify", "select"}
GET = {"briefing", "mask", "log", "state", "metrics"}


def handler(service):
    class Handler(BaseHTTPRequestHandler):
        def answer(self, paths):
            path = self.path.strip("/")
            try:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
            except (ValueError, RecursionError):
                return self.send(400, {"error": "no JSON"})
            if path not in paths:
                return self.send(404, {"error": "no such path"})
            if not isinstance(body, dict):
                return self.send(400, {"error": "no object"})
            reply = queue.Queue()
            service.events.put((path, body, reply))
            return self.send(*reply.get())

        def do_POST(self):
            self.answer(POST)

        def do_GET(self):
            self.answer(GET)

        def send(self, status, body):
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    return Handler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--defects", default=os.environ.get("APCM_DEFECTS", ""))
    options = parser.parse_args()
    service = Service(filter(None, options.defects.split(",")))
    threading.Thread(target=service.loop, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), handler(service))
    server.daemon_threads = True
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
