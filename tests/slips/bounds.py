"""Bounds, budgets, seeds and where refutations are saved: numbers that are none, words that are misspelt."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.slips.examples import check, light, never_dark
from tests.slips.kit import control, evenhand, slip


def climbing(**more: Any) -> Any:
    """A count that is dark at five: a bound below that must not end in HOLDS."""
    system = evenhand.system(
        "climbing", initial=[0], actions=lambda state: ["up"], step=lambda state, action: min(state + 1, 5)
    )

    @evenhand.always("The count stays below five.")
    def below_five(state):
        return state < 5

    return check(system, [below_five], **more)


@slip("bounds", says=("max_states", "0|at least|positive"))
def no_states_at_all():
    """`max_states=0`, meant as "no bound", is taken as not given."""
    return climbing(max_states=0)


@slip("bounds", says=("max_states", "-1|at least|positive"))
def a_negative_number_of_states():
    """`max_states=-1`, for "all of them"."""
    return climbing(max_states=-1)


@slip("bounds", says=("max_states", "float|int|1000|1e"))
def a_float_for_states():
    """`max_states=1e3`, which is a float."""
    return climbing(max_states=1e3)


@slip("bounds", says=("max_states", "str|int|1000"))
def text_for_states():
    """`max_states="1000"`, straight from the environment."""
    return climbing(max_states="1000")


@slip("bounds", says=("max_states", "bool|True|int"))
def a_switch_for_states():
    """`max_states=True`, which is 1."""
    return check(light(), [never_dark], max_states=True)


@slip("bounds", says=("max_states", "bool|False|int"))
def a_switch_off_for_states():
    """`max_states=False`, for "no bound"."""
    return climbing(max_states=False)


@slip("bounds", says=("max_states", "inf|float|int"))
def infinitely_many_states():
    """`max_states=float("inf")`."""
    return check(light(), [never_dark], max_states=float("inf"))


@slip("bounds", says=("below_five|3", "max_states|bound"), sampled=True)
def too_few_states():
    """`max_states=3`, below what the system has: the search is left open."""
    return climbing(max_states=3, steps=2)


@slip("bounds", says=("below_five|2", "depth|bound"), sampled=True)
def too_small_a_depth():
    """`depth=2`, as a bounded model checker would have it."""
    return climbing(depth=2, steps=2)


@slip("bounds", says="depth|bound", sampled=True)
def no_depth_at_all():
    """`depth=0`: only the start is looked at."""
    return climbing(depth=0, steps=2)


@slip("bounds", says=("depth", "-1|at least|negative"))
def a_negative_depth():
    """`depth=-1`, for "any"."""
    return climbing(depth=-1)


@slip("bounds", says=("depth", "str|int|10"))
def text_for_a_depth():
    """`depth="10"`."""
    return climbing(depth="10")


@slip("bounds", says=("depth", "bool|True|int"))
def a_switch_for_a_depth():
    """`depth=True`, for a depth-first search."""
    return check(light(), [never_dark], depth=True)


@slip("bounds", says=("depth", "float|int"))
def half_a_depth():
    """`depth=2.5`, half of something that was divided."""
    return check(light(), [never_dark], depth=2.5)


@control("bounds")
def no_examples():
    """`examples=0` switches the drawn runs off, and the search decides."""
    return check(light(), [never_dark], examples=0)


@slip("bounds", says=("examples", "-1|at least"))
def a_negative_number_of_examples():
    """`examples=-1`."""
    return check(light(), [never_dark], examples=-1)


@slip("bounds", says=("examples", "str|int"))
def text_for_examples():
    """`examples="many"`."""
    return check(light(), [never_dark], examples="many")


@slip("bounds", says=("examples", "float|int"))
def a_float_for_examples():
    """`examples=1e2`."""
    return check(light(), [never_dark], examples=1e2)


@slip("bounds", says=("examples", "bool|int|False|True"))
def a_switch_for_examples():
    """`examples=True`, to switch the drawn runs on, draws one."""
    return check(light(), [never_dark], examples=True)


@slip("bounds", says=("steps", "0|at least"))
def no_steps():
    """`steps=0`."""
    return check(light(), [never_dark], steps=0)


@slip("bounds", says=("steps", "-1|at least"))
def a_negative_number_of_steps():
    """`steps=-1`."""
    return check(light(), [never_dark], steps=-1)


@slip("bounds", says=("steps", "list|int"))
def the_steps_themselves():
    """`steps=["next", "next"]`, the steps that were meant."""
    return check(light(), [never_dark], steps=["next", "next"])


@slip("bounds", says=("seed", "str|int"))
def a_seed_as_text():
    """`seed="x"`."""
    return check(light(), [never_dark], seed="x")


@slip("bounds", says=("seed", "None|int"))
def no_seed():
    """`seed=None`, as `random.seed` takes it."""
    return check(light(), [never_dark], seed=None)


@slip("bounds", says=("seed", "float|int"))
def a_seed_from_a_clock():
    """`seed=0.5`, what `random.random()` gave."""
    return check(light(), [never_dark], seed=0.5)


@slip("bounds", says=("seed", "bool|int|True"))
def a_switch_for_a_seed():
    """`seed=True`, to switch seeding on."""
    return check(light(), [never_dark], seed=True)


@slip("bounds", says=("budget", "qick", "quick"))
def a_misspelt_budget():
    """`budget="qick"`."""
    return check(light(), [never_dark], budget="qick")


@slip("bounds", says=("budget", "Quick|quick"))
def a_budget_with_a_capital():
    """`budget="Quick"`."""
    return check(light(), [never_dark], budget="Quick")


@slip("bounds", says=("budget", "60|int|quick"))
def a_budget_in_seconds():
    """`budget=60`, for a minute."""
    return check(light(), [never_dark], budget=60)


@slip("bounds", says=("budget", "quick"))
def an_empty_budget():
    """`budget=""`, from a variable that was not set."""
    return check(light(), [never_dark], budget="")


@slip("bounds", says=("budget", "list|quick"))
def a_list_of_budgets():
    """`budget=["quick", "deep"]`, which has no hash."""
    return check(light(), [never_dark], budget=["quick", "deep"])


@slip("bounds", says=("EVENHAND_BUDGET", "fast", "quick"))
def a_misspelt_budget_in_the_environment():
    """`EVENHAND_BUDGET=fast`."""
    before = os.environ.get("EVENHAND_BUDGET")
    os.environ["EVENHAND_BUDGET"] = "fast"
    try:
        return check(light(), [never_dark])
    finally:
        os.environ.pop("EVENHAND_BUDGET")
        if before is not None:
            os.environ["EVENHAND_BUDGET"] = before


@slip("bounds", says=("unexpected|max_state", "max_state"))
def a_misspelt_bound():
    """`max_state=3`."""
    return climbing(max_state=3)


@slip("bounds", says="max_examples|examples")
def a_bound_of_hypothesis():
    """`max_examples=50`, as Hypothesis calls it."""
    return check(light(), [never_dark], max_examples=50)


@slip("bounds", says="timeout")
def a_time_limit():
    """`timeout=10`, which there is not."""
    return check(light(), [never_dark], timeout=10)


@slip("bounds", says="bounds|max_states|dict|positional")
def bounds_in_a_dict():
    """`verify(light, claims, {"max_states": 10})`, settings as a third argument."""
    return evenhand.verify(light(), [never_dark], {"max_states": 10})


@slip("bounds", says=("kept.json", "folder|directory|Not a directory|File exists"))
def saving_to_a_file():
    """`save="kept.json"`, which is a file already."""
    Path("kept.json").write_text("{}", "utf-8")
    return check(light(step=lambda state, action: "dark"), [never_dark], save="kept.json")


@slip("bounds", says=("kept.json", "folder|directory|File exists"))
def saving_to_a_file_where_all_holds():
    """The same where nothing has to be saved today: tomorrow it would."""
    Path("kept.json").write_text("{}", "utf-8")
    return check(light(), [never_dark], save="kept.json")


@slip("bounds", says=("inside", "folder|directory|write"))
def saving_below_a_file():
    """`save="kept.json/inside"`."""
    Path("kept.json").write_text("{}", "utf-8")
    return check(light(step=lambda state, action: "dark"), [never_dark], save="kept.json/inside")


@slip("bounds", says=("save", "bool|True|folder"))
def a_switch_for_saving():
    """`save=True`."""
    return check(light(), [never_dark], save=True)


@slip("bounds", says=("save", "folder|empty"))
def saving_to_nowhere():
    """`save=""`, from a variable that was not set: the current folder, whatever that is."""
    return check(light(), [never_dark], save="")


@slip("bounds", says=("save", "folder|character|null|write|name"))
def saving_to_an_impossible_name():
    """A name with a null byte."""
    return check(light(step=lambda state, action: "dark"), [never_dark], save="kept\0")


@slip("bounds", says=("save|write", "folder|long|name"))
def saving_to_too_long_a_name():
    """A name that no file system takes."""
    return check(light(step=lambda state, action: "dark"), [never_dark], save="k" * 400)


@slip("bounds", says=("kept", "json|record|read|broken"))
def a_saved_refutation_that_was_edited():
    """Somebody cut off the end of a file in the folder."""
    broken = light(step=lambda state, action: "dark")
    check(broken, [never_dark], save="kept")
    for file in Path("kept").glob("*.json"):
        file.write_bytes(file.read_bytes()[:-40])
    return check(light(), [never_dark], save="kept")


@slip("bounds", says=("never_dark", "types|not recorded|saved|lamp"), refuted=True)
def saving_what_has_no_file_form():
    """The states are a class that `types` does not name: the refutation is shown, and cannot be saved."""
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Lamp:
        colour: str = "red"

    @evenhand.always("The light is never dark.")
    def never_dark(lamp):
        return lamp.colour != "dark"

    system = light(initial=[Lamp()], step=lambda state, action: Lamp("dark"))
    return check(system, [never_dark], save="kept")


@slip("bounds", says=("quiet", "True or False"))
def quiet_as_text():
    """`quiet="no"`, which is truthy, and silent."""
    return check(light(), [never_dark], quiet="no")


@control("bounds")
def every_bound_at_its_least():
    """One example of one step; a search with exactly as many states as there are."""
    return check(light(), [never_dark], max_states=2, examples=1, steps=1)


@control("bounds")
def a_budget_by_name():
    """A budget that there is, written as the command line has it."""
    return check(light(), [never_dark], budget="deep", steps=3)


@control("bounds")
def a_folder_that_is_not_there_yet():
    """`save` makes its folder when there is something to save."""
    return check(light(), [never_dark], save="a/b/c")
