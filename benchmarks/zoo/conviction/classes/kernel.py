"""Conviction staking as objects that keep their own state. Refusals are exceptions; scores are floats."""

import copy
import math
from dataclasses import dataclass, field
from fractions import Fraction

DEFECTS = (
    "live_log", "kept_list", "counts_outlive_issue", "raw_float_tie", "tap_takes_all", "delta_over_old",
    "empty_delta_crash", "timer_not_reset", "rounds_not_capped",
)  # fmt: skip


@dataclass
class Config:
    invite_payment: int = 100
    maximum_credit: float = math.inf
    self_stake: int = 50
    think_ticks: int = 3
    penalty: int = 0
    feedback_stake: int = 5
    feedback_max: int = 3
    feedback_chars: int = 500
    revision_cycles: int = 2
    max_multiplier: float = 2.0
    target_fraction: float = 0.98
    saturation_rounds: int = 5
    stake_rounds: int = 3


class Refused(Exception):
    """The action changed nothing; `event` is the name under which it was logged."""

    def __init__(self, event):
        super().__init__(event)
        self.event = event


@dataclass
class Agent:
    uid: str
    name: str
    credential: str
    balance: Fraction
    hooks: list
    metadata: dict
    enrolled: bool = False


@dataclass
class Draft:
    title: str
    action: str
    rationale: str
    extras: dict = field(default_factory=dict)

    def tokens(self):
        return f"{self.title} {self.action} {self.rationale}".split()

    def complete(self):
        return all(isinstance(part, str) and part for part in (self.title, self.action, self.rationale))


class Stake:
    def __init__(self, owner, amount):
        self.owner = owner
        self.amount = amount
        self.rounds_held = 0


class Proposal:
    def __init__(self, pid, author, draft, issue, tick):
        self.pid, self.author, self.issue = pid, author, issue
        self.draft = copy.deepcopy(draft)
        self.created = self.updated = tick
        self.revision = 0
        self.last_stake = None
        self.stakes = []

    def stake_of(self, uid):
        return sum((s.amount for s in self.stakes if s.owner == uid), Fraction(0))

    def take(self, uid, amount):
        for stake in self.stakes:
            if stake.owner == uid:
                part = min(stake.amount, amount)
                stake.amount -= part
                amount -= part
        self.stakes = [s for s in self.stakes if s.amount]

    def record(self):
        return {
            "ProposalID": self.pid, "AuthorAgentID": self.author, "ParentIssueID": self.issue,
            "Title": self.draft.title, "ProposedAction": self.draft.action, "Rationale": self.draft.rationale,
            "Extras": copy.deepcopy(self.draft.extras), "RevisionNumber": self.revision,
            "CurrentStake": sum((s.amount for s in self.stakes), Fraction(0)),
            "CreatedTick": self.created, "LastUpdatedTick": self.updated,
        }  # fmt: skip


class Ledger:
    def __init__(self, defects):
        self._events, self._defects, self.tick = [], defects, 0

    def add(self, kind, **fields):
        self._events.append({"Seq": len(self._events), "Tick": self.tick, "Event": kind, **fields})

    def events(self):
        return self._events if "live_log" in self._defects else copy.deepcopy(self._events)

    def supply(self):
        granted = sum(e["Amount"] for e in self._events if e["Event"] == "Credit")
        return granted - sum(e["Amount"] for e in self._events if e["Event"] in ("Burn", "StakeBurned"))


