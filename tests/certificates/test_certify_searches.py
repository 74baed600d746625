"""Certificates of real searches: made by the command, checked again, refused elsewhere, and tampered with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import certificates as benchmark
from evenhand.core.bundle import Bundle
from evenhand.core.kinds import Safety
from evenhand.core.registry import find
from evenhand.core.temporal import Temporal
from evenhand.jobs import certifying_searches
from evenhand.jobs.certifying_searches import certify_search, file_of, planned_searches, recheck_search
from evenhand.jobs.plan import Job
from evenhand_certificates import Invalid
from evenhand_certificates.__main__ import main
from evenhand_certificates.searches import check_search
from tests.certificates.tampering_searches import KINDS, tamper_searches
from tests.front.conftest import PLUGINS, Command, installed

SMALL = {"conviction": ("max_credit=reject", "poor_proposer=reject"), "cud": ("cud conditions",)}
"""Small searches by a part of their titles; among them claims about deadlock, livelock and what follows."""


def job_of(protocol: str, part: str) -> Job:
    """The first search of many claims whose title has this part."""
    found = (job for job in planned_searches(find(protocol)) if part in job.title)
    return next(job for job in found if not 0 < len(job.claims) < 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with certificates of the small searches."""
    found = tmp_path_factory.mktemp("searches")
    for protocol, parts in SMALL.items():
        bundle = find(protocol)
        for part in parts:
            job = job_of(protocol, part)
            result = certify_search(bundle, job, found)
            assert result.valid, result
            assert result.certified > 20
            assert recheck_search(bundle, job, found) == result
    return found


@pytest.fixture(scope="module")
def made(folder: Path) -> list[dict[str, Any]]:
    """The certificates in it."""
    return [json.loads(file.read_text("utf-8")) for file in sorted(folder.rglob("*.json"))]


def test_claims_of_every_family_are_certified(made: list[dict[str, Any]]) -> None:
    """Deadlock by distances, liveness by ranks with an assumption, others by the walk alone."""
    ranks: list[Any] = [given for one in made for entry in one["configurations"] for given in entry["ranks"].values()]
    assert any(isinstance(given, list) for given in ranks)
    assert any(not isinstance(given, list) and given["quiet"] for given in ranks)
    for one in made:
        found = check_search(one)
        assert (found.states, found.steps) == (one["about"]["states"], one["about"]["steps"])


