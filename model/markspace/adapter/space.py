"""The package's mark space: writes, reads, resolution by reading, need clusters, hooks, and its guard's answers.

Amounts are recovered from the package's doubles. Where both half-lives are one second, every strength of a run is a
rational with a small denominator, and the nearest double identifies it. Other half-lives are not supported.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import markspace
from markspace.space import ScopeError, ValidationError

from evenhand.core.codec import decode, encode
from evenhand.core.kernel import Unsupported
from evenhand.core.records import dataclass, replace
from evenhand.model.markspace.adapter.ids import BEGIN, Ids, agent_named, name_of, numbered
from evenhand.model.markspace.exact import plain
from evenhand.model.markspace.marks import (
    TYPES,
    Act,
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
    SpaceConfig,
    Tick,
    Write,
)

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable

    from evenhand.core.canonical import Json

WEIGHTS = (Fraction(1), Fraction(7, 10), Fraction(3, 10))
"""The package's fixed trust weights."""

DENOMINATOR = 10**6
SMALLEST = 5e-324
LIMITS = {
    "reference_authority": "anyone",
    "action_immunity": "reducible",
    "failed_action": "never_claims",
    "warning_trust": "none",
    "need_log_base": "e",
}
"""The readings with one possible value in the package, and that value."""


def recovered(value: float) -> Fraction:
    """Return the rational number with a small denominator that a double approximates."""
    return Fraction(value).limit_denominator(DENOMINATOR)


@dataclass(frozen=True)
class _Refused(Exception):
    why: str


