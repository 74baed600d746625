"""Decay, trust, reinforcement and invalidation as functions (P1 to P10, P34, P35, 4.1, 5.1)."""

from __future__ import annotations

from fractions import Fraction

from evenhand.core.property import AnyStep, Property, each_step, reachable
from evenhand.model.markspace.exact import ZERO, Amount, decayed, plain, total
from evenhand.model.markspace.marks import Kind, Source
from evenhand.model.markspace.signals_vocabulary import Combine, Measure

__all__ = ["SIGNALS"]

ONLY = ("signals",)
TRANSIENT = (Kind.OBSERVATION, Kind.WARNING)


def _measures(step: AnyStep, *kinds: Kind) -> bool:
    act = step.action
    return isinstance(act, Measure) and not step.shown.refused and (not kinds or act.kind in kinds)


def _combines(step: AnyStep) -> bool:
    return isinstance(step.action, Combine) and not step.shown.refused


def _half_life(step: AnyStep) -> int:
    lives = step.config.lives
    half: int = lives.observation_half_life if step.action.kind is Kind.OBSERVATION else lives.warning_half_life
    return half


def _when_decay_monotonicity_p1(step: AnyStep) -> bool:
    return bool(_measures(step, *TRANSIENT))


@each_step(
    "The strength of an observation or a warning never grows with time.",
    source="P1",
    systems=ONLY,
    when=_when_decay_monotonicity_p1,
)
def decay_monotonicity_p1(step: AnyStep) -> bool:
    """At any two instants, exactly."""
    earlier, later = step.shown.base
    return bool(later <= earlier)


def _when_action_permanence_p2(step: AnyStep) -> bool:
    return bool(_measures(step, Kind.ACTION))


@each_step(
    "The base strength of an action is its initial strength at all times.",
    source="P2",
    systems=ONLY,
    when=_when_action_permanence_p2,
)
def action_permanence_p2(step: AnyStep) -> bool:
    """Facts do not fade."""
    return bool(step.shown.base == (plain(step.action.strength),) * 2)


def _when_convergence_p3(step: AnyStep) -> bool:
    return bool(_measures(step, *TRANSIENT))


@each_step(
    "The strength of an observation or a warning is initial * 0.5 ** (age / half_life), so it halves with every "
    "half-life and their sum converges to 0.",
    source="P3, 3.1",
    systems=ONLY,
    when=_when_convergence_p3,
)
def convergence_p3(step: AnyStep) -> bool:
    """Below every bound from some time on: n half-lives divide by 2 ** n."""
    act, half = step.action, _half_life(step)
    expected = tuple(decayed(act.strength, age, half) for age in (act.age, act.age + act.later))
    return bool(step.shown.base == expected)


def _when_transient_marks_halve(step: AnyStep) -> bool:
    return bool(_measures(step, *TRANSIENT) and step.action.later >= _half_life(step))


@each_step(
    "A half-life leaves at most half of an observation or a warning, so n of them leave a 2**n-th of any total.",
    source="P3, 3.1: the step towards the limit",
    systems=ONLY,
    when=_when_transient_marks_halve,
)
def transient_marks_halve(step: AnyStep) -> bool:
    """Between two instants that lie a half-life or more apart."""
    before, after = step.shown.base
    return bool(after.scaled(Fraction(2)) <= before)


def _when_intent_expiry_p4(step: AnyStep) -> bool:
    return bool(_measures(step, Kind.INTENT))


@each_step(
    "An intent has full strength until its TTL and none after it.",
    source="P4, 3.1",
    systems=ONLY,
    when=_when_intent_expiry_p4,
)
def intent_expiry_p4(step: AnyStep) -> bool:
    """A step function, with strength at created_at + ttl itself."""
    act, ttl = step.action, step.config.lives.intent_ttl
    ages = (act.age, act.age + act.later)
    return bool(step.shown.base == tuple(plain(act.strength) if age <= ttl else ZERO for age in ages))


def _when_need_persistence_p5(step: AnyStep) -> bool:
    return bool(_measures(step, Kind.NEED))


