"""Bad input at the boundary: every refusal names the culprit, the cause and the code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evenhand.model.apcm.load import load_artifact, load_situation
from evenhand.model.apcm.menus import SOPHIE, all_fields, preference_names
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.vocabulary import Artifact, Entry

TWO = preference_names(2)
GOOD: dict[str, Any] = {
    "feasible": ["a1", "a2"],
    "apcm": {"a1": {"violates": ["P1"], "satisfies": ["P2"]}, "a2": {"violates": ["P2"], "satisfies": ["P1"]}},
}
JAF: dict[str, Any] = {
    "authorized_violations": ["P1"],
    "required_preservations": ["P2"],
    "conflict_attribution": [["P1", "P2"]],
    "precedent_reference": "",
    "conflict_resolution": {"mode": "REVISE", "previous_artifact_digest": None},
}


def situation(**changed: Any) -> Any:
    """Load the good situation with some parts changed."""
    return load_situation(json.dumps({**GOOD, **changed}), actions=("a1", "a2"), preferences=TWO)


def artifact(**changed: Any) -> Artifact:
    """Load the good artefact with some parts changed."""
    return load_artifact(json.dumps({**JAF, **changed}), preferences=TWO)


def test_good_ones_load() -> None:
    """In the form that the model writes."""
    assert situation() == SOPHIE
    assert artifact() == Artifact(frozenset(("P1",)), frozenset(("P2",)), frozenset((("P1", "P2"),)))
    assert len(all_fields(TWO, Readings())) == 32


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"apcm": {"a1": GOOD["apcm"]["a1"]}}, r"'a2' is feasible and has no APCM entry.*E_APCM_MISSING"),
        ({"apcm": {**GOOD["apcm"], "a2": {"violates": []}}}, r"action 'a2' has no key 'satisfies'"),
        (
            {"apcm": {**GOOD["apcm"], "a2": {"violates": None, "satisfies": []}}},
            r"'a2.violates' is null.*E_APCM_NULL",
        ),
        (
            {"apcm": {**GOOD["apcm"], "a2": {"violates": "P1", "satisfies": []}}},
            r"'a2.violates' is no set.*E_APCM_TYPE",
        ),
        (
            {"apcm": {**GOOD["apcm"], "a2": {"violates": ["P7"], "satisfies": []}}},
            r"'a2.violates.P7' is no registered preference.*E_APCM_UNKNOWN_PREFERENCE",
        ),
        ({"apcm": {**GOOD["apcm"], "a2": {"violates": [None], "satisfies": []}}}, r"E_APCM_UNKNOWN_PREFERENCE"),
        ({"apcm": []}, r"`apcm` must be a JSON object"),
        ({"feasible": "a1"}, r"`feasible` must be an array"),
        ({"feasible": ["a1", "a9"]}, r"'a9' is feasible and not in the inventory"),
    ],
)
def test_bad_situations(changed: dict[str, Any], said: str) -> None:
    """Missing, null, unknown, of a wrong type."""
    with pytest.raises(ValueError, match=said):
        situation(**changed)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"authorized_violations": "P1"}, r"'authorized_violations' is of a wrong type \(E_SCHEMA_TYPE\)"),
        ({"required_preservations": [1]}, r"'required_preservations' is of a wrong type"),
        ({"required_preservations": None}, r"'required_preservations' is of a wrong type"),
        ({"authorized_violations": ["P9"]}, r"'authorized_violations.P9' is no registered preference"),
        ({"conflict_attribution": [["P1"]]}, r"'P1' is no pair.*E_PAIR_ARITY"),
        ({"conflict_attribution": ["P1"]}, r"'conflict_attribution' is of a wrong type"),
        ({"conflict_attribution": [["P1", None]]}, r"'conflict_attribution' is of a wrong type"),
        ({"precedent_reference": 3}, r"'precedent_reference' is of a wrong type"),
        ({"conflict_resolution": {"mode": "AMEND", "previous_artifact_digest": None}}, r"'AMEND' is no mode"),
        ({"conflict_resolution": {"mode": None, "previous_artifact_digest": None}}, r"'mode' is of a wrong type"),
        ({"conflict_resolution": {"mode": "REVISE"}}, r"'conflict_resolution.previous_artifact_digest' is missing"),
        (
            {"conflict_resolution": {"mode": "REVISE", "previous_artifact_digest": 5}},
            r"'previous_artifact_digest' is of a wrong type",
        ),
        ({"conflict_resolution": "REVISE"}, r"`conflict_resolution` must be a JSON object"),
        ({"extra": 1}, r"unknown field 'extra'"),
    ],
)
def test_bad_artifacts(changed: dict[str, Any], said: str) -> None:
    """Wrong types, unknown mode, unknown names, missing and unknown fields."""
    with pytest.raises(ValueError, match=said):
        artifact(**changed)


def test_a_missing_field_is_named() -> None:
    """The whole field is missing."""
    with pytest.raises(ValueError, match="field 'required_preservations' is missing"):
        load_artifact(json.dumps({k: v for k, v in JAF.items() if k != "required_preservations"}), preferences=TWO)


def test_repeated_names_are_a_list() -> None:
    """Coerced by default, refused under the other reading."""
    text = json.dumps({**JAF, "authorized_violations": ["P1", "P1"]})
    assert load_artifact(text, preferences=TWO).authorized_violations == ("P1", "P1")
    with pytest.raises(ValueError, match="E_SCHEMA_TYPE"):
        load_artifact(text, preferences=TWO, readings=Readings(list_inputs="rejected"))


def test_text_that_is_no_json() -> None:
    """The message says so."""
    with pytest.raises(ValueError, match="duplicate key"):
        load_situation('{"feasible": [], "feasible": [], "apcm": {}}', actions=(), preferences=())


def test_entries_of_infeasible_actions_are_ignored() -> None:
    """The APCM is for the feasible actions; entries for other actions have no effect."""
    found = situation(feasible=["a1"])
    assert found.feasible == ("a1",) and dict(found.apcm)["a2"] == Entry(frozenset(("P2",)), frozenset(("P1",)))
