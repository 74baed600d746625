"""Readers and writers in one queue, so that none is overtaken.

Readers read together, a writer writes alone, and who asked first enters first.

Published: 21,527 distinct states (TLA+ examples, `ReadersWriters`, three actors).
"""

from dataclasses import make_dataclass, replace

import evenhand

ACTORS = range(3)
State = make_dataclass("State", ["readers", "writers", "waiting"], frozen=True)


def actions(state):
    turns = [(what, who) for who in ACTORS for what in ("read", "write")]
    yield from ((f"try {what}", who) for what, who in turns if (what, who) not in state.waiting)
    if state.waiting and not state.writers:
        what, who = state.waiting[0]
        if what == "read" or not state.readers:
            yield (what, who)
    yield from (("stop", who) for who in sorted(state.readers | state.writers))


def step(state, action):
    verb, who = action
    match verb:
        case "read":
            return replace(state, readers=state.readers | {who}, waiting=state.waiting[1:])
        case "write":
            return replace(state, writers=state.writers | {who}, waiting=state.waiting[1:])
        case "stop":
            return replace(state, readers=state.readers - {who}, writers=state.writers - {who})
        case _:
            return replace(state, waiting=(*state.waiting, (verb.removeprefix("try "), who)))


@evenhand.always("Nobody reads while somebody writes, and at most one writes.")
def safe(state):
    return not (state.readers and state.writers) and len(state.writers) <= 1


@evenhand.reachable("All can read together.")
def together(step):
    return len(step.after.readers) == len(ACTORS)


START = State(frozenset(), frozenset(), ())
readers_writers = evenhand.system("readers_writers", initial=[START], actions=actions, step=step, types=(State,))
