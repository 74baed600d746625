"""The command line as other processes see it: hash seeds, Ctrl-C, dying children, pipes."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenhand.cli import console
from evenhand.jobs.plan import Job
from evenhand.jobs.pool import Ran, run_jobs
from evenhand.processes.group import Ended, kill, start
from evenhand.processes.pool import ChildTask, ProcessLimits, in_children
from tests.deep import rest_slow
from tests.front.campaign.suite import made_in, runs
from tests.front.conftest import PLUGINS, ROOT, Command


@pytest.mark.slow
def test_the_report_is_the_same_under_any_hash_seed_and_number_of_jobs(process: Command, tmp_path: Path) -> None:
    """Byte by byte, apart from the object `timing`; counterexamples too."""
    made: list[dict[str, bytes]] = []
    for seed, jobs in (("0", "1"), ("4242", "3")):
        folder = tmp_path / seed
        answer = process("verify", "latch", "--out", str(folder), "--jobs", jobs, PYTHONHASHSEED=seed)
        assert answer.code == 0, answer.err
        made.append(made_in(folder))
    assert len(made[0]) > 1
    assert made[0] == made[1]


@pytest.mark.slow
def test_one_json_object_and_nothing_else_on_standard_output(process: Command) -> None:
    """One line, one object; messages for people go to standard error."""
    for words in (
        ("verify", "latch"),
        ("explore", "latch"),
        ("fuzz", "latch", "--examples", "5"),
        ("mutants", "latch", "--mutant", "sticky"),
    ):
        answer = process(*words, "--json")
        assert isinstance(answer.json, dict), words
        assert answer.out.count("\n") == 1
        progress = [line for line in answer.err.splitlines() if line.startswith(f"{words[0]}: ")]
        assert progress == answer.err.splitlines(), "at most progress, when the machine is slow"


def interrupted(*words: str, by: signal.Signals, asleep: Path, wait: float = 30.0) -> tuple[int, str, str]:
    """Start a run whose second job sleeps, press Ctrl-C once it does, and wait for the end.

    The job makes the file `asleep` when it begins to sleep; by then the first job is done.
    """
    env = {**os.environ, "PYTHONPATH": str(PLUGINS), "TOYLATCH_SLEEP": "60", "TOYLATCH_ASLEEP": str(asleep)}
    with subprocess.Popen(
        [sys.executable, "-m", "evenhand", *words],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        while not asleep.exists() and run.poll() is None:
            time.sleep(0.02)
        for _ in range(20):  # as a terminal does, to every process of the group; and repeatedly, as impatient users do
            with suppress(ProcessLookupError):
                os.killpg(run.pid, by)
            time.sleep(0.002)
        out, err = run.communicate(timeout=wait)
    return run.returncode, out, err


def test_a_watched_command_hears_an_interrupt() -> None:
    """It is in a session of its own, so its watcher passes the signal on; a killed one prints nothing."""
    with start(["sh", "-c", "trap 'echo heard; exit 3' INT; echo ready; while :; do sleep 0.05; done"]) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=30)
        finally:
            kill(process)
    assert (out, process.returncode) == (b"heard\n", 3)


@pytest.mark.parametrize("by", rest_slow([signal.SIGINT, signal.SIGTERM]))
def test_an_interrupted_run_leaves_a_usable_partial_report(tmp_path: Path, by: signal.Signals) -> None:
    """Finished results are printed and written, marked interrupted; exit 130; no child is left behind."""
    words = ("verify", "latch", "--jobs", "1", "--json", "--out", str(tmp_path / "out"))
    code, out, err = interrupted(*words, by=by, asleep=tmp_path / "asleep")
    assert code == 130, err
    printed, kept = json.loads(out), json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert printed["interrupted"] is kept["interrupted"] is True
    assert kept["summary"]["exit_code"] == 130
    assert {(v["engine"], v["sizes"]["agents"]) for v in kept["verdicts"]} == {("explore", 2)}
    assert kept["unfinished"] == ["explore latch latch agents=3", "fuzz latch latch", "replay latch"]
    assert "Traceback" not in err


def test_a_child_that_dies_or_raises_leaves_its_claims_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """For example out of memory: the other jobs go on, in order."""

    def dies(_bundle: object, job: Job, *, workers: int) -> tuple[()]:
        assert workers == 2
        if job.seed == 1:
            os._exit(9)
        if job.seed == 2:
            raise MemoryError("no more")
        return ()

    monkeypatch.setattr("evenhand.jobs.pool.run", dies)
    jobs = [Job("latch", "fuzz", seed=seed, claims=("one_inside",)) for seed in (0, 1, 2)]
    ran = run_jobs(jobs, workers=2)
    assert [finding.status.value for finding in ran.findings] == ["UNDECIDED", "UNDECIDED"]
    assert [finding.because for finding in ran.findings] == [
        "its process ended with exit code 9",
        "an error stopped fuzz at dies: MemoryError: no more",
    ]
    assert not ran.unfinished


def test_the_theorems_of_a_protocol_are_proved_by_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shared work is done once; a second process starts for theorems only when no other job waits."""

    def tells(_bundle: object, job: Job, *, workers: int) -> tuple[()]:
        time.sleep(0.2 if job.engine == "fuzz" else 0.0)  # so that other jobs wait until the last theorem is proved
        raise RuntimeError(f"process {os.getpid()} of {workers}")

    monkeypatch.setattr("evenhand.jobs.pool.run", tells)
    fuzzed = [Job("latch", "fuzz", seed=seed, claims=("one_inside",)) for seed in range(4)]
    proofs = [Job("latch", "prove", theorem=name, claims=("one_inside",)) for name in "abcd"]

    def processes(ran: Ran, engine: str) -> list[str]:
        return [finding.because.split()[-3] for finding in ran.findings if finding.engine == engine]

    ran = run_jobs([*proofs, *fuzzed], workers=2)
    assert [len(set(processes(ran, engine))) for engine in ("prove", "fuzz")] == [1, 4]
    assert len(set(processes(run_jobs(proofs, workers=2), "prove"))) == 2


