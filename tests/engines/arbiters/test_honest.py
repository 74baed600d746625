"""Honest kernels that look suspicious have no finding: a draw that says so, a rotation, `cud`'s reference."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from evenhand.core.atoms import Atom
from evenhand.core.verdict import Status
from evenhand.examination import Examination, examine
from evenhand.model.cud.free_system import agents, initial, step
from evenhand.model.cud.kernel import REFERENCE
from evenhand.model.cud.layouts import start_world
from evenhand.model.cud.strategies import covering
from evenhand.model.cud.vocabulary import OPERATIONS, READ, WRITE, Choice, Config, Epoch, Request, allow
from tests.engines.arbiters.kernels import Desk

KEY = "resource_A"


class FairDraw(Desk):
    """Ties are drawn, each agent as likely as another, and no seed can be set."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        return random.choice(asking) if asking else None


class Rotation(Desk):
    """Who was served longest ago goes first, which everybody sees; of several who are equal, nobody is served."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__(agents)
        self.served = dict.fromkeys(agents, 0)
        self.round = 0

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        self.round += 1
        longest = [agent for agent in asking if self.served[agent] == min(self.served[one] for one in asking)]
        won = super().winner(longest)
        self.served |= {won: self.round} if won else {}
        return won

    def observe(self) -> tuple[dict[str, int], int]:
        """Show when each was served, and the round."""
        return dict(self.served), self.round


class PartialRotation(Rotation):
    """The planted fault: of several who were served equally long ago, the one listed first goes first."""

    def winner(self, asking: list[str]) -> str | None:
        """See `Desk`."""
        order = sorted(asking, key=lambda agent: (self.served[agent], self.agents.index(agent)))
        return super().winner(order[:1])


class Cud:
    """The reference kernel of `cud`: every agent may read and write one key."""

    def __init__(self, agents: list[str]) -> None:
        self.agents = agents
        self.choices = (READ, WRITE)
        names = tuple(sorted(agents))
        held = tuple(allow(n, agent, *((KEY, op) for op in OPERATIONS)) for n, agent in enumerate(names, 1))
        self.config = Config(names, start_world((KEY,), Atom("int", "0")), held)
        self.state = initial(self.config)[0]

    def act(self, profile: Mapping[str, str]) -> dict[str, str]:
        """Run one epoch, the requests in the order in which they come; NO_ACTION is nobody's outcome."""
        made = tuple((agent, self.request(agent, operation)) for agent, operation in profile.items())
        self.state, shown = step(REFERENCE, self.config, self.state, Epoch(made))
        return {agent: token for agent, token in shown.tokens if agent in profile}

    def request(self, agent: str, operation: str) -> Choice:
        """Return the request with the authority that covers it."""
        delta = ((KEY, Atom("int", "1")),) if operation == WRITE else ()
        return Choice(Request(operation, (KEY,), delta, covering(self.config.authorities, agent, (KEY,), operation)))

    def observe(self) -> tuple[Any, ...]:
        """Show the world, the agents in the run, and the counter for livelocks."""
        return str(self.state.world), frozenset(agents(self.config, self.state)), self.state.counter


class SortedCud(Cud):
    """The planted fault: only the first request in the order of the names is submitted."""

    def act(self, profile: Mapping[str, str]) -> dict[str, str]:
        """See `Cud`."""
        first = min(profile)
        return {**dict.fromkeys(profile, "NONE"), **super().act({first: profile[first]})}


def examined(kernel: Callable[..., Any], **more: Any) -> Examination:
    """Examine without other processes, which take seconds to start."""
    here = type(kernel.__name__, (kernel,), {"__module__": "__main__"})  # type: ignore[arg-type]
    return examine(here, examples=5, seconds=240, **more)


@pytest.mark.parametrize("kernel", [Rotation, Cud], ids=lambda kernel: str(kernel.__name__))
def test_honest_kernels_have_no_finding(kernel: Callable[..., Any]) -> None:
    """The questions about order and names are answered, and nothing decides."""
    found = examined(kernel)
    assert found.clean, found
    held = {one.question for one in found.answers if one.status is Status.HOLDS}
    assert held >= {"listing order", "delivery order", "names", "history", "exchange"}, found


def test_a_draw_that_says_so_is_no_finding() -> None:
    """The draw is told with its shares; without its sentence it is a finding."""
    assert [one.question for one in examined(FairDraw).found] == ["repetition"]
    found = examined(FairDraw, allow={"repetition": "ties are drawn, each agent as likely as another"})
    assert found.clean, found
    assert "random: " in str(found)


def test_faults_in_honest_kernels_are_found() -> None:
    """The same kernels with a hidden favour are not clean."""
    assert [one.question for one in examined(PartialRotation).found] == ["listing order"]
    assert [one.question for one in examined(SortedCud).found] == ["names"]
