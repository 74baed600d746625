"""A short honest run, then each defect beside the honest kernel. Needs node."""

import json
import os
import select
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Kernel:
    def __init__(self, defects=()):
        self.process = subprocess.Popen(
            ["node", "kernel.mjs", *sorted(defects)],
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )

    def line(self, text, patience=20):
        try:
            self.process.stdin.write(text.encode() + b"\n")
        except BrokenPipeError:
            return "dead"
        if not select.select([self.process.stdout], [], [], patience)[0]:
            return "no answer"
        raw = self.process.stdout.readline()
        return json.loads(raw) if raw else "dead"

    def tell(self, what, **facts):
        return self.line(json.dumps({"do": what, **facts}))

    def start(self, *rules, agents=("ann", "bob"), world=None, epochs=9, **more):
        rules = rules or FREE
        return self.tell(
            "start",
            agents=list(agents),
            world=world or {"x": "free", "y": "free"},
            epochs=epochs,
            rules=[
                {
                    "id": f"CUD-{n:03d}",
                    "says": says,
                    "holder": holder,
                    "issuer": "harness",
                    "scope": [f"{op} STATE:/{key}" for key in keys],
                }
                for n, (says, op, keys, holder) in enumerate(rules, 1)
            ],
            **more,
        )

    def epoch(self, *moves):
        return self.tell("epoch", moves=list(moves))

    def close(self):
        self.process.kill()
        self.process.communicate()


FREE = [("ALLOW", "WRITE", "xy", agent) for agent in ("ann", "bob")]


def ask(agent, epoch, keys, *cites, op="WRITE", delta=None):
    delta = {key: agent for key in keys} if delta is None else delta
    return {
        "agent": agent,
        "ask": {
            "as": agent,
            "id": f"{agent}:{epoch}:0",
            "op": op,
            "scope": list(keys),
            "delta": delta,
            "cites": [f"CUD-{n:03d}" for n in cites],
        },
    }


def baseline(k):
    k.start(epochs=1)
    return k.epoch(ask("ann", 0, "x", 1), ask("bob", 0, "y", 2)), k.tell("look", agent="ann"), k.tell("trace")


def inherited_name(k):
    k.start(("ALLOW", "WRITE", ["toString"], "ann"))
    return k.epoch(ask("ann", 0, ["toString"], 1))


def longer_key(k):
    k.start(("ALLOW", "WRITE", ["xy"], "ann"), world={"x": "free", "xy": "free"})
    return k.epoch(ask("ann", 0, ["x"], 1))


def text_and_number(k):
    k.start(world={"x": "free", "y": "1"})
    return k.epoch(ask("ann", 0, "x", 1, delta={"x": 2, "y": 1}))


def first_look(k):
    k.start()
    return k.tell("look", agent="ann")


def garbage(k):
    return k.line("{nonsense"), k.start()


def sole_holder_leaves(k):
    k.start(("ALLOW", "WRITE", "x", "bob"))
    return k.epoch({"agent": "bob", "exit": True}, ask("ann", 0, "x", 1))


def four_collisions(k):
    k.start(agents=("ann", "bob", "cy"))
    return [k.epoch(ask("ann", e, "x", 1), ask("bob", e, "x", 2))["outcomes"] for e in range(4)]


def three_collisions(k):
    k.start(agents=("ann", "bob", "cy"), epochs=3)
    return [k.epoch(ask("ann", e, "x", 1), ask("bob", e, "x", 2))["class"] for e in range(3)]


def accents(k):
    k.start(talk=True, limit=20)
    k.epoch({"agent": "ann", "say": {"a": "é" * 10}})
    return k.tell("look", agent="bob")["messages"]


def everybody_leaves(k):
    k.start()
    leaving = [{"agent": agent, "exit": True} for agent in ("ann", "bob")]
    return k.line(json.dumps({"do": "epoch", "moves": leaving}), patience=1)


SHOWS = {
    "known_by_in": inherited_name,
    "prefix_target": longer_key,
    "loose_equal": text_and_number,
    "early_no_action": first_look,
    "dies_on_garbage": garbage,
    "grant_inherited": sole_holder_leaves,
    "impatient": four_collisions,
    "stall_needs_all": three_collisions,
    "chars_not_bytes": accents,
    "no_reply_on_collapse": everybody_leaves,
}
MASKS = [("impatient", "stall_needs_all")]


def fresh(defects, situation):
    kernel = Kernel(defects)
    try:
        return situation(kernel)
    finally:
        kernel.close()


def all_of(k):
    """Every situation in one process; the garbage last, as it may end the process."""
    found = {name: SHOWS[name](k) for name in SHOWS if name not in ("dies_on_garbage", "no_reply_on_collapse")}
    found["no_reply_on_collapse"] = everybody_leaves(k)
    found["dies_on_garbage"] = garbage(k)
    if found["dies_on_garbage"][1] != "dead":
        found["baseline"] = baseline(k)
    return found


def conditions(k):
    k.start(epochs=3)
    print("B", [k.epoch(ask("ann", e, "x", 1), ask("bob", e, "x", 2))["class"] for e in range(3)])
    k.start(("ALLOW", "WRITE", "x", "ann"), ("DENY", "WRITE", "x", "bob"), epochs=3)
    print("D", [k.epoch(ask("ann", e, "x", 1))["class"] for e in range(3)])
    k.start(("ALLOW", "WRITE", "x", "bob"), ("ALLOW", "WRITE", "y", "ann"), epochs=2)
    k.epoch(ask("ann", 0, "y", 2), ask("bob", 0, "x", 1))
    print("G", k.epoch({"agent": "bob", "exit": True}, ask("ann", 1, "x")))
    k.start()
    print("H", k.epoch({"agent": "ann", "exit": True}, {"agent": "bob", "exit": True}))
    k.start(("ALLOW", "READ", "x", "ann"), ("ALLOW", "READ", "x", "bob"), epochs=1)
    print("readers", k.epoch(*(ask(a, 0, "x", n, op="READ", delta={}) for n, a in ((1, "ann"), (2, "bob")))))


if __name__ == "__main__":
    honest = fresh((), all_of)
    print("honest:", *honest["baseline"])
    fresh((), conditions)
    for name in SHOWS:
        faulty = fresh([name], all_of)
        for other in honest:
            if name == "dies_on_garbage" and other == "baseline":
                continue
            assert (faulty[other] != honest[other]) == (name == other), (name, other)
        print(f"{name}: {honest[name]} becomes {faulty[name]}")
    for hidden, by in MASKS:
        assert fresh([hidden, by], SHOWS[hidden]) == fresh([by], SHOWS[hidden])
        print(f"{hidden} cannot be seen there beside {by}")
