"""What HOLDS is about where there are more small plays than are tried, and in which order plays are tried."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.core.verdict import Status
from evenhand.examination import Examination, examine

ROOT = Path(__file__).parents[3]


class Wide:
    """Nobody wins; each of two agents has many choices."""

    many = 20

    def __init__(self) -> None:
        self.agents, self.past = ["ann", "bob"], 0
        self.choices = list(range(self.many))

    def act(self, profile: dict[str, int]) -> dict[str, str]:
        """Answer everybody alike."""
        self.past += 1
        return dict.fromkeys(profile, "no")

    def observe(self) -> int:
        """Return how often it was asked."""
        return self.past


def statuses(made: Examination) -> dict[str, Status]:
    """Return the status of each question."""
    return {one.question: one.status for one in made.answers}


def test_what_was_tried_in_part_says_so() -> None:
    """All 400 plays of one round hold; history needs two rounds, of which not all were tried, and is left open."""
    made = examine(type("Here", (Wide,), {"__module__": "__main__"}), examples=1)
    found = {one.question: one for one in made.answers}
    assert found["delivery order"].status is Status.HOLDS and not found["delivery order"].complete
    assert "- decides nothing in all plays of up to one round with up to 2 agents: " in str(made)
    assert found["history"].status is Status.UNDECIDED and made.open == (found["history"],) and not made.clean
    assert found["history"].because == "there are more than 3,000 plays of 2 rounds; raise the limit of plays"


def test_more_plays_can_be_tried() -> None:
    """Six choices: 36 plays of one round and 1,296 of two; the limit that is raised decides history."""
    kernel = type("Here", (Wide,), {"__module__": "__main__", "many": 6})
    few, many = (examine(kernel, plays=plays, examples=1) for plays in (1_331, 1_332))
    assert statuses(few)["history"] is Status.UNDECIDED and not few.clean
    assert statuses(many)["history"] is Status.HOLDS and many.clean
    assert "- decides nothing in all plays of up to 2 rounds with up to 2 agents: " in str(many)


def test_each_size_has_the_rounds_that_were_tried_whole() -> None:
    """Of three choices: 9 plays of two agents, 27 of three, then 81 of two agents and two rounds."""

    class Few(Wide):
        many = 3

        def __init__(self, agents: list[str]) -> None:
            super().__init__()
            self.agents = agents

    Few.__module__ = "__main__"
    scope = " in all plays of up to one round with up to 3 agents and of up to 2 rounds with up to 2 agents: "
    assert scope in str(examine(Few, plays=9 + 27 + 81, examples=1))


def test_where_no_length_was_tried_nothing_holds() -> None:
    """3,136 plays of one round are too many."""
    made = examine(type("Here", (Wide,), {"__module__": "__main__", "many": 56}), examples=1)
    assert statuses(made)["delivery order"] is Status.UNDECIDED


def test_a_rule_has_one_round() -> None:
    """All its small plays are tried: 49 of two agents and 343 of three."""

    def voters(votes: Mapping[str, int]) -> int:
        return len(votes)

    made = examine(evenhand.rule(voters, range(7)), examples=1)
    tried = {one.question: one for one in made.answers}["delivery order"]
    assert tried.complete and tried.plays == 49 + 343 + tried.drawn


@pytest.mark.slow
def test_a_menu_that_is_a_set_gives_the_same_report() -> None:
    """Whatever the hash seed: the play that is shown does not depend on it."""
    code = (
        "import evenhand\n"
        "class Desk:\n"
        "    def __init__(self, agents):\n"
        "        self.agents, self.choices = agents, {'ask', 'beg', 'pass', 'wait'}\n"
        "    def act(self, profile):\n"
        "        asking = [agent for agent in self.agents if profile.get(agent) != 'pass']\n"
        "        return {agent: agent in asking[:1] for agent in profile}\n"
        "print(evenhand.examine(Desk, examples=1))\n"
    )

    def printed(seed: str) -> Any:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT).stdout

    first, *others = map(printed, "123")
    assert "the first in `agents`" in first and others == [first, first]


def test_a_population_without_choices_is_not_asked() -> None:
    """Larger elections than the kernel serves are drawn too, and have no play."""

    class Small(Wide):
        many = 2

        def __init__(self, agents: list[str]) -> None:
            super().__init__()
            self.agents = agents
            self.choices = [0, 1] if len(agents) < 4 else []

    Small.__module__ = "__main__"
    assert examine(Small, examples=20).clean
