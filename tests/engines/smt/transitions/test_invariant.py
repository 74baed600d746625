"""The conditions of a green invariant, on a lock of ten lines; each condition fails on a planted fault."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import canonical_bytes
from evenhand.core.property import Always
from evenhand.core.system import Mutant, Protocol, Scope, System
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Status
from evenhand.smt.countermodel import EncodingDisagrees, Induction, NoCounterpart, Refutation
from evenhand.smt.licence import NotLicensed, licence
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    Definition,
    Function,
    Relation,
    Sort,
    differ,
    exists,
    forall,
    iff,
    same,
    variables,
)
from evenhand.smt.prove import prove
from evenhand.smt.proved import ProofStatus, Proved
from evenhand.smt.registry import invariants, stated
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Lemma, Mutation
from evenhand.smt.theory import Axiom, Theory
from evenhand.smt.transitions.invariant import Invariant, Steps
from evenhand.smt.transitions.machine import Machine, after
from evenhand.smt.transitions.runs import Run

Held = frozenset[str]


@dataclass(frozen=True)
class State:
    """The holder of the lock, and whether it calls itself idle."""

    held: Held = frozenset()
    idle: bool = True


@dataclass(frozen=True)
class Rules:
    """The agents that may grab."""

    may: Callable[[State], bool]


def _step(rules: Rules, _config: Any, state: State, agent: str) -> tuple[State, str]:
    if agent in state.held:
        return State(state.held - {agent}, True), "released"
    if rules.may(state):
        return State(state.held | {agent}, False), "grabbed"
    return state, "refused"


def _starts(_config: Any) -> Iterable[State]:
    return (State(),)


SYSTEM: System[Any, State, str, str, Rules] = System(
    name="lock",
    rules=Rules(lambda state: state.idle),
    configs=lambda scope, _readings: [tuple("abcdefgh"[: scope["agents"]])],
    initial=_starts,
    step=_step,
    actions=lambda config, _scope, _state: config,
    scope=Scope(agents=3),
)
ONE_HOLDS = Always(
    name="one_holds",
    sentence="At most one agent holds the lock.",
    check=lambda _config, state: len(state.held) <= 1,
)
CARELESS = Mutant("careless", "Whoever wants it grabs it.", "test", Rules(lambda _state: True), "lock")
CLOSED = Mutant("closed", "Nobody gets it.", "test", Rules(lambda _state: False), "lock")
BUNDLE = Bundle(
    Protocol("lock", "Lock", "test", {"lock": SYSTEM}, mutants=(CARELESS, CLOSED)),
    claims=(ONE_HOLDS,),
)

AGENT = Sort("Agent")
x, y = variables(AGENT, "x y")
held, idle = Relation("held", (AGENT,)), Relation("idle", ())
who = Function("who", (), AGENT)
may = Relation("may", ())
MAY = Definition(may, (), idle())
ALWAYS = forall([x, y], (held(x) & held(y)) >> same(x, y))
IDLE_IS_FREE = Lemma("idle_is_free", forall([x], idle() >> ~held(x)))
GRABS = ~held(who()) & may() & ~after(idle)() & forall([x], iff(after(held)(x), held(x) | same(x, who())))
RELEASES = held(who()) & after(idle)() & forall([x], iff(after(held)(x), held(x) & differ(x, who())))
REFUSED = ~held(who()) & ~may() & iff(after(idle)(), idle()) & forall([x], iff(after(held)(x), held(x)))
LOCK = Machine(
    theory=Theory("lock", (AGENT,), (who,), (held, idle), definitions=(MAY,)),
    state=("held", "idle"),
    inputs=("who",),
    init=idle() & forall([x], ~held(x)),
    step=GRABS | RELEASES | REFUSED,
)


def _view(run: Steps, number: int) -> Structure | None:
    step = run[number]
    relations = {
        "held": frozenset((a,) for a in step.before.held),
        "held.after": frozenset((a,) for a in step.after.held),
        "idle": frozenset([()] if step.before.idle else []),
        "idle.after": frozenset([()] if step.after.idle else []),
    }
    return Structure({"Agent": step.config}, relations, {"who": {(): step.action}})


def _realise(run: Run) -> Scenario[Any, State, str] | None:
    names = dict(zip(run.states[0].universe["Agent"], "abcdefgh", strict=False))
    begin = run.states[0].relations
    actions = tuple(names[state.functions["who"][()]] for state in run.states[:-1])
    start = State(frozenset(names[a] for (a,) in begin["held"]), bool(begin["idle"]))
    return Scenario(tuple(names.values()), start, actions)


def _samples(system: System[Any, Any, Any, Any, Any]) -> Iterable[Steps]:
    for config in system.all_configs():
        for agents in itertools.product(config, repeat=3):
            state, run = State(), list[Any]()
            for agent in agents:
                run.append(system.take(config, state, agent))
                state = run[-1].after
            yield tuple(run)


def _no_samples(_system: System[Any, Any, Any, Any, Any]) -> Iterable[Steps]:
    return ()


def _blank(_run: Steps, _number: int) -> Structure | None:
    return None


def _nowhere(_run: Run) -> Scenario[Any, State, str] | None:
    return None


INVARIANT = Invariant(
    sentence="At most one agent holds the lock.",
    source="test",
    protocol="lock",
    system="lock",
    claim=ONE_HOLDS,
    machine=LOCK,
    always=ALWAYS,
    lemmas=(IDLE_IS_FREE,),
    witness=exists([x], held(x)),
    view=_view,
    realise=_realise,
    samples=_samples,
    mutants=(
        Mutation(mutant=CARELESS, definitions=(Definition(may, (), TRUE),)),
        Mutation(mutant=CLOSED, definitions=(Definition(may, (), FALSE),), expected="proved", because="nobody"),
    ),
)


@pytest.fixture(scope="module")
def green() -> Proved:
    """Return the invariant, proved."""
    return prove(INVARIANT, bundle=BUNDLE)


def _word(invariant: Invariant, bundle: Bundle = BUNDLE) -> tuple[ProofStatus, str]:
    found = prove(invariant, bundle=bundle)
    if found.status not in (ProofStatus.HOLDS, ProofStatus.REFUTED):
        assert found.verdict.status is Status.UNDECIDED
    return found.status, found.verdict.because


def test_green_under_all_conditions(green: Proved) -> None:
    """Both solvers, mutants as declared, conformance with both truth values; the counterexample is a mutant's run."""
    assert green.green, green.verdict.because
    assert all(len({answer.status for answer in answered.answers} - {"unknown"}) == 1 for _, answered in green.queries)
    killed = {one.mutation.mutant.name: one for one in green.mutants}
    assert isinstance(killed["careless"].outcome, Refutation) and killed["closed"].verdict.status is Status.HOLDS
    assert killed["careless"].verdict.evidence == Scenario(("a", "b"), State(), ("a", "b"))
    assert (
        green.conformance is not None
        and green.conformance.true
        and green.conformance.false
        and not green.conformance.outside
    )
    assert green.conformance.words > 0
    with pytest.raises(NotLicensed, match="names no quotient"):
        licence(green, None)


