"""The forms of a report for CI servers, code scanners and browsers; hostile text stays text in all of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from evenhand.core.canonical import canonical_bytes
from evenhand.core.registry import find
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.evidence.story import RunLines, StepLines, Story
from evenhand.jobs.engines import run
from evenhand.jobs.plan import Job
from evenhand.report.about import About, about_claims
from evenhand.report.digest import with_digest
from evenhand.report.forms import forms_of
from evenhand.report.forms.views import View
from evenhand.report.report import Report
from tests.front.conftest import ROOT, Command
from tests.front.plugins import toylatch

HOLDS, REFUTED, UNDECIDED = Status.HOLDS, Status.REFUTED, Status.UNDECIDED
STORY = Story((RunLines(("two agents",), ("free",), (StepLines(("take",), (("told", ("yes",)),), ("held",)),)),))


def found(status: Status, expected: Status = HOLDS, claim: str = "safe", engine: str = "explore") -> Finding:
    """Return a finding as an engine makes it."""
    story = STORY if status is REFUTED else None
    made = Finding("toy", claim, "It is safe.", engine, "toy", "reference", status, expected, story=story)
    return replace(
        made, command="evenhand explore toy", because="so it is", stated="known", length=1 if story else None
    )


UNEXPECTED = Report(
    (
        found(HOLDS),
        found(REFUTED, claim="refuted"),
        found(REFUTED, REFUTED, claim="refuted_expected"),
        found(HOLDS, REFUTED, claim="gone"),
        found(UNDECIDED, claim="open"),
        found(UNDECIDED, UNDECIDED, claim="open_stated"),
    ),
    {"budget": "quick", "strict": False},
    {"evenhand": "0.1.0"},
    claims=(About("toy", "refuted", "It is safe.", "P1", "always", "properties/toy.py", 7),),
)


def test_junit_fails_what_fails_and_skips_only_what_was_expected() -> None:
    """UNDECIDED is an error, never a skip, unless it was expected."""
    root = ET.fromstring(forms_of(UNEXPECTED)["junit.xml"])
    suite = root[0]
    outcome = {case.attrib["classname"]: [child.tag for child in case] for case in suite}
    assert outcome == {
        "toy.toy.safe": [],
        "toy.toy.refuted": ["failure"],
        "toy.toy.refuted_expected": [],
        "toy.toy.gone": ["failure"],
        "toy.toy.open": ["error"],
        "toy.toy.open_stated": ["skipped"],
    }
    numbers = {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
    assert numbers == {"tests": "6", "failures": "2", "errors": "1", "skipped": "1"}
    refuted = next(case for case in suite if case.attrib["classname"] == "toy.toy.refuted")
    assert (refuted.attrib["file"], refuted.attrib["line"]) == ("properties/toy.py", "7")
    assert "1  take" in (refuted[0].text or "")


def test_junit_cases_are_told_apart_and_an_interrupted_run_is_an_error() -> None:
    """Servers merge cases of one name, and an interrupted run is no success."""
    report = replace(UNEXPECTED, findings=(found(HOLDS), found(HOLDS)), interrupted=True, unfinished=("fuzz toy",))
    root = ET.fromstring(forms_of(report)["junit.xml"])
    names = [case.attrib["name"] for case in root[0]]
    assert len(set(names)) == 2
    assert root[1].attrib["errors"] == "1" and "fuzz toy" in root[1][0][0].attrib["message"]


def test_sarif_has_a_result_for_what_is_to_be_looked_at() -> None:
    """With rule, place, fingerprint and the trace as a flow; a claim that holds as expected gives no result."""
    made = json.loads(forms_of(UNEXPECTED)["report.sarif"])
    (run,) = made["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    results = {result["ruleId"]: (result["kind"], result["level"]) for result in run["results"]}
    assert results == {
        "toy/refuted": ("fail", "error"),
        "toy/refuted_expected": ("informational", "none"),
        "toy/gone": ("fail", "error"),
        "toy/open": ("fail", "warning"),
        "toy/open_stated": ("informational", "none"),
    }
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    refuted = next(result for result in run["results"] if result["ruleId"] == "toy/refuted")
    place = refuted["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "properties/toy.py"}, "region": {"startLine": 7}}
    flow = refuted["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [one["location"]["message"]["text"] for one in flow] == list(UNEXPECTED.findings[1].trace)
    prints = [result["partialFingerprints"]["evenhand/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_the_summary_says_the_verdict_first_and_shows_what_is_unexpected() -> None:
    """The summary is the page of a CI job."""
    lines = forms_of(UNEXPECTED)["summary.md"].decode().splitlines()
    assert lines[0] == "## evenhand: Something is refuted unexpectedly, or an expected refutation is gone"
    assert "| toy | explore | 2 | 2 | 0 | 0 | 2 |" in lines
    assert any(line.endswith("1  take") for line in lines)
    fine = replace(UNEXPECTED, findings=(found(HOLDS),))
    assert forms_of(fine)["summary.md"].decode().startswith("## evenhand: All as expected\n")


class Tags(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Record a text."""
        self.texts.append(data)


