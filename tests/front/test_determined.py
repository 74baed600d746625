"""`explore --determined` on the command line: the answer, its scope, a step that no claim refutes, and mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from evenhand.core.kinds import Property
from evenhand.core.property import each_step
from evenhand.core.system import AnyStep, Scope, Step
from evenhand.core.verdict import Status
from evenhand.studies.determining import looked_at
from tests.front.conftest import Command
from tests.front.plugins.toylatch import LATCH, REFERENCE, Act, Config, State

CLOCK = ("explore", "markspace", "--system", "clock", "--part", "1/3", "--determined", "5")


def test_claims_that_leave_something_open_are_shown_a_step_that_they_miss(cli: Command) -> None:
    """By hand: three states of two agents with four actions each; the claims say little of what follows."""
    answer = cli("explore", "latch", "--determined", "1000", "--json")
    found = answer.json
    assert answer.code == 1
    assert (found["status"], found["steps"], found["complete"], found["claims"]) == ("REFUTED", 12, True, 3)
    assert found["left_open"] == ["after.inside", "shown"]
    assert found["needed"] is None
    shown = found["rival"]["shown"]
    assert shown["reference"] != shown["rival"]
    text = cli("explore", "latch", "--determined", "1000").out
    assert "REFUTED: left open: after.inside, shown" in text and "no claim is false of the rival" in text


def test_claims_that_fix_a_step_are_told_with_their_scope(cli: Command) -> None:
    """One claim alone says how the instants of a clock change."""
    answer = cli(*CLOCK, "--claim", "instants_change_as_asked", "--json")
    found = answer.json
    assert answer.code == 0
    assert (found["status"], found["configs"], found["steps"], found["walked"]) == ("HOLDS", 1, 5, 1000)
    assert not found["complete"] and found["needed"] == ["instants_change_as_asked"]
    text = cli(*CLOCK, "--claim", "instants_change_as_asked").out
    assert "5 steps of 1 configuration looked at, of 1000 walked" in text and "HOLDS:" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--max-states", "9"), "looks at single steps; leave --max-states out"),
        (("--symmetry", "--depth", "2"), "leave --depth, --symmetry out"),
        (("--claim", "somebody_enters"), "somebody_enters: not expected to hold of latch"),
    ],
)
def test_options_of_a_search_are_refused(cli: Command, words: tuple[str, ...], said: str) -> None:
    """They would be ignored."""
    answer = cli("explore", "latch", "--determined", "9", *words)
    assert answer.code == 2 and said in answer.err


@each_step("A taken latch has one holder more, who asked; otherwise nobody enters.")
def holders_change(step: Step[Config, State, Act, str]) -> bool:
    """What follows."""
    act, before = step.action, step.before.inside
    due = before + ((act.agent,) if step.shown == "taken" else ())
    return step.after.inside == tuple(one for one in due if act.verb == "take" or one != act.agent)


@each_step("Leaving is told as left, taking as taken exactly if nobody holds the latch.")
def told(step: Step[Config, State, Act, str]) -> bool:
    """What is shown."""
    if step.action.verb == "leave":
        return step.shown == "left"
    return step.shown == ("refused" if step.before.inside else "taken")


@each_step("Whoever is told has a name.")
def raises(step: AnyStep) -> bool:
    """Raises where a step shows something else than the reference."""
    if told.at(step.config, None, step) is False:
        raise LookupError("no such word")
    return True


def _status(*claims: Property) -> tuple[Status, tuple[str, ...]]:
    found = looked_at(LATCH, claims, LATCH.all_configs(), 1_000, needs=True)
    return found.status, found.needed


def test_the_verdict_by_hand() -> None:
    """Both claims fix every step, neither alone does; a claim that raises decides nothing."""
    assert _status(holders_change, told) == (Status.HOLDS, ("holders_change", "told"))
    assert _status(holders_change)[0] is Status.REFUTED
    assert _status(told)[0] is Status.REFUTED
    assert _status(holders_change, raises)[0] is Status.UNDECIDED
    assert _status()[0] is Status.REFUTED


def _nothing(_config: Config, _scope: Scope, _state: State) -> Iterator[Act]:
    return iter(())


def test_a_system_without_steps_is_undecided() -> None:
    """Nothing was looked at."""
    still = replace(LATCH, rules=REFERENCE, actions=_nothing)
    found = looked_at(still, (holders_change, told), still.all_configs(), 9, needs=False)
    assert (found.steps, found.status) == (0, Status.UNDECIDED)
