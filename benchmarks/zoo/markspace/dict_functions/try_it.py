"""A short honest run, then each defect beside the honest kernel."""

import kernel as k

EVERYTHING = ["intent", "action", "observation", "warning", "need"]


def scope(name, **more):
    return {
        "name": name,
        "allowed_intent_verbs": ["book"],
        "allowed_action_verbs": ["booked"],
        "observation_topics": ["*"],
        "warning_topics": ["*"],
        "decay": {"observation_half_life": 60, "warning_half_life": 60, "intent_ttl": 30},
        **more,
    }


def fresh(defects, **more):
    config = {
        "scopes": [scope("rooms", **more), scope("roomservice"), scope("hr", visibility="protected")],
        "agents": [
            {"id": name, "permissions": [{"scope": "rooms", "mark_types": EVERYTHING}], "read_scopes": []}
            for name in ("ann", "bob", "pat")
        ],
        "principal": "pat",
    }
    config["agents"][2]["permissions"].append({"scope": "hr", "mark_types": EVERYTHING})
    return k.new_space(config, defects)


def book(space, agent, confidence=0.5, resource="r1"):
    return k.pre_action(space, agent, "rooms", resource, "book", confidence)


def done(space, agent, decision, resource="r1", **more):
    return k.post_action(space, agent, "rooms", resource, "booked", {}, decision["intent_id"], **more)


def need(question, priority, where="rooms"):
    rest = {"context": {"room": "r1"}, "priority": priority, "blocking": True}
    return {"mark_type": "need", "scope": where, "question": question, **rest}


def baseline(d):
    space = fresh(d)
    first = book(space, "ann")
    second = book(space, "bob")
    done(space, "ann", first)
    third = book(space, "bob")
    marks = k.read(space, "rooms", resource="r1", reader="bob")
    return [x["verdict"] for x in (first, second, third)], [(m["mark_type"], m["effective_strength"]) for m in marks]


def neighbour_scope(d):
    seen = {"mark_type": "observation", "topic": "t", "content": {}, "confidence": 1, "source": "fleet"}
    return k.write(fresh(d), "ann", {"scope": "roomservice", **seen})


def acted_at_once(d):
    space = fresh(d)
    one, two = book(space, "ann"), book(space, "bob")
    done(space, "ann", one)
    done(space, "bob", two)
    return [mark["invalidates"] for mark in k.read(space, "rooms", mark_type="warning")]


def answered(d):
    space = fresh(d)
    asked = k.write(space, "ann", need("Which room?", 0.5))["id"]
    answer = {"mark_type": "action", "scope": "rooms", "action": "booked", "result": {"room": "r2"}}
    k.resolve(space, asked, k.write(space, "pat", answer)["id"])
    return space["marks"][asked].get("resolved_by"), len(space["marks"]), k.strength(space, asked)


def two_warnings(d):
    space = fresh(d)
    seen = {"topic": "t", "content": {}, "confidence": 1, "source": "fleet", "initial_strength": 2}
    target = k.write(space, "ann", {"mark_type": "observation", "scope": "rooms", **seen})["id"]
    for agent in ("bob", "pat"):
        doubt = {"topic": "t", "reason": "moved", "severity": "info", "invalidates": target}
        k.write(space, agent, {"mark_type": "warning", "scope": "rooms", **doubt})
    return k.strength(space, target)


def foreign_reader(d):
    space = fresh(d)
    k.write(space, "pat", need("Raise whom?", 0.5, "hr"))
    return [(m["question"], m["context"], m["projected"]) for m in k.read(space, "hr", reader="ann")]


def asked_twice(d):
    space = fresh(d)
    k.write(space, "ann", need("Which room?", 0.5))
    k.write(space, "bob", need("which  room?", 0.25))
    return [(row["effective_priority"], row["blocking_count"]) for row in k.aggregate_needs(space)]


def failed_before(d):
    space = fresh(d)
    done(space, "ann", book(space, "ann"), failed=True)
    return book(space, "bob")["verdict"]


def expired_before(d):
    space = fresh(d)
    book(space, "ann")
    k.tick(space, 31)
    return book(space, "bob")["verdict"]


def again(d):
    space = fresh(d)
    done(space, "ann", book(space, "ann"))
    return book(space, "ann")["verdict"]


def equally_sure(d):
    space = fresh(d, conflict_policy="highest_confidence")
    return book(space, "bob")["verdict"], book(space, "ann")["verdict"]


SHOWS = {
    "loose_prefix": neighbour_scope,
    "no_notice": acted_at_once,
    "resolves_in_place": answered,
    "loudest_warning_only": two_warnings,
    "context_shown": foreign_reader,
    "priorities_add_up": asked_twice,
    "failure_claims": failed_before,
    "dead_intents_bind": expired_before,
    "own_claim_blocks": again,
    "tie_by_name": equally_sure,
}


def expired_and_equally_sure(d):
    space = fresh(d, conflict_policy="highest_confidence", deferred=True)
    for agent in ("bob", "ann"):
        book(space, agent)
    return {agent: answer["verdict"] for agent, answer in k.resolve_deferred(space, "rooms", "r1").items()}


def failed_twice(d):
    space = fresh(d)
    done(space, "ann", book(space, "ann"), failed=True)
    return book(space, "ann")["verdict"]


def honest_extras():
    print("deferred:", expired_and_equally_sure(()))
    space = fresh((), conflict_policy="yield_all")
    print("yield_all:", [book(space, agent)["verdict"] for agent in ("ann", "bob")], k.aggregate_needs(space)[0])
    space = fresh(())
    print("execute:", k.execute(space, "ann", "rooms", "r1", ("book", "booked"), lambda: {"room": 1}, 0.5))
    print("failing:", k.execute(space, "ann", "rooms", "r2", ("book", "booked"), lambda: {}["x"], 0.5)[1])
    print("denied:", k.execute(space, "bob", "hr", "r1", ("book", "booked"), lambda: {}, 0.5))
    print("reinforced:", k.reinforce([1.0, 0.5, 0.5]), k.reinforce([1.0] * 9))
    for line in space["journal"]:
        print("journal:", line["at"], line["who"], line["what"], line["hash"])


if __name__ == "__main__":
    print("honest:", baseline(()))
    honest_extras()
    for name, situation in SHOWS.items():
        assert baseline({name}) == baseline(()), name
        for other, elsewhere in SHOWS.items():
            assert (elsewhere({name}) != elsewhere(())) == (other == name), (name, other)
        print(f"{name}: {situation(())} becomes {situation({name})}")
    # A failure of one's own claims only where one's own claims count.
    assert failed_twice({"own_claim_blocks"}) == failed_twice(()) == failed_twice({"failure_claims"})
    assert failed_twice({"own_claim_blocks", "failure_claims"}) != failed_twice(())
