"""A search of a part of the configurations: its own results, and those that need the other parts."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.core.property import DeterminedBy, EachStep, Property, Reachable
from evenhand.core.verdict import Status
from evenhand.jobs.plan import Job, chosen_part
from evenhand.search import explore
from tests.engines.search.suite import LICENCE
from tests.models.random_systems import joint_system

SYSTEM: Any = joint_system(1, kernels=6)
CONFIGS = list(SYSTEM.all_configs())
SIZE = len(CONFIGS)


def _of(config: Any) -> tuple[Property, ...]:
    """Return a claim that only steps of one configuration violate, and the goal to see such a step."""
    return (
        EachStep(name="never", sentence="", check=lambda step: step.config != config),
        Reachable(name="seen", sentence="", goal=lambda step: step.config == config),
    )


@pytest.mark.parametrize("licence", [None, LICENCE], ids=["full", "quotient"])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_the_parts_make_the_whole(licence: Any, parts: int) -> None:
    """Every configuration (or orbit) is in one part, and violations are counted in it."""
    claims = (EachStep(name="none", sentence="", check=lambda _: False),)
    whole = explore(SYSTEM, claims, licence=licence)
    found = [explore(SYSTEM, claims, licence=licence, part=(first, parts)) for first in range(1, parts + 1)]
    for count in ("states", "transitions", "edges", "configs", "searched"):
        assert sum(getattr(one, count) for one in found) == getattr(whole, count), count
    assert max(one.depth for one in found) == whole.depth
    violations = [one.verdicts[0].coverage["violations"] for one in found]
    assert sum(violations) == whole.verdicts[0].coverage["violations"] > 0
    assert min(one.configs for one in found) > 0


def test_a_part_says_nothing_of_the_others() -> None:
    """A claim that holds in the part holds with that scope; an unmet goal or a comparison waits for the others."""
    here, there = (explore(SYSTEM, _of(CONFIGS[0]), part=(part, 2)) for part in (1, 2))
    assert [one.status for one in here.verdicts] == [Status.REFUTED, Status.HOLDS]
    assert [one.status for one in there.verdicts] == [Status.HOLDS, Status.UNDECIDED]
    assert there.verdicts[0].scope["part"] == "2/2" and there.verdicts[0].scope["configs"] == SIZE // 2
    assert there.verdicts[1].because == "part 2/2 of the configurations decides nothing about the others"
    second = explore(SYSTEM, _of(CONFIGS[1]), part=(1, 2))
    assert [one.status for one in second.verdicts] == [Status.HOLDS, Status.UNDECIDED]


def test_what_is_compared_across_configurations_waits_for_all_of_them() -> None:
    """Even where the values in the part agree."""
    same = DeterminedBy(name="same", sentence="", key=lambda _: 0, value=lambda _: 0, across=True)
    assert explore(SYSTEM, [same]).verdicts[0].status is Status.HOLDS
    found = explore(SYSTEM, [same], part=(1, 2)).verdicts[0]
    assert found.status is Status.UNDECIDED and "decides nothing about the others" in found.because


@pytest.mark.parametrize("part", [(0, 2), (3, 2), (1, SIZE + 1)])
def test_a_part_that_there_is_not(part: tuple[int, int]) -> None:
    """One message with the number of configurations."""
    with pytest.raises(ValueError, match=f"of {SIZE} configurations"):
        explore(SYSTEM, part=part)


@pytest.mark.parametrize("written", ["1", "/2", "0/2", "3/2", "a/b", "1/2/3", "-1/2"])
def test_a_part_is_written_as_a_fraction(written: str) -> None:
    """Any other form is named, with the right form."""
    with pytest.raises(ValueError, match="is not of the form k/n"):
        chosen_part(written)


def test_a_job_of_a_part_says_so() -> None:
    """In its title and in the command that repeats it."""
    job = Job("cud", "explore", "universe", part="1/4", quotient="renaming")
    assert job.title == "explore cud universe part 1/4"
    assert job.command == "evenhand explore cud --system universe --part 1/4 --quotient renaming"
    assert chosen_part(job.part) == (1, 4) and chosen_part("") is None
