"""Fixtures that the page loads, edits, replays and saves: by plain names, inside one folder, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.core.property import Property
from evenhand.core.registry import find
from evenhand.evidence.growth import read_run
from evenhand.evidence.record import BadRecord, Record
from evenhand.evidence.store import load, save
from evenhand.jobs.fixtures import fixture_files
from evenhand.web import files
from evenhand.web.files import Library, inside, made_record, place_in
from evenhand.web.position import Position, opened
from tests.front.conftest import Command
from tests.front.serving import Served, served, shipped


def broken() -> Position:
    """Return a run in which two agents take a latch that is free for everyone."""
    place = opened(find("latch"), variant="always_free")
    kind = place.system.types[-1]
    return place.walked((kind("take", 0), kind("leave", 1), kind("take", 1)))


def one_inside(place: Position) -> Property:
    """Return the claim that the run refutes."""
    return next(claim for claim in place.bundle.claims if claim.name == "one_inside")


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Served]:
    with served(broken(), tmp_path / "kept") as running:
        yield running


def test_a_run_is_saved_and_replays_on_the_command_line(tmp_path: Path, cli: Command) -> None:
    """Up to the current step, as a record like any other; loading returns what was saved."""
    library, place = Library(tmp_path), broken()
    saved = library.save(place, 3, one_inside(place))
    assert saved.ok and saved.path.parent == tmp_path / "latch"
    assert cli("replay", str(saved.path)).code == 0
    assert load(saved.path).provenance.engine == "explorer"
    again = library.load("latch", f"saved/{saved.path.name}")
    assert again.evidence == place.evidence and again.system.variant == "always_free" and again.claim == "one_inside"
    assert dict(library.names("latch"))["in your folder"] == (f"saved/{saved.path.name}",)


def test_a_run_that_shows_nothing_is_not_saved(tmp_path: Path) -> None:
    """Without a folder no run is saved; and no file is left behind."""
    place = broken()
    with pytest.raises(ValueError, match="does not refute one_inside"):
        Library(tmp_path).save(place, 2, one_inside(place))
    with pytest.raises(ValueError, match="--out DIR"):
        Library().save(place, 3, one_inside(place))
    assert list(tmp_path.iterdir()) == []


def test_every_kind_of_run_is_saved(tmp_path: Path) -> None:
    """A lasso and a pair keep their kind."""
    for name in (shipped("cud", "livelock_free--reference"), shipped("cud", "order_independence--reference")):
        place = Library().load("cud", f"shipped/{name}")
        claim = next(claim for claim in place.bundle.claims if claim.name == place.claim)
        record = made_record(place, place.steps, claim)
        stored = load(Path(fixture_files("cud")[0].parent / name)).run
        assert [read_run(run, place.system.types)[0] for run in (record.run, stored)] == [place.evidence] * 2
        assert Library(tmp_path).save(place, place.steps, claim).ok


HOSTILE = [
    "../secret.json",
    "..\\secret.json",
    "/etc/passwd",
    "latch/../../secret.json",
    ".hidden.json",
    "secret.txt",
    "a\x00.json",
    "",
    "x" * 300 + ".json",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_with_a_path_in_them_are_refused(tmp_path: Path, name: str) -> None:
    """For any content."""
    with pytest.raises(BadRecord):
        inside(tmp_path, "latch", name)
    with pytest.raises(BadRecord):
        Library(tmp_path).load("latch", f"saved/{name}")
    with pytest.raises(BadRecord):
        Library(tmp_path).load("latch", f"shipped/{name}")
    with pytest.raises(BadRecord):
        inside(tmp_path, f"../{name}", "a.json")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links")
def test_links_that_lead_out_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A linked file is not read, a linked folder not written to; without the check both would be."""
    place = broken()
    secret = save(made_record(place, 3, one_inside(place)), tmp_path / "elsewhere")
    mine = tmp_path / "mine"
    (mine / "latch").mkdir(parents=True)
    (mine / "latch" / secret.name).symlink_to(secret)
    library = Library(mine)
    with pytest.raises(BadRecord, match="leads out"):
        library.load("latch", f"saved/{secret.name}")
    assert dict(library.names("latch"))["in your folder"] == ()
    other = tmp_path / "other"
    other.mkdir()
    (other / "latch").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadRecord, match="leads out"):
        Library(other).save(place, 3, one_inside(place))

    def anywhere(folder: Path, protocol: str, name: str) -> Path:
        return folder / protocol / name

    monkeypatch.setattr(files, "inside", anywhere)  # the seeded fault
    assert library.load("latch", f"saved/{secret.name}").claim == "one_inside"
    assert Library(other).save(place, 3, one_inside(place)).path.resolve().parent == tmp_path / "elsewhere"


