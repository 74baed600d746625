"""The words of the guard's answers are read from its functions: what is read is what the functions say.

Compared in every situation of two agents, and in some of three: which intents stand in which order and with which
confidence, whose action claims the resource, who runs a tool, under every policy.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import pytest

from evenhand.model.markspace.guard import REFERENCE, Rules, step
from evenhand.model.markspace.guard_vocabulary import (
    IDLE,
    Act,
    Config,
    Doing,
    GuardStep,
    Intent,
    Phase,
    Policy,
    State,
    What,
)
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace import batches, policies
from evenhand.proofs.markspace.intents import ROOM
from evenhand.proofs.markspace.rules import answered, fired
from evenhand.smt.smtlib import show
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.theory import Theory
from evenhand.source.refusal import Unreadable
from tests.deep import rest_slow

View: TypeAlias = Callable[[GuardStep], Structure | None]
PLACES = [(policy, waits) for policy in Policy for waits in (False, True)]


def _intents(agents: tuple[str, ...]) -> Iterator[tuple[Intent, ...]]:
    """Every order of one intent of each of some agents, with each of two confidences."""
    for many in range(len(agents) + 1):
        for listed in itertools.permutations(agents, many):
            for levels in itertools.product((0, 1), repeat=many):
                yield tuple(Intent(who, ROOM, sure, 1) for who, sure in zip(listed, levels, strict=True))


def _states(agents: tuple[str, ...]) -> Iterator[State]:
    doings = (IDLE, Doing(Phase.ALLOWED, ROOM), Doing(Phase.RUNNING, ROOM))
    for intents, claim in itertools.product(_intents(agents), (None, *agents)):
        for doing in itertools.product(doings, repeat=len(agents)):
            yield State(intents, doing, (claim,), (None,))


@cache
def situations(what: What, agents: int) -> tuple[tuple[Config, State, Act], ...]:
    """Every situation of two agents; of three, every 61st, under every policy."""
    names = tuple(f"agent_{number}" for number in range(1, agents + 1))
    found: list[tuple[Config, State, Act]] = []
    for policy, waits in PLACES:
        config = Config(names, (ROOM,), policy, 1, Readings(), deferred=waits)
        for state in _states(names):
            if what is What.BOUNDARY:
                found.append((config, state, Act(what, resource=ROOM)))
            else:
                found += [(config, state, Act(what, who, ROOM, sure)) for who in names for sure in (0, 1)]
    return tuple(found[:: 1 if agents == 2 else 61])


def differ(theory: Theory, view: View, words: tuple[str, ...], rules: Rules, what: What, agents: int = 2) -> set[str]:
    """Return the words that a theory defines otherwise than the steps of a kernel show them."""
    reader, found, compared = Reader(theory.meanings), set[str](), 0
    for config, state, act in situations(what, agents):
        after, shown = step(rules, config, state, act)
        structure = view(GuardStep(config, state, act, shown, after))
        if structure is not None:
            compared += 1
            bare = structure.without(words)
            found |= {
                one
                for one in words
                if reader.extension(theory.meanings[one].relation, bare) != structure.relations[one]
            }
    assert compared >= 100
    return found


REQUEST = ("found", "wins", "allowed", "blocked", "refused")
BOUNDARY = ("elected", "allowed", "blocked", "refused")
KERNELS: dict[str, Rules] = {
    "reference": REFERENCE,
    **{
        one.name: one.rules
        for one in (
            *(faulty.last_writer_wins, faulty.name_wins, faulty.least_confident_wins, faulty.ties_to_the_latest),
            *(faulty.yield_all_allows, faulty.claims_ignored, faulty.claims_hidden_by_intents),
            *(faulty.holders_kept_out, faulty.running_tools_claim, faulty.winner_withheld, faulty.everybody_is_allowed),
            *(faulty.batch_of_one, faulty.confidence_ignored),
        )
    },
}


@pytest.mark.parametrize("name", rest_slow([name for name in KERNELS if name != "batch_of_one"]))
def test_a_request_is_answered_as_its_words_say(name: str) -> None:
    """In every situation of two agents, and some of three, under every policy."""
    theory = policies.PRE_ACTION.redefined(policies.read(answered(KERNELS[name])))
    for agents in (2, 3):
        assert not differ(theory, policies.view, REQUEST, KERNELS[name], What.PRE, agents)


@pytest.mark.parametrize(
    "name", rest_slow([name for name in KERNELS if name not in ("running_tools_claim", "name_wins")])
)
def test_a_boundary_tells_what_its_words_say(name: str) -> None:
    """In every situation of two agents, and some of three; tools that run and names are no words of this theory."""
    meanings = fired(KERNELS[name])
    theory = batches.BOUNDARY.redefined(batches.BOUNDARY.means(word, body, name) for word, body in meanings.items())
    for agents in (2, 3):
        assert not differ(theory, batches.view, BOUNDARY, KERNELS[name], What.BOUNDARY, agents)


def test_words_of_other_rules_are_caught() -> None:
    """Planted: each mutant's words, compared with the reference's steps."""
    for mutant in policies.FAULTS:
        wrong = policies.PRE_ACTION.redefined(policies.FAULTS[mutant])
        assert differ(wrong, policies.view, REQUEST, REFERENCE, What.PRE), mutant.name
    for mutant in batches.FAULTS:
        wrong = batches.BOUNDARY.redefined(batches.FAULTS[mutant])
        assert differ(wrong, batches.view, BOUNDARY, REFERENCE, What.BOUNDARY, 3), mutant.name
    assert len(policies.FAULTS) >= 8 and len(batches.FAULTS) >= 4


def test_what_cannot_be_read_is_refused() -> None:
    """Rules that look at the seconds that an intent lives, resolve in no order, or resolve what may be empty."""
    with pytest.raises(Unreadable, match=r"guarding.py.*Intent has no field life"):
        fired(faulty.last_second_left_out.rules)

    def anybody(_config: Config, intents: tuple[Intent, ...]) -> Intent | None:
        return next(iter(frozenset(intents)))

    with pytest.raises(Unreadable, match=r"test_rules.py.*iter has no counterpart"):
        answered(replace(REFERENCE, resolve=anybody))

    with pytest.raises(Unreadable, match="may raise"):
        answered(faulty.batch_of_one.rules)


def test_words_are_short_and_the_same_in_every_process() -> None:
    """The names of bound variables count nothing that ran before."""
    answered.cache_clear()
    found = answered(REFERENCE)
    assert found == {name: policies.PRE_ACTION.meanings[name].body for name in found}
    assert show(found["found"]) == "(and (exists ((agent1 Agent)) (claims agent1)) (not (claims asker)))"
    assert show(found["undecided"]) == "(and (not by_confidence) yields)"
