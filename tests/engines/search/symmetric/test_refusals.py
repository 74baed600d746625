"""The refusals of symmetric search, and the checks that notice a planted fault."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from evenhand.core.property import Always, DeadlockFree, EachStep, LeadsTo, LivelockFree, Monitor
from evenhand.core.system import AnySystem, Fairness
from evenhand.core.verdict import Status
from evenhand.model.cud.free_system import FREE
from evenhand.model.cud.protocol import CUD
from evenhand.search import LicenceMissing, ModelError, explore
from evenhand.search.symmetric import group, learner, multisets, teams, walk
from evenhand.search.symmetric.method import Orbits
from evenhand.search.tables.joint import JointLearner
from evenhand.search.tables.joint_walk import JointWalk
from evenhand.search.witness import NotLearned
from tests.engines.search.oracle import graphs_of, sizes
from tests.engines.search.symmetric.systems import GONE, Crew, Hall, joint_hall, licence_of

CREW = Crew(("a", "a", "a"), tuple(number % 7 for number in range(97)))

TABLE = tuple((2 * number * number + 3 * number) % 11 for number in range(97))
"""A table under which the next mark of an agent depends on its present one."""


def alike(system: AnySystem, crew: Crew = CREW) -> AnySystem:
    """Return the system with a configuration whose agents are all of one kind."""
    return replace(system, configs=lambda _scope, _readings: (crew,))


HALL = alike(joint_hall(1), replace(CREW, table=TABLE))
KEEPS = alike(joint_hall(1, keeps=True), replace(CREW, table=TABLE))


def divided(system: AnySystem, *claims: Any) -> Any:
    """Explore by symmetric search only."""
    return explore(system, claims, licence=licence_of(system), method="symmetric")


def test_a_mutant_and_other_readings_have_no_licence() -> None:
    """The licence names the systems that it covers."""
    mutant = next(mutant for mutant in CUD.mutants if mutant.system == "free")
    given = licence_of(FREE)
    for other in (
        mutant.of(CUD.systems),
        replace(FREE, readings=None),
        replace(FREE, name="free_2"),
    ):
        with pytest.raises(LicenceMissing, match="speaks of"):
            explore(other, licence=replace(given, quotient="renaming", variant="reference"), method="symmetric")


def test_a_claim_that_tells_names_apart_is_not_decided() -> None:
    """Whether it reads states or steps; no result is reported for it."""
    first = Always(name="first", sentence="", check=lambda _c, s: s.marks[0] != 1)
    step = EachStep(name="step", sentence="", check=lambda s: s.after.marks[1] == s.before.marks[1])
    fixed = Always(name="fixed", sentence="", check=lambda _c, s: sum(s.marks) < 99)
    found = divided(HALL, first, step, fixed)
    assert [one.status for one in found.verdicts] == [Status.UNDECIDED, Status.UNDECIDED, Status.HOLDS]
    assert all("does not leave" in one.because for one in found.verdicts[:2])


def test_a_kind_that_needs_steps_is_not_decided_or_sends_the_search_below() -> None:
    """UNDECIDED if symmetric search was requested; else a lower method, with the reason."""
    acts: Fairness[Any, Any] = Fairness("weak", lambda _s, action: ("x", 1) in action)
    system = replace(HALL, fair=lambda _c: {"x acts": acts})
    claim = LivelockFree(
        name="live", sentence="", attempts=lambda _s: True, progress=lambda _s: False, fairness=("x acts",)
    )
    undecided = divided(system, claim).verdicts[0]
    assert undecided.status is Status.UNDECIDED and "single agents" in undecided.because
    found = explore(system, [claim], licence=licence_of(system))
    assert (
        found.method != "symmetric"
        and "not symmetric search" in found.why_method
        and found.verdicts[0].status is not Status.UNDECIDED
    )


def _acted(step: Any) -> bool:
    return dict(step.action).get("y") == 1


TELLS: dict[str, Any] = {
    "a name wants": DeadlockFree(name="c", sentence="", wants=lambda _c, s: s.marks[1] == 1, completes=lambda _s: True),
    "a name completes": DeadlockFree(name="c", sentence="", wants=lambda _c, _s: True, completes=_acted),
    "a name is remembered": Monitor(
        name="c", sentence="", start=lambda _c: 0, update=lambda v, s: (v + _acted(s)) % 3, ok=lambda _c, v: v < 3
    ),
    "what a name had is remembered": Monitor(
        name="c", sentence="", start=lambda _c: 0, update=lambda v, s: v or s.before.marks[1], ok=lambda _c, v: v < 3
    ),
    "a name goes on": LeadsTo(name="c", sentence="", trigger=lambda _s: True, goal=_acted),
}


@pytest.mark.parametrize("tells", TELLS)
def test_a_claim_about_runs_that_tells_names_apart(tells: str) -> None:
    """Orbits of states do not decide it, so it is left undecided."""
    assert divided(HALL, TELLS[tells]).verdicts[0].status is Status.UNDECIDED


def _rarely(step: Any) -> bool:
    return (step.after.marks, step.after.shared) == ((2, 0, 2), 1)


TELL_RARELY: dict[str, tuple[Any, ...]] = {
    "a step": (EachStep(name="c", sentence="", check=lambda s: not _rarely(s)),),
    "a monitor": (
        Monitor(
            name="c",
            sentence="",
            start=lambda _c: 0,
            update=lambda v, s: 1 if _rarely(s) else v,
            ok=lambda _c, v: v < 1,
        ),
    ),
    "two claims that share a predicate": (
        LeadsTo(name="b", sentence="", trigger=_rarely, goal=lambda _s: False),
        LeadsTo(name="c", sentence="", trigger=_rarely, goal=lambda s: s.before.shared == 7),
    ),
}


@pytest.mark.parametrize("tells", TELL_RARELY)
def test_a_claim_that_tells_few_images_apart(tells: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No sample shows it, but claims are asked about the images of all steps while these are few."""
    about = TELL_RARELY[tells]
    assert all(one.status is Status.REFUTED for one in explore(MIXED, about, method="explicit").verdicts)
    assert all("does not leave" in one.because for one in divided(MIXED, *about).verdicts)
    monkeypatch.setattr(walk.OrbitWalk, "_compare", lambda *_: None)
    assert not any("does not leave" in one.because for one in divided(MIXED, *about).verdicts)


