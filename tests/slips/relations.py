"""Claims that relate: what a monitor remembers, keys and values, pairs of actions, twins."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from tests.slips.examples import breakable, check, endless, light, mirrored
from tests.slips.kit import control, evenhand, slip


@slip("relations", says=("few", "update", "generator"))
def an_update_that_yields():
    """`update` of a monitor is a generator function: every value is another object."""

    def count(n, step):
        yield min(n + 1, 3)

    @evenhand.monitor("The count is never three.", start=lambda config: 0, update=count)
    def few(_config, n):
        return n != 3

    return check(light(), [few])


@slip("relations", says=("few", "update", "None"))
def an_update_that_returns_nothing():
    """`update` adds and forgets to return, so that the monitor's value is None for ever."""

    def count(n, step):
        n = (n or 0) + 1

    @evenhand.monitor("The count is never three.", start=lambda config: 0, update=count)
    def few(_config, n):
        return n != 3

    return check(light(), [few])


@slip("relations", says=("few", "update|value|start", "hashable|list"))
def a_monitor_whose_value_is_a_list():
    """`update` appends to a list, and returns it."""

    def seen(lamps, step):
        lamps.append(step.after)
        return lamps

    @evenhand.monitor("At most three lamps.", start=lambda config: [], update=seen)
    def few(_config, lamps):
        return len(lamps) <= 3

    return check(light(), [few])


@slip("relations", says=("few", r"\bstart\b"))
def a_monitor_that_starts_with_a_value():
    """`start=0`, the value rather than a function of the configuration."""

    @evenhand.monitor("At most three steps.", start=0, update=lambda n, step: n)
    def few(_config, n):
        return n <= 3

    return check(light(), [few])


@slip("relations", says=("few", r"\bstart\b"))
def a_start_without_argument():
    """`start=lambda: 0`, though the configuration is handed in."""

    @evenhand.monitor("At most three steps.", start=lambda: 0, update=lambda n, step: n)
    def few(_config, n):
        return n <= 3

    return check(light(), [few])


@slip("relations", says=("few", "update"))
def an_update_the_other_way_round():
    """`update(step, value)`, the arguments exchanged: the value is taken for a step."""

    @evenhand.monitor("At most three.", start=lambda config: 0, update=lambda step, n: n + (step.after == "red"))
    def few(_config, n):
        return n <= 3

    return check(light(), [few])


@slip("relations", says=("few", "50|bound|max_states"), sampled=True)
def a_monitor_that_counts_without_end():
    """The value counts up for ever, so that the product never closes."""

    @evenhand.monitor("The count is no negative number.", start=lambda config: 0, update=lambda n, step: n + 1)
    def few(_config, n):
        return n >= 0

    return check(light(), [few], max_states=50)


@slip("relations", says=("few", r"\bok\b|argument"))
def an_ok_of_one_argument():
    """`ok(value)`, though the configuration comes first."""

    @evenhand.monitor("At most three steps.", start=lambda config: 0, update=lambda n, step: min(n + 1, 3))
    def few(n):
        return n <= 3

    return check(light(), [few])


@slip("relations", says=("few", "when", "generator|map"))
def a_monitors_antecedent_is_a_map():
    """`when` of a monitor maps over what it remembers."""

    @evenhand.monitor(
        "Three steps are three.",
        start=lambda config: 0,
        update=lambda n, step: min(n + 1, 3),
        when=lambda config, n: map(bool, [n == 4]),
    )
    def few(_config, n):
        return n <= 3

    return check(light(), [few])


@slip("relations", says=("by_before", r"\bkey\b", "generator|hash|list"))
def a_key_that_is_a_generator():
    """`key` as a generator: every step has a key of its own, so nothing is ever compared."""

    @evenhand.determined_by("What follows depends on the light.", key=lambda step: (x for x in [step.before]))
    def by_before(step):
        return step.action

    return check(breakable(), [by_before])


@slip("relations", says=("by_before", r"\bkey\b", "object|equal|identity|Key"))
def a_key_without_equality():
    """`key` makes an object of a class without `__eq__`: no two keys are equal."""

    class Key:
        def __init__(self, before):
            self.before = before

    @evenhand.determined_by("What follows depends on the light.", key=lambda step: Key(step.before))
    def by_before(step):
        return step.after

    return check(breakable(), [by_before])


@slip("relations", says=("by_before", r"\bkey\b", "lambda|function"))
def a_key_that_is_a_function():
    """`key` returns another function instead of what that gives."""

    @evenhand.determined_by("What follows depends on the light.", key=lambda step: lambda: step.before)
    def by_before(step):
        return step.after

    return check(breakable(), [by_before])


@slip("relations", says=("by_before", r"\bvalue\b", "None"))
def a_value_that_is_never_returned():
    """The value forgets its return: None depends on nothing."""

    @evenhand.determined_by("What follows depends on the light.", key=lambda step: step.before)
    def by_before(step):
        _ = step.after

    return check(breakable(), [by_before])


@slip("relations", says=("by_before", r"\bvalue\b", "coroutine|async"))
def an_async_value():
    """The value is a coroutine."""

    @evenhand.determined_by("What follows depends on the light.", key=lambda step: step.before)
    async def by_before(step):
        return step.after

    return check(breakable(), [by_before])


@slip("relations", says=("by_before", r"\bkey\b", "hashable|list"))
def a_key_that_is_a_list():
    """`key` returns a list, which has no hash."""

    @evenhand.determined_by("What follows depends on the light.", key=lambda step: [step.before])
    def by_before(step):
        return step.after

    return check(breakable(), [by_before])


