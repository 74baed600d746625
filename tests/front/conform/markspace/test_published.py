"""The published package behind its adapter: each difference is found and reported by claim; a mended package agrees.

Each finding that the page names is searched here, in the smallest sufficient scenario.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pytest

from evenhand.conform.adapters.kernels import adapter_source
from evenhand.conform.adapters.model import reference
from evenhand.conform.checking.finding import load_finding, recheck
from evenhand.conform.checking.loop import EXHAUSTIVE, CheckEffort, SystemChecked, check_system
from evenhand.core.codec import decode, encode
from evenhand.core.kernel import Unsupported
from evenhand.core.registry import find
from evenhand.model.markspace.adapter import published
from evenhand.model.markspace.adapter.layers import PublishedLayers
from evenhand.model.markspace.adapter.signals import PublishedSignals
from evenhand.model.markspace.layers_vocabulary import TYPES as LAYERED
from evenhand.model.markspace.layers_vocabulary import Health, Layer, Op, Operation, Outcome
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.signals import WEIGHTS
from evenhand.model.markspace.signals_vocabulary import TYPES, SignalConfig, Still
from evenhand.model.markspace.strength import Lives
from tests.deep import rest_slow
from tests.front.conform.in_process import InProcess
from tests.front.conftest import Command

markspace: Any = pytest.importorskip("markspace")
PUBLISHED = "evenhand.model.markspace.adapter:published"


def checked(name: str, transitions: int, scope: Mapping[str, int] | None = None, **readings: str) -> SystemChecked:
    """Check the package in one system, on so many transitions of a scope."""
    bundle = find("markspace")
    system = bundle.model.systems[name].under(**readings).at(**(scope or {}))
    effort = CheckEffort(transitions, 0, phases=(EXHAUSTIVE,))
    return check_system("markspace", (system,), bundle.claims, InProcess(published), own=system, effort=effort)


def claims(found: SystemChecked) -> set[str]:
    """Return the claims under which something is reported, or that a finding lists."""
    return {name for defect in found.defects for name in (defect.divergence.subject, *defect.claims)}


@pytest.mark.parametrize(
    ("system", "scope", "transitions", "told"),
    rest_slow(
        [
            ("layers", {"only": 2}, 500, "barrier_is_enforced"),
            ("layers", {"only": 6}, 200, "needs_are_written_for_their_causes"),
            ("layers", {"only": 5}, 100, "budget_warnings_are_in_time"),
            ("layers", {"only": 11}, 100, "telemetry_completeness_p58"),
            ("layers", {"only": 13, "marks": 2}, 900, "spikes_are_restricted"),
            ("layers", {"only": 13, "marks": 1}, 100, "barrier_principal_exclusivity_p45"),
            ("scheduling", {}, 800, "schedule_interval_p56"),
            ("deferred", {"levels": 1}, 500, "one_winner_per_boundary"),
            ("first_writer", {"levels": 1}, 300, "uncontested_is_allowed"),
        ],
        4,
    ),
)
def test_what_differs_is_told_by_the_claim_that_objects(
    system: str, scope: Mapping[str, int], transitions: int, told: str
) -> None:
    """The findings of the page, each at a scope that shows it."""
    assert told in claims(checked(system, transitions, scope))


def test_functions_of_strength_agree() -> None:
    """Decay, trust, warnings and reinforcement, where the package's parameters are those of the deployment."""
    found = checked("signals", 900)
    assert found.defects == () and sum(found.steps.values()) > 50
    assert any("reinforcement" in why for why in found.unsupported)


@pytest.mark.deep
@pytest.mark.parametrize("lives", [Lives(2, 1, 1), Lives(1, 2, 1), Lives(3, 2, 1), Lives(1, 9, 1)], ids=str)
def test_strengths_agree_at_other_half_lives(lives: Lives) -> None:
    """Every measurement on offer, rational or not."""
    system: Any = find("markspace").model.systems["signals"]
    config = SignalConfig(WEIGHTS, Fraction(3, 10), Fraction(2), lives, system.readings)
    package = PublishedSignals(config)
    acts = list(system.actions(config, system.scope, Still()))
    apart = [
        act for act in acts if decode(package.step(encode(act)), *TYPES) != system.take(config, Still(), act).shown
    ]
    assert apart == [] and len(acts) > 1_900


