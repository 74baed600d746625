"""The page of a protocol in the report: what it guarantees, what not, what a reading changes, and how sure it is."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.report.digest import Group
from evenhand.report.forms.page import page
from evenhand.report.forms.results import Kills, Result
from evenhand.report.forms.views import View
from evenhand.report.report import Report
from tests.front.test_digest import EVERY, STORY, about, found


def search(states: int, system: str = "a") -> Finding:
    """Return the finding of a whole search of so many states."""
    coverage = {"configs": 1, "states": states, "steps": states}
    return found("searched", system=system, coverage=coverage, scope={"depth": 2, "complete": True})


WHOLE = replace(
    EVERY,
    findings=(
        *EVERY.findings,
        found("happens", engine="fuzz", length=4, story=STORY),
        found("happens", length=2, story=STORY),
        found("proved", engine="prove", scope={"proved": "any number of locks"}),
        search(12),
        search(345, system="b"),
    ),
    claims=(*EVERY.claims, about("proved")),
    mutants={"toy": 3},
)


def result(report: Report) -> Result:
    """Return the page of the one protocol in a report."""
    (made,) = View(report, ()).results
    return made


def test_the_abstract_counts_every_claim_once() -> None:
    """In one sentence; the readings in a second one."""
    assert result(WHOLE).abstract == (
        "Of 8 claims, 1 proved for any size, 2 true in every scope searched, 1 shown possible by a run, "
        "1 refuted by the protocol's own rules, 1 only sampled, 1 looked at under other readings only and 1 undecided. "
        "Another reading of the text changes the answer to 1."
    )


def test_a_guarantee_says_how_far_it_reaches() -> None:
    """For what it is proved, the largest search, or the shortest run that shows it."""
    made = result(WHOLE).guarantees
    reaches = {each.claim: each.reach for several in made.values() for each in several}
    assert reaches["proved"] == "proved for any number of locks"
    assert reaches["searched"] == "345 states of b"
    assert reaches["happens"] == "shown in 2 steps"
    assert {each.source for each in made[Group.proved]} == {"P1"}
    assert "refuted" not in reaches and "open" not in reaches


def test_a_limit_has_its_shortest_run_drawn_and_a_link_to_every_step() -> None:
    """The run of the reference under the default readings, and not one of a mutant."""
    longer = found("refuted", Status.REFUTED, length=9)
    (limit,) = result(replace(WHOLE, findings=(longer, *WHOLE.findings))).limits
    assert limit.picture is not None
    assert [text.words for text in limit.picture.texts if text.weight > 400] == [
        "take",
        "from here on, for ever:",
        "wait",
    ]
    text = page(WHOLE).decode()
    links = set(re.findall(r'href="#([a-z]+\d+)"', text))
    assert links and links <= set(re.findall(r' id="([a-z]+\d+)"', text))


def test_how_many_faults_are_caught_is_said_with_their_number() -> None:
    """From the kept counterexamples if no kill matrix is given; without their number if the report has none."""
    assert result(WHOLE).kills == Kills(1, 3, False)
    assert "1 of 3 mutants is killed again by a kept counterexample" in page(WHOLE).decode()
    assert result(replace(WHOLE, mutants={})).kills == Kills(1, 0, False)
    rows: list[Any] = [
        {"mutant": "a", "status": "killed", "kills": [{"claim": "x", "engine": "explore", "length": 1}]},
        {"mutant": "b", "status": "survivor", "kills": []},
    ]
    matrix: dict[str, Any] = {"format": "evenhand/mutants", "protocol": "toy", "idle_claims": [], "matrix": rows}
    (made,) = View(WHOLE, (matrix,)).results
    assert made.kills == Kills(1, 2, True)


def test_each_engine_says_on_how_much_its_verdicts_rest() -> None:
    """A search by its largest scope; sampling decides only what it met."""
    rows = {row.engine: row for row in result(WHOLE).engines}
    assert "the largest, of b, has 345 states" in rows["explore"].extent
    assert (rows["fuzz"].verdicts, rows["fuzz"].deciding) == (2, 1)
    assert (rows["replay"].verdicts, rows["replay"].deciding) == (2, 2)


def test_an_older_report_without_the_number_of_mutants_is_read() -> None:
    """It counts none."""
    kept = WHOLE.to_json()
    assert Report.from_json(kept).mutants == {"toy": 3}
    del kept["mutants"]
    assert Report.from_json(kept).mutants == {}
