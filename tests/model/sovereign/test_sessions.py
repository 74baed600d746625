"""Conditions, their ends, their metrics, and the faults of 13.12 and 14.12."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import islice, permutations

import pytest

from evenhand.model.sovereign.artifacts import artifact_id, bundle_hash, line_of
from evenhand.model.sovereign.conditions import CONDITIONS, LIVE, CycleInput, cycles, menu
from evenhand.model.sovereign.kernel import Rules, decide
from evenhand.model.sovereign.menus import ESCAPES, TREE, at_time, budget, candidate, said, usual
from evenhand.model.sovereign.metrics import (
    Summary,
    authority_entropy,
    canonicalization,
    citation_counts,
    closure,
    context_utilization,
    gate_histogram,
    intent_matches,
    latency_summary,
    lc_outcome,
    outcome_costs,
    reason_histogram,
    recovery_ratio,
    refusal_types,
    token_summary,
)
from evenhand.model.sovereign.mutants import MUTANTS
from evenhand.model.sovereign.paths import dir_
from evenhand.model.sovereign.proposals import bind, proposed
from evenhand.model.sovereign.registered import condition, play
from evenhand.model.sovereign.sessions import (
    MODEL_DRIFT_DETECTED,
    TRANSPORT_FAILURE,
    TransportFailure,
    always_admit,
    always_refuse,
    calibrate,
    floor_met,
    run,
    run_all,
)
from evenhand.model.sovereign.state import (
    ABORTED,
    EXITED,
    SESSION_BUDGET_EXHAUSTED,
    Config,
    Cycle,
    Decide,
    State,
    Swap,
)
from evenhand.model.sovereign.step import REFERENCE
from evenhand.model.sovereign.systems import AGENT, CANDIDATES, LISTS, SESSION
from evenhand.model.sovereign.vocabulary import READ_LOCAL, Candidate

CONFIG = Config(tree=TREE)


def fed(*kinds: str) -> list[CycleInput]:
    """Return cycles of two kinds: `a` is admitted, `r` has no candidate."""
    seen = (at_time(), said(), budget(10))
    return [CycleInput(seen, (candidate(seen),) if kind == "a" else ()) for kind in kinds]


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_is_the_same_for_the_same_seed(name: str) -> None:
    """Another seed gives another one, unless nothing is drawn."""
    assert list(cycles(name, "s", 12)) == list(cycles(name, "s", 12))
    assert list(cycles(name, "s", 12)) != list(cycles(name, "t", 12))
    assert menu(name)


def test_refusals_in_a_row_abort_a_condition_and_no_other() -> None:
    """25 of them; an ACTION restarts the count (13.10)."""
    assert run(CONFIG, fed(*"r" * 30)).ended == ABORTED
    assert len(run(CONFIG, fed(*"r" * 30)).steps) == 25
    assert run(CONFIG, fed(*"r" * 24, "a", *"r" * 24)).ended == ""


def test_the_session_budget_ends_everything() -> None:
    """B2 over conditions, not within one (13.7)."""
    config = replace(CONFIG, session_budget=2_000)
    runs = run_all(config, ("L-B", "L-C", "L-D", "L-E"), "seed", 3)
    assert [ran.ended for ran in runs] == ["", SESSION_BUDGET_EXHAUSTED]
    assert runs[-1].tokens > 2_000


def test_floors() -> None:
    """A needs some ACTION, L-A a fifth of them, the others nothing (13.10)."""
    for name, kinds, met in (
        ("A", "rrrra", True),
        ("A", "rrrr", False),
        ("L-A", "rrrra", True),
        ("L-A", "rrrrra", False),
        ("L-B", "rrrr", True),
    ):
        assert floor_met(run(replace(CONFIG, condition=name), fed(*kinds))) == met, (name, kinds)


def test_calibration() -> None:
    """Three equal canonical hashes, or the run does not begin (13.4)."""
    assert calibrate(lambda _prompt: '{"a": 1}') == ""
    answers = iter(('{"a": 1}', '{ "a":1}', '{"a": 2}'))
    assert calibrate(lambda _prompt: next(answers)) == MODEL_DRIFT_DETECTED
    assert calibrate(lambda _prompt: "no json") == MODEL_DRIFT_DETECTED

    def fails(_prompt: str) -> str:
        raise TransportFailure

    assert calibrate(fails) == TRANSPORT_FAILURE


def test_baselines_decide_without_doing() -> None:
    """Always-Refuse and Always-Admit (12.4)."""
    seen = (at_time(), said(), budget(10))
    inputs = [*fed("a", "r"), CycleInput(seen, (candidate(seen, READ_LOCAL, path=ESCAPES[0]),))]
    assert always_refuse(CONFIG, inputs) == ("REFUSE",) * 3
    assert always_admit(CONFIG, inputs) == ("ACTION", "REFUSE", "REFUSE")


def test_metrics_of_a_known_run() -> None:
    """Counted by hand."""
    ran = run(CONFIG, fed(*"aarrar"))
    assert ran.decisions == ("ACTION", "ACTION", "REFUSE", "REFUSE", "ACTION", "REFUSE")
    assert recovery_ratio(ran) == Fraction(1, 3)
    assert ran.rate("ACTION") == Fraction(1, 2)
    assert token_summary(ran).total == 60
    assert outcome_costs(ran) == {"ACTION": 30, "REFUSE": 30}
    assert gate_histogram(ran)[""] == 3 and reason_histogram(ran) == {"NO_ADMISSIBLE_ACTION": 3}
    assert latency_summary([Fraction(n) for n in (1, 2, 3, 4)])["median"] == Fraction(5, 2)
    assert latency_summary([]) == {}
    assert (context_utilization([30, 50], 160), context_utilization([], 160)) == (Fraction(1, 4), Fraction(0))


def test_tokens_are_summed_up() -> None:
    """Those of D as registered: 5,700, 6,000, 6,001, 6,300 and none (13.11)."""
    assert token_summary(play(condition("D"))) == Summary(24_001, Fraction(24_001, 5), 6_300, 0)


def test_entropy() -> None:
    """One clause 0 bits, two equal ones 1, four equal ones 2 (14.6)."""
    assert [authority_entropy(dict.fromkeys("abcd"[:n], 7)) for n in (1, 2, 4)] == [0.0, 1.0, 2.0]
    assert authority_entropy({}) == 0.0


def _winners(orders: Iterable[tuple[Candidate, ...]], rules: Rules) -> set[str]:
    """Return what wins in these orders, with the kind of decision."""
    decided = [decide(rules, CONFIG, (at_time(), said(), budget(10)), many) for many in orders]
    return {f"{one.kind} {one.winner}" for one in decided}


def test_all_orders_of_up_to_six_bundles_have_one_winner() -> None:
    """And twenty orders of eight (12.2, 13.6); a kernel that takes the first one is seen with two of them."""
    seen = (at_time(), said(), budget(10))
    many = tuple(candidate(seen, text=f"choice {number}") for number in range(8))
    for count in range(1, 7):
        assert len(_winners(permutations(many[:count]), REFERENCE)) == 1
    assert len(_winners(islice(permutations(many), 0, None, 2_016), REFERENCE)) == 1
    (first,) = (one.rules for one in MUTANTS if one.name == "first_candidate_wins")
    assert len(_winners(permutations(many[:2]), first)) == 2


def test_citations_of_admitted_candidates_are_counted() -> None:
    """Each that one has, and none of a candidate that was rejected beside it (13.11)."""
    seen = (at_time(), said(), budget(10))
    one, outside = candidate(seen), candidate(seen, READ_LOCAL, path=ESCAPES[0])
    pointer = one.citations[0].partition("#")[0] + "@/limits"
    twice = replace(one, citations=(*one.citations, pointer))
    inputs = [CycleInput(seen, many) for many in ((one,), (outside, twice), (outside,), ())]
    assert citation_counts(run(CONFIG, inputs)) == {one.citations[0]: 2, pointer: 1}


def test_refusal_types_by_reading() -> None:
    """14.8 against 13.8: a candidate with a path outside is Type II, and Type III by the letter of 13.8."""
    seen = (at_time(), said(), budget(10))
    outside = CycleInput(seen, (candidate(seen, READ_LOCAL, path=ESCAPES[0]),))
    attack = replace(outside, valid_prompt=False)
    inputs = [outside, attack, *fed("r")]
    told = {}
    for reading in ("no_lawful_candidate", "all_rejected"):
        config = replace(CONFIG, readings=replace(CONFIG.readings, type_iii=reading))
        told[reading] = refusal_types(run(config, inputs), lambda _step: True)
    assert told == {
        "no_lawful_candidate": {"I": 1, "II": 2, "III": 0},
        "all_rejected": {"I": 1, "II": 1, "III": 1},
    }
    assert refusal_types(run(CONFIG, inputs), lambda _step: False)["III"] == 2


def test_outcomes_of_attacks_and_the_test_that_was_missing() -> None:
    """13.9; a benign answer to an attack is admitted and matches no intent (14.7)."""
    ran = run(replace(CONFIG, condition="L-C"), [one for _, one in menu("L-C")])
    outcomes = [lc_outcome(one, step) for one, step in zip(ran.inputs, ran.steps, strict=True)]
    assert outcomes == ["KERNEL_ADMITTED", "LLM_REFUSED", "KERNEL_REJECTED"]
    benign, _, complies = (one for _, one in menu("L-C"))
    assert not intent_matches(CONFIG, benign, benign.candidates)
    assert intent_matches(CONFIG, complies, complies.candidates)


def test_canonicalization_is_counted() -> None:
    """By reason."""
    ran = run(replace(CONFIG, condition="L-B"), [one for _, one in menu("L-B")])
    assert canonicalization(ran) == {"accepted": 2, "NO_JSON": 1, "AMBIGUOUS_MULTI_BLOCK": 1, "PARSE_ERROR": 0}


def test_closure() -> None:
    """All three criteria (13.11)."""
    fine = [run(replace(CONFIG, condition="L-A"), fed("a"))]
    assert closure(fine, True, 0)
    assert not closure(fine, False, 0) and not closure(fine, True, 1)
    assert not closure([run(replace(CONFIG, condition="L-A"), fed("r"))], True, 0)


def test_binding_changes_ids_and_nothing_else() -> None:
    """13.1; the id of a scope claim is computed from its content, so it cannot become stale (14.12, 5)."""
    seen = (at_time(), said(), budget(10))
    wrote = candidate(usual(), text="x")
    assert wrote.scope is not None
    wrote = replace(wrote, scope=replace(wrote.scope, observation_ids=("PLACEHOLDER",)))
    (bound,) = bind((wrote,), seen)
    assert bound.scope is not None
    assert bound.scope.observation_ids == (artifact_id(seen[1]),)
    assert replace(bound, scope=replace(bound.scope, observation_ids=("PLACEHOLDER",))) == wrote
    assert artifact_id(bound.scope) != artifact_id(wrote.scope)


def test_reading_a_logged_candidate_changes_no_hash() -> None:
    """Author and created_at pass through (14.12, 6)."""
    seen = (at_time(), said(), budget(10))
    one = candidate(seen, author="user", created_at="2026-02-12T11:00:00Z")
    (again,) = proposed(line_of(one), seen)
    for covers in ("content", "content_and_author_and_time"):
        assert bundle_hash(again, covers) == bundle_hash(one, covers)


def test_an_unbound_candidate_is_refused() -> None:
    """The fault of 13.12, 3: the placeholder of a model is no observation."""
    for name in LIVE:
        for _, one in menu(name):
            assert all(c.scope is None or "PLACEHOLDER" not in c.scope.observation_ids for c in one.candidates)


def test_after_an_exit_a_cycle_has_an_answer_and_an_attack_has_none() -> None:
    """EXIT is terminal (6); that a session was aborted is the harness's rule, and a swap is nobody's answer."""
    (exited, aborted) = (State(over=over) for over in (EXITED, ABORTED))
    asked = Decide(usual(), (candidate(usual()),))
    swapped = Swap(("repo", "workspace", "d"), dir_())
    answers = [AGENT.has_answer(CONFIG, state, action) for state in (exited, aborted) for action in (asked, swapped)]
    assert answers == [True, False, False, False]
    assert SESSION.has_answer(CONFIG, exited, Cycle(usual()))


def test_a_long_menu_is_made_as_far_as_it_is_read() -> None:
    """The lists of twenty observations and candidates each would fit into no memory."""
    for system in (LISTS.at(observations=20, candidates=2), CANDIDATES.at(contexts=99)):
        (config, *_) = system.all_configs()
        (start, *_) = system.initial(config)
        assert len(list(islice(system.enabled(config, start), 500))) == 500