def test_half_lives_that_are_swapped_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where strengths are irrational, a wrong strength is not accepted as another form of the right one."""
    usual = markspace.compute_strength

    def swapped(mark: Any, now: float, decay: Any) -> float:
        other = markspace.DecayConfig(
            observation_half_life=decay.warning_half_life,
            warning_half_life=decay.observation_half_life,
            intent_ttl=decay.intent_ttl,
        )
        return cast("float", usual(mark, now, other))

    monkeypatch.setattr(markspace, "compute_strength", swapped)
    assert {"convergence_p3", "transient_marks_halve"} & claims(checked("signals", 900))


def test_a_read_of_a_parent_shows_classified_children() -> None:
    """P22 where reads take the subtree, which is the package's reading of 8.2."""
    found = checked("space", 300, {"only": 5, "hostile": 0, "horizon": 0}, hierarchy_reads="subtree")
    assert "classified_marks_stay_hidden" in claims(found)


def test_a_mended_barrier_is_not_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    """If pre_action asks the barrier about actions as well, the finding about tool calls disappears."""
    usual = cast("Callable[..., str | None]", getattr(markspace.Guard, "_check_barrier"))  # noqa: B009

    def mended(guard: Any, agent: Any, scope: str, kind: Any) -> str | None:
        said = usual(guard, agent, scope, kind)
        also = said is None and kind is markspace.MarkType.INTENT
        return usual(guard, agent, scope, markspace.MarkType.ACTION) if also else said

    monkeypatch.setattr(markspace.Guard, "_check_barrier", mended)
    assert "barrier_is_enforced" not in claims(checked("layers", 500, {"only": 2}))


def test_a_missed_canary_revokes_nothing_unless_the_barrier_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """9.9: a single miss locks the agent down; if the probe's verdict reaches the barrier, that finding disappears."""
    found = checked("layers", 1_000, {"only": 6})
    assert "barrier_is_enforced" in claims(found)

    def locked(self: Any, act: Any) -> Any:
        shown = usual(self, act)
        if shown.why == "compromised":
            barrier = self.guard.get_or_create_barrier(self.agents[act.agent].id)
            for kind in ("observation", "warning", "intent", "action"):
                barrier.narrow_all(kind)
        return shown

    usual = cast("Callable[..., Any]", getattr(PublishedLayers, "_probing"))  # noqa: B009
    monkeypatch.setattr(PublishedLayers, "_probing", locked)
    assert "barrier_is_enforced" not in claims(checked("layers", 1_000, {"only": 6}))


def test_a_fault_planted_in_the_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads that redact nothing: a fault that the page does not report is found once it is planted."""
    before = claims(checked("space", 400, {"only": 2, "hostile": 0, "horizon": 0}))

    def whole(mark: Any) -> Any:
        return mark

    monkeypatch.setattr("markspace.space.project_mark", whole)
    after = claims(checked("space", 400, {"only": 2, "hostile": 0, "horizon": 0}))
    assert "content_access_p21" in after - before


WROTE = Operation(Op.WRITE, "alice", "a", Kind.OBSERVATION)
TICK = Operation(Op.TICK)


def both_say(only: int, *acts: Operation) -> list[tuple[Outcome, Outcome]]:
    """Return the observations of the model and the package, step by step, for layers with room for four marks."""
    system: Any = find("markspace").model.systems["layers"].at(only=only, marks=4)
    (config,) = system.all_configs()
    (state,) = system.initial(config)
    package = PublishedLayers(config)
    shown: list[tuple[Outcome, Outcome]] = []
    for act in acts:
        step = system.take(config, state, act)
        state = step.after
        shown.append((step.shown, decode(package.step(encode(act)), *LAYERED)))
    return shown


def test_the_detector_has_a_floor_under_its_deviation() -> None:
    """One observation in the window before and two now: deviation 0, and yet no spike (9.7 has no such floor)."""
    check = Operation(Op.CHECK, "alice")
    *alike, (ours, theirs) = both_say(13, WROTE, TICK, TICK, WROTE, WROTE, check)
    assert all(model == package for model, package in alike)
    assert (ours.health, theirs.health) == (Health.RESTRICTED, Health.NORMAL)


def test_a_window_begins_with_its_first_write() -> None:
    """A need in a window's second half: the protocol's window ends half a window later, the package's a whole one."""
    need, check = Operation(Op.WRITE, "alice", "a", Kind.NEED), Operation(Op.CHECK, "alice")
    *alike, (ours, theirs) = both_say(13, TICK, need, TICK, WROTE, check)
    assert all(model == package for model, package in alike)
    assert (ours.health, theirs.health) == (Health.RESTRICTED, Health.NORMAL)


