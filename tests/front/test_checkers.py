"""Exported graphs: Spin and TLC count the same states and find the same invariants violated."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.registry import find
from evenhand.report.graph import exporter
from evenhand.search import explore
from tests.known.gallery import FILES, SYSTEMS, claims_of, systems_of
from tests.known.tlc import Said, needs_tlc, tlc

needs_spin = pytest.mark.skipif(shutil.which("spin") is None or shutil.which("cc") is None, reason="Spin is missing")


MARKS = find("markspace")
CASES: dict[str, tuple[Any, list[Any]]] = {
    "hasty": (SYSTEMS["two_phase"].hasty, claims_of("two_phase")),
    "die_hard": (SYSTEMS["die_hard"].die_hard, claims_of("die_hard")),
    "markspace": (
        MARKS.model.systems["first_writer"],
        [claim for claim in MARKS.claims_of("first_writer") if claim.name == "mutual_exclusion"],
    ),
}


def exported(case: str, path: Path) -> tuple[Any, str]:
    """Write the graph of the first configuration, and return what the search says of that one alone."""
    system, claims = CASES[case]
    config = next(iter(system.all_configs()))
    found = explore(system, claims, configs=[config])
    exporter(path)(found.to_networkx(), claims)
    return found, path.read_text("utf-8")


def spin(folder: Path, *options: str) -> tuple[int, int]:
    """Return the states that Spin stores and the errors that it finds."""
    for command in (["spin", "-a", *options, "graph.pml"], ["cc", "-DNOREDUCE", "-o", "pan", "pan.c"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    done = subprocess.run(
        ["./pan", "-m100000", "-c0"], cwd=folder, check=True, capture_output=True, timeout=60, text=True
    )
    stored, errors = (re.search(form, done.stdout) for form in (r"(\d+) states, stored", r"errors: (\d+)"))
    assert stored is not None and errors is not None
    return int(stored[1]), int(errors[1])


@needs_spin
@pytest.mark.parametrize("case", CASES)
def test_spin_confirms_states_and_invariants(case: str, tmp_path: Path) -> None:
    """One state more than here is where every run starts."""
    found, text = exported(case, tmp_path / "graph.pml")
    assert spin(tmp_path) == (found.states + 1, 0)
    verdicts = {one.claim: one.holds for one in found.verdicts}
    checks = re.findall(r"-DCHECK_(\w+)", text)
    assert checks
    for name in checks:
        stored, errors = spin(tmp_path, f"-DCHECK_{name}")
        assert (stored, errors == 0) == (found.states + 1, verdicts[name]), name


@needs_spin
def test_spin_notices_a_wrong_file(tmp_path: Path) -> None:
    """A step less: a state that nothing leads to is not counted."""
    found, text = exported("hasty", tmp_path / "graph.pml")
    last = str(found.states - 1)
    table = re.search(r"after\[\] = \{(.+?)\}", text)
    assert table is not None
    others = ["0" if number == last else number for number in table[1].split(", ")]
    (tmp_path / "graph.pml").write_text(text.replace(table[1], ", ".join(others)))
    assert spin(tmp_path)[0] == found.states


def tlc_on(text: str, folder: Path) -> dict[str, Said]:
    """Return what TLC says of an exported module, once for each of its invariants, as one may hide another."""
    names: list[str] = re.findall(r"^Inv_(\w+) ==", text, re.M)
    said = {name: tlc(text, ["SPECIFICATION Spec", f"INVARIANT Inv_{name}"], folder) for name in names}
    return said or {"": tlc(text, ["SPECIFICATION Spec"], folder)}


def confirmed(case: str, folder: Path) -> None:
    """TLC generates the initial states and every edge, and finds violated what is violated here."""
    found, text = exported(case, folder / "graph.tla")
    verdicts = {one.claim: one.holds for one in found.verdicts}
    system, _ = CASES[case]
    starts = len(set(system.initial(next(iter(system.all_configs())))))
    for name, answer in tlc_on(text, folder).items():
        assert (answer.generated, answer.distinct) == (starts + found.edges, found.states), name
        assert (answer.violated == set()) == verdicts.get(name, True), name


@pytest.mark.slow
@needs_tlc
@pytest.mark.parametrize("case", CASES)
def test_tlc_confirms_states_edges_and_invariants(case: str, tmp_path: Path) -> None:
    """Systems of one's own, and a built-in one; the configuration in the file names every invariant."""
    confirmed(case, tmp_path)
    text = (tmp_path / "graph.tla").read_text("utf-8")
    config = re.search(r"^ +graph\.cfg:  (.+)$", text, re.M)
    assert config is not None
    verdicts = {one.claim: one.holds for one in exported(case, tmp_path / "graph.tla")[0].verdicts}
    said = tlc(text, [config[1]], tmp_path)
    assert bool(said.violated) == (not all(verdicts[name] for name in re.findall(r"Inv_(\w+)", config[1])))


@needs_tlc
def test_tlc_notices_a_wrong_file(tmp_path: Path) -> None:
    """An edge less, and a state that violates the invariant no more."""
    found, text = exported("die_hard", tmp_path / "graph.tla")
    text = re.sub(r"^  \{0, ", "  {", text, count=1, flags=re.M)
    said = tlc_on(re.sub(r"s \\notin \{.+\}", r"s \\notin {}", text), tmp_path)
    for answer in said.values():
        assert answer.generated == found.edges and answer.violated == set()
    assert not all(one.holds for one in found.verdicts)


@pytest.mark.deep
@needs_tlc
@pytest.mark.parametrize("name", FILES)
def test_tlc_confirms_the_gallery(name: str, tmp_path: Path) -> None:
    """Every system of a file, and its twin."""
    for system in systems_of(name):
        CASES[system.name] = (system, claims_of(name))
        confirmed(system.name, tmp_path)


def test_part_of_a_graph_and_components_are_refused(tmp_path: Path) -> None:
    """A count of them would mislead the other checker."""
    system, claims = CASES["die_hard"]
    write = exporter(tmp_path / "graph.pml")
    with pytest.raises(ValueError, match="ended at a bound"):
        write(explore(system, max_states=5).to_networkx(), claims)
    with pytest.raises(ValueError, match="not components"):
        write(explore(system).condensation(), claims)
    large = explore(SYSTEMS["paxos"].paxos).to_networkx()
    with pytest.raises(ValueError, match="Spin takes at most"):
        write(large, [])
    assert not list(tmp_path.iterdir())
