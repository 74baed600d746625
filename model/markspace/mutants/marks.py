"""Faulty strengths and faulty spaces: §2 to §5, §7, §8, §10."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from evenhand.core.system import Mutant, Scope
from evenhand.model.markspace.exact import ZERO, Amount, plain, total
from evenhand.model.markspace.marks import (
    PRINCIPAL,
    Agent,
    Draft,
    Kind,
    Mark,
    ScopeDef,
    Seen,
    Source,
    Space,
    SpaceConfig,
    Visibility,
)
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.space import REFERENCE, Rules
from evenhand.model.markspace.strength import STRENGTH, Lives, StrengthRules

__all__ = ["MARKS"]

_SMALL = {"ages": 2, "marks": 2, "warnings": 2}


def _signal(name: str, sentence: str, source: str, **rules: Any) -> Mutant[StrengthRules]:
    return Mutant(name, sentence, source, replace(STRENGTH, **rules), "signals", Scope(_SMALL))


def _space(name: str, sentence: str, source: str, **more: Any) -> Mutant[Rules]:
    scope = {"marks": 1, "horizon": 0, "hostile": 1, **more.pop("scope", {})}
    readings = tuple(more.pop("readings", {}).items())
    expected, reason = more.pop("expected", "killed"), more.pop("reason", "")
    return Mutant(name, sentence, source, replace(REFERENCE, **more), "space", Scope(scope), readings, expected, reason)


def _but(kind: Kind, change: Any) -> Any:
    """The reference's decay, changed for one kind of mark."""

    def decay(of: Kind, initial: Fraction, age: int, lives: Lives, resolved: bool) -> Amount:
        usual = STRENGTH.decay(of, initial, age, lives, resolved)
        return change(usual, initial, age, lives) if of is kind else usual

    return decay


def _linear(_usual: Amount, initial: Fraction, age: int, lives: Lives) -> Amount:
    return plain(max(Fraction(0), initial * (1 - Fraction(age, 2 * lives.observation_half_life))))


def _growing(usual: Amount, initial: Fraction, age: int, _lives: Lives) -> Amount:
    return usual + plain(initial * age)


def _fading(usual: Amount, initial: Fraction, age: int, _lives: Lives) -> Amount:
    return plain(initial / (1 + age))


def _early(usual: Amount, initial: Fraction, age: int, lives: Lives) -> Amount:
    return usual if age < lives.intent_ttl else ZERO


def _needs_fade(usual: Amount, initial: Fraction, age: int, _lives: Lives) -> Amount:
    return usual.scaled(Fraction(1, 1 + age))


def _other_half_life(_usual: Amount, initial: Fraction, age: int, lives: Lives) -> Amount:
    return STRENGTH.decay(Kind.OBSERVATION, initial, age, lives, False)


def _reversed_weight(weights: tuple[Fraction, Fraction, Fraction], source: Source) -> Fraction:
    return weights[2 - tuple(Source).index(source)]


def _equal_weight(_weights: tuple[Fraction, Fraction, Fraction], _source: Source) -> Fraction:
    return Fraction(1)


def _amplified(weights: tuple[Fraction, Fraction, Fraction], source: Source) -> Fraction:
    return 1 + STRENGTH.weight(weights, source)


def _below_nothing(weights: tuple[Fraction, Fraction, Fraction], source: Source) -> Fraction:
    return STRENGTH.weight(weights, source) - Fraction(1, 2)


def _everything_weighed(_readings: Readings, _kind: Kind, _source: Source) -> bool:
    return True


def _below_zero(effective: Amount, warnings: tuple[Amount, ...]) -> Amount:
    return effective - total(warnings)


def _strongest_only(effective: Amount, warnings: tuple[Amount, ...]) -> Amount:
    best = ZERO
    for one in warnings:
        best = one if best < one else best
    return STRENGTH.reduced(effective, (best,))


def _cancelled_for_good(_effective: Amount, warnings: tuple[Amount, ...]) -> Amount:
    return ZERO if warnings else _effective


def _halved(effective: Amount, warnings: tuple[Amount, ...]) -> Amount:
    return effective.scaled(Fraction(1, 2)) if warnings else effective


