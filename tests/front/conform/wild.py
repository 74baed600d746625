"""A latch that misbehaves with processes, memory and time; the arguments select how, and mark what it starts.

It runs as a program and imports nothing of evenhand, like a kernel in another language.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

MEBIBYTE = 1 << 20


def alone(mark: str) -> None:
    """Start a process in a session of its own, by two forks, as a daemon does; return when it runs."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-S", __file__, "sleeps", mark, str(writer)])
        os._exit(0)
    os.wait()
    os.close(writer)
    del reader


def eat(mebibytes: int) -> bytearray:
    """Take memory and touch each page."""
    taken = bytearray(mebibytes * MEBIBYTE)
    taken[::4096] = b"x" * len(taken[::4096])
    return taken


def before(how: str, mark: str) -> None:
    """Misbehave before anything is read."""
    match how:
        case "sleeps" | "deaf":
            time.sleep(3_600)
        case "orphan":
            alone(mark)
        case "forks":
            while True:
                if os.fork() == 0:
                    time.sleep(3_600)
        case "burns":
            for _ in range(3):
                if os.fork() == 0:
                    while True:
                        pass
        case _:
            pass


def during(how: str, text: str) -> str:
    """Misbehave in place of an answer to a step."""
    match how:
        case "silent":
            time.sleep(3_600)
        case "drips":
            for byte in text:
                os.write(1, byte.encode())
                time.sleep(1.0)
        case "slow":
            time.sleep(0.04)
        case "stops":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "eats":
            for _ in range(4):  # each less than the limit
                if os.fork() == 0:
                    _kept = eat(48)
                    time.sleep(3_600)
            time.sleep(3_600)
        case _:
            pass
    return text


def main(how: str, mark: str) -> None:
    """Serve requests until the input ends."""
    before(how, mark)
    inside: list[int] = []
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {"id": request["id"]}
        if request["do"] == "start":
            inside = list(request["start"]["inside"])
        if request["do"] == "step":
            verb, agent = request["action"]["verb"], request["action"]["agent"]
            answer["shown"] = "left" if verb == "leave" else "refused" if inside else "taken"
            if verb == "leave":
                inside = [one for one in inside if one != agent]
            elif not inside:
                inside = [agent]
            print(during(how, json.dumps(answer)), flush=True)
        else:
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
