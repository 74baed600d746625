"""Expectations as JSON and as Python: one says what the other says, and a bad file is refused by its culprit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evenhand.core.expectations import expectations_text, read_expectations, stated_in
from evenhand.core.registry import protocols
from evenhand.core.verdict import Status


def _file(*entries: Any, version: int = 1) -> str:
    return json.dumps({"format": "evenhand/expectations", "version": version, "expectations": entries})


def test_a_good_file_is_read() -> None:
    """One entry, with everything."""
    entry = {"claim": "c", "expected": "REFUTED", "system": "s", "readings": {"r": 1}, "because": "so"}
    (one,) = read_expectations(_file(entry))
    assert (one.claim, one.expected, one.system, one.engine, one.readings, one.because) == (
        "c", Status.REFUTED, "s", "", {"r": 1}, "so",
    )  # fmt: skip


def test_every_protocol_says_the_same_either_way() -> None:
    """Whether stated in Python or as JSON, expectations come back from the file that is written of them."""
    stated = {bundle.name: bundle.expected for bundle in protocols()}
    assert stated["cud"] and stated["apcm"]
    for expected in stated.values():
        assert read_expectations(expectations_text(expected)) == expected


def test_a_file_is_found_beside_its_claims() -> None:
    """And named when it is bad."""
    assert stated_in("evenhand.properties.cud")
    with pytest.raises(ValueError, match=r"evenhand.evidence, schema/vectors.json: not a file of the format"):
        stated_in("evenhand.evidence", "schema/vectors.json")


SAME = {"claim": "c", "expected": "REFUTED", "because": "so"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[]", "not a file of the format"),
        (_file(version=2), "not a file of the format"),
        (_file({"claim": "c", "expected": "REFUTED"}), "no reason"),
        (_file({"claim": "c", "expected": "MAYBE", "because": "so"}), "must be one of"),
        (_file({"claim": "c", "expected": "HOLDS", "because": "so", "colour": 1}), "colour"),
        (_file({"expected": "HOLDS", "because": "so"}), "names no claim"),
        (_file("c"), "names no claim"),
        (_file(SAME, {**SAME, "expected": "UNDECIDED"}), "two about the same"),
        (json.dumps({"format": "evenhand/expectations", "version": 1}), "no list"),
    ],
)
def test_a_bad_file_is_refused(text: str, complaint: str) -> None:
    """With the culprit named."""
    with pytest.raises(ValueError, match=complaint):
        read_expectations(text)
