"""Conviction staking in SQLite: state, log and the table of what is allowed when are all rows."""

import base64
import hashlib
import json
import math
import sqlite3
from fractions import Fraction

DEFECTS = (
    "tap_not_rolled_back", "burn_named_after_author", "untouched_loses_tie", "pattern_keys", "caseless_keys",
    "early_round", "kick_everyone", "acted_never_times_out", "always_one_cycle", "phase_tick_in_record",
)  # fmt: skip
SETTINGS = {
    "StandardInvitePayment": 100, "MaximumCredit": 10**12, "ProposalSelfStake": 50, "MaxThinkTicks": 3,
    "KickOutPenalty": 0, "FeedbackStake": 5, "MaxFeedbackPerAgent": 3, "FeedbackCharLimit": 500, "RevisionCycles": 2,
    "MaxConvictionMultiplier": 2.0, "ConvictionTargetFraction": 0.98, "ConvictionSaturationRounds": 5, "StakeRounds": 3,
}  # fmt: skip
RULES = [  # action, phase, first round, completes the phase for the agent
    ("propose", "PROPOSE", 0, 1), ("choose_no_action", "PROPOSE", 0, 1),
    ("feedback", "FEEDBACK", 0, 0), ("signal_ready", "FEEDBACK", 0, 1),
    ("revise", "REVISE", 0, 0), ("signal_ready", "REVISE", 0, 1),
    ("add_stake", "STAKE", 2, 1), ("move_stake", "STAKE", 2, 1), ("signal_ready", "STAKE", 0, 1),
]  # fmt: skip
SCHEMA = """
CREATE TABLE rule (action, phase, first_round, completes);
CREATE TABLE agent (id INTEGER PRIMARY KEY, name, key UNIQUE, balance INTEGER, enrolled DEFAULT 0);
CREATE TABLE issue (id INTEGER PRIMARY KEY, problem, background, context, plan, phase, round DEFAULT 0, began DEFAULT 0,
                    winner, score);
CREATE TABLE member (issue, agent, waited DEFAULT 0, acted DEFAULT 0, ready DEFAULT 0, complete DEFAULT 0, proposal);
CREATE TABLE proposal (id INTEGER PRIMARY KEY, issue, author, title, action, rationale, more, no_action,
                       revision DEFAULT 0, created, updated, last_stake);
CREATE TABLE stake (id INTEGER PRIMARY KEY, issue, agent, proposal, amount INTEGER, rounds DEFAULT 0);
CREATE TABLE feedback (id INTEGER PRIMARY KEY, issue, agent, proposal, comment, created);
CREATE TABLE event (seq INTEGER PRIMARY KEY, tick, kind, agent, proposal, issue, amount, detail);
"""


class Refused(Exception):
    pass


def is_text(value):
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def is_number(value):
    return type(value) is int and 0 < value <= 10**15


