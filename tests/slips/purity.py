"""Steps that are no functions: chance, clocks, counters, global state, and whatever else they depend on."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import itertools
import os
import random
import time
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.slips.examples import check, light, never_dark, turns_green
from tests.slips.kit import control, evenhand, slip

LAMPS = tuple(f"lamp {number}" for number in range(97))
"""So many that nobody draws the same one twice in a row for long."""


def lamps(step: Any, **more: Any) -> Any:
    """A light whose step somebody wrote."""
    return light(step=step, **{"initial": LAMPS[:1], **more})


def is_lamp(state: Any) -> bool:
    """Whatever happens, a state is a lamp."""
    return state in LAMPS


always_a_lamp: Any = evenhand.always("The light is one of three.")(is_lamp)


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"))
def a_random_step():
    """`random.choice` in the step, to model a choice of the environment."""
    random.seed(11)
    return check(lamps(lambda state, action: random.choice(LAMPS)), [always_a_lamp])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"))
def a_random_step_seeded_once():
    """A generator of one's own with a seed: reproducible as a whole, and no function of the state."""
    chance = random.Random(7)
    return check(lamps(lambda state, action: chance.choice(LAMPS)), [always_a_lamp])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"), refuted=True)
def a_rare_event_by_chance():
    """The light goes dark by chance: a search that takes each step once does not see it."""
    chance = random.Random(1)
    return check(
        light(step=lambda state, action: "dark" if chance.random() < 0.25 else turns_green(state, action)), [never_dark]
    )


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"))
def a_clock():
    """`time.perf_counter_ns()` in the step, to model time."""
    return check(lamps(lambda state, action: LAMPS[time.perf_counter_ns() // 100 % 97]), [always_a_lamp])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"), sampled=True)
def a_time_stamp():
    """A time stamp in the state: no state is ever met again."""

    @evenhand.always("The stamp is not in the future.")
    def in_the_past(state):
        return state[1] <= time.time_ns() + 10**9

    return check(
        light(initial=[("red", 0)], step=lambda state, action: ("red", time.time_ns())), [in_the_past], max_states=300
    )


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"), sampled=True)
def a_fresh_identifier():
    """`uuid4()` for each message."""

    @evenhand.always("An identifier has 32 digits.")
    def long_enough(state):
        return len(state) == 32

    return check(light(initial=["0" * 32], step=lambda state, action: uuid.uuid4().hex), [long_enough], max_states=300)


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"))
def a_counter_in_a_closure():
    """`next(counter)` for a sequence number, cut down so that the graph closes."""
    numbers = itertools.count()
    return check(lamps(lambda state, action: LAMPS[next(numbers) % 97]), [always_a_lamp])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"), refuted=True)
def a_step_that_fails_each_third_time():
    """A fault injector with a counter."""
    calls = itertools.count(1)
    return check(
        light(step=lambda state, action: "dark" if next(calls) % 3 == 0 else turns_green(state, action)), [never_dark]
    )


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"), refuted=True)
def a_battery_beside_the_state():
    """What is left of the battery lives in a list, not in the state."""
    battery = [5]

    def step(state, action):
        battery[0] -= 1
        return turns_green(state, action) if battery[0] > 0 else "dark"

    return check(light(step=step), [never_dark])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"))
def a_global_that_toggles():
    """A module's variable is switched by each step."""
    toggle = {"on": False}

    def step(state, action):
        toggle["on"] = not toggle["on"]
        return LAMPS[toggle["on"]]

    return check(lamps(step), [always_a_lamp])


class Kernel:
    """The user's own kernel: an object that keeps its state itself."""

    def __init__(self) -> None:
        self.taken = 0

    def press(self) -> str:
        """One press; the third breaks it."""
        self.taken += 1
        return "dark" if self.taken == 3 else ("red", "green")[self.taken % 2]


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"), refuted=True)
def a_stateful_kernel():
    """The step calls one live object, which remembers what was done to it on other branches."""
    kernel = Kernel()
    return check(light(step=lambda state, action: kernel.press()), [never_dark])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"), refuted=True)
def a_memory_of_what_was_seen():
    """The step refuses what it has seen before, by a set beside the state."""
    seen: set = set()

    def step(state, action):
        if state in seen:
            return "dark"
        seen.add(state)
        return turns_green(state, action)

    return check(light(step=step), [never_dark])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"), refuted=True)
def a_queue_that_is_consumed():
    """The environment's answers are popped from a list until it is empty."""
    answers = ["green", "red", "green", "red"]
    return check(light(step=lambda state, action: answers.pop() if answers else "dark"), [never_dark])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"))
def an_environment_variable():
    """The step reads and writes the environment of the process."""

    def step(state, action):
        before = os.environ.get("SLIP_LAMP", "0")
        os.environ["SLIP_LAMP"] = "1" if before == "0" else "0"
        return LAMPS[int(before)]

    try:
        return check(lamps(step), [always_a_lamp])
    finally:
        os.environ.pop("SLIP_LAMP", None)


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"))
def a_file():
    """The step keeps a counter in a file."""
    from pathlib import Path

    def step(state, action):
        file = Path("lamp.txt")
        number = int(file.read_text("utf-8")) if file.exists() else 0
        file.write_text(str(number + 1), "utf-8")
        return LAMPS[number % 97]

    return check(lamps(step), [always_a_lamp])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"))
def the_identity_of_an_object():
    """`id(...)` of a fresh object decides."""
    kept: list = []

    def step(state, action):
        kept.append(object())
        return LAMPS[id(kept[-1]) // 16 % 97]

    return check(lamps(step), [always_a_lamp])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then"))
def the_time_of_day():
    """`datetime.now().microsecond` decides."""
    return check(lamps(lambda state, action: LAMPS[datetime.now().microsecond % 97]), [always_a_lamp])


@slip("purity", says=("light", "step", "determin|same|twice|again|differ|and then|shown|shows"))
def a_random_thing_shown():
    """The state is a function of the step, what it shows is not."""
    return check(light(step=lambda state, action: (turns_green(state, action), random.random())), [never_dark])


@slip("purity", says=("light", "actions", "determin|same|twice|again|differ|and then"))
def random_actions():
    """`random.sample` in `actions`, to keep the branching low."""
    chance = random.Random(3)
    return check(light(actions=lambda state: chance.sample(["next", "wait", "break"], 1)), [never_dark])


@slip("purity", says=("light", "actions", "determin|same|twice|again|differ|and then"), refuted=True)
def actions_that_are_offered_once():
    """An iterator made outside: the first state gets everything, the next nothing."""
    rest = iter(["next", "next", "break"])
    return check(
        light(actions=lambda state: rest, step=lambda state, action: "dark" if action == "break" else state),
        [never_dark],
    )


@slip("purity", says=("light", "actions", "determin|same|twice|again|differ|and then"), refuted=True)
def actions_that_alternate():
    """What is on offer depends on how often somebody asked."""
    calls = itertools.count()
    return check(
        light(
            actions=lambda state: ["next"] if next(calls) % 2 else ["break"],
            step=lambda state, action: "dark" if action == "break" else turns_green(state, action),
        ),
        [never_dark],
    )


@slip("purity", says=("mostly", "determin|same|twice|again|differ|and then|replay"))
def a_claim_that_counts_its_calls():
    """The claim looks at some of its cases, and is false of one in four of those by itself."""
    calls = itertools.count()

    @evenhand.always("The light is never dark, mostly.")
    def mostly(state):
        return next(calls) % 4 != 3

    return check(light(initial=LAMPS), [mostly])


@slip("purity", says=("only_once", "determin|same|twice|again|differ|and then|replay"))
def a_claim_that_remembers():
    """The claim keeps what it saw in a list: what it says depends on the order of the search."""
    seen: list = []

    @evenhand.always("At most nine states are seen.")
    def only_once(state):
        seen.append(state)
        return len(seen) < 10_000 and seen.count(state) != 2

    return check(light(), [only_once])


@slip("purity", says=("counted", "determin|same|twice|again|differ|and then|update"))
def an_impure_update():
    """`update` of a monitor counts beside its value."""
    calls = itertools.count()

    @evenhand.monitor("The count is small.", start=lambda config: 0, update=lambda n, step: next(calls) % 3)
    def counted(_config, n):
        return n < 3

    return check(light(), [counted])


@slip("purity", says=("by_before", "determin|same|twice|again|differ|and then|key"))
def a_random_key():
    """`key` adds a fresh number, so that nothing is compared."""
    calls = itertools.count()

    @evenhand.determined_by("What follows depends on the light.", key=lambda step: (step.before, next(calls)))
    def by_before(step):
        return step.after

    return check(light(actions=lambda state: ["next", "break"]), [by_before])


@dataclass(frozen=True)
class Seeded:
    """The state of somebody who put chance where it belongs."""

    colour: str
    seed: int


@control("purity")
def chance_in_the_state():
    """A seed that is part of the state makes the step a function."""

    def step(state, action):
        chance = random.Random(state.seed)
        return Seeded(chance.choice(LAMPS), (state.seed + 1) % 4)

    @evenhand.always("The light is one of three.")
    def one_of_three(state):
        return state.colour in LAMPS

    return check(light(initial=[Seeded(LAMPS[0], 0)], step=step), [one_of_three])


@control("purity")
def chance_as_an_action():
    """What the environment chooses is an action."""
    return check(lamps(lambda state, action: action, actions=lambda state: LAMPS[:3]), [always_a_lamp])


@slip("purity", says=("light", "known", "functools.cache"))
def a_cache_by_hand():
    """A step that remembers what it computed in a dictionary, which nothing tells from one that counts."""
    known: dict = {}

    def step(state, action):
        return known.setdefault((state, action), turns_green(state, action))

    return check(lamps(step), [never_dark])


@control("purity")
def a_cache():
    """A step that remembers what it computed is still a function."""
    import functools

    @functools.cache
    def step(state, action):
        return turns_green(state, action)

    return check(lamps(step), [never_dark])
