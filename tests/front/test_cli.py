"""The command line in this process: options, `--json`, exit codes, and one message for each mistake."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from msgspec.structs import replace

from evenhand.cli import COMMANDS
from evenhand.core import registry
from evenhand.core.bundle import ProtocolBroken
from evenhand.core.registry import find
from evenhand.evidence.record import Record
from evenhand.jobs.engines import run
from evenhand.jobs.fixtures import fixtures_of
from evenhand.jobs.plan import Job
from tests.front.conftest import PLUGINS, Command, installed

REPORT = {
    "claims", "format", "interrupted", "mutants", "notes", "settings", "summary", "timing", "unfinished", "verdicts",
    "version", "versions",
}  # fmt: skip


def test_verify_checks_every_claim_by_every_engine(cli: Command) -> None:
    """Two searches and a machine, four claims each; one refutation is expected."""
    answer = cli("verify", "latch", "--json")
    assert answer.code == 0
    assert answer.err == ""
    made = answer.json
    assert set(made) == REPORT | {"digest"}
    told = {(v["claim"], v["engine"], tuple(v["sizes"].values())): v["status"] for v in made["verdicts"]}
    places = [("explore", (2,)), ("explore", (3,)), ("fuzz", (2,))]
    expected = {"one_inside": "HOLDS", "taken_when_free": "HOLDS", "taken": "HOLDS", "somebody_enters": "REFUTED"}
    assert told == {(claim, *place): status for claim, status in expected.items() for place in places}
    assert made["summary"]["refuted_expected"] == 3
    assert all(v["trusted_base"] for v in made["verdicts"])
    assert made["versions"]["evenhand"]


def test_verify_prints_every_table_and_the_commands(cli: Command) -> None:
    """With --all: a table with scope and count; every refutation has its command."""
    answer = cli("verify", "latch", "--all")
    assert answer.code == 0
    for words in (
        "one_inside",
        "explore",
        "fuzz",
        "latch agents=2",
        "HOLDS 3 states",
        "HOLDS 4 states agents=3",
        "HOLDS 20 runs",
        "REFUTED (expected)",
    ):
        assert words in answer.out
    assert "somebody_enters: evenhand explore latch --system latch --scope agents=3" in answer.out
    assert answer.out.strip().splitlines()[-1].startswith("4 claims, 12 verdicts: 0 UNDECIDED as expected")


def test_verify_writes_its_report_and_new_counterexamples(cli: Command, tmp_path: Path) -> None:
    """The file equals the output of `--json`, and the printed command replays the counterexample."""
    answer = cli("verify", "latch", "--out", str(tmp_path), "--json")
    kept = json.loads((tmp_path / "report.json").read_text("utf-8"))
    apart = {"timing": 0, "verdicts": 0, "digest": 0}  # the file's commands name no folder of this machine
    assert {**kept, **apart} == {**answer.json, **apart}
    files = sorted({v["fixture"] for v in kept["verdicts"] if v["fixture"]})
    assert files and all((tmp_path / file).is_file() for file in files)
    assert str(tmp_path) not in (tmp_path / "report.json").read_text("utf-8")
    printed = next(v["command"] for v in answer.json["verdicts"] if v["fixture"]).splitlines()[0]
    assert printed.startswith(f"evenhand replay {tmp_path}")
    assert cli(*printed.split()[1:]).code == 0, "it is refuted as registered"
    forms = ["junit.xml", "report.html", "report.json", "report.sarif", "summary.md"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["latch", *forms])


def test_explore_counts_what_a_person_can_count(cli: Command) -> None:
    """Free, or held by one of n agents: n + 1 states, 2n actions in each, of which n - 1 more change nothing."""
    for agents in (1, 2, 5):
        made = cli("explore", "latch", "--scope", f"agents={agents}", "--json").json
        assert made["states"] == agents + 1
        assert made["transitions"] == (agents + 1) * 2 * agents
        assert made["edges"] == (1 + agents) + 2 * agents
        assert made["depth"] == 1
        assert made["complete"] is True
        assert made["method"] == "explicit"
        assert made["reach"] == {"taken": 1}
        assert set(made) == REPORT | {
            "states", "transitions", "edges", "depth", "configs", "complete", "spilled", "method", "why_method",
            "reach", "actions",
        }  # fmt: skip


def test_explore_finds_the_mutant_and_a_bound_leaves_it_open(cli: Command) -> None:
    """Exit 1 for an unexpected refutation, 3 where a bound cut the search."""
    answer = cli("explore", "latch", "--mutant", "always_free", "--claim", "one_inside")
    assert answer.code == 1
    assert "KILLED  one_inside: At most one agent is inside." in answer.out
    assert "reproduce: evenhand explore latch --system latch --mutant always_free --claim one_inside" in answer.out
    assert "1 KILLED." in answer.out and "unexpected" not in answer.out, "whoever runs a mutant wants it killed"
    bounded = cli("explore", "latch", "--depth", "0", "--claim", "one_inside", "--json")
    assert (bounded.code, bounded.json["complete"]) == (3, False)
    assert bounded.json["verdicts"][0]["status"] == "UNDECIDED"


def test_explore_and_fuzz_write_what_they_refute(cli: Command, tmp_path: Path) -> None:
    """One file each; the command that replays it is printed first."""
    for engine in ("explore", "fuzz"):
        folder = tmp_path / engine
        answer = cli(
            engine, "latch", "--mutant", "always_free", "--claim", "one_inside", "--out", str(folder), "--json"
        )
        (file,) = (folder / "latch").iterdir()
        assert answer.json["verdicts"][0]["command"].splitlines()[0] == f"evenhand replay {file}"
        assert cli("replay", str(file)).code == 0


def test_a_reading_reaches_the_model(cli: Command) -> None:
    """Under `granted` the holder may take the latch once more, so one more kind of step is taken."""
    met = {
        value: cli("explore", "latch", "--reading", f"again={value}", "--claim", "taken_when_free", "--json").json
        for value in ("refused", "granted")
    }
    counts = {value: made["verdicts"][0]["coverage"]["met"] for value, made in met.items()}
    assert counts == {"refused": 2, "granted": 4}
    assert met["granted"]["verdicts"][0]["readings"] == {"again": "granted"}


@pytest.mark.parametrize("suffix", [".dot", ".graphml", ".json"])
def test_the_graph_can_be_exported(cli: Command, tmp_path: Path, suffix: str) -> None:
    """Three states, seven pairs of them."""
    file = tmp_path / f"graph{suffix}"
    assert cli("explore", "latch", "--graph", str(file)).code == 0
    text = file.read_text("utf-8")
    nodes, edges = {".dot": ("peripheries", "->"), ".graphml": ("<node", "<edge"), ".json": ('"id"', '"source"')}[
        suffix
    ]
    assert text.count(edges) == 7
    assert text.count(nodes) == (1 if suffix == ".dot" else 3)


def test_the_parts_of_a_graph_can_be_exported(cli: Command, tmp_path: Path) -> None:
    """Compared with networkx on the states of the same graph."""
    scope = ["explore", "cud", "--system", "free", "--scope", "agents=2,keys=1,values=2", "--claim", "livelock"]
    states, parts = tmp_path / "states.json", tmp_path / "parts.json"
    assert cli(*scope, "--graph", str(states)).code == cli(*scope, "--graph", str(parts), "--parts").code == 0
    one, other = json.loads(states.read_text("utf-8")), json.loads(parts.read_text("utf-8"))
    graph: Any = nx.DiGraph([(edge["source"], edge["target"]) for edge in one["edges"]])
    made: Any = nx.condensation(graph)
    found = {node["id"]: node["states"] for node in other["nodes"]}
    assert sorted(found.items()) == sorted((min(m), len(m)) for _, m in made.nodes(data="members"))
    assert len(other["edges"]) == made.number_of_edges() and len(one["nodes"]) > len(found) > 1


def test_fuzz_tells_what_it_covered(cli: Command) -> None:
    """The run has the numbers that were requested."""
    made = cli("fuzz", "latch", "--examples", "7", "--steps", "5", "--seed", "3", "--json").json
    assert (made["examples"], made["seed"]) == (7, 3)
    assert made["coverage"]["met:one_inside"] > 0
    assert cli("fuzz", "latch", "--mutant", "always_free", "--claim", "one_inside").code == 1


def test_prove_without_theorems_says_nothing_and_is_no_error(cli: Command) -> None:
    """The latch has no theorems."""
    answer = cli("prove", "latch", "--json")
    assert (answer.code, answer.json["theorems"]) == (0, [])


@pytest.mark.slow
def test_show_and_replay_read_what_mutants_wrote(cli: Command, tmp_path: Path) -> None:
    """The counterexample of a killed mutant goes from one command to the next."""
    answer = cli("mutants", "latch", "--fixtures", str(tmp_path), "--json")
    (file,) = (tmp_path / "latch").iterdir()
    assert answer.json["fixtures"] == {"always_free": f"latch/{file.name}"}
    shown = cli("show", str(file))
    assert shown.code == 0
    assert "Act(verb='take', agent=1)" in shown.out
    assert "inside: (0,) → (0, 1)" in shown.out
    assert cli("show", str(file), "--json").json["record"]["protocol"] == "latch"
    replayed = cli("replay", str(file), "--json")
    assert (replayed.code, replayed.json["replays"][0]["ok"]) == (0, True)
    assert cli("replay", str(file)).out.startswith(f"ok  {file}: the run refutes one_inside in always_free")
    assert "reading again = 'refused'" in cli("show", str(file), "--full").out
    assert "reading again" not in shown.out


@pytest.mark.parametrize("version", [1, 3])
def test_a_record_of_another_version_is_one_line_and_exit_2(cli: Command, tmp_path: Path, version: int) -> None:
    """Older or newer: the message names both versions and the next step."""
    file = tmp_path / "old.json"
    file.write_text(f'{{"format":"evenhand/counterexample","version":{version}}}', "utf-8")
    for command in ("replay", "show"):
        answer = cli(command, str(file))
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        said = " ".join(answer.err.split())
        assert f"it is of version {version}, and this evenhand reads version 2. Record it again" in said


BAD: list[tuple[list[str], str]] = [
    (["verify", "latc"], "unknown protocol 'latc' (did you mean latch?); there is: "),
    (["verify", "latch", "nope"], "unknown protocol 'nope'"),
    (["verify", "latch", "--budget", "huge"], "invalid value for '--budget'"),
    (["verify", "latch", "--jobs", "0"], "invalid value for '--jobs'"),
    (["verify", "latch", "--out", "{file}/sub"], "cannot write to"),
    (["verify", "latch", "--out", "{file}"], "cannot write to"),
    (["explore", "latch", "--system", "door"], "unknown system of latch: 'door'; there is: latch"),
    (["explore", "latch", "--scope", "agent=3"], "unknown scope field 'agent' (did you mean agents?)"),
    (["explore", "latch", "--scope", "agents"], "--scope 'agents' is not of the form name=number"),
    (["explore", "latch", "--scope", "agents=-1"], "is not of the form name=number"),
    (["explore", "latch", "--scope", "agents=two"], "is not of the form name=number"),
    (["explore", "latch", "--reading", "again=maybe"], "value of reading again: 'maybe'; there is: granted, refused"),
    (["explore", "latch", "--reading", "agian=granted"], "unknown reading 'agian' (did you mean again?)"),
    (["explore", "latch", "--reading", "again"], "--reading 'again' is not of the form name=value"),
    (["explore", "latch", "--mutant", "stickyy"], "unknown mutant of latch: 'stickyy' (did you mean sticky?)"),
    (["explore", "latch", "--claim", "safe"], "claim about system 'latch' of latch: 'safe'; there is: one_inside"),
    (["explore", "cud", "--reach", "livelock"], "of cud is not about system 'run'; choose --system free"),
    (["explore", "latch", "--reach", "one_inside"], "'one_inside' is no goal of latch; there is: taken"),
    (["explore", "latch", "--graph", "g.png"], "the suffix says the format; there is: .dot, .graphml, .json"),
    (["explore", "latch", "--graph", "{file}/g.dot"], "cannot write to"),
    (["explore", "latch", "--symmetry"], "no theorem of latch licenses a quotient"),
    (["explore", "latch", "--max-states", "0"], "invalid value for '--max-states'"),
    (["fuzz", "latch", "--examples", "none"], "invalid value for '--examples'"),
    (["report", "{file}", "--show", "nope"], "invalid value for '--show': 'nope' is not one of 'refuted', "),
    (["prove", "latch", "--theorem", "fermat"], "unknown theorem of latch: 'fermat'; there is: none"),
    (["mutants", "latch", "--mutant", "x"], "unknown mutant of latch: 'x'"),
    (["mutants", "latch", "--fixtures", "{file}/x"], "cannot write to"),
    (["replay", "{missing}"], "there is no such file"),
    (["replay", "{folder}"], "it is a folder"),
    (["replay", "{file}"], "it is no JSON"),
    (["replay", "{large}"], "more than the 8 MiB"),
    (["replay", "{other}"], "its format is 'other/format'"),
    (["replay", "{newer}"], "it is of version 99, and this evenhand reads version 2"),
    (["replay", "{cut}"], "it is no JSON, or was cut short"),
    (["replay", "{edited}"], "sha256 differs"),
    (["replay", "{renamed}"], "claim"),
    (["show", "{missing}"], "there is no such file"),
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return files that are wrong in one way each, made once because no test changes them."""
    with pytest.MonkeyPatch.context() as patch:
        installed(patch, PLUGINS)
        return _made(tmp_path_factory.mktemp("bad"))


