"""Send messages to the kernel in Node: the honest one first, then each defect where it shows."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = (HERE / "kernel.mjs").read_text()
DEFECTS = sorted(set(re.findall(r'DEFECTS\.has\("(\w+)"\)', SOURCE)))


class Kernel:
    def __init__(self, defects=(), names=("Ann", "Bob"), **rules):
        rules = json.dumps({"maxThinkTicks": 1, "cycles": 1, **rules})
        command = ["node", HERE / "kernel.mjs", f"--rules={rules}", f"--defects={','.join(defects)}"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.keys = {}
        for name in names:
            reply = self.send("admin.invite", "admin", name=name)
            self.keys[reply["uid"]] = reply["key"]
            self.send("enroll", reply["uid"])
        self.open()

    def open(self):
        self.issue = self.send("admin.issue", "admin", problem="No flour", background="The mill burned")["issue"]
        for uid in self.keys:
            self.send("admin.assign", "admin", uid=uid)
        self.send("admin.begin", "admin")

    def send(self, op, who, **fields):
        message = {"op": op, "key": self.keys.get(who, who), **fields}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def act(self, op, who, **fields):
        return self.send(op, who, issue=self.issue, **fields).get("no", "ok")

    def tick(self, times=1):
        for _ in range(times):
            self.send("admin.tick", "admin")

    def propose(self, *titles):
        for number, title in enumerate(titles, 1):
            self.act("proposal.submit", f"u{number}", title=title, action="do it", rationale="we must")
        self.tick()

    def state(self):
        return self.send("state", "")

    def log(self):
        return self.send("log", "")["log"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def second_round(defects, **settings):
    k = Kernel(defects, **{"cycles": 0, **settings})
    k.propose(*"ABC"[: len(k.keys)])
    k.tick()
    return k


def text_sort(defects):
    with second_round(defects) as k:
        k.act("stake.add", "u1", pid="p1", cp=50)
        k.tick(9)
        return next(e for e in k.log() if e["ev"] == "Finalize")["pid"]


def text_amount(defects):
    with second_round(defects) as k:
        return k.act("stake.add", "u1", pid="p1", cp="10"), k.state()["proposals"]["p1"]["currentStake"]


def inherited_id(defects):
    with Kernel(defects) as k:
        k.propose("A", "B")
        return k.act("feedback.give", "u1", pid="constructor", comment="hm"), k.state()["balances"]


def utf16_limit(defects):
    with Kernel(defects, feedbackChars=3) as k:
        k.propose("A", "B")
        return k.act("feedback.give", "u1", pid="p2", comment="\N{DUCK}" * 2)


def no_action_free(defects):
    with Kernel(defects, names=["Ann"]) as k:
        k.act("proposal.submit", "u1", noAction=True)
        return k.state()["balances"]


def revising(defects):
    k = Kernel(defects, names=["Ann"], invitePayment=20)
    k.propose("A")
    k.tick()
    k.act("proposal.revise", "u1", title="Really A", action="do it", rationale="we must")
    return k


def revision_stuck(defects):
    with revising(defects) as k:
        return k.state()["proposals"]["p1"]["revision"]


def delta_by_position(defects):
    with revising(defects) as k:
        return k.log()[-1]["ev"]


def no_tie_field(defects):
    with second_round(defects, names=["Ann", "Bob", "Cem"]) as k:
        k.act("stake.add", "u1", pid="p1", cp=50)
        k.act("stake.add", "u2", pid="p2", cp=50)
        k.tick(9)
        final = next(e for e in k.log() if e["ev"] == "Finalize")
        return final["pid"], final.get("tieBreaker", "absent")


def paid_again(defects):
    with Kernel(defects, names=["Ann"]) as k:
        k.tick(9)
        k.open()
        return k.state()["balances"]


def same_name_author(defects):
    with Kernel(defects, names=["Ann", "Ann"]) as k:
        k.propose("A", "B")
        return k.act("feedback.give", "u1", pid="p2", comment="hm")


SITUATIONS = {name: globals()[name] for name in DEFECTS}
ALSO = {
    "no_tie_field": {"text_sort"},
    "revision_stuck": {"delta_by_position"},
}


def honest_run():
    with Kernel(maxThinkTicks=2) as k:
        k.propose("Buy a mill", "Bake less")
        print(k.act("feedback.give", "u1", pid="p2", comment="hunger"), k.act("ready", "u2"))
        k.tick()
        print(k.act("proposal.revise", "u2", title="Bake less", action="do it", rationale="we must not starve"))
        k.tick(4)
        print(k.state())
        print(k.act("stake.add", "u1", pid="p1", cp=20), k.act("stake.add", "u2", pid="__proto__", cp=1))
        print(k.act("stake.move", "u2", **{"from": "p2"}, to="p1", cp=30), k.act("stake.move", "u2", to=[], cp=1))
        k.tick(8)
        for event in k.log():
            print(event)
        assert k.send("supply", "")["supply"] == sum(k.state()["balances"].values())
        print(k.send("ledger", "", issue="i1")["scores"], k.send("what", "u1"), k.send("ready", "nobody"))


def main():
    honest_run()
    rows = tomllib.loads((HERE.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "node_lines"}
    assert set(masks) == set(DEFECTS)
    for name, situation in SITUATIONS.items():
        honest, faulty = situation([]), situation([name])
        print(f"{name}: honest {honest}, faulty {faulty}")
        assert honest != faulty, name
        if "--all" in sys.argv:
            shown = {d for d in DEFECTS if situation([d]) != honest}
            assert shown == {name} | ALSO.get(name, set()), (name, shown)
        for mask in masks[name]:
            assert situation([mask]) == situation([mask, name]), (name, mask)


if __name__ == "__main__":
    main()
