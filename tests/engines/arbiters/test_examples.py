"""The adapters of docs/examples/examine, run with the packages whose rules they show."""

from __future__ import annotations

import itertools
import re
import runpy
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import pytest

from evenhand.arbiters.loading import factory_at
from evenhand.core.verdict import Status
from evenhand.examination import Examination, examine
from tests.deep import rest_deep

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs/examples/examine"
NEEDS = {"langgraph": "langgraph", "lbforaging": "lbforaging", "pref": "pref_voting", "simpy": "simpy"}
FOUND = {
    "langgraph_reducers.py:KeepLast": {"names": "the greatest name has its choice taken"},
    "langgraph_reducers.py:Appended": {"names": ""},
    "langgraph_reducers.py:Merged": {},
    "langgraph_reducers.py:Unannotated": {},
    "lbforaging_step.py:Row": {"exclusion": "after round 1 bob and cid both hold 2"},
    "pref_voting_methods.py:borda": {},
    "pref_voting_methods.py:instant_runoff": {},
    "pref_voting_methods.py:essential": {"labels": ""},
    "pref_voting_methods.py:ranked_pairs_tb": {"labels": ""},
    "pref_voting_methods.py:ranked_pairs_zt": {"listing order": ""},
    "pref_voting_methods.py:plurality_veto": {"listing order": ""},
    "pref_voting_methods.py:plurality_chosen": {"repetition": "random: "},
    "simpy_resource.py:Pump": {"listing order": "the first in `agents` gets 'served at 0'"},
}
"""Kernel → the questions that find something, and how the answers begin; `networkx_matching` has a test of its own."""


def kernel_of(name: str, **more: Any) -> Callable[..., Any]:
    """Return a kernel of the folder, under a place that no other process can import."""
    pytest.importorskip(NEEDS.get(name.split("_")[0], "networkx"))
    kernel: Any = factory_at(f"{FOLDER}/{name}")
    return type(kernel.__name__, (kernel,), {"__module__": "__main__", **more})


def examined(kernel: Callable[..., Any], allow: dict[str, str] | None = None) -> Examination:
    """Examine with few draws and enough time."""
    return examine(kernel, examples=2, seconds=240, allow=allow)


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_deep(FOUND, 5))
def test_what_decides_in_real_code(name: str) -> None:
    """The findings that the page states, by the shortest witnesses; the documented rule makes the rest clean."""
    small = {"most": 2} if name.startswith("pref") else {}
    allow = runpy.run_path(str(FOLDER / "table.py"))["KERNELS"][name]
    found = examined(kernel_of(name, **small), allow)
    refuted = {one.question: one for one in found.answers if one.status is Status.REFUTED}
    assert refuted.keys() == FOUND[name].keys(), found
    assert found.clean == (refuted.keys() == allow.keys()), found
    for question, named in FOUND[name].items():
        assert refuted[question].named.startswith(named)
        witness = refuted[question].witness
        assert witness is not None and len(witness.play.rounds) == 1
        assert len(witness.play.agents) == (3 if question == "exclusion" else 2)


@pytest.mark.slow
def test_the_hash_seed_matches_workers() -> None:
    """Other processes with other hash seeds match other workers; networkx's page promises none."""
    place = f"{FOLDER}/networkx_matching.py:HopcroftKarp"
    found = examine(factory_at(place), place=place, examples=2, seconds=240)
    assert "hash seed" in {one.question for one in found.found}, found


MODULES = ("scoring", "iterative", "c1", "margin_based", "combined", "other", "stochastic")
RANKINGS = list(itertools.permutations(range(3)))