def _made(folder: Path) -> dict[str, str]:
    (found,) = run(find("latch"), Job("latch", "explore", variant="always_free", claims=("one_inside",)))
    good = Record.from_json(found.record)
    renamed = replace(good, claim=replace(good.claim, name="one_outside"))
    contents: dict[str, bytes] = {
        "file": b"plain text",
        "other": b'{"format":"other/format","version":1}',
        "newer": b'{"format":"evenhand/counterexample","version":99}',
        "cut": good.to_bytes()[:200],
        "edited": good.to_bytes().replace(b'"agents":2', b'"agents":3'),
        "renamed": renamed.to_bytes(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    with (folder / "large").open("wb") as large:
        large.truncate(100 * 2**20)
    return {name: str(folder / name) for name in (*contents, "large", "missing")} | {"folder": str(folder)}


@pytest.mark.parametrize(("words", "message"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_use_is_one_message_and_exit_2(
    cli: Command, files: dict[str, str], words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No traceback, nothing on standard output, nothing written."""
    monkeypatch.chdir(tmp_path)
    answer = cli(*(word.format(**files) for word in words))
    assert answer.code == 2
    assert answer.out == ""
    assert message in answer.err
    assert "Traceback" not in answer.err
    if answer.err.startswith("evenhand: "):
        assert answer.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_scope_too_large_says_its_size_first(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate comes before the search, and `--yes` or a bound overrides it."""
    monkeypatch.setattr(import_module("evenhand.cli.explore"), "FINISHABLE", 10)
    answer = cli("explore", "latch")
    assert answer.code == 2
    assert answer.out == ""
    assert "latch at agents=2 has 12 steps, too many to finish" in answer.err
    assert cli("explore", "latch", "--yes").code == 0
    assert cli("explore", "latch", "--max-states", "100").code == 0


def test_a_broken_protocol_is_an_error_never_a_shorter_report(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 2 before anything runs; a protocol that is named does not need the others."""

    def broken(module: str = "") -> Any:
        if module:
            return found(module)
        raise ProtocolBroken("evenhand.model.rotten does not import: SyntaxError: oops")

    found = registry._all  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(registry, "_all", broken)
    assert cli("explore", "latch", "--yes").code == 0
    answer = cli("verify")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "evenhand: evenhand.model.rotten does not import: SyntaxError: oops\n"


def only(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    """Make `file` the only fixture of every protocol."""

    def one(_protocol: str) -> tuple[Path, ...]:
        return (file,)

    monkeypatch.setattr("evenhand.jobs.fixtures.fixture_files", one)


def test_a_broken_fixture_stops_verify_before_it_runs(
    cli: Command, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unusable file is reported at once, with exit 2."""
    only(monkeypatch, Path(files["cut"]))
    answer = cli("verify", "latch", "--json")
    assert (answer.code, answer.out) == (2, "")
    assert "cut short" in answer.err


def test_a_fixture_is_replayed_as_a_verdict_of_its_own(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As expected while the mutant is refuted; unexpected once it is not."""
    cli("mutants", "latch", "--mutant", "always_free", "--fixtures", str(tmp_path))
    (file,) = (tmp_path / "latch").iterdir()
    only(monkeypatch, file)
    answer = cli("verify", "latch", "--json")
    (replayed,) = [v for v in answer.json["verdicts"] if v["engine"] == "replay"]
    assert answer.code == 0
    assert (replayed["variant"], replayed["status"], replayed["standing"]) == ("always_free", "REFUTED", "as expected")


def test_a_fixture_of_ours_is_replayed_by_its_name_from_any_folder(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is the one in reports; a file of that name in the folder takes precedence."""
    monkeypatch.chdir(tmp_path)
    (name, _), *_ = fixtures_of("cud")
    answer = cli("replay", name)
    assert (answer.code, answer.out.split()[:2]) == (0, ["ok", f"{name}:"])
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text("{}")
    assert cli("replay", name).code == 2


def test_a_long_run_tells_a_log_how_far_it_is(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Off a terminal a line comes when it is due; before that there is none."""
    monkeypatch.setattr("evenhand.cli.console.FIRST_LINE", 0.0)
    first, *others = cli("verify", "latch", "--jobs", "1").err.splitlines()
    assert re.match(
        r"verify: \d+ of (\d+) jobs after \d+ s(, about \d+ s left)?: latch \d/\1(; now explore latch latch)?", first
    )
    assert not others, "the next line is not due yet"


def test_colours_are_for_terminals_that_want_them(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in a file; with NO_COLOR not even where colour is forced."""
    assert "\x1b" not in cli("verify", "latch").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[3" in cli("verify", "latch").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in cli("verify", "latch").out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(cli: Command, command: str) -> None:
    """The help begins with a sentence that fits the list of commands, and explains the exit codes."""
    answer = cli(*command.split(), "--help")
    assert answer.code == 0
    assert "--json" in answer.out
    assert "Exit codes: 0 " in " ".join(answer.out.split())
    first = (COMMANDS[command].__doc__ or "").splitlines()[0]
    assert first.endswith(".") and f"{first}\n" in cli(*command.split()[:-1], "--help").out


def test_without_a_command_the_help_is_shown(cli: Command) -> None:
    """It goes to standard error, because no command ran."""
    answer = cli()
    assert (answer.code, answer.out) == (2, "")
    assert "Commands:" in answer.err
