"""A short honest run, then each defect beside the honest kernel."""

import os
import sqlite3
import tempfile

from kernel import Kernel


def ask(agent, epoch, keys, *cited, op="WRITE", delta=None):
    delta = {key: agent for key in keys} if delta is None else delta
    return {
        "request": {
            "agent_id": agent,
            "action_id": f"{agent}:{epoch}:0",
            "action_type": op,
            "declared_scope": list(keys),
            "proposed_delta": delta,
            "authorities_cited": [f"CUD-{n:03d}" for n in cited],
        }
    }


def setup(*rows, agents=("ann", "bob", "cy"), state=None, epochs=9, **more):
    rows = rows or [("ALLOW", "WRITE", "xy", agent) for agent in agents]
    return {
        "agents": list(agents),
        "state": state or {"x": "free", "y": "free"},
        "max_epochs": epochs,
        "authorities": [
            {
                "authority_id": f"CUD-{n:03d}",
                "commitment": commitment,
                "holder_agent_id": holder,
                "issuer_agent_id": "harness",
                "scope": [{"target": "STATE:/" + key, "operation": op} for key in keys],
            }
            for n, (commitment, op, keys, holder) in enumerate(rows, 1)
        ],
        **more,
    }


def kernel(d, *rows, path=":memory:", **more):
    return Kernel(setup(*rows, **more), path, frozenset(d))


def baseline(d):
    k = kernel(d, epochs=1)
    return k.play({"ann": ask("ann", 0, "x", 1), "bob": ask("bob", 0, "y", 2)}), k.state, k.verdict(), k.history()


def similar_key(d):
    k = kernel(d, ("ALLOW", "WRITE", ["lock-1"], "ann"), state={"lock_1": "free", "lock-1": "free"})
    return k.play({"ann": ask("ann", 0, ["lock_1"], 1)}), k.state


def veto_of_the_harness(d):
    k = kernel(d, ("ALLOW", "WRITE", "x", "ann"), ("DENY", "WRITE", "x", "harness"))
    return k.play({"ann": ask("ann", 0, "x", 1)}), k.state


def veto_on_reading(d):
    k = kernel(d, ("ALLOW", "WRITE", "x", "ann"), ("DENY", "READ", "x", "harness"))
    return k.play({"ann": ask("ann", 0, "x", 1)}), k.state


def three_writers(d):
    return kernel(d).play({agent: ask(agent, 0, "x", n) for n, agent in enumerate(("ann", "bob", "cy"), 1)})


def two_readers(d):
    k = kernel(d, ("ALLOW", "READ", "x", "ann"), ("ALLOW", "READ", "x", "bob"))
    return k.play({a: ask(a, 0, "x", n, op="READ", delta={}) for n, a in ((1, "ann"), (2, "bob"))})


def second_run_on_a_file(d):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.db")
        first = kernel(d, path=path)
        first.play({"bob": {"exit": True}})
        first.db.close()
        second = kernel(d, path=path)
        found = second.play({"ann": ask("ann", 0, "x", 1), "bob": ask("bob", 0, "y", 2)})
        second.db.close()
        return found


def stray_change(d):
    k = kernel(d)
    return k.play({"ann": ask("ann", 0, "x", 1, delta={"x": 1, "y": 2})}), k.state


def futile(d):
    k = kernel(d, epochs=3)
    for epoch in range(3):
        k.play({"ann": ask("ann", epoch, "x")})
    return k.verdict()


def someone_leaves(d):
    k = kernel(d)
    k.play({"bob": {"exit": True}})
    return [row[2:4] for row in k.history() if row[1] == 1]


def apostrophe(d):
    k = kernel(d, agents=("o'hara",))
    try:
        return k.observation("o'hara")["own_last_outcome"]
    except sqlite3.OperationalError as error:
        return f"crash: {error}"


SHOWS = {
    "like_match": similar_key,
    "veto_join": veto_of_the_harness,
    "veto_any_op": veto_on_reading,
    "exactly_two": three_writers,
    "readers_collide": two_readers,
    "reused_file": second_run_on_a_file,
    "partial_keep": stray_change,
    "futile_counts": futile,
    "exits_unrecorded": someone_leaves,
    "pasted_sql": apostrophe,
}
MASKS = [("veto_any_op", "veto_join")]


def conditions():
    k = kernel((), epochs=3)
    for epoch in range(3):
        k.play({"ann": ask("ann", epoch, "x", 1), "bob": ask("bob", epoch, "x", 2)})
    print("B", k.verdict())
    k = kernel((), ("ALLOW", "WRITE", "x", "ann"), ("DENY", "WRITE", "x", "bob"), epochs=2)
    for epoch in range(2):
        k.play({"ann": ask("ann", epoch, "x", 1)})
    print("D", k.verdict())
    k = kernel((), ("ALLOW", "WRITE", "x", "bob"), ("ALLOW", "WRITE", "y", "ann"), agents=("ann", "bob"), epochs=2)
    k.play({"ann": ask("ann", 0, "y", 2), "bob": ask("bob", 0, "x", 1)})
    print("G", k.play({"bob": {"exit": True}, "ann": ask("ann", 1, "x")}), k.verdict())
    k = kernel((), communication=True, message_limit=20)
    k.play({"ann": {"message": {"role": 1}, "request": {"nonsense": object()}}, "bob": {"message": {"long": "x" * 20}}})
    print(k.observation("cy"), k.observation("ann")["own_last_outcome"])
    k.play({agent: {"exit": True} for agent in ("ann", "bob", "cy")})
    print("H", k.verdict(), *k.history(), sep="\n  ")


if __name__ == "__main__":
    print("honest:", *baseline(())[:3])
    conditions()
    honest = {situation: situation(()) for situation in SHOWS.values()}
    for name, situation in SHOWS.items():
        assert baseline({name}) == baseline(()), name
        for other, elsewhere in SHOWS.items():
            assert (elsewhere({name}) != honest[elsewhere]) == (name == other), (name, other)
        print(f"{name}: {honest[situation]} becomes {situation({name})}")
    for hidden, by in MASKS:
        assert SHOWS[hidden]({hidden, by}) == SHOWS[hidden]({by})
        print(f"{hidden} cannot be seen there beside {by}")
