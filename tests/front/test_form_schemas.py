"""SARIF and JUnit reports against published schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from jsonschema import Draft4Validator

from evenhand.core.registry import find
from evenhand.jobs.engines import run
from evenhand.jobs.plan import Job
from evenhand.report.about import about_claims
from evenhand.report.forms import forms_of
from evenhand.report.report import Report
from tests.front.test_forms import UNEXPECTED, hostile

SCHEMAS = Path(__file__).with_name("schemas")
SARIF: Any = Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text("utf-8")))
JUNIT: Any = xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd"))
PLACE = ("file", "line")
"""Attributes of a test case that GitLab and others read and Jenkins' schema lacks."""


def latch() -> Report:
    """Return the report on a whole protocol, with a mutant."""
    bundle = find("latch")
    jobs = (Job("latch", "explore"), Job("latch", "explore", variant="always_free"), Job("latch", "fuzz", examples=5))
    return Report(tuple(one for job in jobs for one in run(bundle, job)), claims=tuple(about_claims([bundle])))


REPORTS: dict[str, Callable[[], Report]] = {
    "latch": latch,
    "unexpected": lambda: UNEXPECTED,
    "hostile": hostile,
    "interrupted": lambda: replace(UNEXPECTED, interrupted=True, unfinished=("fuzz toy",)),
    "nothing": lambda: Report(()),
}


def sarif_errors(made: Any) -> list[str]:
    """Return the errors that the schema reports."""
    return [f"{error.json_path}: {error.message[:200]}" for error in SARIF.iter_errors(made)]


def junit_errors(root: ET.Element) -> list[str]:
    """Return the errors that the schema reports, apart from the place of a test case."""
    for case in root.iter("testcase"):
        for name in PLACE:
            case.attrib.pop(name, None)
    return [f"{error.path}: {error.reason}" for error in JUNIT.iter_errors(root)]


@pytest.mark.parametrize("name", REPORTS)
def test_sarif_is_as_published(name: str) -> None:
    """Every key, type and enumerated word."""
    assert sarif_errors(json.loads(forms_of(REPORTS[name]())["report.sarif"])) == []


@pytest.mark.parametrize("name", REPORTS)
def test_junit_is_as_jenkins_has_it(name: str) -> None:
    """Except for the file and line of a case."""
    assert junit_errors(ET.fromstring(forms_of(REPORTS[name]())["junit.xml"])) == []


def test_the_schemas_object_to_what_is_wrong() -> None:
    """One wrong word, one missing key, one wrong place: each is found."""
    made = json.loads(forms_of(UNEXPECTED)["report.sarif"])
    good = made["runs"][0]["results"][0]
    wrong: list[dict[str, Any]] = [{"level": "fatal"}, {"kind": "failed"}, {"message": {}}]
    for one in wrong:
        made["runs"][0]["results"] = [{**good, **one}]
        (error,) = sarif_errors(made)
        assert error.startswith(f"$.runs[0].results[0].{next(iter(one))}")
    root = ET.fromstring(forms_of(UNEXPECTED)["junit.xml"])
    del root[0].attrib["errors"]
    ET.SubElement(root[0][0], "warning")
    assert len(junit_errors(root)) == 2
