"""The shipped vectors: frozen, true of the model, and false of every variant that they claim to separate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from evenhand.cli.vectors import schema_text, shipped
from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse
from evenhand.conform.vectors.targets import targets_of
from evenhand.conform.vectors.verifying import SCHEMA_FILE, against_kernel, against_model, load_frozen
from evenhand.core.canonical import canonical_bytes, digest
from evenhand.core.registry import find, folder
from evenhand.evidence.record import BadRecord
from evenhand.evidence.vector import Separated, Suite, Vector, frozen
from evenhand.model.cud.conditions import conditions
from tests.deep import rest_slow

PROTOCOLS = sorted(path.parent.name for path in folder("counterexamples").glob("*/vectors"))


EQUAL = {"conviction": frozenset({"tap_takes=youngest_first"})}
"""Readings that no vector separates, as a test of the protocol shows: a tap comes before any stake has an age."""

BEYOND = {
    "conviction": frozenset({"last_stake_tick=moves_out_too"}),
    "markspace": frozenset(
        {
            "active_threshold=min_strength",
            "need_log_base=2",
            "need_log_base=10",
            "principal_decision=names_winner",
            "need_first=later_need",
            "classified_in_queue=left_out",
        }
    ),
    "sovereign": frozenset({"path_rule=normal_form"}),
}
"""Readings that no vector separates either.  That of `conviction` no drawn run does; in `markspace` four lie beyond
the search, `principal_decision` only offers one action more; `classified_in_queue` and that of `sovereign` are newer
than the vectors.
"""

HIDDEN = {"markspace": frozenset({"partial_writes", "ids_are_counted", "resolution_forgets_the_priority"})}
"""Mutants that show the same along every run that was tried."""


@cache
def _suites(protocol: str) -> Mapping[str, Suite]:
    """Return the shipped suites of a protocol by their files, read once."""
    return load_frozen(shipped(protocol), protocol)[1]


def _covering(protocol: str) -> Suite:
    return _suites(protocol)["covering.json"]


def test_the_protocols_that_have_vectors() -> None:
    """All of them."""
    assert PROTOCOLS == ["apcm", "conviction", "cud", "markspace", "sovereign"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_vector_says_what_it_is_about(protocol: str) -> None:
    """A title, paragraphs of the source text, and the readings on which its outcome depends."""
    for suite in _suites(protocol).values():
        for vector in suite.vectors:
            assert vector.title and vector.source and vector.depends is not None
            assert set(vector.depends) <= set(vector.readings)
            assert {one.name for one in vector.separates if one.kind == "reading"} <= set(vector.depends)


@pytest.mark.parametrize("protocol", rest_slow(PROTOCOLS))
def test_the_shipped_schema_describes_every_value(protocol: str) -> None:
    """It is the generated one, and every configuration, start, action and observation is valid.  After a change of a
    type: `make schemas`.
    """
    text = (shipped(protocol) / SCHEMA_FILE).read_text("utf-8")
    assert text == schema_text(find(protocol))
    schema = json.loads(text)
    checks: dict[tuple[str, str], Any] = {
        (system, kind): jsonschema.Draft202012Validator({**part, "$defs": schema["$defs"]})
        for system, about in schema["properties"].items()
        for kind, part in about["properties"].items()
    }
    wrong = [
        f"{vector.name}, {kind}: {error.message:.300}"
        for suite in _suites(protocol).values()
        for vector in suite.vectors
        for kind, values in (
            ("config", [vector.run.config]),
            ("start", [vector.run.start]),
            ("action", vector.run.actions),
            ("shown", [one.shown for one in vector.expected]),
        )
        for value in values
        for error in checks[vector.system, kind].iter_errors(value)
    ]
    assert wrong == []


def test_a_value_of_another_shape_is_not_valid() -> None:
    """The schema forbids a field of another name, and a missing one."""
    schema = json.loads((shipped("cud") / SCHEMA_FILE).read_text("utf-8"))
    part = schema["properties"]["conditions"]["properties"]["shown"]
    check: Any = jsonschema.Draft202012Validator({**part, "$defs": schema["$defs"]})
    shown = _covering("cud").vectors[0].expected[0].shown
    assert check.is_valid(shown)
    assert not check.is_valid({**shown, "winner": "agent_1"})
    assert not check.is_valid({key: value for key, value in shown.items() if key != "tokens"})


def test_the_registered_conditions_are_vectors_with_the_outcome_worked_out_by_hand() -> None:
    """Every case of `cud`; the observation of each epoch tells the tokens that its file expects."""
    suites = _suites("cud")
    vectors = {one.name: one for one in suites["conditions.json"].vectors}
    told = 0
    for one in conditions():
        for case in one.cases:
            name = "-".join((one.name, *(f"{reading}-{value}" for reading, value in case.readings)))
            if one.kernel != "reference":
                assert name not in vectors
                continue
            seen: list[Any] = [epoch.shown["tokens"] for epoch in vectors[name].expected]
            tokens: list[Any] = [tuple((agent, token) for agent, token in epoch) for epoch in seen]
            assert tokens == [epoch.outcomes for epoch in case.expected.epochs]
            assert (vectors[name].title, vectors[name].source) == (one.title, ", ".join(one.source))
            told += len(tokens)
    assert told > 100
    assert suites["conditions.json"].made["left_out"] == [
        {"because": "its kernel is the mutant tie_break_by_action_id, not the reference", "name": "E"}
    ]


@pytest.mark.parametrize("protocol", rest_slow(PROTOCOLS, 2))
def test_they_are_as_frozen_and_true_of_the_model(protocol: str) -> None:
    """Every expectation, and every claimed separation."""
    bundle = find(protocol)
    vectors = [one for suite in _suites(protocol).values() for one in suite.vectors]
    assert list(against_model(bundle, vectors)) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_cover_separates_all_but_the_registered_equivalents(protocol: str) -> None:
    """Every mutant that can be killed, and every reading; with at most half as many vectors."""
    suite = _covering(protocol)
    done = {(one.kind, one.name, json.dumps(one.value)) for v in suite.vectors for one in v.separates}
    left = [
        one
        for one in targets_of(find(protocol))
        if (one.kind, one.name, json.dumps(one.value if one.mutant is None else None)) not in done
    ]
    living = {one.name for one in left if one.mutant is not None and one.mutant.expected != "equivalent"}
    assert living == HIDDEN.get(protocol, frozenset())
    equal, beyond = (names.get(protocol, frozenset[str]()) for names in (EQUAL, BEYOND))
    assert {one.title for one in left if one.mutant is None} == equal | beyond
    assert len(suite.vectors) <= len(targets_of(find(protocol))) / 2
    assert len(suite.vectors) == suite.made["lower_bound"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_vector_of_the_cover_is_needed(protocol: str) -> None:
    """Without any one of them some variant is no longer separated."""
    suite = _covering(protocol)
    of = [{(one.kind, one.name, json.dumps(one.value)) for one in v.separates} for v in suite.vectors]
    for place, own in enumerate(of):
        others = set[tuple[str, str, str]]().union(*(found for other, found in enumerate(of) if other != place))
        assert own - others


def test_an_expectation_that_is_wrong_is_found() -> None:
    """A token, and a variant that is wrongly said to differ."""
    bundle = find("apcm")
    vector = _covering("apcm").vectors[0]
    first, *rest = vector.expected
    wrong = replace(vector, expected=(replace(first, shown={**first.shown, "kind": "other"}), *rest))
    (failure,) = against_model(bundle, [wrong])
    assert (failure.vector, failure.step) == (vector.name, 1)
    assert "kind" in failure.how
    entry = Separated("mutant", "rule_1_as_equality", None, 1, "shown")
    (failure,) = against_model(bundle, [replace(vector, separates=(entry,))])
    assert "rule_1_as_equality comes to the same now" in failure.how
    (failure,) = against_model(bundle, [replace(vector, separates=(replace(entry, name="gone"),))])
    assert "there is no mutant gone any more" in failure.how


def test_a_vector_older_than_a_reading_is_run_with_its_default() -> None:
    """By the model, and by a kernel, which is told the default; another value of the reading changes what is shown."""
    bundle = find("cud")
    vector = next(v for v in _covering("cud").vectors if any(m["messages"] for e in v.expected for m in _seen(e.shown)))

    def put(readings: dict[str, Any], of_config: dict[str, Any]) -> Vector:
        config = {**_dict(vector.run.config), "readings": of_config}
        return replace(vector, readings=readings, run=replace(vector.run, config=config))

    of_config = _dict(_dict(vector.run.config)["readings"])
    old = put(
        *({name: value for name, value in one.items() if name != "broadcast"} for one in (vector.readings, of_config))
    )
    assert "broadcast" not in old.readings
    assert list(against_model(bundle, [old])) == []
    other = put({**vector.readings, "broadcast": "to_everybody"}, {**of_config, "broadcast": "to_everybody"})
    assert list(against_model(bundle, [other])) != []
    told = list[KernelRequest]()

    class Listening:
        def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
            for one in scenarios:
                told.append(one)
                yield KernelResponse(unsupported="it only listens")

    source: Any = Listening()
    assert len(list(against_kernel(bundle, [vector, old], source))) == 2
    assert told[0] == told[1]


def _dict(value: Any) -> dict[str, Any]:
    return dict(value)


def _seen(shown: Any) -> list[Any]:
    return [seen for _, seen in shown["seen"]]


def _copy(protocol: str, folder: Path) -> Path:
    for path in shipped(protocol).glob("*.json"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder / "covering.json"


def _with(suite: Suite, vectors: tuple[Vector, ...]) -> bytes:
    return replace(suite, vectors=vectors).to_bytes()


def test_whatever_is_not_as_frozen_is_named(tmp_path: Path) -> None:
    """A file edited, a vector changed with a valid hash, dropped or added, a file removed or new."""
    path = _copy("apcm", tmp_path)
    suite = _covering("apcm")
    data = json.loads(path.read_bytes())
    data["vectors"][0]["about"] = {"origin": "me"}
    path.write_bytes(canonical_bytes(data))
    with pytest.raises(BadRecord, match="covering-01: its content is not what was hashed"):
        load_frozen(tmp_path, "apcm")
    one, *rest = suite.vectors
    changes = {
        "vector covering-01 is changed": _with(suite, (replace(one, about={}), *rest)),
        "vector covering-01 is missing": _with(suite, tuple(rest)),
        "vector extra is new": _with(suite, (*suite.vectors, replace(one, name="extra"))),
        "its content beside the vectors changed": replace(suite, seed=9).to_bytes(),
    }
    for complaint, content in changes.items():
        path.write_bytes(content)
        with pytest.raises(BadRecord, match=complaint):
            load_frozen(tmp_path, "apcm")
    path.unlink()
    with pytest.raises(BadRecord, match=r"covering\.json is missing"):
        load_frozen(tmp_path, "apcm")
    _copy("apcm", tmp_path)
    (tmp_path / "orbits.json").write_bytes(replace(suite, suite="orbits").to_bytes())
    with pytest.raises(BadRecord, match=r"orbits\.json is not frozen"):
        load_frozen(tmp_path, "apcm")


def test_a_manifest_holds_the_digest_of_each_file() -> None:
    """Of its canonical bytes."""
    suite = _covering("apcm")
    manifest = frozen("apcm", {"covering.json": suite})
    assert [(one.file, one.sha256) for one in manifest.suites] == [("covering.json", digest(suite.to_json()))]
    assert manifest.complaints({"covering.json": suite}) == ()


def test_a_suite_of_another_version_is_refused_with_its_version() -> None:
    """The message says what to do."""
    data = _covering("apcm").to_json()
    with pytest.raises(BadRecord, match=r"it is of version 7, and this evenhand reads version 2\. Generate"):
        Suite.from_json({**data, "version": 7}, "f.json")