class Issue:
    def __init__(self, kernel, iid, fields, cycles, counts={}):  # noqa: B006
        self.kernel, self.iid, self.fields = kernel, iid, fields
        self.plan = iter(["PROPOSE", *["FEEDBACK", "REVISE"] * cycles, *["STAKE"] * kernel.config.stake_rounds, "END"])
        self.phase, self.round = None, 0
        self.counts = counts if "counts_outlive_issue" in kernel.defects else {}
        self.agents, self.waited, self.done = [], {}, set()
        self.choice, self.proposals, self.comments = {}, {}, []
        self.scores, self.winner = {}, None

    def log(self, kind, uid, **fields):
        self.kernel.ledger.add(kind, AgentID=uid, ParentIssueID=self.iid, **fields)

    def burn(self, uid, amount, reason):
        if amount:
            self.kernel.agents[uid].balance -= amount
            self.log("Burn", uid, Amount=amount, Reason=reason)

    def next_phase(self):
        before, self.phase = self.phase, next(self.plan)
        self.done = set()
        if "timer_not_reset" not in self.kernel.defects:
            self.waited = {}
        if self.phase == "STAKE":
            self.round += 1
        if self.phase == before == "STAKE":
            for stake in (s for p in self.proposals.values() for s in p.stakes):
                stake.rounds_held += 1
        self.log("Phase", None, Phase=self.phase, Round=self.round)
        if self.phase == "END":
            self.finalize()

    def on_tick(self):
        laggards = [uid for uid in self.agents if uid not in self.done]
        for uid in laggards:
            self.waited[uid] = self.waited.get(uid, 0) + 1
        fired = [uid for uid in laggards if self.waited[uid] >= self.kernel.config.think_ticks]
        for uid in fired:
            self.log("Substituted", uid, Default="NoAction" if self.phase == "PROPOSE" else "Abstain")
            if self.phase == "PROPOSE":
                self.submit(uid, None)
            if self.phase != "STAKE":
                self.burn(uid, min(self.kernel.config.penalty, self.kernel.agents[uid].balance), "KickOutPenalty")
        if fired or not laggards:
            self.next_phase()

    def submit(self, uid, draft):
        if uid in self.choice:
            raise Refused("AlreadySubmitted")
        if draft is None:
            pid = f"{self.iid}/no-action"
            author, draft = None, Draft("No Action", "", "")
        else:
            if not isinstance(draft, Draft) or not draft.complete():
                raise Refused("IncompleteProposal")
            pid, author = f"{self.iid}/{uid}", uid
        if pid not in self.proposals:
            self.proposals[pid] = Proposal(pid, author, draft, self.iid, self.kernel.ledger.tick)
        self.choice[uid] = pid
        self.done.add(uid)
        self.log("Proposal", uid, ProposalID=pid)
        amount = min(Fraction(self.kernel.config.self_stake), self.kernel.agents[uid].balance)
        if amount:
            self.place(uid, pid, amount, "SelfStake")
        return pid

    def place(self, uid, pid, amount, kind):
        self.kernel.agents[uid].balance -= amount
        self.proposals[pid].stakes.append(Stake(uid, amount))
        self.log(kind, uid, ProposalID=pid, Amount=amount)

    def comment(self, uid, pid, body):
        config, target = self.kernel.config, self.find(pid)
        if target.author in (uid, None):
            raise Refused("NotByAnotherAgent")
        if not isinstance(body, str):
            raise Refused("CommentIsNotText")
        if self.counts.get(uid, 0) >= config.feedback_max:
            raise Refused("FeedbackLimitReached")
        if len(body) > config.feedback_chars:
            raise Refused("FeedbackTooLong")
        if self.kernel.agents[uid].balance < config.feedback_stake:
            raise Refused("InsufficientCredit")
        self.counts[uid] = self.counts.get(uid, 0) + 1
        self.done.add(uid)
        tick = self.kernel.ledger.tick
        item = {"FromAgentID": uid, "TargetProposalID": pid, "CommentBody": body, "CreatedTick": tick}
        self.comments.append(item)
        self.log("Feedback", uid, **item)
        self.burn(uid, config.feedback_stake, "FeedbackStake")

    def delta(self, old, new):
        lengths = [0] * (len(new) + 1)
        for word in old:
            above, lengths = lengths, [0]
            for j in range(len(new)):
                lengths.append(above[j] + 1 if word == new[j] else max(above[j + 1], lengths[j]))
        longer = max(len(old), len(new))
        if "delta_over_old" in self.kernel.defects and old:
            return Fraction(longer - lengths[-1], len(old))
        if not longer and "empty_delta_crash" not in self.kernel.defects:
            return Fraction(0)
        return Fraction(longer - lengths[-1], longer)

    def revise(self, uid, draft):
        proposal, agent = self.proposals[self.choice[uid]], self.kernel.agents[uid]
        if proposal.author is None:
            raise Refused("NoActionIsCanonical")
        if not isinstance(draft, Draft) or not draft.complete():
            raise Refused("IncompleteProposal")
        delta = self.delta(proposal.draft.tokens(), draft.tokens())
        cost, staked = self.kernel.config.self_stake * delta, proposal.stake_of(uid)
        deficit = max(Fraction(0), cost - agent.balance)
        if deficit > staked:
            raise Refused("InsufficientCredit")
        tapped = staked if deficit and "tap_takes_all" in self.kernel.defects else deficit
        if tapped:
            proposal.take(uid, tapped)
            agent.balance += tapped
            self.log("Unstake", uid, ProposalID=proposal.pid, Amount=tapped)
        self.burn(uid, cost, "RevisionCost")
        proposal.draft, proposal.updated = copy.deepcopy(draft), self.kernel.ledger.tick
        proposal.revision += 1
        self.done.add(uid)
        self.log("Revision", uid, ProposalID=proposal.pid, Delta=delta, Cost=cost, Withdrawn=tapped)

    def find(self, pid):
        if not isinstance(pid, str) or pid not in self.proposals:
            raise Refused("NoSuchProposal")
        return self.proposals[pid]

    def check_stake(self, amount):
        if self.round < 2:
            raise Refused("NotInFirstRound")
        if type(amount) not in (int, Fraction) or amount <= 0:
            raise Refused("BadAmount")

    def add_stake(self, uid, pid, amount):
        target = self.find(pid)
        self.check_stake(amount)
        if self.kernel.agents[uid].balance < amount:
            raise Refused("InsufficientCredit")
        self.place(uid, pid, Fraction(amount), "AddStake")
        target.last_stake = self.kernel.ledger.tick
        self.done.add(uid)

    def move_stake(self, uid, source, target, amount):
        old, new = self.find(source), self.find(target)
        self.check_stake(amount)
        if old is new or old.stake_of(uid) < amount:
            raise Refused("InsufficientStake")
        old.take(uid, Fraction(amount))
        new.stakes.append(Stake(uid, Fraction(amount)))
        new.last_stake = self.kernel.ledger.tick
        self.done.add(uid)
        self.log("MoveStake", uid, FromProposalID=source, ProposalID=target, Amount=Fraction(amount))

    def multiplier(self, rounds):
        config = self.kernel.config
        if "rounds_not_capped" not in self.kernel.defects:
            rounds = min(rounds, config.saturation_rounds)
        k = -math.log(1 - config.target_fraction) / config.saturation_rounds
        return 1 + (config.max_multiplier - 1) * (1 - math.exp(-k * rounds))

    def finalize(self):
        digits = 17 if "raw_float_tie" in self.kernel.defects else 9
        sums = {}
        for p in self.proposals.values():
            sums[p] = round(sum(float(s.amount) * self.multiplier(s.rounds_held) for s in p.stakes), digits)
            self.scores[p.pid] = math.sqrt(sums[p])
        top = [p for p in sums if sums[p] == max(sums.values())]
        resolution = "not needed"
        if len(top) > 1:
            first = min(p.last_stake or 0 for p in top)
            top = [p for p in top if (p.last_stake or 0) == first]
            resolution = "earliest LastStakeTick" if len(top) == 1 else "still tied"
        self.winner = top[0].pid if len(top) == 1 else None
        best = max(self.scores.values())
        self.log("Finalize", None, ProposalID=self.winner, Score=best, TieBreaker=resolution)
        for p in self.proposals.values():
            for uid in dict.fromkeys(s.owner for s in p.stakes):
                self.log("StakeBurned", uid, ProposalID=p.pid, Amount=p.stake_of(uid), Reason="End of issue")
            p.stakes = []


