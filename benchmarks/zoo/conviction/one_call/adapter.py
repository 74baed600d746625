"""Adapter of the one call; give --reading ready_lasts=phase completes=any_payload no_action=shared.

The kernel keeps no log, so no events are shown but the end of an Issue, as far as the kernel tells it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.zoo.conviction import adapting
from benchmarks.zoo.conviction.adapting import (
    ADMIN,
    SCHEDULER,
    UNKNOWN,
    Adapter,
    event,
    number,
    told,
    words,
)
from benchmarks.zoo.conviction.one_call.kernel import NO_ACTION, Engine

TIES = {"none": "none", "earliestLastStake": "earliest", "unresolved": "unresolved"}
DOES = {"Propose": "propose", "Revise": "revise", "Feedback": "feedback", "AddStake": "add", "MoveStake": "move"}
AGENTS = (*DOES.values(), "join", "ready")


class OneCall(Adapter):
    """Calls `doIt`; reads `look`."""

    readings: ClassVar[dict[str, str]] = {"completes": "any_payload", "no_action": "shared"}
    ready_in_propose = True

    def make(self, rules: dict[str, Any]) -> None:
        most = rules["maximum"]
        self.k = Engine(
            ADMIN, defects=adapting.defects(), invitePayment=rules["invite"], selfStake=rules["self_stake"],
            thinkTicks=rules["think"], kickFine=rules["penalty"], feedbackPrice=rules["price"],
            feedbackMax=rules["most"], feedbackChars=rules["length"], maxMultiplier=rules["greatest"],
            targetFraction=rules["fraction"], saturationRounds=rules["saturation"], stakeRounds=rules["rounds"],
            **({} if most is None else {"maxCredit": most}),
        )  # fmt: skip
        self.cycle, self.phase, self.before = 0, "", dict[str, Any]()

    def do(self, do: str, **request: Any) -> str:
        made = {"do": do, **request}
        answer = self.pass_on(made) if do in AGENTS else self.k.doIt(made)
        return "" if answer["ok"] else answer["why"]

    def pass_on(self, request: Any) -> Any:
        """The answer to a request of an agent, which may hold anything."""
        return self.k.doIt(request)

    def invite(self, agent: Any, key: str) -> str:
        uid, own = agent["uid"], agent["credential"]
        why = self.do("invite", key=key, agent=uid, name=agent["name"], agentKey=own)
        if not why:
            self.keys[uid] = own
            self.own[uid] = self.uids[uid] = uid
        return why

    def enrol(self, uid: str, key: Any) -> str:
        return self.do("join", agent=uid, key=key)

    def open(self, issue: Any, agents: list[Any]) -> bool:
        fields = {"matter": issue["uid"], "problem": issue["problem"], "background": issue["background"]}
        if self.do("open", key=ADMIN, **fields, cycles=issue["cycles"]):
            return False
        for uid in agents:
            self.do("assign", key=ADMIN, agent=uid)
        self.cycle = 0
        self.phase = "propose"
        return not self.do("start", key=ADMIN)

    def tick(self, key: str) -> str:
        before = self.k.look()
        why = self.do("tick", key=ADMIN if key == SCHEDULER else key)
        if not why:
            self.before = before
        phase = self.k.look()["phase"]
        self.cycle += phase == "feedback" != self.phase
        self.phase = phase
        return why

    def act(self, kind: str, uid: str, key: str, action: Any) -> str:
        who = {"agent": uid, "key": key}
        if kind == "SignalReady":
            return self.do("ready", **who)
        text = action.get("text")
        fields: dict[str, Any] = adapting.parts(text) if text else {"noAction": True} if kind == "Propose" else {}
        fields |= {name: self.pid(action[at]) for at, name in (("source", "from"), ("target", "to")) if at in action}
        if "proposal" in action:
            fields["to" if kind == "AddStake" else "proposal"] = self.pid(action["proposal"])
        if "amount" in action:
            fields["amount"] = number(action["amount"])
        if "comment" in action:
            fields["comment"] = action["comment"]
        return self.do(DOES[kind], **who, **fields)

    def ended(self) -> bool:
        return bool(self.k.look()["phase"] == "done")

    def news(self) -> list[Any]:
        look = self.k.look()
        for name in look.get("drafts", {}):
            self.born(name, "NoAction" if name == NO_ACTION else name.removeprefix("draftOf:"))
        return []

    def _shown(self, why: Any, events: list[Any]) -> Any:
        finalize = [one for one in events if one.get("kind") == "Finalize"]
        return {"$": "Shown", "rejected": why, "events": {"$bag": events} if finalize else UNKNOWN}

    def _tick(self, credential: str) -> Any:
        shown = super()._tick(credential)
        if self.held:
            look = self.k.look()
            burned = {(one["by"], one["on"]) for one in self.before["stakes"]}
            last = self.finalize(look["winner"], look["score"], TIES[look["tie"]], None)
            self.held = [last, *[UNKNOWN] * (2 * len(burned)), event("Published")]
        return shown

    def seen(self) -> dict[str, Any]:
        look = self.k.look()
        comments = [one["from"] for one in look.get("comments", [])]
        choice = look.get("choice", {})
        seats = [self.seat(uid, look["free"].get(uid, 0), comments.count(uid), choice.get(uid)) for uid in self.people]
        seen: dict[str, Any] = {"seats": seats}
        if self.config["readings"]["max_credit"] == "unbounded":
            granted = self.limits["invite_payment"] * len(look["free"])
            seen["burned"] = told(granted - look["supply"])
        if not look.get("matter"):
            return seen
        stakes = [(one["by"], one["on"], one["amount"], one["held"]) for one in look["stakes"]]
        proposals = [
            {"uid": self.called(name), "author": draft["author"] or "",
             "text": None if draft["author"] is None else words(draft)} for name, draft in look["drafts"].items()
        ]  # fmt: skip
        phase = look["phase"]
        turn = look["round"] if phase == "stake" else 0 if phase == "propose" else self.cycle
        return {**seen, "phase": phase.upper(), "turn": turn, "entries": self.entries(stakes),
                "proposals": {"$bag": proposals}}  # fmt: skip


def make(initial: Any) -> OneCall:
    """Return the kernel of one scenario."""
    return OneCall(initial)
