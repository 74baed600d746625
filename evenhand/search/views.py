"""Explore one state of each class that a view puts together, under a licence; symmetry is the view by orbits.

A view gives each state a key, and states with the same key are one class, represented by the first that is found.  That
is sound if states of one class make the same moves: for each step of one, the other has a step to the same class of
which all predicates of the claims, and of the fairness that they assume, say the same (a bisimulation).  No theorem
says so of a system of one's own, so `licence_by_search` compares every reachable state with its representative.  For a
system of another size that is no proof: its search compares again the states that it meets, and its verdicts name the
assumption.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from evenhand.core.answers import ModelError, naming, short, whole_number
from evenhand.core.ending import NAME, ending_claim, of_this
from evenhand.core.fairness import assumed
from evenhand.core.kinds import DeadlockFree, Liveness, Property, Reachable, Safety
from evenhand.core.licence import Licence
from evenhand.core.lookup import UnknownName
from evenhand.core.property import checked_claims
from evenhand.core.purity import refuse_impure
from evenhand.core.system import AnyStep, AnySystem, Step
from evenhand.core.temporal import Temporal, fairness_of
from evenhand.core.trace import AnyScenario, Scenario, replay
from evenhand.search.bounds import Bounds
from evenhand.search.classes import Classes, key_of
from evenhand.search.evidence import walked
from evenhand.search.graph import Watcher, search
from evenhand.search.quotient import predicates
from evenhand.search.steps import stepped

Key: TypeAlias = Callable[[Any], Hashable]
Move: TypeAlias = tuple[tuple[bool, ...], Hashable]
"""What the predicates say of a step, and the class that it leads to."""

COMPARED = 5_000
"""States that a search of another size compares with their representatives."""


def licence_by_search(
    system: AnySystem, quotient: str, claims: Iterable[Property] = (), *, max_states: int = 1_000_000
) -> Licence:
    """Compare every reachable state of `system` with its representative, and return the licence for this view.

    `quotient` is `view` or `symmetry`.  The licence speaks of these claims alone, and of where the system says that its
    runs may end.  Exploring the same system under it
    is as good as exploring every state; a system of another size may be explored under it as well, and its verdicts
    then name what they assume.

    Raises ModelError, which shows two states that differ, if the view is unsound; UnknownName for a view that the
    system lacks; ValueError for more than `max_states` states, or a constraint.
    """
    whole_number("max_states", max_states, 1)
    asked = checked_claims(system, claims)
    refuse_impure(system.label, system, system.rules, *asked)
    asked = of_this(system, asked)
    if (ending := ending_claim(system)) is not None and not any(claim.name == NAME for claim in asked):
        asked = (*asked, ending)
    view_of(system, quotient)
    states = 0
    for number, config in enumerate(system.all_configs()):
        watch = _Compared(Moves(system, config, quotient, [claim for claim in asked if claim.applies(config)]))
        walk = search(system, config, number, (watch,), Bounds(max_states))
        if walk.open:
            raise ValueError(
                f"{system.label} has more than {max_states:,} states, too many to check quotient {quotient!r}; check a "
                "smaller system, or give a greater max_states"
            )
        states += len(walk.states)
    return Licence(
        quotient,
        system.name,
        system.variant,
        f"search of all {states:,} states",
        "",
        system.readings,
        system,
        asked,
    )


def view_of(system: AnySystem, name: str) -> Callable[[Any, Any], Hashable]:
    """Return the view of that name.  Raises UnknownName, or ValueError for a system with a constraint."""
    if name not in system.views:
        raise UnknownName(f"view of {system.label}:", name, system.views)
    if system.constrained:
        raise ValueError(
            f"{system.label}: a view puts states inside and outside the constraint together; leave one out"
        )
    return system.views[name]


def _kind_left_out(claim: Property) -> str:
    if isinstance(claim, Safety) and claim.reads != "histories":
        return ""
    if isinstance(claim, Reachable | Liveness | DeadlockFree | Temporal):
        return ""
    return f"a claim of kind {claim.kind} looks at more than single steps, which a view does not keep apart"


class Moves:
    """The moves of the states of one configuration under a view, as far as these claims see them."""

    def __init__(self, system: AnySystem, config: Any, name: str, claims: Iterable[Property]) -> None:
        self.system, self.config, self.name = system, config, name
        self.view, self.known = system.views[name], dict[Any, Hashable]()
        kept = [claim for claim in claims if not _kind_left_out(claim)]
        asked = [predicates(claim, config) for claim in kept]
        self.of_states = [test for tests, _ in asked for test in tests]
        self.of_steps = [test for _, tests in asked for test in tests]
        names = {one for claim in kept for one in fairness_of(claim)}
        self.fair = list(assumed(system.fair(config), sorted(names)).values())

    def key(self, state: Any) -> Hashable:
        """Return the class of a state."""
        if state not in self.known:
            self.known[state] = key_of(self.system, self.name, self.view, self.config, state)
        return self.known[state]

    def labels(self, state: Any) -> tuple[bool, ...]:
        """Return what the claims say of a state."""
        with naming(self.system.label):
            return tuple(bool(test(self.config, state)) for test in self.of_states)

    def move(self, step: AnyStep) -> Move:
        """Return what the claims say of a step, and where it leads."""
        with naming(self.system.label):
            said = [bool(test(step)) for test in self.of_steps]
        said += [one.taken(step.before, step.action) for one in self.fair]
        return tuple(said), self.key(step.after)

    def steps(self, state: Any) -> Iterator[AnyStep]:
        """Yield the steps of a state."""
        for action in self.system.enabled(self.config, state):
            after, shown = stepped(self.system, self.config, state, action)
            yield Step(self.config, state, action, shown, after)

    def of(self, state: Any) -> tuple[tuple[bool, ...], frozenset[Move]]:
        """Return all that counts of a state."""
        return self.labels(state), frozenset(map(self.move, self.steps(state)))

    def refuse(self, one: Any, other: Any) -> ModelError:
        """Return the error that shows two states of one class that differ."""
        what = "a claim tells them apart"
        if self.labels(one) == self.labels(other):
            ways = ((here, there, step) for here, there in ((one, other), (other, one)) for step in self.steps(here))
            here, there, moved = next(
                way for way in ways if self.move(way[2]) not in map(self.move, self.steps(way[1]))
            )
            what = (
                f"{short(moved.action, 80)} leads from {short(here, 80)} to {short(moved.after, 80)}, and no step of "
                f"{short(there, 80)} leads to that class and looks the same to the claims"
            )
        return ModelError(
            f"quotient {self.name!r} is unsound: {short(one, 80)} and {short(other, 80)} are one class, but {what}"
        )


class _Compared(Watcher):
    """A watcher that compares the moves of every state with those of the first state of its class."""

    def __init__(self, moves: Moves) -> None:
        self.name, self.moves = "licence by search", moves
        self.classes: dict[Hashable, tuple[Any, tuple[bool, ...], frozenset[Move]]] = {}
        self.here = set[Move]()

    def look(self, step: AnyStep, _action: int, _there: int, /) -> None:
        """Keep a move."""
        self.here.add(self.moves.move(step))

    def leave(self, _sid: int, state: Any, /) -> None:
        """Compare a state.  Raises ModelError if it differs."""
        mine, self.here = (self.moves.labels(state), frozenset(self.here)), set[Move]()
        first, *its = self.classes.setdefault(self.moves.key(state), (state, *mine))
        if tuple(its) != mine:
            raise self.moves.refuse(first, state)


@dataclass
class Viewed(Classes):
    """The classes of a view: the first state that was found of each stands for it."""

    licence: Licence
    moves: dict[Any, Moves] = field(default_factory=dict[Any, Moves])
    firsts: dict[Any, dict[Hashable, Any]] = field(default_factory=dict[Any, "dict[Hashable, Any]"])
    compared: set[Any] = field(default_factory=set[Any])

    def __post_init__(self) -> None:
        licence = self.licence
        self.here = licence.searched == self.system
        """Whether the licence was given for this very system."""
        self.says = f"checked by {licence.theorem} of {licence.system!r}"
        if not self.here:
            self.says = f"ASSUMED to be sound at this size: {self.says} at another, and here on what the search met"
        self.trusted = f"quotient {self.name!r}, {self.says}"
        self.refused = {claim.name: why for claim in self.claims if (why := self._doubt(claim))}

    def _doubt(self, claim: Property) -> str:
        known = [replace(one, systems=()) for one in self.licence.claims]
        spoken = replace(claim, systems=()) in known if self.here else claim.name in {one.name for one in known}
        silent = f"the licence for quotient {self.name!r} does not speak of {claim.name}; "
        return _kind_left_out(claim) or ("" if spoken else f"{silent}give the claim to `licence_by_search`")

    def doubts(self, configs: Sequence[Any]) -> tuple[str, ...]:
        """Return for each claim why the licence does not speak of it, else an empty text."""
        return tuple(self.refused.get(claim.name, "") for claim in self.claims)

    def of(self, config: Any) -> Moves:
        """Return the moves of one configuration."""
        if config not in self.moves:
            claims = [claim for claim in self.claims if claim.applies(config)]
            self.moves[config] = Moves(self.system, config, self.name, claims)
        return self.moves[config]

    def first(self, config: Any, state: Any) -> Any:
        """Return the representative of a state; at a size without a licence the two are compared."""
        moves = self.of(config)
        first = self.firsts.setdefault(config, {}).setdefault(moves.key(state), state)
        if not self.here and state != first and state not in self.compared and len(self.compared) < COMPARED:
            self.compared.add(state)
            if moves.of(state) != moves.of(first):
                raise moves.refuse(first, state)
        return first

    def runs(self, claim: Property, config: Any, start: int, numbers: Sequence[int]) -> Iterator[AnyScenario]:
        """Yield runs through the same classes that look the same to the claim; they differ at the end."""
        among = self.searched()
        moves = Moves(self.system, config, self.name, (claim,))
        wanted = [moves.move(step) for step in replay(among, walked(among, config, start, numbers)[0]).steps]
        begin = state = list(self.system.initial(config))[start]
        taken = list[Any]()
        if not wanted:
            yield Scenario(config, begin, ())
        for place, move in enumerate(wanted):
            fitting = [step for step in moves.steps(state) if moves.move(step) == move]
            if place == len(wanted) - 1:
                yield from (Scenario(config, begin, (*taken, step.action)) for step in fitting)
            if not fitting:
                return
            taken.append(fitting[0].action)
            state = fitting[0].after
