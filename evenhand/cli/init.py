"""`evenhand init`: a project of your own to start from, with a system, two claims, a test and one command for all."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli.console import BadUse, emit, guarded, say
from evenhand.cli.options import JsonOut
from evenhand.cli.output import folder_for, write_files

_MODEL = '''\
"""Two agents and a lock: what they can do, what a step does, and what must hold."""

import evenhand

AGENTS = ("ada", "bob")


def actions(holder):
    """What is on offer in a state; here each agent may always try both."""
    return [(agent, verb) for agent in AGENTS for verb in ("take", "free")]


def step(holder, action):
    """The state after an action. A refused action leaves the state as it is; a step never raises."""
    agent, verb = action
    if verb == "take":
        return agent if holder == "nobody" else holder
    return "nobody" if holder == agent else holder


lock = evenhand.system("lock", initial=["nobody"], actions=actions, step=step)


@evenhand.each_step("Nobody takes the lock from its holder.")
def nobody_is_robbed(step):
    return step.before == "nobody" or step.after in (step.before, "nobody")


@evenhand.reachable("Bob gets the lock.")
def bob_gets_it(step):
    return step.after == "bob"
'''

_TEST = '''\
"""The claims, as tests: pytest shows the shortest run that breaks one."""

import evenhand
import lock


def test_nobody_is_robbed():
    assert evenhand.verify(lock.lock, [lock.nobody_is_robbed]).holds


def test_bob_gets_it():
    assert evenhand.verify(lock.lock, [lock.bob_gets_it]).holds
'''

_MAKE = """\
MAKEFLAGS += --keep-going   # what the search refutes does not stop the tests
.PHONY: verify explore test
verify: explore test
explore:   ## search the system
\tevenhand explore lock.py:lock --out found
test:   ## run the tests, and every counterexample kept in found/
\tpython -m pytest -q
"""

_CI = """\
name: evenhand
on: [push, pull_request]
jobs:
  verify:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: python -m pip install evenhand pytest
      - run: make verify
"""

_FILES = {
    "lock.py": _MODEL,
    "test_lock.py": _TEST,
    "Makefile": _MAKE,
    ".github/workflows/evenhand.yml": _CI,
}

_NEXT = """\
next: {make}
then break it: in lock.py, let `take` return agent whoever holds the lock, and run it again"""


@guarded
def init(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the project.")] = Path(),
    as_json: JsonOut = False,
) -> int:
    """Write a small project of your own.

    A system, two claims, a test, a Makefile and a CI workflow.  Nothing that exists is overwritten.  Exit codes: 0
    written; 2 a file is already there, or the folder cannot be written to.
    """
    folder = folder_for(out) or out
    files = {name: text.encode() for name, text in _FILES.items()}
    for path in (folder / name for name in files):
        if path.exists():
            raise BadUse(f"{path}: it is there already, and nothing was written; choose another folder")
    written = write_files(folder, files)
    if as_json:
        emit({"format": "evenhand/written", "version": 1, "written": [str(path) for path in written]})
    else:
        make = "make verify" if folder == Path() else f"make -C {shlex.quote(str(folder))} verify"
        for line in _NEXT.format(make=make).splitlines():
            say(line)
    return 0
