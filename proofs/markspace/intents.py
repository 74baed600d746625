"""Vocabulary of intents on a resource: authors, ranking, requests (P32, 6.1, 9.2)."""

from __future__ import annotations

from typing import Any

from evenhand.model.markspace.guard import REFERENCE, step
from evenhand.model.markspace.guard_vocabulary import Act, Config, State
from evenhand.smt.logic import Formula, Function, Relation, Sort, variables

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


def after(config: Config, state: State, act: Act) -> State:
    """Return the state after an act in the reference."""
    return step(REFERENCE, config, state, act)[0]
