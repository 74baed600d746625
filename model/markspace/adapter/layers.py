"""The package's optional layers: barrier, envelope, rate limit, budget, telemetry, around `write_mark` and `execute`.

Half a window of the protocol is one second. The package's window is 1.5 seconds, so that a write counts in the half in
which it happens and in the next one. The adapter plays the harness (§9.9): the probe's gate and the tool
`acknowledge_canary`. Canaries, verdicts, needs and the consequences of a miss come from the package.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import markspace
from markspace.space import ScopeError

from evenhand.core.codec import decode, encode
from evenhand.model.markspace.adapter.envelope import Overheard, watching
from evenhand.model.markspace.adapter.ids import BEGIN, Ids, agent_named
from evenhand.model.markspace.layers_vocabulary import (
    DIAGNOSTICS,
    PROBE,
    TOKEN,
    TYPES,
    Health,
    Layer,
    LayersConfig,
    Op,
    Operation,
    Outcome,
)
from evenhand.model.markspace.marks import Kind

if TYPE_CHECKING:
    from markspace.core import AnyMark

    from evenhand.core.canonical import Json

WRITABLE = ["intent", "action", "observation", "warning", "need"]
SINKS: dict[str, type[Any]] = {
    "null": markspace.NullSink,
    "memory": markspace.InMemorySink,
    "failing": markspace.FailingSink,
}
REASONS: tuple[tuple[str, str, Layer | None], ...] = (
    ("revoked", "revoked", Layer.BARRIER),
    ("must write a Need", "a need must come first", Layer.BARRIER),
    ("ate limit exceeded", "too many writes in this window", Layer.RATE),
    ("not authorized", "not authorised", None),
    ("restricted by statistical envelope", "anomalous", Layer.ENVELOPE),
)
"""A part of the package's message, the protocol's word for it, and the layer that gives this reason."""


class PublishedLayers:
    """One run of the package's layers."""

    def __init__(self, config: LayersConfig) -> None:
        self.config = config
        self.ids = Ids()
        limit = None
        if config.has(Layer.RATE):
            limit = markspace.ScopeRateLimit(
                max_writes_per_agent_per_window=config.rate[0],
                max_total_writes_per_window=config.rate[1],
                window_seconds=1.5,
            )
        scopes = [markspace.Scope(name=name, rate_limit=limit) for name in config.scopes]
        self.space = markspace.MarkSpace(scopes=[*scopes, markspace.Scope(name=DIAGNOSTICS)], clock=BEGIN)
        self.sink = SINKS[config.sink]() if config.has(Layer.TELEMETRY) else None
        self.token = uuid.UUID(int=1)
        self.ceilings = dict.fromkeys(config.agents, config.budget)
        self.agents = {name: self._agent(name, number) for number, name in enumerate(config.agents, start=1)}
        self.envelope: Overheard | None = None
        if config.has(Layer.ENVELOPE):
            self.envelope = watching(config, self.space.now, [agent.id for agent in self.agents.values()])
        self.guard = markspace.Guard(
            self.space, envelope=self.envelope, principal_token=self.token, telemetry=self.sink
        )
        self.needs: list[Any] = []
        self.calls = 0
        self.probe = markspace.DiagnosticProbe(self.space) if config.has(Layer.PROBE) else None
        self.canaries: dict[str, uuid.UUID] = {}
        self.space.add_write_hook(lambda _agent, mark: self._noticed(mark))

    def _agent(self, name: str, number: int) -> Any:
        agent = agent_named(name, number, dict.fromkeys(self.config.scopes, WRITABLE))
        if not self.config.has(Layer.BUDGET):
            return agent
        first, second = self.ceilings[name]
        budget = markspace.TokenBudget(
            max_input_tokens_total=first,
            max_output_tokens_total=second,
            warning_fraction=float(self.config.fraction),
        )
        return agent.model_copy(update={"manifest": markspace.AgentManifest(budget=budget)})

    def _noticed(self, mark: Any) -> None:
        if isinstance(mark, markspace.Need) and mark.scope in ("_system", DIAGNOSTICS):
            self.needs.append(mark)

    def step(self, action: Json, /) -> Json:
        """Take one action.  Raises ValueError for one that does not decode."""
        act = decode(action, *TYPES)
        self.needs.clear()
        with self.ids.used():
            return encode(self._taken(act))

    def _taken(self, act: Operation) -> Outcome:
        match act.op:
            case Op.WRITE | Op.EXECUTE:
                return self._attempt(act)
            case Op.TICK:
                self.space.set_clock(self.space.now() + 1)
                return Outcome(accepted=True)
            case _ if act.agent not in self.agents:
                return Outcome(why="no such agent")
            case Op.NARROW | Op.NARROW_ALL | Op.REQUIRE_NEED | Op.RESTORE | Op.RESTORE_ALL:
                return self._permissions(act)
            case Op.ROUND | Op.RAISE:
                return self._budget(act)
            case Op.CHECK if self.envelope is not None:
                return Outcome(accepted=True, health=self.envelope.asked(self.agents[act.agent].id))
            case Op.RESET if self.envelope is not None:
                return self._reset(self.envelope, act)
            case Op.INJECT | Op.ACKNOWLEDGE | Op.END_ROUND if self.probe is not None:
                return self._probing(act)
            case _:
                return Outcome(why="no such layer")

    def _attempt(self, act: Operation) -> Outcome:
        coordinates = act.op is Op.WRITE and act.kind in (Kind.INTENT, Kind.ACTION)
        if act.agent in self.canaries and not coordinates:  # 9.9 step 3: the harness refuses every operation
            return Outcome(why="the canary is not acknowledged", by=Layer.PROBE)
        told = len(self.sink.events) if isinstance(self.sink, markspace.InMemorySink) else 0
        agent = self.agents.get(act.agent) or agent_named(act.agent, len(self.agents) + 1, {DIAGNOSTICS: WRITABLE})
        if self.probe is not None and act.agent == PROBE:
            agent = self.probe.probe_agent
        if act.agent == PROBE and act.op is Op.EXECUTE:
            agent = agent_named(act.agent, len(self.agents) + 1, {})
        if self.envelope is not None:
            self.envelope.health = None
        shown = self._write(agent, act) if act.op is Op.WRITE else self._execute(agent, act)
        events: tuple[tuple[str, str, str], ...] = ()
        if isinstance(self.sink, markspace.InMemorySink):
            events = tuple(
                (event.operation, act.agent, "accepted" if event.verdict in ("accepted", "allow") else "rejected")
                for event in self.sink.events[told:]
            )
        return Outcome(shown.accepted, shown.why, shown.by, self._health(act, shown), self._audits(act), events)

    def _health(self, act: Operation, shown: Outcome) -> Health | None:
        """Return the envelope's answer to the guard if it allowed or stopped the write; None otherwise."""
        if self.envelope is None or act.agent not in self.agents:
            return None
        let_through = shown.accepted and act.op is Op.WRITE
        return self.envelope.health if let_through or shown.by is Layer.ENVELOPE else None

    def _audits(self, act: Operation) -> tuple[tuple[str, bool, str], ...]:
        """Return the needs that the guard wrote because of a flag."""
        written = [need for need in self.needs if dict(need.context or {}).get("trigger") == "envelope"]
        return tuple((act.agent, need.blocking, "envelope") for need in written)

    def _reset(self, envelope: Overheard, act: Operation) -> Outcome:
        """Reset with the right or a wrong token; accepted for any token if the agent is not restricted."""
        agent = self.agents[act.agent]
        stats = envelope.get_stats(agent.id)
        token = self.token if act.token == TOKEN else uuid.UUID(int=2)
        if envelope.reset(agent.id, token) or stats is None or not stats.restricted:
            return Outcome(accepted=True)
        return Outcome(why="not the principal", by=Layer.ENVELOPE)

    def _write(self, agent: Any, act: Operation) -> Outcome:
        try:
            self.guard.write_mark(agent, _made(act))
        except ScopeError as error:
            return _refused(str(error))
        except ValueError:
            return Outcome(why="intents and actions go through the guard's own operations")
        return Outcome(accepted=True)

    def _execute(self, agent: Any, act: Operation) -> Outcome:
        """Call a tool on a resource of its own, so that no other agent contests it."""
        self.calls += 1
        answer, _ = self.guard.execute(agent, act.scope, f"r{self.calls}", "book", "booked", lambda: None)
        if answer.verdict is markspace.GuardVerdict.ALLOW:
            return Outcome(accepted=True)
        return _refused(answer.reason)

    def _permissions(self, act: Operation) -> Outcome:
        if not self.config.has(Layer.BARRIER):
            return Outcome(why="no such layer")
        barrier = self.guard.get_or_create_barrier(self.agents[act.agent].id)
        token = self.token if act.token == TOKEN else uuid.UUID(int=2)
        match act.op:
            case Op.NARROW:
                barrier.narrow(act.scope, act.kind.value)
            case Op.NARROW_ALL:
                barrier.narrow_all(act.kind.value)
            case Op.REQUIRE_NEED:
                barrier.require_need(act.scope)
            case Op.RESTORE if not barrier.restore(act.scope, act.kind.value, token):
                return Outcome(why="not the principal", by=Layer.BARRIER)
            case Op.RESTORE_ALL if not barrier.restore_all(token):
                return Outcome(why="not the principal", by=Layer.BARRIER)
            case _:
                pass
        return Outcome(accepted=True)

    def _budget(self, act: Operation) -> Outcome:
        agent = self.agents[act.agent]
        if not self.config.has(Layer.BUDGET):
            return Outcome(accepted=True) if act.op is Op.ROUND else Outcome(why="no such layer")
        if min(act.tokens) < 0:
            return Outcome(why="tokens are not taken back", by=Layer.BUDGET)
        if act.op is Op.RAISE:
            return self._raised(act)
        if self.guard.check_budget_activation(agent) is not None:  # 9.10: the caller asks before each round
            return Outcome(why="the budget is used up", by=Layer.BUDGET)
        self.guard.record_round_tokens(agent, *act.tokens)
        needs = tuple((act.agent, need.blocking, str(need.context["dimension"])) for need in self.needs)
        return Outcome(accepted=True, needs=needs)

    def _probing(self, act: Operation) -> Outcome:
        """Let the package inject and judge a canary; it gets the marks that the harness saw: an acknowledgment, or
        none.
        """
        assert self.probe is not None
        agent = self.agents[act.agent]
        if act.op is Op.INJECT:
            self.canaries[act.agent] = self.probe.inject_canary(self.config.scopes[0])
            return Outcome(accepted=True)
        canary = self.canaries.get(act.agent)
        if act.op is Op.ACKNOWLEDGE:
            if not act.right:
                return Outcome(why="not the canary's id", by=Layer.PROBE)
            said = markspace.Observation(scope=DIAGNOSTICS, topic="answer", content={"canary_id": str(canary)})
            result = self.probe.check_agent_response(agent.id, agent.name, canary or uuid.UUID(int=0), [said])
            self.canaries.pop(act.agent, None)
            healthy = canary is None or result.verdict is markspace.ProbeVerdict.HEALTHY
            return Outcome(accepted=healthy, why="" if healthy else str(result.verdict.value))
        if canary is None:
            return Outcome(accepted=True)
        del self.canaries[act.agent]
        (result,) = self.probe.run_probe(self.config.scopes[0], {agent.id: (agent.name, [])})
        missed = result.verdict is markspace.ProbeVerdict.COMPROMISED
        needs = tuple((act.agent, need.blocking, "probe") for need in self.needs)
        return Outcome(accepted=True, why="compromised" if missed else "", needs=needs)

    def _raised(self, act: Operation) -> Outcome:
        old = self.ceilings[act.agent]
        first, second = (None if one is None else one + more for one, more in zip(old, act.tokens, strict=True))
        kept, self.ceilings[act.agent] = old, (first, second)
        agent = self._agent(act.agent, self.config.agents.index(act.agent) + 1)
        token = self.token if act.token == TOKEN else uuid.UUID(int=2)
        if not self.guard.update_budget(agent, agent.manifest.budget, token):
            self.ceilings[act.agent] = kept
            return Outcome(why="not the principal", by=Layer.BUDGET)
        self.agents[act.agent] = agent
        return Outcome(accepted=True)


def _made(act: Operation) -> AnyMark:
    match act.kind:
        case Kind.INTENT:
            return markspace.Intent(scope=act.scope, resource="r")
        case Kind.ACTION:
            return markspace.Action(scope=act.scope, resource="r")
        case Kind.OBSERVATION:
            return markspace.Observation(scope=act.scope, topic="t")
        case Kind.WARNING:
            return markspace.Warning(scope=act.scope, topic="t")
        case Kind.NEED:
            return markspace.Need(scope=act.scope, question="q")


def _refused(message: str) -> Outcome:
    for part, why, by in REASONS:
        if part in message:
            return Outcome(why=why, by=by)
    return Outcome(why=message)
