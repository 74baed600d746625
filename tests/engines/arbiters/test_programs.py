"""Kernels in other languages: one process, JSON on lines, judged as any other kernel."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.arbiters.kernels import NotExaminable
from evenhand.arbiters.programs import program
from evenhand.conform.adapters.limits import KernelLimits
from evenhand.core.verdict import Status
from evenhand.examination import examine
from tests.deep import rest_deep

ROOT = Path(__file__).parents[3]
DESK = ROOT / "docs/examples/examine/desk.mjs"
NODE = shutil.which("node")

HOST = """
import json, os, sys, time
past = 0
for line in sys.stdin:
    asked = json.loads(line)
    do, shown = asked["do"], None
    if do == "start":
        agents, past = asked.get("agents"), 0
        shown = {{"offers": {offers}, "agents": ["left", "right"]}}
    elif do == "choices":
        shown = ["ask", "pass"]
    elif do == "observe":
        shown = past
    elif do == "act":
        choices = dict(asked["choices"])
        asking = [agent for agent, choice in asked["choices"] if choice == "ask"]
        past += len(asking)
        shown = {{agent: "got" if agent in ({winners}) else "no" for agent in choices}}
    print(json.dumps({{"id": asked["id"], "shown": shown}}), flush=True)
"""
HONEST = "asking if len(asking) == 1 else []"


def written(folder: Path, winners: str, offers: str = "['agents', 'observe']") -> str:
    """Write a program in Python and return its command."""
    file = folder / "kernel.py"
    file.write_text(HOST.format(winners=winners, offers=offers), "utf-8")
    return shlex.join([sys.executable, str(file)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("winners", "offers", "found"),
    rest_deep(
        [
            (HONEST, "['agents', 'observe']", {}),
            ("asking[:1]", "['agents']", {"delivery order": "whoever is handed over first gets 'got'"}),
            ("sorted(asking)[:1]", "['agents']", {"names": "the smallest name gets 'got'"}),
            (
                "sorted(asking)[:1]",
                "[]",
                {"exchange": "left gets 'got' and right gets 'no', whoever makes which choice"},
            ),
            ("sorted(asking, key=hash)[:1]", "['agents']", {"hash seed": "depends on the hash seed"}),
        ],
        3,
    ),
)
def test_a_program_is_asked_the_same_questions(
    winners: str, offers: str, found: dict[str, str], tmp_path: Path
) -> None:
    """By what it offers; each kernel starts afresh in one process."""
    made = examine(program(written(tmp_path, winners, offers)), examples=3)
    assert {one.question for one in made.found} == found.keys(), made
    assert all(one.named.startswith(found[one.question]) for one in made.found)
    because = {one.question: one.because for one in made.answers}
    if not found:
        assert because["clock"] == "not asked: the clock of a program cannot be put ahead"


def test_a_kernel_goes_on_after_another_was_started(tmp_path: Path) -> None:
    """One process serves both: what was done with the first is repeated."""
    factory = program(written(tmp_path, HONEST))
    first = factory(agents=["ann", "bob"])
    first.act({"ann": "ask", "bob": "pass"})
    second = factory(agents=["ann", "bob"])
    assert (second.observe(), first.observe(), second.observe()) == (0, 1, 0)


@pytest.mark.parametrize(
    ("act", "why"),
    [("1 // 0", "exit code 1, saying 'ZeroDivisionError"), ("time.sleep(9)", "no answer within 0.2 s"), ("[", "gave")],
)
def test_a_program_that_fails_is_found(act: str, why: str, tmp_path: Path) -> None:
    """It ends, hangs or writes no JSON while two ask: one finding, and the others are asked of a new process."""
    wrong = {"[": "print('[') if len(asking) > 1 else []"}.get(act, f"{act} if len(asking) > 1 else []")
    factory = program(written(tmp_path, wrong), KernelLimits(seconds=0.2))
    with pytest.raises(Exception, match="no JSON" if act == "[" else why):
        factory(agents=["ann", "bob"]).act({"ann": "ask", "bob": "ask"})
    assert factory(agents=["ann", "bob"]).act({"ann": "pass", "bob": "pass"}) == {"ann": "no", "bob": "no"}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("", "the command is empty"),
        ("'", "No closing quotation"),
        ("true", "it must answer a `start`"),
        ("no-such-program-here", "it must answer a `start`"),
    ],
)
def test_what_is_no_program_is_refused(command: str, why: str) -> None:
    """One line with the command."""
    with pytest.raises(NotExaminable, match=why):
        program(command)


def test_a_program_states_what_it_offers(tmp_path: Path) -> None:
    """An unknown ability is a mistake of spelling."""
    with pytest.raises(NotExaminable, match="it must show `offers`, a list of some of rename, reset, observe"):
        program(written(tmp_path, HONEST, "['watch']"))


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_desk_in_node(tmp_path: Path) -> None:
    """The command of the guide finds the arbiter; its regression fails, and passes with a mended desk."""
    desk = tmp_path / "desk.mjs"
    desk.write_text(DESK.read_text("utf-8"), "utf-8")
    evenhand = [sys.executable, "-m", "evenhand", "examine", "--command", f"node {desk}", "--json", "--out"]
    made = subprocess.run([*evenhand, str(tmp_path)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert made.returncode == 1, made.stderr
    refuted = [one for one in json.loads(made.stdout)["verdicts"] if one["status"] == Status.REFUTED.value]
    assert [one["because"] for one in refuted] == ["the first in `agents` gets 'got'"]
    again = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *refuted[0]["command"].split()[1:]]
    assert subprocess.run(again, capture_output=True, cwd=ROOT, check=False).returncode == 1
    source = desk.read_text("utf-8")
    mended = source.replace(
        "agents.find((agent) => asking.has(agent))", "asking.size === 1 ? [...asking][0] : undefined"
    )
    assert mended != source
    desk.write_text(mended, "utf-8")
    assert subprocess.run(again, capture_output=True, cwd=ROOT, check=False).returncode == 0