def test_an_interrupt_between_two_theorems_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child that waits for its next job is ended too."""

    def nothing(_bundle: object, _job: Job, *, workers: int) -> tuple[()]:
        assert workers == 1
        return ()

    monkeypatch.setattr("evenhand.jobs.pool.run", nothing)

    def pressed(_job: Job, _found: object) -> None:
        raise KeyboardInterrupt

    ran = run_jobs([Job("latch", "prove", theorem=name, claims=("one_inside",)) for name in "ab"], finished=pressed)
    assert ran.interrupted and [job.theorem for job in ran.unfinished] == ["b"]
    assert not multiprocessing.active_children()


def test_a_child_that_dies_costs_its_company_one_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process proves the next theorem."""

    def dies(_bundle: object, job: Job, *, workers: int) -> tuple[()]:
        if job.theorem == "b":
            os._exit(9)
        raise RuntimeError(f"{job.theorem} of {workers}")

    monkeypatch.setattr("evenhand.jobs.pool.run", dies)
    ran = run_jobs([Job("latch", "prove", theorem=name, claims=("one_inside",)) for name in "abc"])
    assert [finding.because for finding in ran.findings] == [
        "an error stopped prove at dies: RuntimeError: a of 1",
        "its process ended with exit code 9",
        "an error stopped prove at dies: RuntimeError: c of 1",
    ]


def burns(seconds: float) -> str:
    """Use so many seconds of a processor."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return "done"


def ends_of(tasks: list[ChildTask]) -> list[Ended]:
    """Run tasks that use a processor, and return how they ended."""
    ends: list[Ended] = []

    def finished(_number: int, ended: Ended) -> tuple[ChildTask, ...]:
        ends.append(ended)
        return ()

    in_children(tasks, burns, finished=finished)
    return ends


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the system does not tell who waits")
def test_a_limit_means_the_same_on_a_busy_machine() -> None:
    """A task that needs half of its limit is done, although by the clock it takes longer."""
    burners = [
        subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(3 * (os.cpu_count() or 1))
    ]
    try:
        (made,) = ends_of([ChildTask(0.5, limits=ProcessLimits(1.0))])
        assert made.seconds > 1.0, "the machine was not busy"
        assert made.answer == "done"
    finally:
        for one in burners:
            one.kill()
            one.wait()
    (made,) = ends_of([ChildTask(60.0, limits=ProcessLimits(1.0))])
    assert made.late and made.seconds < 60.0, "a task that needs more has its limit all the same"


@pytest.mark.skipif(os.name != "posix", reason="a closed pair of sockets resets only there")
def test_a_child_ends_in_silence_when_its_parent_dies_with_an_answer_unread(tmp_path: Path) -> None:
    """Then the connection is reset and not closed: no traceback of the child on the terminal."""
    (tmp_path / "dying.py").write_text(DYING, "utf-8")
    run = subprocess.run(
        [sys.executable, "dying.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )  # the pipe of its errors is closed when the child has ended, too
    assert (run.returncode, run.stderr) == (-signal.SIGKILL, "")


DYING = """
import os, pathlib, signal, time
from evenhand.processes import pool
from evenhand.processes.pool import ChildTask, in_children

pool.end_with_parent = lambda _parent: None  # where this works, it kills most children before they see the reset

def work(number):
    pathlib.Path(f"{number}.done").touch()
    return number

def end():
    while len(list(pathlib.Path().glob("*.done"))) < 2:
        time.sleep(0.01)
    time.sleep(0.3)  # the last answer is sent, nobody has read it, and the children wait for the next task
    os.kill(os.getpid(), signal.SIGKILL)

in_children([ChildTask(0), ChildTask(1)], work, workers=2, finished=lambda *_: end() or (), method="fork")
"""

WORKERS = """
import os, pathlib, time
from evenhand import always
from evenhand.core.system import Scope, System