class Kernel:
    def __init__(self, settings=None, secret="admin", defects=frozenset()):
        self.settings, self.secret, self.defects = {**SETTINGS, **(settings or {})}, secret, frozenset(defects)
        self.now = 0
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.executescript(SCHEMA)
        self.db.executemany("INSERT INTO rule VALUES (?, ?, ?, ?)", RULES)
        self.db.create_function("multiplier", 1, self.multiplier)

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()

    def all(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def value(self, sql, *values):
        row = self.one(sql, *values)
        return row and row[0]

    def note(self, kind, agent=None, proposal=None, issue=None, amount=None, **detail):
        values = (self.now, kind, agent, proposal, issue, amount, json.dumps(detail))
        add = "INSERT INTO event (tick, kind, agent, proposal, issue, amount, detail) VALUES (?, ?, ?, ?, ?, ?, ?)"
        self.db.execute(add, values)

    def multiplier(self, rounds):
        limit = self.settings["ConvictionSaturationRounds"]
        k = -math.log(1 - self.settings["ConvictionTargetFraction"]) / limit
        return 1 + (self.settings["MaxConvictionMultiplier"] - 1) * (1 - math.exp(-k * min(rounds, limit)))

    # administrator and scheduler

    def invite(self, name):
        number = self.value("SELECT COUNT(*) + 1 FROM agent")
        digest = hashlib.blake2b(f"{self.secret} {number}".encode(), digest_size=12).digest()
        key = f"Key-{base64.urlsafe_b64encode(digest).decode()}"
        grant = min(self.settings["StandardInvitePayment"], self.settings["MaximumCredit"])
        self.db.execute("INSERT INTO agent (id, name, key, balance) VALUES (?, ?, ?, ?)", (number, name, key, grant))
        self.note("Credit", agent=number, amount=grant)
        return number, key

    def open_issue(self, problem, background, cycles=None, **context):
        if not problem or not background:
            raise ValueError("an issue needs a problem statement and background information")
        cycles = self.settings["RevisionCycles"] if cycles is None else cycles
        if "always_one_cycle" in self.defects:
            cycles = max(cycles, 1)
        plan = ["PROPOSE", *["FEEDBACK", "REVISE"] * cycles, *["STAKE"] * self.settings["StakeRounds"], "FINAL"]
        issue = self.db.execute(
            "INSERT INTO issue (problem, background, context, plan, phase) VALUES (?, ?, ?, ?, 'OPEN')",
            (problem, background, json.dumps(context), json.dumps(plan)),
        ).lastrowid
        self.note("IssueOpened", issue=issue)
        return issue

    def assign(self, issue, agent):
        fits = self.value("SELECT phase = 'OPEN' FROM issue WHERE id = ?", issue)
        enrolled = self.value("SELECT enrolled FROM agent WHERE id = ?", agent)
        if not fits or not enrolled or self.one("SELECT 1 FROM member WHERE issue = ? AND agent = ?", issue, agent):
            raise ValueError("only an enrolled agent can be assigned, once, before the issue begins")
        self.db.execute("INSERT INTO member (issue, agent) VALUES (?, ?)", (issue, agent))
        self.note("Assigned", agent=agent, issue=issue)

    def begin(self, issue):
        if not self.one("SELECT 1 FROM issue JOIN member ON issue = id WHERE id = ? AND phase = 'OPEN'", issue):
            raise ValueError("the issue has begun or nobody is assigned")
        self.next_phase(issue)

    def tick(self):
        self.now += 1
        for row in self.all("SELECT id FROM issue WHERE phase NOT IN ('OPEN', 'FINAL') ORDER BY id"):
            issue = row["id"]
            late = "NOT complete AND NOT acted" if "acted_never_times_out" in self.defects else "NOT complete"
            self.db.execute(f"UPDATE member SET waited = waited + 1 WHERE issue = ? AND {late}", (issue,))
            longest = self.value("SELECT MAX(waited) FROM member WHERE issue = ? AND NOT complete", issue)
            if longest is not None and longest < self.settings["MaxThinkTicks"]:
                continue
            if longest is not None:
                self.kick_out(issue)
            self.next_phase(issue)

    def kick_out(self, issue):
        phase = self.value("SELECT phase FROM issue WHERE id = ?", issue)
        silent = "" if "kick_everyone" in self.defects else "AND NOT acted AND NOT ready"
        for row in self.all(f"SELECT agent FROM member WHERE issue = ? {silent} ORDER BY rowid", issue):
            agent = row["agent"]
            self.note("Substituted", agent=agent, issue=issue, default="NoAction" if phase == "PROPOSE" else "Abstain")
            if phase == "PROPOSE":
                self.place_proposal(issue, agent, "No Action", "", "", None, 1)
            fine = min(self.settings["KickOutPenalty"], self.balance(agent))
            if phase != "STAKE":
                self.burn(agent, fine, "KickOutPenalty", issue)

    def next_phase(self, issue):
        before, plan = self.one("SELECT phase, plan FROM issue WHERE id = ?", issue)
        phase, *rest = json.loads(plan)
        self.db.execute(
            "UPDATE issue SET phase = ?, plan = ?, round = round + ?, began = ? WHERE id = ?",
            (phase, json.dumps(rest), phase == "STAKE", self.now, issue),
        )
        self.db.execute("UPDATE member SET waited = 0, acted = 0, ready = 0, complete = 0 WHERE issue = ?", (issue,))
        if phase == "STAKE" and (before == "STAKE" or "early_round" in self.defects):
            self.db.execute("UPDATE stake SET rounds = rounds + 1 WHERE issue = ?", (issue,))
        self.note("PhaseBegan", issue=issue, phase=phase)
        if phase == "FINAL":
            self.finalize(issue)

    def finalize(self, issue):
        scores = self.all(
            "SELECT id, ROUND(COALESCE("
            "(SELECT SUM(amount * multiplier(rounds)) FROM stake WHERE proposal = p.id), 0), 9) AS total "
            "FROM proposal p WHERE issue = ? ORDER BY id",
            issue,
        )
        best = max(row["total"] for row in scores)
        top = [row for row in scores if row["total"] == best]
        resolution = "none"
        if len(top) > 1:
            ids = ",".join(str(row["id"]) for row in top)
            when = "last_stake" if "untouched_loses_tie" in self.defects else "COALESCE(last_stake, -1)"
            first = f"(SELECT MIN({when}) FROM proposal WHERE id IN ({ids}))"
            top = self.all(f"SELECT id FROM proposal WHERE id IN ({ids}) AND {when} = {first}")
            resolution = "earliest last stake" if len(top) == 1 else "unresolved"
        winner = top[0]["id"] if len(top) == 1 else None
        self.db.execute("UPDATE issue SET winner = ?, score = ? WHERE id = ?", (winner, math.sqrt(best), issue))
        each = {row["id"]: math.sqrt(row["total"]) for row in scores}
        self.note("Finalize", proposal=winner, issue=issue, score=math.sqrt(best), tie_breaker=resolution, scores=each)
        owner = "p.author" if "burn_named_after_author" in self.defects else "s.agent"
        for row in self.all(
            f"SELECT {owner} AS owner, p.id, SUM(s.amount) AS amount FROM stake s JOIN proposal p ON p.id = s.proposal "
            f"WHERE s.issue = ? GROUP BY {owner}, p.id ORDER BY p.id, {owner}",
            issue,
        ):
            self.note("StakeBurned", agent=row["owner"], proposal=row["id"], issue=issue, amount=row["amount"])
            self.note("Burn", agent=row["owner"], issue=issue, amount=row["amount"], reason="StakeBurned")
        self.db.execute("DELETE FROM stake WHERE issue = ?", (issue,))

    # agents

    def agent_of(self, key):
        test = "key = ?"
        if "caseless_keys" in self.defects:
            test = "key = ? COLLATE NOCASE"
        if "pattern_keys" in self.defects:
            test = "key LIKE ?"
        return self.value(f"SELECT id FROM agent WHERE {test} ORDER BY id", key) if is_text(key) else None

    def enroll(self, key):
        agent = self.agent_of(key)
        if agent is None:
            self.note("BadCredential")
            return {"refused": "BadCredential"}
        self.db.execute("UPDATE agent SET enrolled = 1 WHERE id = ?", (agent,))
        self.note("Enrolled", agent=agent)
        return {"agent": agent}

    def do(self, action, key, issue, /, **fields):
        """Check and execute one action of the agent who holds the key."""
        agent = self.agent_of(key)
        self.db.execute("SAVEPOINT action")
        try:
            if agent is None:
                raise Refused("BadCredential")
            state = self.one("SELECT * FROM issue WHERE id = ?", issue) if is_number(issue) else None
            member = state and self.one("SELECT * FROM member WHERE issue = ? AND agent = ?", issue, agent)
            if not member:
                raise Refused("NotAssigned")
            found = "SELECT * FROM rule WHERE action = ? AND phase = ? AND first_round <= ?"
            rule = self.one(found, action, state["phase"], state["round"]) if is_text(action) else None
            if rule is None:
                raise Refused("NotAllowedNow")
            if member["ready"]:
                raise Refused("AlreadyReady")
            result = getattr(self, action)(issue, agent, member, **fields)
            changed = "UPDATE member SET acted = 1, complete = max(complete, ?) WHERE issue = ? AND agent = ?"
            self.db.execute(changed, (rule["completes"], issue, agent))
        except (Refused, TypeError) as refusal:
            if "tap_not_rolled_back" not in self.defects:
                self.db.execute("ROLLBACK TO action")
            reason = str(refusal) if isinstance(refusal, Refused) else "BadArguments"
            self.note(reason, agent=agent, issue=issue if is_number(issue) else None)
            result = {"refused": reason}
        self.db.execute("RELEASE action")
        return result or {}

    def balance(self, agent):
        return self.value("SELECT balance FROM agent WHERE id = ?", agent)

    def pay(self, agent, amount):
        self.db.execute("UPDATE agent SET balance = balance - ? WHERE id = ?", (amount, agent))

    def burn(self, agent, amount, reason, issue):
        if amount:
            self.pay(agent, amount)
            self.note("Burn", agent=agent, issue=issue, amount=amount, reason=reason)

    def record_tick(self, issue):
        if "phase_tick_in_record" in self.defects:
            return self.now - self.value("SELECT began FROM issue WHERE id = ?", issue)
        return self.now

    def signal_ready(self, issue, agent, member):
        self.db.execute("UPDATE member SET ready = 1 WHERE issue = ? AND agent = ?", (issue, agent))
        self.note("Ready", agent=agent, issue=issue)

    def choose_no_action(self, issue, agent, member):
        if member["proposal"]:
            raise Refused("AlreadyProposed")
        return {"proposal": self.place_proposal(issue, agent, "No Action", "", "", None, 1)}

    def propose(self, issue, agent, member, title, action, rationale, more=None):
        if member["proposal"]:
            raise Refused("AlreadyProposed")
        if not all(is_text(part) and part for part in (title, action, rationale)):
            raise Refused("IncompleteProposal")
        return {"proposal": self.place_proposal(issue, agent, title, action, rationale, more, 0)}

    def place_proposal(self, issue, agent, title, action, rationale, more, no_action):
        tick = self.record_tick(issue)
        proposal = self.db.execute(
            "INSERT INTO proposal (issue, author, title, action, rationale, more, no_action, created, updated) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (issue, agent, title, action, rationale, None if more is None else json.dumps(more), no_action, tick, tick),
        ).lastrowid
        self.db.execute("UPDATE member SET proposal = ? WHERE issue = ? AND agent = ?", (proposal, issue, agent))
        self.note("ProposalCreated", agent=agent, proposal=proposal, issue=issue)
        amount = min(self.settings["ProposalSelfStake"], self.balance(agent))
        self.place_stake(issue, agent, proposal, amount, "SelfStake")
        return proposal

    def place_stake(self, issue, agent, proposal, amount, kind):
        if amount:
            self.pay(agent, amount)
            add = "INSERT INTO stake (issue, agent, proposal, amount) VALUES (?, ?, ?, ?)"
            self.db.execute(add, (issue, agent, proposal, amount))
            self.note(kind, agent=agent, proposal=proposal, issue=issue, amount=amount)

    def find(self, issue, proposal):
        query = "SELECT * FROM proposal WHERE id = ? AND issue = ?"
        row = self.one(query, proposal, issue) if is_number(proposal) else None
        if row is None:
            raise Refused("NoSuchProposal")
        return row

    def feedback(self, issue, agent, member, proposal, comment):
        target, s = self.find(issue, proposal), self.settings
        if target["author"] == agent or target["no_action"]:
            raise Refused("NotByAnotherAgent")
        if not is_text(comment):
            raise Refused("BadComment")
        given = self.value("SELECT COUNT(*) FROM feedback WHERE issue = ? AND agent = ?", issue, agent)
        if given >= s["MaxFeedbackPerAgent"]:
            raise Refused("FeedbackLimitReached")
        if len(comment) > s["FeedbackCharLimit"]:
            raise Refused("FeedbackTooLong")
        if self.balance(agent) < s["FeedbackStake"]:
            raise Refused("InsufficientCredit")
        add = "INSERT INTO feedback (issue, agent, proposal, comment, created) VALUES (?, ?, ?, ?, ?)"
        self.db.execute(add, (issue, agent, proposal, comment, self.now))
        self.note("Feedback", agent=agent, proposal=proposal, issue=issue)
        self.burn(agent, s["FeedbackStake"], "FeedbackStake", issue)

    def revise(self, issue, agent, member, title, action, rationale, more=None):
        old, more = self.find(issue, member["proposal"]), None if more is None else json.dumps(more)
        if old["no_action"]:
            raise Refused("NoActionIsCanonical")
        if not all(is_text(part) and part for part in (title, action, rationale)):
            raise Refused("IncompleteProposal")
        was, new = " ".join(old[f] for f in ("title", "action", "rationale")), f"{title} {action} {rationale}"
        delta = diff_ratio(was.split(), new.split())
        cost = math.floor(self.settings["ProposalSelfStake"] * delta)
        withdrawn = 0
        if self.balance(agent) < cost:
            withdrawn = self.take(agent, old["id"], cost - self.balance(agent))
            self.pay(agent, -withdrawn)
            self.note("Unstaked", agent=agent, proposal=old["id"], issue=issue, amount=withdrawn)
        if self.balance(agent) < cost:
            raise Refused("InsufficientCredit")
        self.burn(agent, cost, "RevisionCost", issue)
        self.db.execute(
            "UPDATE proposal SET title = ?, action = ?, rationale = ?, more = COALESCE(?, more), "
            "revision = revision + 1, updated = ? WHERE id = ?",
            (title, action, rationale, more, self.record_tick(issue), old["id"]),
        )
        self.note("Revision", agent, old["id"], issue, delta=str(delta), cost=cost, withdrawn=withdrawn)
        return {"cost": cost, "withdrawn": withdrawn}

    def own_stake(self, agent, proposal):
        return self.value("SELECT SUM(amount) FROM stake WHERE agent = ? AND proposal = ?", agent, proposal) or 0

    def take(self, agent, proposal, amount):
        taken = 0
        for row in self.all("SELECT * FROM stake WHERE agent = ? AND proposal = ? ORDER BY id", agent, proposal):
            part = min(row["amount"], amount - taken)
            self.db.execute("UPDATE stake SET amount = amount - ? WHERE id = ?", (part, row["id"]))
            taken += part
        self.db.execute("DELETE FROM stake WHERE amount = 0")
        return taken

    def add_stake(self, issue, agent, member, proposal, amount):
        self.find(issue, proposal)
        if not is_number(amount):
            raise Refused("BadAmount")
        if self.balance(agent) < amount:
            raise Refused("InsufficientCredit")
        self.place_stake(issue, agent, proposal, amount, "StakeAdded")
        self.db.execute("UPDATE proposal SET last_stake = ? WHERE id = ?", (self.now, proposal))

    def move_stake(self, issue, agent, member, source, target, amount):
        self.find(issue, source)
        self.find(issue, target)
        if not is_number(amount):
            raise Refused("BadAmount")
        if source == target or self.own_stake(agent, source) < amount:
            raise Refused("InsufficientStake")
        self.take(agent, source, amount)
        add = "INSERT INTO stake (issue, agent, proposal, amount) VALUES (?, ?, ?, ?)"
        self.db.execute(add, (issue, agent, target, amount))
        self.db.execute("UPDATE proposal SET last_stake = ? WHERE id = ?", (self.now, target))
        self.note("StakeMoved", agent=agent, proposal=target, issue=issue, amount=amount, source=source)

    # reading

    def events(self):
        rows = self.all("SELECT * FROM event ORDER BY seq")
        return [{**dict(row), "detail": json.loads(row["detail"])} for row in rows]

    def supply(self):
        signed = "CASE kind WHEN 'Credit' THEN amount WHEN 'Burn' THEN -amount ELSE 0 END"
        return self.value(f"SELECT SUM({signed}) FROM event") or 0

    def proposals(self, issue):
        stake = "(SELECT COALESCE(SUM(amount), 0) FROM stake WHERE proposal = p.id) AS current_stake"
        rows = self.all(f"SELECT p.*, {stake} FROM proposal p WHERE issue = ? ORDER BY id", issue)
        return [dict(row) for row in rows]

    def ledger(self, issue):
        """Everything recorded, open to all once the issue is final."""
        if self.value("SELECT phase FROM issue WHERE id = ?", issue) != "FINAL":
            return None
        comments = [dict(row) for row in self.all("SELECT * FROM feedback WHERE issue = ? ORDER BY id", issue)]
        about = dict(self.one("SELECT problem, background, context, winner, score FROM issue WHERE id = ?", issue))
        return {**about, "events": self.events(), "proposals": self.proposals(issue), "feedback": comments}


def diff_ratio(old, new):
    row = [0] * (len(new) + 1)
    for word in old:
        last, row = row, [0]
        for j, other in enumerate(new):
            row.append(last[j] + 1 if word == other else max(last[j + 1], row[j]))
    longer = max(len(old), len(new))
    return Fraction(longer - row[-1], longer or 1)
