"""Every way to end has its exit code: output that cannot be written, closed pipes, faults, broken plug-ins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.jobs.fixtures import fixture_files
from tests.deep import rest_slow
from tests.front.conftest import ROOT

FULL = Path("/dev/full")
RECORD = str(fixture_files("cud")[0])
SHOWN = (["--version"], ["--help"], ["show", RECORD], ["show", RECORD, "--json"], ["campaign", "plan", "cud"])
"""Commands that print, each in another way."""

LOST = b"evenhand: standard output cannot be written to (%s); send it elsewhere\n"


def run(words: list[str], redirected: str = "", **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run `evenhand` in a shell of its own, with streams redirected as written."""
    shell = f'"$@" {redirected}'
    python = [sys.executable, "-m", "evenhand", *words]
    return subprocess.run(
        ["bash", "-c", shell, "bash", *python], cwd=ROOT, env={**os.environ, **env}, capture_output=True, timeout=120
    )


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize("words", rest_slow(map(pytest.param, SHOWN), 2), ids=" ".join)
def test_a_full_output_is_one_line_and_exit_2(words: list[str]) -> None:
    """For text, JSON, help and version."""
    made = run(words, ">/dev/full")
    assert made.returncode == 2, made.stderr
    assert (
        made.stderr == b"evenhand: standard output cannot be written to (No space left on device); send it elsewhere\n"
    )


def test_a_closed_output_is_one_line_and_exit_2() -> None:
    """And no file that is opened later gets its number."""
    made = run(["show", RECORD], ">&-")
    assert made.returncode == 2
    assert made.stderr == LOST % b"Bad file descriptor"


@pytest.mark.parametrize("words", rest_slow([["show", RECORD], ["show", RECORD, "--json"], ["--help"]]), ids=" ".join)
def test_a_closed_pipe_is_quiet(words: list[str]) -> None:
    """141, as in shells, and not a word."""
    made = run(words, "| true; exit ${PIPESTATUS[0]}")
    assert (made.returncode, made.stdout, made.stderr) == (141, b"", b"")


@pytest.mark.slow
@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-", "2> >(true)"])
def test_messages_that_nobody_can_read_change_no_exit_code(redirected: str) -> None:
    """2 for a missing file, and 0 for one that is shown, in full."""
    if "full" not in redirected or FULL.exists():
        assert run(["show", "missing.json"], redirected).returncode == 2
        assert run(["show", RECORD], redirected).returncode == 0
        assert run(["show", RECORD], f"<&- {redirected}").stdout == run(["show", RECORD]).stdout


@pytest.mark.slow
def test_an_encoding_that_lacks_characters_gets_escapes() -> None:
    """Text with escapes, and JSON in the same bytes as ever."""
    text = run(["show", RECORD], PYTHONIOENCODING="ascii")
    assert (text.returncode, text.stderr) == (0, b"") and text.stdout.isascii() and rb"\u2192" in text.stdout
    told, usual = (run(["show", RECORD, "--json"], PYTHONIOENCODING=name) for name in ("ascii", "utf-8"))
    assert told.returncode == 0 and told.stdout == usual.stdout and json.loads(told.stdout)


