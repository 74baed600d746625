"""A short honest run, then each defect beside the honest kernel."""

from kernel import ALL_HOOKS, Action, Agent, Clock, Guard, MarkSpace, Need, Observation, Scheduler, Scope, Warning

EVERYTHING = {"rooms": ["intent", "action", "observation", "warning", "need"]}
ANN, BOB, PAT = (Agent(name=name, scopes=EVERYTHING) for name in ("ann", "bob", "pat"))


class Desk:
    """One space with a scope `rooms`, and a guard."""

    def __init__(self, defects, **more):
        ALL_HOOKS.clear()
        self.clock = Clock()
        lists = {"allowed_intent_verbs": ("book",), "allowed_action_verbs": ("booked",)}
        lists.update(observation_topics=("*",), warning_topics=("*",))
        times = {"observation_half_life": 60.0, "warning_half_life": 30.0, "intent_ttl": 20.0}
        self.scopes = [Scope(name="rooms", **times, **lists, **more)]
        self.space = MarkSpace(self.scopes, self.clock, "pat", defects)
        self.guard = Guard(self.space)

    def book(self, agent, confidence=0.5):
        return self.guard.pre_action(agent, "rooms", "r1", "book", confidence)

    def done(self, agent, decision, **more):
        act = Action(scope="rooms", resource="r1", action="booked", result={}, **more)
        return self.guard.post_action(agent, act, decision.intent_id)


def look(content=None, **more):
    return Observation(scope="rooms", topic="t", content=content or {}, confidence=1, source="fleet", **more)


def baseline(d):
    desk = Desk(d)
    first, second = desk.book(ANN), desk.book(BOB)
    desk.done(ANN, first)
    third = desk.book(BOB)
    desk.clock.advance(21)
    marks = desk.space.read("rooms", reader=BOB)
    return [x.verdict for x in (first, second, third)], [(m.kind, m.agent_id) for m in marks]


def edited_after_write(d):
    desk, content = Desk(d), {"free": True}
    desk.space.write(ANN, look(content))
    content["free"] = False
    return desk.space.read("rooms")[0].content


def edited_after_read(d):
    desk = Desk(d)
    desk.space.write(ANN, look({"free": True}))
    desk.space.read("rooms", reader=BOB)[0].content["free"] = False
    return desk.space.read("rooms")[0].content


def failing_hook(d):
    desk = Desk(d)
    desk.space.add_write_hook(lambda agent, mark: 1 / 0)
    try:
        return desk.space.write(ANN, look())
    except ZeroDivisionError:
        return "crash"


def hook_adds_hook(d):
    desk, seen = Desk(d), []

    def first(agent, mark):
        seen.append("first")
        if len(seen) == 1:
            desk.space.add_write_hook(lambda agent, mark: seen.append("second"))

    desk.space.add_write_hook(first)
    desk.space.write(ANN, look())
    return seen


def second_space(d):
    desk, seen = Desk(d), []
    desk.space.add_write_hook(lambda agent, mark: seen.append(agent))
    other = MarkSpace(desk.scopes, Clock(), "pat", d)
    other.write(ANN, look())
    return seen


def fading_warning(d):
    desk = Desk(d)
    target = desk.space.write(ANN, look())
    doubt = Warning(scope="rooms", topic="t", reason="moved", severity="info", invalidates=target)
    desk.space.write(BOB, doubt)
    desk.clock.advance(60)
    return desk.space.strength(target)


def nearly_as_sure(d):
    desk = Desk(d, conflict_policy="highest_confidence")
    return desk.book(ANN, 0.91).verdict, desk.book(BOB, 0.94).verdict


def poll(d, *steps):
    clock, found = Clock(), []
    scheduler = Scheduler(clock, d)
    scheduler.register(Agent(name="ann", schedule_interval=10.0))
    for step in steps:
        if step == "update":
            scheduler.update(Agent(name="ann", schedule_interval=10.0))
        else:
            clock.advance(step)
            found.append([agent.name for agent in scheduler.tick_all()])
    return found


def new_manifest(d):
    return poll(d, 0, "update", 1)


def late_poll(d):
    return poll(d, 0, 15, 5)


def late_poll_and_update(d):
    return poll(d, 0, 15, "update", 5)


SHOWS = {
    "kept_content": edited_after_write,
    "live_marks": edited_after_read,
    "hook_breaks_write": failing_hook,
    "hooks_not_snapshotted": hook_adds_hook,
    "hooks_outlive_space": second_space,
    "warnings_decay_slowly": fading_warning,
    "rounded_confidence": nearly_as_sure,
    "update_forgets": new_manifest,
    "catches_up": late_poll,
}


def honest_extras():
    for policy in ("highest_confidence", "yield_all"):
        desk = Desk((), conflict_policy=policy, deferred=True)
        print([desk.book(agent, sure).verdict for agent, sure in ((ANN, 0.5), (BOB, 0.75))])
        print(policy, {name: d.verdict for name, d in desk.guard.resolve_deferred("rooms", "r1").items()})
    asked = desk.space.write(ANN, Need(scope="rooms", question="Which?", context={}, priority=1, blocking=True))
    answer = desk.space.write(PAT, Action(scope="rooms", action="booked", result={}))
    print("resolved:", desk.space.resolve(asked, answer), desk.space.strength(asked))
    desk = Desk(())
    print(
        "failing:", desk.guard.execute(ANN, "rooms", "r1", "book", "booked", lambda: 1 / 0, 1), desk.book(BOB).verdict
    )
    one, two = desk.book(ANN), desk.book(BOB)
    desk.done(ANN, one)
    desk.done(BOB, two)
    print("race:", [(m.kind, m.agent_id) for m in desk.space.read("rooms")])


if __name__ == "__main__":
    print("honest:", baseline(()))
    honest_extras()
    for name, situation in SHOWS.items():
        assert baseline({name}) == baseline(()), name
        for other, elsewhere in SHOWS.items():
            assert (elsewhere({name}) != elsewhere(())) == (other == name), (name, other)
        print(f"{name}: {situation(())} becomes {situation({name})}")
    hidden, by = "catches_up", "update_forgets"
    assert late_poll_and_update({hidden}) != late_poll_and_update(())
    assert late_poll_and_update({hidden, by}) == late_poll_and_update({by})
    print(f"{hidden} cannot be seen after an update beside {by}")
