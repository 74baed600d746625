"""Which claims determine a system's steps: whether every other step, of any values that occur, refutes one of them.

A system that is named with a set of claims is determined by these alone, and none of them can be left out.  Elsewhere
all claims together are asked, and the fields that they leave open are listed with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from evenhand.core.kinds import Property, Safety
from evenhand.core.property import each_step
from evenhand.core.registry import find, protocols
from evenhand.core.system import AnyStep, Step
from evenhand.core.verdict import Status
from evenhand.studies.determining import Looked, claims_that_hold, determined, first_steps, looked_at
from tests.deep import rest_slow

EVERY = range(10_000)
"""The numbers of all configurations."""


@dataclass(frozen=True)
class Place:
    """A system at its sizes, some of its configurations by number, and about `some` steps of each."""

    protocol: str
    system: str
    configs: Sequence[int] = EVERY
    some: int = 8
    sizes: Mapping[str, int] | None = None

    def claims(self, names: Collection[str] = ()) -> Sequence[Property]:
        """The claims that hold of it, or those of these names among them."""
        return claims_that_hold(find(self.protocol), self.system, {}, names)

    def look(self, claims: Sequence[Property], *, needs: bool) -> Looked:
        """What the claims fix there."""
        system = find(self.protocol).model.systems[self.system].at(**(self.sizes or {}))
        chosen = (one for number, one in enumerate(system.all_configs()) if number in self.configs)
        return looked_at(system, claims, chosen, self.some, needs=needs)


ONE_POINT = {"budget": 1, "stake": 1, "texts": 0}

COMPILER = {
    "empty_step_is_as_read",
    "errors_are_exactly_the_broken_rules",
    "every_step_moves_on_by_one",
    "executions_record_what_they_violate",
    "failed_compile_halts",
    "fields_are_as_written",
    "gridlock_iff_all_forbidden",
    "halt_and_gridlock_are_distinct",
    "malformed_artifact_is_refused",
    "mask_forbids_exactly_rule_1",
    "masks_wait_for_a_selection",
    "only_malformed_artifacts_go_unread",
    "permitted_is_feasible_minus_forbidden",
    "precedent_is_kept_as_read",
    "revisions_are_logged",
    "selectors_choose_as_named",
    "steps_show_their_kind",
    "submissions_arrive_unchanged",
    "submissions_execute_nothing",
}
"""The claims that determine every step of `apcm`'s universe, as docs/explanation/apcm.md has them."""

CYCLE = {
    "conditions_abort_after_so_many_refusals",
    "cycles_carry_out_their_warrant",
    "cycles_log_or_lose_what_they_owe",
    "decisions_owe_what_they_are_made_of",
    "log_bundles_hold_what_is_logged",
    "owed_lines_are_the_artefacts",
    "sessions_end_when_their_tokens_are_spent",
    "the_trace_names_bundles_by_their_hash",
    "the_tree_changes_as_effects_say",
}
"""The claims that determine every cycle of `sovereign`'s session."""

SPACE = {
    "contenders_are_the_active_intents",
    "content_access_p21",
    "hooks_run_after_each_write",
    "mark_immutability_p30",
    "need_clusters_are_complete",
    "needs_are_resolved_but_for_cause",
    "projection_preservation_p24",
    "reads_are_answered",
    "reads_show_what_is_stored",
    "replies_hold_what_was_asked",
    "space_holds_what_was_submitted",
    "winners_come_first",
    "writes_are_exactly_the_lawful",
}
"""The claims that determine every step of `markspace`'s space."""

STRENGTH = {
    "action_permanence_p2",
    "convergence_p3",
    "intent_expiry_p4",
    "need_persistence_p5",
    "trust_scales_strength",
    "warnings_weigh_what_they_weigh",
}
"""The claims that determine every measurement of `markspace`'s strengths."""

COMPOSITION = {
    "answers_hold_what_was_asked",
    "composing_refuses_for_cause_alone",
    "manifest_permission_consistency_p54",
    "patterns_change_as_asked",
    "pipelines_connect_as_declared",
    "polls_deliver_the_queue",
    "published_marks_are_as_submitted",
    "queues_change_as_asked",
}
"""The claims that determine every step of `markspace`'s composition."""

SCHEDULE = {"composing_refuses_for_cause_alone", "schedules_change_as_asked"}
"""The claims that determine every step of `markspace`'s scheduler."""

