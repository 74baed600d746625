"""One honest run, then each defect beside the honest kernel in the situation where it shows."""

import tomllib
from pathlib import Path

from kernel import DEFECTS, Kernel


class Round:
    def __init__(self, defects, many=2, **settings):
        self.k = Kernel({"MaxThinkTicks": 1, "RevisionCycles": 1, **settings}, defects=frozenset(defects))
        self.keys = {}
        for number in range(many):
            agent, key = self.k.invite(f"Agent {number}")
            self.k.enroll(key)
            self.keys[agent] = key
        self.issue = self.k.open_issue("No flour", "The mill burned down")
        for agent in self.keys:
            self.k.assign(self.issue, agent)
        self.k.begin(self.issue)

    def do(self, action, agent, /, **fields):
        return self.k.do(action, self.keys.get(agent, agent), self.issue, **fields).get("refused", "ok")

    def tick(self, times=1):
        for _ in range(times):
            self.k.tick()

    def propose(self):
        for agent in self.keys:
            self.do("propose", agent, title=f"T{agent}", action="do it", rationale="we must")
        self.tick()

    def balances(self):
        return [self.k.balance(agent) for agent in self.keys]

    def stakes(self):
        return [p["current_stake"] for p in self.k.proposals(self.issue)]


def tap_not_rolled_back(defects):
    r = Round(defects, many=1, StandardInvitePayment=20)
    r.propose()
    r.tick()
    return r.do("revise", 1, title="X", action="Y", rationale="Z"), r.balances(), r.stakes()


def burn_named_after_author(defects):
    r = Round(defects)
    r.propose()
    r.tick(3)
    r.do("add_stake", 1, proposal=2, amount=10)
    r.tick(9)
    return [(e["agent"], e["proposal"], e["amount"]) for e in r.k.events() if e["kind"] == "StakeBurned"]


def untouched_loses_tie(defects):
    r = Round(defects, many=3, StandardInvitePayment=60, ConvictionSaturationRounds=1)
    r.propose()
    r.tick()
    assert r.do("revise", 2, title="T2", action="do it", rationale="we really must now") == "ok"
    r.tick(2)
    assert r.do("move_stake", 3, source=3, target=2, amount=50 - r.stakes()[1]) == "ok"
    r.tick(9)
    return r.k.ledger(r.issue)["winner"]


def pattern_keys(defects):
    return Round(defects).do("choose_no_action", "%")


def caseless_keys(defects):
    r = Round(defects)
    return r.do("choose_no_action", r.keys[1].upper())


def early_round(defects):
    r = Round(defects, many=1)
    r.propose()
    r.tick(9)
    return r.k.ledger(r.issue)["score"]


def kick_everyone(defects):
    r = Round(defects)
    r.do("propose", 1, title="T", action="do it", rationale="we must")
    r.tick()
    return r.stakes(), r.balances()


def acted_never_times_out(defects):
    r = Round(defects)
    r.propose()
    r.do("feedback", 1, proposal=2, comment="why?")
    r.do("signal_ready", 2)
    r.tick(50)
    return r.k.ledger(r.issue) is not None


def always_one_cycle(defects):
    r = Round(defects, many=1, RevisionCycles=0)
    r.propose()
    return r.k.events()[-1]["detail"]


def phase_tick_in_record(defects):
    r = Round(defects, many=1)
    r.propose()
    r.tick()
    r.do("revise", 1, title="T1", action="do it", rationale="we really must")
    return r.k.proposals(r.issue)[0]["updated"]


SITUATIONS = {name: globals()[name] for name in DEFECTS}
ALSO = {"caseless_keys": {"pattern_keys"}}


def honest_run():
    r = Round([], MaxThinkTicks=3, KickOutPenalty=2)
    print(r.do("signal_ready", 1), r.do("propose", 1, title="Mill", action="buy it", rationale="flour", no_action=1))
    print(r.do("propose", 1, title="Mill", action="buy it", rationale="flour"), r.tick(3), r.balances(), r.stakes())
    print(r.do("feedback", 2, proposal=1, comment="dear"), r.do("feedback", 1, proposal=2, comment="no"))
    print(r.do("signal_ready", 2), r.do("signal_ready", 1), r.do("signal_ready", 1), r.tick(1))
    print(r.do("revise", 1, title="Mill", action="buy it soon", rationale="flour"), r.do("revise", 2, title="?"))
    print(r.tick(6), r.do("add_stake", 2, proposal=1, amount=10**30), r.do("add_stake", 2, proposal=1, amount=10))
    print(r.do("move_stake", 1, source=1, target=2, amount=5), r.do("finalize", 1), r.k.ledger(r.issue), r.tick(9))
    for event in r.k.events():
        print({name: value for name, value in event.items() if value is not None})
    assert r.k.supply() == sum(r.balances())
    print(r.k.ledger(r.issue)["proposals"])


def main():
    honest_run()
    rows = tomllib.loads((Path(__file__).parent.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "sqlite_rules"}
    assert set(masks) == set(DEFECTS)
    for name, situation in SITUATIONS.items():
        honest = situation([])
        print(f"{name}: honest {honest}, faulty {situation([name])}")
        shown = {d for d in DEFECTS if situation([d]) != honest}
        assert shown == {name} | ALSO.get(name, set()), (name, shown)
        for mask in masks[name]:
            assert situation([mask]) == situation([mask, name]), (name, mask)


if __name__ == "__main__":
    main()
