"""Run a Python adapter in a child: `python -m evenhand.conform.adapters.host module:factory`.

It reads requests from standard input and writes one answer to each, as `schema/wire.json` says.  The adapter gets
neither stream; it prints to standard error.  Its input is compared with what was sent, on the first scenarios and on
each new action, because a kernel that writes to its input would change its caller's data in a shared process.

`{"do":"fresh",…}` is a start in a process of its own, forked before any kernel was made; it lasts until `end`.  What
kernels put into the folder for temporary files, if that is this process's alone, is out of its sight.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
import traceback
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from evenhand.conform.adapters.door import Door
from evenhand.core.kernel import Unsupported
from evenhand.core.loading import NotLoaded, value_at

OWN_FOLDER = "EVENHAND_OWN_FOLDER"
"""The variable that names the folder for temporary files where it is this process's alone."""

NOT_LOADED = 70
"""Exit code of a host whose adapter does not load: the caller's mistake, not the kernel's."""

WATCHED = 64
"""Scenarios whose configuration is compared with what was sent after every step."""

ACTIONS = 2_048
"""Distinct actions compared with what was sent."""

FRESH, END = b'{"do":"fresh"', b'{"do":"end"'

LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")} | {os.path.dirname(__file__)})
"""Where a line is not the adapter's own."""

DOOR = sys.modules[Door.__module__].__file__

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def load_factory(name: str) -> Callable[[Any], Any]:
    """Return the factory `package.module:attribute` or `FILE.py:attribute`.  Raises ValueError that says why not."""
    try:
        found = value_at(name)
    except NotLoaded as error:
        raise NotLoaded(f"adapter {error}") from error
    if not callable(found):
        kind = type(found).__name__
        raise ValueError(f"adapter {name!r} is no function: {kind}. Name one that takes the start and returns a kernel")
    made: Callable[[Any], Any] = found
    return made


class NotMade(Exception):
    """A factory returned something that is no kernel."""


class Host:
    """Answers requests with one factory; one kernel at a time."""

    def __init__(self, factory: Callable[[Any], Any]) -> None:
        self.factory = factory
        self.kernel: Any = None
        self.tells_state = self.tells_facts = False
        self.scenarios = 0
        self.seen: set[bytes] = set()
        self.pass_on: Callable[..., Any] | None = None
        self.astray = False
        self.own_file = ""
        self.sent: Any = None
        self.given: Any = None

    def answer(self, line: bytes) -> bytes:
        """Return the answer to one request, without its line feed."""
        request = json.loads(line)
        number: int = request["id"]
        try:
            return b'{"id":%d%s}' % (number, self._done(request, line))
        except Unsupported as error:
            return _encoder.encode({"id": number, "unsupported": str(error) or "no reason given"}).encode(
                "utf-8", "replace"
            )
        except NotMade as error:
            return _encoder.encode({"id": number, "no_kernel": str(error)}).encode()
        except BaseException as error:  # an exit or an interrupt raised by a kernel is the kernel's answer, too
            text = f"{type(error).__name__}: {error!s:.500}{_place(error, self.own_file)}"
            return _encoder.encode({"id": number, "error": text}).encode("utf-8", "replace")

    def _done(self, request: Any, line: bytes) -> bytes:
        match request["do"]:
            case "step":
                return self._stepped(request, line)
            case "start" | "fresh":
                self._started(request, line)
                return b""
            case _:
                self.kernel = None
                return b""

    def _started(self, request: Any, line: bytes) -> None:
        self.kernel, self.astray, self.own_file = None, False, ""
        self.scenarios += 1
        self.given = {name: request[name] for name in ("protocol", "system", "config", "start")}
        again = json.loads(line) if self.scenarios <= WATCHED else None
        self.sent = None if again is None else {name: again[name] for name in self.given}
        made = self.factory(self.given)
        if not callable(getattr(made, "step", None)):
            raise NotMade(type(made).__name__)
        self.kernel = made
        self.tells_state = callable(getattr(self.kernel, "state", None))
        self.tells_facts = callable(getattr(self.kernel, "facts", None))
        passes = getattr(self.kernel, "pass_on", None)
        self.pass_on = passes if callable(passes) else None

    def _stepped(self, request: Any, line: bytes) -> bytes:
        if self.kernel is None:
            raise RuntimeError("there is no kernel: its factory failed")
        action = request["action"]
        if self.pass_on is None or not ("raw" in request or self.astray):
            return self._told(action) + self._mutated(action, line)
        self.kernel.pass_on = door = Door(self.pass_on, request.get("raw"))
        code = getattr(getattr(self.pass_on, "__func__", None), "__code__", None)
        self.own_file = "" if code is None else code.co_filename
        try:
            made = self._told(action)
        except Exception as error:
            if door.taken and _is_unwritten(error) and not _place(error, self.own_file):
                raise Unsupported("a number without end cannot be sent") from error
            own = door.failed is None or isinstance(error, Unsupported)
            if not own or not (door.taken or self.astray):
                raise
            made = b',"shown":{"$unknown":true}'  # the adapter cannot read what the kernel answered to this
        finally:
            self.kernel.pass_on, self.astray = self.pass_on, self.astray or bool(door.taken)
        if "raw" not in request or (request["raw"] and door.taken is None):
            return made
        told = {"taken": door.taken} if request["raw"] else {"messages": door.messages}
        return made + b',"raw":' + _encoded(told, "pass_on")

    def _told(self, action: Any) -> bytes:
        """What the kernel shows, and its state and facts if it tells them."""
        shown = self.kernel.step(action)
        made = b',"shown":' + _encoded(shown, "step")
        if self.tells_state:
            made += b',"state":' + _encoded(self.kernel.state(), "state")
        if self.tells_facts:
            made += b',"facts":' + _encoded(self.kernel.facts(), "facts")
        return made

    def _mutated(self, action: Any, line: bytes) -> bytes:
        """The changed part of its input, at most one for each step."""
        content = line[line.find(b'"action"') :]
        if content not in self.seen and len(self.seen) < ACTIONS:
            self.seen.add(content)
            if json.loads(line)["action"] != action:
                return b',"mutated":"the action"'
        if self.sent is not None and self.sent != self.given:
            self.sent = None
            return b',"mutated":"the initial data"'
        return b""


