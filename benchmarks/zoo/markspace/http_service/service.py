"""Mark spaces as a service on the loopback: a guard behind HTTP, with subscriptions and a text log.

python service.py [defect ...]       (or MARKSPACE_DEFECTS=a,b in the environment)
"""

import json
import math
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

DEFECTS = set()
TYPES = {
    "intent": {"resource": "text", "action": "text", "confidence": "share"},
    "action": {"action": "text", "result": "object"},
    "observation": {"topic": "text", "content": "object", "confidence": "share", "source": "source"},
    "warning": {"topic": "text", "reason": "text", "severity": "severity"},
    "need": {"question": "text", "context": "object", "priority": "share", "blocking": "flag"},
}
OPTIONS = {"action": {"resource": "text", "failed": "flag"}, "warning": {"invalidates": "mark"}}
LISTS = {
    "intent": ("action", "allowed_intent_verbs"),
    "action": ("action", "allowed_action_verbs"),
    "observation": ("topic", "observation_topics"),
    "warning": ("topic", "warning_topics"),
}
TRUST = {"fleet": 1.0, "external_verified": 0.7, "external_unverified": 0.3}
CONTENT = ("result", "content", "reason", "question", "context")
PATTERN = ("scope", "mark_type", "topic", "resource")


class Problem(Exception):
    """An HTTP status and a sentence."""


def number(value, high=1e300):
    return type(value) in (int, float) and 0 <= value <= high


def good_scope(name):
    return isinstance(name, str) and all(name.split("/"))


def within(scope, parent):
    return scope == parent or scope.startswith(parent + "/")


def show(value):
    return str(value) if "raw_log" in DEFECTS else json.dumps(value, sort_keys=True)


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


def no_constant(name):
    raise ValueError(name)