HOSTILE = "</script><img src=x onerror=alert(1)>\"'`${1}`\x1b[31m\u202e|*_[x](javascript:alert(1))\ud800\x00"


def hostile() -> Report:
    """Return a report in which every name of outside origin is hostile."""
    story = Story(
        (RunLines((HOSTILE,), (HOSTILE,), (StepLines((HOSTILE,), ((HOSTILE, (HOSTILE,)),), (HOSTILE,)),), 1),) * 2,
        HOSTILE,
    )
    finding = Finding(
        HOSTILE, HOSTILE, HOSTILE, "explore", HOSTILE, HOSTILE, REFUTED, HOLDS, HOSTILE, HOSTILE, HOSTILE,
        {HOSTILE: HOSTILE}, {HOSTILE: 1}, readings={HOSTILE: HOSTILE}, coverage={HOSTILE: 2}, trusted_base=(HOSTILE,),
        story=story, length=1, fixture=HOSTILE, command=HOSTILE,
    )  # fmt: skip
    about = About(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1)
    return Report(
        (finding, replace(finding, engine="replay")),
        {HOSTILE: HOSTILE},
        {HOSTILE: HOSTILE},
        (HOSTILE,),
        claims=(about,),
    )


def test_hostile_names_are_text_in_every_form() -> None:
    """No tag, attribute, control or right-to-left character comes from a name or value."""
    matrix = {
        "protocol": HOSTILE, "idle_claims": [HOSTILE],
        "matrix": [
            {"mutant": HOSTILE, "status": "killed", "kills": [{"claim": HOSTILE, "engine": HOSTILE, "length": 1}]},
        ],
    }  # fmt: skip
    made = forms_of(hostile(), (matrix,))
    for name, content in made.items():
        assert not set(content.decode()) & set("\x1b\u202e\x00"), name
    page = Tags(made["report.html"].decode())
    harmless = Tags(forms_of(UNEXPECTED)["report.html"].decode())
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in harmless.tags} | {"h3", "cite", "ol"}
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert not [tag for tag, attrs in page.tags if "src" in attrs or str(attrs.get("href", "#"))[:1] != "#"]
    assert sum("onerror=alert" in text for text in page.texts) > 20, "it is shown, as text"
    ET.fromstring(made["junit.xml"])
    json.loads(made["report.sarif"])
    assert "<img" not in re.sub(r"`{3,}text\n.*?\n`{3,}", "", made["summary.md"].decode(), flags=re.DOTALL)


def test_the_page_is_one_file_and_runs_only_its_own_script() -> None:
    """No address of another file or host; style and script are allowed by their digests."""
    page = forms_of(UNEXPECTED)["report.html"].decode()
    assert "http:" not in page and "https:" not in page and "url(" not in page and "@import" not in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None and policy[1].startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy[1]


def test_what_is_open_or_unexpected_comes_first() -> None:
    """Expected refutations follow, then claims that hold."""
    order = [(row.finding.claim, row.standing.value) for row in View(UNEXPECTED, ()).rows]
    assert order == [
        ("open", "unexpected"),
        ("refuted", "unexpected"),
        ("gone", "unexpected"),
        ("open_stated", "as expected"),
        ("refuted_expected", "as expected"),
        ("safe", "as expected"),
    ]


def test_readings_that_flip_a_verdict_are_listed() -> None:
    """Readings without an effect are only counted."""
    flipped = replace(found(REFUTED, REFUTED), readings={"again": "granted"})
    same = replace(found(HOLDS), readings={"again": "refused"})
    view = View(Report((found(HOLDS), flipped, same)), ())
    assert [(flip.claim, flip.readings, flip.usual, flip.status) for flip in view.sensitivity] == [
        ("safe", "again=granted", HOLDS, REFUTED)
    ]
    assert view.readings_run == (("toy", "again=granted"), ("toy", "again=refused"))
    assert view.readings_idle == ["toy again=refused"]


