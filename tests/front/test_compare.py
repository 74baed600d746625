"""`evenhand compare`: separated, equal or not known; observers; the sensitivity table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import convert

from evenhand.core.bundle import Bundle
from evenhand.core.lookup import UnknownName
from evenhand.core.observer import NEXT
from evenhand.core.property import EachStep
from evenhand.core.registry import find
from evenhand.core.system import Scope
from evenhand.core.trace import Scenario, replay
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.evidence.record import Run, decode_run
from evenhand.jobs.findings import findings_of
from evenhand.jobs.plan import Job
from evenhand.jobs.pool import Ran
from evenhand.search import explore
from evenhand.search.estimate import estimate
from evenhand.studies import small_scopes
from evenhand.studies.comparing import compare, sides_of
from evenhand.studies.sensitivity import sensitivity_table, telling_places
from evenhand.studies.small_scopes import is_small
from evenhand.variants.separate import separate
from tests.front.conftest import Command


def test_a_reading_is_separated_by_a_scenario_that_replays(cli: Command) -> None:
    """The holder of the latch takes it again: two actions, and no shorter scenario exists."""
    answer = cli("compare", "latch", "--reading", "again=granted", "--json")
    made = answer.json
    assert (answer.code, made["separated"], made["equal"], made["length"], made["minimal"]) == (0, True, False, 2, True)
    assert (made["left"], made["right"]) == ("default", "again=granted")
    system = find("latch").model.systems["latch"]
    run = decode_run(convert(made["scenario"]["run"], Run), system.types)
    assert isinstance(run, Scenario)
    assert replay(system, run).steps[-1].shown == made["scenario"]["left"]["shown"] == "refused"
    assert made["scenario"]["right"]["shown"] == "taken"
    assert made["scenario"]["differs_in"] == "shown"


def test_a_mutant_that_shows_nothing_is_equal_in_scope(cli: Command) -> None:
    """The answer says that it is about the scope only."""
    made = cli("compare", "latch", "--mutant", "slow_leave", "--json")
    assert (made.code, made.json["separated"], made.json["equal"], made.json["scenario"]) == (0, False, True, None)
    assert "beyond that scope nothing is known" in made.json["answer"]


def test_a_bound_that_is_hit_is_not_known(cli: Command) -> None:
    """Exit code 3."""
    answer = cli("compare", "latch", "--mutant", "slow_leave", "--max-steps", "1", "--examples", "0", "--json")
    assert (answer.code, answer.json["separated"], answer.json["equal"]) == (3, False, False)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "nothing to compare"),
        (["--reading", "again=refused"], "is the default"),
        (["--reading", "again=granted", "--reading", "again=refused", "--reading", "again=granted"], "given 3 times"),
        (["--reading", "door=open"], "unknown reading 'door'"),
        (["--mutant", "gone"], "unknown mutant of latch: 'gone'"),
        (["--table", "--mutant", "sticky"], "leave --mutant out"),
        (["--table", "--reading", "door"], "unknown reading of latch: 'door'"),
    ],
)
def test_bad_use_is_one_message(cli: Command, words: list[str], complaint: str) -> None:
    """Exit code 2."""
    answer = cli("compare", "latch", *words)
    assert answer.code == 2
    assert complaint in answer.err


def test_two_values_are_compared_with_each_other() -> None:
    """Neither needs to be the default."""
    bundle = find("cud")
    values = ["scope_check=after_keep", "scope_check=before_execution"]
    (sides,) = sides_of(bundle, readings=values, system="run", scope=Scope(agents=1, keys=2, epochs=1))
    assert (sides.left.readings.scope_check, sides.right.readings.scope_check) == ("after_keep", "before_execution")
    found = compare(bundle, [sides], examples=0)
    assert found.best is not None and found.best.found.length == 1


COUNTER = ("livelock_never_resets", "livelock_counts_pass_one", "livelock_counts_silence")


@pytest.mark.parametrize("name", COUNTER)
def test_what_only_an_observer_sees_separates(name: str) -> None:
    """The counter of the free-agent graph shows in no step; without the observer the hidden state is mentioned."""
    bundle = find("cud")
    (sides,) = sides_of(bundle, mutant=name)
    seen = compare(bundle, [sides], examples=0)
    assert seen.best is not None and seen.best.found.by == "observed"
    assert seen.best.found.read is not None and set(seen.best.found.read[0]) == {"livelock_counter"}
    blind = separate(sides.left, sides.right, examples=0)
    assert blind.equal and not blind.same_state
    assert "a claim may read" in blind.because


def test_what_comes_next_separates_where_strategies_choose() -> None:
    """A reading that changes no step but changes the plan of an agent."""
    bundle = find("cud")
    (sides,) = sides_of(bundle, readings=["role_target=hash_bucket"], system="conditions")
    best = compare(bundle, [sides], examples=0).best
    assert best is not None and best.found.read is not None
    assert set(best.found.read[0]) == {NEXT}


def test_the_table_lists_what_flips(cli: Command) -> None:
    """No claim notices that the latch is taken twice, unless taking it again is granted."""
    answer = cli("compare", "latch", "--table", "--json")
    assert answer.json["values"] == [{"reading": "again", "value": "granted"}]
    assert answer.json["places"] == [{"system": "latch", "scope": {"agents": 2}}]
    assert {flip["claim"] for flip in answer.json["sensitivity"]} <= {claim.name for claim in find("latch").claims}
    assert (answer.code, answer.json["open"]) == (0, [])


def test_an_open_cell_of_the_table_is_told_and_fails(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vacuous claim in a fully searched place fails nothing; a search that was cut does."""
    bundle = find("latch")
    absurd = EachStep(name="about_nothing", sentence="Nothing.", check=never, when=never)
    with_claim = replace(bundle, claims=(*bundle.claims, absurd))
    done = tuple(verdict_findings(with_claim))
    monkeypatch.setattr("evenhand.studies.sensitivity.run_jobs", pretending(done))
    table = sensitivity_table(with_claim)
    assert (table.silent, table.stated, table.open_cells, table.exit_code) == (1, 0, (), 0)
    cut = [replace(one, scope={**one.scope, "complete": False}) for one in done]
    monkeypatch.setattr("evenhand.studies.sensitivity.run_jobs", pretending(cut))
    table = sensitivity_table(with_claim)
    assert [(cell.claim, cell.value) for cell in table.open_cells] == [("about_nothing", "granted")]
    assert (table.exit_code, table.undecided) == (3, 1)
    stated = [replace(one, expected=Status.UNDECIDED) for one in cut]
    monkeypatch.setattr("evenhand.studies.sensitivity.run_jobs", pretending(stated))
    assert (sensitivity_table(with_claim).stated, sensitivity_table(with_claim).exit_code) == (1, 0)


