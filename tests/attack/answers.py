"""Answers of strangers: kernels behind `check`, `vectors` and `examine`, and messages to the server of tools."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from tests.attack.mutation import mutated, values
from tests.attack.running import ANSWERS, Arena, End, faults_of
from tests.attack.table import Attack, Row

LATCH, DESK = (shlex.join([sys.executable, "-m", "tests.attack.liar", what]) for what in ("check", "examine"))
LIMITS = ("--seconds", "4", "--answer-seconds", "0.3", "--memory", "300")
MEMORY = 300
COMMANDS: dict[str, tuple[str, ...]] = {
    "answers to check": ("check", "latch", "--command", LATCH, *LIMITS, "--json"),
    "deeds under check": ("check", "latch", "--command", LATCH, *LIMITS, "--json"),
    "answers of an adapter to check": ("check", "latch", "--adapter", "tests.attack.liar:Adapter", *LIMITS, "--json"),
    "answers to vectors": ("vectors", "latch", "verify", "--out", "{vectors}", "--command", LATCH, "--json"),
    "answers to examine": ("examine", "--command", DESK, "--seconds", "4", "--examples", "2", "--json"),
    "deeds under examine": (
        "examine",
        "--command",
        DESK,
        "--seconds",
        "4",
        "--examples",
        "1",
        "--json",
    ),
}
"""Commands that ask a kernel, with its memory bounded where it can be."""

COUNTS = {name: (600, 1) if name.startswith("deeds") else (1_200, 3) for name in COMMANDS}


def attacks(arena: Arena) -> Iterator[Attack]:
    """Yield an attack for each command that asks a kernel, and one on the server of tools."""
    del arena
    for name, (whole, few) in COUNTS.items():
        yield Attack("answers", name, whole, few, partial(lies, name))
    yield Attack("answers", "messages to mcp", 2_000, 40, messages)


def lies(name: str, arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Run the command until its kernels made so many mutated answers, or did so many deeds."""
    vectors = arena.once("vectors", lambda: _vectors(arena))
    while row.tried < trials:
        place = arena.new()
        counted, seed = place / "counted", random.randrange(10**9)
        deeds, answers = (0.1, 0.02) if name.startswith("deeds") else (0.0, random.choice((0.02, 0.1, 0.4)))
        liar = {"LIAR": f"{seed} {answers} {deeds} {counted}"}
        words = [word.format(vectors=vectors) for word in COMMANDS[name]]
        ran = arena.run(words, folder=place, env=liar, starts=True, readable=[vectors])
        faults = [*ran.faults(arena.base, limit=MEMORY), *faults_of(ran.last), *_unreadable(ran.last)]
        tried = counted.stat().st_size if counted.exists() else 0
        row.count(f"{name} LIAR={liar['LIAR']!r}", faults, trials=max(tried, 1))


def _vectors(arena: Arena) -> str:
    place = arena.new()
    commands = [("vectors", "latch", do, "--out", "vectors") for do in ("generate", "freeze")]
    made = arena.run(*commands, folder=place, seconds=120)
    assert [end.code for end in made.ends] == [0, 0], made
    return str(place / "vectors")


def _unreadable(end: End) -> Iterator[str]:
    """Yield a fault where what was printed is no JSON, or cannot be repeated as UTF-8."""
    if end.code in ANSWERS and end.code != 2:
        try:
            json.loads(end.out)
            end.out.encode()
        except ValueError as error:
            yield f"what it prints cannot be read: {error!s:.80}"


CLIENT = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
HELLO: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": CLIENT}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_claims", {"protocol": "latch"}),
    ("list_claims", {}),
    ("verify_claim", {"protocol": "latch", "claim": "x", "seconds": 0}),
    ("show_counterexample", {"file": "../outside/secret.json", "seconds": 0.5}),
)


def messages(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Send mutated messages; the server ends with its input, in order."""
    each = 50
    for first in range(0, trials, each):
        place = arena.new()
        count = min(each, trials - first)
        lines = [json.dumps(HELLO).encode(), b'{"jsonrpc": "2.0", "method": "notifications/initialized"}']
        for number in range(count):
            tool, given = random.choice(CALLS)
            call = {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": tool, "arguments": given},
            }
            lines.append(mutated(call, random, [*values(call), "tools/list", "ping", "resources/list"]))
        (place / "input").write_bytes(b"\n".join(lines) + b"\n")
        ran = arena.run(["mcp"], folder=place, input=str(place / "input"), starts=True)
        faults = [*ran.faults(arena.base), *faults_of(ran.last, (0,))]
        row.count(f"mcp < {(place / 'input').read_bytes()[:2_000]!r}", faults, trials=count)
