"""The marks in the state graph: those of the search where the region is whole, and never wrong elsewhere."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import networkx as nx
import pytest

from evenhand.core.property import DeadlockFree, LivelockFree
from evenhand.core.registry import find, protocols
from evenhand.core.verdict import Status
from evenhand.search import explore
from evenhand.web import neighbourhood as regions
from evenhand.web.neighbourhood import Region, region
from evenhand.web.picture import AHEAD, BEHIND, DRAWN, EDGES, neighbourhood, parts
from evenhand.web.position import Position, opened
from tests.deep import rest_slow

SYSTEMS = [(bundle.name, system) for bundle in protocols() for system in bundle.model.systems]


@cache
def of_system(protocol: str, system: str, steps: int = 1) -> tuple[Position, Region, list[int]]:
    """Return a system's first place, the region of a run of some first actions there, and its path."""
    place = opened(find(protocol), system)
    return (place, *around(place, steps))


def around(place: Position, steps: int = 0) -> tuple[Region, list[int]]:
    """Return the region of a run of some first actions, and its path."""
    state, states = place.scenario.start, [place.scenario.start]
    for _ in range(steps):
        action = next(iter(place.system.enabled(place.scenario.config, state)), None)
        if action is None:
            break
        state = place.system.take(place.scenario.config, state, action).after
        states.append(state)
    made = region(place.system, place.bundle.claims_of(place.system.name), place.scenario.config, states)
    return made, [made.number[one] for one in states]


@pytest.mark.parametrize(("protocol", "system"), rest_slow(SYSTEMS, 6))
def test_marks_are_those_of_the_search(protocol: str, system: str) -> None:
    """A claim is marked somewhere exactly if the search refutes it; components are those that networkx finds."""
    place, made, _ = of_system(protocol, system)
    graph = nx.DiGraph(list(made.edges))
    graph.add_nodes_from(range(len(made.states)))
    components = {frozenset(one) for one in nx.strongly_connected_components(graph)}
    found = {frozenset(n for n, p in enumerate(made.part) if p == part) for part in set(made.part)}
    assert found == components
    claims = [one for one in place.bundle.claims_of(system) if isinstance(one, DeadlockFree | LivelockFree)]
    claims = [one for one in claims if one.applies(place.scenario.config)]
    marked = {name for names in (*made.stuck.values(), *made.circling.values()) for name in names}
    if not claims or not made.whole:
        return
    searched = explore(place.system, claims, configs=(place.scenario.config,))
    starts = len(list(place.system.initial(place.scenario.config)))
    assert starts > 1 or searched.states == len(made.states)
    refuted = {one.claim for one in searched.verdicts if one.status is Status.REFUTED}
    assert marked == refuted if starts == 1 else marked <= refuted


def test_deadlocks_and_livelocks_are_seen_at_all() -> None:
    """Both kinds are seen, each in a protocol."""
    made, _ = around(opened(find("cud"), "free"))
    assert made.whole and {name for names in made.circling.values() for name in names} == {"livelock_free"}
    stuck = [opened(find("sovereign"), "constitutions", config=number) for number in (1, 60, 120, 200, 300, 400)]
    assert any(
        "every_action_space_admits_something" in names for one in stuck for names in around(one)[0].stuck.values()
    )


def test_a_bound_marks_nothing_that_is_not_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """For any cut, no state is called stuck that the whole graph can leave."""
    place = opened(find("cud"), "free")
    whole, _ = around(place)
    stuck = {whole.states[at] for at in whole.stuck}
    circling = {whole.states[at] for at in whole.circling}
    for steps in (1, 64, 200, 700, 1500):
        monkeypatch.setattr(regions, "STEPS", steps)
        cut, _ = around(place)
        assert not cut.whole
        assert {cut.states[at] for at in cut.stuck} <= stuck
        assert {cut.states[at] for at in cut.circling} <= circling


def test_the_seeded_fault_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With states beyond the bound counted as dead ends, wrong deadlocks are marked: the test above can fail."""

    class Careless(set[int]):
        def __contains__(self, _at: object) -> bool:
            return True

    whole, _ = around(opened(find("cud"), "free"))
    monkeypatch.setattr(regions, "STEPS", 64)
    real = regions._mark  # pyright: ignore[reportPrivateUsage]

    def mark(made: Region, *more: Any) -> None:
        made.expanded = Careless(made.expanded)
        real(made, *more)

    monkeypatch.setattr(regions, "_mark", mark)
    cut, _ = around(opened(find("cud"), "free"))
    assert not {cut.states[at] for at in cut.stuck} <= {whole.states[at] for at in whole.stuck}


def test_a_wide_state_counts_as_not_explored(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has more actions than the limit, so no mark is made."""
    monkeypatch.setattr(regions, "WIDE", 10)
    made, _ = around(opened(find("cud"), "free"))
    assert 0 in made.cut and 0 not in made.expanded and not made.whole and not made.stuck and not made.circling


@pytest.mark.parametrize(("protocol", "system"), SYSTEMS)
def test_pictures_stay_small_and_lose_nothing_silently(protocol: str, system: str) -> None:
    """For any size of graph: bounded, places apart, reproducible, with a count of omitted states."""
    _, made, path = of_system(protocol, system)
    near, condensed = neighbourhood(made, path), parts(made, path[-1])
    assert len(near.nodes) <= 1 + AHEAD + 2 * BEHIND and len(condensed.nodes) <= DRAWN
    busy = sum(path[-1] in pair for pair in made.edges)
    assert len(near.edges) <= EDGES + busy + len(path)
    for picture in (near, condensed):
        places = [(node["x"], node["y"]) for node in picture.nodes]
        assert len(set(places)) == len(places)
        names = {node["id"] for node in picture.nodes}
        assert all(edge["source"] in names and edge["target"] in names for edge in picture.edges)
    assert sum("now" in str(node["classes"]).split() for node in near.nodes) == 1
    successors = {target for source, target in made.edges if source == path[-1]}
    missing = successors - {int(node["id"]) for node in near.nodes}
    assert not missing or any("not drawn" in words for words in near.note)


def test_the_walk_leads_from_left_to_right() -> None:
    """Past states are on the left of the current one, possible next states on the right."""
    made, path = around(opened(find("markspace"), "first_writer"), steps=3)
    where = {int(node["id"]): node["x"] for node in neighbourhood(made, path).nodes}
    again, _ = around(opened(find("markspace"), "first_writer"), steps=3)
    assert neighbourhood(again, path) == neighbourhood(made, path), "the same again"
    order = list(dict.fromkeys(reversed(path)))
    assert [where[at] for at in order] == sorted((where[at] for at in order), reverse=True)
    ahead = {target for source, target in made.edges if source == path[-1]} - set(path)
    assert ahead and all(where[at] > 0 for at in itertools.islice(ahead, 5))