def test_agents_that_are_all_different() -> None:
    """There is nothing to divide by."""
    system = alike(joint_hall(1), Crew(("a", "b"), CREW.table))
    with pytest.raises(ValueError, match="leaves no two names of this configuration interchangeable"):
        divided(system)
    assert explore(system, licence=licence_of(system)).method == "explicit"


def applied(system: AnySystem, change: Callable[[Any, Hall, Hall], Hall]) -> AnySystem:
    """Return the system whose steps end with `change(found, before, after)`."""
    parts = system.separated
    assert parts is not None

    def apply(rules: Any, config: Crew, state: Hall, found: Any) -> tuple[Hall, Any]:
        after, shown = parts.apply(rules, config, state, found)
        return change(dict(found), state, after), shown

    def step(rules: Any, config: Crew, state: Hall, action: Any) -> tuple[Hall, Any]:
        key = parts.reads(rules, config, state)
        made = tuple((agent, parts.judge(rules, config, key, agent, choice)) for agent, choice in action)
        return apply(rules, config, state, parts.merge(rules, config, key, made))

    return replace(system, step=step, separated=replace(parts, apply=apply))


def test_a_step_that_knows_a_name() -> None:
    """It does not commute, so the licence is wrong."""
    with pytest.raises(ModelError, match=r"does not commute|lead to other orbits|no row leads into that orbit"):
        divided(applied(HALL, lambda new, _, after: replace(after, shared=after.shared ^ (new.get("y") == 1))))