def test_records_are_the_same_bytes_twice(green: Proved) -> None:
    """Like those of theorems."""
    again = prove(INVARIANT, bundle=BUNDLE)
    assert canonical_bytes(dict(green.record)) == canonical_bytes(dict(again.record))


def test_without_its_lemma_two_states_are_shown() -> None:
    """The counterexample to induction in the model's own states; UNDECIDED, as their reachability is unknown."""
    found = prove(replace(INVARIANT, lemmas=(), mutants=()), bundle=BUNDLE)
    assert found.status is ProofStatus.UNDECIDED and isinstance(found.outcome, Induction)
    evidence = found.outcome.evidence
    assert isinstance(evidence, Scenario) and len(evidence.actions) == 1
    step = SYSTEM.take(evidence.config, evidence.start, evidence.actions[0])
    assert len(step.before.held) == 1 and step.before.idle and len(step.after.held) == 2
    record: Any = found.record["outcome"]
    assert record["kind"] == "induction"


def test_the_other_ends_of_a_counterexample_to_induction() -> None:
    """No scenario corresponds to it; the model takes another step."""
    bare = replace(INVARIANT, lemmas=(), mutants=())
    assert isinstance(prove(replace(bare, realise=_nowhere), bundle=BUNDLE).outcome, NoCounterpart)
    closed = replace(SYSTEM, rules=Rules(lambda _state: False))
    shut = replace(BUNDLE, model=replace(BUNDLE.model, systems={"lock": closed}))
    assert isinstance(prove(bare, bundle=shut).outcome, EncodingDisagrees)


