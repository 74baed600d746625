"""Run commands for the attack: load evenhand once, fork for each request, bound it, watch it, and report its end.

A program of its own: one JSON request a line on standard input, one JSON reply a line on standard output.  A forked
child goes through the same boundary as a command of its own (`evenhand.__main__.main`), but starts forty times faster.
An audit hook hears every file that the child opens or changes, every program that it starts and every address that it
connects to.  The launcher is a subreaper, so that everything that a command leaves behind becomes its child.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import io
import json
import os
import select
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from evenhand.processes.clock import TimeHad
from evenhand.processes.launch import descendants, memory_of_all

ROOT = Path(__file__).parents[2]
GRACE = 5.0
"""Seconds after the end of a command in which everything that it started must end."""
LOOK = 0.02
SAMPLE = 0.1
"""Seconds between two looks at the child, and at the memory of all that it started."""
ENOUGH = 400 << 20
"""Bytes of memory above which shared memory is not counted twice."""

SHOWN = 200_000
"""Characters of output in a reply."""

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
LISTS = {"os.listdir", "os.scandir"}
STARTS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pty.spawn"}
READABLE = (ROOT, sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev/null",
            "/dev/urandom", "/dev/shm", os.environ.get("PYTHONPYCACHEPREFIX", "/usr"))  # fmt: skip


class Listener:
    """Writes to a file what the child does outside `writable` and `readable` folders; forked children too."""

    def __init__(self, file: str, request: dict[str, Any]) -> None:
        self.number = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)
        inside = (request["folder"], os.path.dirname(file), "/dev/shm", *request.get("writable", ()))
        self.writable = tuple(map(os.path.realpath, inside))
        self.readable = (*self.writable, *map(os.path.realpath, map(str, (*READABLE, *request.get("readable", ())))))
        self.starts = bool(request.get("starts"))
        self.own = os.path.realpath(os.environ.get("PYTHONPYCACHEPREFIX") or "/dev/null")

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Hear one event of the interpreter."""
        if event == "open" and not isinstance(arguments[0], int):
            self.path("writes" if (arguments[2] or 0) & WRITES else "reads", arguments[0])
        elif event in CHANGES:
            self.path("changes", arguments[0])
            if event in ("os.rename", "os.link"):
                self.path("changes", arguments[1])
        elif event in LISTS and not isinstance(arguments[0], int):
            self.path("reads", arguments[0] or ".")
        elif event in STARTS and not self.starts:
            self.tell(f"starts {arguments[0]!s:.100}")
        elif event == "socket.connect" and _is_far(arguments[1]):
            self.tell(f"connects to {arguments[1]!s:.100}")

    def path(self, what: str, path: Any) -> None:
        """Hear of a path."""
        try:
            whole = os.path.realpath(os.fsdecode(path))
        except (TypeError, ValueError):  # it can be none
            return
        allowed = self.readable if what == "reads" else (*self.writable, "/dev/null", "/dev/full", self.own)
        if not any(whole == one or whole.startswith(f"{one.rstrip('/')}/") for one in allowed):
            self.tell(f"{what} {whole:.200}")

    def tell(self, what: str) -> None:
        """Write a line."""
        os.write(self.number, (ascii(what) + "\n").encode())


def _is_far(address: Any) -> bool:
    return isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1")


def loaded() -> None:
    """Import what the commands import, and run some once, so that forked children need not."""
    from evenhand.cli import COMMANDS
    from evenhand.core import registry

    for name in COMMANDS:
        COMMANDS[name]
    for module in (
        "search",
        "machine",
        "jobs.proving",
        "variants.separate",
        "jobs.unplanned",
        "web.app",
        "report.forms",
    ):
        __import__(f"evenhand.{module}")
    __import__("uvicorn")
    registry.protocols()
    record = sorted((ROOT / "counterexamples" / "cud").glob("*.json"))[0]
    with tempfile.TemporaryDirectory() as out:
        report = ["verify", "latch", "--jobs", "1", "--out", out]
        for words in (report, ["show", str(record)], ["replay", str(record), "--json"], ["campaign", "plan", "latch"]):
            _called(words)
    gc.collect()
    gc.freeze()


def _called(words: list[str]) -> int:
    """Call a command as the script does, and return its exit code."""
    from evenhand.__main__ import main

    sys.argv = ["evenhand", *words]
    for name, number in (("stdout", 1), ("stderr", 2)):
        setattr(sys, name, None)  # as Python does for a closed output
        with suppress(OSError):
            setattr(sys, name, io.TextIOWrapper(io.FileIO(number, "w", closefd=False)))
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    return 0