class Space:
    def __init__(self, config):
        self.changed = threading.Condition()
        self.scopes = {}
        for scope in config["scopes"]:
            full = {"visibility": "open", "conflict_policy": "first_writer", "deferred": False, **scope}
            times = [full["decay"][key] for key in ("observation_half_life", "warning_half_life", "intent_ttl")]
            fine = good_scope(full["name"]) and all(number(value) and value > 0 for value in times)
            fine = fine and full["visibility"] in ("open", "protected", "classified")
            if not fine or full["conflict_policy"] not in ("first_writer", "highest_confidence", "yield_all"):
                raise Problem(400, "a scope is malformed")
            if full["conflict_policy"] == "highest_confidence" and not full["deferred"]:
                raise Problem(400, "behind a lock highest_confidence has to be deferred")
            self.scopes[full["name"]] = full
        self.agents = {agent["id"]: agent for agent in config["agents"]}
        if "guard" in self.agents:
            raise Problem(400, "the name guard is taken")
        self.principal = config.get("principal")
        self.now, self.marks, self.watching, self.queues, self.verdicts, self.lines = 0, {}, {}, {}, {}, []

    def log(self, event, **facts):
        words = " ".join(f"{name}={show(value)}" for name, value in facts.items())
        self.lines.append(f"t={self.now} {event} {words}")

    # writing

    def rules(self, scope):
        while scope and scope not in self.scopes:
            scope = scope.rpartition("/")[0]
        return self.scopes.get(scope)

    def may_write(self, agent, scope, kind):
        rows = self.agents[agent].get("permissions", []) if isinstance(agent, str) and agent in self.agents else []
        return any(within(scope, row["scope"]) and kind in row["mark_types"] for row in rows)

    def may_read(self, agent, scope):
        return agent in self.agents and any(within(scope, one) for one in self.agents[agent].get("read_scopes", []))

    def fits(self, value, shape):
        if shape == "share":
            return number(value, 1e300 if "any_confidence" in DEFECTS else 1)
        if shape == "mark":
            return isinstance(value, str) and value in self.marks
        if shape in ("source", "severity"):
            return isinstance(value, str) and value in (TRUST if shape == "source" else ("info", "caution", "critical"))
        return isinstance(value, {"text": str, "object": dict, "flag": bool}[shape])

    def check(self, agent, mark):
        if not isinstance(mark, dict) or not isinstance(mark.get("mark_type"), str) or mark["mark_type"] not in TYPES:
            raise Problem(400, "this is no mark of the five types")
        kind, scope = mark["mark_type"], mark["scope"] if "assumes_scope" in DEFECTS else mark.get("scope")
        if not good_scope(scope) or self.rules(scope) is None:
            raise Problem(404, "there is no such scope")
        if not self.may_write(agent, scope, kind):
            raise Problem(403, f"{agent} has no permission for {kind} marks in {scope}")
        shapes = {**TYPES[kind], **OPTIONS.get(kind, {}), "supersedes": "mark"}
        for name in {**TYPES[kind], **mark}:
            if name in ("mark_type", "scope") or (name == "initial_strength" and number(mark[name])):
                continue
            if name not in shapes or name not in mark or not self.fits(mark[name], shapes[name]):
                raise Problem(400, f"the field {name} is missing, unknown or malformed")
        if kind in LISTS:
            name, allowed = LISTS[kind][0], self.rules(scope).get(LISTS[kind][1], [])
            if mark[name] not in allowed and not (name == "topic" and "*" in allowed):
                raise Problem(403, f"the scope does not allow this {name}")

    def write(self, agent, mark):
        try:
            self.check(agent, mark)
        except Problem as problem:
            self.log("refused", by=agent, why=problem.args[1])
            raise
        return self.store(agent, mark)

    def store(self, agent, mark):
        mark_id = f"{len(self.marks) + 1:08x}"
        stored = {"initial_strength": 1.0, "supersedes": None, **mark}
        stored.update(id=mark_id, agent_id=agent, created_at=self.now, projected=False)
        beaten = []
        if mark["mark_type"] == "action" and not mark.get("failed"):
            beaten = [old for old in self.claims(mark["scope"], mark.get("resource")) if old["agent_id"] != agent]
        self.marks[mark_id] = stored
        self.log("write", by=agent, mark=stored)
        for watcher, patterns in self.watching.items():
            hits = [pattern for pattern in patterns if matches(pattern, stored)]
            own = watcher == agent and "own_echo" not in DEFECTS
            if hits and not own:
                self.queues[watcher].extend([mark_id] * (len(hits) if "subscriptions_pile_up" in DEFECTS else 1))
        for old in beaten:
            reason = f"{agent} acted later on {mark['resource']}"
            fields = {"topic": "superseded", "reason": reason, "severity": "caution", "invalidates": old["id"]}
            self.store("guard", {"mark_type": "warning", "scope": mark["scope"], **fields})
        return mark_id

    def resolve(self, need_id, action_id):
        need, act = self.marks.get(need_id), self.marks.get(action_id)
        if not need or need["mark_type"] != "need" or need.get("resolved_by") or self.superseded(need):
            raise Problem(409, "this is no open need")
        if not act or act["mark_type"] != "action" or act["scope"] != need["scope"]:
            raise Problem(409, "this is no action in the scope of the need")
        if act["agent_id"] != self.principal:
            raise Problem(403, "only an action of the principal resolves a need")
        return self.store(need["agent_id"], {**need, "supersedes": need_id, "resolved_by": action_id})

    # strength

    def superseded(self, mark):
        if any(other["supersedes"] == mark["id"] for other in self.marks.values()):
            return True
        if mark["mark_type"] != "action" or mark.get("failed") or mark.get("resource") is None:
            return False
        return any(
            other["mark_type"] == "action"
            and other["scope"] == mark["scope"]
            and other.get("resource") == mark["resource"]
            and other["agent_id"] != mark["agent_id"]
            and not other.get("failed")
            and (other["created_at"], other["id"]) > (mark["created_at"], mark["id"])
            for other in self.marks.values()
        )

    def effective(self, mark):
        decay, age = self.rules(mark["scope"])["decay"], self.now - mark["created_at"]
        if self.superseded(mark) or mark.get("resolved_by"):
            return 0.0
        if mark["mark_type"] == "intent":
            return mark["initial_strength"] if age <= decay["intent_ttl"] else 0.0
        if mark["mark_type"] in ("observation", "warning"):
            factor = 0.5 ** (age / decay[mark["mark_type"] + "_half_life"])
            return mark["initial_strength"] * factor * TRUST[mark.get("source", "fleet")]
        return mark["initial_strength"]

    def strength(self, mark):
        against = [other for other in self.marks.values() if other.get("invalidates") == mark["id"]]
        return max(0.0, self.effective(mark) - sum(map(self.effective, against)))

    # reading

    def shown(self, mark, reader):
        """The mark as this reader may see it, or None."""
        visibility = self.rules(mark["scope"])["visibility"]
        if reader is None or visibility == "open" or self.may_read(reader, mark["scope"]):
            return dict(mark)
        if visibility == "classified":
            return None
        return {**mark, **{name: None for name in CONTENT if name in mark}, "projected": True}

    def read(self, reader, scope, least, **filters):
        found = []
        for mark in self.marks.values():
            strength = self.strength(mark)
            wanted = all(value is None or mark.get(name) == value for name, value in filters.items())
            shown = self.shown(mark, reader) if mark["scope"] == scope and wanted and strength >= least else None
            if shown:
                found.append({**shown, "effective_strength": strength})
        return sorted(found, key=lambda mark: (-mark["effective_strength"], mark["created_at"], mark["id"]))

    def needs(self):
        groups = {}
        for need in self.marks.values():
            if need["mark_type"] == "need" and not need.get("resolved_by") and not self.superseded(need):
                groups.setdefault((need["scope"], need["question"].strip().lower()), []).append(need)
        rows = [
            {
                "scope": scope,
                "needs": group,
                "effective_priority": max(need["priority"] for need in group) + math.log(len(group)) * 0.1,
                "blocking_count": sum(need["blocking"] for need in group),
                "contexts": [need["context"] for need in group],
            }
            for (scope, _), group in groups.items()
        ]
        return sorted(rows, key=lambda row: -row["effective_priority"])

    # the guard

    def claims(self, scope, resource):
        acts = [mark for mark in self.marks.values() if mark["mark_type"] == "action" and mark["scope"] == scope]
        acts = [mark for mark in acts if resource is not None and mark.get("resource") == resource]
        return [mark for mark in acts if not mark.get("failed") and not self.superseded(mark)]

    def intents(self, scope, resource):
        marks = [mark for mark in self.marks.values() if mark["mark_type"] == "intent" and mark["scope"] == scope]
        return [mark for mark in marks if mark["resource"] == resource and self.strength(mark) > 0]

    def answer(self, agent, verdict, reason, intent_id=None, winning=None, others=()):
        self.log("verdict", of=agent, verdict=verdict, intent=intent_id)
        others = [shown for shown in (self.shown(mark, agent) for mark in others) if shown]
        about = {"intent_id": intent_id, "winning_intent": winning, "conflicting_intents": others}
        return {"verdict": verdict, "reason": reason, **about}

    def taken(self, agent, claim, intent_id=None):
        origin = self.marks.get(claim["supersedes"])
        if origin is None or origin["mark_type"] != "intent":
            names = ("id", "agent_id", "scope", "resource", "action", "created_at", "initial_strength", "supersedes")
            origin = {"mark_type": "intent", "confidence": 1.0, **{name: claim[name] for name in names}}
        winning = None if "taken_without_winner" in DEFECTS else origin
        return self.answer(agent, "CONFLICT", f"{claim['agent_id']} has already acted", intent_id, winning, [origin])

    def ask(self, intent):
        question = f"Who may act on {intent['resource']} in {intent['scope']}?"
        fields = {"question": question, "context": {"agent": intent["agent_id"]}, "blocking": True}
        self.store("guard", {"mark_type": "need", "scope": intent["scope"], "priority": intent["confidence"], **fields})

    def winner(self, policy, intents):
        surest = policy == "highest_confidence"
        return min(intents, key=lambda mark: (-mark["confidence"] if surest else 0, mark["created_at"], mark["id"]))

    def pre_action(self, agent, scope, resource, action, confidence):
        intent = {"mark_type": "intent", "scope": scope, "resource": resource}
        intent.update(action=action, confidence=confidence)
        try:
            self.check(agent, intent)
            if not self.may_write(agent, scope, "action"):
                raise Problem(403, f"{agent} has no permission for action marks in {scope}")
        except Problem as problem:
            return self.answer(agent, "DENIED", problem.args[1])
        foreign = [mark for mark in self.claims(scope, resource) if mark["agent_id"] != agent]
        if foreign:
            return self.taken(agent, foreign[-1])
        intent_id, rules = self.store(agent, intent), self.rules(scope)
        intents = self.intents(scope, resource)
        rivals = [mark for mark in intents if mark["agent_id"] != agent]
        if rules["deferred"]:
            return self.answer(agent, "BLOCKED", "pending resolution", intent_id, None, rivals)
        if rivals and rules["conflict_policy"] == "yield_all":
            self.ask(self.marks[intent_id])
            return self.answer(agent, "BLOCKED", "the principal has to decide", intent_id, None, rivals)
        best = self.winner(rules["conflict_policy"], intents)
        if best["agent_id"] == agent:
            return self.answer(agent, "ALLOW", "nobody goes before", intent_id, None, rivals)
        return self.answer(agent, "CONFLICT", f"{best['agent_id']} goes first", intent_id, best, rivals)

    def post_action(self, agent, mark, intent_id):
        if intent_id is not None:
            if not isinstance(intent_id, str) or self.marks.get(intent_id, {}).get("mark_type") != "intent":
                raise Problem(409, "intent_id names no intent")
            mark = {**mark, "supersedes": intent_id}
        return self.write(agent, {**mark, "mark_type": "action"})

    def boundary(self, scope, resource):
        rules = self.rules(scope) if good_scope(scope) else None
        intents = self.intents(scope, resource) if rules and rules["deferred"] else []
        given = {}
        for agent in dict.fromkeys(mark["agent_id"] for mark in intents):
            best, mine = self.winner(rules["conflict_policy"], intents), None
            for mark in intents:
                mine = mark if mark["agent_id"] == agent else mine
            rivals = [mark for mark in intents if mark["agent_id"] != agent]
            foreign = [mark for mark in self.claims(scope, resource) if mark["agent_id"] != agent]
            if foreign:
                given[agent] = self.taken(agent, foreign[-1], mine["id"])
            elif rivals and rules["conflict_policy"] == "yield_all":
                self.ask(mine)
                given[agent] = self.answer(agent, "BLOCKED", "the principal has to decide", mine["id"], None, rivals)
            elif agent == best["agent_id"]:
                given[agent] = self.answer(agent, "ALLOW", "won at the boundary", best["id"], None, rivals)
            else:
                given[agent] = self.answer(agent, "BLOCKED", f"{best['agent_id']} won", mine["id"], None, rivals)
        for agent, decision in given.items():
            if decision["verdict"] == "ALLOW" or "winner_only_told" not in DEFECTS:
                self.verdicts.setdefault((agent, scope, resource), []).append(decision)
        self.changed.notify_all()
        return {agent: decision["verdict"] for agent, decision in given.items()}

    def verdict(self, key, wait):
        if not self.changed.wait_for(lambda: self.verdicts.get(key), wait):
            raise Problem(504, "no boundary has come yet")
        return self.verdicts[key][0] if "verdict_kept" in DEFECTS else self.verdicts[key].pop(0)

    # watching

    def subscribe(self, agent, patterns):
        fine = agent in self.agents and isinstance(patterns, list) and patterns
        for pattern in patterns if fine else []:
            fine = fine and isinstance(pattern, dict) and good_scope(pattern.get("scope"))
            fine = fine and all(isinstance(pattern[name], str) and name in PATTERN for name in pattern)
        if not fine:
            raise Problem(400, "an agent subscribes with a list of patterns")
        if "subscriptions_pile_up" in DEFECTS:
            patterns = self.watching.get(agent, []) + patterns
        self.watching[agent], self.queues[agent] = patterns, []

    def unsubscribe(self, agent):
        self.watching.pop(agent, None)
        self.queues.pop(agent, None)

    def watched(self, agent, clear):
        marks = [self.marks[mark_id] for mark_id in self.queues.get(agent, [])]
        if "queue_by_strength" in DEFECTS:
            marks.sort(key=self.strength, reverse=True)
        if clear and agent in self.queues:
            self.queues[agent] = []
        shown = [mark if "watch_sees_all" in DEFECTS else self.shown(mark, agent) for mark in marks]
        return [mark for mark in shown if mark]


