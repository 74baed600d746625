"""Section 11: the acceptance tests, word for word, including both fixtures."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.atoms import Opaque
from evenhand.core.system import Step
from evenhand.model.apcm.compiler import REFERENCE, SELECTORS
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.menus import action_names, preference_names, situation
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.step import ApcmStep, initial, step
from evenhand.model.apcm.vocabulary import (
    EMPTY,
    MAINTAIN,
    REVISE,
    Act,
    Artifact,
    Config,
    Entry,
    Error,
    Fields,
    Select,
    Shown,
    Situation,
    State,
    Submit,
    digest_of,
)

TWO, THREE = preference_names(2), preference_names(3)
PAIR = (("P1", "P2"),)


def config(published: Situation, preferences: tuple[str, ...] = TWO, **more: Any) -> Config:
    """Return a configuration with one situation and three actions in the inventory."""
    return Config(action_names(3), preferences, (published,), **more)


def submit(
    where: Config, fields: Fields | Artifact | None, *, state: State | None = None, mode: str = REVISE
) -> ApcmStep:
    """Submit an artefact with these fields, linked to the state's previous one."""
    before = state or initial(where)[0]
    artifact = artifact_of(fields, before.previous, mode) if isinstance(fields, Fields) else fields
    action: Act = Submit(artifact)
    after, shown = step(REFERENCE, where, before, action)
    return Step(where, before, action, shown, after)


def shown(where: Config, fields: Fields | Artifact | None, **more: Any) -> Shown:
    """Return the observation of such a submission."""
    return submit(where, fields, **more).shown


def codes(found: Shown) -> list[str]:
    """Return the errors, with payload."""
    return [str(error) for error in found.errors]


# 11.1


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (Situation(("a1", "a2"), (("a1", Entry(frozenset())),)), Error("E_APCM_MISSING", ("a2",))),
        (Situation(("a1",), (("a1", Entry(None)),)), Error("E_APCM_NULL", ("a1", "violates"))),
        (Situation(("a1",), (("a1", Entry(frozenset(), None)),)), Error("E_APCM_NULL", ("a1", "satisfies"))),
        (
            Situation(("a1",), (("a1", Entry(frozenset(("P9",)))),)),
            Error("E_APCM_UNKNOWN_PREFERENCE", ("a1", "violates", "P9")),
        ),
        (Situation(("a1",), (("a1", Entry(Opaque("object"))),)), Error("E_APCM_TYPE", ("a1", "violates"))),
        (Situation(("a9",), (("a9", Entry(frozenset())),)), Error("E_FEASIBLE_UNKNOWN", ("a9",))),
    ],
)
def test_11_1_improper_apcm_fails_fast(bad: Situation, error: Error) -> None:
    """The culprit is named, the run is over, and no artefact was compiled."""
    found = submit(config(bad), EMPTY)
    assert found.shown.invalid == (error,)
    assert found.shown.compile_ok is None and found.after.over == "INVALID_RUN"


def test_11_1_lists_by_reading() -> None:
    """A list is coerced by default and refused under the other reading."""
    listed = Situation(("a1",), (("a1", Entry(("P1", "P1"), ())),))
    assert shown(config(listed), EMPTY).invalid == ()
    strict = replace(Readings(), list_inputs="rejected")
    assert [e.code for e in shown(config(listed, readings=strict), EMPTY).invalid] == ["E_APCM_TYPE"] * 2


# 11.2


def test_11_2_unauthorised_and_unpreserved_are_forbidden() -> None:
    """Every action that violates a preference outside AV, or one in RP."""
    published = situation(THREE, a1="P1", a2="P2", a3="P1 P3")
    found = shown(config(published, THREE), Fields(("P1",), ("P2", "P3"), (("P1", "P2"),)))
    assert found.compile_ok and found.forbidden == ("a2", "a3") and found.permitted == ("a1",)


# 11.3