class Kernel:
    def __init__(self, config=None, defects=frozenset()):
        self.config, self.defects = config or Config(), frozenset(defects)
        self.ledger, self.agents, self.issues = Ledger(self.defects), {}, {}

    def invite(self, name, hooks=None, metadata=None):
        uid = f"agent-{len(self.agents) + 1}"
        grant = min(Fraction(self.config.invite_payment), self.config.maximum_credit)
        hooks, metadata = hooks if hooks is not None else [], metadata if metadata is not None else {}
        self.agents[uid] = Agent(uid, name, f"secret-of-{uid}", grant, hooks, metadata)
        self.ledger.add("Credit", AgentID=uid, Amount=grant)
        return self.agents[uid].credential

    def enroll(self, credential):
        agent = self._who(credential)
        agent.enrolled = True
        self.ledger.add("Enrolled", AgentID=agent.uid)
        return agent.uid

    def open(self, problem, background, cycles=None, **more):
        if not problem or not background:
            raise ValueError("an issue needs a problem statement and background information")
        iid = f"issue-{len(self.issues) + 1}"
        fields = {"ProblemStatement": problem, "BackgroundInformation": background, **more}
        cycles = self.config.revision_cycles if cycles is None else cycles
        self.issues[iid] = Issue(self, iid, fields, cycles)
        self.ledger.add("IssueOpened", ParentIssueID=iid)
        return iid

    def assign(self, iid, uids):
        """Assign enrolled agents and begin the proposal phase."""
        issue = self.issues[iid]
        if issue.phase or not uids or len(set(uids)) < len(uids) or not all(self.agents[u].enrolled for u in uids):
            raise ValueError("only enrolled agents can be assigned, once, and only before the issue begins")
        issue.agents = uids if "kept_list" in self.defects else list(uids)
        for uid in issue.agents:
            issue.log("Assigned", uid)
        issue.next_phase()

    def _who(self, credential):
        for agent in self.agents.values():
            if agent.credential == credential:
                return agent
        self.ledger.add("BadCredential")
        raise Refused("BadCredential")

    def act(self, credential, iid, phase, method, *args):
        agent = self._who(credential)
        issue = self.issues.get(iid) if isinstance(iid, str) else None
        try:
            if issue is None or agent.uid not in issue.agents:
                raise Refused("NotAssigned")
            if issue.phase not in phase:
                raise Refused("WrongPhase")
            return method(issue, agent.uid, *args)
        except Refused as refusal:
            self.ledger.add(refusal.event, AgentID=agent.uid, ParentIssueID=issue and issue.iid)
            raise

    def propose(self, credential, iid, draft=None):
        return self.act(credential, iid, ["PROPOSE"], Issue.submit, draft)

    def feedback(self, credential, iid, pid, body):
        self.act(credential, iid, ["FEEDBACK"], Issue.comment, pid, body)

    def revise(self, credential, iid, draft):
        self.act(credential, iid, ["REVISE"], Issue.revise, draft)

    def add_stake(self, credential, iid, pid, amount):
        self.act(credential, iid, ["STAKE"], Issue.add_stake, pid, amount)

    def move_stake(self, credential, iid, source, target, amount):
        self.act(credential, iid, ["STAKE"], Issue.move_stake, source, target, amount)

    def signal_ready(self, credential, iid):
        def ready(issue, uid):
            issue.done.add(uid)
            issue.log("Ready", uid)

        self.act(credential, iid, ["FEEDBACK", "REVISE", "STAKE"], ready)

    def tick(self):
        self.ledger.tick += 1
        for issue in self.issues.values():
            if issue.phase not in (None, "END"):
                issue.on_tick()

    def publication(self, iid):
        issue = self.issues[iid]
        if issue.phase != "END":
            return None
        proposals = [p.record() for p in issue.proposals.values()]
        return copy.deepcopy(
            {"events": self.ledger.events(), "issue": issue.fields, "proposals": proposals,
             "feedback": issue.comments, "scores": issue.scores, "winner": issue.winner}
        )  # fmt: skip
