"""A mark space, a guard and a scheduler as objects that keep their state to themselves."""

import copy
import json
import math
import threading
import uuid
from dataclasses import dataclass, field, fields, replace

TRUST = {"fleet": 1.0, "external_verified": 0.7, "external_unverified": 0.3}
CONTENT = ("result", "content", "reason", "question", "context")
ALL_HOOKS = {}


class Refused(Exception):
    """A write whose preconditions do not hold."""


def checked(condition, sentence):
    if not condition:
        raise Refused(sentence)


def is_number(value, low=0.0, high=1e300):
    return type(value) in (int, float) and low <= value <= high


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return 1 + max(map(depth, inner), default=0)


@dataclass(frozen=True, kw_only=True)
class Mark:
    scope: str
    initial_strength: float = 1.0
    supersedes: str | None = None
    id: str | None = None
    agent_id: str | None = None
    created_at: float | None = None
    projected: bool = False
    kind = None

    def check(self, rules):
        checked(is_number(self.initial_strength), "initial_strength is below 0 or no number")
        for name in (self.supersedes, getattr(self, "invalidates", None)):
            checked(name is None or isinstance(name, str), "a reference is no text")

    def word(self, word, allowed):
        checked(isinstance(word, str) and word in allowed, "the scope does not allow this verb")

    def topical(self, allowed):
        checked(isinstance(self.topic, str), "the topic is no text")
        checked("*" in allowed or self.topic in allowed, f"the scope does not allow the topic {self.topic!r}")

    def struct(self, value):
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise Refused("the content is not made of plain values") from error
        checked(isinstance(value, dict) and depth(value) <= 50, "the content is no object or nested too deeply")


@dataclass(frozen=True, kw_only=True)
class Intent(Mark):
    resource: str
    action: str
    confidence: float
    kind = "intent"

    def check(self, rules):
        super().check(rules)
        checked(isinstance(self.resource, str), "the resource is no text")
        checked(is_number(self.confidence, high=1), "confidence is not in [0, 1]")
        self.word(self.action, rules.allowed_intent_verbs)


@dataclass(frozen=True, kw_only=True)
class Action(Mark):
    action: str
    result: dict
    resource: str | None = None
    failed: bool = False
    kind = "action"

    def check(self, rules):
        super().check(rules)
        checked(self.resource is None or isinstance(self.resource, str), "the resource is no text")
        checked(isinstance(self.failed, bool), "failed is no truth value")
        self.struct(self.result)
        self.word(self.action, rules.allowed_action_verbs)


@dataclass(frozen=True, kw_only=True)
class Observation(Mark):
    topic: str
    content: dict
    confidence: float
    source: str
    kind = "observation"

    def check(self, rules):
        super().check(rules)
        self.struct(self.content)
        checked(is_number(self.confidence, high=1), "confidence is not in [0, 1]")
        checked(isinstance(self.source, str) and self.source in TRUST, "the source is unknown")
        self.topical(rules.observation_topics)


@dataclass(frozen=True, kw_only=True)
class Warning(Mark):
    topic: str
    reason: str
    severity: str
    invalidates: str | None = None
    kind = "warning"

    def check(self, rules):
        super().check(rules)
        checked(isinstance(self.reason, str), "the reason is no text")
        checked(self.severity in ("info", "caution", "critical"), "the severity is unknown")
        self.topical(rules.warning_topics)


@dataclass(frozen=True, kw_only=True)
class Need(Mark):
    question: str
    context: dict
    priority: float
    blocking: bool
    resolved_by: str | None = None
    kind = "need"

    def check(self, rules):
        super().check(rules)
        self.struct(self.context)
        checked(isinstance(self.question, str), "the question is no text")
        checked(is_number(self.priority, high=1), "priority is not in [0, 1]")
        checked(isinstance(self.blocking, bool), "blocking is no truth value")
        checked(self.resolved_by is None, "only resolve() makes a resolved need")


@dataclass(frozen=True, kw_only=True)
class Scope:
    name: str
    observation_half_life: float
    warning_half_life: float
    intent_ttl: float
    visibility: str = "open"
    allowed_intent_verbs: tuple = ()
    allowed_action_verbs: tuple = ()
    observation_topics: tuple = ()
    warning_topics: tuple = ()
    conflict_policy: str = "first_writer"
    deferred: bool = False

    def __post_init__(self):
        times = (self.observation_half_life, self.warning_half_life, self.intent_ttl)
        if not all(is_number(value) and value > 0 for value in times):
            raise ValueError("half-lives and TTL must be above 0")
        known = self.conflict_policy in ("first_writer", "highest_confidence", "yield_all")
        if not known or self.visibility not in ("open", "protected", "classified") or not all(self.name.split("/")):
            raise ValueError(f"bad scope {self.name!r}")


