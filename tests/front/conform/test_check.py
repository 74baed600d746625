"""`evenhand check` as a user runs it: findings, files, readings, claims alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec import to_builtins

from evenhand.conform import adapters
from evenhand.conform.adapters.kernels import adapter_source
from evenhand.conform.adapters.model import factory_of, variant
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.covering import Covering
from evenhand.conform.checking.defects import Defects
from evenhand.conform.checking.finding import load_finding, recheck
from evenhand.conform.checking.liveness import SILENT
from evenhand.conform.checking.loop import FALSE, MACHINE, CheckEffort, check_system
from evenhand.core.canonical import canonical_bytes, digest
from evenhand.core.loading import NotLoaded, value_at
from evenhand.core.registry import find
from evenhand.evidence.record import BadRecord
from evenhand.report.forms.checked import finding_page
from tests.front.conform.in_process import InProcess
from tests.front.conftest import PLUGINS, ROOT, Command

LATCHES = "tests.front.conform.latches"


def checked(cli: Command, name: str, *words: str) -> Any:
    """Run the command on one of the latches; return its JSON."""
    answer = cli("check", "latch", "--adapter", f"{LATCHES}:{name}", "--examples", "3", "--json", *words)
    assert answer.code == (1 if answer.json["findings"] else 0)
    return answer.json


@pytest.mark.slow
def test_a_fault_is_found_shrunk_and_told_by_claim(cli: Command) -> None:
    """Two steps, the length that exploring the mutant with the same fault proves minimal."""
    report = checked(cli, "always_free")
    (found,) = report["findings"]
    assert (found["claim"], found["length"], found["what"]) == ("taken_when_free", 2, "differs")
    assert [one["basis"] for one in found["violations"]] == ["state before"]
    assert found["differences"] == ["all of it: expected 'refused', shown 'taken'"]
    assert report["systems"][0]["judged"] == ["one_inside", "taken_when_free"]
    assert report["systems"][0]["why_not_judged"] == {"taken": SILENT, "somebody_enters": FALSE}
    text = cli("check", "latch", "--adapter", f"{LATCHES}:always_free").out
    found_ = ["FOUND 1  a wrong decision: taken_when_free, in 2 steps of latch", f"         {found['differences'][0]}"]
    assert text.splitlines()[:2] == found_ and text.rstrip().splitlines()[-1].startswith("next: --out DIR")
    assert "1 distinct finding; judged by the model" in text


@pytest.mark.slow
def test_the_same_kernel_gives_the_same_report(cli: Command) -> None:
    """To the byte, apart from clock readings."""
    one, two = (checked(cli, "always_free") for _ in range(2))
    del one["timing"], two["timing"]
    assert canonical_bytes(one) == canonical_bytes(two)


@pytest.mark.slow
def test_the_files_of_a_finding(cli: Command, tmp_path: Path) -> None:
    """A record that its schema allows, Markdown, ITF, and a test that fails until the kernel is mended."""
    (found,) = checked(cli, "always_free", "--out", str(tmp_path))["findings"]
    record = tmp_path / found["fixture"]
    assert load_finding(record).claim == "taken_when_free"
    assert "**differs** `all of it: expected 'refused', shown 'taken'`" in record.with_suffix(".md").read_text("utf-8")
    itf = json.loads(record.with_suffix(".itf.json").read_text("utf-8"))
    assert itf["#meta"]["format"] == "ITF" and len(itf["states"]) == 3
    first, second = (itf["states"][step]["action"] for step in (1, 2))
    assert first in ({"tag": "Act", "verb": "take", "agent": {"#bigint": agent}} for agent in "01")
    assert second["verb"] == "take" and second["agent"] != first["agent"]  # as short with either first
    assert (itf["states"][2]["expected"], itf["states"][2]["got"]) == ("refused", "taken")
    (test,) = record.parent.glob("test_*.py")
    assert outcome(test) == (1, "AssertionError: taken_when_free: Who takes the latch finds it free.")
    program = f"command: {sys.executable} {ROOT}/tests/front/conform/lines.py honest"
    assert outcome(test, EVENHAND_KERNEL=program) == (0, "")
    assert sorted(path.name for path in record.parent.iterdir() if path.is_file()) == sorted(
        [record.name, f"{record.stem}.md", f"{record.stem}.itf.json", test.name]
    )


def outcome(test: Path, **environment: str) -> tuple[int, str]:
    """Run a generated test file as its owner would; return the exit code and the message of its failure."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", test.name],
        cwd=test.parent,
        env={**os.environ, "PYTHONPATH": f"{PLUGINS}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = [line.removeprefix("E").strip() for line in done.stdout.splitlines() if line.startswith("E  ")]
    return done.returncode, lines[0] if lines else ""


@pytest.mark.slow
def test_a_kernel_that_wavers_has_both_traces(cli: Command, tmp_path: Path) -> None:
    """The generated test keeps failing, whichever answer comes first."""
    (found,) = checked(cli, "wavers", "--out", str(tmp_path))["findings"]
    assert found["claim"] == "kernel_is_deterministic"
    assert found["again"] and found["again"] != found["got"]
    assert "asked again: " in (tmp_path / found["fixture"]).with_suffix(".md").read_text("utf-8")


@pytest.mark.slow
def test_claims_alone_let_a_kernel_differ(cli: Command) -> None:
    """Granting the latch once more is another reading: the model objects, no claim does."""
    assert [one["claim"] for one in checked(cli, "generous")["findings"]] == ["kernel_agrees_with_model"]
    assert checked(cli, "generous", "--reading", "again=granted")["findings"] == []
    alone = checked(cli, "generous", "--claims-only")
    assert alone["findings"] == [] and alone["judged_by"] == "claims"
    (found,) = checked(cli, "always_free", "--claims-only")["findings"]
    assert (found["claim"], found["length"], found["what"]) == ("taken_when_free", 2, "violates")


@pytest.mark.slow
def test_a_kernel_that_tells_its_state_is_judged_by_it(cli: Command) -> None:
    """The invariant is about states: it stays open for silent kernels, and this kernel tells its state."""
    assert checked(cli, "always_free", "--claims-only")["systems"][0]["left_open"] == ["one_inside"]
    assert checked(cli, "open_honest")["findings"] == []
    (found,) = checked(cli, "open_liar")["findings"]
    assert (found["claim"], found["length"], found["what"]) == ("one_inside", 1, "violates")
    assert found["violations"] == [{"basis": "own state", "claim": "one_inside", "step": 1}]


def test_what_a_kernel_says_is_inert(cli: Command, tmp_path: Path) -> None:
    """None of its escapes reaches the terminal or the Markdown."""
    words = ("check", "latch", "--adapter", f"{LATCHES}:raises", "--out", str(tmp_path), "--examples", "2")
    answer = cli(*words)
    assert answer.code == 1
    pages = [page.read_text("utf-8") for page in tmp_path.rglob("*.md")]
    assert len(pages) == 2  # of the finding and of the report
    assert "\x1b" not in answer.out + "".join(pages)
    assert "\\u001b[31mknown" in answer.out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "exactly one of --adapter module:factory and --command '…'; --skeleton FILE.py writes an adapter"),
        (("--adapter", "a:b", "--command", "c"), "exactly one of --adapter"),
        (("--adapter", f"{LATCHES}:nothing"), "has no attribute 'nothing'. Name a function that it has."),
        (("--adapter", f"{LATCHES}:honets"), "has no attribute 'honets'. Did you mean honest?"),
        (("--adapter", "no.such.module:make"), "Is its folder the current one, or on PYTHONPATH?"),
        (("--adapter", f"{LATCHES}:no_factory"), "is no function: int"),
        (
            ("--adapter", f"{LATCHES}:forgets_to_return"),
            "forgets_to_return: its factory returned NoneType, which has no method step",
        ),
        (("--adapter", f"{LATCHES}:returns_late"), "Return a kernel, or raise Unsupported"),
        (("--adapter", LATCHES), "package.module:factory"),
        (("--adapter", "nonsense:"), "adapter 'nonsense:' names nothing; write package.module:factory"),
        (("--adapter", "nope.py:make"), "adapter nope.py: there is no such file. Check the path"),
        (("--command", str(ROOT)), "Permission denied. Name a program"),
        (("--command", "'unbalanced"), "No closing quotation"),
        (("--adapter", f"{LATCHES}:rejects"), "supports none of the systems"),
        (("--command", "/no/such/kernel"), "No such file"),
        (("--adapter", f"{LATCHES}:honest", "--system", "other"), "there is: latch"),
        (("--adapter", f"{LATCHES}:honest", "--reading", "again=never"), "again"),
        (("--adapter", f"{LATCHES}:honest", "--scope", "agents=x"), "agents=x"),
    ],
)
def test_mistakes_of_the_caller(cli: Command, words: tuple[str, ...], reason: str) -> None:
    """One message, exit code 2, never a finding."""
    answer = cli("check", "latch", *words)
    assert answer.code == 2 and reason in answer.err


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("def make(", "SyntaxError: '(' was never closed (broken_adapter.py, line 1). Mend the file."),
        ("import json\n1 / 0", "ZeroDivisionError: division by zero (broken_adapter.py, line 2). Mend the file."),
        ("import no_such", "No module named 'no_such' (broken_adapter.py, line 1). Is its folder the current one"),
    ],
)
def test_an_adapter_that_breaks_when_it_is_imported_is_to_be_mended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str, told: str
) -> None:
    """Its folder was found."""
    (tmp_path / "broken_adapter.py").write_text(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotLoaded, match=re.escape(told)):
        value_at("broken_adapter:make")


