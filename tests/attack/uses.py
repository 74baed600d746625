"""The right use of every command, and files for it: what bad use, signals, streams and disks start from."""

from __future__ import annotations

import json
from pathlib import Path

from evenhand.campaign.planfile import read_plan
from evenhand.campaign.store import opened, store_url
from evenhand.core.canonical import canonical_bytes
from evenhand.core.registry import find
from evenhand.evidence.record import Record
from evenhand.jobs.engines import run
from evenhand.jobs.plan import Job
from evenhand.report.report import Report

RIGHT: dict[str, list[str]] = {
    "verify": ["latch"],
    "explore": ["latch"],
    "fuzz": ["latch", "--examples", "5"],
    "prove": ["latch"],
    "check": ["latch", "--adapter", "json:loads"],
    "validate": ["latch", "--log", "{log}"],
    "compare": ["latch", "--reading", "again=granted"],
    "examine": ["tests.engines.arbiters.kernels:Honest", "--examples", "1"],
    "mutants": ["latch", "--mutant", "sticky"],
    "vectors": ["latch", "generate", "--out", "{fresh}"],
    "profile": ["latch"],
    "sweep": ["latch", "--over", "agents=2..3", "--no-proofs"],
    "campaign plan": ["latch"],
    "campaign run": ["{plan}"],
    "campaign resume": ["{begun}"],
    "campaign status": ["{begun}"],
    "campaign report": ["{begun}"],
    "replay": ["{record}"],
    "show": ["{record}"],
    "serve": ["latch"],
    "mcp": ["--json"],
    "init": ["--out", "{fresh}"],
    "report": ["{report}"],
}
"""The arguments after the command's name; words in braces are files of the test."""

ALONE: dict[tuple[str, str], list[str]] = {
    ("examine", "--command"): ["examine"],
    ("prove", "--check"): ["prove"],
    ("check", "--constitution"): ["check", "latch"],
    ("check", "--command"): ["check", "latch"],
    ("compare", "--reading"): ["compare", "latch"],
    ("explore", "--spill"): ["explore", "latch", "--max-memory", "500"],
    ("vectors", "--adapter"): ["vectors", "cud", "verify"],
    ("vectors", "--command"): ["vectors", "cud", "verify"],
}
"""The arguments that an option needs where they differ from the right use."""


PLAN = {"format": "evenhand/campaign", "version": 1, "runs": [{"protocol": "latch", "engine": "replay"}]}


def made(folder: Path) -> dict[str, str]:
    """Write right and wrong files, and return their paths by name."""
    (folder / "empty").write_bytes(b"")
    (folder / "folder").mkdir()
    (folder / "log").write_text(
        json.dumps({"format": "evenhand/log", "version": 1, "protocol": "latch", "system": "latch"}), "utf-8"
    )
    (refuted,) = run(find("latch"), Job("latch", "explore", variant="always_free", claims=("one_inside",)))
    (folder / "report").write_bytes(canonical_bytes(Report((refuted,)).to_json()))
    (folder / "record").write_bytes(Record.from_json(refuted.record).to_bytes())
    for name in ("plan", "begun"):
        (folder / f"{name}.json").write_text(json.dumps(PLAN), "utf-8")
    campaign = read_plan(folder / "begun.json", json.dumps(PLAN).encode())
    store = opened(store_url("", folder / "begun.json"), make=True)
    store.begin(campaign.digest, PLAN)
    store.close()
    plans = {name: str(folder / f"{name}.json") for name in ("plan", "begun")}
    others = ("empty", "folder", "log", "record", "report", "missing")
    return {**plans, **{name: str(folder / name) for name in others}}
