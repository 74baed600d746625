"""Conviction staking as functions on one dict. Points are exact fractions; the log is a list of dicts."""

import copy
from decimal import Decimal, localcontext
from fractions import Fraction

DEFAULTS = {
    "StandardInvitePayment": 100,
    "MaximumCredit": None,
    "ProposalSelfStake": 50,
    "MaxThinkTicks": 3,
    "KickOutPenalty": 0,
    "FeedbackStake": 5,
    "MaxFeedbackPerAgent": 3,
    "FeedbackCharLimit": 500,
    "RevisionCycles": 2,
    "MaxConvictionMultiplier": "2.0",
    "ConvictionTargetFraction": "0.98",
    "ConvictionSaturationRounds": 5,
    "StakeRounds": 3,
}
MANDATORY = ("title", "action", "rationale")
OPTIONAL = ("impact", "risks", "notes", "references")
DEFECTS = (
    "cap_off_by_one", "cap_per_phase", "exact_credit_refused", "move_keeps_rounds", "winner_refunded",
    "tie_by_title", "too_long_label", "fine_unrecorded", "same_title_same_id",
)  # fmt: skip


def short_hash(text):
    value = 2166136261
    for byte in text.encode("utf-8", "surrogatepass"):
        value = (value ^ byte) * 16777619 % 2**32
    return f"{value:08x}"


def new_kernel(settings=None, secret="admin", defects=frozenset()):
    return {
        "settings": {**DEFAULTS, **(settings or {})},
        "secret": secret,
        "tick": 0,
        "counter": 0,
        "agents": {},
        "issues": {},
        "log": [],
        "defects": frozenset(defects),
    }


def next_id(k, letter, text):
    k["counter"] += 1
    return f"{letter}{k['counter']}-{short_hash(text)}"


def note(k, kind, **fields):
    k["log"].append({"seq": len(k["log"]) + 1, "kind": kind, "Tick": k["tick"], **fields})


def burn(k, uid, amount, reason, issue, record=True):
    k["agents"][uid]["balance"] -= amount
    if record:
        note(k, "Burn", AgentID=uid, Amount=amount, Reason=reason, ParentIssueID=issue)


def refuse(k, event, uid, issue, why):
    note(k, event, AgentID=uid, ParentIssueID=issue, Why=why)
    return {"ok": False, "event": event, "why": why}


def events(k):
    return copy.deepcopy(k["log"])


# --- what the administrator does


def invite(k, name, hooks=(), metadata=None):
    uid = next_id(k, "a", name)
    grant = Fraction(k["settings"]["StandardInvitePayment"])
    limit = k["settings"]["MaximumCredit"]
    if limit is not None:
        grant = min(grant, limit)
    key = f"key-{k['counter']}-{short_hash(k['secret'] + uid)}"
    k["agents"][uid] = {
        "UID": uid, "Name": name, "CredentialKey": key, "CustomHooks": list(hooks),
        "Metadata": dict(metadata or {}), "balance": grant, "enrolled": False,
    }  # fmt: skip
    note(k, "Credit", AgentID=uid, Amount=grant, Reason="StandardInvitePayment")
    return uid, key


def open_issue(k, problem, background, cycles=None, **extra):
    if not problem or not background:
        return {"ok": False, "event": "IssueIncomplete", "why": "An issue needs a problem and a background."}
    issue = next_id(k, "i", problem)
    cycles = k["settings"]["RevisionCycles"] if cycles is None else cycles
    plan = ["PROPOSE"] + ["FEEDBACK", "REVISE"] * cycles + ["STAKE"] * k["settings"]["StakeRounds"]
    k["issues"][issue] = {
        "problem": problem, "background": background, "extra": extra, "plan": plan, "at": -1, "phase": "SETUP",
        "agents": [], "waited": {}, "done": set(), "ready": set(), "given": {}, "choice": {},
        "proposals": {}, "stakes": [], "feedback": [], "scores": None, "winner": None,
    }  # fmt: skip
    note(k, "IssueOpened", ParentIssueID=issue)
    return {"ok": True, "issue": issue}