def test_an_adapter_in_a_package_may_import_what_lies_beside_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By its name in the package, and by its own, as a script does."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    package = tmp_path / "packed_adapter"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "lies_beside.py").write_text("made = 7")
    (package / "adapter.py").write_text("import lies_beside, packed_adapter.lies_beside\nmake = lies_beside.made")
    assert value_at(f"{package / 'adapter.py'}:make") == 7


def test_an_adapter_may_change_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It may take the current folder from it, which was put there to find the adapter."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "path_adapter.py").write_text("import sys\nsys.path.pop(0)\nmake = 7")
    monkeypatch.chdir(tmp_path)
    assert value_at("path_adapter:make") == 7


def test_a_scope_without_configurations_is_the_callers_mistake(cli: Command) -> None:
    """One message, whichever way the model refuses."""
    answer = cli("check", "cud", "--adapter", "a:b", "--system", "free", "--scope", "agents=0")
    assert answer.code == 2 and len(answer.err.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_finding_that_was_changed_is_refused(cli: Command, tmp_path: Path) -> None:
    """A finding must have its seal, a known format, and this model."""
    (found,) = checked(cli, "always_free", "--out", str(tmp_path))["findings"]
    path = tmp_path / found["fixture"]
    good = to_builtins(load_finding(path))
    assert not recheck(path, f"{LATCHES}:always_free").ok
    assert recheck(path, f"{LATCHES}:honest").ok

    def rewritten(**changed: Any) -> None:
        data = {**good, **changed}
        content = {key: value for key, value in data.items() if key != "sha256"}
        path.write_bytes(canonical_bytes({**content, "sha256": digest(content)}))

    path.write_bytes(canonical_bytes({**good, "claim": "one_inside"}))
    with pytest.raises(BadRecord, match="sha256 differs"):
        recheck(path, f"{LATCHES}:honest")
    for changed, reason in (
        ({"version": 2}, "of version 2"),
        ({"format": "other"}, "format"),
        ({"what": "dances"}, "what"),
        ({"expected": ["taken", "taken"]}, "shows something else now"),
        ({"system": "gate"}, "has changed since"),
    ):
        rewritten(**changed)
        with pytest.raises(BadRecord, match=reason):
            recheck(path, f"{LATCHES}:honest")


def test_the_markdown_of_hostile_text_formats_nothing() -> None:
    """Names and values from a kernel stay text."""
    finding: dict[str, Any] = {
        "claim": "c", "sentence": "<b>*x*</b>", "source": "", "kernel": "`rm`", "protocol": "p", "seen": 1,
        "violations": [], "also": [], "fault": "", "why": "[a](http://b)", "differences": ["`\x1b`"], "behind": 0,
        "alike": [], "under": {}, "trace_config": ["# title"], "trace": ["a"], "expected": ["e"], "got": ["g|"],
        "again": ["h"], "remarks": [], "fixture": None,
    }  # fmt: skip
    page = finding_page(finding).decode()
    assert "<b>" not in page and "\x1b" not in page and "\n# title" not in page and "[a](" not in page
    assert "asked again: " in page and len(re.findall(r"(?<!\\)\|", page.splitlines()[-2])) == 5


def test_an_in_process_kernel_is_held_to_the_same() -> None:
    """A mutant of the toy latch as a black box: the claim, and the length that exploring it proves minimal."""
    bundle = find("latch")
    system = bundle.model.systems["latch"]
    effort = CheckEffort(examples=3, steps=5)
    found = check_system("latch", (system,), bundle.claims, InProcess(variant("latch", "always_free")), effort=effort)
    assert [(one.divergence.subject, one.divergence.length) for one in found.defects] == [("taken_when_free", 2)]
    sticky = replace(system, rules=bundle.model.mutants[2].rules)
    gap = check_system("latch", (system,), bundle.claims, InProcess(factory_of(sticky)), effort=effort)
    assert [(one.divergence.subject, one.divergence.length) for one in gap.defects] == [("kernel_agrees_with_model", 3)]


@pytest.mark.parametrize(
    "place", ["evenhand/conform/adapters/schema/wire.json", "evenhand/conform/checking/schema/log.json"]
)
def test_published_schemas_are_schemas(place: str) -> None:
    """Authors of kernels and logs can check them by these schemas."""
    schema = json.loads((ROOT / place).read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)


def test_the_wire_is_as_its_schema_says() -> None:
    """Every line that our host and our side of the pipe write."""
    from evenhand.conform.adapters import wire
    from evenhand.conform.adapters.host import Host
    from tests.front.conform import latches

    schema = json.loads((ROOT / "evenhand/conform/adapters/schema/wire.json").read_text("utf-8"))
    config = {"$": "Config", "agents": 2, "readings": {"$": "Readings", "again": "refused"}}
    initial = wire.initial_text("latch", "latch", config, {"$": "State", "inside": []})
    requests = [
        wire.start(1, initial),
        *(wire.step(n, b'{"$":"Act","agent":1,"verb":"leave"}') for n in (2, 3)),
        wire.end(4),
    ]
    for factory in (latches.open_honest, latches.raises, latches.mutates_config, latches.rejects):
        host = Host(factory)
        for line in requests:
            jsonschema.validate(json.loads(line), schema)
            answer = json.loads(host.answer(line))
            jsonschema.validate(answer, schema)
            assert answer["id"] == json.loads(line)["id"]


def test_an_interrupted_check_keeps_what_it_found() -> None:
    """Ctrl-C ends the search; findings so far are reported unchanged, and each answer belongs to its own request."""
    bundle = find("latch")
    asked = 0

    def factory(initial: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == 4:
            raise KeyboardInterrupt
        return variant("latch", "always_free")(initial)

    system = bundle.model.systems["latch"]
    found = check_system("latch", (system,), bundle.claims, InProcess(factory), effort=CheckEffort(examples=3, steps=5))
    assert found.interrupted
    assert [one.divergence.subject for one in found.defects] == ["taken_when_free"]


@pytest.mark.parametrize(("place", "shrunk"), [("_small", False), ("_confirmed", True)])
def test_a_check_that_is_interrupted_while_it_shrinks_keeps_what_it_found(
    monkeypatch: pytest.MonkeyPatch, place: str, shrunk: bool
) -> None:
    """What was shrunk so far stays so, and nothing is counted twice."""
    work, calls = getattr(Defects, place), 0

    def interrupted(*words: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise KeyboardInterrupt
        return work(*words)

    monkeypatch.setattr(Defects, place, interrupted)
    bundle, source = find("latch"), InProcess(variant("latch", "always_free"))
    system = bundle.model.systems["latch"]
    effort = CheckEffort(examples=1, steps=9, phases=(MACHINE,))
    found = check_system("latch", (system,), bundle.claims, source, effort=effort)
    assert found.interrupted and calls > 1
    assert [one.divergence.subject for one in found.defects] == ["taken_when_free"]
    assert (found.defects[0].divergence.length == 2) is shrunk and found.explained == found.divergences > 0


def test_answers_nobody_waits_for_are_not_taken_for_others() -> None:
    """A listener that stops early leaves a fresh process behind."""
    coder_source = adapter_source(f"{LATCHES}:honest")
    system = find("latch").model.systems["latch"]
    coder = Coder("latch", system)
    asked = [coder.request(walk.trace) for walk in Covering(system).walks()]
    try:
        listening = coder_source.ask(asked * 4)
        assert next(listening).as_expected
        listening.close()  # type: ignore[attr-defined]
        assert all(response.as_expected for response in coder_source.ask(asked))
    finally:
        coder_source.close()


def test_the_public_surface_of_adapters() -> None:
    """The names that adapters of other authors may import."""
    assert adapters.__all__ == ["Factory", "Initial", "Kernel", "TellsFacts", "TellsState", "Unsupported"]


def test_an_unknown_kind_of_free_field_is_the_callers_mistake(cli: Command) -> None:
    """The message names the kinds that there are."""
    answer = cli("check", "latch", "--adapter", f"{LATCHES}:honest", "--compare", "words")
    assert answer.code == 2 and "there is: texts, codes, orders" in answer.err
