"""A check is bounded as a whole, in time and memory, and nothing that a kernel starts outlives it."""

from __future__ import annotations

import json
import os
import re
import selectors
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli import console
from evenhand.conform.adapters import kernels
from evenhand.conform.adapters.kernels import KernelRequest, Piped
from evenhand.conform.adapters.limits import KernelLimits
from evenhand.conform.adapters.wire import DEEPEST, Fault
from evenhand.conform.checking.drawing import drawn, silenced
from evenhand.core.registry import find
from evenhand.processes.clock import Clock, TimeHad
from evenhand.processes.lines import Failure, LineProcess, NoLine
from tests.front.conftest import PLUGINS, ROOT, Command, command_line

WILD = Path(__file__).parent / "wild.py"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="subreapers and /proc are Linux's")


def wild(how: str, mark: str) -> list[str]:
    """Return the command of a kernel that misbehaves; `mark` stands on the command line of all that it starts."""
    return [sys.executable, "-S", str(WILD), how, mark]


def marked(mark: str) -> list[int]:
    """Return the ids of the running kernels with this mark, and of what they started."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        words = command_line(entry).split(b"\0")
        if str(WILD).encode() in words and mark.encode() in words and b"--command" not in words:
            found.append(int(entry.name))
    return found


def gone(mark: str, seconds: float = 5.0) -> bool:
    """Return whether all with this mark are gone soon; those that are not are killed, so that no test leaves any."""
    until = time.monotonic() + seconds
    while marked(mark) and time.monotonic() < until:
        time.sleep(0.02)
    left = marked(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return not left


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """Return a word that no other process has on its command line."""
    return f"mark-{os.getpid()}-{tmp_path.name}"


def until_started(mark: str, count: int) -> None:
    """Wait until so many processes carry the mark."""
    until = time.monotonic() + 10
    while len(marked(mark)) < count:
        assert time.monotonic() < until, "it did not start"
        time.sleep(0.02)


@pytest.mark.parametrize("how", ["orphan", "forks"])
def test_what_a_command_started_ends_with_it(how: str, mark: str) -> None:
    """Also in a session of its own, after two forks, and where processes are started all the time."""
    process = LineProcess(wild(how, mark))
    until_started(mark, 2)
    process.stop()
    assert gone(mark, 0.5)


def test_what_a_command_started_ends_when_the_command_does(mark: str) -> None:
    """Its exit code is still the command's own."""
    process = LineProcess(wild("orphan", mark))
    until_started(mark, 2)
    for pid in marked(mark):
        if b"orphan" in command_line(Path(f"/proc/{pid}")):
            os.kill(pid, signal.SIGTERM)
    with pytest.raises(NoLine) as ended:
        process.line(5.0)
    assert (ended.value.failure, ended.value.code) == (Failure.EXITED, -signal.SIGTERM)
    assert gone(mark, 0.5)
    process.stop()


def test_memory_is_bounded_for_all_that_a_command_starts(mark: str) -> None:
    """Four children below the limit are above it together; each has memory of its own."""
    process = LineProcess(wild("eats", mark), memory=96 << 20)
    process.send([b'{"do":"step","id":1,"action":{"verb":"take","agent":1}}\n'])
    with pytest.raises(NoLine, match="MiB in use, 96 allowed") as ended:
        process.line(10.0)
    assert ended.value.failure is Failure.MEMORY
    assert gone(mark, 0.5)
    process.stop()


def test_the_number_of_processes_is_bounded(mark: str) -> None:
    """Long before the machine takes no more."""
    process = LineProcess(wild("forks", mark), processes=40)
    with pytest.raises(NoLine, match="more than 40 processes") as ended:
        process.line(10.0)
    assert ended.value.failure is Failure.PROCESSES
    assert gone(mark, 0.5)
    process.stop()


def interrupt(_selector: object) -> None:
    """Do as a signal does that arrives just then."""
    raise KeyboardInterrupt


