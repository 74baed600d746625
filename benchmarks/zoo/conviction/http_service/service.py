"""Conviction staking as a service: HTTP threads queue requests, one loop handles them and the events they raise."""

import argparse
import hashlib
import json
import math
import os
import queue
import threading
from collections import deque
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SETTINGS = {
    "StandardInvitePayment": 100, "MaximumCredit": 1000000, "ProposalSelfStake": 50, "MaxThinkTicks": 3,
    "KickOutPenalty": 0, "FeedbackStake": 5, "MaxFeedbackPerAgent": 3, "FeedbackCharLimit": 500, "RevisionCycles": 2,
    "MaxConvictionMultiplier": 2.0, "ConvictionTargetFraction": 0.98, "ConvictionSaturationRounds": 5, "StakeRounds": 3,
}  # fmt: skip
DEFECTS = (
    "drain_loop", "agent_may_tick", "key_in_ledger", "ready_not_cleared", "raw_comment_in_log", "infinite_amount",
    "fine_in_stake", "set_order_burns", "ledger_for_assigned",
)  # fmt: skip
PARTS = ("title", "action", "rationale")


class Stop(Exception):
    def __init__(self, status, error):
        super().__init__(error)
        self.status, self.error = status, error


class Service:
    def __init__(self, admin_key, settings=None, defects=frozenset()):
        self.s, self.admin_key, self.defects = {**SETTINGS, **(settings or {})}, admin_key, frozenset(defects)
        self.tick, self.lines, self.agents, self.issues, self.running = 0, [], {}, {}, None
        self.events = deque()

    # requests

    def handle(self, path, key, body):
        name = path.strip("/").replace("-", "_")
        try:
            if name in ("invite", "issue", "assign", "begin", "tick"):
                ticker = name == "tick" and "agent_may_tick" in self.defects and self.agent_of(key)
                if key != self.admin_key and not ticker:
                    raise Stop(403, "NotTheAdministrator")
                reply = getattr(self, f"admin_{name}")(body)
            elif name in ("enroll", "log", "ledger", "state"):
                if not (self.agent_of(key) or (key == self.admin_key and name != "enroll")):
                    raise Stop(401, "BadCredential")
                reply = getattr(self, f"read_{name}")(self.agent_of(key), body)
            elif name in ("propose", "feedback", "revise", "add_stake", "move_stake", "signal_ready"):
                reply = self.act(name, key, body)
            else:
                raise Stop(404, "NoSuchPath")
            while self.events:
                event, args = self.events.popleft()
                getattr(self, f"on_{event}")(*args)
            return 200, reply or {}
        except Stop as stop:
            return stop.status, {"error": stop.error}

    def act(self, name, key, body):
        agent, issue = self.agent_of(key), self.running
        try:
            if agent is None:
                raise Stop(401, "BadCredential")
            if issue is None or body.get("issue") != issue["id"] or agent not in issue["agents"]:
                raise Stop(403, "NotAssigned")
            phases = {"propose": "PROPOSE", "feedback": "FEEDBACK", "revise": "REVISE", "signal_ready": ""}
            if issue["phase"] == "OPEN" or phases.get(name, "STAKE") not in ("", issue["phase"]):
                raise Stop(409, "WrongPhase")
            if agent in issue["said_ready"]:
                raise Stop(409, "AlreadyReady")
            reply = getattr(self, f"agent_{name}")(issue, agent, body)
            issue["done"].append(agent)
            return reply
        except Stop as stop:
            self.say(stop.error, agent=agent, issue=issue and issue["id"])
            raise

    def agent_of(self, key):
        return next((a for a, record in self.agents.items() if record["key"] == key), None)

    def raise_event(self, event, *args):
        self.events.append((event, args))

    def say(self, kind, **fields):
        words = [f"{name}={json.dumps(value, default=str)}" for name, value in fields.items()]
        self.lines.append(" ".join([f"#{len(self.lines) + 1}", f"t{self.tick}", kind, *words]))

    def text_of(self, body, names):
        values = [body.get(name) for name in names]
        if not all(isinstance(value, str) and value for value in values):
            raise Stop(400, "FieldsMissing")
        return values

    # the administrator and the scheduler

    def admin_invite(self, body):
        (name,) = self.text_of(body, ["name"])
        agent = f"a{len(self.agents) + 1}"
        key = hashlib.sha256(f"{self.admin_key}/{agent}".encode()).hexdigest()[:16]
        grant = Fraction(min(self.s["StandardInvitePayment"], self.s["MaximumCredit"]))
        self.agents[agent] = {"name": name, "key": key, "balance": grant, "enrolled": False}
        self.say("CREDIT", agent=agent, amount=grant)
        return {"agent": agent, "key": key}

    def admin_issue(self, body):
        problem, background = self.text_of(body, ["problem", "background"])
        if self.running:
            raise Stop(409, "AnIssueIsRunning")
        cycles = body.get("cycles", self.s["RevisionCycles"])
        if type(cycles) is not int or not 0 <= cycles <= 100:
            raise Stop(400, "BadCycles")
        plan = ["PROPOSE"] + ["FEEDBACK", "REVISE"] * cycles + ["STAKE"] * self.s["StakeRounds"] + ["FINAL"]
        issue = {
            "id": f"i{len(self.issues) + 1}", "problem": problem, "background": background,
            "context": body.get("context"), "plan": plan, "phase": "OPEN", "round": 0, "agents": [], "done": [],
            "said_ready": [], "waited": {}, "proposals": {}, "stakes": [], "feedback": [], "scores": {}, "winner": None,
        }  # fmt: skip
        self.issues[issue["id"]] = self.running = issue
        self.say("ISSUE", issue=issue["id"])
        return {"issue": issue["id"]}

    def admin_assign(self, body):
        (agent,) = self.text_of(body, ["agent"])
        issue = self.running
        if not issue or issue["phase"] != "OPEN" or agent in issue["agents"]:
            raise Stop(409, "CannotAssignNow")
        if not self.agents.get(agent, {}).get("enrolled"):
            raise Stop(409, "NotEnrolled")
        issue["agents"].append(agent)
        self.say("ASSIGN", agent=agent, issue=issue["id"])

    def admin_begin(self, body):
        if not self.running or self.running["phase"] != "OPEN" or not self.running["agents"]:
            raise Stop(409, "CannotBeginNow")
        self.raise_event("phase_over", self.running)

    def admin_tick(self, body):
        self.tick += 1
        if self.running and self.running["phase"] != "OPEN":
            self.raise_event("tick", self.running)
        return {"tick": self.tick}

    # events

    def on_tick(self, issue):
        late = [a for a in issue["agents"] if a not in issue["done"]]
        for agent in late:
            issue["waited"][agent] += 1
        fired = [a for a in late if issue["waited"][a] >= self.s["MaxThinkTicks"]]
        for agent in fired:
            self.raise_event("kicked", issue, agent)
        if fired or not late:
            self.raise_event("phase_over", issue)

    def on_kicked(self, issue, agent):
        default = "NoAction" if issue["phase"] == "PROPOSE" else "Abstain"
        self.say("SUBSTITUTE", agent=agent, issue=issue["id"], default=default)
        if issue["phase"] == "PROPOSE":
            self.agent_propose(issue, agent, {"no_action": True})
        if issue["phase"] == "STAKE" and "fine_in_stake" not in self.defects:
            return
        owed = Fraction(self.s["KickOutPenalty"])
        while owed:
            fine = min(owed, self.agents[agent]["balance"])
            self.burn(issue, agent, fine, "KickOutPenalty")
            owed = owed - fine if "drain_loop" in self.defects else 0

    def on_phase_over(self, issue):
        before, issue["phase"] = issue["phase"], issue["plan"].pop(0)
        issue["said_ready"], issue["waited"] = [], dict.fromkeys(issue["agents"], 0)
        if "ready_not_cleared" not in self.defects:
            issue["done"] = []
        if issue["phase"] == "STAKE":
            issue["round"] += 1
        if issue["phase"] == before == "STAKE":
            for stake in issue["stakes"]:
                stake["rounds"] += 1
        self.say("PHASE", issue=issue["id"], phase=issue["phase"], round=issue["round"])
        if issue["phase"] == "FINAL":
            self.raise_event("final", issue)

    def on_final(self, issue):
        sums = dict.fromkeys(issue["proposals"], 0.0)
        for stake in issue["stakes"]:
            sums[stake["on"]] += float(stake["amount"]) * self.multiplier(stake["rounds"])
        sums = {pid: round(total, 9) for pid, total in sums.items()}
        issue["scores"] = {pid: math.sqrt(total) for pid, total in sums.items()}
        top, tie = [pid for pid in sums if sums[pid] == max(sums.values())], "none"
        if len(top) > 1:
            first = min(issue["proposals"][pid]["last_stake_tick"] for pid in top)
            top = [pid for pid in top if issue["proposals"][pid]["last_stake_tick"] == first]
            tie = "earliest-last-stake" if len(top) == 1 else "unresolved"
        issue["winner"] = top[0] if len(top) == 1 else None
        score = max(issue["scores"].values())
        self.say("FINALIZE", issue=issue["id"], proposal=issue["winner"], score=score, tie=tie)
        pairs = [(stake["by"], stake["on"]) for stake in issue["stakes"]]
        for agent, pid in set(pairs) if "set_order_burns" in self.defects else dict.fromkeys(pairs):
            amount = self.staked(issue, pid, agent)
            self.say("STAKEBURNED", agent=agent, proposal=pid, amount=amount, reason="end", issue=issue["id"])
        issue["stakes"], self.running = [], None

    def multiplier(self, rounds):
        limit = self.s["ConvictionSaturationRounds"]
        k = -math.log(1 - self.s["ConvictionTargetFraction"]) / limit
        return 1 + (self.s["MaxConvictionMultiplier"] - 1) * (1 - math.exp(-k * min(rounds, limit)))

    # agents

    def burn(self, issue, agent, amount, reason):
        if amount:
            self.agents[agent]["balance"] -= amount
            self.say("BURN", agent=agent, amount=amount, reason=reason, issue=issue["id"])

    def staked(self, issue, pid, agent=None):
        return sum((s["amount"] for s in issue["stakes"] if s["on"] == pid and agent in (None, s["by"])), Fraction(0))

    def put_stake(self, issue, agent, pid, amount, kind):
        if amount:
            self.agents[agent]["balance"] -= amount
            issue["stakes"].append({"by": agent, "on": pid, "amount": amount, "rounds": 0})
            self.say(kind, agent=agent, proposal=pid, amount=amount, issue=issue["id"])
        issue["proposals"][pid]["last_stake_tick"] = self.tick

    def take_stake(self, issue, agent, pid, amount):
        for stake in issue["stakes"]:
            if (stake["by"], stake["on"]) == (agent, pid):
                part = min(stake["amount"], amount)
                stake["amount"] -= part
                amount -= part
        issue["stakes"] = [s for s in issue["stakes"] if s["amount"]]

    def agent_signal_ready(self, issue, agent, body):
        if issue["phase"] == "PROPOSE":
            raise Stop(409, "ProposalRequired")
        issue["said_ready"].append(agent)
        self.say("READY", agent=agent, issue=issue["id"])

    def agent_propose(self, issue, agent, body):
        pid, no_action = f"{issue['id']}.{agent}", body.get("no_action") is True
        if pid in issue["proposals"]:
            raise Stop(409, "AlreadyProposed")
        title, action, rationale = ("No Action", "", "") if no_action else self.text_of(body, PARTS)
        issue["proposals"][pid] = {
            "title": title, "action": action, "rationale": rationale, "more": body.get("more"), "author": agent,
            "issue": issue["id"], "no_action": no_action, "revision": 0, "created": self.tick, "updated": self.tick,
        }  # fmt: skip
        self.say("PROPOSAL", agent=agent, proposal=pid, title=title, issue=issue["id"])
        amount = min(Fraction(self.s["ProposalSelfStake"]), self.agents[agent]["balance"])
        self.put_stake(issue, agent, pid, amount, "SELFSTAKE")
        return {"proposal": pid}

    def proposal(self, issue, body, name="proposal"):
        pid = body.get(name)
        if not isinstance(pid, str) or pid not in issue["proposals"]:
            raise Stop(404, "NoSuchProposal")
        return pid, issue["proposals"][pid]

    def agent_feedback(self, issue, agent, body):
        pid, target = self.proposal(issue, body)
        comment = body.get("comment")
        if target["author"] == agent or target["no_action"]:
            raise Stop(409, "NotByAnotherAgent")
        if not isinstance(comment, str):
            raise Stop(400, "FieldsMissing")
        if sum(f["from"] == agent for f in issue["feedback"]) >= self.s["MaxFeedbackPerAgent"]:
            raise Stop(409, "FeedbackLimitReached")
        if len(comment) > self.s["FeedbackCharLimit"]:
            raise Stop(409, "FeedbackTooLong")
        if self.agents[agent]["balance"] < self.s["FeedbackStake"]:
            raise Stop(409, "InsufficientCredit")
        issue["feedback"].append({"from": agent, "to": pid, "comment": comment, "tick": self.tick})
        self.say("FEEDBACK", agent=agent, proposal=pid, issue=issue["id"], comment=comment)
        if "raw_comment_in_log" in self.defects:
            self.lines[-1] = self.lines[-1].replace(json.dumps(comment), comment)
        self.burn(issue, agent, Fraction(self.s["FeedbackStake"]), "FeedbackStake")

    def agent_revise(self, issue, agent, body):
        pid = f"{issue['id']}.{agent}"
        proposal, text = issue["proposals"][pid], dict(zip(PARTS, self.text_of(body, PARTS), strict=True))
        if proposal["no_action"]:
            raise Stop(409, "NoActionIsCanonical")
        delta = diff_ratio(*(" ".join(p[f] for f in PARTS).split() for p in (proposal, text)))
        cost = self.s["ProposalSelfStake"] * delta
        tap = max(Fraction(0), cost - self.agents[agent]["balance"])
        if tap > self.staked(issue, pid, agent):
            raise Stop(409, "InsufficientCredit")
        if tap:
            self.take_stake(issue, agent, pid, tap)
            self.agents[agent]["balance"] += tap
            self.say("UNSTAKE", agent=agent, proposal=pid, amount=tap, issue=issue["id"])
        self.burn(issue, agent, cost, "RevisionCost")
        proposal.update(text, more=body.get("more", proposal["more"]), updated=self.tick)
        proposal["revision"] += 1
        self.say("REVISION", agent=agent, proposal=pid, delta=delta, cost=cost, tap=tap, issue=issue["id"])
        return {"cost": str(cost), "tap": str(tap)}

    def amount(self, issue, body):
        amount = body.get("amount")
        if issue["round"] < 2:
            raise Stop(409, "NotInFirstRound")
        if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not amount > 0:
            raise Stop(400, "BadAmount")
        if math.isinf(amount) and "infinite_amount" not in self.defects:
            raise Stop(400, "BadAmount")
        return Fraction(str(amount))

    def agent_add_stake(self, issue, agent, body):
        pid, _ = self.proposal(issue, body)
        amount = self.amount(issue, body)
        if self.agents[agent]["balance"] < amount:
            raise Stop(409, "InsufficientCredit")
        self.put_stake(issue, agent, pid, amount, "ADDSTAKE")

    def agent_move_stake(self, issue, agent, body):
        (source, _), (target, proposal) = self.proposal(issue, body, "source"), self.proposal(issue, body, "target")
        amount = self.amount(issue, body)
        if source == target or self.staked(issue, source, agent) < amount:
            raise Stop(409, "InsufficientStake")
        self.take_stake(issue, agent, source, amount)
        issue["stakes"].append({"by": agent, "on": target, "amount": amount, "rounds": 0})
        proposal["last_stake_tick"] = self.tick
        self.say("MOVESTAKE", agent=agent, source=source, target=target, amount=amount, issue=issue["id"])

    # reading

    def read_enroll(self, agent, body):
        self.agents[agent]["enrolled"] = True
        self.say("ENROLL", agent=agent)

    def read_log(self, agent, body):
        return {"text": "".join(line + "\n" for line in self.lines)}

    def read_state(self, agent, body):
        phase = self.running["phase"] if self.running else "IDLE"
        stakes = {pid: str(self.staked(self.running, pid)) for pid in self.running["proposals"]} if self.running else {}
        balances = {a: str(record["balance"]) for a, record in self.agents.items()}
        return {"tick": self.tick, "phase": phase, "balances": balances, "stakes": stakes}

    def read_ledger(self, agent, body):
        issue = self.issues.get(body.get("issue")) if isinstance(body.get("issue"), str) else None
        if issue is None or issue["phase"] != "FINAL":
            raise Stop(409, "NotFinal")
        if "ledger_for_assigned" in self.defects and agent not in issue["agents"]:
            raise Stop(403, "NotAssigned")
        proposals = {}
        for pid, p in issue["proposals"].items():
            author = self.agents[p["author"]]["key"] if "key_in_ledger" in self.defects else p["author"]
            proposals[pid] = {**p, "author": author, "stake": str(self.staked(issue, pid))}
        shown = {f: issue[f] for f in ("problem", "background", "context", "feedback", "scores", "winner")}
        return {"log": self.lines, "proposals": proposals, **shown}


def diff_ratio(old, new):
    row = [0] * (len(new) + 1)
    for word in old:
        last, row = row, [0]
        for j, other in enumerate(new):
            row.append(last[j] + 1 if word == other else max(last[j + 1], row[j]))
    longer = max(len(old), len(new))
    return Fraction(longer - row[-1], longer or 1)


def serve(service, port):
    inbox = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
                if not isinstance(body, dict):
                    raise ValueError
            except (ValueError, RecursionError):
                return self.answer(400, {"error": "BadJson"})
            reply = queue.Queue()
            inbox.put((reply, self.path, self.headers.get("X-Key"), body))
            return self.answer(*reply.get())

        def answer(self, status, reply):
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    while True:
        reply, path, key, body = inbox.get()
        reply.put(service.handle(path, key, body))


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--admin-key", default="admin")
    options.add_argument("--set", nargs="*", default=[], metavar="NAME=NUMBER")
    options.add_argument("--defects", default=os.environ.get("CONVICTION_DEFECTS", ""))
    given = options.parse_args()
    numbers = {name: json.loads(value) for name, value in (pair.split("=") for pair in given.set)}
    serve(Service(given.admin_key, numbers, set(filter(None, given.defects.split(",")))), given.port)