def assign(k, issue, uid):
    it = k["issues"][issue]
    if it["phase"] != "SETUP" or uid in it["agents"] or not k["agents"][uid]["enrolled"]:
        return refuse(k, "AssignmentRefused", uid, issue, "Only enrolled agents, once, before the issue begins.")
    it["agents"].append(uid)
    it["given"][uid] = 0
    note(k, "Assigned", AgentID=uid, ParentIssueID=issue)
    return {"ok": True}


def begin(k, issue):
    it = k["issues"][issue]
    if it["phase"] != "SETUP" or not it["agents"]:
        return refuse(k, "BeginRefused", None, issue, "The issue has begun already or nobody is assigned.")
    enter_next_phase(k, issue)
    return {"ok": True}


# --- what the external scheduler does


def tick(k):
    k["tick"] += 1
    for issue, it in k["issues"].items():
        if it["phase"] in ("SETUP", "FINALIZED"):
            continue
        late = [uid for uid in it["agents"] if uid not in it["done"]]
        for uid in late:
            it["waited"][uid] += 1
        fired = [uid for uid in late if it["waited"][uid] >= k["settings"]["MaxThinkTicks"]]
        for uid in fired:
            substitute(k, issue, uid)
        if fired or not late:
            enter_next_phase(k, issue)


def substitute(k, issue, uid):
    it = k["issues"][issue]
    note(k, "Substitution", AgentID=uid, ParentIssueID=issue, Phase=it["phase"],
         Default="NoAction" if it["phase"] == "PROPOSE" else "Abstain")  # fmt: skip
    if it["phase"] == "PROPOSE":
        place_proposal(k, issue, uid, {"title": "No Action", "action": "", "rationale": ""}, no_action=True)
    fine = min(k["settings"]["KickOutPenalty"], k["agents"][uid]["balance"])
    if fine > 0 and it["phase"] != "STAKE":
        burn(k, uid, fine, "KickOutPenalty", issue, record="fine_unrecorded" not in k["defects"])


def enter_next_phase(k, issue):
    it = k["issues"][issue]
    it["at"] += 1
    it["done"], it["ready"] = set(), set()
    it["waited"] = dict.fromkeys(it["agents"], 0)
    if it["at"] == len(it["plan"]):
        return finalize(k, issue)
    before, it["phase"] = it["phase"], it["plan"][it["at"]]
    if it["phase"] == before == "STAKE":
        for stake in it["stakes"]:
            stake["rounds"] += 1
    if "cap_per_phase" in k["defects"] and it["phase"] == "FEEDBACK":
        it["given"] = dict.fromkeys(it["agents"], 0)
    note(k, "PhaseBegan", ParentIssueID=issue, Phase=it["phase"], Round=stake_round(it))


def stake_round(it):
    return it["plan"][: it["at"] + 1].count("STAKE")


# --- what agents do; every action presents uid and key


def enroll(k, uid, key):
    agent = k["agents"].get(uid) if isinstance(uid, str) else None
    if agent is None or agent["CredentialKey"] != key:
        return refuse(k, "BadCredential", None, None, "This credential does not belong to that agent.")
    if not agent["enrolled"]:
        agent["enrolled"] = True
        note(k, "Enrolled", AgentID=uid)
    return {"ok": True}


def stopped(k, issue, uid, key, *phases):
    """Answer with a refusal if the agent may not act here now, else with None."""
    agent = k["agents"].get(uid) if isinstance(uid, str) else None
    if agent is None or agent["CredentialKey"] != key:
        return refuse(k, "BadCredential", None, None, "This credential does not belong to that agent.")
    it = k["issues"].get(issue) if isinstance(issue, str) else None
    if it is None:
        return refuse(k, "UnknownIssue", uid, None, "There is no such issue.")
    if uid not in it["agents"]:
        return refuse(k, "NotAssigned", uid, issue, "You are not assigned to this issue.")
    if it["phase"] not in phases:
        return refuse(k, "WrongPhase", uid, issue, f"This cannot be done in {it['phase']}.")
    if uid in it["ready"]:
        return refuse(k, "AlreadyReady", uid, issue, "You have said that you are ready.")
    return None


def signal_ready(k, issue, uid, key):
    stop = stopped(k, issue, uid, key, "FEEDBACK", "REVISE", "STAKE")
    if stop:
        return stop
    k["issues"][issue]["ready"].add(uid)
    k["issues"][issue]["done"].add(uid)
    note(k, "Ready", AgentID=uid, ParentIssueID=issue)
    return {"ok": True}


