"""Scopes: hierarchy, authorisation, visibility, projection (§7)."""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.core.records import replace
from evenhand.model.markspace.marks import Agent, Kind, Mark, ScopeDef, SpaceConfig, Visibility


def covers(parent: str, scope: str) -> bool:
    """Return whether an authorisation for `parent` implies one for `scope` (§7.5): the scope itself or one below it."""
    return scope == parent or scope.startswith(parent + "/")


def well_formed(grammar: str, scope: str) -> bool:
    """Return whether the name is lawful: under `segments_nonempty` no level between slashes is empty."""
    return grammar == "free_text" or all(scope.split("/"))


def agent_called(config: SpaceConfig, name: str) -> Agent | None:
    """Return the agent with this name; None without one."""
    return next((agent for agent in config.agents if agent.name == name), None)


def defined(scopes: Iterable[ScopeDef], name: str) -> ScopeDef | None:
    """Return the governing definition: the scope's own, or that of the nearest level above (P26); None without any."""
    known = {scope.name: scope for scope in scopes}
    level = name
    while True:
        if level in known:
            return replace(known[level], name=name)
        level, slash, _ = level.rpartition("/")
        if not slash:
            return None


def narrowest(scopes: Iterable[ScopeDef], name: str) -> Visibility:
    """Return the least open visibility of the definitions at and above a scope; open without any (§7.4)."""
    order = list(Visibility)
    return max((one.visibility for one in scopes if covers(one.name, name)), key=order.index, default=Visibility.OPEN)


def may_write(agent: Agent, scope: str, kind: Kind) -> bool:
    """Return the write authorisation, inherited downwards (§7.3, P23)."""
    return any(kind is of and covers(parent, scope) for parent, of in agent.writes)


def may_read(agent: Agent, scope: str) -> bool:
    """Return the read authorisation for content, inherited downwards (§7.3, P23)."""
    return any(covers(parent, scope) for parent in agent.reads)


def projection(visibility: Visibility, authorised: bool) -> str:
    """Return what a reader gets: `full`, `projected` or `nothing` (§7.4)."""
    if authorised or visibility is Visibility.OPEN:
        return "full"
    return "projected" if visibility is Visibility.PROTECTED else "nothing"


def redacted(mark: Mark) -> Mark:
    """Return the mark without its content; a need's question is content too (§7.4)."""
    subject = "" if mark.draft.kind is Kind.NEED else mark.draft.subject
    return replace(mark, draft=replace(mark.draft, content="", subject=subject))
