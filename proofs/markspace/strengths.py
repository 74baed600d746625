"""Strength, over the reals: decay, trust, warnings and aggregates (P1, P6 to P10, P34, P35), each of any number.

Axioms give the needed facts about an exponential: a factor above 0 and at most 1 that never grows; so the theorems hold
of every such decay, at every half-life and instant.  A sum over any number of marks is one number (`against`, `rest`);
its change when one mark is added is the induction step.  The predicates are comparisons, because steps of the
executable model show comparisons.

Three theorems are false as written; each has its smallest witness, and beside it the theorem with the assumption that
repairs it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from evenhand.core.verdict import Status
from evenhand.model.markspace.mutants import marks
from evenhand.proofs.markspace import strength_encoding as encoding
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace import signals
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus, times, zero
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    Formula,
    Function,
    Relation,
    Sort,
    Term,
    Var,
    conjunction,
    disjunction,
    exists,
    forall,
    ite,
    same,
    variables,
)
from evenhand.smt.preludes import Faults, define, numbers, relations
from evenhand.smt.theory import Axiom, Theory

INSTANT, SOURCE = Sort("Instant"), Sort("Source")
t, u = variables(INSTANT, "t u")
r, s = variables(SOURCE, "r s")
NONE, ONE = number(0), number(1)


_theorem = partial(theorem, system="signals", scope="any number of instants, warnings and marks, over the reals")

# Decay (P1).

(initial,) = numbers("initial")
factor, age = numbers("factor age", INSTANT)
(upto,) = relations("upto", INSTANT, INSTANT)
(observed,) = relations("observed")

_left = times(initial(), factor(t))
_later = times(initial(), factor(u))
_GROWS = define("grows", (t, u), below(_left, _later), "3.1: initial_strength * factor")

DECAY = Theory.of(
    "markspace_decay",
    observed,
    axioms=(
        Axiom("strengths_are_not_negative", at_least(initial(), NONE), "2.1"),
        Axiom("factors_lie_between", forall([t], below(NONE, factor(t)) & at_most(factor(t), ONE)), "3.1"),
        Axiom("factors_never_grow", forall([t, u], upto(t, u) >> at_most(factor(u), factor(t))), "3.1"),
        Axiom("time_goes_on", forall([t, u], upto(t, u) >> at_most(age(t), age(u))), "3.1"),
    ),
    definitions=(_GROWS,),
)
"""Observations and warnings, distinguished because the mutant changes observations alone."""

_GROWING = ite(
    observed(),
    below(plus(_left, times(initial(), age(t))), plus(_later, times(initial(), age(u)))),
    below(_left, _later),
)

GROWTH = _theorem(
    claim=signals.decay_monotonicity_p1,
    sentence="The strength of an observation or a warning never grows with time, whatever its half-life.",
    source="P1, 3.1",
    theory=DECAY,
    variables=(t, u),
    assumes=upto(t, u),
    goal=~DECAY.word("grows", t, u),
    samples=encoding.SAMPLES_OF_DECAY,
    view=encoding.view_decay,
    needs=("factors_never_grow", "strengths_are_not_negative"),
    mutants=Faults.of(DECAY, {marks.observations_grow: {"grows": _GROWING}}).refuted(marks.observations_grow),
)


# Trust (P6, P7).

(base,) = numbers("base", INSTANT)
(weight,) = numbers("weight", SOURCE)
own = Function("own", (), SOURCE)
mirror = Function("mirror", (SOURCE,), SOURCE)
now = Function("now", (), INSTANT)
more_trusted = Relation("more_trusted", (SOURCE, SOURCE))


def _weighed(weighs: Callable[[Term, Term], Term]) -> dict[str, Formula]:
    """Return the definitions where `weighs(source, instant)` is the effective strength."""
    return {
        "above": below(weighs(s, now()), weighs(r, now())),
        "amplified": below(base(t), weighs(own(), t)),
        "negative": below(weighs(own(), t), NONE),
    }


TRUST = Theory.of(
    "markspace_trust",
    axioms=(
        Axiom("strengths_are_not_negative", forall([t], at_least(base(t), NONE)), "2.1, 3.1"),
        Axiom("weights_lie_between", forall([s], at_least(weight(s), NONE) & at_most(weight(s), ONE)), "4.1"),
        Axiom("weights_follow_trust", forall([r, s], more_trusted(r, s) >> below(weight(s), weight(r))), "4.1"),
        Axiom(
            "somebody_is_more_trusted", more_trusted(own(), mirror(own())) | more_trusted(mirror(own()), own()), "4.1"
        ),
        Axiom("mirrored_trust", forall([r, s], more_trusted(r, s) >> more_trusted(mirror(s), mirror(r))), "a mutant's"),
    ),
    definitions=tuple(
        define(name, (r, s) if name == "above" else (t,), body, "4.2: base times weight")
        for name, body in _weighed(lambda source, at: times(base(at), weight(source))).items()
    ),
)
_TRUSTS = Faults.of(
    TRUST,
    {
        marks.trust_reversed: {"above": _weighed(lambda source, at: times(base(at), weight(mirror(source))))["above"]},
        marks.trust_ignored: {"above": FALSE},
        marks.trust_amplifies: _weighed(lambda source, at: times(base(at), plus(ONE, weight(source)))),
        marks.distrust_goes_below_zero: _weighed(
            lambda source, at: times(base(at), minus(weight(source), number(Fraction(1, 2))))
        ),
    },
)


_ranked = forall([r, s], more_trusted(r, s) >> TRUST.word("above", r, s))
_trust = partial(_theorem, theory=TRUST, samples=encoding.SAMPLES_OF_TRUST, view=encoding.view_trust)

ORDER = _trust(
    claim=signals.trust_ordering_p6,
    sentence="Of two sources the more trusted one has the higher effective strength: false of a mark without strength.",
    goal=_ranked,
    expected=Status.REFUTED,
)

ORDER_REPAIRED = _trust(
    claim=signals.trust_orders_what_has_strength,
    sentence="It has wherever there is any strength; where there is none nobody is above anybody.",
    goal=_ranked | (zero(base(now())) & forall([r, s], ~TRUST.word("above", r, s))),
    needs=("weights_follow_trust", "strengths_are_not_negative"),
    witness=exists([r, s], TRUST.word("above", r, s)),
    mutants=_TRUSTS.refuted(marks.trust_reversed, marks.trust_ignored),
)

BOUNDS = _trust(
    claim=signals.trust_bounds_p7,
    sentence="Trust never amplifies and never makes a strength negative.",
    source="P7",
    variables=(t,),
    goal=~TRUST.word("amplified", t) & ~TRUST.word("negative", t),
    needs=("weights_lie_between", "strengths_are_not_negative"),
    mutants=_TRUSTS.refuted(marks.trust_amplifies, marks.distrust_goes_below_zero),
)


# Warnings (P34, P35).

effective, against, strongest = numbers("effective against strongest", INSTANT)
before = Relation("before", (INSTANT, INSTANT))
lasts = Relation("lasts", (INSTANT,))


def _reduced(load: Function) -> dict[str, Formula]:
    """Return the definitions where marks are reduced by `load`, with a floor at 0."""
    first, second = minus(effective(t), load(t)), minus(effective(u), load(u))
    gone, still = at_most(effective(t), load(t)), at_most(effective(u), load(u))
    return {
        "gone": gone,
        "sinks": ite(gone, below(NONE, NONE), below(first, NONE)),
        "falls": ~gone & (still | below(second, first)),
        "rises": ~still & (gone | below(first, second)),
    }


def _bound(name: str) -> tuple[Var, ...]:
    return (t, u) if name in ("falls", "rises") else (t,)


_FALLING = conjunction(
    [
        at_most(against(u), against(t)),
        below(NONE, against(t)) >> below(against(u), against(t)),
        at_most(strongest(u), strongest(t)),
        below(NONE, strongest(t)) >> below(strongest(u), strongest(t)),
    ]
)
WARNED = Theory.of(
    "markspace_warnings",
    lasts,
    axioms=(
        Axiom(
            "strengths_are_not_negative",
            forall([t], conjunction([at_least(one(t), NONE) for one in (effective, against, strongest)])),
            "2.1",
        ),
        Axiom("warnings_decay", forall([t, u], before(t, u) >> _FALLING), "3.1, P1"),
        Axiom("marks_never_grow", forall([t, u], before(t, u) >> at_most(effective(u), effective(t))), "3.1, P1 to P5"),
        Axiom(
            "the_strongest_is_one_of_them",
            forall([t], at_most(strongest(t), against(t)) & (below(NONE, against(t)) >> below(NONE, strongest(t)))),
            "what a mutant looks at",
        ),
    ),
    definitions=tuple(define(name, _bound(name), body, "9.5") for name, body in _reduced(against).items()),
)


def _plain(left: Callable[[Term], Term]) -> dict[str, Formula]:
    """Return the definitions where this is left of a mark, with no floor."""
    return {
        "gone": same(left(t), NONE),
        "sinks": below(left(t), NONE),
        "falls": below(left(u), left(t)),
        "rises": below(left(t), left(u)),
    }


_WARNS = Faults.of(
    WARNED,
    {
        marks.strongest_warning_alone: _reduced(strongest),
        marks.warnings_go_below_zero: _plain(lambda at: minus(effective(at), against(at))),
        marks.warned_is_gone: {"gone": TRUE, "sinks": FALSE, "falls": FALSE, "rises": FALSE},
        marks.warnings_halve: _plain(effective),
    },
)


_warned = partial(_theorem, theory=WARNED, samples=encoding.SAMPLES_OF_WARNINGS, view=encoding.view_warned)
_time_passes = before(t, u) & lasts(u)

BOUND = _warned(
    claim=signals.invalidation_bound_p34,
    sentence="No number of warnings reduces a mark below 0.",
    variables=(t,),
    goal=~WARNED.word("sinks", t),
    witness=exists([t], WARNED.word("gone", t)),
    mutants=(
        *_WARNS.refuted(marks.warnings_go_below_zero),
        _WARNS.unseen(marks.strongest_warning_alone, "it, too, is cut off at 0"),
        _WARNS.unseen(marks.warned_is_gone, "nothing is not below 0"),
    ),
)

RECOVERY = _warned(
    claim=signals.invalidation_decay_p35,
    sentence="As warnings decay the mark recovers: false where the mark itself decays faster.",
    variables=(t, u),
    assumes=_time_passes,
    goal=~WARNED.word("falls", t, u),
    expected=Status.REFUTED,
)

RECOVERY_REPAIRED = _warned(
    claim=signals.constant_marks_recover,
    sentence="A mark that does not decay itself recovers, strictly where anything is left of it.",
    variables=(t, u),
    assumes=_time_passes & same(effective(t), effective(u)),
    goal=WARNED.word("rises", t, u)
    | (WARNED.word("gone", t) & WARNED.word("gone", u))
    | (zero(against(t)) & ~WARNED.word("rises", t, u) & ~WARNED.word("falls", t, u)),
    needs=("warnings_decay",),
    witness=exists([t, u], WARNED.word("rises", t, u)),
    mutants=(
        *_WARNS.refuted(marks.warnings_halve),
        _WARNS.unseen(marks.warnings_go_below_zero, "without a floor a mark recovers all the same"),
        _WARNS.unseen(marks.strongest_warning_alone, "the strongest decays as well"),
        _WARNS.unseen(marks.warned_is_gone, "it is gone before and after"),
    ),
)


# Aggregates (P8, P9, P10): the sum of the existing marks, and one more.

best, rest, more, share, cap, count = numbers("best rest more share cap count")
identical = Relation("identical", ())

_old = plus(best(), times(share(), rest()))
_kept = plus(best(), times(share(), plus(rest(), more())))
_new = plus(more(), times(share(), plus(rest(), best())))
_sum, _total = plus(best(), rest()), plus(best(), rest(), more())


def _by_cases(told: Callable[[Term], Formula]) -> Formula:
    """Return `told` of the aggregate with the new mark: the strongest mark counts in full, old or new."""
    return ite(at_most(more(), best()), told(_kept), told(_new))


def _over(total: Term) -> Formula:
    return ite(at_most(total, cap()), below(cap(), total), below(cap(), cap()))


def _less(total: Term) -> Formula:
    """Return that min(total, cap) < count * more."""
    return below(total, times(count(), more())) | below(cap(), times(count(), more()))


def _drop(new: Term, old: Term) -> Formula:
    """Return that min(new, cap) < min(old, cap)."""
    return below(new, old) & below(new, cap())


AGGREGATE = Theory.of(
    "markspace_aggregates",
    axioms=(
        Axiom("strengths_are_not_negative", conjunction([at_least(one(), NONE) for one in (best, rest, more)]), "2.1"),
        Axiom("the_share_is_less_than_all", at_least(share(), NONE) & below(share(), ONE), "5.1"),
        Axiom("there_is_a_cap", below(NONE, cap()), "5.1"),
        Axiom("nothing_besides_nothing", below(NONE, rest()) >> below(NONE, best()), "the best is the strongest"),
        Axiom(
            "marks_are_counted", at_least(count(), ONE) & (below(NONE, best()) >> at_least(count(), number(2))), "5.1"
        ),
        Axiom(
            "identical_marks",
            identical()
            >> conjunction(
                [
                    at_least(count(), number(2)),
                    same(best(), more()),
                    same(rest(), times(minus(count(), number(2)), more())),
                ]
            ),
            "P8",
        ),
    ),
    definitions=(
        define("over", (), _over(_old) | _by_cases(_over), "5.1: at most the cap"),
        define("drops", (), _by_cases(lambda total: _drop(total, _old)), "5.1"),
        define("sublinear", (), _by_cases(_less), "5.1"),
    ),
)
_ADDS = Faults.of(
    AGGREGATE,
    {
        marks.plain_sum: {
            "over": disjunction([_over(_sum), _over(_total)]),
            "drops": _drop(_total, _sum),
            "sublinear": _less(_total),
        },
        marks.no_cap: {
            "over": below(cap(), _old) | _by_cases(lambda total: below(cap(), total)),
            "drops": _by_cases(lambda total: below(total, _old)),
            "sublinear": _by_cases(lambda total: below(total, times(count(), more()))),
        },
        marks.averages: {
            "over": FALSE,
            "drops": below(times(minus(count(), ONE), _total), times(count(), _sum))
            & below(_total, times(count(), cap())),
            "sublinear": below(_total, times(count(), count(), more())) | below(cap(), times(count(), more())),
        },
    },
)


_combined = partial(_theorem, theory=AGGREGATE, samples=encoding.SAMPLES_OF_AGGREGATES, view=encoding.view_aggregate)

SUBLINEAR = _combined(
    claim=signals.sublinearity_p8,
    sentence="N identical marks aggregate to less than N times one: false of marks without strength.",
    assumes=identical(),
    goal=AGGREGATE.word("sublinear"),
    expected=Status.REFUTED,
)

SUBLINEAR_REPAIRED = _combined(
    claim=signals.sublinear_where_there_is_strength,
    sentence="N identical marks of positive strength aggregate to less than N times one.",
    assumes=identical() & below(number(0), more()),
    goal=AGGREGATE.word("sublinear"),
    needs=("the_share_is_less_than_all", "identical_marks"),
    mutants=_ADDS.refuted(marks.plain_sum),
)

CAPPED = _combined(
    claim=signals.boundedness_p9,
    sentence="No aggregate of any number of marks exceeds the cap.",
    goal=~AGGREGATE.word("over"),
    mutants=(
        *_ADDS.refuted(marks.no_cap),
        _ADDS.unseen(marks.plain_sum, "a plain sum is capped as well"),
    ),
)

ADDITION = _combined(
    claim=signals.monotonic_addition_p10,
    sentence="Adding a mark of positive strength never lowers the aggregate, wherever it sorts.",
    assumes=below(number(0), more()),
    goal=~AGGREGATE.word("drops"),
    needs=("the_share_is_less_than_all",),
    mutants=(
        *_ADDS.refuted(marks.averages),
        _ADDS.unseen(marks.plain_sum, "a sum grows as well"),
    ),
)
