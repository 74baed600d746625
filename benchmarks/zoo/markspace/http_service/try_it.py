"""A short honest run over HTTP, then each defect beside the honest service."""

import http.client
import json
import os
import subprocess
import sys
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))
EVERYTHING = ["intent", "action", "observation", "warning", "need"]


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
        return json.loads(raw) if raw[:1] in "{[n" else raw

    def start(self, **more):
        lists = {"allowed_intent_verbs": ["book"], "allowed_action_verbs": ["booked"]}
        lists.update(observation_topics=["*"], warning_topics=["*"])
        decay = {"observation_half_life": 60, "warning_half_life": 60, "intent_ttl": 30}
        scopes = [
            {"name": "rooms", "decay": decay, **lists, **more},
            {"name": "legal", "decay": decay, **lists, "visibility": "classified"},
        ]
        rows = [{"scope": scope, "mark_types": EVERYTHING} for scope in ("rooms", "legal")]
        agents = [{"id": name, "permissions": rows} for name in ("ann", "bob", "pat")]
        config = {"scopes": scopes, "agents": agents, "principal": "pat"}
        self.space = "/spaces/" + self.call("POST", "/spaces", config)["space"]

    def post(self, what, **body):
        return self.call("POST", f"{self.space}/{what}", body)

    def book(self, agent, confidence=0.5):
        return self.post("pre", agent=agent, scope="rooms", resource="r1", action="book", confidence=confidence)

    def done(self, agent, decision):
        act = {"scope": "rooms", "resource": "r1", "action": "booked", "result": {}}
        return self.post("post", agent=agent, mark=act, intent_id=decision["intent_id"])

    def look(self, agent, topic, scope="rooms", **more):
        fields = {"topic": topic, "content": {}, "confidence": 1, "source": "fleet", **more}
        return self.post("marks", agent=agent, mark={"mark_type": "observation", "scope": scope, **fields})

    def verdict(self, agent):
        found = self.call("GET", f"{self.space}/agents/{quote(agent)}/verdict?scope=rooms&resource=r1&wait=0.2")
        return found.get("verdict", "no answer")

    def subscribe(self, agent, *scopes):
        return self.post(f"agents/{agent}/subscribe", patterns=[{"scope": scope} for scope in scopes])

    def watched(self, agent):
        return [mark["topic"] for mark in self.call("GET", f"{self.space}/agents/{agent}/watched")]


def baseline(s):
    s.start()
    s.subscribe("bob", "rooms")
    first, second = s.book("ann"), s.book("bob")
    s.done("ann", first)
    marks = s.call("GET", s.space + "/marks?scope=rooms&reader=bob")
    return first["verdict"], second["verdict"], [(mark["mark_type"], mark["agent_id"]) for mark in marks]


def two_wait(s):
    s.start(conflict_policy="highest_confidence", deferred=True)
    s.book("ann", 0.25)
    s.book("bob", 0.75)
    s.post("boundary", scope="rooms", resource="r1")
    return s.verdict("bob"), s.verdict("ann")


def second_boundary(s):
    s.start(conflict_policy="highest_confidence", deferred=True)
    s.book("bob", 0.75)
    s.post("clock", advance=20)
    s.book("ann", 0.25)
    s.post("boundary", scope="rooms", resource="r1")
    first = s.verdict("ann")
    s.post("clock", advance=20)
    s.post("boundary", scope="rooms", resource="r1")
    return [first] * (first == "no answer"), s.verdict("ann")


def own_marks(s):
    s.start()
    s.subscribe("ann", "rooms")
    s.look("ann", "mine")
    return s.watched("ann")


def subscribed_twice(s):
    s.start()
    s.subscribe("ann", "rooms")
    s.subscribe("ann", "rooms")
    s.look("bob", "once")
    return s.watched("ann")


def weak_then_strong(s):
    s.start()
    s.subscribe("ann", "rooms")
    s.look("bob", "weak", initial_strength=0.5)
    s.look("bob", "strong")
    return s.watched("ann")


def secret_scope(s):
    s.start()
    s.subscribe("ann", "legal")
    s.look("bob", "suspicion", "legal")
    return s.watched("ann")


def line_break(s):
    s.start()
    s.look("eve\nt=0 verdict of=eve", "t")
    return len(s.call("GET", s.space + "/log").splitlines())


def too_sure(s):
    s.start()
    return s.book("ann", 7)["verdict"]


def no_scope(s):
    s.start()
    return s.post("marks", agent="ann", mark={"mark_type": "need"})


def after_an_action(s):
    s.start()
    s.done("ann", s.book("ann"))
    decision = s.book("bob")
    return decision["verdict"], (decision["winning_intent"] or {}).get("agent_id")


SHOWS = {
    "winner_only_told": two_wait,
    "verdict_kept": second_boundary,
    "own_echo": own_marks,
    "subscriptions_pile_up": subscribed_twice,
    "queue_by_strength": weak_then_strong,
    "watch_sees_all": secret_scope,
    "raw_log": line_break,
    "any_confidence": too_sure,
    "assumes_scope": no_scope,
    "taken_without_winner": after_an_action,
}
MASKS = [("verdict_kept", "winner_only_told")]
ALSO = {("winner_only_told", "verdict_kept")}  # the second boundary too has a loser


def with_service(defects, work):
    service = Service(defects)
    try:
        return work(service)
    finally:
        service.process.terminate()
        service.process.wait()


def all_situations(s):
    return {"baseline": baseline(s), **{name: situation(s) for name, situation in SHOWS.items()}}


def honest_extras(s):
    print(baseline(s))
    print(s.call("GET", s.space + "/log"))
    s.start(conflict_policy="yield_all")
    print([s.book(agent)["verdict"] for agent in ("ann", "bob")], s.call("GET", s.space + "/needs")[0]["needs"])
    asked = {
        "mark_type": "need",
        "scope": "rooms",
        "question": "Which?",
        "context": {},
        "priority": 1,
        "blocking": True,
    }
    s.start()
    need = s.post("marks", agent="ann", mark=asked)["id"]
    answer = {"mark_type": "action", "scope": "rooms", "action": "booked", "result": {}}
    print(s.post("resolve", need_id=need, action_id=s.post("marks", agent="pat", mark=answer)["id"]))
    print(s.call("GET", s.space + "/needs"), s.call("GET", s.space + "/marks?scope=rooms&type=need"))
    one, two = s.book("ann"), s.book("bob")
    s.done("ann", one)
    s.done("bob", two)
    print([(m["mark_type"], m["agent_id"]) for m in s.call("GET", s.space + "/marks?scope=rooms&min=0.5")])


if __name__ == "__main__":
    honest = with_service((), all_situations)
    with_service((), honest_extras)
    for name in SHOWS:
        faulty = with_service([name], all_situations)
        for other in honest:
            differs = name == other or (name, other) in ALSO
            assert (faulty[other] != honest[other]) == differs, (name, other, honest[other], faulty[other])
        print(f"{name}: {honest[name]} becomes {faulty[name]}")
    for hidden, by in MASKS:
        assert with_service([hidden, by], SHOWS[hidden]) == with_service([by], SHOWS[hidden])
        print(f"{hidden} cannot be seen there beside {by}")
