"""Where second runs of two-run claims begin is asked for once, and nothing else is taken for the same."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from evenhand.core.property import TwoRun
from evenhand.core.system import AnyStep, System
from evenhand.evidence.second_runs import Place, compared
from evenhand.search import configuration, explore, pairs

SIZE = 6

Counters = tuple[int, int]


def step(_rules: None, _config: int, state: Counters, action: Any) -> tuple[Counters, Any]:
    """Move the first counter by 2 for `True` and by `action` else; the second follows; show what was moved."""
    by: int = 2 if action is True else action if isinstance(action, int) else action[0]
    return ((state[0] + by) % SIZE, state[0] % 2), (state[0], by)


COUNTERS: System[int, Counters, Any, Any, None] = System(
    name="counters",
    rules=None,
    configs=lambda _scope, _readings: (0,),
    initial=lambda _config: ((0, 0),),
    step=step,
    actions=lambda _config, _scope, _state: range(1, 4),
)


def _same_ends(_way: Any, one: AnyStep, other: AnyStep | None) -> bool:
    return other is not None and one.after == other.after and one.shown == other.shown


def claim(
    *,
    twins: Callable[[int, Counters, Any], Iterable[Any]] = lambda _config, _state, _action: (0, 1),
    config: Callable[[Any, int], int] = lambda _w, config: config,
    state: Callable[[Any, int, Counters], Counters] = lambda w, _config, state: (state[0], 0) if w else state,
    other: Callable[[Any, Any], tuple[Any, ...]] = lambda _w, action: (action,),
    agree: Callable[[Any, AnyStep, Any], bool] = _same_ends,
) -> TwoRun:
    """Return a claim that forgets the second counter, or with other functions another."""
    return TwoRun(
        name="forgets",
        sentence="",
        twins=twins,
        config=config,
        state=state,
        other=other,
        agree=agree,
        starts=False,
    )


def _set_to(way: list[int], number: int) -> list[int]:
    way[0] = number
    return way


CLAIM = claim()
CHANGED = [0]

CLAIMS: dict[str, tuple[TwoRun, bool]] = {
    "equal beginnings": (CLAIM, True),
    "beginnings that differ by state": (
        claim(state=lambda w, _config, state: (state[0] + w, 0), twins=lambda _c, _s, _a: (1,)),
        False,
    ),
    "ways that are equal and unlike": (
        claim(
            twins=lambda _config, _state, action: (1,) if action == 1 else (True,),
            state=lambda w, _config, state: (state[0], 5 if w is True else 0),
            agree=lambda w, one, other: (other.before[1] == 5) is (w is True),
        ),
        True,
    ),
    "ways in another order": (
        claim(
            twins=lambda _config, _state, action: (0, 1) if action == 1 else (1, 0),
            state=lambda w, _config, state: (state[0], w),
            agree=lambda w, _one, other: other.before[1] == w,
        ),
        True,
    ),
    "unlike configurations": (
        claim(
            config=lambda w, _config: True if w is True else 1,
            twins=lambda _config, _state, action: (True,) if action == 1 else (1,),
            other=lambda _w, _action: (1,),
            state=lambda _w, _config, state: state,
            agree=lambda w, _one, other: type(other.config) is type(w),
        ),
        True,
    ),
    "a way that changes": (
        claim(
            twins=lambda _config, _state, action: (_set_to(CHANGED, action),),
            state=lambda w, _config, state: (state[0], w[0]),
            agree=lambda _w, one, other: other.before[1] == one.action,
        ),
        True,
    ),
    "ways and actions without a hash": (
        claim(
            twins=lambda _config, _state, _action: ([0], [1]),
            state=lambda w, _config, state: (state[0], w[0]),
            other=lambda _w, action: ([action],),
        ),
        True,
    ),
}


class Plain(pairs.StepPairsWatch):
    """Comparisons in which nothing is kept."""

    def compared(self, place: Place) -> Any:
        return compared(self.system, self.claim, place)


def told(one: TwoRun) -> Any:
    """Return what a search says of a claim."""
    found = explore(COUNTERS, [one])
    (verdict,) = found.verdicts
    return verdict.status, verdict.evidence, dict(verdict.coverage)


@pytest.mark.parametrize("name", CLAIMS)
def test_the_same_is_said_as_without_anything_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdict, evidence and counts are those of comparisons that keep nothing."""
    one, holds = CLAIMS[name]
    kept = told(one)
    assert (kept[0].name == "HOLDS") is holds
    monkeypatch.setattr(configuration, "TwoRunWatch", Plain)
    assert told(one) == kept


def beginnings_of_another_state(patch: pytest.MonkeyPatch) -> None:
    """Never forget where second runs begin."""
    patch.setattr(pairs.TwoRunWatch, "visit", pairs.StepPairsWatch.visit)


def all_equal_is_alike(patch: pytest.MonkeyPatch) -> None:
    """Take equal ways for the same."""
    patch.setattr(pairs, "alike", lambda _one, _other: True)


def the_number_is_the_way(patch: pytest.MonkeyPatch) -> None:
    """Take every way of one number for the same."""
    honest = pairs.TwoRunWatch._begun

    def begun(self: Any, number: int, *given: Any) -> Any:
        return self.here[number][1] if number < len(self.here) else honest(self, number, *given)

    patch.setattr(pairs.TwoRunWatch, "_begun", begun)


FAULTS: dict[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]] = {
    beginnings_of_another_state: ("equal beginnings",),
    all_equal_is_alike: ("ways that are equal and unlike", "unlike configurations"),
    the_number_is_the_way: ("ways in another order", "ways that are equal and unlike"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_changes_what_is_said(
    fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these claims has another verdict, other evidence or other counts."""
    honest = {name: told(CLAIMS[name][0]) for name in FAULTS[fault]}
    fault(monkeypatch)
    for name, before in honest.items():
        assert told(CLAIMS[name][0]) != before


def test_beginnings_are_asked_for_once_in_each_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state has three actions and two ways."""
    asked: list[Any] = []
    honest = TwoRun.begun

    def begun(self: TwoRun, *given: Any) -> Any:
        asked.append(given)
        return honest(self, *given)

    monkeypatch.setattr(TwoRun, "begun", begun)
    found = explore(COUNTERS, [CLAIM])
    assert len(asked) == len(set(asked)) == 2 * found.states
