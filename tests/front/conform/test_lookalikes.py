"""Mutants that look like a kernel which shows only a part, or speaks in words of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from evenhand.conform.adapters.model import variant
from evenhand.conform.checking.claims import Judge
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.defects import Defects
from evenhand.conform.checking.divergence import Examiner
from evenhand.conform.checking.lookalikes import Lookalikes
from evenhand.conform.checking.loop import EXHAUSTIVE, SEPARATING, CheckEffort, SystemChecked, check_system
from evenhand.core.codec import encode
from evenhand.core.registry import find
from evenhand.core.system import Mutant
from evenhand.core.trace import Scenario
from evenhand.jobs.fixtures import fixtures_of
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small

HIDDEN = ("log", "receipts", "dropped", "rejected")


class Partial:
    """A mutant that keeps a part of what it shows to itself."""

    def __init__(self, name: str, hidden: Sequence[str], initial: Any) -> None:
        self.kernel, self.hidden = variant("cud", name)(initial), hidden

    def step(self, action: Any) -> Any:
        """Take an action."""
        shown: Any = self.kernel.step(action)
        return {key: value for key, value in shown.items() if key not in self.hidden}


def checked(name: str, hidden: Sequence[str]) -> SystemChecked:
    """Check a mutant of cud with its own counterexamples."""
    bundle = find("cud")
    records = [record for file, record in fixtures_of("cud") if f"--{name}--" in file]
    system = bundle.model.systems[records[0].system]
    effort = CheckEffort(phases=(SEPARATING,))
    source = InProcess(lambda initial: Partial(name, hidden, initial))
    return check_system(
        "cud", [system], bundle.claims, source, effort=effort, records=records, mutants=bundle.model.mutants
    )


@pytest.mark.parametrize("hidden", [(), HIDDEN], ids=["all", "a part"])
@pytest.mark.parametrize("name", ["forged_action_id_passes", "agent_id_from_request"])
def test_a_mutant_is_recognised_by_what_it_shows(name: str, hidden: Sequence[str]) -> None:
    """Whether it shows all or a part; it is named in each finding that has a name."""
    found = [one.alike for one in checked(name, hidden).defects]
    assert found and any(name in alike for alike in found)


def test_mutants_that_show_another_thing_are_no_lookalikes() -> None:
    """A kernel that takes a forged id is not one that believes the name in the request."""
    (alike, *_) = [one.alike for one in checked("forged_action_id_passes", HIDDEN).defects if one.alike]
    assert "agent_id_from_request" not in alike


@dataclass(frozen=True)
class Rules:
    """What a door looks at."""

    name: bool = True
    ticket: bool = True


@dataclass(frozen=True)
class House:
    """Whose house it is."""

    owner: str = "ann"


@dataclass(frozen=True)
class Enter:
    """Somebody enters with a ticket."""

    name: str
    ticket: str


@dataclass(frozen=True)
class Inside:
    """How many are inside."""

    number: int = 0


@dataclass(frozen=True)
class Opened:
    """Whether the door was opened, for what not, and the word that is kept of it."""

    opened: bool
    why: str = ""
    kept: str = "seen"


def enter(rules: Rules, house: House, inside: Inside, asked: Enter) -> tuple[Inside, Opened]:
    """The owner enters with a valid ticket."""
    why = "name" if rules.name and asked.name != house.owner else ""
    why = why or ("ticket" if rules.ticket and asked.ticket != "valid" else "")
    return (inside, Opened(False, why)) if why else (Inside(inside.number + 1), Opened(True))


def _menu(_house: House, _inside: Inside) -> Iterator[Enter]:
    yield from (Enter(name, ticket) for ticket in ("none", "valid") for name in ("bob", "ann"))


DOOR = small(
    "door", lambda _scope: iter([House()]), Inside(), _menu, enter, (House, Enter, Inside, Opened), rules=Rules()
)
MUTANTS = (
    Mutant("any_name", "Anybody may enter.", "1", Rules(name=False), "door"),
    Mutant("any_ticket", "Any ticket will do.", "1", Rules(ticket=False), "door"),
)


class Door:
    """A door that opens for anybody with any ticket, and gives no reason."""

    def __init__(self, _initial: Any) -> None:
        self.inside = Inside()

    def step(self, action: Any) -> Any:
        """Take an action."""
        asked = Enter(action["name"], action["ticket"])
        self.inside, said = enter(Rules(name=False, ticket=False), House(), self.inside, asked)
        return {"opened": encode(said.opened)}


@pytest.mark.parametrize("seed", range(4))
def test_two_faults_that_show_the_same_are_two_findings_if_mutants_tell_them_apart(seed: int) -> None:
    """Each in a run that shows it alone, whatever is met first: a run that needs both faults tells of neither."""
    effort = CheckEffort(transitions=40, phases=(EXHAUSTIVE,), seed=seed)
    found = check_system("house", [DOOR], (), InProcess(Door), effort=effort, mutants=MUTANTS).defects
    assert sorted(sorted(one.alike) for one in found) == [["any_name"], ["any_ticket"]]


class Forgetful(Door):
    """The same door, that keeps the wrong word of everybody."""

    def step(self, action: Any) -> Any:
        """Take an action."""
        return {**super().step(action), "kept": encode("nothing")}


def test_what_shows_beside_hides_no_mutant() -> None:
    """A fault of its own stands beside the other in every run: mended, that one looks like a mutant."""
    effort = CheckEffort(transitions=40, phases=(EXHAUSTIVE,), seed=1)
    found = check_system("house", [DOOR], (), InProcess(Forgetful), effort=effort, mutants=MUTANTS).defects
    assert sorted(sorted(one.alike) for one in found) == [[], ["any_name"], ["any_ticket"]]
    alone, *both = sorted((one.divergence for one in found), key=lambda one: len(one.kinds))
    known = Lookalikes(Coder("house", DOOR), MUTANTS)
    assert [known.of(one) for one in both] == [frozenset()] * 2
    assert all(len(known.of(one, alone.kinds)) == 1 for one in both)


def _seen(*runs: tuple[Enter, ...]) -> Defects:
    """Runs of a door that opens for anybody with any ticket."""
    source = InProcess(Door)
    examiner = Examiner(Coder("house", DOOR), Judge(()))
    made = Defects(examiner.coder, examiner, source, MUTANTS)
    for run in runs:
        trace = examiner.coder.trace(Scenario(House(), Inside(), run))
        request = examiner.coder.request(trace)
        (response,) = source.ask([request])
        found = examiner.examine(trace, request, response, "machine")
        assert found is not None
        made.add(found)
    return made


ANN, BOB, THIEF = Enter("ann", "valid"), Enter("bob", "valid"), Enter("bob", "none")


def test_a_longer_run_that_a_mutant_explains_tells_of_a_defect_rather_than_one_that_shows_two_faults() -> None:
    """Its author mends that fault and sees the run pass; the shorter one would differ still."""
    found = _seen((THIEF,), (ANN, BOB)).distinct(2)
    assert [(sorted(one.alike), one.count) for one in found] == [(["any_name"], 2)]
