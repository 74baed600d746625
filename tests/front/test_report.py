"""The report: findings against expectations, the resulting exit code, and text that stays inert."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import pytest
from rich.console import Console

import evenhand
from evenhand.core.text import changes, describe, inert, layout
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding, plain
from evenhand.evidence.schemas import Mistake
from evenhand.evidence.story import RunLines, StepLines, Story
from evenhand.report.report import Report, Standing
from evenhand.report.table import next_steps, print_report, summary_line

HOLDS, REFUTED, UNDECIDED = Status.HOLDS, Status.REFUTED, Status.UNDECIDED


def found(status: Status, expected: Status = HOLDS, engine: str = "explore", claim: str = "safe") -> Finding:
    """Return a finding as an engine makes it."""
    return Finding("toy", claim, "It is safe.", engine, "toy", "reference", status, expected, command="evenhand x")


BEYOND = replace(found(UNDECIDED, engine="fuzz"), beyond=True)

TABLE: list[tuple[str, Sequence[Finding], list[str], int, int]] = [
    ("all hold", [found(HOLDS)], ["as expected"], 0, 0),
    ("refuted", [found(REFUTED), found(HOLDS, engine="fuzz")], ["unexpected", "as expected"], 1, 1),
    ("undecided", [found(UNDECIDED)], ["unexpected"], 3, 3),
    ("undecided and refuted", [found(UNDECIDED), found(REFUTED, claim="b")], ["unexpected"] * 2, 1, 1),
    ("expected refutation", [found(REFUTED, REFUTED)], ["as expected"], 0, 0),
    (
        "one engine refutes what is stated",
        [found(REFUTED, REFUTED), found(HOLDS, REFUTED, engine="fuzz")],
        ["as expected"] * 2,
        0,
        0,
    ),
    ("expected refutation gone", [found(HOLDS, REFUTED)], ["unexpected"], 1, 1),
    ("expected refutation lost from sight", [found(UNDECIDED, REFUTED)], ["unexpected"], 3, 3),
    ("stated undecided", [found(UNDECIDED, UNDECIDED)], ["as expected"], 0, 3),
    ("stated undecided, refuted", [found(REFUTED, UNDECIDED)], ["unexpected"], 1, 1),
    ("stated undecided, holds", [found(HOLDS, UNDECIDED)], ["better than expected"], 0, 0),
    ("beyond sampling, decided", [found(HOLDS), BEYOND], ["as expected", "left open"], 0, 0),
    ("beyond sampling, alone", [BEYOND], ["unexpected"], 3, 3),
    ("beyond sampling, undecided", [found(UNDECIDED), BEYOND], ["unexpected"] * 2, 3, 3),
    ("undecided within sampling", [found(HOLDS), found(UNDECIDED, engine="fuzz")], ["as expected", "unexpected"], 3, 3),
    (
        "a refutation stated of one engine only",
        [replace(found(REFUTED, REFUTED), expected_of="explore"), found(REFUTED, engine="fuzz")],
        ["as expected", "unexpected"],
        1,
        1,
    ),
    (
        "one fixture goes green, another stays",
        [
            replace(found(REFUTED, REFUTED, engine="replay"), scope={"fixture": "a.json"}),
            replace(found(HOLDS, REFUTED, engine="replay"), scope={"fixture": "b.json"}),
        ],
        ["as expected", "unexpected"],
        1,
        1,
    ),
]


@pytest.mark.parametrize(
    ("findings", "standings", "code", "strict"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE]
)
def test_how_findings_stand(findings: Sequence[Finding], standings: list[str], code: int, strict: int) -> None:
    """Every combination that the module's docstring names."""
    report = Report(tuple(findings))
    assert [report.standing(finding).value for finding in report.findings] == standings
    assert (report.exit_code(), report.exit_code(strict=True)) == (code, strict)
    assert report.as_expected is (not report.unexpected)


def test_an_interrupted_or_empty_report_is_never_green() -> None:
    """130 before all else; a report without checks does not hold."""
    assert Report((found(REFUTED),), interrupted=True).exit_code() == 130
    assert not Report((found(HOLDS),), interrupted=True).holds
    assert not Report(()).holds
    assert not Report(()).as_expected


def test_stated_undecided_comes_first_in_the_summary() -> None:
    """Even without such a finding."""
    assert summary_line(Report((found(HOLDS),))) == "1 claim, 1 verdict: 0 UNDECIDED as expected, 1 HOLDS."
    line = summary_line(
        Report((found(UNDECIDED, UNDECIDED), found(REFUTED, claim="b"), found(HOLDS, UNDECIDED, claim="c")))
    )
    assert line == (
        "3 claims, 3 verdicts: 1 UNDECIDED as expected, 1 REFUTED unexpectedly, 1 HOLDS, 1 better than expected."
    )


