"""Fail when a test was skipped, or expected to fail, without a reason on the list.

    python .ci/skipped.py JUNIT.xml SKIPS.txt

A test that is skipped checks nothing, and a run in which one more is skipped looks as green as before.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

__all__ = ["allowed", "main", "skipped"]


def skipped(report: Path) -> dict[str, str]:
    """The skipped tests of a JUnit report as pytest writes it: `class.path::name` to the reason given."""
    cases = ElementTree.parse(report).getroot().iter("testcase")
    marks = ((f"{case.get('classname', '')}::{case.get('name', '')}", case.find("skipped")) for case in cases)
    return {test: mark.get("message", "") for test, mark in marks if mark is not None}


def allowed(listed: Path) -> dict[str, str]:
    """The list: test to reason.  Raises ValueError for a line without a reason."""
    reasons: dict[str, str] = {}
    for line in listed.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            test, _, reason = line.strip().partition(" ")
            if not reason.strip():
                raise ValueError(f"{listed}: {test} is listed without a reason")
            reasons[test] = reason.strip()
    return reasons


def main(report: Path, listed: Path) -> int:
    """Print what was skipped; 1 if any of it is not listed."""
    reasons = allowed(listed)
    strangers = 0
    for test, why in skipped(report).items():
        strangers += test not in reasons
        print(f"skipped: {test}: {reasons.get(test, f'NOT LISTED in {listed} ({why})')}")
    return min(strangers, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
