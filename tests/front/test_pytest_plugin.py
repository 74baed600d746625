"""The plugin in a project outside the repository: records are tests, other JSON is ignored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.core.canonical import digest
from evenhand.evidence.store import save
from tests.engines.evidence.latch import RUNS, record

ROOT = Path(__file__).parents[2]
PLUGINS = Path(__file__).parent / "plugins"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return a project that has the latch installed, by its entry point."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{PLUGINS}")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest in a process of its own, with the plugin loaded as after installation."""
    return project.runpytest_subprocess("-p", "evenhand.pytest_plugin", *arguments)


def test_each_record_is_a_test_that_replays(project: pytest.Pytester) -> None:
    """In any folder; a test file beside it runs as before."""
    folder = project.mkdir("fixtures")
    for kind in RUNS:
        if kind != "pair":  # its claim belongs to these tests and not to the installed latch
            save(record(kind), folder)
    project.makepyfile("def test_own(): assert True")
    result = run(project, "-v")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*fixtures/one_inside--always_free--*.json::replay PASSED*"])
    assert result.ret == 0


def test_an_edited_digest_fails(project: pytest.Pytester) -> None:
    """With a valid seal: the run itself is replayed and compared."""
    data = record().to_json()
    data["shown"] = digest("something else")
    del data["sha256"]
    project.path.joinpath("edited.json").write_text(json.dumps({**data, "sha256": digest(data)}))
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*edited.json: the run shows something else in always_free than was recorded. Record it again: *",
            "The claim: At most one agent is inside.",
            "See the run: evenhand show *edited.json",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_broken_seal_fails(project: pytest.Pytester) -> None:
    """Edited by hand."""
    path = save(record(), project.path)
    path.write_bytes(path.read_bytes().replace(b'"agents":2', b'"agents":3'))
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*sha256 differs*"])


def test_a_truncated_record_fails_and_the_rest_runs(project: pytest.Pytester) -> None:
    """It begins like a record, so it is reported rather than ignored."""
    save(record(), project.path)
    project.path.joinpath("cut.json").write_bytes(record().to_bytes()[:100])
    result = run(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*cut.json: it is no JSON, or was cut short*"])


def test_other_peoples_json_is_left_alone(project: pytest.Pytester) -> None:
    """Broken, binary, huge or mentioning evenhand: not collected, no error."""
    files = {
        "package.json": b'{"name": "x"}',
        "broken.json": b"{",
        "binary.json": bytes(range(256)),
        "report.json": b'{"findings":[{"format":"evenhand/counterexample"}]}',
        "list.json": b'["evenhand/counterexample"]',
    }
    for name, content in files.items():
        project.path.joinpath(name).write_bytes(content)
    project.makepyfile("def test_own(): assert True")
    run(project).assert_outcomes(passed=1)


def test_without_a_record_no_model_is_loaded(project: pytest.Pytester) -> None:
    """An installed plugin must cost nothing to projects that do not use it."""
    project.path.joinpath("package.json").write_text("{}")
    project.makepyfile(
        """
        import sys

        def test_own():
            assert not {"z3", "scipy", "networkx"} & set(sys.modules)
        """
    )
    run(project).assert_outcomes(passed=1)


LAMP = """
import evenhand

@evenhand.always("It is lit.")
def lit(state):
    return state

lamp = evenhand.system("lamp", initial=[True], actions=lambda state: [1], step=lambda state, action: state)

def test_lamp():
    report = evenhand.verify(lamp, lit)
    assert [finding.scope["max_states"] for finding in report.findings] == [EXPECTED]
"""


@pytest.mark.slow
@pytest.mark.parametrize(("words", "states"), [((), 100_000), (("--evenhand-budget", "quick"), 20_000)])
def test_the_budget_of_a_session_reaches_every_verify(
    project: pytest.Pytester, words: tuple[str, ...], states: int
) -> None:
    """In workers of pytest-xdist too; pytest itself refuses an unknown value of the option."""
    project.makepyfile(LAMP.replace("EXPECTED", str(states)))
    run(project, *words).assert_outcomes(passed=1)
    run(project, "-p", "xdist", "-n", "2", *words).assert_outcomes(passed=1)


def test_a_budget_that_is_none_is_refused(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """By pytest for the option, by `verify` for the variable."""
    project.makepyfile(LAMP.replace("EXPECTED", "100"))
    assert run(project, "--evenhand-budget", "huge").ret == pytest.ExitCode.USAGE_ERROR
    monkeypatch.setenv("EVENHAND_BUDGET", "huge")
    result = run(project)
    result.stdout.fnmatch_lines(["*EVENHAND_BUDGET: 'huge' is no budget; there is: quick, standard, deep*"])


@pytest.mark.slow
def test_records_are_chosen_by_claim_and_shared_among_workers(project: pytest.Pytester) -> None:
    """`-k` matches the file's name, which begins with the claim's."""
    folder = project.mkdir("fixtures")
    for kind in RUNS:
        if kind != "pair":
            save(record(kind), folder)
    run(project, "-k", "one_inside").assert_outcomes(passed=1, deselected=1)
    run(project, "-p", "xdist", "-n", "2").assert_outcomes(passed=2)


def test_a_machine_heeds_the_profile_that_is_loaded(project: pytest.Pytester) -> None:
    """Hypothesis' own settings decide how long a state machine runs in a test file."""
    project.makeconftest("import hypothesis\nhypothesis.settings.register_profile('few', max_examples=7)")
    project.makepyfile(
        """
        import evenhand
        from hypothesis import settings
        from evenhand.machine import machine

        @evenhand.always("It is so.")
        def so(state):
            return True

        lamp = evenhand.system("lamp", initial=[0], actions=lambda state: [1], step=lambda state, action: state)
        TestLamp = machine(lamp, [so]).TestCase

        def test_profile():
            assert settings().max_examples == 7
            assert TestLamp.settings.max_examples == 7
        """
    )
    result = run(project, "-p", "_hypothesis_pytestplugin", "--hypothesis-profile", "few")
    result.assert_outcomes(passed=2)


DESK = """
import evenhand

class Desk:
    def __init__(self, agents):
        self.agents, self.choices = agents, ["ask", "pass"]

    def act(self, choices):
        asking = [agent for agent in self.agents if choices[agent] == "ask"]
        return {agent: "got" if agent in asking[:1] else "nothing" for agent in choices}

def test_desk():
    report = evenhand.examine(Desk, examples=1)
    assert report.clean, report
"""


@pytest.mark.slow
def test_an_examination_that_finds_something_is_shown_whole(project: pytest.Pytester) -> None:
    """With the arbiter and both plays, which pytest would cut in its own message."""
    project.makepyfile(DESK)
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "Desk: 1 of * questions found an arbiter",
            "- listing order: the first in `agents` gets 'got'",
            "*changed: the agents are listed as bob, ann",
            "*1. ann: 'ask', bob: 'ask' -> {'ann': 'nothing', 'bob': 'got'}",
        ]
    )
