"""Each finding as a pytest file: it fails while the kernel decides, and passes once it is mended."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand.arbiters.again import Found, Offered, recheck
from evenhand.arbiters.kernels import NotExaminable
from evenhand.arbiters.loading import Origin, factory_at
from evenhand.evidence.known import BadBaseline
from evenhand.examination import examine
from tests.deep import rest_deep

ROOT = Path(__file__).parents[3]
DESK = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Ask:
    what: str

class Desk:
    def __init__(self, agents):
        self.agents = agents
        self.choices = {choices}
        self.past = []

    def observe(self):
        return None

    def act(self, profile):
        asking = [agent for agent in {order} if profile.get(agent) == self.choices[0]]
        self.past += asking
        return {{agent: "got" if agent in {winners} else "nothing" for agent in profile}}
"""
TEXTS, OBJECTS = "['ask', 'pass']", "[Ask('it'), Ask('nothing')]"
MENDED = {"order": "self.agents", "winners": "(asking if len(asking) == 1 else [])"}
FAULTY = {
    "listing order": {"order": "self.agents", "winners": "asking[:1]"},
    "delivery order": {"order": "profile", "winners": "asking[:1]"},
    "names": {"order": "sorted(self.agents)", "winners": "asking[:1]"},
    "history": {"order": "self.agents", "winners": "(asking if len(self.past) == 1 else [])"},
    "hash seed": {"order": "sorted(self.agents, key=hash)", "winners": "asking[:1]"},
}


def written(folder: Path, question: str, choices: str) -> tuple[Path, Path]:
    """Write a faulty desk, and the regression of what it is found to do."""
    kernel = folder / "desk.py"
    kernel.write_text(DESK.format(choices=choices, **FAULTY[question]), "utf-8")
    place = f"{kernel}:Desk"
    found = examine(factory_at(place), place=place, examples=2)
    (name,) = (name for name in found.regressions() if name == f"test_desk_{question.replace(' ', '_')}.py")
    test = folder / name
    test.write_bytes(found.regressions()[name])
    return kernel, test


def run(test: Path) -> subprocess.CompletedProcess[str]:
    """Run the file as a maintainer would, away from the tests of evenhand."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(test.parent), str(test)]
    return subprocess.run(command, capture_output=True, text=True, cwd=test.parent, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("question", rest_deep(FAULTY, 2))
def test_a_regression_fails_now_and_passes_once_mended(question: str, tmp_path: Path) -> None:
    """The file alone, with the kernel before and after."""
    kernel, test = written(tmp_path, question, OBJECTS if question == "names" else TEXTS)
    before = run(test)
    assert before.returncode == 1 and f"Found: {question}: " in before.stdout, before.stdout
    kernel.write_text(DESK.format(choices=OBJECTS if question == "names" else TEXTS, **MENDED), "utf-8")
    after = run(test)
    assert after.returncode == 0 and "1 passed" in after.stdout, after.stdout


def test_a_choice_that_is_gone_is_told(tmp_path: Path) -> None:
    """The play cannot be made any more: neither found nor passed."""
    kernel = tmp_path / "desk.py"
    kernel.write_text(DESK.format(choices=TEXTS, **MENDED), "utf-8")
    play: dict[str, Any] = {"agents": ["ann", "bob"], "rounds": [[("ann", Offered("Ask(what='it')"))]]}
    with pytest.raises(NotExaminable, match="no longer offers ann the choice"):
        recheck(Origin(f"{kernel}:Desk"), "listing order", [play])
    with pytest.raises(NotExaminable, match="the kernel offers no worth"):
        recheck(Origin(f"{kernel}:Desk"), "participation", [])


def test_a_play_alone_is_asked() -> None:
    """A seat decides between two that ask, and not where one passes."""
    origin = Origin("tests.engines.arbiters.kernels:FirstListed")
    for second, decides in (("ask", True), ("pass", False)):
        play = {"agents": ["ann", "bob"], "rounds": [[("ann", "ask"), ("bob", second)]]}
        try:
            recheck(origin, "listing order", [play])
            assert not decides
        except Found:
            assert decides


@pytest.mark.slow
def test_known_findings_are_expected(tmp_path: Path) -> None:
    """What an earlier report found is expected; another arbiter at the same desk is not."""
    kernels = "tests.engines.arbiters.kernels"
    first = examine(factory_at(f"{kernels}:FirstListed"), examples=2)
    (tmp_path / "report.json").write_text(json.dumps(first.report().to_json()), "utf-8")
    again = examine(factory_at(f"{kernels}:FirstListed"), examples=2, known=tmp_path)
    assert first.found and again.clean and not again.regressions()
    assert [one.allowed for one in again.answers if one.allowed] == ["known from an earlier report"]
    made = json.loads((tmp_path / "report.json").read_text("utf-8"))
    for one in made["verdicts"]:
        one["because"] = one["because"].replace("the first", "the last")
    (tmp_path / "other.json").write_text(json.dumps(made), "utf-8")
    assert not examine(factory_at(f"{kernels}:FirstListed"), examples=2, known=tmp_path / "other.json").clean


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"format":"evenhand/check"}', b'{"format":"evenhand/report"}'])
def test_a_baseline_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    """With the file and the next step."""
    path = tmp_path / "known.json"
    path.write_bytes(content)
    with pytest.raises(BadBaseline, match=r"known\.json: .+\. Give the report\.json"):
        examine(factory_at("tests.engines.arbiters.kernels:FirstListed"), known=path)


def test_the_command_writes_what_repeats_each_finding(tmp_path: Path) -> None:
    """Every form of the report, and the file that its command names."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "evenhand", "examine", "tests.engines.arbiters.kernels:FirstListed"]
    command += ["--examples", "1", "--json", "--out", str(out)]
    made = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert made.returncode == 1, made.stderr
    (verdict,) = (one for one in json.loads(made.stdout)["verdicts"] if one["status"] == "REFUTED")
    test = out / "test_firstlisted_listing_order.py"
    assert verdict["command"] == f"pytest {test}" and test.is_file()
    forms = {"report.json", "report.sarif", "report.html", "junit.xml", "summary.md"}
    assert forms <= {path.name for path in out.iterdir()}