def test_what_to_try_next() -> None:
    """A command for a failure, a bigger budget for an open claim."""
    steps = list(next_steps(Report((found(REFUTED), found(UNDECIDED, claim="b")), {"budget": "quick"})))
    assert steps == ["see safe fail again: evenhand x", "decide more with --budget standard"]
    assert list(next_steps(Report((found(HOLDS),), {"budget": "deep"}))) == []
    twice = Report((found(REFUTED), found(REFUTED, engine="fuzz"), found(REFUTED, claim="b")))
    assert [step.split(":")[0] for step in next_steps(twice)] == ["see safe fail again", "see b fail again"]


def test_no_budget_is_offered_against_an_error() -> None:
    """A step that raises does so at any budget."""
    raised = replace(found(UNDECIDED), because="an error stopped explore at take: ModelError: `step` raised KeyError")
    (mend,) = next_steps(Report((raised,), {"budget": "quick"}))
    assert mend.startswith("mend what raised an error") and "--budget" not in mend
    both = list(next_steps(Report((raised, found(UNDECIDED, claim="b")), {"budget": "quick"})))
    assert both == [mend, "decide more with --budget standard"]


def test_a_finding_comes_back_from_its_json() -> None:
    """As it goes from one process to another."""
    story = Story(
        (RunLines(("c",), ("s",), (StepLines(("a",), (("b", ("1", "2")),), ("x",), (("p", ("q",)),)),), loop=1),)
    )
    one = replace(found(REFUTED), story=story, trusted_base=("x",), scope={"agents": 2}, coverage={"states": 3})
    assert Finding.from_json(one.to_json()) == one


@pytest.mark.parametrize("name", ["", "protocols"])
def test_a_finding_with_a_strange_field_is_a_mistake(name: str) -> None:
    """A field is renamed; the empty name is as strange as any other."""
    made = dict(found(HOLDS).to_json())
    made[name] = made.pop("protocol")
    with pytest.raises(Mistake, match="is missing, or there is none of this name"):
        Finding.from_json(made)


def test_the_keys_of_the_report_are_these() -> None:
    """Other programs rely on them."""
    made = Report((found(HOLDS),)).to_json()
    assert sorted(made) == [
        "claims", "format", "interrupted", "mutants", "notes", "settings", "summary", "timing", "unfinished",
        "verdicts",
        "version", "versions",
    ]  # fmt: skip
    assert sorted(made["verdicts"][0]) == [
        "because", "beyond", "claim", "command", "coverage", "engine", "expected", "expected_of", "fixture", "length",
        "protocol", "readings", "scope", "sentence", "sizes", "standing", "stated", "status", "story", "system",
        "trace", "trusted_base", "variant", "word",
    ]  # fmt: skip
    assert sorted(made["summary"]) == [
        "better_than_stated", "claims", "exit_code", "findings", "holds", "interrupted", "killed", "left_open",
        "refutation_gone", "refuted_expected", "refuted_unexpected", "reproduced", "undecided_expected",
        "undecided_unexpected",
    ]  # fmt: skip


HOSTILE = "[red]\x1b[31mred\x1b]0;title\x07\u202egnp.exe\u2066\x00\r\n\ud800[/red]"


def test_hostile_text_is_inert_on_a_terminal() -> None:
    """No escape, control or bidirectional character gets through, and markup colours nothing."""

    @evenhand.always(HOSTILE)
    def bad(state: str) -> bool:
        return state != HOSTILE

    claim = replace(bad, name=HOSTILE)
    system = evenhand.system(
        HOSTILE.replace("\ud800", ""),
        initial=["ok"],
        actions=lambda _state: [HOSTILE],
        step=lambda _state, action: action,
    )
    report = evenhand.verify(system, claim, quiet=True, examples=3)
    assert report.refuted
    console = Console(
        width=400, record=True, force_terminal=True, markup=False, emoji=False, highlight=False, file=io.StringIO()
    )
    print_report(console, report)
    shown = console.export_text(styles=False) + str(report) + repr(report)
    assert "[red]" in shown
    assert not set(shown) & set("\x1b\x07\u202e\u2066\x00\r\ud800")


def test_inert_leaves_ordinary_text_alone() -> None:
    """Letters of any script, digits, punctuation, spaces."""
    assert inert("Grüße, 世界! → [x] 'y'") == "Grüße, 世界! → [x] 'y'"


class Colour(Enum):
    """An enumeration."""

    RED = 1


@dataclass(frozen=True)
class Place:
    """A record."""

    name: str
    colours: frozenset[Colour] = frozenset()