@slip("relations", says=("by_before", r"\bvalue\b", "hashable|dict"))
def a_value_that_is_a_dict():
    """The value is a dict, which has no hash."""

    @evenhand.determined_by("What follows depends on the light.", key=lambda step: step.before)
    def by_before(step):
        return {"after": step.after}

    return check(breakable(), [by_before])


@slip("relations", says=("by_before", r"\bkey\b"))
def a_key_that_names_a_field():
    """`key="before"`, as in `sorted(..., key=...)` of other libraries."""

    @evenhand.determined_by("What follows depends on the light.", key="before")
    def by_before(step):
        return step.after

    return check(breakable(), [by_before])


@slip("relations", says=("any_order", "pairs", "None"))
def pairs_that_return_nothing():
    """`pairs` has no return."""

    def both(config, state, enabled):
        _ = [(one, two) for one in enabled for two in enabled]

    @evenhand.commute("Order does not matter.", pairs=both)
    def any_order(_config, one, other):
        return one.after == other.after

    return check(breakable(), [any_order])


@slip("relations", says=("any_order", "pairs", "pair|str|two"))
def pairs_that_are_strings():
    """`pairs` lists two-letter actions: each is taken apart into two."""

    system = light(actions=lambda state: ["up", "dn"], step=lambda state, action: "red" if action == "up" else state)

    @evenhand.commute("Order does not matter.", pairs=lambda config, state, enabled: enabled)
    def any_order(_config, one, other):
        return one.after == other.after

    return check(system, [any_order])


@slip("relations", says=("any_order", "pairs", "pair|two|triple|tuple|unpack"))
def pairs_of_three():
    """`pairs` lists triples."""

    @evenhand.commute("Order does not matter.", pairs=lambda config, state, enabled: [("next", "next", "break")])
    def any_order(_config, one, other):
        return one.after == other.after

    return check(breakable(), [any_order])


@slip("relations", says=("any_order", "pairs", "config|argument"))
def pairs_of_one_argument():
    """`pairs(enabled)`, though configuration and state come first."""

    @evenhand.commute("Order does not matter.", pairs=lambda enabled: [])
    def any_order(_config, one, other):
        return one.after == other.after

    return check(breakable(), [any_order])


@slip("relations", says=("any_order", "pairs"))
def pairs_without_end():
    """`pairs` never stops giving the same pair."""

    @evenhand.commute("Order does not matter.", pairs=lambda *_: endless(lambda number: ("next", "next")))
    def any_order(_config, one, other):
        return one.after == other.after

    return check(light(), [any_order])


@slip("relations", says=("twins_agree", r"\btwins\b", "str|list|iter"))
def twins_as_text():
    """`twins` returns one name, whose letters are taken for twins."""
    return check(breakable(), [mirrored(twins=lambda config, state, action: "mirror")])


@slip("relations", says=("twins_agree", r"\btwins\b", "None"))
def twins_that_return_nothing():
    """`twins` has no return."""
    return check(breakable(), [mirrored(twins=lambda config, state, action: None)])


@slip("relations", says=("twins_agree", "antecedent|twins|never"))
def twins_that_are_none():
    """`twins` is empty everywhere: no second run is ever made."""
    return check(breakable(), [mirrored(twins=lambda config, state, action: [])])


@slip("relations", says=("twins_agree", r"\btwins\b"))
def twins_without_end():
    """`twins` never stops giving."""
    return check(light(), [mirrored(twins=lambda config, state, action: endless())])


@slip("relations", says=("twins_agree", r"\bother\b", "tuple|str"))
def the_other_action_without_a_tuple():
    """`other` returns the action itself; its first letter is taken for the action."""
    return check(breakable(), [mirrored(other=lambda w, action: action)])


@slip("relations", says=("twins_agree", r"\bother\b", "tuple|one"))
def two_other_actions():
    """`other` returns two actions, of which the second is dropped."""
    return check(breakable(), [mirrored(other=lambda w, action: (action, "break"))])


@slip("relations", says=("twins_agree", "state", "None|initial"), refuted=True)
def the_other_state_is_never_returned():
    """`state` of a two_run has no return."""
    return check(breakable(), [mirrored(state=lambda w, config, state: None)])


@control("relations")
def a_monitor_that_remembers():
    """A memory that is hashable and bounded."""

    @evenhand.monitor(
        "Only lamps are seen.", start=lambda config: frozenset(), update=lambda seen, step: seen | {step.after}
    )
    def lamps(_config, seen):
        return seen <= {"red", "green"}

    return check(light(), [lamps])


@control("relations")
def pairs_from_a_generator():
    """A generator of pairs is fine: it is no answer."""

    @evenhand.commute("Breaking twice is breaking.", pairs=lambda config, state, enabled: ((a, a) for a in enabled))
    def any_order(_config, one, other):
        return one.after == other.after

    return check(breakable(), [any_order])


@control("relations")
def a_purged_twin():
    """`other` gives no action where the twin's is purged."""

    @evenhand.two_run(
        "A purged action is not seen.",
        twins=lambda config, state, action: ["purge"],
        config=lambda w, config: config,
        state=lambda w, config, state: state,
        other=lambda w, action: (),
    )
    def unseen(_w, _step, other):
        return other is None

    return check(breakable(), [unseen])
