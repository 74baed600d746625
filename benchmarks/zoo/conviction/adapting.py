"""What the adapters of these kernels share: the checker's questions asked in one way, the answers told in one way.

An adapter of a kernel fills in the methods that raise NotImplementedError.  It translates what its kernel does and
says; it never repairs it.

The kernels end an Issue in the tick that ends the last STAKE round, the model in the next one:
what the end shows is told a tick later.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from inspect import signature
from typing import Any

from evenhand.conform.adapters import Unsupported

ADMIN = "key of the administrator"
SCHEDULER = "key of the scheduler"
UNKNOWN = {"$unknown": True}
TIES = {"none": "highest score", "earliest": "earliest LastStakeTick", "unresolved": "full tie"}
NAMED = ("InsufficientCredit", "FeedbackLimitReached", "FeedbackTooLong")
DEFAULTS = {
    "act_after_ready": "rejected", "add_makes": "new_entry", "clock": "free_running", "completes": "staking_action",
    "diff_ratio": "replacements_over_max", "feedback_on_no_action": "rejected", "full_tie": "no_winner",
    "last_stake_tick": "adds_and_moves_in", "move_takes": "oldest_first", "multiplier_cap": "saturation_rounds",
    "no_action": "per_agent", "penalty_floor": "burn_what_is_left", "phase_end": "all_ready_or_timer",
    "poor_proposer": "stake_what_is_left", "ready_lasts": "phase", "revision_cost": "burned", "rounding": "exact",
    "rounds_from": "zero", "self_stake": "at_submission", "silent_penalty": "none_in_stake",
    "stake_burn": "is_burn_event", "substituted_no_action": "self_stakes",
    "tap_takes": "oldest_first", "text": "merged", "timer_reset": "per_phase",
}  # fmt: skip


def defects() -> frozenset[str]:
    """The planted defects that are switched on."""
    return frozenset(filter(None, os.environ.get("ZOO_DEFECTS", "").split(",")))


def number(value: Any) -> int | Fraction:
    """A number of the checker's."""
    return Fraction(value["$fraction"]) if isinstance(value, dict) else value


def told(value: Any) -> Any:
    """A number of the kernel's, as the checker writes it."""
    value = Fraction(value)
    return value.numerator if value.denominator == 1 else {"$fraction": str(value)}


def arguments(given: Any, call: Any, known: int) -> list[Any]:
    """What a function is called with behind `known` arguments.  Raises Unsupported for too many or too few."""
    if not isinstance(given, list):
        raise Unsupported("the call itself is the host's")
    try:
        signature(call).bind(*[None] * known, *given)
    except TypeError as error:
        raise Unsupported(str(error)) from error
    return given


def near(score: float) -> Any:
    """A score of the kernel's: the model shows the sum under the root."""
    return {"$near": float(score) ** 2, "within": 1e-6}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """An event with the fields that the kernel tells."""
    return {"$": "Event", "kind": kind, **{name: value for name, value in fields.items() if value is not None}}


def parts(text: Mapping[str, Any]) -> dict[str, Any]:
    """Title, action and rationale; a field that is given but empty is a blank to these kernels."""
    return {name: " " if text[name] == "" else text[name] for name in ("title", "action", "rationale")}


