"""Hostile kernels and the finding for each; the table of the how-to is asserted here."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evenhand.conform.adapters.kernels import NoKernel, Piped, adapter_source, command_source
from evenhand.conform.adapters.limits import KernelLimits
from evenhand.conform.adapters.wire import Fault
from evenhand.conform.checking.loop import CheckEffort, SystemChecked, check_system, scopes_of
from evenhand.core.registry import find
from tests.deep import rest_slow
from tests.front.conftest import command_line

HERE = Path(__file__).parent
HOW_TO = HERE.parents[2] / "docs/how-to/check-your-kernel.md"
LIMITS = KernelLimits(seconds=0.3, startup=10.0, answer=100_000)
FEW = KernelLimits(seconds=10.0, processes=30)
"""For the program that starts processes without end."""
ROOMY = KernelLimits(seconds=10.0, mebibytes=96)
"""For the kernel that takes memory: its own limit ends it, long before the clock."""
LEAVES = "tests.front.conform.latches"

ADAPTERS: tuple[tuple[str, str, str, str], ...] = (
    ("raises", "`step` raises", "kernel_answers", Fault.RAISED.value),
    ("raises_at_start", "the factory raises", "kernel_answers", Fault.RAISED.value),
    ("exits_politely", "calls `sys.exit`", "kernel_answers", Fault.RAISED.value),
    ("exits", "ends its process", "kernel_answers", Fault.EXITED.value),
    ("hangs", "sleeps for ever", "kernel_answers", Fault.HUNG.value),
    ("grows", "takes memory without end", "kernel_answers", Fault.RAISED.value),
    ("not_json", "returns a Python set", "kernel_answers", Fault.RAISED.value),
    (
        "returns_words_of_its_own",
        "returns JSON that the protocol has no word for",
        "kernel_answers",
        Fault.ILLEGAL.value,
    ),
    ("mutates_action", "writes to the action", "kernel_keeps_its_input", ""),
    ("mutates_config", "writes to the initial data", "kernel_keeps_its_input", ""),
    ("wavers", "answers by chance", "kernel_is_deterministic", ""),
    ("leaks", "answers by what earlier kernels did", "kernel_forgets_earlier_runs", ""),
    ("blabbers", "prints to both streams", "", ""),
)
COMMANDS: tuple[tuple[str, str, str, str], ...] = (
    ("garbage", "prints a line that is no JSON", "kernel_answers", Fault.GARBAGE.value),
    ("half", "prints half an object", "kernel_answers", Fault.GARBAGE.value),
    ("array", "prints an array", "kernel_answers", Fault.GARBAGE.value),
    ("nan", "prints NaN", "kernel_answers", Fault.GARBAGE.value),
    ("infinite", "prints 1e999", "kernel_answers", Fault.GARBAGE.value),
    ("surrogate", "shows half a surrogate pair", "kernel_answers", Fault.GARBAGE.value),
    ("beyond", "shows a whole number beyond 2^53", "kernel_answers", Fault.GARBAGE.value),
    ("not_utf8", "prints bytes that are no UTF-8", "kernel_answers", Fault.GARBAGE.value),
    ("without_id", "leaves out the `id`", "kernel_answers", Fault.GARBAGE.value),
    ("skips", "leaves out an answer", "kernel_answers", Fault.GARBAGE.value),
    ("twice", "answers twice", "kernel_answers", Fault.TWICE.value),
    ("silent", "never answers", "kernel_answers", Fault.HUNG.value),
    ("closes", "closes its output and runs on", "kernel_answers", Fault.EXITED.value),
    ("killed", "is killed", "kernel_answers", Fault.EXITED.value),
    ("dies_at_once", "ends before the first answer", "kernel_answers", Fault.EXITED.value),
    ("endless", "prints a line without end", "kernel_answers", Fault.TOO_LONG.value),
    ("errors_forever", "prints to standard error for ever", "kernel_answers", Fault.HUNG.value),
    ("crowd", "starts processes without end", "kernel_answers", Fault.PROCESSES.value),
    ("child", "starts a process and hangs", "kernel_answers", Fault.HUNG.value),
)


RARE = {"half", "array", "nan", "infinite", "skips", "closes", "errors_forever", "child", "exits_politely"}
"""Variants of other rows; only the deep tests run them, because each takes many processes."""


def rows(table: tuple[tuple[str, str, str, str], ...]) -> list[Any]:
    """Return the rows as parameters."""
    return [pytest.param(*row, id=row[0], marks=[pytest.mark.deep] if row[0] in RARE else []) for row in table]


def checked(source: Piped, *, whole: bool = False) -> SystemChecked:
    """Check one kernel in the latch."""
    bundle = find("latch")
    system = bundle.model.systems["latch"]
    try:
        return check_system(
            "latch",
            scopes_of(bundle, system) if whole else (system,),
            bundle.claims,
            source,
            effort=CheckEffort(transitions=60, examples=2, steps=5),
        )
    finally:
        source.close()


def adapter(name: str) -> Piped:
    """Return one of the Python adapters."""
    return adapter_source(f"{LEAVES}:{name}", ROOMY if name == "grows" else LIMITS)


def program(how: str, *known_by: str) -> Piped:
    """Return the program with one misbehaviour; what it is `known_by` stands in its command line."""
    command = [sys.executable, str(HERE / "lines.py"), how, *known_by]
    return command_source(shlex.join(command), FEW if how == "crowd" else LIMITS)


@pytest.mark.parametrize(("name", "_deed", "claim", "fault"), rest_slow(rows(ADAPTERS)))
def test_what_a_hostile_adapter_gets(name: str, _deed: str, claim: str, fault: str) -> None:
    """Each gets its own finding, whatever it does to its process."""
    assert_found(checked(adapter(name)), claim, fault)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "_deed", "claim", "fault"), rows(COMMANDS))
def test_what_a_hostile_program_gets(how: str, _deed: str, claim: str, fault: str) -> None:
    """The same over the bare pipe."""
    assert_found(checked(program(how)), claim, fault)


def assert_found(result: SystemChecked, claim: str, fault: str) -> None:
    """Check for exactly this finding, at its shortest, with the rest of the scope checked all the same."""
    found = [
        (one.divergence.subject, one.divergence.fault.value if one.divergence.fault else "") for one in result.defects
    ]
    assert found == ([(claim, fault)] if claim else [])
    assert all(one.divergence.length <= 1 for one in result.defects if one.divergence.what == "fails")
    assert sum(result.runs.values()) > 4
    if not claim:
        assert [one["complete"] for one in result.covered] == [True]


def test_the_table_in_the_how_to_is_this_one() -> None:
    rows = [
        f"| {deed} | `{claim}` | {'the kernel ' + fault if fault else ''} |" if claim else f"| {deed} | nothing | |"
        for _, deed, claim, fault in (*ADAPTERS, *COMMANDS)
    ]
    text = HOW_TO.read_text("utf-8")
    assert [row for row in rows if row not in text] == []


@pytest.mark.slow
def test_memory_is_bounded_by_the_child_itself() -> None:
    """The process sets its own limit: the reason names it, rather than the parent's clock."""
    (found,) = checked(adapter("grows")).defects
    assert "MemoryError" in found.divergence.why


