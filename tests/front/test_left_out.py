"""A claim that no plan of a budget checks is a finding; a broken protocol is an error."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.core import registry
from evenhand.core.bundle import Bundle
from evenhand.core.plan import BUDGETS, Expectation, Plan
from evenhand.core.property import Property
from evenhand.core.registry import find, protocols
from evenhand.core.verdict import Status
from evenhand.jobs.engines import run, verdicts_of
from evenhand.jobs.findings import findings_of
from evenhand.jobs.plan import Budget, Job, covered, plan, system_for
from evenhand.jobs.proving import theorem_names
from evenhand.report.report import Report
from evenhand.smt.registry import stated
from tests.deep import rest_slow
from tests.front.campaign.suite import campaign, written
from tests.front.conftest import Command

QUICK = (
    Plan("latch", "explore", ("quick",), claims=("one_inside", "somebody_enters")),
    Plan("latch", "explore", ("standard", "deep"), scope={"agents": 3}),
)
LEFT_OUT = ("taken_when_free", "taken")


def planned(monkeypatch: pytest.MonkeyPatch, *plans: Plan, **more: Any) -> Bundle:
    """Install the latch with these plans."""
    bundle = replace(find("latch"), plans=plans, **more)
    monkeypatch.setattr(registry, "_all", lambda _module="": (bundle,))
    return bundle


def left_out(report: Any) -> dict[str, tuple[str, str, str]]:
    """Return, claim by claim, the left-out findings of a report in JSON."""
    return {v["claim"]: (v["status"], v["standing"], v["because"]) for v in report["verdicts"] if v["engine"] == "plan"}


def test_what_no_plan_looks_at_is_undecided_and_exit_3(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, with the command that does check it; under a budget whose plans check it there is no such finding."""
    planned(monkeypatch, *QUICK)
    answer = cli("verify", "latch", "--budget", "quick", "--jobs", "1", "--json")
    assert answer.code == 3
    said = left_out(answer.json)
    assert set(said) == set(LEFT_OUT)
    for name, (status, standing, because) in said.items():
        command = f"evenhand explore latch --scope agents=3 --claim {name}"
        assert (status, standing) == ("UNDECIDED", "unexpected")
        assert because.startswith(
            "no plan of budget quick looks at it; this does: evenhand explore latch --system latch "
        )
        assert set(command.split()) <= set(because.split())
        assert cli(*shlex.split(because.partition("this does: evenhand ")[2])).code == 0
    words = cli("verify", "latch", "--budget", "quick", "--jobs", "1")
    assert words.code == 3 and "undecided by plan: taken_when_free: no plan of budget quick looks at it" in words.out
    answer = cli("verify", "latch", "--jobs", "1", "--json")
    assert (answer.code, left_out(answer.json)) == (0, {})


def test_a_system_that_only_another_budget_looks_at_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every claim of it; once, the plan of another budget counted as a plan, so that nothing ran at all."""
    bundle = planned(monkeypatch, Plan("latch", "explore", ("deep",)))
    (job,) = [job for job in plan(bundle, Budget.quick) if job.engine != "replay"]
    assert job == Job("latch", "plan", "latch", claims=tuple(c.name for c in bundle.claims), budget="quick")
    assert job.command == "evenhand verify latch --budget quick"
    assert [job.engine for job in plan(bundle, Budget.deep)] == ["explore", "replay"]


def test_a_claim_is_looked_at_in_each_of_its_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check of one system does not cover the other."""
    latch = find("latch")
    systems = {**latch.model.systems, "wide": replace(latch.model.systems["latch"], name="wide")}
    plans = (Plan("latch", "explore"), Plan("wide", "explore", claims=("taken",)))
    bundle = replace(latch, model=replace(latch.model, systems=systems), plans=plans)
    (job,) = [job for job in plan(bundle, Budget.quick) if job.engine == "plan"]
    assert (job.system, job.claims) == ("wide", ("one_inside", "taken_when_free", "somebody_enters"))
    (first, *_) = run(bundle, job)
    assert first.command == "evenhand explore latch --system wide --claim one_inside --max-states 20000"
    assert (first.expected, Report((first,)).exit_code()) == (Status.HOLDS, 3)


