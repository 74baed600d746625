"""The gallery of known systems: counts by the search, by a plain loop and as published; verdicts as registered."""

from __future__ import annotations

import ast
from typing import Any

import pytest

import evenhand
from evenhand.core.plan import Expectation
from evenhand.core.property import Always, Property
from tests.deep import rest_slow
from tests.known.gallery import FILES, SYSTEMS, claims_of, published, systems_of

TWINS = [(name, system) for name in FILES for system in systems_of(name)]


def plain_counts(system: Any, invariants: list[Always]) -> tuple[int, int, set[str]]:
    """Return distinct states, generated states as TLC counts them, and the invariants that some state violates.

    Nothing of the search: `actions` and `step` as the file wrote them, a set and a list.
    """
    actions, step = system.actions.__plain__, system.step.__plain__
    waiting = list(system.initial(None))
    seen, generated, false = set(waiting), len(waiting), set[str]()
    while waiting:
        state = waiting.pop()
        false |= {claim.name for claim in invariants if claim.when(None, state) and not claim.check(None, state)}
        for action in actions(state):
            after = step(state, action)
            generated += 1
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return len(seen), generated, false


def registered(claim: Property, system: str) -> evenhand.Status:
    """Return the verdict that the claim registers for a system."""
    about: list[Expectation] = [one for one in claim.expected if one.system in ("", system)]
    return about[0].expected if about else evenhand.Status.HOLDS


def test_there_are_sixteen_small_files_with_claims_and_a_story() -> None:
    """Each has fewer than sixty lines of code, a claim of what never happens and one with a run to show."""
    assert len(FILES) == 16
    for name, path in FILES.items():
        text = path.read_text("utf-8")
        docstring = ast.get_docstring(ast.parse(text), clean=False)
        assert docstring is not None
        lines = [line for line in text.replace(docstring, "").splitlines() if line.strip(' "')]
        assert len(lines) < 60, f"{name}: {len(lines)} lines"
        assert len(claims_of(name)) >= 2 and systems_of(name)[0].name == name
        assert ("Published: " in docstring) != ("No published count" in docstring) or name == "bounded_buffer"


@pytest.mark.parametrize(("name", "system"), rest_slow(TWINS, 14), ids=[system.name for _, system in TWINS])
def test_counts_and_verdicts(name: str, system: evenhand.System[Any, Any, Any, Any, Any]) -> None:
    """The search and a plain loop count alike, and agree on the invariants; verdicts are as registered."""
    found = evenhand.explore(system, claims_of(name), max_states=30_000)
    assert {one.claim: one.status for one in found.verdicts} == {
        claim.name: registered(claim, system.name) for claim in claims_of(name)
    }
    invariants = [claim for claim in claims_of(name) if isinstance(claim, Always)]
    distinct, generated, false = plain_counts(system, invariants)
    assert found.complete
    assert (found.states, found.transitions + len(list(system.initial(None)))) == (distinct, generated)
    assert {one.claim for one in found.verdicts if not one.holds} >= false
    if system.name == name and name != "lamport_mutex":  # published for three processes, which takes minutes
        for count, said in zip((distinct, generated), published(name), strict=True):
            assert said in (None, count)


def test_every_twin_differs_in_a_verdict() -> None:
    """A twin that no claim tells from its brother would show nothing."""
    for name in FILES:
        verdicts = [tuple(registered(claim, one.name) for claim in claims_of(name)) for one in systems_of(name)]
        assert len(set(verdicts)) == len(verdicts), name


@pytest.mark.parametrize("capacity", [1, 2, 3])
@pytest.mark.parametrize("producers", [1, 2, 3])
@pytest.mark.parametrize("consumers", [1, 2, 3])
def test_the_buffer_is_stuck_as_published(producers: int, consumers: int, capacity: int) -> None:
    """`BlockingQueue` of the TLA+ examples: stuck if and only if twice the capacity is below the number of threads."""
    module = SYSTEMS["bounded_buffer"]
    found = evenhand.explore(module.buffer("some", producers, consumers, capacity), [module.never_stuck])
    assert found.verdicts[0].holds == (2 * capacity >= producers + consumers)
