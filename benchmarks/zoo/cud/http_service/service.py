"""Coordination under deadlock as a service: agents hand in turns, an epoch closes when all have.

python service.py [defect ...]       (or CUD_DEFECTS=a,b in the environment)
"""

import itertools
import json
import os
import sys
import threading
from functools import partialmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

FIELDS = {"agent_id", "action_id", "action_type", "declared_scope", "proposed_delta", "authorities_cited"}
REFUSED = "JOINT_ADMISSIBILITY_FAILURE"
DEFECTS = set()


class Problem(Exception):
    """An HTTP status and a sentence."""


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


def read_json(raw):
    try:
        value = json.loads(raw)
        json.dumps(value, allow_nan=False)
        if depth(value) <= 50:
            return value
        raise ValueError("nested too deeply")
    except (ValueError, RecursionError) as error:
        raise Problem(400, "the body is not JSON") from error


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def show(value):
    if "raw_names" in DEFECTS:
        return (
            "{" + ",".join(f"{key}:{show(entry)}" for key, entry in value.items()) + "}"
            if isinstance(value, dict)
            else str(value)
        )
    return canonical(value)


class Run:
    def __init__(self, config):
        self.changed = threading.Condition()
        self.agents = list(config["agents"])
        self.active = list(self.agents)
        self.state = dict(config["state"])
        self.papers = {paper["authority_id"]: paper for paper in config["authorities"]}
        if (
            len(self.papers) < len(config["authorities"])
            or len(set(self.agents)) < len(self.agents)
            or any(isinstance(value, (dict, list)) for value in self.state.values())
        ):
            raise ValueError("an id is used twice, or the world is not flat")
        self.max_epochs = config["max_epochs"]
        self.communication = config.get("communication", False)
        self.limit = config.get("message_limit", 4096)
        self.epoch, self.turns, self.leaving, self.mail = 0, {}, [], []
        self.last = {agent: (None, None, None) for agent in self.agents}
        self.stall, self.stalled, self.stuck, self.executed = 0, False, False, False
        self.lines = [f"setup {show(config)}"]

    def over(self):
        return not self.active or self.epoch >= self.max_epochs

    def write(self, event, **facts):
        words = " ".join(f"{name}={show(value)}" for name, value in facts.items())
        self.lines.append(f"epoch={self.epoch} {event} {words}".rstrip())

    def turn(self, agent, body):
        if self.over():
            raise Problem(409, "the run is over")
        if agent not in self.active:
            raise Problem(410, "the agent has left")
        if not isinstance(body, dict) or type(body.get("epoch")) is not int:
            raise Problem(400, "a turn is an object with an epoch")
        if body["epoch"] != self.epoch:
            raise Problem(409, "a turn of another epoch")
        if agent in self.turns and "resubmit_overwrites" not in DEFECTS:
            raise Problem(409, "the turn of this epoch is already in")
        if body.get("exit") is True:
            self.turns.pop(agent, None)
            self.active.remove(agent)
            self.leaving.append(agent)
            if "exit_closes_nothing" in DEFECTS:
                return
        else:
            self.turns[agent] = body
        if all(agent in self.turns for agent in self.active):
            self.close()
            self.changed.notify_all()

    def close(self):
        for agent in filter(self.leaving.__contains__, self.agents):
            self.write("exit", who=agent)
        letters = self.collect_messages()
        actions = {agent: self.turns[agent].get("action") for agent in self.active}
        results = {agent: self.judge(agent, action) for agent, action in actions.items()}
        admitted = [agent for agent, (_, code) in results.items() if code == "admitted"]
        clashing = self.clashes({agent: actions[agent] for agent in admitted})
        before, after = self.state, dict(self.state)
        for agent in admitted:
            action = actions[agent]
            changes = {
                key: value
                for key, value in action["proposed_delta"].items()
                if key not in before or canonical(before[key]) != canonical(value)
            }
            if agent in clashing:
                results[agent] = REFUSED, "interference"
            elif set(changes) - set(action["declared_scope"]):
                results[agent] = "ACTION_FAULT", "SCOPE_VIOLATION"
            else:
                results[agent] = "EXECUTED", "-"
                after.update(changes)
        for agent, (outcome, code) in results.items():
            action = actions[agent]
            stamp = None if action is None else f"{agent}:{self.epoch}:0"
            told = stamp and code != "MALFORMED_REQUEST"
            if "leaky_scope" in DEFECTS:
                told = agent in admitted
            self.last[agent] = outcome, stamp, action["declared_scope"] if told else None
            self.write("action", who=agent, request=action, outcome=outcome, code=code)
        self.state = after
        idle = canonical(before) == canonical(after)
        self.stall = self.stall + 1 if clashing and idle else 0
        self.stalled = self.stalled or self.stall >= 3
        self.executed = self.executed or any(out == "EXECUTED" for out, _ in results.values())
        submitted = any(outcome != "NO_ACTION" for outcome, _ in results.values())
        self.stuck = submitted and not admitted and not self.open_door()
        self.write("state", world=after)
        self.mail = self.mail + letters if "mail_keeps" in DEFECTS else letters
        self.turns, self.leaving = {}, []
        self.epoch += 1

    def collect_messages(self):
        letters = []
        for agent in self.active:
            content = self.turns[agent].get("message")
            if content is None:
                continue
            text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
            fits = len(text.encode("utf-8", "surrogatepass")) <= self.limit
            taken = bool(self.communication) and isinstance(content, dict) and fits
            if taken:
                letters.append({"sender": agent, "epoch": self.epoch, "content": content})
            self.write("message", who=agent, content=content, taken=taken)
        return letters

    def on(self, key, operation, commitment):
        atom = {"target": f"STATE:/{key}", "operation": operation}
        return {
            name: paper["holder_agent_id"]
            for name, paper in self.papers.items()
            if paper["commitment"] == commitment and atom in paper["scope"]
        }

    def well_formed(self, agent, action):
        if ("assumes_object" not in DEFECTS and not isinstance(action, dict)) or set(action) != FIELDS:
            return False
        scope, delta, cited = map(action.get, ("declared_scope", "proposed_delta", "authorities_cited"))
        if not (isinstance(scope, list) and isinstance(delta, dict) and isinstance(cited, list)):
            return False
        return (
            action["agent_id"] == agent
            and action["action_id"] == f"{agent}:{self.epoch}:0"
            and (action["action_type"] == "WRITE" or (action["action_type"] == "READ" and not delta))
            and scope != []
            and all(isinstance(name, str) for name in scope + cited)
            and set(scope) <= set(self.state)
            and len(set(scope)) == len(scope)
            and not any(isinstance(value, (dict, list)) for value in delta.values())
        )

    def judge(self, agent, action):
        if action is None:
            return "NO_ACTION", "-"
        if not self.well_formed(agent, action):
            return "ACTION_FAULT", "MALFORMED_REQUEST"
        cited, operation = action["authorities_cited"], action["action_type"]
        held = {name for name, paper in self.papers.items() if paper["holder_agent_id"] == agent}
        if not set(cited) <= held:
            return "ACTION_FAULT", "INVALID_CAPABILITY_CLAIM"
        for key in action["declared_scope"]:
            if self.on(key, operation, "DENY"):
                return REFUSED, "veto"
            if not set(cited) & set(self.on(key, operation, "ALLOW")):
                return REFUSED, "no capability"
        return None, "admitted"

    def clashes(self, actions):
        users, struck = {}, set()
        for agent in filter(actions.__contains__, self.turns):
            for key in actions[agent]["declared_scope"]:
                users.setdefault(key, []).append(agent)
        for group in users.values():
            if len(group) > 1 and any(actions[a]["action_type"] == "WRITE" for a in group):
                struck.update(group[1:] if "first_come" in DEFECTS else group)
        return struck

    def open_door(self):
        return any(
            set(self.on(key, operation, "ALLOW").values()) & set(self.active)
            for key in self.state
            for operation in ("READ", "WRITE")
            if not self.on(key, operation, "DENY")
        )

    def orphaned(self):
        gone, here = set(self.agents) - set(self.active), set(self.active)
        holders = [set(self.on(key, "WRITE", "ALLOW").values()) for key in self.state]
        return any(group & gone and ("orphan_any" in DEFECTS or not group & here) for group in holders)

    def verdict(self):
        if not self.over():
            return None
        found = [
            (not self.active, "COLLAPSE"),
            (self.orphaned(), "ORPHANING"),
            (self.stuck, "STATE_DEADLOCK"),
            (self.stalled, "STATE_LIVELOCK"),
            (self.executed, "COORDINATED"),
            (True, "INVALID_RUN/NONTERMINATING_CONDITION"),
        ]
        return next(name for holds, name in found if holds)

    def status(self):
        state = dict(self.state)
        if "early_state" in DEFECTS:
            for agent, turn in self.turns.items():
                if self.judge(agent, turn.get("action"))[1] == "admitted":
                    state.update(turn["action"]["proposed_delta"])
        facts = {"epoch": self.epoch, "state": state, "active": self.active, "over": self.over()}
        return {**facts, "verdict": self.verdict()}

    def observation(self, agent, epoch, wait):
        if not self.changed.wait_for(lambda: self.epoch >= epoch or self.over(), wait):
            raise Problem(504, "that epoch has not come yet")
        if agent not in self.active:
            raise Problem(410, "the agent has left")
        outcome, action_id, scope = self.last[agent]
        return {
            "epoch": self.epoch,
            "world_state": self.status()["state"],
            "own_last_outcome": outcome,
            "own_last_action_id": action_id,
            "own_last_declared_scope": scope,
            "messages": [letter for letter in self.mail if letter["sender"] != agent],
        }


