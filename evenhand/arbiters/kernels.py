"""The kernel's side: the abilities that an author offers, and how a kernel is started (`Subject`).

A *kernel* is any object with `act({agent: choice}) -> {agent: outcome}`.  It names its agents (`agents`, or the factory
takes them) and their choices (`choices(agent)`, a mapping, a list or a Hypothesis strategy).  Everything else is
optional; each ability opens more questions (docs/how-to/examine-your-code.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, cast

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from evenhand.arbiters.values import comparable, fixed
from evenhand.core.lookup import Refused

Factory: TypeAlias = Callable[..., Any]
Left: TypeAlias = Callable[[], float]
"""The seconds that are left."""

Profile: TypeAlias = tuple[tuple[str, Any], ...]
"""The choices of one round, in the order in which they are handed over."""

SOME = 4
"""Values of a strategy that are tried in every small play."""

EVERY = tuple(cast("Iterable[HealthCheck]", HealthCheck))

POPULATION = ("ann", "bob", "cid", "dan", "eve", "flo")
"""Names for a factory that takes agents."""


class NotExaminable(Refused, ValueError):
    """A kernel without the least that is needed; the message says what is missing."""


@dataclass(frozen=True)
class Subject:
    """A kernel to examine: how to start it afresh, its agents, and what it offers.

    No play is begun when no seconds are `left`.
    """

    name: str
    factory: Factory
    agents: tuple[str, ...]
    abilities: frozenset[str]
    labels: tuple[Any, ...] = ()
    left: Left = lambda: math.inf
    saved: dict[Hashable, tuple[Session, Any, Any]] | None = None
    """Play → a kernel, its snapshot after the play, and what the rounds showed; None: kernels are always started."""

    def start(self, agents: Sequence[str], *, names: Mapping[str, str] | None = None, seed: int = 0) -> Session:
        """Start a fresh kernel for these agents.

        `names` renames the agents of a kernel that cannot be made for others; `seed` is set where the kernel takes one.
        """
        population = "population" in self.abilities
        kernel = self.factory(agents=list(agents)) if population else self.factory()
        if names and not population and "rename" in self.abilities:
            kernel.rename(dict(names))
        if "seed" in self.abilities:
            kernel.reset(seed)
        return Session(kernel, self)


@dataclass(frozen=True)
class Session:
    """One kernel between its start and its end."""

    kernel: Any
    subject: Subject

    def choices(self, agent: str) -> tuple[Any, ...]:
        """Return the choices of an agent now.  Raises NotExaminable where there is no list."""
        return choices_of(self.kernel, agent)

    def act(self, profile: Profile) -> Any:
        """Hand over one round of choices, in this order."""
        return self.kernel.act(dict(profile))

    def observe(self) -> Any:
        """Return the kernel's state; None where it shows none."""
        return self.kernel.observe() if "observe" in self.subject.abilities else None


def choices_of(kernel: Any, agent: str) -> tuple[Any, ...]:
    """Return the choices that a kernel lists for an agent now.  Raises NotExaminable where there is no list."""
    found = getattr(kernel, "choices", None)
    if callable(found):
        found = found(agent)
    elif isinstance(found, Mapping):
        found = cast("Mapping[str, Any]", found).get(agent)
    if isinstance(found, SearchStrategy):
        return Sampled.of(cast("SearchStrategy[Any]", found))
    if found is None or isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise NotExaminable(f"the kernel lists no choices for agent {agent!r}; give it `choices(agent)`, or a list")
    return listed(cast("Iterable[Any]", found))


class Sampled(tuple[Any, ...]):
    """A menu of some values of a Hypothesis `strategy`, from which others can be drawn."""

    strategy: SearchStrategy[Any]

    @staticmethod
    @lru_cache
    def of(strategy: SearchStrategy[Any]) -> Sampled:
        """Return values of a strategy from the plainest to the longest; always the same ones."""
        values: dict[Hashable, Any] = {}

        @seed(0)
        @settings(
            max_examples=10 * SOME, database=None, deadline=None, phases=(Phase.generate,), suppress_health_check=EVERY
        )
        @given(strategy)
        def collect(value: Any) -> None:
            values.setdefault(comparable(value), value)

        collect()
        plain = sorted(values.values(), key=lambda one: (len(fixed(comparable(one))), fixed(comparable(one))))
        spread = dict.fromkeys((len(plain) - 1) * n // (SOME - 1) for n in range(SOME))
        menu = Sampled([plain[n] for n in spread])
        menu.strategy = strategy
        return menu


def listed(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values in their order; those of a set, which has none, sorted, so that no hash seed decides."""
    if isinstance(values, Set):
        return tuple(sorted(values, key=lambda one: fixed(comparable(one))))
    return tuple(values)
