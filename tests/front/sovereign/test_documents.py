"""A user's constitution: one clear error for a bad file, an answer with a witness for a good one."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from evenhand.conform.documents import check_document
from evenhand.core.document import DocumentRefused
from evenhand.model.sovereign.constitution import (
    CITATIONS,
    REFERENCE_CONSTITUTION,
    ActionType,
    Constitution,
    IoPolicy,
    Limits,
    document,
)
from evenhand.properties.sovereign.document import MOST_BYTES, diagnose, load_constitution
from evenhand.search import explore
from tests.front.conftest import Command

SHIPPED = Path(__file__).parents[3] / "properties" / "sovereign" / "rsa_constitution.v0.1.1.yaml"
GOOD = yaml.safe_dump(document(REFERENCE_CONSTITUTION), sort_keys=False)
BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


def written(folder: Path, text: str | bytes, said: str | None = "") -> Path:
    """Write a file with its hash beside it; a given other hash; or none if None."""
    path = folder / "c.yaml"
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(data)
    if said is not None:
        path.with_name("c.yaml.sha256").write_text(f"{said or hashlib.sha256(data).hexdigest()}  c.yaml\n", "utf-8")
    return path


def test_the_shipped_constitution_is_the_reference() -> None:
    assert load_constitution(SHIPPED)[0] == REFERENCE_CONSTITUTION


BAD: list[tuple[str | bytes, str | None, str]] = [
    (GOOD, None, "its hash is missing"),
    (GOOD, "0" * 64, "one was changed"),
    (GOOD, "hello", "no SHA-256"),
    (GOOD.replace("version: 0.1.1", "version: 0.1.1\nversion: 0.1.2"), "", "duplicate key 'version'"),
    (BOMB, "", "anchors and aliases"),
    (GOOD.replace("type: Notify", "type: Shell"), "", "unknown action type 'Shell'"),
    (GOOD.replace("network: false", "network: 2026-01-01"), "", "expected true or false"),
    (GOOD.replace("version: 0.1.1", "version: 0.1"), "", "expected text, not float"),
    ("!!python/object/apply:os.system [echo]", "", "no YAML of plain data"),
    ("a: [", "", "line"),
    ("[" * 100 + "]" * 100, "", "nested deeper"),
    (b"\xff\xfe", "", "no UTF-8"),
    ("", "", "expected a mapping"),
    ("? [a]\n: b\n", "", "key must be text"),
    ("- x\n" * 30_000, "", "more than"),
    ("x" * (MOST_BYTES + 1), "", "at most"),
]


@pytest.mark.parametrize(("text", "said", "says"), BAD)
def test_a_bad_file_is_refused_with_a_reason(tmp_path: Path, text: str | bytes, said: str | None, says: str) -> None:
    """The message names the culprit, the cause and the next step."""
    with pytest.raises(DocumentRefused, match=says):
        load_constitution(written(tmp_path, text, said))


def test_fifty_megabytes_are_not_read(tmp_path: Path) -> None:
    """The file is refused because of its size."""
    path = tmp_path / "c.yaml"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(DocumentRefused, match="50,000,000 bytes"):
        load_constitution(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The message is the same as in every command."""
    with pytest.raises(DocumentRefused, match="there is no such file"):
        load_constitution(tmp_path / "none.yaml")
    with pytest.raises(DocumentRefused, match="by no document"):
        check_document("cud", Path("none.yaml"))


def bad(constitution: Constitution) -> list[str]:
    """Return the claims of the findings."""
    return [one.claim for one in diagnose(constitution, explore) if one.bad]


LOG = ActionType("LogAppend", kernel_only=True, requires=(CITATIONS,))


def test_the_reference_has_one_contradiction() -> None:
    """An action may carry ten thousand characters, and its log line may not."""
    assert bad(REFERENCE_CONSTITUTION) == ["every_effect_is_recorded"]


def test_bounding_fields_resolves_it() -> None:
    """The repair is a limit on the fields of an action."""
    limits = replace(REFERENCE_CONSTITUTION.limits, max_chars_per_field=4_000)
    assert bad(replace(REFERENCE_CONSTITUTION, limits=limits)) == []


def test_a_deadlocked_constitution_is_told() -> None:
    """Kernel-only types alone, or a read without a directory."""
    assert "every_action_space_admits_something" in bad(Constitution("1", ("C",), (LOG,)))
    only_read = Constitution("1", ("C",), (ActionType("ReadLocal"),), IoPolicy((), ()))
    assert "patient_proposers_get_an_action" in bad(only_read)


def test_a_log_append_for_everybody_is_told() -> None:
    """`kernel_only` is missing."""
    open_log = Constitution("1", ("C",), (replace(LOG, kernel_only=False, requires=()),), IoPolicy(), Limits())
    assert "log_append_never_comes_from_a_candidate" in bad(open_log)


def test_the_command_line_answers(tmp_path: Path, cli: Command) -> None:
    """1 with a witness for the shipped one, 0 for a repaired one, 2 for one without a hash."""
    found = cli("check", "sovereign", "--constitution", str(SHIPPED))
    assert found.code == 1 and "contradicting limits" in found.out
    repaired = GOOD.replace("limits:", "limits:\n  max_chars_per_field: 4000")
    assert cli("check", "sovereign", "--constitution", str(written(tmp_path, repaired))).code == 0
    refused = cli("check", "sovereign", "--constitution", str(written(tmp_path / ".", GOOD + "#", "0" * 64)))
    assert refused.code == 2 and len(refused.err.strip().splitlines()) == 1


@pytest.mark.parametrize(("text", "said", "says"), BAD)
def test_every_bad_file_is_one_line_and_exit_2(
    tmp_path: Path, cli: Command, text: str | bytes, said: str | None, says: str
) -> None:
    """Nothing on standard output, the file and the reason on one line, no traceback."""
    refused = cli("check", "sovereign", "--constitution", str(written(tmp_path, text, said)))
    assert refused.code == 2 and refused.out == ""
    assert len(refused.err.strip().splitlines()) == 1
    assert "c.yaml" in refused.err and says in refused.err


def test_fifty_megabytes_and_no_file_are_one_line_and_exit_2(tmp_path: Path, cli: Command) -> None:
    """A file that is too large to read, a missing file, a directory."""
    large = tmp_path / "large.yaml"
    with large.open("wb") as file:
        file.truncate(50_000_000)
    for path in (large, tmp_path / "none.yaml", tmp_path):
        refused = cli("check", "sovereign", "--constitution", str(path))
        assert refused.code == 2 and len(refused.err.strip().splitlines()) == 1
        assert path.name in refused.err
