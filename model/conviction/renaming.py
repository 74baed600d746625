"""Rename agents everywhere: configuration, state, actions, events.

Used to test that names decide nothing.  Credentials move with the agents that hold them.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.records import dataclass, replace
from evenhand.model.conviction.points import joined
from evenhand.model.conviction.vocabulary import (
    Act,
    AddStake,
    Config,
    Entry,
    Event,
    Feedback,
    MoveStake,
    Proposal,
    Seat,
    Shown,
    State,
    Tick,
)


@dataclass(frozen=True, slots=True)
class Renaming:
    """A bijection between identifiers, as (old, new); identifiers that it omits keep their names."""

    names: tuple[tuple[str, str], ...]

    def __call__(self, name: str) -> str:
        """The new name."""
        return next((new for old, new in self.names if old == name), name)


def rename_config(w: Renaming, config: Config) -> Config:
    """The configuration under the new names; seats and credentials stay in place."""
    agents = tuple(replace(agent, uid=w(agent.uid)) for agent in config.agents)
    issues = tuple(replace(issue, assigned=tuple(w(uid) for uid in issue.assigned)) for issue in config.issues)
    return replace(config, agents=agents, issues=issues)


def rename_state(w: Renaming, _config: Config, state: State) -> State:
    """The state under the new names; proposals and entries are sorted again."""
    return replace(
        state,
        seats=tuple(_seat(w, seat) for seat in state.seats),
        proposals=_proposals(w, state.proposals),
        entries=joined(Entry(w(one.owner), w(one.proposal), one.held, one.amount) for one in state.entries),
    )


def _seat(w: Renaming, seat: Seat) -> Seat:
    return replace(seat, agent=w(seat.agent), proposal=w(seat.proposal))


def _proposals(w: Renaming, proposals: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
    renamed = (replace(one, uid=w(one.uid), author=w(one.author)) for one in proposals)
    return tuple(sorted(renamed, key=lambda one: one.uid))


def rename_action(w: Renaming, action: Act) -> Act:
    """The action under the new names."""
    if isinstance(action, Tick):
        return action
    moved: dict[str, Any] = {"agent": w(action.agent)}
    if isinstance(action, MoveStake):
        moved |= {"source": w(action.source), "target": w(action.target)}
    elif isinstance(action, AddStake | Feedback):
        moved["proposal"] = w(action.proposal)
    return replace(action, **moved)


def _event(w: Renaming, event: Event) -> Event:
    data: list[tuple[str, Any]] = []
    for name, value in event.data:
        if name in ("author", "source"):
            value = w(value)
        elif name == "scores":
            value = tuple(sorted((w(uid), total) for uid, total in value))
        data.append((name, value))
    return replace(event, agent=w(event.agent), proposal=w(event.proposal), data=tuple(data))


def rename_shown(w: Renaming, shown: Shown) -> Shown:
    """The events under the new names, in the same order."""
    return Shown(tuple(_event(w, event) for event in shown.events), shown.rejected)


def same_events(one: Shown, other: Shown) -> bool:
    """Whether the events are the same in any order, because some are written agent by agent."""
    return one.rejected == other.rejected and sorted(map(repr, one.events)) == sorted(map(repr, other.events))
