"""Making a system: what `evenhand.system` is given for its name, its start, its actions, its step and the rest."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tests.slips.examples import check, light, never_dark, turns_green
from tests.slips.kit import control, evenhand, slip


@slip("systems", says=("light", "initial", "str|list"))
def one_initial_state_without_a_list():
    """`initial="red"`, whose letters are taken for three states."""
    return check(light(initial="red"), [never_dark])


@slip("systems", says=("light", "initial", "dict"))
def a_dict_for_initial():
    """`initial={"lamp": "red"}`, a state as a dict, whose keys are taken for states."""
    return check(light(initial={"lamp": "red"}), [never_dark])


@slip("systems", says=("pair", "initial"))
def a_tuple_state_without_a_list():
    """`initial=("idle", "idle")`, one state of two processes, taken for two states of one."""
    system = evenhand.system(
        "pair", initial=("idle", "idle"), actions=lambda state: ["next"], step=lambda state, action: state
    )

    @evenhand.always("Nobody is busy.")
    def nobody_is_busy(state):
        return "busy" not in state

    return check(system, [nobody_is_busy])


@slip("systems", says=("light", "initial", "twice|equal|same"))
def an_initial_state_twice():
    """`initial=["red", "red"]`, one for each of two lamps."""
    return check(light(initial=["red", "red"]), [never_dark])


@slip("systems", says=("light", "initial", "int|iterable|list"))
def a_number_for_initial():
    """`initial=0`."""
    return check(light(initial=0), [never_dark])


@slip("systems", says=("light", "initial", "function|call|list"))
def a_function_for_initial():
    """`initial=lambda: ["red"]`, as Stateright has `init_states`."""
    return check(light(initial=lambda: ["red"]), [never_dark])


@slip("systems", says=("light", "initial", "None"))
def none_for_initial():
    """`initial=None`, the result of a builder without return."""
    return check(light(initial=None), [never_dark])


@slip("systems", says=("light", "initial"))
def no_initial_state():
    """`initial=[]`, the wrong filter before it."""
    return check(light(initial=[state for state in ("red", "green") if state == "blue"]), [never_dark])


@slip("systems", says=("lamp", "initial", "NamedTuple|Lamp|tuple|list"))
def a_named_tuple_for_initial():
    """`initial=Lamp("red", "on")`, one state: its fields are taken for states."""

    class Lamp(NamedTuple):
        colour: str
        power: str

    system = evenhand.system(
        "lamp", initial=Lamp("red", "on"), actions=lambda state: ["next"], step=lambda state, action: state
    )
    return check(system, [never_dark])


@slip("systems", says=("light", "initial", "bytes|str|list"))
def bytes_for_initial():
    """`initial=b"red"`, whose bytes are taken for numbers."""
    return check(light(initial=b"red", step=lambda state, action: state), [never_dark])


@slip("systems", says=("light", "actions", "str|list"))
def actions_that_return_one_action():
    """`actions=lambda state: "next"`, whose letters are taken for four actions."""
    return check(light(actions=lambda state: "next"), [never_dark])


@slip("systems", says=("light", "actions", "str|list"))
def actions_that_return_an_empty_text():
    """`actions` gives "" for nothing to do."""
    return check(light(actions=lambda state: ""), [never_dark])


@slip("systems", says=("light", "actions", "dict"))
def actions_that_return_a_dict():
    """`{"next": …}`, action and effect, whose keys are taken."""
    return check(light(actions=lambda state: {"next": turns_green}), [never_dark])


@slip("systems", says=("light", "actions", "None"))
def actions_that_return_none():
    """`actions` has no return for the last state."""
    return check(light(actions=lambda state: ["next"] if state == "red" else None), [never_dark])


@slip("systems", says=("light", "actions", "None"))
def actions_without_return():
    """`actions` never returns."""

    def actions(state):
        _ = ["next"]

    return check(light(actions=actions), [never_dark])


@slip("systems", says=("light", "actions", "bool|iterable|list"))
def actions_as_a_predicate():
    """`actions(state)` answers whether something may happen."""
    return check(light(actions=lambda state: state == "red"), [never_dark])


@slip("systems", says=("light", "actions", "int|iterable|list"))
def actions_as_a_number():
    """`actions(state)` counts them."""
    return check(light(actions=lambda state: 2), [never_dark])


@slip("systems", says=("light", "actions", "list|call|function"))
def a_list_for_actions():
    """`actions=["next"]`, the list itself."""
    return check(light(actions=["next"]), [never_dark])


@slip("systems", says=("light", "actions", "argument"))
def actions_without_argument():
    """`actions=lambda: ["next"]`."""
    return check(light(actions=lambda: ["next"]), [never_dark])


@slip("systems", says=("light", "actions", "argument"))
def actions_of_the_full_record():
    """`actions(config, scope, state)`, as the full record has it."""
    return check(light(actions=lambda config, scope, state: ["next"]), [never_dark])


@slip("systems", says=("light", "actions", "coroutine|async"))
def async_actions():
    """`async def actions`."""

    async def actions(state):
        return ["next"]

    return check(light(actions=actions), [never_dark])


@slip("systems", says=("light", "actions", "async"))
def an_async_generator_of_actions():
    """`async def actions` with `yield`."""

    async def actions(state):
        yield "next"

    return check(light(actions=actions), [never_dark])


@slip("systems", says=("light|goes_on", "action|dead|never|step|offer"))
def a_system_that_does_nothing():
    """`actions` is empty everywhere, so that nothing is checked but the start; the claim is about steps."""

    @evenhand.each_step("Each step changes the light.")
    def goes_on(step):
        return step.before != step.after

    return check(light(actions=lambda state: []), [goes_on])


@slip("systems", says="name")
def a_system_without_a_name():
    """`evenhand.system(initial=…)`."""
    return check(
        evenhand.system(initial=["red"], actions=lambda state: ["next"], step=turns_green),
        [never_dark],
    )


@slip("systems", says="name")
def an_empty_name():
    """`evenhand.system("", …)`."""
    return check(light(name=""), [never_dark])


@slip("systems", says=("name", "str|text"))
def a_number_for_a_name():
    """`evenhand.system(1, …)`."""
    return check(light(name=1), [never_dark])


@slip("systems", says="never_dark", refuted=True)
def a_name_that_is_a_path():
    """`evenhand.system("../light", …)`, with refutations saved."""
    return check(light(name="../light", step=lambda state, action: "dark"), [never_dark], save="kept")


@slip("systems", says="unexpected|transitions|step")
def a_misspelt_keyword():
    """`transitions=` for `step=`."""
    return check(
        evenhand.system("light", initial=["red"], actions=lambda state: [], transitions=turns_green), [never_dark]
    )


@slip("systems", says="unexpected|init|initial")
def a_shortened_keyword():
    """`init=`, as TLA+ has `Init`."""
    return check(evenhand.system("light", init=["red"], actions=lambda state: [], step=turns_green), [never_dark])


@slip("systems", says="positional|takes|keyword")
def everything_by_position():
    """`evenhand.system("light", ["red"], actions, step)`."""
    return check(evenhand.system("light", ["red"], lambda state: [], turns_green), [never_dark])


@slip("systems", says=("light", "types", "tuple|class|type|Lamp"))
def one_type_without_a_tuple():
    """`types=Lamp`, the class and no tuple."""

    @dataclass(frozen=True)
    class Lamp:
        colour: str = "red"

    return check(light(types=Lamp, initial=[Lamp()], step=lambda state, action: state), [never_dark])


@slip("systems", says=("types|Lamp", "class|str"))
def types_by_name():
    """`types=("Lamp",)`, by name."""
    return check(light(types=("Lamp",)), [never_dark])


@slip("systems", says=("light", "progress", "call|function"))
def progress_by_name():
    """`progress="next"`, the action that counts as progress."""

    @evenhand.livelock_free("Trying is not in vain.", attempts=lambda step: True)
    def gets_on(step):
        return step.after == "green"

    return check(light(progress="next"), [gets_on])


@control("systems")
def a_tuple_of_initial_states():
    """Any collection of states will do."""
    return check(light(initial=("red", "green")), [never_dark])


@control("systems")
def initial_states_from_a_generator():
    """Also one that ends by itself."""
    return check(light(initial=(state for state in ["red", "green"])), [never_dark])


@control("systems")
def actions_from_a_generator():
    """Actions may be made one at a time."""

    def actions(state):
        yield "next"
        if state == "red":
            yield "wait"

    return check(light(actions=actions), [never_dark])


@control("systems")
def a_state_that_ends():
    """Nothing on offer in one state: the run ends there."""
    return check(light(actions=lambda state: ["next"] if state == "red" else []), [never_dark])