def propose(k, issue, uid, key, fields=None):
    """Submit a proposal; without fields, select NoAction."""
    stop = stopped(k, issue, uid, key, "PROPOSE")
    if stop:
        return stop
    if uid in k["issues"][issue]["choice"]:
        return refuse(k, "AlreadyProposed", uid, issue, "You have a proposal on this issue.")
    if fields is None:
        text = {"title": "No Action", "action": "", "rationale": ""}
        return {"ok": True, "proposal": place_proposal(k, issue, uid, text, no_action=True)}
    if not complete(fields):
        return refuse(k, "ProposalIncomplete", uid, issue, "Title, action and rationale are needed, as text.")
    return {"ok": True, "proposal": place_proposal(k, issue, uid, fields, no_action=False)}


def complete(fields):
    return isinstance(fields, dict) and all(isinstance(fields.get(f), str) and fields[f] for f in MANDATORY)


def place_proposal(k, issue, uid, fields, no_action):
    it = k["issues"][issue]
    pid = next_id(k, "p", fields["title"])
    if "same_title_same_id" in k["defects"] and not no_action:
        pid = f"p-{short_hash(fields['title'])}"
    it["proposals"][pid] = {
        "AuthorAgentID": uid, "ParentIssueID": issue, "RevisionNumber": 0, "NoAction": no_action,
        "CreatedTick": k["tick"], "LastUpdatedTick": k["tick"], "LastStakeTick": None,
        **{f: copy.deepcopy(fields[f]) for f in MANDATORY + OPTIONAL if f in fields},
    }  # fmt: skip
    it["choice"][uid] = pid
    it["done"].add(uid)
    note(k, "ProposalCreated", AgentID=uid, ProposalID=pid, ParentIssueID=issue, NoAction=no_action)
    amount = min(Fraction(k["settings"]["ProposalSelfStake"]), k["agents"][uid]["balance"])
    place_stake(k, issue, uid, pid, amount, "SelfStake")
    return pid


def place_stake(k, issue, uid, pid, amount, kind):
    if amount > 0:
        k["agents"][uid]["balance"] -= amount
        k["issues"][issue]["stakes"].append({"owner": uid, "proposal": pid, "amount": amount, "rounds": 0})
        note(k, kind, AgentID=uid, ProposalID=pid, Amount=amount, ParentIssueID=issue)


def feedback(k, issue, uid, key, pid, comment):
    stop = stopped(k, issue, uid, key, "FEEDBACK")
    if stop:
        return stop
    it, s, balance = k["issues"][issue], k["settings"], k["agents"][uid]["balance"]
    target = it["proposals"].get(pid) if isinstance(pid, str) else None
    if target is None or target["NoAction"] or target["AuthorAgentID"] == uid:
        return refuse(k, "NotEligible", uid, issue, "Feedback goes to a proposal that another agent wrote.")
    if not isinstance(comment, str):
        return refuse(k, "FeedbackMalformed", uid, issue, "A comment is text.")
    cap = s["MaxFeedbackPerAgent"] + (1 if "cap_off_by_one" in k["defects"] else 0)
    if it["given"][uid] >= cap:
        return refuse(k, "FeedbackLimitReached", uid, issue, f"You gave {it['given'][uid]} comments already.")
    if len(comment) > s["FeedbackCharLimit"]:
        event = "FeedbackLimitReached" if "too_long_label" in k["defects"] else "FeedbackTooLong"
        return refuse(k, event, uid, issue, f"{len(comment)} characters are more than {s['FeedbackCharLimit']}.")
    short = balance <= s["FeedbackStake"] if "exact_credit_refused" in k["defects"] else balance < s["FeedbackStake"]
    if short:
        return refuse(k, "InsufficientCredit", uid, issue, f"You have {balance}, a comment costs {s['FeedbackStake']}.")
    it["given"][uid] += 1
    it["done"].add(uid)
    it["feedback"].append(
        {"FromAgentID": uid, "TargetProposalID": pid, "CommentBody": comment, "CreatedTick": k["tick"]}
    )
    note(k, "Feedback", AgentID=uid, ProposalID=pid, ParentIssueID=issue)
    if s["FeedbackStake"]:
        burn(k, uid, s["FeedbackStake"], "FeedbackStake", issue)
    return {"ok": True}


