"""The machine's own rules, by which it goes after loops and dead ends.

A generator's rules aim at the protocol's rare events.  A claim about whole runs that is open after them is pursued in
runs of the scope by rules that know nothing of the protocol: each draws a few actions on offer and takes the one that
goes on without service, goes back to where the run has been, or leaves the fewest actions.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from hypothesis import strategies as st

from evenhand.core.ending import has_ended
from evenhand.core.generator import Draw
from evenhand.core.generator import Rule as DrawRule
from evenhand.core.system import AnyStep, AnySystem

MENU = 4_096
"""The limit of configurations, initial states or actions to draw from without a generator."""
FEW = 6
"""Actions of which a rule takes the best."""


def anything(system: AnySystem) -> DrawRule:
    """Return the rule that draws actions on offer uniformly; joint ones choice by choice: no product is listed."""
    return DrawRule(
        "anything_on_offer",
        lambda draw, config, scope, state: drawn(system, draw, config, state),
        lambda config, state: not has_ended(system, config, state),
    )


def drawn(system: AnySystem, draw: Draw, config: Any, state: Any) -> Any:
    """Return an action on offer, drawn."""
    joint = system.joint
    if joint is None:
        menu = tuple(islice(system.enabled(config, state), MENU))
        return menu[draw(st.sampled_from(range(len(menu))))]  # Hypothesis hashes what it draws from, if it is no range
    return joint.join(
        config,
        state,
        tuple(
            (agent, draw(st.sampled_from(tuple(joint.choices(config, system.scope, state, agent)))))
            for agent in joint.agents(config, state)
        ),
    )


def pursuing(
    system: AnySystem, serves: Callable[[AnyStep], bool], met: Callable[[Any], bool], known: Callable[[AnyStep], bool]
) -> tuple[DrawRule, ...]:
    """Return the machine's own rules.

    `serves` is true of a step that some claim waits for, `met` of a state that the run has met.  Each rule takes the
    action of the least rank among a few that it draws.
    """

    def rule(name: str, rank: Callable[[AnyStep], int]) -> DrawRule:
        def best(draw: Draw, config: Any, _scope: Any, state: Any) -> Any:
            few = [drawn(system, draw, config, state) for _ in range(FEW)]
            return min(few, key=lambda action: rank(system.take(config, state, action)))

        return DrawRule(name, best, lambda config, state: not has_ended(system, config, state))

    def menu(step: AnyStep) -> int:
        return sum(1 for _ in islice(system.enabled(step.config, step.after), MENU))

    return (
        anything(system),
        rule("without_service", serves),
        rule("back", lambda step: 2 * serves(step) + (not met(step.after))),
        rule("towards_the_end", menu),
        rule("new", lambda step: known(step)),
    )
