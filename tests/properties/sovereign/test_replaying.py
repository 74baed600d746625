"""Claims on replay, canonical form, closed kinds and start-up: each holds, and is false of a kernel made for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.verdict import Status
from evenhand.model.sovereign.artifacts import as_json, covered, sha
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.step import REFERENCE, agent_step, judging_step, session_step
from evenhand.model.sovereign.vocabulary import STREAMS, Candidate, Observation, Record
from evenhand.search import explore
from tests.properties.sovereign.bundle import BUNDLE

SMALL = {
    "agent": {"proposals": 1, "executors": 1},
    "session": {"refusals": 2, "thousands": 2},
    "lists": {"observations": 2, "candidates": 1},
}


def verdict(claim: str, system: str, **more: Any) -> Status:
    """Return the search's verdict on a claim in a small scope, of the reference or of a variant."""
    (asked,) = (one for one in BUNDLE.claims_of(system) if one.name == claim)
    return explore(replace(BUNDLE.model.systems[system].at(**SMALL[system]), **more), [asked]).verdicts[0].status


def _owes_more_later(rules: Any, config: Config, state: Any, action: Any) -> Any:
    """A kernel that has issued a warrant owes a line more."""
    after, shown = agent_step(rules, config, state, action)
    more = (Record(STREAMS[2], 1, 1),) if state.issued and shown.decision is not None else ()
    return after, replace(shown, intents=(*shown.intents, *more))


def _owes_more_in_a_condition(rules: Any, config: Config, state: Any, action: Any) -> Any:
    """A line more under one condition, which no log names."""
    after, shown = session_step(rules, config, state, action)
    more = (Record(STREAMS[2], 1, 1),) if config.condition == "L-B" else ()
    return after, replace(shown, intents=(*shown.intents, *more))


def _counts_by_condition(config: Config, state: Any, kind: str, tokens: int) -> Any:
    """A condition whose cycles cost one token more."""
    return REFERENCE.settle(config, state, kind, tokens + (config.condition == "L-B"))


@pytest.mark.parametrize(
    ("claim", "system", "fault"),
    [
        ("owed_lines_follow_from_what_is_logged", "agent", {"step": _owes_more_later}),
        ("owed_lines_follow_from_what_is_logged", "session", {"step": _owes_more_in_a_condition}),
        ("counts_follow_from_what_is_logged", "session", {"rules": replace(REFERENCE, settle=_counts_by_condition)}),
    ],
)
def test_what_a_replay_derives_anew(claim: str, system: str, fault: dict[str, Any]) -> None:
    """7 A33: lines and counts of a cycle follow from its log."""
    assert verdict(claim, system) is Status.HOLDS
    assert verdict(claim, system, variant="faulty", **fault) is Status.REFUTED


def _takes(rule: str, kind: str) -> Rules:
    """Return the rules of a kernel that takes observations of no known kind for this kind in one rule."""

    def taken(config: Config, seen: tuple[Observation, ...]) -> Any:
        known = tuple(replace(one, kind=kind) if one.kind == "rumour" else one for one in seen)
        return getattr(REFERENCE, rule)(config, known)

    change: dict[str, Any] = {rule: taken}
    return replace(REFERENCE, **change)


@pytest.mark.parametrize(
    ("rule", "kind"), [("cycle_time", "timestamp"), ("overspent", "budget"), ("integrity", "system")]
)
def test_what_is_of_no_known_kind_is_read_as_none(rule: str, kind: str) -> None:
    """7 A10: the set of kinds is closed."""
    rules = _takes(rule, kind)
    assert verdict("other_kinds_decide_nothing", "lists") is Status.HOLDS
    assert verdict("other_kinds_decide_nothing", "lists", rules=rules, variant="faulty") is Status.REFUTED


def _hashed(**form: Any) -> Callable[[Config, Candidate], str]:
    """Return a hash of bundles over JSON of another form."""

    def hashed(config: Config, candidate: Candidate) -> str:
        told = as_json(covered(candidate, config.readings.bundle_hash_covers))
        return sha(json.dumps(told, ensure_ascii=False, **form).encode())

    return hashed


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"sort_keys": True, "separators": (",", ":")}, Status.HOLDS),
        ({"sort_keys": True}, Status.REFUTED),
        ({"separators": (",", ":")}, Status.REFUTED),
    ],
    ids=["canonical", "with spaces", "keys as they come"],
)
@pytest.mark.parametrize("claim", ["the_trace_names_bundles_by_their_hash", "the_least_admitted_hash_wins"])
def test_hashes_are_of_canonical_json(claim: str, form: dict[str, Any], status: Status) -> None:
    """7 A44, 4 INV-4: sorted keys and no white space, made here without the model's encoder."""
    rules = replace(REFERENCE, hashed=_hashed(**form))
    assert verdict(claim, "lists", rules=rules, variant="another form") is status


def _hears_nothing(_config: Config, _seen: tuple[Observation, ...]) -> str:
    return ""


def _asks_for_a_proposal(rules: Any, config: Config, state: Any, action: Any) -> Any:
    """A kernel that looks for integrity failures only where something was proposed, so never at a start-up."""
    deaf = replace(rules, integrity=_hears_nothing)
    return judging_step(rules if action.candidates else deaf, config, state, action)


def test_a_failure_at_start_up_exits_without_a_proposal() -> None:
    """7 A72: the kernel is asked for an ExitRecord before anybody has proposed anything."""
    claim = "exits_on_integrity_failure_alone"
    assert verdict(claim, "lists") is Status.HOLDS
    assert verdict(claim, "lists", step=_asks_for_a_proposal, variant="asks for a proposal") is Status.REFUTED


def _forgets_a_bundle(rules: Any, config: Config, state: Any, action: Any) -> Any:
    """Of the LogAppends that a cycle warrants one is not shown."""
    after, shown = session_step(rules, config, state, action)
    return after, replace(shown, log_bundles=shown.log_bundles[1:])


def _exchanges_streams(rules: Any, config: Config, state: Any, action: Any) -> Any:
    """Two LogAppends hold each other's lines."""
    after, shown = session_step(rules, config, state, action)
    names = [one.stream for one in shown.log_bundles]
    moved = zip(shown.log_bundles, (*names[1:], *names[:1]), strict=True)
    return after, replace(shown, log_bundles=tuple(replace(one, stream=name) for one, name in moved))


@pytest.mark.parametrize("fault", [_forgets_a_bundle, _exchanges_streams])
def test_log_bundles_hold_what_is_logged(fault: Callable[..., Any]) -> None:
    """6: a bundle for each warrant, and its lines."""
    assert verdict("log_bundles_hold_what_is_logged", "session") is Status.HOLDS
    assert verdict("log_bundles_hold_what_is_logged", "session", step=fault, variant="faulty") is Status.REFUTED
