"""A short honest run, then each defect beside the honest kernel. Needs node."""

import json
import os
import select
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ALL = ["intent", "action", "obs", "warn", "need"]


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

    def tell(self, what, patience=20, **facts):
        try:
            self.process.stdin.write(json.dumps({"do": what, **facts}).encode() + b"\n")
        except BrokenPipeError:
            return "dead"
        if not select.select([self.process.stdout], [], [], patience)[0]:
            return "no answer"
        raw = self.process.stdout.readline()
        return json.loads(raw) if raw else "dead"

    def open(self, **more):
        words = {"plans": ["book"], "deeds": ["booked"], "topics": ["*"], "alerts": ["*"]}
        words["life"] = {"obs": 60, "warn": 60, "intent": 30}
        scopes = [
            {"name": "rooms", **words, **more},
            {"name": "hr", "sight": "shadow", **words},
            {"name": "legal", "sight": "secret", **words},
        ]
        agents = [{"id": name, "may": [[scope["name"], ALL] for scope in scopes]} for name in ("ann", "bob", "pat")]
        agents[0]["sees"] = ["hr/pay"]
        return self.tell("open", scopes=scopes, agents=agents, boss="pat", token="7")

    def book(self, who, sure=0.5):
        return self.tell("pre", **{"who": who, "in": "rooms", "on": "r1", "verb": "book", "sure": sure})

    def done(self, who, decision, **more):
        mark = {"in": "rooms", "on": "r1", "verb": "booked", "body": {}, **more}
        return self.tell("post", who=who, mark=mark, intent=decision["intent"])

    def look(self, who, scope="rooms", **more):
        mark = {"t": "obs", "in": scope, "about": "t", "body": {"seen": 1}, "sure": 1, "src": "fleet", **more}
        return self.tell("put", who=who, mark=mark)

    def read(self, scope, reader=None):
        marks = self.tell("read", **{"in": scope, "reader": reader})["marks"]
        return [(mark["t"], mark["who"], mark.get("body"), mark["shadow"]) for mark in marks]

    def close(self):
        self.process.kill()
        self.process.communicate()


def baseline(k):
    k.open()
    first, second = k.book("ann"), k.book("bob")
    k.done("ann", first)
    return first["verdict"], second["verdict"], k.read("rooms", "bob")


def parent_scope(k):
    k.open()
    k.look("pat", "hr")
    return k.read("hr", "ann")


def secret_scope(k):
    k.open()
    k.look("pat", "legal")
    return k.read("legal", "ann")


def child_scope(k):
    k.open()
    k.look("pat", "hr/pay")
    return k.read("hr/pay", "bob")


def number_token(k):
    k.open()
    k.tell("narrow", **{"who": "ann", "in": "rooms", "t": "obs"})
    return k.tell("restore", who="ann", token=7)["ok"], k.look("ann")["ok"]


def narrowed_everywhere(k):
    k.open()
    k.tell("narrow", **{"who": "ann", "in": "*", "t": "obs"})
    return k.look("ann")["ok"]


def missed_canary(k):
    k.open()
    k.tell("canary", who="ann")
    gated = k.book("ann")["verdict"]
    health = k.tell("probe", who="ann")["health"]
    return gated, health, k.look("ann")["ok"]


def number_as_text(k):
    k.open()
    return k.book("ann", "0.5")["verdict"]


def powerless_intent(k):
    k.open()
    mark = {"t": "intent", "in": "rooms", "on": "r1", "verb": "book", "sure": 1, "power": 0}
    k.tell("put", who="ann", mark=mark)
    return k.book("bob")["verdict"]


def empty_boundary(k):
    k.open(deferred=True)
    return k.tell("boundary", patience=0.5, **{"in": "rooms", "on": "r1"})


def odd_name(k):
    k.open()
    found = k.book("constructor")
    return found if found == "dead" else found["verdict"]


SHOWS = {
    "child_grants_parent": parent_scope,
    "secret_shadows": secret_scope,
    "child_open": child_scope,
    "loose_token": number_token,
    "exact_narrow": narrowed_everywhere,
    "one_grace": missed_canary,
    "text_numbers": number_as_text,
    "zero_is_missing": powerless_intent,
    "silent_boundary": empty_boundary,
    "inherited_names": odd_name,
}
ALSO = {("exact_narrow", "one_grace")}  # the lockdown after a missed canary is a narrowing everywhere


def fresh(defects, situation):
    kernel = Kernel(defects)
    try:
        return situation(kernel)
    finally:
        kernel.close()


def all_of(k):
    return {"baseline": baseline(k), **{name: SHOWS[name](k) for name in SHOWS}}


def honest_extras(k):
    k.open(rule="surest", deferred=True)
    print("deferred:", k.book("ann", 0.25)["verdict"], k.book("bob", 0.75)["verdict"], end=" ")
    print([(who, d["verdict"]) for who, d in k.tell("boundary", **{"in": "rooms", "on": "r1"})["verdicts"]])
    k.open(rule="boss")
    print("boss:", k.book("ann")["verdict"], k.book("bob")["verdict"], k.tell("needs"))
    k.open()
    one, two = k.book("ann"), k.book("bob")
    k.done("ann", one)
    k.done("bob", two)
    print("race:", k.read("rooms"))
    k.open()
    asked = {"t": "need", "in": "rooms", "ask": "Which?", "body": {}, "prio": 1, "block": True}
    need = k.tell("put", who="ann", mark=asked)["id"]
    act = k.tell("put", who="pat", mark={"t": "action", "in": "rooms", "verb": "booked", "body": {}})["id"]
    print("resolved:", k.tell("resolve", need=need, action=act), k.tell("power", id=need), k.tell("needs"))
    canary = k.tell("canary", who="ann")["id"]
    print("canary:", k.look("ann"), k.tell("ack", who="ann", id=canary), k.tell("probe", who="ann"), k.look("ann"))


if __name__ == "__main__":
    honest = fresh((), all_of)
    print("honest:", *honest["baseline"])
    fresh((), honest_extras)
    for name in SHOWS:
        faulty = fresh([name], all_of)
        for other in honest:
            differs = name == other or (name, other) in ALSO
            assert (faulty[other] != honest[other]) == differs, (name, other, faulty[other])
        print(f"{name}: {honest[name]} becomes {faulty[name]}")
    both = fresh(["exact_narrow", "one_grace"], missed_canary)
    assert fresh(["exact_narrow"], missed_canary) != honest["one_grace"] and both == fresh(["one_grace"], missed_canary)
    print("exact_narrow cannot be seen after a missed canary beside one_grace")
