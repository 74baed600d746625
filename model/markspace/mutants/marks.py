"""Faulty strengths and faulty spaces: §2 to §5, §7, §8, §10."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from evenhand.core.records import replace
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
from evenhand.model.markspace.mutants.declare import Faults
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.space import REFERENCE
from evenhand.model.markspace.strength import STRENGTH, Lives, StrengthRules

SIGNALS = Faults(STRENGTH, "signals", Scope(ages=2, marks=2, warnings=2))
SPACE = Faults(REFERENCE, "space", Scope(marks=1, horizon=0, hostile=1))
TWO = Scope(marks=2, horizon=0, hostile=0)
THREE = Scope(marks=3, horizon=0, hostile=0, only=1)
LATER = Scope(marks=1, horizon=1, hostile=1)
"""Time goes on."""


# Strengths.


def _decay(kind: Kind, source: str) -> Callable[[Callable[..., Amount]], Mutant[StrengthRules]]:
    """Make a mutant of a function by which marks of one kind decay otherwise than in the reference."""

    def made(change: Callable[..., Amount]) -> Mutant[StrengthRules]:
        def decay(of: Kind, initial: Fraction, age: int, lives: Lives, resolved: bool) -> Amount:
            usual = STRENGTH.decay(of, initial, age, lives, resolved)
            return change(usual, initial, age, lives) if of is kind else usual

        return SIGNALS.declare(change.__name__, change.__doc__ or "", source, decay=decay)

    return made


@_decay(Kind.OBSERVATION, "3.1")
def decay_is_linear(_usual: Amount, initial: Fraction, age: int, lives: Lives) -> Amount:
    """Observations decay by a straight line."""
    return plain(max(Fraction(0), initial * (1 - Fraction(age, 2 * lives.observation_half_life))))


@_decay(Kind.OBSERVATION, "P1")
def observations_grow(usual: Amount, initial: Fraction, age: int, _lives: Lives) -> Amount:
    """Observations gain strength."""
    return usual + plain(initial * age)


@_decay(Kind.NEED, "2.1")
def strength_is_capped(usual: Amount, _initial: Fraction, _age: int, _lives: Lives) -> Amount:
    """No need is stronger than one."""
    return min(usual, plain(Fraction(1)))


@_decay(Kind.ACTION, "P2")
def actions_fade(_usual: Amount, initial: Fraction, age: int, _lives: Lives) -> Amount:
    """Actions lose strength."""
    return plain(initial / (1 + age))


@_decay(Kind.INTENT, "P4")
def intents_end_early(usual: Amount, _initial: Fraction, age: int, lives: Lives) -> Amount:
    """Intents end at their TTL, not after it."""
    return usual if age < lives.intent_ttl else ZERO


@_decay(Kind.NEED, "P5")
def needs_fade(usual: Amount, _initial: Fraction, age: int, _lives: Lives) -> Amount:
    """Unresolved needs lose strength."""
    return usual.scaled(Fraction(1, 1 + age))


@_decay(Kind.WARNING, "3.1")
def warnings_decay_like_observations(_usual: Amount, initial: Fraction, age: int, lives: Lives) -> Amount:
    """Warnings decay by the half-life of observations."""
    return STRENGTH.decay(Kind.OBSERVATION, initial, age, lives, False)


@SIGNALS.fault("weight", "P6")
def trust_reversed(weights: tuple[Fraction, Fraction, Fraction], source: Source) -> Fraction:
    """The least trusted source weighs most."""
    return weights[2 - tuple(Source).index(source)]


@SIGNALS.fault("weight", "P6")
def trust_ignored(_weights: tuple[Fraction, Fraction, Fraction], _source: Source) -> Fraction:
    """All sources weigh the same."""
    return Fraction(1)


@SIGNALS.fault("weight", "P7")
def trust_amplifies(weights: tuple[Fraction, Fraction, Fraction], source: Source) -> Fraction:
    """Weights exceed 1."""
    return 1 + STRENGTH.weight(weights, source)


@SIGNALS.fault("weight", "P7")
def distrust_goes_below_zero(weights: tuple[Fraction, Fraction, Fraction], source: Source) -> Fraction:
    """Distrust counts against a mark."""
    return STRENGTH.weight(weights, source) - Fraction(1, 2)


@SIGNALS.fault("weighed", "4.2")
def warnings_are_trusted_by_source(_readings: Readings, _kind: Kind, _source: Source) -> bool:
    """Warnings have trust weights."""
    return True


@SIGNALS.fault("reduced", "P34")
def warnings_go_below_zero(effective: Amount, warnings: tuple[Amount, ...]) -> Amount:
    """Reduction has no floor."""
    return effective - total(warnings)


@SIGNALS.fault("reduced", "9.5")
def strongest_warning_alone(effective: Amount, warnings: tuple[Amount, ...]) -> Amount:
    """Only the strongest warning counts."""
    best = ZERO
    for one in warnings:
        best = one if best < one else best
    return STRENGTH.reduced(effective, (best,))


@SIGNALS.fault("reduced", "P35")
def warned_is_gone(effective: Amount, warnings: tuple[Amount, ...]) -> Amount:
    """A warned mark has no strength."""
    return ZERO if warnings else effective


@SIGNALS.fault("reduced", "9.5")
def warnings_halve(effective: Amount, warnings: tuple[Amount, ...]) -> Amount:
    """Any warnings halve the mark, whatever they weigh."""
    return effective.scaled(Fraction(1, 2)) if warnings else effective


def _capped(strength: Amount, cap: Fraction) -> Amount:
    return strength if strength <= plain(cap) else plain(cap)


@SIGNALS.fault("reinforced", "P8")
def plain_sum(strengths: tuple[Amount, ...], _factor: Fraction, cap: Fraction) -> Amount:
    """Aggregates are sums."""
    return _capped(total(strengths), cap)


@SIGNALS.fault("reinforced", "P9")
def no_cap(strengths: tuple[Amount, ...], factor: Fraction, _cap: Fraction) -> Amount:
    """Aggregates have no cap."""
    return STRENGTH.reinforced(strengths, factor, Fraction(10**6))


@SIGNALS.fault("reinforced", "P10")
def averages(strengths: tuple[Amount, ...], _factor: Fraction, cap: Fraction) -> Amount:
    """Aggregates are averages."""
    return _capped(total(one.scaled(Fraction(1, len(strengths))) for one in strengths), cap)


@SIGNALS.fault("reinforced", "5.1")
def first_listed_counts_in_full(strengths: tuple[Amount, ...], factor: Fraction, cap: Fraction) -> Amount:
    """Strengths are not sorted."""
    return _capped(strengths[0] + total(strengths[1:]).scaled(factor), cap) if strengths else ZERO


# Spaces.


@SPACE.fault("may_write", "P23", Scope(SPACE.scope, only=5))
def scopes_compared_as_text(agent: Agent, scope: str, kind: Kind) -> bool:
    """`a` covers `ab`."""
    return any(kind is of and scope.startswith(parent) for parent, of in agent.writes)


@SPACE.fault("may_write", "P23")
def no_inheritance(agent: Agent, scope: str, kind: Kind) -> bool:
    """Authorisation is for the very scope."""
    return (scope, kind) in agent.writes


@SPACE.fault("may_write", "7.3")
def any_kind_will_do(agent: Agent, scope: str, _kind: Kind) -> bool:
    """Permission for one kind is for all."""
    return any(REFERENCE.may_write(agent, scope, kind) for kind in Kind)


@SPACE.fault("may_write", "P19")
def everybody_writes(_agent: Agent, _scope: str, _kind: Kind) -> bool:
    """Nobody is refused."""
    return True


@SPACE.fault("may_read", "P23, P26")
def clearance_not_inherited(agent: Agent, scope: str) -> bool:
    """Read authorisation is for the very scope."""
    return scope in agent.reads


@SPACE.fault("may_read", "P21, P22")
def everybody_is_cleared(agent: Agent, scope: str) -> bool:
    """Clearance is not checked below `a`."""
    return any(parent.startswith(scope) or scope.startswith(parent) for parent in agent.reads) or scope == "a/b"


@SPACE.fault("defined", "P26")
def undefined_scopes_are_open(scopes: tuple[ScopeDef, ...], name: str) -> ScopeDef | None:
    """An undefined scope is open."""
    found = REFERENCE.defined(scopes, name)
    own = name in {scope.name for scope in scopes}
    return found if own or found is None else replace(found, visibility=Visibility.OPEN)


@SPACE.fault("defined", "P26")
def root_governs(scopes: tuple[ScopeDef, ...], name: str) -> ScopeDef | None:
    """The topmost scope governs all below."""
    return REFERENCE.defined(scopes, name.split("/")[0])


@SPACE.fault("projection", "P25")
def classified_falls_back(visibility: Visibility, authorised: bool) -> str:
    """Classified scopes give projections."""
    usual = REFERENCE.projection(visibility, authorised)
    return "projected" if usual == "nothing" else usual


@SPACE.fault("projection", "P21")
def protected_is_open(visibility: Visibility, authorised: bool) -> str:
    """Protected content is shown."""
    return "full" if visibility is Visibility.PROTECTED else REFERENCE.projection(visibility, authorised)


@SPACE.fault("projection", "P20")
def open_is_protected(visibility: Visibility, authorised: bool) -> str:
    """Open content is redacted."""
    if authorised:
        return "full"
    return "projected" if visibility is Visibility.OPEN else REFERENCE.projection(visibility, False)


@SPACE.fault("redacted", "P21")
def nothing_redacted(mark: Mark) -> Mark:
    """Projections keep the content."""
    return mark


@SPACE.fault("redacted", "P24")
def topic_redacted(mark: Mark) -> Mark:
    """Projections lose the topic."""
    return replace(mark, draft=replace(mark.draft, content="", subject=""))


@SPACE.fault("fault", "8.1")
def no_preconditions(_config: SpaceConfig, _scope: ScopeDef, _draft: Draft) -> str:
    """Any draft is stored."""
    return ""


@SPACE.fault("fault", "2")
def ranges_unchecked(config: SpaceConfig, scope: ScopeDef, draft: Draft) -> str:
    """Strengths and confidences are not checked."""
    return REFERENCE.fault(config, scope, replace(draft, strength=Fraction(1), confidence=Fraction(1)))


@SPACE.fault("new_id", "P31", TWO)
def ids_repeat(_space: Space, _wanted: int) -> int:
    """Every mark has the same id."""
    return 1


@SPACE.fault("new_id", "P31, 7.4", TWO)
def ids_are_counted(space: Space, _wanted: int) -> int:
    """An id tells how many marks there are."""
    return len(space.marks) + 1


@SPACE.fault("refers", "10", TWO, readings={"reference_authority": "same_scope_writer"})
def authority_unchecked(_config: SpaceConfig, _mark: Mark, _target: Mark) -> bool:
    """References always have an effect."""
    return True


@SPACE.fault("superseded", "P47", THREE)
def chains_resurface(config: SpaceConfig, space: Space, mark: Mark) -> bool:
    """What superseded and is superseded has no effect."""
    later = space.marks[space.marks.index(mark) + 1 :]
    return any(other.draft.supersedes == mark.id and not REFERENCE.superseded(config, space, other) for other in later)


@SPACE.fault("superseded", "10", TWO)
def superseding_keeps_the_kind(_config: SpaceConfig, space: Space, mark: Mark) -> bool:
    """Only marks of one kind supersede each other."""
    later = space.marks[space.marks.index(mark) + 1 :]
    return any(other.draft.supersedes == mark.id and other.draft.kind is mark.draft.kind for other in later)


@SPACE.fault("enough", "8.2", TWO)
def nothing_too_weak_to_read(_strength: Amount) -> bool:
    """Reads have no threshold."""
    return True


@SPACE.fault("enough", "P27", Scope(SPACE.scope, hostile=0))
def weak_marks_vanish(strength: Amount) -> bool:
    """Reads want three fifths."""
    return plain(Fraction(3, 5)) <= strength


@SPACE.fault("resolved", "P29", THREE)
def resolution_supersedes_nothing(need: Mark, action: int, new: int) -> Mark:
    """The copy leaves the need alone."""
    return Mark(new, PRINCIPAL, need.draft, resolved_by=action)


@SPACE.fault("ordered", "8.2", TWO)
def reads_by_id(seen: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Reads come in the order of ids."""
    return tuple(sorted(seen, key=lambda one: one.mark.id))