def step(_rules, config, state, _action):
    if config == "dies":
        os._exit(7)
    if config == "sleeps":
        pathlib.Path(os.environ["HERE"], str(os.getpid())).touch()
        time.sleep(60)
    return state, ""

def system(*configs):
    return System(name="two", rules=None, configs=lambda _scope, _readings: configs, initial=lambda _config: (0,),
                  step=step, actions=lambda _config, _scope, _state: ("go",), scope=Scope(), types=())

SLEEPS, DIES = system("sleeps", "sleeps"), system("dies", "lives")

@always("The state is 0.")
def zero(state):
    return state == 0
"""
"""Two systems of two configurations each, whose steps sleep or end their process."""


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_no_process_of_a_search_stays(tmp_path: Path, by: signal.Signals) -> None:
    """Ctrl-C ends a search in several processes at once; they end when their parent is killed, too."""
    (tmp_path / "workers.py").write_text(WORKERS, "utf-8")
    here = tmp_path / "here"
    here.mkdir()
    words = [sys.executable, "-m", "evenhand", "explore", "workers.py:SLEEPS", "--jobs", "2", "--method", "explicit"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HERE": str(here)}
    with subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        while len(list(here.iterdir())) < 2 and run.poll() is None:
            time.sleep(0.02)
        run.send_signal(by)
        _, err = run.communicate(timeout=30)
    assert (run.returncode, err) == ((130, b"evenhand: interrupted\n") if by == signal.SIGINT else (-by, b""))
    pids = [int(one.name) for one in here.iterdir()]
    assert len(pids) == 2
    deadline = time.monotonic() + 10
    while any(runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(runs(pid) for pid in pids)


def test_a_process_of_a_search_that_dies_leaves_the_answer_unknown(process: Command, tmp_path: Path) -> None:
    """One line with the exit code of the process, and exit code 3."""
    (tmp_path / "workers.py").write_text(WORKERS, "utf-8")
    answer = process("explore", f"{tmp_path / 'workers.py'}:DIES", "--jobs", "2", "--method", "explicit")
    assert (answer.code, answer.out) == (3, "")
    assert "a process of the search ended with exit code 7; with --jobs 1" in answer.err
    assert answer.err.count("\n") == 1


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    """`evenhand … | head -0`."""
    words = f"{sys.executable} -m evenhand explore latch --json | true"
    run = subprocess.run(
        words, shell=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(PLUGINS)}, capture_output=True, text=True
    )
    assert "Traceback" not in run.stderr


def test_ctrl_c_while_it_loads_is_no_traceback() -> None:
    """The line and the exit code are those of every interrupted command."""
    code = """
import sys
class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == "evenhand.cli.console":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Pressed())
from evenhand.__main__ import main
main()
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "evenhand: interrupted\n")


def test_the_command_starts_quickly_enough_to_be_typed() -> None:
    """`--version` loads no engine, no solver, and no module that reads or writes a format."""
    code = (
        "import sys; sys.argv = ['evenhand', '--version']\nfrom evenhand.cli import app\napp(standalone_mode=False)\n"
    )
    slow = {"z3", "cvc5", "scipy", "numpy", "hypothesis", "jsonschema", "jinja2"}
    check = f"assert not {slow} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code + check], check=True, capture_output=True)


def test_a_search_loads_what_it_needs() -> None:
    """No solver, and nothing that draws."""
    words = ["evenhand", "explore", "apcm", "--system", "conditions", "--json"]
    code = f"import sys; sys.argv = {words}\nfrom evenhand.cli import app\napp(standalone_mode=False)\n"
    check = "assert not {'z3', 'cvc5', 'hypothesis', 'networkx', 'evenhand.smt'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code + check], check=True, capture_output=True)


@pytest.mark.slow
def test_without_a_solver_there_are_no_proofs(process: Command, tmp_path: Path) -> None:
    """`prove` says so and exits 2; no other command needs a solver."""
    for solver in ("z3", "cvc5"):
        (tmp_path / f"{solver}.py").write_text("raise ImportError('not installed here')", "utf-8")
    env = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{PLUGINS}"}
    answer = process("prove", "cud", "--theorem", "no_veto_overridden", **env)
    assert (answer.code, answer.out) == (2, "")
    assert "no SMT solver answers" in answer.err
    assert "pip install z3-solver cvc5" in answer.err
    assert answer.err.count("\n") == 1
    assert process("explore", "latch", **env).code == 0


def test_a_second_request_while_a_lost_one_is_repeated_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python loses an interrupt in a callback of its collector; the next may come while it is sent again."""
    heard: list[str] = []

    class Waiting:
        def __init__(self, *_: object) -> None: ...

        def start(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

        def cancel(self) -> None:
            heard.append("cancelled")

    monkeypatch.setattr("threading.Timer", Waiting)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), console._one_request_to_end():  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        lost: Any = SimpleNamespace(exc_type=KeyboardInterrupt)
        sys.unraisablehook(lost)
        heard.append("repeated")
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
    assert heard == ["repeated", "cancelled"]
    assert signal.getsignal(signal.SIGINT) is before