def methods(module: str) -> Iterator[tuple[str, Any]]:
    """Yield the voting methods that a module of pref_voting defines, each under one name."""
    pytest.importorskip("pref_voting")
    found: Any = __import__(f"pref_voting.{module}_methods", fromlist=["*"])
    kind = __import__("pref_voting.voting_method", fromlist=["*"]).VotingMethod
    members = cast("dict[str, Any]", vars(found))
    for name, method in list(members.items()):  # kernels of methods import more of the package
        own = isinstance(method, kind) and (method.__module__, method.__name__) == (found.__name__, name)
        if own and not name.startswith("_"):
            yield name, method


def by_enumeration(method: Any) -> str:
    """Return what every profile of two voters and three candidates says about a method."""
    profile_of = __import__("pref_voting.profiles", fromlist=["Profile"]).Profile

    def winners(votes: Any) -> frozenset[int]:
        return frozenset(method(profile_of([list(one) for one in votes])))

    anonymous = neutral = True
    for votes in itertools.product(RANKINGS, repeat=2):
        try:
            result = winners(votes)
        except Exception:
            return "refuses"
        if any(winners(votes) != result for _ in range(5)):
            return "random"
        anonymous = anonymous and winners(votes[::-1]) == result
        for names in RANKINGS:
            renamed = [tuple(names[one] for one in vote) for vote in votes]
            neutral = neutral and winners(renamed) == frozenset(names[one] for one in result)
    return _class(anonymous, neutral)


def _class(anonymous: bool, neutral: bool) -> str:
    return f"{'' if anonymous else 'not '}anonymous, {'' if neutral else 'not '}neutral"


def by_examination(name: str) -> str:
    """Return what the answers say about a method, on the same profiles."""
    found = {one.question: one for one in examined(kernel_of(f"pref_voting_methods.py:{name}", most=2)).answers}
    for question, result in (("answers", "refuses"), ("repetition", "random")):
        if found[question].status is Status.REFUTED:
            return result
    decided = {question: found[question].status for question in ("listing order", "labels")}
    assert Status.UNDECIDED not in decided.values(), found
    return _class(decided["listing order"] is Status.HOLDS, decided["labels"] is Status.HOLDS)


@pytest.mark.deep
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.filterwarnings("ignore")
def test_voting_methods_are_parted_as_enumeration_parts_them(module: str) -> None:
    """Anonymous, neutral, neither: each method of the module, on all profiles of two voters and three candidates."""
    parted = {name: (by_examination(name), by_enumeration(method)) for name, method in methods(module)}
    assert parted
    assert not {name: both for name, both in parted.items() if both[0] != both[1]}
    expected = {"margin_based": "not anonymous, neutral", "iterative": "anonymous, not neutral", "other": "random"}
    assert expected.get(module, "") in {"", *(both[0] for both in parted.values())}


def test_the_page_states_what_is_found() -> None:
    """Each kernel of table.py has its rows on the page: its findings, and no other."""
    stated: dict[str, set[str]] = {}
    kernel = ""
    for cells in re.findall(r"^\| (.*) \|$", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE):
        name, question, answer, *_ = (cell.strip() for cell in cells.split(" | "))
        kernel = name.partition("`")[2].rstrip("`") or kernel
        stated.setdefault(kernel, set()).update({question} if answer != "nothing decides" else set())
    found = {name.rpartition(":")[2]: set(questions) for name, questions in FOUND.items()}
    assert {name: stated.get(name) for name in found} == found
    assert stated["HopcroftKarp"] == {"hash seed"}


def test_adapters_are_short_and_tell_the_version_they_quote() -> None:
    """At most 40 lines; the version in the docstring is the one pinned and installed."""
    pinned = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for file in sorted(FOLDER.glob("*_*.py")):
        text = file.read_text("utf-8")
        assert len(text.splitlines()) <= 40, file.name
        package = NEEDS.get(file.stem.split("_")[0])
        if package is not None:
            pytest.importorskip(package)
            quoted = re.search(r"\((\d+\.\d+\.\d+)\)", text)
            assert quoted is not None and quoted[1] == version(package), file.name
            assert f"{package}=={quoted[1]}" in pinned["examine-examples"]
