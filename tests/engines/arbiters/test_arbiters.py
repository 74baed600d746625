"""Arbiters that were planted are found and named; honest kernels stay without a finding."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.arbiters.environments import environments
from evenhand.arbiters.kernels import NotExaminable
from evenhand.arbiters.loading import factory_at
from evenhand.arbiters.shares import differ, less
from evenhand.arbiters.values import comparable, renamed
from evenhand.core.verdict import Status
from evenhand.examination import Examination, examine
from tests.deep import rest_slow
from tests.engines.arbiters import kernels
from tests.engines.arbiters.kernels import PLANTED

ROOT = Path(__file__).parents[3]
PLACE = "tests.engines.arbiters.kernels"


def examined(kernel: Callable[..., Any], **more: Any) -> Examination:
    """Examine without other processes, which take seconds to start."""
    return examine(kernel, examples=10, **more)


def alone(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel under a place that no other process can import."""
    return type(f"{kernel.__name__}Here", (kernel,), {"__module__": "__main__"})  # type: ignore[arg-type]


@pytest.mark.parametrize("kernel", rest_slow(PLANTED, 4), ids=lambda kernel: str(kernel.__name__))
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


@pytest.mark.slow
def test_hash_seed_and_clock_are_found_in_other_processes() -> None:
    """The kernel is imported by its place; a name that decides by its hash is told as the hash seed."""
    by_hash = examined(kernels.ByHash, place=f"{PLACE}:ByHash")
    assert [one.question for one in by_hash.found] == ["hash seed"]
    assert by_hash.power is None  # it would be another in another process
    by_clock = examined(kernels.ByClock, place=f"{PLACE}:ByClock")
    assert [one.question for one in by_clock.found] == ["clock"], by_clock
    assert by_clock.found[0].named.startswith("the clock decides: ")
    assert by_clock.found[0].witness is not None


HONEST = {
    "blocks": alone(kernels.Honest),
    "seeded": alone(kernels.SeededDraw),
    "rotation": alone(kernels.Rotation),
    "pairs": alone(kernels.Pairs),
    "brake": alone(kernels.Brake),
    "valued": alone(kernels.Valued),
    "auction": alone(kernels.Auction),
    "named": alone(kernels.Named),
    "locked": alone(kernels.Locked),
    "arena": alone(kernels.Arena),
    "queue": alone(kernels.Queue),
    "merge": evenhand.rule(kernels.merged, ["x", "y", "z"]),
    "unanimous": evenhand.rule(kernels.unanimous, ["x", "y"], listed=True, labels=["x", "y"]),
}


@pytest.mark.parametrize("name", rest_slow(HONEST))
def test_honest_kernels_are_clean(name: str) -> None:
    """They look suspicious: a draw, a line, a merge; nothing decides that should not."""
    found = examined(HONEST[name])
    assert found.clean, found
    assert not [one for one in found.answers if one.status is Status.REFUTED]