class Pristine:
    """A process forked before the first kernel is made, which forks one for each group of requests."""

    def __init__(self, host: Host, requests: int, answers: int) -> None:
        (self._asked, self._ask), (self._told, self._tell) = os.pipe(), os.pipe()
        self._folder = os.environ.get(OWN_FOLDER)
        self._loaded = os.listdir(self._folder) if self._folder else ()  # before the other process makes more
        if os.fork():
            os.close(self._asked)
            os.close(self._tell)
            return
        os.close(requests)
        os.close(self._ask)
        os.close(self._told)
        self._serve(host, answers)

    def answer(self, lines: list[bytes]) -> None:
        """Have the lines answered; exit as the process does that answers them."""
        data = b"\n".join(lines)
        _write(self._ask, b"%d\n" % len(data) + data)
        code = os.read(self._told, 1)
        if code != b"\0":
            os._exit(code[0] if code else 1)

    def _serve(self, host: Host, answers: int) -> None:
        with os.fdopen(self._asked, "rb") as asked:
            while size := asked.readline():
                lines = asked.read(int(size)).split(b"\n")
                with _put_aside(self._folder, self._loaded) if self._folder else nullcontext():
                    child = os.fork()
                    if not child:
                        os.close(self._tell)
                        for line in lines:
                            _write(answers, host.answer(line) + b"\n")
                        sys.stdout.flush()
                        os._exit(0)
                    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                os.write(self._tell, bytes([code % 256]))
        os._exit(0)


@contextmanager
def _put_aside(folder: str, loaded: Collection[str]) -> Generator[None]:
    """Put all files but those `loaded` with the adapter out of a folder, and back in place of those made meanwhile.

    They are only renamed, so whoever has one open, or knows its name, finds it as it was.
    """
    _move(folder, f"{folder}-aside", loaded)
    yield
    _move(folder, f"{folder}-past", loaded)
    _move(f"{folder}-aside", folder, ())
    shutil.rmtree(f"{folder}-past", ignore_errors=True)


def _move(source: str, target: str, kept: Collection[str]) -> None:
    """Move the files but those `kept`, as far as they can be moved: a kernel may do anything to them."""
    with suppress(OSError):
        os.makedirs(target, exist_ok=True)
        for name in os.listdir(source):
            if name not in kept:
                with suppress(OSError):
                    os.rename(os.path.join(source, name), os.path.join(target, name))


def _encoded(value: Any, name: str) -> bytes:
    """Return what a method of the kernel returned, as JSON.  Raises TypeError that names the method."""
    try:
        return _encoder.encode(value).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"what {name}() returned is no JSON: {error}") from error


def _is_unwritten(error: BaseException | None) -> bool:
    """Whether an encoder of JSON refused a number, which a library may tell as an error of its own."""
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        if frames and frames[-1].filename == json.encoder.__file__:
            return True
        error = error.__context__
    return False


def _place(error: BaseException, without: str) -> str:
    """Return the last line of the adapter or the kernel on the way to an error, and the library that raised it.

    Behind a door only lines of the kernel count, none of the file `without`.
    """
    frames = [*traceback.extract_tb(error.__traceback__)]
    doors = [place for place, frame in enumerate(frames) if frame.filename == DOOR]
    frames = frames[doors[-1] + 1 :] if doors else frames
    own = [frame for frame in frames if not frame.filename.startswith((*LIBRARIES, "<")) and frame.filename != without]
    if not own:
        return ""
    inside = "" if own[-1] is frames[-1] else f", in a call of {os.path.basename(frames[-1].filename)}"
    return f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno}{inside})"


def main(words: list[str]) -> None:
    """Serve until standard input ends."""
    (name,) = words
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    try:
        host = Host(load_factory(name))
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(NOT_LOADED) from error
    pristine = Pristine(host, requests, answers) if hasattr(os, "fork") else None
    rest, group = b"", list[bytes]()
    while chunk := os.read(requests, 1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if group or (pristine is not None and line.startswith(FRESH)):
                group.append(line)
                if pristine is not None and line.startswith(END):
                    pristine.answer(group)
                    group = []
            else:
                _write(answers, host.answer(line) + b"\n")


def _write(target: int, data: bytes) -> None:
    """Write all of `data`, because a pipe may take less at a time."""
    while data:
        data = data[os.write(target, data) :]


if __name__ == "__main__":
    main(sys.argv[1:])