@SPACE.fault("ordered", "8.2", TWO)
def weakest_first(seen: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Reads come weakest first."""
    return tuple(reversed(REFERENCE.ordered(seen)))


@SPACE.fault("resolve", "6.1, P11", Scope(TWO, only=1), readings={"id_order": "adversarial"})
def first_listed_wins(scope: ScopeDef, intents: tuple[Mark, ...]) -> Mark | None:
    """Whoever resolves a conflict takes the intent that is listed first."""
    return None if REFERENCE.resolve(scope, intents) is None else intents[0]


@SPACE.fault("hooks", "P33")
def hooks_stop_hooks(config: SpaceConfig) -> tuple[str, ...]:
    """A failing hook stops the others."""
    return () if "failing" in config.hooks else config.hooks


@SPACE.fault("in_scope", "8.2")
def reads_take_the_subtree(_config: SpaceConfig, asked: str, scope: str) -> bool:
    """Reads take in what is below."""
    return scope.startswith(asked)


@SPACE.fault("judged_by", "7.4, P22", Scope(SPACE.scope, only=5, hostile=0), readings={"hierarchy_reads": "subtree"})
def asked_scope_decides(asked: str, _scope: str) -> str:
    """Who may read `a` may read what is below it, classified or not."""
    return asked


@SPACE.fault("redacted", "7.4, P21")
def question_not_redacted(mark: Mark) -> Mark:
    """Projections of needs keep the question."""
    return replace(mark, draft=replace(mark.draft, content=""))


@SPACE.fault("aged", "3.1", LATER)
def time_runs_twice(mark: Mark, seconds: int) -> Mark:
    """Marks age twice as fast."""
    return replace(mark, age=mark.age + 2 * seconds)


@SPACE.fault("aged", "P30", LATER)
def decay_is_stored(mark: Mark, seconds: int) -> Mark:
    """Decay is written into marks."""
    return replace(mark, age=mark.age + seconds, draft=replace(mark.draft, strength=mark.draft.strength / 2))
