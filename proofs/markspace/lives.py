"""Theorems about the lifetime of marks, for any number of instants (P2 to P5, §2, §3.1).

An action keeps its strength, an intent has it until its TTL, a need until it is resolved; a half-life leaves at most
half of an observation or a warning.  That the total of all transient marks converges to 0 (P3) is a limit, which no
first-order formula over the reals expresses, so its induction step is proved: where a half-life halves the total of
the other marks, it halves the total with one mark more.  By induction it halves every total, and n half-lives leave a
2**n-th of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from evenhand.core.system import AnySystem, Mutant
from evenhand.model.markspace.exact import ZERO, decayed, plain
from evenhand.model.markspace.marks import HALF, ONE, Kind
from evenhand.model.markspace.mutants import marks
from evenhand.model.markspace.signals_vocabulary import Measure, SignalStep, Still
from evenhand.model.markspace.strength import Lives
from evenhand.proofs.markspace import strength_encoding as encoding
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.strengths import INSTANT
from evenhand.properties.markspace import signals
from evenhand.smt import logic as fol
from evenhand.smt.arithmetic import at_least, at_most, below, number, plus, times, value_of, zero
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.preludes import define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Mutation
from evenhand.smt.theory import Axiom, Theory

NONE, UNIT = number(0), number(1)
t, u = fol.variables(INSTANT, "t u")

# Actions, intents and needs.

initial, ttl = numbers("initial ttl")
(age,) = numbers("age", INSTANT)
is_action, is_intent, is_need, resolved = relations("is_action is_intent is_need resolved")
KINDS = (is_action, is_intent, is_need)


def _there(alive: fol.Formula, later: fol.Formula) -> dict[str, fol.Formula]:
    """Return the definitions where a mark has its initial strength if `alive` (`later`: at `u`), and none otherwise."""
    alike = (alive & later) | ~(alive | later)
    return {"whole": alive | zero(initial()), "none": ~alive | zero(initial()), "differs": ~zero(initial()) & ~alike}


def _fading(kind: fol.Relation) -> dict[str, fol.Formula]:
    """Return the definitions where marks of a kind have `initial / (1 + age)`."""
    usual = _there(_alive(t), _alive(u))
    fresh = fol.same(times(initial(), plus(UNIT, age(t))), initial())
    apart = ~fol.same(times(initial(), plus(UNIT, age(t))), times(initial(), plus(UNIT, age(u))))
    gone = zero(initial())
    faded = {"whole": fresh, "none": gone, "differs": apart}
    fades = kind() & ~resolved()
    return {name: fol.ite(fades, faded[name], usual[name]) for name in usual}


def _alive(at: Any) -> fol.Formula:
    return is_action() | (is_intent() & at_most(age(at), ttl())) | (is_need() & ~resolved())


def _early(at: Any) -> fol.Formula:
    return is_action() | (is_intent() & below(age(at), ttl())) | (is_need() & ~resolved())


def _bound(name: str) -> tuple[Any, ...]:
    return (t, u) if name == "differs" else (t,)


LASTING = Theory.of(
    "markspace_lives",
    axioms=(
        Axiom("strengths_are_not_negative", at_least(initial(), NONE), "2.1"),
        Axiom("ages_are_not_negative", fol.forall([t], at_least(age(t), NONE)) & at_least(ttl(), NONE), "3.1"),
        Axiom(
            "of_one_kind",
            fol.disjunction([kind() for kind in KINDS])
            & ~(is_action() & is_intent())
            & ~(is_action() & is_need())
            & ~(is_intent() & is_need()),
            "2",
        ),
        Axiom("only_needs_are_resolved", resolved() >> is_need(), "2.6"),
    ),
    definitions=tuple(define(name, _bound(name), body, "3.1") for name, body in _there(_alive(t), _alive(u)).items()),
)

# Observations and warnings: the induction step for P3.

factor, as_observed, others = numbers("factor as_observed others", INSTANT)
(a_half_life_on,) = relations("a_half_life_on", INSTANT, INSTANT)
(observed,) = relations("observed")


def _halved(at: Any, then: Any, by: fol.Function) -> fol.Formula:
    """Return that twice the total at `then` is at most the total at `at`."""
    after = plus(times(initial(), by(then)), others(then))
    return at_most(times(number(2), after), plus(times(initial(), by(at)), others(at)))


HALVING = Theory.of(
    "markspace_halving",
    observed,
    axioms=(
        Axiom("strengths_are_not_negative", at_least(initial(), NONE), "2.1"),
        Axiom(
            "factors_lie_between",
            fol.forall(
                [t], fol.conjunction([below(NONE, one(t)) & at_most(one(t), UNIT) for one in (factor, as_observed)])
            ),
            "3.1",
        ),
        Axiom(
            "a_half_life_halves_the_factor",
            fol.forall([t, u], a_half_life_on(t, u) >> at_most(times(number(2), factor(u)), factor(t))),
            "3.1",
        ),
        Axiom(
            "the_others_halve",
            fol.forall([t, u], a_half_life_on(t, u) >> at_most(times(number(2), others(u)), others(t)))
            & fol.forall([t], at_least(others(t), NONE)),
            "P3: hypothesis of the induction",
        ),
        Axiom("time_goes_on", fol.forall([t, u], a_half_life_on(t, u) >> below(age(t), age(u))), "3.1"),
        Axiom("ages_are_not_negative", fol.forall([t], at_least(age(t), NONE)), "3.1"),
    ),
    definitions=(define("halves", (t, u), _halved(t, u, factor), "3.1: initial_strength * factor"),),
)


def _grown(at: Any) -> Any:
    return plus(times(initial(), factor(at)), times(initial(), age(at)), others(at))


_GROWING: dict[str, fol.Formula] = {
    "halves": fol.ite(observed(), at_most(times(number(2), _grown(u)), _grown(t)), _halved(t, u, factor))
}
_OBSERVED: dict[str, fol.Formula] = {"halves": fol.ite(observed(), _halved(t, u, factor), _halved(t, u, as_observed))}

# Conformance.


def view_lasting(step: SignalStep) -> Structure | None:
    """Return an action, an intent or a need at two instants as a structure."""
    act = step.action
    if not isinstance(act, Measure) or not encoding.measured(step) or act.kind in (Kind.OBSERVATION, Kind.WARNING):
        return None
    if act.resolved and act.kind is not Kind.NEED:
        return None
    named = tuple(zip(encoding.INSTANTS, step.shown.base, strict=True))
    whole = plain(act.strength)
    told = {
        "is_action": act.kind is Kind.ACTION,
        "is_intent": act.kind is Kind.INTENT,
        "is_need": act.kind is Kind.NEED,
        "resolved": act.resolved,
        "whole": [name for name, one in named if one == whole],
        "none": [name for name, one in named if one == ZERO],
        "differs": [(a, b) for a, one in named for b, two in named if one != two],
        "initial": act.strength,
        "age": encoding.table(encoding.ages_of(act)),
        "ttl": step.config.lives.intent_ttl,
    }
    return structure({"Instant": encoding.INSTANTS}, told)


@Ends
def samples_of_lasting(system: AnySystem) -> Iterator[End]:
    """Yield actions, intents and needs at two instants, by any variant."""
    acts = [
        Measure(kind, strength, age=begins, later=later, resolved=settled)
        for kind in (Kind.ACTION, Kind.INTENT, Kind.NEED)
        for settled in ((False, True) if kind is Kind.NEED else (False,))
        for strength in (ONE, HALF, Fraction(0))
        for begins, later in ((0, 0), (0, 1), (1, 1), (2, 0), (1, 2))
    ]
    for act in acts:
        for ttl in (1, 2):
            yield from ends_along(system, encoding.taken(act, lives=Lives(1, 1, ttl)).config, Still(), act)


@Ends
def samples_of_halving(system: AnySystem) -> Iterator[End]:
    """Yield observations and warnings, at most two half-lives apart, by any variant."""
    for kind, strength in product((Kind.OBSERVATION, Kind.WARNING), (ONE, HALF, Fraction(0))):
        for begins, later in ((0, 0), (0, 1), (0, 2), (2, 2)):
            for lives in (Lives(1, 1, 1), Lives(2, 1, 1), Lives(1, 2, 2)):
                act = Measure(kind, strength, age=begins, later=later)
                yield from ends_along(system, encoding.taken(act, lives=lives).config, Still(), act)


def view_halving(step: SignalStep) -> Structure | None:
    """Return an observation or a warning at two instants, with no other mark, as a structure."""
    act = step.action
    if not isinstance(act, Measure) or not encoding.measured(step) or act.kind not in (Kind.OBSERVATION, Kind.WARNING):
        return None
    lives = step.config.lives
    own = lives.observation_half_life if act.kind is Kind.OBSERVATION else lives.warning_half_life
    factors = encoding.rational(decayed(ONE, one, own) for one in encoding.ages_of(act))
    foreign = encoding.rational(decayed(ONE, one, lives.observation_half_life) for one in encoding.ages_of(act))
    if factors is None or foreign is None:
        return None
    named = tuple(zip(encoding.INSTANTS, step.shown.base, strict=True))
    told = {
        "observed": act.kind is Kind.OBSERVATION,
        "a_half_life_on": [(encoding.NOW, encoding.LATER)] if act.later >= own else [],
        "halves": [(a, b) for a, one in named for b, two in named if two.scaled(Fraction(2)) <= one],
        "initial": act.strength,
        "age": encoding.table(encoding.ages_of(act)),
        "factor": encoding.table(factors),
        "as_observed": encoding.table(foreign),
        "others": encoding.table((0, 0)),
    }
    return structure({"Instant": encoding.INSTANTS}, told)


def scene_of_halving(structure: Structure) -> encoding.Scene:
    """Return a new mark of that kind, and one half-life of its own later; observations last longer than warnings.

    By samples alone a mutant would not be found: what it makes of a warning is irrational.
    """
    kind = Kind.OBSERVATION if structure.relations["observed"] else Kind.WARNING
    lives = Lives(1, 1, 1) if kind is Kind.OBSERVATION else Lives(9, 1, 1)
    return encoding.taken(Measure(kind, value_of(structure.functions["initial"][()]), later=1), lives=lives)


_theorem = partial(
    theorem,
    system="signals",
    theory=LASTING,
    view=view_lasting,
    samples=samples_of_lasting,
    scope="any number of instants, over the reals",
)
_FADING = mutation(LASTING, marks.actions_fade, _fading(is_action))
_EARLY = mutation(LASTING, marks.intents_end_early, _there(_early(t), _early(u)))
_NEEDS = mutation(LASTING, marks.needs_fade, _fading(is_need))


def _unseen(mutant: Mutant[Any], bodies: dict[str, fol.Formula]) -> Mutation:
    return mutation(LASTING, mutant, bodies, "it bends marks of another kind")


PERMANENCE = _theorem(
    claim=signals.action_permanence_p2,
    variables=(t, u),
    assumes=is_action(),
    goal=LASTING.word("whole", t) & ~LASTING.word("differs", t, u),
    witness=fol.exists([t, u], below(age(t), age(u))) & below(NONE, initial()),
    mutants=(_FADING, _unseen(marks.needs_fade, _fading(is_need))),
)

HALVES = _theorem(
    claim=signals.transient_marks_halve,
    sentence="A half-life leaves at most half of what an observation or a warning weighs, and of any total with it.",
    source="P3, 3.1",
    theory=HALVING,
    view=view_halving,
    realise=scene_of_halving,
    samples=samples_of_halving,
    variables=(t, u),
    assumes=a_half_life_on(t, u),
    goal=HALVING.word("halves", t, u),
    needs=("a_half_life_halves_the_factor", "the_others_halve", "strengths_are_not_negative"),
    witness=fol.exists([t, u], a_half_life_on(t, u) & below(NONE, others(u))) & below(NONE, initial()),
    mutants=(
        mutation(HALVING, marks.observations_grow, _GROWING),
        mutation(HALVING, marks.warnings_decay_like_observations, _OBSERVED),
    ),
)

EXPIRY = _theorem(
    claim=signals.intent_expiry_p4,
    variables=(t,),
    assumes=is_intent(),
    goal=(below(ttl(), age(t)) >> LASTING.word("none", t)) & (at_most(age(t), ttl()) >> LASTING.word("whole", t)),
    witness=fol.exists([t, u], at_most(age(t), ttl()) & below(ttl(), age(u))) & below(NONE, initial()),
    mutants=(_EARLY, _unseen(marks.needs_fade, _fading(is_need))),
)

PERSISTENCE = _theorem(
    claim=signals.need_persistence_p5,
    variables=(t,),
    assumes=is_need(),
    goal=(~resolved() >> LASTING.word("whole", t)) & (resolved() >> LASTING.word("none", t)),
    witness=fol.exists([t], below(number(1), age(t))) & below(NONE, initial()),
    mutants=(_NEEDS, _unseen(marks.actions_fade, _fading(is_action))),
)
