"""A short honest run over HTTP, then each defect beside the honest service."""

import http.client
import json
import os
import subprocess
import sys
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))


class Service:
    def __init__(self, defects):
        self.process = subprocess.Popen(
            [sys.executable, "service.py", *sorted(defects)],
            cwd=HERE,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def call(self, method, path, body=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            link.request(method, path, None if body is None else json.dumps(body))
            raw = link.getresponse().read().decode()
        except http.client.RemoteDisconnected:
            return "connection dropped"
        finally:
            link.close()
        return json.loads(raw) if raw[:1] in "{[" else raw

    def start(self, *rows, agents=("ann", "bob"), epochs=9, talk=True):
        config = {
            "agents": list(agents),
            "state": {"x": "free", "y": "free"},
            "max_epochs": epochs,
            "communication": talk,
            "authorities": [
                {
                    "authority_id": f"CUD-{n:03d}",
                    "commitment": commitment,
                    "holder_agent_id": holder,
                    "issuer_agent_id": "harness",
                    "scope": [{"target": "STATE:/" + key, "operation": op} for key in keys],
                }
                for n, (commitment, op, keys, holder) in enumerate(rows or FREE, 1)
            ],
        }
        self.run = "/runs/" + self.call("POST", "/runs", config)["run"]

    def turn(self, agent, epoch, action=None, **more):
        return self.call("POST", f"{self.run}/agents/{quote(agent)}/turn", {"epoch": epoch, "action": action, **more})

    def see(self, agent, epoch=0, wait=0):
        return self.call("GET", f"{self.run}/agents/{quote(agent)}/observation?epoch={epoch}&wait={wait}")

    def status(self):
        return self.call("GET", self.run)


FREE = [("ALLOW", "WRITE", "xy", "ann"), ("ALLOW", "WRITE", "xy", "bob")]


def write(agent, epoch, keys, number, delta=None, **other):
    delta = {key: agent for key in keys} if delta is None else delta
    return {
        "agent_id": agent,
        "action_id": f"{agent}:{epoch}:0",
        "action_type": "WRITE",
        "declared_scope": list(keys),
        "proposed_delta": delta,
        "authorities_cited": [f"CUD-{number:03d}"] if number else [],
        **other,
    }


def baseline(s):
    s.start(epochs=1)
    s.turn("bob", 0, write("bob", 0, "y", 2))
    s.turn("ann", 0, write("ann", 0, "x", 1))
    return s.status(), s.see("ann"), s.call("GET", s.run + "/log")


def leaves_last(s):
    s.start(epochs=1)
    s.turn("ann", 0, write("ann", 0, "x", 1))
    s.turn("bob", 0, exit=True)
    return s.see("ann", epoch=1, wait=1).get("error"), s.status()["verdict"]


def both_write_x(s):
    s.start()
    s.turn("bob", 0, write("bob", 0, "x", 2))
    s.turn("ann", 0, write("ann", 0, "x", 1))
    return s.status()["state"]


def half_an_epoch(s):
    s.start()
    s.turn("ann", 0, write("ann", 0, "x", 1))
    return s.see("bob")["world_state"]


def no_capability(s):
    s.start()
    s.turn("ann", 0, write("ann", 0, "x", 0))
    s.turn("bob", 0)
    return s.see("ann")


def forged_line(s):
    s.start()
    s.turn("ann", 0, write("ann", 0, "x", 1, {"x": "1\nepoch=0 exit who=bob"}))
    s.turn("bob", 0)
    return len(s.call("GET", s.run + "/log").splitlines())


def second_thoughts(s):
    s.start()
    s.turn("ann", 0, write("ann", 0, "x", 1))
    s.turn("ann", 0, write("ann", 0, "y", 1))
    s.turn("bob", 0)
    return s.status()["state"]


def bare_number(s):
    s.start()
    s.turn("ann", 0, 7)
    return s.turn("bob", 0), s.status()["epoch"]


def old_mail(s):
    s.start()
    for epoch in range(2):
        s.turn("ann", epoch, message={"role": epoch})
        s.turn("bob", epoch)
    return s.see("bob")["messages"]


SHOWS = {
    "exit_closes_nothing": leaves_last,
    "first_come": both_write_x,
    "early_state": half_an_epoch,
    "leaky_scope": no_capability,
    "raw_names": forged_line,
    "resubmit_overwrites": second_thoughts,
    "assumes_object": bare_number,
    "orphan_any": leaves_last,
    "mail_keeps": old_mail,
}
MASKS = [("orphan_any", "exit_closes_nothing")]
ALSO = {("orphan_any", "exit_closes_nothing"), ("exit_closes_nothing", "orphan_any")}  # one situation for both


def with_service(defects, work):
    service = Service(defects)
    try:
        return work(service)
    finally:
        service.process.terminate()
        service.process.wait()


def all_situations(s):
    return {name: situation(s) for name, situation in SHOWS.items()}


def conditions(s):
    s.start(epochs=3)
    for epoch in range(3):
        s.turn("ann", epoch, write("ann", epoch, "x", 1))
        s.turn("bob", epoch, write("bob", epoch, "x", 2))
    print("B", s.status())
    s.start(("ALLOW", "WRITE", "x", "ann"), ("DENY", "WRITE", "x", "bob"), epochs=2)
    for epoch in range(2):
        s.turn("ann", epoch, write("ann", epoch, "x", 1))
        s.turn("bob", epoch)
    print("D", s.status())
    s.start(("ALLOW", "WRITE", "x", "bob"), ("ALLOW", "WRITE", "y", "ann"), epochs=2)
    s.turn("ann", 0, write("ann", 0, "y", 2))
    s.turn("bob", 0, write("bob", 0, "x", 1))
    s.turn("bob", 1, exit=True)
    s.turn("ann", 1, write("ann", 1, "x", 0))
    print("G", s.status())


if __name__ == "__main__":
    plain, honest = with_service((), lambda s: (baseline(s), all_situations(s)))
    print("honest:", *plain[:2])
    print(plain[2])
    with_service((), conditions)
    for name in SHOWS:
        here, faulty = with_service([name], lambda s: (baseline(s), all_situations(s)))
        assert here == plain or name == "raw_names", name
        for other in SHOWS:
            assert (faulty[other] != honest[other]) == (name == other or (name, other) in ALSO), (name, other)
        print(f"{name}: {honest[name]} becomes {faulty[name]}")
    for hidden, by in MASKS:
        assert with_service([hidden, by], SHOWS[hidden]) == with_service([by], SHOWS[hidden])
        print(f"{hidden} cannot be seen there beside {by}")
