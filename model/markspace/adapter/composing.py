"""The package's subscriptions, composition validation and scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import markspace

from evenhand.core.codec import decode, encode
from evenhand.model.markspace.adapter.ids import BEGIN, Ids, agent_named, name_of
from evenhand.model.markspace.composing_vocabulary import (
    TYPES,
    Activate,
    Composed,
    ComposingAct,
    ComposingConfig,
    Get,
    Manifest,
    Pattern,
    Pipeline,
    Publish,
    Subscribe,
    Unsubscribe,
    Update,
    Wait,
    Written,
)
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.scopes import covers

if TYPE_CHECKING:
    import uuid

    from evenhand.core.canonical import Json

SCOPES = ("a", "a/b", "ab", "c")
EVERYTHING = ["intent", "action", "observation", "warning", "need"]


class PublishedComposing:
    """One run of the package's subscriptions and of its scheduler."""

    def __init__(self, config: ComposingConfig) -> None:
        self.config = config
        self.ids = Ids()
        classified = markspace.ScopeVisibility.CLASSIFIED
        self.space = markspace.MarkSpace(
            scopes=[
                markspace.Scope(name=one, visibility=classified)
                if one in config.classified
                else markspace.Scope(name=one)
                for one in SCOPES
            ],
            clock=BEGIN,
        )
        self.agents = {name: self._declared(name, manifest) for name, manifest in config.agents}
        self.numbers: dict[uuid.UUID, int] = {}
        self.scheduler = markspace.Scheduler(self.space.now)
        for agent in self.agents.values():
            self.scheduler.register(agent)

    def _declared(self, name: str, manifest: Manifest | None) -> Any:
        """Return the agent with its manifest and the permissions that the manifest declares."""
        number = self.config.names.index(name) + 1
        if manifest is None:
            return agent_named(name, number, {})
        scopes: dict[str, list[str]] = {}
        for scope, kind in manifest.permitted:
            scopes.setdefault(scope, []).append(kind.value)
        made = markspace.AgentManifest(
            inputs=tuple(map(_pattern, manifest.inputs)),
            outputs=tuple((scope, markspace.MarkType(kind.value)) for scope, kind in manifest.outputs),
            schedule_interval=manifest.interval,
        )
        return agent_named(name, number, scopes).model_copy(update={"manifest": made})

    def step(self, action: Json, /) -> Json:
        """Take one action.  Raises ValueError for one that does not decode."""
        act: ComposingAct = decode(action, *TYPES)
        with self.ids.used():
            return encode(self._taken(act))

    def _taken(self, act: ComposingAct) -> Composed:
        match act:
            case Wait():
                self.space.set_clock(self.space.now() + 1)
                return Composed()
            case Activate():
                due = {agent.name for agent in self.scheduler.tick_all()}
                return Composed(activated=tuple(name for name in self.config.names if name in due))
            case Pipeline():
                listed = [self.agents[name] for name in act.agents]
                over = tuple(one.name for one in listed if markspace.validate_manifest_permissions(one))
                return Composed(connected=not markspace.validate_pipeline(listed), overpromised=over)
            case _ if act.agent not in self.agents:
                return Composed(refused="no such agent")
            case Publish():
                self._publish(act)
                return Composed()
            case Subscribe():
                self.space.subscribe(self.agents[act.agent], [_pattern(one) for one in act.patterns])
                return Composed()
            case Unsubscribe():
                self.space.unsubscribe(self.agents[act.agent])
                return Composed()
            case Get():
                marks = self.space.get_watched_marks(self.agents[act.agent], clear=act.clear)
                return Composed(delivered=tuple(map(self._written, marks)))
            case Update():
                return self._update(act)

    def _publish(self, act: Publish) -> None:
        """Write as this agent, with all permissions: this system checks no write permissions."""
        writer = agent_named(act.agent, self.config.names.index(act.agent) + 1, dict.fromkeys(SCOPES, EVERYTHING))
        kind = markspace.Warning if act.kind is Kind.WARNING else markspace.Observation
        replaced = next((one for one, number in self.numbers.items() if number == act.supersedes), None)
        stored = self.space.write(writer, kind(scope=act.scope, topic=act.subject, supersedes=replaced))
        self.numbers[stored] = len(self.numbers) + 1

    def _written(self, mark: Any) -> Written:
        classified = any(covers(scope, mark.scope) for scope in self.config.classified)
        name = name_of(self.agents, mark.agent_id)
        replaced = self.numbers.get(mark.supersedes, 0)
        kind = Kind(mark.mark_type.value)
        return Written(self.numbers[mark.id], name, mark.scope, kind, mark.topic, classified, replaced)

    def _update(self, act: Update) -> Composed:
        agent = self.agents[act.agent]
        before = agent.manifest or markspace.AgentManifest()
        manifest = before.model_copy(update={"schedule_interval": act.interval})
        self.scheduler.update(agent.model_copy(update={"manifest": manifest}))
        return Composed()


def _pattern(one: Pattern) -> Any:
    kind = markspace.MarkType(one.kind) if one.kind else None
    return markspace.WatchPattern(scope=one.scope, mark_type=kind, topic=one.subject or None)
