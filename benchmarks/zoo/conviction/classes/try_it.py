"""One honest run, then each defect beside the honest kernel where it shows."""

import importlib
import tomllib
from pathlib import Path

import kernel as module


class Table:
    """Agents round one Issue, in a freshly loaded module."""

    def __init__(self, defects, agents=2, begin=True, **config):
        self.m = importlib.reload(module)
        config = {"think_ticks": 1, "revision_cycles": 1, **config}
        self.k = self.m.Kernel(self.m.Config(**config), defects=frozenset(defects))
        self.keys = [self.k.invite(f"Agent {i}") for i in range(agents)]
        self.uids = [self.k.enroll(key) for key in self.keys]
        if begin:
            self.begin(self.uids)

    def begin(self, uids, **more):
        self.iid = self.k.open("No flour", "The mill burned down", **more)
        self.k.assign(self.iid, uids)
        self.pids = []

    def propose(self, *titles):
        for key, title in zip(self.keys, titles, strict=False):
            self.pids.append(self.k.propose(key, self.iid, self.m.Draft(title, "do it", "we must")))
        self.k.tick()

    def ticks(self, number):
        for _ in range(number):
            self.k.tick()

    def tried(self, method, who, *args):
        try:
            getattr(self.k, method)(self.keys[who], self.iid, *args)
        except self.m.Refused as refusal:
            return refusal.event
        return "ok"

    def balances(self):
        return [str(a.balance) for a in self.k.agents.values()]

    def end(self):
        self.ticks(20)
        issue = self.k.issues[self.iid]
        return issue.winner, issue.scores


def live_log(defects):
    t = Table(defects)
    t.k.ledger.events().clear()
    return len(t.k.ledger.events())


def kept_list(defects):
    t = Table(defects, agents=2, begin=False)
    mine = t.uids[:1]
    t.begin(mine)
    mine.append(t.uids[1])
    return t.tried("propose", 1, None)


def counts_outlive_issue(defects):
    t = Table(defects, agents=2, think_ticks=3, invite_payment=200)
    answers = []
    for many in (3, 1):
        t.propose("A", "B")
        answers += [t.tried("feedback", 0, t.pids[1], "why?") for _ in range(many)]
        t.end()
        t.begin(t.uids)
    return answers


def raw_float_tie(defects):
    t = Table(defects, revision_cycles=0, saturation_rounds=1, stake_rounds=4)
    t.propose("A", "B")
    t.k.tick()
    t.tried("add_stake", 0, t.pids[0], 26)
    t.tried("add_stake", 0, t.pids[0], 7)
    t.k.tick()
    t.tried("add_stake", 1, t.pids[1], 33)
    return t.end()[0]


def tap_takes_all(defects):
    t = Table(defects, agents=1, invite_payment=60)
    t.propose("A")
    t.k.tick()
    t.tried("revise", 0, t.m.Draft("A", "do it", "we must not starve until the spring comes back"))
    issue = t.k.issues[t.iid]
    return t.balances(), str(issue.proposals[t.pids[0]].record()["CurrentStake"])


def delta_over_old(defects):
    t = Table(defects, agents=1)
    t.propose("A")
    t.k.tick()
    t.tried("revise", 0, t.m.Draft("A", "do it", "we must soon"))
    return t.balances()


def empty_delta_crash(defects):
    t = Table(defects, agents=1)
    t.k.propose(t.keys[0], t.iid, t.m.Draft(" ", " ", " "))
    t.ticks(2)
    try:
        return t.tried("revise", 0, t.m.Draft("  ", " ", " "))
    except ZeroDivisionError as error:
        return repr(error)


def timer_not_reset(defects):
    t = Table(defects, agents=1, think_ticks=2)
    t.k.tick()
    t.propose("A")
    t.k.tick()
    return t.k.issues[t.iid].phase


def rounds_not_capped(defects):
    t = Table(defects, agents=1, saturation_rounds=1)
    t.propose("A")
    return t.end()[1]


SITUATIONS = {name: globals()[name] for name in module.DEFECTS}
ALSO = {"tap_takes_all": {"delta_over_old"}}


def honest_run():
    t = Table([], think_ticks=3)
    t.propose("A", "B")
    print([t.tried("feedback", 0, pid, "why?") for pid in t.pids])
    t.ticks(3)
    print(t.tried("revise", 1, t.m.Draft("B", "do it", "we must now")), t.balances())
    t.ticks(6)
    print(t.tried("add_stake", 0, t.pids[0], 9), t.tried("move_stake", 1, t.pids[1], t.pids[0], 50))
    print(t.end(), t.balances(), "supply", t.k.ledger.supply())
    assert t.k.ledger.supply() == sum(a.balance for a in t.k.agents.values())
    for event in t.k.publication(t.iid)["events"]:
        print(event)


def main():
    honest_run()
    rows = tomllib.loads((Path(__file__).parent.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "classes"}
    assert set(masks) == set(module.DEFECTS)
    for name, situation in SITUATIONS.items():
        honest = situation([])
        print(f"{name}: honest {honest}, faulty {situation([name])}")
        shown = {d for d in module.DEFECTS if situation([d]) != honest}
        assert shown == {name} | ALSO.get(name, set()), (name, shown)
        for mask in masks[name]:
            assert situation([mask]) == situation([mask, name]), (name, mask)


if __name__ == "__main__":
    main()
