"""The package's guard: pre_action, the tool call and post_action as three steps, boundaries, marks about marks.

The adapter plays the harness of the text, which decides when an agent may call a tool and which agents are busy. All
verdicts, listed intents and stored marks come from the package.
"""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Any

import markspace

from evenhand.core.codec import decode, encode
from evenhand.core.kernel import Unsupported
from evenhand.model.markspace.adapter.ids import BEGIN, Ids, agent_named, name_of
from evenhand.model.markspace.guard_vocabulary import (
    TYPES,
    Act,
    Config,
    Decision,
    Intent,
    Phase,
    Policy,
    Verdict,
    What,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.core.canonical import Json

ROOMS, ELSEWHERE = "rooms", "elsewhere"
LEVELS = 8
"""A level of confidence is this fraction of one (1/8), which is exact in binary."""
EVERYTHING = ["intent", "action", "observation", "warning", "need"]
CLAIMED_BY = re.compile(r"agent_id=([0-9a-f-]{36})")
REFERRING = (What.WARN_CLAIM, What.WARN_INTENT, What.SUPERSEDE_CLAIM, What.SUPERSEDE_INTENT)

MISSING = {
    "claim_release": "none",
    "lease": "intent_ttl",
    "guard_atomicity": "per_operation",
    "principal_decision": "none",
    "boundary_while_running": "allowed",
    "failed_action": "never_claims",
    "reference_authority": "anyone",
    "action_immunity": "reducible",
}
"""The readings with one possible value in the package, and that value."""


class PublishedGuard:
    """One run of the package's guard."""

    def __init__(self, config: Config) -> None:
        for name, value in MISSING.items():
            if getattr(config.readings, name) != value:
                raise Unsupported(f"the package has no choice of {name}")
        self.config = config
        self.ids = Ids()
        self.space = markspace.MarkSpace(scopes=[_rooms(config), markspace.Scope(name=ELSEWHERE)], clock=BEGIN)
        self.guard = markspace.Guard(self.space)
        self.agents = {
            name: agent_named(name, number, {ROOMS if name in config.agents else ELSEWHERE: EVERYTHING})
            for number, name in enumerate((*config.agents, *config.strangers), start=1)
        }
        self.doing: dict[str, tuple[Phase, str]] = dict.fromkeys(config.agents, (Phase.IDLE, ""))
        self.won: dict[str, uuid.UUID | None] = {}
        self.claims: dict[str, tuple[str, uuid.UUID]] = {}
        self.warned: set[uuid.UUID] = set()
        self.written: list[Any] = []
        self.space.add_write_hook(lambda _agent, mark: self.written.append(mark))

    def step(self, action: Json, /) -> Json:
        """Take one action.  Raises ValueError for one that does not decode."""
        act = decode(action, *TYPES)
        self.written.clear()
        fresh = [mark.id for mark in self._by_rank(self._live()) if mark.created_at == self.space.now()]
        slip = act.slip if self.config.readings.id_order == "adversarial" and act.what is What.PRE else 0
        with self.ids.used(fresh, slip):
            return encode(self._taken(act))

    def _taken(self, act: Act) -> Decision:
        match act.what:
            case What.TICK:
                self.space.set_clock(self.space.now() + 1)
                self.warned.clear()
                return Decision(act.what)
            case What.PRE if act.agent in self.config.agents and act.resource not in self.config.resources:
                return _rejected(act, "no such resource")
            case What.PRE:
                return self._pre(act)
            case _ if act.resource not in self.config.resources:
                return _rejected(act, "no such resource")
            case What.BOUNDARY:
                return self._boundary(act)
            case What.PRINCIPAL:
                asked = any(need.context["resource"] == act.resource for need in self._needs())
                return _rejected(act, "the principal names no winner" if asked else "nobody asked")
            case _ if act.what in REFERRING:
                return self._meddle(act)
            case _ if act.agent not in self.config.agents:
                return _rejected(act, "the agent may not write in this scope")
            case _:
                return self._own_turn(act)

    # The package's answers in the protocol's words.

    def _pre(self, act: Act) -> Decision:
        if self.doing.get(act.agent, (Phase.IDLE, ""))[0] is not Phase.IDLE:
            return _rejected(act, "the agent is busy")
        agent = self.agents.get(act.agent) or agent_named(act.agent, len(self.agents) + 1, {})
        confidence = (act.confidence + 1) / LEVELS
        answer = self.guard.pre_action(agent, ROOMS, act.resource, "book", confidence)
        others = self._told(answer.conflicting_intents)
        match answer.verdict:
            case markspace.GuardVerdict.DENIED:
                reason = "the agent may not write intents in this scope" if answer.reason else ""
                return Decision(act.what, Verdict.DENIED, reason=reason)
            case markspace.GuardVerdict.ALLOW:
                self.doing[act.agent], self.won[act.agent] = (Phase.ALLOWED, act.resource), answer.intent_id
                winner = self._intent(answer.intent_id) if others else None
                return Decision(act.what, Verdict.ALLOW, winner=winner, conflicting=others)
            case markspace.GuardVerdict.BLOCKED if self.config.deferred:
                return Decision(act.what, Verdict.BLOCKED, reason="pending resolution", conflicting=others)
            case markspace.GuardVerdict.BLOCKED:
                need = any(isinstance(mark, markspace.Need) for mark in self.written)
                reason = "the principal is to decide" if answer.reason else ""
                return Decision(act.what, Verdict.BLOCKED, reason=reason, conflicting=others, need=need)
            case markspace.GuardVerdict.CONFLICT:
                if answer.winning_intent is not None:
                    winner = self._said(answer.winning_intent)
                    reason = "another intent won" if answer.reason else ""
                    return Decision(act.what, Verdict.CONFLICT, reason=reason, winner=winner, conflicting=others)
                found = CLAIMED_BY.search(answer.reason)
                claimant = None if found is None else name_of(self.agents, uuid.UUID(found[1]))
                reason = "an action claims it" if claimant else answer.reason
                return Decision(act.what, Verdict.CONFLICT, reason=reason, claimed_by=claimant)

    def _boundary(self, act: Act) -> Decision:
        if not self.config.deferred:
            return _rejected(act, "the scope does not defer")
        answers = self.guard.resolve_deferred(ROOMS, act.resource)
        told: dict[str, Verdict] = {}
        considered: dict[uuid.UUID, Any] = {}
        winner = None
        for agent_id, answer in answers.items():
            name = name_of(self.agents, agent_id)
            told[name] = Verdict(answer.verdict.value)
            for mark in (self._mark(answer.intent_id), *answer.conflicting_intents):
                considered[mark.id] = mark
            if answer.verdict is markspace.GuardVerdict.ALLOW:
                winner = self._intent(answer.intent_id)
                if self.doing[name][0] is Phase.IDLE:
                    self.doing[name], self.won[name] = (Phase.ALLOWED, act.resource), answer.intent_id
        looked_at = self._told(considered.values())
        return Decision(act.what, winner=winner, told=tuple(sorted(told.items())), considered=looked_at)

    def _own_turn(self, act: Act) -> Decision:
        phase = self.doing[act.agent]
        match act.what:
            case What.CALL if phase == (Phase.ALLOWED, act.resource):
                self.doing[act.agent] = (Phase.RUNNING, act.resource)
                return Decision(act.what)
            case What.CALL:
                return _rejected(act, "the guard has not allowed it")
            case What.ABANDON if phase == (Phase.ALLOWED, act.resource):
                self.doing[act.agent] = (Phase.IDLE, "")
                return Decision(act.what)
            case What.ABANDON:
                return _rejected(act, "nothing was allowed")
            case What.POST if phase == (Phase.RUNNING, act.resource):
                self.doing[act.agent] = (Phase.IDLE, "")
                return self._post(act)
            case What.POST:
                return _rejected(act, "no tool call to report")
            case _:
                return _rejected(act, "claims are not given back" if phase[0] is Phase.IDLE else "busy")

    def _post(self, act: Act) -> Decision:
        agent, intent = self.agents[act.agent], self.won.get(act.agent)
        if act.failed:  # as `Guard.execute` does when the tool raises
            failure = markspace.Action(
                scope=ROOMS, resource=act.resource, action="booked", failed=True, supersedes=intent
            )
            self.space.write(agent, failure)
            return Decision(act.what, note="failed")
        stored = self.guard.post_action(agent, ROOMS, act.resource, "booked", "done", intent)
        self.claims[act.resource] = (act.agent, stored)
        told = [mark for mark in self.written if isinstance(mark, markspace.Warning)]
        notified = name_of(self.agents, self._mark(told[0].invalidates).agent_id) if told else None
        return Decision(act.what, notified=notified, note="done")

    def _meddle(self, act: Act) -> Decision:
        """Warn or supersede by plain writes to the package's space."""
        if not self.config.meddling or act.agent not in self.agents:
            return _rejected(act, "nobody of this system writes such marks")
        if act.what in (What.WARN_CLAIM, What.SUPERSEDE_CLAIM):
            targets = [self.claims[act.resource][1]] if act.resource in self.claims else []
        else:
            author = self.agents.get(act.target)
            targets = [mark.id for mark in self._on(act.resource) if author is not None and mark.agent_id == author.id]
        if not targets:
            return _rejected(act, "no such mark")
        scope = ROOMS if act.agent in self.config.agents else ELSEWHERE
        for target in targets:
            if act.what in (What.WARN_CLAIM, What.WARN_INTENT):
                self.space.write(self.agents[act.agent], markspace.Warning(scope=scope, invalidates=target))
                self.warned.add(target)
            else:
                self.space.write(self.agents[act.agent], markspace.Observation(scope=scope, supersedes=target))
        if act.what is What.SUPERSEDE_CLAIM:
            del self.claims[act.resource]
        return Decision(act.what)

    # Marks in the protocol's vocabulary.

    def _live(self) -> list[Any]:
        return [mark for resource in self.config.resources for mark in self._on(resource)]

    def _on(self, resource: str) -> list[Any]:
        return self.space.get_intents(ROOMS, resource)

    def _needs(self) -> list[Any]:
        return self.space.read(ROOMS, mark_type=markspace.MarkType.NEED)

    def _by_rank(self, marks: Iterable[Any]) -> list[Any]:
        """Return the intents ordered by (created_at, id); the package lists them in arbitrary order."""
        return sorted(marks, key=lambda mark: (mark.created_at, mark.id.int))

    def _told(self, marks: Iterable[Any]) -> tuple[Intent, ...]:
        return tuple(self._said(mark) for mark in self._by_rank(marks))

    def _mark(self, wanted: uuid.UUID | None) -> Any:
        mark = None if wanted is None else self.space.get_mark(wanted)
        if mark is None:
            raise LookupError(f"the package speaks of a mark that it does not have: {wanted}")
        return mark

    def _intent(self, wanted: uuid.UUID | None) -> Intent:
        return self._said(self._mark(wanted))

    def _said(self, mark: Any) -> Intent:
        adversarial = self.config.readings.id_order == "adversarial"
        return Intent(
            name_of(self.agents, mark.agent_id),
            mark.resource,
            round(mark.confidence * LEVELS) - 1,
            round(mark.created_at + self.config.ttl - self.space.now()),
            fresh=adversarial and mark.created_at == self.space.now(),
            hidden=mark.id in self.warned,
        )


def _rooms(config: Config) -> Any:
    policy = {
        Policy.FIRST_WRITER: markspace.ConflictPolicy.FIRST_WRITER,
        Policy.HIGHEST_CONFIDENCE: markspace.ConflictPolicy.HIGHEST_CONFIDENCE,
        Policy.YIELD_ALL: markspace.ConflictPolicy.YIELD_ALL,
    }[config.policy]
    if config.ttl <= 0:
        raise Unsupported("the package wants a TTL above 0")
    return markspace.Scope(
        name=ROOMS,
        allowed_intent_verbs=("book",),
        allowed_action_verbs=("booked",),
        decay=markspace.DecayConfig(observation_half_life=1, warning_half_life=1, intent_ttl=config.ttl),
        conflict_policy=policy,
        deferred=config.deferred,
    )


def _rejected(act: Act, why: str) -> Decision:
    return Decision(act.what, rejected=why)
