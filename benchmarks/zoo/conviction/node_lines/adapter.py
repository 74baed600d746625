"""Adapter of the Node program; give the readings in defects.toml.

The program has no way to begin anew: `anew.mjs` loads it again for each scenario.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.zoo.conviction import adapting
from benchmarks.zoo.conviction.adapting import ADMIN, SCHEDULER, UNKNOWN, Adapter, event, told, words

STAKES = {"SelfStake": "SelfStake", "StakeAdded": "AddStake"}
TIES = {"none": "none", "EarliestLastStakeTick": "earliest", "LowestProposalId": "unresolved"}
DOES = {
    "SignalReady": "ready", "Propose": "proposal.submit", "Revise": "proposal.revise", "Feedback": "feedback.give",
    "AddStake": "stake.add", "MoveStake": "stake.move",
}  # fmt: skip


class Program:
    """The program, begun anew by each object in one process (`anew.mjs`)."""

    process: subprocess.Popen[str] | None = None

    def __init__(self, rules: dict[str, Any]) -> None:
        if Program.process is None:
            command = ["node", str(Path(__file__).with_name("anew.mjs"))]
            Program.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        self._write([f"--defects={','.join(sorted(adapting.defects()))}", f"--rules={json.dumps(rules)}"])

    def _write(self, message: Any) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, message: Any) -> Any:
        """The answer to one line.  Raises RuntimeError if the program has ended."""
        self._write(message)
        assert self.process is not None
        assert self.process.stdout is not None
        answer = self.process.stdout.readline()
        if not answer:
            self.process.communicate()
            Program.process = None
            raise RuntimeError("the program has ended")
        return json.loads(answer)


class Lines(Adapter):
    """Sends lines; reads the log and the state."""

    readings: ClassVar[dict[str, str]] = {
        "completes": "any_payload", "act_after_ready": "allowed", "no_action": "shared", "rounding": "ceil",
        "full_tie": "lowest_proposal_id",
    }  # fmt: skip
    whole = ready_in_propose = ready_again = True

    def make(self, rules: dict[str, Any]) -> None:
        most = rules["maximum"]
        self.program = Program({
            "invitePayment": rules["invite"], "selfStake": rules["self_stake"], "maxThinkTicks": rules["think"],
            "kickOutPenalty": rules["penalty"], "feedbackStake": rules["price"], "maxFeedback": rules["most"],
            "feedbackChars": rules["length"], "maxMultiplier": rules["greatest"],
            "targetFraction": rules["fraction"], "saturationRounds": rules["saturation"],
            "stakeRounds": rules["rounds"], **({} if most is None else {"maximumCredit": most}),
        })  # fmt: skip
        self.issue, self.read, self.cycle, self.last = "", 0, 0, list[Any]()

    def ask(self, op: str, **message: Any) -> Any:
        return self.program.ask({"op": op, **message})

    def pass_on(self, line: Any) -> Any:
        """The answer to a line of an agent, which may be anything."""
        return self.program.ask(line)

    def said(self, answer: Any) -> str:
        return "" if answer["ok"] else answer["no"]

    def invite(self, agent: Any, key: str) -> str:
        answer = self.ask("admin.invite", key="admin" if key == ADMIN else key, name=agent["name"])
        if answer["ok"]:
            self.keys[agent["uid"]] = answer["key"]
            self.own[agent["uid"]], self.uids[answer["uid"]] = answer["uid"], agent["uid"]
        return self.said(answer)

    def enrol(self, uid: str, key: Any) -> str:
        self.speaks_for(uid, key)
        return self.said(self.ask("enroll", key=key))

    def open(self, issue: Any, agents: list[Any]) -> bool:
        fields = {"problem": issue["problem"], "background": issue["background"], "cycles": issue["cycles"]}
        answer = self.ask("admin.issue", key="admin", **fields)
        if not answer["ok"]:
            return False
        self.issue, self.cycle = answer["issue"], 0
        for uid in agents:
            self.ask("admin.assign", key="admin", uid=self.own[uid])
        return bool(self.ask("admin.begin", key="admin")["ok"])

    def tick(self, key: str) -> str:
        return self.said(self.ask("admin.tick", key="admin" if key == SCHEDULER else key))

    def act(self, kind: str, uid: str, key: str, action: Any) -> str:
        self.speaks_for(uid, key)
        text = action.get("text")
        fields: dict[str, Any] = adapting.parts(text) if text else {"noAction": True} if kind == "Propose" else {}
        places = (("proposal", "pid"), ("source", "from"), ("target", "to"))
        fields |= {name: self.pid(action[at]) for at, name in places if at in action}
        if "amount" in action:
            fields["cp"] = action["amount"]
        if "comment" in action:
            fields["comment"] = action["comment"]
        return self.said(self.pass_on({"op": DOES[kind], "key": key, "issue": self.issue, **fields}))

    def ended(self) -> bool:
        return bool(self.ask("ledger", issue=self.issue)["ok"])

    def news(self) -> list[Any]:
        self.last = self.ask("log")["log"]
        fresh, self.read = self.last[self.read :], len(self.last)
        self.proposals = self.ask("state")["proposals"] if self.issue else {}
        return [one for entry in fresh for one in self.translated(entry)]

    def translated(self, e: dict[str, Any]) -> list[Any]:
        kind, uid, pid = e["ev"], self.uids.get(e.get("agent")), e.get("pid")
        amount = e.get("amount")
        if kind == "Proposal":
            return [self.created(uid, pid)]
        name = self.called(pid)
        if kind == "Credit":
            return [event("Credit", agent=uid, amount=amount, reason="Invitation")]
        if kind == "Phase":
            phase = e["phase"]
            self.cycle += phase == "FEEDBACK"
            turn = e["round"] if phase == "STAKE" else self.cycle
            return [event("PhaseBegan", reason=phase, data=[] if phase == "PROPOSE" else [["turn", turn]])]
        if kind == "Substituted":
            return [event("KickOut", agent=uid, reason=e["by"])]
        if kind in STAKES:
            return [event("Staked", agent=uid, proposal=name, amount=amount, reason=STAKES[kind])]
        if kind == "StakeMoved":
            data = [["source", self.called(e["from"])]]
            return [event("Moved", agent=uid, proposal=name, amount=amount, reason="MoveStake", data=data)]
        if kind == "Unstaked":
            return [event("Withdrawn", agent=uid, proposal=name, amount=amount, reason="AutoStakeTap")]
        if kind == "Revision":
            data = [["delta", told(e["delta"])], ["cost", e["cost"]], ["withdrawn", e["tap"]]]
            data.append(["text", words(self.proposals[pid])])
            return [event(kind, agent=uid, proposal=name, data=data)]
        if kind == "Finalize":
            return [self.final(e)]
        if kind == "StakeBurned":
            burn = event("Burn", agent=uid, proposal=name, amount=amount, reason="Stake")
            return [event(kind, agent=uid, proposal=name, amount=amount), burn]
        if kind == "Burn":
            return [event(kind, agent=uid, amount=amount, reason=e["reason"])]
        if kind in ("IssueOpened", "Enrolled", "Ready"):
            return [event(kind, agent=uid)]
        if kind == "Feedback":
            return [event(kind, agent=uid, proposal=name)]
        return [] if kind == "Assigned" else [event("Rejected", agent=uid, reason=kind)]

    def final(self, e: Any) -> Any:
        """The end; which of its ids is the lowest is the kernel's own matter."""
        scores, tie = self.ask("ledger", issue=self.issue)["scores"], e.get("tieBreaker")
        made = self.finalize(e["pid"], e["score"], None if tie is None else TIES[tie], scores)
        if tie == "LowestProposalId":
            made |= {"proposal": UNKNOWN, "reason": UNKNOWN}
            made["data"][1] = ["tie", UNKNOWN]
        elif tie is None:
            made |= {"reason": ""}
            made["data"][1] = ["tie", ""]
        return made

    def created(self, uid: str | None, pid: str) -> Any:
        """A new proposal, or one more agent that takes the shared one."""
        author = self.proposals[pid]["author"]
        self.born(pid, "NoAction" if author is None else uid or "")
        data = [] if author is None else [["author", self.uids.get(author)], ["text", words(self.proposals[pid])]]
        reason = "NoAction" if author is None else ""
        return event("ProposalCreated", agent=uid, proposal=self.called(pid), reason=reason, data=data)

    def seen(self) -> dict[str, Any]:
        state, supply = self.ask("state"), self.ask("supply")["supply"]
        seats = []
        for uid in self.people:
            own = self.own.get(uid)
            here = [e for e in self.last if e.get("issue") == self.issue and e.get("agent") == own]
            given = sum(e["ev"] == "Feedback" for e in here)
            choice = next((e["pid"] for e in here if e["ev"] == "Proposal"), None)
            seats.append(self.seat(uid, state["balances"].get(own, 0), given, choice))
        granted = sum(e["amount"] for e in self.last if e["ev"] == "Credit")
        seen = {"seats": seats, "granted": granted, "burned": granted - supply}
        if not self.issue:
            return seen
        proposals = [
            {"uid": self.called(pid), "author": self.uids.get(p["author"], ""),
             "text": None if p["author"] is None else words(p)} for pid, p in state["proposals"].items()
        ]  # fmt: skip
        phase = state["phase"]
        turn = state["round"] if phase == "STAKE" else 0 if phase == "PROPOSE" else self.cycle
        return {**seen, "phase": phase, "turn": turn, "proposals": {"$bag": proposals}}


def make(initial: Any) -> Lines:
    """Return the kernel of one scenario."""
    return Lines(initial)