def tokens(fields):
    return " ".join(fields[f] for f in MANDATORY).split()


def diff_ratio(old, new):
    if not old and not new:
        return Fraction(0)
    row = [0] * (len(new) + 1)
    for word in old:
        last, row = row, [0]
        for j, other in enumerate(new):
            row.append(last[j] + 1 if word == other else max(last[j + 1], row[j]))
    longer = max(len(old), len(new))
    return Fraction(longer - row[-1], longer)


def revise(k, issue, uid, key, fields):
    stop = stopped(k, issue, uid, key, "REVISE")
    if stop:
        return stop
    it, agent = k["issues"][issue], k["agents"][uid]
    pid = it["choice"][uid]
    old = it["proposals"][pid]
    if old["NoAction"]:
        return refuse(k, "NotEligible", uid, issue, "The NoAction proposal is canonical.")
    if not complete(fields):
        return refuse(k, "ProposalIncomplete", uid, issue, "Title, action and rationale are needed, as text.")
    delta = diff_ratio(tokens(old), tokens(fields))
    cost = k["settings"]["ProposalSelfStake"] * delta
    own = [s for s in it["stakes"] if s["owner"] == uid and s["proposal"] == pid]
    missing = max(Fraction(0), cost - agent["balance"])
    if missing > sum(s["amount"] for s in own):
        return refuse(k, "InsufficientCredit", uid, issue, f"This revision costs {cost}; balance and stake are less.")
    if missing:
        take(it, own, missing)
        agent["balance"] += missing
        note(k, "Unstaked", AgentID=uid, ProposalID=pid, Amount=missing, ParentIssueID=issue)
    if cost:
        burn(k, uid, cost, "RevisionCost", issue)
    old.update({f: copy.deepcopy(fields[f]) for f in MANDATORY + OPTIONAL if f in fields})
    old["RevisionNumber"] += 1
    old["LastUpdatedTick"] = k["tick"]
    it["done"].add(uid)
    note(k, "Revision", AgentID=uid, ProposalID=pid, Delta=delta, Cost=cost, Withdrawal=missing, ParentIssueID=issue)
    return {"ok": True, "cost": cost}


def take(it, stakes, amount):
    """Take from the oldest stakes first; answer the parts taken as (amount, rounds)."""
    parts = []
    for stake in stakes:
        part = min(stake["amount"], amount)
        if part > 0:
            stake["amount"] -= part
            amount -= part
            parts.append((part, stake["rounds"]))
    it["stakes"] = [s for s in it["stakes"] if s["amount"] > 0]
    return parts


def staking_stop(k, issue, uid, key, amount, *pids):
    stop = stopped(k, issue, uid, key, "STAKE")
    if stop:
        return stop
    it = k["issues"][issue]
    if stake_round(it) < 2:
        return refuse(k, "WrongPhase", uid, issue, "Stake is added and moved from the second round on.")
    if not all(isinstance(pid, str) and pid in it["proposals"] for pid in pids):
        return refuse(k, "UnknownProposal", uid, issue, "There is no such proposal on this issue.")
    if isinstance(amount, bool) or not isinstance(amount, (int, Fraction)) or amount <= 0:
        return refuse(k, "BadAmount", uid, issue, "An amount is a whole number or a fraction above zero.")
    return None


def add_stake(k, issue, uid, key, pid, amount):
    stop = staking_stop(k, issue, uid, key, amount, pid)
    if stop:
        return stop
    it, balance = k["issues"][issue], k["agents"][uid]["balance"]
    if balance < amount:
        return refuse(k, "InsufficientCredit", uid, issue, f"You have {balance}, which is less than {amount}.")
    place_stake(k, issue, uid, pid, Fraction(amount), "StakeAdded")
    it["proposals"][pid]["LastStakeTick"] = k["tick"]
    it["done"].add(uid)
    return {"ok": True}


