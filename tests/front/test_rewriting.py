"""Faults in the source of a rule: each kind does exactly what its name says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evenhand.variants.rewriting import rewritings, rewritten

LIMIT = 3


def guarded(number: int, *, extra: int = 1) -> int:
    """A function with a guard, a global and a default."""
    if number > LIMIT:
        return 0
    return number + extra


def quantified(flags: tuple[bool, ...], others: tuple[bool, ...]) -> bool:
    """A function with all, any, and, not."""
    return all(flags) and not any(others)


def filtered(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """A function with a filter."""
    return tuple(number for number in numbers if number != 2)


CASES: list[tuple[Callable[..., Any], str, tuple[Any, ...], Any, Any]] = [
    (guarded, "drop_guard_1", (5,), 0, 6),
    (guarded, "negate_guard_1", (1,), 2, 0),
    (guarded, "other_comparison_1", (3,), 4, 0),
    (guarded, "off_by_one_1", (5,), 0, 1),
    (quantified, "swap_all_any_1", ((True, False), ()), False, True),
    (quantified, "swap_all_any_2", ((True,), (True, False)), False, True),
    (quantified, "swap_and_or_1", ((False,), ()), False, True),
    (quantified, "drop_operand_1", ((False,), ()), False, True),
    (quantified, "drop_operand_2", ((True,), (True,)), False, True),
    (quantified, "drop_not_1", ((True,), ()), True, False),
    (filtered, "drop_filter_1", ((1, 2),), (1,), (1, 2)),
    (filtered, "other_comparison_1", ((1, 2),), (1,), (2,)),
]


@pytest.mark.parametrize(("rule", "name", "arguments", "before", "after"), CASES)
def test_a_rewriting_does_what_it_says(
    rule: Callable[..., Any], name: str, arguments: tuple[Any, ...], before: Any, after: Any
) -> None:
    """On an input that shows it; the rule itself stays unchanged."""
    assert rule(*arguments) == before
    assert rewritten(rule, name)(*arguments) == after
    assert rule(*arguments) == before


def test_the_cases_are_all_there_are() -> None:
    """Each kind has a case, each case has a kind."""
    for rule in (guarded, quantified, filtered):
        known = {name for one, name, *_ in CASES if one is rule}
        extra = set(rewritings(rule)) - known
        assert known <= set(rewritings(rule))
        assert all(name.startswith("off_by_one") for name in extra), extra


def test_what_has_no_source_of_its_own_is_left_alone() -> None:
    """Closures, lambdas, builtins; an unknown name is refused."""
    captured = 1

    def closure() -> int:
        return captured + 1 if captured > 0 else 0

    assert rewritings(closure) == rewritings(lambda: 1 > 2) == rewritings(len) == ()
    with pytest.raises(KeyError, match="gone_1"):
        rewritten(guarded, "gone_1")
