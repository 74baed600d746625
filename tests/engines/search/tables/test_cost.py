"""Learning is given up by counts of calls, and small searches never pay for it."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Sequence
from math import inf
from types import CellType
from typing import Any
from unittest.mock import patch

import pytest

import evenhand
from evenhand.core.property import Property
from evenhand.core.registry import find
from evenhand.core.verdict import Status
from evenhand.search import explore, graph, tables
from evenhand.search.bounds import Bounds
from evenhand.search.configuration import search_one
from evenhand.search.steps import Method
from evenhand.search.tables import method, watch
from evenhand.search.tables.continuations import Continuations
from evenhand.search.tables.joint import JointLearner
from evenhand.search.tables.method import Attempt
from evenhand.search.tables.proxies import Run
from evenhand.search.tables.segments import segmented
from evenhand.search.tables.watching import Budget, Watching
from evenhand.search.walk import Walk
from evenhand.search.witness import NotLearned
from evenhand.variants.automatic import mutated
from tests.engines.search.tables.forced import explicitly, searched
from tests.known import gallery
from tests.models.two_phase_commit import CLAIMS, two_phase_commit


def scrambled(most: int) -> evenhand.System[None, int, int, None, None]:
    """A system whose state is one number that each step reads whole: nothing is seen twice."""
    return evenhand.system(
        "scrambled", initial=[1], actions=lambda _state: [3, 5], step=lambda state, by: (state * by + 7) % most
    )


def spent_by(run: Callable[[], Any]) -> list[tuple[int, int]]:
    """Return, for each attempt, what it has spent and what explicit search had."""
    real, found = Attempt.__call__, list[tuple[int, int]]()

    def call(self: Attempt, walk: Walk) -> None:
        try:
            real(self, walk)
        finally:
            found.append((self.budget.spent, len(walk.states) + walk.transitions))

    with patch.object(Attempt, "__call__", call):
        run()
    return found


def test_a_small_search_never_tries() -> None:
    """Nothing is spent where no more than twenty thousand states are expected: there are 8,832."""
    assert tables.ENOUGH >= 20_000
    assert not any(cost for cost, _ in spent_by(lambda: evenhand.explore(two_phase_commit(5), CLAIMS)))


def test_what_puts_a_mutant_in_force_is_not_looked_through() -> None:
    """It holds the globals of every module with a cache: in a long-lived process a walk through all that is there."""
    bundle = find("cud")
    system = mutated(bundle.model.systems["free"], "auto:free_system.verdict:other_call_1")
    claims = [one for one in bundle.claims_of("free") if one.name == "livelock_is_counted_from_what_happened"]
    with patch.object(watch, "_ends", wraps=watch._ends) as ends:  # pyright: ignore[reportPrivateUsage]
        assert explore(system, claims).verdicts[0].status is Status.REFUTED
    held = [call.args[0] for call in ends.call_args_list]
    assert held and not any(isinstance(one, CellType) for one in held)


def test_no_cache_is_overlooked() -> None:
    """Whatever this version of Python lets know its type: of any size, of a function in C, and frozen."""
    some: list[Any] = [functools.cache(lambda: 0), functools.lru_cache(maxsize=3, typed=True)(len)]
    gc.freeze()
    some.append(functools.lru_cache(lambda: 1))
    found = Watching(Budget(1))._all_caches()  # pyright: ignore[reportPrivateUsage]
    assert all(any(one is cache for one in found) for cache in some)


def test_a_large_search_tries_early() -> None:
    """Where the levels widen as those of 50,816 states do, tables are tried before twenty thousand are found."""
    system, found = two_phase_commit(6), list[int]()

    def result(_self: Attempt, walk: Walk) -> None:
        found.append(len(walk.states))
        raise NotLearned("enough was seen")

    with patch.object(Attempt, "_result", result):
        evenhand.explore(system)
    assert tables.EARLY <= found[0] < tables.ENOUGH


def test_what_does_not_learn_is_given_up() -> None:
    """Each attempt ends when its share of the calls is spent, and the counts are those of explicit search."""
    system = scrambled(9_973)
    with patch.object(tables, "ENOUGH", 1_000):
        spent = spent_by(lambda: search_one(Method(system, learns="perhaps"), None, 0, (), Bounds(), None, None))
        found = search_one(Method(system, learns="perhaps"), None, 0, (), Bounds(), None, None)
    assert 1 <= len(spent) <= method.ATTEMPTS
    for cost, calls in spent:
        assert cost <= method.AHEAD * method.SHARE * calls + 200  # one run goes over
    assert [name for name, _ in found.how] == ["explicit"]
    assert "seldom seen twice" in found.how[0][1]
    assert (found.states, found.transitions) == (explicitly(system).states, explicitly(system).transitions)


def rising(switches: tuple[int, ...]) -> list[int]:
    """The switches that are not at 2."""
    return [place for place, value in enumerate(switches) if value < 2]


@functools.wraps(rising)
def wrapped(*given: tuple[int, ...], **_named: int) -> list[int]:
    """The same behind a decorator, with other names of its arguments than the signature says."""
    return rising(*given)


def through_a_function(switches: tuple[int, ...]) -> list[int]:
    """Return what another function lists."""
    return rising(switches)


def through_yield_from(switches: tuple[int, ...]) -> Iterator[int]:
    """Yield what another function lists."""
    yield from rising(switches)


def by_a_keyword(switches: tuple[int, ...]) -> list[int]:
    """A call with names is made as it stands."""
    return sorted(rising(switches), key=lambda place: -place)


def appended(switches: tuple[int, ...]) -> list[int]:
    """A list to which values are added one by one, and several at a time."""
    found: list[int] = [*()]
    for place, value in enumerate(switches[:6]):
        if value < 2:
            found.append(place)
    if switches[6] < 2:
        found += [6]
    return found + [7] * (switches[7] < 2)


def looked_at(switches: tuple[int, ...]) -> list[int]:
    """A list that is looked at before it is returned: a switch is on offer only after all before it."""
    found: list[int] = []
    for place, value in enumerate(switches):
        if value < 2 and len(found) == place:
            found.append(place)
    return found


def begun_again(switches: tuple[int, ...]) -> list[int]:
    """A list that is begun twice has what it got since."""
    found = [0]
    for place, value in enumerate(switches):
        if value < 2:
            found.append(place)
    found = [place for place, value in enumerate(switches) if value < 2]
    return found


def in_two_places(switches: tuple[int, ...]) -> list[int]:
    """A list that has another name as well."""
    found = list[int]()
    same = found
    for place, value in enumerate(switches):
        if value < 2:
            same.append(place)
    return found


LISTS: dict[str, Callable[[tuple[int, ...]], Any]] = {
    "lambda": lambda switches: rising(switches),
    "function": through_a_function,
    "yield from": through_yield_from,
    "decorated": lambda switches: wrapped(switches),
    "keyword": by_a_keyword,
    "appended": appended,
    "looked at": looked_at,
    "begun again": begun_again,
    "in two places": in_two_places,
}


@pytest.mark.parametrize("how", LISTS)
def test_what_another_function_lists_is_cut_too(how: str) -> None:
    """Eight switches rise one by one from 0 to 2.

    Conditions on each are learned by themselves where they can be cut, and not for all at once.
    """

    def step(switches: tuple[int, ...], place: int) -> tuple[int, ...]:
        return tuple(value + (here == place) for here, value in enumerate(switches))

    system = evenhand.system("switches", initial=[(0,) * 8], actions=LISTS[how], step=step)
    found, name, why = searched(system)
    assert name == "compiled", why
    assert found.states == 3**8
    assert found == explicitly(system)
    if how in ("lambda", "function", "yield from", "appended"):
        assert int(why.split()[0]) < 100


@pytest.mark.parametrize("other_at_first", [False, True])
def test_a_state_is_observed_once(other_at_first: bool) -> None:
    """Lamport's mutex, where runs join others; also if the first run had continuations of its own.

    A run that joins what is known elsewhere, and not where its own path leads, would be made again without end.
    """
    system, claims = gallery.SYSTEMS["lamport_mutex"].mutex("lamport_mutex", 3, 3), gallery.claims_of("lamport_mutex")
    real, runs = Continuations.key, list[Run]()

    def key(self: Continuations, *given: Any) -> Any:
        return real(self, *given), other_at_first and len(runs) == 1

    def mark(self: Run, continuation: Any) -> None:
        if self not in runs[-1:]:
            runs.append(self)
        real_mark(self, continuation)

    real_mark = Run.mark
    with patch.object(Continuations, "key", key), patch.object(Run, "mark", mark):
        found, name, why = searched(system, claims, share=100)
    assert name == "compiled", why
    assert found == explicitly(system, claims)
    assert len(runs) < 200


def test_a_look_at_a_generator_is_no_part_of_its_continuation() -> None:
    """A key is the same whether or not something has read the variables of a generator within."""

    def offer(within: Iterator[int]) -> Iterator[int]:
        for place, value in enumerate(within):
            if value < 2:
                yield place

    def key(*, looked: bool) -> Any:
        within: Any = (one for one in state if one)
        generator = segmented(offer(within))
        while next(generator) != 0:
            pass
        assert not looked or within.gi_frame.f_locals
        return continuations.key(generator, state)

    state, continuations = (1, 0, 1), Continuations()
    assert key(looked=False) == key(looked=True)


def test_a_command_of_a_user_gets_it() -> None:
    """`explore` says that the search is compiled, and trusts the tables."""
    system = two_phase_commit(5)
    with patch.object(tables, "ENOUGH", 2_000), patch.object(method, "SHARE", 10):
        found = evenhand.explore(system, CLAIMS)
    plain = evenhand.explore(system, CLAIMS, method="explicit")
    assert (found.method, plain.method) == ("compiled", "explicit")
    assert "the tables of compiled search, compared with step on samples" in found.verdicts[0].trusted_base
    assert [(v.claim, v.status, v.coverage, v.evidence) for v in found.verdicts] == [
        (v.claim, v.status, v.coverage, v.evidence) for v in plain.verdicts
    ]
    assert (found.states, found.transitions, found.edges, found.depth) == (8_832, 58_145, plain.edges, plain.depth)


def test_bounds() -> None:
    """What lies beyond a depth or a number of states is left out as in explicit search."""
    system = two_phase_commit(3)
    for bounds in (*(Bounds(depth=depth) for depth in (1, 3, 7)), *(Bounds(most) for most in (1, 2, 50, 287, 288))):
        found, name, why = searched(system, CLAIMS, bounds)
        assert (found, name) == (explicitly(system, CLAIMS, bounds), "compiled"), why


def test_claims_about_actions_make_no_more_classes() -> None:
    """What one group of choices reads for a claim is no concern of the others: as many joint choices are evaluated."""
    bundle = find("cud")
    free, claims = bundle.model.systems["free"].at(agents=3, keys=2, values=2), bundle.claims_of("free")

    def evaluated(some: Sequence[Property]) -> int:
        with patch.multiple(tables, STEPS=0, JOINT_SHARE=inf):
            found = evenhand.explore(free, some)
        assert found.method == "compiled" and "was left to" not in found.why_method
        return int(found.why_method.split(" joint choices")[0].split()[-1].replace(",", ""))

    alone = evaluated([claim for claim in claims if claim.name == "deadlock_free"])
    assert alone < 5_000
    assert evaluated(claims) <= alone * 5 // 4


def test_single_steps_teach_no_tables() -> None:
    """Where each step is taken once, none is run on proxies, for any number of configurations."""
    bundle = find("cud")
    universe = bundle.model.systems["universe"]
    config = list(universe.all_configs())[-1]
    claims = [claim for claim in bundle.claims_of("universe") if claim.name == "executed_never_interfere"]
    with patch.object(JointLearner, "_taken", side_effect=NotLearned("a step ran on proxies")) as taken:
        found = evenhand.explore(universe, claims, configs=[config])
    assert (found.method, found.depth, taken.called) == ("explicit", 1, False)
    assert found.transitions > tables.STEPS
    with patch.object(JointLearner, "_taken", side_effect=NotLearned("")) as taken, patch.object(tables, "WIDE", 1):
        found = evenhand.explore(universe, claims, configs=[config])
    assert (found.method, taken.called) == ("explicit", False)


def test_a_wide_start_is_learned_before_it_is_expanded() -> None:
    """What lies beyond a wide initial state pays for learning: none of its joint choices is taken one by one first."""
    bundle = find("cud")
    free = bundle.model.systems["free"].at(agents=3, keys=2, values=2)
    claims = [claim for claim in bundle.claims_of("free") if claim.name == "deadlock_free"]
    with patch.object(tables, "WIDE", 500), patch.object(graph, "_expand", side_effect=AssertionError("expanded")):
        found = evenhand.explore(free, claims)
    assert (found.method, bool(found.verdicts[0].status)) == ("compiled", True)
