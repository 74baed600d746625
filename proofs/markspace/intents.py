"""Words about intents on a resource: whose they are, how they are ranked, who asks for what (P32, 6.1, 9.2)."""

from __future__ import annotations

from typing import Any

from evenhand.smt.logic import Formula, Function, Relation, Sort, forall, same, variables

__all__ = [
    "AGENT",
    "INTENT",
    "a",
    "asker",
    "author",
    "b",
    "best",
    "by_confidence",
    "claims",
    "earlier",
    "i",
    "j",
    "k",
    "new",
    "ordered",
    "running",
    "surer",
    "surest",
    "yields",
]

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


def ordered(relation: Relation, one: Any, two: Any, three: Any) -> Formula:
    """A strict total order."""
    return (
        forall([one, two], relation(one, two) >> ~relation(two, one))
        & forall([one, two, three], (relation(one, two) & relation(two, three)) >> relation(one, three))
        & forall([one, two], same(one, two) | relation(one, two) | relation(two, one))
    )


def surest(one: Any, two: Any) -> Formula:
    """More confident, or as confident and earlier."""
    return surer(one, two) | (~surer(two, one) & earlier(one, two))
