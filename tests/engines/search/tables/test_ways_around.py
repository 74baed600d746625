"""Every way around a proxy is followed rightly or refused: the counts are those of explicit search."""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from __future__ import annotations

import pytest

import evenhand
from evenhand.core.answers import ModelError
from evenhand.core.property import Property
from evenhand.core.system import AnyStep
from tests.deep import rest_slow
from tests.engines.search.tables.forced import explicitly, searched
from tests.engines.search.tables.hostile import WAYS


@evenhand.always("The second part is never four.")
def never_four(state: object) -> bool:
    """False in many of the systems, so that findings are compared as well."""
    return getattr(state, "y", 0) != 4


@evenhand.each_step("The parts never change both.")
def one_at_a_time(step: AnyStep) -> bool:
    """A claim about both states."""
    return bool(step.before.x == step.after.x or step.before.y == step.after.y)


CLAIMS: tuple[Property, ...] = (never_four, one_at_a_time)


@pytest.mark.parametrize("name", rest_slow(WAYS, 3))
def test_way(name: str) -> None:
    """The result is that of explicit search, number by number, and the tables are used where they should be."""
    make, followed = WAYS[name]
    try:
        expected = explicitly(make(), CLAIMS)
    except ModelError as error:
        with pytest.raises(ModelError, match=str(error)[:20]):
            searched(make(), CLAIMS)
        assert not followed
        return
    found, method, why = searched(make(), CLAIMS)
    assert found == expected, why
    assert method == ("compiled" if followed else "explicit"), why


def test_the_list_is_long() -> None:
    """A list that shrinks shows less."""
    assert len(WAYS) >= 75
    assert sum(followed for _, followed in WAYS.values()) >= 40
