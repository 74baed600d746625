"""What a kernel may offer beyond the least: its own rule, menus that act, snapshots, strategies as choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st

import evenhand
from benchmarks.arbiters.offered import Aliased, Copied, Drawn, Loophole, Seated
from evenhand.arbiters.kernels import NotExaminable
from evenhand.core.verdict import Status
from evenhand.examination import Examination
from tests.deep import rest_deep


def examined(kernel: Callable[..., Any], **more: Any) -> Examination:
    """Examine without other processes."""
    here = type("Here", (kernel,), {"__module__": "__main__"})  # type: ignore[arg-type]
    return evenhand.examine(here, examples=5, **more)


def found(made: Examination) -> dict[str, str]:
    """Return the name of each arbiter that was found, by its question."""
    return {one.question: one.named for one in made.found}


def test_a_rule_of_its_own_is_held_against_the_kernel() -> None:
    """The third who wants it slips through; an exception in `may` is told, and is no finding."""
    assert "served', which the kernel's own rule forbids" in found(examined(Loophole))["own rule"]

    class Broken(Copied):
        def may(self, agent: str, profile: Any, outcome: str) -> bool:
            raise KeyError(agent)

    because = {one.question: one.because for one in examined(Broken, plays=12).answers}
    assert "may('ann', …, 'not served') raised KeyError" in because["own rule"]


def test_being_asked_may_not_give_a_seat() -> None:
    """The order of the questions decides, and not that of the list."""
    assert found(examined(Seated)) == {"asking order": "whoever is asked first gets 'served'"}


@pytest.mark.slow
def test_snapshots_lead_to_longer_plays() -> None:
    """All plays of three rounds hold, most of them by restoring; a snapshot that is no copy is told, and not used."""

    class Counted(Copied):
        starts: ClassVar[list[int]] = []
        restored: ClassVar[list[int]] = []

        def __init__(self, agents: list[str]) -> None:
            super().__init__(agents)
            self.starts.append(1)

        def restore(self, snapshot: set[str]) -> None:
            super().restore(snapshot)
            self.restored.append(1)

    made = examined(Counted)
    assert made.clean and "in all plays of up to 3 rounds with up to 3 agents: " in str(made), made
    assert len(Counted.restored) > len(Counted.starts)
    assert [*found(examined(Aliased))] == ["snapshot"]


def test_a_mistake_of_the_third_round_is_found_by_restoring() -> None:
    """Whoever is alone three times shuts the counter for the others, which the count alone does not show."""

    class Third(Copied):
        def __init__(self, agents: list[str]) -> None:
            super().__init__(agents)
            self.rounds: list[str] = []

        def act(self, profile: Any) -> dict[str, str]:
            self.rounds.append("".join(agent for agent in self.agents if profile.get(agent) == "want"))
            shut = self.rounds == [self.agents[0]] * 3
            return dict.fromkeys(profile, "shut" if shut else "open")

        def observe(self) -> Any:
            return len(self.rounds)

        def snapshot(self) -> Any:
            return tuple(self.rounds)

        def restore(self, snapshot: Any) -> None:
            self.rounds = list(snapshot)

    made = examined(type("Third", (Third,), {"may": None}))
    witness = {one.question: one.witness for one in made.found}["listing order"]
    assert witness is not None and len(witness.play.rounds) == 3 and len(witness.play.agents) == 2


@pytest.mark.slow
def test_strategies_are_choices() -> None:
    """Some values are tried in every small play; the finding is drawn again, so that its values are the plainest."""
    made = evenhand.examine(type("Here", (Drawn,), {"__module__": "__main__"}), examples=30)
    assert found(made) == {"listing order": "the first in `agents` gets True"}, made
    witness = made.found[0].witness
    assert witness is not None and {choice for _, choice in witness.play.rounds[0]} == {1_000_001}


def test_what_holds_of_a_strategy_says_how_many_values() -> None:
    """A rule takes a strategy too; its choices are not all there are."""
    made = evenhand.examine(evenhand.rule(len, st.text()), examples=5)
    tried = {one.question: one for one in made.answers}["delivery order"]
    assert tried.status is Status.HOLDS and not tried.complete
    assert tried.because == "all plays of up to one round with up to 3 agents, with 4 values of each strategy"


@pytest.mark.parametrize("allow", [("listing order",), ["listing order"], "listing order"])
def test_an_exception_without_a_reason_is_refused(allow: Any) -> None:
    """The message shows how to write it."""
    with pytest.raises(NotExaminable, match="gives no reasons: write allow="):
        evenhand.examine(Loophole, allow=allow)


def test_a_strategy_without_values_is_told() -> None:
    """One sentence, with the agent."""

    class Nothing(Drawn):
        def __init__(self, agents: list[str]) -> None:
            super().__init__(agents)
            self.choices = st.nothing()

    with pytest.raises(NotExaminable, match=r"choices\('ann'\) raised"):
        examined(Nothing)


@pytest.mark.slow
@pytest.mark.parametrize("least", rest_deep([2, 4]))
def test_a_kernel_that_does_not_start_for_some_agents_is_a_finding(least: int) -> None:
    """The failure is told once, of small and of drawn populations, and blamed on nothing else."""

    class Crowded(Copied):
        def __init__(self, agents: list[str]) -> None:
            if len(agents) == least:
                raise OSError(f"no room for {agents[-1]}")
            super().__init__(agents)

    made = found(examined(Crowded))
    assert "the start raised OSError: no room for" in made.pop("answers")
    assert made == found(examined(Copied))