class PublishedSpace:
    """One run of the package's space."""

    def __init__(self, config: SpaceConfig) -> None:
        if config.weights != WEIGHTS:
            raise Unsupported("the package fixes the trust weights 1, 0.7, 0.3")
        if any((one.observation_half_life, one.warning_half_life) != (1, 1) for one in config.scopes):
            raise Unsupported("doubles name exact strengths only at half-lives of one second")
        for name, value in LIMITS.items():
            if getattr(config.readings, name) != value:
                raise Unsupported(f"the package has no choice of {name}")
        self.config = config
        self.ids = Ids()
        self.space = markspace.MarkSpace(scopes=[_scope(one) for one in config.scopes], clock=BEGIN)
        self.guard = markspace.Guard(self.space)
        self.agents = {
            agent.name: agent_named(agent.name, number, _permissions(agent.writes), agent.reads)
            for number, agent in enumerate(config.agents, start=1)
        }
        self.drafts: dict[uuid.UUID, Draft] = {}
        self.past: list[Act] = []
        self.hooked: list[str] = []
        for hook in config.hooks:
            self.space.add_write_hook(self._hook(hook))

    def _hook(self, name: str) -> Any:
        def called(_agent: uuid.UUID, _mark: Any) -> None:
            if name == "failing":
                raise RuntimeError("a hook fails")
            self.hooked.append(name)

        return called

    def step(self, action: Json, /) -> Json:
        """Take one action.  Raises ValueError for one that does not decode."""
        act: Act = decode(action, *TYPES)
        with self.ids.used():
            return encode(self.take(act))

    def take(self, act: Act) -> Reply:
        """Take one action of the model's vocabulary."""
        self.past.append(act)
        self.hooked.clear()
        try:
            return self._taken(act)
        except _Refused as refusal:
            return Reply(refused=refusal.why)

    def _taken(self, act: Act) -> Reply:
        match act:
            case Write():
                return self._write(act)
            case Read():
                marks = self._read(act.scope, act.reader)
                return Reply(seen=tuple(self._in_order(marks)))
            case Decide():
                return self._decide(act)
            case Ask():
                return self._ask(act)
            case Needs():
                return Reply(clusters=tuple(self._cluster(one) for one in self.space.aggregate_needs()))
            case Resolve():
                return self._resolve(act)
            case Tick():
                if act.seconds < 0:
                    raise _Refused("time does not go back")
                self.space.set_clock(self.space.now() + act.seconds)
                return Reply()

    # Writing.

    def _write(self, act: Write) -> Reply:
        """Write, or refuse with the first precondition of §8.1 that the package reports as broken."""
        draft = act.draft
        self._defined(draft.scope)
        agent = self.agents.get(act.agent) or agent_named(act.agent, len(self.agents) + 1, {})
        if not agent.can_write(draft.scope, markspace.MarkType(draft.kind.value)):
            self._stays_out(agent, draft)
            raise _Refused("not authorised")
        self.ids.next_is(act.id)
        try:
            stored = self.space.write(agent, _made(draft))
        except ScopeError as error:
            raise _Refused("not authorised") from error
        except ValidationError as error:
            raise _Refused(_told(str(error))) from error
        self.drafts[stored] = draft
        return Reply(stored=act.id if stored == numbered(act.id) else 0, hooked=tuple(self.hooked))

    def _stays_out(self, agent: Any, draft: Draft) -> None:
        """Check that the space refuses a lawful mark of an agent without write permission."""
        try:
            lawful = replace(draft, strength=Fraction(1), confidence=Fraction(1))
            self.space.write(agent, _made(lawful))
        except (ScopeError, ValidationError):
            return
        raise RuntimeError("the package stored a mark of an agent that may not write it")

    def _defined(self, scope: str) -> Any:
        try:
            return self.space.get_scope(scope)
        except ValidationError as error:
            raise _Refused("no such scope") from error

    # Reading.

    def _read(self, scope: str, reader: str | None, **more: Any) -> list[Any]:
        self._defined(scope)
        who = None if reader is None else self.agents.get(reader) or agent_named(reader, len(self.agents) + 1, {})
        return self.space.read(scope, reader=who, **more)

    def _in_order(self, marks: list[Any]) -> Iterable[Seen]:
        """Yield the marks in the package's order; equal ones, which it leaves in any order, in the order of writing."""
        seen = [(self._strength(mark), mark) for mark in marks]
        groups: list[list[tuple[float, Any]]] = []
        for one in seen:
            if groups and groups[-1][0][0] == one[0]:
                groups[-1].append(one)
            else:
                groups.append([one])
        for group in groups:
            for strength, mark in sorted(group, key=lambda pair: (pair[1].created_at, pair[1].id.int)):
                yield Seen(self._mark(mark), plain(recovered(strength)), mark.projected)

    def _strength(self, mark: Any) -> float:
        """Return the strength in the package's read: the greatest `min_strength` at which it returns the mark."""
        against = [
            one
            for scope in {one.scope for one in self.drafts.values()}
            for one in self.space.read(scope, mark_type=markspace.MarkType.WARNING, min_strength=0.0)
            if one.scope == scope
        ]
        decay = self.space.get_scope(mark.scope).decay
        found = markspace.effective_strength_with_warnings(mark, against, self.space.now(), decay)  # type: ignore[arg-type]
        if not self._passes(mark, found) or self._passes(mark, math.nextafter(found, math.inf)):
            raise RuntimeError(f"the package's read and its functions disagree on a strength: {found}")
        return found

    def _passes(self, mark: Any, least: float) -> bool:
        return any(one.id == mark.id for one in self.space.read(mark.scope, min_strength=least))

    def _mark(self, mark: Any) -> Mark:
        """Return a mark of the package in the protocol's words; fields that its kind lacks are the draft's."""
        draft = self.drafts[mark.id]
        content, subject, changes = draft.content, draft.subject, dict[str, Any]()
        match mark:
            case markspace.Intent():
                subject, changes["verb"] = mark.resource, mark.action
                changes["confidence"] = _kept(draft.confidence, mark.confidence)
                content = "" if mark.projected else draft.content  # an intent has none
            case markspace.Action():
                subject, content = mark.resource, mark.result or ""
                changes |= {"verb": mark.action, "failed": mark.failed}
            case markspace.Observation():
                subject, content = mark.topic, mark.content or ""
                changes["confidence"] = _kept(draft.confidence, mark.confidence)
            case markspace.Warning():
                subject, content = mark.topic, mark.reason
                changes["invalidates"] = _number(mark.invalidates)
            case _:
                subject, content = mark.question, mark.context or ""
                changes |= {"confidence": _kept(draft.confidence, mark.priority), "blocking": mark.blocking}
        draft = replace(
            draft,
            kind=Kind(mark.mark_type.value),
            scope=mark.scope,
            subject=subject,
            content=content,
            strength=_kept(draft.strength, mark.initial_strength),
            supersedes=_number(mark.supersedes),
            **changes,
        )
        age = round(self.space.now() - mark.created_at)
        resolved = _number(mark.resolved_by) if isinstance(mark, markspace.Need) else None
        return Mark(_number(mark.id) or 0, name_of(self.agents, mark.agent_id), draft, age, resolved)

    # Resolution.

    def _decide(self, act: Decide) -> Reply:
        """Read the intents as this agent and resolve them with the package's own function (6)."""
        scope = self._defined(act.scope)
        least = SMALLEST if self.config.readings.active_threshold == "above_zero" else 0.01
        kind = markspace.MarkType.INTENT
        found = self._read(act.scope, act.reader, resource=act.subject, mark_type=kind, min_strength=least)
        alone = len(found) == 1  # 6.1 step 2: nothing to resolve
        winner = found[0].id if alone else markspace.resolve_conflict(found, scope.conflict_policy)
        return Reply(candidates=self._candidates(found), winner=_number(winner))

    def _candidates(self, marks: list[Any]) -> tuple[Mark, ...]:
        ordered = sorted(marks, key=lambda mark: (mark.created_at, mark.id.int))
        return tuple(replace(one, draft=self.drafts[mark.id]) for mark in ordered for one in [self._mark(mark)])

    def _ask(self, act: Ask) -> Reply:
        """Return the answer of the package's pre_action in a second space with the same history, as it writes an
        intent.
        """
        twin = PublishedSpace(self.config)
        for past in self.past[:-1]:
            if isinstance(past, Write | Resolve | Tick):
                with twin.ids.used():
                    twin.take(past)
        agent = twin.agents.get(act.agent) or agent_named(act.agent, len(self.agents) + 1, {})
        try:
            with twin.ids.used():
                answer = twin.guard.pre_action(agent, act.scope, act.subject, "book")
        except ValidationError as error:
            raise _Refused("not authorised") from error
        if answer.verdict is markspace.GuardVerdict.DENIED:
            raise _Refused("not authorised")
        if answer.verdict is markspace.GuardVerdict.CONFLICT and answer.winning_intent is None:
            marker = answer.reason.rpartition("agent_id=")[2].rstrip(")")
            return Reply(claimed_by=next(name for name, one in self.agents.items() if str(one.id) == marker))
        found = self.space.get_intents(act.scope, act.subject)
        winner = self.space.check_conflict(act.scope, act.subject)
        return Reply(candidates=self._candidates(list(found)), winner=_number(winner))

    def _resolve(self, act: Resolve) -> Reply:
        self.ids.next_is(act.id)
        try:
            stored = self.space.resolve(numbered(act.need), numbered(act.action))
        except ValidationError as error:
            about_the_need = str(error).startswith(("Mark", "Need"))
            raise _Refused("no unresolved need" if about_the_need else "no such action") from error
        self.drafts[stored] = self.drafts[numbered(act.need)]
        return Reply(stored=_number(stored))

    def _cluster(self, one: Any) -> Cluster:
        questions = sorted({need.question for need in one.needs})
        needs = sorted(one.needs, key=lambda need: (need.created_at, need.id.int))
        priority = max(self.drafts[need.id].confidence for need in needs)
        contexts = tuple(need.context for need in needs)
        return Cluster(one.scope, " | ".join(questions), priority, len(needs), one.blocking_count, contexts)


