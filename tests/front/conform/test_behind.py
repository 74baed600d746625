"""What a check finds behind a difference: as if it were mended, beside it, and in processes of their own."""

from __future__ import annotations

import gc
import inspect
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse, adapter_source
from evenhand.conform.checking.causes import causes
from evenhand.conform.checking.claims import Judge
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.covering import Covering
from evenhand.conform.checking.defects import Defects
from evenhand.conform.checking.divergence import Divergence, Examiner
from evenhand.conform.checking.files import save_finding
from evenhand.conform.checking.finding import finding_json, recheck
from evenhand.conform.checking.loop import EXHAUSTIVE, MACHINE, CheckEffort, SystemChecked, check_system, takes
from evenhand.conform.checking.ordering import Defect
from evenhand.conform.checking.phase import EARLIER
from evenhand.core.codec import encode
from evenhand.core.kernel import Unsupported
from evenhand.core.registry import find
from evenhand.core.trace import Scenario
from evenhand.processes import alarm
from evenhand.processes.alarm import in_collector
from tests.front.conform import latches
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import Small, small
from tests.front.conform.test_words import ROOM, Enter, Leave, Room, step
from tests.front.plugins.toylatch import Act, Config, Readings


class Haunted:
    """A room with a guest whom nobody let in, which tells who is inside; the third guest who enters gets no ticket."""

    def __init__(self, *, tells: bool = True) -> None:
        self.room = Room()
        self.facts = self.inside if tells else None

    def step(self, action: Any) -> Any:
        """Take an encoded action."""
        if not self.room.inside:
            self.room = Room(("ghost",))
        self.room, shown = step(None, None, self.room, (Enter if action["$"] == "Enter" else Leave)(action["name"]))
        made: Any = encode(shown)
        if len(self.room.inside) == 4:
            made["ticket"] = None
        return made

    def inside(self) -> Any:
        """Who is inside."""
        return {"inside": list(self.room.inside)}


def looked_at(kernel: Any, actions: tuple[Any, ...]) -> tuple[Divergence, list[Divergence]]:
    """Return the first difference in one run of a kernel, and those behind it."""
    examiner = Examiner(Coder("house", ROOM), Judge(()))
    trace = examiner.coder.trace(Scenario("house", Room(), actions))
    request = examiner.coder.request(trace)
    (response,) = InProcess(lambda _initial: kernel).ask([request])
    first = examiner.examine(trace, request, response, "exhaustive")
    assert first is not None
    return first, list(examiner.later(trace, request, response, "exhaustive"))


ENTERING = (Enter("ann"), Enter("bob"), Enter("cy"))


def test_what_may_follow_from_a_field_that_is_not_told_is_no_finding_of_its_own() -> None:
    """The model goes on from what is told; if the step that differs changes more, no later step counts by itself."""

    class Quiet(Haunted):
        def inside(self) -> Any:
            return {}

    told, (behind,) = looked_at(Haunted(), ENTERING)
    untold, (later, *_) = looked_at(Quiet(), ENTERING)
    assert told.tells and behind.tells
    assert untold.tells and not later.tells


def test_the_model_goes_on_from_the_state_that_the_kernel_tells() -> None:
    """The ghost is a difference once, and what is wrong behind it is told by itself."""
    first, (behind,) = looked_at(Haunted(), ENTERING)
    assert (first.length, behind.length, behind.behind) == (1, 3, 1)
    assert {one.path for one in behind.differences} == {"ticket"}


def test_a_kernel_that_tells_no_state_differs_in_every_step() -> None:
    """Without the state each later step shows the ghost again."""
    first, behind = looked_at(Haunted(tells=False), ENTERING)
    assert [one.length for one in (first, *behind)] == [1, 2, 3]


