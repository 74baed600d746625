"""Searches that go on on a disk find what searches in memory find, to the last parent, and leave nothing behind.

| fault | what is wrong | noticed by |
|---|---|---|
| hashes_believed | two states with one hash are taken for one | objects_agree |
| last_record_lost | the last of the parents of each state is forgotten | objects_agree |
| leaves_by_value | 0.0 and -0.0 are one leaf | packing_is_exact |
"""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evenhand.core.property import Always, DeterminedBy, Property, Reachable
from evenhand.core.verdict import Status
from evenhand.model.cud.free_system import FREE
from evenhand.search import Exploration, ModelError, disk_visited, explore, memory, packing, spilling
from evenhand.search.packing import Packing
from evenhand.search.spilling import Folder, SpillFailed, SqliteDisk
from tests.engines.search.suite import claims_about, joint_claims
from tests.engines.search.tables.test_same_graph import PINNED
from tests.models.random_systems import joint_system, table_system
from tests.models.two_phase_commit import CLAIMS, two_phase_commit

HELD = Always(name="held", sentence="", check=lambda _config, _state: True)
FEW = 1
"""Bytes: every process holds more, so every search goes to its disk at once."""


def facts(found: Exploration) -> tuple[Any, ...]:
    """Return all results of a search, apart from its bound."""
    return (
        *(getattr(found, name) for name in ("states", "transitions", "edges", "depth", "complete", "reach")),
        *((v.status, v.because, v.coverage, repr(v.evidence), v.evidence) for v in found.verdicts),
    )


def agree(system: Any, about: Sequence[Property], folder: Path, method: str | None, **bounds: Any) -> None:
    """Compare the search with a disk and without."""
    near = explore(system, about, method=method, **bounds)
    far = explore(system, about, method=method, max_memory=FEW, spill=Folder(folder), **bounds)
    assert near.spilled == 0 and far.method == near.method
    starts = sum(len(dict.fromkeys(system.initial(config))) for config in system.all_configs())
    assert far.spilled == far.states - starts, "it did not spill"  # the initial states stay in memory
    assert facts(far) == facts(near)


def objects_agree(folder: Path, seeds: range = range(6)) -> None:
    """Compare explicit search with every kind of claim."""
    for seed in seeds:
        agree(
            table_system(seed, states=5 + 3 * (seed % 5), tables=1 + seed % 2), claims_about(seed), folder, "explicit"
        )
    for seed in seeds[:4]:
        agree(joint_system(seed), joint_claims(seed), folder, "explicit")
    by_target = DeterminedBy(name="by", sentence="", key=lambda step: step.after, value=lambda step: step.before)
    agree(two_phase_commit(2), (*CLAIMS, by_target), folder, "explicit")


class Colour(Enum):
    """Two members, for leaves."""

    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    """A named tuple."""

    left: Any
    right: Any


@dataclass(frozen=True)
class Node:
    """A record of any value."""

    parts: Any
    more: Any = None


@dataclass(frozen=True, slots=True)
class Slotted:
    """A record without a dictionary."""

    value: Any


@dataclass(frozen=True)
class Noted(Slotted):
    """A record that holds more than its fields, of which one has a slot."""

    more: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "note", f"made of {self.value}")


@dataclass(frozen=True)
class Spelled:
    """A record with an equality of its own."""

    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spelled) and other.text.lower() == self.text.lower()

    def __hash__(self) -> int:
        return hash(self.text.lower())


class Hidden(Pair):
    """A named tuple that gives an item another value."""

    @property
    def left(self) -> Any:
        """Never the item."""
        return None


class Listed(tuple[Any, ...]):
    """A tuple of another class."""


class Odd:
    """A class that cannot be packed."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Odd({self.value})"


def packing_is_exact(_folder: Path) -> None:
    """Unpacked values are equal, and of the same types at every depth."""
    values: list[Any] = [
        *(0, 1, True, False, None, -1, 2**29 - 1, 2**29, 2**80, "", "a", "1", 1.0, Fraction(1, 3), Fraction(1), b"x"),
        *(Colour.RED, Colour.BLUE, (), ((),), (1, True), (True, 1), frozenset(), frozenset({1, (2, "x")})),
        *(Pair(1, "x"), Node((Pair(Colour.RED, None), frozenset({Node(1)})), Slotted(True)), Slotted(Node(()))),
        *(Odd(3), Node(Odd(4), (Odd(4),)), Spelled("a"), Spelled("A"), Hidden(1, 2), -0.0, 0.0),
        *(Listed((1,)), Listed((True,)), Noted(True), Noted(1)),
    ]
    made = Packing()
    for body, value in [(made.pack(value), value) for value in values]:
        back = made.unpack(body)
        assert back == value and repr(back) == repr(value) and type(back) is type(value)
    for value in (1, True, 2):
        assert made.unpack(made.pack((1, Noted(value))))[1].note == f"made of {value}"
    assert Packing().pack((1, True)) != Packing().pack((True, True))


CHECKS: dict[str, Callable[[Path], None]] = {check.__name__: check for check in (objects_agree, packing_is_exact)}


@pytest.mark.parametrize("name", CHECKS)
def test_memory_and_disk_agree(name: str, tmp_path: Path) -> None:
    """On random small systems; no file is left in the folder."""
    CHECKS[name](tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_states_with_one_hash_stay_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For any quality of hashes; a look-up that always misses memory finds the same."""
    monkeypatch.setattr(disk_visited, "hash", lambda _state: 7, raising=False)
    monkeypatch.setattr(disk_visited, "RECENT", 0)
    objects_agree(tmp_path, range(4))


