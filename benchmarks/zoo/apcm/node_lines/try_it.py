"""Send messages to the kernel in Node: the honest one first, then each defect where it shows."""

import itertools
import json
import re
import select
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
DEFECTS = sorted(set(re.findall(r'DEFECTS\.has\("(\w+)"\)', (HERE / "kernel.mjs").read_text())))


class Kernel:
    def __init__(self, defects):
        command = ["node", HERE / "kernel.mjs", "--defects=" + ",".join(defects)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def world(self):
        self("world", prefs=["P1", "P2", "P3"], actions=["a", "b", "c"])

    def __call__(self, op, **fields):
        self.process.stdin.write(json.dumps({"op": op, **fields}).encode() + b"\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], 2)[0]:
            return "no answer"
        return {k: v for k, v in json.loads(self.process.stdout.readline()).items() if k != "re"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def step(self, **against):
        """Of each action what it violates, and after a slash what it satisfies."""
        sides = {a: [part.split() for part in (text + "/").split("/")[:2]] for a, text in against.items()}
        return self("step", feasible={a: {"against": v, "for": s} for a, (v, s) in sides.items()})

    def justify(self, av="", rp="", *pairs, mode="REVISE", prev=None):
        pairs = [p.split() for p in pairs]
        return self("justify", av=av.split(), rp=rp.split(), pairs=pairs, ref="none", mode=mode, prev=prev)

    def turn(self, action, *artifact, **more):
        self.justify(*artifact, prev=self("brief")["previous"] and self("brief")["previous"]["digest"], **more)
        return self("select", action=action)


def sophie(k):
    return [
        k.step(a="P1/P2", b="P2/P1"),
        k.justify("P1", "P2", "P1 P2"),
        k("select", action="a"),
        k("log"),
        k("metrics"),
    ]


def commas(k):
    k("world", prefs=["a,b", "c", "a", "b,c"], actions=["x"])
    k.step(x="c a")
    k.turn("x", "a c", "", "a,b c")
    k.step(x="c a")
    prev = k("brief")["previous"]["digest"]
    return k.justify("a c", "", "a b,c", mode="MAINTAIN", prev=prev)


def letters(k):
    k("world", prefs=["P", "Q"], actions=["a"])
    return k("step", feasible={"a": {"against": "PQ", "for": []}})


def stuck(k):
    k.step(a="P1")
    return k.justify()


def halted(k):
    k.step(a="")
    k.justify("P1")
    return [(r["halt"], r["gridlock"]) for r in k("log")["log"]]


def infeasible(k):
    k.step(a="")
    k.justify()
    return k("select", action="b"), k("state")["executed"]


def true_then_false(k):
    k.step(a="P1", b="P2")
    return k.justify("P1", "P2", "P1 P2", "P1 P3")


def false_then_true(k):
    k.step(a="P1", b="P2")
    return k.justify("P1", "P2", "P1 P3", "P1 P2")


def indifferent(k):
    k.step(a="", b="/P1")
    return k.justify("", "P1")


def second_step(k):
    k.step(a="P1", b="")
    k.turn("b")
    k.step(a="", b="")
    prev = k("brief")["previous"]["digest"]
    return k.justify(prev=prev)


def old_digest(k):
    k.step(a="")
    k.turn("a")
    k.step(a="")
    prev = k("brief")["previous"]["digest"]
    k.turn("a", "", "P1")
    k.step(a="")
    return k.justify(prev=prev)


SHOWS = {
    "joined_pairs": commas,
    "string_as_set": letters,
    "no_reply_on_gridlock": stuck,
    "halt_counts_as_gridlock": halted,
    "not_forbidden_is_allowed": infeasible,
    "first_pair_only": true_then_false,
    "one_true_pair": false_then_true,
    "needs_satisfaction": indifferent,
    "mask_accumulates": second_step,
    "any_old_digest": old_digest,
}
ALSO = {"one_true_pair": [true_then_false]}  # further situations here in which a defect shows


def results(situations, *defects):
    """All in one process; `world` starts anew."""
    found = {}
    with Kernel(defects) as kernel:
        for situation in situations:
            kernel.world()
            found[situation] = situation(kernel)
    return found


def main():
    situations = [*SHOWS.values(), sophie]
    honest = results(situations)
    for answer in honest[sophie]:
        print(json.dumps(answer))
    listed = tomllib.loads((HERE.parent / "defects.toml").read_text())["defect"]
    listed = {row["name"]: row["masked_by"] for row in listed if row["kernel"] == HERE.name}
    assert set(SHOWS) == set(DEFECTS) == set(listed)
    alone = {name: results(situations, name) for name in SHOWS}
    masks = {name: [] for name in SHOWS}
    for pair in itertools.combinations(SHOWS, 2):
        both = results([SHOWS[name] for name in pair], *pair)
        for name, other in (pair, pair[::-1]):
            if both[SHOWS[name]] == alone[other][SHOWS[name]]:
                masks[name].append(other)
    for name, situation in SHOWS.items():
        faulty = alone[name]
        assert faulty[situation] != honest[situation], name
        print(f"{name}: honest {honest[situation]} / faulty {faulty[situation]}")
        seen = {s for s in situations if faulty[s] != honest[s]}
        assert seen == {situation, *ALSO.get(name, [])}, (name, [s.__name__ for s in seen])
        assert masks[name] == listed[name], (name, masks[name])


if __name__ == "__main__":
    sys.exit(main())
