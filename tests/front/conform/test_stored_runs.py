"""What the command gives a check: the time of each system, and the runs that come with a protocol."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli import app
from evenhand.cli import check as command
from evenhand.conform.adapters.model import reference, variant
from evenhand.conform.checking.causes import causes
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.drawing import drawn, no_whole_floats, separating
from evenhand.conform.checking.files import save_finding
from evenhand.conform.checking.finding import finding_json, recheck
from evenhand.conform.checking.loop import EXHAUSTIVE, check_system
from evenhand.conform.checking.spelling import atoms_of
from evenhand.conform.vectors.verifying import load_suites
from evenhand.core.atoms import Atom
from evenhand.core.canonical import digest
from evenhand.core.codec import encode
from evenhand.core.registry import find
from evenhand.core.trace import replay
from evenhand.core.verdict import runs as runs_of
from evenhand.evidence.growth import read_run
from evenhand.evidence.record import Record
from evenhand.evidence.schemas import unsealed
from evenhand.evidence.vector import Vector
from evenhand.jobs.fixtures import fixtures_of, vector_folder
from evenhand.model.sovereign.state import Check, Cycle, Decide
from evenhand.model.sovereign.vocabulary import Candidate, Justification, Request, ScopeClaim, Warrant
from tests.front.conform import test_lookalikes as lookalikes
from tests.front.conform.in_process import InProcess


def asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[Any]:
    """Run the command with almost no effort; return what each system was to be checked with."""
    given: list[Any] = []

    def brief(*arguments: Any, **known: Any) -> Any:
        given.append({**known, "name": known["own"].name})
        effort = replace(known["effort"], transitions=2, phases=(EXHAUSTIVE,))
        return check_system(*arguments, **{**known, "effort": effort, "records": ()})

    monkeypatch.setattr(command, "check_system", brief)
    app(["check", "apcm", *words, "--json"], standalone_mode=False)
    return given


def test_a_system_that_the_kernel_does_not_take_gets_a_hundredth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is checked for as long before it is asked which are taken; those have what is left."""
    given = asked(monkeypatch, "--adapter", "tests.front.conform.picky:conditions_alone")
    first, *others = [(one["name"], one["effort"].seconds) for one in given]
    assert first[0] == "run" and 0 < first[1] <= 0.6
    seconds = dict(others)
    taken = seconds.pop("conditions")
    assert len(seconds) == 4 and all(0 < one <= 0.6 for one in seconds.values())
    assert taken > 40


def has_actions(record: Record) -> bool:
    """Return whether the run of a record does anything."""
    evidence, _ = read_run(record.run, find(record.protocol).model.systems[record.system].types)
    return any(run.actions for run in runs_of(evidence))


def vectors(protocol: str) -> list[Vector]:
    """Return the vectors that come with a protocol."""
    folder = vector_folder(protocol)
    assert folder is not None
    return [vector for suite in load_suites(folder).values() for vector in suite.vectors]


