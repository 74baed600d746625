"""The format: the content and name of a record, and the refusals of `from_json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from evenhand.core.canonical import canonical_bytes, digest, parse
from evenhand.core.trace import Scenario
from evenhand.evidence.record import (
    FORMAT,
    BadRecord,
    MutantVariant,
    Own,
    Provenance,
    Record,
    decode_run,
    encode_run,
)
from tests.engines.evidence.latch import RUNS, TWO_INSIDE, record
from tests.front.plugins.toylatch import LATCH

KINDS = sorted(RUNS)


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """Return `content` with a valid seal, as a program could make it."""
    rest = {key: value for key, value in content.items() if key != "sha256"}
    return {**rest, "sha256": digest(rest)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_comes_back_from_its_bytes(kind: str) -> None:
    """The record, and the run within it."""
    made = record(kind)
    back = Record.from_json(parse(made.to_bytes()))
    assert back == made
    assert to_builtins(back.run)["kind"] == kind
    assert decode_run(back.run, LATCH.types) == RUNS[kind][2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_are_canonical_and_begin_with_the_format(kind: str) -> None:
    """Readers can identify our files by their first bytes."""
    written = record(kind).to_bytes()
    assert written.startswith(b'{"format":"evenhand/counterexample",')
    assert written == canonical_bytes(json.loads(written)) + b"\n"


def test_a_record_says_what_it_is_about() -> None:
    """In words for people."""
    made = record().to_json()
    assert made["protocol"] == made["system"] == "latch"
    assert made["scope"] == {"agents": 2}
    assert made["readings"] == {"again": "refused"}
    assert made["variant"] == {"kind": "mutant", "name": "always_free"}
    assert made["property"]["sentence"] == "At most one agent is inside."
    assert made["outcome"] == "REFUTED"
    assert made["provenance"]["versions"].keys() == {"evenhand", "python"}
    assert made["provenance"]["source"].startswith("sha256:")
    assert made["reproduce"] == "evenhand explore latch"


def test_the_file_name_follows_the_content_and_nothing_else() -> None:
    """The finder and the time change no file name; another run does."""
    made = record()
    assert made.file_name == f"one_inside--always_free--{made.identity[7:15]}.json"
    reworded = replace(made.claim, sentence="y")
    found_later = replace(made, provenance=Provenance("fuzz", "", {}), reproduce="x", claim=reworded)
    assert found_later.file_name == made.file_name
    assert found_later.to_json()["sha256"] != made.to_json()["sha256"]
    longer = encode_run(Scenario(TWO_INSIDE.config, TWO_INSIDE.start, TWO_INSIDE.actions * 2))
    newer = replace(made.claim, version=2)
    for other in (replace(made, run=longer), replace(made, claim=newer), replace(made, shown=digest(None))):
        assert other.file_name != made.file_name


def test_a_file_name_is_safe() -> None:
    """Names come from a protocol's author and must not lead out of the folder."""
    hostile = replace(record(), claim=replace(record().claim, name="../../x\0y"), variant=MutantVariant("a/b\n" * 100))
    assert hostile.file_name.startswith("______x_y--a_b_a_b_")
    assert len(hostile.file_name) < 150


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "another format": (lambda r: {**r, "format": "evenhand/report"}, "its format is 'evenhand/report'"),
    "no format": (lambda r: {k: v for k, v in r.items() if k != "format"}, "it names no format"),
    "newer": (lambda r: {**r, "version": 99}, "it is of version 99, and this evenhand reads version 2"),
    "older": (lambda r: {**r, "version": 1}, "it is of version 1, and this evenhand reads version 2"),
    "version true": (lambda r: {**r, "version": True}, "it is of version True"),
    "missing": (lambda r: {k: v for k, v in r.items() if k != "run"}, "missing required field `run`"),
    "additional": (lambda r: {**r, "extra": 1}, "unknown field `extra`"),
    "wrong type": (lambda r: {**r, "scope": {"agents": "2"}}, "$.scope.agents is wrong"),
    "negative": (lambda r: {**r, "scope": {"agents": -1}}, "$.scope.agents is wrong"),
    "outcome": (lambda r: {**r, "outcome": "HOLDS"}, "$.outcome is wrong"),
    "no such kind": (lambda r: {**r, "run": {**r["run"], "kind": "film"}}, "$.run"),
    "no loop": (lambda r: {**r, "run": {**r["run"], "kind": "lasso"}}, "$.run"),
    "disguise": (lambda r: {**r, "variant": {"kind": "reference", "name": "always_free"}}, "$.variant.name is wrong"),
    "no digest": (lambda r: {**r, "shown": "sha256:00"}, "$.shown is wrong"),
    "property version": (
        lambda r: {**r, "property": {**r["property"], "version": 0}},
        "$.property.version is wrong",
    ),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_what_is_no_record_is_refused(name: str) -> None:
    """With a seal that fits, so that it is the check named and not the seal that fires."""
    change, cause = CHANGES[name]
    good = record().to_json()
    assert Record.from_json(sealed(good)) == record()
    with pytest.raises(BadRecord) as caught:
        Record.from_json(sealed(change(good)), "a.json")
    assert cause in caught.value.cause
    assert (caught.value.culprit, str(caught.value).startswith("a.json: ")) == ("a.json", True)
    assert caught.value.next_step
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [None, [], "x", 1, {}])
def test_other_json_is_refused(data: Any) -> None:
    """Whatever the text holds."""
    with pytest.raises(BadRecord, match="it names no format"):
        Record.from_json(data)


def test_an_edit_breaks_the_seal() -> None:
    """Any value within, however deep."""
    good = record().to_json()
    edits: list[dict[str, Any]] = [
        {**good, "reproduce": "rm -rf /"},
        {**good, "run": {**good["run"], "actions": good["run"]["actions"][:1]}},
        {**good, "provenance": {**good["provenance"], "engine": "me"}},
        {**good, "sha256": digest(None)},
    ]
    for edited in edits:
        with pytest.raises(BadRecord, match=r"sha256 differs.*Record it again"):
            Record.from_json(edited)


def test_a_hostile_message_stays_short() -> None:
    """The message quotes the value; a screen must not fill with it."""
    with pytest.raises(BadRecord) as caught:
        Record.from_json(sealed({**record().to_json(), "outcome": "\x1b[2J" * 100_000}))
    assert len(str(caught.value)) < 500
    assert "\x1b" not in str(caught.value)


def test_the_schema_is_a_schema_and_strict() -> None:
    """Published for other readers: draft 2020-12, nothing additional anywhere it says `properties`."""
    text = files("evenhand.evidence").joinpath("schema/counterexample.json").read_bytes()
    objects: list[dict[str, Any]] = []

    def kept(found: dict[str, Any]) -> dict[str, Any]:
        objects.append(found)
        return found

    schema = json.loads(text, object_hook=kept)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["format"]["enum"] == [FORMAT]
    assert set(schema["required"]) == set(schema["properties"]) - {"own"} == set(record().to_json())
    assert set(replace(record(), own=Own(True, "", "")).to_json()) == set(schema["properties"])
    records = [found for found in objects if found.get("type") == "object" and "properties" in found]
    assert len(records) == 10
    assert [found for found in records if found.get("additionalProperties") is not False] == []
    optional = [set(found["properties"]) - set(found["required"]) for found in records]
    assert [names for names in optional if names] == [{"own"}]
