"""Write a finding to disk: the record, a pytest file that repeats it, and the run as Markdown and ITF."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.conform.adapters.wire import text
from evenhand.conform.checking.comparing import in_words
from evenhand.core.canonical import Json, canonical_bytes, digest
from evenhand.core.names import as_name
from evenhand.core.text import as_code, in_markdown, inert
from evenhand.evidence.itf import itf
from evenhand.evidence.store import write_atomically


def file_stem(finding: Mapping[str, Json]) -> str:
    """Return `claim--` and eight digits of the run's digest: equal for the same finding, found again."""
    claim = as_name(finding["claim"], 80).replace("-", "_")
    about = ("protocol", "system", "claim", "what", "run", *(("beside",) if "beside" in finding else ()))
    identity = digest({name: finding[name] for name in about})
    return f"{claim}--{identity.removeprefix('sha256:')[:8]}"


def save_finding(finding: Mapping[str, Json], folder: Path, kernel: str) -> Path:
    """Write the four files of a finding to `folder/PROTOCOL`; return the record's path.  Raises NotWritten."""
    stem = file_stem(finding)
    home = folder / as_name(finding["protocol"])
    record = home / f"{stem}.json"
    write_atomically(record, canonical_bytes(dict(finding)) + b"\n")
    write_atomically(home / f"{stem}.md", markdown(finding).encode())
    write_atomically(home / f"{stem}.itf.json", canonical_bytes(_itf(finding)) + b"\n")
    write_atomically(home / f"test_{stem.replace('--', '_')}.py", test_file(finding, record.name, kernel).encode())
    return record


def test_file(finding: Mapping[str, Json], record: str, kernel: str) -> str:
    """Return a pytest file that fails while the kernel behaves as in the finding."""
    name = re.sub(r"\W", "_", finding["claim"])
    sentence = inert(finding["sentence"]).replace("\\", "\\\\").replace('"', "'")
    return f'''"""A kernel of {finding["protocol"]} and a run that shows it wrong; written by `evenhand check`."""

import os
from pathlib import Path

from evenhand.conform.checking.finding import recheck

KERNEL = os.environ.get("EVENHAND_KERNEL", {kernel!a})
"""What is asked: `package.module:factory`, or `command: ./kernel`."""


def test_{name}() -> None:
    """{sentence}"""
    recheck(Path(__file__).with_name({record!a}), KERNEL).raise_if_found()
'''


test_file.__test__ = False  # type: ignore[attr-defined]


def markdown(finding: Mapping[str, Json]) -> str:
    """Return the finding as Markdown for people; text from the kernel cannot format or link."""
    return "\n".join(_lines(finding)) + "\n"


def _lines(finding: Mapping[str, Json]) -> Iterator[str]:
    yield f"# {finding['claim']}"
    yield ""
    yield in_markdown(finding["sentence"]) + (f" ({in_markdown(finding['source'])})" if finding["source"] else "")
    yield ""
    where = f"as a kernel of `{finding['protocol']}`, system `{finding['system']}`"
    yield f"- kernel: {as_code(finding['kernel'])}, {where}"
    yield f"- judged by: the {finding['judged_by']}"
    yield f"- seen in {finding['seen']} runs, first by: {finding['origin']}; steps after shrinking: {finding['length']}"
    if finding["fault"]:
        yield f"- the kernel {finding['fault']}: {as_code(finding['why'])}"
    elif finding["why"]:
        yield f"- {in_markdown(finding['why'])}"
    for one in finding["differences"]:
        yield f"- {as_code(one)}"
    for one in finding["violations"]:
        yield f"- `{one['claim']}` is violated in step {one['step']}, on the basis of: {one['basis']}"
    if finding["also"]:
        yield f"- in longer runs also: {', '.join(f'`{name}`' for name in finding['also'])}"
    if finding.get("loop"):
        yield f"- the last {finding['loop']} steps go round for ever"
    yield from ("", "## The run", "", *_steps(finding, finding["again"]))
    if "beside" in finding:
        title = "An earlier run in the same process" if finding["what"] == "remembers" else "The second run"
        yield from (f"## {title}", "", *_steps(finding["beside"], ()))


def _steps(one: Mapping[str, Json], again: Sequence[Json]) -> Iterator[str]:
    """A run step by step: the action, what the model and the kernel show."""
    yield from _block(one["run"]["config"], "configuration")
    for number, action in enumerate(one["run"]["actions"]):
        yield from ("", f"### Step {number + 1}", "", *_block(action, "action"))
        yield from _block(one["expected"][number], "the model shows")
        if number < len(one["got"]):
            same = text(one["got"][number]) == text(one["expected"][number])
            yield from ("the kernel shows the same", "") if same else _block(one["got"][number], "the kernel shows")
        else:
            yield from ("the kernel shows nothing", "")
        if number < len(again) and [text(again[number])] != [text(said) for said in one["got"][number : number + 1]]:
            yield from _block(again[number], "and when asked again")


def _block(value: Json, title: str) -> Iterator[str]:
    """A value in an indented block, which no content can end."""
    yield f"{title}:"
    yield ""
    yield f"    {inert(in_words(value))}"
    yield ""


def _itf(finding: Mapping[str, Json]) -> dict[str, Json]:
    """Actions, expected and received values: one ITF state for each step, after the start."""
    nothing: Json = None
    states: list[dict[str, Json]] = [{"action": nothing, "expected": nothing, "got": nothing}]
    for number, action in enumerate(finding["run"]["actions"]):
        got: Any = finding["got"][number] if number < len(finding["got"]) else nothing
        states.append({"action": action, "expected": finding["expected"][number], "got": got})
    meta = {"description": finding["sentence"], "protocol": finding["protocol"], "claim": finding["claim"]}
    return itf(states, meta)
