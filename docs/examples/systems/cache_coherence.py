"""Cache coherence by invalidation (MSI): each cache holds a line modified, shared or not at all.

A read that misses takes the line from the cache that has it modified, which writes it back; a write takes it from all
others. A write that leaves the others' copies alone lets a cache read an old value.

A state has each cache's line and its value, the memory, and the last write.

No published count is at hand; that one cache writes or several read is the published claim.
"""

from dataclasses import make_dataclass, replace

import evenhand
from evenhand.core.plan import refuted

CACHES, VALUES = range(3), (0, 1)
State = make_dataclass("State", ["line", "value", "memory", "last"], frozen=True)


def put(row, index, entry):
    return (*row[:index], entry, *row[index + 1 :])


def actions(state):
    for cache in CACHES:
        if state.line[cache] == "invalid":
            yield ("fetch", cache, 0)
        else:
            yield ("evict", cache, 0)
        yield from (("write", cache, value) for value in VALUES)


def caches(name, invalidates):
    def step(state, action):
        verb, cache, value = action
        owner = next((one for one in CACHES if state.line[one] == "modified"), None)
        memory = state.memory if owner is None else state.value[owner]
        if verb == "fetch":
            shared = tuple("shared" if one in (cache, owner) else state.line[one] for one in CACHES)
            return replace(state, line=shared, value=put(state.value, cache, memory), memory=memory)
        if verb == "evict":
            back = memory if owner == cache else state.memory
            return replace(state, line=put(state.line, cache, "invalid"), value=put(state.value, cache, 0), memory=back)
        if not invalidates and state.line[cache] == "invalid":
            return state
        kept = ("invalid",) * len(CACHES) if invalidates else state.line
        values = (0,) * len(CACHES) if invalidates else state.value
        return State(put(kept, cache, "modified"), put(values, cache, value), memory, value)

    start = State(("invalid",) * len(CACHES), (0,) * len(CACHES), 0, 0)
    return evenhand.system(name, initial=[start], actions=actions, step=step, types=(State,))


OLD = (refuted("copies stay as they were", system="stale"),)


@evenhand.always("One cache may write, or several may read.", expected=OLD)
def single_writer(state):
    return "modified" not in state.line or state.line.count("invalid") == len(CACHES) - 1


@evenhand.always("What a cache holds is what was written last.", expected=OLD)
def reads_are_fresh(state):
    return all(state.value[one] == state.last for one in CACHES if state.line[one] != "invalid")


cache_coherence, stale = caches("cache_coherence", invalidates=True), caches("stale", invalidates=False)
