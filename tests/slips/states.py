"""States and actions: what Python calls equal, what changes, what has no hash, what is compared by identity."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.slips.examples import check, endless, never_dark
from tests.slips.kit import control, evenhand, slip


def numbers(initial: Any, step: Any, actions: Any = ("next",), name: str = "numbers") -> Any:
    """A system with those actions in every state."""
    return evenhand.system(name, initial=initial, actions=lambda state: list(actions), step=step)


class Plain:
    """A class without `__eq__`: each object is a state of its own."""

    def __init__(self, colour: str) -> None:
        self.colour = colour


@slip("states", says=("plain", "__eq__|identity|equal|compare"), sampled=True)
def compared_by_identity():
    """A class without `__eq__`: each step makes another state, and the search never comes back to one."""

    @evenhand.always("The plain light is never dark.")
    def never_dark(state):
        return state.colour != "dark"

    return check(numbers([Plain("red")], lambda state, action: Plain("red"), name="plain"), [never_dark])


@slip("states", says=("plain", "__eq__|identity|equal|compare"), sampled=True, refuted=True)
def a_goal_compared_by_identity():
    """The same with an end: what is reached twice is two states."""

    @evenhand.eventually("It goes green.")
    def goes_green(step):
        return step.after.colour == "green"

    states = [Plain("red"), Plain("red")]
    return check(
        numbers([states[0]], lambda state, action: states[1] if state is states[0] else states[0], name="plain"),
        [goes_green],
    )


@slip("states", says=("tangled", "lambda|function|identity|equal"), sampled=True)
def a_function_inside_a_state():
    """A continuation in the state: each lambda is another one."""

    @evenhand.always("There is always something to do.")
    def goes_on(state):
        return callable(state[1])

    return check(
        numbers([("red", lambda: None)], lambda state, action: ("red", lambda: None), name="tangled"),
        [goes_on],
        max_states=2_000,
    )


@slip("states", says=("numbers", "nan", "equal|itself|compare"), sampled=True)
def not_a_number_as_a_state():
    """NaN equals nothing, not even itself."""

    @evenhand.always("The reading is a float.")
    def a_float(state):
        return isinstance(state, float)

    return check(numbers([0.0], lambda state, action: float("nan")), [a_float], max_states=2_000)


@slip("states", says=("lamp", "hash", "initial"))
def a_dict_as_initial_state():
    """`initial=[{"lamp": "red"}]`, as TLA+ has records."""
    return check(numbers([{"lamp": "red"}], lambda state, action: state, name="lamp"), [never_dark])


@slip("states", says=("lamp", "hash", "step|state"))
def a_list_from_the_step():
    """The step returns a list where the start was a tuple."""
    return check(numbers([("red",)], lambda state, action: [*state], name="lamp"), [never_dark])


@slip("states", says=("lamp", "hash"))
def a_dataclass_that_is_not_frozen():
    """`@dataclass` without `frozen=True` has no hash."""

    @dataclass
    class Open:
        colour: str

    return check(numbers([Open("red")], lambda state, action: state, name="lamp"), [never_dark])


@slip("states", says=("lamp", "hash|list"))
def a_list_inside_a_frozen_dataclass():
    """Frozen, with a list inside, so that hashing fails all the same."""

    @dataclass(frozen=True)
    class Frozen:
        queue: list

    return check(numbers([Frozen([])], lambda state, action: state, name="lamp"), [never_dark])


@slip("states", says=("lamp", "chang|mutat|hash"))
def unsafe_hash_and_a_step_that_mutates():
    """`unsafe_hash=True` and a step that changes the state in place."""

    @dataclass(unsafe_hash=True)
    class Open:
        count: int = 0

    def step(state, action):
        state.count = min(state.count + 1, 3)
        return state

    @evenhand.always("The count stays below two.")
    def below_two(state):
        return state.count < 2

    return check(numbers([Open()], step, name="lamp"), [below_two])


class HashedById:
    """Mutable, hashed by identity and compared by it: what most classes are."""

    def __init__(self) -> None:
        self.count = 0


@slip("states", says=("lamp", "chang|mutat|identity|__eq__"))
def a_step_that_mutates_an_object():
    """The step changes an object in place and returns it: the graph has one state."""

    def step(state, action):
        state.count += 1
        return state

    @evenhand.always("The count stays below two.")
    def below_two(state):
        return state.count < 2

    return check(numbers([HashedById()], step, name="lamp"), [below_two])


@slip("states", says=("below_two|claim", "chang|mutat"))
def a_claim_that_mutates():
    """The claim resets what it looks at."""

    @dataclass(unsafe_hash=True)
    class Open:
        count: int = 0

    @evenhand.always("The count stays below two.")
    def below_two(state):
        state.count, before = 0, state.count
        return before < 2

    return check(numbers([Open()], lambda state, action: Open(min(state.count + 1, 3)), name="lamp"), [below_two])


@slip("states", says=("lamp", "actions", "chang|mutat"))
def actions_that_mutate():
    """`actions` pops from the state what it offers."""

    @dataclass(eq=False)
    class Open:
        left: list

        def __eq__(self, other):
            return isinstance(other, Open) and other.left == self.left

        def __hash__(self):
            return hash(tuple(self.left))

    def actions(state):
        return [state.left.pop()] if state.left else []

    @evenhand.always("Something is left.")
    def something_left(state):
        return len(state.left) > 0

    system = evenhand.system(
        "lamp", initial=[Open(["a", "b"])], actions=actions, step=lambda state, action: Open(list(state.left))
    )
    return check(system, [something_left])


@slip("states", says=("lamp", "object.__setattr__|chang|mutat"))
def a_frozen_dataclass_that_is_changed_all_the_same():
    """`object.__setattr__` in the step, to save a copy."""

    @dataclass(frozen=True)
    class Frozen:
        count: int = 0

    def step(state, action):
        object.__setattr__(state, "count", min(state.count + 1, 3))
        return state

    @evenhand.always("The count stays below two.")
    def below_two(state):
        return state.count < 2

    return check(numbers([Frozen()], step, name="lamp"), [below_two])


class Restless:
    """Its hash changes from call to call."""

    calls = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Restless)

    def __hash__(self) -> int:
        Restless.calls += 1
        return Restless.calls


@slip("states", says=("lamp", "hash"), sampled=True)
def a_hash_that_changes():
    """Equal states with another hash each time: none is ever found again."""

    @evenhand.always("It is restless.")
    def restless(state):
        return isinstance(state, Restless)

    return check(numbers([Restless()], lambda state, action: Restless(), name="lamp"), [restless], max_states=500)


class Quarrelsome:
    """Its comparison raises."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("cannot compare")

    def __hash__(self) -> int:
        return 1