def _child(request: dict[str, Any], spool: str, answers: int) -> NoReturn:
    """Run the commands of a request one after the other, tell how each ended, and end as the last one did."""
    os.setpgid(0, 0)
    os.environ.update(request.get("env", {}))
    os.chdir(request["folder"])
    os.dup2(os.open(request.get("input") or os.devnull, os.O_RDONLY), 0)
    for one in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError, ValueError):
            signal.signal(one, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.addaudithook(Listener(f"{spool}/outside", request))
    code = 0
    for words in request["commands"]:
        for number, name in ((1, "out"), (2, "err")):
            _redirect(number, request.get(name, ""), f"{spool}/{name}")
        os.write(answers, b"\n")
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        try:
            code = _called(words)
        except KeyboardInterrupt:  # after the end of the command, before the end of its process
            code = 130
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
        if len(request["commands"]) > 1:
            told = {"code": code, "out": _text(f"{spool}/out"), "err": _text(f"{spool}/err")}
            os.write(answers, json.dumps(told).encode() + b"\n")
    threading._shutdown()  # type: ignore[attr-defined] # pyright: ignore
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    os._exit(code)


def _redirect(number: int, where: str, usual: str) -> None:
    """Lead an output to a file or a device; `closed`: nowhere; `pipe`: into a pipe that nobody reads."""
    if where == "closed":
        with suppress(OSError):
            os.close(number)
        return
    if where == "pipe":
        reader, made = os.pipe()
        os.close(reader)
    else:
        made = os.open(where or usual, os.O_WRONLY | (0 if where else os.O_CREAT | os.O_TRUNC))
    os.dup2(made, number)
    os.close(made)


def _text(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read(SHOWN)
    return ""


class Watched:
    """A running child of the launcher, until it has ended and everything that it started is gone."""

    def __init__(self, request: dict[str, Any], spool: str) -> None:
        self.request, self.spool = request, spool
        self.seconds = float(request.get("seconds", 20.0))
        self.heard, self.memory, self.hung = b"", 0, False
        for name in ("out", "err", "outside"):
            with suppress(OSError):
                os.unlink(f"{spool}/{name}")
        self.reader, writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.pid = os.fork()
        if not self.pid:
            try:
                _child(request, spool, writer)
            except KeyboardInterrupt:  # the second of two signals, when the first had ended the command
                os._exit(130)
            except BaseException as error:  # a fault of this program: the traceback is told as the command's
                with suppress(BaseException):
                    os.write(2, f"Traceback of the launcher: {error!r}".encode())
            os._exit(71)
        os.close(writer)

    def reply(self) -> dict[str, Any]:
        """Wait for the end; return how it ended."""
        began = time.monotonic()
        status = self._wait()
        seconds = time.monotonic() - began
        left = self._left()
        lines = self.heard.split(b"\n")
        ends = [json.loads(line) for line in lines if line.startswith(b"{")]
        code = os.waitstatus_to_exitcode(status)
        if len(ends) < len(self.request["commands"]):
            ends.append({"code": code, "out": _text(f"{self.spool}/out"), "err": _text(f"{self.spool}/err")})
        outside = _text(f"{self.spool}/outside").splitlines()
        return {
            "ends": ends, "code": code, "seconds": seconds, "memory": self.memory >> 20, "hung": self.hung,
            "left": left, "outside": sorted(set(outside))[:20],
        }  # fmt: skip

    def _wait(self) -> int:
        signals = [list(one) for one in self.request.get("signals", ())]  # [[number, seconds after the start], …]
        started, sampled, had = 0.0, 0.0, TimeHad(self.pid)  # a busy machine makes nothing hang
        while True:
            now = time.monotonic()
            due = max(0.0, started + signals[0][1] - now) if started and signals else LOOK
            if select.select([self.reader], [], [], min(LOOK, due))[0]:
                more = self._hear()
                if not more:
                    time.sleep(0.0005)
                started = started or time.monotonic()
                had = TimeHad(self.pid) if more else had
            pid, status, _ = os.wait4(self.pid, os.WNOHANG)
            if pid:
                while self._hear():  # what it told between the last look and its end
                    pass
                return status
            now = time.monotonic()
            while started and signals and now >= started + signals[0][1]:
                os.kill(self.pid, signals.pop(0)[0])
            if now - sampled > SAMPLE:
                self.hung = self.hung or had.over(self.seconds) is not None
                self.memory, sampled = max(self.memory, memory_of_all([self.pid, *descendants(self.pid)], ENOUGH)), now
            if self.hung:
                _kill_all()

    def _hear(self) -> bytes:
        """Take what the child has told by now."""
        more = b""
        with suppress(BlockingIOError):
            more = os.read(self.reader, 1 << 20)
        self.heard += more
        return more

    def _left(self) -> list[str]:
        """What is still there after the grace; it is killed."""
        until = time.monotonic() + GRACE
        while (there := _reaped()) and time.monotonic() < until:
            time.sleep(0.01)
        told = [_text(f"/proc/{pid}/cmdline").replace("\0", " ").strip()[:200] or str(pid) for pid in there]
        while there:
            _kill_all()
            there = _reaped()
        os.close(self.reader)
        return told


def _reaped() -> list[int]:
    """Reap what has ended; return what runs below this process."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return list(descendants(os.getpid()))


def _kill_all() -> None:
    for pid in descendants(os.getpid()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _disk(request: dict[str, Any]) -> bool:
    """Mount a small or read-only disk over a folder, or take it away; return whether this machine can."""
    what = request["disk"]
    c = ctypes.CDLL(None, use_errno=True)
    at = what["at"].encode()
    if not what.get("bytes"):
        return bool(c.umount2(at, 2) == 0)
    flags = 1 if what.get("read_only") else 0
    return bool(c.mount(b"tmpfs", at, b"tmpfs", flags, f"size={what['bytes']},nr_inodes=200".encode()) == 0)


def main() -> None:
    """Answer requests until the input ends."""
    spool = sys.argv[1]
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)
    sys.dont_write_bytecode = True
    errors = os.dup(2)
    os.dup2(nothing, 2)
    loaded()
    os.dup2(errors, 2)
    answers.write(json.dumps({"memory": memory_of_all([os.getpid()], ENOUGH) >> 20}) + "\n")
    answers.flush()
    for line in requests:
        request = json.loads(line)
        made = {"mounted": _disk(request)} if "disk" in request else Watched(request, spool).reply()
        answers.write(json.dumps(made) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
