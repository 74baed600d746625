"""A protocol of ten lines and its theory: of the agents that ask, the first by name is granted.

The claim: at most one is granted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.property import EachStep
from evenhand.core.system import AnyStep, Mutant, Protocol, Scope, System
from evenhand.core.trace import Scenario
from evenhand.smt.logic import Definition, Function, Relation, Sort, differ, exists, forall, same, variables
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Mutation, Theorem
from evenhand.smt.theory import Axiom, Theory

Asks = tuple[str, ...]


@dataclass(frozen=True)
class Rules:
    """The agents that a round grants."""

    grant: Callable[[Asks], Asks]


def _step(rules: Rules, _config: Asks, state: int, action: Asks) -> tuple[int, Asks]:
    return min(1, state + 1), rules.grant(action)


def _actions(config: Asks, _scope: Scope, _state: int) -> Iterable[Asks]:
    return [asks for size in range(len(config) + 1) for asks in itertools.combinations(config, size)]


SYSTEM: System[Asks, int, Asks, Asks, Rules] = System(
    name="grant",
    rules=Rules(lambda asks: asks[:1]),
    configs=lambda scope, _readings: [tuple("abcde"[: scope["agents"]])],
    initial=lambda _config: (0,),
    step=_step,
    actions=_actions,
    scope=Scope(agents=3),
)


def _mutant(name: str, grant: Callable[[Asks], Asks]) -> Mutant[Rules]:
    return Mutant(name, name, "test", Rules(grant), "grant")


ONE_GRANTED = EachStep(
    name="one_granted",
    sentence="At most one agent is granted.",
    check=lambda step: len(step.shown) <= 1,
)
EVERYBODY_WINS = _mutant("everybody", lambda asks: asks)
LAST_WINS = _mutant("last", lambda asks: asks[-1:])
BUNDLE = Bundle(
    Protocol(
        "toy",
        "Toy",
        "test",
        {"grant": SYSTEM},
        mutants=(EVERYBODY_WINS, _mutant("first_two", lambda asks: asks[:2]), LAST_WINS),
    ),
    claims=(ONE_GRANTED,),
)

AGENT = Sort("Agent")
x, y, z = variables(AGENT, "x y z")
asks, before, trusted = Relation("asks", (AGENT,)), Relation("before", (AGENT, AGENT)), Relation("trusted", (AGENT,))
least = Function("least", (), AGENT)
granted = Relation("granted", (AGENT,))
FIRST = Definition(granted, (x,), asks(x) & forall([y], (asks(y) & differ(x, y)) >> before(x, y)))
EVERYBODY = Definition(granted, (x,), asks(x))
LAST = Definition(granted, (x,), asks(x) & forall([y], (asks(y) & differ(x, y)) >> before(y, x)))
ORDER = Axiom("one_way", forall([x, y], before(x, y) >> ~before(y, x)))
THEORY = Theory(
    "toy",
    (AGENT,),
    (least,),
    (asks, before, trusted),
    (
        ORDER,
        Axiom("transitive", forall([x, y, z], (before(x, y) & before(y, z)) >> before(x, z))),
        Axiom("total", forall([x, y], same(x, y) | before(x, y) | before(y, x))),
        Axiom("least_is_first", forall([x], same(x, least()) | before(least(), x))),
    ),
    (FIRST,),
)


def view(step: AnyStep) -> Structure | None:
    """Return a round as a structure."""
    agents = step.config
    return Structure(
        {"Agent": agents},
        {
            "asks": frozenset((a,) for a in step.action),
            "before": frozenset((a, b) for a in agents for b in agents if a < b),
            "trusted": frozenset(),
            "granted": frozenset((a,) for a in step.shown),
        },
        {"least": {(): agents[0]}},
    )


def realise(structure: Structure) -> Scenario[Asks, int, Asks] | None:
    """Return a round that corresponds to the structure."""
    order = structure.relations["before"]
    ranked = sorted(structure.universe["Agent"], key=lambda a: sum(pair[1] == a for pair in order))
    names = dict(zip(ranked, "abcdefghij", strict=False))
    asking = tuple(sorted(names[a] for (a,) in structure.relations["asks"]))
    return Scenario(tuple(names.values()), 0, (asking,))


def samples(system: System[Any, Any, Any, Any, Any]) -> Iterable[AnyStep]:
    """Yield every round of every configuration."""
    for config in system.all_configs():
        for action in system.enabled(config, 0):
            yield system.take(config, 0, action)


def blank(_case: Any) -> Structure | None:
    """A view that returns nothing."""
    return None


def nowhere(_structure: Structure) -> Scenario[Asks, int, Asks] | None:
    """A realisation that finds nothing."""
    return None


THEOREM = Theorem(
    sentence="At most one agent is granted.",
    source="test",
    protocol="toy",
    system="grant",
    claim=ONE_GRANTED,
    theory=THEORY,
    variables=(x, y),
    assumes=granted(x) & granted(y),
    goal=same(x, y),
    view=view,
    realise=realise,
    samples=samples,
    needs=("one_way",),
    witness=exists([x, y], asks(x) & asks(y) & differ(x, y)),
    mutants=(
        Mutation(mutant=EVERYBODY_WINS, definitions=(EVERYBODY,)),
        Mutation(mutant=LAST_WINS, definitions=(LAST,), expected="proved", because="the last one is one too"),
    ),
    quotient="names",
)