@slip("states", says=("lamp", "compare|Quarrelsome|__eq__"))
def an_equality_that_raises():
    """`__eq__` raises, as that of a symbolic value may."""

    @evenhand.always("It is quarrelsome.")
    def quarrelsome(state):
        return isinstance(state, Quarrelsome)

    return check(numbers([Quarrelsome()], lambda state, action: Quarrelsome(), name="lamp"), [quarrelsome])


@slip("states", says=("lamp", "hash|array|ndarray"))
def an_array_as_state():
    """A numpy array, which has no hash."""
    return check(numbers([np.zeros(2)], lambda state, action: state, name="lamp"), [never_dark])


@slip("states", says=("lamp", "iterator|generator|identity"))
def a_generator_as_state():
    """The step is a generator function: the state that it makes is a generator."""

    def step(state, action):
        yield "dark"

    return check(numbers(["red"], step, name="lamp"), [never_dark])


@slip("states", says=("lamp", "coroutine|async"))
def an_async_step():
    """`async def step`."""

    async def step(state, action):
        return "dark"

    return check(numbers(["red"], step, name="lamp"), [never_dark])


@slip("states", says=("lamp", "action", "lambda|function|identity"))
def a_lambda_as_action():
    """The actions are functions, made anew for each state: no two are equal, so no run can be told again."""
    system = evenhand.system(
        "lamp",
        initial=["red"],
        actions=lambda state: [lambda: "green"],
        step=lambda state, action: action(),
    )
    return check(system, [never_dark])


@slip("states", says=("lamp", "action", "hash|dict"))
def an_action_that_is_a_dict():
    """`{"type": "next"}`, as in a reducer."""
    system = evenhand.system(
        "lamp", initial=["red"], actions=lambda state: [{"type": "next"}], step=lambda state, action: state
    )
    return check(system, [never_dark])


@slip("states", says="999|bound|max_states|state", sampled=True)
def states_without_end():
    """A counter that never comes back."""

    @evenhand.always("The count is not negative.")
    def not_negative(state):
        return state >= 0

    return check(numbers([0], lambda state, action: state + 1), [not_negative], max_states=999)


@slip("states", says=("lamp", "initial"), seconds=20.0)
def initial_states_without_end():
    """`initial` is a generator that never stops."""
    return check(numbers(endless(), lambda state, action: state, name="lamp"), [never_dark])


@slip("states", says=("lamp", "actions"), seconds=20.0)
def actions_without_end():
    """`actions` never stops giving."""
    system = evenhand.system(
        "lamp", initial=["red"], actions=lambda state: endless(), step=lambda state, action: "green"
    )
    return check(system, [never_dark])


@control("states")
def a_frozen_dataclass():
    """With `compare` as it is by default."""

    @evenhand.always("It is red or green.")
    def lit(lamp):
        return lamp.colour in ("red", "green")

    @dataclass(frozen=True)
    class Light:
        colour: str

    step = lambda lamp, action: dataclasses.replace(lamp, colour="green" if lamp.colour == "red" else "red")  # noqa: E731
    return check(numbers([Light("red")], step), [lit])
