"""Run the honest kernel once, then every defect in the situation where it shows."""

import tomllib
from fractions import Fraction
from pathlib import Path

import kernel as c

TEXT = {"title": "Buy a mill", "action": "buy it", "rationale": "we need flour"}
FAST = {"MaxThinkTicks": 1, "RevisionCycles": 1}


def table(names, settings, defects):
    k = c.new_kernel({**FAST, **settings}, defects=defects)
    agents = [c.invite(k, name) for name in names]
    issue = c.open_issue(k, "No flour", "The old mill burned down")["issue"]
    for uid, key in agents:
        c.enroll(k, uid, key)
        c.assign(k, issue, uid)
    c.begin(k, issue)
    return k, issue, agents


def all_propose(k, issue, agents, titles):
    done = [c.propose(k, issue, *a, {**TEXT, "title": t}) for a, t in zip(agents, titles, strict=True)]
    c.tick(k)
    return [d["proposal"] for d in done]


def ticks(k, number):
    for _ in range(number):
        c.tick(k)


def balances(k, agents):
    return [k["agents"][uid]["balance"] for uid, _ in agents]


def feedbacks(defects, plan, **settings):
    k, issue, agents = table(["Ann", "Bob"], settings, defects)
    pids = all_propose(k, issue, agents, ["A mill", "No mill"])
    answers = []
    for many in plan:
        answers += [c.feedback(k, issue, *agents[0], pids[1], "why?").get("event", "ok") for _ in range(many)]
        ticks(k, 2)
    return answers, balances(k, agents)


def cap_off_by_one(defects):
    return feedbacks(defects, [4])


def cap_per_phase(defects):
    return feedbacks(defects, [3, 1], RevisionCycles=2)


def exact_credit_refused(defects):
    return feedbacks(defects, [1], StandardInvitePayment=55)


def too_long_label(defects):
    k, issue, agents = table(["Ann", "Bob"], {"FeedbackCharLimit": 3}, defects)
    pids = all_propose(k, issue, agents, ["A mill", "No mill"])
    return c.feedback(k, issue, *agents[0], pids[1], "why?")["event"]


def stake_run(defects, actions, titles):
    k, issue, agents = table(titles, {"RevisionCycles": 0}, defects)
    pids = all_propose(k, issue, agents, titles)
    c.tick(k)
    for act in actions:
        act(k, issue, agents, pids)
    for _ in range(9):
        c.tick(k)
    it = k["issues"][issue]
    return sorted(it["scores"].values()), pids.index(it["winner"]) if it["winner"] else None, balances(k, agents)


def move_keeps_rounds(defects):
    def move(k, issue, agents, pids):
        c.move_stake(k, issue, *agents[0], pids[0], pids[1], 10)

    return stake_run(defects, [move], ["A", "B"])[0]


def winner_refunded(defects):
    return stake_run(defects, [], ["A"])[2]


def tie_by_title(defects):
    def add(who):
        return lambda k, issue, agents, pids: c.add_stake(k, issue, *agents[who], pids[who], 10)

    k, issue, agents = table(["Ann", "Bob", "Cem"], {"RevisionCycles": 0, "MaxThinkTicks": 3}, defects)
    pids = all_propose(k, issue, agents, ["A", "B", "C"])
    ticks(k, 3)
    add(1)(k, issue, agents, pids)
    c.tick(k)
    add(0)(k, issue, agents, pids)
    ticks(k, 9)
    return pids.index(k["issues"][issue]["winner"])


def fine_unrecorded(defects):
    k, _, _ = table(["Ann"], {"KickOutPenalty": 7}, defects)
    c.tick(k)
    return [e["Reason"] for e in c.events(k) if e["kind"] == "Burn"], c.supply(k)


def same_title_same_id(defects):
    k, issue, agents = table(["Ann", "Bob"], {}, defects)
    all_propose(k, issue, agents, ["A mill", "A mill"])
    return len(k["issues"][issue]["proposals"])


SITUATIONS = {name: globals()[name] for name in c.DEFECTS}
ALSO = {"cap_per_phase": {"cap_off_by_one"}}


def rejections():
    k, issue, agents = table(["Ann", "Bob"], {"StandardInvitePayment": 60, "ProposalSelfStake": 50}, frozenset())
    pids = all_propose(k, issue, agents, ["A mill", "No mill"])
    assert c.feedback(k, issue, *agents[0], pids[0], "mine")["event"] == "NotEligible"
    assert c.feedback(k, issue, agents[0][0], agents[1][1], pids[1], "x")["event"] == "BadCredential"
    assert c.feedback(k, issue, *agents[0], ["x"], "x")["event"] == "NotEligible"
    c.feedback(k, issue, *agents[0], pids[1], "x")
    ticks(k, 1)
    new = {"title": "a", "action": "b", "rationale": "c d e f g"}
    assert c.revise(k, issue, *agents[0], new)["cost"] == 50
    assert k["agents"][agents[0][0]]["balance"] == 0 and c.current_stake(k, issue, pids[0]) == 5
    assert c.revise(k, issue, *agents[0], TEXT)["event"] == "InsufficientCredit"
    assert c.revise(k, issue, *agents[1], {**TEXT, "title": "No big mill"})["cost"] == Fraction(50, 8)
    assert c.supply(k) == sum(balances(k, agents)) + sum(s["amount"] for s in k["issues"][issue]["stakes"])
    ticks(k, 9)
    assert c.supply(k) == sum(balances(k, agents)) and c.published(k, issue)


def main():
    k, issue, agents = table(["Ann", "Bob"], {"MaxThinkTicks": 3}, frozenset())
    pids = all_propose(k, issue, agents, ["Buy a mill", "Buy bread"])
    c.feedback(k, issue, *agents[0], pids[1], "Bread is dear.")
    ticks(k, 6)
    c.signal_ready(k, issue, *agents[0])
    ticks(k, 3)
    print(c.add_stake(k, issue, *agents[0], pids[0], 20), c.move_stake(k, issue, *agents[1], pids[1], pids[0], 10))
    ticks(k, 9)
    for event in c.events(k):
        print(event)
    rejections()
    rows = tomllib.loads((Path(__file__).parent.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "plain_dicts"}
    assert set(masks) == set(c.DEFECTS)
    for name, situation in SITUATIONS.items():
        honest = situation(frozenset())
        shown = {d for d in c.DEFECTS if situation(frozenset({d})) != honest}
        print(f"{name}: honest {honest}, faulty {situation(frozenset({name}))}")
        assert shown == {name} | ALSO.get(name, set()), (name, shown)
        for mask in masks[name]:
            assert situation(frozenset({mask})) == situation(frozenset({mask, name})), (name, mask)


if __name__ == "__main__":
    main()
