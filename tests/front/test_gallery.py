"""The gallery is what `make gallery` draws now: the same bytes, small, each with its story and command."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from evenhand.core.loading import module_at

EXPLANATION = Path(__file__).parents[2] / "docs" / "explanation"


SYSTEMS = Path(__file__).parents[2] / "docs" / "examples" / "systems"


@pytest.fixture(name="drawn", scope="module")
def _drawn() -> Mapping[str, str]:
    """Return the files as they are drawn now."""
    made: Mapping[str, str] = module_at(EXPLANATION / "gallery" / "draw.py").files()
    return made


@pytest.fixture(name="kept", scope="module")
def _kept() -> Mapping[str, str]:
    """Return the files as they are kept, which `test_the_pictures_and_the_page_are_as_they_are_drawn_now` compares."""
    paths = [*(EXPLANATION / "gallery").glob("*.svg"), EXPLANATION / "gallery.md", EXPLANATION / "known-systems.md"]
    return {path.relative_to(EXPLANATION).as_posix(): path.read_text("utf-8") for path in paths}


@pytest.mark.slow
def test_the_pictures_and_the_page_are_as_they_are_drawn_now(drawn: Mapping[str, str]) -> None:
    """None is missing, none is left over."""
    kept = {path.name for path in (EXPLANATION / "gallery").glob("*.svg")}
    assert {Path(name).name for name in drawn if name.endswith(".svg")} == kept
    stale = [name for name, text in drawn.items() if (EXPLANATION / name).read_text("utf-8") != text]
    assert stale == [], "run `make gallery`"


def test_each_picture_is_small_and_says_something(kept: Mapping[str, str]) -> None:
    """Well-formed, with states and texts, below 16 KB; no two are alike."""
    pictures = {name: text for name, text in kept.items() if name.endswith(".svg")}
    assert len(set(pictures.values())) == len(pictures) == 12 + 16
    for name, text in pictures.items():
        tags = [element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()]
        assert len(text) < 16_000, name
        assert "circle" in tags and tags.count("text") > tags.count("circle"), name


def test_the_page_shows_each_with_its_sentence_command_and_fixture(kept: Mapping[str, str]) -> None:
    """A kept run names a file that exists; every protocol and an example have a picture."""
    page = kept["gallery.md"]
    parts = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    assert len(parts) == 12
    for part in parts:
        name, sentence = part.split("\n")[0], part.split("\n")[2]
        assert sentence.endswith(".") and re.search(r"^\$ \w+", part, re.MULTILINE), name
        assert f"(gallery/{name}.svg)" in part
        for fixture in re.findall(r"Kept as `(.+?)`", part):
            assert (EXPLANATION.parents[1] / fixture).is_file()
    assert {part.partition("-")[0] for part in parts} == {
        "apcm",
        "conviction",
        "cud",
        "markspace",
        "sovereign",
        "peterson",
    }


def test_the_page_of_known_systems_has_each_with_its_story_counts_and_command(kept: Mapping[str, str]) -> None:
    """The docstring of each file stands on the page, then the counts of its systems."""
    parts = re.split(r"^## ", kept["known-systems.md"], flags=re.MULTILINE)[1:]
    assert [part.split("\n")[0].replace("-", "_") for part in parts] == sorted(
        path.stem for path in SYSTEMS.glob("*.py")
    )
    for part in parts:
        name = part.split("\n")[0]
        text = (SYSTEMS / f"{name.replace('-', '_')}.py").read_text("utf-8")
        assert text.split('"""')[1].strip() in part
        assert re.search(
            r"^- `\w+`: [\d,]+ distinct and [\d,]+ generated states; .*(HOLDS|REFUTED)", part, re.MULTILINE
        )
        assert f"$ evenhand explore docs/examples/systems/{name.replace('-', '_')}.py:" in part
