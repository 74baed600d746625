"""Joint actions and what allows an action, in the full record."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from typing import Any

from tests.slips.examples import check
from tests.slips.kit import control, evenhand, slip
from tests.slips.records import LEFT_OUT, alone, record, step


@slip("joint", says=("room", "joint|choices|split|Joint"))
def a_joint_action_in_a_dict():
    """`joint={…}`, without the record."""
    return check(record(actions=LEFT_OUT, joint={"agents": lambda config, state: config.agents}), [alone])


def joint(**changes: Any) -> Any:
    """Both choose at once, or what the user wrote instead."""
    from evenhand.core.system import Joint

    given: dict[str, Any] = {
        "agents": lambda config, state: config.agents,
        "choices": lambda config, scope, state, agent: ("stay", "move"),
        "join": lambda config, state, made: made,
        "split": lambda action: action,
        **changes,
    }

    def both(rules, config, state, action):
        for agent, choice in action:
            if choice == "move":
                state, _ = step(rules, config, state, agent)
        return state, None

    return record(actions=LEFT_OUT, joint=Joint(**given), step=both)


@slip("joint", says=("room", "step of action", "stay"))
def a_join_that_forgets():
    """`join` drops who chose what: two joint actions become one, and `split` cannot take it apart."""
    return check(joint(join=lambda config, state, made: tuple(choice for _, choice in made)), [alone])


@slip("joint", says=("room", "choices", "None|str"))
def choices_without_return():
    """`choices` has no return for one of the agents."""
    return check(joint(choices=lambda config, scope, state, agent: ("move",) if agent == "ann" else None), [alone])


@slip("joint", says=("room", "choices", "str"))
def choices_as_text():
    """`choices` returns one word, whose letters are taken for choices."""
    return check(joint(choices=lambda config, scope, state, agent: "move"), [alone])


@slip("joint", says=("room|moves", "choices|bob|no step"))
def nobody_has_a_choice():
    """One agent has no choice in some state, so the whole product is empty: nobody can act any more."""

    @evenhand.each_step("Who moves moves.", when=lambda step: ("ann", "move") in step.action)
    def moves(step):
        return step.before != step.after

    return check(joint(choices=lambda config, scope, state, agent: ("move",) if agent == "ann" else ()), [moves])


@slip("joint", says=("room", "agents", "str|tuple|split"))
def one_agent_as_text():
    """`agents` returns "ann", whose letters are taken for agents."""
    return check(joint(agents=lambda config, state: "ann"), [alone])


@slip("joint", says=("room|gets_in", "allows|menu|offer"))
def allows_that_allows_too_little():
    """`allows` refuses what `actions` offers: one of them is wrong."""

    @evenhand.reachable("Somebody can get in.")
    def gets_in(step):
        return step.shown == "entered"

    return check(record(allows=lambda config, state, action: False), [gets_in])


@slip("joint", says=("room|gets_in", "allows", "None|bool"))
def allows_without_return():
    """`allows` has no return."""

    @evenhand.reachable("Somebody can get in.")
    def gets_in(step):
        return step.shown == "entered"

    return check(record(allows=lambda config, state, action: None), [gets_in])


@control("joint")
def a_joint_action_as_it_should_be():
    """Both choose at once."""
    return check(joint(), [alone])
