"""Adapter of the objects; give the readings in defects.toml.

The caller is careless: it goes on using the list of agents that it handed over, and the log that it was handed.
"""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.zoo.conviction import adapting
from benchmarks.zoo.conviction.adapting import ADMIN, SCHEDULER, Adapter, Unsupported, event, number, told, words
from benchmarks.zoo.conviction.classes.kernel import Config, Draft, Kernel, Refused

STAKES = {"SelfStake": "SelfStake", "AddStake": "AddStake"}
TIES = {"not needed": "none", "earliest LastStakeTick": "earliest", "still tied": "unresolved"}


class Objects(Adapter):
    """Calls the methods; reads the log and the objects."""

    readings: ClassVar[dict[str, str]] = {
        "completes": "any_payload", "act_after_ready": "allowed", "no_action": "shared",
    }  # fmt: skip
    ready_again = True

    def make(self, rules: dict[str, Any]) -> None:
        most = rules["maximum"]
        self.k = Kernel(Config(
            invite_payment=rules["invite"], self_stake=rules["self_stake"], think_ticks=rules["think"],
            penalty=rules["penalty"], feedback_stake=rules["price"], feedback_max=rules["most"],
            feedback_chars=rules["length"], max_multiplier=rules["greatest"], target_fraction=rules["fraction"],
            saturation_rounds=rules["saturation"], stake_rounds=rules["rounds"],
            **({} if most is None else {"maximum_credit": most}),
        ), defects=adapting.defects())  # fmt: skip
        self.read, self.issue, self.cycle = 0, "", 0

    def invite(self, agent: Any, key: str) -> str:
        if key != ADMIN:
            raise Unsupported("invitations carry no credential")
        self.keys[agent["uid"]] = self.k.invite(agent["name"])
        uid = f"agent-{len(self.keys)}"
        self.own[agent["uid"]], self.uids[uid] = uid, agent["uid"]
        return ""

    def enrol(self, uid: str, key: Any) -> str:
        self.speaks_for(uid, key)
        return self.said(self.k.enroll, key)

    def said(self, call: Any, *args: Any) -> str:
        return self.pass_on([*args], call)

    def pass_on(self, args: Any, call: Any) -> str:
        """Call a method with what an agent gives, which may be anything; return why it refuses."""
        args = adapting.arguments(args, call, 0)
        try:
            call(*args)
        except Refused as refusal:
            return refusal.event
        return ""

    def open(self, issue: Any, agents: list[Any]) -> bool:
        try:
            self.issue = self.k.open(issue["problem"], issue["background"], issue["cycles"])
        except ValueError:
            return False
        self.cycle = 0
        assigned = [self.own[uid] for uid in agents]
        self.k.assign(self.issue, assigned)
        if len(assigned) > 2:
            assigned.pop()
        return True

    def tick(self, key: str) -> str:
        if key != SCHEDULER:
            raise Unsupported("ticks carry no credential")
        self.k.tick()
        return ""

    def draft(self, text: Any) -> Any:
        return text and Draft(**adapting.parts(text))

    def act(self, kind: str, uid: str, key: str, action: Any) -> str:
        self.speaks_for(uid, key)
        if kind == "SignalReady":
            return self.said(self.k.signal_ready, key, self.issue)
        if kind == "Propose":
            return self.said(self.k.propose, key, self.issue, self.draft(action["text"]))
        if kind == "Revise":
            return self.said(self.k.revise, key, self.issue, self.draft(action["text"]))
        if kind == "Feedback":
            return self.said(self.k.feedback, key, self.issue, self.pid(action["proposal"]), action["comment"])
        amount = number(action["amount"])
        if kind == "AddStake":
            return self.said(self.k.add_stake, key, self.issue, self.pid(action["proposal"]), amount)
        places = (self.pid(action["source"]), self.pid(action["target"]))
        return self.said(self.k.move_stake, key, self.issue, *places, amount)

    def ended(self) -> bool:
        return self.k.publication(self.issue) is not None

    def news(self) -> list[Any]:
        log = self.k.ledger.events()
        fresh, self.read = log[self.read :], len(log)
        found = [one for entry in fresh for one in self.translated(entry)]
        if any(entry["Event"] == "Finalize" for entry in fresh):
            log.clear()
        return found

    def translated(self, e: dict[str, Any]) -> list[Any]:
        kind, uid, pid = e["Event"], self.uids.get(e.get("AgentID")), e.get("ProposalID")
        amount = told(e["Amount"]) if "Amount" in e else None
        if kind == "Proposal":
            return [self.created(uid, pid)]
        pid = self.called(pid)
        if kind == "Credit":
            return [event("Credit", agent=uid, amount=amount, reason="Invitation")]
        if kind == "Phase":
            return self.began(e["Phase"], e["Round"])
        if kind == "Substituted":
            return [event("KickOut", agent=uid, reason=e["Default"])]
        if kind in STAKES:
            return [event("Staked", agent=uid, proposal=pid, amount=amount, reason=STAKES[kind])]
        if kind == "MoveStake":
            data = [["source", self.called(e["FromProposalID"])]]
            return [event("Moved", agent=uid, proposal=pid, amount=amount, reason="MoveStake", data=data)]
        if kind == "Unstake":
            return [event("Withdrawn", agent=uid, proposal=pid, amount=amount, reason="AutoStakeTap")]
        if kind == "Revision":
            data = [["delta", told(e["Delta"])], ["cost", told(e["Cost"])], ["withdrawn", told(e["Withdrawn"])]]
            data.append(["text", self.text(e["ProposalID"])])
            return [event(kind, agent=uid, proposal=pid, data=data)]
        if kind == "Finalize":
            scores = self.k.publication(self.issue)["scores"]
            return [self.finalize(e["ProposalID"], e["Score"], TIES[e["TieBreaker"]], scores)]
        if kind == "StakeBurned":
            burn = event("Burn", agent=uid, proposal=pid, amount=amount, reason="Stake")
            return [event(kind, agent=uid, proposal=pid, amount=amount), burn]
        if kind == "Burn":
            return [event(kind, agent=uid, amount=amount, reason=e["Reason"])]
        if kind in ("IssueOpened", "Enrolled", "Ready"):
            return [event(kind, agent=uid)]
        if kind == "Feedback":
            return [event(kind, agent=uid, proposal=pid, data=[["comment", e["CommentBody"]]])]
        return [] if kind == "Assigned" else [event("Rejected", agent=uid, reason=kind)]

    def began(self, phase: str, turn: int) -> list[Any]:
        """The beginning of a phase; the end of an Issue is told elsewhere."""
        self.cycle += phase == "FEEDBACK"
        if phase == "END":
            return []
        turn = turn if phase == "STAKE" else self.cycle
        return [event("PhaseBegan", reason=phase, data=[] if phase == "PROPOSE" else [["turn", turn]])]

    def created(self, uid: str | None, pid: str) -> Any:
        """A new proposal, or one more agent that takes the shared one."""
        author = self.k.issues[self.issue].proposals[pid].author
        self.born(pid, "NoAction" if author is None else uid or "")
        data = [] if author is None else [["author", self.uids.get(author)], ["text", self.text(pid)]]
        reason = "NoAction" if author is None else ""
        return event("ProposalCreated", agent=uid, proposal=self.called(pid), reason=reason, data=data)

    def text(self, pid: str) -> Any:
        draft = self.k.issues[self.issue].proposals[pid].draft
        return words({"title": draft.title, "action": draft.action, "rationale": draft.rationale})

    def seen(self) -> dict[str, Any]:
        it = self.k.issues.get(self.issue)
        seats = []
        for uid in self.people:
            own = self.own.get(uid)
            given = (it.counts.get(own, 0), it.choice.get(own)) if it else (0, None)
            seats.append(self.seat(uid, self.k.agents[own].balance if own else 0, *given))
        seen = {"seats": seats, "granted": adapting.UNKNOWN, "burned": adapting.UNKNOWN}
        if not it:
            return seen
        stakes = [(s.owner, p.pid, s.amount, s.rounds_held) for p in it.proposals.values() for s in p.stakes]
        invited = self.limits["invite_payment"] * len(self.own)
        if self.config["readings"]["max_credit"] == "unbounded":
            seen |= {"granted": invited, "burned": told(invited - self.k.ledger.supply())}
        proposals = [
            {"uid": self.called(pid), "author": self.uids.get(p.author, ""),
             "text": None if p.author is None else self.text(pid)} for pid, p in it.proposals.items()
        ]  # fmt: skip
        turn = it.round if it.phase == "STAKE" else 0 if it.phase == "PROPOSE" else self.cycle
        return {**seen, "phase": it.phase, "turn": turn, "entries": self.entries(stakes),
                "proposals": {"$bag": proposals}}  # fmt: skip


def make(initial: Any) -> Objects:
    """Return the kernel of one scenario."""
    return Objects(initial)
