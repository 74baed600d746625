"""A short honest run, then each defect beside the honest kernel."""

from kernel import Arena, Roster


class Scripted:
    """Plays a list of steps: a dict with any of "exit", "say", "do"; "do" is a request."""

    def __init__(self, steps):
        self.steps, self.seen = list(steps), []

    def observe(self, seen):
        self.seen.append(seen)
        self.step = self.steps[seen.epoch] if seen.epoch < len(self.steps) else {}

    def compose_message(self):
        return self.step.get("say")

    def wants_to_exit(self):
        return self.step.get("exit", False)

    def propose_action(self):
        return self.step.get("do")


class Vandal(Scripted):
    def observe(self, seen):
        super().observe(seen)
        seen.world_state["y"] = "mine"


class Recycler(Scripted):
    """Hands in one and the same dictionary each epoch, edited."""

    def __init__(self):
        super().__init__([])
        self.form = ask("ann", 0, "WRITE", "x", [1], {"x": 0})["do"]

    def propose_action(self):
        epoch = self.seen[-1].epoch
        self.form.update(action_id=f"ann:{epoch}:0", proposed_delta={"x": epoch})
        return self.form


def ask(agent, epoch, op, keys, cited, delta=None):
    if delta is None:
        delta = {key: "locked_by_" + agent for key in keys} if op == "WRITE" else {}
    return {
        "do": {
            "agent_id": agent,
            "action_id": f"{agent}:{epoch}:0",
            "action_type": op,
            "declared_scope": list(keys),
            "proposed_delta": delta,
            "authorities_cited": [f"CUD-{n:03d}" for n in cited],
        }
    }


def papers(*rows):
    return [
        {
            "authority_id": f"CUD-{n:03d}",
            "commitment": commitment,
            "holder_agent_id": holder,
            "issuer_agent_id": "harness",
            "scope": [{"target": "STATE:/" + key, "operation": op} for key in keys],
        }
        for n, (commitment, op, keys, holder) in enumerate(rows, 1)
    ]


ALL = papers(("ALLOW", "WRITE", "xy", "ann"), ("ALLOW", "WRITE", "xy", "bob"))


def play(defects, ann, bob, epochs=None, authorities=ALL, talk=False):
    agents = {
        "ann": ann if isinstance(ann, Scripted) else Scripted(ann),
        "bob": bob if isinstance(bob, Scripted) else Scripted(bob),
    }
    epochs = epochs or max(len(a.steps) for a in agents.values())
    arena = Arena(
        {
            "agents": ["ann", "bob"],
            "state": {"x": "free", "y": "free"},
            "max_epochs": epochs,
            "communication": talk,
            "message_limit": 64,
            "authorities": authorities,
        },
        agents,
        frozenset(defects),
    )
    arena.run()
    arena.agents = agents
    return arena


def outcomes(arena):
    return [{name: move.get("outcome", "gone") for name, move in entry["moves"].items()} for entry in arena.log[1:]]


def baseline(d):
    arena = play(d, [ask("ann", 0, "WRITE", "x", [1])], [ask("bob", 0, "WRITE", "y", [2])])
    return outcomes(arena), arena.state, arena.verdict()


def vandal(d):
    return play(d, Vandal([{}]), [{}]).state


def recycled_form(d):
    log = play(d, Recycler(), [], epochs=2).log
    return [entry["moves"]["ann"]["request"]["proposed_delta"] for entry in log[1:]]


def clash(epoch):
    return ask("ann", epoch, "WRITE", "x", [1]), ask("bob", epoch, "WRITE", "x", [2])


def two_and_two(d):
    steps = [clash(0), clash(1), (ask("ann", 2, "WRITE", "x", [1]), {}), clash(3), clash(4)]
    arena = play(d, [a for a, _ in steps], [b for _, b in steps])
    return arena.verdict()


def writes_and_leaves(d):
    last = {"exit": True, **ask("ann", 0, "WRITE", "x", [1])}
    return play(d, [last], [{}]).state


def mail(d):
    arena = play(d, [{"say": {"role": 1}}, {}], [{}, {}], talk=True)
    return [len(seen.messages) for seen in arena.agents["bob"].seen]


def second_run(d):
    play(d, [{"exit": True}], [{}])
    arena = play(d, [ask("ann", 0, "WRITE", "x", [1])], [{}])
    return outcomes(arena)


def stray_write(d):
    arena = play(d, [ask("ann", 0, "WRITE", "x", [1], {"x": 1, "y": 2})], [{}])
    return outcomes(arena), arena.state


def list_in_scope(d):
    odd = ask("ann", 0, "WRITE", "x", [1])
    odd["do"]["declared_scope"] = [["x"]]
    try:
        return outcomes(play(d, [odd], [{}]))
    except TypeError as error:
        return f"crash: {error}"


SHOWS = {
    "shared_state": vandal,
    "aliased_request": recycled_form,
    "leaky_stall": two_and_two,
    "late_exit": writes_and_leaves,
    "same_epoch_mail": mail,
    "sticky_exits": second_run,
    "blind_diff": stray_write,
    "violation_stays": stray_write,
    "trusting_scope": list_in_scope,
}
MASKS = [("violation_stays", "blind_diff")]


def conditions():
    pair = [clash(e) for e in range(3)]
    print("B", play((), [a for a, _ in pair], [b for _, b in pair]).verdict())
    veto = papers(("ALLOW", "WRITE", "x", "ann"), ("DENY", "WRITE", "x", "bob"))
    print("D", play((), [ask("ann", e, "WRITE", "x", [1]) for e in range(3)], [], authorities=veto).verdict())
    cross = papers(("ALLOW", "WRITE", "x", "bob"), ("ALLOW", "WRITE", "y", "ann"))
    arena = play(
        (),
        [ask("ann", 0, "WRITE", "y", [2]), ask("ann", 1, "WRITE", "x", [])],
        [ask("bob", 0, "WRITE", "x", [1]), {"exit": True}],
        authorities=cross,
    )
    print("G", outcomes(arena), arena.verdict())
    print("H", play((), [clash(0)[0], {"exit": True}], [clash(0)[1], {"exit": True}]).verdict())


def afresh(situation, *defects):
    Roster.gone.clear()
    return situation(frozenset(defects))


if __name__ == "__main__":
    print("honest:", baseline(()))
    conditions()
    for name, situation in SHOWS.items():
        assert afresh(baseline, name) == baseline(()), name
        for other, elsewhere in SHOWS.items():
            differs = afresh(elsewhere, name) != elsewhere(())
            assert differs == (elsewhere is situation), (name, other)
        print(f"{name}: {situation(())} becomes {afresh(situation, name)}")
    for hidden, by in MASKS:
        assert afresh(SHOWS[hidden], hidden, by) == afresh(SHOWS[hidden], by)
        print(f"{hidden} cannot be seen there beside {by}")
