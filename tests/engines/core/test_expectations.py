"""Expectations belong to their claims: the verdicts that they cover, and the bundle's knowledge of them."""

from __future__ import annotations

from typing import Any

import pytest

import evenhand
from evenhand.core.bundle import Bundle
from evenhand.core.plan import Expectation, holds, refuted, undecided
from evenhand.core.property import each_step
from evenhand.core.registry import protocols
from evenhand.core.verdict import Status

LATE: dict[str, Any] = {"clock": "late"}
USUAL: dict[str, Any] = {}
WHERE: list[tuple[Expectation, tuple[Any, ...], tuple[Any, ...] | None]] = [
    (refuted("why"), ("ring", "fuzz", LATE), None),
    (refuted("why", system="ring"), ("ring", "fuzz", USUAL), ("other", "fuzz", USUAL)),
    (holds("why", engine="explore"), ("ring", "explore", USUAL), ("ring", "fuzz", USUAL)),
    (undecided("why", clock="late"), ("ring", "fuzz", LATE), ("ring", "fuzz", USUAL)),
    (refuted("why", readings={}), ("ring", "fuzz", USUAL), ("ring", "fuzz", LATE)),
]


@pytest.mark.parametrize(("made", "speaks", "silent"), WHERE)
def test_where_an_expectation_speaks(made: Expectation, speaks: Any, silent: Any) -> None:
    """Without system, engine and readings it applies everywhere; `readings={}` is the default alone."""
    assert made.speaks_of("", *speaks)
    assert silent is None or not made.speaks_of("", *silent)


def test_a_bundle_knows_what_its_claims_carry() -> None:
    """The most specific one counts; a claim without any is expected to hold."""

    @each_step("It moves.", expected=(refuted("it stands"), holds("not here", engine="fuzz")))
    def moves(step: Any) -> bool:
        return bool(step.before != step.after)

    light = evenhand.system("light", initial=[0], actions=lambda state: ["wait"], step=lambda state, action: state)
    bundle = Bundle(evenhand.Protocol("p", "P", "", {"light": light}), (moves,))
    assert [one.claim for one in bundle.expected] == ["moves", "moves"]
    assert bundle.expectation("moves", "light", "explore", {}).expected is Status.REFUTED
    assert bundle.expectation("moves", "light", "fuzz", {}).because == "not here"
    assert bundle.expectation("other", "light", "fuzz", {}).expected is Status.HOLDS


def test_every_expectation_gives_its_reason() -> None:
    """In every shipped protocol."""
    for bundle in protocols():
        assert bundle.expected and all(one.because for one in bundle.expected), bundle.name