def test_a_state_that_is_told_before_any_difference_mends_nothing() -> None:
    """A kernel whose told state goes astray in silence is compared with the model's own run until it differs."""

    class Silent(Haunted):
        def inside(self) -> Any:
            return {}

        def step(self, action: Any) -> Any:
            shown = super().step(action)
            return shown if len(self.room.inside) > 2 else encode(step(None, None, Room(), Enter("ann"))[1])

    first, _ = looked_at(Silent(), ENTERING)
    assert first.length == 2


def checked(name: str) -> SystemChecked:
    """Check one of the latches in a process."""
    latch = find("latch")
    source = adapter_source(f"tests.front.conform.latches:{name}")
    effort = CheckEffort(transitions=60, examples=2, steps=5)
    try:
        return check_system("latch", (latch.model.systems["latch"],), latch.claims, source, effort=effort)
    finally:
        source.close()


@pytest.mark.slow
def test_a_kernel_that_answers_otherwise_under_a_rare_hash_seed_is_found() -> None:
    """Runs that agree are repeated in several processes, each with hashes of its own."""
    (defect,) = checked("scrambled").defects
    assert defect.divergence.subject == "kernel_is_deterministic"


@pytest.mark.slow
def test_a_process_answers_no_more_runs_than_are_looked_through() -> None:
    """So the run that changes a later answer is among those that are known."""
    lives = [0]

    class Counting(InProcess):
        def renew(self) -> None:
            lives.append(0)

        def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
            lives[-1] += len(scenarios)
            return super().ask(scenarios)

    latch = find("latch")
    effort = CheckEffort(transitions=1, examples=200, phases=(EXHAUSTIVE, MACHINE))
    check_system("latch", (latch.model.systems["latch"],), (), Counting(latches.honest), effort=effort)
    assert len(lives) > 2 and max(lives) <= EARLIER


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hoards", "chokes", "files"])
def test_a_kernel_that_remembers_earlier_runs_is_found_by_the_run_that_it_remembers(name: str, tmp_path: Path) -> None:
    """One finding, with the earlier run; the rest of the check is silent, since each run has its own process."""
    result = checked(name)
    (defect,) = result.defects
    assert defect.divergence.subject == "kernel_forgets_earlier_runs"
    assert defect.divergence.beside is not None and len(defect.divergence.beside.scenario.actions) >= 1
    assert result.explained == result.divergences == defect.count
    (cause,) = causes([(result.system, result.defects)])
    record = save_finding(finding_json("latch", cause, (), claims_only=False, kernel="here"), tmp_path, "here")
    assert [recheck(record, f"tests.front.conform.latches:{one}").ok for one in (name, "honest")] == [False, True]


def test_a_process_of_its_own_sees_no_temporary_file_of_other_runs() -> None:
    """Neither those of the runs before it nor, after it, those runs its own; the others stay where they were."""
    (system,) = find("latch").model.systems.values()
    coder, config = Coder("latch", system), Config(2, Readings())
    start = next(iter(system.initial(config)))
    request = coder.request(coder.trace(Scenario(config, start, (Act("take", 0),))))
    source = adapter_source("tests.front.conform.latches:files")
    try:
        asked = (source.together, source.ask, source.together, source.together, source.ask)
        assert [one.as_expected for ask in asked for one in ask([request])] == [True, True, True, True, False]
    finally:
        source.close()


@pytest.mark.slow
def test_a_kernel_that_remembers_in_a_file_is_not_called_non_deterministic(tmp_path: Path) -> None:
    """Its forked processes share the file; where it is loaded anew, it always answers as at first."""
    result = checked("files_from_the_first")
    remembered = [one for one in result.defects if one.divergence.what == "remembers"]
    assert len(remembered) == 1 and not any(one.divergence.what == "non-deterministic" for one in result.defects)
    (cause,) = causes([(result.system, remembered)])
    record = save_finding(finding_json("latch", cause, (), claims_only=False, kernel="here"), tmp_path, "here")
    names = ("files_from_the_first", "honest")
    assert [recheck(record, f"tests.front.conform.latches:{one}").ok for one in names] == [False, True]