def test_a_false_invariant_is_refuted_in_the_model() -> None:
    """The reference itself is careless, and so is its machine."""
    careless = replace(SYSTEM, rules=Rules(lambda _state: True))
    bundle = replace(BUNDLE, model=replace(BUNDLE.model, systems={"lock": careless}))
    wrong = replace(INVARIANT, machine=LOCK.redefined([Definition(may, (), TRUE)]), lemmas=(), mutants=(), depth=3)
    found = prove(wrong, bundle=bundle)
    assert found.status is ProofStatus.REFUTED and found.verdict.evidence == Scenario(("a", "b"), State(), ("a", "b"))


def test_vacuities() -> None:
    """No initial state, a witness that no run meets, an axiom that is not needed, contradictory axioms."""
    none = replace(INVARIANT, machine=replace(LOCK, init=FALSE), mutants=())
    assert _word(none)[0] is ProofStatus.VACUOUS
    two = replace(INVARIANT, witness=exists([x, y], held(x) & held(y) & differ(x, y)))
    assert _word(two) == (ProofStatus.VACUOUS, "VACUOUS: no run of 4 steps sees the witness")
    spare = Axiom("spare", exists([x], same(x, x)))
    idle_axiom = replace(LOCK, theory=replace(LOCK.theory, axioms=(spare,)))
    word, because = _word(replace(INVARIANT, machine=idle_axiom, needs=("spare",)))
    assert word is ProofStatus.VACUOUS and "without axiom spare" in because
    absurd = replace(LOCK, theory=replace(LOCK.theory, axioms=(Axiom("absurd", exists([x], differ(x, x))),)))
    assert _word(replace(INVARIANT, machine=absurd, mutants=()))[0] is ProofStatus.VACUOUS


def test_a_lemma_that_is_no_invariant_is_undecided() -> None:
    """The run that violates it does not refute the claim itself."""
    never = Lemma("never_held", forall([x], ~held(x)))
    word, because = _word(replace(INVARIANT, lemmas=(never,), depth=2))
    assert word is ProofStatus.UNDECIDED and "a lemma is no invariant" in because


def test_the_link_catches_a_machine_that_is_not_the_model() -> None:
    """Steps, initial states, the formula, states outside, runs from no initial state: each fault is reported."""

    def because(invariant: Invariant) -> str:
        word, said = _word(replace(invariant, mutants=()))
        assert word is ProofStatus.UNDECIDED
        return said

    never_refuses = replace(INVARIANT, machine=replace(LOCK, step=GRABS | RELEASES))
    assert "a step of reference is none" in because(never_refuses)
    two = replace(LOCK, init=~idle() & forall([x], ~held(x)))
    assert "an initial state of reference is none" in because(replace(INVARIANT, machine=two, witness=TRUE))
    assert "the formula is True and the claim False" in because(replace(INVARIANT, always=TRUE, lemmas=()))
    assert "outside the theory" in because(replace(INVARIANT, view=_blank))

    def late(system: System[Any, Any, Any, Any, Any]) -> Iterable[Steps]:
        return [run[1:] for run in _samples(system)]

    assert "does not begin in an initial state" in because(replace(INVARIANT, samples=late))
    assert "compared on no step" in because(replace(INVARIANT, samples=_no_samples))


def test_a_claim_that_is_never_false_carries_nothing() -> None:
    """Without a careless mutant nothing distinguishes the formula from `True`."""
    bundle = replace(BUNDLE, model=replace(BUNDLE.model, mutants=()))
    word, because = _word(replace(INVARIANT, mutants=()), bundle)
    assert word is ProofStatus.UNDECIDED and "never seen false" in because


def test_a_mutant_that_behaves_otherwise_is_noticed() -> None:
    """A mutant declared refuted is not, a mutant declared proved is not."""
    survives = Mutation(mutant=CLOSED, definitions=(Definition(may, (), FALSE),))
    assert "mutant closed should be refuted" in _word(replace(INVARIANT, mutants=(survives,)))[1]
    dies = Mutation(mutant=CARELESS, definitions=(Definition(may, (), TRUE),), expected="proved")
    assert "mutant careless should be proved" in _word(replace(INVARIANT, mutants=(dies,)))[1]


@pytest.mark.parametrize("protocol", [pytest.param("cud", marks=pytest.mark.deep), "apcm"])
def test_the_invariants_of_the_protocols_are_green(protocol: str) -> None:
    """For runs of any length; a run that replays refutes every mutant declared to be refuted."""
    found = invariants(protocol)
    assert found and stated(protocol)[-len(found) :] == found
    for invariant in found:
        result = prove(invariant)
        assert result.status is ProofStatus.HOLDS, result.verdict.because
        assert sum(isinstance(one.outcome, Refutation) for one in result.mutants) >= 2