def _plain_sum(strengths: tuple[Amount, ...], _factor: Fraction, cap: Fraction) -> Amount:
    found = total(strengths)
    return found if found <= plain(cap) else plain(cap)


def _uncapped(strengths: tuple[Amount, ...], factor: Fraction, _cap: Fraction) -> Amount:
    return STRENGTH.reinforced(strengths, factor, Fraction(10**6))


def _average(strengths: tuple[Amount, ...], _factor: Fraction, cap: Fraction) -> Amount:
    return _plain_sum(tuple(one.scaled(Fraction(1, len(strengths))) for one in strengths), Fraction(1), cap)


def _first_in_full(strengths: tuple[Amount, ...], factor: Fraction, cap: Fraction) -> Amount:
    """Not sorted: the first that is listed counts in full."""
    if not strengths:
        return ZERO
    found = strengths[0] + total(strengths[1:]).scaled(factor)
    return found if found <= plain(cap) else plain(cap)


# Spaces.


def _prefix(agent: Agent, scope: str, kind: Kind) -> bool:
    """Names are compared as texts, not level by level."""
    return any(kind is of and scope.startswith(parent) for parent, of in agent.writes)


def _exactly(agent: Agent, scope: str, kind: Kind) -> bool:
    return (scope, kind) in agent.writes


def _any_kind(agent: Agent, scope: str, _kind: Kind) -> bool:
    return any(REFERENCE.may_write(agent, scope, kind) for kind in Kind)


def _anywhere(_agent: Agent, _scope: str, _kind: Kind) -> bool:
    return True


def _reads_exactly(agent: Agent, scope: str) -> bool:
    return scope in agent.reads


def _reads_upwards(agent: Agent, scope: str) -> bool:
    return any(parent.startswith(scope) or scope.startswith(parent) for parent in agent.reads) or scope == "a/b"


def _child_is_open(scopes: tuple[ScopeDef, ...], name: str) -> ScopeDef | None:
    """What is not defined is open, wherever it lies."""
    found = REFERENCE.defined(scopes, name)
    own = name in {scope.name for scope in scopes}
    return found if own or found is None else replace(found, visibility=Visibility.OPEN)


def _root_governs(scopes: tuple[ScopeDef, ...], name: str) -> ScopeDef | None:
    return REFERENCE.defined(scopes, name.split("/")[0])


def _fallback(visibility: Visibility, authorised: bool) -> str:
    usual = REFERENCE.projection(visibility, authorised)
    return "projected" if usual == "nothing" else usual


def _protected_is_open(visibility: Visibility, authorised: bool) -> str:
    return "full" if visibility is Visibility.PROTECTED else REFERENCE.projection(visibility, authorised)


def _open_is_protected(visibility: Visibility, authorised: bool) -> str:
    return (
        "full"
        if authorised
        else "projected"
        if visibility is Visibility.OPEN
        else REFERENCE.projection(visibility, False)
    )


def _unredacted(mark: Mark) -> Mark:
    return mark


def _over_redacted(mark: Mark) -> Mark:
    return replace(mark, draft=replace(mark.draft, content="", subject=""))


def _no_fault(_config: SpaceConfig, _scope: ScopeDef, _draft: Draft) -> str:
    return ""


def _verbs_alone(_config: SpaceConfig, scope: ScopeDef, draft: Draft) -> str:
    """Strengths and confidences are not looked at."""
    lawful = replace(draft, strength=Fraction(1), confidence=Fraction(1))
    return REFERENCE.fault(_config, scope, lawful)


def _same_id(_space: Space, _wanted: int) -> int:
    return 1


def _always_refers(_config: SpaceConfig, _mark: Mark, _target: Mark) -> bool:
    return True


def _last_only(config: SpaceConfig, space: Space, mark: Mark) -> bool:
    """A mark that is superseded itself supersedes nothing any more."""
    later = space.marks[space.marks.index(mark) + 1 :]
    return any(other.draft.supersedes == mark.id and not REFERENCE.superseded(config, space, other) for other in later)


def _same_kind_only(config: SpaceConfig, space: Space, mark: Mark) -> bool:
    later = space.marks[space.marks.index(mark) + 1 :]
    return any(other.draft.supersedes == mark.id and other.draft.kind is mark.draft.kind for other in later)


