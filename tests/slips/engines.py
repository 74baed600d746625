"""The engines by themselves: `explore`, `fuzz` and `replay`, without `verify` around them."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from dataclasses import replace

from tests.slips.examples import breakable, light, never_dark
from tests.slips.kit import control, evenhand, slip

LAMPS: dict[str, str] = {}
"""A table that lacks every entry."""


@evenhand.always("The light is never dark, as a generator.")
def a_generator(state):
    """A claim that forgets `all( )`."""
    return (state != "dark" for _ in [0])


@slip("engines", says=("a_generator", "generator"))
def exploring_a_generator():
    """`explore` with a claim that answers with a generator."""
    return evenhand.explore(breakable(), [a_generator])


@control("engines")
def exploring_one_claim_without_a_list():
    """`explore(system, never_dark)`, as `verify` takes it."""
    return evenhand.explore(light(), never_dark)


@slip("engines", says=("claim", "function|decorate"))
def exploring_a_plain_function():
    """`explore(system, [predicate])`, never decorated."""
    return evenhand.explore(breakable(), [lambda state: state != "dark"])


@slip("engines", says=("never_dark", "two|twice"))
def exploring_two_of_one_name():
    """Two claims of one name."""
    return evenhand.explore(light(), [never_dark, replace(never_dark, sentence="Again.")])


@slip("engines", says=("never_dark", "other|light|speak"))
def exploring_what_is_about_another_system():
    """`explore` with a claim of `systems=("other",)`."""
    return evenhand.explore(light(), [replace(never_dark, systems=("other",))])


@slip("engines", says="system|list|dict")
def exploring_a_list():
    """`explore([system], …)`."""
    return evenhand.explore([light()], [never_dark])


@slip("engines", says=("max_states", "0|at least"))
def exploring_no_states():
    """`max_states=0`."""
    return evenhand.explore(light(), [never_dark], max_states=0)


@slip("engines", says=("max_states", "bool|int"))
def exploring_with_a_switch():
    """`max_states=True`, which is one state."""
    return evenhand.explore(light(initial=["red"], actions=lambda state: []), [never_dark], max_states=True)


@slip("engines", says=("max_states", "str|int"))
def exploring_with_text():
    """`max_states="all"`."""
    return evenhand.explore(light(), [never_dark], max_states="all")


@slip("engines", says=("never_dark", "max_states|bound"))
def exploring_too_few_states():
    """`max_states=1`: the search is left open, and the verdict with it."""
    return evenhand.explore(light(), [never_dark], max_states=1)


@slip("engines", says=("method", "7|0 to 3|there is"))
def a_tier_that_there_is_not():
    """`method=7`."""
    return evenhand.explore(light(), [never_dark], method=7)


@slip("engines", says=("method", "str|0|fast|number"))
def a_tier_by_name():
    """`method="fast"`."""
    return evenhand.explore(light(), [never_dark], method="fast")


@slip("engines", says=("jobs", "0|at least"))
def no_jobs():
    """`jobs=0`, for "as many as there are cores"."""
    return evenhand.explore(light(), [never_dark], jobs=0)


@slip("engines", says=("jobs", "auto|int|str|number"))
def jobs_by_name():
    """`jobs="auto"`, as pytest-xdist takes it."""
    return evenhand.explore(light(), [never_dark], jobs="auto")


@slip("engines", says=("quotient", "mirror", "none|there is"))
def a_quotient_that_there_is_not():
    """`quotient="mirror"`, of a system without one."""
    return evenhand.explore(light(), [never_dark], quotient="mirror")


@slip("engines", says=("licence", "str|Licence"))
def a_licence_by_name():
    """`licence="equivariance"`, the name of the theorem."""
    return evenhand.explore(light(), [never_dark], licence="equivariance")


@slip("engines", says=("part", "k|n|1|9"))
def a_part_beyond_the_whole():
    """`part=(9, 4)`."""
    return evenhand.explore(light(), [never_dark], part=(9, 4))


@slip("engines", says=("part", "1/2|pair|str|tuple"))
def a_part_as_text():
    """`part="1/2"`, as on the command line."""
    return evenhand.explore(light(), [never_dark], part="1/2")


@slip("engines", says=("never_dark", "config|applies|none"))
def exploring_no_configurations():
    """`configs=[]`, what a filter left."""
    return evenhand.explore(light(), [never_dark], configs=[])


@slip("engines", says=("max_memory", "str|int|bytes"))
def memory_in_words():
    """`max_memory="2GB"`."""
    return evenhand.explore(light(), [never_dark], max_memory="2GB")


@slip("engines", says=("spill", "max_memory|folder|Folder"))
def spilling_to_a_path():
    """`spill="folder"`, a path and no Folder, and without `max_memory`."""
    return evenhand.explore(light(), [never_dark], spill="folder")


@control("engines")
def exploring_as_one_should():
    """`explore` of what holds."""
    return evenhand.explore(light(), [never_dark])
