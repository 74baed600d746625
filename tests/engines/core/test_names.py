"""Names that strangers send or write: two hundred spellings of a way out lead nowhere, wherever one is taken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.core.names import LONGEST, NoName, as_name, is_name, within

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


@pytest.mark.parametrize("check", ["no_spelling_leads_out", "what_is_read_is_heard"])
def test_nothing_else_is_read(check: str, tmp_path: Path) -> None:
    """Heard in a process of its own: a hook that listens stays as long as its process, and slows every `id` there."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engines.core.listening", check, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