def words(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The text of a proposal, in the checker's words."""
    blank = {name: "" if fields[name] == " " else fields[name] for name in ("title", "action", "rationale")}
    return {"$": "Text", **blank}


class Adapter:
    """One run; the subclass drives its kernel."""

    readings: Mapping[str, str] = {}
    whole = False
    """Whether points are whole numbers."""
    ready_in_propose = False
    ready_again = False
    """Whether a second READY of one agent is taken as the first."""

    def __init__(self, initial: Any) -> None:
        self.config, start = initial["config"], initial["start"]
        self.limits = self.config["constants"]
        self._check(self.config["readings"], start)
        self.people = {agent["uid"]: agent for agent in self.config["agents"]}
        self.uids: dict[Any, str] = {}
        self.own: dict[str, Any] = {}
        self.keys: dict[str, str] = {}
        self.enrolled: set[str] = set()
        self.ready: set[str] = set()
        self.names: dict[Any, str] = {}
        self.at, self.running, self.held = 0, False, list[Any]()
        self.make(self._rules())
        for agent in self.config["agents"]:
            if agent["standing"] == "enrolled":
                self._join(agent)
        if start["phase"] == "PROPOSE":
            self._open()
        self.news()

    def _check(self, readings: Any, start: Any) -> None:
        for name, value in readings.items():
            wanted = {**DEFAULTS, **self.readings}.get(name, value)
            if value != wanted:
                raise Unsupported(f"the reading {name}={value}; give --reading {name}={wanted}")
        if readings["max_credit"] not in ("unbounded", "clip"):
            raise Unsupported(f"the reading max_credit={readings['max_credit']}")
        if start["phase"] not in ("IDLE", "PROPOSE") or start["proposals"] or start["issue"]:
            raise Unsupported("a start in the middle of a run")
        if Fraction(self.limits["fraction"]["$fraction"]) >= 1:
            raise Unsupported("a target fraction of 1")
        for agent in self.config["agents"]:
            if agent["granted"] not in (None, self.limits["invite_payment"]):
                raise Unsupported("a grant of its own for one agent")

    def _rules(self) -> dict[str, Any]:
        c, readings = self.limits, self.config["readings"]
        return {
            "invite": c["invite_payment"],
            "maximum": None if readings["max_credit"] == "unbounded" else c["maximum_credit"],
            "self_stake": c["self_stake"], "think": c["think_ticks"], "penalty": c["penalty"],
            "price": c["feedback_stake"], "most": c["feedback_limit"], "length": c["feedback_length"],
            "greatest": float(Fraction(c["greatest"]["$fraction"])),
            "fraction": float(Fraction(c["fraction"]["$fraction"])), "saturation": c["saturation"],
            "rounds": c["stake_rounds"] or readings["stake_rounds"],
        }  # fmt: skip

    # what the kernel does

    def make(self, rules: dict[str, Any]) -> None:
        """Make the kernel."""
        raise NotImplementedError

    def invite(self, agent: Any, key: str) -> str:
        """Invite an agent, learn its own id and key; return why not."""
        raise NotImplementedError

    def enrol(self, uid: str, key: Any) -> str:
        """Enrol an agent; return why not."""
        raise NotImplementedError

    def open(self, issue: Any, agents: list[Any]) -> bool:
        """Open an Issue, assign the agents, begin; False if it is refused."""
        raise NotImplementedError

    def tick(self, key: str) -> str:
        """Let one tick pass; return why not."""
        raise NotImplementedError

    def act(self, kind: str, uid: str, key: str, action: Any) -> str:
        """Let an agent act; return why not."""
        raise NotImplementedError

    def news(self) -> list[Any]:
        """The events since the last call."""
        raise NotImplementedError

    def ended(self) -> bool:
        """Whether the Issue is final."""
        raise NotImplementedError

    def seen(self) -> dict[str, Any]:
        """Phase, turn and so on, as far as they can be seen."""
        raise NotImplementedError

    # what the checker asks

    def step(self, action: Any) -> Any:
        """Take one action and show what the kernel shows."""
        kind = action["$"]
        if self.whole and isinstance(action.get("amount"), dict):
            raise Unsupported("an amount that is no whole number")
        if (kind, action["credential"]) in (("Tick", ADMIN), ("Invite", SCHEDULER)):
            raise Unsupported("administrator and scheduler are one and the same")
        if kind == "Tick":
            return self._tick(action["credential"])
        if kind == "Invite":
            why = self._invite(action)
        elif kind == "Enrol":
            why = self._enrol(action)
        else:
            why = self._act(kind, action)
        return self._refused(why) if why else self._shown(why, self.news())

    def _shown(self, why: Any, events: list[Any]) -> Any:
        return {"$": "Shown", "rejected": why, "events": {"$bag": events}}

    def _refused(self, why: str) -> Any:
        """A refusal; what the scheduler or administrator is refused is not logged everywhere."""
        shown, news = self._shown(why, []), self.news()
        return self._shown(why, news) if news else {**shown, "events": UNKNOWN}

    def _join(self, agent: Any) -> None:
        why = self.invite(agent, ADMIN) or self.enrol(agent["uid"], self.key_of(agent["credential"]))
        if why:
            raise Unsupported(f"an agent that cannot join: {why}")
        self.enrolled.add(agent["uid"])

    def _invite(self, action: Any) -> str:
        if action["agent"] not in self.people:
            raise Unsupported("an agent of whom nothing is known but an id")
        if action["agent"] in self.own and action["credential"] == ADMIN:
            raise Unsupported("a second invitation makes a second agent of that name")
        return self.invite(self.people[action["agent"]], action["credential"])

    def _enrol(self, action: Any) -> str:
        uid, key = action["agent"], self.key_of(action["credential"])
        if uid in self.enrolled:
            raise Unsupported("a second enrolment changes nothing and is not refused")
        why = self.enrol(uid, key)
        if not why:
            self.enrolled.add(uid)
        return why

    def key_of(self, credential: str) -> str:
        """The kernel's own key behind a credential; the credential itself, where it belongs to nobody yet."""
        for uid, agent in self.people.items():
            if agent["credential"] == credential and uid in self.keys:
                return self.keys[uid]
        return credential

    def speaks_for(self, uid: str, credential: str) -> None:
        """Raise Unsupported where the key alone says who acts and it is another's."""
        for other, key in self.keys.items():
            if other != uid and key == self.key_of(credential):
                raise Unsupported("the key alone says who acts; nobody can act in another's name")

    def _act(self, kind: str, action: Any) -> Any:
        uid, seen = action["agent"], self.seen()
        proposed = any(seat["proposal"] for seat in seen["seats"] if seat["agent"] == uid)
        if kind == "SignalReady" and seen.get("phase") == "PROPOSE" and self.ready_in_propose != proposed:
            raise Unsupported("READY in PROPOSE has a meaning of its own")
        if kind == "SignalReady" and self.ready_again and uid in self.ready:
            raise Unsupported("a second READY changes nothing and is not refused")
        before = self.reasons(uid, action) if kind == "Feedback" else []
        why = self.act(kind, uid, self.key_of(action["credential"]), action)
        if kind == "SignalReady" and not why:
            self.ready.add(uid)
        if why in NAMED and kind == "Feedback" and why in before and len(before) > 1:
            return UNKNOWN
        return why

    def reasons(self, uid: str, action: Any) -> list[str]:
        """The reasons against a comment; where there are several, the text does not say which is told."""
        balance, given = self.purse(uid)
        found = [len(action["comment"]) > self.limits["feedback_length"] and "FeedbackTooLong"]
        found += [given >= self.limits["feedback_limit"] and "FeedbackLimitReached"]
        found += [balance < self.limits["feedback_stake"] and "InsufficientCredit"]
        return [reason for reason in found if reason]

    def purse(self, uid: str) -> tuple[Any, int]:
        """The balance of an agent and how many comments it gave."""
        seat = next((seat for seat in self.seats() if seat["agent"] == uid), None)
        return (number(seat["balance"]), seat.get("feedback", 0)) if seat else (0, 0)

    def seats(self) -> list[Any]:
        """What is told of the agents."""
        return self.seen()["seats"]

    def pid(self, name: str) -> Any:
        """The kernel's own id of a proposal; the name itself if there is none."""
        return next((pid for pid, other in self.names.items() if other == name), name)

    def called(self, pid: Any) -> Any:
        """The name of a proposal of the kernel's."""
        return None if pid is None else self.names.get(pid, str(pid))

    def born(self, pid: Any, uid: str) -> None:
        """Name a new proposal."""
        self.names.setdefault(pid, uid)

    def _open(self) -> str:
        issue = self.config["issues"][self.at]
        agents = [uid for uid in issue["assigned"] if uid in self.enrolled]
        if not agents:
            raise Unsupported("an Issue without agents")
        self.names = {}
        self.ready.clear()
        if self.open(issue, agents):
            self.running = True
            return ""
        self.at += 1
        return "MissingField"

    def _tick(self, credential: str) -> Any:
        if credential != SCHEDULER:
            why = self.tick(credential)
            if why:
                return self._refused(why)
        elif self.held:
            shown, self.held, self.running = self.held, [], False
            self.at += 1
            return self._shown("", shown)
        elif not self.running:
            if self.at >= len(self.config["issues"]):
                raise Unsupported("a tick after the last Issue")
            issue = self.config["issues"][self.at]["uid"]
            if why := self._open():
                return self._shown("", [*self.news(), event("IssueRefused", reason=why, issue=issue)])
            return self._shown("", self.news())
        elif why := self.tick(credential):
            return self._shown(why, self.news())
        events = [event("Tick"), *self.news()]
        if any(one["kind"] == "PhaseBegan" for one in events):
            self.ready.clear()
        if self.running and self.ended():
            last = [one for one in events if one["kind"] in ("Finalize", "StakeBurned", "Published")
                    or one.get("reason") == "Stake"]  # fmt: skip
            self.held = [*last, event("Published")]
            events = [one for one in events if one not in last]
            events.append(event("PhaseBegan", reason="FINALIZE", data=[["turn", 0]]))
        return self._shown("", events)

    def facts(self) -> Any:
        """What can be seen of the state."""
        seen = {"issue": self.at, **self.seen()}
        if self.held:
            seen |= {"phase": "FINALIZE", "turn": 0}
            seen.pop("entries", None)
            seen.pop("proposals", None)
            seen.pop("burned", None)
        elif not self.running:
            last = self.at >= len(self.config["issues"])
            seen |= {"phase": "CLOSED" if last else "IDLE", "turn": 0, "entries": [], "proposals": []}
            seen["seats"] = [{**seat, "feedback": UNKNOWN, "proposal": UNKNOWN} for seat in seen["seats"]]
        return seen

    def seat(self, uid: str, balance: Any, given: Any = 0, proposal: Any = None) -> Any:
        """What is told of an agent."""
        return {
            "agent": uid, "balance": told(balance), "feedback": given,
            "proposal": "" if proposal is None else self.called(proposal),
        }  # fmt: skip

    def entries(self, stakes: list[tuple[Any, Any, Any, int]]) -> Any:
        """The stakes as (agent, proposal, amount, rounds held), summed; the model counts rounds to a cap."""
        sums: dict[Any, Any] = {}
        for uid, pid, amount, rounds in stakes:
            key = (self.uids[uid], self.called(pid), min(rounds, self.limits["saturation"]))
            sums[key] = sums.get(key, 0) + amount
        return {"$bag": [
            {"$": "Entry", "owner": uid, "proposal": pid, "held": rounds, "amount": told(amount)}
            for (uid, pid, rounds), amount in sums.items()
        ]}  # fmt: skip

    def finalize(self, pid: Any, score: Any, tie: Any, scores: Mapping[Any, float] | None) -> Any:
        """The event at the end; without a winner the model shows no score."""
        how = TIES.get(tie) if tie is not None else None
        data = [
            ["score", UNKNOWN if pid is None else near(score)],
            ["tie", how or UNKNOWN],
            ["scores", UNKNOWN if scores is None else {"$bag": [[self.called(p), near(s)] for p, s in scores.items()]}],
        ]
        return event("Finalize", proposal=self.called(pid) or "", reason=how, data=data)
