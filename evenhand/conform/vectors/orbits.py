"""Pick one representative of every orbit of first steps: what can happen in one step, up to renaming.

Whether a kernel treats the images of a case alike (equivariance) is a separate question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.system import AnySystem, Quotient
from evenhand.core.trace import AnyScenario, Scenario
from evenhand.core.vector_plan import Orbits

Case = tuple[Any, Any]


def orbits_of(bundle: Bundle) -> Orbits | None:
    """Return the declared orbits, else those of the protocol's first system with a quotient; None without either."""
    if bundle.vectors is not None and bundle.vectors.orbits is not None:
        return bundle.vectors.orbits
    for name, system in bundle.model.systems.items():
        if system.quotients:
            return Orbits(name, f"Every first step of {name} at {system.scope}, up to {system.quotients[0].name}.")
    return None


def cases_of(system: AnySystem, orbits: Orbits) -> Iterator[Case]:
    """Yield every (configuration, action) that a vector represents."""
    if orbits.cases is not None:
        yield from orbits.cases()
        return
    for config in system.all_configs():
        for start in system.initial(config):
            for action in system.enabled(config, start):
                yield config, action


def orbit_representatives(system: AnySystem, cases: Iterable[Case]) -> Iterator[tuple[AnyScenario, int]]:
    """Yield the first case of each orbit as a scenario of one action, with the number of its cases.

    Joint choices of an image are sorted by agent name, because the order of submission is no part of a case.  An image
    that is no case is left out, because a menu may offer one of several equal actions only; such an orbit keeps two
    representatives rather than none.
    """
    listed = list(dict.fromkeys((config, _ordered(system, action)) for config, action in cases))
    known = set(listed)
    seen: set[Case] = set()
    group = system.quotients[0] if system.quotients else None
    for config, action in listed:
        if (config, action) in seen:
            continue
        orbit = _images(system, group, config, action) & known
        seen |= orbit
        yield Scenario(config, next(iter(system.initial(config))), (action,)), len(orbit)


def _images(system: AnySystem, group: Quotient[Any, Any, Any, Any] | None, config: Any, action: Any) -> set[Case]:
    if group is None:
        return {(config, action)}
    return {
        (group.config(w, config), _ordered(system, group.action(w, config, action))) for w in group.elements(config)
    }


def _ordered(system: AnySystem, action: Any) -> Any:
    joint = system.joint
    if joint is None:
        return action
    made = tuple(sorted(joint.split(action), key=lambda pair: pair[0]))
    return joint.join(None, None, made)
