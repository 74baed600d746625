"""Sweeps: the results of points, and that points do not affect each other."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.registry import find
from evenhand.jobs.plan import Job
from evenhand.smt.registry import stated
from evenhand.studies import sweeping
from evenhand.studies.sweeping import PointBounds, covering, default_system, points_of, sweep
from tests.front.conftest import Command

PINNED = json.loads((Path(__file__).parents[1] / "oracles" / "pinned.json").read_text("utf-8"))["free_agent"]["counts"]
OVER = {"agents": range(2, 5)}
FREE = points_of(Job("cud", "explore", "free"), OVER)
LATCH = points_of(Job("latch", "explore", "latch"), OVER)
NAMES = ("states", "transitions", "edges", "depth")


@pytest.mark.slow
def test_points_are_the_pinned_graphs(cli: Command, tmp_path: Path) -> None:
    """Counts of a second origin; the written file has the same points."""
    answer = cli("sweep", "cud", "--agents", "2..4", "--no-proofs", "--json", "--out", str(tmp_path))
    assert answer.code == 0, answer.err
    made = answer.json
    assert made["system"] == "free"  # the first whose names trade places
    for point in made["points"]:
        pinned = PINNED[f"{point['sizes']['agents']},2,2"]
        assert point["complete"] and point["method"] in ("explicit", "compiled")
        assert {name: point[name] for name in NAMES} == {name: pinned[name] for name in NAMES}
    assert json.loads((tmp_path / "sweep.json").read_text("utf-8"))["points"] == made["points"]
    assert [one.name for one in tmp_path.iterdir()] == ["sweep.json"]


def test_the_options_named_like_sizes_are_those_of_over(cli: Command) -> None:
    """Three ways to write the same grid, for a protocol outside the repository."""
    grids = [
        ("--agents", "2..3"),
        ("--agents=2..3",),
        ("--over", "agents=2..3"),
    ]
    made = [cli("sweep", "latch", *words, "--json", "--no-proofs").json for words in grids]
    assert [one["points"] for one in made] == [made[0]["points"]] * 3
    assert [point["states"] for point in made[0]["points"]] == [3, 4]  # empty, or one of the agents inside


def test_a_point_that_met_a_bound_is_undecided() -> None:
    """Of five sizes the largest is cut off; its coverage is reported."""
    over = {"agents": range(1, 6)}
    found = sweep(points_of(Job("latch", "explore", "latch"), over), over, PointBounds(max_states=5))
    assert [point.complete for point in found.points] == [True] * 4 + [False]
    assert [point.states for point in found.points] == [2, 3, 4, 5, 5]
    assert "a bound was met (5 states of a configuration)" in found.points[-1].because


def test_a_point_takes_no_more_than_its_time_and_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """One hangs after it reports progress, one dies, one raises; the fourth is complete."""
    whole = sweeping._measured  # pyright: ignore[reportPrivateUsage]

    def measured(bundle: Any, job: Job, bounds: PointBounds, method: str | None, tell: Any) -> dict[str, Any]:
        match dict(job.scope)["agents"]:
            case 2:
                tell(17, 23)
                time.sleep(60)
            case 3:
                os._exit(7)
            case 4:
                raise MemoryError("no more")
            case _:
                pass
        return whole(bundle, job, bounds, method, tell)

    monkeypatch.setattr(sweeping, "_measured", measured)
    over = {"agents": range(2, 6)}
    find("latch")  # so that the children inherit imported modules
    began = time.monotonic()
    found = sweep(points_of(Job("latch", "explore", "latch"), over), over, PointBounds(timeout=3), workers=4)
    assert time.monotonic() - began < 45
    slow, dead, broken, fine = found.points
    assert slow.because == "stopped after 3 s; at least 17 states and 23 steps were covered"
    assert "exit code 7" in dead.because and "MemoryError: no more" in broken.because
    assert fine.complete and fine.states == 6


def test_ctrl_c_keeps_what_was_finished(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the middle of the second point; the first is printed, the rest is named."""
    whole = sweeping._measured  # pyright: ignore[reportPrivateUsage]

    def measured(bundle: Any, job: Job, bounds: PointBounds, method: str | None, tell: Any) -> dict[str, Any]:
        if dict(job.scope)["agents"] == 3:
            (tmp_path / "asleep").touch()
            time.sleep(60)
        return whole(bundle, job, bounds, method, tell)

    monkeypatch.setattr(sweeping, "_measured", measured)

    def press() -> None:
        while not (tmp_path / "asleep").exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    pressed = threading.Thread(target=press, daemon=True)
    pressed.start()
    answer = cli("sweep", "latch", "--agents", "2..4", "--jobs", "1", "--json")
    pressed.join(timeout=1)
    assert answer.code == 130, answer.err
    assert [point["sizes"] for point in answer.json["points"]] == [{"agents": 2}]
    assert answer.json["interrupted"] and answer.json["unfinished"] == [{"agents": 3}, {"agents": 4}]