class Broken(Haunted):
    """It breaks down."""

    def step(self, action: Any) -> Any:
        """Raise."""
        raise LookupError("wrecked")


class Wrecked(InProcess):
    """A kernel that breaks down in one house, and after that in every one until its process ends."""

    wrecked = False

    def _made(self, initial: Any) -> Any:
        self.wrecked = self.wrecked or initial["config"] == "haunted"
        kernel = Broken() if self.wrecked else Haunted()
        kernel.room = Room(("ann",))
        return kernel

    def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        self.factory = self._made
        return super().ask(scenarios)

    def together(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        self.renew()
        return self.ask(scenarios)

    def renew(self) -> None:
        self.wrecked = False


def test_what_fails_by_itself_in_one_configuration_may_be_remembered_in_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same failure is looked into in a few configurations, not in the first alone."""
    names = ("haunted", "house")
    houses: Small = small(
        "house",
        lambda _scope: iter(names),
        Room(("ann",)),
        lambda config, room: ROOM.enabled(config, room),
        step,
        ROOM.types,
    )

    def subjects() -> set[str]:
        effort = CheckEffort(transitions=200, phases=(EXHAUSTIVE,))
        checked = check_system("house", (houses,), (), Wrecked(lambda one: one), effort=effort)
        return {one.divergence.subject for one in checked.defects}

    assert "kernel_forgets_earlier_runs" in subjects()
    monkeypatch.setattr("evenhand.conform.checking.phase.CONFIGS", 1)
    assert "kernel_forgets_earlier_runs" not in subjects()


def test_a_finding_behind_another_one_is_repeated_from_what_the_kernel_tells(tmp_path: Path) -> None:
    """The steps between the two differences are the model's from the told state, not those of its own run."""
    (system,) = find("latch").model.systems.values()
    start = next(iter(system.initial(Config(2, Readings()))))
    actions = (Act("take", 0), Act("leave", 1), Act("take", 1), Act("take", 1))
    examiner = Examiner(Coder("latch", system), Judge(()))
    trace = examiner.coder.trace(Scenario(Config(2, Readings()), start, actions))
    request = examiner.coder.request(trace)

    def behind(kernel: Any) -> list[Divergence]:
        (response,) = InProcess(kernel).ask([request])
        return list(examiner.later(trace, request, response, "machine"))

    (found,) = behind(latches.mistaken_twice)
    assert (found.length, found.behind, found.own) == (4, 1, 1)
    assert found.expected == ("taken", "left", "taken", "refused")
    (cause,) = causes([(system, [Defect(found, 1)])])
    record = save_finding(finding_json("latch", cause, (), claims_only=False, kernel="here"), tmp_path, "here")
    again = recheck(record, InProcess(latches.mistaken_twice))
    assert not again.ok and found.kinds <= again.kinds
    assert not found.kinds & recheck(record, InProcess(latches.mistaken_at_first)).kinds
    assert recheck(record, InProcess(latches.honest)).ok


def test_a_run_goes_on_behind_a_step_that_raises() -> None:
    """The answers behind it are compared; and what raises behind a difference is told as well."""
    (system,) = find("latch").model.systems.values()
    start = next(iter(system.initial(Config(2, Readings()))))
    examiner = Examiner(Coder("latch", system), Judge(()))
    source = adapter_source("tests.front.conform.latches:raising_once")

    def seen(*actions: Act) -> list[tuple[str, int, int]]:
        trace = examiner.coder.trace(Scenario(Config(2, Readings()), start, actions))
        request = examiner.coder.request(trace)
        (response,) = source.ask([request])
        first = examiner.examine(trace, request, response, "machine")
        assert first is not None
        found = [first, *examiner.later(trace, request, response, "machine")]
        return [(one.what, one.length, one.behind) for one in found]

    leave, take = Act("leave", 1), Act("take", 1)
    try:
        assert seen(leave, take, take) == [("fails", 1, 0), ("differs", 3, 1)]
        assert seen(leave, take, leave, take, take) == [("fails", 1, 0), ("differs", 5, 1)]
        assert seen(Act("take", 0), leave, take, take) == [("differs", 1, 0), ("fails", 2, 1), ("differs", 4, 2)]
    finally:
        source.close()


def test_what_shows_beside_a_difference_of_most_runs_is_a_finding_of_its_own() -> None:
    """The share is wrong in every step; and cy enters without a ticket."""

    class Kernel:
        def __init__(self, *, both: bool) -> None:
            self.room, self.both = Room(), both

        def step(self, action: Any) -> Any:
            self.room, shown = step(None, None, self.room, (Enter if action["$"] == "Enter" else Leave)(action["name"]))
            made: Any = encode(shown)
            made["share"] = encode(Fraction(7, 8))
            return {**made, "ticket": None} if self.both and action == encode(Enter("cy")) else made

    def kinds(*, both: bool) -> list[frozenset[str]]:
        effort = CheckEffort(transitions=200, examples=6, steps=8, phases=("exhaustive", "machine"))
        found = check_system("house", (ROOM,), (), InProcess(lambda _initial: Kernel(both=both)), effort=effort)
        return [one.divergence.kinds for one in found.defects]

    (alone,) = kinds(both=False)
    usual, beside = kinds(both=True)
    assert alone == usual and beside - usual == {kind for kind in beside if kind.startswith("ticket: ")}


def test_a_run_is_repeated_without_the_step_that_differs() -> None:
    """What that step hides may show then."""

    class Wrong:
        def __init__(self) -> None:
            self.room = Room()

        def step(self, action: Any) -> Any:
            self.room, shown = step(None, None, self.room, (Enter if action["$"] == "Enter" else Leave)(action["name"]))
            made: Any = encode(shown)
            return {**made, "ok": not made["ok"]} if action["name"] == "cy" else made

    class Listening(InProcess):
        def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
            asked.extend(one.actions for one in scenarios)
            return super().ask(scenarios)

    asked: list[tuple[bytes, ...]] = []
    effort = CheckEffort(examples=4, steps=6, phases=("machine",))
    check_system("house", (ROOM,), (), Listening(lambda _initial: Wrong()), effort=effort)
    first = next(one for one in asked if any(b"cy" in action for action in one[:-1]))
    at = next(place for place, action in enumerate(first) if b"cy" in action)
    assert (*first[:at], *first[at + 1 :]) in asked


def test_what_only_a_left_out_step_made_possible_is_left_out_too() -> None:
    """Nobody leaves who has not entered: no text says what a kernel does then, so it is not asked."""

    class Wrong:
        def __init__(self) -> None:
            self.room = Room()

        def step(self, action: Any) -> Any:
            self.room, shown = step(None, None, self.room, (Enter if action["$"] == "Enter" else Leave)(action["name"]))
            made: Any = encode(shown)
            return {**made, "ok": False} if action == encode(Enter("cy")) else made

    class Listening(InProcess):
        def ask(self, scenarios: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
            asked.extend([json.loads(action) for action in one.actions] for one in scenarios)
            return super().ask(scenarios)

    def menu(_config: Any, _scope: Any, room: Room) -> list[Enter | Leave]:
        return [Leave(name) if name in room.inside else Enter(name) for name in ("ann", "bob", "cy")]

    asked: list[list[Any]] = []
    effort = CheckEffort(examples=12, steps=6, phases=("machine",))
    room = replace(ROOM, actions=menu)
    check_system("house", (room,), (), Listening(lambda _initial: Wrong()), effort=effort)
    assert any({one["name"]: one["$"] for one in run}.get("cy") == "Leave" for run in asked)
    for run in asked:
        inside = set[str]()
        for one in run:
            assert (one["$"] == "Leave") == (one["name"] in inside)
            inside ^= {one["name"]}


def test_what_shows_behind_a_rare_difference_is_told_where_a_run_shows_it_first() -> None:
    """Whoever enters as bob gets no ticket; it was seen behind cy's wrong refusal alone, in one run of a hundred."""

    class Wrong:
        def __init__(self) -> None:
            self.room = Room()

        def step(self, action: Any) -> Any:
            self.room, shown = step(None, None, self.room, (Enter if action["$"] == "Enter" else Leave)(action["name"]))
            made: Any = encode(shown)
            if action == encode(Enter("bob")):
                made["ticket"] = None
            return {**made, "ok": not made["ok"]} if action["name"] == "cy" else made

    source = InProcess(lambda _initial: Wrong())
    examiner = Examiner(Coder("house", ROOM), Judge(()))
    defects = Defects(examiner.coder, examiner, source)
    trace = examiner.coder.trace(Scenario("house", Room(), (Enter("cy"), Enter("ann"), Enter("bob"))))
    request = examiner.coder.request(trace)
    (response,) = source.ask([request])
    first = examiner.examine(trace, request, response, "machine")
    assert first is not None
    defects.add(first)
    defects.follow(first, 3, list(examiner.later(trace, request, response, "machine")))
    told = {one.divergence.scenario.actions: one.divergence for one in defects.distinct(100)}
    assert told.keys() == {(Enter("cy"),), (Enter("bob"),)}
    assert told[(Enter("bob"),)].behind == 0


@pytest.mark.parametrize(
    ("tells", "times", "others", "told"),
    [(True, 3, 1, [0, 0, 1]), (True, 2, 1, [0, 0]), (False, 3, 1, [0, 0]), (True, 3, 0, [0])],
)
def test_what_shows_often_behind_two_differences_in_the_state_that_is_told_is_told(
    tells: bool, times: int, others: int, told: list[int]
) -> None:
    """No run shows the wrong reason before the ghost or a wrong share, and either was seen in few of many runs."""

    class Wrong(Haunted):
        def step(self, action: Any) -> Any:
            self.room, shown = step(None, None, self.room, Enter(action["name"]))
            made: Any = encode(shown)
            if len(self.room.inside) == 1:
                wrong = {"share": encode(Fraction(7, 8))} if action["name"] == "bob" else {"ok": not made["ok"]}
                return {**made, **wrong}
            return {**made, "why": "lost"} if len(self.room.inside) == 3 else made

    source = InProcess(lambda _initial: Wrong(tells=tells))
    examiner = Examiner(Coder("house", ROOM), Judge(()))
    defects = Defects(examiner.coder, examiner, source)
    for actions in (*times * [ENTERING], *others * [(Enter("bob"), Enter("cy"), Enter("ann"))]):
        trace = examiner.coder.trace(Scenario("house", Room(), actions))
        request = examiner.coder.request(trace)
        (response,) = source.ask([request])
        first = examiner.examine(trace, request, response, "machine")
        assert first is not None
        defects.add(first)
        defects.follow(first, 3, list(examiner.later(trace, request, response, "machine")))
    assert sorted(one.divergence.behind for one in defects.distinct(100)) == told


@pytest.mark.parametrize(("other", "told"), [(Leave("bob"), 2), (Enter("bob"), 1)])
def test_what_differs_more_in_an_action_of_another_kind_is_a_finding_of_its_own(other: Any, told: int) -> None:
    """The share is wrong for cy and bob, and so is bob's answer: one fault if both enter, two if bob leaves."""

    class Wrong:
        def __init__(self) -> None:
            self.room = Room(("bob",) if isinstance(other, Leave) else ())

        def step(self, action: Any) -> Any:
            self.room, shown = step(None, None, self.room, (Enter if action["$"] == "Enter" else Leave)(action["name"]))
            made: Any = encode(shown)
            if action == encode(Enter("cy")):
                return {**made, "share": encode(Fraction(7, 8))}
            return (
                {**made, "share": encode(Fraction(7, 8)), "why": "no", "ok": False} if action == encode(other) else made
            )

    source = InProcess(lambda _initial: Wrong())
    examiner = Examiner(Coder("house", ROOM), Judge(()))
    defects = Defects(examiner.coder, examiner, source)
    for action in (Enter("cy"), other):
        trace = examiner.coder.trace(Scenario("house", Room(("bob",) if isinstance(other, Leave) else ()), (action,)))
        request = examiner.coder.request(trace)
        (response,) = source.ask([request])
        found = examiner.examine(trace, request, response, "machine")
        assert found is not None
        defects.add(found)
    assert len(defects.distinct(100)) == told


def test_walks_leave_out_what_the_kernel_refuses() -> None:
    """An action that was refused once is on no later walk, and the scope does not count as covered."""
    refused: set[Any] = set()
    covering = Covering(ROOM, left_out=lambda config, _state, action: (config, action) in refused)
    walks = covering.walks()
    refused.add(("house", next(walks).trace.scenario.actions[0]))
    assert not any(
        ("house", action) in refused for walk in walks for action in walk.trace.scenario.actions[-walk.fresh :]
    )
    assert not covering.complete


def test_walks_get_short_where_most_runs_differ() -> None:
    """What stands behind a difference is lost, so less is put there."""
    covering = Covering(ROOM)
    lengths: list[int] = []
    for walk in islice(covering.walks(), 8):
        lengths.append(walk.fresh)
        covering.give_back(walk, len(walk.trace.steps) - walk.fresh)
    assert lengths[0] > 4 and lengths[-1] <= 2


@pytest.mark.parametrize(("share", "complete"), [(Fraction(7, 8), True), (None, False)])
def test_walks_go_on_behind_what_nearly_all_steps_show(share: Fraction | None, complete: bool) -> None:
    """Each step shows a wrong share; if it says something new in each instead, all behind the first is lost."""

    class Kernel:
        def __init__(self) -> None:
            self.room, self.taken = Room(), 0

        def step(self, action: Any) -> Any:
            self.room, shown = step(None, None, self.room, (Enter if action["$"] == "Enter" else Leave)(action["name"]))
            self.taken += 1
            made: Any = encode(shown)
            return {**made, "share": encode(share)} if share else {**made, "share": "no" * self.taken}

    effort = CheckEffort(transitions=400, phases=(EXHAUSTIVE,))
    found = check_system("house", (ROOM,), (), InProcess(lambda _initial: Kernel()), effort=effort)
    (covered,) = found.covered
    assert (covered["unreached"] == 0) == complete


def test_a_kernel_takes_a_system_or_not() -> None:
    """A few starts are asked."""

    def refusing(_initial: Any) -> Any:
        raise Unsupported("not here")

    assert takes("house", ROOM, InProcess(lambda _initial: Haunted()))
    assert not takes("house", ROOM, InProcess(refusing))


def test_an_alarm_waits_for_the_garbage_collector() -> None:
    """What is raised in a callback of the collector is lost, so such a frame is told apart."""
    found: list[bool] = []

    def listens(_phase: str, _info: Any) -> None:
        found.append(in_collector(inspect.currentframe()))

    gc.callbacks.append(listens)
    try:
        gc.collect()
        assert not in_collector(inspect.currentframe())
    finally:
        gc.callbacks.remove(listens)
    assert found and all(found)


@pytest.mark.timeout(0)  # which has the alarm else
def test_time_that_is_endless_for_a_while_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the alarm comes early, while the check waits for an answer without a limit of its own."""
    monkeypatch.setattr(alarm, "LONGEST", 0.01)
    said = iter([0.01, inf])
    with pytest.raises(alarm.Hung), alarm.until(lambda: next(said, -1.0), 0.01):
        until = monotonic() + 5
        while monotonic() < until:
            pass
