"""One honest run, then each defect against the honest engine where it shows."""

import tomllib
from pathlib import Path

from kernel import DEFECTS, Engine

KEY = "theKeyOfTheOrchestrator"


class Play:
    def __init__(self, defects, many=2, **rules):
        self.engine = Engine(KEY, defects=frozenset(defects), **{"thinkTicks": 1, "cycles": 1, **rules})
        self.many = many
        for i in range(many):
            self.engine.doIt({"do": "invite", "key": KEY, "agent": f"a{i}", "name": f"Agent {i}", "agentKey": f"k{i}"})
            self.by(i, "join")
        self.matter("m1")

    def matter(self, name):
        self.engine.doIt({"do": "open", "key": KEY, "matter": name, "problem": "No flour", "background": "Mill burned"})
        for i in range(self.many):
            self.engine.doIt({"do": "assign", "key": KEY, "agent": f"a{i}"})
        self.engine.doIt({"do": "start", "key": KEY})

    def by(self, who, do, **more):
        answer = self.engine.doIt({"do": do, "agent": f"a{who}", "key": f"k{who}", **more})
        return answer.get("why", "ok")

    def tick(self, times=1):
        for _ in range(times):
            self.engine.doIt({"do": "tick", "key": KEY})

    def propose(self):
        for i in range(self.many):
            self.by(i, "propose", title=f"T{i}", action="do it", rationale="we must")
        self.tick()

    def free(self):
        return [str(v) for v in self.engine.look()["free"].values()]


def anyKey(defects):
    p = Play(defects)
    return p.by(0, "propose", key="k1", noAction=True)


def payBeforeLength(defects):
    p = Play(defects, feedbackChars=3)
    p.propose()
    return p.by(0, "feedback", proposal="draftOf:a1", comment="long"), p.free()


def inRoundTwo(defects, **rules):
    p = Play(defects, cycles=0, **rules)
    p.propose()
    p.tick()
    return p


def staleFunds(defects):
    p = inRoundTwo(defects)
    return [p.by(0, "add", to="draftOf:a0", amount=30) for _ in range(2)], p.free()


def negativeAdd(defects):
    p = inRoundTwo(defects)
    return p.by(0, "add", to="draftOf:a1", amount=-10), p.free()


def moveForeign(defects):
    p = inRoundTwo(defects)
    answer = p.by(0, "move", **{"from": "draftOf:a1", "to": "draftOf:a0", "amount": 10})
    return answer, [str(d["stake"]) for d in p.engine.look()["drafts"].values()]


def addInFirstRound(defects):
    p = Play(defects, cycles=0)
    p.propose()
    return p.by(0, "add", to="draftOf:a0", amount=10)


def fineOnlyAfterPropose(defects):
    p = Play(defects, many=1, kickFine=7)
    p.tick()
    return p.free()


def supplySkipsFines(defects):
    p = Play(defects, many=1, kickFine=7)
    p.tick()
    return str(p.engine.look()["supply"])


def oddIdCrash(defects):
    p = Play(defects)
    p.propose()
    try:
        return p.by(0, "feedback", proposal=["draftOf:a1"], comment="why?")
    except TypeError as error:
        return repr(error)


def latestTie(defects):
    p = inRoundTwo(defects, thinkTicks=2)
    p.tick()
    p.by(0, "add", to="draftOf:a0", amount=10)
    p.tick()
    p.by(1, "add", to="draftOf:a1", amount=10)
    p.tick(9)
    return p.engine.look()["winner"], p.engine.look()["tie"]


SITUATIONS = {name: globals()[name] for name in DEFECTS}
ALSO = {"supplySkipsFines": {"fineOnlyAfterPropose"}}


def honestRun():
    p = Play([], thinkTicks=3, cycles=2)
    print(p.by(0, "propose", title="Mill", action="buy it", rationale="flour"), p.by(1, "ready"), p.tick())
    print(p.engine.look()["choice"], p.by(1, "feedback", proposal="draftOf:a0", comment="dear"), p.by(0, "ready"))
    p.tick()
    print(p.by(0, "revise", title="Mill", action="buy it now", rationale="flour"), p.by(1, "revise", title="x"))
    p.tick(12)
    print(p.engine.look()["phase"], p.by(1, "add", to="draftOf:a0", amount=5), p.by(0, "ready"), p.by(0, "ready"))
    p.tick()
    print(p.by(1, "move", **{"from": "noAction", "to": "draftOf:a0", "amount": 50}), p.by(0, "feedback"))
    p.tick(3)
    for key, value in p.engine.look().items():
        print(key, value)
    assert p.engine.look()["supply"] == sum(p.engine.look()["free"].values())
    p.matter("m2")
    print(p.engine.look()["phase"], p.free())


def main():
    honestRun()
    rows = tomllib.loads((Path(__file__).parent.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "one_call"}
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
