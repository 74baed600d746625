"""The forms of one report of `evenhand check`: list first, what differs told, hostile text inert."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.check_lines import _steps, report_lines  # pyright: ignore[reportPrivateUsage]
from evenhand.model.apcm import vocabulary as apcm
from evenhand.report.forms.checked import checked_forms
from evenhand.report.named import named
from evenhand.report.phrases import GIST, gist
from tests.front.conftest import Command
from tests.front.test_form_schemas import SARIF

HOSTILE = "</code></style><script>alert(1)</script> | `x` [a](b) https://e.example www.e.example\x1b[2J\u202e"
ADAPTER = f"""
from evenhand.conform.adapters.model import variant

lax = variant("cud", "tie_break_by_name")


class Loud:
    def step(self, action):
        raise ValueError({HOSTILE!r})


def rude(initial):
    return Loud()
"""


SMALL = ("--system=free", "--scope=agents=2,keys=1,values=1", "--examples=0", "--pairs=5", "--liveness=0", "--first")


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Note a tag."""
        self.found.append(tag)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of two checks: of a kernel with a known fault, and of one that says hostile things."""
    home = tmp_path_factory.mktemp("forms")
    (home / "wrong.py").write_text(ADAPTER, "utf-8")
    for name in ("lax", "rude"):
        words = ["check", "cud", "--adapter", f"wrong:{name}", "--out", name, *SMALL]
        done = subprocess.run([sys.executable, "-m", "evenhand", *words], cwd=home, capture_output=True, check=False)
        assert done.returncode == 1, done.stderr
    return home


@pytest.mark.slow
def test_every_form_has_every_finding(folder: Path) -> None:
    """Claim, sentence and rank stand in each; the JSON is what is printed."""
    report = json.loads((folder / "lax/report.json").read_text("utf-8"))
    assert report["format"] == "evenhand/check" and report["findings"]
    for name in ("report.html", "report.md", "report.sarif"):
        told = (folder / "lax" / name).read_text("utf-8").replace("\\_", "_")
        for one in report["findings"]:
            assert one["claim"] in told and one["rank"] in told


def test_the_steps_tell_what_differs(folder: Path) -> None:
    """The last step of the first finding."""
    report = json.loads((folder / "lax/report.json").read_text("utf-8"))
    differs = report["findings"][0]["differences"][0]
    assert f"**differs** `{differs}`" in (folder / "lax/report.md").read_text("utf-8")
    assert (folder / "lax/report.html").read_text("utf-8").count('class="differs"') >= 1


@pytest.mark.parametrize("name", ["lax", "rude"])
def test_the_sarif_is_valid(folder: Path, name: str) -> None:
    """By the published schema; each result is of a rule that is there."""
    made = json.loads((folder / name / "report.sarif").read_text("utf-8"))
    SARIF.validate(made)
    (run,) = made["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_the_configuration_is_told_in_words(folder: Path) -> None:
    """Whole, and without what is as declared: a reader sees which sizes and rights a run needs."""
    report = json.loads((folder / "lax/report.json").read_text("utf-8"))
    (one,) = report["findings"]
    agents = f"agents: {tuple(one['run']['config']['agents'])}"  # of the shortest run, as it was recorded
    assert agents in one["trace_config"] and "agent_2" in agents
    assert not any("readings" in line for line in one["trace_config"])
    for form in ("report.md", "report.html"):
        told = (folder / "lax" / form).read_text("utf-8").replace("&#39;", "'")
        assert all(line in told for line in one["trace_config"])
    shown = subprocess.run(
        [sys.executable, "-m", "evenhand", "show", str(folder / "lax" / one["fixture"])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"   with   {agents}\n" in shown.stdout


def test_show_takes_all_that_a_check_wrote(cli: Command, folder: Path) -> None:
    """Records of a shell glob are shown, and the ITF traces beside them are skipped with a word."""
    records = sorted((folder / "lax").glob("*/*.json"))
    traces = [one for one in records if one.name.endswith(".itf.json")]
    assert len(records) == 2 * len(traces) > 0
    shown = cli("show", *map(str, [*records, *records]))
    assert shown.code == 0 and re.findall(r"^\d+(?=\. \w+)", shown.out, re.M) == ["1", "2"]
    assert shown.err == "skipped 2 ITF traces: runs of the records, for other tools\n"
    for words, why in ((traces, "is an ITF trace"), ([*records, *records, "--json"], "are about one counterexample")):
        refused = cli("show", *map(str, words))
        assert (refused.code, refused.out) == (2, "") and why in refused.err


def test_what_a_kernel_says_is_inert(folder: Path) -> None:
    """It opens no tag, and no cell or link in Markdown."""
    page = (folder / "rude/report.html").read_text("utf-8")
    assert "alert(1)" in page and "script" not in Tags(page).found
    told = (folder / "rude/report.md").read_text("utf-8")
    assert "alert(1)" in told and "<script" not in told.replace("\\<", "") and "[a](b)" not in told
    (row,) = (line for line in told.splitlines() if line.startswith("| 1 | no answer"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 7
    assert not re.search(r"https?://|www\.", re.sub("`[^`]*`", "", told))
    sarif = json.loads((folder / "rude/report.sarif").read_text("utf-8"))
    assert "] (b)" in sarif["runs"][0]["results"][0]["message"]["text"]
    shown = [path.read_text("utf-8") for path in (folder / "rude").rglob("*.md")]
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", "".join([page, told, str(sarif), *shown]))


def test_two_runs_stand_side_by_side(folder: Path) -> None:
    """A finding about a pair of runs has both."""
    report = json.loads((folder / "lax/report.json").read_text("utf-8"))
    one = report["findings"][0]
    one |= {"beside": {name: one[name] for name in ("run", "expected", "got")}, "trace_beside": one["trace"]}
    forms = checked_forms({**report, "findings": [one]}, [])
    assert forms["report.html"].count(b"<h3>") == 2 and b"Beside:" in forms["report.md"]


def test_nothing_found_is_said() -> None:
    """The forms of an empty report."""
    report: dict[str, Any] = {
        "protocol": "cud",
        "kernel": "k",
        "findings": [],
        "known": 2,
        "interrupted": True,
        "versions": {},
    }
    for name, data in checked_forms(report, ["run: no runs"]).items():
        if name in ("report.html", "report.md"):
            assert b"Interrupted. Nothing found, 2 known ones left out" in data and b"run: no runs" in data
    SARIF.validate(json.loads(checked_forms(report, [])["report.sarif"]))


@pytest.mark.slow
def test_show_tells_a_finding(folder: Path) -> None:
    """As `check` printed it; `replay` says what to do instead."""
    record = next(path for path in (folder / "lax/cud").glob("*.json") if "itf" not in path.name)
    told = subprocess.run(
        [sys.executable, "-m", "evenhand", "show", record], capture_output=True, text=True, check=True
    ).stdout
    assert "   *   " in told and "expected " in told
    as_json = subprocess.run(
        [sys.executable, "-m", "evenhand", "show", record, "--json"], capture_output=True, check=True
    ).stdout
    assert json.loads(as_json)["finding"]["claim"] in told
    refused = subprocess.run(
        [sys.executable, "-m", "evenhand", "show", record, "--itf", "run.itf.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2 and "wrote its run as ITF" in refused.stderr
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "replay", record], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "is a finding about a kernel" in done.stderr


def test_a_list_says_what_differs() -> None:
    """One difference and the number of others; the claim's sentence only where nothing differs."""
    one: dict[str, Any] = {"what": "differs", "claim": "kernel_agrees_with_model", "sentence": "It agrees.", "why": ""}
    one |= {"fault": None, "differences": ["a: expected 1, shown 2", "b: expected 1, shown 2"]}
    assert gist(one) == "a: expected 1, shown 2; and 1 more difference"
    assert gist({**one, "what": "relates"}) == "It agrees."
    assert gist({**one, "what": "fails", "fault": "raised", "why": "KeyError"}) == "The kernel raised: KeyError"
    assert len(gist({**one, "differences": ["x" * 999]})) == GIST