def matches(pattern, mark):
    named = all(mark.get(name) == pattern[name] for name in pattern if name != "scope")
    return named and within(mark["scope"], pattern["scope"])


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.handle_call()

    do_POST = do_DELETE = do_GET

    def handle_call(self):
        url = urlsplit(self.path)
        path = [unquote(part) for part in url.path.strip("/").split("/")]
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        try:
            status, found = 200, self.answer(path, query, self.body())
        except Problem as problem:
            status, found = problem.args[0], {"error": problem.args[1]}
        raw = found.encode("utf-8", "replace") if isinstance(found, str) else json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def body(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw, parse_constant=no_constant) if raw else {}
            json.dumps(body, allow_nan=False)
            if depth(body) > 50:
                raise ValueError("nested too deeply")
        except (ValueError, RecursionError) as error:
            raise Problem(400, "the body is not JSON") from error
        if not isinstance(body, dict):
            raise Problem(400, "the body is no object")
        return body

    def answer(self, path, query, body):
        if path == ["spaces"] and self.command == "POST":
            try:
                space = Space(body)
            except (KeyError, TypeError, AttributeError) as error:
                raise Problem(400, "the configuration is malformed") from error
            name = f"s{len(self.server.spaces) + 1}"
            self.server.spaces[name] = space
            return {"space": name}
        if len(path) < 3 or path[0] != "spaces" or path[1] not in self.server.spaces:
            raise Problem(404, "nothing here")
        space = self.server.spaces[path[1]]
        with space.changed:
            return self.route(space, path[2:], query, body)

    def route(self, space, path, query, body):
        get = body.get
        calls = {
            "POST marks": lambda: {"id": space.write(get("agent"), get("mark"))},
            "GET marks": lambda: self.read(space, query),
            "POST pre": lambda: space.pre_action(*map(get, ("agent", "scope", "resource", "action", "confidence"))),
            "POST post": lambda: {"id": space.post_action(get("agent"), self.an_object(get("mark")), get("intent_id"))},
            "POST boundary": lambda: space.boundary(get("scope"), get("resource")),
            "POST resolve": lambda: {"id": space.resolve(str(get("need_id")), str(get("action_id")))},
            "GET needs": space.needs,
            "POST clock": lambda: self.clock(space, get("advance")),
            "GET log": lambda: "\n".join(space.lines) + "\n",
        }
        if path[0] == "agents" and len(path) == 3:
            agent = path[1]
            key = agent, query.get("scope"), query.get("resource")
            calls = {
                "GET verdict": lambda: space.verdict(key, self.real(query.get("wait", "0"))),
                "POST subscribe": lambda: space.subscribe(agent, get("patterns")),
                "DELETE subscribe": lambda: space.unsubscribe(agent),
                "GET watched": lambda: space.watched(agent, query.get("clear") != "false"),
            }
        call = calls.get(f"{self.command} {path[-1]}") if len(path) in (1, 3) else None
        if call is None:
            raise Problem(404, "nothing here")
        return call()

    def read(self, space, query):
        names = {"mark_type": "type", "resource": "resource", "topic": "topic"}
        filters = {name: query.get(short) for name, short in names.items()}
        return space.read(query.get("reader"), query.get("scope"), self.real(query.get("min", "0.01")), **filters)

    def real(self, text):
        try:
            value = float(text)
            if not math.isfinite(value):
                raise ValueError(text)
            return min(max(value, 0.0), 1e6)
        except ValueError as error:
            raise Problem(400, "this is no number") from error

    def an_object(self, value):
        if not isinstance(value, dict):
            raise Problem(400, "the mark is no object")
        return value

    def clock(self, space, seconds):
        if not number(seconds):
            raise Problem(400, "time runs forward")
        space.now += seconds
        return {"now": space.now}

    def log_message(self, *args):
        pass


def main():
    names = sys.argv[1:] or os.environ.get("MARKSPACE_DEFECTS", "").split(",")
    DEFECTS.update(name for name in names if name)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.spaces = {}
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