ISSUE = {
    "actions_age_no_stake",
    "an_action_changes_what_it_names",
    "an_action_concerns_its_agent_alone",
    "an_issue_begins_clean",
    "events_say_what_was_done",
    "every_tick_comes_closer",
    "issues_are_opened_whole",
    "laggards_alone_are_kicked_out",
    "lawful_actions_are_accepted",
    "log_replays_to_the_state",
    "nothing_is_left_between_issues",
    "one_proposal_each",
    "only_the_actor_moves_its_stake",
    "phases_are_announced",
    "ready_lasts_as_read",
    "rejected_actions_change_nothing",
    "rejections_name_their_agent",
    "scores_are_sums_of_weights",
    "stake_ticks_are_the_latest",
    "stakes_age_by_rounds",
    "the_clock_moves_as_stated",
    "ticks_keep_the_order_of_stake_ticks",
    "ticks_keep_what_agents_did",
}
"""The claims that determine every step of one Issue of `conviction`, where each agent has one point."""

NAMED: Sequence[tuple[Place, set[str]]] = (
    (Place("apcm", "universe", (0, 24, 31), 20), COMPILER),
    (Place("markspace", "clock", EVERY, 20), {"instants_change_as_asked"}),
    (Place("markspace", "composing", EVERY, 20), COMPOSITION),
    (Place("markspace", "scheduling", EVERY, 20), SCHEDULE),
    (Place("sovereign", "session", EVERY, 20), CYCLE),
    (Place("conviction", "issue", EVERY, 1_000, ONE_POINT), ISSUE),
    (Place("markspace", "signals", (0, 6), 8), STRENGTH),
    (Place("markspace", "space", EVERY, 100), SPACE),
)
WRITTEN = {
    "after.offered",
    "after.permitted",
    "after.place",
    "after.previous",
    "shown.compile_ok",
    "shown.errors",
    "shown.fields",
    "shown.halt",
    "shown.mode",
    "shown.offered",
    "shown.permitted",
    "shown.revision",
}
"""What follows from an artefact and its errors."""

OPEN: Sequence[tuple[Place, set[str]]] = (
    (Place("apcm", "run", range(0, 10_000, 3)), set()),
    (Place("apcm", "agents", range(0, 10_000, 100)), set()),
    (Place("cud", "universe", (0, 1, 2048, 4095), 4), set()),
    (Place("cud", "run", EVERY, 4), set()),
    (Place("conviction", "trio", EVERY, 12, {**ONE_POINT, "agents": 2, "outsiders": 1}), set()),
    (Place("conviction", "series", EVERY, 12, ONE_POINT), set()),
    (Place("conviction", "run"), set()),
    # What the guard says with an ALLOW, no sentence says (9.3); a kernel may explain it too.
    (Place("markspace", "first_writer", EVERY, 4), {"shown.reason"}),
    (Place("markspace", "highest_confidence", EVERY, 4), {"shown.reason"}),
    (Place("markspace", "yield_all"), {"shown.reason"}),
    (Place("markspace", "meddled", EVERY, 4), {"shown.reason"}),
    # Several layers may forbid a write, and the text gives no order; activity without a canary shows nowhere; what is
    # let through may come with words.
    (Place("markspace", "layers"), {"shown.by", "shown.why", "after.probing"}),
    (Place("sovereign", "constitutions", range(0, 10_000, 11)), set()),
    # The order of the lines that a decision owes.
    (Place("sovereign", "lists", EVERY, 6), {"shown.intents"}),
    (Place("sovereign", "candidates", EVERY, 3), set()),
    # What a cycle does, which is claimed of sessions.
    (Place("sovereign", "live", EVERY, 30), {"after.session", "shown.cycle"}),
    # Whether a check refuses a path through links, which the use judges anew; what a restarted host still owes.
    (Place("sovereign", "agent", EVERY, 400), {"after.held", "after.owed", "shown.rejected"}),
    # What a generator writes, and all that follows from it: the text names none.
    (Place("apcm", "conditions", EVERY, 50), WRITTEN | {"shown.artifact", "shown.forbidden", "shown.gridlock"}),
    # Which errors an artefact has, and all that follows from it: the text has no repaired rules.
    (Place("apcm", "repaired", (1,), 4), WRITTEN | {"after.over", "shown.forbidden"}),
    (Place("cud", "conditions"), set()),
    # Two claims speak of its epochs; those on the kernel, which is the same, are about `universe` and `run`.
    (Place("cud", "free"), {"after.counter", "after.marks", "shown.effects", "shown.tokens"}),
    (Place("markspace", "deferred", EVERY, 4), {"shown.reason"}),
)

WHOLE: Sequence[tuple[str, str, Mapping[str, int], int]] = (
    ("apcm", "universe", {}, 2824),
    ("markspace", "composing", {}, 3000),
    ("sovereign", "session", {}, 4091),
)


def named(one: object) -> str:
    """The system in the name of a test."""
    return one.system if isinstance(one, Place) else ""


@pytest.mark.parametrize(
    ("place", "names"), rest_slow(NAMED, 5), ids=lambda one: one.system if isinstance(one, Place) else ""
)
def test_the_named_claims_determine_the_steps_and_each_is_needed(place: Place, names: set[str]) -> None:
    """They leave no rival, and each of them is alone in telling some rival apart: none can be left out."""
    found = place.look(place.claims(names), needs=True)
    assert (found.status, set(found.left_open), set(found.needed)) == (Status.HOLDS, set(), names)
    assert found.steps > 15


