"""The table of three engines: made from verdicts, complete for every shipped protocol, the same in the documents."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.kinds import DeadlockFree, Liveness
from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.registry import find
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.jobs.plan import Job
from evenhand.report.engines import engines_page
from evenhand.studies.profiling import Profile
from evenhand.studies.three_engines import ASPECTS, ENGINES, Box, Line, boxes, drawn_beside
from tests.front.conftest import ROOT, Command
from tests.front.test_forms import found

KEPT = json.loads((ROOT / "notebooks" / "6-profile.json").read_text("utf-8"))["protocols"]
PROFILES = {made["protocol"]: Profile.from_json(made) for made in KEPT}
SHIPPED = pytest.mark.parametrize("name", PROFILES)


def test_the_page_shows_the_kept_profile() -> None:
    """Otherwise make both again: the page says how."""
    assert (ROOT / "docs" / "reference" / "engines.md").read_text("utf-8") == engines_page(list(PROFILES.values()))


@SHIPPED
def test_every_box_has_a_verdict_or_the_protocol_s_own_reason(name: str) -> None:
    """Twelve boxes; only a theorem may be missing without a reason of the protocol."""
    made, bundle = PROFILES[name].engines, find(name)
    assert [(box.question, box.engine) for box in made] == [(q, engine) for q in ASPECTS for engine in ENGINES]
    notes = {asked.note for asked in bundle.profile if not asked.claim}
    for box in made:
        assert box.lines or box.reason in notes or (box.engine, box.reason) == ("proof", "no theorem asks")


@SHIPPED
def test_every_verdict_is_the_registered_one(name: str) -> None:
    """Of a search; the machine says HOLDS of no whole run, and no proof is open."""
    bundle = find(name)
    claims = {claim.name: claim for claim in bundle.claims}
    for box in PROFILES[name].engines:
        for line in box.lines:
            usual = bundle.expectation(line.claim, line.system, ENGINES[box.engine], {}).expected.value
            if box.engine == "search":
                assert line.status in (usual, "UNDECIDED"), line
            elif box.engine == "proof":
                assert line.status != "UNDECIDED" and "any" in line.scope.split(), line
            elif isinstance(claims[line.claim], DeadlockFree | Liveness):
                assert line.status != "HOLDS", line


def of(status: Status, *, claim: str = "somebody_enters", engine: str = "explore", **more: Any) -> Finding:
    """Return a finding of the latch."""
    made = replace(found(status), protocol="latch", claim=claim, engine=engine, system="latch", readings={})
    return replace(made, scope={}, **more)


def lines(*findings: Finding, engine: str = "search") -> list[tuple[str, str, str]]:
    """Return the lines of the box on livelock."""
    every = boxes(find("latch"), findings)
    (box,) = (one for one in every if (one.question, one.engine) == ("livelock", engine))
    return [(line.status, line.claim, line.scope) for line in box.lines]


def test_the_verdict_that_says_most_is_shown() -> None:
    """A refutation before HOLDS, HOLDS of more cases before fewer; other engines and readings do not count."""
    small, large = (of(Status.HOLDS, coverage={"met": n}, sizes={"agents": n}) for n in (2, 3))
    assert lines(small, large) == lines(large, small) == [("HOLDS", "somebody_enters", "agents=3")]
    against = of(Status.REFUTED, length=2, sizes={"agents": 2})
    assert lines(small, against, large) == [("REFUTED", "somebody_enters", "agents=2")]
    assert lines(of(Status.REFUTED, engine="fuzz"), replace(against, readings={"r": "x"})) == []
    assert [one[0] for one in lines(of(Status.UNDECIDED, engine="fuzz"), engine="machine")] == ["UNDECIDED"]


def test_a_missing_verdict_is_told_and_never_made_up() -> None:
    """Without findings no box has a verdict; a question without a claim gives the protocol's sentence."""
    bundle = find("latch")
    told = {(box.question, box.engine): box.reason for box in boxes(bundle, ())}
    assert told["livelock", "search"] == "not run" and told["livelock", "proof"] == "no theorem asks"
    assert told["exclusion", "machine"] == "no claim asks"
    held = replace(bundle, profile=(*bundle.profile, ProfileQuestion(Aspect.EXCLUSION, note="nothing is held")))
    assert {box.reason for box in boxes(held, ()) if box.question == "exclusion"} == {"nothing is held"}


def test_the_machine_draws_once_in_each_system() -> None:
    """At the scope of the first search under default readings, and for the questions of the table alone."""
    searches = [
        Job("latch", "explore", "latch", readings=(("r", "x"),)),
        Job("latch", "explore", "latch", (("agents", 3),)),
        Job("latch", "explore", "latch", (("agents", 4),)),
    ]
    drawn = list(drawn_beside(ProfileQuestion(Aspect.LIVELOCK, "somebody_enters"), searches))
    assert [(job.engine, job.scope, job.readings) for job in drawn] == [("fuzz", (("agents", 3),), ())]
    assert not list(drawn_beside(ProfileQuestion(Aspect.TIME, "taken"), searches))


@pytest.mark.parametrize("wrong", [{"claim": ""}, {"note": "n", "affirms": True}, {"note": "n", "steps": ("x",)}])
def test_a_question_without_a_claim_gives_a_reason_alone(wrong: dict[str, Any]) -> None:
    """Nothing else of an answer would be used."""
    with pytest.raises(ValueError, match="names no claim"):
        ProfileQuestion(Aspect.NAME, **wrong)


@pytest.mark.slow
def test_the_command_prints_both_tables(cli: Command) -> None:
    """The second has the verdicts of the machine, too."""
    told = cli("profile", "latch").out
    assert "latch: three engines" in told and "REFUTED somebody_enters: latch" in told
    made = cli("profile", "latch", "--json").json["protocols"][0]["engines"]
    kept = {(one["question"], one["engine"]): Box.from_json(one).lines for one in made}
    assert kept["livelock", "machine"][0].status == "REFUTED"
    assert kept["no arbitration", "search"] == (Line("HOLDS", "one_inside", "latch", "agents=3"),)