def test_growth_is_what_the_searches_counted() -> None:
    """Free, or held by one of n: n + 1 states, 2n actions in each."""
    jobs = [Job("latch", "explore", scope=(("agents", agents),)) for agents in (3, 2)]
    view = View(Report(tuple(one for job in jobs for one in run(find("latch"), job))), ())
    told = [(one.sizes, one.configs, one.states, one.steps, one.depth, one.complete) for one in view.growth]
    assert told == [("agents=2", 1, 3, 12, 1, True), ("agents=3", 1, 4, 24, 1, True)]
    bounded = View(Report(run(find("latch"), Job("latch", "explore", depth=0))), ())
    assert not bounded.growth[0].complete


def test_an_interrupted_matrix_blames_no_claim() -> None:
    """Parts that did not run are unknown, so no claim is called idle."""
    row: dict[str, Any] = {"mutant": "late", "status": "unfinished", "kills": []}
    matrix: dict[str, Any] = {"protocol": "toy", "idle_claims": ["safe"], "matrix": [row]}
    told = Tags(forms_of(UNEXPECTED, (matrix,))["report.html"].decode()).texts
    assert any("of 1 faults nothing is known" in text for text in told)
    assert not any("Claims that notice none" in text for text in told)
    done = {**matrix, "matrix": [{**row, "status": "survivor"}]}
    told = Tags(forms_of(UNEXPECTED, (done,))["report.html"].decode()).texts
    assert any("1 faults: 1 survivor" in text for text in told)
    assert any("Claims that notice none" in text for text in told)


def test_a_report_comes_back_from_its_json_and_makes_the_same_forms() -> None:
    """Every form derives from report.json; a file of another format is refused."""
    made = json.loads(canonical_bytes(with_digest(UNEXPECTED)))
    again = Report.from_json(made)
    assert again == UNEXPECTED
    assert forms_of(again) == forms_of(UNEXPECTED)
    with pytest.raises(ValueError, match="version 99"):
        Report.from_json({**made, "version": 99})


def test_claims_say_where_they_are_written() -> None:
    """The line of the predicate, in a path from the root of the repository."""
    told = {claim.claim: claim for claim in about_claims([toylatch.BUNDLE])}
    claim = told["one_inside"]
    assert claim.file.endswith("toylatch.py") and not claim.file.startswith("/")
    source = (ROOT / "tests" / "front" / "plugins" / "toylatch.py").read_text("utf-8").splitlines()
    assert "one_inside" in "\n".join(source[claim.line - 1 : claim.line + 2])


@pytest.mark.slow
def test_report_command_makes_every_form_again(cli: Command, tmp_path: Path) -> None:
    """From report.json and kill matrices, told apart by their format; other files are refused."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert cli("verify", "latch", "--out", str(first)).code == 0
    matrix = tmp_path / "matrix.json"
    matrix.write_text(cli("mutants", "latch", "--json").out, "utf-8")
    answer = cli("report", str(first / "report.json"), str(matrix), "--out", str(second))
    assert answer.code == 0, answer.err
    for name in ("junit.xml", "report.sarif", "summary.md"):
        assert (second / name).read_bytes() == (first / name).read_bytes()
    assert "always_free" in (second / "report.html").read_text("utf-8")
    twice = cli("report", str(first / "report.json"), str(matrix), str(matrix), "--out", str(second))
    assert (twice.code, twice.err) == (2, "evenhand: two kill matrices are about latch; name one of them\n")
    for files, count in (([str(first / "report.json")] * 2, "of 2 files 2 are"), ([str(matrix)], "of 1 file none is")):
        answer = cli("report", *files, "--out", str(second))
        assert answer.code == 2 and f"{count} a report.json; name one that" in answer.err
    for content, said in (("{}", "format"), ("no", "JSON"), ('{"format": "other/thing"}', "other/thing")):
        bad = tmp_path / "bad.json"
        bad.write_text(content, "utf-8")
        answer = cli("report", str(bad), "--out", str(second))
        assert (answer.code, answer.err.count("\n")) == (2, 1) and said in answer.err and "bad.json" in answer.err


def rows(page: str) -> list[dict[str, Any]]:
    """Return the attributes of the verdicts' rows."""
    return [dict(attrs) for tag, attrs in Tags(page).tags if tag == "tr" and "data-status" in attrs]


def test_the_page_has_a_row_for_every_verdict() -> None:
    assert len(rows(forms_of(UNEXPECTED)["report.html"].decode())) == len(UNEXPECTED.findings)
