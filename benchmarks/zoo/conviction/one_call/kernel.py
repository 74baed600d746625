"""Conviction staking behind one call: doIt(request) checks the request and executes it."""

import math
from fractions import Fraction

DEFECTS = (
    "anyKey", "payBeforeLength", "staleFunds", "negativeAdd", "moveForeign", "addInFirstRound",
    "fineOnlyAfterPropose", "supplySkipsFines", "oddIdCrash", "latestTie",
)  # fmt: skip
NO_ACTION = "noAction"
RULES = dict(
    invitePayment=100, maxCredit=10**9, selfStake=50, thinkTicks=3, kickFine=0, feedbackPrice=5, feedbackMax=3,
    feedbackChars=500, cycles=2, maxMultiplier=2.0, targetFraction=0.98, saturationRounds=5, stakeRounds=3,
)  # fmt: skip
PHASES = {
    "join": (), "propose": ("propose",), "feedback": ("feedback",), "revise": ("revise",), "add": ("stake",),
    "move": ("stake",), "ready": ("propose", "feedback", "revise", "stake"),
}  # fmt: skip


class No(Exception):
    pass


def need(condition, why):
    if not condition:
        raise No(why)


class Engine:
    def __init__(self, masterKey, defects=frozenset(), **rules):
        self.rules = {**RULES, **rules}
        self.masterKey = masterKey
        self.bad = frozenset(defects)
        self.tickNow = 0
        self.people = {}
        self.granted = self.burnt = Fraction(0)
        self.matter = None
        self.phase = "idle"

    def doIt(self, request):
        """Answer {"ok": True, ...} after doing it, {"ok": False, "why": ...} after doing nothing."""
        try:
            need(isinstance(request, dict), "BadRequest")
            do = request.get("do")
            need(isinstance(do, str), "BadRequest")
            if do in ("invite", "open", "assign", "start", "tick"):
                need(request.get("key") == self.masterKey, "NotTheOrchestrator")
                return {"ok": True, **(getattr(self, do)(request) or {})}
            need(do in PHASES, "UnknownAction")
            me = self.whoIs(request)
            if do != "join":
                need(self.matter is not None and me in self.turn, "NotAssigned")
                need(self.phase in PHASES[do], "WrongPhase")
                need(me not in self.closed, "AlreadyReady")
            return {"ok": True, **(getattr(self, do)(me, request) or {})}
        except No as no:
            return {"ok": False, "why": str(no)}

    def whoIs(self, request):
        me, key = request.get("agent"), request.get("key")
        need(isinstance(me, str) and me in self.people and isinstance(key, str), "BadKey")
        keys = [p["key"] for p in self.people.values()] if "anyKey" in self.bad else [self.people[me]["key"]]
        need(key in keys, "BadKey")
        return me

    # orchestrator

    def invite(self, request):
        me, name, key = request.get("agent"), request.get("name"), request.get("agentKey")
        need(isinstance(me, str) and me and me not in self.people and isinstance(name, str), "BadAgent")
        need(isinstance(key, str) and key and key not in [p["key"] for p in self.people.values()], "BadAgent")
        free = Fraction(min(self.rules["invitePayment"], self.rules["maxCredit"]))
        self.people[me] = {"name": name, "key": key, "free": free, "joined": False}
        self.granted += free

    def open(self, request):
        need(self.phase in ("idle", "done"), "MatterRunning")
        fields = [request.get(f) for f in ("matter", "problem", "background")]
        need(all(isinstance(f, str) and f for f in fields), "IncompleteMatter")
        self.matter = dict(zip(("id", "problem", "background"), fields, strict=True))
        self.cyclesLeft = request.get("cycles", self.rules["cycles"])
        self.phase, self.round, self.winner, self.score, self.tie = "opened", 0, None, None, None
        self.turn, self.closed, self.acted, self.waiting = [], set(), set(), {}
        self.choice, self.drafts, self.stakes, self.comments = {}, {}, [], []

    def assign(self, request):
        me = request.get("agent")
        need(self.phase == "opened", "WrongPhase")
        need(isinstance(me, str) and me in self.people, "NotEnrolled")
        need(self.people[me]["joined"] and me not in self.turn, "NotEnrolled")
        self.turn.append(me)

    def start(self, request):
        need(self.phase == "opened" and self.turn, "WrongPhase")
        self.enter("propose")

    def tick(self, request):
        self.tickNow += 1
        if self.phase in ("idle", "opened", "done"):
            return
        late = [p for p in self.turn if p not in self.acted]
        for p in late:
            self.waiting[p] += 1
        kicked = [p for p in late if self.waiting[p] >= self.rules["thinkTicks"]]
        if late and not kicked:
            return
        if self.phase == "propose":
            for p in self.turn:
                if p not in self.choice:
                    self.choose(p, NO_ACTION, {"title": "No Action", "action": "", "rationale": ""}, None)
        if self.phase != "stake" and not (self.phase == "propose" and "fineOnlyAfterPropose" in self.bad):
            for p in kicked:
                fine = min(Fraction(self.rules["kickFine"]), self.people[p]["free"])
                self.people[p]["free"] -= fine
                self.burnt += 0 if "supplySkipsFines" in self.bad else fine
        self.leave()

    def leave(self):
        if self.phase in ("propose", "revise"):
            if self.cyclesLeft > 0:
                self.cyclesLeft -= 1
                return self.enter("feedback")
            return self.enter("stake")
        if self.phase == "feedback":
            return self.enter("revise")
        if self.round == self.rules["stakeRounds"]:
            return self.finish()
        for stake in self.stakes:
            stake["held"] += 1
        self.enter("stake")

    def enter(self, phase):
        self.phase = phase
        self.round += phase == "stake"
        self.closed, self.acted = set(), set()
        self.waiting = dict.fromkeys(self.turn, 0)
        self.fundsAtStart = {p: self.people[p]["free"] for p in self.turn}

    # agents

    def join(self, me, request):
        self.people[me]["joined"] = True

    def ready(self, me, request):
        self.closed.add(me)
        self.acted.add(me)

    def propose(self, me, request):
        need(me not in self.choice, "AlreadyProposed")
        if request.get("noAction") is True:
            self.choose(me, NO_ACTION, {"title": "No Action", "action": "", "rationale": ""}, None)
        else:
            self.choose(me, f"draftOf:{me}", self.text(request), me)
        return {"proposal": self.choice[me]}

    def text(self, request):
        parts = {part: request.get(part) for part in ("title", "action", "rationale")}
        need(all(isinstance(value, str) and value for value in parts.values()), "IncompleteProposal")
        return parts

    def choose(self, me, name, text, author):
        if name not in self.drafts:
            self.drafts[name] = {
                **text, "author": author, "matter": self.matter["id"], "revision": 0, "created": self.tickNow,
                "updated": self.tickNow, "lastStake": -1,
            }  # fmt: skip
        self.choice[me] = name
        self.acted.add(me)
        self.put(me, name, min(Fraction(self.rules["selfStake"]), self.people[me]["free"]))

    def put(self, me, name, amount):
        self.people[me]["free"] -= amount
        if amount:
            self.stakes.append({"by": me, "on": name, "amount": amount, "held": 0})

    def draft(self, name):
        need(isinstance(name, str) or "oddIdCrash" in self.bad, "UnknownProposal")
        need(name in self.drafts, "UnknownProposal")
        return self.drafts[name]

    def feedback(self, me, request):
        rules, comment = self.rules, request.get("comment")
        need(self.draft(request.get("proposal"))["author"] not in (me, None), "NotByAnother")
        need(isinstance(comment, str), "BadComment")
        need(sum(c["from"] == me for c in self.comments) < rules["feedbackMax"], "FeedbackLimitReached")
        need(self.people[me]["free"] >= rules["feedbackPrice"], "InsufficientCredit")
        early = "payBeforeLength" in self.bad
        if early:
            self.pay(me, rules["feedbackPrice"])
        need(len(comment) <= rules["feedbackChars"], "FeedbackTooLong")
        if not early:
            self.pay(me, rules["feedbackPrice"])
        self.acted.add(me)
        self.comments.append({"from": me, "to": request["proposal"], "comment": comment, "tick": self.tickNow})

    def pay(self, me, amount):
        self.people[me]["free"] -= amount
        self.burnt += amount

    def revise(self, me, request):
        name = self.choice[me]
        draft, text = self.drafts[name], self.text(request)
        need(draft["author"] == me, "NoActionIsCanonical")
        old, new = (" ".join(d[p] for p in ("title", "action", "rationale")).split() for d in (draft, text))
        longer = max(len(old), len(new))
        cost = self.rules["selfStake"] * Fraction(longer - self.common(old, new), longer or 1)
        mine = [s for s in self.stakes if s["by"] == me and s["on"] == name]
        tap = max(Fraction(0), cost - self.people[me]["free"])
        need(tap <= sum(s["amount"] for s in mine), "InsufficientCredit")
        self.take(mine, tap)
        self.people[me]["free"] += tap
        self.pay(me, cost)
        draft.update(text, revision=draft["revision"] + 1, updated=self.tickNow)
        self.acted.add(me)
        return {"cost": cost, "tapped": tap}

    def common(self, old, new):
        best = [0] * (len(new) + 1)
        for word in old:
            before, best = best, [0]
            for j, other in enumerate(new):
                best.append(before[j] + 1 if word == other else max(before[j + 1], best[j]))
        return best[-1]

    def take(self, stakes, amount):
        for stake in stakes:
            part = min(stake["amount"], amount)
            stake["amount"] -= part
            amount -= part
        self.stakes = [s for s in self.stakes if s["amount"]]

    def amount(self, request):
        amount = request.get("amount")
        need(isinstance(amount, (int, Fraction)) and not isinstance(amount, bool), "BadAmount")
        need(amount > 0 or (request["do"] == "add" and "negativeAdd" in self.bad), "BadAmount")
        return Fraction(amount)

    def add(self, me, request):
        need(self.round >= 2 or "addInFirstRound" in self.bad, "NotInFirstRound")
        amount, draft = self.amount(request), self.draft(request.get("to"))
        funds = self.fundsAtStart[me] if "staleFunds" in self.bad else self.people[me]["free"]
        need(funds >= amount, "InsufficientCredit")
        self.put(me, request["to"], amount)
        draft["lastStake"] = self.tickNow
        self.acted.add(me)

    def move(self, me, request):
        need(self.round >= 2, "NotInFirstRound")
        amount, source, target = self.amount(request), request.get("from"), self.draft(request.get("to"))
        need(self.draft(source) is not target, "SameProposal")
        mine = [s for s in self.stakes if s["on"] == source and (s["by"] == me or "moveForeign" in self.bad)]
        mine.sort(key=lambda s: s["by"] != me)
        need(sum(s["amount"] for s in mine) >= amount, "InsufficientStake")
        self.take(mine, amount)
        self.stakes.append({"by": me, "on": request["to"], "amount": amount, "held": 0})
        target["lastStake"] = self.tickNow
        self.acted.add(me)

    # the end and what can be seen

    def multiplier(self, held):
        rules = self.rules
        k = -math.log(1 - rules["targetFraction"]) / rules["saturationRounds"]
        return 1 + (rules["maxMultiplier"] - 1) * (1 - math.exp(-k * min(held, rules["saturationRounds"])))

    def finish(self):
        sums = dict.fromkeys(self.drafts, 0.0)
        for s in self.stakes:
            sums[s["on"]] += float(s["amount"]) * self.multiplier(s["held"])
        sums = {name: round(total, 9) for name, total in sums.items()}
        top = [name for name in sums if sums[name] == max(sums.values())]
        self.score, self.tie = math.sqrt(max(sums.values())), "none"
        if len(top) > 1:
            pick = max if "latestTie" in self.bad else min
            when = pick(self.drafts[name]["lastStake"] for name in top)
            top = [name for name in top if self.drafts[name]["lastStake"] == when]
            self.tie = "earliestLastStake" if len(top) == 1 else "unresolved"
        self.winner = top[0] if len(top) == 1 else None
        self.burnt += sum(s["amount"] for s in self.stakes)
        self.stakes, self.phase = [], "done"

    def supply(self):
        return self.granted - self.burnt

    def look(self):
        """Everything but the keys."""
        seen = {"tick": self.tickNow, "phase": self.phase, "supply": self.supply()}
        seen["free"] = {p: person["free"] for p, person in self.people.items()}
        if self.matter:
            staked = {n: sum(s["amount"] for s in self.stakes if s["on"] == n) for n in self.drafts}
            drafts = {n: {**d, "stake": staked[n]} for n, d in self.drafts.items()}
            seen.update(matter=dict(self.matter), round=self.round, choice=dict(self.choice), drafts=drafts,
                        stakes=[dict(s) for s in self.stakes], comments=[dict(c) for c in self.comments],
                        winner=self.winner, score=self.score, tie=self.tie)  # fmt: skip
        return seen
