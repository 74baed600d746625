"""What is opened and listed while two hundred spellings are asked for; run as `python -m … NAME FOLDER`.

An audit hook hears it, which no process can take away again.
"""

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
from evenhand.core.names import NoName, is_name
from evenhand.evidence.record import BadRecord
from evenhand.jobs.fixtures import fixture_at, fixture_files
from evenhand.web.files import Library
from tests.engines.core.test_names import OUTSIDE, spellings

_heard: list[str] = []


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "os.scandir", "os.listdir", "glob.glob") and isinstance(arguments[0], str):
        _heard.append(os.path.abspath(arguments[0]))


@contextmanager
def opened() -> Generator[list[str]]:
    """Yield the list that then holds the files and folders that were read meanwhile."""
    found = list[str]()
    _heard.clear()
    yield found
    found += _heard


def no_spelling_leads_out(place: Path) -> None:
    """Of the folders of fixtures of the server, of reports and of vectors; nothing but a refusal is raised."""
    away = place.parent / OUTSIDE
    os.chdir(place)
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
    assert strange == [], strange


def what_is_read_is_heard(place: Path) -> None:
    """The check of the check: a folder that is listed and a file that is read are both heard."""
    away = place.parent / OUTSIDE
    with opened() as read:
        sorted(away.glob("*.json"))
        (away / "x.json").read_bytes()
    assert {str(away), str(away / "x.json")} <= set(read)


def main(check: str, folder: Path) -> None:
    """Run the check in a folder beside which there is another, with a fixture of evenhand under the name `x.json`."""
    for one in (folder / OUTSIDE, folder / OUTSIDE / "vectors"):
        one.mkdir()
        shutil.copy(fixture_files("cud")[0], one / "x.json")
        (one / "manifest.json").write_text("{}")
    (folder / "mine").mkdir()
    sys.addaudithook(_listen)
    {one.__name__: one for one in (no_spelling_leads_out, what_is_read_is_heard)}[check](folder / "mine")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
