"""Intents on a resource: the vocabulary of authors, ranking and requests (P32, 6.1, 9.2), and ways to such states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from evenhand.core.trace import AnyScenario
from evenhand.model.markspace.guard import REFERENCE, initial, step
from evenhand.model.markspace.guard_systems import agent_names
from evenhand.model.markspace.guard_vocabulary import IDLE, Act, Config, Policy, State, What
from evenhand.model.markspace.readings import Readings
from evenhand.smt.ends import ways
from evenhand.smt.logic import Formula, Function, Relation, Sort, variables
from evenhand.smt.tables import line

AGENT, INTENT = Sort("Agent"), Sort("Intent")
a, b, c = variables(AGENT, "a b c")
i, j, k = variables(INTENT, "i j k")

author = Function("author", (INTENT,), AGENT)
asker = Function("asker", (), AGENT)
new = Function("new", (), INTENT)
"""The intent that the asker has just written."""
best = Function("best", (), INTENT)
"""The intent that the policy ranks first, whether or not it wins."""
claims = Relation("claims", (AGENT,))
holder = Function("holder", (), AGENT)
claimed = Relation("claimed", ())
"""An action stands there; it is then the holder's."""
running = Relation("running", (AGENT,))
"""The agent whose tool is running there: no mark says so, and a mutant depends on it."""
earlier, surer = (Relation(name, (INTENT, INTENT)) for name in ("earlier", "surer"))
named_before = Relation("named_before", (AGENT, AGENT))
"""The order of names, in which the agents are listed: mutants depend on it."""
by_confidence, yields, deferred = (Relation(name, ()) for name in ("by_confidence", "yields", "deferred"))
"""The policy of a deployment; FIRST_WRITER where it is neither.  Whether its scope defers."""
asked_before = Relation("asked_before", ())
"""The asker had an intent there already, which this one replaces."""


def surest(one: Any, two: Any) -> Formula:
    """Return that the first is more confident, or as confident and earlier."""
    return surer(one, two) | (~surer(two, one) & earlier(one, two))


# Conformance.

ROOM = "room_1"


def called(agent: str) -> str:
    """Return the name of an agent's intent."""
    return f"intent:{agent}"


def listed(intents: Sequence[tuple[str, int]]) -> tuple[list[str], dict[str, Any]]:
    """Return intents, each an agent with its confidence, in the order of their ranks, and what is told of them."""
    levels = {called(agent): level for agent, level in intents}
    names = list(levels)
    told = {
        "earlier": line(names),
        "surer": [(x, y) for x in names for y in names if levels[x] > levels[y]],
        "author": {called(agent): agent for agent, _ in intents},
    }
    return names, told


@cache
def ways_of(agents: int, policy: Policy, deferred: bool, most: int) -> Mapping[State, AnyScenario]:
    """Return the first states of the reference, breadth first, each with a way there; where all wait no time passes."""
    config = Config(agent_names(agents), (ROOM,), policy, 1, Readings(), deferred=deferred)
    levels = (0, 1) if policy is Policy.HIGHEST_CONFIDENCE else (0,)

    def acts(state: State) -> Iterator[Act]:
        for agent, doing in zip(config.agents, state.doing, strict=True):
            idle = [Act(What.PRE, agent, ROOM, sure) for sure in levels]
            busy = [Act(what, agent, ROOM) for what in (What.CALL, What.POST)]
            yield from (*(idle if doing == IDLE else busy), Act(What.BOUNDARY, resource=ROOM))
            yield from () if deferred else (Act(What.TICK),)

    return ways(config, initial(config)[0], acts, partial(_after, config), most)


def _after(config: Config, state: State, act: Act) -> State:
    return step(REFERENCE, config, state, act)[0]
