"""A scheduler without an end of time, searched under two proved maps: its graph is that with saturated seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from evenhand.core.licence import Licence
from evenhand.core.property import Monitor
from evenhand.core.system import Abstraction
from evenhand.core.verdict import Status
from evenhand.jobs.engines import run
from evenhand.jobs.finishable import steps_beyond
from evenhand.jobs.plan import Job
from evenhand.model.markspace.clocked_vocabulary import ClockConfig, ClockState
from evenhand.model.markspace.composing_vocabulary import Update
from evenhand.proofs.markspace.clocked import CLOCK, SATURATED, SATURATION, SHIFT
from evenhand.search import LicenceMissing, ModelError, explore
from evenhand.smt.licence import NotLicensed, licence
from evenhand.smt.prove import prove
from evenhand.smt.proved import ProofStatus, Proved
from tests.properties.markspace.bundle import BUNDLE

ENDLESS = BUNDLE.model.systems["clock"].at(horizon=0)
TIMED = [one for one in BUNDLE.claims if one.name in ("schedule_interval_p56", "due_agents_are_activated")]


@cache
def proved() -> tuple[Proved, ...]:
    """Return both theorems, proved once."""
    return tuple(prove(theorem, bundle=BUNDLE) for theorem in (SHIFT, SATURATION))


def licences() -> list[Licence]:
    """Return their licences."""
    return [licence(one, ENDLESS.readings) for one in proved()]


def test_both_theorems_are_green_and_their_mutants_die_as_declared() -> None:
    """By both solvers, in conformance, each refuted for one mutant by a run that replays."""
    for one in proved():
        assert one.green, one.verdict.because
        assert all(killed.as_declared for killed in one.mutants)
        assert {answer.solver.split()[0] for _, answered in one.queries[:1] for answer in answered.answers} == {
            "z3",
            "cvc5",
        }
        assert [killed.verdict.status for killed in one.mutants].count(Status.REFUTED) == 1


def test_the_classes_are_the_states_of_the_scheduler_without_a_clock() -> None:
    """432 states, counted by `tests/oracles` without any model: instants under both maps, and saturated seconds."""
    found = explore(ENDLESS, TIMED, licence=licences())
    usual = explore(BUNDLE.model.systems["scheduling"], TIMED)
    assert found.complete and found.classes and not usual.classes
    for name in ("states", "transitions", "edges", "depth", "configs"):
        assert getattr(found, name) == getattr(usual, name), name
    assert found.states == 432
    assert [one.status for one in (*found.verdicts, *usual.verdicts)] == [Status.HOLDS] * 4


def test_under_another_cap_there_are_other_classes() -> None:
    """A map that remembers one more second has more classes, so the count is significant."""
    usual = ENDLESS.abstractions[1]

    def longer(config: ClockConfig, state: Any) -> Any:
        return usual.state(replace(config, longest=config.longest + 1), state)

    def none(_config: ClockConfig, _state: ClockState) -> Iterator[ClockState]:
        return iter(())

    system = replace(ENDLESS, abstractions=(ENDLESS.abstractions[0], Abstraction("saturation", longer, none)))
    assert explore(system, TIMED, licence=licences()).states > 432


def test_a_cap_below_the_longest_interval_lies() -> None:
    """Planted fault: the map forgets ages that an interval still needs."""
    usual = ENDLESS.abstractions[1]

    def shorter(config: ClockConfig, state: Any) -> Any:
        return usual.state(replace(config, longest=config.longest - 1), state)

    def none(_config: ClockConfig, _state: ClockState) -> Iterator[ClockState]:
        return iter(())

    system = replace(ENDLESS, abstractions=(ENDLESS.abstractions[0], Abstraction("saturation", shorter, none)))
    with pytest.raises(ModelError, match="The licence is wrong"):
        explore(system, TIMED, licence=licences())


def test_an_interval_beyond_the_longest_is_outside_the_licence() -> None:
    """Planted fault: with a longer interval on offer, old activations are no longer equivalent."""
    offers = ENDLESS.actions
    assert offers is not None

    def more(config: Any, scope: Any, state: Any) -> Iterator[Any]:
        yield from offers(config, scope, state)
        yield Update("alice", config.longest + 1)

    with pytest.raises(ModelError, match="The licence is wrong"):
        explore(replace(ENDLESS, actions=more), TIMED, licence=licences())


def test_a_mutant_and_a_theorem_that_is_not_green_license_nothing() -> None:
    """Licences of one map, or of other readings, do not license both maps."""
    faults = [one for one in BUNDLE.model.mutants if one.system == "clock"]
    assert len(faults) == 2
    for fault in faults:
        with pytest.raises(LicenceMissing, match="variant"):
            explore(fault.of(BUNDLE.model.systems).at(horizon=0), TIMED, licence=licences())
    undecided = replace(proved()[0], status=ProofStatus.UNDECIDED)
    with pytest.raises(NotLicensed, match="is UNDECIDED, so it licenses nothing"):
        licence(undecided, ENDLESS.readings)
    with pytest.raises(LicenceMissing, match="needs a licence"):
        explore(ENDLESS, TIMED, quotient="shift+saturation", licence=licences()[0])
    with pytest.raises(LicenceMissing, match="readings"):
        explore(ENDLESS.under(failed_action="claims"), TIMED, licence=licences())


def test_without_the_bound_on_intervals_saturation_is_not_proved() -> None:
    """Planted fault: the theory lacks the axiom that the longest interval on offer is the longest."""
    axioms = tuple(one for one in SATURATED.axioms if not one.name.startswith("intervals_on_offer"))
    assert len(axioms) < len(SATURATED.axioms) and "intervals_on_offer" in {one.name for one in CLOCK.axioms}
    broken = replace(SATURATION, theory=replace(SATURATED, axioms=axioms), needs=())
    with pytest.raises(NotLicensed):
        licence(prove(broken, bundle=BUNDLE), ENDLESS.readings)


def test_a_plan_is_run_under_its_licence_and_never_without() -> None:
    """The job of `verify`; for a mutant it is refused, as the search would not end."""
    job = Job(
        "markspace",
        "explore",
        "clock",
        (("horizon", 0),),
        quotient="shift+saturation",
        claims=("due_agents_are_activated",),
    )
    (finding,) = run(BUNDLE, job)
    assert finding.status is Status.HOLDS and finding.scope["quotient"] == "shift+saturation"
    assert finding.coverage["classes"] == 432
    assert job.command.endswith("--quotient shift --quotient saturation")
    with pytest.raises(NotLicensed, match="a mutant has no licence"):
        run(BUNDLE, replace(job, variant="due_by_the_time"))


def test_a_system_that_may_have_no_end_is_searched_before_it_is_called_small() -> None:
    """Up to its horizon it has an end; for a system without a horizon see `tests/front/test_quotients.py`."""
    assert steps_beyond(BUNDLE.model.systems["clock"], 50_000_000) == ""


def test_an_update_by_nobody_in_the_system_changes_no_interval() -> None:
    """It is refused, and the monitor of P56 stays as it was; without the question it raises."""
    (claim,) = (one for one in TIMED if one.name == "schedule_interval_p56")
    system = BUNDLE.model.systems["clock"]
    config = next(iter(system.all_configs()))
    step = system.take(config, next(iter(system.initial(config))), Update("nobody", 1))
    assert isinstance(claim, Monitor) and step.shown.refused == "no such agent"
    start = claim.start(config)
    assert claim.update(start, step) == start