@each_step(
    "An unresolved need keeps its initial strength; a resolved one has none.",
    source="P5, 2.6",
    systems=ONLY,
    when=_when_need_persistence_p5,
)
def need_persistence_p5(step: AnyStep) -> bool:
    """At all times."""
    whole = ZERO if step.action.resolved else plain(step.action.strength)
    return bool(step.shown.base == (whole, whole))


def _when_trust_ordering_p6(step: AnyStep) -> bool:
    return bool(_measures(step, Kind.OBSERVATION))


@each_step(
    "Of two marks that differ in their source alone, the one from the more trusted source has higher effective "
    "strength.",
    source="P6",
    systems=ONLY,
    when=_when_trust_ordering_p6,
)
def trust_ordering_p6(step: AnyStep) -> bool:
    """As written, strictly: false of a mark without strength."""
    fleet, verified, unverified = step.shown.by_source
    return bool(unverified < verified < fleet)


def _when_trust_orders_what_has_strength(step: AnyStep) -> bool:
    return bool(_measures(step, Kind.OBSERVATION))


@each_step(
    "Effective strengths follow the order of the sources, and strictly so where there is any strength.",
    source="P6, repaired",
    systems=ONLY,
    when=_when_trust_orders_what_has_strength,
)
def trust_orders_what_has_strength(step: AnyStep) -> bool:
    """The formula of P6, and its sentence with the assumption that strength is positive."""
    fleet, verified, unverified = step.shown.by_source
    strict = unverified < verified < fleet
    return bool(strict or (step.shown.base[0].sign == 0 and unverified == verified == fleet))


def _when_trust_bounds_p7(step: AnyStep) -> bool:
    return bool(_measures(step))


@each_step(
    "Trust never amplifies: effective strength lies between 0 and base strength; where there is no source it is the "
    "base strength.",
    source="P7, 4.2",
    systems=ONLY,
    when=_when_trust_bounds_p7,
)
def trust_bounds_p7(step: AnyStep) -> bool:
    """Weights lie in [0, 1]."""
    pairs = zip(step.shown.effective, step.shown.base, strict=True)
    plainly = step.action.kind in (Kind.INTENT, Kind.ACTION, Kind.NEED)
    return all(effective >= ZERO and (effective == base if plainly else effective <= base) for effective, base in pairs)


def _identical(step: AnyStep) -> bool:
    act = step.action
    return _combines(step) and len(act.strengths) >= 1 and set(act.strengths) == {act.more}


@each_step(
    "N > 1 identical marks aggregate to less than N times one.",
    source="P8",
    systems=ONLY,
    when=_identical,
)
def sublinearity_p8(step: AnyStep) -> bool:
    """As written, strictly: false where the marks have no strength."""
    count = len(step.action.strengths) + 1
    return bool(step.shown.aggregate[1] < plain(step.action.more * count))


def _when_sublinear_where_there_is_strength(step: AnyStep) -> bool:
    return bool(_identical(step) and step.action.more > 0)


@each_step(
    "N > 1 identical marks of positive strength aggregate to less than N times one.",
    source="P8, repaired",
    systems=ONLY,
    when=_when_sublinear_where_there_is_strength,
)
def sublinear_where_there_is_strength(step: AnyStep) -> bool:
    """With the assumption that P6 needs as well."""
    count = len(step.action.strengths) + 1
    return bool(step.shown.aggregate[1] < plain(step.action.more * count))


@each_step("No aggregate exceeds the cap.", source="P9", systems=ONLY, when=_combines)
def boundedness_p9(step: AnyStep) -> bool:
    """Before and after."""
    return all(aggregate <= plain(step.config.cap) for aggregate in step.shown.aggregate)


def _when_monotonic_addition_p10(step: AnyStep) -> bool:
    return bool(_combines(step) and step.action.more > 0)


@each_step(
    "Adding a mark of positive strength never lowers the aggregate.",
    source="P10",
    systems=ONLY,
    when=_when_monotonic_addition_p10,
)
def monotonic_addition_p10(step: AnyStep) -> bool:
    """Wherever it sorts."""
    before, after = step.shown.aggregate
    return bool(before <= after)