def test_values_are_described_in_a_fixed_order() -> None:
    """Sets and mappings too, at any depth."""
    assert describe(frozenset({3, 1, 2})) == "{1, 2, 3}"
    assert describe({"b": 1, "a": (frozenset({"y", "x"}),)}) == "{'a': ({'x', 'y'},), 'b': 1}"
    assert describe(Place("here", frozenset({Colour.RED}))) == "Place(name='here', colours={RED})"
    assert describe("x" * 1000).endswith("…")


def test_changes_name_the_innermost_part() -> None:
    """Fields, keys, named pairs and places; a value without stable names is shown whole."""
    assert changes(Place("a"), Place("b")) == ("name: 'a' → 'b'",)
    assert changes(1, 1) == ("nothing changes",)
    assert changes(1, True) == ("1 → True",), "equal for Python, not the same value"
    assert changes((1, 2), (2, 2)) == ("(1, 2) → (2, 2)",)
    pairs = (("x", Place("a")), ("y", Place("c")))
    assert changes(pairs, (("x", Place("b")), ("y", Place("c")))) == ("[x].name: 'a' → 'b'",)
    assert changes((Place("a"),), (Place("b"),)) == ("[0].name: 'a' → 'b'",)
    assert changes({"k": 1}, {"k": 2}) == ("['k']: 1 → 2",)
    assert changes({"k": 1}, {"j": 1}) == ("['k']: - 1", "['j']: + 1")
    assert changes(Place("a", frozenset({Colour.RED})), Place("a")) == ("colours: {RED} → {}",)
    paths = ((("etc",), Place("a")), (("etc", "x"), Place("c")))
    assert changes(paths, (*paths[:1], (("etc", "x"), Place("d")))) == ("[etc/x].name: 'c' → 'd'",)
    assert changes(paths, paths[::-1])[0].startswith("- "), "another order is a change"


def test_of_long_values_only_what_came_and_went_is_shown() -> None:
    """Members of a set, entries of a tuple whose length changes, else places; short values are shown whole."""
    many = tuple(f"entry number {n}" for n in range(6))
    assert changes(many, (*many, "new")) == ("+ 'new'",)
    assert changes((*many[:2], "gone", *many[2:]), many) == ("- 'gone'",)
    assert changes(frozenset(many), frozenset(many[1:]) | {"new"}) == ("- 'entry number 0'", "+ 'new'")
    assert changes({"k": many}, {"k": many[:-1]}) == ("['k']: - 'entry number 5'",)
    where = ("idle",) * 3
    later = (0, 1, ("idle", "in", "idle"), (0,) * 9)
    moved = ("[1]: 0 → 1", "[2]: ('idle', 'idle', 'idle') → ('idle', 'in', 'idle')")
    assert changes((0, 0, where, (0,) * 9), later) == moved
    twice = (("x", 1), ("x", 2))
    assert changes(twice, (("x", 1), ("x", 3))) == ("(('x', 1), ('x', 2)) → (('x', 1), ('x', 3))",)


def test_long_values_are_laid_out_as_trees() -> None:
    """One line while it fits; names in front of parts that have them."""
    assert layout(Place("a")) == ["Place(name='a')"]
    pairs = (("one", Place("a" * 20)), ("two", 2))
    assert layout(pairs, width=45) == ["one: Place(name='aaaaaaaaaaaaaaaaaaaa')", "two: 2"]
    assert layout(pairs, width=30) == ["one:", "  'aaaaaaaaaaaaaaaaaaaa'", "two: 2"]
    assert layout(Place("b" * 10, frozenset({Colour.RED})), width=20) == ["name: 'bbbbbbbbbb'", "colours: {RED}"]
    assert layout(Place("c" * 20, frozenset()), width=10) == ["'cccccccccccccccccccc'"], "one part says it all"
    assert layout(["x" * 9, "y" * 9], width=13) == ["- 'xxxxxxxxx'", "- 'yyyyyyyyy'"]


def test_description_is_the_same_under_any_hash_seed() -> None:
    """The order of a set of strings changes from process to process; its description does not."""
    code = "from evenhand.core.text import describe; print(describe(frozenset(map(str, range(50)))))"
    said = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(said) == 1


def test_numbers_beyond_json_become_text() -> None:
    """JSON readers disagree about large integers."""
    assert plain({"n": 2**60, "set": frozenset({2, 1}), "t": (1, None, True)}) == {
        "n": str(2**60),
        "set": "{1, 2}",
        "t": [1, None, True],
    }


def test_every_standing_has_a_row_above() -> None:
    """Every rule is tested."""
    assert {value for row in TABLE for value in row[2]} == {standing.value for standing in Standing}
