"""Wrong maps, claims that are not invariant under them, missing licences: each is refused with the reason."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from evenhand.core.property import (
    Always,
    Commute,
    DeterminedBy,
    EachStep,
    Eventually,
    Monitor,
    Property,
    Reachable,
    TwoRun,
)
from evenhand.core.system import Abstraction, Fairness, System
from evenhand.core.verdict import Status
from evenhand.search import LicenceMissing, ModelError, abstraction, explore
from tests.engines.search.abstractions.systems import licences, timed
from tests.engines.test_new_kind import AtMost


@dataclass(frozen=True)
class Lease:
    """The time, the instant at which each of two leases was taken, and the remaining seconds of the second."""

    now: int = 0
    first: int = 0
    second: int = 0


LASTS = 4
Map = Callable[[None, Lease], Lease]


def _shift(_config: None, s: Lease) -> Lease:
    return Lease(0, s.first - s.now, s.second - s.now)


def _forgets_one(_config: None, s: Lease) -> Lease:
    return Lease(0, s.first - s.now, s.second)


def _cap(most: int) -> Map:
    return lambda _config, s: replace(s, first=max(s.first, s.now - most), second=max(s.second, s.now - most))


def _both(most: int) -> Map:
    cap = _cap(most)
    return lambda config, s: cap(config, _shift(config, s))


def _twice_is_more(_config: None, s: Lease) -> Lease:
    moved = _both(LASTS)(None, s)
    return replace(moved, now=1 - s.now if s.now in (0, 1) else 0)


def _later(_config: None, s: Lease) -> Iterator[Lease]:
    yield from (Lease(s.now + n, s.first + n, s.second + n) for n in (1, 1_000_000))


def _nobody(_config: None, _s: Lease) -> tuple[Lease, ...]:
    return ()


def leases(
    map_: Map,
    *,
    offers: Callable[[Lease], bool] = lambda _s: True,
    alike: Callable[[None, Lease], Iterable[Lease]] = _nobody,
) -> System[None, Lease, str, str, None]:
    """A lease lasts so many seconds; an agent that asks is told whether its lease is still held."""

    def step(_rules: None, _config: None, s: Lease, action: str) -> tuple[Lease, str]:
        match action:
            case "wait":
                return replace(s, now=s.now + 1), "time"
            case "take":
                return replace(s, first=s.now, second=s.first), "taken"
            case _:
                held = [name for name, since in (("first", s.first), ("second", s.second)) if s.now - since < LASTS]
                return s, " ".join(held)

    return System(
        name="leases",
        rules=None,
        configs=lambda _scope, _readings: (None,),
        initial=lambda _config: (Lease(),),
        step=step,
        actions=lambda _config, _scope, s: ("wait", "take", "ask") if offers(s) else ("wait", "take"),
        fair=lambda _config: {"late": Fairness("weak", lambda s, action: action == "wait" and s.now > 5)},
        abstractions=(Abstraction("map", map_, alike),),
    )


HONEST: Property = EachStep(
    name="held_means_young",
    sentence="",
    check=lambda step: step.action != "ask" or ("first" in step.shown) == (step.before.now - step.before.first < LASTS),
)


def searched(system: System[Any, Any, Any, Any, Any], *claims: Property, **more: Any) -> Any:
    """Search under the map, as if its theorem were proved."""
    return explore(system, claims, licence=licences(system), **more)


def test_an_honest_map_closes_the_graph() -> None:
    """Ages from 0 to 4 of two leases, the second no younger than the first: 15 classes."""
    found = searched(leases(_both(LASTS)), HONEST)
    assert (found.complete, found.states, found.transitions) == (True, 15, 45)
    assert found.verdicts[0].status is Status.HOLDS


@pytest.mark.parametrize(
    ("map_", "says"),
    [
        (_both(LASTS - 1), "shows"),
        (_forgets_one, "leads from there|shows"),
        (_twice_is_more, "no representative"),
        (lambda _config, s: replace(s, now=s.now // s.first), "raised ZeroDivisionError"),
    ],
    ids=["cap one too small", "an instant forgotten", "not idempotent", "raises"],
)
def test_a_map_that_is_none_is_found_out(map_: Map, says: str) -> None:
    """Samples of the model contradict the licence."""
    with pytest.raises(ModelError, match=says):
        searched(leases(map_), HONEST, max_states=100)


def test_offers_that_look_at_the_time_are_found_out() -> None:
    """State and image must offer the same actions."""
    with pytest.raises(ModelError, match="which offers"):
        searched(leases(_both(LASTS), offers=lambda s: s.now < 9), HONEST)


ABSOLUTE: tuple[Property, ...] = (
    Always(name="early", sentence="", check=lambda _config, s: s.now < 100),
    Always(name="never_met", sentence="", check=lambda _config, _s: False, when=lambda _config, s: s.now > 7),
    EachStep(name="time_goes_on", sentence="", check=lambda step: step.action != "wait" or step.after.now < 1_000),
    EachStep(
        name="time_grows", sentence="", check=lambda step: step.action != "wait" or step.after.now > step.before.now
    ),
    Reachable(name="late", sentence="", goal=lambda step: step.before.now > 20),
    Monitor(
        name="remembers_instants",
        sentence="",
        start=lambda _config: False,
        update=lambda value, step: value or step.before.now > 1_000,
        ok=lambda _config, value: not value,
    ),
    AtMost(name="of_another_kind", sentence="", event=lambda step: step.before.now > 1_000, most=1),
)


@pytest.mark.parametrize("claim", ABSOLUTE, ids=lambda one: one.name)
def test_claims_about_the_time_itself_are_not_decided(claim: Property) -> None:
    """The claim's value on a state is compared with its value on the image, even at times that no run reaches."""
    (verdict,) = searched(leases(_both(LASTS), alike=_later), claim).verdicts
    assert verdict.status is Status.UNDECIDED
    assert "does not leave" in verdict.because


