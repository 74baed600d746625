"""Explore one representative of each class of states: quotients by shift in time and by saturation of ages.

An `Abstraction` maps a state to a representative.  The search takes the model's own step and then the map, so a graph
whose states count up for ever can close.  A licence for exactly this system, variant, readings and map must show that
the map is a functional bisimulation (same actions on offer, same observations, images of successors alike).  Several
maps are applied in turn, each under its own licence.

Only classes are counted: any number of states may share an image.  Samples along runs of the model compare each state
with its image, and the claims on both; states that an abstraction declares alike, beyond the reach of these runs, are
compared as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any, TypeAlias

from evenhand.core.answers import ModelError
from evenhand.core.fairness import assumed, is_known
from evenhand.core.kinds import Property, Safety
from evenhand.core.licence import Licence
from evenhand.core.relations import Relational
from evenhand.core.system import Abstraction, AnyStep, AnySystem, Separated, Step
from evenhand.core.temporal import Temporal
from evenhand.search.liveness import AboutRuns, fairness_of
from evenhand.search.quotient import covers, said
from evenhand.search.steps import stepped
from evenhand.search.witness import LicenceMissing

Maps: TypeAlias = tuple[Abstraction[Any, Any], ...]
"""Maps that are applied in turn."""


STATES, WIDE = 100, 512
"""States of the model, nearest first, whose actions are all compared; and the most actions listed of each."""

RUNS, LENGTH = 12, 40
"""Random runs of each configuration compared, and the actions of each."""


def with_and(names: Sequence[str]) -> str:
    """Return the names in one, as in `--quotient`."""
    return "+".join(names)


def licensed_maps(system: AnySystem, wanted: str | None, licences: Sequence[Licence]) -> Maps:
    """Return the maps requested (`a+b`: first a, then b), each under its licence; empty if none was requested.

    Raises LicenceMissing for one without a licence that covers it, ValueError for one that is named twice or together
    with another kind of quotient.
    """
    names = wanted.split("+") if wanted else [licence.quotient for licence in licences]
    known = {one.name: one for one in system.abstractions}
    if not any(name in known for name in names):
        return ()
    if len(set(names)) < len(names) or any(name not in known for name in names):
        raise ValueError(
            f"quotient {with_and(names)!r} of {system.label}: abstractions are taken one after the other, each once, "
            f"and beside no other quotient; there is: {', '.join(sorted(known))}"
        )
    for name in names:
        fitting = [licence for licence in licences if licence.quotient == name]
        ask = f"quotient {name!r} of {system.label}"
        if not fitting:
            raise LicenceMissing(f"{ask} needs a licence: prove first that state and image do alike, or leave it out")
        covers(system, name, fitting[0])
    return tuple(known[name] for name in names)


def abstracted(system: AnySystem, maps: Maps) -> AnySystem:
    """Return the system that applies the maps to its initial states, in order, and after each step."""

    def image(config: Any, state: Any) -> Any:
        return image_of(system, maps, config, state)

    def initial(config: Any) -> Iterator[Any]:
        return (image(config, state) for state in system.initial(config))

    def step(rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        after, shown = system.step(rules, config, state, action)
        return image(config, after), shown

    parts = system.separated

    def apply(rules: Any, config: Any, state: Any, merged: Any) -> tuple[Any, Any]:
        assert parts is not None
        after, shown = parts.apply(rules, config, state, merged)
        return image(config, after), shown

    separated: Separated[Any, Any, Any, Any, Any, Any] | None = None if parts is None else replace(parts, apply=apply)
    return replace(system, initial=initial, step=step, separated=separated, quotients=(), abstractions=())


def image_of(system: AnySystem, maps: Maps, config: Any, state: Any) -> Any:
    """Return the representative of a state.  Raises ModelError, which names the map, where one raises."""
    for one in maps:
        try:
            state = one.state(config, state)
        except Exception as error:
            raise ModelError(
                f"{system.label}: quotient {one.name!r} of state {state!r} raised {type(error).__name__}: {error}"
            ) from error
    return state


def refused_kinds(claims: Sequence[Property]) -> dict[str, str]:
    """Return by name why some claims are not checked under a map: they compare runs with one another."""
    return {
        claim.name: f"a claim of kind {claim.kind} compares runs, and a class of states has many of them"
        for claim in claims
        if isinstance(claim, Relational)
    }


def compare_images(
    system: AnySystem, maps: Maps, configs: Sequence[Any], claims: Sequence[Property]
) -> tuple[str, ...]:
    """Return for each claim why a result on classes may not hold of states, else an empty text.

    Runs the model: every action near the start, and random runs.  Raises ModelError where a state and its image behave
    differently, or an image is not its own: the licence is then wrong.
    """
    refused = refused_kinds(claims)
    doubts = {claim.name: refused.get(claim.name, "") for claim in claims}
    for number, config in enumerate(configs):
        if number & (number - 1) == 0:  # configurations 0, 1, 2, 4, 8 …
            _Comparison(system, maps, config, [claim for claim in claims if claim.applies(config)], doubts).run(number)
    return tuple(doubts[claim.name] for claim in claims)


class _Comparison:
    """A comparison of runs of one configuration with those of the images."""

    def __init__(
        self, system: AnySystem, maps: Maps, config: Any, claims: Sequence[Property], doubts: dict[str, str]
    ) -> None:
        self.system, self.maps, self.config = system, maps, config
        self.claims, self.doubts = claims, doubts
        self.called = f"quotient {with_and([one.name for one in maps])!r}"
        self.taken: dict[tuple[str, str], Callable[[Any, Any], bool]] = {}
        # There are few images, so results about them are kept.
        self.known: dict[tuple[Any, Any], tuple[AnyStep, AnyStep, dict[str, tuple[bool, ...]]]] = {}
        for claim in claims:
            names, known = fairness_of(claim) if isinstance(claim, AboutRuns | Temporal) else (), system.fair(config)
            for name, fairness in assumed(known, names).items() if is_known(known, names) else ():
                self.taken[claim.name, name] = fairness.taken

    def run(self, seed: int) -> None:
        self.near()
        random = Random(seed)
        for _ in range(RUNS):
            self.drawn(random)

    def image(self, state: Any) -> Any:
        return image_of(self.system, self.maps, self.config, state)

    def near(self) -> None:
        """Compare every action of the states nearest to the start."""
        waiting = deque(dict.fromkeys(self.system.initial(self.config)))
        known: set[Hashable] = set(waiting)
        while waiting:
            state = waiting.popleft()
            alike = list(self.alike(state))
            for action in self.offered(state):
                step, _ = self.pair(state, action)
                for other in alike:
                    self.pair(other, action)
                if len(known) < STATES and step.after not in known:
                    known.add(step.after)
                    waiting.append(step.after)

    def drawn(self, random: Random) -> None:
        """Compare one random run; actions are often repeated, so that time passes and ages grow."""
        config, last = self.config, None
        state = random.choice(list(self.system.initial(config)))
        monitors = [one for one in self.claims if isinstance(one, Safety) and one.reads == "histories"]
        values = {claim.name: claim.memory(config) for claim in monitors}
        for _ in range(LENGTH):
            offered = self.offered(state)
            if not offered:
                break
            last = last if last in offered and random.random() < 0.6 else random.choice(offered)
            step, mapped = self.pair(state, last)
            others = [mapped, *(self.step(other, last) for other in self.alike(state) if monitors)]
            for claim in monitors:
                value = values[claim.name]
                values[claim.name] = claim.follow(value, step)
                if any(claim.follow(value, other) != values[claim.name] for other in others):
                    self.apart(claim)
            state = step.after

    def alike(self, state: Any) -> Iterator[Any]:
        """Yield the states that the maps declare alike, each checked to offer the same."""
        for one in self.maps:
            for other in one.alike(self.config, state):
                if one.state(self.config, other) != one.state(self.config, state):
                    raise ModelError(
                        f"{self.system.label}: quotient {one.name!r} declares {other!r} to be like {state!r}, and "
                        "takes them to different representatives; correct its `alike`"
                    )
                self.offered(other)
                yield other

    def offered(self, state: Any) -> list[Any]:
        """Return the actions that a state offers, which its image must offer, too."""
        image = self.image(state)
        if self.image(image) != image:
            raise self.lies(
                f"takes the image {image!r} of a state to {self.image(image)!r}, so it is no representative"
            )
        one, other = (list(islice(self.system.enabled(self.config, each), WIDE)) for each in (state, image))
        if one != other:
            raise self.lies(f"maps {state!r}, which offers {_few(one)}, to {image!r}, which offers {_few(other)}")
        return one

    def pair(self, state: Any, action: Any) -> tuple[AnyStep, AnyStep]:
        """Return a step, and the one that the search takes for it."""
        image = self.image(state)
        if (image, action) not in self.known:
            there = self.step(image, action)
            self.known[image, action] = (there, replace(there, after=self.image(there.after)), {})
        there, mapped, told = self.known[image, action]
        step = self.step(state, action)
        if step.shown != there.shown:
            raise self.lies(
                f"maps {state!r} to {image!r}, where {action!r} shows {there.shown!r} and not {step.shown!r}"
            )
        if self.image(step.after) != mapped.after:
            raise self.lies(
                f"maps {state!r} to {image!r}, but {action!r} leads from there to what {mapped.after!r} stands for, "
                f"and not {self.image(step.after)!r}"
            )
        for claim in self.claims:
            if not self.doubts[claim.name]:
                if claim.name not in told:
                    told[claim.name] = self.tells(claim, mapped)
                if self.tells(claim, step) != told[claim.name]:
                    self.apart(claim)
        return step, mapped

    def step(self, state: Any, action: Any) -> AnyStep:
        after, shown = stepped(self.system, self.config, state, action)
        return Step(self.config, state, action, shown, after)

    def tells(self, claim: Property, step: AnyStep) -> tuple[bool, ...]:
        """Return the values of a claim's predicates, and of the fairness it assumes, on one step."""
        try:
            serves = [
                bool(taken(step.before, step.action)) for (name, _), taken in self.taken.items() if name == claim.name
            ]
            return (*said(claim, step), *serves)
        except Exception as error:
            raise ModelError(
                f"{self.system.label}: claim {claim.name!r} raised {type(error).__name__}: {error} on the step of "
                f"action {step.action!r}"
            ) from error

    def apart(self, claim: Property) -> None:
        self.doubts[claim.name] = self.doubts[claim.name] or (
            f"{self.called} does not leave {claim.name} fixed: it tells a state from the one that stands for it"
        )

    def lies(self, how: str) -> ModelError:
        return ModelError(f"{self.system.label}: {self.called} {how}. The licence is wrong; explore without it")


def _few(actions: list[Any]) -> str:
    return f"{actions[:3]!r}{' …' if len(actions) > 3 else ''}"
