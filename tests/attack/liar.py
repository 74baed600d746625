"""Kernels whose answers are mutated: a program for `check`, `vectors` and `examine`, and adapters in Python.

The variable `LIAR` has the seed, the share of answers that are mutated, the share of deeds instead of an answer, and a
file to which each of them adds a byte.  What is done depends on the request alone, so that a run can be repeated.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

from tests.attack.mutation import ODD, mutated, values

WORDS = ("taken", "refused", "left", "no", "got", ["ask", "pass"], {"ann": "got"}, {"$": "State", "inside": [0]})


class Liar:
    """Decides what happens to each answer."""

    def __init__(self) -> None:
        seed, answers, deeds, self.file = os.environ["LIAR"].split(" ", 3)
        self.seed, self.answers, self.deeds = seed, float(answers), float(deeds)

    def random(self, asked: Any) -> Random:
        """Return the source of chance for a request."""
        return Random(f"{self.seed} {asked!r}")

    def count(self) -> None:
        """Count one more mutation or deed."""
        with open(self.file, "ab") as file:
            file.write(b"x")

    def answered(self, asked: Any, answer: dict[str, Any]) -> bytes:
        """Return the line of an answer, as it is or mutated."""
        random = self.random({key: value for key, value in asked.items() if key != "id"})
        chance = random.random()
        if chance < self.deeds:
            self.count()
            deed(random)
        elif chance < self.deeds + self.answers:
            self.count()
            return mutated(answer, random, [*values(answer), *WORDS])
        return json.dumps(answer).encode()


def deed(random: Random) -> None:
    """Do something else than answer."""
    match random.randrange(9):
        case 0:
            time.sleep(3_600)
        case 1:
            os._exit(random.choice((0, 1, 70, 127)))
        case 2:
            os.kill(os.getpid(), random.choice((signal.SIGSTOP, signal.SIGSEGV, signal.SIGKILL, signal.SIGPIPE)))
        case 3:
            os.close(1)
            time.sleep(3_600)
        case 4:
            kept = bytearray(400 << 20)
            kept[::4096] = b"x" * len(kept[::4096])
            time.sleep(3_600)
        case 5 if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            time.sleep(3_600)
        case 6:
            os.write(2, b"\x1b[2J\xff" * 100_000)
        case 7:
            for _ in range(50):
                os.write(1, b"x")
                time.sleep(0.1)
        case _:
            os.write(1, b"x" * (1 << 21))


def latch(asked: dict[str, Any], inside: list[int]) -> dict[str, Any]:
    """Answer a request of `check` as an honest latch does."""
    if asked["do"] == "start":
        inside[:] = asked["start"]["inside"]
    if asked["do"] != "step":
        return {"id": asked["id"]}
    verb, agent = asked["action"]["verb"], asked["action"]["agent"]
    shown = "left" if verb == "leave" else "refused" if inside else "taken"
    inside[:] = [one for one in inside if one != agent] if verb == "leave" else inside or [agent]
    return {"id": asked["id"], "shown": shown, "state": {"$": "State", "inside": list(inside)}}


def desk(asked: dict[str, Any], past: list[int]) -> dict[str, Any]:
    """Answer a request of `examine` as an honest desk does: one who asks alone gets it."""
    shown: Any = None
    match asked["do"]:
        case "start":
            past[:], shown = [0], {"offers": ["agents", "observe"], "agents": ["left", "right"]}
        case "choices":
            shown = ["ask", "pass"]
        case "observe":
            shown = past[0]
        case "act":
            asking = [agent for agent, choice in asked["choices"] if choice == "ask"]
            past[0] += len(asking)
            shown = {agent: "got" if asking == [agent] else "no" for agent, _ in asked["choices"]}
        case _:
            pass
    return {"id": asked["id"], "shown": shown}


def odd_objects() -> Iterator[Any]:
    """Yield values of Python that have no JSON, or a strange one."""
    loop: list[Any] = []
    loop.append(loop)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    class Text(str):
        def __repr__(self) -> str:
            raise RuntimeError("no repr")

        def __eq__(self, other: object) -> bool:
            raise SystemExit(0)

        __hash__ = str.__hash__

    class Table(dict[str, Any]):
        def items(self) -> Any:
            raise KeyboardInterrupt

    yield from ({1}, b"x", object(), loop, deep, Decimal("NaN"), float("nan"), 1 << 4_000, "\ud800", Text("taken"))
    yield from (Table(x=1), (n for n in (1,)), int, NotImplemented, {1: 2}, {"a": {"b": {3}}}, lambda: 1, *ODD)


class Adapter:
    """A latch behind the adapter for Python."""

    def __init__(self, initial: Any) -> None:
        self.liar, self.inside, self.steps = Liar(), list(initial["start"]["inside"]), 0

    def step(self, action: Any) -> Any:
        """Answer honestly, or with an odd object."""
        self.steps += 1
        random = self.liar.random((action, self.inside, self.steps))
        shown = latch({"do": "step", "id": 0, "action": action}, self.inside)["shown"]
        if random.random() < self.liar.answers:
            self.liar.count()
            return random.choice([*odd_objects()])
        return shown


def main() -> None:
    """Serve requests until the input ends."""
    liar, state = Liar(), list[int]()
    serve = {"check": latch, "examine": desk}[sys.argv[1]]
    for line in sys.stdin:
        asked = json.loads(line)
        sys.stdout.buffer.write(liar.answered(asked, serve(asked, state)) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
