"""`evenhand explore --quotient`: a search of classes by name, and every way to request it wrongly."""

from __future__ import annotations

import pytest

from evenhand.core.plan import Plan
from evenhand.core.registry import find
from tests.deep import rest_slow
from tests.front.conftest import Command

CLOCK = ("explore", "markspace", "--system", "clock", "--scope", "horizon=0")
BOTH = ("--quotient", "shift", "--quotient", "saturation")
DUE = ("--claim", "due_agents_are_activated")


@pytest.mark.slow
def test_classes_are_counted_and_called_so(cli: Command) -> None:
    """In text and under `--json`, and in the note on the claim."""
    told = cli(*CLOCK, *BOTH, *DUE)
    assert told.code == 0 and "432 classes of states" in told.out and "432 states" not in told.out
    found = cli(*CLOCK, *BOTH, *DUE, "--json").json
    assert (found["states"], found["counted"], found["complete"]) == (432, "classes of states", True)
    (verdict,) = found["verdicts"]
    assert verdict["scope"]["quotient"] == "shift+saturation" and verdict["coverage"]["classes"] == 432
    assert sum(one.startswith("theorem ") for one in verdict["trusted_base"]) == 2


def test_one_map_alone_leaves_the_graph_open(cli: Command) -> None:
    """A bound ends the search undecided; the printed command names the same map."""
    found = cli(*CLOCK, "--quotient", "saturation", *DUE, "--max-states", "60", "--json")
    assert found.code == 3
    (verdict,) = found.json["verdicts"]
    assert verdict["status"] == "UNDECIDED" and "classes of states" in verdict["because"]
    assert verdict["command"].endswith("--max-states 60 --quotient saturation")


@pytest.mark.parametrize(
    ("words", "said"),
    rest_slow(
        [
            (
                ("--quotient", "shifts"),
                "unknown quotient of clock: 'shifts' (did you mean shift?); there is: saturation, shift",
            ),
            (("--quotient", "shift", "--symmetry"), "leave one of them out"),
            (("--quotient", "shift", "--quotient", "shift"), "each once"),
            (("--quotient", "shift", "--wait-for", "w.dot"), "leave one of them out"),
            (("--symmetry",), "no theorem of markspace licenses a quotient of system 'clock'; leave --symmetry out"),
            (("--quotient", "shift", "--method", "symmetric"), "none is licensed"),
            ((), "perhaps no end, which a quotient (shift or saturation) may have"),
        ],
        6,
    ),
)
def test_what_makes_no_sense_is_bad_use(cli: Command, words: tuple[str, ...], said: str) -> None:
    """One line with the next step."""
    answer = cli(*CLOCK, *words)
    assert answer.code == 2 and said in answer.err and answer.err.count("\n") == 1


def test_a_mutant_has_no_licence(cli: Command) -> None:
    """It may be the very fault that the theorem excludes."""
    answer = cli("explore", "markspace", "--mutant", "due_by_the_time", "--quotient", "shift")
    assert answer.code == 2 and "a mutant has no licence" in answer.err


def test_plans_name_quotients_that_there_are() -> None:
    """For every protocol: groups, or abstractions joined by a plus."""
    from evenhand.core.registry import protocols

    asked: list[tuple[str, Plan]] = [(one.name, plan) for one in protocols() for plan in one.plans if plan.quotient]
    assert {plan.quotient for _, plan in asked} >= {"renaming", "shift+saturation"}
    for protocol, plan in asked:
        system = find(protocol).model.systems[plan.system]
        known = {one.name for one in system.quotients} | {one.name for one in system.abstractions}
        assert set(plan.quotient.split("+")) <= known, plan
