"""The store: bad files give one message, and no file is ever half-written."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from evenhand.evidence.record import BadRecord
from evenhand.evidence.store import MAX_BYTES, NotWritten, is_record, load, save, write_atomically
from tests.engines.evidence.latch import record


def test_a_saved_record_loads(tmp_path: Path) -> None:
    """From a folder made for it; nothing else is left there."""
    made = record()
    path = save(made, tmp_path / "cud" / "new")
    assert path == tmp_path / "cud" / "new" / made.file_name
    assert load(path) == made
    assert path.read_bytes() == made.to_bytes()
    assert list(path.parent.iterdir()) == [path]
    assert is_record(path)


def test_the_same_run_found_again_changes_no_file(tmp_path: Path) -> None:
    """Provenance alone would make noise in version control."""
    first = save(record(), tmp_path)
    before = first.read_bytes()
    again = save(replace(record(), reproduce="another command"), tmp_path)
    assert (again, again.read_bytes()) == (first, before)


def test_a_broken_file_is_written_anew(tmp_path: Path) -> None:
    """A file with this name that does not load is replaced."""
    path = tmp_path / record().file_name
    path.write_bytes(record().to_bytes()[:100])
    assert load(save(record(), tmp_path)) == record()


def bad_files(folder: Path) -> dict[str, tuple[Path, str]]:
    """Return, for each name, a path and the expected cause of refusal."""
    good = record().to_bytes()

    def made(name: str, content: bytes) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    large = folder / "large.json"
    with large.open("wb") as file:
        file.write(good)
        file.truncate(100 * 2**20)  # a sparse file, so that no disk is filled
    os.mkfifo(folder / "pipe.json")
    edited = json.loads(good)
    edited["reproduce"] = "something else"
    return {
        "missing": (folder / "missing.json", "there is no such file"),
        "beneath a file": (made("file", b"x") / "a.json", "it cannot be read"),
        "folder": (folder, "it is a folder"),
        "pipe": (folder / "pipe.json", "it is no regular file"),
        "large": (large, "it has 104,857,600 bytes, more than the 8 MiB"),
        "truncated": (made("truncated.json", good[: len(good) // 2]), "it is no JSON, or was cut short"),
        "empty": (made("empty.json", b""), "it is no JSON, or was cut short"),
        "not utf-8": (made("latin.json", b'{"format":"\xe9"}'), "it is no UTF-8 text (byte 11)"),
        "deep": (made("deep.json", b"[" * 100_000), "it is no JSON, or was cut short"),
        "twice": (made("twice.json", b'{"format":1,"format":2}'), "duplicate key 'format'"),
        "other": (made("other.json", b'{"format":"evenhand/report"}'), "its format is 'evenhand/report'"),
        "edited": (made("edited.json", json.dumps(edited).encode()), "sha256 differs"),
        "nul": (folder / "a\0b", "it cannot be read"),
    }


def test_each_bad_file_gives_one_message(tmp_path: Path) -> None:
    """Culprit, cause and next step, on one line."""
    for name, (path, cause) in bad_files(tmp_path).items():
        with pytest.raises(BadRecord) as caught:
            load(path)
        assert cause in str(caught.value), name
        assert str(caught.value).startswith(f"{path}: "), name
        assert caught.value.next_step, name
        assert "\n" not in str(caught.value), name


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size is checked first; a file at the limit is still read."""
    path = tmp_path / "at_limit.json"
    path.write_bytes(record().to_bytes().ljust(MAX_BYTES))
    assert load(path) == record()
    with path.open("ab") as file:
        file.write(b" ")

    def unread(*_: Any, **__: Any) -> Any:
        raise AssertionError("the file was opened")

    monkeypatch.setattr("builtins.open", unread)
    with pytest.raises(BadRecord, match="8,388,609 bytes"):
        load(path)


def test_other_peoples_json_is_no_record(tmp_path: Path) -> None:
    """They are recognised without parsing, whatever they mention; unreadable files count as foreign too."""
    others = {
        "list.json": b'["format", "evenhand/counterexample"]',
        "report.json": b'{"format":"evenhand/report","findings":[{"format":"evenhand/counterexample"}]}',
        "longer.json": b'{"format":"evenhand/counterexamples"}',
        "binary.json": bytes(range(256)),
        "empty.json": b"",
    }
    for name, content in others.items():
        (tmp_path / name).write_bytes(content)
        assert not is_record(tmp_path / name), name
    assert not is_record(tmp_path / "missing.json")
    assert not is_record(tmp_path)
    (tmp_path / "pretty.json").write_text(json.dumps(json.loads(record().to_bytes()), indent=4))
    assert is_record(tmp_path / "pretty.json")
    (tmp_path / "cut.json").write_bytes(record().to_bytes()[:60])
    assert is_record(tmp_path / "cut.json")  # a broken file of ours: it must be reported, not ignored


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk while writing, syncing or renaming: old content, no stray file, one message."""
    target = tmp_path / "f.json"
    write_atomically(target, b"old")

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for place in ("os.fsync", "pathlib.Path.replace"):
        with monkeypatch.context() as patch:
            patch.setattr(place, full)
            with pytest.raises(NotWritten, match=r"f\.json: cannot be written \(No space left on device\)\. Choose"):
                write_atomically(target, b"new")
        assert target.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [target]
    write_atomically(target, b"new")
    assert target.read_bytes() == b"new"


def test_an_interrupt_leaves_no_stray_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between writing and renaming."""

    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "f.json", b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["a file on the way", "a folder in its place"])
def test_a_place_that_cannot_be_written_is_told(place: str, tmp_path: Path) -> None:
    """Root ignores permissions, so these two stand for a read-only folder."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    target = tmp_path / ("file/f.json" if place == "a file on the way" else "folder")
    with pytest.raises(NotWritten, match="cannot be written"):
        write_atomically(target, b"x")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]
