"""A lock-free stack (Treiber) that uses nodes again, with its well-known fault ABA.

To pop, a thread reads the top and the node below it, and swings the top if it is still what was read. Meanwhile the
node may have been popped and pushed again, with another node below: the swing succeeds and brings back a node that
another thread owns. A counter beside the top, raised by every push, prevents it.

`read` is what each thread read of top, below and pushes.

No published count is at hand; fault and remedy are those of the literature (IBM System/370, Treiber 1986).
"""

from dataclasses import make_dataclass, replace

import evenhand
from evenhand.core.plan import refuted

THREADS, MOST = (0, 1), 4
State = make_dataclass("State", ["top", "below", "pushes", "owned", "read"], frozen=True)


def put(row, index, entry):
    return (*row[:index], entry, *row[index + 1 :])


def actions(state):
    for who in THREADS:
        if state.read[who]:
            yield ("swing", who, None)
        elif state.top is not None:
            yield ("read", who, None)
        if not state.read[who] and state.pushes < MOST:
            yield from (("push", who, node) for node in sorted(state.owned[who]))


def stack(name, counter):
    def step(state, action):
        verb, who, node = action
        if verb == "read":
            return replace(state, read=put(state.read, who, (state.top, state.below[state.top], state.pushes)))
        if verb == "push":
            owned, below = put(state.owned, who, state.owned[who] - {node}), put(state.below, node, state.top)
            return replace(state, top=node, below=below, owned=owned, pushes=state.pushes + 1)
        (top, below, pushes), done = state.read[who], replace(state, read=put(state.read, who, None))
        if state.top != top or (counter and state.pushes != pushes):
            return done
        return replace(done, top=below, owned=put(state.owned, who, state.owned[who] | {top}))

    nobody = frozenset()
    start = State(0, (1, None), 0, (nobody, nobody), (None, None))
    return evenhand.system(name, initial=[start], actions=actions, step=step, types=(State,), ends=True)


def on_stack(state):
    found, node = [], state.top
    while node is not None and node not in found:
        found, node = [*found, node], state.below[node]
    return found


@evenhand.always(
    "A node has one owner.",
    expected=(refuted("ABA: the top is the same, not so what is below it", system="lock_free_stack"),),
)
def one_owner(state):
    all_nodes = sorted([*on_stack(state), *state.owned[0], *state.owned[1]])
    return all_nodes == sorted(set(all_nodes))


@evenhand.reachable("Both nodes can be popped.")
def emptied(step):
    return step.after.top is None


lock_free_stack, counted = stack("lock_free_stack", counter=False), stack("counted", counter=True)
