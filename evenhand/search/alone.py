"""The completions that an agent can still reach by its own actions and the clock's.

Obstruction-freedom is defined by running alone; `waiting` builds wait-for graphs on it.  In a system of joint actions
the others take the first, simplest choice on their menus.  Elsewhere `System.actor` names the agent of each action; an
action of no agent (the clock) may always happen.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from evenhand.core.system import AnySystem, Step
from evenhand.search.steps import menus_of, stepped

NOBODY = ""
"""The actor of actions that belong to no agent, such as the clock's."""


class TooWide(Exception):
    """More states are reachable than the limit allows."""


@dataclass
class Moves:
    """The actions of one configuration by agent, each taken once.  Raises ValueError if the system names none."""

    system: AnySystem
    config: Any
    known: dict[Any, tuple[tuple[str, Any, Any, bool], ...]] = field(default_factory=dict[Any, Any])
    together: dict[tuple[Any, frozenset[str]], tuple[Any, ...]] = field(default_factory=dict[Any, Any])

    def __post_init__(self) -> None:
        if self.system.joint is None and self.system.actor is None:
            raise ValueError(
                f"{self.system.label} does not say whose action is whose: its actions are no product, and it declares "
                "no `actor`, so no agent can be seen waiting. Give the system an `actor`"
            )

    def agents(self, state: Any) -> tuple[str, ...]:
        """Return the agents that have an action on offer."""
        joint, config = self.system.joint, self.config
        if joint is not None:
            return tuple(joint.agents(config, state))
        return tuple(dict.fromkeys(actor for actor, *_ in self.own(state) if actor != NOBODY))

    def own(self, state: Any) -> tuple[tuple[str, Any, Any, bool], ...]:
        """Return each action that an agent takes alone: agent, action or choice, state after, whether it completes.

        A step completes something if `System.progress` says so; without it, if the step changes the state.
        """
        if state not in self.known:
            self.known[state] = tuple(self._own(state))
        return self.known[state]

    def of(self, state: Any, group: frozenset[str]) -> Iterable[Any]:
        """Return the states that a group can reach in one step while the others stand by."""
        if self.system.joint is None or len(group) == 1:
            return [after for actor, _, after, _ in self.own(state) if actor in group or actor == NOBODY]
        key = (state, group)
        if key not in self.together:
            offered = ([*menu] if agent in group else [*menu[:1]] for agent, menu in self.menus(state).items())
            self.together[key] = tuple(
                dict.fromkeys(
                    self.joined(state, dict(zip(self.menus(state), picked, strict=True)))
                    for picked in itertools.product(*offered)
                )
            )
        return self.together[key]

    def menus(self, state: Any) -> dict[str, tuple[Any, ...]]:
        """Return the choices of each agent in a joint action, with standing by first."""
        return dict(menus_of(self.system, self.config, state))

    def joined(self, state: Any, choices: dict[str, Any]) -> Any:
        """Return the state after a joint action in which agents without an entry in `choices` stand by."""
        return self._joined(state, choices)[1]

    def _own(self, state: Any) -> Iterator[tuple[str, Any, Any, bool]]:
        if self.system.joint is None:
            assert self.system.actor is not None
            for action in self.system.enabled(self.config, state):
                after, shown = stepped(self.system, self.config, state, action)
                yield self.system.actor(action), action, after, self._completes(state, action, shown, after)
            return
        menus = self.menus(state)
        if all(menus.values()):
            for agent, menu in menus.items():
                for choice in menu:
                    action, after, shown = self._joined(state, {agent: choice})
                    yield agent, choice, after, self._completes(state, action, shown, after)

    def _joined(self, state: Any, choices: dict[str, Any]) -> tuple[Any, Any, Any]:
        joint = self.system.joint
        assert joint is not None
        made = tuple((agent, choices.get(agent, menu[0])) for agent, menu in self.menus(state).items())
        action = joint.join(self.config, state, made)
        return (action, *stepped(self.system, self.config, state, action))

    def _completes(self, before: Any, action: Any, shown: Any, after: Any) -> bool:
        if self.system.progress is None:
            return bool(before != after)
        return bool(self.system.progress(Step(self.config, before, action, shown, after)))


class Alone:
    """The completions of `agent`, state by state, when only the agents of `group` (which includes it) take steps.

    A completion is an action of the agent, or of no agent, that completes something; the agent takes it alone.
    """

    def __init__(self, moves: Moves, agent: str, group: frozenset[str], limit: int) -> None:
        self.moves, self.agent, self.group, self.limit = moves, agent, group, limit
        self.known: dict[Any, set[Any]] = {}

    def can(self, state: Any) -> frozenset[Any]:
        """Return the completions that are reachable from a state.  Raises TooWide beyond `limit` states."""
        if state not in self.known:
            self._explore(state)
        return frozenset(self.known[state])

    def _explore(self, start: Any) -> None:
        """Find all states ahead, then propagate completions backwards; those of states known before are final."""
        found, before = {start: self._own(start)}, dict[Any, list[Any]]()
        queue = [start]
        for state in queue:
            for after in self.moves.of(state, self.group):
                if after not in self.known and after not in found:
                    found[after] = self._own(after)
                    queue.append(after)
                before.setdefault(after, []).append(state)
            if len(self.known) + len(found) > self.limit:
                raise TooWide(
                    f"{self.agent} can go to more than {self.limit} states with {', '.join(sorted(self.group))}"
                )
        self.known |= found
        waiting = [state for state in before if self.known[state]]
        while waiting:
            state = waiting.pop()
            for one in before.get(state, ()):
                if not self.known[state] <= self.known[one]:
                    self.known[one] |= self.known[state]
                    waiting.append(one)

    def _own(self, state: Any) -> set[Any]:
        """The completions in a state itself."""
        own = self.moves.own(state)
        return {action for actor, action, _, completes in own if completes and actor in (self.agent, NOBODY)}