def test_a_shift_of_type_is_seen_alike_and_stops_more() -> None:
    """A need in the window before, an observation now: both restrict, and the package refuses tool calls as well."""
    need = Operation(Op.WRITE, "alice", "a", Kind.NEED)
    *alike, (ours, theirs) = both_say(13, need, TICK, TICK, WROTE, WROTE, Operation(Op.EXECUTE, "alice", "a"))
    assert all(model == package for model, package in alike)
    assert alike[-1][0].by is Layer.ENVELOPE
    assert (ours.accepted, theirs.accepted, theirs.by) == (True, False, Layer.ENVELOPE)


def test_who_watched_a_superseded_mark_is_told_of_the_new_one() -> None:
    """P50 queues marks that match the patterns; the package adds marks that replace a matching one."""
    assert "subscription_idempotency_p48" in claims(checked("composing", 5_000))


def test_an_envelope_that_forgets_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """P40 holds for the package: its flag is sticky. A flag that is not sticky is found at the second check."""
    need, check = Operation(Op.WRITE, "alice", "a", Kind.NEED), Operation(Op.CHECK, "alice")
    run = (need, TICK, TICK, WROTE, check, TICK, TICK, check)
    assert both_say(13, *run)[-1][1].health is Health.RESTRICTED

    def forgetful(self: Any, agent: Any) -> Any:
        self.reset(agent, None)
        return usual(self, agent)

    usual = cast("Callable[..., Any]", markspace.StatisticalEnvelope.check)
    monkeypatch.setattr(markspace.StatisticalEnvelope, "check", forgetful)
    ours, theirs = both_say(13, *run)[-1]
    assert (ours.health, theirs.health) == (Health.RESTRICTED, Health.NORMAL)


def test_what_the_package_lacks_is_unsupported() -> None:
    """For example a lease that is renewed: the adapter does not guess readings that the package lacks."""
    leased = find("markspace").model.systems["first_writer"].under(lease="renewed_while_tool_runs")
    config = next(iter(leased.all_configs()))
    start = next(iter(leased.initial(config)))
    initial: Any = {"protocol": "markspace", "system": "first_writer", "config": encode(config), "start": encode(start)}
    with pytest.raises(Unsupported):
        published(initial)
    with pytest.raises(Unsupported, match="not apcm"):
        published({"protocol": "apcm", "system": "x", "config": None, "start": None})


@pytest.mark.deep
@pytest.mark.timeout(1_800)  # it ends a hang: the check takes two minutes of CPU time, and the machine may be busy
def test_every_finding_replays(cli: Command, tmp_path: Path) -> None:
    """The whole check as on the page; each record fails again on the package, and not on the model.

    The first record is replayed in supervised processes, as users do; the others in this process, which starts faster.
    """
    report = cli("check", "markspace", "--adapter", PUBLISHED, "--out", str(tmp_path), "--json")
    findings = json.loads(report.out)["findings"]
    assert report.code == 1 and len(findings) > 15
    paths = [tmp_path / finding["fixture"] for finding in findings]
    assert not recheck(paths[0], adapter_source(PUBLISHED)).ok
    assert recheck(paths[0], adapter_source("evenhand.conform.adapters.model:reference")).ok
    for finding, path in zip(findings, paths, strict=True):
        assert load_finding(path).claim == finding["claim"]
        assert not recheck(path, InProcess(published)).ok
        assert recheck(path, InProcess(reference)).ok
