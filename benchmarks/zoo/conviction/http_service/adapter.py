"""Adapter of the service; give --reading ready_lasts=phase completes=any_payload last_stake_tick=self_stake_too.

One server in this process serves the service of the running scenario.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import re
import threading
import time
from fractions import Fraction
from typing import Any, ClassVar

from benchmarks.zoo.conviction import adapting
from benchmarks.zoo.conviction.adapting import ADMIN, SCHEDULER, UNKNOWN, Adapter, Unsupported, event, number, told
from benchmarks.zoo.conviction.http_service import service

STAKES = {"SELFSTAKE": "SelfStake", "ADDSTAKE": "AddStake"}
TIES = {"none": "none", "earliest-last-stake": "earliest", "unresolved": "unresolved"}
DOES = {"SignalReady": "signal-ready", "Propose": "propose", "Revise": "revise", "Feedback": "feedback",
        "AddStake": "add-stake", "MoveStake": "move-stake"}  # fmt: skip
WORDS = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|[^ ]+)')


class Server:
    """The server, begun when it is first asked; it hands each request to the running service."""

    port = 0
    running: Any = None

    @classmethod
    def handle(cls, *request: Any) -> Any:
        return cls.running.handle(*request)

    @classmethod
    def begin(cls) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as told:
            threading.Thread(target=service.serve, args=(cls, 0), daemon=True).start()
            while "\n" not in told.getvalue():
                time.sleep(0.005)
        cls.port = int(told.getvalue().rsplit(":", 1)[1])

    @classmethod
    def post(cls, path: str, key: str, body: Any) -> Any:
        if not cls.port:
            cls.begin()
        connection = http.client.HTTPConnection("127.0.0.1", cls.port)
        try:
            try:
                connection.request("POST", f"/{path}", json.dumps(body), {"X-Key": key})
            except ValueError:  # letters beyond Latin-1, a line break
                raise Unsupported("a key that no header carries") from None
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


class Service(Adapter):
    """Sends requests; reads the log and the state."""

    readings: ClassVar[dict[str, str]] = {"completes": "any_payload", "last_stake_tick": "self_stake_too"}

    def make(self, rules: dict[str, Any]) -> None:
        most = rules["maximum"]
        Server.running = service.Service("admin", {
            "StandardInvitePayment": rules["invite"], "ProposalSelfStake": rules["self_stake"],
            "MaxThinkTicks": rules["think"], "KickOutPenalty": rules["penalty"], "FeedbackStake": rules["price"],
            "MaxFeedbackPerAgent": rules["most"], "FeedbackCharLimit": rules["length"],
            "MaxConvictionMultiplier": rules["greatest"], "ConvictionTargetFraction": rules["fraction"],
            "ConvictionSaturationRounds": rules["saturation"], "StakeRounds": rules["rounds"],
            **({} if most is None else {"MaximumCredit": most}),
        }, adapting.defects())  # fmt: skip
        self.issue, self.read, self.cycle, self.round = "", 0, 0, 0
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.sent: dict[str, Any] = {}

    def post(self, path: str, key: str = "admin", **body: Any) -> Any:
        return Server.post(path, "admin" if key == ADMIN else key, body)

    def invite(self, agent: Any, key: str) -> str:
        answer = self.post("invite", key, name=agent["name"])
        if "agent" in answer:
            self.keys[agent["uid"]] = answer["key"]
            self.own[agent["uid"]], self.uids[answer["agent"]] = answer["agent"], agent["uid"]
        return answer.get("error", "")

    def enrol(self, uid: str, key: Any) -> str:
        self.speaks_for(uid, key)
        return self.post("enroll", key).get("error", "")

    def open(self, issue: Any, agents: list[Any]) -> bool:
        answer = self.post("issue", problem=issue["problem"], background=issue["background"], cycles=issue["cycles"])
        if "issue" not in answer:
            return False
        self.issue, self.cycle = answer["issue"], 0
        for uid in agents:
            self.post("assign", agent=self.own[uid])
        return not self.post("begin").get("error")

    def tick(self, key: str) -> str:
        return self.post("tick", "admin" if key == SCHEDULER else self.key_of(key)).get("error", "")

    def act(self, kind: str, uid: str, key: str, action: Any) -> str:
        self.speaks_for(uid, key)
        text = action.get("text")
        fields: dict[str, Any] = adapting.parts(text) if text else {"no_action": True} if kind == "Propose" else {}
        fields |= {name: self.pid(action[name]) for name in ("proposal", "source", "target") if name in action}
        if "amount" in action:
            amount = number(action["amount"])
            if isinstance(amount, Fraction) and Fraction(str(float(amount))) != amount:
                raise Unsupported("an amount that no JSON number is")
            fields["amount"] = float(amount) if isinstance(amount, Fraction) else amount
        if "comment" in action:
            fields["comment"] = action["comment"]
        self.sent = {} if text is None else text
        return self.pass_on({"issue": self.issue, **fields}, DOES[kind], key).get("error", "")

    def pass_on(self, body: Any, path: str, key: str) -> Any:
        """The answer to a request of an agent, whose body may be anything."""
        return Server.post(path, "admin" if key == ADMIN else key, body)

    def ended(self) -> bool:
        return bool(self.log() and self.lines[-1][0] in ("FINALIZE", "STAKEBURNED"))

    def log(self) -> bool:
        """Read the log anew."""
        text = self.post("log")["text"]
        self.lines = []
        for line in text.splitlines():
            _, _, kind, *rest = line.split(" ", 3)
            fields = {name: json.loads(value) for name, value in WORDS.findall(rest[0] if rest else "")}
            self.lines.append((kind, fields))
        return bool(self.lines)

    def news(self) -> list[Any]:
        self.log()
        fresh, self.read = self.lines[self.read :], len(self.lines)
        return [one for kind, fields in fresh for one in self.translated(kind, fields)]

    def translated(self, kind: str, e: dict[str, Any]) -> list[Any]:
        uid, pid = self.uids.get(e.get("agent")), e.get("proposal")
        amount = told(e["amount"]) if "amount" in e else None
        if kind == "PROPOSAL":
            self.born(pid, uid or "")
            none = e["title"] == "No Action"
            data = [] if none else [["author", uid], ["text", {"$": "Text", **self.parts(self.sent)}]]
            reason = "NoAction" if none else ""
            return [event("ProposalCreated", agent=uid, proposal=self.called(pid), reason=reason, data=data)]
        name = self.called(pid)
        if kind == "CREDIT":
            return [event("Credit", agent=uid, amount=amount, reason="Invitation")]
        if kind == "PHASE":
            phase, self.round = e["phase"], e["round"]
            self.cycle += phase == "FEEDBACK"
            turn = self.round if phase == "STAKE" else self.cycle
            data = [] if phase == "PROPOSE" else [["turn", turn]]
            return [] if phase == "FINAL" else [event("PhaseBegan", reason=phase, data=data)]
        if kind == "SUBSTITUTE":
            return [event("KickOut", agent=uid, reason=e["default"])]
        if kind in STAKES:
            return [event("Staked", agent=uid, proposal=name, amount=amount, reason=STAKES[kind])]
        if kind == "MOVESTAKE":
            data = [["source", self.called(e["source"])]]
            target = self.called(e["target"])
            return [event("Moved", agent=uid, proposal=target, amount=amount, reason="MoveStake", data=data)]
        if kind == "UNSTAKE":
            return [event("Withdrawn", agent=uid, proposal=name, amount=amount, reason="AutoStakeTap")]
        if kind == "REVISION":
            data = [["delta", told(e["delta"])], ["cost", told(e["cost"])], ["withdrawn", told(e["tap"])]]
            data.append(["text", {"$": "Text", **self.parts(self.sent)}])
            return [event("Revision", agent=uid, proposal=name, data=data)]
        if kind == "FINALIZE":
            scores = self.post("ledger", issue=e["issue"])["scores"]
            made = self.finalize(pid, e["score"], TIES[e["tie"]], scores)
            if TIES[e["tie"]] == "earliest" and self.substituted():
                made |= {"proposal": UNKNOWN, "reason": UNKNOWN, "data": UNKNOWN}
            return [made]
        if kind == "STAKEBURNED":
            burn = event("Burn", agent=uid, proposal=name, amount=amount, reason="Stake")
            return [event("StakeBurned", agent=uid, proposal=name, amount=amount), burn]
        if kind == "BURN":
            return [event("Burn", agent=uid, amount=amount, reason=e["reason"])]
        if kind == "FEEDBACK":
            return [event("Feedback", agent=uid, proposal=name, data=[["comment", e["comment"]]])]
        simple = {"ISSUE": "IssueOpened", "ENROLL": "Enrolled", "READY": "Ready"}
        if kind in simple:
            return [event(simple[kind], agent=uid)]
        return [] if kind == "ASSIGN" else [event("Rejected", agent=uid, reason=kind)]

    def substituted(self) -> bool:
        """Whether a proposal was substituted: its stake counts for the next tick here, in the model for this one."""
        return any(e.get("default") == "NoAction" for _, e in self.lines if e.get("issue") == self.issue)

    def parts(self, text: Any) -> Any:
        return {name: text[name] for name in ("title", "action", "rationale")}

    def seen(self) -> dict[str, Any]:
        state = self.post("state")
        here = [(kind, e) for kind, e in self.lines if e.get("issue") == self.issue]
        seats = []
        for uid in self.people:
            own = self.own.get(uid)
            mine = [(kind, e) for kind, e in here if e.get("agent") == own]
            choice = next((e["proposal"] for kind, e in mine if kind == "PROPOSAL"), None)
            given = sum(kind == "FEEDBACK" for kind, _ in mine)
            seats.append(self.seat(uid, state["balances"].get(own, 0), given, choice))
        granted = sum((Fraction(e["amount"]) for kind, e in self.lines if kind == "CREDIT"), Fraction(0))
        burns = ("BURN", "STAKEBURNED")
        burned = sum((Fraction(e["amount"]) for kind, e in self.lines if kind in burns), Fraction(0))
        seen = {"seats": seats, "granted": told(granted), "burned": told(burned)}
        if not self.issue:
            return seen
        phase = state["phase"]
        turn = self.round if phase == "STAKE" else 0 if phase == "PROPOSE" else self.cycle
        return {**seen, "phase": phase, "turn": turn}


def make(initial: Any) -> Service:
    """Return the kernel of one scenario."""
    return Service(initial)