@each_step(
    "An aggregate is the strongest mark and a fixed share of each other, up to the cap.",
    source="5.1",
    systems=ONLY,
    when=_combines,
)
def reinforcement_is_as_recommended(step: AnyStep) -> bool:
    """The recommended rule, said again."""
    strengths = (*step.action.strengths, step.action.more)
    best = max(strengths)
    expected = min(best + (sum(strengths) - best) * step.config.factor, step.config.cap)
    return bool(step.shown.aggregate[1] == plain(Fraction(expected)))


def _warned(step: AnyStep) -> bool:
    return _measures(step) and bool(step.action.warnings)


def _weight_of(step: AnyStep, later: int) -> Amount:
    """What the warnings weigh together, `later` seconds after the first instant."""
    lives, readings = step.config.lives, step.config.readings
    order = dict(zip(Source, step.config.weights, strict=True))
    capped = readings.warning_trust == "source_capped"
    return total(
        decayed(w.strength * (order[w.source] if capped else 1), w.age + later, lives.warning_half_life)
        for w in step.action.warnings
    )


@each_step("No warning reduces a mark below 0.", source="P34", systems=ONLY, when=_warned)
def invalidation_bound_p34(step: AnyStep) -> bool:
    """However many there are."""
    return all(reduced >= ZERO for reduced in step.shown.reduced)


@each_step(
    "Warnings reduce a mark by the sum of their strengths.",
    source="2.5, 9.5",
    systems=ONLY,
    when=_warned,
)
def warnings_weigh_what_they_weigh(step: AnyStep) -> bool:
    """At both instants; a floor at 0."""
    for place, later in enumerate((0, step.action.later)):
        left = step.shown.effective[place] - _weight_of(step, later)
        if step.shown.reduced[place] != (left if left.sign > 0 else ZERO):
            return False
    return True


def _recovers(step: AnyStep) -> bool:
    return _warned(step) and step.action.later > 0 and step.shown.base[1].sign > 0


@each_step(
    "As a warning decays, the mark that it invalidates recovers.",
    source="P35",
    systems=ONLY,
    when=_recovers,
)
def invalidation_decay_p35(step: AnyStep) -> bool:
    """As written: the mark itself has not fully decayed, but it may decay faster than it recovers."""
    before, after = step.shown.reduced
    return bool(before <= after)


def _when_constant_marks_recover(step: AnyStep) -> bool:
    return bool(_recovers(step) and step.shown.effective[0] == step.shown.effective[1])


@each_step(
    "As a warning of any weight decays, a mark that does not decay itself recovers: strictly, once anything is left of "
    "it.",
    source="P35, repaired",
    systems=ONLY,
    when=_when_constant_marks_recover,
)
def constant_marks_recover(step: AnyStep) -> bool:
    """The weakest assumption found: its effective strength without warnings is the same at both instants."""
    before, after = step.shown.reduced
    weightless = _weight_of(step, 0).sign == 0
    return before < after or before == after == ZERO or (weightless and before == after)


@reachable("A mark that a warning cancelled can be seen again.", source="9.5", systems=ONLY)
def recovery_happens(step: AnyStep) -> bool:
    """From nothing to something."""
    return _warned(step) and step.shown.reduced[0] == ZERO and step.shown.reduced[1].sign > 0


SIGNALS: tuple[Property, ...] = (
    decay_monotonicity_p1,
    action_permanence_p2,
    convergence_p3,
    transient_marks_halve,
    intent_expiry_p4,
    need_persistence_p5,
    trust_ordering_p6,
    trust_orders_what_has_strength,
    trust_bounds_p7,
    sublinearity_p8,
    sublinear_where_there_is_strength,
    boundedness_p9,
    monotonic_addition_p10,
    reinforcement_is_as_recommended,
    invalidation_bound_p34,
    warnings_weigh_what_they_weigh,
    invalidation_decay_p35,
    constant_marks_recover,
    recovery_happens,
)
"""The claims of this module."""
