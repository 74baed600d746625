"""`evenhand mcp`: the commands as tools of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from evenhand.cli import answers
from evenhand.cli.answers import MEANINGS, ToolAnswer, answered
from evenhand.cli.console import BadUse, emit, guarded
from evenhand.cli.options import JsonOut
from evenhand.cli.requests import bundles_named

LONGEST = 3600

GUIDE = (
    "Checks protocols and kernels in which several agents act. Every tool that runs anything takes a time limit in "
    "seconds. Read the key `answer` first: "
    + "; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items())
    + ". Only `holds` says that a claim holds, and only within the scopes in `details`."
)


@guarded
def mcp(as_json: JsonOut = False) -> int:
    """Serve the commands to a program over stdin and stdout (MCP).

    Tools: list the claims, verify one, examine or check a kernel, show or replay a counterexample.  Ends with its
    input; with --json it prints the tools and their schemas instead.  Exit codes: 0 ended; 2 the extra `mcp` is
    not installed.
    """
    from mcp.server.mcpserver import MCPServer
    from pydantic import Field

    seconds = Annotated[float, Field(ge=1, le=LONGEST, description="Time limit; there is no default.")]
    server = MCPServer("evenhand", instructions=GUIDE, log_level="ERROR")
    for tool in _tools(seconds):
        server.tool()(tool)
    if as_json:
        tools = [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in asyncio.run(server.list_tools())
        ]
        emit({"format": "evenhand/tools", "version": 1, "tools": tools})
        return 0
    server.run("stdio")
    return 0


def _tools(seconds: Any) -> Sequence[Callable[..., Any]]:
    """The tools: their names, parameters and docstrings are what a client sees."""

    async def list_claims(protocol: str = "") -> ToolAnswer:
        """List the protocols and their claims, each with its sentence and source; or those of one protocol."""
        try:
            bundles = bundles_named([protocol] if protocol else [])
        except BadUse as error:
            return ToolAnswer("bad_use", str(error), "")
        listed = {one.name: {claim.name: claim.sentence for claim in one.claims} for one in bundles}
        return ToolAnswer("listed", "", "", {"claims": listed})

    async def verify_claim(protocol: str, claim: str, seconds: float) -> ToolAnswer:
        """Check one claim of a protocol with every engine: search, random runs, proofs, kept counterexamples."""
        return await _run(["verify", f"--claim={claim}", "--json", "--", protocol], seconds, answers.of_claim)

    async def examine_kernel(kernel: str, seconds: float, choices: str = "") -> ToolAnswer:
        """Ask what decides in code without a protocol. Runs that code with your rights.

        kernel: package.module:factory or FILE.py:factory; choices: A,B,... if it is a function of {agent: choice}.
        """
        limit = [f"--seconds={max(1.0, seconds - 2)}", "--json"]
        words = ["examine", *limit, *([f"--choices={choices}"] if choices else []), "--", kernel]
        return await _run(words, seconds, answers.of_examination)

    async def check_kernel(protocol: str, seconds: float, command: str = "", adapter: str = "") -> ToolAnswer:
        """Check a kernel against the model of a protocol. Runs that kernel with your rights.

        Give a command that speaks JSON Lines, or an adapter (package.module:name or FILE.py:name).
        """
        named = [f"--command={command}"] if command else [f"--adapter={adapter}"]
        return await _run(["check", *named, "--json", "--", protocol], seconds, answers.of_check)

    async def show_counterexample(file: str, seconds: float) -> ToolAnswer:
        """Show a counterexample step by step: a file, or a kept one as PROTOCOL/NAME.json."""
        return await _run(["show", "--json", "--", file], seconds, answers.of_show)

    async def replay_counterexample(file: str, seconds: float) -> ToolAnswer:
        """Run a counterexample again in the model: does it still fail as recorded?"""
        return await _run(["replay", "--json", "--", file], seconds, answers.of_replay)

    tools = (list_claims, verify_claim, examine_kernel, check_kernel, show_counterexample, replay_counterexample)
    for tool in tools[1:]:
        tool.__annotations__["seconds"] = seconds
    return tools


async def _run(
    words: Sequence[str], seconds: float, judge: Callable[[int, Mapping[str, Any]], answers.Judged]
) -> ToolAnswer:
    """Run a command beside the server, which goes on answering."""
    return await asyncio.to_thread(answered, words, seconds, judge)