@pytest.mark.deep
@pytest.mark.parametrize(("protocol", "system", "sizes", "steps"), WHOLE)
def test_the_named_claims_determine_every_step(
    protocol: str, system: str, sizes: Mapping[str, int], steps: int
) -> None:
    """Every step of the scope, or the first thousand of each configuration."""
    names = next(names for place, names in NAMED if (place.protocol, place.system) == (protocol, system))
    place = Place(protocol, system, EVERY, 1_000, sizes)
    found = place.look(place.claims(names), needs=False)
    assert (found.steps, found.status) == (steps, Status.HOLDS)


@pytest.mark.parametrize(("place", "gaps"), rest_slow(OPEN, 3), ids=named)
def test_what_all_claims_leave_open_is_listed(place: Place, gaps: set[str]) -> None:
    """A claim that closes a gap takes it from the list.  A step that no claim refutes replays."""
    found = place.look(place.claims(), needs=False)
    assert found.steps and set(found.left_open) == gaps
    assert found.status is (Status.REFUTED if gaps else Status.HOLDS)


def rows() -> list[str]:
    """The rows of the table in docs/reference/determined.md."""
    told = [(place, f"{len(names)}, each needed", "nothing") for place, names in NAMED]
    told += [
        (place, "all that hold", ", ".join(f"`{gap}`" for gap in sorted(gaps)) or "nothing") for place, gaps in OPEN
    ]
    whole = {(protocol, system): steps for protocol, system, _, steps in WHOLE}
    found: list[str] = []
    for place, claims, gaps in sorted(told, key=lambda one: (one[0].protocol, one[0].system)):
        every = find(place.protocol).model.systems[place.system].at(**(place.sizes or {})).all_configs()
        known = sum(1 for _ in islice(every, 5_000))
        chosen = sum(1 for number in range(known) if number in place.configs)
        about = f"about {place.some} steps in each of {chosen} of {known}"
        steps = whole.get((place.protocol, place.system))
        looked = about if steps is None else f"{steps:,} steps; for what is needed {about}"
        found.append(f"| `{place.protocol}` | `{place.system}` | {claims} | {gaps} | {looked} |")
    return found


def test_the_table_is_that_of_these_tests() -> None:
    """System by system: the claims, what they leave open, and how many steps are looked at."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "determined.md").read_text("utf-8")
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows()


def test_every_system_is_looked_at() -> None:
    """Each has a named set of claims, or its gaps are listed."""
    known = {(place.protocol, place.system) for place, _ in (*NAMED, *OPEN)}
    assert known == {(one.name, system) for one in protocols() for system in one.model.systems}


@dataclass(frozen=True)
class Two:
    """Two numbers."""

    left: int = 0
    right: int = 0


TWO: list[AnyStep] = [Step(None, 0, None, Two(one, one), one) for one in range(3)]


@each_step("The left one is what follows.")
def left(step: Step[None, int, int, Two]) -> bool:
    """Reads one field and the state."""
    return step.shown.left == step.after


@each_step("Both are alike.")
def alike(step: Step[None, int, int, Two]) -> bool:
    """Reads two fields."""
    return step.shown.left == step.shown.right


@each_step("Nothing is what follows.")
def zero(step: Step[None, int, int, Two]) -> bool:
    """Reads a state that is no record."""
    return step.after == 0


@each_step("Both are what follows.")
def whole(step: Step[None, int, int, Two]) -> bool:
    """Compares a whole record."""
    return step.shown == Two(step.after, step.after)


@pytest.mark.parametrize(
    ("claims", "open_", "needed"),
    [
        ((left, alike, zero), (), 3),
        ((whole, zero), (), 2),
        ((whole, zero, left), (), 2),
        ((left, zero), ("shown.right",), 2),
        ((whole,), ("after", "shown.left", "shown.right"), 1),
    ],
)
def test_what_two_numbers_leave_open(claims: Sequence[Safety], open_: tuple[str, ...], needed: int) -> None:
    """By hand, of the step to zero: a claim that follows from another is not needed."""
    found = determined(claims, TWO, 3)
    assert (found.left_open, len(found.needed)) == (open_, needed)


def test_without_a_needed_claim_some_rival_is_left() -> None:
    """Nothing else says that what is compiled was submitted."""
    bundle = find("apcm")
    universe = bundle.model.systems["universe"]
    steps = first_steps(universe, next(iter(universe.all_configs())))
    claims = [one for one in bundle.claims_of("universe") if one.name != "submissions_arrive_unchanged"]
    assert "shown.artifact" in determined(claims, steps, len(steps), needs=False).left_open