@pytest.mark.slow
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
    file.write_text("class Kernel: pass", "utf-8")
    with pytest.raises(NotExaminable, match=r"has no attribute 'Kernal'\. Did you mean Kernel\?"):
        factory_at(f"{file}:Kernal")
    with pytest.raises(NotExaminable, match="making a kernel raised ZeroDivisionError"):
        examine(lambda: 1 // 0)


def test_a_file_finds_the_modules_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of a system does, whatever the current folder is."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "beside_the_desk.py").write_text("CHOICES = ['ask']", "utf-8")
    file = tmp_path / "desk_with_another.py"
    file.write_text("from beside_the_desk import CHOICES\n\ndef make():\n    return CHOICES\n", "utf-8")
    assert factory_at(f"{file}:make")() == ["ask"]
    with pytest.raises(NotExaminable, match="no such file"):
        factory_at(f"{tmp_path / 'none.py'}:make")


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


@pytest.mark.slow
def test_a_rule_is_asked_in_other_processes() -> None:
    """Its function and its choices are enough to make it again."""
    found = examined(evenhand.rule(kernels.smallest_hash, ["x", "y", "z"]))
    assert [one.question for one in found.found] == ["hash seed"], found
    assert "PYTHONHASHSEED" in found.found[0].named
    witness = found.found[0].witness
    assert witness is not None and witness.also is not None and len(witness.also.rounds) == 1


@pytest.mark.slow
def test_a_menu_in_another_order_is_no_finding() -> None:
    """Each process tries the same plays, in whatever order the kernel lists its choices."""
    found = examined(kernels.Shuffled)
    assert found.clean, found
    status = {one.question: one.status for one in found.answers}
    assert status["process"] is status["hash seed"] is status["clock"] is Status.HOLDS


@pytest.mark.slow
def test_what_a_kernel_prints_does_not_break_the_answer() -> None:
    """The line between the processes is the kernel's neither to read nor to write."""
    found = examined(kernels.Loud)
    assert {one.question: one.status for one in found.answers}["hash seed"] is Status.HOLDS, found


def test_a_process_that_ends_is_told() -> None:
    """The cause is the exit code, and the kernel is not clean."""
    found = examined(kernels.Dies)
    assert not found.clean and not found.found
    assert [one.because for one in found.open] == ["the other process failed: exit code 7"] * 3
    assert found.report().exit_code() == 3


def test_a_place_that_another_process_does_not_find_is_told() -> None:
    """It is a question that cannot be asked, and leaves nothing open."""
    found = examined(kernels.Honest, place="tests.engines.arbiters.kernels:Nowhere")
    assert found.clean, found
    because = [one.because for one in found.answers if one.question in ("process", "hash seed", "clock")]
    assert len(because) == 3 and all("cannot import the kernel; give its place (" in one for one in because)


def test_the_time_is_kept() -> None:
    """Within a tenth of it; what is left open is neither green nor refuted."""
    for kernel, seconds in ((kernels.Sleepy, 4.0), (kernels.Hangs, 4.0)):
        began = time.monotonic()
        code = (
            "from evenhand.examination import examine; from tests.engines.arbiters.kernels import *;"
            f"r = examine(type('K', ({kernel.__name__},), {{'__module__': '__main__'}}), seconds={seconds});"
            "print(r.seconds, r.clean, r.report().exit_code(), len(r.found), r.open[0].because, sep='|')"
        )
        made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        took, clean, exit_code, found, because = made.stdout.strip().split("|")
        assert float(took) <= seconds * 1.1 and time.monotonic() - began < 60
        assert (clean, exit_code, found) == ("False", "3", "0")
        expected = "did not return" if kernel is kernels.Hangs else "not every small play was tried"
        assert expected in because


def test_a_menu_that_fails_is_told() -> None:
    """The message names the agent, the exception and what had happened."""
    with pytest.raises(
        NotExaminable, match=r"choices\('ann'\) raised KeyError: 'ann' after ann: 'ask', bob: 'ask'; ret"
    ):
        examined(alone(kernels.BrokenMenu))


def test_a_kernel_that_wants_every_choice_is_not_blamed() -> None:
    """Questions that leave an agent out cannot be asked of it; the reason is told, and it is no finding."""
    found = examined(alone(kernels.Everybody))
    assert found.clean, found
    because = {one.question: one.because for one in found.answers if one.status is Status.UNDECIDED}
    assert because["number of agents"] == "not asked: the kernel wants a choice of every agent that is listed"
    for question in ("participation", "veto"):
        assert "the kernel gives no outcomes where an agent asks for nothing" in because[question]


@pytest.mark.slow
def test_powers_are_told() -> None:
    """Who alone can block whom: with `worth` in its words, and as numbers of pairs."""
    council = examined(alone(kernels.Council), allow={"veto": "everybody may stop a round"})
    assert council.clean and council.power is not None and council.power.blocks is not None
    assert len(council.power.blocks) == 6 and "who alone can block another" in str(council)
    seats = examined(alone(kernels.FirstListed)).power
    assert seats is not None and seats.blocks is None
    assert seats.takes == {("ann", "bob"), ("ann", "cid"), ("bob", "cid")}


def test_environments_end_and_mask_actions() -> None:
    """An agent that has left has no choices; what is no list of actions, or takes turns, is refused in one sentence."""
    found = examined(alone(kernels.Arena))
    assert found.clean and found.subject.agents == ("north", "south") and "seed" in found.subject.abilities

    class Masked(kernels.Arena):
        def reset(self, seed: int | None = None) -> Any:
            seen, more = super().reset(seed)
            return {agent: {"action_mask": [1, 0], "value": one} for agent, one in seen.items()}, more

    kernel = environments(Masked)()
    assert kernel.choices("north") == (0,)

    class Continuous(kernels.Arena):
        def action_space(self, agent: str) -> Any:
            return "Box(-1, 1)"

    with pytest.raises(NotExaminable, match="no finite list"):
        examine(Continuous)
    with pytest.raises(NotExaminable, match="aec_to_parallel"):
        examine(type("Turns", (kernels.Arena,), {"agent_iter": None}))


def test_shares_that_differ_by_chance_are_no_finding() -> None:
    """A difference counts where chance would give it seven times in a million."""
    assert not differ((55, 45), (100, 100), 4.5) and differ((80, 20), (100, 100), 4.5)
    assert not differ((0, 0), (9, 9), 4.5) and not less([1.0, 0.0] * 30, [0.0, 1.0] * 30)
    assert less([0.0, 0.1] * 30, [1.0, 0.9] * 30) and less([1.0], [2.0]) and not less([1.0], [1.0])