def test_11_3_false_collision_fails() -> None:
    """Some action violates neither P1 nor P2."""
    published = situation(THREE, a1="P1", a2="P3")
    assert codes(shown(config(published, THREE), Fields((), (), PAIR))) == ["E_FALSE_COLLISION(P1, P2)"]


# 11.4

SOPHIE = config(situation(TWO, a1="P1", a2="P2"))
GOOD = Fields(("P1",), ("P2",), PAIR)


@pytest.mark.parametrize("changed", [replace(GOOD, av=()), replace(GOOD, rp=()), replace(GOOD, pairs=())])
def test_11_4_maintain_refuses_any_change(changed: Fields) -> None:
    """AV, RP, conflict_attribution."""
    found = shown(SOPHIE, changed, state=State(previous=GOOD), mode=MAINTAIN)
    assert "E_PRECEDENT_VIOLATION" in codes(found) and not found.compile_ok and found.halt


def test_11_4_maintain_keeps_and_revise_changes() -> None:
    """The same fields compile under MAINTAIN; changed ones under REVISE, logged as a revision."""
    kept = shown(SOPHIE, GOOD, state=State(previous=GOOD), mode=MAINTAIN)
    assert kept.compile_ok and not kept.revision
    other = Fields(("P2",), ("P1",), PAIR)
    revised = submit(SOPHIE, other, state=State(previous=GOOD))
    assert revised.shown.compile_ok and revised.shown.revision and revised.after.previous == other


def test_11_4_digest_mismatch_has_a_code_of_its_own() -> None:
    """The fields are right, the link is wrong."""
    wrong = replace(artifact_of(GOOD, GOOD, MAINTAIN), previous_artifact_digest=digest_of(EMPTY))
    assert codes(shown(SOPHIE, wrong, state=State(previous=GOOD))) == ["E_DIGEST_MISMATCH"]


# 11.5


def test_11_5_lazy_legislator() -> None:
    """RP is empty, AV = {P1}, and a feasible action violates nothing; the collision declared is {P1, P2}."""
    lazy = config(situation(TWO, a1="", a2="P1"))
    found = shown(lazy, Fields(("P1",), (), PAIR))
    assert codes(found) == ["E_GRATUITOUS_VIOLATION(P1)", "E_FALSE_COLLISION(P1, P2)"]
    assert found.compile_error_code == "E_GRATUITOUS_VIOLATION"


def test_11_5_sophies_choice() -> None:
    """A violates P1, B violates P2; RP = {P2}, AV = {P1}: compiles, and only A may be taken."""
    found = submit(SOPHIE, GOOD)
    assert found.shown.compile_ok and found.shown.permitted == ("a1",) and found.shown.forbidden == ("a2",)
    after, done = step(REFERENCE, SOPHIE, found.after, Select("a1"))
    assert (done.selected, done.selected_violates) == ("a1", ("P1",)) and not after.offered


def test_11_5_step_1_comes_before_step_2() -> None:
    """Without a collision, the first code is that of step 1, followed by that of step 2."""
    lazy = config(situation(TWO, a1="", a2="P1"))
    assert codes(shown(lazy, Fields(("P1",), (), ()))) == ["E_AV_WITHOUT_COLLISION", "E_GRATUITOUS_VIOLATION(P1)"]


# 11.6


def test_11_6_selectors_are_handed_a_set_and_nothing_else() -> None:
    """They get one argument, the permitted set, and return a part of it."""
    for name, selector in SELECTORS.items():
        assert len(inspect.signature(selector).parameters) == 1
        left = selector(frozenset(("a2", "a1")))
        assert left and set(left) <= {"a1", "a2"}, name
        assert left == selector(frozenset(("a1", "a2")))


def test_halt_and_gridlock_are_two_things() -> None:
    """A failed compile, and a compile that forbids every action."""
    failed = shown(SOPHIE, Fields(("P1",), (), PAIR))
    stuck = shown(SOPHIE, EMPTY)
    assert (failed.halt, failed.gridlock, failed.compile_ok) == (True, False, False)
    assert (stuck.halt, stuck.gridlock, stuck.compile_ok) == (False, True, True)


