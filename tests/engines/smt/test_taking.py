"""Steps of mutants: taken from the reference only where every rule that the mutant changes answers alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from evenhand.core.registry import find
from evenhand.core.system import AnyStep, System
from evenhand.core.taking import Recorded, Taker, changed_rules
from evenhand.smt.differential import variants
from evenhand.smt.registry import stated
from evenhand.smt.samples import Samples
from evenhand.smt.theorem import Theorem
from tests.deep import rest_slow


@dataclass(frozen=True)
class Rules:
    """The rules of a step of numbers; `all` calls `one` through the rules that it is given."""

    one: Callable[[int], Any]
    all: Callable[[Rules, tuple[int, ...]], Any]
    limit: int = 3


@cache
def _kept(rules: Rules, numbers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(rules.one(one) for one in numbers)


def _step(rules: Rules, config: str, state: int, action: tuple[int, ...]) -> tuple[int, Any]:
    if config == "lists":
        numbers: list[int] = []
        first = rules.all(rules, numbers)  # type: ignore[arg-type]  # changed after the call
        numbers.extend(action)
        return state, (first, tuple(numbers))
    if config == "cached":
        return state, _kept(rules, action)
    return state, tuple(rules.all(rules, action))[: rules.limit]


def _same(n: int) -> int:
    return n


def _all(rules: Rules, numbers: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(rules.one(n) for n in numbers)


def _again(rules: Rules, numbers: tuple[int, ...]) -> tuple[Any, ...]:
    return _all(rules, numbers)


def _listed(_rules: Rules, numbers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(numbers)


def _odd(n: int) -> int:
    return n if n != 2 else 0


def _equal(n: int) -> int:
    return n == 1 if n == 1 else n


def _broken(_n: int) -> int:
    raise ZeroDivisionError


RULES = Rules(_same, _all)
SYSTEM: System[str, int, tuple[int, ...], Any, Rules] = System(
    "numbers", RULES, lambda _s, _r: ("",), lambda _c: (0,), _step, lambda _c, _s, _t: ((1, 2),)
)
ODD = replace(RULES, one=_odd)
EQUAL = replace(RULES, one=_equal)
BOTH = replace(ODD, all=_again)


def _alike(config: str, rules: Rules, action: tuple[int, ...]) -> bool:
    """Return what is said of a step, checked against the step taken anew where it is said to be the same."""
    changed = changed_rules(RULES, rules)
    assert changed is not None
    said = Recorded(SYSTEM, config, 0, action).same_under(rules, changed)
    if said:
        step = replace(SYSTEM, rules=rules).take(config, 0, action)
        assert repr(step) == repr(SYSTEM.take(config, 0, action))
    return said


def test_a_step_is_the_reference_s_where_the_changed_rule_answers_alike() -> None:
    """Directly, called by another rule, and where the model caches by its rules."""
    for config in ("", "cached"):
        for rules in (ODD, BOTH):
            assert _alike(config, rules, (1, 3))
            assert not _alike(config, rules, (1, 2))


def test_an_equal_answer_of_another_type_is_another_answer() -> None:
    """True equals 1, and a step may tell them apart."""
    assert not _alike("", EQUAL, (1,)) and _alike("", EQUAL, (3,))


def test_what_cannot_be_repeated_is_run_again() -> None:
    """A list that changes after the call; an answer that is used up; a rule that raises."""
    assert not _alike("lists", replace(RULES, all=_listed), (1,))

    def used_up(rules: Rules, numbers: tuple[int, ...]) -> Iterator[int]:
        return iter([rules.one(n) for n in numbers])

    lazy = replace(SYSTEM, rules=replace(RULES, all=used_up))
    assert not Recorded(lazy, "", 0, (1,)).same_under(lazy.rules, ("all",))
    assert not _alike("", replace(RULES, one=_broken), (1,))


def test_a_constant_that_differs_is_no_rule() -> None:
    """Only functions are called: rules that differ in anything else are always run."""
    assert changed_rules(RULES, replace(RULES, limit=1)) is None
    assert changed_rules(RULES, "other") is None and changed_rules(RULES, RULES) == ()
    taken = Taker(SYSTEM).taken(replace(SYSTEM, rules=replace(RULES, limit=1)), None, "", 0, (1, 2))
    assert taken.shown == (1,)


@pytest.mark.parametrize("protocol", rest_slow(["apcm", "conviction", "cud", "markspace", "sovereign"], 2))
def test_every_mutant_takes_the_steps_that_it_takes_when_run(protocol: str) -> None:
    """Some situations of each theorem's samples, every mutant: where a step is said to be the same, it is."""
    bundle, known = find(protocol), set[int]()
    alike = apart = 0
    for theorem in stated(protocol):
        if not isinstance(theorem, Theorem) or id(theorem.samples) in known:
            continue
        known.add(id(theorem.samples))
        system = theorem.place(bundle)
        taker = Taker(system)
        for one in _situations(theorem, system):
            for variant in variants(system, bundle.model.mutants):
                changed = changed_rules(system.rules, variant.rules)
                if changed is None or not taker.recorded(*one).same_under(variant.rules, changed):
                    apart += 1
                else:
                    alike += 1
                    assert variant.take(*one) == system.take(*one), variant.variant
    assert alike > 100 and apart > 5


def _situations(theorem: Theorem, system: Any) -> list[Any]:
    if isinstance(theorem.samples, Samples):
        found: list[Any] = [one for _, one in theorem.samples.situations(system)]
    else:
        steps: list[AnyStep] = list(theorem.samples(system))
        found = [(step.config, step.before, step.action) for step in steps]
    return found[:: max(1, len(found) // 12)]