def test_objects_may_leave_memory_midway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier states stay in memory, later ones do not; evidence runs through both."""
    goal = Reachable(name="late", sentence="", goal=lambda step: "commit" in step.after.sent)
    near = explore(two_phase_commit(3), (*CLAIMS, goal), method="explicit")
    asks = count(1)
    monkeypatch.setattr(memory.MemoryBudget, "spent", lambda _self: next(asks) == 2)
    far = explore(two_phase_commit(3), (*CLAIMS, goal), method="explicit", max_memory=FEW, spill=Folder(tmp_path))
    assert 0 < far.spilled < 200 and facts(far) == facts(near)


@pytest.mark.parametrize("method", ["explicit", None])
def test_a_pinned_scope(method: str | None, tmp_path: Path) -> None:
    """277 states, 80,864 joint choices, which two enumerators and Rumur agree on."""
    pinned = PINNED["free_agent"]["counts"]["3,2,2"]
    goal = Reachable(name="limit", sentence="", goal=lambda step: step.after.counter == 3)
    found = explore(FREE.at(agents=3), [goal], method=method, max_memory=FEW, spill=Folder(tmp_path))
    assert (found.method, found.spilled) == ("explicit", 276) and "what the disk gave back" in found.verdicts[
        0
    ].trusted_base
    counted = {name: getattr(found, name) for name in ("states", "transitions", "edges", "depth")}
    assert counted | {"to_limit": found.reach["limit"]} == pinned


def test_several_processes_have_a_file_each(tmp_path: Path) -> None:
    """The results are the same."""
    about = claims_about(1)
    near = explore(table_system(1, states=9, tables=2), about, method="explicit")
    far = explore(
        table_system(1, states=9, tables=2), about, method="explicit", max_memory=FEW, spill=Folder(tmp_path), jobs=2
    )
    assert far.spilled and facts(far) == facts(near) and list(tmp_path.iterdir()) == []


def test_what_claims_remember_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If memory is exhausted again after the search moved to the disk, it ends UNDECIDED, with the coverage."""

    def spent(self: memory.MemoryBudget) -> bool:
        return self.bound is not None

    monkeypatch.setattr(memory.MemoryBudget, "spent", spent)
    found = explore(two_phase_commit(3), [HELD], method="explicit", max_memory=FEW, spill=Folder(tmp_path))
    assert found.spilled and not found.complete and found.states < 288
    assert found.verdicts[0].status is Status.UNDECIDED and "max_memory=1" in found.verdicts[0].because


# Leftovers and errors