def test_undecided_points_end_with_exit_3_and_are_named(cli: Command) -> None:
    """In the table and below it."""
    answer = cli("sweep", "latch", "--agents", "1..5", "--max-states", "4", "--no-proofs")
    assert answer.code == 3, answer.err
    assert answer.out.count("UNDECIDED:") == 2
    assert "points that met a bound are UNDECIDED; their counts cover the part before the bound" in answer.out


def test_a_claim_is_decided_at_every_point(cli: Command) -> None:
    """It holds on the reference; a mutant's refutation is exit 1; where a bound was met it is undecided."""
    words = ("sweep", "latch", "--agents", "2..3", "--claim", "one_inside", "--json", "--no-proofs")

    def verdicts(*more: str) -> tuple[int, list[str]]:
        answer = cli(*words, *more)
        return answer.code, [point["verdicts"][0]["status"] for point in answer.json["points"]]

    assert verdicts() == (0, ["HOLDS", "HOLDS"])
    assert verdicts("--mutant", "always_free") == (1, ["REFUTED", "REFUTED"])
    assert verdicts("--max-states", "3") == (3, ["HOLDS", "UNDECIDED"])


def test_the_theorem_stands_beside_only_if_it_covers_all_that_is_swept() -> None:
    """By claim, readings and the words of its own scope; no theorem of cud covers `values`."""
    every = stated("cud")
    claims = [claim.name for claim in find("cud").claims_of("free")]
    named = covering(every, "free", claims, ["agents", "keys"], {})
    assert set(named) == {"livelock_counter_is_faithful", "no_livelock_with_progress"}
    assert covering(every, "free", claims, ["agents", "values"], {}) == ()
    assert covering(every, "free", [], ["agents"], {}) == ()
    assert not set(named) & set(covering(every, "run", claims, ["agents", "keys"], {})), "of a system of its own"
    bounded = [replace(one, scope="two agents") for one in every]
    assert covering(bounded, "free", claims, ["agents"], {}) == ()
    other = [one for one in every if one.readings]
    told = [one.claim.name for one in other]
    assert other and all(covering([one], one.system, told, ["agents"], {}) == () for one in other)


@pytest.mark.deep
def test_the_proof_is_made_and_timed_beside_the_points(cli: Command) -> None:
    """One theorem of the swept system."""
    answer = cli("sweep", "cud", "--agents", "2..3", "--claim", "no_livelock_with_progress", "--json")
    assert answer.code == 0
    (theorem,) = answer.json["theorems"]
    assert (theorem["name"], theorem["verdict"]) == ("no_livelock_with_progress", "HOLDS")
    assert "any number of agents" in theorem["covers"]
    assert answer.json["timing"]["proofs"]["no_livelock_with_progress"] > 0


def test_the_same_sweep_is_the_same_bytes_apart_from_clocks(process: Command) -> None:
    """Under two hash seeds and numbers of processes."""
    words = ("sweep", "latch", "--agents", "2..3", "--json", "--no-proofs")
    one = process(*words, "--jobs", "1", PYTHONHASHSEED="1").json
    two = process(*words, "--jobs", "2", PYTHONHASHSEED="2").json
    assert one.pop("timing") and two.pop("timing")
    assert one == two


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--agents", "3..2"], "'agents=3..2' is empty: 2 comes before 3; write the smaller size first"),
        (["--agents"], "--agents has no sizes"),
        (["2..3"], "'2..3' is no option"),
        (["--agents", "2..x"], "'agents=2..x' is not of the form PARAMETER=A..B"),
        (["--agents", "1..999"], "999 points are more than one sweep takes"),
        (["--agents", "2..3", "--scope", "agents=2"], "'agents' is both fixed by --scope and swept"),
        ([], "nothing to sweep"),
        (["--agents", "2..3", "--locks", "1"], "unknown size of latch: 'locks'; there is: agents"),
    ],
)
def test_sizes_that_are_none_say_so(cli: Command, words: list[str], said: str) -> None:
    """Before anything runs."""
    answer = cli("sweep", "latch", *words)
    assert answer.code == 2 and said in answer.err and not answer.out


def test_a_size_that_the_model_refuses_is_bad_use(cli: Command) -> None:
    """The message is the model's own."""
    answer = cli("sweep", "cud", "--agents", "0..2")
    assert answer.code == 2 and "agents must be 1 to 9, not 0" in answer.err


def test_the_system_swept_is_one_that_has_the_sizes() -> None:
    """If no system has all of them, the message lists the sizes of each."""
    cud = find("cud")
    assert default_system(cud, ["agents"]) == "free" and default_system(cud, ["epochs"]) == "run"
    with pytest.raises(ValueError, match=r"no system of cud has the sizes epochs, values; there is: run \(agents"):
        default_system(cud, ["epochs", "values"])
