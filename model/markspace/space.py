"""The mark space: write, read, resolve, aggregate, and the guard's answers from it (§6.1, §8, §9.2, §10).

`step` is total: a write that §8.1 does not allow is refused with a reason and stores nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from evenhand.core.records import dataclass, replace
from evenhand.model.markspace.exact import ZERO, Amount, ln_bounds, plain
from evenhand.model.markspace.guard_vocabulary import Policy
from evenhand.model.markspace.marks import (
    MIN_STRENGTH,
    PRINCIPAL,
    Act,
    Agent,
    Ask,
    Cluster,
    Decide,
    Draft,
    Kind,
    Mark,
    Needs,
    Read,
    Reply,
    Resolve,
    ScopeDef,
    Seen,
    Space,
    SpaceConfig,
    Tick,
    Visibility,
    Write,
)
from evenhand.model.markspace.scopes import (
    agent_called,
    covers,
    defined,
    may_read,
    may_write,
    narrowest,
    projection,
    redacted,
    well_formed,
)
from evenhand.model.markspace.strength import STRENGTH, Lives, StrengthRules


@dataclass(frozen=True)
class Rules:
    """The space's decisions.

    `may_write`, `may_read`, `defined`, `projection`, `redacted` §7; `fault` §8.1 (the reason to refuse a draft);
    `stored` §8.1 (the mark of a write); `new_id` P31; `refers` whether a reference has an effect; `superseded` §10;
    `strength` §3 to §5; `active` §6.1 step 1; `resolve` §6.1 step 3; `claims` §9.2 step 2; `resolved` §8.3 (the copy);
    `ordered` §8.2; `in_scope` §8.2; `judged_by` §7.4 (the scope whose visibility counts: the one asked for or the
    mark's own); `hooks` §8.6 (those that ran); `outranks` §8.4.
    """

    may_write: Callable[[Agent, str, Kind], bool]
    may_read: Callable[[Agent, str], bool]
    defined: Callable[[tuple[ScopeDef, ...], str], ScopeDef | None]
    projection: Callable[[Visibility, bool], str]
    redacted: Callable[[Mark], Mark]
    fault: Callable[[SpaceConfig, ScopeDef, Draft], str]
    stored: Callable[[Write, int], Mark]
    new_id: Callable[[Space, int], int]
    refers: Callable[[SpaceConfig, Mark, Mark], bool]
    superseded: Callable[[SpaceConfig, Space, Mark], bool]
    strength: StrengthRules
    enough: Callable[[Amount], bool]
    active: Callable[[SpaceConfig, Amount], bool]
    resolve: Callable[[ScopeDef, tuple[Mark, ...]], Mark | None]
    claims: Callable[[SpaceConfig, Mark], bool]
    resolved: Callable[[Mark, int, int], Mark]
    ordered: Callable[[tuple[Seen, ...]], tuple[Seen, ...]]
    in_scope: Callable[[SpaceConfig, str, str], bool]
    judged_by: Callable[[str, str], str]
    hooks: Callable[[SpaceConfig], tuple[str, ...]]
    outranks: Callable[[str, Cluster, Cluster], bool]
    aged: Callable[[Mark, int], Mark]


def _fault(_config: SpaceConfig, scope: ScopeDef, draft: Draft) -> str:
    """Return the reason why §8.1 refuses the draft in this scope; empty if it is allowed."""
    if draft.strength < 0:
        return "initial_strength is negative"
    if draft.strength == 0 and _config.readings.zero_strength == "excluded":
        return "initial_strength is zero"
    if draft.kind in (Kind.INTENT, Kind.OBSERVATION, Kind.NEED) and not 0 <= draft.confidence <= 1:
        return "confidence or priority is not within [0, 1]"
    if draft.kind is Kind.INTENT and draft.verb not in scope.intent_verbs:
        return "no intent verb of the scope"
    if draft.kind is Kind.ACTION and draft.verb not in scope.action_verbs:
        return "no action verb of the scope"
    if draft.kind in (Kind.OBSERVATION, Kind.WARNING) and not {"*", draft.subject} & set(scope.topics):
        return "no topic of the scope"
    return ""


def _stored(act: Write, new: int) -> Mark:
    return Mark(new, act.agent, act.draft)


def _new_id(space: Space, wanted: int) -> int:
    """Return the id that the environment offers, or a fresh one if it is taken."""
    taken = {mark.id for mark in space.marks}
    return wanted if wanted not in taken else max(taken) + 1


def _refers(config: SpaceConfig, mark: Mark, target: Mark) -> bool:
    """Return whether `mark` may affect `target`, by the authority that the reading demands."""
    contests = mark.draft.kind is Kind.WARNING and mark.draft.invalidates == target.id
    immune = target.draft.kind is Kind.ACTION and config.readings.action_immunity == "immune_to_warnings"
    if contests and immune:
        return False
    if mark.agent in (target.agent, PRINCIPAL):
        return True
    match config.readings.reference_authority:
        case "anyone":
            return True
        case "same_scope_writer":
            author = agent_called(config, mark.agent)
            return author is not None and may_write(author, target.draft.scope, target.draft.kind)
        case _:
            return False


def _superseded(config: SpaceConfig, space: Space, mark: Mark) -> bool:
    """Return whether a later mark supersedes it (§10), even if that one is itself superseded or expired."""
    later = space.marks[space.marks.index(mark) + 1 :]
    return any(other.draft.supersedes == mark.id and _refers(config, other, mark) for other in later)


def _active(config: SpaceConfig, strength: Amount) -> bool:
    if config.readings.active_threshold == "min_strength":
        return _enough(strength)
    return strength.sign > 0


def _enough(strength: Amount) -> bool:
    return plain(MIN_STRENGTH) <= strength


def _resolve(scope: ScopeDef, intents: tuple[Mark, ...]) -> Mark | None:
    """Return the winner among active intents (§6.1); None without intents, or where the principal decides."""
    if not intents:
        return None
    if len({mark.agent for mark in intents}) > 1 and scope.policy is Policy.YIELD_ALL:
        return None
    first = min(intents, key=lambda mark: (-mark.age, mark.id))
    if scope.policy is Policy.HIGHEST_CONFIDENCE:
        return min(intents, key=lambda mark: (-mark.draft.confidence, -mark.age, mark.id))
    return first


def _claims(config: SpaceConfig, mark: Mark) -> bool:
    return not mark.draft.failed or config.readings.failed_action == "claims"


def _resolved(need: Mark, action: int, new: int) -> Mark:
    return Mark(new, PRINCIPAL, replace(need.draft, supersedes=need.id), resolved_by=action)


def _ordered(seen: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Return the marks strongest first; marks of equal strength in the order of writing."""
    found: list[Seen] = []
    for one in seen:
        place = len(found)
        while place and found[place - 1].strength < one.strength:
            place -= 1
        found.insert(place, one)
    return tuple(found)


def _in_scope(config: SpaceConfig, asked: str, scope: str) -> bool:
    return covers(asked, scope) if config.readings.hierarchy_reads == "subtree" else asked == scope


def _judged_by(_asked: str, scope: str) -> str:
    return scope


def _hooks(config: SpaceConfig) -> tuple[str, ...]:
    return tuple(hook for hook in config.hooks if hook != "failing")


def _outranks(base: str, one: Cluster, other: Cluster) -> bool:
    """Return whether max priority + log(size) * 0.1 is larger (§8.4); exact, by narrowing bounds of both logarithms."""
    gain = (one.priority - other.priority) * 10
    if one.size == other.size:
        return gain > 0
    ratio = Fraction(other.size, one.size)
    if base != "e":  # compare b**gain with a rational number: powers of rationals, so no logarithm is needed
        power, root = gain.numerator, gain.denominator
        return Fraction(int(base)) ** power > ratio**root
    terms = 8
    while True:  # gain = ln(ratio) with a rational gain other than 0 is impossible, as ratio = 1 would follow
        low, high = ln_bounds(ratio, terms)
        if gain > high or gain < low:
            return gain > high
        terms *= 2


def _aged(mark: Mark, seconds: int) -> Mark:
    return replace(mark, age=mark.age + seconds)


REFERENCE = Rules(
    may_write=may_write,
    may_read=may_read,
    defined=defined,
    projection=projection,
    redacted=redacted,
    fault=_fault,
    stored=_stored,
    new_id=_new_id,
    refers=_refers,
    superseded=_superseded,
    strength=STRENGTH,
    enough=_enough,
    active=_active,
    resolve=_resolve,
    claims=_claims,
    resolved=_resolved,
    ordered=_ordered,
    in_scope=_in_scope,
    judged_by=_judged_by,
    hooks=_hooks,
    outranks=_outranks,
    aged=_aged,
)
"""The space of the text, under the readings of the configuration."""


def step(rules: Rules, config: SpaceConfig, space: Space, act: Act) -> tuple[Space, Reply]:
    """Take one operation, or let some seconds pass."""
    match act:
        case Write():
            return _write(rules, config, space, act)
        case Read():
            return space, _read(rules, config, space, act)
        case Decide():
            return space, _decide(rules, config, space, act)
        case Ask():
            return space, _ask(rules, config, space, act)
        case Needs():
            return space, Reply(clusters=_clusters(rules, config, space))
        case Resolve():
            return _settle(rules, config, space, act)
        case Tick():
            if act.seconds < 0:
                return space, Reply(refused="time does not go back")
            return Space(tuple(rules.aged(mark, act.seconds) for mark in space.marks)), Reply()


def _write(rules: Rules, config: SpaceConfig, space: Space, act: Write) -> tuple[Space, Reply]:
    draft, agent = act.draft, agent_called(config, act.agent)
    scope = rules.defined(config.scopes, draft.scope) if _named_well(config, draft.scope) else None
    if scope is None:
        return space, Reply(refused="no such scope")
    if agent is None or not rules.may_write(agent, draft.scope, draft.kind):
        return space, Reply(refused="not authorised")
    why = rules.fault(config, scope, draft)
    if why:
        return space, Reply(refused=why)
    mark = rules.stored(act, rules.new_id(space, act.id))
    return Space((*space.marks, mark)), Reply(stored=mark.id, hooked=rules.hooks(config))


def _named_well(config: SpaceConfig, scope: str) -> bool:
    return well_formed(config.readings.scope_grammar, scope)


def strength_of(rules: Rules, config: SpaceConfig, space: Space, mark: Mark, *, warned: bool = True) -> Amount:
    """Return the effective strength now: 0 if superseded, otherwise reduced by live warnings against it (§9.5, §10)."""
    if rules.superseded(config, space, mark):
        return ZERO
    scope = rules.defined(config.scopes, mark.draft.scope)
    if scope is None:
        return ZERO
    lives = Lives(scope.observation_half_life, scope.warning_half_life, scope.intent_ttl)
    draft = mark.draft
    base = rules.strength.decay(draft.kind, draft.strength, mark.age, lives, mark.resolved_by is not None)
    effective = rules.strength.effective(config.weights, config.readings, draft.kind, draft.source, base)
    if not warned:
        return effective
    later = space.marks[space.marks.index(mark) + 1 :]
    against = tuple(
        strength_of(rules, config, space, other, warned=False)
        for other in later
        if other.draft.kind is Kind.WARNING and other.draft.invalidates == mark.id and rules.refers(config, other, mark)
    )
    return rules.strength.reduced(effective, against) if against else effective


def _visible(rules: Rules, config: SpaceConfig, reader: str | None, scope: str) -> str:
    if reader is None:
        return "full"
    agent = agent_called(config, reader)
    governing = rules.defined(config.scopes, scope)
    if governing is None:
        return "nothing"
    visibility = governing.visibility
    if config.readings.child_visibility == "no_more_open":
        visibility = narrowest(config.scopes, scope)
    return rules.projection(visibility, agent is not None and rules.may_read(agent, scope))


def _read(rules: Rules, config: SpaceConfig, space: Space, act: Read) -> Reply:
    if rules.defined(config.scopes, act.scope) is None or not _named_well(config, act.scope):
        return Reply(refused="no such scope")
    found: list[Seen] = []
    for mark in space.marks:
        if rules.in_scope(config, act.scope, mark.draft.scope):
            view = _visible(rules, config, act.reader, rules.judged_by(act.scope, mark.draft.scope))
            strength = strength_of(rules, config, space, mark)
            if view != "nothing" and rules.enough(strength):
                projected = view == "projected"
                found.append(Seen(rules.redacted(mark) if projected else mark, strength, projected))
    return Reply(seen=rules.ordered(tuple(found)))


def _intents(
    rules: Rules, config: SpaceConfig, space: Space, reader: str | None, scope: str, subject: str
) -> tuple[Mark, ...]:
    return tuple(
        mark
        for mark in space.marks
        if mark.draft.kind is Kind.INTENT
        and (mark.draft.scope, mark.draft.subject) == (scope, subject)
        and _visible(rules, config, reader, scope) != "nothing"
        and rules.active(config, strength_of(rules, config, space, mark))
    )


def _decide(rules: Rules, config: SpaceConfig, space: Space, act: Decide) -> Reply:
    scope = rules.defined(config.scopes, act.scope)
    if scope is None:
        return Reply(refused="no such scope")
    candidates = _intents(rules, config, space, act.reader, act.scope, act.subject)
    winner = rules.resolve(scope, candidates)
    return Reply(candidates=candidates, winner=None if winner is None else winner.id)


def _ask(rules: Rules, config: SpaceConfig, space: Space, act: Ask) -> Reply:
    """Return the answer of pre_action before it writes the agent's intent; the guard reads every mark (§7.4)."""
    scope, agent = rules.defined(config.scopes, act.scope), agent_called(config, act.agent)
    if scope is None or agent is None or not rules.may_write(agent, act.scope, Kind.INTENT):
        return Reply(refused="not authorised")
    for mark in space.marks:
        here = (mark.draft.scope, mark.draft.subject) == (act.scope, act.subject)
        theirs = here and mark.draft.kind is Kind.ACTION and mark.agent != act.agent
        if theirs and rules.claims(config, mark) and strength_of(rules, config, space, mark).sign > 0:
            return Reply(claimed_by=mark.agent)
    candidates = _intents(rules, config, space, None, act.scope, act.subject)
    winner = rules.resolve(scope, candidates)
    return Reply(candidates=candidates, winner=None if winner is None else winner.id)


def _clusters(rules: Rules, config: SpaceConfig, space: Space) -> tuple[Cluster, ...]:
    groups: dict[tuple[str, str], list[Mark]] = {}
    for mark in space.marks:
        live = mark.draft.kind is Kind.NEED and mark.resolved_by is None
        if live and not rules.superseded(config, space, mark):
            groups.setdefault((mark.draft.scope, mark.draft.subject), []).append(mark)
    found: list[Cluster] = []
    for (scope, question), marks in sorted(groups.items()):
        drafts = [mark.draft for mark in marks]
        cluster = Cluster(
            scope,
            question,
            max(draft.confidence for draft in drafts),
            len(drafts),
            sum(draft.blocking for draft in drafts),
            tuple(draft.content for draft in drafts),
        )
        place = len(found)
        while place and rules.outranks(config.readings.need_log_base, cluster, found[place - 1]):
            place -= 1
        found.insert(place, cluster)
    return tuple(found)


def _settle(rules: Rules, config: SpaceConfig, space: Space, act: Resolve) -> tuple[Space, Reply]:
    need, action = space.find(act.need), space.find(act.action)
    if need is None or need.draft.kind is not Kind.NEED or need.resolved_by is not None:
        return space, Reply(refused="no unresolved need")
    if action is None or action.draft.kind is not Kind.ACTION:
        return space, Reply(refused="no such action")
    theirs = action.agent == PRINCIPAL and action.draft.scope == need.draft.scope
    if config.readings.resolver == "action_of_the_principal" and not theirs:
        return space, Reply(refused="no action of the principal in the need's scope")
    copy = rules.resolved(need, act.action, rules.new_id(space, act.id))
    return Space((*space.marks, copy)), Reply(stored=copy.id)