class Handler(BaseHTTPRequestHandler):
    runs, numbers = {}, itertools.count(1)

    def log_message(self, *_):
        pass

    def reply(self, status, body):
        raw = (body if isinstance(body, str) else json.dumps(body)).encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def body(self):
        length = self.headers.get("Content-Length", "")
        return read_json(self.rfile.read(int(length) if length.isdecimal() else 0))

    def serve(self, method):
        url = urlsplit(self.path)
        path = list(map(unquote, url.path.strip("/").split("/")))
        try:
            if method == "POST" and path == ["runs"]:
                return self.reply(201, self.create(self.body()))
            if path[0] != "runs" or path[1:2] == [] or path[1] not in self.runs:
                raise Problem(404, "no such run")
            run = self.runs[path[1]]
            return self.reply(200, self.dispatch(method, run, path[2:], parse_qs(url.query)))
        except Problem as problem:
            return self.reply(problem.args[0], {"error": problem.args[1]})

    def create(self, config):
        try:
            run = Run(config)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise Problem(400, "the configuration is incomplete or wrong") from error
        self.runs[name := f"r{next(self.numbers)}"] = run
        return {"run": name}

    def dispatch(self, method, run, rest, query):
        body = self.body() if method == "POST" else None
        with run.changed:
            if method == "GET" and rest == []:
                return run.status()
            if method == "GET" and rest == ["log"]:
                return "\n".join(run.lines) + "\n"
            if len(rest) == 3 and rest[0] == "agents":
                if rest[1] not in run.agents:
                    raise Problem(404, "no such agent")
                if method == "POST" and rest[2] == "turn":
                    run.turn(rest[1], body)
                    return {"taken": True}
                if method == "GET" and rest[2] == "observation":
                    epoch, wait = (query.get(name, ["0"])[0] for name in ("epoch", "wait"))
                    if not (epoch.isdecimal() and wait.isdecimal()):
                        raise Problem(400, "epoch and wait are whole numbers")
                    return run.observation(rest[1], int(epoch), min(int(wait), 30))
        raise Problem(404, "no such thing")

    do_GET = partialmethod(serve, "GET")
    do_POST = partialmethod(serve, "POST")


if __name__ == "__main__":
    DEFECTS.update(sys.argv[1:], filter(None, os.environ.get("CUD_DEFECTS", "").split(",")))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