def test_what_a_kernel_says_cannot_move_the_terminal() -> None:
    """Escapes reach the record as data; the report spells them out (see the tests of the command line)."""
    (found,) = checked(adapter("raises")).defects
    assert "LookupError: agent 1 is not \x1b[31mknown" in found.divergence.why


@pytest.mark.slow
def test_nothing_that_a_kernel_started_stays(tmp_path: Path) -> None:
    """The whole group is ended, children of the kernel too; other workers may run the same program meanwhile."""
    children = tmp_path / "children"
    checked(program("child", str(children)))
    assert children.read_text("utf-8") == "started"
    time.sleep(0.2)
    lines = [command_line(entry) for entry in Path("/proc").iterdir()]
    assert [line for line in lines if str(children).encode() in line] == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (f"{LEAVES}:no_such", "has no attribute"),
        ("tests.no_such_module:factory", "No module named"),
        (f"{LEAVES}:no_factory", "is no function"),
        ("nonsense", "package.module:factory"),
    ],
)
def test_an_adapter_that_does_not_load_is_no_finding(name: str, reason: str) -> None:
    """The mistake is the caller's: one message."""
    with pytest.raises(NoKernel, match=reason):
        checked(adapter_source(name, LIMITS))


@pytest.mark.parametrize("name", ["own-kernel", "json", "wire"])
def test_an_adapter_is_named_by_its_file_as_well(name: str, tmp_path: Path) -> None:
    """The file that `--skeleton` writes is typed as it is called, from any folder; a module may be called so."""
    (tmp_path / f"{name}.py").write_text(f"from {LEAVES} import honest as make\n", "utf-8")
    assert not checked(adapter_source(f"{tmp_path}/{name}.py:make", LIMITS)).defects
    with pytest.raises(NoKernel, match="Did you mean make"):
        checked(adapter_source(f"{tmp_path}/{name}.py:mkae", LIMITS))


def test_a_command_that_does_not_exist_is_no_finding() -> None:
    """The same for a program."""
    with pytest.raises(NoKernel, match="No such file"):
        checked(command_source("/no/such/kernel", LIMITS))
    with pytest.raises(NoKernel, match="is empty"):
        command_source("  ")


def test_what_is_not_supported_is_left_out_and_counted() -> None:
    """It is counted and gives no finding."""
    result = checked(adapter("rejects"))
    assert not result.defects
    assert list(result.unsupported) == ["this kernel knows no latch"]
    assert sum(result.steps.values()) == 0


@pytest.mark.slow
def test_an_honest_kernel_agrees_everywhere() -> None:
    """Python or program: every transition of both scopes, nothing found."""
    for source in (adapter("honest"), program("honest")):
        result = checked(source, whole=True)
        assert not result.defects
        assert [dict(one["scope"]) for one in result.covered] == [{"agents": 2}, {"agents": 3}]
        assert all(one["complete"] for one in result.covered)
        assert [one["transitions"] for one in result.covered] == [
            12,
            24,
        ]  # (agents + 1) states, 2 * agents actions in each


def test_the_limits_are_checked() -> None:
    """With a limit of 0 every kernel would hang."""
    with pytest.raises(ValueError, match="seconds must be above 0"):
        KernelLimits(seconds=0)


def test_a_kernel_that_answers_nothing_was_judged_by_nothing() -> None:
    """Without an answered step no claim counts as judged, and each says why."""
    source = adapter_source("tests.front.conform.latches:raises_at_start")
    try:
        latch = find("latch")
        found = check_system(
            "latch", tuple(latch.model.systems.values()), latch.claims, source, effort=CheckEffort(20, examples=1)
        )
    finally:
        source.close()
    assert found.defects and found.judged == ()
    assert set(found.not_judged) == {claim.name for claim in latch.claims}
    assert set(found.not_judged.values()) == {"the kernel answered nothing"}