def _scope(one: ScopeDef) -> Any:
    return markspace.Scope(
        name=one.name,
        visibility=markspace.ScopeVisibility(one.visibility.value),
        allowed_intent_verbs=one.intent_verbs,
        allowed_action_verbs=one.action_verbs,
        observation_topics=one.topics,
        warning_topics=one.topics,
        decay=markspace.DecayConfig(
            observation_half_life=one.observation_half_life,
            warning_half_life=one.warning_half_life,
            intent_ttl=one.intent_ttl,
        ),
        conflict_policy=markspace.ConflictPolicy(one.policy.value),
    )


def _permissions(writes: frozenset[tuple[str, Kind]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for scope, kind in sorted(writes, key=lambda pair: (pair[0], pair[1].value)):
        found.setdefault(scope, []).append(kind.value)
    return found


def _made(draft: Draft) -> Any:
    """Return the draft as a mark of the package. Raises _Refused where the package's own types refuse it."""
    usual: dict[str, Any] = {
        "scope": draft.scope,
        "initial_strength": float(draft.strength),
        "supersedes": None if draft.supersedes is None else numbered(draft.supersedes),
    }
    level = float(draft.confidence)
    try:
        match draft.kind:
            case Kind.INTENT:
                return markspace.Intent(resource=draft.subject, action=draft.verb, confidence=level, **usual)
            case Kind.ACTION:
                return markspace.Action(
                    resource=draft.subject, action=draft.verb, result=draft.content, failed=draft.failed, **usual
                )
            case Kind.OBSERVATION:
                source = markspace.Source(draft.source.value)
                return markspace.Observation(
                    topic=draft.subject, content=draft.content, confidence=level, source=source, **usual
                )
            case Kind.WARNING:
                target = None if draft.invalidates is None else numbered(draft.invalidates)
                return markspace.Warning(topic=draft.subject, reason=draft.content, invalidates=target, **usual)
            case Kind.NEED:
                return markspace.Need(
                    question=draft.subject, context=draft.content, priority=level, blocking=draft.blocking, **usual
                )
    except ValueError as error:
        strength = "initial_strength" in str(error)
        why = "initial_strength is negative" if strength else "confidence or priority is not within [0, 1]"
        raise _Refused(why) from error


def _told(message: str) -> str:
    """Return the protocol's word for a message of the package."""
    for words, why in (
        ("Intent action", "no intent verb of the scope"),
        ("Action ", "no action verb of the scope"),
        ("topic", "no topic of the scope"),
    ):
        if words in message:
            return why
    return message


def _number(one: uuid.UUID | None) -> int | None:
    return None if one is None else one.int // 2**64


def _kept(drafted: Fraction, stored: float) -> Fraction:
    """Return the number of the draft if its double is the stored one; otherwise the recovered number."""
    return drafted if float(drafted) == stored else recovered(stored)