FAULTY = """
import sys
from evenhand.exits import ended
def run():
    {}
sys.exit(ended(run))
"""


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ("raise KeyError('x\\x1b[2J')", 70, "evenhand: this is a bug of evenhand: KeyError: 'x\\x1b[2J'; please send"),
        ("import evenhand.nothing", 70, "evenhand: this is a bug of evenhand: ModuleNotFoundError: "),
        ("sys.exit('words')", 70, "evenhand: this is a bug of evenhand: SystemExit: words"),
        ("raise BaseException('x')", 70, "evenhand: this is a bug of evenhand: BaseException: x"),
        ("raise OSError(5, 'Input/output error', '/x')", 2, "evenhand: /x: Input/output error; make room"),
        ("raise OSError(2, 'gone', '/x')", 70, "evenhand: this is a bug of evenhand: FileNotFoundError: "),
        ("raise BrokenPipeError(32, 'Broken pipe')", 70, "evenhand: this is a bug of evenhand: BrokenPipeError: "),
        (
            "from evenhand.core.answers import ModelError; raise ModelError('system `lock`: `step` is no function')",
            2,
            "evenhand: system `lock`: `step` is no function\n",
        ),
        ("raise MemoryError", 2, "evenhand: there is not enough memory"),
        ("raise KeyboardInterrupt", 130, "evenhand: interrupted\n"),
        ("import signal; signal.raise_signal(signal.SIGTERM)", 130, "evenhand: interrupted\n"),
        ("sys.exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
        ("print('done')", 0, ""),
    ],
)
def test_a_fault_of_our_own_is_70_with_a_report(body: str, code: int, said: str, tmp_path: Path) -> None:
    """One line that names the report; the report has the traceback, and no password."""
    words = [sys.executable, "-c", FAULTY.format(body), "--store", "postgresql://me:secret@host/x"]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    made = subprocess.run(words, env=env, capture_output=True, text=True, cwd=ROOT, check=False)
    assert made.returncode == code and made.stderr.startswith(said) and made.stderr.count("\n") == bool(said)
    reports = list(tmp_path.iterdir())
    assert len(reports) == (code == 70)
    for report in reports:
        text = report.read_text("utf-8")
        assert str(report) in made.stderr and "Traceback" in text and "in run" in text
        assert "secret" not in text and "postgresql://me:" in text


def test_a_report_that_cannot_be_written_changes_no_exit_code(tmp_path: Path) -> None:
    """Nor is there a traceback."""
    code = "import tempfile; tempfile.tempdir = '/no/such/folder'" + FAULTY.format("raise KeyError(1)")
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert made.returncode == 70 and made.stderr.endswith("no report could be written\n")


BROKEN = {
    "exits": "import sys; sys.exit(1)",
    "raises": "class Odd(BaseException): pass\nraise Odd('no')",
    "fails": "1 / 0",
    "half": "from evenhand.core.bundle import Bundle\nb = Bundle.__new__(Bundle)",
    "other": "b = 3",
    "empty": "",
}


@pytest.mark.parametrize("kind", rest_slow([*BROKEN, "missing", "malformed"]))
def test_a_bad_entry_point_is_bad_input(kind: str, tmp_path: Path) -> None:
    """Whatever its module does: one line that names it, and exit 2."""
    for name, text in BROKEN.items():
        (tmp_path / f"{name}_plugin.py").write_text(text, "utf-8")
    about = tmp_path / "odd-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1\n", "utf-8")
    value = ":::" if kind == "malformed" else f"{kind}_plugin:b"
    (about / "entry_points.txt").write_text(f"[evenhand.protocols]\nodd = {value}\n", "utf-8")
    made = run(["replay", RECORD], PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert (made.returncode, made.stdout) == (2, b"") and made.stderr.count(b"\n") == 1
    assert made.stderr.startswith(b"evenhand: protocol 'odd'")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["prove", "cud", "--theorem", "no_veto_overridden"], marks=pytest.mark.deep),
        ["fuzz", "cud", "--examples", "5"],
    ],
)
def test_nothing_appears_in_the_current_folder(words: list[str], tmp_path: Path) -> None:
    """Hypothesis keeps its tables in the folder of caches, not where the command runs."""
    here, cache = tmp_path / "here", tmp_path / "cache"
    here.mkdir()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(cache)}
    env.pop("HYPOTHESIS_STORAGE_DIRECTORY", None)
    made = subprocess.run(
        [sys.executable, "-m", "evenhand", *words], cwd=here, env=env, capture_output=True, timeout=250
    )
    assert made.returncode in (0, 3), made.stderr
    assert list(here.iterdir()) == []
