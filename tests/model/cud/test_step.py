"""One epoch: total on hostile choices, exact on malformed requests, and without changes of its arguments."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.codec import encode
from evenhand.core.lookup import UnknownName
from evenhand.core.system import reading_values
from evenhand.model.cud.free_system import FREE
from evenhand.model.cud.free_system import initial as free_initial
from evenhand.model.cud.kernel import REFERENCE
from evenhand.model.cud.layouts import start_world
from evenhand.model.cud.protocol import CUD
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.run_system import RUN, malformed_requests
from evenhand.model.cud.step import initial, step
from evenhand.model.cud.strategies import covering
from evenhand.model.cud.vocabulary import (
    DONE,
    FAILURE,
    FAULT,
    IDLE,
    NO_CHOICE,
    READ,
    WRITE,
    Choice,
    Config,
    Draft,
    Epoch,
    Request,
    Shown,
    State,
    allow,
)

A, B = "resource_A", "resource_B"
ALICE, BOB = "agent_1", "agent_2"
BOTH = ((A, READ), (A, WRITE), (B, READ), (B, WRITE))
CONFIG = Config((ALICE, BOB), start_world((A, B)), (allow(1, ALICE, *BOTH), allow(2, BOB, *BOTH)), epochs=3)
START = initial(CONFIG)[0]
X = Atom("str", "x")


def write(agent: str, *scope: str, **more: Any) -> Choice:
    """Return an honest WRITE of these keys."""
    cited = covering(CONFIG.authorities, agent, scope, WRITE)
    return Choice(replace(Request(WRITE, scope, tuple((key, X) for key in scope), cited), **more))


def epoch(state: State, *choices: tuple[str, Choice], config: Config = CONFIG) -> tuple[State, Shown]:
    """Run one epoch of the honest kernel."""
    return step(REFERENCE, config, state, Epoch(choices))


MALFORMED = malformed_requests(CONFIG, ALICE)


@pytest.mark.parametrize("kind", MALFORMED)
def test_each_malformed_request_is_that_fault_and_changes_nothing(kind: str) -> None:
    """Faulty in the log, a bare token for the agent, an unchanged world, and no effect on other agents."""
    after, shown = epoch(START, (ALICE, Choice(MALFORMED[kind])), (BOB, write(BOB, A)))
    entry = shown.log[0]
    assert (entry.agent_id, entry.verdict, entry.fault, entry.outcome) == (
        ALICE,
        "STRUCTURE",
        "MALFORMED_REQUEST",
        FAULT,
    )
    assert entry.action_id == "agent_1:0:0" and entry.request == MALFORMED[kind]
    assert shown.tokens == ((ALICE, FAULT), (BOB, DONE)) and shown.receipts == ()
    alone, quiet = epoch(START, (ALICE, Choice(MALFORMED[kind])), (BOB, NO_CHOICE))
    assert alone.world == START.world and quiet.effects == ()
    assert dict(after.world)[A] == X


@pytest.mark.parametrize("kind", MALFORMED)
def test_each_kind_is_malformed_for_the_reason_it_is_named_after(kind: str) -> None:
    """The nine kinds are nine reasons; without its flaw the same request is executed or refused, not faulty."""
    bound = REFERENCE.bind(ALICE, "agent_1:0:0", MALFORMED[kind])
    assert REFERENCE.malformed(CONFIG, bound) == kind


def test_opaque_values_of_every_sort_are_malformed() -> None:
    """NaN, objects, lists and functions are no JSON primitives."""
    for what in ("nan", "infinity", "object", "list", "function", "bytes"):
        _, shown = epoch(START, (ALICE, write(ALICE, A, proposed_delta=((A, Opaque(what)),))), (BOB, NO_CHOICE))
        assert shown.log[0].fault == "MALFORMED_REQUEST"


HOSTILE: dict[str, tuple[tuple[str, Choice], ...]] = {
    "nobody": (),
    "an unknown agent": (("mallory", write(ALICE, A)), (ALICE, NO_CHOICE), (BOB, NO_CHOICE)),
    "one agent twice": ((ALICE, write(ALICE, A)), (ALICE, write(ALICE, B)), (BOB, NO_CHOICE)),
    "one agent exits and submits": (
        (ALICE, Choice(write(ALICE, A).request, Draft("{}"), exits=True)),
        (BOB, NO_CHOICE),
    ),
    "a name that is no name": (("", write(ALICE, A)), ("\ud800", NO_CHOICE)),
    "a thousand choices": ((BOB, write(BOB, A)),) * 1000,
    "a long scope": ((ALICE, write(ALICE, *(f"key_{i}" for i in range(1000)))),),
    "messages where there is no channel": ((ALICE, Choice(draft=Draft("{}", BOB))), (BOB, Choice(draft=Draft("")))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_step_is_total(name: str) -> None:
    """No joint choice raises, and every agent in the run learns one bare token or leaves."""
    after, shown = epoch(START, *HOSTILE[name])
    assert after.epoch == 1
    assert sorted((*dict(shown.tokens), *shown.exits)) == [ALICE, BOB]
    assert [effect.key for effect in shown.effects if effect.key not in (A, B)] == []


def test_who_is_rejected_and_why() -> None:
    """Unknown agents, second choices and exited agents are rejected by name, and get no outcome."""
    _, shown = epoch(START, *HOSTILE["an unknown agent"])
    assert shown.rejected == (("mallory", "unknown agent"),) and shown.log == ()
    after, shown = epoch(START, *HOSTILE["one agent twice"])
    assert shown.rejected == ((ALICE, "chose twice in one epoch"),)
    assert dict(after.world) == {A: X, B: Atom("str", "free")}
    gone, shown = epoch(START, *HOSTILE["one agent exits and submits"])
    assert shown.exits == (ALICE,) and shown.log == () and shown.sent == () and gone.world == START.world
    _, shown = epoch(gone, (ALICE, write(ALICE, A)), (BOB, write(BOB, A)))
    assert shown.rejected == ((ALICE, "not in the run"),)
    assert shown.tokens == ((BOB, DONE),) and dict(shown.seen).keys() == {BOB}


def test_silence_is_no_action() -> None:
    """A silent agent gets NO_ACTION."""
    assert epoch(START)[1].tokens == ((ALICE, IDLE), (BOB, IDLE))


def test_silence_of_a_free_agent_is_no_action_too() -> None:
    """Whoever chooses nothing gets NO_ACTION where agents are free, and an epoch in which all do ends a livelock."""
    alone = Epoch(((ALICE, write(ALICE, A)),))
    first = FREE.take(CONFIG, free_initial(CONFIG)[0], alone)
    assert first.shown.tokens == ((ALICE, DONE), (BOB, IDLE)) and first.after.marks == (DONE, IDLE)
    quiet = FREE.take(CONFIG, replace(first.after, counter=2), Epoch(()))
    assert quiet.shown.tokens == ((ALICE, IDLE), (BOB, IDLE)) and quiet.after.counter == 0


@pytest.mark.parametrize(
    ("content", "unsaid"),
    [
        ('{"a":1,"a":2}', True),
        ('{"a":1e999}', True),
        ('{"a":' * 70 + "1" + "}" * 70, True),
        ("[" * 100_000, False),  # over the limit of bytes
        ('{"a":NaN}', False),
        ('{"a":1', False),
        ("[1]", False),
        ('{"a":1,"b":2}', False),
        (Opaque("function"), False),
    ],
)
def test_no_kernel_is_asked_what_only_some_readers_of_json_take(content: Any, unsaid: bool) -> None:
    """FQ21 asks for JSON; a text that no reader takes, all take, or that is too long is asked, and so is all unsent."""
    action = Epoch(((BOB, NO_CHOICE), (ALICE, Choice(draft=Draft(content)))))
    assert RUN.is_unsaid(replace(CONFIG, communication=True), START, action) is unsaid
    assert not RUN.is_unsaid(CONFIG, START, action)


def test_after_the_end_everything_is_rejected() -> None:
    """No epoch or no agent is left: state and world stay unchanged."""
    spent = replace(START, epoch=3)
    left, _ = epoch(START, (ALICE, Choice(exits=True)), (BOB, Choice(exits=True)))
    for state in (spent, left):
        after, shown = epoch(state, (BOB, write(BOB, A)), (ALICE, write(ALICE, B)))
        assert after == state
        assert shown == Shown(rejected=((ALICE, "the run is over"), (BOB, "the run is over")))


def test_one_agent_is_enough() -> None:
    """n >= 1: one agent has no conflicts."""
    config = replace(CONFIG, agents=(ALICE,))
    after, shown = step(REFERENCE, config, initial(config)[0], Epoch(((ALICE, write(ALICE, A)),)))
    assert shown.tokens == ((ALICE, DONE),) and dict(after.world)[A] == X


def test_nothing_can_be_changed_after_submission() -> None:
    """Requests, messages, states and observations are frozen; an epoch leaves its arguments unchanged."""
    choice = Choice(write(ALICE, A).request, Draft('{"role":0}'))
    action = Epoch(((ALICE, choice), (BOB, write(BOB, A))))
    config = replace(CONFIG, communication=True)
    given = (config, START, action)
    before = encode(given)
    after, shown = step(REFERENCE, config, START, action)
    assert encode(given) == before
    frozen: list[tuple[Any, str]] = [
        (choice.request, "proposed_delta"),
        (choice.draft, "content"),
        (after, "world"),
        (shown, "tokens"),
        (shown.log[0], "outcome"),
        (shown.sent[0], "sender"),
    ]
    for thing, name in frozen:
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, ())
        hash(thing)


def test_the_worked_epoch() -> None:
    """By hand: a collision on A, a lone READ of B; two refused, one executed, the world as it was."""
    third = "agent_3"
    pairs = (*CONFIG.authorities, allow(3, third, *BOTH))
    config = replace(CONFIG, agents=(ALICE, BOB, third), authorities=pairs)
    after, shown = step(
        REFERENCE,
        config,
        initial(config)[0],
        Epoch(((ALICE, write(ALICE, A)), (BOB, write(BOB, A)), (third, Choice(Request(READ, (B,), (), ("CUD-003",)))))),
    )
    assert shown.tokens == ((ALICE, FAILURE), (BOB, FAILURE), (third, DONE))
    assert [entry.verdict for entry in shown.log] == ["PASS_TWO", "PASS_TWO", "ADMITTED"]
    assert after.world == config.world and shown.effects == ()


def test_every_reading_runs_and_an_unknown_one_is_refused() -> None:
    """Each legal value runs an epoch; an unknown reading or value is named."""
    for name, values in reading_values(Readings()).items():
        for value in values:
            system = RUN.at(keys=1, epochs=1).under(**{name: value})
            config = next(iter(system.all_configs()))
            for action in system.enabled(config, initial(config)[0]):
                assert system.take(config, initial(config)[0], action).after.epoch == 1
    with pytest.raises(UnknownName, match="mood"):
        RUN.under(mood="good")
    with pytest.raises(UnknownName, match="sometimes"):
        RUN.under(silent_epoch="sometimes")


def test_the_bundle_is_complete() -> None:
    """The registry finds the systems, mutants and readings."""
    assert list(CUD.systems) == ["run", "free", "universe", "conditions"]
    assert len(CUD.mutants) > 60 and CUD.readings == Readings()
