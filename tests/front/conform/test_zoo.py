"""The zoo of strangers' kernels: its lists, and how its benchmark counts."""

from __future__ import annotations

import tomllib
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.zoo import __main__ as zoo
from benchmarks.zoo.__main__ import adapter_of, assigned, defects_of, kernels, total
from benchmarks.zoo.table import markdown
from evenhand.conform.adapters import Unsupported
from evenhand.conform.adapters.host import load_factory
from evenhand.core.codec import encode
from evenhand.core.registry import find
from evenhand.model.sovereign.state import Check, Restart, Use
from tests.front.conftest import ROOT

ZOO = ROOT / "benchmarks/zoo"
KERNELS = tuple(kernels([]))


def test_every_kernel_has_an_adapter_and_four_to_ten_defects() -> None:
    """At least six kernels of each protocol; each list names kernels that are there."""
    homes = {(path.parent.parent.name, path.parent.name) for path in ZOO.glob("*/*/README.md")}
    assert set(KERNELS) == homes
    for protocol in ("apcm", "conviction", "cud", "markspace", "sovereign"):
        own = [kernel for named, kernel in KERNELS if named == protocol]
        assert len(own) >= 6
        assert all(4 <= len(defects_of(protocol, kernel)) <= 10 for kernel in own)
        listed = tomllib.loads((ZOO / protocol / "defects.toml").read_text("utf-8"))
        assert {one["kernel"] for one in listed["defect"]} == set(own)
        assert set(listed.get("readings", {})) <= set(own)


@pytest.mark.parametrize(("protocol", "kernel"), KERNELS)
def test_every_adapter_loads(protocol: str, kernel: str) -> None:
    """Nothing is started by that."""
    assert callable(load_factory(adapter_of(protocol, kernel)))


def test_a_refused_or_restarted_executor_is_asked_as_the_model_means_it() -> None:
    """It holds what it held, or nothing: a kernel that holds nothing itself was accused of an effect, or of none."""
    chosen = {"budget_count": "last", "path_rule": "normal_form", "reported_gate": "furthest"}
    system = find("sovereign").model.systems["agent"].under(**chosen)
    config = next(iter(system.all_configs()))
    start = next(iter(system.initial(config)))
    initial = {"protocol": "sovereign", "system": "agent", "config": encode(config), "start": encode(start)}
    steps = (system.take(config, start, action) for action in system.enabled(config, start))
    decided = next(one for one in steps if one.shown.decision is not None and one.shown.decision.warrant is not None)
    warrant = decided.shown.decision.warrant
    named = (warrant, replace(warrant, created_at=""), replace(warrant, bundle="nobody"))
    check, forged, misnamed = (Check("first", one, warrant.request) for one in named)

    def shown(*actions: object) -> Any:
        kernel = load_factory(adapter_of("sovereign", "sqlite_rules"))(initial)
        return [kernel.step(encode(action)) for action in (decided.action, *actions)][-1]

    assert shown(check, check, Use("first"))["effects"]
    with pytest.raises(Unsupported, match="in the same hands"):
        shown(check, forged)
    assert shown(forged, Use("first"))["rejected"] and shown(misnamed, Use("first"))["rejected"]
    (candidate,) = decided.action.candidates
    for path, taken in (("./workspace/../artifacts/law", True), ("./workspace/absent/../y", False)):
        asked = replace(candidate.request, action_type="ReadLocal", fields=(("path", path),))
        kernel = load_factory(adapter_of("sovereign", "sqlite_rules"))(initial)
        with nullcontext() if taken else pytest.raises(Unsupported, match="no directory"):
            kernel.step(encode(replace(decided.action, candidates=(replace(candidate, request=asked),))))
    assert shown(check, Restart("second"), Use("first"))["effects"]
    assert shown(check, Restart("first"), Use("first")) == shown(Use("first"))


def test_a_finding_tells_one_defect() -> None:
    """As many defects as can be assigned are told, whatever the order."""
    shown = {"a": [1, 2], "b": [1], "c": [1], "d": []}
    told = assigned(shown)
    assert len(told) == 2 and told["a"] == 2
    assert assigned({"a": [1], "b": [1, 2], "c": [2, 3]}) == {"a": 1, "b": 2, "c": 3}
    assert assigned({"a": [7], "b": [7]}) == {"a": 7}


def test_each_further_check_is_of_the_kernel_without_what_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with a check that tells nothing, or after so many."""
    asked: list[list[str]] = []

    def judged(_protocol: str, _kernel: str, planted: list[str], _seconds: float | None) -> dict[str, Any]:
        asked.append(planted)
        return {"told": dict.fromkeys((name for name in planted if name != "masked"), 1) if len(asked) == 1 else {}}

    monkeypatch.setattr(zoo, "judged", judged)
    assert list(zoo.later("cud", "classes", ["b", "masked", "a"], None, 9)) == [["a", "b"]]
    assert asked == [["b", "masked", "a"], ["masked"]]
    asked.clear()
    assert list(zoo.later("cud", "classes", ["b", "masked"], None, 1)) == [["b"]]
    assert asked == [["b", "masked"]]


def test_the_table_has_a_row_for_every_defect() -> None:
    """Told, shown by another's finding alone, and told only where others are mended."""
    row = {
        "kernel": "cud/classes", "planted": 3, "told": 1, "false_findings": 0, "findings": 1, "sightings": 9,
        "explained": 9, "cpu_seconds": 12.5, "check_seconds": 6.5, "claims": ["no_winner"],
        "ranks": {"a": 1, "b": None, "c": None}, "shown": {"a": [1], "b": [1], "c": []},
        "later": [["c"]],
    }  # fmt: skip
    lines = markdown([row], total([row])).splitlines()
    assert "| cud/classes | `a` | `no_winner` | 1 | 6.5 |" in lines
    assert "| cud/classes | `b` | not told; shows in 1 of another |  | 6.5 |" in lines
    assert "| cud/classes | `c` | not told; told by check 2 |  | 6.5 |" in lines
    assert any(line.startswith("| all | 3 | 1 | 0 |") for line in lines)


def test_the_kept_table_is_of_these_kernels() -> None:
    """Each row of the document names a kernel and a defect that are listed."""
    page = Path(ROOT / "docs/explanation/zoo.md").read_text("utf-8")
    listed = {
        (f"{protocol}/{kernel}", one["name"]) for protocol, kernel in KERNELS for one in defects_of(protocol, kernel)
    }
    cells = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    rows = {(row[0], row[1].strip("`")) for row in cells if len(row) > 3 and "/" in row[0] and row[1].startswith("`")}
    assert rows
    assert rows <= listed
