"""Making a claim: decorators without their call, arguments in the wrong order, misspelt keywords, odd names."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import functools
from dataclasses import replace

from tests.slips.examples import check, light, never_dark
from tests.slips.kit import control, evenhand, slip


@slip("defining", says=("never_dark", "sentence|call"))
def always_without_its_call():
    """`@evenhand.always`, bare, as with `@pytest.fixture`: what it makes is a function, and no claim."""

    @evenhand.always
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("defining", says="sentence")
def always_with_empty_parentheses():
    """`@evenhand.always()`, without the sentence."""

    @evenhand.always()
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("defining", says=("never_dark|always", "sentence"))
def an_empty_sentence():
    """`@evenhand.always("")`: reports would show a claim that says nothing."""

    @evenhand.always("")
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("defining", says="sentence")
def a_predicate_for_a_sentence():
    """`evenhand.always(lambda state: ...)`, the predicate where the sentence goes."""
    return check(light(), [evenhand.always(lambda state: state != "dark")])


@slip("defining", says=("sentence", "str|text"))
def a_number_for_a_sentence():
    """`@evenhand.always(1)`, the number of the requirement."""

    @evenhand.always(1)
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("defining", says="positional|sentence|predicate|keyword")
def sentence_and_predicate_at_once():
    """`evenhand.always("…", predicate)`, as the two arguments of one call."""
    return check(light(), [evenhand.always("The light is never dark.", lambda state: state != "dark")])


@slip("defining", says=("each_step|goes_on", "sentence|call"))
def each_step_without_its_call():
    """`@evenhand.each_step`, bare."""

    @evenhand.each_step
    def goes_on(step):
        return step.before != step.after

    return check(light(), [goes_on])


@slip("defining", says=("is_red|reachable", "sentence|call"))
def reachable_without_its_call():
    """`@evenhand.reachable`, bare."""

    @evenhand.reachable
    def is_red(step):
        return step.after == "red"

    return check(light(), is_red)


@slip("defining", says="lambda")
def two_lambdas():
    """Two claims made of lambdas, with one name between them."""
    return check(
        light(),
        [
            evenhand.always("The light is never dark.")(lambda state: state != "dark"),
            evenhand.always("The light is never blue.")(lambda state: state != "blue"),
        ],
    )


@slip("defining", says=("never_dark|partial", "name|partial"))
def a_partial_for_a_claim():
    """`functools.partial(...)` has no name, and so the claim goes by the text of an object."""

    def never(lamp, state):
        return state != lamp

    return check(light(), [evenhand.always("The light is never dark.")(functools.partial(never, "dark"))])


@slip("defining", says=("always", "wen|when"))
def a_misspelt_antecedent():
    """`wen=` for `when=`."""

    @evenhand.always("The light is never dark.", wen=lambda config, state: state == "red")
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("defining", says=("leads_to", "trigger"))
def a_leads_to_without_trigger():
    """`@evenhand.leads_to("…")`, with the trigger forgotten."""

    @evenhand.leads_to("Red leads to green.")
    def answered(step):
        return step.after == "green"

    return check(light(), [answered])


@slip("defining", says=("leads_to", "triger|trigger"))
def a_misspelt_trigger():
    """`triger=`."""

    @evenhand.leads_to("Red leads to green.", triger=lambda step: step.after == "red")
    def answered(step):
        return step.after == "green"

    return check(light(), [answered])


@slip("defining", says=("deadlock_free", "wants"))
def a_deadlock_free_without_wants():
    """`@evenhand.deadlock_free("…")`, as other checkers have it without more."""

    @evenhand.deadlock_free("Nothing is stuck.")
    def goes_on(step):
        return step.before != step.after

    return check(light(), [goes_on])


@slip("defining", says=("two_run|twins_agree", "twins|state|config|other"))
def a_two_run_without_its_twins():
    """`@evenhand.two_run("…")`, with nothing else."""

    @evenhand.two_run("Runs agree.")
    def twins_agree(w, step, other):
        return step == other

    return check(light(), [twins_agree])


@slip("defining", says=("monitor", "update"))
def a_monitor_without_update():
    """`start=` alone."""

    @evenhand.monitor("At most one.", start=lambda config: 0)
    def few(config, n):
        return n <= 1

    return check(light(), [few])


@slip("defining", says=("always", "fairness"))
def fairness_of_an_invariant():
    """`fairness=` where it means nothing."""

    @evenhand.always("The light is never dark.", fairness=("next",))
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("defining", says=("never_dark", "other"))
def a_claim_about_another_system():
    """`systems=("other",)`: the claim says nothing of the system that is verified."""

    @evenhand.always("The light is never dark.", systems=("other",))
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("defining", says=("never_dark", "systems", "tuple|str"))
def a_system_named_without_a_tuple():
    """`systems="light_two"`, of which "light" is a part: a string is searched for it."""

    @evenhand.always("The light is never dark.", systems="light_two")
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("defining", says=("never_dark", "systems"))
def a_system_itself_in_systems():
    """`systems=(light,)`, the system and not its name."""
    system = light()

    @evenhand.always("The light is never dark.", systems=(system,))
    def never_dark(state):
        return state != "dark"

    return check(system, [never_dark])


@slip("defining", says="call|predicate|function|str")
def the_sentence_twice():
    """`evenhand.always("…")("…")`, a text where the predicate goes."""
    return check(light(), [evenhand.always("The light is never dark.")("state != 'dark'")])


@slip("defining", says=("never_dark|Always", "claim|predicate|function"))
def a_claim_of_a_claim():
    """Two decorators of evenhand on one function: the second gets a claim and no function."""

    @evenhand.each_step("Neither in a step.")
    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("defining", says="name")
def a_claim_without_a_name():
    """`name=""` in the record."""
    return check(light(), [replace(never_dark, name="")])


@slip("defining", says="outside", refuted=True)
def a_claim_whose_name_is_a_path():
    """A name that would be a file outside the folder of counterexamples."""
    dark = replace(never_dark, name="../../outside")
    return check(light(step=lambda state, action: "dark"), [dark], save="kept")


@control("defining")
def a_claim_that_names_this_system():
    """`systems` with the name of the system that is verified."""

    @evenhand.always("The light is never dark.", systems=("light", "other"))
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])