def test_what_is_stated_to_be_left_out_is_as_expected(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The statement names this engine or any; an expected refutation that did not run is not such a statement."""
    stated = tuple(Expectation(name, Status.UNDECIDED, engine="plan", because="no time") for name in LEFT_OUT)
    expected = find("latch").expected
    planned(monkeypatch, *QUICK, expected=(*expected, *stated))
    answer = cli("verify", "latch", "--budget", "quick", "--jobs", "1", "--json")
    assert answer.code == 0
    assert {standing for _, standing, _ in left_out(answer.json).values()} == {"as expected"}
    assert cli("verify", "latch", "--budget", "quick", "--jobs", "1", "--strict").code == 3
    refuted = replace(stated[0], expected=Status.REFUTED, engine="")
    planned(monkeypatch, *QUICK, expected=(*expected, refuted, replace(stated[1], engine="")))
    answer = cli("verify", "latch", "--budget", "quick", "--jobs", "1", "--json")
    assert answer.code == 3
    assert {name: standing for name, (_, standing, _) in left_out(answer.json).items()} == {
        "taken_when_free": "unexpected",
        "taken": "as expected",
    }


def test_verify_the_library_and_a_campaign_say_the_same(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One plan, one set of findings."""
    planned(monkeypatch, *QUICK)
    by_cli = cli("verify", "latch", "--budget", "quick", "--jobs", "1", "--json").json
    by_library = evenhand.verify("latch", budget="quick", quiet=True)
    assert not by_library.as_expected and by_library.exit_code() == 3
    file = written(tmp_path, {"protocol": "latch", "budget": "quick"})
    by_campaign = cli("campaign", "run", str(file), "--jobs", "1", "--json")
    assert by_campaign.code == 3
    assert left_out(by_cli) == left_out(by_library.to_json()) == left_out(by_campaign.json)
    assert set(left_out(by_cli)) == set(LEFT_OUT)


def test_what_another_entry_of_a_campaign_looks_at_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A search of a mutant does not cover the reference."""
    planned(monkeypatch, *QUICK)
    quick = {"protocol": "latch", "budget": "quick"}

    def told(**more: Any) -> list[tuple[str, ...]]:
        entry = {"protocol": "latch", "engine": "explore", "claims": ["taken"], **more}
        units = campaign(tmp_path, quick, entry).units
        return [unit.job.claims for unit in units if unit.job.engine == "plan"]

    assert told() == [("taken_when_free",)]
    assert told(mutant="sticky") == [LEFT_OUT]
    assert told(claims=list(LEFT_OUT)) == []


def test_a_theorem_is_a_look_at_its_own_claim_and_system_alone() -> None:
    """If the run includes theorems."""
    cud = find("cud")
    named = "equivariance_of_free_agents"
    assert covered(cud, [Job("cud", "prove", theorem=named)]) == {("equivariance", "free")}
    alone = replace(cud, plans=(Plan("universe", "explore", claims=("no_winner",)),))
    one = next(one for one in stated("cud") if one.system == "universe" and one.claim.name != "no_winner")

    def gaps(*theorems: str) -> set[str]:
        jobs = plan(alone, Budget.quick, theorems=theorems)
        return {name for job in jobs if (job.engine, job.system) == ("plan", "universe") for name in job.claims}

    assert one.claim.name in gaps()
    assert gaps(one.name) == gaps() - {one.claim.name}


STATED = {"quick": 3 + 4 + 3 + 2, "standard": 3 + 4 + 2, "deep": 3 + 2}
"""The numbers left out of `run` of `conviction`: too wide, pairs of actions (not deep), two-run (quick), others."""


@pytest.mark.parametrize("budget", rest_slow(BUDGETS))
def test_the_protocols_leave_out_what_they_state_and_nothing_else(budget: str) -> None:
    """Every other claim is checked under every budget, in each of its systems."""
    for bundle in protocols():
        jobs = plan(bundle, Budget(budget), theorems=theorem_names(bundle.name))
        gaps = {(name, job.system) for job in jobs if job.engine == "plan" for name in job.claims}
        stated = {(one.claim, one.system) for one in bundle.expected if one.engine == "plan"}
        assert gaps <= stated, bundle.name
        assert len(gaps) == (STATED[budget] if bundle.name == "conviction" else 0), bundle.name
        if budget == "quick":
            assert gaps == stated, "each statement is met under the cheapest budget"


def test_a_claim_that_an_engine_says_nothing_of_is_undecided() -> None:
    """The engine was asked, and a missing verdict counts as UNDECIDED."""
    bundle, job = find("latch"), Job("latch", "explore", "latch")
    system = system_for(bundle, job)
    verdicts = verdicts_of(bundle, job, system)
    assert len(findings_of(bundle, job, system, verdicts)) == len(verdicts)
    *_, last = findings_of(bundle, job, system, verdicts[1:])
    assert (last.claim, last.status, last.engine) == (verdicts[0].claim, Status.UNDECIDED, "explore")
    assert last.because == "explore was asked and gave no verdict"


@evenhand.always("The light is never dark.", systems=("lamp", "light"))
def never_dark(state: Any) -> bool:
    """A claim about two systems."""
    return bool(state != "dark")


LIGHT = evenhand.system("light", initial=["red"], actions=lambda state: ["next"], step=lambda state, action: "green")


def test_a_claim_of_another_system_is_an_error() -> None:
    """The message names the claim and the system; a claim of several systems is checked in this one."""
    assert evenhand.verify(LIGHT, never_dark, examples=5, quiet=True).holds
    elsewhere: Property = replace(never_dark, name="elsewhere", systems=("lamp", "torch"))
    with pytest.raises(ValueError, match="claim 'elsewhere' is about lamp, torch, not about system 'light'; correct"):
        evenhand.verify(LIGHT, [never_dark, elsewhere], examples=5)


@pytest.mark.slow
def test_a_broken_entry_point_is_one_sentence_and_exit_2(process: Command, tmp_path: Path) -> None:
    """For every command and every requested protocol."""
    info = tmp_path / "toybroken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toybroken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[evenhand.protocols]\nbroken = toybroken:BUNDLE\n")
    path = f"{tmp_path}:{Path(__file__).parent / 'plugins'}"
    for source, said in BROKEN:
        (tmp_path / "toybroken.py").write_text(source)
        answer = process("verify", "latch", "--budget", "quick", PYTHONPATH=path)
        assert (answer.code, answer.out, answer.err) == (2, "", f"evenhand: {said}\n")


BROKEN = (
    (
        "from dataclasses import replace\nfrom toylatch import BUNDLE as LATCH\n"
        "MODEL = replace(LATCH.model, name='broken')\n"
        "FIRST = replace(LATCH.claims[0], systems=('lach',))\n"
        "BUNDLE = replace(LATCH, model=MODEL, claims=(FIRST, *LATCH.claims[1:]))\n",
        "protocol 'broken' (toybroken:BUNDLE) does not load: protocol broken: claim one_inside: unknown system 'lach' "
        "(did you mean latch?); there is: latch",
    ),
    (
        "import nowhere_to_be_found\n",
        "protocol 'broken' (toybroken:BUNDLE) does not load: No module named 'nowhere_to_be_found'",
    ),
)
"""Sources of a protocol, and the message for each."""
