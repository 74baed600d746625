"""Decay, trust, reinforcement and invalidation as functions (P1 to P10, P34, P35, 4.1, 5.1)."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias, TypeGuard

from evenhand.core.plan import holds, refuted
from evenhand.core.property import each_step, reachable
from evenhand.core.system import Step
from evenhand.model.markspace.exact import ZERO, Amount, decayed, plain, total
from evenhand.model.markspace.marks import Kind, Source
from evenhand.model.markspace.signals_vocabulary import Combine, Measure, Measured, SignalConfig, SignalStep, Still
from evenhand.properties.markspace.predicates import holds_nothing_but

MeasureStep: TypeAlias = Step[SignalConfig, Still, Measure, Measured]
CombineStep: TypeAlias = Step[SignalConfig, Still, Combine, Measured]

ONLY = ("signals",)
TRANSIENT = (Kind.OBSERVATION, Kind.WARNING)


def _measures(step: SignalStep, *kinds: Kind) -> TypeGuard[MeasureStep]:
    act = step.action
    return isinstance(act, Measure) and not step.shown.refused and (not kinds or act.kind in kinds)


def _combines(step: SignalStep) -> TypeGuard[CombineStep]:
    return isinstance(step.action, Combine) and not step.shown.refused


def _half_life(step: MeasureStep) -> int:
    lives = step.config.lives
    return lives.observation_half_life if step.action.kind is Kind.OBSERVATION else lives.warning_half_life


@each_step(
    "A measurement is refused, with a reason, exactly if a strength or age is negative, or if the strength is 0 and "
    "the reading excludes that.",
    source="2.1, 5.1",
    systems=ONLY,
)
def measurements_are_refused_for_cause_alone(step: SignalStep) -> bool:
    """Whoever gives lawful numbers gets an answer."""
    act = step.action
    if isinstance(act, Combine):
        return bool(step.shown.refused) == (min((*act.strengths, act.more)) < 0)
    empty = act.strength == 0 and step.config.readings.zero_strength == "excluded"
    return bool(step.shown.refused) == (act.strength < 0 or min(act.age, act.later) < 0 or empty)


@each_step(
    "The strength of an observation or a warning never grows with time.",
    source="P1",
    systems=ONLY,
    when=lambda step: _measures(step, *TRANSIENT),
)
def decay_monotonicity_p1(step: MeasureStep) -> bool:
    """Compared at any two instants, exactly."""
    earlier, later = step.shown.base
    return later <= earlier


@each_step(
    "The base strength of an action is its initial strength at all times.",
    source="P2",
    systems=ONLY,
    when=lambda step: _measures(step, Kind.ACTION),
)
def action_permanence_p2(step: MeasureStep) -> bool:
    """Actions do not decay."""
    return step.shown.base == (plain(step.action.strength),) * 2


@each_step(
    "The strength of an observation or a warning is initial * 0.5 ** (age / half_life), so it halves with every "
    "half-life and their sum converges to 0.",
    source="P3, 3.1",
    systems=ONLY,
    when=lambda step: _measures(step, *TRANSIENT),
)
def convergence_p3(step: MeasureStep) -> bool:
    """The strength falls below every bound: n half-lives divide it by 2 ** n."""
    act, half = step.action, _half_life(step)
    expected = tuple(decayed(act.strength, age, half) for age in (act.age, act.age + act.later))
    return step.shown.base == expected


@each_step(
    "A half-life leaves at most half of an observation or a warning, so n of them leave a 2**n-th of any total.",
    source="P3, 3.1: the step towards the limit",
    systems=ONLY,
    when=lambda step: _measures(step, *TRANSIENT) and step.action.later >= _half_life(step),
)
def transient_marks_halve(step: MeasureStep) -> bool:
    """Between two instants that lie a half-life or more apart."""
    before, after = step.shown.base
    return after.scaled(Fraction(2)) <= before


@each_step(
    "An intent has full strength until its TTL and none after it.",
    source="P4, 3.1",
    systems=ONLY,
    when=lambda step: _measures(step, Kind.INTENT),
)
def intent_expiry_p4(step: MeasureStep) -> bool:
    """A step function that still has full strength at created_at + ttl."""
    act, ttl = step.action, step.config.lives.intent_ttl
    ages = (act.age, act.age + act.later)
    return step.shown.base == tuple(plain(act.strength) if age <= ttl else ZERO for age in ages)


@each_step(
    "An unresolved need keeps its initial strength; a resolved one has none.",
    source="P5, 2.6",
    systems=ONLY,
    when=lambda step: _measures(step, Kind.NEED),
)
def need_persistence_p5(step: MeasureStep) -> bool:
    """This holds at all times."""
    whole = ZERO if step.action.resolved else plain(step.action.strength)
    return step.shown.base == (whole, whole)


@each_step(
    "Of two marks that differ in their source alone, the one from the more trusted source has higher effective "
    "strength.",
    source="P6",
    systems=ONLY,
    when=lambda step: _measures(step, Kind.OBSERVATION),
    expected=(
        refuted("without strength there is nothing to order", system="signals"),
        holds("every mark has strength", system="signals", zero_strength="excluded"),
    ),
)
def trust_ordering_p6(step: MeasureStep) -> bool:
    """As written, strictly: false of a mark without strength."""
    fleet, verified, unverified = step.shown.by_source
    return unverified < verified < fleet


@each_step(
    "Effective strengths follow the order of the sources, and strictly so where there is any strength.",
    source="P6, repaired",
    systems=ONLY,
    when=lambda step: _measures(step, Kind.OBSERVATION),
)
def trust_orders_what_has_strength(step: MeasureStep) -> bool:
    """The formula of P6, and its sentence with the assumption that strength is positive."""
    fleet, verified, unverified = step.shown.by_source
    strict = unverified < verified < fleet
    return strict or (step.shown.base[0].sign == 0 and unverified == verified == fleet)


@each_step(
    "Trust never amplifies: effective strength lies between 0 and base strength; where there is no source it is the "
    "base strength.",
    source="P7, 4.2",
    systems=ONLY,
    when=_measures,
)
def trust_bounds_p7(step: MeasureStep) -> bool:
    """Weights lie in [0, 1]."""
    pairs = zip(step.shown.effective, step.shown.base, strict=True)
    plainly = step.action.kind in (Kind.INTENT, Kind.ACTION, Kind.NEED)
    return all(effective >= ZERO and (effective == base if plainly else effective <= base) for effective, base in pairs)


def _identical(step: SignalStep) -> TypeGuard[CombineStep]:
    return _combines(step) and set(step.action.strengths) == {step.action.more}


@each_step(
    "N > 1 identical marks aggregate to less than N times one.",
    source="P8",
    systems=ONLY,
    when=_identical,
    expected=(refuted("N times nothing is not less than nothing: expired marks have no strength", system="signals"),),
)
def sublinearity_p8(step: CombineStep) -> bool:
    """As written, strictly: false where the marks have no strength."""
    count = len(step.action.strengths) + 1
    return step.shown.aggregate[1] < plain(step.action.more * count)


@each_step(
    "N > 1 identical marks of positive strength aggregate to less than N times one.",
    source="P8, repaired",
    systems=ONLY,
    when=lambda step: _identical(step) and step.action.more > 0,
)
def sublinear_where_there_is_strength(step: CombineStep) -> bool:
    """P8 with the assumption that P6 needs as well."""
    count = len(step.action.strengths) + 1
    return step.shown.aggregate[1] < plain(step.action.more * count)


@each_step("No aggregate exceeds the cap.", source="P9", systems=ONLY, when=_combines)
def boundedness_p9(step: CombineStep) -> bool:
    """This holds before and after the addition."""
    return all(aggregate <= plain(step.config.cap) for aggregate in step.shown.aggregate)


@each_step(
    "Adding a mark of positive strength never lowers the aggregate.",
    source="P10",
    systems=ONLY,
    when=lambda step: _combines(step) and step.action.more > 0,
)
def monotonic_addition_p10(step: CombineStep) -> bool:
    """The new mark may rank anywhere."""
    before, after = step.shown.aggregate
    return before <= after


@each_step(
    "An aggregate is the strongest mark and a fixed share of each other, up to the cap.",
    source="5.1",
    systems=ONLY,
    when=_combines,
)
def reinforcement_is_as_recommended(step: CombineStep) -> bool:
    """The recommended rule, written independently of the model: of the marks, and of them with one more."""
    for strengths, aggregate in zip(
        (step.action.strengths, (*step.action.strengths, step.action.more)), step.shown.aggregate, strict=True
    ):
        best = max(strengths, default=Fraction(0))
        expected = min(best + (sum(strengths) - best) * step.config.factor, step.config.cap)
        if aggregate != plain(Fraction(expected)):
            return False
    return True


@each_step(
    "Effective strength is base strength times the weight of the source, where a mark has one; so for each source.",
    source="4.2",
    systems=ONLY,
    when=_measures,
)
def trust_scales_strength(step: MeasureStep) -> bool:
    """Intents, actions and needs have none; whether warnings have is a reading."""
    act, base, weights = step.action, step.shown.base, dict(zip(Source, step.config.weights, strict=True))
    capped = act.kind is Kind.WARNING and step.config.readings.warning_trust == "source_capped"
    if not capped and act.kind is not Kind.OBSERVATION:
        weights = dict.fromkeys(Source, Fraction(1))
    by_source = tuple(base[0].scaled(weights[one]) for one in Source)
    effective = tuple(one.scaled(weights[act.source]) for one in base)
    return (step.shown.effective, step.shown.by_source) == (effective, by_source)


@each_step(
    "A measurement says nothing of aggregates, an aggregate nothing of marks, and a refusal nothing of either.",
    source="4.2, 5.1",
    systems=ONLY,
)
def measurements_hold_what_was_asked(step: SignalStep) -> bool:
    """Everything else is as it is of nothing."""
    asked = ("aggregate",) if isinstance(step.action, Combine) else ("base", "effective", "reduced", "by_source")
    return holds_nothing_but(step.shown, "refused", *(() if step.shown.refused else asked))


def _warned(step: SignalStep) -> TypeGuard[MeasureStep]:
    return _measures(step) and bool(step.action.warnings)


def _weight_of(step: MeasureStep, later: int) -> Amount:
    """The sum of the warnings' strengths, `later` seconds after the first instant."""
    lives, readings = step.config.lives, step.config.readings
    order = dict(zip(Source, step.config.weights, strict=True))
    capped = readings.warning_trust == "source_capped"
    return total(
        decayed(w.strength * (order[w.source] if capped else 1), w.age + later, lives.warning_half_life)
        for w in step.action.warnings
    )


