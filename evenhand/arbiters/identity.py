"""Object identity: equal names are handed over as other objects, in each order of their addresses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.naming import Criterion, rule_that_fits
from evenhand.arbiters.plays import Play, Shown, perform
from evenhand.arbiters.question import Unable, Witness
from evenhand.arbiters.values import fresh
from evenhand.arbiters.variants import Variant, Varied, orders


class Identity(Varied):
    """Does it matter which of several equal objects a name is?"""

    name = "identity"
    sentence = "Where the names of the agents stand in memory decides nothing."
    decides = "the identity of the names' objects decides"

    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Compare with fresh objects in each order, the agents' own order first."""
        if not all(isinstance(agent, str) and len(agent) > 1 for agent in play.agents):
            raise Unable("the names of the agents are no texts of several letters, so that there is no second object")
        base = _placed(play, play.agents)
        return None if base is None else super().ask(subject, base, perform(subject, base))

    def variants(self, subject: Subject, play: Play) -> Iterator[Variant]:
        """The same names, as other objects in another order of addresses."""
        for order in orders(play.agents):
            other = _placed(play, order)
            if other is not None:
                yield Variant(
                    other, f"the names are equal objects that stand in memory in the order {', '.join(order)}"
                )
        other = play.changed(lambda choice: fresh(choice) if type(choice) is str else choice)
        yield Variant(other, "the choices are equal texts that are other objects")

    def named(self, subject: Subject, witness: Witness) -> str:
        """Return who is favoured: whose name has the smallest or the greatest address."""
        criteria: Mapping[str, Criterion] = {
            "whose name has the smallest `id`": lambda play: min(play.agents, key=id),
            "whose name has the greatest `id`": lambda play: max(play.agents, key=id),
        }
        found = ""
        if witness.other is not None:
            runs = [
                one for order in itertools.permutations(witness.play.agents) if (one := _placed(witness.play, order))
            ]
            found = rule_that_fits(subject, runs[0], lambda _: runs[1:], criteria, third=False) if runs else ""
        return f"object identity decides: the agent {found}" if found else "object identity decides"


def _placed(play: Play, order: tuple[str, ...]) -> Play | None:
    """Return the play with equal names whose addresses ascend in this order; None if memory gives none."""
    objects = [(fresh(agent), agent) for _ in range(16) for agent in order]
    found: dict[str, str] = {}
    least = -1
    for agent in order:
        later = [one for one, name in objects if name == agent and id(one) > least]
        if not later:
            return None
        found[agent] = min(later, key=id)
        least = id(found[agent])
    return replace(play.called(found), names=play.names)
