"""`evenhand mcp` and a real client: each tool once, the limits of time, and what must not be called `holds`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from mcp import Client, StdioServerParameters

from evenhand.cli.answers import MEANINGS, answered, of_claim
from tests.front.conftest import PLUGINS, ROOT

T = TypeVar("T")
KEPT = "cud/deadlock_free--reference--400f420c.json"


def talk(work: Callable[[Client], Awaitable[T]], folder: Path = ROOT) -> T:
    """Run `work` with a client of a server process."""
    path = os.pathsep.join([str(PLUGINS), str(ROOT)])
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "evenhand", "mcp"], env={**os.environ, "PYTHONPATH": path}, cwd=str(folder)
    )

    async def session() -> T:
        async with Client(server) as client:
            return await work(client)

    with ThreadPoolExecutor(1) as thread:  # a browser of another test may keep a loop running in this one
        return thread.submit(asyncio.run, session()).result()


def ask(tool: str, folder: Path = ROOT, **given: Any) -> dict[str, Any]:
    """Return the answer of one tool."""

    async def work(client: Client) -> dict[str, Any]:
        result = await client.call_tool(tool, given)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return cast("dict[str, Any]", result.structured_content)

    answer = talk(work, folder)
    assert answer["answer"] in MEANINGS
    assert (answer["format"], answer["version"]) == ("evenhand/answer", 1)
    return answer


def test_the_tools_and_their_schemas() -> None:
    """Whatever runs anything demands a time limit."""

    async def work(client: Client) -> dict[str, Any]:
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = talk(work)
    assert sorted(tools) == [
        "check_kernel",
        "examine_kernel",
        "list_claims",
        "replay_counterexample",
        "show_counterexample",
        "verify_claim",
    ]
    for name, tool in tools.items():
        assert tool.description and tool.output_schema, name
        if name != "list_claims":
            assert "seconds" in tool.input_schema["required"], name
            assert tool.input_schema["properties"]["seconds"]["maximum"] == 3600, name


@pytest.mark.slow
def test_claims_are_listed_and_verified() -> None:
    """A claim that holds, one that is refuted with its run, one that does not exist."""
    listed = ask("list_claims", protocol="latch")
    assert "one_inside" in listed["details"]["claims"]["latch"]
    holds = ask("verify_claim", protocol="latch", claim="one_inside", seconds=120)
    assert holds["answer"] in ("holds", "not_established")
    assert (holds["answer"] == "holds") == bool(holds["details"]["faults_caught"])
    unknown = ask("verify_claim", protocol="latch", claim="--help", seconds=60)
    assert unknown["answer"] == "bad_use" and "unknown claim '--help'" in unknown["because"]
    assert ask("list_claims", protocol="nobody")["answer"] == "bad_use"


@pytest.mark.slow
def test_a_refuted_claim_comes_with_its_run() -> None:
    """And the command is one that can be typed."""
    refuted = ask("verify_claim", protocol="latch", claim="somebody_enters", seconds=120)
    assert refuted["answer"] == "refuted" and refuted["details"]["run"]
    assert refuted["command"] == "evenhand verify --claim=somebody_enters --json -- latch"


def test_time_is_over() -> None:
    """The answer says so, soon after, and leaves nothing running."""
    began = time.monotonic()
    assert ask("verify_claim", protocol="cud", claim="deadlock_free", seconds=1)["answer"] == "limit_reached"
    assert time.monotonic() - began < 30


@pytest.mark.slow
def test_kernels(tmp_path: Path) -> None:
    """One with an arbiter in it, one without, one that does not load."""
    (tmp_path / "kernel.py").write_text("def most(orders):\n    return len(orders)\n", "utf-8")
    found = ask("examine_kernel", tmp_path, kernel="kernel.py:most", choices="A,B", seconds=30)
    assert found["answer"] == "nothing_found" and found["details"]["asked"]
    assert ask("examine_kernel", tmp_path, kernel="kernel.py:none", seconds=30)["answer"] == "bad_use"
    assert ask("check_kernel", tmp_path, protocol="latch", adapter="kernel.py:none", seconds=60)["answer"] == "bad_use"


@pytest.mark.slow
def test_counterexamples() -> None:
    """Shown and replayed by the name of a kept one."""
    shown = ask("show_counterexample", file=KEPT, seconds=60)
    assert shown["answer"] == "shown" and shown["details"]["trace"]
    assert ask("replay_counterexample", file=KEPT, seconds=60)["answer"] == "reproduced"
    assert ask("show_counterexample", file="no.json", seconds=60)["answer"] == "bad_use"


def report(group: str, caught: int) -> Mapping[str, Any]:
    """Return a report with one claim in a group."""
    verdict: dict[str, Any] = {
        "variant": "reference", "engine": "explore", "readings": {}, "word": "HOLDS", "sentence": "s",
        "system": "a", "scope": {}, "because": "", "command": "", "trace": [],
    }  # fmt: skip
    return {"digest": [{"groups": {group: ["x"]}, "caught": caught}], "verdicts": [verdict]}


@pytest.mark.parametrize(
    ("group", "caught", "expected"),
    [
        ("proved", 1, "holds"),
        ("searched", 1, "holds"),
        ("proved", 0, "not_established"),
        ("searched", 0, "not_established"),
        ("sampled", 3, "not_established"),
        ("open", 3, "undecided"),
        ("elsewhere", 3, "undecided"),
        ("happens", 0, "happens"),
    ],
)
def test_what_is_called_holding(group: str, caught: int, expected: str) -> None:
    """Only a decided claim that is known to catch a fault."""
    assert of_claim(0, report(group, caught))[0] == expected


def test_an_interrupted_run_never_holds() -> None:
    """Whatever its JSON says."""
    late = answered(
        ["verify", "cud", "--claim", "deadlock_free", "--json"], 0.2, lambda _code, _json: ("holds", "", {})
    )
    assert late.answer == "limit_reached"
