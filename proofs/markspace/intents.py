"""Words about intents on a resource: whose they are, how they are ranked, who asks for what (P32, 6.1, 9.2)."""

from __future__ import annotations

from typing import Any

from evenhand.model.markspace.guard import REFERENCE, step
from evenhand.model.markspace.guard_vocabulary import Act, Config, State
from evenhand.smt.logic import Formula, Function, Relation, Sort, variables

AGENT, INTENT = Sort("Agent"), Sort("Intent")
a, b = variables(AGENT, "a b")
i, j, k = variables(INTENT, "i j k")

author = Function("author", (INTENT,), AGENT)
asker = Function("asker", (), AGENT)
new = Function("new", (), INTENT)
"""The intent that the asker has just written."""
best = Function("best", (), INTENT)
"""The one that the policy puts first, before anybody asks whether it wins."""
claims = Relation("claims", (AGENT,))
running = Relation("running", (AGENT,))
"""Whose tool is running there: no mark says so, and a mutant goes by it."""
earlier, surer = (Relation(name, (INTENT, INTENT)) for name in ("earlier", "surer"))
by_confidence, yields = (Relation(name, ()) for name in ("by_confidence", "yields"))
"""Which policy a deployment has, FIRST_WRITER where it is neither."""


def surest(one: Any, two: Any) -> Formula:
    """More confident, or as confident and earlier."""
    return surer(one, two) | (~surer(two, one) & earlier(one, two))


def after(config: Config, state: State, act: Act) -> State:
    """The state that an act leads to in the reference."""
    return step(REFERENCE, config, state, act)[0]
