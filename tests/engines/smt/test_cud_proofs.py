"""The theorems about `cud` are green, runs that replay refute their mutants, and the theory conforms to the model."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest

from evenhand.evidence.judge import refutes
from evenhand.model.cud.kernel import REFERENCE
from evenhand.model.cud.mutants import arbitration, authority
from evenhand.model.cud.protocol import CUD
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.strategies import covering
from evenhand.model.cud.vocabulary import DONE, READ, Choice, Epoch, Request
from evenhand.proofs.cud.concretisation import scene
from evenhand.proofs.cud.definitions import FAULTS
from evenhand.proofs.cud.encoding import view_step
from evenhand.proofs.cud.epoch import EPOCH, OBSERVED
from evenhand.proofs.cud.faults import KILLED, SPARED, lean, said
from evenhand.proofs.cud.mail import FAULTS as OF_MAIL
from evenhand.proofs.cud.mail import POSTED
from evenhand.proofs.cud.own_past import LEARNED
from evenhand.proofs.cud.samples import WORLDS
from evenhand.smt.countermodel import Refutation
from evenhand.smt.differential import agree
from evenhand.smt.licence import licence
from evenhand.smt.logic import Definition
from evenhand.smt.matrix import outside
from evenhand.smt.prove import prove
from evenhand.smt.proved import ProofStatus, Proved
from evenhand.smt.registry import theorems
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.theorem import Mutation, Theorem

THEOREMS = {theorem.name: theorem for theorem in theorems("cud")}
UNKILLED = {authority.exit_lapses_allows}
"""Mutants expressible in the theory that no theorem refutes: equivalent ones."""

UNIVERSE = CUD.systems["universe"]


def test_the_theorems_there_are() -> None:
    """Theorems give a reason for each mutant that survives."""
    for theorem in THEOREMS.values():
        assert all(mutation.because for mutation in theorem.mutants if mutation.expected == "proved")
    assert theorems("no_such_protocol") == () and theorems("smt") == ()


def test_every_mutant_is_said_or_explained() -> None:
    """Some theorem refutes each mutant that the theory can express; for others a reason is given."""
    others = outside("cud")
    assert len(CUD.mutants) == len({*FAULTS, *others}) == len(FAULTS) + len(others)
    assert {*FAULTS, *others} == {*CUD.mutants}
    told = [theorem for theorem in THEOREMS.values() if theorem not in (*POSTED, LEARNED)]
    tried = {m.mutant for theorem in told for m in theorem.mutants if m.expected == "refuted"}
    assert tried == {mutant for mutants in KILLED.values() for mutant in mutants}
    assert set(FAULTS) - tried == UNKILLED
    assert set(KILLED) <= set(THEOREMS) and set(SPARED) <= set(THEOREMS)
    assert {m.mutant for theorem in POSTED for m in theorem.mutants if m.expected == "refuted"} == set(OF_MAIL)


@pytest.mark.slow
def test_axioms_that_were_left_out_come_back_where_they_are_needed() -> None:
    """They come back for a mutant that uses their symbols; a theory of the same name keeps to its own."""
    theorem, mutant = THEOREMS["malformed_is_a_fault"], arbitration.tie_break_by_submission_order
    wanted = {"submissions_are_ordered"}
    assert not wanted & {axiom.name for axiom in theorem.theory.axioms}
    tried = Mutation(mutant=mutant, definitions=said(theorem.theory, EPOCH, FAULTS[mutant]))
    assert wanted <= {axiom.name for axiom in lean(replace(theorem, mutants=(tried,))).theory.axioms}
    alone = replace(theorem, theory=replace(theorem.theory, axioms=()), mutants=(tried,))
    assert lean(alone).theory.axioms == ()


def test_words_mean_what_the_model_does() -> None:
    """Every observed word on every sampled step of the reference, including all steps of one agent and one key."""
    small, drawn = WORLDS.every(Readings()), WORLDS.drawn(Readings())
    assert len(small) >= 1000 and len(drawn) >= 200
    reader = Reader(EPOCH.meanings)
    seen = {name: 0 for name in OBSERVED}
    for step in islice(WORLDS(UNIVERSE), 0, None, 5):
        structure = view_step(step)
        assert structure is not None
        structure.checked(EPOCH.sorts, EPOCH.functions, EPOCH.relations)
        assert reader.holds(EPOCH.assumed, structure)
        bare = structure.without(OBSERVED)
        for name in OBSERVED:
            observed = structure.relations[name]
            assert reader.extension(EPOCH.meanings[name].relation, bare) == observed
            seen[name] += len(observed)
    silent = [name for name, count in seen.items() if not count]
    assert silent == ["gets_more", "tells_two", "hears_of"]
    assert min(seen["collides"], seen["executed"], seen["gets_fault"], seen["gets_failure"]) >= 20


def test_scene_and_view_are_inverse_up_to_names() -> None:
    """An abstracted, concretised, taken and again abstracted step has equal values of every word without names."""
    reader = Reader(EPOCH.meanings)
    for step in list(WORLDS(UNIVERSE))[-60:]:
        structure = view_step(step)
        assert structure is not None
        scenario = scene(structure)
        assert scenario is not None
        state = scenario.start
        taken = step
        for action in scenario.actions:
            taken = UNIVERSE.take(scenario.config, state, action)
            state = taken.after
        again = view_step(taken)
        assert again is not None
        for name in ("submitted", "passes", "collides", "executed", "gets_fault", "gets_failure", "stays", "becomes"):
            assert len(again.relations[name]) == len(structure.relations[name]), name
        assert reader.holds(EPOCH.assumed, again)


def test_a_structure_of_more_keys_than_there_are_names_is_no_scene() -> None:
    """A solver may return one, and the matrix must continue."""
    structure = next(seen for seen in map(view_step, WORLDS(UNIVERSE)) if seen is not None)

    def padded(extra: int) -> Structure:
        keys = tuple(f"key:more_{number:02}" for number in range(extra))
        functions = dict(structure.functions)
        for function in EPOCH.functions:
            places = [place for place, sort in enumerate(function.domain) if sort.name == "Key"]
            for place, key, (row, value) in itertools.product(places, keys, structure.functions[function.name].items()):
                functions[function.name] = {
                    **functions[function.name],
                    (*row[:place], key, *row[place + 1 :]): value,
                }
        universe = {**structure.universe, "Key": (*structure.universe["Key"], *keys)}
        known = structure.relations["known"] | {(key,) for key in keys}
        return Structure(universe, {**structure.relations, "known": known}, functions)

    assert scene(padded(1)) is not None
    assert scene(padded(26)) is None


@cache
def _proved(name: str) -> Proved:
    return prove(THEOREMS[name])


@pytest.fixture(scope="module", params=list(THEOREMS))
def proved(request: pytest.FixtureRequest) -> Proved:
    """Return each theorem, proved with all conditions of green."""
    return _proved(request.param)


@pytest.mark.deep
def test_green(proved: Proved) -> None:
    """Both solvers prove every step, mutants behave as declared, and the conformance tests see both truth values.

    Where a model is wanted, one is enough: no other solver is asked, and no other solver says that there is none.
    """
    assert proved.status.value == proved.theorem.expected.value, proved.verdict.because
    if proved.status is not ProofStatus.HOLDS:
        return
    for name, answered in proved.queries:
        said = {(answer.solver.split()[0], answer.status) for answer in answered.answers}
        assert {solver for solver, _ in said} == {"z3", "cvc5"}
        if answered.status == "unsat":
            assert {("z3", "unsat"), ("cvc5", "unsat")} <= said, name
        assert answered.status != "unknown" and {status for _, status in said} <= {answered.status, "unknown"}, name
    assert proved.conformance is not None and proved.conformance.mutants == len(CUD.mutants)
    # Pairs are few since the samples of most theorems about two epochs were cut; the least are 150 structures.
    assert proved.conformance.true >= 150 and proved.conformance.false >= 2 and proved.conformance.structures >= 150
    assert proved.conformance.outside * 10 < proved.conformance.cases


@pytest.mark.deep
def test_countermodels_replay(proved: Proved) -> None:
    """Each refuted mutant's scenario refutes the claim on the mutant, and not on the reference."""
    theorem = proved.theorem
    base = CUD.systems[theorem.system]
    refuted = [killed for killed in proved.mutants if killed.mutation.expected == "refuted"]
    for killed in refuted:
        assert isinstance(killed.outcome, Refutation)
        assert refutes(replace(base, rules=killed.mutation.mutant.rules), theorem.claim, killed.outcome.evidence)
        assert not refutes(base, theorem.claim, killed.outcome.evidence)
        if isinstance(theorem, Theorem) and theorem.realise is not None:  # else it was sampled, and is not minimal
            assert killed.outcome.structure.size <= 4