def open_files() -> list[str]:
    """Return the files of ours that this process has open."""
    links = (Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd"))
    return [target for link in links if link.is_symlink() and ".spill" in (target := _target(link))]


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


@contextmanager
def ends(error: type[BaseException] | None) -> Generator[None]:
    """Run the body, which ends with this error, or without one."""
    if error is None:
        yield
    else:
        with pytest.raises(error):
            yield


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no list of open files")
@pytest.mark.parametrize(
    ("raised", "seen"), [(None, None), (KeyboardInterrupt, KeyboardInterrupt), (ZeroDivisionError, ModelError)]
)
def test_nothing_is_left_behind(
    raised: type[BaseException] | None, seen: type[BaseException] | None, tmp_path: Path
) -> None:
    """During the search one file without a name is open; afterwards none, however the search ended."""
    held_then: list[int] = []

    def looking() -> Generator[None]:
        while True:
            yield
            assert list(tmp_path.iterdir()) == []
            held_then.append(len(open_files()))

    looker = looking()
    next(looker)
    look = looker.send  # the code behind a method passed as a function is not read, so that a test can observe it

    def check(_config: Any, _state: Any) -> bool:
        look(None)
        if raised is not None and len(held_then) == 200:
            raise raised
        return True

    claim = Always(name="watched", sentence="", check=check)
    with ends(seen):
        explore(
            two_phase_commit(3),
            [claim],
            method="explicit",
            max_memory=FEW,
            spill=Folder(tmp_path),
        )
    assert max(held_then) == 1 and len(held_then) >= 200
    assert open_files() == [] and list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the folder, and no file stays there."""
    monkeypatch.setattr(spilling, "_SETTINGS", (*spilling._SETTINGS, "max_page_count=20"))
    with pytest.raises(SpillFailed, match=f"cannot spill to {tmp_path}: database or disk is full"):
        explore(
            two_phase_commit(5),
            [HELD],
            method="explicit",
            max_memory=FEW,
            spill=Folder(tmp_path),
        )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing, a file, read-only (root may write anywhere, so the system's error is simulated)."""
    (tmp_path / "file").write_text("")
    for name, why in (("nowhere", "No such file"), ("file", "Not a directory")):
        with pytest.raises(SpillFailed, match=f"cannot spill to {tmp_path / name}: {why}"):
            Folder(tmp_path / name).ready()

    def refuses(**_options: Any) -> Any:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "mkstemp", refuses)
    with pytest.raises(SpillFailed, match="Read-only file system"):
        Folder(tmp_path).ready()


def test_a_spill_that_makes_no_sense(tmp_path: Path) -> None:
    """Without a bound no state leaves memory; tables stay there."""
    with pytest.raises(ValueError, match="give a max_memory"):
        explore(FREE, spill=Folder(tmp_path))
    with pytest.raises(ValueError, match="compiled search runs in memory; leave spill out"):
        explore(FREE, method="compiled", max_memory=FEW, spill=Folder(tmp_path))


# Planted faults


def hashes_believed(patch: pytest.MonkeyPatch) -> None:
    """Few hashes, and states are not compared."""
    patch.setattr(disk_visited, "hash", lambda state: hash(state) % 5, raising=False)
    patch.setattr(disk_visited, "RECENT", 0)

    def first(self: disk_visited.DiskVisited, state: Any) -> int | None:
        return next((number for number, _ in self.disk.alike(hash(state) % 5)), None)

    patch.setattr(disk_visited.DiskVisited, "_on_disk", first)


def last_record_lost(patch: pytest.MonkeyPatch) -> None:
    """Every state on the disk was reached by the first action from the first state."""
    honest = SqliteDisk.kept
    patch.setattr(SqliteDisk, "kept", lambda self, what, number: honest(self, what, number) if what == "body" else 0)


def leaves_by_value(patch: pytest.MonkeyPatch) -> None:
    """Leaves that Python calls equal are one."""
    patch.setattr(packing, "alike", lambda _one, _other: True)


FAULTS: dict[Callable[[pytest.MonkeyPatch], None], str] = {
    hashes_believed: "objects_agree",
    last_record_lost: "objects_agree",
    leaves_by_value: "packing_is_exact",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_fault_is_noticed(
    fault: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check that the table names fails."""
    fault(monkeypatch)
    with pytest.raises((AssertionError, ModelError, SpillFailed)):
        CHECKS[FAULTS[fault]](tmp_path)


def test_the_table_lists_the_faults() -> None:
    """The table at the head of this file is complete."""
    listed = [line.split("|")[1].strip() for line in (__doc__ or "").splitlines() if line.startswith("| ")][1:]
    assert listed == [fault.__name__ for fault in FAULTS]


PEAK = """
import re, sys
from pathlib import Path
from evenhand.search import explore
from evenhand.search.spilling import Folder
from tests.models.two_phase_commit import two_phase_commit
bounds = {} if sys.argv[1] == "0" else {"max_memory": int(sys.argv[1]), "spill": Folder(Path(sys.argv[2]))}
found = explore(two_phase_commit(7), method="explicit", **bounds)
print(found.states, found.transitions, found.edges, found.depth, found.complete, found.spilled)
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""
# Of the new process alone: `ru_maxrss` also has the peak of its parent.


@pytest.mark.deep
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is told in other places elsewhere")
def test_the_peak_stays_below_the_bound(tmp_path: Path) -> None:
    """Three hundred thousand states: above the bound in memory, below it with a disk, and the same counts."""
    bound = 140 << 20
    told = [
        subprocess.run(
            [sys.executable, "-c", PEAK, str(limit), str(tmp_path)],
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for limit in (0, bound)
    ]
    near, far = told
    assert near[:5] == far[:5] and near[5] == "0" and far[0] == "296448" and int(far[5]) > 0
    assert int(far[6]) << 10 < bound < int(near[6]) << 10
