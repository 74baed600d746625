"""Where the runs of a system of one's own may end: refuted, allowed, or warned of."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import warnings
from typing import Any

import pytest

import evenhand
from evenhand.evidence.ending import NAME
from evenhand.jobs.ending import RunsEnd


@evenhand.always("It stays small.")
def small(count: int) -> bool:
    return count < 9


def counter(**more: Any) -> Any:
    """Counts to three and stops."""
    return evenhand.system(
        "counter", initial=[0], actions=lambda n: [1] if n < 3 else [], step=lambda n, by: n + by, **more
    )


def test_an_end_that_nobody_spoke_of_is_told() -> None:
    """The verdict stands; the report and a warning say how the run ends."""
    with pytest.warns(RunsEnd, match="a run of 3 actions ends in 3, where no action is on offer"):
        report = evenhand.verify(counter(), [small])
    assert report.holds and "ends=True" in report.notes[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evenhand.verify(counter(), [small], quiet=True).notes == report.notes
        assert evenhand.verify(counter(ends=True), [small]).notes == ()


def test_an_end_that_may_not_be_is_refuted() -> None:
    """`ends=False` allows none, a function allows some."""
    report = evenhand.verify(counter(ends=False), [small], quiet=True)
    assert not report.holds
    assert {finding.claim for finding in report.findings if finding.evidence is not None} == {NAME}
    assert evenhand.verify(counter(ends=lambda n: n == 3), [small]).holds
    assert not evenhand.verify(counter(ends=lambda n: n == 2), [small], quiet=True).holds


def test_an_end_is_said_by_a_function_of_states() -> None:
    """Anything else is refused where it is written."""
    with pytest.raises(TypeError, match="ends"):
        counter(ends=lambda: True)
    with pytest.raises((TypeError, evenhand.ModelError), match=r"ends|True or False"):
        evenhand.verify(counter(ends=lambda _n: 1), [small])
