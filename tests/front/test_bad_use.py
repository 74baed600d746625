"""Every command of the application with every kind of mistake and with Ctrl-C: one shape, one exit code.

The mistakes are tried on all options that a command has, so that new commands and options are tested without being
listed here; only their right use is listed.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import typer

from evenhand.cli import COMMANDS
from evenhand.cli.console import SOON, guarded
from evenhand.core.licence import Licence
from tests.attack.uses import ALONE, RIGHT, made
from tests.deep import rest_slow
from tests.front.conftest import PLUGINS, Command, installed
from tests.front.parameters import Parameter, parameters

WRONG: dict[str, list[tuple[str, str]]] = {
    "--cluster": [("nonsense://x", "--cluster nonsense://x: no scheduler answers")],
    "--fixture": [("{missing}", "there is no such file"), ("{folder}", "it is a folder"), ("{empty}", "it is no JSON")],
    "--events": [("{empty}/e", "cannot write to {empty}/e")],
    "--store": [("foo://x", "no such kind of database"), ("{folder}", "{folder} cannot be opened")],
    "--to": [("plan.txt", "written as .yaml or .json"), ("{empty}/p.yaml", "cannot write to {empty}")],
    "--adapter": [
        ("nonsense", "adapter 'nonsense' names nothing; write package.module:factory"),
        ("no.such:thing", "adapter 'no.such:thing' does not"),
    ],
    "--allow": [("x", "--allow 'x' gives no reason"), ("x=y", "there is no question 'x' to allow")],
    "--choices": [("a", "--choices 'a' lists fewer than two choices")],
    "--claim": [("x", "'x'; there is: one_inside")],
    "--label": [("x", "list the choices with --choices")],
    "--log": [("{missing}", "{missing}: there is no such file"), ("{folder}", "{folder}"), ("{empty}", "{empty}")],
    "--mutant": [
        ("x", "unknown mutant of latch: 'x'; there is: always_free"),
        ("stick", "did you mean sticky?"),
        ("alw", "did you mean always_free?"),
    ],
    "--over": [
        ("agent=2..3", "unknown size of latch: 'agent' (did you mean agents?); there is: agents"),
        ("agents=4..5", "'agents' is swept twice"),
    ],
    "--part": [("x", "--part 'x' is not of the form k/n"), ("9/4", "1 <= k <= n, as in 1/4")],
    "--quotient": [("x", "unknown quotient of latch: 'x'; there is: none")],
    "--reach": [("x", "'x'")],
    "--reading": [("x=y", "'x'; there is: again"), ("again=x", "'x'; there is: granted"), ("again", "name=value")],
    "--scope": [
        ("x=1", "'x'; there is: agents"),
        ("agents", "name=number"),
        ("agents=-1", "name=number"),
        ("agents=0", "agents must be 1 or more, not 0"),
        ("agents=100", "latch has no configuration at agents=100; choose other sizes"),
    ],
    "--suite": [("x", "'x'; there is: boundary")],
    "--system": [("x", "'x'; there is: latch")],
    "--theorem": [("x", "unknown theorem of latch: 'x'; there is: none")],
    "--certificates": [("{missing}", "{missing} is no folder"), ("{empty}", "{empty} is no folder")],
    "--check": [("{missing}", "{missing}: there is no such file"), ("{folder}", "{folder}"), ("{empty}", "{empty}")],
    "--compare": [("x", "unknown kind of free field for --compare: 'x'; there is: texts, codes, orders")],
    "--known": [("{missing}", "there is no such file"), ("{empty}", "{empty}")],
    "--constitution": [("{missing}", "--constitution")],
    "--command": [("/no/such/program", "/no/such/program: No such file or directory")],
    "--skeleton": [("{empty}/k.py", "{empty}/k.py: cannot be written"), ("k.txt", "an adapter is a Python module")],
    "--wait-for": [("{empty}/w.dot", "cannot write to {empty}"), ("w.png", "there is: .dot")],
    "--graph": [("{empty}/g.dot", "cannot write to {empty}"), ("g.png", "there is: .dot")],
    "--itf": [("{empty}/run.json", "{empty}/run.json: cannot be written")],
    "--trace": [("{missing}", "{missing}"), ("{folder}", "{folder}"), ("{empty}", "{empty}")],
    "--seen": [("x", "--seen x names a function beside a system of your own")],
    "--record": [("{empty}/r.json", "cannot write to {empty}")],
}
"""For an option, wrong values and the text that the message must contain."""


def mistakes() -> Iterator[tuple[list[str], str]]:
    """Yield command lines with one mistake each, and the text that the message must contain."""
    yield ["nonsense"], "no such command 'nonsense'; see `evenhand --help`"
    for option in ("--examples", "--pairs", "--seed"):
        yield ["check", *RIGHT["check"], option, "9" * 30], f"invalid value for '{option}': "
    for command in COMMANDS:
        words = command.split()
        right = [*words, *RIGHT[command]]
        yield [*right, "--nonsense"], f"see `evenhand {command} --help`"
        first = next(parameters(command))
        if first.required:
            yield words, f"missing argument '{first.metavar}'; see `evenhand {command} --help`"
        if "PROTOCOL" in first.metavar:
            yield [*words, "latc", *RIGHT[command][1:]], "unknown protocol 'latc' (did you mean latch?); there is: apcm"
        elif not first.names:  # an argument
            quoted = "'{}'" if command == "examine" else "{}: "  # no file, but the name of a factory
            yield from (([*words, file, *RIGHT[command][1:]], quoted.format(file)) for file in FILES)
        for one in parameters(command):
            yield from ((words, said) for words, said in _mistaken(right, one))


FILES = ("{missing}", "{folder}", "{empty}")


def _mistaken(right: list[str], one: Parameter) -> Iterator[tuple[list[str], str]]:
    if not one.names or one.kind is bool:
        return
    name = one.names[0]
    alone = ALONE.get((right[0], name), right)
    for value, said in WRONG.get(name, []):
        yield [*alone, name, value], said
    if one.metavar == "DIR":
        yield [*alone, name, "{empty}/in"], "cannot write to {empty}/in: Not a directory; choose another folder"
    if one.kind in (int, float) or issubclass(one.kind, Enum):
        yield [*right, name, "nonsense"], f"invalid value for '{name}'"


MISTAKES = list(mistakes())


@pytest.fixture(scope="module", name="kept")
def _kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return right and wrong files, made once: a command with a mistake writes nothing."""
    with pytest.MonkeyPatch.context() as patch:
        installed(patch, PLUGINS)
        return made(tmp_path_factory.mktemp("files"))