def move_stake(k, issue, uid, key, source, target, amount):
    stop = staking_stop(k, issue, uid, key, amount, source, target)
    if stop:
        return stop
    it = k["issues"][issue]
    own = [s for s in it["stakes"] if s["owner"] == uid and s["proposal"] == source]
    if source == target or sum(s["amount"] for s in own) < amount:
        return refuse(k, "MoveRefused", uid, issue, "You can move your own stake to another proposal only.")
    for part, rounds in take(it, own, Fraction(amount)):
        kept = rounds if "move_keeps_rounds" in k["defects"] else 0
        it["stakes"].append({"owner": uid, "proposal": target, "amount": part, "rounds": kept})
    it["proposals"][target]["LastStakeTick"] = k["tick"]
    it["done"].add(uid)
    note(k, "StakeMoved", AgentID=uid, Source=source, ProposalID=target, Amount=Fraction(amount), ParentIssueID=issue)
    return {"ok": True}


# --- the end


def multiplier(s, rounds):
    r = min(rounds, s["ConvictionSaturationRounds"])
    if r == 0:
        return Decimal(1)
    missing = (1 - Decimal(str(s["ConvictionTargetFraction"]))) ** (Decimal(r) / s["ConvictionSaturationRounds"])
    return 1 + (Decimal(str(s["MaxConvictionMultiplier"])) - 1) * (1 - missing)


def effective_stake(k, it, pid):
    total = Decimal(0)
    for s in it["stakes"]:
        if s["proposal"] == pid:
            total += Decimal(s["amount"].numerator) / s["amount"].denominator * multiplier(k["settings"], s["rounds"])
    return total.quantize(Decimal("1e-30"))


def finalize(k, issue):
    it = k["issues"][issue]
    with localcontext() as context:
        context.prec = 60
        sums = {pid: effective_stake(k, it, pid) for pid in it["proposals"]}
        it["scores"] = {pid: total.sqrt().quantize(Decimal("1e-12")) for pid, total in sums.items()}
    best = [pid for pid in sums if sums[pid] == max(sums.values())]
    how = "none"
    if len(best) > 1:
        last = {pid: -1 if (t := it["proposals"][pid]["LastStakeTick"]) is None else t for pid in best}
        best, how = [pid for pid in best if last[pid] == min(last.values())], "EarliestLastStakeTick"
        if "tie_by_title" in k["defects"]:
            best = sorted(last, key=lambda pid: it["proposals"][pid]["title"])[:1]
        how = how if len(best) == 1 else "unresolved"
    it["winner"] = best[0] if len(best) == 1 else None
    score = max(it["scores"].values())
    note(k, "Finalize", ParentIssueID=issue, ProposalID=it["winner"], Score=score, TieBreaker=how)
    totals = {}
    for s in it["stakes"]:
        totals[s["owner"], s["proposal"]] = totals.get((s["owner"], s["proposal"]), 0) + s["amount"]
    for (uid, pid), amount in totals.items():
        if "winner_refunded" in k["defects"] and pid == it["winner"]:
            k["agents"][uid]["balance"] += amount
            continue
        note(k, "StakeBurned", AgentID=uid, ProposalID=pid, Amount=amount, Reason="StakeBurned", ParentIssueID=issue)
    it["stakes"] = []
    it["phase"] = "FINALIZED"


def current_stake(k, issue, pid):
    return sum((s["amount"] for s in k["issues"][issue]["stakes"] if s["proposal"] == pid), Fraction(0))


def proposal(k, issue, pid):
    """The record of a proposal with all its system fields."""
    return {**copy.deepcopy(k["issues"][issue]["proposals"][pid]), "CurrentStake": current_stake(k, issue, pid)}


def supply(k):
    grants = sum(e["Amount"] for e in k["log"] if e["kind"] == "Credit")
    return grants - sum(e["Amount"] for e in k["log"] if e["kind"] in ("Burn", "StakeBurned"))


def published(k, issue):
    """The whole ledger of a finished issue, for everybody; None while it runs."""
    it = k["issues"][issue]
    if it["phase"] != "FINALIZED":
        return None
    return {
        "events": events(k), "proposals": {pid: proposal(k, issue, pid) for pid in it["proposals"]},
        "feedback": copy.deepcopy(it["feedback"]), "scores": dict(it["scores"]), "winner": it["winner"],
    }  # fmt: skip
