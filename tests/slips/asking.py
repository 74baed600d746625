"""Asking: what is handed to `verify` as claims and as the system, and claims that clash."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from dataclasses import replace

from tests.slips.examples import check, light, never_dark
from tests.slips.kit import control, evenhand, slip


def never_blue(state):
    """A predicate that nobody decorated."""
    return state != "blue"


@slip("asking", says="no claims|at least one|claims")
def no_claims_at_all():
    """`verify(light)`, as if a system knew its claims."""
    return check(light(), ())


@slip("asking", says="no claims|at least one")
def an_empty_list():
    """A list that a comprehension left empty."""
    return check(light(), [claim for claim in [never_dark] if claim.name.startswith("test_")])


@slip("asking", says="claims|None")
def none_for_claims():
    """`claims=None`, the result of a function without return."""
    return check(light(), None)


@slip("asking", says=("never_blue", "decorate|claim"))
def a_plain_function():
    """A predicate that was never decorated."""
    return check(light(), [never_blue])


@slip("asking", says=("never_blue", "decorate|claim"))
def a_plain_function_alone():
    """The same without a list."""
    return check(light(), never_blue)


@slip("asking", says=("claim", "never_dark|str"))
def a_string_for_claims():
    """`claims="never_dark"`, by name as on the command line."""
    return check(light(), "never_dark")


@slip("asking", says=("claim", "never_dark|str"))
def names_for_claims():
    """`claims=["never_dark"]`."""
    return check(light(), ["never_dark"])


@slip("asking", says=("claim", "never_dark|dict|str"))
def a_dict_for_claims():
    """`{"never_dark": never_dark}`, whose keys are taken."""
    return check(light(), {"never_dark": never_dark})


@slip("asking", says=("claim", "list"))
def a_list_in_a_list():
    """`[safety, liveness]`, both of them lists of claims."""
    return check(light(), [[never_dark], [replace(never_dark, name="never_again")]])


@slip("asking", says=("claim", "True|bool"))
def the_answer_for_a_claim():
    """`[never_dark.check(None, "red")]`, called where it should be named."""
    return check(light(), [never_dark.check(None, "red")])


@slip("asking", says=("claim", "class|type|Always"))
def the_class_for_a_claim():
    """`[evenhand.always]`."""
    return check(light(), [evenhand.always])


@slip("asking", says=("claim", "module|namespace"))
def a_module_for_claims():
    """A module full of claims, as pytest would collect it."""
    import sys

    return check(light(), sys.modules[__name__])


@slip("asking", says="two claims|twice|never_dark")
def two_claims_of_one_name():
    """The same name in two modules."""
    return check(light(), [never_dark, replace(never_dark, sentence="Another sentence.")])


@slip("asking", says="two claims|twice|never_dark")
def one_claim_twice():
    """The same claim in two lists that were added."""
    return check(light(), [never_dark, never_dark])


@slip("asking", says=("system", "claim|order|never_dark|list"))
def system_and_claims_exchanged():
    """`verify([never_dark], light)`, the claims first, as `given(...)(test)` would have them."""
    return check([never_dark], light())


@slip("asking", says=("system", "dict"))
def a_dict_for_a_system():
    """A dict with `initial`, `actions` and `step`."""
    return check({"initial": ["red"], "actions": lambda state: [], "step": lambda state, action: state}, [never_dark])


@slip("asking", says=("system", "function"))
def a_function_for_a_system():
    """The factory instead of what it makes: `verify(light, …)` for `verify(light(), …)`."""
    return check(light, [never_dark])


@slip("asking", says=("system", "class|type|Machine"))
def a_state_machine_of_hypothesis():
    """A RuleBasedStateMachine, as Hypothesis has them."""
    from hypothesis.stateful import RuleBasedStateMachine

    class Machine(RuleBasedStateMachine):
        pass

    return check(Machine, [never_dark])


@slip("asking", says=("system", "None"))
def none_for_a_system():
    """A factory that forgot its return."""
    return check(None, [never_dark])


@slip("asking", says=("light", "protocol|system"))
def the_name_of_a_system():
    """`verify("light", [never_dark])`: a name is a protocol's, and there is none."""
    return check("light", [never_dark])


@slip("asking", says="claims|never_dark|protocol")
def claims_of_ones_own_about_a_protocol():
    """`verify("cud", [never_dark])`: a protocol has its claims, and these would be dropped."""
    return check("cud", [never_dark], budget="quick")


@slip("asking", says="system|list")
def two_systems():
    """`verify([light(), light()], …)`, to compare two."""
    return check([light(), light(name="other")], [never_dark])


@slip("asking", says="positional|takes|argument")
def a_claim_after_the_other():
    """`verify(light, one, two)`, claims as arguments of their own."""
    return evenhand.verify(light(), never_dark, replace(never_dark, name="never_again"))


@slip("asking", says=("theorems|theorem", "proved|str|mutual"))
def a_theorem_by_name():
    """`theorems=["mutual_exclusion"]`, by name as on the command line."""
    return check(light(), [never_dark], theorems=["mutual_exclusion"])


@slip("asking", says=("generator", "strateg|Generator|rule"))
def a_strategy_for_a_generator():
    """`generator=st.integers()`, a strategy of Hypothesis."""
    from hypothesis import strategies

    return check(light(), [never_dark], generator=strategies.integers())


@slip("asking", says="save|never_dark|evenhand.json|name")
def a_refuted_claim_that_changed_its_name():
    """A saved refutation of a claim that is not asked for any more."""
    broken = light(step=lambda state, action: "dark")
    check(broken, [never_dark], save="kept")
    return check(light(), [replace(never_dark, name="always_lit")], save="kept")


@slip("asking", says=("never_dark", "two claims|twice"))
def one_name_for_two_kinds():
    """An invariant and a step claim of one name, in one list."""

    @evenhand.each_step("No step makes it dark.")
    def never_dark(step):
        return step.after != "dark"

    from tests.slips.examples import never_dark as about_states

    return check(light(), [about_states, never_dark])


@control("asking")
def one_claim_without_a_list():
    """A single claim needs no list."""
    return check(light(), never_dark)


@control("asking")
def claims_from_a_generator():
    """Any iterable of claims will do, and is read once."""
    return check(light(), (claim for claim in [never_dark]))


@control("asking")
def claims_in_a_set():
    """A set of claims."""
    return check(light(), {never_dark})
