"""The arbitration profile: its answers come from verdicts and from nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from evenhand.core import registry
from evenhand.core.bundle import Bundle
from evenhand.core.profile import Aspect
from evenhand.core.registry import find, protocols
from evenhand.core.verdict import Status
from evenhand.jobs.plan import Budget
from evenhand.notebook import html_of
from evenhand.report.profile import profile_html, profile_page, profile_svg
from evenhand.studies.profiling import Cell, Profile, ProfileAnswer, Shown, _jobs, profiles  # pyright: ignore[reportPrivateUsage]
from tests.deep import rest_slow
from tests.front.conftest import Command
from tests.front.test_forms import HOSTILE, Tags, found


def answers(profile: Profile) -> dict[str, str]:
    """Return the answer to each question."""
    return {cell.aspect.value: cell.answer.value for cell in profile.cells if cell.answer is not ProfileAnswer.UNASKED}


@pytest.mark.slow
def test_each_answer_is_a_verdict_of_the_protocol_s_own_claim(cli: Command, tmp_path: Path) -> None:
    """A claim that holds answers no; a reached goal or an affirming claim answers yes; the witness can be replayed."""
    answer = cli("profile", "latch", "--json", "--out", str(tmp_path))
    assert answer.code == 0, answer.err
    (made,) = answer.json["protocols"]
    cells = {cell["aspect"]: cell for cell in made["cells"]}
    assert {name: cell["answer"] for name, cell in cells.items()} == {
        "position": "no", "name": "unasked", "time": "yes", "value": "yes", "confidence": "unasked",
        "content": "unasked", "history": "unasked", "deadlock": "unasked", "livelock": "yes",
        "exclusion": "unasked",
    }  # fmt: skip
    assert [(one["sizes"], one["status"]) for one in cells["position"]["verdicts"]] == [
        ({"agents": 2}, "HOLDS"),
        ({"agents": 3}, "HOLDS"),
    ]
    witness = cells["livelock"]["verdicts"][0]
    assert witness["trace"] and cli(*witness["command"].split()[1:]).code == 0
    goal = cells["time"]["verdicts"][0]
    assert goal["status"] == "HOLDS" and cli(*goal["command"].split()[1:]).code == 0
    kept = json.loads((tmp_path / "profile.json").read_text("utf-8"))
    assert kept["protocols"] == answer.json["protocols"]
    told = cli("profile", "latch").out
    assert "can it livelock?" in told and "latch: can it livelock? yes: evenhand explore latch" in told


@pytest.mark.slow
def test_a_faulty_kernel_has_another_profile() -> None:
    """With a latch that is free for every agent the answer flips."""
    bundle = find("latch")
    faulty = next(mutant for mutant in bundle.model.mutants if mutant.name == "always_free")
    systems = {"latch": replace(bundle.model.systems["latch"], rules=faulty.rules)}
    (before,), _, _ = profiles([bundle])
    registry_bundle = replace(bundle, model=replace(bundle.model, systems=systems))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_all", lambda _module="": (registry_bundle,))
        (after,), _, _ = profiles([registry_bundle])
    assert (answers(before)["position"], answers(after)["position"]) == ("no", "yes")


def cell(*verdicts: tuple[str, Status], affirms: bool = False, readings: tuple[Shown, ...] = ()) -> Cell:
    """Return a cell of verdicts by system."""
    yes = {Status.HOLDS: affirms, Status.REFUTED: not affirms}
    shown = [
        Shown(
            ProfileAnswer.OPEN
            if status is Status.UNDECIDED
            else ProfileAnswer.YES
            if yes[status]
            else ProfileAnswer.NO,
            replace(found(status), system=system),
        )
        for system, status in verdicts
    ]
    return Cell(Aspect.NAME, tuple(shown), readings)


def test_a_no_of_one_system_says_nothing_about_another() -> None:
    """One yes is a yes; one undecided system leaves it open; in one system a smaller scope may decide."""
    holds, refuted, undecided = Status.HOLDS, Status.REFUTED, Status.UNDECIDED
    assert cell().answer is ProfileAnswer.UNASKED
    assert cell(("a", holds), ("b", refuted)).answer is ProfileAnswer.YES
    assert cell(("a", holds), ("b", undecided)).answer is ProfileAnswer.OPEN
    assert cell(("a", holds), ("a", undecided)).answer is ProfileAnswer.NO
    assert cell(("a", undecided)).answer is ProfileAnswer.OPEN


def test_readings_that_change_the_answer_are_named() -> None:
    """Readings that keep the answer are not named."""
    flipped, same = (replace(found(s), readings={"r": v}) for s, v in ((Status.REFUTED, "x"), (Status.HOLDS, "y")))
    made = cell(("a", Status.HOLDS), readings=(Shown(ProfileAnswer.YES, flipped), Shown(ProfileAnswer.NO, same)))
    assert [one.finding.readings for one in made.other] == [{"r": "x"}]


@pytest.mark.parametrize("bundle", rest_slow(protocols(), 2), ids=lambda bundle: bundle.name)
def test_every_question_of_every_protocol_has_a_search(bundle: Bundle) -> None:
    """Under default readings, where the protocol plans it; the claims exist."""
    assert bundle.profile
    jobs = [job for job in _jobs(bundle, Budget.quick) if job.engine == "explore" and not job.readings]
    assert {claim for job in jobs for claim in job.claims} == {one.claim for one in bundle.profile if one.claim}


def test_readings_with_another_stated_verdict_are_searched() -> None:
    """Those of `cud` under which the order of submission decides."""
    jobs = [job for job in _jobs(find("cud"), Budget.quick) if job.readings]
    assert [(dict(job.readings), job.claims) for job in jobs] == [
        ({"scope_check": value}, ("order_independence",)) for value in ("after_rollback", "after_keep")
    ]


def hostile() -> Profile:
    """Return a profile in which every name is hostile."""
    finding: Any = replace(found(Status.REFUTED), claim=HOSTILE, system=HOSTILE, command=HOSTILE, readings={})
    other = replace(found(Status.HOLDS), readings={HOSTILE: HOSTILE})
    cells = [Cell(aspect) for aspect in Aspect]
    cells[1] = Cell(Aspect.NAME, (Shown(ProfileAnswer.YES, finding, HOSTILE),), (Shown(ProfileAnswer.NO, other),))
    return Profile(HOSTILE, tuple(cells))


def test_hostile_names_are_text_in_picture_and_page() -> None:
    """No tag and no attribute comes from a name; the picture is well-formed."""
    picture = ET.fromstring(profile_svg([hostile()]))
    assert {element.tag.rpartition("}")[2] for element in picture.iter()} == {"svg", "g", "rect", "text", "title"}
    page = Tags(profile_page([hostile()]))
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") or name == "src" for name in attrs)]
    assert "img" not in {tag for tag, _ in page.tags}
    assert sum("onerror=alert" in text for text in page.texts) > 4
    assert html_of(hostile()) == profile_html([hostile()])
