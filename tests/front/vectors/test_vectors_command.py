"""`evenhand vectors`: made, frozen and verified for a protocol without settings for them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evenhand.cli import app
from evenhand.conform.vectors.making import generate
from evenhand.conform.vectors.settings import Settings
from evenhand.core.registry import find
from evenhand.studies.vector_faults import separating

SMALL = Settings(examples=5, max_steps=500)


def test_same_settings_same_bytes_and_round_trip(tmp_path: Path) -> None:
    """Generated twice, frozen, verified; edited, refused with exit code 2."""
    bundle = find("apcm")
    one, two = (generate(bundle, ["boundary"], SMALL) for _ in range(2))
    assert [suite.to_bytes() for suite in one] == [suite.to_bytes() for suite in two]
    (suite,) = one
    assert suite.vectors and all(v.about["class"] != v.about["short_of"] for v in suite.vectors)
    assert all(v.classes == {"fate": v.about["class"]} for v in suite.vectors)
    path = tmp_path / suite.file_name
    path.write_bytes(suite.to_bytes())

    def run(*words: str) -> tuple[int, str]:
        answer = CliRunner().invoke(app, ["vectors", "apcm", *words, "--out", str(tmp_path)])
        return answer.exit_code, answer.output

    assert run("verify")[0] == 2, "not frozen yet"
    assert run("freeze")[0] == 0
    code, said = run("verify")
    assert code == 0 and "0 failed" in said
    data = json.loads(path.read_bytes())
    data["vectors"][0]["expected"][0]["read"] = {}
    path.write_text(json.dumps(data))
    code, said = run("verify")
    assert code == 2 and "is not what was hashed" in said


def test_an_empty_suite_is_told_and_alone_it_is_no_success(tmp_path: Path) -> None:
    """A suite without vectors gets no file; with no other suite the exit code is 2."""

    def run(*suites: str) -> tuple[int, str]:
        words = [word for suite in suites for word in ("--suite", suite)]
        answer = CliRunner().invoke(app, ["vectors", "latch", "generate", *words, "--out", str(tmp_path)])
        return answer.exit_code, " ".join(answer.output.split())

    why = "no run of this protocol has an outcome that was registered by hand"
    code, said = run("conditions")
    assert code == 2 and f"conditions: no vectors, because {why}" in said
    assert list(tmp_path.iterdir()) == []
    code, said = run("conditions", "covering")
    assert code == 0 and f"conditions: 0 vectors; no file is written because: {why}" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["covering.json", "schema.json"]


def test_faults_made_by_rule_are_counted(tmp_path: Path) -> None:
    """Each of them is separated, left, or unfinished; without any vector of a step none could be separated."""

    def run(*words: str) -> tuple[int, str]:
        answer = CliRunner().invoke(app, ["vectors", "latch", *words, "--out", str(tmp_path)])
        return answer.exit_code, answer.stdout

    assert run("generate", "--suite", "covering")[0] == 0 and run("freeze")[0] == 0
    code, said = run("verify", "--automatic", "12", "--json")
    about = json.loads(said)["automatic"]
    assert code == 0 and about["made"] == 12
    assert about["separated"] + len(about["left"]) + len(about["unfinished"]) == 12
    assert about["separated"] > 6
    bundle = find("latch")
    assert separating(bundle, (), 12).to_json()["separated"] == 0
    assert run("verify", "--automatic", "3", "--adapter", "a:b")[0] == 2


def test_bad_use_is_refused() -> None:
    """Exit code 2."""
    for words in (["generate"], ["verify", "--suite", "gone"], ["verify", "--adapter", "a:b", "--command", "c"]):
        assert CliRunner().invoke(app, ["vectors", "apcm", *words]).exit_code == 2


@pytest.mark.slow
def test_a_suite_kept_by_its_digest_is_generated_when_asked_for(tmp_path: Path) -> None:
    """Frozen without its file, verified by name; any other digest is refused, and by default no suite is generated."""

    def run(*words: str) -> tuple[int, str]:
        answer = CliRunner().invoke(app, ["vectors", "latch", *words, "--out", str(tmp_path)])
        return answer.exit_code, " ".join(answer.output.split())

    assert run("generate", "--suite", "covering")[0] == 0 and run("freeze")[0] == 0
    kept = tmp_path / "boundary.sha256"
    assert run("freeze", "--suite", "boundary")[0] == 0
    (suite,) = generate(find("latch"), ["boundary"], Settings())
    assert kept.read_text("ascii") == f"{hashlib.sha256(suite.to_bytes()).hexdigest()}  boundary.json\n"
    assert run("verify", "--suite", "covering")[0] == run("verify")[0] == 0
    kept.write_text("0" * 64 + "  boundary.json\n", "ascii")
    code, said = run("verify", "--suite", "boundary")
    assert code == 2 and "is not as frozen" in said
    kept.write_text("yes", "ascii")
    code, said = run("verify", "--suite", "boundary")
    assert code == 2 and "no digest of boundary.json" in said
    assert run("verify")[0] == 0
