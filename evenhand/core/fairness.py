"""Fairness assumptions by name, one for each agent where a name stands for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from evenhand.core.lookup import UnknownName
from evenhand.core.system import Fairness

F = TypeVar("F", bound=Fairness[Any, Any])
T = TypeVar("T")

OF = " of "
"""What stands between the name of a family of assumptions and the agent in the name of a member."""


def per_agent(
    name: str, agents: Iterable[T], assumption: Callable[[T], Fairness[Any, Any]]
) -> dict[str, Fairness[Any, Any]]:
    """Return one assumption for each agent, `name of agent`, for the `fair` of a system.

    A claim that assumes `name` assumes it of every agent there is, however many a scope has.  Raises TypeError for an
    `assumption(agent)` that is no Fairness.
    """
    made = {f"{name}{OF}{agent}": assumption(agent) for agent in agents}
    for member, one in made.items():
        if not isinstance(one, Fairness):
            raise TypeError(f"fairness assumption {member!r} is no Fairness; write Fairness('weak', …) for each agent")
    return made


def is_known(fair: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Return whether each name stands for an assumption."""
    return all(_members(fair, name) for name in names)


def assumed(fair: Mapping[str, F], names: Iterable[str], of: str = "fairness assumption") -> dict[str, F]:
    """Return the assumptions that claims call by these names; a name may stand for one for each agent.

    Raises UnknownName, which speaks of them as `of`.
    """
    found: dict[str, F] = {}
    for name in names:
        members = _members(fair, name)
        if not members:
            raise UnknownName(of, name, fair)
        found.update(members)
    return found


def _members(fair: Mapping[str, F], name: str) -> dict[str, F]:
    """The assumption of this name, or those of its agents."""
    return {name: fair[name]} if name in fair else {n: one for n, one in fair.items() if n.startswith(name + OF)}