def test_three_way_choice_is_blocked_whatever_is_said() -> None:
    """The smallest situation without a way out, by every artefact."""
    from evenhand.model.apcm.menus import THREE_WAY, all_fields

    where = config(THREE_WAY, THREE)
    every = all_fields(THREE, Readings())
    assert len(every) == 512
    assert not any(shown(where, fields).permitted for fields in every)


READING_EFFECTS: dict[str, tuple[str, Any, Any]] = {
    "pair_arity": ("may_repeat", config(situation(TWO, a1="P1")), Fields(("P1",), (), (("P1", "P1"),))),
    "av_in_collision": (
        "required",
        config(situation(THREE, a1="P1 P2 P3"), THREE),
        Fields(("P1", "P2", "P3"), (), PAIR),
    ),
    "av_rp_overlap": ("error", config(situation(TWO, a1="P1")), Fields(("P1",), ("P1",), PAIR)),
    "satisfies": (
        "disjoint_from_violates",
        config(Situation(("a1",), (("a1", Entry(frozenset(("P1",)), frozenset(("P1",)))),))),
        EMPTY,
    ),
    "feasible_empty": ("halt", config(Situation((), ())), EMPTY),
}


@pytest.mark.parametrize("name", READING_EFFECTS)
def test_each_reading_shows(name: str) -> None:
    """The default and the other value show different things on a submission made for it."""
    value, where, fields = READING_EFFECTS[name]
    default = shown(where, fields)
    other = shown(replace(where, readings=replace(Readings(), **{name: value})), fields)
    assert replace(default, artifact=None) != replace(other, artifact=None)


def test_readings_of_precedents_show() -> None:
    """The statement of the first step, the order in a pair, the previous artefact."""
    first = replace(Readings(), first_step_mode="maintain_means_empty")
    assert not shown(SOPHIE, EMPTY, mode=MAINTAIN).compile_ok
    assert shown(replace(SOPHIE, readings=first), EMPTY, mode=MAINTAIN).compile_ok
    ordered = replace(Readings(), pair_order="ordered")
    turned = replace(artifact_of(GOOD, GOOD, MAINTAIN), conflict_attribution=frozenset((("P2", "P1"),)))
    assert shown(SOPHIE, turned, state=State(previous=GOOD)).compile_ok
    assert not shown(replace(SOPHIE, readings=ordered), turned, state=State(previous=GOOD)).compile_ok
    failing = Fields(("P1",), (), PAIR)
    kept = replace(SOPHIE, readings=replace(Readings(), previous="last_submitted"))
    assert submit(SOPHIE, failing).after.previous is None
    assert submit(kept, failing).after.previous == failing


def test_a_link_covers_the_artefact_as_read() -> None:
    """3.1: an artefact that repeats the previous one has its digest, unless the digest covers the link as well."""
    whole = replace(SOPHIE, readings=replace(Readings(), digest="of_the_whole"))
    for where, chains in ((SOPHIE, False), (whole, True)):
        first = submit(where, GOOD).after
        again = artifact_of(GOOD, first.previous, MAINTAIN)
        second = submit(where, again, state=State(previous=first.previous))
        assert second.shown.compile_ok
        third = submit(where, again, state=State(previous=second.after.previous))
        assert codes(third.shown) == (["E_DIGEST_MISMATCH"] if chains else [])


def test_a_malformed_artefact_fails_or_is_sent_back() -> None:
    """12.2: by the reading; a lawful one is compiled either way."""
    early = replace(SOPHIE, readings=replace(Readings(), validated="on_arrival"))
    bad = replace(artifact_of(GOOD, None), mode="AMEND")
    assert shown(SOPHIE, bad).compile_ok is False and shown(SOPHIE, bad).halt
    sent_back = shown(early, bad)
    assert sent_back.rejected == "the artefact is malformed: E_UNKNOWN_MODE(AMEND)" and not sent_back.halt
    assert shown(early, artifact_of(GOOD, None)) == shown(SOPHIE, artifact_of(GOOD, None))
