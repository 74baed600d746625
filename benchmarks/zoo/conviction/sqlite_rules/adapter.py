"""Adapter of the rows and rules; give --reading ready_lasts=phase rounding=floor.

Feedback and revisions keep an agent from being kicked out here, but do not complete its phase.  Where that makes a
difference the tick is left out.
"""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.zoo.conviction import adapting
from benchmarks.zoo.conviction.adapting import ADMIN, SCHEDULER, UNKNOWN, Adapter, Unsupported, event, told, words
from benchmarks.zoo.conviction.sqlite_rules.kernel import Kernel

STAKES = {"SelfStake": "SelfStake", "StakeAdded": "AddStake"}
TIES = {"none": "none", "earliest last stake": "earliest", "unresolved": "unresolved"}


class Rows(Adapter):
    """Calls the kernel; reads its log and its rows."""

    readings: ClassVar[dict[str, str]] = {"rounding": "floor"}
    whole = True

    def make(self, rules: dict[str, Any]) -> None:
        most = rules["maximum"]
        self.k = Kernel({
            "StandardInvitePayment": rules["invite"], "ProposalSelfStake": rules["self_stake"],
            "MaxThinkTicks": rules["think"], "KickOutPenalty": rules["penalty"], "FeedbackStake": rules["price"],
            "MaxFeedbackPerAgent": rules["most"], "FeedbackCharLimit": rules["length"],
            "MaxConvictionMultiplier": rules["greatest"], "ConvictionTargetFraction": rules["fraction"],
            "ConvictionSaturationRounds": rules["saturation"], "StakeRounds": rules["rounds"],
            **({} if most is None else {"MaximumCredit": most}),
        }, defects=adapting.defects())  # fmt: skip
        self.issue, self.read = 0, 0

    def invite(self, agent: Any, key: str) -> str:
        if key != ADMIN:
            raise Unsupported("invitations carry no credential")
        number, self.keys[agent["uid"]] = self.k.invite(agent["name"])
        self.own[agent["uid"]], self.uids[number] = number, agent["uid"]
        return ""

    def enrol(self, uid: str, key: Any) -> str:
        self.speaks_for(uid, key)
        return self.k.enroll(key).get("refused", "")

    def open(self, issue: Any, agents: list[Any]) -> bool:
        try:
            self.issue = self.k.open_issue(issue["problem"], issue["background"], issue["cycles"])
        except ValueError:
            return False
        for uid in agents:
            self.k.assign(self.issue, self.own[uid])
        self.k.begin(self.issue)
        return True

    def tick(self, key: str) -> str:
        if key != SCHEDULER:
            raise Unsupported("ticks carry no credential")
        self.k.tick()
        return ""

    def _tick(self, credential: str) -> Any:
        blurred = False
        if self.running and not self.held and credential == SCHEDULER:
            phase, think = self.seen()["phase"], self.limits["think_ticks"]
            for row in self.members():
                balance = self.k.balance(row["agent"])
                if row["acted"] and not row["ready"] and phase in ("FEEDBACK", "REVISE"):
                    if think > 1 or (balance and self.limits["penalty"]):
                        raise Unsupported("who acts is not silent here, and without READY is silent in the model")
                    blurred = True
        shown = super()._tick(credential)
        return {**shown, "events": UNKNOWN} if blurred else shown

    def members(self) -> list[Any]:
        return self.k.all("SELECT * FROM member WHERE issue = ?", self.issue)

    def act(self, kind: str, uid: str, key: str, action: Any) -> str:
        self.speaks_for(uid, key)
        text = adapting.parts(action["text"]) if action.get("text") else {}
        pid = self.pid(action["proposal"]) if "proposal" in action else None
        if kind == "SignalReady":
            answer = self.k.do("signal_ready", key, self.issue)
        elif kind == "Propose":
            answer = self.k.do("propose" if text else "choose_no_action", key, self.issue, **text)
        elif kind == "Revise":
            answer = self.k.do("revise", key, self.issue, **text)
        elif kind == "Feedback":
            answer = self.k.do("feedback", key, self.issue, proposal=pid, comment=action["comment"])
        elif kind == "AddStake":
            answer = self.k.do("add_stake", key, self.issue, proposal=pid, amount=action["amount"])
        else:
            places = {name: self.pid(action[name]) for name in ("source", "target")}
            answer = self.k.do("move_stake", key, self.issue, **places, amount=action["amount"])
        return answer.get("refused", "")

    def ended(self) -> bool:
        return self.k.ledger(self.issue) is not None

    def news(self) -> list[Any]:
        log = self.k.events()
        fresh, self.read = log[self.read :], len(log)
        return [one for entry in fresh for one in self.translated(entry)]

    def row(self, pid: Any) -> dict[str, Any]:
        return next(row for row in self.k.proposals(self.issue) if row["id"] == pid)

    def translated(self, e: dict[str, Any]) -> list[Any]:
        kind, uid, detail, pid = e["kind"], self.uids.get(e["agent"]), e["detail"], e["proposal"]
        amount = None if e["amount"] is None else told(e["amount"])
        if kind == "ProposalCreated":
            self.born(pid, uid or "")
            row = self.row(pid)
            data = [] if row["no_action"] else [["author", self.uids.get(row["author"])], ["text", words(row)]]
            reason = "NoAction" if row["no_action"] else ""
            return [event(kind, agent=uid, proposal=self.called(pid), reason=reason, data=data)]
        name = self.called(pid)
        if kind == "Credit":
            return [event("Credit", agent=uid, amount=amount, reason="Invitation")]
        if kind == "PhaseBegan":
            phase = detail["phase"]
            data = [] if phase == "PROPOSE" else [["turn", self.turn(phase)]]
            return [] if phase == "FINAL" else [event(kind, reason=phase, data=data)]
        if kind == "Substituted":
            return [event("KickOut", agent=uid, reason=detail["default"])]
        if kind in STAKES:
            return [event("Staked", agent=uid, proposal=name, amount=amount, reason=STAKES[kind])]
        if kind == "StakeMoved":
            data = [["source", self.called(detail["source"])]]
            return [event("Moved", agent=uid, proposal=name, amount=amount, reason="MoveStake", data=data)]
        if kind == "Unstaked":
            return [event("Withdrawn", agent=uid, proposal=name, amount=amount, reason="AutoStakeTap")]
        if kind == "Revision":
            data = [["delta", told(detail["delta"])], ["cost", told(detail["cost"])]]
            data += [["withdrawn", told(detail["withdrawn"])], ["text", words(self.row(pid))]]
            return [event(kind, agent=uid, proposal=name, data=data)]
        if kind == "Finalize":
            scores = {int(number): score for number, score in detail["scores"].items()}
            return [self.finalize(pid, detail["score"], TIES[detail["tie_breaker"]], scores)]
        if kind == "StakeBurned":
            return [event(kind, agent=uid, proposal=name, amount=amount)]
        if kind == "Burn":
            stake = detail["reason"] == "StakeBurned"
            return [event(kind, agent=uid, amount=amount, reason="Stake" if stake else detail["reason"])]
        if kind in ("IssueOpened", "Enrolled", "Ready"):
            return [event(kind, agent=uid)]
        if kind == "Feedback":
            return [event(kind, agent=uid, proposal=name)]
        return [] if kind == "Assigned" else [event("Rejected", agent=uid, reason=kind)]

    def turn(self, phase: str) -> int:
        if phase == "STAKE":
            return int(self.k.value("SELECT round FROM issue WHERE id = ?", self.issue))
        began = [e for e in self.k.events() if e["kind"] == "PhaseBegan" and e["issue"] == self.issue]
        return sum(e["detail"]["phase"] == "FEEDBACK" for e in began)

    def seen(self) -> dict[str, Any]:
        members = {row["agent"]: row for row in self.members()} if self.issue else {}
        given = "SELECT COUNT(*) FROM feedback WHERE issue = ? AND agent = ?"
        seats = []
        for uid in self.people:
            own = self.own.get(uid)
            row = members.get(own)
            more = (self.k.value(given, self.issue, own), row["proposal"]) if row else (0, None)
            seats.append(self.seat(uid, self.k.balance(own) if own else 0, *more))
        granted = sum(e["amount"] for e in self.k.events() if e["kind"] == "Credit")
        seen = {"seats": seats, "granted": granted, "burned": granted - self.k.supply()}
        if not self.issue:
            return seen
        phase = self.k.value("SELECT phase FROM issue WHERE id = ?", self.issue)
        rows = self.k.all("SELECT * FROM stake WHERE issue = ?", self.issue)
        stakes = [(row["agent"], row["proposal"], row["amount"], row["rounds"]) for row in rows]
        proposals = [
            {"uid": self.called(row["id"]), "author": self.uids.get(row["author"], ""),
             "text": None if row["no_action"] else words(row)} for row in self.k.proposals(self.issue)
        ]  # fmt: skip
        turn = 0 if phase in ("PROPOSE", "FINAL") else self.turn(phase)
        return {**seen, "phase": phase, "turn": turn, "entries": self.entries(stakes),
                "proposals": {"$bag": proposals}}  # fmt: skip


def make(initial: Any) -> Rows:
    """Return the kernel of one scenario."""
    return Rows(initial)