def never(_step: Any) -> bool:
    """An antecedent that never holds."""
    return False


def verdict_findings(bundle: Bundle) -> tuple[Finding, ...]:
    """Return the findings of exploring the latch."""
    job = Job("latch", "explore", "latch", scope=(("agents", 2),))
    system = bundle.model.systems["latch"]
    return findings_of(bundle, job, system, explore(system, bundle.claims).verdicts)


def pretending(findings: Iterable[Finding]) -> Callable[..., Ran]:
    """Return jobs that all find the same."""

    def run(jobs: Iterable[Job], *, finished: Callable[[Job, tuple[Finding, ...]], None], **_more: Any) -> Ran:
        for job in jobs:
            finished(job, tuple(findings))
        return Ran(tuple(findings))

    return run


def test_a_claim_that_a_reading_decides_flips() -> None:
    """Under the literal rule of the text the frozen names never part, as is registered for this claim."""
    with pytest.raises(UnknownName, match="unknown reading of apcm"):
        sensitivity_table(find("apcm"), readings=["gone"])
    found = sensitivity_table(find("cud"), readings=["role_target"], system="conditions")
    cells = {(flip.value, flip.claim): (flip.default.value, flip.now.value) for flip in found.sensitivity}
    assert cells["hash_bucket", "partition_converges"] == ("HOLDS", "REFUTED")
    assert json.loads(json.dumps(found.to_json())) == found.to_json()


def test_no_estimate_is_believed_that_a_search_refutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """States with many fields have large estimates; the number of reached states decides."""
    issue = find("conviction").model.systems["issue"]
    small = issue.at(budget=2, cycles=1, hostile=0, rounds=1, stake=1, texts=1)
    about = estimate(small)
    assert about is not None and about > 10**9 and explore(small).transitions < 1_000
    assert is_small(small)
    monkeypatch.setattr(small_scopes, "SMALL", 100)
    assert not is_small(small)


def test_so_few_places_are_taken_that_every_decided_claim_is_decided() -> None:
    """The scope that decides most comes first, then one for the remaining claims; others are dropped."""

    def decided(job: Job, *claims: str) -> tuple[Finding, ...]:
        every = ("a", "b", "c")
        base = Finding("p", "", "", "explore", job.system, "reference", Status.UNDECIDED, Status.HOLDS)
        return tuple(
            replace(base, claim=name, status=Status.HOLDS if name in claims else Status.UNDECIDED) for name in every
        )

    one, two, three, other = (Job("p", "explore", "s", scope=(("n", n),)) for n in range(4))
    found = {one: decided(one, "a"), two: decided(two, "a", "b"), three: decided(three, "c"), other: decided(other)}
    assert telling_places([one, two, three, other], found) == [two, three]
    assert telling_places([other], found) == [other]
