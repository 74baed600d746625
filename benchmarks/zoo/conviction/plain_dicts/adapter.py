"""Adapter of the functions on one dict; give --reading ready_lasts=phase completes=any_payload."""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.zoo.conviction import adapting
from benchmarks.zoo.conviction.adapting import SCHEDULER, Adapter, Unsupported, event, number, parts, told, words
from benchmarks.zoo.conviction.plain_dicts import kernel

STAKES = {"SelfStake": "SelfStake", "StakeAdded": "AddStake"}
SILENT = ("Assigned",)
TIES = {"none": "none", "EarliestLastStakeTick": "earliest", "unresolved": "unresolved"}


class Kernel(Adapter):
    """Calls the functions; reads the log and the dict."""

    readings: ClassVar[dict[str, str]] = {"completes": "any_payload"}

    def make(self, rules: dict[str, Any]) -> None:
        self.k = kernel.new_kernel({
            "StandardInvitePayment": rules["invite"], "MaximumCredit": rules["maximum"],
            "ProposalSelfStake": rules["self_stake"], "MaxThinkTicks": rules["think"],
            "KickOutPenalty": rules["penalty"], "FeedbackStake": rules["price"],
            "MaxFeedbackPerAgent": rules["most"], "FeedbackCharLimit": rules["length"],
            "MaxConvictionMultiplier": rules["greatest"], "ConvictionTargetFraction": rules["fraction"],
            "ConvictionSaturationRounds": rules["saturation"], "StakeRounds": rules["rounds"],
        }, defects=adapting.defects())  # fmt: skip
        self.issue, self.read = "", 0

    def invite(self, agent: Any, key: str) -> str:
        if key != adapting.ADMIN:
            raise Unsupported("invitations carry no credential")
        uid, self.keys[agent["uid"]] = kernel.invite(self.k, agent["name"])
        self.own[agent["uid"]], self.uids[uid] = uid, agent["uid"]
        return ""

    def enrol(self, uid: str, key: Any) -> str:
        return self.said(kernel.enroll(self.k, self.own.get(uid, uid), key))

    def said(self, answer: Any) -> str:
        return "" if answer["ok"] else answer["event"]

    def open(self, issue: Any, agents: list[Any]) -> bool:
        answer = kernel.open_issue(self.k, issue["problem"], issue["background"], issue["cycles"])
        if not answer["ok"]:
            return False
        self.issue = answer["issue"]
        for uid in agents:
            kernel.assign(self.k, self.issue, self.own[uid])
        return bool(kernel.begin(self.k, self.issue)["ok"])

    def tick(self, key: str) -> str:
        if key != SCHEDULER:
            raise Unsupported("ticks carry no credential")
        kernel.tick(self.k)
        return ""

    def act(self, kind: str, uid: str, key: str, action: Any) -> str:
        who = (self.k, self.issue, self.own.get(uid, uid), key)
        if kind == "SignalReady":
            return self.said(self.pass_on([], kernel.signal_ready, who))
        if kind == "Propose":
            return self.said(self.pass_on([action["text"] and parts(action["text"])], kernel.propose, who))
        if kind == "Revise":
            return self.said(self.pass_on([parts(action["text"])], kernel.revise, who))
        places = [self.pid(action[name]) for name in ("proposal", "source", "target") if name in action]
        if kind == "Feedback":
            return self.said(self.pass_on([*places, action["comment"]], kernel.feedback, who))
        call = kernel.add_stake if kind == "AddStake" else kernel.move_stake
        return self.said(self.pass_on([*places, number(action["amount"])], call, who))

    def pass_on(self, given: Any, call: Any, who: Any) -> Any:
        """Call a function of the kernel with what an agent gives, which may be anything."""
        return call(*who, *adapting.arguments(given, call, len(who)))

    def ended(self) -> bool:
        return kernel.published(self.k, self.issue) is not None

    def news(self) -> list[Any]:
        log = kernel.events(self.k)
        fresh, self.read = log[self.read :], len(log)
        return [one for entry in fresh if entry["kind"] not in SILENT for one in self.translated(entry)]

    def translated(self, e: dict[str, Any]) -> list[Any]:
        kind, uid = e["kind"], self.uids.get(e.get("AgentID"))
        if kind == "ProposalCreated":
            self.born(e["ProposalID"], uid or "")
        pid, amount = self.called(e.get("ProposalID")), told(e["Amount"]) if "Amount" in e else None
        if kind == "Credit":
            return [event("Credit", agent=uid, amount=amount, reason="Invitation")]
        if kind == "PhaseBegan":
            it = self.k["issues"][e["ParentIssueID"]]
            turn = it["plan"][: it["at"] + 1].count(e["Phase"])
            return [event(kind, reason=e["Phase"], data=[] if e["Phase"] == "PROPOSE" else [["turn", turn]])]
        if kind == "Substitution":
            return [event("KickOut", agent=uid, reason=e["Default"])]
        if kind == "ProposalCreated":
            record = kernel.proposal(self.k, self.issue, e["ProposalID"])
            author = self.uids.get(record["AuthorAgentID"])
            data = [] if e["NoAction"] else [["author", author], ["text", words(record)]]
            return [event(kind, agent=uid, proposal=pid, reason="NoAction" if e["NoAction"] else "", data=data)]
        if kind in STAKES:
            return [event("Staked", agent=uid, proposal=pid, amount=amount, reason=STAKES[kind])]
        if kind == "StakeMoved":
            data = [["source", self.called(e["Source"])]]
            return [event("Moved", agent=uid, proposal=pid, amount=amount, reason="MoveStake", data=data)]
        if kind == "Unstaked":
            return [event("Withdrawn", agent=uid, proposal=pid, amount=amount, reason="AutoStakeTap")]
        if kind == "Revision":
            data = [["delta", told(e["Delta"])], ["cost", told(e["Cost"])], ["withdrawn", told(e["Withdrawal"])]]
            data.append(["text", words(kernel.proposal(self.k, self.issue, e["ProposalID"]))])
            return [event(kind, agent=uid, proposal=pid, data=data)]
        if kind == "Finalize":
            scores = self.k["issues"][self.issue]["scores"]
            return [self.finalize(e["ProposalID"], e["Score"], TIES[e["TieBreaker"]], scores)]
        if kind == "StakeBurned":
            burn = event("Burn", agent=uid, proposal=pid, amount=amount, reason="Stake")
            return [event(kind, agent=uid, proposal=pid, amount=amount), burn]
        if kind == "Burn":
            return [event(kind, agent=uid, amount=amount, reason=e["Reason"])]
        if kind in ("IssueOpened", "Enrolled", "Ready"):
            return [event(kind, agent=uid)]
        if kind == "Feedback":
            comment = self.k["issues"][self.issue]["feedback"][-1]["CommentBody"]
            return [event(kind, agent=uid, proposal=pid, data=[["comment", comment]])]
        return [event("Rejected", agent=uid, reason=kind)]

    def seen(self) -> dict[str, Any]:
        agents, it = self.k["agents"], self.k["issues"].get(self.issue)
        choice, given = (it["choice"], it["given"]) if it else ({}, {})
        seats = [self.seat(uid, agents[own]["balance"], given.get(own, 0), choice.get(own))
                 for uid, own in self.own.items()]  # fmt: skip
        seats += [self.seat(uid, 0) for uid in self.people if uid not in self.own]
        seats.sort(key=lambda seat: list(self.people).index(seat["agent"]))
        granted = sum(e["Amount"] for e in self.k["log"] if e["kind"] == "Credit")
        seen = {"seats": seats, "granted": told(granted), "burned": told(granted - kernel.supply(self.k))}
        if not it:
            return seen
        phase = it["phase"]
        turn = 0 if phase in ("PROPOSE", "FINALIZED") else it["plan"][: it["at"] + 1].count(phase)
        stakes = [(s["owner"], s["proposal"], s["amount"], s["rounds"]) for s in it["stakes"]]
        proposals = [
            {"uid": self.called(pid), "author": self.uids[p["AuthorAgentID"]],
             "text": None if p["NoAction"] else words(p)} for pid, p in it["proposals"].items()
        ]  # fmt: skip
        return {**seen, "phase": phase, "turn": turn, "entries": self.entries(stakes), "proposals": {"$bag": proposals}}


def make(initial: Any) -> Kernel:
    """Return the kernel of one scenario."""
    return Kernel(initial)