@each_step("No warning reduces a mark below 0.", source="P34", systems=ONLY, when=_warned)
def invalidation_bound_p34(step: MeasureStep) -> bool:
    """This holds for any number of warnings."""
    return all(reduced >= ZERO for reduced in step.shown.reduced)


@each_step(
    "Warnings reduce a mark by the sum of their strengths; without any it keeps its own.",
    source="2.5, 9.5",
    systems=ONLY,
    when=_measures,
)
def warnings_weigh_what_they_weigh(step: MeasureStep) -> bool:
    """Compared at both instants, with a minimum of 0."""
    for place, later in enumerate((0, step.action.later)):
        left = step.shown.effective[place] - _weight_of(step, later)
        if step.shown.reduced[place] != (left if left.sign > 0 else ZERO):
            return False
    return True


def _recovers(step: SignalStep) -> TypeGuard[MeasureStep]:
    return _warned(step) and step.action.later > 0 and step.shown.base[1].sign > 0


@each_step(
    "As a warning decays, the mark that it invalidates recovers.",
    source="P35",
    systems=ONLY,
    when=_recovers,
    expected=(refuted("a mark that decays faster than its warning does not recover", system="signals"),),
)
def invalidation_decay_p35(step: MeasureStep) -> bool:
    """As written: the mark has not fully decayed, but it may decay faster than it recovers."""
    before, after = step.shown.reduced
    return before <= after