def test_actions_that_are_no_joint_choices() -> None:
    """Orbits are of agents that choose at a time."""
    system = replace(
        HALL, joint=None, separated=None, actions=lambda config, _scope, state: HALL.enabled(config, state)
    )
    with pytest.raises(ValueError, match="no joint choices"):
        divided(system)
    assert "no joint choices" in explore(system, licence=licence_of(system)).why_method


def test_a_quotient_that_lists_its_elements_alone_or_renames_values() -> None:
    """Names that trade places must own fields of the state, and the values in them must not name them."""
    (trade,) = HALL.quotients
    listed = replace(HALL, quotients=(replace(trade, swap=None),))
    with pytest.raises(ValueError, match="exchanges no names"):
        divided(listed)

    def turned(w: Any, config: Crew, state: Hall) -> Hall:
        other: Hall = trade.state(w, config, state)
        return other if w[0] == w[1] else replace(other, shared=1 - other.shared)

    with pytest.raises(ValueError, match=r"the values of field state\.shared name them"):
        divided(replace(HALL, quotients=(replace(trade, state=turned),)))


def test_a_start_that_favours_somebody() -> None:
    """Its images are not initial states."""
    start = Hall((1, 0, 0), 0, ())
    with pytest.raises(ModelError, match="has an image that is not initial"):
        divided(replace(HALL, initial=lambda _config: (start,)))


def test_an_action_whose_image_is_not_on_offer() -> None:
    """The scope is not closed."""
    joint = HALL.joint
    assert joint is not None
    fewer = replace(joint, choices=lambda _config, _scope, _state, agent: range(1 if agent == "z" else 2))
    with pytest.raises(ModelError, match=r"not closed under quotient|is not on offer"):
        divided(replace(HALL, joint=fewer))


def wrong(system: AnySystem) -> bool:
    """Return whether symmetric search stops, or counts another graph."""
    try:
        found = divided(system)
    except ModelError:
        return True
    return (found.states, found.transitions, found.edges, found.depth) != sizes(graphs_of(system))


def _as_they_are(_self: Any, numbers: Any) -> Any:
    return numbers


def _unsorted(numbers: Any, _fields: Any) -> Any:
    return numbers


def _all_of_size_one(_self: Any, numbers: Any) -> list[int]:
    return [1] * len(numbers)


def _kept(new: dict[str, int], before: Hall, after: Hall) -> Hall:
    """An agent that is found to be worth 0 keeps its mark, unread."""
    marks = zip("xyz", before.marks, after.marks, strict=True)
    return replace(after, marks=tuple(old if new.get(name) == 0 else mark for name, old, mark in marks))


def _told_apart() -> tuple[int, ...]:
    """A table under which the two choices of an agent are worth 0 and 1, and what is made of them is drawn."""
    random = Random(10)
    drawn = [random.randrange(12) for _ in range(97)]
    drawn[34], drawn[65] = 0, 1
    return tuple(drawn)


MIXED = alike(joint_hall(1), replace(CREW, table=_told_apart()))
TWICE = alike(joint_hall(3), replace(CREW, table=tuple((n * n + 2 * n) % 7 for n in range(97)), two=True))


def _one(_things: Any) -> int:
    return 1


def _the_first(_picked: Any, _team: Any, kinds: Any, _fares: Any) -> Any:
    return 0 * kinds


def _one_each(numbers: Any, _fields: Any) -> list[int]:
    return [1] * len(numbers)


