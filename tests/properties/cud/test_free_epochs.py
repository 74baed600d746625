"""Execution among free agents: claims compared with an enumeration that is independent of model and claims.

The other claims about the free-agent graph are about results of whole epochs.  A kernel that executes something else
than the admitted requests, or nothing, passes all of them.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evenhand.core.atoms import Atom
from evenhand.core.property import EachStep
from evenhand.core.registry import find
from evenhand.core.system import Step
from evenhand.core.verdict import Status
from evenhand.model.cud.free_system import EXITED, FreeShown, FreeState
from evenhand.model.cud.kernel import Happened
from evenhand.model.cud.step import changes
from evenhand.model.cud.vocabulary import DONE, FAILURE, FAULT, IDLE, NO_CHOICE, Choice, Config, Epoch, Request
from evenhand.search import ModelError, explore
from evenhand.variants.automatic import PREFIX, mutated, sources
from evenhand.variants.separate import separate

BUNDLE = find("cud")
FREE: Any = BUNDLE.model.systems["free"]
CLAIMS = BUNDLE.claims_of("free")
NAMES = ("only_own_scope_changes", "executed_writes_take_effect", "outcomes_are_those_of_the_text")
EPOCHS = [claim for claim in CLAIMS if isinstance(claim, EachStep) and claim.name in NAMES]
EXECUTE = f"{PREFIX}kernel.execute"
TOKENS = {0: EXITED, 2: DONE, 3: FAILURE, 4: IDLE}
"""The enumeration's statuses in the words of the protocol."""
VALUES = (Atom("int", "0"), Atom("int", "1"))


def _oracle() -> ModuleType:
    path = Path(__file__).parents[2] / "oracles" / "free_agent_graph.py"
    spec = importlib.util.spec_from_file_location("free_agent_graph", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


ORACLE = _oracle()


def _choice(config: Config, choice: Any) -> tuple[str, int, int]:
    """Return a choice in the enumeration's words."""
    if choice.exits:
        return ("exit", 0, 0)
    if choice.request is None:
        return ("nothing", 0, 0)
    (key,) = choice.request.declared_scope
    value = int(choice.request.proposed_delta[0][1].text) if choice.request.proposed_delta else 0
    return (choice.request.action_type.lower(), config.keys.index(key), value)


def _step(config: Config, before: FreeState, action: Epoch, told: tuple[str, ...], world: Any) -> Any:
    """Return a step with these tokens and this world, from any source."""
    tokens = tuple(sorted(zip((agent for agent, _ in action.choices), told, strict=True)))
    shown = FreeShown(tokens, changes(before.world, world), Happened(True, False, False, world != before.world))
    return Step(config, before, action, shown, FreeState(world, before.marks, before.counter))


def _epochs() -> Iterator[tuple[Config, FreeState, Epoch, tuple[str, ...], tuple[int, ...]]]:
    """Yield every joint choice of two agents in every world of two keys, with the enumeration's result."""
    (config,) = FREE.all_configs()
    (start,) = FREE.initial(config)
    for values in itertools.product(range(2), repeat=2):
        world = tuple(zip(config.keys, (VALUES[value] for value in values), strict=True))
        before = FreeState(world, start.marks, 0)
        for action in FREE.enabled(config, before):
            joint = {config.agents.index(agent): _choice(config, choice) for agent, choice in action.choices}
            written, statuses, _ = ORACLE.effect(joint, 2, 2)
            now = tuple(old if new is None else new for old, new in zip(values, written, strict=True))
            yield config, before, action, tuple(TOKENS[one] for one in statuses), now


def test_the_claims_allow_what_the_enumeration_says_and_nothing_else() -> None:
    """The claims object to every other token of any agent and every other world, so they determine the observation."""
    tried = objected = 0
    for config, before, action, told, now in _epochs():
        for tokens in itertools.product((DONE, FAILURE, FAULT, IDLE, EXITED), repeat=2):
            for values in itertools.product(range(2), repeat=2):
                world = tuple(zip(config.keys, (VALUES[value] for value in values), strict=True))
                step = _step(config, before, action, tokens, world)
                accepted = all(claim.check(step) for claim in EPOCHS if claim.when(step))
                right = (tokens, values) == (told, now)
                # Without submissions there is no request for these claims; other claims cover such an epoch.
                silent = not any(choice.request for _, choice in action.choices if not choice.exits)
                assert accepted == right or (silent and accepted)
                tried, objected = tried + 1, objected + (not accepted)
    assert tried == 4 * 64 * 25 * 4 and objected > 20_000


def test_no_execution_is_refuted() -> None:
    """Nothing admitted is executed: no claim about whole epochs objects."""
    verdicts = {v.claim: v.status for v in explore(mutated(FREE, f"{EXECUTE}:drop_statement_5"), CLAIMS).verdicts}
    refuted = {name for name, status in verdicts.items() if status is Status.REFUTED}
    assert {"executed_writes_take_effect", "outcomes_are_those_of_the_text"} <= refuted
    stated = {one.name for one in CLAIMS} - set(NAMES) - {"livelock_free"}
    assert all(verdicts[name] is Status.HOLDS for name in stated)


def _fate(variant: str) -> str:
    """Return killed by a claim, equal to the reference in the whole scope, stillborn, or none of these."""
    try:
        faulty = mutated(FREE, variant)
        verdicts = explore(faulty, CLAIMS).verdicts
    except ModelError:
        return "stillborn"
    if any(v.status is Status.REFUTED and v.claim != "livelock_free" for v in verdicts):
        return "killed"
    return "equal" if separate(FREE, faulty, examples=0).equal else "survives"


@pytest.mark.slow
def test_no_fault_of_execution_survives() -> None:
    """All faults made by rule in `execute`."""
    known = sources(FREE)
    name = EXECUTE.removeprefix(PREFIX)
    changes_ = [one.name for one in known.changes(name) if known.made(name, one.name)[0] is not None]
    fates = {change: _fate(f"{EXECUTE}:{change}") for change in changes_}
    assert [change for change, fate in fates.items() if fate == "survives"] == []
    assert list(fates.values()).count("killed") >= 7


def test_what_counts_towards_a_livelock_is_claimed() -> None:
    """Any for all, pass 1 for pass 2, and flags exchanged, in the record of an epoch."""
    (claim,) = (one for one in CLAIMS if one.name == "livelock_is_counted_from_what_happened")
    for change in ("verdict:other_call_1", "verdict:other_call_2", "verdict:other_comparison_5", "apply:other_field_2"):
        faulty = mutated(FREE, f"auto:free_system.{change}")
        assert explore(faulty, [claim]).verdicts[0].status is Status.REFUTED, change


def test_who_changes_what_was_not_declared_is_told_the_fault() -> None:
    """Off the menu too, the graph answers as a whole epoch does: a stray change is a fault, a stray value is none."""
    (config,) = FREE.all_configs()
    (start,) = FREE.initial(config)
    declared, stray = config.keys
    for value, token in zip(VALUES, (DONE, FAULT), strict=True):
        asked = Request("WRITE", (declared,), ((declared, VALUES[1]), (stray, value)), ("CUD-001",))
        action = Epoch(((config.agents[0], Choice(asked)), (config.agents[1], NO_CHOICE)))
        step = FREE.take(config, start, action)
        assert step.shown.tokens == ((config.agents[0], token), (config.agents[1], IDLE))
        assert [one.key for one in step.shown.effects] == ([declared] if token == DONE else [])
        assert step.after.marks == (token, IDLE)
        assert all(claim.check(step) for claim in EPOCHS if claim.when(step))
