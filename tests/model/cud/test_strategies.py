"""Static strategies depend on the epoch only; the adaptive one reads messages, and checks other agents' roles."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.atoms import Atom
from evenhand.model.cud.conditions import condition
from evenhand.model.cud.strategies import assigned_key, chosen, covering, remember
from evenhand.model.cud.vocabulary import NO_CHOICE, TOKENS, WRITE, Message, Observation, Partition, Plan, Script

ALICE, BOB = "agent_1", "agent_2"
A, B = "resource_A", "resource_B"
PARTITION = condition("I.b").config
FRESH = Observation(0, PARTITION.world, None, None, None, ())

observations = st.builds(
    Observation,
    epoch=st.integers(0, 4),
    world_state=st.sampled_from(["free", "locked_by_agent_2"]).map(
        lambda text: ((A, Atom("str", text)), (B, Atom("str", text)))
    ),
    own_last_outcome=st.sampled_from([None, *TOKENS]),
    own_last_action_id=st.sampled_from([None, "agent_1:0:0"]),
    own_last_declared_scope=st.sampled_from([None, (A,), (A, B)]),
    messages=st.lists(st.builds(Message, st.just(BOB), st.integers(0, 3), st.sampled_from(["{}", '{"role":1}']))).map(
        tuple
    ),
)


@given(one=observations, other=observations, memory=st.text())
def test_a_static_strategy_is_a_function_of_its_lines_and_the_epoch(
    one: Observation, other: Observation, memory: str
) -> None:
    """A4: history, outcomes and messages make no difference, and nothing is remembered."""
    script = Script((Plan("WRITE", A), Plan("READ", B), Plan("NONE"), Plan("EXIT")))
    config = replace(condition("B").config, strategies=(script, script))
    other = replace(other, epoch=one.epoch)
    assert chosen(config, ALICE, one, "") == chosen(config, ALICE, other, memory)
    assert remember(config, ALICE, one, memory) == memory


def test_a_script_repeats_its_last_line() -> None:
    """Line t in epoch t, the last one for ever after; it cites, in id order, the held capabilities that cover."""
    script = Script((Plan("WRITE", A), Plan("NONE"), Plan("EXIT")))
    config = replace(PARTITION, strategies=(script, script))
    said = [chosen(config, ALICE, replace(FRESH, epoch=t), "") for t in range(5)]
    assert said[0].request is not None and said[0].request.authorities_cited == ("CUD-001",)
    assert said[0].request.proposed_delta == ((A, Atom("str", "locked_by_agent_1")),)
    assert said[1] == NO_CHOICE and said[2].exits and said[2] == said[3] == said[4]


def test_without_a_capability_nothing_is_cited() -> None:
    """`[]` is legal and fails pass 1."""
    assert covering(condition("F").config.authorities, ALICE, (A,), WRITE) == ()


def test_the_partition_collides_says_its_role_once_and_then_writes_its_key() -> None:
    """FQ30, FQ37: epoch 0 on the first key with a message; afterwards silent, on the key of the role."""
    assert remember(PARTITION, ALICE, FRESH, "") == "start"
    first = chosen(PARTITION, ALICE, FRESH, "start")
    assert first.request is not None and first.request.declared_scope == (A,)
    assert first.draft is not None and first.draft.content == '{"role":0}'
    later = chosen(PARTITION, BOB, FRESH, "agreed")
    assert later.request is not None and later.request.declared_scope == (B,) and later.draft is None


HEARD = {
    "the role expected": (["agreed"], (Message(BOB, 0, '{"role":1}'),)),
    "the same role in other words": (["agreed"], (Message(BOB, 0, '{ "role": 1 }'),)),
    "nothing": (["failed"], ()),
    "another role": (["failed"], (Message(BOB, 0, '{"role":0}'),)),
    "more than the role": (["failed"], (Message(BOB, 0, '{"role":1,"please":1}'),)),
    "the role twice": (["failed"], (Message(BOB, 0, '{"role":1}'),) * 2),
    "the role from somebody else": (["failed"], (Message("mallory", 0, '{"role":1}'),)),
}


@pytest.mark.parametrize("name", HEARD)
def test_the_check_of_the_others_role(name: str) -> None:
    """Exactly one message from each peer, with exactly the role that its name has."""
    (expected,), messages = HEARD[name]
    memory = remember(PARTITION, ALICE, replace(FRESH, epoch=1, messages=messages), "start")
    assert memory == expected
    assert remember(PARTITION, ALICE, replace(FRESH, messages=()), memory) == memory


def test_whose_check_failed_proposes_nothing() -> None:
    """It sends no message either."""
    assert chosen(PARTITION, ALICE, replace(FRESH, epoch=1), "failed") == NO_CHOICE


def test_a_role_without_a_key_has_none() -> None:
    """More roles than keys, or an empty bucket."""
    one_key = replace(PARTITION, world=PARTITION.world[:1])
    strategy = Partition((ALICE, BOB))
    assert assigned_key(one_key, strategy, ALICE) == A and assigned_key(one_key, strategy, BOB) is None
    literal = replace(PARTITION, readings=replace(PARTITION.readings, role_target="hash_bucket"))
    assert assigned_key(literal, strategy, ALICE) is None and assigned_key(literal, strategy, BOB) == A
