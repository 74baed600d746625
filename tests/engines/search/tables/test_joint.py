"""Joint choices from tables: the result is that of explicit search, number by number, and planted faults are found."""

# pyright: reportPrivateUsage=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from math import inf
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from evenhand.core.answers import ModelError
from evenhand.core.property import Property
from evenhand.core.system import AnySystem
from evenhand.search import tables
from evenhand.search.bounds import Bounds
from evenhand.search.configuration import search_one
from evenhand.search.methods import method_for
from evenhand.search.tables import joint_method
from evenhand.search.tables.acting import Acting, Reader
from evenhand.search.tables.asking import Updated
from evenhand.search.tables.classes import Leaf, Unit
from evenhand.search.tables.joint import JointLearner
from evenhand.search.tables.joint_walk import JointWalk
from evenhand.search.totals import Result
from tests.deep import rest_deep, rest_slow
from tests.engines.search.suite import joint_claims
from tests.engines.search.tables.forced import explicitly
from tests.engines.search.tables.joint_hostile import WAYS
from tests.models.random_systems import joint_system


def from_tables(system: AnySystem, claims: Sequence[Property], config: Any = None) -> tuple[Result, str, str]:
    """Search from tables at once; return the result, the method that was used, and why."""
    chosen = next(iter(system.all_configs())) if config is None else config
    worth = patch.object(joint_method, "_beyond", return_value=1)  # also where nothing lies beyond the first step
    with patch.multiple(tables, STEPS=0, JOINT_SHARE=inf), worth:
        found = search_one(method_for(system, None)[0], chosen, 0, claims, Bounds())
    name, why = found.how[0]
    return replace(found, how=()), name, why


@pytest.mark.parametrize("name", rest_slow(WAYS, 8))
def test_way(name: str) -> None:
    """The tables serve all claims, some of them or nothing, as the list says, and never say anything else."""
    make, served = WAYS[name]
    system, claims = make()
    try:
        expected = explicitly(system, claims)
    except ModelError:
        assert served == 0
        system, claims = make()
        with suppress(ModelError):
            assert from_tables(system, claims)[1] == "explicit"
        return
    system, claims = make()
    found, method, why = from_tables(system, claims)
    assert found == replace(expected, counted=found.counted), why
    assert method == ("compiled" if served else "explicit"), why
    assert ("was left to" in why) is (served == 1), why


def test_the_list_is_long() -> None:
    """A list that shrinks shows less."""
    assert len(WAYS) >= 35
    assert sum(served == 2 for _, served in WAYS.values()) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", rest_deep(range(12)))
@pytest.mark.parametrize("plain", [False, True])
def test_random_systems(seed: int, plain: bool) -> None:
    """Systems with a separated step, and the same ones without: every count and finding is that of explicit search."""
    system = joint_system(seed, variant=f"drawn {seed}")
    system = replace(system, separated=None) if plain else system
    claims = joint_claims(seed)
    for config in system.all_configs():
        found, method, why = from_tables(system, claims, config)
        expected = search_one(method_for(system, "explicit")[0], config, 0, claims, Bounds())
        assert found == expected, why
        assert method == "compiled", why


FAULTY = (
    "a_separated_step",
    "claims_that_ask_for_the_action",
    "claims_that_compare_before_and_after",
    "claims_about_runs",
    "monitors",
    "a_part_moves",
    "offers_that_depend_on_the_state",
    "parts_that_change_late",
)
"""Ways in which faults are planted."""

Planted = Callable[[], AbstractContextManager[Any]]


def kept_column_written() -> AbstractContextManager[Any]:
    """A column that a step keeps gets the value of the state that the class was learned from."""
    real = JointLearner._after

    def after(self: JointLearner, column: int, value: Any) -> int:
        number = real(self, column, value)
        return 0 if number < 0 else number

    return patch.object(JointLearner, "_after", after)


def column_not_read() -> AbstractContextManager[Any]:
    """What a claim reads of the steps of a group makes its column no part of the class."""
    real = Leaf.divide

    def divide(self: Leaf, more: set[int]) -> None:
        asked, self.asked = self.asked, [set() for _ in self.asked]
        real(self, more)
        self.asked = asked

    return patch.object(Leaf, "divide", divide)


