"""The pinned counts, each from at least two origins that share nothing with the engines or the models.

Tests of the engines read `pinned.json`; these tests justify its numbers.
"""

from __future__ import annotations

import importlib.util
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evenhand.model.cud.protocol import CUD

HERE = Path(__file__).parent
PINNED: dict[str, Any] = json.loads((HERE / "pinned.json").read_text("utf-8"))
FREE: dict[str, dict[str, int]] = PINNED["free_agent"]["counts"]
UNIVERSE: dict[str, dict[str, Any]] = PINNED["universe"]["counts"]
SMALL = ("2,2,2", "3,2,2")
MURPHI = HERE.parents[1] / "benchmarks" / "free_agent.m"


def module(name: str) -> ModuleType:
    """Return a fresh copy of an oracle beside this file: tests may break theirs."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def sizes(key: str) -> list[int]:
    """Return `3,2,2` as agents, keys, values."""
    return [int(part) for part in key.split(",")]


@pytest.mark.parametrize("key", [*SMALL, "3,3,2", "4,2,2", pytest.param("4,3,2", marks=pytest.mark.deep)])
def test_folded_enumeration_gives_the_pinned_graph(key: str) -> None:
    """Effects once per set of active agents."""
    assert module("free_agent_graph").folded(*sizes(key))._asdict() == FREE[key]


@pytest.mark.parametrize("key", [*SMALL, *(pytest.param(k, marks=pytest.mark.deep) for k in ("3,3,2", "4,2,2"))])
def test_naive_enumeration_gives_the_pinned_graph(key: str) -> None:
    """Every joint choice from every state."""
    assert module("free_agent_graph").naive(*sizes(key))._asdict() == FREE[key]


def _everything(*_: object) -> bool:
    return True


def _forgetful(state: Any, happened: Any) -> Any:
    return (*honest_after(state, happened)[:2], 0)


honest_after = module("free_agent_graph").after


@pytest.mark.parametrize(("name", "fault"), [("admitted", _everything), ("after", _forgetful)])
def test_a_fault_in_the_enumeration_moves_the_counts(name: str, fault: Any) -> None:
    """Pass 1 skipped; a counter that never counts."""
    oracle = module("free_agent_graph")
    setattr(oracle, name, fault)
    assert oracle.folded(2, 2, 2)._asdict() != FREE["2,2,2"]


@pytest.mark.parametrize("key", sorted(UNIVERSE))
def test_universe_formula_enumeration_and_pin_agree(key: str) -> None:
    """Derived by hand, counted one by one, and the printed numbers of the formula."""
    oracle, (holder, kinds) = module("universe"), key.split(",")
    pinned = UNIVERSE[key]["joint_requests"]
    assert oracle.closed_form(holder, int(kinds)) == oracle.enumerated(holder, int(kinds)) == pinned
    printed = {
        "harness,9": 755**2 + 2 * 41 * 530 + 26**2 + 15 * 796**2,
        "harness,7": 725**2 + 2 * 39 * 500 + 24**2 + 15 * 764**2,
        "one_agent,7": 725**2 + 2 * 39 * 500 + 24**2 + 15 * (725 * 764 + 39 * 524),
    }
    assert printed[key] == pinned


@pytest.mark.parametrize("holder", ["harness", "one_agent"])
@pytest.mark.parametrize("malformed", [0, 1, 3])
def test_universe_formula_holds_for_other_numbers_of_malformed_kinds(holder: str, malformed: int) -> None:
    """A formula for one number alone could be a fit."""
    oracle = module("universe")
    assert oracle.closed_form(holder, malformed) == oracle.enumerated(holder, malformed)


def test_the_model_offers_the_pinned_universe() -> None:
    """Menus of the model's own system, multiplied; independent of the two origins."""
    system: Any = CUD.systems["universe"]
    joint = system.joint
    layouts = joint_requests = 0
    for config in system.all_configs():
        (state,) = system.initial(config)
        menus = [list(joint.choices(config, system.scope, state, agent)) for agent in joint.agents(config, state)]
        assert [len(set(menu)) for menu in menus] == [len(menu) for menu in menus]
        layouts += 1
        joint_requests += math.prod(len(menu) for menu in menus)
    assert (layouts, joint_requests) == (4096, UNIVERSE["harness,9"]["joint_requests"])


@pytest.mark.deep
@pytest.mark.skipif(not shutil.which("rumur") or not shutil.which("cc"), reason="needs rumur and a C compiler")
@pytest.mark.parametrize("key", ["2,2,2", "3,2,2", "3,3,2"])
def test_murphi_model_gives_the_pinned_states_and_transitions(key: str, tmp_path: Path) -> None:
    """A third origin, in another language and another checker."""
    text = MURPHI.read_text("utf-8")
    for name, size in zip("NKV", sizes(key), strict=True):
        text = text.replace(f"  {name}: 2;", f"  {name}: {size};")
    (tmp_path / "free.m").write_text(text, "utf-8")
    steps = [
        ["rumur", "--deadlock-detection", "off", "--output", "free.c", "free.m"],
        ["cc", "-O2", "-mcx16", "-std=c11", "-o", "free", "free.c", "-lpthread"],
        ["./free"],
    ]
    output = ""
    for step in steps:
        output = subprocess.run(step, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=300).stdout
    assert f"{FREE[key]['states']} states, {FREE[key]['transitions']} rules fired" in output, sys.version