def test_the_program_checks_them(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It loads no engine, no solver and no numpy; without the model it says so."""
    assert main([str(folder)]) == 0
    assert "3 certificates: 3 valid, 0 invalid." in capsys.readouterr().out
    file = next(folder.glob("conviction/searches/*.json"))
    told = (
        "import sys; from evenhand_certificates.__main__ import main; code = main([sys.argv[1]]); print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", told, str(file)], capture_output=True, text=True, check=True)
    loaded = ran.stdout.splitlines()[-1].split()
    assert "evenhand.model.conviction" in loaded
    engines = [f"evenhand.{part}" for part in ("search", "machine", "smt", "evidence", "jobs")]
    assert not {*engines, "numpy", "scipy", "z3", "cvc5"} & set(loaded)
    (tmp_path / "evenhand.py").write_text("raise ImportError('it is not installed')\n", "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "evenhand_certificates", str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == 2
    assert "NO MODEL" in ran.stdout
    assert "1 unchecked" in ran.stdout


def test_by_command(tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A protocol of a plugin: written, kept, checked, and missing."""
    installed(monkeypatch, PLUGINS)
    out = tmp_path / "made"
    answer = cli("certify", "latch", "--searches", "--out", str(out), "--json")
    assert answer.code == 0, answer.err
    (one, *_) = json.loads(answer.out)["searches"]
    assert one["valid"]
    assert one["certified"] == one["holds"] > 0
    answer = cli("certify", "latch", "--searches", "--check", "--out", str(out))
    assert answer.code == 0
    assert "claims certified" in answer.out
    answer = cli("verify", "latch", "--jobs", "1", "--certificates", str(out), "--json")
    holding = [one for one in json.loads(answer.out)["verdicts"] if one["status"] == "HOLDS"]
    short = [one for one in holding if one["trusted_base"] == ["the executable model", "the checker of certificates"]]
    assert short
    assert short == [one for one in holding if one["engine"] == "explore"]
    (tmp_path / "empty").mkdir()
    answer = cli("verify", "latch", "--jobs", "1", "--certificates", str(tmp_path / "empty"), "--json")
    assert not any("checker" in part for one in json.loads(answer.out)["verdicts"] for part in one["trusted_base"])
    answer = cli("certify", "latch", "--searches", "--check", "--out", str(tmp_path / "empty"))
    assert answer.code == 2
    assert "is no folder of certificates" in answer.err
    assert cli("certify", "latch", "--searches", "--theorem", "x", "--out", str(out)).code == 2


def test_a_claim_of_another_kind_costs_no_other_its_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim that no certificate is for, such as a formula of temporal logic, is left out and counted."""
    bundle, job = find("cud"), job_of("cud", SMALL["cud"][0])
    whole = certify_search(bundle, job, tmp_path / "whole")
    monkeypatch.setattr(certifying_searches, "KINDS", Safety)
    part = certify_search(bundle, job, tmp_path / "part")
    assert not part.valid
    assert 0 < part.certified < part.holds == whole.certified
    monkeypatch.setattr(certifying_searches, "KINDS", Temporal)
    assert "none for claims of these kinds" in certify_search(bundle, job, tmp_path / "none").because


def test_a_certificate_of_another_search_is_not_taken(folder: Path, tmp_path: Path) -> None:
    """A valid file under the name of another search, and one whose search counted something else."""
    bundle = find("conviction")
    one, two = (job_of("conviction", part) for part in SMALL["conviction"])
    file_of(tmp_path, two).parent.mkdir(parents=True)
    file_of(tmp_path, two).write_bytes(file_of(folder, one).read_bytes())
    assert "another search" in recheck_search(bundle, two, tmp_path).because
    made = json.loads(file_of(folder, one).read_bytes())
    made["about"]["steps"] += 1
    file_of(tmp_path, one).write_text(json.dumps(made), "utf-8")
    assert "counted other states" in recheck_search(bundle, one, tmp_path).because
    made["about"] |= {"steps": made["about"]["steps"] - 1, "holds": 0.5}
    file_of(tmp_path, one).write_text(json.dumps(made), "utf-8")
    assert "no whole number" in recheck_search(bundle, one, tmp_path).because


@pytest.mark.parametrize(
    ("protocol", "quotient", "why"),
    [("cud", "renaming", "searched in parts, because the whole has about"), ("markspace", "shift", "one of classes")],
)
def test_no_search_is_run_that_can_have_no_certificate(
    protocol: str, quotient: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two searches of the standard budget that take minutes, or have no end, without a map."""
    bundle = find(protocol)
    (job,) = (job for job in planned_searches(bundle) if quotient in job.quotient)
    monkeypatch.delattr(certifying_searches, "prepared_search")
    without = certify_search(bundle, job, tmp_path)
    assert why in without.because
    assert not without.valid
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("change", ["added", "of another version"])
def test_a_claim_that_is_new_is_asked(
    change: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate from before it is valid, but is no longer one of all that holds, so the search is made again."""
    bundle, job = find("conviction"), job_of("conviction", SMALL["conviction"][0])
    made = json.loads(file_of(folder, job).read_bytes())
    whole, name = len(made["claims"]), made["claims"][0]
    if change == "added":
        made["claims"].remove(name)
        del made["about"]["asked"][name]
        made["about"]["holds"] -= 1
        for entry in made["configurations"]:
            entry["ranks"].pop(name, None)
    else:
        made["about"]["asked"][name] += 1
    file_of(tmp_path, job).parent.mkdir(parents=True)
    file_of(tmp_path, job).write_text(json.dumps(made), "utf-8")
    assert len(check_search(made).claims) == len(made["claims"])
    with monkeypatch.context() as patched:
        patched.delattr(certifying_searches, "check_search")  # the graph is not walked to say so
        assert "asks other claims by now" in recheck_search(bundle, job, tmp_path).because
    assert certify_search(bundle, job, tmp_path).certified == whole


def test_the_benchmark_checks_once_what_is_kept(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It makes nothing again that names the claims of today, and counts no file that the checker refuses."""
    jobs = tuple(job_of("conviction", part) for part in SMALL["conviction"])

    def few(_bundle: Bundle) -> tuple[Job, ...]:
        return jobs

    monkeypatch.setattr(benchmark, "planned_searches", few)
    monkeypatch.delattr(benchmark, "make_search")
    row = benchmark.searches_of("conviction", folder)
    assert row["searches"] == row["searches_certified"] == 2
    assert row["claims_certified"] == row["claims_that_hold"] > 40
    assert row["without"] == {}
    for job in jobs:
        made = json.loads(file_of(folder, job).read_bytes())
        made["configurations"][0]["states"] += job is jobs[0]
        file_of(tmp_path, job).parent.mkdir(parents=True, exist_ok=True)
        file_of(tmp_path, job).write_text(json.dumps(made), "utf-8")
    row = benchmark.searches_of("conviction", tmp_path)
    assert row["searches_certified"] == 1
    assert row["without"] == {jobs[0].title: "its certificate is invalid"}


def test_only_planned_searches_are_walked(made: list[dict[str, Any]]) -> None:
    """A file cannot ask for sizes that the protocol does not plan, nor for a file of Python."""
    with pytest.raises(Invalid, match="plans no search"):
        check_search({**made[0], "scope": {"agents": 50}})
    with pytest.raises(Invalid, match="unknown protocol"):
        check_search({**made[0], "protocol": "x.py:y"})
    many: list[list[str]] = [[]] * 1_000  # five million of them, written into an error, took over a gigabyte
    for large in (many, "x" * 10_000):
        with pytest.raises(Invalid, match=r"^it names no protocol$"):
            check_search({**made[0], "protocol": large})


def test_tampering(made: list[dict[str, Any]]) -> None:
    """Every kind of alteration is tried, and what is accepted is what the search says."""
    tally = tamper_searches(made, 6 * len(KINDS), seed=1)
    assert tally.wrong == []
    assert set(tally.tried) == set(KINDS)
    assert sum(tally.rejected.values()) > 5 * len(KINDS)


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_thousand_alterations(seed: int, made: list[dict[str, Any]]) -> None:
    """As above, for three seeds."""
    assert tamper_searches(made, 1_000, seed).wrong == []
