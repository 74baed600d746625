"""What a step returns: nothing, several states, a pair that is guessed to be a state and what it shows."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from typing import NamedTuple

from tests.slips.examples import check, light, never_dark, turns_green
from tests.slips.kit import control, evenhand, slip


@evenhand.always("The state is a whole word.")
def a_word(state):
    """Of more than one letter, whatever it is."""
    return len(state) > 1


@slip("stepping", says=("light", "step", "None"))
def a_step_that_forgets_its_return():
    """`step` has no return: the next state is None, and None is never dark."""

    def step(state, action):
        _ = "dark"

    return check(light(step=step), [never_dark])


@slip("stepping", says=("light", "step", "None"))
def a_step_that_returns_in_one_branch():
    """A disabled action falls through to None."""

    def step(state, action):
        if state == "red":
            return "green"

    return check(light(step=step), [never_dark])


@slip("stepping", says=("light", "step", "argument"))
def a_step_of_one_argument():
    """`step(state)`, as there is one action only."""
    return check(light(step=lambda state: "red"), [never_dark])


@slip("stepping", says=("light", "step", "argument"))
def a_step_of_the_full_record():
    """`step(rules, config, state, action)`, as the full record has it."""
    return check(light(step=lambda rules, config, state, action: (state, None)), [never_dark])


@slip("stepping", says=("light", "step", "order|argument|action"), refuted=True)
def a_step_the_other_way_round():
    """`step(action, state)`, as a reducer of another library has it."""
    return check(light(step=lambda action, state: {"red": "green"}.get(state, "dark")), [never_dark])


@slip("stepping", says=("light", "step", "function|call"))
def a_dict_for_a_step():
    """`step={"red": "green"}`, the table itself."""
    return check(light(step={"red": "green", "green": "red"}), [never_dark])


@slip("stepping", says=("light", "step", "list|successors"))
def a_step_that_returns_all_successors():
    """`step` returns a list of next states, as a relation would."""
    return check(light(step=lambda state, action: ["red", "green"]), [never_dark])


@slip("stepping", says=("light", "step", "set|hash|successors"))
def a_step_that_returns_a_set():
    """The same as a set."""
    return check(light(step=lambda state, action: {"red", "dark"}), [never_dark])


@slip("stepping", says=("light", "step", "action|order|shows|pair"), refuted=True)
def a_step_that_returns_shown_first():
    """`return "switched", state`: what is shown is taken for the state."""
    return check(
        light(initial=[0], step=lambda state, action: ("switched", min(state + 1, 2))),
        [evenhand.always("It is a number.")(a_number)],
    )


def a_number(state):
    """A state is a number."""
    return isinstance(state, int)


@slip("stepping", says=("grid", "shows|pair"), refuted=True)
def a_state_that_becomes_a_pair():
    """A state is a pair only after the first step: the pair is guessed to be (state, shown)."""

    @evenhand.always("Nobody is at 3.")
    def nobody_at_3(state):
        return 3 not in (state if isinstance(state, tuple) else ())

    system = evenhand.system("grid", initial=["start"], actions=lambda state: ["go"], step=lambda state, action: (1, 3))
    return check(system, [nobody_at_3])


@slip("stepping", says=("grid", "shows|pair"))
def a_named_tuple_and_a_pair():
    """The start is a NamedTuple, the step returns a plain pair for it: the second half is taken for what it shows."""

    class Cell(NamedTuple):
        row: int
        column: int

    @evenhand.always("Nobody is in column 3.")
    def nobody_in_column_3(state):
        return not isinstance(state, tuple) or state[1] != 3

    system = evenhand.system(
        "grid", initial=[Cell(0, 0)], actions=lambda state: ["go"], step=lambda state, action: (1, 3)
    )
    return check(system, [nobody_in_column_3])


@slip("stepping", says=("grid", "shows|pair"), refuted=True)
def a_shown_value_with_tuple_states():
    """`return (row, column), "moved"` where states are pairs: the two together are taken for the state."""

    @evenhand.always("A row is a number.")
    def a_row_is_a_number(state):
        return isinstance(state[0], int)

    system = evenhand.system(
        "grid", initial=[(0, 0)], actions=lambda state: ["go"], step=lambda state, action: ((1, 3), "moved")
    )
    return check(system, [a_row_is_a_number])


@slip("stepping", says=("light", "shows"))
def shows_without_a_pair():
    """`shows=True`, and the step returns the state alone."""
    return check(light(shows=True), [never_dark])


@slip("stepping", says=("light", "shows", "two|pair|new state"))
def shows_with_two_letters():
    """`shows=True`, and the state is a text of two letters."""
    return check(light(shows=True, step=lambda state, action: "ab"), [never_dark])


@slip("stepping", says=("light", "shows", "bool|True"))
def shows_as_text():
    """`shows="never"`, which is truthy."""
    return check(light(shows="never", step=lambda state, action: (state, None)), [never_dark])


@slip("stepping", says=("light", "shown|shows", "hash|pair|True"))
def a_shown_list():
    """What is shown is a list, which has no hash."""
    return check(light(step=lambda state, action: (state, ["switched"])), [never_dark])


@control("stepping")
def a_step_that_shows():
    """State and shown, with `shows=True`."""
    return check(light(shows=True, step=lambda state, action: (turns_green(state, action), "switched")), [never_dark])


@control("stepping")
def pairs_as_states():
    """States that are pairs from the start."""
    system = evenhand.system(
        "grid",
        initial=[(0, 0)],
        actions=lambda state: ["right", "down"],
        step=lambda state, action: (state[1] % 3, state[0] % 3 + (action == "down")),
    )

    @evenhand.always("Nobody leaves the grid.")
    def on_the_grid(state):
        return max(state) <= 3

    return check(system, [on_the_grid])


@control("stepping")
def words_as_states():
    """Texts of two letters are states."""
    return check(light(initial=["on"], step=lambda state, action: "of" if state == "on" else "on"), [a_word])