def _all(_strength: Amount) -> bool:
    return True


def _more_than_half(strength: Amount) -> bool:
    return plain(Fraction(3, 5)) <= strength


def _not_superseding(need: Mark, action: int, new: int) -> Mark:
    return Mark(new, PRINCIPAL, need.draft, resolved_by=action)


def _unordered(seen: tuple[Seen, ...]) -> tuple[Seen, ...]:
    return tuple(sorted(seen, key=lambda one: one.mark.id))


def _weakest_first(seen: tuple[Seen, ...]) -> tuple[Seen, ...]:
    return tuple(reversed(REFERENCE.ordered(seen)))


def _failing_hooks_stop_the_rest(config: SpaceConfig) -> tuple[str, ...]:
    return () if "failing" in config.hooks else config.hooks


def _subtree(_config: SpaceConfig, asked: str, scope: str) -> bool:
    return scope.startswith(asked)


def _asked_decides(asked: str, _scope: str) -> str:
    return asked


def _question_kept(mark: Mark) -> Mark:
    return replace(mark, draft=replace(mark.draft, content=""))


def _aged_twice(mark: Mark, seconds: int) -> Mark:
    return replace(mark, age=mark.age + 2 * seconds)


def _consumed(mark: Mark, seconds: int) -> Mark:
    """Decay is written into the mark."""
    return replace(mark, age=mark.age + seconds, draft=replace(mark.draft, strength=mark.draft.strength / 2))


def _first_listed(scope: ScopeDef, intents: tuple[Mark, ...]) -> Mark | None:
    usual = REFERENCE.resolve(scope, intents)
    return None if usual is None else intents[0]


