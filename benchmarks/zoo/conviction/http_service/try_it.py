"""Start the service, drive it over HTTP, honest first, then with each defect where it shows."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from service import DEFECTS

HERE = Path(__file__).parent


class Client:
    def __init__(self, defects=(), seed="0", **settings):
        pairs = [f"{name}={value}" for name, value in {"MaxThinkTicks": 1, "RevisionCycles": 0, **settings}.items()]
        command = [sys.executable, HERE / "service.py", "--set", *pairs, "--defects", ",".join(defects)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdout=pipe, stderr=subprocess.DEVNULL, env=environment, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self.keys = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def post(self, path, who="admin", raw=None, **body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        data = raw or json.dumps(body)
        try:
            connection.request("POST", f"/{path}", data, {"X-Key": self.keys.get(who, who)})
            reply = json.loads(connection.getresponse().read())
            return reply
        except TimeoutError:
            return {"error": "hangs"}
        except (ConnectionError, http.client.HTTPException):
            return {"error": "is dead"}
        finally:
            connection.close()

    def table(self, *names, outsiders=()):
        for name in (*names, *outsiders):
            reply = self.post("invite", name=name)
            self.keys[reply["agent"]] = reply["key"]
            self.post("enroll", reply["agent"])
        self.issue = self.post("issue", problem="No flour", background="The mill burned down")["issue"]
        for number in range(len(names)):
            self.post("assign", agent=f"a{number + 1}")
        self.post("begin")

    def act(self, path, who, **body):
        return self.post(path, who, issue=self.issue, **body).get("error", "ok")

    def propose(self, who):
        return self.act("propose", who, title=f"Plan of {who}", action="do it", rationale="we must")

    def log(self):
        return self.post("log")["text"]


def drain_loop(defects):
    with Client(defects, KickOutPenalty=60) as c:
        c.table("Ann")
        return c.post("tick")


def agent_may_tick(defects):
    with Client(defects) as c:
        c.table("Ann")
        return c.post("tick", "a1")


def key_in_ledger(defects):
    with Client(defects, StakeRounds=1) as c:
        c.table("Ann")
        c.propose("a1")
        c.post("tick"), c.post("tick")
        return [p["author"] for p in c.post("ledger", "a1", issue=c.issue)["proposals"].values()]


def ready_not_cleared(defects):
    with Client(defects, MaxThinkTicks=3) as c:
        c.table("Ann")
        c.propose("a1")
        c.post("tick"), c.post("tick")
        return c.log().splitlines()[-1]


def raw_comment_in_log(defects):
    with Client(defects, RevisionCycles=1) as c:
        c.table("Ann", "Bob")
        c.propose("a1"), c.propose("a2"), c.post("tick")
        c.act("feedback", "a1", proposal="i1.a2", comment='x\n#99 t1 BURN agent="a2" amount="50"')
        return c.log().splitlines()[-2:]


def infinite_amount(defects):
    with Client(defects) as c:
        c.table("Ann")
        c.propose("a1"), c.post("tick"), c.post("tick")
        raw = json.dumps({"issue": c.issue, "proposal": "i1.a1", "amount": 0}).replace("0}", "1e999}")
        return c.post("add-stake", "a1", raw=raw), c.post("state").get("phase", "gone")


def fine_in_stake(defects):
    with Client(defects, KickOutPenalty=7) as c:
        c.table("Ann")
        c.propose("a1"), c.post("tick"), c.post("tick")
        return c.post("state")["balances"]


def set_order_burns(defects):
    logs = []
    for seed in ("1", "2"):
        with Client(defects, seed=seed, StakeRounds=1) as c:
            c.table("Ann", "Bob", "Cem", "Dan")
            for who in ("a1", "a2", "a3", "a4"):
                c.propose(who)
            c.post("tick"), c.post("tick")
            logs.append(c.log())
    return "same log" if logs[0] == logs[1] else "logs differ"


def ledger_for_assigned(defects):
    with Client(defects, StakeRounds=1) as c:
        c.table("Ann", outsiders=["Eve"])
        c.propose("a1"), c.post("tick"), c.post("tick")
        return c.post("ledger", "a2", issue=c.issue).get("error", "ok")


SITUATIONS = {name: globals()[name] for name in DEFECTS}
ALSO = {}


def honest_run():
    with Client(RevisionCycles=1, MaxThinkTicks=3) as c:
        c.table("Ann", "Bob")
        print(c.propose("a1"), c.propose("a1"), c.act("propose", "a2", no_action=True), c.post("tick"))
        print(c.act("feedback", "a2", proposal="i1.a1", comment="dear"), c.act("signal-ready", "a1"), c.post("tick"))
        print(c.post("revise", "a1", issue="i1", title="Plan", action="do it", rationale="we must"))
        for _ in range(4):
            print(c.act("signal-ready", "a2"), c.post("tick"))
        print(c.act("add-stake", "a2", proposal="i1.a1", amount=12.5), c.post("nothing"), c.post("tick", raw="["))
        print(c.act("move-stake", "a1", source="i1.a1", target="i1.a2", amount=5), c.post("state", "a1"))
        for _ in range(5):
            c.post("tick")
        print(c.log(), c.post("ledger", "a2", issue="i1")["scores"])
        assert c.log().count("STAKEBURNED") == 4 and "KEY" not in c.log()


def main():
    honest_run()
    rows = tomllib.loads((Path(__file__).parent.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "http_service"}
    assert set(masks) == set(DEFECTS)
    everywhere = "--all" in sys.argv
    for name, situation in SITUATIONS.items():
        honest, faulty = situation([]), situation([name])
        print(f"{name}: honest {honest}, faulty {faulty}")
        assert honest != faulty, name
        for other in DEFECTS if everywhere else []:
            assert (situation([other]) != honest) == (other == name or other in ALSO.get(name, ())), (name, other)
        for mask in masks[name]:
            assert situation([mask]) == situation([mask, name]), (name, mask)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
