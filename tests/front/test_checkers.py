"""Exported graphs: Spin counts the same states and finds the same invariants violated; TLA+ says the same graph."""

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
from tests.known.gallery import SYSTEMS, claims_of

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


@pytest.mark.parametrize("case", CASES)
def test_tla_has_the_graph_and_the_invariants(case: str, tmp_path: Path) -> None:
    """Read back by a plain reader and walked by a plain loop (TLC itself is not among the tools of the tests)."""
    found, text = exported(case, tmp_path / "graph.tla")
    assert text.startswith("---- MODULE graph ----") and text.endswith("====\n")
    after = [
        [int(one) for one in some.split(", ") if one]
        for some in re.findall(r"^  \{(.*)\},?$", text.partition("After == <<")[2].partition(">>")[0], re.M)
    ]
    init = re.search(r"^Init == s \\in \{(.+)\}$", text, re.M)
    assert init is not None
    seen, waiting = set[int](), [int(one) for one in init[1].split(", ")]
    while waiting:
        state = waiting.pop()
        if state not in seen:
            seen.add(state)
            waiting += after[state]
    assert (len(seen), len(after), sum(map(len, after))) == (found.states, found.states, found.edges)
    verdicts = {one.claim: one.holds for one in found.verdicts}
    bad = dict(re.findall(r"^Inv_(\w+) == s \\notin \{(.*)\}$", text, re.M))
    assert bad
    assert {name: not numbers for name, numbers in bad.items()} == {name: verdicts[name] for name in bad}


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