def test_the_vectors_of_a_protocol_are_among_the_runs_of_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the counterexamples of its variants."""
    (given,) = asked(monkeypatch, "--adapter", "tests.front.conform.picky:conditions_alone", "--system", "conditions")
    stored = [one for one in given["records"] if isinstance(one, Vector)]
    assert stored == vectors("apcm") and 0 < len(stored) < len(given["records"])
    runs = list(separating(find("apcm").model.systems["conditions"], stored))
    assert len(runs) > 20


@pytest.mark.parametrize("protocol", ["apcm", "conviction", "cud", "markspace", "sovereign"])
def test_every_stored_run_is_sent(protocol: str) -> None:
    """A file that is older than a field or reading of the model is read with its default, not skipped.

    But for two that begin with an id that no space in order gives.
    """
    systems = find(protocol).model.systems
    records = [record for _, record in fixtures_of(protocol)]
    unsent = [
        record.claim.name
        for record in records
        if record.system in systems and has_actions(record) and not list(separating(systems[record.system], [record]))
        if record.readings.get("id_order") != "adversarial"
    ]
    assert records and not unsent


@pytest.mark.parametrize(("protocol", "name"), [("conviction", "run"), ("markspace", "space")])
def test_runs_end_before_what_the_source_does_not_speak_of(protocol: str, name: str) -> None:
    """Such as opening an Issue without a problem; the machine draws that, and a system without `unsaid` is sent it."""
    bundle = find(protocol)
    system = bundle.model.systems[name]
    generator = next(one for one in bundle.generators if one.system == name)
    stored = [record for _, record in fixtures_of(protocol) if record.system == name]
    unsaid = system.unsaid
    assert unsaid is not None

    def beyond(own: Any) -> list[Any]:
        runs = [*separating(own, stored), *drawn(own, generator, examples=40, steps=12, seed=0)]
        coder = Coder(protocol, own)
        steps = [step for run in runs for step in coder.said(coder.trace(run)).steps]
        return [step.action for step in steps if unsaid(step.config, step.before, step.action)]

    assert not beyond(system) and beyond(replace(system, unsaid=None))


def test_runs_keep_what_the_source_refuses() -> None:
    """An intruder, and a second choice of one agent, are on offer nowhere; but kernels have to refuse them."""
    bundle = find("cud")
    system = bundle.model.systems["run"]
    generator = next(one for one in bundle.generators if one.system == "run")
    runs = drawn(system, generator, examples=20, steps=12, seed=0)
    assert any(step.shown.rejected for run in runs for step in replay(system, run).steps)


@pytest.mark.parametrize(
    ("path", "unsaid"),
    [
        ("./workspace/absent/../y", True),  # shortened, it is allowed
        ("./workspace/absent/../../secret", False),  # whoever reads it so, too, refuses it
        ("./workspace/../workspace/y", False),
    ],
)
def test_a_path_is_left_out_only_where_the_text_admits_two_answers(path: str, unsaid: bool) -> None:
    """A kernel that leaves the repository behind what is no directory is wrong however it reads the text."""
    for name in ("agent", "session"):
        system = find("sovereign").model.systems[name]
        config = next(iter(system.all_configs()))
        state = next(iter(system.initial(config)))
        request = Request("ReadLocal", (("path", path),))
        check, judged = Check("first", Warrant(request, "", ""), request), Decide((), (Candidate(request),))
        for action in (check, judged) if name == "agent" else (Cycle((), (Candidate(request),)),):
            assert system.is_unsaid(config, state, action) is unsaid


@pytest.mark.parametrize(
    ("path", "unsaid"),
    [
        ("workspace/a\\b", True),
        ("workspace\\b", True),  # below the workspace for those that part it there
        ("workspace/a\\..\\..\\b", True),
        ("etc\\secret", False),  # whoever reads it so, or so, refuses it
        ("workspace/e\u0301", False),
    ],
)
def test_what_a_backslash_is_to_a_disk_is_left_out(path: str, unsaid: bool) -> None:
    """Only where a path stands for what a disk takes it for: the other readings say what becomes of it."""
    request = Request("ReadLocal", (("path", path),))
    for rule in ("normal_form", "resolved", "prefix_string"):
        system = find("sovereign").model.systems["candidates"].under(path_rule=rule)
        config = next(iter(system.all_configs()))
        state = next(iter(system.initial(config)))
        asked = Decide((), (Candidate(request),))
        assert system.is_unsaid(config, state, asked) is (unsaid and rule == "normal_form")


@pytest.mark.parametrize(
    ("path", "action_type", "unsaid"),
    [
        ("workspace/absent/y", "WriteLocal", True),
        ("workspace/absent/y", "ReadLocal", False),  # there is nothing to read, whoever asks
        ("workspace/d/f/y", "WriteLocal", False),  # nobody makes a directory of a file
        ("workspace/y", "WriteLocal", False),
        ("etc/absent/y", "WriteLocal", False),
    ],
)
def test_no_kernel_is_asked_for_a_write_where_a_directory_is_absent(path: str, action_type: str, unsaid: bool) -> None:
    """Some executors make it; that a candidate names it is no question of the disk."""
    system = find("sovereign").model.systems["agent"]
    config = next(iter(system.all_configs()))
    state = next(iter(system.initial(config)))
    request = Request(action_type, (("content", "m"), ("path", path)))
    assert system.is_unsaid(config, state, Check("first", Warrant(request, "", ""), request)) is unsaid
    assert not system.is_unsaid(config, state, Decide((), (Candidate(request),)))


@pytest.mark.parametrize(("action_type", "unsaid"), [("Shell", True), ("Notify", False), ("Exit", False)])
def test_which_gate_refuses_a_part_that_nobody_requires_is_left_open(action_type: str, unsaid: bool) -> None:
    """A declared type says which parts it requires, and an Exit is not judged."""
    system = find("sovereign").model.systems["candidates"]
    config = next(iter(system.all_configs()))
    state = next(iter(system.initial(config)))
    whole = Candidate(Request(action_type, ()), ScopeClaim((), "", ""), Justification("because"), ("a citation",))
    assert system.is_unsaid(config, state, Decide((), (replace(whole, scope=None),))) is unsaid
    assert not system.is_unsaid(config, state, Decide((), (whole,)))


def test_vectors_end_before_what_is_not_on_offer() -> None:
    """Such as a cycle after the end of a session, of which no text says what it shows."""
    system = find("sovereign").model.systems["session"]
    stored = [one for one in vectors("sovereign") if one.system == "session"]
    runs = list(separating(system, stored))
    whole = {len(one.run.actions) for one in stored}
    assert runs and max(len(run.actions) for run in runs) <= max(whole)
    for run in runs:
        state = run.start
        for action in run.actions:
            assert system.is_enabled(run.config, state, action), encode(action)
            state = system.take(run.config, state, action).after


def test_a_finding_that_is_older_than_a_reading_is_asked_again(tmp_path: Path) -> None:
    """Its run has the default then: the mutant still fails, the reference passes."""
    result = lookalikes.checked("forged_action_id_passes", ())
    cause, *_ = causes([(result.system, result.defects)])
    made: Any = finding_json("cud", cause, find("cud").claims, claims_only=False, kernel="here")
    for readings in (made["readings"], made["run"]["config"]["readings"]):
        del readings["broadcast"]
    record = save_finding({**made, "sha256": digest(unsealed(made))}, tmp_path, "here")
    kernels = (variant("cud", "forged_action_id_passes"), reference)
    assert [recheck(record, InProcess(one)).ok for one in kernels] == [False, True]


def test_no_stored_or_drawn_run_holds_a_whole_number_as_a_float() -> None:
    """Whether 1.0 and 1 are one value no source says; a half more is another value to every kernel."""
    bundle = find("cud")
    system = bundle.model.systems["run"].at()
    generator = next(one for one in bundle.generators if one.system == "run")
    records = [one for one in vectors("cud") if one.system == "run"]
    stored = [run for one in records for run in runs_of(read_run(one.run, system.types)[0])]
    asked_of = [*separating(system, records), *drawn(system, generator, examples=40, steps=6, seed=1)]

    def hold(runs: Any, text: str) -> bool:
        found = (atoms_of([encode(run.config), *map(encode, run.actions)]) for run in runs)
        return any(encode(Atom("number", text)) in atoms for atoms in found)

    assert hold(stored, "1") and hold(asked_of, "1.5") and not hold(asked_of, "1")
    assert all(no_whole_floats(system, run) is run for run in asked_of)
