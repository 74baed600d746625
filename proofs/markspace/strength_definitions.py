"""The theories of strength: decay at any number of instants, trust, warnings of any number and weight, aggregates.

Numbers are reals.  Axioms give the needed facts about an exponential: a factor above 0 and at most 1 that never grows;
so the theorems hold of every such decay, at every half-life and instant.  A sum over any number of marks is one number
(`against`, `rest`); its change when one mark is added is the induction step.  The predicates are comparisons, because
steps of the executable model show comparisons.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

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
    forall,
    ite,
    same,
    variables,
)
from evenhand.smt.preludes import define, numbers, relations
from evenhand.smt.theory import Axiom, Theory

INSTANT, SOURCE = Sort("Instant"), Sort("Source")
t, u = variables(INSTANT, "t u")
r, s = variables(SOURCE, "r s")
NONE, ONE = number(0), number(1)


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

GROWING = ite(
    observed(),
    below(plus(_left, times(initial(), age(t))), plus(_later, times(initial(), age(u)))),
    below(_left, _later),
)

# Trust (P6, P7).

(base,) = numbers("base", INSTANT)
(weight,) = numbers("weight", SOURCE)
own = Function("own", (), SOURCE)
mirror = Function("mirror", (SOURCE,), SOURCE)
now = Function("now", (), INSTANT)
more_trusted = Relation("more_trusted", (SOURCE, SOURCE))


def _weighs(one: Term, instant: Term) -> Term:
    return times(base(instant), weight(one))


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
    definitions=(
        define("above", (r, s), below(_weighs(s, now()), _weighs(r, now())), "4.2: base times weight"),
        define("amplified", (t,), below(base(t), _weighs(own(), t)), "4.2"),
        define("negative", (t,), below(_weighs(own(), t), NONE), "4.2"),
    ),
)
REVERSED = below(_weighs(mirror(s), now()), _weighs(mirror(r), now()))
MORE_THAN_BASE = below(base(t), times(base(t), plus(ONE, weight(own()))))
_LESS = number(Fraction(1, 2))
BELOW_ZERO: dict[str, Formula] = {
    "above": below(times(base(now()), minus(weight(s), _LESS)), times(base(now()), minus(weight(r), _LESS))),
    "amplified": below(base(t), times(base(t), minus(weight(own()), _LESS))),
    "negative": below(times(base(t), minus(weight(own()), _LESS)), NONE),
}
LARGER = below(times(base(now()), plus(ONE, weight(s))), times(base(now()), plus(ONE, weight(r))))

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
STRONGEST_ALONE = _reduced(strongest)
WITHOUT_FLOOR: dict[str, Formula] = {
    "gone": same(effective(t), against(t)),
    "sinks": below(minus(effective(t), against(t)), NONE),
    "falls": below(minus(effective(u), against(u)), minus(effective(t), against(t))),
    "rises": below(minus(effective(t), against(t)), minus(effective(u), against(u))),
}
ALL_GONE: dict[str, Formula] = {"gone": TRUE, "sinks": FALSE, "falls": FALSE, "rises": FALSE}
HALVED: dict[str, Formula] = {
    "gone": at_most(effective(t), NONE),
    "sinks": below(effective(t), NONE),
    "falls": below(effective(u), effective(t)),
    "rises": below(effective(t), effective(u)),
}
CONSTANT = same(effective(t), effective(u))
WEIGHTLESS = zero(against(t))

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


AGGREGATE = Theory(
    name="markspace_aggregates",
    sorts=(INSTANT,),
    functions=(best, rest, more, share, cap, count),
    relations=(identical,),
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
PLAIN_SUM: dict[str, Formula] = {
    "over": disjunction([_over(_sum), _over(_total)]),
    "drops": _drop(_total, _sum),
    "sublinear": _less(_total),
}
UNCAPPED: dict[str, Formula] = {
    "over": below(cap(), _old) | _by_cases(lambda total: below(cap(), total)),
    "drops": _by_cases(lambda total: below(total, _old)),
    "sublinear": _by_cases(lambda total: below(total, times(count(), more()))),
}
AVERAGES: dict[str, Formula] = {
    "over": FALSE,
    "drops": below(times(minus(count(), ONE), _total), times(count(), _sum)) & below(_total, times(count(), cap())),
    "sublinear": below(_total, times(count(), count(), more())) | below(cap(), times(count(), more())),
}
