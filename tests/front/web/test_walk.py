"""The page's view of a run, without a browser: steps, menus, two runs side by side, the run that a claim chooses."""

from __future__ import annotations

from itertools import islice

import pytest

from evenhand.core.lookup import UnknownName
from evenhand.core.property import Property
from evenhand.core.registry import find
from evenhand.core.trace import Lasso, Pair, Scenario
from evenhand.evidence.judge import refutes
from evenhand.web.comparison import SideBySide, pair_of, separated, variant_beside, variants
from evenhand.web.menu import PAGE, action_at, menu, picked
from evenhand.web.position import KnownPositions, Position, opened
from evenhand.web.walk import View, ViewRequest, picture, walk
from evenhand.web.witness import led


def claim_of(place: Position, name: str) -> Property:
    """Return one claim of a place."""
    return {claim.name: claim for claim in place.bundle.claims}[name]


def latch(*agents: str, variant: str = "") -> Position:
    """Return a run of the latch: `take 0`, `leave 1`, …"""
    place = opened(find("latch"), variant=variant)
    kind = place.system.types[-1]
    return place.walked([kind(verb, int(agent)) for verb, _, agent in (one.partition(" ") for one in agents)])


def test_a_view_is_of_its_step_and_forgets_nothing_later() -> None:
    """Back and forth: the state is that of the step, and the later steps are kept."""
    place = latch("take 0", "take 1", "leave 0")
    views = [walk(place, at) for at in range(4)]
    assert [len(view.run.steps) for view in views] == [3] * 4
    assert [str(view.trace.final.inside) for view in views] == ["()", "(0,)", "(0,)", "()"]
    assert [view.returns for view in views] == [None, None, 1, 0]
    assert views[2].run.steps[1].shown == (("", ("'refused'",)),)
    assert [walk(place, at).at for at in (-3, 99)] == [0, 3]


def test_an_address_is_of_content() -> None:
    """The same run has the same address; another run, scope, reading, rule or claim has another one."""
    place = latch("take 0")
    others = [
        latch("take 1"),
        latch("take 0", "take 1"),
        latch("take 0", variant="sticky"),
        opened(find("latch"), scope=["agents=3"]),
        opened(find("latch"), readings=["again=granted"]),
        Position(place.bundle, place.system, place.evidence, claim="one_inside"),
    ]
    assert latch("take 0").address == place.address
    assert len({one.address for one in (place, *others)}) == 7
    shelf = KnownPositions(kept=2)
    first, *rest = [shelf.put(one) for one in (place, *others[:2])]
    assert shelf.get(first) is None and all(shelf.get(one) is not None for one in rest)


def test_what_is_asked_for_survives_its_address() -> None:
    """Meaningless parts are dropped."""
    asked = ViewRequest(words="a b&c", page=3, beside="mutant:x", pair="p", edit=2, picture="parts")
    view = View(latch(), 0, asked, walk(latch(), 0).whole)
    query = dict(part.split("=") for part in view.link().partition("?")[2].split("&"))
    assert query["words"] == "a+b%26c" and set(query) == {"words", "page", "beside", "pair", "edit", "picture"}
    assert ViewRequest.of({"page": "-1", "edit": "x", "picture": "<script>"}) == ViewRequest()
    assert "words" not in view.link(1) and "beside=mutant%3Ax" in view.link(1)


def test_menus_list_everything_a_page_at_a_time() -> None:
    """Every action of a joint menu is on one page, with the number that takes it."""
    place = opened(find("cud"), "run")
    config, start = place.scenario.config, place.scenario.start
    every = list(place.system.enabled(config, start))
    pages = [
        menu(place.system, config, start, page=page) for page in range(1, menu(place.system, config, start).pages + 1)
    ]
    numbers = [one.number for page in pages for one in page.options]
    assert numbers == list(range(len(every))) and all(len(page.options) <= PAGE for page in pages)
    assert all(action_at(place.system, config, start, number) == every[number] for number in (0, 7, len(every) - 1))
    some = menu(place.system, config, start, words="write resource_a agent_1: write")
    assert 0 < some.fitting < len(every) and all("WRITE" in one.action for one in some.options)
    with pytest.raises(ValueError, match="no action with number"):
        action_at(place.system, config, start, len(every))
    with pytest.raises(ValueError, match="no action with number"):
        action_at(place.system, config, start, -1)


def test_a_joint_action_is_picked_agent_by_agent() -> None:
    """Every product of choices is the action of the product."""
    place = opened(find("cud"), "free")
    config, start = place.scenario.config, place.scenario.start
    choices = menu(place.system, config, start).choices
    assert [one.agent for one in choices] == ["agent_1", "agent_2"]
    sizes = [len(one.choices) for one in choices]
    made = [picked(place.system, config, start, (i, j)) for i in range(sizes[0]) for j in range(sizes[1])]
    assert made == list(place.system.enabled(config, start))
    for wrong in ((0,), (0, 99), (0, -1)):
        with pytest.raises(ValueError, match=r"choice|choose"):
            picked(place.system, config, start, wrong)
    with pytest.raises(ValueError, match="not joint"):
        picked(latch().system, latch().scenario.config, latch().scenario.start, (0,))