@pytest.mark.deep
def test_equivariance_licenses_the_quotient() -> None:
    """Of the universe, for the reference alone."""
    given = licence(_proved("equivariance"), UNIVERSE.readings)
    assert (given.quotient, given.system, given.variant) == ("renaming", "universe", "reference")
    assert [quotient.name for quotient in UNIVERSE.quotients] == ["renaming"]


@pytest.mark.deep
def test_one_theorem_in_full() -> None:
    """The quickest, from text to replayed countermodels."""
    found = _proved("no_veto_overridden")
    assert found.green, found.verdict.because
    assert [type(killed.outcome) for killed in found.mutants][:3] == [Refutation] * 3
    assert found.fragments["theorem"].startswith("decidable fragment: yes")


@pytest.mark.deep
def test_records_are_the_same_under_every_hash_seed() -> None:
    """Three processes, three orders of every set, one digest."""
    program = (
        "from evenhand.smt.prove import prove; from evenhand.smt.registry import theorems;"
        "print(prove(next(t for t in theorems('cud') if t.name == 'no_veto_overridden')).digest)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert digests == {_proved("no_veto_overridden").digest + "\n"}


def test_a_word_of_the_claims_that_is_wrong_is_caught_by_the_link() -> None:
    """A `clash` that ignores readers agrees on the reference; the mutant that executes readers shows the difference."""
    theorem = THEOREMS["executed_never_interfere"]
    meaning = EPOCH.meanings["clash"]
    blind = FAULTS[arbitration.reads_never_collide][0]
    wrong = EPOCH.redefined([Definition(meaning.relation, meaning.variables, blind.body)])
    lean = replace(theorem, theory=wrong, samples=WORLDS.fewer(5, 1))
    assert (
        "the formula is True and the claim False" in agree(lean, UNIVERSE, (arbitration.reads_never_collide,)).because
    )


def test_a_mutant_of_the_theory_must_be_the_mutant_of_the_model() -> None:
    """The theory encodes one fault, the model's rules another."""
    theorem = replace(THEOREMS["executed_never_interfere"], samples=WORLDS.fewer(5, 1))
    posing = replace(arbitration.reads_never_collide, name="last_writer_wins")
    assert "on a step of last_writer_wins" in agree(theorem, UNIVERSE, (posing,)).because
    assert posing.rules != REFERENCE


def test_successful_runs_are_livelocks_under_the_other_rule() -> None:
    """G20 counts attempts without a change, so three epochs of READs that are all executed fill the counter."""
    for rule, counter in (("pass2_refusals", 0), ("unchanged_state", 3)):
        system = CUD.systems["free"].under(livelock_rule=rule)
        (config,) = system.all_configs()
        (state,) = system.initial(config)
        for _ in range(3):
            choices = tuple(
                (
                    name,
                    Choice(
                        Request(READ, config.keys[:1], (), covering(config.authorities, name, config.keys[:1], READ))
                    ),
                )
                for name in config.agents
            )
            step = system.take(config, state, Epoch(choices))
            assert {token for _, token in step.shown.tokens} == {DONE}
            state = step.after
        assert state.counter == counter
