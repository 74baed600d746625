"""Names that strangers send or write: two hundred spellings of a way out lead nowhere, wherever one is taken."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.console import BadUse
from evenhand.cli.vectors import shipped
from evenhand.conform.checking.files import file_stem
from evenhand.core.names import LONGEST, NoName, as_name, is_name, within
from evenhand.evidence.record import BadRecord
from evenhand.jobs.fixtures import fixture_at, fixture_files
from evenhand.web.files import Library

OUTSIDE = "outside"


def spellings(away: Path) -> list[str]:
    """Return spellings of names that are none, many of which lead to the folder `away` from some other folder."""
    up = [".", "..", "...", "~", "", " ", "\t", "\n", "\r\n", "\0", "%00", "$HOME", "${HOME}", "`id`", "*", "?", "[a]"]
    absolute = [
        str(away), f"/{away}", f"//{away}", f"{away}/", f"{away}/.", f"/.{away}", f"/proc/self/root{away}",
        f"/proc/self/cwd/..{away}", f"file://{away}", f"\\\\?\\{away}", "C:\\Windows", "C:/Windows", "c:x",
        "\\\\host\\share", "/dev/fd/0", "/dev/stdin", "/dev/zero", "/", "//", "\\",
    ]  # fmt: skip
    dots = ["../" * depth + OUTSIDE for depth in range(1, 13)] + ["..\\" * depth + OUTSIDE for depth in range(1, 13)]
    mixed = [
        f"./{OUTSIDE}", f"././{OUTSIDE}", f"cud/../../{OUTSIDE}", f"cud/./../{OUTSIDE}", f"..//{OUTSIDE}",
        f".././{OUTSIDE}", f"....//{OUTSIDE}", f"..;/{OUTSIDE}", f"..\t/{OUTSIDE}", f"../{OUTSIDE}\0", f"../{OUTSIDE} ",
        f"../{OUTSIDE}\n", f"\n../{OUTSIDE}", "cud/", "cud/.", "cud/..", "cud//", "cud\\", "cud/vectors", "cud\0",
        "cud\n",
        "cud ",
        " cud", "cud.", ".cud", "cud..", "cud\u200b", "cud\u202e", "\ufeffcud", "cud:stream", "cud::$DATA",
    ]  # fmt: skip
    encoded = [
        f"{dot}{slash}{OUTSIDE}"
        for dot in ("%2e%2e", "%252e%252e", "%c0%ae%c0%ae", "\u2025", "\uff0e\uff0e", "\u2024\u2024", "&#46;&#46;")
        for slash in ("/", "%2f", "%5c", "%252f", "%c0%af", "\u2215", "\u2044", "\uff0f", "\uff3c", "&#47;")
    ]
    devices = [f"{name}{end}" for name in ("con", "PRN", "aux", "NUL", "com1", "Lpt9") for end in ("", ".json", ".a.b")]
    odd = [
        "\ud800", "a\udfff", "\udc2f\udc2f", "\x1b[2J", "\x7f", "a\x00.json", "\u0000", "e\u0301", "ß",
        "\u0131", "名", "😀",
        "x" * (LONGEST + 1), "x" * 5_000, "../" * 5_000, "a/" * 5_000, "x" * 100_000, "'", '"', "<b>", ";", "|", "&",
        "a b", "--out=/x", "@x", "#x", "a,b", "{}", "^", "!", "+",
    ]  # fmt: skip
    return list(dict.fromkeys([*up, *absolute, *dots, *mixed, *encoded, *devices, *odd]))


ODD = spellings(Path("/tmp/away"))


def test_there_are_two_hundred_spellings() -> None:
    """All different."""
    assert len(ODD) >= 200


def test_what_is_no_name_becomes_none_or_one(tmp_path: Path) -> None:
    """`within` refuses it, and what `as_name` makes of it is a name in the same folder."""
    for text in ODD:
        assert not is_name(text)
        with pytest.raises(NoName):
            within(tmp_path, text)
        with pytest.raises(NoName):
            within(tmp_path, "plain", text)
        for most in (1, 3, 60, 150):
            made = as_name(text, most)
            assert is_name(made) and within(tmp_path, made).parent == tmp_path
            (tmp_path / made).write_text("")
            assert [path.name for path in tmp_path.iterdir()] == [made]
            (tmp_path / made).unlink()


def test_names_stay_as_they_are() -> None:
    """Those of protocols, claims and fixtures; a name that is one is not changed."""
    for name in ("cud", "no_winner--tie_break_by_name--0a1b2c3d", "x", "-", "con_", "console", "a" * 60):
        assert is_name(name) and as_name(name) == name
    assert is_name("a.json") and is_name("a..json") and is_name("x" * LONGEST)


def test_no_link_is_followed(tmp_path: Path) -> None:
    """Neither as a folder nor as a file, nor one that leads nowhere; but a folder that the user named may be one."""
    (tmp_path / "real" / "in").mkdir(parents=True)
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    for name in ("folder", "nowhere"):
        with pytest.raises(NoName, match="is a link"):
            within(tmp_path, name, "in")
    assert within(tmp_path / "folder", "in").is_dir()
    assert within(tmp_path, "folder", "in", links=True).is_dir()


_watched: list[list[str]] = []


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched and event in ("open", "os.scandir", "os.listdir", "glob.glob") and isinstance(arguments[0], str):
        _watched[-1].append(os.path.abspath(arguments[0]))


sys.addaudithook(_listen)


@contextmanager
def opened() -> Generator[list[str]]:
    """Yield the list of the files and folders that are read meanwhile."""
    _watched.append([])
    try:
        yield _watched[-1]
    finally:
        _watched.pop()


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Path:
    """Return a folder beside which there is another, with a fixture of evenhand under the name `x.json`."""
    for folder in (tmp_path / OUTSIDE, tmp_path / OUTSIDE / "vectors"):
        folder.mkdir()
        shutil.copy(fixture_files("cud")[0], folder / "x.json")
        (folder / "manifest.json").write_text("{}")
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


def test_no_spelling_leads_out_of_the_folders_of_fixtures(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the server, of reports and of vectors; nothing else is opened or listed, nothing but a refusal raised."""
    away = place.parent / OUTSIDE
    monkeypatch.chdir(place)
    home = fixture_files("cud")[0].parent.parent
    library = Library(place)
    with opened() as read:
        for text in spellings(away):
            for where in ("shipped", "saved"):
                with pytest.raises(BadRecord):
                    library.load(text, f"{where}/x.json")
                with pytest.raises(BadRecord):
                    library.load("cud", f"{where}/{text}")
            with pytest.raises(BadRecord):
                library.load(text, text)
            assert fixture_files(text) == ()
            with suppress(NoName):
                assert not any(names for _, names in library.names(text))
            assert fixture_at(Path("cud", text)) == Path("cud", text)
            with pytest.raises(BadUse):
                shipped(text)
            claim = text.encode("utf-8", "replace").decode()
            stem = file_stem(dict.fromkeys(("protocol", "system", "what", "run"), "") | {"claim": claim})
            assert is_name(stem) and stem.replace("--", "_").isidentifier() == (not stem[0].isdigit())
    strange = [path for path in read if not Path(path).is_relative_to(home) and not path.endswith((".py", ".pyc"))]
    assert strange == []


def test_the_listener_hears_what_is_read(place: Path) -> None:
    """The check of the check: a folder that is listed and a file that is read are both heard."""
    away = place.parent / OUTSIDE
    with opened() as read:
        sorted(away.glob("*.json"))
        (away / "x.json").read_bytes()
    assert {str(away), str(away / "x.json")} <= set(read)