@each_step(
    "As a warning of any weight decays, a mark that does not decay itself recovers: strictly, once anything is left of "
    "it.",
    source="P35, repaired",
    systems=ONLY,
    when=lambda step: _recovers(step) and step.shown.effective[0] == step.shown.effective[1],
)
def constant_marks_recover(step: MeasureStep) -> bool:
    """The weakest assumption found: the strength without warnings is the same at both instants."""
    before, after = step.shown.reduced
    weightless = _weight_of(step, 0).sign == 0
    return before < after or before == after == ZERO or (weightless and before == after)


@each_step(
    "A mark of which anything is left recovers exactly if its warnings lose at least as much as it loses itself.",
    source="P35, repaired",
    systems=ONLY,
    when=lambda step: _recovers(step) and step.shown.reduced[0].sign > 0,
)
def marks_recover_if_their_warnings_lose_more(step: MeasureStep) -> bool:
    """The weakest assumption under which P35 is true; a mark of which nothing is left cannot fall."""
    before, after = step.shown.reduced
    own = step.shown.effective[0] - step.shown.effective[1]
    lost = _weight_of(step, 0) - _weight_of(step, step.action.later)
    return (before <= after) == (own <= lost)


def _outlived(step: SignalStep) -> TypeGuard[MeasureStep]:
    """Whether a warning that lives as long as its mark, or longer, has cancelled it."""
    return (
        _warned(step)
        and step.action.kind in TRANSIENT
        and step.config.lives.warning_half_life >= _half_life(step)
        and step.shown.reduced[0] == ZERO
    )


@each_step(
    "A mark that warnings cancelled, which decay no faster than it does, stays cancelled for ever.",
    source="9.5, 7.2",
    systems=ONLY,
    when=_outlived,
)
def outlived_marks_stay_cancelled(step: MeasureStep) -> bool:
    """7.2 recommends warnings that live shorter, and equal lives are lawful too."""
    return step.shown.reduced[1] == ZERO


@reachable("A mark that a warning cancelled can be seen again.", source="9.5", systems=ONLY)
def recovery_happens(step: SignalStep) -> bool:
    """The strength rises from zero."""
    return _warned(step) and step.shown.reduced[0] == ZERO and step.shown.reduced[1].sign > 0