def test_a_variant_beside_shows_where_it_differs() -> None:
    """The mutant lets a second agent in; the reading lets the holder take it again; an equivalent one never differs."""
    found = variant_beside(latch("take 0", "take 1"), 2, "mutant:always_free")
    assert found.first == 2 and "step 2" in found.note and found.differences[1].shown
    assert variant_beside(latch("take 0", "take 1"), 1, "mutant:always_free").first is None
    assert variant_beside(latch("take 0", "take 0"), 2, "reading:again=granted").first == 2
    same = variant_beside(latch("take 0", "leave 0"), 2, "mutant:slow_leave")
    assert same.first is None and not any(one.any for one in same.differences)
    sticky = variant_beside(latch("take 0", "leave 0"), 2, "mutant:sticky")
    assert sticky.first is None and sticky.differences[1].state and "states differ" in sticky.note
    for wrong in ("mutant:nobody", "reading:again=never", "reading:again", "always_free"):
        with pytest.raises(ValueError, match=r"nobody|never|name=value|neither"):
            variant_beside(latch(), 0, wrong)
    offered = dict(variants(latch()))
    assert "reading:again=granted" in offered["readings"] and "mutant:sticky" in offered["mutants"]


def test_the_smallest_run_that_separates_is_found() -> None:
    """For two variants that differ; for two that do not, the page says so."""
    scenario, note = separated(latch(), "mutant:always_free")
    assert scenario is not None and len(scenario.actions) == 2 and "2 steps" in note
    nothing, note = separated(latch(), "mutant:slow_leave")
    assert nothing is None and "equal in scope" in note


def test_a_claim_chooses_a_run_that_refutes_it() -> None:
    """A scenario, a lasso, a pair; a claim that holds chooses none, and the page says so."""
    kinds: list[type] = []
    for protocol, system, name in (
        ("latch", "latch", "one_inside"),
        ("cud", "free", "livelock_free"),
        ("cud", "run", "agent_can_tell_the_pass"),
    ):
        place = opened(find(protocol), system, variant="always_free" if protocol == "latch" else "")
        claim = claim_of(place, name)
        found, note = led(place, claim)
        assert found is not None and refutes(found.system, claim, found.evidence) and note.startswith(name)
        kinds.append(type(found.evidence))
        view = walk(found, found.steps)
        assert name in view.saveable
    assert kinds == [Scenario, Lasso, Pair]
    found, note = led(latch(), claim_of(latch(), "one_inside"))
    assert found is None and "holds in" in note and "all there are" in note


def test_a_claim_may_choose_another_configuration() -> None:
    """If this configuration does not refute it."""
    place = opened(find("sovereign"), "constitutions")
    found, note = led(place, claim_of(place, "refusals_end_by_themselves"))
    assert found is not None and found.scenario.config != place.scenario.config and "another configuration" in note


def test_two_runs_of_a_two_run_claim() -> None:
    """The twin of the last step beside it; a claim that a mutant breaks disagrees, and it agrees on the reference."""
    place = opened(find("cud"), "universe")
    claim = claim_of(place, "equivariance")
    assert isinstance(pair_of(place, claim, 0), str), "no step yet"
    action = next(islice(place.system.enabled(place.scenario.config, place.scenario.start), 30, 31))
    one = place.walked((action,))
    found = pair_of(one, claim, 1)
    assert isinstance(found, SideBySide) and "agrees" in found.note
    assert len(found.left.runs[0].steps) == len(found.right.runs[0].steps) == 1


def test_the_picture_of_a_view() -> None:
    """Neighbourhood or components, by the address."""
    view = walk(latch("take 0"), 1, ViewRequest(picture="parts"))
    assert any("part" in words for words in picture(view).note)
    near = picture(walk(latch("take 0"), 1))
    assert any("states drawn" in words for words in near.note)


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"system": "lock"}, UnknownName),
        ({"scope": ["agnets=2"]}, UnknownName),
        ({"scope": ["agents=two"]}, ValueError),
        ({"readings": ["again=maybe"]}, UnknownName),
        ({"variant": "nobody"}, UnknownName),
        ({"config": 2}, ValueError),
        ({"config": 0}, ValueError),
        ({"start": 9}, ValueError),
    ],
)
def test_what_is_not_there_is_told(more: dict[str, object], error: type[ValueError]) -> None:
    """A name, a size, a number."""
    with pytest.raises(error):
        opened(find("latch"), **more)  # type: ignore[arg-type]
