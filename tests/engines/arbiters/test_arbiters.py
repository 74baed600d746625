"""Arbiters that were planted are found and named; honest kernels stay without a finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.arbiters.kernels import NotExaminable
from evenhand.arbiters.loading import factory_at
from evenhand.arbiters.values import comparable, renamed
from evenhand.core.verdict import Status
from evenhand.examination import Examination, examine
from tests.engines.arbiters import kernels
from tests.engines.arbiters.kernels import PLANTED

PLACE = "tests.engines.arbiters.kernels"


def examined(kernel: Callable[..., Any], **more: Any) -> Examination:
    """Examine without other processes, which take seconds to start."""
    return examine(kernel, examples=10, **more)


def alone(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel under a place that no other process can import."""
    return type(f"{kernel.__name__}Here", (kernel,), {"__module__": "__main__"})  # type: ignore[arg-type]


@pytest.mark.parametrize("kernel", PLANTED, ids=lambda kernel: str(kernel.__name__))
def test_planted_arbiters_are_named(kernel: Callable[..., Any]) -> None:
    """One finding for each, by its question, in its words, with a shortest witness."""
    question, named = PLANTED[kernel]
    found = examined(alone(kernel))
    by_name = {one.question: one for one in found.found}
    assert question in by_name, found
    assert by_name[question].named.startswith(named)
    witness = by_name[question].witness
    assert witness is not None and len(witness.play.rounds) <= 2 and len(witness.play.agents) <= 3
    assert not found.clean and question in str(found)


def test_delivery_and_names_are_not_blamed_for_seats() -> None:
    """Each of the three orders is found by its own question and by no other."""
    for kernel in (kernels.FirstListed, kernels.FirstAsked, kernels.SmallestName):
        assert [one.question for one in examined(alone(kernel)).found] == [PLANTED[kernel][0]]


def test_hash_seed_and_clock_are_found_in_other_processes() -> None:
    """The kernel is imported by its place; a name that decides by its hash is told as the hash seed."""
    by_hash = examined(kernels.ByHash, place=f"{PLACE}:ByHash")
    assert [one.question for one in by_hash.found] == ["hash seed"]
    by_clock = examined(kernels.ByClock, place=f"{PLACE}:ByClock")
    assert [one.question for one in by_clock.found] == ["clock"], by_clock
    assert by_clock.found[0].witness is not None


HONEST = {
    "blocks": alone(kernels.Honest),
    "seeded": alone(kernels.SeededDraw),
    "queue": alone(kernels.Queue),
    "merge": evenhand.rule(kernels.merged, ["x", "y", "z"]),
    "unanimous": evenhand.rule(kernels.unanimous, ["x", "y"], listed=True, labels=["x", "y"]),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_kernels_are_clean(name: str) -> None:
    """They look suspicious: a draw, a line, a merge; nothing decides that should not."""
    found = examined(HONEST[name])
    assert found.clean, found
    assert not [one for one in found.answers if one.status is Status.REFUTED]


def test_rules_are_asked_about_labels_and_seats() -> None:
    """A tie by alphabet favours a label; a tie by the list favours the chair."""
    labels = examined(evenhand.rule(kernels.first_candidate, ["x", "y"], labels=["x", "y"]))
    assert [one.question for one in labels.found] == ["labels"]
    seats = examined(evenhand.rule(kernels.chair, ["x", "y"], listed=True, labels=["x", "y"]))
    assert [(one.question, one.named) for one in seats.found] == [
        ("listing order", "the first in `agents` has its choice taken")
    ]


def test_an_exception_has_a_reason_and_a_known_question() -> None:
    """What an author intends is no finding, and stands in the report as expected."""
    found = examined(alone(kernels.FirstListed), allow={"listing order": "seniority is our rule"})
    assert found.clean
    assert found.report().exit_code() == 0
    assert "seniority is our rule" in str(found)
    with pytest.raises(NotExaminable, match="no question 'seats'"):
        examined(alone(kernels.FirstListed), allow={"seats": "no such question"})


def test_questions_that_cannot_be_asked_are_told() -> None:
    """An ability that is missing is named, and the question is not green."""
    found = examined(alone(kernels.Honest))
    unasked = {one.question: one.because for one in found.answers if one.status is Status.UNDECIDED}
    assert unasked["exclusion"] == "not asked: the kernel offers no holds"
    assert "another process cannot import the kernel" in unasked["hash seed"]


def test_what_is_no_kernel_is_refused() -> None:
    """One sentence that says what is missing."""
    for wrong, why in ((3, "no factory"), (dict, "no method `act`"), (lambda: kernels.Desk(["ann"]), "fewer than two")):
        with pytest.raises(NotExaminable, match=why):
            examine(wrong)  # type: ignore[arg-type]


def test_a_place_that_cannot_be_imported_is_told(tmp_path: Path) -> None:
    """Whatever the file does, one sentence names it."""
    file = tmp_path / "broken.py"
    for text in ("raise RuntimeError('x')", "import sys; sys.exit(3)", "def ("):
        file.write_text(text, "utf-8")
        with pytest.raises(NotExaminable, match="importing it raised"):
            factory_at(f"{file}:K")
    with pytest.raises(NotExaminable, match="making a kernel raised ZeroDivisionError"):
        examine(lambda: 1 // 0)


def test_outcomes_are_compared_by_content() -> None:
    """Order of dictionaries and sets, and memory addresses, are no difference; types and values are."""
    assert comparable({"a": {1, 2}, "b": [1.0]}) == comparable({"b": [1], "a": {2, 1}})
    assert comparable([1, 2]) != comparable([2, 1]) and comparable(True) != comparable(1)
    assert comparable(object()) == comparable(object())
    assert renamed({"ann": ("bob", {"ann"})}, {"ann": "zoe", "bob": "ann"}) == {"zoe": ("ann", {"zoe"})}


def test_the_same_examination_twice() -> None:
    """Draws depend on the seed alone."""
    one, other = (examined(alone(kernels.Grudge)) for _ in range(2))
    assert str(one) == str(other)