def test_a_kernel_whose_stop_was_interrupted_is_started_anew(monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    """What goes on after the signal must not ask the process that was being stopped."""
    source = Piped("wild", wild("honest", mark), KernelLimits(), hosted=False)
    asked = [KernelRequest(b'"start":{"inside":[]}}', (), ())]
    assert [one.fault for one in source.ask(asked)] == [None]
    monkeypatch.setattr(selectors.DefaultSelector, "close", interrupt)
    with pytest.raises(KeyboardInterrupt):
        source.renew()
    monkeypatch.undo()
    assert gone(mark)
    assert [one.fault for one in source.ask(asked)] == [None]
    source.close()


@pytest.mark.parametrize(("how", "stays"), [("honest", True), ("silent", False)])
def test_a_kernel_whose_answers_nobody_awaits_is_ended_only_if_they_do_not_come(
    monkeypatch: pytest.MonkeyPatch, how: str, stays: bool, mark: str
) -> None:
    """Answers on their way are read and thrown away, and each later one belongs to what was asked."""
    monkeypatch.setattr(kernels, "DRAINED", 60.0 if stays else 0.2)
    source = Piped("wild", wild(how, mark), KernelLimits(), hosted=False)
    take = b'{"agent":1,"verb":"take"}'
    start, busy = (KernelRequest(b'"start":{"inside":[%s]}}' % one, (), ()) for one in (b"", b"2"))
    runs = [start, *(replace(one, actions=(take,) * 3, expected=(b"",) * 3) for one in (busy, start))]
    assert next(source.ask(runs)).fault is None
    before = source.pid
    assert [one.fault for one in source.ask([start])] == [None]
    assert (source.pid == before) == stays
    if stays:
        assert [one.shown for one in source.ask(runs[::-1])] == [("taken", "refused", "refused"), ("refused",) * 3, ()]
    source.close()


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_outlives_a_check_that_a_signal_ends(by: signal.Signals, mark: str) -> None:
    """Not even `kill -9` of evenhand leaves a process in a session of its own."""
    with started(wild("orphan", mark), "--seconds", "60", "--json") as run:
        until_started(mark, 2)
        run.send_signal(by)
        out, err = run.communicate(timeout=20)
    assert gone(mark, 2.0)
    if by is not signal.SIGKILL:
        assert run.returncode == 130, err
        assert json.loads(out)["interrupted"] is True
        assert b"for lack of time" not in out


def test_a_kernel_that_never_answers_is_told_where_there_are_several_systems(mark: str) -> None:
    """Which of them it takes is asked only of a kernel that answers."""
    with started(wild("deaf", mark), "--seconds", "3", "--json", protocol="cud") as run:
        out, err = run.communicate(timeout=60)
    assert run.returncode == 1, err
    assert [one["claim"] for one in json.loads(out)["findings"]] == ["kernel_answers"]


def started(command: list[str], *words: str, protocol: str = "latch") -> subprocess.Popen[bytes]:
    """Start a check of a kernel."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PLUGINS), str(ROOT)])}
    line = [sys.executable, "-m", "evenhand", "check", protocol, "--command", shlex.join(command), *words]
    return subprocess.Popen(
        line, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=hears_hangups
    )


def hears_hangups() -> None:
    """Heed SIGHUP as on a terminal, also where the tests run under `nohup`, whose children ignore it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def checked(how: str, mark: str, *words: str) -> tuple[Any, str]:
    """Return the report of a check of a wild kernel, and what it wrote to standard error."""
    with started(wild(how, mark), *words, "--json") as run:
        out, err = run.communicate(timeout=120)
    assert run.returncode in (0, 1), err
    return json.loads(out), err.decode()


SLOWLY = [pytest.param(one, marks=pytest.mark.deep) for one in ("silent", "drips", "stops", "eats", "forks")]


@pytest.mark.parametrize("how", ["deaf", *SLOWLY])
def test_the_time_bounds_a_check_whatever_its_kernel_does(how: str, mark: str) -> None:
    """It ends a tenth after the time at most, with its finding, and told on the way that it runs."""
    report, err = checked(how, mark, "--seconds", "6")
    assert report["timing"]["total"] <= 6 * 1.1 + 0.5  # the start of the first kernel
    assert [one["claim"] for one in report["findings"]] == ["kernel_answers"]
    assert how != "deaf" or re.search("check latch latch: 0 runs after [56] s", err)
    assert gone(mark, 0.5)


def test_waiting_in_vain_counts_as_time_spent(mark: str) -> None:
    """A kernel that hangs takes no CPU time; by that alone a check of it would never end."""
    source = Piped("wild", wild("silent", mark), KernelLimits(seconds=1.0), hosted=False)
    clock = Clock(by_clock=False, running=lambda: source.pid)
    source.bound(lambda: inf, clock)
    take = KernelRequest(b'"start":{"inside":[2]}}', (b'{"agent":1,"verb":"take"}',), (b"",))
    (start,) = source.ask([replace(take, actions=(), expected=())])
    (hung,) = source.ask([take])
    assert start.fault is None
    assert hung.fault is Fault.HUNG
    assert hung.slow == 1
    assert clock.spent() >= 0.35, "half of it counts"
    source.close()


def test_a_kernel_that_waits_for_a_processor_does_not_hang(monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    """What counts is the time that it had: on a busy machine that is less than by the clock."""
    had = [1.0, None, None]

    def over(_self: TimeHad, _limit: float) -> float | None:
        return had.pop()

    monkeypatch.setattr(TimeHad, "over", over)
    source = Piped("wild", wild("silent", mark), KernelLimits(seconds=0.3), hosted=False)
    take = KernelRequest(b'"start":{"inside":[2]}}', (b'{"agent":1,"verb":"take"}',), (b"",))
    assert [one.fault for one in source.ask([take])] == [Fault.HUNG]
    assert had == []
    source.close()


@pytest.mark.parametrize(("how", "seconds"), [("hangs", "1"), ("dawdles", "2")])
def test_what_takes_long_to_fail_is_told_once_and_then_left_out(cli: Command, how: str, seconds: str) -> None:
    """Each such run costs seconds, and shows what the first one showed."""
    words = ("--examples", "3", "--answer-seconds", seconds, "--json")
    report = json.loads(cli("check", "latch", "--adapter", f"tests.front.conform.latches:{how}", *words).out)
    assert len(report["findings"]) == 1
    (system,) = report["systems"]
    assert system["left_out"]
    assert report["sightings"] <= 8


@pytest.mark.slow
def test_every_engine_has_its_share_and_what_is_left_out_is_said(mark: str) -> None:
    """The drawn runs alone would take several times the time."""
    report, _ = checked("slow", mark, "--seconds", "8")
    (system,) = report["systems"]
    assert {"exhaustive", "machine", "liveness"} <= system["runs"].keys()
    (note,) = [one for one in system["notes"] if one.startswith("left out for lack of time: a part of")]
    assert "machine" in note
    assert report["timing"]["total"] <= 8 * 1.1 + 0.5


def test_cpu_seconds_count_also_those_of_processes_that_a_kernel_started(mark: str) -> None:
    """A kernel whose children compute spends the time of the check, although this process sleeps."""
    process = LineProcess(wild("burns", mark))
    clock = Clock(by_clock=False, running=lambda: process.pid)
    own = time.process_time()
    until = time.monotonic() + 20
    while clock.spent() < 1.5 and time.monotonic() < until:
        time.sleep(0.1)
    assert clock.spent() - (time.process_time() - own) >= 1.0, "its children were not counted"
    process.stop()
    assert gone(mark, 0.5)


def test_cpu_time_is_read_rarely_where_reading_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer of a kernel asks for it; where it takes milliseconds that was a sixth of a check."""
    calls, real = list[int](), os.times

    def slow() -> os.times_result:
        calls.append(1)
        time.sleep(0.02)
        return real()

    monkeypatch.setattr(os, "times", slow)
    clock, end = Clock(by_clock=False), time.monotonic() + 0.5
    while time.monotonic() < end:
        clock.spent()
    assert len(calls) <= 3


def test_an_alarm_waits_for_the_time_and_interrupts_what_does_not_look_at_it() -> None:
    """In a process of its own, because the test runner may use the alarm."""
    program = """
import time
from evenhand.processes.alarm import Hung, until
began, calls = time.monotonic(), []
def left():
    calls.append(1)
    return 0.2 if len(calls) < 3 else -1.0
try:
    with until(left, 0.1):
        while True: pass
except Hung:
    print(time.monotonic() - began)
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert 0.55 <= float(ran.stdout) <= 5.0, ran.stderr


def test_an_alarm_that_goes_off_while_it_is_switched_off_stays_off() -> None:
    """The signal is on its way when the block has ended; left alone, the alarm would go off for ever."""
    program = """
import os, signal
from evenhand.processes.alarm import until
left, real = [5.0], signal.setitimer
def late(which, seconds):
    real(which, seconds)
    if seconds == 0.0 and left[0] > 0:
        left[0] = -1.0
        os.kill(os.getpid(), signal.SIGALRM)
signal.setitimer = late
with until(lambda: left[0], 0.1): pass
print(signal.getsignal(signal.SIGALRM) is signal.SIG_DFL, real(signal.ITIMER_REAL, 0.0)[0])
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert ran.stdout.split() == ["True", "0.0"], ran.stderr


def test_an_alarm_that_goes_off_at_any_call_does_not_outlive_its_block() -> None:
    """Python heeds signals where a call begins or ends, also while the alarm is switched on or off."""
    program = """
import signal, sys
from contextlib import suppress
from evenhand.processes.alarm import Hung, until
seen, at, standing = 0, 0, []
def strike(frame, event, _argument):
    global seen
    stands = signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL
    if event in ("call", "c_return") and stands and frame.f_code.co_name != "over":
        seen += 1
        if seen == at:
            signal.raise_signal(signal.SIGALRM)
while seen >= at:
    seen, at, left = 0, at + 1, iter([1e3])
    sys.setprofile(strike)
    with suppress(Hung), until(lambda: next(left, -1e3), 0.1): int()
    sys.setprofile(None)
    if signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        standing.append(at)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
print(at > 10, standing)
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert ran.stdout == "True []\n", ran.stderr


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_examination_reports_what_was_found(by: signal.Signals, tmp_path: Path) -> None:
    """A kernel that favours a name is found long before the slow rest."""
    (tmp_path / "slow.py").write_text(SLOW, "utf-8")
    there = tmp_path / "there"
    words = ["examine", f"{tmp_path / 'slow.py'}:Slow", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "THERE": str(there)}
    with subprocess.Popen(
        [sys.executable, "-m", "evenhand", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=hears_hangups,
    ) as run:
        until = time.monotonic() + 20
        while not there.exists() and run.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        run.send_signal(by)
        out, err = run.communicate(timeout=20)
    assert run.returncode == 130, err
    report = json.loads(out)
    assert report["interrupted"] is True
    assert any(one["status"] == "REFUTED" for one in report["verdicts"])


SLOW = """
import os, time

class Slow:
    agents = ("ann", "bob")
    calls = 0

    def choices(self, agent):
        return ("take", "leave")

    def act(self, profile):
        Slow.calls += 1
        if Slow.calls > 400:
            open(os.environ["THERE"], "w").close()
            time.sleep(0.2)
        return {agent: ("taken" if agent == "ann" else "refused") for agent in profile}
"""


def test_an_alarm_waits_until_hypothesis_has_counted_its_frames() -> None:
    """An interrupted count of frames would fail the next time that Hypothesis draws."""
    program = """
import time
from evenhand.processes.alarm import Hung, until
frames = {"__name__": "hypothesis.frames", "clock": time.monotonic}
exec("def busy():\\n    end = clock() + 0.5\\n    while clock() < end: pass\\n    return True", frames)
end, counted = time.monotonic() + 0.1, False
try:
    with until(lambda: end - time.monotonic(), 0.0):
        counted = frames["busy"]()
        while True: pass
except Hung:
    print(counted)
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert ran.stdout == "True\n", ran.stderr


def test_progress_is_told_off_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A line after some seconds, then now and then."""
    monkeypatch.setattr(console, "FIRST_LINE", 0.0)
    with console.counting("check it", "run") as progress:
        progress(3, 3)
        progress(5, 5)
    assert capsys.readouterr().err == "check it: 3 runs after 0 s\n"


def test_drawn_runs_are_repeated_without_each_agent() -> None:
    """An agent that stays silent is among the schedules of every check."""
    bundle = find("markspace")
    system = bundle.model.systems["first_writer"]
    generator = next((one for one in bundle.generators if one.system == system.name), None)
    assert system.actor is not None
    run = max(drawn(system, generator, examples=20, steps=12, seed=0), key=lambda one: len(one.actions))
    actors = {system.actor(action) for action in run.actions} - {""}
    assert len(actors) > 1
    made = dict(silenced(system, run, {}, 1))
    assert made.keys() == actors
    for agent, without in made.items():
        assert [one for one in run.actions if system.actor(one) != agent] == list(without.actions)
    assert not list(silenced(system, run, dict.fromkeys(actors, 1), 1))


def test_what_no_value_is_costs_no_report(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer is a finding that is written in every form, and one nested too deeply for them is no answer."""
    deep: Any = "x"
    for _ in range(DEEPEST - 2):
        deep = [deep]
    wrong: dict[str, Any] = {
        "set": {"$": "FreeShown", "tokens": {"$set": 5}},
        "choice": {"$chosen": {"$set": [{}, 1]}},
        "deepest": {"$": "FreeShown", "tokens": deep},
        "deeper": {"$": "FreeShown", "tokens": [deep]},
    }
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "no_values.py").write_text(
        "class Kernel:\n    def step(self, action):\n        return self.said\n\n\n"
        "def make(said):\n    return lambda _initial: type('One', (Kernel,), {'said': said})()\n\n\n"
        + "".join(f"{name} = make({said!r})\n" for name, said in wrong.items()),
        "utf-8",
    )
    small = ("--system=free", "--scope=keys=1,values=1", "--examples=0", "--pairs=0", "--liveness=0", "--first")
    for name in wrong:
        words = ["check", "cud", "--adapter", f"no_values:{name}", "--out", str(tmp_path / name), "--json", *small]
        answer = cli(*words)
        assert answer.code == 1, answer.err
        (one,) = json.loads(answer.out)["findings"]
        assert one["fault"] == (Fault.GARBAGE if name == "deeper" else Fault.ILLEGAL).value