MARKS: tuple[Mutant[Any], ...] = (
    _signal("decay_is_linear", "Observations decay by a straight line.", "3.1", decay=_but(Kind.OBSERVATION, _linear)),
    _signal("observations_grow", "Observations gain strength.", "P1", decay=_but(Kind.OBSERVATION, _growing)),
    _signal("actions_fade", "Actions lose strength.", "P2", decay=_but(Kind.ACTION, _fading)),
    _signal("intents_end_early", "Intents end at their TTL, not after it.", "P4", decay=_but(Kind.INTENT, _early)),
    _signal("needs_fade", "Unresolved needs lose strength.", "P5", decay=_but(Kind.NEED, _needs_fade)),
    _signal(
        "warnings_decay_like_observations",
        "Warnings decay by the half-life of observations.",
        "3.1",
        decay=_but(Kind.WARNING, _other_half_life),
    ),
    _signal("trust_reversed", "The least trusted source weighs most.", "P6", weight=_reversed_weight),
    _signal("trust_ignored", "All sources weigh the same.", "P6", weight=_equal_weight),
    _signal("trust_amplifies", "Weights exceed 1.", "P7", weight=_amplified),
    _signal("distrust_goes_below_zero", "Distrust counts against a mark.", "P7", weight=_below_nothing),
    _signal("warnings_are_trusted_by_source", "Warnings have trust weights.", "4.2", weighed=_everything_weighed),
    _signal("warnings_go_below_zero", "Reduction has no floor.", "P34", reduced=_below_zero),
    _signal("strongest_warning_alone", "Only the strongest warning counts.", "9.5", reduced=_strongest_only),
    _signal("warned_is_gone", "A warned mark has no strength.", "P35", reduced=_cancelled_for_good),
    _signal("warnings_halve", "Any warnings halve the mark, whatever they weigh.", "9.5", reduced=_halved),
    _signal("plain_sum", "Aggregates are sums.", "P8", reinforced=_plain_sum),
    _signal("no_cap", "Aggregates have no cap.", "P9", reinforced=_uncapped),
    _signal("averages", "Aggregates are averages.", "P10", reinforced=_average),
    _signal("first_listed_counts_in_full", "Strengths are not sorted.", "5.1", reinforced=_first_in_full),
    _space("scopes_compared_as_text", "`a` covers `ab`.", "P23", may_write=_prefix, scope={"marks": 1, "only": 5}),
    _space("no_inheritance", "Authorisation is for the very scope.", "P23", may_write=_exactly),
    _space(
        "any_kind_will_do",
        "Permission for one kind is for all.",
        "7.3",
        may_write=_any_kind,
    ),
    _space("everybody_writes", "Nobody is refused.", "P19", may_write=_anywhere),
    _space("clearance_not_inherited", "Read authorisation is for the very scope.", "P23, P26", may_read=_reads_exactly),
    _space("everybody_is_cleared", "Clearance is not checked below `a`.", "P21, P22", may_read=_reads_upwards),
    _space("undefined_scopes_are_open", "An undefined scope is open.", "P26", defined=_child_is_open),
    _space("root_governs", "The topmost scope governs all below.", "P26", defined=_root_governs),
    _space("classified_falls_back", "Classified scopes give projections.", "P25", projection=_fallback),
    _space("protected_is_open", "Protected content is shown.", "P21", projection=_protected_is_open),
    _space("open_is_protected", "Open content is redacted.", "P20", projection=_open_is_protected),
    _space("nothing_redacted", "Projections keep the content.", "P21", redacted=_unredacted),
    _space("topic_redacted", "Projections lose the topic.", "P24", redacted=_over_redacted),
    _space("no_preconditions", "Any draft is stored.", "8.1", fault=_no_fault),
    _space("ranges_unchecked", "Strengths and confidences are not checked.", "2", fault=_verbs_alone),
    _space("ids_repeat", "Every mark has the same id.", "P31", new_id=_same_id, scope={"marks": 2, "hostile": 0}),
    _space(
        "authority_unchecked",
        "References always have an effect.",
        "10",
        refers=_always_refers,
        scope={"marks": 2, "hostile": 0},
        readings={"reference_authority": "same_scope_writer"},
    ),
    _space(
        "chains_resurface",
        "What superseded and is superseded has no effect.",
        "P47",
        superseded=_last_only,
        scope={"marks": 3, "hostile": 0, "only": 1},
    ),
    _space(
        "superseding_keeps_the_kind",
        "Only marks of one kind supersede each other.",
        "10",
        superseded=_same_kind_only,
        scope={"marks": 2, "hostile": 0},
    ),
    _space(
        "nothing_too_weak_to_read", "Reads have no threshold.", "8.2", enough=_all, scope={"marks": 2, "hostile": 0}
    ),
    _space("weak_marks_vanish", "Reads want three fifths.", "P27", enough=_more_than_half, scope={"hostile": 0}),
    _space(
        "resolution_supersedes_nothing",
        "The copy leaves the need alone.",
        "P29",
        resolved=_not_superseding,
        scope={"marks": 3, "hostile": 0, "only": 1},
    ),
    _space(
        "reads_by_id", "Reads come in the order of ids.", "8.2", ordered=_unordered, scope={"marks": 2, "hostile": 0}
    ),
    _space(
        "weakest_first", "Reads come weakest first.", "8.2", ordered=_weakest_first, scope={"marks": 2, "hostile": 0}
    ),
    _space(
        "first_listed_wins",
        "Whoever resolves a conflict takes the intent that is listed first.",
        "6.1, P11",
        resolve=_first_listed,
        readings={"id_order": "adversarial"},
        scope={"marks": 2, "horizon": 0, "hostile": 0, "only": 1},
    ),
    _space("hooks_stop_hooks", "A failing hook stops the others.", "P33", hooks=_failing_hooks_stop_the_rest),
    _space("reads_take_the_subtree", "Reads take in what is below.", "8.2", in_scope=_subtree),
    _space(
        "asked_scope_decides",
        "Who may read `a` may read what is below it, classified or not.",
        "7.4, P22",
        judged_by=_asked_decides,
        readings={"hierarchy_reads": "subtree"},
        scope={"marks": 1, "only": 5, "hostile": 0},
    ),
    _space("question_not_redacted", "Projections of needs keep the question.", "7.4, P21", redacted=_question_kept),
    _space("time_runs_twice", "Marks age twice as fast.", "3.1", aged=_aged_twice, scope={"horizon": 1}),
    _space("decay_is_stored", "Decay is written into marks.", "P30", aged=_consumed, scope={"horizon": 1}),
)
"""The faulty strengths and spaces."""