def test_the_server_says_why(server: Served, tmp_path: Path) -> None:
    """One sentence for each mistake, and no file."""
    _, _, address, at = server.start.split("/")
    here = {"address": address, "at": int(at)}
    (tmp_path / "secret.json").write_text("{}")
    for what, body, words in (
        ("load", {"protocol": "latch", "name": "saved/../../secret.json"}, "no plain file name"),
        ("load", {"protocol": "..", "name": "saved/secret.json"}, "no plain file name"),
        ("load", {"protocol": "latch", "name": "shipped/nothing.json"}, "no fixture of latch"),
        ("load", {"text": "{", "name": "mine.json"}, "mine.json"),
        ("load", {"text": '{"format": "other"}', "name": "mine.json"}, "mine.json"),
        ("save", {**here, "claim": "nobody"}, "unknown claim"),
        ("save", {**here, "at": 1, "claim": "one_inside"}, "nothing to save"),
        ("step", {**here, "number": 99}, "no action with number 99"),
        ("step", {**here, "number": "x"}, "not a whole number"),
        ("step", {"address": "0" * 16, "at": 0, "number": 0}, "not known any more"),
        ("edit", {**here, "step": 9, "text": "{}"}, "no step 9"),
        ("edit", {**here, "step": 1, "text": "{"}, "no request"),
        ("edit", {**here, "step": 1, "text": '{"$": "System"}'}, "no request"),
        ("edit", {**here, "step": 1, "text": '{"$": "Act", "verb": "take"}'}, "no request"),
        ("open", {"system": "latch/latch", "scope": "agents=many"}, "agents=many"),
        ("open", {"system": "lock/lock"}, "unknown protocol"),
        ("lead", {**here, "claim": 3}, "not a text"),
        ("separate", {**here, "beside": "mutant:nobody"}, "unknown mutant"),
    ):
        got = server.do(what, **body)
        assert got.status in (404, 422) and words in got.json["error"], (what, body, got.text)
    assert server.ask("POST", "/do/save", b"[1]").json["error"] == "a request is a JSON object"
    assert server.ask("POST", "/do/save", b'{"a": 1, "a": 2}').status == 422
    assert server.do("nothing").status == 404
    assert not (tmp_path / "kept").exists()


def test_an_edited_request_is_replayed(server: Served) -> None:
    """Also one that is not on offer: the kernel's observation is shown, and the run has an address of its own."""
    _, _, address, at = server.start.split("/")
    got = server.do("edit", address=address, at=int(at), step=2, text='{"$":"Act","agent":1,"verb":"take"}')
    assert got.status == 200 and got.json["to"].endswith("/2")
    page = server.get(got.json["to"]).text
    assert "one_<wbr>inside" in page and 'id="d-false" class="claims false" open' in page
    hostile = server.do("edit", address=address, at=int(at), step=1, text='{"$":"Act","agent":77,"verb":"take"}')
    assert "<ins>77</ins>" in server.get(hostile.json["to"]).text
    assert server.get(server.start).status == 200, "the run that was edited is still there"


def test_hostile_text_stays_text(server: Served) -> None:
    """The content of a request is never markup, wherever the page shows it."""
    bad = '<script>alert(1)</script><img src=x onerror=alert(1)>"\u202e'
    _, _, address, at = server.start.split("/")
    text = '{"$":"Act","agent":1,"verb":' + f'"{bad}"'.replace('>"', '>\\"', 1) + "}"
    got = server.do("edit", address=address, at=int(at), step=1, text=text)
    assert got.status == 200, got.text
    for query in ("", "?edit=1", "?beside=" + "%3Cscript%3E", "?pair=%3Cscript%3E", "?words=%3Cscript%3E"):
        page = server.get(got.json["to"] + query).text
        assert "<script>alert" not in page and "<img" not in page and "\u202e" not in page
        assert "&lt;script&gt;" in page


def test_a_file_of_ones_own_is_loaded(server: Served) -> None:
    """As text, checked like any other."""
    place = broken()
    record = made_record(place, 3, one_inside(place))
    got = server.do("load", text=record.to_bytes().decode(), name="mine.json")
    assert got.status == 200 and got.json["note"] == "loaded: mine.json"
    changed = record.to_bytes().decode().replace('"always_free"', '"sticky"')
    with pytest.raises(BadRecord, match="sha256"):
        place_in(changed, "mine.json")
    assert server.do("load", text=changed, name="mine.json").status == 422
    assert Record.from_json(record.to_json()) == record
