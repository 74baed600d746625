"""The digest of a report: every claim in one group, three words for three things, a page that answers questions."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from evenhand.core.registry import find
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.evidence.story import RunLines, StepLines, Story
from evenhand.jobs.fixtures import fixture_files
from evenhand.report.about import About
from evenhand.report.digest import Group, ProtocolDigest, brief, digest
from evenhand.report.glance import answer_text, glance, print_glance
from evenhand.report.listing import claim_lines, group_lines
from evenhand.report.phrases import Word, word
from evenhand.report.report import Report
from evenhand.report.table import summary_line
from tests.front.conftest import Command

HOLDS, REFUTED, UNDECIDED = Status.HOLDS, Status.REFUTED, Status.UNDECIDED
STORY = Story((RunLines((), ("free",), tuple(StepLines((act,), (), ()) for act in ("take", "wait")), loop=1),))


def found(claim: str, status: Status = HOLDS, engine: str = "explore", system: str = "a", **more: Any) -> Finding:
    """Return a finding of the reference, as expected unless `more` says otherwise."""
    story = STORY if status is REFUTED else None
    made = Finding("toy", claim, f"It is {claim}.", engine, system, "reference", status, status, story=story)
    made = replace(made, length=2 if story else None, command=f"evenhand explore toy --claim {claim}")
    return replace(made, **more)


def about(claim: str, *questions: str, affirms: bool = False, existential: bool = False) -> About:
    """Return what a report says of a claim."""
    return About("toy", claim, "", "P1", "always", questions=questions, affirms=affirms, existential=existential)


EVERY = Report(
    (
        found("proved", engine="prove"),
        found("proved"),
        found("searched"),
        found("searched", REFUTED, readings={"clock": "slow"}),
        found("happens"),
        found("sampled", engine="fuzz"),
        found("elsewhere", readings={"clock": "slow"}),
        found("open", UNDECIDED),
        found("refuted", REFUTED),
        found("refuted", system="b"),
        found("half"),
        found("half", UNDECIDED, system="b", because="too wide"),
        found("refuted", REFUTED, engine="replay", command="evenhand replay toy/refuted.json"),
        found("searched", REFUTED, engine="replay", variant="broken"),
    ),
    claims=(about("happens", existential=True, affirms=True), about("refuted", "deadlock"), about("half", "livelock")),
)


def one(report: Report) -> ProtocolDigest:
    """Return the digest of the one protocol in a report."""
    (made,) = digest(report)
    return made


def test_every_claim_stands_in_one_group() -> None:
    """In the first that fits; verdicts under other readings and of mutants move none."""
    groups = one(EVERY).groups
    assert {group.value: names for group, names in groups.items()} == {
        "refuted": ("refuted",),
        "open": ("open",),
        "proved": ("proved",),
        "searched": ("searched", "half"),
        "happens": ("happens",),
        "sampled": ("sampled",),
        "elsewhere": ("elsewhere",),
    }
    assert one(EVERY).claims == len({finding.claim for finding in EVERY.findings})


def test_what_is_counted_beside_the_groups() -> None:
    """Claims that a reading changes, systems that nothing decides or only sampling saw, kept counterexamples."""
    made = one(EVERY)
    assert made.depends == ("searched",)
    assert [(told.claim, told.systems, told.story) for told in made.undecided] == [
        ("open", ("a",), ""),
        ("half", ("b",), "too wide"),
    ]
    assert made.sampled == {"a": 1}
    assert (made.kept, made.recorded, made.caught) == (2, 1, 1)
    (told,) = made.refuted
    assert (told.systems, told.length, told.command) == (("a",), 2, "evenhand replay toy/refuted.json")
    assert told.story == "take; then for ever: wait"


def test_what_is_proved_is_named_by_what_it_is_proved_for() -> None:
    """Any number of agents first; without such a proof, what most proofs are for."""
    agents = {"proved": "any number of agents and keys"}
    others = [found(name, engine="prove", scope={"proved": "any tree"}) for name in ("tree_a", "tree_b")]
    made = one(replace(EVERY, findings=(*others, found("lock", engine="prove", scope=agents), *EVERY.findings)))
    assert made.proved == {
        "any tree": ("tree_a", "tree_b"),
        "any number of agents and keys": ("lock",),
        "any size": ("proved",),
    }
    lines = glance([made])
    assert "  proved    1 of them for any number of agents: lock" in lines
    without = glance([replace(made, proved={"any tree": ("tree_a", "tree_b"), "any size": ("proved",)})])
    assert "  proved    2 of them for any tree: tree_a, tree_b" in without
    listed = list(group_lines(replace(EVERY, findings=(*others, *EVERY.findings)), Group.proved))
    assert listed[1:3] == ["  for any tree:", "    tree_a: It is tree_a."]


def test_a_reading_that_gets_stuck_says_how() -> None:
    """The claim and the shortest run under it."""
    changing = replace(EVERY, claims=(about("searched", "deadlock"),))
    deadlock = one(changing).answers[7]
    assert answer_text(deadlock) == "no in a; yes under clock=slow (searched: take; then for ever: wait)"


def test_a_counterexample_that_no_longer_fails_is_not_reproduced() -> None:
    """Nor is one that was mended and fails again."""
    gone = found("refuted", HOLDS, engine="replay", expected=REFUTED)
    back = found("refuted", REFUTED, engine="replay", expected=HOLDS)
    made = one(replace(EVERY, findings=(*EVERY.findings, gone, back)))
    assert (made.kept, made.recorded) == (4, 1)
    assert word(back) is Word.REFUTED


def test_the_answers_name_their_systems_and_the_readings_that_change_them() -> None:
    """What one system decides and another leaves open is no plain no."""
    answers = {answered.aspect: answered for answered in one(EVERY).answers}
    deadlock, livelock = answers["deadlock"], answers["livelock"]
    assert (deadlock.answer, deadlock.yes, deadlock.no, deadlock.why) == ("yes", ("a",), ("b",), "refuted")
    assert (livelock.answer, livelock.no, livelock.open) == ("open", ("a",), ("b",))
    assert answers["position"].answer == "unasked"
    left = one(replace(EVERY, claims=(about("not_reached", "deadlock"),))).answers[7]
    assert (left.answer, answer_text(left)) == ("open", "open: no verdict yet"), "of an interrupted run"
    changing = replace(EVERY, claims=(about("searched", "deadlock"),))
    assert one(changing).answers[7].readings == ("clock=slow",)
    sampled = replace(EVERY, claims=(about("sampled", "deadlock"),))
    assert one(sampled).answers[7].answer == "open", "random runs that met no fault answer nothing"


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (found("x", REFUTED), Word.REFUTED),
        (found("x", REFUTED, variant="broken"), Word.KILLED),
        (found("x", REFUTED, engine="replay", variant="broken"), Word.REPRODUCED),
        (found("x", REFUTED, engine="replay"), Word.REPRODUCED),
        (found("x", HOLDS, engine="replay", variant="broken"), Word.HOLDS),
        (found("x", UNDECIDED), Word.UNDECIDED),
    ],
)
def test_refuted_means_one_thing(finding: Finding, expected: Word) -> None:
    """A mutant that is killed and a record that fails again have words of their own, counted by themselves."""
    assert word(finding) is expected
    counts = Report((finding,)).summary()
    assert counts["refuted_expected"] == (expected is Word.REFUTED)
    assert counts["killed"] == (expected is Word.KILLED)
    assert counts["reproduced"] == (expected is Word.REPRODUCED)
    assert f"1 {expected}".removesuffix("S") in summary_line(Report((finding,)))


def test_the_page_has_at_most_sixty_lines_and_drops_no_protocol() -> None:
    """Refutations that do not fit are counted; each protocol keeps the first of its own."""
    findings = [
        replace(found(f"claim_{number}", REFUTED), protocol=f"toy_{toy}") for toy in range(5) for number in range(40)
    ]
    lines = glance(digest(Report(tuple(findings))), lines=60)
    assert 55 <= len(lines) <= 60
    assert sum("40 by the protocol's own rules" in line for line in lines) == 5
    assert sum(line.strip().startswith("claim_0: ") for line in lines) == 5
    assert all(len(line) <= 160 for line in lines)


def printed(report: Report) -> str:
    """Return what a terminal shows of the digest."""
    console = Console(width=120, file=io.StringIO(), force_terminal=True, color_system=None)
    print_glance(console, report)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_surprises_come_first_and_in_full() -> None:
    """With every step and the command; then the digest."""
    surprise = found("searched", REFUTED, expected=HOLDS)
    text = printed(replace(EVERY, findings=(*EVERY.findings, surprise)))
    assert text.index("REFUTED  searched") < text.index("1  take") < text.index("toy: 8 claims")
    assert printed(EVERY).startswith("toy: 8 claims\n")


def test_the_digest_opens_by_group_and_by_claim() -> None:
    """A group lists sentences; a claim shows every engine, reading and kept counterexample."""
    assert "    proved: It is proved." in list(group_lines(EVERY, Group.proved))
    text = "\n".join(claim_lines(EVERY, "searched"))
    assert "HOLDS      explore a" in text
    assert "REFUTED    explore a clock=slow" in text
    assert "REPRODUCED of mutant broken" in text
    assert "open in b" in "\n".join(group_lines(EVERY, Group.open))


def test_a_pair_of_runs_is_told_side_by_side() -> None:
    """In one line, equal runs once; a run without steps says so."""
    run = STORY.runs[0]
    assert brief(Story((run, replace(run, steps=run.steps[:1], loop=0)), "x")) == (
        "take; then for ever: wait | beside | take"
    )
    assert brief(Story((replace(run, steps=(), loop=0),))) == "at the start"


def test_verify_prints_the_digest_and_opens_it(cli: Command, tmp_path: Path) -> None:
    """As a page, a group, a claim with that claim alone, and from the file again."""
    page = cli("verify", "latch", "--out", str(tmp_path))
    assert page.code == 0
    assert page.out.startswith("latch: 4 claims\n  holds ")
    assert len(page.out.splitlines()) < 20
    file = str(tmp_path / "report.json")
    again = cli("report", file)
    assert again.code == 0 and "latch: 4 claims" in again.out
    assert cli("report", file, "--show", "refuted").out == cli("verify", "latch", "--show", "refuted").out
    for none in ("one_insid", "one_inside "):
        unknown = cli("report", file, "--claim", none)
        assert (
            unknown.code == 2
            and f"unknown claim {none!r} (did you mean one_inside?); there is: " in unknown.err
            and not unknown.out
        )
    alone = cli("verify", "latch", "--claim", "one_inside", "--json").json
    assert {verdict["claim"] for verdict in alone["verdicts"]} == {"one_inside"}
    assert len(alone["verdicts"]) == 3
    assert cli("verify", "latch", "--claim", "one_inside").out.startswith("latch one_inside: At most one agent")
    kept = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert kept["digest"][0]["groups"]["refuted"] == ["somebody_enters"]


def shown_in_the_readme() -> dict[str, list[str]]:
    """Return the digest in the README, by protocol."""
    text = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    block = re.search(r"```text\n(\w+: \d+ claims\n.*?)```", text, re.DOTALL)
    assert block is not None
    parts = re.split(r"^(?=[a-z]+: \d+ claims$)", block[1], flags=re.MULTILINE)
    return {part.partition(":")[0]: part.splitlines() for part in parts if part}


def test_the_digest_in_the_readme_is_of_today() -> None:
    """Its counts of claims and fixtures, its sentences and its files are those of the protocols."""
    shown = shown_in_the_readme()
    assert set(shown) == {"cud"}
    for name, lines in shown.items():
        bundle = find(name)
        claims = {claim.name: claim.sentence for claim in bundle.claims}
        assert lines[0] == f"{name}: {len(claims)} claims"
        files = {path.name for path in fixture_files(name)}
        (records,) = (line.split() for line in lines if line.startswith("  records "))
        assert records[1] == records[3] == str(len(files))
        told = [line.strip().partition(": ") for line in lines if re.match(r"    \w+: ", line)]
        assert told
        for claim, _, sentence in told:
            assert claims[claim].startswith(sentence.partition("  (")[0].rstrip("…)")), claim
        for path in re.findall(rf"replay {name}/(\S+\.json)", "\n".join(lines)):
            assert path in files


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_the_readme_shows_the_digest_that_is_printed(cli: Command) -> None:
    """Every line of it; the command above it prints them again."""
    shown = shown_in_the_readme()
    printed = cli("verify", *shown, "--budget", "quick").out.splitlines()
    for lines in shown.values():
        assert [line for line in lines if line not in printed] == []


def test_two_parts_at_once_are_refused(cli: Command) -> None:
    """And a claim that no protocol has."""
    both = cli("verify", "latch", "--all", "--show", "open")
    assert both.code == 2 and "give one of them" in both.err
    unknown = cli("verify", "latch", "--claim", "one_insid")
    assert unknown.code == 2 and "did you mean one_inside?" in unknown.err
