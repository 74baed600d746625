"""The full record, `System(...)`: configurations, scopes, rules, joint actions, quotients and the rest."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.slips.examples import check, endless
from tests.slips.kit import control, evenhand, slip


@dataclass(frozen=True)
class Config:
    """Who takes part."""

    agents: tuple[str, ...] = ("ann", "bob")


@dataclass(frozen=True)
class Rules:
    """How many may be inside."""

    most: int = 1


def step(rules: Any, config: Any, state: Any, action: Any) -> Any:
    """One of them goes in or out; what is shown says whether it was allowed."""
    if action in state:
        return state - {action}, "left"
    if len(state) >= rules.most:
        return state, "refused"
    return state | {action}, "entered"


def record(**changes: Any) -> Any:
    """A room of which one at a time may be inside, or what the user wrote instead."""
    given: dict[str, Any] = {
        "name": "room",
        "rules": Rules(),
        "configs": lambda scope, readings: (Config(),),
        "initial": lambda config: (frozenset(),),
        "step": step,
        "actions": lambda config, scope, state: config.agents,
        **changes,
    }
    return evenhand.System(**{name: value for name, value in given.items() if value is not LEFT_OUT})


LEFT_OUT = object()


@evenhand.always("At most one is inside.")
def alone(state):
    """The claim about the room."""
    return len(state) <= 1


@slip("records", says=("step", "argument|missing"))
def a_record_without_a_step():
    """Forgets `step=`."""
    return check(record(step=LEFT_OUT), [alone])


@slip("records", says=("room", "actions", "joint"))
def neither_actions_nor_joint():
    """Says nothing of what is on offer."""
    return check(record(actions=LEFT_OUT), [alone])


@slip("records", says=("room|alone", "configs|configuration"))
def no_configuration():
    """`configs` gives none for this scope."""
    return check(record(configs=lambda scope, readings: ()), [alone])


@slip("records", says=("room", "configs|configurations", "None"))
def configs_that_return_none():
    """`configs` has no return."""
    return check(record(configs=lambda scope, readings: None), [alone])


@slip("records", says=("room", "configs|configurations", "str|list|tuple"))
def configs_as_text():
    """`configs` returns one name, whose letters are taken for configurations."""
    system = record(configs=lambda scope, readings: "ab", actions=lambda config, scope, state: ("ann",))
    return check(system, [alone])


@slip("records", says=("room", "configs|configurations", "argument"))
def configs_of_one_argument():
    """`configs=lambda scope: …`."""
    return check(record(configs=lambda scope: (Config(),)), [alone])


@slip("records", says=("room", "configs|configurations", "Config|iterable"))
def one_configuration_alone():
    """`configs` returns the configuration itself."""
    return check(record(configs=lambda scope, readings: Config()), [alone])


@slip("records", says=("room", "configs|configurations", "call|function|list|tuple"))
def a_tuple_for_configs():
    """`configs=(Config(),)`, the configurations themselves."""
    return check(record(configs=(Config(),)), [alone])


@slip("records", says=("room", "config", "hash"))
def a_configuration_without_hash():
    """A configuration that is a dict."""
    system = record(
        configs=lambda scope, readings: ({"agents": ("ann",)},),
        actions=lambda config, scope, state: config["agents"],
    )
    return check(system, [alone])


@slip("records", says=("room", "configs|configuration"), seconds=20.0)
def configurations_without_end():
    """`configs` never stops."""
    return check(record(configs=lambda scope, readings: endless(lambda number: Config((str(number),)))), [alone])


@slip("records", says=("room|alone", "initial"))
def no_initial_state_of_a_configuration():
    """`initial` gives none for the only configuration."""
    return check(record(initial=lambda config: ()), [alone])


@slip("records", says=("room", "initial"))
def no_initial_state_of_one_configuration():
    """`initial` gives none for one of two configurations: that one is never looked at."""
    system = record(
        configs=lambda scope, readings: (Config(), Config(("ann",))),
        initial=lambda config: (frozenset(),) if len(config.agents) == 2 else (),
    )
    return check(system, [alone])


@slip("records", says=("room|alone", "initial"))
def one_initial_state_of_the_record():
    """`initial` returns a state that is a set itself: its members are taken for states, and there is none."""
    return check(record(initial=lambda config: frozenset()), [alone])


@slip("records", says=("room", "initial", "str"))
def initial_as_text_in_the_record():
    """`initial` returns a text, whose letters are taken for states."""
    system = record(initial=lambda config: "idle", step=lambda rules, config, state, action: (state, None))

    @evenhand.always("Idle.")
    def idle(state):
        return len(state) > 0

    return check(system, [idle])


@slip("records", says=("room", "initial", "None"))
def initial_without_return():
    """`initial` has no return."""
    return check(record(initial=lambda config: None), [alone])


@slip("records", says=("room", "initial", "KeyError"))
def initial_that_raises():
    """`initial` fails for one configuration."""
    return check(record(initial=lambda config: {}[config]), [alone])


@slip("records", says=("room", "initial", "call|function|list|tuple"))
def a_list_for_initial_in_the_record():
    """`initial=[frozenset()]`, as `evenhand.system` takes it."""
    return check(record(initial=[frozenset()]), [alone])


@slip("records", says=("room", "initial", "hash"))
def an_initial_set():
    """A start that is a plain set, which has no hash."""
    return check(record(initial=lambda config: [set()]), [alone])


@slip("records", says=("room", "step", "state, shown|pair|two|tuple"))
def a_step_without_shown():
    """The step returns the state alone."""
    return check(record(step=lambda rules, config, state, action: state | {action}), [alone])


@slip("records", says=("room", "step", "None"))
def a_step_without_return():
    """The step has no return."""
    return check(record(step=lambda rules, config, state, action: None), [alone])


@slip("records", says=("room", "step", "three|3|two|pair|state, shown|unpack"))
def a_step_of_three_results():
    """The step returns state, shown and a reward, as an environment of gym does."""
    return check(record(step=lambda rules, config, state, action: (state, "ok", 1.0)), [alone])


@slip("records", says=("room", "step", "str|pair|tuple|state, shown"))
def a_step_that_returns_two_letters():
    """The state is a text of two letters, which is taken apart into state and shown."""
    return check(record(step=lambda rules, config, state, action: "ab"), [alone])


@slip("records", says=("room", "step", "argument"))
def a_step_of_two_arguments():
    """`step(state, action)`, as `evenhand.system` takes it."""
    return check(record(step=lambda state, action: (state, None)), [alone])


@slip("records", says=("room", "actions", "argument"))
def actions_of_one_argument():
    """`actions(state)`, as `evenhand.system` takes it."""
    return check(record(actions=lambda state: ("ann",)), [alone])


@slip("records", says=("room", "actions", "str"))
def actions_as_text_in_the_record():
    """`actions` returns one name, whose letters are taken for actions."""
    return check(record(actions=lambda config, scope, state: "ann", rules=Rules(most=0)), [alone])


@slip("records", says=("room", "action", "hash"))
def actions_without_hash_in_the_record():
    """An action that is a list."""
    system = record(
        actions=lambda config, scope, state: [["ann"]], step=lambda rules, config, state, action: (state, None)
    )
    return check(system, [alone])


@slip("records", says=("room", "shown|shows", "hash"))
def a_shown_dict_in_the_record():
    """What is shown is a dict."""
    system = record(step=lambda rules, config, state, action: (state, {"who": action}))

    @evenhand.each_step("Nothing changes.")
    def nothing_changes(step):
        return step.before == step.after

    return check(system, [nothing_changes])


@slip("records", says=("room", "rules", "chang|mutat|differ|and then|determin"), refuted=True)
def rules_that_are_changed():
    """The rules are an object that the step changes."""

    class Open:
        most = 0

    def loosened(rules, config, state, action):
        rules.most += 1
        return step(rules, config, state, action)

    return check(record(rules=Open(), step=loosened), [alone])


@slip("records", says=("room", "actions|scope", "agents"))
def a_scope_without_the_size():
    """`actions` asks the scope for a size that it does not have: a KeyError inside."""
    return check(record(actions=lambda config, scope, state: config.agents[: scope["agents"]]), [alone])


@slip("records", says=("scope", "Scope|dict"))
def a_dict_for_a_scope():
    """`scope={"agents": 2}`, a plain dict, which has no hash."""
    return check(record(scope={"agents": 2}).at(agents=3), [alone])


@slip("records", says=("agents", "-1|>= 0|negative"))
def a_negative_scope():
    """`system.at(agents=-1)`."""
    return check(record(scope=evenhand.Scope(agents=2)).at(agents=-1), [alone])


@slip("records", says=("agent", "agents"))
def a_misspelt_scope():
    """`system.at(agent=3)`."""
    return check(record(scope=evenhand.Scope(agents=2)).at(agent=3), [alone])


@slip("records", says=("scope|agents", "str|integer|two"))
def a_scope_in_words():
    """`Scope(agents="two")`."""
    system = record(
        scope=evenhand.Scope(agents="two"), actions=lambda config, scope, state: config.agents[: scope["agents"]]
    )
    return check(system, [alone])


@slip("records", says=("order", "reading"))
def a_reading_that_there_is_not():
    """`system.under(order="first")`, of a system without readings."""
    return check(record().under(order="first"), [alone])


@slip("records", says="frozen|step|assign")
def a_record_that_is_changed():
    """`system.step = …`, on a frozen record."""
    system = record()
    system.step = step
    return check(system, [alone])


@slip("records", says="alone|inside", refuted=True)
def replaced_rules():
    """`dataclasses.replace(system, rules=…)` with rules that let both in: what is refuted is these rules."""
    return check(replace(record(), rules=Rules(most=2)), [alone])


@slip("records", says=("replace|unexpected", "stepp"))
def a_misspelt_field():
    """`System(stepp=…)`."""
    return check(record(stepp=step), [alone])


@control("records")
def the_record_as_it_should_be():
    """Every part in order."""
    return check(record(), [alone])


@control("records")
def states_that_are_pairs_in_the_record():
    """State and shown, where the state is a pair itself."""
    system = record(
        initial=lambda config: ((0, 0),), step=lambda rules, config, state, action: ((state[1], 1 - state[0]), "moved")
    )

    @evenhand.always("Small numbers.")
    def small(state):
        return max(state) <= 1

    return check(system, [small])