@dataclass(frozen=True, kw_only=True)
class Agent:
    name: str
    scopes: dict = field(default_factory=dict)
    read_scopes: tuple = ()
    schedule_interval: float | None = None

    def __post_init__(self):
        if self.schedule_interval is not None and not (is_number(self.schedule_interval) and self.schedule_interval):
            raise ValueError("schedule_interval must be above 0")

    def may_write(self, scope, kind):
        return any(within(scope, parent) and kind in kinds for parent, kinds in self.scopes.items())

    def may_read(self, scope):
        return any(within(scope, parent) for parent in self.read_scopes)


def within(scope, parent):
    return scope == parent or scope.startswith(parent + "/")


class Clock:
    def __init__(self):
        self.now = 0.0

    def advance(self, seconds):
        if seconds < 0:
            raise ValueError("time runs forward")
        self.now += seconds


class MarkSpace:
    def __init__(self, scopes, clock, principal=None, defects=frozenset()):
        self.clock, self.defects = clock, frozenset(defects)
        self._scopes = {scope.name: scope for scope in scopes}
        self._marks, self._lock, self._count = {}, threading.RLock(), 0
        self._principal = principal
        self._hooks = ALL_HOOKS if "hooks_outlive_space" in self.defects else {}
        self._system = Agent(name="guard")

    # writing

    def rules(self, scope):
        while scope and scope not in self._scopes:
            scope = scope.rpartition("/")[0]
        return self._scopes.get(scope)

    def write(self, agent, mark):
        checked(isinstance(mark, Intent | Action | Observation | Warning | Need), "this is no mark")
        checked(isinstance(mark.scope, str) and all(mark.scope.split("/")), "the scope's name is malformed")
        rules = self.rules(mark.scope)
        checked(rules is not None, "there is no such scope")
        checked(agent.may_write(mark.scope, mark.kind), f"{agent.name} may not write {mark.kind} to {mark.scope}")
        mark.check(rules)
        for known in (mark.supersedes, getattr(mark, "invalidates", None)):
            checked(known is None or known in self._marks, "a mark is referred to that does not exist")
        return self.keep(agent, mark)

    def keep(self, agent, mark):
        """Stores without a question; for the space and the guard themselves."""
        with self._lock:
            self._count += 1
            new_id = str(uuid.UUID(int=self._count))
            stored = replace(mark, id=new_id, agent_id=agent.name, created_at=self.clock.now, projected=False)
            stored = stored if "kept_content" in self.defects else copy.deepcopy(stored)
            claims = self.claims(mark.scope, mark.resource) if mark.kind == "action" and not mark.failed else []
            self._marks[new_id] = stored
            firing = self.live_hooks() if "hooks_not_snapshotted" in self.defects else list(self._hooks.values())
        for lost in claims:
            if lost.agent_id != agent.name:
                reason = f"{agent.name} acted later on {mark.resource}"
                notice = {"topic": "superseded", "reason": reason, "severity": "caution", "invalidates": lost.id}
                self.keep(self._system, Warning(scope=mark.scope, **notice))
        for callback in firing:
            try:
                callback(agent.name, copy.deepcopy(stored))
            except Exception:
                if "hook_breaks_write" in self.defects:
                    raise
        return new_id

    def add_write_hook(self, callback):
        handle = str(uuid.uuid4())
        self._hooks[handle] = callback
        return handle

    def remove_write_hook(self, handle):
        return self._hooks.pop(handle, None) is not None

    def live_hooks(self):
        fired = 0
        while fired < len(self._hooks):
            yield list(self._hooks.values())[fired]
            fired += 1

    def resolve(self, need_id, action_id):
        need, act = self._marks.get(need_id), self._marks.get(action_id)
        checked(isinstance(need, Need) and not need.resolved_by and not self.superseded(need), "this need is not open")
        checked(isinstance(act, Action) and act.scope == need.scope, "no action mark in the scope of the need")
        checked(act.agent_id == self._principal, "only an action of the principal resolves a need")
        return self.keep(Agent(name=need.agent_id), replace(need, resolved_by=action_id, supersedes=need_id))

    # strength

    def superseded(self, mark):
        return any(other.supersedes == mark.id or self.overtakes(other, mark) for other in self._marks.values())

    def overtakes(self, later, mark):
        if not (isinstance(later, Action) and isinstance(mark, Action)) or later.failed or mark.failed:
            return False
        same = mark.resource is not None and (later.scope, later.resource) == (mark.scope, mark.resource)
        return same and later.agent_id != mark.agent_id and (later.created_at, later.id) > (mark.created_at, mark.id)

    def base_strength(self, mark):
        rules, age = self.rules(mark.scope), self.clock.now - mark.created_at
        if isinstance(mark, Intent):
            return mark.initial_strength if age <= rules.intent_ttl else 0.0
        if isinstance(mark, Need):
            return 0.0 if mark.resolved_by else mark.initial_strength
        if isinstance(mark, Action):
            return mark.initial_strength
        slow = isinstance(mark, Observation) or "warnings_decay_slowly" in self.defects
        return mark.initial_strength * 0.5 ** (age / (rules.observation_half_life if slow else rules.warning_half_life))

    def effective(self, mark):
        trust = TRUST[mark.source] if isinstance(mark, Observation) else 1.0
        return 0.0 if self.superseded(mark) else self.base_strength(mark) * trust

    def strength(self, mark_id):
        against = [w for w in self._marks.values() if isinstance(w, Warning) and w.invalidates == mark_id]
        return max(0.0, self.effective(self._marks[mark_id]) - sum(map(self.effective, against)))

    @staticmethod
    def reinforce(strengths):
        first, *rest = sorted(strengths, reverse=True) or [0.0]
        return min(first + 0.3 * sum(rest), 2.0 * first)

    # reading

    def show(self, mark, full):
        if not full:
            hidden = {name: None for name in CONTENT if hasattr(mark, name)}
            mark = replace(mark, **hidden, projected=True)
        return mark if "live_marks" in self.defects else copy.deepcopy(mark)

    def read(self, scope, resource=None, topic=None, mark_type=None, min_strength=0.01, reader=None):
        rules = self.rules(scope)
        full = rules is not None and (reader is None or rules.visibility == "open" or reader.may_read(scope))
        if rules is None or (rules.visibility == "classified" and not full):
            return []
        wanted = {"resource": resource, "topic": topic, "kind": mark_type}
        found = []
        for mark in self._marks.values():
            if mark.scope != scope or self.strength(mark.id) < min_strength:
                continue
            if all(value is None or getattr(mark, name, None) == value for name, value in wanted.items()):
                found.append(mark)
        found.sort(key=lambda mark: (-self.strength(mark.id), mark.created_at, mark.id))
        return [self.show(mark, full) for mark in found]

    def on(self, scope, resource, kind):
        marks = [mark for mark in self._marks.values() if mark.scope == scope and isinstance(mark, kind)]
        return [mark for mark in marks if resource is not None and mark.resource == resource]

    def intents(self, scope, resource):
        return [mark for mark in self.on(scope, resource, Intent) if self.strength(mark.id) > 0]

    def claims(self, scope, resource):
        return [mark for mark in self.on(scope, resource, Action) if not mark.failed and not self.superseded(mark)]

    def find(self, mark_id):
        return self._marks.get(mark_id)

    def aggregate_needs(self):
        groups = {}
        for need in self._marks.values():
            if isinstance(need, Need) and not need.resolved_by and not self.superseded(need):
                groups.setdefault((need.scope, need.question.strip().lower()), []).append(copy.deepcopy(need))
        clusters = [
            {
                "scope": scope,
                "needs": needs,
                "effective_priority": max(need.priority for need in needs) + math.log(len(needs)) * 0.1,
                "blocking_count": sum(need.blocking for need in needs),
                "contexts": [need.context for need in needs],
            }
            for (scope, _), needs in groups.items()
        ]
        return sorted(clusters, key=lambda cluster: cluster["effective_priority"], reverse=True)