FAULTS: dict[str, tuple[Any, str, Any, AnySystem]] = {
    "states are not picked": (group.Group, "picked", _as_they_are, KEEPS),
    "orbits count once": (group.Group, "sizes", _all_of_size_one, KEEPS),
    "multisets count once": (multisets, "arrangements", _one, HALL),
    "members choose less in another order": (multisets, "_side_by_side", _the_first, TWICE),
    "what a team was is not looked at": (learner.OrbitLearner, "_rows", vars(JointLearner)["_rows"], KEEPS),
    "what a team keeps is not looked at": (learner, "KEPT", -99, applied(MIXED, _kept)),
    "an edge counts once": (walk, "orders", _one_each, HALL),
    "targets are not sorted": (walk, "sorted_blocks", _unsorted, TWICE),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The samples or the counts notice each; without it they pass."""
    where, name, planted, system = FAULTS[fault]
    assert not wrong(system)
    monkeypatch.setattr(where, name, planted)
    assert wrong(system), fault


def test_members_whose_menus_are_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choices trade places by what they are, not by their numbers."""
    joint = MIXED.joint
    assert joint is not None
    turned = replace(joint, choices=lambda _config, _scope, _state, agent: (1, 0) if agent == "y" else (0, 1))
    system = replace(MIXED, joint=turned)
    method, config = Orbits(system, system.quotients[0]), next(iter(system.all_configs()))
    assert any(method.search(config, 0).learner.teams.values()) and not wrong(system)
    monkeypatch.setattr(teams, "_choices", lambda *given: ((0, 1),) * len(given[4]))
    assert wrong(system)


def _one_stays(step: Any) -> bool:
    return bool(sum(old == new for old, new in zip(step.before.marks, step.after.marks, strict=True)) == 1)


@pytest.mark.parametrize("looks", ["check", "_is_decided"])
def test_a_claim_that_reads_what_the_team_had(looks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders of the same choices then differ for it, so no team is formed; if nobody looks, the counts are wrong."""
    claim = EachStep(name="claim", sentence="", check=lambda _step: True, when=_one_stays)
    expected = explore(MIXED, [claim], method="explicit").verdicts[0]
    found = divided(MIXED, claim).verdicts[0]
    assert (found.status, found.coverage) == (expected.status, expected.coverage)
    monkeypatch.setattr(learner.OrbitLearner, looks, lambda *_given: True)
    assert divided(MIXED, claim).verdicts[0].coverage != expected.coverage


def _here(state: Hall) -> list[int]:
    return [mark for mark in state.marks if mark != GONE]


ASKS = EachStep(name="c", sentence="", check=lambda s: len(_here(s.after)) < 3, when=lambda s: len(_here(s.before)) > 1)
COUNTS = Monitor(
    name="m",
    sentence="",
    start=lambda _c: 0,
    update=lambda n, s: (n + len(_here(s.before))) % 4,
    ok=lambda _c, n: n < 3,
)


@pytest.mark.parametrize("claim", [ASKS, COUNTS])
def test_a_claim_that_asks_who_is_there(claim: Any) -> None:
    """The offer has decided that, for the images of a state too: the team stays, and the counts are the same."""
    method, config = Orbits(MIXED, MIXED.quotients[0]), next(iter(MIXED.all_configs()))
    found = method.search(config, 0, [claim]).learner
    assert any(found.teams.values()) and not found.alone
    expected, verdict = explore(MIXED, [claim], method="explicit").verdicts[0], divided(MIXED, claim).verdicts[0]
    assert verdict.status is expected.status is Status.REFUTED and verdict.coverage == expected.coverage


def test_a_team_without_a_separated_step() -> None:
    """Its joint choices have numbers of their own, which are not those of its groups: the last choice is taken too."""
    joint = HALL.joint
    assert joint is not None

    def step(_rules: None, _config: Crew, state: Hall, action: Any) -> tuple[Hall, None]:
        return replace(state, shared=int(all(choice == 9 for _, choice in action))), None

    tens = replace(joint, choices=lambda _config, _scope, _state, _agent: range(10))
    system = replace(HALL, step=step, separated=None, joint=tens)
    claim = Always(name="c", sentence="", check=lambda _c, state: state.shared == 0)
    found, whole = divided(system, claim), explore(system, [claim], method="explicit")
    assert found.verdicts[0].status is whole.verdicts[0].status is Status.REFUTED
    assert (found.states, found.transitions, found.edges) == (whole.states, whole.transitions, whole.edges)


def _same_marks(value: int, step: Any) -> int:
    same = sum(old == new for old, new in zip(step.before.marks, step.after.marks, strict=True))
    return int((value + same) % 3)


REMEMBERS = Monitor(name="m", sentence="", start=lambda _c: 0, update=_same_marks, ok=lambda _c, v: v < 2)
ENDS = DeadlockFree(
    name="d", sentence="", wants=lambda _c, s: sum(s.marks) != 4, completes=lambda s: s.after.shared > s.before.shared
)


def test_a_monitor_that_reads_what_the_team_had() -> None:
    """Orders of the same choices then differ for it, so no team is formed."""
    method, config = Orbits(MIXED, MIXED.quotients[0]), next(iter(MIXED.all_configs()))
    assert not method.search(config, 0).learner.alone
    assert method.search(config, 0, [REMEMBERS]).learner.alone


@pytest.mark.parametrize(("name", "claim"), [("total", REMEMBERS), ("counted", ENDS)])
def test_orbits_that_count_once_in_claims_about_runs(name: str, claim: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of a state and a monitor's value, and dead ends, stand for all their images."""
    expected = explore(MIXED, [claim], method="explicit").verdicts[0]
    found = divided(MIXED, claim).verdicts[0]
    assert (found.status, found.coverage) == (expected.status, expected.coverage)
    monkeypatch.setattr(walk.OrbitWalk, name, getattr(JointWalk, name))
    assert divided(MIXED, claim).verdicts[0].coverage != expected.coverage


def test_a_claim_that_asks_for_the_action() -> None:
    """It is asked about one order of each multiset, which counts for all."""
    claim = EachStep(name="claim", sentence="", check=lambda _s: True, when=lambda s: sum(x for _, x in s.action) == 1)
    expected = explore(MIXED, [claim], method="explicit").verdicts[0]
    found = divided(MIXED, claim).verdicts[0]
    assert (found.status, found.coverage) == (expected.status, expected.coverage)


def test_an_exchange_that_looks_at_values() -> None:
    """It moves nothing where the shared number is 1: what it does is not the same for every state."""
    (trade,) = HALL.quotients

    def seldom(w: Any, config: Crew, state: Hall) -> Hall:
        other: Hall = trade.state(w, config, state)
        return state if state.shared == 1 else other

    wrong_group = replace(trade, state=seldom)
    with pytest.raises(ModelError, match="does not commute"):
        divided(replace(HALL, quotients=(wrong_group,)))
    with pytest.raises(NotLearned, match=r"looks at state\.shared, which changes"):
        Orbits(HALL, wrong_group).search(next(iter(HALL.all_configs())), 0)


def test_what_proxies_cannot_follow() -> None:
    """A claim is UNDECIDED if symmetric search was asked for; else, as for a step, a lower method says why."""
    claim = Always(name="claim", sentence="", check=lambda _c, s: bool(vars(s)))
    fixed = Always(name="fixed", sentence="", check=lambda _c, s: sum(s.marks) < 99)
    first, second = divided(HALL, claim, fixed).verdicts
    assert (first.status, second.status) == (Status.UNDECIDED, Status.HOLDS) and "`vars`" in first.because
    typed = applied(HALL, lambda _new, before, after: after if vars(before) else before)
    for system, claims in ((HALL, (claim,)), (typed, (fixed,))):
        found = explore(system, claims, licence=licence_of(system))
        assert found.method == "explicit" and "not symmetric search" in found.why_method
        assert found.verdicts[0].status is Status.HOLDS
    with pytest.raises(ModelError, match="symmetric search was asked for, but"):
        divided(typed, fixed)