def constants_kept() -> AbstractContextManager[Any]:
    """What was taken for constant is so after it has changed."""
    return patch.object(JointLearner, "_loosen", lambda _self: None)


def values_read_forgotten() -> AbstractContextManager[Any]:
    """The answers about actions are kept without the values that were read."""
    return patch.object(Reader, "key", lambda _self, _numbers, job: (job.unit, job.shown, job.after))


def kept_columns_forgotten() -> AbstractContextManager[Any]:
    """The answers about actions are kept without which columns the step keeps."""
    real = Reader.key

    def key(self: Reader, numbers: Any, job: Any) -> Any:
        every: Any = real(self, numbers, job)
        return (*every[:2], *every[3:])

    return patch.object(Reader, "key", key)


def effects_of_another_class() -> AbstractContextManager[Any]:
    """What verdicts do is what they did for the first values that they read."""
    real, kept = JointLearner._effects, dict[Any, Any]()

    def effects(self: JointLearner, leaf: Any, part: Any, numbers: Any) -> Any:
        key = leaf.number, tuple(part.groups), part.reads
        return kept[key] if key in kept else kept.setdefault(key, real(self, leaf, part, numbers))

    return patch.object(JointLearner, "_effects", effects)


def part_forgotten() -> AbstractContextManager[Any]:
    """A state has no class of its last part."""
    real = JointLearner._kinds

    def kinds(self: JointLearner, *given: Any) -> Any:
        found = real(self, *given)
        return found[:-1] if len(found) > 1 else found

    return patch.object(JointLearner, "_kinds", kinds)


def words_of_another_row() -> AbstractContextManager[Any]:
    """The words after a step are those of the row before."""
    real = JointWalk.words_after

    def after(self: JointWalk, sids: Any, row: Any) -> Any:
        return real(self, sids, np.maximum(row, 1) - 1)

    return patch.object(JointWalk, "words_after", after)


def weight_lost() -> AbstractContextManager[Any]:
    """A row forgets all but one of the actions of a group that it stands for."""
    real = Acting.parted

    def parted(self: Acting, *given: Any) -> Any:
        for job, asks, part in real(self, *given):
            unit = part.taken.unit
            one = Unit(unit.leaf, unit.group, unit.members[:1])
            yield job, asks, part._replace(taken=part.taken._replace(unit=one))

    return patch.object(Acting, "parted", parted)


def wrong_row() -> AbstractContextManager[Any]:
    """A state gets the rows of another class."""
    real = JointLearner.classified

    def classified(self: JointLearner, rows: Any) -> Any:
        counts, kinds = real(self, rows)
        return counts, np.where(kinds == 2, 1, kinds)

    return patch.object(JointLearner, "classified", classified)


def answers_turned() -> AbstractContextManager[Any]:
    """Claims that ask for the action get the answers of the actions in another order."""
    real = Acting._evaluated

    def evaluated(self: Acting, *given: Any) -> Any:
        found, grown = real(self, *given)
        return [one and tuple([each[1:] + each[:1] for each in one]) for one in found], grown

    return patch.object(Acting, "_evaluated", evaluated)


def monitor_lags() -> AbstractContextManager[Any]:
    """A monitor keeps its value where it was two."""
    real = Updated.answers

    def following(self: Updated, rows: Any, count: int) -> Any:
        after = real(self, rows, count)
        return np.where(rows[-1] == 2, rows[-1], after)

    return patch.object(Updated, "answers", following)


@pytest.mark.parametrize(
    "planted",
    rest_slow(
        [
            kept_column_written,
            column_not_read,
            constants_kept,
            effects_of_another_class,
            part_forgotten,
            words_of_another_row,
            wrong_row,
            answers_turned,
            weight_lost,
            values_read_forgotten,
            kept_columns_forgotten,
            monitor_lags,
        ]
    ),
)
def test_planted_fault(planted: Planted) -> None:
    """The comparison with the plain functions finds it in some system, and no system has a wrong result."""
    caught = 0
    for name in FAULTY:
        make, _ = WAYS[name]
        system, claims = make()
        expected = explicitly(system, claims)
        system, claims = make()
        with planted():
            found, method, why = from_tables(system, claims)
        assert replace(expected, counted=found.counted) == found, (name, why)
        caught += method == "explicit" or "was left to" in why
    assert caught