def test_a_step_that_differs_is_printed_whole() -> None:
    """What matters may stand at its end; other steps are cut."""
    action = "Decide(" + "observation, " * 100 + "citations=('C',))"
    lines = [line.strip() for line in _steps([action, action], [{}, {}], [{}, {"a": 1}])]
    assert lines[0].endswith("…") and lines[1].startswith("*   2 Decide(")
    assert " ".join(lines[1:])[len("*   2 ") :] == action


def test_the_page_has_the_closed_sets_and_the_named_types() -> None:
    """Each with the sentence beneath it in the source; a constant without one is a part of another."""
    lines = list(named(apcm.TYPES))
    assert "| `ASB_NULL`, `MVRA`, `SCRAMBLE`, `BYPASS` | The four run conditions of section 10. |" in lines
    assert any(line.startswith("| `Id` | `str \\| Atom \\| Opaque` |") for line in lines)


def test_what_was_run_is_told_once_and_briefly() -> None:
    """A note of several systems comes once, a list of names is cut, and `nothing found` says in how many runs."""
    names = [f"claim_{number}" for number in range(9)]
    one: dict[str, Any] = {
        "runs": {"machine": 1, "pairs": 0}, "steps": {"machine": 1}, "covered": [], "left_out": [], "unsupported": {},
        "judged": ["safe"], "not_judged": names, "why_not_judged": dict.fromkeys(names, "no run was about it"),
        "left_open": [], "notes": ["time ended"],
    }  # fmt: skip
    systems = [{**one, "system": "run"}, {**one, "system": "free"}]
    report: dict[str, Any] = {"findings": [], "known": 0, "interrupted": False, "judged_by": "model"}
    report |= {"sightings": 0, "explained": 0}
    assert list(report_lines({**report, "systems": systems}))[-5:] == [
        "free: 1 run (machine 1), 1 step",
        "  1 claim judged, 9 not:",
        "    claim_0, claim_1, claim_2, claim_3, claim_4, claim_5 and 3 more: no run was about it",
        "run, free: time ended",
        "nothing found in 2 runs; judged by the model",
    ]


@pytest.mark.slow
def test_the_test_of_a_finding_fails_briefly(folder: Path, tmp_path: Path) -> None:
    """While the kernel is wrong, and where it cannot be loaded: the message, without the way to it through evenhand."""
    (test,) = (folder / "lax/cud").glob("test_*.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    wrong = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and "expected " in wrong.stdout and "def raise_if_found" not in wrong.stdout
    absent = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert absent.returncode == 1 and "NoKernel: adapter 'wrong:lax' does not load" in absent.stdout
    assert "def _batch" not in absent.stdout and "During handling" not in absent.stdout
