"""Plan files: three languages for one plan, products, and every mistake as one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from evenhand.campaign.planfile import BadPlan, Campaign, read_plan, written_plan
from evenhand.core.registry import find
from evenhand.jobs.plan import Budget, Job, plan
from tests.front.campaign.suite import campaign
from tests.front.conftest import ROOT, Command

HEAD = {"format": "evenhand/campaign", "version": 1}
RING = {"protocol": "ring", "engine": "explore"}


def read(text: str, suffix: str = ".yaml") -> Campaign:
    """Return the campaign of this text."""
    return read_plan(Path(f"plan{suffix}"), text.encode())


def test_three_languages_one_plan() -> None:
    as_yaml = """
format: evenhand/campaign
version: 1
runs:
- protocol: ring
  engine: explore
  scope: {agents: [2, 3]}
"""
    as_toml = """
format = "evenhand/campaign"
version = 1
[[runs]]
protocol = "ring"
engine = "explore"
scope = {agents = [2, 3]}
"""
    as_json = json.dumps({**HEAD, "runs": [{**RING, "scope": {"agents": [2, 3]}}]})
    one, two, three = read(as_yaml), read(as_toml, ".toml"), read(as_json, ".json")
    assert one == two == three
    assert [dict(unit.job.scope) for unit in one.units] == [{"agents": 2}, {"agents": 3}]


def test_an_entry_without_engine_is_what_verify_does(tmp_path: Path) -> None:
    """The same jobs in the same order; seeds add runs of the machine."""
    ring = find("ring")
    assert [unit.job for unit in campaign(tmp_path, {"protocol": "ring"}).units] == list(plan(ring, Budget.standard))
    more = campaign(tmp_path, {"protocol": "ring", "seeds": 3, "budget": "quick"})
    assert [unit.job.seed for unit in more.units if unit.job.engine == "fuzz"] == [0, 1, 2]


def test_lists_are_multiplied_out(tmp_path: Path) -> None:
    """Scopes times readings, protocols one after the other."""
    run = {
        "protocol": ["latch"],
        "engine": "explore",
        "scope": {"agents": [2, 3]},
        "readings": {"again": ["refused", "granted"]},
    }
    jobs = [unit.job for unit in campaign(tmp_path, run).units]
    assert [(dict(job.scope)["agents"], dict(job.readings)["again"]) for job in jobs] == [
        (2, "refused"),
        (2, "granted"),
        (3, "refused"),
        (3, "granted"),
    ]


def test_parts_and_limits_are_no_part_of_the_name(tmp_path: Path) -> None:
    """Parts and limits change no answer, so the campaign keeps its name; any other change gives another campaign."""
    name = campaign(tmp_path, RING).digest
    assert campaign(tmp_path, {**RING, "parts": 3}, seconds=5, memory=100).digest == name
    assert campaign(tmp_path, {**RING, "depth": 3}).digest != name


MISTAKES: list[tuple[Any, str]] = [
    ({"runs": []}, "missing required field `format`"),
    ({**HEAD, "runs": []}, "runs is wrong"),
    ({**HEAD, "version": 2, "runs": [RING]}, "version is wrong"),
    ({**HEAD, "runs": [{"engine": "explore"}]}, "missing required field `protocol`"),
    ({**HEAD, "runs": [{**RING, "engien": 1}]}, "runs[0] is wrong"),
    ({**HEAD, "runs": [{**RING, "engine": "guess"}]}, "'guess' is not one of"),
    ({**HEAD, "runs": [{**RING, "protocol": "rong"}]}, "runs[0]: unknown protocol 'rong'"),
    ({**HEAD, "runs": [{**RING, "system": "x"}]}, "runs[0]: unknown system of ring: 'x'"),
    ({**HEAD, "runs": [RING, {**RING, "claims": ["x"]}]}, "runs[1]: unknown claim"),
    ({**HEAD, "runs": [{**RING, "scope": {"x": 1}}]}, "'x'; there is: agents"),
    ({**HEAD, "runs": [{**RING, "readings": {"x": 1}}]}, "unknown reading 'x'"),
    ({**HEAD, "runs": [{**RING, "mutant": "x"}]}, "unknown mutant of ring: 'x'"),
    ({**HEAD, "runs": [{**RING, "examples": 3}]}, "'examples' is no setting of explore"),
    ({**HEAD, "runs": [{"protocol": "ring", "scope": {"agents": 2}}]}, "'scope' belongs to one engine"),
    ({**HEAD, "runs": [{"protocol": "ring", "engine": "compare"}]}, "compare needs a mutant"),
    ({**HEAD, "runs": [{"protocol": "cud", "engine": "prove", "theorems": ["x"]}]}, "unknown theorem of cud: 'x'"),
    ({**HEAD, "runs": [{**RING, "parts": 0}]}, "parts is wrong"),
    ({**HEAD, "runs": [{**RING, "memory": 1}]}, "memory is wrong"),
    ({**HEAD, "runs": [{**RING, "scope": {"agents": list(range(400)), "slow": list(range(400))}}]}, "shorter lists"),
    ([], "Expected `object`, got `array`"),
]


@pytest.mark.parametrize(("made", "said"), MISTAKES, ids=[said for _, said in MISTAKES])
def test_a_mistake_is_named(made: Any, said: str) -> None:
    """The message names the file and the entry."""
    with pytest.raises(BadPlan) as caught:
        read(json.dumps(made), ".json")
    message = str(caught.value)
    assert message.startswith("plan.json: ") and "\n" not in message
    assert said in message


@pytest.mark.parametrize(
    ("text", "suffix", "said"),
    [
        ("a: 1\na: 2\n", ".yaml", "line 2: no YAML of plain data: duplicate key 'a'"),
        ("a: &x 1\nb: *x\n", ".yaml", "line 2: no YAML of plain data: an alias"),
        ("a: !!python/object:os.system {}\n", ".yaml", "could not determine a constructor"),
        ("1: 2\n", ".yaml", "is no text; quote it"),
        ("a: [", ".yml", "no YAML of plain data"),
        ("[" * 5000, ".yaml", "cannot be parsed"),
        ("[" * 5000, ".json", "cannot be parsed"),
        ("a = ", ".toml", "cannot be parsed"),
        ("", ".yaml", "Expected `object`, got `null`"),
        ("x", ".txt", "a plan is a .yaml, .toml or .json file, not .txt"),
        (" " * 1_000_001, ".json", "a plan has at most 1,000,000"),
    ],
)
def test_a_file_that_is_no_plan(text: str, suffix: str, said: str) -> None:
    """One message; nothing is built."""
    with pytest.raises(BadPlan) as caught:
        read(text, suffix)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_text_that_is_no_utf_8() -> None:
    """The message names the place."""
    with pytest.raises(BadPlan, match="no UTF-8 at byte 0"):
        read_plan(Path("plan.json"), b"\xff")


def test_what_is_written_is_read_back(cli: Command, tmp_path: Path) -> None:
    """`campaign plan` writes it to the terminal, as YAML and as JSON; it passes the published schema."""
    printed = yaml.safe_load(cli("campaign", "plan", "ring", "--seconds", "5").out)
    assert printed == written_plan(["ring"], budget="standard", seed=0, seeds=1, parts=1, seconds=5)
    schema = json.loads((ROOT / "evenhand/campaign/schema/plan.json").read_text("utf-8"))
    jsonschema.validate(printed, schema)
    for name in ("plan.yaml", "plan.json"):
        assert cli("campaign", "plan", "ring", "--to", str(tmp_path / name)).code == 0
    assert (
        read_plan(Path("a.yaml"), (tmp_path / "plan.yaml").read_bytes()).units
        == read_plan(Path("a.json"), (tmp_path / "plan.json").read_bytes()).units
    )


def test_the_plan_in_the_guide_can_be_read() -> None:
    text = (ROOT / "docs/how-to/run-a-campaign.md").read_text("utf-8")
    shown = text.partition("```yaml\n")[2].partition("```")[0]
    jobs: list[Job] = [unit.job for unit in read(shown).units]
    assert {job.protocol for job in jobs} == {"cud", "apcm"}
    assert sum(job.engine == "fuzz" and job.examples == 2000 and job.protocol == "cud" for job in jobs) >= 50
