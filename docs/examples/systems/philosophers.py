"""Dining philosophers: each needs the fork on its left and the fork on its right, and takes one at a time.

If all take the left fork first, each may hold one and wait for ever. If one takes the right fork first, no circle of
waiting closes.

No published count is at hand; that the first table can be stuck and the second cannot is the textbook's result.
"""

import evenhand
from evenhand.core.plan import refuted

COUNT = 4


def forks(who, contrary):
    left, right = who, (who + 1) % COUNT
    return (right, left) if contrary and who == COUNT - 1 else (left, right)


def table(name, contrary):
    """A state is the holder of each fork, or None."""

    def actions(held):
        for who in range(COUNT):
            first, second = forks(who, contrary)
            if held[first] == who and held[second] == who:
                yield ("eat", who)
            elif held[second if held[first] == who else first] is None:
                yield ("take", who)

    def step(held, action):
        verb, who = action
        first, second = forks(who, contrary)
        if verb == "eat":
            return tuple(None if holder == who else holder for holder in held)
        taken = second if held[first] == who else first
        return tuple(who if fork == taken else holder for fork, holder in enumerate(held))

    return evenhand.system(name, initial=[(None,) * COUNT], actions=actions, step=step)


@evenhand.deadlock_free(
    "Somebody can always eat, sooner or later.",
    wants=lambda held: True,
    expected=(refuted("each holds its left fork", system="philosophers"),),
)
def somebody_eats(step):
    return step.action[0] == "eat"


@evenhand.each_step("Who eats does not sit beside another who could eat.", when=lambda step: step.action[0] == "eat")
def neighbours_wait(step):
    who = step.action[1]
    return step.before[who] == who and step.before[(who + 1) % COUNT] == who


philosophers, contrary = table("philosophers", contrary=False), table("contrary", contrary=True)
