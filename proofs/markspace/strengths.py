"""Theorems about strength, for any number of instants, warnings and marks, over the reals (P1, P6 to P10, P34, P35).

Three are false as written; each has its smallest witness, and beside it the theorem with the assumption that repairs
it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from evenhand.core.verdict import Status
from evenhand.model.markspace.mutants import marks
from evenhand.proofs.markspace import strength_encoding as encoding
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.strength_definitions import (
    AGGREGATE,
    ALL_GONE,
    AVERAGES,
    BELOW_ZERO,
    CONSTANT,
    DECAY,
    GROWING,
    HALVED,
    INSTANT,
    LARGER,
    MORE_THAN_BASE,
    PLAIN_SUM,
    REVERSED,
    SOURCE,
    STRONGEST_ALONE,
    TRUST,
    UNCAPPED,
    WARNED,
    WEIGHTLESS,
    WITHOUT_FLOOR,
    base,
    before,
    identical,
    lasts,
    more,
    more_trusted,
    upto,
)
from evenhand.properties.markspace import signals
from evenhand.smt.arithmetic import below, number, zero
from evenhand.smt.logic import FALSE, exists, forall, variables
from evenhand.smt.preludes import mutation

t, u = variables(INSTANT, "t u")
r, s = variables(SOURCE, "r s")


_theorem = partial(theorem, system="signals", scope="any number of instants, warnings and marks, over the reals")

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
    mutants=(mutation(DECAY, marks.observations_grow, {"grows": GROWING}),),
)

_ranked = forall([r, s], more_trusted(r, s) >> TRUST.word("above", r, s))
_REVERSED = mutation(TRUST, marks.trust_reversed, {"above": REVERSED})
_IGNORED = mutation(TRUST, marks.trust_ignored, {"above": FALSE})
_TRUSTED: dict[str, Any] = {
    "theory": TRUST,
    "samples": encoding.SAMPLES_OF_TRUST,
    "view": encoding.view_trust,
}

ORDER = _theorem(
    claim=signals.trust_ordering_p6,
    sentence="Of two sources the more trusted one has the higher effective strength: false of a mark without strength.",
    goal=_ranked,
    expected=Status.REFUTED,
    **_TRUSTED,
)

ORDER_REPAIRED = _theorem(
    claim=signals.trust_orders_what_has_strength,
    sentence="It has wherever there is any strength; where there is none nobody is above anybody.",
    goal=_ranked | (zero(base(TRUST.functions[4]())) & forall([r, s], ~TRUST.word("above", r, s))),
    needs=("weights_follow_trust", "strengths_are_not_negative"),
    witness=exists([r, s], TRUST.word("above", r, s)),
    mutants=(_REVERSED, _IGNORED),
    **_TRUSTED,
)

BOUNDS = _theorem(
    claim=signals.trust_bounds_p7,
    sentence="Trust never amplifies and never makes a strength negative.",
    source="P7",
    variables=(t,),
    goal=~TRUST.word("amplified", t) & ~TRUST.word("negative", t),
    needs=("weights_lie_between", "strengths_are_not_negative"),
    mutants=(
        mutation(TRUST, marks.trust_amplifies, {"above": LARGER, "amplified": MORE_THAN_BASE}),
        mutation(TRUST, marks.distrust_goes_below_zero, BELOW_ZERO),
    ),
    **_TRUSTED,
)

_NO_FLOOR = "without a floor a mark recovers all the same"
_WARNED: dict[str, Any] = {
    "theory": WARNED,
    "samples": encoding.SAMPLES_OF_WARNINGS,
    "view": encoding.view_warned,
}
_time_passes = before(t, u) & lasts(u)

BOUND = _theorem(
    claim=signals.invalidation_bound_p34,
    sentence="No number of warnings reduces a mark below 0.",
    variables=(t,),
    goal=~WARNED.word("sinks", t),
    witness=exists([t], WARNED.word("gone", t)),
    mutants=(
        mutation(WARNED, marks.warnings_go_below_zero, WITHOUT_FLOOR),
        mutation(WARNED, marks.strongest_warning_alone, STRONGEST_ALONE, "it, too, is cut off at 0"),
        mutation(WARNED, marks.warned_is_gone, ALL_GONE, "nothing is not below 0"),
    ),
    **_WARNED,
)

RECOVERY = _theorem(
    claim=signals.invalidation_decay_p35,
    sentence="As warnings decay the mark recovers: false where the mark itself decays faster.",
    variables=(t, u),
    assumes=_time_passes,
    goal=~WARNED.word("falls", t, u),
    expected=Status.REFUTED,
    **_WARNED,
)

RECOVERY_REPAIRED = _theorem(
    claim=signals.constant_marks_recover,
    sentence="A mark that does not decay itself recovers, strictly where anything is left of it.",
    variables=(t, u),
    assumes=_time_passes & CONSTANT,
    goal=WARNED.word("rises", t, u)
    | (WARNED.word("gone", t) & WARNED.word("gone", u))
    | (WEIGHTLESS & ~WARNED.word("rises", t, u) & ~WARNED.word("falls", t, u)),
    needs=("warnings_decay",),
    witness=exists([t, u], WARNED.word("rises", t, u)),
    mutants=(
        mutation(WARNED, marks.warnings_halve, HALVED),
        mutation(WARNED, marks.warnings_go_below_zero, WITHOUT_FLOOR, _NO_FLOOR),
        mutation(WARNED, marks.strongest_warning_alone, STRONGEST_ALONE, "the strongest decays as well"),
        mutation(WARNED, marks.warned_is_gone, ALL_GONE, "it is gone before and after"),
    ),
    **_WARNED,
)

_SUM = mutation(AGGREGATE, marks.plain_sum, PLAIN_SUM)
_AGGREGATED: dict[str, Any] = {
    "theory": AGGREGATE,
    "samples": encoding.SAMPLES_OF_AGGREGATES,
    "view": encoding.view_aggregate,
}

SUBLINEAR = _theorem(
    claim=signals.sublinearity_p8,
    sentence="N identical marks aggregate to less than N times one: false of marks without strength.",
    assumes=identical(),
    goal=AGGREGATE.word("sublinear"),
    expected=Status.REFUTED,
    **_AGGREGATED,
)

SUBLINEAR_REPAIRED = _theorem(
    claim=signals.sublinear_where_there_is_strength,
    sentence="N identical marks of positive strength aggregate to less than N times one.",
    assumes=identical() & below(number(0), more()),
    goal=AGGREGATE.word("sublinear"),
    needs=("the_share_is_less_than_all", "identical_marks"),
    mutants=(_SUM,),
    **_AGGREGATED,
)

CAPPED = _theorem(
    claim=signals.boundedness_p9,
    sentence="No aggregate of any number of marks exceeds the cap.",
    goal=~AGGREGATE.word("over"),
    mutants=(
        mutation(AGGREGATE, marks.no_cap, UNCAPPED),
        mutation(AGGREGATE, marks.plain_sum, PLAIN_SUM, "a plain sum is capped as well"),
    ),
    **_AGGREGATED,
)

ADDITION = _theorem(
    claim=signals.monotonic_addition_p10,
    sentence="Adding a mark of positive strength never lowers the aggregate, wherever it sorts.",
    assumes=below(number(0), more()),
    goal=~AGGREGATE.word("drops"),
    needs=("the_share_is_less_than_all",),
    mutants=(
        mutation(AGGREGATE, marks.averages, AVERAGES),
        mutation(AGGREGATE, marks.plain_sum, PLAIN_SUM, "a sum grows as well"),
    ),
    **_AGGREGATED,
)