@pytest.fixture(name="files")
def _files(kept: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the same files, and a folder that does not exist yet."""
    return {**kept, "fresh": str(tmp_path_factory.mktemp("new") / "fresh")}


def test_every_command_is_tried() -> None:
    assert set(RIGHT) == set(COMMANDS)


def test_every_option_that_takes_a_name_or_a_file_has_a_wrong_value() -> None:
    """Numbers, choices and folders are tried by their kind; all others are in the list."""
    every = [one for command in COMMANDS for one in parameters(command) if one.names and one.metavar != "DIR"]
    texts = [one for one in every if issubclass(one.kind, str | Path) and not issubclass(one.kind, Enum)]
    assert {one.names[0] for one in texts} == set(WRONG)


@pytest.mark.parametrize(("words", "said"), rest_slow(MISTAKES, 93), ids=[" ".join(words) for words, _ in MISTAKES])
def test_a_mistake_is_one_line_and_exit_2(
    cli: Command, files: dict[str, str], words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The message names the culprit; nothing on standard output, nothing written."""
    monkeypatch.chdir(tmp_path)
    answer = cli(*(word.format(**files) for word in words))
    assert answer.code == 2, answer.out + answer.err
    assert answer.out == ""
    assert answer.err.startswith("evenhand: ") and answer.err.count("\n") == 1
    assert said.format(**files) in answer.err
    assert re.search(r"(; |\. |: |, as in )", answer.err.removeprefix("evenhand: ")), "what to do is said after a stop"
    assert list(tmp_path.iterdir()) == []


ENDLESS = {
    "explore": ["latch", "--scope", "agents=3"],
    "fuzz": ["latch", "--scope", "agents=3"],
    "check": ["latch", "--adapter", "json:loads", "--scope", "agents=3"],
    "validate": ["latch", "--log", "{log}", "--scope", "agents=3"],
    "compare": ["latch", "--reading", "again=granted", "--scope", "agents=3"],
    "verify": ["latch", "--jobs", "1"],
    "sweep": ["latch", "--over", "agents=3..4"],
}
"""Runs that sleep until they are interrupted."""


@pytest.mark.parametrize("command", ENDLESS)
def test_ctrl_c_in_the_middle_is_one_line_and_exit_130(
    cli: Command, files: dict[str, str], command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a traceback, for every command that sleeps."""
    asleep = tmp_path / "asleep"
    monkeypatch.setenv("TOYLATCH_SLEEP", "30")
    monkeypatch.setenv("TOYLATCH_ASLEEP", str(asleep))

    def press() -> None:
        while not asleep.exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    pressed = threading.Thread(target=press, daemon=True)
    pressed.start()
    began = time.monotonic()
    answer = cli(command, *(word.format(**files) for word in ENDLESS[command]))
    pressed.join(timeout=1)
    assert answer.code == 130, answer.err
    assert time.monotonic() - began < 25
    assert "Traceback" not in answer.err
    assert (answer.err, "INTERRUPTED" in answer.out) in (("evenhand: interrupted\n", False), ("", True))


def test_ctrl_c_while_a_command_is_loaded_is_told(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a second or two on a slow machine."""

    def press(_name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.cli.import_module", press)
    answer = cli("check", "latch", "--adapter", "json:loads")
    assert (answer.code, answer.out, answer.err) == (130, "", "evenhand: interrupted before anything was run\n")


def test_ctrl_c_in_a_search_says_how_far_it_came(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to end one with what it has found."""

    def search(*_words: Any, progress: Callable[[int, int], None], **_options: Any) -> None:
        progress(7, 9)
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.cli.explore.search", search)
    answer = cli("explore", "latch")
    assert (answer.code, answer.out) == (130, "")
    assert answer.err.startswith("evenhand: interrupted after 7 states, with no verdict; --max-states N ends")


class Swallows:
    """Asks for the end where no code can catch it, as during a callback of the garbage collector."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_that_python_swallows_is_made_again(
    by: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise the command could not be ended; if it ends in the meantime, the request ends with it."""

    def waits(seconds: float) -> int:
        Swallows(by)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.01)
        return 0

    with pytest.raises(SystemExit) as ended:
        guarded(waits)(20)
    assert ended.value.code == 130 and capsys.readouterr().err == "evenhand: interrupted\n"
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(typer.Exit):
        guarded(waits)(0)
    time.sleep(2 * SOON)
    assert handlers == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def test_an_unknown_theorem_in_a_record_is_said_of_the_record(cli: Command, tmp_path: Path) -> None:
    """The file is the culprit, because the user did not type the name."""
    file = tmp_path / "record.json"
    for protocol, said in (("cud", "unknown theorem of cud: 'fermat'"), ("nope", "unknown protocol 'nope'")):
        proof = {"theorem": {"protocol": protocol, "name": "fermat"}}
        file.write_text(json.dumps({"format": "evenhand/proofs", "version": 1, "proofs": [proof]}), "utf-8")
        answer = cli("prove", "--check", str(file))
        assert answer.code == 2 and answer.err.startswith(f"evenhand: {file}: {said}")
        assert "Record the proofs again" in answer.err


def test_a_record_of_proofs_runs_no_file_that_it_names(cli: Command, tmp_path: Path) -> None:
    """Although `FILE.py:name` may stand for a protocol where a person types it."""
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", "utf-8")
    proof = {"theorem": {"protocol": f"{tmp_path}/own.py:x", "name": "x"}}
    file = tmp_path / "record.json"
    file.write_text(json.dumps({"format": "evenhand/proofs", "version": 1, "proofs": [proof]}), "utf-8")
    answer = cli("prove", "--check", str(file))
    assert answer.code == 2 and answer.err.startswith(f"evenhand: {file}: unknown protocol")
    assert not (tmp_path / "ran").exists()


def test_what_orbits_cannot_answer_is_no_matter_of_the_method(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --method the message names the claims; with --method it says to leave the option out."""
    licence = Licence("renaming", "free", "reference", "a theorem", "sha256:00")

    def granted(*_: object) -> Licence:
        return licence

    monkeypatch.setattr("evenhand.cli.extras.licence_named", granted)
    words = ("explore", "cud", "--system", "free", "--symmetry", "--claim", "outcomes_are_those_of_the_text")
    answer = cli(*words)
    assert answer.code == 2 and "leave the quotient out" in answer.err and "--method" not in answer.err
    answer = cli(*words, "--method", "symmetric")
    assert answer.code == 2 and "leave --method out" in answer.err


def _at_once(*_server: object, **_how: object) -> None:
    """Return a server that ends as soon as it begins."""


def _in_a_thread(coroutine: Coroutine[Any, Any, Any], run: Callable[..., Any] = asyncio.run) -> Any:
    """Run it as `asyncio.run` does; the browser of other tests may have left a loop running in this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run, coroutine).result()


@pytest.mark.parametrize("command", rest_slow(COMMANDS, 5))
def test_nothing_is_coloured_in_a_pipe_or_against_no_color(
    cli: Command, files: dict[str, str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right use of each command: no escape where it is piped, none that colours where NO_COLOR is set.

    No file that was not asked for is left in the current folder.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("uvicorn.Server.run", _at_once)  # `serve` would wait for Ctrl-C
    monkeypatch.setattr("evenhand.cli.mcp.asyncio.run", _in_a_thread)
    other = {**files, "fresh": f"{files['fresh']}-2"}  # `init` writes to no folder twice
    first, second = ([*command.split(), *(word.format(**one) for word in RIGHT[command])] for one in (files, other))
    piped = cli(*first)
    assert "\x1b" not in piped.out + piped.err
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = cli(*second)
    assert not re.search("\x1b\\[(3|4|9)", plain.out + plain.err)
    assert plain.code == piped.code != 2
    assert [path.name for path in tmp_path.iterdir() if str(path) not in files.values()] == []