@dataclass(frozen=True)
class GuardDecision:
    verdict: str
    reason: str
    intent_id: str | None = None
    winning_intent: Intent | None = None
    conflicting_intents: tuple = ()


class Guard:
    def __init__(self, space):
        self._space = space

    def pre_action(self, agent, scope, resource, action, confidence):
        for kind in ("intent", "action"):
            if not (isinstance(scope, str) and agent.may_write(scope, kind)):
                return GuardDecision("DENIED", f"{agent.name} has no {kind} permission for this scope")
        taken = [mark for mark in self._space.claims(scope, resource) if mark.agent_id != agent.name]
        if taken:
            return self.lost_to(taken[-1])
        try:
            mine = Intent(scope=scope, resource=resource, action=action, confidence=confidence)
            intent_id = self._space.write(agent, mine)
        except Refused as error:
            return GuardDecision("DENIED", f"the intent mark is not allowed: {error}")
        intents = self._space.intents(scope, resource)
        rivals = tuple(mark for mark in intents if mark.agent_id != agent.name)
        rules = self._space.rules(scope)
        if rules.deferred:
            return GuardDecision("BLOCKED", "pending resolution", intent_id, None, rivals)
        if not rivals:
            return GuardDecision("ALLOW", "no conflict", intent_id)
        if rules.conflict_policy == "yield_all":
            return self.escalate(agent, self._space.find(intent_id), rivals)
        best = self.winner(rules.conflict_policy, intents)
        if best.agent_id == agent.name:
            return GuardDecision("ALLOW", "highest in the order of intents", intent_id, None, rivals)
        return GuardDecision("CONFLICT", f"{best.agent_id} goes first", intent_id, best, rivals)

    def lost_to(self, claim, intent_id=None):
        origin = self._space.find(claim.supersedes)
        if not isinstance(origin, Intent):
            shared = {entry.name: getattr(claim, entry.name) for entry in fields(Mark)}
            origin = Intent(**shared, resource=claim.resource, action=claim.action, confidence=1.0)
        return GuardDecision("CONFLICT", f"{claim.agent_id} has already acted", intent_id, origin, (origin,))

    def escalate(self, agent, intent, rivals):
        question = f"Who may have {intent.resource} in {intent.scope}?"
        context = {"agent": agent.name, "others": sorted({mark.agent_id for mark in rivals})}
        shape = {"question": question, "context": context, "priority": intent.confidence, "blocking": True}
        self._space.keep(Agent(name="guard"), Need(scope=intent.scope, **shape))
        return GuardDecision("BLOCKED", "the principal has to decide", intent.id, None, rivals)

    def winner(self, policy, intents):
        def rank(mark):
            exact = round(mark.confidence, 1) if "rounded_confidence" in self._space.defects else mark.confidence
            return (-exact if policy == "highest_confidence" else 0, mark.created_at, mark.id)

        return min(intents, key=rank)

    def post_action(self, agent, mark, intent_id=None):
        """`mark` is an Action without `supersedes`; `intent_id` names the intent that it fulfils."""
        if intent_id is not None:
            checked(isinstance(self._space.find(intent_id), Intent), "intent_id names no intent")
            mark = replace(mark, supersedes=intent_id)
        return self._space.write(agent, mark)

    def execute(self, agent, scope, resource, intent_action, result_action, tool_fn, confidence):
        rules = self._space.rules(scope) if isinstance(scope, str) else None
        if rules and result_action not in rules.allowed_action_verbs:
            return GuardDecision("DENIED", "the scope does not allow this action verb"), None
        decision = self.pre_action(agent, scope, resource, intent_action, confidence)
        if decision.verdict != "ALLOW":
            return decision, None
        try:
            result, failed = tool_fn(), False
        except Exception as error:
            result, failed = {"error": str(error)}, True
        act = Action(scope=scope, resource=resource, action=result_action, result=result, failed=failed)
        try:
            act.struct(result)
        except Refused:
            act = replace(act, result={"value": str(type(result))})
        self.post_action(agent, act, decision.intent_id)
        return decision, result

    def resolve_deferred(self, scope, resource):
        rules = self._space.rules(scope)
        intents = self._space.intents(scope, resource) if rules and rules.deferred else []
        verdicts = {}
        for agent in dict.fromkeys(mark.agent_id for mark in intents):
            best = self.winner(rules.conflict_policy, intents)
            mine = [mark for mark in intents if mark.agent_id == agent]
            rivals = tuple(mark for mark in intents if mark.agent_id != agent)
            taken = [mark for mark in self._space.claims(scope, resource) if mark.agent_id != agent]
            if taken:
                verdicts[agent] = self.lost_to(taken[-1], mine[-1].id)
            elif rivals and rules.conflict_policy == "yield_all":
                verdicts[agent] = self.escalate(Agent(name=agent), mine[-1], rivals)
            elif best.agent_id == agent:
                verdicts[agent] = GuardDecision("ALLOW", "won at the boundary", best.id, None, rivals)
            else:
                verdicts[agent] = GuardDecision("BLOCKED", f"{best.agent_id} won", mine[-1].id, None, rivals)
        return verdicts


class Scheduler:
    def __init__(self, clock, defects=frozenset()):
        self._clock, self._defects = clock, frozenset(defects)
        self._agents, self._last = {}, {}

    def register(self, agent):
        if agent.schedule_interval is not None:
            self._agents[agent.name] = agent

    def update(self, agent):
        if self._agents.pop(agent.name, None):
            self.register(agent)
            if "update_forgets" in self._defects:
                self._last.pop(agent.name, None)

    def due(self):
        never = float("-inf")
        waited = {name: self._clock.now - self._last.get(name, never) for name in self._agents}
        return [agent for name, agent in self._agents.items() if waited[name] >= agent.schedule_interval]

    def mark_activated(self, agent):
        last = self._last.get(agent.name)
        if "catches_up" in self._defects and last is not None:
            self._last[agent.name] = last + agent.schedule_interval
        else:
            self._last[agent.name] = self._clock.now

    def tick_all(self):
        agents = self.due()
        for agent in agents:
            self.mark_activated(agent)
        return agents
