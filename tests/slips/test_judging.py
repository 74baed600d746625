"""The judge of the corpus, tested on planted outcomes that must not pass for an honest answer."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

from tests.slips.examples import check, endless, light, never_dark
from tests.slips.judging import complaint, judged
from tests.slips.kit import Slip, evenhand


def planted(run: Callable[[], Any], **more: Any) -> str:
    """Return the judge's complaints about a slip that is not registered."""
    given: dict[str, Any] = {"says": ("light",), "seconds": 5.0, **more}
    one = Slip("planted", "planted", "A slip.", run, **given)
    return complaint(one, judged(one))


def goes_dark(_state: Any, _action: Any) -> str:
    """Take a step of a light that breaks."""
    return "dark"


def dark(**more: Any) -> Any:
    """Verify a light that goes dark."""
    return check(light(step=goes_dark), [never_dark], **more)


def fails(*_given: Any) -> Any:
    """A user's callback that raises."""
    raise ValueError("the light of the user is broken somewhere")


def test_what_holds_is_complained_of() -> None:
    """As a report, an exploration, drawn runs or a plain answer."""
    assert planted(lambda: check(light(), [never_dark])).startswith("HOLDS")
    assert planted(lambda: evenhand.explore(light(), [never_dark])).startswith("HOLDS")
    assert planted(lambda: evenhand.fuzz(light(), [never_dark], examples=3)).startswith("HOLDS")
    assert planted(lambda: bool(check(light(), [never_dark]).holds)).startswith("HOLDS")


def test_what_is_refuted_is_complained_of_unless_it_is_false() -> None:
    """A refutation blames the system."""
    assert "blames the system" in planted(dark)
    assert planted(dark, refuted=True) == ""


def test_a_refutation_beside_a_search_that_holds_is_complained_of() -> None:
    """Drawn runs saw states that the search merged: equal states that the claim distinguishes."""

    def merged() -> Any:
        kept = evenhand.explore(light(), [never_dark]).verdicts
        return Both((*kept, *evenhand.fuzz(light(step=goes_dark), [never_dark], examples=3).verdicts))

    assert "HOLDS by explore" in planted(merged, refuted=True)


class Both:
    """The verdicts of two engines."""

    def __init__(self, verdicts: tuple[Any, ...]) -> None:
        self.verdicts = verdicts


def test_what_only_drawn_runs_find_nothing_against_is_complained_of_unless_a_bound_says_so() -> None:
    """The search is open, and ten runs are no proof."""
    bounded: Callable[[], Any] = lambda: check(light(), [never_dark], max_states=1)  # noqa: E731
    assert "HOLDS by fuzz" in planted(bounded, says="max_states")
    assert planted(bounded, says=("max_states",), sampled=True) == ""


def test_an_undecided_for_another_reason_is_complained_of() -> None:
    """The answer must give the reason."""
    found = planted(lambda: evenhand.explore(light(), [never_dark], max_states=1), says=("generator",))
    assert found.startswith("does not say generator: never_dark: not violated")


def test_an_exception_from_the_inside_is_complained_of() -> None:
    """Both an error raised in the user's code and an error inside the package."""
    assert planted(lambda: evenhand.Scope({"a": 1}).updated(None)).startswith("traceback: AttributeError")
    assert planted(lambda: evenhand.explore(light(), [never_dark], licence=3)).startswith("traceback: TypeError")


def test_an_exception_that_leaves_a_program_is_complained_of() -> None:
    """`sys.exit(0)` looks like success."""

    def leaves() -> Any:
        raise SystemExit(0)

    assert planted(leaves).startswith("traceback: SystemExit")


def test_a_message_that_is_no_sentence_is_complained_of() -> None:
    """One line, not too long, more than one word, and with the culprit's name."""

    def says(text: str) -> Callable[[], Any]:
        return lambda: raised(ValueError(text))

    assert planted(says("the light has no initial state")) == ""
    assert planted(says("the lamp has no initial state")).startswith("does not say light")
    assert planted(says("the light has\nno initial state")).startswith("more than one line")
    assert planted(says("the light " * 60 + "is long")).startswith("607 characters")
    for text in ("", "KeyError", "'light'"):
        assert planted(says(text)).startswith("no sentence")


def raised(error: Exception) -> Any:
    raise error


def test_the_names_of_our_own_functions_tell_nothing() -> None:
    """A pattern must not match the name of the slip in a message."""
    text = "the step raised TypeError: a_light_of_ours.<locals>.<lambda>() takes 1 positional argument"
    assert planted(lambda: raised(TypeError(text))).startswith("does not say light")


def test_what_python_refuses_in_the_users_own_line_is_an_answer() -> None:
    """An unknown keyword."""
    assert planted(lambda: evenhand.verify(light(), [never_dark], max_state=3), says=("max_state'",)) == ""


def test_what_does_not_come_back_is_complained_of() -> None:
    """An endless loop, one that swallows its interruption, and an iterator that is used too often."""

    def loops() -> Any:
        while True:
            time.sleep(0.01)

    def swallows() -> Any:
        try:
            loops()
        except BaseException as error:
            raise ValueError("the light does not come back") from error

    assert planted(loops, seconds=0.2).startswith("hang")
    assert planted(swallows, seconds=0.2).startswith("hang")
    assert planted(lambda: list(endless())).startswith("hang")


def test_the_clock_of_the_whole_test_goes_on() -> None:
    """The time limit of a test is in force again after a slip, with its handler."""
    handler = signal.getsignal(signal.SIGALRM)
    whole = signal.setitimer(signal.ITIMER_REAL, 1_000.0)
    try:
        planted(dark)
        remaining, _ = signal.getitimer(signal.ITIMER_REAL)
    finally:
        signal.setitimer(signal.ITIMER_REAL, *whole)
    assert signal.getsignal(signal.SIGALRM) is handler
    assert 900.0 < remaining <= 1_000.0


def test_a_right_use_that_is_refused_is_complained_of() -> None:
    """Refusing everything does not pass."""
    assert planted(lambda: check(light(), [never_dark]), right=True) == ""
    assert planted(dark, right=True).startswith("a right use does not hold: refuted")
    assert planted(lambda: check(light(), []), right=True).startswith("a right use does not hold: error")