def test_fairness_that_looks_at_the_time_is_compared() -> None:
    """The claim's assumptions are compared too."""
    system = leases(_both(LASTS))
    claim = Eventually(name="served_late", sentence="", goal=lambda step: step.action == "wait", fairness=("late",))
    claims = (claim, replace(claim, name="served", fairness=()))
    doubts = abstraction.Mapped(system, "map", claims, system.abstractions).doubts([None])
    assert "does not leave served_late fixed" in doubts[0] and not doubts[1]


def test_a_time_that_no_run_reaches_is_seen_where_states_alike_are_declared() -> None:
    """Without these declared states, a claim that becomes false after a hundred seconds would count as true."""
    far = ABSOLUTE[0]
    assert searched(leases(_both(LASTS), alike=_later), far).verdicts[0].status is Status.UNDECIDED
    assert searched(leases(_both(LASTS)), far).verdicts[0].status is Status.HOLDS


def test_states_declared_alike_that_are_not_are_found_out() -> None:
    """They must have the same image."""
    with pytest.raises(ModelError, match=r"declares .* to be like"):
        searched(leases(_both(LASTS), alike=lambda _c, s: (replace(s, now=s.now + 1),)), HONEST)


def test_without_the_comparison_such_claims_would_hold() -> None:
    """Planted fault: without the comparison, a false claim about the time holds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(abstraction.Mapped, "doubts", lambda classes, _configs: ("",) * len(classes.claims))
        found = searched(
            leases(_both(LASTS)), ABSOLUTE[0], Always(name="x", sentence="", check=lambda _c, s: s.now < 1)
        )
        assert [verdict.status for verdict in found.verdicts] == [Status.HOLDS, Status.HOLDS]


def test_a_lie_that_no_sample_shows_is_shown_by_the_evidence() -> None:
    """Planted fault: without the comparison, a refutation under a cap that is too small does not replay: an error."""
    stays = EachStep(
        name="held_for_four_seconds",
        sentence="",
        check=lambda step: step.action != "ask" or "first" in step.shown or step.before.now - step.before.first >= 4,
    )
    lazy = Abstraction[None, Lease](
        "map", lambda c, s: Lease(0, -3 if s.now - s.first > 1 else s.first - s.now, 0), _nobody
    )
    system = replace(leases(_shift), abstractions=(lazy,))
    goal = Reachable(name="three", sentence="", goal=lambda step: step.before.now - step.before.first == 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(abstraction.Mapped, "doubts", lambda classes, _configs: ("",) * len(classes.claims))
        assert searched(system, stays).verdicts[0].status is Status.HOLDS
        with pytest.raises(ModelError, match="The licence is wrong, or the claim tells"):
            searched(system, goal)
    with pytest.raises(ModelError, match=r"leads from there|no representative|shows"):
        searched(system, goal)


def test_claims_that_compare_runs_are_not_asked() -> None:
    """Equal images are not equal states, so runs cannot be compared; the search skips such claims."""
    claims = (
        DeterminedBy(name="by_state", sentence="", key=lambda step: step.before, value=lambda step: step.after.now),
        Commute(
            name="in_any_order",
            sentence="",
            pairs=lambda _c, _s, some: [(some[0], some[1])],
            same=lambda _c, one, two: one.after == two.after,
        ),
        TwoRun(
            name="alike",
            sentence="",
            twins=lambda _c, _s, _a: (0,),
            config=lambda _w, c: c,
            state=lambda _w, _c, s: s,
            other=lambda _w, a: (a,),
            agree=lambda _w, _one, _other: False,
        ),
    )
    for verdict in searched(leases(_both(LASTS)), *claims, HONEST).verdicts[:3]:
        assert verdict.status is Status.UNDECIDED
        assert "compares runs" in verdict.because


def test_no_licence_no_map() -> None:
    """Without one, for a mutant, under other readings, for another system, for one of two maps alone."""
    system = timed(1)
    (one, two) = licences(system)
    for variant, given in (
        ("reference", [one]),
        ("reference", [one, replace(two, readings="others")]),
        ("reference", [one, replace(two, system="another")]),
        ("reference", [one, replace(two, variant="a_fault")]),
        ("a_fault", [one, two]),
    ):
        with pytest.raises(LicenceMissing):
            explore(replace(system, variant=variant), quotient="shift+saturation", licence=given)
    with pytest.raises(LicenceMissing):
        explore(system, quotient="shift")


def test_names_that_make_no_sense() -> None:
    """A missing map, a map named twice, a map beside a group."""
    system = timed(1)
    for name in ("shift+shift", "shift+names"):
        with pytest.raises(ValueError, match="each once"):
            explore(system, quotient=name, licence=licences(system))
    with pytest.raises(ValueError, match=r"unknown quotient .*saturation, shift"):
        explore(system, quotient="shifts", licence=licences(system))


def test_the_comparison_would_notice_less_if_it_looked_at_less() -> None:
    """Planted fault: one state and no drawn run; a cap that is too small is missed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(abstraction, "STATES", 1)
        patch.setattr(abstraction, "RUNS", 0)
        found = searched(leases(_both(LASTS - 1)))
    assert found.complete and found.states < 15
