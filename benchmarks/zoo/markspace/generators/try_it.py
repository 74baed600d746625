"""A short honest run, then each defect beside the honest fleet."""

import os
import subprocess
import sys

from kernel import Fleet, execute

HERE = os.path.dirname(os.path.abspath(__file__))
ALL = ["intent", "action", "observation", "warning", "need"]
NAMES = ("ann", "bob", "cy", "dan")


def fleet(defects, programs, budgets=None, **more):
    lists = {"allowed_intent_verbs": ["book"], "allowed_action_verbs": ["booked"]}
    lists.update(observation_topics=["*"], warning_topics=["*"])
    decay = {"observation_half_life": 60, "warning_half_life": 60, "intent_ttl": 3}
    rows = [{"scope": "rooms", "mark_types": ALL}]
    agents = [{"id": name, "permissions": rows, "budget": (budgets or {}).get(name)} for name in (*NAMES, "pat")]
    config = {"scopes": [{"name": "rooms", "decay": decay, **lists, **more}], "agents": agents, "principal": "pat"}
    return Fleet(config, programs, defects)


PLACE = {"scope": "rooms", "resource": "r1"}


def pre(confidence=0.5):
    return {"do": "pre", **PLACE, "action": "book", "confidence": confidence}


def books(ran, name, confidence=0.5):
    yield from execute("rooms", "r1", ("book", "booked"), lambda: ran.append(name) or {"for": name}, confidence)


def asks(told, confidence=0.5, rest=0):
    for _ in range(rest):
        yield {"do": "read", "scope": "rooms"}
    decision = yield pre(confidence)
    told.append((decision["verdict"], (decision["winning_intent"] or {}).get("agent_id")))


def baseline(d):
    ran = []
    crew = fleet(d, {name: books(ran, name) for name in ("ann", "bob")})
    crew.run(4)
    return ran, [(m["mark_type"], m["agent_id"]) for m in crew.marks.read("rooms")]


def waits(told):
    yield {"do": "read", "scope": "rooms"}
    told.append((yield {"do": "wait", **PLACE}))


def abandoned(d):
    told = []
    fleet(d, {"ann": asks([]), "bob": waits(told)}).run(9)
    return told


def turns(d):
    order = []

    def notes(name):
        order.append(name)
        yield {"do": "read", "scope": "rooms"}

    fleet(d, {name: notes(name) for name in NAMES}).run(1)
    return order


def spends(log, amount):
    for _ in range(9):
        log.append((yield {"do": "spend", "input": amount, "output": 0}))


def spent_exactly(d):
    log = []
    fleet(d, {"ann": spends(log, 5)}, {"ann": {"max_input_tokens_total": 10}}).run(5)
    return log


def near_the_end(d):
    crew = fleet(d, {"ann": spends([], 9)}, {"ann": {"max_input_tokens_total": 20, "warning_fraction": 0.25}})
    crew.run(5)
    return len(crew.marks.read("rooms", mark_type="need"))


def more_tokens(d):
    crew = fleet(d, {"ann": spends([], 9)}, {"ann": {"max_input_tokens_total": 9}})
    crew.run(3)
    crew.set_budget("ann", {"max_input_tokens_total": 12})
    crew.run(1)
    return crew.spent["ann"]


def fails(ran):
    yield from execute("rooms", "r1", ("book", "booked"), lambda: {}["x"], 0.5)


def failure_beside_others(d):
    told = []
    fleet(d, {"ann": fails([]), "bob": asks([]), "cy": asks(told, rest=3)}).run(5)
    return told


def chain(d):
    crew, last = fleet(d, {}), None
    for n in range(3):
        seen = {"topic": "t", "content": {"n": n}, "confidence": 1, "source": "fleet"}
        more = {"supersedes": last} if last else {}
        mark = {"mark_type": "observation", "scope": "rooms", **seen, **more}
        last = crew.do_write("ann", {"mark": mark})["id"]
    return [mark["content"]["n"] for mark in crew.marks.read("rooms")]


def two_yield(d):
    told = []
    fleet(d, {"ann": asks(told), "bob": asks(told)}, conflict_policy="yield_all").run(2)
    return told


def three_yield(d):
    crew = fleet(d, {name: asks([]) for name in NAMES[:3]}, conflict_policy="yield_all")
    crew.run(1)
    return len(crew.marks.open_needs())


def runs_again(ran):
    decision = yield pre()
    yield {"do": "tool", "intent_id": decision["intent_id"], "run": lambda: ran.append(1) or {}}


SHOWS = {
    "waits_for_ever": abandoned,
    "turns_from_a_set": turns,
    "stops_above": spent_exactly,
    "warns_again": near_the_end,
    "raise_resets": more_tokens,
    "sweeps_intents": failure_beside_others,
    "shallow_supersession": chain,
    "yield_row_last": two_yield,
    "need_for_the_first_only": three_yield,
}
ALSO = {("yield_row_last", "need_for_the_first_only")}  # both are about needs under yield_all
MASKS = [("need_for_the_first_only", "yield_row_last")]


def under_seed(seed, *defects):
    command = [sys.executable, "try_it.py", "turns", *defects]
    env = {**os.environ, "PYTHONHASHSEED": str(seed)}
    return subprocess.run(command, cwd=HERE, env=env, capture_output=True, text=True, check=True).stdout.strip()


def wins(told, name, confidence):
    yield pre(confidence)
    told[name] = (yield {"do": "verdict", **PLACE})["verdict"]


def honest_extras():
    told = {}
    programs = {name: wins(told, name, sure) for name, sure in (("ann", 0.25), ("bob", 0.75))}
    fleet((), programs, conflict_policy="highest_confidence", deferred=True).run(3)
    print("deferred:", told)
    ran = []
    fleet((), {"ann": books([], "ann"), "bob": runs_again(ran)}).run(3)
    print("without leave:", ran)
    crew = fleet((), {})
    need = {"mark_type": "need", "scope": "rooms", "question": "?", "context": {}, "priority": 1, "blocking": True}
    asked = crew.do_write("ann", {"mark": need})["id"]
    act = {"mark_type": "action", "scope": "rooms", "action": "booked", "result": {}}
    print("resolved:", crew.resolve(asked, crew.do_write("pat", {"mark": act})["id"]), crew.aggregate_needs())
    for name in ("ann", "bob"):
        crew.do_post(name, {"mark": {"scope": "rooms", "resource": "r1", "action": "booked", "result": {}}})
    print("race:", [(m["mark_type"], m["agent_id"]) for m in crew.marks.read("rooms")])


def main():
    print("honest:", *baseline(()))
    honest_extras()
    orders = {under_seed(seed, "turns_from_a_set") for seed in range(4)}
    assert len({under_seed(seed) for seed in range(4)}) == 1 < len(orders)
    print(f"turns_from_a_set: {turns(())} becomes one of {sorted(orders)}")
    for name, situation in SHOWS.items():
        if situation is turns:
            continue
        assert baseline({name}) == baseline(()), name
        for other, elsewhere in SHOWS.items():
            differs = other == name or (name, other) in ALSO
            assert (elsewhere({name}) != elsewhere(())) == differs, (name, other)
        print(f"{name}: {situation(())} becomes {situation({name})}")
    for hidden, by in MASKS:
        assert SHOWS[hidden]({hidden, by}) == SHOWS[hidden]({by})
        print(f"{hidden} cannot be seen there beside {by}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["turns"]:
        print(*turns(set(sys.argv[2:])))
    else:
        main()
